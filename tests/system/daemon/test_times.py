"""Priorities, deadlines and advance reservations of real jobs."""

import os
import re

import pytest

from conftest import Failure, until_file


def touch(path):
    with open(path, "w", encoding="ascii"):
        pass


def replay_is_the_same(pleat):
    """The log that came of it, decided again: with these wishes in it."""
    pleat.pleat("stop", check=0)
    pleat.connection = None
    said = pleat.pleat("sim", "--replay", pleat.log, check=0).stdout
    assert "the same" in said and re.search(r"^decisions +[1-9]", said, re.M), said


def order_of_starts(pleat, order, wishes):
    """Jobs that need the whole machine wait behind one that has it: numbers by start."""
    pleat.configure(f"order = {order}")
    go = pleat.path("go")
    blocker = pleat.submit("-n", "8", *until_file(go))
    pleat.wait_for(blocker, "running")
    jobs = [pleat.submit("-n", "8", *wish, "--", "true") for wish in wishes]
    touch(go)
    for job in jobs:
        assert pleat.wait_end(job)["state"] == "done"
    return sorted(jobs, key=lambda job: pleat.job(job)["start_s"]), jobs


def test_priorities(pleat):
    started, (low, none, high) = order_of_starts(
        pleat, "priority", [["--priority", "-2"], [], ["--priority", "7"]])
    assert started == [high, none, low]
    assert [pleat.job(job)["priority"] for job in (low, none, high)] == [-2, 0, 7]
    assert "priority     7" in pleat.pleat("show", high, check=0).stdout
    replay_is_the_same(pleat)


def test_deadlines(pleat):
    started, (late, none, soon) = order_of_starts(
        pleat, "edf", [["--deadline", "2h"], [], ["--deadline", "1h"]])
    assert started == [soon, late, none]
    job = pleat.job(late)
    assert job["deadline_s"] - job["submit_s"] == pytest.approx(7200) and job["begin_s"] is None
    assert pleat.job(none)["deadline_s"] is None
    assert "deadline" in pleat.pleat("show", soon, check=0).stdout


def test_order_of_arrival_looks_at_neither(pleat):
    started, jobs = order_of_starts(
        pleat, "arrival", [["--deadline", "2h"], ["--deadline", "1h", "--priority", "5"]])
    assert started == jobs


def test_reservation(pleat):
    """It starts at its time, not before; who would be in its way waits, who is not starts."""
    reserved = pleat.submit("-n", "8", "--begin", "4s", "--estimate", "1h", "--", "true")
    job = pleat.job(reserved)
    assert job["state"] == "queued" and job["begin_s"] - job["submit_s"] == pytest.approx(4)
    assert "its reservation begins in" in job["reason"]
    long = pleat.submit("-n", "1", "--estimate", "1h", "--", "true")
    short = pleat.submit("-n", "1", "--estimate", "0.1s", "--", "true")
    reserved, long, short = (pleat.wait_end(job) for job in (reserved, long, short))
    assert {job["state"] for job in (reserved, long, short)} == {"done"}
    replay_is_the_same(pleat)
    assert reserved["start_s"] >= reserved["begin_s"]
    assert long["start_s"] >= reserved["end_s"]
    assert short["submit_s"] <= short["start_s"] <= short["end_s"]


def test_a_reservation_outlives_the_daemon(pleat):
    reserved = pleat.submit("-n", "8", "--begin", "3s", "--estimate", "1h", "--priority", "4",
                            "--deadline", "1d", "--", "true")
    before = pleat.job(reserved)
    pleat.kill_daemon()
    after = pleat.job(reserved)
    for name in ("begin_s", "deadline_s", "priority", "submit_s"):
        assert after[name] == before[name]
    job = pleat.wait_end(reserved)
    assert job["state"] == "done" and job["start_s"] >= job["begin_s"] == before["begin_s"]


def test_a_reservation_that_cannot_be_kept(pleat):
    kept = pleat.submit("-n", "6", "--begin", "1h", "--estimate", "1h", "--", "true")
    done = pleat.pleat("submit", "-n", "3", "--begin", "90min", "--estimate", "1h", "--", "true",
                       check=1)
    assert done.stdout == "" and "others have reserved them" in done.stderr
    assert pleat.pleat("run", "-n", "3", "--begin", "90min", "--estimate", "1h", "--", "true"
                       ).returncode == 125
    refused = pleat.job(kept + 1)
    assert refused["state"] == "cancelled" and "others have reserved them" in refused["text"]
    pleat.submit("-n", "2", "--begin", "90min", "--estimate", "1h", "--", "true")
    pleat.submit("-n", "8", "--begin", "3h", "--estimate", "1h", "--", "true")
    assert [job["job"] for job in pleat.call("jobs")["jobs"]] == [kept, kept + 3, kept + 4]
    pleat.kill_daemon()  # all of it is in the log, also what was refused
    assert [job["job"] for job in pleat.call("jobs")["jobs"]] == [kept, kept + 3, kept + 4]
    assert pleat.job(kept + 1)["state"] == "cancelled"
    pleat.pleat("cancel", kept, kept + 3, kept + 4, check=0)
    for job in (kept, kept + 3, kept + 4):
        assert pleat.wait_end(job)["state"] == "cancelled"


def test_a_reservation_needs_an_estimate(pleat):
    spec = {"argv": ["true"], "cwd": "/", "env": [], "min": 1, "max": 1}
    with pytest.raises(Failure) as caught:
        pleat.call("submit", **spec, begin_in_s=5)
    assert "'estimate_s'" in caught.value.text
    for name in ("begin_in_s", "deadline_in_s"):
        with pytest.raises(Failure) as caught:
            pleat.call("submit", **{**spec, "estimate_s": 1, name: -1})
        assert name in caught.value.text
    with pytest.raises(Failure) as caught:
        pleat.call("submit", **spec, priority=32768)
    assert "priority" in caught.value.text
    assert pleat.call("jobs", all=True)["jobs"] == []
    assert pleat.wait_end(pleat.call("submit", **spec, priority=-32768)["job"])["state"] == "done"
    assert not os.path.exists(pleat.path("jobs/2"))
