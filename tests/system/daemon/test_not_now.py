"""A program that says "not now": sections in which it is not resized, in one rank or in all."""

import os
import signal

import pytest

from conftest import wait_until
from relaunching import LONG, MPIS, SHORT, computes, each_mpi, ends_well, resizes
from test_points import program, submit

# how it is resized, and the rank that is in a section; -1: all
WAYS = each_mpi([("merge", 1), ("merge", -1), ("relaunch", 1), ("restart", 0)],
                [(("merge", 1), "mpich"), (("merge", -1), "mpich")])


def begin(pleat):
    open(pleat.path("section"), "w", encoding="utf-8").close()


def end(pleat):
    os.remove(pleat.path("section"))


def says_not_now(pleat, number, ranks):
    wait_until(lambda: pleat.job(number)["not_now"] == ranks, f"{ranks} ranks say not now")


def goes_on_at(pleat, number, size, target):
    """It passes its adaptation points at its size, also where another one is wanted."""
    wait_until(lambda: pleat.job(number)["target"] == target, "the change has begun")
    first = pleat.job(number)["progress"]["iteration"]
    wait_until(lambda: pleat.job(number)["progress"]["iteration"] > first + 20, "it goes on")
    job = pleat.job(number)
    assert (job["processors"], job["processes"], job["target"]) == (size, size, target), job


@pytest.mark.parametrize("how, mpi", WAYS)
def test_changes_wait_for_a_section(pleat, how, mpi):
    """A growth and a mandatory shrink, in a section of one rank or of all; nobody waits for it."""
    way, rank = how
    pleat.configure(LONG)
    begin(pleat)
    number = submit(pleat, mpi, "--section", pleat.path("section"), "--section-rank", rank,
                    options=["--on-resize", way])
    says_not_now(pleat, number, 1 if rank >= 0 else 2)
    wait_until(lambda: pleat.job(number)["section"], "policies leave its size")
    goes_on_at(pleat, number, 2, 2)
    for command in ("show", "why"):
        assert "its program says not now" in pleat.pleat(command, number, check=0).stdout
    assert pleat.call("why", job=number)["size"]["code"] == "not now"
    end(pleat)
    computes(pleat, number, 4)
    says_not_now(pleat, number, 0)
    wait_until(lambda: not pleat.job(number)["section"], "policies may grow it")
    begin(pleat)
    says_not_now(pleat, number, 1 if rank >= 0 else 4)
    pleat.pleat("shrink", number, 2, check=0)
    goes_on_at(pleat, number, 4, 2)
    end(pleat)
    computes(pleat, number, 2)
    job = ends_well(pleat, number)
    assert [change for change in resizes(job) if change[2] != "not now"] == [
        (2, 4, "grown"), (4, 2, "shrunk")]


def test_a_section_that_does_not_end(pleat):
    """Then a mandatory shrink is enforced when notice and grace are over."""
    pleat.configure(SHORT)
    number = submit(pleat, "openmpi", "--section", pleat.path("section"), options=["--on-resize", "merge", "--max", "2"])
    computes(pleat, number, 2)
    begin(pleat)
    says_not_now(pleat, number, 2)
    pleat.pleat("shrink", number, 1, check=0)
    job = pleat.wait_end(number)
    assert job["state"] == "failed" and resizes(job) == [(2, 1, "not honoured")], job


@pytest.mark.parametrize("mpi", MPIS)
def test_a_rank_dies_in_a_section(pleat, mpi):
    """It goes on from its last copy, which was saved outside of sections."""
    pleat.configure(LONG)
    number = submit(pleat, mpi, "--section", pleat.path("section"), "--section-rank", 0,
                    options=["--max", "2", "--save", "3it"])
    wait_until(lambda: pleat.job(number)["saved"], "it saves copies")
    begin(pleat)
    says_not_now(pleat, number, 1)
    ranks = pleat.rank_pids(number, program(mpi))
    os.kill(ranks[0], signal.SIGKILL)
    wait_until(lambda: set(pleat.rank_pids(number, program(mpi))).isdisjoint(ranks) and
               len(pleat.rank_pids(number, program(mpi))) == 2, "it is started again")
    says_not_now(pleat, number, 1)
    copy = pleat.job(number)["saved"]["iteration"]
    first = pleat.job(number)["progress"]["iteration"]
    wait_until(lambda: pleat.job(number)["progress"]["iteration"] > first + 20, "it goes on")
    assert pleat.job(number)["saved"]["iteration"] == copy
    end(pleat)
    wait_until(lambda: pleat.job(number)["saved"]["iteration"] > copy, "copies are saved again")
    ends_well(pleat, number)
