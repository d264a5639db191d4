"""Textbook schedulers for rigid jobs on one machine, to compare Pleat's simulator with.

Written from the definitions below and from nothing else, to be read rather than to be fast. Times
are whole numbers in any one unit (the smaller the unit, the less an estimate of 0 is rounded). What
all schedulers share:

- At one instant all completions are taken, then all submissions in the log's order, then the
  scheduler looks once. A job that runs for no time ends at the instant at which it starts: its
  completion is taken next, and the scheduler looks again at the same instant.
- A job needs its processors from start to end, any of them; it runs for its run time, whatever its
  estimate says. A missing estimate is the run time; the least is one unit of time.
- A running job is expected to end at start + estimate; past that, it is expected to end now.
- A job larger than the machine is never submitted (start and end None).

The schedulers:

- `fcfs`: the first of the queue starts while it fits; nobody passes it. The queue is in the order
  of submission.
- `sjf`, `ljf`: the same with the queue by estimate, shortest or longest first; among equals in the
  order of submission. Strict: a first one that does not fit holds all others up.
- `priority`: the same with the queue by priority, highest first; among equals by submission.
- `edf`: the same by deadline, earliest first; those without one last; among equals by submission.
- `easy` (Lifka 1995; Mu'alem and Feitelson 2001, 2.2): as fcfs; when the first does not fit, it
  gets a reservation: the earliest time at which, by the expected ends of what runs now, enough is
  free for it. All that is expected to end at that very time counts as free; what is then free
  beyond its size is extra. The others are looked at once, in queue order: one that fits starts now
  if now + estimate <= the reservation, or else if it needs no more than what is left of the extra,
  which becomes that much less.
- `conservative` (Mu'alem and Feitelson 2001, 2.2): see the class.

The order of the queue goes with `easy` and `conservative`, too: then "first", "queue order" and
"behind" are of that order. A job's place does not change once it has one.

The known mean waits (`main`: two logs, FCFS and EASY each) come out with these rules, to all digits
given. Changing a rule and looking again shows which of them those numbers confirm:

- confirmed by the model log under EASY: a backfilled job may end exactly at the reservation (with <
  the mean is 97155.9987); one that ends before the reservation leaves the extra as it is
  (96913.5176 if it does not), one that ends after it uses it up (93076.0496 if it does not); a
  missing estimate is the run time; all completions of an instant are taken before a look
  (97181.3351 with a look after each);
- confirmed by the recorded log: jobs of run time 0 are left out (with them 8.004660 and 4.028072);
- not touched by those logs, so resting on the definitions alone: all that ends at the reservation's
  instant counts towards the extra, also where less would do for the first job; completions before
  submissions, and one look for all submissions of an instant; everything past an estimate.
"""

import bisect
import heapq
import sys
from dataclasses import dataclass


@dataclass
class Job:
    """A rigid job. What it asks for, then what became of it."""

    submit: int
    run: int
    processors: int
    estimate: int | None = None
    priority: int = 0
    deadline: int | None = None
    number: int = 0  # in its log
    start: int | None = None
    end: int | None = None
    promised: int | None = None  # conservative: the start promised at its arrival

    @property
    def expected_run(self):
        return max(1, self.run if self.estimate is None else self.estimate)

    def expected_end(self, now):
        """Of a running job."""
        return max(self.start + self.expected_run, now)


class Strict:
    """The first of the queue starts while it fits. `key` orders the queue; ties: by submission."""

    def __init__(self, machine, key):
        self.machine = machine
        self.key = key
        self.queue = []

    def submit(self, job):
        bisect.insort(self.queue, job, key=self.key)  # behind its equals

    def start_first_ones(self, free):
        started = []
        while self.queue and self.queue[0].processors <= free:
            job = self.queue.pop(0)
            free -= job.processors
            started.append(job)
        return started

    def look(self, now, running, free):
        """The jobs that start now, given those that run and what is free."""
        return self.start_first_ones(free)

    def wake(self):
        """When to look again though nothing happens; None: no need."""
        return None


class Easy(Strict):
    def look(self, now, running, free):
        started = self.start_first_ones(free)
        for job in started:
            job.start = now
            free -= job.processors
        if self.queue:
            started += self.backfill(now, running + started, free)
        return started

    def backfill(self, now, running, free):
        first = self.queue[0]
        reservation, extra = self.reserve(now, first, running, free)
        started = []
        for job in self.queue[1:]:
            if free == 0:
                break
            if job.processors > free:
                continue
            if now + job.expected_run > reservation:
                if job.processors > extra:
                    continue
                extra -= job.processors
            free -= job.processors
            started.append(job)
        chosen = {id(job) for job in started}
        self.queue = [job for job in self.queue if id(job) not in chosen]
        return started

    @staticmethod
    def reserve(now, first, running, free):
        """When the first of the queue is expected to start, and what is free then beyond it."""
        ends = sorted((job.expected_end(now), job.processors) for job in running)
        reservation = now
        for end, processors in ends:
            if free >= first.processors and end > reservation:
                break
            reservation = end
            free += processors
        return reservation, free - first.processors


class Conservative(Strict):
    """Every job has a reservation, and none is moved later (Mu'alem and Feitelson 2001, 2.2).

    The profile says how much is free when: without the running jobs until their expected ends, and
    without each reserved job from its reservation for as long as its estimate. The earliest place
    for a job is the earliest time from now on from which its processors are free for as long as its
    estimate. At every look, once through the queue in its order:

    - a job that arrived is given its earliest place in the profile, all others being where they
      are: that is what it is promised;
    - a job that has a reservation gives it up and takes its earliest place, the others, also those
      behind it, being where they are: the same as before or earlier. (So what early ends leave free
      goes to the first in the queue, and nobody is moved later. With nothing ending early nobody
      moves.)

    Then all whose reservation is now start. There is a look at the time of each reservation, too.

    Jobs that outrun their estimates (the paper has them killed): they are expected to end now, so
    the profile counts their processors as free from now on, and a job can have a reservation now
    for which there is not enough. It stays in the queue, those behind it with a reservation now
    for which there is enough do start. Its promise is broken: at the next look at a later time, if
    any reservation is in the past, all are given up and made anew in the order of the queue. As long
    as somebody is stuck like that, the next look at a reservation's time is no sooner than a
    sixteenth of the time by which the running job is late that should have ended last: reservations
    behind one that cannot be kept follow one another as fast as estimates are short.
    """

    def __init__(self, machine, key):
        super().__init__(machine, key)
        self.reserved = {}  # by id of a waiting job: its start
        self.late = 0  # by how much the running job is that should have ended last

    def look(self, now, running, free):
        if any(start < now for start in self.reserved.values()):
            self.reserved.clear()
        expected = [job.start + job.expected_run for job in running]
        self.late = now - max((end for end in expected if end <= now), default=now)
        profile = Profile(self.machine)
        for job in running:
            profile.take(now, job.expected_end(now), job.processors)  # nothing of one that is late
        for job in self.queue:
            if id(job) in self.reserved:
                self.put(profile, job)
        for job in self.queue:
            if id(job) in self.reserved:
                self.put(profile, job, -1)
            self.reserved[id(job)] = profile.earliest(now, job.expected_run, job.processors)
            self.put(profile, job)
            if job.promised is None:
                job.promised = self.reserved[id(job)]
        return self.start_due(now, free)

    def put(self, profile, job, sign=1):
        start = self.reserved[id(job)]
        profile.take(start, start + job.expected_run, sign * job.processors)

    def start_due(self, now, free):
        started, waiting = [], []
        for job in self.queue:
            if self.reserved[id(job)] == now and job.processors <= free:
                free -= job.processors
                started.append(job)
                del self.reserved[id(job)]
            else:
                waiting.append(job)
        self.queue = waiting
        self.now = now
        return started

    def wake(self):
        next_one = min((t for t in self.reserved.values() if t > self.now), default=None)
        if next_one is None or self.now not in self.reserved.values():
            return next_one
        return max(next_one, self.now + self.late // 16)


class Profile:
    """How many processors are free from each time on: steps (time, free), by time."""

    def __init__(self, machine):
        self.times = [-1]
        self.free = [machine]

    def step_at(self, time):
        """The index of a step that begins at that time, made if there is none."""
        at = bisect.bisect_left(self.times, time)
        if at == len(self.times) or self.times[at] != time:
            self.times.insert(at, time)
            self.free.insert(at, self.free[at - 1])
        return at

    def take(self, begin, end, processors):
        """Or gives back, where processors is negative."""
        first, last = self.step_at(begin), self.step_at(end)  # the second is behind the first
        for at in range(first, last):
            self.free[at] -= processors

    def earliest(self, now, length, processors):
        start = now
        at = bisect.bisect_right(self.times, now) - 1
        while at < len(self.times) and self.times[at] < start + length:
            at += 1
            if self.free[at - 1] < processors:
                start = self.times[at]  # the last step has the whole machine free
        return start


NEVER = float("inf")

ORDERS = {
    "arrival": lambda job: 0,
    "sjf": lambda job: job.expected_run,
    "ljf": lambda job: -job.expected_run,
    "priority": lambda job: -job.priority,
    "edf": lambda job: NEVER if job.deadline is None else job.deadline,
}
SCHEDULERS = {"fcfs": Strict, "easy": Easy, "conservative": Conservative}


def make(policy, machine, order="arrival"):
    if policy in ORDERS:
        policy, order = "fcfs", policy
    return SCHEDULERS[policy](machine, ORDERS[order])


def simulate(jobs, machine, policy, order="arrival"):
    """Sets start and end of each job. Jobs are in the log's order; any order of submission."""
    scheduler = make(policy, machine, order)
    arriving = sorted((job for job in jobs if job.processors <= machine), key=lambda j: j.submit)
    arriving.reverse()  # the next one is at the end; sorting is stable, so the log's order stays
    ends = []  # (end, ordinal, job)
    running = {}
    free = machine
    begun = 0
    while arriving or ends:
        instants = [ends[0][0]] if ends else []
        instants += [arriving[-1].submit] if arriving else []
        instants += [scheduler.wake()] if scheduler.wake() is not None else []
        now = min(instants)
        while ends and ends[0][0] == now:
            job = heapq.heappop(ends)[2]
            free += job.processors
            del running[id(job)]
        while arriving and arriving[-1].submit == now:
            scheduler.submit(arriving.pop())
        for job in scheduler.look(now, list(running.values()), free):
            job.start, job.end = now, now + job.run
            free -= job.processors
            assert free >= 0
            running[id(job)] = job
            begun += 1
            heapq.heappush(ends, (job.end, begun, job))
    assert not scheduler.queue


def read_swf(path, unit=1):
    """Jobs of a log in the Standard Workload Format (whole seconds, which become `unit` units), those
    without run time (-1 or 0) or size left out."""
    jobs = []
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            fields = line.split()
            if not fields or fields[0].startswith(";"):
                continue
            number, submit, _, run, allocated, _, _, requested, estimate = map(int, fields[:9])
            size = allocated if allocated > 0 else requested
            if run <= 0 or size <= 0:
                continue
            job = Job(submit * unit, run * unit, size, number=number)
            if estimate > 0:
                job.estimate = estimate * unit
            jobs.append(job)
    return jobs


def mean_wait(jobs):
    waits = [job.start - job.submit for job in jobs if job.start is not None]
    return sum(waits) / len(waits)


# log, processors, policy, mean wait in seconds as known from elsewhere, decimals given
KNOWN = [
    ("lublin_256.swf", 256, "fcfs", 2388443.7601, 4),
    ("lublin_256.swf", 256, "easy", 97155.9945, 4),
    ("NASA-iPSC-1993-3.1-cln.swf", 128, "fcfs", 8.081313, 6),
    ("NASA-iPSC-1993-3.1-cln.swf", 128, "easy", 4.066645, 6),
]


def main():
    """textbook.py FOLDER: the known mean waits, from the logs in that folder."""
    for log, machine, policy, known, decimals in KNOWN:
        jobs = read_swf(f"{sys.argv[1]}/{log}")
        simulate(jobs, machine, policy)
        got = round(mean_wait(jobs), decimals)
        print(f"{log} {machine} {policy}: {len(jobs)} jobs, mean wait {got}, known {known}")


if __name__ == "__main__":
    main()
