"""Folded jobs on a Slurm cluster: on one of its hosts, or on several of them, within an allocation. Nothing confines jobs to their processors there,
and the hosts share this machine's CPUs."""

import os
import re
import signal

import pytest

from clusters import wait_until
from clusters.pleat import ENDED, Pleat, go_file
from test_hosts import PATHS, both_mpis, let_go, ranks
from test_malleable import configured, has, held_by_others

CPUS = sorted(os.sched_getaffinity(0))
FJT = "approach = launcher\nmoldability = fjt\nmalleability = partition\n"
LOCAL = ("--fold", "queue=local")  # each process stays on its processor, as the tests of where they are need
pytestmark = pytest.mark.skipif(len(CPUS) < 2, reason="needs two CPUs")


@pytest.fixture(name="pleat", scope="module")
def fixture_pleat(three):
    pleat = Pleat(three, f'kind = slurm conf = "{three.conf}" partition = main background = start', ["srun"], more="lifetime_s = 0\n")
    yield pleat
    pleat.finish()


def ring(mpi, go, iterations=60):
    return ["--", f"{PATHS[mpi]}/ring", "--iterations", iterations, "--hold", go]


def attached(pleat, job, processes, processors, attempt=0):
    """Waits until it is folded like that; what is shown of it."""
    def there():
        shown = pleat.job(job)
        assert shown["state"] not in ENDED, (shown, pleat.events(job), pleat.log())
        folded = shown["folded"] or {}
        same = (folded.get("attached"), folded.get("processors"), shown["processors"]) == (processes, processors, processors)
        return shown if same and (shown["state"], shown["attempt"]) == ("running", attempt) else None
    return wait_until(there, f"job {job} has {processes} processes on {processors} processors: {pleat.log()}")


def cpus_of(pids):
    """Those on which the main threads of processes may run."""
    return {cpu for pid in pids for cpu in os.sched_getaffinity(pid)}


def on_cpus(pids, count):
    wait_until(lambda: len(cpus_of(pids)) == count, f"they are on {count} CPUs: {cpus_of(pids)}")


def ends_well(pleat, job, go, size, attempt=0):
    let_go(pleat, go)
    ended = pleat.until(job, *ENDED)
    assert (ended["state"], ended["attempt"]) == ("done", attempt), (ended, pleat.output(job), pleat.log())
    assert pleat.output(job).count(f"RESULT ok ring ranks={size} ") == 1, pleat.output(job)
    pleat.cluster.until_empty()
    return ended


@both_mpis
def test_it_is_folded_within_its_allocation(pleat, mpi):
    """With --one-node on as many processors as a host has; it changes its partition there, and no other host is asked for."""
    go = go_file(f"go-{mpi}")
    job = pleat.submit("--processes", 4, "--one-node", *LOCAL, *ring(mpi, go))
    shown = attached(pleat, job, 4, 2)
    assert (shown["runner"], shown["processes"], shown["mpl"]) == ("folded", 4, 2)
    [(host, pids)] = ranks(pleat).items()
    has(pleat, (host, 2))
    on_cpus(pids, 2)
    assert not shown["folded"]["chosen"]  # this machine has as many CPUs as a host has processors
    for change, size in (("shrink", 1), ("grow", 2)):
        pleat.run(change, job, 1)
        attached(pleat, job, 4, size)
        on_cpus(pids, size)
        assert ranks(pleat) == {host: pids}
    refused = pleat.run("grow", job, 1, check=False)
    assert refused.returncode == 1 and "grows only within its allocation there, which has 2" in refused.stderr, refused.stderr
    why = pleat.run("why", job).stdout
    assert "it stays on one node of c1, and has all of its allocation there" in re.sub(r"\s+", " ", why), why
    has(pleat, (host, 2))
    ended = ends_well(pleat, job, go, 4)
    assert [(r["from"], r["to"], r["outcome"]) for r in ended["history"]["resizes"]] == [(2, 1, "shrunk"), (1, 2, "grown")]
    # what it computes is what it computes unfolded, over two hosts
    plain = pleat.submit("-n", 4, *ring(mpi, go))
    assert pleat.until(plain, *ENDED)["state"] == "done"
    assert pleat.output(plain) == pleat.output(job)
    pleat.cluster.until_empty()


def test_cpus_are_chosen_where_it_may_use_more(pleat):
    """Two allocations of one processor each, on a host: one CPU each, of those that this machine has."""
    go = go_file("go-chosen")
    jobs = [pleat.submit("--processes", 2, "--max", 1, *ring(mpi, go)) for mpi in ("openmpi", "mpich")]
    shown = [attached(pleat, job, 2, 1) for job in jobs]
    [(host, pids)] = ranks(pleat).items()
    has(pleat, (host, 1), (host, 1))
    assert len(pids) == 4
    chosen = [int(one["folded"]["cpus"]) for one in shown]
    assert all(one["folded"]["chosen"] for one in shown) and chosen[0] != chosen[1], shown
    assert cpus_of(pids) == set(chosen)
    text = pleat.run("show", jobs[0]).stdout
    assert f"on CPUs {chosen[0]} (chosen by Pleat, since nothing confines it there)" in re.sub(r"\s+", " ", text), text
    let_go(pleat, go)
    for job in jobs:
        ends_well(pleat, job, go, 2)


def test_room_is_made_by_folding(pleat):
    """fjt: a short job runs on a processor of a long one's allocation, which has it back afterwards. A short one that needs
    a whole host is given none of this one, which the long one cannot leave."""
    with configured(pleat, "lifetime_s = 0\n", "lifetime_s = 0\n" + FJT):
        others = held_by_others(pleat, "a2", "a3")
        wait_until(lambda: pleat.ask("sites")["sites"][0]["background"] == 4, "it knows of them")
        go, hold = go_file("go-long"), go_file("go-short")
        long = pleat.submit("--processes", 4, "--one-node", "--class", "long", *ring("openmpi", go))
        attached(pleat, long, 4, 2)
        brief = pleat.submit("-n", 1, "--class", "short", "--", "sh", "-c", f"until [ -e {hold} ]; do sleep 0.05; done; hostname")
        pleat.until(brief, "running")
        attached(pleat, long, 4, 1)
        has(pleat, ("a2", 2), ("a3", 2), ("a1", 2))  # others' are older
        let_go(pleat, hold)
        assert pleat.until(brief, *ENDED)["state"] == "done" and pleat.output(brief) == "a1\n"
        attached(pleat, long, 4, 2)
        two = pleat.submit("-n", 2, "--one-node", "--class", "short", "--", "true")
        wait_until(lambda: pleat.job(two)["state"] == "queued", "it waits")
        pleat.cluster.command("scancel", *others)
        assert pleat.until(two, *ENDED)["state"] == "done"
        ended = ends_well(pleat, long, go, 4)
        assert [(r["from"], r["to"], r["outcome"]) for r in ended["history"]["resizes"]] == [(2, 1, "shrunk"), (1, 2, "grown")]


def test_pleatd_is_killed_while_it_shrinks_and_grows(pleat):
    go = go_file("go-pleatd")
    job = pleat.submit("--processes", 4, "--one-node", *ring("mpich", go))
    attached(pleat, job, 4, 2)
    before = ranks(pleat)
    for change, size in (("shrink", 1), ("grow", 2)):
        pleat.run(change, job, 1)
        pleat.kill_daemon()
        attached(pleat, job, 4, size)
        assert ranks(pleat) == before
    refused = pleat.run("grow", job, 1, check=False)
    assert refused.returncode == 1 and "which has 2" in refused.stderr  # which was told again, or kept
    ends_well(pleat, job, go, 4)


def test_its_agent_is_killed(pleat):
    """It waits again, and is folded anew, in another allocation."""
    go = go_file("go-agent")
    job = pleat.submit("--processes", 4, "--one-node", *ring("openmpi", go))
    attached(pleat, job, 4, 2)
    [(host, before)] = ranks(pleat).items()
    [agent] = pleat.cluster.world[host].pids("pleat-agent")
    os.kill(agent, signal.SIGKILL)
    attached(pleat, job, 4, 2, attempt=1)
    assert not set(before) & {pid for pids in ranks(pleat).values() for pid in pids}
    assert "its agent has ended" in pleat.log()
    ends_well(pleat, job, go, 4, attempt=1)


@both_mpis
def test_it_is_folded_on_several_hosts(pleat, mpi):
    """Each host folds its own part. It computes what it computes unfolded."""
    go = go_file(f"go-hosts-{mpi}")
    job = pleat.submit("--processes", 6, "--min", 3, "--max", 3, *LOCAL, *ring(mpi, go))
    shown = attached(pleat, job, 6, 3)
    there = ranks(pleat)
    assert sorted(map(len, there.values())) == [2, 4], there
    assert len(pleat.cluster.jobs()) == 1
    assert [(node["attached"], node["processors"]) for node in sorted(shown["folded"]["nodes"], key=lambda node: node["node"])] == [
        (len(pids), len(pids) // 2) for _, pids in sorted(there.items())]
    for pids in there.values():
        on_cpus(pids, len(pids) // 2)
    pleat.kill_daemon()
    attached(pleat, job, 6, 3)
    assert ranks(pleat) == there
    ends_well(pleat, job, go, 6)
    plain = pleat.submit("-n", 6, *ring(mpi, go))
    assert pleat.until(plain, *ENDED)["state"] == "done"
    assert pleat.output(plain) == pleat.output(job)
    pleat.cluster.until_empty()


@both_mpis
def test_it_changes_its_partition_on_several_hosts(pleat, mpi):
    """Within its allocation: what it gives up stays there for it. pleatd is killed meanwhile."""
    go = go_file(f"go-several-{mpi}")
    job = pleat.submit("--processes", 8, "--max", 4, *ring(mpi, go))
    attached(pleat, job, 8, 4)
    there = ranks(pleat)
    assert sorted(map(len, there.values())) == [4, 4], there
    for change, count, size in (("shrink", 1, 3), ("shrink", 1, 2), ("grow", 2, 4)):
        pleat.run(change, job, count)
        if size == 2:
            pleat.kill_daemon()
        shown = attached(pleat, job, 8, size)
        parts = sorted(node["processors"] for node in shown["folded"]["nodes"])
        assert parts == [size // 2, size - size // 2], parts
        assert ranks(pleat) == there
    refused = pleat.run("shrink", job, 3, check=False)
    assert refused.returncode == 1 and "at most 4 on one of them" in refused.stderr, refused.stderr
    pleat.run("limits", job, "--max", 8)
    refused = pleat.run("grow", job, 1, check=False)
    assert refused.returncode == 1 and "can use 0 more there now" in refused.stderr, refused.stderr
    why = re.sub(r"\s+", " ", pleat.run("why", job).stdout)
    assert "its processes stay on the nodes where they were started" in why, why
    assert len(pleat.cluster.jobs()) == 1
    ended = ends_well(pleat, job, go, 8)
    assert [(r["from"], r["to"], r["outcome"]) for r in ended["history"]["resizes"]] == [
        (4, 3, "shrunk"), (3, 2, "shrunk"), (2, 4, "grown")]


@both_mpis
def test_an_agent_of_its_other_host_is_killed(pleat, mpi):
    go = go_file(f"go-other-{mpi}")
    job = pleat.submit("--processes", 8, "--min", 4, "--max", 4, *ring(mpi, go))
    attached(pleat, job, 8, 4)
    there = ranks(pleat)
    [agent] = pleat.cluster.world[sorted(there)[1]].pids("pleat-agent")
    os.kill(agent, signal.SIGKILL)
    attached(pleat, job, 8, 4, attempt=1)
    assert not {pid for pids in there.values() for pid in pids} & {pid for pids in ranks(pleat).values() for pid in pids}
    ends_well(pleat, job, go, 8, attempt=1)


@pytest.mark.parametrize("moldability, malleability", [("psa", "partition"), ("asp-max", "partition"), ("folding", "folding")])
def test_a_mix_under_one_policy(pleat, moldability, malleability):
    """Folded jobs, one that is to have three processors, and others, more than the cluster holds at a time: all end well."""
    policies = f"approach = launcher\nmoldability = {moldability}\nmalleability = {malleability}\n"
    with configured(pleat, "lifetime_s = 0\n", "lifetime_s = 0\n" + policies):
        def ring_of(mpi, *options):
            return pleat.submit(*options, "--", f"{PATHS[mpi]}/ring", "--iterations", 200)
        folded = {ring_of("openmpi", "--processes", 4, "--class", "long"): 4,
                  ring_of("mpich", "--processes", 2, "--class", "short"): 2,
                  ring_of("openmpi", "--processes", 6, "--min", 3, "--max", 3): 6,
                  ring_of("mpich", "--processes", 3, "--class", "short"): 3}
        others = [pleat.submit("-n", 1, "--class", "short", "--", "true"), pleat.submit("-n", 2, "--one-node", "--", "true")]
        for job in (*folded, *others):
            ended = pleat.until(job, *ENDED)
            assert (ended["state"], ended["attempt"], ended["processors"] <= 4) == ("done", 0, True), (pleat.events(job), pleat.log())
        for job, size in folded.items():
            assert pleat.output(job).count(f"RESULT ok ring ranks={size} ") == 1, pleat.output(job)
        pleat.cluster.until_empty()
