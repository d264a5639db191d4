"""The session of a program: its communicator, its adaptation points, what it says of itself and asks for."""

from __future__ import annotations

import contextlib
import ctypes
import sys
import traceback
from typing import Any, Callable, Iterable, Iterator

from mpi4py import MPI

from . import _prototypes as c
from ._library import call, communicator, integer, load
from .callbacks import Callbacks
from .changes import Adapted, Answer, Asked, Begun, Change, change_of
from .errors import Error, InvalidError, StateError, error_of
from .registering import Registering

__all__ = ["Session", "Point"]

_OPEN, _RUNNING, _LEAVING, _OVER = range(4)


class Point:
    """A named adaptation point, made by `Session.point`."""

    def __init__(self, session: Session, name: str, number: int):
        self.session, self.name, self.number = session, name, number

    def adapt(self) -> Adapted:
        """Passes this point, as `Session.adapt` does."""
        return self.session._adapt(self.session._c.pleat_point_adapt, self.number)

    def __repr__(self) -> str:
        return f"<Point {self.name!r}>"


class Session(Registering, Callbacks):
    """A malleable program's session. There is one at a time; all ranks call its methods in the same order.

        with pleat.Session() as session:
            state = session.values(step=0)
            plate = session.rows("plate", n, n, halo=1)
            if session.begin() is pleat.STARTED:
                plate.local[:] = 1
            while not session.leaving and state.step < steps:
                ...                      # on session.comm, with plate.local
                state.step += 1
                session.adapt()

    At the end of the `with` block the session is finished, on all ranks. An exception that leaves the block ends all ranks:
    its traceback is printed, and MPI_Abort is called, as the other ranks would wait for this one for ever. With
    `abort=False`, and where there is one rank only, it is passed on, and the session is left unfinished.
    """

    def __init__(self, abort: bool = True):
        self._c, kind = load()
        self._state = _OPEN
        self._abort = abort
        self._left = ""
        self._comm: MPI.Intracomm | None = None
        self._inside = False
        Registering.__init__(self)
        Callbacks.__init__(self)
        handle = ctypes.c_void_p()
        call(self._c.pleat_session_create_for, ctypes.byref(handle), c.API_VERSION, kind)
        self._handle = handle

    # ---- its life

    def begin(self) -> Begun:
        """Begins, when all data are registered. STARTED: fill in the initial data. JOINED: they have arrived. LEAVE: this
        rank ends quietly, see `why_left`."""
        self._check_open()
        err = c.CError()
        outcome = self._enter(lambda: self._c.pleat_session_begin(self._handle, ctypes.byref(err)))
        begun = Begun(outcome) if outcome > 0 else None
        if outcome >= 0:
            self._began = True
            self._state = _LEAVING if begun is Begun.LEAVE else _RUNNING
        if begun is Begun.LEAVE:
            self._left = err.text.decode(errors="replace") if err.code else "this rank is not needed"
            self._renew("this rank leaves")
        self._raise(outcome, err)
        assert begun is not None
        return begun

    def adapt(self) -> Adapted:
        """The adaptation point, once in each iteration: here the registered data are the whole state, and no message is on
        its way. After GREW and SHRANK `comm` and all local parts are new. After LEAVE, `leaving` is true: leave the loop."""
        return self._adapt(self._c.pleat_session_adapt)

    def _adapt(self, function: Any, *arguments: int) -> Adapted:
        self._check_running("an adaptation point is passed")
        err = c.CError()
        outcome = self._enter(lambda: function(self._handle, *arguments, ctypes.byref(err)))
        if outcome > 0 and not self._renewed:
            self._renew("this rank leaves" if outcome == Adapted.LEAVE else
                        "a change of size has replaced this part: ask for it again")
        if outcome == Adapted.LEAVE:
            self._state = _LEAVING
            self._left = "the processors are needed elsewhere, or the program is started again at another size"
        self._raise(outcome, err)
        return Adapted(outcome)

    def _enter(self, function: Callable[[], int]) -> int:
        """Calls what may call back, and change the size."""
        self._inside, self._renewed = True, False
        try:
            return function()
        finally:
            self._inside = False
            for data in self._data:
                data._forget()

    def _raise(self, outcome: int, err: c.CError) -> None:
        pending, self._pending = self._pending, None
        if outcome < 0:
            raise error_of(outcome, err.text.decode(errors="replace")) from pending
        if pending is not None:
            raise pending

    def _renew(self, reason: str) -> None:
        self._renewed = True
        self._comm = None
        for data in self._data:
            data._renew(reason)

    def finish(self) -> None:
        """Ends the session: the local data are gone. On all ranks; one that leaves does it on its own. A second time it does
        nothing."""
        if self._inside:
            raise StateError("a session is not finished inside begin or adapt")
        if self._state != _OVER:
            self._state = _OVER
            self._renew("the session is finished")
            self._c.pleat_session_finish(self._handle)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        quiet = error is None or isinstance(error, SystemExit) and error.code in (None, 0)
        if quiet:
            self.finish()
        elif self._abort and self._stays_away(error):
            raise SystemExit(0) from None  # another exit code would end the ranks that go on
        else:
            self._end_all_if_any(error)

    def _stays_away(self, error: BaseException | None) -> bool:
        """A rank that was to join, and fails before begin, must not end those that run. They wait for it there: since it has
        registered less than they have, they go on without it."""
        if self._state != _OPEN or not self.joined:
            return False
        traceback.print_exception(error)
        if self._c.pleat_session_begin(self._handle, None) != Begun.LEAVE:
            return False
        self._state = _LEAVING
        self.finish()
        return True

    def _end_all_if_any(self, error: BaseException | None) -> None:
        """Ends all ranks, if there are others."""
        others = self._state != _OVER and self._c.pleat_session_size(self._handle) > 1 or MPI.COMM_WORLD.Get_size() > 1
        if not self._abort or not others:
            return
        if not isinstance(error, SystemExit):
            traceback.print_exception(error)
        err = c.CError(code=StateError.code)
        err.text = f"{type(error).__name__}: {error}".encode()[: c.TEXT_SIZE - 1]
        sys.stdout.flush()
        sys.stderr.flush()
        self._c.pleat_or_abort(StateError.code, ctypes.byref(err))

    def _check_open(self) -> None:
        if self._state == _OVER:
            raise StateError("the session is finished")
        if self._state == _LEAVING:
            raise StateError(f"this rank leaves the program ({self._left}): finish the session, and exit with 0")

    def _check_running(self, what: str) -> None:
        self._check_open()
        if self._acting:
            return
        if self._state == _OPEN:
            raise StateError(f"{what} after Session.begin only")
        if self._inside:
            raise StateError(f"{what} outside begin and adapt only, and in actions")

    # ---- where this rank is

    @property
    def comm(self) -> MPI.Intracomm:
        """The communicator to compute on, instead of `MPI.COMM_WORLD`. It is the library's: do not free it. After a change
        it is another one. `MPI.COMM_NULL` in a rank that leaves."""
        if self._state in (_LEAVING, _OVER):
            return MPI.COMM_NULL  # type: ignore[return-value]
        if self._comm is None or self._inside:
            self._comm = communicator(self._c.pleat_session_comm_fortran(self._handle), MPI.Intracomm)
        assert self._comm is not None
        return self._comm

    @property
    def rank(self) -> int:
        """This rank's number in `comm`. Ranks keep their numbers: new ranks get the next ones."""
        self._check_not_over()
        return self._c.pleat_session_rank(self._handle)

    @property
    def size(self) -> int:
        """The number of ranks."""
        self._check_not_over()
        return self._c.pleat_session_size(self._handle)

    @property
    def leaving(self) -> bool:
        """Whether this rank was told to leave: leave the loop, end the `with` block, and exit with 0."""
        return self._state == _LEAVING

    @property
    def why_left(self) -> str:
        """Why this rank leaves; empty: it does not."""
        return self._left

    @property
    def joined(self) -> bool:
        """Whether this rank was started to join a running program."""
        self._check_not_over()
        return bool(self._c.pleat_session_joined(self._handle))

    @property
    def resumed(self) -> bool:
        """Whether the whole program was started again, and goes on from its saved state or from a checkpoint: files that it
        wrote before must be continued, not begun."""
        self._check_not_over()
        return bool(self._c.pleat_session_resumed(self._handle))

    @property
    def malleable(self) -> bool:
        """Whether the program runs under Pleat, and may be resized."""
        self._check_not_over()
        return bool(self._c.pleat_session_malleable(self._handle))

    def _check_not_over(self) -> None:
        if self._state == _OVER:
            raise StateError("the session is finished")

    # ---- what happened, and what may come

    @property
    def failure(self) -> Error | None:
        """Why the last resize could not be done; None: none has failed."""
        self._check_not_over()
        found = self._c.pleat_session_failure(self._handle).contents
        return error_of(found.code, found.text.decode(errors="replace")) if found.code else None

    @property
    def change(self) -> Change | None:
        """In the callback of `on_offer`: the change that is offered. In an action: the one under way. Else the last one that
        was under way; None: there was none."""
        self._check_not_over()
        found = self._c.pleat_session_offer(self._handle)
        return change_of(found.contents) if found else None

    def announce(self) -> None:
        """Says, before begin and on all ranks, that this program asks `pending`. Resizes come one point later then."""
        self._check_open()
        call(self._c.pleat_session_announce, self._handle)

    @property
    def pending(self) -> bool:
        """Whether a resize may come at the next adaptation point: the same on all ranks. Needs `announce`."""
        self._check_not_over()
        return bool(self._c.pleat_session_pending(self._handle))

    def point(self, name: str, times_only: bool = False) -> Point:
        """Names an adaptation point, before begin. times_only: nothing is changed there, passages are counted."""
        self._check_open()
        number = ctypes.c_int()
        call(self._c.pleat_point_register, self._handle, _text(name), 2 if times_only else 1, ctypes.byref(number))
        self._points[number.value] = Point(self, name, number.value)
        return self._points[number.value]

    @property
    def last_point(self) -> Point | None:
        """The point at which the program was last resized or started again, and from which it goes on. The one without a
        name is that of `adapt`. None: the program was not resized yet."""
        self._check_not_over()
        number = self._c.pleat_session_point(self._handle)
        return self._points.setdefault(number, Point(self, "", number)) if number >= 0 else None

    @contextlib.contextmanager
    def not_now(self) -> Iterator[None]:
        """A section in which the program is not resized, saved or stopped. Any rank may be in one by itself."""
        self._check_running("a section begins")
        call(self._c.pleat_section_begin, self._handle)
        try:
            yield
        finally:
            if self._state == _RUNNING and not self._inside:
                call(self._c.pleat_section_end, self._handle)

    # ---- what the program can use, wants, and expects

    def limit(self, most: int) -> None:
        """This program can use at most so many ranks from now on; 0: any number. Rank 0's call counts."""
        self._check_open()
        call(self._c.pleat_session_limit, self._handle, integer(most, "a number of ranks"))

    def limits(self, least: int = 0, most: int = 0, sizes: str | Iterable[int] | Callable[[int], bool] = "any") -> None:
        """Which numbers of ranks this program can use. sizes: "any", "powers", "squares", "grids", "multiples:N", the numbers
        themselves, or a function that says it of a number (then without least and most). Before begin the start obeys it.
        Rank 0's call counts."""
        self._check_open()
        if callable(sizes):
            if least or most:
                raise InvalidError("a function that says which sizes suit says also which are too small or too large")
            self._limits_if(sizes)
            return
        text = sizes if isinstance(sizes, str) else ",".join(str(integer(one, "a number of ranks")) for one in sizes)
        if not text:
            raise InvalidError("there is no number of ranks among the sizes that suit")
        call(self._c.pleat_session_limits, self._handle, integer(least, "a number of ranks"),
             integer(most, "a number of ranks"), _text(text))

    def ask(self, more: int, mandatory: bool = False, within: float | None = None) -> None:
        """Asks for so many ranks more than there are; 0: nothing is wanted any more. mandatory: the program cannot go on
        without them; within: likewise, but for so many seconds. Nothing waits: `asked` tells. Rank 0's call counts."""
        self._check_open()
        more = integer(more, "a number of ranks")
        if within is not None:
            call(self._c.pleat_session_ask_within, self._handle, more, float(within))
        else:
            call(self._c.pleat_session_ask, self._handle, more, bool(mandatory))

    def give_back(self, fewer: int) -> None:
        """Gives back so many of the ranks that there are. Rank 0's call counts."""
        self._check_open()
        call(self._c.pleat_session_give_back, self._handle, integer(fewer, "a number of ranks"))

    @property
    def asked(self) -> Answer:
        """What has become of what the program asked for, on rank 0."""
        self._check_not_over()
        err = c.CError()
        return Answer(Asked(self._c.pleat_session_asked(self._handle, ctypes.byref(err))), err.text.decode(errors="replace"))

    def expect(self, seconds: float | None = None, iterations: int | None = None, bytes: int | None = None) -> None:
        """What the program expects: for how long it computes at its size, or how many adaptation points it passes; how many
        bytes a resize moves. Rank 0's call counts."""
        self._check_open()
        call(self._c.pleat_session_expect, self._handle, -1.0 if seconds is None else float(seconds),
             -1 if iterations is None else integer(iterations, "a number of iterations", 64),
             -1 if bytes is None else integer(bytes, "a number of bytes", 64))

    def grid(self, *processes: int) -> None:
        """The process grid on which the program computes from now on, until its size changes: `grid(2, 3)`. Without numbers it
        is that of the first array that is distributed in two dimensions. Rank 0's call counts."""
        self._check_open()
        numbers = [integer(number, "a number of processes") for number in processes]
        try:
            call(self._c.pleat_session_grid, self._handle, len(numbers), (ctypes.c_int * max(len(numbers), 1))(*numbers))
        finally:
            self._raise_pending()


def _text(text: str) -> bytes:
    if not isinstance(text, str):
        raise TypeError(f"a text is needed, not {text!r}")
    if "\0" in text:
        raise InvalidError(f"there is a null character in {text!r}")
    return text.encode()
