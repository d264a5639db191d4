"""Real MPI programs of two runs that share a processor in time: a process hands it to one of either run. Whatever
happens to one run does not hold up the other."""

import glob
import os
import random
import signal
import stat

import pytest

from conftest import LIMIT_S, is_alive, wait_until
from test_agent_fold_harm import RANKS, Pairs
from test_agent_fold_mpi import both_mpis, end, fold, hold, release
from test_agent_fold_mpi import fixture_node, pytestmark  # pylint: disable=unused-import

# rows of table 4.4 of Utrera 2010
POLICIES = {"SB+Msg": "wait=spin,spin=50us,next=unconsumed", "BI+RR": "wait=immediate,next=round-robin",
            "boost": "wait=spin,spin=50us,give=slice,slice=10ms,next=unconsumed"}
ALL = (0, 1, 2, 3)  # pairs


def two(node, mpi, policy="BI+RR"):
    return [Pairs(node, mpi, run=run, settings="share=time," + POLICIES[policy]) for run in (1, 2)]


def pools(pid):
    """The numbers of the agent's files that are pools."""
    return [path for path in glob.glob(f"/proc/{pid}/fd/*") if "pleat-fold-pool" in os.readlink(path)]


def maps_pool(pid):
    with open(f"/proc/{pid}/maps", encoding="latin-1") as file:
        return "pleat-fold-pool" in file.read()


@both_mpis
@pytest.mark.parametrize("policy", POLICIES)
def test_both_end_and_are_right(node, mpi, policy):
    for run in (1, 2):
        told = fold(node, mpi, 4, "ring", "--iterations", 1000, *hold(node, run), run=run,
                    settings="share=time," + POLICIES[policy])
        assert (told["share"], told["queue"], told["queue_by"]) == ("time", "local", "user")
    fold(node, mpi, 4, "ring", "--iterations", 1000, *hold(node, 3), run=3)  # beside them, and not of them
    for run in (1, 2, 3):
        release(node, run)
    outputs = {end(node, run) for run in (1, 2, 3)}
    assert len(outputs) == 1  # a sum of all that was computed


@both_mpis
def test_who_takes_part(node, mpi):
    alone = Pairs(node, mpi, run=3)  # does not say so
    assert alone.told["share"] == "space"
    assert pools(node.first.pid) == []
    runs = two(node, mpi)
    [pool] = pools(node.first.pid)  # one for all
    about = os.stat(pool)
    assert (stat.S_IMODE(about.st_mode), about.st_uid) == (0o600, os.geteuid())
    assert all(maps_pool(pid) for run in runs for pid in run.pids.values())
    assert not any(map(maps_pool, alone.pids.values()))
    for run in (alone, *runs):
        run.go_on(*ALL)
    for run in (alone, *runs):
        run.stop()


@both_mpis
@pytest.mark.parametrize("policy", ["BI+RR", "boost"])
def test_killed_at_any_moment(node, mpi, policy):
    chance = random.Random(os.environ.get("SEED", 1))
    stays, victim = two(node, mpi, policy)
    for run in (2, 3, 4):
        until = victim.counts()[0] + chance.randrange(1000)
        wait_until(lambda: victim.counts()[0] > until, "some rounds")  # pylint: disable=cell-var-from-loop
        for rank in range(RANKS) if run == 2 else [chance.randrange(RANKS)]:
            os.kill(victim.pids[rank], signal.SIGKILL)
        stays.go_on(*ALL)
        exited = node.daemon.expect("exited", run)
        assert exited["code"] != 0 or exited["signal"] != 0
        stays.go_on(*ALL)
        node.daemon.call("forget", run=run)
        if run < 4:  # its places are free again
            victim = Pairs(node, mpi, run=run + 1, settings="share=time," + POLICIES[policy])
    stays.stop()


@both_mpis
def test_stopped(node, mpi):
    stays, victim = two(node, mpi)
    for pid in victim.pids.values():
        os.kill(pid, signal.SIGSTOP)
    stays.go_on(*ALL)
    for pid in victim.pids.values():
        os.kill(pid, signal.SIGCONT)
    victim.go_on(*ALL)
    for run in (stays, victim):
        run.stop()


@both_mpis
def test_an_agent_that_is_stopped_or_killed(node, mpi):
    runs = two(node, mpi)
    os.kill(node.first.pid, signal.SIGSTOP)
    for run in runs:  # nobody needs it to hand processors on
        run.go_on(*ALL)
    for pid in runs[0].pids.values():
        os.kill(pid, signal.SIGKILL)
    runs[1].go_on(*ALL)
    node.first.kill()
    node.first.wait(LIMIT_S)
    node.agent(cpus="0")  # the next one ends what was left
    node.daemon.accept()
    wait_until(lambda: not any(is_alive(pid) for run in runs for pid in run.pids.values()), "the end of all")
