"""Jobs that wait: for other jobs, for their user; and which jobs a command is about."""

import json
import os
import re
import signal
import subprocess
import time

import pytest


def submit(cli, *args, program=("true",)):
    done = cli("submit", *args, "--", *program)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def job(cli, number):
    return json.loads(cli("show", "--json", number).stdout)


def until(holds):
    """Waits until a condition holds; 60 s are more than enough."""
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end


def hold(cli, count=1, **more):
    return [submit(cli, "--hold", **more) for _ in range(count)]


def test_a_chain(cli, tmp_path):
    log = tmp_path / "log"
    say = [("sh", "-c", f"echo {i} >> {log}") for i in range(3)]
    first = submit(cli, "--hold", program=say[0])
    second = submit(cli, "--dependency", f"afterok:{first}", program=say[1])
    third = submit(cli, "--dependency", f"afterany:{first}:{second}", program=say[2])
    assert [(one["job"], one["condition"]) for one in job(cli, third)["waits_for"]] == [
        (int(first), "afterany"), (int(second), "afterany")]
    assert job(cli, first)["held_by"] == ["user"] and job(cli, second)["held_by"] == ["jobs"]
    why = cli("why", second).stdout
    assert f"waits for job {first} to end well" in why
    assert cli("release", first).returncode == 0
    assert cli("wait", first, second, third).returncode == 0
    assert log.read_text().split() == ["0", "1", "2"]
    assert job(cli, third)["held_by"] == [] and job(cli, third)["waits_for"] == []


def test_a_refusal_names_its_job(cli):
    """With several jobs the message must say which one was refused."""
    first, second, third = submit(cli), submit(cli, "--hold"), submit(cli, "--hold")
    assert cli("wait", first).returncode == 0
    for command, refused in (("release", first), ("requeue", first), ("hold", first), ("cancel", first)):
        done = cli(command, str(first), str(second))
        assert done.returncode == 1, (command, done)
        assert done.stderr.splitlines()[0].startswith(f"pleat: job {refused}: it "), done.stderr
    done = cli("cancel", "999", str(first), str(third))
    assert done.returncode in (1, 4) and job(cli, third)["state"] == "cancelled"
    assert done.stderr.splitlines() == ["pleat: no job 999: see 'pleat ps --all'",
                                        f"pleat: job {first}: it has ended already (done)"], done.stderr
    assert cli("grow", str(first), "1").stderr.startswith(f"pleat: job {first}: it is done")


def test_what_can_never_be(cli):
    first = submit(cli, "--hold", program=("false",))
    ok = submit(cli, "--dependency", f"afterok:{first}")
    after = submit(cli, "--dependency", f"afterok:{ok}")
    either = submit(cli, "--dependency", f"afterok:{first}?afternotok:{first}")
    cli("release", first)
    assert cli("wait", either).returncode == 0
    for number in ok, after:
        assert job(cli, number)["state"] == "cancelled"
        assert job(cli, number)["reason"] == "a job that it waited for ended otherwise"
    assert "cancelled: a job that it waited for ended otherwise" in " ".join(cli("ps", "--all").stdout.split())
    refused = cli("submit", "--dependency", f"afterok:{first}", "true")
    assert refused.returncode == 1 and f"job {first} has ended already" in refused.stderr
    assert cli("submit", "--dependency", f"afternotok:{first}", "true").returncode == 0
    unknown = cli("submit", "--dependency", "afterok:99", "true")
    assert unknown.returncode in (1, 4) and "no job 99" in unknown.stderr


@pytest.mark.parametrize("text", ["3", "afterok", "afterok:", "afterok:x", "afterok:3,", "afterok:3,after:4?after:5",
                                  "after:3+5", "singleton:3", "", "afterok:3_", "afterok:3_x", "afterok:3_[", "afterok:3_[]",
                                  "afterok:3_[5-2]", "afterok:3_[1-4%2]", "afterok:3_1-4", "afterok:_3",
                                  "afterok:3_[1,2],after:4?after:5"])
def test_a_dependency_that_makes_no_sense(cli, text):
    done = cli("submit", "--dependency", text, "true")
    assert done.returncode == 2 and "dependency" in done.stderr


def test_singletons_run_one_after_another(cli):
    first = submit(cli, "--hold", "--name", "one")
    second = submit(cli, "--name", "one", "--dependency", "singleton")
    other = submit(cli, "--name", "other", "--dependency", "singleton")
    assert cli("wait", other).returncode == 0
    assert [one["job"] for one in job(cli, second)["waits_for"]] == [int(first)]
    assert cli("set", second, "--dependency", "none").returncode == 0
    assert cli("wait", second).returncode == 0
    assert job(cli, first)["state"] == "queued"


def test_a_daemon_that_starts_again_knows(cli):
    first = submit(cli, "--hold")
    second = submit(cli, "--dependency", f"afterok:{first}")
    cli("cancel", submit(cli, "--hold"))
    pid = json.loads(cli("info", "--json").stdout)["pid"]
    os.kill(pid, signal.SIGKILL)
    until(lambda: not os.path.exists(f"/proc/{pid}"))
    assert json.loads(cli("info", "--json").stdout)["pid"] != pid
    assert job(cli, second)["held_by"] == ["jobs"]
    cli("release", first)
    assert cli("wait", first, second).returncode == 0


def test_requeue(cli, tmp_path):
    log = tmp_path / "log"
    number = submit(cli, program=("sh", "-c", f"echo run >> {log}; [ $(wc -l < {log}) -gt 1 ] || sleep 1000"))
    follow = cli.start("log", "--follow", number)
    until(log.exists)  # it runs
    assert cli("requeue", "--hold", number).returncode == 0
    until(lambda: job(cli, number)["state"] == "queued")
    assert job(cli, number)["held_by"] == ["user"] and job(cli, number)["attempt"] == 0
    again = cli("requeue", number)
    assert again.returncode == 1 and "does not run" in again.stderr
    assert cli("release", number).returncode == 0
    assert cli("wait", number).returncode == 0
    assert log.read_text() == "run\nrun\n"
    follow.wait(60)


def test_selections(cli):
    jobs = hold(cli, 4) + [submit(cli, "--hold", "--name", name) for name in ("heat1", "heat2", "cold")]
    done = cli("cancel", f"{jobs[1]}-{jobs[2]}")
    assert done.returncode == 0 and "2 jobs cancelled" in done.stderr
    assert cli("cancel", "--name", "heat*").stderr == "pleat: 2 jobs cancelled\n"
    assert cli("release", f"{jobs[0]}-{jobs[6]}", "--name", "cold").stderr == "pleat: 1 job released\n"
    assert cli("wait", jobs[6]).returncode == 0
    none = cli("cancel", "--name", "nobody*")
    assert none.returncode == 4 and "no job is selected" in none.stderr
    for wrong in ([], ["--all", "3"], ["7-3"], ["x"], ["--state", "nonsense"]):
        assert cli("cancel", *wrong).returncode == 2, wrong
    assert cli("hold", "--all").returncode == 4  # all that wait are held
    assert cli("cancel", jobs[0], "999", jobs[3]).returncode == 4  # the others are
    listed = json.loads(cli("ps", "--all", "--json").stdout)["jobs"]
    assert [one["state"] for one in listed] == ["cancelled"] * 6 + ["done"]
    assert cli("cancel", "--all").returncode == 4


def test_set(cli):
    number, other = hold(cli, 2)
    assert cli("set", f"{number}-{other}", "--priority", "7", "--estimate", "10min").returncode == 0
    assert job(cli, other)["priority"] == 7 and job(cli, other)["estimate_s"] == 600
    assert cli("limits", number, "--time-limit", "1h").returncode == 0
    assert job(cli, number)["limit_s"] == 3600
    assert cli("set", number).returncode == 2
    assert cli("set", "--priority", "3").returncode == 2
    cli("release", number)
    assert cli("wait", number).returncode == 0
    late = cli("set", number, "--priority", "3")
    assert late.returncode == 1 and re.search("does not wait|has ended", late.stderr)


def test_columns_by_name(cli):
    number = submit(cli, "--hold", "--name", "ein-langer-Name-ä")
    done = cli("ps", "--format", "name:4,job,priority")
    assert [line.split() for line in done.stdout.splitlines()] == [["NAME", "JOB", "PRIORITY"],
                                                                 ["ein-", number, "0"]]
    wrong = cli("ps", "--format", "job,nonsense")
    assert wrong.returncode == 2 and "'nonsense' is none of job, name, state" in wrong.stderr
    for wrong in ("name:0", "name:x", "", "job,", "job:4:5"):
        assert cli("ps", "--format", wrong).returncode == 2, wrong
    assert cli("history", "--format", "state,job", "--csv").stdout == f"state,job\nqueued,{number}\n"
    assert cli("history", "-o", "name:3,state").stdout.split() == ["NAME", "STATE", "ein", "queued"]
    assert "nonsense" in cli("history", "-o", "nonsense").stderr


def test_expected_starts(cli):
    held = submit(cli, "--hold")
    begins = submit(cli, "--begin", "1h", "--estimate", "1min")
    done = cli("ps", "--start", "--format", "job,promised_s")
    rows = dict(line.split(maxsplit=1) for line in done.stdout.splitlines()[1:])
    assert rows[held] == "-" and re.fullmatch(r"[\d: -]+", rows[begins]), done.stdout
    assert "STARTS BY" in cli("ps", "--start").stdout
    assert cli("ps", "--start", "--all").returncode == 2
    assert job(cli, held)["promised_s"] is None
    assert abs(job(cli, begins)["promised_s"] - time.time() - 3600) < 600


def test_forecasts(cli, tmp_path):
    """What waits behind a job that says how long it runs; and behind one that does not."""
    go = tmp_path / "go"
    until_go = ("sh", "-c", f"while [ ! -e {go} ]; do sleep 0.05; done")
    all_of_it = json.loads(cli("sites", "--json").stdout)["sites"][0]["processors"]
    runs = submit(cli, "-n", str(all_of_it), "--estimate", "1h", program=until_go)
    until(lambda: job(cli, runs)["state"] == "running")
    first = submit(cli, "-n", str(all_of_it), "--time-limit", "30min")
    open_end = submit(cli, "-n", str(all_of_it))
    behind = submit(cli, "-n", str(all_of_it), "--estimate", "1min")
    held = submit(cli, "--hold")
    rows = {str(row["job"]): row for row in json.loads(cli("ps", "--start", "--json").stdout)["jobs"]}
    begun = job(cli, runs)["start_s"]
    assert abs(rows[first]["forecast_s"] - begun - 3600) < 1
    assert abs(rows[open_end]["forecast_s"] - begun - 5400) < 1
    assert (rows[behind]["forecast_s"], rows[behind]["forecast_why"]) == (
        None, "jobs without an estimate run before it")
    assert rows[held]["forecast_why"] == "held by its user" and rows[first]["forecast_why"] is None
    shown = cli("ps", "--start").stdout
    assert "EXPECTED" in shown and "STARTS BY" in shown and "held by its user" in " ".join(shown.split())
    assert job(cli, first)["state"] == "queued"  # nothing of that has happened
    assert cli("cancel", held, behind, open_end, first).returncode == 0
    go.touch()
    assert cli("wait", runs).returncode == 0


def test_an_array(cli, tmp_path):
    text = "echo $PLEAT_ARRAY_JOB $PLEAT_ARRAY_INDEX $PLEAT_ARRAY_COUNT $PLEAT_ARRAY_MIN $PLEAT_ARRAY_MAX $PLEAT_ARRAY_STEP"
    first = submit(cli, "--array", "2-8:3", "--chdir", str(tmp_path), "--name", "sweep", "--output", "%x-%A-%a",
                   program=("sh", "-c", text))
    after = submit(cli, "--dependency", f"afterok:{first}")
    assert cli("wait", after).returncode == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"sweep-{first}-{i}" for i in (2, 5, 8)]
    assert (tmp_path / f"sweep-{first}-5").read_text() == f"{first} 5 3 2 8 3\n"
    assert f"sweep[5]" in cli("ps", "--all").stdout
    alone = submit(cli, "--chdir", str(tmp_path), "--output", "%A-%a", program=("sh", "-c", "env"))
    assert cli("wait", alone).returncode == 0
    assert "PLEAT_ARRAY" not in (tmp_path / f"{alone}-0").read_text()


def test_tasks_are_selected(cli):
    first = int(submit(cli, "--hold", "--array", "1,3,5-9"))
    other = int(submit(cli, "--hold"))
    shown = cli("ps").stdout
    assert f"{first}-{first + 1}" not in shown and f"{first}-{first + 6} true[1-9]" in shown
    assert cli("cancel", f"{first}_[3,6-7]", f"{first}_9").stderr == "pleat: 4 jobs cancelled\n"
    left = {one["array"]["index"] for one in json.loads(cli("ps", "--json").stdout)["jobs"] if one["array"]}
    assert left == {1, 5, 8}
    assert cli("cancel", f"{first}_[4]").returncode == 4
    for wrong in (f"{first}_", f"{first}_[", f"{first}_x", f"{first}_[3-1]", "_3"):
        assert cli("cancel", wrong).returncode == 2, wrong
    assert cli("cancel", str(first)).stderr == "pleat: 3 jobs cancelled\n"
    assert job(cli, str(other))["state"] == "queued"


def test_tasks_of_an_array_of_several_pages(cli):
    """Of those that have not ended, however many; nothing that comes before or after the array."""
    before = submit(cli, "--hold")
    first = int(submit(cli, "--hold", "--array", "1-2100"))
    other, after = submit(cli, "--hold", "--array", "1-3"), submit(cli, "--hold")
    assert cli("cancel", f"{first}_[1-2]", str(first + 4), f"{first + 2000}-{first + 2003}").stderr == "pleat: 7 jobs cancelled\n"
    assert cli("release", "--name", "x*", str(first)).returncode == 4
    assert cli("cancel", str(first)).stderr == "pleat: 2093 jobs cancelled\n"
    left = [one["job"] for one in json.loads(cli("ps", "--json").stdout)["jobs"]]
    assert left == [int(before), *range(int(other), int(other) + 3), int(after)]
    assert cli("cancel", after, before, other).stderr == "pleat: 5 jobs cancelled\n"


def needs(cli, number):
    return [(one["job"], one["condition"]) for one in job(cli, number)["waits_for"]]


def test_tasks_are_waited_for(cli):
    script = "[ $PLEAT_ARRAY_INDEX != 3 ] || exit 1"
    first = int(submit(cli, "--hold", "--array", "1,3,5-9", program=("sh", "-c", script)))
    numbers = dict(zip((1, 3, 5, 6, 7, 8, 9), range(first, first + 7)))
    for condition in "afterok", "afternotok", "afterany", "after":
        one = submit(cli, "--hold", "--dependency", f"{condition}:{first}_6")
        assert needs(cli, one) == [(numbers[6], condition)]
    some = submit(cli, "--dependency", f"afterany:{first}_[1,7-9]:{first}_5,afternotok:{first}_3")
    assert needs(cli, some) == [(numbers[i], "afterany") for i in (1, 7, 8, 9, 5)] + [(numbers[3], "afternotok")]
    either = submit(cli, "--dependency", f"afterok:{first}_3?afterok:{first}_[5,6]")
    assert len(needs(cli, either)) == 3
    never = submit(cli, "--dependency", f"afterok:{first}_[3,5]")
    alone = submit(cli, "--hold")
    for wrong, text in ((f"{first}_4", f"no task {first}_4 to wait for: the indexes of that array are 1,3,5-9"),
                        (f"{first}_[1-3]", f"no task {first}_2"), (f"{alone}_0", f"job {alone} is no array"),
                        (f"{first + 1}_3", f"job {first + 1} is no array"), ("99_1", "no job 99")):
        refused = cli("submit", "--dependency", f"afterok:{wrong}", "true")
        assert refused.returncode == 1 and text in refused.stderr, refused.stderr
    assert cli("release", str(first)).returncode == 0
    assert cli("wait", some, either).returncode == 0
    assert cli("wait", never).returncode == 1 and job(cli, never)["state"] == "cancelled"
    # what has ended long ago, too
    assert cli("submit", "--dependency", f"afterok:{first}_[1,5]", "true").returncode == 0
    refused = cli("submit", "--dependency", f"afterok:{first}_3", "true")
    assert refused.returncode == 1 and f"job {numbers[3]} has ended already" in refused.stderr
    assert cli("submit", "--array", "0-1", "--dependency", f"afternotok:{first}_3", "true").returncode == 0


def test_wait_waits_for_all_of_an_array(cli):
    """The last one fails: whoever goes on after `pleat wait ARRAY` must be told."""
    array = submit(cli, "--array", "1-3%1", program=("sh", "-c", "[ $PLEAT_ARRAY_INDEX != 3 ]"))
    done = cli("wait", "--json", array)
    assert done.returncode == 1
    states = [(one["array"]["index"], one["state"]) for one in json.loads(done.stdout)["jobs"]]
    assert states == [(1, "done"), (2, "done"), (3, "failed")]
    assert cli("wait", f"{array}_[1-2]").returncode == 0 and cli("wait", f"{array}_1").returncode == 0
    assert cli("wait", str(int(array) + 1)).returncode == 0  # a later task, by its own number
    assert len(json.loads(cli("wait", "--json", array, f"{array}_2").stdout)["jobs"]) == 3


def test_wait_names_a_later_task_that_is_held(cli):
    array = int(submit(cli, "--hold", "--array", "0-1"))
    assert cli("release", f"{array}_0").returncode == 0
    process = cli.start("wait", str(array), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert f"job {array + 1} is held" in process.stderr.readline()
    assert cli("release", str(array + 1)).returncode == 0
    process.communicate(timeout=60)
    assert process.returncode == 0


def test_so_many_tasks_at_one_time(cli, tmp_path):
    first = int(submit(cli, "--array", "0-3%1", program=("sh", "-c", f"mkdir {tmp_path}/one && rmdir {tmp_path}/one")))
    held = int(submit(cli, "--hold", "--array", "0-3%2"))
    by = [job(cli, str(held + i))["held_by"] for i in range(4)]
    assert by == [["user"]] * 4  # who is held by its user takes nobody's place
    assert cli("wait", *(str(first + i) for i in range(4))).returncode == 0
    assert cli("release", str(held)).returncode == 0
    assert cli("wait", *(str(held + i) for i in range(4))).returncode == 0


@pytest.mark.parametrize("text", ["", "x", "3-1", "0-9:0", "1,1", "0-9%0", "0-9%", "0-5000", "1-", "2000000"])
def test_an_array_that_makes_no_sense(cli, text):
    done = cli("submit", "--array", text, "true")
    assert done.returncode == 2 and "--array" in done.stderr
    assert cli("run", "--array", "0-3", "true").returncode == 2


def test_an_array_is_taken_as_a_whole(cli):
    refused = cli("submit", "--array", "0-9", "--dependency", "afterok:99", "true")
    assert refused.returncode in (1, 4) and "no job 99" in refused.stderr
    large = cli("submit", "--array", "0-9", "-n", "100000", "true")
    assert large.returncode == 1 and "100000 processors" in large.stderr
    assert json.loads(cli("ps", "--all", "--json").stdout)["jobs"] == []


def test_tasks_are_jobs_everywhere(cli):
    array = int(submit(cli, "--hold", "--array", "0-8:2%2"))
    assert json.loads(cli("show", "--json", f"{array}_4").stdout)["array"]["index"] == 4
    assert f"job          {array + 2} " in cli("show", f"{array}_4").stdout
    assert cli("why", f"{array}_[6]").stdout.startswith(f"job {array + 3} ")
    assert cli("release", str(array)).returncode == 0
    assert cli("wait", f"{array}_[0-4]", f"{array}_6", f"{array}_8").returncode == 0
    assert cli("log", f"{array}_8").returncode == 0
    assert f"{array + 1}" in cli("history", f"{array}_2").stdout
    assert cli("events", f"{array}_2").stdout == cli("events", str(array + 1)).stdout != ""
    done = cli("show", f"{array}_3")
    assert done.returncode == 4 and "its indexes are 0-8:2%2" in done.stderr
    assert cli("show", f"{array}_[2,4]").returncode == 2
    other = submit(cli)
    done = cli("wait", f"{other}_1")
    assert done.returncode == 4 and "no array" in done.stderr
    assert cli("show", "5_").returncode == 2 and cli("grow", "5_x", "2").returncode == 2


def test_hold_and_release_are_events(cli):
    number = submit(cli, "--hold")
    first = submit(cli, "--hold")
    waits = submit(cli, "--dependency", f"afterok:{first}")
    assert cli("release", number).returncode == 0
    assert cli("wait", number).returncode == 0
    assert cli("set", "--dependency", "none", waits).returncode == 0
    assert cli("wait", waits).returncode == 0
    text = cli("events", number).stdout
    assert text.index("held by its user") < text.index("released by its user") < text.index("running")
    assert "waits for no other job any more" in cli("events", waits).stdout
    kinds = [json.loads(line)["kind"] for line in cli("events", "--json", number, "--kind", "hold,release").stdout.split("\n") if line]
    assert kinds == ["hold", "release"]
    assert cli("cancel", first).returncode == 0


def test_what_is_started_once_is_not_requeued_by_a_slip(cli, tmp_path):
    go = tmp_path / "go"
    number = submit(cli, "--no-requeue", program=("sh", "-c", f"while [ ! -e {go} ]; do sleep 0.05; done"))
    until(lambda: job(cli, number)["state"] == "running")
    done = cli("requeue", number)
    assert done.returncode == 1 and "--no-requeue" in done.stderr and f"requeue --force {number}" in done.stderr
    assert job(cli, number)["state"] == "running" and job(cli, number)["attempt"] == 0
    assert cli("requeue", "--force", "--hold", number).returncode == 0
    until(lambda: job(cli, number)["held_by"] == ["user"])
    go.touch()
    assert cli("release", number).returncode == 0
    assert cli("wait", number).returncode == 0


def test_memory_is_measured(cli):
    number = submit(cli, program=("python3", "-c", "text = b'x' * (64 << 20); print(len(text))"))
    assert cli("wait", number).returncode == 0
    peak = job(cli, number)["max_rss_kb"]
    assert 64 << 10 < peak < 640 << 10
    entry = json.loads(cli("history", number, "--json").stdout)["jobs"][0]
    assert entry["max_rss_kb"] == peak
    assert f"{peak / 1024:.1f} MiB" in cli("history").stdout
    assert f"{peak / 1024:.1f} MiB its largest process" in cli("show", number).stdout
