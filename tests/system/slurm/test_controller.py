"""A controller that is there, and is full, or answers nonsense: jobs wait, with the reason, nothing of theirs is lost, and
they go on when it is well again."""

import contextlib

import pytest

from clusters import wait_until
from clusters.pleat import Counted, Pleat
from clusters.slurm import PORT
from test_faults import restart, until_why

MOST = 8
SETTINGS = {"MaxJobCount": MOST, "MinJobAge": 2}  # jobs that are over count until they are forgotten

# Takes connections and says something that is no answer: noise; the length of 2 GiB; nothing, and ends.
RUBBISH = """
import os, socket, sys
said = {"noise": os.urandom(70000), "length": b"\\x7f\\xff\\xff\\xff" + bytes(1000), "nothing": b""}[sys.argv[1]]
with socket.create_server(("", int(sys.argv[2])), backlog=50) as server:
    print("listens", flush=True)
    while True:
        with server.accept()[0] as caller:
            try:
                caller.sendall(said)
            except OSError:
                pass
"""

@contextlib.contextmanager
def pleat_of(slurm, name, more="", path=""):
    pleat = Pleat(slurm, f'kind = slurm conf = "{slurm.conf}" partition = main {more}', ["srun"], name=name)
    pleat.env["PATH"] = path + pleat.env["PATH"]
    try:
        yield pleat
    except BaseException:
        print(pleat.log(), pleat.run("ps", "-a", check=False).stdout, slurm.command("squeue", check=False).stdout)
        raise
    finally:
        pleat.finish()


@pytest.fixture(name="pleat", scope="module")
def fixture_pleat(three):
    with pleat_of(three, "library") as pleat:
        yield pleat


def has_no_errors(pleat):
    [site] = pleat.ask("sites")["sites"]
    assert site["state"] == "ok" and site["failed_starts"] == 0, (site, pleat.log())


def fill(slurm):
    """Somebody else's jobs, until no more are taken: sbatch tries again then, for minutes."""
    jobs = []
    for _ in range(MOST + 1):
        done = slurm.command("timeout", "4", "sbatch", "--parsable", "--hold", "-o", "/dev/null", text_in="#!/bin/sh\ntrue\n",
                             check=False)
        if done.returncode:
            assert jobs and "emporarily unable to accept job" in done.stderr, done
            return jobs
        jobs.append(done.stdout.strip())
    raise AssertionError(f"it takes more than {MOST} jobs: {slurm.jobs()}")


def test_it_has_as_many_jobs_as_it_may(pleat):
    slurm = pleat.cluster
    runs = Counted(pleat, "runs")
    runs.begun()
    others = fill(slurm)
    later = Counted(pleat, "later")
    wait_until(lambda: "Slurm gave no allocation: " in pleat.events(later.number), f"it is told: {pleat.log()}")
    restart(pleat)
    assert pleat.job(later.number)["state"] in ("queued", "claiming", "placed") and not later.lines()
    runs.is_done_once()
    slurm.command("scancel", *others)
    later.is_done_once()
    has_no_errors(pleat)
    slurm.until_empty()


@contextlib.contextmanager
def rubbish(slurm, what):
    """Instead of the controller."""
    slurm.stop_controller()
    server = slurm.head.start("python3", "-c", RUBBISH, what, str(PORT))
    wait_until(slurm.listens, "somebody else is there")
    try:
        yield
    finally:
        server.kill()
        slurm.start_controller()


def goes_on_after_rubbish(pleat, what):
    """While somebody else has the controller's port, and talks rubbish there."""
    runs = Counted(pleat, "runs")
    runs.begun()
    with rubbish(pleat.cluster, what):
        if what == "noise":
            restart(pleat)
        later = Counted(pleat, "later")
        runs.let_go()
        wait_until(lambda: len(runs.lines()) == 2, "the job has gone on without a controller")
        until_why(pleat, later.number, "the site cannot be asked now")
        assert not later.lines()
    later.begun()
    for job in (runs, later):
        job.is_done_once()
    has_no_errors(pleat)
    pleat.cluster.until_empty()


@pytest.mark.parametrize("what", ["noise", "length", "nothing"])
def test_somebody_else_has_its_port(pleat, what):
    goes_on_after_rubbish(pleat, what)
