"""A cluster that is asked by its commands, whose controller or commands answer nonsense: jobs wait, with the reason, nothing of
theirs is lost, and they go on when all is well again."""

import pytest

from clusters import wait_until
from clusters.pleat import HOME, Counted
from test_controller import goes_on_after_rubbish, has_no_errors, pleat_of
from test_faults import restart, until_why

# Stands before a command of Slurm in PATH: while there is a file that says how, its output is nonsense.
FAKE = """#!/bin/sh
case $(cat {how} 2>/dev/null) in
    noise) exec head -c 100000 /dev/urandom;;
    long) head -c 3000000 /dev/zero | tr '\\0' x;;
    lines) i=0; while [ $i -lt 3000 ]; do echo "$i|RUNNING|None|x|y|z|a1|b"; i=$((i + 1)); done;;
    cut) {real} "$@" | head -c 12;;
    killed) kill -9 $$;;
    *) exec {real} "$@";;
esac
"""


@pytest.fixture(name="pleat", scope="module")
def fixture_pleat(three):
    """How its commands answer is in the file HOME/how."""
    three.head.run("install", "-d", f"{HOME}/fake")
    for name in ("scontrol", "squeue", "sbatch", "scancel", "sinfo"):
        fake = three.world.path(f"{HOME}/fake/{name}")
        fake.write_text(FAKE.format(how=f"{HOME}/how", real=f"/usr/bin/{name}"))
        fake.chmod(0o755)
    with pleat_of(three, "commands", "by = commands", f"{HOME}/fake:") as pleat:
        yield pleat


def test_somebody_else_has_the_controllers_port(pleat):
    goes_on_after_rubbish(pleat, "noise")


@pytest.mark.parametrize("what", ["noise", "long", "lines", "cut", "killed"])
def test_commands_say_nonsense(pleat, what):
    how = pleat.cluster.world.path(f"{HOME}/how")
    runs = Counted(pleat, "runs")
    runs.begun()
    how.write_text(what)
    later = Counted(pleat, "later")
    wait_until(lambda: "cannot be asked, claims wait" in pleat.log().rsplit("answers again", 1)[-1], pleat.log())
    restart(pleat)
    until_why(pleat, later.number, "the site cannot be asked now")
    assert pleat.job(runs.number)["state"] == "running" and not later.lines()
    how.unlink()
    later.begun()
    for job in (runs, later):
        job.is_done_once()
    has_no_errors(pleat)
    pleat.cluster.until_empty()
