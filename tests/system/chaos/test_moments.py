"""At random moments a random process of a running mix of jobs is killed: pleatd, the agent, an mpirun, a rank, the
shell of a job. Running jobs go on, nothing is lost, started twice, counted twice or left behind.

    PLEAT_CHAOS_SEED=1 PLEAT_CHAOS_KILLS=5000 PLEAT_BUILD=build pytest-3 -s tests/system/chaos/test_moments.py

The seed is printed; it repeats the choices, not the moments at which the machine gets to them.
"""

import collections
import os
import random
import time

import pytest

from conftest import (BUILD, LOOP, ChaosInstance, Diary, Stubborn, check_nothing_left, check_slots, diary, is_alive,
                      kill, parent_of, uptime, wait_until, words_of)

SEED = int(os.environ.get("PLEAT_CHAOS_SEED", "0")) or random.SystemRandom().randrange(1, 10**6)
KILLS = int(os.environ.get("PLEAT_CHAOS_KILLS", "300"))
HEAT = os.path.join(BUILD, "apps", "heat")
ALIVE = 7  # jobs that wait or run at a time
CONFIG = """
site "local" { processors = 8 }
idle_exit_s = 0
backoff_s = 0.2
try_s = 0.1
attempts = 1000
"""
FAR_S = 240  # no job may take longer to its end, once nothing is killed any more


class Mix:
    """Jobs, what was done to them, and what they wrote."""

    def __init__(self, instance, daemon, rng):
        self.instance, self.daemon, self.rng = instance, daemon, rng
        self.hit = collections.defaultdict(list)  # job: kinds of its own processes that were killed
        self.agents_killed = []  # uptimes
        self.kills = collections.Counter()
        self.all, self.alive = [], set()

    def file(self, job):
        return self.instance.path(f"d-job{job}")

    def submit(self):
        kind = self.rng.choices(["plain", "mpi", "loop", "heat"], [60, 12, 18, 10])[0]
        name = f"job{len(self.all) + 1}"
        path = self.instance.path(f"d-{name}")
        steps = str(self.rng.randrange(40, 120))
        loop = [LOOP, "--iterations", steps, "--pause", "10", "--state", "4K", "--rows", "50"]
        if kind == "plain":
            number = self.daemon.submit(name, diary(path, "sleep", f"{self.rng.uniform(0, 1.5):.2f}"),
                                        self.rng.randrange(1, 4))
        elif kind == "mpi":
            number = self.daemon.submit(name, diary(path, *loop), 2, runner="mpi", mpi="openmpi")
        else:
            words = loop if kind == "loop" else [HEAT, "--n", "32", "--iterations", steps, "--pause", "10"]
            number = self.daemon.submit(name, diary(path, *words), 1, self.rng.randrange(2, 5), runner="malleable",
                                        mpi="openmpi", initial=self.rng.randrange(1, 3))
        self.all.append(number)
        self.alive.add(number)
        assert number == len(self.all), "a number was left out or given twice"

    def refill(self):
        jobs = self.daemon.call("jobs")["jobs"]
        check_slots(jobs)
        self.alive = {job["job"] for job in jobs}
        while len(self.alive) < ALIVE:
            self.submit()

    # ---- victims

    def processes(self):
        """What there is to kill: kind, process, job."""
        found = []
        mine = f"PLEAT_DIR={self.instance.dir}".encode()
        for name in filter(str.isdigit, os.listdir("/proc")):
            pid = int(name)
            try:
                with open(f"/proc/{pid}/environ", "rb") as file:
                    env = file.read().split(b"\0")
            except OSError:
                continue
            words = words_of(pid)
            if mine not in env or not words:
                continue
            job = next((int(v[10:]) for v in env if v.startswith(b"PLEAT_JOB=")), None)
            program = os.path.basename(words[0])
            if program == "pleat-agent" and os.path.basename("".join(words_of(parent_of(pid))[:1])) == program:
                continue  # forked by an agent, to be a job's in a moment
            if program in ("pleatd", "pleat-agent") and job is None:
                found.append((program, pid, None))
            elif job is not None and program.startswith(("mpirun", "mpiexec", "orterun", "pleat-pmi")):
                found.append(("mpirun", pid, job))
            elif job is not None and program in ("loop", "heat"):
                found.append(("rank", pid, job))
            elif job is not None and program == "sh":
                found.append(("shell", pid, job))
        return found

    def strike(self):
        wish = self.rng.choices(["pleatd", "pleat-agent", "mpirun", "rank", "shell"], [40, 15, 13, 17, 15])[0]
        there = [p for p in self.processes() if p[0] == wish]
        if not there:
            return False
        kind, pid, job = self.rng.choice(there)
        if job is not None:
            self.hit[job].append(kind)  # before: it may have ended by the time that the signal arrives
        if kind == "pleat-agent":
            self.agents_killed.append(uptime())
        if not kill(pid):
            return False
        self.kills[kind] += 1
        return True

    # ---- what must be true

    def check_job(self, job):
        number = job["job"]
        wrote = Diary(self.file(number))
        story = f"{job['state']} {job['reason']} {job['exit_code']} {job['signal']} attempt {job['attempt']}, " \
                f"text {job['text']}, hit {self.hit[number]}, wrote {wrote}"
        assert not wrote.overlaps, f"job {number} ran twice at a time: {story}"
        assert job["attempt"] <= len(self.agents_killed), story
        resizes = job["history"]["resizes"]
        relaunches = sum(resize["outcome"] == "relaunched" for resize in resizes)
        for (run, before), (again, after) in zip(wrote.begun, wrote.begun[1:]):
            # even if it was about to end well: nobody saw it
            if any(before - 0.5 < at < after for at in self.agents_killed):
                continue
            # a malleable one whose rank or launcher died in a resize: the same run, from its last state
            assert run == again and relaunches > 0, f"job {number} was repeated: {story}, {resizes}"
            relaunches -= 1
        if job["state"] == "done":
            assert job["exit_code"] == 0 and wrote.successes, story
        else:
            assert self.hit[number], f"job {number} failed although nobody touched it: {story}"
            assert job["state"] == "failed" and job["reason"] == "exited", story
            assert job["signal"] or job["exit_code"], story

    def check_all(self):
        jobs = self.daemon.call("jobs", all=True)["jobs"]
        assert [job["job"] for job in jobs] == self.all
        wrong = []
        for job in jobs:
            try:
                self.check_job(self.daemon.job(job["job"]))
            except AssertionError as failure:
                wrong.append(str(failure))
        assert not wrong, "\n".join(wrong)
        return collections.Counter(job["state"] for job in jobs)


@pytest.fixture(name="mix")
def fixture_mix():
    print(f"PLEAT_CHAOS_SEED={SEED} PLEAT_CHAOS_KILLS={KILLS}")
    instance = ChaosInstance()
    instance.configure(text=CONFIG)
    daemon = Stubborn(instance)
    daemon.connect()
    try:
        yield Mix(instance, daemon, random.Random(SEED))
        daemon.close()
        instance.finish()
    except BaseException:
        with open(instance.path("pleatd.log"), encoding="utf-8", errors="replace") as file:
            print(file.read()[-100000:])
        raise
    finally:
        daemon.close()
        instance.clean()


def test_random_moments(mix):
    begun = time.monotonic()
    while sum(mix.kills.values()) < KILLS:
        mix.refill()
        time.sleep(mix.rng.uniform(0, 0.4))  # the moment is the test, nothing is waited for
        mix.strike()
    wait_until(lambda: not mix.daemon.call("jobs")["jobs"], "all jobs end", FAR_S)
    states = mix.check_all()
    check_nothing_left(mix.instance, mix.daemon)
    print(f"{dict(mix.kills)} killed in {time.monotonic() - begun:.0f} s; jobs: {dict(states)}")
