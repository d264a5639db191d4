"""The clusters that other tests use: two at once, real jobs through each, what dies there, and nothing left of them."""

import os
import subprocess
import sys

from clusters import World, wait_until
from clusters.adapter import Adapter
from clusters.slurm import DEAD_SOON as SETTINGS  # noqa: F401
from clusters.world import USER, children_of
from conftest import skip_loudly


def test_each_runs_jobs_of_its_own(slurms):
    for slurm in slurms:
        said = slurm.command("srun", "-N2", "bash", "-c", "hostname; id -un", user=USER).split()
        assert sorted(said) == [f"{slurm.name}1", f"{slurm.name}2", USER, USER]
    a, b = slurms
    job = a.command("sbatch", "--parsable", "-n1", "-o", "/dev/null", user=USER,
                    text_in="#!/bin/sh\nexec sleep 100000\n").strip()
    wait_until(lambda: a.jobs() == {job: "RUNNING"}, "the job runs")
    assert b.jobs() == {}
    # its processes are in that host, and gone with the job
    [sleep] = wait_until(lambda: a.nodes[0].pids("sleep")[1:], "the job's process")  # the first one is the host's own
    a.command("scancel", job, user=USER)
    a.until_empty()
    wait_until(lambda: sleep not in a.nodes[0].pids(), "the job's process has ended")


def test_the_hosts_share_files_but_not_their_own(slurms):
    a = slurms[0]
    one, other = a.nodes
    one.run("bash", "-c", "hostname >/media/home/tester/shared; hostname >/tmp/own; hostname >/dev/shm/own")
    assert other.run("cat", "/media/home/tester/shared").stdout == "a1\n"
    assert other.run("sh", "-c", "ls /tmp /dev/shm | grep own", check=False).stdout == ""
    assert not os.path.exists("/media/home/tester"), "it is seen outside"


def test_a_controller_freezes_dies_and_is_back(slurms):
    b = slurms[1]
    job = b.command("sbatch", "--parsable", "-n1", "-o", "/dev/null", user=USER,
                    text_in="#!/bin/sh\nexec sleep 100000\n").strip()
    wait_until(lambda: b.jobs() == {job: "RUNNING"}, "the job runs")
    b.freeze_controller()
    asked = b.command("squeue", check=False)
    assert asked.returncode != 0 and "timed out" in asked.stderr.lower(), asked
    b.thaw_controller()
    assert b.jobs() == {job: "RUNNING"}
    b.stop_controller()
    assert not b.listens()
    b.start_controller()
    assert b.jobs() == {job: "RUNNING"}
    b.kill_controller()
    b.start_controller()
    b.command("scancel", job, user=USER)
    b.until_empty()


def test_a_host_crashes_and_boots(slurms):
    """The allocation that was there is told as ended; the other one stays."""
    a, b = slurms
    victim = a.nodes[1]
    adapter = Adapter(a)
    try:
        there, elsewhere = (adapter.allocate(count=1, near=node.name) for node in (victim, a.nodes[0]))
        assert there["nodes"] == [{"name": "a2", "cpus": 1}] and elsewhere["nodes"][0]["name"] == "a1"
        victim.crash()
        ended = adapter.notice("ended", job=there["job"])
        assert ended["why"] in ("NODE_FAIL", "COMPLETING"), ended
        wait_until(lambda: ("a2", "down") in [(node["name"], node["state"]) for node in adapter.ask("nodes")["nodes"]],
                   "the node is shown as down")
        assert list(a.jobs()) == [str(elsewhere["job"])] and set(b.states().values()) == {"idle"}
        adapter.release(elsewhere)
        a.until_empty()
        victim.boot()
        a.start_node(victim)
        a.until_idle()
    finally:
        adapter.kill()


# ---- nothing is left ----

MAKER = """
import sys, time
sys.path[:0] = sys.argv[1:]
from clusters import Slurm, World
with World(Slurm.hosts("a", 1)) as world:
    a = Slurm(world, "a", nodes=1)
    a.start()
    a.until_idle()
    a.command("sbatch", "-o", "/dev/null", user="tester", text_in="#!/bin/sh\\nexec sleep 100000\\n")
    print("ready", flush=True)
    sys.stdin.read()
"""


def below(pid):
    found = [pid]
    for child in children_of(pid):
        found += below(child)
    return found


def outside():
    """What of this machine a world could touch."""
    links = subprocess.run(["ip", "-o", "link"], capture_output=True, text=True, check=True).stdout
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        return sorted(line.split(":")[1] for line in links.splitlines()), file.read(), os.listdir("/media")


def test_nothing_is_left_when_its_maker_is_killed():
    skip_loudly()
    before = outside()
    for end in (lambda maker: maker.kill(), lambda maker: maker.stdin.close()):
        maker = subprocess.Popen([sys.executable, "-c", MAKER, *sys.path], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, text=True)
        assert maker.stdout.readline() == "ready\n"
        assert outside() == before
        family = below(maker.pid)
        starts = {pid: start_of(pid) for pid in family}
        assert any(name == "slurmctld" for name in map(name_of, family)), [name_of(pid) for pid in family]
        end(maker)
        maker.wait()
        wait_until(lambda: not [pid for pid in family if start_of(pid) == starts[pid] is not None],
                   "all that it has started is gone")
        assert outside() == before


def stat_of(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return file.read().rsplit(")", 1)[1].split()


def start_of(pid):
    """When it started; None: it is gone."""
    try:
        stat = stat_of(pid)
    except OSError:
        return None
    return None if stat[0] in "ZX" else stat[19]


def name_of(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return None


def test_a_world_that_cannot_start_says_why():
    skip_loudly()
    try:
        with World(["a-name-that-is-too-long-for-an-interface"]):
            raise AssertionError("there is such a host")
    except AssertionError as error:
        assert "no world" in str(error) and "no cable to a-name" in str(error)
