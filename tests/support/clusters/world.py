"""Hosts on this machine: each has network, name, process numbers, shared memory and /tmp of its own; /media is a file
system that they share.

All of it is inside one process namespace, whose first process ends with its input: so nothing is left when the test is
killed. The bridge and the cables are in a network namespace of that process, so this machine's own network is never
touched; files are in a file system in memory that only these processes see. Needs root (no set-up)."""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

from patience import PATIENCE

LIMIT_S = 60
SHARED = "/media"  # its mount point has to exist; what is there is hidden from the hosts
TOP = pathlib.Path(__file__).resolve().parents[3]
USER = "tester"  # an ordinary account, known on all hosts
USER_ID = 47110
ROOT_ENV = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}

# the first of all processes; it ends with its input, and all others with it
WORLD_INIT = r"""
set -e
mount -t tmpfs -o mode=755 none /run
mkdir /run/netns
mount -t tmpfs -o mode=755 none "$SHARED"
mkdir -p "$SHARED/etc" "$SHARED/home"
install -d -o "$USER_ID" -g "$USER_ID" "$SHARED/home/$USER_NAME"
(grep -v "^$USER_NAME:" /etc/passwd; echo "$USER_NAME:x:$USER_ID:$USER_ID::$SHARED/home/$USER_NAME:/bin/bash") >"$SHARED/etc/passwd"
(grep -v "^$USER_NAME:" /etc/group; echo "$USER_NAME:x:$USER_ID:") >"$SHARED/etc/group"
echo "127.0.0.1 localhost" >"$SHARED/etc/hosts"
if [ -n "$BUILD" ]; then
    mkdir "$SHARED/build"
    mount --bind "$BUILD" "$SHARED/build"
fi
ip link set lo up
ip link add bridge type bridge
ip link set bridge up
number=1
for host; do
    ip netns add "$host"
    ip link add "to-$host" type veth peer name eth0 netns "$host" || { echo "no cable to $host"; exit 1; }
    ip link set "to-$host" master bridge up
    ip -n "$host" addr add "10.77.0.$number/24" dev eth0
    ip -n "$host" link set eth0 up
    ip -n "$host" link set lo up
    echo "10.77.0.$number $host" >>"$SHARED/etc/hosts"
    number=$((number + 1))
done
ip addr add 10.77.0.254/24 dev bridge
for file in hosts passwd group; do
    mount --bind "$SHARED/etc/$file" "/etc/$file"
done
while read -r own path; do
    [ -z "$own" ] || mount --bind "$own" "$path"
done <<<"$INSTEAD"
echo ready
cat # and reaps what others leave to it
exit 0
"""

# the first of a host's processes; reaps what others leave to it. What the tests need of /tmp stays there.
HOST_INIT = r"""
set -e
hostname "$1"
shift
mkdir -p /run/outer
mount --bind /tmp /run/outer
mount -t tmpfs -o mode=1777 none /tmp
mount -t tmpfs -o mode=1777 none /dev/shm
for kept; do
    mkdir -p "$kept"
    mount --bind "/run/outer${kept#/tmp}" "$kept"
done
umount /run/outer
echo ready
sleep infinity
"""


def wait_until(condition, what, limit_s=LIMIT_S):
    """The condition's first true value; fails with `what` when there is none for too long. Looking takes processors from those
    who are waited for: what takes long, or is waited for for long, is looked at less often."""
    start = time.monotonic()
    end = start + limit_s * PATIENCE
    while True:
        began = time.monotonic()
        value = condition()
        if value:
            return value
        now = time.monotonic()
        if now > end:
            raise AssertionError(f"not within {limit_s * PATIENCE} s: {what}")
        time.sleep(min(max(0.02, 4 * (now - began), (now - start) / 20), 0.2))


def children_of(pid):
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
        found = []
        for task in tasks:
            with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
                found += map(int, file.read().split())
        return found
    except OSError:
        return []


def cannot(*programs):
    """Why there can be no hosts here, or none with these programs; None: there can."""
    if os.geteuid() != 0:
        return "clusters need root, for network namespaces"
    for program in ("unshare", "nsenter", "setpriv", "ip", *programs):
        if not shutil.which(program, path=ROOT_ENV["PATH"]):
            return f"clusters need {program}: install the packages of scripts/lib.sh"
    if str(TOP).startswith(SHARED + "/"):
        return f"clusters need {SHARED} for themselves, and the sources are there"
    tried = subprocess.run(["unshare", "-n", "-u", "-i", "-m", "-p", "-f", "--propagation", "private", "--mount-proc",
                            "sh", "-c", f"ip link add x type bridge && mount -t tmpfs none {SHARED}"],
                           stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    if tried.returncode:
        return f"clusters need a kernel that allows namespaces with bridges: {tried.stderr.strip()}"
    return None


class Process:
    """A program in a host. `pid` is its number out here."""

    # nsenter stops with its child: a shell between them does not, and so nobody waits for a stopped nsenter for ever
    SHELL = ("sh", "-c", '"$@"; exit $?', "sh")

    def __init__(self, words, **options):
        self.outside = subprocess.Popen(words, **options)
        self.pid = wait_until(self.find, f"{words} has started")

    def find(self):
        if self.has_ended():
            return -1
        for shell in children_of(self.outside.pid):
            for pid in children_of(shell):
                return pid
        return None

    def signal(self, number):
        if self.pid > 0 and not self.has_ended():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def wait(self):
        return self.outside.wait(LIMIT_S)

    def kill(self):
        self.signal(signal.SIGKILL)
        self.wait()

    def has_ended(self):
        return self.outside.poll() is not None


class Host:
    def __init__(self, world, name):
        self.world, self.name = world, name
        self.shell = self.init = None

    def begin(self):
        words = [*self.world.enter(), "nsenter", f"--net=/run/netns/{self.name}", "unshare", "-u", "-i", "-m", "-p", "-f",
                 "--propagation", "private", "--mount-proc", "--kill-child", "bash", "-c", HOST_INIT, "init", self.name,
                 *self.world.kept]
        self.shell = subprocess.Popen(words, cwd="/", env=ROOT_ENV, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, text=True)

    def is_ready(self):
        said = self.shell.stdout.readline()
        if said != "ready\n":
            raise AssertionError(f"host {self.name} does not start: {said}{self.shell.stdout.read()}")
        # nsenter - unshare - the first process
        [unshare] = children_of(self.shell.pid)
        [self.init] = children_of(unshare)

    def enter(self, *words, user=None, cwd="/"):
        """Words that run these words there."""
        entering = ["nsenter", "-t", str(self.init), "-n", "-u", "-i", "-m", "-p", f"--wd={cwd}", "--"]
        if user:
            entering += ["setpriv", "--reuid", user, "--regid", user, "--init-groups", "--"]
        return [*entering, *map(str, words)]

    def environment(self, user=None, **more):
        home = f"{SHARED}/home/{user}" if user else "/root"
        return ROOT_ENV | {"HOME": home, "USER": user or "root", "LOGNAME": user or "root"} | more

    def run(self, *words, user=None, check=True, env=None, text_in=None, limit_s=LIMIT_S):
        """Runs a command, and returns the result of subprocess.run. With a user: as that one."""
        done = subprocess.run(self.enter(*words, user=user), env=self.environment(user, **(env or {})), text=True,
                              input=text_in, stdin=subprocess.DEVNULL if text_in is None else None, timeout=limit_s,
                              capture_output=True, check=False)
        assert not check or done.returncode == 0, (self.name, words, done.returncode, done.stdout, done.stderr)
        return done

    def start(self, *words, user=None, env=None, **options):
        """Starts it (Process)."""
        options = {"stdin": subprocess.DEVNULL} | options
        return Process(self.enter(*Process.SHELL, *words, user=user), env=self.environment(user, **(env or {})), **options)

    def pids(self, name=None):
        """The numbers, out here, of its processes (of this program). None that are about to be gone."""
        try:
            space = os.readlink(f"/proc/{self.init}/ns/pid")
        except OSError:
            return []
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                if os.readlink(f"/proc/{pid}/ns/pid") == space:
                    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                        comm, rest = file.read().split("(", 1)[1].rsplit(")", 1)
                    if rest.split()[0] not in "ZX" and name in (None, comm):
                        found.append(int(pid))
        return found

    def cut(self):
        """Pulls the network cable."""
        self.world.ip("link", "set", f"to-{self.name}", "down")

    def join(self):
        self.world.ip("link", "set", f"to-{self.name}", "up")

    def crash(self):
        """All of its processes are gone at once, without a word to others."""
        self.cut()
        os.kill(self.init, signal.SIGKILL)
        self.shell.communicate(timeout=LIMIT_S)

    def boot(self):
        """It is there again, with nothing but what is in the shared file system."""
        self.begin()
        self.is_ready()
        self.join()


class World:
    """`with World(["a", "b"]) as world`: two hosts. `build`: a directory that all users there see as /media/build.
    `keep`: directories under /tmp that the hosts are to see, too. `instead`: {path: text} of programs of this machine that are
    other ones there."""

    def __init__(self, names, build="", keep=(), instead=None):
        self.build = str(build)
        self.instead = instead or {}
        self.hosts = {name: Host(self, name) for name in names}
        keep = {os.path.realpath(path) for path in (TOP, *keep)}
        self.kept = sorted(path for path in keep if path.startswith("/tmp/"))
        self.shell = self.init = None
        self.daemons = []

    def __getitem__(self, name):
        return self.hosts[name]

    def __enter__(self):
        environment = ROOT_ENV | {"SHARED": SHARED, "USER_NAME": USER, "USER_ID": str(USER_ID), "BUILD": self.build}
        with tempfile.TemporaryDirectory() as own:  # what is mounted from there stays
            environment["INSTEAD"] = "".join(f"{self.program(own, path)} {path}\n" for path in self.instead)
            self.shell = subprocess.Popen(
                ["unshare", "-n", "-u", "-i", "-m", "-p", "-f", "--propagation", "private", "--mount-proc", "--kill-child",
                 "bash", "-c", WORLD_INIT, "init", *self.hosts], cwd="/", env=environment,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            said = self.shell.stdout.readline()
        try:
            if said != "ready\n":
                # not communicate(): it knows nothing of what readline() has read ahead
                raise AssertionError(f"no world: {said}{self.shell.stdout.read()}")
            [self.init] = children_of(self.shell.pid)
            for host in self.hosts.values():
                host.begin()
            for host in self.hosts.values():
                host.is_ready()
        except BaseException:
            self.__exit__()
            raise
        return self

    def program(self, directory, path):
        """Writes down what is there instead of that one."""
        own = pathlib.Path(directory, path.replace("/", "_"))
        own.write_text(self.instead[path])
        own.chmod(0o755)
        return own

    def __exit__(self, *_):
        """When it returns no process of it is left, and so no file, namespace or interface."""
        self.shell.communicate(timeout=LIMIT_S)  # closes its input
        for host in self.hosts.values():
            if host.shell:
                host.shell.communicate(timeout=LIMIT_S)
        for daemon in self.daemons:
            daemon.wait()

    def enter(self, *words):
        return ["nsenter", "-t", str(self.init), "-n", "-u", "-i", "-m", "-p", "--wd=/", "--", *map(str, words)]

    def run(self, *words, check=True, text_in=None):
        """Outside all hosts, in their network."""
        done = subprocess.run(self.enter(*words), env=ROOT_ENV, text=True, input=text_in, capture_output=True,
                              stdin=subprocess.DEVNULL if text_in is None else None, timeout=LIMIT_S, check=False)
        assert not check or done.returncode == 0, (words, done.returncode, done.stdout, done.stderr)
        return done

    def ip(self, *words):
        return self.run("ip", *words).stdout

    def start(self, *words, **options):
        """A daemon outside all hosts, which is waited for at the end."""
        options = {"stdin": subprocess.DEVNULL} | options
        daemon = Process(self.enter(*Process.SHELL, *words), env=ROOT_ENV, **options)
        self.daemons.append(daemon)
        return daemon

    def path(self, path):
        """The path by which a file of the shared file system is reached from here."""
        return pathlib.Path(f"/proc/{self.init}/root{path}")
