"""Real MPI programs, folded: unmodified, with libpleat-fold preloaded as the runner does it."""

import os

import pytest

from conftest import BUILD, Failure, until_no_child
from test_agent_fold import A, B, BOTH, ONE, OTHER, resize, two_cpus
from test_agent_mpi import errors, needs_mpich, needs_openmpi, start

LIBRARIES = os.environ.get("PLEAT_FOLD_LIBRARIES", os.path.join(BUILD, "lib"))
LIBRARY = {mpi: os.path.join(LIBRARIES, f"libpleat-fold-{mpi}.so") for mpi in ("openmpi", "mpich")}
APPS = {"openmpi": os.path.join(BUILD, "apps"), "mpich": os.path.join(BUILD, "apps", "mpich")}

pytestmark = pytest.mark.skipif(
    not all(map(os.path.exists, LIBRARY.values())) or not os.path.exists(os.path.join(APPS["openmpi"], "ring")),
    reason="libpleat-fold or the applications are not built")
both_mpis = pytest.mark.parametrize(
    "mpi", [pytest.param("openmpi", marks=needs_openmpi), pytest.param("mpich", marks=needs_mpich)])


@pytest.fixture(name="node")
def fixture_node(world):
    world.first = world.agent(cpus=f"{A},{B}")
    world.daemon.accept()
    return world


def fold(world, mpi, processes, program, *options, slots=BOTH, run=1, **settings):
    words = [os.path.join(APPS[mpi], program), *map(str, options)]
    start(world, run, f"{mpi}:{processes}", "env", f"LD_PRELOAD={LIBRARY[mpi]}", *words, slots=slots,
          fold={"processes": processes, **settings})
    return world.daemon.expect("folded", run, attached=processes)


def hold(world, run=1):
    """Options for a program that does not end before release: from its middle on it exchanges messages and waits."""
    return "--hold", world.directory / f"go-{run}"


def release(world, run=1):
    world.touch(f"go-{run}")


def end(world, run=1):
    """How it ended: the program checks its own result."""
    exited = world.daemon.expect("exited", run)
    assert exited["code"] == 0, errors(world, run)
    assert world.output(run).startswith("RESULT ok"), world.output(run)
    return world.output(run)


def change_until_it_ends(world, run, most):
    """Returns how many changes there were: fewer than `most` where the program has ended before."""
    for number in range(most):
        try:
            resize(world, run * 1000 + number, [BOTH, ONE, BOTH, OTHER][number % 4], run=run)
        except Failure as failure:
            assert failure.name == "state", failure
            return number
    return most


@two_cpus
@both_mpis
@pytest.mark.parametrize("program, options", [
    ("ring", ("--iterations", 50000, "--tokens", 3)),
    ("alltoall", ("--iterations", 20000)),
])
def test_a_hundred_changes_under_load(node, mpi, program, options):
    changes = 0
    results = set()
    for run in range(1, 100):
        fold(node, mpi, 8, program, *options, *hold(node, run), run=run)
        release(node, run)
        changes += change_until_it_ends(node, run, 100 - changes)
        results.add(end(node, run))
        if changes == 100:
            break
    assert changes == 100
    assert len(results) == 1  # they end with a sum of all that was computed
    until_no_child(node)


@both_mpis
def test_detector_balanced(node, mpi):
    fold(node, mpi, 8, "send", "--iterations", 1000000, "--work", 100)
    told = node.daemon.expect("folded", 1, balance="balanced")
    assert (told["queue"], told["queue_by"]) == ("local", "detector")
    node.daemon.call("kill", run=1, grace_s=0)
    node.daemon.expect("exited", 1)


@both_mpis
@pytest.mark.parametrize("factor", [2, 3, 6])
def test_detector_imbalanced(node, mpi, factor):
    fold(node, mpi, 8, "send", "--iterations", 1000000, "--work", 100, "--factor", factor)
    told = node.daemon.expect("folded", 1, balance="imbalanced")
    assert (told["queue"], told["queue_by"]) == ("global", "detector")
    assert told["idleness"] > 0.12
    node.daemon.call("kill", run=1, grace_s=0)
    node.daemon.expect("exited", 1)


@two_cpus
@pytest.mark.parametrize("begin", [pytest.param("local", marks=needs_openmpi), pytest.param("global", marks=needs_mpich)])
def test_heavy_processes_are_spread_before_the_queue_is_global(node, begin):
    """Ranks go round robin: all heavy ones begin on one processor."""
    mpi = {"local": "openmpi", "global": "mpich"}[begin]
    fold(node, mpi, 8, "send", "--iterations", 1000000, "--work", 100, "--factor", 6, mapping="balance", begin=begin)
    told = node.daemon.expect("folded", 1, balance="balanced" if begin == "local" else "imbalanced")
    assert (told["queue"], told["queue_by"]) == (begin, "detector")
    assert told["idleness"] > 0.3 and (told["gain"] < 0.1) == (begin == "local")
    node.daemon.call("kill", run=1, grace_s=0)
    node.daemon.expect("exited", 1)


@both_mpis
@pytest.mark.parametrize("mapping", ["communication", "balance"])
def test_mappings(node, mpi, mapping):
    fold(node, mpi, 8, "ring", "--iterations", 20000, *hold(node), mapping=mapping, settings="queue=local", slots=ONE)
    for number in range(1, 11):
        resize(node, number, [ONE, BOTH][number % 2])
    release(node)
    end(node)
