"""pleat experiment: the list, a quick run of each, its page, its JSON, interruption."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import xml.etree.ElementTree

import pytest
from conftest import PLEAT

ROOT = pathlib.Path(__file__).resolve().parents[3]
GNUPLOT = shutil.which("gnuplot")
needs_gnuplot = pytest.mark.skipif(not GNUPLOT, reason="gnuplot is not installed")
NAMES = [e["name"] for e in json.loads(subprocess.run([PLEAT, "experiment", "--json"], timeout=60, check=True,
                                                      stdout=subprocess.PIPE).stdout)["experiments"]]


def test_the_list(cli):
    text = cli("experiment").stdout
    assert all(name in text for name in NAMES) and "SEEDS" in text
    for entry in json.loads(cli("experiment", "--json").stdout)["experiments"]:
        assert set(entry) == {"name", "title", "source", "summary", "seeds", "logs"}
        assert (ROOT / "experiments" / entry["name"] / "README.md").is_file()
        assert not entry["summary"].endswith(".")


@needs_gnuplot
def test_intervals_only_where_seeds_differ(cli, tmp_path):
    """A quick run has few seeds; without a conversion one log gives one value, however often."""
    log = tmp_path / "log.swf"
    assert cli("workload", "generate", "lublin", "--jobs", "80", "--machine", "32", str(log)).returncode == 0
    done = cli("experiment", "logs", "--quick", "--log", str(log), "--json", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["experiments"][0]["seeds"] == 4
    page = (tmp_path / "logs" / "page.md").read_text()
    rigid = [line for line in page.splitlines() if line.startswith("| 0 % | ")]
    assert rigid and not any("±" in line for line in rigid[:1])
    svg = "".join(xml.etree.ElementTree.parse(tmp_path / "logs" / "turnaround.svg").getroot().itertext())
    assert "log" in svg and "Lublin, load" not in svg and "Lublin load 1.0" in svg
    one = cli("experiment", "logs", "--quick", "--seeds", "1", "--out", str(tmp_path / "one"),
              env={"LC_ALL": "C"})
    assert one.returncode == 0 and "±" not in (tmp_path / "one" / "logs" / "page.md").read_text()
    shown = cli("experiment", "logs", "--quick", "--out", str(tmp_path / "c"), env={"LC_ALL": "C"}).stdout
    assert "quick: nothing is checked" in shown and "?" not in shown
    table = shown[shown.index("LABEL"):shown.index("Page and figures")].splitlines()
    assert max(map(len, table)) <= 100  # a pipe


@needs_gnuplot
@pytest.mark.parametrize("name", NAMES)
def test_a_quick_run_writes_a_whole_page(cli, tmp_path, name):
    done = cli("experiment", name, "--quick", "--seeds", "2", "--json", "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    (entry,) = result["experiments"]
    assert result["holds"] and entry["holds"] and entry["quick"] and entry["seeds"] == 2
    for shape in entry["shapes"]:
        assert set(shape) == {"statement", "where", "label", "checked", "holds", "measured"}
        assert not shape["checked"] and shape["statement"] and shape["where"]
    page = pathlib.Path(entry["page"])
    assert page == tmp_path / "out" / name / "page.md"
    text = page.read_text()
    assert text.startswith(f"# {entry['title']}\n") and "A quick run" in text
    cautions = text.split("## What may not be concluded\n")[1].split("\n## ")[0]
    assert cautions.count("\n- ") >= 3 and "tell the mean of this model" in cautions
    assert "nan" not in re.sub(r"[`*].*?[`*]", "", text).lower().split()
    figures = re.findall(r"\]\(([\w.-]+\.svg)\)", text)
    assert sorted(figures) == sorted(p.name for p in page.parent.glob("*.svg")) and figures
    for figure in figures:
        xml.etree.ElementTree.parse(page.parent / figure)
    again = cli("experiment", name, "--quick", "--seeds", "2", "--threads", "1", "--out", str(tmp_path / "again"))
    assert again.returncode == 0 and "Page and figures:" in again.stdout
    for file in page.parent.iterdir():  # in one thread, or in several: the same bytes
        assert (tmp_path / "again" / name / file.name).read_bytes() == file.read_bytes()


@needs_gnuplot
def test_logs_are_run_besides_generated_workloads(cli, tmp_path):
    jobs = "".join(f"{i} {60 * i} -1 {100 + i % 7 * 300} {1 + i % 8} -1 -1 {1 + i % 8} -1 -1 1 1 1 -1 -1 -1 -1 -1\n"
                   for i in range(1, 41))
    (tmp_path / "own.swf").write_text("; MaxProcs: 16\n" + jobs)
    (tmp_path / "bare.swf").write_text(jobs)
    run = ["experiment", "logs", "--quick", "--seeds", "2", "--json", "--out", str(tmp_path / "out"), "--log"]
    done = cli(*run, str(tmp_path / "own.swf"))
    assert done.returncode == 0, done.stderr
    text = pathlib.Path(json.loads(done.stdout)["experiments"][0]["page"]).read_text()
    assert "| own | 40 | 16 |" in text and "| Lublin, load 1.0 |" in text and "No recorded log" not in text
    for policy in json.loads(cli("policies", "--json").stdout)["policies"]:
        if policy["name"] in ("pwa", "minimum"):  # of all rows but those that say so
            continue
        assert re.search(rf"^\|.*\b{re.escape(policy['name'])}\b.*\|$", text, re.MULTILINE), policy
    done = cli(*run, str(tmp_path / "bare.swf"))
    assert done.returncode != 0 and "bare.swf" in done.stderr and "MaxProcs" in done.stderr
    done = cli(*run, str(tmp_path / "none.swf"))
    assert done.returncode != 0 and "none.swf" in done.stderr


@pytest.mark.parametrize("name", NAMES)
def test_the_page_of_the_docs_is_complete(name):
    folder = ROOT / "docs" / "experiments" / name
    text = (folder / "page.md").read_text()
    assert "A quick run" not in text
    assert sorted(re.findall(r"\]\(([\w.-]+\.svg)\)", text)) == sorted(p.name for p in folder.glob("*.svg"))
    # each shape has a label, and the head counts them
    found = text.split("## What of the paper is found")[1].split("\n## ")[0]
    labels = [re.split(r"(?<!\\)\|", row)[3].strip().strip("*")
              for row in re.findall(r"^\|.*\|$", found, re.MULTILINE)[2:]]
    claimed, fitted, missed = (labels.count(label) for label in ("claimed", "fitted", "not found"))
    assert labels and claimed + fitted + missed == len(labels), labels
    assert (f"{len(labels)} statements: {claimed} claimed, {fitted} fitted, {missed} not found."
            in found), labels
    assert f"({name}/page.md)" in (folder.parent / "README.md").read_text()


def mentioned(where):
    """The figures and tables that a text names: "figures 6.8 to 6.11", "figures 8a, 8b", "4.1, table 3"."""
    found = []
    for kind, text in re.findall(r"\b(figure|table)s? ((?:\d+(?:\.\d+)?[a-f]?(?:, | and | to )?)+)", where):
        numbers = re.split(r", | and | to ", text.rstrip(", "))
        if " to " in text:
            first, last = numbers
            head, dot, begin = first.rpartition(".")
            numbers = [f"{head}{dot}{n}" for n in range(int(begin), int(last.rpartition(".")[2]) + 1)]
        found += [f"{kind} {number}" for number in numbers if number]
    return found


def labels_on(page):
    """For each figure and table that the statements on a page are about: how many have which label."""
    text = (ROOT / "docs" / "experiments" / page / "page.md").read_text()
    labels = {}
    for row in re.findall(r"^\|.*\|$", text.split("## What of the paper is found")[1].split("\n## ")[0], re.MULTILINE):
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", row)]
        for what in mentioned(cells[2]):
            labels.setdefault(what, []).append(cells[3].strip("*"))
    return labels


# The last figure and table of each paper, or of its chapters.
LAST = {"Buisson et al. 2007": {"figure": [8], "table": [1]},
        "Lammers 2005": {"figure": ["2.4", "3.8", "4.6", "5.9"], "table": ["5.1"]},
        "Swaminathan 2004": {"figure": [10], "table": [4]},
        "Liu et al. 2009": {"figure": [5], "table": []},
        "Utrera 2010": {"figure": ["1.5", "2.7", "3.13", "4.20", "5.9", "6.15"],
                        "table": ["3.3", "4.9", "5.3", "6.3"]}}
PANELS = {"7": "abcdef", "8": "abcdef"}  # of Buisson et al. 2007, each a row of its own


def all_published():
    """Every figure and table of the papers: a row that is dropped from the list is missed."""
    published = set()
    for paper, kinds in LAST.items():
        for kind, lasts in kinds.items():
            for last in lasts:
                head, dot, number = str(last).rpartition(".")
                for n in range(1, int(number) + 1):
                    panels = PANELS.get(str(n), " ") if paper.startswith("Buisson") and kind == "figure" else " "
                    published |= {(paper, f"{kind} {head}{dot}{n}{panel}".strip()) for panel in panels}
    return published


def test_the_list_of_what_is_published_is_that_of_the_pages(cli):
    rows = json.loads(cli("experiment", "--list", "--json").stdout)["published"]
    assert {(row["paper"], what) for row in rows for what in mentioned(row["what"])} == all_published()
    pages, listed = {}, set()
    for row in rows:
        done = [page for page in [row["simulated"], *row["live"]] if page]
        assert row["how"] == ("both" if row["simulated"] and row["live"] else "simulated" if row["simulated"] else
                              "live" if row["live"] else "neither"), row
        assert bool(row["note"]) == (not done), row
        assert len(mentioned(row["what"])) > 0, row
        for what in mentioned(row["what"]):
            assert (row["paper"], what) not in listed, row
            listed.add((row["paper"], what))
        for page in done:
            found = pages.setdefault(page["page"], labels_on(page["page"]))
            own = [label for what in mentioned(row["what"]) for name in list(found)
                   if name == what or name[:-1] == what and name[-1].isalpha() for label in found.pop(name)]
            counts = ", ".join(f"{own.count(label)} {label}" for label in
                               ("claimed", "fitted", "not found", "yes", "no", "unclear") if label in own)
            assert page["labels"] == counts, (row, "experiments/published.c is not what the page says", counts)
            live = page in row["live"]
            assert page["command"].startswith("bench/run" if live else f"pleat experiment {page['page']}")
            assert live or page["page"] in NAMES
    assert set(pages) == set(NAMES) - {"logs"} | {
        "self-coscheduling", "coscheduling-arrivals", "coscheduling-policies", "application-scaling",
        "program-classes", "koala-malleable-live", "job-mixes-live", "virtual-malleability-live", "application-agent-live"}
    assert all(not found for found in pages.values()), ("on a page, not in experiments/published.c", pages)
    text = cli("experiment", "--list").stdout
    assert "pleat experiment koala-malleable" in text and "bench/run fold-evaluation" in text and "neither" in text


def test_simulated_curves_are_those_that_were_measured():
    pages = ROOT / "docs" / "experiments"
    text = (pages / "koala-malleable" / "page.md").read_text()
    simulated = dict(((app, size), over) for app, size, over in
                     re.findall(r"^\| (FT|GADGET 2) \| (\d+) \| ([\d.]+) \|", text, re.MULTILINE))
    live = (pages / "application-scaling" / "page.md").read_text().split("\n## Open MPI\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (fourier|nbody) \| pretended \| (\d+) \| [^|]*\| ([\d.]+)", live, re.MULTILINE)
    measured = {("FT" if program == "fourier" else "GADGET 2", size): over for program, size, over in rows if size != "1"}
    assert simulated == measured and len(measured) >= 8


def test_usage(cli):
    for arguments, words in [(["none-such"], "there is no experiment 'none-such'"),
                             (["koala-maleable"], "did you mean 'koala-malleable'?"),
                             (["--seeds", "3"], "which experiment?"),
                             (["koala-malleable", "--list"], "without a NAME"),
                             (["--quick", "--list"], "without a NAME and other options"),
                             (["koala-malleable", "--seeds", "0"], "--seeds"),
                             (["koala-malleable", "--log", "x.swf"], "--log is for"),
                             (["koala-malleable", "--threads", "x"], "--threads")]:
        done = cli("experiment", *arguments)
        assert done.returncode == 2 and words in done.stderr, (arguments, done.stderr)


def test_without_gnuplot_nothing_is_run(cli, tmp_path):
    done = cli("experiment", "koala-malleable", "--out", str(tmp_path / "out"), env={"PATH": str(tmp_path)})
    assert done.returncode == 1 and "install the package gnuplot-nox" in done.stderr
    assert not (tmp_path / "out").exists()


@needs_gnuplot
def test_an_interrupted_one_writes_nothing(cli, tmp_path):
    process = cli.start("experiment", "koala-malleable", "--seeds", "10000", "--out", str(tmp_path / "out"),
                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    status = pathlib.Path(f"/proc/{process.pid}/status")
    while "Threads:\t1\n" in status.read_text():  # it simulates when it has threads
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    assert not (tmp_path / "out").exists()
    process.communicate()


def test_files_are_looked_at_before_the_work(cli, tmp_path):
    (tmp_path / "file").write_text("")
    nothing_runs = {"PATH": str(tmp_path)}  # there is no gnuplot
    done = cli("experiment", "all", "--log", str(tmp_path / "none"), env=nothing_runs)
    assert done.returncode == 2 and f"cannot open {tmp_path}/none: No such file" in done.stderr
    done = cli("experiment", "all", "--out", str(tmp_path / "file" / "x" / "y"), env=nothing_runs)
    assert done.returncode == 1 and f"{tmp_path}/file: Not a directory" in done.stderr


@needs_gnuplot
def test_where_it_writes(cli, tmp_path):
    out = tmp_path / "a" / "b" / "c"
    done = cli("experiment", "resizable", "--quick", "--seeds", "2", "--out", str(out))
    assert done.returncode == 0 and (out / "resizable" / "page.md").exists(), done.stderr


@needs_gnuplot
def test_where_it_cannot_write(cli, tmp_path):
    (tmp_path / "file").write_text("")
    done = cli("experiment", "koala-malleable", "--quick", "--seeds", "1", "--out", str(tmp_path / "file"))
    assert done.returncode == 1 and os.fspath(tmp_path / "file") in done.stderr
