import fcntl
import os
import pathlib
import pty
import shutil
import struct
import subprocess
import sys
import tempfile
import termios

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import fake_pleatd  # noqa: E402
import story  # noqa: E402

PLEAT = str(pathlib.Path(os.environ["PLEAT_BUILD"]) / "bin" / "pleat")


class Cli:
    """Runs pleat in a private directory."""

    def __init__(self, path):
        self.path = path
        self.env = {k: v for k, v in os.environ.items()
                    if k not in ("COLUMNS", "NO_COLOR", "LC_ALL", "LANG")}
        self.env.update(PLEAT_DIR=path, LC_ALL="C.UTF-8", TERM="xterm-256color")
        self.fakes = []

    def fake(self, answers=None, **more):
        fake = fake_pleatd.FakeDaemon(self.path, story.answers() if answers is None else answers,
                                      **more)
        self.fakes.append(fake)
        return fake

    def start(self, *args, **more):
        env = dict(self.env, **more.pop("env", {}))
        return subprocess.Popen([PLEAT, *args], env=env, **more)

    def __call__(self, *args, env=None, **more):
        return subprocess.run([PLEAT, *args], env=dict(self.env, **(env or {})), timeout=60,
                              stdout=more.pop("stdout", subprocess.PIPE), stderr=subprocess.PIPE,
                              text=True, **more)


def on_terminal(cli, *args, env=None, size=(24, 80)):
    """What pleat writes to a terminal of that many rows and columns, and its exit code."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
    process = subprocess.Popen([PLEAT, *args], env=dict(cli.env, **(env or {})), stdin=theirs,
                               stdout=theirs, stderr=theirs)
    os.close(theirs)
    text = b""
    while True:
        try:
            some = os.read(ours, 65536)
        except OSError:  # the last one that had it open has closed it
            break
        text += some
    os.close(ours)
    return text.decode(), process.wait(60)


@pytest.fixture
def cli():
    path = tempfile.mkdtemp(prefix="plc", dir="/tmp")
    made = Cli(path)
    yield made
    for fake in made.fakes:
        fake.close()
    made("stop", "--force")  # of a real daemon that a command may have started; starts none itself
    shutil.rmtree(path)
