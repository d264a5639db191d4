"""A real Grid Engine cluster beside two of Slurm's, on hosts in namespaces, for all tests of a file."""

import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))

import clusters  # noqa: E402
from clusters import gridengine, slurm  # noqa: E402


def skip_loudly():
    """With pytest's -rs, and ctest shows such a test as skipped."""
    why_not = clusters.cannot(*gridengine.PROGRAMS, *slurm.PROGRAMS)
    if why_not:
        pytest.skip(why_not)


@pytest.fixture(scope="module", name="world")
def fixture_world():
    """Hosts of the clusters g, a and b: g0, g1, g2, a0, a1, b0, b1."""
    skip_loudly()
    hosts = clusters.GridEngine.hosts("g", 2) + clusters.Slurm.hosts("a", 1) + clusters.Slurm.hosts("b", 1)
    with clusters.World(hosts, build=os.environ["PLEAT_BUILD"], instead=gridengine.known_machine()) as world:
        yield world


@pytest.fixture(scope="module", name="slurms")
def fixture_slurms(world):
    return [clusters.Slurm(world, name, nodes=1) for name in "ab"]


@pytest.fixture(scope="module", name="grid")
def fixture_grid(request, world, slurms):
    grid = clusters.GridEngine(world, "g", **getattr(request.module, "QUEUE", {}))
    for one in (grid, *slurms):
        one.start()
    for one in (grid, *slurms):
        one.until_idle()
    return grid
