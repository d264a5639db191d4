"""The system's clock jumps, while pleatd runs and while it does not: deadlines and waiting go by time that really
went by, times in the log never go back, and no job seems to have run for a year."""

import glob
import os

import pytest

from conftest import ChaosInstance, Stubborn, check_nothing_left, touch, until_file

FAKETIME = (glob.glob("/usr/lib/*/faketime/libfaketime.so.1") or [None])[0]


@pytest.fixture(name="pleat")
def fixture_pleat():
    instance = ChaosInstance()
    # only the clock of the day: the monotonic one cannot jump
    instance.env.update(LD_PRELOAD=FAKETIME, FAKETIME_TIMESTAMP_FILE=instance.path("now"), FAKETIME_NO_CACHE="1",
                        FAKETIME_DONT_FAKE_MONOTONIC="1", FAKETIME_DISABLE_SHM="1", DONT_FAKE_MONOTONIC="1")
    set_clock(instance, "+0")
    before = set(leftovers())
    try:
        yield instance
        instance.finish()
    finally:
        instance.clean()
        for path in set(leftovers()) - before:  # a killed process leaves the library's behind
            if not os.path.exists(f"/proc/{path.rsplit('_', 1)[1]}"):
                os.unlink(path)


def leftovers():
    return glob.glob("/dev/shm/faketime_shm_*") + glob.glob("/dev/shm/sem.faketime_sem_*")


def set_clock(instance, offset):
    with open(instance.path("now.new"), "w", encoding="ascii") as file:
        file.write(offset + "\n")
    os.rename(instance.path("now.new"), instance.path("now"))


def reserved(daemon, name):
    """Waits for its time, which comes in a second."""
    return daemon.submit(name, ["true"], begin_in_s=1.0, estimate_s=5)


@pytest.mark.skipif(FAKETIME is None, reason="libfaketime is not installed")
@pytest.mark.parametrize("offset", ["-86400", "+31536000"])
@pytest.mark.parametrize("restart", [False, True])
def test_clock_jumps(pleat, offset, restart):
    go = pleat.path("go")
    daemon = Stubborn(pleat)
    running = daemon.submit("running", until_file(go)[1:], 2)
    daemon.wait(running, "runs", lambda job: job["state"] == "running")
    waits = reserved(daemon, "waits")
    if restart:
        daemon.close()
        pleat.kill_daemon()
    set_clock(pleat, offset)
    assert daemon.wait_end(waits)["state"] == "done"
    later = reserved(daemon, "later")
    assert daemon.wait_end(later)["state"] == "done"
    job = daemon.job(running)
    assert job["state"] == "running" and 0 <= job["run_s"] < 3600, job
    touch(go)
    job = daemon.wait_end(running)
    assert job["attempt"] == 0 and 0 < job["end_s"] - job["start_s"] < 3600, job
    times = [event["time_s"] for event in daemon.call("events", limit=2000)["events"]]
    assert times == sorted(times) and times[-1] - times[0] < 3600
    check_nothing_left(pleat, daemon)
    daemon.close()


@pytest.mark.skipif(FAKETIME is None, reason="libfaketime is not installed")
def test_clock_is_set_back_while_nothing_runs(pleat):
    daemon = Stubborn(pleat)
    daemon.wait_end(daemon.submit("first", ["true"]))
    daemon.close()
    pleat.kill_daemon()
    set_clock(pleat, "-86400")
    later = reserved(daemon, "later")
    job = daemon.wait_end(later)
    assert job["state"] == "done" and job["submit_s"] >= daemon.job(1)["end_s"]
    with open(pleat.path("pleatd.log"), encoding="utf-8") as file:
        assert "s behind the last record of the log: time goes on from that record" in file.read()
    daemon.close()
