"""pleat site add, remove: sites that come and go while pleatd runs; nodes that are drained."""

import json
import os
import pathlib
import time


def wait_for(condition):
    until = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)


def sites(cli):
    return {site["name"]: site for site in json.loads(cli("sites", "--json").stdout)["sites"]}


def show(cli, job):
    return json.loads(cli("show", str(job), "--json").stdout)


def kill_daemon(cli):
    pid = json.loads(cli("info", "--json").stdout)["pid"]
    os.kill(pid, 9)
    wait_for(lambda: json.loads(cli("info", "--json").stdout).get("pid", pid) != pid)


def files_of(cli, site):
    return [path.name for path in pathlib.Path(cli.path).rglob(f"agent-{site}-*")]


def test_a_site_comes_and_goes(cli):
    """Added, used, still there after kill -9, removed with all that it had; its name can be used again."""
    done = cli("site", "add", "extra", "processors=2", "background=ignore", "--json")
    assert done.returncode == 0 and json.loads(done.stdout) == {"site": "extra", "state": "added"}
    assert cli("run", "--site", "extra", "--", "echo", "there").stdout == "there\n"
    assert show(cli, 1)["attempt"] == 0 and sites(cli)["extra"]["from"] == "command"
    assert sites(cli)["local"]["from"] == "default"
    assert " command " in cli("sites").stdout
    kill_daemon(cli)
    assert sites(cli)["extra"]["from"] == "command" and sites(cli)["extra"]["processors"] == 2
    assert cli("run", "--site", "extra", "--", "echo", "again").stdout == "again\n"
    done = cli("site", "remove", "extra", "--json")
    assert done.returncode == 0 and json.loads(done.stdout) == {"site": "extra", "state": "removed"}
    assert list(sites(cli)) == ["local"]
    wait_for(lambda: not files_of(cli, "extra"))
    assert show(cli, 2)["site"] == "extra"
    kill_daemon(cli)
    assert list(sites(cli)) == ["local"] and not files_of(cli, "extra")
    refused = cli("submit", "--site", "extra", "--", "true")
    assert refused.returncode != 0 and "no site 'extra'" in refused.stderr
    assert cli("site", "add", "extra", "processors=1", "background=ignore").returncode == 0
    assert cli("run", "--site", "extra", "--", "echo", "anew").stdout == "anew\n"
    assert sites(cli)["extra"]["processors"] == 1
    texts = [event.get("text", "") for event in map(json.loads, cli("events", "--json").stdout.splitlines())]
    assert texts.count("site extra was added") == 2 and texts.count("site extra is removed") == 1


def test_a_site_with_jobs_is_drained_first(cli):
    """Refused with what to do; --drain lets them go on, also over kill -9, and it is gone with the last."""
    cli("site", "add", "extra", "processors=2", "background=ignore")
    fifo = os.path.join(cli.path, "end")
    os.mkfifo(fifo)
    cli("submit", "--site", "extra", "--", "cat", fifo)
    wait_for(lambda: show(cli, 1)["state"] == "running")
    refused = cli("site", "remove", "extra")
    assert refused.returncode == 1 and "jobs run at site extra: 1." in refused.stderr and "--drain" in refused.stderr
    cli("submit", "--site", "extra", "-n", "2", "--", "true")
    refused = cli("site", "remove", "--drain", "extra")
    assert refused.returncode == 1 and "can only run at site extra (--site): 2." in refused.stderr
    assert sites(cli)["extra"]["state"] == "ok"
    cli("cancel", "2")
    done = cli("site", "remove", "--drain", "extra", "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["state"] == "leaving"
    assert sites(cli)["extra"]["state"] == "leaving"
    refused = cli("submit", "--site", "extra", "--", "true")
    assert refused.returncode != 0 and "being removed" in refused.stderr
    kill_daemon(cli)
    assert sites(cli)["extra"]["state"] == "leaving" and show(cli, 1)["state"] == "running"
    with open(fifo, "w"):
        pass
    wait_for(lambda: list(sites(cli)) == ["local"])
    assert show(cli, 1)["state"] == "done"
    wait_for(lambda: not files_of(cli, "extra"))


def test_resumed_it_stays(cli):
    cli("site", "add", "extra", "processors=2", "background=ignore")
    fifo = os.path.join(cli.path, "end")
    os.mkfifo(fifo)
    cli("submit", "--site", "extra", "--", "cat", fifo)
    wait_for(lambda: show(cli, 1)["state"] == "running")
    assert cli("site", "remove", "--drain", "extra").returncode == 0
    assert cli("site", "resume", "extra").returncode == 0
    assert sites(cli)["extra"]["state"] == "ok"
    with open(fifo, "w"):
        pass
    wait_for(lambda: show(cli, 1)["state"] == "done")
    assert cli("run", "--site", "extra", "--", "echo", "stays").stdout == "stays\n"


def test_what_is_in_the_file_counts(cli):
    """A site of pleat.conf goes when the file has it no more; one that was added is overruled by the file."""
    conf = pathlib.Path(cli.path, "pleat.conf")
    conf.write_text('site "one" { processors = 2 background = ignore }\n'
                    'site "two" { processors = 3 background = ignore }\n')
    assert {name: site["from"] for name, site in sites(cli).items()} == {"one": "pleat.conf", "two": "pleat.conf"}
    refused = cli("site", "remove", "one")
    assert refused.returncode == 1 and str(conf) in refused.stderr and "take it out" in refused.stderr
    assert cli("site", "add", "three", "processors=1", "background=ignore").returncode == 0
    # two moves to the front, one is gone, three is in the file: each job stays at the site that it was at
    assert cli("run", "--site", "two", "--", "true").returncode == 0
    fifo = os.path.join(cli.path, "end")
    os.mkfifo(fifo)
    cli("submit", "--site", "one", "--", "cat", fifo)
    wait_for(lambda: show(cli, 2)["state"] == "running")
    conf.write_text('site "two" { processors = 3 background = ignore }\n'
                    'site "three" { processors = 2 background = ignore }\n')
    assert cli("site", "remove", "one").returncode == 1  # its job runs
    kill_daemon(cli)
    known = sites(cli)
    assert known["one"]["state"] == "leaving" and known["one"]["used"] == 1
    assert known["three"]["from"] == "pleat.conf" and known["three"]["processors"] == 2
    assert show(cli, 1)["site"] == "two" and show(cli, 2)["site"] == "one"
    with open(fifo, "w"):
        pass
    wait_for(lambda: set(sites(cli)) == {"two", "three"})
    conf.write_text('site "three" { processors = 2 background = ignore }\n')
    assert cli("site", "remove", "two").returncode == 0 and set(sites(cli)) == {"three"}
    refused = cli("site", "remove", "three")
    assert refused.returncode == 1 and "only one" in refused.stderr


def test_the_default_is_removed_when_there_is_another(cli):
    """On a login node no job should run: not after a restart either. Without the other site it is there again."""
    refused = cli("site", "remove", "local")
    assert refused.returncode == 1 and "only one" in refused.stderr
    assert cli("site", "add", "extra", "processors=2", "background=ignore").returncode == 0
    assert cli("site", "remove", "local").returncode == 0 and list(sites(cli)) == ["extra"]
    kill_daemon(cli)
    assert list(sites(cli)) == ["extra"] and cli("run", "--", "echo", "extra").stdout == "extra\n"
    assert show(cli, 1)["site"] == "extra" and cli("site", "remove", "extra").returncode == 1
    assert cli("site", "add", "local", "processors=3", "background=ignore").returncode == 0
    kill_daemon(cli)
    assert sites(cli)["local"]["from"] == "command" and sites(cli)["local"]["processors"] == 3


def test_mistakes(cli):
    """Nothing happens, and the message says what is wrong."""
    for options, text in (
            (["kind=foo"], "must be local or slurm or gridengine"), (["color=red"], "color: sites have no such option"),
            (["processors=many"], "processors"), (["nodes=9", "processors=2"], "only 2 processors"),
            (["poll_s=0"], "poll_s = 0: must be from 1 to 1e6 seconds"),
            (["kind=slurm", "nodes=2"], "but site \"bad\" is of the kind slurm"),
            (["cpus=0,x"], "cpus"), (["cpus='} site \"x\" {"], "cpus"), (["cpus=${HOME}"], "cpus = ${HOME}"),
            (["cpus=a\nb"], "control characters")):
        done = cli("site", "add", "bad", *options)
        assert done.returncode == 1 and text in done.stderr, done.stderr
    assert cli("site", "add", "local").returncode == 1 and cli("site", "add", "-x").returncode == 2
    assert "a site's name has" in cli("site", "add", "a/b").stderr
    assert cli("site", "add", "x", "noequals").returncode == 2
    assert cli("site", "add", "x", "poll_s=1", "poll_s=2").returncode == 2
    assert list(sites(cli)) == ["local"]
    assert cli("site", "add", "good", "processors=1", "background=ignore").returncode == 0
    assert cli("run", "--site", "good", "--", "echo", "good").stdout == "good\n"
    assert cli("site", "remove", "nowhere").returncode == 1 and cli("site", "remove").returncode == 2


def test_a_node_runs_empty(cli):
    """No job starts there, and running ones go on; the drain outlasts restarts; --wait returns; jobs larger than the
    rest say why they wait."""
    assert cli("site", "add", "two", "cpus=0,0,0,0", "nodes=2", "background=ignore").returncode == 0
    refused = cli("site", "drain", "two", "--node", "2")
    assert refused.returncode == 1 and "has no node 2" in refused.stderr
    refused = cli("site", "drain", "local", "--node", "0")
    assert refused.returncode == 1 and "not divided into nodes" in refused.stderr
    assert cli("site", "drain", "local").returncode == 0
    fifo = os.path.join(cli.path, "end")
    os.mkfifo(fifo)
    cli("submit", "--", "cat", fifo)
    wait_for(lambda: show(cli, 1)["state"] == "running")
    nodes = sites(cli)["two"]["nodes"]
    used = next(node["node"] for node in nodes if node["used"] == 1)
    waiter = cli.start("site", "drain", "--wait", "--node", str(used), "two")
    wait_for(lambda: sites(cli)["two"]["nodes"][used]["state"] == "draining")
    assert sites(cli)["two"]["free"] == 2 and sites(cli)["two"]["state"] == "ok"
    assert f"node {used}: 1 of 2, drained" in cli("top", "--once").stdout
    rows = [line.split("\u2502")[0].strip() for line in cli("chart").stdout.splitlines() if "\u2502" in line]
    assert rows == ["two/0 0", "two/0 1", "two/1 0", "two/1 1"], rows
    cli("submit", "-n", "2", "--", "sleep", "1000")
    wait_for(lambda: show(cli, 2)["state"] == "running")
    assert sites(cli)["two"]["nodes"][1 - used]["used"] == 2
    cli("submit", "--", "true")
    kill_daemon(cli)
    assert show(cli, 3)["state"] == "queued" and sites(cli)["two"]["nodes"][used]["state"] == "draining"
    assert waiter.poll() is None
    with open(fifo, "w"):
        pass
    assert waiter.wait(60) == 0
    wait_for(lambda: show(cli, 1)["state"] == "done")
    assert show(cli, 3)["state"] == "queued" and sites(cli)["two"]["free"] == 0
    assert cli("site", "drain", "two", "--node", str(1 - used)).returncode == 0
    why = json.loads(cli("why", "3", "--json").stdout)
    assert why["waiting"]["code"] == "drained"
    assert cli("site", "resume", "two", "--node", str(used)).returncode == 0
    assert cli("wait", "3").returncode == 0
    assert cli("cancel", "2").returncode == 0
