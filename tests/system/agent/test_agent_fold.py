"""Folded runs: the partition and its changes, what is watched, what is told. The processes are played
by fold-ranks, which attach and pass a number round without MPI."""

import math
import os
import signal

import pytest

from conftest import BUILD, PATIENCE, is_alive, until_no_child, wait_until
from test_agent_bind import PLACE, needs_cpusets

RANKS = os.path.join(BUILD, "tests", "fold-ranks")
CPUS = sorted(os.sched_getaffinity(0))
A, B = CPUS[0], CPUS[-1]
two_cpus = pytest.mark.skipif(len(CPUS) < 2, reason="one CPU only")
ONE, OTHER, BOTH = [{"first": 0, "count": 1}], [{"first": 1, "count": 1}], [{"first": 0, "count": 2}]


@pytest.fixture(name="node")
def fixture_node(world):
    """A world with an agent whose slots are two CPUs (where there is one only, that one twice)."""
    world.first = world.agent(cpus=f"{A},{B}")
    world.daemon.accept()
    return world


def fold(world, run, count, how="ring", *work, slots=ONE, **settings):
    """Starts fold-ranks as a folded run; returns the pids of its processes by rank."""
    world.start(run, RANKS, str(count), str(world.directory), how, *map(str, work), slots=slots,
                fold={"processes": count, **settings})
    world.daemon.expect("started", run)
    return world.pids("pids", count)


def attached(world, run, count):
    return world.daemon.expect("folded", run, attached=count)


def places(pids):
    """The CPUs of each process's thread."""
    return [os.sched_getaffinity(pid) for pid in pids]


def stop(world, run=1):
    world.touch("stop")
    exited = world.daemon.expect("exited", run)
    assert exited["code"] == 0, world.output(run)
    assert world.output(run).startswith("right, ")
    return int(world.output(run).split()[1])


def resize(world, number, slots, run=1):
    world.daemon.call("resize", run=run, resize=number, target=sum(each["count"] for each in slots),
                      mandatory=True, slots=slots)
    applied = world.daemon.expect("applied", run, resize=number)
    assert applied["processes"] == sum(each["count"] for each in slots)


@two_cpus
def test_partition_and_changes(node):
    pids = fold(node, 1, 8, settings="queue=local")
    told = attached(node, 1, 8)
    assert told["processes"] == 8
    assert told["processors"] == 1
    assert told["mpl"] == 8
    assert told["queue"] == "local"
    assert told["queue_by"] == "user"
    assert told["wait"] == "auto"
    wait_until(lambda: places(pids) == [{A}] * 8, "all on the only processor")

    resize(node, 1, BOTH)  # half of them move: round robin by rank
    assert places(pids) == [{A}, {B}] * 4
    assert not node.daemon.seen("vacated", 1)
    [listed] = node.daemon.call("list")["runs"]
    assert (listed["processes"], listed["processors"]) == (8, 2)

    resize(node, 2, OTHER)
    assert places(pids) == [{B}] * 8
    assert node.daemon.expect("vacated", 1, resize=2)["processes"] == 1
    # nothing of the run may use what was given up
    main = node.daemon.expect("started", 1)["pid"]
    assert all(os.sched_getaffinity(pid) == {B} for pid in [main, *pids])
    assert node.daemon.expect("folded", 1, processors=1, mpl=8)
    assert stop(node) > 0


@two_cpus
@pytest.mark.parametrize("wait", ["native", "yield", "block"])
def test_the_kernel_chooses_of_a_global_queue(node, wait):
    pids = fold(node, 1, 4, slots=BOTH, settings=f"queue=global,wait={wait}")
    attached(node, 1, 4)
    wait_until(lambda: places(pids) == [{A, B}] * 4, "all may use both")
    resize(node, 1, OTHER)
    assert places(pids) == [{B}] * 4
    resize(node, 2, BOTH)
    assert places(pids) == [{A, B}] * 4
    stop(node)


@two_cpus
def test_repeated_and_withdrawn(node):
    fold(node, 1, 4)
    resize(node, 1, BOTH)
    resize(node, 2, ONE)
    node.daemon.expect("vacated", 1, resize=2)
    node.daemon.notifications.clear()
    node.daemon.call("resize", run=1, resize=1, target=2, slots=BOTH)  # it was done: nothing changes
    assert node.daemon.expect("applied", 1, resize=1)["processes"] == 2
    [listed] = node.daemon.call("list")["runs"]
    assert listed["processors"] == 1
    node.daemon.call("withdraw", run=1, resize=2)  # too late: what came of it
    assert node.daemon.expect("applied", 1, resize=2)["processes"] == 1
    node.daemon.call("withdraw", run=1, resize=3)  # never arrived
    node.daemon.expect("withdrawn", 1, resize=3)
    node.daemon.call("resize", run=1, resize=3, target=2, slots=BOTH)
    assert node.daemon.seen("applied", 1, resize=3) == []
    node.daemon.call("ask", run=1, resize=4, offered=3)
    assert node.daemon.expect("answer", 1, resize=4)["accepted"] == 3
    node.daemon.call("ask", run=1, resize=5, offered=30)
    assert node.daemon.expect("answer", 1, resize=5)["accepted"] == 4
    stop(node)
    node.daemon.fails("state", "resize", run=1, resize=9, target=1, slots=ONE)


def test_what_is_refused(node):
    def start(**members):
        return node.start(1, "true", **members)

    for wrong in ({}, {"processes": 0}, {"processes": 100000}, {"processes": 4, "settings": "wait=never"},
                  {"processes": 4, "mapping": "random"}, {"processes": 4, "threshold": 0},
                  {"processes": 4, "begin": "auto"}, {"processes": 4, "begin": 1}):
        with pytest.raises(Exception):
            start(slots=ONE, fold=wrong)
    assert node.daemon.call("list")["runs"] == []
    with pytest.raises(Exception):
        start(slots=ONE, fold={"processes": 4}, mailbox_ranks=4)
    # an order that cannot be carried out: without processors that it is bound to
    start(fold={"processes": 4})
    assert "slots" in node.daemon.expect("start_failed", 1)["text"]
    node.daemon.call("forget", run=1)
    fold(node, 2, 4)
    for slots in (None, [], [{"first": 7, "count": 1}], [{"first": 0}]):
        with pytest.raises(Exception):
            node.daemon.call("resize", run=2, resize=1, target=1, slots=slots)
    [listed] = node.daemon.call("list")["runs"]
    assert listed["processors"] == 1
    stop(node, 2)


@two_cpus
def test_before_anybody_attaches_and_when_nobody_does(node):
    pids = fold(node, 1, 4, "silent")
    assert places(pids) == [{A}] * 4
    resize(node, 1, BOTH)
    assert places(pids) == [{A, B}] * 4  # they share it as the kernel likes
    resize(node, 2, OTHER)
    node.daemon.expect("vacated", 1, resize=2)
    assert places(pids) == [{B}] * 4
    assert node.daemon.expect("folded", 1)["attached"] == 0
    stop(node)


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(str(text))


def folded_on_one(world):
    """On the one processor that a batch system has granted: its CPU, and another one."""
    pids = fold(world, 1, 2, "silent")
    [[cpu]] = {tuple(place) for place in places(pids)}
    return pids, cpu, next(other for other in CPUS if other != cpu)


@two_cpus
def test_cpus_of_another_agent(world):
    """What it was given later on its host belongs to another agent, which chooses at once what that is."""
    agent = world.agent(more=("--processors", "1"))
    assert world.daemon.accept()["confined"] is False
    pids, own, other = folded_on_one(world)
    world.daemon.call("resize", run=1, resize=1, target=2, mandatory=True, slots=ONE + [{"cpu": other}])
    assert world.daemon.expect("applied", 1, resize=1)["processes"] == 2
    assert set.union(*places(pids)) == {own, other}
    resize(world, 2, ONE)
    world.daemon.expect("vacated", 1, resize=2)
    assert places(pids) == [{own}] * 2
    assert "cpu" in world.daemon.fails("invalid", "resize", run=1, resize=3, target=2, slots=ONE + [{"cpu": -1}])
    stop(world)
    assert agent.poll() is None


@two_cpus
@needs_cpusets
def test_a_cpuset_keeps_it_from_cpus_of_another_agent(world):
    """As with Slurm's ConstrainCores. The agent says so, and does not pretend."""
    group = os.path.join(PLACE, f"pleat-test-{os.getpid()}")
    os.mkdir(group)
    try:
        write(f"{group}/cpuset.mems", "0")
        write(f"{group}/cpuset.cpus", A)
        write(f"{group}/cgroup.procs", os.getpid())  # the agent inherits that
        agent = world.agent(more=("--processors", "1"))
        write(f"{PLACE}/cgroup.procs", os.getpid())
        assert world.daemon.accept()["confined"] is True
        pids = fold(world, 1, 2, "silent")
        refused = world.daemon.fails("unsupported", "resize", run=1, resize=1, target=2, slots=ONE + [{"cpu": B}])
        assert "a cpuset confines them" in refused
        assert places(pids) == [{A}] * 2
        stop(world)
        agent.kill()
        agent.wait()
    finally:
        write(f"{PLACE}/cgroup.procs", os.getpid())
        wait_until(lambda: not open(f"{group}/cgroup.procs", encoding="ascii").read(), "nobody is in it")
        os.rmdir(group)


@two_cpus
def test_a_hundred_changes_under_load(node):
    pids = fold(node, 1, 8, "ring", 50)
    attached(node, 1, 8)
    before = os.listdir(f"/proc/{node.first.pid}/fd")
    for number in range(1, 101):
        resize(node, number, [BOTH, ONE, BOTH, OTHER][number % 4])
    resize(node, 101, OTHER)
    node.daemon.expect("vacated", 1, resize=99 if 99 % 4 in (1, 3) else 101)
    wait_until(lambda: places(pids) == [{B}] * 8, "all on the last processor")
    assert len(os.listdir(f"/proc/{node.first.pid}/fd")) == len(before)
    stop(node)
    node.daemon.call("forget", run=1)
    assert len(os.listdir(f"/proc/{node.first.pid}/fd")) == len(before) - 1  # the segment


@two_cpus
def test_ending_while_it_changes(node):
    fold(node, 1, 8)
    attached(node, 1, 8)
    resize(node, 1, BOTH)
    node.daemon.call("resize", run=1, resize=2, target=1, slots=ONE)
    node.daemon.call("kill", run=1, grace_s=0)
    assert node.daemon.expect("exited", 1)["signal"] == signal.SIGKILL
    until_no_child(node)


def test_reconnecting_daemon_is_told_again(node):
    fold(node, 1, 4)
    attached(node, 1, 4)
    node.daemon.drop()
    node.daemon.accept()
    node.daemon.notifications.clear()
    node.daemon.call("list")
    assert node.daemon.expect("folded", 1)["attached"] == 4
    stop(node)


def test_memory_goes_with_a_killed_agent(node, world):
    pids = fold(node, 1, 4)
    attached(node, 1, 4)
    node.first.kill()
    node.first.wait()
    world.agent(cpus=f"{A},{B}")  # ends what the first one left
    world.daemon.accept()
    assert not any(is_alive(pid) for pid in pids)


def test_a_process_that_dies(node):
    pids = fold(node, 1, 4, "die")
    attached(node, 1, 4)
    node.touch("die")
    node.daemon.expect("exited", 1)
    assert "1 bad" in node.output(1)
    assert not any(is_alive(pid) for pid in pids)


@two_cpus
def test_nonsense_in_the_segment(node):
    pids = fold(node, 1, 4, "scribble", slots=BOTH)
    node.daemon.expect("folded", 1)
    for number in range(1, 21):
        resize(node, number, [BOTH, ONE][number % 2])
    node.daemon.call("kill", run=1, grace_s=0)
    node.daemon.expect("exited", 1)
    assert not any(is_alive(pid) for pid in pids)


def test_a_pid_of_another_process_is_left_alone(node):
    mask = os.sched_getaffinity(1)
    fold(node, 1, 2, "lie")
    wait_until(lambda: "is left alone" in node.log.read_text(), "a word about the lie")
    assert os.sched_getaffinity(1) == mask
    stop(node)


def test_detector_chooses_local_queues_for_a_balanced_program(node):
    fold(node, 1, 8, "ring", 100, slots=BOTH)
    told = node.daemon.expect("folded", 1, balance="balanced")
    assert told["queue"] == "local"
    assert told["queue_by"] == "detector"
    assert told["idleness"] < 0.10
    assert told["cvcs"] >= 0
    stop(node)


def test_detector_stays_global_for_an_imbalanced_program(node):
    fold(node, 1, 8, "ring", *[900, 100] * 4, slots=BOTH)  # all that compute more in one of the queues
    told = node.daemon.expect("folded", 1, balance="imbalanced")
    assert told["queue"] == "global"
    assert told["queue_by"] == "detector"
    least = 0.30 if PATIENCE == 1 else 0.20  # where processes are slow to start others take more of the time
    assert told["idleness"] > least and told["gain"] > least
    stop(node)


@pytest.mark.parametrize("begin", ["local", "global"])
@pytest.mark.parametrize("work, queue", [([100], "local"), ([900, 100] * 4, "global")])
def test_detector_begins_with_either_queue(node, begin, work, queue):
    fold(node, 1, 8, "ring", *work, slots=BOTH, begin=begin)
    assert node.daemon.expect("folded", 1, queue_by="default")["queue"] == begin
    assert node.daemon.expect("folded", 1, queue_by="detector")["queue"] == queue
    stop(node)


@pytest.mark.parametrize("order, asked, queue", [("local", "begin=global", "global"), ("global", "begin=local", "local"),
                                                 ("local", "begin=auto", "local")])
def test_users_choose_the_queue_until_the_verdict(node, order, asked, queue):
    """The reading of Utrera 2010, 4.4.3, also where the order would begin otherwise; then the verdict counts."""
    fold(node, 1, 8, "ring", 100, slots=BOTH, begin=order, settings=asked)
    assert node.daemon.expect("folded", 1, queue_by="default")["queue"] == queue
    assert node.daemon.expect("folded", 1, queue_by="detector")["queue"] == "local"
    stop(node)


def test_detector_sees_where_a_global_queue_gains_nothing(node):
    fold(node, 1, 8, "ring", 900, 900, 100, slots=BOTH)
    told = node.daemon.expect("folded", 1, balance="balanced")
    assert (told["queue"], told["queue_by"]) == ("local", "detector")
    assert told["idleness"] > 0.30 and told["gain"] < 0.12
    stop(node)


def test_detector_tells_and_does_not_decide_where_the_user_has(node):
    fold(node, 1, 8, "ring", 100, slots=BOTH, settings="queue=global")
    told = node.daemon.expect("folded", 1, balance="balanced")
    assert told["queue"] == "global"
    assert told["queue_by"] == "user"
    stop(node)


@two_cpus
def test_mapping_by_communication_follows_what_is_sent(node):
    """In a ring of 8 round robin has everybody send to the other processor; two arcs have not."""
    pids = fold(node, 1, 8, "ring", 50, slots=BOTH, settings="queue=local", mapping="communication")
    attached(node, 1, 8)

    def crossings():
        at = places(pids)
        return sum(at[i] != at[(i + 1) % 8] for i in range(8))

    wait_until(lambda: crossings() == 2, "two arcs of the ring")
    stop(node)


@two_cpus
def test_contention_is_seen(node):
    fold(node, 1, 4, "ring", 200, settings="queue=local")
    attached(node, 1, 4)
    node.start(2, "python3", "-c", "while True: pass", slots=ONE)
    node.daemon.expect("folded", 1, contended=1)
    stop(node)  # on a busy machine contention may last: that it is seen to end is shown by the unit test


def rated(world, processors, run=1):
    """The notification about a run on `processors` once its rate there is known."""
    def known():
        return [told for told in world.daemon.seen("folded", run, processors=processors) if told["rate"] is not None]
    world.daemon.pump_until(known, f"the rate of run {run} on {processors} processors")
    told = known()[-1]
    assert told["rate"] > 0 and math.isfinite(told["rate"])
    return told


@two_cpus
def test_how_fast_it_is_and_what_changes_cost(node):
    fold(node, 1, 4, "ring", 500, slots=BOTH)
    assert attached(node, 1, 4)["rate"] is None
    assert rated(node, 2)["change_us"] is None  # there was none yet
    for number, (slots, processors) in enumerate(((ONE, 1), (BOTH, 2), (OTHER, 1))):
        node.daemon.notifications.clear()
        resize(node, 1 + number, slots)
        # nothing of the old processors is told for the new ones, of which nothing is known at first; told once a
        # second, that may be over by then
        told = node.daemon.expect("folded", 1, processors=processors)
        assert told["rate"] is not None or told["change_us"] is None
        assert rated(node, processors)["change_us"] >= 0
    stop(node)


def test_how_fast_it_is_with_a_processor_for_each(node):
    fold(node, 1, 2, "ring", 500, slots=BOTH)
    rated(node, 2)
    stop(node)


def test_of_one_that_does_nothing_no_rate_is_told(node):
    """No process attaches: their work is not known, however long the run goes on."""
    fold(node, 1, 2, "silent")
    told = node.daemon.expect("folded", 1)
    assert (told["attached"], told["rate"], told["change_us"]) == (0, None, None)
    stop(node)
    assert all(told["rate"] is None for told in node.daemon.seen("folded", 1))


def test_boost(node):
    pids = fold(node, 1, 4, "ring", 100, settings="wait=block,queue=local", boost=True)
    told = attached(node, 1, 4)
    if os.geteuid() == 0:
        assert told["boost"] == "on"
        wait_until(lambda: any(os.getpriority(os.PRIO_PROCESS, pid) < 0 for pid in pids), "a raised priority")
    else:
        assert node.daemon.expect("folded", 1, boost="refused")
    stop(node)
