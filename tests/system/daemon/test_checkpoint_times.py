"""Checkpoints that are written by themselves: at intervals, and before the time limit, once for each moment, also where
pleatd is killed before, at and after it."""

import json
import os
import re
import signal

import pytest

from conftest import wait_until
from relaunching import LONG, MPIS, computes, ends_well, program, submit

HEAT = ("--n", "100", "--iterations", "400")


def notes(pleat, number):
    events = pleat.call("events", job=number, after=0, limit=1000)["events"]
    return [event for event in events if event["kind"] == "checkpoint"]


def shown(pleat, path):
    return json.loads(pleat.pleat("checkpoint", "--verify", path, "--json", check=0).stdout)


def files(pleat, directory="."):
    return sorted(name for name in os.listdir(pleat.path(directory)) if "checkpoint" in name)


def agent_is_back(pleat, number):
    """It tells of the job's progress: a pleatd that has just started knows none."""
    wait_until(lambda: pleat.job(number)["progress"], "its agent is there again")


def test_every_so_often(pleat):
    """The newest two are kept, and each moment is once in the log, whatever happens to pleatd."""
    pleat.configure(LONG)
    os.mkdir(pleat.path("there"))
    number = submit(pleat, "openmpi", sizes=(2, 2),
                    options=["--malleable", "--checkpoint-every", "1s", "--checkpoint-dir", "there"])
    computes(pleat, number, 2)
    for count in (1, 2, 4):
        wait_until(lambda: len(notes(pleat, number)) >= count, f"{count} were written")
        pleat.kill_daemon()
    wait_until(lambda: len(notes(pleat, number)) >= 5, "5 were written")
    agent_is_back(pleat, number)
    pleat.pleat("checkpoint", "--wait", number, check=0)  # one that somebody asks for does not count among them
    assert "checkpoints" in pleat.pleat("show", number, check=0).stdout
    pleat.pleat("cancel", number, check=0)
    start = pleat.wait_end(number)["start_s"]
    every = [note for note in notes(pleat, number) if "there" in (note["path"] or "")]
    written = [note for note in every if "text" not in note]  # the last may be one that the end has prevented
    assert len(every) - len(written) <= 1, every
    moments = [note["checkpoint"] for note in every]
    assert len(set(moments)) == len(moments) and moments == sorted(moments)
    assert all((moment - round(start * 1e6)) % 1000000 == 0 for moment in moments), (start, moments)
    assert files(pleat, "there") == [f"pleat-{number}.1.checkpoint", f"pleat-{number}.2.checkpoint"]
    newest = {os.path.basename(note["path"]): note["iteration"] for note in written[-2:]}
    assert {name: shown(pleat, pleat.path("there/" + name))["iteration"] for name in newest} == newest
    assert len(newest) == 2


def test_before_the_limit_it_stops(pleat):
    """The moment has passed while no pleatd was there; the job goes on from the file, to the same bits."""
    pleat.configure(LONG)
    whole = pleat.submit("--malleable", "-n", 2, "--", program("heat", "openmpi"), *HEAT)
    assert pleat.wait_end(whole)["state"] == "done"
    number = pleat.submit("--malleable", "-n", 2, "--time-limit", "1000s", "--checkpoint-before-limit", "998.5s", "--",
                          program("heat", "openmpi"), *HEAT, "--pause", "20")
    computes(pleat, number, 2)
    pleat.kill_daemon()
    job = pleat.wait_end(number)
    path = pleat.path(f"pleat-{number}.checkpoint")
    assert job["state"] == "cancelled" and f"--from {path}" in job["text"], job
    assert len(notes(pleat, number)) == 1 and shown(pleat, path)["verified"]
    again = pleat.submit("--malleable", "-n", 3, "--from", path, "--", program("heat", "openmpi"), *HEAT)
    assert pleat.wait_end(again)["state"] == "done", pleat.output(again, "stderr")
    results = [pleat.output(one).split("bits=")[1].split()[0] for one in (whole, again)]
    assert results[0] == results[1]


def test_before_the_limit_it_goes_on(pleat):
    """Once for each limit: a later limit, given meanwhile, is another moment."""
    pleat.configure(LONG)
    number = submit(pleat, "openmpi", sizes=(2, 2),
                    options=["--malleable", "--time-limit", "1000s", "--checkpoint-before-limit", "999.5s",
                             "--checkpoint-then", "go-on"])
    wait_until(lambda: notes(pleat, number), "it was written")
    pleat.kill_daemon()
    agent_is_back(pleat, number)
    pleat.pleat("checkpoint", "--wait", "--to", pleat.path("own"), number, check=0)
    assert len(notes(pleat, number)) == 2
    # its moment is later than that of any other checkpoint, however slow the machine is
    pleat.pleat("set", number, "--time-limit", f"{pleat.job(number)['run_s'] + 1001.5:.1f}s", check=0)
    wait_until(lambda: len(notes(pleat, number)) == 3, "another one was written")
    assert not any(note["stop"] or "text" in note for note in notes(pleat, number))
    open(pleat.path("end"), "w", encoding="utf-8").close()
    assert pleat.wait_end(number)["state"] == "done"
    assert files(pleat) == [f"pleat-{number}.checkpoint"]


@pytest.mark.parametrize("mpi", MPIS)
def test_asked_for_by_a_signal(pleat, mpi):
    """To all ranks at the same time: one checkpoint; to one rank later: one more."""
    pleat.configure(LONG)
    number = submit(pleat, mpi, sizes=(2, 2), options=["--malleable", "--checkpoint-signal", "USR2"])
    computes(pleat, number, 2)
    ranks = pleat.rank_pids(number, program("loop", mpi))
    assert len(ranks) == 2
    pleat.kill_daemon()
    for count in (1, 2):
        for pid in ranks[count - 1:]:
            os.kill(pid, signal.SIGUSR2)
        wait_until(lambda: len(notes(pleat, number)) >= count, f"{count} were written")
    assert [note["stop"] for note in notes(pleat, number)] == [False] * 2, notes(pleat, number)
    assert shown(pleat, pleat.path(f"pleat-{number}.checkpoint"))["verified"]
    open(pleat.path("end"), "w", encoding="utf-8").close()
    assert pleat.wait_end(number)["state"] == "done"


@pytest.mark.parametrize("mpi", MPIS)
def test_a_signal_while_one_is_written(pleat, mpi):
    """What is written is from before the signal: another one is, under the name that the signal's has."""
    pleat.configure(LONG)
    number = submit(pleat, mpi, sizes=(2, 2), misbehave="hold", once=False,
                    options=["--malleable", "--checkpoint-signal", "USR2"])
    computes(pleat, number, 2)
    once, own = pleat.path("once"), pleat.path("own")
    open(once, "w", encoding="utf-8").close()
    pleat.pleat("checkpoint", "--to", own, number, check=0)
    wait_until(lambda: os.path.exists(once + ".held"), "its ranks write")
    assert notes(pleat, number) == []
    os.kill(pleat.rank_pids(number, program("loop", mpi))[0], signal.SIGUSR2)
    os.unlink(once)
    wait_until(lambda: len(notes(pleat, number)) >= 2, "both were written")
    first, second = notes(pleat, number)
    assert first["path"] == own and second["path"] == pleat.path(f"pleat-{number}.checkpoint")
    assert second["iteration"] > first["iteration"]
    assert shown(pleat, own)["verified"] and shown(pleat, second["path"])["verified"]
    open(pleat.path("end"), "w", encoding="utf-8").close()
    assert pleat.wait_end(number)["state"] == "done"
    assert len(notes(pleat, number)) == 2


def test_one_that_cannot_be_written(pleat):
    """That is noted, the job goes on, and the next moment is tried again."""
    pleat.configure(LONG)
    os.mkdir(pleat.path("there"))
    number = submit(pleat, "openmpi", sizes=(2, 2), misbehave="damage", once=False, name="heat",
                    args=["--n", "100", "--iterations", "100000", "--pause", "5"],
                    options=["--malleable", "--checkpoint-every", "1s", "--checkpoint-dir", "there", "--checkpoint-keep", 1])
    wait_until(lambda: notes(pleat, number), "one was written")
    os.rename(pleat.path("there"), pleat.path("gone"))
    wait_until(lambda: any("text" in note for note in notes(pleat, number)), "one was not written")
    path = pleat.path(f"there/pleat-{number}.1.checkpoint")
    assert shown(pleat, path.replace("there", "gone"))["verified"]
    count = len(notes(pleat, number))
    os.rename(pleat.path("gone"), pleat.path("there"))
    wait_until(lambda: any("text" not in note for note in notes(pleat, number)[count:]), "the next ones are written")
    open(pleat.path("once"), "w", encoding="utf-8").close()  # the disk damages the next one
    wait_until(lambda: any("damaged" in note.get("text", "") for note in notes(pleat, number)), "that was noticed")
    assert shown(pleat, path)["verified"]  # what had the name before it is there, whole
    pleat.pleat("cancel", number, check=0)
    pleat.wait_end(number)


def test_what_makes_no_sense(pleat):
    pleat.configure(LONG)
    for words, why in ((("--checkpoint-every", "0.5s"), "once a second"), (("--checkpoint-keep", "3"), "are for"),
                       (("--checkpoint-every", "10"), "10 what"), (("--checkpoint-every", "1h", "--checkpoint-keep", "0"), "keep"),
                       (("--time-limit", "60s", "--checkpoint-before-limit", "2min"), "before the job"),
                       (("--checkpoint-every", "1h", "--checkpoint-dir", "/no/such"), "no directory"),
                       (("--checkpoint-before-limit", "1h", "--checkpoint-then", "sleep"), "then"),
                       (("--checkpoint-signal", "HUP"), "USR1"),
                       (("--checkpoint-every", "1h", "--runner", "mpi"), "libpleat")):
        done = pleat.pleat("submit", "-n", 2, "--malleable", *words, "--", program("heat", "openmpi"))
        assert done.returncode in (1, 2) and why in done.stderr, (words, done.stderr)


def test_who_is_started_again_goes_on_from_it(pleat):
    """As when its node is lost. When its user requeues it, or the file is gone, it begins anew."""
    pleat.configure(LONG + "\nattempts = 9")
    number = submit(pleat, "openmpi", sizes=(2, 2), options=["--malleable"])

    def written():
        pleat.pleat("checkpoint", "--wait", number, check=0)
        return notes(pleat, number)[-1]

    def started_after(end):
        before = pleat.job(number)["start_s"]
        end()
        wait_until(lambda: (pleat.job(number)["start_s"] or before) > before, "it is started again")
        computes(pleat, number, 2)
        return [event["text"] for event in pleat.call("events", job=number, after=0, limit=1000)["events"]
                if "its checkpoint of iteration" in (event.get("text") or "")]

    def lose_the_agent():
        os.kill(pleat.agent_pid(), signal.SIGKILL)

    computes(pleat, number, 2)
    note = written()
    told = [f"it goes on from its checkpoint of iteration {note['iteration']}, {note['path']}"]
    assert started_after(lose_the_agent) == told
    assert started_after(lambda: pleat.pleat("requeue", number, check=0)) == told
    note = written()
    os.unlink(note["path"])
    told += [f"it begins anew: its checkpoint of iteration {note['iteration']}, {note['path']}, is not there"]
    assert started_after(lose_the_agent) == told
    wait_until(lambda: pleat.job(number)["progress"]["iteration"] > 100, "it has computed for a while")
    note = written()
    told += [f"it goes on from its checkpoint of iteration {note['iteration']}, {note['path']}"]
    assert started_after(lose_the_agent) == told
    ends_well(pleat, number)  # soon: the iterations before are those of the checkpoint
    assert int(re.search(r"iterations=(\d+)", pleat.output(number)).group(1)) >= note["iteration"]
    assert pleat.job(number)["attempt"] == 3
