"""Resizes that cannot go on end in a relaunch from the last state, and the result is still right."""

import contextlib
import os
import signal

import pytest

from conftest import loop, wait_until
from relaunching import MPICH, SHORT, computes, each_mpi, deadlines, ends_well, submit, text_of_events


needs_mpich = pytest.mark.skipif(not os.path.exists(os.path.join(MPICH, "loop")), reason="no MPICH")
# where new processes wait already for the state that has just been saved
SAVED = [("die", "mpich")]


@pytest.mark.parametrize("how, mpi", each_mpi(["sleep", "die"], SAVED))
def test_a_growth_that_cannot_go_on(pleat, mpi, how):
    pleat.configure(deadlines(how))
    number = submit(pleat, mpi, misbehave=how)
    computes(pleat, number, 2)
    pleat.pleat("limits", number, "--max", "4", check=0)
    resize = pleat.wait_outcome(number, "relaunched")
    assert (resize["from"], resize["to"]) == (2, 2)  # back to where it was
    computes(pleat, number, 2)
    ends_well(pleat, number)
    if how == "sleep":  # all were told to end; where one died by itself its launcher says so
        assert pleat.output(number, "stderr") == ""
    text = text_of_events(pleat, number)
    assert "relaunching" in text and ("broken in a resize" if how == "die" else "stuck") in text


@needs_mpich
@pytest.mark.parametrize("sizes, largest, outcome", [((1, 2), 4, "grown"), ((1, 4), 2, "shrunk")])
def test_those_that_wait_go_on_from_what_the_dead_have_saved(pleat, sizes, largest, outcome):
    pleat.configure(deadlines("die"))
    number = submit(pleat, "mpich", sizes=sizes, options=["--initial", sizes[1]], misbehave="die")
    computes(pleat, number, sizes[1])
    pleat.pleat("limits", number, "--max", largest, check=0)
    resize = pleat.wait_outcome(number, outcome)
    assert (resize["from"], resize["to"]) == (sizes[1], largest)
    computes(pleat, number, largest)
    ends_well(pleat, number)


@pytest.mark.parametrize("how, mpi", each_mpi(["sleep", "die"], SAVED))
def test_a_mandatory_shrink_that_cannot_go_on(pleat, mpi, how):
    pleat.configure(deadlines(how))
    number = submit(pleat, mpi, sizes=(1, 4), options=["--initial", "4"], misbehave=how)
    computes(pleat, number, 4)
    pleat.pleat("limits", number, "--max", "2", check=0)
    resize = pleat.wait_outcome(number, "relaunched")
    assert (resize["from"], resize["to"], resize["mandatory"]) == (4, 2, True)
    computes(pleat, number, 2)
    ends_well(pleat, number)


def test_a_spawn_that_hangs(pleat):
    pleat.configure(SHORT)
    number = submit(pleat, "openmpi", name="heat", misbehave="spawn",
                    args=["--pause", "5", "--iterations", "500"])
    computes(pleat, number, 2)
    pleat.pleat("limits", number, "--max", "4", check=0)
    pleat.wait_outcome(number, "relaunched")
    assert ends_well(pleat, number)["processors"] in (0, 2)


def test_processes_stuck_while_joining(pleat):
    """The joining ranks are stopped; those that wait for them cannot come out of the resize."""
    pleat.configure(SHORT)
    for _ in range(5):  # on a busy machine they may have joined before they are stopped, or are too late to be waited for
        number = submit(pleat, "openmpi")
        old = set(pleat.wait_ranks(number, 2))
        pleat.pleat("limits", number, "--max", "4", check=0)

        def new(job=number, ranks=old):
            return [pid for pid in pleat.rank_pids(job) if pid not in ranks]

        def stop_new():
            for pid in new():
                os.kill(pid, signal.SIGSTOP)
            return new()
        stopped = wait_until(stop_new, "processes that join")
        resize = wait_until(lambda: [r["outcome"] for r in pleat.job(number)["history"]["resizes"] if r["outcome"]], "it has an end")
        if "relaunched" in resize:
            break
        for pid in stopped:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        ends_well(pleat, number)
        os.unlink(pleat.path("end"))  # for which the next one would end at once
    pleat.wait_outcome(number, "relaunched")
    ends_well(pleat, number)


def test_the_daemon_dies_in_a_relaunch(pleat):
    pleat.configure(SHORT + "\nrelaunch_s = 60")
    number = submit(pleat, "openmpi", misbehave="sleep")
    computes(pleat, number, 2)
    pleat.pleat("limits", number, "--max", "4", check=0)
    wait_until(lambda: pleat.job(number)["state"] == "resizing" and not os.path.exists(pleat.path("once")),
               "it sleeps in the resize")
    pleat.kill_daemon()
    pleat.wait_outcome(number, "relaunched")
    ends_well(pleat, number)


def test_not_more_often_than_allowed(pleat):
    """It never comes to an adaptation point."""
    pleat.configure(SHORT + "\nrelaunches = 1")
    number = pleat.submit(*loop("--stuck-at", "0", more=["--initial", "4"], largest=4))
    pleat.wait_for(number, "running")
    pleat.pleat("limits", number, "--max", "3", check=0)
    pleat.wait_outcome(number, "relaunched")
    pleat.pleat("limits", number, "--max", "2", check=0)
    job = pleat.wait_end(number)
    assert (job["state"], job["reason"]) == ("failed", "mandatory shrink not honoured")
    assert job["history"]["sizes"][-1]["processors"] == 3


def test_never_relaunched_where_its_user_says_merge(pleat):
    pleat.configure(SHORT)
    number = submit(pleat, "openmpi", options=["--on-resize", "merge"], misbehave="sleep")
    computes(pleat, number, 2)
    pleat.pleat("limits", number, "--max", "4", check=0)
    job = pleat.wait_end(number)
    assert (job["state"], job["reason"]) == ("failed", "stuck in a resize")
