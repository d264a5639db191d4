"""Somebody ends an allocation, and Slurm tells all of its processes at once, as it does unless it follows process groups; after
that it leaves them some time, in which Pleat's agent holds its runs."""

import pytest

from clusters import wait_until
from clusters.pleat import ENDED, Pleat, go_file

SETTINGS = {"KillWait": 30}  # Slurm's default
LOOP = 'echo begun; while [ ! -e "$1" ]; do sleep 0.05; done; echo went'


@pytest.fixture(name="pleat", scope="module")
def fixture_pleat(three):
    pleat = Pleat(three, f'kind = slurm conf = "{three.conf}" partition = main', ["srun"])
    yield pleat
    pleat.finish()


def cancelled(pleat, trap, go):
    """A job that has begun, and whose allocation is being ended."""
    job = pleat.submit("--", "sh", "-c", f"{trap}; {LOOP}", "loop", go)
    wait_until(lambda: pleat.job(job)["state"] == "running" and pleat.output(job) == "begun\n", f"it has begun: {pleat.log()}")
    pleat.cluster.command("scancel", *pleat.cluster.jobs())
    return job


@pytest.mark.parametrize("code", [0, 3])
def test_a_program_that_ends(pleat, code):
    """However it does: its job was cut off, waits again, and begins anew."""
    go = go_file(f"go-told-{code}")
    job = cancelled(pleat, f"trap 'exit {code}' TERM", go)
    wait_until(lambda: pleat.job(job)["attempt"] == 1 and pleat.output(job) == "begun\nbegun\n",
               f"it begins anew: {pleat.events(job)} {pleat.log()}")
    pleat.cluster.world.path(go).touch()
    ended = pleat.until(job, *ENDED)
    assert (ended["state"], ended["attempt"]) == ("done", 1) and pleat.output(job) == "begun\nbegun\nwent\n", (ended, pleat.events(job))
    pleat.cluster.until_empty()


def test_a_program_that_goes_on(pleat):
    """... and ends while it may: that was its own end."""
    go = go_file("go-ignoring")
    job = cancelled(pleat, "trap '' TERM", go)
    wait_until(lambda: "it has " in pleat.events(job), f"it is to leave: {pleat.events(job)} {pleat.log()}")
    pleat.cluster.world.path(go).touch()
    ended = pleat.until(job, *ENDED)
    assert (ended["state"], ended["attempt"]) == ("done", 0) and pleat.output(job) == "begun\nwent\n", (ended, pleat.events(job))
    pleat.cluster.until_empty()
