"""Data that follow a resize: rows, arrays over process grids, particles, sparse matrices. The library owns their memory."""

from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping, Sequence

import numpy as np
from mpi4py import MPI

from . import _prototypes as c
from ._library import call, communicator, integer
from .errors import InvalidError, StateError
from .local import Life, at_address, element_type

if TYPE_CHECKING:
    from .session import Session

__all__ = ["Block", "Cyclic", "Collapsed", "Rows", "Array", "Particles", "Csr"]


class Data:
    """What a session has registered under a name."""

    def __init__(self, session: Session, name: str):
        self.session = session
        self.name = name
        self._life = Life()
        self._parts: dict[str, np.ndarray] = {}

    def _renew(self, reason: str) -> None:
        """The memory may be gone: parts that were handed out are stale from now on."""
        self._life.over = f"'{self.name}': {reason}"
        self._life = Life()
        self._parts = {}

    def _forget(self) -> None:
        """A call of the library that may have called back is over."""

    def _part(self, which: str, make: Callable[[], np.ndarray]) -> np.ndarray:
        self.session._check_running(f"'{self.name}' has a local part")
        if which not in self._parts:
            self._parts[which] = make()
        return self._parts[which]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"


def _row(shape: int | Sequence[int]) -> tuple[int, ...]:
    row = tuple(integer(one, "an extent of a row", 64) for one in (shape if isinstance(shape, Iterable) else (shape,)))
    if any(one < 1 for one in row):
        raise InvalidError(f"a row of the shape {row} has no elements")
    return row


class Rows(Data):
    """Rows in contiguous blocks, made by `Session.rows`. A resize copies none of them."""

    def __init__(self, session: Session, name: str, rows: int, shape: int | Sequence[int], dtype: Any, halo: int):
        super().__init__(session, name)
        self.dtype = element_type(dtype)
        self.shape = (integer(rows, "a number of rows", 64), *_row(shape))
        self.halo = integer(halo, "a halo")
        self._row_bytes = integer(math.prod(self.shape[1:]) * self.dtype.itemsize, "the bytes of a row", 64)
        handle = ctypes.c_void_p()
        call(session._c.pleat_rows_create, session._handle, name.encode(), self.shape[0], self._row_bytes, self.halo,
             ctypes.byref(handle))
        self._handle = handle

    @property
    def first(self) -> int:
        """Global index of the first local row."""
        self.session._check_running(f"'{self.name}' has local rows")
        return self.session._c.pleat_rows_first(self._handle)

    @property
    def count(self) -> int:
        """Number of local rows, which may be 0."""
        self.session._check_running(f"'{self.name}' has local rows")
        return self.session._c.pleat_rows_count(self._handle)

    @property
    def indices(self) -> range:
        """Global indices of the local rows."""
        return range(self.first, self.first + self.count)

    @property
    def local(self) -> np.ndarray:
        """The local rows, without their halo. Replaced at a resize."""
        return self._part("local", lambda: self._rows(0))

    @property
    def with_halo(self) -> np.ndarray:
        """The local rows between their halo rows, which are zero at first and after each resize. A rank without rows has no
        halo."""
        return self._part("with_halo", lambda: self._rows(self.halo))

    def _rows(self, halo: int) -> np.ndarray:
        count = self.count
        data = self.session._c.pleat_rows_data(self._handle)
        if not count:
            return np.empty((0, *self.shape[1:]), self.dtype)
        return at_address(data - halo * self._row_bytes, (count + 2 * halo, *self.shape[1:]), self.dtype, self._life)


# ---- arrays over grids ----


@dataclass(frozen=True)
class Block:
    """A dimension in contiguous blocks. halo: how many of the neighbours' elements there is room for on each side, or
    (before, behind). periodic: in `Array.comm` the last process and the first one are neighbours."""

    halo: int | tuple[int, int] = 0
    periodic: bool = False


@dataclass(frozen=True)
class Cyclic:
    """A dimension in blocks that are dealt out in turn, as ScaLAPACK has them."""

    block: int = 1


@dataclass(frozen=True)
class Collapsed:
    """A dimension that is not distributed: every process has all of its indices."""

    halo: int | tuple[int, int] = 0
    periodic: bool = False


_FORMATS = {Collapsed: 0, Block: 1, Cyclic: 2}


def _dimension(extent: int, how: Any) -> c.CDimension:
    if isinstance(how, type) and how in _FORMATS:
        how = how()
    if type(how) not in _FORMATS:
        raise TypeError(f"a dimension is Block(...), Cyclic(...) or Collapsed(...), not {how!r}")
    made = c.CDimension(extent=integer(extent, "an extent", 64), format=_FORMATS[type(how)])
    if isinstance(how, Cyclic):
        made.block = integer(how.block, "a block", 64)
        return made
    low, high = how.halo if isinstance(how.halo, tuple) else (how.halo, how.halo)
    made.halo_low, made.halo_high, made.periodic = integer(low, "a halo"), integer(high, "a halo"), bool(how.periodic)
    return made


def shape_of(shape: Sequence[int], dtype: np.dtype, dist: Sequence[Any] | None, order: str, grid_order: str | None,
             like: Array | None) -> c.CShape:
    """struct pleat_array_shape."""
    if not 1 <= len(shape) <= c.ARRAY_DIMS:
        raise InvalidError(f"an array has 1 to {c.ARRAY_DIMS} dimensions, not {len(shape)}")
    dist = [Block()] * len(shape) if dist is None else dist
    if len(dist) != len(shape):
        raise InvalidError(f"an array of {len(shape)} dimensions, of which {len(dist)} are said to be distributed")
    if grid_order is None:
        grid_order = "F" if like is not None and like._shape.grid_column_major else "C"
    if order not in ("C", "F") or grid_order not in ("C", "F"):
        raise InvalidError(f"orders are 'C' or 'F', not {order!r} and {grid_order!r}")
    made = c.CShape(dims=len(shape), element_bytes=dtype.itemsize, column_major=order == "F",
                    grid_column_major=grid_order == "F", same_grid_as=like._handle if like is not None else None)
    for d, (extent, how) in enumerate(zip(shape, dist)):
        made.dim[d] = _dimension(extent, how)
    return made


class Array(Data):
    """An array of 1 to 4 dimensions over a grid of processes, made by `Session.array` or `Session.matrix`."""

    def __init__(self, session: Session, name: str, shape: c.CShape, dtype: np.dtype):
        super().__init__(session, name)
        self.dtype = dtype
        self._shape = shape
        self.shape = tuple(shape.dim[d].extent for d in range(shape.dims))
        handle = ctypes.c_void_p()
        try:
            call(session._c.pleat_array_create, session._handle, name.encode(), ctypes.byref(shape), ctypes.byref(handle))
        finally:
            session._raise_pending()
        self._handle = handle

    def _each(self, function: Any) -> tuple[int, ...]:
        self.session._check_running(f"'{self.name}' has a local part")
        return tuple(function(self._handle, d) for d in range(len(self.shape)))

    @property
    def counts(self) -> tuple[int, ...]:
        """Number of indices that this rank owns in each dimension, without halos."""
        return self._each(self.session._c.pleat_array_count)

    @property
    def extents(self) -> tuple[int, ...]:
        """The same with halos: the shape of `with_halo`."""
        return self._each(self.session._c.pleat_array_extent)

    @property
    def processes(self) -> tuple[int, ...]:
        """The grid: number of processes in each dimension."""
        return self._each(self.session._c.pleat_array_processes)

    @property
    def coordinates(self) -> tuple[int, ...] | None:
        """This rank's place in the grid; None: it is not in the grid."""
        found = self._each(self.session._c.pleat_array_coordinate)
        return None if -1 in found else found

    @property
    def with_halo(self) -> np.ndarray:
        """The local array with its halos, which are zero at first and after each resize. Replaced at a resize."""
        return self._part("with_halo", self._all)

    @property
    def local(self) -> np.ndarray:
        """What this rank owns, without halos. Replaced at a resize."""
        return self._part("local", self._inside)

    def _all(self) -> np.ndarray:
        return at_address(self.session._c.pleat_array_data(self._handle), self.extents, self.dtype, self._life,
                          "F" if self._shape.column_major else "C")

    def _inside(self) -> np.ndarray:
        low = [self._shape.dim[d].halo_low for d in range(len(self.shape))]
        counts = self.counts
        if 0 in counts:
            return np.empty(counts, self.dtype)
        return self.with_halo[tuple(slice(at, at + count) for at, count in zip(low, counts))]

    def index(self, dimension: int, local: int) -> int:
        """Global index of a local one, without halos."""
        self.session._check_running(f"'{self.name}' has a local part")
        found = self.session._c.pleat_array_global(self._handle, integer(dimension, "a dimension"), integer(local, "an index", 64))
        if found < 0:
            raise IndexError(f"'{self.name}' has no local index {local} in dimension {dimension}")
        return found

    def indices(self, dimension: int) -> np.ndarray:
        """Global indices of all local ones of a dimension."""
        if not 0 <= dimension < len(self.shape):
            raise IndexError(f"'{self.name}' has no dimension {dimension}")
        local = np.arange(self.counts[dimension])
        if not len(local):
            return local
        if self._shape.dim[dimension].format != _FORMATS[Cyclic]:
            return self.index(dimension, 0) + local
        block, processes = self._shape.dim[dimension].block, self.processes[dimension]
        return local // block * block * processes + self.index(dimension, 0) + local % block

    def grid(self, size: int) -> tuple[int, ...]:
        """The grid that the array has, or would have, with `size` ranks. Also before `Session.begin`."""
        grid = (ctypes.c_int * c.ARRAY_DIMS)()
        self.session._check_open()
        try:
            call(self.session._c.pleat_array_grid, self._handle, integer(size, "a number of ranks"), grid)
        finally:
            self.session._raise_pending()
        return tuple(grid[: len(self.shape)])

    @property
    def comm(self) -> MPI.Cartcomm:
        """A Cartesian communicator of the grid; `MPI.COMM_NULL` on ranks that are not in it. Asked for first after begin
        and after each resize, on all ranks. It is the library's, which frees it at the next resize."""
        handle = ctypes.c_int()
        self.session._check_running(f"'{self.name}' has a communicator")
        call(self.session._c.pleat_array_comm_fortran, self._handle, ctypes.byref(handle))
        return communicator(handle.value, MPI.Cartcomm)

    def context(self) -> int:
        """A BLACS context of a matrix's grid, on all ranks; -1: this rank is not in the grid. The program must have loaded
        the ScaLAPACK of its MPI with `ctypes.CDLL(..., mode=ctypes.RTLD_GLOBAL)` before its first session."""
        context = ctypes.c_int(-1)
        self.session._check_running(f"'{self.name}' has a context")
        call(self.session._c.pleat_array_context, self._handle, ctypes.byref(context))
        return context.value

    def descriptor(self, context: int) -> np.ndarray:
        """ScaLAPACK's descriptor of the local part: 9 numbers."""
        descriptor = (ctypes.c_int * 9)()
        self.session._check_running(f"'{self.name}' has a descriptor")
        call(self.session._c.pleat_array_descriptor, self._handle, integer(context, "a context"), descriptor)
        return np.array(descriptor, dtype=np.intc)


# ---- data whose size changes ----


class Particles(Data):
    """Elements of one size, of which each rank has any number, made by `Session.particles`."""

    def __init__(self, session: Session, name: str, dtype: Any, owner: Callable[[np.ndarray, int], Any] | None):
        super().__init__(session, name)
        self.dtype = element_type(dtype)
        handle = ctypes.c_void_p()
        call(session._c.pleat_particles_create, session._handle, name.encode(), self.dtype.itemsize, ctypes.byref(handle))
        self._handle = handle
        self._owners: dict[tuple[int, int, int], np.ndarray] = {}
        self._owner = owner
        if owner is not None:
            self._callback = c.PARTICLE_OWNER(self._owner_of)
            session._c.pleat_particles_on_owner(handle, self._callback, None)

    def _owner_of(self, particle: int, size: int, _arg: Any) -> int:
        """The library asks for each particle; the program is asked once for all."""
        library = self.session._c
        data, count = library.pleat_particles_data(self._handle), library.pleat_particles_count(self._handle)
        try:
            if (data, count, size) not in self._owners:
                life = Life()
                particles = at_address(data, (count,), self.dtype, life)
                owners = np.asarray(self._owner(particles, size))  # type: ignore[misc]
                life.over = f"'{self.name}': the particles were the owner's only while it was asked"
                if owners.shape != (count,) or owners.dtype.kind not in "iu":
                    raise TypeError(f"'{self.name}': the owner was asked for the ranks of {count} particles, and gave "
                                    f"{owners.dtype} of the shape {owners.shape}")
                self._owners = {(data, count, size): owners}
            return int(self._owners[data, count, size][(particle - data) // self.dtype.itemsize])
        except BaseException as error:  # nothing may pass through C
            self.session._remember(error)
            return -1

    def _forget(self) -> None:
        self._owners = {}

    @property
    def count(self) -> int:
        """Number of this rank's particles."""
        self.session._check_running(f"'{self.name}' has particles")
        return self.session._c.pleat_particles_count(self._handle)

    @property
    def local(self) -> np.ndarray:
        """This rank's particles. Replaced at a resize, and by `resize`."""
        return self._part("local", lambda: at_address(self.session._c.pleat_particles_data(self._handle), (self.count,),
                                                      self.dtype, self._life))

    def resize(self, count: int) -> np.ndarray:
        """Changes the number of this rank's particles: the first ones stay, new ones are zero. Returns them. No
        communication."""
        self.session._check_running(f"'{self.name}' has particles")
        call(self.session._c.pleat_particles_set_count, self._handle, integer(count, "a number of particles", 64))
        self._renew("its number of particles was changed")
        return self.local

    def replace(self, particles: Any) -> np.ndarray:
        """Takes these in place of the present ones. Returns them as they are held."""
        given = np.array(particles, dtype=self.dtype, ndmin=1)
        if given.ndim != 1:
            raise InvalidError(f"'{self.name}': particles are an array of one dimension, not of {given.ndim}")
        held = self.resize(len(given))
        held[:] = given
        return held


class Csr(Data):
    """A sparse matrix in compressed rows, made by `Session.csr`. `csr["value"]` is the array of a field."""

    def __init__(self, session: Session, name: str, rows: int, fields: Mapping[str, Any]):
        super().__init__(session, name)
        self.rows = integer(rows, "a number of rows", 64)
        self.fields = {field: element_type(dtype) for field, dtype in fields.items()}
        if not 1 <= len(self.fields) <= c.CSR_FIELDS:
            raise InvalidError(f"'{name}': an entry has 1 to {c.CSR_FIELDS} fields, not {len(self.fields)}")
        sizes = (ctypes.c_size_t * len(self.fields))(*[one.itemsize for one in self.fields.values()])
        handle = ctypes.c_void_p()
        call(session._c.pleat_csr_create, session._handle, name.encode(), self.rows, sizes, len(self.fields),
             ctypes.byref(handle))
        self._handle = handle

    @property
    def first(self) -> int:
        """Global index of the first local row."""
        self.session._check_running(f"'{self.name}' has local rows")
        return self.session._c.pleat_csr_first(self._handle)

    @property
    def count(self) -> int:
        """Number of local rows."""
        self.session._check_running(f"'{self.name}' has local rows")
        return self.session._c.pleat_csr_count(self._handle)

    @property
    def start(self) -> np.ndarray:
        """Where the entries of each local row begin: count + 1 numbers, which cannot be written."""
        return self._part("start", lambda: at_address(self.session._c.pleat_csr_start(self._handle), (self.count + 1,),
                                                      np.dtype(np.int64), self._life, writeable=False))

    def set_lengths(self, lengths: Any) -> None:
        """Gives this rank's rows their numbers of entries, which are all zero then. No communication."""
        given = np.asarray(lengths)
        if given.shape != (self.count,):
            raise InvalidError(f"'{self.name}': {self.count} local rows need as many lengths, not {given.shape}")
        if given.size and given.dtype.kind not in "iu":
            raise TypeError(f"'{self.name}': numbers of entries are integers, not {given.dtype}")
        given = np.ascontiguousarray(given, dtype=np.int64)
        call(self.session._c.pleat_csr_set_lengths, self._handle, given.ctypes.data)
        self._renew("its numbers of entries were changed")

    def __getitem__(self, field: str) -> np.ndarray:
        """The entries' values of a field, one row after the other. Replaced at a resize, and by `set_lengths`."""
        if field not in self.fields:
            raise KeyError(f"'{self.name}' has no field {field!r}: it has {', '.join(self.fields)}")
        number = list(self.fields).index(field)
        return self._part(f"field {field}", lambda: at_address(
            self.session._c.pleat_csr_field(self._handle, number), (int(self.start[-1]),), self.fields[field], self._life))

    def row(self, local: int) -> slice:
        """The entries of a local row, in the arrays of the fields."""
        if not 0 <= local < self.count:
            raise IndexError(f"'{self.name}' has no local row {local}")
        return slice(int(self.start[local]), int(self.start[local + 1]))


def check_name(session: Session, name: str) -> None:
    """A name is a text, and data are registered before begin, while nothing else goes on."""
    if not isinstance(name, str):
        raise TypeError(f"a name is a text, not {name!r}")
    if "\0" in name:
        raise InvalidError(f"a name has no null character, and {name!r} does")
    session._check_open()
    if session._began:
        raise StateError(f"'{name}' is to be registered before Session.begin")
