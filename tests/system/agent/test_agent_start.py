"""Starting programs: what they get, and what is said when they cannot start."""

import os
import re
import signal
import stat
import subprocess

import pytest

from conftest import AGENT, INSTANCE, Lost, wait_until


def test_exit_codes(linked):
    linked.start(1, "sh", "-c", "exit 3")
    linked.start(2, "sh", "-c", "kill -9 $$")
    linked.start(3, "/bin/true")
    started = linked.daemon.expect("started", 1)
    assert started["pid"] > 1
    assert linked.daemon.expect("exited", 1)["code"] == 3
    second = linked.daemon.expect("exited", 2)
    assert (second["code"], second["signal"]) == (0, 9)
    third = linked.daemon.expect("exited", 3)
    assert (third["code"], third["signal"], third["left"]) == (0, 0, 0)
    assert third["max_rss_kb"] > 0 and third["cpu_us"] >= 0


def test_reply_comes_before_news(linked):
    linked.start(1, "true")
    assert linked.daemon.notifications == []
    linked.daemon.expect("started", 1)


def test_output_files(linked):
    for run in (1, 2):
        both = {"stdout": linked.out_path(1), "stderr": linked.err_path(1)}
        linked.start(run, "sh", "-c", f"echo out{run}; echo err{run} >&2", **both)
        linked.daemon.expect("exited", run)
    assert linked.output(1) == "out1\nout2\n"
    with open(linked.err_path(1), encoding="utf-8") as file:
        assert file.read() == "err1\nerr2\n"
    assert stat.S_IMODE(os.stat(linked.out_path(1)).st_mode) == 0o600
    linked.start(3, "sh", "-c", "echo a; echo b >&2; echo c", stderr=linked.out_path(3))
    linked.daemon.expect("exited", 3)
    assert linked.output(3) == "a\nb\nc\n"


def test_what_a_program_gets(linked):
    script = (
        "pwd; echo args $#; readlink /proc/self/fd/0; ls /proc/$$/fd | wc -l;"
        "grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status; ulimit -Sn; ps -o sid= -p $$; echo $$"
    )
    linked.start(1, "bash", "--norc", "-c", script, "x", "two words", "")
    linked.daemon.expect("exited", 1)
    lines = linked.output(1).splitlines()
    assert lines[0] == str(linked.directory)
    assert lines[1] == "args 2"
    assert lines[2] == "/dev/null"
    assert int(lines[3]) <= 4  # 0, 1, 2, and bash's own 255
    signals = dict(re.match(r"Sig(\w+):\s+(\w+)", line).groups() for line in lines[4:7])
    assert int(signals["Blk"], 16) == 0
    assert int(signals["Ign"], 16) == 0
    soft = subprocess.run(["sh", "-c", "ulimit -Sn"], capture_output=True, text=True, check=True)
    assert lines[7] == soft.stdout.strip()
    assert int(lines[8]) == int(lines[9])


def test_environment_is_exactly_what_was_given(linked):
    given = ["B=2", "A=x=y", "EMPTY=", "PLEAT_RUN=other:7", "PLEAT_MAILBOX=/nowhere"]
    linked.start(77, "/usr/bin/env", env=given)
    linked.daemon.expect("exited", 77)
    lines = linked.output(77).splitlines()
    assert lines[:3] == given[:3]
    own = dict(line.split("=", 1) for line in lines[3:])
    pid = linked.first.pid
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        start = file.read().rsplit(")", 1)[1].split()[19]
    assert own == {
        "PLEAT_RUN": f"{INSTANCE}:77",
        "PLEAT_NODE": "local:0",
        "PLEAT_AGENT_PID": f"{pid}:{start}",
    }


def test_mailbox_is_there_when_wanted(linked):
    script = 'test -r "$PLEAT_MAILBOX" && test -w "$PLEAT_DOORBELL" && echo x > "$PLEAT_DOORBELL"'
    linked.start(1, "sh", "-c", script, mailbox_ranks=4)
    assert linked.daemon.expect("exited", 1)["code"] == 0


def test_programs_that_cannot_start(linked):
    plain = linked.directory / "plain"
    plain.write_text("no program\n")
    binary = linked.directory / "binary"
    binary.write_text("neither\n")
    binary.chmod(0o700)
    cases = [
        (["no-such-program"], {}, "no such file in PATH"),
        (["./no-such-program"], {}, "no such file"),
        ([""], {}, "no such file"),
        ([str(plain)], {}, "not an executable file"),
        ([str(linked.directory)], {}, "not an executable file"),
        (["binary"], {"env": [f"PATH={linked.directory}"]}, "neither a program"),
        (["true"], {"env": ["PATH=/nowhere"]}, "no such file in PATH"),
        (["true"], {"cwd": "/no/such/directory"}, "/no/such/directory"),
        (["true"], {"cwd": str(plain)}, "working directory"),
        (["true"], {"stdout": "/no/such/directory/out"}, "/no/such/directory/out"),
        (["true"], {"stderr": "/"}, "output file"),
        (["true", "x" * 200000], {}, "too long"),
    ]
    for run, (argv, others, text) in enumerate(cases, start=1):
        linked.start(run, *argv, **others)
        failed = linked.daemon.expect("start_failed", run)
        assert text in failed["text"]
        assert failed["user_fault"] is True
        assert {"run": run, "state": "failed", "pid": 0} in linked.daemon.call("list")["runs"]
        linked.daemon.call("forget", run=run)
    assert linked.daemon.call("list")["runs"] == []


def test_the_nodes_fault(linked):
    """An agent that may open no more files blames itself, and recovers."""
    pid = linked.first.pid
    in_use = len(os.listdir(f"/proc/{pid}/fd"))
    subprocess.run(["prlimit", f"--nofile={in_use}:", "--pid", str(pid)], check=True)
    linked.start(1, "true")
    failed = linked.daemon.expect("start_failed", 1)
    assert failed["user_fault"] is False
    linked.start(2, "true", mailbox_ranks=2)
    assert linked.daemon.expect("start_failed", 2)["user_fault"] is False
    subprocess.run(["prlimit", "--nofile=1024:", "--pid", str(pid)], check=True)
    linked.start(3, "true")
    linked.daemon.expect("exited", 3)


def test_output_fifo_without_reader_does_not_stop_the_agent(linked):
    fifo = str(linked.directory / "fifo")
    os.mkfifo(fifo)
    linked.start(1, "true", stdout=fifo)
    assert "fifo" in linked.daemon.expect("start_failed", 1)["text"]


def test_start_twice(linked):
    linked.start(1, "sh", "-c", "echo once")
    linked.start(1, "sh", "-c", "echo twice")
    linked.daemon.expect("exited", 1)
    linked.start(1, "sh", "-c", "echo thrice")
    linked.start(2, "true")
    linked.daemon.expect("exited", 2)
    assert linked.output(1) == "once\n"
    assert len(linked.daemon.seen("started", 1)) == 1


def test_signal(linked):
    linked.start(1, "bash", "-c", "trap 'echo usr1; exit 5' USR1; echo ready; sleep 1000 & wait")
    linked.daemon.expect("started", 1)
    wait_until(lambda: "ready" in linked.output(1), "the trap is set")
    linked.daemon.call("signal", run=1, signal=int(signal.SIGUSR1))
    assert linked.daemon.expect("exited", 1)["code"] == 5
    linked.daemon.fails("state", "signal", run=1, signal=15)


def test_the_signal_before_a_time_limit(linked):
    """Once for each run, however often it is asked for; a script is told apart from what it starts."""
    script = """
trap 'echo script' USR1
bash -c 'trap "echo child" USR1; echo ready; while :; do sleep 0.05; done' &
while :; do sleep 0.05; done
"""
    heard = {"all": ["child", "script"], "others": ["child"], "main": ["script"]}
    for run, to in enumerate(heard, 1):
        linked.start(run, "bash", "-c", script)
        linked.daemon.expect("started", run)
        wait_until(lambda: "ready" in linked.output(run), "the traps are set")
        for _ in range(3):
            linked.daemon.call("limit_signal", run=run, signal=int(signal.SIGUSR1), to=to)
            linked.daemon.expect("signalled", run)
        wait_until(lambda: len(linked.output(run).split()) > len(heard[to]), "it heard")
        linked.daemon.call("limit_signal", run=run, signal=int(signal.SIGUSR1), to=to)
        linked.daemon.call("kill", run=run, grace_s=0)
        linked.daemon.expect("exited", run)
        assert sorted(linked.output(run).split()) == sorted(["ready", *heard[to]])
    linked.daemon.fails("invalid", "limit_signal", run=1, signal=10, to="nobody")


@pytest.mark.parametrize(
    "change",
    [
        {"run": 0},
        {"run": -1},
        {"run": "1"},
        {"run": 2**63},
        {"argv": []},
        {"argv": [1]},
        {"argv": "true"},
        {"env": ["NOVALUE"]},
        {"env": ["=x"]},
        {"env": {}},
        {"cwd": "relative"},
        {"stdout": "relative"},
        {"stderr": 7},
        {"scratch": "relative"},
        {"scratch": "/home"},
        {"scratch": "/tmp/pleat-x/"},
        {"scratch": "/tmp/pleat-x/sub"},
        {"mailbox_ranks": -1},
        {"mailbox_ranks": 65537},
        {"linger_s": -1},
        {"linger_s": 1e300},
    ],
)
def test_wrong_start(linked, change):
    params = {
        "run": 1,
        "argv": ["true"],
        "env": [],
        "cwd": "/",
        "stdout": linked.out_path(1),
        "stderr": linked.err_path(1),
    }
    if change.get("run") == 2**63:  # not an integer that JSON readers agree on
        linked.daemon.send({"id": 1, "method": "start", "params": {**params, **change}})
        wait_for_end_or_error(linked)
        return
    text = linked.daemon.fails("invalid", "start", **{**params, **change})
    assert next(iter(change)) in text
    assert linked.daemon.call("list")["runs"] == []


def wait_for_end_or_error(world):
    """The line is refused as a whole; the agent comes back."""
    try:
        while 1 not in world.daemon.results:
            world.daemon.pump()
        assert "error" in world.daemon.results[1]
    except Lost:
        world.daemon.accept()
    assert world.daemon.call("list")["runs"] == []


def run_agent(*words):
    return subprocess.run([AGENT, *words], capture_output=True, text=True, check=False, timeout=30)


def test_command_line():
    assert run_agent("--help").stdout.startswith("usage: pleat-agent")
    assert re.fullmatch(r"pleat-agent \d+\.\d+\.\d+\n", run_agent("--version").stdout)
    whole = ["--daemon", "/x", "--instance", "i", "--site", "s", "--node", "0"]
    wrong = [
        [],
        whole[2:],
        whole[:-2],
        whole + ["more"],
        whole + ["--unknown"],
        whole[:-1] + ["-1"],
        whole[:-1] + ["1x"],
        whole[:-1] + ["99999999999"],
        whole[:3] + ["a:b"] + whole[4:],
        whole[:3] + [""] + whole[4:],
        whole[:5] + ["../x"] + whole[6:],
        whole[:5] + ["x" * 64] + whole[6:],
    ]
    for words in wrong:
        done = run_agent(*words)
        assert done.returncode == 2, words
        assert "pleat-agent" in done.stderr


def test_scratch_goes_with_the_run(linked, tmp_path):
    scratch = tmp_path / "pleat-scratch"
    code = 'test -d "$0" && mkdir "$0/deep" && echo kept > "$0/deep/file" && ln -s / "$0/link"'
    linked.start(1, "sh", "-c", code, str(scratch), scratch=str(scratch))
    assert linked.daemon.expect("exited", 1)["code"] == 0
    assert not scratch.exists() and os.path.isdir("/usr")
    scratch.write_text("somebody else's")
    linked.start(2, "true", scratch=str(scratch))
    failed = linked.daemon.expect("start_failed", 2)
    assert str(scratch) in failed["text"] and not failed["user_fault"]
    assert scratch.read_text() == "somebody else's"


def test_an_input_that_has_ended_takes_nothing_from_others(linked):
    """Its descriptor is not used for another run's output before the run itself is over."""
    daemon = linked.daemon
    linked.start(1, "sh", "-c", "cat; echo over; sleep 1000", stdin_sent=True, output_sent=True)
    daemon.call("input", b"words\n", run=1, offset=0, end=False)
    assert daemon.expect("output", 1, stream=1)["attached"] == b"words\n"
    daemon.call("input", run=1, offset=6, end=True)
    assert daemon.expect("input_taken", 1, end=True)["offset"] == 6
    assert daemon.expect("output", 1, offset=6)["attached"] == b"over\n"
    linked.start(2, "sh", "-c", "echo one; while [ ! -e go ]; do sleep 0.01; done; echo two; sleep 1000", output_sent=True)
    assert daemon.expect("output", 2)["attached"] == b"one\n"
    daemon.call("output_heard", run=1, stream=1, offset=11)
    daemon.call("kill", run=1, grace_s=0)
    daemon.expect("exited", 1)
    linked.touch("go")
    assert daemon.expect("output", 2, offset=4)["attached"] == b"two\n"
