"""Hundreds of agents that call at one instant, each an own process with an own connection, above a cluster that is not there
(bench/cluster/standin.py), while strangers have all the room that there is for callers of this host. Those that are turned
away, for longer than an agent usually looks for pleatd, call again, and all get in: none ends, and none is started twice."""

import contextlib
import pathlib
import socket
import sys
import threading
import time

from conftest import wait_until

STANDIN = pathlib.Path(__file__).resolve().parents[3] / "bench/cluster/standin.py"
AGENTS = 320
STRANGERS = 40  # more than pleatd has room for
LONG_S = 300  # hundreds of processes start
NO_ROOM_S = 12  # agents that are not told otherwise end after 10 s


class Strangers:
    """They call, say nothing, and call again when they are turned away."""

    def __init__(self, port):
        self.port, self.over = port, threading.Event()
        self.threads = [threading.Thread(target=self.stay, daemon=True) for _ in range(STRANGERS)]
        for thread in self.threads:
            thread.start()

    def stay(self):
        while not self.over.is_set():
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1) as call:
                call.settimeout(0.2)
                while not self.over.is_set():
                    with contextlib.suppress(TimeoutError):
                        if not call.recv(1):
                            break
            self.over.wait(0.05)

    def leave(self):
        self.over.set()
        for thread in self.threads:
            thread.join()


def test_all_get_in(pleat):
    starts, standin = pathlib.Path(pleat.path("starts")), pathlib.Path(pleat.path("standin"))
    starts.touch()
    standin.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{STANDIN}" --nodes {AGENTS} --cpus 1 --from 1 --gives {AGENTS} '
                       f'--starts "{starts}" "$@"\n')
    standin.chmod(0o700)
    pleat.configure(text=f'site "c" {{ kind = slurm adapter = "{standin}" processors = {AGENTS} agent_s = 300 }}\n'
                         'idle_exit_s = 0\nagent_listen = "127.0.0.1"\nclaim_s = 300\n')
    pleat.call("info")

    def started():
        return len(starts.read_text().splitlines())

    def running():
        return pleat.call("top", limit=1)["counts"].get("running", 0)

    strangers = Strangers(int(pathlib.Path(pleat.path("agents.port")).read_text()))
    try:
        pleat.pleat("submit", "--array", f"1-{AGENTS}", "-n", 1, "--", "sleep", 1000, check=0)
        wait_until(lambda: started() == AGENTS, "all agents are started", LONG_S)
        time.sleep(NO_ROOM_S)
        assert running() < AGENTS
    finally:
        strangers.leave()
    wait_until(lambda: running() == AGENTS, "all of them have called, and run their jobs", LONG_S)
    assert started() == AGENTS, "some have ended, and others were started"
    log = pathlib.Path(pleat.path("pleatd.log")).read_text()
    assert "callers turned away at the port for agents" in log, log
    pleat.pleat("stop", "--force", check=0)
