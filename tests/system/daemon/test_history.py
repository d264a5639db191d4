"""What jobs did and used: `history` of the protocol. Its figures must add up."""

import os
import signal

import pytest

from conftest import Failure, loop, until_file, wait_until


def touch(path):
    with open(path, "w", encoding="ascii"):
        pass


def entry(pleat, number):
    jobs = pleat.call("history", job=number)["jobs"]
    assert [job["job"] for job in jobs] == [number]
    return jobs[0]


def close(a, b):
    return abs(a - b) < 1e-5  # sums of microseconds, each rounded once


def assert_adds_up(job):
    assert close(sum(s["processor_s"] for s in job["sizes"]), job["processor_s"]), job
    for size in job["sizes"]:
        assert close(size["processor_s"], size["processors"] * size["seconds"]), job
    assert [s["processors"] for s in job["sizes"]] == sorted({s["processors"] for s in job["sizes"]})
    if job["attempt"] == 0 and job["end_s"] is not None and job["start_s"] is not None:
        assert close(sum(s["seconds"] for s in job["sizes"]), job["run_s"]), job
        assert close(job["run_s"], job["end_s"] - job["start_s"]), job
    for resize in job["resizes"]:
        large = max(resize["from"], resize["to"])
        small = min(resize["from"], resize["to"])
        assert small * resize["seconds"] - 1e-5 <= resize["processor_s"] <= large * resize["seconds"] + 1e-5
        if resize["end_s"] is not None:
            assert close(resize["seconds"], resize["end_s"] - resize["begun_s"])


def from_events(pleat, number):
    """Processor-seconds between the changes of size, counted from the events alone; of a job whose
    resizes are all over, the processors of one under way left out."""
    events = [e for e in pleat.call("events", job=number)["events"] if e["kind"] in ("size", "state")]
    total, size, since = 0, 0, 0
    for event in events:
        total += size * (event["time_s"] - since)
        since = event["time_s"]
        if event["kind"] == "size":
            size = event["processors"]
        elif event["to"] in ("done", "failed", "cancelled", "queued"):
            size = 0
    return total


def test_of_a_resized_job(pleat):
    number = pleat.submit("--name", "wave", *loop("--resizes", "3", more=["--initial", "2"], largest=4))
    pleat.wait_size(number, 4)
    pleat.wait_ranks(number, 4)
    running = entry(pleat, number)
    assert running["state"] == "running" and running["end_s"] is None and running["cpu_s"] is None
    assert_adds_up(running)
    pleat.pleat("shrink", "--wait", number, 1, check=0)
    pleat.wait_size(number, 3)
    pleat.pleat("grow", number, 1, check=0)
    pleat.wait_end(number)
    job = entry(pleat, number)
    assert (job["name"], job["kind"], job["state"], job["min"], job["max"], job["exit_code"], job["signal"],
            job["attempt"], job["archived"]) == ("wave", "malleable", "done", 1, 4, 0, None, 0, False)
    assert [(r["from"], r["to"], r["outcome"], r["by"]) for r in job["resizes"]] == [
        (2, 4, "grown", "policy"), (4, 3, "shrunk", "user"), (3, 4, "grown", "user")]
    assert [s["processors"] for s in job["sizes"]] == [2, 3, 4]
    assert_adds_up(job)
    assert job["processor_s"] >= running["processor_s"] > 0
    # what is held in a resize and not computed on is more than the sizes that it runs at say
    counted = from_events(pleat, number)
    spent = sum(abs(r["to"] - r["from"]) * r["seconds"] for r in job["resizes"])
    assert counted - 1e-5 <= job["processor_s"] <= counted + spent + 1e-5
    assert job["cpu_s"] > 0 and job["resize_s"] > 0
    assert running["max_rss_kb"] is None and job["max_rss_kb"] > 1000  # MPI alone takes more
    assert close(job["resize_s"], sum(r["total_s"] for r in pleat.job(number)["history"]["resizes"]))


def test_is_the_same_after_a_restart(pleat):
    number = pleat.submit(*loop("--resizes", "2", more=["--initial", "2"], largest=4))
    pleat.wait_ranks(number, 4)
    pleat.wait_size(number, 4)
    waits = pleat.submit("-n", "8", *until_file(pleat.path("go")))
    pleat.pleat("shrink", number, 1, check=0)
    pleat.wait_end(number)
    before = entry(pleat, number)
    pleat.kill_daemon()
    assert entry(pleat, number) == before
    pleat.wait_for(waits, "running")
    touch(pleat.path("go"))
    job = pleat.wait_end(waits)
    use = entry(pleat, waits)
    assert use["exit_code"] == 7 and use["sizes"][0]["processors"] == 8 and len(use["sizes"]) == 1
    assert close(use["run_s"], job["run_s"]) and close(use["wait_s"], job["wait_s"])
    assert_adds_up(use)


def test_of_one_that_was_begun_again(pleat):
    number = pleat.submit("-n", "3", "--", "sleep", "1000")
    pleat.wait_for(number, "running")
    os.kill(pleat.agent_pid(), signal.SIGKILL)
    wait_until(lambda: pleat.job(number)["attempt"] == 1 and pleat.job(number)["state"] == "running",
               "it is begun again")
    pleat.call("cancel", job=number)
    pleat.wait_end(number)
    job = entry(pleat, number)
    assert job["attempt"] == 1 and job["state"] == "cancelled"
    assert close(job["processor_s"], from_events(pleat, number))  # both runs
    assert sum(s["seconds"] for s in job["sizes"]) > job["run_s"]
    assert_adds_up(job)


def test_pages_and_times(pleat):
    numbers = [pleat.submit("--", "true") for _ in range(5)]
    for number in numbers:
        pleat.wait_end(number)
    got, after = [], 0
    while True:
        page = pleat.call("history", after=after, limit=2)
        assert len(page["jobs"]) <= 2
        got += page["jobs"]
        after = page["jobs"][-1]["job"]
        if not page["more"]:
            break
    assert [job["job"] for job in got] == numbers
    third = got[2]
    overlapping = pleat.call("history", from_s=third["submit_s"], to_s=third["end_s"])["jobs"]
    assert third in overlapping
    assert all(j["submit_s"] < third["end_s"] and j["end_s"] >= third["submit_s"] for j in overlapping)
    assert pleat.call("history", to_s=got[0]["submit_s"])["jobs"] == []
    assert pleat.call("history", from_s=got[-1]["end_s"] + 1)["jobs"] == []
    with pytest.raises(Failure, match="no job 99"):
        pleat.call("history", job=99)
    with pytest.raises(Failure, match="seconds since 1970"):
        pleat.call("history", from_s=-1)
