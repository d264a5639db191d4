"""Malleable runs whose processes end and are started again, within the same run."""

import os
import signal

import pytest

from conftest import RANKS, is_alive, until_no_child, wait_until
from test_agent_resize import fixture_ranks, rank_processes, start_ranks, stop  # noqa: F401

ENV = ["PATH=/usr/local/bin:/usr/bin:/bin"]


def words(world, size):
    return {"argv": [RANKS, str(size), str(world.directory)], "env": ENV}


def resize(world, number, size, grace_s=10, **others):
    """A resize to be done by relaunching."""
    how = {**words(world, size), "grace_s": grace_s}
    world.daemon.call("resize", run=1, resize=number, target=size, relaunch=how, **others)


def relaunch(world, number, size, grace_s=5, **others):
    words_there = {**words(world, size), **others}
    world.daemon.call("relaunch", run=1, resize=number, processes=size, grace_s=grace_s, **words_there)
    return world.daemon.expect("relaunched", 1, resize=number)


def starts(world):
    lines = [line.split() for line in world.output(1).splitlines()]
    return [tuple(map(int, words[1:])) for words in lines if words[0] == "start"]


def expect_starts(world, *wanted):
    """What is told of new processes may come before what they write."""
    wait_until(lambda: starts(world) == list(wanted), f"starts {wanted}")


def next_progress(world, **members):
    world.daemon.notifications = [n for n in world.daemon.notifications if n[0] != "progress"]
    return world.daemon.expect("progress", 1, **members)


def remove(world, name):
    os.unlink(world.directory / name)


def test_an_order_to_leave_the_node_comes_again(ranks):
    """As from a pleatd that has just begun, while the run ends or when it has ended: its end is the answer, and is told again."""
    ranks.daemon.expect("started", 1)
    how = {"moves": True, "nodes": [{"node": 1, "address": "127.0.0.1", "slots": 2}], "grace_s": 10}
    ranks.daemon.call("resize", run=1, resize=10, target=2, relaunch=how)
    assert ranks.daemon.expect("exited", 1)["moved"] == 10
    ranks.daemon.call("resize", run=1, resize=10, target=2, relaunch=how)
    ranks.daemon.call("withdraw", run=1, resize=10)
    ranks.daemon.fails("state", "resize", run=1, resize=11, target=2, relaunch=how)
    ranks.daemon.fails("state", "withdraw", run=1, resize=11)
    [listed] = ranks.daemon.call("list")["runs"]
    assert listed["state"] == "exited"


def test_resizes(ranks):
    first = ranks.daemon.expect("started", 1)["pid"]
    resize(ranks, 10, 5)
    applied = ranks.daemon.expect("applied", 1, resize=10)
    assert applied["processes"] == 5
    assert (applied["save_us"], applied["load_us"], applied["bytes"]) == (1000, 700, 8)
    assert applied["processes_us"] > 0
    assert applied["total_us"] == applied["save_us"] + applied["processes_us"] + applied["load_us"]
    assert "warning" not in applied
    assert not is_alive(first)
    assert not ranks.daemon.seen("vacated", 1)
    [listed] = ranks.daemon.call("list")["runs"]
    assert listed["state"] == "running" and listed["processes"] == 5 and listed["pid"] != first
    assert "resize" not in listed
    iteration = next_progress(ranks, processes=5)["iteration"]

    resize(ranks, 11, 2, mandatory=True)
    assert ranks.daemon.expect("applied", 1, resize=11)["processes"] == 2
    assert ranks.daemon.expect("vacated", 1, resize=11)["processes"] == 2
    assert next_progress(ranks, processes=2)["iteration"] >= iteration
    # and by merging, from there
    ranks.daemon.call("resize", run=1, resize=12, target=4)
    assert ranks.daemon.expect("applied", 1, resize=12)["processes"] == 4
    expect_starts(ranks, (2, 1), (5, 2), (2, 3))
    names = [name for name, _ in ranks.daemon.notifications]
    assert "exited" not in names and "relaunched" not in names
    assert stop(ranks)["broken"] is False


def test_resize_before_the_application_attaches(linked):
    start_ranks(linked, 1, 2)
    resize(linked, 7, 4)
    assert linked.daemon.call("list")["runs"][0]["resize"] == 7
    linked.touch("attach")
    assert linked.daemon.expect("applied", 1, resize=7)["processes"] == 4
    stop(linked)


def test_repeated_and_withdrawn(ranks):
    resize(ranks, 10, 3)
    resize(ranks, 10, 3)
    ranks.daemon.expect("applied", 1, resize=10)
    ranks.daemon.notifications.clear()
    resize(ranks, 10, 3)
    ranks.daemon.expect("applied", 1, resize=10)
    ranks.daemon.call("withdraw", run=1, resize=11)
    ranks.daemon.expect("withdrawn", 1, resize=11)
    resize(ranks, 11, 2)
    ranks.daemon.pump_until(lambda: len(ranks.daemon.seen("withdrawn", 1, resize=11)) >= 2, "'withdrawn' again")
    expect_starts(ranks, (2, 1), (3, 2))
    stop(ranks)


def test_the_application_cannot(ranks):
    ranks.touch("fail")
    resize(ranks, 10, 5)
    assert ranks.daemon.expect("resize_failed", 1, resize=10)["text"] == "no memory for more ranks"
    remove(ranks, "fail")
    # what was planned then is forgotten: this one merges
    ranks.daemon.call("resize", run=1, resize=11, target=5)
    ranks.daemon.expect("applied", 1, resize=11)
    assert starts(ranks) == [(2, 1)]
    stop(ranks)


def test_processes_that_do_not_leave(ranks):
    ranks.touch("stay")
    first = ranks.daemon.expect("started", 1)["pid"]
    resize(ranks, 10, 3, grace_s=0.1)
    assert ranks.daemon.expect("applied", 1, resize=10)["processes"] == 3
    assert not is_alive(first)
    expect_starts(ranks, (2, 1), (3, 2))
    remove(ranks, "stay")
    stop(ranks)


def test_lost_connections(ranks):
    """The agent goes on alone, and tells later."""
    ranks.touch("stay")
    resize(ranks, 10, 4)
    ranks.daemon.drop()
    remove(ranks, "stay")
    expect_starts(ranks, (2, 1), (4, 2))
    ranks.daemon.notifications.clear()
    ranks.daemon.accept()
    ranks.daemon.call("list")
    assert ranks.daemon.expect("applied", 1, resize=10)["processes"] == 4
    relaunch(ranks, 11, 3)
    ranks.daemon.drop()
    ranks.daemon.notifications.clear()
    ranks.daemon.accept()
    ranks.daemon.call("list")
    assert ranks.daemon.expect("relaunched", 1, resize=11)["processes"] == 3
    relaunch(ranks, 11, 3)
    next_progress(ranks, processes=3)
    expect_starts(ranks, (2, 1), (4, 2), (3, 2))
    stop(ranks)


def test_relaunch_of_what_hangs_in_a_resize(ranks):
    ranks.touch("hang")
    first = ranks.daemon.expect("started", 1)["pid"]
    children = rank_processes(ranks)
    ranks.daemon.call("resize", run=1, resize=10, target=4)
    wait_until(lambda: "hangs" in ranks.output(1), "it is inside")
    told = relaunch(ranks, 10, 2)
    remove(ranks, "hang")
    assert told["processes"] == 2 and told["from_state"] is True and told["iteration"] > 0
    assert told["pid"] == ranks.daemon.call("list")["runs"][0]["pid"] != first
    assert not any(is_alive(pid) for pid in [first, *children])
    next_progress(ranks, processes=2)
    assert "resize" not in ranks.daemon.call("list")["runs"][0]
    assert not ranks.daemon.seen("applied", 1) and not ranks.daemon.seen("resize_failed", 1)
    # a late copy of the resize is answered by what came of it
    ranks.daemon.notifications.clear()
    ranks.daemon.call("resize", run=1, resize=10, target=4)
    ranks.daemon.expect("relaunched", 1, resize=10)
    # and the next resize is an ordinary one
    ranks.daemon.call("resize", run=1, resize=11, target=4)
    ranks.daemon.expect("applied", 1, resize=11)
    expect_starts(ranks, (2, 1), (2, 2))
    stop(ranks)


def test_relaunch_from_the_beginning(ranks):
    told = relaunch(ranks, 10, 3)
    assert told["from_state"] is False and told["iteration"] == 0
    next_progress(ranks, processes=3)
    expect_starts(ranks, (2, 1), (3, 1))
    stop(ranks)


def test_relaunch_of_what_ignores_signals(linked):
    """Also what made itself a session of its own, and stopped processes."""
    script = (
        "trap '' TERM; (setsid sh -c 'trap \"\" TERM; echo $$ >> pids; sleep 1000' &);"
        " echo $$ >> pids; sleep 1000; sleep 1000"
    )
    linked.start(1, "sh", "-c", script, mailbox_ranks=4)
    old = linked.pids("pids", 2)
    os.kill(old[0], signal.SIGSTOP)
    linked.touch("attach")
    relaunch(linked, 5, 2, grace_s=0.2)
    assert not any(is_alive(pid) for pid in old)
    linked.daemon.expect("progress", 1, processes=2)
    stop(linked)


def test_scratch_directory_is_renewed(linked):
    scratch = linked.directory / "pleat-scratch"
    linked.touch("attach")
    linked.start(1, RANKS, "2", str(linked.directory), mailbox_ranks=8, scratch=str(scratch))
    linked.daemon.expect("progress", 1, attached=True)
    (scratch / "old").touch()
    resize(linked, 10, 3)
    linked.daemon.expect("applied", 1, resize=10)
    assert list(scratch.iterdir()) == []
    (scratch / "old").touch()
    relaunch(linked, 11, 2)
    assert list(scratch.iterdir()) == []
    stop(linked)
    assert not scratch.exists()


@pytest.mark.parametrize("how", ["merging", "relaunching"])
def test_death_in_a_resize(ranks, how):
    ranks.touch("die")
    if how == "merging":
        ranks.daemon.call("resize", run=1, resize=10, target=4)
    else:
        resize(ranks, 10, 4)
    exited = ranks.daemon.expect("exited", 1)
    assert exited["signal"] == signal.SIGKILL and exited["broken"] is True
    assert not ranks.daemon.seen("applied", 1) and not ranks.daemon.seen("resize_failed", 1)
    assert ranks.daemon.call("list")["runs"][0]["state"] == "exited"
    ranks.daemon.fails("state", "resize", run=1, resize=11, target=4)
    remove(ranks, "die")
    # its exit is told again, and its state is still there
    ranks.daemon.drop()
    ranks.daemon.notifications.clear()
    ranks.daemon.accept()
    ranks.daemon.call("list")
    assert ranks.daemon.expect("exited", 1)["broken"] is True
    ranks.daemon.notifications.clear()
    told = relaunch(ranks, 10, 2)
    assert told["from_state"] is True
    next_progress(ranks, processes=2)
    expect_starts(ranks, (2, 1), (2, 2))
    assert ranks.daemon.call("list")["runs"][0]["state"] == "running"
    # an end of its own after that is final
    exited = stop(ranks)
    assert exited["broken"] is False
    ranks.daemon.fails("state", "relaunch", run=1, resize=12, processes=2, **words(ranks, 2))
    ranks.daemon.call("forget", run=1)


def test_death_in_a_resize_without_a_state(ranks):
    ranks.touch("unsaved")
    ranks.touch("die")
    ranks.daemon.call("resize", run=1, resize=10, target=4)
    assert ranks.daemon.expect("exited", 1)["broken"] is False
    ranks.daemon.fails("state", "relaunch", run=1, resize=10, processes=2, **words(ranks, 2))


def test_death_in_a_resize_with_an_old_state(ranks):
    """The work since that state would be lost: its user has to decide whether to go on from it."""
    ranks.daemon.call("resize", run=1, resize=10, target=3)
    ranks.daemon.expect("applied", 1, resize=10)
    ranks.touch("unsaved")
    ranks.touch("die")
    ranks.daemon.call("resize", run=1, resize=11, target=4)
    assert ranks.daemon.expect("exited", 1)["broken"] is False


def test_new_processes_that_cannot_load(ranks):
    ranks.touch("lost")
    resize(ranks, 10, 4)
    exited = ranks.daemon.expect("exited", 1)
    assert exited["broken"] is True and exited["code"] == 3
    assert exited["text"] == "the state has another shape"
    ranks.daemon.notifications.clear()
    relaunch(ranks, 10, 2)
    assert ranks.daemon.expect("exited", 1)["broken"] is True
    remove(ranks, "lost")
    ranks.daemon.notifications.clear()
    relaunch(ranks, 10, 2)
    next_progress(ranks, processes=2)
    expect_starts(ranks, (2, 1), (2, 2))
    ranks.daemon.notifications.clear()
    assert "text" not in stop(ranks)


def test_new_processes_that_cannot_be_started(ranks):
    nowhere = ["/nonexistent/program"]
    how = {"argv": nowhere, "env": ENV}
    ranks.daemon.call("resize", run=1, resize=10, target=4, relaunch=how)
    exited = ranks.daemon.expect("exited", 1)
    assert exited["broken"] is True and exited["code"] == -1 and nowhere[0] in exited["text"]
    ranks.daemon.notifications.clear()
    ranks.daemon.call("relaunch", run=1, resize=10, processes=2, **how)
    assert nowhere[0] in ranks.daemon.expect("exited", 1)["text"]
    relaunch(ranks, 11, 2)
    next_progress(ranks, processes=2)
    ranks.daemon.notifications.clear()
    assert stop(ranks)["broken"] is False


def test_kill_ends_it_for_good(ranks):
    ranks.touch("stay")
    resize(ranks, 10, 4)
    ranks.daemon.call("kill", run=1, grace_s=5)
    exited = ranks.daemon.expect("exited", 1)
    assert exited["broken"] is False
    assert starts(ranks) == [(2, 1)]
    ranks.daemon.fails("state", "relaunch", run=1, resize=10, processes=2, **words(ranks, 2))
    until_no_child(ranks)


@pytest.mark.parametrize("seen", [True, False])
def test_what_has_saved_and_left_has_not_ended_by_itself(ranks, seen):
    """Its processes exit with 0: a run that is ended before it was started again is not reported as done."""
    ranks.touch("slow")
    resize(ranks, 10, 4)
    if seen:  # else it has been asked to save, at most
        wait_until(lambda: "saved" in ranks.output(1), "it has saved its state")
    ranks.daemon.call("kill", run=1, grace_s=60 if seen else 5)
    remove(ranks, "slow")
    exited = ranks.daemon.expect("exited", 1)
    assert (exited["code"], exited["signal"]) == (0, signal.SIGTERM) and exited["broken"] is False, exited
    assert not seen or "before it was started again" in exited["text"], exited
    assert starts(ranks) == [(2, 1)]


def test_kill_of_what_broke(ranks):
    ranks.touch("die")
    ranks.daemon.call("resize", run=1, resize=10, target=4)
    assert ranks.daemon.expect("exited", 1)["broken"] is True
    ranks.daemon.notifications.clear()
    ranks.daemon.call("kill", run=1, grace_s=5)
    assert ranks.daemon.expect("exited", 1)["broken"] is False
    ranks.daemon.fails("state", "relaunch", run=1, resize=10, processes=2, **words(ranks, 2))


def test_forgetting_frees_the_state(ranks):
    ranks.touch("die")
    ranks.daemon.call("resize", run=1, resize=10, target=4)
    ranks.daemon.expect("exited", 1)

    def held():
        names = [os.readlink(f"/proc/{ranks.first.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{ranks.first.pid}/fd")]
        return [name for name in names if "memfd" in name]

    assert len(held()) == 3
    ranks.daemon.call("forget", run=1)
    assert held() == []


def test_the_agents_end_is_the_runs_end(ranks):
    ranks.touch("stay")
    resize(ranks, 10, 4)
    ranks.first.terminate()
    ranks.first.wait()
    assert starts(ranks) == [(2, 1)]


def test_nonsense(ranks):
    good = words(ranks, 2)
    for name, value in (("argv", []), ("argv", "x"), ("env", ["x"]), ("env", None), ("grace_s", -1)):
        bad = {**good, name: value}
        ranks.daemon.fails("invalid", "relaunch", run=1, resize=1, processes=2, **bad)
        ranks.daemon.fails("invalid", "resize", run=1, resize=1, target=2, relaunch=bad)
    for processes in (0, -1, "2", 65537):
        ranks.daemon.fails("invalid", "relaunch", run=1, resize=1, processes=processes, **good)
    assert "8" in ranks.daemon.fails("too big", "relaunch", run=1, resize=1, processes=9, **good)
    ranks.daemon.fails("invalid", "resize", run=1, resize=1, target=2, relaunch="yes")
    ranks.daemon.fails("not found", "relaunch", run=9, resize=1, processes=2, **good)
    ranks.start(2, "sleep", "1000")
    ranks.daemon.fails("unsupported", "relaunch", run=2, resize=1, processes=2, **good)
    stop(ranks)


def test_variables_of_an_agent_around_this_one_do_not_get_in(ranks):
    script = 'env | grep -c "^PLEAT_STATE=/proc" > count; sleep 1000'
    more = [*ENV, "PLEAT_STATE=/nowhere:/nowhere"]
    ranks.daemon.call("relaunch", run=1, resize=3, processes=1, argv=["sh", "-c", script], env=more)
    ranks.daemon.expect("relaunched", 1)
    assert ranks.pids("count", 1) == [1]
