"""Copies that a program saves between resizes (--save): its ranks die at any moment, and it goes on from the last copy,
to the same bits as without a death. The programs check their own results."""

import os
import random
import signal

import pytest

from conftest import BUILD, is_alive, wait_until
from relaunching import LONG, MPIS, computes, program, submit, text_of_events

HEAT = ("--n", "100", "--iterations", "400")


def heat(pleat, mpi, size, *words, options=()):
    return pleat.submit("--malleable", "-n", size, *options, "--", program("heat", mpi), *HEAT, *words)


def bits(pleat, number):
    """The result of a job, which is there once."""
    text = pleat.output(number)
    assert text.count("RESULT ok") == 1, (text, pleat.output(number, "stderr"))
    return text.split("bits=")[1].split()[0]


def saved(pleat, number, after=0):
    """The iteration of its last copy, once that is later."""
    def there():
        job = pleat.job(number)
        assert job["state"] in ("claiming", "running", "resizing"), job
        return job["saved"] and job["saved"]["iteration"] > after
    wait_until(there, f"job {number} has saved a copy after iteration {after}")
    return pleat.job(number)["saved"]["iteration"]


def kill_one(pleat, number, path):
    """Kills a rank, and waits until no rank of then is left."""
    ranks = pleat.rank_pids(number, path)
    os.kill(random.choice(ranks), signal.SIGKILL)
    wait_until(lambda: not any(map(is_alive, ranks)), "the ranks are gone")


def went_on(pleat, number):
    return text_of_events(pleat, number).count("started again: it goes on from iteration")


@pytest.mark.parametrize("mpi", MPIS)
def test_ranks_die_between_resizes(pleat, mpi):
    """As often as `relaunches` allows; then the job fails, and says so."""
    pleat.configure(LONG + "\nrelaunches = 1")
    path = program("heat", mpi)
    whole = heat(pleat, mpi, 1)
    assert pleat.wait_end(whole)["state"] == "done"
    number = heat(pleat, mpi, 3, "--pause", "15", options=["--save", "3it"])
    saved(pleat, number)
    kill_one(pleat, number, path)
    wait_until(lambda: went_on(pleat, number), "it was started again")
    assert "its ranks died, and a copy that was saved at iteration" in text_of_events(pleat, number)
    assert "saved" in pleat.pleat("show", number, check=0).stdout
    job = pleat.wait_end(number)
    assert job["state"] == "done", (job, pleat.output(number, "stderr"))
    assert bits(pleat, number) == bits(pleat, whole)
    assert [one["outcome"] for one in job["history"]["resizes"]] == ["relaunched"]
    again = heat(pleat, mpi, 2, "--pause", "30", "--iterations", "1000000", options=["--save", "0.05s"])  # it does not end
    saved(pleat, again)
    kill_one(pleat, again, path)
    wait_until(lambda: went_on(pleat, again), "it was started again")
    saved(pleat, again, saved(pleat, again))  # the dead may have saved more than once; a later copy is of the new ranks
    kill_one(pleat, again, path)
    job = pleat.wait_end(again)
    assert (job["state"], job["reason"]) == ("failed", "broken in a resize")
    assert "RESULT" not in pleat.output(again)


@pytest.mark.parametrize("mpi", MPIS)
@pytest.mark.parametrize("name, steps", [("arrays", (1, 2, 3)), ("items", (2, 6))])
def test_ranks_die_while_they_save(pleat, name, steps, mpi):
    """Rank 1 dies at one step after the other of a save, once there is a copy: each job goes on from it."""
    pleat.configure(LONG)
    test = os.path.join(BUILD, "tests", f"test-app-{name}-{mpi}")
    jobs = []
    for step in steps:
        once = pleat.path(f"once-{step}")
        number = pleat.submit("--malleable", "-n", 2, "--save", "4it", "--env", f"PLEAT_TEST_CRASH=die:1:{step}:{once}",
                              "--", test, "--few", "--resizes", 1)
        jobs.append((number, once))
    for number, once in jobs:
        saved(pleat, number)
        open(once, "w", encoding="utf-8").close()
    for number, once in jobs:
        job = pleat.wait_end(number)
        assert job["state"] == "done", (job, pleat.output(number, "stderr"))
        assert pleat.output(number).count("RESULT ok") == 1
        assert [one["outcome"] for one in job["history"]["resizes"]] == ["relaunched"]
        assert not os.path.exists(once)


def test_a_resize_and_a_death(pleat):
    """Copies go on at the new size, and a resize takes nothing away from them."""
    pleat.configure(LONG + "\nlifetime_s = 0")
    number = submit(pleat, "openmpi", sizes=(1, 4), options=["--initial", "2", "--save", "2it"])
    computes(pleat, number, 4)  # the policy lets it grow
    at = saved(pleat, number)
    pleat.pleat("shrink", "--wait", number, 2, check=0)
    at = saved(pleat, number, at)
    kill_one(pleat, number, program("loop", "openmpi"))
    computes(pleat, number, 2)
    saved(pleat, number, at)
    open(pleat.path("end"), "w", encoding="utf-8").close()
    assert pleat.wait_end(number)["state"] == "done"
    assert pleat.output(number).count("RESULT ok") == 1


def test_the_program_of_a_script_dies(pleat):
    """The program of a script goes on from its copy; the script does not notice."""
    pleat.configure(LONG)
    script = pleat.path("script")
    with open(script, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\necho begins\n"
                   f"exec pleat launch --save 3it {program('heat', 'openmpi')} {' '.join(HEAT)} --pause 15\n")
    os.chmod(script, 0o700)
    pleat.env["PATH"] = os.path.join(BUILD, "bin") + ":" + pleat.env["PATH"]
    number = pleat.submit("--malleable", "-n", 2, "--save", "1d", "--", script)
    saved(pleat, number)
    kill_one(pleat, number, program("heat", "openmpi"))
    assert pleat.wait_end(number)["state"] == "done", pleat.output(number, "stderr")
    assert pleat.output(number).count("begins") == 1 and bits(pleat, number)


def test_no_copies_are_wanted(pleat):
    pleat.configure(LONG)
    for words, why in ((("--save", "10"), "10 what? Say 10it"), (("--save", "0it"), "--save"), (("--save", "1ns"), "nor a number of iterations"),
                       (("--save", "1:30"), "is '1:30'"), (("--save", "0.5"), "0.5 what"),
                       (("--save", "3it", "--no-requeue"), "--no-requeue"),
                       (("--save", "3it", "--on-resize", "merge"), "merge"),
                       (("--save", "3it", "--runner", "mpi"), "libpleat")):
        done = pleat.pleat("submit", "-n", 2, "--malleable", *words, "--", program("heat", "openmpi"))
        assert done.returncode in (1, 2) and why in done.stderr, (words, done.stderr)
    number = heat(pleat, "openmpi", 2, "--pause", "20")
    computes(pleat, number, 2)
    assert pleat.job(number)["saved"] is None
    kill_one(pleat, number, program("heat", "openmpi"))
    assert pleat.wait_end(number)["state"] == "failed"  # nothing to go on from
