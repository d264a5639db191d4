"""A program that says how many ranks it can use at most (`pleat_session_limit`)."""

import os

import pytest

from conftest import PLEAT, wait_until
from relaunching import LONG, MPIS, computes, ends_well, program, resizes, submit


def say(pleat, most):
    """Replaced as a whole, as ranks read it at any moment."""
    with open(pleat.path("limit.new"), "w", encoding="utf-8") as file:
        file.write(f"{most}\n")
    os.rename(pleat.path("limit.new"), pleat.path("limit"))


def limits(pleat, number):
    job = pleat.job(number)
    return job["min"], job["max"], job["declared_max"]


def wait_limits(pleat, number, *wanted):
    wait_until(lambda: limits(pleat, number) == wanted, f"limits {wanted}, not {limits(pleat, number)}")


@pytest.mark.parametrize("mpi", MPIS)
def test_a_program_that_can_use_fewer(pleat, mpi):
    pleat.configure(LONG)
    say(pleat, 3)  # before it begins
    number = submit(pleat, mpi, sizes=(2, 6), options=["--initial", "2"],
                    args=["--pause", "10", "--until", pleat.path("end"), "--limit", pleat.path("limit")])
    computes(pleat, number, 3)  # the policy offered it no more, though eight are free
    assert limits(pleat, number) == (2, 3, 3)
    assert "as its program says that it can use 3 at most" in pleat.pleat("show", number, check=0).stdout
    refused = pleat.pleat("grow", number, 1)
    assert refused.returncode == 1 and "2 to 3" in refused.stderr
    say(pleat, 9)  # more than its user wants
    wait_limits(pleat, number, 2, 6, 8)  # there are no more
    computes(pleat, number, 6)
    pleat.kill_daemon()  # what it says meanwhile is known to the next one
    say(pleat, 4)
    computes(pleat, number, 4)
    wait_limits(pleat, number, 2, 4, 4)
    pleat.pleat("set", number, "--min", 1, check=0)  # the maximum of its user is as it was
    say(pleat, 0)
    wait_limits(pleat, number, 1, 6, None)
    computes(pleat, number, 6)
    say(pleat, 4)
    computes(pleat, number, 4)
    job = ends_well(pleat, number)
    assert {(0 if a < b else 1, outcome) for a, b, outcome in resizes(job)} == {(0, "grown"), (1, "shrunk")}, resizes(job)
    assert all(r["mandatory"] for r in job["history"]["resizes"] if r["to"] < r["from"])


@pytest.mark.parametrize("mpi", MPIS)
def test_it_is_that_programs_and_no_others(pleat, mpi):
    """In a script the next program has none."""
    pleat.configure(LONG)
    say(pleat, 2)
    with open(pleat.path("job.sh"), "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\n{PLEAT} launch {program('loop', mpi)} --pause 10 --until first --limit limit\n"
                   f"{PLEAT} launch {program('loop', mpi)} --pause 10 --until end\n")
    number = pleat.submit("--min", 1, "--max", 4, "--initial", 1, "--malleable", "job.sh")
    computes(pleat, number, 2)
    wait_limits(pleat, number, 1, 2, 2)
    open(pleat.path("first"), "w", encoding="utf-8").close()
    wait_limits(pleat, number, 1, 4, None)
    computes(pleat, number, 4)
    open(pleat.path("end"), "w", encoding="utf-8").close()
    job = pleat.wait_end(number)
    assert job["state"] == "done" and pleat.output(number).count("RESULT ok") == 2


@pytest.mark.parametrize("mpi", MPIS)
def test_a_start_with_more_than_it_can_use(pleat, mpi):
    """Ranks that are too many leave when the program begins, and their processors go back."""
    pleat.configure(LONG)
    number = submit(pleat, mpi, sizes=(1, 8), options=["--initial", "7"],
                    args=["--pause", "10", "--until", pleat.path("end"), "--sizes", "2:5:powers"])
    computes(pleat, number, 4)
    job = pleat.job(number)
    assert job["declared"] == {"min": 2, "max": 5, "sizes": "powers"} and limits(pleat, number) == (2, 5, 5)
    assert "2 at least and 5 at most, and only the sizes powers" in pleat.pleat("show", number, check=0).stdout
    refused = pleat.pleat("shrink", number, 1)
    assert refused.returncode == 1 and "does not accept" in refused.stderr
    refused = pleat.pleat("shrink", number, 3)
    assert refused.returncode == 1 and "2 to 5" in refused.stderr
    pleat.pleat("shrink", number, 2, check=0)
    computes(pleat, number, 2)
    assert "its program says that it needs 2 at least" in pleat.pleat("why", number, check=0).stdout
    job = ends_well(pleat, number)
    assert [(a, b) for a, b, outcome in resizes(job) if outcome == "shrunk"] == [(7, 4), (4, 2)], resizes(job)


@pytest.mark.parametrize("mpi", MPIS)
def test_a_start_with_fewer_than_it_needs(pleat, mpi):
    pleat.configure(LONG)
    number = submit(pleat, mpi, sizes=(1, 2), args=["--sizes", "3:0:"])
    job = pleat.wait_end(number)
    assert job["state"] == "failed", job
    shown = pleat.pleat("why", number, check=0).stdout + pleat.pleat("show", number, check=0).stdout
    assert "started with 2 ranks and can use none of these sizes (at least 3)" in shown, shown


@pytest.mark.parametrize("says", ["--even", "--sizes=1:0:2,4,6,8"])
def test_a_maximum_that_is_raised_later(pleat, says):
    """The sizes that a program said before hold for the larger maximum, too."""
    pleat.configure(LONG)
    number = submit(pleat, MPIS[0], sizes=(1, 2), options=["--initial", "2"],
                    args=["--pause", "10", "--until", pleat.path("end"), says])
    wait_until(lambda: pleat.job(number)["declared"], "what its program says")
    pleat.pleat("set", number, "--max", 7, check=0)
    computes(pleat, number, 6)
    ends_well(pleat, number)


def test_sizes_of_a_user_and_of_a_program(pleat):
    """What both accept; and each one's own, where the other's make no sense with it."""
    pleat.configure(LONG)
    number = submit(pleat, MPIS[0], sizes=(1, 8), options=["--initial", "6", "--sizes", "multiples:2"],
                    args=["--pause", "10", "--until", pleat.path("end"), "--sizes", "1:0:multiples:3"])
    computes(pleat, number, 6)
    wait_until(lambda: pleat.job(number)["declared"], "what its program says")
    assert pleat.job(number)["declared"]["sizes"] == "6"
    other = submit(pleat, MPIS[0], sizes=(1, 1), options=["--sizes", "1"],
                   args=["--pause", "10", "--until", pleat.path("end"), "--sizes", "1:0:2,1"])
    assert pleat.wait_end(other)["state"] == "failed"  # such a list makes no sense
    ends_well(pleat, number)


@pytest.mark.parametrize("mpi", MPIS)
def test_a_program_that_can_use_fewer_than_its_user_wants_at_least(pleat, mpi):
    """The job keeps its user's minimum, though its program leaves some of that unused."""
    pleat.configure(LONG)
    number = submit(pleat, mpi, sizes=(4, 6), options=["--initial", "6"],
                    args=["--pause", "10", "--until", pleat.path("end"), "--sizes", "1:3:"])
    wait_until(lambda: pleat.job(number)["state"] == "running" and pleat.job(number)["processors"] == 4, "4 processors")
    job = ends_well(pleat, number)
    assert resizes(job) == [(6, 4, "shrunk")], resizes(job)
    assert "ranks=3" in pleat.output(number)
