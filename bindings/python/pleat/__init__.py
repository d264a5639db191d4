"""pleat - lets an MPI program in Python grow and shrink while it runs, on mpi4py and NumPy.

Pleat decides when; the program says where in its loop it can change, and which data have to move along:

    import pleat

    with pleat.Session() as session:
        state = session.values(step=0)
        numbers = session.rows("numbers", 1000, dtype=int)
        if session.begin() is pleat.STARTED:
            numbers.local[:] = numbers.indices
        while not session.leaving and state.step < 100:
            numbers.local[:] += 1                           # this rank's rows, a NumPy array
            total = session.comm.allreduce(numbers.local.sum())
            state.step += 1
            session.adapt()                                 # the number of ranks may change here

The functions are those of libpleat(3), and docs/mpi-programmer.md is their guide; its section on Python says what differs.
Started without Pleat, by plain mpirun, the same program runs at constant size.

Importing this package does not initialize MPI: the first use of a session, or of any class of data, does. So pleat.sim, which
simulates jobs, works without an MPI.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .changes import *  # noqa: F403
from .changes import __all__ as _changes
from .errors import *  # noqa: F403
from .errors import __all__ as _errors

if TYPE_CHECKING:
    from ._library import block_of, element_bytes
    from .data import Array, Block, Collapsed, Csr, Cyclic, Particles, Rows
    from .items import Items, Owned
    from .local import Local
    from .session import Point, Session
    from .values import Value, Values

__all__ = ["Session", "Point", "Value", "Values", "Rows", "Array", "Block", "Cyclic", "Collapsed", "Particles", "Csr", "Items",
           "Owned", "Local", "block_of", "element_bytes", *_changes, *(name for name in _errors if name != "error_of")]

_HOMES = {
    "session": ("Session", "Point"), "values": ("Value", "Values"), "items": ("Items", "Owned"), "local": ("Local",),
    "data": ("Rows", "Array", "Block", "Cyclic", "Collapsed", "Particles", "Csr"), "_library": ("block_of", "element_bytes")}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f".{home}", __name__), name)
    raise AttributeError(f"module 'pleat' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
