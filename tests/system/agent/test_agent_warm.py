"""Relaunches whose new processes are started while the old ones compute, and wait (agent/succession.h)."""

import os
import signal

import pytest

from conftest import RANKS, children_of, is_alive, wait_until
from test_agent_relaunch import ENV, expect_starts, next_progress, relaunch, remove, starts, words
from test_agent_resize import fixture_ranks, rank_processes, stop  # noqa: F401

LONG_S = 100  # longer than any step that goes well


def warm(world, number, size, warm_s=LONG_S, grace_s=10, **others):
    """A resize whose new processes are to wait within warm_s."""
    how = {**words(world, others.pop("processes", size)), "grace_s": grace_s, "warm_s": warm_s}
    how["argv"] = others.pop("argv", how["argv"])
    world.daemon.call("resize", run=1, resize=number, target=size, relaunch=how, **others)


def waiting(world, count=1):
    """The main process of the new ones that wait, the count-th of the run."""
    def there():
        lines = [line.split() for line in world.output(1).splitlines() if line.startswith("waits")]
        return [int(line[2]) for line in lines] if len(lines) >= count else None
    return wait_until(there, "new processes that wait")[count - 1]


def living(pid):
    return [child for child, state in children_of(pid) if state not in "ZX"]


def below(world):
    """The agent's reapers of generations of which something is alive: a reaper says that nothing is a moment before it ends itself."""
    return [reaper for reaper in living(world.first.pid) if living(reaper)]


def has_one_generation(world):
    wait_until(lambda: len(below(world)) == 1, "one generation")


def goes_on(world, size=2, times=(1,)):
    """Checks that the old processes were never disturbed. times: how often a program has begun, themselves included."""
    has_one_generation(world)
    assert len(starts(world)) in times
    assert world.daemon.call("list")["runs"][0]["state"] == "running"
    next_progress(world, processes=size)
    assert not world.daemon.seen("exited", 1) and not world.daemon.seen("vacated", 1)


def test_resizes(ranks):
    first = ranks.daemon.expect("started", 1)["pid"]
    warm(ranks, 10, 5)
    warm(ranks, 10, 5)  # the same, said again
    applied = ranks.daemon.expect("applied", 1, resize=10)
    assert applied["processes"] == 5 and applied["save_us"] == 1000 and applied["load_us"] == 700
    [listed] = ranks.daemon.call("list")["runs"]
    assert listed["processes"] == 5 and listed["pid"] == waiting(ranks) != first
    wait_until(lambda: not is_alive(first), "the old one's end")
    iteration = next_progress(ranks, processes=5)["iteration"]

    warm(ranks, 11, 2, mandatory=True)
    assert ranks.daemon.expect("applied", 1, resize=11)["processes"] == 2
    assert ranks.daemon.expect("vacated", 1, resize=11)["processes"] == 2
    assert not is_alive(waiting(ranks, 1))
    assert next_progress(ranks, processes=2)["iteration"] >= iteration
    expect_starts(ranks, (2, 1), (5, 2), (2, 3))
    has_one_generation(ranks)
    assert ranks.output(1).count("dismissed") == 2
    names = [name for name, _ in ranks.daemon.notifications]
    assert "exited" not in names and "relaunched" not in names
    assert stop(ranks)["left"] == 0


def test_the_old_ones_compute_meanwhile(ranks):
    """The old ranks are not asked anything before the new ones wait."""
    ranks.touch("never")
    warm(ranks, 10, 3)
    wait_until(lambda: len(below(ranks)) == 2, "two generations")
    iteration = next_progress(ranks, processes=2)["iteration"]
    assert next_progress(ranks, processes=2)["iteration"] > iteration
    remove(ranks, "never")
    assert ranks.daemon.expect("applied", 1, resize=10)["processes"] == 3
    stop(ranks)


@pytest.mark.parametrize("how, reason", [
    ("early", "exit code 4"), ("few", "there are 2 of them instead of 3"), ("hasty", "do not wait"),
    ("never", "not ready within"), ("nowhere", "/nonexistent/program"), ("killed", "signal 9")])
def test_new_ones_that_do_not_come_up(ranks, how, reason):
    """The old processes go on as if nothing had happened. The next time they end first."""
    ranks.touch(how)
    old = ranks.daemon.expect("started", 1)["pid"]
    others = {"argv": ["/nonexistent/program"]} if how == "nowhere" else {}
    others = {"argv": ["sh", "-c", "kill -9 $$"]} if how == "killed" else others
    warm(ranks, 10, 3, warm_s=0.3 if how == "never" else LONG_S, **others)
    text = ranks.daemon.expect("resize_failed", 1, resize=10)["text"]
    assert "goes on" in text and reason in text
    assert below(ranks) and len(below(ranks)) == 1, "it was told before they were gone"
    assert is_alive(old)
    # the hasty ones may be noticed and ended before they have written that they begin
    goes_on(ranks, times=(1, 2) if how == "hasty" else (1,))
    remove(ranks, how)
    warm(ranks, 11, 3)
    assert ranks.daemon.expect("applied", 1, resize=11)["processes"] == 3
    assert not is_alive(old)
    stop(ranks)


def test_a_warm_one_is_tried_again(ranks):
    """After a failure one cold relaunch, after the next failure in a row two."""
    ranks.touch("early")
    warm(ranks, 10, 3)
    ranks.daemon.expect("resize_failed", 1, resize=10)
    warm(ranks, 11, 3)  # a cold one, so the file does not matter
    ranks.daemon.expect("applied", 1, resize=11)
    warm(ranks, 12, 4)
    assert "exit code 4" in ranks.daemon.expect("resize_failed", 1, resize=12)["text"]
    for number, size in ((13, 4), (14, 3)):
        warm(ranks, number, size)
        ranks.daemon.expect("applied", 1, resize=number)
    remove(ranks, "early")
    assert "waits" not in ranks.output(1)
    warm(ranks, 15, 2)
    ranks.daemon.expect("applied", 1, resize=15)
    waiting(ranks)
    ranks.touch("early")
    warm(ranks, 16, 3)
    ranks.daemon.expect("resize_failed", 1, resize=16)
    remove(ranks, "early")
    warm(ranks, 17, 3)  # one cold one is enough again
    ranks.daemon.expect("applied", 1, resize=17)
    warm(ranks, 18, 2)
    ranks.daemon.expect("applied", 1, resize=18)
    waiting(ranks, 2)
    expect_starts(ranks, (2, 1), (3, 2), (4, 3), (3, 4), (2, 5), (3, 6), (2, 7))
    stop(ranks)


@pytest.mark.parametrize("how", ["early", "dies"])
@pytest.mark.parametrize("size", [3, 1])
def test_merges_instead(ranks, how, size):
    """With `or_merge` no resize fails because new processes did not come up."""
    old = ranks.daemon.expect("started", 1)["pid"]
    ranks.touch("wait" if how == "dies" else how)
    ranks.touch("leave")
    how_to = {**words(ranks, size), "warm_s": LONG_S, "or_merge": True}
    ranks.daemon.call("resize", run=1, resize=10, target=size, relaunch=how_to)
    if how == "dies":
        os.kill(waiting(ranks), signal.SIGKILL)
        wait_until(lambda: "these go on" in ranks.log.read_text(), "what the agent says of it")
        remove(ranks, "wait")
    applied = ranks.daemon.expect("applied", 1, resize=10)
    assert (applied["way"], applied["processes"]) == ("merge", size)
    assert "did not come up" in applied["instead"]
    assert len(below(ranks)) == 1, "others came or went before the new ones were gone"
    if size == 1:
        ranks.daemon.expect("vacated", 1, resize=10)
    next_progress(ranks, processes=size)
    assert is_alive(old) and starts(ranks) == [(2, 1)] and not ranks.daemon.seen("exited", 1)
    stop(ranks)


def test_says_in_which_way(ranks):
    warm(ranks, 10, 3)
    assert ranks.daemon.expect("applied", 1, resize=10)["way"] == "relaunch"
    warm(ranks, 11, 2, warm_s=0)
    applied = ranks.daemon.expect("applied", 1, resize=11)
    assert applied["way"] == "restart" and "instead" not in applied
    ranks.daemon.call("resize", run=1, resize=12, target=3)
    assert ranks.daemon.expect("applied", 1, resize=12)["way"] == "merge"
    stop(ranks)


def test_a_mandatory_shrink_does_not_depend_on_them(ranks):
    ranks.touch("early")
    warm(ranks, 10, 1, mandatory=True)
    assert ranks.daemon.expect("applied", 1, resize=10)["processes"] == 1
    ranks.daemon.expect("vacated", 1, resize=10)
    expect_starts(ranks, (2, 1), (1, 2))
    stop(ranks)


def test_new_ones_that_come_twice(ranks):
    """One of them takes over."""
    line = " ".join(words(ranks, 3)["argv"])
    warm(ranks, 10, 3, argv=["sh", "-c", f"{line} & {line}; wait; rm {ranks.directory}/x"])
    assert ranks.daemon.expect("applied", 1, resize=10)["processes"] == 3
    expect_starts(ranks, (2, 1), (3, 2))
    wait_until(lambda: "another program waits" in open(ranks.err_path(1), encoding="utf-8").read(), "the other")
    ranks.touch("x")
    ranks.touch("leave")
    ranks.touch("stop")
    assert ranks.daemon.expect("exited", 1)["code"] == 0


def test_new_ones_that_die_when_they_wait(ranks):
    ranks.touch("wait")  # at an adaptation point
    warm(ranks, 10, 3)
    os.kill(waiting(ranks), signal.SIGKILL)
    text = ranks.daemon.expect("resize_failed", 1, resize=10)["text"]
    assert "signal 9" in text
    remove(ranks, "wait")
    goes_on(ranks)
    stop(ranks)


def test_withdrawn(ranks):
    """What the new ones were to have is free when they are gone, though they do not listen."""
    warm(ranks, 10, 4, argv=["sh", "-c", f"trap '' TERM; touch {ranks.directory}/deaf; sleep 1000; sleep 1000"])
    wait_until((ranks.directory / "deaf").exists, "new ones that do not listen")
    ranks.daemon.call("withdraw", run=1, resize=10)
    ranks.daemon.call("withdraw", run=1, resize=10)
    ranks.daemon.expect("withdrawn", 1, resize=10)
    assert len(below(ranks)) == 1, "it was told before they were gone"
    goes_on(ranks)
    # and it is warm the next time
    warm(ranks, 11, 4)
    ranks.daemon.expect("applied", 1, resize=11)
    assert waiting(ranks)
    stop(ranks)


def test_withdrawn_when_they_wait(ranks):
    ranks.touch("wait")
    warm(ranks, 10, 4)
    new = waiting(ranks)
    ranks.daemon.call("withdraw", run=1, resize=10)
    ranks.daemon.expect("withdrawn", 1, resize=10)
    assert not is_alive(new)
    remove(ranks, "wait")
    goes_on(ranks)
    stop(ranks)


def test_the_old_ones_cannot_save(ranks):
    ranks.touch("fail")
    warm(ranks, 10, 4)
    assert ranks.daemon.expect("resize_failed", 1, resize=10)["text"] == "no memory for more ranks"
    assert not is_alive(waiting(ranks))
    remove(ranks, "fail")
    goes_on(ranks)
    warm(ranks, 11, 4)
    ranks.daemon.expect("applied", 1, resize=11)
    stop(ranks)


@pytest.mark.parametrize("when", ["never", "wait"])
def test_the_old_ones_end_meanwhile(ranks, when):
    """The exit of the run is that of the old processes."""
    ranks.touch(when)
    old = ranks.daemon.expect("started", 1)["pid"]
    warm(ranks, 10, 4)
    if when == "wait":
        waiting(ranks)
    wait_until(lambda: len(below(ranks)) == 2, "two generations")
    os.kill(old, signal.SIGTERM)
    exited = ranks.daemon.expect("exited", 1)
    assert exited["signal"] == signal.SIGTERM and exited["broken"] is False
    assert below(ranks) == [] and len(starts(ranks)) == 1

    ranks.daemon.call("forget", run=1)


def test_the_old_ones_die_when_they_have_saved(ranks):
    """The new ones wait for that state, and take it."""
    ranks.touch("die")
    old = ranks.daemon.expect("started", 1)["pid"]
    warm(ranks, 10, 4)
    applied = ranks.daemon.expect("applied", 1, resize=10)
    assert applied["processes"] == 4 and not is_alive(old)
    expect_starts(ranks, (2, 1), (4, 2))
    remove(ranks, "die")
    goes_on(ranks, size=4, times=(2,))
    stop(ranks)


def test_the_old_ones_die_without_a_state(ranks):
    ranks.touch("die")
    ranks.touch("unsaved")
    warm(ranks, 10, 4)
    exited = ranks.daemon.expect("exited", 1)
    assert exited["signal"] == signal.SIGKILL and exited["broken"] is False
    assert below(ranks) == [] and len(starts(ranks)) == 1


def test_old_ones_that_do_not_leave(ranks):
    """They are ended after a grace; what they had is given up only then. The next resize waits for that."""
    ranks.touch("stay")
    old = ranks.daemon.expect("started", 1)["pid"]
    warm(ranks, 10, 1, grace_s=LONG_S)
    ranks.daemon.expect("applied", 1, resize=10)
    warm(ranks, 11, 3)
    next_progress(ranks, processes=1)
    assert is_alive(old) and not ranks.daemon.seen("vacated", 1)
    assert len([line for line in ranks.output(1).splitlines() if "waits" in line]) == 1
    remove(ranks, "stay")
    ranks.daemon.expect("vacated", 1, resize=10)
    assert not is_alive(old)
    ranks.daemon.expect("applied", 1, resize=11)
    ranks.touch("stay")
    warm(ranks, 12, 2, grace_s=0.1)
    ranks.daemon.expect("vacated", 1, resize=12)
    assert not is_alive(waiting(ranks, 2))
    expect_starts(ranks, (2, 1), (1, 2), (3, 3), (2, 4))
    remove(ranks, "stay")
    assert stop(ranks)["left"] == 0


def test_new_ones_that_cannot_load(ranks):
    ranks.touch("lost")
    warm(ranks, 10, 4)
    exited = ranks.daemon.expect("exited", 1)
    assert exited["broken"] is True and exited["code"] == 3
    assert exited["text"] == "the state has another shape"
    assert below(ranks) == []
    remove(ranks, "lost")
    ranks.daemon.notifications.clear()
    relaunch(ranks, 10, 2)
    next_progress(ranks, processes=2)
    expect_starts(ranks, (2, 1), (2, 2))
    stop(ranks)


@pytest.mark.parametrize("when", ["never", "wait", "stay"])
def test_killed(ranks, when):
    ranks.touch(when)
    warm(ranks, 10, 4)
    if when == "stay":
        ranks.daemon.expect("applied", 1, resize=10)
    elif when == "wait":
        waiting(ranks)
    wait_until(lambda: len(below(ranks)) == 2, "two generations")
    ranks.daemon.call("kill", run=1, grace_s=5)
    assert ranks.daemon.expect("exited", 1)["broken"] is False
    assert below(ranks) == []
    ranks.daemon.fails("state", "relaunch", run=1, resize=10, processes=2, **words(ranks, 2))


@pytest.mark.parametrize("when", ["never", "wait", "stay"])
def test_relaunched_meanwhile(ranks, when):
    """A relaunch ends both generations, and starts one."""
    ranks.touch(when)
    warm(ranks, 10, 4)
    if when == "stay":
        ranks.daemon.expect("applied", 1, resize=10)
    elif when == "wait":
        waiting(ranks)
    wait_until(lambda: len(below(ranks)) == 2, "two generations")
    told = relaunch(ranks, 11, 1)
    assert told["processes"] == 1
    has_one_generation(ranks)
    remove(ranks, when)
    next_progress(ranks, processes=1)
    assert not ranks.daemon.seen("resize_failed", 1) and not ranks.daemon.seen("withdrawn", 1)
    assert ranks.daemon.call("list")["runs"][0]["pid"] == told["pid"]
    stop(ranks)


@pytest.mark.parametrize("when", ["never", "wait", "stay"])
@pytest.mark.parametrize("whose", ["old", "new"])
def test_a_reaper_is_killed(ranks, when, whose):
    """Then the reaper of the other generation tells which processes belong to which."""
    ranks.touch(when)
    [first] = below(ranks)
    warm(ranks, 10, 4)
    if when == "stay":
        ranks.daemon.expect("applied", 1, resize=10)
    elif when == "wait":
        waiting(ranks)
    both = wait_until(lambda: len(below(ranks)) == 2 and below(ranks), "two generations")
    victim = first if whose == "old" else next(pid for pid in both if pid != first)
    os.kill(victim, signal.SIGKILL)
    wait_until(lambda: not is_alive(victim), "the end of the reaper")
    remove(ranks, when)
    ranks.daemon.expect("applied", 1, resize=10)
    ranks.daemon.pump_until(lambda: len(starts(ranks)) == 2, "it goes on")
    next_progress(ranks, processes=4)
    ranks.daemon.call("kill", run=1, grace_s=5)
    ranks.daemon.expect("exited", 1)
    assert below(ranks) == []


@pytest.mark.parametrize("when", ["never", "wait", "stay"])
def test_the_agent_is_ended(ranks, when):
    ranks.touch(when)
    warm(ranks, 10, 4)
    if when == "stay":
        ranks.daemon.expect("applied", 1, resize=10)
    elif when == "wait":
        waiting(ranks)
    both = wait_until(lambda: len(below(ranks)) == 2 and below(ranks), "two generations")
    ranks.first.terminate()
    ranks.first.wait()
    # a reaper says that nothing is left, and then ends itself
    wait_until(lambda: not any(is_alive(pid) for pid in both), "the end of both")


@pytest.mark.parametrize("when", ["never", "wait", "stay", "unwanted"])
def test_the_agent_is_killed(ranks, when):
    """The reapers of both end what they have (here there is no guard)."""
    ranks.touch(when)
    deaf = {"argv": ["sh", "-c", f"trap '' TERM; touch {ranks.directory}/deaf; sleep 1000; sleep 1000"]}
    warm(ranks, 10, 4, **(deaf if when == "unwanted" else {}))
    if when == "unwanted":
        wait_until((ranks.directory / "deaf").exists, "new ones that do not listen")
        ranks.daemon.call("withdraw", run=1, resize=10)
    if when == "stay":
        ranks.daemon.expect("applied", 1, resize=10)
    elif when == "wait":
        waiting(ranks)
    wait_until(lambda: len(below(ranks)) == 2, "two generations")
    ranks.first.kill()
    ranks.first.wait()
    wait_until(lambda: not any(is_alive(pid) for pid in ranks.strays()), "the end of both")


def test_lost_connections(ranks):
    """The agent goes on alone, and tells later."""
    ranks.touch("never")
    warm(ranks, 10, 1)
    wait_until(lambda: len(below(ranks)) == 2, "two generations")
    ranks.daemon.drop()
    remove(ranks, "never")
    expect_starts(ranks, (2, 1), (1, 2))
    ranks.daemon.notifications.clear()
    ranks.daemon.accept()
    ranks.daemon.call("list")
    assert ranks.daemon.expect("applied", 1, resize=10)["processes"] == 1
    ranks.daemon.expect("vacated", 1, resize=10)
    warm(ranks, 10, 1)
    has_one_generation(ranks)
    stop(ranks)


@pytest.mark.parametrize("kind", ["pipe", "file", "null"])
def test_input_is_read_by_one(linked, kind):
    """From a pipe a second generation would take what the first one is to read: the relaunch is a cold one. A file
    is read by each from its beginning."""
    path = linked.directory / "input"
    if kind == "pipe":
        os.mkfifo(path)
        end = os.open(path, os.O_RDWR)  # so that nobody waits for the other end
    elif kind == "file":
        path.write_text("x\n")
    else:
        path = "/dev/null"
    linked.touch("attach")
    linked.start(1, RANKS, "2", str(linked.directory), mailbox_ranks=8, stdin=str(path))
    linked.daemon.expect("progress", 1, attached=True)
    warm(linked, 10, 3)
    way = linked.daemon.expect("applied", 1, resize=10)["way"]
    expect_starts(linked, (2, 1), (3, 2))
    assert way == ("restart" if kind == "pipe" else "relaunch")
    assert ("waits" in linked.output(1)) == (kind != "pipe")
    stop(linked)
    if kind == "pipe":
        os.close(end)


def test_nonsense(ranks):
    for value in (-1, "1"):
        ranks.daemon.fails("invalid", "resize", run=1, resize=1, target=2,
                           relaunch={**words(ranks, 2), "warm_s": value})
    assert ENV
    stop(ranks)
