"""Folded jobs over several nodes: each node's agent folds the processes that are there, on the processors there."""

import os
import signal

import pytest

from conftest import wait_until
from test_folding import same_decisions
from test_nodes import ONE, TWO, divided, environment, nodes_of, two_cpus
from test_parts import both_mpis, by_node, ring

pytestmark = two_cpus


def folded(pleat, mpi, go, processes, processors, options=()):
    """On so many processors of the four that both nodes have."""
    job = pleat.submit("--processes", processes, "--min", processors, "--max", processors, *options,
                       *ring(mpi, iterations=60, hold=go))
    attached(pleat, job, processes)
    return job


def attached(pleat, job, processes, attempt=0):
    def there():
        shown = pleat.job(job)
        assert shown["state"] not in ("done", "failed"), (shown, pleat.output(job, "stderr"))
        return shown["state"] == "running" and shown["attempt"] == attempt and (shown["folded"] or {}).get("attached") == processes
    wait_until(there, f"{processes} processes are attached")


def ends_well(pleat, job, go, processes, attempt=0):
    with open(go, "w", encoding="utf-8"):
        pass
    ended = pleat.wait_end(job)
    assert (ended["state"], ended["attempt"]) == ("done", attempt), (ended, pleat.output(job, "stderr"))
    assert pleat.output(job).count(f"RESULT ok ring ranks={processes} ") == 1, pleat.output(job)
    pleat.wait_free(4)
    assert pleat.job_pids() == []
    same_decisions(pleat)


@both_mpis
@pytest.mark.parametrize("processes, processors, parts", [(8, 4, (4, 4)), (7, 3, (5, 2))])
def test_each_node_folds_its_own_part(pleat, mpi, processes, processors, parts):
    divided(pleat)
    go = pleat.path("go")
    job = folded(pleat, mpi, go, processes, processors)
    shown = pleat.job(job)
    assert nodes_of(shown) == {0, 1} and (shown["processors"], shown["processes"]) == (processors, processes)
    assert [(node["node"], node["processes"], node["attached"], node["processors"]) for node in
            sorted(shown["folded"]["nodes"], key=lambda node: node["node"])] == [
                (0, parts[0], parts[0], 2), (1, parts[1], parts[1], processors - 2)]
    ranks = by_node(pleat, job, "ring")
    for node, cpu in ((0, ONE), (1, TWO)):
        assert len(ranks[node]) == parts[node]
        for pid in ranks[node]:
            env = environment(pid)
            assert env[b"PLEAT_FOLD"].startswith(b"/proc/" + env[b"PLEAT_AGENT_PID"].split(b":")[0] + b"/fd/")
            assert os.sched_getaffinity(pid) == {cpu}
    assert f"{processes} of {processes} processes attached on 2 nodes" in pleat.pleat("show", job, check=0).stdout
    ends_well(pleat, job, go, processes)
    alone = pleat.submit("--processes", processes, "--one-node", *ring(mpi, iterations=60))
    pleat.wait_end(alone)
    assert pleat.job(alone)["processors"] <= 2 and pleat.output(alone) == pleat.output(job)


def test_its_limits(pleat):
    """One number of processors is kept until its user changes it, also while it runs; on one node there are not so many."""
    divided(pleat)
    go = pleat.path("go")
    job = folded(pleat, "openmpi", go, 8, 3)
    for words, why in ((("shrink", job, 1), "it has 8 processes, at most 3 on one of them"), (("grow", job, 1), "its limits are 3 to 3")):
        refused = pleat.pleat(*words)
        assert refused.returncode == 1 and why in refused.stderr, refused
    pleat.pleat("limits", job, "--min", 2, "--max", 4, check=0)
    pleat.wait_size(job, 4)  # policies grow it
    pleat.pleat("limits", job, "--max", 3, check=0)
    pleat.wait_size(job, 3)
    ends_well(pleat, job, go, 8)
    refused = pleat.pleat("submit", "--processes", 8, "--min", 3, "--max", 3, "--one-node", *ring("openmpi"))
    assert refused.returncode == 1 and "must be on one node" in refused.stderr, refused
    several = pleat.submit("--processes", 8, "--min", 1, "--max", 4, *ring("openmpi"))
    assert pleat.wait_end(several)["state"] == "done"
    same_decisions(pleat)


@both_mpis
@pytest.mark.parametrize("lead", [True, False], ids=["lead", "other"])
def test_an_agent_is_killed(pleat, mpi, lead):
    """That of either node: the job waits again, and is folded anew on both."""
    divided(pleat, "attempts = 9\n")
    go = pleat.path("go")
    job = folded(pleat, mpi, go, 8, 4)
    before = by_node(pleat, job, "ring")
    pid = before[0 if lead else 1][0]
    os.kill(int(environment(pid)[b"PLEAT_AGENT_PID"].split(b":")[0]), signal.SIGKILL)
    wait_until(lambda: pleat.job(job)["attempt"] == 1, "it waits again")
    attached(pleat, job, 8, attempt=1)
    assert not {pid for pids in before.values() for pid in pids} & {pid for pids in by_node(pleat, job, "ring").values() for pid in pids}
    ends_well(pleat, job, go, 8, attempt=1)


@both_mpis
def test_pleatd_is_killed(pleat, mpi):
    divided(pleat)
    go = pleat.path("go")
    job = folded(pleat, mpi, go, 8, 4)
    before = by_node(pleat, job, "ring")
    pleat.kill_daemon()
    attached(pleat, job, 8)
    assert by_node(pleat, job, "ring") == before
    ends_well(pleat, job, go, 8)
