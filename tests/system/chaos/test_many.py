"""Many jobs, while ended ones are archived, their records moved aside, and all that is kept of them is cleaned
away, and pleatd is killed at random: each job runs once, no number is given twice, what is left is readable;
memory, log and the time of a restart do not grow with the jobs that were.

    PLEAT_CHAOS_JOBS=1000000 PLEAT_CHAOS_SEED=1 PLEAT_BUILD=build pytest-3 -s tests/system/chaos/test_many.py    takes hours

It prints jobs a second, and the three at the beginning and at the end. PLEAT_CHAOS_EACH: jobs between two kills (60).
"""

import collections
import os
import random
import threading
import time

import pytest

from conftest import Failure, Lost, Stubborn, chaos_instance, check_nothing_left, kill, wait_until

JOBS = int(os.environ.get("PLEAT_CHAOS_JOBS", "240"))
SEED = int(os.environ.get("PLEAT_CHAOS_SEED", "0")) or random.SystemRandom().randrange(1, 10**6)
CLIENTS = int(os.environ.get("PLEAT_CHAOS_CLIENTS", "3"))
EACH = int(os.environ.get("PLEAT_CHAOS_EACH", "60"))  # jobs between two kills, on average
AHEAD = 50  # of a client, that may wait or run
MORE_KB = 16 * 1024  # the most by which memory and log may grow from beginning to end
MORE_S = 5           # the most by which a restart may take longer: it reads nothing of former jobs


@pytest.fixture(name="pleat")
def fixture_pleat():
    with chaos_instance("keep_ended_s = 0\ncheckpoint_records = 60") as instance:
        yield instance


class Markers:
    """What the programs wrote: a line each, their job's name and number."""

    def __init__(self, path):
        self.path, self.at, self.lines = path, 0, collections.Counter()
        self.lock = threading.Lock()

    def read(self):
        with self.lock:
            if os.path.exists(self.path):
                with open(self.path, encoding="ascii") as file:
                    file.seek(self.at)
                    for line in file:
                        self.lines[line.split()[0]] += 1
                    self.at = file.tell()
            return self.lines


def living(daemon):
    """Those that wait or run, by name."""
    found, after, more = {}, 0, True
    while more:
        answer = daemon.call("jobs", brief=True, after=after)
        found |= {job["name"]: job["job"] for job in answer["jobs"]}
        more = answer["more"]
        after = max(found.values(), default=0)
    return found


def let_end(daemon, number):
    """Lets jobs end, so that the number of waiting ones is bounded."""
    try:
        daemon.call("wait", job=number)
    except Failure:
        pass  # it is cleaned away already


def submit(daemon, markers, name, path):
    """Submits once: an answer that was lost is looked for among jobs that live, and in what programs wrote."""
    spec = dict(name=name, argv=["sh", "-c", f'echo "{name} $PLEAT_JOB" >>{path}'], cwd="/", env=["PATH=/bin:/usr/bin"],
                runner="plain", mpi="none", kind="rigid", min=1, max=1, initial=0, sizes="any", asks=False, site=None,
                estimate_s=0)
    while True:
        try:
            if daemon.client is None:
                daemon.connect()
            return daemon.client.call("submit", **spec)["job"]
        except (Lost, OSError):
            daemon.close()
        number = living(daemon).get(name)
        if number is not None:
            return number
        if markers.read()[name]:
            return None


class Sizes:
    """Of the daemon that is about to be killed, of its log, and what the next one takes to answer."""

    def __init__(self, pleat):
        self.pleat, self.memory_kb, self.log_kb, self.restart_s = pleat, [], [], []

    def take(self, pid):
        try:
            with open(f"/proc/{pid}/status", encoding="ascii") as file:
                memory = [int(line.split()[1]) for line in file if line.startswith("VmRSS:")]
            paths = [self.pleat.log, self.pleat.log + "-wal"]
            log = sum(os.path.getsize(path) for path in paths if os.path.exists(path)) // 1024
        except OSError:
            return
        self.memory_kb += memory
        self.log_kb.append(log)

    def kill(self, daemon):
        pid = daemon.call("info")["pid"]
        self.take(pid)
        if not kill(pid):
            return 0
        killed = time.monotonic()
        daemon.call("info")
        self.restart_s.append(time.monotonic() - killed)
        return 1

    def check(self):
        for values, more in ((self.memory_kb, MORE_KB), (self.log_kb, MORE_KB), (self.restart_s, MORE_S)):
            third = max(1, len(values) // 3)
            first, last = values[:third], values[-third:]
            assert sorted(last)[third // 2] <= sorted(first)[third // 2] + more, (first, last)

    def __str__(self):
        def both(values, digits):
            third = max(1, len(values) // 3)
            return " -> ".join(f"{sorted(some)[third // 2]:.{digits}f}" for some in (values[:third], values[-third:]))
        archive = self.pleat.log + "-archive"
        moved = sum(os.path.getsize(os.path.join(archive, name)) for name in os.listdir(archive)) if os.path.isdir(archive) else 0
        return (f"memory {both(self.memory_kb, 0)} KiB, log {both(self.log_kb, 0)} KiB, restart {both(self.restart_s, 2)} s "
                f"(medians of the first and the last third), {moved // 1024} KiB of records moved aside")


def test_many_jobs_with_clean_and_kills(pleat):
    print(f"PLEAT_CHAOS_SEED={SEED} PLEAT_CHAOS_JOBS={JOBS}")
    path, over, failures = pleat.path("markers"), threading.Event(), []
    markers, numbers, done = Markers(path), [], [0]

    def work(which):
        daemon, mine = Stubborn(pleat), []
        try:
            for i in range(which, JOBS, CLIENTS):
                mine.append(submit(daemon, markers, f"job-{i}", path))
                done[0] += 1
                if len(mine) > AHEAD and mine[-AHEAD] is not None:
                    let_end(daemon, mine[-AHEAD])
            numbers.extend(mine)
        except BaseException as failure:
            failures.append(failure)
            raise
        finally:
            daemon.close()

    def clean():
        daemon = Stubborn(pleat)
        try:
            while not over.is_set():
                try:
                    daemon.call("clean", before_s=time.time(), outputs=True)
                except Failure as failure:
                    if "cannot write" not in failure.text:
                        raise
                over.wait(0.05)
        except BaseException as failure:
            failures.append(failure)
            raise
        finally:
            daemon.close()

    threads = [threading.Thread(target=work, args=(which,)) for which in range(CLIENTS)]
    cleaner = threading.Thread(target=clean)
    for thread in [*threads, cleaner]:
        thread.start()
    rng, kills, daemon = random.Random(SEED), 0, Stubborn(pleat)
    begun, sizes = time.monotonic(), Sizes(pleat)
    while any(thread.is_alive() for thread in threads):
        until = done[0] + rng.randrange(1, 2 * EACH)
        wait_until(lambda: done[0] >= until or not any(thread.is_alive() for thread in threads), "more jobs", 600)
        kills += sizes.kill(daemon)
    over.set()
    for thread in [*threads, cleaner]:
        thread.join()
    assert not failures, failures
    daemon.call("wait")  # all jobs have ended
    ran = markers.read()
    assert len(ran) == JOBS and set(ran.values()) == {1}, [(name, count) for name, count in ran.items() if count != 1]
    given = [number for number in numbers if number is not None]
    assert len(given) == len(set(given))
    daemon.call("history", limit=100)
    info = daemon.call("info")
    assert info["damage"] is None and info["holding"] is None
    check_nothing_left(pleat, daemon)
    daemon.close()
    seconds = time.monotonic() - begun
    print(f"{JOBS} jobs, {kills} kills in {seconds:.0f} s, {JOBS / seconds:.0f} jobs a second; {sizes}")
    sizes.check()
