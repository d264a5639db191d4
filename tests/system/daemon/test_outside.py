"""The programs of examples/wave and examples/fluid, which check themselves: in whatever way they are resized, they compute
what the plain ones do on one size."""

import functools
import os
import re
import subprocess
import tempfile

import pytest

from conftest import BUILD
from relaunching import LONG, MPIS, computes, each_mpi, ends_well, held_and_resized

ARGUMENTS = {"wave": ("12", "120"), "fluid": ("12", "120")}
LOGS = ("wave",)
SIZES = (2, 4, 1, 3)
WAYS = [(mpi, how) for mpi in ("openmpi", "mpich") for how in ("merge", "relaunch", "restart")
        if (mpi, how) != ("mpich", "merge")]


def numbers(text):
    """Without the number of ranks, which is the last one."""
    assert text.startswith("right: "), text
    return [float(number) for number in re.findall(r"-?[0-9.]+", text)][:-1]


@functools.lru_cache(maxsize=None)
def plain(name, mpi):
    """What the plain program says, as one process, and its log."""
    with tempfile.TemporaryDirectory() as place:
        log = os.path.join(place, "log")
        done = subprocess.run([os.path.join(BUILD, "examples", mpi, name + "-plain"), *ARGUMENTS[name],
                               *([log] if name in LOGS else [])], timeout=120, text=True, check=True,
                              stdout=subprocess.PIPE)
        with open(log if name in LOGS else os.devnull, encoding="ascii") as file:
            return done.stdout, file.read()


def program_of(folder, name, mpi):
    program = os.path.join(BUILD, folder, name)
    if not os.path.exists(program):
        pytest.skip(f"no {name} for {mpi}")
    return program


@pytest.mark.parametrize("mpi, how", WAYS)
@pytest.mark.parametrize("name", ARGUMENTS)
def test_outside(pleat, name, mpi, how):
    program = program_of("examples", os.path.join(mpi, name), mpi)
    log = [pleat.path("log")] if name in LOGS else []
    said = held_and_resized(pleat, mpi, SIZES, [program, *ARGUMENTS[name], *log], how)
    result, its_log = plain(name, mpi)
    assert numbers(said) == pytest.approx(numbers(result), rel=1e-6)
    if log:  # which is continued, not begun again
        with open(log[0], encoding="ascii") as file:
            lines = [[float(word) for word in line.split()] for line in file]
        assert lines == [pytest.approx([float(word) for word in line.split()], rel=1e-8) for line in its_log.splitlines()]


@pytest.mark.parametrize("mpi", MPIS)
def test_sizes_that_suit(pleat, mpi):
    """Of a box of 4 x 8 columns, halos of two leave no pencils for seven processes, but for 2 x 3."""
    program = program_of("examples", os.path.join(mpi, "wave"), mpi)
    said = pleat.pleat("run", "-n", 7, "--", program, 4, 20, check=0).stdout
    assert said.startswith("right: ") and "on 6 ranks" in said


@pytest.mark.parametrize("mpi", MPIS)
def test_vectors(pleat, mpi):
    """include/pleat.hpp"""
    said = held_and_resized(pleat, mpi, SIZES, [program_of("tests", f"vectors-{mpi}", mpi)])
    assert said == "right: on 3 ranks\n"


@pytest.mark.parametrize("way, mpi", each_mpi(("merge", "relaunch"), [("merge", "mpich")]))
def test_objects(pleat, way, mpi):
    """include/pleat.hpp and pleat-data.hpp: sessions and data as objects."""
    program = program_of("tests", f"objects-{mpi}", mpi)
    pleat.configure(LONG)
    number = pleat.submit("--min", 1, "--max", 2, "--on-resize", way, "--", program, pleat.path("end"))
    computes(pleat, number, 2)
    for size in (5, 1, 3):
        pleat.pleat("limits", number, "--max", size, check=0)
        computes(pleat, number, size)
    ends_well(pleat, number)
    assert "ranks=3" in pleat.output(number)
