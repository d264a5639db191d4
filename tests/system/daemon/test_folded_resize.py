"""Folded jobs over several nodes change their size: each node's agent changes its own partition, and the change is one of all or
of none, whoever dies meanwhile."""

import os
import signal

import pytest

from conftest import wait_until
from test_folded_nodes import attached, ends_well
from test_nodes import ONE, TWO, divided, environment, two_cpus
from test_parts import both_mpis, by_node, ring

pytestmark = two_cpus

FAST = "lifetime_s = 0\nmalleability = none\napply_s = 1\nshrink_s = 1\ngrace_s = 1\n"


def parts(shown):
    """(processes, processors) that each node's agent says."""
    return [(node["processes"], node["processors"]) for node in
            sorted((shown["folded"] or {}).get("nodes", []), key=lambda node: node["node"])]


def is_on(pleat, job, *processors):
    """The job has 4 processes on each of two nodes, on so many processors there; and its site has no others in claims."""
    def there():
        shown = pleat.job(job)
        assert shown["state"] not in ("done", "failed"), (shown, pleat.output(job, "stderr"))
        slots = {node: sum(slot["count"] for slot in shown["slots"] if slot["node"] == node) for node in (0, 1)}
        return (shown["state"] == "running" and shown["processors"] == sum(processors) and
                parts(shown) == [(4, count) for count in processors] and
                [slots[0], slots[1]] == list(processors))
    wait_until(there, f"it is on {processors}: {pleat.job(job)['slots']} {parts(pleat.job(job))}")
    wait_until(lambda: pleat.call("sites")["sites"][0]["used"] == sum(processors), "the rest is free")


def agents(pleat, job):
    return [int(environment(pids[0])[b"PLEAT_AGENT_PID"].split(b":")[0]) for _, pids in sorted(by_node(pleat, job, "ring").items())]


@both_mpis
def test_it_shrinks_and_grows_on_its_nodes(pleat, mpi):
    divided(pleat, "lifetime_s = 0\nmalleability = none\n")
    go = pleat.path("go")
    job = pleat.submit("--processes", 8, *ring(mpi, iterations=60, hold=go))
    attached(pleat, job, 8)
    before = by_node(pleat, job, "ring")
    is_on(pleat, job, 2, 2)
    for change, processors in (("shrink", (2, 1)), ("shrink", (1, 1)), ("grow", (2, 1)), ("grow", (2, 2)), ("shrink", (2, 1))):
        pleat.pleat(change, "--wait", job, 1, check=0)
        is_on(pleat, job, *processors)
        assert by_node(pleat, job, "ring") == before
    pleat.pleat("shrink", "--wait", job, 1, check=0)
    refused = pleat.pleat("shrink", job, 1)
    assert refused.returncode == 1 and "it has 8 processes, at most 4 on one of them" in refused.stderr, refused
    # its own node has no room, whatever the other one has
    other = pleat.submit("-n", 1, "--", "sleep", "1000")
    pleat.wait_for(other, "running")
    refused = pleat.pleat("grow", job, 2)
    assert refused.returncode == 1 and "2 more processors" in refused.stderr, refused
    pleat.pleat("cancel", other, check=0)
    pleat.wait_end(other)
    pleat.pleat("grow", "--wait", job, 2, check=0)
    is_on(pleat, job, 2, 2)
    for node, cpu in ((0, ONE), (1, TWO)):
        assert all(os.sched_getaffinity(pid) == {cpu} for pid in before[node])
    ends_well(pleat, job, go, 8)
    history = pleat.job(job)["history"]["resizes"]
    assert {(resize["outcome"], resize["way"]) for resize in history} == {("shrunk", None), ("grown", None)}, history
    alone = pleat.submit("--processes", 8, "--one-node", *ring(mpi, iterations=60))
    assert pleat.wait_end(alone)["state"] == "done" and pleat.job(alone)["processors"] <= 2
    assert pleat.output(alone) == pleat.output(job)


@pytest.mark.parametrize("change, before, after", [("grow", (1, 1), (2, 2)), ("shrink", (2, 2), (1, 1))])
def test_one_node_does_not_follow(pleat, change, before, after):
    """The agent of one is stopped: what the other one has done is taken back."""
    divided(pleat, FAST)
    go = pleat.path("go")
    job = pleat.submit("--processes", 8, "--min", 2, *ring("openmpi", iterations=60, hold=go))
    attached(pleat, job, 8)
    if change == "grow":
        pleat.pleat("shrink", "--wait", job, 2, check=0)
    is_on(pleat, job, *before)
    [_, other] = agents(pleat, job)
    os.kill(other, signal.SIGSTOP)
    pleat.call("resize", job=job, by=sum(after) - sum(before))  # a shrink that is not mandatory
    wait_until(lambda: (pleat.call("why", job=job)["size"]["resize"] or {}).get("step") == "withdrawing", "it is withdrawn")
    os.kill(other, signal.SIGCONT)
    # a shrink that its user wants is tried again by itself
    is_on(pleat, job, *(before if change == "grow" else after))
    outcomes = [(resize["from"], resize["to"], resize["outcome"]) for resize in pleat.job(job)["history"]["resizes"]]
    assert (sum(before), sum(after), "timed out") in outcomes, outcomes
    if change == "grow":
        pleat.pleat(change, "--wait", job, 2, check=0)
    is_on(pleat, job, *after)
    ends_well(pleat, job, go, 8)


@pytest.mark.parametrize("change, before, after", [("grow", (1, 1), (2, 2)), ("shrink", (2, 2), (1, 1))])
def test_pleatd_is_killed_between_the_nodes(pleat, change, before, after):
    """One agent has done it, the other one not yet."""
    divided(pleat, "lifetime_s = 0\nmalleability = none\n")
    go = pleat.path("go")
    job = pleat.submit("--processes", 8, "--min", 2, *ring("openmpi", iterations=60, hold=go))
    attached(pleat, job, 8)
    if change == "grow":
        pleat.pleat("shrink", "--wait", job, 2, check=0)
    is_on(pleat, job, *before)
    for number in (0, 1):
        held = agents(pleat, job)[number]
        os.kill(held, signal.SIGSTOP)
        pleat.pleat(change, job, 2, check=0)
        wait_until(lambda: parts(pleat.job(job))[1 - number] == (4, after[0]), "the other one has done it")
        pleat.kill_daemon()
        assert pleat.job(job)["state"] == "resizing" and pleat.job(job)["processors"] == sum(before)
        os.kill(held, signal.SIGCONT)
        is_on(pleat, job, *after)
        if number == 0:
            pleat.pleat("shrink" if change == "grow" else "grow", "--wait", job, 2, check=0)
            is_on(pleat, job, *before)
    ends_well(pleat, job, go, 8)


@pytest.mark.parametrize("lead", [True, False], ids=["lead", "other"])
@pytest.mark.parametrize("change, before", [("grow", (1, 1)), ("shrink", (2, 2))])
def test_an_agent_is_killed_between_the_nodes(pleat, change, before, lead):
    divided(pleat, "lifetime_s = 0\nmalleability = none\nattempts = 9\n")
    go = pleat.path("go")
    job = pleat.submit("--processes", 8, "--min", 2, *ring("openmpi", iterations=60, hold=go))
    attached(pleat, job, 8)
    if change == "grow":
        pleat.pleat("shrink", "--wait", job, 2, check=0)
    is_on(pleat, job, *before)
    held = agents(pleat, job)[0 if lead else 1]
    os.kill(held, signal.SIGSTOP)
    pleat.pleat(change, job, 2, check=0)
    os.kill(held, signal.SIGKILL)
    attached(pleat, job, 8, attempt=1)
    is_on(pleat, job, 2, 2)
    ends_well(pleat, job, go, 8, attempt=1)
