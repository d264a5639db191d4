"""Malleable jobs that grow by allocations of their own, onto other hosts of a cluster, and give these back."""

import contextlib
import os
import signal

import pytest

from clusters import wait_until
from clusters.pleat import ENDED, Pleat, go_file
from patience import PATIENCE
from test_hosts import PATHS, agent_of, both_mpis, let_go, ranks, ring

# with proctrack/linuxproc ranks get SIGTERM, too, as soon as somebody ends their allocation: what is left of it is of no use
SETTINGS = {"KillWait": round(30 * PATIENCE)}
TIMES = f"""
lifetime_s = 0
apply_s = {60 * PATIENCE}
shrink_s = {60 * PATIENCE}
vacate_s = {60 * PATIENCE}
attempts = 9
"""


@pytest.fixture(name="pleat", scope="module")
def fixture_pleat(three):
    pleat = Pleat(three, f'kind = slurm conf = "{three.conf}" partition = main', ["srun"], more=TIMES)
    yield pleat
    pleat.finish()


def has(pleat, *wanted):
    """What squeue says of its allocations: (host, processors) of each, the oldest first."""
    wait_until(lambda: allocations(pleat) == list(wanted), f"its allocations are {wanted}: {pleat.log()}")


def allocations(pleat):
    lines = pleat.cluster.command("squeue", "-h", "-S", "i", "-o", "%N %C").splitlines()
    return [(line.split()[0], int(line.split()[1])) for line in lines if len(line.split()) == 2]


def on(pleat, job, name, size):
    """Its ranks by host, once it computes with `size` ranks."""
    def there():
        shown = pleat.job(job)
        assert shown["state"] not in ENDED, (shown, pleat.output(job), pleat.log())
        found = ranks(pleat, name)
        return found if (shown["state"] == "running" and shown["processors"] == size and
                         (shown["progress"] or {}).get("iteration") and sum(map(len, found.values())) == size) else None
    return wait_until(there, f"job {job} computes on {size}: {pleat.log()}")


def resized(pleat, job, name, size):
    pleat.run("limits", job, "--max", size)
    return on(pleat, job, name, size)


def begun(pleat, mpi, name, go=None, options=("--min", 1, "--max", 2)):
    """It goes on until there is the file `go`, which its nodes must see; without one for 450 iterations, more where resizes
    take longer."""
    words = ["--until", go, "--pause", 10] if go else ["--iterations", round(450 * PATIENCE), "--pause", 10]
    slowly = ["--iterations", 1000000] if name in ("filter", "fourier") else []  # what they compute fades until then
    job = pleat.submit("--initial", 2, *options, "--", f"{PATHS[mpi]}/{name}", *words, *slowly)
    return job, on(pleat, job, name, 2)


def ends(pleat, job, go=None):
    if go:
        let_go(pleat, go)
    ended = pleat.until(job, *ENDED)
    assert ended["state"] == "done" and pleat.output(job).count("RESULT ok") == 1, (ended, pleat.output(job), pleat.log())
    pleat.cluster.until_empty()
    pleat.cluster.until_idle()  # hosts that are being left are passed over: the next job begins on the first one
    return ended


# those with one MPI redistribute by the same calls of libpleat with both
@pytest.mark.parametrize("mpi, name", [*((mpi, name) for name in ("heat", "loop", "nbody") for mpi in ("openmpi", "mpich")),
                                       ("mpich", "dense"), ("openmpi", "sparse"), ("mpich", "filter"), ("openmpi", "fourier"),
                                       ("mpich", "matmul"), ("openmpi", "workers")])
def test_it_grows_onto_another_host_and_back(pleat, mpi, name):
    go = go_file(f"go-{name}-{mpi}")
    job, there = begun(pleat, mpi, name, go)
    has(pleat, ("a1", 2))
    assert list(there) == ["a1"]
    there = resized(pleat, job, name, 4)
    has(pleat, ("a1", 2), ("a2", 2))
    assert {host: len(pids) for host, pids in there.items()} == {"a1": 2, "a2": 2}
    there = resized(pleat, job, name, 2)
    has(pleat, ("a1", 2))
    assert list(there) == ["a1"]
    wait_until(lambda: pleat.cluster.states()["a2"] == "idle", "what it gave back is idle")
    last = 4 if name == "fourier" else 3  # which runs on powers of 2
    resized(pleat, job, name, last)
    has(pleat, ("a1", 2), ("a2", last - 2))
    ended = ends(pleat, job, go)
    assert [(r["from"], r["to"], r["outcome"]) for r in ended["history"]["resizes"]] == [
        (2, 4, "grown"), (4, 2, "shrunk"), (2, last, "grown")]
    assert {r["way"] for r in ended["history"]["resizes"]} == {"relaunch"}  # the old ones computed until the new ones waited


def test_it_uses_what_it_holds(pleat):
    """A processor that it gave back stays in an allocation that it has, and is the last one that there is. Its last
    processors are of another allocation."""
    go = go_file("go-holds")
    job, _ = begun(pleat, "openmpi", "loop", go)
    for size in (4, 3, 5):
        resized(pleat, job, "loop", size)
    has(pleat, ("a1", 2), ("a2", 2), ("a3", 2))
    there = resized(pleat, job, "loop", 6)
    assert {host: len(pids) for host, pids in there.items()} == {"a1": 2, "a2": 2, "a3": 2}
    has(pleat, ("a1", 2), ("a2", 2), ("a3", 2))
    resized(pleat, job, "loop", 2)
    has(pleat, ("a1", 2))
    ends(pleat, job, go)


def test_hosts_are_left_for_others_and_taken_again(pleat):
    """As policies choose: those that it took last first, one or both. Others start there without a new allocation."""
    go = go_file("go-room")
    job, _ = begun(pleat, "mpich", "loop", go)
    for size in (4, 6):
        resized(pleat, job, "loop", size)
    has(pleat, ("a1", 2), ("a2", 2), ("a3", 2))
    for size, kept in ((2, ["a1", "a2"]), (4, ["a1"])):
        hold = go_file(f"go-hold-{size}")
        other = pleat.submit("-n", size, *ring("mpich", hold=hold))
        assert sorted(on(pleat, job, "loop", 6 - size)) == kept
        wait_until(lambda number=other: pleat.job(number)["state"] == "running", f"the other one runs: {pleat.log()}")
        has(pleat, ("a1", 2), ("a2", 2), ("a3", 2))
        let_go(pleat, hold)
        assert pleat.until(other, *ENDED)["state"] == "done", pleat.log()
        on(pleat, job, "loop", 6)
    assert ends(pleat, job, go)["attempt"] == 0


def over_two(pleat, mpi, go):
    job, _ = begun(pleat, mpi, "loop", go)
    there = resized(pleat, job, "loop", 4)
    has(pleat, ("a1", 2), ("a2", 2))
    return job, {pid for pids in there.values() for pid in pids}


def again(pleat, job, attempt, before):
    """It has been started again, and nothing is left of its last start."""
    def there():
        shown = pleat.job(job)
        assert shown["state"] not in ENDED, (shown, pleat.log())
        pids = {pid for own in ranks(pleat, "loop").values() for pid in own}
        return pids if shown["attempt"] == attempt and len(pids) == shown["processors"] and not before & pids else None
    return wait_until(there, f"attempt {attempt} of job {job}: {pleat.log()}")


def test_an_allocation_is_taken_away(pleat):
    """That of the host it grew onto, then one with its first host: it waits again each time, and says why. It keeps the
    other one, and begins there, in the second case led by the agent of that host."""
    go = go_file("go-scancel")
    job, before = over_two(pleat, "openmpi", go)
    for attempt, place in ((1, -1), (2, 0)):
        jobs = sorted(pleat.cluster.jobs(), key=int)
        pleat.cluster.command("scancel", jobs[place])
        before = again(pleat, job, attempt, before)
        assert jobs[1 + place] in pleat.cluster.jobs(), (jobs, pleat.events(job))
        assert f"its allocation {jobs[place]} on a" in pleat.run("events", job).stdout
        if attempt == 1:
            resized(pleat, job, "loop", 2)
            before = {pid for pids in resized(pleat, job, "loop", 4).values() for pid in pids}
    ends(pleat, job, go)


def test_the_time_of_an_allocation_is_nearly_over(pleat):
    """It is shortened in Slurm: the job leaves that one, goes on, and grows by another one."""
    go = go_file("go-lent")
    job, _ = over_two(pleat, "openmpi", go)
    second = max(pleat.cluster.jobs(), key=int)
    pleat.cluster.command("scontrol", "update", f"JobId={second}", "TimeLimit=1")

    def left():
        shown = pleat.job(job)
        assert shown["state"] not in ENDED and shown["attempt"] == 0, (shown, pleat.log())
        return second not in pleat.cluster.jobs() and shown["processors"] == 4 and shown["state"] == "running"
    wait_until(left, f"it has left it, and has grown again: {pleat.log()}", limit_s=120)
    resizes = pleat.job(job)["history"]["resizes"]
    assert [(r["from"], r["to"], r["by"], r["outcome"]) for r in resizes] == [
        (2, 4, "policy", "grown"), (4, 2, "site", "shrunk"), (2, 4, "policy", "grown")]
    assert "the time of its processors is over" in pleat.run("events", job).stdout
    ends(pleat, job, go)


@both_mpis
def test_pleatd_is_killed_while_it_grows(pleat, mpi):
    go = go_file(f"go-pleatd-{mpi}")
    job, _ = begun(pleat, mpi, "loop", go)
    for size in (4, 2, 4):
        pleat.run("limits", job, "--max", size)
        pleat.kill_daemon()
        on(pleat, job, "loop", size)
    # An agent that was started twice, with two keys, is turned away, and its allocation goes back: the next one may be elsewhere.
    def there():
        first, *others = allocations(pleat)
        return first == ("a1", 2) and sum(count for host, count in others if host != "a1") == 2 == sum(count for _, count in others)
    wait_until(there, f"its allocations are on a1 and elsewhere: {allocations(pleat)} {pleat.log()}")
    assert pleat.job(job)["attempt"] == 0
    # agents that have not called the new pleatd yet are not taken for old ones
    assert "before Pleat was upgraded" not in pleat.log()
    ends(pleat, job, go)


def test_an_agent_of_the_other_host_is_killed(pleat):
    go = go_file("go-agent")
    job, before = over_two(pleat, "mpich", go)
    [agent] = pleat.cluster.world["a2"].pids("pleat-agent")
    os.kill(agent, signal.SIGKILL)
    again(pleat, job, 1, before)
    assert "its agent has ended" in pleat.log()
    ends(pleat, job, go)


def held_by_others(pleat, *hosts):
    """Somebody else's jobs, which have all of these hosts."""
    jobs = [pleat.cluster.command("sbatch", "--parsable", "-N1", "-n2", "-w", host, "-o", "/dev/null",
                                  text_in="#!/bin/sh\nsleep 100000\n").strip() for host in hosts]
    wait_until(lambda: all(pleat.cluster.jobs().get(job) == "RUNNING" for job in jobs), "somebody else has the hosts")
    return jobs


@contextlib.contextmanager
def configured(pleat, old, new):
    """pleatd is started anew with another configuration, and afterwards with the one before."""
    conf = pleat.path("pleat.conf")
    before = conf.read_text()
    pleat.run("stop")
    conf.write_text(before.replace(old, new))
    yield
    pleat.run("stop")
    conf.write_text(before)


def site_is(pleat, **wanted):
    def there():
        [site] = pleat.ask("sites")["sites"]
        return {key: site[key] for key in wanted} == wanted
    wait_until(there, f"{wanted}: {pleat.run('sites').stdout}{pleat.log()}")


def test_what_others_use_is_left_to_them(pleat):
    """A job grows into what is idle, less the threshold, and further when somebody else's job has ended."""
    go = go_file("go-others")
    with configured(pleat, "agent_s = 30", "agent_s = 30 threshold = 1"):
        others = held_by_others(pleat, "a3")
        job, _ = begun(pleat, "openmpi", "loop", go)
        site_is(pleat, used=2, background=2, free=2, threshold=1)
        pleat.run("limits", job, "--max", 6)
        on(pleat, job, "loop", 3)
        has(pleat, ("a3", 2), ("a1", 2), ("a2", 1))
        site_is(pleat, used=3, background=2, free=1, threshold=1)
        assert "(threshold)" in pleat.run("why", job).stdout, pleat.run("why", job)
        refused = pleat.run("grow", job, "1", check=False)
        assert refused.returncode and "2 are busy with what is not Pleat's, 1 are never used for growing" in refused.stderr
        pleat.cluster.command("scancel", *others)
        on(pleat, job, "loop", 5)
        ends(pleat, job, go)


def test_a_start_waits_for_what_others_use(pleat):
    """With background = start it does so in Pleat: nothing of it is in Slurm's queue."""
    go = go_file("go-start")
    with configured(pleat, "agent_s = 30", "agent_s = 30 background = start"):
        others = held_by_others(pleat, "a2", "a3")
        first, _ = begun(pleat, "openmpi", "loop", go, options=("--min", 2, "--max", 4))  # could grow: the cluster is asked
        site_is(pleat, used=2, background=4, free=0)
        job = pleat.submit("--", "hostname")
        why = wait_until(lambda: "4 kept busy by others" in pleat.run("why", job).stdout, "it waits in Pleat")
        assert why and not waits(pleat) and pleat.job(job)["state"] == "queued"
        pleat.cluster.command("scancel", others.pop())
        assert pleat.until(job, *ENDED)["state"] == "done", pleat.log()
        assert pleat.output(job) == "a3\n"
        pleat.cluster.command("scancel", *others)
        let_go(pleat, go)
        assert pleat.until(first, *ENDED)["state"] == "done"
        pleat.cluster.until_empty()
        pleat.cluster.until_idle()


def waits(pleat):
    return [job for job, state in pleat.cluster.jobs().items() if state == "PENDING"]


def test_a_growth_waits_in_the_queue(pleat):
    """Its job computes meanwhile. What does not come in time is taken back; what was about to come then is released."""
    conf = pleat.path("pleat.conf")
    text = conf.read_text()
    pleat.run("stop")
    conf.write_text(text.replace("agent_s = 30", "agent_s = 30 grow_s = 600"))
    go = go_file("go-queue")
    others = held_by_others(pleat, "a2", "a3")
    job, _ = begun(pleat, "openmpi", "loop", go)
    pleat.run("limits", job, "--max", 4)
    wait_until(lambda: waits(pleat), "the growth is in the queue")
    before = pleat.job(job)["progress"]["iteration"]
    wait_until(lambda: pleat.job(job)["progress"]["iteration"] > before + 20, "it computes")
    pleat.kill_daemon()
    assert pleat.job(job)["state"] == "resizing" and len(waits(pleat)) == 1
    pleat.cluster.command("scancel", others.pop())
    on(pleat, job, "loop", 4)
    has(pleat, ("a2", 2), ("a1", 2), ("a3", 2))
    # nobody wants it any more: its job ends while the growth waits
    pleat.run("limits", job, "--max", 6)
    wait_until(lambda: waits(pleat), "another growth is in the queue")
    let_go(pleat, go)
    assert pleat.until(job, *ENDED)["state"] == "done"
    pleat.cluster.command("scancel", *others)
    pleat.cluster.until_empty()
    # in vain
    pleat.run("stop")
    conf.write_text(text.replace("agent_s = 30", "agent_s = 30 grow_s = 1"))
    others = held_by_others(pleat, "a2", "a3")
    go = go_file("go-in-vain")
    job, _ = begun(pleat, "openmpi", "loop", go)
    pleat.run("limits", job, "--max", 4)
    wait_until(lambda: "grow 2 -> 4: timed out" in pleat.run("events", job).stdout, "it gives up")
    pleat.run("limits", job, "--max", 2)
    wait_until(lambda: not waits(pleat), "its request is taken back")
    pleat.cluster.command("scancel", *others)
    has(pleat, ("a1", 2))
    ends(pleat, job, go)
    conf.write_text(text)
