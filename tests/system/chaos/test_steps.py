"""pleatd dies between every two of its steps: before and after it writes a turn down, after every effect, every
request to an agent and every answer. PLEAT_TEST_CRASH_AFTER=n is the n-th of them; n grows until the scenario is
over before that. Each time another pleatd goes on, and the end must be the same.

    PLEAT_CHAOS_STEPS=17,18 pytest-3 -s tests/system/chaos/test_steps.py     only these n

In the scenarios of relaunches the steps begin when their job computes. Every step of warm ones is tried with one MPI, the odd ones
with the first; of those over nodes every tenth with one; with PLEAT_CHAOS_ALL=1 every step with both. Where processes start so
slowly that tests may take three times as long as usual, of all these every third one, and four times every fourth one.
"""

import concurrent.futures
import os
import signal
import threading

import pytest

from conftest import (BUILD, LOOP, RANKS, YIELD, ChaosInstance, Diary, Failure, Stubborn, check_nothing_left, check_slots,
                      diary, is_alive, touch, wait_until)
from patience import PATIENCE, SLOW

MPICH_LOOP = os.path.join(BUILD, "apps", "mpich", "loop")
WARM_LIMIT_S = 60
CPUS = sorted(os.sched_getaffinity(0))
NODES = f'''site "local" {{ cpus = "{CPUS[0]},{CPUS[0]},{CPUS[-1]},{CPUS[-1]}" nodes = 2 background = ignore }}
backoff_s = 0.2
try_s = 0.1
idle_exit_s = 0
lifetime_s = 0
'''
ALL = os.environ.get("PLEAT_CHAOS_ALL")
SPARSE = 1 if ALL else max(1, round(PATIENCE))
AT_ONCE = 4  # they wait for each other's processes most of the time


def until(path):
    return ["sh", "-c", 'while [ ! -e "$1" ]; do sleep 0.1; done', "until", path]


# agent-ranks starts its ranks itself; what is resized is a program that is launched.
LAUNCH = os.path.join(BUILD, "bin", "pleat") + " launch --mpi openmpi -n 1"


def scenario(instance, daemon):
    """Submit, start, grow, make room, cancel, change limits, end."""
    path = instance.path
    ranks = path("ranks")
    os.mkdir(ranks)
    for name in ("attach", "leave"):
        touch(os.path.join(ranks, name))
    first = daemon.submit("first", diary(path("d-first"), *until(path("go"))), 2)
    daemon.wait(first, "runs", lambda job: job["state"] == "running")
    malleable = daemon.submit(
        "malleable", diary(path("d-malleable"), "sh", "-c", f'exec {LAUNCH} {RANKS} $PLEAT_PROCESSORS {ranks}'), 1, 6,
        runner="malleable", initial=2)
    daemon.wait(malleable, "has grown", lambda job: job["state"] == "running" and job["processors"] == 6)
    second = daemon.submit("second", diary(path("d-second"), "sleep", "1000"), 3)
    daemon.wait(second, "runs in the room that is made", lambda job: job["state"] == "running")
    check_slots(daemon.call("jobs")["jobs"])
    daemon.wait(malleable, "has shrunk", lambda job: job["state"] == "running" and job["processors"] == 3)
    daemon.try_call("cancel", job=second)
    daemon.wait_end(second)
    daemon.wait(malleable, "has grown again", lambda job: job["state"] == "running" and job["processors"] == 6)
    daemon.call("limits", job=malleable, min=1, max=4)
    daemon.wait(malleable, "is below its limit", lambda job: job["state"] == "running" and job["processors"] == 4)
    touch(path("go"))
    daemon.wait_end(first)
    touch(os.path.join(ranks, "stop"))
    daemon.wait_end(malleable)
    return first, malleable, second


def check(instance, daemon, numbers):
    first, malleable, second = (daemon.job(number) for number in numbers)
    assert numbers == (1, 2, 3)
    assert [(j["state"], j["exit_code"], j["attempt"]) for j in (first, malleable)] == [("done", 0, 0)] * 2
    assert (second["state"], second["attempt"]) == ("cancelled", 0)
    assert len(daemon.call("jobs", all=True)["jobs"]) == 3
    for name in ("first", "malleable", "second"):
        wrote = Diary(instance.path(f"d-{name}"))
        assert len(wrote.begun) <= 1 and not wrote.overlaps, (name, wrote.begun)
        assert len(wrote.successes) == (name != "second") and len(wrote.begun) >= len(wrote.successes)
    resizes = [(r["from"], r["to"], r["outcome"]) for r in malleable["history"]["resizes"]]
    assert all(outcome for _, _, outcome in resizes), resizes
    sizes = [s["processors"] for s in malleable["history"]["sizes"]]
    assert sizes == [2, 6, 3, 6, 4], (sizes, resizes)
    check_nothing_left(instance, daemon)


def resume(instance, daemon, number):
    """The daemon ends, and the next one dies at that step."""
    pid = instance.daemon_pid()
    daemon.close()
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_alive(pid), "the daemon is gone")
    instance.env["PLEAT_TEST_CRASH_AFTER"] = str(number)
    instance.pleat("info")
    daemon.forget_crash()


def warm_scenario(instance, daemon, number, program, mpi, most=2, least=None, way="relaunch"):
    """A shrink and a growth, each by starting the new processes while the old ones compute; of 4 processes, which are on two
    nodes, where the agents agree through pleatd. From 4 to 3 the second node has some of both. In a restart the old ones end
    first."""
    if most > 2:
        instance.configure(text=NODES)
    env = instance.env | {"LD_PRELOAD": YIELD}
    job = daemon.submit("warm", [program, "--pause", "10", "--until", instance.path("end")], 1, most, runner="malleable",
                        mpi=mpi, initial=most, resize=way, env=[f"{name}={value}" for name, value in env.items()])
    daemon.wait(job, "computes", lambda job: job["progress"] and job["progress"]["iteration"] > 0, WARM_LIMIT_S)
    resume(instance, daemon, number)
    for size in (least or most - 1, most):
        daemon.call("limits", job=job, min=1, max=size)
        daemon.wait(job, f"has {size}", lambda job: job["state"] == "running" and job["processors"] == size, WARM_LIMIT_S)
    touch(instance.path("end"))
    daemon.wait_end(job, WARM_LIMIT_S)
    return job


def check_warm(instance, daemon, number, most=2, least=None, way="relaunch"):
    least = least or most - 1
    job = daemon.job(number)
    assert (job["state"], job["exit_code"], job["attempt"]) == ("done", 0, 0)
    assert [s["processors"] for s in job["history"]["sizes"]] == [most, least, most]
    resizes = [(r["from"], r["to"], r["outcome"], r["way"]) for r in job["history"]["resizes"]]
    assert resizes == [(most, least, "shrunk", way), (least, most, "grown", way)]
    with open(job["stdout"], encoding="utf-8") as file:
        assert file.read().count("RESULT ok") == 1
    check_nothing_left(instance, daemon, 8 if most == 2 else 4)


def folded_scenario(instance, daemon, number, mpi):
    """A job of 8 processes, folded on two nodes: a shrink from 4 processors to 2, and a growth, each by both agents."""
    instance.configure(text=NODES)
    ring = os.path.join(BUILD, "apps", *(["mpich"] if mpi == "mpich" else []), "ring")
    job = daemon.submit("folded", [ring, "--iterations", "2000", "--hold", instance.path("end")], 2, 4, runner="folded", mpi=mpi,
                        kind="malleable", fold={"min": 8, "max": 8})
    daemon.wait(job, "computes", lambda job: job["processors"] == 4 and (job["folded"] or {}).get("attached") == 8, WARM_LIMIT_S)
    resume(instance, daemon, number)
    for size in (2, 4):
        daemon.call("limits", job=job, min=2, max=size)
        daemon.wait(job, f"has {size}", lambda job: job["state"] == "running" and job["processors"] == size, WARM_LIMIT_S)
    touch(instance.path("end"))
    daemon.wait_end(job, WARM_LIMIT_S)
    return job


def check_folded(instance, daemon, number):
    job = daemon.job(number)
    assert (job["state"], job["exit_code"], job["attempt"]) == ("done", 0, 0)
    assert [s["processors"] for s in job["history"]["sizes"]] == [4, 2, 4]
    assert [(r["from"], r["to"], r["outcome"]) for r in job["history"]["resizes"]] == [(4, 2, "shrunk"), (2, 4, "grown")]
    with open(job["stdout"], encoding="utf-8") as file:
        assert file.read().count("RESULT ok") == 1
    check_nothing_left(instance, daemon, 4)


def crash_at(number, every=False, warm=None, folded=None):
    """Whether the daemon got that far. warm: (program, MPI[, most, fewest processes, way]) of the scenario of relaunches;
    folded: the MPI of that of a folded job."""
    instance = ChaosInstance()
    daemon = Stubborn(instance)
    daemon.crash_again = every
    try:
        if warm:
            check_warm(instance, daemon, warm_scenario(instance, daemon, number, *warm), *warm[2:])
        elif folded:
            check_folded(instance, daemon, folded_scenario(instance, daemon, number, folded))
        else:
            instance.env["PLEAT_TEST_CRASH_AFTER"] = str(number)
            check(instance, daemon, scenario(instance, daemon))
        with open(instance.path("pleatd.log"), encoding="utf-8", errors="replace") as file:
            crashed = "crash point reached" in file.read()
        daemon.close()
        instance.connection = None
        instance.env.pop("PLEAT_TEST_CRASH_AFTER", None)
        instance.finish()
        return crashed
    except BaseException as failure:
        daemon.crash_again = False
        daemon.forget_crash()
        state = instance.state_of_all(daemon)
        with open(instance.path("pleatd.log"), encoding="utf-8", errors="replace") as file:
            raise AssertionError(f"after step {number}: {failure!r}\n{state}\n{file.read()}") from failure
    finally:
        daemon.close()
        instance.clean()


def every_step(warm=None, first=1, stride=1, folded=None):
    """Tries the steps from the first one on. Returns how many there are."""
    chosen = os.environ.get("PLEAT_CHAOS_STEPS")
    if chosen:
        for number in map(int, chosen.split(",")):
            print(number, crash_at(number, warm=warm, folded=folded))
        return 1 << 30
    lock, over = threading.Lock(), threading.Event()
    stride *= SPARSE * (2 if SLOW and not ALL and stride <= 2 else 1)  # those of long scenarios are far apart anyway
    numbers = iter(range(first, 100000, stride))
    done = []

    def work():
        while not over.is_set():
            with lock:
                number = next(numbers)
            try:
                crashed = crash_at(number, warm=warm, folded=folded)
            except BaseException:
                over.set()
                raise
            done.append(number)
            if not crashed:
                over.set()

    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for worker in [pool.submit(work) for _ in range(AT_ONCE)]:
            worker.result()
    print(f"{max(done)} steps, of which every {stride}. was tried, from {first} on")
    return max(done)


def test_killed_between_every_two_steps():
    assert every_step() > 50, "the scenario has become too short to mean anything"


@pytest.mark.parametrize("first, program, mpi", [(1, LOOP, "openmpi"), pytest.param(
    2, MPICH_LOOP, "mpich", marks=pytest.mark.skipif(not os.path.exists(MPICH_LOOP), reason="no MPICH"))])
def test_killed_in_warm_relaunches(first, program, mpi):
    steps = {"first": 1, "stride": 1} if ALL else {"first": first, "stride": 2}
    assert every_step((program, mpi), **steps) > 30, "the scenario has become too short to mean anything"


def over_nodes(first):
    """Which steps: the scenarios over nodes are long."""
    return {"first": 1, "stride": 1} if ALL else {"first": first, "stride": 40}


@pytest.mark.skipif(len(CPUS) < 2, reason="one CPU only")
@pytest.mark.parametrize("first, program, mpi", [(1, LOOP, "openmpi"), pytest.param(
    11, MPICH_LOOP, "mpich", marks=pytest.mark.skipif(not os.path.exists(MPICH_LOOP), reason="no MPICH"))])
def test_killed_in_restarts_over_nodes(first, program, mpi):
    assert every_step((program, mpi, 4, 3, "restart"), **over_nodes(first)) > 50, "the scenario has become too short to mean anything"


@pytest.mark.skipif(len(CPUS) < 2, reason="one CPU only")
@pytest.mark.parametrize("first, program, mpi", [(21, LOOP, "openmpi"), pytest.param(
    1, MPICH_LOOP, "mpich", marks=pytest.mark.skipif(not os.path.exists(MPICH_LOOP), reason="no MPICH"))])
def test_killed_in_relaunches_beside_one_another_over_nodes(first, program, mpi):
    assert every_step((program, mpi, 4, 3), **over_nodes(first)) > 50, "the scenario has become too short to mean anything"


@pytest.mark.skipif(len(CPUS) < 2, reason="one CPU only")
@pytest.mark.parametrize("first, program, mpi", [(31, LOOP, "openmpi"), pytest.param(
    21, MPICH_LOOP, "mpich", marks=pytest.mark.skipif(not os.path.exists(MPICH_LOOP), reason="no MPICH"))])
def test_killed_in_warm_relaunches_over_nodes(first, program, mpi):
    assert every_step((program, mpi, 4, 2), **over_nodes(first)) > 50, "the scenario has become too short to mean anything"


@pytest.mark.skipif(len(CPUS) < 2, reason="one CPU only")
@pytest.mark.parametrize("first, mpi", [(1, "openmpi"), pytest.param(
    4, "mpich", marks=pytest.mark.skipif(not os.path.exists(MPICH_LOOP), reason="no MPICH"))])
def test_killed_in_resizes_of_a_folded_job_over_nodes(first, mpi):
    steps = {"first": 1, "stride": 1} if ALL else {"first": first, "stride": 6}
    assert every_step(folded=mpi, **steps) > 20, "the scenario has become too short to mean anything"


def test_every_daemon_is_killed_at_its_nth_step():
    for number in (15, 25, 45):
        assert crash_at(number, every=True)
