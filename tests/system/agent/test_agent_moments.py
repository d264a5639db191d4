"""Processes that are killed in the middle of a start. The reaper, and the main process before it executes its
program, are stopped there by moments.c, and then killed. Of a program that was not executed it is never said that
it has ended."""

import os
import signal

import pytest

from conftest import BUILD, children_of, is_alive, stat_of, until_no_child, wait_until

SHIM = os.path.join(BUILD, "tests", "agent-moments.so")


@pytest.fixture(name="stopping")
def stopping_agent(world):
    """A start is stopped at the moment that stop() names."""
    world.first = world.agent(env={"LD_PRELOAD": SHIM, "MOMENT": str(world.directory / "moment"),
                                   "ASAN_OPTIONS": "verify_asan_link_order=0"})
    world.daemon.accept()
    return world


def stop(world, moment, *words, run=1):
    """Begins a start. (its reaper, its main process or None where there is none yet), one of which is stopped."""
    (world.directory / "moment").write_text(moment)
    world.start(run, *words)

    def stopped():
        for reaper, state in children_of(world.first.pid):
            below = children_of(reaper)
            if moment == "reaper" and state == "T":
                return reaper, None
            if moment != "reaper" and below and below[0][1] == "T":
                return reaper, below[0][0]
        return None
    return wait_until(stopped, f"it is stopped: {moment}")


def kill(pid):
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_alive(pid), "it is dead")


def is_not_started(world):
    failed = world.daemon.expect("start_failed", 1)
    assert (failed["user_fault"], failed["code"]) == (False, 125)
    assert "before it executed that" in failed["text"] and "signal 9" in failed["text"], failed
    assert world.daemon.seen("started", 1) == world.daemon.seen("exited", 1) == []
    assert not os.path.exists(world.directory / "ran")
    world.daemon.call("forget", run=1)
    # the agent is as good as before
    world.start(2, "sh", "-c", "exit 7")
    assert world.daemon.expect("exited", 2)["code"] == 7
    until_no_child(world)


@pytest.mark.parametrize("moment", ["untold", "told"])
def test_the_main_process_is_killed_before_it_executes_its_program(stopping, moment):
    _, main = stop(stopping, moment, "touch", "ran")
    kill(main)
    is_not_started(stopping)


def test_the_reaper_is_killed_before_it_forks(stopping):
    reaper, _ = stop(stopping, "reaper", "touch", "ran")
    kill(reaper)
    is_not_started(stopping)


@pytest.mark.parametrize("moment", ["untold", "told"])
def test_both_are_killed(stopping, moment):
    reaper, main = stop(stopping, moment, "touch", "ran")
    kill(reaper)
    wait_until(lambda: stat_of(main)[1] == stopping.first.pid, "the agent has it")
    kill(main)
    is_not_started(stopping)


@pytest.mark.parametrize("moment", ["untold", "told"])
def test_the_reaper_is_killed_and_the_start_goes_on(stopping, moment):
    reaper, main = stop(stopping, moment, "sh", "-c", "exit 7")
    kill(reaper)
    wait_until(lambda: stat_of(main)[1] == stopping.first.pid, "the agent has it")
    os.kill(main, signal.SIGCONT)
    assert stopping.daemon.expect("exited", 1)["code"] == 7
    assert stopping.daemon.seen("started", 1, pid=main)


@pytest.mark.parametrize("moment", ["untold", "told"])
def test_the_reaper_is_killed_and_the_start_fails(stopping, moment):
    """By its user's fault, as it would have failed without that."""
    reaper, main = stop(stopping, moment, "no-such-program")
    kill(reaper)
    wait_until(lambda: stat_of(main)[1] == stopping.first.pid, "the agent has it")
    os.kill(main, signal.SIGCONT)
    failed = stopping.daemon.expect("start_failed", 1)
    assert (failed["user_fault"], failed["code"]) == (True, 127)


@pytest.mark.parametrize("moment", ["untold", "told"])
def test_a_run_is_ended_before_it_executes_its_program(stopping, moment):
    """It has ended as was wished, and is not started again."""
    _, main = stop(stopping, moment, "touch", "ran")
    stopping.daemon.call("kill", run=1, grace_s=0)
    assert stopping.daemon.expect("exited", 1)["signal"] == signal.SIGKILL
    assert not is_alive(main) and not os.path.exists(stopping.directory / "ran")


def test_how_the_main_process_ended_is_known_though_its_reaper_did_not_tell(stopping):
    """The reaper is killed after the main process has ended."""
    os.mkfifo(stopping.directory / "fifo")
    stopping.start(1, "sh", "-c", "read line <fifo; exit 7")
    main = stopping.daemon.expect("started", 1)["pid"]
    [(reaper, _)] = children_of(stopping.first.pid)
    os.kill(reaper, signal.SIGSTOP)
    wait_until(lambda: stat_of(reaper)[0] == "T", "the reaper is stopped")
    with open(stopping.directory / "fifo", "w", encoding="ascii") as fifo:
        fifo.write("go\n")
    wait_until(lambda: not is_alive(main), "the main process has ended")
    kill(reaper)
    assert stopping.daemon.expect("exited", 1)["code"] == 7
