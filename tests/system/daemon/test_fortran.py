"""A malleable program in Fortran, with the module of include/pleat.f90. It packs data of its own when a resize is pending,
and checks them in the end."""

import os

import pytest

from conftest import BUILD
from relaunching import LONG, MPIS, computes, ends_well
from test_declared import say, wait_limits

PROGRAM = os.path.join(BUILD, "tests", "fortran-{}")


@pytest.mark.parametrize("mpi", MPIS)
def test_it_is_resized(pleat, mpi):
    program = PROGRAM.format(mpi)
    if not os.path.exists(program):
        pytest.skip(f"no mpifort.{mpi} with gfortran")
    pleat.configure(LONG)
    number = pleat.submit("--min", 1, "--max", 2, "--", program, pleat.path("end"), pleat.path("limit"))
    computes(pleat, number, 2)
    pleat.pleat("limits", number, "--max", 3, check=0)
    computes(pleat, number, 3)
    say(pleat, 2)  # the program's own maximum: it gives one back, and may have it again
    computes(pleat, number, 2)
    wait_limits(pleat, number, 1, 2, 2)
    say(pleat, 0)
    computes(pleat, number, 3)
    wait_limits(pleat, number, 1, 3, None)
    pleat.pleat("limits", number, "--max", 1, check=0)
    computes(pleat, number, 1)
    ends_well(pleat, number)
    assert "ranks=1" in pleat.output(number)
