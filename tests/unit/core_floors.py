#!/usr/bin/env python3
"""The core's files stand in floors (docs/architecture.md): none calls a function of a higher one, and
no files call one another in a circle."""
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
CORE = TOP / "src" / "core"


def floors():
    """From the bottom up, as the page lists them from the top down."""
    text = (TOP / "docs" / "architecture.md").read_text()
    part = text.split("### The core's floors", 1)[1].split("\n## ", 1)[0].split("\n### ", 1)[0]
    rows = re.findall(r"^\| (?!floor\b|-)([^|]+)\| ([^|]+)\|", part, re.M)
    return [re.findall(r"`(\w+)\.c`", files) for _, files in reversed(rows)]


def code(path):
    """A file with the inline functions of its header, without comments and texts. core.h is the face
    of the whole folder."""
    text = re.sub(r"^static inline ", "static ", path.read_text(), flags=re.M)
    header = path.with_suffix(".h")
    if header.exists() and header.name != "core.h":
        text += "".join(re.findall(r"^static inline [^;{]*\)\n\{\n.*?^\}\n", header.read_text(),
                                   re.M | re.S))
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


def main():
    listed = floors()
    floor_of = {name: at for at, names in enumerate(listed) for name in names}
    bodies = {path.stem: code(path) for path in sorted(CORE.glob("*.c"))}
    wrong = [f"{name}.c stands on no floor" for name in bodies if name not in floor_of]
    wrong += [f"{name}.c is listed, and not there" for name in floor_of if name not in bodies]
    if len(floor_of) != sum(map(len, listed)):
        wrong.append("a file stands on two floors")
    defined = {}
    for name, body in bodies.items():
        for match in re.finditer(r"^(?!static (?!inline))[a-z][\w *]*?\b(\w+)\([^;{]*\)\n\{", body, re.M):
            defined[match.group(1)] = name
    assert len(defined) > 100, "the functions of src/core were not found"
    assert find_circle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
    calls = {}
    for name, body in bodies.items():
        for function, home in defined.items():
            if home == name or not re.search(rf"\b{function}\(", body):
                continue
            calls.setdefault(name, set()).add(home)
            if floor_of.get(home, 0) > floor_of.get(name, 99):
                wrong.append(f"{name}.c calls {function} of {home}.c, which stands above it")
    assert sum(map(len, calls.values())) > 100, "no calls were found"
    circle = find_circle(calls)
    if circle:
        wrong.append("files call one another in a circle: " + " -> ".join(circle))
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
