"""Jobs that ended long ago: let go of by the daemon, known to `show` and `history`; and a log that
does not grow for ever."""

import json
import os
import sqlite3

import pytest

from conftest import PLEATD, Failure, is_alive, loop, until_file, wait_until


def touch(path):
    with open(path, "w", encoding="ascii"):
        pass


def archived(pleat, numbers):
    wait_until(lambda: not pleat.call("jobs", all=True)["jobs"], "all are let go of")
    entries = {e["job"]: e for e in pleat.call("history")["jobs"]}
    assert all(entries[n]["archived"] for n in numbers), entries
    return entries


def replays(pleat):
    done = json.loads(pleat.pleat("sim", "--replay", pleat.log, "--json", check=0).stdout)
    assert done["same"], done
    return done


# ---- letting go


def test_archived_at_once(pleat):
    pleat.configure("keep_ended_s = 0")
    number = pleat.submit("--name", "first", *loop("--resizes", "1", more=["--initial", "2"], largest=4))
    pleat.wait_end(number)
    archived(pleat, [number])
    job = pleat.job(number)
    assert (job["job"], job["name"], job["state"], job["exit_code"]) == (number, "first", "done", 0)
    assert job["kind"] == "malleable" and job["min"] == 1 and job["max"] == 4 and job["slots"] == []
    assert [r["outcome"] for r in job["history"]["resizes"]] == ["grown"] and job["grown"] == 1
    assert [s["processors"] for s in job["history"]["sizes"]] == [2, 4]
    assert "env" not in job and job["argv"][-2:] == ["--pause", "20"]
    assert os.path.exists(job["stdout"])
    assert pleat.pleat("show", number, check=0).stdout
    assert "RESULT ok" in pleat.pleat("log", number, check=0).stdout
    assert pleat.call("wait", job=number)["jobs"][0]["state"] == "done"
    for words in (["cancel"], ["limits", "--max", "3"]):
        assert "archived" in pleat.pleat(*words, number, check=None).stderr
    assert pleat.call("info")["jobs"] == {}
    assert pleat.call("events", job=number)["events"] == []


def test_same_before_and_after(pleat):
    """What is shown of a job does not change when it is let go of."""
    pleat.configure("keep_ended_s = 3600")
    go = pleat.path("go")
    numbers = [pleat.submit("-n", "2", "--name", "a b", *until_file(go)),
               pleat.submit("--", "sh", "-c", "kill -9 $$"),
               pleat.submit("-n", "8", "--", "sleep", "1000")]
    pleat.call("cancel", job=numbers[2])
    touch(go)
    for number in numbers:
        pleat.wait_end(number)
    shown = [pleat.job(n) for n in numbers]
    told = [e | {"archived": True} for e in pleat.call("history")["jobs"]]
    assert [s["state"] for s in shown] == ["failed", "failed", "cancelled"]
    pleat.kill_daemon()
    pleat.configure("keep_ended_s = 0")
    archived(pleat, numbers)
    assert [pleat.job(n) for n in numbers] == shown
    assert pleat.call("history")["jobs"] == told
    pleat.kill_daemon()
    assert [pleat.job(n) for n in numbers] == shown
    assert pleat.call("history")["jobs"] == told
    with pytest.raises(Failure, match="no job 4"):
        pleat.job(4)


def test_numbers_are_never_used_again(pleat):
    """The core's records are, so that numbers and records differ from then on."""
    pleat.configure("keep_ended_s = 0")
    lives = pleat.submit(*until_file(pleat.path("go")))
    for round in range(3):
        numbers = [pleat.submit("--", "sh", "-c", f"echo round {round}") for _ in range(3)]
        assert numbers == [2 + 3 * round, 3 + 3 * round, 4 + 3 * round]
        for number in numbers:
            pleat.call("wait", job=number)
        wait_until(lambda: [j["job"] for j in pleat.call("jobs", all=True)["jobs"]] == [lives],
                   "they are let go of")
        if round == 1:
            pleat.kill_daemon()
        assert pleat.output(numbers[1]) == f"round {round}\n"
        assert pleat.job(lives)["state"] == "running"
    touch(pleat.path("go"))
    assert pleat.call("wait", job=lives)["jobs"][0]["exit_code"] == 7
    assert replays(pleat)["before"] == 0


# ---- checkpoints


CHECKPOINTS = "checkpoint_records = 60\nkeep_ended_s = 0"


def log_of(pleat):
    """First and last record that are in the log, checkpoints; of a daemon that is gone."""
    connection = sqlite3.connect(pleat.log)
    records = connection.execute("SELECT min(seq), max(seq) FROM log").fetchone()
    checkpoints = [row[0] for row in connection.execute("SELECT seq FROM checkpoint ORDER BY seq")]
    connection.close()
    return records, checkpoints


def run_until_trimmed(pleat, enough=2):
    """Short jobs, until records have been moved aside; their number."""
    count = 0
    archive = pleat.log + "-archive"
    while not os.path.isdir(archive) or len(os.listdir(archive)) < enough:
        for _ in range(10):
            pleat.call("wait", job=pleat.submit("--", "true"))
        count += 10
        assert count < 1000
        records = pleat.call("info")["log_records"]
        wait_until(lambda: pleat.call("info")["log_records"] >= records, "a moment")
    return count


def stop(pleat):
    pid = pleat.daemon_pid()
    pleat.connection.close()
    pleat.connection = None
    os.kill(pid, 9)
    wait_until(lambda: not is_alive(pid), "the daemon is gone")


def test_log_is_trimmed_and_recovered(pleat):
    pleat.configure(CHECKPOINTS)
    lives = pleat.submit(*loop(more=["--initial", "2"], largest=4))
    count = run_until_trimmed(pleat)
    pleat.wait_size(lives, 4)
    whole = replays(pleat)
    assert whole["before"] == 0
    stop(pleat)
    (first, last), checkpoints = log_of(pleat)
    assert first > 1 and len(checkpoints) == 2 and checkpoints[0] == first - 1 and last >= checkpoints[1]
    assert pleat.job(lives)["state"] == "running" and pleat.job(lives)["processors"] == 4
    assert len(pleat.call("history", limit=5000)["jobs"]) == count + 1
    assert pleat.submit("--", "true") == count + 2
    # without what was moved aside there is still enough
    for name in os.listdir(pleat.log + "-archive"):
        os.unlink(os.path.join(pleat.log + "-archive", name))
    short = replays(pleat)
    # since the restart there may be another checkpoint, and the oldest then be a later one
    assert short["before"] >= first - 1 and short["records"] < whole["records"]
    assert "after" in pleat.pleat("sim", "--replay", pleat.log, check=0).stdout


@pytest.mark.parametrize("damaged", [1, 2])
def test_damaged_checkpoints(pleat, damaged):
    """The older one, or all that was moved aside, gives the same."""
    pleat.configure(CHECKPOINTS)
    lives = pleat.submit(*until_file(pleat.path("go")))
    count = run_until_trimmed(pleat)
    before = pleat.job(lives), pleat.call("history", limit=5000)["jobs"][1:]
    stop(pleat)
    _, checkpoints = log_of(pleat)
    connection = sqlite3.connect(pleat.log)
    for seq in checkpoints[-damaged:]:
        state = bytearray(connection.execute("SELECT state FROM checkpoint WHERE seq = ?", (seq,)).fetchone()[0])
        state[len(state) // 2] ^= 4
        connection.execute("UPDATE checkpoint SET state = ? WHERE seq = ?", (bytes(state), seq))
    connection.commit()
    connection.close()
    job, history = pleat.job(lives), pleat.call("history", limit=5000)["jobs"][1:]
    for name in ("run_s", "memory_kb"):  # measured from time to time
        del before[0][name], job[name]
    assert {name: (before[0].get(name), job.get(name)) for name in before[0] | job if before[0].get(name) != job.get(name)} == {}
    assert history == before[1]
    assert pleat.submit("--", "true") == count + 2
    with open(pleat.path("pleatd.log"), encoding="utf-8") as file:
        said = file.read()
    assert said.count("is damaged") >= damaged
    touch(pleat.path("go"))
    assert pleat.call("wait", job=lives)["jobs"][0]["exit_code"] == 7


def test_killed_between_the_steps(pleat):
    """At every step of turns, of letting go and of checkpoints in turn; jobs go on all the while."""
    pleat.configure("checkpoint_records = 50\nkeep_ended_s = 0\nidle_exit_s = 0")
    lives = pleat.submit(*until_file(pleat.path("go")))
    numbers = []
    stop(pleat)
    for step in range(20, 140, 4):
        pleat.env["PLEAT_TEST_CRASH_AFTER"] = str(step)
        daemon = pleat.popen("--dir", pleat.dir, program=PLEATD)
        del pleat.env["PLEAT_TEST_CRASH_AFTER"]
        while daemon.poll() is None:
            done = pleat.pleat("submit", "--", "true")
            if done.returncode == 0:
                numbers.append(int(done.stdout))
        daemon.communicate()
    assert numbers == sorted(set(numbers))
    wait_until(lambda: len(pleat.call("jobs", all=True)["jobs"]) == 1, "all others are let go of")
    history = pages(pleat)
    assert [e["job"] for e in history] == list(range(1, history[-1]["job"] + 1))
    assert {e["state"] for e in history[1:]} == {"done"}
    assert set(numbers) <= {e["job"] for e in history}
    assert pleat.job(lives)["state"] == "running" and pleat.job(lives)["attempt"] == 0
    assert os.path.isdir(pleat.log + "-archive")
    assert replays(pleat)["before"] == 0


def pages(pleat):
    got, more = [], True
    while more:
        page = pleat.call("history", after=got[-1]["job"] if got else 0)
        got += page["jobs"]
        more = page["more"]
    return got
