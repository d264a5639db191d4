#!/usr/bin/env python3
"""The flags by which the folders that run at every event are tuned (cmake/pleat.cmake) are those folders' own: whoever links
with their libraries is neither compiled nor linked with any of them.

usage: tuning_test.py BUILD on|off FOLDERS TARGETS - the tuned folders of src and the targets that are linked for speed, each
a list with commas. off: this build tunes nothing. Read is what the build does: compile_commands.json and build.ninja."""

import json
import pathlib
import re
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
TUNING = re.compile(r"(?<!\S)(?:-flto\S*|-ffat-lto-objects|-finline-limit=\S+|--param\S*|-fno-tree-vectorize"
                    r"|-mmemset-strategy=\S+|-fprofile-(?:use|generate)\S*)")
LINK = re.compile(r"^build (\S+).*?: C_(?:EXECUTABLE|SHARED_LIBRARY|SHARED_MODULE)_LINKER__(\S+)_[A-Za-z]+ .*\n"
                  r"((?:  .*\n)*)", re.MULTILINE)


def is_tuned(file, folders):
    path = pathlib.Path(file)
    return path.is_relative_to(SOURCE / "src") and path.relative_to(SOURCE / "src").parts[0] in folders


def compiled(build, is_on, folders):
    wrong, tuned = [], 0
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        flags = TUNING.findall(entry["command"])
        own = "/CMakeFiles/pleat-" in entry["command"] and is_tuned(entry["file"], folders)
        if flags and not own:
            wrong.append(f"{entry['file']} is compiled with {' '.join(flags)}")
        tuned += bool(flags and own)
    if (tuned > 0) != is_on:
        wrong.append(f"{tuned} files of {', '.join(folders)} are compiled with flags of tuning: is this test blind?")
    return wrong


def linked(build, is_on, targets):
    wrong, seen = [], 0
    for output, target, lines in LINK.findall((build / "build.ninja").read_text(encoding="utf-8")):
        flags = " ".join(line for line in lines.splitlines() if "FLAGS" in line)
        found = TUNING.findall(flags)
        seen += 1
        if found and target not in targets:
            wrong.append(f"{output} is linked with {' '.join(found)}")
        elif is_on and not found and "-fno-lto" not in flags.split():  # gcc optimizes at the link what objects bring for that
            wrong.append(f"{output} is linked without -fno-lto")
    if seen == 0:
        wrong.append("build.ninja links nothing: is this test blind?")
    return wrong


def main():
    build, is_on = pathlib.Path(sys.argv[1]), sys.argv[2] == "on"
    folders, targets = (argument.split(",") for argument in sys.argv[3:5])
    wrong = compiled(build, is_on, folders) + linked(build, is_on, targets)
    print("\n".join(wrong))
    return 1 if wrong else 0


sys.exit(main())
