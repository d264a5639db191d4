"""Allocations of a malleable job that somebody ends in Slurm: it leaves them, and goes on with the others.

Slurm sends SIGTERM first, and SIGKILL after KillWait. With proctrack/cgroup, as most clusters have it, only what srun has
started itself gets SIGTERM: the agent. Groups of the kernel are this machine's, so the tests have proctrack/pgid, by which it
is the same."""

import pytest

from clusters import wait_until
from clusters.pleat import ENDED, Pleat, go_file
from test_hosts import both_mpis
from test_malleable import TIMES, begun, ends, has, on, resized

SETTINGS = {"KillWait": 30, "ProctrackType": "proctrack/pgid"}


@pytest.fixture(name="pleat", scope="module")
def fixture_pleat(three):
    pleat = Pleat(three, f'kind = slurm conf = "{three.conf}" partition = main', ["srun"], more=TIMES)
    yield pleat
    pleat.finish()


def resizes(pleat, job):
    return [(r["from"], r["to"], r["by"], r["outcome"]) for r in pleat.job(job)["history"]["resizes"]]


def left(pleat, job, taken, *change):
    """It has left that allocation, and runs on; the event says which, and why."""
    wait_until(lambda: (*change, "site", "shrunk") in resizes(pleat, job) or pleat.job(job)["attempt"],
               f"job {job} has left allocation {taken}: {pleat.log()}")
    events = pleat.run("events", job).stdout
    assert pleat.job(job)["attempt"] == 0, (events, pleat.log())
    assert f"Slurm ends its allocation {taken} on " in events, events
    assert "(its site takes processors back)" in events, events
    wait_until(lambda: taken not in pleat.cluster.jobs(), f"nothing of it is left there: {pleat.log()}")


@both_mpis
def test_the_second_allocation_is_cancelled(pleat, mpi):
    """The job goes on with the first, and grows by another one."""
    go = go_file(f"go-second-{mpi}")
    job, _ = begun(pleat, mpi, "loop", go)
    resized(pleat, job, "loop", 4)
    has(pleat, ("a1", 2), ("a2", 2))
    before = pleat.job(job)["progress"]["iteration"]
    second = max(pleat.cluster.jobs(), key=int)
    pleat.cluster.command("scancel", second)
    left(pleat, job, second, 4, 2)
    on(pleat, job, "loop", 4)
    assert pleat.job(job)["progress"]["iteration"] > before
    assert ends(pleat, job, go)["attempt"] == 0


def test_one_in_the_middle_is_cancelled(pleat):
    """It keeps the one that it got after that."""
    go = go_file("go-middle")
    job, _ = begun(pleat, "openmpi", "loop", go)
    resized(pleat, job, "loop", 4)
    resized(pleat, job, "loop", 6)
    has(pleat, ("a1", 2), ("a2", 2), ("a3", 2))
    _, middle, last = sorted(pleat.cluster.jobs(), key=int)
    pleat.cluster.command("scancel", middle)
    left(pleat, job, middle, 6, 4)
    assert last in pleat.cluster.jobs()
    ends(pleat, job, go)


def test_a_job_that_cannot_do_without_gets_its_signal(pleat):
    """As before a time limit. The program of this one ends in time."""
    script = "trap 'echo told; exit 0' USR1; echo begun; while :; do sleep 0.05; done"
    job = pleat.submit("--signal", "USR1@60s", "--", "sh", "-c", script)
    wait_until(lambda: pleat.job(job)["state"] == "running" and pleat.output(job) == "begun\n", "it runs")
    [taken] = pleat.cluster.jobs()
    pleat.cluster.command("scancel", taken)
    ended = pleat.until(job, *ENDED)
    assert ended["state"] == "done" and ended["attempt"] == 0 and pleat.output(job) == "begun\ntold\n", (ended, pleat.log())
    assert f"Slurm ends its allocation {taken} on " in pleat.run("events", job).stdout
    pleat.cluster.until_empty()
