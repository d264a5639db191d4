"""Evolving jobs that say how many of their processes they will give back."""
import os
import signal
import time

from conftest import BUFFERED, Evolving, is_alive, wait_until
from test_process_nodes import agent_of, spread


def buffer_of(job):
    return job.pleat.job(job.job)["buffer"]


def says(job, count, process=0):
    """A process says that so many will be given back, and is answered."""
    job.wait(process, "done", number=job.say(process, "returning", processes=count))


def is_returning(job, count):
    wait_until(lambda: buffer_of(job)["returning"] == count, f"{count} will be given back, not {buffer_of(job)}")


def test_fewer_are_prepared_until_they_come(pleat):
    pleat.configure(text=BUFFERED)
    job = Evolving(pleat, "--max", 4)
    job.wait(1, "welcome", state="prepared")
    says(job, 1)
    is_returning(job, 1)
    assert job.add()["ready"] is True
    job.wait(1, "go", parent=0)
    time.sleep(1) # five reviews
    assert (buffer_of(job)["prepared"], buffer_of(job)["coming"]) == (0, 0)
    assert "1 that it will give back" in pleat.pleat("why", str(job.job), check=0).stdout
    job.wait(0, "done", number=job.say(0, "stop", process=1))
    job.wait(2, "welcome", state="prepared") # on the processor of the one that has left
    is_returning(job, 0)
    assert job.add()["ready"] is True
    job.wait(3, "welcome", state="prepared") # now one more is
    assert job.end()["state"] == "done"
    pleat.wait_free()


def test_what_is_leaving_is_not_of_those(pleat):
    job = Evolving(pleat, "--max", 4)
    for process in (1, 2):
        assert job.add()["process"] == process
        job.wait(process, "welcome")
    job.is_stubborn(1)
    job.wait(0, "done", number=job.say(0, "stop", process=1))
    says(job, 1)
    is_returning(job, 2) # process 1 is leaving
    assert job.wait(0, "process", process=1, state="gone")["reason"] == "stopped"
    is_returning(job, 1)
    job.tell(2, "EXIT 0")
    assert job.wait(0, "process", process=2, state="gone")["reason"] == "ended"
    is_returning(job, 0)
    assert job.end()["state"] == "done"
    pleat.wait_free()


def test_each_that_is_gone_is_taken_off(pleat):
    """Those of the start as well; not one that dies, which is not given back."""
    job = Evolving(pleat, "-n", 3, "--max", 4)
    for process in range(3):
        job.wait(process, "welcome")
    job.add()
    job.wait(3, "welcome")
    says(job, 3, process=1)
    is_returning(job, 3)
    job.wait(0, "done", number=job.say(0, "stop", process=2))
    job.wait(0, "process", process=2, state="gone")
    is_returning(job, 2)
    os.kill(job.pid(3), signal.SIGKILL)
    job.wait(0, "process", process=3, state="gone")
    job.size(2)
    assert buffer_of(job)["returning"] == 2
    job.tell(1, "EXIT 0")
    job.wait(0, "process", process=1, state="gone")
    is_returning(job, 1)
    says(job, 0)
    is_returning(job, 0)
    assert job.end()["state"] == "done"
    pleat.wait_free()


def test_one_that_was_leaving_is_lost(pleat):
    """It had said goodbye, so it was counted, and nobody says again that it is gone."""
    job = spread(pleat)
    assert job.add()["process"] == 2
    job.wait(2, "welcome")
    job.say(2, "bye")
    says(job, 1, process=2)
    is_returning(job, 2)
    os.kill(agent_of(job.pid(2)), signal.SIGKILL)
    assert job.wait(0, "process", process=2, state="gone")["reason"] == "lost"
    job.size(2)
    is_returning(job, 1)
    assert job.end()["state"] == "done"
    pleat.wait_free(4)


def test_pleatd_is_killed_while_processes_are_to_be_given_back(pleat):
    job = Evolving(pleat, "-n", 2, "--max", 4)
    for process in range(2):
        job.wait(process, "welcome")
    says(job, 3)
    is_returning(job, 3)
    pleat.kill_daemon()
    pleat.call("info")
    is_returning(job, 3)
    pleat.kill_daemon()
    there = job.pid(1)
    job.wait(0, "done", number=job.say(0, "stop", process=1))
    wait_until(lambda: not is_alive(there), "process 1 is gone")
    pleat.call("info")
    is_returning(job, 2)
    job.size(1)
    assert job.end()["state"] == "done"
    pleat.wait_free()


def test_what_cannot_be_given_back(pleat):
    job = Evolving(pleat, "--max", 4)
    says(job, 1)
    for wrong in ({"processes": -1}, {"processes": 16777217}, {"processes": "2"}, {}):
        assert "'processes'" in job.wait(0, "refused", number=job.say(0, "returning", **wrong))["text"]
    is_returning(job, 1)
    assert job.end()["state"] == "done"
