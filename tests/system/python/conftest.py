"""The package for Python of the build, with the libraries of the build; where no MPI is built, pleat.sim of the sources."""

import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ["PLEAT_BUILD"])
os.environ["PLEAT_SIM_LIBRARY"] = str(BUILD / "lib/libpleat-sim.so")
built = BUILD / "python"
sys.path.insert(0, str(built if (built / "pleat/session.py").is_file() else ROOT / "bindings/python"))
