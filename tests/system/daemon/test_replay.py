"""A log that the daemon recorded, decided again by the same build: the same decisions, byte for byte."""

import os
import shutil
import subprocess

import pytest

from conftest import REPLAY, loop, until_file, wait_until


def replay(pleat, *words):
    """With a copy: of the log, and of what is not yet in its main file."""
    for end in ("", "-wal"):
        try:
            shutil.copy(pleat.log + end, pleat.path("copy.sqlite" + end))
        except FileNotFoundError:
            pass
    done = subprocess.run([REPLAY, pleat.path("copy.sqlite"), *map(str, words)], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.returncode, done.stdout


def run_mix(pleat, approach, malleability):
    """Growth, shrinks for a rigid job, resizes by the user, limits, a cancel, a restart."""
    def grown(*numbers):
        wait_until(lambda: all(pleat.job(n)["grown"] for n in numbers), "they grow")
    pleat.configure(f"approach = {approach}\nmalleability = {malleability}\nkill_s = 2")
    first = pleat.submit(*loop(smallest=2, more=["--initial", "2"], largest=5))
    second = pleat.submit(*loop(more=["--initial", "1", "--sizes", "1,2,3", "--asks"], largest=3))
    grown(first, second)
    go = pleat.path("go")
    rigid = pleat.submit("-n", "3", "--estimate", "10s", *until_file(go))
    third = pleat.submit("--min", "1", "--max", "2", "--moldable", "--", "true")
    if approach == "pra":  # running jobs are not shrunk for those that wait: their user does it
        wait_until(lambda: pleat.job(first)["state"] == "running", "no resize is under way")
        wait_until(lambda: pleat.pleat("limits", first, "--max", "2").returncode == 0, "limits")
        wait_until(lambda: pleat.pleat("limits", second, "--max", "2").returncode == 0, "limits")
    pleat.wait_for(rigid, "running")
    pleat.kill_daemon()
    with open(go, "w", encoding="ascii"):
        pass
    pleat.wait_end(rigid)
    pleat.wait_end(third)
    if approach == "pra":
        pleat.pleat("limits", first, "--max", "5", check=0)
    grown(first)
    wait_until(lambda: pleat.pleat("shrink", "--to", "2", first).returncode == 0, "its user shrinks it")
    pleat.wait_size(first, 2)
    fourth = pleat.submit("-n", "8", "--", "true")
    pleat.call("cancel", job=second)
    pleat.wait_end(second)
    wait_until(lambda: pleat.pleat("grow", "--to", "4", first).returncode == 0, "its user grows it")
    pleat.call("cancel", job=first)
    pleat.wait_end(first)
    pleat.wait_end(fourth)


@pytest.mark.parametrize("approach,malleability", [("pwa", "egs"), ("pra", "fpsma"), ("pwa", "fpsma")])
def test_same_decisions(pleat, approach, malleability):
    run_mix(pleat, approach, malleability)
    jobs = pleat.call("jobs", all=True)["jobs"]
    assert sum(job["grown"] for job in jobs) > 0 and sum(job["shrunk"] for job in jobs) > 0
    code, text = replay(pleat)
    assert code == 0 and text.endswith("the same\n"), text
    words = text.replace(",", "").split()
    records, passes, decisions = int(words[1]), int(words[3]), int(words[5])
    assert records == pleat.call("info")["log_records"]
    assert passes > decisions / 5 and decisions >= 6, text
    for number in range(1, decisions + 1):
        code, text = replay(pleat, "--corrupt", number)
        assert code == 1 and "different at record" in text, (number, text)
    assert replay(pleat, "--corrupt", decisions + 1)[0] == 2


def test_log_of_another_kind_is_refused(pleat):
    with open(pleat.log, "w", encoding="ascii") as file:
        file.write("not a log")
    code, text = replay(pleat)
    assert code == 2 and "copy.sqlite" in text
    os.unlink(pleat.log)
