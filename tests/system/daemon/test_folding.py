"""Unmodified MPI programs, folded, beside malleable and rigid ones, under the policies that know them;
what the log says of it, decided again, is the same."""

import json
import os
import pathlib
import signal
import subprocess

import pytest

from conftest import BUILD, breakable_agent, loop, until_file, wait_until
from test_replay import replay

APPS = pathlib.Path(os.environ["PLEAT_BUILD"]) / "apps"
RING = str(APPS / "ring")

# four processors on two CPUs
SITE = 'site "local" { cpus = "0,1,0,1"  background = ignore }\nkill_s = 2\n'


def begin(pleat, **policies):
    pleat.configure(text=SITE + "".join(f"{question} = {name}\n" for question, name in policies.items()))
    assert pleat.call("sites")["sites"][0]["processors"] == 4


def fold(pleat, *options, iterations=100000000, app=RING):
    return pleat.submit(*options, "--", app, "--iterations", iterations)


def attached(pleat, job, count):
    def there():
        folded = pleat.job(job)["folded"]
        return folded and folded["attached"] == count
    wait_until(there, f"{count} processes of job {job} are attached")


def same_decisions(pleat):
    code, text = replay(pleat)
    assert code == 0 and text.endswith("the same\n"), text


def resizes(pleat, job):
    return [(r["from"], r["to"], r["by"], r["outcome"]) for r in pleat.job(job)["history"]["resizes"]]


def test_its_life(pleat):
    """What is shown of it, its user's changes, its limits, its result."""
    begin(pleat)
    job = fold(pleat, "--processes", 4, "--max", 2, "--class", "long", "--fold", "queue=local,mapping=balance")
    attached(pleat, job, 4)
    shown = pleat.job(job)
    assert (shown["state"], shown["runner"], shown["kind"], shown["class"]) == ("running", "folded", "malleable", "long")
    assert (shown["processors"], shown["processes"], shown["mpl"]) == (2, 4, 2)
    assert (shown["min"], shown["max"]) == (1, 2)  # 4 on a processor are allowed
    assert (shown["folded"]["queue"], shown["folded"]["queue_by"]) == ("local", "user")
    assert f"  {job} " in pleat.pleat("ps", check=0).stdout and " 2/4 " in pleat.pleat("ps", check=0).stdout
    text = pleat.pleat("show", job, check=0).stdout
    assert "4 processes on 1 to 2 processors" in text and "4 of 4 processes attached, local queue (user)" in text
    assert "/4 " in pleat.pleat("top", "--once", check=0).stdout
    pleat.pleat("shrink", job, 1, check=0)
    pleat.wait_size(job, 1)
    assert pleat.job(job)["processes"] == 4
    refused = pleat.pleat("grow", job, 2)
    assert refused.returncode == 1 and "its limits are 1 to 2" in refused.stderr, refused.stderr
    pleat.pleat("grow", job, 1, check=0)
    pleat.wait_size(job, 2)
    pleat.pleat("limits", job, "--max", 1, check=0)
    pleat.wait_size(job, 1)
    assert pleat.job(job)["max"] == 1 and "runs on 1 processor" in pleat.pleat("why", job, check=0).stdout
    pleat.call("cancel", job=job)
    assert pleat.wait_end(job)["state"] == "cancelled"
    assert [(r[0], r[1], r[3]) for r in resizes(pleat, job)] == [(2, 1, "shrunk"), (1, 2, "grown"), (2, 1, "shrunk")]
    same_decisions(pleat)


def test_its_result_is_that_of_an_unfolded_run(pleat):
    begin(pleat)
    go = pleat.path("go")
    folded = pleat.submit("--processes", 4, "--", RING, "--iterations", 20000, "--hold", go)
    attached(pleat, folded, 4)
    for change, size in (("shrink", 3), ("grow", 4)):
        pleat.pleat(change, folded, 1, check=0)
        pleat.wait_size(folded, size)
    pathlib.Path(go).touch()
    pleat.wait_end(folded)
    plain = fold(pleat, "--processes", 2, "--no-fold", iterations=20000)
    pleat.wait_end(plain)
    again = fold(pleat, "--processes", 2, "--max", 1, iterations=20000)
    pleat.wait_end(again)
    assert "RESULT ok ring ranks=4 " in pleat.output(folded)
    assert pleat.output(plain) == pleat.output(again) and "RESULT ok ring ranks=2 " in pleat.output(plain)
    assert (pleat.job(plain)["runner"], pleat.job(again)["runner"]) == ("mpi", "folded")


@pytest.mark.parametrize("site", ["", "sharing = time"])
def test_jobs_that_share_processors_in_time(pleat, site):
    """Of two that end, and one that is killed in between, the two find what one finds alone."""
    pleat.configure(text=SITE.replace("background", f"{site} background"))
    fold_by = ("--processes", 4, "--min", 2, "--max", 2, "--fold", "share=time,wait=immediate,next=round-robin")
    go = pleat.path("go")
    jobs = [pleat.submit(*fold_by, "--", RING, "--iterations", 5000, "--hold", go) for _ in range(2)]
    for job in jobs:
        attached(pleat, job, 4)
        assert pleat.job(job)["folded"]["share"] == "time"
        assert "local queue (user) shared with other jobs" in pleat.pleat("show", job, check=0).stdout
    pleat.call("cancel", job=jobs[0])
    assert pleat.wait_end(jobs[0])["state"] == "cancelled"
    jobs[0] = pleat.submit(*fold_by, "--", RING, "--iterations", 5000)
    pathlib.Path(go).touch()
    alone = pleat.submit("--processes", 4, "--", RING, "--iterations", 5000)
    for job in (*jobs, alone):
        assert pleat.wait_end(job)["state"] == "done"
    assert len({pleat.output(job) for job in (*jobs, alone)}) == 1
    refused = pleat.pleat("submit", *fold_by[:-1], "share=time,wait=block", "--", RING)
    assert refused.returncode == 2 and "share=time would do nothing" in refused.stderr, refused.stderr


@pytest.mark.parametrize("then", ["goes on", "is killed"])
def test_a_shrink_while_nobody_can_tell_it(pleat, then):
    """A mandatory one, of which its agent has not heard as it is stopped, and the daemon is a new one: its deadlines
    stand still. Whatever becomes of the agent, the job has done nothing wrong, and ends well."""
    pleat.configure(text=SITE + "shrink_s = 0.2\ngrace_s = 0.2\nbackoff_s = 0.1\n")
    go = pleat.path("go")
    job = pleat.submit("--processes", 4, "--", RING, "--iterations", 2000, "--hold", go)
    attached(pleat, job, 4)
    agent = pleat.agent_pid()
    os.kill(agent, signal.SIGSTOP)
    pleat.kill_daemon()
    pleat.pleat("shrink", job, 1, check=0)
    subprocess.run(["sleep", "1"], check=True)  # longer than both deadlines, which is what is tested
    shown = pleat.job(job)
    assert (shown["state"], shown["processors"], shown["attempt"]) == ("resizing", 4, 0)
    os.kill(agent, signal.SIGCONT if then == "goes on" else signal.SIGKILL)
    if then == "goes on":
        wait_until(lambda: resizes(pleat, job)[0] == (4, 3, "user", "shrunk"), "it has shrunk")
    else:
        wait_until(lambda: pleat.job(job)["attempt"] == 1, "it is begun again")
    attached(pleat, job, 4)
    pathlib.Path(go).touch()
    ended = pleat.wait_end(job)
    assert (ended["state"], ended["exit_code"], ended["attempt"]) == ("done", 0, int(then == "is killed")), ended
    assert "RESULT ok ring ranks=4 " in pleat.output(job)
    same_decisions(pleat)


def test_a_shrink_while_its_agent_does_not_answer(pleat):
    """The agent is connected and stopped: as soon as it is seen not to answer, the deadlines stand still."""
    pleat.configure(text=SITE + "shrink_s = 6\ngrace_s = 0.2\nbackoff_s = 0.1\n")
    go = pleat.path("go")
    job = pleat.submit("--processes", 4, "--", RING, "--iterations", 2000, "--hold", go)
    attached(pleat, job, 4)
    agent = pleat.agent_pid()
    os.kill(agent, signal.SIGSTOP)
    pleat.pleat("shrink", job, 1, check=0)
    subprocess.run(["sleep", "8"], check=True)  # longer than both deadlines, which is what is tested
    shown = pleat.job(job)
    assert (shown["state"], shown["processors"], shown["attempt"]) == ("resizing", 4, 0)
    os.kill(agent, signal.SIGCONT)
    wait_until(lambda: resizes(pleat, job)[0] == (4, 3, "user", "shrunk"), "it has shrunk")
    attached(pleat, job, 4)
    pathlib.Path(go).touch()
    ended = pleat.wait_end(job)
    assert (ended["state"], ended["exit_code"], ended["attempt"]) == ("done", 0, 0), ended
    same_decisions(pleat)


def test_a_shrink_while_agents_die_before_they_connect(pleat):
    """Its agent was killed, and the next ones end before they connect. Meanwhile a policy wants processors of it for a
    waiting job: nobody can tell it, so it has done nothing wrong, is started again, and both end well."""
    where = breakable_agent(pleat)
    pleat.configure(text=SITE + "shrink_s = 0.2\ngrace_s = 0.2\nbackoff_s = 0.1\n")
    go = pleat.path("go")
    submit = pleat.popen("submit", "--processes", 4, "--", RING, "--iterations", 2000, "--hold", go,
                         program=str(where / "pleat"))
    job = int(submit.communicate()[0])
    attached(pleat, job, 4)
    (where / "broken").touch()
    os.kill(pleat.agent_pid(), signal.SIGKILL)
    wait_until((where / "tries").exists, "an agent has ended before it connected")
    waits = pleat.submit("-n", 2, "--", "true")
    wait_until(lambda: pleat.job(job)["state"] == "resizing", "it is to shrink")
    subprocess.run(["sleep", "1"], check=True)  # longer than both deadlines, which is what is tested
    assert pleat.job(job)["state"] == "resizing" and resizes(pleat, job)[0][3] is None
    (where / "broken").unlink()
    assert pleat.wait_end(waits)["state"] == "done"
    attached(pleat, job, 4)
    pathlib.Path(go).touch()
    ended = pleat.wait_end(job)
    assert (ended["state"], ended["exit_code"], ended["attempt"]) == ("done", 0, 1), ended
    assert "RESULT ok ring ranks=4 " in pleat.output(job)
    same_decisions(pleat)


@pytest.mark.skipif(not (APPS / "mpich/ring").exists(), reason="there is no program of another MPI")
def test_a_program_of_another_mpi_is_told(pleat):
    begin(pleat)
    go = pleat.path("go")
    job = pleat.submit("--processes", 4, "--max", 2, "--mpi", "openmpi", "--", APPS / "mpich/ring", "--iterations", 2,
                       "--hold", go)
    wait_until(lambda: (pleat.job(job)["folded"] or {}).get("refused") == 4, "all processes say what they found")
    folded = pleat.job(job)["folded"]
    assert (folded["attached"], folded["begun"]) == (0, False)
    text = pleat.pleat("show", job, check=0).stdout
    assert "0 of 4 processes attached (4 cannot be folded: their MPI is another one than openmpi" in text
    assert "PLEAT_FOLD_VERBOSE" in text
    pathlib.Path(go).touch()
    assert pleat.wait_end(job)["state"] == "done"


def test_a_program_that_never_attaches_is_told(pleat):
    begin(pleat)
    go = pleat.path("go")
    job = pleat.submit("--processes", 2, "--mpi", "openmpi", *until_file(go))
    wait_until(lambda: pleat.job(job)["folded"], "the agent tells of it")
    text = pleat.pleat("show", job, check=0).stdout
    assert "0 of 2 processes attached (none has called MPI_Init yet" in text and "PLEAT_FOLD_VERBOSE" in text
    pathlib.Path(go).touch()
    assert pleat.wait_end(job)["exit_code"] == 7  # its own


def test_the_number_is_chosen_when_it_starts(pleat, tmp_path):
    """Of the programs made for 1, 2, 4 and 8 processes the one whose number is chosen runs."""
    begin(pleat, moldability="fjt", approach="launcher", malleability="partition")
    for count in (1, 2, 4, 8):
        (tmp_path / f"r.{count}").symlink_to(RING)
    job = pleat.submit("--processes", "1,2,4,8", "--mpl", 1, "--count-word", "N", "--", tmp_path / "r.N",
                       "--iterations", 50)
    pleat.wait_end(job)
    assert "RESULT ok ring ranks=4 " in pleat.output(job), pleat.job(job)
    job = pleat.submit("--processes", "1,2,4,8", "--class", "long", "--count-word", "N", "--",
                       tmp_path / "r.N", "--iterations", 50)
    pleat.wait_end(job)
    assert "RESULT ok ring ranks=8 " in pleat.output(job), pleat.job(job)


def test_what_cannot_be_folded_here(pleat):
    begin(pleat)
    refused = pleat.pleat("submit", "--processes", 20, "--", RING)
    assert refused.returncode == 1
    assert "at least 5 processors (for 20 processes, at most 4 on a processor)" in refused.stderr
    refused = pleat.pleat("submit", "--processes", 8, "--max", 1, "--mpl", 4, "--", RING)
    assert refused.returncode == 1 and "1 processors are too few for 8 processes" in refused.stderr
    pleat.call("stop", force=True)
    wait_until(lambda: not pleat.listening(), "the daemon has ended")
    pleat.connection = None
    pleat.configure(text='site "local" { processors = 64  background = ignore }\n')
    refused = pleat.pleat("submit", "--processes", 2, "--", RING)
    assert refused.returncode == 1 and "--no-fold" in refused.stderr, refused.stderr
    # it could be placed where it cannot run
    pleat.pleat("site", "add", "bound", "kind=local", "cpus=0,1", check=0)
    refused = pleat.pleat("submit", "--processes", 2, "--", RING)
    assert refused.returncode == 1 and "site local has more" in refused.stderr and "(--site bound)" in refused.stderr, refused
    job = pleat.submit("--site", "bound", "--processes", 2, "--", RING, "--iterations", 20)
    assert pleat.wait_end(job)["state"] == "done"


POLICIES = {
    "fcfs": {},
    "fjt": {"approach": "launcher", "moldability": "fjt", "malleability": "partition"},
    "psa": {"approach": "launcher", "moldability": "psa", "malleability": "partition"},
    "asp-max": {"approach": "launcher", "moldability": "asp-max", "malleability": "partition"},
    "folding": {"approach": "launcher", "moldability": "folding", "malleability": "folding"},
    "backfill-malleability": {"approach": "launcher", "queue": "backfill-malleability", "moldability": "fjt-1",
                              "malleability": "partition"},
    "backfill-abort": {"approach": "launcher", "queue": "backfill-abort", "moldability": "fjt-1",
                       "malleability": "partition"},
}


@pytest.mark.parametrize("name", POLICIES)
def test_a_mix_under_one_policy(pleat, name):
    """Folded, malleable and rigid jobs: all end well, and what was decided is decided again."""
    begin(pleat, **POLICIES[name])
    jobs = [fold(pleat, "--processes", 2, "--class", "long", iterations=3000),
            pleat.submit(*loop("--iterations", "20", smallest=1, largest=2, more=["--class", "short"])),
            fold(pleat, "--processes", "1,2,4", "--class", "short", iterations=1000),
            pleat.submit("-n", 2, "--", "true"),
            fold(pleat, "--processes", 2, "--mpl", 2, iterations=500)]
    for job in jobs:
        ended = pleat.wait_end(job)
        assert (ended["state"], ended["exit_code"]) == ("done", 0), ended
    for job in (jobs[0], jobs[2], jobs[4]):
        assert "RESULT ok ring" in pleat.output(job)
        decided = f"by {POLICIES[name].get('queue', 'fcfs')}, its size by {POLICIES[name].get('moldability', 'available')}"
        assert decided in pleat.pleat("why", job, check=0).stdout
    same_decisions(pleat)


def test_room_is_made_by_folding(pleat):
    """fjt: a short one takes a processor from a long one, which has it back when that is over."""
    begin(pleat, **POLICIES["fjt"])
    long = fold(pleat, "--processes", 4, "--class", "long")
    attached(pleat, long, 4)
    pleat.wait_size(long, 4)
    go = pleat.path("go")
    brief = pleat.submit("-n", 1, "--class", "short", *until_file(go))
    pleat.wait_for(brief, "running")
    assert pleat.job(long)["processors"] < 4 and pleat.job(long)["mpl"] == 2
    pathlib.Path(go).touch()
    pleat.wait_end(brief)
    pleat.wait_size(long, 4)
    assert [r[2:] for r in resizes(pleat, long)][0] == ("policy", "shrunk")
    assert {r[3] for r in resizes(pleat, long)} == {"shrunk", "grown"}
    notes = json.loads(pleat.pleat("show", "--json", long, check=0).stdout)["history"]["resizes"]
    assert notes[0]["waiter"] == brief
    pleat.call("cancel", job=long)
    pleat.wait_end(long)
    same_decisions(pleat)


@pytest.mark.parametrize("name", ["backfill-malleability", "backfill-abort"])
def test_a_window_expires(pleat, name):
    """A job that was backfilled is folded for the head of the queue, and not ended, when no job that was in front of the
    head runs any more; under the other policy it is preempted, and waits again."""
    begin(pleat, **POLICIES[name])
    first, second = pleat.path("first"), pleat.path("second")
    before = pleat.submit("-n", 2, "--class", "long", *until_file(first))
    pleat.wait_for(before, "running")
    head = pleat.submit("-n", 3, "--class", "long", *until_file(second))
    brief = fold(pleat, "--processes", 2, "--class", "short")
    attached(pleat, brief, 2)
    assert pleat.job(brief)["processors"] == 2 and pleat.job(head)["state"] == "queued"
    pathlib.Path(first).touch()
    pleat.wait_for(head, "running")
    if name == "backfill-malleability":
        there = pleat.job(brief)
        assert (there["state"], there["processors"], there["processes"], there["attempt"]) == ("running", 1, 2, 0)
        assert [r["waiter"] for r in there["history"]["resizes"]] == [head]
    else:
        assert pleat.job(brief)["state"] == "queued"
    pleat.call("cancel", job=brief)
    pathlib.Path(second).touch()
    pleat.wait_end(head)
    pleat.wait_end(brief)
    same_decisions(pleat)


def learned(pleat, job):
    """The sizes of which its daemon knows how fast it is there, and those that it has had."""
    shown = pleat.job(job)
    found = [each for each in shown["history"]["resizes"] if each["outcome"] in ("grown", "shrunk")]
    had = {shown["processors"], *(each["from"] for each in found), *(each["to"] for each in found)}
    return {each["processors"]: each for each in shown["times"]}, had


def test_what_a_program_makes_of_its_processors_is_learned(pleat):
    """It starts on the fewest, and grows when it is known how fast it is there. (How fast it is, and so
    where it stays, is the machine's business.)"""
    begin(pleat, moldability="minimum", approach="remap", malleability="sweet-spot")
    job = fold(pleat, "--processes", 4, "--min", 1)
    attached(pleat, job, 4)
    pleat.wait_outcome(job, "grown")

    def all_known():
        times, had = learned(pleat, job)
        return times.keys() == had
    wait_until(all_known, "what it does is known on each number of processors that it has had")
    times, _ = learned(pleat, job)
    assert min(times) == 1 and 2 in times
    assert all(each["iteration_s"] > 0 for each in times.values())
    assert times[1]["redistribution_s"] is None or len(resizes(pleat, job)) > 1  # it began there
    assert times[2]["redistribution_s"] > 0
    assert "\nwork         1 s takes " in pleat.pleat("show", job, check=0).stdout
    pleat.call("cancel", job=job)
    pleat.wait_end(job)
    same_decisions(pleat)


def test_what_was_measured_before_a_policy_wants_it_is_not_lost(pleat):
    begin(pleat)
    job = fold(pleat, "--processes", 2, "--max", 1)
    attached(pleat, job, 2)
    wait_until(lambda: pleat.job(job)["folded"]["rate"] is not None, "how fast it is")
    assert pleat.job(job)["times"] == []
    pleat.pleat("policies", "malleability=sweet-spot", check=0)
    wait_until(lambda: learned(pleat, job)[0].keys() == {1}, "it is known")
    pleat.call("cancel", job=job)
    pleat.wait_end(job)
    same_decisions(pleat)
