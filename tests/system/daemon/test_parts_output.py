"""What is written on a job's other nodes comes to its launcher whole, once and in order, whatever becomes of pleatd and of
the connections meanwhile. The launcher is one of the test: those of MPIs hand on what ranks write by ways of their own."""

import os
import re
import signal

from conftest import BUILD, wait_until, words_of
from test_nodes import ONE, TWO, two_cpus
from test_tcp import proxied

pytestmark = two_cpus

# on each node, to both streams, until it is told to stop
WRITER = """#!/bin/sh
i=0
while [ ! -e "$2" ]; do
  i=$((i+1))
  echo "node $1 line $i"
  echo "node $1 error $i" >&2
done
echo "node $1 last $i"
exit 7
"""
# what mpirun would be: here and on the other node
LAUNCHER = """#!/bin/sh
{writer} 0 {stop} > {out}0 2> {out}0e &
{remote} -x pleat-node-1 {writer} 1 {stop} > {out}1 2> {out}1e
echo "remote: $?"
{then}
"""


def divided_tcp(pleat, more=""):
    pleat.configure(text=f'site "local" {{ cpus = "{ONE},{ONE},{TWO},{TWO}" nodes = 2 agents = tcp background = ignore }}\n'
                         'backoff_s = 0.2\ntry_s = 0.1\nidle_exit_s = 0\n' + more)


def script(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    os.chmod(path, 0o700)


def begin(pleat, then="wait"):
    """A job whose launcher writes on both nodes, and then waits for itself. Returns its number."""
    os.mkdir(pleat.path("bin"))
    script(pleat.path("writer"), WRITER)
    script(pleat.path("bin/mpirun.openmpi"),
           LAUNCHER.format(writer=pleat.path("writer"), stop=pleat.path("stop"), out=pleat.path("out"),
                           then=then, remote=os.path.join(BUILD, "bin", "pleat-remote")))
    pleat.env["PATH"] = pleat.path("bin") + ":" + pleat.env.get("PATH", os.environ["PATH"])
    return pleat.submit("-n", 4, "--", os.path.join(BUILD, "apps", "ring"))


def size(pleat, name):
    try:
        return os.path.getsize(pleat.path(name))
    except OSError:
        return 0


def grows(pleat, name):
    before = size(pleat, name)
    wait_until(lambda: size(pleat, name) > before + 100000, f"{name} grows")


def stop_and_check(pleat, job):
    script(pleat.path("stop"), "")
    ended = pleat.wait_end(job)
    assert (ended["state"], ended["attempt"]) == ("done", 0), ended
    assert pleat.output(job) == "remote: 7\n"
    for node in (0, 1):
        with open(pleat.path(f"out{node}"), encoding="ascii") as file:
            lines = file.read().splitlines()
        count = int(re.fullmatch(rf"node {node} last (\d+)", lines[-1])[1])
        assert lines[:-1] == [f"node {node} line {i + 1}" for i in range(count)]
        with open(pleat.path(f"out{node}e"), encoding="ascii") as file:
            assert file.read().splitlines() == [f"node {node} error {i + 1}" for i in range(count)]


def test_nothing_is_lost_and_nothing_comes_twice(pleat):
    with proxied(pleat, configure=divided_tcp) as proxy:
        job = begin(pleat)
        for _ in range(2):
            grows(pleat, "out1")
            proxy.cut()
            grows(pleat, "out1")
            pleat.kill_daemon()
            pleat.call("info")
        grows(pleat, "out1")
        # the end, too, is heard only when all before it was
        pleat.kill_daemon()
        script(pleat.path("stop"), "")
        pleat.call("info")
        stop_and_check(pleat, job)
        pleat.pleat("stop", "--force", check=0)


def writers(pleat, job, node):
    return [pid for pid in pleat.job_pids(job) if words_of(pid)[1:4] == [pleat.path("writer"), str(node), pleat.path("stop")]]


def waits_at_pipe(pid):
    with open(f"/proc/{pid}/wchan", encoding="ascii") as file:
        return "pipe" in file.read()


def resident_kb(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return int(re.search(r"VmRSS:\s+(\d+)", file.read())[1])


def test_who_writes_waits_for_who_reads(pleat):
    with proxied(pleat, configure=divided_tcp):
        job = begin(pleat)
        grows(pleat, "out1")
        remote = [pid for pid in pleat.job_pids(job) if os.path.basename(words_of(pid)[0]) == "pleat-remote"][0]
        [writer] = wait_until(lambda: writers(pleat, job, 1), "the writer")
        daemons = [pleat.daemon_pid(), *pleat.agent_pids()]
        before = [resident_kb(pid) for pid in daemons]
        os.kill(remote, signal.SIGSTOP)
        # it is seen to wait several times in a row: it does for good
        wait_until(lambda: all(waits_at_pipe(writer) for _ in range(2000)), "the writer waits")
        after = [resident_kb(pid) for pid in daemons]
        assert all(b - a < 12 * 1024 for a, b in zip(before, after)), (before, after)
        os.kill(remote, signal.SIGCONT)
        grows(pleat, "out1")
        stop_and_check(pleat, job)
        pleat.pleat("stop", "--force", check=0)


def test_it_ends_although_nobody_reads(pleat):
    with proxied(pleat, configure=divided_tcp):
        job = begin(pleat)
        grows(pleat, "out1")
        remote = [pid for pid in pleat.job_pids(job) if os.path.basename(words_of(pid)[0]) == "pleat-remote"][0]
        os.kill(remote, signal.SIGSTOP)
        [writer] = wait_until(lambda: writers(pleat, job, 1), "the writer")
        wait_until(lambda: all(waits_at_pipe(writer) for _ in range(2000)), "the writer waits")
        pleat.pleat("cancel", job, check=0)
        assert pleat.wait_end(job)["state"] == "cancelled"
        pleat.wait_free(4)
        pleat.pleat("stop", "--force", check=0)


def test_a_launcher_that_goes_on_after_a_bad_end_elsewhere(pleat):
    with proxied(pleat, configure=divided_tcp):
        job = begin(pleat, then="exec sleep 1000")
        grows(pleat, "out1")
        script(pleat.path("stop"), "")
        ended = pleat.wait_end(job)
        assert (ended["state"], ended["reason"], ended["exit_code"], ended["attempt"]) == ("failed", "exited", 7, 0), ended
        assert ("what it ran on node 1 has ended with exit code 7, and the rest of it went on" in
                pleat.pleat("events", job, check=0).stdout)
        pleat.wait_free(4)
        pleat.pleat("stop", "--force", check=0)
