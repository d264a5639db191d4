"""A malleable job on a cluster whose allocations are all equally short: it goes from one to the next."""

import re

import pytest

from clusters import wait_until
from clusters.pleat import Pleat, go_file
from test_malleable import TIMES, begun, ends
from test_taken import SETTINGS, resizes  # noqa: F401


@pytest.fixture(name="pleat", scope="module")
def fixture_pleat(three):
    pleat = Pleat(three, f'kind = slurm conf = "{three.conf}" partition = main leave_s = 5', ["srun"],
                  more=TIMES + 'malleability = "none"\n')
    conf = pleat.path("pleat.conf")
    conf.write_text(conf.read_text().replace("limit_s = 600", "limit_s = 120"))
    yield pleat
    pleat.finish()


def test_all_allocations_are_equally_short(pleat):
    """Of each it has to leave half for the notice, so the next one has to be left before the first one's time is over. It goes
    from one to the next, is no other attempt, and computes nothing twice."""
    go = go_file("go-short")
    job, _ = begun(pleat, "mpich", "loop", go, ("--min", 1, "--max", 4))
    firsts, reached = set(pleat.cluster.jobs()), 0
    for times in range(1, 4):
        wanted = times * [(2, 4, "site", "grown"), (4, 2, "site", "shrunk")]
        wait_until(lambda wanted=wanted: resizes(pleat, job)[:len(wanted)] == wanted or pleat.job(job)["attempt"],
                   f"it has gone on {times} times: {pleat.events(job)} {pleat.log()}", limit_s=180)
        assert pleat.job(job)["attempt"] == 0, (pleat.events(job), pleat.log())
        [*_, at] = map(int, re.findall(r"it goes on from iteration (\d+)", pleat.events(job)))
        assert at > reached, pleat.events(job)
        reached = at
    assert not firsts & set(pleat.cluster.jobs()), pleat.cluster.jobs()
    assert "Slurm ends its allocation" not in pleat.events(job), pleat.events(job)
    assert ends(pleat, job, go)["attempt"] == 0
