"""Programs whose threads call MPI, folded: every thread gets on, whichever of them waits, and so does every process.
What passes without folding passes folded, on one processor, on two, and while their number changes."""

import subprocess

import pytest

from test_library import MPI, RANKS, folded, program, run, started

WAYS = {
    "one-processor": ("wait=immediate", "0", ()),
    "one-processor-auto": ("wait=auto", "0", ()),
    "one-processor-block": ("wait=block", "0", ()),
    "one-processor-slices": ("wait=spin,give=slice,slice=1ms", "0", ()),
    "two-processors": ("wait=immediate", "0,1", ()),
    "changing": ("wait=immediate", "0,1", ("--alternate", "20ms")),
    "changing-global": ("wait=immediate,queue=global", "0,1", ("--alternate", "20ms")),
}


def modes(level):
    said = subprocess.run([program("fold-threads"), "modes"], capture_output=True, text=True, check=True).stdout
    return [line.split()[0] for line in said.splitlines() if line.split()[1] == level]


LEVELS = ("multiple", "serialized", "funneled")


def expected(names):
    return "".join(f"{name} is right\n" for name in names)


@pytest.mark.skipif(MPI == "mpich", reason="with its own way of waiting MPICH does not get to the end")
@pytest.mark.parametrize("level", LEVELS)
def test_without_folding(level, tmp_path):
    names = modes(level)
    assert names
    assert run(started([program("fold-threads"), *names], {}), tmp_path).stdout == expected(names)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("way", WAYS)
def test_folded(way, level, tmp_path):
    settings, cpus, options = WAYS[way]
    names = modes(level)
    done, said = folded([program("fold-threads"), *names], tmp_path, settings, cpus, options)
    assert done.stdout == expected(names)
    assert len(said["processes"]) == RANKS
