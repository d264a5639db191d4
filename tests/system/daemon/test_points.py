"""A program with adaptation points in an inner and an outer loop, resized at either of them."""

import os
import time

import pytest

from conftest import BUILD, wait_until
from relaunching import LONG, MPIS, computes, each_mpi, ends_well, resizes, text_of_events

WAYS = each_mpi([("merge", "inner"), ("merge", "outer"), ("relaunch", "inner"), ("relaunch", "outer"),
                 ("restart", "inner")], [(("merge", "inner"), "mpich"), (("merge", "outer"), "mpich")])


def program(mpi):
    return os.path.join(BUILD, "tests", f"test-app-points-{mpi}")


def submit(pleat, mpi, *args, options=()):
    return pleat.submit("--min", 1, "--max", 4, "--initial", 2, *options, "--",
                        program(mpi), "--until", pleat.path("end"),
                        "--record", pleat.path("record"), *args)


def record(pleat):
    with open(pleat.path("record"), encoding="utf-8") as file:
        return file.read().splitlines()


@pytest.mark.parametrize("how, mpi", WAYS)
def test_resized_at_a_point(pleat, how, mpi):
    """Ranks that stay, join, or are started again all know where they go on; each round is done once."""
    way, point = how
    pleat.configure(LONG)
    number = submit(pleat, mpi, "--resize", point, options=["--on-resize", way])
    computes(pleat, number, 4)
    pleat.pleat("shrink", number, 2, check=0)
    computes(pleat, number, 2)
    ends_well(pleat, number)
    expected = ([f"JOINED at {point} on 4"] * 2 + [f"CHANGED at {point} on 4"] * 2 +
                [f"CHANGED at {point} on 2"] * 2 + [f"LEFT at {point}"] * 2 if way == "merge" else
                [f"LEFT at {point}"] * 6 + [f"JOINED at {point} on 4"] * 4 + [f"JOINED at {point} on 2"] * 2)
    assert sorted(record(pleat)) == sorted(expected)


@pytest.mark.parametrize("mpi", MPIS)
def test_points_are_shown_and_saved(pleat, mpi):
    """Both points count; ranks that die go on at the point of the last copy, inner or outer."""
    pleat.configure(LONG)
    number = submit(pleat, mpi, options=["--save", "3it", "--max", "2"])
    wait_until(lambda: (pleat.job(number)["saved"] or {"iteration": 0})["iteration"] > 5, "it saves copies")
    points = {point["name"]: point for point in pleat.job(number)["points"]}
    assert [points[name]["resizes"] for name in ("outer", "inner", "cell")] == [True, True, False]
    assert points["inner"]["passed"] > points["outer"]["passed"] > 0
    expects = pleat.job(number)["expects"]
    assert expects["bytes"] == 4000000 and expects["end_s"] > time.time() + 60, expects
    assert "a resize moves 4.0 MB (its program says)" in pleat.pleat("show", number, check=0).stdout
    assert "inner passed " in pleat.pleat("show", number, check=0).stdout
    waiting = pleat.submit("-n", pleat.call("sites")["sites"][0]["processors"], "--", "true")
    wait_until(lambda: [holder["expected_by"] for holder in pleat.call("why", job=waiting)["waiting"]["holders"]]
               == ["program"], "why counts with what it expects")
    holder, = pleat.call("why", job=waiting)["waiting"]["holders"]
    assert holder["expected_end_s"] > time.time() + 60, holder
    row = pleat.call("forecast")["forecasts"][-1]
    assert row["job"] == waiting and row["start_s"] > time.time() + 60, row
    assert "as its program says until " in pleat.pleat("why", waiting, check=0).stdout
    pleat.pleat("cancel", waiting, check=0)
    os.kill(pleat.rank_pids(number, program(mpi))[0], 9)
    wait_until(lambda: len(record(pleat)) == 2, "it goes on")
    assert record(pleat)[0] == record(pleat)[1] and record(pleat)[0].startswith("JOINED at ")
    ends_well(pleat, number)


def test_ranks_at_different_points(pleat):
    """The change is refused, both points are named, and the program goes on as it was."""
    pleat.configure(LONG)
    number = submit(pleat, "openmpi", "--apart", options=["--on-resize", "merge"])
    wait_until(lambda: resizes(pleat.job(number)) == [(2, 4, "application failed")], "it is refused")
    wait_until(lambda: "ranks are at different adaptation points" in text_of_events(pleat, number), "it is said")
    ends_well(pleat, number)
    assert record(pleat) == []
