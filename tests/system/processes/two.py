"""Two processes of an evolving job as ranks of one communicator, in Python."""
import time

from pleat import joining, processes

with processes.begin() as everybody:
    joining.prepare(everybody)
    from mpi4py import MPI
    if everybody.begun is processes.STARTED:
        other = everybody.add()
        comm = joining.join(everybody, MPI.COMM_SELF, other.process, 60)
    else:
        comm = joining.join(everybody, MPI.COMM_NULL, everybody.parent, 60)
    total = comm.allreduce(comm.rank + 1)
    joins = everybody.begun is processes.JOINED
    comm = joining.leave(comm, joins)
    assert (comm == MPI.COMM_NULL) == joins
    if not joins:
        print(f"{comm.allreduce(total)} of {comm.size}", flush=True)
        comm.Free()
    MPI.Finalize()
    while not joins and len(everybody.list()) > 1:  # the run ends with process 0: the other one is to end before
        time.sleep(0.01)
