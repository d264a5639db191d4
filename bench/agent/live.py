"""What adding and stopping processes takes, with a pleatd and an agent of its own, as a user runs it. The processors are pretended: a
site has as many as a case needs."""

import json
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

LIMIT_S = 600
# As many as wait in a buffer at a time, and are then added one after another.
BUFFER = 8
CONFIG = """site "local" {{ processors = {processors} background = ignore }}
idle_exit_s = 0
{policy}"""
PERIODIC = f"buffer = periodic\nbuffer_level = {BUFFER}\nbuffer_review_s = 0.1\nbuffer_pending = 1\n"


class Instance:
    """A pleatd in a directory of its own. To be used with `with`, which ends it and all that it runs."""

    def __init__(self, build, processors, policy=""):
        self.pleat, self.program = build / "bin/pleat", build / "bench/bench_agent_ask"
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="plb", dir="/tmp")) # short: a socket's path is limited
        (self.dir / "pleat.conf").write_text(CONFIG.format(processors=processors, policy=policy), encoding="ascii")
        self.env = {name: value for name, value in os.environ.items() if not name.startswith(("PLEAT_DIR", "XDG_"))}
        self.env["PLEAT_DIR"] = str(self.dir)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            done = self.run("stop", "--force")
            why = done.stderr.strip() if done.returncode else ""
        except (OSError, subprocess.TimeoutExpired) as error:
            why = str(error)
        if why: # its directory stays: without it nobody could end what runs there
            sys.exit(f"bench agent: pleatd could not be stopped: {why}\nIt still runs. End it with: PLEAT_DIR={self.dir} pleat stop --force")
        shutil.rmtree(self.dir, ignore_errors=True)

    def run(self, *words):
        return subprocess.run([self.pleat, *map(str, words)], env=self.env, cwd=self.dir, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=LIMIT_S, check=False)

    def ask(self, *words):
        done = self.run(*words)
        if done.returncode:
            sys.exit(f"bench agent: pleat {words[0]}: {done.stderr}")
        return done.stdout

    def submit(self, most, *words, start=1):
        return int(self.ask("submit", "--evolving", "-n", start, "--max", most, "--", self.program, *words))

    def show(self, job):
        return json.loads(self.ask("show", job, "--json"))

    def wait(self, job, what):
        """Until that can be said of a job."""
        end = time.monotonic() + LIMIT_S
        while True:
            shown = self.show(job)
            if what(shown):
                return shown
            if shown["state"] in ("done", "failed", "cancelled") or time.monotonic() > end:
                sys.exit(f"bench agent: job {job} is {shown['state']}: {self.output(job, 'stderr')}")
            time.sleep(0.1)

    def output(self, job, stream="stdout"):
        path = self.dir / "jobs" / str(job) / stream
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def results(self, job):
        """What a job has printed, by name, once it has ended well."""
        self.wait(job, lambda shown: shown["state"] == "done")
        found = {}
        for line in self.output(job).splitlines():
            name, value = line.split()
            found.setdefault(name, []).append(float(value))
        return found

    def agent_kb(self):
        """The memory of the agent, which is the only process of this name with this directory (reapers have other ones)."""
        mine = f"PLEAT_DIR={self.dir}".encode()
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if (entry / "comm").read_text() == "pleat-agent\n" and mine in (entry / "environ").read_bytes().split(b"\0"):
                    return next(int(line.split()[1]) for line in (entry / "status").read_text().splitlines() if line.startswith("VmRSS"))
            except (OSError, StopIteration):
                continue
        return sys.exit("bench agent: there is no agent")


def turns(build, repeats):
    """Adds from a full buffer, from an empty one, and bare starts, in turns. Returns all values by name."""
    found = {}
    with Instance(build, 4 * BUFFER, PERIODIC) as full, Instance(build, 4 * BUFFER) as empty:
        for turn in range(repeats):
            go = full.dir / f"go{turn}"
            job = full.submit(2 * BUFFER, "full", BUFFER, go)
            full.wait(job, lambda shown: (shown["buffer"] or {}).get("prepared", 0) >= BUFFER)
            go.touch()
            of_bare = subprocess.run([empty.program, "bare", str(BUFFER)], capture_output=True, text=True, timeout=LIMIT_S, check=True)
            bare = {"bare": [float(line.split()[1]) for line in of_bare.stdout.splitlines()]}
            for results in (full.results(job), empty.results(empty.submit(2 * BUFFER, "empty", BUFFER)), bare):
                for name, values in results.items():
                    found.setdefault(name, []).extend(values)
    return found


def many(build, count):
    """As many processes at once: what each takes, and the agent's memory for each; and what one more request takes then."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard)) # the first process is connected to all others
    try:
        with Instance(build, count + 1) as instance:
            first, go = instance.dir / "first", instance.dir / "go"
            first.touch()
            instance.results(instance.submit(2, "many", 1, first))
            before_kb = instance.agent_kb()
            # long enough for a look of the agent at the memory of all, which it takes every 50 times as long as one lasts
            job = instance.submit(count + 1, "many", count, go, max(2, count // 5))
            instance.wait(job, lambda _: "many_asked" in instance.output(job))
            with_all_kb = instance.agent_kb()
            go.touch()
            found = instance.results(job)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if found["many_known"] != [count]:
        sys.exit(f"bench agent: {found['many_known']} of {count} processes are known")
    return {"many_add": found["many_add"], "many_each": [found["many_all"][0] / count],
            "late_add": found["late_add"], "late_longest": [max(found["late_add"])],
            "many_kb": [max(0, with_all_kb - before_kb) / count]}


def flood(build, count):
    """As many requests as fast as they are answered, while there is no processor."""
    with Instance(build, 2) as instance:
        job = instance.submit(2, "flood", count, start=2)
        found = instance.results(job)
    waiting, refused = int(found["flood_waiting"][0]), int(found["flood_refused"][0])
    if waiting + refused != count:
        sys.exit(f"bench agent: of {count} requests {waiting} wait and {refused} were refused")
    return {"flood_rate": [count / found["flood_us"][0] * 1e6], "flood_waiting": [waiting], "flood_refused": [refused],
            "cancel_rate": [waiting / found["cancel_us"][0] * 1e6]}


# name in the output, of which values, unit, scale, baseline, goal (the most)
ROWS = [("agent_add_full", "add_full", "us", 1, None, 1000),
        ("agent_first_message_full", "first_full", "us", 1, "bare", None),
        ("agent_add_empty", "add_empty", "us", 1, None, None),
        ("agent_first_message_empty", "first_empty", "us", 1, "bare", None),
        ("agent_stop_call", "stop_call", "us", 1, None, None),
        ("agent_stop", "stop", "us", 1, None, None),
        ("agent_many_add", "many_add", "us", 1, None, None),
        ("agent_many_each", "many_each", "us", 1, None, None),
        ("agent_late_add", "late_add", "us", 1, None, None),
        ("agent_late_add_longest", "late_longest", "us", 1, None, None),
        ("agent_many_memory_each", "many_kb", "KiB", 1, None, None),
        ("agent_requests_rate", "flood_rate", "1/s", 1, None, None),
        ("agent_requests_waiting", "flood_waiting", "requests", 1, None, None),
        ("agent_requests_refused", "flood_refused", "requests", 1, None, None),
        ("agent_cancels_rate", "cancel_rate", "1/s", 1, None, None)]


def measure(build, repeats, processes, requests):
    """All values by name."""
    return {**turns(build, repeats), **many(build, processes), **flood(build, requests)}


def rows(found):
    made = []
    for name, key, unit, scale, against, goal in ROWS:
        value = statistics.median(found[key]) * scale
        baseline = statistics.median(found[against]) * scale if against else None
        made.append({"name": name, "value": value, "unit": unit, "baseline": baseline,
                     "ratio": value / baseline if against else None, "goal": goal, "met": value <= goal if goal else None})
    return made


def lines(entries, made):
    """entries: [title, values, unit] each; made: rows, of which those with a goal are said."""
    found = []
    for title, values, unit in entries:
        cell = f"{statistics.median(values):.4g} [{min(values):.4g} .. {max(values):.4g}]"
        found.append(f"{title:36}{cell:>40}   {unit}")
    for row in made:
        if row["goal"]:
            found.append(f"{row['name']}: {row['value']:.4g} {row['unit']}, goal {row['goal']}: {'met' if row['met'] else 'not met'}")
    return "\n".join(found)


def table(found, processes, requests):
    titles = {"add_full": "add, a process is prepared", "first_full": "... until its first message",
              "add_empty": "add, none is prepared", "first_empty": "... until its first message",
              "bare": "bare start until its first message", "stop_call": "stop", "stop": "... until it is gone",
              "many_add": f"add, of {processes} at once", "many_each": f"... all {processes} there, for each",
              "late_add": "... add, when these are there", "late_longest": "... ... the longest",
              "many_kb": "... the agent's memory for each", "flood_rate": f"answers to {requests} requests",
              "flood_waiting": "... of which wait", "flood_refused": "... of which are refused", "cancel_rate": "requests cancelled"}
    units = {key: unit for _, key, unit, _, _, _ in ROWS} | {"bare": "us"}
    return "\n".join([f"{'':36}{'median [smallest .. largest]':>40}",
                      lines([(title, found[key], units[key]) for key, title in titles.items()], rows(found))])
