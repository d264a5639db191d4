"""Processes that leave their job: no environment, no session, no parent, no files shows whose they are. They end with
their job all the same, before its processors are another's; and they stay on the processors that their job has."""

import os
import signal

import pytest

from conftest import BUILD, is_alive, parent_of, wait_until, words_of
from relaunching import MPIS, computes, each_mpi, program

SHIM = os.path.join(BUILD, "tests", "escape.so")
CPUS = sorted(os.sched_getaffinity(0))
# The next job says which of those that escaped from the one before it are still there.
NEXT = ["--", "sh", "-c", 'for pid in $(cat "$0"); do kill -0 "$pid" 2>/dev/null && echo "$pid lives"; done; echo asked']
SLOTS = 'backoff_s = 0.2\ntry_s = 0.1\nidle_exit_s = 0\nlifetime_s = 0\nsite "local" { background = ignore '


def configure(pleat, site="processors = 2", more=""):
    pleat.configure(text=SLOTS + site + " }\n" + more)


def ends_well(pleat, job):
    with open(pleat.path("end"), "w", encoding="ascii"):
        pass
    assert pleat.wait_end(job)["state"] == "done"
    assert pleat.output(job).count("RESULT ok") == 1, pleat.output(job)


def escaping(pleat, *words, every=False, stubborn=False):
    names = [f"LD_PRELOAD={SHIM}", f"ESCAPE={pleat.path('escaped')}", *(["ESCAPE_ALL=1"] if every else []),
             *(["ESCAPE_STUBBORN=1"] if stubborn else [])]
    return pleat.submit(*[word for name in names for word in ("--env", name)], *words)


def escaped(pleat, count):
    """Those that have escaped, once there are `count`; the last of them stands below a reaper."""
    def there():
        if not os.path.exists(pleat.path("escaped")):
            return None
        with open(pleat.path("escaped"), encoding="ascii") as file:
            pids = [int(line) for line in file if line.endswith("\n")]
        return pids if len(pids) >= count else None
    pids = wait_until(there, f"{count} have escaped")
    last = pids[-1]
    wait_until(lambda: words_of(last)[:1] == ["sleep"], "it is what it will be")
    with open(f"/proc/{last}/environ", "rb") as file:
        assert b"PLEAT" not in file.read()
    wait_until(lambda: "".join(words_of(parent_of(last))).startswith("pleat-reaper: job "), "its reaper has it")
    return pids


def loop_of(pleat, mpi):
    return ["--min", 1, "--max", 2, "--", program("loop", mpi), "--pause", "10", "--until", pleat.path("end")]


KINDS = {
    "plain": lambda pleat, mpi: ["-n", 2, "--", "sleep", "1000"],
    "malleable": loop_of,
    "rigid": lambda pleat, mpi: ["-n", 2, "--runner", "mpi", "--", program("ring", mpi), "--iterations", 100000000],
    "folded": lambda pleat, mpi: ["--processes", 3, "--", program("ring", mpi), "--iterations", 100000000],
}


@pytest.mark.parametrize("kind, mpi", each_mpi(KINDS, [("plain", "mpich")]))  # plain programs have no MPI
def test_cancelled(pleat, kind, mpi):
    configure(pleat)
    count = {"plain": 1, "folded": 3}.get(kind, 2)
    job = escaping(pleat, *KINDS[kind](pleat, mpi), every=kind == "plain", stubborn=kind == "plain")
    pids = escaped(pleat, count)
    following = pleat.submit("-n", 2, *NEXT, pleat.path("escaped"))
    pleat.pleat("cancel", job, check=0)
    assert pleat.wait_end(job)["state"] == "cancelled"
    assert not [pid for pid in pids if is_alive(pid)]
    assert pleat.wait_end(following)["state"] == "done"
    assert pleat.output(following) == "asked\n"


@pytest.mark.parametrize("mpi", MPIS)
def test_ended(pleat, mpi):
    """By itself, well; beside another job that keeps what is its own."""
    configure(pleat, "processors = 3")
    other = escaping(pleat, "-n", 1, "--", "sleep", "1000", every=True)
    [kept] = escaped(pleat, 1)
    job = escaping(pleat, *loop_of(pleat, mpi))
    pids = escaped(pleat, 3)
    following = pleat.submit("-n", 2, *NEXT, pleat.path("escaped"))
    ends_well(pleat, job)
    assert [pid for pid in pids if is_alive(pid)] == [kept]
    assert pleat.wait_end(following)["state"] == "done"
    assert pleat.output(following) == f"{kept} lives\nasked\n"
    pleat.pleat("cancel", other, check=0)
    pleat.wait_end(other)
    assert not is_alive(kept)


@pytest.mark.parametrize("mpi", MPIS)
def test_relaunched(pleat, mpi):
    """What was there before is not there after."""
    configure(pleat)
    job = escaping(pleat, "--on-resize", "relaunch", *loop_of(pleat, mpi))
    computes(pleat, job, 2)
    pids = escaped(pleat, 2)
    pleat.pleat("shrink", job, 1, check=0)
    computes(pleat, job, 1)
    assert not [pid for pid in pids if is_alive(pid)]
    assert is_alive(escaped(pleat, 3)[2])
    ends_well(pleat, job)


@pytest.mark.skipif(len(CPUS) < 2, reason="one CPU only")
def test_shrunk(pleat):
    """What a rank that left has left goes on with its job, on the CPUs that this has kept. (Programs of MPICH are
    relaunched.)"""
    configure(pleat, f'cpus = "{CPUS[0]},{CPUS[-1]}"')
    job = escaping(pleat, "--on-resize", "merge", *loop_of(pleat, "openmpi"))
    computes(pleat, job, 2)
    pids = escaped(pleat, 2)
    assert all(os.sched_getaffinity(pid) == {CPUS[0], CPUS[-1]} for pid in pids)
    following = pleat.submit("-n", 1, "--", "sh", "-c",
                             'for pid in $(cat "$0"); do taskset -pc "$pid"; done | sed "s/.*: //" | sort -u',
                             pleat.path("escaped"))
    assert pleat.wait_end(following)["state"] == "done"
    assert pleat.output(following) in (f"{CPUS[0]}\n", f"{CPUS[-1]}\n")
    assert all(is_alive(pid) for pid in pids)
    ends_well(pleat, job)
    assert not [pid for pid in pids if is_alive(pid)]


def test_nobody_above(pleat):
    """Guard and agent are killed: the reaper ends what it has."""
    configure(pleat)
    job = escaping(pleat, "-n", 2, "--no-requeue", "--", "sleep", "1000", every=True)
    [pid] = escaped(pleat, 1)
    agent = pleat.agent_pid()
    os.kill(parent_of(agent), signal.SIGKILL)
    os.kill(agent, signal.SIGKILL)
    wait_until(lambda: not is_alive(pid), "it is ended")
    assert pleat.wait_end(job)["state"] == "failed"
