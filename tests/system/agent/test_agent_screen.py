"""Terminals that the agent makes, for users whose own terminal is on another host."""

import os

from conftest import BUILD, is_alive, wait_until


class Screen:
    """The terminal of a run, as its user sees it."""

    def __init__(self, linked, run, *argv, rows=33, columns=91, rank=False):
        self.daemon, self.run, self.typed, self.heard = linked.daemon, run, 0, 0
        window = {"rows": rows, "columns": columns} | ({"rank": True} if rank else {})
        linked.start(run, *argv, window=window, stdin_sent=True, output_sent=True)

    def shown(self):
        pieces = {params["offset"]: params["attached"] for params in self.daemon.seen("output", self.run)}
        return b"".join(pieces[at] for at in sorted(pieces)).decode()

    def until(self, text):
        self.daemon.pump_until(lambda: text in self.shown()[self.heard:], f"{text!r} is shown")
        self.heard += self.shown()[self.heard:].index(text) + len(text)

    def type(self, text):
        self.daemon.call("input", text.encode(), run=self.run, offset=self.typed, end=False)
        self.typed += len(text)

    def hang_up(self):
        self.daemon.call("input", run=self.run, offset=self.typed, end=True)

    def end(self):
        self.daemon.expect("started", self.run)
        self.daemon.call("output_heard", run=self.run, stream=1, offset=0)

        def over():
            self.daemon.call("output_heard", run=self.run, stream=1, offset=len(self.shown()))
            return self.daemon.seen("exited", self.run)

        self.daemon.pump_until(over, "its end")
        return self.daemon.expect("exited", self.run)


def shell(linked, run, script):
    return Screen(linked, run, "sh", "-c", script)


def test_what_a_program_sees(linked):
    screen = shell(linked, 1, "stty size; test -t 0 && test -t 1 && test -t 2 && echo all three; test $(ps -o sid= -p $$) = $$ "
                   '&& test "$(tty)" = "/dev/$(ps -o tty= -p $$)" && echo controlling; exit 5')
    assert screen.end()["code"] == 5
    assert screen.shown() == "33 91\r\nall three\r\ncontrolling\r\n"


def test_all_that_it_writes(linked):
    screen = Screen(linked, 1, "seq", "1", "60000")
    assert screen.end()["code"] == 0
    assert screen.shown() == "".join(f"{number}\r\n" for number in range(1, 60001))


def test_keys(linked):
    screen = shell(linked, 1, "trap 'echo interrupted' INT; echo ready; read line; echo got $line; sh -c 'echo waits; exec sleep 1000'; "
                   "stty raw -echo; echo go; head -c 3 | od -An -tx1; exit 0")
    screen.until("ready\r\n")
    screen.type("words\n")
    screen.until("words\r\ngot words\r\n")  # the echo comes first
    screen.until("waits")
    screen.type("\x03")
    screen.until("interrupted")
    screen.until("go")
    screen.type("\x03\x1b\x1a")
    screen.until("03 1b 1a")
    assert screen.end()["code"] == 0


def test_its_size(linked):
    screen = shell(linked, 1, "trap 'stty size; exit 0' WINCH; echo ready; while :; do sleep 0.01; done")
    screen.until("ready")
    screen.daemon.call("window", run=1, rows=20, columns=50)
    screen.until("20 50")
    assert screen.end()["code"] == 0


def test_it_is_hung_up(linked):
    screen = shell(linked, 1, "trap 'exit 0' USR1; sleep 1000")
    pid = screen.daemon.expect("started", 1)["pid"]
    screen.hang_up()
    assert screen.daemon.expect("exited", 1)["signal"] == 1
    wait_until(lambda: not is_alive(pid), "nothing is left")
    Screen(linked, 2, "echo", "next")
    assert linked.daemon.expect("output", 2)["attached"] == b"next\r\n"


def test_it_is_hung_up_whatever_was_typed(linked):
    """The program reads nothing, and what it writes is heard by nobody: that keeps neither from its end."""
    screen = shell(linked, 1, "stty raw -echo; echo ready; seq 1 200000; sleep 1000")
    screen.until("ready")
    pid = screen.daemon.expect("started", 1)["pid"]
    screen.daemon.call("input", b"x" * 100000, run=1, offset=0, end=False)
    for _ in range(2):  # it may come again
        screen.daemon.call("hang_up", run=1)
    assert screen.daemon.expect("exited", 1)["signal"] == 1
    wait_until(lambda: not is_alive(pid), "nothing is left")


def test_rank_0_takes_it(linked):
    """The launcher writes there, and rank 0 makes it its own, by pleat-pmi."""
    pmi = os.path.join(BUILD, "bin", "pleat-pmi")
    script = f"""echo launcher; test -t 0 || echo reads nothing; OMPI_COMM_WORLD_RANK=1 {pmi} --terminal PLEAT_TERMINAL -- sh -c 'test -t 0 || echo 1 has none'
OMPI_COMM_WORLD_RANK=0 {pmi} --terminal PLEAT_TERMINAL -- sh -c 'stty size; test "$(ps -o tty= -p $$)" != "?" && echo mine'"""
    screen = Screen(linked, 1, "sh", "-c", script, rank=True)
    assert screen.end()["code"] == 0
    assert screen.shown() == "launcher\r\nreads nothing\r\n1 has none\r\n33 91\r\nmine\r\n"


def test_what_has_none(linked):
    linked.start(1, "sleep", "1000")
    assert "has no terminal here" in linked.daemon.fails("state", "window", run=1, rows=1, columns=1)
    assert "'stdin_sent'" in linked.daemon.fails("invalid", "start", run=2, argv=["cat"], env=[], cwd="/", stdout="/x", stderr="/x",
                                                  window={"rows": 1, "columns": 1})
