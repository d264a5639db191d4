"""Ending whole trees of processes, and what is left when a main process ends."""

import os
import signal

import pytest

from conftest import children_of, is_alive, stat_of, until_no_child, wait_until

STUBBORN = "trap '' TERM HUP INT; echo $$ >> pids; while :; do sleep 1000 & wait; done"

# Forks twice, becomes a session of its own, and ignores SIGTERM.
ESCAPE = """
import os, signal
def escape():
    if os.fork():
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    script = "trap '' TERM; echo $$ >> pids; while :; do sleep 1000 & wait; done"
    os.execv("/bin/bash", ["bash", "-c", script])
escape()
escape()
"""


# Clears its environment, takes a session of its own and loses its parents.
DETACH = "(setsid env -i PATH=/usr/bin:/bin bash -c 'echo $$ >> pids; sleep 1000; true' &)\n"


def reapers(world):
    return [pid for pid, _ in children_of(world.first.pid)]


def gone(pids):
    return lambda: not any(is_alive(pid) for pid in pids)


def test_kill_stubborn_tree(linked):
    script = f"({STUBBORN}) & ({STUBBORN}) & {STUBBORN}"
    linked.start(1, "bash", "-c", script)
    pids = linked.pids("pids", 3)
    linked.daemon.call("kill", run=1, grace_s=0.2)
    exited = linked.daemon.expect("exited", 1)
    assert exited["signal"] == signal.SIGKILL
    assert gone(pids)()


def test_kill_gives_grace(linked):
    linked.start(1, "bash", "-c", "trap 'echo bye; exit 7' TERM; echo $$ > pids; sleep 1000 & wait")
    linked.pids("pids", 1)
    linked.daemon.call("kill", run=1, grace_s=1000)
    exited = linked.daemon.expect("exited", 1)
    assert exited["code"] == 7
    assert exited["left"] == 0
    assert linked.output(1) == "bye\n"


def test_a_second_kill_can_shorten_the_grace(linked):
    linked.start(1, "bash", "-c", STUBBORN)
    pids = linked.pids("pids", 1)
    linked.daemon.call("kill", run=1, grace_s=1000)
    linked.daemon.call("kill", run=1, grace_s=2000)
    assert is_alive(pids[0])
    linked.daemon.call("kill", run=1, grace_s=0)
    assert linked.daemon.expect("exited", 1)["signal"] == signal.SIGKILL


def test_kill_finds_escapees(linked):
    linked.start(1, "python3", "-c", ESCAPE + "\nsignal.pause()")
    pids = linked.pids("pids", 2)
    [reaper] = reapers(linked)
    wait_until(lambda: all(stat_of(pid)[1] == reaper for pid in pids), "the reaper adopts them")
    linked.daemon.call("kill", run=1, grace_s=0.1)
    linked.daemon.expect("exited", 1)
    assert gone(pids)()


def test_rest_without_environment_is_found_by_its_session(linked):
    script = f'(env -i PATH=$PATH bash -c "{STUBBORN}" &) ; read < fifo'
    os.mkfifo(linked.directory / "fifo")
    linked.start(1, "bash", "-c", script.replace("$$", "\\$\\$").replace("$PATH", "/usr/bin:/bin"))
    pids = linked.pids("pids", 1)
    with open(linked.directory / "fifo", "w", encoding="ascii") as fifo:
        fifo.write("go\n")
    exited = linked.daemon.expect("exited", 1)
    assert (exited["code"], exited["left"] >= 1) == (0, True)
    assert gone(pids)()


def test_escapees_end_with_the_main_process(linked):
    os.mkfifo(linked.directory / "fifo")
    linked.start(1, "python3", "-c", ESCAPE + "\nopen('fifo').read()")
    pids = linked.pids("pids", 2)
    with open(linked.directory / "fifo", "w", encoding="ascii") as fifo:
        fifo.write("go\n")
    exited = linked.daemon.expect("exited", 1)
    assert exited["code"] == 0
    assert exited["left"] >= 2
    assert gone(pids)()


def test_rest_may_end_by_itself(linked):
    """With time to linger, what ends by itself is not counted, and is not told to end."""
    os.mkfifo(linked.directory / "fifo")
    script = "(trap 'echo told' TERM; echo $BASHPID > pids; read < fifo; echo done) & exit 4"
    linked.start(1, "bash", "-c", script, linger_s=1000)
    pids = linked.pids("pids", 1)
    linked.daemon.expect("started", 1)
    listed = linked.daemon.call("list")["runs"]
    assert [run["state"] for run in listed] == ["running"]
    with open(linked.directory / "fifo", "w", encoding="ascii") as fifo:
        fifo.write("go\n")
    exited = linked.daemon.expect("exited", 1)
    assert (exited["code"], exited["left"]) == (4, 0)
    assert linked.output(1) == "done\n"
    assert gone(pids)()


# Another process is left, too: once that is told, so is all that is to be told.
ORTED = """
exec 8<> ready 9<> fifo
./orted -c 'trap "echo told; exit" TERM; echo $$ > pids; echo >&8; while ! read -t 0.05 -u 9; do :; done; echo done' orted WORD &
read -u 8
bash -c 'trap "echo >> swept; exit" TERM; echo >&8; while :; do sleep 0.05; done' &
read -u 8
"""


@pytest.mark.parametrize("word, end", [("--singleton-died-pipe", "alone"), ("--singleton-died-pipe", "stays"),
                                       ("--singleton-died-pipe", "killed"), ("--hnp", "told")])
def test_a_daemon_of_open_mpi_ends_by_itself(linked, word, end):
    """It crashes when it is told to while it does: the daemon of a program that began without mpirun. It may not stay, though."""
    os.mkfifo(linked.directory / "fifo")
    os.mkfifo(linked.directory / "ready")
    os.symlink("/bin/bash", linked.directory / "orted")
    linked.start(1, "bash", "-c", ORTED.replace("WORD", word) + ("exec sleep 1000" if end == "killed" else "exit 4"), linger_s=0)
    pids = linked.pids("pids", 1)
    if end == "killed":
        linked.daemon.expect("started", 1)
        linked.daemon.call("kill", run=1, grace_s=0.5)
    if end == "alone":
        wait_until(lambda: os.path.exists(linked.directory / "swept"), "what is left has been told")
        with open(linked.directory / "fifo", "w", encoding="ascii") as fifo:
            fifo.write("go\n")
    exited = linked.daemon.expect("exited", 1)
    assert linked.output(1) == {"alone": "done\n", "told": "told\n"}.get(end, "")
    if end != "killed":
        assert exited["left"] >= (1 if end == "alone" else 2)
    assert gone(pids)()


def test_stopped_processes_are_ended(linked):
    linked.start(1, "bash", "-c", "trap 'exit 9' TERM; echo $$ > pids; kill -STOP $$; exit 1")
    pids = linked.pids("pids", 1)
    wait_until(lambda: stat_of(pids[0])[0] == "T", "it is stopped")
    linked.daemon.call("kill", run=1, grace_s=1000)
    assert linked.daemon.expect("exited", 1)["code"] == 9


def test_one_run_is_not_the_other(linked):
    for run in (1, 2):
        linked.start(run, "python3", "-c", ESCAPE.replace("pids", f"pids{run}") + "\nsignal.pause()")
    first, second = linked.pids("pids1", 2), linked.pids("pids2", 2)
    linked.daemon.call("kill", run=1, grace_s=0)
    linked.daemon.expect("exited", 1)
    assert gone(first)()
    assert all(is_alive(pid) for pid in second)
    linked.daemon.call("kill", run=2, grace_s=0)
    linked.daemon.expect("exited", 2)
    assert gone(second)()


def test_forks_while_it_is_killed(linked):
    """Processes that start another and end, again and again, each in a session of its own."""
    script = (
        "import os, signal, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "open('pids', 'a').write(f'{os.getpid()}\\n')\n"
        "end = time.monotonic() + 20\n"
        "while time.monotonic() < end:\n"
        "    time.sleep(0.002)\n"
        "    if os.fork():\n"
        "        os._exit(0)\n"
        "    os.setsid()\n"
    )
    for run in range(1, 9):
        linked.start(run, "python3", "-c", script, linger_s=1000)
    linked.pids("pids", 8)
    for run in range(1, 9):
        linked.daemon.call("kill", run=run, grace_s=0.1)
    for run in range(1, 9):
        linked.daemon.expect("exited", run)
    assert not [pid for pid in linked.strays() if is_alive(pid)]


def test_many_short_processes_leave_no_zombie(linked):
    for run in range(1, 301):
        linked.start(run, "sh", "-c", f"(exit 1) & exit {run % 200}")
    for run in range(1, 301):
        assert linked.daemon.expect("exited", run)["code"] == run % 200
        linked.daemon.call("forget", run=run)
    until_no_child(linked)
    assert linked.daemon.call("list") == {"runs": [], "more": False}


def test_adopted_orphans_are_reaped(linked):
    script = "for i in $(seq 20); do (sh -c 'true' & true) & done; wait; read < fifo"
    os.mkfifo(linked.directory / "fifo")
    linked.start(1, "bash", "-c", script)
    pid = linked.daemon.expect("started", 1)["pid"]
    with open(linked.directory / "fifo", "w", encoding="ascii") as fifo:
        [reaper] = reapers(linked)
        wait_until(lambda: children_of(reaper) == [(pid, "S")], "only the run is left")
        fifo.write("go\n")
    linked.daemon.expect("exited", 1)
    until_no_child(linked)


def test_descriptors_do_not_grow(linked):
    descriptors = f"/proc/{linked.first.pid}/fd"
    before = len(os.listdir(descriptors))
    for run in range(1, 41):
        linked.start(run, "true", mailbox_ranks=8)
        linked.daemon.expect("exited", run)
        linked.daemon.call("forget", run=run)
    linked.daemon.call("list")
    wait_until(lambda: len(os.listdir(descriptors)) == before, "as many descriptors as before")


def test_what_hides_ends_with_its_run_alone(linked):
    for run in (1, 2):
        linked.start(run, "bash", "-c", DETACH.replace("pids", f"pids{run}") + "read < fifo")
    os.mkfifo(linked.directory / "fifo")
    first, second = linked.pids("pids1", 1), linked.pids("pids2", 1)
    linked.daemon.call("kill", run=1, grace_s=1)
    linked.daemon.expect("exited", 1)
    assert gone(first)()
    assert is_alive(second[0])
    linked.daemon.call("kill", run=2, grace_s=1)
    linked.daemon.expect("exited", 2)
    assert gone(second)()


def test_a_reaper_is_killed(linked):
    """The end of the main process is known all the same, and processes that can be recognised end with it."""
    os.mkfifo(linked.directory / "fifo")
    linked.start(1, "bash", "-c", f"({STUBBORN}) & {STUBBORN.replace('pids', 'more')} & read < fifo; exit 7")
    pids = linked.pids("pids", 1) + linked.pids("more", 1)
    [reaper] = reapers(linked)
    os.kill(reaper, signal.SIGKILL)
    wait_until(lambda: not is_alive(reaper) and len(reapers(linked)) == 1, "the agent has what it had")
    with open(linked.directory / "fifo", "w", encoding="ascii") as fifo:
        fifo.write("go\n")
    exited = linked.daemon.expect("exited", 1)
    assert (exited["code"], exited["left"] >= 2) == (7, True)
    assert gone(pids)()


def test_a_reaper_is_stopped(linked):
    """It goes on when its run is to end."""
    linked.start(1, "bash", "-c", DETACH + "sleep 1000; true")
    pids = linked.pids("pids", 1)
    [reaper] = reapers(linked)
    os.kill(reaper, signal.SIGSTOP)
    linked.daemon.call("kill", run=1, grace_s=1)
    assert linked.daemon.expect("exited", 1)["signal"] == signal.SIGTERM
    assert gone(pids)()


def test_an_agent_without_a_guard_is_killed(linked):
    """Each reaper ends what it has."""
    linked.start(1, "bash", "-c", DETACH + "sleep 1000; true")
    pids = linked.pids("pids", 1)
    [reaper] = reapers(linked)
    linked.first.kill()
    wait_until(lambda: gone([*pids, reaper])(), "nothing is left")
