"""Again and again from 2 to 8 processes and back, on a busy machine, and nothing piles up: with Open
MPI by merging and splitting, with Open MPI and MPICH by relaunching. PLEAT_CYCLES says how often
(default 6); the full test is

    PLEAT_CYCLES=200 pytest-3 -s tests/system/agent/test_agent_cycles.py
"""

import os
import subprocess
import time

import pytest

from conftest import children_of, until_no_child
from test_agent_mpi import LOOP, WORDS, errors, needs_loop, needs_openmpi

LOOP_MPICH = os.path.join(os.path.dirname(LOOP), "mpich", "loop")
needs_mpich = pytest.mark.skipif(not os.path.exists(LOOP_MPICH), reason="no MPICH")

CYCLES = int(os.environ.get("PLEAT_CYCLES", "6"))
# The first cycles fill caches. What is measured after them may grow until the end by at most the following.
SETTLED = min(10, CYCLES // 2)
AGENT_GROWS_KB = 512
# Open MPI itself keeps something of every process that it ever started: about 0.3 MB a cycle, in
# mpirun and in rank 0. What is relaunched is new each time.
PER_CYCLE_KB = {"merge": 512, "relaunch": 0}
# It also leaves about one file a cycle in the run's scratch directory, which goes with the run.
PER_CYCLE_FILES = {"merge": 2, "relaunch": 0}
OTHERWISE_KB = 4096
PATIENCE_S = 120
REST_S = 3


@pytest.fixture(name="busy")
def fixture_busy():
    """Keeps all processors busy with something else."""
    command = ["python3", "-c", "while True: pass"]
    others = [subprocess.Popen(command) for _ in range(os.cpu_count())]
    yield
    for each in others:
        each.kill()
        each.wait()


def words(mpi, size, scratch, *program):
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/", "LAUNCH_SCRATCH": scratch}
    out = subprocess.run([WORDS, f"{mpi}:{size}", *program], env=env, capture_output=True, check=True)
    argv, _, env = out.stdout.decode().partition("\0\0")
    return {"argv": argv.split("\0"), "env": env.split("\0")[:-1]}


def descendants(pid):
    found = []
    for child, state in children_of(pid):
        if state not in "ZX":
            found += [child, *descendants(child)]
    return found


def resident_kb(pid):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS:"))


def unused_shared_memory(since):
    """Files in /dev/shm made since then that no process has open: some process left them behind."""
    new = {
        entry.path
        for entry in os.scandir("/dev/shm")
        if entry.is_file(follow_symlinks=False) and entry.stat().st_ctime >= since
    }
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/maps", encoding="utf-8", errors="replace") as file:
                new -= {line.split(maxsplit=5)[5].strip() for line in file if "/dev/shm/" in line}
            new -= {os.readlink(f"/proc/{name}/fd/{fd}") for fd in os.listdir(f"/proc/{name}/fd")}
        except OSError:
            continue
    return new


class Measured:
    """Of the agent, of the launcher, of rank 0; taken at 2 processes, when nothing is under way."""

    def __init__(self, world, launcher):
        tree = descendants(world.first.pid)
        rank = min((pid for pid in tree if is_rank(pid)), default=0)
        self.processes = len(tree)
        self.descriptors = len(os.listdir(f"/proc/{world.first.pid}/fd"))
        self.agent_kb = resident_kb(world.first.pid)
        self.launcher_kb = resident_kb(launcher)
        self.rank_kb = resident_kb(rank) if rank else 0
        self.launcher_files = len(os.listdir(f"/proc/{launcher}/fd"))
        self.rank_files = len(os.listdir(f"/proc/{rank}/fd")) if rank else 0
        self.scratch = sum(len(files) for _, _, files in os.walk(world.scratch))

    def __str__(self):
        return ", ".join(f"{name} {value}" for name, value in vars(self).items())


def at_rest(world):
    """The least of a while: the agent looks into /proc now and then, and what ended last may have a descriptor open a moment longer."""
    found = []
    end = time.monotonic() + REST_S
    while time.monotonic() < end:
        found.append(Measured(world, world.daemon.call("list")["runs"][0]["pid"]))
        time.sleep(0.02)
    return min(found, key=lambda one: (one.processes, one.descriptors))


def is_rank(pid):
    try:
        return os.path.realpath(f"/proc/{pid}/exe") in (LOOP, LOOP_MPICH)
    except OSError:
        return False


def await_word(world, method, **members):
    """Like expect, but waits for as long as this may take on a busy machine."""
    def there():
        assert not world.daemon.seen("exited", 1), errors(world, 1)
        return world.daemon.seen(method, 1, **members)
    world.daemon.pump_until(there, f"'{method}' with {members}", PATIENCE_S)
    return world.daemon.seen(method, 1, **members)[-1]


def resize(world, number, size, how):
    world.daemon.notifications.clear()
    world.daemon.call("resize", run=1, resize=number, target=size, **how(size))
    assert await_word(world, "applied", resize=number)["processes"] == size
    if size == 2:
        await_word(world, "vacated", resize=number)


@needs_loop
@pytest.mark.parametrize(
    "mpi, way",
    [
        pytest.param("openmpi", "merge", marks=needs_openmpi),
        pytest.param("openmpi", "relaunch", marks=needs_openmpi),
        pytest.param("mpich", "relaunch", marks=needs_mpich),
    ],
)
def test_cycles(linked, busy, mpi, way):
    loop = LOOP if mpi == "openmpi" else LOOP_MPICH
    program = [loop, "--iterations", "1000000000", "--pause", "2", "--state", "1M"]
    began = time.time()
    linked.scratch = f"/dev/shm/pleat-cycles-{os.getpid()}"
    first = words(mpi, 2, linked.scratch, *program)
    linked.start(1, *first["argv"], env=first["env"], mailbox_ranks=8, scratch=linked.scratch)
    await_word(linked, "progress", attached=True)

    def how(size):
        return {"relaunch": words(mpi, size, linked.scratch, *program)} if way == "relaunch" else {}

    settled = None
    for cycle in range(CYCLES):
        resize(linked, 2 * cycle + 1, 8, how)
        resize(linked, 2 * cycle + 2, 2, how)
        if cycle + 1 in (SETTLED, CYCLES):
            await_word(linked, "progress", processes=2)
            now = at_rest(linked)
            settled = settled or now
            print(f"\n{mpi} {way}, after {cycle + 1} cycles ({time.time() - began:.0f} s): {now}")
    grown_kb = OTHERWISE_KB + PER_CYCLE_KB[way] * (CYCLES - SETTLED)
    assert now.processes == settled.processes
    assert now.descriptors == settled.descriptors
    assert now.launcher_files <= settled.launcher_files + 2
    assert now.rank_files <= settled.rank_files + 2
    assert now.scratch <= settled.scratch + 2 + PER_CYCLE_FILES[way] * (CYCLES - SETTLED)
    assert now.agent_kb <= settled.agent_kb + AGENT_GROWS_KB
    assert now.launcher_kb <= settled.launcher_kb + grown_kb
    assert now.rank_kb <= settled.rank_kb + grown_kb

    linked.daemon.call("kill", run=1, grace_s=5)
    linked.daemon.expect("exited", 1)
    until_no_child(linked)
    assert not os.path.exists(linked.scratch)
    assert not unused_shared_memory(began)
