"""Any peer of the daemon's socket, whatever it sends, is answered or turned away, and the daemon serves the others
as before."""

import json
import os
import socket

import pytest

from conftest import (BUILD, PLEATD, Client, Failure, Peer, is_alive, loop, until_file,
                      wait_until)


@pytest.fixture
def served(pleat):
    """The same daemon must be there after the test, and take work."""
    pid = pleat.daemon_pid()
    yield pleat
    assert pleat.call("info")["pid"] == pid
    done = pleat.pleat("run", "--", "echo", "still", "here", check=0)
    assert done.stdout == "still here\n"


# ---- connections


def test_second_daemon(served):
    pid = served.daemon_pid()
    for words in ([], ["--dir", served.dir]):
        process = served.popen(*words, program=PLEATD)
        _, text = process.communicate(timeout=30)
        assert process.returncode == 4
        assert f"another pleatd (process {pid}) runs for {served.dir} already" in text
    assert is_alive(pid)


@pytest.mark.parametrize("garbage", [
    b"\n", b"hello\n", b"\0\0\0\0\n", b"[]\n", b"{}\n", b'{"id":0,"method":"info"}\n',
    b'{"id":1,"method":7}\n', b'{"method":"hello","params":[]}\n', b'\xff\xfe{"id":1}\n',
    b'{"id":1,"method":"info","method":"info"}\n', b"[" * 100000 + b"\n",
    b'{"id":1,"method":"info","bytes":99999999999}\n', b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n"],
    ids=repr)
def test_garbage(served, garbage):
    peer = Peer(served.socket)
    assert peer.read()["method"] == "hello"
    peer.send_bytes(garbage)
    said = peer.read_to_end()
    assert len(said) <= 1 and all("error" in message for message in said), said
    peer.close()


def test_garbage_after_hello(served):
    peer = Client(served.socket)
    assert peer.call("jobs")["jobs"] == []
    peer.send_bytes(b"what now?\n")
    assert all("error" in message for message in peer.read_to_end())


def test_a_line_of_a_gigabyte(served):
    peer = Client(served.socket)
    sent, block = 0, b"x" * 65536
    try:
        while sent < 1 << 30:
            peer.send_bytes(block)
            sent += len(block)
    except (BrokenPipeError, ConnectionResetError):
        pass
    assert sent < 16 << 20  # turned away as soon as the line was too long
    with open(f"/proc/{served.daemon_pid()}/status", encoding="ascii") as file:
        peak_kb = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
    assert peak_kb < 200 << 10


def test_silent_peers(served):
    peers = [Peer(served.socket) for _ in range(100)]
    assert served.pleat("ps", check=0).returncode == 0
    other = Client(served.socket)
    assert other.call("jobs")["jobs"] == []
    for peer in peers:
        peer.close()


def test_half_a_message(served):
    for half in (b'{"method":"hel', b'{"id":7,"method":"info","bytes":100}\nabc'):
        peer = Client(served.socket)
        peer.send_bytes(half)
        peer.close()


def test_a_peer_that_asks_and_leaves(served):
    """Answers that wait find nobody; so do those of a turn under way."""
    number = served.submit(*until_file(served.path("go")))
    for method in ("wait", "output", "follow", "cancel", "resize", "info"):
        peer = Client(served.socket)
        params = {"job": number} if method != "cancel" else {"job": 12345}
        peer.send({"id": 1, "method": method, "params": {**params, "follow": True}})
        peer.close()
    served.wait_for(number, "running")
    with open(served.path("go"), "w", encoding="ascii"):
        pass
    assert served.wait_end(number)["exit_code"] == 7


def test_a_peer_that_never_reads(served):
    peer = Client(served.socket)
    line = json.dumps({"id": 1, "method": "policies", "params": {}}).encode() + b"\n"
    peer.socket.settimeout(5)
    try:
        for _ in range(200):  # answers of more than the backlog that is kept for one
            peer.send_bytes(line * 500)
    except (BrokenPipeError, ConnectionResetError):
        pass
    except TimeoutError:
        pytest.fail("the daemon neither reads nor closes")
    wait_until(lambda: served.call("info")["pid"], "others are served")
    peer.close()


def test_wrong_protocol(served):
    for version in (0, 2, -1, "1", None, 1.0):
        peer = Peer(served.socket)
        peer.read()
        peer.send({"method": "hello", "params": {"protocol": version, "role": "client"}})
        said = peer.read_to_end()
        assert len(said) == 1 and said[0]["id"] == 0 and "protocol" in said[0]["error"]["text"], said


def test_no_hello(served):
    peer = Peer(served.socket)
    peer.read()
    peer.send({"id": 1, "method": "info"})
    said = peer.read_to_end()
    assert [message["error"]["text"] for message in said] == ["say hello first"]


def test_agent_of_another_instance(served):
    for params in ({}, {"instance": served.instance_id, "site": "moon", "node": 0},
                   {"instance": served.instance_id, "site": 7, "node": "x"}):
        peer = Client(served.socket, role="agent")
        peer.send({"method": "hello", "params": {"protocol": 1, "role": "agent", **params}})
        assert peer.read_to_end() == []
    # one whose log is lost: it is told to end what it runs, and itself, and nothing else
    peer = Client(served.socket, role="agent")
    peer.send({"method": "hello", "params": {"protocol": 1, "role": "agent", "instance": "0123",
                                             "site": "local", "node": 0}})
    asked = peer.read()
    assert asked["method"] == "list"
    peer.send({"id": asked["id"], "result": {"runs": [{"run": 4}], "more": False}})
    asked = peer.read()
    assert asked["method"] == "kill" and asked["params"]["run"] == 4
    assert peer.read()["method"] == "quit"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")
def test_another_user(served):
    os.chmod(served.dir, 0o711)
    os.chmod(served.socket, 0o666)
    receiver, sender = os.pipe()
    child = os.fork()
    if child == 0:  # nothing but system calls from here on: this is a copy of the test
        try:
            os.setgid(65534)
            os.setuid(65534)
            other = socket.socket(socket.AF_UNIX)
            other.settimeout(30)
            other.connect(served.socket)
            try:
                other.sendall(b'{"method":"hello","params":{"protocol":1,"role":"client"}}\n'
                              b'{"id":1,"method":"stop","params":{"force":true}}\n')
            except OSError:
                pass
            data = b""
            while chunk := other.recv(65536):
                data += chunk
            os.write(sender, data)
        except ConnectionResetError:
            os.write(sender, data)
        finally:
            os._exit(0)
    os.close(sender)
    os.waitpid(child, 0)
    with os.fdopen(receiver) as file:
        said = [json.loads(line) for line in file]
    os.chmod(served.socket, 0o600)
    assert len(said) == 1 and said[0]["id"] == 0 and "user" in said[0]["error"]["text"], said


# ---- requests


WRONG = [None, True, -1, 0, 1.5, 1 << 62, "x", "", [], [1], {}, {"a": 1}]
MEMBERS = {
    "submit": ["name", "argv", "cwd", "env", "runner", "mpi", "kind", "min", "max", "initial", "sizes",
               "asks", "site", "estimate_s", "priority", "deadline_in_s", "begin_in_s"],
    "jobs": ["all"], "job": ["job"], "cancel": ["job"],
    "resize": ["job", "processors", "by", "mandatory"], "limits": ["job", "min", "max"],
    "wait": ["job"], "output": ["job", "stream", "offset", "follow", "paths", "read"],
    "events": ["job", "after", "limit"], "follow": ["job", "after"], "sites": [], "info": [],
    "policies": [], "configure": ["policies"], "stop": ["force"]}
GOOD = {"name": "x", "argv": ["true"], "cwd": "/", "env": ["A=b"], "runner": "plain", "mpi": "none",
        "kind": "rigid", "min": 1, "max": 1, "initial": 0, "sizes": "any", "asks": False, "site": None,
        "estimate_s": 0}


@pytest.mark.parametrize("method", MEMBERS)
def test_wrong_types(served, method):
    """Each member of each method, of each wrong kind: answered, or (wait, output) held."""
    sleeper = served.submit(*until_file(served.path("go")))  # so that 'stop' and 'wait' find a job
    peer = Client(served.socket)
    for member in [*MEMBERS[method], "unknown"]:
        for value in WRONG:
            if method == "stop" and (member, value) == ("force", True):
                continue
            params = {**(GOOD if method == "submit" else {"job": sleeper}), member: value}
            if method == "cancel" and params["job"] == sleeper:
                params["job"] = 12345
            peer.send({"id": peer.next_id, "method": method, "params": params})
            peer.next_id += 1
            answer = peer.call_raw("info", {})  # also an order: whoever answers this is alive
            assert "result" in answer
    peer.send({"id": peer.next_id, "method": method})
    peer.next_id += 1
    assert "result" in peer.call_raw("info", {})
    peer.close()
    for job in served.call("jobs")["jobs"]:
        if job["state"] not in ("done", "failed", "cancelled"):
            try:
                served.call("cancel", job=job["job"])
            except Failure:
                pass
    served.call("wait")


def test_what_is_said_of_wrong_members(served):
    def error_of(method, **params):
        with pytest.raises(Failure) as caught:
            served.call(method, **params)
        return caught.value.text
    assert "no method 'fly'" in error_of("fly")
    assert "job" in error_of("job") and "job" in error_of("job", job="1")
    assert "no job 17: see 'pleat ps --all'" in error_of("cancel", job=17)
    assert "argv" in error_of("submit", **{**GOOD, "argv": []})
    assert "argv" in error_of("submit", **{**GOOD, "argv": "true"})
    assert "min" in error_of("submit", **{**GOOD, "min": "one"})
    assert "runner" in error_of("submit", **{**GOOD, "runner": "horse"})
    assert "kind" in error_of("submit", **{**GOOD, "kind": "elastic"})
    assert "sizes" in error_of("submit", **{**GOOD, "sizes": "3,2,1"})
    assert "a rigid job has one size" in error_of("submit", **{**GOOD, "max": 2})
    assert "resize" in error_of("submit", **{**GOOD, "kind": "malleable", "max": 2})
    assert "initial size 5" in error_of("submit", **{**GOOD, "kind": "moldable", "max": 2, "initial": 5})
    assert "'policies' must be an object" in error_of("configure", policies=7)
    assert "no question 'weather'" in error_of("configure", policies={"weather": "sunny"})
    assert "no approach policy 'sunny'" in error_of("configure", policies={"approach": "sunny"})
    assert "no approach policy ''" in error_of("configure", policies={"approach": 7})
    assert served.call("info")["policies"]["approach"] == "pwa"


# ---- an agent that is none


class FakeAgent(Client):
    """Plays the agent of a node: takes requests, says what a test wants it to say."""

    def __init__(self, pleat, node=0, runs=(), **more):
        super().__init__(pleat.socket, role="agent")
        self.send({"method": "hello", "params": {
            "protocol": 1, "role": "agent", "instance": pleat.instance_id, "site": "local", "node": node,
            "pid": os.getpid(), **more}})
        self.expect("list", {"runs": list(runs), "more": False})

    def expect(self, method, result=None):
        message = self.read()
        while message.get("method") == "forget":
            self.send({"id": message["id"], "result": {}})
            message = self.read()
        assert message["method"] == method, message
        self.send({"id": message["id"], "result": result or {}})
        return message["params"]

    def until(self, method):
        """Does what else it is asked for before that."""
        while (message := self.read()).get("method") != method:
            self.send({"id": message["id"], "result": {}})
        self.send({"id": message["id"], "result": {}})
        return message["params"]

    def refuse(self, method, code, text):
        message = self.read()
        assert message["method"] == method, message
        self.send({"id": message["id"], "error": {"code": code, "name": "x", "text": text}})
        return message["params"]

    def say(self, method, **params):
        self.send({"method": method, "params": params})

    def start(self):
        run = self.expect("start")["run"]
        self.say("started", run=run, pid=1)
        return run

    def end(self, pleat, run, number, code=0):
        self.say("exited", run=run, code=code, signal=0, cpu_us=0, max_rss_kb=0, left=0)
        job = pleat.wait_end(number)
        self.close()
        return job


def test_the_agent_of_another_node(pleat):
    """What it does not list is not its own, whether it comes or goes."""
    number = pleat.submit("--", "sh", "-c", "until test -e go; do sleep 0.02; done")
    pleat.wait_for(number, "running")
    other = FakeAgent(pleat, node=1)
    assert pleat.wait_end(pleat.submit("true"))["state"] == "done"
    other.close()
    assert pleat.wait_end(pleat.submit("true"))["state"] == "done"
    assert pleat.job(number)["state"] == "running"
    with open(pleat.path("go"), "w", encoding="ascii"):
        pass
    job = pleat.wait_end(number)
    assert job["state"] == "done" and job["attempt"] == 0, job


@pytest.mark.parametrize("more, place", [({}, "/dev/shm"), ({"shared": "/run/shm"}, "/run/shm")])
def test_the_agent_says_where_its_shared_memory_is(pleat, more, place):
    pleat.call("info")
    agent = FakeAgent(pleat, **more)
    number = pleat.submit("-n", 2, "--", BUILD + "/apps/loop")
    order = agent.expect("start")
    assert os.path.dirname(order["scratch"]) == place
    assert any(order["scratch"] in word for word in order["argv"] + order["env"])
    agent.say("started", run=order["run"], pid=1)
    assert agent.end(pleat, order["run"], number)["state"] == "done"


def test_answer_of_more_than_was_offered(pleat):
    pleat.call("info")
    pleat.configure("backoff_s = 1000")
    agent = FakeAgent(pleat)
    number = pleat.submit(*loop(more=["--asks", "--initial", "2"]))
    run = agent.start()
    ask = agent.expect("ask")
    assert ask["offered"] == 8
    agent.say("answer", run=run, resize=ask["resize"], accepted=9)
    pleat.wait_outcome(number, "bad answer")
    job = pleat.job(number)
    assert job["processors"] == 2 and "more than was offered" in job["text"]
    assert agent.end(pleat, run, number)["state"] == "done"


def test_an_agent_of_before_and_processes_with_several_processors(pleat):
    """It would start as many processes as it is told processors; so it is told nothing."""
    pleat.call("info")
    agent = FakeAgent(pleat)
    number = pleat.submit("-n", 2, "-c", 2, "--", BUILD + "/apps/loop")
    job = pleat.wait_end(number)
    assert job["state"] == "failed" and "started before Pleat was upgraded" in job["text"], job
    number = pleat.submit("-n", 2, "--", BUILD + "/apps/loop")
    assert "cpus_per_task" not in pleat.job(number)
    assert agent.end(pleat, agent.start(), number)["state"] == "done"


def test_answering_twice(pleat):
    pleat.call("info")
    agent = FakeAgent(pleat)
    number = pleat.submit(*loop(more=["--asks", "--initial", "2"]))
    run = agent.start()
    ask = agent.expect("ask")
    agent.say("answer", run=run, resize=ask["resize"], accepted=4)
    agent.say("answer", run=run, resize=ask["resize"], accepted=8)
    resize = agent.expect("resize")
    assert resize["target"] == 4  # the first answer stands
    wait_until(lambda: "answered twice" in (pleat.job(number)["text"] or ""), "it is said")
    assert pleat.call("sites")["sites"][0]["used"] == 4
    agent.end(pleat, run, number)
    assert pleat.job(number)["history"]["resizes"][0]["outcome"] == "job ended"


def test_answers_nobody_asked_for(pleat):
    pleat.call("info")
    agent = FakeAgent(pleat)
    number = pleat.submit(*loop(largest=2, more=["--initial", "2"]))
    run = agent.start()
    pleat.wait_for(number, "running")
    for method in ("answer", "applied", "vacated", "withdrawn", "resize_failed", "started", "start_failed",
                   "progress", "dance", "exited"):
        for params in ({"run": run + 99, "resize": 5, "processes": 4, "accepted": 4},
                       {"run": run, "resize": 99, "processes": 4, "accepted": 4}, {"run": "x"}, {}):
            if method in ("exited", "start_failed") and params.get("run") == run:
                continue
            agent.say(method, **params)
    assert pleat.daemon_pid() and pleat.job(number)["state"] == "running"
    assert pleat.job(number)["processors"] == 2
    job = agent.end(pleat, run, number, code=3)
    assert (job["state"], job["exit_code"]) == ("failed", 3) or job["exit_code"] == 3


def test_refused_resize_ends_at_once(pleat):
    pleat.call("info")
    agent = FakeAgent(pleat)
    number = pleat.submit(*loop(more=["--initial", "2"]))
    run = agent.start()
    agent.refuse("resize", -7, "there is no room for that")
    resize = pleat.wait_outcome(number, "application failed")
    assert (resize["from"], resize["to"]) == (2, 8)
    assert pleat.job(number)["text"] == "there is no room for that"
    assert agent.end(pleat, run, number)["text"] is None  # it is done: what was wrong on the way does not count
    assert pleat.job(number)["text"] is None and pleat.call("jobs", all=True)["jobs"][0]["text"] is None


def test_a_run_that_leaves_its_node_for_a_change_that_is_over(pleat):
    """Nobody starts it elsewhere: the job does not wait for that, but is started anew."""
    pleat.call("info")
    agent = FakeAgent(pleat)
    number = pleat.submit(*loop(more=["--initial", "2"]))
    run = agent.start()
    resize = agent.refuse("resize", -7, "there is no room for that")["resize"]
    pleat.wait_outcome(number, "application failed")
    agent.say("exited", run=run, code=0, signal=0, cpu_us=0, max_rss_kb=0, left=0, moved=resize, iteration=5)
    job = agent.end(pleat, agent.start(), number)
    assert (job["state"], job["attempt"]) == ("done", 1), job


def test_killing_what_is_not_there(pleat):
    pleat.call("info")
    agent = FakeAgent(pleat)
    number = pleat.submit("--", "sleep", "1000")
    agent.start()
    pleat.wait_for(number, "running")
    pleat.call("cancel", job=number)
    agent.refuse("kill", -4, "this agent has no run")
    assert pleat.wait_end(number)["state"] == "cancelled"
    pleat.wait_free()
    agent.close()


def process_elsewhere(pleat):
    """An evolving job's process on another node than that which leads it. Returns the agents of both nodes, the run, its number, and
    that which the process has on its node."""
    pleat.configure(text='site "local" { processors = 4 nodes = 2 background = ignore }\nbackoff_s = 0.2\ntry_s = 0.1\nidle_exit_s = 0\n')
    pleat.call("info")
    knows = {"features": ["cpus_per_task", "processes", "beside", "roams"]}
    lead, there = FakeAgent(pleat, node=0, **knows), FakeAgent(pleat, node=1, **knows)
    number = pleat.submit("--evolving", "-n", 2, "--max", 4, "--", "true")
    run = lead.until("start")["run"]
    lead.say("started", run=run, pid=1)
    lead.say("demanded", run=run, iteration=0, iteration_us=0, requests=1, satisfied=0, waiting=1, on={})
    order = lead.until("prepare")
    assert order["node"] == 1, order
    lead.say("part_wanted", run=run, part=1, node=1, claim=order["claim"], process={"id": 2, "secret": "00"}, argv=["true"],
             env=[], cwd="/")
    return lead, there, run, number, there.until("start")["run"], knows


def test_an_order_to_end_a_process_is_lost_with_a_connection(pleat):
    """It is given again, and the run is over only when the process has ended."""
    lead, there, run, number, process, knows = process_elsewhere(pleat)
    there.say("started", run=process, pid=2)
    assert lead.until("part_told")["ended"] is False
    lead.say("part_unwanted", run=run, part=1)
    assert there.until("kill")["run"] == process  # which that agent has not read, say
    entry = {"run": process, "state": "running", "pid": 2, "part": 1, "process": {"id": 2}}
    again = FakeAgent(pleat, node=1, runs=[entry], **knows)
    assert again.until("kill")["run"] == process
    again.say("exited", run=process, code=0, signal=15, told=True, cpu_us=0, max_rss_kb=0, left=0)
    told = lead.until("part_told")
    assert (told["ended"], told["signal"]) == (True, 15)
    lead.say("part_left", run=run, part=1)
    assert lead.end(pleat, run, number)["state"] == "done"
    there.close()
    again.close()


def test_a_process_that_is_to_end_before_its_start_was_heard(pleat):
    """Neither order has arrived: it is not started any more."""
    lead, there, run, number, process, knows = process_elsewhere(pleat)
    lead.say("part_unwanted", run=run, part=1)
    assert there.until("kill")["run"] == process
    again = FakeAgent(pleat, node=1, **knows)
    told = lead.until("part_told")
    assert (told["ended"], told["code"]) == (True, 143)
    lead.say("part_left", run=run, part=1)
    assert lead.end(pleat, run, number)["state"] == "done"
    there.close()
    again.close()
