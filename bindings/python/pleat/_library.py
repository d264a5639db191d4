"""Finds the libpleat of the MPI that mpi4py was built for, and calls its functions."""

from __future__ import annotations

import ctypes
import functools
import operator
import os
import pathlib
import sysconfig
from typing import Any

import mpi4py
from mpi4py import MPI

from . import _prototypes as c
from .errors import InvalidError, UnsupportedError, error_of

LIBRARY_ENV = "PLEAT_LIBRARY"  # a library, or a directory of libraries, which is taken instead


def mpi_kind(version: str) -> tuple[int, str]:
    """Which MPI, by what it says of itself: its number in pleat.h, and its name in that of the library."""
    if "Open MPI" in version:
        return c.OPEN_MPI, "openmpi"
    if "MPICH" in version:
        return c.MPICH, "mpich"
    raise UnsupportedError(f"mpi4py was built for an MPI that Pleat does not know ({version.splitlines()[0].strip()}): "
                           "there are libpleat-openmpi and libpleat-mpich")


def places(name: str) -> list[str]:
    """Where the library may be, the best place first: what PLEAT_LIBRARY names, and nothing else; beside this package, in
    the tree where it was installed or built; wherever the system looks."""
    named = os.environ.get(LIBRARY_ENV)
    if named:
        return [os.path.join(named, name) if os.path.isdir(named) else named]
    folders = ["lib", os.path.join("lib", sysconfig.get_config_var("MULTIARCH") or ""), "lib64"]
    above = list(pathlib.Path(__file__).absolute().parents)[1:5]
    found = [str(parent / folder / name) for parent in above for folder in folders]
    return [path for path in dict.fromkeys(found) if os.path.exists(path)] + [name]


def handle_type(kind: int) -> Any:
    """MPI's handles in C: pointers with Open MPI, numbers with MPICH."""
    return ctypes.c_void_p if kind == c.OPEN_MPI else ctypes.c_int


@functools.lru_cache(maxsize=None)
def load() -> tuple[ctypes.CDLL, int]:
    """The library with its types, and the number of its MPI."""
    kind, suffix = mpi_kind(MPI.Get_library_version())
    name = f"libpleat-{suffix}.so.0"
    tried = places(name)
    for path in tried:
        try:
            library = ctypes.CDLL(path)
            break
        except OSError as error:
            failure = error
    else:
        raise UnsupportedError(f"cannot load {tried[-1]}, which mpi4py needs as it was built for {suffix} ({failure}): "
                               f"install libpleat-{suffix}0, or set {LIBRARY_ENV} to its directory")
    c.declare(library, handle_type(kind))
    return library, kind


def call(function, *arguments) -> int:
    """What the function returns, with a struct pleat_error as its last argument; raises what that says."""
    err = c.CError()
    outcome = function(*arguments, ctypes.byref(err))
    if outcome < 0:
        raise error_of(outcome, err.text.decode(errors="replace"))
    return outcome


def communicator(number: int, kind: type) -> Any:
    """The library's communicator with this number of Fortran's. It is borrowed: mpi4py frees none that it has not made."""
    found = kind(MPI.Comm.f2py(number))
    if found != MPI.COMM_NULL and mpi4py.rc.errors == "exception":
        found.Set_errhandler(MPI.ERRORS_RETURN)  # which mpi4py makes exceptions of, as for those of its own
    return found


def element_bytes(datatype: MPI.Datatype) -> int:
    """The size of an element of an MPI datatype in an array, which is its extent."""
    library, kind = load()
    size = ctypes.c_size_t()
    handle = handle_type(kind).from_address(MPI._addressof(datatype))
    call(library.pleat_element_bytes, handle, ctypes.byref(size))
    return size.value


def block_of(rows: int, size: int, rank: int) -> range:
    """The rows that a rank has when there are `size` ranks, as `Session.rows` and `Session.owned` spread them."""
    library, _ = load()
    first, count = ctypes.c_int64(), ctypes.c_int64()
    library.pleat_owned_block(integer(rows, "a number of rows", 64), integer(size, "a number of ranks"), integer(rank, "a rank"),
                              ctypes.byref(first), ctypes.byref(count))
    return range(first.value, first.value + count.value)


def integer(value: object, what: str, bits: int = 32) -> int:
    """The number, which C takes in so many bits: ctypes would cut it off."""
    try:
        found = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{what} is an integer, not {value!r}") from None
    if not -(1 << bits - 1) <= found < 1 << bits - 1:
        raise InvalidError(f"{what} is {found}, which does not fit into {bits} bits")
    return found
