"""Pleat as the user of a cluster's first host has it, with one site: that cluster."""

import json
import os
import re
import signal
import socket

from .world import LIMIT_S, SHARED, USER, USER_ID, wait_until

HOME = f"{SHARED}/home/{USER}"
BIN, APPS = f"{SHARED}/build/bin", f"{SHARED}/build/apps"
# Jobs' ranks give way while they wait (tests/system/app_yield.c), since hosts have more processors than there are; but those of
# folded jobs, in which libpleat-fold decides that.
YIELD = f"{SHARED}/build/tests/libtest-app-yield.so"
# They look for no fabric, as those of other tests do (pleat_fabric_tests in cmake/tests.cmake).
OPENMPI = {"OMPI_MCA_mtl": "^ofi", "OMPI_MCA_pml": "ob1"}
CONFIG = """
site "c1" {{ {site} agent_s = 30 limit_s = 600 }}
idle_exit_s = 0
backoff_s = 0.5
try_s = 0.1
"""
ENDED = ("done", "failed", "cancelled")
OWN = ("pleatd", "pleat-agent", "pleat-guard", "mpirun", "ring")


class Pleat:
    """site: its kind and options; starters: programs of the batch system that the adapter starts; head: where it runs, if
    not on the cluster's first host; more: of the configuration; others: further clusters on which it leaves nothing."""

    def __init__(self, cluster, site, starters, head=None, name="p", more="", others=()):
        self.cluster, self.head = cluster, head or cluster.head
        self.others = others
        self.adapter = cluster.adapter[0]
        self.starters = starters
        self.dir = f"{HOME}/{name}"
        self.env = {"PLEAT_DIR": self.dir, "PATH": f"{BIN}:/usr/bin:/bin", "PLEAT_TEST_PROGRESS_MS": "50", **OPENMPI}
        self.head.run("install", "-d", "-m", "700", self.dir, user=USER)
        self.path("pleat.conf").write_text(CONFIG.format(site=site) + more)

    def path(self, name):
        return self.cluster.world.path(f"{self.dir}/{name}")

    def yielding(self, words):
        """What comes before a command that submits a job."""
        folded = any(str(word).startswith(("--processes", "--fold")) for word in words)
        there = words[0] in ("submit", "run") and not folded and self.cluster.world.path(YIELD).exists()
        return ["env", f"LD_PRELOAD={YIELD}"] if there else []

    def run(self, *words, check=True):
        return self.head.run(*self.yielding(words), f"{BIN}/pleat", *words, user=USER, env=self.env, check=check)

    def ask(self, *words):
        return json.loads(self.run(*words, "--json").stdout)

    def entries(self, *words):
        """What a command says in entries: [label, text] each, with its lines together."""
        return [line.split(None, 1) for line in re.sub(r"\n +", " ", self.run(*words).stdout).splitlines()]

    def submit(self, *words):
        return int(self.run("submit", *words).stdout)

    def ask_daemon(self, method, **params):
        """What pleatd itself answers; None: it does not, or with an error. A command in a host takes a hundred times as long, of a
        processor that those need who are waited for."""
        mine, directory = os.geteuid(), os.open(self.path(""), os.O_PATH)
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(LIMIT_S)
            os.seteuid(USER_ID)  # pleatd answers to nobody else
            try:
                connection.connect(f"/proc/self/fd/{directory}/pleatd.sock")
            except OSError:
                return None
            finally:
                os.seteuid(mine)
                os.close(directory)
            hello = {"method": "hello", "params": {"protocol": 1, "role": "client"}}
            asked = {"id": 1, "method": method, "params": params}
            try:
                connection.sendall(b"".join(json.dumps(message).encode() + b"\n" for message in (hello, asked)))
                with connection.makefile("rb") as said:
                    answers = (json.loads(line) for line in said)
                    return next((answer.get("result") for answer in answers if answer.get("id") == 1), None)
            except ConnectionError:
                return None

    def job(self, number):
        return self.ask_daemon("job", job=number) or self.ask("show", number)

    def until(self, number, *states):
        def there():
            job = self.job(number)
            assert job["state"] in states or job["state"] not in ENDED, (job, self.log())
            return job if job["state"] in states else None
        return wait_until(there, f"job {number} is one of {states}: {self.log()}")

    def events(self, number):
        return self.run("events", number).stdout

    def until_log(self, text):
        wait_until(lambda: text in self.log(), f"'{text}' is in the log: {self.log()}")

    def output(self, number):
        return self.path(f"jobs/{number}/stdout").read_text()

    def log(self):
        return self.path("pleatd.log").read_text(errors="replace") if self.path("pleatd.log").exists() else ""

    def daemons(self):
        return self.head.pids("pleatd")

    def kill_daemon(self):
        [pid] = self.daemons()
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: pid not in self.head.pids(), "pleatd is gone")

    def adapters(self):
        """Of a long name the kernel keeps 15 letters."""
        return self.head.pids(self.adapter[:15])

    def replay(self):
        """What the policies of this build decide from the inputs that pleatd has recorded of the cluster."""
        return json.loads(self.run("sim", "--replay", f"{self.dir}/log.sqlite", "--json", check=False).stdout)

    def finish(self):
        """Its log decides the same again. Then it ends in order: nothing is left of it anywhere."""
        again = self.replay()
        assert again["same"] and again["decisions"] > 0, again
        self.run("stop", "--force")
        mine = (*OWN, *(cluster.adapter[0][:15] for cluster in (self.cluster, *self.others)), *self.starters)
        for cluster in (self.cluster, *self.others):
            cluster.until_empty()
        for host in (self.head, *(node for cluster in (self.cluster, *self.others) for node in cluster.nodes)):
            wait_until(lambda host=host: not [pid for name in mine for pid in host.pids(name)],
                       f"no process of it ({', '.join(mine)}) on {host.name}: {self.log()}")
            left = host.run("sh", "-c", "ls -d /dev/shm/*pleat* 2>/dev/null", check=False).stdout
            assert left == "", (host.name, left)
        assert not list(self.path("").glob("agent-*.key"))


def go_file(name):
    return f"{HOME}/{name}"


def until_file(path):
    return ["--", "sh", "-c", 'hostname; while [ ! -e "$1" ]; do sleep 0.05; done', "until-file", path]


class Counted:
    """A job that writes a line where it begins, waits to be let go, and writes another one."""

    SCRIPT = 'echo "begin $(hostname)" >>"$1"; while [ ! -e "$2" ]; do sleep 0.05; done; echo end >>"$1"'

    def __init__(self, pleat, name, *options):
        self.pleat = pleat
        self.done, self.go = (f"{HOME}/{pleat.dir.rsplit('/', 1)[1]}-{name}.{end}" for end in ("done", "go"))
        for path in (self.done, self.go):
            pleat.cluster.world.path(path).unlink(missing_ok=True)
        self.number = pleat.submit(*options, "--", "sh", "-c", self.SCRIPT, "counted", self.done, self.go)

    def lines(self):
        path = self.pleat.cluster.world.path(self.done)
        return path.read_text().split("\n")[:-1] if path.exists() else []

    def begun(self):
        """Waits for that; where it did last."""
        def there():
            return [line.split()[1] for line in self.lines() if line.startswith("begin")]
        return wait_until(there, f"job {self.number} has begun: {self.pleat.log()}")[-1]

    def let_go(self):
        self.pleat.cluster.world.path(self.go).touch()

    def ends(self, state="done"):
        self.let_go()
        shown = self.pleat.until(self.number, *ENDED)
        assert shown["state"] == state, (shown, self.pleat.log())
        return shown

    def is_done_once(self):
        shown = self.ends()
        assert shown["attempt"] == 0 and len(self.lines()) == 2, (shown, self.lines(), self.pleat.log())
