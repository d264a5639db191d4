"""What a daemon keeps of where it was started, and what jobs get of where they were submitted."""

import os
import resource
import signal

import pytest

from conftest import PLEAT, PLEATD, is_alive, until_file, wait_until
from relaunching import MPIS, program

# A job that is bound, has low limits and is nice: ends the daemon, and starts another by asking for it.
INSIDE = r"""
ulimit -Sn 99; ulimit -Sv 8000000; umask 0; cd "$1"
export OMPI_COMM_WORLD_RANK=3 PMI_RANK=3 LD_PRELOAD="/nowhere/libpleat-fold-openmpi.so"
kill -9 "$2"
while [ -e "/proc/$2" ]; do sleep 0.02; done
{command}
echo $? >"$1/started"
exec sleep 1000
"""


def environment(pid):
    with open(f"/proc/{pid}/environ", "rb") as file:
        return dict(v.split(b"=", 1) for v in file.read().split(b"\0") if b"=" in v)


def groups(pid):
    with open(f"/proc/{pid}/cgroup", encoding="ascii") as file:
        return file.read()


def status(pid, name):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return next(line.split()[1] for line in file if line.startswith(name + ":"))


@pytest.mark.parametrize("command", ['nice -n 7 "$3" info >"$1/said" 2>&1', 'nice -n 7 "$4" >"$1/said" 2>&1 </dev/null\n'
                                     'while ! "$3" info; do sleep 0.1; done'], ids=["pleat", "pleatd"])
def test_a_daemon_started_in_a_job_is_not_the_jobs(pleat, command):
    other = pleat.submit("--min", 1, "--max", 1, *until_file(pleat.path("go")))
    pleat.wait_for(other, "running")
    first, agent = pleat.daemon_pid(), pleat.agent_pid()
    if os.geteuid() == 0:
        os.setpriority(os.PRIO_PROCESS, agent, 0)
    job = pleat.submit("--min", 1, "--max", 1, "--", "bash", "-c",
                       INSIDE.replace("{command}", command), "inside", pleat.dir, first, PLEAT, PLEATD)
    wait_until(lambda: os.path.exists(pleat.path("started")) and os.path.getsize(pleat.path("started")),
               "the job has started a daemon")
    with open(pleat.path("started"), encoding="ascii") as file:
        assert file.read() == "0\n"
    pleat.connection = None
    second = pleat.daemon_pid()
    assert second != first
    env = environment(second)
    assert env[b"PLEAT_DIR"] == pleat.dir.encode()
    ours = {b"PLEAT_DIR", b"PLEAT_TEST_PROGRESS_MS"}
    assert not [name for name in env if name.startswith((b"PLEAT_", b"OMPI_", b"PMI")) and name not in ours]
    assert b"fold" not in env.get(b"LD_PRELOAD", b"")
    assert os.sched_getaffinity(second) == os.sched_getaffinity(agent)
    assert groups(second) == groups(agent) and "pleat:" not in groups(second)
    assert os.getsid(second) != os.getsid(wait_until(lambda: pleat.job_pids(job), "the job")[0])
    assert os.readlink(f"/proc/{second}/cwd") == "/" and status(second, "Umask") == "0077"
    for limit in (resource.RLIMIT_NOFILE, resource.RLIMIT_AS):
        soft, hard = resource.prlimit(second, limit)
        assert soft == hard
    if os.geteuid() == 0:
        assert os.getpriority(os.PRIO_PROCESS, second) == 0
    # the job's end, and that of its agent with all that it started, is nothing to the daemon
    pleat.pleat("cancel", job, check=0)
    assert pleat.wait_end(job)["state"] == "cancelled"
    os.kill(agent, signal.SIGKILL)
    wait_until(lambda: pleat.agent_pid() != agent, "another agent")
    open(pleat.path("go"), "w", encoding="ascii").close()
    assert pleat.wait_end(other)["exit_code"] == 7
    assert pleat.daemon_pid() == second and is_alive(second)


def test_jobs_get_what_their_submission_had(pleat):
    """Not what the daemon has, nor what the one before them had."""
    if not pleat.pleat("info", check=0).stdout:
        pytest.fail("no daemon")
    show = "ulimit -Sn; ulimit -Hn; ulimit -Sv; ulimit -Sc; nice; umask; pwd; echo $WORD"
    jobs = []
    for limits, nice, umask, word in (("-Sn 99 -Sv 7000000 -Sc 0", 3, "0027", "one"), ("-Sn 111 -Hn 2222", 0, "0002", "two")):
        place = pleat.path(word)
        os.mkdir(place)
        words = " ".join(f"ulimit -S{w[2]} {v};" if w[1] == "S" else f"ulimit -H{w[2]} {v};"
                         for w, v in zip(limits.split()[::2], limits.split()[1::2]))
        done = pleat.popen("-c", f"cd {place}; {words} umask {umask}; WORD={word} nice -n {nice} {PLEAT} submit -- "
                           f"bash -c '{show}'", program="bash")
        said, complaint = done.communicate()
        assert done.returncode == 0, complaint
        jobs.append(int(said))
    for job in jobs:
        assert pleat.wait_end(job)["state"] == "done"
    one, two = (pleat.output(job).split() for job in jobs)
    assert one[0] == "99" and one[2:] == ["7000000", "0", "3", "0027", pleat.path("one"), "one"]
    assert two[:2] == ["111", "2222"] and two[4:] == ["0", "0002", pleat.path("two"), "two"]


# Rank 0 submits a program that starts when this one has ended, and one that shows what it got.
SUBMITTING = r"""
if test "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0; then
    export OMPI_MCA_btl_base_verbose=0 MINE=kept
    "$1" submit --dependency "afterany:$PLEAT_JOB" --min 2 --max 2 -- "$2" --iterations 3 >"$4.new" &&
        "$1" submit --min 1 --max 1 --env OMPI_WANTED=yes -- env >>"$4.new"
    mv "$4.new" "$4"
fi
exec "$3" --iterations 3
"""


@pytest.mark.parametrize("outer", MPIS)
def test_a_rank_that_submits_jobs(pleat, outer):
    """They are not of its program: neither its launcher's variables, nor its libraries, nor its scratch."""
    for number, inner in enumerate(("openmpi", "mpich")):
        if not os.path.exists(program("loop", inner)):
            continue
        told = pleat.path(f"told{number}")
        first = pleat.submit("--min", 3, "--max", 3, "--mpi", outer, "--", "sh", "-c", SUBMITTING, "rank", PLEAT,
                             program("loop", inner), program("loop", outer), told)
        assert pleat.wait_end(first)["state"] == "done", pleat.output(first, "stderr")
        assert pleat.output(first).count("RESULT ok") == 1
        with open(told, encoding="ascii") as file:
            job, show = map(int, file.read().split())
        ended = pleat.wait_end(job)
        assert ended["state"] == "done", (ended, pleat.output(job, "stderr"))
        assert pleat.output(job).count("RESULT ok") == 1 and pleat.output(job, "stderr") == ""
        assert "ranks=2" in pleat.output(job), pleat.output(job)
        assert pleat.wait_end(show)["state"] == "done"
        lines = pleat.output(show).splitlines()
        assert [line for line in lines if line.startswith(("OMPI_", "PMI", "HYDR", "HYDI", "MPIR", "MPI_LOCAL"))] == [
            "OMPI_WANTED=yes"]
        assert "MINE=kept" in lines and not any("libpleat-" in line for line in lines)


def oom_score(pid):
    with open(f"/proc/{pid}/oom_score_adj", encoding="ascii") as file:
        return int(file.read())


def test_jobs_are_ended_before_the_daemon_where_memory_is_used_up(pleat):
    show = "cat /proc/self/oom_score_adj"
    told = pleat.path("told")
    job = pleat.submit("--notify", f"{show} >{told}.new; mv {told}.new {told}", "--notify-on", "end", "--", "sh", "-c", show)
    assert pleat.wait_end(job)["state"] == "done"
    wait_until(lambda: os.path.exists(told), "the notification has run")
    with open(told, encoding="ascii") as file:
        scores = {"job": int(pleat.output(job)), "notification": int(file.read())}
    assert scores == {"job": 300, "notification": 300}
    for pid in (pleat.daemon_pid(), pleat.agent_pid()):
        assert oom_score(pid) <= 0
    if os.geteuid() == 0 and oom_score(pleat.daemon_pid()) < 0:
        assert oom_score(pleat.agent_pid()) == oom_score(pleat.daemon_pid()) == -500
