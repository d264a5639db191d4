"""One MPI program over two nodes, folded on each: segment, queues and partitions are a node's own
(Utrera 2010, 7.3). Each node is a host of hosts.py with its agent; the program's launcher runs on the first
one, and asks for what it needs on the other through a script that tells this test."""

import json
import os
import shutil
import socket
import stat
import sys

import pytest

from conftest import LIMIT_S, wait_until
from hosts import HostWorld, fixture_hosts  # pylint: disable=unused-import
from test_agent_bind import slots
from test_agent_fold import A, B, resize
from test_agent_fold_mpi import APPS, LIBRARY, both_mpis
from test_agent_fold_mpi import pytestmark  # pylint: disable=unused-import
from test_agent_mpi import errors, scratch, start

FIRST, SECOND, BOTH = slots((0, 1)), slots((1, 1)), slots((0, 2))
AT_NODE = 4  # processes

# What the launchers take for ssh: [-x] HOST COMMAND...
SHELL = """#!{python}
import json, os, socket, sys
words = sys.argv[2:] if sys.argv[1] == "-x" else sys.argv[1:]
command = " ".join(words[1:])
if words[0] == socket.gethostname():
    os.execvp("sh", ["sh", "-c", command])
with socket.socket(socket.AF_UNIX) as test:
    test.connect({path!r})
    test.sendall(json.dumps(command).encode() + b"\\n")
    answer = test.makefile().read()  # when the command has ended
sys.exit(int(answer or 255))
"""

# so that they start things through it, and speak through the cable
LAUNCHERS = {
    "openmpi": {"OMPI_MCA_plm_rsh_agent": "SHELL", "OMPI_MCA_orte_leave_session_attached": "1",
                "OMPI_MCA_btl_tcp_if_include": "eth0", "OMPI_MCA_oob_tcp_if_include": "eth0"},
    "mpich": {"HYDRA_LAUNCHER": "ssh", "HYDRA_LAUNCHER_EXEC": "SHELL",
              "UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "eth0"},
}


class Nodes:
    def __init__(self, directory, hosts):
        self.hosts = hosts
        self.worlds = [HostWorld(directory / f"node{number}", host) for number, host in enumerate(hosts)]
        self.shell = directory / "shell"
        self.shell.write_text(SHELL.format(python=sys.executable, path=str(directory / "shell.sock")))
        self.shell.chmod(stat.S_IRWXU)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.settimeout(LIMIT_S)
        self.listener.bind(str(directory / "shell.sock"))
        self.listener.listen()
        self.asked = None
        for number, world in enumerate(self.worlds):
            world.first = world.agent(node=number, cpus=f"{A},{B}")
            world.daemon.accept()

    def fold(self, mpi, *words, partitions=(FIRST, FIRST), **settings):
        """Starts it on the first node, and there and here what its launcher asks for on the second."""
        first, second = self.worlds
        env = {name: str(self.shell) if value == "SHELL" else value for name, value in LAUNCHERS[mpi].items()}
        env |= {"LAUNCH_NODES": "h0:4,h1:4", "LAUNCH_PRELOAD": LIBRARY[mpi], "TMPDIR": "/dev/shm/tmp"}
        folded = {"processes": AT_NODE, **settings}
        start(first, 1, f"{mpi}:8", *map(str, words), extra_env=env, slots=partitions[0], fold=folded)
        self.asked, _ = self.listener.accept()
        command = json.loads(self.asked.makefile().readline())
        second.start(1, "sh", "-c", command, slots=partitions[1], fold=folded, scratch=scratch(1),
                     env=["PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/", "TMPDIR=/dev/shm/tmp"])
        second.daemon.expect("started", 1)
        for world in self.worlds:
            told = world.daemon.expect("folded", 1, attached=AT_NODE)
            assert told["processes"] == AT_NODE

    def answer(self, code):
        """To the script: what it ran there has ended."""
        self.asked.sendall(str(code).encode())
        self.asked.close()

    def end(self, mpi):
        """The program ends right: it checks its own result."""
        first, second = self.worlds
        if mpi == "mpich":
            # Over TCP one process or another of Debian's MPICH (4.0.2, UCX 1.13.1) often stays in MPI_Finalize, folded
            # or not: it closes connections to processes that do not look at theirs any more.
            wait_until(lambda: first.output(1).strip(), "the program's result")
            for world in self.worlds:
                if not world.daemon.seen("exited", 1):
                    world.daemon.call("kill", run=1, grace_s=0)
                world.daemon.expect("exited", 1)
        else:
            assert second.daemon.expect("exited", 1)["code"] == 0, errors(second, 1)
            self.answer(0)
            assert first.daemon.expect("exited", 1)["code"] == 0, errors(first, 1)
        assert first.output(1).startswith("RESULT ok") and "ranks=8" in first.output(1)

    def places(self, number, name):
        """Where the program's processes of a node may be."""
        found = [os.sched_getaffinity(pid) for pid in self.hosts[number].pids(name)]
        assert len(found) == AT_NODE
        return found


@pytest.fixture(name="nodes")
def fixture_nodes(tmp_path, hosts):
    nodes = Nodes(tmp_path, hosts)
    yield nodes
    nodes.listener.close()
    if nodes.asked:
        nodes.asked.close()
    ends = [world.end() for world in nodes.worlds]
    for world in nodes.worlds:
        print(world.log.read_text())
    assert ends == [([], [])] * 2, "something was left, or an agent ended with an error"


@both_mpis
@pytest.mark.parametrize("program, options", [
    ("ring", ("--iterations", 5000, "--tokens", 3)),
    ("halo", ("--iterations", 12000)),
    ("alltoall", ("--iterations", 6000)),
])
def test_folded_on_each(nodes, mpi, program, options):
    first, second = nodes.worlds
    go = first.directory / "go"  # it does not end before
    nodes.fold(mpi, os.path.join(APPS[mpi], program), *options, "--hold", go, settings="queue=local")
    assert first.daemon.expect("folded", 1, processors=1)["mpl"] == 4
    wait_until(lambda: nodes.places(0, program) == [{A}] * 4, "all of the first node on one CPU")
    resize(first, 1, BOTH)  # the other node's processes stay where they are
    assert sorted(map(min, nodes.places(0, program))) == [A, A, B, B]
    assert nodes.places(1, program) == [{A}] * 4
    resize(second, 1, SECOND)
    assert nodes.places(1, program) == [{B}] * 4
    assert second.daemon.expect("vacated", 1, resize=1)["processes"] == 1
    for number in range(2, 12):
        resize(first, number, [BOTH, FIRST, BOTH, SECOND][number % 4])
        resize(second, number, [FIRST, SECOND][number % 2])
    go.touch()
    nodes.end(mpi)


@both_mpis
def test_a_node_that_fails(nodes, mpi):
    """The program ends as its MPI ends it, and nothing of it stays on the node that is left."""
    first, second = nodes.worlds
    nodes.fold(mpi, os.path.join(APPS[mpi], "ring"), "--iterations", 10000000)
    nodes.hosts[1].crash()
    nodes.answer(255)  # as ssh does
    exited = first.daemon.expect("exited", 1)
    assert exited["code"] != 0 or exited["signal"] != 0, exited
    wait_until(lambda: not nodes.hosts[0].pids("ring"), "the end of the first node's processes")
    first.daemon.call("forget", run=1)
    wait_until(lambda: nodes.hosts[0].shared_memory() == ["tmp"], "an empty /dev/shm")
    assert second.first.wait(LIMIT_S) == -9
