"""Programs from Debian's packages, not changed in any way: with 8 processes on one processor, on two, and on a
partition that changes while they run they find what they find unfolded."""

import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ["PLEAT_BUILD"]).resolve()
CPUS = [str(cpu) for cpu in sorted(os.sched_getaffinity(0))[:2]]
MPIRUN = {"openmpi": ["mpirun.openmpi", "--oversubscribe"], "mpich": ["mpiexec.mpich"]}
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMP_NUM_THREADS="1",
           # where ARMCI lets MPICH 4.0.2 allocate its windows, nwchem.mpich with more than two processes
           # finds wrong energies, unfolded, too
           ARMCI_USE_WIN_ALLOCATE="0")
PARTITIONS = {
    "one": ["--cpus", CPUS[0]],
    "two": ["--cpus", ",".join(CPUS)],
    "changing": ["--cpus", ",".join(CPUS), "--alternate", "100ms"],
}


def lammps(folder, out):
    """All positions and velocities, and what was printed of energies and pressure."""
    thermo = re.findall(r"^ +\d+(?: +-?[\d.e+-]+){4} *$", out, re.MULTILINE)
    assert len(thermo) == 41
    return thermo, (folder / "final.dump").read_text()


def hpcc(folder, out):
    """Its own checks, and the norms and errors that it found; no times, and not the number of updates that got
    lost in RandomAccess, which has races by its rules (at most 1 % may be lost, and it says whether)."""
    text = (folder / "hpccoutf.txt").read_text()
    values = dict(re.findall(r"^(\w+)=(.*)$", text, re.MULTILINE))
    assert values["Success"] == "1"
    assert "FAILED" not in text and re.search(r"^\s+1 tests completed and passed residual checks", text, re.MULTILINE)
    assert float(values["MPIRandomAccess_LCG_ErrorsFraction"]) <= 0.01
    assert float(values["MPIRandomAccess_ErrorsFraction"]) <= 0.01
    return {name: values[name] for name in (
        "CommWorldProcs", "HPL_N", "HPL_RnormI", "HPL_AnormI", "HPL_XnormI", "HPL_BnormI", "PTRANS_residual",
        "MPIRandomAccess_ExeUpdates", "MPIFFT_N", "MPIFFT_maxErr")}


def nwchem(folder, out):
    """The energy, to ten of its twelve digits: its sums are taken in the order in which processes come."""
    energy = re.search(r"Total DFT energy = +(-[\d.]+)", out)
    assert energy, out[-2000:]
    return round(float(energy[1]), 10)


def result_line(folder, out):
    assert out.startswith("RESULT ok "), out
    return out


# program: its MPI, its command, its input, what it found, processes of the unfolded run. MPICH's processes never
# give a processor away: eight of them on two processors take minutes, unfolded.
PROGRAMS = {
    "lammps": ("openmpi", ["lmp", "-in", "in.melt"], "in.melt", lammps, 8),
    "hpcc": ("openmpi", ["hpcc"], "hpccinf.txt", hpcc, 8),
    "nwchem": ("mpich", ["nwchem.mpich", "water.nw"], "water.nw", nwchem, 2),
    "stencil": ("openmpi", [str(BUILD / "apps/stencil"), "--iterations", "2000"], None, result_line, 8),
    "stencil-mpich": ("mpich", [str(BUILD / "apps/mpich/stencil"), "--iterations", "2000"], None,
                      lambda folder, out: result_line(folder, out).replace("ranks=2", "ranks=8"), 2),
}


def run(program, folder, processes, *fold):
    mpi, command, given, found, _ = PROGRAMS[program]
    folder.mkdir()
    if given:
        shutil.copy(HERE / given, folder)
    report = folder / "fold.json"
    done = subprocess.run(
        [BUILD / "bin/fold-run", "--processes", str(processes), "--out", report, *fold, "--",
         *MPIRUN[mpi], "-n", str(processes), *command],
        cwd=folder, env=ENV, capture_output=True, text=True, timeout=250)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return found(folder, done.stdout), json.loads(report.read_text())


@pytest.mark.parametrize("program", PROGRAMS)
def test_finds_folded_what_it_finds_unfolded(program, tmp_path):
    mpi, command, _, _, processes = PROGRAMS[program]
    if not shutil.which(command[0]):
        pytest.skip(f"{command[0]} is not here")
    want, _ = run(program, tmp_path / "unfolded", processes, *PARTITIONS["two"], "--unfolded")
    for name, partition in PARTITIONS.items():
        found, report = run(program, tmp_path / name, 8, *partition, "--mpi", mpi)
        assert found == want, f"on a partition: {name}"
        assert report["attached"] == 8 and report["switches"] > 100, report
        assert bool(report["changes"]) == (name == "changing" and len(CPUS) > 1), report
