"""`pleat run --pty`: a job that has a terminal, as seen from the terminal that `pleat run` has."""

import os
import signal
import subprocess

import pytest

from conftest import BUILD, LIMIT_S, PLEAT, comm_of, is_alive, parent_of, wait_until, words_of
from relaunching import MPIS, program
from terminal import Terminal


def children_of(pid):
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and parent_of(int(name)) == pid]


class Screen(Terminal):
    """A terminal, and `pleat run --pty` in its foreground."""

    def __init__(self, pleat, *words, rows=33, columns=91, shell=False):
        super().__init__(LIMIT_S, rows, columns)
        self.pleat = pleat
        self.process = subprocess.Popen(
            [*(["sh", "-c", '"$@"; code=$?; echo and on; exit $code', "sh"] if shell else []), pleat.program, "run", *map(str, words)],
            env=dict(pleat.env, TERM="dumb"), cwd=pleat.dir, stdin=self.slave,
            stdout=self.slave, stderr=self.slave, start_new_session=True, preexec_fn=self.take_it)
        pleat.started.append(self.process)

    def end(self):
        """All that was shown since; the terminal is as it was."""
        self.read_until(lambda: self.process.poll() is not None, "its end")
        self.read_rest()
        assert self.is_usual()
        self.close()
        return self.process.returncode


def shell(pleat):
    """An interactive one, which has said that it is ready."""
    screen = Screen(pleat, "--env", "PS1=ready> ", "--pty", "--", "bash", "--norc", "--noprofile", "-i")
    screen.until("ready> ")
    return screen


def test_what_a_program_sees(pleat):
    screen = Screen(pleat, "--pty", "--", "sh", "-c",
                    "stty size; tty; test -t 0 && test -t 1 && test -t 2 && echo all three; "
                    "ps -o tty= -p $$; exit 5")
    assert screen.end() == 5
    size, name, three, controlling = screen.text.split("\r\n")[:4]
    assert (size, three) == ("33 91", "all three") and name == "/dev/" + controlling.strip(), screen.text
    assert name != os.ttyname(0) if os.isatty(0) else name.startswith("/dev/pts/")
    job = pleat.job(1)
    assert job["terminal"] == name and job["exit_code"] == 5
    assert pleat.pleat("log", 1, check=0).stdout == ""


def test_killed_it_leaves_a_usual_terminal(pleat):
    """It has no chance to restore the terminal itself; the shell from which it was started goes on."""
    screen = Screen(pleat, "--env", "PS1=ready> ", "--pty", "--", "bash", "--norc", "--noprofile", "-i", shell=True)
    screen.until("ready> ")
    assert not screen.is_usual()
    run = wait_until(lambda: [p for p in children_of(screen.process.pid) if words_of(p)[:2] == [PLEAT, "run"]], "pleat run")
    keepers = [p for p in children_of(run[0]) if comm_of(p) == "pleat-terminal"]
    os.kill(run[0], signal.SIGKILL)
    screen.until("and on")
    wait_until(screen.is_usual, "the terminal is as it was")
    wait_until(lambda: not any(map(is_alive, keepers)), "nobody is left")
    assert screen.end() == 128 + signal.SIGKILL
    pleat.wait_end(1)


def test_all_of_its_output(pleat):
    """Also what it writes just before its end."""
    screen = Screen(pleat, "--pty", "--", "seq", "1", "60000")
    assert screen.end() == 0
    assert screen.text == "".join(f"{number}\r\n" for number in range(1, 60001))


def test_an_interactive_shell(pleat):
    """Also while its daemon is another one."""
    screen = shell(pleat)
    assert not screen.is_usual()  # keys go on as they are
    screen.type("echo $((6 * 7))\n")
    screen.until("42\r\n")
    screen.until("ready> ")
    screen.type("sleep 1000\n")
    wait_until(lambda: [p for p in pleat.job_pids(1) if words_of(p) == ["sleep", "1000"]], "it sleeps")
    screen.type("\x03")  # the job's business
    screen.until("ready> ")
    screen.type("echo code $?\n")
    screen.until("code 130\r\n")
    screen.resize(20, 50)
    screen.type("stty size\n")
    screen.until("20 50\r\n")
    pleat.kill_daemon()
    screen.type("echo still here; stty -echo; tput -T xterm reset\n")
    screen.until("still here\r\n")
    screen.until("ready> ")
    screen.type("exit 3\n")
    assert screen.end() == 3
    assert pleat.wait_end(1)["exit_code"] == 3


@pytest.mark.parametrize("number, code", [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGSEGV, -11)])
def test_a_signal(pleat, number, code):
    """It is the end of the job, and the terminal is as it was."""
    screen = shell(pleat)
    screen.type("sleep 1000\n")
    wait_until(lambda: [p for p in pleat.job_pids(1) if words_of(p) == ["sleep", "1000"]], "it sleeps")
    screen.process.send_signal(number)
    assert screen.end() == code
    job = pleat.wait_end(1)
    assert job["state"] == ("failed" if code < 0 else "cancelled"), job
    wait_until(lambda: not pleat.job_pids(1), "nothing is left of it")


def test_when_it_is_killed(pleat):
    """Then nothing can be restored, but the job has no terminal any more, and hears of that."""
    screen = shell(pleat)
    screen.process.kill()
    pleat.wait_end(1)
    assert not is_alive(screen.process.pid) or screen.process.wait(LIMIT_S) == -9
    screen.close()


def test_one_that_waits(pleat):
    """Until it has its terminal keys are those of `pleat run`; whoever wants none goes without."""
    other = pleat.submit("-n", 8, "sleep", 1000)
    pleat.wait_for(other, "running")
    screen = Screen(pleat, "--pty", "--", "cat")
    pleat.wait_for(other + 1, "queued") if wait_until(
        lambda: pleat.call("jobs", all=True)["jobs"][1:], "the second") else None
    assert screen.is_usual()
    screen.type("\x03")
    assert screen.end() == 130
    assert pleat.job(other + 1)["state"] == "cancelled"
    screen = Screen(pleat, "--pty", "--", "cat")
    pleat.call("cancel", job=other)
    screen.type("typed\n")
    screen.until("typed\r\ntyped\r\n")  # the echo of the terminal, and cat
    wait_until(lambda: not screen.is_usual(), "keys go to the job")
    screen.type("\x04")
    assert screen.end() == 0


OF_RANKS = """
rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
if [ "$rank" != 0 ]; then
  test -t 0 || test -n "$(ps -o tty= -p $$ | grep pts)" || echo "rank $rank has none"
  touch "$0"; while [ -e "$0" ]; do sleep 0.05; done; exit
fi
while [ ! -e "$0" ]; do sleep 0.05; done
test -t 0 && test -t 1 && test -t 2 && echo "$(ps -o tty= -p $$) is mine"
tty; stty size; trap "echo interrupted; rm $0; exit $1" INT; read line; echo "got $line"; read line
"""


def rank_0_has_the_terminal(pleat, mpi):
    """It alone, and it is interrupted by that; what the others say is shown."""
    screen = Screen(pleat, "--pty", "--mpi", mpi, "--runner", "mpi", "-n", 2, "--", "sh", "-c", OF_RANKS,
                    pleat.path("other"), 7)
    mine = screen.until(" is mine\r\n")
    assert "rank 1 has none\r\n" in mine
    name = mine.split("\r\n")[-1].strip()
    assert name.startswith("pts/")
    assert screen.until("33 91\r\n") == f"/dev/{name}\r\n"
    screen.type("words\n")
    screen.until("got words\r\n")
    screen.type("\x03")
    screen.until("interrupted\r\n")
    assert screen.end() == 7
    assert pleat.job(1)["exit_code"] == 7 and not pleat.job_pids(1)


@pytest.mark.parametrize("mpi", MPIS)
def test_rank_0_of_an_mpi_program(pleat, mpi):
    rank_0_has_the_terminal(pleat, mpi)


@pytest.mark.parametrize("mpi", MPIS)
def test_an_mpi_program_on_a_terminal(pleat, mpi):
    """Its result is that which it has without; and Ctrl-C ends one that does nothing about that."""
    screen = Screen(pleat, "--pty", "-n", 2, "-c", 2, "--", program("ring", mpi), "--iterations", 50)
    assert screen.end() == 0
    assert "RESULT ok ring ranks=2" in screen.text
    screen = Screen(pleat, "--pty", "-n", 2, "--", program("ring", mpi), "--iterations", 1000000000)
    wait_until(lambda: len(pleat.rank_pids(2, program("ring", mpi))) == 2, "it runs")
    wait_until(lambda: not screen.is_usual(), "keys go to the job")
    screen.type("\x03")
    assert screen.end() == 130
    pleat.wait_end(2)


def test_what_cannot_have_one(pleat):
    loop = os.path.join(BUILD, "apps", "loop")
    done = pleat.pleat("run", "--pty", "--", "cat", check=2)
    assert "standard input is no terminal" in done.stderr
    assert not os.path.exists(os.path.join(pleat.dir, "pleatd.sock")), "no pleatd was started for it"
    done = pleat.pleat("submit", "--pty", "--", "cat", check=2)
    assert "only 'pleat run' can do that" in done.stderr
    for words, said in ((("--pty", "--max", 2, "--", loop), "such a program gets no terminal"),
                        (("--pty", "--output", "x", "--", "cat"), "leave out --output")):
        screen = Screen(pleat, *words)
        assert screen.end() == 2
        assert said in screen.text.replace("\r\n", " "), screen.text
    job = pleat.call("submit", argv=["/bin/cat"], env=["PATH=/bin"], cwd="/", min=1, max=1,
                     terminal="/dev/pts/9999999")["job"]
    job = pleat.wait_end(job)
    assert job["state"] == "failed" and "is its 'pleat run --pty' gone?" in job["text"], job
