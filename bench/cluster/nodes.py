"""A program of two nodes, for measure.py: the pause of its growth onto the second one, and its adaptation points there. Value and
baseline in turn."""

import sys

from clusters.world import SHARED, USER, wait_until

BUILD = f"{SHARED}/build"
MPIS = {"openmpi": "Open MPI", "mpich": "MPICH"}
LOOPS = {"openmpi": f"{BUILD}/apps/loop", "mpich": f"{BUILD}/apps/mpich/loop"}
POINTS = {mpi: f"{BUILD}/bench/{mpi}/points" for mpi in MPIS}
# name, unit, (title, of the value, of the baseline), goal: of the ratio
ROWS = (("growth_small", "ms", ("a growth 2 -> 4 with 1 MiB, milliseconds", "Pleat, onto a 2nd node", "plain MPI, over both"), 1.0),
        ("growth", "ms", ("the same with more (--state)", "Pleat, onto a 2nd node", "plain MPI, over both"), 1.0),
        ("point", "ns", ("nanoseconds of pleat_session_adapt", "a rank on each of 2 nodes", "both on one node"), 1.1))
# Ranks of both nodes share the processors of this machine: those of Open MPI that wait leave theirs to others, with and without Pleat.
YIELD = {"OMPI_MCA_mpi_yield_when_idle": "1"}
FROM, TO = 2, 4  # ranks: all of one node, and of both
ROWS_OF_STATE = 1024
SMALL = 1 << 20  # bytes
ENDED = ("done", "failed", "cancelled")
LIMIT_S = 120
# Slurm's own way of starting processes on nodes, and a network for them
OPENMPI = ("mpirun.openmpi", "--bind-to", "none", "--mca", "pml", "ob1", "--mca", "btl", "vader,self,tcp",
           "--mca", "btl_tcp_if_include", "eth0", "--mca", "oob_tcp_if_include", "eth0")
# ... and what lets MPICH 4.0 end on several hosts (src/farewell), after what is measured
MPICH = ("mpiexec.mpich", "-launcher", "slurm", "-iface", "eth0", "-bind-to", "none", "-genv", "LD_PRELOAD",
         f"{BUILD}/lib/libpleat-farewell.so")
MPICH_ENV = {"UCX_NET_DEVICES": "eth0", "UCX_TLS": "tcp,sysv,posix,cma,self"}
# prints the monotonic clock, and becomes the words
STAMPED = ("python3", "-c", "import os, sys, time; print('BEGAN', time.monotonic_ns(), flush=True); os.execvp(sys.argv[1], sys.argv[1:])")


def give_up(why):
    sys.exit(f"bench cluster: {why}")


def mpis(pleat):
    """Those for which programs were built."""
    return [mpi for mpi in MPIS if pleat.slurm.world.path(LOOPS[mpi]).exists()]


def number_after(text, word, place=0):
    """The one in a line that begins with this word."""
    for line in text.splitlines():
        if line.split()[:1] == [word]:
            return float(line.split()[1 + place])
    return give_up(f"no line {word}: {text}")


def until(pleat, job, condition):
    def there():
        shown = pleat.job(job)
        if shown["state"] in ENDED and shown["state"] != "done":
            give_up(f"job {job}: {shown['state']}, {shown['text']}: {pleat.run('events', str(job))}")
        return shown if condition(shown) else None
    return wait_until(there, f"job {job}", limit_s=LIMIT_S)


def done(pleat, job):
    shown = until(pleat, job, lambda shown: shown["state"] == "done")
    if "RESULT ok" not in pleat.output(job):
        give_up(f"job {job}: {pleat.output(job)}")
    return shown


def nodes_of(pleat, job):
    """How many its processors were on, of all that it was given."""
    return len({piece["node"] for event in pleat.events(job, "slots") for piece in event["pieces"]})


# ---- the pause of a growth ----


def grown(pleat, mpi, state):
    """Milliseconds for which the program stood still, as it tells itself."""
    job = int(pleat.run("submit", "--initial", str(FROM), "--min", "1", "--max", str(FROM), "--", LOOPS[mpi], "--resizes", "1",
                        "--rows", str(ROWS_OF_STATE), "--pause", "1", "--state", str(state)))
    until(pleat, job, lambda shown: (shown["progress"] or {}).get("iteration"))
    pleat.run("limits", str(job), "--max", str(TO))
    [resize] = done(pleat, job)["history"]["resizes"]
    if (resize["from"], resize["to"], resize["way"]) != (FROM, TO, "relaunch") or nodes_of(pleat, job) != 2:
        give_up(f"job {job} did not grow from one node to two by a warm relaunch: {resize}, {nodes_of(pleat, job)} nodes")
    pleat.slurm.until_empty()
    return 1000 * resize["total_s"]


def allocated(slurm, *words, **env):
    """What words say in an allocation of both nodes."""
    said = slurm.head.run("salloc", "-N2", f"-n{TO}", f"--ntasks-per-node={FROM}", *words, user=USER, env=slurm.env | env,
                          limit_s=LIMIT_S).stdout
    if "RESULT ok" not in said:
        give_up(f"{' '.join(map(str, words))}: {said}")
    slurm.until_empty()
    return said


def spawned(slurm, state):
    """The same growth in plain MPI: MPI_Comm_spawn, a merged communicator, and the rows sent over that."""
    said = allocated(slurm, *OPENMPI, "-n", FROM, f"{BUILD}/bench/resize_bare", "loop", state, ROWS_OF_STATE, TO, **YIELD)
    if number_after(said, "HOSTS") != 2:
        give_up(f"the ranks that were spawned are on the same node: {said}")
    return 1000 * number_after(said, "TIME", 2)


def started(slurm, state, file):
    """MPICH of Debian cannot spawn: a start on both nodes, from mpiexec until all ranks have their rows."""
    said = allocated(slurm, *STAMPED, *MPICH, "-n", TO, f"{BUILD}/bench/resize_relaunch_mpich", file, state, ROWS_OF_STATE, **MPICH_ENV)
    return (number_after(said, "LOADED") - number_after(said, "BEGAN")) / 1e6


def measure_growths(pleat, repeats, state):
    slurm, file = pleat.slurm, f"{SHARED}/home/{USER}/rows"
    plain = {"openmpi": lambda size, _: spawned(slurm, size), "mpich": lambda size, rows: started(slurm, size, rows)}
    sizes = {"growth_small": SMALL, "growth": state}
    series = {f"{kind}{name}_{mpi}": [] for name in sizes for mpi in mpis(pleat) for kind in ("", "plain_")}
    for name, size in sizes.items() if "mpich" in mpis(pleat) else ():
        slurm.head.run("touch", f"{file}-{name}", user=USER)
        started(slurm, size, f"{file}-{name}")  # fills the file
    for _ in range(repeats):
        for name, size in sizes.items():
            for mpi in mpis(pleat):
                series[f"{name}_{mpi}"].append(grown(pleat, mpi, size))
                series[f"plain_{name}_{mpi}"].append(plain[mpi](size, f"{file}-{name}"))
    return series


# ---- an adaptation point at which nothing is asked ----


def points(pleat, mpi, count, nodes):
    """Nanoseconds of processor time, the mean of both ranks."""
    job = int(pleat.run("submit", "--initial", "2", "--min", "1", "--max", "2", "--", POINTS[mpi], str(count), "1"))
    done(pleat, job)
    if nodes_of(pleat, job) != nodes:
        give_up(f"job {job} was on {nodes_of(pleat, job)} nodes, and not on {nodes}")
    return number_after(pleat.output(job), "ns", 1)


def measure_points(pleat, repeats, count):
    slurm = pleat.slurm
    series = {f"{kind}point_{mpi}": [] for mpi in mpis(pleat) for kind in ("", "plain_")}
    for _ in range(repeats):
        slurm.until_empty()
        for mpi in mpis(pleat):
            series[f"plain_point_{mpi}"].append(points(pleat, mpi, count, 1))
        slurm.until_empty()
        other = slurm.command("sbatch", "--parsable", "-N2", "--ntasks-per-node=1", "-o", "/dev/null",
                              text_in="#!/bin/sh\nsleep 100000\n").strip()
        wait_until(lambda number=other: slurm.jobs().get(number) == "RUNNING", "somebody else has a processor of each node")
        for mpi in mpis(pleat):
            series[f"point_{mpi}"].append(points(pleat, mpi, count, 2))
        slurm.command("scancel", other)
    return series
