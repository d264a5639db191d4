#!/usr/bin/env python3
"""everything.py FILE: data of each kind that the module pleat offers, all checked in every step, until there is a file
FILE. Each step adds 1 to what can be counted. Then: RESULT ok."""

import os
import sys
import time

import numpy as np
from mpi4py import MPI

import pleat

ROWS, CELLS, WIDE, HIGH = 37, 13, 29, 23
PARTICLE = np.dtype([("number", np.int64), ("steps", np.int64), ("mark", "S3")])
seen = []  # what actions were told


def check(condition, what):
    if not condition:
        raise AssertionError(what)


class Tree:
    """An object of the program's own."""

    def __init__(self, number):
        self.number, self.leaves = number, ["leaf"] * (number % 5)


def register(session):
    data = {}
    session.on_grid(lambda name, size, proposed: (size, 1) if name == "columns" else proposed)
    data["rows"] = session.rows("rows", ROWS, (2, 3), np.int64, halo=1)
    data["plane"] = session.array("plane", (WIDE, HIGH), np.float32, [pleat.Block(halo=1), pleat.Block(halo=(1, 0), periodic=True)])
    data["cyclic"] = session.array("cyclic", (WIDE, HIGH), np.int32, [pleat.Cyclic(3), pleat.Cyclic], order="F")
    data["columns"] = session.array("columns", (WIDE, HIGH), np.int64, [pleat.Block, pleat.Cyclic(2)])
    data["like"] = session.array("like", (WIDE, 4), complex, [pleat.Block, pleat.Cyclic(1)], like=data["columns"])
    data["slab"] = session.array("slab", (WIDE, 5), np.int64, [pleat.Block(), pleat.Collapsed()])
    data["copy"] = session.array("copy", (7,), np.int64, [pleat.Collapsed()])
    data["matrix"] = session.matrix("matrix", [1, 0, WIDE, HIGH, 4, 4, 0, 0, WIDE], np.float64)
    data["ordered"] = session.particles("ordered", PARTICLE)
    data["sorted"] = session.particles("sorted", PARTICLE, owner=lambda particles, size: particles["number"] % size)
    data["sparse"] = session.csr("sparse", ROWS, {"column": np.int32, "value": float})
    data["owned"] = session.owned("owned", ROWS, 3, np.int64)
    data["trees"] = session.items("trees")
    data["words"] = session.items("words", str.encode, bytes.decode, lambda word, size: len(word) % size)
    return data


ARRAYS = ("plane", "cyclic", "columns", "like", "slab", "copy", "matrix")


def global_numbers(array):
    """The number of each local element in the whole array."""
    grids = np.meshgrid(*[array.indices(d) for d in range(len(array.shape))], indexing="ij")
    return np.ravel_multi_index(grids, array.shape) if all(array.counts) else np.zeros(array.counts, int)


def fill(session, data):
    data["rows"].local[:] = np.reshape(data["rows"].indices, (-1, 1, 1))
    for name in ARRAYS:
        data[name].local[...] = global_numbers(data[name])
    mine = np.zeros(session.rank + 3, PARTICLE)
    mine["number"] = np.arange(len(mine)) + 100 * session.rank
    mine["mark"] = b"abc"
    data["ordered"].replace(mine)
    every = np.zeros(50, PARTICLE)
    every["number"] = np.arange(50)
    data["sorted"].replace(every[every["number"] % session.size == session.rank])
    data["sparse"].set_lengths([row % 4 for row in range(data["sparse"].first, data["sparse"].first + data["sparse"].count)])
    for local in range(data["sparse"].count):
        row = data["sparse"].row(local)
        data["sparse"]["column"][row] = np.arange(row.stop - row.start)
        data["sparse"]["value"][row] = data["sparse"].first + local
    data["owned"].array[:] = np.reshape(data["owned"].indices, (-1, 1))
    data["trees"].list = [Tree(number) for number in range(20) if number % session.size == session.rank]
    data["words"].list = ["x" * n for n in range(11) if n % session.size == session.rank]


def step_all(data):
    data["rows"].local[:] += 1
    for name in ARRAYS:
        data[name].local[...] += 1
    for name in ("ordered", "sorted"):
        data[name].local["steps"] += 1
    data["sparse"]["value"][:] += 1
    data["owned"].array += 1


def check_all(session, data, step):
    check((data["rows"].local == np.reshape(data["rows"].indices, (-1, 1, 1)) + step).all(), "rows")
    for name in ARRAYS:
        check((data[name].local == (global_numbers(data[name]) + step).astype(data[name].dtype)).all(), name)
        for d in range(len(data[name].shape)):
            check(list(data[name].indices(d)) == [data[name].index(d, i) for i in range(data[name].counts[d])], name)
    check(data["columns"].processes == data["like"].processes == (session.size, 1), "grids")
    for name in ("ordered", "sorted"):
        check((data[name].local["steps"] == step).all(), name)
    check((data["sorted"].local["number"] % session.size == session.rank).all(), "sorted")
    check((data["ordered"].local["mark"] == b"abc").all(), "marks")
    numbers = session.comm.allgather(list(data["ordered"].local["number"]))
    flat = sum(numbers, [])
    check(flat == sorted(flat), "ordered")
    if any(moment is pleat.AFTER for moment, _, _ in seen):
        check(max(map(len, numbers)) - min(map(len, numbers)) <= 1, "as many as the others")
    sparse = data["sparse"]
    for local in range(sparse.count):
        row, number = sparse.row(local), sparse.first + local
        check(list(sparse["column"][row]) == list(range(number % 4)), "columns of a sparse matrix")
        check((sparse["value"][row] == number + step).all(), "values of a sparse matrix")
    check((data["owned"].array == np.reshape(data["owned"].indices, (-1, 1)) + step).all(), "owned")
    trees = session.comm.allreduce([(tree.number, len(tree.leaves)) for tree in data["trees"].list])
    check(sorted(trees) == [(n, n % 5) for n in range(20)], "trees")
    check(sorted(session.comm.allreduce(data["words"].list)) == sorted("x" * n for n in range(11)), "words")
    check(all(len(word) % session.size == session.rank for word in data["words"].list), "whose word it is")


def check_neighbours(plane):
    """The Cartesian communicator of the grid, and room for its neighbours' elements."""
    comm = plane.comm
    if comm == MPI.COMM_NULL:
        return
    check(tuple(comm.coords) == plane.coordinates and tuple(comm.dims) == plane.processes, "a grid")
    low, high = comm.Shift(0, 1)
    edge = np.ascontiguousarray(plane.local[-1])
    came = np.full_like(edge, -1)
    comm.Sendrecv(edge, dest=high, recvbuf=came, source=low)
    plane.with_halo[0, 1:] = came
    if low != MPI.PROC_NULL:
        check(plane.with_halo.shape == plane.extents and (plane.with_halo[0, 1:] == came).all(), "a halo")
        check((plane.local[0] - came == HIGH).all(), "the neighbour's elements")


def check_stale(old, what):
    """Parts of before a change are refused."""
    for part in old:
        if part.size and isinstance(part, pleat.Local):
            check(part.is_stale and "stale" in repr(part), f"a part of {what} is not stale")
            for use in (lambda p: p[0], lambda p: p + 1, lambda p: p.sum(), np.copy, list, lambda p: p.fill(0)):
                try:
                    use(part)
                except pleat.StaleError:
                    continue
                raise AssertionError(f"a stale part of {what} was used")


def main():
    until = sys.argv[1]
    with pleat.Session() as session:
        state = session.values(step=0, changes=0, table=np.arange(4.0))
        data = register(session)
        in_loop = session.point("loop")

        @session.action("watch")
        def watch(moment, change):
            seen.append((moment, change.current, change.to))
            if moment is pleat.BEFORE:
                state.changes += 1  # moves along
            else:
                check(len(data["rows"].local) == data["rows"].count, "rows in an action")
                check(session.comm.allreduce(1) == session.size, "a communicator in an action")

        session.limits(1, 6)
        session.announce()
        begun = session.begin()
        if begun is pleat.STARTED:
            fill(session, data)
        elif begun is pleat.JOINED:
            check(session.last_point is in_loop or session.last_point.name == "loop", "the point")
            check(seen and seen[-1][0] is pleat.AFTER, "no action after the change")
        while not session.leaving:
            check_all(session, data, state.step)
            check_neighbours(data["plane"])
            over = session.comm.bcast(os.path.exists(until) if session.rank == 0 else None)
            if over:
                break
            step_all(data)
            state.table[:] += 1
            state.step += 1
            old = [data["rows"].local, data["slab"].local, data["cyclic"].with_halo, data["sorted"].local,
                   data["sparse"]["value"], data["rows"].local[1:, 0]]
            time.sleep(0.002)
            if state.step % 10 == 0:
                with session.not_now():
                    check(session.adapt() is pleat.SAME, "a change in a section")
            session.comm.Barrier()
            pending = session.pending
            if in_loop.adapt() is not pleat.SAME:
                check(pending, "a change that was not announced")
                check_stale(old, "old data")
        if not session.leaving:
            check(list(state.table) == [state.step + i for i in range(4)], "a table")
            if session.rank == 0:
                print(f"RESULT ok steps={state.step} changes={state.changes} ranks={session.size}", flush=True)


if __name__ == "__main__":
    main()
