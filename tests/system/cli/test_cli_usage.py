"""Wrong command lines: exit code 2, one line on stderr that says what is wrong; nothing is started."""

import os
import pathlib
import re

import pytest

COMMANDS = ("run submit launch mix ps show wait cancel grow shrink limits log events chart sites policies "
            "info stop sim workload help version").split()


@pytest.mark.parametrize("args, words", [
    ([], "command is missing"),
    (["sumbit"], "did you mean 'submit'"),
    (["xyzzy"], "no command 'xyzzy'"),
    (["ps", "--al=3"], "takes no value"),
    (["ps", "--bogus"], "unknown option '--bogus'"),
    (["ps", "-z"], "unknown option '-z'"),
    (["ps", "17"], "unexpected argument '17'"),
    (["show"], "too few arguments"),
    (["show", "x17"], "'x17' is not a job"),
    (["show", "0"], "'0' is not a job"),
    (["show", "99999999999999999999"], "is not a job"),
    (["run"], "which program?"),
    (["run", "--min"], "option '--min' needs a value"),
    (["run", "-n"], "option '-n' needs a value"),
    (["run", "-n", "zwei", "true"], "'zwei' is not a whole number from 1"),
    (["run", "-n", "0", "true"], "--processors: '0'"),
    (["run", "--mim", "2", "true"], "did you mean '--min'"),
    (["run", "--m", "2", "true"], "ambiguous"),
    (["submit", "--ntasks=4", "true"], "did you mean '--processors'"),
    (["submit", "--job-name", "x", "true"], "did you mean '--name'"),
    (["run", "--min", "4", "true"], "--min needs --max"),
    (["run", "--min", "4", "--max", "2", "true"], "--min 4 is above --max 2"),
    (["run", "-n", "4", "--max", "2", "true"], "exactly that many"),
    (["run", "--max", "4", "--initial", "5", "true"], "--initial 5 is not from"),
    (["run", "--sizes", "primes", "true"], "primes"),
    (["run", "--min", "5", "--max", "7", "--sizes", "powers", "true"], "none is from 5 to 7"),
    (["run", "--max", "8", "--initial", "3", "--sizes", "powers", "true"], "--initial 3 is not among"),
    (["run", "--runner", "fast", "true"], "none of: auto plain mpi malleable"),
    (["run", "--mpi", "lam", "true"], "none of: auto openmpi mpich none"),
    (["run", "--runner", "malleable", "true"], "not linked with an MPI"),
    (["run", "--asks", "true"], "--asks is for malleable jobs"),
    (["run", "--estimate", "nan", "true"], "--estimate"),
    (["run", "--estimate", "-1", "true"], "--estimate"),
    (["run", "--estimate", "2 weeks", "true"], "not a duration such as 90s"),
    (["run", "--estimate", "1e10", "true"], "--estimate"),
    # nobody says which unit is meant: asked, not guessed
    (["run", "--estimate", "90", "true"], "--estimate: 90 what? Say 90s, 90min"),
    (["run", "--time-limit", "90", "true"], "--time-limit: 90 what? Say 90s, 90min"),
    (["run", "--time-limit", "1:30", "true"], "is '1:30' 1h30min or 1min30s?"),
    (["run", "--time-limit", "1:75:00", "true"], "not a duration such as 90s"),
    (["run", "--time-limit", "1d2", "true"], "not a duration such as 90s"),
    (["run", "--begin", "90", "true"], "--begin: 90 what?"),
    (["clean", "--older-than", "30"], "--older-than: 30 what? Say 30s, 30min, 30h or 30d"),
    (["clean", "--before", "30"], "--before: 30 what?"),
    (["clean", "--before", "-30"], "--before: 30 what?"),
    (["clean", "--before", "2026-11"], "--before: '2026-11' is not a time"),
    (["events", "--since", "30"], "--since: 30 what?"),
    (["history", "--from", "30"], "--from: 30 what?"),
    (["history", "--clear"], "--clear needs --program"),
    (["history", "--program", "heat", "--name", "a*", "--clear"], "--program is not about jobs"),
    (["history", "--program", "heat", "3"], "--program is not about jobs"),
    (["limits", "1", "--time-limit", "30"], "--time-limit: 30 what?"),
    (["wait", "--retry", "30"], "--retry: 30 what?"),
    (["log", "1", "--retry", "30s"], "--retry goes with --follow"),
    (["events", "--retry", "30s"], "--retry goes with --follow"),
    (["sites", "--interval", "2"], "--interval goes with --watch"),
    (["top", "--once", "--interval", "2"], "--interval does not go with --once"),
    (["run", "--priority", "high", "true"], "--priority: 'high'"),
    (["run", "--priority", "40000", "true"], "--priority: '40000'"),
    (["run", "--deadline", "0", "true"], "--deadline: it must be in the future"),
    (["run", "--deadline", "25:00", "true"], "--deadline: '25:00' is not a time of the day"),
    (["run", "--deadline", "14:30x", "true"], "--deadline: '14:30x' is not a time of the day"),
    (["run", "--begin", "1h", "true"], "--begin needs --estimate"),
    (["run", "--begin", "tomorrow", "--estimate", "5s", "true"], "--begin: 'tomorrow'"),
    (["run", "--name", "", "true"], "--name"),
    (["submit", "--chdir", "", "true"], "--chdir"),
    (["grow", "1"], "too few arguments"),
    (["grow", "1", "0"], "number of processors: '0'"),
    (["grow", "1", "2", "--to", "3"], "unexpected argument"),
    (["grow", "--voluntary", "1", "2"], "unknown option '--voluntary'"),
    (["limits", "1"], "what to change?"),
    (["limits", "1", "--min", "3", "--max", "2"], "--min 3 is above --max 2"),
    (["chart", "--from", "x"], "--from: 'x'"),
    (["mix"], "too few arguments"),
    (["mix", "--expect", "luck", "f"], "none of: grown shrunk results"),
    (["help", "nonsense"], "no command 'nonsense'"),
])
def test_usage_errors(cli, args, words):
    done = cli(*args)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert done.stderr.startswith("pleat: ") and done.stderr.count("\n") == 1
    assert os.listdir(cli.path) == []


@pytest.mark.parametrize("command", COMMANDS)
def test_help(cli, command):
    done = cli(command, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Usage: pleat" in done.stdout
    assert done.stdout == cli("help", command).stdout
    assert max(map(len, done.stdout.splitlines())) <= 100
    assert not re.search(r" $", done.stdout, re.MULTILINE)
    if command != "help":
        assert "Exit code" in done.stdout
    if command not in ("help", "version"):
        assert "Example" in done.stdout


def test_the_reference_has_every_option_and_code(cli):
    text = (pathlib.Path(__file__).resolve().parents[3] / "docs" / "commands.md").read_text()
    for command in COMMANDS:
        assert f"`pleat {command}" in text
        options = set(re.findall(r"(?<![\w-])--[a-z-]+", cli("help", command).stdout))
        assert {option for option in options if f"`{option}" not in text} <= {"--json"}
    header = (pathlib.Path(__file__).resolve().parents[3] / "src/cli/common/exit.h").read_text()
    for code in re.findall(r"= (\d+)", header):
        assert re.search(rf"^\| {code}\b", text, re.M)


def test_help_lists_all(cli):
    text = cli("help").stdout
    assert all(f"\n  {command} " in text for command in COMMANDS)


def test_version(cli):
    assert cli("version").stdout == cli("--version").stdout != ""


def test_unknown_programs(cli):
    assert cli("run", "no-such-program").returncode == 127
    done = cli("submit", "no-such-program")
    assert done.returncode == 1 and "no program 'no-such-program' in PATH" in done.stderr
    assert cli("run", "/no/such/program").returncode == 127
    done = cli("run", "/etc/passwd")
    assert done.returncode == 126 and "not marked executable" in done.stderr
    done = cli("run", "/etc")
    assert done.returncode == 126 and "no regular file" in done.stderr
    done = cli("run", "--chdir", "/no/such/directory", "true")
    assert done.returncode == 125 and "/no/such/directory" in done.stderr
    assert os.listdir(cli.path) == []


def test_options_end_at_the_program(cli):
    with cli.fake({"submit": {"job": 5, "warnings": []}}) as fake:
        assert cli("submit", "-n", "2", "echo", "--min", "3", "--json").stdout == "5\n"
        assert cli("submit", "--", "echo", "--", "x").stdout == "5\n"
        first, second = fake.asked("submit")
    assert first["argv"][1:] == ["--min", "3", "--json"] and first["min"] == first["max"] == 2
    assert second["argv"][1:] == ["--", "x"]


def test_dir_is_where_to_look(cli):
    with cli.fake():
        assert cli("--dir", cli.path, "ps", "-a", env={"PLEAT_DIR": "/nonexistent"}).returncode == 0
        assert cli("ps", "-a", "--dir", cli.path, env={"PLEAT_DIR": "/nonexistent"}).returncode == 0
