"""What the tests of relaunching share: jobs that are relaunched, and that misbehave. The applications
check their own results: whatever happens on the way, they must be right."""

import os

import pytest

from conftest import BUILD, YIELD, wait_until

MPICH = os.path.join(BUILD, "apps", "mpich")
MPIS = [
    "openmpi",
    pytest.param("mpich", marks=pytest.mark.skipif(not os.path.exists(os.path.join(MPICH, "loop")),
                                                   reason="no MPICH")),
]


def each_mpi(others, senseless=()):
    """Parameters (one of the others, MPI), but the senseless pairs."""
    mpis = [(mpi, ()) if isinstance(mpi, str) else (mpi.values[0], mpi.marks) for mpi in MPIS]
    return [pytest.param(other, mpi, marks=marks) for other in others for mpi, marks in mpis
            if (other, mpi) not in senseless]
# What these tests wait for is short; what must not strike on a busy machine is long.
SHORT = "apply_s = 1\nstuck_s = 0.5\nshrink_s = 1\ngrace_s = 0.5\nvacate_s = 1\nlifetime_s = 0\nbackoff_s = 60"
LONG = "apply_s = 60\nshrink_s = 60\nvacate_s = 60\nbackoff_s = 60"


def deadlines(how):
    """Of a job that misbehaves in this way: of one that sleeps they are waited for; one that dies is noticed at once."""
    return SHORT if how == "sleep" else LONG + "\nlifetime_s = 0"


def program(name, mpi):
    return os.path.join(MPICH if mpi == "mpich" else os.path.join(BUILD, "apps"), name)


def submit(pleat, mpi, *, name="loop", sizes=(1, 2), args=(), options=(), misbehave=None, once=True):
    """A malleable job that ends once there is a file `end`."""
    shims, env = [YIELD] if mpi == "mpich" else [], []
    if misbehave:
        shims = [os.path.join(BUILD, "tests", f"misbehave-{mpi}.so"), *shims]
        env = ["--env", f"MISBEHAVE={misbehave}", "--env", f"MISBEHAVE_ONCE={pleat.path('once')}"]
        if once:
            open(pleat.path("once"), "w", encoding="utf-8").close()
    if shims:
        env += ["--env", f"LD_PRELOAD={':'.join(shims)}"]
    words = list(args) or ["--pause", "10", "--until", pleat.path("end")]
    return pleat.submit("--min", sizes[0], "--max", sizes[1], *env, *options, "--",
                        program(name, mpi), *words)


def resizes(job):
    return [(r["from"], r["to"], r["outcome"]) for r in job["history"]["resizes"]]


def computes(pleat, number, size):
    """Waits until the job computes with `size` processes."""
    def there():
        job = pleat.job(number)
        assert job["state"] in ("claiming", "running", "resizing"), job
        return job["state"] == "running" and job["processors"] == size and job["progress"] and (
            job["progress"]["iteration"] > 0)
    wait_until(there, f"job {number} computes on {size}")


def ends_well(pleat, number):
    open(pleat.path("end"), "w", encoding="utf-8").close()
    job = pleat.wait_end(number)
    assert job["state"] == "done", (job, pleat.output(number, "stderr"))
    assert pleat.output(number).count("RESULT ok") == 1, pleat.output(number)
    pleat.wait_free()
    assert pleat.job_pids() == []
    return job


def text_of_events(pleat, number):
    return str(pleat.call("events", job=number, after=0, limit=1000)["events"])

def held_and_resized(pleat, mpi, sizes, words, how="auto"):
    """The output of a program that is held at its first adaptation points, has each of the sizes there, and goes on."""
    pleat.configure(LONG)
    pleat.env["LD_PRELOAD"] = os.path.join(BUILD, "tests", f"hold_adapt-{mpi}.so")
    pleat.env["HOLD_ADAPT_UNTIL"] = pleat.path("go")
    number = pleat.submit("--min", 1, "--max", 2, "--on-resize", how, "--", *words)
    del pleat.env["LD_PRELOAD"]
    for size in sizes:
        pleat.pleat("limits", number, "--max", size, check=0)
        pleat.wait_size(number, size)
    with open(pleat.path("go"), "w", encoding="ascii"):
        pass
    assert pleat.wait_end(number)["state"] == "done", pleat.output(number, "stderr")
    assert f"on {sizes[-1]} ranks" in pleat.output(number)
    return pleat.output(number)
