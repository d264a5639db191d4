"""The examples of docs/mpi-programmer.md in Python: the program computes its sum, the pieces work one after the other."""

import os
import re
import subprocess
import sys

import numpy as np

import pleat

GUIDE = os.path.join(os.path.dirname(__file__), "..", "..", "..", "docs", "mpi-programmer.md")


def blocks(kind):
    with open(GUIDE, encoding="utf-8") as file:
        found = re.findall(rf"^```{kind}\n(.*?)^```$", file.read(), re.DOTALL | re.MULTILINE)
    assert found
    return found


def test_the_program(tmp_path):
    (program,) = blocks("python")
    (tmp_path / "sums.py").write_text(program)
    mpirun = ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none", "-n", "3"]
    said = subprocess.run([*mpirun, sys.executable, tmp_path / "sums.py"], timeout=60, text=True, check=True, stdout=subprocess.PIPE)
    assert said.stdout == "total 599500 on 3 ranks\n"  # 0 + .. + 999, and 100 steps of adding 1 to each


def test_the_pieces():
    before, after = blocks("python snippet")
    with pleat.Session() as session:
        names = {"session": session, "pleat": pleat, "np": np}
        exec(before, names)
        assert session.begin() is pleat.STARTED
        exec(after, names)
        assert names["wave"].local[3, 4] == 7 and names["stars"].local["mass"].sum() == 50
        assert list(names["sparse"]["value"][:3]) == [7, 7, 0] and session.asked.state is pleat.Asked.REFUSED
