"""Pleat's simulator in this process: the core and the policies of pleatd, in simulated time.

    import pleat.sim as sim

    workload = sim.generate("lublin", jobs=500, machine=128, load=0.8, seed=1)
    workload = workload.convert(malleable=0.5, app="amdahl:0.02 adapt=30s")
    result = sim.simulate(workload, queue="easy", malleability="egs")
    result.jobs                     # a data frame: a row for each job
    result.summary["wait_s_mean"]

A policy may be an object of Python's; see Malleability, Queue and Order. The guide is
docs/simulation-from-python.md. Tables are pandas data frames where pandas is installed, else dicts of columns
(NumPy's arrays, or lists). The module needs libpleat-sim, and neither MPI nor a daemon.
"""

from ._library import SimulationError
from .policies import Job, Malleability, Order, Queue, Site, View
from .runs import Result, compare, policies, simulate
from .workloads import Workload, from_frame, generate, read

__all__ = ["Job", "Malleability", "Order", "Queue", "Result", "SimulationError", "Site", "View", "Workload", "compare",
           "from_frame", "generate", "policies", "read", "simulate"]
