"""What goes wrong, as exceptions: one class for each code of pleat-error.h, with Pleat's own sentence as its text."""

from __future__ import annotations

__all__ = ["Error", "InvalidError", "NoMemoryError", "SystemCallError", "NotFoundError", "ExistsError", "StateError",
           "UnsupportedError", "TooBigError", "ProtocolError", "NotPermittedError", "TimedOutError", "ClosedError",
           "CorruptError", "BusyError", "MPICallError", "StaleError", "error_of"]


class Error(Exception):
    """Pleat refused or failed. `str(error)` says what happened, to what, and what to do next; `code` is that of C."""

    code = 0


class InvalidError(Error, ValueError):
    """An argument or an input is wrong; the text says which."""

    code = -1


class NoMemoryError(Error, MemoryError):
    """Out of memory, or beyond a limit on address space."""

    code = -2


class SystemCallError(Error):
    """A system call failed; the text has its errno."""

    code = -3


class NotFoundError(Error, LookupError):
    """There is no such thing."""

    code = -4


class ExistsError(Error):
    """What is to be made exists already, such as a name."""

    code = -5


class StateError(Error):
    """Not possible in the present state, for example after `Session.begin`."""

    code = -6


class UnsupportedError(Error):
    """This build, or this MPI, cannot do it."""

    code = -7


class TooBigError(Error):
    """A stated limit is exceeded."""

    code = -8


class ProtocolError(Error):
    """The other side sent what makes no sense."""

    code = -9


class NotPermittedError(Error):
    """Not allowed for this user."""

    code = -10


class TimedOutError(Error):
    """Not done in time."""

    code = -11


class ClosedError(Error):
    """The other side is gone."""

    code = -12


class CorruptError(Error):
    """Stored data fail their check."""

    code = -13


class BusyError(Error):
    """In use elsewhere; try again."""

    code = -14


class MPICallError(Error):
    """An MPI call failed; the text has MPI's own words."""

    code = -15


class StaleError(StateError):
    """A local part was used that a change of size has replaced: its memory is gone. Ask its owner for `local` again."""


_BY_CODE = {one.code: one for one in list(globals().values())
            if isinstance(one, type) and issubclass(one, Error) and one not in (Error, StaleError)}


def error_of(code: int, text: str) -> Error:
    """The exception for a code of pleat-error.h."""
    made = _BY_CODE.get(code, Error)(text or f"libpleat failed with the code {code}")
    made.code = code
    return made
