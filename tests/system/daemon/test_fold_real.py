"""Programs from Debian's packages, not changed in any way, as jobs: 8 processes on two processors, then one, then two
again find what they find unfolded. Inputs and comparisons are those of tests/system/fold/real."""

import pathlib
import shutil
import sys

import pytest

from conftest import FINAL, wait_until

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "fold/real"))
import test_real as real  # noqa: E402

INPUTS = real.HERE
LIMIT_S = 250  # for all of one program, on a busy machine
LENGTHS = [2**i for i in range(7)]
# What makes programs so long that they are changed while they run, also by a quick machine: by program what is said
# instead, `times` its length.
LONGER = {"lammps": lambda times: [("thermo          10", f"thermo          {50 * times}"),
                                   ("run             400", f"run             {2000 * times}")],
          "hpcc": lambda times: [("200          Ns", f"{200 * times}          Ns")],
          "nwchem": lambda times: [("6-31g", "cc-pvtz")]}
STENCIL_ITERATIONS = 40000
VARIABLES = ("OMP_NUM_THREADS", "ARMCI_USE_WIN_ALLOCATE")


@pytest.fixture(name="site")
def fixture_site(pleat):
    cpus = (real.CPUS * 2)[:2]
    pleat.configure(text=f'site "local" {{ cpus = "{",".join(cpus)}"  background = ignore }}\nkill_s = 2\n')
    assert pleat.call("sites")["sites"][0]["processors"] == 2
    pleat.env |= {name: real.ENV[name] for name in VARIABLES}
    return pleat


def lengthen(monkeypatch, program, folder, times):
    """Makes `program` `times` its length; its inputs are copied to `folder`."""
    shutil.copytree(INPUTS, folder)
    if program in LONGER:
        path = folder / real.PROGRAMS[program][2]
        text = path.read_text()
        for old, new in LONGER[program](times):
            assert old in text
            text = text.replace(old, new)
        path.write_text(text)
    monkeypatch.setattr(real, "HERE", folder)
    if program == "stencil":
        mpi, command, *others = real.PROGRAMS["stencil"]
        monkeypatch.setitem(real.PROGRAMS, "stencil",
                            (mpi, [*command[:-1], str(STENCIL_ITERATIONS * times)], *others))


def change(pleat, job, word, size):
    """Whether it happened: false where the job has ended before."""
    def settled():
        now = pleat.job(job)
        return now["state"] in FINAL or (now["state"] == "running" and now["processors"] == size)
    done = pleat.pleat(word, job, 1)
    if done.returncode:
        assert pleat.job(job)["state"] in FINAL, done.stderr
        return False
    wait_until(settled, f"{size} processors for job {job}", LIMIT_S)
    return pleat.job(job)["state"] not in FINAL


def attached(pleat, job):
    """Whether all of its processes were seen: false where the job has ended before."""
    def there():
        now = pleat.job(job)
        return now["state"] in FINAL or (now["folded"] or {}).get("attached") == 8
    wait_until(there, f"8 processes of job {job} are attached", LIMIT_S)
    return pleat.job(job)["state"] not in FINAL


@pytest.mark.parametrize("program", ["lammps", "hpcc", "nwchem", "stencil"])
def test_finds_as_a_changing_job_what_it_finds_unfolded(site, program, tmp_path, monkeypatch):
    if not shutil.which(real.PROGRAMS[program][1][0]):
        pytest.skip(f"{real.PROGRAMS[program][1][0]} is not here")
    # it may end before it was changed twice: then what it found is compared all the same, and a longer one runs
    for times in LENGTHS:
        lengthen(monkeypatch, program, tmp_path / f"inputs-{times}", times)
        mpi, command, given, found, processes = real.PROGRAMS[program]
        want, _ = real.run(program, tmp_path / f"unfolded-{times}", processes, *real.PARTITIONS["two"], "--unfolded")
        if given:
            shutil.copy(real.HERE / given, site.dir)
        job = site.submit("--processes", 8, "--min", 1, "--max", 2, "--mpi", mpi, "--", *command)
        changed = attached(site, job) and change(site, job, "shrink", 1) and change(site, job, "grow", 2)
        wait_until(lambda: site.job(job)["state"] in FINAL, f"job {job} ends", LIMIT_S)
        ended = site.job(job)
        assert (ended["state"], ended["exit_code"]) == ("done", 0), site.output(job, "stderr")
        assert ended["runner"] == "folded"
        assert found(pathlib.Path(site.dir), site.output(job)) == want
        if changed:
            break
    assert [(r["from"], r["to"], r["outcome"]) for r in ended["history"]["resizes"]] == [
        (2, 1, "shrunk"), (1, 2, "grown")]
