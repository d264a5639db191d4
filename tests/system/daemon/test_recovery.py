"""The daemon, or the agent, is killed at bad moments: nothing runs twice, nothing is lost, and what
happened meanwhile is found out."""

import os
import signal
import subprocess

import pytest

from conftest import Failure, is_alive, loop, until_file, wait_until


def touch(path):
    with open(path, "w", encoding="ascii"):
        pass


def runs(path):
    """How often the program of until_file was run."""
    if not os.path.exists(path + ".runs"):
        return 0
    with open(path + ".runs", encoding="ascii") as file:
        return len(file.readlines())


def shell_of(path):
    with open(path + ".runs", encoding="ascii") as file:
        return int(file.readlines()[-1].split()[1])


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_daemon_ends_while_jobs_run_and_wait(pleat, how):
    go = [pleat.path(f"go{i}") for i in range(3)]
    first = pleat.submit("-n", "5", *until_file(go[0]))
    second = pleat.submit("-n", "6", *until_file(go[1]))
    pleat.wait_for(first, "running")
    wait_until(lambda: runs(go[0]), "it runs")
    shell = shell_of(go[0])
    instance, old = pleat.instance_id, pleat.kill_daemon(how)
    assert is_alive(shell)
    third = pleat.submit("-n", "1", *until_file(go[2]))  # starts a daemon
    assert third == 3 and pleat.daemon_pid() != old and pleat.instance_id == instance
    assert pleat.job(first)["state"] == "running" and pleat.job(second)["state"] == "queued"
    assert is_alive(shell)
    touch(go[0])
    job = pleat.wait_end(first)
    assert (job["state"], job["exit_code"], job["attempt"]) == ("failed", 7, 0)
    touch(go[1])
    touch(go[2])
    assert pleat.wait_end(second)["exit_code"] == 7 and pleat.wait_end(third)["exit_code"] == 7
    assert [runs(path) for path in go] == [1, 1, 1]
    assert [pleat.output(number) for number in (first, second, third)] == ["end\n"] * 3


def test_killed_again_and_again(pleat):
    """At moments that nobody chose: each time something else is under way."""
    go = [pleat.path(f"go{i}") for i in range(6)]
    for path in go[:4]:
        touch(path)
    numbers = []
    for path in go:
        numbers.append(pleat.submit("-n", "3", *until_file(path)))
        pleat.call("info")
        pleat.kill_daemon()
    touch(go[4])
    touch(go[5])
    assert numbers == [1, 2, 3, 4, 5, 6]
    for number in numbers:
        job = pleat.wait_end(number)
        assert (job["exit_code"], job["attempt"]) == (7, 0), job
    assert [runs(path) for path in go] == [1] * 6
    pleat.wait_free()


def test_job_ends_while_no_daemon_is_there(pleat):
    go = pleat.path("go")
    number = pleat.submit(*until_file(go))
    wait_until(lambda: runs(go), "it runs")
    pleat.wait_for(number, "running")
    shell = shell_of(go)
    pleat.kill_daemon()
    touch(go)
    wait_until(lambda: not is_alive(shell), "it ends")
    job = pleat.wait_end(number)
    assert (job["exit_code"], job["attempt"], runs(go)) == (7, 0, 1)


def test_malleable_job_survives_a_new_daemon(pleat):
    number = pleat.submit(*loop("--resizes", "3", more=["--initial", "2"], largest=4))
    pleat.wait_size(number, 4)
    ranks = pleat.wait_ranks(number, 4)
    pleat.kill_daemon()
    assert set(pleat.rank_pids(number)) == set(ranks)
    pleat.pleat("shrink", "--wait", number, 1, check=0)
    pleat.wait_size(number, 3)
    pleat.pleat("grow", number, 1, check=0)
    job = pleat.wait_end(number)
    assert (job["state"], job["exit_code"], job["attempt"]) == ("done", 0, 0)
    assert [(r["from"], r["to"], r["outcome"]) for r in job["history"]["resizes"]] == [
        (2, 4, "grown"), (4, 3, "shrunk"), (3, 4, "grown")]
    assert "RESULT ok" in pleat.output(number)


@pytest.mark.parametrize("change,step", [("--max 6", "granted"), ("--max 2", "granted")])
def test_killed_in_a_resize(pleat, change, step):
    """Its ranks are stopped, so that the resize is under way when the daemon goes."""
    number = pleat.submit(*loop(more=["--initial", "4"], largest=4))
    ranks = pleat.wait_ranks(number, 4)
    for pid in ranks:
        os.kill(pid, signal.SIGSTOP)
    pleat.pleat("limits", number, *change.split(), check=0)
    assert pleat.job(number)["state"] == "resizing"
    steps = [e["step"] for e in pleat.call("events", job=number)["events"] if e["kind"] == "resize"]
    assert steps[-1] == step
    pleat.kill_daemon()
    size = int(change.split()[1])
    assert pleat.job(number)["target"] == size
    for pid in ranks:
        os.kill(pid, signal.SIGCONT)
    pleat.wait_size(number, size)
    pleat.wait_ranks(number, size)
    assert [r["outcome"] for r in pleat.job(number)["history"]["resizes"]] == [
        "grown" if size == 6 else "shrunk"]
    pleat.wait_free(8 - size)


def test_resize_is_over_while_no_daemon_is_there(pleat):
    number = pleat.submit(*loop(more=["--initial", "2"], largest=2))
    ranks = pleat.wait_ranks(number, 2)
    for pid in ranks:
        os.kill(pid, signal.SIGSTOP)
    pleat.pleat("limits", number, "--max", "4", check=0)
    assert pleat.job(number)["state"] == "resizing"
    pleat.kill_daemon()
    for pid in ranks:
        os.kill(pid, signal.SIGCONT)
    wait_until(lambda: len(pleat_ranks(pleat, number)) == 4, "it grows all the same")
    pleat.wait_size(number, 4)
    assert [r["outcome"] for r in pleat.job(number)["history"]["resizes"]] == ["grown"]


def pleat_ranks(pleat, number):
    return pleat.rank_pids(number)  # looks at processes only: starts no daemon


def test_agent_is_killed(pleat):
    go = pleat.path("go")
    plain = pleat.submit(*until_file(go))
    number = pleat.submit(*loop(more=["--initial", "2"], largest=2))
    old_ranks = pleat.wait_ranks(number, 2)
    wait_until(lambda: runs(go), "it runs")
    old = old_ranks + pleat.job_pids(plain)
    agent = pleat.agent_pid()
    os.kill(agent, signal.SIGKILL)
    wait_until(lambda: pleat.job(number)["attempt"] == 1 and pleat.job(plain)["attempt"] == 1,
               "both are begun again")
    wait_until(lambda: not any(is_alive(pid) for pid in old), "strays of the old agent are gone")
    assert pleat.wait_for(number, "running")["text"] is None or pleat.job(number)["text"]
    assert len(pleat.wait_ranks(number, 2)) == 2
    assert pleat.agent_pid() != agent
    touch(go)
    assert pleat.wait_end(plain)["exit_code"] == 7
    assert runs(go) == 2


def test_agent_is_killed_too_often(pleat):
    number = pleat.submit("--", "sleep", "1000")
    for attempt in range(3):
        wait_until(lambda: pleat.job(number)["attempt"] == attempt
                   and pleat.job(number)["state"] == "running", f"attempt {attempt}")
        os.kill(pleat.agent_pid(), signal.SIGKILL)
    job = pleat.wait_end(number)
    assert (job["state"], job["reason"], job["attempt"]) == ("failed", "processors lost", 2)


def test_daemon_and_agent_are_killed(pleat):
    number = pleat.submit(*loop(more=["--initial", "2"], largest=2))
    old = pleat.wait_ranks(number, 2)
    agent = pleat.agent_pid()
    pleat.kill_daemon()
    os.kill(agent, signal.SIGKILL)
    wait_until(lambda: pleat.job(number)["attempt"] == 1, "it is begun again")
    wait_until(lambda: not any(is_alive(pid) for pid in old), "strays of the old agent are gone")
    pleat.wait_ranks(number, 2)


def test_agent_is_killed_while_it_starts_or_ends_a_job(pleat):
    """It is stopped first: what it is told then, it has not done when it is killed. Nobody can know
    that: a start that it may have done is an attempt, and is in the log."""
    number = pleat.submit("--", "sleep", "1000")
    pleat.wait_for(number, "running")
    old = pleat.job_pids(number)
    agent = pleat.agent_pid()
    os.kill(agent, signal.SIGSTOP)
    starting = pleat.submit("--", "sleep", "1000")
    both = pleat.submit("--", "sleep", "1000")
    pleat.wait_for(starting, "claiming")
    pleat.wait_for(both, "claiming")
    pleat.call("cancel", job=number)
    pleat.call("cancel", job=both)
    assert pleat.job(number)["state"] == pleat.job(both)["state"] == "finishing"
    os.kill(agent, signal.SIGKILL)
    assert pleat.wait_end(number)["state"] == "cancelled"
    assert pleat.wait_end(both)["state"] == "cancelled"
    assert pleat.wait_for(starting, "running")["attempt"] == 1
    wait_until(lambda: not any(is_alive(pid) for pid in old), "strays of the old agent are gone")
    pleat.wait_free(7)


def test_fewer_processors_after_a_restart(pleat):
    number = pleat.submit(*loop(more=["--initial", "6"], largest=6))
    pleat.wait_ranks(number, 6)
    rigid = pleat.submit("-n", "2", "--", "sleep", "1000")
    pleat.wait_for(rigid, "running")
    pleat.kill_daemon()
    pleat.configure(text="backoff_s = 0.2\nidle_exit_s = 0\n", more='site "local" { processors = 4 }')
    wait_until(lambda: pleat.job(number)["attempt"] + pleat.job(rigid)["attempt"] >= 1,
               "whoever is beyond the end of the machine is begun again")
    wait_until(lambda: pleat.job(number)["state"] == pleat.job(rigid)["state"] == "running",
               "both run on what is left")
    site = pleat.call("sites")["sites"][0]
    assert site["processors"] == 4 and site["used"] <= 4
    assert pleat.job(number)["processors"] + pleat.job(rigid)["processors"] <= 4


def test_never_fits_again_after_a_restart(pleat):
    rigid = pleat.submit("-n", "6", "--", "sleep", "1000")
    pleat.wait_for(rigid, "running")
    pleat.kill_daemon()
    pleat.configure(text="idle_exit_s = 0\n", more='site "local" { processors = 4 }')
    wait_until(lambda: pleat.job(rigid)["attempt"] == 1 and pleat.job(rigid)["state"] == "queued",
               "it waits: the machine may become larger again")
    assert "6 processors" in pleat.job(rigid)["reason"]
    wait_until(lambda: not pleat.job_pids(rigid), "its processes are gone")
    number = pleat.call("info")["jobs"]
    assert number == {"queued": 1}
    pleat.kill_daemon()
    pleat.configure()
    pleat.wait_for(rigid, "running")


# ---- the log cannot be written


def limit_files(pid, size):
    subprocess.run(["prlimit", "--pid", str(pid), f"--fsize={size}:"], check=True)


@pytest.mark.parametrize("end", ["lifted", "killed"])
def test_log_cannot_be_written(pleat, end):
    """No file of the daemon may grow: SQLite cannot write, as on a full disk."""
    go = [pleat.path("go0"), pleat.path("go1")]
    number = pleat.submit(*until_file(go[0]))
    malleable = pleat.submit(*loop(more=["--initial", "2"], largest=2))
    ranks = pleat.wait_ranks(malleable, 2)
    wait_until(lambda: runs(go[0]), "it runs")
    pid = pleat.daemon_pid()
    limit_files(pid, 0)
    before = pleat.call("info")["log_records"]
    client = pleat.client()
    client.send({"id": 77, "method": "limits", "params": {"job": malleable, "max": 5}})
    done = wait_until(lambda: refusal(pleat, go[1]), "submissions are refused")
    assert "cannot write its log" in done and "refused until it can" in done
    assert "cannot write its log" in pleat.pleat("submit", "--", "true", check=1).stderr
    assert "cannot write its log" in pleat.pleat("cancel", malleable, check=1).stderr
    assert pleat.call("info")["holding"] and pleat.call("info")["log_records"] == before
    touch(go[0])  # ends while nothing can be written down
    wait_until(lambda: not pleat.job_pids(number), "it ends")
    assert pleat.rank_pids(malleable) == ranks and runs(go[1]) == 0
    pleat.pleat("ps", check=0)
    if end == "killed":
        pleat.kill_daemon()
        client.close()
        assert pleat.job(malleable)["max"] == 2  # was neither written nor done, nor answered
    else:
        limit_files(pid, "unlimited")
        assert "result" in client.answer(77)  # answered when it is written
        pleat.wait_size(malleable, 5)
        assert pleat.call("info")["holding"] is None and pleat.daemon_pid() == pid
    assert pleat.wait_end(number)["exit_code"] == 7
    touch(go[1])
    numbers = [job["job"] for job in pleat.call("jobs", all=True)["jobs"]]
    more = pleat.submit(*until_file(go[1]))
    assert pleat.wait_end(more)["exit_code"] == 7 and more == max(numbers) + 1
    assert runs(go[0]) == runs(go[1]) == 1


def refusal(pleat, path):
    """Tries to submit; what is said against it. (One that is taken before the first write fails is
    held: it is neither run nor answered, which shows as no answer in a second.)"""
    client = pleat.client()
    client.socket.settimeout(1)
    words = until_file(path)[1:]
    try:
        client.call("submit", name="x", argv=words, cwd="/", env=list(f"{k}={v}" for k, v in pleat.env.items()),
                    runner="plain", mpi="none", kind="rigid", min=1, max=1, initial=0, sizes="any",
                    asks=False, site=None, estimate_s=0)
        return "taken"
    except Failure as failure:
        return failure.text
    except TimeoutError:
        return None
    finally:
        client.close()
