"""Hosts on this machine: two network namespaces with a cable between them, own process numbers and own shared
memory. Directories are shared, as on a cluster."""

import contextlib
import os
import signal
import subprocess

import pytest

from conftest import LIMIT_S, World, children_of, wait_until

# the first of a host's processes; it ends with its input, whatever happens to the test
INIT = """
set -e
hostname "$1"
mount --bind "$2" /etc/hosts
mount -t tmpfs -o mode=1777 none /dev/shm
mkdir -m 1777 /dev/shm/tmp
ip link set lo up
echo ready
cat # and reaps what others leave to it
exit 0
"""


def run(*words):
    subprocess.run(words, check=True, timeout=LIMIT_S, stdin=subprocess.DEVNULL)


def cannot():
    """Why there can be no hosts here; None: there can."""
    if os.geteuid() != 0:
        return "hosts need root: network namespaces"
    try:
        run("unshare", "-n", "-u", "-m", "-p", "-f", "--mount-proc", "ip", "link", "set", "lo", "up")
    except (OSError, subprocess.SubprocessError) as error:
        return f"hosts need unshare (util-linux) and ip (iproute2), and a kernel that allows them: {error}"
    return None


class InHost(subprocess.Popen):
    """A program in a host: `pid` is that of nsenter, which waits for it."""

    def terminate(self):
        for pid, _ in children_of(self.pid):
            with contextlib.suppress(ProcessLookupError):  # it has just ended
                os.kill(pid, signal.SIGTERM)

    def kill(self):
        for pid, _ in children_of(self.pid):
            os.kill(pid, signal.SIGKILL)


class Host:
    def __init__(self, directory, number):
        self.name = f"h{number}"
        self.shell = subprocess.Popen(
            ["unshare", "-n", "-u", "-m", "-p", "-f", "--propagation", "private", "--mount-proc", "--kill-child",
             "bash", "-c", INIT, "init", self.name, str(directory / "hosts")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if self.shell.stdout.readline() != "ready\n":
            pytest.fail(f"no host: {self.shell.communicate(timeout=LIMIT_S)[1]}")
        [(self.init, _)] = children_of(self.shell.pid)

    def enter(self, *words):
        return ["nsenter", "-t", str(self.init), "-n", "-u", "-m", "-p", "--", *words]

    def ip(self, *words):
        """In its network, with the program from outside."""
        words = ["nsenter", "-t", str(self.init), "-n", "ip", *words]
        return subprocess.run(words, check=True, timeout=LIMIT_S, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True).stdout

    def plug(self, address):
        self.ip("addr", "add", f"{address}/24", "dev", "eth0")
        self.ip("link", "set", "eth0", "up")

    def is_linked(self):
        return "state UP" in self.ip("link", "show", "eth0")

    def pids(self, name=None):
        """Of its processes (seen from outside), of this program."""
        space = os.readlink(f"/proc/{self.init}/ns/pid")
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
                    program = file.read().strip()
                if os.readlink(f"/proc/{pid}/ns/pid") == space and name in (None, program):
                    found.append(int(pid))
            except OSError:
                continue
        return found

    def shared_memory(self):
        """What is in its /dev/shm."""
        return sorted(os.listdir(f"/proc/{self.init}/root/dev/shm"))

    def crash(self):
        """All of its processes are killed at once."""
        os.kill(self.init, signal.SIGKILL)
        self.shell.wait(LIMIT_S)

    def end(self):
        if self.shell.poll() is None:
            os.kill(self.init, signal.SIGKILL)
        self.shell.communicate(timeout=LIMIT_S)


class HostWorld(World):
    """A daemon of its own outside, and an agent in a host."""

    def __init__(self, directory, host):
        directory.mkdir()
        super().__init__(directory)
        self.host = host

    def agent(self, **options):
        words = self.host.enter("env", "TMPDIR=/dev/shm/tmp", *self.command(**options))
        with open(self.log, "ab") as log:
            agent = InHost(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.agents.append(agent)
        return agent


@pytest.fixture(name="hosts")
def fixture_hosts(tmp_path):
    """h0 and h1, with a cable between them."""
    why_not = cannot()
    if why_not:
        pytest.skip(why_not)
    (tmp_path / "hosts").write_text("127.0.0.1 localhost\n10.77.0.1 h0\n10.77.0.2 h1\n")
    hosts = []
    try:
        for number in range(2):
            hosts.append(Host(tmp_path, number))
        run("ip", "link", "add", "eth0", "netns", str(hosts[0].init), "type", "veth",
            "peer", "name", "eth0", "netns", str(hosts[1].init))
        for number, host in enumerate(hosts):
            host.plug(f"10.77.0.{number + 1}")
        wait_until(lambda: all(host.is_linked() for host in hosts), "a link between the hosts")
        yield hosts
    finally:
        for host in hosts:
            host.end()
