"""pleat doctor: each check against what it is to find, made by the test; nothing changed, nothing left."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest
import story
from conftest import PLEAT

from fake_pleatd import Hang

BUILD = pathlib.Path(os.environ["PLEAT_BUILD"])
NAMES = ["programs", "configuration", "directory", "openmpi", "mpich", "memory", "groups", "limits", "clock",
         "pleatd", "sites", "batch", "leftovers"]
STATES = {"ok", "warning", "failed", "not checked"}


def ask(cli, *args, code=0, env=None):
    """{(check, subject): result} of a run that ends with that code."""
    done = cli("doctor", "--json", *args, env=env)
    assert done.returncode == code, (done.stdout, done.stderr)
    told = json.loads(done.stdout)
    for result in told["checks"]:
        assert set(result) == {"check", "subject", "state", "seen", "advice"}
        assert result["state"] in STATES and result["seen"]
        assert (result["advice"] is None) == (result["state"] == "ok")
    counts = [told[name] for name in ("ok", "warnings", "failed", "not_checked")]
    assert sum(counts) == len(told["checks"]) and (told["failed"] > 0) == (code == 1)
    return {(result["check"], result["subject"]): result for result in told["checks"]}


def scratch():
    return [name for name in os.listdir("/dev/shm") if name.startswith("pleat-doctor-")]


def wait_for(condition):
    until = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


def lives(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.fixture
def hanging(cli):
    """An environment whose mpirun says its version, and else starts a process in a session of its own that
    ignores signals, and hangs; and the file with both pids."""
    folder, pids = pathlib.Path(cli.path, "fake"), pathlib.Path(cli.path, "pids")
    folder.mkdir()
    made = folder / "mpirun.openmpi"
    made.write_text(f"""#!{sys.executable}
import os, signal, sys, time
if "--version" in sys.argv:
    print("mpirun (Open MPI) 4.1.4")
    sys.exit()
signal.signal(signal.SIGTERM, signal.SIG_IGN)
other = os.fork()
if other == 0:
    os.setsid()
else:
    with open({str(pids)!r} + ".part", "w") as file:
        file.write(f"{{os.getpid()}} {{other}}")
    os.rename({str(pids)!r} + ".part", {str(pids)!r})
time.sleep(1000)
""")
    made.chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}, pids


def test_without_a_pleatd_all_is_checked_and_nothing_changed(cli):
    before = sorted(os.listdir(cli.path))
    told = ask(cli)
    assert list(dict.fromkeys(check for check, _ in told)) == NAMES
    assert told["pleatd", None]["state"] == told["sites", None]["state"] == "not checked"
    for check in ("programs", "configuration", "clock"):
        assert told[check, None]["state"] == "ok", told[check, None]
    for subject in ("state", "socket"):
        assert told["directory", subject]["state"] == "ok"
    assert {subject for check, subject in told if check == "limits"} == {"nofile", "nproc", "memlock"}
    assert {subject for check, subject in told if check == "groups"} == {"cpuset", "memory"}
    assert sorted(os.listdir(cli.path)) == before == []


@pytest.mark.parametrize("mpi, launcher", [("openmpi", "mpirun.openmpi"), ("mpich", "mpiexec.mpich")])
def test_two_ranks_start_with_libpleat(cli, mpi, launcher):
    if not shutil.which(launcher) or not (BUILD / "lib" / f"pleat-try-{mpi}").exists():
        pytest.skip(f"{launcher} is not here")
    told = ask(cli, mpi)
    assert {subject: one["state"] for (_, subject), one in told.items()} == dict.fromkeys(
        ("launcher", "folding", "start", "libpleat"), "ok"), told
    assert re.search(r"\d\.\d", told[mpi, "launcher"]["seen"])


def test_an_mpi_that_is_not_there_is_not_checked(cli):
    told = ask(cli, "mpich", env={"PATH": cli.path})
    assert list(told) == [("mpich", "launcher")] and told["mpich", "launcher"]["state"] == "not checked"


def test_a_launcher_that_fails_is_told_in_its_own_words(cli):
    made = pathlib.Path(cli.path, "mpirun.openmpi")
    made.write_text("#!/bin/sh\ncase $* in *--version*) echo 'Open MPI 4.1.4';; *) echo 'no slots'; exit 3;; esac\n")
    made.chmod(0o755)
    told = ask(cli, "openmpi", code=1, env={"PATH": f"{cli.path}:{os.environ['PATH']}"})
    assert told["openmpi", "start"]["state"] == "failed"
    assert "ended with 3: no slots" in told["openmpi", "start"]["seen"]


def test_a_start_that_hangs_is_ended_with_all_of_it(cli, hanging):
    env, pids = hanging
    told = ask(cli, "--limit", "2", "openmpi", "clock", code=1, env=env)
    assert "did not end within 2 s" in told["openmpi", None]["seen"] and "mpirun" in told["openmpi", None]["advice"]
    assert told["openmpi", "launcher"]["state"] == "ok", "what was told before stays"
    assert told["clock", None]["state"] == "ok", "the checks after it are made"
    assert not any(lives(pid) for pid in pids.read_text().split())


def test_ctrl_c_leaves_nothing(cli, hanging):
    env, pids = hanging
    before = set(scratch())
    process = cli.start("doctor", "openmpi", env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_for(pids.exists)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130 and not out
    assert not any(lives(pid) for pid in pids.read_text().split())
    mine = {name for name in set(scratch()) - before if os.stat(f"/dev/shm/{name}").st_uid == os.geteuid()}
    wait_for(lambda: not mine & set(scratch()))  # others' runs may come and go meanwhile


def test_a_wrong_configuration_is_told_with_its_line(cli):
    pathlib.Path(cli.path, "pleat.conf").write_text('# a comment\nsite "a" { processors = -3 }\n')
    told = ask(cli, "configuration", code=1)
    assert "pleat.conf:2" in told["configuration", None]["seen"]


def test_directories(cli):
    os.chmod(cli.path, 0o777)
    assert "others can write" in ask(cli, "directory", code=1)["directory", "state"]["seen"]
    os.chmod(cli.path, 0o700)
    long = f"{cli.path}/{'x' * 120}"
    told = ask(cli, "directory", "pleatd", code=1, env={"PLEAT_DIR": long})
    assert "too long" in told["directory", None]["seen"]
    inside = f"{cli.path}/not/there/yet"
    assert "will be made" in ask(cli, "directory", env={"PLEAT_DIR": inside})["directory", "state"]["seen"]
    assert not os.path.exists(f"{cli.path}/not")


def test_a_clock_behind_the_log_is_a_warning(cli):
    log = pathlib.Path(cli.path, "log.sqlite")
    log.write_text("")
    os.utime(log, (time.time() + 5000, time.time() + 5000))
    assert ask(cli, "clock")["clock", None]["state"] == "warning"


def site(name, **more):
    usual = {"processors": 8, "cpus": 8, "free": 8, "oversubscribed": False, "failed_starts": 0, "state": "ok"}
    return dict(story.SITES["sites"][0], **dict(usual, name=name, **more))


def test_sites_and_nodes(cli):
    nodes = [{"node": n, "processors": 4, "used": 1, "free": 3, "slot_cpus": None, "agent": n == 0} for n in (0, 1)]
    sites = [site("good", bound=True, agents=1), site("deaf", silent_s=12), site("over", oversubscribed=True, cpus=2),
             site("bad", state="left alone"), site("split", nodes=nodes, agents=1), site("fails", failed_starts=3),
             site("none", processors=0)]
    info = {"version": "0.1.0", "pid": 7, "holding": "the log cannot be written: disk full"}
    with cli.fake(dict(story.answers(), sites={"sites": sites}, info=info)):
        told = ask(cli, "pleatd", "sites", code=1)
    assert told["pleatd", "log"]["state"] == "failed" and "disk full" in told["pleatd", "log"]["seen"]
    states = {subject: one["state"] for (check, subject), one in told.items() if check == "sites"}
    assert states == {"good": "ok", "deaf": "failed", "over": "warning", "bad": "warning", "split": "ok",
                      "split node 0": "ok", "split node 1": "ok", "fails": "warning", "none": "warning"}
    assert "connected" in told["sites", "split node 0"]["seen"]
    assert "no agent" in told["sites", "split node 1"]["seen"]


def test_a_pleatd_of_another_version_is_a_warning_and_one_that_hangs_has_failed(cli):
    def hang(*_):
        raise Hang

    with cli.fake(dict(story.answers(), info={"version": "0.0.9", "pid": 7})):
        assert ask(cli, "pleatd")["pleatd", None]["state"] == "warning"
    with cli.fake(dict(story.answers(), info=hang)):
        assert "did not end within 1 s" in ask(cli, "--limit", "1", "pleatd", code=1)["pleatd", None]["seen"]


def test_a_process_of_a_dead_agent_is_told(cli):
    env = dict(os.environ, PLEAT_RUN="other:1", PLEAT_NODE="x:0", PLEAT_AGENT_PID="1:9999999999")
    left = subprocess.Popen(["sleep", "1000"], env=env)
    try:
        seen = subprocess.run([BUILD / "bin" / "pleat-agent", "--check"], stdout=subprocess.PIPE, check=True)
        assert left.pid in json.loads(seen.stdout)["processes"]
        assert ask(cli, "leftovers")["leftovers", "processes"]["state"] == "warning"
        assert left.poll() is None, "nothing is changed"
    finally:
        left.kill()
        left.wait()


def test_start_leaves_a_pleatd_that_goes_on(cli):
    told = ask(cli, "--start", "pleatd", "sites")
    assert told["pleatd", None]["state"] == "ok"
    assert told["sites", "local"]["state"] == "ok"
    assert json.loads(cli("info", "--json").stdout)["pid"] == int(re.search(r"pid (\d+)", told["pleatd", None]["seen"])[1])


def test_a_pleatd_that_cannot_start_is_told(cli):
    pathlib.Path(cli.path, "pleat.conf").write_text("no_such_key = 3\n")
    assert "pleat.conf" in ask(cli, "--start", "pleatd", code=1)["pleatd", None]["seen"]


def test_usage(cli):
    done = cli("doctor", "limit")
    assert done.returncode == 2 and "did you mean 'limits'" in done.stderr
    assert cli("doctor", "--limit", "0").returncode == 2
    told = subprocess.run([PLEAT, "doctor", "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
    assert re.findall(r"^  (\w+)  +\S", told.split("Options:")[0], re.MULTILINE) == NAMES
