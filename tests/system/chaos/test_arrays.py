"""More jobs in the store than ever run at a time: arrays of which most end while they wait (cancelled one by one, or since
what they wait for can no longer happen), and some run, while pleatd is killed every few moments; those that have ended are
archived and cleaned away meanwhile, and all in the end. Each array is there once, each job ends once and as it has to,
programs run once.

    PLEAT_CHAOS_TASKS=1000000 PLEAT_CHAOS_KILL_S=20 PLEAT_BUILD=build pytest-3 -s tests/system/chaos/test_arrays.py    an hour

PLEAT_CHAOS_TASKS: about how many jobs in all (1200); arrays of up to 5000. PLEAT_CHAOS_KILL_S: seconds between two kills, on average (0.1). It prints what each
phase took, what a restart takes, and what commands take while all jobs wait, when all have ended, and when all are gone.
"""

import collections
import contextlib
import os
import random
import threading
import time

import pytest

from conftest import Client, Failure, Lost, Stubborn, chaos_instance, check_nothing_left, kill, wait_until

TASKS = int(os.environ.get("PLEAT_CHAOS_TASKS", "1200"))
KILL_S = float(os.environ.get("PLEAT_CHAOS_KILL_S", "0.1"))
SEED = int(os.environ.get("PLEAT_CHAOS_SEED", "0")) or random.SystemRandom().randrange(1, 10**6)
EACH = max(1, min(5000, TASKS // 12))  # tasks of an array; fewer of those that run
ARRAYS = TASKS // EACH
CLIENTS = 3
LONG_S = 1800  # nothing takes as long as that

# What becomes of an array, and so of each of its jobs.
KINDS = {"now": "done", "later": "done", "cancelled": "cancelled", "doomed": "cancelled"}


def kind_of(array):
    return "now" if array % 50 == 0 else "later" if array % 50 == 1 else "cancelled" if array % 12 == 2 else "doomed"


def tasks_of(array):
    return EACH if KINDS[kind_of(array)] == "cancelled" else max(1, EACH // 5)


class Patient(Stubborn):
    """Waits for long answers."""

    def connect(self):
        end = time.monotonic() + LONG_S
        while self.client is None:
            try:
                self.client = Client(self.instance.socket)
                self.client.socket.settimeout(LONG_S)
            except (OSError, Lost):
                assert time.monotonic() < end, "no daemon answers"
                self.instance.pleat("info", timeout=LONG_S)  # starts one where none runs

    def once(self, method, **params):
        """A request that finds, when it is repeated, that it was carried out."""
        lost = self.lost
        try:
            self.call(method, **params)
        except Failure:
            if self.lost == lost:
                raise


@pytest.fixture(name="pleat")
def fixture_pleat():
    with chaos_instance("keep_ended_s = 1") as instance:
        yield instance


class World:
    def __init__(self, pleat):
        self.pleat, self.daemon = pleat, Patient(pleat)
        self.markers = pleat.path("markers")
        self.numbers = {}  # of the first job of each array
        self.kills, self.restarts, self.failures = 0, [], []
        self.over = threading.Event()

    # ---- all that goes on beside

    def thread(self, work, *words):
        def run():
            daemon = Patient(self.pleat)
            try:
                work(daemon, *words)
            except BaseException as failure:
                self.failures.append(failure)
                raise
            finally:
                daemon.close()
        thread = threading.Thread(target=run)
        thread.start()
        return thread

    def kill_now_and_then(self, daemon):
        """Soon, since a phase may be a short one, and then every KILL_S; once at least, even where the phase is over by then."""
        rng = random.Random(SEED)
        over = self.over.wait(min(0.02, KILL_S) * rng.random())
        while True:
            if kill(daemon.call("info")["pid"]):
                self.kills += 1
                begun = time.monotonic()
                daemon.call("info")
                self.restarts.append(time.monotonic() - begun)
            if over or self.over.wait(KILL_S * rng.uniform(0.5, 1.5)):
                return

    @contextlib.contextmanager
    def phase(self, name):
        """With kills; what it took is printed."""
        self.over.clear()
        kills, restarts, begun = self.kills, len(self.restarts), time.monotonic()
        killer = self.thread(self.kill_now_and_then)
        try:
            yield
        finally:
            seconds = time.monotonic() - begun
            self.over.set()
            killer.join()
        assert not self.failures, self.failures
        longest = max(self.restarts[restarts:], default=0)
        print(f"{name}: {seconds:.1f} s, {self.kills - kills} kills, longest restart {longest:.1f} s, {self.sizes()}", flush=True)

    def sizes(self):
        with open(f"/proc/{self.daemon.call('info')['pid']}/status", encoding="ascii") as file:
            memory = sum(int(line.split()[1]) for line in file if line.startswith("VmRSS:"))
        places = [self.pleat.log, self.pleat.log + "-wal"]
        log = sum(os.path.getsize(path) for path in places if os.path.exists(path))
        return f"memory {memory >> 10} MiB, log {log >> 20} MiB"

    def look(self, when):
        """What commands take, when nothing else is asked for."""
        took = []

        def measure(name, ask):
            begun = time.monotonic()
            ask()
            took.append(f"{name} {time.monotonic() - begun:.2f} s")

        def command(*words):
            done = self.pleat.pleat(*words, timeout=LONG_S)
            assert done.returncode == 0, done.stderr
        for method, params in (("info", {}), ("sites", {}), ("top", {"limit": 50}), ("history", {"limit": 100}),
                               ("jobs", {"brief": True, "limit": 100})):
            measure(method, lambda m=method, p=params: self.daemon.call(m, **p))
        measure("pleat ps", lambda: command("ps"))
        kill(self.daemon.call("info")["pid"])
        measure("restart after a kill", lambda: self.daemon.call("info"))
        self.daemon.close()
        measure("pleat info", lambda: command("info"))
        print(f"  {when}: " + ", ".join(took), flush=True)

    # ---- what is done

    def spec(self, name, *argv, **more):
        return dict(name=name, argv=list(argv), cwd="/", env=["PATH=/bin:/usr/bin"], runner="plain", mpi="none", kind="rigid",
                    min=1, max=1, output="/dev/null", error="/dev/null", **more)

    def submit(self, daemon, **spec):
        """Once: a submission whose answer was lost is repeated with its token."""
        lost, token = daemon.lost, f"{spec['name']}-{SEED}"
        while True:
            try:
                if daemon.client is None:
                    daemon.connect()
                again = {"again": True} if daemon.lost > lost else {}
                return daemon.client.call("submit", token=token, **spec, **again)
            except (Lost, OSError):
                daemon.lost += 1
                daemon.close()

    def submit_arrays(self, daemon, which, gates):
        for array in range(which, ARRAYS, CLIENTS):
            kind = kind_of(array)
            how = {"now": {}, "later": {"dependency": f"afterany:{gates['later']}"}, "cancelled": {"hold": True},
                   "doomed": {"dependency": f"afterok:{gates['doomed']}"}}[kind]
            answer = self.submit(daemon, array=f"0-{tasks_of(array) - 1}", **how,
                                 **self.spec(f"array-{array}", "sh", "-c", f'echo "$PLEAT_JOB" >>{self.markers}'))
            assert answer["tasks"] == tasks_of(array), answer
            self.numbers[array] = answer["job"]

    def fill(self):
        gates = {name: self.submit(self.daemon, hold=True, **self.spec(name, "true"))["job"] for name in ("later", "doomed")}
        threads = [self.thread(self.submit_arrays, which, gates) for which in range(CLIENTS)]
        for thread in threads:
            thread.join()
        return gates

    def cancel_one_by_one(self):
        def work(daemon, which):
            for array in range(which, ARRAYS, CLIENTS):
                if kind_of(array) == "cancelled":
                    for job in range(self.numbers[array], self.numbers[array] + tasks_of(array)):
                        daemon.once("cancel", job=job)
        for thread in [self.thread(work, which) for which in range(CLIENTS)]:
            thread.join()

    def clean(self, daemon, before_s):
        after, more = 0, True
        while more:
            answer = daemon.call("clean", before_s=before_s, outputs=True, after=after)
            more, after = answer["more"], answer["after"]

    def await_archive(self):
        wait_until(lambda: not self.daemon.call("jobs", all=True, brief=True, limit=1)["jobs"], "all are archived", LONG_S)

    def history(self):
        """Name, state and end of all jobs that have ended and are not cleaned away, by number."""
        found, after, more = {}, 0, True
        while more:
            answer = self.daemon.call("history", after=after)
            for entry in answer["jobs"]:
                after = entry["job"]
                if entry["end_s"] is not None:
                    found[after] = (entry["name"], entry["state"], entry["end_s"])
            more = answer["more"]
        return found


def test_arrays_with_kills_and_clean(pleat):
    print(f"PLEAT_CHAOS_SEED={SEED} PLEAT_CHAOS_TASKS={TASKS}: {ARRAYS} arrays of {EACH}")
    world = World(pleat)
    with world.phase("submitted"):
        gates = world.fill()
    runs = [world.numbers[a] + i for a in world.numbers if KINDS[kind_of(a)] == "done" for i in range(tasks_of(a))]
    world.look("nearly all wait")
    with world.phase("cancelled by what they wait for"):
        world.daemon.once("cancel", job=gates["doomed"])
    ended_s, before = time.time(), world.history()
    with world.phase("cancelled one by one, while those before are archived and cleaned away"):
        cleaning = world.thread(world.clean, ended_s)
        world.cancel_one_by_one()
        cleaning.join()
    with world.phase("run"):
        world.daemon.once("cancel", job=gates["later"])
        world.daemon.call("wait")
    world.look("all have ended")
    with world.phase("archived"):
        world.await_archive()
    after = world.history()
    assert not [job for job, (_, _, end_s) in before.items() if end_s < ended_s and job in after]
    states = collections.defaultdict(collections.Counter)
    for name, state, _ in (before | after).values():
        states[name][state] += 1
    assert len(world.numbers) == ARRAYS and len(set(world.numbers.values())) == ARRAYS
    assert states == {"later": {"cancelled": 1}, "doomed": {"cancelled": 1}} | {
        f"array-{a}": {KINDS[kind_of(a)]: tasks_of(a)} for a in range(ARRAYS)}
    with open(world.markers, encoding="ascii") as file:
        assert collections.Counter(map(int, file)) == collections.Counter(runs)
    with world.phase("cleaned away"):
        world.clean(world.daemon, time.time())
    world.look("all are gone")
    assert not world.history() and not world.daemon.call("jobs", all=True)["jobs"]
    info = world.daemon.call("info")
    assert info["damage"] is None and info["holding"] is None
    check_nothing_left(pleat, world.daemon)
    world.daemon.close()
    print(f"{world.kills} kills")
    assert world.kills > 0, "nothing was killed: this says nothing"
