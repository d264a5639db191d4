"""Malleable programs in Fortran, with the module of include/pleat.f90. They check their data. One packs data of its own when a
resize is pending."""

import os

import pytest

from conftest import BUILD
from relaunching import LONG, MPIS, computes, each_mpi, ends_well
from test_declared import say, wait_limits



def program_of(name, mpi):
    program = os.path.join(BUILD, "tests", f"{name}-{mpi}")
    if not os.path.exists(program):
        pytest.skip(f"no mpifort.{mpi} with gfortran")
    return program



@pytest.mark.parametrize("mpi", MPIS)
def test_it_is_resized(pleat, mpi):
    program = program_of("numbers", mpi)
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


@pytest.mark.parametrize("way, mpi", each_mpi(("merge", "relaunch"), [("merge", "mpich")]))
def test_mpi_f08_with_items_and_actions(pleat, way, mpi):
    """`use mpi_f08`; items, rows of its own, cells with halos, actions, points, sections."""
    program = program_of("moves", mpi)
    pleat.configure(LONG)
    number = pleat.submit("--min", 1, "--max", 2, "--on-resize", way, "--", program, pleat.path("end"))
    computes(pleat, number, 2)
    for size in (4, 3, 1):
        pleat.pleat("limits", number, "--max", size, check=0)
        computes(pleat, number, size)
    ends_well(pleat, number)
    assert "ranks=1" in pleat.output(number)
