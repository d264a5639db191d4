"""A terminal on a cluster's first host, with `pleat run --pty` in its foreground."""

import fcntl
import os
import pty
import select
import struct
import termios
import time

from .pleat import BIN
from .world import LIMIT_S, USER, wait_until


class Screen:
    def __init__(self, pleat, *words, rows=33, columns=91):
        self.pleat = pleat
        self.fd, self.slave = pty.openpty()
        self.resize(rows, columns)
        self.usual = termios.tcgetattr(self.slave)
        self.text = ""
        self.process = pleat.head.start(f"{BIN}/pleat", "run", "--pty", *words, user=USER, env=pleat.env | {"TERM": "dumb"},
                                        stdin=self.slave, stdout=self.slave, stderr=self.slave, start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, wait_s):
        if select.select([self.fd], [], [], wait_s)[0]:
            self.text += os.read(self.fd, 65536).decode()

    def until(self, wanted):
        """What was shown up to there, which is forgotten."""
        end = time.monotonic() + LIMIT_S
        while wanted not in self.text:
            assert time.monotonic() < end, (wanted, self.text, self.pleat.log())
            self.read(0.1)
        shown, self.text = self.text.split(wanted, 1)
        return shown

    def type(self, text):
        os.write(self.fd, text.encode())

    def is_usual(self):
        return termios.tcgetattr(self.slave) == self.usual

    def end(self):
        """The exit code; all that was shown since is in `text`; the terminal is as it was."""
        end = time.monotonic() + LIMIT_S
        while not self.process.has_ended():
            assert time.monotonic() < end, (self.text, self.pleat.log())
            self.read(0.1)
        while select.select([self.fd], [], [], 0)[0]:
            self.read(0)
        wait_until(self.is_usual, "the terminal is as it was")
        os.close(self.slave)
        os.close(self.fd)
        return self.process.wait()
