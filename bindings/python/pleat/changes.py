"""What a session tells of changes of size."""

from __future__ import annotations

import enum
from typing import Any, NamedTuple

__all__ = ["Begun", "Adapted", "Moment", "Occasion", "Asked", "Answer", "Change", "Refuse", "STARTED", "JOINED", "SAME", "GREW",
           "SHRANK", "LEAVE", "BEFORE", "AFTER", "NOT_DONE"]


class Begun(enum.IntEnum):
    """What `Session.begin` tells a rank."""

    STARTED = 1
    """The rank was there from the start: fill in the initial data."""
    JOINED = 2
    """The data have just arrived: go on where a rank comes out of `Session.adapt`."""
    LEAVE = 3
    """This rank is not needed, or was not let in (`Session.why_left`): end."""


class Adapted(enum.IntEnum):
    """What an adaptation point did."""

    SAME = 0
    """No change: none was asked for, or it could not be done (`Session.failure`)."""
    GREW = 1
    """There are more ranks; communicator and local parts are new."""
    SHRANK = 2
    """There are fewer ranks, and this one stays; communicator and local parts are new."""
    LEAVE = 3
    """This rank is released, or the whole program is started again: end the loop."""


class Moment(enum.IntEnum):
    """When an action is called."""

    BEFORE = 1
    """Nothing has changed yet. The action may refuse the change."""
    AFTER = 2
    """Communicator, size and data are new."""
    NOT_DONE = 3
    """After BEFORE: the change could not be made, and nothing has changed."""


class Occasion(enum.IntEnum):
    """What a change of size is made for."""

    UNKNOWN = 0
    FREE = 1
    """A growth: processors are free."""
    WAITING = 2
    """A shrink: another job waits for the processors."""
    USER = 3
    """Its user asked for it."""
    LIMITS = 4
    """A shrink: the user or the program has changed the limits."""
    POLICY = 5
    """A shrink: the processors are divided anew."""
    TAKEN = 6
    """A shrink: the cluster takes back what it lent for a time."""

    @classmethod
    def _missing_(cls, value: object) -> Occasion:
        return cls.UNKNOWN  # numbers may be added


class Asked(enum.IntEnum):
    """What has become of what the program asked for."""

    NOTHING = 0
    PENDING = 1
    GRANTED = 2
    REFUSED = 3


class Answer(NamedTuple):
    """`Session.asked`: the state, and why (of what was granted in part, or refused)."""

    state: Asked
    why: str


class Change(NamedTuple):
    """A change of size. `current` 0: not known, as the program goes on from a checkpoint."""

    current: int
    to: int
    mandatory: bool
    relaunch: bool
    occasion: Occasion


class Refuse(Exception):
    """Raised by an action at BEFORE: the change is refused, and the program goes on at its size."""


def change_of(offer: Any) -> Change:
    """Of a struct pleat_offer."""
    return Change(offer.from_, offer.to, bool(offer.mandatory), bool(offer.relaunch), Occasion(offer.occasion))


STARTED, JOINED = Begun.STARTED, Begun.JOINED
SAME, GREW, SHRANK, LEAVE = Adapted.SAME, Adapted.GREW, Adapted.SHRANK, Adapted.LEAVE
BEFORE, AFTER, NOT_DONE = Moment.BEFORE, Moment.AFTER, Moment.NOT_DONE
