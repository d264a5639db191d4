"""An adapter (pleat-slurm, pleat-gridengine), spoken with as pleatd does."""

import json
import os
import select
import subprocess
import time

from patience import PATIENCE

from .world import USER

PROGRAMS = "/media/build/bin"
LIMIT_S = 60


class Refused(Exception):
    def __init__(self, error):
        super().__init__(error)
        self.name, self.text = error["name"], error["text"]


class Adapter:
    """One that runs on a cluster's first host, as an ordinary user."""

    def __init__(self, cluster, *options, interval_ms=200, **environment):
        program, *words = cluster.adapter
        self.process = cluster.head.start(
            "env", *(f"{name}={value}" for name, value in environment.items()),
            f"{PROGRAMS}/{program}", *words, "--interval", interval_ms, *options, user=USER,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.number = 0
        self.rest = b""
        self.notices = []
        self.answers = {}
        self.hello = self.next_message(LIMIT_S)["params"]
        self.say({"method": "hello", "params": {"protocol": 1, "role": "daemon", "version": "test"}})

    def say(self, message):
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.process.outside.stdin.write(line + b"\n")
        self.process.outside.stdin.flush()

    def next_message(self, limit_s):
        """None: nothing is said for this long."""
        end = time.monotonic() + limit_s * PATIENCE
        out = self.process.outside.stdout.fileno()
        while b"\n" not in self.rest:
            if not select.select([out], [], [], max(0, end - time.monotonic()))[0]:
                return None
            said = os.read(out, 65536)
            assert said, ("it has ended", self.process.outside.stderr.read())
            self.rest += said
        line, self.rest = self.rest.split(b"\n", 1)
        return json.loads(line)

    def take(self, limit_s=LIMIT_S):
        """Takes one message in; False: nothing is said for this long."""
        message = self.next_message(limit_s)
        if message is None:
            return False
        if "method" in message:
            self.notices.append((message["method"], message["params"]))
        else:
            self.answers[message["id"]] = message
        return True

    def begin(self, method, **params):
        self.number += 1
        self.say({"id": self.number, "method": method, "params": params})
        return self.number

    def answer(self, number):
        while number not in self.answers:
            assert self.take(), f"no answer to request {number}"
        message = self.answers.pop(number)
        if "error" in message:
            raise Refused(message["error"])
        return message["result"]

    def ask(self, method, **params):
        return self.answer(self.begin(method, **params))

    def allocate(self, name="pleat-test-1", **wish):
        return self.ask("allocate", name=name, **({"count": 1} | wish))

    def release(self, job):
        return self.ask("release", job=job["job"], name=job["name"])

    def notice(self, method, **members):
        """Waits for the next notice of this kind, with these members."""
        while True:
            for index, (kind, params) in enumerate(self.notices):
                if kind == method and all(params.get(name) == value for name, value in members.items()):
                    del self.notices[index]
                    return params
            assert self.take(), f"no notice {method} {members}; there are {self.notices}"

    def end(self):
        """Its input ends; its exit code."""
        self.process.outside.stdin.close()
        code = self.process.wait()
        self.process.outside.stdout.close()
        self.process.outside.stderr.close()
        return code

    def kill(self):
        self.process.kill()
        for stream in (self.process.outside.stdin, self.process.outside.stdout, self.process.outside.stderr):
            stream.close()
