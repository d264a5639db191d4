"""The end of the log is lost, at each of its records by turns: of jobs that had a full life, none runs again that ran, and
none is lost that the rest of the log knows to wait. What ran is told by the programs themselves, in the output of
their jobs.

    PLEAT_CHAOS_CUTS=3,17 PLEAT_BUILD=build pytest-3 -s tests/system/chaos/test_lost_end.py      only these records
"""

import concurrent.futures
import contextlib
import glob
import os
import shutil
import sqlite3

import pytest

from conftest import FINAL, ChaosInstance, Stubborn, is_alive, kill, touch, wait_until

AT_ONCE = 6  # they wait for their daemons most of the time
TELL = 'echo "ran $PLEAT_RUN"; '


def tell(*words):
    return ["sh", "-c", TELL + '"$@"', "tell", *words]


def until(path):
    return ["sh", "-c", TELL + 'while [ ! -e "$1" ]; do sleep 0.02; done', "until", path]


def ran(directory, number):
    """The runs of a job, as its program told them; of the last start, which begins its output anew."""
    try:
        with open(os.path.join(directory, "jobs", str(number), "stdout"), encoding="ascii") as file:
            return [line.split()[1] for line in file if line.startswith("ran ")]
    except FileNotFoundError:
        return []


@pytest.fixture(name="life", scope="module")
def fixture_life():
    """A directory as a pleatd and an agent leave it that are killed together. Its jobs: ended well, failed, cancelled while
    it ran, started twice since its agent died, waited for others and ended; one runs, one waits, one could be claiming."""
    instance = ChaosInstance()
    daemon = Stubborn(instance)
    path = instance.path
    try:
        daemon.wait_end(daemon.submit("well", tell("true")))
        daemon.wait_end(daemon.submit("fails", tell("sh", "-c", "exit 3")))
        cancelled = daemon.submit("cancelled", tell("sleep", "1000"))
        daemon.wait(cancelled, "runs", lambda job: job["state"] == "running")
        daemon.call("cancel", job=cancelled)
        daemon.wait_end(cancelled)
        twice = daemon.submit("twice", until(path("go-twice")))
        daemon.wait(twice, "runs", lambda job: job["state"] == "running" and ran(instance.dir, twice))
        kill(instance.agent_pid())
        daemon.wait(twice, "runs again", lambda job: job["state"] == "running" and job["attempt"] == 1)
        touch(path("go-twice"))
        daemon.wait_end(twice)
        wide = daemon.submit("wide", until(path("go-wide")), 8)
        daemon.wait(wide, "runs", lambda job: job["state"] == "running")
        behind = [daemon.submit("behind", tell("true"), 8) for _ in range(2)]
        touch(path("go-wide"))
        for number in behind:
            daemon.wait_end(number)
        runs = daemon.submit("runs", until(path("never")), 5)
        daemon.wait(runs, "runs", lambda job: job["state"] == "running" and ran(instance.dir, runs))
        waits = daemon.submit("waits", tell("true"), 8)
        instance.call("info")
        agent = instance.agent_pid()
        left = instance.job_pids(runs)
        instance.kill_daemon()
        daemon.close()
        for pid in (agent, *left):
            kill(pid)
        wait_until(lambda: not any(is_alive(pid) for pid in (agent, *left)), "all of it is dead")
        yield instance, waits
    finally:
        daemon.close()
        instance.clean()


def copy(life, name):
    """Without what follows record `name`; the mark still says how far it was."""
    other = ChaosInstance()
    for path in glob.glob(glob.escape(life.log) + "*"):
        shutil.copy(path, other.path(os.path.basename(path)))
    shutil.copy(life.path("log.mark"), other.path("log.mark"))
    shutil.copytree(life.path("jobs"), other.path("jobs"))
    with contextlib.closing(sqlite3.connect(other.log)) as base:
        base.execute("DELETE FROM log WHERE seq > ?", (name,))
        base.commit()
    return other


def settles(daemon, waits):
    """All that can end has ended; the job that waits does so until the one before it is over."""
    jobs = daemon.call("jobs", all=True)["jobs"]
    return all(job["state"] in FINAL for job in jobs) and jobs


def one(life, waits, seq, mark):
    """mark: what becomes of log.mark: `kept`, `garbled`, `missing`."""
    other = copy(life, seq)
    said = f"cut after record {seq}, log.mark {mark}"
    if mark == "garbled":
        with open(other.path("log.mark"), "r+b") as file:
            file.write(b"\0" * 40)
    elif mark == "missing":
        os.unlink(other.path("log.mark"))
    before = {number: ran(life.dir, number) for number in range(1, waits + 1)}
    daemon = Stubborn(other)
    try:
        number = daemon.submit("next", tell("true"), 1)
        assert number == waits + 1, f"{said}: number {number}"
        wait_until(lambda: settles(daemon, waits), said)
        assert daemon.job(number)["state"] == "done"
        known = {job["job"]: job["state"] for job in daemon.call("jobs", all=True)["jobs"]}
        for job, runs in before.items():
            again = ran(other.dir, job)
            if job == waits:
                assert len(again) <= 1 and (job not in known or known[job] == "done"), (said, job, known, again)
            else:
                assert again == runs, f"{said}: job {job} ran {runs}, and then {again}"
        events = [event["text"] for event in daemon.call("events", limit=4000)["events"] if event["kind"] == "daemon"]
        with open(other.path("pleatd.log"), encoding="utf-8") as file:
            text = file.read()
        if mark != "kept":
            assert "log.mark is missing or cannot be read" in text
            assert any("log.mark is missing or cannot be read" in event for event in events), (said, events)
        daemon.close()
        other.instance_id = None  # others have the same, at the same time
        other.finish()
    except BaseException as failure:
        daemon.close()
        with open(other.path("pleatd.log"), encoding="utf-8", errors="replace") as file:
            raise AssertionError(f"{said}: {failure!r}\n{file.read()}") from failure
    finally:
        other.clean()


def test_cut_at_every_record(life):
    instance, waits = life
    with contextlib.closing(sqlite3.connect(f"file:{instance.log}?mode=ro", uri=True)) as base:
        last = base.execute("SELECT max(seq) FROM log").fetchone()[0]
    chosen = os.environ.get("PLEAT_CHAOS_CUTS")
    cuts = list(map(int, chosen.split(","))) if chosen else range(15, last)
    cases = [(seq, "kept") for seq in cuts]
    if not chosen:
        cases += [(seq, mark) for mark in ("garbled", "missing") for seq in range(20, last + 1, 7)]
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for _ in pool.map(lambda case: one(instance, waits, *case), cases):
            pass
    print(f"{len(cases)} cuts")
