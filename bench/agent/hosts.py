"""Adding processes that are prepared on another host of a Slurm cluster, on hosts in namespaces of this machine (needs root and
Slurm's packages): by a process of the host that leads the job, and by one of that other host."""

import os
import pathlib
import statistics
import sys

import live

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "support"))

import clusters  # noqa: E402
from clusters.pleat import Pleat, go_file  # noqa: E402
from clusters.slurm import PROGRAMS  # noqa: E402
from clusters.world import SHARED, wait_until  # noqa: E402

CPUS = 4 # of a host: as many processes are there from the start, and as many are prepared on the other one
PROGRAM = f"{SHARED}/build/bench/bench_agent_ask"
BUFFERED = f"buffer = periodic\nbuffer_level = {CPUS}\nbuffer_review_s = 0.1\nbuffer_pending = {CPUS}\n"
# name in the output, of which values, its title
ROWS = (("agent_add_full_hosts", "add_hosts", "add, prepared on another host"), ("agent_first_message_full_hosts", "first_hosts", "... until its first message"),
        ("agent_add_full_away", "add_away", "... by one of that host"), ("agent_first_message_full_away", "first_away", "... until its first message"))
GOAL_US = 3000


def run(pleat, turn, what, count):
    """{name: values} of a job that adds so many when all are prepared."""
    go = go_file(f"bench-{what}{turn}")
    job = pleat.submit("--evolving", "-n", CPUS, "--max", 2 * CPUS, "--", PROGRAM, what, count, go)
    wait_until(lambda: (pleat.job(job)["buffer"] or {}).get("prepared", 0) == CPUS, f"{CPUS} processes are prepared: {pleat.log()}")
    there = [len(host.pids("bench_agent_ask")) for host in pleat.cluster.nodes]
    if there != [CPUS, CPUS]:
        sys.exit(f"bench agent: what is prepared is not on another host: {there}")
    pleat.cluster.world.path(go).touch()
    ended = pleat.until(job, "done", "failed", "cancelled")
    if ended["state"] != "done":
        sys.exit(f"bench agent: job {job} is {ended['state']}: {pleat.path(f'jobs/{job}/stderr').read_text()}")
    found = {}
    for line in pleat.output(job).splitlines():
        name, value = line.split()
        found.setdefault(name.replace("full", "hosts"), []).append(float(value))
    pleat.cluster.until_empty()
    return found


def measure(build, repeats):
    """All values by name; none where there can be no hosts, and why on standard error."""
    why_not = clusters.cannot(*PROGRAMS)
    if why_not:
        print(f"bench agent: without other hosts: {why_not}", file=sys.stderr)
        return {}
    found = {}
    with clusters.World(clusters.Slurm.hosts("a", 2), build=os.path.abspath(build)) as world:
        slurm = clusters.Slurm(world, "a", nodes=2, cpus=CPUS)
        slurm.start()
        slurm.until_idle()
        pleat = Pleat(slurm, f'kind = slurm conf = "{slurm.conf}" partition = main', ["srun"], more=BUFFERED)
        for turn in range(repeats):
            for what, count in (("full", CPUS), ("away", CPUS - 1)):
                for name, values in run(pleat, turn, what, count).items():
                    found.setdefault(name, []).extend(values)
        pleat.run("stop", "--force")
    return found


def rows(found):
    made = []
    for name, key, _ in ROWS:
        if key in found:
            goal = GOAL_US if key.startswith("add") else None
            value = statistics.median(found[key])
            made.append({"name": name, "value": value, "unit": "us", "baseline": None, "ratio": None, "goal": goal,
                         "met": value <= goal if goal else None})
    return made


def table(found):
    return live.lines([(title, found[key], "us") for _, key, title in ROWS if key in found], rows(found))
