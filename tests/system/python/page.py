"""The page docs/simulation-from-python.md as a program: its blocks of code, and what they print.

usage: page.py [--write]      runs it. --write: puts what is printed, and the figures, into docs/"""

import contextlib
import io
import os
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs/simulation-from-python.md"
FIGURES = ROOT / "docs/simulation-from-python"
BLOCK = re.compile(r"<!-- run(: figures)? -->\n```python\n(.*?)```\n(?:\n```\n(.*?)```\n)?", re.DOTALL)


def run(directory, figures=True):
    """[(code, what the page says that it prints, what it prints)]; figures are drawn into the directory."""
    names, done = {}, []
    before = os.getcwd()
    os.chdir(directory)
    try:
        for drawing, code, said in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
            if drawing and not figures:
                continue
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(code, PAGE.name, "exec"), names)  # pylint: disable=exec-used
            done.append((code, said, out.getvalue()))
    finally:
        os.chdir(before)
    return done


def write():
    """Brings the page and its figures up to date."""
    text = PAGE.read_text(encoding="utf-8")
    FIGURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        printed = iter(run(directory))

        def filled(match):
            _, _, output = next(printed)
            end = match.start(3) if match[3] is not None else None
            if end is None:
                return match[0]
            return text[match.start():end] + output + text[match.end(3):match.end()]

        PAGE.write_text(BLOCK.sub(filled, text), encoding="utf-8")
        for figure in pathlib.Path(directory).glob("*.svg"):
            (FIGURES / figure.name).write_bytes(figure.read_bytes())


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "bindings/python"))
    if sys.argv[1:] == ["--write"]:
        write()
    else:
        for _, _, shown in run("."):
            print(shown, end="")
