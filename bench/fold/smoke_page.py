#!/usr/bin/env python3
"""smoke_page.py BENCH_FOLD_EVALUATION [PAGE...]: it runs, writes its pages with all their parts, and leaves nothing
in memory behind; and those of KEPT can be made in several goes. What it measured is not judged. Without PAGE: all but those that compare
live and simulated runs."""

import fcntl
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PARTS = {
    "self-coscheduling": [
        "## Whom to run next",
        "## Local queues or a global one",
        "## At several multiprogramming levels",
    ],
    "coscheduling-policies": [
        "## A job with itself, or jobs with one another (table 4.4",
        "w1 lu, cg, mg;",
        "| coscheduling: BI+Msg | CS BI+Msg |",
        "| periodic boost | ",
        "| Linux | ",
        "| own time over response time | ",
        "| CS SB+RR | ",
        "| CS SB+Msg | ",
        "| CS BI+RR | ",
        "| CS BI+Msg | ",
        "| SCS SB+RR | ",
        "| SCS SB+Msg | ",
        "| SCS BI+RR | ",
        "| SCS BI+Msg | ",
    ],
    "coscheduling-arrivals": [
        "## How it was done",
        "## Open MPI",
        "| low, balanced | 4 | 60 % |",
        "| sweep | 4 | 60 % |",
        "| ep | 4 | 60 % |",
    ],
    "application-scaling": [
        "| fourier | real | 2 |",
        "| nbody | pretended | 3 |",
        "4 ranks on 2 processors",
    ],
    "program-classes": [
        "| ep |",
        "| ft | small | 2 |",
        "| send.30x6.spread | imbalanced |",
    ],
    "virtual-malleability-live": [
        "| bt-long | bt.A | 1 or 4 |",
        "### Short jobs",
        "| w1 | FJT(4) |",
        "| high, 100 % | FJT(1)+malleability |",
        "## Where FJT is worth its price",
        "| w1 to w3 | PSA of idle ones |",
        "## Why the paper's long jobs gained",
    ],
    "koala-malleable-live": [
        "| fourier | FT | 2 |",
        "| nbody | GADGET 2 | 10 |",
        "Figure 8 anew",
        "| EGS/W'm | grow operations (f) |",
    ],
    "job-mixes-live": [
        "| `heat --n 256` |",
        "Figure 9 anew",
        "| remap | mean response |",
        "## Job mix 2 (figure 10)",
        "### Factorizations (`dense --lu`)",
    ],
    "application-agent-live": [
        "## Figures 4 and 5",
        "![figure-4](figure-4.svg)",
        "![figure-5](figure-5.svg)",
        "![demand](demand.svg)",
        "| none | S, %, first execution |",
        "| P | W, processor seconds, first execution |",
        "| PP | S, %, from execution 2 on |",
        "| PP, own | S, %, from execution 2 on |",
        "| combined | time of its steps, s, from execution 2 on |",
    ],
}

OF_ALL = ["## What of the paper is found", "## What may not be concluded", "- statements looked for: "]
# pages of which quick runs keep something; where processes start very slowly the longer one is made in one go
KEPT = ["self-coscheduling", *([] if float(os.environ.get("PLEAT_TEST_PATIENCE", "1")) > 2 else ["coscheduling-arrivals"])]


def shared(pid):
    """What the benchmark of that process has in memory; others may run beside it."""
    return {name for name in os.listdir("/dev/shm") if name.startswith(f"pleat-bench-{pid}-")}


def check_page(directory, name):
    page = pathlib.Path(directory, name, "page.md").read_text(encoding="utf-8")
    missing = [part for part in PARTS[name] + OF_ALL if part not in page]
    if missing:
        sys.exit(f"the page lacks {missing}:\n{page}")
    if re.search(r"\b(nan|inf)\b", page):
        sys.exit(f"the page has something that is no number:\n{page}")
    return page


def check(program, name):
    with tempfile.TemporaryDirectory() as scratch:
        command = [program, "--page", name, "--quick", "--repeats", "1", "--out", scratch]
        # with both MPIs these would take twice as long; a live page has one, MPICH where its jobs are many and short
        command += [] if name.endswith("-live") else ["--mpi", "openmpi"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as bench:
            stdout, stderr = bench.communicate()
        if bench.returncode or stderr:
            sys.exit(f"exit code {bench.returncode}\n{stdout}{stderr}")
        check_page(scratch, name)
    if shared(bench.pid):
        sys.exit(f"left in /dev/shm: {shared(bench.pid)}")


def check_kept(program, name):
    """A page in two goes, and its parts; and files with which it cannot go on."""
    def go(*options, code=0):  # with the file that `kept` is by then
        done = subprocess.run([program, "--page", name, "--quick", "--mpi", "openmpi", "--out", scratch,
                               "--keep", kept, *options], check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode != code:
            sys.exit(f"{options}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stderr

    def series():
        return [value for value in json.loads(kept.read_text(encoding="utf-8"))["values"].values() if isinstance(value, list)]

    with tempfile.TemporaryDirectory() as scratch:
        kept = pathlib.Path(scratch, "kept")
        go("--repeats", "1")
        first = series()
        go("--repeats", "2")
        both = series()
        if not first or any(len(two) != 2 * len(one) or two[:len(one)] != one for one, two in zip(first, both, strict=True)):
            sys.exit(f"the second go did not add a round to the first: {first} {both}")
        whole = kept.read_bytes()
        go("--repeats", "2")  # there is nothing to be run
        if kept.read_bytes() != whole:
            sys.exit("a go without a round changed what is kept")
        page = check_page(scratch, name)
        if "(`--keep`); rounds: 2" not in page:
            sys.exit(f"the page does not say that it has two rounds:\n{page}")
        if "the same options" not in go("--repeats", "3", "--stated", code=1) or kept.read_bytes() != whole:
            sys.exit("rounds of other options were taken")
        busy = os.open(scratch, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(busy, fcntl.LOCK_EX)
        if "another measurement" not in go("--repeats", "3", code=1) or kept.read_bytes() != whole:
            sys.exit("two measurements kept their rounds in one file")
        os.close(busy)
        kept, there = pathlib.Path(scratch, "none", "kept"), kept
        if "cannot" not in go("--repeats", "1", code=1) or pathlib.Path(scratch, "none").exists():
            sys.exit("a file in a directory that is not there was taken")
        kept = there
        lacking = json.loads(whole)
        lacking["values"].popitem()
        elsewhere = json.loads(whole)
        elsewhere["machine"] = "Z80, 1 processor of it used"
        for text in (whole[:-9], b"[]", json.dumps(lacking).encode(), json.dumps(elsewhere).encode()):
            kept.write_bytes(text)
            if str(kept) not in go("--repeats", "3", code=1) or kept.read_bytes() != text:
                sys.exit(f"a file was taken that is none of kept rounds: {text[-50:]}")


def main():
    for name in sys.argv[2:] or [name for name in PARTS if not name.endswith("-live")]:
        (check_kept if name in KEPT else check)(sys.argv[1], name)


if __name__ == "__main__":
    main()
