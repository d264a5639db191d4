"""Memory: what all processes of a job have together is measured, and kept below a limit, by a group of
the kernel's or by measuring."""

import glob
import json
import os
import signal
import sys

import pytest

from conftest import CONFIG, PLEAT, wait_until

MIB = 1024  # KiB
PYTHON = sys.executable

# Touches the given number of MiB, then waits for a file.
EAT = """
import os, sys, time
kept = bytearray(int(sys.argv[1]) << 20)
while not os.path.exists(sys.argv[2]):
    time.sleep(0.02)
"""
# Processes that all read what they share.
SHARE = """
import mmap, os, sys, time
size = int(sys.argv[1]) << 20
shared = mmap.mmap(-1, size)
for at in range(0, size, 4096):
    shared[at] = 1
for _ in range(6):
    if os.fork() == 0:
        sum(shared[at] for at in range(0, size, 4096))
        break
while not os.path.exists(sys.argv[2]):
    time.sleep(0.02)
"""


def groups_of(pleat):
    """Groups of this instance's jobs in which the kernel limits memory."""
    pleat.call("info")
    found = glob.glob("/sys/fs/cgroup/**/pleat:" + pleat.instance_id + ":*", recursive=True)
    return [path for path in found if os.path.exists(os.path.join(path, "memory.max"))
            or os.path.exists(os.path.join(path, "memory.limit_in_bytes"))]


def configure(pleat, groups):
    pleat.configure(text=CONFIG.replace("processors = 8", f"processors = 8 memory_groups = {groups}"))


@pytest.fixture(params=["auto", "off"])
def limited(request, pleat):
    """With a group where there can be one, and by measuring."""
    configure(pleat, request.param)
    go = pleat.path("go")
    if request.param == "auto":
        number = pleat.submit("--memory", "200M", "--", PYTHON, "-c", EAT, 1, go)
        pleat.wait_for(number, "running")
        found = groups_of(pleat)
        open(go, "w", encoding="ascii").close()
        pleat.wait_end(number)
        os.unlink(go)
        if not found:
            pytest.skip("SKIPPED: this user may make no group of processes with a limit of memory here")
        assert not groups_of(pleat), "its group goes with the run"
    return pleat


def test_what_takes_too_much_is_ended(limited):
    go = limited.path("go")
    number = limited.submit("--memory", "64M", "--", PYTHON, "-c", EAT, 200, go)
    # of a job that goes on without it, too
    script = limited.submit("--memory", "64M", "--", "sh", "-c", f'{PYTHON} -c "$0" 200 "$1"; exec sleep 1000',
                            EAT, go)
    for job in (limited.wait_end(number), limited.wait_end(script)):
        assert (job["state"], job["reason"], job["attempt"]) == ("failed", "memory limit reached", 0), job
        assert "limit" in job["text"] and "64.0 MiB" in job["text"], job["text"]
        assert job["memory_limit_kb"] == 64 * MIB and job["memory_kb"] >= 64 * MIB
    assert not limited.job_pids()
    assert not groups_of(limited)
    shown = limited.pleat("show", number, check=0).stdout
    assert "memory limit reached" in shown and "limit 64.0 MiB" in shown, shown
    done = limited.pleat("run", "--memory", "64M", "--", PYTHON, "-c", EAT, 200, go)
    assert done.returncode == 128 + signal.SIGKILL and "memory limit reached" in done.stderr, done


def test_shared_memory_counts_once(limited):
    go = limited.path("go")
    number = limited.submit("--memory", "400M", "--", PYTHON, "-c", SHARE, 120, go)
    # 7 processes that have 120 MiB each: 840 MiB by what is resident; what was told before they had is told anew when it is a quarter more
    told = 100 * MIB
    wait_until(lambda: (limited.job(number)["memory_kb"] or 0) > told, "it is measured")
    limited.kill_daemon()  # what was told is kept, and what is measured goes on
    assert told < limited.job(number)["memory_kb"] < 400 * MIB
    open(go, "w", encoding="ascii").close()
    job = limited.wait_end(number)
    assert job["state"] == "done", job
    assert 120 * MIB < job["memory_kb"] < 400 * MIB, job
    entry = json.loads(limited.pleat("history", "--json", check=0).stdout)["jobs"][-1]
    assert (entry["memory_kb"], entry["max_rss_kb"]) == (job["memory_kb"], job["max_rss_kb"])
    listed = limited.pleat("history", "--format", "job,memory_kb,max_rss_kb", check=0).stdout
    assert "MEMORY" in listed and "MAX RSS" in listed and "MiB" in listed
    assert "at its peak" in limited.pleat("show", number, check=0).stdout


# A number of processes that only sleep, until a file is there.
CROWD = """
i=0
while [ $i -lt 400 ]; do sleep 1000 & i=$((i + 1)); done
while [ ! -e "$0" ]; do sleep 0.05; done
exit 0 # the agent ends those that are left
"""


def test_many_processes_are_measured(pleat):
    """So many that they are not looked at in one turn of the agent: all of them count, each once."""
    configure(pleat, "off")
    go = pleat.path("go")
    large = pleat.submit("--memory", "4G", "--", "sh", "-c", CROWD, go)
    wait_until(lambda: (pleat.job(large)["memory_kb"] or 0) > 400 * 40, "it is measured")
    small = pleat.submit("--memory", "8M", "--", "sh", "-c", CROWD, pleat.path("never"))
    job = pleat.wait_end(small)
    assert (job["state"], job["reason"]) == ("failed", "memory limit reached"), job
    assert job["memory_kb"] >= 8 * MIB, job
    assert not pleat.job_pids(small)
    open(go, "w", encoding="ascii").close()
    job = pleat.wait_end(large)
    assert job["state"] == "done" and 400 * 40 < job["memory_kb"] < 400 * 1024, job


def test_what_a_lost_agent_measured_is_kept(pleat):
    configure(pleat, "off")
    go = pleat.path("go")
    number = pleat.submit("--no-requeue", "--", PYTHON, "-c", EAT, 50, go)
    told = 40 * MIB  # what was told while it took the memory is told anew when it is a quarter more
    wait_until(lambda: (pleat.job(number)["memory_kb"] or 0) > told, "it is measured")
    os.kill(pleat.agent_pid(), signal.SIGKILL)
    job = pleat.wait_end(number)
    assert job["state"] == "failed" and job["memory_kb"] > told, job


@pytest.fixture
def small_group():
    """A group of the kernel's whose processes have 300 MiB together; where they write themselves down to join."""
    with open("/proc/self/cgroup", encoding="ascii") as file:
        mine = {line.split(":")[1]: line.split(":")[2].strip() for line in file}
    first = "memory" in mine
    top = "/sys/fs/cgroup/memory" if first else "/sys/fs/cgroup"
    place = os.path.join(top + mine["memory" if first else ""], f"pleat-test-{os.getpid()}")
    limits = {"memory.limit_in_bytes" if first else "memory.max": 300 << 20,
              "memory.memsw.limit_in_bytes" if first else "memory.swap.max": 300 << 20 if first else 0}
    try:
        os.mkdir(place)
        for name, value in limits.items():
            if os.path.exists(os.path.join(place, name)) or "swap" not in name and "memsw" not in name:
                with open(os.path.join(place, name), "w", encoding="ascii") as file:
                    file.write(str(value))
    except OSError as failure:
        if os.path.isdir(place):
            os.rmdir(place)
        pytest.skip(f"SKIPPED: no group with a limit of memory can be made here: {failure}")
    yield os.path.join(place, "cgroup.procs")
    wait_until(lambda: not open(os.path.join(place, "cgroup.procs"), encoding="ascii").read(), "nobody is in it")
    os.rmdir(place)


def test_the_kernel_ends_a_job_where_memory_is_used_up(small_group, pleat):
    """Daemon, agent and jobs have little memory together, and no limit of the job's own keeps it: the kernel ends the
    job, of which this is said, and neither daemon nor agent; a small job beside it goes on."""
    go = pleat.path("go")
    join = f'echo $$ >{small_group} && exec "$0" "$@"'
    done = pleat.popen("-c", join, PLEAT, "info", program="sh")
    assert done.wait(60) == 0, done.communicate()
    daemon = pleat.daemon_pid()
    small = pleat.submit("--", PYTHON, "-c", EAT, 1, go)
    pleat.wait_for(small, "running")
    agent = pleat.agent_pid()
    with open(small_group, encoding="ascii") as file:
        members = {int(line) for line in file}
    assert {daemon, agent} <= members and set(pleat.job_pids(small)) & members
    large = pleat.submit("--", PYTHON, "-c", EAT, 600, go)
    job = pleat.wait_end(large)
    assert (job["state"], job["signal"], job["attempt"]) == ("failed", signal.SIGKILL, 0), job
    assert "memory was used up: the kernel ended 1 process of this machine" in job["text"], job["text"]
    for word in ("why", "show"):
        assert "memory was used up" in " ".join(pleat.pleat(word, large, check=0).stdout.split())
    assert pleat.daemon_pid() == daemon and pleat.agent_pid() == agent
    assert pleat.job(small)["state"] == "running"
    open(go, "w", encoding="ascii").close()
    assert pleat.wait_end(small)["state"] == "done" and pleat.job(small)["text"] is None


def test_sizes_say_their_unit(pleat):
    for wrong in ("512", "0M", "M", "12Q", "-3G", "1.5.2G", "2000000T"):
        done = pleat.pleat("submit", "--memory", wrong, "--", "true", check=2)
        assert "--memory" in done.stderr, done.stderr
    for size, kb in (("1.5G", 1536 * MIB), ("64MiB", 64 * MIB), ("2000k", 2000), ("1TB", MIB ** 3)):
        number = pleat.submit("--memory", size, "--", "true")
        assert pleat.job(number)["memory_limit_kb"] == kb
    script = pleat.path("script")
    with open(script, "w", encoding="ascii") as file:
        file.write("#!/bin/sh\n#SBATCH --mem=700\n#SBATCH --array=4-5\nexit 0\n")
    os.chmod(script, 0o755)
    done = pleat.pleat("submit", "--sbatch", script, check=0)
    first = int(done.stdout.split()[-1].split("_")[0]) if "_" in done.stdout else int(done.stdout.split()[-1])
    tasks = [job for job in pleat.call("jobs")["jobs"] if job["job"] >= first]
    assert [job["array"]["index"] for job in tasks] == [4, 5], (done.stdout, tasks)
    assert pleat.job(tasks[0]["job"])["memory_limit_kb"] == 700 * MIB
