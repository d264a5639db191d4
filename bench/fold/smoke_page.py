#!/usr/bin/env python3
"""smoke_page.py BENCH_FOLD_EVALUATION: it runs, writes its pages with all their parts, and leaves nothing
in memory behind. What it measured is not judged."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

PARTS = {
    "self-coscheduling": [
        "## What of the paper is found",
        "## Whom to run next",
        "## Local queues or a global one",
        "## A job with itself, or jobs with one another",
    ],
    "coscheduling-arrivals": [
        "## What of the paper is found",
        "## How it was done",
        "## Open MPI",
        "| low, balanced | 4 | 60 % |",
        "| ring | 4 | 60 % |",
        "| ep | 4 | 60 % |",
    ],
    "coscheduling-classes": [
        "## What of the paper is found",
        "## A job with itself, or jobs with one another",
        "w1 lu, cg, mg;",
        "| lu |",
        "## How it was done",
        "| sweep | 4 | 60 % |",
        "| ep | 4 | 60 % |",
    ],
    "application-scaling": [
        "## What of the paper is found",
        "## What may not be concluded",
        "| fourier | real | 2 |",
        "| nbody | pretended | 3 |",
        "4 ranks on 2 processors",
    ],
    "program-classes": [
        "## What of the paper is found",
        "| ep |",
        "| ft | small | 2 |",
        "| send.30x6.spread | imbalanced |",
    ],
}


def shared():
    return {name for name in os.listdir("/dev/shm") if name.startswith("pleat-bench-")}


def check(program, name):
    before = shared()
    with tempfile.TemporaryDirectory() as scratch:
        command = [program, "--page", name, "--quick", "--repeats", "1", "--mpi", "openmpi", "--out", scratch]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode or done.stderr:
            sys.exit(f"exit code {done.returncode}\n{done.stdout}{done.stderr}")
        page = pathlib.Path(scratch, name, "page.md").read_text(encoding="utf-8")
    missing = [part for part in PARTS[name] if part not in page]
    if missing:
        sys.exit(f"the page lacks {missing}:\n{page}")
    if re.search(r"\b(nan|inf)\b", page):
        sys.exit(f"the page has something that is no number:\n{page}")
    if shared() - before:
        sys.exit(f"left in /dev/shm: {shared() - before}")


def main():
    for name in PARTS:
        check(sys.argv[1], name)


if __name__ == "__main__":
    main()
