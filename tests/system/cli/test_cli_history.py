"""Accounting: rows by job, size, resize, name and day; filters, totals, CSV."""

import copy
import csv
import io
import json
import re

import pytest
from story import T0


def entry(number, name, submit, **more):
    made = {"job": number, "name": name, "kind": "malleable", "state": "done", "reason": "exited",
            "min": 1, "max": 8, "submit_s": T0 + submit, "start_s": T0 + submit + 2,
            "end_s": T0 + submit + 12, "wait_s": 2.0, "run_s": 10.0, "exit_code": 0, "signal": None,
            "attempt": 0, "processor_s": 28.0, "resize_s": 0.5, "cpu_s": 20.0,
            "sizes": [{"processors": 2, "seconds": 6.0, "processor_s": 12.0},
                      {"processors": 4, "seconds": 4.0, "processor_s": 16.0}],
            "resizes": [{"resize": 5, "from": 2, "to": 4, "outcome": "grown", "by": "policy",
                         "begun_s": T0 + submit + 8, "end_s": T0 + submit + 9, "seconds": 1.0,
                         "processor_s": 4.0}], "archived": False}
    made.update(more)
    return made


JOBS = [entry(1, "heat", 0), entry(2, "heat, 2", 100),
        entry(3, "sleep", 90000, state="failed", exit_code=3, kind="rigid", resizes=[], resize_s=0.0,
              cpu_s=None, processor_s=10.0,
              sizes=[{"processors": 1, "seconds": 10.0, "processor_s": 10.0}])]


def history(params, _connection):
    jobs = [j for j in JOBS if j["job"] > params["after"] and j["job"] == params.get("job", j["job"])]
    return {"jobs": jobs[:2], "more": len(jobs) > 2}  # two at once


def test_by_job(cli):
    with cli.fake({"history": history}) as fake:
        done = cli("history")
        assert [asked["after"] for asked in fake.asked("history")] == [0, 2]
        given = json.loads(cli("history", "--json").stdout)
    lines = done.stdout.splitlines()
    assert lines[0].split() == "JOB NAME STATE SUBMITTED WAIT RUN PROCESSORS RESIZES STOOD CPU MEMORY ENDED".split()
    assert len(lines) == 6 and lines[1].split()[:3] == ["1", "heat", "done"]
    assert lines[3].endswith("exit 3")
    assert lines[5].startswith("3 jobs, 66.0 processor-seconds (0.02 h), waited 6.0 s, 2 resizes")
    assert given["jobs"] == JOBS
    assert given["totals"] == {"jobs": 3, "resizes": 2, "processor_s": 66.0, "resize_s": 1.0,
                               "cpu_s": 40.0, "wait_s": 6.0}


def test_filters(cli):
    def numbers(*args):
        return [job["job"] for job in json.loads(cli("history", "--json", *args).stdout)["jobs"]]

    with cli.fake({"history": history}) as fake:
        assert numbers("--name", "heat*") == [1, 2] and numbers("--name", "heat") == [1]
        assert numbers("--state", "failed,cancelled") == [3]
        cli("history", "--from", "@1000", "--to", "@2000.5")
        assert (fake.asked("history")[-1]["from_s"], fake.asked("history")[-1]["to_s"]) == (1000, 2000.5)
        none = cli("history", "--name", "nosuch")
        assert (none.returncode, none.stdout) == (0, "") and "no job matches" in none.stderr
        assert cli("history", "--state", "tired").returncode == 2
        assert cli("history", "--by", "colour").returncode == 2
        assert cli("history", "--from", "soon").returncode == 2


@pytest.mark.parametrize("by, rows", [
    ("size", [{"size": 1, "jobs": 1, "seconds": 10.0, "processor_s": 10.0},
              {"size": 2, "jobs": 2, "seconds": 12.0, "processor_s": 24.0},
              {"size": 4, "jobs": 2, "seconds": 8.0, "processor_s": 32.0}]),
    ("resize", [{"resize": "grow", "by": "policy", "outcome": "grown", "count": 2, "jobs": 2,
                 "seconds": 2.0, "processor_s": 8.0}]),
    ("name", [{"name": "heat", "jobs": 1, "succeeded": 1, "wait_s": 2.0, "run_s": 10.0},
              {"name": "heat, 2", "jobs": 1}, {"name": "sleep", "succeeded": 0, "resizes": 0}]),
    ("day", [{"jobs": 2, "succeeded": 2, "processor_s": 56.0, "wait_s": 2.0}, {"jobs": 1}])])
def test_groups(cli, by, rows):
    with cli.fake({"history": history}):
        given = json.loads(cli("history", "--by", by, "--json").stdout)
        table = cli("history", "--by", by).stdout.splitlines()
        values = list(csv.DictReader(io.StringIO(cli("history", "--by", by, "--csv").stdout)))
    assert given["by"] == by and len(given["groups"]) == len(rows) == len(values)
    for row, expected, value in zip(given["groups"], rows, values):
        assert expected.items() <= row.items()
        assert all(float(value[k]) == v if isinstance(v, (int, float)) else value[k] == v
                   for k, v in expected.items())
    assert len(table) == len(rows) + 3  # its titles; a blank line and the totals


def test_csv(cli):
    with cli.fake({"history": history}):
        rows = list(csv.DictReader(io.StringIO(cli("history", "--csv").stdout)))
    assert [row["name"] for row in rows] == ["heat", "heat, 2", "sleep"]
    assert [row["cpu_s"] for row in rows] == ["20.000000", "20.000000", ""]
    assert rows[0]["mean_processors"] == "2.800000" and rows[2]["ending"] == "exit 3"


def test_one_job(cli):
    with cli.fake({"history": history}) as fake:
        done = cli("history", "1")
        assert fake.asked("history")[0]["job"] == 1
    text = done.stdout
    assert text.startswith("job 1  heat  done, exit 0\n")
    assert re.search(r"^ +2 +1 +6\.0 s +12\.0 s +42\.9 %$", text, re.MULTILINE)
    assert re.search(r"2 +4 policy +grown +1\.0 s +4\.0 s", text)


@pytest.mark.parametrize("columns", ["40", "80"])
def test_narrow(cli, columns):
    with cli.fake({"history": history}):
        assert cli("history", env={"COLUMNS": columns}).returncode == 0
        assert cli("history", env={"COLUMNS": columns, "LC_ALL": "C"}).stdout.isascii()


@pytest.mark.parametrize("answer", [
    {}, {"jobs": None}, {"jobs": [None, 4, {}]}, {"jobs": [{"job": 1, "sizes": 3, "resizes": [4, {}],
                                                           "processor_s": "x", "submit_s": 1e300}]},
    {"jobs": [{"job": 1, "sizes": [None, {"processors": 2**62}]}], "more": True}], ids=range(5))
@pytest.mark.parametrize("by", ["job", "size", "resize", "name", "day"])
def test_nonsense(cli, answer, by):
    with cli.fake({"history": copy.deepcopy(answer)}):
        for more in ([], ["--csv"], ["--json"], ["1"]):
            assert cli("history", "--by", by, *more).returncode == 0


def test_what_runs_asked_for(cli):
    """Of evolving programs: per run what they asked for, S and W over the runs that are known."""
    program = {"program": "./mesh", "site": "local", "used_s": 1e9, "iterations": 0, "sizes": [],
               "demand": {"executions": 4, "requests": 10, "satisfied": 8, "satisfaction": 0.8, "waste": 0.0525, "most": 3,
                          "iteration_s": 0.25, "asked": [{"iteration": 100, "requests": 8}, {"iteration": 250, "requests": 2}]}}
    heat = {"program": "./heat", "site": "local", "used_s": 1e9, "iterations": 9, "demand": None,
            "sizes": [{"processors": 2, "measured": 5, "iteration_s": 1.5, "spread_s": 0.1, "counts": True}]}
    with cli.fake({"programs": {"programs": [program]}}):
        lines = cli("history", "--program", "*").stdout.splitlines()
    assert lines[0].split() == ["PROGRAM", "SITE", "LAST", "RUNS", "ASKED", "S", "W", "IN", "A", "ROW", "ITERATION", "AT"]
    assert " 4   2.5 80.0 % 5.2 %        3" in lines[1] and lines[1].endswith("100: 2, 250: 0.5"), lines
    assert len(lines) == 2
    with cli.fake({"programs": {"programs": [heat, program]}}):
        both = cli("history", "--program", "*").stdout.splitlines()
    assert both[1].startswith("./heat") and both[2] == "" and both[3:] == lines
    with cli.fake({"programs": {"programs": []}}):
        assert "nothing is known of such a program" in cli("history", "--program", "x").stderr


def evolved(number, requests, satisfied, waste, held_s):
    buffer = {"requests": requests, "satisfied": satisfied, "satisfaction": satisfied / requests if requests else None,
              "waste": waste, "held_s": held_s, "prepared": 0, "coming": 0, "leaving": 0, "waiting": 0}
    return entry(number, "mesh", 10 * number, kind="moldable", buffer=buffer)


def test_evolving_jobs(cli):
    """S and W per run, and over runs: S over all requests, W over all processor time. Others have no such columns."""
    jobs = [evolved(1, 4, 1, 0.5, 100), evolved(2, 6, 6, 0.1, 300), evolved(3, 0, 0, 0, 0), entry(4, "heat", 90)]
    with cli.fake({"history": {"jobs": jobs, "more": False}}):
        lines = cli("history", env={"COLUMNS": "200"}).stdout.splitlines()
        assert lines[0].split()[-3:] == ["S", "W", "ENDED"], lines[0]
        assert lines[1].endswith(" 25.0 % 50.0 % exit 0") and lines[2].endswith(" 100.0 % 10.0 % exit 0"), lines
        names = cli("history", "--by", "name", env={"COLUMNS": "200"}).stdout
        assert re.search(r"^mesh +3 .* 70.0 % 20.0 %$", names, re.M), names
        assert re.search(r"^heat +1 .* - +-$", names, re.M), names
        rows = list(csv.DictReader(io.StringIO(cli("history", "--csv").stdout)))
        assert [(row["requests"], row["satisfied"], row["satisfaction"]) for row in rows] == [
            ("4", "1", "0.250000"), ("6", "6", "1.000000"), ("0", "0", ""), ("", "", "")]
        assert cli("history", "--format", "job,satisfaction").stdout.split()[:2] == ["JOB", "S"]
    with cli.fake({"history": {"jobs": JOBS, "more": False}}):
        assert "W " not in cli("history").stdout.splitlines()[0]
