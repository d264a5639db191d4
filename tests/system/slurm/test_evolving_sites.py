"""Evolving jobs between a cluster and the user's machine: each is another site for the jobs of the other one."""
import pytest

from clusters import wait_until
from clusters.pleat import ENDED, Pleat
from clusters.world import SHARED

PROGRAM = """
import os, sys
from pleat import processes
with processes.begin() as everybody:
    if everybody.begun is processes.JOINED:
        message = everybody.receive()
        everybody.send(message.source, bytes(reversed(message.data)) + os.environb[b"PLEAT_NODE"], type=2)
    elif everybody.begun is processes.STARTED:
        other = everybody.add(site=sys.argv[1])
        everybody.send(other.process, b"olleh ", type=1)
        print(everybody.receive(other.process, type=2).data.decode(), flush=True)
"""
ENV = [f"PYTHONPATH={SHARED}/build/python", f"PLEAT_PROCESS_LIBRARY={SHARED}/build/lib/libpleat-process.so.0"]


@pytest.fixture(name="pleat", scope="module")
def fixture_pleat(three):
    pleat = Pleat(three, f'kind = slurm conf = "{three.conf}" partition = main', ["srun"],
                  more='site "desk" { processors = 2 background = ignore }\n')
    pleat.path("program.py").write_text(PROGRAM)
    yield pleat
    pleat.finish()


def submit(pleat, home, other):
    variables = [word for variable in ENV for word in ("--env", variable)]
    return pleat.submit("--evolving", "-n", 1, "--max", 2, "--site", home, "--sites", other, *variables, "--",
                        "/usr/bin/python3", f"{pleat.dir}/program.py", other)


@pytest.mark.parametrize("home, other", [("desk", "c1"), ("c1", "desk")])
def test_a_message_goes_there_and_back(pleat, home, other):
    """To a node that comes with an allocation, and from one; nothing is left at either site."""
    job = submit(pleat, home, other)
    ended = pleat.until(job, *ENDED)
    assert ended["state"] == "done", (ended, pleat.log(), pleat.events(job))
    assert pleat.output(job).startswith(f" hello{other}:"), pleat.output(job)
    wait_until(lambda: all(site["used"] == 0 for site in pleat.ask("sites")["sites"]), f"all is free: {pleat.log()}")
    pleat.cluster.until_empty()
