"""Malleable jobs that grow by allocations of their own, onto other hosts of a cluster, and give these back."""

import os
import signal

import pytest

import clusters
from clusters import wait_until
from clusters.pleat import ENDED, Pleat, go_file
from conftest import skip_loudly
from test_hosts import PATHS, agent_of, both_mpis, let_go, ranks

TIMES = """
lifetime_s = 0
apply_s = 60
shrink_s = 60
vacate_s = 60
attempts = 9
"""


@pytest.fixture(name="pleat", scope="module")
def fixture_pleat():
    """Three hosts of two processors each."""
    skip_loudly()
    with clusters.World(clusters.Slurm.hosts("a", 3), build=os.environ["PLEAT_BUILD"]) as world:
        slurm = clusters.Slurm(world, "a", nodes=3, cpus=2)
        slurm.start()
        slurm.until_idle()
        pleat = Pleat(slurm, f'kind = slurm conf = "{slurm.conf}" partition = main', ["srun"])
        with open(pleat.path("pleat.conf"), "a", encoding="utf-8") as conf:
            conf.write(TIMES)
        yield pleat
        pleat.finish()


def has(pleat, *wanted):
    """What squeue says of its allocations: (host, processors) of each, the oldest first."""
    def there():
        lines = pleat.cluster.command("squeue", "-h", "-S", "i", "-o", "%N %C").splitlines()
        return [tuple(line.split()) for line in lines] == [(host, str(count)) for host, count in wanted]
    wait_until(there, f"its allocations are {wanted}: {pleat.log()}")


def on(pleat, job, name, size):
    """Its ranks by host, once it computes with so many."""
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
    words = ["--until", go, "--pause", 2] if go else ["--iterations", 500, "--pause", 10]
    job = pleat.submit("--initial", 2, *options, "--", f"{PATHS[mpi]}/{name}", *words)
    return job, on(pleat, job, name, 2)


def ends(pleat, job, go=None):
    if go:
        let_go(pleat, go)
    ended = pleat.until(job, *ENDED)
    assert ended["state"] == "done" and pleat.output(job).count("RESULT ok") == 1, (ended, pleat.output(job), pleat.log())
    pleat.cluster.until_empty()
    return ended


@both_mpis
@pytest.mark.parametrize("name", ["heat", "loop"])
def test_it_grows_onto_another_host_and_back(pleat, mpi, name):
    go = go_file(f"go-{mpi}") if name == "loop" else None
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
    resized(pleat, job, name, 3)
    has(pleat, ("a1", 2), ("a2", 1))
    ended = ends(pleat, job, go)
    assert [(r["from"], r["to"], r["outcome"]) for r in ended["history"]["resizes"]] == [
        (2, 4, "grown"), (4, 2, "shrunk"), (2, 3, "grown")]
