"""A program that cannot begin with as few ranks as it was started with (`pleat_session_limits`)."""

import os
import signal

import pytest

from conftest import PLEAT, is_alive, wait_until
from test_asked import Asker
from relaunching import LONG, MPIS, computes, ends_well, program, resizes, submit, text_of_events

QUIET = LONG + "\nmalleability = none"  # nobody grows but who needs that


def needs(pleat, mpi, sizes, initial, wanted, options=()):
    return submit(pleat, mpi, sizes=sizes, options=["--initial", initial, *options],
                  args=["--pause", "10", "--until", pleat.path("end"), "--sizes", wanted])


@pytest.mark.parametrize("mpi", MPIS)
def test_it_is_started_on_more(pleat, mpi):
    """As many as it needs are idle: whatever its way of resizing, it is started again, and has lost nothing."""
    pleat.configure(QUIET)
    number = needs(pleat, mpi, (1, 8), 2, "3:0:multiples:4", ["--on-resize", "merge"] if mpi == "openmpi" else [])
    computes(pleat, number, 4)
    job = pleat.job(number)
    assert job["asked"]["state"] == "granted" and job["asked"]["processors"] == 4, job
    job = ends_well(pleat, number)
    assert resizes(job) == [(2, 4, "grown")], resizes(job)
    assert "ranks=4" in pleat.output(number)


@pytest.mark.parametrize("mpi", MPIS)
def test_it_waits_for_more(pleat, mpi):
    """Others have them: it waits in the queue, holds nothing there, and keeps nobody else from them."""
    pleat.configure(QUIET)
    other = pleat.submit("-n", 4, "--", "sleep", "1000")
    wait_until(lambda: pleat.job(other)["state"] == "running", "the other job")
    number = needs(pleat, mpi, (1, 6), 2, "6:0:")
    twin = needs(pleat, mpi, (1, 6), 2, "5:0:")
    for job, least in ((number, 6), (twin, 5)):
        wait_until(lambda: pleat.job(job)["state"] == "queued" and pleat.job(job)["min"] == least, f"{job} to wait again")
    assert "too few processors to begin" in text_of_events(pleat, number)
    why = pleat.pleat("why", number, check=0).stdout
    assert "its program says that it needs 6 at least" in why, why
    assert sum(job["processors"] for job in pleat.call("jobs")["jobs"]) == 4
    pleat.kill_daemon()
    assert pleat.job(number)["min"] == 6 and pleat.job(twin)["min"] == 5
    pleat.pleat("cancel", twin, check=0)
    assert pleat.wait_end(twin)["state"] == "cancelled"
    pleat.pleat("cancel", other, check=0)
    wait_until(lambda: pleat.job(number)["state"] != "queued", "its second start")
    computes(pleat, number, 6)
    assert resizes(ends_well(pleat, number)) == []


@pytest.mark.parametrize("mpi", MPIS)
def test_a_program_of_a_script(pleat, mpi):
    """What the script did before is done: only its program is started again."""
    pleat.configure(QUIET)
    with open(pleat.path("job.sh"), "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\necho once\n{PLEAT} launch {program('loop', mpi)} --pause 10 --until end --sizes 3:0:\n")
    number = pleat.submit("--min", 1, "--max", 4, "--initial", 2, "--malleable", "job.sh")
    computes(pleat, number, 3)
    job = ends_well(pleat, number)
    assert resizes(job) == [(2, 3, "grown")] and pleat.output(number).count("once") == 1


@pytest.mark.parametrize("mpi", MPIS)
def test_there_will_never_be_more(pleat, mpi):
    pleat.configure(QUIET)
    number = needs(pleat, mpi, (1, 2), 2, "3:0:")
    job = pleat.wait_end(number)
    assert job["state"] == "failed", job
    shown = pleat.pleat("why", number, check=0).stdout + pleat.pleat("show", number, check=0).stdout
    assert "started with 2 ranks and can use none of these sizes (at least 3)" in shown, shown
    assert "it got no more: 3 processors: its limits are 2 to 2" in shown, shown
    assert "can use none of these sizes" in pleat.output(number, "stderr")
    number = needs(pleat, mpi, (1, 8), 2, "3:0:", ["--no-requeue"])
    assert pleat.wait_end(number)["state"] == "failed"
    assert "it would have to be started again" in pleat.pleat("why", number, check=0).stdout


@pytest.mark.parametrize("mpi", MPIS)
def test_it_needs_more_or_fewer_in_the_middle(pleat, mpi):
    """It goes on with what it has, and asks for what it needs; what it cannot use any more goes back."""
    pleat.configure(QUIET)
    other = pleat.submit("-n", 6, "--", "sleep", "1000")
    job = Asker(pleat, mpi, (1, 6), 2)
    job.ask("least", 5)
    job.wait_pending()
    before = pleat.job(job.number)["progress"]["iteration"]
    wait_until(lambda: pleat.job(job.number)["progress"]["iteration"] > before, "it to go on")
    why = pleat.pleat("why", job.number, check=0).stdout
    assert "it needs 5 at least; its program asks for 5 processors, and cannot go on without them: pending" in why, why
    job.ask("least", 2)  # it can do with what it has
    wait_until(lambda: job.state() is None, "the ask to be withdrawn")
    job.ask("least", 4)
    job.wait_pending()
    pleat.kill_daemon()
    pleat.pleat("cancel", other, check=0)
    assert job.answers("granted", 4) == ""
    job.ask("least", 7)  # more than its user allows: it goes on all the same
    assert "7 processors: its limits are 6 to 6" in job.answers("refused", 4)
    job.ask("most", 3)
    computes(pleat, job.number, 3)
    done = ends_well(pleat, job.number)
    assert resizes(done) == [(2, 4, "grown"), (4, 3, "shrunk")], resizes(done)


def test_what_it_needs_is_known_at_its_next_start(pleat):
    pleat.configure(QUIET)
    number = needs(pleat, "openmpi", (1, 8), 2, "4:6:")
    computes(pleat, number, 4)
    begun = pleat.job(number)["start_s"]
    pleat.pleat("requeue", number, check=0)
    wait_until(lambda: (pleat.job(number)["start_s"] or 0) > begun, "its second start")
    computes(pleat, number, 4)
    job = ends_well(pleat, number)
    assert len(resizes(job)) == 1, resizes(job)  # of its first start


@pytest.mark.parametrize("mpi", MPIS)
def test_two_scripts_wait_for_one_another(pleat, mpi):
    """What another job has would be enough for neither: the program that asked last ends, and the other one goes on."""
    pleat.configure(QUIET)
    other = pleat.submit("-n", 2, "--", "sleep", "1000")
    with open(pleat.path("job.sh"), "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\nexec {PLEAT} launch {program('loop', mpi)} --pause 10 --until end --sizes 6:0:\n")
    numbers = [pleat.submit("--min", 1, "--max", 8, "--initial", 3, "--malleable", "job.sh") for _ in range(2)]
    wait_until(lambda: "failed" in [pleat.job(number)["state"] for number in numbers], "one to be told no")
    last, = [number for number in numbers if pleat.job(number)["state"] == "failed"]
    assert "it got no more: 3 more processors" in pleat.output(last, "stderr"), pleat.output(last, "stderr")
    first, = set(numbers) - {last}
    computes(pleat, first, 6)
    pleat.pleat("cancel", other, check=0)
    ends_well(pleat, first)


@pytest.mark.parametrize("mpi", MPIS)
def test_agent_is_killed_while_a_script_waits(pleat, mpi):
    """Its processes are ended, and it is started anew, as is the other job: it waits for that one again, and goes on after it."""
    pleat.configure(QUIET)
    other = pleat.submit("-n", 4, "--", "sleep", "1000")
    wait_until(lambda: pleat.job(other)["state"] == "running", "the other job")
    with open(pleat.path("job.sh"), "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\necho begun >>begun\n"
                   f"exec {PLEAT} launch {program('loop', mpi)} --pause 10 --until end --sizes 6:0:\n")
    number = pleat.submit("--min", 1, "--max", 8, "--initial", 3, "--malleable", "job.sh")
    for attempt in (0, 1):
        wait_until(lambda: pleat.job(number)["attempt"] == attempt and (pleat.job(number)["asked"] or {}).get("state") == "pending",
                   "it waits for more")
        assert pleat.job(number)["processors"] == 3
        if attempt == 1:
            break
        ranks = pleat.rank_pids(number, program("loop", mpi))
        assert len(ranks) == 3
        os.kill(pleat.agent_pid(), signal.SIGKILL)
        wait_until(lambda: not any(is_alive(pid) for pid in ranks), "its ranks are gone")
    wait_until(lambda: pleat.job(other)["state"] == "running" and pleat.job(other)["attempt"] == 1, "the other job, too")
    pleat.pleat("cancel", other, check=0)
    wait_until(lambda: pleat.job(number)["processors"] == 6, "it has what it needs")
    computes(pleat, number, 6)
    assert resizes(ends_well(pleat, number))[-1] == (3, 6, "grown")
    with open(pleat.path("begun"), encoding="utf-8") as file:
        assert file.read() == 2 * "begun\n"


def waits_in_its_beginning(pids):
    """Each of its processes sleeps until the agent has decided: in futex(2)."""
    def word(pid):
        try:
            with open(f"/proc/{pid}/syscall", encoding="ascii") as file:
                return file.read().split()[0]
        except OSError:
            return None
    return [word(pid) for pid in pids] == ["202"] * len(pids)


@pytest.mark.parametrize("idle", [True, False])
@pytest.mark.parametrize("mpi", MPIS)
def test_agent_is_killed_before_it_is_decided(pleat, mpi, idle):
    """pleatd cannot hear that it lacks processors, and then has no agent that would tell it: the next run says so again. It
    grows, or waits in the queue."""
    pleat.configure(QUIET)
    other = None if idle else pleat.submit("-n", 6, "--", "sleep", "1000")
    if other:
        wait_until(lambda: pleat.job(other)["state"] == "running", "the other job")
    loop, daemon = program("loop", mpi), pleat.daemon_pid()
    number = needs(pleat, mpi, (1, 8), 2, "3:0:multiples:4")
    # its launcher: ranks may be gone again before they are seen
    wait_until(lambda: pleat.job_pids(number), "its first process")
    os.kill(daemon, signal.SIGSTOP)
    try:
        wait_until(lambda: len(pleat.rank_pids(number, loop)) == 2 and waits_in_its_beginning(pleat.rank_pids(number, loop)),
                   "its ranks to wait")
        ranks, agent = pleat.rank_pids(number, loop), pleat.agent_pid()
        os.kill(agent, signal.SIGKILL)
        wait_until(lambda: not any(is_alive(pid) for pid in ranks), "its ranks are gone")
    finally:
        os.kill(daemon, signal.SIGCONT)
    if other:
        wait_until(lambda: pleat.job(number)["state"] == "queued" and pleat.job(number)["min"] == 3, "it waits in the queue")
        assert "it needs 4 processors, and 2 are free" in pleat.pleat("why", number, check=0).stdout
        wait_until(lambda: pleat.job(other)["state"] == "running" and pleat.job(other)["attempt"] == 1, "the other job")
        pleat.pleat("cancel", other, check=0)
    wait_until(lambda: pleat.job(number)["processors"] == 4, "it has what it needs")
    computes(pleat, number, 4)
    assert pleat.agent_pid() != agent
    ends_well(pleat, number)


@pytest.mark.parametrize("mpi", MPIS)
def test_agent_is_killed_when_it_asks(pleat, mpi):
    """Whatever of it has been done by then: it is begun once on what it needs."""
    pleat.configure(QUIET)
    number = needs(pleat, mpi, (1, 8), 2, "3:0:multiples:4")
    wait_until(lambda: any(event["kind"] == "asked" for event in pleat.call("events", job=number, after=0, limit=1000)["events"]),
               "it asks")
    agent = pleat.agent_pid()
    os.kill(agent, signal.SIGKILL)
    wait_until(lambda: pleat.job(number)["attempt"] == 1, "it is started anew")
    wait_until(lambda: pleat.job(number)["processors"] == 4, "it has what it needs")
    computes(pleat, number, 4)
    assert pleat.agent_pid() != agent
    ends_well(pleat, number)
