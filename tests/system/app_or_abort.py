#!/usr/bin/env python3
"""app_or_abort.py MPIRUN PROGRAM: pleat_or_abort lets outcomes pass, says errors with program and rank, and ends all ranks."""
import os
import subprocess
import sys

mpirun, program = sys.argv[1:]
name = os.path.basename(program)
env = {key: value for key, value in os.environ.items() if not key.startswith("PLEAT_")}
env.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", EVENT_NOEPOLL="1")
if "openmpi" in mpirun:
    mpirun_options = ["--oversubscribe", "--bind-to", "none"]
else:
    mpirun_options = []


def ends(words, status, said):
    run = subprocess.run(words, env=env, capture_output=True, text=True, timeout=100, check=False)
    if run.returncode not in status or said not in run.stderr:
        sys.exit(f"{words}: exit status {run.returncode}, without '{said}' in: {run.stdout}{run.stderr}")
    return run.stdout


# Without MPI the process ends by itself, and the code stands for the text.
ends([program, "early"], (1,), f"{name}: state\n")
# One of two ranks fails, the other one waits for it.
begun = ends([mpirun, *mpirun_options, "-n", "2", program], (1,),
             f"{name}: rank 1: values, rows and arrays are registered before pleat_session_begin")
if begun.count("begun") != 2:
    sys.exit(f"outcomes that are no errors did not pass: {begun}")
