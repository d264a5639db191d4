"""One instance of Pleat in a campaign: its jobs, its clients, and what is done to them (campaign_verdict.py judges)."""

import collections
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time

import campaign_jobs
import campaign_verdict
from conftest import (DIARY, PLEAT, ChaosInstance, Stubborn, check_slots, comm_of, is_alive, parent_of, pids_with, uptime,
                      wait_until, words_of)
from patience import PATIENCE

PROCESSORS = 8
ALIVE = 7       # jobs that wait or run at a time
CLIENTS = 12    # commands under way at a time
FAR_S = 240 * PATIENCE   # nothing may take longer to its end, once nothing is killed any more
HUNG_S = 30 * PATIENCE   # a program of which something was struck, and that does not end by itself
TELL_S = 15
CONFIG = """
site "local" {{
  processors = {processors}
  cpus = "{cpus}"
}}
idle_exit_s = 0
backoff_s = 0.2
try_s = 0.1
checkpoint_records = 2000
attempts = {attempts}
"""
DEADLINES = ("answer_s", "claim_s", "apply_s", "shrink_s", "grace_s", "stuck_s", "vacate_s", "start_s", "earmark_s", "kill_s",
             "relaunch_s", "agent_answer_s")
REAPER = "pleat-reaper"  # also the name of a job's first process, until that executes its program
LONG_S = 4  # to be stopped for that long: then for longer than every deadline
VICTIMS = {"daemon": 30, "agent": 12, "daemon+agent": 8, "reaper": 8, "newborn": 6, "launcher": 10, "rank": 12, "shell": 8,
           "client": 20}
FREEZES = 0.15  # the share of blows that stop the process for a while instead


class World:
    def __init__(self, attempts, kills, seed, chosen, alone):
        self.attempts, self.wanted, self.chosen, self.alone = attempts, kills, chosen, alone
        self.rng = random.Random(seed)
        self.kills, self.freezes = collections.Counter(), collections.Counter()
        self.hit = collections.defaultdict(list)  # a job's number: kinds of its own processes that were struck
        self.agents_struck = []                   # uptimes: from when, until when it may be lost by that
        self.jobs, self.clients, self.timers, self.hung = {}, [], [], []
        self.shared_processors = []               # messages about two jobs that were seen on the same processor
        self.instance = self.daemon = None

    # ---- the whole of it

    def run(self):
        self.instance = ChaosInstance()
        cpus = sorted(os.sched_getaffinity(0))  # what folds has processors of its own
        self.instance.configure(text=CONFIG.format(
            attempts=self.attempts, processors=PROCESSORS,
            cpus=",".join(str(cpus[i % len(cpus)]) for i in range(PROCESSORS))) + self.deadlines())
        with open(self.instance.path("diary.sh"), "w", encoding="ascii") as file:
            file.write(DIARY)
        self.daemon = Stubborn(self.instance)
        self.daemon.connect()
        try:
            self.strike_all()
            self.calm_down()
            return campaign_verdict.judge(self)
        finally:
            self.daemon.close()
            self.end_all()

    def deadlines(self):
        return "".join(f"{name} = {self.chosen.freeze / 2}\n" for name in DEADLINES if self.chosen.freeze >= LONG_S)

    def strike_all(self):
        told = time.monotonic()
        while sum(self.kills.values()) < self.wanted:
            self.refill()
            self.act()
            time.sleep(self.rng.uniform(0, 0.3))  # the moment is what is tried, nothing is waited for
            self.strike()
            self.reap()
            if time.monotonic() - told > TELL_S:
                told = time.monotonic()
                self.say(f"{sum(self.kills.values())} of {self.wanted} killed, {len(self.jobs)} jobs")

    def calm_down(self):
        """Nothing is killed or stopped any more: all jobs must come to an end."""
        self.say("waiting for the end of all jobs")
        for timer in self.timers:
            timer.join()
        end, changed, last = time.monotonic() + FAR_S, time.monotonic(), None
        while time.monotonic() < end:
            alive = self.daemon.call("jobs")["jobs"]
            if not alive:
                break
            now = [(job["job"], job["state"], job["progress"]) for job in alive]
            changed, last = (changed if now == last else time.monotonic()), now
            if time.monotonic() - changed > HUNG_S:
                self.cancel_hung(alive)
            time.sleep(0.1)  # jobs that do not end are lost: judged
        end = time.monotonic() + HUNG_S
        while self.clients and time.monotonic() < end:
            self.reap()
            time.sleep(0.1)  # commands that do not end: judged, too

    def cancel_hung(self, alive):
        """An MPI whose process dies before MPI_Init may wait for it for ever: its user cancels it."""
        for shown in alive:
            job = self.jobs[shown["name"]]
            if self.hit[shown["job"]] and not job.cancelled:
                self.say(f"job {shown['job']} ({job.kind}, {job.mpi}) hangs after {self.hit[shown['job']]}: cancelled")
                job.cancelled = True
                self.hung.append(shown["job"])
                self.daemon.try_call("cancel", job=shown["job"])

    def end_all(self):
        for pid in pids_with(f"PLEAT_DIR={self.instance.dir}"):
            signal_to(pid, signal.SIGKILL)
        for _, client in self.clients:
            client.kill()
            client.communicate()
        if self.chosen.keep:
            self.say(f"kept: {self.instance.dir}")
        else:
            shutil.rmtree(self.instance.dir, ignore_errors=True)

    def say(self, text):
        print(f"campaign: attempts = {self.attempts}: {text}", file=sys.stderr, flush=True)

    # ---- what users do

    def client_of(self, *words, before=()):
        return subprocess.Popen([*before, PLEAT, *map(str, words)], env=self.instance.env, cwd=self.instance.dir, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def submit(self):
        known = sorted(job.number for job in self.jobs.values() if job.number and job.tasks == 1)
        job = campaign_jobs.make(self.rng, f"job{len(self.jobs) + 1}", self.instance, known[-ALIVE:])
        job.client = self.client_of(job.command, *job.words, before=job.before)
        self.clients.append((job, job.client))
        self.jobs[job.name] = job

    def refill(self):
        alive = self.daemon.call("jobs")["jobs"]
        try:
            check_slots(alive)
        except AssertionError as shared:
            self.shared_processors.append(str(shared))
        self.see(alive)
        coming = sum(job.number is None and job.client is not None for job in self.jobs.values())
        for _ in range(min(ALIVE - len(alive) - coming, CLIENTS - len(self.clients))):
            self.submit()

    def see(self, listed):
        """The number of a job of 'pleat run', which does not print it."""
        for shown in listed:
            job = self.jobs.get(shown["name"])
            if job is not None and job.number is None and job.tasks == 1:
                job.number = shown["job"]

    def act(self):
        numbers = [job.number for job in self.jobs.values() if job.number and job.exit is None][-ALIVE:]
        what = self.choose({"nothing": 60, "cancel": 4, "grow": 12, "shrink": 12, "limits": 4, "look": 8})
        if not numbers or what == "nothing" or len(self.clients) >= CLIENTS:
            return
        number = self.rng.choice(numbers)
        words = {"cancel": ("cancel", number), "grow": ("grow", number, 1), "shrink": ("shrink", number, 1),
                 "limits": ("limits", number, "--max", self.rng.randrange(1, 5)),
                 "look": self.rng.choice([("ps", "--all"), ("show", number), ("wait", number)])}[what]
        if what == "cancel":
            for job in self.jobs.values():
                job.cancelled = job.cancelled or job.number == number
        self.clients.append((None, self.client_of(*words)))

    def reap(self):
        for entry in list(self.clients):
            job, client = entry
            if client.poll() is None:
                continue
            self.clients.remove(entry)
            out, err = client.communicate()
            if job is None:
                continue
            job.exit, job.said, job.client = client.returncode, err.strip(), None
            if job.command == "submit" and job.exit == 0:
                told = int(out)
                job.number = told if job.number in (None, told) else -1
                job.told = told

    def choose(self, weights):
        return campaign_jobs.choose(self.rng, weights)

    # ---- what is done to them

    def processes(self):
        """What there is to kill: by kind, (process, job's number or None)."""
        found = collections.defaultdict(list)
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
            if program == "pleat-agent" or program.startswith(REAPER):
                kind, job = part_of_agent(pid)
            elif job is None:
                kind = {"pleatd": "daemon", "pleat": "client"}.get(program)
            elif program.startswith(("mpirun", "mpiexec", "orterun", "hydra_pmi_proxy", "pleat-pmi")):
                kind = "launcher"
            elif program in ("loop", "heat", "ring"):
                kind = "rank"
            else:
                kind = "shell" if program == "sh" else None
            if kind:
                found[kind].append((pid, job))
        return found

    def strike(self):
        wish = self.choose(VICTIMS)
        there = self.processes()
        how = signal.SIGSTOP if self.rng.random() < FREEZES else signal.SIGKILL
        for kind in wish.split("+"):
            if there[kind]:
                self.strike_one(kind, *self.rng.choice(there[kind]), how)

    def strike_one(self, kind, pid, job, how):
        if kind == "newborn":
            kind = still_newborn(pid)
        # noted before: it may have ended by the time that the signal arrives
        if job is not None:
            self.hit[job].append(kind)
        if kind == "agent" and how == signal.SIGKILL:
            self.agents_struck.append((uptime(), uptime()))
        for owner, client in self.clients:
            if owner is not None and client.pid == pid and how == signal.SIGKILL:
                owner.client_hit = True
        if not signal_to(pid, how):
            return
        if how == signal.SIGKILL:
            self.kills[kind] += 1
            return
        self.freezes[kind] += 1
        seconds = self.rng.uniform(0.05, self.chosen.freeze)
        if kind == "agent" and seconds >= LONG_S / 2:
            self.agents_struck.append((uptime(), uptime() + seconds + 1))
        timer = threading.Timer(seconds, signal_to, (pid, signal.SIGCONT))
        self.timers = [one for one in self.timers if one.is_alive()] + [timer]
        timer.start()

    # ---- afterwards

    def left_in_namespace(self):
        """All processes of this campaign are over, and there are no others in the namespace."""
        found = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            if int(name) not in (1, os.getpid()) and is_alive(int(name)):
                found.append(f"process {name}: {' '.join(words_of(int(name)))[:200]}")
        return found + [f"/dev/shm/{name}" for name in sorted(os.listdir("/dev/shm"))]


def part_of_agent(pid):
    """What a process of the agent's program is, and the number of its job. One that was just forked has the arguments
    of the agent and its environment: a reaper, or a job's first process, which is to execute its program in a moment."""
    own, parent = comm_of(pid), parent_of(pid)
    above = comm_of(parent)
    if own == "pleat-agent":
        return ("agent" if above != own else None), None
    kind, reaper = ("newborn", parent) if above == REAPER else ("reaper", pid)
    words = "".join(words_of(reaper)[:1]).split()
    return (kind, int(words[-1])) if own == REAPER and words[:2] == [f"{REAPER}:", "job"] else (None, None)


def still_newborn(pid):
    """Stops a job's first process, which may have executed its program meanwhile; the blow itself follows."""
    if signal_to(pid, signal.SIGSTOP):
        wait_until(lambda: state_of(pid) in (None, "T", "Z", "X"), "it is stopped")
    return "newborn" if comm_of(pid) == REAPER else "shell"


def state_of(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="latin-1") as file:
            return file.read().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return None


def signal_to(pid, how):
    try:
        os.kill(pid, how)
        return True
    except ProcessLookupError:
        return False


def add_up(results):
    """What several worlds found."""
    total = {"kills": collections.Counter(), "freezes": collections.Counter(), "jobs": collections.Counter(),
             "clients": collections.Counter(), "starts": 0, "requeued": 0, "hung": 0, "lost": [], "repeated": [], "left": [],
             "wrong": []}
    for result in results:
        for key, value in result.items():
            if isinstance(value, collections.Counter):
                total[key].update(value)
            else:
                total[key] = total[key] + value
    return total
