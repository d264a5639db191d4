#!/usr/bin/env python3
"""In each folder of FOLDERS the files stand in floors (docs/architecture.md): none calls a function of a
higher one. In these folders and in all others of src no files call one another in a circle. A header belongs
to the file of its name; one without such a file is looked at like a file itself."""
import fnmatch
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
SRC = TOP / "src"
FOLDERS = ("core", "agent", "daemon", "policy")


def floors(folder, names):
    """From the bottom up, as the page lists them from the top down. `*` stands for any letters."""
    text = (TOP / "docs" / "architecture.md").read_text()
    part = text.split(f"### The {folder}'s floors\n", 1)[1].split("\n## ", 1)[0].split("\n### ", 1)[0]
    rows = re.findall(r"^\| (?!floor\b|-)([^|]+)\| ([^|]+)\|", part, re.M)
    listed = []
    for _, files in reversed(rows):
        patterns = re.findall(r"`([\w*-]+)\.c`", files)
        listed.append([name for pattern in patterns
                       for name in (fnmatch.filter(names, pattern) or [pattern])])
    return listed


def inline(header):
    """The inline functions of a header. core.h is the face of the whole folder: nothing of it counts."""
    if header.name == "core.h" or not header.exists():
        return ""
    return "".join(re.findall(r"^static inline [^;{]*\)\n\{\n.*?^\}\n", header.read_text(), re.M | re.S))


def code(path):
    """A file with the inline functions of its header, or a header, without comments and texts."""
    text = inline(path.with_suffix(".h"))
    if path.suffix == ".c":
        text = re.sub(r"^static inline ", "static ", path.read_text(), flags=re.M) + text
    return re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\])*"', "", text, flags=re.S)


def find_circle(calls):
    """Names of `calls` (name: those it calls) that lead to one another, in order; or None."""
    done = set()

    def visit(name, path):
        if name in path:
            return path[path.index(name):] + [name]
        if name in done:
            return None
        for other in sorted(calls.get(name, ())):
            found = visit(other, path + [name])
            if found:
                return found
        done.add(name)
        return None

    for name in sorted(calls):
        found = visit(name, [])
        if found:
            return found
    return None


def calls_within(folder):
    """{name: {name it uses: a function that it uses there}} of the files of a folder; headers without a
    .c file have names that end with .h. Naming a function counts as calling it, as in a table of functions or
    for a callback."""
    bodies = {path.stem: code(path) for path in sorted((SRC / folder).glob("*.c"))}
    bodies |= {path.name: code(path) for path in sorted((SRC / folder).glob("*.h"))
               if path.stem not in bodies}
    defined = {}
    for name, body in bodies.items():
        for match in re.finditer(r"^(?!static (?!inline))[a-z][\w *]*?\b(\w+)\([^;{]*\)\n\{", body, re.M):
            defined[match.group(1)] = name
    calls = {name: {} for name in bodies}
    for name, body in bodies.items():
        for word in sorted(set(re.findall(r"\b\w+\b", body)) & set(defined)):
            plain = "_" not in word and not re.search(rf"\b{word}\(", body)
            if plain or re.search(rf"^static (?!inline)[^;{{]*\b{word}\([^;{{]*\)\n\{{", body, re.M):
                continue # a variable; a function of this file
            if defined.get(word, name) != name:
                calls[name].setdefault(defined[word], word)
    return calls


def check_floors(folder, calls):
    calls = {name: used for name, used in calls.items() if not name.endswith(".h")}
    listed = floors(folder, list(calls))
    floor_of = {name: at for at, names in enumerate(listed) for name in names}
    wrong = [f"{folder}/{name}.c stands on no floor" for name in calls if name not in floor_of]
    wrong += [f"{folder}/{name}.c is listed, and not there" for name in floor_of if name not in calls]
    if len(floor_of) != sum(map(len, listed)):
        wrong.append(f"a file of {folder} stands on two floors")
    for name, used in calls.items():
        wrong += [f"{folder}/{name}.c calls {function} of {home}.c, which stands above it"
                  for home, function in used.items()
                  if floor_of.get(home, 0) > floor_of.get(name, 99)]
    return wrong


def main():
    assert find_circle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
    wrong = []
    for path in sorted(SRC.glob("**/")):
        folder = str(path.relative_to(SRC))
        calls = calls_within(folder)
        if folder in FOLDERS:
            assert sum(map(len, calls.values())) > 50, f"hardly any calls were found in {folder}"
            wrong += check_floors(folder, calls)
        circle = find_circle(calls)
        if circle:
            wrong.append(f"files of {folder} call one another in a circle: " + " -> ".join(circle))
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
