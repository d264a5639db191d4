"""A program asks for more processors, or gives some back (`pleat_session_ask`, `pleat_session_give_back`)."""

import os
import re
import signal

import pytest

from conftest import wait_until
from relaunching import LONG, MPIS, computes, each_mpi, ends_well, resizes, submit

QUIET = LONG + "\nmalleability = none"  # only those that ask grow


class Asker:
    """A job of the program `loop`, which asks for what the test says."""

    def __init__(self, pleat, mpi, sizes, initial, options=()):
        self.pleat, self.asked = pleat, 0
        self.number = submit(pleat, mpi, sizes=sizes, options=["--initial", str(initial), *options],
                             args=["--pause", "10", "--until", pleat.path("end"), "--ask", pleat.path("ask")])
        computes(pleat, self.number, initial)

    def ask(self, word, count):
        """Replaced as a whole, as the program reads it at any moment."""
        self.asked += 1
        with open(self.pleat.path("ask.new"), "w", encoding="utf-8") as file:
            file.write(f"{self.asked} {word} {count}\n")
        os.rename(self.pleat.path("ask.new"), self.pleat.path("ask"))

    def answers(self, word, size):
        """Waits for the program's answer to the latest; returns its reason."""
        pattern = re.compile(rf"ANSWER {self.asked} (\w+) on (\d+): (.*)")
        found = wait_until(lambda: pattern.findall(self.pleat.output(self.number)), f"answer {self.asked}")
        state, on, why = found[-1]
        assert (state, int(on)) == (word, size), found
        return why

    def state(self):
        return (self.pleat.job(self.number)["asked"] or {}).get("state")

    def wait_pending(self):
        wait_until(lambda: self.state() == "pending", "the ask to be known")


@pytest.mark.parametrize("mpi", MPIS)
def test_asks_and_gives_back(pleat, mpi):
    pleat.configure(QUIET)
    job = Asker(pleat, mpi, (1, 6), 2)
    job.ask("ask", 2)
    assert job.answers("granted", 4) == ""
    job.ask("back", 1)
    assert job.answers("granted", 3) == ""
    job.ask("ask", 9)
    assert "12 processors: its limits are 1 to " in job.answers("refused", 3)
    job.ask("back", 2)
    assert job.answers("granted", 1) == ""
    assert pleat.job(job.number)["asked"] == {"processors": 1, "state": "granted", "mandatory": False, "unbegun": False, "reason": None,
                                               "coming": 0, "until_s": None}
    asked = [e for e in pleat.call("events", job=job.number, after=0, limit=1000)["events"] if e["kind"] == "asked"]
    assert [e["state"] for e in asked] == ["pending", "granted", "pending", "granted", "pending", "refused",
                                           "pending", "granted"], asked
    assert resizes(ends_well(pleat, job.number)) == [(2, 4, "grown"), (4, 3, "shrunk"), (3, 1, "shrunk")]


@pytest.mark.parametrize("mpi", MPIS)
def test_others_have_the_processors(pleat, mpi):
    """A voluntary ask is refused; a mandatory one waits, also for the next pleatd, and is granted when they are free."""
    pleat.configure(QUIET)
    other = pleat.submit("-n", 6, "--", "sleep", "1000")
    job = Asker(pleat, mpi, (1, 6), 2)
    job.ask("ask", 1)
    assert "1 more processors: 0 of 8 are idle" in job.answers("refused", 2)
    job.ask("must", 3)
    job.wait_pending()
    shown = pleat.pleat("show", job.number, check=0).stdout
    assert "asks for 5 processors, and cannot go on without them" in shown, shown
    why = pleat.pleat("why", job.number, check=0).stdout
    assert "asks for 5 processors" in why, why
    pleat.kill_daemon()
    assert pleat.job(job.number)["asked"]["state"] == "pending"
    pleat.pleat("cancel", other, check=0)
    assert job.answers("granted", 5) == ""
    ends_well(pleat, job.number)


@pytest.mark.parametrize("mpi", MPIS)
def test_it_does_not_wait_for_ever(pleat, mpi):
    """The time that it gave is over, also where pleatd was not there; it goes on with what it has."""
    pleat.configure(QUIET)
    other = pleat.submit("-n", 6, "--", "sleep", "1000")
    job = Asker(pleat, mpi, (1, 6), 2)
    job.ask("soon", 3)
    assert job.answers("refused", 2) == "5 processors: not within the time that it gave"
    job.ask("must", 3)
    job.wait_pending()
    job.ask("soon", 2)
    assert job.answers("refused", 2) == "4 processors: not within the time that it gave"
    pleat.pleat("cancel", other, check=0)
    pleat.wait_end(other)
    job.ask("soon", 2)
    assert job.answers("granted", 4) == ""
    ends_well(pleat, job.number)


@pytest.mark.parametrize("mpi", MPIS)
def test_asks_anew(pleat, mpi):
    """What was asked for before is withdrawn; and a job that gave some back is not grown until it asks."""
    pleat.configure(LONG)
    job = Asker(pleat, mpi, (1, 8), 8)
    job.ask("back", 6)
    assert job.answers("granted", 2) == ""
    other = pleat.submit("-n", 6, "--", "sleep", "1000")
    wait_until(lambda: pleat.job(other)["state"] == "running", "the other job")
    job.ask("must", 2)
    job.wait_pending()
    job.ask("ask", 0)
    wait_until(lambda: job.state() is None, "the ask to be withdrawn")
    job.ask("must", 1)
    job.wait_pending()
    pleat.kill_daemon()
    job.ask("back", 1)  # there is none to hear it
    pleat.job(job.number)  # which starts one
    assert job.answers("granted", 1) == ""
    pleat.pleat("cancel", other, check=0)
    job.ask("ask", 0)  # it may be grown again
    computes(pleat, job.number, 8)
    ends_well(pleat, job.number)


@pytest.mark.parametrize("way, mpi", each_mpi(["merge", "relaunch", "restart"], [("merge", "mpich")]))
def test_pending_over_a_shrink(pleat, way, mpi):
    """A shrink for a waiting job crosses the ask. It is pending all the same, also in a program that is started again."""
    pleat.configure(LONG)
    other = pleat.submit("-n", 4, "--", "sleep", "1000")
    job = Asker(pleat, mpi, (2, 6), 4, ["--on-resize", way])
    job.ask("must", 2)
    job.wait_pending()
    waiting = pleat.submit("-n", 2, "--", "sleep", "1000")
    computes(pleat, job.number, 2)
    wait_until(lambda: pleat.job(waiting)["state"] == "running", "the job that waited")
    assert job.state() == "pending"
    pleat.kill_daemon()
    assert job.state() == "pending"
    pleat.pleat("cancel", other, check=0)
    assert job.answers("granted", 6) == ""
    pleat.pleat("cancel", waiting, check=0)
    assert resizes(ends_well(pleat, job.number)) == [(4, 2, "shrunk"), (2, 6, "grown")]


@pytest.mark.parametrize("mpi", MPIS)
def test_agent_is_killed_while_it_asks(pleat, mpi):
    """What the job asked for ends with its run. The next one asks by itself."""
    pleat.configure(QUIET)
    other = pleat.submit("-n", 6, "--", "sleep", "1000")
    job = Asker(pleat, mpi, (1, 6), 2)
    job.ask("must", 2)
    job.wait_pending()
    os.remove(pleat.path("ask"))
    os.kill(pleat.agent_pid(), signal.SIGKILL)
    wait_until(lambda: pleat.job(job.number)["attempt"] == 1, "it is begun again")
    computes(pleat, job.number, 2)
    wait_until(lambda: pleat.job(other)["state"] == "running", "the other job, too")
    assert job.state() is None
    job.ask("must", 3)
    job.wait_pending()
    pleat.pleat("cancel", other, check=0)
    assert job.answers("granted", 5) == ""
    ends_well(pleat, job.number)


@pytest.mark.parametrize("mpi", MPIS)
def test_others_shrink_for_it(pleat, mpi):
    """The policy `need` takes from others what a program cannot go on without; they are told, and shown, for whom."""
    pleat.configure(LONG + "\nneed = mandatory\nmalleability = fpsma")
    other = submit(pleat, mpi, sizes=(2, 6), options=["--initial", "6"])
    computes(pleat, other, 6)
    job = Asker(pleat, mpi, (1, 5), 2)
    job.ask("must", 3)
    assert job.answers("granted", 5) == ""
    computes(pleat, other, 3)
    shown = pleat.pleat("show", other, check=0).stdout
    assert f"for job {job.number}" in shown, shown
    assert pleat.job(other)["credit"] == 0  # it had to
    job.ask("must", 0)
    open(pleat.path("end"), "w", encoding="utf-8").close()
    assert resizes(pleat.wait_end(job.number)) == [(2, 5, "grown")]
    assert resizes(pleat.wait_end(other))[0] == (6, 3, "shrunk")


def test_others_are_asked_to_shrink(pleat):
    """One that gives some up though it could refuse has a credit of as many, and grows first with the policy `reward`."""
    pleat.configure(LONG + "\nneed = voluntary\nreward = grow-first\nmalleability = fpsma")
    other = submit(pleat, "openmpi", sizes=(2, 6), options=["--initial", "6", "--on-resize", "merge"])
    computes(pleat, other, 6)
    job = Asker(pleat, "openmpi", (1, 5), 2, ["--on-resize", "merge"])
    job.ask("must", 3)
    assert job.answers("granted", 5) == ""
    assert pleat.job(other)["credit"] == 3
    assert "3 processors that it gave up" in pleat.pleat("show", other, check=0).stdout
    assert "it gave up 3 processors" in pleat.pleat("why", other, check=0).stdout
    pleat.kill_daemon()
    assert pleat.job(other)["credit"] == 3
    job.ask("back", 3)
    assert job.answers("granted", 2) == ""
    computes(pleat, other, 6)
    assert pleat.job(other)["credit"] == 0
    open(pleat.path("end"), "w", encoding="utf-8").close()
    assert resizes(pleat.wait_end(other)) == [(6, 3, "shrunk"), (3, 6, "grown")]
