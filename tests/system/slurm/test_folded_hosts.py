"""Folded jobs on several hosts of a Slurm cluster grow by further allocations on any of these hosts, and give these back first.
test_folded_guests.py has those on one host. Nothing confines jobs to their processors here."""

import os
import re
import signal
import time

import pytest

from clusters import wait_until
from clusters.pleat import Pleat, go_file
from test_folded import CPUS, LOCAL, attached, cpus_of, ends_well, on_cpus, ring
from test_folded_guests import SETTINGS, resizes  # noqa: F401 (of the cluster)
from test_hosts import both_mpis, ranks
from test_malleable import allocations, configured, has

HOSTS = "a[1-2]"
pytestmark = pytest.mark.skipif(len(CPUS) < 2, reason="needs two CPUs")


@pytest.fixture(name="pleat", scope="module")
def fixture_pleat(three):
    pleat = Pleat(three, f'kind = slurm conf = "{three.conf}" partition = main', ["srun"],
                  more="lifetime_s = 0\nmalleability = none\nattempts = 9\n")
    yield pleat
    pleat.finish()


def held(pleat, host, count):
    """Somebody else's job, which has so many processors of a host."""
    job = pleat.cluster.command("sbatch", "--parsable", "-N1", f"-n{count}", "-w", host, "-o", "/dev/null",
                                text_in="#!/bin/sh\nexec sleep 100000\n").strip()
    wait_until(lambda: pleat.cluster.jobs().get(job) == "RUNNING", f"somebody else has {count} of {host}")
    return job


def begun(pleat, mpi, go):
    """It is on a processor of each of two hosts, with two processes on each, and may have two processors there; its processes."""
    wait_until(lambda: not any(node.pids("pleat-agent") for node in pleat.cluster.nodes), "no agents are left")
    others = [held(pleat, "a1", 1), held(pleat, "a2", 1), held(pleat, "a3", 2)]
    job = pleat.submit("--processes", 4, "--min", 2, "--max", 2, *LOCAL, *ring(mpi, go))
    attached(pleat, job, 4, 2)
    there = ranks(pleat)
    assert {host: len(pids) for host, pids in there.items()} == {"a1": 2, "a2": 2}, there
    pleat.cluster.command("scancel", "--full", "--signal=KILL", *others)  # KillWait is long here
    wait_until(lambda: not set(others) & set(pleat.cluster.jobs()), "they are gone")
    has(pleat, (HOSTS, 2))
    pleat.run("limits", job, "--max", 4)
    return job, there


def grow(pleat, job, count=1):
    """As soon as Slurm has said what is free there."""
    def grows():
        done = pleat.run("grow", job, count, check=False)
        assert done.returncode == 0 or "more" in done.stderr, done.stderr
        return done.returncode == 0
    wait_until(grows, f"it grows: {pleat.events(job)} {pleat.log()}")


def parts(shown):
    return [node["processors"] for node in sorted(shown["folded"]["nodes"], key=lambda node: node["node"])]


def grown(pleat, job, there):
    """By one allocation on each host."""
    grow(pleat, job, 2)  # a growth is of one host
    assert parts(attached(pleat, job, 4, 3)) == [2, 1]
    has(pleat, (HOSTS, 2), ("a1", 1))
    grow(pleat, job)
    assert parts(attached(pleat, job, 4, 4)) == [2, 2]
    has(pleat, (HOSTS, 2), ("a1", 1), ("a2", 1))
    for pids in there.values():
        on_cpus(pids, 2)


@both_mpis
def test_it_grows_by_further_allocations_on_its_hosts(pleat, mpi):
    """And gives these back, the last one first. Its processes are the same. pleatd is killed meanwhile."""
    go = go_file(f"go-grow-{mpi}")
    job, there = begun(pleat, mpi, go)
    own = {host: cpus_of(pids) for host, pids in there.items()}
    grown(pleat, job, there)
    pleat.kill_daemon()
    attached(pleat, job, 4, 4)
    has(pleat, (HOSTS, 2), ("a1", 1), ("a2", 1))
    pleat.run("shrink", job, 1)
    pleat.kill_daemon()
    assert parts(attached(pleat, job, 4, 3)) == [2, 1]
    has(pleat, (HOSTS, 2), ("a1", 1))
    on_cpus(there["a2"], 1)
    pleat.run("shrink", job, 1)
    attached(pleat, job, 4, 2)
    has(pleat, (HOSTS, 2))
    for host, pids in there.items():
        wait_until(lambda pids=pids, host=host: cpus_of(pids) == own[host], "they are where they were at first")
    assert ranks(pleat) == there
    ends_well(pleat, job, go, 4)
    assert resizes(pleat, job) == [(2, 3, "grown"), (3, 4, "grown"), (4, 3, "shrunk"), (3, 2, "shrunk")]


@both_mpis
def test_a_further_allocation_is_cancelled(pleat, mpi):
    """It leaves that, whichever host it is on, and keeps the other."""
    go = go_file(f"go-taken-{mpi}")
    job, there = begun(pleat, mpi, go)
    grown(pleat, job, there)
    on_a1 = sorted(pleat.cluster.jobs(), key=int)[1]
    pleat.cluster.command("scancel", on_a1)
    assert parts(attached(pleat, job, 4, 3)) == [1, 2]
    has(pleat, (HOSTS, 2), ("a2", 1))
    on_cpus(there["a1"], 1)
    assert f"Slurm ends its allocation {on_a1} on a1" in re.sub(r"\s+", " ", pleat.events(job)), pleat.events(job)
    grow(pleat, job)
    assert parts(attached(pleat, job, 4, 4)) == [2, 2]
    assert ranks(pleat) == there
    ends_well(pleat, job, go, 4)
    assert resizes(pleat, job) == [(2, 3, "grown"), (3, 4, "grown"), (4, 3, "shrunk"), (3, 4, "grown")]


def test_its_first_allocation_is_cancelled(pleat):
    """Its processes are there, and it is told so: it waits again, and nothing of the others is left."""
    go = go_file("go-first")
    job, there = begun(pleat, "openmpi", go)
    grown(pleat, job, there)
    first = min(pleat.cluster.jobs(), key=int)
    pleat.cluster.command("scancel", first)
    wait_until(lambda: pleat.job(job)["attempt"] == 1, f"it waits again: {pleat.events(job)}")
    told = re.sub(r"\s+", " ", pleat.events(job))
    assert f"Slurm ends its allocation {first} on a1 and a2" in told and "its processes cannot leave it" in told, told
    wait_until(lambda: len(pleat.cluster.jobs()) == 1, f"one allocation is left: {pleat.log()}")
    ends_well(pleat, job, go, 4, attempt=1)


def test_the_agent_of_a_further_one_is_killed(pleat):
    """Its processor is lost: the job begins anew."""
    go = go_file("go-agent")
    job, there = begun(pleat, "mpich", go)
    before = set(pleat.cluster.world["a2"].pids("pleat-agent"))
    grown(pleat, job, there)
    [agent] = set(pleat.cluster.world["a2"].pids("pleat-agent")) - before
    os.kill(agent, signal.SIGKILL)
    wait_until(lambda: pleat.job(job)["attempt"] == 1, f"it waits again: {pleat.events(job)} {pleat.log()}")
    ends_well(pleat, job, go, 4, attempt=1)


@pytest.mark.parametrize("after_s", [0, 0.06, 0.09])
def test_pleatd_is_killed_while_it_grows(pleat, after_s):
    """The growth is made, or given up; either way no processor is lost, and no allocation left, nor the key of its agent: that of the
    next growth, which has the same number, is not taken for it."""
    go = go_file(f"go-pleatd-{after_s}")
    job, there = begun(pleat, "openmpi", go)
    grow(pleat, job)
    time.sleep(after_s)
    pleat.kill_daemon()

    def settled():
        shown = pleat.job(job)
        first, *further = allocations(pleat)
        return shown["state"] == "running" and first == (HOSTS, 2) and len(further) == shown["processors"] - 2
    wait_until(settled, f"it is over: {pleat.events(job)} {pleat.log()}")
    wait_until(lambda: len(list(pleat.path("").glob("agent-*.key"))) == pleat.job(job)["processors"], "no key is left")
    if pleat.job(job)["processors"] == 2:
        grow(pleat, job)
    assert sorted(parts(attached(pleat, job, 4, 3))) == [1, 2]  # on the host whose agent has called the new pleatd first
    assert ranks(pleat) == there
    ends_well(pleat, job, go, 4)


def test_policies_grow_it_there(pleat):
    """On both hosts, as soon as its limits let them."""
    with configured(pleat, "malleability = none", "malleability = egs"):
        go = go_file("go-policy")
        job, there = begun(pleat, "openmpi", go)
        assert parts(attached(pleat, job, 4, 4)) == [2, 2]
        has(pleat, (HOSTS, 2), ("a1", 1), ("a2", 1))
        assert ranks(pleat) == there
        ends_well(pleat, job, go, 4)
