"""Runs that are bound to the CPUs of their slots, from their start and through changes."""

import os
import subprocess

import pytest

from conftest import INSTANCE, LIMIT_S, RANKS, children_of, is_alive, wait_until
from test_agent_mpi import LOOP, needs_loop, needs_mpich, needs_openmpi, start
from test_agent_resize import stop

CPUS = sorted(os.sched_getaffinity(0))
FIRST, ALL = {CPUS[0]}, set(CPUS[:2])
two_cpus = pytest.mark.skipif(len(CPUS) < 2, reason="one CPU only")
ENV = ["PATH=/usr/local/bin:/usr/bin:/bin"]


def slots(*ranges):
    return [{"first": first, "count": count} for first, count in ranges]


@pytest.fixture(name="node")
def fixture_node(world):
    """A world with an agent whose slots are the first two CPUs."""
    world.first = world.agent(cpus=",".join(map(str, CPUS[:2])))
    world.daemon.accept()
    return world


def family(pid):
    """A process and all that descend from it."""
    return [pid] + [each for child, _ in children_of(pid) for each in family(child)]


def masks(pid):
    """What the threads of a process, and of all that it started, may use: {tid: CPUs}."""
    found = {}
    for process in family(pid):
        try:
            for tid in os.listdir(f"/proc/{process}/task"):
                found[int(tid)] = os.sched_getaffinity(int(tid))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def all_masks(pid):
    return {frozenset(mask) for mask in masks(pid).values()}


PROGRAM = """
import os, sys, threading, time
wait = threading.Event()
for _ in range(3):
    threading.Thread(target=wait.wait, daemon=True).start()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        threading.Thread(target=wait.wait, daemon=True).start()
        print("ready", flush=True)
        wait.wait()
while not os.path.exists(sys.argv[1]):
    time.sleep(0.005)
os.killpg(0, 15)
"""


@two_cpus
def test_all_that_it_starts_is_bound(node):
    node.start(1, "python3", "-c", PROGRAM, str(node.directory / "stop"), slots=slots((1, 1)))
    main = node.daemon.expect("started", 1)["pid"]
    wait_until(lambda: "ready" in node.output(1), "a process of a process")
    assert len(masks(main)) >= 6
    assert all_masks(main) == {frozenset({CPUS[1]})}
    node.touch("stop")
    node.daemon.expect("exited", 1)


def test_a_run_without_slots_is_not_bound(node):
    node.start(1, "sleep", "1000")
    main = node.daemon.expect("started", 1)["pid"]
    assert all_masks(main) == {frozenset(CPUS)}
    node.daemon.call("kill", run=1, grace_s=0)


def test_slots_in_the_order_of_the_machine(linked):
    """Without --cpus: all that the agent may use, each once."""
    for run, cpu in enumerate(CPUS[:4], start=1):
        linked.start(run, "sleep", "1000", slots=slots((run - 1, 1)))
        pid = linked.daemon.expect("started", run)["pid"]
        [mask] = all_masks(pid)
        assert len(mask) == 1, cpu
        linked.daemon.call("kill", run=run, grace_s=0)
    linked.start(10, "sleep", "1000", slots=slots((0, len(CPUS))))
    assert all_masks(linked.daemon.expect("started", 10)["pid"]) == {frozenset(CPUS)}
    linked.daemon.call("kill", run=10, grace_s=0)


def test_slots_that_are_not_there(node):
    node.start(1, "sleep", "1000", slots=slots((0, 1), (1, 5)))
    failed = node.daemon.expect("start_failed", 1)
    assert "slots 1 to 5" in failed["text"] and "'cpus'" in failed["text"]
    assert failed["user_fault"] is False
    node.daemon.fails("invalid", "start", run=2, slots=3, argv=["a"], env=[], cwd="/", stdout="/o", stderr="/e")


@pytest.mark.parametrize(
    "cpus, words", [("99-", "not lower"), ("0,x", "no list of CPUs"), ("8000", "CPU 8000 is not there")]
)
def test_bad_lists(world, cpus, words):
    done = subprocess.run(world.command(cpus=cpus), capture_output=True, timeout=LIMIT_S, text=True, check=False)
    assert done.returncode == 1
    assert words in done.stderr and "--cpus" in done.stderr


def test_slots_may_share_a_cpu(world):
    world.agent(cpus=f"{CPUS[0]},{CPUS[0]}")
    world.daemon.accept()
    world.start(1, "sleep", "1000", slots=slots((1, 1)))
    assert all_masks(world.daemon.expect("started", 1)["pid"]) == {frozenset(FIRST)}
    world.daemon.call("kill", run=1, grace_s=0)


# ---- changes ----


@pytest.fixture(name="ranks")
def fixture_ranks(node):
    """agent-ranks as run 1, of 1 rank on the first slot."""
    node.touch("attach")
    node.start(1, RANKS, "1", str(node.directory), mailbox_ranks=8, slots=slots((0, 1)))
    node.main = node.daemon.expect("started", 1)["pid"]
    node.daemon.expect("progress", 1, attached=True)
    assert all_masks(node.main) == {frozenset(FIRST)}
    return node


@two_cpus
def test_grow_and_shrink(ranks):
    ranks.daemon.call("resize", run=1, resize=10, target=2, slots=slots((0, 2)))
    ranks.daemon.expect("applied", 1, resize=10)
    assert len(family(ranks.main)) == 2
    assert all_masks(ranks.main) == {frozenset(ALL)}

    ranks.daemon.call("resize", run=1, resize=11, target=1, slots=slots((0, 1)))
    ranks.daemon.expect("applied", 1, resize=11)
    assert all_masks(ranks.main) == {frozenset(ALL)}  # the leaving one is still there
    ranks.touch("leave")
    ranks.daemon.expect("vacated", 1, resize=11)
    assert all_masks(ranks.main) == {frozenset(FIRST)}
    stop(ranks)


@two_cpus
def test_a_change_that_is_not_made(ranks):
    ranks.touch("fail")
    ranks.daemon.call("resize", run=1, resize=10, target=2, slots=slots((0, 2)))
    ranks.daemon.expect("resize_failed", 1, resize=10)
    assert all_masks(ranks.main) == {frozenset(FIRST)}
    ranks.daemon.fails("invalid", "resize", run=1, resize=11, target=2, slots=slots((0, 3)))
    os.unlink(ranks.directory / "fail")
    ranks.daemon.call("resize", run=1, resize=12, target=2, slots=slots((1, 1), (0, 1)))
    ranks.daemon.expect("applied", 1, resize=12)
    assert all_masks(ranks.main) == {frozenset(ALL)}
    ranks.touch("leave")
    ranks.daemon.call("resize", run=1, resize=13, target=1, slots=slots((1, 1)))
    ranks.daemon.expect("vacated", 1, resize=13)
    assert all_masks(ranks.main) == {frozenset({CPUS[1]})}
    stop(ranks)


@two_cpus
def test_withdrawn(node):
    node.start(1, RANKS, "1", str(node.directory), mailbox_ranks=8, slots=slots((0, 1)))
    main = node.daemon.expect("started", 1)["pid"]
    node.daemon.call("resize", run=1, resize=10, target=2, slots=slots((0, 2)))
    node.daemon.call("withdraw", run=1, resize=10)
    node.daemon.expect("withdrawn", 1, resize=10)
    assert all_masks(main) == {frozenset(FIRST)}
    node.touch("attach")
    stop(node)


@two_cpus
def test_threads_that_bound_themselves_keep_what_is_left(ranks):
    ranks.daemon.call("resize", run=1, resize=10, target=2, slots=slots((0, 2)))
    ranks.daemon.expect("applied", 1, resize=10)
    [rank] = [pid for pid in family(ranks.main) if pid != ranks.main]
    os.sched_setaffinity(rank, {CPUS[1]})
    ranks.daemon.call("resize", run=1, resize=11, target=3, slots=slots((0, 2), (0, 1)))
    ranks.daemon.expect("applied", 1, resize=11)
    assert os.sched_getaffinity(rank) == {CPUS[1]}
    assert os.sched_getaffinity(ranks.main) == ALL
    # nothing is left of what it had
    ranks.touch("leave")
    ranks.daemon.call("resize", run=1, resize=12, target=2, slots=slots((0, 1), (0, 1)))
    ranks.daemon.expect("vacated", 1, resize=12)
    assert is_alive(rank)
    assert all_masks(ranks.main) == {frozenset(FIRST)}
    stop(ranks)


@two_cpus
def test_relaunched(ranks):
    how = {"argv": [RANKS, "2", str(ranks.directory)], "env": ENV}
    ranks.daemon.call("resize", run=1, resize=10, target=2, relaunch=how, slots=slots((0, 2)))
    ranks.daemon.expect("applied", 1, resize=10)
    main = ranks.daemon.call("list")["runs"][0]["pid"]
    assert main != ranks.main
    assert all_masks(main) == {frozenset(ALL)}
    how = {"argv": [RANKS, "1", str(ranks.directory)], "env": ENV, "slots": slots((1, 1))}
    ranks.daemon.call("relaunch", run=1, resize=11, processes=1, grace_s=5, **how)
    main = ranks.daemon.expect("relaunched", 1, resize=11)["pid"]
    assert all_masks(main) == {frozenset({CPUS[1]})}
    stop(ranks)


# ---- MPI ----


@two_cpus
@pytest.mark.parametrize(
    "mpi", [pytest.param("openmpi", marks=needs_openmpi), pytest.param("mpich", marks=needs_mpich)]
)
def test_ranks_are_bound(node, mpi):
    script = "taskset -cp $$ | sed 's/.*: //'"
    for run, (ranges, cpus) in enumerate([([(1, 1)], {CPUS[1]}), ([(0, 2)], ALL)], start=1):
        start(node, run, f"{mpi}:3", "sh", "-c", script, slots=slots(*ranges))
        assert node.daemon.expect("exited", run)["code"] == 0
        lines = node.output(run).split()
        assert len(lines) == 3 and {len(cpus_of(line)) for line in lines} == {len(cpus)}
        assert all(cpus_of(line) == cpus for line in lines), lines


def cpus_of(text):
    found = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


@two_cpus
@needs_openmpi
@needs_loop
def test_an_application_that_grows_and_shrinks(node):
    main = start(node, 1, "1", LOOP, "--iterations", "1000000000", "--pause", "2", mailbox_ranks=4, slots=slots((0, 1)))
    node.daemon.expect("progress", 1, attached=True)
    assert all_masks(main) == {frozenset(FIRST)}
    for resize in range(1, 7):
        size = 1 + resize % 2
        node.daemon.call("resize", run=1, resize=resize, target=size, slots=slots((0, size)))
        node.daemon.expect("applied" if size == 2 else "vacated", 1, resize=resize)
        assert all_masks(main) == {frozenset(ALL if size == 2 else FIRST)}
    node.daemon.call("kill", run=1, grace_s=5)
    node.daemon.expect("exited", 1)


# ---- cpusets ----

PLACE = "/sys/fs/cgroup/cpuset"  # of version 1, which tests can write where they are root's
needs_cpusets = pytest.mark.skipif(
    not os.access(os.path.join(PLACE, "cpuset.cpus"), os.W_OK)
    or not any(line.strip().endswith("cpuset:/") for line in open("/proc/self/cgroup", encoding="ascii")),
    reason="no cpuset that can be written",
)


def groups():
    return sorted(name for name in os.listdir(PLACE) if name.startswith(f"pleat:{INSTANCE}:"))


def group_text(run, name):
    with open(os.path.join(PLACE, f"pleat:{INSTANCE}:local:0:{run}", name), encoding="ascii") as file:
        return file.read().split()


@two_cpus
@needs_cpusets
def test_cpusets_follow_the_run(ranks):
    assert groups() == [f"pleat:{INSTANCE}:local:0:1"]
    assert cpus_of(*group_text(1, "cpuset.cpus")) == FIRST
    assert group_text(1, "cgroup.procs") == [str(ranks.main)]
    with pytest.raises(OSError):  # none of its CPUs: it cannot leave
        os.sched_setaffinity(ranks.main, {CPUS[1]})
    ranks.daemon.call("resize", run=1, resize=10, target=2, slots=slots((0, 2)))
    ranks.daemon.expect("applied", 1, resize=10)
    assert cpus_of(*group_text(1, "cpuset.cpus")) == ALL
    assert len(group_text(1, "cgroup.procs")) == 2
    assert all_masks(ranks.main) == {frozenset(ALL)}
    ranks.touch("leave")
    ranks.daemon.call("resize", run=1, resize=11, target=1, slots=slots((1, 1)))
    ranks.daemon.expect("vacated", 1, resize=11)
    assert cpus_of(*group_text(1, "cpuset.cpus")) == {CPUS[1]}
    assert all_masks(ranks.main) == {frozenset({CPUS[1]})}
    how = {"argv": [RANKS, "1", str(ranks.directory)], "env": ENV, "slots": slots((0, 1))}
    ranks.daemon.call("relaunch", run=1, resize=12, processes=1, grace_s=5, **how)
    main = ranks.daemon.expect("relaunched", 1, resize=12)["pid"]
    assert group_text(1, "cgroup.procs") == [str(main)]
    assert cpus_of(*group_text(1, "cpuset.cpus")) == FIRST
    stop(ranks)
    assert groups() == []


@needs_cpusets
def test_cpusets_of_starts_that_fail(node):
    node.start(1, "no-such-program", slots=slots((0, 1)))
    node.daemon.expect("start_failed", 1)
    assert groups() == []


@needs_cpusets
def test_a_killed_agent_leaves_no_cpuset(node):
    node.start(1, "sleep", "1000", slots=slots((0, 1)))
    node.daemon.expect("started", 1)
    assert groups()
    node.first.kill()
    node.first.wait()
    node.daemon.drop()
    node.agent(cpus=str(CPUS[0]))
    node.daemon.accept()
    assert groups() == []


@needs_cpusets
def test_without_cpusets(world):
    world.first = world.agent(more=["--no-cpusets"])
    world.daemon.accept()
    world.start(1, "sleep", "1000", slots=slots((0, 1)))
    [mask] = all_masks(world.daemon.expect("started", 1)["pid"])
    assert len(mask) == 1 and groups() == []
    world.daemon.call("kill", run=1, grace_s=0)
