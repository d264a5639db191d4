"""A stand-in for the agent of a run: it starts processes of the library, and says what an agent says (docs/protocol.md), or
what none should say. One thread serves the processes' sockets; the test's own drives the processes by lines."""

import collections
import json
import os
import pathlib
import secrets
import select
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))

from patience import PATIENCE  # noqa: E402

BUILD = pathlib.Path(os.environ["PLEAT_BUILD"])
WORKER = BUILD / "tests" / "process-worker"


def wait_until(condition, seconds=30, what="it"):
    end = time.monotonic() + seconds * PATIENCE
    while not condition():
        assert time.monotonic() < end, f"{what} did not come about"
        time.sleep(0.005)


class Process:
    """A process that was started: its answers to lines."""

    def __init__(self, number, child):
        self.number, self.child, self.connection, self.answers = number, child, None, b""

    def line(self, seconds=60):
        end = time.monotonic() + seconds * PATIENCE
        while b"\n" not in self.answers:
            left = end - time.monotonic()
            assert left > 0 and select.select([self.child.stdout], [], [], left)[0], f"process {self.number} says nothing"
            got = os.read(self.child.stdout.fileno(), 65536)
            assert got, f"process {self.number} has ended: {self.child.wait()}"
            self.answers += got
        line, self.answers = self.answers.split(b"\n", 1)
        return line.decode()

    def ask(self, *words):
        self.begin(*words)
        return self.answer()

    def begin(self, *words):
        self.child.stdin.write((" ".join(str(word) for word in words) + "\n").encode())

    def answer(self, seconds=60):
        """What the function returned, and the rest of the line."""
        code, _, rest = self.line(seconds).partition(" ")
        return int(code), rest

    def end(self):
        """Lets it finish; what finish returned."""
        self.begin("exit")
        found = self.answer()
        assert self.child.wait(60 * PATIENCE) == 0
        return found


class Agent:
    def __init__(self, host="ipc", secret=None, arguments=()):
        self.dir = tempfile.mkdtemp(prefix="plp", dir="/tmp")
        self.path, self.host, self.arguments = f"{self.dir}/socket", host, [str(word) for word in arguments]
        pathlib.Path(self.dir, "secret").write_text((secret or secrets.token_hex(32)) + "\n")
        self.processes, self.addresses, self.states, self.groups = {}, {}, {}, {}
        self.prepared, self.queue, self.lock = collections.deque(), [], threading.RLock()
        self.said, self.next, self.mute, self.replace = [], 0, False, {}
        self.parents = {}
        self.selector, self.listener = selectors.DefaultSelector(), None
        self.buffers, self.owners = {}, {}
        self.running = True
        self.listen()
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    # ---- its life ----

    def listen(self):
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(2048)
        self.selector.register(self.listener, selectors.EVENT_READ)

    def vanish(self):
        """As an agent that is killed: no socket, no connections."""
        with self.lock:
            self.selector.unregister(self.listener)
            self.listener.close()
            os.unlink(self.path)
            for connection in list(self.buffers):
                self.drop(connection)

    def close(self):
        self.running = False
        self.thread.join(10)
        for process in self.processes.values():
            if process.child.poll() is None:
                process.child.kill()
            process.child.wait()
            process.child.stdin.close()
            process.child.stdout.close()
        shutil.rmtree(self.dir)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # ---- processes ----

    def start(self, prepared=False, number=None, by=(), **variables):
        """Starts a process, by a program before it if there is one; its first line is still to be read."""
        with self.lock:
            if number is None:
                number, self.next = self.next, self.next + 1
            env = dict(os.environ, PLEAT_PROCESS=str(number), PLEAT_PROCESS_SOCKET=self.path,
                       PLEAT_PROCESS_SECRET=f"{self.dir}/secret", PLEAT_PROCESS_HOST=self.host, PLEAT_PROCESS_DIR=self.dir)
            env.update(variables)
            child = subprocess.Popen([*by, WORKER, *self.arguments], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
            self.processes[number] = process = Process(number, child)
            self.states[number] = "prepared" if prepared else "running"
            self.groups[number] = set()
            if prepared:
                self.prepared.append(number)
        return process

    def run(self, count):
        """Starts processes and waits until each knows all of them."""
        made = [self.start() for _ in range(count)]
        for process in made:
            began, rest = process.answer()
            assert (began, rest.split()[0]) == (1, str(process.number)), (began, rest)
        wait_until(lambda: len(self.addresses) == len(self.processes), what="all addresses")
        everybody = sorted(process.number for process in made)
        for process in made:
            wait_until(lambda process=process: set(everybody) <= set(map(int, process.ask("list")[1].split())))
        return made

    def prepare(self):
        process = self.start(prepared=True)
        wait_until(lambda: process.number in self.addresses)
        return process

    # ---- what is said ----

    def say(self, to, **line):
        with self.lock:
            connection = self.processes[to].connection if to in self.processes else None
            if connection:
                self.send(connection, (json.dumps(line) + "\n").encode())

    def send(self, connection, data):
        try:
            connection.sendall(data)
        except OSError:
            self.drop(connection)

    def about(self, number, **more):
        line = {"process": number, "state": self.states[number], "groups": sorted(self.groups.get(number, ()))}
        if number in self.addresses and self.states[number] == "running":
            line["address"] = self.replace.get(number, self.addresses[number])
        if number in self.parents:
            line["parent"] = self.parents[number]
        return {**line, **more}

    def tell_all(self, number, **more):
        with self.lock:
            for other in list(self.processes):
                self.say(other, **{"do": "process", **self.about(number, **more)})

    def gone(self, number, reason="ended", **more):
        with self.lock:
            self.states[number] = "gone"
            self.tell_all(number, reason=reason, **more)

    def hand_over(self, number, parent):
        with self.lock:
            self.states[number], self.parents[number] = "running", parent
            self.say(number, do="go", parent=parent)
            self.tell_all(number)

    def come(self, number):
        """The process that was asked for with this number is started."""
        process = self.start(number=number)
        self.tell_all(number)
        return process

    # ---- what is heard ----

    def serve(self):
        while self.running:
            for key, _ in self.selector.select(0.05):
                with self.lock:
                    if key.fileobj is self.listener:
                        connection, _ = self.listener.accept()
                        self.buffers[connection] = b""
                        self.selector.register(connection, selectors.EVENT_READ)
                    elif key.fileobj in self.buffers:
                        self.hear(key.fileobj)

    def drop(self, connection):
        if connection in self.buffers:
            del self.buffers[connection]
            self.selector.unregister(connection)
            connection.close()
        number = self.owners.pop(connection, None)
        if number is not None and self.processes[number].connection is connection:
            self.processes[number].connection = None

    def hear(self, connection):
        try:
            got = connection.recv(65536)
        except OSError:
            got = b""
        if not got:
            self.drop(connection)
            return
        self.buffers[connection] += got
        while connection in self.buffers and b"\n" in self.buffers[connection]:
            line, self.buffers[connection] = self.buffers[connection].split(b"\n", 1)
            self.take(connection, json.loads(line))

    def take(self, connection, line):
        number = line["process"] if line["do"] == "hello" else self.owners[connection]
        self.said.append((number, line))
        if self.mute:
            return
        getattr(self, "on_" + line["do"])(connection, number, line)

    def on_hello(self, connection, number, line):
        self.owners[connection] = number
        self.processes[number].connection = connection
        self.addresses[number] = line["address"]
        known = [self.about(other) for other in self.states if self.states[other] in ("running", "coming")]
        self.say(number, do="welcome", process=number, parent=self.parents.get(number), maximum=64,
                 state="prepared" if self.states[number] == "prepared" else "running", processes=known)
        if self.states[number] == "coming":
            self.states[number] = "running"
        if self.states[number] == "running":
            self.tell_all(number)

    def on_add(self, _, number, line):
        if "flood" in line.get("argv", []):
            self.say(number, do="refused", number=line["number"], text="too many requests wait: cancel some")
        elif self.prepared and "argv" not in line:
            found = self.prepared.popleft()
            self.say(number, do="added", number=line["number"], process=found, ready=True)
            self.hand_over(found, number)
        else:
            found, self.next = self.next, self.next + 1
            self.states[found], self.parents[found] = "coming", number
            self.queue.append((found, number, line))
            self.say(number, do="added", number=line["number"], process=found, ready=False)
            self.tell_all(found)

    def on_cancel(self, _, number, line):
        for found, by, asked in self.queue:
            if (by, asked["number"]) == (number, line["number"]):
                self.queue.remove((found, by, asked))
                self.say(number, do="done", number=line["number"])
                self.gone(found, "stopped")
                return
        if line.get("there"):
            self.say(number, do="done", number=line["number"])
            return
        self.say(number, do="refused", number=line["number"], text="it is there already")

    def on_stop(self, _, number, line):
        self.say(number, do="done", number=line["number"])
        waiting = [each for each in self.queue if each[0] == line["process"]]
        if waiting:
            self.queue.remove(waiting[0])
            self.gone(line["process"], "stopped")
        else:
            self.say(line["process"], do="leave")

    def on_group(self, _, number, line):
        (self.groups[number].add if line["join"] else self.groups[number].discard)(line["name"])
        self.tell_all(number)
        self.say(number, do="done", number=line["number"])

    def on_returning(self, _, number, line):
        if line["processes"] > 64:
            self.say(number, do="refused", number=line["number"], text="so many there are not")
        else:
            self.say(number, do="done", number=line["number"])

    def on_iteration(self, *_):
        pass

    def on_bye(self, _, number, __):
        self.gone(number, "ended", code=0)


class Proxy:
    """Passes bytes between two ends of TCP, and cuts that: what is on its way is lost, which neither end sees of itself."""

    def __init__(self, address):
        host, port = address.removeprefix("tcp://").rsplit(":", 1)
        self.to, self.pairs, self.running, self.stalled, self.cuts = (host, int(port)), [], True, False, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"tcp://127.0.0.1:{self.listener.getsockname()[1]}"
        self.lock = threading.Lock()
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def cut(self):
        """Everything that the proxy holds is lost, and both ends lose their connection."""
        with self.lock:
            for pair in self.pairs:
                for end in pair:
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # a reset
                    end.close()
            self.cuts += bool(self.pairs)
            self.pairs.clear()

    def serve(self):
        while self.running:
            time.sleep(0.0005)  # whoever cuts has the lock then
            with self.lock:
                ends = {a: b for pair in self.pairs for a, b in (pair, pair[::-1])}
                for end in select.select([self.listener, *([] if self.stalled else ends)], [], [], 0)[0]:
                    if end is self.listener:
                        near = self.listener.accept()[0]
                        self.pairs.append((near, socket.create_connection(self.to)))
                    elif any(end in pair for pair in self.pairs):
                        self.pass_on(end, ends[end])

    def pass_on(self, end, other):
        try:
            got = end.recv(65536)
            other.settimeout(10)
            if got:
                other.sendall(got)
                return
        except OSError:
            pass
        self.pairs = [pair for pair in self.pairs if end not in pair]
        end.close()
        other.close()

    def close(self):
        self.running = False
        self.thread.join(10)
        self.cut()
        self.listener.close()


def kill(process):
    process.child.send_signal(signal.SIGKILL)
    process.child.wait()
