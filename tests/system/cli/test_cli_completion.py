"""Completion in shells: bash does it for real; jobs without a daemon being started."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest
from story import JOBS

BUILD = pathlib.Path(os.environ["PLEAT_BUILD"])

# What bash offers for a line with the cursor at its end, a word a line.
DRIVER = r'''
source "$1"
COMP_LINE=$2 COMP_POINT=${#2}
_pleat
printf '%s\n' "${COMPREPLY[@]}"
'''


@pytest.fixture
def offers(cli, tmp_path):
    script = tmp_path / "pleat.bash"
    script.write_text(cli("help", "--completion", "bash").stdout)

    def complete(line):
        env = dict(cli.env, PATH=f"{BUILD}/bin:{os.environ['PATH']}")
        done = subprocess.run(["bash", "--norc", "-c", DRIVER, "driver", str(script), line],
                              capture_output=True, text=True, env=env, timeout=60, check=True)
        assert done.stderr == ""
        return [word for word in done.stdout.split("\n") if word]

    return complete


def test_commands_and_subcommands(offers, cli):
    commands = re.findall(r"^  (\w+) ", cli("help").stdout, re.MULTILINE)
    assert sorted(offers("pleat ")) == sorted(commands)
    assert sorted(offers("pleat s")) == sorted(c for c in commands if c.startswith("s"))
    assert sorted(offers("pleat help to")) == ["top"]
    assert sorted(offers("pleat workload ")) == ["convert", "generate", "stat"]
    assert sorted(offers("pleat workload generate ")) == ["grid", "lublin", "simple", "utrera"]
    assert offers("pleat --no-color wor") == ["workload"]


def test_options(offers):
    assert {"--min", "--max", "-n", "--processors", "--help", "--dir"} <= set(offers("pleat run -"))
    assert offers("pleat events --fo") == ["--follow"]
    assert offers("pleat workload generate lublin --cl") == ["--class"]
    assert "--json" in offers("pleat ps --") and "--json" not in offers("pleat log --")


def test_every_command_takes_the_options_that_are_offered(offers, cli):
    for command in offers("pleat "):
        for option in offers(f"pleat {command} --"):
            if option == "--dir":
                continue  # what follows would be taken as the place of a daemon
            done = cli(command, option, "--help")  # help; or it took that as the option's value
            assert "unknown option" not in done.stderr, (command, option)


def test_values(offers):
    assert {"egs", "fpsma", "none", "priority"} <= set(offers("pleat mix --malleability "))
    assert offers("pleat mix --queue=ea") == ["easy"]
    assert offers("pleat sim --queue e") == offers("pleat sim --queue=e") == ["easy", "edf"]
    assert offers("pleat sim --approach pw") == offers("pleat mix --approach pw") != []
    assert "periodic" in offers("pleat sim --buffer pe")
    assert {"any", "powers", "table"} <= set(offers("pleat sim --sizes "))
    assert "table" not in offers("pleat submit --sizes ") and "grids" in offers("pleat submit --sizes ")
    assert offers("pleat policies queue=ea") == ["easy"]  # bash keeps what is before the '='
    assert "approach=pra" in offers("pleat policies ")
    assert offers("pleat history --by na") == ["name"]
    assert offers("pleat submit --runner ma") == ["malleable"]


def test_descriptions_are_whole(cli):
    """What an option is about goes on in the lines below it; what has no room ends at a word."""
    script = cli("help", "--completion", "zsh").stdout
    assert "with --generate the workload, too'" in script  # of --seeds, in three lines
    options = re.findall(r"'(--[a-z-]+):([^']*)'", script)
    assert len(options) > 100
    cut = [text for _, text in options if text.endswith("...")]
    assert all(len(text) > 150 for text in cut)


def test_programs(offers):
    assert "printf" in offers("pleat run -n 2 print") or "printenv" in offers("pleat run -n 2 print")
    assert offers("pleat run -n 2 ls --") == []  # the program's own: files
    assert offers("pleat run -- ls -") == []


def test_jobs(offers, cli):
    assert offers("pleat cancel ") == []
    assert os.listdir(cli.path) == []  # no daemon was started
    with cli.fake({"jobs": {"jobs": [dict(job, state="running") for job in JOBS]}}) as fake:
        assert offers("pleat cancel ") == ["1", "2", "3", "4"]
        assert offers("pleat why 3") == ["3"]
        assert offers("pleat shrink --to 2 ") == ["1", "2", "3", "4"]
        assert all(asked["all"] is False for asked in fake.asked("jobs"))
        assert offers(f"pleat --dir {cli.path}/nowhere cancel ") == []


@pytest.mark.parametrize("shell, file", [("bash", "pleat.bash"), ("zsh", "_pleat"),
                                         ("fish", "pleat.fish")])
def test_scripts(cli, shell, file):
    text = cli("help", "--completion", shell).stdout
    assert (BUILD / "completion" / file).read_text() == text
    assert "malleability" in text and "--follow" in text or "follow" in text
    program = shutil.which(shell)
    if program:
        subprocess.run([program, "-n", str(BUILD / "completion" / file)], check=True, timeout=60)


def test_no_such_shell(cli):
    done = cli("help", "--completion", "tcsh")
    assert done.returncode == 2 and "bash, zsh, fish" in done.stderr
