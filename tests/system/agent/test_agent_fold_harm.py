"""What may happen to one process of a folded MPI program must not hold up the others, but for the messages that
they wait for: it is killed, stopped, traced, sleeps in a read, polls for something that is not MPI's."""

import os
import random
import shutil
import signal
import struct
import subprocess

import pytest

from conftest import BUILD, LIMIT_S, children_of, is_alive, until_no_child, wait_until
from test_agent_fold import ONE
from test_agent_fold_mpi import LIBRARY, both_mpis, end, fixture_node  # pylint: disable=unused-import
from test_agent_fold_mpi import pytestmark  # pylint: disable=unused-import
from test_agent_mpi import errors, start

RANKS = 8
FURTHER = 300  # rounds of a pair: it goes on


def family(pid):
    return [pid] + [each for child, _ in children_of(pid) for each in family(child)]


class Pairs:
    """pairs.c: eight processes on one CPU, two and two of them with one another."""

    def __init__(self, world, mpi, *mode, run=1, **fold):
        self.world, self.run = world, run
        self.directory = world.directory / f"run-{run}" if run > 1 else world.directory
        self.directory.mkdir(exist_ok=True)
        program = os.path.join(BUILD, "tests", f"fold-pairs-{mpi}")
        main = start(world, run, f"{mpi}:{RANKS}", "env", f"LD_PRELOAD={LIBRARY[mpi]}", program, str(self.directory),
                     *mode, slots=ONE, fold={"processes": RANKS, **fold})
        self.told = world.daemon.expect("folded", run, attached=RANKS)
        self.pids = {}  # by rank
        for pid in family(main):
            with open(f"/proc/{pid}/environ", encoding="latin-1") as file:
                env = dict(each.split("=", 1) for each in file.read().split("\0") if "=" in each)
            with open(f"/proc/{pid}/comm", encoding="latin-1") as file:
                is_rank = file.read().startswith("fold-pairs")
            if is_rank:
                self.pids[int(env.get("OMPI_COMM_WORLD_RANK") or env["PMI_RANK"])] = pid
        assert sorted(self.pids) == list(range(RANKS))

    def counts(self):
        data = (self.directory / "counts").read_bytes()
        return struct.unpack(f"{RANKS}Q", data)[::2]

    def go_on(self, *pairs):
        """These do, from now."""
        before = self.counts()
        wait_until(lambda: all(self.counts()[pair] > before[pair] + FURTHER for pair in pairs), f"pairs {pairs} go on")

    def stop(self):
        (self.directory / "stop").touch()
        end(self.world, self.run)


@both_mpis
def test_killed_at_any_moment(node, mpi):
    chance = random.Random(os.environ.get("SEED", 1))
    for _ in range(5):
        (node.directory / "counts").unlink(missing_ok=True)
        pairs = Pairs(node, mpi)
        until = chance.randrange(3000)
        wait_until(lambda: pairs.counts()[0] > until, "some rounds")  # pylint: disable=cell-var-from-loop
        os.kill(pairs.pids[chance.randrange(RANKS)], signal.SIGKILL)
        exited = node.daemon.expect("exited", 1)
        assert exited["code"] != 0 or exited["signal"] != 0
        wait_until(lambda: not any(map(is_alive, pairs.pids.values())), "the end of all")  # pylint: disable=cell-var-from-loop
        until_no_child(node)
        node.daemon.call("forget", run=1)
        node.daemon.notifications.clear()


@both_mpis
def test_stopped(node, mpi):
    pairs = Pairs(node, mpi)
    for rank in (2, 7):
        os.kill(pairs.pids[rank], signal.SIGSTOP)
        pairs.go_on(*{0, 1, 2, 3} - {rank // 2})
        os.kill(pairs.pids[rank], signal.SIGCONT)
        pairs.go_on(0, 1, 2, 3)
    pairs.stop()


@both_mpis
@pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed")
def test_traced(node, mpi):
    pairs = Pairs(node, mpi)
    out = node.directory / "trace"
    with subprocess.Popen(["strace", "-f", "-o", str(out), "-p", str(pairs.pids[3])], stderr=subprocess.DEVNULL) as tracer:
        wait_until(lambda: out.exists() and out.stat().st_size, "the tracer sees something")
        pairs.go_on(0, 1, 2, 3)
        tracer.send_signal(signal.SIGINT)
        tracer.wait(LIMIT_S)
    pairs.go_on(0, 1, 2, 3)
    pairs.stop()


@both_mpis
def test_a_process_that_reads(node, mpi):
    os.mkfifo(node.directory / "pipe")
    pairs = Pairs(node, mpi, "read")
    wait_until(lambda: pairs.counts()[0] == 1000, "rank 0 reads")
    pairs.go_on(1, 2, 3)
    assert pairs.counts()[0] == 1000
    (node.directory / "pipe").write_bytes(b"x")
    pairs.go_on(0, 1, 2, 3)
    pairs.stop()


@both_mpis
def test_a_process_that_polls_outside_mpi(node, mpi):
    pairs = Pairs(node, mpi, "poll")
    wait_until(lambda: pairs.counts()[0] == 1000, "rank 0 polls")
    pairs.go_on(1, 2, 3)
    assert pairs.counts()[0] == 1000
    node.touch("go")
    pairs.go_on(0, 1, 2, 3)
    pairs.stop()


@both_mpis
def test_an_agent_that_is_killed(node, mpi):
    pairs = Pairs(node, mpi)
    segment = os.readlink(f"/proc/{node.first.pid}/fd/{segment_of(pairs.pids[0])}")
    assert "memfd" in segment
    node.first.kill()
    node.first.wait(LIMIT_S)
    node.agent(cpus="0")  # the next one ends what was left
    node.daemon.accept()
    wait_until(lambda: not any(map(is_alive, pairs.pids.values())), "the end of all")


def segment_of(pid):
    """The number of the agent's file that a process was told."""
    with open(f"/proc/{pid}/environ", encoding="latin-1") as file:
        [path] = [each for each in file.read().split("\0") if each.startswith("PLEAT_FOLD=")]
    return int(path.rsplit("/", 1)[1])
