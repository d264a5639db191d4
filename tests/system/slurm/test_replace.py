"""Allocations of a malleable job whose time is over, and without which it cannot go on: it asks for another one in time, goes
on there with its state, and leaves them."""

import re

import pytest

from clusters import wait_until
from clusters.pleat import Pleat, go_file
from test_hosts import both_mpis
from test_malleable import TIMES, allocations, begun, ends, on
from test_taken import SETTINGS, resizes  # noqa: F401


@pytest.fixture(name="pleat", scope="module")
def fixture_pleat(three):
    pleat = Pleat(three, f'kind = slurm conf = "{three.conf}" partition = main leave_s = 5', ["srun"],
                  more=TIMES + 'malleability = "none"\n')
    yield pleat
    pleat.finish()


def moves(pleat, job, *resizes_of_it):
    """Its allocation ends one minute after its start (for which Slurm itself looks every half minute only). It grows by
    another one that it asks for itself, and leaves the first one; it is no other attempt."""
    [first] = pleat.cluster.jobs()
    before = pleat.job(job)["progress"]["iteration"]
    pleat.cluster.command("scontrol", "update", f"JobId={first}", "TimeLimit=1")
    wanted = [(was, size, "site", "grown" if size > was else "shrunk") for was, size in resizes_of_it]
    wait_until(lambda: wanted[-1] in resizes(pleat, job)[len(wanted) - 1:] or pleat.job(job)["attempt"],
               f"job {job} has left allocation {first}: {pleat.log()}")
    events = pleat.events(job)
    assert resizes(pleat, job) == wanted and pleat.job(job)["attempt"] == 0, (events, pleat.log())
    wait_until(lambda: first not in pleat.cluster.jobs(), f"it has been given back: {pleat.log()}")
    was, size = resizes_of_it[-1]
    assert f"shrink {was} -> {size}: shrunk (the time of its processors is over)" in events, events
    assert "grown (instead of processors whose time is over soon)" in events, events
    there = on(pleat, job, "loop", size)
    assert list(there) == ["a2"] and allocations(pleat) == [("a2", size)], (there, pleat.log())
    [at] = re.findall(r"it goes on from iteration (\d+)", pleat.events(job))[-1:]
    assert int(at) >= before and pleat.job(job)["progress"]["iteration"] >= int(at), events


@both_mpis
def test_the_only_allocation_is_over(pleat, mpi):
    go = go_file(f"go-only-{mpi}")
    job, _ = begun(pleat, mpi, "loop", go, ("--min", 1, "--max", 4))
    moves(pleat, job, (2, 4), (4, 2))
    assert ends(pleat, job, go)["attempt"] == 0


def test_it_has_as_many_as_it_may_have(pleat):
    """It gives one back first. The one that it asks for is not that one, which is still in its allocation."""
    go = go_file("go-room")
    job, _ = begun(pleat, "mpich", "loop", go)
    moves(pleat, job, (2, 1), (1, 2), (2, 1))
    assert ends(pleat, job, go)["attempt"] == 0
