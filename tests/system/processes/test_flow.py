"""apps/flow, which asks for processes as its mesh gets finer, and stops them as it gets coarser."""
import os
import pathlib
import re
import subprocess
import xml.etree.ElementTree

import pytest

from conftest import BUFFERED, daemon

FLOW = os.path.join(daemon.BUILD, "apps", "flow")
PICTURE = pathlib.Path(__file__).resolve().parents[3] / "apps" / "flow" / "picture.py"


def draw(log, picture):
    return subprocess.run([PICTURE, log, picture], capture_output=True, text=True, timeout=60)


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
    drawn = draw(log, pleat.path("demand.svg"))
    assert (drawn.returncode, drawn.stdout, drawn.stderr) == (0, "", ""), drawn
    texts = "".join(xml.etree.ElementTree.parse(pleat.path("demand.svg")).getroot().itertext())
    assert all(title in texts for title in ("processes wanted", "processes there", "cells (right)", "iteration")), texts
    pleat.wait_free()
    buffer = pleat.job(number)["buffer"]
    assert (buffer["requests"], buffer["satisfied"]) == (added, ready)


def test_without_pleat_it_is_alone(tmp_path):
    done = daemon.subprocess.run([FLOW, "--iterations", "200", "--log", str(tmp_path / "log")], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "processes: 1 at most; 0 asked for" in done.stdout and "RESULT ok" in done.stdout, done
    assert all(had == 1 for _, _, _, had in lines(tmp_path / "log"))


@pytest.mark.parametrize("text, wrong", [("0 186 1 1\n", "has 1 lines"), ("0 186 1 1\n4 190 1\n", "line 2: '4 190 1'"),
                                         ("4 186 1 1\n4 190 1 1\n", "line 2"), ("RESULT ok\n", "line 1: 'RESULT ok'")])
def test_what_is_no_log_is_not_drawn(tmp_path, text, wrong):
    (tmp_path / "log").write_text(text, encoding="ascii")
    (tmp_path / "was.svg").write_text("before", encoding="ascii")
    done = draw(tmp_path / "log", tmp_path / "was.svg")
    assert done.returncode == 1 and wrong in done.stderr and "Traceback" not in done.stderr, done
    assert (tmp_path / "was.svg").read_text(encoding="ascii") == "before" and sorted(os.listdir(tmp_path)) == ["log", "was.svg"]


def test_a_picture_that_cannot_be_written(tmp_path):
    (tmp_path / "log").write_text("0 186 1 1\n4 2000 4 1\n", encoding="ascii")
    for picture, wrong in (("a.txt", "has to end in .svg or .png"), ("nowhere/a.svg", "cannot write")):
        done = draw(tmp_path / "log", tmp_path / picture)
        assert done.returncode == 1 and wrong in done.stderr and "Traceback" not in done.stderr, done
    assert draw(tmp_path / "log", tmp_path / "a.png").returncode == 0
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG") and sorted(os.listdir(tmp_path)) == ["a.png", "log"]
