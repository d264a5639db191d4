"""Malleable scripts: each program that `pleat launch` starts has its own state, a resize is about the program
that runs then, and neither it nor the script is run twice. The programs count what they compute."""

import os
import signal

import pytest

from conftest import BUILD, PLEAT, is_alive, parent_of, wait_until, words_of
from relaunching import LONG, MPIS, SHORT, computes, deadlines, program, resizes, text_of_events

pytestmark = pytest.mark.skipif(not os.path.exists(program("loop", "mpich")), reason="no MPICH")


def submit(pleat, *lines, sizes=(1, 2), initial=2, options=()):
    """A malleable script; each line says in `marks` that it was run."""
    text = "#!/bin/sh\n" + "".join(f"echo {i} >> marks\n{line}\n" for i, line in enumerate(lines))
    with open(pleat.path("job.sh"), "w", encoding="utf-8") as file:
        file.write(text)
    return pleat.submit("--min", sizes[0], "--max", sizes[1], "--initial", initial, "--malleable", *options, "job.sh")


def until(pleat, mpi, name, how=""):
    """Computes until there is a file of that name."""
    return f"{PLEAT} launch {program('loop', mpi)} --pause 10 --until {pleat.path(name)} {how}"


def touch(pleat, name):
    open(pleat.path(name), "w", encoding="utf-8").close()


def marks(pleat):
    if not os.path.exists(pleat.path("marks")):
        return []
    with open(pleat.path("marks"), encoding="utf-8") as file:
        return file.read().split()


def launch_in_progress(pleat, number, line, size):
    wait_until(lambda: marks(pleat)[-1:] == [str(line)], f"line {line} runs")
    computes(pleat, number, size)


def resize(pleat, number, size):
    pleat.pleat("limits", number, "--max", size, check=0)
    pleat.wait_size(number, size)
    computes(pleat, number, size)


def ends_well(pleat, number, results):
    job = pleat.wait_end(number)
    assert job["state"] == "done" and job["exit_code"] == 0, (job, pleat.output(number, "stderr"))
    assert pleat.output(number).count("RESULT ok") == results, pleat.output(number)
    assert "RESULT wrong" not in pleat.output(number)
    pleat.wait_free()
    assert pleat.job_pids() == []
    return job


# each MPI grows and shrinks, as the first and as the second, after itself and after the other
@pytest.mark.parametrize("first, second, first_size, second_size", [
    ("openmpi", "openmpi", 1, 3), ("openmpi", "openmpi", 4, 1), ("mpich", "mpich", 1, 3), ("openmpi", "mpich", 4, 1),
    ("mpich", "openmpi", 4, 1)])
def test_two_programs(pleat, first, second, first_size, second_size):
    """Both are resized; the second has the same file, arguments and values as the first where its MPI is."""
    pleat.configure(LONG)
    number = submit(pleat, until(pleat, first, "end"), "rm end; touch gone", until(pleat, second, "end"), "true")
    launch_in_progress(pleat, number, 0, 2)
    resize(pleat, number, first_size)
    touch(pleat, "end")
    wait_until(lambda: os.path.exists(pleat.path("gone")), "the second is next")
    computes(pleat, number, first_size)
    resize(pleat, number, second_size)
    touch(pleat, "end")
    job = ends_well(pleat, number, 2)
    assert marks(pleat) == ["0", "1", "2", "3"]  # nothing of the script was run twice
    assert len([r for r in resizes(job) if r[2] in ("grown", "shrunk")]) == 2
    counts = [line.split() for line in pleat.output(number).splitlines() if "RESULT" in line]
    assert [words[3] for words in counts] == ["resizes=1", "resizes=1"], counts


@pytest.mark.parametrize("mpi", MPIS)
def test_the_same_program_computes_all_of_it_again(pleat, mpi):
    """`heat` after `heat`: it would be right, and finished much too soon, with the state of the first."""
    pleat.configure(LONG)
    heat = f"{PLEAT} launch {program('heat', mpi)} --n 64 --iterations 300 --pause 4"
    number = submit(pleat, heat, heat)
    launch_in_progress(pleat, number, 0, 2)
    resize(pleat, number, 1)
    ends_well(pleat, number, 2)
    lines = pleat.output(number).splitlines()
    assert [line.split(",")[0] for line in lines if "of 300" in line].count("31 of 300 sweeps") == 2, lines
    assert marks(pleat) == ["0", "1"]


def test_a_program_notices_what_was_skipped(pleat):
    shim = os.path.join(BUILD, "tests", "misbehave-openmpi.so")
    line = f"LD_PRELOAD={shim} MISBEHAVE=skip {PLEAT} launch {program('loop', 'openmpi')} --iterations 20; echo got $?"
    number = submit(pleat, line)
    pleat.wait_end(number)
    assert "RESULT wrong" in pleat.output(number) and "got 1" in pleat.output(number)
    assert "5 of 20 iterations were not computed" in pleat.output(number, "stderr")


# each MPI sleeps and dies, after itself and after the other
@pytest.mark.parametrize("first, second, how", [
    ("openmpi", "openmpi", "sleep"), ("mpich", "mpich", "sleep"), ("mpich", "openmpi", "die"), ("openmpi", "mpich", "die")])
def test_a_relaunch_of_the_second(pleat, first, second, how):
    """Stuck in its resize, or dead: it alone is started again, from its own state."""
    pleat.configure(deadlines(how))
    touch(pleat, "once")
    shim = os.path.join(BUILD, "tests", f"misbehave-{second}.so")
    bad = f"LD_PRELOAD={shim} MISBEHAVE={how} MISBEHAVE_ONCE={pleat.path('once')} "
    number = submit(pleat, until(pleat, first, "end"), "rm end; touch gone", bad + until(pleat, second, "end"))
    launch_in_progress(pleat, number, 0, 2)
    touch(pleat, "end")
    wait_until(lambda: os.path.exists(pleat.path("gone")), "the second is next")
    computes(pleat, number, 2)
    pleat.pleat("limits", number, "--max", "4", check=0)
    pleat.wait_outcome(number, "relaunched")
    computes(pleat, number, 2)
    touch(pleat, "end")
    ends_well(pleat, number, 2)
    assert marks(pleat) == ["0", "1", "2"]
    assert ("broken in a resize" if how == "die" else "stuck") in text_of_events(pleat, number)


@pytest.mark.parametrize("mpi", MPIS)
def test_a_mandatory_shrink_between_two_programs(pleat, mpi):
    """Nothing is there to be ended: the job has its new size, and the next program starts with that."""
    pleat.configure(SHORT)
    wait = f"while [ ! -e {pleat.path('go')} ]; do sleep 0.02; done"
    number = submit(pleat, f"{PLEAT} launch {program('loop', mpi)} --iterations 5", wait, until(pleat, mpi, "end"),
                    sizes=(1, 4), initial=4)
    wait_until(lambda: "1" in marks(pleat), "the first is over")
    pleat.pleat("limits", number, "--max", "2", check=0)
    wait_until(lambda: pleat.job(number)["processors"] == 2, "it has two")
    assert marks(pleat) == ["0", "1"]
    touch(pleat, "go")
    computes(pleat, number, 2)
    touch(pleat, "end")
    ends_well(pleat, number, 2)
    assert "ranks=2" in pleat.output(number).splitlines()[-1]
    assert marks(pleat) == ["0", "1", "2"]


@pytest.mark.parametrize("mpi", MPIS)
@pytest.mark.parametrize("victim", ["ranks", "launch"])
def test_a_program_that_is_killed(pleat, mpi, victim):
    """After a resize, so that a state is held: the next program begins from its own beginning."""
    pleat.configure(LONG)
    number = submit(pleat, until(pleat, mpi, "never") + f" || echo failed; rm -f {pleat.path('end')}",
                    until(pleat, mpi, "end"))
    launch_in_progress(pleat, number, 0, 2)
    resize(pleat, number, 3)
    words = os.path.realpath(program("loop", mpi)) if victim == "ranks" else PLEAT
    pids = [pid for pid in pleat.job_pids(number) if words_begin(pid, words)]
    assert pids
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: "1" in marks(pleat), "the second is next")
    computes(pleat, number, 3)
    touch(pleat, "end")
    ends_well(pleat, number, 1)
    assert "failed" in pleat.output(number)
    last = [line for line in pleat.output(number).splitlines() if "RESULT" in line][-1].split()
    assert last[3:5] == ["resizes=0", "ranks=3"], last


@pytest.mark.parametrize("mpi", MPIS)
def test_its_script_ends_first(pleat, mpi):
    """A resize is under way when the script fails; the program that outlives it would change now. How the script
    ended is how the job did: nothing is started again in its place."""
    pleat.configure(LONG)
    number = submit(pleat, f"sh -c '{until(pleat, mpi, 'end')}; exit $?'\nexit $?")
    launch_in_progress(pleat, number, 0, 2)
    ranks = [pid for pid in pleat.job_pids(number) if words_begin(pid, os.path.realpath(program("loop", mpi)))]
    (wrapper,) = [pid for pid in pleat.job_pids(number) if words_of(pid)[:2] == ["sh", "-c"]]
    script = parent_of(wrapper)
    for pid in ranks:
        os.kill(pid, signal.SIGSTOP)
    pleat.pleat("shrink", "--to", 1, number, check=0)
    pleat.wait_for(number, "resizing")
    os.kill(wrapper, signal.SIGKILL)
    wait_until(lambda: not is_alive(script), "the script has ended")
    for pid in ranks:
        os.kill(pid, signal.SIGCONT)
    job = pleat.wait_end(number)
    assert (job["state"], job["exit_code"]) == ("failed", 137), job
    pleat.wait_free()
    assert pleat.job_pids() == [] and marks(pleat) == ["0"]


def words_begin(pid, word):
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        return file.read().split(b"\0")[0].decode() == word


@pytest.mark.parametrize("first, second", [("openmpi", "mpich"), ("mpich", "openmpi")])  # the second does not start
def test_two_at_once(pleat, first, second):
    """One of them is refused, and says why; plain programs may run beside."""
    pleat.configure(LONG)
    number = submit(pleat, until(pleat, first, "end") + " & sleep 0",
                    f"while ! {PLEAT} launch --print {program('loop', first)} > /dev/null; do :; done",
                    f"while [ ! -e {pleat.path('go')} ]; do sleep 0.02; done",
                    f"{PLEAT} launch {program('loop', second)} --iterations 3; echo got $?; "
                    f"{PLEAT} launch echo beside; wait")
    launch_in_progress(pleat, number, 2, 2)
    touch(pleat, "go")
    wait_until(lambda: "beside" in pleat.output(number), "the other was refused")
    resize(pleat, number, 3)
    touch(pleat, "end")
    ends_well(pleat, number, 1)
    assert "got 125" in pleat.output(number)
    assert "has not ended" in pleat.output(number, "stderr")


@pytest.mark.parametrize("mpi", MPIS)
def test_input_exit_codes_and_children(pleat, mpi):
    """A relaunched program finds its input file again; its end is told as it was; what a shell left behind that
    executed `pleat launch` is none of its program's."""
    pleat.configure(LONG)
    loop = f"{PLEAT} launch {program('loop', mpi)}"
    number = submit(pleat, f"{loop} --no-such-option; echo got $?", f"{loop} --iterations 3 --die-at 1; echo got $?",
                    f"(while [ ! -e {pleat.path('end')} ]; do sleep 0.02; done; touch beside) & exec "
                    + until(pleat, mpi, "end"), options=["--on-resize", "relaunch"])
    launch_in_progress(pleat, number, 2, 2)
    resize(pleat, number, 3)
    touch(pleat, "end")
    ends_well(pleat, number, 1)
    got = [line.split()[1] for line in pleat.output(number).splitlines() if line.startswith("got")]
    assert got[0] == "2" and got[1] != "0", got
    assert os.path.exists(pleat.path("beside"))


@pytest.mark.parametrize("mpi", MPIS)
def test_cancelled_while_it_waits(pleat, mpi):
    """Its program died in a resize, and cannot be relaunched any more."""
    pleat.configure(deadlines("die") + "\nrelaunches = 0")
    touch(pleat, "once")
    shim = os.path.join(BUILD, "tests", f"misbehave-{mpi}.so")
    bad = f"LD_PRELOAD={shim} MISBEHAVE=die MISBEHAVE_ONCE={pleat.path('once')} "
    number = submit(pleat, bad + until(pleat, mpi, "end"))
    computes(pleat, number, 2)
    pleat.pleat("limits", number, "--max", "4", check=0)
    job = pleat.wait_end(number)
    assert job["state"] == "failed" and "broken" in job["reason"], job
    pleat.wait_free()
    wait_until(lambda: pleat.job_pids() == [], "nothing is left")
