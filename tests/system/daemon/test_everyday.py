"""What users do every day: run, cancel, grow, shrink, look, configure, stop."""

import json
import os
import re
import signal

import pytest

from conftest import LOOP, PLEATD, loop, until_file, wait_until


def touch(path):
    with open(path, "w", encoding="ascii"):
        pass


# ---- run


def test_run_gives_the_exit_code(pleat):
    for code in (0, 1, 3, 125, 255):
        assert pleat.pleat("run", "--", "sh", "-c", f"exit {code}").returncode == code
    done = pleat.pleat("run", "--", "sh", "-c", "kill -9 $$", check=128 + 9)
    assert "signal 9" in done.stderr
    done = pleat.pleat("run", "--", "sh", "-c", "echo out; echo err >&2", check=0)
    assert (done.stdout, done.stderr) == ("out\n", "err\n")


def test_run_of_an_mpi_program(pleat):
    done = pleat.pleat("run", *loop("--iterations", "20", smallest=2, largest=4), check=0)
    assert done.stdout.startswith("RESULT ok iterations=20")


def test_output_is_complete_and_in_order(pleat):
    done = pleat.pleat("run", "--", "seq", "200000", check=0)
    assert done.stdout == "".join(f"{i}\n" for i in range(1, 200001))


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_interrupting_run_cancels(pleat, how):
    process = pleat.popen("run", *loop(largest=2))
    wait_until(lambda: pleat.call("jobs")["jobs"], "it is submitted")
    pleat.wait_ranks(1, 2)
    process.send_signal(how)
    process.communicate(timeout=60)
    assert process.returncode == 128 + how
    job = pleat.job(1)
    assert (job["state"], job["reason"]) == ("cancelled", "cancelled")
    assert pleat.job_pids() == []
    pleat.wait_free()


def test_killing_run_leaves_the_job(pleat):
    go = pleat.path("go")
    process = pleat.popen("run", *until_file(go))
    wait_until(lambda: os.path.exists(go + ".runs"), "it runs")
    process.kill()
    process.communicate()
    touch(go)
    assert pleat.wait_end(1)["exit_code"] == 7


def test_environment_and_directory(pleat):
    pleat.env["FLAVOUR"] = "a b\n'c'"
    done = pleat.pleat("run", "--chdir", "/usr", "--", "sh", "-c", 'pwd; echo "$FLAVOUR"', check=0)
    assert done.stdout == "/usr\na b\n'c'\n"


# ---- sizes


def test_growing_and_shrinking_by_hand(pleat):
    number = pleat.submit(*loop(smallest=2, largest=6))
    pleat.wait_ranks(number, 6)
    done = pleat.pleat("shrink", "--wait", number, 3, check=0)
    pleat.wait_ranks(number, 3)
    assert pleat.job(number)["processors"] == 3, done.stdout
    # a user's shrink lasts, though policies would grow it: another job's end makes them think
    for _ in range(3):
        pleat.pleat("run", "--", "true", check=0)
    assert pleat.job(number)["processors"] == 3
    assert pleat.call("sites")["sites"][0]["free"] == 5
    pleat.pleat("grow", "--wait", number, 1, check=0)
    wait_until(lambda: pleat.job(number)["processors"] == 6, "after a growth it grows by itself again")
    history = pleat.job(number)["history"]["resizes"]
    assert ("user", 6, 3, "shrunk") in [(r["by"], r["from"], r["to"], r["outcome"]) for r in history]
    assert ("user", 3, 4, "grown") in [(r["by"], r["from"], r["to"], r["outcome"]) for r in history]
    assert all(r["total_s"] > 0 for r in history if r["outcome"] in ("grown", "shrunk"))
    pleat.wait_size(number, 6)
    for words, text in ((["grow", number, 1], "limits are 2 to 6"), (["shrink", number, 5], "limits are 2 to 6"),
                        (["grow", "--to", 9, number], "limits are 2 to 6")):
        assert text in pleat.pleat(*words, check=1).stderr


def test_growing_what_cannot_grow(pleat):
    go = pleat.path("go")
    rigid = pleat.submit("-n", "2", *until_file(go))
    pleat.wait_for(rigid, "running")
    assert "it is rigid" in pleat.pleat("grow", rigid, 1, check=1).stderr
    waiting = pleat.submit("-n", "8", "--", "true")
    assert "it is queued, not running" in pleat.pleat("grow", waiting, 1, check=1).stderr
    assert "rigid" in pleat.pleat("limits", rigid, "--max", "4", check=1).stderr
    touch(go)
    pleat.wait_end(waiting)
    assert "done" in pleat.pleat("grow", waiting, 1, check=1).stderr


def test_limits(pleat):
    number = pleat.submit(*loop(smallest=2, largest=4))
    pleat.wait_size(number, 4)
    pleat.pleat("limits", number, "--max", "3", check=0)
    pleat.wait_size(number, 3)
    pleat.pleat("limits", number, "--max", "8", check=0)
    pleat.wait_size(number, 8)
    for words, text in ((["--min", "9", "--max", "10"], "8"), (["--min", "5", "--max", "4"], "5 is above"),
                        (["--max", "1"], "minimum 2 is above the maximum 1")):
        done = pleat.pleat("limits", number, *words)
        assert done.returncode in (1, 2) and text in done.stderr, done.stderr
    pleat.wait_size(number, 8)


def test_shrunk_for_a_rigid_job_and_grown_back(pleat):
    first = pleat.submit(*loop(more=["--name", "one"]))
    second = pleat.submit(*loop(more=["--name", "two"]))
    wait_until(lambda: pleat.job(first)["processors"] + pleat.job(second)["processors"] == 8, "they fill it")
    go = pleat.path("go")
    rigid = pleat.submit("-n", "6", *until_file(go))
    pleat.wait_for(rigid, "running")
    assert pleat.job(first)["processors"] == pleat.job(second)["processors"] == 1
    touch(go)
    pleat.wait_end(rigid)
    wait_until(lambda: pleat.job(first)["processors"] + pleat.job(second)["processors"] == 8, "and again")
    mandatory = [r for job in (first, second) for r in pleat.job(job)["history"]["resizes"]
                 if r["mandatory"] and r["waiter"] == rigid]
    assert mandatory and all(r["outcome"] == "shrunk" for r in mandatory)


# ---- looking


def test_wait(pleat):
    go = pleat.path("go")
    good, bad = pleat.submit("--", "true"), pleat.submit(*until_file(go))
    pleat.pleat("wait", good, check=0)
    process = pleat.popen("wait")  # for all: which these are, tests/system/cli says
    assert process.poll() is None
    touch(go)
    process.communicate(timeout=60)
    assert json.loads(pleat.pleat("wait", "--json", check=0).stdout) == {"jobs": []}
    assert pleat.pleat("wait", bad, check=1).returncode == 1
    answer = json.loads(pleat.pleat("wait", "--json", good, bad, check=1).stdout)
    assert [(job["job"], job["exit_code"]) for job in answer["jobs"]] == [(good, 0), (bad, 7)]


def test_log(pleat):
    go = pleat.path("go")
    number = pleat.submit("--", "sh", "-c",
                          'echo one; echo two >&2; while [ ! -e "$0" ]; do sleep 0.05; done; echo three', go)
    follower = pleat.popen("log", "--follow", number)
    assert follower.stdout.readline() == "one\n"
    assert pleat.pleat("log", number, check=0).stdout == "one\n"
    assert pleat.pleat("log", "--stderr", number, check=0).stdout == "two\n"
    touch(go)
    assert follower.stdout.read() == "three\n" and follower.wait(60) == 0
    assert pleat.pleat("log", number, check=0).stdout == "one\nthree\n"


def test_events_follow(pleat):
    go = pleat.path("go")
    number = pleat.submit(*until_file(go))
    follower = pleat.popen("events", "--follow", "--json", number)
    seen = []

    def read_until(condition):
        while True:
            event = json.loads(follower.stdout.readline())
            seen.append(event)
            if condition(event):
                return
    read_until(lambda e: e["kind"] == "state" and e["to"] == "running")
    touch(go)
    pleat.submit("--", "true")  # another job's events are not shown
    read_until(lambda e: e["kind"] == "state" and e["to"] == "failed")
    assert {event["job"] for event in seen} == {number}
    seqs = [event["seq"] for event in seen]
    assert seqs == sorted(set(seqs))
    assert [e["to"] for e in seen if e["kind"] == "state"] == [
        "queued", "claiming", "running", "finishing", "failed"]
    follower.send_signal(signal.SIGINT)
    follower.communicate(timeout=60)
    text = pleat.pleat("events", number, check=0).stdout
    assert len(text.splitlines()) == len(seen) and "claiming -> running" in text


def test_ps_show_sites_info(pleat):
    go = pleat.path("go")
    number = pleat.submit("--name", "sleeper", *until_file(go))
    pleat.wait_for(number, "running")
    assert "sleeper" in pleat.pleat("ps", check=0).stdout
    (job,) = json.loads(pleat.pleat("ps", "--json", check=0).stdout)["jobs"]
    assert (job["job"], job["name"], job["state"], job["processors"]) == (number, "sleeper", "running", 1)
    shown = json.loads(pleat.pleat("show", "--json", number, check=0).stdout)
    assert shown["history"]["sizes"][0]["processors"] == 1
    (site,) = json.loads(pleat.pleat("sites", "--json", check=0).stdout)["sites"]
    assert (site["name"], site["processors"], site["free"], site["used"]) == ("local", 8, 7, 1)
    info = json.loads(pleat.pleat("info", "--json", check=0).stdout)
    assert info["socket"] == pleat.socket and info["directory"] == pleat.dir and info["jobs"] == {"running": 1}
    assert info["pid"] == pleat.daemon_pid() and info["configuration"] == pleat.path("pleat.conf")
    assert info["policies"]["approach"] == "pwa" and info["policies"]["malleability"] == "egs"
    touch(go)
    pleat.wait_end(number)
    assert "sleeper" not in pleat.pleat("ps", check=0).stdout
    assert "exit 7" in pleat.pleat("ps", "--all", check=0).stdout


# ---- configuring and stopping


CONFIGURATIONS = {
    "colour = green": (2, "colour"),
    'site "local" { processors = -1 }': (2, "processors = -1: must be from 0 to 65536"),
    'site "local" { processors = many }': (2, "processors"),
    'site "local" { cores = 4 }': (2, "cores"),
    'site "local" { kind = moon }': (2, "kind = moon: must be local"),
    'site "local" { background = maybe }': (2, "background = maybe: must be auto, measure or ignore"),
    'site "c" { background = maybe kind = slurm }': (2, "background = maybe: must be auto, ignore, grow or start"),
    "apply_s = -1": (2, "apply_s = -1: must be from 0 to 1e9 seconds"),
    "apply_s = soon": (2, "apply_s"),
    "attempts = -3": (2, "attempts = -3: must be from 0 to 1000000"),
    "approach = sunny": (2, "approach = sunny: must be one of"),
    "malleability = pwa": (2, "malleability = pwa: must be one of"),
    'site "local" {': (2, "the section that begins here does not end"),
    '/* never closed': (2, "the comment that begins here does not end"),
}


def test_jobs_in_brief(pleat):
    """Members as in the whole, of jobs in memory and of those shown from their accounts."""
    docs = os.path.join(os.path.dirname(__file__), "../../../docs/protocol.md")
    with open(docs, encoding="utf-8") as file:
        named = re.search(r"With `brief` of `jobs` a job has only ([\w`, ]+), at", file.read())[1]
    members = set(re.findall(r"\w+", named))
    pleat.wait_end(pleat.submit("--", "true"))
    pleat.wait_end(pleat.submit("--input", "absent", "--", "true"))
    runs = pleat.submit(*loop(smallest=7))
    pleat.wait_ranks(runs, 8)
    pleat.submit("-n", "8", "--", "true")
    pleat.pleat("cancel", pleat.submit("-n", "8", "--", "true"), check=0)
    moving = ("wait_s", "run_s", "progress")  # of those that have not ended
    for restarted in (False, True):
        if restarted:
            pleat.kill_daemon()
        whole, brief = (pleat.call("jobs", all=True, brief=brief)["jobs"] for brief in (False, True))
        assert [job["state"] for job in brief] == ["done", "failed", "running", "queued", "cancelled"]
        for one, other in zip(brief, whole):
            assert set(one) == members
            living = one["state"] in ("running", "queued")
            assert {k for k in members if one[k] != other[k]} <= set(moving if living else ())
        assert [job["job"] for job in pleat.call("jobs", brief=True)["jobs"]] == [3, 4]
        pages = [pleat.call("jobs", all=True, brief=True, after=after, limit=2) for after in (0, 2, 3)]
        assert [[job["job"] for job in page["jobs"]] for page in pages] == [[1, 2], [3, 4], [4, 5]]
        assert [page["more"] for page in pages] == [True, True, False]
        assert all(job["wait_s"] >= 0 for job in brief) and brief[3]["run_s"] is None
        assert brief[2]["run_s"] > 0 and (restarted or brief[2]["progress"]["iteration"] > 0)
    pleat.call("stop", force=True)


@pytest.mark.parametrize("wrong", CONFIGURATIONS)
def test_wrong_configuration(pleat, wrong):
    line, text = CONFIGURATIONS[wrong]
    pleat.configure(text="# a comment\n", more=wrong)
    process = pleat.popen("--check", program=PLEATD)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 1 and text in said
    assert f"{pleat.path('pleat.conf')}:{line}: " in said
    done = pleat.pleat("ps", check=3)
    assert text in done.stderr and "pleat.conf" in done.stderr


def test_right_configuration(pleat):
    pleat.configure("approach = pra\nmalleability = fpsma\nqueue = scan\ntries = 5\nstuck_s = 1.5")
    process = pleat.popen("--check", program=PLEATD)
    said, _ = process.communicate(timeout=30)
    assert process.returncode == 0 and "good" in said
    info = pleat.call("info")
    assert info["policies"]["approach"] == "pra" and info["policies"]["queue"] == "scan"
    assert info["parameters"]["tries"] == 5 and info["parameters"]["stuck_s"] == 1.5


def test_policies_decide_at_multiples_of_a_time(pleat):
    """As KOALA's do when its information service is polled: whatever happens between two multiples is decided at one time."""
    pleat.configure("decide_s = 2")
    jobs = [pleat.submit("--", "true") for _ in range(6)]
    for job in jobs:
        pleat.wait_end(job)
    decided = [e["time_s"] for e in pleat.call("events")["events"] if e["kind"] == "state" and e["from"] == "queued"]
    assert len(decided) == 6 and len(set(decided)) == len({int(time_s // 2) for time_s in decided})


def test_policies_of_a_mix(pleat):
    with open(pleat.path("small.mix"), "w", encoding="utf-8") as file:
        file.write(f"0 grows --min 1 --max 4 --initial 1 -- {LOOP} --resizes 1 --pause 2\n0.1 short -- true\n")
    events = pleat.call("events")["last"]
    done = pleat.pleat("mix", "--approach", "pra", "--malleability", "fpsma", "--expect", "grown,results",
                       "small.mix", check=0)
    assert "grows" in done.stdout and "short" in done.stdout
    changes = [(e["question"], e["name"]) for e in pleat.call("events", after=events)["events"]
               if e["kind"] == "policy"]
    assert set(changes[:2]) == {("approach", "pra"), ("malleability", "fpsma")}
    policies = pleat.call("info")["policies"]
    assert policies["approach"] == "pwa" and policies["malleability"] == "egs"  # as before
    done = pleat.pleat("mix", "--approach", "sunny", "small.mix")
    assert done.returncode in (1, 2) and "sunny" in done.stderr


def test_mix_with_an_error_submits_nothing(pleat):
    with open(pleat.path("bad.mix"), "w", encoding="utf-8") as file:
        file.write("0 good -- true\n1 bad --min 5 --max 3 -- true\n")
    done = pleat.pleat("mix", "bad.mix", check=2)
    assert "bad.mix:2" in done.stderr and "--min 5 is above --max 3" in done.stderr
    assert pleat.call("jobs", all=True)["jobs"] == []


def test_stop(pleat):
    go = pleat.path("go")
    number = pleat.submit(*until_file(go))
    pleat.wait_for(number, "running")
    pid = pleat.daemon_pid()
    done = pleat.pleat("stop", check=1)
    assert "1 job has not ended: cancel it, or stop with --force" in done.stderr
    assert pleat.daemon_pid() == pid
    touch(go)
    pleat.wait_end(number)
    pleat.connection.close()
    pleat.connection = None
    pleat.pleat("stop", check=0)
    assert not pleat.listening()
    assert pleat.submit("--", "true") == number + 1
    assert pleat.daemon_pid() != pid


def test_idle_daemon_ends(pleat):
    pleat.configure(text='idle_exit_s = 0.5\nsite "local" { processors = 2 }\n')
    pleat.pleat("run", "--", "true", check=0)
    wait_until(lambda: not pleat.listening() and not os.path.exists(pleat.socket), "it ends by itself")
    assert pleat.submit("--", "true") == 2
