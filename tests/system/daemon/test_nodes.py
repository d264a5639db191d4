"""A machine that is divided into nodes: each has an agent of its own, with CPUs of its own."""

import os
import resource
import signal

import pytest

from conftest import BUILD, loop, wait_until

CPUS = sorted(os.sched_getaffinity(0))
two_cpus = pytest.mark.skipif(len(CPUS) < 2, reason="one CPU only")
ONE, TWO = CPUS[0], CPUS[-1]
NAP = ("--", "sleep", "1000")
RING = os.path.join(BUILD, "apps", "ring")


def divided(pleat, text=""):
    """Two nodes of two processors each, on a CPU each."""
    pleat.configure(text=f'site "local" {{ cpus = "{ONE},{ONE},{TWO},{TWO}" nodes = 2 '
                         'background = ignore }\nbackoff_s = 0.2\ntry_s = 0.1\nidle_exit_s = 0\n' + text)


def nodes_of(job):
    return {slots["node"] for slots in job["slots"]}


def environment(pid):
    with open(f"/proc/{pid}/environ", "rb") as file:
        return dict(entry.split(b"=", 1) for entry in file.read().split(b"\0") if b"=" in entry)


def agent_of(pleat, number):
    """The agent that started a job's processes."""
    return int(environment(pleat.job_pids(number)[0])[b"PLEAT_AGENT_PID"].split(b":")[0])


@two_cpus
def test_both_nodes_run_jobs(pleat):
    divided(pleat)
    jobs = [pleat.submit("-n", 2, *NAP) for _ in range(2)]
    shown = [pleat.wait_for(job, "running") for job in jobs]
    assert [nodes_of(job) for job in shown] == [{0}, {1}]
    for job, cpu, node in zip(jobs, (ONE, TWO), (0, 1)):
        wait_until(lambda job=job: pleat.job_pids(job), "its processes")
        for pid in pleat.job_pids(job):
            assert os.sched_getaffinity(pid) == {cpu}
            assert environment(pid)[b"PLEAT_NODE"] == f"local:{node}".encode()
        assert f"on local node {node}" in pleat.pleat("show", job, check=0).stdout
    assert agent_of(pleat, jobs[0]) != agent_of(pleat, jobs[1])
    sites = pleat.call("sites")["sites"][0]["nodes"]
    assert [(n["node"], n["processors"], n["used"], n["agent"]) for n in sites] == [(0, 2, 2, True), (1, 2, 2, True)]
    assert [n["slot_cpus"] for n in sites] == [f"{ONE},{ONE}", f"{TWO},{TWO}"]
    listed = pleat.pleat("sites", check=0).stdout
    assert "- node 0" in listed and "- node 1" in listed
    assert "; node 0: 2 of 2, node 1: 2 of 2" in pleat.pleat("top", "--once", check=0).stdout
    # more than a node has
    refused = pleat.pleat("submit", "-n", 3, *NAP)
    assert refused.returncode == 1 and "must be on one node: the largest has 2" in refused.stderr, refused
    # a pleatd that comes back finds both
    pleat.kill_daemon()
    assert [nodes_of(pleat.wait_for(job, "running")) for job in jobs] == [{0}, {1}]
    wait_until(lambda: all(n["agent"] for n in pleat.call("sites")["sites"][0]["nodes"]), "both agents")
    assert all(pleat.job(job)["attempt"] == 0 for job in jobs)
    # an agent that dies takes only its own with it
    os.kill(agent_of(pleat, jobs[1]), signal.SIGKILL)
    wait_until(lambda: pleat.job(jobs[1])["attempt"] == 1 and pleat.job(jobs[1])["state"] == "running",
               "the job starts again")
    assert pleat.job(jobs[0])["attempt"] == 0 and pleat.job(jobs[0])["state"] == "running"
    for job in jobs:
        pleat.pleat("cancel", job, check=0)
        pleat.wait_end(job)


@two_cpus
def test_a_node_with_too_many_errors_is_left_alone(pleat):
    """The agent of a node has no descriptors left. Jobs go there first, as it has fewest processors free, until it has
    had more errors than node_errors allows; then they go to the other node."""
    divided(pleat, "node_errors = 1\npause_s = 0.1\npause_max_s = 0.2\nattempts = 1")
    first = pleat.submit(*NAP)
    assert nodes_of(pleat.wait_for(first, "running")) == {0}
    wait_until(lambda: pleat.job_pids(first), "its processes")
    agent = agent_of(pleat, first)
    soft, hard = resource.prlimit(agent, resource.RLIMIT_NOFILE)
    resource.prlimit(agent, resource.RLIMIT_NOFILE, (len(os.listdir(f"/proc/{agent}/fd")), hard))
    second = pleat.submit(*NAP)
    shown = pleat.wait_for(second, "running")
    assert nodes_of(shown) == {1} and pleat.job(first)["state"] == "running", shown
    nodes = pleat.call("sites")["sites"][0]["nodes"]
    assert [(n["state"], n["free"]) for n in nodes] == [("left alone", 0), ("ok", 1)], nodes
    resource.prlimit(agent, resource.RLIMIT_NOFILE, (soft, hard))
    # it stays so until the site joins again: what ends there makes no room
    pleat.call("cancel", job=first)
    pleat.wait_end(first)
    third, fourth = pleat.submit(*NAP), pleat.submit(*NAP)
    assert nodes_of(pleat.wait_for(third, "running")) == {1}
    wait_until(lambda: (pleat.call("why", job=fourth).get("waiting") or {}).get("code"), "it waits")
    pleat.kill_daemon()
    assert nodes_of(pleat.wait_for(fourth, "running")) == {0}
    for job in (second, third, fourth):
        pleat.pleat("cancel", job, check=0)
        pleat.wait_end(job)


def scratch(pleat, number):
    return environment(pleat.job_pids(number)[0])[b"PLEAT_SCRATCH"].decode()


@two_cpus
def test_an_agent_that_starts_leaves_alone_what_others_made(pleat):
    divided(pleat)
    jobs = []
    for _ in range(2):
        jobs.append(pleat.submit(*loop(smallest=2, largest=2)))
        pleat.wait_for(jobs[-1], "running")
        wait_until(lambda: pleat.job_pids(jobs[-1]), "its processes")
    places = [scratch(pleat, job) for job in jobs]
    assert [place[place.index("+"):] for place in places] == ["+local+0+", "+local+1+"]
    assert all(os.path.isdir(place) for place in places)
    # what an agent that is killed leaves is removed by the next one of its node
    os.kill(agent_of(pleat, jobs[0]), signal.SIGKILL)
    wait_until(lambda: pleat.job(jobs[0])["attempt"] == 1 and pleat.job(jobs[0])["state"] == "running",
               "the job starts again")
    assert not os.path.exists(places[0]) and os.path.isdir(places[1])
    assert pleat.job(jobs[1])["attempt"] == 0 and pleat.job(jobs[1])["state"] == "running"
    for job in jobs:
        pleat.pleat("cancel", job, check=0)
        pleat.wait_end(job)


def test_so_does_that_of_another_site(pleat):
    pleat.configure(text='site "one" { processors = 2 background = ignore }\n'
                         'site "a-site-with-quite-a-long-name" { processors = 2 background = ignore }\n'
                         'backoff_s = 0.2\ntry_s = 0.1\nidle_exit_s = 0\n')
    jobs = [pleat.submit("--site", site, *loop(smallest=2, largest=2)) for site in ("one", "a-site-with-quite-a-long-name")]
    for job in jobs:
        pleat.wait_for(job, "running")
        wait_until(lambda job=job: pleat.job_pids(job), "its processes")
    places = [scratch(pleat, job) for job in jobs]
    assert places[0].endswith("+one+0+") and "+a-site-with-" in places[1] and len(places[1]) < 100
    os.kill(agent_of(pleat, jobs[0]), signal.SIGKILL)
    wait_until(lambda: pleat.job(jobs[0])["attempt"] == 1 and pleat.job(jobs[0])["state"] == "running",
               "the job starts again")
    assert not os.path.exists(places[0]) and os.path.isdir(places[1])
    assert pleat.job(jobs[1])["attempt"] == 0 and pleat.job(jobs[1])["state"] == "running"
    for job in jobs:
        pleat.pleat("cancel", job, check=0)
        pleat.wait_end(job)


@two_cpus
def test_grows_on_its_node_only(pleat):
    divided(pleat, "malleability = fpsma\n")
    job = pleat.submit("--one-node", *loop(largest=4))
    shown = pleat.wait_size(job, 2)
    assert nodes_of(shown) == {0}
    refused = pleat.pleat("grow", job, "--to", 3)
    assert refused.returncode == 1 and "0 of 2 on its node (0) may be used" in refused.stderr, refused
    other = pleat.submit("-n", 2, *NAP)
    assert nodes_of(pleat.wait_for(other, "running")) == {1}
    # room is made on a node, for a job that must be on one
    pleat.pleat("policies", "approach=pwa", check=0)
    third = pleat.submit("-n", 1, *NAP)
    assert nodes_of(pleat.wait_for(third, "running")) == {0}
    assert pleat.wait_size(job, 1)["slots"] == [{"node": 0, "first": 0, "count": 1}]
    for number in (job, other, third):
        pleat.pleat("cancel", number, check=0)
        pleat.wait_end(number)


@two_cpus
def test_the_second_node_does_what_the_first_does(pleat):
    """Folding, and both ways of a resize, where the first node has no room."""
    divided(pleat)
    nap = pleat.submit("-n", 2, *NAP)
    pleat.wait_for(nap, "running")
    folded = pleat.submit("--processes", 4, "--max", 2, "--", RING, "--iterations", 100000000)
    wait_until(lambda: (pleat.job(folded)["folded"] or {}).get("attached") == 4, "its processes are attached")
    shown = pleat.wait_size(folded, 2)
    assert nodes_of(shown) == {1} and shown["folded"]["processors"] == 2
    pleat.pleat("shrink", "--wait", folded, 1, check=0)
    assert nodes_of(pleat.job(folded)) == {1}
    pleat.pleat("cancel", folded, check=0)
    pleat.wait_end(folded)
    for way in ("merge", "relaunch"):
        job = pleat.submit(*loop(largest=2, more=["--on-resize", way]))
        assert nodes_of(pleat.wait_size(job, 2)) == {1}
        pleat.pleat("shrink", "--wait", job, 1, check=0)
        assert nodes_of(pleat.wait_size(job, 1)) == {1}
        pleat.pleat("grow", "--wait", job, 1, check=0)
        assert nodes_of(pleat.wait_size(job, 2)) == {1}
        wait_until(lambda job=job: {frozenset(os.sched_getaffinity(pid)) for pid in pleat.rank_pids(job)} ==
                   {frozenset({TWO})}, "its ranks are on the node's CPU")
        pleat.pleat("cancel", job, check=0)
        pleat.wait_end(job)
    assert pleat.job(nap)["state"] == "running"


def test_the_load_of_others_is_looked_at_while_there_are_jobs(pleat):
    """... and how old that is, is told."""
    pleat.configure(text='site "local" { processors = 2 background = measure poll_s = 1.5 }\nidle_exit_s = 0\n')

    def site():
        return pleat.call("sites")["sites"][0]
    pleat.pleat("policies", check=0)
    assert (site()["poll_s"], site()["polled_ago_s"]) == (1.5, None)
    job = pleat.submit("-n", 1, *NAP)
    pleat.wait_for(job, "running")
    wait_until(lambda: site()["polled_ago_s"] is not None, "it is polled")
    pleat.pleat("cancel", job, check=0)
    wait_until(lambda: site()["polled_ago_s"] > 4, "it is not polled any more")
