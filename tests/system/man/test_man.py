"""Manual pages: a page for every command, all its options in it and no others; every key of the
configuration, method of the protocol and public function; pages that are named are there."""

import functools
import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ["PLEAT_BUILD"])
SOURCES = {path.name[:-len(".scd")]: path for path in sorted((ROOT / "docs/man").glob("*.scd"))}
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
# subcommands of subcommands share their command's page
PARTS = {"workload": ["", "stat", "convert", "generate", "generate simple", "generate lublin",
                      "generate utrera", "generate grid"],
         "site": ["", "add", "remove", "drain", "resume"]}
# pages that refer to another one for the options that they share
SHARED = {"run": "submit"}
# programs of others that pages speak of
OTHERS = {"systemctl": {"--user", "--now"}}


@functools.lru_cache(maxsize=None)
def output(program, *args):
    done = subprocess.run([str(BUILD / "bin" / program), *args], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=60,
                          env=dict(os.environ, LC_ALL="C.UTF-8", COLUMNS="200"))
    assert done.returncode == 0, done.stderr
    return done.stdout


def commands():
    listed = output("pleat", "help").split("Commands:\n", 1)[1].split("\n\n")[0]
    return re.findall(r"^  ([a-z]+) ", listed, re.MULTILINE)


@functools.lru_cache(maxsize=None)
def source(page):
    """A page's source, with the rows of the guides that it asks for."""
    done = subprocess.run(["awk", "-v", f"docs={ROOT / 'docs'}", "-f", str(ROOT / "docs/man/fill.awk"),
                           str(SOURCES[page])], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def sections(page):
    """{title: its text} of a page's source."""
    found = re.split(r"^# (.+)$", source(page), flags=re.MULTILINE)
    return dict(zip(found[1::2], found[2::2]))


def rendered(page):
    """The page as it is read, on wide lines."""
    done = subprocess.run(["man", "-l", str(BUILD / "man" / page)], stdout=subprocess.PIPE, text=True,
                          timeout=60, stderr=subprocess.PIPE,
                          env=dict(os.environ, MANWIDTH="2000", LC_ALL="C.UTF-8",
                                   MAN_KEEP_FORMATTING="", MANROFFOPT="-rHY=0"))
    assert done.returncode == 0 and done.stdout, done.stderr
    return done.stdout.replace("\u2010", "-").replace("\u2212", "-")


def help_options(command):
    """All options that a command's help names in the place of an option, those of all left out."""
    options = set()
    for part in PARTS.get(command, [""]):
        text = output("pleat", command, *part.split(), "--help").split("\nOptions of all commands:")[0]
        for line in text.splitlines():
            if line.startswith("Usage:"):
                options |= set(OPTION.findall(line))
            elif re.match(r"^\s*(-\w, )?--", line):
                # what stands before the explanation, which begins after two blanks
                options |= set(OPTION.findall(re.split(r"(?<=\S)  +", line.strip())[0]))
                options |= set(re.findall(r" (--[a-z][a-z-]*) [A-Z]+:", line))
    return options


def terms(page):
    """The options that a page explains: those in the terms of its definitions."""
    return {option for line in source(page).splitlines() if re.match(r"^\*-", line)
            for option in OPTION.findall(line.replace("\\", ""))}


def common():
    return terms("pleat.1")


def test_there_is_a_page_for_every_command_and_none_besides():
    pages = {page[len("pleat-"):-2] for page in SOURCES
             if page.startswith("pleat-") and page.endswith(".1")}
    assert pages == set(commands())


def test_the_common_options_are_in_the_first_page():
    text = output("pleat", "ps", "--help").split("\nOptions of all commands:")[1]
    assert set(OPTION.findall(re.sub(r"\(.*?\)", "", text, flags=re.DOTALL))) <= common()


@pytest.mark.parametrize("command", commands())
def test_a_page_has_all_options_and_no_others(command):
    page = f"pleat-{command}.1"
    explained = terms(page)
    if command in SHARED:
        assert f"*pleat-{SHARED[command]}*(1)" in sections(page)["OPTIONS"]
        explained |= terms(f"pleat-{SHARED[command]}.1")
    there = help_options(command)
    assert explained - there - common() == set(), "only in the page"
    assert there - explained - common() == set(), "only in --help"


@pytest.mark.parametrize("program", ["pleatd", "pleat-agent", "pleat-pmi", "pleat-remote", "pleat-courier", "pleat-slurm", "pleat-gridengine"])
def test_pages_of_daemons_have_all_options(program):
    assert terms(f"{program}.8") == set(OPTION.findall(output(program, "--help")))


@pytest.mark.parametrize("page", SOURCES)
def test_no_page_names_an_option_that_does_not_exist(page):
    known = common() | {"--"}
    for command in commands():
        known |= help_options(command)
    for program in ("pleatd", "pleat-agent", "pleat-pmi", "pleat-remote", "pleat-courier", "pleat-slurm", "pleat-gridengine"):
        known |= set(OPTION.findall(output(program, "--help")))
    text = source(page)
    for program, options in OTHERS.items():
        text = "\n".join(line for line in text.splitlines() if not line.startswith(program + " "))
    # in examples, options behind -- are those of the program that is run, or of another in the line
    text = re.sub(r" -- .*", "", text)
    text = re.sub(r"\b(pkg-config|tail|jq)\b.*", "", text)
    assert set(OPTION.findall(text)) <= known


def test_examples_of_command_lines_are_understood():
    """What a page shows as a command line of pleat is one: its options belong to that command."""
    seen, names = 0, commands()
    for page in SOURCES:
        for command, rest in re.findall(r"^(?:\t*)(?:\w+=\$\()?pleat ([a-z]+)([^|>&)\n]*)", source(page),
                               re.MULTILINE):
            assert command in names, f"{page}: pleat {command}"
            own = terms(f"pleat-{command}.1") | common()
            if command in SHARED:
                own |= terms(f"pleat-{SHARED[command]}.1")
            assert set(OPTION.findall(rest.split(" -- ")[0])) <= own, f"{page}: pleat {command}{rest}"
            seen += 1
    assert seen > 30


@pytest.mark.parametrize("page", SOURCES)
def test_a_page_is_complete(page):
    assert (BUILD / "man" / page).is_file()
    has = sections(page)
    needed = {"1": ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "EXAMPLES", "SEE ALSO"],
              "8": ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "SEE ALSO"],
              "5": ["NAME", "DESCRIPTION", "EXAMPLES", "FILES", "SEE ALSO"],
              "7": ["NAME", "DESCRIPTION", "SEE ALSO"],
              "3": ["NAME", "SYNOPSIS", "DESCRIPTION", "EXAMPLES", "SEE ALSO"]}[page[-1]]
    assert [title for title in needed if not has.get(title, "").strip()] == []
    name, section = page.rsplit(".", 1)
    assert source(page).startswith(f"{name}({section}) ")
    assert re.match(rf"{re.escape(name)} - \S", has["NAME"].strip())
    # every page that is named is there, and the first page leads to all
    for other, number in re.findall(r"\*([\w.-]+)\*\((\d)\)", source(page)):
        assert f"{other}.{number}" in SOURCES, f"{other}({number})"


def test_the_first_page_lists_every_command():
    listed = set(re.findall(r"\*pleat-(\w+)\*\(1\)", sections("pleat.1")["COMMANDS"]))
    assert listed == set(commands())


def guide_rows(file, titles):
    """First and second cells of the tables in those sections of a guide."""
    text = (ROOT / "docs" / file).read_text()
    rows = []
    for title in titles:
        part = re.split(rf"^#+ {re.escape(title)}$", text, flags=re.MULTILINE)[1]
        part = re.split(r"^#+ ", part, flags=re.MULTILINE)[0]
        rows += re.findall(r"^\| (`.*?`) \|(?: `?(.*?)`? \|)", part, re.MULTILINE)
    assert rows
    return rows


def test_every_key_of_the_configuration_has_its_default():
    """The guide's tables are compared with the code by the unit test of the configuration."""
    text = rendered("pleat.conf.5")
    text_of_guide = (ROOT / "docs/admin-guide.md").read_text()
    keys = []
    for table in re.findall(r"^\| key \| default \|.*\n\|.*\n((?:\|.*\n)+)", text_of_guide, re.MULTILINE):
        keys += re.findall(r"^\| `(\w+)` \| `([^`]*)` \|", table, re.MULTILINE)
    assert len(keys) > 20
    for key, default in keys:
        assert re.search(rf"^ +{key} = {re.escape(default)}$", text, re.MULTILINE), key


def test_every_method_of_the_protocol_has_its_entry():
    text = rendered("pleat-protocol.7")
    rows = guide_rows("protocol.md", ["Client and daemon", "Agent and daemon"])
    methods = {name for cell, _ in rows for name in re.findall(r"`([a-z_]+)`", cell)}
    assert {"submit", "start", "exited"} <= methods
    for method in methods:
        assert re.search(rf"^ +(?:\w+, )*{method}\b", text, re.MULTILINE), method


def test_every_situation_of_the_resize_contract_is_there():
    text = re.sub(r"\s+", " ", rendered("pleat-resize-contract.7"))
    rows = re.findall(r"^\| (.+?) \| .* \| `test_", (ROOT / "docs/resize-contract.md").read_text(),
                      re.MULTILINE)
    assert len(rows) > 40
    for situation in rows:
        assert situation.replace("`", "") in text


def test_every_function_of_the_simulator_is_described():
    exported = set(re.findall(r"\b(pleat_\w+);", (ROOT / "src/simlib/simlib.map").read_text()))
    assert exported <= set(re.findall(r"\bpleat_simulation_\w+", rendered("libpleat-sim.3")))


def test_every_public_function_and_outcome_is_described():
    text = rendered("libpleat.3")
    exported = re.findall(r"\b(pleat_\w+);", (ROOT / "src/app/pleat.map").read_text())
    header = re.sub(r"/\*.*?\*/", "", (ROOT / "include/pleat.h").read_text(), flags=re.DOTALL)
    declared = set(re.findall(r"\b(pleat_(?:session|value|rows|[a-z]+)_\w+)\(", header))
    assert exported and set(exported) <= declared
    for function in sorted(declared):
        assert re.search(rf"\b{function}\b", text), function
    for outcome in re.findall(r"^\s+(PLEAT_[A-Z]+) = -?\d", header, re.MULTILINE):
        assert re.search(rf"\b{outcome}\b", text), outcome


@pytest.mark.parametrize("page", SOURCES)
def test_a_page_can_be_read_without_complaint(page):
    done = subprocess.run(["man", "--warnings", "-l", str(BUILD / "man" / page)],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=60,
                          env=dict(os.environ, MANWIDTH="80", LC_ALL="C.UTF-8"))
    # long words in narrow definitions cannot be broken: that is no mistake of the page
    serious = [line for line in done.stderr.splitlines() if "cannot" not in line and line.strip()]
    assert (done.returncode, serious) == (0, [])
