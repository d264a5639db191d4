"""Jobs whose program asks for processes itself: added from the buffer and without one, stopped, dead, with programs of their
own; how the job ends."""
import os
import signal
import sys

import pytest

from conftest import BUFFERED, CONFIG, Evolving, is_alive, kill, wait_until


def test_one_is_added_from_the_buffer(pleat):
    pleat.configure(text=BUFFERED)
    job = Evolving(pleat, "--max", 4)
    welcome = job.wait(0, "welcome")
    assert (welcome["process"], welcome["parent"], welcome["state"], welcome["maximum"]) == (0, None, "running", 4)
    assert job.wait(1, "welcome")["state"] == "prepared"
    wait_until(lambda: pleat.call("sites")["sites"][0]["free"] == 6, "the prepared process has a processor")
    assert pleat.job(job.job)["processors"] == 1
    answer = job.add()
    assert (answer["process"], answer["ready"]) == (1, True)
    assert job.wait(1, "go")["parent"] == 0
    assert job.wait(0, "process", process=1, state="running")["address"].endswith("/1")
    job.size(2)
    # and the next one is prepared
    assert job.wait(2, "welcome")["state"] == "prepared"
    assert [other["process"] for other in job.wait(2, "welcome")["processes"]] == [0, 1]
    begun = job.wait(1, "begun")
    assert (begun["secret"], begun["socket"]) == ("0o600", "0o600")
    buffer = pleat.job(job.job)["buffer"]
    assert (buffer["requests"], buffer["satisfied"], buffer["waiting"], buffer["satisfaction"]) == (1, 1, 0, 1)
    assert 0 < buffer["waste"] < 1 and buffer["waited_s"] > 0
    job.add()
    job.add()
    wait_until(lambda: pleat.job(job.job)["buffer"]["requests"] == 3, "pleatd knows of all requests")
    assert "3 processes asked for" in pleat.pleat("show", job.job, check=0).stdout
    assert job.end()["state"] == "done"
    pleat.wait_free()
    buffer = pleat.job(job.job)["buffer"]
    assert buffer["requests"] == 3 and 0 < buffer["satisfaction"] < 1 and 0 < buffer["waste"] < 1
    assert pleat.call("history")["jobs"][0]["buffer"] == buffer


def test_one_that_has_to_be_waited_for(pleat):
    job = Evolving(pleat, "--max", 4)
    answer = job.add()
    assert (answer["process"], answer["ready"]) == (1, False)
    assert job.wait(0, "process", process=1, state="coming")["parent"] == 0
    assert job.wait(1, "welcome")["state"] == "running"
    job.wait(0, "process", process=1, state="running")
    job.size(2)
    # those that were added can ask, too
    assert job.add(1)["process"] == 2
    assert job.wait(2, "welcome")["parent"] == 1
    job.size(3)
    assert job.end(3)["exit_code"] == 3
    pleat.wait_free()
    assert sorted(pleat.output(job.job).split()) == ["0", "1", "2", "process", "process", "process"]


def test_no_more_than_its_maximum(pleat):
    job = Evolving(pleat, "--max", 2)
    assert job.add()["process"] == 1
    assert job.add()["process"] == 2
    job.size(2)
    assert not job.heard(2)
    number = job.say(0, "stop", process=1)
    job.wait(0, "done", number=number)
    assert job.wait(0, "process", process=1, state="gone")["reason"] == "stopped"
    job.wait(2, "welcome", state="running")
    job.size(2)
    assert job.end()["state"] == "done"


def test_a_request_is_cancelled(pleat):
    job = Evolving(pleat, "-n", 2, "--max", 2)
    number = job.say(0, "add")
    job.wait(0, "added", number=number, process=2, ready=False)
    job.say(0, "cancel", number=number)
    job.wait(0, "done", number=number)
    assert job.wait(0, "process", process=2, state="gone")["reason"] == "stopped"
    job.say(1, "stop", process=1)
    job.size(1)
    assert not job.heard(2)
    assert job.end()["state"] == "done"


def test_the_highest_priority_first_then_the_first(pleat):
    job = Evolving(pleat, "-n", 2, "--max", 2)
    for priority in (0, 5, 5, 1):
        job.add(priority=priority)
    job.say(0, "stop", process=1)
    job.wait(3, "welcome", state="running")
    for process, following in ((3, 4), (4, 5), (5, 2)):
        job.say(0, "stop", process=process)
        job.wait(following, "welcome", state="running")
    assert job.end()["state"] == "done"


def test_one_dies(pleat):
    job = Evolving(pleat, "-n", 3, "--max", 4)
    for process in range(3):
        job.wait(process, "welcome")
    cpus = {process: job.wait(process, "begun")["cpus"] for process in range(3)}
    job.add()
    job.size(4)
    kill(job.pid(3))
    gone = job.wait(0, "process", process=3, state="gone")
    assert (gone["reason"], gone["signal"]) == ("died", signal.SIGKILL)
    job.size(3)
    kill(job.pid(1))
    gone = job.wait(2, "process", process=1, state="gone")
    assert gone["reason"] == "died"
    job.size(2)
    if all(len(each) == 1 for each in cpus.values()): # its slot is that of the one that died now
        wait_until(lambda: sorted(os.sched_getaffinity(job.pid(2))) == cpus[1], "the last one takes its place")
    job.tell(2, "EXIT 0")
    assert job.wait(0, "process", process=2, state="gone")["reason"] == "ended"
    job.size(1)
    assert job.end()["state"] == "done"
    pleat.wait_free()


def test_programs_of_their_own(pleat):
    pleat.configure(text=BUFFERED)
    job = Evolving(pleat, "--max", 4)
    job.wait(1, "welcome", state="prepared")
    prepared = job.pid(1)
    where = pleat.path("where")
    answer = job.add(argv=["sh", "-c", "echo $PLEAT_PROCESS $OWN $PWD; sleep 1000"], env=["OWN=7"], directory=where)
    assert (answer["process"], answer["ready"]) == (1, False)
    job.wait(0, "process", process=1, state="running")
    wait_until(lambda: f"1 7 {where}" in pleat.output(job.job), "the program has written")
    assert not is_alive(prepared)
    job.size(2)
    job.say(0, "stop", process=1)
    assert job.wait(0, "process", process=1, state="gone")["reason"] == "stopped"
    # one that ends, and one that is not there
    answer = job.add(argv=["sh", "-c", "exit 4"])
    gone = job.wait(0, "process", process=answer["process"], state="gone")
    assert (gone["reason"], gone["code"]) == ("died", 4)
    answer = job.add(argv=["/no/such/program"])
    assert job.wait(0, "process", process=answer["process"], state="gone")["reason"] == "not started"
    # one that takes part, as the others do
    answer = job.add(argv=[sys.executable, *__import__("conftest").PROCESS.split()])
    job.wait(answer["process"], "welcome", state="running")
    assert job.end()["state"] == "done"
    pleat.wait_free()


def test_what_cannot_be_is_refused(pleat):
    job = Evolving(pleat, "--max", 2)
    for members, text in (({"argv": []}, "names no program"), ({"site": "mars"}, "at site 'local'"),
                          ({"arch": "vax"}, "architecture 'vax'"), ({"node": "7"}, "on node '7'"),
                          ({"env": ["A=1"]}, "of its own"), ({"argv": ["a"], "directory": "b"}, "absolute"),
                          ({"priority": "high"}, "priority"), ({"argv": [1]}, "argv")):
        assert text in job.add(**members)["text"], members
    number = job.say(0, "stop", process=0)
    assert "ends with it" in job.wait(0, "refused", number=number)["text"]
    number = job.say(0, "stop", process=77)
    assert "no process 77" in job.wait(0, "refused", number=number)["text"]
    # the same number: the same answer
    job.say(0, "stop", process=77, number=number)
    wait_until(lambda: len([line for line in job.heard(0) if line.get("number") == number]) == 2, "the answer again")
    assert job.end()["state"] == "done"
    for words, text in ((("--fold", "wait=spin"), "not folded"), (("--asks",), "does not change its size"),
                        (("--mpi", "openmpi"), "MPI launcher"), (("-c", 2), "MPI launcher"),
                        (("--moldable",), "does not change"), (("-n", 2, "--processes", 2), "leave out one")):
        done = pleat.pleat("submit", "--evolving", *words, "true", check=2)
        assert text in done.stderr, (words, done.stderr)


def test_groups(pleat):
    job = Evolving(pleat, "-n", 2, "--max", 2)
    job.wait(1, "welcome")
    number = job.say(0, "group", name="left", join=True)
    job.wait(0, "done", number=number)
    job.wait(1, "process", process=0, groups=["left"])
    job.say(0, "group", name="left", join=False)
    job.wait(1, "process", process=0, groups=[])
    number = job.say(0, "group", name="", join=True)
    assert "1 to 64 bytes" in job.wait(0, "refused", number=number)["text"]
    assert job.end()["state"] == "done"


def test_it_ends_with_processes_that_do_not_leave(pleat):
    """Prepared ones, such as wait, and one that ignores that it shall end: none is left (the fixture looks)."""
    pleat.configure(text=BUFFERED)
    job = Evolving(pleat, "-n", 2, "--max", 3)
    job.wait(2, "welcome", state="prepared")
    job.is_stubborn(1)
    pids = [job.pid(process) for process in range(3)]
    assert job.add()["process"] == 2
    assert job.add()["ready"] is False
    job.tell(0, "EXIT 5")
    ended = pleat.wait_end(job.job)
    assert (ended["state"], ended["exit_code"]) == ("failed", 5)
    assert not any(is_alive(pid) for pid in pids)
    pleat.wait_free()


@pytest.mark.parametrize("how", ["cancel", "limit"])
def test_it_is_ended(pleat, how):
    pleat.configure(text=BUFFERED)
    job = Evolving(pleat, "-n", 2, "--max", 4, *(("--time-limit", "2s") if how == "limit" else ()))
    job.wait(2, "welcome", state="prepared")
    pids = [job.pid(process) for process in range(3)]
    if how == "cancel":
        pleat.pleat("cancel", job.job, check=0)
    assert pleat.wait_end(job.job)["state"] == ("cancelled" if how == "cancel" else "failed")
    assert not any(is_alive(pid) for pid in pids)
    pleat.wait_free()


def test_processes_go_to_another_job(pleat):
    """What is prepared gives way to a job that waits."""
    pleat.configure(text=BUFFERED)
    job = Evolving(pleat, "-n", 3, "--max", 8)
    job.wait(3, "welcome", state="prepared")
    pid = job.pid(3)
    other = pleat.submit("-n", 5, "--", "sleep", "1000")
    pleat.wait_for(other, "running")
    assert not is_alive(pid)
    pleat.pleat("cancel", other, check=0)
    assert job.end()["state"] == "done"


def test_no_more_processors_are_claimed_than_are_asked_for(pleat):
    """Without a policy nothing is prepared ahead: when all that was asked for is there, all else is free."""
    job = Evolving(pleat, "--max", 8)
    for _ in range(5):
        job.add()
    job.size(6)
    def settled():
        buffer, site = pleat.job(job.job)["buffer"], pleat.call("sites")["sites"][0]
        return (buffer["waiting"], buffer["coming"], buffer["leaving"]) == (0, 0, 0) and (buffer["prepared"], site["free"])
    assert wait_until(settled, "nothing is on its way") == (0, 2)
    assert pleat.job(job.job)["buffer"]["requests"] == 5
    job.end()


def test_many_of_the_start_that_say_nothing(pleat):
    """More than are on their way at a time, and none of them is waited for: the program does not ask for processes."""
    pleat.configure(text=CONFIG.replace("processors = 8", "processors = 40"))
    job = pleat.submit("--evolving", "-n", 36, "--", "/bin/sleep", 1000)
    pleat.wait_for(job, "running")
    wait_until(lambda: len(pleat.job_pids(job)) == 36, "all 36 are there")
    pleat.pleat("cancel", job, check=0)
    pleat.wait_end(job)
    pleat.wait_free(40)
