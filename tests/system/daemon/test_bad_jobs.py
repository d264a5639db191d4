"""Jobs that cannot be, or that misbehave: what is said, and that nothing is left of them."""

import os
import signal

import pytest

from conftest import LOOP, Failure, loop, until_file, wait_until, words_of, parent_of

MALLEABLE = {"argv": [LOOP], "cwd": "/", "env": [], "runner": "malleable", "mpi": "openmpi",
             "kind": "malleable", "initial": 0, "asks": False}


def refused(pleat, code, *words):
    done = pleat.pleat(*words, check=code)
    assert done.stdout == ""
    assert pleat.call("jobs", all=True)["jobs"] == []
    return done.stderr


def test_unknown_program(pleat):
    assert "no-such-program" in refused(pleat, 127, "run", "--", "no-such-program")
    text = refused(pleat, 127, "run", "--", "./no/such")
    assert "no/such" in text and "No such file" in text
    assert "no-such-program" in refused(pleat, 1, "submit", "--", "no-such-program")


def test_program_gone_when_it_starts(pleat):
    spec = {"argv": [pleat.path("vanished")], "cwd": "/", "env": ["PATH=/bin"], "runner": "plain",
            "mpi": "none", "kind": "rigid", "min": 1, "max": 1, "initial": 0, "sizes": "any",
            "asks": False, "site": None, "estimate_s": 0}
    number = pleat.call("submit", **spec)["job"]
    job = pleat.wait_end(number)
    assert (job["state"], job["reason"], job["attempt"]) == ("failed", "could not be started", 0)
    assert "vanished" in job["text"] and "no such file" in job["text"]
    assert job["exit_code"] == 127
    pleat.wait_free()


def test_exit_codes_of_what_never_ran(pleat):
    """As a shell's where the program is the reason, else 125: an output that cannot be made is none."""
    text = pleat.pleat("run", "--output", "/nonexistent/x", "--", "true", check=125).stderr
    assert "cannot open the output file '/nonexistent/x'" in text
    with open(pleat.path("words"), "w", encoding="utf-8") as file:
        file.write("no program")
    os.chmod(pleat.path("words"), 0o755)
    text = pleat.pleat("run", "--", pleat.path("words"), check=126).stderr
    assert "neither a program for this machine nor a script" in text


def test_not_executable(pleat):
    with open(pleat.path("data"), "w", encoding="utf-8") as file:
        file.write("no program")
    assert "data" in refused(pleat, 126, "run", "--", "./data")


def test_minimum_above_maximum(pleat):
    assert "--min 5 is above --max 3" in refused(
        pleat, 2, "submit", "--min", "5", "--max", "3", "--", LOOP)
    with pytest.raises(Failure, match="minimum 5 is above the maximum 3"):
        pleat.call("submit", **MALLEABLE, min=5, max=3, sizes="any")


def test_larger_than_the_machine(pleat):
    text = refused(pleat, 1, "submit", "-n", "9", "--", "true")
    assert "needs at least 9 processors" in text and "this machine has 8" in text
    text = refused(pleat, 1, "submit", "--min", "9", "--max", "20", "--", LOOP)
    assert "needs at least 9 processors" in text and "this machine has 8" in text


def test_no_size_between_the_limits(pleat):
    assert "--sizes powers: none is from 5 to 7" in refused(
        pleat, 2, "submit", "--min", "5", "--max", "7", "--sizes", "powers", "--", LOOP)
    with pytest.raises(Failure, match="no accepted size lies between the minimum 5 and the maximum 7"):
        pleat.call("submit", **MALLEABLE, min=5, max=7, sizes="powers")


def test_unknown_site(pleat):
    assert "no site 'moon': see 'pleat sites'" in refused(
        pleat, 1, "submit", "--site", "moon", "--", "true")


def test_no_such_job(pleat):
    for words in (["show"], ["cancel"], ["wait"], ["log"], ["limits", "--min", "1"], ["grow", "99", "1"],
                  ["events"]):
        done = pleat.pleat(*(words if "99" in words else [*words, "99"]), check=4)
        assert "no job 99" in done.stderr


def test_a_greedy_application_gets_what_it_was_offered(pleat):
    """libpleat limits the answer of a program; test_peers has an agent that does not."""
    number = pleat.submit(*loop("--greedy", more=["--asks", "--initial", "2"], largest=6))
    pleat.wait_size(number, 6)
    assert [(r["from"], r["to"], r["outcome"]) for r in pleat.job(number)["history"]["resizes"]] == [
        (2, 6, "grown")]
    pleat.wait_ranks(number, 6)


def test_refusing(pleat):
    number = pleat.submit(*loop("--accept", "2,3", more=["--asks", "--initial", "3"]))
    pleat.wait_outcome(number, "refused")
    assert pleat.job(number)["processors"] == 3
    other = pleat.submit("-n", "6", *until_file(pleat.path("go")))
    pleat.wait_size(number, 2)
    pleat.wait_for(other, "running")


def test_dying_while_growing(pleat):
    """It goes on at its old size, from the state that is held of it."""
    number = pleat.submit(*loop("--die-joining", more=["--initial", "2"]))
    resize = pleat.wait_outcome(number, "relaunched")
    assert (resize["from"], resize["to"]) == (2, 2)
    pleat.wait_ranks(number, 2)
    assert pleat.job(number)["state"] == "running"
    pleat.pleat("cancel", number, check=0)
    pleat.wait_free()
    assert pleat.job_pids() == []


def test_dying_while_growing_for_good(pleat):
    pleat.configure("relaunches = 0")
    number = pleat.submit(*loop("--die-joining", more=["--initial", "2"]))
    job = pleat.wait_end(number)
    assert (job["state"], job["reason"]) == ("failed", "broken in a resize")
    assert job["exit_code"] != 0 or job["signal"]
    assert [r["outcome"] for r in job["history"]["resizes"]] == ["job ended"]
    pleat.wait_free()
    assert pleat.job_pids() == []


def test_dying_while_shrinking(pleat):
    # its ranks are stopped before they are told, so they are in the middle of it when they are killed
    number = pleat.submit(*loop(more=["--initial", "4"], largest=4))
    ranks = pleat.wait_ranks(number, 4)
    for pid in ranks:
        os.kill(pid, signal.SIGSTOP)
    pleat.pleat("shrink", number, 2, check=0)
    assert pleat.job(number)["state"] == "resizing"
    for pid in ranks:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:  # mpirun was told of the first one, and ended it
            pass
    job = pleat.wait_end(number)
    assert job["state"] == "failed"
    assert [r["outcome"] for r in job["history"]["resizes"]] == ["job ended"]
    pleat.wait_free()
    assert pleat.job_pids() == []


def test_a_rank_is_killed(pleat):
    number = pleat.submit(*loop(largest=3))
    os.kill(pleat.wait_ranks(number, 3)[1], signal.SIGKILL)
    job = pleat.wait_end(number)
    assert job["state"] == "failed" and job["reason"] == "exited" and job["exit_code"] != 0
    pleat.wait_free()
    assert pleat.job_pids() == []


def test_the_program_dies_by_itself(pleat):
    done = pleat.pleat("run", *loop("--die-at", "3", largest=2))
    assert done.returncode not in (0, 3) and "exit" in done.stderr
    pleat.wait_free()


def test_mandatory_shrink_not_honoured(pleat):
    pleat.configure("shrink_s = 1\ngrace_s = 0.5\nrelaunches = 0")
    number = pleat.submit(*loop("--stuck-at", "3", more=["--initial", "4"], largest=4))
    pleat.wait_ranks(number, 4)
    waiting = pleat.submit("-n", "6", *until_file(pleat.path("go")))
    job = pleat.wait_end(number)
    assert (job["state"], job["reason"]) == ("failed", "mandatory shrink not honoured")
    assert [(r["mandatory"], r["outcome"], r["waiter"]) for r in job["history"]["resizes"]] == [
        (True, "not honoured", waiting)]
    assert "mandatory shrink not honoured" in pleat.pleat("ps", "--all", check=0).stdout
    pleat.wait_for(waiting, "running")
    assert pleat.job_pids(number) == []


def test_voluntary_growth_never_applied(pleat):
    pleat.configure("apply_s = 1")
    number = pleat.submit(*loop("--stuck-at", "3", more=["--initial", "2"], largest=2))
    wait_until(lambda: (pleat.job(number)["progress"] or {}).get("iteration") == 3, "it is stuck")
    pleat.pleat("limits", number, "--max", "4", check=0)
    resize = pleat.wait_outcome(number, "timed out")
    assert not resize["mandatory"] and resize["from"] == 2
    job = pleat.job(number)
    assert job["state"] in ("running", "resizing") and job["processors"] == 2
    assert len(pleat.rank_pids(number)) == 2


def test_stuck_in_a_resize(pleat):
    """The joining ranks stop; those that wait for them in the resize cannot come out of it."""
    pleat.configure("apply_s = 1\nstuck_s = 1\nrelaunches = 0")
    number = pleat.submit(*loop(more=["--initial", "2"], largest=2))
    old = set(pleat.wait_ranks(number, 2))
    pleat.pleat("limits", number, "--max", "4", check=0)

    def stop_new():
        new = [pid for pid in pleat.rank_pids(number) if pid not in old]
        for pid in new:
            os.kill(pid, signal.SIGSTOP)
        return new
    wait_until(stop_new, "processes that join")
    job = pleat.wait_end(number)
    assert (job["state"], job["reason"]) == ("failed", "stuck in a resize")
    assert job["history"]["resizes"][-1]["outcome"] == "stuck"
    pleat.wait_free()
    assert pleat.job_pids() == []


def test_stopped_launcher_is_ended_too(pleat):
    number = pleat.submit(*loop(largest=2))
    launcher = parent_of(pleat.wait_ranks(number, 2)[0])
    assert "mpirun" in words_of(launcher)[0] or "orterun" in words_of(launcher)[0]
    os.kill(launcher, signal.SIGSTOP)
    pleat.pleat("cancel", number, check=0)
    assert pleat.wait_end(number)["state"] == "cancelled"
    assert pleat.job_pids() == []
