"""The programs of examples/: what the malleable ones compute while they are resized is what the plain ones do."""

import os
import re

import pytest

from conftest import BUILD
from relaunching import LONG, each_mpi

EXAMPLES = {"jacobi": ("100", "200"), "jacobi2d": ("100", "200"), "particles": ("2000", "200"),
            "scalapack": ("100", "200"), "jacobi-fortran": ("100", "200")}


def numbers(text):
    """Without the number of ranks, which is the last one."""
    return [float(number) for number in re.findall(r"[0-9.]+", text)][:-1]


@pytest.mark.parametrize("name, mpi", each_mpi(EXAMPLES))
def test_example(pleat, name, mpi):
    program = os.path.join(BUILD, "examples", mpi, name)
    if not os.path.exists(program):
        pytest.skip(f"no ScaLAPACK, or no Fortran, for {mpi}")
    pleat.env["OPENBLAS_NUM_THREADS"] = "1"
    pleat.configure(LONG)
    plain = pleat.pleat("run", "-n", 2, "--", program + "-plain", *EXAMPLES[name], check=0).stdout
    assert len(numbers(plain)) >= 1
    pleat.env["LD_PRELOAD"] = os.path.join(BUILD, "tests", f"hold_adapt-{mpi}.so")
    pleat.env["HOLD_ADAPT_UNTIL"] = pleat.path("go")
    number = pleat.submit("--min", 1, "--max", 2, "--", program, *EXAMPLES[name])
    del pleat.env["LD_PRELOAD"]
    for size in (2, 5, 1, 3):
        pleat.pleat("limits", number, "--max", size, check=0)
        pleat.wait_size(number, size)
    with open(pleat.path("go"), "w", encoding="ascii"):
        pass
    assert pleat.wait_end(number)["state"] == "done", pleat.output(number, "stderr")
    assert "on 3 ranks" in pleat.output(number)
    assert numbers(pleat.output(number)) == pytest.approx(numbers(plain), rel=1e-6)
