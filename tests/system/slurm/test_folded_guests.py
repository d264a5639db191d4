"""Folded jobs on one host of a Slurm cluster grow by further allocations on that host, and give these back first. Nothing
confines jobs to their processors there; test_folded_confined.py has the same where an affinity does."""

import os
import re
import signal

import pytest

from clusters import wait_until
from clusters.pleat import Pleat, go_file
from test_folded import CPUS, LOCAL, attached, cpus_of, ends_well, on_cpus, ring
from test_hosts import both_mpis, ranks
from test_malleable import configured, has

SETTINGS = {"KillWait": 30, "ProctrackType": "proctrack/pgid"}  # as test_taken.py has it
pytestmark = pytest.mark.skipif(len(CPUS) < 2, reason="needs two CPUs")


@pytest.fixture(name="pleat", scope="module")
def fixture_pleat(three):
    pleat = Pleat(three, f'kind = slurm conf = "{three.conf}" partition = main', ["srun"],
                  more="lifetime_s = 0\nmalleability = none\nattempts = 9\n")
    yield pleat
    pleat.finish()


def begun(pleat, mpi, go, *options, processes=2):
    """It is on one processor, and may have two; the host, and its processes."""
    # an agent of an earlier test may hold a CPU: the later allocation would have to share one then
    wait_until(lambda: not any(node.pids("pleat-agent") for node in pleat.cluster.nodes), "no agents are left")
    job = pleat.submit("--processes", processes, "--max", 1, *LOCAL, *options, *ring(mpi, go))
    attached(pleat, job, processes, 1)
    [(host, pids)] = ranks(pleat).items()
    has(pleat, (host, 1))
    pleat.run("limits", job, "--max", 2)
    return job, host, pids


def grown(pleat, job, host, processes=2):
    """By another allocation on that host, as soon as Slurm has said what is free there."""
    def grows():
        done = pleat.run("grow", job, 1, check=False)
        assert done.returncode == 0 or "more" in done.stderr, done.stderr
        return done.returncode == 0
    wait_until(grows, f"it grows: {pleat.events(job)} {pleat.log()}")
    shown = attached(pleat, job, processes, 2)
    has(pleat, (host, 1), (host, 1))
    return shown


def resizes(pleat, job):
    return [(r["from"], r["to"], r["outcome"]) for r in pleat.job(job)["history"]["resizes"]]


@both_mpis
@pytest.mark.parametrize("options", [(), ("--one-node",)], ids=["anywhere", "one-node"])
def test_it_grows_by_another_allocation_on_its_host(pleat, mpi, options):
    """And gives that back, also to Slurm. Its processes are the same, and on as many CPUs as it has processors. pleatd is
    killed meanwhile."""
    go = go_file(f"go-grow-{mpi}-{len(options)}")
    job, host, pids = begun(pleat, mpi, go, *options)
    [own] = cpus_of(pids)
    shown = grown(pleat, job, host)
    on_cpus(pids, 2)
    assert str(own) in re.split("[,-]", shown["folded"]["cpus"]), shown
    assert ranks(pleat) == {host: pids}
    pleat.kill_daemon()
    attached(pleat, job, 2, 2)
    has(pleat, (host, 1), (host, 1))
    refused = pleat.run("grow", job, 1, check=False)
    assert refused.returncode == 1, refused
    pleat.run("shrink", job, 1)
    attached(pleat, job, 2, 1)
    has(pleat, (host, 1))
    on_cpus(pids, 1)
    assert cpus_of(pids) == {own}
    grown(pleat, job, host)
    pleat.run("shrink", job, 1)
    pleat.kill_daemon()
    attached(pleat, job, 2, 1)
    has(pleat, (host, 1))
    assert ranks(pleat) == {host: pids}
    ends_well(pleat, job, go, 2)
    assert resizes(pleat, job) == [(1, 2, "grown"), (2, 1, "shrunk")] * 2


@pytest.mark.parametrize("mpi, options", [("openmpi", ()), ("mpich", ("--one-node",))])
def test_its_later_allocation_is_cancelled(pleat, mpi, options):
    """It leaves that, and goes on; then it grows by another one."""
    go = go_file(f"go-taken-{mpi}")
    job, host, pids = begun(pleat, mpi, go, *options)
    grown(pleat, job, host)
    later = max(pleat.cluster.jobs(), key=int)
    pleat.cluster.command("scancel", later)
    attached(pleat, job, 2, 1)
    has(pleat, (host, 1))
    on_cpus(pids, 1)
    assert f"Slurm ends its allocation {later} on {host}" in re.sub(r"\s+", " ", pleat.events(job)), pleat.events(job)
    grown(pleat, job, host)
    assert ranks(pleat) == {host: pids}
    ends_well(pleat, job, go, 2)
    assert resizes(pleat, job) == [(1, 2, "grown"), (2, 1, "shrunk"), (1, 2, "grown")]


def test_its_first_allocation_is_cancelled(pleat):
    """Its processes are there: it waits again, and nothing of the later one is left."""
    go = go_file("go-first")
    job, host, pids = begun(pleat, "openmpi", go)
    grown(pleat, job, host)
    pleat.cluster.command("scancel", min(pleat.cluster.jobs(), key=int))
    wait_until(lambda: pleat.job(job)["attempt"] == 1, f"it waits again: {pleat.events(job)}")
    assert "its processes cannot leave it" in re.sub(r"\s+", " ", pleat.events(job)), pleat.events(job)
    wait_until(lambda: not set(pids) & {pid for found in ranks(pleat).values() for pid in found}, "the old ones are gone")
    wait_until(lambda: len(pleat.cluster.jobs()) == 1, f"one allocation is left: {pleat.log()}")
    ends_well(pleat, job, go, 2, attempt=1)


def test_the_agent_of_the_later_one_is_killed(pleat):
    """Its processor is lost: the job begins anew."""
    go = go_file("go-agent")
    job, host, _ = begun(pleat, "mpich", go)
    before = set(pleat.cluster.world[host].pids("pleat-agent"))
    grown(pleat, job, host)
    [agent] = set(pleat.cluster.world[host].pids("pleat-agent")) - before
    os.kill(agent, signal.SIGKILL)
    wait_until(lambda: pleat.job(job)["attempt"] == 1, f"it waits again: {pleat.events(job)} {pleat.log()}")
    ends_well(pleat, job, go, 2, attempt=1)


def test_others_have_the_rest_of_its_host(pleat):
    """Then it is not grown, wherever else there is room."""
    go = go_file("go-others")
    job, host, _ = begun(pleat, "openmpi", go)
    other = pleat.cluster.command("sbatch", "--parsable", "-N1", "-n1", "-w", host, "-o", "/dev/null",
                                  text_in="#!/bin/sh\nexec sleep 100000\n").strip()
    wait_until(lambda: pleat.cluster.jobs().get(other) == "RUNNING", "somebody else has the rest")
    pleat.run("grow", job, 1, check=False)  # refused here, or by Slurm
    wait_until(lambda: pleat.job(job)["state"] == "running", "that is over")
    assert pleat.job(job)["processors"] == 1
    has(pleat, (host, 1), (host, 1))
    pleat.cluster.command("scancel", other)
    wait_until(lambda: other not in pleat.cluster.jobs(), "they are gone")
    grown(pleat, job, host)
    ends_well(pleat, job, go, 2)


def test_policies_grow_it_there(pleat):
    """As soon as its limits let them."""
    with configured(pleat, "malleability = none", "malleability = egs"):
        go = go_file("go-policy")
        job, host, pids = begun(pleat, "openmpi", go)
        attached(pleat, job, 2, 2)
        has(pleat, (host, 1), (host, 1))
        assert ranks(pleat) == {host: pids}
        ends_well(pleat, job, go, 2)
