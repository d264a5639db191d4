#!/usr/bin/env python3
"""smoke.py --ended BENCHMARK [OPTION...]: it is ended by SIGTERM when its daemon is there, says so by its exit code, and leaves
neither processes nor files behind.
smoke.py [--no-goals] [--met PART] BENCHMARK [OPTION...]: the benchmark runs, its --json is one array of rows
with exactly the promised members, and it leaves neither processes nor files behind. Some row has a goal, or, with
--no-goals, none has. --met: there are rows whose names have that part, and they meet their goals; for what is
counted, not timed."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

WAIT_S = 60 * int(os.environ.get("PLEAT_TEST_PATIENCE", "1"))
MEMBERS = ["name", "value", "unit", "baseline", "ratio", "goal", "met"]


def fail(text):
    sys.exit(f"bench smoke: {text}")


def check_row(row):
    if list(row) != MEMBERS:
        fail(f"members {list(row)}, expected {MEMBERS}")
    name = row["name"]
    if not isinstance(name, str) or not name or not isinstance(row["unit"], str):
        fail(f"a row without name or unit: {row}")
    # what a call costs more is a difference, which noise can make negative
    if type(row["value"]) not in (int, float) or (row["value"] < 0 and "_call_" not in name):
        fail(f"{name}: value {row['value']!r}")
    if (row["baseline"] is None) != (row["ratio"] is None):
        fail(f"{name}: a baseline and a ratio go together: {row}")
    if (row["goal"] is None) != (row["met"] is None):
        fail(f"{name}: a goal and its outcome go together: {row}")
    if row["baseline"] is not None:
        ratio = row["value"] / row["baseline"]
        if abs(ratio - row["ratio"]) > 1e-6 * abs(ratio) + 1e-9:
            fail(f"{name}: ratio {row['ratio']}, but value over baseline is {ratio}")
    if row["met"] not in (None, True, False):
        fail(f"{name}: met {row['met']!r}")


def marked(mark):
    """Processes that inherited our mark."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            environment = (entry / "environ").read_bytes()
        except OSError:
            continue
        if mark in environment.split(b"\0"):
            found.append(entry.name)
    return found


def shared_memory():
    return {path.name for path in pathlib.Path("/dev/shm").glob("pleat-bench-*")}


def is_daemon(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text(encoding="utf-8") == "pleatd\n"
    except OSError:
        return False


def check_ended(words):
    mark = f"PLEAT_BENCH_SMOKE={os.getpid()}"
    key, value = mark.split("=")
    before = shared_memory()
    bench = subprocess.Popen(words, env=dict(os.environ, **{key: value}), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                             text=True)
    try:
        until = time.monotonic() + WAIT_S
        while not any(map(is_daemon, marked(mark.encode()))):
            if bench.poll() is not None or time.monotonic() > until:
                fail(f"it started no daemon; exit code {bench.poll()}")
            time.sleep(0.05)
        own = {name for name in shared_memory() - before if name.startswith(f"pleat-bench-{bench.pid}-")}
        if not own:
            fail("a daemon, but no directory in shared memory: where are its files?")
        bench.terminate()
        said = bench.communicate(timeout=WAIT_S)[1]
        if bench.returncode != 128 + signal.SIGTERM or "interrupted" not in said:
            fail(f"exit code {bench.returncode}, and it says: {said}")
        if marked(mark.encode()) or own & shared_memory():
            fail(f"left behind: files {own & shared_memory()}, processes {marked(mark.encode())}")
    finally:
        for pid in marked(mark.encode()):
            os.kill(int(pid), signal.SIGKILL)
    print("ended")


def main():
    words = sys.argv[1:]
    if words[:1] == ["--ended"]:
        check_ended(words[1:])
        return
    goals = words[:1] != ["--no-goals"]
    words = words[not goals:]
    must = words[1] if words[:1] == ["--met"] else None
    words = words[2 if must else 0:]
    if not words:
        fail("which benchmark?")
    mark = f"PLEAT_BENCH_SMOKE={os.getpid()}"
    key, value = mark.split("=")
    with tempfile.TemporaryDirectory() as scratch:
        environment = dict(os.environ, TMPDIR=scratch, **{key: value})
        done = subprocess.run(
            [*words, "--json"], env=environment, capture_output=True, text=True, check=False
        )
        left = os.listdir(scratch)
    if done.returncode:
        fail(f"exit code {done.returncode}\n{done.stdout}{done.stderr}")
    complaints = [line for line in done.stderr.splitlines()
                  if ": skipped: " not in line and "without optimization across files" not in line]
    if complaints:
        fail(f"it complains:\n{done.stderr}")
    rows = json.loads(done.stdout)
    if not isinstance(rows, list) or not rows:
        fail("not an array of rows")
    for row in rows:
        check_row(row)
    names = [row["name"] for row in rows]
    if len(set(names)) != len(names):
        fail(f"a name twice: {names}")
    if any(row["goal"] for row in rows) != goals or not any(row["baseline"] for row in rows):
        fail(f"no row has a {'goal' if goals else 'baseline'}, or one has a goal though none should")
    judged = [row for row in rows if must and must in row["name"]]
    if must and not judged:
        fail(f"no row of {must}")
    for row in judged:
        if not row["met"]:
            fail(f"{row['name']}: {row['value']}, and not the goal, {row['goal']}")
    if left or marked(mark.encode()):
        fail(f"left behind: files {left}, processes {marked(mark.encode())}")
    print(f"{done.stderr}{len(rows)} rows")


if __name__ == "__main__":
    main()
