"""One run over several nodes: its MPI's launcher starts what it needs on the others through their agents."""

import os
import signal

import pytest

from conftest import BUILD, FINAL, LOOP, is_alive, words_of, wait_until
from test_nodes import agent_of, divided, environment, nodes_of, two_cpus

APPS = {"openmpi": os.path.join(BUILD, "apps"), "mpich": os.path.join(BUILD, "apps", "mpich")}
DAEMON = {"openmpi": "orted", "mpich": "hydra_pmi_proxy"}
both_mpis = pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
pytestmark = two_cpus


def ring(mpi, iterations=20, hold=None):
    words = ["--", os.path.join(APPS[mpi], "ring"), "--iterations", iterations]
    return words + (["--hold", hold] if hold else [])


def node_of(pid):
    return int(environment(pid)[b"PLEAT_NODE"].split(b":")[1])


def by_node(pleat, number, name):
    """The job's processes of a program, by node."""
    found = {0: [], 1: []}
    for pid in pleat.job_pids(number):
        words = words_of(pid)
        try:
            if words and os.path.basename(words[0]) == name:
                found[node_of(pid)].append(pid)
        except (OSError, KeyError):
            pass
    return found


def spread(pleat, mpi, go):
    """A job with two ranks on each node, which runs until the file `go` is there."""
    divided(pleat, "attempts = 9\n")
    job = pleat.submit("-n", 4, *ring(mpi, hold=go))
    pleat.wait_for(job, "running")
    wait_until(lambda: all(len(pids) == 2 for pids in by_node(pleat, job, "ring").values()),
               "two ranks on each node")
    return job


@both_mpis
def test_a_job_over_two_nodes(pleat, mpi):
    go = pleat.path("go")
    job = spread(pleat, mpi, go)
    shown = pleat.job(job)
    assert nodes_of(shown) == {0, 1} and shown["processors"] == 4
    ranks = by_node(pleat, job, "ring")
    agents = {node: {environment(pid)[b"PLEAT_AGENT_PID"] for pid in pids} for node, pids in ranks.items()}
    assert len(agents[0]) == len(agents[1]) == 1 and agents[0] != agents[1]
    for node, pids in ranks.items():
        for pid in pids:
            env = environment(pid)
            assert env[b"PLEAT_NODE_NAME"] == f"pleat-node-{node}".encode()
            assert env[b"PLEAT_SCRATCH"].endswith(f"+local+{node}+".encode())
            assert b"PLEAT_REMOTE" not in env and b"PLEAT_PART_SCRATCH" not in env
            assert env.get(b"TMPDIR", b"").decode() == pleat.env.get("TMPDIR", "")
            assert len(os.sched_getaffinity(pid)) == 1
    assert os.sched_getaffinity(ranks[0][0]) != os.sched_getaffinity(ranks[1][0])
    with open(go, "w", encoding="utf-8"):
        pass
    assert pleat.wait_end(job)["state"] == "done"
    assert pleat.output(job).startswith("RESULT ok") and "ranks=4" in pleat.output(job)


def pids_of(pleat, job):
    return {pid for node in by_node(pleat, job, "ring").values() for pid in node}


def again(pleat, job, attempt, before):
    """The job has been started again, on both nodes, and nothing is left of its last start."""
    def there():
        shown = pleat.job(job)
        assert shown["state"] not in FINAL, pleat.pleat("show", job).stdout
        ranks = by_node(pleat, job, "ring")
        return (shown["state"] == "running" and shown["attempt"] == attempt and
                all(len(pids) == 2 for pids in ranks.values()) and not before & pids_of(pleat, job))
    wait_until(there, f"attempt {attempt} of job {job}")
    assert not [pid for pid in before if is_alive(pid)]


@both_mpis
def test_faults(pleat, mpi):
    """By no fault of its own it waits again; its processors are free only when nothing is left on any node."""
    go = pleat.path("go")
    job = spread(pleat, mpi, go)
    # what the launcher runs on the other node
    before = pids_of(pleat, job)
    os.kill(by_node(pleat, job, DAEMON[mpi])[1][0], signal.SIGKILL)
    again(pleat, job, 1, before)
    told = pleat.pleat("events", job, check=0).stdout
    assert "what it runs on node 1 was ended by signal 9" in told, told
    # the other node's agent, then that which leads the run
    for attempt, node in ((2, 1), (3, 0)):
        before = pids_of(pleat, job)
        os.kill(int(environment(by_node(pleat, job, "ring")[node][0])[b"PLEAT_AGENT_PID"].split(b":")[0]),
                signal.SIGKILL)
        again(pleat, job, attempt, before)
    # pleatd is no part of it
    before = pids_of(pleat, job)
    pleat.kill_daemon()
    wait_until(lambda: all(n["agent"] for n in pleat.call("sites")["sites"][0]["nodes"]), "both agents")
    assert pids_of(pleat, job) == before and pleat.job(job)["attempt"] == 3
    # and the job still ends as it should
    with open(go, "w", encoding="utf-8"):
        pass
    ended = pleat.wait_end(job)
    assert ended["state"] == "done" and pleat.output(job).count("RESULT ok") == 1, ended
    pleat.wait_free(4)


@both_mpis
def test_it_is_ended(pleat, mpi):
    go = pleat.path("go")
    job = spread(pleat, mpi, go)
    before = pids_of(pleat, job)
    pleat.pleat("cancel", job, check=0)
    assert pleat.wait_end(job)["state"] == "cancelled"
    assert not [pid for pid in before if is_alive(pid)]
    # the launcher's way to the other node: the launcher says what becomes of the job
    job = pleat.submit("-n", 4, *ring(mpi, hold=go))
    wait_until(lambda: all(len(pids) == 2 for pids in by_node(pleat, job, "ring").values()),
               "two ranks on each node")
    before = pids_of(pleat, job)
    remote = [pid for pid in pleat.job_pids(job) if os.path.basename((words_of(pid) or [""])[0]) == "pleat-remote"]
    assert len(remote) == 1, "the launcher's own node needs none"
    os.kill(remote[0], signal.SIGKILL)
    ended = pleat.wait_end(job)
    assert ended["state"] == "failed" and (ended["exit_code"] or ended["signal"]), ended
    assert not [pid for pid in before if is_alive(pid)]
    pleat.wait_free(4)


@both_mpis
@pytest.mark.parametrize("bad", ["3", "2 3", "1"], ids=["elsewhere", "all-elsewhere", "here"])
def test_ranks_that_fail_before_they_use_mpi(pleat, mpi, bad):
    """The others would wait for them in MPI_Init: the run is ended, with their exit code."""
    divided(pleat)
    rank = {"openmpi": "OMPI_COMM_WORLD_RANK", "mpich": "PMI_RANK"}[mpi]
    code = f'for bad in {bad}; do test "${rank}" = "$bad" && exit 7; done; exec "$@"'
    job = pleat.submit("-n", 4, "--mpi", mpi, "--runner", "mpi", "--", "sh", "-c", code, "fails", *ring(mpi)[1:])
    ended = pleat.wait_end(job)
    assert (ended["state"], ended["reason"], ended["exit_code"], ended["attempt"]) == ("failed", "exited", 7, 0), ended
    if mpi == "mpich":
        with open(pleat.path(f"jobs/{job}/stderr"), encoding="utf-8") as said:
            assert "ended with exit code 7, before MPI_Init: all others were ended, too" in said.read()
    pleat.wait_free(4)


RANK = {"openmpi": "OMPI_COMM_WORLD_RANK", "mpich": "PMI_RANK"}


@both_mpis
@pytest.mark.parametrize("gone", ["3", "2 3", "1"], ids=["elsewhere", "all-elsewhere", "here"])
def test_ranks_that_exit_with_0_before_they_use_mpi(pleat, mpi, gone):
    """Likewise: it does not wait for ever, and does not end as if all were well."""
    divided(pleat)
    code = f'for gone in {gone}; do test "${RANK[mpi]}" = "$gone" && exit 0; done; exec "$@"'
    job = pleat.submit("-n", 4, "--mpi", mpi, "--runner", "mpi", "--", "sh", "-c", code, "exits", *ring(mpi)[1:])
    ended = pleat.wait_end(job)
    assert (ended["state"], ended["reason"], ended["exit_code"], ended["attempt"]) == ("failed", "exited", 1, 0), ended
    with open(pleat.path(f"jobs/{job}/stderr"), encoding="utf-8") as said:
        assert "ended with exit code 0, before MPI_Init: all others were ended, too" in said.read()
    pleat.wait_free(4)


@both_mpis
@pytest.mark.parametrize("way", ["returns", "script"])
def test_nobody_uses_mpi(pleat, mpi, way):
    """Each rank ends with 0 when it has done its work, or what it has started has used MPI: all is well."""
    divided(pleat)
    words = ring(mpi)[1:]
    code = {"returns": 'echo "done by $1"', "script": '"$@"; exit 0'}[way]
    job = pleat.submit("-n", 4, "--mpi", mpi, "--runner", "mpi", "--", "sh", "-c", code, "well", *words)
    ended = pleat.wait_end(job)
    assert (ended["state"], ended["exit_code"], ended["attempt"]) == ("done", 0, 0), (ended, pleat.output(job))
    said = pleat.output(job)
    assert said.count("done by") == 4 if way == "returns" else said.startswith("RESULT ok"), said
    with open(pleat.path(f"jobs/{job}/stderr"), encoding="utf-8") as told:
        assert "MPI_Init" not in told.read()
    pleat.wait_free(4)


def test_what_a_user_sees_of_it(pleat):
    """`run` shows its output and ends all of it at Ctrl-C; show, events and history say where it was and what it used."""
    divided(pleat)
    go = pleat.path("go")
    pleat.call("info")  # two that find no pleatd may each start one, and one of these says so
    running = pleat.popen("run", "-n", 4, *ring("openmpi", hold=go))
    job = wait_until(lambda: [j["job"] for j in pleat.call("jobs")["jobs"]], "the job")[0]
    wait_until(lambda: all(len(pids) == 2 for pids in by_node(pleat, job, "ring").values()),
               "two ranks on each node")
    shown = pleat.pleat("show", job, check=0).stdout
    assert "4 on local, 2 on node 0, 2 on node 1" in shown, shown
    assert "node 0: 0-1, node 1: 0-1" in pleat.pleat("events", job, check=0).stdout
    before = pids_of(pleat, job)
    running.send_signal(signal.SIGINT)
    assert running.wait(60) == 130
    assert pleat.wait_end(job)["state"] == "cancelled" and not [pid for pid in before if is_alive(pid)]
    done = pleat.pleat("run", "-n", 4, *ring("openmpi", iterations=5), check=0)
    assert done.stdout.startswith("RESULT ok") and "ranks=4" in done.stdout
    # those that are on one node
    refused = pleat.pleat("submit", "--one-node", "-n", 3, *ring("openmpi"))
    assert refused.returncode == 1 and "must be on one node: the largest has 2" in refused.stderr, refused
    refused = pleat.pleat("submit", "--min", 3, "--max", 4, "--on-resize", "merge", "--", LOOP)
    assert refused.returncode == 1 and "must be on one node: the largest has 2" in refused.stderr, refused


def by_rank(last, others):
    """Words of a job whose ranks are shells; the last one is on the other node than the first."""
    return ["--", "sh", "-c", f'if [ "$OMPI_COMM_WORLD_RANK" = 3 ]; then {last}; else {others}; fi']


def test_limits_and_figures_are_of_all_nodes(pleat):
    divided(pleat)
    four = ["-n", 4, "--mpi", "openmpi"]
    # what it used: the last rank says how long it computed
    number = pleat.submit(*four, *by_rank("i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; times", "exit 0"))
    ended = pleat.wait_end(number)
    assert ended["state"] == "done", ended
    minutes, seconds = pleat.output(number).split()[0].rstrip("s").split("m")
    assert float(seconds) > 0.05 and minutes == "0"
    used = [entry for entry in pleat.call("history")["jobs"] if entry["job"] == number][0]
    assert used["cpu_s"] >= float(seconds), used
    # the signal before its time limit
    number = pleat.submit(*four, "--time-limit", "9000s", "--signal", "USR1@900s", "--", "sh", "-c",
                          'trap "echo got it; exit 0" USR1; echo ready; while :; do sleep 0.05; done')
    pleat.wait_for(number, "running")
    wait_until(lambda: pleat.output(number).count("ready") == 4, "all four are ready")
    pleat.pleat("set", number, "--time-limit", "900s", check=0)
    assert pleat.wait_end(number)["state"] == "done" and pleat.output(number).count("got it") == 4
    # its limit of memory
    number = pleat.submit(*four, "--memory", "100M",
                          *by_rank("exec python3 -c 'import time; a = bytearray(200 << 20); time.sleep(1000)'",
                                   "exec sleep 1000"))
    ended = pleat.wait_end(number)
    assert (ended["state"], ended["reason"], ended["attempt"]) == ("failed", "memory limit reached", 0), ended
    assert "it wanted more memory on node 1 than its limit" in pleat.pleat("events", number, check=0).stdout
