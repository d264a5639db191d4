"""A program that makes its own decision, actions and plan when its size changes, and is told the reason of the
change."""

import os
import re

import pytest

from conftest import BUILD, wait_until
from relaunching import LONG, MPIS, computes, each_mpi, ends_well, resizes, text_of_events

FREE, WAITING, USER, LIMITS = 1, 2, 3, 4
WAYS = each_mpi(["merge", "relaunch", "restart"], [("merge", "mpich")])


def submit(pleat, mpi, *args, least=2, most=4, options=()):
    return pleat.submit("--min", least, "--max", most, "--initial", 2, *options, "--",
                        os.path.join(BUILD, "tests", f"test-app-acts-{mpi}"), "--until", pleat.path("end"),
                        "--record", pleat.path("record"), *args)


def lines(pleat, word):
    """Whole lines, as more may be on its way."""
    if not os.path.exists(pleat.path("record")):
        return []
    with open(pleat.path("record"), encoding="utf-8") as file:
        return re.findall(rf"^{word} (.*)\n", file.read(), re.M)


def acts(pleat, rank, change):
    """(moment, action) of a rank at a change ("2 to 4"), in order."""
    found = [re.fullmatch(r"(\w+) (\w+) rank (\d+) of \d+: (\d+ to \d+),.*", line) for line in lines(pleat, "ACT")]
    return [(m[1], m[2]) for m in found if int(m[3]) == rank and m[4] == change]


@pytest.mark.parametrize("mpi", MPIS)
def test_a_decision_and_what_for(pleat, mpi):
    """It takes half of what is offered, and is told why it is made, in growths and shrinks."""
    pleat.configure(LONG)
    number = submit(pleat, mpi, "--half", most=6, options=["--asks"])
    wait_until(lambda: len(lines(pleat, "OFFER")) == 3, "it refuses the last one")
    computes(pleat, number, 5)
    assert pleat.pleat("run", "-n", 4, "--", "true").returncode == 0  # only three are free
    computes(pleat, number, 4)
    pleat.pleat("shrink", number, 2, "--voluntary", check=0)
    computes(pleat, number, 3)
    pleat.pleat("set", number, "--max", 2, check=0)
    computes(pleat, number, 2)
    job = ends_well(pleat, number)
    assert lines(pleat, "OFFER") == [
        f"2 to 6, occasion {FREE}, mandatory 0: takes 4",
        f"4 to 6, occasion {FREE}, mandatory 0: takes 5",
        f"5 to 6, occasion {FREE}, mandatory 0: takes 5",
        f"5 to 4, occasion {WAITING}, mandatory 1: takes 4",
        f"4 to 2, occasion {USER}, mandatory 0: takes 3",
        f"3 to 2, occasion {LIMITS}, mandatory 1: takes 2"]
    assert [(a, b) for a, b, outcome in resizes(job) if outcome in ("grown", "shrunk")] == [
        (2, 4), (4, 5), (5, 4), (4, 3), (3, 2)], resizes(job)


@pytest.mark.parametrize("way, mpi", WAYS)
def test_actions_before_and_after(pleat, way, mpi):
    """On all ranks, in the order of the program's plan, in every way of changing size."""
    pleat.configure(LONG)
    number = submit(pleat, mpi, "--reverse", options=["--on-resize", way])
    computes(pleat, number, 4)
    for rank in range(4):
        assert acts(pleat, rank, "2 to 4") == (
            [("before", "files"), ("before", "solver")] * (rank < 2) + [("after", "files"), ("after", "solver")])
    pleat.pleat("shrink", number, 2, check=0)
    computes(pleat, number, 2)
    for rank in range(4):
        assert acts(pleat, rank, "4 to 2") == (
            [("before", "solver"), ("before", "files")] + [("after", "solver"), ("after", "files")] * (rank < 2))
    ends_well(pleat, number)
    assert "RESULT ok ranks=2 actions=2" in pleat.output(number)
    told = {line.split(", ", 1)[1] for line in lines(pleat, "ACT")}
    relaunch = int(way != "merge")
    assert told == {f"occasion {FREE}, mandatory 0, relaunch {relaunch}",
                    f"occasion {USER}, mandatory 1, relaunch {relaunch}"}, told


@pytest.mark.parametrize("way, mpi", WAYS)
def test_an_action_that_fails_before(pleat, way, mpi):
    """Nothing is changed then, and the actions that were called are told so, the last one first."""
    pleat.configure(LONG)
    open(pleat.path("fail"), "w", encoding="utf-8").close()
    number = submit(pleat, mpi, "--fail-before", pleat.path("fail"), options=["--on-resize", way])
    wait_until(lambda: resizes(pleat.job(number)) == [(2, 4, "application failed")], "it is refused")
    for rank in range(2):
        assert acts(pleat, rank, "2 to 4") == [
            ("before", "files"), ("before", "solver"), ("instead", "solver"), ("instead", "files")]
    said = "action 'solver' before the change of 2 to 4 ranks failed on rank 1"
    wait_until(lambda: said in text_of_events(pleat, number), said)
    os.remove(pleat.path("fail"))
    pleat.pleat("grow", number, 1, check=0)
    computes(pleat, number, 3)
    ends_well(pleat, number)
    assert "RESULT ok ranks=3" in pleat.output(number)


@pytest.mark.parametrize("way, mpi", WAYS)
def test_an_action_that_fails_after(pleat, way, mpi):
    """The program cannot go on, and says why."""
    pleat.configure(LONG)
    open(pleat.path("fail"), "w", encoding="utf-8").close()
    number = submit(pleat, mpi, "--fail-after", pleat.path("fail"), options=["--on-resize", way])
    job = pleat.wait_end(number)
    assert job["state"] == "failed", job
    assert "action 'files' after the change of 2 to 4 ranks failed on rank 0" in pleat.output(number, "stderr")
    assert "RESULT" not in pleat.output(number)
