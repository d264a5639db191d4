"""Evolving jobs while pleatd or the agent dies, processes fail, and processes say what makes no sense."""
import json
import os
import socket
import sys

import pytest
from conftest import BUFFERED, CONFIG, PROCESS, Evolving, is_alive, kill, wait_until


def test_pleatd_is_killed_and_requests_are_answered(pleat):
    """The agent has the buffer and the queue: what it has is handed out meanwhile, and what waits comes afterwards."""
    pleat.configure(text=BUFFERED)
    job = Evolving(pleat, "--max", 5)
    job.wait(1, "welcome", state="prepared")
    pleat.call("info")
    pleat.kill_daemon()
    assert job.add()["ready"] is True
    assert job.add()["ready"] is False
    job.wait(1, "go")
    pleat.call("info")
    job.wait(2, "welcome", state="running")
    job.size(3)
    job.wait(3, "welcome", state="prepared")
    pleat.kill_daemon()
    kill(job.pid(1))
    pleat.call("info")
    job.size(2)
    assert job.add()["process"] == 3
    job.size(3)
    assert job.end()["state"] == "done"
    pleat.wait_free()


def test_pleatd_is_killed_while_the_job_ends(pleat):
    pleat.configure(text=BUFFERED)
    job = Evolving(pleat, "-n", 2, "--max", 5)
    job.wait(2, "welcome", state="prepared")
    pleat.call("info")
    pleat.kill_daemon()
    job.tell(0, "EXIT 0")
    assert pleat.wait_end(job.job)["state"] == "done"
    pleat.wait_free()


def test_the_agent_is_killed(pleat):
    """All that it led is gone; the job waits again, and starts anew."""
    pleat.configure(text=BUFFERED)
    job = Evolving(pleat, "-n", 2, "--max", 5)
    job.wait(2, "welcome", state="prepared")
    pids = [job.pid(process) for process in range(3)]
    os.kill(pleat.agent_pid(), 9)
    wait_until(lambda: not any(is_alive(pid) for pid in pids), "its processes are gone")
    wait_until(lambda: pleat.job(job.job)["attempt"] == 1 and pleat.job(job.job)["state"] == "running", "it runs again")
    wait_until(lambda: job.pid(0) not in pids, "its first process has begun anew")
    assert job.end()["state"] == "done"
    pleat.wait_free()


@pytest.mark.parametrize("how", ["killed", "0"])
def test_a_prepared_process_dies(pleat, how):
    pleat.configure(text=BUFFERED)
    job = Evolving(pleat, "--max", 4)
    job.wait(1, "welcome", state="prepared")
    if how == "killed":
        kill(job.pid(1))
    else:
        job.tell(1, "EXIT 0")
    job.wait(2, "welcome", state="prepared")
    assert not [line for line in job.heard(0) if line.get("process") == 1 and line.get("do") == "process"]
    assert job.add()["process"] == 2
    job.size(2)
    assert job.end()["state"] == "done"
    pleat.wait_free()


def test_processes_that_do_not_start(pleat):
    """They are tried again, with a pause between, and given up; the job goes on."""
    pleat.configure()
    script = pleat.path("program")
    with open(script, "w", encoding="ascii") as file:
        file.write(f'#!/bin/sh\n[ $PLEAT_PROCESS = 0 ] || exit 1\nexec {sys.executable} {PROCESS}\n')
    os.chmod(script, 0o755)
    job = Evolving.__new__(Evolving)
    job.pleat, job.where, job.number = pleat, pleat.path("where"), {}
    os.makedirs(job.where)
    job.job = pleat.submit("--evolving", "--max", 3, "--env", f"TEST_WHERE={job.where}", "--", script)
    job.wait(0, "welcome")
    assert job.add()["process"] == 1
    assert job.wait(0, "process", process=1, state="gone")["reason"] == "not started"
    job.size(1)
    assert job.end()["state"] == "done"
    pleat.wait_free()


def test_a_program_that_never_registers_has_nothing_prepared(pleat):
    pleat.configure(text=BUFFERED)
    go = pleat.path("go")
    number = pleat.submit("--evolving", "--max", 4, "--", "sh", "-c", f"while [ ! -e {go} ]; do sleep 0.05; done")
    pleat.wait_for(number, "running")
    wait_until(lambda: pleat.call("sites")["sites"][0]["free"] == 6, "a processor is held")
    assert len([pid for pid in pleat.job_pids(number)]) <= 2 # the shell, and its sleep
    open(go, "w", encoding="ascii").close()
    assert pleat.wait_end(number)["state"] == "done"
    pleat.wait_free()


def test_a_connection_is_lost(pleat):
    job = Evolving(pleat, "-n", 2, "--max", 3)
    job.wait(0, "welcome")
    number = job.say(0, "add")
    job.wait(0, "added", number=number)
    job.tell(0, "REOPEN")
    wait_until(lambda: len([line for line in job.heard(0) if line.get("do") == "welcome"]) == 2, "it is welcome again")
    job.say(0, "add", number=number)
    wait_until(lambda: len([line for line in job.heard(0) if line.get("do") == "added"]) == 2, "it is answered again")
    assert {line["process"] for line in job.heard(0) if line.get("do") == "added"} == {2}
    job.size(3)
    assert job.end()["state"] == "done"


def test_a_flood(pleat):
    """So many may wait; each of the others is refused, and the agent lives."""
    job = Evolving(pleat, "--max", 1)
    job.wait(0, "welcome")
    lines = [json.dumps({"do": "add", "number": number}) for number in range(1, 1201)]
    job.tell(0, ("\n".join(lines) + "\n").encode())
    job.wait(0, "refused", number=1200)
    heard = job.heard(0)
    assert len([line for line in heard if line.get("do") == "added"]) == 1024
    assert all("flood" in line["text"] for line in heard if line.get("do") == "refused")
    assert len([line for line in heard if line.get("do") == "refused"]) == 176
    assert job.end()["state"] == "done"


def test_nonsense(pleat):
    """It closes the connection, or is refused; the process connects again, and all goes on."""
    job = Evolving(pleat, "-n", 2, "--max", 3)
    job.wait(0, "welcome")
    lost = 0
    for line in (b"garbage\n", b"[1]\n", b'{"do":7}\n', b'{"x":"' + b"y" * 70000 + b'"}\n', b'{"do":"add","do":"add"}\n',
                 b"\xff\xfe\n", b'{"do":"hello"}\x00\n'):
        job.tell(0, line)
        lost += 1
        wait_until(lambda: len([each for each in job.heard(0) if each.get("do") == "lost"]) == lost, f"{line[:40]} is refused")
        wait_until(lambda: len([each for each in job.heard(0) if each.get("do") == "welcome"]) == lost + 1, "it is back")
    for line in (b'{"do":"dance"}\n', b'{"do":"iteration"}\n', b'{"do":"iteration","iteration":-1,"mean_us":5}\n',
                 b'{"do":"add"}\n', b'{"do":"add","number":-3}\n', b'{"do":"stop","number":5000,"process":-1}\n',
                 b'{"do":"group","number":5001,"name":7}\n'):
        job.tell(0, line)
    job.wait(0, "refused", number=5001)
    job.number[0] = 6000
    assert job.add()["process"] == 2
    job.size(3)
    # half a line, and nothing more
    job.tell(0, b'{"do":"add","num')
    assert job.end()["state"] == "done"


def socket_of(job):
    with open(f"/proc/{job.pid(0)}/environ", "rb") as file:
        return next(word.split(b"=", 1)[1] for word in file.read().split(b"\0")
                    if word.startswith(b"PLEAT_PROCESS_SOCKET=")).decode()


def test_strangers_are_turned_away(pleat):
    """A process of this user that is not of the run, or speaks for another process of it."""
    job = Evolving(pleat, "-n", 2, "--max", 3)
    job.wait(1, "welcome")
    path = socket_of(job)
    for line, text in ((b'{"do":"hello","process":1,"pid":1,"address":"ipc:///x"}\n', "you are not"),
                       (b'{"do":"hello","process":9,"pid":1,"address":"ipc:///x"}\n', "no process"),
                       (b'{"do":"hello","process":1,"address":"http://x"}\n', "ipc:// or tcp://"),
                       (b'{"do":"add","number":1}\n', "hello first")):
        peer = socket.socket(socket.AF_UNIX)
        peer.settimeout(20)
        peer.connect(path)
        peer.sendall(line)
        answer = json.loads(peer.makefile("rb").readline())
        assert answer["do"] == "refused" and text in answer["text"], answer
        assert peer.recv(1) == b""
        peer.close()
    crowd = []
    for _ in range(200): # those that say nothing do not keep others out
        crowd.append(socket.socket(socket.AF_UNIX))
        crowd[-1].connect(path)
    job.tell(1, "REOPEN")
    wait_until(lambda: len([line for line in job.heard(1) if line.get("do") == "welcome"]) == 2, "it is welcome again")
    for peer in crowd:
        peer.close()
    assert job.end()["state"] == "done"


def test_their_memory_is_limited_together(pleat):
    job = Evolving(pleat, "-n", 2, "--max", 2, "--memory", "300M")
    job.wait(1, "welcome")
    job.tell(0, "EAT 100")
    job.tell(1, "EAT 250")
    ended = pleat.wait_end(job.job)
    assert (ended["state"], ended["reason"]) == ("failed", "memory limit reached"), ended
    pleat.wait_free()


def test_each_has_a_processor(pleat):
    """Bound, where slots are CPUs: the last one takes the place of one of the start that dies."""
    if os.cpu_count() < 2:
        return
    pleat.configure(text=CONFIG.replace("processors = 8", "processors = 2"))
    job = Evolving(pleat, "-n", 2, "--max", 2, "--min", 1)
    cpus = [job.wait(process, "begun")["cpus"] for process in range(2)]
    assert sorted(map(len, cpus)) == [1, 1] and cpus[0] != cpus[1], cpus
    job.wait(1, "welcome")
    job.say(0, "stop", process=1)
    job.size(1)
    assert job.add()["process"] == 2
    assert job.wait(2, "begun")["cpus"] == cpus[1]
    assert job.end()["state"] == "done"


def test_the_last_takes_the_place_of_the_dead(pleat):
    if len(os.sched_getaffinity(0)) < 3:
        pleat.configure(text=CONFIG.replace("processors = 8", "processors = 3"))
    job = Evolving(pleat, "-n", 3, "--max", 3, "--min", 1)
    for process in range(3):
        job.wait(process, "welcome")
    before = sorted(os.sched_getaffinity(job.pid(1)))
    kill(job.pid(1))
    job.size(2)
    wait_until(lambda: sorted(os.sched_getaffinity(job.pid(2))) == before, "it is where the dead one was")
    other = pleat.submit("--", "true") # on the processor that was given up
    assert pleat.wait_end(other)["state"] == "done"
    assert job.end()["state"] == "done"
