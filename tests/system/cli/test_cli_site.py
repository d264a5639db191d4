"""pleat site drain, resume: against a real pleatd."""

import json
import os
import subprocess
import time


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


def test_usage(cli):
    done = cli("site", "drain", "there")
    assert done.returncode == 1 and "there is no site 'there': there is local" in done.stderr
    assert cli("site", "resume", "local").returncode == 0
    assert cli("site", "drain").returncode == 2 and cli("site").returncode == 2
