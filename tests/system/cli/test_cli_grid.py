"""One grid mix, simulated and run for real with MPI programs: the same jobs, much the same times."""

import json
import os
import pathlib

import pytest

HEAT = pathlib.Path(os.environ["PLEAT_BUILD"]) / "apps" / "heat"

DESCRIPTION = """
jobs = 4
gap = "constant:0.5"
total = 2
type "rigid" {{
  components = "discrete:1=1,2=1"
  size = 1
  run = "uniform:1,1.5"
  step = 50
  command = "{heat} --n 40 --iterations {{steps}} --work {{step}}"
}}
type "malleable" {{
  size = 1
  kind = malleable
  run = "constant:2"
  step = 50
  command = "{heat} --n 40 --iterations {{steps}} --work {{step}}"
}}
"""


@pytest.fixture
def real(cli):
    with open(os.path.join(cli.path, "pleat.conf"), "w") as conf:
        conf.write("site local {\n  processors = 2\n  background = ignore\n}\n")
    yield cli
    cli("stop", "--force")


def records(path):
    with open(path) as log:
        return [line.split() for line in log if line.strip() and not line.startswith(";")]


@pytest.mark.skipif(not HEAT.exists(), reason="apps/heat is not built (PLEAT_MPI)")
def test_simulated_and_real(real):
    description, mix, log = (os.path.join(real.path, name)
                             for name in ("my.grid", "my.mix", "my.swf"))
    with open(description, "w") as file:
        file.write(DESCRIPTION.format(heat=HEAT))
    done = real("workload", "generate", "grid", "--from", description, "--seed", "3", "--mix", mix,
                log)
    assert done.returncode == 0, done.stderr
    drawn = records(log)
    names = [line.split()[1] for line in open(mix) if not line.startswith("#")]
    assert len(names) == len(drawn) > 4  # some have two components
    assert any(name.startswith("malleable") for name in names)
    simulated = real("sim", "--workload", log, "--site", "local:2", "--json")
    assert simulated.returncode == 0, simulated.stderr

    done = real("mix", mix, "--expect", "results", "--json")
    assert done.returncode == 0, done.stderr
    jobs = json.loads(done.stdout)["jobs"]
    assert [job["name"] for job in jobs] == names
    assert all(job["result"] == "ok" for job in jobs)
    # the programs compute for as long as they say; starting them comes on top
    for job, record in zip(jobs, drawn):
        if job["name"].startswith("rigid"):
            assert job["run_s"] > 0.95 * float(record[3])
    # components of a job come at the same instant
    submits = {}
    for name, record in zip(names, drawn):
        submits.setdefault(name.split(".")[0], set()).add(record[1])
    assert len(submits) == 4 and all(len(times) == 1 for times in submits.values())
