"""Evolving jobs with processes at another site than their own: two agents on this machine, which call over TCP, each with CPUs
of its own."""
import os
import signal
import sys

import pytest
from conftest import CPUS, KEPT, Evolving, daemon, is_alive, wait_until
from test_process_nodes import agent_of, environment

SITES = "".join(f'site "{name}" {{ cpus = "{cpu},{cpu}" agents = tcp background = ignore }}\n'
                for name, cpu in (("here", CPUS[0]), ("there", CPUS[-1])))
TEXT = SITES + "backoff_s = 0.2\ntry_s = 0.1\nidle_exit_s = 0\n"


SANITIZED = not os.path.isdir(os.path.join(daemon.BUILD, "python"))
of_python = pytest.mark.skipif(SANITIZED, reason="a sanitizer comes with programs in C")


def site_of(pid):
    return environment(pid)[b"PLEAT_NODE"].split(b":")[0].decode()


def begin(pleat, text="", env=()):
    """A job on one processor of its site, which may have processes at the other one."""
    pleat.configure(text=TEXT + text)
    job = Evolving(pleat, "-n", 1, "--max", 4, "--site", "here", "--sites", "there", env=env)
    job.wait(0, "welcome")
    return job


def goes_there(job, process):
    answer = job.add(site="there")
    assert (answer["process"], answer["ready"]) == (process, False), answer
    job.wait(process, "welcome", state="running")
    assert site_of(job.pid(process)) == "there"
    return job.pid(process)


def free(pleat):
    """Nothing is left of any job, at both sites."""
    def nothing():
        return all(site["used"] == 0 for site in pleat.call("sites")["sites"])
    wait_until(nothing, "all processors are free")


def used_there(pleat):
    return next(site["used"] for site in pleat.call("sites")["sites"] if site["name"] == "there")


def waits(job):
    return job.pleat.call("why", job=job.job)["size"]["buffer"]


def test_a_wish_for_another_site(pleat):
    """It comes there, though there is room at the job's own site; one that needs none in particular does not."""
    job = begin(pleat)
    there = goes_there(job, 1)
    assert agent_of(there) != agent_of(job.pid(0)) and len(os.sched_getaffinity(there)) == 1
    assert not environment(there)[b"PLEAT_PROCESS_HOST"].startswith(b"ipc")
    paths = [environment(job.pid(process))[b"PLEAT_PROCESS_SECRET"] for process in (0, 1)]
    assert paths[0] != paths[1] and open(paths[0], "rb").read() == open(paths[1], "rb").read()
    job.wait(0, "process", process=1, state="running")
    job.size(2)
    assert [slots.get("site") for slots in pleat.job(job.job)["slots"]] == [None, "there"]
    assert "2 led from here, 1 on node 0 of there, 2 processes" in pleat.pleat("show", job.job, check=0).stdout
    assert job.add()["process"] == 2
    job.wait(2, "welcome", state="running")
    assert site_of(job.pid(2)) == "here"
    number = job.say(1, "add", site="there") # one of that site asks, too
    assert job.wait(1, "added", number=number)["process"] == 3
    job.wait(3, "welcome", state="running", parent=1)
    job.size(4)
    number = job.say(0, "stop", process=3)
    job.wait(1, "process", process=3, state="gone", reason="stopped")
    job.size(3)
    assert job.end()["state"] == "done"
    free(pleat)
    assert not is_alive(there) and not os.path.exists(paths[1])
    wait_until(lambda: len(pleat.output(job.job).splitlines()) == 4, f"all have written: {pleat.output(job.job)!r}", 10)


def test_a_site_that_was_not_named(pleat):
    """It is refused, and the text says what to do."""
    pleat.configure(text=TEXT)
    job = Evolving(pleat, "-n", 1, "--max", 4, "--site", "here")
    job.wait(0, "welcome")
    text = job.add(site="there")["text"]
    assert "a process at site 'there' is not possible" in text and "--sites there" in text
    assert job.add(site="here")["process"] == 1
    job.wait(1, "welcome", state="running")
    assert job.end()["state"] == "done"
    for options, why in ((["--sites", "nowhere"], "there is no site 'nowhere'"),
                         (["--sites", "there", "--one-node"], "contradict")):
        refused = pleat.pleat("submit", "--evolving", *options, "--", "true")
        assert refused.returncode != 0 and why in refused.stderr, refused.stderr
    refused = pleat.pleat("submit", "--sites", "there", "--", "true")
    assert refused.returncode != 0 and "--evolving" in refused.stderr
    free(pleat)


def test_an_architecture_at_another_site_whose_agent_is_there(pleat):
    """What that said of its host before the job began is known."""
    pleat.configure(text=TEXT)
    assert pleat.wait_end(pleat.submit("--site", "there", "--", "true"))["state"] == "done"
    job = Evolving(pleat, "-n", 1, "--max", 4, "--site", "here", "--sites", "here,there")
    job.wait(0, "welcome")
    assert "no node of site 'there' is known to have it, but only" in job.add(site="there", arch="vax")["text"]
    assert "nodes of other sites have numbers" in job.add(site="there", node=os.uname().nodename)["text"]
    assert job.add(site="there", arch=os.uname().machine)["process"] == 1
    job.wait(1, "welcome", state="running")
    assert site_of(job.pid(1)) == "there"
    assert job.end()["state"] == "done"
    free(pleat)


def test_it_waits_for_another_site(pleat):
    """What is free at its own is of no use to it; 'pleat why' says for what it waits."""
    job = begin(pleat)
    other = pleat.submit("-n", 2, "--site", "there", "--", "sleep", 1000)
    pleat.wait_for(other, "running")
    assert job.add(site="there")["ready"] is False
    wait_until(lambda: waits(job)["waits"] == "none free", f"it waits: {waits(job)}")
    assert waits(job)["waits_site"] == "there"
    assert "for site there: no processor is free" in pleat.pleat("why", job.job, check=0).stdout
    job.size(1)
    pleat.pleat("cancel", other, check=0)
    job.wait(1, "welcome", state="running")
    assert site_of(job.pid(1)) == "there"
    assert job.end()["state"] == "done"
    free(pleat)


def test_the_agent_at_another_site_is_killed(pleat):
    """Its process is lost, which the others hear; the run goes on, and gets another one there."""
    job = begin(pleat)
    there = goes_there(job, 1)
    job.size(2)
    os.kill(agent_of(there), signal.SIGKILL)
    assert job.wait(0, "process", process=1, state="gone")["reason"] == "lost"
    wait_until(lambda: not is_alive(there), "its process is gone")
    job.size(1)
    goes_there(job, 2)
    assert pleat.job(job.job)["attempt"] == 0
    assert job.end()["state"] == "done"
    free(pleat)


def test_the_agent_that_leads_processes_elsewhere_is_killed(pleat):
    """The run is over, also at the other site; the job starts anew, with nothing there."""
    job = begin(pleat)
    there = goes_there(job, 1)
    job.size(2)
    os.kill(agent_of(job.pid(0)), signal.SIGKILL)
    wait_until(lambda: not is_alive(there), "its process there is gone")
    wait_until(lambda: pleat.job(job.job)["attempt"] == 1 and pleat.job(job.job)["state"] == "running", "it runs again")
    job.size(1)
    wait_until(lambda: used_there(pleat) == 0, "it has nothing there")
    assert job.end()["state"] == "done"
    free(pleat)


def test_pleatd_is_killed_while_processes_are_at_two_sites(pleat):
    """What waits is asked for again, and what runs goes on."""
    job = begin(pleat)
    there = goes_there(job, 1)
    other = pleat.submit("-n", 1, "--site", "there", "--", "sleep", 1000)
    pleat.wait_for(other, "running")
    assert job.add(site="there")["process"] == 2
    wait_until(lambda: waits(job)["waits"] == "none free", "it waits")
    pleat.kill_daemon()
    pleat.call("info")
    wait_until(lambda: waits(job)["waits_site"] == "there", "it waits on")
    assert is_alive(there) and is_alive(job.pid(0))
    pleat.pleat("cancel", other, check=0)
    job.wait(2, "welcome", state="running")
    assert site_of(job.pid(2)) == "there"
    job.size(3)
    pleat.kill_daemon()
    job.tell(0, "EXIT 0")
    assert pleat.wait_end(job.job)["state"] == "done"
    assert not is_alive(there)
    free(pleat)


def test_another_site_is_drained_and_resumed(pleat):
    """What runs there goes on, and what waits comes later."""
    job = begin(pleat)
    there = goes_there(job, 1)
    pleat.pleat("site", "drain", "there", check=0)
    assert job.add(site="there")["process"] == 2
    wait_until(lambda: (waits(job)["waits"], waits(job).get("waits_site")) == ("drained", "there"), f"it waits: {waits(job)}")
    assert is_alive(there)
    pleat.pleat("site", "resume", "there", check=0)
    job.wait(2, "welcome", state="running")
    assert site_of(job.pid(2)) == "there"
    assert job.end()["state"] == "done"
    free(pleat)


def test_another_site_is_removed(pleat):
    """It has the job's processes, and is kept; with --drain requests that wait for it are over, and it goes when its processes
    have gone."""
    pleat.configure(text=TEXT.replace(SITES, SITES.splitlines()[0]))
    options = {"cpus": f"{CPUS[-1]},{CPUS[-1]}", "agents": "tcp", "background": "ignore"}
    pleat.call("site_add", site="there", options=options)
    job = Evolving(pleat, "-n", 1, "--max", 4, "--site", "here", "--sites", "there")
    job.wait(0, "welcome")
    there = goes_there(job, 1)
    goes_there(job, 2)
    assert job.add(site="there")["process"] == 3
    wait_until(lambda: waits(job)["waits"] == "none free", "it waits")
    refused = pleat.pleat("site", "remove", "there")
    assert refused.returncode != 0 and f"jobs run at site there: {job.job}" in refused.stderr, refused.stderr
    pleat.pleat("site", "remove", "--drain", "there", check=0)
    assert job.wait(0, "process", process=3, state="gone")["reason"] == "not started"
    assert "being removed" in job.add(site="there")["text"]
    assert is_alive(there) and len(pleat.call("sites")["sites"]) == 2
    for process in (1, 2):
        job.say(0, "stop", process=process)
        job.wait(0, "process", process=process, state="gone", reason="stopped")
    wait_until(lambda: [site["name"] for site in pleat.call("sites")["sites"]] == ["here"], "it is removed")
    job.size(1)
    pleat.call("site_add", site="there", options=options) # another one of that name
    again = wait_until(lambda: job.add(site="there").get("process"), "it may be there again")
    job.wait(again, "welcome", state="running")
    assert site_of(job.pid(again)) == "there"
    assert job.end()["state"] == "done"


def test_what_nobody_waits_for_there_goes_back(pleat):
    """A policy keeps processes at the job's own site only."""
    job = begin(pleat, KEPT)
    job.wait(1, "welcome", state="prepared")
    assert site_of(job.pid(1)) == "here"
    there = goes_there(job, 2)
    job.say(0, "stop", process=2)
    job.wait(0, "process", process=2, state="gone", reason="stopped")
    wait_until(lambda: used_there(pleat) == 0, "nothing is kept there")
    assert not is_alive(there) and is_alive(job.pid(1))
    assert job.end()["state"] == "done"
    free(pleat)


def python():
    """A program of the library's, in Python."""
    tests = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    bindings = os.path.join(tests, "..", "bindings", "python")
    variables = {"PYTHONPATH": os.path.abspath(bindings),
                 "LD_LIBRARY_PATH": os.path.join(daemon.BUILD, "lib")}
    return [word for name, value in variables.items() for word in ("--env", f"{name}={value}")] + [
        "--", sys.executable, os.path.join(tests, "support", "across_sites.py"), "there"]


@of_python
def test_messages_between_sites(pleat):
    """One goes there, and one comes back."""
    pleat.configure(text=TEXT)
    number = pleat.submit("--evolving", "-n", 1, "--max", 2, "--site", "here", "--sites", "there", *python())
    assert pleat.wait_end(number)["state"] == "done", pleat.output(number, "stderr")
    assert pleat.output(number) == " hellothere:0\n"
    free(pleat)


@of_python
def test_a_site_that_cannot_be_reached(pleat):
    """A process that cannot be connected with the first one is ended, and its request with it: the text says what to do. (This
    first one says that it listens on its own host only.)"""
    job = begin(pleat)
    *variables, _, interpreter, program, _ = python()
    answer = job.add(site="there", argv=[interpreter, program], env=[v for v in variables if v != "--env"])
    assert answer["process"] == 1, answer
    assert job.wait(0, "process", process=1, state="gone")["reason"] == "not started"
    job.size(1)
    told = str(pleat.call("events", job=job.job, after=0, limit=1000)["events"])
    assert "does not reach this run's node" in told and "without --sites" in told, told
    assert job.end()["state"] == "done"
    free(pleat)


def test_a_process_at_another_site_that_cannot_be_reached(pleat):
    """The other way: the node that leads tries, too. (Nobody listens at the address of this one.)"""
    job = begin(pleat, env=[("TEST_ADDRESS_1", "tcp://127.0.0.1:1")])
    assert job.add(site="there")["process"] == 1
    assert job.wait(0, "process", process=1, state="gone")["reason"] == "not started"
    job.size(1)
    told = str(pleat.call("events", job=job.job, after=0, limit=1000)["events"])
    assert "this run's node does not reach node 0 of site there at tcp://127.0.0.1:1" in told, told
    assert job.end()["state"] == "done"
    free(pleat)
