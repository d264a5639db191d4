#!/usr/bin/env python3
"""app_examples.py TOP: docs/examples.md shows the differences between the programs of examples/ as they are, and
docs/outside-programs.md has the table that examples/changes prints."""
import difflib
import os
import re
import subprocess
import sys

top = sys.argv[1]
with open(os.path.join(top, "docs", "examples.md"), encoding="utf-8") as file:
    page = file.read()
shown = dict(re.findall(r"^```diff ([\w-]+)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE))
plain = {found[1]: found[2] for name in os.listdir(os.path.join(top, "examples"))
         if (found := re.fullmatch(r"(.*)-plain(\.c|\.f90)", name))}
there = sorted(plain)
if sorted(shown) != there:
    sys.exit(f"docs/examples.md shows {sorted(shown)}, examples/ has {there}")
for name in there:
    files = [os.path.join(top, "examples", name + end) for end in ("-plain" + plain[name], plain[name])]
    found = subprocess.run(["diff", "-U1", *files], capture_output=True, text=True, check=False).stdout
    lines = found.split("\n", 2)[2]
    if shown[name] != lines:
        sys.exit(f"docs/examples.md: {name} differs from diff -U1 of its two files:\n" +
                 "\n".join(difflib.unified_diff(shown[name].split("\n"), lines.split("\n"), lineterm="")))
    gone, come = (sum(line[0] == sign for line in lines.split("\n") if line) for sign in "-+")
    if f"| {gone} | {come} |" not in next(line for line in page.split("\n") if f"[{name}]" in line):
        sys.exit(f"docs/examples.md: {name}: {gone} lines went, {come} came")

table = subprocess.run([os.path.join(top, "examples", "changes")], capture_output=True, text=True, check=True).stdout
with open(os.path.join(top, "docs", "outside-programs.md"), encoding="utf-8") as file:
    if "\n\n" + table + "\n" not in file.read():
        sys.exit("docs/outside-programs.md does not have this, which examples/changes prints:\n" + table)
