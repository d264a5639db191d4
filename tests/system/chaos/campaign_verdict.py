"""What must be true at the end of a campaign: what the programs wrote, against what the log says."""

import collections
import glob
import os
import shutil
import subprocess
import time

import campaign_jobs
from conftest import FINAL, PLEAT, Diary, holders, is_alive, pids_with, uptime, wait_until, words_of

# A job goes on without its reaper, and is started again when its first process did not get to executing its program.
SPARING = {"reaper", "newborn"}
LEFT_S = 30  # the most time that the last things may take to go
BROKE = 3    # what a command ends with that lost its daemon


class Verdict:
    def __init__(self):
        self.lost, self.repeated, self.left, self.wrong = [], [], [], []
        self.starts = self.requeued = 0

    def as_result(self, world, jobs):
        return {"kills": world.kills, "freezes": world.freezes, "starts": self.starts, "requeued": self.requeued,
                "hung": len(world.hung),
                "jobs": collections.Counter(job["state"] for job in jobs.values()),
                "clients": collections.Counter(str(job.exit) for job in world.jobs.values()),
                "lost": self.lost, "repeated": self.repeated, "left": self.left, "wrong": self.wrong}


def pages(daemon, method, key, **params):
    """All that a method lists, page by page."""
    found, after = [], 0
    while True:
        answer = daemon.call(method, after=after, **params)
        found += answer[key]
        if not answer[key]:
            return found
        after = answer["last"] if "last" in answer else answer[key][-1]["job"]


def judge(world):
    verdict = Verdict()
    daemon = world.daemon
    listed = pages(daemon, "jobs", "jobs", all=True)
    jobs = {job["job"]: daemon.job(job["job"]) for job in listed}
    events = collections.defaultdict(list)
    for event in pages(daemon, "events", "events"):
        events[event["job"]].append(event)
    by_name = collections.defaultdict(list)
    for number, job in jobs.items():
        by_name[job["name"]].append(number)
    if sorted(jobs) != list(range(1, len(jobs) + 1)):
        verdict.wrong.append(f"numbers of jobs were left out or given twice: {sorted(jobs)}")
    verdict.wrong += [f"attempts = {world.attempts}: {shared}" for shared in world.shared_processors]
    for wanted in world.jobs.values():
        check_submission(verdict, world, wanted, by_name[wanted.name], jobs)
    for number, job in sorted(jobs.items()):
        check_job(verdict, world, job, events[number], jobs)
    check_recovery(verdict, world, jobs)
    check_left(verdict, world)
    check_replay(verdict, world)
    return verdict.as_result(world, jobs)


# ---- jobs


def check_submission(verdict, world, wanted, numbers, jobs):
    """What a client was told is so."""
    where = f"attempts = {world.attempts}, {wanted.name}"
    if numbers and sorted(numbers) != list(range(min(numbers), min(numbers) + wanted.tasks)):
        verdict.repeated.append(f"{where}: submitted once, {wanted.tasks} of it, there are {numbers}")
    if wanted.told and wanted.told not in numbers:
        verdict.lost.append(f"{where}: submitted as job {wanted.told}, it is not there")
    if wanted.exit is None:
        verdict.wrong.append(f"{where}: 'pleat {wanted.command}' did not end")
    elif not wanted.client_hit and wanted.exit not in (0, BROKE) and not campaign_jobs.is_refused_in_vain(wanted, jobs):
        state = jobs[numbers[0]]["state"] if numbers else "not there"
        if wanted.command == "submit" or state in ("done", "not there"):
            verdict.wrong.append(f"{where}: 'pleat {wanted.command}' ended with {wanted.exit}, the job is {state}: "
                                 f"{wanted.said}")
    if wanted.command == "run" and wanted.exit == 0 and (not numbers or jobs[numbers[0]]["state"] != "done"):
        verdict.wrong.append(f"{where}: 'pleat run' ended with 0, the job is "
                             f"{jobs[numbers[0]]['state'] if numbers else 'not there'}")


def relaunches_of(job, events, once):
    """How often, by the log, all processes of a run were ended and started again; as far as they may be of one that is
    started once."""
    steps, warm = collections.defaultdict(set), set()
    for event in events:
        if event["kind"] == "resize":
            steps[event["resize"]] |= {event["step"], event["outcome"]}
            if event.get("way") == "relaunch":
                warm.add(event["resize"])
    ways = [] if once else [{"relaunching", "relaunched"}]  # it could not go on
    if job["mpi"] == "mpich" or job["resize"] == "relaunch":
        # its MPI adds no processes to those that run; those that were to take over may not have come up, and been
        # started again when the old ones had ended
        ways += [{"granted", "applied"}] * 2
        warm.clear()
    # of a job whose way is chosen anew for each resize: if those that were to take over do not come up, it is merged
    return len(warm) + sum(bool(seen & way) for seen in steps.values() for way in ways)


def check_job(verdict, world, job, events, jobs):
    number, wanted = job["job"], world.jobs.get(job["name"])
    if wanted is None:
        verdict.wrong.append(f"job {number} '{job['name']}' was never submitted")
        return
    wrote = Diary(wanted.file_of(job))
    hits = world.hit[number] + ["cancelled"] * wanted.cancelled
    story = (f"attempts = {world.attempts}, job {number} ({wanted.kind}{', once' * wanted.once}, {wanted.mpi}): {job['state']} "
             f"{job['reason']} exit {job['exit_code']} signal {job['signal']} attempt {job['attempt']}, text "
             f"{job['text']}, hit {hits}, wrote {wrote}")
    begun = collections.Counter(run for run, _ in wrote.begun)
    decided = sum(event["kind"] == "state" and event["to"] == "claiming" for event in events)
    verdict.starts += len(wrote.begun)
    verdict.requeued += job["attempt"]
    if wrote.overlaps:
        verdict.repeated.append(f"twice at a time: {story}")
    if max(begun.values(), default=0) > 1 + relaunches_of(job, events, wanted.once):
        verdict.repeated.append(f"one start of the log, several of the program: {story}")
    if wanted.once and len(begun) > 1:
        verdict.repeated.append(f"--no-requeue, and {len(begun)} runs: {story}")
    if len(begun) > max(1, world.attempts):
        verdict.repeated.append(f"more runs than attempts: {story}")
    elif len(begun) > decided:
        verdict.repeated.append(f"{len(begun)} runs, {decided} in the log: {story}")
    losses = agents_lost(world, job)
    if job["attempt"] > losses:
        verdict.wrong.append(f"it waited again {job['attempt']} times, {losses} agents were lost: {story}")
    early = campaign_jobs.wrong_start(wanted, wrote, jobs, time.time() - uptime())
    if early:
        verdict.wrong.append(f"{early}: {story}")
    if not campaign_jobs.is_as_it_must(wanted, job, wrote, jobs):
        check_end(verdict, world, job, wrote, hits, story)


def agents_lost(world, job):
    """While the job was there."""
    shift = time.time() - uptime()
    first = job["submit_s"] - shift - 1
    last = (job["end_s"] - shift if job["state"] in FINAL else uptime()) + 1
    return sum(first < until and since < last for since, until in world.agents_struck)


def got_to_its_end(world, wanted, job, wrote):
    """The exit code of a process does not say that: ranks that have saved their state for others leave with 0, and of two
    generations the one that is not the run's may end last."""
    if wanted.kind not in campaign_jobs.COMPUTING:
        return bool(wrote.successes)
    with open(world.instance.path(f"jobs/{job['job']}/stdout"), encoding="utf-8", errors="replace") as file:
        return "RESULT ok" in file.read()


def check_end(verdict, world, job, wrote, hits, story):
    state, wanted = job["state"], world.jobs[job["name"]]
    if state not in FINAL:
        verdict.lost.append(f"it did not end: {story}")
        return
    if state == "done":
        if wanted.kind in ("limited", "hungry", "swelling"):
            verdict.wrong.append(f"done, and not bound by its limit: {story}")
        elif job["exit_code"] != 0 or not got_to_its_end(world, wanted, job, wrote):
            verdict.lost.append(f"done, but its program did not get to its end: {story}")
        return
    if state == "cancelled":
        if "cancelled" not in hits:
            verdict.lost.append(f"nobody cancelled it: {story}")
        return
    losses = agents_lost(world, job)
    if not set(hits) - SPARING and losses < (1 if wanted.once else world.attempts):
        verdict.lost.append(f"it failed, {losses} agents were lost and nobody touched it: {story}")


# ---- the log


def steady(job):
    return {key: job[key] for key in ("job", "name", "state", "reason", "exit_code", "signal", "attempt", "submit_s",
                                      "start_s", "end_s", "min", "max")}


def check_recovery(verdict, world, jobs):
    """The next daemon knows the same."""
    pid = world.daemon.call("info")["pid"]
    world.daemon.close()
    os.kill(pid, 9)
    wait_until(lambda: not is_alive(pid), "the daemon is gone")
    again = {job["job"]: job for job in pages(world.daemon, "jobs", "jobs", all=True)}
    for number, job in jobs.items():
        if number not in again:
            verdict.lost.append(f"attempts = {world.attempts}, job {number} is not there after a restart")
        elif job["state"] in FINAL and steady(job) != steady(world.daemon.job(number)):
            verdict.wrong.append(f"attempts = {world.attempts}, job {number} is another one after a restart: "
                                 f"{steady(job)}, {steady(again[number])}")


def check_replay(verdict, world):
    """Decided again from its inputs, the log says the same. The daemon has ended."""
    copy = world.instance.path("copy")
    os.makedirs(copy, exist_ok=True)
    for path in glob.glob(world.instance.log + "*"):
        target = os.path.join(copy, os.path.basename(path))
        if os.path.isdir(path):
            shutil.copytree(path, target)
        else:
            shutil.copy(path, target)
    done = subprocess.run([PLEAT, "sim", "--replay", os.path.join(copy, "log.sqlite")], text=True, check=False,
                          env=world.instance.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        verdict.wrong.append(f"attempts = {world.attempts}: replay of the log: {done.stdout.strip()[-500:]}")


# ---- what is left


def names_with(instance):
    """Files and directories of that instance where scratch directories and shared memory are."""
    return [path for folder in {"/dev/shm", "/tmp", os.environ.get("TMPDIR", "/tmp")}
            for path in glob.glob(os.path.join(folder, f"*{instance}*"))]


def gone(condition):
    try:
        wait_until(condition, "it is gone", LEFT_S)
        return True
    except AssertionError:
        return False


def check_left(verdict, world):
    where, daemon = f"attempts = {world.attempts}: ", world.daemon
    site = daemon.call("sites")["sites"][0]
    if not gone(lambda: daemon.call("sites")["sites"][0]["free"] == site["processors"]):
        verdict.left.append(f"{where}processors: {daemon.call('sites')['sites'][0]}")
    identity = daemon.client.greeting["instance"]
    if not gone(lambda: not world.instance.job_pids_left(daemon)):
        verdict.left += [f"{where}process of a job: {' '.join(words_of(pid))[:200]}"
                         for pid in world.instance.job_pids_left(daemon)]
    daemon.close()
    stopped = world.instance.pleat("stop", "--force")
    if stopped.returncode:
        verdict.wrong.append(f"{where}'pleat stop --force' ended with {stopped.returncode}: {stopped.stderr}")
    mine = f"PLEAT_DIR={world.instance.dir}"
    if not gone(lambda: not pids_with(mine) and not holders(world.instance.dir)):
        verdict.left += [f"{where}process: {' '.join(words_of(pid))[:200]}"
                         for pid in sorted(set(pids_with(mine) + holders(world.instance.dir)))]
    if not gone(lambda: not names_with(identity)):
        verdict.left += [where + path for path in names_with(identity)]
