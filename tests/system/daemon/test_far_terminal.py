"""`pleat run --pty` where the job runs on another host: here an agent whose host has a name and terminals of its own, so that
the path of the user's terminal is that of another one there."""

import hashlib
import os
import shutil
import signal
import subprocess

import pytest

from conftest import BUILD, breakable_agent, is_alive, wait_until, words_of
from relaunching import MPIS
from test_input_sent import resident_kb
from test_pty import Screen, children_of, rank_0_has_the_terminal

# It stays the process that was started, and what it starts is there, too.
ELSEWHERE = """hostname elsewhere && mount -t devpts -o newinstance,ptmxmode=0666,mode=620 none /dev/pts &&
{ [ -L /dev/ptmx ] || mount --bind /dev/pts/ptmx /dev/ptmx; } && exec "$0" "$@"
"""
UNSHARE = ["unshare", "--uts", "--mount", "--propagation", "private", "sh", "-c"]


@pytest.fixture(name="far")
def fixture_far(pleat):
    tried = subprocess.run([*UNSHARE, ELSEWHERE, "true"], check=False, capture_output=True, text=True)
    if tried.returncode:
        pytest.skip(f"namespaces of its own cannot be made here: {tried.stderr}")
    where = breakable_agent(pleat)
    there = where.parent / "there"
    there.mkdir()
    shutil.copy(os.path.join(BUILD, "bin", "pleat-agent"), there)
    (where / "script").write_text(ELSEWHERE)
    (where / "pleat-agent").write_text(f"""#!/bin/sh
exec {' '.join(UNSHARE)} "$(cat {where}/script)" {there}/pleat-agent "$@"
""")
    pleat.program = str(where / "pleat")
    return pleat


def shell(far, **options):
    """An interactive one, which has said that it is ready."""
    screen = Screen(far, "--env", "PS1=ready> ", "--pty", "--", "bash", "--norc", "--noprofile", "-i", **options)
    screen.until("ready> ")
    return screen


def sleeps(far, screen, number=1):
    screen.type("sleep 1000\n")
    wait_until(lambda: [p for p in far.job_pids(number) if words_of(p) == ["sleep", "1000"]], "it sleeps")


def test_what_a_program_sees(far):
    screen = Screen(far, "--pty", "--", "sh", "-c",
                    "hostname; stty size; test -t 0 && test -t 1 && test -t 2 && echo all three; tty; ps -o tty= -p $$; exit 5")
    assert screen.end() == 5
    host, size, three, name, controlling = screen.text.split("\r\n")[:5]
    assert (host, size, three) == ("elsewhere", "33 91", "all three") and name == "/dev/" + controlling.strip(), screen.text
    assert far.job(1)["exit_code"] == 5 and far.pleat("log", 1, check=0).stdout == ""
    screen = Screen(far, "--pty", "--", "nosuchprogram")
    assert screen.end() == 127


def test_an_interactive_shell(far):
    """What keys mean is decided by the terminal there, and what a program reads raw it gets as it was typed."""
    screen = shell(far)
    assert not screen.is_usual()  # keys go on as they are
    screen.type("echo $((6 * 7))\n")
    screen.until("42\r\n")
    screen.until("ready> ")
    sleeps(far, screen)
    screen.type("\x03")
    screen.until("ready> ")
    screen.type("echo code $?\n")
    screen.until("code 130\r\n")
    screen.until("ready> ")
    sleeps(far, screen)
    screen.type("\x1a")
    screen.until("Stopped")
    screen.until("ready> ")
    # another number: the one before may still be there, and a key before this one is there is none for it
    screen.type("kill -9 %1; wait; sh -c 'ulimit -c 0; exec sleep 1001'\n")
    wait_until(lambda: [p for p in far.job_pids(1) if words_of(p) == ["sleep", "1001"]], "it sleeps")
    screen.type("\x1c")
    screen.until("ready> ")
    screen.type("echo code $?\n")
    screen.until("code 131\r\n")
    screen.until("ready> ")
    screen.resize(20, 50)
    screen.type("until [ \"$(stty size)\" = '20 50' ]; do sleep 0.01; done; echo it has that size\n")
    screen.until("it has that size\r\n")
    screen.until("ready> ")
    screen.type("stty raw -echo; echo go; head -c 4 | od -An -tx1; stty sane\n")
    screen.until("go")
    screen.until("\n")
    screen.type("\x03\x1b\x1ak")
    screen.until("03 1b 1a 6b")
    screen.until("ready> ")
    screen.type("exit 3\n")
    assert screen.end() == 3
    assert far.wait_end(1)["exit_code"] == 3 and not far.job_pids(1)


def test_all_of_its_output(far):
    """Also what it writes just before its end."""
    screen = Screen(far, "--pty", "--", "seq", "1", "60000")
    assert screen.end() == 0
    assert screen.text == "".join(f"{number}\r\n" for number in range(1, 60001))


def test_a_program_waits_for_a_terminal_that_is_slow(far):
    """Nobody keeps more than a little of what it writes; and it can be interrupted meanwhile."""
    screen = Screen(far, "--pty", "--", "sh", "-c", "echo begun; read x; seq 1 600000; echo end $x")
    screen.until("begun\r\n")
    pids = [far.daemon_pid(), far.agent_pid(), screen.process.pid]
    before = [resident_kb(pid) for pid in pids]
    screen.type("well\n")
    [writer] = wait_until(lambda: [p for p in far.job_pids(1) if words_of(p)[:1] == ["seq"]], "it writes")

    def written():
        with open(f"/proc/{writer}/io", encoding="ascii") as file:
            return int(file.read().split("wchar:")[1].split()[0])
    counts = []
    wait_until(lambda: (counts.append(written()), len(counts) > 20 and counts[-1] == counts[-20] > 0)[1], "it waits")
    assert counts[-1] < 3000000
    assert all(resident_kb(pid) - kb < 8192 for pid, kb in zip(pids, before))
    screen.until("well\r\n")
    assert screen.end() == 0
    wanted = "".join(f"{number}\r\n" for number in range(1, 600001)) + "end well\r\n"
    assert hashlib.md5(screen.text.encode()).digest() == hashlib.md5(wanted.encode()).digest()
    screen = Screen(far, "--pty", "--", "sh", "-c", "trap '' HUP; exec yes")
    screen.until("y\r\ny\r\n")
    wait_until(lambda: not screen.is_usual(), "keys go to the job")
    screen.type("\x03")
    assert screen.end() == 130


@pytest.mark.parametrize("number, code", [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGSEGV, -11)])
def test_a_signal(far, number, code):
    """It is the end of the job, and the terminal is as it was."""
    screen = shell(far)
    sleeps(far, screen)
    screen.process.send_signal(number)
    assert screen.end() == code
    job = far.wait_end(1)
    assert job["state"] == ("failed" if code < 0 else "cancelled"), job
    wait_until(lambda: not far.job_pids(1), "nothing is left of it")


def test_when_it_is_killed(far):
    """Its terminal is put right by another process, and the job hears of it (SIGHUP), even if it does not read what was typed."""
    screen = shell(far, shell=True)
    sleeps(far, screen)
    screen.type("x" * 3000)
    [run] = wait_until(lambda: [p for p in children_of(screen.process.pid) if words_of(p)[1:2] == ["run"]], "pleat run")
    os.kill(run, signal.SIGKILL)
    screen.until("and on")
    wait_until(screen.is_usual, "the terminal is as it was")
    assert screen.end() == 128 + signal.SIGKILL
    far.wait_end(1)
    wait_until(lambda: not far.job_pids(1), "nothing is left of it")
    assert "its terminal is hung up" in " ".join(far.pleat("events", 1, check=0).stdout.split())


def test_a_program_that_goes_on_without(far):
    """It ignores SIGHUP, as under nohup. What it writes then is for nobody, and does not keep it from its end."""
    screen = Screen(far, "--pty", "--", "sh", "-c", f"trap '' HUP; echo begun; read x; while [ ! -e {far.path('go')} ]; do sleep 0.05; done; "
                    "seq 1 1000; exit 4")
    screen.until("begun\r\n")
    screen.process.kill()
    wait_until(lambda: "is hung up" in " ".join(far.pleat("events", 1, check=0).stdout.split()), "it is hung up")
    assert far.job(1)["state"] == "running"
    with open(far.path("go"), "w", encoding="ascii"):
        pass
    assert far.wait_end(1)["exit_code"] == 4


def test_pleatd_is_killed(far):
    """The session goes on with the next one, which `pleat run` starts: nothing typed or shown is lost, or comes twice."""
    screen = shell(far)
    for word in ("one", "two", "three"):
        far.kill_daemon()
        screen.type(f"echo still {word}$((1 + 1))\n")
        screen.until(f"still {word}2\r\n")
        screen.until("ready> ")
    screen.type("for i in $(seq 1 300); do echo line $i; sleep 0.005; done; echo over$((1 + 1))\n")
    screen.until("line 1\r\n")
    far.kill_daemon()
    assert screen.until("over2\r\n") == "".join(f"line {number}\r\n" for number in range(2, 301))
    far.kill_daemon(signal.SIGTERM)
    screen.resize(21, 51)
    screen.type("until [ \"$(stty size)\" = '21 51' ]; do sleep 0.01; done; exit 6\n")
    assert screen.end() == 6
    assert far.wait_end(1)["attempt"] == 0


def test_pleatd_cannot_be_started_again(far):
    """Keys are not lost in a terminal that does nothing: they are those of `pleat run`, which says so, and can be left."""
    screen = shell(far)
    pleatd = os.path.join(os.path.dirname(far.program), "pleatd")
    os.rename(pleatd, pleatd + ".away")
    far.kill_daemon()
    screen.until("cannot be reached")
    wait_until(screen.is_usual, "the terminal is as it was")
    screen.type("\x03")
    assert screen.end() == 3
    os.rename(pleatd + ".away", pleatd)
    far.wait_end(1)  # the next one waits a while for its `pleat run`
    wait_until(lambda: not far.job_pids(1), "nothing is left of it")
    assert "is hung up" in " ".join(far.pleat("events", 1, check=0).stdout.split())


@pytest.mark.parametrize("mpi", MPIS)
def test_rank_0_of_an_mpi_program(far, mpi):
    rank_0_has_the_terminal(far, mpi)


def test_a_job_that_is_started_again(far):
    """Its agent is killed: it is queued again, and has another terminal, for the same `pleat run`."""
    screen = Screen(far, "--pty", "--", "sh", "-c", "echo begun $$; exec cat")
    first = screen.until("\r\n")
    screen.type("typed\n")
    screen.until("typed\r\ntyped\r\n")
    os.kill(far.agent_pid(), signal.SIGKILL)
    screen.until("begun ")
    assert screen.until("\r\n") != first.split()[-1]
    wait_until(lambda: not screen.is_usual(), "keys go to the job")
    screen.type("again\n")
    screen.until("again\r\nagain\r\n")
    screen.type("\x04")
    assert screen.end() == 0
    assert far.job(1)["attempt"] == 1


def test_a_script_and_what_has_none(far):
    with open(far.path("script.sh"), "w", encoding="ascii") as file:
        file.write('#!/bin/sh\n#PLEAT -n 2\necho "$PLEAT_PROCESSORS on $(hostname)"; stty size\n')
    os.chmod(far.path("script.sh"), 0o700)
    screen = Screen(far, "--pty", far.path("script.sh"))
    assert screen.end() == 0 and screen.text == "2 on elsewhere\r\n33 91\r\n", screen.text
    # a `pleat run` that passes nothing on
    job = far.call("submit", argv=["/bin/cat"], env=["PATH=/bin"], cwd="/", min=1, max=1, terminal="/dev/pts/9999999")["job"]
    job = far.wait_end(job)
    assert job["state"] == "failed" and "is of an older version" in job["text"], job


def test_an_older_agent(far):
    """It does not know how to make a terminal, and the job fails with a text."""
    path = os.path.join(os.path.dirname(far.program), "../there/pleat-agent")
    with open(path, "rb") as file:
        read = file.read()
    assert read.count(b"\0window\0") >= 1
    with open(path, "wb") as file:
        file.write(read.replace(b"\0window\0", b"\0WINDOW\0"))
    screen = Screen(far, "--pty", "--", "cat")
    assert screen.end() == 125
    said = " ".join(screen.text.split())
    assert "the agent was started before Pleat was upgraded, and does not know 'window'" in said, said


def test_two_at_a_time(far):
    """Each has its own."""
    screens = [Screen(far, "--pty", "--", "sh", "-c", f"stty -echo; echo ready; read x; echo {name} got $x", rows=rows)
               for name, rows in (("one", 11), ("two", 12))]
    for screen in screens:
        screen.until("ready\r\n")
    for screen, word in zip(screens, ("first", "second")):
        screen.type(word + "\n")
    texts = []
    for screen in screens:
        assert screen.end() == 0
        texts.append(screen.text)
    assert texts == ["one got first\r\n", "two got second\r\n"]
    assert not any(is_alive(screen.process.pid) for screen in screens)
