"""Somebody ends the first allocation of a job whose nodes do not see the home of the user's machine."""

import pytest

from clusters import wait_until
from clusters.pleat import ENDED, HOME, Pleat
from clusters.world import USER, USER_ID
from patience import PATIENCE
from test_hosts import PATHS
from test_malleable import TIMES, has, on, resized

SETTINGS = {"KillWait": round(15 * PATIENCE), "ProctrackType": "proctrack/pgid"}  # as in test_taken


@pytest.fixture(name="pleat", scope="module")
def fixture_pleat(three):
    for node in three.nodes:  # somebody's home, but not that of the first host
        node.run("mount", "-t", "tmpfs", "-o", f"mode=700,uid={USER_ID},gid={USER_ID}", "none", HOME)
    pleat = Pleat(three, f'kind = slurm conf = "{three.conf}" partition = main', ["srun"], more=TIMES)
    yield pleat
    for node in three.nodes:
        assert node.run("ls", "-A", HOME, user=USER).stdout == "", f"something is left in the home of {node.name}"
    pleat.finish()


def test_it_cannot_leave_the_first_allocation(pleat):
    """Its files are sent there, and are nowhere else. The job says so, is ended with that allocation, keeps the other one, and
    begins anew there."""
    job = pleat.submit("--initial", 2, "--min", 1, "--max", 2, "--", f"{PATHS['openmpi']}/loop", "--iterations", 100000, "--pause", 10)
    on(pleat, job, "loop", 2)
    resized(pleat, job, "loop", 4)
    has(pleat, ("a1", 2), ("a2", 2))
    first, second = sorted(pleat.cluster.jobs(), key=int)
    pleat.cluster.command("scancel", first)
    wait_until(lambda: pleat.job(job)["attempt"] == 1, f"it waits again: {pleat.log()}")
    there, events = on(pleat, job, "loop", 4), pleat.events(job)
    assert "warning: it cannot leave the node from which it is led: its files are sent there" in events, events
    assert "mandatory shrink 4 -> 2: application failed (its site takes processors back)" in events, events
    assert len(there["a2"]) == 2 and second in pleat.cluster.jobs(), (there, events, pleat.log())
    wait_until(lambda: first not in pleat.cluster.jobs(), "Slurm, too, has seen the end of the allocation (until then it is COMPLETING)")
    pleat.run("cancel", job)
    pleat.until(job, *ENDED)
    pleat.cluster.until_empty()
