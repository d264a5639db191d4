"""Evolving jobs over several hosts of a cluster: what they add comes with allocations of its own, wherever Slurm gives them."""
import os

import pytest

from clusters import wait_until
from clusters.pleat import APPS, ENDED, Pleat, go_file
from clusters.slurm import DEAD_SOON as SETTINGS  # noqa: F401

LIVE = os.path.join(os.path.dirname(APPS), "tests", "process-live")
APPS_HERE = os.path.join(os.environ["PLEAT_BUILD"], "apps")
KEPT = "buffer = periodic\nbuffer_level = 1\nbuffer_review_s = 0.5\nbuffer_pending = 1\n"


@pytest.fixture(name="pleat", scope="module")
def fixture_pleat(three):
    pleat = Pleat(three, f'kind = slurm conf = "{three.conf}" partition = main', ["srun"], more=KEPT)
    yield pleat
    pleat.finish()


def hosts(pleat, name="process-live"):
    """{host: pids} of the processes."""
    found = {host.name: host.pids(name) for host in pleat.cluster.nodes}
    return {host: pids for host, pids in found.items() if pids}


def waits(pleat, go):
    """A job that fills a host, and for which a process is prepared on another one."""
    job = pleat.submit("--evolving", "-n", 2, "--max", 4, "--", LIVE, 2, 3, "wait", go_file(go))
    wait_until(lambda: sorted(map(len, hosts(pleat).values())) == [1, 2], f"it is on two hosts: {pleat.log()}")
    return job, hosts(pleat)


def done_after(pleat, job, go):
    pleat.cluster.world.path(go_file(go)).touch()
    ended = pleat.until(job, *ENDED)
    assert ended["state"] == "done", (ended, pleat.log(), pleat.output(job))
    assert pleat.output(job).startswith("6 results, "), pleat.output(job)
    wait_until(lambda: not hosts(pleat), "nothing is left")
    pleat.cluster.until_empty()


def test_over_two_hosts(pleat):
    """Messages between hosts go over the cluster's network, and each host has the secret in a file of its own."""
    job, there = waits(pleat, "go-two")
    names = set()
    for pids in there.values():
        for pid in pids:
            with open(f"/proc/{pid}/environ", "rb") as file:
                env = dict(entry.split(b"=", 1) for entry in file.read().split(b"\0") if b"=" in entry)
            names.add(env[b"PLEAT_PROCESS_HOST"])
    assert len(names) == 2 and all(name.startswith(b"10.77.0.") for name in names), names
    done_after(pleat, job, "go-two")


@pytest.mark.skipif(not os.path.exists(os.path.join(APPS_HERE, "joined")), reason="built without Open MPI")
def test_processes_on_three_hosts_become_ranks(pleat):
    """Each host has its own processes, network and shared memory; all daemons of Open MPI's find one another."""
    def joined(rounds):
        return pleat.submit("--evolving", "-n", 2, "--max", 5, "--", f"{APPS}/joined", "--ranks", 5, "--rounds", rounds)
    job = joined(2)
    assert pleat.until(job, *ENDED)["state"] == "done", (pleat.output(job), pleat.log())
    assert pleat.output(job) == "RESULT ok joins=8 leaves=4 lost=0\n"
    pleat.cluster.until_empty()
    job = joined(10000)
    wait_until(lambda: len(hosts(pleat, "joined")) == 3, f"it is on three hosts: {pleat.log()}")
    pleat.run("cancel", job)
    assert pleat.until(job, *ENDED)["state"] == "cancelled"
    wait_until(lambda: not any(hosts(pleat, name) for name in ("joined", "orted", "ompi-server")), "nothing is left")
    pleat.cluster.until_empty()


@pytest.mark.skipif(not os.path.exists(os.path.join(APPS_HERE, "mpich", "joined")), reason="built without MPICH")
def test_mpich_is_refused(pleat):
    job = pleat.submit("--evolving", "-n", 2, "--max", 4, "--", f"{APPS}/mpich/joined")
    assert pleat.until(job, *ENDED)["state"] == "failed"
    assert "with MPICH an added process cannot be joined" in pleat.output(job), pleat.output(job)
    pleat.cluster.until_empty()


def test_pleatd_is_killed(pleat):
    job, there = waits(pleat, "go-killed")
    pleat.kill_daemon()
    pleat.run("info")
    assert pleat.until(job, "running")["attempt"] == 0
    assert hosts(pleat) == there
    done_after(pleat, job, "go-killed")


def test_another_host_dies(pleat):
    """What was prepared there is lost; the job goes on, with a process on the third one."""
    job, there = waits(pleat, "go-host")
    [victim] = [host for host in pleat.cluster.nodes if len(there.get(host.name, [])) == 1]
    victim.crash()
    wait_until(lambda: len(hosts(pleat)) == 2 and victim.name not in hosts(pleat), "one is prepared on the third")
    victim.boot()
    pleat.cluster.start_node(victim)
    assert pleat.job(job)["attempt"] == 0
    done_after(pleat, job, "go-host")
