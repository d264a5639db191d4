"""A Slurm cluster whose nodes do not see the home of the user's machine: what a job needs there is sent, and nothing is
left there."""

import hashlib
import os
import signal

import pytest

from clusters import wait_until
from clusters.pleat import BIN, ENDED, HOME, Pleat
from clusters.screen import Screen
from clusters.world import USER, USER_ID
from test_malleable import begun, both_mpis, ends, has, resized


@pytest.fixture(name="pleat", scope="module")
def fixture_pleat(slurms):
    slurm = slurms[0]
    for node in slurm.nodes:  # somebody's home, but not that of the first host
        node.run("mount", "-t", "tmpfs", "-o", f"mode=700,uid={USER_ID},gid={USER_ID}", "none", HOME)
    pleat = Pleat(slurm, f'kind = slurm conf = "{slurm.conf}" partition = main', ["srun"])
    yield pleat
    for node in slurm.nodes:
        assert node.run("ls", "-A", HOME, user=USER).stdout == "", f"something is left in the home of {node.name}"
    pleat.finish()


def run(pleat, *words, given=None):
    return pleat.head.run(f"{BIN}/pleat", "run", *words, user=USER, env=pleat.env, text_in=given, check=False)


def test_commands(pleat):
    """Both streams, the exit code, and standard input; the working directory is there for the job alone, and private."""
    done = run(pleat, "--", "sh", "-c", 'hostname; stat -c %a .; test "$PWD" = "$PLEAT_SCRATCH" && echo there; echo bad >&2; exit 3')
    assert (done.returncode, done.stdout, done.stderr) == (3, "a1\n700\nthere\n", "bad\n"), (done, pleat.log())
    assert "host a1 of site c1 does not see the directory" in pleat.log()
    text = "".join(f"line {number} of many\n" for number in range(300000))
    done = run(pleat, "--", "sh", "-c", "tee /dev/stderr", given=text)
    assert hashlib.md5(done.stdout.encode()).digest() == hashlib.md5(text.encode()).digest() and done.stderr == text
    assert run(pleat, "--", "nosuchprogram").returncode == 127
    pleat.cluster.until_empty()


def test_a_script(pleat):
    """It need not be on the node."""
    pleat.path("script").write_text('#!/bin/sh\n#PLEAT -n 2\necho "$(hostname) $PLEAT_PROCESSORS $1"\n')
    job = pleat.submit(pleat.dir + "/script", "given")
    assert pleat.until(job, *ENDED)["state"] == "done", (pleat.log(), pleat.run("events", job).stdout)
    assert pleat.output(job) in ("a1 2 given\n", "a2 2 given\n")


def test_a_terminal(pleat):
    """As with a shared home, in the directory that the job has there."""
    screen = Screen(pleat, "-n", 1, "--", "sh", "-c", 'hostname; test "$PWD" = "$PLEAT_SCRATCH" && stty size; read x; echo "got $x"; exit 5')
    lines = screen.until("33 91\r\n").split("\r\n")
    assert lines[0] in ("a1", "a2"), lines
    screen.type("words\n")
    screen.until("got words\r\n")
    assert screen.end() == 5
    pleat.cluster.until_empty()


@both_mpis
def test_several_nodes(pleat, mpi):
    """Each process is in the directory of its node that belongs to the job alone."""
    code = 'test "$PWD" = "$PLEAT_SCRATCH" && test "$(pwd)" = "$PWD" && echo "$(hostname) $(stat -c %a .)"; cat; echo here >file'
    job = pleat.submit("-n", 6, "--mpi", mpi, "--input", put(pleat, "given", "to rank 0\n"), "--output", pleat.dir + "/several", "--", "sh", "-c", code)
    is_over(pleat, job)
    lines = sorted(pleat.path("several").read_text().split("\n")[:-1])
    assert lines[-1] == "to rank 0" and len(lines) == 7, lines
    assert lines[:6] == sorted(lines[:6]) and {line[3:] for line in lines[:6]} == {"700"} and len({line[:2] for line in lines[:6]}) == 2, lines


@both_mpis
def test_a_malleable_program_over_several_nodes(pleat, mpi):
    """Its data stay in the memory of its nodes, and what it writes comes back."""
    job, _ = begun(pleat, mpi, "heat")
    there = resized(pleat, job, "heat", 6)
    has(pleat, ("a1", 2), ("a2", 4))
    assert {host: len(pids) for host, pids in there.items()} == {"a1": 2, "a2": 4}
    resized(pleat, job, "heat", 2)
    has(pleat, ("a1", 2))
    ends(pleat, job)


def put(pleat, name, text):
    """A file of the user's."""
    path = pleat.path(name)
    path.write_text(text)
    os.chown(path, USER_ID, USER_ID)
    return f"{pleat.dir}/{name}"


def couriers(pleat):
    return pleat.head.pids("pleat-courier")


def is_over(pleat, job, state="done"):
    """Its files are complete when it has ended, and nobody keeps them."""
    assert pleat.until(job, *ENDED)["state"] == state, (pleat.log(), pleat.run("events", job).stdout)
    pleat.cluster.until_empty()
    wait_until(lambda: not couriers(pleat), "nobody has its files open")


def test_files_that_the_user_names(pleat):
    """They are on the machine where the job was submitted, as with a shared home."""
    text = "".join(f"line {number} of many\n" for number in range(200000))
    words = ("--input", put(pleat, "given", text), "--output", put(pleat, "out", "what was there before\n" * 1000), "--error", pleat.dir + "/%j.bad")
    job = pleat.submit(*words, "--", "sh", "-c", "cat; umask; echo bad >&2")
    is_over(pleat, job)
    assert pleat.path("out").read_text() == text + "0022\n"
    assert pleat.path(f"{job}.bad").read_text() == "bad\n"
    assert not pleat.path(f"jobs/{job}/stdout").exists() and pleat.path("out").stat().st_uid == USER_ID
    # one of the streams only, and behind what is there
    job = pleat.submit("--append", "--output", pleat.dir + "/out", "--", "sh", "-c", "echo more; echo bad >&2")
    is_over(pleat, job)
    assert pleat.path("out").read_text() == text + "0022\nmore\n"
    assert pleat.path(f"jobs/{job}/stderr").read_text() == "bad\n"
    job = pleat.submit("--input", "/dev/null", "--output", "/dev/null", "--", "sh", "-c", "cat && echo nothing")
    is_over(pleat, job)
    assert pleat.path(f"jobs/{job}/stdout.record").exists()
    pleat.run("clean", "--older-than", "0", "--outputs")
    assert not pleat.path(f"jobs/{job}").exists() and pleat.path("out").exists()


@pytest.mark.parametrize("option, path, why", [
    ("--output", "/nosuchdir/out", "cannot open the output file '/nosuchdir/out': No such file or directory"),
    ("--error", "/", "cannot open the error file '/': Is a directory"),
    ("--input", "/nosuchfile", "cannot open the input file '/nosuchfile': No such file or directory"),
    ("--input", "/dev/zero", "which is no regular file")])
def test_files_that_cannot_be_opened(pleat, option, path, why):
    job = pleat.submit("--output", pleat.dir + "/not-begun", option, path, "--", "sh", "-c", "echo begun >/tmp/begun")
    is_over(pleat, job, "failed")
    assert why in pleat.run("events", job).stdout, pleat.log()
    assert not any(node.run("cat", "/tmp/begun", check=False).stdout for node in pleat.cluster.nodes)


def test_jobs_of_an_array_write_to_one_file(pleat):
    code = 'i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo "$PLEAT_ARRAY_INDEX line $i"; done'
    job = pleat.submit("--array", "1-3", "--append", "--output", put(pleat, "all", ""), "--", "sh", "-c", code)
    pleat.run("wait", job)
    pleat.cluster.until_empty()
    lines = pleat.path("all").read_text().split("\n")[:-1]
    for index in range(1, 4):
        mine = [line for line in lines if line.startswith(f"{index} ")]
        assert mine == [f"{index} line {number + 1}" for number in range(3000)], (index, len(mine), len(lines))


def length(path):
    return path.stat().st_size if path.exists() else 0


@pytest.mark.parametrize("who", ["pleatd", "courier"])
def test_killed_while_a_job_reads_and_writes(pleat, who):
    text = "".join(f"line {number}\n" for number in range(120000))
    out = pleat.path("copy-" + who)
    job = pleat.submit("--input", put(pleat, "lines", text), "--output", f"{pleat.dir}/copy-{who}", "--", "sh", "-c",
                       "while read line; do echo \"$line\"; done")
    for part in range(3):
        wait_until(lambda part=part: length(out) > (part + 1) * 200000, "it writes")
        if who == "pleatd":
            pleat.kill_daemon()
            pleat.run("info")
        else:
            for pid in couriers(pleat):
                os.kill(pid, signal.SIGKILL)
    is_over(pleat, job)
    assert hashlib.md5(out.read_bytes()).digest() == hashlib.md5(text.encode()).digest(), (length(out), len(text))


def test_a_file_that_takes_nothing(pleat):
    """As on a file system that does not answer: its courier is stopped. Other jobs do not notice, and the job can be ended."""
    job = pleat.submit("--output", pleat.dir + "/stuck", "--", "sh", "-c", "while :; do echo more; sleep 0.01; done")
    wait_until(lambda: length(pleat.path("stuck")) > 0, "it writes")
    [courier] = couriers(pleat)
    os.kill(courier, signal.SIGSTOP)
    assert run(pleat, "--", "echo", "others go on").stdout == "others go on\n"
    pleat.run("cancel", job)
    is_over(pleat, job, "cancelled")
    assert "what it wrote last is lost" in pleat.run("events", job).stdout


def size(pleat, job):
    path = pleat.path(f"jobs/{job}/stdout")
    return path.stat().st_size if path.exists() else 0


def test_pleatd_is_killed_while_a_job_writes(pleat):
    code = 'i=0; while [ $i -lt 400000 ]; do i=$((i+1)); echo "line $i"; done'
    job = pleat.submit("--", "sh", "-c", code)
    for part in range(3):
        wait_until(lambda part=part: size(pleat, job) > (part + 1) * 300000, "it writes")
        pleat.kill_daemon()
        pleat.run("info")
    assert pleat.until(job, *ENDED)["state"] == "done"
    assert pleat.output(job) == "".join(f"line {number + 1}\n" for number in range(400000))
    pleat.cluster.until_empty()


def test_the_agent_is_killed(pleat):
    """The job starts again, and writes behind what it wrote."""
    job = pleat.submit("--", "sh", "-c", 'echo begun; while [ ! -s /tmp/go ]; do sleep 0.05; done; echo ended')
    wait_until(lambda: size(pleat, job) == len("begun\n"), "it has begun")
    [agent] = [pid for node in pleat.cluster.nodes for pid in node.pids("pleat-agent")]
    os.kill(agent, signal.SIGKILL)
    wait_until(lambda: pleat.job(job)["attempt"] == 1, "it starts again")
    for node in pleat.cluster.nodes:
        node.run("sh", "-c", "echo go >/tmp/go", user=USER)
    assert pleat.until(job, *ENDED)["state"] == "done"
    assert pleat.output(job) == "begun\nbegun\nended\n"
    pleat.cluster.until_empty()


def left_on(host):
    return host.run("sh", "-c", "ls -d /dev/shm/*pleat* 2>/dev/null", check=False).stdout.split()


def test_the_agent_and_its_guard_are_killed(pleat):
    """So nobody removes what they had, until there is an agent on that host again: whatever its number."""
    job = pleat.submit("--no-requeue", "--", "sh", "-c", "echo begun; exec sleep 1000")
    wait_until(lambda: size(pleat, job) == len("begun\n"), "it has begun")
    [host] = [node for node in pleat.cluster.nodes if node.pids("pleat-agent")]
    [old] = left_on(host)
    [guard], [agent] = host.pids("pleat-guard"), host.pids("pleat-agent")
    os.kill(guard, signal.SIGSTOP)
    for pid in (agent, guard):
        os.kill(pid, signal.SIGKILL)
    assert pleat.until(job, *ENDED)["state"] == "failed"
    pleat.cluster.until_empty()
    assert left_on(host) == [old]
    jobs = [pleat.submit("-n", 4, "--one-node", "--", "sh", "-c", "while [ ! -s /tmp/next ]; do sleep 0.05; done") for _ in range(2)]
    for each in jobs:
        pleat.until(each, "running")
    assert old not in left_on(host)
    for node in pleat.cluster.nodes:
        node.run("sh", "-c", "echo go >/tmp/next", user=USER)
    for each in jobs:
        assert pleat.until(each, *ENDED)["state"] == "done"
    pleat.cluster.until_empty()
