"""A program asks for more processors, or gives some back (`pleat_session_ask`, `pleat_session_give_back`)."""

import os
import re

import pytest

from conftest import wait_until
from relaunching import LONG, MPIS, computes, ends_well, resizes, submit

QUIET = LONG + "\nmalleability = none"  # only those that ask grow


class Asker:
    """A job of the program `loop`, which asks for what the test says."""

    def __init__(self, pleat, mpi, sizes, initial, options=()):
        self.pleat, self.asked = pleat, 0
        self.number = submit(pleat, mpi, sizes=sizes, options=["--initial", str(initial), *options],
                             args=["--pause", "2", "--until", pleat.path("end"), "--ask", pleat.path("ask")])
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
    assert pleat.job(job.number)["asked"] == {"processors": 1, "state": "granted", "mandatory": False, "reason": None,
                                               "coming": 0}
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
