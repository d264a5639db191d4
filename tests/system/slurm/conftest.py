"""Two real Slurm clusters, on hosts in namespaces, for all tests of a file."""

import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))

import clusters  # noqa: E402
from clusters.slurm import PROGRAMS  # noqa: E402


def skip_loudly():
    """With pytest's -rs, and ctest shows such a test as skipped."""
    why_not = clusters.cannot(*PROGRAMS)
    if why_not:
        pytest.skip(why_not)


@pytest.fixture(scope="module", name="world")
def fixture_world():
    """Hosts of the clusters a and b: a0, a1, a2, b0, b1, b2."""
    skip_loudly()
    keep = [os.environ["PLEAT_BUILD"]] if "PLEAT_BUILD" in os.environ else []
    with clusters.World(clusters.Slurm.hosts("a", 2) + clusters.Slurm.hosts("b", 2), keep=keep) as world:
        yield world


@pytest.fixture(scope="module", name="slurms")
def fixture_slurms(world):
    slurms = [clusters.Slurm(world, name) for name in "ab"]
    for slurm in slurms:
        slurm.start()
    for slurm in slurms:
        slurm.until_idle()
    return slurms
