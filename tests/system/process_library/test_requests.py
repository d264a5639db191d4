"""Processes of the library and their agent: adding, stopping, groups, notices; an agent that is away, or talks nonsense."""

import json
import os
import socket
import subprocess
import time

import pytest
from standin import WORKER, Agent, kill, wait_until

READY, LATER = 1, 2
STARTED, JOINED, LEAVING = 1, 2, 3
INVALID, NOTFOUND, STATE, UNSUPPORTED, TOOBIG, PROTOCOL, TIMEOUT, CLOSED, BUSY = -1, -4, -6, -7, -8, -9, -11, -12, -14


def asked(agent, what):
    return [(number, line) for number, line in list(agent.said) if line["do"] == what]


def test_a_prepared_process_waits_until_it_is_handed_over():
    with Agent() as agent:
        one, = agent.run(1)
        two = agent.prepare()
        assert one.ask("list") == (1, "0")  # it is nobody's yet
        with pytest.raises(AssertionError, match="says nothing"):
            two.line(0.3)
        assert one.ask("add") == (READY, "1")
        assert two.answer() == (JOINED, "1 0 64")
        assert one.ask("notice", 30000) == (1, "1 1 0 -1 0 0")
        assert one.ask("about", 1) == (0, "2 0 0 -1 0")
        assert one.ask("send", 1, 1, -1, "work") == (0, "")
        assert two.ask("receive", 0, 1, 30000) == (0, "0 1 4 work")


def test_a_prepared_process_that_is_not_needed_leaves():
    with Agent() as agent:
        agent.run(1)
        two = agent.prepare()
        agent.say(1, do="leave")
        assert two.answer() == (LEAVING, "1 -1 64")
        assert two.end() == (0, "")


def test_a_prepared_process_does_not_outlive_its_agent():
    with Agent(arguments=(0, 0, 0, 300)) as agent:
        agent.run(1)
        two = agent.prepare()
        agent.vanish()
        code, text = two.answer()
        assert code == CLOSED and "is gone" in text
        assert two.child.wait(30) == 1


def test_a_wish_is_told_in_full():
    with Agent() as agent:
        one, = agent.run(1)
        assert one.ask("add", "/bin/other", "-x", "1") == (LATER, "1")
        assert one.ask("wish", 7, "here", "node3", "A=b=c") == (LATER, "2")
        first, second = [line for _, line in asked(agent, "add")]
        assert first == {"do": "add", "argv": ["/bin/other", "-x", "1"], "number": first["number"]}
        assert second == {"do": "add", "env": ["A=b=c"], "site": "here", "node": "node3", "priority": 7,
                          "number": first["number"] + 1}
        code, text = one.ask("wish", 7, "here", "node3", "nonsense")
        assert code == INVALID and "no NAME" not in text and "NAME=value" in text
        assert one.ask("add", "flood") == (BUSY, "too many requests wait: cancel some")
        assert len(asked(agent, "add")) == 3


def test_a_request_that_waits_is_cancelled():
    with Agent() as agent:
        one, two = agent.run(2)
        assert one.ask("add") == (LATER, "2")
        wait_until(lambda: two.ask("about", 2) == (0, "1 0 0 -1 0"))
        assert two.ask("cancel", 2)[0] == NOTFOUND
        assert one.ask("cancel", 2) == (0, "")
        assert one.ask("notice", 30000) == (1, "2 2 2 -1 0 0")
        code, text = one.ask("cancel", 2)
        assert code == STATE and "process 2 is gone" in text
        assert one.ask("cancel", 17)[0] == NOTFOUND


def test_a_request_is_cancelled_when_its_process_has_just_come():
    """The agent has the last word, and what it says before that is known."""
    with Agent() as agent:
        one, = agent.run(1)
        assert one.ask("add") == (LATER, "1")
        agent.mute = True
        one.begin("cancel", 1)
        wait_until(lambda: asked(agent, "cancel"))
        number = asked(agent, "cancel")[0][1]["number"]
        agent.mute = False
        agent.say(0, do="process", process=1, state="running", parent=0)
        agent.say(0, do="refused", number=number, text="process 1 is there already")
        code, text = one.answer()
        assert code == STATE and "process 1 is there already, so that its request is over" in text
        assert one.ask("notice", 30000) == (1, "1 1 0 -1 0 0")
        agent.queue.clear()


def test_a_process_is_stopped():
    with Agent() as agent:
        one, two = agent.run(2)
        two.begin("receive", -1, -1, -1)  # the notice to leave ends this
        assert one.ask("stop", 1) == (0, "")
        assert two.answer() == (2, "")
        assert two.ask("leaving") == (1, "")
        assert two.ask("notice", 0) == (1, "3 1 0 -1 0 0")
        assert two.ask("notice", 0) == (0, "")
        assert two.ask("send", 0, 1, -1, "bye") == (0, "")  # it can still talk
        assert two.end() == (0, "")
        assert one.ask("receive", 1, 1, 30000) == (0, "1 1 3 bye")
        assert one.ask("notice", 30000) == (1, "2 1 1 0 0 0")
        code, text = one.ask("stop", 1)
        assert code == CLOSED and "process 1 is gone already" in text
        assert one.ask("stop", 9)[0] == NOTFOUND
        assert len(asked(agent, "stop")) == 1


def test_groups():
    with Agent() as agent:
        one, two, three = agent.run(3)
        assert two.ask("join", "walls") == (0, "")
        assert three.ask("join", "walls") == (0, "")
        assert three.ask("join", "walls") == (0, "")
        wait_until(lambda: one.ask("members", "walls") == (2, "1 2"))
        assert one.ask("groups", 1) == (1, "walls") and one.ask("groups", 0) == one.ask("groups", 9) == (0, "")
        assert one.ask("tell", "walls", 6, "all-of-you", -1) == (0, "2")
        for process in (two, three):
            assert process.ask("receive", 0, 6, 30000) == (0, "0 6 10 all-of-you")
        wait_until(lambda: two.ask("members", "walls") == (2, "1 2"))
        assert two.ask("tell", "walls", 6, "you", -1) == (0, "1")
        assert three.ask("receive", 1, 6, 30000) == (0, "1 6 3 you")
        assert three.ask("leave", "walls") == (0, "")
        wait_until(lambda: one.ask("members", "walls") == (1, "1"))
        assert two.end() == (0, "")
        wait_until(lambda: one.ask("members", "walls") == (0, ""))
        assert one.ask("tell", "walls", 6, "nobody", -1) == (0, "0")
        assert one.ask("join", "-bad")[0] == INVALID
        for number in range(32):
            assert one.ask("join", f"g{number}") == (0, "")
        code, text = one.ask("join", "one-more")
        assert code == TOOBIG and "is in 32 groups" in text


def test_iterations_are_told_now_and_then():
    with Agent() as agent:
        one, = agent.run(1)
        for step in range(40):
            one.begin("iteration", step)
            one.ask("idle", 20)
        told = [line for _, line in asked(agent, "iteration")]
        assert 1 <= len(told) <= 39
        assert all(20000 <= line["mean_us"] <= 2_000_000 and 0 < line["iteration"] < 40 for line in told), told
        assert [line["iteration"] for line in told] == sorted({line["iteration"] for line in told})


def test_the_speed_that_is_told_is_that_of_the_whole_run():
    """Policies look ahead by the mean of the run: one slow iteration, and faster ones, which alone would be much less."""
    with Agent() as agent:
        one, = agent.run(1)
        one.begin("iteration", 0)
        one.ask("idle", 1200)
        for step in range(1, 13):
            one.begin("iteration", step)
            one.ask("idle", 60)
        told = [line for _, line in asked(agent, "iteration")]
        assert [line["iteration"] for line in told][0] == 1 and len(told) >= 2, told
        last = told[-1]  # each has rested for as long as it was to at least
        assert (last["mean_us"] + 1) * last["iteration"] >= 1_200_000 + 60_000 * (last["iteration"] - 1), told


def test_iterations_that_are_numbered_anew_stay_in_the_mean():
    with Agent() as agent:
        one, = agent.run(1)
        one.begin("iteration", 7)
        one.ask("idle", 900)
        one.begin("iteration", 8)  # told: 900 ms
        one.begin("iteration", 0)
        for step in range(1, 11):
            one.ask("idle", 60)
            one.begin("iteration", step)
        one.ask("idle", 60)
        told = [line for _, line in asked(agent, "iteration")]
        assert [line["iteration"] for line in told][0] == 8 and len(told) >= 2, told
        last = told[-1]
        assert (last["mean_us"] + 1) * (last["iteration"] + 1) >= 900_000 + 60_000 * last["iteration"], told


def test_what_will_be_given_back_is_said():
    with Agent() as agent:
        one, = agent.run(1)
        for count in (3, 0):
            assert one.ask("returning", count) == (0, "")
        told = [line for _, line in asked(agent, "returning")]
        assert [line["processes"] for line in told] == [3, 0] and told[0]["number"] < told[1]["number"]
        assert one.ask("returning", 65) == (BUSY, "so many there are not")
        for count in (-1, 16777217):
            code, text = one.ask("returning", count)
            assert (code, text) == (INVALID, f"{count} processes cannot be given back")
        assert len(asked(agent, "returning")) == 3
        agent.vanish()
        one.begin("returning", 2)  # waits for the agent
        time.sleep(0.3)
        agent.listen()
        assert one.answer() == (0, "")
        assert [line["processes"] for _, line in asked(agent, "returning")] == [3, 0, 65, 2]


def test_an_agent_that_comes_back_is_told_again():
    with Agent() as agent:
        one, two = agent.run(2)
        agent.vanish()
        assert one.ask("send", 1, 1, -1, "still-here") == (0, "")
        assert two.ask("receive", 0, 1, 30000) == (0, "0 1 10 still-here")
        one.begin("add")  # waits for the agent
        time.sleep(0.3)
        agent.listen()
        assert one.answer() == (LATER, "2")
        wait_until(lambda: sum(number == 1 for number, _ in asked(agent, "hello")) == 2)
        assert [number for number, _ in asked(agent, "add")] == [0]
        assert one.ask("list") == (3, "0 1 2")


def test_who_is_gone_while_the_agent_was_away():
    with Agent() as agent:
        one, two, three = agent.run(3)
        agent.vanish()
        kill(three)
        del agent.states[2]
        agent.listen()
        for process in (one, two):
            assert process.ask("notice", 30000) == (1, "2 2 4 -1 0 0")


def test_an_answer_that_comes_too_late_is_taken_back():
    with Agent(arguments=(0, 0, 0, 200)) as agent:
        one, = agent.run(1)

        def taken_back():
            assert all(line["there"] for _, line in asked(agent, "cancel"))
            return [line["number"] for _, line in asked(agent, "cancel")]
        agent.mute = True
        code, text = one.ask("add")
        assert code == TIMEOUT and "has not answered process 0 within 200 ms" in text
        number = asked(agent, "add")[0][1]["number"]
        wait_until(lambda: taken_back() == [number])
        # neither its answer nor that it was taken back arrives: the next connection says it again
        agent.mute = False
        agent.vanish()
        agent.states[1], agent.next = "running", 2
        agent.listen()
        wait_until(lambda: taken_back() == [number] * 2)
        # it is done, and so not said any more; the late answer of another one leads to nothing else
        agent.mute = True
        assert one.ask("add")[0] == TIMEOUT
        late = asked(agent, "add")[1][1]["number"]
        wait_until(lambda: taken_back() == [number, number, late])
        agent.mute = False
        agent.states[2] = "running"
        agent.say(0, do="added", number=late, process=2, ready=True)
        agent.vanish()
        agent.listen()
        wait_until(lambda: taken_back() == [number, number, late, late])
        assert one.ask("add")[0] == LATER
        assert not asked(agent, "stop") and len(asked(agent, "add")) == 3


@pytest.mark.parametrize("line", ["nonsense", "[1]", '{"do": 3}', '{"do": "process", "process": -1, "state": "running"}',
                                  '{"do": "process", "process": 1, "state": "running", "address": "http://x"}',
                                  '{"do": "added", "number": 1, "process": 1}', '{"do": "welcome", "process": 77, "state": "running"}',
                                  "long"])
def test_nonsense_does_no_harm(line):
    with Agent() as agent:
        one, two = agent.run(2)
        with agent.lock:
            agent.send(one and agent.processes[0].connection, b"x" * (5 << 20) if line == "long" else line.encode() + b"\n")
        # it connects anew, and goes on
        wait_until(lambda: sum(number == 0 for number, _ in asked(agent, "hello")) == 2)
        assert one.ask("add") == (LATER, "2")
        assert two.ask("send", 0, 1, -1, "all-well") == (0, "")
        assert one.ask("receive", 1, 1, 30000) == (0, "1 1 8 all-well")


def test_what_a_later_agent_says_is_ignored():
    with Agent() as agent:
        one, = agent.run(1)
        agent.say(0, do="weather", rain=True)
        assert one.ask("add") == (LATER, "1")
        assert len(asked(agent, "hello")) == 1


def test_nonsense_at_the_beginning_is_said():
    with Agent() as agent:
        agent.on_hello = lambda connection, number, line: agent.send(connection, b'{"do": "welcome", "process": 0}\n')
        code, text = agent.start().answer()
        assert code == PROTOCOL and "the member 'state' is missing or wrong" in text


def test_two_hundred_processes():
    with Agent(arguments=(0, 0, 0, 60000)) as agent:
        one, = agent.run(1)
        others = [agent.start() for _ in range(199)]
        for process in others:
            assert process.answer()[0] == STARTED
        everybody = (200, " ".join(str(number) for number in range(200)))
        for process in (one, others[-1], others[100]):
            wait_until(lambda process=process: process.ask("list") == everybody)
        for process in others:
            assert process.ask("send", 0, 1, -1, f"from-{process.number}") == (0, "")
        for process in others:
            assert one.ask("receive", process.number, 1, 30000)[1].endswith(f" from-{process.number}")
        for process in others:
            assert one.ask("send", process.number, 2, -1, "back") == (0, "")
        for process in others:
            assert process.ask("receive", 0, 2, 30000) == (0, "0 2 4 back")


def test_few_descriptors_are_said():
    """What cannot be is said: libzmq would abort."""
    with Agent() as agent:
        outcomes = []
        for limit in range(6, 46, 4):
            process = agent.start(by=("/usr/bin/prlimit", f"--nofile={limit}", "--"))
            process.child.stdin.close()
            said = process.child.stdout.read().decode()
            code = process.child.wait(60)
            # where not even the program's libraries can be opened it is not the library's to say
            assert (said and code in (0, 1)) or (limit < 10 and code == 127), (limit, said, code)
            outcomes.append(int(said.split(" ", 1)[0]) if said else None)
        assert {-3, 1} <= set(outcomes), outcomes
        assert outcomes[-1] == 1


def test_alone():
    env = {key: value for key, value in os.environ.items() if not key.startswith("PLEAT_PROCESS")}
    script = ["list", "add", "stop 0", "send 0 1 0 me", "receive -1 -1 0", "receive -1 -1 20", "receive -1 -1 -1", "join g",
              "members g", "notice 0", "returning 1", "fork"]
    done = subprocess.run([WORKER], env=env, input="\n".join([*script, "exit\n"]), capture_output=True, text=True, timeout=60, check=True)
    began, *answers, end = [line.split(" ", 1) for line in done.stdout.splitlines()]
    assert (began, end) == (["1", "0 -1 1"], ["0", ""])
    found = dict(zip(script, answers, strict=True))
    for what in ("add", "stop 0", "returning 1"):
        assert int(found[what][0]) == UNSUPPORTED and "start the program by 'pleat run --evolving'" in found[what][1]
    assert found["list"] == ["1", "0"] and found["receive -1 -1 0"] == ["0", "0 1 2 me"]
    assert found["receive -1 -1 20"] == ["2", ""] and int(found["receive -1 -1 -1"][0]) == STATE
    assert found["members g"] == ["1", "0"] and found["notice 0"] == ["0", ""] and found["fork"] == ["0", ""]


def test_a_child_of_fork_is_refused():
    with Agent() as agent:
        one, two = agent.run(2)
        assert one.ask("fork") == (0, "")
        assert two.ask("send", 0, 1, -1, "after") == (0, "")
        assert one.ask("receive", 1, 1, 30000) == (0, "1 1 5 after")


@pytest.mark.parametrize("variables, text", [
    ({"PLEAT_PROCESS": "x"}, "PLEAT_PROCESS is 'x'"),
    ({"PLEAT_PROCESS_SECRET": "/nowhere"}, "cannot open the run's secret /nowhere"),
    ({"PLEAT_PROCESS_SECRET": "/dev/null"}, "is not 64 hexadecimal digits"),
    ({"PLEAT_PROCESS_SECRET_FD": "77"}, "cannot read the run's secret"),
    ({"PLEAT_PROCESS_HOST": "no.such.host.invalid"}, "cannot listen on tcp://no.such.host.invalid:*"),
    ({"PLEAT_PROCESS_HOST": ""}, "PLEAT_PROCESS_HOST is not set"),
    ({"PLEAT_PROCESS_DIR": "here"}, "PLEAT_PROCESS_DIR is no directory"),
    ({"PLEAT_PROCESS_SOCKET": "/nowhere/socket"}, "cannot reach the agent of this run at /nowhere/socket"),
])
def test_a_bad_environment_is_said(variables, text):
    with Agent() as agent:
        code, said = agent.start(**variables).answer()
        assert code in (INVALID, -3, CLOSED) and text in said


def test_what_is_said_is_lines_of_json():
    with Agent() as agent:
        agent.run(1)
        hello = asked(agent, "hello")[0][1]
        assert hello == {"do": "hello", "process": 0, "pid": agent.processes[0].child.pid, "address": agent.addresses[0]}
        assert hello["address"].startswith(f"ipc://{agent.dir}/0.") and json.dumps(hello)


@pytest.mark.parametrize("reach, why", [
    ("{open}", None),
    ("tcp://127.0.0.1:1", "Connection refused"),
    ("tcp://[::1]:1", None), # refused, or there is no such address on this host
    ("ipc:///somewhere", "that is no address of another host"),
    ("tcp://127.0.0.1", "that is no address of another host"),
    ("tcp://", "that is no address of another host"),
    ("tcp://127.0.0.1:no", "that is no address of another host"),
])
def test_one_at_another_site_tries_to_reach_the_first(reach, why):
    """What comes of that is said with its hello."""
    with Agent() as agent, socket.create_server(("127.0.0.1", 0)) as server:
        listens = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        agent.start(PLEAT_PROCESS_REACH=reach.format(open=listens))
        wait_until(lambda: asked(agent, "hello"))
        hello = asked(agent, "hello")[0][1]
        if "::1" in reach:
            assert hello["unreachable"]
        else:
            assert hello.get("unreachable") == why
