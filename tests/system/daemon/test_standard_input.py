"""Standard input of `pleat run`, and the effect of Ctrl-C on a job that ignores it."""

import hashlib
import os
import signal
import subprocess

import pytest

from conftest import BUILD, PLEAT

RANKS = os.path.join(BUILD, "tests", "test-pmi-ranks")


def test_standard_input_is_passed_on(pleat):
    """All of it, in order, with its end; without one there is none."""
    text = "".join(f"line {number}\n" for number in range(40000))
    done = pleat.pleat("run", "--", "cat", given=text, check=0)
    assert done.stdout == text
    assert pleat.pleat("run", "--", "cat", given="", check=0).stdout == ""
    assert pleat.pleat("run", "--", "cat", check=0).stdout == ""
    with open(pleat.path("in"), "w", encoding="utf-8") as file:
        file.write("of a file\n")
    for option in ("--input", "--stdin"):
        assert pleat.pleat("run", option, "in", "--", "cat", given="x", check=0).stdout == "of a file\n"
    assert not [name for name in os.listdir(pleat.dir) if name.startswith("stdin-")]


def test_an_answer_to_what_a_job_asks(pleat):
    """Line by line, as somebody types it."""
    with subprocess.Popen([PLEAT, "run", "--", "sh", "-c", "while read x; do echo got $x; done"], env=pleat.env,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        for word in ("one", "two"):
            process.stdin.write(word + "\n")
            process.stdin.flush()
            assert process.stdout.readline() == f"got {word}\n"
        process.stdin.close()
        assert process.wait(30) == 0


def test_nobody_needs_to_read_it(pleat):
    with subprocess.Popen([PLEAT, "run", "--", "true"], env=pleat.env, stdin=subprocess.PIPE) as process:
        assert process.wait(30) == 0


def test_a_second_ctrl_c_kills(pleat):
    """A job that ignores the first one; each time it is said what happens."""
    with subprocess.Popen([PLEAT, "run", "--", "sh", "-c", "trap '' TERM INT; echo deaf; while :; do sleep 0.1; done"],
                          env=pleat.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as process:
        assert process.stdout.readline() == "deaf\n"
        process.send_signal(signal.SIGINT)
        assert "is told to end (SIGTERM)" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert "is being killed" in process.stderr.readline()
        assert "cancelled" in process.stderr.read()
        assert process.wait(30) == 130


@pytest.mark.skipif(not os.path.exists(RANKS), reason="no MPICH")
def test_rank_0_reads(pleat):
    text = "".join(f"line {number}\n" for number in range(3000))
    done = pleat.pleat("run", "-n", "2", "--", RANKS, "cat", given=text, check=0)
    assert done.stdout == text


@pytest.mark.parametrize("mpi", ["openmpi", pytest.param("mpich", marks=pytest.mark.skipif(
    not os.path.exists(RANKS), reason="no MPICH"))])
def test_only_rank_0_reads(pleat, mpi):
    """Some megabytes, and their end; the others see an end at once."""
    text = "".join(f"line {number} of many\n" for number in range(300000))
    code = ('case ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} in 0) md5sum;; *) echo "others $(wc -c)";; esac')
    done = pleat.pleat("run", "-n", "3", "--mpi", mpi, "--runner", "mpi", "--", "sh", "-c", code, given=text, check=0)
    assert sorted(done.stdout.splitlines()) == [hashlib.md5(text.encode()).hexdigest() + "  -", "others 0", "others 0"]
    done = pleat.pleat("run", "-n", "2", "--mpi", mpi, "--runner", "mpi", "--", "sh", "-c", code, given="", check=0)
    assert done.stdout.count("others 0") == 1 and hashlib.md5(b"").hexdigest() in done.stdout


def test_who_takes_its_place_goes_on_reading(pleat):
    """The agent is killed by the job, which is queued again, and started again."""
    code = "read x; echo got $x; [ -e once ] && exit 0; touch once; kill -9 $(ps -o ppid= $PPID); exec sleep 60"
    done = pleat.pleat("run", "--", "sh", "-c", code, given="one\ntwo\nthree\n", check=0)
    assert done.stdout == "got one\ngot two\n"


def test_a_script_from_standard_input(pleat):
    script = '#!/bin/sh\n#PLEAT --name mine\necho "$PLEAT_JOB_NAME $1"\n'
    job = int(pleat.pleat("submit", given=script, check=0).stdout)
    pleat.pleat("wait", job, check=0)
    assert pleat.call("job", job=job)["name"] == "mine"
    job = int(pleat.pleat("submit", "-n", "2", "-", "given", given=script, check=0).stdout)
    pleat.pleat("wait", job, check=0)
    assert pleat.pleat("log", job, check=0).stdout.split()[-1] == "given"
    for text, said in (("", "which program?"), ("echo\n", "-:1: a batch script begins with its interpreter")):
        done = pleat.pleat("submit", given=text, check=2)
        assert said in done.stderr
    assert "which program?" in pleat.pleat("submit", check=2).stderr


def test_a_command_line_is_wrapped(pleat):
    done = pleat.pleat("run", "--wrap", "for i in 1 2; do echo $i; done | tail -n 1", check=0)
    assert done.stdout == "2\n"
    done = pleat.pleat("run", "--wrap", "true", "--", "false", check=2)
    assert "--wrap takes the place of a program" in done.stderr
    assert pleat.pleat("run", "--wrap", "exit 3").returncode == 3
