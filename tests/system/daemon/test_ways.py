"""Which way of resizing is taken where the user leaves that open (the choice from figures: tests/unit/way_test.c)."""

import os

from conftest import LOOP, wait_until
from relaunching import LONG, computes, ends_well, submit, text_of_events


def last(pleat, number, count):
    """The count-th resize, when it has ended."""
    def there():
        done = [r for r in pleat.job(number)["history"]["resizes"] if r["outcome"]]
        return done[count - 1] if len(done) >= count else None
    return wait_until(there, f"resize {count} of job {number}")


def resize(pleat, number, count, to):
    before = pleat.job(number)["processors"]
    pleat.pleat("grow" if to > before else "shrink", number, abs(to - before), check=0)
    done = last(pleat, number, count)
    assert done["outcome"] == ("grown" if to > before else "shrunk"), done
    computes(pleat, number, to)
    return done["way"], done["way_reason"]


def test_both_ways_are_tried(pleat):
    """And an earlier job of the same program is learned from, also by another pleatd."""
    pleat.configure(LONG)
    number = submit(pleat, "openmpi", sizes=(2, 4), options=["--initial", "4"])
    computes(pleat, number, 4)
    assert resize(pleat, number, 1, 2) == ("merge", "to measure what it takes")
    assert resize(pleat, number, 2, 4) == ("merge", "to measure what it takes")
    assert resize(pleat, number, 3, 2) == ("relaunch", "to measure what it takes")
    pleat.kill_daemon()
    assert resize(pleat, number, 4, 4) == ("relaunch", "to measure what it takes")
    shown = pleat.pleat("show", number, check=0).stdout
    assert "WAY" in shown and shown.count("relaunch ") == 2 and shown.count("merge ") == 2, shown
    said = pleat.pleat("events", number, check=0).stdout
    assert "by relaunch (to measure what it takes)" in said, said
    ends_well(pleat, number)
    os.unlink(pleat.path("end"))
    second = submit(pleat, "openmpi", sizes=(2, 4), options=["--initial", "4"])
    computes(pleat, second, 4)
    assert resize(pleat, second, 1, 2)[0] == "merge"
    assert resize(pleat, second, 2, 4)[0] == "merge"
    assert resize(pleat, second, 3, 2)[0] == "relaunch"
    assert resize(pleat, second, 4, 4)[0] == "relaunch"
    way, reason = resize(pleat, second, 5, 2)  # whichever took less
    assert way in ("merge", "relaunch") and " ms against " in reason
    ends_well(pleat, second)


def test_a_way_that_fails_is_followed_by_the_other(pleat):
    """New processes that do not come up beside the old ones: the ranks merge, in the same resize."""
    pleat.configure(LONG)
    wrapper = f'if [ -e "{pleat.path("broken")}" ]; then exit 7; fi; exec {LOOP} --pause 10 --until {pleat.path("end")}'
    number = pleat.submit("--min", 2, "--max", 4, "--initial", 4, "--runner", "malleable", "--mpi", "openmpi",
                          "--", "sh", "-c", wrapper)
    computes(pleat, number, 4)
    assert resize(pleat, number, 1, 2) == ("merge", "to measure what it takes")
    assert resize(pleat, number, 2, 4) == ("merge", "to measure what it takes")
    open(pleat.path("broken"), "w", encoding="utf-8").close()
    assert resize(pleat, number, 3, 2) == ("merge", "to measure what it takes")  # it was to be a relaunch
    assert "its new processes did not come up: they ended with exit code 7" in text_of_events(pleat, number)
    assert resize(pleat, number, 4, 4) == ("merge", "the other way failed")
    os.unlink(pleat.path("broken"))
    assert resize(pleat, number, 5, 2) == ("relaunch", "to measure what it takes")
    ends_well(pleat, number)
