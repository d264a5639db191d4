"""The log is damaged while no pleatd has it open: bytes, pages, its end, all of it. pleatd always starts, uses the good
part, keeps the damaged file aside and says so; no number is given twice, no job's work is done twice.

    PLEAT_CHAOS_SEED=1 PLEAT_CHAOS_DAMAGES=1000 PLEAT_BUILD=build pytest-3 -s tests/system/chaos/test_damage.py -k random
"""

import contextlib
import glob
import json
import os
import random
import shutil
import signal
import sqlite3

import pytest

from conftest import ChaosInstance, Stubborn, check_nothing_left, diary, is_alive, touch, until_file, wait_until

SEED = int(os.environ.get("PLEAT_CHAOS_SEED", "0")) or random.SystemRandom().randrange(1, 10**6)
DAMAGES = int(os.environ.get("PLEAT_CHAOS_DAMAGES", "30"))


def aside(instance):
    return sorted(name for name in glob.glob(glob.escape(instance.log) + ".damaged-*") if not name.endswith("-wal"))


def spoil_from(path, what):
    """The checksum of the first record that `what` is true of is wrong; its number."""
    with contextlib.closing(sqlite3.connect(path)) as base:
        for seq, record in base.execute("SELECT seq, record FROM log ORDER BY seq"):
            if what(seq, record):
                base.execute("UPDATE log SET checksum = checksum + 1 WHERE seq = ?", (seq,))
                base.commit()
                return seq
    raise AssertionError("no such record")


def submits(record):
    """The number that a SUBMIT gives, or 0 (src/model/event.h)."""
    return int.from_bytes(record[16:24], "little") if int.from_bytes(record[8:10], "little") == 16 else 0


def test_not_a_database_any_more(pleat):
    pleat.wait_end(pleat.submit("--", "true"))
    pleat.wait_end(pleat.submit("--", "sh", "-c", "exit 3"))
    pleat.kill_daemon(signal.SIGTERM)  # in order, so that nothing is left in the write-ahead log
    with open(pleat.log, "r+b") as file:
        file.write(b"not a database at all, but a text")
    done = pleat.pleat("ps", "--all", "--json", check=0)
    assert [(job["job"], job["state"]) for job in json.loads(done.stdout)["jobs"]] == [(1, "done"), (2, "failed")]
    [kept] = aside(pleat)
    with open(kept, "rb") as file:
        assert file.read(13) == b"not a databas"
    info = pleat.call("info")
    assert kept in info["damage"] and kept in pleat.pleat("info", check=0).stdout
    texts = [event["text"] for event in pleat.call("events", limit=1000)["events"] if event["kind"] == "daemon"]
    assert any(kept in text for text in texts), texts
    assert pleat.submit("--", "true") == 3
    assert pleat.wait_end(3)["state"] == "done", pleat.job(3)
    os.unlink(kept)
    for name in glob.glob(kept + "*"):
        os.unlink(name)
    assert pleat.call("info")["damage"] is None
    pleat.kill_daemon()
    assert pleat.job(3)["state"] == "done" and not aside(pleat)


def test_after_an_orderly_end_nothing_is_lost(pleat):
    """The checkpoint that pleatd makes when it ends has the end of the jobs."""
    first = pleat.submit("--", "true")
    failed = pleat.submit("--", "sh", "-c", "exit 3")
    for number in (first, failed):
        pleat.wait_end(number)
    waits = pleat.submit("--begin", "+1h", "--estimate", "1s", "--", "true")
    before = [pleat.job(number) for number in (first, failed)]
    records = pleat.call("info")["log_records"]
    pleat.kill_daemon(signal.SIGTERM)
    wait_until(lambda: not pleat.agent_pids(), "the agent has ended: nobody can be asked")
    with contextlib.closing(sqlite3.connect(pleat.log)) as base:
        assert base.execute("SELECT min(seq) FROM log").fetchone()[0] == 1, "nothing is moved aside"
        assert base.execute("SELECT max(seq) FROM checkpoint").fetchone()[0] >= records
    spoil_from(pleat.log, lambda seq, record: submits(record) == first)  # and all after it is of no use
    states = [(job["job"], job["state"]) for job in json.loads(pleat.pleat("ps", "--all", "--json", check=0).stdout)["jobs"]]
    assert states == [(first, "done"), (failed, "failed"), (waits, "queued")]
    assert [pleat.job(number) for number in (first, failed)] == before
    assert pleat.submit("--", "true") == waits + 1
    assert pleat.wait_end(waits + 1)["state"] == "done"


def test_directory_with_an_odd_name(pleat):
    """The name of the file that is kept aside is found again in what is said of it."""
    outer, odd = pleat.dir, os.path.join(pleat.dir, "a b?c#d%20'e\"f kept as g")
    os.mkdir(odd, 0o700)
    pleat.dir, pleat.log, pleat.socket = odd, os.path.join(odd, "log.sqlite"), os.path.join(odd, "pleatd.sock")
    pleat.env["PLEAT_DIR"] = odd
    pleat.configure()
    try:
        pleat.wait_end(pleat.submit("--", "true"))
        pleat.kill_daemon(signal.SIGTERM)
        with open(pleat.log, "r+b") as file:
            file.write(b"not a database at all, but a text")
        damage = json.loads(pleat.pleat("info", "--json", check=0).stdout)["damage"]
        [kept] = aside(pleat)
        assert kept in damage and pleat.job(1)["state"] == "done"
        texts = [event["text"] for event in pleat.call("events", limit=1000)["events"] if event["kind"] == "daemon"]
        assert any(kept in text for text in texts), texts
        with open(pleat.path("pleatd.log"), encoding="utf-8") as file:
            assert "kept as " + kept in file.read()
        pleat.finish()
    finally:
        pleat.clean()
        pleat.dir, pleat.instance_id = outer, None
        pleat.env["PLEAT_DIR"] = outer


def test_nothing_is_left_of_it(pleat):
    go = pleat.path("go")
    number = pleat.submit(*until_file(go))
    pleat.wait_for(number, "running")
    left = wait_until(lambda: os.path.exists(go + ".runs") and pleat.job_pids(number), "it runs")
    instance = pleat.instance_id
    pleat.kill_daemon()
    with open(pleat.log, "wb") as file:
        file.write(os.urandom(20000))
    with contextlib.suppress(FileNotFoundError):
        os.unlink(pleat.log + "-wal")
    later = pleat.submit("--", "true")
    assert later == number + 1 and pleat.wait_end(later)["state"] == "done"
    assert pleat.call("info")["instance"] == instance
    wait_until(lambda: not any(is_alive(pid) for pid in left), "a run that nobody knows any more is ended")
    assert len(aside(pleat)) == 1


def test_the_end_is_lost_while_jobs_run(pleat):
    """One began before the damage and goes on; one is in the lost part, and is ended; one that had been started in the
    lost part is not started again; one that waited still does."""
    daemon = Stubborn(pleat)
    kept = daemon.submit("kept", diary(pleat.path("d-kept"), *until(pleat.path("go"))), 5)
    daemon.wait(kept, "runs", lambda job: job["state"] == "running" and os.path.exists(pleat.path("d-kept")))
    early = daemon.submit("early", diary(pleat.path("d-early"), "true"), 8)
    waiting = daemon.submit("waiting", diary(pleat.path("d-waiting"), "true"), 8)
    started = daemon.submit("started", diary(pleat.path("d-started"), "sleep", "1000"), 4)
    before = daemon.call("info")["log_records"]
    daemon.call("cancel", job=early)
    daemon.submit("lost", diary(pleat.path("d-lost"), *until(pleat.path("go"))), 1)
    daemon.close()
    pleat.connection = None
    pleat.kill_daemon()
    daemon.close()
    seq = spoil_from(pleat.log, lambda number, _: number == before + 1)
    assert seq == before + 1
    daemon = Stubborn(pleat)
    jobs = {job["name"]: job for job in daemon.call("jobs", all=True)["jobs"]}
    assert set(jobs) == {"kept", "early", "waiting", "started"}
    assert jobs["kept"]["state"] == "running" and jobs["kept"]["attempt"] == 0
    assert jobs["waiting"]["state"] == "queued"
    assert daemon.submit("next", ["true"], 8) == 6, "number 5 was given before"
    touch(pleat.path("go"))
    for number in (kept, early, waiting):
        assert daemon.wait_end(number)["state"] == "done", daemon.job(number)
    daemon.call("cancel", job=started)
    daemon.wait_end(started)
    daemon.wait_end(6)
    check_nothing_left(pleat, daemon)
    daemon.close()


def until(path):
    return ["sh", "-c", 'while [ ! -e "$1" ]; do sleep 0.05; done', "until", path]


@pytest.mark.parametrize("ended", [True, False])
def test_started_in_the_lost_part(pleat, ended):
    """Whether it had ended, and how, is not known: it is not run again."""
    path = pleat.path("d-job")
    daemon = Stubborn(pleat)
    number = daemon.submit("job", diary(path, *(["true"] if ended else ["sleep", "1000"])))
    if ended:
        daemon.wait_end(number)
    else:
        daemon.wait(number, "runs", lambda job: job["state"] == "running" and os.path.exists(path))
    pleat.kill_daemon()
    daemon.close()
    spoil_from(pleat.log, lambda seq, record: submits(record) == number)
    # all after its submission is lost too; and its submission
    daemon = Stubborn(pleat)
    assert daemon.call("jobs", all=True)["jobs"] == []
    assert daemon.submit("next", ["true"]) == number + 1
    assert daemon.wait_end(number + 1)["state"] == "done"
    check_nothing_left(pleat, daemon)
    with open(path, encoding="ascii") as file:
        assert file.read().count("begin") == 1
    daemon.close()


@pytest.mark.parametrize("ended", [True, False])
def test_started_after_the_good_part(pleat, ended):
    """Its submission is known, its start is not."""
    path = pleat.path("d-job")
    daemon = Stubborn(pleat)
    first = daemon.submit("first", diary(pleat.path("d-first"), *until(pleat.path("go"))), 8)
    daemon.wait(first, "runs", lambda job: job["state"] == "running")
    number = daemon.submit("job", diary(path, *(["true"] if ended else ["sleep", "1000"])))
    good = daemon.call("info")["log_records"]
    touch(pleat.path("go"))
    daemon.wait_end(first)
    if ended:
        daemon.wait_end(number)
    else:
        daemon.wait(number, "runs", lambda job: job["state"] == "running" and os.path.exists(path))
    pleat.kill_daemon()
    daemon.close()
    spoil_from(pleat.log, lambda seq, record: seq == good + 1)
    daemon = Stubborn(pleat)
    for which in (first, number):
        job = daemon.wait_end(which)
        assert job["state"] == "cancelled" and "damaged" in job["text"], job
    check_nothing_left(pleat, daemon)
    with open(path, encoding="ascii") as file:
        assert file.read().count("begin") == 1
    daemon.close()


# ---- records moved aside, checkpoints


def spoil(path, *statements):
    """The log is then no database any more: what is good of it must be found in its pages."""
    with contextlib.closing(sqlite3.connect(path)) as base:
        for statement in statements:
            base.execute(statement)
        base.commit()
        base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with open(path, "r+b") as file:
        file.write(b"not a database at all, but a text")


def trimmed(pleat):
    """A log that begins at a checkpoint, of a daemon that is gone: the job that lives, how many there were, the first
    record that is in the log."""
    pleat.configure("checkpoint_records = 60\nkeep_ended_s = 0")
    lives = pleat.submit(*until_file(pleat.path("go")))
    pleat.wait_for(lives, "running")
    count = 1
    while len(glob.glob(glob.escape(pleat.log) + "-archive/*")) < 2:
        for _ in range(10):
            pleat.call("wait", job=pleat.submit("--", "true"))
        count += 10
        assert count < 500
    wait_until(lambda: len(pleat.call("jobs", all=True)["jobs"]) == 1, "all others are let go of")
    pleat.kill_daemon()
    with contextlib.closing(sqlite3.connect(pleat.log)) as base:
        return lives, count, base.execute("SELECT min(seq) FROM log").fetchone()[0]


def goes_on(pleat, lives, count):
    """Nothing was lost: the job that lives still does, and ended ones are known."""
    job = pleat.job(lives)
    assert (job["state"], job["attempt"]) == ("running", 0)
    assert [e["state"] for e in pleat.call("history", limit=5000)["jobs"][1:]] == ["done"] * (count - 1)
    assert pleat.submit("--", "true") == count + 1
    touch(pleat.path("go"))
    assert pleat.call("wait", job=lives)["jobs"][0]["exit_code"] == 7
    with open(pleat.path("go.runs"), encoding="ascii") as file:
        assert len(file.readlines()) == 1
    assert len(aside(pleat)) == 1


def replay(pleat):
    done = json.loads(pleat.pleat("sim", "--replay", pleat.log, "--json", check=0).stdout)
    assert done["same"], done
    return done["before"]


@pytest.mark.parametrize("lost", ["nothing", "the newer checkpoint", "both checkpoints"])
def test_trimmed_log_is_no_database_any_more(pleat, lost):
    lives, count, first = trimmed(pleat)
    spoil(pleat.log, *{"nothing": [], "the newer checkpoint": [f"DELETE FROM checkpoint WHERE seq > {first - 1}"],
                       "both checkpoints": ["DELETE FROM checkpoint"]}[lost])
    goes_on(pleat, lives, count)
    assert replay(pleat) == 0


def test_trimmed_log_with_a_record_lost(pleat):
    """Before the newer checkpoint: nothing is lost; and the log is trimmed again."""
    lives, count, first = trimmed(pleat)
    spoil(pleat.log, f"UPDATE log SET checksum = checksum + 1 WHERE seq = {first + 5}")
    goes_on(pleat, lives, count)
    for _ in range(30):
        pleat.call("wait", job=pleat.submit("--", "true"))
    pleat.kill_daemon()
    with contextlib.closing(sqlite3.connect(pleat.log)) as base:
        assert base.execute("SELECT min(seq) FROM log").fetchone()[0] > first + 5
    assert replay(pleat) > first


@pytest.mark.parametrize("archive", ["gone", "damaged"])
def test_trimmed_log_with_nothing_to_begin_from(pleat, archive):
    """No checkpoint is good, and what was moved aside is not either. What is begun anew is trimmed again, without what
    was moved aside before."""
    lives, count, _ = trimmed(pleat)
    spoil(pleat.log, "DELETE FROM checkpoint")
    for name in glob.glob(glob.escape(pleat.log) + "-archive/*"):
        if archive == "gone":
            os.unlink(name)
        else:
            with open(name, "r+b") as file:
                file.seek(200)
                file.write(b"damage")
    left = pleat.job_pids(lives)
    later = pleat.submit("--", "true")
    assert later == count + 1 and pleat.wait_end(later)["state"] == "done"
    wait_until(lambda: not any(is_alive(pid) for pid in left), "a run that nobody knows any more is ended")
    assert len(aside(pleat)) == 1
    for _ in range(40):
        pleat.call("wait", job=pleat.submit("--", "true"))
    pleat.kill_daemon()
    assert len(pleat.call("history", limit=5000)["jobs"]) >= 40
    assert replay(pleat) == 0


@pytest.mark.parametrize("archive", [True, False])
def test_checkpoints_are_damaged(pleat, archive):
    """The log is a good database; without what was moved aside it has nothing to begin from, and pleatd starts all
    the same."""
    lives, count, _ = trimmed(pleat)
    with contextlib.closing(sqlite3.connect(pleat.log)) as base:
        base.execute("UPDATE checkpoint SET state = substr(state, 1, length(state) / 2)")
        base.commit()
    if archive:
        job = pleat.job(lives)
        assert (job["state"], job["attempt"]) == ("running", 0) and not aside(pleat)
        touch(pleat.path("go"))
        assert pleat.call("wait", job=lives)["jobs"][0]["exit_code"] == 7
        return
    shutil.rmtree(pleat.log + "-archive")
    later = pleat.submit("--", "true")
    assert later == count + 1 and pleat.wait_end(later)["state"] == "done"
    assert len(aside(pleat)) == 1
    with open(pleat.path("pleatd.log"), encoding="utf-8") as file:
        assert "no checkpoint of the log is good" in file.read()


# ---- at random


def damage(rng, log):
    """What was done."""
    wal = log + "-wal"
    size = os.path.getsize(log)
    what = rng.choice(["bytes", "bytes", "page", "truncate", "wal missing", "wal bytes", "wal truncated", "header"])
    if what.startswith("wal") and not os.path.exists(wal):
        what = "bytes"
    if what == "wal missing":
        os.unlink(wal)
    elif what in ("truncate", "wal truncated"):
        path = log if what == "truncate" else wal
        os.truncate(path, rng.randrange(os.path.getsize(path)))
    else:
        path = wal if what == "wal bytes" else log
        size = os.path.getsize(path)
        with open(path, "r+b") as file:
            for _ in range(rng.choice([1, 10, 100])):
                at = rng.randrange(100) if what == "header" else rng.randrange(size)
                file.seek(at - at % 4096 if what == "page" else at)
                file.write(os.urandom(4096 if what == "page" else 1))
    return what


def test_random_damage(pleat):
    print(f"PLEAT_CHAOS_SEED={SEED} PLEAT_CHAOS_DAMAGES={DAMAGES}")
    rng = random.Random(SEED)
    for i in range(12):
        pleat.submit("-n", str(1 + i % 3), "--", "sh", "-c", f"exit {i % 2}")
    pleat.submit("-n", "8", "--", "true")
    pleat.pleat("wait", check=None)
    last = max(job["job"] for job in pleat.call("jobs", all=True)["jobs"])
    pleat.kill_daemon()
    pleat.instance_id = None
    for round_ in range(DAMAGES):
        other = ChaosInstance()
        try:
            for name in glob.glob(glob.escape(pleat.log) + "*"):
                shutil.copy(name, other.path(os.path.basename(name)))
            os.mkdir(other.path("jobs"), 0o700)
            for number in range(1, last + 1):
                os.mkdir(other.path(f"jobs/{number}"), 0o700)
            shutil.copy(pleat.path("log.mark"), other.path("log.mark"))
            what = damage(rng, other.log)
            daemon = Stubborn(other)
            number = daemon.submit("next", ["true"])
            assert number == last + 1, f"round {round_}, {what}: number {number}"
            assert daemon.wait_end(number)["state"] == "done", what
            jobs = daemon.call("jobs", all=True)["jobs"]
            assert all(job["state"] in ("done", "failed", "cancelled") for job in jobs), (what, jobs)
            daemon.close()
            other.kill_daemon()
            daemon = Stubborn(other)  # what was made of it is good
            assert daemon.job(number)["state"] == "done" and len(aside(other)) <= 1, what
            daemon.close()
            other.finish()
        except BaseException as failure:
            with open(other.path("pleatd.log"), encoding="utf-8", errors="replace") as file:
                raise AssertionError(f"round {round_}: {failure!r}\n{file.read()}") from failure
        finally:
            other.clean()
