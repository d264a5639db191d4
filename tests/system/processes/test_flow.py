"""apps/flow, which asks for processes as its mesh gets finer, and stops them as it gets coarser."""
import os
import re

import pytest

from conftest import BUFFERED, daemon

FLOW = os.path.join(daemon.BUILD, "apps", "flow")


def lines(path):
    with open(path, encoding="ascii") as file:
        return [tuple(map(int, line.split())) for line in file]


@pytest.mark.parametrize("policy", ["none", "periodic"])
def test_it_grows_and_shrinks_with_its_mesh(pleat, policy):
    """What comes out is what one process computes, to the last bit (it compares that itself); nothing is lost on the way."""
    if policy == "periodic":
        pleat.configure(text=BUFFERED)
    log = pleat.path("log")
    number = pleat.submit("--evolving", "--max", 4, "--", FLOW, "--objects", 600, "--pretend", 3, "--log", log)
    assert pleat.wait_end(number)["state"] == "done", (pleat.output(number), pleat.output(number, "stderr"))
    told = re.match(r"processes: (\d+) at most; (\d+) asked for, (\d+) of them there at once; (\d+) stopped\nRESULT ok cells=", pleat.output(number))
    assert told, pleat.output(number)
    most, added, ready, stopped = map(int, told.groups())
    assert most > 1 and added >= most - 1 and stopped >= 1, told.groups()
    # without a policy one that came when it was not wanted any more may wait for the next request (Liu et al. 2009, 3.1)
    assert ready < added if policy == "none" else ready >= 1, told.groups()
    demand = lines(log)
    assert demand[0][2] == 1 and max(wanted for _, _, wanted, _ in demand) == 4 and demand[-1][2] == 1
    assert max(had for _, _, _, had in demand) == most and demand[-1][3] < most
    pleat.wait_free()
    buffer = pleat.job(number)["buffer"]
    assert (buffer["requests"], buffer["satisfied"]) == (added, ready)


def test_without_pleat_it_is_alone(tmp_path):
    done = daemon.subprocess.run([FLOW, "--iterations", "200", "--log", str(tmp_path / "log")], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "processes: 1 at most; 0 asked for" in done.stdout and "RESULT ok" in done.stdout, done
    assert all(had == 1 for _, _, _, had in lines(tmp_path / "log"))
