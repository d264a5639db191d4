"""One run over several nodes: its MPI's launcher starts what it needs on the others through their agents."""

import os
import signal

import pytest

from conftest import BUILD, is_alive, words_of, wait_until
from test_nodes import agent_of, divided, environment, nodes_of, two_cpus

APPS = {"openmpi": os.path.join(BUILD, "apps"), "mpich": os.path.join(BUILD, "apps", "mpich")}
DAEMON = {"openmpi": "orted", "mpich": "hydra_pmi_proxy"}
both_mpis = pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
pytestmark = two_cpus


def ring(mpi, iterations=20, hold=None):
    words = ["--", os.path.join(APPS[mpi], "ring"), "--iterations", iterations]
    return words + (["--hold", hold] if hold else [])


def node_of(pid):
    return int(environment(pid)[b"PLEAT_NODE"].split(b":")[1])


def by_node(pleat, number, name):
    """The job's processes of a program, by node."""
    found = {0: [], 1: []}
    for pid in pleat.job_pids(number):
        words = words_of(pid)
        try:
            if words and os.path.basename(words[0]) == name:
                found[node_of(pid)].append(pid)
        except (OSError, KeyError):
            pass
    return found


def spread(pleat, mpi, go):
    """A job with two ranks on each node, which runs until the file `go` is there."""
    divided(pleat)
    job = pleat.submit("-n", 4, *ring(mpi, hold=go))
    pleat.wait_for(job, "running")
    wait_until(lambda: all(len(pids) == 2 for pids in by_node(pleat, job, "ring").values()),
               "two ranks on each node")
    return job


@both_mpis
def test_a_job_over_two_nodes(pleat, mpi):
    go = pleat.path("go")
    job = spread(pleat, mpi, go)
    shown = pleat.job(job)
    assert nodes_of(shown) == {0, 1} and shown["processors"] == 4
    ranks = by_node(pleat, job, "ring")
    agents = {node: {environment(pid)[b"PLEAT_AGENT_PID"] for pid in pids} for node, pids in ranks.items()}
    assert len(agents[0]) == len(agents[1]) == 1 and agents[0] != agents[1]
    for node, pids in ranks.items():
        for pid in pids:
            env = environment(pid)
            assert env[b"PLEAT_NODE_NAME"] == f"pleat-node-{node}".encode()
            assert env[b"PLEAT_SCRATCH"].endswith(f"+local+{node}".encode())
            assert b"PLEAT_REMOTE" not in env and b"PLEAT_PART_SCRATCH" not in env
            assert b"TMPDIR" not in env
            assert len(os.sched_getaffinity(pid)) == 1
    assert os.sched_getaffinity(ranks[0][0]) != os.sched_getaffinity(ranks[1][0])
    with open(go, "w", encoding="utf-8"):
        pass
    assert pleat.wait_end(job)["state"] == "done"
    assert pleat.output(job).startswith("RESULT ok") and "ranks=4" in pleat.output(job)
