"""Evolving jobs whose processes do what a test says (process.py), in an instance of Pleat of their own."""
import importlib.util
import json
import os
import pathlib
import signal
import socket
import sys

_path = pathlib.Path(__file__).resolve().parents[1] / "daemon" / "conftest.py"
_spec = importlib.util.spec_from_file_location("daemon_conftest", _path)
daemon = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(daemon)
pleat = daemon.pleat
wait_until, is_alive, CONFIG, PLEAT = daemon.wait_until, daemon.is_alive, daemon.CONFIG, daemon.PLEAT

PROCESS = str(pathlib.Path(__file__).resolve().with_name("process.py"))
# One process is prepared, as soon as there is none.
KEPT = "buffer = periodic\nbuffer_level = 1\nbuffer_review_s = 0.2\nbuffer_pending = 1\n"
BUFFERED = CONFIG + KEPT
CPUS = sorted(os.sched_getaffinity(0))
# two nodes of two processors each
NODES = (f'site "local" {{ cpus = "{CPUS[0]},{CPUS[0]},{CPUS[-1]},{CPUS[-1]}" nodes = 2 background = ignore }}\n'
         "backoff_s = 0.2\ntry_s = 0.1\nidle_exit_s = 0\n")


class Evolving:
    """A running evolving job."""

    def __init__(self, pleat, *options, env=(), program=(sys.executable, PROCESS)):
        self.pleat = pleat
        self.where = pleat.path("where")
        os.makedirs(self.where, exist_ok=True)
        variables = [word for pair in [("TEST_WHERE", self.where), *env]
                     for word in ("--env", f"{pair[0]}={pair[1]}")]
        self.job = pleat.submit("--evolving", *options, *variables, "--", *program)
        self.number = {}

    def tell(self, process, line):
        """Hands a line to a process, as it is."""
        def connect(): # an earlier process of that number may have left its socket
            peer = socket.socket(socket.AF_UNIX)
            try:
                peer.connect(f"{self.where}/{process}.sock")
                return peer
            except (FileNotFoundError, ConnectionRefusedError):
                peer.close()
                return None
        peer = wait_until(connect, f"process {process} listens")
        peer.sendall(line if isinstance(line, bytes) else line.encode() + b"\n")
        peer.close()

    def is_stubborn(self, process):
        """From now on it does not leave when it is told to."""
        self.tell(process, "STUBBORN")
        self.wait(process, "stubborn")

    def say(self, speaker, what, **members):
        """Lets a process say that to its agent; returns the number of the request."""
        self.number[speaker] = self.number.get(speaker, 0) + 1
        number = members.pop("number", self.number[speaker])
        self.tell(speaker, json.dumps({"do": what, "number": number, **members}))
        return number

    def heard(self, process):
        """What a process has heard, and noted, so far."""
        try:
            with open(f"{self.where}/{process}.log", encoding="utf-8") as file:
                return [json.loads(line) for line in file.read().splitlines()]
        except FileNotFoundError:
            return []

    def wait(self, listener, what, **members):
        """Waits until a process has heard that; returns the last such line."""
        def there():
            found = [line for line in self.heard(listener) if line.get("do") == what and
                     all(line.get(name) == value for name, value in members.items())]
            return found[-1] if found else None
        return wait_until(there, f"process {listener} hears {what} {members}; it has heard "
                                 f"{self.heard(listener)[-5:]}")

    def add(self, process=0, **members):
        """Asks for a process; returns the answer."""
        number = self.say(process, "add", **members)
        return wait_until(lambda: next((line for line in self.heard(process)
                                        if line.get("do") in ("added", "refused") and line["number"] == number), None),
                          f"process {process} has its answer {number}")

    def pid(self, process):
        return self.wait(process, "begun")["pid"]

    def size(self, processors):
        return self.pleat.wait_size(self.job, processors)

    def end(self, code=0):
        """Its first process ends, and with it the job."""
        self.tell(0, f"EXIT {code}")
        return self.pleat.wait_end(self.job)


def kill(pid, how=signal.SIGKILL):
    os.kill(pid, how)
    wait_until(lambda: not is_alive(pid), f"{pid} has ended")
