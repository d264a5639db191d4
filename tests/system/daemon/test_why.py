"""Why a job waits, has its size, has ended: what a real daemon says, and a frame of the live view."""

import re
import signal

import pytest

from conftest import CONFIG, loop, wait_until


def why(pleat, number):
    return pleat.call("why", job=number)


def test_one_that_waits_and_those_behind_it(pleat):
    first = pleat.submit("-n", 6, "--estimate", "1h", "--", "sleep", "1000")
    head = pleat.submit("-n", 8, "--", "sleep", "1000")
    second = pleat.submit("-n", 2, "--", "sleep", "1000")
    pleat.wait_for(first, "running")
    waiting = why(pleat, head)["waiting"]
    assert (waiting["code"], waiting["need"], waiting["free"]) == ("processors", 8, 2)
    assert waiting["ahead"] == [] and waiting["queued"] == 2
    assert [(one["job"], one["processors"]) for one in waiting["holders"]] == [(first, 6)]
    assert waiting["sites"][0]["free"] == 2 and waiting["sites"][0]["reclaimable"] == 0
    behind = why(pleat, second)["waiting"]
    assert (behind["code"], behind["behind"]) == ("behind", head)
    assert behind["ahead"] == [{"job": head, "need": 8}] and behind["ahead_count"] == 1
    text = pleat.pleat("why", second, check=0).stdout
    assert f"nobody overtakes job {head}, which stands in front (queue fcfs)" in text
    assert f"before it  job {head} (8)\n" in text
    # under EASY the head is promised the first's end, which one without an estimate would delay
    pleat.pleat("policies", "queue=easy", check=0)
    wait_until(lambda: why(pleat, head)["waiting"]["promised_s"], "the head has a promise")
    assert why(pleat, head)["waiting"]["holders"][0]["expected_end_s"] is not None
    kept = why(pleat, second)["waiting"]  # it has no estimate: it would stand in the head's way
    assert kept["code"] == "kept" and kept["kept_for"][0]["job"] == head


def test_sizes_and_who_decided_them(pleat):
    pleat.pleat("policies", "malleability=fpsma", check=0)
    running = pleat.submit(*loop(smallest=1, largest=8, more=("--initial", "2")))
    pleat.wait_size(running, 8)
    other = pleat.submit("-n", 3, "--", "sleep", "1000")
    pleat.wait_for(other, "running")
    pleat.wait_size(running, 5)
    facts = why(pleat, running)
    told = {(one["what"], one.get("from"), one.get("to")): one for one in facts["decisions"]}
    assert told["started", None, None]["processors"] == 2
    grown, shrunk = told["resize", 2, 8], told["resize", 8, 5]
    assert (grown["policy"], grown["outcome"], grown["offered"]) == ("fpsma", "grown", 6)
    assert (shrunk["policy"], shrunk["outcome"], shrunk["waiter"]) == ("fpsma", "shrunk", other)
    assert facts["size"]["code"] == "none free"
    text = pleat.pleat("why", running, check=0).stdout
    assert re.search(r"\d\d:\d\d:\d\d +grown 2 -> 8 by fpsma: 6 free processors were offered", text)
    assert f"shrunk 8 -> 5 by fpsma for job {other}, which waited" in text
    # what its user shrinks stays
    pleat.pleat("shrink", "--wait", "--to", 4, running, check=0)
    assert why(pleat, running)["size"]["code"] == "capped"
    assert "its user shrank it to 4" in pleat.pleat("why", running, check=0).stdout
    assert "shrunk 5 -> 4, as its user asked" in pleat.pleat("why", running, check=0).stdout
    # nothing begins, so there is nothing to wait for
    assert "4 -> 4" in pleat.pleat("shrink", "--wait", "--to", 4, running, check=0).stdout


def test_an_application_that_refuses(pleat):
    pleat.configure(text=CONFIG.replace("backoff_s = 0.2", "backoff_s = 1000"))
    number = pleat.submit(*loop("--accept", "2", smallest=1, largest=8,
                                more=("--initial", "2", "--asks")))
    pleat.wait_outcome(number, "refused")
    facts = why(pleat, number)
    assert facts["size"]["code"] == "backoff" and facts["size"]["until_s"] > facts["now_s"]
    text = pleat.pleat("why", number, check=0).stdout
    assert "its last resize failed: nothing is offered to it before" in text
    assert "not grown 2 -> 8 (refused) by egs" in text


def test_the_end(pleat):
    number = pleat.submit("--", "sh", "-c", "exit 3")
    pleat.wait_end(number)
    facts = why(pleat, number)
    assert facts["ending"]["exit_code"] == 3 and facts["waiting"] is None and facts["size"] is None
    assert [one["what"] for one in facts["decisions"]][-1] == "failed"
    assert "exit 3" in pleat.pleat("why", number, check=0).stdout
    assert pleat.pleat("why", 99).returncode == 4


@pytest.mark.parametrize("number, name", [(signal.SIGSEGV, "SEGV"), (signal.SIGKILL, "KILL")])
def test_a_crash(pleat, number, name):
    """Of a program, and of one that a script started last: then the shell's exit code stands for it."""
    job = pleat.submit("--", "sh", "-c", f"kill -{name} $$")
    assert pleat.wait_end(job)["state"] == "failed"
    ending = why(pleat, job)["ending"]
    assert (ending["signal"], ending["over"]) == (number, True)
    assert f"signal {int(number)} (SIG{name})" in pleat.pleat("why", job, check=0).stdout
    script = pleat.submit("--", "sh", "-c", f"sh -c 'kill -{name} $$'; exit $?")
    assert pleat.wait_end(script)["exit_code"] == 128 + number
    assert f"exit {128 + number} (as after signal {int(number)}, SIG{name})" in pleat.pleat("why", script, check=0).stdout


def test_the_same_after_a_restart(pleat):
    first = pleat.submit("-n", 8, "--", "sleep", "1000")
    second = pleat.submit("-n", 1, "--", "sleep", "1000")
    pleat.wait_for(first, "running")
    before = why(pleat, second)
    pleat.kill_daemon()
    after = why(pleat, second)
    for members in ("waiting", "decisions", "queued_s"):
        assert before[members] == after[members]


def test_a_frame_is_bounded(pleat):
    done = []
    for _ in range(3):  # one after the other: those that run beside each other end in any order
        done.append(pleat.submit("--", "true"))
        pleat.wait_end(done[-1])
    first = pleat.submit("-n", 8, "--", "sleep", "1000")
    pleat.wait_for(first, "running")
    waiting = [pleat.submit("-n", 2, "--", "sleep", "1000") for _ in range(3)]
    frame = pleat.call("top", ended=2)
    assert [job["job"] for job in frame["jobs"]] == [first, *waiting, done[2], done[1]]
    assert frame["left_out"] == 0 and frame["counts"] == {"done": 3, "running": 1, "queued": 3}
    assert frame["sites"][0]["used"] == 8
    assert [job["why"] and job["why"]["code"] for job in frame["jobs"]][:4] == \
        [None] + ["processors"] * 3
    few = pleat.call("top", limit=2)
    assert [job["job"] for job in few["jobs"]] == [first, waiting[0]] and few["left_out"] == 2
