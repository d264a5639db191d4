#!/usr/bin/env python3
"""usage: scale.py --build DIRECTORY [--json] [--repeats N] [--nodes N] [--jobs N] [--seconds S] [--resizes N]

pleatd above three clusters that are not there (standin.py), of --nodes nodes in all, with --jobs malleable jobs. First all processors
are somebody else's, so a part of the jobs waits in the clusters' queues, and the rest in Pleat's own; then all of them run, each with
an agent of its own on this machine, and an application that is not there either (standin_app.c); then they grow and shrink as well,
--resizes of them a second. Prints pleatd's processor time, in all and of a turn, its memory, and how long it takes to answer.
bench/README.md says more."""

import argparse
import json
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
SITES = 3
CPUS = 4  # of a node
SIZES = (1, 2)  # of a job that runs
LIMIT_S = 300
GOALS = {"cpu": 10, "turn_most": 50}
KINDS = (("cpu", "%", "processor time of pleatd, of one processor"),
         ("memory", "MB", "memory of pleatd, at most"),
         ("turn", "ms", "processor time from an answer to the next one, median"),
         ("turn_most", "ms", "processor time from an answer to the next one, at most"),
         ("answer", "ms", "until it answers, median"),
         ("answer_most", "ms", "until it answers, at most"))
GAP_S = 0.01  # between two questions
TICKS = os.sysconf("SC_CLK_TCK")
# mpirun, for jobs that run: the words before the program are for one that starts ranks
LAUNCHER = """#!/bin/sh
until [ "$1" = -n ]; do shift; done
size=$2
for program; do :; done
exec "$program" "$size"
"""


def claims(options, runs):
    """Processors of each cluster that jobs may ask for: what all of them need that run; else a part of that, and the other jobs wait
    in Pleat's own queue."""
    return max(SIZES) * -(-options.jobs // SITES) if runs else max(1, options.jobs * 3 // 5 // SITES)


class Daemon:
    def __init__(self, options, path, nodes, runs):
        self.bin, self.path = options.build / "bin", path
        claimed = claims(options, runs)
        gives = claimed if runs else 0
        for i in range(SITES):
            first, behind = (nodes * end // SITES for end in (i, i + 1))
            script = path / f"standin-{i}"
            script.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{HERE}/standin.py" --nodes {behind - first} --cpus {CPUS} '
                              f'--from {first} --gives {gives} "$@"\n')
            script.chmod(0o700)
        sites = "".join(f'site "c{i}" {{ kind = slurm adapter = "{path}/standin-{i}" processors = {claimed} agent_s = {LIMIT_S} }}\n'
                        for i in range(SITES))
        (path / "pleat.conf").write_text(sites + f'idle_exit_s = 0\nagent_listen = "127.0.0.1"\nclaim_s = {LIMIT_S}\n'
                                         'malleability = "none"\n')
        launcher = path / "bin" / "mpirun.openmpi"
        launcher.parent.mkdir()
        launcher.write_text(LAUNCHER)
        launcher.chmod(0o700)
        self.env = dict(os.environ, PLEAT_DIR=str(path), PATH=f"{launcher.parent}:{os.environ['PATH']}")
        self.run("info")
        self.pid = int((path / "pleatd.lock").read_text().split()[0])

    def run(self, *words):
        done = subprocess.run([self.bin / "pleat", *words], env=self.env, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"bench cluster: pleat {' '.join(words)}: {done.stderr}")
        return done.stdout

    def cpu_s(self):
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def ran_ms(self):
        """As cpu_s, but to the microsecond."""
        return int(pathlib.Path(f"/proc/{self.pid}/schedstat").read_text().split()[0]) / 1e6

    def peak_mb(self):
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) / 1024

    def until_all_is_asked(self):
        """Each cluster has been told of what its processors allow."""
        end = time.monotonic() + LIMIT_S
        while any(site["used"] < site["processors"] or not site["processors"]
                  for site in json.loads(self.run("sites", "--json"))["sites"]):
            if time.monotonic() > end:
                sys.exit(f"bench cluster: the clusters are not asked: {self.run('sites')}")

    def until_all_run(self, client, count):
        """Each has an agent, and an application that has begun: it tells how far it is."""
        def run():
            return sum(job["state"] == "running" and (job["progress"] or {}).get("iteration", 0) > 0 for job in client.jobs())
        end = time.monotonic() + LIMIT_S
        while (now := run()) < count:
            if time.monotonic() > end:
                sys.exit(f"bench cluster: {now} of {count} jobs run: {(self.path / 'pleatd.log').read_text()[-3000:]}")
            time.sleep(0.5)

    def end(self):
        subprocess.run([self.bin / "pleat", "stop", "--force"], env=self.env, capture_output=True, check=False)


class Client:
    """Asks pleatd one question after the other."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(str(path / "pleatd.sock"))
        self.lines = self.socket.makefile("rb")
        self.number = 0
        self.say({"method": "hello", "params": {"protocol": 1, "role": "client", "version": "0"}})
        self.lines.readline()

    def say(self, message):
        self.socket.sendall(json.dumps(message).encode() + b"\n")

    def ask(self, method, params):
        self.number += 1
        self.say({"id": self.number, "method": method, "params": params})
        while True:
            message = json.loads(self.lines.readline())
            if message.get("id") == self.number:
                return message

    def jobs(self):
        found, more = [], True
        while more:
            after = {"after": found[-1]["job"]} if found else {}
            answer = self.ask("jobs", {"limit": 100} | after)["result"]
            found += answer["jobs"]
            more = answer["more"]
        return found


class Resizes:
    """One job after the other grows or shrinks: `rate` of them a second."""

    def __init__(self, client, rate):
        self.client, self.rate = client, rate
        self.sizes = {job["job"]: job["processors"] for job in client.jobs()}
        self.numbers = list(self.sizes)
        self.tried = self.asked = 0
        self.began = time.monotonic()

    def ask(self):
        """Asks for the next one; False: it is not due."""
        if self.tried >= (time.monotonic() - self.began) * self.rate:
            return False
        job = self.numbers[self.tried % len(self.numbers)]
        self.tried += 1
        size = SIZES[self.sizes[job] == SIZES[0]]
        if "result" in self.client.ask("resize", {"job": job, "processors": size}):  # else its last one is not over
            self.sizes[job] = size
            self.asked += 1
        return True

    def until_done(self):
        """All that were asked for; how many these are."""
        end = time.monotonic() + LIMIT_S
        while True:
            jobs = self.client.jobs()
            there = {job["job"]: job["processors"] for job in jobs} == self.sizes
            if there and sum(job["grown"] + job["shrunk"] for job in jobs) == self.asked:
                return self.asked
            if time.monotonic() > end:
                sys.exit(f"bench cluster: {self.asked} resizes were asked for, and these were done: "
                         f"{[(job['job'], job['processors'], job['grown'], job['shrunk'], job['failed_resizes']) for job in jobs]}")
            time.sleep(0.5)


def measure(daemon, client, seconds, resizes=None):
    """What pleatd takes meanwhile."""
    answers, turns = [], []
    began, cpu_s, ran = time.monotonic(), daemon.cpu_s(), daemon.ran_ms()
    while time.monotonic() - began < seconds:
        asked = time.monotonic()
        if not (resizes and resizes.ask()):
            client.ask("policies", {})
        answers.append(1000 * (time.monotonic() - asked))
        before, ran = ran, daemon.ran_ms()
        turns.append(ran - before)
        time.sleep(GAP_S)
    passed = time.monotonic() - began
    return {"cpu": 100 * (daemon.cpu_s() - cpu_s) / passed, "memory": daemon.peak_mb(),
            "turn": statistics.median(turns), "turn_most": max(turns),
            "answer": statistics.median(answers), "answer_most": max(answers), "passed": passed}


def one_run(options, nodes, runs=False):
    """What is measured while jobs wait; or while all run, and while they are resized."""
    with tempfile.TemporaryDirectory(prefix="pleat-bench-") as name:
        path = pathlib.Path(name)
        daemon = Daemon(options, path, nodes, runs)
        waiting = ("--initial", "1", "--min", "1", "--max", str(CPUS), "true")
        running = ("--initial", str(SIZES[1]), "--min", str(SIZES[0]), "--max", str(SIZES[1]), "--on-resize", "merge",
                   str(options.build / "bench" / "standin_app"))
        try:
            daemon.run("submit", "--array", f"1-{options.jobs}", "--malleable", "--mpi", "openmpi", *(running if runs else waiting))
            client = Client(path)
            if not runs:
                daemon.until_all_is_asked()
                return [measure(daemon, client, options.seconds)]
            daemon.until_all_run(client, options.jobs)
            found = [measure(daemon, client, options.seconds)]
            resizes = Resizes(client, options.resizes)
            found.append(measure(daemon, client, options.seconds, resizes))
            found[1]["resizes"] = resizes.until_done() / found[1]["passed"]
            return found
        finally:
            daemon.end()


def row(kind, unit, values, others, goal):
    """Goals are limits of the value; rows without one are compared with other runs."""
    value = statistics.median(values)
    base = None if goal else statistics.median(others)
    return {"name": f"cluster_scale_{kind}", "value": value, "unit": unit, "baseline": base,
            "ratio": value / base if base else None, "goal": goal, "met": None if goal is None else value <= goal}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--nodes", type=int, default=10000)
    parser.add_argument("--jobs", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=10, help="how long each is measured")
    parser.add_argument("--resizes", type=float, default=20, help="resizes a second")
    options = parser.parse_args()
    waiting, few, running, resizing = [], [], [], []
    least = SITES * -(-claims(options, False) // CPUS)  # nodes that have what may be asked for
    for _ in range(options.repeats):
        waiting += one_run(options, options.nodes)
        few += one_run(options, least)
        first, second = one_run(options, options.nodes, runs=True)
        running.append(first)
        resizing.append(second)
    done = statistics.median(run["resizes"] for run in resizing)
    parts = (("", waiting, few, "all wait", f"{least} nodes"),
             ("_running", running, waiting, "all run", "all wait"),
             ("_resizing", resizing, running, f"{done:.1f} resizes a second", "none"))
    rows = [row(kind + part, unit, [run[kind] for run in runs], [run[kind] for run in base], GOALS.get(kind))
            for part, runs, base, _, _ in parts for kind, unit, _ in KINDS]
    if options.json:
        rows.append({"name": "cluster_scale_resizes", "value": done, "unit": "1/s", "baseline": None, "ratio": None, "goal": None,
                     "met": None})
        print("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]")
        return
    print(f"{options.jobs} malleable jobs above {SITES} clusters of {options.nodes} nodes in all, over {options.seconds:g} s")
    for number, (_, runs, base, title, beside) in enumerate(parts):
        print(f"\n{title:>72} {'':22} {beside:>12}")
        for (kind, unit, text), own in zip(KINDS, rows[number * len(KINDS):]):
            values = [run[kind] for run in runs]
            judged = f"  at most {own['goal']}: {'met' if own['met'] else 'NOT MET'}" if own["goal"] else ""
            print(f"{text:58} {unit:>2} {own['value']:10.2f} [{min(values):8.2f} .. {max(values):8.2f}] "
                  f"{statistics.median(run[kind] for run in base):12.2f}{judged}")


main()
