"""An agent that is killed, and processes of its jobs that have given themselves everything by which they could be
found: no environment, no session, no parents, no files. Its guard ends them before another agent comes."""

import os
import signal

from conftest import is_alive, parent_of, wait_until, words_of

# Each run says whether an earlier one's process still computes. What escapes ignores SIGTERM, and forks all the time.
ESCAPING = r"""
for pid in $(cat "$1/escaped" 2>/dev/null); do kill -0 "$pid" 2>/dev/null && echo "$pid" >>"$1/twice"; done
echo run >>"$1/runs"
(setsid env -i /bin/sh -c 'echo $$ >>"$0/escaped"; trap "" TERM; cd /; exec 0<&- 1>&- 2>&-
                           while :; do /bin/true; done' "$1" &)
exec sleep 1000
"""


def numbers(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def guard_of(agent):
    guard = parent_of(agent)
    return guard if words_of(guard)[:1] and words_of(guard)[0].endswith("/pleat-guard") else None


def test_what_escaped_is_ended_with_its_agent(pleat):
    pleat.configure("attempts = 3")
    job = pleat.submit("--min", 8, "--max", 8, "--", "sh", "-c", ESCAPING, "escaping", pleat.dir)
    escaped, runs = pleat.path("escaped"), pleat.path("runs")
    for number in (1, 2):
        last = wait_until(lambda: len(numbers(escaped)) == number and numbers(escaped), "it has escaped")[-1]
        pleat.wait_for(job, "running")
        agent = pleat.agent_pid()
        guard = guard_of(agent)
        assert guard
        # nothing tells whose it is, but that it stands below the agent
        with open(f"/proc/{last}/environ", "rb") as file:
            assert b"PLEAT_" not in file.read()
        assert os.getsid(last) == last
        wait_until(lambda: "".join(words_of(parent_of(last))).startswith("pleat-reaper"), "its parents are gone")
        os.kill(agent, signal.SIGKILL)
        wait_until(lambda: not is_alive(last), "it is ended")
        wait_until(lambda: not is_alive(guard), "the guard has ended")
    wait_until(lambda: len(numbers(escaped)) == 3, "the third run")
    assert open(runs, encoding="ascii").read() == 3 * "run\n"
    assert not os.path.exists(pleat.path("twice"))
    # in order it ends, too: with the agent, if not with the job
    pleat.pleat("cancel", job, check=0)
    pleat.wait_end(job)
    pleat.pleat("stop", "--force", check=0)
    pleat.connection = None
    wait_until(lambda: not is_alive(numbers(escaped)[-1]), "nothing is left")


def test_a_guard_that_is_killed(pleat):
    """The agent goes on; what the next one can find of its jobs by their environment is ended."""
    first = pleat.submit("--min", 1, "--max", 1, "--", "sh", "-c", "echo $$ >>\"$1\"; exec sleep 1000", "job",
                         pleat.path("pids"))
    pleat.wait_for(first, "running")
    last = wait_until(lambda: numbers(pleat.path("pids")), "it runs")[-1]
    agent = pleat.agent_pid()
    os.kill(guard_of(agent), signal.SIGKILL)
    assert pleat.pleat("run", "--", "echo", "still here", check=0).stdout == "still here\n"
    assert pleat.agent_pid() == agent and is_alive(last)
    os.kill(agent, signal.SIGKILL)
    wait_until(lambda: not is_alive(last), "it is ended")
    wait_until(lambda: len(numbers(pleat.path("pids"))) == 2, "it runs again")
    pleat.pleat("cancel", first, check=0)


def test_an_agent_that_is_told_to_end_by_its_guard(pleat):
    """A signal to the process that pleatd has started reaches the agent."""
    job = pleat.submit("--min", 1, "--max", 1, "--", "sleep", "1000")
    pleat.wait_for(job, "running")
    agent = pleat.agent_pid()
    guard = guard_of(agent)
    os.kill(guard, signal.SIGTERM)
    wait_until(lambda: not is_alive(agent) and not is_alive(guard), "both have ended")
    pleat.pleat("cancel", job)
    pleat.wait_end(job)


def test_an_agent_that_is_told_to_end_by_others(pleat):
    """Its jobs have not ended by themselves, whatever their exit code: they begin anew, or fail where they must not."""
    polite = 'trap "exit 0" TERM; echo begun; while [ ! -e "$1" ]; do sleep 0.05; done; echo ended'
    script = ["--min", 1, "--max", 1, "--", "sh", "-c", polite, "polite", pleat.path("go")]
    job, once = pleat.submit(*script), pleat.submit("--no-requeue", *script)
    for number in (job, once):
        pleat.wait_for(number, "running")
        wait_until(lambda number=number: pleat.output(number) == "begun\n", "it has begun")
    os.kill(pleat.agent_pid(), signal.SIGTERM)
    failed = pleat.wait_end(once)
    assert (failed["state"], failed["reason"]) == ("failed", "processors lost"), failed
    wait_until(lambda: pleat.output(job) == "begun\nbegun\n", "it begins anew")
    with open(pleat.path("go"), "w", encoding="ascii"):
        pass
    ended = pleat.wait_end(job)
    assert (ended["state"], ended["attempt"]) == ("done", 1) and pleat.output(job) == "begun\nbegun\nended\n", ended
