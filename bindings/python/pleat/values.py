"""Values that are the same on all ranks."""

from __future__ import annotations

from typing import Any

import numpy as np

from .local import element_type

__all__ = ["Value", "Values"]


def _letters(dtype: np.dtype) -> int:
    """How long a text of this type may be; 0: it is none."""
    return {"U": dtype.itemsize // 4, "S": dtype.itemsize}.get(dtype.kind, 0)


class Value:
    """A value that is the same on all ranks, such as a loop counter: ranks that join get rank 0's, and a program that is
    started again goes on with it. `value` is read and written. An array's elements are written in place."""

    def __init__(self, name: str, initial: Any, dtype: Any = None):
        self.name = name
        # a copy that nobody can move: its address belongs to the library from now on
        self._memory = np.array(initial, dtype=dtype, order="C", copy=True)
        element_type(self._memory.dtype)
        self._scalar = np.ndim(initial) == 0
        self._memory.setflags(write=True)

    @property
    def value(self) -> Any:
        """A number of Python for a single number; else the array itself."""
        return self._memory.item() if self._scalar and self._memory.dtype.names is None else self._memory

    @value.setter
    def value(self, new: Any) -> None:
        given = np.asarray(new)
        if given.shape != self._memory.shape:
            raise ValueError(f"value '{self.name}' has the shape {self._memory.shape}, not {given.shape}")
        fitting = np.can_cast(given.dtype, self._memory.dtype, "same_kind")
        if _letters(given.dtype) > _letters(self._memory.dtype) > 0:
            raise ValueError(f"value '{self.name}' is {self._memory.dtype}: {new!r} is longer")
        if not fitting and not (given.ndim == 0 and np.can_cast(np.min_scalar_type(given), self._memory.dtype, "same_kind")):
            raise TypeError(f"value '{self.name}' is {self._memory.dtype}: {given.dtype} would lose something")
        if given.dtype.kind in "iu" and self._memory.dtype.kind in "iu":
            limits = np.iinfo(self._memory.dtype)
            if given.size and (given.min() < limits.min or given.max() > limits.max):
                raise OverflowError(f"value '{self.name}' is {self._memory.dtype}: {new} does not fit")
        self._memory[...] = given

    def __repr__(self) -> str:
        return f"Value({self.name!r}, {self.value!r})"


class Values:
    """Values as attributes: `state.step += 1`. Made by `Session.values`."""

    def __init__(self, values: dict[str, Value]):
        object.__setattr__(self, "_values", values)

    def __getattr__(self, name: str) -> Any:
        try:
            return object.__getattribute__(self, "_values")[name].value
        except KeyError:
            raise AttributeError(f"no value '{name}' was registered") from None

    def __setattr__(self, name: str, new: Any) -> None:
        if name not in self._values:
            raise AttributeError(f"no value '{name}' was registered: they are named in Session.values")
        self._values[name].value = new

    def __dir__(self):
        return list(self._values)

    def __repr__(self) -> str:
        return "Values(" + ", ".join(f"{name}={one.value!r}" for name, one in self._values.items()) + ")"
