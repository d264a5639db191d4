"""What must hold of schedules, computed from start and end alone; nothing of the textbook's."""

import math
from collections import defaultdict

from textbook import Profile


def microseconds(text):
    """Of decimal seconds, exactly."""
    whole, _, part = text.partition(".")
    return int(whole) * 1000000 + int((part + "000000")[:6])


def never_more_than(machine, changes):
    """changes: (time, processors more or fewer). Fewer come first where it is the same time."""
    used = 0
    for time, change in sorted(changes):
        used += change
        assert 0 <= used <= machine, f"{used} of {machine} processors in use at {time}"
    assert used == 0


def rigid(jobs, machine):
    """Jobs with start and end: nothing impossible."""
    for job in jobs:
        assert job.start >= job.submit, f"job {job.number} starts before it is there"
        assert job.end - job.start == job.run, f"job {job.number} runs for another time"
    # those without a run time take processors for no time
    never_more_than(machine, [change for job in jobs if job.run
                              for change in ((job.start, job.processors),
                                             (job.end, -job.processors))])


def in_order(jobs):
    """jobs: by submission. No job starts before one in front of it."""
    for before, after in zip(jobs, jobs[1:]):
        assert before.start <= after.start, f"job {after.number} passes {before.number}"


def head_is_not_delayed(jobs, machine):
    """EASY with exact estimates; jobs: by submission. A job is the first of the queue from when all
    in front of it have started. What runs then, without those behind it that start just then, ends
    when it ends: so the job can start when enough of that has ended, and must not start later."""
    first_since = 0
    for at, job in enumerate(jobs):
        first_since = max(first_since, job.submit)
        running = [(other.end, other.processors) for place, other in enumerate(jobs)
                   if other.start <= first_since < other.end
                   and (place < at or other.start < first_since)]
        free = machine - sum(processors for _, processors in running)
        reservation = first_since
        for end, processors in sorted(running):
            if free >= job.processors:
                break
            free += processors
            reservation = end
        assert job.start <= reservation, (
            f"job {job.number}, first since {first_since}, could start at {reservation} "
            f"and does at {job.start}")
        first_since = max(first_since, job.start)


def promises_are_kept(jobs, machine):
    """Conservative with exact estimates; jobs: by submission. Each starts at the earliest time at
    which it delays none in front of it."""
    profile = Profile(machine)
    for job in jobs:
        length = max(1, job.run)
        promised = profile.earliest(job.submit, length, job.processors)
        assert job.start == promised, f"job {job.number}: {promised} promised, {job.start} kept"
        profile.take(promised, promised + length, job.processors)


def malleable(rows, resizes, jobs, machine, serial=0.02, least=0.25, most=2):
    """Of jobs.csv and resizes.csv of a run in which all jobs are malleable at no cost: the pieces
    between resizes add up to the work of each job, by Amdahl's law with that serial fraction."""
    changes, by_job = [], defaultdict(list)
    for row in resizes:
        by_job[row["job"]].append(row)
    sizes = {str(job.number): job for job in jobs}
    for row in rows:
        job = sizes[row["job"]]
        size, at = int(row["processors"]), microseconds(row["start_s"])
        smallest = max(1, math.ceil(least * job.processors))
        largest = min(machine, math.floor(most * job.processors))
        at_own_size = serial + (1 - serial) / job.processors
        done = 0.0

        def piece(size, begin, end):
            assert smallest <= size <= largest, f"job {job.number} runs on {size}"
            assert begin <= end
            if begin < end:
                changes.extend([(begin, size), (end, -size)])
            speed = at_own_size / (serial + (1 - serial) / size)
            return (end - begin) / job.run * speed

        assert at >= job.submit
        for resize in by_job[row["job"]]:
            assert int(resize["from"]) == size and microseconds(resize["stood_s"]) == 0
            done += piece(size, at, microseconds(resize["time_s"]))
            size, at = int(resize["to"]), microseconds(resize["time_s"])
        done += piece(size, at, microseconds(row["end_s"]))
        # every resize and the end are rounded to a microsecond
        slack = (len(by_job[row["job"]]) + 2) * most / job.run
        assert abs(done - 1) <= slack, f"job {job.number} does {done:.9f} of its work"
        counts = int(row["grown"]) + int(row["shrunk"])
        assert counts == len(by_job[row["job"]]), f"job {job.number}: {counts} resizes counted"
    never_more_than(machine, changes)
