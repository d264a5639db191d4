"""A site with give_back = nodes: hosts of an allocation go back to Slurm alone, by Slurm's own resizing of jobs."""

import pytest

from clusters import wait_until
from clusters.pleat import Pleat, go_file
from test_hosts import PATHS
from test_malleable import TIMES, ends, has, on, resized


@pytest.fixture(name="pleat", scope="module")
def fixture_pleat(three):
    pleat = Pleat(three, f'kind = slurm conf = "{three.conf}" partition = main give_back = nodes', ["srun"], more=TIMES)
    yield pleat
    pleat.finish()


def test_hosts_of_an_allocation_are_given_back_alone(pleat, three):
    """Of the three hosts of one allocation one goes back to Slurm. Without accounts Slurm resizes a job only once: then the
    job keeps what it has, and grows into it."""
    go = go_file("go-give")
    job = pleat.submit("--initial", 6, "--min", 1, "--max", 6, "--", f"{PATHS['openmpi']}/loop", "--until", go, "--pause", 10)
    on(pleat, job, "loop", 6)
    has(pleat, ("a[1-3]", 6))
    resized(pleat, job, "loop", 4)
    has(pleat, ("a[1-2]", 4))
    wait_until(lambda: three.states()["a3"] == "idle", "the host that it left is idle")
    wait_until(lambda: not three.world["a3"].pids("pleat-agent"), "no agent is left there")
    # a pleatd that is started anew reads the smaller list
    pleat.kill_daemon()
    assert pleat.job(job)["processors"] == 4
    resized(pleat, job, "loop", 2)
    pleat.until_log("keeps its 2 nodes to its end, since Slurm does not take some of them back")
    has(pleat, ("a[1-2]", 4))
    there = resized(pleat, job, "loop", 4)
    assert {host: len(pids) for host, pids in there.items()} == {"a1": 2, "a2": 2}
    has(pleat, ("a[1-2]", 4))
    ends(pleat, job, go)
