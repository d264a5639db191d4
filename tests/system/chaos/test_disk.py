"""A full and a read-only disk, in a mount namespace of the test's own; needs root."""

import contextlib
import ctypes
import errno
import os
import shutil
import signal
import subprocess
import sys

import pytest

from conftest import (HERE, PATIENCE, ChaosInstance, Diary, Stubborn, check_nothing_left, diary, holders, is_alive, kill, touch,
                      wait_until)

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


def one_runs_and_one_waits(daemon, tmp_path, **more):
    """Two jobs, of which the first ends when the file "go" is there. What they write: "d-job", "d-waits"."""
    job = daemon.submit("job", diary(str(tmp_path / "d-job"), *until(str(tmp_path / "go"))), 8, **more)
    daemon.wait(job, "runs", lambda j: j["state"] == "running" and os.path.exists(tmp_path / "d-job"))
    return job, daemon.submit("waits", diary(str(tmp_path / "d-waits"), "true"), 8, **more)


def why_it_holds(instance, daemon):
    """Submits jobs until the log cannot be written; what is said of that."""
    def holds():
        if daemon.call("info")["holding"] is None:
            instance.popen("submit", "--", "true")
        return daemon.call("info")["holding"]
    return wait_until(holds, "the log cannot be written")


def test_full_disk(pleat, tmp_path):
    go, wrote = str(tmp_path / "go"), str(tmp_path / "d-job")
    daemon = Stubborn(pleat)
    job, waits = one_runs_and_one_waits(daemon, tmp_path)
    fill(pleat.path("filling"))
    assert "free some space" in why_it_holds(pleat, daemon)
    # the last one (or several, submitted in one turn) is in no log, and nobody was told that it is a job
    jobs = daemon.call("jobs")["jobs"]
    left_out = sum(not one.get("taken", True) for one in jobs)
    assert left_out and [one.get("taken", True) for one in jobs] == [True] * (len(jobs) - left_out) + [False] * left_out
    untaken = jobs[-1]
    not_yet = "not submitted yet: pleatd cannot write it into its log (cannot write "
    assert untaken["state"] == "queued" and untaken["reason"].startswith(not_yet)
    assert "free some space" in untaken["reason"]
    whole = daemon.job(untaken["job"])
    assert whole["taken"] is False
    # nothing that was decided about it counts
    assert [whole[name] for name in ("processors", "target", "site", "slots", "start_s")] == [0, 0, None, [], None]
    words = " ".join(pleat.pleat("ps", check=0).stdout.split())
    assert not_yet in words.split(f" {untaken['job']} ")[-1] and words.count("not submitted yet") == left_out
    why = " ".join(pleat.pleat("why", str(untaken["job"]), check=0).stdout.split())
    assert "it is not submitted yet" in why and "free some space" in why and "started" not in why
    shown = [one for one in daemon.call("top", limit=99)["jobs"] if one["job"] == untaken["job"]]
    assert [(one["state"], one["taken"], one["why"]) for one in shown] == [("queued", False, None)]
    assert shown[0]["reason"].startswith(not_yet)
    assert "log not written" in pleat.pleat("info", check=0).stdout
    touch(go)  # the job's end cannot be written down
    done = pleat.pleat("submit", "--", "true", check=1)
    assert "cannot write its log" in done.stderr and "refused until it can" in done.stderr
    os.unlink(pleat.path("filling"))
    for number in (job, waits):
        assert daemon.wait_end(number)["state"] == "done"
    for name in ("d-job", "d-waits"):
        assert len(Diary(str(tmp_path / name)).begun) == 1
    assert daemon.call("info")["holding"] is None
    wait_until(lambda: not daemon.call("jobs")["jobs"], "what was held is taken, and ends")
    assert "taken" not in daemon.job(untaken["job"])
    check_nothing_left(pleat, daemon)
    daemon.close()


def test_a_job_fills_the_disk(pleat, tmp_path):
    """With its output, which is where the log is. It is told so itself; another one runs on; its end waits."""
    go, wrote, end = (str(tmp_path / name) for name in ("go", "d-other", "end"))
    daemon = Stubborn(pleat)
    other = daemon.submit("other", diary(wrote, *until(go)), 4)
    daemon.wait(other, "runs", lambda j: j["state"] == "running" and os.path.exists(wrote))
    # as much as there is room for, in ever smaller pieces
    script = 'trap "" PIPE; for size in 65536 512 1; do dd if=/dev/zero bs=$size; done; echo $? > "$1"; exit 9'
    fills = daemon.submit("fills", ["sh", "-c", script, "fills", end], 4)
    wait_until(lambda: os.path.exists(end) and os.path.getsize(end), "the disk is full")
    with open(end, encoding="ascii") as file:
        assert file.read() == "1\n", "it was not told"

    def holds():
        if daemon.call("info")["holding"] is None:
            pleat.popen("submit", "--", "true")
        return daemon.call("info")["holding"]

    assert "free some space" in wait_until(holds, "the log cannot be written")
    done = pleat.pleat("submit", "--", "true", check=1)
    assert "refused until it can" in done.stderr
    assert [job["name"] for job in daemon.call("jobs", all=True)["jobs"]][:2] == ["other", "fills"]
    assert pleat.job_pids(other)
    os.truncate(daemon.job(fills)["stdout"], 0)
    job = daemon.wait_end(fills)
    assert (job["state"], job["exit_code"], job["attempt"]) == ("failed", 9, 0)
    assert daemon.job(other)["state"] == "running"
    touch(go)
    assert daemon.wait_end(other)["state"] == "done" and len(Diary(wrote).begun) == 1
    wait_until(lambda: not daemon.call("jobs")["jobs"], "what was held is taken, and ends")
    check_nothing_left(pleat, daemon)
    daemon.close()


@pytest.fixture(name="on_disk")
def fixture_on_disk(private_mounts, tmp_path):
    """An instance on a file system that can be made read-only while files are open in it, as the kernel does it after
    an error of the disk."""
    assert private_mounts is None
    image = str(tmp_path / "disk")
    with open(image, "wb") as file:
        file.truncate(16 << 20)
    instance = ChaosInstance()
    instance.image = image
    if not shutil.which("mkfs.ext4") or subprocess.run(["mkfs.ext4", "-q", image], check=False).returncode or \
            subprocess.run(["mount", "-o", "loop", image, instance.dir], check=False).returncode:
        instance.clean()
        pytest.skip("no ext4 in a file can be mounted here")
    os.chmod(instance.dir, 0o700)
    instance.configure()
    subprocess.run(["sync", "-f", instance.dir], check=True)  # what pleatd writes it puts on the disk itself
    try:
        yield instance
        instance.finish()
    finally:
        for pid in holders(instance.dir):
            kill(pid)
        wait_until(lambda: not holders(instance.dir), "nobody holds the disk")
        subprocess.run(["umount", instance.dir], check=True)
        instance.clean()


def test_the_disk_becomes_read_only(on_disk, tmp_path):
    """pleatd says so and waits, jobs run on. The disk can only be written again when no process has it open: then what
    the log knows goes on, as after any death of pleatd and its agent."""
    go = str(tmp_path / "go")
    daemon = Stubborn(on_disk)
    job = daemon.submit("job", diary(str(tmp_path / "d-job"), *until(go)), 8)
    daemon.wait(job, "runs", lambda j: j["state"] == "running" and os.path.exists(str(tmp_path / "d-job")))
    waits = daemon.submit("waits", diary(str(tmp_path / "d-waits"), "true"), 8)
    first = min(on_disk.job_pids(job))
    subprocess.run(["mount", "-o", "remount,abort", on_disk.dir], check=True)

    def holds():
        if daemon.call("info")["holding"] is None:
            on_disk.popen("submit", "--", "true")
        return daemon.call("info")["holding"]

    assert wait_until(holds, "the log cannot be written")
    done = on_disk.pleat("submit", "--", "true", check=1)
    assert "cannot write its log" in done.stderr and "refused until it can" in done.stderr
    assert [job["state"] for job in daemon.call("jobs")["jobs"]][:2] == ["running", "queued"]
    assert is_alive(first)
    assert "refused until it can" in on_disk.pleat("stop", "--force", check=1).stderr

    pids = holders(on_disk.dir)
    daemon.close()
    on_disk.connection = None
    assert pids

    def let_go():  # some end by themselves, such as a script's sleep; who is killed late may start an agent before
        left = holders(on_disk.dir)
        for pid in left:
            kill(pid)
        return not left
    wait_until(let_go, "nobody holds the disk")
    subprocess.run(["umount", on_disk.dir], check=True)
    assert subprocess.run(["e2fsck", "-p", on_disk.image], check=False, stdout=subprocess.DEVNULL).returncode in (0, 1)
    subprocess.run(["mount", "-o", "loop", on_disk.image, on_disk.dir], check=True)
    touch(go)
    for number in (job, waits):
        assert daemon.wait_end(number)["state"] == "done", daemon.job(number)
    assert len(Diary(str(tmp_path / "d-job")).begun) == 2 and len(Diary(str(tmp_path / "d-waits")).begun) == 1
    assert not Diary(str(tmp_path / "d-job")).overlaps
    check_nothing_left(on_disk, daemon)
    daemon.close()


def read(path):
    with open(path, encoding="ascii") as file:
        return file.read()


def is_waiting_for_a_disk(pid):
    return read(f"/proc/{pid}/stat").rsplit(")", 1)[1].split()[0] == "D"


@pytest.mark.skipif(not shutil.which("fsfreeze"), reason="no fsfreeze")
def test_the_disk_hangs(on_disk, tmp_path):
    """Processes that write to the disk wait as long as it is frozen: jobs run on, commands that come then say within
    their bound that pleatd does not answer; when it goes on, so does everything, and nothing has run twice."""
    go, wrote = str(tmp_path / "go"), str(tmp_path / "d-job")
    daemon = Stubborn(on_disk)
    # its output is elsewhere, or it would hang, too
    job = daemon.submit("job", diary(wrote, *until(go)), 8, output="/dev/null", error="/dev/null")
    daemon.wait(job, "runs", lambda j: j["state"] == "running" and os.path.exists(wrote))
    waits = daemon.submit("waits", diary(str(tmp_path / "d-waits"), "true"), 8, output="/dev/null", error="/dev/null")
    daemon.close()
    subprocess.run(["fsfreeze", "--freeze", on_disk.dir], check=True)
    try:
        asked = on_disk.popen("cancel", waits)  # pleatd takes it, and waits for the disk: so does this
        pid = int(read(on_disk.path("pleatd.lock")).split()[0])
        wait_until(lambda: is_waiting_for_a_disk(pid), "pleatd waits for the disk")
        done = on_disk.pleat("ps", timeout=30)
        assert done.returncode == 3 and "does not answer in time" in done.stderr, done.stderr
        assert on_disk.path("") in done.stderr and "file system" in done.stderr, done.stderr
        touch(go)  # the job ends meanwhile
        wait_until(lambda: Diary(wrote).ended, "the job has ended")
    finally:
        subprocess.run(["fsfreeze", "--unfreeze", on_disk.dir], check=True)
    assert daemon.wait_end(job)["state"] == "done"
    assert asked.wait(60) == 0 and daemon.wait_end(waits)["state"] == "cancelled"
    assert len(Diary(wrote).begun) == 1
    check_nothing_left(on_disk, daemon)
    daemon.close()


@contextlib.contextmanager
def loopback(place, behind):
    """A file system in user space at `place`; its process."""
    os.makedirs(behind, mode=0o700)
    with subprocess.Popen([sys.executable, os.path.join(HERE, "loopback_fuse.py"), str(behind), str(place)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        if server.stdout.readline() != "mounted\n":
            pytest.skip(server.communicate()[1])
        try:
            yield server
        finally:
            server.send_signal(signal.SIGCONT)
            subprocess.run(["umount", "-l", str(place)], check=True)
            server.kill()


@pytest.fixture(name="quota")
def fixture_quota(private_mounts, tmp_path):
    """An instance whose files are all on a file system on which the quota can be used up."""
    assert private_mounts is None
    instance = ChaosInstance()
    with loopback(instance.dir, tmp_path / "behind") as server:
        instance.server = server
        instance.configure()
        try:
            yield instance
            server.send_signal(signal.SIGUSR2)
            instance.finish()
        finally:
            for pid in holders(instance.dir):
                kill(pid)
    instance.clean()


def test_the_quota_is_used_up(quota, tmp_path):
    """While a job runs and another waits: as on a full disk, and the reason is said by its name."""
    go, wrote = str(tmp_path / "go"), str(tmp_path / "d-job")
    daemon = Stubborn(quota)
    job, waits = one_runs_and_one_waits(daemon, tmp_path)
    quota.server.send_signal(signal.SIGUSR1)
    said = why_it_holds(quota, daemon)
    assert os.strerror(errno.EDQUOT) in said and "free some space" in said, said
    done = quota.pleat("submit", "--", "true", check=1)
    assert "cannot write its log" in done.stderr and "refused until it can" in done.stderr
    touch(go)
    wait_until(lambda: Diary(wrote).ended, "the job has ended")
    assert daemon.job(job)["state"] != "done", "its end is not written down"
    quota.server.send_signal(signal.SIGUSR2)
    for number in (job, waits):
        assert daemon.wait_end(number)["state"] == "done"
    assert len(Diary(wrote).begun) == 1 and len(Diary(str(tmp_path / "d-waits")).begun) == 1
    wait_until(lambda: not daemon.call("jobs")["jobs"], "what was held is taken, and ends")
    assert daemon.call("info")["damage"] is None
    check_nothing_left(quota, daemon)
    daemon.close()


class Home(ChaosInstance):
    """An instance whose state is on a file system of its own, as a home is that comes over a network; its sockets and
    its configuration are not."""

    def __init__(self, top):
        super().__init__()
        self.state = top / "home"
        for name in ("home", "run", "config", "config/pleat"):
            (top / name).mkdir(mode=0o700)
        shutil.copy(self.path("pleat.conf"), top / "config" / "pleat")
        del self.env["PLEAT_DIR"]
        self.env |= {"XDG_STATE_HOME": str(self.state), "XDG_RUNTIME_DIR": str(top / "run"),
                     "XDG_CONFIG_HOME": str(top / "config")}
        self.socket = str(top / "run" / "pleat" / "pleatd.sock")


def test_the_file_system_of_the_state_hangs(private_mounts, tmp_path):
    """One in user space, which answers nothing: neither reading, writing nor looking names up. Jobs run on and end,
    commands end with the reason; when it goes on, so does everything, and nothing has run twice."""
    assert private_mounts is None
    home = Home(tmp_path)
    go, wrote = str(tmp_path / "go"), str(tmp_path / "d-job")
    daemon = Stubborn(home)
    elsewhere = {"output": "/dev/null", "error": "/dev/null"}
    with loopback(home.state, tmp_path / "behind") as server:
        try:
            job, waits = one_runs_and_one_waits(daemon, tmp_path, **elsewhere)
            daemon.close()
            server.send_signal(signal.SIGSTOP)
            asked = home.popen("cancel", waits)

            def refused():
                done = home.pleat("ps", timeout=30)
                return done if done.returncode else None
            done = wait_until(refused, "pleatd waits for the file system")
            assert done.returncode == 3 and "does not answer in time" in done.stderr, done.stderr
            assert "file system" in done.stderr, done.stderr
            touch(go)
            wait_until(lambda: Diary(wrote).ended, "the job has ended")
            heard = asked.poll() is None  # else pleatd waited for the file system before it was asked
            if not heard:
                said = asked.communicate()[1]
                assert asked.returncode == 3 and "does not answer in time" in said, said
            server.send_signal(signal.SIGCONT)
            assert daemon.wait_end(job)["state"] == "done"
            assert not heard or asked.wait(60 * PATIENCE) == 0
            assert daemon.wait_end(waits)["state"] == ("cancelled" if heard else "done")
            assert len(Diary(wrote).begun) == 1 and len(Diary(str(tmp_path / "d-waits")).begun) == (not heard)
            assert daemon.call("info")["damage"] is None
            check_nothing_left(home, daemon)
        finally:
            server.send_signal(signal.SIGCONT)
            daemon.close()
            home.pleat("stop", "--force", check=0)
            shutil.rmtree(home.dir)


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
