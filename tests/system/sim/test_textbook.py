"""`pleat sim` against textbook.py, job by job; and what must hold of any schedule.

Workloads are random (workloads.py), from fixed seeds; the recorded logs are used where they are."""

import copy
import csv
import os
import pathlib
import subprocess

import pytest

import invariants
import textbook
import workloads
from invariants import microseconds

HERE = pathlib.Path(__file__).resolve().parent
PLEAT = pathlib.Path(os.environ["PLEAT_BUILD"]) / "bin" / "pleat"
DATA = pathlib.Path(os.environ.get("PLEAT_DATA") or HERE.parents[3] / "shared" / "data")

# how users ask for it -> the textbook's policy and order
POLICIES = {
    "fcfs": ("fcfs", "arrival"),
    "sjf": ("fcfs", "sjf"),
    "ljf": ("fcfs", "ljf"),
    "priority": ("fcfs", "priority"),
    "edf": ("fcfs", "edf"),
    "easy": ("easy", "arrival"),
    "conservative": ("conservative", "arrival"),
    "easy --order sjf": ("easy", "sjf"),
    "easy --order priority": ("easy", "priority"),
    "conservative --order edf": ("conservative", "edf"),
}
SEEDS = range(40)


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def run_pleat(log, machine, options, folder):
    """Runs it; the rows of jobs.csv, resizes.csv and skipped.csv."""
    done = subprocess.run(
        [PLEAT, "sim", "--workload", log, "--site", f"machine:{machine}", *options, "--zero",
         "keep", "--csv", folder],
        capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return [rows_of(folder / f"{name}.csv") for name in ("jobs", "resizes", "skipped")]


def pleat_schedule(log, jobs, machine, options, folder):
    """Copies of the jobs that ran, with their starts and ends."""
    rows, resizes, skipped = run_pleat(log, machine, options, folder)
    assert not resizes
    too_large = {job.number for job in jobs if job.processors > machine}
    assert {int(row["job"]) for row in skipped} == too_large
    by_number = {int(row["job"]): row for row in rows}
    assert len(by_number) == len(rows) == len(jobs) - len(too_large)
    schedule = []
    for job in jobs:
        if job.number not in by_number:
            continue
        row, job = by_number[job.number], copy.copy(job)
        job.start, job.end = microseconds(row["start_s"]), microseconds(row["end_s"])
        assert microseconds(row["submit_s"]) == job.submit
        assert int(row["processors"]) == job.processors
        schedule.append(job)
    return schedule


def compare(schedule, jobs, what):
    """jobs: as the textbook has them."""
    by_number = {job.number: job for job in schedule}
    expected = [job for job in jobs if job.start is not None]
    assert len(expected) == len(by_number)
    for job in sorted(expected, key=lambda job: job.start):  # the first that differs
        ours = by_number[job.number]
        assert (ours.start, ours.end) == (job.start, job.end), (
            f"{what}: {job} is run from {ours.start} to {ours.end}")


def by_submission(jobs):
    return sorted(jobs, key=lambda job: job.submit)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("seed", SEEDS)
def test_random(seed, policy, tmp_path):
    machine, jobs, what = workloads.make(seed)
    workloads.write_swf(tmp_path / "log.swf", jobs, machine)
    schedule = pleat_schedule(tmp_path / "log.swf", jobs, machine,
                              ["--queue", *policy.split()], tmp_path / "out")
    invariants.rigid(schedule, machine)
    textbook.simulate(jobs, machine, *POLICIES[policy])
    compare(schedule, jobs, f"{what}, {policy}")


@pytest.mark.parametrize("seed", SEEDS)
def test_exact_estimates_instead(seed, tmp_path):
    """Whatever users estimated. Then nobody in front is delayed."""
    machine, jobs, what = workloads.make(seed)
    jobs = [job for job in jobs if job.run]  # no estimate is 0, so none of a run time of 0 is exact
    workloads.write_swf(tmp_path / "log.swf", jobs, machine)
    for job in jobs:
        job.estimate = None
    for policy, holds in (("fcfs", lambda jobs, _: invariants.in_order(jobs)),
                          ("easy", invariants.head_is_not_delayed),
                          ("conservative", invariants.promises_are_kept)):
        schedule = pleat_schedule(tmp_path / "log.swf", jobs, machine,
                                  ["--queue", policy, "--estimates", "exact"], tmp_path / policy)
        holds(by_submission(schedule), machine)
        expected = copy.deepcopy(jobs)
        textbook.simulate(expected, machine, policy)
        compare(schedule, expected, f"{what}, {policy}")


@pytest.mark.parametrize("policy", ["easy", "conservative"])
@pytest.mark.parametrize("seed", SEEDS)
def test_killed_at_their_estimates(seed, policy, tmp_path):
    machine, jobs, what = workloads.make(seed)
    workloads.write_swf(tmp_path / "log.swf", jobs, machine)
    for job in jobs:
        job.run = min(job.run, job.estimate or job.run)
    schedule = pleat_schedule(tmp_path / "log.swf", jobs, machine,
                              ["--queue", policy, "--kill-at-estimate"], tmp_path / "out")
    invariants.rigid(schedule, machine)
    textbook.simulate(jobs, machine, policy)
    compare(schedule, jobs, f"{what}, {policy}, killed at their estimates")


@pytest.mark.parametrize("seed", range(40))
def test_the_textbook_keeps_its_promises(seed):
    """The invariants of the textbook's own schedules, which no program of ours has touched."""
    machine, jobs, _ = workloads.make(seed)
    jobs = [job for job in jobs if job.run and job.processors <= machine]
    for job in jobs:
        job.estimate = None
    exact = {}
    for policy in ("fcfs", "easy", "conservative"):
        exact[policy] = copy.deepcopy(jobs)
        textbook.simulate(exact[policy], machine, policy)
        invariants.rigid(exact[policy], machine)
    invariants.in_order(by_submission(exact["fcfs"]))
    invariants.head_is_not_delayed(by_submission(exact["easy"]), machine)
    invariants.promises_are_kept(by_submission(exact["conservative"]), machine)
    for job in jobs:
        job.estimate = job.run * (1 + job.number % 4)
    textbook.simulate(jobs, machine, "conservative")
    invariants.rigid(jobs, machine)
    assert all(job.start <= job.promised for job in jobs)


@pytest.mark.parametrize("approach", ["pra", "pwa"])
@pytest.mark.parametrize("malleability", ["egs", "fpsma"])
@pytest.mark.parametrize("seed", SEEDS[::4])
def test_malleable_jobs_do_their_work(seed, malleability, approach, tmp_path):
    machine, jobs, _ = workloads.make(seed)
    jobs = [job for job in jobs if job.run and job.processors <= machine]
    workloads.write_swf(tmp_path / "log.swf", jobs, machine)
    rows, resizes, _ = run_pleat(tmp_path / "log.swf", machine,
                                 ["--malleable", "100", "--approach", approach,
                                  "--malleability", malleability], tmp_path / "out")
    assert len(rows) == len(jobs)
    invariants.malleable(rows, resizes, jobs, machine)


def recorded(name):
    if not (DATA / name).exists():
        pytest.skip(f"{name} is not in {DATA}; PLEAT_DATA names the folder that has it")
    return textbook.read_swf(DATA / name, workloads.SECOND)


@pytest.mark.parametrize("log,machine,policy,known,decimals", textbook.KNOWN)
def test_recorded(log, machine, policy, known, decimals, tmp_path):
    jobs = recorded(log)
    done = subprocess.run(
        [PLEAT, "sim", "--workload", DATA / log, "--site", f"machine:{machine}", "--queue", policy,
         "--csv", tmp_path / "out"],
        capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    rows = {int(row["job"]): row for row in rows_of(tmp_path / "out" / "jobs.csv")}
    textbook.simulate(jobs, machine, policy)
    assert len(rows) == len(jobs)
    for job in jobs:
        row = rows[job.number]
        assert (microseconds(row["start_s"]), microseconds(row["end_s"])) == (
            job.start, job.end), f"{log}, {policy}: {job}"
    waits = [microseconds(row["start_s"]) - microseconds(row["submit_s"]) for row in rows.values()]
    assert round(sum(waits) / len(waits) / workloads.SECOND, decimals) == known


@pytest.mark.parametrize("policy", ["sjf", "ljf", "conservative"])
def test_recorded_in_part(policy, tmp_path):
    """The other policies, where the model log queues up: its first jobs, estimates twice too long."""
    jobs = recorded("lublin_256.swf")[:1500]
    for job in jobs:
        job.estimate = job.run * (1 + job.number % 3)
    workloads.write_swf(tmp_path / "log.swf", jobs, 256)
    schedule = pleat_schedule(tmp_path / "log.swf", jobs, 256, ["--queue", policy],
                              tmp_path / "out")
    textbook.simulate(jobs, 256, policy)
    compare(schedule, jobs, policy)
