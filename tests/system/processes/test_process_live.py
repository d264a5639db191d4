"""A program on libpleat-process, with the agent, pleatd and everything real."""
import os
import re

import pytest

from conftest import BUFFERED, CONFIG, daemon, wait_until

LIVE = os.path.join(daemon.BUILD, "tests", "process-live")
CROWD = os.path.join(daemon.BUILD, "tests", "process-crowd")


def results(pleat, number):
    assert pleat.wait_end(number)["state"] == "done", (pleat.output(number), pleat.output(number, "stderr"))
    found = re.match(r"(\d+) results, (\d+) prepared\n$", pleat.output(number))
    assert found, pleat.output(number)
    assert pleat.output(number, "stderr") == ""
    return int(found.group(1)), int(found.group(2))


@pytest.mark.parametrize("policy", ["none", "periodic"])
def test_work_goes_to_processes_that_come_and_go(pleat, policy):
    if policy == "periodic":
        pleat.configure(text=BUFFERED)
    go = pleat.path("go")
    number = pleat.submit("--evolving", "--max", 4, "--", LIVE, 3, 4, "wait", go)
    pleat.wait_for(number, "running")
    if policy == "periodic":
        wait_until(lambda: pleat.job(number)["buffer"]["prepared"] == 1, "one is prepared")
    open(go, "w", encoding="ascii").close()
    count, ready = results(pleat, number)
    assert count == 12
    assert ready == 0 if policy == "none" else ready >= 1, ready
    pleat.wait_free()
    buffer = pleat.job(number)["buffer"]
    assert (buffer["requests"], buffer["satisfied"]) == (12, ready)


def test_pleatd_dies_while_it_works(pleat):
    pleat.configure(text=BUFFERED)
    number = pleat.submit("--evolving", "-n", 2, "--max", 5, "--", LIVE, 3, 10)
    pleat.wait_for(number, "running")
    for requests in (5, 15):
        wait_until(lambda: (pleat.job(number)["buffer"] or {"requests": 99})["requests"] >= requests, "it has asked")
        if pleat.job(number)["state"] == "running":
            pleat.kill_daemon()
            pleat.call("info")
    assert results(pleat, number)[0] == 30
    pleat.wait_free()


def test_each_of_many_hears_of_all_others(pleat):
    """So many that what is told of one is not sent to all others in one turn of the agent."""
    pleat.configure(text=CONFIG.replace("processors = 8", "processors = 100"))
    number = pleat.submit("--evolving", "-n", 100, "--", CROWD, 100)
    assert pleat.wait_end(number)["state"] == "done", (pleat.output(number), pleat.output(number, "stderr"))
    assert (pleat.output(number), pleat.output(number, "stderr")) == ("148 have told\n", "")
    pleat.wait_free(100)
