"""Workloads: read, generated, made from data frames, converted."""

import ctypes
import math
import os

from . import _tables
from ._library import Simulation


class Workload:
    """The jobs of a simulation. A workload does not change: convert and scale give another one."""

    def __init__(self, simulation):
        self._simulation = simulation

    def _copy(self):
        copy = Simulation()
        copy.call("copy_workload", self._simulation.handle)
        return copy

    def __len__(self):
        return self._simulation.ask("rows", b"workload")

    def __repr__(self):
        return f"<pleat.sim.Workload of {len(self)} jobs for {self.machine or 'an unknown number of'} processors>"

    @property
    def machine(self):
        """Processors of the machine that it was recorded on or made for; 0: unknown."""
        return self._simulation.ask("machine")

    @property
    def notes(self):
        """What was left out or changed in reading, a list of sentences."""
        return self._simulation.notes()

    @property
    def apps(self):
        """The application models of its jobs, as text; jobs name them by their index (column `app`)."""
        texts = []
        while (text := self._simulation.ask("app", len(texts))) is not None:
            texts.append(text.decode())
        return texts

    def columns(self):
        """{name: values}: a dict of columns, a row for each job."""
        return _tables.columns(self._simulation, "workload")

    @property
    def frame(self):
        """The jobs as a data frame (without pandas: a dict of columns)."""
        return _tables.frame(self.columns())

    def convert(self, malleable=0, moldable=0, min_factor=0.25, max_factor=2, initial_factor=0, app="amdahl:0.02",
                sizes="any", machine=0, seed=1):
        """Another workload, in which a share (0 to 1) of the rigid jobs is malleable, and another one moldable. As `pleat
        sim --malleable`: min_factor and max_factor are times the recorded size; initial_factor 0: malleable jobs start
        with what is free. A job chosen at a share is chosen at every larger one."""
        copy = self._copy()
        if malleable + moldable > 1:
            raise ValueError("malleable and moldable are shares of all jobs: together at most 1")
        for kind, share in (("malleable", malleable), ("moldable", malleable + moldable if moldable else 0)):
            if share:
                copy.call("convert", kind.encode(), share, min_factor, max_factor, initial_factor, app.encode(),
                          sizes.encode(), machine, seed, ctypes.byref(ctypes.c_int64()))
        return Workload(copy)

    def scale(self, load):
        """Another workload, with gaps between submissions divided by `load`."""
        copy = self._copy()
        copy.call("scale_load", load)
        return Workload(copy)

    def write(self, path):
        """Writes it in the Standard Workload Format, for `pleat sim --workload`, as a whole or not at all."""
        self._simulation.call("write", os.fsencode(path))


def read(path, format="", flops=0, platform=None):
    """Reads a workload: a log in the Standard Workload Format (packed or not), or the jobs of Batsim or ElastiSim. format:
    "swf", "batsim" or "elastisim"; without it the file tells. flops: what a processor computes in a second, for jobs that
    count operations; or platform, the file of a SimGrid platform that says so. `notes` of the workload says what is lost."""
    simulation = Simulation()
    if platform is not None:
        simulation.call("platform", os.fsencode(platform))
    simulation.call("read", os.fsencode(path), format.encode(), flops)
    return Workload(simulation)


def generate(model, seed=1, **options):
    """Draws a workload from a model, "lublin", "simple" or "utrera", with the options of `pleat workload generate MODEL`:
    generate("lublin", jobs=500, machine=128, load=0.8). An option without a value is True."""
    words = [model]
    for name, value in options.items():
        if value is None or value is False:
            continue
        words.append("--" + name.replace("_", "-"))
        if value is not True:
            words.append(str(value))
    if any(not word or set(word) & set(" \t\n") for word in words):
        raise ValueError(f"options of a model have no blanks in them: {words}")
    simulation = Simulation()
    simulation.call("generate", " ".join(words).encode(), seed)
    return Workload(simulation)


# columns of a frame beyond those that every log has, and the names that they have in the file
_EXTRA = ("kind", "minimum", "maximum", "initial", "app", "deadline", "priority")
_KINDS = {"rigid": 0, "moldable": 1, "malleable": 2}


def _number(value, usual=-1):
    """A value as a log has it: what is missing is -1."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return str(usual)
    if isinstance(value, str):
        return str(_KINDS[value])
    if isinstance(value, float) and not value.is_integer():
        return f"{value:.6f}"
    return str(int(value))


def from_frame(table, machine=0, apps=()):
    """Makes a workload from a data frame, or from a dict of columns, as Workload.frame has them. Needed are submit_s, run_s
    and processors; job (else from 1 on), estimate_s, user, preceding, think_s, kind ("rigid", "moldable", "malleable"),
    minimum, maximum, initial, app (an index into `apps`), deadline_s and priority may be there. apps: application models;
    the first is the one of rigid jobs. Jobs are sorted by submission."""
    found = {name: _tables.plain(table[name]) for name in table}
    missing = {"submit_s", "run_s", "processors"} - found.keys()
    if missing:
        raise ValueError(f"a workload needs the columns submit_s, run_s and processors: no {', '.join(sorted(missing))}")
    found["deadline"] = found.pop("deadline_s", None)
    extra = [name for name in _EXTRA if found.get(name) is not None]
    rows = len(found["submit_s"])
    lines = [f"; MaxProcs: {machine}"] if machine else []
    lines += [f"; Pleat-App: {i} {text}" for i, text in enumerate(apps)]
    if extra:
        lines.append("; Pleat-Columns: " + " ".join(extra))

    def of(name, row, usual=-1):
        column = found.get(name)
        return str(usual) if column is None else _number(column[row], usual)

    for row in range(rows):
        job = of("job", row, row + 1)
        user = of("user", row)
        lines.append(" ".join([
            job, of("submit_s", row), "-1", of("run_s", row), of("processors", row), "-1 -1 -1", of("estimate_s", row),
            "-1 1", user, "-1 -1 -1 -1", of("preceding", row), of("think_s", row), *(of(name, row) for name in extra)]))
    text = ("\n".join(lines) + "\n").encode()
    simulation = Simulation()
    simulation.call("read_text", text, len(text), b"data frame")
    return Workload(simulation)
