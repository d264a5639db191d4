"""What is printed of the daemon's answers: JSON as it came, tables for people, and odd answers."""

import json
import os
import re
import signal
import subprocess

import pytest
from conftest import on_terminal
from fake_pleatd import Failure
from story import EVENTS, JOBS, answers

JOB_FIELDS = set("""job name argv cwd runner mpi kind min max initial sizes asks site estimate_s
    priority deadline_s begin_s state
    reason processors processes target submit_s start_s end_s wait_s run_s exit_code signal attempt
    slots grown shrunk failed_resizes resize_s progress stdout stderr text""".split())


def test_ps_json(cli):
    with cli.fake() as fake:
        jobs = json.loads(cli("ps", "--all", "--json").stdout)["jobs"]
        assert fake.asked("jobs") == [{"all": True, "brief": False, "after": 0, "limit": 200}]
    assert [job["job"] for job in jobs] == [1, 2, 3, 4]
    assert all(set(job) == JOB_FIELDS for job in jobs)


def test_jobs_are_fetched_in_pages(cli):
    many = [dict(JOBS[0], job=i) for i in range(1, 1001)]
    fetch = {"jobs": lambda p, _: {
        "jobs": [j for j in many if j["job"] > p["after"]][:p["limit"]]}}
    with cli.fake(fetch):
        assert [j["job"] for j in json.loads(cli("ps", "--json").stdout)["jobs"]] == \
            list(range(1, 1001))


def test_the_table_takes_jobs_in_brief(cli):
    members = ("name", "state", "processors", "min", "max", "wait_s", "run_s", "exit_code", "reason")
    many = [dict({k: JOBS[0][k] for k in members}, job=i) for i in range(1, 2501)]
    fetch = {"jobs": lambda p, _: {
        "jobs": [j for j in many if j["job"] > p["after"]][:p["limit"]]}}
    with cli.fake(fetch) as fake:
        lines = cli("ps").stdout.splitlines()
        assert [(asked["brief"], asked["after"]) for asked in fake.asked("jobs")] == \
            [(True, 0), (True, 1000), (True, 2000)]
    assert [int(line.split()[0]) for line in lines[1:]] == list(range(1, 2501))


def test_show_json(cli):
    with cli.fake():
        job = json.loads(cli("show", "1", "--json").stdout)
    assert set(job) == JOB_FIELDS | {"history"} and job == JOBS[0]


def test_events_json_is_one_object_a_line(cli):
    with cli.fake():
        lines = cli("events", "--json").stdout.splitlines()
        of_job = cli("events", "2", "--json").stdout.splitlines()
    assert [json.loads(line) for line in lines] == EVENTS
    assert {json.loads(line)["job"] for line in of_job} == {2}


def test_events_are_fetched_in_pages(cli):
    many = [{"seq": i, "time_s": 1e9, "kind": "daemon", "job": None, "text": "x"}
            for i in range(1, 2501)]
    fetch = {"events": lambda p, _: {
        "events": [e for e in many if e["seq"] > p["after"]][:p["limit"]], "last": 2500}}
    with cli.fake(fetch):
        assert len(cli("events").stdout.splitlines()) == 2500


def test_events_follow(cli):
    def follow(params, connection):
        assert params["after"] == EVENTS[-1]["seq"]
        for seq in range(3):
            connection.notify({"seq": 1000 + seq, "time_s": 1.7e9, "kind": "daemon", "job": None,
                               "text": f"news {seq}"})
        return {}

    with cli.fake(dict(answers(), follow=follow)):
        process = cli.start("events", "--follow", stdout=subprocess.PIPE, text=True)
        lines = [process.stdout.readline() for _ in range(len(EVENTS) + 3)]
        assert lines[-1].endswith("daemon: news 2\n")
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == -signal.SIGINT
        process.stdout.close()


def test_ps_table(cli):
    with cli.fake():
        lines = cli("ps", "-a").stdout.splitlines()
    assert lines[0].split() == "JOB NAME STATE PROCS RANGE WAIT RUN ITERATION REMARK".split()
    assert lines[1].split()[:5] == ["1", "heat", "done", "0", "2-8"]
    assert lines[4].endswith("exit 3")
    assert "\033" not in "".join(lines)


@pytest.mark.parametrize("columns", ["40", "60", "80"])
def test_tables_fit_narrow_widths(cli, columns):
    long_name = dict(JOBS[0], name="a-name-that-is-much-longer-than-any-column")
    with cli.fake({"jobs": {"jobs": [long_name]}}):
        done = cli("ps", env={"COLUMNS": columns})
        whole = cli("ps").stdout
    width = max(map(len, done.stdout.splitlines()))
    assert width <= max(int(columns), 62)  # numbers are never cut: they need 62 columns
    assert "longer-than-any-column" not in done.stdout
    assert "longer-than-any-column" in whole  # a pipe has no width


def test_colour_only_where_it_is_wanted(cli):
    with cli.fake(dict(answers(), jobs={"jobs": [dict(JOBS[0], state="running")]})):
        assert "\033[" in on_terminal(cli, "ps")[0]
        assert "\033[" not in on_terminal(cli, "ps", "--no-color")[0]
        assert "\033[" not in on_terminal(cli, "ps", env={"NO_COLOR": "1"})[0]
        assert "\033[" not in on_terminal(cli, "ps", env={"TERM": "dumb"})[0]
        assert "\033[" not in cli("ps").stdout


def test_no_utf8_where_the_locale_has_none(cli):
    job = dict(JOBS[0], name="h\u00e9at", text="\u00fcber")
    with cli.fake(dict(answers(), jobs={"jobs": [job]}, job=job)):
        for args in (["ps"], ["show", "1"], ["chart"], ["ps", "--json"], ["events"]):
            assert cli(*args, env={"LC_ALL": "C"}).stdout.isascii()
        assert json.loads(cli("ps", "--json", env={"LC_ALL": "C"}).stdout)["jobs"][0] == job
        assert "h\u00e9at" in cli("ps").stdout


def test_control_characters_do_not_reach_the_terminal(cli):
    job = dict(JOBS[0], name="\033[31mred\a", text="a\nb\u009bc")
    job["history"]["resizes"][0]["by"] = "\033[2J"
    with cli.fake({"jobs": {"jobs": [job]}, "job": job, "cancel": failing(-1, "\033[2Jboo\n")}):
        for args in (["ps"], ["show", "1"], ["cancel", "1"]):
            done = cli(*args)
            assert not re.search("[\0-\x09\x0b-\x1f\x7f-\x9f]", done.stdout + done.stderr)
    job["history"]["resizes"][0]["by"] = "policy"


# ---- odd answers: never a crash, never silence ----

NONSENSE = [[], {}, None, "text", 17, {"jobs": None}, {"jobs": {}}, {"jobs": [None, 3, "x", [], {}]},
            {"jobs": [{"job": "one", "name": 7, "state": [], "processors": 1e300, "min": -1,
                       "max": {}, "wait_s": "long", "run_s": 1e308, "progress": [], "text": {},
                       "exit_code": 2**62, "signal": 2**62, "history": {"resizes": [0, {}],
                                                                      "sizes": [1, {}]}}]},
            {"sites": [None, {"name": 3, "processors": -5}, {"processors": 2**60}]},
            {"policies": [None, {"question": 1}]}, {"policies": {"a": []}, "pid": "x"},
            {"events": [None, {}, {"seq": 2**62, "kind": 5, "time_s": "x"}], "last": -3}]


@pytest.mark.parametrize("answer", NONSENSE, ids=range(len(NONSENSE)))
@pytest.mark.parametrize("args", ["ps", "ps --json", "show 1", "wait", "wait 1", "events 1", "sites",
                                  "policies", "info", "chart", "chart --json", "grow 1 1",
                                  "submit true"])
def test_nonsense(cli, args, answer):
    methods = "jobs job wait events sites policies info resize submit".split()
    with cli.fake({method: answer for method in methods}):
        done = cli(*args.split())
    assert done.returncode in (0, 1, 3)
    if not isinstance(answer, dict):
        assert done.returncode == 3 and "pleat: " in done.stderr
    if "--json" in args and done.returncode == 0:
        json.loads(done.stdout)


def test_slots_that_cannot_be(cli):
    def slots(seq, **more):
        event = {"seq": seq, "time_s": JOBS[0]["submit_s"] + seq, "kind": "slots", "job": 1,
                 "claim": seq, "purpose": "run", "state": "held", "count": 1, "site": "local",
                 "pieces": [{"node": 0, "first": 0, "count": 1}]}
        return dict(event, **more)

    odd = [slots(1, pieces=[{"node": 0, "first": 2**62, "count": 2**62}]),
           slots(2, pieces=[{"node": -1, "first": -4, "count": 3}]),
           slots(3, pieces=[{"count": 0}, None, 7]), slots(4, time_s=-1e300), slots(5, site=None),
           slots(6, job=77), slots(7, purpose="tea", state="lost"), slots(8, claim="x"),
           slots(9, pieces=[{"node": 3, "first": 16_000_000, "count": 100}])]
    with cli.fake(dict(answers(), events=lambda p, _: {
            "events": [e for e in odd if e["seq"] > p["after"]], "last": 9})):
        for args in (["chart"], ["chart", "--json"], ["chart", "--svg", cli.path + "/x.svg"]):
            done = cli(*args)
            assert (done.returncode, done.stderr) == (0, "")


def failing(code, text):
    def answer(_params, _connection):
        raise Failure(code, text)
    return answer


@pytest.mark.parametrize("args, code, exit_code", [
    ("show 9", -4, 4), ("cancel 9", -4, 4), ("cancel 9", -6, 1), ("grow 9 1", -4, 4),
    ("shrink 9 1", -6, 1), ("limits 9 --max 3", -1, 1), ("log 9", -4, 4), ("wait 9", -4, 4),
    ("events 9", -4, 4), ("submit true", -4, 1), ("submit true", -14, 1), ("run true", -1, 125),
    ("ps", -2, 1), ("stop", -6, 1)])
def test_errors_become_exit_codes(cli, args, code, exit_code):
    methods = "job cancel resize limits output wait events submit jobs stop".split()
    answers = {method: failing(code, "what went wrong") for method in methods}
    if args.startswith("cancel"):  # it looks first whether the number is an array's
        answers["jobs"] = {"jobs": []}
    with cli.fake(answers):
        done = cli(*args.split())
    assert (done.returncode, done.stdout) == (exit_code, "")
    names_job = args.split()[0] in ("show", "cancel", "grow", "shrink", "events")
    assert done.stderr == f"pleat: {'job 9: ' if names_job else ''}what went wrong\n"


@pytest.mark.parametrize("raw", [b"garbage\n", b'{"id":1}\n', b'{"id":1,"result":{},"bytes":-1}\n',
                                 b"\xff\xfe\n", b"[" * 5000 + b"\n", b"x" * 2_000_000 + b"\n", b""],
                         ids=range(7))
def test_a_broken_daemon(cli, raw):
    def answer(_params, connection):
        connection.send_raw(raw)
        connection.close()
        raise Failure(-1, "too late")

    with cli.fake({"jobs": answer}):
        done = cli("ps")
    assert done.returncode in (1, 3) and done.stderr.startswith("pleat: ")


@pytest.mark.parametrize("hello", [
    {"method": "hello", "params": {"protocol": 99, "role": "daemon"}},
    {"method": "hello", "params": {"protocol": 1, "role": "agent"}},
    {"method": "moin"}, {"id": 1, "result": {}}])
def test_a_daemon_of_another_kind(cli, hello):
    with cli.fake(hello=hello):
        done = cli("ps")
    assert done.returncode == 3 and "pleat: " in done.stderr


# ---- doing things ----

def test_cancel_goes_on_after_one_that_cannot(cli):
    def cancel(params, _):
        if params["job"] == 1:
            raise Failure(-4, "no job 1")
        return {}

    with cli.fake({"cancel": cancel, "jobs": {"jobs": []}}) as fake:
        done = cli("cancel", "1", "2")
        assert done.returncode == 4
        assert fake.asked("cancel") == [{"job": 1}, {"job": 2}]


def test_only_jobs_that_numbers_name_are_asked_for(cli):
    """Not all that wait, of which there may be a million; of an array also what follows its first task."""
    def jobs(params, _):
        found = [{"job": n, "name": "x", "state": "queued", "held_by": [], "array": {"job": 10, "index": n} if n >= 10 else None}
                 for n in range(params["after"] + 1, min(3000, params["after"] + params["limit"]) + 1)]
        return {"jobs": found, "more": found[-1]["job"] < 3000}

    with cli.fake({"cancel": {}, "jobs": jobs}) as fake:
        for words, asked, cancelled in ((["5"], [(4, 1)], 1), (["7", "3-4", "5"], [(2, 3), (6, 1)], 4),
                                        (["12"], [(11, 1)], 1), (["10_12"], [(9, 1), (10, 1000), (1010, 1000), (2010, 1000)], 1)):
            before = len(fake.asked("jobs")), len(fake.asked("cancel"))
            assert cli("cancel", *words).returncode == 0
            assert [(p["after"], p["limit"]) for p in fake.asked("jobs")[before[0]:]] == asked
            assert len(fake.asked("cancel")) - before[1] == cancelled


def test_resizes(cli):
    with cli.fake({"resize": {"from": 2, "to": 4}}) as fake:
        assert cli("grow", "7", "2").stdout == "job 7: 2 -> 4 processors asked for\n"
        cli("grow", "--to", "6", "7")
        cli("shrink", "7", "1")
        cli("shrink", "7", "1", "--voluntary")
        cli("shrink", "--to", "0", "7")
        assert fake.asked("resize") == [
            {"job": 7, "mandatory": False, "by": 2}, {"job": 7, "mandatory": False, "processors": 6},
            {"job": 7, "mandatory": True, "by": -1}, {"job": 7, "mandatory": False, "by": -1},
            {"job": 7, "mandatory": True, "processors": 0}]


@pytest.mark.parametrize("outcome, code", [("grown", 0), ("refused", 1), ("timed out", 1)])
def test_grow_waits_for_the_outcome(cli, outcome, code):
    def resize(_params, connection):
        event = {"time_s": 1.0, "job": 7, "kind": "resize", "from": 2, "to": 4}
        connection.notify(dict(event, seq=100, resize=5, by="policy", step="ended", outcome="grown"))
        connection.notify(dict(event, seq=101, resize=6, by="user", step="granted", outcome=None))
        connection.notify(dict(event, seq=102, resize=5, by="policy", step="ended", outcome="grown"))
        connection.notify(dict(event, seq=103, resize=6, by="user", step="ended", outcome=outcome,
                               total_s=0.25))
        return {"from": 2, "to": 4}

    with cli.fake(dict(answers(), resize=resize, follow={})) as fake:
        done = cli("grow", "--wait", "7", "2")
        assert fake.asked("follow") == [{"job": 7, "after": EVENTS[-1]["seq"]}]
    assert done.returncode == code
    assert done.stdout == f"job 7: 2 -> 4 processors: {outcome} (250 ms)\n"


def test_wait(cli):
    with cli.fake({"job": answers()["job"], "wait": lambda p, _: {"jobs": [JOBS[p["job"] - 1]] if p else []}}):
        assert cli("wait", "1", "2").returncode == 0
        assert cli("wait", "1", "4").returncode == 1
        assert len(json.loads(cli("wait", "1", "4", "--json").stdout)["jobs"]) == 2


def test_wait_for_all(cli):
    """Without a number: each that lives is waited for, and shown as it ended."""
    living = {"jobs": [dict(JOBS[0], state="running"), dict(JOBS[3], state="queued")]}
    with cli.fake({"wait": lambda p, _: {"jobs": [JOBS[p["job"] - 1]]}, "jobs": living, "job": answers()["job"]}) as fake:
        done = cli("wait", "--json")
        assert fake.asked("jobs")[0]["all"] is False
        assert [params["job"] for params in fake.asked("wait")] == [1, 4]
    assert [job["job"] for job in json.loads(done.stdout)["jobs"]] == [1, 4] and done.returncode == 1
    with cli.fake({"jobs": {"jobs": []}}):
        done = cli("wait")
        assert (done.returncode, done.stdout) == (0, "")


def test_wait_names_what_is_held(cli):
    """It would be waited for without end, and without a word."""
    held = dict(JOBS[3], state="queued", held_by=["user"])
    other = dict(JOBS[0], state="queued", held_by=["dependency"])
    over = lambda p, _: {"jobs": [JOBS[p["job"] - 1]]}
    with cli.fake({"wait": over, "jobs": {"jobs": [other, held]}, "job": lambda p, _: held if p["job"] == 4 else other}):
        for words in ((), ("1", "4")):
            said = cli("wait", *words).stderr
            assert "job 4 is held" in said and "'pleat release 4'" in said and "job 1" not in said
        assert not cli("wait", "1").stderr


def test_wait_outlasts_the_daemon(cli):
    def gone(_params, connection):
        connection.close()
        return {}

    first = cli.fake({"job": JOBS[0], "wait": gone})
    process = cli.start("wait", "1", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    first.wait_asked("wait")
    assert "waiting for pleatd" in process.stderr.readline()
    first.close()
    with cli.fake({"job": JOBS[0], "wait": {"jobs": [JOBS[0]]}}):
        listed, _ = process.communicate(timeout=30)
    assert process.returncode == 0 and JOBS[0]["name"] in listed


def test_log(cli):
    text = os.urandom(300_000)

    def output(params, _):
        piece = text[params["offset"]:params["offset"] + 1000 * 100]
        end = params["offset"] + len(piece)
        return {"offset": end, "end": not piece}, piece

    with cli.fake({"output": output}) as fake:
        process = cli.start("log", "3", "--stderr", stdout=subprocess.PIPE)
        assert process.communicate(timeout=30)[0] == text
        assert process.returncode == 0
        assert fake.asked("output")[0] == {"job": 3, "stream": "stderr", "offset": 0,
                                           "follow": False, "paths": True, "read": False}


def test_events_that_were_archived_before_they_were_shown(cli):
    def event(seq):
        return {"seq": seq, "time_s": 1.0, "kind": "daemon", "text": "something"}

    def follow(params, connection):
        assert params == {"after": 5}
        connection.notify(event(6))
        connection.notify(event(17))
        connection.notify(event(18))
        return {}

    known = [event(2), event(5)]
    with cli.fake({"events": lambda params, _: {"events": known if params["after"] == 0 else []}, "follow": follow}):
        process = cli.start("events", "--follow", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(5):
            assert "something" in process.stdout.readline()
        process.kill()
        assert process.communicate(timeout=30)[1].count("10 events are not shown") == 1


def test_stop_waits_for_the_end(cli):
    def stop(_params, connection):
        connection.notify({"kind": "daemon", "text": "ending"})
        connection.send({"id": 1, "result": {}})
        connection.close()
        return {}

    assert cli("stop").returncode == 0  # none runs, and none is started for that
    assert os.listdir(cli.path) == []
    with cli.fake({"stop": stop}) as fake:
        assert cli("stop", "--force").returncode == 0
        assert fake.asked("stop") == [{"force": True}]


# ---- where it is written to ----

def test_a_full_disk_is_said(cli):
    with cli.fake(), open("/dev/full", "w") as full:
        for args in (["ps", "-a"], ["ps", "--json"], ["chart"], ["show", "1"]):
            done = cli(*args, stdout=full)
            assert done.returncode == 1 and "No space left" in done.stderr


def test_a_closed_pipe_is_silent(cli):
    with cli.fake():
        reader, writer = os.pipe()
        os.close(reader)
        with os.fdopen(writer, "w") as pipe:
            done = cli("events", stdout=pipe)
    assert done.returncode == -signal.SIGPIPE and done.stderr == ""
