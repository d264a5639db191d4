"""A site of the kind slurm: jobs of Pleat in allocations of a real cluster, which come, wait, and are taken away."""

import json
import os
import signal

import pytest

from clusters import wait_until
from clusters.world import USER

HOME = f"/media/home/{USER}"
BIN, APPS = "/media/build/bin", "/media/build/apps"
CONFIG = """
site "c1" {{ kind = slurm conf = "{conf}" partition = main agent_s = 30 limit_s = 600 }}
idle_exit_s = 0
backoff_s = 0.5
try_s = 0.1
"""
ENDED = ("done", "failed", "cancelled")


class Pleat:
    """As the user of a cluster's first host has it."""

    def __init__(self, slurm):
        self.slurm, self.head = slurm, slurm.head
        self.dir = f"{HOME}/p"
        self.env = {"PLEAT_DIR": self.dir, "PATH": f"{BIN}:/usr/bin:/bin", "PLEAT_TEST_PROGRESS_MS": "50"}
        self.head.run("install", "-d", "-m", "700", self.dir, user=USER)
        self.path("pleat.conf").write_text(CONFIG.format(conf=slurm.conf))

    def path(self, name):
        return self.slurm.world.path(f"{self.dir}/{name}")

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

    def finish(self):
        """Ends it in order: nothing is left of it anywhere."""
        self.run("stop", "--force")
        self.slurm.until_empty()
        mine = ("pleatd", "pleat-agent", "pleat-guard", "pleat-slurm", "srun", "mpirun", "ring")
        for host in (self.head, *self.slurm.nodes):
            wait_until(lambda host=host: not [pid for name in mine for pid in host.pids(name)],
                       f"no process of it on {host.name}")
            left = host.run("sh", "-c", "ls -d /dev/shm/*pleat* 2>/dev/null", check=False).stdout
            assert left == "", (host.name, left)
        assert not list(self.path("").glob("agent-*.key"))


@pytest.fixture(name="pleat", scope="module")
def fixture_pleat(slurms):
    pleat = Pleat(slurms[0])
    yield pleat
    pleat.finish()


def go_file(name):
    return f"{HOME}/{name}"


def until_file(path):
    return ["--", "sh", "-c", 'hostname; while [ ! -e "$1" ]; do sleep 0.05; done', "until-file", path]


def hold_all(slurm):
    """All of the cluster is somebody else's."""
    job = slurm.command("sbatch", "--parsable", "-N2", "--exclusive", "-o", "/dev/null", text_in="#!/bin/sh\nsleep 100000\n")
    job = job.strip()
    wait_until(lambda: slurm.jobs().get(job) == "RUNNING", "somebody else has all of it")
    return job


def test_a_command_runs_on_a_node(pleat):
    assert pleat.run("run", "hostname").stdout == "a1\n", pleat.log()
    pleat.slurm.until_empty()
    [site] = pleat.ask("sites")["sites"]
    assert (site["kind"], site["processors"], site["used"], site["nodes"]) == ("slurm", 8, 0, []), site


def test_an_mpi_job(pleat):
    job = pleat.submit("-n", 3, "--", f"{APPS}/ring", "--iterations", 20)
    assert pleat.until(job, *ENDED)["state"] == "done", (pleat.log(), pleat.output(job))
    assert pleat.output(job).startswith("RESULT ok") and "ranks=3" in pleat.output(job)
    pleat.slurm.until_empty()


def test_waits_in_slurms_queue(pleat):
    other = hold_all(pleat.slurm)
    job = pleat.submit("--", "hostname")
    waits = wait_until(lambda: "others have the processors" in pleat.run("why", job).stdout or
                       "others in that queue go first" in pleat.run("why", job).stdout, pleat.log())
    assert waits
    pleat.slurm.command("scancel", other)
    assert pleat.until(job, *ENDED)["state"] == "done"
    assert pleat.output(job) in ("a1\n", "a2\n")
    # what is not wanted any more does not stay in the queue
    other = hold_all(pleat.slurm)
    job = pleat.submit("--", "hostname")
    wait_until(lambda: len(pleat.slurm.jobs()) == 2, "it waits there")
    pleat.run("cancel", job)
    wait_until(lambda: list(pleat.slurm.jobs()) == [other], "only the other one is left")
    pleat.slurm.command("scancel", other)
    pleat.slurm.until_empty()


def test_a_job_too_large_for_any_node_is_refused(pleat):
    job = pleat.submit("-n", 5, "--", "true")
    assert pleat.until(job, *ENDED)["state"] == "failed"
    assert pleat.slurm.jobs() == {}


def test_cancel(pleat):
    job = pleat.submit(*until_file(go_file("never")))
    pleat.until(job, "running")
    pleat.run("cancel", job)
    assert pleat.until(job, *ENDED)["state"] == "cancelled"
    pleat.slurm.until_empty()


def test_an_allocation_cancelled_from_outside(pleat):
    """The job waits again, with a reason, and gets another one."""
    go = go_file("after-scancel")
    job = pleat.submit(*until_file(go))
    pleat.until(job, "running")
    [allocation] = pleat.slurm.jobs()
    pleat.slurm.command("scancel", allocation)
    wait_until(lambda: [number for number in pleat.slurm.jobs() if number != allocation], "another allocation")
    assert "was ended by Slurm: " in pleat.log() or "is given up: its agent has ended" in pleat.log()
    pleat.until(job, "running")
    pleat.slurm.world.path(go).touch()
    assert pleat.until(job, *ENDED)["state"] == "done"
    pleat.slurm.until_empty()


def test_a_job_goes_on_while_pleatd_is_killed(pleat):
    go = go_file("after-restart")
    job = pleat.submit(*until_file(go))
    pleat.until(job, "running")
    before = pleat.slurm.jobs()
    pleat.kill_daemon()
    wait_until(lambda: not pleat.head.pids("pleat-slurm"), "its adapter is gone, too")
    assert pleat.slurm.jobs() == before
    pleat.run("info")  # starts another one
    shown = pleat.until(job, "running")
    assert shown["attempt"] == 0, shown
    pleat.slurm.world.path(go).touch()
    assert pleat.until(job, *ENDED)["state"] == "done"
    assert pleat.output(job).count("\n") == 1, "it was started again"
    pleat.slurm.until_empty()


def test_the_adapter_is_killed(pleat):
    """Its allocations are found again by the next one."""
    go = go_file("after-adapter")
    job = pleat.submit(*until_file(go))
    pleat.until(job, "running")
    [adapter] = pleat.head.pids("pleat-slurm")
    os.kill(adapter, signal.SIGKILL)
    wait_until(lambda: [pid for pid in pleat.head.pids("pleat-slurm") if pid != adapter], "another one")
    pleat.slurm.world.path(go).touch()
    assert pleat.until(job, *ENDED)["state"] == "done"
    assert pleat.output(job).count("\n") == 1
    pleat.slurm.until_empty()
