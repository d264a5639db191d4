"""A private instance of Pleat per test: its own directory, daemon, agent; nothing may be left of it."""

import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))

from patience import PATIENCE, pytest_collection_modifyitems  # noqa: E402,F401

BUILD = os.path.abspath(os.environ.get(
    "PLEAT_BUILD", os.path.join(os.path.dirname(__file__), "../../../build")))
PLEAT = os.path.join(BUILD, "bin", "pleat")
PLEATD = os.path.join(BUILD, "bin", "pleatd")
LOOP = os.path.join(BUILD, "apps", "loop")
# Preloaded into ranks, of which there may be more than processors: they give way while they wait.
YIELD = os.path.join(BUILD, "tests", "libtest-app-yield.so")
REPLAY = os.path.join(BUILD, "tests", "replay-log")
LIMIT_S = float(os.environ.get("PLEAT_TEST_LIMIT_S", "60"))  # generous: nothing here waits for time to pass
FINAL = ("done", "failed", "cancelled")

# Deadlines that tests wait for are short, backoffs too; what must not strike on a busy machine is long.
CONFIG = """
site "local" { processors = 8 }
idle_exit_s = 0
backoff_s = 0.2
try_s = 0.1
"""


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
        assert now < end, f"not in {limit_s * PATIENCE} s: {what}"
        time.sleep(min(max(0.01, 4 * (now - began), min((now - start) / 20, 0.05)), 0.1))


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="latin-1") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def parent_of(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="latin-1") as file:
            return int(file.read().rsplit(")", 1)[1].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return None


def words_of(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return [word.decode(errors="replace") for word in file.read().split(b"\0")[:-1]]
    except (FileNotFoundError, ProcessLookupError):
        return []


def comm_of(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def pids_with(variable):
    """Living processes whose environment began with this variable (a zombie shows none)."""
    wanted = variable.encode()
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                if wanted in file.read().split(b"\0"):
                    found.append(int(name))
        except OSError:
            pass
    return [pid for pid in found if is_alive(pid)]


def agents_with(variable):
    """Agents with this variable. What an agent has just forked has its arguments and environment, too, but is the
    child of one, or has another name."""
    return [pid for pid in pids_with(variable) if comm_of(pid) == "pleat-agent" != comm_of(parent_of(pid))]


class Failure(Exception):
    """What the daemon answered instead of a result."""

    def __init__(self, error):
        super().__init__(error["text"])
        self.code = error["code"]
        self.text = error["text"]


class Lost(Exception):
    """The daemon closed the connection."""


class Peer:
    """A connection to the daemon's socket that sends what it likes."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(LIMIT_S * PATIENCE)
        self.socket.connect(path)
        self.buffer = b""
        self.next_id = 1

    def close(self):
        self.socket.close()

    def send_bytes(self, data):
        self.socket.sendall(data)

    def send(self, message):
        self.send_bytes(json.dumps(message).encode() + b"\n")

    def read(self):
        while b"\n" not in self.buffer:
            try:
                chunk = self.socket.recv(65536)
            except ConnectionResetError:
                chunk = b""
            if not chunk:
                raise Lost()
            self.buffer += chunk
        line, self.buffer = self.buffer.split(b"\n", 1)
        message = json.loads(line)
        count = message.get("bytes", 0)
        while len(self.buffer) < count:
            self.buffer += self.socket.recv(65536)
        message["attachment"], self.buffer = self.buffer[:count], self.buffer[count:]
        return message

    def read_to_end(self):
        """Everything until the daemon closes."""
        messages = []
        while True:
            try:
                messages.append(self.read())
            except Lost:
                return messages


class Client(Peer):
    """A connection that has said hello."""

    def __init__(self, path, role="client"):
        super().__init__(path)
        self.greeting = self.read()["params"]
        if role == "client":
            self.send({"method": "hello", "params": {"protocol": 1, "role": role}})

    def answer(self, number):
        while True:
            message = self.read()
            if message.get("id") == number:
                return message

    def call_raw(self, method, params):
        number = self.next_id
        self.next_id += 1
        self.send({"id": number, "method": method, "params": params})
        return self.answer(number)

    def call(self, method, **params):
        message = self.call_raw(method, params)
        if "error" in message:
            raise Failure(message["error"])
        return message["result"]


def breakable_agent(pleat):
    """A directory with the programs: while it has a file `broken`, agents end before they connect, and write `tries`."""
    where = pathlib.Path(pleat.path("own/bin"))
    where.mkdir(parents=True)
    (where.parent / "lib").symlink_to(pathlib.Path(BUILD) / "lib")
    for name in (pathlib.Path(BUILD) / "bin").iterdir():
        if name.name in ("pleat", "pleatd"):
            shutil.copy(name, where)
        elif name.name != "pleat-agent":
            (where / name.name).symlink_to(name)
    agent = where / "pleat-agent"
    agent.write_text(f"""#!/bin/sh
[ ! -e {where}/broken ] || {{ echo x >> {where}/tries; exit 1; }}
exec {BUILD}/bin/pleat-agent "$@"
""", encoding="ascii")
    agent.chmod(0o700)
    return where


class Instance:
    """One directory, and all processes that run for it."""

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="pl-", dir="/tmp")  # short: a socket's path is limited
        self.socket = os.path.join(self.dir, "pleatd.sock")
        self.log = os.path.join(self.dir, "log.sqlite")
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("PLEAT_", "XDG_"))}
        self.env["PLEAT_DIR"] = self.dir
        self.env["PLEAT_TEST_PROGRESS_MS"] = "50"  # agents tell every second, and tests wait for what they tell
        self.program = PLEAT
        self.started = []
        self.connection = None
        self.instance_id = None
        self.configure()

    def path(self, name):
        return os.path.join(self.dir, name)

    def configure(self, more="", text=CONFIG):
        """PLEAT_TEST_AGENTS=tcp: the agents of all sites call over TCP, in tests that know nothing of it."""
        if os.environ.get("PLEAT_TEST_AGENTS") == "tcp" and "agents = tcp" not in text:
            text = re.sub(r'(site [^{}]*\{)', r"\1 agents = tcp", text)
        with open(self.path("pleat.conf"), "w", encoding="utf-8") as file:
            file.write(text + more + "\n")

    # ---- commands

    def env_of(self, words):
        """Jobs' ranks give way while they wait, but those of folded ones, in which libpleat-fold decides that."""
        folded = any(str(word).startswith(("--processes", "--fold")) for word in words)
        if folded or not words or words[0] not in ("submit", "run") or not os.path.exists(YIELD):
            return self.env
        return {"LD_PRELOAD": YIELD} | self.env

    def pleat(self, *words, check=None, timeout=LIMIT_S, given=None):
        """`given`: its standard input; without it that is /dev/null."""
        source = {"stdin": subprocess.DEVNULL} if given is None else {"input": given}
        done = subprocess.run([self.program, *map(str, words)], env=self.env_of(words), cwd=self.dir, text=True,
                              **source, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=timeout * PATIENCE, check=False)
        if check is not None:
            assert done.returncode == check, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done

    def popen(self, *words, program=None, **options):
        process = subprocess.Popen([program or self.program, *map(str, words)], env=self.env_of(words), cwd=self.dir,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, **options)
        self.started.append(process)
        return process

    def submit(self, *words):
        return int(self.pleat("submit", *words, check=0).stdout)

    # ---- the protocol

    def client(self):
        """A connection of its own; starts the daemon where none runs."""
        if not os.path.exists(self.socket):
            self.pleat("info", check=0)
        try:
            return Client(self.socket)
        except ConnectionRefusedError:
            self.pleat("info", check=0)
            return Client(self.socket)

    def call(self, method, **params):
        if self.connection is None:
            self.connection = self.client()
            self.instance_id = self.connection.greeting["instance"]
        try:
            return self.connection.call(method, **params)
        except (Lost, BrokenPipeError):
            self.connection = None
            raise

    def job(self, number):
        return self.call("job", job=number)

    def wait_for(self, number, *states):
        def there():
            state = self.job(number)["state"]
            assert state in states or state not in FINAL, self.job(number)
            return state in states
        wait_until(there, f"job {number} is one of {states}")
        return self.job(number)

    def wait_size(self, number, size):
        def there():
            job = self.job(number)
            assert job["state"] not in FINAL, job
            return job["state"] == "running" and job["processors"] == size
        wait_until(there, f"job {number} runs on {size}")
        return self.job(number)

    def wait_end(self, number):
        return self.wait_for(number, *FINAL)

    def wait_outcome(self, number, outcome):
        def there():
            found = [r for r in self.job(number)["history"]["resizes"] if r["outcome"] == outcome]
            return found[0] if found else None
        return wait_until(there, f"a resize of job {number} that ended as '{outcome}'")

    def output(self, number, stream="stdout"):
        with open(self.path(f"jobs/{number}/{stream}"), encoding="utf-8") as file:
            return file.read()

    def wait_free(self, processors=8):
        wait_until(lambda: self.call("sites")["sites"][0]["free"] == processors,
                   f"{processors} processors are free")

    # ---- processes

    def daemon_pid(self):
        return self.call("info")["pid"]

    def agent_pids(self):
        return agents_with(f"PLEAT_DIR={self.dir}")

    def agent_pid(self):
        return wait_until(self.agent_pids, "an agent")[0]

    def job_pids(self, number=None):
        """Processes of jobs: those that carry the mark which agents put on them."""
        found = []
        if not self.instance_id:
            self.call("info")
        for pid in pids_with(f"PLEAT_DIR={self.dir}"):
            try:
                with open(f"/proc/{pid}/environ", "rb") as file:
                    env = file.read().split(b"\0")
            except OSError:
                continue
            mine = any(v.startswith(b"PLEAT_RUN=" + self.instance_id.encode()) for v in env)
            if mine and (number is None or f"PLEAT_JOB={number}".encode() in env):
                found.append(pid)
        return found

    def rank_pids(self, number, program=LOOP):
        own = ([program], [os.path.realpath(program)])
        return [pid for pid in self.job_pids(number) if words_of(pid)[:1] in own]

    def wait_ranks(self, number, count):
        """The processes of a running MPI job, once they are all there and have begun."""
        def there():
            pids = self.rank_pids(number)
            progress = self.job(number)["progress"]
            return pids if len(pids) == count and progress and progress["iteration"] > 0 else None
        return wait_until(there, f"job {number} has {count} ranks that compute")

    def kill_daemon(self, how=signal.SIGKILL):
        pid = self.daemon_pid()
        self.connection.close()
        self.connection = None
        os.kill(pid, how)
        wait_until(lambda: not is_alive(pid), "the daemon is gone")
        return pid

    def listening(self):
        with open("/proc/net/unix", encoding="latin-1") as file:
            return [line for line in file if self.dir in line and line.split()[3] == "00010000"]

    def finish(self):
        """Ends everything in order, then looks for what should not be there any more."""
        for process in self.started:
            process.kill()
            process.communicate()
        mine = f"PLEAT_DIR={self.dir}"
        if pids_with(mine) and not self.listening():
            self.pleat("info")  # a daemon that ends what one that is gone left running
        self.pleat("stop", "--force", check=0)
        wait_until(lambda: not pids_with(mine),
                   f"no process of {self.dir} is left: {[(p, words_of(p)) for p in pids_with(mine)]}", 20)
        assert not self.listening()
        if os.path.exists(self.path("pleatd.log")):
            with open(self.path("pleatd.log"), encoding="utf-8", errors="replace") as file:
                said = file.read()
            assert "Sanitizer" not in said and "runtime error" not in said
        if self.instance_id:
            left = [p for p in map(int, filter(str.isdigit, os.listdir("/proc")))
                    if self.has_run_mark(p)]
            assert not left, [(pid, words_of(pid)) for pid in left]
            assert not [name for name in os.listdir("/dev/shm") if self.instance_id in name]

    def has_run_mark(self, pid):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                return b"PLEAT_RUN=" + self.instance_id.encode() + b":" in file.read()
        except OSError:
            return False

    def clean(self):
        """Removes what a failed test left."""
        for pid in pids_with(f"PLEAT_DIR={self.dir}"):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        shutil.rmtree(self.dir, ignore_errors=True)
        for name in os.listdir("/dev/shm") if self.instance_id else []:
            if name.startswith(f"pleat-{self.instance_id}-"):
                shutil.rmtree(os.path.join("/dev/shm", name), ignore_errors=True)


@pytest.fixture
def pleat():
    instance = Instance()
    try:
        yield instance
        instance.finish()
    finally:
        if os.path.exists(instance.path("pleatd.log")):
            with open(instance.path("pleatd.log"), encoding="utf-8", errors="replace") as file:
                print(file.read())
        instance.clean()


def until_file(path):
    """Words of a job that writes a line to `path`.runs each time it runs, and ends with 7 once there
    is a file `path`."""
    return ["--", "sh", "-c",
            'echo "$PLEAT_JOB $$" >> "$1".runs; while [ ! -e "$1" ]; do sleep 0.05; done; echo end; exit 7',
            "until-file", path]


def loop(*words, smallest=1, largest=8, more=()):
    """Words of a job: the smallest malleable program, endless unless told otherwise."""
    own = list(words)
    if "--iterations" not in own and "--resizes" not in own:
        own += ["--iterations", "1000000000"]
    if "--pause" not in own:
        own += ["--pause", "20"]
    return ["--min", smallest, "--max", largest, *more, "--", LOOP, *own]
