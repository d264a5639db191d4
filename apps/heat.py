#!/usr/bin/env python3
"""A heat equation on a square plate, malleable with the Python module pleat.

Jacobi sweeps over n x n inner points, edges at 0, rows spread over the ranks, as heat.c has them. The plate starts as
sin(pi x) sin(pi y), which is an eigenvector of the sweep: every sweep multiplies it by cos(pi / (n + 1)). So the exact result
of any number of sweeps is known. At its end each rank checks all of its points, however often the program was resized.
"""

import argparse
import os
import sys
import time

import numpy as np
from mpi4py import MPI

import pleat


def exact(n, sweeps, rows):
    """The values of some rows of inner points after so many sweeps."""
    h = np.pi / (n + 1)
    return np.cos(h) ** sweeps * np.outer(np.sin(h * (np.asarray(rows) + 1)), np.sin(h * (np.arange(n) + 1)))


def exchange_halo(session, plate, n):
    """Copies the neighbours' edge rows into the halo. At the plate's edges the halo stays 0."""
    u, rows = plate.with_halo, plate.indices
    if not rows:
        return
    above = session.rank - 1 if rows[0] > 0 else MPI.PROC_NULL
    below = session.rank + 1 if rows[-1] < n - 1 else MPI.PROC_NULL
    session.comm.Sendrecv(u[1], dest=above, sendtag=1, recvbuf=u[-1], source=below, recvtag=1)
    session.comm.Sendrecv(u[-2], dest=below, sendtag=2, recvbuf=u[0], source=above, recvtag=2)


def sweep(plate):
    """Replaces each point by the mean of its four neighbours."""
    u = plate.with_halo
    if not len(u):
        return
    mean = u[:-2] + u[2:]
    mean[:, 1:] += u[1:-1, :-1]
    mean[:, :-1] += u[1:-1, 1:]
    mean *= 0.25
    u[1:-1] = mean


def goes_on(session, options, done):
    """Whether another sweep is wanted, the same on all ranks."""
    if not options.until:
        return done < options.iterations
    there = os.path.exists(options.until) if session.rank == 0 else None
    return not session.comm.bcast(there)


def main():
    parser = argparse.ArgumentParser(description="Heat on a square plate; grows and shrinks under Pleat, and checks its result.")
    parser.add_argument("--n", type=int, default=512, help="inner points along an edge (default 512)")
    parser.add_argument("--iterations", type=int, default=1000, help="sweeps (default 1000)")
    parser.add_argument("--until", metavar="FILE", help="sweeps until there is such a file, however many these are")
    parser.add_argument("--pause", type=float, default=0, metavar="MS", help="sleep for MS milliseconds in every sweep")
    parser.add_argument("--tolerance", type=float, default=1e-8, help="relative error allowed at the end (default 1e-8)")
    options = parser.parse_args()
    n = options.n

    with pleat.Session() as session:
        state = session.values(done=0)
        plate = session.rows("plate", n, n, halo=1)
        if session.begin() is pleat.STARTED:
            plate.local[:] = exact(n, 0, plate.indices)
        while not session.leaving and goes_on(session, options, state.done):
            exchange_halo(session, plate, n)
            sweep(plate)
            time.sleep(options.pause / 1000)
            state.done += 1
            session.adapt()
        if session.leaving:
            return 0

        off = np.abs(plate.local - exact(n, state.done, plate.indices)).max(initial=0)
        error = session.comm.allreduce(off, op=MPI.MAX) / exact(n, state.done, [n // 2])[0, n // 2]
        wrong = not error <= options.tolerance
        if session.rank == 0:
            print(f"RESULT {'wrong' if wrong else 'ok'} sweeps={state.done} ranks={session.size} error={error:.2e}", flush=True)
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
