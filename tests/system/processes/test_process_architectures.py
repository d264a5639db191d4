"""Evolving jobs on two nodes of different architectures: the agent of one of them, and all that it starts, is told by the
kernel that it is an i686 (setarch), which executes there."""
import os
import pathlib
import sys

import pytest
from conftest import PROCESS, Evolving, daemon, is_alive, wait_until
from test_process_nodes import NODES, node_of
from test_process_starting import STRICT, Gated, never_came

HERE = os.uname().machine
OTHER = "i686"
pytestmark = pytest.mark.skipif(HERE != "x86_64", reason="only there does the kernel pretend to be an i686")


class Mixed(Evolving):
    """Node 0 is what this host is, node 1 another one."""

    text = ""

    def __init__(self, pleat, *options, program=(sys.executable, PROCESS), text=""):
        self.programs = daemon.breakable_agent(pleat)
        agent = self.programs / "pleat-agent"
        agent.write_text(f"""#!/bin/sh
case " $* " in *" --node 1 "*) exec setarch {OTHER} {daemon.BUILD}/bin/pleat-agent "$@" ;; esac
exec {daemon.BUILD}/bin/pleat-agent "$@"
""", encoding="ascii")
        pleat.configure(text=NODES + self.text + text)
        self.pleat = pleat
        self.begin()
        self.where = pleat.path("where")
        os.makedirs(self.where)
        self.job = pleat.submit("--evolving", "--env", f"TEST_WHERE={self.where}", *options, "--", *program)
        self.number = {}

    def begin(self):
        """Starts pleatd, with these agents."""
        assert self.pleat.popen("info", program=str(self.programs / "pleat")).wait() == 0

    def machine(self, process):
        """What a process is told that its host is."""
        with open(f"/proc/{self.pid(process)}/personality", encoding="ascii") as file:
            return OTHER if int(file.read(), 16) & 0xff == 8 else HERE  # PER_LINUX32

    def waits(self):
        return self.pleat.call("why", job=self.job)["size"]["buffer"]["waits"]


def test_a_process_on_another_architecture(pleat):
    """A request that names one comes there, though there is room elsewhere; others are where the program runs."""
    job = Mixed(pleat, "-n", 1, "--max", 4)
    job.wait(0, "welcome")
    answer = job.add(arch=OTHER)
    assert (answer["process"], answer["ready"]) == (1, False), answer
    job.wait(1, "welcome", state="running")
    assert (node_of(job.pid(1)), job.machine(1), job.machine(0)) == (1, OTHER, HERE)
    assert job.add()["process"] == 2
    job.wait(2, "welcome", state="running")
    assert (node_of(job.pid(2)), job.machine(2)) == (0, HERE)
    assert job.add()["process"] == 3 # node 0 is full, node 1 is not
    wait_until(lambda: job.waits() == "architecture", "it waits for a node of its architecture")
    number = job.say(0, "stop", process=3)
    job.wait(0, "done", number=number)
    answer = job.add(arch=OTHER)
    assert (answer["process"], answer["ready"]) == (4, False), answer
    job.wait(4, "welcome", state="running")
    assert (node_of(job.pid(4)), job.machine(4)) == (1, OTHER)
    job.size(4)
    assert job.end()["state"] == "done"
    pleat.wait_free(4)


def test_an_architecture_that_no_node_has(pleat):
    """One that a node may have waits until that has called; then it will not come, and the next one is refused."""
    job = Mixed(pleat, "-n", 1, "--max", 4)
    job.wait(0, "welcome")
    assert "no process of the architecture 'vax' is possible" in job.add(arch="vax")["text"]
    answer = job.add(arch="aarch64")
    if "text" not in answer: # node 1 had not called yet
        assert job.wait(0, "process", process=answer["process"], state="gone")["reason"] == "not started"
        wait_until(lambda: pleat.job(job.job)["buffer"]["waiting"] == 0, "nothing waits")
        answer = job.add(arch="aarch64")
    assert f"no node of site 'local' is known to have it, but only" in answer["text"]
    assert HERE in answer["text"] and OTHER in answer["text"]
    job.size(1)
    assert job.end()["state"] == "done"
    pleat.wait_free(4)


def test_what_is_prepared_is_where_the_program_runs(pleat):
    """And a request for another architecture does not take it."""
    job = Mixed(pleat, "-n", 1, "--max", 4,
                text="buffer = periodic\nbuffer_level = 1\nbuffer_review_s = 0.2\nbuffer_pending = 1\n")
    job.wait(1, "welcome", state="prepared")
    answer = job.add(arch=OTHER)
    assert (answer["process"], answer["ready"]) == (2, False), answer
    job.wait(2, "welcome", state="running")
    assert (job.machine(1), job.machine(2)) == (HERE, OTHER)
    assert job.add(arch=HERE) == {"do": "added", "number": 2, "process": 1, "ready": True}
    job.wait(1, "go", parent=0)
    job.size(3)
    assert job.end()["state"] == "done"
    pleat.wait_free(4)


def programs(pleat):
    """A program for each architecture; returns their name, and the file where they note which they are."""
    which = pleat.path("which")
    for name in (HERE, OTHER):
        program = pathlib.Path(pleat.path(f"cells.{name}"))
        program.write_text(f"#!/bin/sh\necho {name} $PLEAT_PROCESS >> {which}\nexec {sys.executable} {PROCESS}\n",
                           encoding="ascii")
        program.chmod(0o700)
    return pleat.path("cells.%{architecture}"), which


def test_a_program_for_each_architecture(pleat):
    """Then any node will do, and each process is the one for its own."""
    program, which = programs(pleat)
    job = Mixed(pleat, "-n", 2, "--max", 4, program=[program])
    job.wait(1, "welcome")
    assert job.add()["process"] == 2
    job.wait(2, "welcome", state="running")
    assert job.machine(2) == OTHER
    answer = job.add(argv=[program], env=[f"TEST_WHERE={job.where}"])
    assert answer["process"] == 3, answer
    job.wait(3, "begun")
    with open(which, encoding="ascii") as file:
        assert sorted(file.read().splitlines()) == sorted(
            [f"{HERE} 0", f"{HERE} 1", f"{OTHER} 2", f"{OTHER} 3"])
    job.size(4)
    assert job.end()["state"] == "done"
    pleat.wait_free(4)


class Starting(Gated, Mixed):
    """The processes that are added wait at a gate; a site on which more than one thing goes wrong is left alone."""

    text = STRICT

    def has_started(self, process):
        return os.path.exists(f"{self.where}/{process}.starts")


@pytest.mark.parametrize("how", ["cancel", "stop"])
def test_a_request_is_not_served_where_it_cannot_be(pleat, how):
    """One that is just starting on a node of another architecture is not wanted any more: none of those that wait can be
    there, so the processor goes back, and they come when there is room on a node of theirs."""
    job = Starting(pleat, "--max", 4, start=2)
    first = job.add(arch=OTHER)
    there = job.starts(2)
    assert job.add(arch=HERE)["process"] == 3 # node 0 is full
    assert job.add()["process"] == 4 # the job's program is for node 0, too
    wait_until(lambda: job.waits() == "architecture", "they wait for a node of their architecture")
    job.give_up(how, first)
    wait_until(lambda: not is_alive(there), "process 2 has ended")
    pleat.wait_free(2)
    assert pleat.job(job.job)["buffer"]["waiting"] == 2
    wait_until(lambda: job.waits() == "architecture", "they wait still")
    assert not any(job.has_started(process) for process in (3, 4))
    assert job.add(arch=OTHER)["process"] == 5 # whose turn it is on that node, though it is the last one
    job.starts(5)
    job.open()
    job.wait(5, "welcome", state="running")
    assert (node_of(job.pid(5)), job.machine(5)) == (1, OTHER)
    job.wait(0, "done", number=job.say(0, "stop", process=1))
    job.wait(3, "welcome", state="running")
    assert (node_of(job.pid(3)), job.machine(3)) == (0, HERE)
    job.size(3)
    assert never_came(job, 2) and not job.has_started(4)
    assert pleat.call("sites")["sites"][0]["state"] == "ok"
    assert job.end()["state"] == "done"
    pleat.wait_free(4)


def test_its_processor_goes_to_a_request_that_can_be_there(pleat):
    """Not to an earlier one, whose program is for other nodes."""
    program, _ = programs(pleat)
    job = Starting(pleat, "--max", 3, start=2)
    first = job.add(arch=OTHER)
    there = job.starts(2)
    assert job.add()["process"] == 3
    assert job.add(argv=[program], env=[f"TEST_WHERE={job.where}"])["process"] == 4
    job.give_up("cancel", first)
    assert (node_of(job.pid(4)), job.machine(4)) == (1, OTHER)
    assert not is_alive(there) and never_came(job, 2)
    job.size(3)
    assert not job.has_started(3)
    assert pleat.call("sites")["sites"][0]["state"] == "ok"
    assert job.end()["state"] == "done"
    pleat.wait_free(4)


def test_the_word_stands_in_a_name_only(pleat):
    os.makedirs(pleat.path("in"))
    done = pleat.pleat("submit", "--evolving", "--", pleat.path("in.%{architecture}/x"))
    assert done.returncode != 0 and "may stand once in the program's own name" in done.stderr, done.stderr
    done = pleat.pleat("submit", "--evolving", "--", pleat.path("x.%{architecture}"))
    assert done.returncode != 0 and f"there is no program '{pleat.path('x.' + HERE)}'" in done.stderr, done.stderr


def test_pleatd_is_killed_while_a_request_needs_an_architecture(pleat):
    job = Mixed(pleat, "-n", 2, "--max", 4)
    job.wait(0, "welcome")
    job.wait(1, "welcome")
    pids = [job.pid(process) for process in range(2)]
    pleat.kill_daemon()
    assert job.add(arch=OTHER)["process"] == 2
    job.begin()
    job.wait(2, "welcome", state="running")
    assert (node_of(job.pid(2)), job.machine(2)) == (1, OTHER)
    job.size(3)
    assert all(is_alive(pid) for pid in pids)
    assert job.end()["state"] == "done"
    pleat.wait_free(4)
