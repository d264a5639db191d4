"""pleat workload: logs described, converted and generated. What comes out is read back here by a
reader of its own."""

import bz2
import csv
import gzip
import json
import lzma
import math
import os
import pathlib
import shutil
import subprocess
import xml.etree.ElementTree

import pytest
from conftest import PLEAT, on_terminal

ROOT = pathlib.Path(__file__).resolve().parents[3]
DATA = pathlib.Path(os.environ.get("PLEAT_DATA", ROOT.parent / "shared" / "data"))
PARTS = ["workload stat", "workload convert", "workload generate", "workload generate simple",
         "workload generate lublin", "workload generate utrera", "workload generate grid"]
GNUPLOT = shutil.which("gnuplot")

# Friday 1993-10-01 00:00 UTC. 8 processors, 100 s between the first job and the last: 800
# processor-seconds. Jobs 3, 4 and 8 cannot be run, job 6 comes before job 5 in time.
LOG = """\
; Version: 2.2
; UnixStartTime: 749433600
; MaxProcs: 8
 1   0  5  10  1 -1 -1  1  20 -1 1 1 1 -1 -1 -1 -1 -1
 2  10 -1  20  4 -1 -1  4  -1 -1 1 2 1 -1 -1 -1 -1 -1
 3  15  0  -1  2 -1 -1  2  30 -1 1 2 1 -1 -1 -1 -1 -1
 4  16  0   5 -1 -1 -1 -1  30 -1 1 2 1 -1 -1 -1 -1 -1
 5  60  0  30  3 -1 -1  3  10 -1 1 1 1 -1 -1 -1 -1 -1
 6  40  0  40 -1 -1 -1  8  40 -1 1 3 1 -1 -1 -1 -1 -1
 8  70  0   0  1 -1 -1  1  10 -1 1 1 1 -1 -1 -1 -1 -1
 9 100  0  10 16 -1 -1 16  10 -1 1 1 1 -1 -1 -1 -1 -1
"""


@pytest.fixture
def work(cli):
    """A directory for files, besides Pleat's own."""
    path = pathlib.Path(cli.path) / "files"
    path.mkdir()
    cli.log = str(path / "log.swf")
    pathlib.Path(cli.log).write_text(LOG)
    return path


def read_swf(path):
    """The jobs as dicts of Pleat's columns and the standard ones that matter here."""
    names = ("number submit wait run allocated cpu memory requested estimate requested_memory status "
             "user group executable queue partition preceding think").split()
    jobs = []
    for line in pathlib.Path(path).read_text().splitlines():
        if line.startswith("; Pleat-Columns:"):
            names = names + line.split(":")[1].split()
        elif line and not line.startswith(";"):
            fields = [float(field) for field in line.split()]
            assert len(fields) == len(names)
            jobs.append(dict(zip(names, fields)))
    return jobs


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_packed_logs(cli, work, pack):
    packed, text = work / "log.packed", LOG
    packed.write_bytes(pack(text.encode()))
    plain, unpacked = cli("workload", "stat", "--json", cli.log), cli("workload", "stat", "--json", str(packed))
    assert unpacked.returncode == 0, unpacked.stderr
    expected, found = json.loads(plain.stdout), json.loads(unpacked.stdout)
    assert expected.pop("file") != found.pop("file") and found == expected
    long = "".join(f"{n} {n} 0 {n % 977 + 1} 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1\n" for n in range(1, 50001))
    whole = pack(long.encode())
    packed.write_bytes(whole)  # larger than what is read at once
    assert json.loads(cli("workload", "stat", "--json", str(packed)).stdout)["jobs"] == 50000
    done = subprocess.run(f"cat {packed} | {PLEAT} workload stat --json -", shell=True, text=True,
                          stdout=subprocess.PIPE, timeout=60)
    assert json.loads(done.stdout)["jobs"] == 50000
    packed.write_bytes(whole[:len(whole) // 2])  # a part of it is no log
    done = cli("workload", "stat", str(packed))
    assert done.returncode == 2 and f"{packed}: cannot be unpacked" in done.stderr



def body(path):
    return [line for line in pathlib.Path(path).read_text().splitlines()
            if not line.startswith("; Note: pleat ")]


def stat(cli, path, *more):
    done = cli("workload", "stat", "--json", *more, str(path))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def generate(cli, *args):
    done = cli("workload", "generate", *map(str, args))
    assert done.returncode == 0, done.stderr
    return done


# ---- stat ----

def test_stat_of_a_log_made_by_hand(cli, work):
    found = stat(cli, cli.log)
    assert {name: found[name] for name in ("jobs", "rigid", "moldable", "malleable", "users",
                                           "machine", "origin_s", "span_s", "work_s", "estimates")
            } == {"jobs": 5, "rigid": 5, "moldable": 0, "malleable": 0, "users": 3, "machine": 8,
                  "origin_s": 749433600.0, "span_s": 100.0, "work_s": 10 + 80 + 90 + 320 + 160,
                  "estimates": 4}
    assert found["load"] == pytest.approx(660 / 800)
    assert found["serial"] == pytest.approx(1 / 5) and found["powers"] == pytest.approx(3 / 5)
    assert found["size"] == pytest.approx({
        "count": 5, "mean": 6.4, "deviation": math.sqrt(((1 - 6.4) ** 2 + (4 - 6.4) ** 2 +
                                                         (3 - 6.4) ** 2 + (8 - 6.4) ** 2 +
                                                         (16 - 6.4) ** 2) / 4),
        "least": 1, "median": 4, "p95": 8 + 0.8 * 8, "most": 16})
    assert found["gap_s"]["count"] == 4 and found["gap_s"]["mean"] == 25
    assert found["accuracy"]["most"] == 3  # job 5 ran three times its estimate
    assert found["hours"] == [5] + [0] * 23 and found["weekdays"] == [0, 0, 0, 0, 5, 0, 0]
    read = found["read"]
    assert (read["no_run_time"], read["zero_run_time"], read["no_size"]) == (2, 1, 1)
    assert (read["unsorted"], read["missing_estimate"], read["short_run"]) == (1, 1, 1)
    assert read["too_large"] == 1 and read["crlf"] is False


def test_stat_in_words(cli, work):
    text = cli("workload", "stat", cli.log).stdout
    for words in ("jobs         5 (5 rigid, 0 moldable, 0 malleable) of 3 users", "8 processors",
                  "from 1993-10-01 00:00 UTC on", "offered load 82.5 %",
                  "1 job left out: no run time", "1 job left out: a run time of 0",
                  "1 job left out: no processors", "1 job out of order",
                  "1 job ran longer than estimated", "1 job larger than the machine"):
        assert words in text
    assert "Sizes" not in text  # plots are for terminals


def test_stat_reads_pipes_and_carriage_returns(cli, work):
    done = cli("workload", "stat", "--json", "-", input=LOG.replace("\n", "\r\n"))
    found, plain = json.loads(done.stdout), stat(cli, cli.log)
    assert found["read"].pop("crlf") is True and plain["read"].pop("crlf") is False
    assert found.pop("file") == "-" and plain.pop("file") == cli.log
    assert found == plain


def test_stat_of_a_part(cli, work):
    assert stat(cli, cli.log, "--first", "2")["jobs"] == 2
    kept = stat(cli, cli.log, "--zero-run-times", "keep")
    assert kept["jobs"] == 6 and kept["run_s"]["least"] == 0


def test_stat_of_nothing(cli, work):
    nothing = work / "nothing.swf"
    nothing.write_text("; MaxProcs: 8\n")
    assert stat(cli, nothing)["jobs"] == 0
    assert cli("workload", "stat", str(nothing)).returncode == 0
    if GNUPLOT:
        svg = work / "nothing.svg"
        assert cli("workload", "stat", "--svg", str(svg), str(nothing)).returncode == 0
        text = "".join(xml.etree.ElementTree.parse(svg).getroot().itertext())
        assert text.count("nothing to show") == 6


def test_recorded_logs(cli):
    nasa, lublin = DATA / "NASA-iPSC-1993-3.1-cln.swf", DATA / "lublin_256.swf"
    if not nasa.exists() or not lublin.exists():
        pytest.skip(f"the logs are not in {DATA}")
    found = stat(cli, nasa)
    assert (found["jobs"], found["machine"]) == (18066, 128)
    assert found["read"]["zero_run_time"] == 173
    found = stat(cli, lublin)
    assert (found["jobs"], found["machine"]) == (10000, 256) and found["load"] > 1


# ---- figures ----

@pytest.mark.skipif(not GNUPLOT, reason="gnuplot is not installed")
def test_svg(cli, work):
    log, svg = work / "many.swf", work / "many.svg"
    generate(cli, "lublin", "--jobs", 20000, log)
    svg.write_text("old")
    done = cli("workload", "stat", "--svg", str(svg), str(log), env={"GNUTERM": "no-such-terminal"})
    assert done.returncode == 0 and done.stderr == ""
    root = xml.etree.ElementTree.parse(svg).getroot()
    text = "".join(root.itertext())
    for title in ("Sizes", "Run times", "Gaps between submissions",
                  "Submissions by hour of the day", "Submissions by day of the week",
                  "Offered load"):
        assert title in text
    assert svg.stat().st_size < 400_000  # 20,000 points a curve would be more
    assert not [e for e in root.iter() if e.tag.endswith(("script", "image"))]
    assert sorted(p.name for p in work.iterdir()) == ["log.swf", "many.svg", "many.swf"]


@pytest.mark.skipif(not GNUPLOT, reason="gnuplot is not installed")
def test_plots_on_a_terminal(cli, work):
    for columns, locale in ((80, "C.UTF-8"), (120, "C")):
        text, code = on_terminal(cli, "workload", "stat", cli.log, env={"LC_ALL": locale},
                                 size=(40, columns))
        assert code == 0 and text.isascii()
        for title in ("Sizes", "Run times", "Submissions by hour of the day"):
            assert f" {title}\r\n" in text
        assert max(map(len, text.splitlines())) <= columns
        assert "\x1b[" not in text.split("Sizes", 1)[1]


def test_without_gnuplot(cli, work):
    svg = work / "log.svg"
    done = subprocess.run([PLEAT, "workload", "stat", "--svg", str(svg), cli.log],
                          env=dict(cli.env, PATH="/nonexistent"), capture_output=True, text=True)
    assert done.returncode == 1 and "install the package gnuplot-nox" in done.stderr
    assert not svg.exists()
    text, code = on_terminal(cli, "workload", "stat", cli.log, env={"PATH": "/nonexistent"})
    assert code == 0 and "offered load" in text and "gnuplot-nox" in text


def test_gnuplot_that_fails(cli, work):
    broken = work / "bin"
    broken.mkdir()
    (broken / "gnuplot").write_text("#!/bin/sh\necho '\"-\" line 3: no such thing' >&2\nexit 1\n")
    (broken / "gnuplot").chmod(0o755)
    svg = work / "log.svg"
    svg.write_text("old")
    done = cli("workload", "stat", "--svg", str(svg), cli.log,
               env={"PATH": f"{broken}:{os.environ['PATH']}"})
    assert done.returncode == 1 and "line 3: no such thing" in done.stderr
    assert svg.read_text() == "old"


@pytest.mark.skipif(not GNUPLOT, reason="gnuplot is not installed")
def test_svg_that_cannot_be_written(cli, work):
    done = cli("workload", "stat", "--svg", "/no/such/directory/log.svg", cli.log)
    assert done.returncode == 1 and "/no/such/directory/log.svg" in done.stderr


# ---- convert ----

def convert(cli, *args):
    done = cli("workload", "convert", *map(str, args))
    assert done.returncode == 0, done.stderr
    return done


def test_there_and_back(cli, work):
    """A copy describes the same workload; a copy of the copy is the same file."""
    copy, again = work / "copy.swf", work / "again.swf"
    convert(cli, cli.log, copy)
    convert(cli, copy, again)
    assert body(copy) == body(again)
    before, after = stat(cli, cli.log), stat(cli, copy)
    for ignored in ("file", "read"):
        before.pop(ignored), after.pop(ignored)
    assert before == after
    assert cli("workload", "convert", cli.log, "-").stdout == copy.read_text()
    assert [job["number"] for job in read_swf(copy)] == [1, 2, 6, 5, 9]


def test_what_else_a_log_says_is_kept(cli, work):
    log, out = work / "rich.swf", work / "out.swf"
    log.write_text("; Version: 2.2\n; Computer: somewhere\n; MaxProcs: 8\n; Note: old\n"
                   "7 5 2.5 60 4 50 2048 6 90 4096 0 3 4 5 6 7 1 9\n")
    assert cli("workload", "convert", "--malleable", "100", log, out).returncode == 0
    assert "; Computer: somewhere\n" in out.read_text() and "; Note: old\n" in out.read_text()
    assert body(out)[-1] == "7 5 2.5 60 4 50 2048 6 90 4096 0 3 4 5 6 7 1 9 2 1 8 1"


def test_the_rule(cli, work):
    log, half = work / "log2.swf", work / "half.swf"
    generate(cli, "simple", "--jobs", 400, "--machine", 20, log)
    done = convert(cli, "--malleable", "50", "--min-factor", "0.3", "--max-factor", "1.7", log, half)
    before, after = read_swf(log), read_swf(half)
    assert len(before) == len(after) == 400
    changed = [job for job in after if job["kind"] == 2]
    assert 150 < len(changed) < 250 and f"{len(changed)} of 400 jobs made malleable" in done.stderr
    for old, new in zip(before, after):
        assert all(old[name] == new[name] for name in ("number", "submit", "run", "allocated"))
        size = new["allocated"]
        if new["kind"] == 2:
            assert new["minimum"] == max(1, math.ceil(0.3 * size))
            assert new["maximum"] == max(size, min(20, math.floor(1.7 * size)))
        else:
            assert new["kind"] == 0 and new["minimum"] == new["maximum"] == size


def test_shares_contain_one_another(cli, work):
    log, out = work / "log2.swf", work / "out.swf"
    generate(cli, "simple", "--jobs", 300, log)
    chosen = {}
    for share, seed in ((0, 1), (20, 1), (50, 1), (100, 1), (50, 2)):
        convert(cli, "--moldable", f"{share}%", "--seed", seed, log, out)
        chosen[share, seed] = {job["number"] for job in read_swf(out) if job.get("kind") == 1}
    assert chosen[0, 1] == set() and len(chosen[100, 1]) == 300
    assert chosen[20, 1] < chosen[50, 1] and chosen[50, 1] != chosen[50, 2]


def test_applications_and_sizes(cli, work):
    out, again = work / "out.swf", work / "again.swf"
    app = "downey:32,1 adapt=30s resize=2s"
    convert(cli, "--malleable", "100", "--app", app, "--sizes", "powers", "--initial-factor", "1",
            cli.log, out)
    assert "; Pleat-App: 1 downey:32,1 adapt=30s resize=2s" in out.read_text()
    jobs = read_swf(out)
    assert all(job["sizes"] == 1 and job["app"] == 1 for job in jobs if job["kind"] == 2)
    convert(cli, out, again)
    assert body(out) == body(again)


def test_sizes_of_the_table(cli, work):
    log, out, again = work / "log.swf", work / "out.swf", work / "again.swf"
    generate(cli, "simple", "--jobs", 200, "--machine", 64, log)
    convert(cli, "--malleable", "100", "--app", "table:4=90,9=40,16=30", "--sizes", "table", log, out)
    assert "5 those of the application's table" in out.read_text()
    sizes = {4, 9, 16}
    for job in read_swf(out):
        size = int(job["allocated"])
        taken = sizes & set(range(-(-size // 4), 2 * size + 1))
        assert (job["kind"] == 2) == bool(taken)
        if taken:
            assert job["sizes"] == 5 and job["app"] == 1
            assert (job["minimum"], job["maximum"]) == (min(taken), max(taken))
    convert(cli, out, again)
    assert body(out) == body(again)


def test_load_machine_and_first(cli, work):
    out = work / "out.swf"
    done = convert(cli, "--scale-load", "2", "--machine", "16", "--first", "4", cli.log, out)
    assert "1 job left out: no run time" in done.stderr and "offered load" in done.stderr
    assert [job["submit"] for job in read_swf(out)] == [0, 5, 20, 30]
    found = stat(cli, out)
    assert found["machine"] == 16 and found["jobs"] == 4
    assert found["load"] == pytest.approx(500 / (16 * 30))


def test_an_error_leaves_the_old_file(cli, work):
    bad, out = work / "bad.swf", work / "out.swf"
    bad.write_text(LOG + "10 200 0 10 many -1 -1 1 10 -1 1 1 1 -1 -1 -1 -1 -1\n")
    out.write_text("old")
    for args in (("--malleable", "50", str(bad)), ("--malleable", "50", str(work / "none.swf")),
                 (str(work),)):
        done = cli("workload", "convert", *args, str(out))
        assert done.returncode == 2 and args[-1] in done.stderr and done.stdout == ""
        assert out.read_text() == "old"
    done = cli("workload", "convert", str(bad), str(out))
    assert f"{bad}:12: " in done.stderr and "many" in done.stderr
    done = cli("workload", "convert", cli.log, "/no/such/directory/out.swf")
    assert done.returncode == 1 and "/no/such/directory/out.swf" in done.stderr
    assert sorted(p.name for p in work.iterdir()) == ["bad.swf", "log.swf", "out.swf"]


def test_modes(cli, work):
    """A new file is made as any other; one that is replaced keeps its mode."""
    out = work / "out.swf"
    done = subprocess.run(["sh", "-c", 'umask 027; exec "$@"', "sh", PLEAT, "workload", "convert",
                           cli.log, str(out)], env=cli.env, capture_output=True)
    assert done.returncode == 0 and out.stat().st_mode & 0o777 == 0o640
    out.chmod(0o604)
    convert(cli, cli.log, out)
    assert out.stat().st_mode & 0o777 == 0o604


def test_onto_itself_and_through_links(cli, work):
    """A file is read before it is replaced, and a link stays one."""
    expected, link = work / "expected.swf", work / "link.swf"
    convert(cli, "--malleable", "100", cli.log, expected)
    link.symlink_to("log.swf")
    convert(cli, "--malleable", "100", link, link)
    assert link.is_symlink() and body(cli.log) == body(expected)
    assert convert(cli, cli.log, "/dev/null").stdout == ""
    assert not pathlib.Path("/dev/null").is_file()


def test_output_that_is_full(cli, work):
    with open("/dev/full", "w") as full:
        done = cli("workload", "convert", cli.log, "-", stdout=full)
    assert done.returncode == 1 and "No space left" in done.stderr
    done = cli("workload", "convert", cli.log, "/dev/full")
    assert done.returncode == 1 and "No space left" in done.stderr


# ---- generate ----

MODELS = [
    ("simple", "--jobs", "500", "--load", "0.9", "--run", "lognormal:4,1[1..5000]", "--size",
     "discrete:1=3,2=2,8=1", "--estimate", "3"),
    ("lublin", "--jobs", "500", "--machine", "64", "--load", "0.6"),
    ("utrera", "--mix", "w3", "--jobs", "500"),
    ("grid", "--jobs", "500"),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model[0])
def test_models(cli, work, model):
    first, second = work / "first.swf", work / "second.swf"
    generate(cli, *model, first)
    generate(cli, *model, "--seed", "1", second)
    assert body(first) == body(second)
    assert cli("workload", "generate", *model, "-").stdout == first.read_text()
    generate(cli, *model, "--seed", "2", second)
    assert body(first) != body(second)
    found, jobs = stat(cli, first), read_swf(first)
    assert found["jobs"] >= 500 and len(jobs) == found["jobs"]
    assert found["read"]["no_run_time"] == found["read"]["unsorted"] == 0
    assert all(job["run"] > 0 and 1 <= job["allocated"] <= found["machine"] for job in jobs)
    if "--load" in model:
        load = float(model[model.index("--load") + 1])
        assert found["load"] == pytest.approx(load, rel=0.05)


def test_simple_model(cli, work):
    out = work / "out.swf"
    generate(cli, "simple", "--jobs", 200, "--machine", 16, "--gap", "constant:10", "--run",
             "uniform:20,30", "--size", "constant:5", "--powers", out)
    jobs = read_swf(out)
    assert [b["submit"] - a["submit"] for a, b in zip(jobs, jobs[1:])] == [10] * 199
    assert all(20 <= job["run"] <= 30 and job["allocated"] == 4 for job in jobs)
    assert all(job["estimate"] == -1 for job in jobs)
    generate(cli, "simple", out)
    assert stat(cli, out)["load"] == pytest.approx(0.7, rel=0.02)


def test_models_can_be_piped(cli):
    made = cli.start("workload", "generate", "lublin", "--jobs", "50", "-", stdout=subprocess.PIPE,
                     stderr=subprocess.DEVNULL)
    done = cli("workload", "stat", "--json", "-", stdin=made.stdout)
    made.stdout.close()
    assert made.wait(60) == 0 and json.loads(done.stdout)["jobs"] == 50


def test_grid_mix(cli, work):
    description, mix, out = work / "my.grid", work / "my.mix", work / "out.swf"
    description.write_text(cli("workload", "generate", "grid", "--example").stdout)
    done = generate(cli, "grid", "--from", description, "--jobs", 40, "--mix", mix, out)
    assert "'pleat mix' runs it" in done.stderr
    lines = [line.split() for line in mix.read_text().splitlines() if not line.startswith("#")]
    jobs = read_swf(out)
    assert len(lines) == len(jobs) >= 40
    for words, job in zip(lines, jobs):  # the same jobs, as text and as numbers
        assert float(words[0]) == job["submit"] and "--" in words
        if "--max" in words:
            assert int(words[words.index("--max") + 1]) == job["maximum"]
        else:
            assert int(words[words.index("-n") + 1]) == job["allocated"]
    only = work / "only.mix"
    generate(cli, "grid", "--from", description, "--jobs", 40, "--mix", only)
    assert only.read_text() == mix.read_text()
    default = work / "default.swf"
    generate(cli, "grid", "--jobs", 40, default)
    assert body(default) == body(out)


def test_grid_description_that_is_wrong(cli, work):
    description, out = work / "my.grid", work / "out.swf"
    description.write_text("jobs = 10\ngap = \"poison:2\"\n")
    done = cli("workload", "generate", "grid", "--from", str(description), str(out))
    assert done.returncode == 2 and f"{description}:2: " in done.stderr
    assert not out.exists()


# ---- command lines ----

@pytest.mark.parametrize("args, words", [
    ([], "too few arguments"),
    (["stats"], "did you mean 'stat'"),
    (["stat"], "too few arguments"),
    (["stat", "a", "b"], "unexpected argument 'b'"),
    (["stat", "--first", "0", "a"], "--first: '0'"),
    (["stat", "--zero-run-times", "drop", "a"], "'drop' is none of skip, keep"),
    (["convert", "a"], "too few arguments"),
    (["convert", "--malleable", "101", "a", "b"], "'101' is not a percentage"),
    (["convert", "--malleable", "x%", "a", "b"], "'x%' is not a percentage"),
    (["convert", "--maleable", "5", "a", "b"], "did you mean '--malleable'"),
    (["convert", "--malleable", "5", "--moldable", "5", "a", "b"], "one at a time"),
    (["convert", "--app", "linear", "a", "b"], "--app needs --malleable"),
    (["convert", "--min-factor", "0.5", "a", "b"], "--min-factor needs --malleable"),
    (["convert", "--malleable", "5", "--min-factor", "2", "a", "b"], "--min-factor: '2'"),
    (["convert", "--malleable", "5", "--app", "amdal:1", "a", "b"], "--app: "),
    (["convert", "--malleable", "5", "--sizes", "2,4", "a", "b"], "a list fits one job"),
    (["convert", "--malleable", "5", "--sizes", "primes", "a", "b"], "primes"),
    (["convert", "--malleable", "5", "--sizes", "table", "a", "b"], "and it has none"),
    (["convert", "--malleable", "5", "--sizes", "table", "--app", "linear", "a", "b"], "it has none"),
    (["convert", "--scale-load", "0", "a", "b"], "--scale-load: '0'"),
    (["generate"], "too few arguments"),
    (["generate", "lubln", "a"], "did you mean 'lublin'"),
    (["generate", "simple"], "too few arguments"),
    (["generate", "simple", "--gap", "poison:3", "a"], "--gap: "),
    (["generate", "simple", "--jobs", "0", "a"], "--jobs: '0'"),
    (["generate", "simple", "--jobs", "5", "--seed", "-1", "a"], "--seed: '-1'"),
    (["generate", "lublin", "--class", "night", "a"], "none of batch, interactive"),
    (["generate", "lublin", "--machine", "1", "a"], "machine"),
    (["generate", "utrera", "--mix", "w9", "a"], "'w9'"),
    (["generate", "utrera", "--kind", "soft", "a"], "none of rigid, moldable, malleable"),
    (["generate", "grid"], "too few arguments"),
    (["generate", "grid", "--example", "a"], "unexpected argument 'a'"),
])
def test_usage_errors(cli, work, args, words):
    done = cli("workload", *args, cwd=work)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert done.stderr.startswith("pleat: workload") and done.stderr.count("\n") == 1
    assert "--help')" in done.stderr
    assert os.listdir(work) == ["log.swf"]


@pytest.mark.parametrize("part", PARTS)
def test_help(cli, part):
    done = cli(*part.split(), "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"Usage: pleat {part} ")
    assert done.stdout == cli("help", *part.split()).stdout
    assert "Exit codes" in done.stdout and "Example" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_help_of_what_is_not_there(cli):
    done = cli("help", "workload", "generate", "nonsense")
    assert done.returncode == 2 and "no command 'workload generate nonsense'" in done.stderr
    assert cli("help", "ps", "all").returncode == 2


def test_the_reference_has_every_option(cli):
    text = (ROOT / "docs" / "commands.md").read_text()
    for part in PARTS:
        help_text = cli("help", *part.split()).stdout
        options = {word.split("=")[0] for line in help_text.splitlines()
                   if line.startswith("      --") for word in line.split()[:1]}
        assert {option for option in options if f"`{option}" not in text} <= {"--json"}
        assert f"`pleat {part}" in text or part == "workload generate"


# ---- jobs of other simulators ----

BATSIM = {"nb_res": 16, "jobs": [{"id": "a!1", "subtime": 0, "res": 4, "walltime": 50, "profile": "d"},
                                 {"id": "a!2", "subtime": 5, "res": 8, "profile": "h"},
                                 {"id": "a!3", "subtime": 6, "res": 1, "profile": "t"}],
          "profiles": {"d": {"type": "delay", "delay": 40}, "h": {"type": "parallel_homogeneous", "cpu": 6e10, "com": 1},
                       "t": {"type": "smpi", "trace": "trace.txt"}}}

ELASTIC = {"jobs": [{"type": "malleable", "submit_time": 0, "num_nodes_min": 2, "num_nodes_max": 8,
                     "application_model": "model.json", "arguments": {"flops": 1.6e11, "rounds": 10}}]}
MODEL = {"phases": [{"iterations": "rounds", "tasks": [{"type": "cpu", "flops": "flops / num_nodes",
                                                        "computation_pattern": "uniform"}]}]}


def test_a_workload_of_batsim_is_converted(cli, work):
    (work / "b.json").write_text(json.dumps(BATSIM))
    out = work / "b.swf"
    done = cli("workload", "convert", "--flops", "2e9", work / "b.json", out, check=True)
    assert "b.json: 2 jobs read" in done.stderr
    assert "1 job left out (the first is jobs[2]): nothing tells how long a profile of type smpi takes" in done.stderr
    assert "1 job has messages or files: these take no time here" in done.stderr
    jobs = read_swf(out)
    assert [(job["number"], job["submit"], job["run"], job["allocated"], job["estimate"]) for job in jobs] == [
        (1, 0, 40, 4, 50), (2, 5, 30, 8, -1)]
    assert "; MaxProcs: 16\n" in out.read_text()
    packed = work / "b.json.gz"
    packed.write_bytes(gzip.compress((work / "b.json").read_bytes()))
    told = json.loads(cli("workload", "stat", "--flops", "2e9", "--json", packed, check=True).stdout)
    assert (told["jobs"], told["machine"], told["read"]["format"]) == (2, 16, "batsim")
    assert len(told["read"]["notes"]) == 3 and told["read"]["notes"][0].startswith("1 job left out")


def test_jobs_of_elastisim_find_their_models(cli, work):
    (work / "e.json").write_text(json.dumps(ELASTIC))
    (work / "model.json").write_text(json.dumps(MODEL))
    out = work / "e.swf"
    cli("workload", "convert", "--flops", "1e9", work / "e.json", out, check=True)
    text = out.read_text()
    assert "table:2=800,3=533.333333,4=400,5=320,6=266.666667,7=228.571429,8=200 iterations=10 name=model\n" in text
    job, = read_swf(out)
    assert (job["kind"], job["minimum"], job["allocated"], job["run"]) == (2, 2, 8, 200)


def test_a_simulation_of_their_files(cli, work):
    (work / "b.json").write_text(json.dumps(BATSIM))
    (work / "p.xml").write_text('<platform version="4.1"><zone id="z"><host id="master_host" speed="1Gf"/>'
                                '<cluster id="c" radical="0-15" speed="2Gf"/></zone></platform>')
    done = cli("sim", "--workload", work / "b.json", "--platform", work / "p.xml", "--json", check=True)
    assert "p.xml: 1 host left out" in done.stderr and "b.json: 1 job left out" in done.stderr
    run = json.loads(done.stdout)
    assert run["sites"] == [{"name": "c", "processors": 16, "speed": 1.0}]
    assert run["runs"][0]["jobs"]["done"] == 2 and run["runs"][0]["makespan_s"] == 40


@pytest.mark.parametrize("text, words", [
    ('{"nb_res": 4, "jobs": [', "b.json:1:23: this is no JSON"),
    ('{"jobs": [{"id": 1, "subtime": 0, "res": 0, "profile": "d"}], "profiles": {}}', "b.json: jobs[0].res: must be"),
    ('{"jobs": [{"id": 1, "subtime": 0, "res": 2, "profile": "h"}], "profiles": {"h": {"type": "msg_par_hg", "cpu": 1}}}',
     "profiles['h'].cpu: operations are counted: say how many a processor does in a second (--flops"),
    ('{"jobs": [{"type": "rigid", "submit_time": 0, "num_nodes": 2, "application_model": "no.json"}]}',
     "jobs[0].application_model: cannot open")])
def test_their_mistakes_have_a_place(cli, work, text, words):
    (work / "b.json").write_text(text)
    done = cli("workload", "convert", work / "b.json", work / "out.swf")
    assert (done.returncode, done.stdout) == (2, "") and words in done.stderr
    assert not (work / "out.swf").exists()


def test_json_from_a_pipe_has_to_be_named(cli, work):
    done = cli("workload", "stat", "-", input=json.dumps(BATSIM))
    assert done.returncode == 2 and "is JSON, no log: say --format batsim or --format elastisim" in done.stderr
    done = cli("workload", "stat", "--format", "batsim", "--flops", "1e9", "-", input=json.dumps(BATSIM), check=True)
    assert "jobs         2 (2 rigid" in done.stdout and "1 job left out" in done.stdout
    assert "none of auto, swf, batsim, elastisim" in cli("workload", "stat", "--format", "x", cli.log).stderr


def test_repeated_numbers_are_counted(cli, work):
    text = LOG.replace("\n 9 100", "\n 2 100")
    pathlib.Path(cli.log).write_text(text)
    told = json.loads(cli("workload", "stat", "--json", cli.log, check=True).stdout)
    assert told["read"]["repeated_numbers"] == 1 and told["jobs"] == 5
    assert "1 job with a number that another one has, too" in cli("workload", "stat", cli.log, check=True).stdout


def test_jobs_as_a_table(cli, work):
    """It has what Pleat's columns say of each job."""
    cli("workload", "convert", "--malleable", "50", "--scale-load", "0.7", cli.log, work / "half.swf", check=True)
    cli("workload", "stat", "--csv", work / "jobs.csv", work / "half.swf", check=True)
    with (work / "jobs.csv").open() as file:
        rows = list(csv.DictReader(file))
    jobs = read_swf(work / "half.swf")
    assert len(rows) == len(jobs) == 5
    kinds = ["rigid", "moldable", "malleable"]
    for row, job in zip(rows, jobs):
        assert (float(row["job"]), float(row["submit_s"]), float(row["run_s"])) == (job["number"], job["submit"], job["run"])
        size = job["allocated"] if job["allocated"] > 0 else job["requested"]
        assert float(row["processors"]) == size and row["kind"] == kinds[max(int(job.get("kind", 0)), 0)]
        assert row["estimate_s"] == ("" if job["estimate"] == -1 else f"{job['estimate']:g}")
        minimum = job.get("minimum", -1)
        assert float(row["minimum"]) == (size if minimum == -1 else minimum)
    assert {row["kind"] for row in rows} == {"rigid", "malleable"}
    done = cli("workload", "stat", "--csv", work / "no" / "jobs.csv", work / "half.swf")
    assert done.returncode == 1 and "jobs.csv" in done.stderr
