"""Jobs whose processes have several processors each: how many are started, and where each one is."""

import os

import pytest

from conftest import BUILD, wait_until, words_of
from relaunching import MPIS, each_mpi, program

CPUS = sorted(os.sched_getaffinity(0))
pytestmark = pytest.mark.skipif(len(CPUS) < 2, reason="one CPU only")
ONE, TWO = CPUS[0], CPUS[-1]
# of two processors that follow one another, each has both on the same CPU
CONFIG = f"""
site "local" {{ cpus = "{ONE},{ONE},{TWO},{TWO},{ONE},{ONE}"  background = ignore }}
backoff_s = 0.2
try_s = 0.1
idle_exit_s = 0
"""
LAUNCHERS = {"openmpi": "mpirun.openmpi", "mpich": "mpiexec.mpich"}


def loop(mpi, *words):
    return [program("loop", mpi), "--iterations", "1000000000", "--pause", "5", *words]


def rank_of(pid):
    with open(f"/proc/{pid}/environ", "rb") as file:
        env = dict(v.split(b"=", 1) for v in file.read().split(b"\0") if b"=" in v)
    return int(env.get(b"OMPI_COMM_WORLD_RANK", env.get(b"PMI_RANK", b"-1")))


def where(pleat, number, mpi):
    """The CPUs of the processes, each with those of all its threads."""
    found = []
    for pid in pleat.job_pids(number):
        if words_of(pid)[:1] != [program("loop", mpi)]:
            continue
        try:
            cpus = {frozenset(os.sched_getaffinity(int(tid))) for tid in os.listdir(f"/proc/{pid}/task")}
            found.append((pid, rank_of(pid), cpus))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def wait_where(pleat, number, mpi, *wanted):
    """As many processes as CPUs are given, of which each has one of these for all its threads."""
    want = sorted([[cpu]] for cpu in wanted)

    def there():
        return sorted(sorted(map(sorted, cpus)) for pid, rank, cpus in where(pleat, number, mpi)) == [
            [one[0]] for one in want]
    wait_until(lambda: pleat.job(number)["state"] == "running" and there(),
               f"job {number} has processes on {wanted}: {where(pleat, number, mpi)}")


def variables(pleat, number, mpi):
    pid = where(pleat, number, mpi)[0][0]
    with open(f"/proc/{pid}/environ", encoding="utf-8", errors="replace") as file:
        return dict(v.split("=", 1) for v in file.read().split("\0") if "=" in v)


@pytest.mark.parametrize("mpi", MPIS)
def test_a_rigid_job(pleat, mpi):
    pleat.configure(text=CONFIG)
    pleat.env.pop("OMP_NUM_THREADS", None)
    number = pleat.submit("-n", 2, "-c", 2, *loop(mpi))
    wait_where(pleat, number, mpi, ONE, TWO)
    # in MPI_Init hwloc is on every CPU for a moment
    wait_until(lambda: {rank: cpus for _, rank, cpus in where(pleat, number, mpi)} == {
        0: {frozenset({ONE})}, 1: {frozenset({TWO})}}, "each is where its number says")
    job = pleat.job(number)
    assert (job["processors"], job["processes"], job["cpus_per_task"]) == (4, 2, 2)
    assert (job["min"], job["max"], job["sizes"]) == (4, 4, "multiples:2")
    env = variables(pleat, number, mpi)
    assert [env[name] for name in ("OMP_NUM_THREADS", "PLEAT_CPUS_PER_TASK", "PLEAT_PROCESSORS")] == ["2", "2", "4"]
    assert "sizes multiples:2, 2 for each process" in pleat.pleat("show", number, check=0).stdout
    pleat.call("cancel", job=number)
    pleat.wait_end(number)
    pleat.env["OMP_NUM_THREADS"] = "7"  # its user's
    number = pleat.submit("-n", 1, "--cpus-per-task", 2, *loop(mpi))
    wait_where(pleat, number, mpi, ONE)
    assert variables(pleat, number, mpi)["OMP_NUM_THREADS"] == "7"
    pleat.call("cancel", job=number)
    pleat.wait_end(number)


@pytest.mark.parametrize("way, mpi", each_mpi(["auto", "relaunch"], [("relaunch", "mpich")]))  # auto is that there
def test_a_malleable_job(pleat, way, mpi):
    """It is grown and shrunk by whole processes, also after the daemon was started anew."""
    pleat.configure(text=CONFIG)
    number = pleat.submit("--min", 1, "--max", 3, "--initial", 1, "-c", 2, "--on-resize", way, *loop(mpi))
    pleat.wait_size(number, 6)  # the policy grew it
    wait_where(pleat, number, mpi, ONE, TWO, ONE)
    assert pleat.job(number)["processes"] == 3
    refused = pleat.pleat("set", number, "--max", 5)
    assert refused.returncode == 1 and "multiples of 2" in refused.stderr
    pleat.kill_daemon()
    pleat.pleat("set", number, "--max", 4, check=0)
    pleat.wait_size(number, 4)
    wait_where(pleat, number, mpi, ONE, TWO)
    other = pleat.submit("-n", 3, "sleep", 1000)  # for which it gives up more than is needed
    pleat.wait_for(other, "running")
    pleat.wait_size(number, 2)
    wait_where(pleat, number, mpi, ONE)
    job = pleat.job(number)
    assert (job["processes"], job["cpus_per_task"]) == (1, 2)
    sizes = [r["to"] for r in job["history"]["resizes"] if r["outcome"] in ("grown", "shrunk", "relaunched")]
    assert sizes and all(size % 2 == 0 for size in sizes), sizes
    for one in (number, other):
        pleat.call("cancel", job=one)
        pleat.wait_end(one)


@pytest.mark.parametrize("mpi", MPIS)
def test_a_program_in_a_script(pleat, mpi):
    """By `pleat launch`, resized while it runs; by the MPI's own launcher, as many as the job has."""
    pleat.configure(text=CONFIG)
    own = f"{LAUNCHERS[mpi]} {' '.join(loop(mpi, '--until', pleat.path('end')))}"
    launched = f"{BUILD}/bin/pleat launch {' '.join(loop(mpi, '--until', pleat.path('end')))}"
    with open(pleat.path("job.sh"), "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\n#SBATCH -n 1 -c 2\n{own}\nrm end\n{launched}\n")
    number = pleat.submit("--sbatch", "--min", 2, "--max", 3, "--malleable", "job.sh")
    pleat.wait_size(number, 6)
    # the MPI's own launcher: hydra binds nothing, so each has what the job has
    wanted = [ONE, TWO, ONE] if mpi == "openmpi" else None
    if wanted:
        wait_where(pleat, number, mpi, *wanted)
    else:
        wait_until(lambda: len(where(pleat, number, mpi)) == 3, "three processes")
    open(pleat.path("end"), "w", encoding="utf-8").close()
    wait_until(lambda: not os.path.exists(pleat.path("end")) and len(where(pleat, number, mpi)) == 3, "the next")
    wait_where(pleat, number, mpi, ONE, TWO, ONE)
    pleat.pleat("set", number, "--max", 4, check=0)
    pleat.wait_size(number, 4)
    wait_where(pleat, number, mpi, ONE, TWO)
    open(pleat.path("end"), "w", encoding="utf-8").close()
    job = pleat.wait_end(number)
    assert job["state"] == "done", (job, pleat.output(number, "stderr"))
    assert pleat.output(number).count("RESULT ok") == 2


def test_what_does_not_fit(pleat):
    """Folding has several processes on a processor; sizes are counted in processes."""
    pleat.configure(text=CONFIG)
    for words, said in ((("--processes", 4, "-c", 2), "leave out one of them"),
                        (("-n", 4, "-c", 2), "needs at least 8 processors"),
                        (("-n", 9000000, "-c", 2), "more than"),
                        (("-c", 0), "--cpus-per-task")):
        done = pleat.pleat("submit", *words, *loop("openmpi"))
        assert done.returncode != 0 and said in done.stderr, done.stderr
    spec = {"argv": ["/bin/true"], "env": [], "cwd": "/tmp", "kind": "moldable", "min": 2, "max": 4,
            "cpus_per_task": 2, "sizes": "any"}
    with pytest.raises(Exception, match="multiples of 'cpus_per_task', 2"):
        pleat.call("submit", **spec)
    number = pleat.submit("-c", 3, "sh", "-c", "echo $PLEAT_PROCESSORS $OMP_NUM_THREADS")  # one process
    pleat.wait_end(number)
    assert pleat.output(number) == "3 3\n"
    # of the grids of processes 1, 2, 4, 6, ... up to 3
    number = pleat.submit("--hold", "--min", 1, "--max", 3, "--sizes", "grids", "-c", 2, "--moldable", *loop("mpich"))
    assert pleat.job(number)["sizes"].startswith("2,4,8,12,18,24")
    pleat.call("cancel", job=number)
