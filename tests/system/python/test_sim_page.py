"""docs/simulation-from-python.md: its code runs, prints what stands there, and draws its figures."""

import re
import xml.etree.ElementTree

import page
import pytest
from conftest import ROOT

import pleat.sim as sim


def test_the_page_is_true(tmp_path):
    pytest.importorskip("pandas")
    done = page.run(tmp_path, figures=False)
    assert len(done) == 5
    for code, said, printed in done:
        assert printed == said, code


def test_its_figures_are_drawn(tmp_path):
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    page.run(tmp_path)
    named = set(re.findall(r"\(simulation-from-python/(\w+\.svg)\)", page.PAGE.read_text()))
    assert named == {path.name for path in tmp_path.glob("*.svg")} == {path.name for path in page.FIGURES.iterdir()}
    for name in named:
        drawn, kept = (xml.etree.ElementTree.parse(directory / name).getroot() for directory in (tmp_path, page.FIGURES))
        assert len(list(drawn.iter())) > 50 and drawn.get("viewBox") == kept.get("viewBox")


def test_it_lists_all_columns_and_all_that_can_be_read():
    text = page.PAGE.read_text()
    tables = dict(re.findall(r"^\| `((?:workload|result)\.\w+)` \| (.*) \|$", text, re.MULTILINE))
    result = sim.simulate(sim.generate("simple", jobs=3, machine=4))
    workload = sim.generate("simple", jobs=3, machine=4)
    for name, columns in (("workload.frame", workload.columns()), ("result.jobs", result.columns("jobs")),
                          ("result.resizes", result.columns("resizes")), ("result.series", result.columns("series"))):
        listed = re.findall(r"`(\w+)`", re.sub(r"\(.*?\)", "", tables[name]))
        assert listed == list(columns), name
    listed = set(re.findall(r"`(\w+)`", tables["result.summary"]))
    parts = {name[:-1] for name in listed if name.endswith("_")}
    statistics = {"mean", "deviation", "least", "median", "p95", "most"}
    spelled = {name for name in listed if not name.endswith("_")} - statistics
    assert spelled | {f"{part}_{of}" for part in parts for of in statistics} == set(result.columns("summary"))
    for what, kind in (("`view`", sim.View), ("a site", sim.Site), ("a job", sim.Job)):
        row = re.search(rf"^\| {what} \| (.*) \|$", text, re.MULTILINE)[1]
        there = {name for name, member in vars(kind).items() if isinstance(member, property)}
        assert set(re.findall(r"`(\w+)`", row)) == there, what
    assert (ROOT / "docs/simulation-from-python.md").exists()
