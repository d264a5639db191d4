"""The spec of a job is damaged: its checksum is wrong, it is no JSON, it is gone. No command, and no restart, ends
the daemon for that, and what runs can be ended."""

import signal
import sqlite3
import struct

import pytest

from conftest import Failure, is_alive

COMMANDS = (("job", {}), ("why", {}), ("resize", {"by": 1}), ("limits", {"min": 1, "max": 3}),
            ("limits", {"limit_s": 1000}), ("jobs", {"all": True}), ("history", {}), ("top", {}))


def checksum(number, data):
    """As the store computes it: FNV-1a over number, size, bytes."""
    total = 0xcbf29ce484222325
    for byte in struct.pack("<QQ", number, len(data)) + data:
        total = (total ^ byte) * 0x100000001b3 % 2 ** 64
    return struct.unpack("<q", struct.pack("<Q", total))[0]


def garble(path, how, jobs):
    base = sqlite3.connect(path)
    for job in jobs:
        if how == "checksum":
            base.execute("UPDATE spec SET checksum = checksum + 1 WHERE id = ?", (job,))
        elif how == "missing":
            base.execute("DELETE FROM spec WHERE id = ?", (job,))
        else:  # written so: its checksum is right
            text = {"json": '{"argv":', "number": "5"}[how]
            base.execute("UPDATE spec SET text = ?, checksum = ? WHERE id = ?",
                         (text, checksum(job, text.encode()), job))
    base.commit()
    base.close()


@pytest.mark.parametrize("how", ["checksum", "json", "number", "missing"])
def test_a_damaged_spec(pleat, how):
    ended = pleat.submit("-n", "1", "--", "true")
    pleat.wait_end(ended)
    running = pleat.submit("-n", "2", "--", "sleep", "1000")
    waiting = pleat.submit("-n", "8", "--", "true")
    pleat.wait_for(running, "running")
    pleat.kill_daemon()
    garble(pleat.log, how, (running, waiting, ended))
    for _ in range(2):  # and again after a restart
        daemon = pleat.daemon_pid()
        for job in (running, waiting, ended):
            for method, params in COMMANDS:
                try:
                    pleat.call(method, **({} if method in ("jobs", "history", "top") else {"job": job}), **params)
                except Failure:
                    pass  # it says what is wrong
            assert is_alive(daemon)
        pleat.kill_daemon(signal.SIGTERM)
    daemon = pleat.daemon_pid()
    pleat.call("cancel", job=running)
    assert pleat.wait_end(running)["state"] == "cancelled"
    if pleat.job(waiting)["state"] not in ("failed", "cancelled"):
        assert pleat.wait_end(waiting)["state"] in ("failed", "cancelled")
    pleat.wait_free()
    pleat.pleat("clean", str(ended), check=None)
    assert pleat.daemon_pid() == daemon
