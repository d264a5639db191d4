"""Processes of evolving jobs that are stopped, or whose requests are cancelled, while they are just starting: they never
come, nothing of them is left, and their nodes have done nothing wrong."""
import os
import random
import sys
import time

import pytest

from conftest import CONFIG, NODES, PROCESS, Evolving, is_alive, wait_until

# A site on which more than one thing has gone wrong is left alone.
STRICT = "site_errors = 1\n"


class Gated(Evolving):
    """Each process but those of the start waits before it says hello until the gate is open."""

    def __init__(self, pleat, *options, start=1, before=":"):
        self.gate = pleat.path("gate")
        script = pleat.path("gated")
        with open(script, "w", encoding="ascii") as file:
            file.write(f"""#!/bin/sh
if [ $PLEAT_PROCESS -ge {start} ]; then
    {before}
    echo $$ > $TEST_WHERE/$PLEAT_PROCESS.new
    mv $TEST_WHERE/$PLEAT_PROCESS.new $TEST_WHERE/$PLEAT_PROCESS.starts
    while [ ! -e {self.gate} ]; do sleep 0.05; done
fi
exec {sys.executable} {PROCESS}
""")
        os.chmod(script, 0o755)
        super().__init__(pleat, "-n", start, *options, program=[script])
        for process in range(start):
            self.wait(process, "welcome")

    def starts(self, process):
        """Waits until it is at the gate; returns its pid."""
        path = f"{self.where}/{process}.starts"
        wait_until(lambda: os.path.exists(path), f"process {process} starts")
        with open(path, encoding="ascii") as file:
            return int(file.read())

    def open(self):
        with open(self.gate, "w", encoding="ascii"):
            pass

    def give_up(self, how, added):
        """Process 0 does without the process that it was told of in that answer."""
        if how == "stop":
            self.wait(0, "done", number=self.say(0, "stop", process=added["process"]))
        else:
            self.tell(0, cancel(added["number"]))
            self.wait(0, "done", number=added["number"])
        gone = self.wait(0, "process", process=added["process"], state="gone")
        assert gone["reason"] == "stopped", gone


def cancel(number):
    return f'{{"do": "cancel", "number": {number}}}'


def never_came(job, process):
    """Neither the first process has heard that it is there, nor has it heard itself that it is the application's."""
    told = [line for line in job.heard(0) if line.get("process") == process and line.get("state") == "running"]
    heard = [(line.get("do"), line.get("state")) for line in job.heard(process)]
    return not told and ("go", None) not in heard and ("welcome", "running") not in heard


@pytest.mark.parametrize("how", ["cancel", "stop"])
def test_one_that_is_just_starting_will_not_come(pleat, how):
    pleat.configure(text=CONFIG + STRICT)
    job = Gated(pleat, "--max", 3)
    for process in (1, 2, 3): # more often than anything may go wrong
        added = job.add()
        assert (added["process"], added["ready"]) == (process, False)
        pid = job.starts(process)
        job.give_up(how, added)
        assert not is_alive(pid)
    # another one is prepared on that processor
    job.starts(4)
    job.open()
    job.wait(4, "welcome", state="prepared")
    added = job.add()
    assert (added["process"], added["ready"]) == (4, True)
    job.wait(4, "go", parent=0)
    job.size(2)
    assert all(never_came(job, process) for process in (1, 2, 3)), job.heard(0)
    assert pleat.call("sites")["sites"][0]["state"] == "ok"
    assert job.end()["state"] == "done"
    pleat.wait_free()


def test_its_processor_goes_to_the_next_request(pleat):
    job = Gated(pleat, "--max", 2)
    first = job.add()
    pid = job.starts(1)
    assert job.add()["process"] == 2 # which waits: the job has as many processors as it may
    job.give_up("cancel", first)
    job.starts(2)
    assert not is_alive(pid)
    job.open()
    assert job.wait(2, "welcome")["state"] == "running"
    job.size(2)
    assert never_came(job, 1)
    assert job.end()["state"] == "done"
    pleat.wait_free()


def test_one_that_does_not_end_while_it_is_starting(pleat):
    job = Gated(pleat, "--max", 2, before="trap '' TERM")
    added = job.add()
    pid = job.starts(1)
    job.give_up("stop", added)
    assert not is_alive(pid) and never_came(job, 1)
    assert job.end()["state"] == "done"
    pleat.wait_free()


def test_one_that_is_there_and_that_nobody_knows_of_is_cancelled(pleat):
    """The process that asked has given up waiting for the answer, so it does not know what has come."""
    pleat.configure(text=CONFIG)
    job = Evolving(pleat, "-n", 1, "--max", 2)
    job.wait(0, "welcome")
    added = job.add()
    job.wait(added["process"], "welcome", state="running")
    job.tell(0, f'{{"do": "cancel", "number": {added["number"]}, "there": true}}')
    job.wait(0, "done", number=added["number"])
    assert job.wait(0, "process", process=added["process"], state="gone")["reason"] == "stopped"
    job.size(1)
    assert job.end()["state"] == "done"
    pleat.wait_free()


def test_one_that_is_there_is_not_cancelled(pleat):
    job = Evolving(pleat, "--max", 2)
    added = job.add()
    job.wait(0, "process", process=1, state="running")
    job.tell(0, cancel(added["number"]))
    assert "process 1 is there already" in job.wait(0, "refused", number=added["number"])["text"]
    job.size(2)
    job.wait(0, "done", number=job.say(0, "stop", process=1))
    job.size(1)
    job.tell(0, cancel(added["number"])) # it is gone: nothing is to be done
    job.wait(0, "done", number=added["number"])
    assert job.end()["state"] == "done"


def test_requests_are_withdrawn_at_any_moment(pleat):
    """Before their processes start, while they do, and when they are there: each is withdrawn, or is served."""
    pleat.configure(text=CONFIG + STRICT)
    job = Evolving(pleat, "--max", 4)
    job.wait(0, "welcome")
    moments = random.Random(7)
    for _ in range(25):
        added = job.add()
        number, process = added["number"], added["process"]
        time.sleep(moments.random() * 0.15)
        job.tell(0, cancel(number))
        answer = wait_until(lambda: next((line for line in job.heard(0) if line.get("do") in ("done", "refused") and
                                          line["number"] == number), None), f"request {number} is answered")
        if answer["do"] == "refused":
            assert not never_came(job, process) and "is there already" in answer["text"]
            job.wait(0, "done", number=job.say(0, "stop", process=process))
        assert job.wait(0, "process", process=process, state="gone")["reason"] == "stopped"
        assert (answer["do"] == "done") == never_came(job, process), (job.heard(0), job.heard(process))
    job.size(1)
    assert pleat.call("sites")["sites"][0]["state"] == "ok"
    assert job.end()["state"] == "done"
    pleat.wait_free()


def test_a_job_ends_while_processes_are_starting(pleat):
    pleat.configure(text=CONFIG + STRICT)
    job = Gated(pleat, "--max", 5)
    pids = []
    for process in (1, 2, 3):
        job.add()
        pids.append(job.starts(process))
    assert job.end()["state"] == "done"
    pleat.wait_free()
    assert not any(is_alive(pid) for pid in pids)
    assert pleat.call("sites")["sites"][0]["state"] == "ok"


def test_one_that_is_just_starting_on_another_node_will_not_come(pleat):
    pleat.configure(text=NODES + STRICT)
    job = Gated(pleat, "--max", 3, start=2)
    for process in (2, 3):
        added = job.add()
        assert (added["process"], added["ready"]) == (process, False)
        pid = job.starts(process)
        job.give_up("cancel", added)
        wait_until(lambda: not is_alive(pid), f"process {process} has ended")
    job.starts(4)
    job.open()
    job.wait(4, "welcome", state="prepared")
    assert job.add()["ready"] is True
    job.size(3)
    assert never_came(job, 2) and never_came(job, 3)
    assert pleat.call("sites")["sites"][0]["state"] == "ok"
    assert job.end()["state"] == "done"
    pleat.wait_free(4)
