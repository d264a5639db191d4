"""The jobs of a campaign: what is submitted, and what must become of each kind."""

import os
import sys

from conftest import BUILD, PLEAT

MPIS = [mpi for mpi in ("openmpi", "mpich")
        if os.path.exists(os.path.join(BUILD, "apps", "" if mpi == "openmpi" else mpi, "ring"))]
KINDS = {"plain": 30, "mpi": 12, "malleable": 20, "folded": 10, "script": 14, "array": 6, "dependent": 8, "limited": 4,
         "hungry": 3, "swelling": 3}
COMPUTING = ("mpi", "malleable", "folded", "script")  # run programs that say so when they have got to their end
ONCE = 0.15       # the share of jobs that are submitted with --no-requeue
TASKS = 3         # of an array
LIMIT_S = 1       # of one that would run for ever
MEMORY_KB = 500_000
HUNGER = "bytearray(1 << 30)"  # of one that may have less
MEMORY = "32M"                 # all of a job's, of one that would have more, and keep it
SWELLING = "import time; kept = b'x' * (100 << 20); time.sleep(100000)"


def app(name, mpi):
    return os.path.join(BUILD, "apps", *([mpi] if mpi == "mpich" else []), name)


class Job:
    """A job as it was submitted; its number once a client has heard it."""

    def __init__(self, name, kind, mpi, file):
        self.name, self.kind, self.mpi, self.file = name, kind, mpi, file
        self.number, self.client, self.command = None, None, None
        self.told = self.exit = self.said = None  # by its client
        self.client_hit = self.cancelled = False
        self.once = False   # --no-requeue
        self.needs = None   # the condition and the number of a job that it waits for
        self.words = []     # how it is submitted
        self.before = []    # ... and by what

    @property
    def tasks(self):
        return TASKS if self.kind == "array" else 1

    def file_of(self, shown):
        return f"{self.file}-{shown['array']['index']}" if shown["array"] else self.file


def choose(rng, weights):
    return rng.choices(list(weights), list(weights.values()))[0]


def make(rng, name, instance, numbers):
    """numbers: jobs that are known, for one that waits for one of them."""
    job = Job(name, choose(rng, KINDS), rng.choice(MPIS), instance.path(f"d-{name}"))
    if job.kind == "dependent" and not numbers:
        job.kind = "plain"
    job.once = rng.random() < ONCE
    wrapped = ["sh", instance.path("diary.sh"), job.file]
    iterations = rng.randrange(30, 100)
    loop = [app("loop", job.mpi), "--iterations", iterations, "--pause", 10, "--state", "4K", "--rows", 50]
    heat = [app("heat", job.mpi), "--n", 32, "--iterations", iterations, "--pause", 10]
    ring = [app("ring", job.mpi), "--iterations", iterations * 5, "--work", 20]
    nap = ["sleep", f"{rng.uniform(0, 1.5):.2f}"]
    sizes = ["--min", 1, "--max", rng.randrange(2, 5)]
    first = rng.randrange(1, 4)
    if job.kind == "plain":
        words = ["-n", first, "--", *wrapped, *nap]
    elif job.kind == "mpi":
        words = ["-n", 2, "--runner", "mpi", "--mpi", job.mpi, "--", *wrapped, *loop]
    elif job.kind == "malleable":
        words = [*sizes, "--initial", min(first, 2), "--runner", "malleable", "--mpi", job.mpi, "--", *wrapped,
                 *rng.choice([loop, loop, heat])]
    elif job.kind == "folded":
        words = ["--processes", 4, "--min", 1, "--max", 2, "--runner", "folded", "--mpi", job.mpi, "--", *wrapped, *ring]
    elif job.kind == "array":
        words = ["--array", f"0-{TASKS - 1}%{first}", "--", "sh", "-c", 'exec sh "$0" "$1-$PLEAT_ARRAY_INDEX" "$2" "$3"',
                 *wrapped[1:], *nap]
    elif job.kind == "dependent":
        job.needs = rng.choice(["afterok", "afterany", "afternotok"]), rng.choice(numbers)
        words = ["--dependency", f"{job.needs[0]}:{job.needs[1]}", "--", *wrapped, *nap]
    elif job.kind == "limited":
        words = ["--time-limit", f"{LIMIT_S}s", "--", *wrapped, "sleep", 100000]
    elif job.kind == "hungry":
        job.before = ["sh", "-c", f'ulimit -S -v {MEMORY_KB}; exec "$@"', "sh"]
        words = ["--", *wrapped, sys.executable, "-c", HUNGER]
    elif job.kind == "swelling":
        words = ["--memory", MEMORY, "--", *wrapped, sys.executable, "-c", SWELLING]
    else:
        script = instance.path(name + ".sh")
        inner = " ".join(map(str, [*wrapped, PLEAT, "launch", "--", *loop]))
        with open(script, "w", encoding="ascii") as file:
            file.write(f"#!/bin/sh\n#PLEAT --malleable\n{inner}\nexit $?\n")
        words = [*sizes, script]
    # what is run by 'pleat run' ends with its exit code
    job.command = "run" if rng.random() < 0.2 and job.kind != "array" else "submit"
    job.words = ["--name", name, *(["--no-requeue"] if job.once else []), *words]
    return job


# ---- what must be true of a kind, at the end


def is_in_vain(needs, jobs):
    """What it waited for has ended, and otherwise."""
    condition, number = needs
    state = jobs[number]["state"] if number in jobs else None
    return (condition == "afterok" and state in ("failed", "cancelled")) or (condition == "afternotok" and state == "done")


def is_refused_in_vain(wanted, jobs):
    return wanted.needs and is_in_vain(wanted.needs, jobs) and "could never start" in (wanted.said or "")


def is_as_it_must(wanted, job, wrote, jobs):
    """It ended as this kind does, though not well."""
    if wanted.needs and job["state"] == "cancelled" and job["reason"] == "a job that it waited for ended otherwise":
        return is_in_vain(wanted.needs, jobs)
    if wanted.kind == "limited" and job["reason"] == "time limit reached":
        return job["state"] == "failed" and job["run_s"] >= LIMIT_S
    if wanted.kind == "swelling" and job["reason"] == "memory limit reached":
        return job["state"] == "failed"
    if wanted.kind == "hungry" and job["reason"] == "exited":
        return job["state"] == "failed" and job["exit_code"] == 1 and 1 in wrote.ended.values()
    return False


def wrong_start(wanted, wrote, jobs, shift):
    """Why it should not have been started, or not then; None: it should."""
    if not wanted.needs or not wrote.begun:
        return None
    needed = jobs[wanted.needs[1]]
    if is_in_vain(wanted.needs, jobs):
        return f"started, though job {needed['job']} is {needed['state']}"
    if min(at for _, at in wrote.begun) < needed["end_s"] - shift - 1:
        return f"started before job {needed['job']} had ended"
    return None
