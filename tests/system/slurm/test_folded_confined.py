"""Folded jobs where Slurm confines allocations to their CPUs by an affinity: these are a job's, and nothing is chosen."""

import os

import pytest

from clusters import wait_until
from clusters.pleat import Pleat, go_file
from test_folded import attached, cpus_of, ends_well, ring
from test_hosts import ranks
from test_malleable import has

SETTINGS = {"TaskPlugin": "task/affinity"}
pytestmark = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two CPUs")


@pytest.fixture(name="pleat", scope="module")
def fixture_pleat(three):
    pleat = Pleat(three, f'kind = slurm conf = "{three.conf}" partition = main', ["srun"])
    yield pleat
    pleat.finish()


def test_its_cpus_are_those_of_its_allocation(pleat):
    """Two jobs of one processor each, on a host: each has the CPU that its agent was given."""
    go = go_file("go-confined")
    jobs = [pleat.submit("--processes", 2, "--max", 1, *ring(mpi, go)) for mpi in ("openmpi", "mpich")]
    shown = [attached(pleat, job, 2, 1)["folded"] for job in jobs]
    [host] = ranks(pleat)
    has(pleat, (host, 1), (host, 1))
    own = [os.sched_getaffinity(pid) for pid in pleat.cluster.world[host].pids("pleat-agent")]
    assert sorted(map(len, own)) == [1, 1] and own[0] != own[1], own
    assert not any(one["chosen"] for one in shown)
    assert sorted(int(one["cpus"]) for one in shown) == sorted(cpu for cpus in own for cpu in cpus)
    assert cpus_of(ranks(pleat)[host]) == own[0] | own[1]
    for job in jobs:
        ends_well(pleat, job, go, 2)


def test_it_grows_by_another_allocation_on_its_host(pleat):
    """An affinity keeps no process from the CPU of another allocation of its job, which that allocation's agent was given."""
    go = go_file("go-grown")
    job = pleat.submit("--processes", 2, "--max", 1, *ring("openmpi", go))
    attached(pleat, job, 2, 1)
    [(host, pids)] = ranks(pleat).items()
    pleat.run("limits", job, "--max", 2)
    shown = attached(pleat, job, 2, 2)["folded"]
    has(pleat, (host, 1), (host, 1))
    own = [os.sched_getaffinity(pid) for pid in pleat.cluster.world[host].pids("pleat-agent")]
    assert sorted(map(len, own)) == [1, 1] and own[0] != own[1], own
    wait_until(lambda: cpus_of(pids) == own[0] | own[1], f"they are on both: {shown}")
    assert not shown["chosen"]
    pleat.run("shrink", job, 1)
    attached(pleat, job, 2, 1)
    has(pleat, (host, 1))
    ends_well(pleat, job, go, 2)
