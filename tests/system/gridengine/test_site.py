"""A site of the kind gridengine: jobs of Pleat in allocations of a real cluster, which come, wait, and are taken away."""

import json
import os
import signal

import pytest

from clusters import wait_until
from clusters.pleat import APPS, ENDED, Counted, Pleat, go_file, until_file
from clusters.screen import its_user_is_gone, shell


@pytest.fixture(name="pleat", scope="module")
def fixture_pleat(grid):
    pleat = Pleat(grid, f'kind = gridengine root = "{grid.dir}" queue = all.q', ["qrsh"])
    yield pleat
    pleat.finish()
    for host in grid.nodes:  # of the jobs themselves
        wait_until(lambda host=host: not host.pids("sge_shepherd"), f"no job on {host.name}")


def hold_all(grid):
    """All of the cluster is somebody else's."""
    jobs = [grid.submit("-pe", "smp", grid.cpus) for _ in grid.nodes]
    wait_until(lambda: [grid.jobs().get(job) for job in jobs] == ["r"] * len(jobs), "somebody else has all of it")
    return jobs


def test_a_command_runs_on_a_node(pleat):
    assert pleat.run("run", "hostname").stdout in ("g1\n", "g2\n"), pleat.log()
    pleat.cluster.until_empty()
    [site] = pleat.ask("sites")["sites"]
    assert (site["kind"], site["processors"], site["used"], site["nodes"]) == ("gridengine", 8, 0, []), site


def test_an_mpi_job(pleat):
    job = pleat.submit("-n", 3, "--", f"{APPS}/ring", "--iterations", 20)
    assert pleat.until(job, *ENDED)["state"] == "done", (pleat.log(), pleat.output(job))
    assert pleat.output(job).startswith("RESULT ok") and "ranks=3" in pleat.output(job)
    pleat.cluster.until_empty()


def test_an_mpi_job_on_several_nodes(pleat):
    job = pleat.submit("-n", 6, "--", f"{APPS}/ring", "--iterations", 20)
    assert pleat.until(job, *ENDED)["state"] == "done", (pleat.log(), pleat.output(job))
    assert pleat.output(job).startswith("RESULT ok") and "ranks=6" in pleat.output(job)
    pleat.cluster.until_empty()


def test_a_terminal(pleat):
    """On a host of the cluster: it has the size of the user's, keys mean there what they mean, and it outlasts pleatd, whose
    successor may find there the earlier job's allocation, which is just ending."""
    screen = shell(pleat)
    screen.type("hostname; stty size\n")
    lines = screen.until("ready> ").split("\r\n")
    assert lines[1] in ("g1", "g2") and lines[2] == "33 91", lines
    screen.type("exec 2>&1; echo waits$((1 + 1)); tail -f /dev/null\n")
    screen.until("waits2\r\n")
    wait_until(lambda: any(node.pids("tail") for node in pleat.cluster.nodes), "it waits")
    screen.type("\x03")
    screen.until("ready> ")
    pleat.kill_daemon()
    screen.type("echo code $?; exit 3\n")
    screen.until("code 130\r\n")
    assert screen.end() == 3
    pleat.cluster.until_empty()


def test_a_terminal_whose_user_is_gone(pleat):
    its_user_is_gone(pleat)


def computes(pleat, job, size, allocations):
    """Waits until a job of the program loop has `size` ranks, in that many allocations."""
    def there():
        shown = pleat.job(job)
        assert shown["state"] not in ENDED, (shown, pleat.output(job), pleat.log())
        ranks = sum(len(host.pids("loop")) for host in pleat.cluster.nodes)
        return (shown["state"] == "running" and shown["processors"] == size == ranks and
                (shown["progress"] or {}).get("iteration") and len(pleat.cluster.jobs()) == allocations)
    wait_until(there, f"{size} ranks in {allocations} allocations: {pleat.log()}")


def test_a_malleable_job_on_several_nodes(pleat):
    """It grows by an allocation of its own, and gives that back."""
    go = go_file("go-malleable")
    job = pleat.submit("--min", 2, "--max", 4, "--initial", 4, "--", f"{APPS}/loop", "--until", go, "--pause", 10)
    computes(pleat, job, 4, 1)
    pleat.run("limits", job, "--max", 6)
    computes(pleat, job, 6, 2)
    assert [bool(host.pids("loop")) for host in pleat.cluster.nodes] == [True, True]
    pleat.run("limits", job, "--max", 4)
    computes(pleat, job, 4, 1)
    pleat.cluster.world.path(go).touch()
    assert pleat.until(job, *ENDED)["state"] == "done", (pleat.log(), pleat.output(job))
    assert pleat.output(job).count("RESULT ok") == 1
    pleat.cluster.until_empty()


def test_a_folded_job_over_hosts_grows_there(pleat):
    """By further allocations on each of its hosts, where its processes stay; these go back first."""
    grid = pleat.cluster
    grid.until_free()  # a slot that an earlier job still has would keep the first allocation from one of the hosts
    go = go_file("go-folded-hosts")
    others = [grid.submit("-pe", "smp", grid.cpus - 1) for _ in grid.nodes]
    wait_until(lambda: [grid.jobs().get(job) for job in others] == ["r"] * len(others), "one slot of each host is left")
    job = pleat.submit("--processes", 4, "--min", 2, "--max", 2, "--", f"{APPS}/ring", "--iterations", 60, "--hold", go)

    def on(size, parts):
        def there():
            shown = pleat.job(job)
            folded = shown["folded"] or {}
            its = [node["processors"] for node in folded.get("nodes", [])]
            return (folded.get("attached"), shown["processors"], sorted(its)) == (4, size, parts)
        wait_until(there, f"4 processes on {size} processors: {pleat.events(job)} {pleat.log()}")
    on(2, [1, 1])
    there = {host.name: host.pids("ring") for host in grid.nodes}
    assert [len(pids) for pids in there.values()] == [2, 2]
    grid.command("qdel", ",".join(others))
    wait_until(lambda: not set(others) & set(grid.jobs()), "they are gone")
    pleat.run("limits", job, "--max", 4)
    on(4, [2, 2])
    assert len(grid.jobs()) == 3
    pleat.kill_daemon()
    on(4, [2, 2])
    pleat.run("limits", job, "--max", 2)
    on(2, [1, 1])
    wait_until(lambda: len(grid.jobs()) == 1, "the further ones are back")
    assert {host.name: host.pids("ring") for host in grid.nodes} == there
    grid.world.path(go).touch()
    assert pleat.until(job, *ENDED)["state"] == "done" and "RESULT ok ring ranks=4 " in pleat.output(job), pleat.output(job)
    grid.until_empty()


def test_it_says_what_the_cluster_offers(pleat):
    def told_words():
        return " ".join(pleat.run("info", "c1").stdout.split())
    free = "site c1: gridengine, 8 processors on 2 nodes: 0 used, 0 used by others, 8 free"
    wait_until(lambda: free in told_words(), "what the tests before used is free again")
    told = told_words()
    assert ": Grid Engine" in told and "all.q (asked by this site): up, 8 processors" in told, told
    assert "submitting Grid Engine would take a job of one processor of yours" in told, told
    checks = json.loads(pleat.run("doctor", "batch", "--json", check=False).stdout)["checks"]
    seen = {check["subject"]: check["state"] for check in checks}
    assert {seen[f"c1 {what}"] for what in ("adapter", "controller", "partition", "submitting")} == {"ok"}, checks


def test_waits_in_grid_engines_queue(pleat):
    others = hold_all(pleat.cluster)
    job = pleat.submit("--", "hostname")
    wait_until(lambda: "others have the processors" in pleat.run("why", job).stdout, pleat.log())
    pleat.cluster.command("qdel", others[0])
    assert pleat.until(job, *ENDED)["state"] == "done"
    assert pleat.output(job) in ("g1\n", "g2\n")
    pleat.cluster.command("qdel", others[1])
    pleat.cluster.until_empty()
    # what is not wanted any more does not stay in the queue
    others = hold_all(pleat.cluster)
    job = pleat.submit("--", "hostname")
    wait_until(lambda: len(pleat.cluster.jobs()) == 3, "it waits there")
    pleat.run("cancel", job)
    wait_until(lambda: sorted(pleat.cluster.jobs()) == sorted(others), "only the others are left")
    pleat.cluster.command("qdel", ",".join(others))
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


def test_an_allocation_deleted_from_outside(pleat):
    """The job waits again, with a reason, and gets another one."""
    go = go_file("after-qdel")
    job = pleat.submit(*until_file(go))
    pleat.until(job, "running")
    [allocation] = pleat.cluster.jobs()
    pleat.cluster.command("qdel", allocation)
    wait_until(lambda: [number for number in pleat.cluster.jobs() if number != allocation], "another allocation")
    assert "was ended by Grid Engine: " in pleat.log() or "is given up: its agent has ended" in pleat.log()
    pleat.until(job, "running")
    pleat.cluster.world.path(go).touch()
    assert pleat.until(job, *ENDED)["state"] == "done"
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


def test_the_agents_key_is_nowhere_to_be_read(pleat):
    """Not in a command line, not in what Grid Engine keeps of the job, not in a file for others."""
    go = go_file("after-key")
    job = pleat.submit(*until_file(go))
    pleat.until(job, "running")
    grid = pleat.cluster
    [allocation] = grid.jobs()
    keys = [path.read_bytes().split() for path in pleat.path("").glob("agent-*.key")]
    secrets = {word for words in keys for word in words if len(word) >= 16}
    shown = grid.command("qstat", "-j", allocation).encode()
    for host in (grid.head, *grid.nodes):
        for pid in host.pids():
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    shown += file.read()
            except OSError:
                pass
    assert secrets, "there is a key"
    for secret in secrets:
        assert secret not in shown
        found = grid.world.run("grep", "-rlsF", secret.decode(), grid.dir, check=False).stdout
        assert found == "", found
    grid.world.path(go).touch()
    assert pleat.until(job, *ENDED)["state"] == "done"
    grid.until_empty()


def test_a_node_is_drained(pleat):
    pleat.run("site", "drain", "--node", "g1", "c1")
    assert pleat.run("run", "hostname").stdout == "g2\n"
    pleat.run("site", "resume", "--node", "g1", "c1")
    pleat.run("site", "drain", "--node", "g2", "c1")
    assert pleat.run("run", "hostname").stdout == "g1\n"
    pleat.run("site", "resume", "--node", "g2", "c1")
    pleat.cluster.until_empty()


def test_an_execution_daemon_is_started_again(pleat):
    """What runs below it goes on."""
    grid = pleat.cluster
    job = Counted(pleat, "execd")
    host = grid.world[job.begun()]
    [pid] = host.pids("sge_execd")
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not host.pids("sge_execd"), "it is gone")
    grid.start_node(host)
    wait_until(lambda: host.pids("sge_execd"), "another one is there")
    job.is_done_once()
    grid.until_empty()


def test_beside_slurm_clusters(pleat, slurms):
    """All three at once, by one pleatd."""
    blocks = "".join(f'site "{slurm.name}" {{ kind = slurm conf = "{slurm.conf}" agent_s = 30 }}\n' for slurm in slurms)
    config = pleat.path("pleat.conf")
    before = config.read_text()
    config.write_text(before + blocks)
    pleat.run("stop", "--force")
    try:
        jobs = {pleat.submit("--site", site, "--", "hostname"): hosts
                for site, hosts in (("c1", ("g1\n", "g2\n")), ("a", ("a1\n",)), ("b", ("b1\n",)))}
        for job, hosts in jobs.items():
            assert pleat.until(job, *ENDED)["state"] == "done", pleat.log()
            assert pleat.output(job) in hosts
        for cluster in (pleat.cluster, *slurms):
            cluster.until_empty()
    finally:
        pleat.run("stop", "--force")
        config.write_text(before)


def test_a_folded_job(pleat):
    """On one host, within its allocation: where the cluster counts more slots than there are CPUs, several are one CPU."""
    go = go_file("go-folded")
    job = pleat.submit("--processes", 8, "--one-node", "--", f"{APPS}/ring", "--iterations", 60, "--hold", go)

    def on(size):
        folded = pleat.job(job)["folded"] or {}
        there = (folded.get("attached"), folded.get("processors"), pleat.job(job)["processors"]) == (8, size, size)
        return folded if there else None
    folded = wait_until(lambda: on(4), f"8 processes on 4 processors: {pleat.log()}")
    assert not folded["chosen"] or len(os.sched_getaffinity(0)) > 4, folded
    assert len(pleat.cluster.jobs()) == 1
    for change, size in (("shrink", 3), ("grow", 4)):
        pleat.run(change, job, 1)
        wait_until(lambda size=size: on(size), f"8 processes on {size} processors: {pleat.log()}")
    refused = pleat.run("grow", job, 1, check=False)
    assert refused.returncode == 1 and "within its allocation there, which has 4" in refused.stderr, refused.stderr
    pleat.cluster.world.path(go).touch()
    ended = pleat.until(job, *ENDED)
    assert ended["state"] == "done" and "RESULT ok ring ranks=8 " in pleat.output(job), (ended, pleat.output(job))
    pleat.cluster.until_empty()
