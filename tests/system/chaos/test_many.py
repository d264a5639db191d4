"""Many jobs, while ended ones are archived, their records moved aside, and all that is kept of them is cleaned away, and pleatd
is killed at random: each job runs once, no number is given twice, what is left is readable.

    PLEAT_CHAOS_JOBS=1000000 PLEAT_CHAOS_SEED=1 PLEAT_BUILD=build pytest-3 -s tests/system/chaos/test_many.py    takes hours
"""

import collections
import os
import random
import threading
import time

import pytest

from conftest import ChaosInstance, Failure, Lost, Stubborn, check_nothing_left, kill, wait_until

JOBS = int(os.environ.get("PLEAT_CHAOS_JOBS", "240"))
SEED = int(os.environ.get("PLEAT_CHAOS_SEED", "0")) or random.SystemRandom().randrange(1, 10**6)
CLIENTS = 3
EACH = 60  # jobs between two kills, on average


@pytest.fixture(name="pleat")
def fixture_pleat():
    instance = ChaosInstance()
    instance.configure("keep_ended_s = 0\ncheckpoint_records = 60")
    try:
        yield instance
        instance.finish()
    except BaseException:
        with open(instance.path("pleatd.log"), encoding="utf-8", errors="replace") as file:
            print(file.read()[-20000:])
        raise
    finally:
        instance.clean()


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
        wait_until(lambda: not daemon.call("jobs")["jobs"], "all that live have ended")
        if markers.read()[name]:
            return None


def test_many_jobs_with_clean_and_kills(pleat):
    print(f"PLEAT_CHAOS_SEED={SEED} PLEAT_CHAOS_JOBS={JOBS}")
    path, over, failures = pleat.path("markers"), threading.Event(), []
    markers, numbers, done = Markers(path), [], [0]

    def work(which):
        daemon = Stubborn(pleat)
        try:
            for i in range(which, JOBS, CLIENTS):
                numbers.append(submit(daemon, markers, f"job-{i}", path))
                done[0] += 1
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
    while any(thread.is_alive() for thread in threads):
        until = done[0] + rng.randrange(1, 2 * EACH)
        wait_until(lambda: done[0] >= until or not any(thread.is_alive() for thread in threads), "more jobs", 600)
        kills += kill(daemon.call("info")["pid"])
    over.set()
    for thread in [*threads, cleaner]:
        thread.join()
    assert not failures, failures
    wait_until(lambda: not daemon.call("jobs")["jobs"], "all jobs have ended")
    ran = markers.read()
    assert len(ran) == JOBS and set(ran.values()) == {1}, [(name, count) for name, count in ran.items() if count != 1]
    given = [number for number in numbers if number is not None]
    assert len(given) == len(set(given))
    daemon.call("history", limit=100)
    info = daemon.call("info")
    assert info["damage"] is None and info["holding"] is None
    check_nothing_left(pleat, daemon)
    daemon.close()
    print(f"{JOBS} jobs, {kills} kills")
