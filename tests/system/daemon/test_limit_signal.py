"""A signal before the time limit: a program may save what it has, and end in time."""

import os
import shutil
import signal

import pytest

from conftest import LOOP, wait_until
from patience import PATIENCE


def after(seconds, limit_s=1000):
    """When before its time limit a job is to be told, so that it listens by then: `seconds` after it began, on a usual machine."""
    return f"{limit_s - seconds * PATIENCE:g}s"


# Says what it hears; ends when told to by a file.
LISTEN = """#!/bin/bash
trap 'echo script >> heard' USR1
bash -c 'trap "echo child >> heard" USR1; echo ready >> heard; while [ ! -e go ]; do sleep 0.05; done' &
child=$!
while [ ! -e go ]; do sleep 0.05; done
wait $child
"""


def write(pleat, name, text):
    with open(pleat.path(name), "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(pleat.path(name), 0o755)


def heard(pleat):
    try:
        with open(pleat.path("heard"), encoding="utf-8") as file:
            return sorted(file.read().split())
    except FileNotFoundError:
        return []


def events(pleat, number, kind):
    return [event for event in pleat.call("events", job=number)["events"] if event["kind"] == kind]


@pytest.mark.parametrize("words, hears", [(["--signal", f"USR1@{after(0.5)}"], "child"),
                                          (["--signal", f"B:10@{after(0.5)}"], "script")])
def test_once_across_restarts(pleat, words, hears):
    """The daemon is killed before it is due, when it is, and after it: it is sent once."""
    write(pleat, "job.sh", LISTEN)
    number = pleat.submit("--time-limit", "1000s", *words, "job.sh")
    wait_until(lambda: "ready" in heard(pleat), "it listens")
    pleat.kill_daemon()
    pleat.call("info")
    wait_until(lambda: hears in heard(pleat), "it is told")
    pleat.kill_daemon()
    pleat.call("info")
    assert wait_until(lambda: events(pleat, number, "signal"), "the log knows")[0]["signal"] == signal.SIGUSR1
    pleat.kill_daemon()
    pleat.call("info")
    with open(pleat.path("go"), "w", encoding="ascii"):
        pass
    job = pleat.wait_end(number)
    assert (job["state"], job["exit_code"]) == ("done", 0)
    assert heard(pleat) == sorted(["ready", hears])
    assert len(events(pleat, number, "signal")) == 1
    assert "SIGUSR1" in pleat.pleat("events", number, check=0).stdout
    assert "before the time limit" in pleat.pleat("show", number, check=0).stdout


def test_it_ends_in_time(pleat):
    lead_s = 3600 - round(PATIENCE)
    write(pleat, "job.sh", f"#!/bin/bash\n#SBATCH --time=60 --signal=B:USR1@{lead_s}\n"
          "trap 'echo saved; exit 0' USR1\nwhile :; do sleep 0.05; done\n")
    number = pleat.submit("--sbatch", "job.sh")
    job = pleat.wait_end(number)
    assert (job["state"], job["limit_signal"]) == ("done", {"signal": 10, "lead_s": lead_s, "script": True})
    assert pleat.output(number) == "saved\n"


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_ranks_get_it_once(pleat, mpi):
    """Not what launches them: mpirun would hand it on, pleat-pmi would end."""
    if not shutil.which(f"mpirun.{mpi}"):
        pytest.skip(f"SKIPPED: no mpirun.{mpi}")
    write(pleat, "rank.sh", "#!/bin/bash\ntrap 'echo $$ >> heard' USR1\necho ready >> heard\n"
          "while [ ! -e go ]; do sleep 0.05; done\n")
    number = pleat.submit("-n", 2, "--mpi", mpi, "--time-limit", "1000s", "--signal", f"usr1@{after(1)}",
                          "--", "./rank.sh")
    wait_until(lambda: len([word for word in heard(pleat) if word != "ready"]) == 2, "both hear it")
    with open(pleat.path("go"), "w", encoding="ascii"):
        pass
    job = pleat.wait_end(number)
    assert (job["state"], job["exit_code"]) == ("done", 0), (job, pleat.output(number, "stderr"))
    ranks = [word for word in heard(pleat) if word != "ready"]
    assert len(ranks) == len(set(ranks)) == 2


# As often as it hears it: a shell would take two for one.
RANK = """#!/usr/bin/env python3
import os, signal, time

def say(word):
    with open("heard", "a", encoding="ascii") as file:
        file.write(f"{word}\\n")

signal.signal(signal.SIGUSR1, lambda *_: say(os.getpid()))
say("ready")
while not os.path.exists("go"):
    time.sleep(0.05)
"""


@pytest.mark.parametrize("launcher", ["mpirun.openmpi", "mpiexec.mpich"])
def test_what_a_script_launches_gets_it_once(pleat, launcher):
    """Not the launcher: Open MPI's would hand it on to those that have it already, MPICH's would end."""
    if not shutil.which(launcher):
        pytest.skip(f"SKIPPED: no {launcher}")
    write(pleat, "rank.py", RANK)
    write(pleat, "job.sh", f"#!/bin/bash\n{launcher} -n 2 ./rank.py\n")
    number = pleat.submit("-n", 2, "--time-limit", "1000s", "--signal", f"USR1@{after(4)}", "job.sh")
    wait_until(lambda: len([word for word in heard(pleat) if word != "ready"]) >= 2, "both hear it")
    with open(pleat.path("go"), "w", encoding="ascii"):
        pass
    job = pleat.wait_end(number)
    assert (job["state"], job["exit_code"]) == ("done", 0), (job, pleat.output(number, "stderr"))
    ranks = [word for word in heard(pleat) if word != "ready"]
    assert len(ranks) == len(set(ranks)) == 2


def test_wrong_signals(pleat):
    for words, says in ((["--signal", "NONE"], "no signal"), (["--signal", "99"], "no signal"),
                        (["--signal", "USR1@90", "--time-limit", "1h"], "90 of what"),
                        (["--signal", "B:USR1@1s", "--time-limit", "1h"], "only a batch script"),
                        (["--signal", "USR1", "--time-limit", "50s"], "not before the end")):
        done = pleat.pleat("submit", *words, "--", "true")
        assert done.returncode == 2, done
        assert "--signal" in done.stderr, done.stderr
    done = pleat.pleat("submit", "--signal", "TERM", "--", "true", check=0)
    assert "without --time-limit" in done.stderr
    assert LOOP
