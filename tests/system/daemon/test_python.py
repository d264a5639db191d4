"""Malleable programs in Python, with the module pleat, resized in each way: an application, and data of each kind."""

import os
import subprocess
import sys

import pytest

from conftest import BUILD
from relaunching import LONG, computes, resizes

TOP = os.path.join(os.path.dirname(__file__), "..", "..", "..")
HEAT = os.path.join(TOP, "apps", "heat.py")
TESTS = os.path.join(TOP, "tests", "system", "python")
EVERYTHING = os.path.join(TESTS, "everything.py")
pytest.importorskip("numpy")
pytest.importorskip("mpi4py")
pytestmark = pytest.mark.skipif(not os.path.isdir(os.path.join(BUILD, "python")), reason="no module for Python in this build")


def submit(pleat, way, *words, sizes=(1, 2), more=(), config=LONG):
    pleat.configure(config)
    options = ["--env", f"PYTHONPATH={BUILD}/python", "--env", "OMP_NUM_THREADS=1", "--env", "OPENBLAS_NUM_THREADS=1"]
    return pleat.submit("--mpi", "openmpi", "--malleable", "--min", sizes[0], "--max", sizes[1], "--on-resize", way, *options, *more,
                        "--", sys.executable, *words)


def resize(pleat, number, size):
    pleat.pleat("limits", number, "--max", size, check=0)
    computes(pleat, number, size)


def ends(pleat, number):
    """What it printed in the end."""
    with open(pleat.path("end"), "w", encoding="ascii"):
        pass
    job = pleat.wait_end(number)
    assert job["state"] == "done", (job, pleat.output(number, "stderr"))
    assert pleat.output(number).count("RESULT ok") == 1, pleat.output(number)
    assert "Traceback" not in pleat.output(number, "stderr")
    return pleat.output(number)


@pytest.mark.parametrize("way", ["merge", "relaunch", "restart"])
def test_heat(pleat, way):
    number = submit(pleat, way, HEAT, "--n", 50, "--pause", 10, "--until", pleat.path("end"))
    computes(pleat, number, 2)
    for size in (3, 1):
        resize(pleat, number, size)
    assert "ranks=1 " in ends(pleat, number)
    assert [one[2] for one in resizes(pleat.job(number))] == ["grown", "shrunk"]


@pytest.mark.parametrize("way", ["merge", "relaunch"])
def test_data_of_each_kind(pleat, way):
    number = submit(pleat, way, EVERYTHING, pleat.path("end"))
    computes(pleat, number, 2)
    for size in (5, 1, 3):
        resize(pleat, number, size)
    assert "ranks=3" in ends(pleat, number)


def test_data_of_each_kind_go_on_from_a_checkpoint(pleat):
    number = submit(pleat, "merge", EVERYTHING, pleat.path("end"))
    computes(pleat, number, 2)
    pleat.pleat("checkpoint", "--stop", "--wait", "--to", pleat.path("state"), number, check=0)
    assert pleat.wait_end(number)["state"] == "cancelled"
    again = pleat.submit("--mpi", "openmpi", "--malleable", "-n", 3, "--from", pleat.path("state"), "--env",
                         f"PYTHONPATH={BUILD}/python", "--", sys.executable, EVERYTHING, pleat.path("end"))
    computes(pleat, again, 3)
    assert "ranks=3" in ends(pleat, again)


def test_asks_actions_and_plans(pleat):
    number = submit(pleat, "merge", os.path.join(TESTS, "decisions.py"), sizes=(1, 4), more=("--initial", 1),
                    config=LONG + "\nmalleability = none")
    assert pleat.wait_end(number)["state"] == "done", pleat.output(number, "stderr")
    assert pleat.output(number) == "RESULT ok\n"


def test_offers(pleat):
    """Of three more ranks it takes one. Where its function fails it takes none, and the exception ends it."""
    program = pleat.path("offers.py")
    with open(program, "w", encoding="ascii") as file:
        file.write("import time, pleat\nwith pleat.Session() as session:\n"
                   "    @session.on_offer\n    def take(change):\n        print(*change[:4], change.occasion.name, flush=True)\n"
                   "        return 2 if change.current == 1 else 1 // 0\n    session.begin()\n"
                   "    while session.adapt() is not pleat.LEAVE:\n        time.sleep(0.002)\n")
    number = submit(pleat, "merge", program, sizes=(1, 4), more=("--initial", 1, "--asks"))
    job = pleat.wait_end(number)
    assert job["state"] == "failed" and resizes(job)[0] == (1, 2, "grown"), job
    assert pleat.output(number) == "1 4 False False FREE\n2 4 False False FREE\n"
    assert "ZeroDivisionError" in pleat.output(number, "stderr")


def test_ranks_that_join_are_in_the_same_virtual_environment(pleat):
    """Which is found by the name by which Python was started, a link."""
    place = pleat.path("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--system-site-packages", place], check=True, timeout=60)
    program = pleat.path("where.py")
    with open(program, "w", encoding="ascii") as file:
        file.write("import sys, time, pleat\nwith pleat.Session() as session:\n    session.begin()\n"
                   "    while session.size < 2:\n        time.sleep(0.002)\n        session.adapt()\n"
                   "    where = session.comm.gather(sys.prefix)\n    if where:\n        print(set(where))\n")
    said = pleat.pleat("run", "--mpi", "openmpi", "--malleable", "--min", 1, "--max", 2, "--initial", 1, "--on-resize", "merge",
                       "--env", f"PYTHONPATH={BUILD}/python", "--", os.path.join(place, "bin", "python"), program, check=0)
    assert said.stdout == f"{ {place} }\n"


def test_an_exception_ends_all_ranks(pleat):
    """One rank of two raises it while the other one waits for a message: the job fails, and says why."""
    program = pleat.path("raises.py")
    with open(program, "w", encoding="ascii") as file:
        file.write("import pleat\nwith pleat.Session() as session:\n    session.begin()\n"
                   "    if session.rank == 1:\n        raise ValueError('rank 1 cannot go on')\n    session.comm.recv()\n")
    number = submit(pleat, "merge", program, sizes=(2, 3))
    job = pleat.wait_end(number)
    assert job["state"] == "failed", job
    said = pleat.output(number, "stderr")
    assert "Traceback" in said and "ValueError: rank 1 cannot go on" in said


def test_a_rank_that_cannot_join_does_no_harm(pleat):
    """It raises an exception while it registers its data: the growth is refused, and the others go on."""
    program = pleat.path("joins.py")
    with open(program, "w", encoding="ascii") as file:
        file.write("import time, pleat\nwith pleat.Session() as session:\n    session.value('one', 1)\n"
                   "    if session.joined:\n        raise OSError('this rank has no data')\n    session.value('two', 2)\n"
                   "    session.begin()\n    while not session.failure:\n        time.sleep(0.002)\n        session.adapt()\n"
                   "    print(session.size, session.failure)\n")
    number = submit(pleat, "merge", program, more=("--initial", 1))
    assert pleat.wait_end(number)["state"] == "done", pleat.output(number, "stderr")
    assert pleat.output(number).startswith("1 ") and "OSError: this rank has no data" in pleat.output(number, "stderr")


def test_an_object_that_cannot_be_packed_ends_the_program(pleat):
    """On one rank: both say why, and no damaged state is left."""
    program = pleat.path("packs.py")
    with open(program, "w", encoding="ascii") as file:
        file.write("import time, pleat\nwith pleat.Session() as session:\n    items = session.items('things')\n    session.begin()\n"
                   "    items.list = [lambda: 0] if session.rank == 1 else [1, 2]\n"
                   "    while session.adapt() is not pleat.LEAVE:\n        time.sleep(0.002)\n")
    number = submit(pleat, "merge", program)
    computes(pleat, number, 2)
    pleat.pleat("limits", number, "--max", 3, check=0)
    job = pleat.wait_end(number)
    assert job["state"] == "failed", job
    said = pleat.output(number, "stderr")
    assert "lambda" in said and "'things': item 0 has -1 bytes" in said
