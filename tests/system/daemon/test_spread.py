"""Malleable programs on several nodes: each node's agent has a mailbox and a state for the ranks there. It is for
tests only that such a job is on several nodes (PLEAT_TEST_SPREAD): it cannot change its size there."""

import os
import signal

import pytest

from conftest import is_alive, wait_until, words_of
from relaunching import MPIS, program, submit, text_of_events
from test_nodes import divided, environment, nodes_of, two_cpus
from test_parts import by_node

pytestmark = two_cpus


def spread(pleat, mpi, *, sizes=(3, 4), options=(), text="attempts = 9\n"):
    """A malleable job with ranks on both nodes, which has begun."""
    pleat.env["PLEAT_TEST_SPREAD"] = "1"
    divided(pleat, text)
    job = submit(pleat, mpi, sizes=sizes, options=["--initial", sizes[1], *options])
    begun(pleat, job)
    return job


def begun(pleat, job):
    wait_until(lambda: pleat.job(job)["state"] == "running" and (pleat.job(job)["progress"] or {}).get("iteration"),
               "its ranks compute")


def ends(pleat, job):
    with open(pleat.path("end"), "w", encoding="utf-8"):
        pass
    ended = pleat.wait_end(job)
    assert ended["state"] == "done" and pleat.output(job).count("RESULT ok") == 1, (ended, pleat.output(job, "stderr"))
    pleat.wait_free(4)
    assert pleat.job_pids() == []


def here(pid, name):
    return environment(pid).get(name.encode(), b"").decode()


def agent_of(pid):
    return here(pid, "PLEAT_AGENT_PID").split(":")[0]


@pytest.mark.parametrize("mpi", MPIS)
def test_each_node_has_a_mailbox(pleat, mpi):
    job = spread(pleat, mpi)
    shown = pleat.job(job)
    assert nodes_of(shown) == {0, 1} and shown["processors"] == 4
    ranks = by_node(pleat, job, "loop")
    assert len(ranks[0]) == len(ranks[1]) == 2
    for pid in ranks[0]:
        assert not here(pid, "PLEAT_MAILBOX_HERE") and not here(pid, "PLEAT_STATE_HERE")
        assert here(pid, "PLEAT_MAILBOX").startswith(f"/proc/{agent_of(pid)}/fd/")
    for pid in ranks[1]:
        assert agent_of(pid) != agent_of(ranks[0][0])
        for name in ("PLEAT_MAILBOX_HERE", "PLEAT_DOORBELL_HERE", "PLEAT_STATE_HERE"):
            assert here(pid, name).startswith(f"/proc/{agent_of(pid)}/fd/"), name
    # a part of the state would be missing
    before = pleat.job(job)["progress"]["iteration"]
    checkpoint = pleat.pleat("checkpoint", "--wait", job, check=None)
    assert checkpoint.returncode == 1 and "is on 2 nodes" in checkpoint.stderr, checkpoint
    wait_until(lambda: pleat.job(job)["progress"]["iteration"] > before, "it goes on")
    assert {pid for node in by_node(pleat, job, "loop").values() for pid in node} == {
        pid for node in ranks.values() for pid in node}
    ends(pleat, job)


@pytest.mark.parametrize("mpi", MPIS)
def test_what_is_killed(pleat, mpi):
    """An agent, pleatd: it is started again on both nodes, or goes on; nothing is left behind."""
    job = spread(pleat, mpi)

    def pids():
        return {pid for node in by_node(pleat, job, "loop").values() for pid in node}
    for attempt, node in ((1, 1), (2, 0)):
        before = pids()
        os.kill(int(agent_of(by_node(pleat, job, "loop")[node][0])), signal.SIGKILL)
        wait_until(lambda: pleat.job(job)["attempt"] == attempt and len(pids()) == 4 and not pids() & before,
                   f"attempt {attempt}")
        begun(pleat, job)
        assert not [pid for pid in before if is_alive(pid)]
    before = pids()
    pleat.kill_daemon()
    wait_until(lambda: all(n["agent"] for n in pleat.call("sites")["sites"][0]["nodes"]), "both agents")
    begun(pleat, job)
    assert pids() == before
    ends(pleat, job)


@pytest.mark.parametrize("mpi", MPIS)
def test_a_change_of_size_is_refused(pleat, mpi):
    """One that must be ends it, with the reason: what its ranks have would be lost."""
    job = spread(pleat, mpi)
    pleat.pleat("shrink", job, 1, check=0)
    assert pleat.wait_end(job)["state"] != "done"
    assert "its processes are on several nodes" in text_of_events(pleat, job)
    assert "RESULT" not in pleat.output(job)
    pleat.wait_free(4)


def test_without_the_wish_it_is_on_one_node(pleat):
    divided(pleat)
    refused = pleat.pleat("submit", "--min", 3, "--max", 4, "--", program("loop", "openmpi"), check=None)
    assert refused.returncode == 1 and "must be on one node: the largest has 2" in refused.stderr, refused
