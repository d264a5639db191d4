"""Two machines that share a home: namespaces with a name, a start and a runtime directory of their own, and one state
directory. (What a file system makes of locks between real machines is not tried: here they reach both.)"""

import json
import os
import shutil
import subprocess

import pytest

from conftest import LIMIT_S, PLEAT, is_alive, until_file, wait_until

BOOT = "/proc/sys/kernel/random/boot_id"
# Of its own is also /dev/shm: an agent there sees no process of this machine, and so would take the files of all other tests' MPI
# processes for left ones, and remove them.
SETUP = f"""mount -t tmpfs -o mode=1777 tmpfs /dev/shm && hostname "$1" && mount -t tmpfs tmpfs "$2" && echo "$1-boot" >"$2/boot" &&
mount --bind "$2/boot" {BOOT}"""
NAMESPACES = ["unshare", "--mount", "--uts", "--pid", "--net", "--fork", "--mount-proc", "--kill-child"]
CONFIG = 'site "local" { processors = 4 }\nidle_exit_s = 0\n'


class Host:
    """A machine: its first process, and commands there."""

    def __init__(self, name, shared):
        self.name, self.shared = name, shared
        self.run_dir = os.path.join(shared, "run")
        self.process = subprocess.Popen([*NAMESPACES, "sh", "-c", SETUP + ' && touch "$3" && sleep infinity', "sh", name,
                                         self.run_dir, os.path.join(shared, name)])
        wait_until(lambda: os.path.exists(os.path.join(shared, name)), f"{name} is there")
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii") as file:
            self.first = int(file.read().split()[0])
        env = {k: v for k, v in os.environ.items() if not k.startswith(("PLEAT_", "XDG_"))}
        self.env = env | {"XDG_RUNTIME_DIR": self.run_dir, "XDG_STATE_HOME": os.path.join(shared, "state"),
                          "XDG_CONFIG_HOME": os.path.join(shared, "config")}

    def words(self, *words):
        return ["nsenter", "--target", str(self.first), "--mount", "--uts", "--pid", "--net", "--", *map(str, words)]

    def pleat(self, *words, check=0):
        done = subprocess.run(self.words(PLEAT, *words), env=self.env, cwd="/", text=True, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=LIMIT_S, check=False)
        assert done.returncode == check, (self.name, words, done.returncode, done.stdout, done.stderr)
        return done

    def submit(self, *words):
        return int(self.pleat("submit", "--", *words).stdout)

    def job(self, number):
        return json.loads(self.pleat("show", number, "--json").stdout)

    def wait_for(self, number, state):
        return wait_until(lambda: self.job(number)["state"] == state, f"job {number} is {state} on {self.name}")

    def kill_daemon(self):
        """By its number as seen from there."""
        pid = json.loads(self.pleat("info", "--json").stdout)["pid"]
        subprocess.run(self.words("kill", "-9", pid), check=True)

    def off(self):
        self.process.kill()
        self.process.wait()
        wait_until(lambda: not is_alive(self.first), f"{self.name} is off")


@pytest.fixture(name="hosts")
def fixture_hosts(tmp_path):
    words = [*NAMESPACES, "sh", "-c", SETUP, "sh", "try", str(tmp_path)]
    tried = subprocess.run(words, check=False, capture_output=True, text=True)
    if tried.returncode:
        pytest.skip(f"namespaces of its own cannot be made here: {tried.stderr}")
    shared = str(tmp_path)
    for name in ("run", "state", "config/pleat"):
        os.makedirs(os.path.join(shared, name), mode=0o700)
    with open(os.path.join(shared, "config/pleat/pleat.conf"), "w", encoding="ascii") as file:
        file.write(CONFIG)
    hosts = []
    try:
        hosts += [Host("host-a", shared), Host("host-b", shared)]
        yield hosts
    finally:
        for host in hosts:
            host.off()
        shutil.rmtree(shared, ignore_errors=True)


def log_of(host):
    with open(os.path.join(host.shared, "state/pleat/pleatd.log"), encoding="utf-8") as file:
        return file.read()


def test_two_machines_that_share_a_home(hosts):
    a, b = hosts
    go, lock = os.path.join(a.shared, "go"), os.path.join(a.shared, "state/pleat/pleatd.lock")
    job = a.submit(*until_file(go)[1:])
    a.wait_for(job, "running")
    # pleatd runs there: who is here is told so, at once, and changes nothing
    for words in (["ps"], ["submit", "--", "true"], ["stop", "--force"]):
        assert "used by pleatd on host host-a" in b.pleat(*words, check=3).stderr
    # it died, its job lives: nobody goes on with the log here
    a.kill_daemon()
    refused = b.pleat("ps", check=3).stderr
    assert "pleatd on host host-a" in refused and lock in refused, refused
    assert a.job(job)["state"] == "running"
    # it ends in order while the job runs: the same
    subprocess.run(a.words("kill", json.loads(a.pleat("info", "--json").stdout)["pid"]), check=True)
    wait_until(lambda: "signal 15" in log_of(a), "it was told to end")
    wait_until(lambda: "pleatd on host host-a" in b.pleat("ps", check=3).stderr, "refused again")
    open(go, "w", encoding="ascii").close()
    a.wait_for(job, "failed")
    assert a.job(job)["exit_code"] == 7
    # nothing runs any more: the other machine takes over, and the first is told
    a.pleat("stop")
    second = b.submit("sh", "-c", f"echo started >>{go}; exec sleep 1000")
    assert second == job + 1
    b.wait_for(second, "running")
    assert "used by pleatd on host host-b" in a.pleat("ps", check=3).stderr
    # that machine is off: its user says so by removing the lock, and the job counts as lost there
    wait_until(lambda: os.path.getsize(go) == 8, "the job has begun")
    b.off()
    assert "pleatd on host host-b" in a.pleat("ps", check=3).stderr
    os.unlink(lock)
    assert a.job(second)["job"] == second
    wait_until(lambda: os.path.getsize(go) == 16, "it is started again, here")
    assert a.job(second)["attempt"] == 1
    a.pleat("cancel", second)
    a.pleat("stop", "--force")


def test_the_log_is_left_alone_where_another_machine_has_it(hosts):
    """Where locks do not reach other machines, the record of the lock is what tells."""
    a = hosts[0]
    lock = os.path.join(a.shared, "state/pleat/pleatd.lock")
    a.pleat("info")
    os.unlink(lock)  # by mistake: it is made again
    wait_until(lambda: os.path.exists(lock) and os.path.getsize(lock) > 0, "the lock is there again")
    a.pleat("ps")
    with open(lock, "w", encoding="ascii") as file:
        file.write("17\n/run/pleatd.sock\nelsewhere its-boot\n")
    wait_until(lambda: "leaving the log alone: the log in" in log_of(a), "it ends at once")
    assert "elsewhere" in a.pleat("ps", check=3).stderr
    os.unlink(lock)
    a.pleat("stop")
