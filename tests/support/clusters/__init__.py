"""Clusters on this machine, for tests and by hand: hosts in namespaces (world.py) with real batch systems on them
(slurm.py, gridengine.py). Nothing of them is outside: no interface, no file, no process that outlives the one who made them."""

from .gridengine import GridEngine
from .slurm import Slurm
from .world import Host, World, cannot, wait_until

__all__ = ["GridEngine", "Host", "Slurm", "World", "cannot", "wait_until"]
