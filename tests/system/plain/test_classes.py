"""The plain MPI programs of apps/ that stand for published ones: right at every number of ranks that they take,
under both MPIs and folded, with the same result; and able to see that they are wrong."""

import json
import os
import pathlib
import re
import subprocess

import pytest

BUILD = pathlib.Path(os.environ["PLEAT_BUILD"]).resolve()
APPS = BUILD / "apps"
FOLD_RUN = BUILD / "bin/fold-run"
MPIS = {"openmpi": (APPS, ["mpirun.openmpi", "--oversubscribe"]),
        "mpich": (APPS / "mpich", ["mpiexec.mpich"])}
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
CPU = str(min(os.sched_getaffinity(0)))
ITERATIONS = {"cg": 9, "mg": 9}  # until the vector is what it has to be; mg begins another problem after eight

# numbers of ranks, and one that is refused
PROGRAMS = {
    "bt": ((1, 4), 2),
    "cg": ((1, 2, 4), 3),
    "ft": ((1, 2, 4), 3),
    "is": ((1, 2, 4), None),
    "lu": ((1, 2, 4), None),
    "mg": ((1, 2, 4), 3),
    "mz": ((1, 2, 4), None),
    "sp": ((1, 4), 2),
    "sweep": ((1, 2, 4), None),
}
both_mpis = pytest.mark.parametrize("mpi", [
    "openmpi", pytest.param("mpich", marks=pytest.mark.skipif(not MPIS["mpich"][0].exists(), reason="no MPICH"))])
every_program = pytest.mark.parametrize("program", PROGRAMS)


def iterations(program):
    return ITERATIONS.get(program, 4)


def run(mpi, ranks, program, *options, before=()):
    folder, mpirun = MPIS[mpi]
    command = [*before, *mpirun, "-n", ranks, folder / program, "--iterations", iterations(program), *options]
    return subprocess.run([str(word) for word in command], env=ENV, capture_output=True, text=True, timeout=120)


def sum_of(done, program, ranks):
    assert done.returncode == 0, done.stdout + done.stderr
    line = re.search(rf"^RESULT ok {program} ranks={ranks} iterations={iterations(program)} "
                     r"sum=([0-9a-f]{16})$", done.stdout, re.MULTILINE)
    assert line, done.stdout
    return line[1]


@pytest.fixture(scope="module", name="sums")
def fixture_sums():
    """What each program finds alone: the same whatever it runs on."""
    return {}


def expected(sums, program):
    if program not in sums:
        sums[program] = sum_of(run("openmpi", 1, program), program, 1)
    return sums[program]


@both_mpis
@every_program
def test_right_and_the_same_at_every_number_of_ranks(program, mpi, sums):
    for ranks in PROGRAMS[program][0]:
        if mpi == "mpich" and ranks == 4:
            continue  # its processes wait by computing: so many only folded
        assert sum_of(run(mpi, ranks, program, "--verify"), program, ranks) == expected(sums, program)


@both_mpis
@every_program
def test_the_same_folded_on_one_processor(program, mpi, sums, tmp_path):
    if not FOLD_RUN.exists():
        pytest.skip("libpleat-fold was not built")
    report = tmp_path / "fold.json"
    fold = [FOLD_RUN, "--processes", 4, "--cpus", CPU, "--mpi", mpi, "--out", report, "--"]
    assert sum_of(run(mpi, 4, program, "--work", 20, before=fold), program, 4) == expected(sums, program)
    told = json.loads(report.read_text())
    # what the processes counted: the run may be over before fold-run has looked for them
    assert [process["switches"] > 0 for process in told["processes"]] == [True] * 4, told


@every_program
@pytest.mark.parametrize("when, ranks", [("first", 1), ("last", 4)])
def test_a_spoilt_value_is_seen(program, when, ranks):
    done = run("openmpi", ranks, program, "--corrupt", 0 if when == "first" else iterations(program) - 1)
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stdout.startswith(f"RESULT wrong {program} ranks={ranks} "), done.stdout


@pytest.mark.parametrize("program", [program for program, (_, refused) in PROGRAMS.items() if refused])
def test_other_numbers_of_ranks_are_refused(program):
    refused = PROGRAMS[program][1]
    done = run("openmpi", refused, program)
    assert done.returncode == 2 and "RESULT" not in done.stdout, done.stdout + done.stderr
    assert re.search(rf"^{program} runs on a .*, not on {refused}$", done.stderr, re.MULTILINE), done.stderr


@every_program
def test_options(program, tmp_path):
    def alone(*options):
        return subprocess.run([APPS / program, *options], env=ENV, capture_output=True, text=True, timeout=60)

    assert alone("--help").stdout.startswith(f"usage: mpirun ... {program} [options]\n")
    wrong = alone("--size", "medium")
    assert wrong.returncode == 2 and "--size wants one of small,large, not 'medium'" in wrong.stderr
    rate, times = tmp_path / "rate", tmp_path / "times"
    large = alone("--size", "large", "--iterations", "1", "--rate", str(rate), "--times", str(times))
    assert large.returncode == 0 and large.stdout.startswith(f"RESULT ok {program} ranks=1 iterations=1 sum=")
    assert len(rate.read_text().splitlines()) == len(times.read_text().splitlines()) == 1
