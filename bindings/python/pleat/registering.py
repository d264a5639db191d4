"""What a session registers: data that follow a resize."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence, cast

from . import _prototypes as c
from . import items as _items
from ._library import call, integer
from .data import Array, Csr, Data, Particles, Rows, check_name, shape_of
from .errors import InvalidError
from .items import Items, Owned
from .local import element_type
from .values import Value, Values

if TYPE_CHECKING:
    import numpy as np

    from .session import Session


class Registering:
    """The part of a session that registers data: on all ranks, in the same order, before begin."""

    _c: ctypes.CDLL
    _handle: ctypes.c_void_p

    def __init__(self) -> None:
        self._began = False
        self._data: list[Data] = []
        self._values: list[Value] = []  # C has their addresses
        self._points: dict[int, Any] = {}

    @property
    def _whole(self) -> Session:
        """Of which this is a part."""
        return cast("Session", self)

    def _add(self, data: Any) -> Any:
        self._data.append(data)
        return data

    def value(self, name: str, initial: Any, dtype: Any = None) -> Value:
        """A value that is the same on all ranks: a number, or an array. Ranks that join get rank 0's."""
        check_name(self._whole, name)
        made = Value(name, initial, dtype)
        call(self._c.pleat_value_register, self._handle, name.encode(), made._memory.ctypes.data, made._memory.nbytes)
        self._values.append(made)
        return made

    def values(self, **initial: Any) -> Values:
        """Several values, as attributes of what is returned: `state = session.values(step=0, time=0.0)`."""
        return Values({name: self.value(name, first) for name, first in initial.items()})

    def rows(self, name: str, rows: int, shape: int | Sequence[int] = (), dtype: Any = float, halo: int = 0) -> Rows:
        """An array of rows, spread in contiguous blocks: the cheapest distribution, of which a resize copies nothing. shape:
        of one row. halo: rows before and behind the local ones for copies of the neighbours' rows. Rows are zero at
        first."""
        check_name(self._whole, name)
        return self._add(Rows(self._whole, name, rows, shape, dtype, halo))

    def array(self, name: str, shape: Sequence[int], dtype: Any = float, dist: Sequence[Any] | None = None, order: str = "C",
              grid_order: str | None = None, like: Array | None = None) -> Array:
        """An array over a grid of processes. dist: how each dimension is distributed, `Block`, `Cyclic` or `Collapsed` (None:
        all in blocks). order: "F" for arrays in the manner of Fortran and ScaLAPACK; grid_order: likewise, of the ranks
        in the grid. like: an array whose grid this one has. Elements are zero at first."""
        check_name(self._whole, name)
        kind = element_type(dtype)
        return self._add(Array(self._whole, name, shape_of(shape, kind, dist, order, grid_order, like), kind))

    def matrix(self, name: str, descriptor: Sequence[int] | np.ndarray, dtype: Any = float) -> Array:
        """An array for the matrix of a descriptor of ScaLAPACK, of which context and leading dimension are ignored."""
        check_name(self._whole, name)
        kind = element_type(dtype)
        if len(descriptor) != 9:
            raise InvalidError(f"a descriptor has 9 numbers, not {len(descriptor)}")
        shape = c.CShape()
        numbers = (ctypes.c_int * 9)(*[integer(one, "a number of a descriptor") for one in descriptor])
        call(self._c.pleat_array_shape_of, numbers, kind.itemsize, ctypes.byref(shape))
        return self._add(Array(self._whole, name, shape, kind))

    def particles(self, name: str, dtype: Any, owner: Callable[[np.ndarray, int], Any] | None = None) -> Particles:
        """Elements of one size, of which each rank has any number; none at first. owner: `owner(particles, size)` returns the
        rank of each of these particles when there are `size` ranks. Without it they keep their order, and the ranks get
        equal numbers."""
        check_name(self._whole, name)
        return self._add(Particles(self._whole, name, dtype, owner))

    def csr(self, name: str, rows: int, fields: Mapping[str, Any]) -> Csr:
        """A sparse matrix in compressed rows. fields: the names and types of what an entry has, such as
        `{"column": np.int64, "value": float}`. Rows are spread as those of `rows`."""
        check_name(self._whole, name)
        return self._add(Csr(self._whole, name, rows, fields))

    def owned(self, name: str, rows: int, shape: int | Sequence[int] = (), dtype: Any = float) -> Owned:
        """Rows in an ordinary array of the program's own, spread as those of `rows`. They are copied at each resize."""
        check_name(self._whole, name)
        return self._add(Owned(self._whole, name, rows, shape, dtype))

    def items(self, name: str, pack: Callable[[Any], bytes] = _items.dumps, unpack: Callable[[bytes], Any] = _items.loads,
              owner: Callable[[Any, int], int] | None = None) -> Items:
        """A list of Python's objects on each rank, of any length; empty at first. They are packed and unpacked at each
        resize, by pickle if nothing else is said. owner: `owner(object, size)` is its rank when there are `size` ranks."""
        check_name(self._whole, name)
        return self._add(Items(self._whole, name, pack, unpack, owner))
