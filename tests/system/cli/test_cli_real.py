"""The command line with a real daemon, started on demand."""

import json
import os
import signal
import subprocess
import xml.etree.ElementTree

import pytest


@pytest.fixture
def real(cli):
    with open(os.path.join(cli.path, "pleat.conf"), "w") as conf:
        conf.write('site local {\n  processors = 4\n  background = ignore\n}\n')
    yield cli
    cli("stop", "--force")


def test_run(real):
    done = real("run", "--", "sh", "-c", "echo out; echo err >&2; exit 7")
    assert (done.returncode, done.stdout, done.stderr) == (7, "out\n", "err\n")
    assert real("run", "sh", "-c", "kill -9 $$").returncode == 137
    done = real("run", "-n", "5", "true")
    assert done.returncode == 125 and "has 4" in done.stderr
    assert real("log", "1").stdout == "out\n" and real("log", "--stderr", "1").stdout == "err\n"
    jobs = json.loads(real("ps", "--all", "--json").stdout)["jobs"]
    assert [(job["job"], job["state"]) for job in jobs] == [(1, "failed"), (2, "failed")]
    assert real("show", "77").returncode == 4 and real("wait", "1").returncode == 1
    assert real("cancel", "1").returncode == 1


def test_why_a_job_crashed(real):
    real("run", "sh", "-c", "kill -SEGV $$")
    lines = real("why", "1").stdout.splitlines()
    assert "failed since" in lines[0] and lines[0].endswith(": signal 11 (SIGSEGV)")
    assert lines[-1].endswith("failed: signal 11 (SIGSEGV)")


def test_info_can_be_read(cli):
    """Nothing is wider than a page, and whoever wants to configure something is told where."""
    said = cli("info").stdout
    assert max(map(len, said.splitlines())) <= 100
    assert cli.path + "/pleat.conf" in said
    info = json.loads(cli("info", "--json").stdout)
    assert info["configuration"] is None and info["configuration_place"] == cli.path + "/pleat.conf"


def test_policies_are_changed_all_or_none(real):
    def in_force():
        listed = json.loads(real("policies", "--json").stdout)["policies"]
        return {one["question"]: one["name"] for one in listed if one["active"]}

    assert in_force()["approach"] == "pwa" and in_force()["malleability"] == "egs"
    done = real("policies", "approach=pra", "malleability=nonsense")
    assert done.returncode == 1 and "no malleability policy 'nonsense'" in done.stderr
    assert in_force()["approach"] == "pwa"
    assert real("policies", "approach=pra", "malleability=fpsma").returncode == 0
    assert in_force()["approach"] == "pra" and in_force()["malleability"] == "fpsma"
    assert in_force()["queue"] == "fcfs"
    assert real("policies", "approach").returncode == 2


def test_ctrl_c(real):
    process = real.start("run", "sh", "-c", "echo ready; sleep 1000", stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and "cancelled" in err
    assert json.loads(real("show", "1", "--json").stdout)["state"] == "cancelled"


def test_stop_is_refused_while_jobs_run(real):
    assert real("submit", "sleep", "1000").stdout == "1\n"
    done = real("stop")
    assert done.returncode == 1 and "--force" in done.stderr
    assert real("stop", "--force").returncode == 0
    assert not os.path.exists(os.path.join(real.path, "pleatd.sock"))


def test_mix(real):
    path = os.path.join(real.path, "test.mix")
    with open(path, "w") as file:
        file.write("0 a -n 2 -- sh -c 'echo RESULT ok'\n"
                   "0 b -n 4 -- sh -c 'echo RESULT ok'\n0.1 c -- true\n")
    svg = os.path.join(real.path, "chart.svg")
    done = real("mix", path, "--expect", "results", "--queue", "scan", "--placement", "worst-fit",
                "--moldability", "minimum", "--json", "--svg", svg)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert [job["result"] for job in report["jobs"]] == ["ok", "ok", None]
    assert report["chart"]["processors"] == 4 and len(report["chart"]["intervals"]) >= 3
    assert xml.etree.ElementTree.parse(svg)
    info = json.loads(real("info", "--json").stdout)
    assert info["policies"]["queue"] == "fcfs"
    assert json.loads(real("events", "1", "--json").stdout.splitlines()[0])["kind"] == "state"
    assert len(json.loads(real("chart", "--json").stdout)["jobs"]) == 3


def test_a_generated_mix_runs(real):
    """What `pleat workload generate grid --mix` writes, and the workload of the same jobs."""
    if not os.path.exists(os.path.join(os.environ["PLEAT_BUILD"], "apps", "heat")):
        pytest.skip("apps/ is not built")
    files = os.path.join(real.path, "files")
    os.mkdir(files)
    os.symlink(os.environ["PLEAT_BUILD"], os.path.join(files, "build"))  # as the programs' paths are
    with open(os.path.join(files, "small.grid"), "w") as file:
        file.write('jobs = 3\ngap = "constant:0.2"\n'
                   'type "heat" {\n  size = 2\n  kind = malleable\n  minimum = 0.5\n  maximum = 2\n'
                   '  run = "constant:0.5"\n  step = 50\n'
                   '  command = "build/apps/heat --n 50 --iterations {steps} --work {step}"\n}\n')
    made = real("workload", "generate", "grid", "--from", "small.grid", "--mix", "small.mix",
                "small.swf", cwd=files)
    assert made.returncode == 0, made.stderr
    done = real("mix", "--json", "--expect", "results", "small.mix", cwd=files)
    assert done.returncode == 0, done.stderr
    jobs = json.loads(done.stdout)["jobs"]
    assert [job["name"] for job in jobs] == ["heat-1", "heat-2", "heat-3"]
    assert {(job["kind"], job["min"], job["max"], job["result"]) for job in jobs} == \
        {("malleable", 1, 4, "ok")}
    with open(os.path.join(files, "small.swf")) as file:
        lines = [line.split() for line in file if not line.startswith(";")]
    assert [float(line[1]) for line in lines] == [0, 0.2, 0.4]
    assert all(float(line[1]) <= job["arrival_s"] for line, job in zip(lines, jobs))
