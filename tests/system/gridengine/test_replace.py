"""The only allocation of a malleable job, whose time is over in Grid Engine: the job asks for another one in time, goes on there
with its state, and leaves the first one, before Grid Engine ends that."""

import re

import pytest

from clusters import wait_until
from clusters.pleat import APPS, ENDED, Pleat, go_file
from test_taken import TIMES

QUEUE = {"slots": 2}  # of each node: another allocation of two is on the other node
LIMIT_S = 60  # of the first one, the shortest: allocations are asked for by the minute


@pytest.fixture(name="pleat", scope="module")
def fixture_pleat(grid):
    pleat = Pleat(grid, f'kind = gridengine root = "{grid.dir}" queue = all.q leave_s = 5', ["qrsh"],
                  more=TIMES + 'malleability = "none"\n')
    yield pleat
    pleat.finish()
    for host in grid.nodes:
        wait_until(lambda host=host: not host.pids("sge_shepherd"), f"no job on {host.name}")


def ranks(pleat):
    """The number of its ranks on each node that has some."""
    found = {host.name: len(host.pids("loop")) for host in pleat.cluster.nodes}
    return {name: count for name, count in found.items() if count}


def resizes(pleat, job):
    return [(r["from"], r["to"], r["by"], r["outcome"]) for r in pleat.job(job)["history"]["resizes"]]


def test_the_only_allocation_is_over(pleat):
    """Those that are asked for later have more time: pleatd is killed, and the next one reads another configuration."""
    go = go_file("go-replace")
    conf = pleat.path("pleat.conf")
    later = conf.read_text()
    conf.write_text(later.replace("limit_s = 600", f"limit_s = {LIMIT_S}"))
    job = pleat.submit("--min", 1, "--max", 4, "--initial", 2, "--", f"{APPS}/loop", "--until", go, "--pause", 10)
    pleat.until(job, "running")
    conf.write_text(later)
    pleat.kill_daemon()
    wait_until(lambda: sum(ranks(pleat).values()) == 2 and (pleat.job(job)["progress"] or {}).get("iteration"),
               f"it computes: {pleat.log()}")
    [first] = pleat.cluster.jobs()
    [node] = ranks(pleat)
    before = pleat.job(job)["progress"]["iteration"]
    wanted = [(2, 4, "site", "grown"), (4, 2, "site", "shrunk")]
    wait_until(lambda: resizes(pleat, job)[:2] == wanted or pleat.job(job)["attempt"] or len(resizes(pleat, job)) > 2,
               f"it has left allocation {first}: {pleat.events(job)} {pleat.log()}")
    events = pleat.events(job)
    assert resizes(pleat, job)[:2] == wanted and pleat.job(job)["attempt"] == 0, (events, pleat.log())
    assert "grown (instead of processors whose time is over soon)" in events, events
    assert "shrink 4 -> 2: shrunk (the time of its processors is over)" in events, events
    [other] = [host.name for host in pleat.cluster.nodes if host.name != node]
    wait_until(lambda: ranks(pleat) == {other: 2}, f"it goes on on {other}: {ranks(pleat)} {pleat.log()}")
    wait_until(lambda: first not in pleat.cluster.jobs(), f"allocation {first} has been given back: {pleat.log()}")
    [second] = pleat.cluster.jobs()
    assert pleat.cluster.host_of(second) == other
    [at] = re.findall(r"it goes on from iteration (\d+)", pleat.events(job))[-1:]
    assert int(at) >= before
    pleat.cluster.world.path(go).touch()
    ended = pleat.until(job, *ENDED)
    assert ended["state"] == "done" and ended["attempt"] == 0, (ended, pleat.log())
    assert pleat.output(job).count("RESULT ok") == 1, pleat.output(job)
    assert "Grid Engine ends its allocation" not in pleat.events(job), pleat.events(job)
    pleat.cluster.until_free()
