"""Malleable programs on several nodes: each node's agent has a mailbox and a state for the ranks there."""

import os
import signal
import time

import pytest

from conftest import BUILD, FINAL, is_alive, wait_until, words_of
from relaunching import MPIS, program, resizes, submit, text_of_events
from test_nodes import divided, environment, nodes_of, two_cpus
from test_parts import DAEMON, by_node, node_of
from test_saving import saved

pytestmark = two_cpus


def spread(pleat, mpi, *, sizes=(3, 4), options=(), text="attempts = 9\n"):
    """A malleable job with ranks on both nodes, which has begun."""
    divided(pleat, text)
    job = submit(pleat, mpi, sizes=sizes, options=["--initial", sizes[1], *options])
    begun(pleat, job)
    return job


def begun(pleat, job):
    wait_until(lambda: pleat.job(job)["state"] == "running" and (pleat.job(job)["progress"] or {}).get("iteration"),
               "its ranks compute")


def ends(pleat, job):
    with open(pleat.path("end"), "w", encoding="utf-8"):
        pass
    ended = pleat.wait_end(job)
    assert ended["state"] == "done" and pleat.output(job).count("RESULT ok") == 1, (ended, pleat.output(job, "stderr"))
    pleat.wait_free(4)
    assert pleat.job_pids() == []


def here(pid, name):
    return environment(pid).get(name.encode(), b"").decode()


def agent_of(pid):
    return here(pid, "PLEAT_AGENT_PID").split(":")[0]


@pytest.mark.parametrize("mpi", MPIS)
def test_each_node_has_a_mailbox(pleat, mpi):
    job = spread(pleat, mpi)
    shown = pleat.job(job)
    assert nodes_of(shown) == {0, 1} and shown["processors"] == 4
    ranks = by_node(pleat, job, "loop")
    assert len(ranks[0]) == len(ranks[1]) == 2
    for pid in ranks[0]:
        assert not here(pid, "PLEAT_MAILBOX_HERE") and not here(pid, "PLEAT_STATE_HERE")
        assert here(pid, "PLEAT_MAILBOX").startswith(f"/proc/{agent_of(pid)}/fd/")
    for pid in ranks[1]:
        assert agent_of(pid) != agent_of(ranks[0][0])
        for name in ("PLEAT_MAILBOX_HERE", "PLEAT_DOORBELL_HERE", "PLEAT_STATE_HERE"):
            assert here(pid, name).startswith(f"/proc/{agent_of(pid)}/fd/"), name
    assert {pid for node in by_node(pleat, job, "loop").values() for pid in node} == {
        pid for node in ranks.values() for pid in node}
    ends(pleat, job)


@pytest.mark.parametrize("mpi", MPIS)
def test_what_is_killed(pleat, mpi):
    """An agent, pleatd: it is started again on both nodes, or goes on; nothing is left behind."""
    job = spread(pleat, mpi)

    def pids():
        return {pid for node in by_node(pleat, job, "loop").values() for pid in node}
    for attempt, node in ((1, 1), (2, 0)):
        before = pids()
        os.kill(int(agent_of(by_node(pleat, job, "loop")[node][0])), signal.SIGKILL)
        wait_until(lambda: pleat.job(job)["attempt"] == attempt and len(pids()) == 4 and not pids() & before,
                   f"attempt {attempt}")
        begun(pleat, job)
        assert not [pid for pid in before if is_alive(pid)]
    before = pids()
    pleat.kill_daemon()
    wait_until(lambda: all(n["agent"] for n in pleat.call("sites")["sites"][0]["nodes"]), "both agents")
    begun(pleat, job)
    assert pids() == before
    ends(pleat, job)


def on(pleat, job, name, counts):
    """Waits until the job computes with `counts` ranks on the two nodes."""
    def there():
        shown = pleat.job(job)
        assert shown["state"] not in FINAL, pleat.output(job, "stderr") + text_of_events(pleat, job)
        ranks = by_node(pleat, job, name)
        return (shown["state"] == "running" and shown["processors"] == sum(counts) and
                [len(ranks[0]), len(ranks[1])] == counts and (shown["progress"] or {}).get("iteration"))
    wait_until(there, f"ranks on the nodes: {counts}")


@pytest.mark.parametrize("name", ["loop", "heat"])
@pytest.mark.parametrize("mpi", MPIS)
def test_it_takes_another_node_and_leaves_it(pleat, mpi, name):
    """Each time it is started again from its state, which each node's agent has a part of; the program checks its data."""
    divided(pleat, "apply_s = 60\nshrink_s = 60\nvacate_s = 60\nlifetime_s = 0\n")
    job = submit(pleat, mpi, name=name, sizes=(2, 4), options=["--initial", "2"])
    steps = [([2, 2], "relaunch"), ([2, 0], "relaunch"), ([2, 1], "relaunch"), ([2, 2], "relaunch"), ([2, 1], "relaunch"),
             ([2, 0], "relaunch")]
    if name == "heat":  # loop goes through all of them
        del steps[3:]
    for counts, _ in steps:
        pleat.pleat("limits", job, "--max", sum(counts), check=0)
        on(pleat, job, name, counts)
    assert [r[2] for r in resizes(pleat.job(job))] == ["grown", "shrunk", "grown", "grown", "shrunk", "shrunk"][:len(steps)]
    # the old ones compute until the new ones wait, also where a node has some of both
    assert [r["way"] for r in pleat.job(job)["history"]["resizes"]] == [way for _, way in steps]
    ends(pleat, job)
    # nothing of the launchers, which are MPICH's own here: no "BAD TERMINATION" of those that were ended; but Open MPI's says,
    # now and then, that a process it has started was there too soon
    said = [line for line in pleat.output(job, "stderr").splitlines() if "plm:rsh: Warning: setpgid" not in line]
    assert said == []


def beside(pleat, mpi, apply_s=60):
    """A job on one node whose new processes wait on two nodes for the old ranks to save, one of which is
    stopped. Returns the job and the stopped rank."""
    divided(pleat, f"attempts = 9\napply_s = {apply_s}\nshrink_s = 60\nvacate_s = 60\nlifetime_s = 0\nstuck_s = 60\nbackoff_s = 600\n")
    job = submit(pleat, mpi, sizes=(1, 2))
    on(pleat, job, "loop", [2, 0])
    stopped = by_node(pleat, job, "loop")[0][0]
    os.kill(stopped, signal.SIGSTOP)
    pleat.pleat("limits", job, "--max", 4, check=0)
    wait_until(lambda: [len(pids) for pids in by_node(pleat, job, "loop").values()] == [4, 2] or
               (apply_s < 60 and resizes(pleat.job(job))[-1][2]), "new ones beside the old ones, or it is too late for them")
    return job, stopped


def launched(pleat, job, name):
    """What the launcher of the new processes has started on the other node."""
    return [pid for pid in pleat.job_pids(job) if node_of(pid) == 1 and words_of(pid) and
            os.path.basename(words_of(pid)[0]) == name]


@pytest.mark.parametrize("mpi, what", [("openmpi", "rank"), ("openmpi", "agent"), pytest.param("mpich", "rank", marks=MPIS[1].marks),
                                       pytest.param("mpich", "launched", marks=MPIS[1].marks)])
def test_new_ones_that_end_on_another_node(pleat, mpi, what):
    """They wait, or are about to: nothing has happened to the job."""
    job, stopped = beside(pleat, mpi)
    rank = by_node(pleat, job, "loop")[1][0]
    victim = {"rank": lambda: rank, "agent": lambda: int(agent_of(rank)),
              "launched": lambda: launched(pleat, job, DAEMON[mpi])[0]}[what]()
    os.kill(victim, signal.SIGKILL)
    wait_until(lambda: resizes(pleat.job(job))[-1][2] is not None, "the growth is over")
    os.kill(stopped, signal.SIGCONT)
    on(pleat, job, "loop", [2, 0])
    shown = pleat.job(job)
    assert shown["attempt"] == 0 and resizes(shown)[-1] == (2, 4, "application failed"), shown
    assert "did not come up" in text_of_events(pleat, job)
    ends(pleat, job)


@pytest.mark.parametrize("mpi", MPIS)
def test_new_ones_that_nobody_wants(pleat, mpi):
    """The growth is withdrawn while they wait on both nodes: they are ended, and the other node is free again."""
    job, stopped = beside(pleat, mpi, apply_s=2)
    wait_until(lambda: resizes(pleat.job(job))[-1][2] is not None, "the growth is over")
    os.kill(stopped, signal.SIGCONT)
    on(pleat, job, "loop", [2, 0])
    shown = pleat.job(job)
    assert shown["attempt"] == 0 and resizes(shown)[-1] == (2, 4, "timed out"), shown
    wait_until(lambda: pleat.call("sites")["sites"][0]["free"] == 2, "its processors are given back")
    ends(pleat, job)


@pytest.mark.parametrize("mpi", MPIS)
def test_old_ones_that_end_beside_new_ones(pleat, mpi):
    """It has ended as they did, and the new ones on both nodes with it."""
    job, stopped = beside(pleat, mpi)
    with open(pleat.path("end"), "w", encoding="utf-8"):
        pass
    os.kill(stopped, signal.SIGCONT)
    ends(pleat, job)


TEXT = "attempts = 9\nshrink_s = 60\nvacate_s = 60\nlifetime_s = 0\nstuck_s = 60\n"


def both_stay(pleat, mpi, options=(), text="apply_s = 60\n"):
    """A job on two nodes whose new processes wait on both of them beside the old ranks, one of which is stopped. Returns the job,
    the old ranks by node, the stopped one, and the new ones on the other node."""
    divided(pleat, TEXT + text)
    job = submit(pleat, mpi, sizes=(2, 3), options=["--initial", "3", *options])
    on(pleat, job, "loop", [2, 1])
    old = by_node(pleat, job, "loop")
    if options:
        saved(pleat, job)
    os.kill(old[0][-1], signal.SIGSTOP)
    pleat.pleat("limits", job, "--max", 4, check=0)
    wait_until(lambda: [len(pids) for pids in by_node(pleat, job, "loop").values()] == [4, 3], "new ones beside the old ones")
    return job, old, old[0][-1], [pid for pid in by_node(pleat, job, "loop")[1] if pid not in old[1]]


@pytest.mark.parametrize("mpi, late", [("openmpi", False), pytest.param("mpich", False, marks=MPIS[1].marks),
                                       pytest.param("mpich", True, marks=MPIS[1].marks)])
def test_new_ones_that_end_beside_old_ones_on_another_node(pleat, mpi, late):
    """They are ended, and nothing has happened to the job; then they come up, and what stays on its node is not moved."""
    job, old, stopped, new = both_stay(pleat, mpi)
    if late:
        time.sleep(1)  # all new ones wait, and the nodes agree on when to change: that is taken back
    os.kill(new[0], signal.SIGKILL)
    wait_until(lambda: resizes(pleat.job(job))[-1][2] is not None, "the growth is over")
    os.kill(stopped, signal.SIGCONT)
    shown = pleat.job(job)
    assert shown["attempt"] == 0 and resizes(shown)[0] == (3, 4, "application failed"), shown
    assert "did not come up" in text_of_events(pleat, job)
    assert all(is_alive(pid) for pids in old.values() for pid in pids)
    for size in (2, 4):
        pleat.pleat("limits", job, "--max", size, check=0)
        on(pleat, job, "loop", [2, size - 2])
    assert pleat.job(job)["attempt"] == 0
    ends(pleat, job)


@pytest.mark.parametrize("mpi", MPIS)
def test_new_ones_that_nobody_wants_beside_old_ones_on_another_node(pleat, mpi):
    """They do not come to wait in time: they are ended on both nodes, and the old ones have computed all the time."""
    divided(pleat, TEXT + "apply_s = 3\nbackoff_s = 600\n")
    job = submit(pleat, mpi, sizes=(2, 3), options=["--initial", "3"], misbehave="begin", once=False)
    on(pleat, job, "loop", [2, 1])
    old = by_node(pleat, job, "loop")
    with open(pleat.path("once"), "w", encoding="utf-8"):
        pass
    pleat.pleat("limits", job, "--max", 4, check=0)
    wait_until(lambda: resizes(pleat.job(job)) and resizes(pleat.job(job))[-1][2] is not None, "the growth is over")
    on(pleat, job, "loop", [2, 1])
    assert by_node(pleat, job, "loop") == old
    shown = pleat.job(job)
    assert shown["attempt"] == 0 and resizes(shown)[-1] == (3, 4, "timed out"), shown
    wait_until(lambda: pleat.call("sites")["sites"][0]["free"] == 1, "its processor is given back")
    ends(pleat, job)


@pytest.mark.parametrize("mpi", MPIS)
def test_a_change_on_which_all_nodes_have_agreed_is_withdrawn(pleat, mpi):
    """All nodes hold it again, and the new ones, which have waited, are ended at once."""
    job, old, stopped, _ = both_stay(pleat, mpi, text="apply_s = 8\nbackoff_s = 600\n")
    wait_until(lambda: resizes(pleat.job(job))[-1][2] is not None, "the growth is over", 40)
    os.kill(stopped, signal.SIGCONT)
    on(pleat, job, "loop", [2, 1])
    assert by_node(pleat, job, "loop") == old
    assert pleat.job(job)["attempt"] == 0 and resizes(pleat.job(job)) == [(3, 4, "timed out")]
    ends(pleat, job)


@pytest.mark.parametrize("mpi, what", [("openmpi", "end"), ("openmpi", "rank"), pytest.param("mpich", "end", marks=MPIS[1].marks),
                                       pytest.param("mpich", "rank", marks=MPIS[1].marks)])
def test_old_ones_that_end_beside_new_ones_on_another_node(pleat, mpi, what):
    """It has ended as they did, and the new ones on both nodes with it; or it goes on from the last copy on both nodes."""
    job, old, stopped, _ = both_stay(pleat, mpi, options=["--save", "10it"] if what == "rank" else [])
    if what == "rank":
        os.kill(old[1][0], signal.SIGKILL)
        os.kill(stopped, signal.SIGCONT)
        wait_until(lambda: not [pid for pids in old.values() for pid in pids if is_alive(pid)], "the old ones have ended")
        begun(pleat, job)
        assert pleat.job(job)["attempt"] == 0 and "its ranks died, and a copy that was saved" in text_of_events(pleat, job)
    else:
        with open(pleat.path("end"), "w", encoding="utf-8"):
            pass
        os.kill(stopped, signal.SIGCONT)
    ends(pleat, job)


@pytest.mark.parametrize("mpi", MPIS)
def test_new_ones_wait_for_the_data_of_their_node(pleat, mpi):
    """On a node whose old ranks have not given the data up new ranks do not begin, though rank 0 has given up its own."""
    divided(pleat, TEXT + "apply_s = 60\n")
    job = submit(pleat, mpi, sizes=(2, 4), options=["--initial", "4"], misbehave="release")
    on(pleat, job, "loop", [2, 2])
    pleat.pleat("limits", job, "--max", 3, check=0)
    wait_until(lambda: os.path.exists(pleat.path("once.held")), "a rank keeps the data")
    time.sleep(0.5)  # for new ones that would not wait
    os.remove(pleat.path("once"))
    on(pleat, job, "loop", [2, 1])
    shown = pleat.job(job)
    assert shown["attempt"] == 0 and resizes(shown) == [(4, 3, "shrunk")], shown
    assert shown["history"]["resizes"][0]["way"] == "relaunch"
    ends(pleat, job)


@pytest.mark.parametrize("mpi", MPIS)
def test_what_old_ones_have_is_not_given_away(pleat, mpi):
    """New ones have taken over, and an old one on the other node does not end: its processor is free when it has."""
    divided(pleat, TEXT + "apply_s = 60\n")
    job = submit(pleat, mpi, sizes=(2, 4), options=["--initial", "4"], misbehave="linger")
    on(pleat, job, "loop", [2, 2])
    old = by_node(pleat, job, "loop")[1]
    pleat.pleat("limits", job, "--max", 3, check=0)
    wait_until(lambda: resizes(pleat.job(job))[-1:] == [(4, 3, "shrunk")] or pleat.job(job)["processes"] == 3, "new ones")
    seen = 0
    while True:
        free = pleat.call("sites")["sites"][0]["free"]
        if not any(is_alive(pid) for pid in old):
            break
        assert free == 0
        seen += 1
    assert seen
    on(pleat, job, "loop", [2, 1])
    wait_until(lambda: pleat.call("sites")["sites"][0]["free"] == 1, "its processor is given back")
    assert pleat.job(job)["attempt"] == 0 and resizes(pleat.job(job)) == [(4, 3, "shrunk")]
    ends(pleat, job)


@pytest.mark.parametrize("mpi", MPIS)
def test_pleatd_is_killed_beside_new_ones_on_another_node(pleat, mpi):
    """Both parts of the job on the node are found again, and each is what it was."""
    job, _, stopped, _ = both_stay(pleat, mpi)
    pleat.kill_daemon()
    wait_until(lambda: all(n["agent"] for n in pleat.call("sites")["sites"][0]["nodes"]), "both agents")
    assert [len(pids) for pids in by_node(pleat, job, "loop").values()] == [4, 3]
    os.kill(stopped, signal.SIGCONT)
    on(pleat, job, "loop", [2, 2])
    shown = pleat.job(job)
    assert shown["attempt"] == 0 and resizes(shown)[-1] == (3, 4, "grown"), shown
    assert shown["history"]["resizes"][-1]["way"] == "relaunch"
    ends(pleat, job)


@pytest.mark.parametrize("rank", [0, 3])
@pytest.mark.parametrize("mpi", MPIS)
def test_not_now_on_one_node(pleat, mpi, rank):
    """While a rank is in a section the size stays on all nodes, and no rank of another one sleeps for long."""
    divided(pleat, "apply_s = 60\nshrink_s = 60\nvacate_s = 60\nlifetime_s = 0\n")
    section = pleat.path("section")
    with open(section, "w", encoding="utf-8"):
        pass
    name = f"test-app-points-{mpi}"
    job = pleat.submit("--min", 3, "--max", 4, "--initial", 4, "--", os.path.join(BUILD, "tests", name),
                       "--until", pleat.path("end"), "--record", pleat.path("record"),
                       "--section", section, "--section-rank", rank)
    begun(pleat, job)
    pleat.pleat("limits", job, "--max", 3, check=0)
    wait_until(lambda: pleat.job(job)["state"] == "resizing", "it is to shrink")
    before = pleat.job(job)["progress"]["iteration"]
    wait_until(lambda: pleat.job(job)["progress"]["iteration"] > before + 100, "it computes meanwhile")
    assert pleat.job(job)["processors"] == 4
    wait_until(lambda: pleat.job(job)["not_now"] == 1 and pleat.job(job)["section"], "that is shown, on whichever node it is")
    assert "1 rank is in a section" in [line for line in pleat.pleat("show", job, check=0).stdout.splitlines() if "not now" in line][0]
    os.remove(section)
    on(pleat, job, name, [2, 1])
    wait_until(lambda: pleat.job(job)["not_now"] == 0, "so is its end")
    ends(pleat, job)


@pytest.mark.parametrize("mpi", MPIS)
def test_checkpoints(pleat, mpi):
    """All ranks write one file: at a wish, and with the end of the program, from which it goes on elsewhere."""
    job = spread(pleat, mpi, sizes=(2, 4))
    path = pleat.path("state")
    pleat.pleat("checkpoint", "--wait", "--to", path, job, check=0)
    before = pleat.job(job)["progress"]["iteration"]
    wait_until(lambda: pleat.job(job)["progress"]["iteration"] > before, "it goes on")
    pleat.pleat("limits", job, "--max", 3, check=0)
    on(pleat, job, "loop", [2, 1])
    pleat.pleat("checkpoint", "--wait", "--stop", "--to", path, job, check=0)
    assert "RESULT" not in pleat.output(job)
    again = submit(pleat, mpi, sizes=(1, 2), options=["--from", path, "--one-node"])
    begun(pleat, again)
    assert pleat.job(again)["progress"]["iteration"] >= before
    ends(pleat, again)


@pytest.mark.parametrize("mpi", MPIS)
def test_pleatd_is_killed_in_changes_of_size(pleat, mpi):
    """Agents agree through it: they wait for the next one, and nobody is left asleep."""
    divided(pleat, "apply_s = 60\nshrink_s = 60\nvacate_s = 60\nlifetime_s = 0\n")
    job = submit(pleat, mpi, sizes=(2, 4), options=["--initial", "2"])
    on(pleat, job, "loop", [2, 2])
    for number in range(4):
        counts = [2, 1] if number % 2 == 0 else [2, 2]
        pleat.pleat("limits", job, "--max", sum(counts), check=0)
        for _ in range(number):  # it comes a bit farther each time
            pleat.call("info")
        pleat.kill_daemon()
        on(pleat, job, "loop", counts)
    assert pleat.job(job)["attempt"] == 0
    ends(pleat, job)


@pytest.mark.parametrize("node", [0, 1])
def test_an_agent_is_killed_in_a_change_of_size(pleat, node):
    """By no fault of its own the job waits again, and ends well in the end."""
    job = spread(pleat, "openmpi", sizes=(2, 4), text="attempts = 9\napply_s = 60\nshrink_s = 60\nlifetime_s = 0\n")
    pid = int(agent_of(by_node(pleat, job, "loop")[node][0]))
    pleat.pleat("limits", job, "--max", 3, check=0)
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_alive(pid), "the agent is gone")
    on(pleat, job, "loop", [2, 1])
    ends(pleat, job)


def test_what_stays_on_one_node(pleat):
    """By its user's wish, by its way of changing its size, or since a relaunch could lose something that its user did not
    leave to Pleat."""
    divided(pleat)
    with open(pleat.path("in"), "w", encoding="utf-8"):
        pass
    for options in (["--one-node"], ["--on-resize", "merge"], ["--env", "PLEAT_SAVE=resize"], ["--no-requeue"],
                    ["--input", pleat.path("in")]):
        refused = pleat.pleat("submit", "--min", 3, "--max", 4, *options, "--", program("loop", "openmpi"), check=None)
        assert refused.returncode == 1 and "must be on one node: the largest has 2" in refused.stderr, (options, refused)
    job = submit(pleat, "openmpi", sizes=(3, 4), options=["--input", pleat.path("in"), "--on-resize", "relaunch"])
    begun(pleat, job)
    assert nodes_of(pleat.job(job)) == {0, 1}
    ends(pleat, job)


def test_a_node_is_enough(pleat):
    """Policies leave a program on one node while there is room, and what they take of another one costs a relaunch, which
    is said."""
    divided(pleat, "malleability = fpsma\napply_s = 60\nlifetime_s = 0\n")
    nap = pleat.submit("-n", 1, "--", "sleep", "1000")
    pleat.wait_for(nap, "running")
    job = submit(pleat, "openmpi", sizes=(1, 2))
    on(pleat, job, "loop", [0, 2])
    pleat.pleat("limits", job, "--max", 3, check=0)
    on(pleat, job, "loop", [1, 2])
    [last] = pleat.job(job)["history"]["resizes"][-1:]
    assert (last["outcome"], last["way"]) == ("grown", "relaunch") and "several nodes" in last["way_reason"], last
    assert "by relaunch (its ranks are, or will be, on several nodes)" in pleat.pleat("events", job, check=0).stdout
    pleat.pleat("cancel", nap, check=0)
    ends(pleat, job)


# where an agent can be while a size changes (src/agent/crash.h), and the old processes end first
STEPS = ("lead post", "part post", "part did post", "lead settle", "part settle", "part did settle", "lead settled",
         "lead saved", "lead again", "part again")
# the same where both nodes have ranks before and after, and the old ranks compute until new ones wait
STAYED = ("part beside", "lead post", "part did settle", "lead saved", "lead go", "part did go", "part goes")


# the same where the node is taken, and where it is left
TAKEN = ("lead saved", "part did go", "lead go", "part go")
LEFT = ("lead settled", "part post", "lead saved", "part did settle")


def killed_at(pleat, mpi, steps, options=()):
    """Each time the job waits again, and begins anew with its new size; nobody is left asleep, and nothing is left behind."""
    crash = pleat.path("crash")
    pleat.env["PLEAT_TEST_AGENT_CRASH"] = crash
    job = spread(pleat, mpi, sizes=(2, 4), options=options, text="attempts = 99\nlifetime_s = 0\n" +
                 "".join(f"{name} = 60\n" for name in ("apply_s", "shrink_s", "vacate_s")))

    def anew():  # what new processes had taken over may be gone on from, on the node that has it
        shown = pleat.job(job)
        return shown["attempt"] + [r[2] for r in resizes(shown)].count("relaunched")
    for step, counts in steps:
        before, was = pleat.job_pids(job), anew()
        with open(crash, "w", encoding="ascii") as file:
            file.write(step)
        pleat.pleat("limits", job, "--max", sum(counts), check=0)
        wait_until(lambda was=was: anew() > was, f"killed at '{step}', it waits again")
        assert not os.path.exists(crash)
        on(pleat, job, "loop", counts)
        assert not [pid for pid in before if is_alive(pid)], step
    ends(pleat, job)


@pytest.mark.parametrize("mpi, steps", [("openmpi", STEPS[::2]), pytest.param("mpich", STEPS[1::2], marks=MPIS[1].marks)])
def test_an_agent_is_killed_at_each_step(pleat, mpi, steps):
    killed_at(pleat, mpi, [(step, [2, 1 + number % 2]) for number, step in enumerate(steps)], ["--on-resize", "restart"])


@pytest.mark.parametrize("mpi, steps", [("openmpi", STAYED[::2]), pytest.param("mpich", STAYED[1::2], marks=MPIS[1].marks)])
def test_an_agent_is_killed_at_a_step_where_both_nodes_stay(pleat, mpi, steps):
    killed_at(pleat, mpi, [(step, [2, 1 + number % 2]) for number, step in enumerate(steps)])


@pytest.mark.parametrize("mpi, first", [("openmpi", 0), pytest.param("mpich", 2, marks=MPIS[1].marks)])
def test_an_agent_is_killed_at_a_step_beside_new_ones(pleat, mpi, first):
    killed_at(pleat, mpi, [step for i in (first, first + 1) for step in ((LEFT[i], [2, 0]), (TAKEN[i], [2, 2]))])


@pytest.mark.parametrize("mpi", MPIS)
def test_an_agent_is_killed_between_two_parts(pleat, mpi):
    """What it kept of the state is lost: the job does not compute on with the other half, but begins anew."""
    job = spread(pleat, mpi, sizes=(2, 4), options=["--on-resize", "restart"],
                 text="attempts = 9\napply_s = 60\nshrink_s = 60\nvacate_s = 60\nlifetime_s = 0\n")
    agent = int(agent_of(by_node(pleat, job, "loop")[1][0]))
    [part] = [pid for pid in pleat.job_pids(job) if node_of(pid) == 1 and words_of(pid) and
              os.path.basename(words_of(pid)[0]) == DAEMON[mpi]]
    pleat.pleat("limits", job, "--max", 3, check=0)
    while is_alive(part):
        pass
    os.kill(agent, signal.SIGKILL)
    wait_until(lambda: pleat.job(job)["attempt"] == 1, "it waits again")
    on(pleat, job, "loop", [2, 1])
    assert "node 1" in text_of_events(pleat, job)
    ends(pleat, job)


@pytest.mark.parametrize("mpi, node", [("openmpi", 1), ("mpich", 0)])
def test_a_rank_dies_between_resizes(pleat, mpi, node):
    """With --save each node has copies of what its ranks have: all ranks go on from the last one."""
    job = spread(pleat, mpi, options=["--save", "10it"])
    at = saved(pleat, job)
    before = by_node(pleat, job, "loop")
    gone = {pid for pids in before.values() for pid in pids}
    os.kill(before[node][-1], signal.SIGKILL)

    def again():
        now = by_node(pleat, job, "loop")
        return len(now[0]) == len(now[1]) == 2 and not gone & {pid for pids in now.values() for pid in pids}
    wait_until(again, "all ranks are others")
    begun(pleat, job)
    saved(pleat, job, at)
    assert pleat.job(job)["attempt"] == 0 and "its ranks died, and a copy that was saved" in text_of_events(pleat, job)
    ends(pleat, job)
