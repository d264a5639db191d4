"""The spec of a job is damaged: its checksum is wrong, it is no JSON, it is gone. No command, and no restart, ends
the daemon for that, and what runs can be ended."""

import signal
import sqlite3
import struct

import pytest

from conftest import Failure, is_alive, loop

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


@pytest.mark.parametrize("how", ["json", "missing"])
def test_a_relaunch_without_a_spec(pleat, how):
    """A job that must make room, and can be told neither that nor how to start again, is ended at once: nothing is
    left to wait for."""
    pleat.configure("relaunch_s = 1000")
    job = pleat.submit(*loop())
    pleat.wait_size(job, 8)
    pleat.wait_ranks(job, 8)
    pleat.kill_daemon()
    garble(pleat.log, how, (job,))
    pleat.call("info")
    rigid = pleat.submit("-n", "4", "--", "true")
    ended = pleat.wait_end(job)
    assert (ended["state"], ended["reason"]) == ("failed", "could not be started")
    assert f"job {job}" in ended["text"] or "spec" in ended["text"], ended
    assert pleat.wait_end(rigid)["state"] == "done"
    pleat.wait_free()


@pytest.mark.parametrize("how", ["checksum", "json", "missing"])
def test_a_damaged_environment(pleat, how):
    """Environments are stored once for many jobs: those that have it cannot start, and say why; others can."""
    running = pleat.submit("-n", "8", "--", "sleep", "1000")
    waiting = [pleat.submit("-n", "8", "--", "true") for _ in range(2)]
    pleat.wait_for(running, "running")
    pleat.kill_daemon()
    base = sqlite3.connect(pleat.log)
    shared = {row[0] for row in base.execute("SELECT shared FROM spec")}
    assert len(shared) == 1  # all of them have it
    if how == "checksum":
        base.execute("UPDATE shared SET checksum = checksum + 1")
    elif how == "missing":
        base.execute("UPDATE spec SET shared = -1")  # as a salvage says it
        base.execute("DELETE FROM shared")
    else:
        number, text = *shared, '["A=1",'
        base.execute("UPDATE shared SET text = ?, checksum = ?", (text, checksum(number, text.encode())))
    base.commit()
    base.close()
    for _ in range(2):  # and again after a restart
        daemon = pleat.daemon_pid()
        for job in (running, *waiting):
            for method, params in COMMANDS:
                try:
                    pleat.call(method, **({} if method in ("jobs", "history", "top") else {"job": job}), **params)
                except Failure:
                    pass  # such as that it is rigid
        assert is_alive(daemon)
        pleat.kill_daemon(signal.SIGTERM)
    other = pleat.submit("-n", "8", "--env", "OTHER=1", "--", "true")
    pleat.call("cancel", job=running)
    assert pleat.wait_end(running)["state"] == "cancelled"
    for job in waiting:
        ended = pleat.wait_end(job)
        assert ended["state"] in ("failed", "cancelled"), ended
        assert "lost" in ended["text"] or f"spec {job}" in ended["text"], ended
    assert pleat.wait_end(other)["state"] == "done"
    pleat.wait_free()
