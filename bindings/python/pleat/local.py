"""Local parts of distributed data, as NumPy arrays over memory that is the library's and changes at a resize."""

from __future__ import annotations

import functools
import math
from typing import Any, Literal, Sequence

import numpy as np

from .errors import StaleError

__all__ = ["Local"]


# indices that never make a copy
_BASIC = frozenset({int, slice, type(None), type(...), str})


class Life:
    """Ends when the memory of the arrays that were made with it may be gone."""

    __slots__ = ("over",)

    def __init__(self) -> None:
        self.over = ""  # why, as a sentence


class Local(np.ndarray):
    """A NumPy array over the library's memory: the elements that this rank has now. It is written and read like any other.

    A change of size replaces local parts, and the memory of old ones is gone. From then on this array and its slices are
    stale: what would touch their elements raises `StaleError`. So ask for `local` again, best in every iteration: without a
    change that gives the same array. Results of computing with it are arrays of their own, and stay.

    The check takes some microseconds for each operation. `numpy.asarray(array)` is the same memory without the check, for
    loops over single elements; like what MPI, and compiled code in general, is handed, it must not be used after a change,
    where the process would crash.
    """

    __slots__ = ("_life",)
    _life: Life | None

    def __array_finalize__(self, source: Any) -> None:
        # an array that was just allocated, as by astype, has memory of its own
        self._life = source._life if isinstance(source, Local) and not self.flags.owndata else None

    @property
    def is_stale(self) -> bool:
        """Whether a change has replaced this part."""
        return self._life is not None and bool(self._life.over)

    def _check(self) -> None:
        if self._life is not None and self._life.over:
            raise StaleError(self._life.over)

    def __getitem__(self, key):
        if self._life is not None and self._life.over:
            raise StaleError(self._life.over)
        if type(key) in _BASIC or type(key) is tuple and _BASIC.issuperset(map(type, key)):
            return np.ndarray.__getitem__(self, key)  # a view, or an element
        plain = self.view(np.ndarray)
        found = plain[key]
        if self._life is None or type(found) is not np.ndarray or not np.may_share_memory(found, plain):
            return found
        part = found.view(Local)
        part._life = self._life
        return part

    def __setitem__(self, key, value):
        self._check()
        self.view(np.ndarray)[key] = _plain(value)

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **options):
        if options:
            options = {name: _plain(one) for name, one in options.items()}
        if out is not None:
            options["out"] = tuple(_plain(one) for one in out)
        result = getattr(ufunc, method)(*[_plain(one) for one in inputs], **options)
        if out is None:
            return result
        return out[0] if len(out) == 1 else out

    def __array_function__(self, function, types, arguments, options):
        _check_all(arguments)
        _check_all(options.values())
        return super().__array_function__(function, types, arguments, options)

    def __repr__(self) -> str:
        return f"<stale: {self._life.over}>" if self._life and self._life.over else np.ndarray.__repr__(self)

    def __str__(self) -> str:
        return repr(self) if self.is_stale else np.ndarray.__str__(self)

    def __reduce__(self):
        self._check()
        return np.array(self).__reduce__()

    def copy(self, order="C"):
        """A copy that is an ordinary array, and stays."""
        self._check()
        return np.array(self, order=order, copy=True)


def _plain(value):
    """Without the check, which is done here."""
    if isinstance(value, Local):
        value._check()
        return value.view(np.ndarray)
    return value


def _check_all(values) -> None:
    for value in values:
        if isinstance(value, Local):
            value._check()
        elif isinstance(value, (list, tuple)):
            _check_all(value)


def _guarded(name: str):
    method = getattr(np.ndarray, name)

    @functools.wraps(method)
    def checked(self, *arguments, **options):
        self._check()
        return method(self, *arguments, **options)
    return checked


# methods of arrays that touch elements without a ufunc
for _name in ("__iter__", "__contains__", "__float__", "__int__", "__complex__", "__bool__", "__index__", "__copy__",
              "__deepcopy__", "argmax", "argmin", "argpartition", "argsort", "astype", "byteswap", "choose", "compress",
              "diagonal", "dot", "dump", "dumps", "fill", "flatten", "item", "itemset", "nonzero", "partition", "put", "repeat",
              "searchsorted", "sort", "take", "tobytes", "tofile", "tolist", "trace"):
    setattr(Local, _name, _guarded(_name))


class _Memory:
    """Bytes at an address, for NumPy."""

    def __init__(self, address: int, size: int):
        self.__array_interface__ = {"version": 3, "shape": (size,), "typestr": "|u1", "data": (address, False)}


def at_address(address: int | None, shape: Sequence[int], dtype: np.dtype, life: Life, order: Literal["C", "F"] = "C",
               writeable: bool = True) -> np.ndarray:
    """The array at that address. Without elements it is an ordinary one."""
    size = math.prod(shape) * dtype.itemsize
    if not address or not size:
        return np.empty(tuple(shape), dtype, order)
    memory = np.asarray(_Memory(address, size))
    made = np.ndarray(tuple(shape), dtype, buffer=memory, order=order).view(Local)
    made._life = life
    made.flags.writeable = writeable
    return made


def element_type(dtype: Any) -> np.dtype:
    """A dtype whose elements are bytes in memory, and nothing else."""
    made = np.dtype(dtype)
    if made.hasobject:
        raise TypeError(f"elements of {made!r} are Python's own objects, which cannot be moved as bytes: "
                        "Session.items takes them")
    if not made.itemsize:
        raise TypeError(f"elements of {made!r} have no bytes")
    return made
