"""Pleat as the user of a cluster's first host has it, with one site: that cluster."""

import json
import os
import signal

from .world import SHARED, USER, wait_until

HOME = f"{SHARED}/home/{USER}"
BIN, APPS = f"{SHARED}/build/bin", f"{SHARED}/build/apps"
CONFIG = """
site "c1" {{ {site} agent_s = 30 limit_s = 600 }}
idle_exit_s = 0
backoff_s = 0.5
try_s = 0.1
"""
ENDED = ("done", "failed", "cancelled")
OWN = ("pleatd", "pleat-agent", "pleat-guard", "mpirun", "ring")


class Pleat:
    """site: its kind and options; starters: programs of the batch system that the adapter starts."""

    def __init__(self, cluster, site, starters):
        self.cluster, self.head = cluster, cluster.head
        self.adapter = cluster.adapter[0]
        self.starters = starters
        self.dir = f"{HOME}/p"
        self.env = {"PLEAT_DIR": self.dir, "PATH": f"{BIN}:/usr/bin:/bin", "PLEAT_TEST_PROGRESS_MS": "50"}
        self.head.run("install", "-d", "-m", "700", self.dir, user=USER)
        self.path("pleat.conf").write_text(CONFIG.format(site=site))

    def path(self, name):
        return self.cluster.world.path(f"{self.dir}/{name}")

    def run(self, *words, check=True):
        return self.head.run(f"{BIN}/pleat", *words, user=USER, env=self.env, check=check)

    def ask(self, *words):
        return json.loads(self.run(*words, "--json").stdout)

    def submit(self, *words):
        return int(self.run("submit", *words).stdout)

    def job(self, number):
        return self.ask("show", number)

    def until(self, number, *states):
        def there():
            job = self.job(number)
            assert job["state"] in states or job["state"] not in ENDED, (job, self.log())
            return job if job["state"] in states else None
        return wait_until(there, f"job {number} is one of {states}: {self.log()}")

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
        self.cluster.until_empty()
        mine = (*OWN, self.adapter[:15], *self.starters)
        for host in (self.head, *self.cluster.nodes):
            wait_until(lambda host=host: not [pid for name in mine for pid in host.pids(name)],
                       f"no process of it on {host.name}")
            left = host.run("sh", "-c", "ls -d /dev/shm/*pleat* 2>/dev/null", check=False).stdout
            assert left == "", (host.name, left)
        assert not list(self.path("").glob("agent-*.key"))


def go_file(name):
    return f"{HOME}/{name}"


def until_file(path):
    return ["--", "sh", "-c", 'hostname; while [ ! -e "$1" ]; do sleep 0.05; done', "until-file", path]
