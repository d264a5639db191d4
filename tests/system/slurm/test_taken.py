"""Allocations of a malleable job that somebody ends in Slurm: it leaves them, and goes on with the others.

Slurm sends SIGTERM first, and SIGKILL after KillWait. With proctrack/cgroup, as most clusters have it, only what srun has
started itself gets SIGTERM: the agent. Groups of the kernel are this machine's, so the tests have proctrack/pgid, by which it
is the same."""

import os
import re
import signal
import time

import pytest

from clusters import wait_until
from clusters.pleat import APPS, ENDED, HOME, Pleat, go_file
from patience import PATIENCE
from test_hosts import PATHS, agent_on, both_mpis
from test_malleable import TIMES, begun, ends, has, on, resized

SETTINGS = {"KillWait": round(30 * PATIENCE), "ProctrackType": "proctrack/pgid"}
LEAVES = os.path.join(os.path.dirname(APPS), "tests", "process-leaves")
CRASH = "crash"  # a file that says at which step an agent is to be killed (src/agent/crash.h)


@pytest.fixture(name="pleat", scope="module")
def fixture_pleat(three):
    pleat = Pleat(three, f'kind = slurm conf = "{three.conf}" partition = main', ["srun"], more=TIMES)
    pleat.env["PLEAT_TEST_AGENT_CRASH"] = f"{pleat.dir}/{CRASH}"
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


def over_two(pleat, mpi, go, name="loop"):
    """It is on two allocations; the first one's number, and how far it is."""
    job, _ = begun(pleat, mpi, name, go)
    resized(pleat, job, name, 4)
    has(pleat, ("a1", 2), ("a2", 2))
    return job, min(pleat.cluster.jobs(), key=int), pleat.job(job)["progress"]["iteration"]


@both_mpis
def test_the_first_allocation_is_cancelled(pleat, mpi):
    """The job, which is led from there, goes on on the other one from where it was: it is no other attempt, and nothing is
    computed twice. Then it grows again, by another one."""
    go = go_file(f"go-first-{mpi}")
    job, first, before = over_two(pleat, mpi, go)
    pleat.cluster.command("scancel", first)
    left(pleat, job, first, 4, 2)
    there = on(pleat, job, "loop", 4)
    assert len(there["a2"]) == 2 and len(there) == 2, (there, pleat.log())
    events = pleat.events(job)
    [at] = re.findall(r"it goes on from iteration (\d+)", events)
    assert int(at) >= before and pleat.job(job)["progress"]["iteration"] >= int(at), events
    assert ends(pleat, job, go)["attempt"] == 0


@pytest.mark.parametrize("delay_s", [None, 0, 1, 2.5])
def test_pleatd_is_killed_while_it_leaves(pleat, delay_s):
    """The next one knows of the notice, or is told of it again, and the job goes on. None: it is gone before the agent hears
    of it."""
    go = go_file(f"go-killed-{delay_s}")
    job, first, _ = over_two(pleat, "openmpi", go)
    if delay_s is None:
        pleat.kill_daemon()
        pleat.cluster.command("scancel", first)
        time.sleep(1)  # for Slurm's SIGTERM, of which nobody else is told
    else:
        pleat.cluster.command("scancel", first)
        time.sleep(delay_s)  # it is anywhere between that and the end of the move
        pleat.kill_daemon()
    left(pleat, job, first, 4, 2)
    assert ends(pleat, job, go)["attempt"] == 0


def test_the_other_agent_calls_late(pleat):
    """After pleatd was killed, when it is known already that the job has to leave. An agent that has not called yet is not taken
    for one of before an upgrade, which could not do that."""
    go = go_file("go-late")
    job, first, _ = over_two(pleat, "openmpi", go)
    late = agent_on(pleat, "a2")
    os.kill(late, signal.SIGSTOP)
    try:
        pleat.kill_daemon()
        pleat.cluster.command("scancel", first)
        pleat.run("info")
        wait_until(lambda: f"Slurm ends its allocation {first} on " in pleat.events(job), f"it is known: {pleat.log()}")
        wait_until(lambda: any(change[:3] == (4, 2, "site") for change in resizes(pleat, job)), f"it is to leave: {pleat.log()}")
    finally:
        os.kill(late, signal.SIGCONT)
    left(pleat, job, first, 4, 2)
    assert "before Pleat was upgraded" not in pleat.log()
    assert ends(pleat, job, go)["attempt"] == 0


@pytest.mark.parametrize("step", ["lead settle", "part settle"])
def test_an_agent_is_killed_while_it_leaves(pleat, step):
    """The one on the host that is left, or the other one, while both agree on when. Its state is lost: it waits again, keeps what
    is left, and begins anew. Nothing of the first attempt is left."""
    go = go_file(f"go-agent-{step.replace(' ', '-')}")
    job, first, _ = over_two(pleat, "mpich", go)
    pleat.path(CRASH).write_text(step)
    pleat.cluster.command("scancel", first)
    wait_until(lambda: pleat.job(job)["attempt"] == 1, f"it waits again: {pleat.events(job)} {pleat.log()}")
    assert not pleat.path(CRASH).exists()
    on(pleat, job, "loop", 4)
    assert ends(pleat, job, go)["attempt"] == 1


@pytest.mark.parametrize("step", ["lead moved", "lead goes on"])
def test_an_agent_is_killed_at_a_step_of_the_move(pleat, step):
    """Of the host that is left, when the state is saved on the other one, but nobody knows that yet; or of the other one, when
    it has taken the state over. Likewise."""
    go = go_file(f"go-step-{step.replace(' ', '-')}")
    job, first, _ = over_two(pleat, "openmpi", go)
    before = {pid for pids in on(pleat, job, "loop", 4).values() for pid in pids}
    pleat.path(CRASH).write_text(step)
    pleat.cluster.command("scancel", first)
    wait_until(lambda: pleat.job(job)["attempt"] == 1, f"it waits again: {pleat.events(job)} {pleat.log()}")
    assert not pleat.path(CRASH).exists()
    there = {pid for pids in on(pleat, job, "loop", 4).values() for pid in pids}
    assert not before & there, (before, there)
    assert ends(pleat, job, go)["attempt"] == 1


@both_mpis
def test_data_go_with_it(pleat, mpi):
    """What was on the host that is left is right at the end."""
    go = go_file(f"go-data-{mpi}")
    job, first, _ = over_two(pleat, mpi, go, "heat")
    pleat.cluster.command("scancel", first)
    left(pleat, job, first, 4, 2)
    assert ends(pleat, job, go)["attempt"] == 0


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


def test_a_job_that_cannot_do_without_has_a_checkpoint_written(pleat):
    """As before a time limit, but it does not stop with that: it waits again, and goes on from it."""
    go = go_file("go-checkpoint")
    job = pleat.submit("--malleable", "-n", 2, "--time-limit", "1h", "--checkpoint-before-limit", "1min", "--checkpoint-dir", HOME,
                       "--", f"{PATHS['openmpi']}/loop", "--until", go, "--pause", 10)
    on(pleat, job, "loop", 2)
    [taken] = pleat.cluster.jobs()
    pleat.cluster.command("scancel", taken)
    written = wait_until(lambda: pleat.job(job)["checkpoint"], f"it has a checkpoint: {pleat.log()}")
    assert pleat.job(job)["state"] == "running", (pleat.events(job), pleat.log())
    os.kill(agent_on(pleat, "a1"), signal.SIGKILL)  # it need not wait until its time is over
    wait_until(lambda: pleat.job(job)["attempt"] == 1, f"it waits again: {pleat.log()}")
    on(pleat, job, "loop", 2)
    assert f"it goes on from its checkpoint of iteration {written['iteration']}" in pleat.events(job)
    ends(pleat, job, go)
    assert int(re.search(r"iterations=(\d+)", pleat.output(job)).group(1)) >= written["iteration"]


@pytest.mark.parametrize("killed", [False, True])
def test_the_allocation_of_an_added_process_is_cancelled(pleat, killed):
    """An application has added the process itself: it is told to leave, sends what it has, and the run goes on without it. Also
    if nobody hears of that before the next pleatd is there."""
    go = go_file(f"go-added-{killed}")
    job = pleat.submit("--evolving", "-n", 2, "--max", 3, "--", LEAVES, go)
    pleat.until(job, "running")
    wait_until(lambda: "process 2 is here" in pleat.output(job), f"it has come: {pleat.log()}")
    first, added = sorted(pleat.cluster.jobs(), key=int)
    if killed:
        pleat.kill_daemon()
    pleat.cluster.command("scancel", added)
    if killed:
        pleat.run("info")
    wait_until(lambda: "is gone" in pleat.output(job), f"it leaves: {pleat.events(job)} {pleat.log()}")
    assert pleat.output(job).splitlines() == ["process 2 is here", "process 2 has sent 42", "process 2 is gone: stopped"]
    events = pleat.events(job)
    assert f"Slurm ends its allocation {added} on " in events and "process 2 on node " in events, events
    wait_until(lambda: list(pleat.cluster.jobs()) == [first], f"nothing of it is left there: {pleat.log()}")
    running = pleat.job(job)
    assert (running["state"], running["attempt"]) == ("running", 0), (running, events)
    pleat.cluster.world.path(go).touch()
    assert pleat.until(job, *ENDED)["state"] == "done"
    pleat.cluster.until_empty()
