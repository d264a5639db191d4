"""pleat.sim: workloads, runs and tables. What it gives is what `pleat sim` writes for the same workload."""

import csv
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import threading

import pytest
from conftest import BUILD, ROOT

import pleat.sim as sim

PLEAT = str(BUILD / "bin/pleat")
# some processors fail, so that jobs start again; and a site that is slow to give processors
PLATFORM = """\
site a { nodes = 32  slots = 2  claim-delay = "2 s +- 1 s"  failures = start  failure-probability = 0.05 }
site b { nodes = 16  slots = 1  speed = 0.5 }
"""


@pytest.fixture(scope="module")
def workload():
    drawn = sim.generate("lublin", jobs=200, machine=64, load=0.9, estimate=3, seed=3)
    return drawn.convert(malleable=0.6, app="amdahl:0.05 adapt=20s resize=2s", seed=4)


def pleat_sim(tmp_path, workload, *options):
    """The tables and the run that `pleat sim` writes."""
    workload.write(tmp_path / "log.swf")
    subprocess.run([PLEAT, "sim", "--workload", tmp_path / "log.swf", "--zero-run-times", "keep", "--csv", tmp_path / "out",
                    *options], check=True, capture_output=True, timeout=60, env=dict(os.environ, LC_ALL="C.UTF-8"))
    tables = {name: list(csv.DictReader((tmp_path / "out" / f"{name}.csv").open()))
              for name in ("jobs", "resizes", "series", "skipped")}
    return tables, json.loads((tmp_path / "out/summary.json").read_text())["runs"][0]


def same(value, text):
    if isinstance(value, str):
        return value == text
    return math.isclose(float(value), float(text), rel_tol=1e-5, abs_tol=2e-6)


def rows(frame):
    return frame.to_dict("records")


def check_table(ours, theirs):
    assert len(ours) == len(theirs)
    for mine, row in zip(ours, theirs):
        assert list(mine) == list(row)
        assert all(same(mine[name], text) for name, text in row.items()), (mine, row)


def test_tables_are_those_of_the_command(tmp_path, workload):
    (tmp_path / "p.conf").write_text(PLATFORM)
    result = sim.simulate(workload, platform=tmp_path / "p.conf", approach="pwa", queue="easy", malleability="egs",
                          parameters={"decide_s": 5}, seed=9)
    tables, run = pleat_sim(tmp_path, workload, "--platform", tmp_path / "p.conf", "--approach", "pwa", "--queue", "easy",
                            "--malleability", "egs", "--parameter", "decide_s=5", "--seed", "9")
    ran = result.jobs[result.jobs.start_s.notna() & result.jobs.end_s.notna()]
    assert len(ran) > 100 and len(tables["resizes"]) > 50 and (ran.restarts > 0).any()
    check_table(rows(ran), tables["jobs"])
    check_table(rows(result.resizes), tables["resizes"])
    check_table(rows(result.series), tables["series"])
    assert sorted(set(result.jobs.job) - set(ran.job)) == sorted(int(row["job"]) for row in tables["skipped"])
    for name, value in result.summary.items():
        part, _, of = name.rpartition("_")
        told = run["jobs"][name] if name in run["jobs"] else run[name] if name in run else run[part][of]
        assert same(value, told), name


def test_iterations_that_differ(tmp_path, workload):
    options = {"malleability": "sweet-spot-learned", "parameters": {"decide_s": 5}}
    result = sim.simulate(workload, noise=20, **options)
    tables, _ = pleat_sim(tmp_path, workload, "--noise", "20", "--malleability", "sweet-spot-learned", "--parameter", "decide_s=5")
    check_table(rows(result.resizes), tables["resizes"])
    assert not result.resizes.equals(sim.simulate(workload, **options).resizes)


def test_the_same_arguments_give_the_same_result(workload):
    options = {"sites": {"x": 48}, "queue": "conservative", "malleability": "fpsma", "seed": 5}
    first, again = (sim.simulate(workload, **options) for _ in range(2))
    assert first.jobs.equals(again.jobs) and first.resizes.equals(again.resizes) and first.summary == again.summary


def test_a_workload_comes_back_from_its_frame(workload):
    again = sim.from_frame(workload.frame, machine=workload.machine, apps=workload.apps)
    assert again.frame.equals(workload.frame) and again.apps == workload.apps and again.machine == 64
    plain = sim.from_frame({"submit_s": [5, 0.25], "run_s": [10, 20.5], "processors": [2, 1], "kind": ["malleable", "rigid"],
                            "minimum": [1, 1], "maximum": [4, 1]}, machine=4)
    assert list(plain.frame.submit_s) == [0.25, 5] and list(plain.frame.kind) == ["rigid", "malleable"]
    assert list(plain.frame.job) == [2, 1]


def test_a_workload_stays_as_it_is(workload):
    before = workload.frame
    converted, scaled = workload.convert(moldable=1, machine=16), workload.scale(2)
    assert workload.frame.equals(before) and len(workload) == 200
    assert (converted.frame.kind != "rigid").all() and (converted.frame.maximum <= 64).all()
    gap = before.submit_s.diff().sum()
    assert math.isclose(scaled.frame.submit_s.diff().sum(), gap / 2, rel_tol=1e-6)


def test_jobs_of_others_are_read(tmp_path):
    (tmp_path / "b.json").write_text(json.dumps({
        "nb_res": 8, "profiles": {"h": {"type": "parallel_homogeneous", "cpu": 4e9, "com": 1}},
        "jobs": [{"id": "1", "subtime": 0, "res": 2, "profile": "h"}]}))
    (tmp_path / "p.xml").write_text('<platform><cluster id="c" radical="0-7" speed="2Gf"/></platform>')
    read = sim.read(tmp_path / "b.json", platform=tmp_path / "p.xml")
    assert list(read.frame.run_s) == [2] and read.machine == 8
    assert read.notes == ["1 job has messages or files: these take no time here"]
    assert list(sim.read(tmp_path / "b.json", flops=1e9).frame.run_s) == [4]
    with pytest.raises(sim.SimulationError, match=r"b.json: profiles\['h'\].cpu: operations are counted"):
        sim.read(tmp_path / "b.json")
    with pytest.raises(sim.SimulationError, match="column 3"):
        (tmp_path / "log.swf").write_text("1 2\n")
        sim.read(tmp_path / "log.swf", format="swf")


def test_what_is_wrong_is_said(workload):
    for options, words in (({"queue": "esay"}, "there is no queue policy 'esay'.*did you mean 'easy'"),
                           ({"sites": {"": 4}}, "a site's name"), ({"sites": 0}, "0 processors"),
                           ({"estimates": "good"}, "'good' is none of given, exact"),
                           ({"noise": -1}, "noise: '-1' is not a percentage"),
                           ({"parameters": {"decide": 3}}, "no parameter 'decide' .did you mean 'decide_s'"),
                           ({"platform": "/no/such"}, "/no/such")):
        with pytest.raises(sim.SimulationError, match=words):
            sim.simulate(workload, **options)
    with pytest.raises(TypeError, match="no argument 'quue'"):
        sim.simulate(workload, quue="easy")
    with pytest.raises(sim.SimulationError, match="no model 'lubin'"):
        sim.generate("lubin")
    with pytest.raises(ValueError, match="no processors"):
        sim.from_frame({"submit_s": [1], "run_s": [1]})
    with pytest.raises(sim.SimulationError, match=r"data frame:1: column 5 \(allocated"):
        sim.from_frame({"submit_s": [1], "run_s": [1], "processors": [10 ** 12]})
    with pytest.raises(KeyError, match="no table 'job'"):
        sim.simulate(workload).columns("job")


def test_compare_runs_in_threads(workload):
    results, table = sim.compare(workload, {queue: {"queue": queue} for queue in ("fcfs", "easy")}, threads=2, seed=1)
    assert list(table.index) == ["fcfs", "easy"] and list(results) == ["fcfs", "easy"]
    alone = sim.simulate(workload, queue="easy", seed=1)
    assert results["easy"].jobs.equals(alone.jobs) and table.loc["easy", "wait_s_mean"] == alone.summary["wait_s_mean"]


def test_progress_is_told_and_can_end_a_run(workload):
    told = []
    sim.simulate(workload, progress=lambda now_s, ended: told.append((now_s, ended)))
    assert told == sorted(told) and told[-1][1] == len(workload)

    def stop(_now_s, _ended):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sim.simulate(workload, progress=stop)


INTERRUPTED = """
import os, signal, threading, time
import pleat.sim as sim
workload = sim.generate("lublin", jobs=200000, machine=64, load=3, seed=1)
begun = threading.Event()
def progress(now_s, ended):
    begun.set()
def interrupt():
    begun.wait()
    os.kill(os.getpid(), signal.SIGINT)
for run in (lambda: sim.simulate(workload, queue="conservative", progress=progress),
            lambda: sim.compare(workload, {"a": {}, "b": {}}, queue="conservative", progress=progress)):
    begun.clear()
    threading.Thread(target=interrupt).start()
    try:
        run()
        print("not ended")
    except KeyboardInterrupt:
        print("ended")
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
"""


def test_ctrl_c_ends_a_run_that_would_take_minutes():
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=100,
                          env=dict(os.environ, PYTHONPATH=str(pathlib.Path(sim.__file__).parents[2])), check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ended\nended\n", "")


def test_a_run_that_fails_ends_the_comparison(workload):
    class Wrong(sim.Order):
        def key(self, job):
            raise LookupError("no key")

    with pytest.raises(LookupError, match="no key"):
        sim.compare(workload, {"wrong": {"order": Wrong()}, "right": {}}, threads=1)


def test_all_policies_are_listed():
    listed = sim.policies()
    assert len(listed) == (ROOT / "src/policy/policies.def").read_text().count("\nPOLICY(")
    assert {"easy", "fcfs"} <= set(listed.name[listed.question == "queue"]) and (listed.summary != "").all()


# what is printed without pandas, and without NumPy, must be what pandas has
PRINT = """
import sys
for name in sys.argv[1].split(","):
    sys.modules[name] = None
import pleat.sim as sim
result = sim.simulate(sim.generate("lublin", jobs=50, machine=32, seed=2).convert(malleable=1), malleability="egs")
for table in ("workload", "jobs", "resizes", "series"):
    for name, values in result.columns(table).items():
        print(table, name, [value if isinstance(value, str) else None if value != value else round(float(value), 6)
                            for value in values])
print(type(result.jobs).__name__, result.summary)
"""


def printed(*missing):
    return subprocess.run([sys.executable, "-c", PRINT, ",".join(missing) or "nothing"], check=True, capture_output=True,
                          text=True, timeout=60, env=dict(os.environ, PYTHONPATH=str(ROOT / "bindings/python"))).stdout


def test_it_needs_neither_pandas_nor_numpy():
    frames, arrays, lists = printed(), printed("pandas"), printed("pandas", "numpy")
    assert arrays == lists == frames.replace("DataFrame", "dict")


def test_the_library_of_another_interface_is_refused(tmp_path):
    (tmp_path / "other.c").write_text("int pleat_simulation_interface(void) { return 2; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "other.so", tmp_path / "other.c"], check=True)
    for library, words in ((tmp_path / "other.so", "interface 2, and this module knows 1"), ("/no.so", "PLEAT_SIM_LIBRARY")):
        done = subprocess.run([sys.executable, "-c", "import pleat.sim"], capture_output=True, text=True, timeout=60,
                              env=dict(os.environ, PLEAT_SIM_LIBRARY=str(library), PYTHONPATH=str(ROOT / "bindings/python")))
        assert done.returncode == 1 and words in done.stderr


def test_every_function_of_the_header_is_declared():
    header = set(re.findall(r"^(?:int|void|size_t|uint32_t|int64_t|const char \*)\s*(pleat_simulation_\w+)\(",
                            (ROOT / "include/pleat-sim.h").read_text(), re.MULTILINE))
    listed = set(re.findall(r"(pleat_simulation_\w+);", (ROOT / "src/simlib/simlib.map").read_text()))
    module = (ROOT / "bindings/python/pleat/sim/_library.py").read_text()
    declared = {"pleat_simulation_" + name for name in re.findall(r'"(\w+)": "[-\w]:', module)}
    assert header == listed == declared


def test_threads_have_simulations_of_their_own(workload):
    """Policies of Python's in several threads at a time: each is asked about its own run only."""
    class Counting(sim.Queue):
        def __init__(self):
            self.seen = set()

        def start(self, view):
            self.seen.update(job.number for job in view.waiting)
            for job in view.waiting:
                if not job.start():
                    return job
            return None

    parts = [workload, sim.from_frame(workload.frame.head(20), machine=64, apps=workload.apps)]
    policies = [Counting() for _ in parts]
    threads = [threading.Thread(target=sim.simulate, args=(part,), kwargs={"queue": policy})
               for part, policy in zip(parts, policies)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(policy.seen) for policy in policies] == [200, 20]
