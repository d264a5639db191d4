"""The plain MPI programs of apps/: right at any number of ranks and under both MPIs, and able to see that
they are wrong. What is folded later has to print the same."""

import os
import pathlib
import re
import subprocess

import pytest

APPS = pathlib.Path(os.environ["PLEAT_BUILD"]) / "apps"
MPIS = {"openmpi": (APPS, ["mpirun.openmpi", "--oversubscribe"]),
        "mpich": (APPS / "mpich", ["mpiexec.mpich"])}
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")

# With messages on either side of the eager limit, and an odd number of everything somewhere.
PROGRAMS = [
    ["send"],
    ["send", "--heavy", "30", "--factor", "6", "--heavy-ranks", "first", "--verify"],
    ["send", "--heavy", "50", "--factor", "2", "--size", "200000", "--verify"],
    ["ring", "--verify"],
    ["ring", "--tokens", "99", "--size", "200000", "--verify"],
    ["halo", "--size", "31", "--verify"],
    ["halo", "--size", "5", "--work", "3"],
    ["alltoall", "--size", "3", "--work", "3", "--verify"],
    ["ep", "--verify"],
    ["stencil", "--size", "31"],
]
SAME_AT_EVERY_SIZE = ("halo", "ep", "stencil")  # of the same problem


def run(mpi, ranks, program, *options):
    folder, mpirun = MPIS[mpi]
    if not folder.joinpath(program[0]).exists():
        pytest.skip(f"{program[0]} was not built for {mpi}")
    command = [*mpirun, "-n", str(ranks), str(folder / program[0]), "--iterations", "21", *program[1:], *options]
    return subprocess.run(command, env=ENV, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("program", PROGRAMS, ids=" ".join)
def test_right_at_every_size_and_the_same_everywhere(program):
    sums = {}
    for ranks in 1, 2, 3, 5:
        for mpi in MPIS:
            # its processes wait by computing: as many as there are processors, and more
            if mpi == "mpich" and (not MPIS[mpi][0].exists() or ranks not in (2, 5)):
                continue
            done = run(mpi, ranks, program)
            assert done.returncode == 0, done.stdout + done.stderr
            line = re.fullmatch(rf"RESULT ok {program[0]} ranks={ranks} iterations=21 sum=([0-9a-fA-F]{{16}})\n",
                                done.stdout)
            assert line, done.stdout
            sums.setdefault(ranks, set()).add(line[1])
    assert all(len(of) == 1 for of in sums.values()), "the two MPIs differ"
    if program[0] in SAME_AT_EVERY_SIZE:
        assert len(set.union(*sums.values())) == 1


# in the first iteration with all options, in the last one once for each program
@pytest.mark.parametrize("when, program", [
    *(pytest.param("0", each, id="0-" + " ".join(each)) for each in PROGRAMS),
    *(pytest.param("20", each, id="20-" + " ".join(each))
      for i, each in enumerate(PROGRAMS) if each[0] not in [other[0] for other in PROGRAMS[:i]])])
def test_a_spoilt_value_is_seen(program, when):
    if program[0] == "stencil" and when == "0":
        when = "1"  # it counts from 1
    done = run("openmpi", 3, program, "--corrupt", when)
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stdout.startswith(f"RESULT wrong {program[0]} ranks=3 ")


@pytest.mark.parametrize("program", ["send", "ring", "halo", "alltoall", "ep"])
def test_rate(program, tmp_path):
    file = tmp_path / "rate"
    for lines in 21, 42:  # it is appended to
        assert run("openmpi", 1, [program], "--rate", str(file)).returncode == 0
        times = [int(line) for line in file.read_text().splitlines()]
        assert len(times) == lines and times == sorted(times)


def test_rate_that_cannot_be_written(tmp_path):
    done = run("openmpi", 2, ["ring"], "--rate", str(tmp_path / "no" / "rate"))
    assert done.returncode and f"--rate: {tmp_path}/no/rate: No such file" in done.stderr


@pytest.mark.parametrize("program", ["send", "ring", "halo", "alltoall", "ep"])
def test_times(program, tmp_path):
    file = tmp_path / "times"
    assert run("openmpi", 3, [program], "--times", str(file)).returncode == 0
    lines = sorted([int(word) for word in line.split()] for line in file.read_text().splitlines())
    assert [line[0] for line in lines] == [0, 1, 2]
    assert all(0 < begun <= ended and cpu > 0 for _, begun, ended, cpu in lines)


def test_times_that_cannot_be_written(tmp_path):
    done = run("openmpi", 2, ["ring"], "--times", str(tmp_path / "no" / "times"))
    assert done.returncode and f"--times: {tmp_path}/no/times: No such file" in done.stderr


@pytest.mark.parametrize("program", ["send", "ring", "halo", "alltoall", "ep", "stencil"])
def test_usage(program):
    if not (APPS / program).exists():
        pytest.skip(f"{program} was not built")

    def alone(*options):
        return subprocess.run([APPS / program, *options], env=ENV, capture_output=True, text=True, timeout=60)

    assert alone("--help").stdout.startswith(f"usage: mpirun ... {program} ")
    assert alone("--frequency", "1").returncode == 2
    wrong = alone("--iterations", "-1")
    assert wrong.returncode == 2 and "--iterations wants a number from 0" in wrong.stderr
    if program == "send":
        wrong = alone("--heavy-ranks", "last")
        assert wrong.returncode == 2 and "--heavy-ranks wants one of first,spread, not 'last'" in wrong.stderr


@pytest.mark.parametrize("program", ["halo", "stencil"])
def test_what_cannot_be_checked_is_refused(program):
    done = run("openmpi", 2, [program, "--size", "3"], "--iterations", "100000")
    assert done.returncode and "a plate of this --size is cold" in done.stderr and "RESULT" not in done.stdout
