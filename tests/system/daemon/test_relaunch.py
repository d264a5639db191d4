"""Relaunching as a way to change size: of programs of MPICH, and where the user wishes it."""

import pytest

from conftest import LOOP
from relaunching import LONG, MPIS, SHORT, computes, ends_well, resizes, submit, text_of_events


# what the user's wish means for MPICH does not depend on the program
@pytest.mark.parametrize("mpi, way, name", [("openmpi", "relaunch", "loop"), ("openmpi", "relaunch", "heat"),
                                            ("openmpi", "restart", "loop"), *(
    pytest.param("mpich", way, name, marks=MPIS[1].marks)
    for way, name in (("auto", "loop"), ("auto", "heat"), ("relaunch", "loop"), ("restart", "loop")))])
def test_relaunching_is_a_way_to_resize(pleat, mpi, way, name):
    pleat.configure(LONG)
    number = submit(pleat, mpi, name=name, sizes=(2, 8), options=["--initial", "2", "--on-resize", way])
    computes(pleat, number, 8)
    pleat.pleat("shrink", number, 5, check=0)
    computes(pleat, number, 3)
    job = ends_well(pleat, number)
    assert resizes(job) == [(2, 8, "grown"), (8, 3, "shrunk")]
    # nothing of the launchers, of which three have run
    assert pleat.output(number, "stderr") == ""
    written = pleat.output(number).splitlines()
    assert all("RESULT ok" in line or line.endswith(" ranks") for line in written), written
    assert all(r["total_s"] > 0 and r["bytes"] > 0 for r in job["history"]["resizes"])


def test_what_mpich_cannot(pleat):
    done = pleat.pleat("submit", "--min", 1, "--max", 2, "--mpi", "mpich", "--runner", "malleable",
                       "--on-resize", "merge", "--", LOOP, check=None)
    assert done.returncode == 1 and "cannot start more processes" in done.stderr


@pytest.mark.parametrize("mpi", MPIS)
def test_a_leaver_that_does_not_end(pleat, mpi):
    pleat.configure(SHORT if mpi == "openmpi" else LONG)
    number = submit(pleat, mpi, sizes=(2, 4), options=["--initial", "4"], misbehave="leave")
    computes(pleat, number, 4)
    pleat.pleat("shrink", number, 2, check=0)
    # where all leave to be relaunched, those that do not are ended, and it goes on
    pleat.wait_outcome(number, "relaunched" if mpi == "openmpi" else "shrunk")
    computes(pleat, number, 2)
    ends_well(pleat, number)


@pytest.mark.parametrize("mpi", MPIS)
def test_a_state_that_cannot_be_saved(pleat, mpi):
    """Nothing begins, and it says so: what the ranks have on private pages would be lost."""
    pleat.configure(LONG)
    number = submit(pleat, mpi, misbehave="nospace")
    computes(pleat, number, 2)
    pleat.pleat("limits", number, "--max", "4", check=0)
    pleat.wait_outcome(number, "application failed")
    assert "no room to save" in text_of_events(pleat, number)
    ends_well(pleat, number)
