"""Two real Slurm clusters, on hosts in namespaces, for all tests of a file."""

import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))

import clusters  # noqa: E402
from clusters.slurm import PARTITIONS, PROGRAMS  # noqa: E402


def skip_loudly():
    """With pytest's -rs, and ctest shows such a test as skipped."""
    why_not = clusters.cannot(*PROGRAMS)
    if why_not:
        pytest.skip(why_not)


@pytest.fixture(scope="module", name="world")
def fixture_world():
    """Hosts of the clusters a and b: a0, a1, a2, b0, b1, b2."""
    skip_loudly()
    hosts = clusters.Slurm.hosts("a", 2) + clusters.Slurm.hosts("b", 2)
    with clusters.World(hosts, build=os.environ["PLEAT_BUILD"]) as world:
        yield world


@pytest.fixture(scope="module", name="slurms")
def fixture_slurms(world):
    partitions = PARTITIONS + "\nPartitionName=short Nodes=ALL MaxTime=10 DefaultTime=5 MaxNodes=1 State=UP"
    slurms = [clusters.Slurm(world, name, partitions=partitions) for name in "ab"]
    for slurm in slurms:
        slurm.start()
    for slurm in slurms:
        slurm.until_idle()
    return slurms
