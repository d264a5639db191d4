"""A full and a read-only disk, in a mount namespace of the test's own; needs root."""

import ctypes
import os
import subprocess

import pytest

from conftest import ChaosInstance, Diary, Stubborn, check_nothing_left, diary, touch, wait_until

CLONE_NEWNS = 0x00020000

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small file system needs root")


@pytest.fixture(name="private_mounts", scope="module")
def fixture_private_mounts():
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS):
        pytest.skip(f"no mount namespace: {os.strerror(ctypes.get_errno())}")
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)


@pytest.fixture(name="pleat")
def fixture_pleat(private_mounts):
    assert private_mounts is None
    instance = ChaosInstance()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m,mode=700", "none", instance.dir], check=True)
    instance.configure()
    try:
        yield instance
        instance.finish()
    finally:
        subprocess.run(["umount", "-l", instance.dir], check=True)
        instance.clean()


def fill(path):
    with open(path, "wb", buffering=0) as file:
        try:
            while file.write(b"x" * 4096):
                pass
        except OSError:
            pass


def until(path):
    return ["sh", "-c", 'while [ ! -e "$1" ]; do sleep 0.05; done', "until", path]


def test_full_disk(pleat, tmp_path):
    go, wrote = str(tmp_path / "go"), str(tmp_path / "d-job")
    daemon = Stubborn(pleat)
    job = daemon.submit("job", diary(wrote, *until(go)), 8)
    daemon.wait(job, "runs", lambda j: j["state"] == "running" and os.path.exists(wrote))
    waits = daemon.submit("waits", diary(str(tmp_path / "d-waits"), "true"), 8)
    fill(pleat.path("filling"))
    touch(go)  # the job's end cannot be written down, unless there was just room for it: then what comes next

    def holds():
        if daemon.call("info")["holding"] is None:
            pleat.popen("submit", "--", "true")
        return daemon.call("info")["holding"]

    assert "free some space" in wait_until(holds, "the log cannot be written")
    done = pleat.pleat("submit", "--", "true", check=1)
    assert "cannot write its log" in done.stderr and "nothing is taken until it can" in done.stderr
    os.unlink(pleat.path("filling"))
    for number in (job, waits):
        assert daemon.wait_end(number)["state"] == "done"
    for name in ("d-job", "d-waits"):
        assert len(Diary(str(tmp_path / name)).begun) == 1
    assert daemon.call("info")["holding"] is None
    wait_until(lambda: not daemon.call("jobs")["jobs"], "what was held is taken, and ends")
    check_nothing_left(pleat, daemon)
    daemon.close()


def test_read_only_disk(pleat):
    daemon = Stubborn(pleat)
    assert daemon.wait_end(daemon.submit("job", ["true"]))["state"] == "done"
    daemon.close()
    pleat.connection = None
    pleat.pleat("stop", check=0)
    wait_until(lambda: subprocess.run(["mount", "-o", "remount,ro", pleat.dir], check=False,
                                      stderr=subprocess.DEVNULL).returncode == 0, "nobody writes any more")
    done = pleat.pleat("ps")
    assert done.returncode != 0 and "ead-only" in done.stderr, done.stderr
    subprocess.run(["mount", "-o", "remount,rw", pleat.dir], check=True)
    assert daemon.job(1)["state"] == "done"
    assert daemon.wait_end(daemon.submit("next", ["true"]))["state"] == "done"
    daemon.close()
