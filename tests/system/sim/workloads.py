"""Random workloads in which much happens at once, and logs to write them into."""

import random

from textbook import Job

SECOND = 1000000  # the unit of time is a microsecond

MACHINES = [1, 2, 5, 16, 64, 128, 1000]


def sizes(pick, machine):
    """A function that draws job sizes."""
    kind = pick.choice(["any", "powers", "small", "halves"])

    def draw():
        if kind == "any":
            return pick.randint(1, machine)
        if kind == "powers":
            return min(machine, 2 ** pick.randint(0, machine.bit_length() - 1))
        if kind == "small":
            return pick.randint(1, max(1, machine // 8)) if pick.random() < 0.9 else machine
        return pick.choice([1, (machine + 1) // 2, machine // 2 + 1, machine])

    return lambda: max(1, min(machine, draw()))


def estimates(pick):
    """A function from run times to estimates: None is a missing one."""
    kind = pick.choice(["missing", "exact", "over", "over", "under", "mixed", "rounded"])

    def draw(run, how):
        if how == "missing":
            return None
        if how == "over":
            return run * pick.choice([1, 1, 2, 3, 10]) + pick.choice([0, 0, 1, 7]) * SECOND
        if how == "under":
            return run // pick.choice([1, 1, 2, 3, 10])
        if how == "rounded":
            return -(-run // (30 * SECOND)) * 30 * SECOND
        return run

    hows = ["missing", "exact", "over", "under", "rounded"]
    return kind, lambda run: draw(run, pick.choice(hows) if kind == "mixed" else kind)


def make(seed):
    """(machine, jobs, what they are like). Times are often the same ones."""
    pick = random.Random(seed)
    machine = pick.choice(MACHINES)
    count = pick.choice([20, 50, 80, 120])
    # a coarse one makes things happen at one instant
    tick = pick.choice([SECOND // 4, SECOND, 5 * SECOND, 60 * SECOND])
    run_most = pick.choice([3, 20, 200, 5000])
    long_tail = pick.random() < 0.5  # most are short, a few are long
    burst = pick.choice([0, 0.3, 0.9])  # share of jobs that come with the one before
    size, (kind, estimate) = sizes(pick, machine), estimates(pick)
    # from a queue that is mostly empty to one that only grows
    gap_most = max(1, int(run_most * pick.choice([0.03, 0.1, 0.5, 1])))
    jobs, now = [], pick.choice([0, 1000])
    for number in range(1, count + 1):
        if pick.random() >= burst:
            now += pick.randint(0, gap_most)
        run = int(run_most ** pick.random()) if long_tail else pick.randint(1, run_most)
        run *= tick
        job = Job(now * tick, run, size(), estimate(run), number=number)
        job.priority = pick.choice([-1, 0, 0, 1, 2])
        if pick.random() < 0.7:
            job.deadline = job.submit + pick.randint(1, 4) * run_most * tick
        if pick.random() < 0.02:
            job.processors = machine + pick.randint(1, 3)  # never runs
        if pick.random() < 0.05:
            job.run = 0  # ends at the instant at which it starts
        jobs.append(job)
    if pick.random() < 0.3:  # a log that is not sorted, equal times in the log's order
        for _ in range(5):
            at = pick.randrange(count)
            jobs.insert(pick.randrange(count), jobs.pop(at))
    return machine, jobs, f"{count} jobs, {machine} processors, {kind} estimates"


def write_swf(path, jobs, machine):
    """As a log in the Standard Workload Format, with Pleat's columns for what that has not."""
    def text(time):
        return "-1" if time is None else f"{time // SECOND}.{time % SECOND:06}".rstrip("0").rstrip(".")

    with open(path, "w", encoding="utf-8") as file:
        file.write(f"; MaxProcs: {machine}\n; Pleat-Columns: deadline priority\n")
        for job in jobs:
            file.write(f"{job.number} {text(job.submit)} -1 {text(job.run)} {job.processors} -1 -1 "
                       f"{job.processors} {text(job.estimate)} -1 1 1 1 -1 1 -1 -1 -1 "
                       f"{text(job.deadline)} {job.priority}\n")
