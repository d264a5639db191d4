"""Evolving jobs between a cluster and the user's machine: each is another site for the jobs of the other one."""
import pathlib

import pytest

from clusters import wait_until
from clusters.pleat import ENDED, Pleat
from clusters.world import SHARED

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "support" / "across_sites.py"
ENV = [f"PYTHONPATH={SHARED}/build/python", f"PLEAT_PROCESS_LIBRARY={SHARED}/build/lib/libpleat-process.so.0"]


@pytest.fixture(name="pleat", scope="module")
def fixture_pleat(three):
    pleat = Pleat(three, f'kind = slurm conf = "{three.conf}" partition = main', ["srun"],
                  more='site "desk" { processors = 2 background = ignore }\n')
    pleat.path("program.py").write_text(PROGRAM.read_text())
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
