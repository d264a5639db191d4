"""pleat.sim of the sources, with the library of the build."""

import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ["PLEAT_BUILD"])
os.environ["PLEAT_SIM_LIBRARY"] = str(BUILD / "lib/libpleat-sim.so")
sys.path.insert(0, str(ROOT / "bindings/python"))
