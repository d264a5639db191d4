"""The remap scheduler and sweet spots with a real application: it measures, the policy goes by it.

One iteration at a size is enough to decide, so the times differ by more than a busy machine adds to
an iteration.
"""

import re

from conftest import LOOP, wait_until


def sizes(pleat, number):
    """Sizes that it has had, as far as resizes went well."""
    found = [resize for resize in pleat.job(number)["history"]["resizes"]
             if resize["outcome"] in ("grown", "shrunk")]
    return [found[0]["from"]] + [resize["to"] for resize in found] if found else []


def test_a_sweet_spot_is_found_and_kept(pleat):
    pleat.configure("approach = remap-idle\nmalleability = sweet-spot")
    until = pleat.path("until")
    # two ranks are three times as fast as one, more are slower
    number = pleat.submit("--min", 1, "--max", 8, "--initial", 1, "--sizes", "powers", "--", LOOP,
                          "--until", until, "--iterations", "1000000000",
                          "--pauses", "240,80,400")
    wait_until(lambda: sizes(pleat, number) == [1, 2, 4, 2], "on to 4 and back to 2")
    # others come and go: it stays
    for _ in range(3):
        assert pleat.pleat("run", "-n", "2", "--", "true").returncode == 0
    assert sizes(pleat, number) == [1, 2, 4, 2]
    assert pleat.job(number)["processors"] == 2
    times = {time["processors"]: time["iteration_s"] for time in pleat.job(number)["times"]}
    assert times.keys() == {1, 2, 4} and times[2] < times[1] and times[2] < times[4]
    assert re.search(r"^iterations +.* on 1, .* on 2, .* on 4$",
                     pleat.pleat("show", number, check=0).stdout, re.M)
    with open(until, "w", encoding="ascii"):
        pass
    assert pleat.wait_end(number)["state"] == "done"
    pleat.pleat("stop", check=0)
    pleat.connection = None
    said = pleat.pleat("sim", "--replay", pleat.log, check=0).stdout
    assert "the same" in said and re.search(r"^decisions +[1-9]", said, re.M), said


def test_room_is_made_where_it_costs_least(pleat):
    pleat.configure("approach = remap-idle\nmalleability = sweet-spot")
    until = pleat.path("until")

    def start(*pauses):
        return pleat.submit("--min", 1, "--max", 4, "--initial", 2, "--sizes", "powers", "--", LOOP,
                            "--until", until, "--iterations", "1000000000",
                            "--pauses", ",".join(map(str, pauses)))

    steep, flat = start(600, 600, 20, 20), start(240, 240, 80, 80)
    for job in (steep, flat):
        wait_until(lambda job=job: sizes(pleat, job) == [2, 4], "both on 4: nothing is left")
    wait_until(lambda: all([time["processors"] for time in pleat.job(job)["times"]] == [2, 4]
                           for job in (steep, flat)), "both have measured it")
    # the one that loses less goes back, the other stays
    assert pleat.pleat("run", "-n", "2", "--", "true").returncode == 0
    assert sizes(pleat, flat)[:3] == [2, 4, 2]
    assert sizes(pleat, steep) == [2, 4]
    with open(until, "w", encoding="ascii"):
        pass
    for job in (steep, flat):
        assert pleat.wait_end(job)["state"] == "done"
