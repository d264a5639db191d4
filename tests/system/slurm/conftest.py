"""Two real Slurm clusters, on hosts in namespaces, for all tests of a file."""

import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))

import clusters  # noqa: E402
from clusters.slurm import PARTITIONS, PROGRAMS  # noqa: E402
from patience import pytest_collection_modifyitems  # noqa: E402,F401


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


def settings_of(request):
    """A file says with SETTINGS what its clusters have otherwise."""
    return getattr(request.module, "SETTINGS", {})


@pytest.fixture(scope="module", name="slurms")
def fixture_slurms(request, world):
    partitions = PARTITIONS + "\nPartitionName=short Nodes=ALL MaxTime=10 DefaultTime=5 MaxNodes=1 State=UP"
    slurms = [clusters.Slurm(world, name, partitions=partitions, **settings_of(request)) for name in "ab"]
    for slurm in slurms:
        slurm.start()
    for slurm in slurms:
        slurm.until_idle()
    return slurms


@pytest.fixture(scope="module", name="three")
def fixture_three(request):
    """One cluster, of three hosts of two processors each."""
    skip_loudly()
    with clusters.World(clusters.Slurm.hosts("a", 3), build=os.environ["PLEAT_BUILD"]) as world:
        slurm = clusters.Slurm(world, "a", nodes=3, cpus=2, **settings_of(request))
        slurm.start()
        slurm.until_idle()
        yield slurm
