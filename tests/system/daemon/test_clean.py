"""`pleat clean`: what is kept about jobs that ended goes when their user says so, and nothing else."""

import json
import os
import sqlite3

import pytest

from conftest import PLEATD, Client, Failure, Lost, until_file, wait_until


def touch(path):
    with open(path, "w", encoding="ascii"):
        pass


def clean(pleat, *words, check=0):
    done = pleat.pleat("clean", *words, "--json", check=check)
    return json.loads(done.stdout) if check == 0 else done.stderr


def some(pleat, count=3, words=("--", "sh", "-c", "echo said; echo wrong >&2")):
    numbers = [pleat.submit(*words) for _ in range(count)]
    for number in numbers:
        pleat.wait_end(number)
    return numbers


def known(pleat):
    return [e["job"] for e in pleat.call("history")["jobs"]]


def rows(pleat, table, column):
    connection = sqlite3.connect(pleat.log)
    found = [row[0] for row in connection.execute(f"SELECT {column} FROM {table} ORDER BY 1")]
    connection.close()
    return found


def gone(pleat, number):
    assert pleat.pleat("show", number, check=4).stdout == ""
    assert pleat.call("events")["events"]
    for method in ("events", "wait", "cancel", "history"):
        with pytest.raises(Failure, match=f"no job {number}"):
            pleat.call(method, job=number)
    assert number not in known(pleat)
    assert number not in [j["job"] for j in pleat.call("jobs", all=True)["jobs"]]
    frame = pleat.call("top", ended=200)
    assert number not in [j["job"] for j in frame["jobs"]]
    assert frame["counts"] == pleat.call("info")["jobs"]


def test_needs_a_time(pleat):
    numbers = some(pleat, 1)
    for words in ([], ["--outputs"], ["--dry-run"]):
        assert "--older-than 30d" in clean(pleat, *words, check=2)
    for words in (["--before", "1d", "--older-than", "1d"], ["--older-than", "soon"], ["--before", "?"],
                  ["--before", "now", "1"]):
        clean(pleat, *words, check=2)
    with pytest.raises(Failure, match="before_s"):
        pleat.call("clean")
    for wrong in (-1, 1e13, "now"):
        with pytest.raises(Failure, match="before_s"):
            pleat.call("clean", before_s=wrong)
    assert known(pleat) == numbers


@pytest.mark.parametrize("keep", ["keep_ended_s = 3600", "keep_ended_s = 0"])
def test_removes_what_has_ended(pleat, keep):
    """From memory and from the archive; a job that lives, and one that waits, keep all they have."""
    pleat.configure(keep)
    go = pleat.path("go")
    lives = pleat.submit("-n", "8", *until_file(go))
    waits = pleat.submit("-n", "8", "--", "true")
    cancelled = pleat.submit("-n", "8", "--", "true")
    pleat.wait_for(lives, "running")
    pleat.call("cancel", job=cancelled)
    pleat.call("wait", job=cancelled)
    before = {n: {k: v for k, v in pleat.job(n).items() if k not in ("run_s", "wait_s", "reason")}
              for n in (lives, waits)}
    done = clean(pleat, "--before", "now")
    assert (done["jobs"], done["kept"], done["output_bytes"]) == (1, 0, 0) and done["record_bytes"] > 100
    gone(pleat, cancelled)
    assert known(pleat) == [lives, waits]
    assert before == {n: {k: v for k, v in pleat.job(n).items() if k not in ("run_s", "wait_s", "reason")}
                      for n in (lives, waits)}
    assert clean(pleat, "--before", "now", "--outputs")["jobs"] == 0
    touch(go)
    assert pleat.call("wait", job=lives)["jobs"][0]["exit_code"] == 7
    assert pleat.output(lives) == "end\n"
    assert pleat.call("wait", job=waits)["jobs"][0]["state"] == "done"


def test_only_what_is_old_enough(pleat):
    first = some(pleat, 1)
    moment = pleat.job(first[0])["end_s"]
    second = some(pleat, 2)
    assert clean(pleat, "--older-than", "1d")["jobs"] == 0
    assert clean(pleat, "--before", f"@{moment:.6f}")["jobs"] == 0  # before, not at
    assert pleat.call("clean", before_s=moment + 1e-5)["jobs"] == 1
    assert known(pleat) == second
    assert pleat.pleat("clean", "--older-than", "0", check=0).stdout.startswith("removed 2 jobs: records ")


def test_dry_run(pleat):
    numbers = some(pleat)
    shown = [pleat.job(n) for n in numbers]
    would = clean(pleat, "--before", "now", "--outputs", "--dry-run")
    assert would["dry_run"] and would["jobs"] == 3 and would["output_bytes"] == 3 * len("said\nwrong\n")
    said = pleat.pleat("clean", "--before", "now", "--outputs", "--dry-run", check=0).stdout
    assert said.startswith("would remove 3 jobs: records ") and said.endswith(", output 33 bytes\n")
    assert [pleat.job(n) for n in numbers] == shown
    assert [pleat.output(n) for n in numbers] == ["said\n"] * 3
    done = clean(pleat, "--before", "now", "--outputs")
    for member in ("jobs", "record_bytes", "output_bytes", "kept"):
        assert done[member] == would[member]
    assert known(pleat) == []


def test_restart_after_it(pleat):
    """What is gone is gone from the disk, shared texts too; numbers are never used again; the log replays."""
    numbers = some(pleat)
    assert clean(pleat, "--before", "now")["jobs"] == 3
    pleat.kill_daemon()
    for table, column in (("spec", "id"), ("account", "job")):
        assert rows(pleat, table, column) == []
    assert not set(rows(pleat, "note", "job")) & set(numbers)
    assert rows(pleat, "shared", "id") == []
    assert known(pleat) == []
    for number in numbers:
        gone(pleat, number)
    assert some(pleat, 1) == [4]
    assert json.loads(pleat.pleat("sim", "--replay", pleat.log, "--json", check=0).stdout)["same"]
    pleat.kill_daemon()
    assert len(rows(pleat, "shared", "id")) == 1
    assert known(pleat) == [4] and pleat.job(4)["state"] == "done"


def test_outputs(pleat):
    """Files that their users named are theirs; so is what they put beside Pleat's."""
    numbers = some(pleat)
    own = pleat.submit("--output", pleat.path("mine"), "--", "sh", "-c", "echo kept; echo wrong >&2")
    pleat.wait_end(own)
    touch(pleat.path(f"jobs/{numbers[1]}/notes-of-mine"))
    elsewhere = pleat.path("elsewhere")
    touch(elsewhere)
    os.unlink(pleat.path(f"jobs/{numbers[2]}/stdout"))
    os.symlink(elsewhere, pleat.path(f"jobs/{numbers[2]}/stdout"))
    assert clean(pleat, "--before", "now", "--outputs")["jobs"] == 4
    assert sorted(os.listdir(pleat.path("jobs"))) == [str(numbers[1])]
    assert os.listdir(pleat.path(f"jobs/{numbers[1]}")) == ["notes-of-mine"]
    assert os.path.exists(elsewhere)
    with open(pleat.path("mine"), encoding="ascii") as file:
        assert file.read() == "kept\n"


def test_outputs_stay_unless_asked(pleat):
    numbers = some(pleat)
    assert clean(pleat, "--before", "now")["output_bytes"] == 0
    assert [pleat.output(n) for n in numbers] == ["said\n"] * 3


def test_output_that_cannot_be_removed(pleat):
    """Its job stays known, so that the same command can be given again."""
    numbers = some(pleat, 2)
    path = pleat.path(f"jobs/{numbers[0]}/stdout")
    os.unlink(path)
    os.mkdir(path)
    assert f"job {numbers[0]}: cannot remove" in clean(pleat, "--before", "now", "--outputs", check=1)
    assert known(pleat) == numbers[:1]
    os.rmdir(path)
    assert clean(pleat, "--before", "now", "--outputs")["jobs"] == 1
    assert known(pleat) == []


def test_while_its_user_is_told(pleat):
    """A command of --notify that runs, or waits to run, brings nothing of a removed job back."""
    go = pleat.path("go")
    script = 'echo "$PLEAT_EVENT" >> told; while [ ! -e go ]; do sleep 0.05; done; echo "$PLEAT_EVENT" >&2; exit 3'
    number = pleat.submit("--notify", script, "--notify-on", "start,end", "--", "true")
    pleat.wait_end(number)
    wait_until(lambda: os.path.exists(pleat.path("told")), "the first command runs, the second waits")
    for words in (["--dry-run"], ["--outputs"]):
        assert f"job {number}: the command of its --notify" in clean(pleat, "--before", "now", *words, check=1)
        assert known(pleat) == [number] and os.path.exists(pleat.path(f"jobs/{number}/notify"))
    touch(go)
    wait_until(lambda: pleat.call("clean", before_s=1e11, outputs=True)["jobs"] == 1, "both have ended")
    gone(pleat, number)
    with open(pleat.path("told"), encoding="ascii") as file:
        assert file.read() == "start\nend\n"  # it was told of both
    assert not os.path.exists(pleat.path(f"jobs/{number}"))
    pleat.kill_daemon()
    assert number not in rows(pleat, "note", "job")


def reach(pleat):
    """A connection to a daemon that listens, else None; none is started."""
    try:
        return Client(pleat.socket)
    except (Lost, OSError):
        return None


def test_killed_between_the_steps(pleat):
    """Before the commit all is still known, after it nothing; asking again finishes it."""
    numbers = some(pleat)
    seen = set()
    pleat.kill_daemon()
    for step in range(1, 60):
        pleat.env["PLEAT_TEST_CRASH_AFTER"] = str(step)
        daemon = pleat.popen("--dir", pleat.dir, program=PLEATD)
        del pleat.env["PLEAT_TEST_CRASH_AFTER"]
        peer = wait_until(lambda: reach(pleat) or daemon.poll() is not None, "it ends, or listens")
        if isinstance(peer, Client):
            try:
                peer.call("clean", before_s=1e11, outputs=True)
            except (Lost, OSError):
                pass
            peer.close()
        if daemon.poll() is None:
            daemon.kill()
        daemon.communicate()
        left = known(pleat)
        assert left in (numbers, [])
        pleat.kill_daemon()
        assert rows(pleat, "spec", "id") == rows(pleat, "account", "job") == left
        seen.add((len(left), os.path.exists(pleat.path("jobs/1"))))
        if not left:
            break
    assert {(3, True), (0, False)} <= seen <= {(3, True), (3, False), (0, False)}
    assert some(pleat, 1) == [4]


def test_many_at_once(pleat):
    """More than go at once, while others submit and ask for the same."""
    count = 520
    blocker = pleat.submit("-n", "8", *until_file(pleat.path("go")))
    pleat.wait_for(blocker, "running")
    spec = {"name": "x", "argv": ["/bin/true"], "cwd": "/", "env": ["A=b"], "runner": "plain", "mpi": "none",
            "kind": "rigid", "min": 8, "max": 8}
    numbers = [pleat.call("submit", **spec)["job"] for _ in range(count)]
    for number in numbers:
        pleat.call("cancel", job=number)
    commands = [pleat.popen("clean", "--before", "now", "--json") for _ in range(2)]
    late = [pleat.call("submit", **spec)["job"] for _ in range(5)]
    removed = 0
    for command in commands:
        out, err = command.communicate()
        assert command.returncode == 0, err
        removed += json.loads(out)["jobs"]
    assert removed == count
    assert late == list(range(numbers[-1] + 1, numbers[-1] + 6))
    assert known(pleat) == [blocker] + late
    assert [j["job"] for j in pleat.call("jobs", all=True)["jobs"]] == [blocker] + late
    touch(pleat.path("go"))
    for number in late:
        assert pleat.call("wait", job=number)["jobs"][0]["state"] == "done"
    wait_until(lambda: pleat.call("sites")["sites"][0]["free"] == 8, "all are free again")
