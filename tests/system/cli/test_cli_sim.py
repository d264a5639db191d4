"""pleat sim: what it prints and writes, that it is right on small logs and on the known ones, that
threads change nothing, and that it leaves nothing half-written."""

import csv
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import statistics
import struct
import subprocess
import time
import xml.etree.ElementTree

import pytest

from conftest import on_terminal

ROOT = pathlib.Path(__file__).resolve().parents[3]
DATA = pathlib.Path(os.environ.get("PLEAT_DATA", ROOT.parent / "shared" / "data"))

# number, submit, run time, processors, estimate (-1: none)
SMALL = [(1, 0, 10, 4, -1), (2, 1, 5, 2, -1), (3, 2, 3, 4, -1), (4, 3, 4, 2, -1)]
TOO_LARGE = (5, 4, 7, 9, -1)


def swf(jobs, machine=4):
    lines = [f"; MaxProcs: {machine}"]
    for number, submit, run, size, estimate in jobs:
        lines.append(f"{number} {submit} -1 {run} {size} -1 -1 {size} {estimate} "
                     "-1 1 1 1 1 1 1 -1 -1")
    return "\n".join(lines) + "\n"


def random_jobs(count, seed=7, machine=32):
    jobs, at, state = [], 0, seed
    for number in range(1, count + 1):
        values = []
        for _ in range(3):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2 ** 64
            values.append(state >> 33)
        at += values[0] % 60
        jobs.append((number, at, 1 + values[1] % 400, 1 + values[2] % machine, -1))
    return jobs


@pytest.fixture
def log(cli):
    def write(jobs, machine=4, name="log.swf"):
        path = os.path.join(cli.path, name)
        pathlib.Path(path).write_text(swf(jobs, machine))
        return path
    return write


def sim(cli, *args):
    done = cli("sim", *args, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


# ---- what comes out is right ----

@pytest.mark.parametrize("policies, starts", [
    (["--queue", "fcfs"], {1: 0, 2: 10, 3: 15, 4: 18}),
    (["--queue", "easy"], {1: 0, 2: 10, 3: 15, 4: 10}),
    (["--queue", "sjf"], {1: 0, 3: 10, 4: 13, 2: 13}),
    (["--order", "sjf", "--queue", "fcfs"], {1: 0, 3: 10, 4: 13, 2: 13}),
    (["--queue", "ljf"], {1: 0, 2: 10, 4: 10, 3: 15}),
])
def test_schedules_by_hand(cli, log, policies, starts):
    out = os.path.join(cli.path, "out")
    text = sim(cli, "--workload", log(SMALL), *policies, "--csv", out)
    found = rows(os.path.join(out, "jobs.csv"))
    assert {int(row["job"]): float(row["start_s"]) for row in found} == starts
    submits, runs = {j[0]: j[1] for j in SMALL}, {j[0]: j[2] for j in SMALL}
    waits = [starts[job] - submits[job] for job in starts]
    run = text["runs"][0]
    assert run["wait_s"]["mean"] == statistics.mean(waits)
    assert run["wait_s"]["median"] == statistics.median(waits)
    assert run["wait_s"]["most"] == max(waits) and run["wait_s"]["count"] == 4
    assert run["response_s"]["mean"] == statistics.mean(
        starts[job] + runs[job] - submits[job] for job in starts)
    assert run["bounded_slowdown"]["mean"] == pytest.approx(statistics.mean(
        max(1, (starts[job] - submits[job] + runs[job]) / max(runs[job], 10)) for job in starts))
    end = max(starts[job] + runs[job] for job in starts)
    assert run["makespan_s"] == end
    assert run["utilization"] == pytest.approx((40 + 10 + 12 + 8) / (4 * end))


def test_known_waits(cli):
    model, recorded = DATA / "lublin_256.swf", DATA / "NASA-iPSC-1993-3.1-cln.swf"
    if not model.exists() or not recorded.exists():
        pytest.skip(f"the logs are not in {DATA}")
    for path, processors, fcfs, easy in ((model, 256, 2388443.7601, 97155.9945),
                                         (recorded, 128, 8.081313, 4.066645)):
        runs = sim(cli, "--workload", str(path), "--site", f"m:{processors}",
                   "--queue", "fcfs,easy")["runs"]
        assert [run["policies"]["queue"] for run in runs] == ["fcfs", "easy"]
        assert runs[0]["wait_s"]["mean"] == pytest.approx(fcfs, abs=5e-7 if fcfs < 10 else 5e-5)
        assert runs[1]["wait_s"]["mean"] == pytest.approx(easy, abs=5e-7 if easy < 10 else 5e-5)


def test_sizes_of_the_table(cli, log):
    path, out = log(random_jobs(150), 32), os.path.join(cli.path, "out")
    run = sim(cli, "--workload", path, "--malleable", "100", "--app",
              "table:1=100,3=40,7=20,20=9", "--sizes", "table", "--csv", out)["runs"][0]
    converted = {row["job"] for row in rows(os.path.join(out, "jobs.csv"))
                 if row["kind"] == "malleable"}
    assert run["malleable"] == len(converted) > 100 and run["grows"] > 0 and run["shrinks"] > 0
    for row in rows(os.path.join(out, "resizes.csv")):
        assert row["job"] in converted and int(row["from"]) in (1, 3, 7, 20)
        assert int(row["to"]) in (1, 3, 7, 20)


def test_malleable_jobs_fill_the_machine(cli, log):
    path, out = log(random_jobs(150), 32), os.path.join(cli.path, "out")
    rigid = sim(cli, "--workload", path)["runs"][0]
    run = sim(cli, "--workload", path, "--malleable", "100", "--app",
              "amdahl:0.02 adapt=5s resize=1s", "--csv", out)["runs"][0]
    assert run["malleable"] == 150 and run["jobs"]["done"] == 150
    assert run["wait_s"]["mean"] < rigid["wait_s"]["mean"]
    resizes = rows(os.path.join(out, "resizes.csv"))
    grown = [row for row in resizes if int(row["to"]) > int(row["from"])]
    assert len(grown) == run["grows"] > 0 and len(resizes) - len(grown) == run["shrinks"] > 0
    assert sum(float(row["stood_s"]) for row in resizes) == pytest.approx(run["resize_s"])
    jobs = rows(os.path.join(out, "jobs.csv"))
    assert sum(int(row["grown"]) for row in jobs) == run["grows"]
    assert sum(int(row["shrunk"]) for row in jobs) == run["shrinks"]
    spans = {row["job"]: (float(row["start_s"]), float(row["end_s"])) for row in jobs}
    for row in resizes:
        start, end = spans[row["job"]]
        assert start <= float(row["decided_s"]) <= float(row["time_s"]) <= end
        assert row["site"] == "machine" and row["mandatory"] in "01" and int(row["offered"]) > 0


def test_shares(cli, log):
    path = log(random_jobs(300), 32)
    run = sim(cli, "--workload", path, "--malleable", "30", "--moldable", "50")["runs"][0]
    assert 50 < run["malleable"] < 130 and 100 < run["moldable"] < 200
    only = sim(cli, "--workload", path, "--malleable", "30")["runs"][0]
    assert only["malleable"] == run["malleable"] and only["moldable"] == 0


def test_options_of_the_workload(cli, log):
    path = log([(1, 0, 100, 4, 50), (2, 10, 0, 1, 5), (3, 50, 20, 4, 30)])
    text = sim(cli, "--workload", path)
    assert text["workload"]["left_out"]["no_run_time"] == 1 and text["workload"]["jobs"] == 2
    assert text["workload"]["longer_than_estimate"] == 1
    assert text["runs"][0]["makespan_s"] == 120
    kept = sim(cli, "--workload", path, "--zero-run-times", "keep")
    assert kept["workload"]["jobs"] == 3 and kept["runs"][0]["jobs"]["done"] == 3
    killed = sim(cli, "--workload", path, "--kill-at-estimate")["runs"][0]
    assert killed["jobs"]["killed"] == 1 and killed["makespan_s"] == 70
    assert sim(cli, "--workload", path, "--jobs", "1")["runs"][0]["makespan_s"] == 100
    assert sim(cli, "--workload", path, "--load", "0.1")["runs"][0]["makespan_s"] == 520


def test_standard_input(cli):
    done = cli("sim", "--workload", "-", "--json", input=swf(SMALL))
    assert json.loads(done.stdout)["runs"][0]["jobs"]["done"] == 4


# ---- how it is told ----

def test_summary(cli, log):
    done = cli("sim", "--workload", log(SMALL + [TOO_LARGE]))
    assert (done.returncode, done.stderr) == (0, "")
    for words in ("5 jobs", "machine with 4 processors (as the workload's header says)",
                  "queue fcfs", "4 done, 1 skipped (larger than every site)", "MEDIAN", "95 %",
                  "bounded slowdown", "makespan", "utilization  79.5 %", "0 grown, 0 shrunk",
                  "jobs/s"):
        assert words in done.stdout, words
    assert "\033" not in done.stdout
    wait = next(line for line in done.stdout.splitlines() if line.startswith("wait "))
    assert wait.split()[1:] == "9.2 s 11.0 s 14.7 s 15.0 s".split()


def test_skipped(cli, log):
    out = os.path.join(cli.path, "out")
    done = cli("sim", "--workload", log(SMALL + [TOO_LARGE]), "--json", "--csv", out)
    assert done.stderr == "pleat: 1 job is larger than every site: skipped\n"
    assert json.loads(done.stdout)["runs"][0]["jobs"] == {
        "done": 4, "skipped": 1, "rejected": 0, "failed": 0, "killed": 0, "left": 0}
    assert len(rows(os.path.join(out, "jobs.csv"))) == 4
    assert rows(os.path.join(out, "skipped.csv")) == [
        {"job": "5", "submit_s": "4", "minimum": "9", "processors": "9", "fate": "skipped"}]


def test_no_job_at_all(cli, log):
    done = cli("sim", "--workload", log([TOO_LARGE]))
    assert done.returncode == 0 and "1 skipped" in done.stdout
    assert re.search(r"^wait +- +- +- +-$", done.stdout, re.M)
    text = sim(cli, "--workload", log([TOO_LARGE]), "--queue", "fcfs,easy")
    assert text["runs"][0]["wait_s"]["count"] == 0 and text["runs"][0]["wait_s"]["mean"] is None
    assert text["comparison"][1]["slowdown_p95"]["mean"] is None
    assert text["comparison"][1]["grows"]["mean"] == 0
    assert "nan" not in cli("sim", "--workload", log([TOO_LARGE]), "--queue", "fcfs,easy").stdout


def test_estimates_are_told(cli, log):
    path = log([(1, 0, 100, 4, 50), (2, 10, 5, 1, -1)])
    assert "the log's, and the run times of 1 job without one\n" in cli("sim", "--workload", path).stdout
    assert re.search("^estimates +the run times$", cli(
        "sim", "--workload", path, "--estimates", "exact").stdout, re.M)
    exact = sim(cli, "--workload", path, "--estimates", "exact", "--kill-at-estimate")
    assert exact["runs"][0]["jobs"]["killed"] == 0 and exact["estimates"] == "exact"


def test_json_has_the_documented_names(cli, log):
    text = sim(cli, "--workload", log(SMALL), "--queue", "fcfs,easy", "--seeds", "2")
    documented = (ROOT / "docs" / "commands.md").read_text().split("## sim", 1)[1].split("\n## ")[0]

    def names(value):
        if isinstance(value, dict):
            for name, inside in value.items():
                yield name
                yield from names(inside)
        elif isinstance(value, list):
            for inside in value:
                yield from names(inside)

    questions = set(text["runs"][0]["policies"])
    for name in set(names(text)) - questions:
        assert f"`{name}`" in documented, name
    assert len(text["runs"]) == 4 and len(text["comparison"]) == 2
    assert set(text["comparison"][0]["wait_mean_s"]) == {"mean", "half_width"}
    assert text["comparison"][0]["difference"] is None
    assert set(text["comparison"][1]["difference"]) == {
        name for name, value in text["comparison"][1].items()
        if isinstance(value, dict) and "half_width" in value}


def test_applications_that_ask_for_processes(cli, log):
    path = log([(1, 0, 30000, 3, 60000)])
    args = ("--workload", path, "--site", "a:64", "--moldable", "100", "--min-factor", "1",
            "--max-factor", "20", "--initial-factor", "1", "--app",
            "linear iterations=3000 objects=10 gain=10/100", "--buffer")
    run = sim(cli, *args, "periodic")["runs"][0]
    assert run["process_requests"] == run["process_requests_satisfied"] == run["grows"] == 29
    assert run["prepared_processor_s"] > 0 and run["wasted_processor_s"] == 0
    none = sim(cli, *args, "none")["runs"][0]
    assert none["process_requests_satisfied"] < none["process_requests"]
    text = cli("sim", *args, "periodic").stdout
    assert re.search(r"^processes +29 asked for, 29 satisfied at once \(100\.0 %\), \d+ "
                     r"processor-seconds prepared\s+and\s+waiting$", text, re.M)


def test_applications_with_sections(cli, log):
    path = log([(1, 0, 1000, 4, 2000), (2, 100, 400, 4, 800)])
    args = ("--workload", path, "--site", "a:8", "--malleable", "100", "--min-factor", "1", "--max-factor", "2")
    free = sim(cli, *args, "--app", "linear")["runs"][0]
    assert free["sections"] == 0 and free["put_off"] == 0
    careful = sim(cli, *args, "--app", "linear sections=1x0.8")["runs"][0]
    assert careful["sections"] == 2
    assert careful["end_s"] > free["end_s"]  # it grows later
    text = cli("sim", *args, "--app", "linear sections=1x0.8").stdout
    assert re.search(r"^sections +2 in which sizes must not change; 0 changes taken back for one$", text, re.M)
    assert not re.search(r"^sections", cli("sim", *args, "--app", "linear").stdout, re.M)


def test_csv(cli, log):
    out = os.path.join(cli.path, "some", "where")
    text = sim(cli, "--workload", log(SMALL), "--site", 'a,"b:4', "--csv", out)
    assert sorted(os.listdir(out)) == ["jobs.csv", "resizes.csv", "series.csv", "skipped.csv",
                                       "summary.json"]
    lines = pathlib.Path(out, "jobs.csv").read_text().splitlines()
    assert lines[0] == ("job,submit_s,start_s,end_s,processors,site,wait_s,response_s,slowdown,"
                        "average_processors,grown,shrunk,restarts,fate,kind,user")
    assert lines[2] == '2,1,10,15,2,"a,""b",9,14,1.4,2,0,0,0,done,rigid,1'
    assert rows(os.path.join(out, "jobs.csv"))[0]["site"] == 'a,"b'
    assert pathlib.Path(out, "resizes.csv").read_text() == (
        "job,time_s,decided_s,from,to,offered,mandatory,stood_s,site\n")
    summary = json.loads(pathlib.Path(out, "summary.json").read_text())
    del text["runs"][0]["elapsed_s"]
    assert summary == text


def test_the_time_series(cli, log):
    out = os.path.join(cli.path, "out")
    sim(cli, "--workload", log(SMALL), "--csv", out)
    assert pathlib.Path(out, "series.csv").read_text().splitlines() == [
        "time_s,processors,running_jobs,queued_jobs,queued_processors",
        "0,4,1,0,0", "1,4,1,1,2", "2,4,1,2,6", "3,4,1,3,8", "10,2,1,2,6", "15,4,1,1,2", "18,2,1,0,0",
        "22,0,0,0,0"]
    path = log(random_jobs(200), 32)
    run = sim(cli, "--workload", path, "--malleable", "100", "--csv", out)["runs"][0]
    series = [{name: float(value) for name, value in row.items()}
              for row in rows(os.path.join(out, "series.csv"))]
    spans = [b["time_s"] - a["time_s"] for a, b in zip(series, series[1:])]
    assert min(spans) > 0 and all(0 <= row["processors"] <= 32 for row in series)
    assert sum(row["processors"] * span for row, span in zip(series, spans)) == pytest.approx(
        run["busy_processor_s"])
    assert sum(row["queued_jobs"] * span for row, span in zip(series, spans)) == pytest.approx(
        run["wait_s"]["mean"] * 200)


def test_comparison(cli, log):
    path = log(random_jobs(100), 32)
    done = cli("sim", "--workload", path, "--queue", "fcfs,easy,sjf", "--malleability", "egs",
               "--malleability", "none", "--malleable", "50")
    assert done.returncode == 0 and done.stderr == ""
    table = done.stdout.split("\n\n")[1].splitlines()
    assert table[0].split()[:2] == ["POLICIES", "WAIT"]
    assert [" ".join(line.split()[:2]) for line in table[1:]] == [
        "fcfs egs", "fcfs none", "easy egs", "easy none", "sjf egs", "sjf none"]
    single = sim(cli, "--workload", path, "--queue", "easy", "--malleability", "none",
                 "--malleable", "50")
    together = sim(cli, "--workload", path, "--queue", "fcfs,easy,sjf", "--malleability",
                   "egs,none", "--malleable", "50")
    for run in single["runs"] + together["runs"]:
        del run["elapsed_s"]
    assert together["runs"][3] == single["runs"][0]
    assert together["comparison"][4]["label"] == "sjf egs"
    assert together["comparison"][4]["policies"]["order"] == "sjf"


def test_a_narrow_terminal_gets_several_tables(cli, log):
    path = log(random_jobs(50), 32)
    text, code = on_terminal(cli, "sim", "--workload", path, "--queue", "fcfs,easy", size=(24, 60))
    assert code == 0
    tables = text.split("POLICIES")[1:]
    assert len(tables) > 1
    assert max(len(re.sub(r"\033\[[0-9;]*m", "", line)) for line in text.splitlines()) <= 60


def test_seeds(cli, log):
    path = log(random_jobs(120), 32)
    options = ("--workload", path, "--malleable", "50", "--seeds", "5", "--seed", "11")
    text = sim(cli, *options)
    assert [run["seed"] for run in text["runs"]] == [11, 12, 13, 14, 15]
    means = [run["wait_s"]["mean"] for run in text["runs"]]
    assert len(set(means)) > 1
    found = text["comparison"][0]["wait_mean_s"]
    assert found["mean"] == pytest.approx(statistics.mean(means))
    assert found["half_width"] == pytest.approx(  # Student's t for 4 degrees of freedom
        2.7764451 * statistics.stdev(means) / 5 ** 0.5, rel=1e-6)
    assert " ± " in cli("sim", *options).stdout
    assert " +- " in cli("sim", *options, env={"LC_ALL": "C"}).stdout
    alone = sim(cli, "--workload", path, "--malleable", "50", "--seed", "13")["runs"][0]
    del alone["elapsed_s"], text["runs"][2]["elapsed_s"]
    assert alone == text["runs"][2]


def means_of(text, metric="wait_s"):
    """By combination, the means of its runs."""
    runs, seeds = text["runs"], text["seeds"]
    return [[run[metric]["mean"] for run in runs[at:at + seeds]] for at in range(0, len(runs), seeds)]


def test_seeds_that_change_nothing_give_no_interval(cli, log):
    path = log(random_jobs(120), 32)
    options = ("--workload", path, "--queue", "fcfs,easy", "--seeds", "3")
    text = sim(cli, *options)
    assert text["seeds_vary"] == "nothing"
    for row in text["comparison"]:
        assert not row["seeds_differ"]
        assert all(value["half_width"] is None for value in row.values()
                   if isinstance(value, dict) and "half_width" in value)
    shown = cli("sim", *options).stdout
    assert "±" not in shown and "all gave the same" in shown and "no intervals" in shown
    one = sim(cli, "--workload", path, "--malleable", "50")["comparison"][0]
    assert one["wait_mean_s"]["half_width"] is None  # of one run there is none


def test_seeds_of_one_log_say_what_they_vary(cli, log):
    path = log(random_jobs(120), 32)
    options = ("--workload", path, "--malleable", "0,50", "--seeds", "3")
    text = sim(cli, *options)
    assert text["seeds_vary"] == "conversion"
    assert [row["seeds_differ"] for row in text["comparison"]] == [False, True]
    assert text["comparison"][0]["wait_mean_s"]["half_width"] is None
    assert text["comparison"][1]["wait_mean_s"]["half_width"] > 0
    shown = cli("sim", *options).stdout
    assert "The workload is the same in all, so this is only about which jobs are converted" in " ".join(
        shown.split())


def test_modelled_estimates_of_a_log_vary_with_the_seed(cli, log):
    path = log(random_jobs(200), 32)
    options = ("--workload", path, "--estimates", "popular:10h", "--queue", "fcfs,easy", "--seeds", "3")
    text = sim(cli, *options)
    assert text["seeds_vary"] == "estimates" and text["estimates"] == "popular"
    assert [row["seeds_differ"] for row in text["comparison"]] == [False, True]
    shown = " ".join(cli("sim", *options).stdout.split())
    assert "others with each seed" in shown
    assert "The jobs are the same in all, so this is only about what their users estimate" in shown
    alone = sim(cli, *options[:-4], "--queue", "easy", "--seed", "2")["runs"][0]  # as by itself
    del alone["elapsed_s"], text["runs"][4]["elapsed_s"]
    assert alone == text["runs"][4]
    same = " ".join(cli("sim", *options[:-3], "fcfs", "--seeds", "3").stdout.split())
    assert "only what their users estimate is drawn, and changes nothing here" in same
    both = sim(cli, *options, "--malleable", "50")
    assert both["seeds_vary"] == "conversion and estimates"
    assert all(row["seeds_differ"] for row in both["comparison"])


def test_a_grid_mix_with_popular_estimates(cli, tmp_path):
    mix, kinds = tmp_path / "my.grid", {}
    mix.write_text('jobs = 100\nestimate = popular\ntype "a" { run = "exponential:300" }\n')
    for name, options in {"as it says": (), "again": (), "factor": ("--estimate", "3"),
                          "longest": ("--estimate", "popular:10h")}.items():
        done = cli("workload", "generate", "grid", "--from", str(mix), *options, "-")
        assert done.returncode == 0, done.stderr
        lines = [line.split() for line in done.stdout.splitlines() if line[:1] not in ";"]
        kinds[name] = [float(line[8]) for line in lines]
        assert len(lines) == 100 and all(float(line[8]) >= float(line[3]) for line in lines)
    assert kinds["as it says"] == kinds["again"] and len(set(kinds["as it says"])) <= 30
    assert max(kinds["as it says"]) == 7200 and max(kinds["longest"]) == 36000
    assert len(set(kinds["factor"])) > 60
    for wrong in "popular:60", "0.5", "popularity":
        done = cli("workload", "generate", "grid", "--estimate", wrong, "-")
        assert done.returncode == 2 and "--estimate" in done.stderr


def test_rigid_and_malleable_in_one_comparison(cli, log):
    path = log(random_jobs(150), 32)
    text = sim(cli, "--workload", path, "--queue", "fcfs,easy", "--malleable", "0,100")
    assert [row["label"] for row in text["comparison"]] == ["fcfs 0%", "fcfs 100%", "easy 0%", "easy 100%"]
    assert [run["malleable"] for run in text["runs"]] == [0, 150, 0, 150]
    for run, share in zip(text["runs"], ("0", "100") * 2):
        queue = run["policies"]["queue"]
        alone = sim(cli, "--workload", path, "--queue", queue, "--malleable", share)["runs"][0]
        for one in (run, alone):
            one.pop("elapsed_s", None)
        assert run == alone
    rigid, malleable = text["comparison"][0], text["comparison"][1]
    assert rigid["work"]["mean"] == pytest.approx(1) and malleable["work"]["mean"] != pytest.approx(1)
    shown = " ".join(cli("sim", "--workload", path, "--malleable", "0,100", "--malleability",
                         "none,egs").stdout.split())
    assert "--malleable 0 is the rigid workload" in shown
    assert "--hold-load makes arrivals denser by that" in shown
    linear = sim(cli, "--workload", path, "--malleable", "100", "--app", "linear")["runs"][0]
    assert linear["busy_processor_s"] == pytest.approx(linear["recorded_processor_s"], rel=1e-6)


def test_iterations_differ_by_the_noise(cli, log):
    """A policy that goes by what iterations take decides otherwise; others are not told of it."""
    path = log(random_jobs(60), 32)

    def run(policy, *options):
        text = sim(cli, "--workload", path, "--malleable", "100", "--app", "amdahl:0.1", "--malleability", policy, *options)
        text["runs"][0].pop("elapsed_s")
        return text["noise"], text["runs"][0]

    assert run("sweet-spot-learned")[0] == 0 and run("sweet-spot-learned", "--noise", "20%")[0] == 0.2
    assert run("sweet-spot-learned")[1] != run("sweet-spot-learned", "--noise", "20")[1]
    assert run("sweet-spot-learned", "--noise", "20") == run("sweet-spot-learned", "--noise", "20")
    assert run("egs")[1] == run("egs", "--noise", "20")[1]
    shown = cli("sim", "--workload", path, "--noise", "20").stdout
    assert re.search("^noise +iterations differ by 20 %", shown, re.M)


def test_the_load_is_held_when_sizes_change(cli, log):
    """What jobs take of the processors in a second is that of the rigid workload, by denser arrivals."""
    path = log(random_jobs(400), 32)
    options = ("--workload", path, "--queue", "fcfs,easy", "--malleable", "0,50,100", "--app", "amdahl:0.1")
    text = sim(cli, *options, "--hold-load")
    free = sim(cli, *options)
    assert text["hold_load"] and not free["hold_load"]
    for run, before in zip(text["runs"], free["runs"]):
        assert before["arrivals"] == 1
        taken = run["busy_processor_s"] / run["recorded_processor_s"]
        assert run["arrivals"] * taken == pytest.approx(1, abs=0.02)
        if run["malleable_percent"] == 0:
            one, other = dict(run), dict(before)
            one.pop("elapsed_s"), other.pop("elapsed_s")
            assert one == other
        else:
            assert run["arrivals"] > 1.05 and before["busy_processor_s"] < 0.95 * before["recorded_processor_s"]
            assert run["recorded_processor_s"] == pytest.approx(before["recorded_processor_s"])
    # the same jobs come at the same places of a shorter time; what is measured of it goes along
    cut = sim(cli, *options, "--hold-load", "--warmup", "10%", "--cooldown", "10%")["runs"]
    assert all(30 < run["not_measured"] < 130 for run in cut)
    out = os.path.join(cli.path, "held")
    assert cli("sim", "--workload", path, "--malleable", "100", "--hold-load", "--csv", out).returncode == 0
    with open(os.path.join(out, "jobs.csv")) as file:
        last = [float(row["submit_s"]) for row in csv.DictReader(file)][-1]
    run = sim(cli, "--workload", path, "--malleable", "100", "--hold-load")["runs"][0]
    jobs = random_jobs(400)
    assert last == pytest.approx(max(job[1] for job in jobs) / run["arrivals"], rel=0.01)
    shown = " ".join(cli("sim", *options, "--hold-load").stdout.split())
    assert "held: arrivals 1.000 to " in shown and "of the workload's processor time, in the same time" in shown


def test_a_generator_makes_a_workload_for_each_seed(cli):
    model = "lublin --jobs 200 --machine 64 --load 0.8 --estimate 4"
    options = ("--generate", model, "--queue", "fcfs,easy", "--malleable", "0,100", "--seeds", "4",
               "--seed", "3")
    text = sim(cli, *options)
    assert text["seeds_vary"] == "workload" and text["sites"][0]["processors"] == 64
    assert all(len(set(means)) == 4 for means in means_of(text)[:2])
    assert text["comparison"][0]["wait_mean_s"]["half_width"] > 0
    for i, seed in enumerate((3, 4, 5, 6)):  # the same as from a file
        path = os.path.join(cli.path, f"{seed}.swf")
        assert cli("workload", "generate", *model.split(), "--seed", str(seed), path).returncode == 0
        run = sim(cli, "--workload", path, "--queue", "easy", "--malleable", "100",
                  "--seed", str(seed))["runs"][0]
        assert means_of(text)[3][i] == run["wait_s"]["mean"]
    shown = " ".join(cli("sim", *options).stdout.split())
    assert "each with another workload" in shown and "machine with 64 processors (as the model says)" in shown


def test_several_workloads_and_paired_differences(cli, log):
    paths = [log(random_jobs(100, seed), 32, f"{seed}.swf") for seed in (7, 8, 9)]
    out = os.path.join(cli.path, "out")
    options = ("--workload", ",".join(paths[:2]), "--workload", paths[2], "--queue", "fcfs,easy")
    text = sim(cli, *options, "--csv", out)
    fcfs, easy = means_of(text)
    assert [workload["file"] for workload in text["workloads"]] == paths and text["seeds"] == 3
    for i, path in enumerate(paths):
        assert sim(cli, "--workload", path)["runs"][0]["wait_s"]["mean"] == fcfs[i]
    differences = [b - a for a, b in zip(fcfs, easy)]
    found = text["comparison"][1]["difference"]["wait_mean_s"]
    assert found["mean"] == pytest.approx(statistics.mean(differences))
    assert found["half_width"] == pytest.approx(  # Student's t for 2 degrees of freedom
        4.3026527 * statistics.stdev(differences) / 3 ** 0.5, rel=1e-6)
    assert os.path.exists(os.path.join(out, "queue-easy", "workload-3", "jobs.csv"))
    shown = cli("sim", *options).stdout
    assert "Less fcfs, run by run with the same seed and workload" in shown
    other = log(random_jobs(10), 16, "other.swf")
    done = cli("sim", "--workload", paths[0] + "," + other)
    assert done.returncode == 2 and "one with --site" in done.stderr
    assert cli("sim", "--workload", paths[0] + "," + other, "--site", "m:32").returncode == 0
    comma = log(random_jobs(10), 32, "a,b.swf")  # a file's name as a whole
    assert sim(cli, "--workload", comma)["workload"]["jobs"] == 10


def test_warm_up_and_cool_down(cli, log):
    path = log([(number, 10 * number, 8, 4, -1) for number in range(11)])
    run = sim(cli, "--workload", path, "--warmup", "20%", "--cooldown", "30s")["runs"][0]
    assert run["wait_s"]["count"] == 6 and run["not_measured"] == 5 and run["jobs"]["done"] == 11
    assert run["utilization"] == pytest.approx(0.8) and run["makespan_s"] == 108
    whole = sim(cli, "--workload", path)["runs"][0]
    assert whole["wait_s"]["count"] == 11 and whole["utilization"] == pytest.approx(88 / 108)
    shown = cli("sim", "--workload", path, "--warmup", "20%", "--cooldown", "30s").stdout
    assert "only jobs submitted from 20.0 s to 1m10s after the first" in " ".join(shown.split())
    done = cli("sim", "--workload", path, "--warmup", "60s", "--cooldown", "60s")
    assert done.returncode in (1, 2) and "leave nothing" in done.stderr


def test_threads_change_nothing(cli, log):
    path, written = log(random_jobs(200), 32), []
    for threads in ("1", "4"):
        out = os.path.join(cli.path, "threads-" + threads)
        assert cli("sim", "--workload", path, "--queue", "fcfs,easy", "--malleable", "40",
                   "--moldable", "30", "--seeds", "3", "--threads", threads,
                   "--csv", out).returncode == 0
        files = {str(file.relative_to(out)): file.read_bytes()
                 for file in pathlib.Path(out).rglob("*") if file.is_file()}
        written.append(files)
    assert written[0] == written[1]
    assert sorted(written[0])[0] == "queue-easy/seed-1/jobs.csv" and len(written[0]) == 25


# ---- drawings ----

def panels(path):
    root = xml.etree.ElementTree.parse(path).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    return "".join(root.itertext()), root


def test_chart(cli, log):
    path, out = log(random_jobs(80), 32), os.path.join(cli.path, "chart.svg")
    done = cli("sim", "--workload", path, "--malleable", "100", "--chart", out)
    assert (done.returncode, done.stderr) == (0, "") and f"The chart: {out}\n" in done.stdout
    text, root = panels(out)
    for title in ("Who held which processors when", "Processors in use", "Jobs that wait",
                  "Wait of the jobs", "Response time of the jobs", "Bounded slowdown of the jobs"):
        assert title in text, title
    assert sum(element.get("class") == "run" for element in root.iter()) >= 80
    assert cli("sim", "--workload", path, "--queue", "fcfs,easy,sjf", "--chart",
               out).returncode == 0
    text, _ = panels(out)
    assert "easy" in text and "sjf" in text and "Who held" not in text
    assert os.listdir(cli.path).count("chart.svg") == 1 and len(os.listdir(cli.path)) == 2


def test_pictures_by_their_names(cli, log):
    path = log(random_jobs(80), 32)
    for name, begin in (("a.svg", b"<svg"), ("a.png", b"\x89PNG\r\n"), ("a.PDF", b"%PDF-")):
        if name != "a.svg" and not shutil.which("rsvg-convert"):
            continue
        done = cli("sim", "--workload", path, "--chart", os.path.join(cli.path, name))
        assert (done.returncode, done.stderr) == (0, "")
        assert pathlib.Path(cli.path, name).read_bytes().lstrip().startswith(begin)
    for name in ("a.jpg", "a.eps"):
        done = cli("sim", "--workload", "/no/such.swf", "--chart", os.path.join(cli.path, name))
        assert done.returncode == 1 and "they are .svg, .png or .pdf" in done.stderr
        assert not os.path.exists(os.path.join(cli.path, name))
    done = cli("sim", "--workload", path, "--chart", os.path.join(cli.path, "b.png"),
               env={"PATH": "/nowhere"})
    assert done.returncode == 1 and "librsvg2-bin" in done.stderr


def test_processors_in_use_of_each_combination(cli, log):
    path, out = log(random_jobs(80), 32), os.path.join(cli.path, "chart.svg")
    assert cli("sim", "--workload", path, "--queue", "fcfs,easy,sjf", "--chart", out).returncode == 0
    text = panels(out)[0]
    for queue in ("fcfs", "easy", "sjf"):
        assert f"Processors in use: {queue}" in text
    assert "interval" not in text


def test_seeds_have_intervals_in_the_chart(cli):
    out = os.path.join(cli.path, "chart.svg")
    done = cli("sim", "--generate", "lublin --jobs 150 --machine 64 --load 0.9", "--seeds", "4",
               "--queue", "fcfs,easy", "--chart", out)
    assert done.returncode == 0, done.stderr
    text, root = panels(out)
    assert text.count("(mean over the runs, 95 % interval)") == 3
    assert "Processors in use: easy (first workload)" in text and "1 min" in text
    bands = [one for one in root.iter() if one.get("fill-opacity") or "opacity" in (one.get("style") or "")]
    assert len(bands) >= 6


def test_clock_and_units_of_the_axis(cli, log):
    path, out = log(random_jobs(300), 32), os.path.join(cli.path, "chart.svg")
    done = cli("sim", "--workload", path, "--chart", out, "--clock")
    assert done.returncode == 1 and "does not say when it began" in done.stderr
    began = pathlib.Path(path)
    began.write_text("; UnixStartTime: 749433600\n" + began.read_text())  # 1993-10-01 00:00 UTC
    assert cli("sim", "--workload", path, "--chart", out, "--clock", "--to", "10000",
               env={"TZ": "UTC-2"}).returncode == 0
    text = panels(out)[0]
    assert "time of day" in text and "02:30" in text and "04:00" in text
    assert cli("sim", "--workload", path, "--chart", out, "--to", "8000").returncode == 0
    assert "minutes" in panels(out)[0]


def test_the_legend_of_many_jobs_says_what_colours_mean(cli, log):
    path, out = log(random_jobs(150), 32), os.path.join(cli.path, "chart.svg")
    assert cli("sim", "--workload", path, "--chart", out).returncode == 0
    text = panels(out)[0]
    assert "Colour: processors at the start" in text
    counts = [int(count) for count in re.findall(r"\((\d+) jobs?\)", text)]
    assert sum(counts) == 150 and re.search(r"17 to 32 \(\d+ job", text)
    assert cli("sim", "--workload", path, "--malleable", "50", "--chart", out).returncode == 0
    text = panels(out)[0]
    assert "Colour: the job's name" in text and "malleable (" in text and "rigid (" in text


def test_triangles_of_arrivals_are_whole(cli, log):
    """A short wait draws no line over them."""
    path, out = log([(1, 0, 1000, 4, -1), (2, 100, 50, 2, -1), (3, 999, 9, 2, -1)]), os.path.join(cli.path, "c.svg")
    assert cli("sim", "--workload", path, "--chart", out).returncode == 0
    svg = pathlib.Path(out).read_text()
    assert svg.count("arrival of job") == 3
    assert "job 2 waits 15m00s" in svg and "job 3 waits" not in svg
    assert svg.count("stroke-dasharray=\"5 3\"") == 1
    at = float(re.search(r'd="M([\d.]+) [\d.]+ l-4.5 -8 h9 z"[^>]*><title>arrival of job 2<', svg).group(1))
    line = float(re.search(r'd="M([\d.]+) [\d.]+ H[\d.]+" stroke="[^"]+" stroke-width="2" '
                           r'stroke-dasharray', svg).group(1))
    assert line >= at + 4.5


def test_a_chart_of_too_many_jobs_says_so(cli, log):
    path, out = log(random_jobs(700), 32), os.path.join(cli.path, "chart.svg")
    done = cli("sim", "--workload", path, "--chart", out)
    assert done.returncode == 0 and "700 jobs are too many" in done.stdout
    assert "Who held" not in panels(out)[0]
    done = cli("sim", "--workload", path, "--chart", out, "--first", "30")
    assert "too many" not in done.stdout and "Who held" in panels(out)[0]
    done = cli("sim", "--workload", path, "--chart", out, "--from", "100", "--to", "2000")
    assert "too many" not in done.stdout and "Who held" in panels(out)[0]


def test_rows_of_the_drawing_hold_one_job_at_a_time(cli, log):
    path, out = log(random_jobs(120), 32), os.path.join(cli.path, "chart.svg")
    assert cli("sim", "--workload", path, "--malleable", "100", "--chart", out).returncode == 0
    boxes = []
    for element in panels(out)[1].iter():
        if element.get("class") == "run":
            x, y, width, height = (float(element.get(name))
                                   for name in ("x", "y", "width", "height"))
            boxes.append((x, x + width, y, y + height))
    boxes.sort()
    for i, a in enumerate(boxes):
        for b in boxes[i + 1:]:
            if b[0] >= a[1] - 0.5:
                break
            overlap = min(a[1], b[1]) - b[0]
            assert overlap < 0.5 or b[2] >= a[3] - 0.1 or a[2] >= b[3] - 0.1, (a, b)


# ---- sites from a file ----

def test_platform(cli, log):
    pathlib.Path(cli.path, "load.txt").write_text("# local users\n0 2\n\n1000000 0\n")
    platform = pathlib.Path(cli.path, "sites.conf")
    platform.write_text('site fast {\n  nodes = 2\n  slots = 2\n  speed = 2\n}\n')
    path = log([(1, 0, 10, 4, -1), (2, 0, 10, 4, -1)])
    text = sim(cli, "--workload", path, "--platform", str(platform))
    assert text["sites"] == [{"name": "fast", "processors": 4, "speed": 2.0}]
    assert text["runs"][0]["makespan_s"] == 10
    platform.write_text('site slow {\n  nodes = 4\n  claim-delay = "1500 ms"\n'
                        '  start-delay = 2\n}\n')
    assert sim(cli, "--workload", path, "--jobs", "1", "--platform",
               str(platform))["runs"][0]["wait_s"]["mean"] == 3.5
    platform.write_text('site shared {\n  nodes = 6\n  background-trace = "load.txt"\n}\n')
    run = sim(cli, "--workload", path, "--platform", str(platform))["runs"][0]
    assert run["makespan_s"] == 20 and run["utilization"] == pytest.approx(1)
    assert run["background_processor_s"] == pytest.approx(40)
    two = sim(cli, "--workload", path, "--site", "other:4", "--platform", str(platform))
    assert [site["name"] for site in two["sites"]] == ["other", "shared"]
    assert two["runs"][0]["makespan_s"] == 10


def test_a_site_with_a_queue(cli, log):
    """Others have 3 of 4 processors for 100 s, and all of them after that; users ask for 1000 s each time."""
    log([(1, 0, 100, 3, 1000), (2, 1, 50, 4, 1000)], name="others.swf")
    path, platform = log([(1, 2, 20, 1, -1)]), pathlib.Path(cli.path, "sites.conf")
    for limit, wait in ((0, 148), (500, 0)):
        platform.write_text(f'site c {{\n  nodes = 4\n  queue = easy\n  limit = {limit}\n'
                            '  background-log = "others.swf"\n}\n')
        run = sim(cli, "--workload", path, "--platform", str(platform))["runs"][0]
        assert (run["allocations"], run["allocations_expired"], run["queued_s"]) == (1, 0, wait)
        assert run["wait_s"]["mean"] == wait and run["jobs"]["done"] == 1
    text = cli("sim", "--workload", path, "--platform", str(platform)).stdout
    assert "1 allocations, each" in " ".join(text.split())


def test_folded_jobs_on_the_nodes_of_a_cluster(cli):
    """Eight processes that take 48 s on eight processors. Alone on two nodes with four: as long. Beside a job that has ten of
    sixteen for 20 s: they are started on six, on two nodes, and stay there."""
    path, platform = (pathlib.Path(cli.path, name) for name in ("log.swf", "sites.conf"))
    head = "; Pleat-Columns: kind minimum maximum mpl\n"
    other, folded = (f"{number} 0 -1 {run} {size} -1 -1 {size} -1 -1 1 1 1 1 1 1 -1 -1 {more}\n"
                     for number, run, size, more in ((1, 20, 10, "0 10 10 0"), (2, 48, 8, "2 8 8 4")))
    for nodes, jobs, ends, allocations in ((2, folded, 48, 1), (4, other + folded, 64, 2)):
        path.write_text(head + jobs)
        platform.write_text(f'site c {{\n  nodes = {nodes}\n  slots = 4\n  queue = fcfs\n}}\n')
        run = sim(cli, "--workload", str(path), "--platform", str(platform), "--approach", "pwa",
                  "--malleability", "partition")["runs"][0]
        assert (run["makespan_s"], run["allocations"], run["jobs"]["done"]) == (ends, allocations, jobs.count("\n")), run


def test_malleable_jobs_go_from_allocation_to_allocation(cli):
    """All allocations have 120 s, of which the last 30 s are for leaving, and are there 30 s later; the job has more to do than
    that. With the parameters of pleatd it outlives them; without the last of them it does not."""
    path, platform = (pathlib.Path(cli.path, name) for name in ("log.swf", "sites.conf"))
    path.write_text("; Pleat-Columns: kind minimum maximum mpl\n1 0 -1 400 2 -1 -1 2 -1 -1 1 1 1 1 1 1 -1 -1 2 2 4 0\n")
    platform.write_text('site c {\n  nodes = 4\n  slots = 2\n  queue = fcfs\n  limit = 120\n  claim-delay = "30 s"\n  start-delay = "2 s"\n}\n')
    parameters = ("shrink_off_s=30", "move_s=60", "replace_s=300", "attempts=2")
    words = [word for parameter in parameters for word in ("--parameter", parameter)]
    options = ("--workload", str(path), "--platform", str(platform), "--malleability", "none", "--moldability", "minimum")
    for short, ended in ((1, "done"), (0, "failed")):
        run = sim(cli, *options, *words, "--parameter", f"replace_short={short}")["runs"][0]
        assert run["jobs"][ended] == 1 and run["allocations_expired"] == 0, run
        assert run["allocations"] >= 4 if short else run["allocations"] > 2, run


def test_failures(cli, log):
    platform, out = pathlib.Path(cli.path, "sites.conf"), os.path.join(cli.path, "out")
    platform.write_text('site m {\n  nodes = 8\n  slots = 4\n  failures = node\n'
                        '  time-between-failures = "2 h"\n  repair-time = "5 min"\n}\n')
    options = ("--workload", log(random_jobs(400), 32), "--platform", str(platform))
    run = sim(cli, *options, "--csv", out)["runs"][0]
    ended = rows(os.path.join(out, "jobs.csv"))
    assert sum(run["jobs"].values()) == 400 and len(ended) >= run["jobs"]["done"]
    assert sum(int(row["restarts"]) for row in ended) > 0
    assert sum(row["fate"] == "failed" for row in ended) == run["jobs"]["failed"]
    runs = sim(cli, *options, "--seeds", "3")["runs"]
    assert len({one["makespan_s"] for one in runs}) > 1
    platform.write_text("site m {\n  nodes = 32\n}\n")
    assert run["makespan_s"] > sim(cli, *options)["runs"][0]["makespan_s"]


@pytest.mark.parametrize("text, words", [
    ("site a { nodes = 0 }", ":1: nodes = 0: must be from 1"),
    ("site a {\n  speed = fast }", ":2: invalid floating point"),
    ('site a {\n\n  claim-delay = "5 weeks"\n}', ":3: claim-delay = '5 weeks' is not a delay"),
    ("site a {\n failures = often\n}", ":2: failures = often: must be none, node, start or claim"),
    ("site a { failures = start }", "need failure-probability"),
    ("site a { failures = node }", "need time-between-failures"),
    ('site a { leaves = "1 h" joins = "2 h" }', "leaves before it joins"),
    ("site a { background-gap = 5 }", "belong together"),
    ("# a comment\nsight a {}", ":2: no such option 'sight'"),
    ("site a {} site a {}", "duplicate title 'a'"),
    ("site a {\nnodes = 4", ":1: the section that begins here does not end"),
    ("site m {}", "site m is there already"),
    ("site a { queue = lifo }", "sites.conf:1: queue = lifo: must be none, fcfs or easy"),
    ("site a {\n queue = easy\n limit = soon\n}", "sites.conf:3: limit = "),
    ("site a { queue = easy background-estimate = 0.5 }", "must be from 1 to 1000000"),
    ("site a { queue = easy queue-time = 0 }", "queue-time must be more than 0"),
    ("site a { background-log = bad.txt }", "site a: background-log needs a queue"),
    ("site a { queue = easy background-trace = bad.txt }", "not both"),
    ("site a { queue = easy background-log = none.swf }", "none.swf"),
    ("site a { queue = easy background-log = bad.txt }", "bad.txt:1: only 2 columns"),
    ("site a { queue = easy background-log = wide.swf }", "wide.swf: job 1 has 2 processors, and site"),
    ("site a { background-trace = none.txt }", "none.txt: cannot be read"),
    ("site a { background-trace = bad.txt }", "bad.txt:2: not 'SECONDS PROCESSORS'"),
    ("site a { background-trace = back.txt }", "back.txt:2: earlier than the line before"),
    ("", "the file has no site"),
])
def test_wrong_platforms(cli, log, text, words):
    pathlib.Path(cli.path, "bad.txt").write_text("0 1\n5 many\n")
    pathlib.Path(cli.path, "back.txt").write_text("10 1\n5 2\n")
    log([(1, 0, 10, 2, -1)], name="wide.swf")
    platform = pathlib.Path(cli.path, "sites.conf")
    platform.write_text(text + "\n")
    done = cli("sim", "--workload", log(SMALL), "--site", "m:4", "--platform", str(platform))
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr and done.stderr.count("\n") == 1, done.stderr


# ---- mistakes ----

@pytest.mark.parametrize("args, words", [
    ([], "which workload? --workload FILE"),
    (["--workload", "LOG", "--queue", "easi"], "did you mean 'easy'"),
    (["--workload", "LOG", "--queue", "nonsense"], "there are: fcfs"),
    (["--workload", "LOG", "--queue", "fcfs,fcfs"], "'fcfs' is there twice"),
    (["--workload", "LOG", "--queue", ""], "there is no policy ''"),
    (["--workload", "LOG", "--approach", "fcfs"], "--approach: there is no policy 'fcfs'"),
    (["--workload", "LOG", "--queue", "sjf", "--order", "edf"], "not both"),
    (["--workload", "LOG", "--site", "big"], "not NAME:PROCESSORS"),
    (["--workload", "LOG", "--site", "big:0"], "'0' is not a whole number from 1"),
    (["--workload", "LOG", "--site", "a:1", "--site", "a:2"], "'a' is there twice"),
    (["--workload", "LOG", "--malleable", "101"], "--malleable: '101'"),
    (["--workload", "LOG", "--malleable", "60", "--moldable", "50"], "more than 100 %"),
    (["--workload", "LOG", "--app", "linear"], "--app needs --malleable"),
    (["--workload", "LOG", "--malleable", "1", "--app", "magic"], "--app: "),
    (["--workload", "LOG", "--malleable", "1", "--sizes", "primes"], "--sizes: "),
    (["--workload", "LOG", "--malleable", "1", "--sizes", "1,2,3"], "a list fits one job"),
    (["--workload", "LOG", "--malleable", "1", "--sizes", "table"], "--sizes table, --app: "),
    (["--workload", "LOG", "--malleable", "50,50"], "'50' is there twice"),
    (["--workload", "LOG", "--malleable", "0,60", "--moldable", "50"], "more than 100 %"),
    (["--workload", "LOG", "--workload", "LOG"], "is there twice"),
    (["--workload", "LOG,other.swf", "--seeds", "3"], "2 workloads are 2 runs"),
    (["--workload", "LOG", "--generate", "lublin"], "not both"),
    (["--generate", "lubli"], "did you mean 'lublin'"),
    (["--generate", ""], "there is no model ''"),
    (["--generate", "lublin --seed 3"], "the seeds are those of --seed and --seeds"),
    (["--generate", "lublin --jobs many"], "lublin: --jobs: 'many'"),
    (["--generate", "lublin out.swf"], "unexpected argument 'out.swf'"),
    (["--generate", "lublin --json"], "unknown option '--json'"),
    (["--workload", "LOG", "--warmup", "60%", "--cooldown", "40%"], "leave nothing in between"),
    (["--workload", "LOG", "--warmup", "early"], "--warmup: 'early'"),
    (["--workload", "LOG", "--estimates", "good"], "none of given, exact"),
    (["--workload", "LOG", "--noise", "120"], "--noise: '120' is not a percentage from 0 to 100"),
    (["--workload", "LOG", "--zero-run-times", "maybe"], "none of skip, keep"),
    (["--workload", "LOG", "--seeds", "0"], "--seeds: '0'"),
    (["--workload", "LOG", "--seeds", "10000", "--queue", "fcfs,easy"], "more than 10000"),
    (["--workload", "LOG", "--load", "0"], "--load: '0'"),
    (["--workload", "LOG", "--parameter", "claims_s=3"], "did you mean 'claim_s'"),
    (["--workload", "LOG", "--parameter", "claim_s"], "not NAME=VALUE"),
    (["--workload", "LOG", "--from", "3"], "--from is for --chart"),
    (["--workload", "LOG", "--chart", "x.svg", "--first", "3", "--seeds", "2"], "of a single run"),
    (["--workload", "LOG", "--replay", "x"], "--workload has no place there"),
    (["--workload", "LOG", "more"], "unexpected argument 'more'"),
    (["--workload", "/no/such.swf"], "/no/such.swf"),
    (["--workload", "LOG", "--platform", "/no/such.conf"], "/no/such.conf: cannot be read"),
])
def test_mistakes(cli, log, args, words):
    path = log(SMALL)
    done = cli("sim", *[arg.replace("LOG", path) for arg in args])
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert os.listdir(cli.path) == ["log.swf"]


def test_wrong_logs(cli):
    path = pathlib.Path(cli.path, "log.swf")
    out = os.path.join(cli.path, "out")
    path.write_text(swf(SMALL) + "7 x -1 5 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1\n")
    done = cli("sim", "--workload", str(path), "--csv", out)
    assert done.returncode == 2 and f"{path}:6: " in done.stderr and not os.path.exists(out)
    path.write_text("; MaxProcs: 4\n")
    done = cli("sim", "--workload", str(path))
    assert done.returncode == 2 and "no job of this workload" in done.stderr


def test_what_cannot_be_written_is_said_before_the_work(cli, log):
    file = log(SMALL)
    for options in (["--csv", os.path.join(file, "out")], ["--csv", "/proc/nowhere"],
                    ["--chart", "/no/such/chart.svg"], ["--csv", file]):
        done = cli("sim", "--workload", "/no/such.swf", *options)
        assert done.returncode == 1 and options[1] in done.stderr, done.stderr
    assert os.listdir(cli.path) == ["log.swf"]


def test_ctrl_c_leaves_nothing(cli, log):
    path, out = log(random_jobs(3000), 32), os.path.join(cli.path, "deep", "out")
    chart = os.path.join(cli.path, "chart.svg")
    process = cli.start("sim", "--workload", path, "--seeds", "500", "--threads", "1",
                        "--malleable", "9", "--csv", out, "--chart", chart, stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not any(pathlib.Path(out).glob("seed-1/.jobs.csv.*")):
        assert time.monotonic() < deadline and process.poll() is None
    process.send_signal(signal.SIGINT)
    text, _ = process.communicate(timeout=60)
    assert process.returncode == 130 and text == ""
    assert os.listdir(cli.path) == ["log.swf"]


def test_ctrl_c_keeps_what_was_there(cli, log):
    path, out = log(random_jobs(3000), 32), os.path.join(cli.path, "out")
    assert cli("sim", "--workload", path, "--jobs", "10", "--csv", out).returncode == 0
    before = {file.name: file.read_bytes() for file in pathlib.Path(out).iterdir()}
    process = cli.start("sim", "--workload", path, "--seeds", "500", "--threads", "1",
                        "--malleable", "9", "--csv", out, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not any(pathlib.Path(out).glob("seed-1/.jobs.csv.*")):
        assert time.monotonic() < deadline and process.poll() is None
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    assert {file.name: file.read_bytes() for file in pathlib.Path(out).iterdir()} == before


# ---- replay ----

@pytest.fixture
def real(cli):
    pathlib.Path(cli.path, "pleat.conf").write_text(
        "site local {\n  processors = 4\n  background = ignore\n}\n")
    yield cli
    cli("stop", "--force")


def checksum(number, record):
    """As the store computes it: FNV-1a over number, size, bytes."""
    total = 0xcbf29ce484222325
    for byte in struct.pack("<QQ", number, len(record)) + record:
        total = (total ^ byte) * 0x100000001b3 % 2 ** 64
    return struct.unpack("<q", struct.pack("<Q", total))[0]


def test_replay(real):
    log = os.path.join(real.path, "log.sqlite")
    for size in ("4", "2", "3"):
        assert real("submit", "-n", size, "true").returncode == 0
    assert real("wait").returncode == 0
    running = real("sim", "--replay", log)  # while its daemon has it
    assert (running.returncode, running.stderr) == (0, "")
    assert re.search(r"^decisions +\d+\nresult +the same$", running.stdout, re.M)
    assert real("stop").returncode == 0
    before = pathlib.Path(log).read_bytes()
    text = json.loads(real("sim", "--json", "--replay", log).stdout)
    assert text["same"] and text["decisions"] >= 3 and text["different_at"] is None
    assert pathlib.Path(log).read_bytes() == before
    with sqlite3.connect(log) as db:
        starts = [(seq, record) for seq, record in db.execute("SELECT seq, record FROM log")
                  if struct.unpack_from("<H", record, 8)[0] == 129]
        seq, record = starts[1]
        changed = bytearray(record)
        changed[20] ^= 1  # its processors
        db.execute("UPDATE log SET record = ?, checksum = ? WHERE seq = ?",
                   (bytes(changed), checksum(seq, bytes(changed)), seq))
    done = real("sim", "--replay", log)
    assert done.returncode == 1 and f"different at record {seq}\n" in done.stdout
    assert re.search(r"^logged +start .* 3 processors", done.stdout, re.M)
    assert re.search(r"^decided +start .* 2 processors", done.stdout, re.M)
    text = json.loads(real("sim", "--json", "--replay", log).stdout)
    assert not text["same"] and text["different_at"] == seq and text["logged"]["kind"] == "start"


def test_replay_of_what_is_no_log(cli):
    path = pathlib.Path(cli.path, "log.sqlite")
    path.write_text("not a database, but long enough to look like one\n" * 40)
    for log in (str(path), cli.path, "/no/such/log.sqlite"):
        done = cli("sim", "--replay", log)
        assert (done.returncode, done.stdout) == (1, "")
        assert log in done.stderr and done.stderr.count("\n") == 1
    assert os.listdir(cli.path) == ["log.sqlite"]


def test_estimates_as_users_make_them(cli, log):
    model = "lublin --jobs 500 --machine 64 --load 0.8"
    with_model = sim(cli, "--generate", model + " --estimate popular:60h", "--queue", "easy")
    instead = sim(cli, "--generate", model, "--queue", "easy", "--estimates", "popular:60h")
    assert instead["estimates"] == "popular" and with_model["estimates"] == "given"
    for one, other in zip(with_model["runs"], instead["runs"]):  # drawn with the same seed
        assert one["wait_s"] == other["wait_s"] and one["wait_s"]["mean"] > 0
    exact = sim(cli, "--generate", model, "--queue", "easy", "--estimates", "exact")
    assert exact["runs"][0]["wait_s"] != instead["runs"][0]["wait_s"]
    path = log(random_jobs(150), 32)
    shown = cli("sim", "--workload", path, "--queue", "easy", "--estimates", "popular")
    assert "popular values (Tsafrir, Etsion and Feitelson 2005)" in shown.stdout
    for options, words in ((("--estimates", "popular:1h"), "from 6000 s on"),
                           (("--estimates", "popular:soon"), "soon"),
                           (("--estimates", "popul"), "given, exact, popular, popular:MAX")):
        done = cli("sim", "--workload", path, *options)
        assert done.returncode == 2 and words in done.stderr
    long = log([(1, 0, 7000, 1, -1), (2, 5, 8000, 1, -1)], 4, name="long.swf")
    done = cli("sim", "--workload", long, "--estimates", "popular:6500s")
    assert done.returncode == 2 and "runs for 8000 s, above the longest estimate, 6500 s" in done.stderr


def test_feedback_by_hand(cli):
    """4 processors. Recorded 1 at 0, 2 at 5, 3 at 20, 4 at 21 and 5 at 30; 3 follows 2 after 4 s, 4 follows 3
    at once (its think time is not known), 5 names a job that is not there."""
    path = os.path.join(cli.path, "chain.swf")
    lines = [(1, 0, 30, 4, -1, -1), (2, 5, 10, 4, -1, -1), (3, 20, 10, 2, 2, 4), (4, 21, 6, 4, 3, -1),
             (5, 30, 3, 2, 99, 0)]
    text = "; MaxProcs: 4\n" + "".join(
        f"{n} {at} -1 {run} {size} -1 -1 {size} {run} -1 1 -1 -1 -1 -1 -1 {before} {think}\n"
        for n, at, run, size, before, think in lines)
    pathlib.Path(path).write_text(text)

    def schedule(*options):
        out = os.path.join(cli.path, "out")
        assert cli("sim", "--workload", path, "--csv", out, *options).returncode == 0
        return {int(row["job"]): tuple(float(row[c]) for c in ("submit_s", "start_s", "end_s", "wait_s"))
                for row in rows(os.path.join(out, "jobs.csv"))}

    recorded = {1: (0, 0, 30, 0), 2: (5, 30, 40, 25), 3: (20, 40, 50, 20), 4: (21, 50, 56, 29), 5: (30, 56, 59, 26)}
    assert schedule() == recorded  # arrivals stay as they were: the default
    # 5 waits behind 2 and starts at 40; 3 comes at 44, 4 when that has ended
    assert schedule("--feedback") == {1: (0, 0, 30, 0), 2: (5, 30, 40, 25), 3: (44, 44, 54, 0), 4: (54, 54, 60, 0),
                                      5: (30, 40, 43, 10)}
    text = sim(cli, "--workload", path, "--feedback")
    assert text["feedback"] and (text["runs"][0]["followers"], text["runs"][0]["predecessors_missing"]) == (2, 1)
    shown = " ".join(cli("sim", "--workload", path, "--feedback").stdout.split())
    assert "2 jobs submitted after the one before, with think times; 1 names one that is not there" in shown
    # all that reads and writes a log keeps both columns
    other = os.path.join(cli.path, "other.swf")
    assert cli("workload", "convert", "--malleable", "100", path, other).returncode == 0
    kept = [line.split()[16:18] for line in open(other) if not line.startswith(";")]
    assert kept == [["-1", "-1"], ["-1", "-1"], ["2", "4"], ["3", "-1"], ["99", "0"]]
    for options in (("--hold-load",), ("--warmup", "10%")):
        done = cli("sim", "--workload", path, "--feedback", *options)
        assert done.returncode == 2 and "uses the recorded submissions" in done.stderr
    pathlib.Path(path).write_text("1 0 -1 5 1 -1 -1 1 5 -1 1 -1 -1 -1 -1 -1 2 0\n"
                                  "2 1 -1 5 1 -1 -1 1 5 -1 1 -1 -1 -1 -1 -1 1 0\n")
    assert cli("sim", "--workload", path).returncode == 0
    done = cli("sim", "--workload", path, "--feedback")
    assert done.returncode == 2 and "job 1: its preceding job is 2, which is submitted after it" in done.stderr
