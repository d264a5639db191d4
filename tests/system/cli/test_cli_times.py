"""Following over a restart of the daemon, filters, and moments as people write them."""

import json
import pathlib
import re
import signal
import subprocess
import time

import pytest
from story import EVENTS, T0, answers


def kinds(done):
    return {json.loads(line)["kind"] for line in done.stdout.splitlines()}


def test_events_by_kind(cli):
    with cli.fake():
        assert kinds(cli("events", "--json", "--kind", "state,resize")) == {"state", "resize"}
        assert kinds(cli("events", "--json", "--kind", "size", "--kind", "daemon")) == {"size", "daemon"}
        done = cli("events", "--kind", "stat")
    assert done.returncode == 2 and "none of state, size" in done.stderr


def test_kinds_are_those_of_the_protocol(cli):
    docs = pathlib.Path(__file__).resolve().parents[3] / "docs"
    table = (docs / "protocol.md").read_text().split("| kind | members |\n|---|---|\n")[1].split("\n\n")[0]
    kinds = [kind for row in table.splitlines() for kind in re.findall(r"`(\w+)`", row.split("|")[1])]
    listed = {
        "check": re.search(r"none of ([\w, ]+)", cli("events", "--kind", "x").stderr)[1],
        "help": re.search(r"kinds, separated by commas: ([\w,\s]+)\n +--", cli("help", "events").stdout)[1],
        "page": re.search(r"of these kinds, separated by commas: ([\w,\s]+)\.",
                          (docs / "man/pleat-events.1.scd").read_text())[1],
        "completion": re.search(r"'?\bstate size [\w ]+", cli("help", "--completion", "bash").stdout)[0],
        "reference": re.search(r"^\| `--kind LIST` .*: (`state`.*);", (docs / "commands.md").read_text(),
                               re.M)[1]}
    assert len(kinds) > 9
    assert {where: re.findall(r"\w+", text) for where, text in listed.items()} == dict.fromkeys(listed, kinds)


@pytest.mark.parametrize("text, at", [
    ("@1700000010", lambda now: 1700000010), ("-2h", lambda now: now - 7200),
    ("15min", lambda now: now - 900), ("now", lambda now: now),
    ("2026-02-03 04:05", lambda now: time.mktime((2026, 2, 3, 4, 5, 0, 0, 0, -1))),
    ("2026-02-03T04:05:06", lambda now: time.mktime((2026, 2, 3, 4, 5, 6, 0, 0, -1))),
    ("2026-02-03", lambda now: time.mktime((2026, 2, 3, 0, 0, 0, 0, 0, -1)))])
def test_moments(cli, text, at):
    with cli.fake() as fake:
        before = time.time()
        assert cli("events", "--since", text).returncode == 0
        after = time.time()
        assert at(before) - 0.01 <= fake.asked("events")[0]["from_s"] <= at(after) + 0.01


def test_a_time_of_the_day_is_the_last_one(cli):
    with cli.fake() as fake:
        now = time.time()
        cli("events", "--since", "10:30")
        at = fake.asked("events")[0]["from_s"]
    day = time.localtime(at)
    assert (day.tm_hour, day.tm_min, day.tm_sec) == (10, 30, 0) and now - 90000 < at <= time.time()


@pytest.mark.parametrize("text", ["", "yesterday", "25:00", "10:3x", "--2h", "-", "2026-13-01",
                                  "2026-02-03x", "@", "@x", "1e99"])
def test_what_is_no_moment(cli, text):
    for args in (["events", "--since=" + text], ["chart", "--from=" + text]):
        done = cli(*args)
        assert done.returncode == 2 and "is not a time such as" in done.stderr


def test_following_events_over_a_restart(cli):
    first_seq = EVENTS[-1]["seq"] + 1

    def follow(news):
        def answer(params, connection):
            assert params["after"] == news - 1
            connection.notify({"seq": news, "time_s": 1.7e9, "kind": "daemon", "job": None,
                               "text": f"news {news}"})
            return {}
        return answer

    first = cli.fake(dict(answers(), follow=follow(first_seq)))
    process = cli.start("events", "--follow", "--kind", "daemon", stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline().endswith("started\n")
    assert process.stdout.readline().endswith(f"news {first_seq}\n")
    first.close()
    assert "waiting for pleatd" in process.stderr.readline()
    with cli.fake(dict(answers(), follow=follow(first_seq + 1))):
        assert process.stdout.readline().endswith(f"news {first_seq + 1}\n")
        assert "there again" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == -signal.SIGINT
    process.stdout.close()
    process.stderr.close()


def test_following_output_over_a_restart(cli):
    def output(text, end):
        def answer(params, _):
            if params["offset"] >= len(text) and not end:
                raise_hang()
            piece = text[params["offset"]:]
            return {"offset": params["offset"] + len(piece), "end": end and not piece}, piece
        return answer

    def raise_hang():
        import fake_pleatd
        raise fake_pleatd.Hang

    first = cli.fake({"output": output(b"one\n", False)})
    process = cli.start("log", "--follow", "3", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout.readline() == b"one\n"
    first.close()
    assert b"waiting for pleatd" in process.stderr.readline()
    with cli.fake({"output": output(b"one\ntwo\n", True)}):
        assert process.communicate(timeout=30)[0] == b"two\n"
    assert process.returncode == 0


def test_patience_ends(cli):
    for args in (["events", "--follow", "--retry", "0"], ["log", "-f", "3", "--retry", "0.1s"]):
        def gone(_params, connection):
            connection.close()
            return {}

        fake = cli.fake(dict(answers(), follow=gone, output=gone))
        process = cli.start(*args, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        fake.wait_asked(args[0] == "log" and "output" or "follow")
        fake.close()
        _, said = process.communicate(timeout=30)
        assert process.returncode == 3 and said.startswith("pleat: ")


def test_chart_of_a_part_of_the_time(cli):
    with cli.fake():
        whole = json.loads(cli("chart", "--json").stdout)
        part = json.loads(cli("chart", "--json", "--from", "10s", "--to", "20s").stdout)
        clock = json.loads(cli("chart", "--json", "--from", f"@{T0 + 31:.0f}",
                               "--to", f"@{T0 + 37:.0f}").stdout)
        text = cli("chart", "--from", "10s", "--to", "20s").stdout
        none = cli("chart", "--from", "-1min")
    assert (part["from_s"], part["to_s"]) == (10, 20)
    assert [job["job"] for job in whole["jobs"]] == [1, 2, 3, 4]
    assert [job["job"] for job in clock["jobs"]] == [1, 2, 4]  # job 3 had ended
    assert (clock["from_s"], clock["to_s"]) == (31, 37)
    assert f"utilization {100 * part['utilization']:.0f} % of 8 processors" in text
    assert none.returncode == 1 and "nothing is left" in none.stderr
