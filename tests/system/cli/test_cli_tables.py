"""Tables: no line beyond the terminal, or beyond 100 columns in a pipe; nothing lost there."""

import copy
import json
import os
import pathlib
import re
import subprocess

import pytest
import story
from test_cli_history import JOBS as PAST
from test_cli_mix import Machine, with_program

MAKE_CHECKPOINT = os.path.join(os.environ["PLEAT_BUILD"], "tests", "make-checkpoint")
SOURCES = pathlib.Path(__file__).resolve().parents[3] / "src" / "cli"
PIPE = 100
LONG = "waits until the files that it reads have been brought to the site, which takes longer than all of its run"
LUBLIN = "lublin --jobs 60 --machine 64"
SIM = ["sim", "--generate", LUBLIN]
# Which commands print the tables of a file (of an experiment that is run: test_cli_experiment.py).
TABLES = {
    "jobs/jobs.c": [["ps", "-a"], ["wait"]],
    "jobs/cmd_show.c": [["show", "1"]],
    "jobs/checkpoint_file.c": [["checkpoint", "--show"]],
    "jobs/history_print.c": [["history", "1"]] + [["history", "--by", by]
                                                  for by in ("job", "size", "resize", "name", "day")],
    "jobs/history_programs.c": [["history", "--program", "*"]],
    "doctor/cmd_doctor.c": [["doctor", "configuration", "limits", "pleatd", "sites"]],
    "instance/cmd_sites.c": [["sites"], ["sites", "--nodes"]],
    "instance/cmd_policies.c": [["policies"]],
    "sim/cmd_experiment.c": [["experiment"]],
    "sim/published.c": [["experiment", "--list"]],
    "mix/report.c": [["mix"]],
    "sim/report.c": [SIM],
    "sim/compare.c": [SIM + ["--queue", "fcfs,easy,backfill-malleability-due", "--malleability", "egs,fpsma"],
                      SIM + ["--queue", "fcfs,easy", "--seeds", "2"]],
    "workload/stat.c": [["workload", "stat"]],
}
COMMANDS = [command for commands in TABLES.values() for command in commands]


def answers():
    job = dict(story.JOBS[0], text=LONG, reason=LONG, name="a name of several words that is longer than any column")
    policies = [{"question": "queue", "name": name, "summary": LONG, "active": name == "easy",
                 "source": "Somebody and Others 2009, section 4.2, and somebody else"}
                for name in ("easy", "backfill-malleability-due")]
    past = [dict(copy.deepcopy(entry), name=job["name"]) for entry in PAST]
    program = {"program": "/a/long/way/to/a/program --with N arguments --and another " + LONG, "site": "local", "used_s": 1e9,
               "iterations": 200, "sizes": [{"processors": size, "measured": 5, "iteration_s": 3.5 / size, "spread_s": 0.1,
                                             "redistribution_s": 0.25} for size in (1, 2, 4)]}
    program["demand"] = {"executions": 16, "requests": 330, "satisfied": 300, "satisfaction": 300 / 330, "waste": 0.0123,
                         "most": 12, "iteration_s": 0.1234,
                         "asked": [{"iteration": 12345 * i, "requests": 16 + i} for i in range(12)]}
    return dict(story.answers(), programs={"programs": [program]}, jobs={"jobs": [job] + story.JOBS[1:]}, job=job,
                policies={"policies": policies}, history={"jobs": past, "more": False},
                wait={"jobs": [job]})


def printed(cli, command, columns):
    env = {"COLUMNS": str(columns)} if columns else {}
    if command == ["mix"]:
        command, given = ["mix", with_program(cli)], Machine().answers()
    elif command[:2] == ["workload", "stat"]:
        log = cli.path + "/log.swf"
        assert cli("workload", "generate", *LUBLIN.split(), log).returncode == 0
        command, given = command + [log], {}
    elif command[0] == "checkpoint":
        made = cli.path + "/checkpoint"
        if not os.path.exists(made):
            subprocess.run([MAKE_CHECKPOINT, made], check=True)
        command, given = command + [made], {}
    else:
        given = answers()
    with cli.fake(given):
        done = cli(*command, env=env)
    assert done.stdout, done.stderr
    return done.stdout


def tables_of(text):
    """Lines of tables: a title line in capitals, and what follows up to an empty line."""
    lines, inside = [], False
    for line in text.splitlines():
        inside = bool(line.strip()) and (inside or re.fullmatch(r"[A-Z][A-Z ]+ [A-Z0-9 %/]+", line.strip()) is not None
                                         or line.split()[:2] == ["MEAN", "MEDIAN"])
        if inside:
            lines.append(line)
    return lines


def test_every_table_is_tried():
    makers = {str(path.relative_to(SOURCES)) for path in SOURCES.glob("**/*.c")
              if "pleat_table_create(" in path.read_text()}
    assert makers - {"common/table.c"} == set(TABLES)


@pytest.mark.parametrize("columns", [None, 50, 64, 80, 132, 200])
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_lines_fit(cli, command, columns):
    lines = tables_of(printed(cli, command, columns))
    assert len(lines) >= 2
    assert max(map(len, lines)) <= (columns or PIPE), max(lines, key=len)


@pytest.mark.parametrize("command", [["ps", "-a"], ["wait"], ["history"], ["policies"], ["show", "1"]], ids=" ".join)
def test_a_pipe_loses_nothing(cli, command):
    """Every word that a very wide terminal shows is there, and only as often."""
    wide, pipe = printed(cli, command, 1000), printed(cli, command, None)
    assert max(map(len, tables_of(pipe))) <= PIPE
    if command[0] in ("ps", "wait", "policies"):
        assert LONG in wide and LONG not in pipe
    assert sorted(pipe.split()) == sorted(wide.split())
    assert "\N{HORIZONTAL ELLIPSIS}" not in pipe


def test_columns_that_the_user_chose_are_one_line_for_each_row_in_a_pipe(cli):
    for command, rows in ((["ps", "--all", "--format", "job,reason,name"], len(story.JOBS)),
                          (["history", "--format", "job,name"], len(PAST))):
        lines = printed(cli, command, None).splitlines()[1:]
        assert len(lines) == rows and all(re.match(r" *\d+ ", line) for line in lines)
    assert LONG in printed(cli, ["ps", "--all", "--format", "job,reason,name"], None)


def test_texts_stand_below_their_rows_where_they_have_no_room(cli):
    lines = printed(cli, ["policies"], 64).splitlines()
    assert lines[0].split() == ["QUESTION", "POLICY", "IN", "FORCE"]
    assert lines[1:3] == ["    WHAT IT DOES", "    FROM"]
    rows = [i for i, line in enumerate(lines) if line.startswith("queue ")]
    assert len(rows) == 2
    text = " ".join(line.strip() for line in lines[rows[0] + 1:rows[1]])
    assert text.startswith(LONG) and text.endswith("section 4.2, and somebody else")
    beside = printed(cli, ["policies"], 132).splitlines()
    assert "WHAT IT DOES" in beside[0] and beside[0].rstrip().endswith("FROM")


def test_numbers_that_have_no_room_follow_in_a_further_table(cli):
    command = SIM + ["--queue", "fcfs,easy", "--seeds", "2"]
    wide, narrow = printed(cli, command, 1000), printed(cli, command, 64)
    titles = [line.split() for line in narrow.splitlines() if line.startswith("POLICIES")]
    (all_titles,) = [line.split() for line in wide.splitlines() if line.startswith("POLICIES")]
    assert len(titles) > 2 and sum((line[1:] for line in titles), ["POLICIES"]) == all_titles
    rows = [line.split()[1:] for line in narrow.splitlines() if line.startswith("easy ")]
    whole = [line.split()[1:] for line in wide.splitlines() if line.startswith("easy ")]
    assert sum(rows, []) == sum(whole, [])


def test_commands_say_so_in_their_json(cli):
    """What is for programs is not broken at all."""
    with cli.fake(answers()):
        assert json.loads(cli("ps", "-a", "--json").stdout)["jobs"][0]["text"] == LONG
