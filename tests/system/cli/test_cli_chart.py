"""The chart: not its every character, but what must hold of it."""

import json
import os
import xml.etree.ElementTree

import pytest
from story import JOBS, T0, answers

SVG = "{http://www.w3.org/2000/svg}"


def rows(text):
    return [line.split("|", 1)[1] for line in text.splitlines() if "|" in line]


def test_ascii(cli):
    with cli.fake():
        text = cli("chart", "--ascii", env={"COLUMNS": "90"}).stdout
        also = cli("chart", env={"COLUMNS": "90", "LC_ALL": "C"}).stdout
    assert text == also and text.isascii()
    lines = rows(text)
    assert len(lines) == 8 and all(len(line) == 87 for line in lines)
    assert set(lines[0]) == {"A"}  # job 1 had processor 0 from first to last
    assert lines[4].replace(".", "").startswith("aaA") and "cC" in lines[4]
    assert "D" in lines[6] and "D" not in lines[7]
    for name in ("job 1 heat", 'job 2 matmul <&"x">', "job 3 rigid4", "job 4 late"):
        assert name in text


def test_time_of_day(cli):
    svg = os.path.join(cli.path, "chart.svg")
    env = {"COLUMNS": "90", "TZ": "UTC-1"}  # time 0 is 2023-11-14 23:13:20 there
    with cli.fake():
        text = cli("chart", "--ascii", "--clock", env=env).stdout
        assert cli("chart", "--svg", svg, "--clock", env=env).returncode == 0
        plain = cli("chart", "--ascii", env=env).stdout
        done = cli("chart", "--svg", os.path.join(cli.path, "chart.jpg"))
    assert "23:13:30" in text and "23:13:50" in text and " s" not in text.splitlines()[9]
    assert "23:13" not in plain
    drawn = "".join(xml.etree.ElementTree.parse(svg).getroot().itertext())
    assert "23:13:30" in drawn and "time of day" in drawn and "seconds" not in drawn
    assert done.returncode == 1 and "they are .svg, .png or .pdf" in done.stderr


def test_widths(cli):
    with cli.fake():
        for columns in (40, 80, 200):
            text = cli("chart", env={"COLUMNS": str(columns)}).stdout
            drawn = [line for line in text.splitlines() if "\u2502" in line or "\u2514" in line]
            assert {len(line) for line in drawn} == {columns}
        assert max(map(len, cli("chart").stdout.splitlines()[:9])) == 80
        assert cli("chart", env={"COLUMNS": "1"}).returncode == 0


def test_json_intervals(cli):
    with cli.fake():
        chart = json.loads(cli("chart", "--json").stdout)
    assert set(chart) == {"origin_s", "from_s", "to_s", "processors", "utilization", "jobs",
                          "intervals"}
    assert chart["processors"] == 8 and chart["origin_s"] == T0 and chart["to_s"] == 40
    assert [job["name"] for job in chart["jobs"]] == [job["name"] for job in JOBS]
    used = 0
    held = {}
    for interval in chart["intervals"]:
        assert set(interval) == {"job", "claim", "use", "site", "node", "first", "count", "from_s",
                                 "to_s"}
        assert interval["use"] in ("run", "growth", "earmark", "leaving")
        if interval["use"] in ("run", "leaving"):
            used += interval["count"] * (interval["to_s"] - interval["from_s"])
        for slot in range(interval["first"], interval["first"] + interval["count"]):
            held.setdefault(slot, []).append((interval["from_s"], interval["to_s"]))
    assert chart["utilization"] == pytest.approx(used / (8 * 40), abs=1e-4)
    for spans in held.values():  # nobody shares a processor
        spans.sort()
        assert all(a[1] <= b[0] for a, b in zip(spans, spans[1:]))


def test_window_and_selection(cli):
    with cli.fake():
        chart = json.loads(cli("chart", "--json", "--from", "10s", "--to", "20s").stdout)
        assert (chart["from_s"], chart["to_s"]) == (10, 20)
        assert {i["job"] for i in chart["intervals"]} == {1, 2, 3}
        chart = json.loads(cli("chart", "--json", "3", "4").stdout)
        assert {job["job"] for job in chart["jobs"]} == {3, 4} and chart["origin_s"] == T0 + 12
        assert cli("chart", "--from", "50s").returncode == 1
        done = cli("chart", "17")
        assert done.returncode == 4 and "no job 17" in done.stderr


def test_only_the_last_busy_period(cli):
    old = dict(JOBS[0], job=1, submit_s=T0 - 5000, start_s=T0 - 5000, end_s=T0 - 4000)
    later = [dict(job, job=job["job"] + 1) for job in JOBS]
    with cli.fake(dict(answers(), jobs={"jobs": [old] + later})):
        assert [j["job"] for j in json.loads(cli("chart", "--json").stdout)["jobs"]] == [2, 3, 4, 5]
        assert len(json.loads(cli("chart", "--json", "--all").stdout)["jobs"]) == 5


def test_svg(cli):
    path = os.path.join(cli.path, "chart.svg")
    with cli.fake():
        done = cli("chart", "--svg", path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert os.listdir(cli.path).count("chart.svg") == 1 and len(os.listdir(cli.path)) == 2
    root = xml.etree.ElementTree.parse(path).getroot()
    text = "".join(root.itertext())
    assert 'matmul <&"x">' in text and "job 4 waits 10.0 s" in text and "8 processors" in text
    width, height = (float(n) for n in root.get("viewBox").split()[2:])
    boxes = {use: root.findall(f".//{SVG}rect[@class='{use}']")
             for use in ("run", "growth", "earmark", "leaving")}
    assert all(boxes.values())
    for box in sum(boxes.values(), []):
        x, y, w, h = (float(box.get(name)) for name in ("x", "y", "width", "height"))
        assert 0 <= x and x + w <= width and 0 <= y and y + h <= height and w > 0 and h > 0
    assert all(box.get("fill").startswith("url(#growth") for box in boxes["growth"])
    assert len({box.get("fill") for box in boxes["run"]}) == 4
    patterns = {pattern.get("id") for pattern in root.iter(SVG + "pattern")}
    assert {box.get("fill")[5:-1] for box in boxes["growth"] + boxes["earmark"]} <= patterns
    assert not [e for e in root.iter() if e.tag.endswith(("script", "image", "style"))]


def test_svg_that_cannot_be_written(cli):
    with cli.fake():
        done = cli("chart", "--svg", "/no/such/directory/chart.svg")
    assert done.returncode == 1 and "/no/such/directory/chart.svg" in done.stderr


def test_many_processors_share_rows(cli):
    sites = {"sites": [{"name": "local", "processors": 5000}]}
    with cli.fake(dict(answers(), sites=sites)):
        text = cli("chart", "--ascii").stdout
        assert 60 < len(rows(text)) <= 64 and " 0-78 |" in text
        path = os.path.join(cli.path, "chart.svg")
        assert cli("chart", "--svg", path).returncode == 0
        assert xml.etree.ElementTree.parse(path)


def test_nothing_to_draw(cli):
    nothing = {"jobs": {"jobs": []}, "sites": {"sites": []}, "events": {"events": [], "last": 0}}
    with cli.fake(nothing):
        done = cli("chart")
        assert (done.returncode, done.stdout) == (0, "") and "nothing to draw" in done.stderr
        assert json.loads(cli("chart", "--json").stdout)["intervals"] == []
        assert cli("chart", "--svg", os.path.join(cli.path, "x.svg")).returncode == 0
