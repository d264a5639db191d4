#!/usr/bin/env python3
"""Draws what a run of flow asked for beside what it had: `flow --log FILE`, then picture.py FILE PICTURE.

FILE has a line for each adaptation: iteration, cells, processes wanted, processes there. PICTURE ends in .svg or .png, and is replaced
as a whole. Needs gnuplot."""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

TERMINALS = {".svg": "svg size 900,420 dynamic background rgb 'white'", ".png": "pngcairo size 900,420"}
SCRIPT = """set terminal {terminal}
set output '{picture}'
set key left top
set xlabel 'iteration'
set ylabel 'processes'
set y2label 'cells'
set ytics nomirror 1
set y2tics
set xrange [0:{last}]
set yrange [0:{most}]
set y2range [0:{cells}]
plot $run using 1:2 axes x1y2 with lines linecolor rgb '#999999' title 'cells (right)', \\
     $run using 1:3 with steps linewidth 2 linecolor rgb '#d55e00' title 'processes wanted', \\
     $run using 1:4 with steps linewidth 2 linecolor rgb '#0072b2' title 'processes there'
"""


def fail(text):
    sys.exit(f"picture.py: {text}")


def read(path):
    """Rows of four numbers, their iterations rising."""
    try:
        lines = pathlib.Path(path).read_text(encoding="ascii").splitlines()
    except UnicodeDecodeError:
        fail(f"{path} is no log of flow (flow --log FILE)")
    except OSError as error:
        fail(f"cannot read {path}: {error.strerror}")
    rows = []
    for number, line in enumerate(lines, 1):
        try:
            row = [int(word) for word in line.split()]
        except ValueError:
            row = []
        if len(row) != 4 or min(row) < 0 or (rows and row[0] <= rows[-1][0]):
            fail(f"{path}, line {number}: '{line[:60]}' is not 'iteration cells wanted had': this is no log of flow (flow --log FILE)")
        rows.append(row)
    if len(rows) < 2:
        fail(f"{path} has {len(rows)} lines: a run with more iterations than one adaptation is needed (flow --iterations, --every)")
    return rows


def draw(rows, picture):
    suffix = picture.suffix.lower()
    if suffix not in TERMINALS:
        fail(f"{picture}: its name has to end in {' or '.join(TERMINALS)}")
    data = "\n".join(" ".join(map(str, row)) for row in rows)
    most = max(max(row[2], row[3]) for row in rows) + 1
    try: # beside the picture, so that this replaces it in one step
        with tempfile.TemporaryDirectory(prefix=".picture-", dir=picture.resolve().parent) as folder:
            made = os.path.join(folder, "made")
            script = SCRIPT.format(terminal=TERMINALS[suffix], picture=made.replace("'", "''"), last=rows[-1][0], most=most,
                                   cells=max(1, 1.1 * max(row[1] for row in rows)))
            done = subprocess.run(["gnuplot"], input=f"$run << END\n{data}\nEND\n{script}", capture_output=True, text=True, check=False)
            if done.returncode or not os.path.exists(made):
                fail(f"gnuplot failed: {done.stderr.strip() or 'it says nothing'}")
            os.replace(made, picture)
    except FileNotFoundError as error:
        fail("gnuplot is not installed (Debian: gnuplot-nox)" if error.filename == "gnuplot" else f"cannot write {picture}: {error}")
    except OSError as error:
        fail(f"cannot write {picture}: {error}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", metavar="FILE")
    parser.add_argument("picture", metavar="PICTURE", type=pathlib.Path)
    options = parser.parse_args()
    draw(read(options.log), options.picture)


main()
