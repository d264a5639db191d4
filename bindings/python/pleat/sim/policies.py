"""Policies written in Python, for trying out: each question costs some ten microseconds more than one in C.

A policy answers the questions that one in C answers (docs/adding-a-policy.md), over a view that it can only read. What it
decides is checked by the core as every policy's decisions are. An exception ends the simulation and is raised by
`simulate`. The same workload, seed and policy must give the same decisions: so no clock, no random numbers but from a
generator with a seed, and no order of a set.
"""

import ctypes
import math

from . import _library

_FIELDS = ("number", "processors", "minimum", "maximum", "kind", "site", "submit", "start", "estimate", "end", "priority",
           "due", "resizing", "could_shrink", "least")
_CODES = {name: code for code, name in enumerate(_FIELDS, 1)}
_KINDS = ("rigid", "moldable", "malleable")
_KEY_MOST = 2 ** 62


class Job:
    """A job (or a component of one) as the policy sees it now. It can be looked at only while the policy is asked."""

    __slots__ = ("_view", "_component")

    def __init__(self, view, component):
        self._view = view
        self._component = component

    def __repr__(self):
        return f"<job {self.number}>" if self._view.is_open else "<job of an earlier question>"

    def __eq__(self, other):
        return isinstance(other, Job) and (self._view, self._component) == (other._view, other._component)

    def __hash__(self):
        return hash(self._component)

    def _of(self, name):
        return self._view.ask("of_component", self._component, _CODES[name])

    def _seconds(self, name):
        us = self._of(name)
        return None if us < 0 else us / 1e6

    @property
    def number(self):
        """Its number in the workload."""
        return self._of("number")

    @property
    def processors(self):
        """The processors that it has once what is decided so far is carried out; 0 while it waits."""
        return self._of("processors")

    @property
    def minimum(self):
        """The fewest processors that it may have."""
        return self._of("minimum")

    @property
    def maximum(self):
        """The most processors that it may have."""
        return self._of("maximum")

    @property
    def least(self):
        """The fewest processors with which it can start."""
        return self._of("least")

    @property
    def kind(self):
        """"rigid", "moldable" or "malleable"."""
        return _KINDS[self._of("kind")]

    @property
    def submitted_s(self):
        """When it was submitted."""
        return self._seconds("submit")

    @property
    def started_s(self):
        """When its run began; None while it waits."""
        return self._seconds("start")

    @property
    def estimate_s(self):
        """How long it runs, as its user says."""
        return self._seconds("estimate")

    @property
    def expected_end_s(self):
        """When it is expected to end; None while it waits, and where nothing is known."""
        return self._seconds("end")

    @property
    def deadline_s(self):
        """By when it is to be done; None."""
        return self._seconds("due")

    @property
    def priority(self):
        """Jobs with a larger one are to go first."""
        return self._of("priority")

    @property
    def resizing(self):
        """A change of its size is under way, so it accepts nothing now."""
        return self._of("resizing") > 0

    @property
    def could_shrink(self):
        """It would give up some processors."""
        return self._of("could_shrink") > 0

    def grow(self, processors):
        """Offers it that many more (in `grow` of a policy of malleability); returns how many it takes."""
        return self._view.ask("offer_grow", self._component, int(processors))

    def shrink(self, processors):
        """Tells it to give up that many (in `shrink`); returns how many it will: maybe more, or fewer."""
        return self._view.ask("offer_shrink", self._component, int(processors))

    def start(self):
        """Starts it (in `start` of a queue policy), if that is possible where and as the policies of placement and
        moldability choose."""
        return bool(self._view.ask("start", self._component))


class Site:
    """A site as the policy sees it now."""

    __slots__ = ("_view", "index")

    def __init__(self, view, index):
        self._view = view
        self.index = index

    def __repr__(self):
        return f"<site {self.name}>" if self._view.is_open else "<site of an earlier question>"

    @property
    def name(self):
        return self._view.ask("site_name", self.index).decode(errors="replace")

    @property
    def capacity(self):
        """Its processors."""
        return self._view.ask("of_site", self.index, 1)

    @property
    def idle(self):
        """Processors that nobody has, and that this pass has given to nobody."""
        return self._view.ask("of_site", self.index, 2)

    @property
    def growable(self):
        """Of the idle ones: those that may be used for growing."""
        return self._view.ask("of_site", self.index, 3)

    @property
    def background(self):
        """Processors that others use."""
        return self._view.ask("of_site", self.index, 4)

    @property
    def malleable(self):
        """Running malleable jobs, the earliest started first."""
        return self._view.jobs(_library.MALLEABLE, self.index)

    @property
    def others(self):
        """The other running jobs, the earliest started first."""
        return self._view.jobs(_library.OTHERS, self.index)


class View:
    """The state at the instant of a question."""

    def __init__(self, simulation):
        self._simulation = simulation
        self.is_open = True

    def ask(self, name, *arguments):
        if not self.is_open:
            raise RuntimeError("jobs, sites and the view can be looked at only while the policy is asked: "
                               "keep numbers of jobs, not jobs")
        return self._simulation.ask(name, *arguments)

    def jobs(self, which, site=0):
        count = self.ask("list", which, site, None, 0)
        found = (ctypes.c_uint32 * max(count, 1))()
        self.ask("list", which, site, found, count)
        return [Job(self, found[i]) for i in range(count)]

    @property
    def now_s(self):
        """The time, in seconds of the workload."""
        return self.ask("now_us") / 1e6

    @property
    def sites(self):
        """All sites."""
        return [Site(self, i) for i in range(self.ask("site_count"))]

    @property
    def waiting(self):
        """The queue, head first, without the jobs that this pass starts."""
        return self.jobs(_library.WAITING)


class Malleability:
    """Which running jobs grow and shrink, and by how much. Derive from it, or have both methods."""

    def grow(self, view, site, processors):
        """Hands out up to `processors` idle ones at a site, by Job.grow. It is asked again until nothing changes."""

    def shrink(self, view, site, processors, waiter):
        """Gets `processors` back at a site by Job.shrink, for the job `waiter` (None: for nobody in particular)."""


class Queue:
    """Which waiting jobs start."""

    def start(self, view):
        """Starts by Job.start what may start, of view.waiting; returns the first job that has to wait, or None. For that
        one others may be shrunk (approach "pwa")."""
        raise NotImplementedError


class Order:
    """In which order jobs wait."""

    def key(self, job):
        """A number: the job with the smaller one stands in front; of equal ones, the one that came first. It is asked once,
        when the job begins to wait; six digits after the point count."""
        raise NotImplementedError


def _whole(key):
    """A key as the core keeps it."""
    if math.isnan(key):
        raise ValueError("the key of a job is not a number (NaN)")
    return max(-_KEY_MOST, min(_KEY_MOST, round(key * 1e6) if math.isfinite(key) else
                               int(math.copysign(_KEY_MOST, key))))


class Answers:
    """A policy of Python's as a function of the library's. Keeps the exception that ended a run."""

    def __init__(self, simulation, policy):
        self.simulation = simulation
        self.policy = policy
        self.raised = None
        self.function = _library.ANSWER(self._answer)

    def _answer(self, _context, asked, component, site, processors):
        view = View(self.simulation)
        try:
            return self._ask(view, asked, component, site, processors)
        except BaseException as error:  # also KeyboardInterrupt: it must not be lost in C
            self.raised = error
            self.simulation.ask("fail", f"the policy raised {type(error).__name__}".encode())
            return -1
        finally:
            view.is_open = False

    def _ask(self, view, asked, component, site, processors):
        if asked == _library.GROW:
            self.policy.grow(view, Site(view, site), processors)
        elif asked == _library.SHRINK:
            self.policy.shrink(view, Site(view, site), processors, Job(view, component) if component >= 0 else None)
        elif asked == _library.START:
            waits = self.policy.start(view)
            return -1 if waits is None else waits._component
        else:
            return _whole(self.policy.key(Job(view, -1)))
        return 0


NEEDED = {"malleability": ("grow", "shrink"), "queue": ("start",), "order": ("key",)}


def check(question, policy):
    """Refuses what cannot be a policy of that question."""
    if question not in NEEDED:
        raise TypeError(f"{question}: the name of a policy is expected; of Python's own there can be "
                        f"{', '.join(NEEDED)}")
    lacking = [name for name in NEEDED[question] if not callable(getattr(policy, name, None))]
    if lacking:
        raise TypeError(f"{question}: {policy!r} has no method {' and '.join(lacking)}")
