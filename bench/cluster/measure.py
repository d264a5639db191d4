#!/usr/bin/env python3
"""usage: measure.py --build DIRECTORY [--json] [--repeats N] [--seconds S] [--state BYTES] [--points N]

Pleat above a real Slurm cluster of two nodes, on hosts in namespaces of this machine (needs root and Slurm's packages):
how long it takes to have an agent on a node, and to give processors back, compared with Slurm's commands by hand; how long a
program stands still that grows onto the second node, and what its adaptation points cost there (nodes.py); and what the
controller is asked meanwhile. bench/README.md says more."""

import argparse
import json
import pathlib
import re
import statistics
import sys
import time

sys.dont_write_bytecode = True
TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests" / "support"))

import clusters  # noqa: E402
import nodes  # noqa: E402
from clusters.slurm import PROGRAMS  # noqa: E402
from clusters.world import USER, USER_ID, wait_until  # noqa: E402

DIR = f"/media/home/{USER}/bench"
BIN = "/media/build/bin"
WAITING = 16  # jobs
# nobody looks at a job of Pleat while its agent starts, as nobody does at what is done by hand: to look takes a processor
UNWATCHED_S = 0.15
# prints when it began, and what the node's clock said when the step ran there; one processor on one node
BY_HAND_START = """
began=$EPOCHREALTIME
job=$(salloc --no-shell -n 1 2>&1 | sed -n 's/.*Granted job allocation \\([0-9]*\\).*/\\1/p')
ran=$(srun --jobid="$job" --overlap bash -c 'echo $EPOCHREALTIME')
echo "$began $ran"
scancel "$job"
while [ -n "$(squeue -h 2>/dev/null)" ]; do :; done
"""
# the same for giving back an allocation in which a process runs
BY_HAND_END = """
job=$(salloc --no-shell -n 1 2>&1 | sed -n 's/.*Granted job allocation \\([0-9]*\\).*/\\1/p')
srun --jobid="$job" --overlap sleep 1000 >/dev/null 2>&1 &
until [ "$(squeue -h -s -j "$job" -o %i 2>/dev/null | grep -c '\\.0$')" = 1 ]; do :; done
began=$EPOCHREALTIME
scancel "$job"
while [ -n "$(squeue -h 2>/dev/null)" ]; do :; done
echo "$began $EPOCHREALTIME"
wait
"""
NODES, CPUS = 2, 2
UNTIL_EMPTY = 'while [ -n "$(squeue -h 2>/dev/null)" ]; do :; done; echo $EPOCHREALTIME'


class Pleat:
    def __init__(self, slurm):
        self.slurm = slurm
        slurm.head.run("install", "-d", "-m", "700", DIR, user=USER)
        slurm.world.path(f"{DIR}/pleat.conf").write_text(
            f'site "c" {{ kind = slurm conf = "{slurm.conf}" partition = main }}\nidle_exit_s = 0\n')

    def run(self, *words):
        env = {"PLEAT_DIR": DIR, "PATH": f"{BIN}:/usr/bin:/bin"} | nodes.YIELD
        return self.slurm.head.run(f"{BIN}/pleat", *words, user=USER, env=env).stdout

    def events(self, job, kind):
        events = [json.loads(line) for line in self.run("events", str(job), "--json").splitlines()]
        return [event for event in events if event["kind"] == kind]

    def times(self, job):
        """{state of its processors: when, in seconds}"""
        return {event["state"]: event["time_s"] for event in self.events(job, "slots")}

    def job(self, job):
        return json.loads(self.run("show", str(job), "--json"))

    def output(self, job):
        return self.slurm.world.path(f"{DIR}/jobs/{job}/stdout").read_text()


def by_hand(slurm, script):
    """Milliseconds."""
    began, ended = map(float, slurm.command("bash", "-c", script, user=USER).split())
    return 1000 * (ended - began)


def one_job(pleat):
    """Milliseconds until its agent has called, and from the decision to give back until Slurm has the processor."""
    job = int(pleat.run("submit", "-n", "1", "sleep", "0.3"))
    time.sleep(UNWATCHED_S)
    wait_until(lambda: "held" in pleat.times(job), "the job has its processor")
    empty = float(pleat.slurm.command("bash", "-c", UNTIL_EMPTY, user=USER))
    times = pleat.times(job)
    return 1000 * (times["held"] - times["requested"]), 1000 * (empty - times["releasing"])


def measure_times(pleat, repeats):
    names = ("start", "by_hand_start", "end", "by_hand_end")
    series = {name: [] for name in names}
    one_job(pleat)  # the daemon and its adapter are there
    for _ in range(repeats):
        start, end = one_job(pleat)
        series["start"].append(start)
        series["end"].append(end)
        series["by_hand_start"].append(by_hand(pleat.slurm, BY_HAND_START))
        series["by_hand_end"].append(by_hand(pleat.slurm, BY_HAND_END))
    return series


def queries(slurm, seconds):
    """Requests of this user to the controller, per second."""
    slurm.command("sdiag", "--reset")
    slurm.head.run("sleep", str(seconds))
    found = re.search(rf"\(\s*{USER_ID}\) count:(\d+)", slurm.command("sdiag"))
    return int(found.group(1)) / seconds if found else 0.0


def measure_queries(pleat, seconds):
    slurm = pleat.slurm
    found = {"idle": queries(slurm, seconds)}
    other = slurm.command("sbatch", "--parsable", "-N2", "--exclusive", "-o", "/dev/null",
                          text_in="#!/bin/sh\nsleep 100000\n").strip()
    wait_until(lambda: slurm.jobs().get(other) == "RUNNING", "somebody else has the cluster")
    jobs = []
    for count in (1, WAITING):
        while len(jobs) < count:
            jobs.append(pleat.run("submit", "-n", "1", "true").strip())
        wait_until(lambda: len(slurm.jobs()) > 1, "they wait in Slurm's queue")
        slurm.head.run("sleep", "3")  # what their beginning asks is over
        found[f"{count}_waiting"] = queries(slurm, seconds)
    pleat.run("cancel", *jobs)
    slurm.command("scancel", other)
    return found


def row(name, values, unit, baseline, goal):
    value = statistics.median(values)
    base = statistics.median(baseline) if baseline else None
    ratio = value / base if base else None
    compared = value if ratio is None else ratio
    return {"name": f"cluster_{name}", "value": value, "unit": unit, "baseline": base, "ratio": ratio, "goal": goal,
            "met": compared <= goal}


def rows_of(series, found):
    rows = [row(name, series[name], "ms", series[f"by_hand_{name}"], 1.2) for name in ("start", "end")]
    for name, unit, _, goal in nodes.ROWS:
        rows += [row(f"{name}_{mpi}", series[f"{name}_{mpi}"], unit, series[f"plain_{name}_{mpi}"], goal)
                 for mpi in nodes.MPIS if f"{name}_{mpi}" in series]
    return rows + [row(f"queries_{name}", [value], "1/s", None, 1) for name, value in found.items()]


def spread(values):
    return f"{statistics.median(values):8.1f} [{min(values):7.1f} .. {max(values):7.1f}]"


def show(series, found, rows):
    def of(name):
        return next(one for one in rows if one["name"] == f"cluster_{name}")

    def line(text, own, values, base):
        print(f"{text:44} {spread(values)} {spread(base)}  {own['ratio']:5.2f}"
              f"  at most {own['goal']}: {'met' if own['met'] else 'NOT MET'}")

    print(f"{'milliseconds':44} {'Pleat':>28} {'by hand':>29}  ratio")
    for name, text in {"start": "until something of ours runs on a node", "end": "until the processors are idle in Slurm"}.items():
        line(text, of(name), series[name], series[f"by_hand_{name}"])
    for name, _, title, _ in nodes.ROWS:
        print(f"\n{title[0]:44} {title[1]:>28} {title[2]:>29}  ratio")
        for mpi, text in nodes.MPIS.items():
            if f"{name}_{mpi}" in series:
                line(text, of(f"{name}_{mpi}"), series[f"{name}_{mpi}"], series[f"plain_{name}_{mpi}"])
    print()
    for name, value in found.items():
        own = of(f"queries_{name}")
        print(f"{'requests a second, jobs: ' + name.replace('_', ' '):44} {value:8.2f}"
              f"{'':22}  at most {own['goal']:g}: {'met' if own['met'] else 'NOT MET'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--seconds", type=int, default=10, help="how long requests are counted")
    parser.add_argument("--state", type=int, default=64 << 20, help="bytes of the program that grows")
    parser.add_argument("--points", type=int, default=200000, help="adaptation points of each measurement")
    options = parser.parse_args()
    why_not = clusters.cannot(*PROGRAMS, "salloc", "sdiag")
    if why_not:
        sys.exit(f"bench cluster: {why_not}")
    with clusters.World(clusters.Slurm.hosts("c", NODES), build=pathlib.Path(options.build).resolve()) as world:
        slurm = clusters.Slurm(world, "c", nodes=NODES, cpus=CPUS)
        slurm.start()
        slurm.until_idle()
        pleat = Pleat(slurm)
        series = measure_times(pleat, options.repeats)
        series |= nodes.measure_growths(pleat, options.repeats, options.state)
        series |= nodes.measure_points(pleat, options.repeats, options.points)
        found = measure_queries(pleat, options.seconds)
        pleat.run("stop", "--force")
        slurm.until_empty()
    rows = rows_of(series, found)
    if options.json:
        print("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]")
    else:
        show(series, found, rows)


main()
