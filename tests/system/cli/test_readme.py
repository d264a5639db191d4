"""The first five minutes of the README, as they are printed there."""

import os
import pathlib
import re
import subprocess
import time

import pytest

TOP = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ["PLEAT_BUILD"]).resolve()
LIMIT_S = 100


def walk():
    """The commands of the first block that sets PLEAT_DIR, with what their comments say."""
    blocks = re.findall(r"^```\n(.*?)^```$", (TOP / "README.md").read_text(), re.M | re.S)
    lines = next(block for block in blocks if "PLEAT_DIR=" in block).splitlines()
    assert all(line.startswith("$ ") for line in lines)
    return [re.fullmatch(r"\$ (.*?)(?:\s+# (.*))?", line).groups() for line in lines]


class Shell:
    """Commands one after another; what one exports, the next ones have."""

    def __init__(self, path):
        self.path = path
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("PLEAT_")}
        self.env["TMPDIR"] = str(path)

    def __call__(self, command):
        done = subprocess.run(["bash", "-c", command + "\nrc=$?; env -0 >.env; exit $rc"],
                              cwd=self.path, env=self.env, timeout=LIMIT_S, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.env = dict(line.split("=", 1) for line in
                        (self.path / ".env").read_text().split("\0") if "=" in line)
        return done


# What a person sees after a look or two at `pleat ps`, by the comment beside it.
SEEN = {
    "it runs on all 8": r"^ *1 long +running +8 ",
    "the first one was shrunk to 2, so that this one runs": r"^ *1 long +running +2 .*\n *2 wide +running +6 ",
    "the first one grows back": r"^ *1 long +running +8 ",
}


@pytest.fixture
def shell(tmp_path):
    (tmp_path / "build").symlink_to(BUILD)
    made = Shell(tmp_path)
    yield made
    if "PLEAT_DIR" in made.env:
        made("pleat stop --force 2>/dev/null")


def test_first_five_minutes(shell):
    seen = []
    for command, comment in walk():
        until = time.monotonic() + LIMIT_S
        while True:  # a person looks again, and tries again what is refused until a resize is over
            done = shell(command)
            busy = "in a resize already" in done.stderr
            if not busy and re.search(SEEN.get(comment, ""), done.stdout, re.M):
                break
            assert time.monotonic() < until, (command, done)
        assert done.returncode == (1 if comment and comment.startswith("refused") else 0), (command, done)
        seen += [comment] if comment in SEEN else []
        if command.startswith("pleat why"):
            assert "shrunk 8 -> 2" in done.stdout and "for job 2, which waited" in done.stdout
        if command.startswith("pleat grow 1 2"):
            assert re.search(r"0 of 8 may be used for growing now.*job 1 has 2, job 2 has 6", done.stderr)
    assert seen == list(SEEN)
