"""The live view: what it draws, what its keys do, and that it leaves the terminal as it was."""

import copy
import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import time

import pytest
from conftest import PLEAT
from story import T0

FRAME = {
    "now_s": T0 + 50, "pid": 1, "started_s": T0, "holding": None,
    "policies": {"approach": "pwa", "queue": "fcfs", "malleability": "egs"},
    "counts": {"running": 2, "queued": 1, "done": 1},
    "sites": [{"name": "local", "processors": 8, "free": 1, "used": 6, "background": 1,
               "threshold": 0}],
    "jobs": [
        {"job": 1, "name": "heat", "state": "running", "kind": "malleable", "min": 2, "max": 8,
         "processors": 4, "target": 4, "site": "local", "submit_s": T0, "start_s": T0 + 1,
         "end_s": None, "attempt": 0, "priority": 0, "resize": None, "why": None, "reason": None,
         "exit_code": None, "signal": None, "text": None,
         "progress": {"iteration": 120, "iteration_s": 0.05}},
        {"job": 2, "name": "a-name-that-is-longer-than-its-column", "state": "resizing",
         "kind": "malleable", "min": 1, "max": 4, "processors": 2, "target": 1, "site": "local",
         "submit_s": T0 + 2, "start_s": T0 + 3, "end_s": None, "attempt": 0, "priority": 0,
         "resize": {"from": 2, "to": 1, "step": "granted", "by": "policy"}, "why": None,
         "reason": None, "exit_code": None, "signal": None, "text": None, "progress": None},
        {"job": 3, "name": "waiter", "state": "queued", "kind": "rigid", "min": 4, "max": 4,
         "processors": 0, "target": 0, "site": None, "submit_s": T0 + 40, "start_s": None,
         "end_s": None, "attempt": 0, "priority": 0, "resize": None,
         "why": {"code": "processors", "need": 4, "free": 1, "behind": None, "until_s": None,
                 "earmarked": 0, "coming": 0},
         "reason": None, "exit_code": None, "signal": None, "text": None, "progress": None}],
    "left_out": 0}
ENDED = dict(FRAME["jobs"][0], job=9, name="over", state="done", reason="exited", exit_code=0,
             processors=0, end_s=T0 + 45)


def frames(params, _connection):
    frame = copy.deepcopy(FRAME)
    frame["now_s"] = time.time()  # the clock goes on: the first line changes
    if params["ended"]:
        frame["jobs"].append(ENDED)
    return frame


class Terminal:
    """pleat on a terminal of that size; what is on it, by the few sequences that pleat uses."""

    def __init__(self, cli, *args, size=(12, 78), env=None, controls=True):
        self.ours, self.theirs = pty.openpty()
        self.resize(*size)
        self.before = termios.tcgetattr(self.theirs)
        self.process = subprocess.Popen(
            [PLEAT, "top", *args], env=dict(cli.env, **(env or {})), stdin=self.theirs,
            stdout=self.theirs, stderr=self.theirs, start_new_session=controls,
            preexec_fn=(lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)) if controls else os.setpgrp)
        os.set_blocking(self.ours, False)
        self.bytes = b""
        self.lines = {}

    def resize(self, rows, columns):
        fcntl.ioctl(self.theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self):
        try:
            self.bytes += os.read(self.ours, 65536)
        except (BlockingIOError, OSError):
            pass
        text = re.sub(r"\x1b\[[0-9;]*m|\x1b\[K", "", self.bytes.decode(errors="replace"))
        self.lines = {}
        for part in re.split(r"(?=\x1b\[(?:\d+;1H|2J))", text):
            at = re.match(r"\x1b\[(\d+);1H([^\x1b]*)", part)
            if part.startswith("\x1b[2J"):
                self.lines = {}
            if at:
                self.lines[int(at[1])] = at[2]
        return "\n".join(self.lines.get(i, "") for i in range(1, 60))

    def until(self, condition, what, limit=30):
        end = time.monotonic() + limit
        while not condition(self.read()):
            assert time.monotonic() < end, f"not within {limit} s: {what}\n{self.read()}"
            time.sleep(0.01)

    def key(self, text):
        os.write(self.ours, text.encode())

    def end(self, expected):
        assert self.process.wait(30) == expected
        self.read()
        assert self.bytes.startswith(b"\x1b[?1049h") and self.bytes.endswith(b"\x1b[?1049l")
        assert b"\x1b[?25h\x1b[?1049l" in self.bytes  # with its cursor
        assert termios.tcgetattr(self.theirs) == self.before
        os.close(self.ours)
        os.close(self.theirs)


@pytest.fixture
def top(cli):
    made = []

    def start(*args, **more):
        made.append(Terminal(cli, *args, **more))
        return made[-1]

    yield start
    for terminal in made:
        terminal.process.kill()
        terminal.process.wait()


def test_one_frame_in_a_pipe(cli):
    with cli.fake({"top": FRAME}) as fake:
        done = cli("top")
        assert fake.asked("top") == [{"limit": 400, "ended": 0}]
        assert cli("top", "--once").stdout == done.stdout
        assert json.loads(cli("top", "--json").stdout) == FRAME
    assert done.returncode == 0 and "\x1b" not in done.stdout
    lines = done.stdout.splitlines()
    assert "2 running, 1 waiting  (pwa, fcfs, egs)" in lines[0]
    assert lines[1] == "local [AAAABB.#] 6 of 8 used, 75 %, 1 by others (#), 1 free"
    assert lines[2].split() == "JOB NAME STATE PROCS RANGE ITERATION EACH TIME REMARK".split()
    assert lines[3].split()[:8] == ["A", "1", "heat", "running", "4", "2-8", "120", "50"]
    assert "2>1" in lines[4] and lines[4].endswith("granted -> 1")
    assert lines[5].endswith("needs 4, 1 free")
    assert len(lines) == 6


@pytest.mark.parametrize("columns", [20, 40, 60, 80, 120])
def test_no_line_is_wider_than_the_terminal(cli, columns):
    with cli.fake({"top": FRAME}):
        for locale in ("C.UTF-8", "C"):
            lines = cli("top", env={"COLUMNS": str(columns), "LC_ALL": locale}).stdout.splitlines()
            assert max(map(len, lines)) <= columns
            assert len(lines) == 6


def test_sorting(cli):
    def order(*args):
        lines = cli("top", *args).stdout.splitlines()[3:]
        return [int(re.search(r"\d+", line)[0]) for line in lines]

    with cli.fake({"top": FRAME}):
        assert order("--sort", "name") == [2, 1, 3]
        assert order("--sort", "processors") == [1, 2, 3] == order()
        assert cli("top", "--sort", "colour").returncode == 2
        assert cli("top", "--interval", "0").returncode == 2


def test_live_view_and_its_keys(cli, top):
    with cli.fake({"top": frames}) as fake:
        screen = top("--interval", "0.1", size=(9, 78))
        screen.until(lambda text: "needs 4, 1 free" in text and "q quit" in text, "a frame")
        fake.wait_asked("top", 5)
        screen.key("s")
        screen.until(lambda text: "sort: job" in text, "sorted by job")
        screen.key("r")
        screen.until(lambda text: "(reversed)" in text and text.index("waiter") < text.index("heat"),
                     "in the other direction")
        screen.key("e")
        screen.until(lambda text: "over" in text, "with the last ended ones")
        screen.key("h")
        screen.until(lambda text: "any key goes back" in text, "the help")
        screen.key("x")
        screen.until(lambda text: "needs 4, 1 free" in text, "the jobs again")
        screen.key("p")
        screen.until(lambda text: "PAUSED" in text, "paused")
        screen.key("q")
        screen.end(0)
        painted = screen.bytes.decode()
    # the table's titles were painted for the first frame and after the help, not for every frame
    assert painted.count("REMARK") == 2 and painted.count("\x1b[1;1H") > 2


def test_scrolling_where_there_are_more_jobs_than_lines(cli, top):
    many = dict(FRAME, jobs=[dict(FRAME["jobs"][0], job=i, name=f"n{i}") for i in range(1, 30)])
    with cli.fake({"top": many}):
        screen = top(size=(8, 78))
        screen.until(lambda text: "n4" in text and "j more below" in text, "the first ones")
        assert "n5" not in screen.read()
        screen.key("j")
        screen.until(lambda text: "n5" in text and "n1 " not in text, "one further")
        screen.key("\x1b[A")
        screen.until(lambda text: "n1 " in text, "back")
        screen.key("q")
        screen.end(0)


def test_another_size_of_the_window(cli, top):
    with cli.fake({"top": FRAME}):
        screen = top(size=(12, 40))
        screen.until(lambda text: "heat" in text, "narrow")
        assert "ITERATION" not in screen.read()
        screen.resize(20, 100)
        screen.process.send_signal(signal.SIGWINCH)
        screen.until(lambda text: "ITERATION" in text, "wide")
        screen.key("q")
        screen.end(0)


@pytest.mark.parametrize("how, code", [("\x03", 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_the_terminal_is_put_back(cli, top, how, code):
    with cli.fake({"top": FRAME}):
        screen = top()
        screen.until(lambda text: "heat" in text, "a frame")
        if isinstance(how, str):
            screen.key(how)
        else:
            screen.process.send_signal(how)
        screen.end(code)


def test_ctrl_z(cli, top):
    with cli.fake({"top": FRAME}):
        screen = top(controls=False)  # a group of its own in our session, or it could not be stopped
        screen.until(lambda text: "heat" in text, "a frame")
        screen.process.send_signal(signal.SIGTSTP)
        screen.until(lambda _: screen.bytes.endswith(b"\x1b[?1049l"), "the terminal is given back")
        screen.process.send_signal(signal.SIGCONT)
        screen.until(lambda text: screen.bytes.count(b"\x1b[?1049h") == 2 and "heat" in text,
                     "taken again")
        screen.key("q")
        screen.end(0)


def test_a_daemon_that_ends_is_waited_for(cli, top):
    fake = cli.fake({"top": FRAME})
    screen = top("--interval", "0.1", size=(12, 100))
    screen.until(lambda text: "heat" in text, "a frame")
    fake.close()
    screen.until(lambda text: "pleatd has ended" in text and "heat" in text, "it says so")
    with cli.fake({"top": frames}):
        screen.until(lambda text: "connected again at" in text, "connected again")
        screen.key("q")
        screen.end(0)


def test_a_dumb_terminal_gets_one_frame(cli, top):
    with cli.fake({"top": FRAME}):
        screen = top(env={"TERM": "dumb"})
        assert screen.process.wait(30) == 0
        screen.read()
        assert b"heat" in screen.bytes and b"\x1b" not in screen.bytes


def test_no_colour(cli, top):
    with cli.fake({"top": FRAME}):
        screen = top("--no-color")
        screen.until(lambda text: "heat" in text, "a frame")
        screen.key("q")
        screen.end(0)
    assert not re.search(rb"\x1b\[[0-9;]*[1-9]m", screen.bytes)


@pytest.mark.parametrize("answer", [
    {}, {"jobs": None}, {"jobs": [None, 3, {}, {"job": "x", "name": 7, "processors": -5, "why": 3}]},
    {"sites": [None, {}, {"name": 3, "processors": -4}, {"processors": 2**60, "background": -1}],
     "jobs": [{"site": "", "processors": 2**62}]}], ids=range(4))
def test_nonsense(cli, answer):
    with cli.fake({"top": answer}):
        done = cli("top", env={"COLUMNS": "70"})
    assert done.returncode == 0 and done.stderr == ""


@pytest.mark.parametrize("buffer, remark", [
    ({"prepared": 2, "coming": 1, "leaving": 0, "requests": 5, "satisfied": 4, "waiting": 3, "satisfaction": 0.8, "waste": 0.052},
     "2 ready, 1 coming, 3 waited for, S 80 %, W 5 %"),
    ({"prepared": 0, "coming": 0, "leaving": 0, "requests": 0, "satisfied": 0, "waiting": 0, "satisfaction": None, "waste": 0}, "-"),
    (None, "-")])
def test_an_evolving_job(cli, buffer, remark):
    """What is prepared and waited for, S and W, while there is nothing more urgent to say."""
    frame = copy.deepcopy(FRAME)
    frame["jobs"][0]["buffer"] = frame["jobs"][1]["buffer"] = buffer
    with cli.fake({"top": frame}):
        lines = cli("top", "--once").stdout.splitlines()
    heat, resizing = (next(line for line in lines if re.match(rf". +{job} ", line)) for job in (1, 2))
    assert heat.endswith(" " + remark), heat
    assert resizing.endswith("granted -> 1"), resizing
