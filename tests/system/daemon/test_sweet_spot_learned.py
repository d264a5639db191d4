"""Sweet spots that are learned, with a real application: few steps, the curve that is shown, the reason
that `why` gives, and a second run of the same program that knows it all from the start."""

import json
import re

from conftest import LOOP, wait_until

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
    assert "the loop" in pleat.pleat("history", "--program", "*").stdout
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
