"""A site of the kind slurm: jobs of Pleat in allocations of a real cluster, which come, wait, and are taken away."""

import datetime
import hashlib
import json
import os
import re
import signal

import pytest

from clusters import wait_until
from clusters.pleat import APPS, BIN, ENDED, Counted, Pleat, go_file, until_file
from clusters.slurm import IMPATIENT as SETTINGS  # noqa: F401
from clusters.world import USER


@pytest.fixture(name="pleat", scope="module")
def fixture_pleat(slurms):
    pleat = Pleat(slurms[0], f'kind = slurm conf = "{slurms[0].conf}" partition = main', ["srun"])
    yield pleat
    pleat.finish()


def hold_all(slurm, *options):
    """All of the cluster is somebody else's."""
    job = slurm.command("sbatch", "--parsable", "-N2", "--exclusive", *options, "-o", "/dev/null",
                        text_in="#!/bin/sh\nsleep 100000\n")
    job = job.strip()
    wait_until(lambda: slurm.jobs().get(job) == "RUNNING", "somebody else has all of it")
    return job


def test_a_command_runs_on_a_node(pleat):
    assert pleat.run("run", "hostname").stdout == "a1\n", pleat.log()
    pleat.cluster.until_empty()
    [site] = pleat.ask("sites")["sites"]
    assert (site["kind"], site["processors"], site["used"], site["nodes"]) == ("slurm", 8, 0, []), site


def test_an_mpi_job(pleat):
    job = pleat.submit("-n", 3, "--", f"{APPS}/ring", "--iterations", 20)
    assert pleat.until(job, *ENDED)["state"] == "done", (pleat.log(), pleat.output(job))
    assert pleat.output(job).startswith("RESULT ok") and "ranks=3" in pleat.output(job)
    pleat.cluster.until_empty()


def test_standard_input_is_passed_on(pleat):
    text = "".join(f"line {number} of many\n" for number in range(300000))
    known = hashlib.md5(text.encode()).hexdigest() + "  -"

    def run(*words, given=text):
        return pleat.head.run(f"{BIN}/pleat", "run", *words, user=USER, env=pleat.env, text_in=given).stdout.splitlines()
    assert run("--", "md5sum") == [known]
    assert run("--", "cat", given="") == [] == run("--", "true")
    code = 'case $OMPI_COMM_WORLD_RANK in 0) md5sum;; *) echo "others $(wc -c)";; esac'
    assert sorted(run("-n", 2, "--mpi", "openmpi", "--runner", "mpi", "--", "sh", "-c", code)) == sorted([known, "others 0"])
    pleat.cluster.until_empty()


def test_waits_in_slurms_queue(pleat):
    """It says why, and when Slurm expects to start it: here, when the time of those who are there is over."""
    other = hold_all(pleat.cluster, "-t", "7")
    job = pleat.submit("--", "hostname")
    waits = wait_until(lambda: "others have the processors" in pleat.run("why", job).stdout or
                       "others in that queue go first" in pleat.run("why", job).stdout, pleat.log())
    assert waits

    def expected():
        """By Slurm, which may change its mind, and by Pleat: in JSON, by `show` and by `why`."""
        said = dict(line.split() for line in pleat.cluster.command(
            "squeue", "-h", "-o", "%i %S", env={"SLURM_TIME_FORMAT": "%s"}).splitlines())
        [start] = [start for number, start in said.items() if number != other]
        if not start.isdigit() or int(start) < int(said[other]) + 400:
            return False
        clock = datetime.datetime.fromtimestamp(int(start)).strftime("%H:%M:%S")
        return (pleat.job(job)["site_queue"]["expected_s"] == int(start) and
                f"; they may be given at {clock}" in pleat.run("why", job).stdout and
                re.search(r"waits in the queue of site c1: .*; it may start in [1-9]\d+ s", pleat.run("show", job).stdout))
    wait_until(expected, f"the expected start is told: {pleat.run('why', job).stdout} {pleat.log()}")
    pleat.cluster.command("scancel", other)
    assert pleat.until(job, *ENDED)["state"] == "done"
    assert pleat.output(job) in ("a1\n", "a2\n")
    # what is not wanted any more does not stay in the queue
    other = hold_all(pleat.cluster)
    job = pleat.submit("--", "hostname")
    wait_until(lambda: len(pleat.cluster.jobs()) == 2, "it waits there")
    pleat.run("cancel", job)
    wait_until(lambda: list(pleat.cluster.jobs()) == [other], "only the other one is left")
    pleat.cluster.command("scancel", other)
    pleat.cluster.until_empty()


def test_a_job_too_large_for_any_node_is_refused(pleat):
    refused = pleat.run("submit", "-n", 5, "--", "true", check=False)
    assert refused.returncode == 1 and "must be on one node: the largest has 4" in refused.stderr, refused
    assert pleat.cluster.jobs() == {}


def test_cancel(pleat):
    job = pleat.submit(*until_file(go_file("never")))
    pleat.until(job, "running")
    pleat.run("cancel", job)
    assert pleat.until(job, *ENDED)["state"] == "cancelled"
    pleat.cluster.until_empty()


@pytest.mark.parametrize("polite", [False, True])
def test_an_allocation_cancelled_from_outside(pleat, polite):
    """The job waits again, with a reason, and gets another one; also if its program exits with 0 when it is told to end."""
    go = go_file(f"after-scancel-{polite}")
    trap = 'trap "exit 0" TERM; '
    job = pleat.submit("--", "sh", "-c", (trap if polite else "") + 'echo begun; while [ ! -e "$1" ]; do sleep 0.05; done',
                       "until-file", go)
    pleat.until(job, "running")
    wait_until(lambda: pleat.output(job) == "begun\n", "it has begun")
    [allocation] = pleat.cluster.jobs()
    pleat.cluster.command("scancel", allocation)
    wait_until(lambda: [number for number in pleat.cluster.jobs() if number != allocation], "another allocation")
    assert "was ended by Slurm: " in pleat.log() or "is given up: its agent has ended" in pleat.log()
    pleat.until(job, "running")
    pleat.cluster.world.path(go).touch()
    shown = pleat.until(job, *ENDED)
    assert (shown["state"], shown["attempt"]) == ("done", 1) and pleat.output(job) == "begun\nbegun\n", (shown, pleat.log())
    pleat.cluster.until_empty()


def test_a_job_goes_on_while_pleatd_is_killed(pleat):
    go = go_file("after-restart")
    job = pleat.submit(*until_file(go))
    pleat.until(job, "running")
    before = pleat.cluster.jobs()
    pleat.kill_daemon()
    wait_until(lambda: not pleat.adapters(), "its adapter is gone, too")
    assert pleat.cluster.jobs() == before
    pleat.run("info")  # starts another one
    shown = pleat.until(job, "running")
    assert shown["attempt"] == 0, shown
    pleat.cluster.world.path(go).touch()
    assert pleat.until(job, *ENDED)["state"] == "done"
    assert pleat.output(job).count("\n") == 1, "it was started again"
    pleat.cluster.until_empty()


def test_the_adapter_is_killed(pleat):
    """Its allocations are found again by the next one."""
    go = go_file("after-adapter")
    job = pleat.submit(*until_file(go))
    pleat.until(job, "running")
    [adapter] = pleat.adapters()
    os.kill(adapter, signal.SIGKILL)
    wait_until(lambda: [pid for pid in pleat.adapters() if pid != adapter], "another one")
    pleat.cluster.world.path(go).touch()
    assert pleat.until(job, *ENDED)["state"] == "done"
    assert pleat.output(job).count("\n") == 1
    pleat.cluster.until_empty()


def test_a_node_is_drained(pleat):
    """Nothing is asked for on it, also after a restart; what has it keeps it."""
    go = go_file("on-a1")
    job = pleat.submit(*until_file(go))
    pleat.until(job, "running")
    pleat.run("site", "drain", "--node", "a1", "c1")

    def states():
        [site] = pleat.ask("sites", "--nodes")["sites"]
        return {node["name"]: node["state"] for node in site["nodes"]}

    assert states() == {"a1": "draining", "a2": "ok"}
    assert pleat.run("run", "hostname").stdout == "a2\n"
    pleat.kill_daemon()
    assert pleat.run("run", "hostname").stdout == "a2\n"
    wait_until(lambda: pleat.ask("sites")["sites"][0]["processors"] == 4, "it has fewer processors")
    both = pleat.submit("-n", 6, "--", f"{APPS}/ring", "--iterations", 20)  # it may take jobs again
    wait_until(lambda: "more than the nodes that take jobs now have" in pleat.run("why", both).stdout,
               f"it needs both nodes: {pleat.run('why', both).stdout} {pleat.log()}")
    refused = pleat.run("submit", "-n", 9, "--", f"{APPS}/ring", check=False)
    assert refused.returncode == 1 and "at least 9 processors, and its cluster has 8" in refused.stderr, refused
    pleat.cluster.world.path(go).touch()
    pleat.run("site", "drain", "--wait", "--node", "a1", "c1")
    assert pleat.until(job, *ENDED)["state"] == "done"
    assert states() == {"a1": "drained", "a2": "ok"}
    wrong = pleat.run("site", "drain", "--node", "a7", "c1", check=False)
    assert wrong.returncode == 1 and "no node 'a7'" in wrong.stderr, wrong
    wrong = pleat.run("site", "drain", "--node", "a1,a2", "c1", check=False)
    assert wrong.returncode == 1 and "no name of a node" in wrong.stderr, wrong
    pleat.run("site", "resume", "--node", "a1", "c1")
    assert states() == {"a1": "ok", "a2": "ok"}
    assert pleat.until(both, *ENDED)["state"] == "done" and "ranks=6" in pleat.output(both), pleat.output(both)
    pleat.cluster.until_empty()
    assert pleat.run("run", "hostname").stdout == "a1\n"
    pleat.cluster.until_empty()


def test_whole_nodes(slurms):
    """What a job has of its node is its own; the rest is for its growth alone, and for nobody else of Pleat's."""
    slurm, go = slurms[1], go_file("go-whole")
    pleat = Pleat(slurm, f'kind = slurm conf = "{slurm.conf}" partition = main whole = nodes', ["srun"], name="whole",
                  more="lifetime_s = 0\n")

    def allocations():
        return slurm.command("squeue", "-h", "-S", "i", "-t", "R", "-o", "%N:%C").split()

    def computes_on(size):
        def there():
            shown = pleat.job(job)
            return (shown["state"] == "running" and shown["processors"] == size == len(slurm.nodes[0].pids("loop")) and
                    (shown["progress"] or {}).get("iteration"))
        wait_until(there, f"{size} ranks: {pleat.log()}")

    job = pleat.submit("--min", 1, "--max", 2, "--initial", 1, "--", f"{APPS}/loop", "--until", go, "--pause", 10)
    computes_on(2)
    assert allocations() == ["b1:4"] and pleat.ask("sites")["sites"][0]["used"] == 2
    pleat.run("limits", job, "--max", 4)
    computes_on(4)
    assert allocations() == ["b1:4"]  # nothing was asked for
    pleat.run("limits", job, "--max", 2)
    computes_on(2)
    other, third = Counted(pleat, "other"), Counted(pleat, "third")
    assert other.begun() == "b2"
    wait_until(lambda: "PENDING" in slurm.jobs().values(), "it waits in Slurm's queue")
    assert allocations() == ["b1:4", "b2:4"] and sorted(slurm.jobs().values()) == ["PENDING", "RUNNING", "RUNNING"]
    [site] = pleat.ask("sites")["sites"]
    assert (site["processors"], site["used"], site["background"]) == (8, 4, 0), site  # 2, 1 and the 1 that waits
    other.is_done_once()
    assert third.begun() == "b2"
    third.is_done_once()
    slurm.world.path(go).touch()
    assert pleat.until(job, *ENDED)["state"] == "done"
    slurm.until_empty()
    slurm.until_idle()
    job = pleat.submit("-n", 6, "--", f"{APPS}/ring", "--iterations", 2000)  # over both
    wait_until(lambda: allocations() == [f"{slurm.name}[1-2]:8"], f"all of both: {pleat.log()}")
    assert pleat.until(job, *ENDED)["state"] == "done" and "ranks=6" in pleat.output(job), pleat.output(job)
    pleat.finish()


def test_info_says_what_the_cluster_offers(pleat):
    """As text and as JSON: all partitions with their limits, the features of nodes; accounts it has none (test_accounts.py)."""
    pleat.cluster.command("scontrol", "update", "nodename=a1", "availablefeatures=fast", "activefeatures=fast")
    wait_until(lambda: ["fast", ""] == [node["features"] for node in pleat.ask("info", "c1")["nodes"]], "the feature is told")
    facts = pleat.ask("info", "c1")
    batch = facts["batch"]
    assert (facts["name"], facts["kind"], batch["title"], batch["cluster"], batch["part"]) == ("c1", "slurm", "Slurm", "a", "main")
    assert batch["answers"] and batch["may"] is True and batch["accounts"] is None and batch["no_accounts"], batch
    assert [(part["name"], part["cpus"], part["default"], part.get("max_minutes"), part.get("max_nodes"))
            for part in batch["partitions"]] == [("main", 8, True, None, None), ("short", 8, False, 10, 1)]
    free = ["site", "c1: slurm, 8 processors on 2 nodes: 0 used, 0 used by others, 8 free"]
    wait_until(lambda: free in pleat.entries("info", "c1"), "all is told as free")
    told = pleat.entries("info", "c1")
    for line in (("cluster", f"a: Slurm {batch['version']}"),
                 ("partition", "main (default, asked by this site): up, 8 processors on 2 nodes (a[1-2])"),
                 ("partition", "short: up, 8 processors on 2 nodes (a[1-2]), at most 10 min, if not said otherwise 5 min, "
                               "a job at most on 1 node"),
                 ("features", "fast (1 node)"), ("submitting", "Slurm would take a job of one processor of yours")):
        assert list(line) in told, (line, told)
    wrong = pleat.run("info", "c7", check=False)
    assert wrong.returncode == 1 and "no site 'c7'" in wrong.stderr, wrong


def test_the_doctor_asks_the_cluster(pleat):
    def told(*more):
        checks = json.loads(pleat.run("doctor", "batch", *more, "--json", check=False).stdout)["checks"]
        return {check["subject"]: check for check in checks}

    seen = wait_until(lambda: (lambda told: told if told["c1 submitting"]["state"] != "not checked" else None)(told()), "asked")
    assert {subject: check["state"] for subject, check in seen.items()} == {
        f"c1 {what}": "ok" for what in ("adapter", "controller", "partition", "submitting", "agents")}, seen
    assert "cluster a" in seen["c1 controller"]["seen"] and "main is up" in seen["c1 partition"]["seen"]
    pleat.cluster.command("scontrol", "update", "partitionname=main", "allowgroups=root")
    try:
        pleat.kill_daemon()
        pleat.run("info")
        refused = wait_until(lambda: (lambda told: told if told.get("c1 submitting", {}).get("state") == "failed" else None)(told()),
                             f"you may not: {pleat.log()}")
        assert "would not take" in refused["c1 submitting"]["seen"] and refused["c1 agents"]["state"] == "not checked"
        assert refused["c1 partition"]["seen"] == "Slurm shows you no 'main'", refused
        assert pleat.cluster.jobs() == {}
        pleat.cluster.freeze_controller()
        job = pleat.submit("--", "true")
        wait_until(lambda: told()["c1 controller"]["state"] == "failed", "it does not answer")
    finally:
        pleat.cluster.thaw_controller()
        pleat.cluster.command("scontrol", "update", "partitionname=main", "allowgroups=ALL")
    pleat.run("cancel", job, check=False)  # it has failed by now, if it was refused
    pleat.cluster.until_empty()
