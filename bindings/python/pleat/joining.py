"""pleat.joining - communicators of mpi4py that grow with processes that a program asks for (pleat.processes).

    from pleat import joining, processes

    with processes.begin() as everybody:
        joining.prepare(everybody)                    # before MPI: it begins here
        from mpi4py import MPI
        if everybody.begun is processes.STARTED:
            other = everybody.add()
            comm = joining.join(everybody, MPI.COMM_SELF, other.process)
        else:
            comm = joining.join(everybody, MPI.COMM_NULL, everybody.parent)
        total = comm.allreduce(1)                     # 2
        comm = joining.leave(comm, everybody.begun is processes.JOINED)

The functions are those of pleat_process_mpi_prepare and so on in pleat.h; docs/processes.md, "Beside MPI", is their guide. Open
MPI only.
"""

from __future__ import annotations

import atexit
import ctypes
import sys
from typing import TYPE_CHECKING

from .processes import Processes, milliseconds, number

if TYPE_CHECKING:
    from mpi4py import MPI

__all__ = ["prepare", "join", "leave"]


def prepare(everybody: Processes) -> None:
    """Prepares this process, and initializes MPI; before mpi4py.MPI is imported, which would initialize it too early."""
    ctypes.CDLL(everybody.library, mode=ctypes.RTLD_GLOBAL)  # libpleat finds it so
    if "mpi4py.MPI" not in sys.modules:
        import mpi4py
        mpi4py.rc.initialize = False
    from mpi4py import MPI

    from ._library import call, load
    library, kind = load()
    call(library.pleat_process_mpi_prepare_for, everybody.handle, kind)
    MPI.Init_thread()
    atexit.register(lambda: MPI.Is_finalized() or MPI.Finalize())


def join(everybody: Processes, comm: MPI.Comm, process: int, timeout: float | None = None) -> MPI.Intracomm:
    """The communicator with a process more. All ranks of `comm` call it with the number of that process, and that one with
    COMM_NULL and the number of their rank 0. `comm` is no more afterwards, if it is not COMM_WORLD or COMM_SELF. timeout: seconds;
    None: as long as it takes."""
    from mpi4py import MPI

    from ._library import call, communicator, load
    handle = ctypes.c_int(comm.py2f())
    call(load()[0].pleat_process_mpi_join_fortran, everybody.handle, ctypes.byref(handle), number(process, "a process"),
         milliseconds(timeout))
    return communicator(handle.value, MPI.Intracomm)


def leave(comm: MPI.Comm, leaves: bool) -> MPI.Intracomm:
    """The communicator without the ranks that leave, which get COMM_NULL. Collective; `comm` is no more afterwards."""
    from mpi4py import MPI

    from ._library import call, communicator, load
    handle = ctypes.c_int(comm.py2f())
    call(load()[0].pleat_process_mpi_leave_fortran, ctypes.byref(handle), int(leaves))
    return communicator(handle.value, MPI.Intracomm)
