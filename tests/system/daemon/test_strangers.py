"""Other users of the machine against what a job's processes listen on: docs/security.md."""

import os
import re
import subprocess
import sys

import pytest

from conftest import CONFIG, PLEAT, wait_until
from relaunching import program

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")

# Somebody else: for each address three connections, of which one says nothing, one what means nothing, and
# one as much as begins a message. They stay until its standard input ends. Says how many there are.
STRANGER = r"""
import os, socket, sys
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
kept = []
for word in sys.stdin.readline().split():
    host, port = word.rsplit("@", 1)
    for said in (b"", b"GET / HTTP/1.0\r\n\r\n" + bytes(range(256)) * 16, b"\x00" * 5):
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        one = socket.socket(family)
        one.settimeout(30)
        one.connect((host, int(port)))
        try:
            one.sendall(said)
        except OSError:
            pass  # turned away already
        kept.append(one)
print(len(kept), flush=True)
sys.stdin.read()
"""


def sockets_of(pid):
    found = set()
    try:
        for number in os.listdir(f"/proc/{pid}/fd"):
            match = re.fullmatch(r"socket:\[(\d+)\]", os.readlink(f"/proc/{pid}/fd/{number}"))
            if match:
                found.add(match[1])
    except OSError:
        pass  # it has ended
    return found


def address_of(text):
    """ "0100007F:1F90" as ("127.0.0.1", 8080), and so for IPv6."""
    words, port = text.split(":")
    data = b"".join(bytes.fromhex(words[at:at + 8])[::-1] for at in range(0, len(words), 8))
    host = ".".join(map(str, data)) if len(data) == 4 else ":".join(
        f"{data[at]:02x}{data[at + 1]:02x}" for at in range(0, 16, 2))
    return host, int(port, 16)


def open_to_connections(pids):
    """Addresses at which these processes take connections or datagrams."""
    inodes = set().union(*map(sockets_of, pids))
    found = set()
    for table, state in (("tcp", "0A"), ("tcp6", "0A"), ("udp", "07"), ("udp6", "07")):
        with open(f"/proc/net/{table}", encoding="ascii") as file:
            for line in list(file)[1:]:
                fields = line.split()
                if fields[3] == state and fields[9] in inodes:
                    found.add(address_of(fields[1]))
    return found


def is_loopback(host):
    return host.startswith("127.") or host == "0000:" * 7 + "0001"


class Stranger:
    def __init__(self, addresses):
        self.process = subprocess.Popen([sys.executable, "-c", STRANGER], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.process.stdin.write(" ".join(f"{host}@{port}" for host, port in addresses) + "\n")
        self.process.stdin.flush()
        assert int(self.process.stdout.readline()) == 3 * len(addresses)

    def end(self):
        self.process.stdin.close()
        self.process.stdout.close()
        assert self.process.wait(30) == 0


def begin_jobs(pleat):
    """Three programs of two processes: malleable under both MPIs, and one that a script launches. Each
    ends when there is a file of its name."""
    def words(name):
        return ["--pause", 20, "--iterations", 1000000000, "--until", pleat.path(name)]
    jobs = {mpi: pleat.submit("--min", 1, "--max", 2, "--initial", 2, "--", program("loop", mpi), *words(mpi))
            for mpi in ("openmpi", "mpich")}
    line = " ".join(map(str, [PLEAT, "launch", program("loop", "openmpi"), *words("script")]))
    jobs["script"] = pleat.submit("--min", 2, "--max", 2, "--wrap", line)
    for name, job in jobs.items():
        wait_until(lambda: len(pleat.rank_pids(job, program("loop", name))) == 2, f"{name} has its ranks")
    return jobs


def ends_well(pleat, jobs, name):
    with open(pleat.path(name), "w", encoding="utf-8"):
        pass
    ended = pleat.wait_end(jobs[name])
    said = pleat.output(jobs[name]), pleat.output(jobs[name], "stderr")
    assert ended["state"] == "done" and said[0].count("RESULT ok") == 1 and said[1] == "", (name, ended, said)


def test_strangers_reach_nothing_and_stall_nothing(pleat):
    """Nothing that a job's processes listen on is reached from outside the machine; whoever connects from
    within it, and holds on or babbles, is turned away, while programs end, grow and shrink."""
    pleat.configure(text=CONFIG.replace("processors = 8", "processors = 6"))
    pleat.call("info")
    jobs = begin_jobs(pleat)
    strangers = []
    try:
        # each rank of Open MPI in its MPI_Init, and mpirun, or this were a test of nothing
        wait_until(lambda: len(open_to_connections(pleat.job_pids())) >= 2 * (3 + 2 * 2), "they listen")
        before = open_to_connections(pleat.job_pids())
        assert [host for host, _ in before if not is_loopback(host)] == []
        assert open_to_connections(pleat.job_pids(jobs["mpich"])) == set()
        strangers.append(Stranger(before))
        ends_well(pleat, jobs, "script")
        for mpi in ("openmpi", "mpich"):  # which take what the script's had, and could not take it before
            pleat.pleat("limits", jobs[mpi], "--max", 3, check=0)
        for mpi in ("openmpi", "mpich"):
            pleat.wait_size(jobs[mpi], 3)
        ranks = pleat.rank_pids(jobs["openmpi"])
        assert len(ranks) == 3 and all(open_to_connections([pid]) for pid in ranks)
        later = open_to_connections(pleat.job_pids())
        assert [host for host, _ in later if not is_loopback(host)] == []
        strangers.append(Stranger(later))
        pleat.pleat("shrink", jobs["openmpi"], 2, check=0)
        wait_until(lambda: len(pleat.rank_pids(jobs["openmpi"])) == 1, "two ranks have left")
        for mpi in ("openmpi", "mpich"):
            ends_well(pleat, jobs, mpi)
    finally:
        for stranger in strangers:
            stranger.end()
