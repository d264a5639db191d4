"""Jobs over several hosts of a cluster: their processes find one another, what they write comes back, and nothing is left."""

import os
import re
import signal

import pytest

from clusters import wait_until
from clusters.pleat import APPS, ENDED, HOME, Pleat, go_file
from clusters.screen import Screen, its_user_is_gone, shell
from clusters.slurm import DEAD_SOON as SETTINGS  # noqa: F401
from clusters.world import USER_ID

PATHS = {"openmpi": APPS, "mpich": f"{APPS}/mpich"}
DAEMON = {"openmpi": "orted", "mpich": "hydra_pmi_proxy"}
LAUNCHER = {"openmpi": "mpirun.openmpi", "mpich": "mpiexec.mpich"}
both_mpis = pytest.mark.parametrize("mpi", ["openmpi", "mpich"])


@pytest.fixture(name="pleat", scope="module")
def fixture_pleat(three):
    pleat = Pleat(three, f'kind = slurm conf = "{three.conf}" partition = main', ["srun"])
    yield pleat
    pleat.finish()


def ring(mpi, iterations=20, hold=None):
    words = ["--", f"{PATHS[mpi]}/ring", "--iterations", iterations]
    return words + (["--hold", hold] if hold else [])


def ranks(pleat, name="ring"):
    """{host: pids} of what runs of a program."""
    found = {host.name: host.pids(name) for host in pleat.cluster.nodes}
    return {host: pids for host, pids in found.items() if pids}


def until_ranks(pleat, size, name="ring"):
    wait_until(lambda: sum(map(len, ranks(pleat, name).values())) == size, f"{size} ranks")
    return ranks(pleat, name)


def text_of(pid, name):
    with open(f"/proc/{pid}/{name}", "rb") as file:
        return [word.decode(errors="replace") for word in file.read().split(b"\0")]


def environment(pid):
    return dict(entry.partition("=")[::2] for entry in text_of(pid, "environ") if "=" in entry)


def let_go(pleat, go):
    pleat.cluster.world.path(go).touch()


@both_mpis
@pytest.mark.parametrize("size", [4, 6])
def test_a_job_over_several_hosts(pleat, mpi, size):
    go = go_file(f"go-{mpi}-{size}")
    job = pleat.submit("-n", size, *ring(mpi, hold=go))
    there = until_ranks(pleat, size)
    assert [len(pids) for pids in there.values()] == [2] * (size // 2)
    assert len(pleat.cluster.jobs()) == 1
    lead = pleat.cluster.nodes[0]
    [launcher] = lead.pids(LAUNCHER[mpi][:15]) or lead.pids("mpirun") or lead.pids("mpiexec")
    words = " ".join(text_of(launcher, "cmdline"))
    # by the network of the cluster, and by nothing that is for one machine only
    if mpi == "openmpi":
        assert "oob_tcp_if_include 10.77.0.0/24" in words and "btl_tcp_if_include 10.77.0.0/24" in words, words
    else:
        assert "-iface eth0" in words, words
    names = set()
    for host, pids in there.items():
        for pid in pids:
            env = environment(pid)
            names.add(env["PLEAT_NODE_NAME"])
            assert env["PLEAT_NODE_NAME"].startswith(f"{host}-pleat-"), env
            assert "libpleat-loopback" not in env.get("LD_PRELOAD", ""), env
            assert mpi == "openmpi" or env["UCX_NET_DEVICES"] == "eth0", env
    assert len(names) == size // 2
    let_go(pleat, go)
    assert pleat.until(job, *ENDED)["state"] == "done", (pleat.log(), pleat.output(job))
    assert pleat.output(job).startswith("RESULT ok") and f"ranks={size}" in pleat.output(job)
    pleat.cluster.until_empty()


def test_programs_of_mpich_end(pleat):
    """All of them: without Pleat's help every second one of them stays in MPI_Finalize."""
    for _ in range(6):
        assert pleat.run("run", "-n", 6, *ring("mpich")).stdout.startswith("RESULT ok")


def test_as_few_hosts_as_can_be(pleat):
    """Two jobs that share a host: each has an agent of its own there, and they know nothing of one another."""
    go = go_file("go-shared")
    jobs = [pleat.submit("-n", 3, *ring(mpi, hold=go)) for mpi in ("openmpi", "mpich")]
    there = until_ranks(pleat, 6)
    assert [len(pids) for pids in there.values()] == [2, 2, 2]
    scratch = {environment(pid)["PLEAT_SCRATCH"] for pids in there.values() for pid in pids}
    assert len(scratch) == 4
    let_go(pleat, go)
    for job in jobs:
        assert pleat.until(job, *ENDED)["state"] == "done", (pleat.log(), pleat.output(job))
        assert "ranks=3" in pleat.output(job)
    assert pleat.run("run", "-n", 2, *ring("mpich")).stdout.startswith("RESULT ok")
    pleat.cluster.until_empty()


def shells(last, others):
    """Words of a job whose ranks are shells; the last one is on another host than the first."""
    return ["--mpi", "openmpi", "--", "sh", "-c", f'if [ "$OMPI_COMM_WORLD_RANK" = 3 ]; then {last}; else {others}; fi']


def test_what_it_writes_and_how_it_ends(pleat):
    # mpirun ends the others at once, whose lines may still be on their way then: the last one waits until they were written
    written = f"{HOME}/written"
    last = f'hostname; until [ "$(cat {written} 2>/dev/null | wc -l)" = 3 ]; do sleep 0.1; done; sleep 1; exit 7'
    done = pleat.run("run", "-n", 4, *shells(last, f"hostname; echo >> {written}; sleep 1000"), check=False)
    assert done.returncode == 7 and sorted(done.stdout.split()) == ["a1", "a1", "a2", "a2"], done
    # more than any pipe holds
    done = pleat.run("run", "-n", 4, *shells("seq 200000", "true"))
    assert done.stdout == "".join(f"{number}\n" for number in range(1, 200001))
    # the signal before its time limit reaches all of it (its allocation's time, 600 s, must not come first)
    job = pleat.submit("-n", 4, "--time-limit", "9000s", "--signal", "USR1@300s", "--mpi", "openmpi", "--", "sh", "-c",
                       'trap "echo got it; exit 0" USR1; echo ready; while :; do sleep 0.05; done')
    wait_until(lambda: pleat.path(f"jobs/{job}/stdout").exists() and pleat.output(job).count("ready") == 4, "all are ready")
    pleat.run("set", job, "--time-limit", "300s")
    assert pleat.until(job, *ENDED)["state"] == "done" and pleat.output(job).count("got it") == 4
    # its limit of memory holds on each host
    job = pleat.submit("-n", 4, "--memory", "100M",
                       *shells("exec python3 -c 'import time; a = bytearray(200 << 20); time.sleep(1000)'", "exec sleep 1000"))
    ended = pleat.until(job, *ENDED)
    assert (ended["state"], ended["reason"]) == ("failed", "memory limit reached"), ended
    pleat.cluster.until_empty()


@both_mpis
def test_it_is_ended(pleat, mpi):
    job = pleat.submit("-n", 6, *ring(mpi, hold=go_file("never")))
    until_ranks(pleat, 6)
    pleat.run("cancel", job)
    assert pleat.until(job, *ENDED)["state"] == "cancelled"
    assert not ranks(pleat) and not ranks(pleat, DAEMON[mpi])
    pleat.cluster.until_empty()


def holding(pleat, mpi, go):
    job = pleat.submit("-n", 4, *ring(mpi, hold=go))
    there = until_ranks(pleat, 4)
    return job, there, {pid for pids in there.values() for pid in pids}


def again(pleat, job, attempt, before):
    """It has been started again, and nothing is left of its last start. Its ranks by host."""
    def there():
        shown = pleat.job(job)
        assert shown["state"] not in ENDED, (shown, pleat.log())
        found = ranks(pleat)
        pids = {pid for own in found.values() for pid in own}
        return found if shown["attempt"] == attempt and len(pids) == 4 and not before & pids else None
    return wait_until(there, f"attempt {attempt} of job {job}: {pleat.log()}")


def done_after(pleat, job, go):
    let_go(pleat, go)
    assert pleat.until(job, *ENDED)["state"] == "done", (pleat.log(), pleat.output(job))
    assert pleat.output(job).count("RESULT ok") == 1
    pleat.cluster.until_empty()


def agent_of(pid):
    return int(environment(pid)["PLEAT_AGENT_PID"].split(":")[0])


def agent_on(pleat, host):
    [pid] = pleat.cluster.world[host].pids("pleat-agent")
    return pid


@both_mpis
def test_an_agent_is_killed(pleat, mpi):
    """Of another host than that which leads the job, then of that."""
    go = go_file(f"go-agents-{mpi}")
    job, there, before = holding(pleat, mpi, go)
    for attempt, last in ((1, True), (2, False)):
        os.kill(agent_on(pleat, sorted(there)[-1 if last else 0]), signal.SIGKILL)
        there = again(pleat, job, attempt, before)
        before = {pid for pids in there.values() for pid in pids}
    assert "its agent has ended" in pleat.log()
    done_after(pleat, job, go)


@both_mpis
def test_what_the_launcher_started_is_killed(pleat, mpi):
    go = go_file(f"go-parts-{mpi}")
    job, there, before = holding(pleat, mpi, go)
    [part] = pleat.cluster.world[sorted(there)[-1]].pids(DAEMON[mpi][:15])
    os.kill(part, signal.SIGKILL)
    again(pleat, job, 1, before)
    done_after(pleat, job, go)


@both_mpis
def test_the_way_to_another_host_is_killed(pleat, mpi):
    """The launcher says what becomes of the job."""
    job, there, _ = holding(pleat, mpi, go_file("never"))
    [remote] = pleat.cluster.world[sorted(there)[0]].pids("pleat-remote")
    os.kill(remote, signal.SIGKILL)
    ended = pleat.until(job, *ENDED)
    assert ended["state"] == "failed" and (ended["exit_code"] or ended["signal"]), ended
    assert not ranks(pleat)
    pleat.cluster.until_empty()


@both_mpis
def test_pleatd_and_the_adapter_are_killed(pleat, mpi):
    """They are no part of it."""
    go = go_file(f"go-pleatd-{mpi}")
    job, _, before = holding(pleat, mpi, go)
    held = pleat.cluster.jobs()
    [adapter] = pleat.head.pids("pleat-slurm")
    os.kill(adapter, signal.SIGKILL)
    wait_until(lambda: [pid for pid in pleat.head.pids("pleat-slurm") if pid != adapter], "another adapter")
    pleat.kill_daemon()
    wait_until(lambda: not pleat.head.pids("pleat-slurm"), "its adapter is gone, too")
    pleat.run("info")
    assert pleat.until(job, "running")["attempt"] == 0
    assert pleat.cluster.jobs() == held
    assert {pid for pids in ranks(pleat).values() for pid in pids} == before
    done_after(pleat, job, go)


@both_mpis
def test_the_allocation_is_taken_away(pleat, mpi):
    go = go_file(f"go-scancel-{mpi}")
    job, _, before = holding(pleat, mpi, go)
    [allocation] = pleat.cluster.jobs()
    pleat.cluster.command("scancel", allocation)
    again(pleat, job, 1, before)
    done_after(pleat, job, go)


@both_mpis
def test_a_host_dies(pleat, mpi):
    """The job goes on elsewhere: three hosts are there, and it needs two."""
    go = go_file(f"go-host-{mpi}")
    job, there, before = holding(pleat, mpi, go)
    victim = pleat.cluster.world[sorted(there)[-1]]
    victim.crash()
    left = again(pleat, job, 1, before)
    assert victim.name not in left
    victim.boot()
    pleat.cluster.start_node(victim)
    done_after(pleat, job, go)
    pleat.cluster.until_idle()


def test_a_malleable_job_goes_on_without_a_host_that_dies(pleat):
    """It keeps the allocation of its other host, and goes on there from its last checkpoint."""
    go = go_file("go-rest")
    job = pleat.submit("--min", 2, "--max", 4, "--initial", 2, "--checkpoint-every", "1s", "--checkpoint-dir", HOME,
                       "--", f"{PATHS['openmpi']}/loop", "--until", go, "--pause", 10)
    kept = until_ranks(pleat, 2, "loop")
    if pleat.job(job)["target"] == 2:
        pleat.run("grow", job, 2, check=False)
    there = until_ranks(pleat, 4, "loop")
    assert set(kept) < set(there), (kept, there)
    before = {pid for pids in there.values() for pid in pids}
    last = pleat.job(job)["checkpoint"]
    written = wait_until(lambda: (lambda now: now if now and now != last else None)(pleat.job(job)["checkpoint"]),
                         f"it has a checkpoint of this size: {pleat.log()}")
    [victim] = [pleat.cluster.world[name] for name in there if name not in kept]
    victim.crash()

    def goes_on():
        shown = pleat.job(job)
        assert shown["state"] not in ENDED, (shown, pleat.log())
        pids = {pid for own in ranks(pleat, "loop").values() for pid in own}
        return shown["attempt"] == 1 and shown["progress"] and pids and not before & pids
    wait_until(goes_on, f"it goes on: {pleat.events(job)} {pleat.log()}")
    assert set(kept) <= set(ranks(pleat, "loop")) and victim.name not in ranks(pleat, "loop")
    [at] = re.findall(r"it goes on from its checkpoint of iteration (\d+)", pleat.events(job))
    assert int(at) >= written["iteration"] > 0
    victim.boot()
    pleat.cluster.start_node(victim)
    done_after(pleat, job, go)
    pleat.cluster.until_idle()


@both_mpis
@pytest.mark.parametrize("which", [0, -1])
def test_a_host_without_the_shared_home(pleat, mpi, which):
    """One of three, which leads the job or does not: then no directory is on all of them. (All of them: test_apart.py)"""
    host = pleat.cluster.nodes[which]
    host.run("mount", "-t", "tmpfs", "-o", f"mode=700,uid={USER_ID},gid={USER_ID}", "none", pleat.dir)
    code = 'test "$PWD" = "$PLEAT_SCRATCH" && test "$(pwd)" = "$PWD" && hostname'
    job = pleat.submit("-n", 6, "--mpi", mpi, "--", "sh", "-c", code)
    assert pleat.until(job, *ENDED)["state"] == "done", (pleat.log(), pleat.run("events", job).stdout)
    assert f"host {host.name} of site c1 does not see the directory {pleat.dir}" in pleat.log()
    assert sorted(pleat.output(job).split()) == sorted(node.name for node in pleat.cluster.nodes for _ in range(2))
    pleat.cluster.until_empty()
    host.run("umount", pleat.dir)  # nothing there is in use


def test_a_terminal_on_another_host(pleat):
    """It has the size of the user's, keys mean what they mean there, and it outlasts pleatd."""
    screen = shell(pleat)
    screen.type("hostname; stty size; exec 2>&1\n")
    lines = screen.until("ready> ").split("\r\n")
    assert lines[1] in [node.name for node in pleat.cluster.nodes] and lines[1] != pleat.head.name and lines[2] == "33 91", lines
    screen.resize(20, 50)
    screen.type("until [ \"$(stty size)\" = '20 50' ]; do sleep 0.01; done; echo resized$((1 + 1)); tail -f /dev/null\n")
    screen.until("resized2\r\n")
    wait_until(lambda: any(node.pids("tail") for node in pleat.cluster.nodes), "it waits")
    screen.type("\x03")
    screen.until("ready> ")
    screen.type("echo code $?; cat\n")
    screen.until("code 130\r\n")
    screen.type("words\n")
    screen.until("words\r\nwords\r\n")  # the echo of the terminal, and cat
    screen.type("\x04")
    screen.until("ready> ")
    screen.type("stty raw -echo; echo go; head -c 3 | od -An -tx1; stty sane\n")
    screen.until("\ngo")
    screen.type("\x03\x1b\x1a")
    screen.until("03 1b 1a")
    screen.until("ready> ")
    pleat.kill_daemon()
    screen.type("echo still here$((1 + 1)); exit 3\n")
    screen.until("still here2\r\n")
    assert screen.end() == 3
    pleat.cluster.until_empty()


def test_a_terminal_whose_user_is_gone(pleat):
    its_user_is_gone(pleat)


@both_mpis
def test_a_terminal_of_rank_0(pleat, mpi):
    code = 'test "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 || exit 0; stty size; trap "exit 7" INT; read x; echo "got $x"; read x'
    screen = Screen(pleat, "-n", 2, "--mpi", mpi, "--runner", "mpi", "--", "sh", "-c", code)
    screen.until("33 91\r\n")
    wait_until(lambda: not screen.is_usual(), "keys go to the job")
    screen.type("words\n")
    screen.until("got words\r\n")
    screen.type("\x03")
    assert screen.end() == 7
    pleat.cluster.until_empty()
