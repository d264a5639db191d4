"""The agent of a job dies at a step of a warm relaunch on one node, with real programs (the agreement of several nodes:
test_spread.py; what only the agent sees: tests/system/agent/test_agent_warm.py)."""

import os

import pytest

from conftest import is_alive, wait_until
from relaunching import MPIS, ends_well, submit

# src/agent/crash.h; in a shrink and in a growth in turn
STEPS = ("started", "ready", "hands over", "went", "begun", "dismissed", "gone")


@pytest.mark.parametrize("mpi, steps", [("openmpi", STEPS[::2]), pytest.param("mpich", STEPS[1::2], marks=MPIS[1].marks)])
def test_the_agent_is_killed_at_each_step(pleat, mpi, steps):
    """No process of either generation is left; the job waits again, and begins anew with its new size."""
    crash = pleat.path("crash")
    pleat.env["PLEAT_TEST_AGENT_CRASH"] = crash
    pleat.configure("attempts = 99\nlifetime_s = 0\nbackoff_s = 0.2\ntry_s = 0.1\n" +
                    "".join(f"{name} = 60\n" for name in ("apply_s", "shrink_s", "vacate_s")))
    number = submit(pleat, mpi, sizes=(1, 3), options=["--initial", "3", "--on-resize", "relaunch"])

    def computes(size, attempt):
        def there():
            job = pleat.job(number)
            assert job["state"] in ("queued", "placed", "claiming", "running", "resizing", "finishing"), job
            return (job["state"], job["attempt"], job["processors"]) == ("running", attempt, size) and (
                job["progress"] and job["progress"]["iteration"] > 0)
        wait_until(there, f"it computes on {size}, in attempt {attempt}")
    computes(3, 0)
    for count, step in enumerate(steps):
        before = pleat.job_pids(number)
        with open(crash, "w", encoding="ascii") as file:
            file.write(f"warm {step}")
        size = 3 if count % 2 else 2
        pleat.pleat("limits", number, "--max", size, check=0)
        wait_until(lambda count=count: pleat.job(number)["attempt"] == count + 1, f"killed at '{step}', it waits again")
        assert not os.path.exists(crash)
        computes(size, count + 1)
        assert not [pid for pid in before if is_alive(pid)], step
    ends_well(pleat, number)
