"""Programs of the groups of a conformance test (one-sided access, topologies, files, processes that come later), folded:
what passes without folding passes folded, with the same output, from one thread and from several that call MPI."""

import subprocess

import pytest

from test_library import MPI, RANKS, folded, program, run, started

WAYS = {
    "one-processor": ("wait=auto", "0", ()),
    "two-processors": ("wait=auto", "0,1", ()),
    "changing": ("wait=immediate,queue=global", "0,1", ("--alternate", "20ms")),
}
THREADS = 3


def parts(mpi, *who):
    said = subprocess.run([program("fold-groups", mpi), "list"], capture_output=True, text=True, check=True).stdout
    return [line.split()[0] for line in said.splitlines() if line.split()[1] in who]


# How a program is started, and the parts that it does then.
KINDS = {
    "alone": lambda mpi: ["0", *parts(mpi, "all", "alone")],
    "threads": lambda mpi: [str(THREADS), *parts(mpi, "all")],
    "mixed": lambda mpi: [str(THREADS), "mixed", *parts("openmpi", "all")],
}


@pytest.fixture(scope="module", name="plain")
def plain_outputs(tmp_path_factory):
    """What is printed without the library, under Open MPI: MPICH takes minutes where there are more processes than
    processors, and prints the same."""
    directory = tmp_path_factory.mktemp("plain")
    return {kind: run(started([program("fold-groups", "openmpi"), *words("openmpi")], {}, mpi="openmpi"), directory).stdout
            for kind, words in KINDS.items()}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", WAYS)
def test_folded(way, kind, plain, tmp_path):
    settings, cpus, options = WAYS[way]
    words = KINDS[kind](MPI)
    done, said = folded([program("fold-groups"), *words], tmp_path, settings, cpus, options)
    expected = dict(line.split() for line in plain[kind].splitlines())
    printed = dict(line.split() for line in done.stdout.splitlines())
    assert list(printed) == (["mixed"] if kind == "mixed" else words[1:])
    assert printed == {part: expected[part] if part in expected else printed[part] for part in printed}
    # only what Open MPI cannot do in threads has nothing to be compared with: it checks itself
    assert set(printed) - set(expected) <= {"window-dynamic", "shape-neighbours"}
    assert len(said["processes"]) == RANKS
    assert list(tmp_path.glob("*.[0-9]")) == []  # the files of its parts are gone
