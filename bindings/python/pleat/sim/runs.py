"""Running simulations, and their results."""

import contextlib
import ctypes
import functools
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

from . import _library, _tables
from ._library import Simulation, SimulationError
from .policies import Answers, check

QUESTIONS = ("approach", "queue", "placement", "moldability", "malleability", "order", "buffer", "need", "reward")


class Result:
    """What came of a run. Tables have the columns of the files of `pleat sim --csv`."""

    def __init__(self, simulation):
        self._simulation = simulation

    def __repr__(self):
        return f"<pleat.sim.Result: {self.summary['done']} jobs done in {self.summary['makespan_s']:.0f} s>"

    def columns(self, table):
        """{name: values} of the table "jobs", "resizes", "series", "summary" or "workload"."""
        if table not in ("jobs", "resizes", "series", "summary", "workload"):
            raise KeyError(f"there is no table {table!r}: there are jobs, resizes, series, summary, workload")
        return _tables.columns(self._simulation, table)

    @functools.cached_property
    def jobs(self):
        """A row for each job, in the order of the workload; times of a job that never ran are NaN."""
        return _tables.frame(self.columns("jobs"))

    @functools.cached_property
    def resizes(self):
        """A row for each change of a running job's size."""
        return _tables.frame(self.columns("resizes"))

    @functools.cached_property
    def series(self):
        """Processors in use and jobs that run and wait, from each instant at which one of these changes."""
        return _tables.frame(self.columns("series"))

    @functools.cached_property
    def summary(self):
        """A dict of numbers: means, quantiles, utilization, makespan, counts."""
        return {name: _tables.plain(values)[0] for name, values in self.columns("summary").items()}

    @property
    def notes(self):
        """What was left out or changed when the workload and platforms were read."""
        return self._simulation.notes()


def _set(simulation, key, value):
    simulation.call("set", key.encode(), str(value).encode())


def _place(simulation, sites, platform):
    if isinstance(sites, int):
        sites = {"machine": sites}
    for name, processors in (sites or {}).items():
        simulation.call("site", name.encode(), processors)
    if platform is not None:
        simulation.call("platform", os.fsencode(platform))


def _choose(simulation, policies):
    """Sets the policies; gives those of Python's own."""
    own = []
    for question, policy in policies.items():
        if question not in QUESTIONS:
            raise TypeError(f"simulate has no argument {question!r}: policies answer {', '.join(QUESTIONS)}")
        if policy is None:
            continue
        if isinstance(policy, str):
            _set(simulation, question, policy)
            continue
        check(question, policy)
        answers = Answers(simulation, policy)
        simulation.call("own_policy", question.encode(), answers.function, None)
        own.append(answers)
    return own


@contextlib.contextmanager
def _interruptible(simulation, told):
    """In the main thread, Ctrl-C ends the run. Python's own way, an exception wherever the program happens to be, could
    be lost on the way into a function that C calls. At the second time it is that way, for a policy that never returns."""
    if (threading.current_thread() is not threading.main_thread()
            or signal.getsignal(signal.SIGINT) is not signal.default_int_handler):
        yield
        return

    def end(number, frame):
        if told.raised:
            signal.default_int_handler(number, frame)
        told.raised = KeyboardInterrupt()
        simulation.ask("fail", b"the run was ended")

    signal.signal(signal.SIGINT, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


class _Progress:
    """Is told of the run now and then, so that signals are seen in a long one."""

    def __init__(self, simulation, told):
        self.raised = None
        self.function = _library.TOLD(functools.partial(self._tell, simulation, told))

    def _tell(self, simulation, told, _context, now_us, ended):
        try:
            if told:
                told(now_us / 1e6, ended)
        except BaseException as error:  # it must not be lost in C
            self.raised = error
            simulation.ask("fail", b"the run was ended")


def simulate(workload, *, sites=None, platform=None, parameters=None, estimates="given", kill_at_estimate=False,
             feedback=False, noise=0, seed=1, progress=None, **policies):
    """Runs a workload to its end.

    sites: {name: processors}, or a number of processors; without it there is one site as large as the workload's machine.
    platform: a file, as for `pleat sim --platform`. queue, malleability, ...: the name of a policy for a question, or an
    object for queue, order and malleability. parameters: those of pleat.conf, {"decide_s": 30}. estimates: "given" or
    "exact". kill_at_estimate: jobs end at their users' estimates. feedback: a job that names a preceding one is submitted
    after that has ended. noise: by how many percent iterations that applications report differ. progress: called as progress(now_s, ended) now and then.

    The same arguments give the same result. An exception of a policy, or of progress, ends the run and is raised here."""
    simulation = Simulation()
    simulation.call("copy_workload", workload._simulation.handle)
    _place(simulation, sites, platform)
    _set(simulation, "seed", seed)
    _set(simulation, "estimates", estimates)
    _set(simulation, "kill_at_estimate", "yes" if kill_at_estimate else "no")
    _set(simulation, "feedback", "yes" if feedback else "no")
    _set(simulation, "noise", noise)
    for name, value in (parameters or {}).items():
        _set(simulation, name, value)
    told = _Progress(simulation, progress)
    asked = [told, *_choose(simulation, policies)]
    simulation.ask("on_progress", told.function, None)
    try:
        with _interruptible(simulation, told):
            simulation.call("run")
    except SimulationError:
        for one in asked:
            if one.raised:
                raise one.raised from None
        raise
    return Result(simulation)


def compare(workload, runs, threads=None, **common):
    """Simulates a workload several times: runs is {label: options of simulate}, common are options of all. Gives {label:
    Result}, and the summaries as a data frame with a row for each label (without pandas: a dict of columns). Runs go on in
    several threads (None: one for each processor); the results do not depend on that."""
    stop = threading.Event()

    def one(options):
        told = options.pop("progress", None)

        def progress(now_s, ended):
            if stop.is_set():
                raise RuntimeError("another run of the comparison failed, or Ctrl-C ended it")
            if told:
                told(now_s, ended)

        return simulate(workload, progress=progress, **options)

    with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
        try:
            waiting = {label: pool.submit(one, {**common, **options}) for label, options in runs.items()}
            results = {label: future.result() for label, future in waiting.items()}
        except BaseException:
            stop.set()  # what runs ends soon, and what waits does not begin
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    summaries = {label: result.summary for label, result in results.items()}
    names = next(iter(summaries.values())) if summaries else ()
    found = {name: [summary[name] for summary in summaries.values()] for name in names}
    if _tables.pandas is not None:
        return results, _tables.pandas.DataFrame(found, index=list(summaries))
    return results, {"label": list(summaries), **found}


def policies():
    """All policies that there are: a data frame of question, name and summary."""
    found = {"question": [], "name": [], "summary": []}
    texts = [ctypes.c_char_p() for _ in found]
    i = 0
    while _library.LIBRARY.pleat_simulation_policy_at(i, *(ctypes.byref(text) for text in texts)):
        for column, text in zip(found.values(), texts):
            column.append(text.value.decode())
        i += 1
    return _tables.frame(found)
