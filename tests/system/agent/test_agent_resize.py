"""Malleable runs: the mailbox, what is asked of it, and what is told of it."""

import os

import pytest

from conftest import RANKS, is_alive, wait_until


@pytest.fixture(name="ranks")
def fixture_ranks(linked):
    """Starts agent-ranks as run 1 with 2 ranks of at most 8, attached."""
    linked.touch("attach")
    start_ranks(linked, 1, 2)
    linked.daemon.expect("progress", 1, attached=True)
    return linked


def start_ranks(world, run, size):
    world.start(run, RANKS, str(size), str(world.directory), mailbox_ranks=8)
    world.daemon.expect("started", run)


def stop(world, run=1):
    world.touch("leave")
    world.touch("stop")
    exited = world.daemon.expect("exited", run)
    with open(world.err_path(run), encoding="utf-8") as file:
        assert file.read() == ""
    assert exited["code"] == 0
    return exited


def test_grow_and_shrink(ranks):
    ranks.daemon.call("resize", run=1, resize=10, target=5, mandatory=False)
    applied = ranks.daemon.expect("applied", 1, resize=10)
    assert applied["processes"] == 5
    assert applied["processes_us"] == 2000
    assert applied["redistribute_us"] == 3000
    assert applied["total_us"] == 5000
    assert applied["bytes"] == 4096
    assert applied["wait_us"] >= 0
    assert ranks.daemon.expect("progress", 1, processes=5)["iteration"] > 0
    [listed] = ranks.daemon.call("list")["runs"]
    assert listed["processes"] == 5
    assert "resize" not in listed

    children = wait_until(lambda: len(rank_processes(ranks)) == 4 and rank_processes(ranks), "ranks")
    ranks.daemon.call("resize", run=1, resize=11, target=2, mandatory=True)
    assert ranks.daemon.expect("applied", 1, resize=11)["processes"] == 2
    ranks.daemon.expect("progress", 1, processes=2)
    assert all(is_alive(pid) for pid in children)
    assert not ranks.daemon.seen("vacated", 1)
    ranks.touch("leave")
    assert ranks.daemon.expect("vacated", 1, resize=11)["processes"] == 2
    assert sum(is_alive(pid) for pid in children) == 1
    assert stop(ranks)["left"] == 0


def rank_processes(world):
    """The processes of ranks beyond the first."""
    main = world.daemon.expect("started", 1)["pid"]
    with open(f"/proc/{main}/task/{main}/children", encoding="ascii") as file:
        return [int(pid) for pid in file.read().split()]


def test_many_resizes(ranks):
    ranks.touch("leave")
    sizes = [4, 1, 8, 3, 3, 7, 2, 6, 1, 2] * 5
    before = 2
    for resize, size in enumerate(sizes, start=100):
        ranks.daemon.call("resize", run=1, resize=resize, target=size)
        assert ranks.daemon.expect("applied", 1, resize=resize)["processes"] == size
        if size < before:
            assert ranks.daemon.expect("vacated", 1, resize=resize)["processes"] == size
        before = size
    stop(ranks)


def test_grow_again_while_leavers_are_still_there(ranks):
    ranks.daemon.call("resize", run=1, resize=1, target=1)
    ranks.daemon.expect("applied", 1, resize=1)
    ranks.daemon.call("resize", run=1, resize=2, target=3)
    ranks.daemon.expect("applied", 1, resize=2)
    assert not ranks.daemon.seen("vacated", 1)
    ranks.touch("leave")
    assert ranks.daemon.expect("vacated", 1)["resize"] == 1
    stop(ranks)


def test_ask(ranks):
    ranks.daemon.call("ask", run=1, resize=5, offered=8, mandatory=False)
    assert ranks.daemon.expect("answer", 1, resize=5)["accepted"] == 3
    ranks.daemon.call("resize", run=1, resize=5, target=3, mandatory=False)
    assert ranks.daemon.expect("applied", 1, resize=5)["processes"] == 3
    ranks.daemon.notifications.clear()
    ranks.daemon.call("ask", run=1, resize=5, offered=8, mandatory=False)
    assert ranks.daemon.expect("answer", 1, resize=5)["accepted"] == 3
    stop(ranks)


def test_failed_resize(ranks):
    ranks.touch("fail")
    ranks.daemon.call("resize", run=1, resize=10, target=5)
    assert ranks.daemon.expect("resize_failed", 1, resize=10)["text"] == "no memory for more ranks"
    os.unlink(ranks.directory / "fail")
    ranks.daemon.call("resize", run=1, resize=11, target=5)
    assert ranks.daemon.expect("applied", 1, resize=11)["processes"] == 5
    stop(ranks)


def test_repeated_and_finished_resizes(ranks):
    ranks.daemon.call("resize", run=1, resize=10, target=3)
    ranks.daemon.expect("applied", 1, resize=10)
    ranks.daemon.notifications.clear()
    ranks.daemon.call("resize", run=1, resize=10, target=3)
    ranks.daemon.expect("applied", 1, resize=10)
    ranks.daemon.call("withdraw", run=1, resize=10)
    ranks.daemon.pump_until(lambda: len(ranks.daemon.seen("applied", 1)) >= 2, "'applied' again")
    assert not ranks.daemon.seen("withdrawn", 1)
    # and after a reconnect, all is told again
    ranks.daemon.drop()
    ranks.daemon.notifications.clear()
    ranks.daemon.accept()
    ranks.daemon.call("list")
    assert ranks.daemon.expect("applied", 1, resize=10)["processes"] == 3
    ranks.daemon.expect("progress", 1, processes=3)
    stop(ranks)


def test_resize_before_the_application_attaches(linked):
    start_ranks(linked, 1, 2)
    linked.daemon.call("resize", run=1, resize=7, target=4)
    linked.daemon.call("resize", run=1, resize=7, target=4)
    assert linked.daemon.call("list")["runs"][0]["resize"] == 7
    text = linked.daemon.fails("busy", "resize", run=1, resize=8, target=3)
    assert "resize 7" in text
    linked.daemon.fails("busy", "ask", run=1, resize=8, offered=3)
    assert not linked.daemon.seen("applied", 1)
    linked.touch("attach")
    assert linked.daemon.expect("applied", 1, resize=7)["processes"] == 4
    stop(linked)


def test_shrink_before_the_application_attaches(linked):
    """Which ranks leave is known only when the application attaches."""
    start_ranks(linked, 1, 3)
    linked.daemon.call("resize", run=1, resize=7, target=1)
    linked.touch("attach")
    assert linked.daemon.expect("applied", 1, resize=7)["processes"] == 1
    linked.daemon.expect("progress", 1, processes=1)
    assert not linked.daemon.seen("vacated", 1)
    linked.touch("leave")
    linked.daemon.expect("vacated", 1, resize=7, processes=1)
    stop(linked)


def test_withdraw_from_an_application_that_never_attaches(linked):
    linked.start(1, "sleep", "1000", mailbox_ranks=4)
    linked.daemon.call("resize", run=1, resize=7, target=2)
    linked.daemon.call("withdraw", run=1, resize=7)
    linked.daemon.expect("withdrawn", 1, resize=7)
    # a late copy of the request does not revive it
    linked.daemon.notifications.clear()
    linked.daemon.call("resize", run=1, resize=7, target=2)
    linked.daemon.expect("withdrawn", 1, resize=7)
    assert "resize" not in linked.daemon.call("list")["runs"][0]
    # one that never arrived will not happen either
    linked.daemon.call("withdraw", run=1, resize=9)
    linked.daemon.expect("withdrawn", 1, resize=9)
    # and another can follow
    linked.daemon.call("resize", run=1, resize=10, target=2)
    assert linked.daemon.call("list")["runs"][0]["resize"] == 10


def test_application_that_has_finished_its_session(ranks):
    ranks.touch("finish")

    def withdrawn_in_the_end(resize=[20]):
        """Until the session has ended, resizes to the same size are applied."""
        resize[0] += 1
        ranks.daemon.call("resize", run=1, resize=resize[0], target=2)
        while True:
            if ranks.daemon.seen("withdrawn", 1, resize=resize[0]):
                return True
            if ranks.daemon.seen("applied", 1, resize=resize[0]):
                return False
            ranks.daemon.pump()

    wait_until(withdrawn_in_the_end, "a resize is withdrawn")
    stop(ranks)


def test_exit_with_an_outstanding_resize(linked):
    start_ranks(linked, 1, 2)
    linked.daemon.call("resize", run=1, resize=7, target=4)
    linked.daemon.call("kill", run=1, grace_s=0)
    linked.daemon.expect("exited", 1)
    names = {name for name, params in linked.daemon.notifications if params["run"] == 1}
    assert names == {"started", "exited"}
    linked.daemon.fails("state", "resize", run=1, resize=8, target=4)
    linked.daemon.fails("state", "withdraw", run=1, resize=9)


def test_wrong_resizes(ranks):
    for target in (0, -1, 65537, "2", 1.5):
        ranks.daemon.fails("invalid", "resize", run=1, resize=1, target=target)
        ranks.daemon.fails("invalid", "ask", run=1, resize=1, offered=target)
    assert "8" in ranks.daemon.fails("too big", "resize", run=1, resize=1, target=9)
    ranks.daemon.fails("invalid", "resize", run=1, resize=0, target=2)
    ranks.daemon.fails("invalid", "resize", run=1, resize=1, target=2, mandatory="yes")
    ranks.start(2, "sleep", "1000")
    assert "no mailbox" in ranks.daemon.fails("unsupported", "resize", run=2, resize=1, target=2)
    stop(ranks)


def test_killed_rank_processes_count_as_gone(ranks):
    ranks.daemon.call("resize", run=1, resize=1, target=4)
    ranks.daemon.expect("applied", 1, resize=1)
    ranks.daemon.call("resize", run=1, resize=2, target=1)
    ranks.daemon.expect("applied", 1, resize=2)
    for pid in rank_processes(ranks):
        os.kill(pid, 9)
    ranks.daemon.expect("vacated", 1, resize=2)
    stop(ranks)


def test_overwritten_mailbox_costs_only_the_run(linked):
    script = (
        "import os\n"
        "path = os.environ['PLEAT_MAILBOX']\n"
        "size = os.stat(path).st_size\n"
        "with open(path, 'r+b', buffering=0) as file:\n"
        "    for byte in (0xff, 0x00, 0x5a):\n"
        "        file.seek(0)\n"
        "        file.write(bytes([byte]) * size)\n"
        "        open(os.environ['PLEAT_DOORBELL'], 'w').write('x' * 100)\n"
        "        open('wrote', 'a').write('x')\n"
        "        open('fifo').read()\n"
    )
    os.mkfifo(linked.directory / "fifo")
    linked.start(1, "python3", "-c", script, mailbox_ranks=4)
    wrote = linked.directory / "wrote"
    for count in (1, 2, 3):
        wait_until(lambda: wrote.exists() and len(wrote.read_text()) == count, "it has written")
        try:
            linked.daemon.call("resize", run=1, resize=count, target=3)
        except Exception:  # busy with the last one, which never comes to an end: also an answer
            pass
        linked.daemon.call("list")
        with open(linked.directory / "fifo", "w", encoding="ascii") as fifo:
            fifo.write("go\n")
    linked.daemon.expect("exited", 1)
    linked.start(2, "true")
    assert linked.daemon.expect("exited", 2)["code"] == 0
