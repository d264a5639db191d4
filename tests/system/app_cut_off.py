#!/usr/bin/env python3
"""A test of libpleat that is killed leaves nothing running.

usage: app_cut_off.py DRIVER SCENARIO MPI PROGRAM
"""

import os
import pathlib
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from patience import PATIENCE  # noqa: E402

LIMIT_S = 60 * PATIENCE


def marked(mark):
    """Processes with that entry in their environment."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                if any(entry.startswith(mark) for entry in file.read().split(b"\0")):
                    found.append(int(name))
        except OSError:
            pass
    return found


def wait_until(condition, what):
    end = time.monotonic() + LIMIT_S
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"not in {LIMIT_S} s: {what}")
        time.sleep(0.05)


def main():
    program = os.path.basename(sys.argv[4])
    driver = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    mark = b"PLEAT_TEST_JOB=%d." % driver.pid

    def ranks():
        return [pid for pid in marked(mark) if os.path.basename(os.path.realpath(f"/proc/{pid}/exe")) == program]
    try:
        wait_until(lambda: ranks() or driver.poll() is not None, "it has ranks")
        if driver.poll() is not None:
            sys.exit("it has ended by itself")
        driver.send_signal(signal.SIGKILL)
        driver.wait()
        wait_until(lambda: not marked(mark), "all that it started has ended")
    finally:
        driver.kill()
        for pid in marked(mark):
            os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
