"""Sweet spots that are learned, with a real application: few steps, the curve that is shown, the reason
that `why` gives, and a second run of the same program that knows it all from the start."""

import json
import os
import re

from conftest import BUILD, LOOP, wait_until

JACOBI2D = os.path.join(BUILD, "examples", "openmpi", "jacobi2d")

# milliseconds of an iteration on 1, 2, 3 and 4 ranks: two are the sweet spot
PAUSES = "200,110,210,210"


def sizes(pleat, number):
    """Sizes that it has had, as far as resizes went well."""
    found = [resize for resize in pleat.job(number)["history"]["resizes"]
             if resize["outcome"] in ("grown", "shrunk")]
    return [found[0]["from"]] + [resize["to"] for resize in found] if found else []


def start(pleat, until, *options):
    return pleat.submit("--min", 1, "--max", 4, "--initial", 1, "--sizes", "powers", *options, "--", LOOP,
                        "--until", until, "--iterations", "1000000000", "--pauses", PAUSES)


def end(pleat, until, number):
    with open(until, "w", encoding="ascii"):
        pass
    assert pleat.wait_end(number)["state"] == "done"


def known(pleat, name="*"):
    return json.loads(pleat.pleat("history", "--program", name, "--json").stdout)["programs"]


def test_learned_and_remembered(pleat):
    pleat.configure("approach = remap-idle\nmalleability = sweet-spot-learned")
    first, second = pleat.path("first"), pleat.path("second")
    number = start(pleat, first, "--program", "the loop")
    # at most four times as many are tried at once; that is too many, and two are where the law points
    wait_until(lambda: sizes(pleat, number) == [1, 4, 2], "to 4, and back to 2")
    wait_until(lambda: [time["measured"] or 0 for time in pleat.job(number)["times"]
                        if time["processors"] == 2 and time["measured"] > 3], "it has measured that")
    job = pleat.job(number)
    assert [time["processors"] for time in job["times"]] == [1, 2, 4]
    assert job["curve"]["spot"] == 2 and job["curve"]["metric"] == "time"
    shown = pleat.pleat("show", number, check=0).stdout
    assert re.search(r"^curve .*; sweet spot \(time, 1 %\): 2$", shown, re.M), shown
    assert re.search(r"^ +2 \* \S+ .*$", shown, re.M), shown
    # the lists of points, from what was measured
    point, = job["curve"]["shrink_points"]
    assert (point["processors"], point["frees"]) == (1, 1) and point["longer"] > 0.2, point
    point, = job["curve"]["expand_points"]
    assert (point["processors"], point["takes"]) == (4, 2) and point["shorter"] < -0.2, point
    # it stays, and says why
    why = json.loads(pleat.pleat("why", number, "--json").stdout)["size"]
    assert why["code"] == "policy" and why["spot"]["advice"] == "little", why
    assert re.search(r"4 processors would make its iterations [0-9e+.]+ % longer, less than the (5|10) % wanted",
                     pleat.pleat("why", number).stdout)
    end(pleat, first, number)
    # what it measured is kept, by the name that its user gave the program
    kept, = known(pleat, "the l*")
    assert kept["program"] == "the loop" and kept["iterations"] > 3
    assert [size["processors"] for size in kept["sizes"]] == [1, 2, 4]
    assert [(point["from"], point["processors"]) for point in kept["shrink_points"]] == [(4, 2), (2, 1)]
    assert [(point["from"], point["processors"]) for point in kept["expand_points"]] == [(1, 2), (2, 4)]
    listed = pleat.pleat("history", "--program", "*").stdout
    assert "the loop" in listed and re.search(r"GAIN.*\n.*\n.* [2-9]\d\.\d %.*\n.* -\d+\.\d %", listed), listed
    # and the next run of it goes where that points
    number = start(pleat, second, "--program", "the loop")
    wait_until(lambda: sizes(pleat, number)[:2] == [1, 2], "straight to 2")
    assert any(size["earlier"] for size in pleat.job(number)["curve"]["sizes"])
    end(pleat, second, number)
    assert sizes(pleat, number) == [1, 2]
    pleat.pleat("stop", check=0)
    pleat.connection = None
    said = pleat.pleat("sim", "--replay", pleat.log, check=0).stdout
    assert "the same" in said and re.search(r"^decisions +[1-9]", said, re.M), said
    # it is in the store, until it is cleared
    assert [program["program"] for program in known(pleat)] == ["the loop"]
    assert "1 forgotten" in pleat.pleat("history", "--program", "the loop", "--clear").stdout
    assert known(pleat) == []
    pleat.pleat("stop", check=0)
    pleat.connection = None
    assert known(pleat) == []
    # without a name it is the command line that says which program it is
    number = pleat.submit("-n", 1, "--malleable", "--", LOOP, "--iterations", 12, "--pauses", "100")
    assert pleat.wait_end(number)["state"] == "done"
    assert [program["program"] for program in known(pleat)] == [f"{LOOP} --iterations 12 --pauses 100"]


def test_started_at_the_sweet_spot(pleat):
    pleat.configure("approach = remap-idle\nmalleability = sweet-spot-learned\nmoldability = sweet-spot-learned")
    until = pleat.path("until")

    def started(number):
        decision, = [told for told in json.loads(pleat.pleat("why", number, "--json").stdout)["decisions"]
                     if told["what"] == "started"]
        return decision["processors"], decision["learned"]

    number = start(pleat, until, "--program", "the loop")
    # one that waits for its end, so that all it can know of it comes while it waits
    waits = pleat.submit("--moldable", "--min", 1, "--max", 4, "--program", "the loop", "--dependency", f"afterany:{number}", "--",
                         LOOP, "--iterations", 3, "--pauses", PAUSES)
    wait_until(lambda: sizes(pleat, number) == [1, 4, 2], "to 4, and back to 2")
    wait_until(lambda: [time["measured"] or 0 for time in pleat.job(number)["times"]
                        if time["processors"] == 2 and time["measured"] > 3], "it has measured that")
    assert started(number) == (1, {"sizes": 0, "spot": None})
    end(pleat, until, number)
    assert pleat.wait_end(waits)["state"] == "done"
    assert started(waits) == (2, {"sizes": 3, "spot": 2})
    assert re.search(r"started on 2 processors: its turn by fcfs, its size by sweet-spot-learned \(its sweet spot is 2, "
                     r"as measured before on 3 sizes\)", pleat.pleat("why", waits).stdout)
    # a malleable one, submitted later; one of another program; and what its user has had forgotten
    others = ["--min", 1, "--max", 4, "--program"]
    command = ["--", LOOP, "--iterations", 3, "--pauses", PAUSES]
    malleable = pleat.submit("--malleable", *others, "the loop", *command)
    assert pleat.wait_end(malleable)["state"] == "done"
    assert started(malleable)[0] == 2
    unknown = pleat.submit("--moldable", *others, "another", *command)
    assert pleat.wait_end(unknown)["state"] == "done"
    assert started(unknown) == (4, {"sizes": 0, "spot": None})
    assert "no size an iteration" in pleat.pleat("why", unknown).stdout
    pleat.pleat("history", "--program", "the loop", "--clear")
    cleared = pleat.submit("--moldable", *others, "the loop", *command)
    assert pleat.wait_end(cleared)["state"] == "done"
    assert started(cleared) == (4, {"sizes": 0, "spot": None})
    pleat.pleat("stop", check=0)
    pleat.connection = None
    said = pleat.pleat("sim", "--replay", pleat.log, check=0).stdout
    assert "the same" in said and re.search(r"^decisions +[1-9]", said, re.M), said


def test_by_process_grid(pleat):
    """A program that says on which grid it computes: what its iterations take is kept by size and grid, and the others of that
    size are predicted. One that has arrays needs to say nothing."""
    pleat.configure("approach = remap-idle\nmalleability = sweet-spot-learned")
    until = pleat.path("until")
    number = pleat.submit("--malleable", "--min", 4, "--max", 4, "--program", "grids", "--", LOOP, "--until", until,
                          "--iterations", "1000000000", "--pause", 25, "--grids")

    def measured():
        return {row["grid"]: row for row in pleat.job(number)["grids"] if row["measured"] > 20}

    wait_until(lambda: len(measured()) == 2, "both grids were measured")
    rows = measured()
    assert set(rows) == {"1x4", "2x2"} and {row["processors"] for row in rows.values()} == {4}
    assert rows["2x2"]["iteration_s"] < rows["1x4"]["iteration_s"]
    predicted, = pleat.job(number)["predicted_grids"]
    assert predicted["grid"] == "4x1"
    assert abs(predicted["iteration_s"] / rows["1x4"]["iteration_s"] - 1) < 0.2, (predicted, rows)
    shown = pleat.pleat("show", number, check=0).stdout
    assert re.search(r"^grids .* on [12]x[24], .* on [12]x[24]\n +predicted: .* on 4x1$", shown, re.M), shown
    # the policy goes by the grid that is in use alone
    for grid in ("1x4", "2x2", "1x4"):
        wait_until(lambda grid=grid: abs(pleat.job(number)["times"][0]["iteration_s"] / rows[grid]["iteration_s"] - 1) < 0.08,
                   f"what was measured on {grid} alone")
    end(pleat, until, number)
    kept, = known(pleat)
    assert {size["grid"] for size in kept["sizes"]} == {"1x4", "2x2"} and [size["counts"] for size in kept["sizes"]] == [True, False]
    assert [grid["grid"] for grid in kept["predicted_grids"]] == ["4x1"]
    assert re.search(r"grids .* 2x2 ", pleat.pleat("history", "--program", "*").stdout)
    pleat.pleat("stop", check=0)
    pleat.connection = None
    assert [size["grid"] for size in known(pleat)[0]["sizes"]] == [size["grid"] for size in kept["sizes"]]


def test_grids_of_arrays(pleat):
    pleat.configure("approach = remap-idle\nmalleability = sweet-spot-learned")
    number = pleat.submit("--malleable", "--min", 2, "--max", 2, "--", JACOBI2D, 256, 4000)
    job = wait_until(lambda: pleat.job(number)["grids"] and pleat.job(number), "its grid is known")
    assert {(row["processors"], row["grid"]) for row in job["grids"]} == {(2, "1x2")}, job["grids"]
    assert pleat.wait_end(number)["state"] == "done"
