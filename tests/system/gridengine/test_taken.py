"""Allocations of a malleable job that somebody deletes in Grid Engine: it leaves them, and goes on with the others.

Pleat's jobs that may be on several nodes are submitted with -notify: Grid Engine sends SIGUSR2 first, and SIGKILL after its
queue's `notify`."""

import datetime
import re

import pytest

from clusters import wait_until
from clusters.pleat import APPS, ENDED, Pleat, go_file
from patience import PATIENCE
from test_site import computes

QUEUE = {"notify": str(datetime.timedelta(seconds=40 * PATIENCE))}
TIMES = f"""
lifetime_s = 0
shrink_s = {60 * PATIENCE}
vacate_s = {60 * PATIENCE}
"""


@pytest.fixture(name="pleat", scope="module")
def fixture_pleat(grid):
    pleat = Pleat(grid, f'kind = gridengine root = "{grid.dir}" queue = all.q', ["qrsh"], more=TIMES)
    yield pleat
    pleat.finish()
    for host in grid.nodes:
        wait_until(lambda host=host: not host.pids("sge_shepherd"), f"no job on {host.name}")


def over_two(pleat, apps, go):
    """A job that is on both nodes, by an allocation of its own on each; these, the first one first."""
    job = pleat.submit("--min", 2, "--max", 4, "--initial", 4, "--", f"{apps}/loop", "--until", go, "--pause", 10)
    computes(pleat, job, 4, 1)
    pleat.run("limits", job, "--max", 6)
    computes(pleat, job, 6, 2)
    return job, sorted(pleat.cluster.jobs(), key=int)


@pytest.mark.parametrize("apps", [APPS, f"{APPS}/mpich"], ids=["openmpi", "mpich"])
@pytest.mark.parametrize("which", [1, 0], ids=["second", "first"])
def test_an_allocation_is_deleted(pleat, which, apps):
    """Also the one from where the job is led. Nothing of it is left there long before the end of the notice."""
    go = go_file(f"go-deleted-{which}-{apps == APPS}")
    job, allocations = over_two(pleat, apps, go)
    taken = allocations[which]
    host = next(host for host in pleat.cluster.nodes if host.name == pleat.cluster.host_of(taken))
    before = pleat.job(job)["progress"]["iteration"]
    pleat.cluster.command("qdel", taken)
    wait_until(lambda: [r for r in pleat.job(job)["history"]["resizes"] if (r["by"], r["outcome"]) == ("site", "shrunk")]
               or pleat.job(job)["attempt"], f"it has left allocation {taken}: {pleat.events(job)} {pleat.log()}")
    assert pleat.job(job)["attempt"] == 0, (pleat.events(job), pleat.log())
    assert f"Grid Engine ends its allocation {taken} on {host.name}" in pleat.events(job), pleat.events(job)
    assert "(its site takes processors back)" in pleat.events(job), pleat.events(job)
    wait_until(lambda: taken not in pleat.cluster.all_jobs(), f"Grid Engine has it back: {pleat.log()}")
    if which == 0:
        [at] = re.findall(r"it goes on from iteration (\d+)", pleat.events(job))
        assert int(at) >= before
    pleat.cluster.world.path(go).touch()
    ended = pleat.until(job, *ENDED)
    assert ended["state"] == "done" and ended["attempt"] == 0, (ended, pleat.log())
    assert pleat.output(job).count("RESULT ok") == 1
    pleat.cluster.until_free()


def test_what_pleat_deletes_is_over_at_once(pleat):
    """There is nobody in it who would need the notice."""
    job = pleat.submit("-n", 6, "--", f"{APPS}/ring", "--iterations", 20)
    assert pleat.until(job, *ENDED)["state"] == "done"
    wait_until(lambda: not pleat.cluster.all_jobs(), "its slot is free", limit_s=30)
