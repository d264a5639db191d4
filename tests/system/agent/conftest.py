"""A daemon that speaks the protocol of docs/protocol.md to a real pleat-agent."""

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))

from patience import PATIENCE, pytest_collection_modifyitems  # noqa: E402,F401

BUILD = os.environ.get("PLEAT_BUILD", os.path.join(os.path.dirname(__file__), "../../../build"))
AGENT = os.path.join(BUILD, "bin", "pleat-agent")
RANKS = os.path.join(BUILD, "tests", "agent-ranks")
# of this run of the tests alone: an agent ends what others of its instance left, and removes their directories
INSTANCE = f"test{os.getpid()}-a"
LIMIT_S = 120  # generous: nothing here waits for time to pass, only for events


def wait_until(condition, what, limit_s=LIMIT_S):
    """Returns the condition's first true value; fails the test when there is none in time. Looking takes processors from those
    who are waited for: what takes long, or is waited for for long, is looked at less often."""
    start = time.monotonic()
    end = start + limit_s * PATIENCE
    while True:
        began = time.monotonic()
        value = condition()
        if value:
            return value
        now = time.monotonic()
        assert now < end, f"not in {limit_s} s: {what}"
        time.sleep(min(max(0.005, 2 * (now - began), (now - start) / 20), 0.05))


def stat_of(pid):
    """(state, parent) of a process; None when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="latin-1") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return fields[0], int(fields[1])
    except (FileNotFoundError, ProcessLookupError):
        return None


def is_alive(pid):
    stat = stat_of(pid)
    return stat is not None and stat[0] not in "ZX"


def children_of(pid):
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    stats = ((child, stat_of(child)) for child in pids)
    return [(child, stat[0]) for child, stat in stats if stat and stat[1] == pid]


def until_no_child(world):
    """The agent tells the end of a run before it reaps what kept it: for a moment it may have that child, ended."""
    wait_until(lambda: children_of(world.first.pid) == [], "the agent has no child left")


class Lost(Exception):
    pass


class Failure(Exception):
    def __init__(self, error):
        super().__init__(error["text"])
        self.name = error["name"]
        self.text = error["text"]


class Daemon:
    """Listens; accepts one agent at a time; keeps all notifications in order."""

    def __init__(self, directory):
        self.path = str(directory / "d.sock")
        self.listener = None
        self.connection = None
        self.listen()
        self.buffer = b""
        self.next_id = 1
        self.notifications = []
        self.results = {}

    def listen(self):
        if os.path.exists(self.path):
            os.unlink(self.path)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.settimeout(LIMIT_S * PATIENCE)
        self.listener.bind(self.path)
        self.listener.listen()

    def accept(self, hello=True):
        """The greeting of an agent that calls. One that was not answered at once, on a machine that stood still, has called again:
        once."""
        try:
            return self.greet(hello)
        except BrokenPipeError:
            return self.greet(hello)

    def greet(self, hello):
        self.connection, _ = self.listener.accept()
        self.connection.settimeout(LIMIT_S * PATIENCE)
        self.buffer = b""
        greeting = self.read()
        assert greeting["method"] == "hello"
        if hello:
            self.send({"method": "hello", "params": {"protocol": 1, "role": "daemon"}})
        return greeting["params"]

    def send(self, message):
        self.connection.sendall(json.dumps(message).encode() + b"\n")

    def receive(self):
        try:
            chunk = self.connection.recv(65536)
        except ConnectionResetError:
            chunk = b""
        if not chunk:
            raise Lost()
        self.buffer += chunk

    def read(self):
        """A message; what is attached to it is a member "attached" of its params."""
        while b"\n" not in self.buffer:
            self.receive()
        line, rest = self.buffer.split(b"\n", 1)
        message = json.loads(line)
        count = message.get("bytes", 0)
        while len(rest) < count:  # a message is taken as a whole: waiting may be given up here
            self.receive()
            rest = self.buffer.split(b"\n", 1)[1]
        if "bytes" in message:
            message["params"]["attached"] = rest[:count]
        self.buffer = rest[count:]
        return message

    def pump_until(self, condition, what, limit_s=LIMIT_S):
        """However much else is told meanwhile."""
        end = time.monotonic() + limit_s * PATIENCE
        while not condition():
            left = end - time.monotonic()
            assert left > 0, f"not in {limit_s} s: {what}; the last that was told: {self.notifications[-5:]}"
            self.connection.settimeout(left)
            try:
                self.pump()
            except TimeoutError:
                pass  # said above
            finally:
                self.connection.settimeout(LIMIT_S * PATIENCE)

    def pump(self):
        message = self.read()
        if "method" in message:
            self.notifications.append((message["method"], message["params"]))
        else:
            self.results[message["id"]] = message

    def call(self, method, attached=b"", **params):
        number = self.next_id
        self.next_id += 1
        message = {"id": number, "method": method, "params": params}
        self.send({**message, "bytes": len(attached)} if attached else message)
        if attached:  # else there may be nobody any more: an agent that is told to quit has gone
            self.connection.sendall(attached)
        self.pump_until(lambda: number in self.results, f"an answer to '{method}' {params}")
        answer = self.results.pop(number)
        if "error" in answer:
            raise Failure(answer["error"])
        return answer["result"]

    def fails(self, name, method, **params):
        """The error's text; fails the test when the call succeeds or fails otherwise."""
        with pytest.raises(Failure) as failure:
            self.call(method, **params)
        assert failure.value.name == name, failure.value.text
        return failure.value.text

    def seen(self, method, run, **members):
        return [
            params
            for name, params in self.notifications
            if name == method
            and params.get("run") == run
            and all(params.get(key) == value for key, value in members.items())
        ]

    def expect(self, method, run, **members):
        self.pump_until(lambda: self.seen(method, run, **members), f"'{method}' of run {run} with {members}")
        return self.seen(method, run, **members)[-1]

    def drop(self):
        self.connection.close()

    def close(self):
        for each in (self.connection, self.listener):
            if each:
                each.close()


class World:
    def __init__(self, directory):
        self.directory = directory
        self.daemon = Daemon(directory)
        self.agents = []
        self.log = directory / "agent.log"

    def command(self, instance=INSTANCE, node=0, state=None, cpus=None, more=()):
        words = [AGENT, "--daemon", self.daemon.path, "--instance", instance]
        words += ["--site", "local", "--node", str(node)]
        words += [*(["--cpus", cpus] if cpus else []), *more]
        return words + (["--state", str(state)] if state else [])

    def agent(self, env=None, **options):
        with open(self.log, "ab") as log:
            agent = subprocess.Popen(
                self.command(**options), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**os.environ, "PLEAT_TEST_PROGRESS_MS": "50", **(env or {})}
            )
        self.agents.append(agent)
        return agent

    def start(self, run, *argv, **others):
        params = {
            "run": run,
            "job": str(run),
            "argv": list(argv),
            "env": ["PATH=/usr/local/bin:/usr/bin:/bin"],
            "cwd": str(self.directory),
            "stdout": self.out_path(run),
            "stderr": self.err_path(run),
        }
        params.update(others)
        return self.daemon.call("start", **params)

    def out_path(self, run):
        return str(self.directory / f"{run}.out")

    def err_path(self, run):
        return str(self.directory / f"{run}.err")

    def output(self, run):
        with open(self.out_path(run), encoding="utf-8") as file:
            return file.read()

    def pids(self, name, count):
        """The pids that `count` processes wrote to a file, one per line."""
        path = self.directory / name

        def complete():
            words = path.read_text().split() if path.exists() else []
            return [int(word) for word in words] if len(words) >= count else None

        return wait_until(complete, f"{count} pids in {name}")

    def touch(self, name):
        (self.directory / name).touch()

    def strays(self):
        token = f"{self.directory}".encode()
        found = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/environ", "rb") as file:
                    environ = file.read()
                cwd = os.readlink(f"/proc/{name}/cwd")
            except OSError:
                continue
            if b"PLEAT_RUN=" in environ and cwd.encode() == token:
                found.append(int(name))
        return found

    def end(self):
        for agent in self.agents:
            if agent.poll() is None:
                agent.terminate()
                agent.terminate()
        self.daemon.close()
        for agent in self.agents:
            try:
                agent.wait(LIMIT_S * PATIENCE)
            except subprocess.TimeoutExpired:
                agent.kill()
                agent.wait()
        left = [pid for pid in self.strays() if is_alive(pid)]
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        # a sanitizer's complaint at the end shows in the exit code; -9: the test killed it
        bad = [agent.returncode for agent in self.agents if agent.returncode not in (0, -9)]
        if self.log.exists() and "loop was not empty" in self.log.read_text():
            bad.append("a handle was left open")
        bad += [name for name in os.listdir("/dev/shm") if name.startswith(f"pleat-{INSTANCE}-")]
        return left, bad


@pytest.fixture(name="world")
def fixture_world(tmp_path):
    world = World(tmp_path)
    yield world
    left, bad = world.end()
    if world.log.exists():
        print(world.log.read_text())
    assert not left, "processes were left running"
    assert not bad, "an agent ended with an error, or left something"


@pytest.fixture(name="linked")
def fixture_linked(world):
    """A world with one agent that has said hello."""
    world.first = world.agent()
    world.daemon.accept()
    return world
