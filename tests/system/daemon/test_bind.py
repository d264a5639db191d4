"""Jobs bound to the CPUs of their processors, as the site is configured."""

import os

import pytest

from conftest import loop, wait_until

CPUS = sorted(os.sched_getaffinity(0))
two_cpus = pytest.mark.skipif(len(CPUS) < 2, reason="one CPU only")
ONE, TWO = CPUS[0], CPUS[-1]
NAP = ("--", "sleep", "1000")


def site(pleat, text):
    pleat.configure(text='site "local" { ' + text + ' background = ignore }\nbackoff_s = 0.2\ntry_s = 0.1\nidle_exit_s = 0')


def masks(pleat, number):
    """What the threads of a job's processes may use."""
    found = set()
    for pid in pleat.job_pids(number):
        try:
            for tid in os.listdir(f"/proc/{pid}/task"):
                found.add(frozenset(os.sched_getaffinity(int(tid))))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def wait_masks(pleat, number, *wanted):
    wait_until(lambda: masks(pleat, number) == {frozenset(mask) for mask in wanted},
               f"job {number} is bound to {wanted}")


@two_cpus
def test_each_job_on_its_own(pleat):
    site(pleat, f'cpus = "{TWO},{ONE}"')
    jobs = [pleat.submit(*NAP), pleat.submit(*NAP)]
    for job, cpu in zip(jobs, (TWO, ONE)):
        pleat.wait_for(job, "running")
        wait_masks(pleat, job, {cpu})
    [shown] = pleat.call("sites")["sites"]
    assert shown["processors"] == 2
    assert (shown["bound"], shown["sharing"], shown["slot_cpus"]) == (True, "space", f"{TWO},{ONE}")
    assert f"{TWO},{ONE}" in pleat.pleat("sites", check=0).stdout


@two_cpus
def test_a_job_that_grows_and_shrinks(pleat):
    site(pleat, f'cpus = "{ONE},{TWO}"')
    job = pleat.submit("--initial", 1, *loop(smallest=1, largest=2))
    pleat.wait_size(job, 2)  # the policy grew it
    wait_masks(pleat, job, {ONE, TWO})
    other = pleat.submit(*NAP)  # for which it shrinks
    pleat.wait_for(other, "running")
    wait_masks(pleat, job, {ONE})
    wait_masks(pleat, other, {TWO})
    pleat.call("cancel", job=other)
    pleat.wait_end(other)
    pleat.wait_size(job, 2)
    wait_masks(pleat, job, {ONE, TWO})


@two_cpus
def test_several_processors_on_one_cpu(pleat):
    site(pleat, f'cpus = "{ONE},{TWO},{ONE},{TWO}"')
    jobs = [pleat.submit(*NAP) for _ in range(4)]
    for job, cpu in zip(jobs, (ONE, TWO, ONE, TWO)):
        pleat.wait_for(job, "running")
        wait_masks(pleat, job, {cpu})
    assert pleat.call("sites")["sites"][0]["oversubscribed"] == (len(CPUS) < 4)


@two_cpus
def test_sharing_time(pleat):
    site(pleat, f'cpus = "{ONE},{TWO}" sharing = time')
    for job in (pleat.submit(*NAP), pleat.submit(*NAP)):
        pleat.wait_for(job, "running")
        wait_masks(pleat, job, {ONE, TWO})
    assert "(shared)" in pleat.pleat("sites", check=0).stdout


def test_without_cpus_as_many_as_there_are(pleat):
    site(pleat, "")
    job = pleat.submit(*NAP)
    pleat.wait_for(job, "running")
    wait_until(lambda: masks(pleat, job), "its processes")
    assert all(len(mask) == 1 for mask in masks(pleat, job))
    assert pleat.call("sites")["sites"][0]["bound"] is True


def test_an_oversubscribed_site_binds_nothing(pleat):
    site(pleat, f"processors = {len(CPUS) + 1}")
    job = pleat.submit(*NAP)
    pleat.wait_for(job, "running")
    wait_masks(pleat, job, CPUS)
    [shown] = pleat.call("sites")["sites"]
    assert (shown["bound"], shown["slot_cpus"]) == (False, None)
    assert pleat.pleat("sites", check=0).stdout.split()[-1] == "no"


def test_mistakes_have_a_line(pleat):
    pleat.configure(text='site "local" {\n  cpus = "0,8000"\n}\n')
    done = pleat.pleat("sites")
    assert done.returncode != 0
    assert "pleat.conf:2" in done.stderr and "CPU 8000" in done.stderr
