"""pleat.processes - programs that ask for processes themselves (libpleat-process), without MPI.

    from pleat import processes

    with processes.begin() as everybody:        # a process that was prepared waits here
        if everybody.begun is processes.JOINED:
            message = everybody.receive()
            everybody.send(message.source, bytes(reversed(message.data)))
        elif everybody.begun is processes.STARTED:
            other = everybody.add()             # never waits for a processor
            everybody.send(other.process, b"olleh")
            print(everybody.receive(other.process).data)

The functions are those of libpleat-process(3); docs/processes.md is their guide. Times are in seconds, None is for ever. What
goes wrong are the exceptions of `pleat.errors`. Started without Pleat a process is alone: adds raise `UnsupportedError`.
"""

from __future__ import annotations

import ctypes
import enum
import functools
import os
import pathlib
import sysconfig
from ctypes import POINTER, Structure, byref, c_char, c_char_p, c_int, c_int32, c_int64, c_size_t, c_void_p
from typing import Any, Iterable, Mapping, NamedTuple

from .errors import UnsupportedError, error_of

__all__ = ["begin", "Processes", "Begun", "STARTED", "JOINED", "LEAVE", "State", "Reason", "News", "Added", "About", "Notice",
           "Message", "ANY", "ANY_SITE"]

LIBRARY_ENV = "PLEAT_PROCESS_LIBRARY"  # the library's file, which is taken instead
ANY = -1  # any process, any type
ANY_SITE = "*"  # of a process that is wished: any of the job's sites
_FULL, _NOTHING = 1, 2  # enum pleat_process_outcome
_TEXT_SIZE = 480


class Begun(enum.IntEnum):
    """What `begin` tells a process."""

    STARTED = 1
    JOINED = 2
    LEAVE = 3


STARTED, JOINED, LEAVE = Begun


class State(enum.IntEnum):
    """Where a process is in its life."""

    COMING = 1
    RUNNING = 2
    GONE = 3


class Reason(enum.IntEnum):
    """Why a process is gone."""

    NO_REASON = 0
    ENDED = 1
    STOPPED = 2
    DIED = 3
    LOST = 4
    NOT_STARTED = 5
    UNSAID = 6


class News(enum.IntEnum):
    """What a notice is about; LEAVE: this process is to end."""

    CAME = 1
    GONE = 2
    LEAVE = 3


class Added(NamedTuple):
    """A process that was asked for: its number, and whether it was prepared; else it will come."""

    process: int
    ready: bool


class About(NamedTuple):
    """What is known of a process."""

    process: int
    parent: int | None
    state: State
    reason: Reason
    code: int | None
    signal: int | None


class Notice(NamedTuple):
    """What has become of a process. lost: messages to it that it is not known to have taken."""

    news: News
    process: int
    reason: Reason
    code: int | None
    signal: int | None
    lost: int


class Message(NamedTuple):
    """A message; of `probe` without its data."""

    source: int
    type: int
    data: bytes
    size: int


class _Error(Structure):
    _fields_ = [("code", c_int), ("text", c_char * _TEXT_SIZE)]


class _Settings(Structure):
    _fields_ = [("window_messages", c_size_t), ("window_bytes", c_size_t), ("finish_ms", c_int), ("answer_ms", c_int)]


class _Wish(Structure):
    _fields_ = [("argv", POINTER(c_char_p)), ("variables", POINTER(c_char_p)), ("directory", c_char_p), ("priority", c_int),
                ("site", c_char_p), ("node", c_char_p), ("architecture", c_char_p)]


class _Info(Structure):
    _fields_ = [("process", c_int32), ("parent", c_int32), ("state", c_int), ("reason", c_int), ("code", c_int), ("signal", c_int)]


class _Notice(Structure):
    _fields_ = [("news", c_int), ("process", c_int32), ("reason", c_int), ("code", c_int), ("signal", c_int), ("lost", c_int64)]


class _Message(Structure):
    _fields_ = [("source", c_int32), ("type", c_int32), ("size", c_size_t)]


_ERR = POINTER(_Error)
_FUNCTIONS: dict[str, tuple] = {
    "pleat_processes_begin": (c_int, POINTER(c_void_p), POINTER(_Settings), _ERR),
    "pleat_processes_finish": (c_int, c_void_p, _ERR),
    "pleat_process_self": (c_int32, c_void_p),
    "pleat_process_parent": (c_int32, c_void_p),
    "pleat_process_maximum": (c_int32, c_void_p),
    "pleat_process_list": (c_int, c_void_p, POINTER(c_int32), c_int),
    "pleat_process_about": (c_int, c_void_p, c_int32, POINTER(_Info), _ERR),
    "pleat_process_add": (c_int, c_void_p, POINTER(_Wish), POINTER(c_int32), _ERR),
    "pleat_process_cancel": (c_int, c_void_p, c_int32, _ERR),
    "pleat_process_stop": (c_int, c_void_p, c_int32, _ERR),
    "pleat_process_iteration": (None, c_void_p, c_int64),
    "pleat_process_returning": (c_int, c_void_p, c_int, _ERR),
    "pleat_process_notice": (c_int, c_void_p, POINTER(_Notice)),
    "pleat_process_leaving": (c_int, c_void_p),
    "pleat_process_descriptor": (c_int, c_void_p, _ERR),
    "pleat_process_send": (c_int, c_void_p, c_int32, c_int32, c_char_p, c_size_t, c_int, _ERR),
    "pleat_process_receive": (c_int, c_void_p, c_int32, c_int32, c_void_p, c_size_t, POINTER(_Message), c_int, _ERR),
    "pleat_process_probe": (c_int, c_void_p, c_int32, c_int32, POINTER(_Message), c_int, _ERR),
    "pleat_process_group_join": (c_int, c_void_p, c_char_p, _ERR),
    "pleat_process_group_leave": (c_int, c_void_p, c_char_p, _ERR),
    "pleat_process_group_list": (c_int, c_void_p, c_char_p, POINTER(c_int32), c_int),
    "pleat_process_group_name": (c_int, c_void_p, c_int32, c_int, c_char_p, c_size_t),
    "pleat_process_group_send": (c_int, c_void_p, c_char_p, c_int32, c_char_p, c_size_t, c_int, POINTER(c_int), _ERR),
}


def _places() -> list[str]:
    """Where the library may be: as the environment says, and nowhere else; beside this package; where the system looks."""
    name = "libpleat-process.so.0"
    named = os.environ.get(LIBRARY_ENV)
    if named:
        return [named]
    folders = ["lib", os.path.join("lib", sysconfig.get_config_var("MULTIARCH") or ""), "lib64"]
    above = list(pathlib.Path(__file__).absolute().parents)[1:5]
    found = [str(parent / folder / name) for parent in above for folder in folders]
    return [path for path in dict.fromkeys(found) if os.path.exists(path)] + [name]


@functools.lru_cache(maxsize=None)
def _load() -> ctypes.CDLL:
    tried = _places()
    for path in tried:
        try:
            library = ctypes.CDLL(path)
            break
        except OSError as error:
            failure = error
    else:
        raise UnsupportedError(f"cannot load {tried[-1]} ({failure}): install libpleat-process0, or set {LIBRARY_ENV} to its file")
    for name, (result, *arguments) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


def milliseconds(timeout: float | None) -> int:
    """Seconds, as C takes them; None is for ever."""
    return -1 if timeout is None else min(max(0, int(timeout * 1000 + 0.999)), 2**31 - 1)


def _texts(texts: Iterable[str] | None) -> Any:
    if texts is None:
        return None
    encoded = [text.encode() for text in texts]
    return (c_char_p * (len(encoded) + 1))(*encoded, None)


def number(value: int, what: str) -> int:
    """The number, which C takes in 32 bits."""
    if not -(2**31) <= value < 2**31:
        raise error_of(-1, f"{what} is {value}, which does not fit into 32 bits")
    return value


class Processes:
    """The processes of a run, as this one sees them: what `begin` returns. `begun` says how this one came to be."""

    def __init__(self, window_messages: int = 0, window_bytes: int = 0, finish_timeout: float = 0, answer_timeout: float = 0):
        self._library = _load()
        self._handle = c_void_p()
        settings = _Settings(window_messages, window_bytes, int(finish_timeout * 1000), int(answer_timeout * 1000))
        self.begun = Begun(self._call("pleat_processes_begin", byref(self._handle), byref(settings), about=False))

    def __enter__(self) -> "Processes":
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            self.finish()
        except Exception:
            if kind is None:  # else that one is what is said
                raise

    def _call(self, name: str, *arguments: Any, about: bool = True) -> int:
        if about and not self._handle:
            raise error_of(-6, "this process has finished: nothing can be asked of its run any more")
        err = _Error()
        first = (self._handle,) if about else ()
        outcome = getattr(self._library, name)(*first, *arguments, byref(err))
        if outcome < 0:
            raise error_of(outcome, err.text.decode(errors="replace"))
        return outcome

    def _ask(self, name: str, *arguments: Any) -> int:
        if not self._handle:
            raise error_of(-6, "this process has finished: nothing can be asked of its run any more")
        return getattr(self._library, name)(self._handle, *arguments)

    def finish(self) -> None:
        """Ends this process's part; waits until others have received what was sent to them. Twice does no harm."""
        if self._handle:
            handle, err = self._handle, _Error()
            self._handle = c_void_p()
            outcome = self._library.pleat_processes_finish(handle, byref(err))
            if outcome < 0:
                raise error_of(outcome, err.text.decode(errors="replace"))

    @property
    def handle(self) -> c_void_p:
        """What C knows these processes by, for `pleat.joining`."""
        return self._handle

    @property
    def library(self) -> str:
        """The file of the library, as it was loaded."""
        return self._library._name

    # ---- who there is ----

    @property
    def self(self) -> int:
        """This process's number."""
        return self._ask("pleat_process_self")

    @property
    def parent(self) -> int | None:
        """The process that asked for this one; None: it is one of the start."""
        found = self._ask("pleat_process_parent")
        return None if found < 0 else found

    @property
    def maximum(self) -> int:
        """The most processes at a time; 0: not known."""
        return self._ask("pleat_process_maximum")

    def _listed(self, name: str, *arguments: Any) -> list[int]:
        room = 64
        while True:
            found = (c_int32 * room)()
            count = self._ask(name, *arguments, found, room)
            if count <= room:
                return list(found[:count])
            room = count

    def list(self) -> list[int]:
        """The processes that are coming or running, with this one."""
        return self._listed("pleat_process_list")

    def about(self, process: int) -> About:
        """What is known of a process."""
        info = _Info()
        self._call("pleat_process_about", number(process, "a process"), byref(info))
        return About(info.process, None if info.parent < 0 else info.parent, State(info.state), Reason(info.reason),
                     None if info.code < 0 else info.code, info.signal or None)

    # ---- adding and stopping ----

    def add(self, argv: Iterable[str] | None = None, variables: Mapping[str, str] | None = None, directory: str | None = None,
            priority: int = 0, site: str | None = None, node: str | None = None, architecture: str | None = None) -> Added:
        """Asks for a process: its number, at once; and whether it was prepared. Never waits for a processor. site: where it has to
        be; ANY_SITE: where a processor is first."""
        def text(value: str | None) -> bytes | None:
            return None if value is None else value.encode()
        wish = _Wish(_texts(argv), _texts(None if variables is None else [f"{key}={value}" for key, value in variables.items()]),
                     text(directory), number(priority, "a priority"), text(site), text(node), text(architecture))
        process = c_int32(-1)
        outcome = self._call("pleat_process_add", byref(wish), byref(process))
        return Added(process.value, outcome == 1)

    def cancel(self, process: int) -> None:
        """Withdraws a request of this process's own that waits, or whose process is just starting."""
        self._call("pleat_process_cancel", number(process, "a process"))

    def stop(self, process: int) -> None:
        """Ends a process: it gets a notice, and SIGTERM later."""
        self._call("pleat_process_stop", number(process, "a process"))

    def iteration(self, number: int) -> None:
        """Says that an iteration begins, for policies that predict the demand."""
        self._ask("pleat_process_iteration", number)

    def returning(self, count: int) -> None:
        """Says that the program will soon give back so many of its processes: fewer are prepared meanwhile. 0: none."""
        self._call("pleat_process_returning", number(count, "a count"))

    # ---- notices ----

    def notice(self) -> Notice | None:
        """Takes the next notice; None: there is none. Does not wait."""
        news = _Notice()
        if not self._ask("pleat_process_notice", byref(news)):
            return None
        return Notice(News(news.news), news.process, Reason(news.reason), None if news.code < 0 else news.code, news.signal or None,
                      news.lost)

    @property
    def leaving(self) -> bool:
        """Whether this process is to finish and exit."""
        return bool(self._ask("pleat_process_leaving"))

    def fileno(self) -> int:
        """A descriptor that is readable while a message or a notice can be taken: for `select`, `asyncio`."""
        return self._call("pleat_process_descriptor")

    # ---- messages ----

    def send(self, process: int, data: bytes, type: int = 0, timeout: float | None = None) -> bool:
        """Sends bytes; waits while the window is full. False: it is still full, and nothing was sent."""
        data = bytes(data)
        return self._call("pleat_process_send", number(process, "a process"), number(type, "a type"), data, len(data),
                          milliseconds(timeout)) != _FULL

    def receive(self, source: int = ANY, type: int = ANY, timeout: float | None = None) -> Message | None:
        """Takes the first message from that process and of that type; None: none has come in time."""
        found = self.probe(source, type, timeout)
        if found is None:
            return None
        data = ctypes.create_string_buffer(found.size or 1)
        message = _Message()
        self._call("pleat_process_receive", found.source, found.type, data, found.size, byref(message), 0)
        return Message(message.source, message.type, data.raw[:message.size], message.size)

    def probe(self, source: int = ANY, type: int = ANY, timeout: float | None = None) -> Message | None:
        """The message that `receive` would take, without its data."""
        message = _Message()
        if self._call("pleat_process_probe", number(source, "a process"), number(type, "a type"), byref(message),
                      milliseconds(timeout)) == _NOTHING:
            return None
        return Message(message.source, message.type, b"", message.size)

    # ---- groups ----

    def join(self, group: str) -> None:
        """Joins a group, which is there from its first member on."""
        self._call("pleat_process_group_join", group.encode())

    def leave(self, group: str) -> None:
        """Leaves a group."""
        self._call("pleat_process_group_leave", group.encode())

    def members(self, group: str) -> list[int]:
        """The members of a group that are running."""
        return self._listed("pleat_process_group_list", group.encode())

    def groups(self, process: int) -> list[str]:
        """The names of the groups that a process is in."""
        names, name = [], ctypes.create_string_buffer(64)
        while self._ask("pleat_process_group_name", number(process, "a process"), len(names), name, len(name)) > len(names):
            names.append(name.value.decode())
        return names

    def tell(self, group: str, data: bytes, type: int = 0, timeout: float | None = None) -> int | None:
        """Sends to all members but this process; to how many. None: not to all, as a window is full."""
        data, sent = bytes(data), c_int()
        full = self._call("pleat_process_group_send", group.encode(), number(type, "a type"), data, len(data), milliseconds(timeout),
                          byref(sent)) == _FULL
        return None if full else sent.value


def begin(window_messages: int = 0, window_bytes: int = 0, finish_timeout: float = 0, answer_timeout: float = 0) -> Processes:
    """Begins: see pleat_processes_begin. A process that was prepared waits here. 0: as without."""
    return Processes(window_messages, window_bytes, finish_timeout, answer_timeout)
