"""Data in memory of the program's own: Python's objects, and rows in ordinary NumPy arrays."""

from __future__ import annotations

import ctypes
import pickle
from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from . import _prototypes as c
from ._library import block_of, call, integer
from .data import Data, _row
from .errors import InvalidError
from .local import element_type

if TYPE_CHECKING:
    from .session import Session

__all__ = ["Items", "Owned"]


class Items(Data):
    """Python's objects, of which each rank has any number, made by `Session.items`. `list` is this rank's own list: change
    it as you like between two adaptation points. It may be another list object after a resize."""

    def __init__(self, session: Session, name: str, pack: Callable[[Any], bytes], unpack: Callable[[bytes], Any],
                 owner: Callable[[Any, int], int] | None):
        super().__init__(session, name)
        self.list: list[Any] = []
        self._pack_one, self._unpack_one, self._owner_of = pack, unpack, owner
        self._packed: dict[int, bytes] = {}
        self._coming: list[Any] = []
        self._ops = c.CItems(c.COUNT(self._count), c.BYTES(self._bytes), c.PACK(self._pack), c.OPEN_ITEMS(self._open),
                             c.UNPACK(self._unpack), c.CLOSE(self._close), *([c.ITEM_OWNER(self._owner)] if owner else []))
        call(session._c.pleat_items_register, session._handle, name.encode(), ctypes.byref(self._ops), 0, None)

    # The library calls these. Nothing that they raise may pass through C: the call of begin or adapt raises it.

    def _count(self, _arg: Any) -> int:
        return len(self.list)

    def _bytes_of(self, item: int) -> bytes:
        """Packed once for a change, as the library asks several times."""
        if item not in self._packed:
            packed = bytes(self._pack_one(self.list[item]))
            self._packed[item] = packed
        return self._packed[item]

    def _bytes(self, item: int, _arg: Any) -> int:
        try:
            return len(self._bytes_of(item))
        except BaseException as error:
            self.session._remember(error)
            return -1  # the change is refused

    def _pack(self, item: int, to: int, _arg: Any) -> None:
        try:
            packed = self._bytes_of(item)
            ctypes.memmove(to, packed, len(packed))
        except BaseException as error:
            self.session._remember(error)

    def _open(self, count: int, _bytes: int, _arg: Any) -> int:
        try:
            self._coming = [None] * count
            return 0
        except BaseException as error:
            self.session._remember(error)
            return 1

    def _unpack(self, item: int, source: Any, size: int, _arg: Any) -> None:
        try:
            self._coming[item] = self._unpack_one(ctypes.string_at(source, size) if size else b"")
        except BaseException as error:
            self.session._remember(error)

    def _close(self, taken: int, _arg: Any) -> None:
        if taken:
            self.list = self._coming
        self._coming = []
        self._packed = {}

    def _owner(self, item: int, size: int, _arg: Any) -> int:
        try:
            return integer(self._owner_of(self.list[item], size), "the rank of an item")  # type: ignore[misc]
        except BaseException as error:
            self.session._remember(error)
            return -1  # the change is refused

    def _forget(self) -> None:
        self._packed = {}


class Owned(Data):
    """Rows in an ordinary NumPy array, made by `Session.owned`: the array is the program's, and is never stale. After a
    resize `array` is another one, with the new rows."""

    def __init__(self, session: Session, name: str, rows: int, shape: int | Sequence[int], dtype: Any):
        super().__init__(session, name)
        self.dtype = element_type(dtype)
        self.shape = (integer(rows, "a number of rows", 64), *_row(shape))
        row_bytes = integer(np.prod(self.shape[1:], dtype=object) * self.dtype.itemsize, "the bytes of a row", 64)
        self._array = np.zeros((0, *self.shape[1:]), self.dtype)
        self._coming = self._array
        self._ops = c.COwned(c.DATA(self._data), c.OPEN_ROWS(self._open), c.CLOSE(self._close))
        call(session._c.pleat_owned_register, session._handle, name.encode(), self.shape[0], row_bytes,
             ctypes.byref(self._ops), None)
        if not session.joined:
            self._array = np.zeros((len(block_of(self.shape[0], session.size, session.rank)), *self.shape[1:]), self.dtype)

    @property
    def array(self) -> np.ndarray:
        """This rank's rows. Another array of the same shape and type may be set in its place."""
        return self._array

    @array.setter
    def array(self, new: Any) -> None:
        given = np.ascontiguousarray(new, dtype=self.dtype)
        if given.shape != self._array.shape:
            raise InvalidError(f"'{self.name}': this rank's rows have the shape {self._array.shape}, not {given.shape}")
        self._array = given.copy() if type(given) is not np.ndarray or not given.flags.owndata else given

    @property
    def indices(self) -> range:
        """Global indices of the local rows."""
        self.session._check_running(f"'{self.name}' has local rows")
        return block_of(self.shape[0], self.session.size, self.session.rank)

    def _data(self, _arg: Any) -> int:
        return self._array.ctypes.data

    def _open(self, count: int, _arg: Any) -> int | None:
        try:
            self._coming = np.zeros((count, *self.shape[1:]), self.dtype)
            return self._coming.ctypes.data
        except BaseException as error:
            self.session._remember(error)
            return None

    def _close(self, taken: int, _arg: Any) -> None:
        if taken:
            self._array = self._coming
        self._coming = self._array


dumps: Callable[[Any], bytes] = pickle.dumps
loads: Callable[[bytes], Any] = pickle.loads
