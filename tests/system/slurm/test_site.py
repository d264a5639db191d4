"""A site of the kind slurm: jobs of Pleat in allocations of a real cluster, which come, wait, and are taken away."""

import hashlib
import os
import signal

import pytest

from clusters import wait_until
from clusters.pleat import APPS, BIN, ENDED, Pleat, go_file, until_file
from clusters.world import USER


@pytest.fixture(name="pleat", scope="module")
def fixture_pleat(slurms):
    pleat = Pleat(slurms[0], f'kind = slurm conf = "{slurms[0].conf}" partition = main', ["srun"])
    yield pleat
    pleat.finish()


def hold_all(slurm):
    """All of the cluster is somebody else's."""
    job = slurm.command("sbatch", "--parsable", "-N2", "--exclusive", "-o", "/dev/null", text_in="#!/bin/sh\nsleep 100000\n")
    job = job.strip()
    wait_until(lambda: slurm.jobs().get(job) == "RUNNING", "somebody else has all of it")
    return job


def test_a_command_runs_on_a_node(pleat):
    assert pleat.run("run", "hostname").stdout == "a1\n", pleat.log()
    pleat.cluster.until_empty()
    [site] = pleat.ask("sites")["sites"]
    assert (site["kind"], site["processors"], site["used"], site["nodes"]) == ("slurm", 8, 0, []), site


def test_an_mpi_job(pleat):
    job = pleat.submit("-n", 3, "--", f"{APPS}/ring", "--iterations", 20)
    assert pleat.until(job, *ENDED)["state"] == "done", (pleat.log(), pleat.output(job))
    assert pleat.output(job).startswith("RESULT ok") and "ranks=3" in pleat.output(job)
    pleat.cluster.until_empty()


def test_standard_input_is_passed_on(pleat):
    text = "".join(f"line {number} of many\n" for number in range(300000))
    known = hashlib.md5(text.encode()).hexdigest() + "  -"

    def run(*words, given=text):
        return pleat.head.run(f"{BIN}/pleat", "run", *words, user=USER, env=pleat.env, text_in=given).stdout.splitlines()
    assert run("--", "md5sum") == [known]
    assert run("--", "cat", given="") == [] == run("--", "true")
    code = 'case $OMPI_COMM_WORLD_RANK in 0) md5sum;; *) echo "others $(wc -c)";; esac'
    assert sorted(run("-n", 2, "--mpi", "openmpi", "--runner", "mpi", "--", "sh", "-c", code)) == sorted([known, "others 0"])
    pleat.cluster.until_empty()


def test_waits_in_slurms_queue(pleat):
    other = hold_all(pleat.cluster)
    job = pleat.submit("--", "hostname")
    waits = wait_until(lambda: "others have the processors" in pleat.run("why", job).stdout or
                       "others in that queue go first" in pleat.run("why", job).stdout, pleat.log())
    assert waits
    pleat.cluster.command("scancel", other)
    assert pleat.until(job, *ENDED)["state"] == "done"
    assert pleat.output(job) in ("a1\n", "a2\n")
    # what is not wanted any more does not stay in the queue
    other = hold_all(pleat.cluster)
    job = pleat.submit("--", "hostname")
    wait_until(lambda: len(pleat.cluster.jobs()) == 2, "it waits there")
    pleat.run("cancel", job)
    wait_until(lambda: list(pleat.cluster.jobs()) == [other], "only the other one is left")
    pleat.cluster.command("scancel", other)
    pleat.cluster.until_empty()


def test_a_job_too_large_for_any_node_is_refused(pleat):
    job = pleat.submit("-n", 5, "--", "true")
    assert pleat.until(job, *ENDED)["state"] == "failed"
    assert pleat.cluster.jobs() == {}


def test_cancel(pleat):
    job = pleat.submit(*until_file(go_file("never")))
    pleat.until(job, "running")
    pleat.run("cancel", job)
    assert pleat.until(job, *ENDED)["state"] == "cancelled"
    pleat.cluster.until_empty()


def test_an_allocation_cancelled_from_outside(pleat):
    """The job waits again, with a reason, and gets another one."""
    go = go_file("after-scancel")
    job = pleat.submit(*until_file(go))
    pleat.until(job, "running")
    [allocation] = pleat.cluster.jobs()
    pleat.cluster.command("scancel", allocation)
    wait_until(lambda: [number for number in pleat.cluster.jobs() if number != allocation], "another allocation")
    assert "was ended by Slurm: " in pleat.log() or "is given up: its agent has ended" in pleat.log()
    pleat.until(job, "running")
    pleat.cluster.world.path(go).touch()
    assert pleat.until(job, *ENDED)["state"] == "done"
    pleat.cluster.until_empty()


def test_a_job_goes_on_while_pleatd_is_killed(pleat):
    go = go_file("after-restart")
    job = pleat.submit(*until_file(go))
    pleat.until(job, "running")
    before = pleat.cluster.jobs()
    pleat.kill_daemon()
    wait_until(lambda: not pleat.adapters(), "its adapter is gone, too")
    assert pleat.cluster.jobs() == before
    pleat.run("info")  # starts another one
    shown = pleat.until(job, "running")
    assert shown["attempt"] == 0, shown
    pleat.cluster.world.path(go).touch()
    assert pleat.until(job, *ENDED)["state"] == "done"
    assert pleat.output(job).count("\n") == 1, "it was started again"
    pleat.cluster.until_empty()


def test_the_adapter_is_killed(pleat):
    """Its allocations are found again by the next one."""
    go = go_file("after-adapter")
    job = pleat.submit(*until_file(go))
    pleat.until(job, "running")
    [adapter] = pleat.adapters()
    os.kill(adapter, signal.SIGKILL)
    wait_until(lambda: [pid for pid in pleat.adapters() if pid != adapter], "another one")
    pleat.cluster.world.path(go).touch()
    assert pleat.until(job, *ENDED)["state"] == "done"
    assert pleat.output(job).count("\n") == 1
    pleat.cluster.until_empty()
