"""A terminal in which a test starts a program, and types."""

import fcntl
import os
import pty
import select
import struct
import termios
import time

from patience import PATIENCE


class Terminal:
    """The program gets self.slave, and runs take_it first. What was shown, and no test has looked at yet, is in self.text."""

    def __init__(self, limit_s, rows=33, columns=91):
        self.limit_s = limit_s
        self.fd, self.slave = pty.openpty()
        self.resize(rows, columns)
        self.usual = termios.tcgetattr(self.slave)
        self.text = ""

    @staticmethod
    def take_it():
        """Makes descriptor 0 the terminal of this session."""
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def more(self):
        """What is said besides when something has not come."""
        return ""

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, wait_s):
        if select.select([self.fd], [], [], wait_s)[0]:
            self.text += os.read(self.fd, 65536).decode()

    def read_until(self, condition, what):
        end = time.monotonic() + self.limit_s * PATIENCE
        while not condition():
            assert time.monotonic() < end, (what, self.text, self.more())
            self.read(0.1)

    def until(self, wanted):
        """What was shown up to there, which is forgotten."""
        self.read_until(lambda: wanted in self.text, wanted)
        shown, self.text = self.text.split(wanted, 1)
        return shown

    def type(self, text):
        os.write(self.fd, text.encode())

    def is_usual(self):
        return termios.tcgetattr(self.slave) == self.usual

    def read_rest(self):
        while select.select([self.fd], [], [], 0)[0]:
            self.read(0)

    def close(self):
        os.close(self.slave)
        os.close(self.fd)
