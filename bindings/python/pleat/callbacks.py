"""The program's functions that a session calls: actions, offers, plans, grids, sizes.

Nothing that they raise may pass through C. The first exception is kept, the library is told what comes nearest (a refusal,
a failure), and the call of the session in which it happened raises it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Sequence

from . import _prototypes as c
from ._library import call, integer
from .changes import Change, Moment, Occasion, Refuse, change_of
from .errors import InvalidError

if TYPE_CHECKING:
    import ctypes

Action = Callable[[Moment, Change], Any]
Offer = Callable[[Change], int]
Plan = Callable[[Moment, Change, "list[str]"], Sequence[str]]
Grid = Callable[[str, int, "tuple[int, ...]"], Sequence[int]]


class Callbacks:
    """The part of a session that calls back."""

    _c: ctypes.CDLL
    _handle: ctypes.c_void_p

    def __init__(self) -> None:
        self._pending: BaseException | None = None
        self._acting = False
        self._renewed = False
        self._kept: dict[Any, Any] = {}  # C has their addresses
        self._actions: list[str] = []

    def _remember(self, error: BaseException) -> None:
        if self._pending is None:
            self._pending = error

    def _raise_pending(self) -> None:
        pending, self._pending = self._pending, None
        if pending is not None:
            raise pending

    def _check_open(self) -> None:
        raise NotImplementedError

    def _renew(self, reason: str) -> None:
        raise NotImplementedError

    def _end_all_if_any(self, error: BaseException | None) -> None:
        raise NotImplementedError

    def on_offer(self, callback: Offer | None) -> Offer | None:
        """Has rank 0 asked how much of an offer it takes: `callback(change)` returns a number of ranks between
        `change.current` and `change.to`. For jobs with `--asks`. None: every offer is taken. Usable as a decorator."""
        self._check_open()

        def ask(current: int, offered: int, mandatory: int, _arg: Any) -> int:
            try:
                offer = self._c.pleat_session_offer(self._handle)
                occasion = Occasion(offer.contents.occasion) if offer else Occasion.UNKNOWN
                accepted = callback(Change(current, offered, bool(mandatory), False, occasion))  # type: ignore[misc]
                return integer(accepted, "the number of ranks that is accepted")
            except BaseException as error:
                self._remember(error)
                return current
        made = c.OFFER_CALLBACK(ask) if callback else c.OFFER_CALLBACK(0)
        self._c.pleat_session_on_offer(self._handle, made, None)
        self._kept["offer"] = made
        return callback

    def action(self, name: str, function: Action | None = None) -> Any:
        """Registers `function(moment, change)`, which all ranks call before and after a change of size, before begin. At
        BEFORE it may raise `Refuse`, or return False: the change is refused. At AFTER and NOT_DONE a failure ends the
        program, as another exception does at any time. Usable as a decorator: `@session.action("solver")`."""
        if function is None:
            return lambda decorated: self.action(name, decorated)
        self._check_open()
        call_it: Action = function

        def act(_session: int, moment: int, offer: Any, _arg: Any) -> int:
            now = Moment(moment)
            acting, self._acting = self._acting, True
            try:
                if now is Moment.AFTER and not self._renewed:
                    self._renew("a change of size has replaced this part: ask for it again")
                return int(call_it(now, change_of(offer.contents)) is False)
            except Refuse as error:
                if now is not Moment.BEFORE:
                    self._remember(error)
                return 1
            except BaseException as error:
                self._end_all_if_any(error)  # others may wait for this rank in the action
                self._remember(error)
                return 1
            finally:
                self._acting = acting
        made = c.ACTION(act)
        if not isinstance(name, str) or "\0" in name:
            raise InvalidError(f"an action's name is a text without a null character, not {name!r}")
        call(self._c.pleat_action_register, self._handle, name.encode(), made, None)
        self._actions.append(name)
        self._kept["action", name] = made
        return function

    def on_plan(self, callback: Plan | None) -> Plan | None:
        """Has rank 0 plan each change: `callback(moment, change, actions)` gets the names of all actions, and returns those
        that are to be called, in that order. Before begin. Usable as a decorator."""
        self._check_open()

        def plan(moment: int, offer: Any, actions: Any, count: int, _arg: Any) -> int:
            try:
                names = [self._actions[actions[i]] for i in range(count)]
                chosen = list(callback(Moment(moment), change_of(offer.contents), names))  # type: ignore[misc]
                unknown = [name for name in chosen if name not in names]
                if unknown or len(set(chosen)) != len(chosen):
                    raise InvalidError(f"a plan names each of {names} at most once, not {chosen}")
                for i, name in enumerate(chosen):
                    actions[i] = self._actions.index(name)
                return len(chosen)
            except BaseException as error:
                self._remember(error)
                return -1
        made = c.PLAN_CALLBACK(plan) if callback else c.PLAN_CALLBACK(0)
        self._c.pleat_session_on_plan(self._handle, made, None)
        self._kept["plan"] = made
        return callback

    def on_grid(self, callback: Grid | None) -> Grid | None:
        """Has the program name the process grids of its arrays: `callback(name, size, proposed)` returns as many numbers as
        `proposed` has. It depends on nothing but its arguments. Before the arrays are made. Usable as a decorator."""
        self._check_open()

        def choose(name: bytes, size: int, dims: int, grid: Any, _arg: Any) -> None:
            try:
                chosen = list(callback(name.decode(), size, tuple(grid[:dims])))  # type: ignore[misc]
                if len(chosen) != dims:
                    raise InvalidError(f"the grid of '{name.decode()}' has {dims} dimensions, not {len(chosen)}")
                for d, processes in enumerate(chosen):
                    grid[d] = integer(processes, "a number of processes")
            except BaseException as error:
                self._remember(error)
                grid[0] = -1  # which is none: the size is refused
        made = c.GRID_CALLBACK(choose) if callback else c.GRID_CALLBACK(0)
        self._c.pleat_session_on_grid(self._handle, made, None)
        self._kept["grid"] = made
        return callback

    def _limits_if(self, accepts: Callable[[int], bool]) -> None:
        def test(ranks: int, _arg: Any) -> int:
            try:
                return int(bool(accepts(ranks)))
            except BaseException as error:
                self._remember(error)
                return 0
        try:
            call(self._c.pleat_session_limits_if, self._handle, c.SIZE_TEST(test), None)
        finally:
            self._raise_pending()
