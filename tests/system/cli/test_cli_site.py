"""pleat site drain, resume; sites --watch; the nodes of sites in info."""

import json
import os
import pathlib
import signal
import subprocess
import time

import story
from conftest import on_terminal

from fake_pleatd import Failure


def state(cli):
    return json.loads(cli("sites", "--json").stdout)["sites"][0]["state"]


def wait_for(condition):
    until = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_site_is_drained_and_resumed(cli):
    """What runs goes on, what waits says why, also after a restart; --wait returns when it is empty."""
    fifo = os.path.join(cli.path, "end")
    os.mkfifo(fifo)
    assert cli("submit", "--", "cat", fifo).stdout == "1\n"
    wait_for(lambda: json.loads(cli("show", "1", "--json").stdout)["state"] == "running")
    waiter = cli.start("site", "drain", "--wait", "local", stderr=subprocess.PIPE)
    wait_for(lambda: state(cli) == "draining")
    assert cli("submit", "--", "true").stdout == "2\n"
    why = json.loads(cli("why", "2", "--json").stdout)
    assert why["waiting"]["code"] == "drained" and why["waiting"]["sites"][0]["drained"]
    assert "drained" in cli("why", "2").stdout and "its site is drained" in cli("top", "--once").stdout
    assert waiter.poll() is None
    with open(fifo, "w"):
        pass
    assert waiter.wait(60) == 0
    waiter.stderr.close()
    assert state(cli) == "drained"
    pid = json.loads(cli("info", "--json").stdout)["pid"]
    os.kill(pid, 9)
    wait_for(lambda: json.loads(cli("info", "--json").stdout).get("pid", pid) != pid)
    assert state(cli) == "drained" and cli("show", "2", "--json").stdout
    assert json.loads(cli("show", "2", "--json").stdout)["state"] == "queued"
    assert cli("site", "resume", "local").returncode == 0
    assert cli("wait", "2").returncode == 0 and state(cli) == "ok"
    texts = [event.get("text", "") for event in map(json.loads, cli("events", "--json").stdout.splitlines())]
    assert sum("drained by its user" in text for text in texts) == 1
    assert sum("resumed by its user" in text for text in texts) == 1


def test_wait_ends_when_the_site_is_resumed(cli):
    fifo = os.path.join(cli.path, "end")
    os.mkfifo(fifo)
    cli("submit", "--", "cat", fifo)
    wait_for(lambda: json.loads(cli("show", "1", "--json").stdout)["state"] == "running")
    waiter = cli.start("site", "drain", "--wait", "local", stderr=subprocess.PIPE, text=True)
    wait_for(lambda: state(cli) == "draining")
    assert cli("site", "resume", "local").returncode == 0
    assert "was resumed meanwhile" in waiter.communicate(timeout=60)[1] and waiter.returncode == 1
    assert cli("cancel", "1").returncode == 0


def test_sites_are_watched_in_a_pipe(cli):
    """A table, or an object on one line, again and again; it ends when its reader does."""
    with cli.fake():
        watch = cli.start("sites", "--watch", "--interval", "0.1", "--json", stdout=subprocess.PIPE, text=True)
        for _ in range(3):
            assert json.loads(watch.stdout.readline()) == story.SITES
        watch.send_signal(signal.SIGINT)
        watch.stdout.close()
        assert watch.wait(60) != 0
        watch = cli.start("sites", "-w", "-i", "0.1", stdout=subprocess.PIPE, text=True)
        lines = [watch.stdout.readline() for _ in range(9)]
        watch.terminate()
        watch.stdout.close()
        watch.wait(60)
    assert len([line for line in lines if line.startswith("SITE ")]) == 3 and "\033" not in "".join(lines)
    assert cli("sites", "--interval", "0").returncode == 2


def test_sites_are_watched_on_a_terminal(cli):
    """In place: from the top again, with nothing left of what was there."""
    times = iter(range(3))

    def sites(*_):
        if next(times, None) is None:
            raise Failure(-6, "enough")
        return story.SITES

    with cli.fake(dict(story.answers(), sites=sites)):
        text, code = on_terminal(cli, "sites", "--watch", "--interval", "0.1")
    assert code == 1 and text.count("\033[H\033[J") == 3 and text.count("BACKGROUND") == 3


def test_info_has_the_nodes_of_sites_with_several(cli):
    pathlib.Path(cli.path, "pleat.conf").write_text(
        'site "one" { processors = 2 background = ignore }\n'
        'site "two" { cpus = "0,0,0" nodes = 2 background = ignore }\n')
    told = json.loads(cli("info", "--json").stdout)["sites"]
    assert [(site["name"], site["kind"], site["processors"]) for site in told] == [
        ("one", "local", 2), ("two", "local", 3)]
    assert told[0]["nodes"] is None and [node["processors"] for node in told[1]["nodes"]] == [2, 1]
    shown = cli("info").stdout
    assert "3 processors on 2 nodes: 2, 1" in shown and "site one" not in shown
    shown, facts = cli("info", "two").stdout, json.loads(cli("info", "two", "--json").stdout)
    assert "two: local, 3 processors on 2 nodes: 0 used, 0 used by others, 3 free" in shown, shown
    assert facts["batch"] is None and [node["processors"] for node in facts["nodes"]] == [2, 1]
    wrong = cli("info", "three")
    assert wrong.returncode == 1 and "there is no site 'three'" in wrong.stderr
    assert cli("info", "one", "two").returncode == 2


def test_usage(cli):
    done = cli("site", "drain", "there")
    assert done.returncode == 1 and "there is no site 'there': there is local" in done.stderr
    assert cli("site", "resume", "local").returncode == 0
    assert cli("site", "drain").returncode == 2 and cli("site").returncode == 2
