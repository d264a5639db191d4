"""libpleat-sim by ctypes: what include/pleat-sim.h declares."""

import ctypes
import os
import pathlib

INTERFACE = 1
SONAME = "libpleat-sim.so.0"

# enum pleat_simulation_asked
GROW, SHRINK, START, KEY = 1, 2, 3, 4
# enum pleat_simulation_list
WAITING, MALLEABLE, OTHERS = 1, 2, 3
# enum pleat_simulation_kind
INTEGER, REAL, LABEL = 1, 2, 3
# enum pleat_error_code, as far as it matters here
NOTFOUND, NOMEM, CLOSED = -4, -2, -12

ANSWER = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int, ctypes.c_int64, ctypes.c_uint32,
                          ctypes.c_int64)
TOLD = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


class SimulationError(Exception):
    """The simulator's words for what went wrong. `code` is one of pleat-error.h."""

    def __init__(self, text, code):
        super().__init__(text)
        self.code = code


class ErrorRecord(ctypes.Structure):
    """struct pleat_error"""
    _fields_ = [("code", ctypes.c_int), ("text", ctypes.c_char * 480)]


class Column(ctypes.Structure):
    """struct pleat_simulation_column"""
    _fields_ = [("name", ctypes.c_char_p), ("values", ctypes.c_void_p),
                ("labels", ctypes.POINTER(ctypes.c_char_p)), ("label_count", ctypes.c_size_t),
                ("kind", ctypes.c_int)]


def _candidates():
    """Where the library may be: as the environment says; beside the module, in a tree that was installed; where the
    system looks."""
    named = os.environ.get("PLEAT_SIM_LIBRARY")
    if named:
        return [named]
    here = pathlib.Path(__file__).resolve().parent
    try:
        beside = (here / "library").read_text(encoding="utf-8").strip()
    except OSError:
        return [SONAME]
    return [str(here / beside / SONAME), SONAME]


def _load():
    failed = []
    for name in _candidates():
        try:
            return ctypes.CDLL(name)
        except OSError as error:
            failed.append(str(error))
    raise ImportError("pleat.sim needs libpleat-sim, which is not found (PLEAT_SIM_LIBRARY names its file): "
                      + "; ".join(failed))


def _declare(library):
    """The types of all functions. `e` stands for struct pleat_error *."""
    of = {"i": ctypes.c_int, "l": ctypes.c_int64, "u": ctypes.c_uint32, "U": ctypes.c_uint64, "z": ctypes.c_size_t,
          "d": ctypes.c_double, "s": ctypes.c_char_p, "S": ctypes.POINTER(ctypes.c_char_p), "p": ctypes.c_void_p,
          "e": ctypes.POINTER(ErrorRecord), "c": ctypes.POINTER(Column), "L": ctypes.POINTER(ctypes.c_int64),
          "V": ctypes.POINTER(ctypes.c_uint32), "P": ctypes.POINTER(ctypes.c_void_p), "a": ANSWER, "t": TOLD, "-": None}
    functions = {
        "interface": "i:", "create": "i:Pe", "destroy": "-:p", "read": "i:pssde", "read_text": "i:pszse",
        "generate": "i:psUe", "convert": "i:psdddd" "ss" "lULe", "copy_workload": "i:ppe", "scale_load": "i:pde",
        "write": "i:pse", "notes": "s:p", "app": "s:pu", "machine": "l:p", "site": "i:psle", "platform": "i:pse",
        "set": "i:psse", "policy_at": "i:zSSS", "own_policy": "i:psape", "fail": "-:ps", "on_progress": "-:ptp",
        "now_us": "l:p", "list": "z:piuVz", "of_component": "l:pli", "site_count": "u:p", "site_name": "s:pu",
        "of_site": "l:pui", "offer_grow": "l:pll", "offer_shrink": "l:pll", "start": "i:pl", "run": "i:pe",
        "rows": "z:ps", "column": "i:pszc"}
    for name, types in functions.items():
        function = getattr(library, "pleat_simulation_" + name)
        result, arguments = types.split(":")
        function.restype = of[result]
        function.argtypes = [of[letter] for letter in arguments]
    return library


LIBRARY = _load()
LIBRARY.pleat_simulation_interface.restype = ctypes.c_int
if LIBRARY.pleat_simulation_interface() != INTERFACE:
    raise ImportError(f"libpleat-sim has interface {LIBRARY.pleat_simulation_interface()}, and this module knows "
                      f"{INTERFACE}: both are of one version of Pleat")
_declare(LIBRARY)


class Simulation:
    """One struct pleat_simulation; ends with the object."""

    def __init__(self):
        self.handle = ctypes.c_void_p()
        self.call("create", ctypes.byref(self.handle))

    def __del__(self, destroy=LIBRARY.pleat_simulation_destroy):
        handle, self.handle = getattr(self, "handle", None), None
        if handle:
            destroy(handle)

    def call(self, name, *arguments):
        """Calls a function that reports errors; raises them. All but "create" are about this simulation."""
        error = ErrorRecord()
        function = getattr(LIBRARY, "pleat_simulation_" + name)
        about = () if name == "create" else (self.handle,)
        code = function(*about, *arguments, ctypes.byref(error))
        if code == NOMEM:
            raise MemoryError(error.text.decode(errors="replace"))
        if code < 0:
            raise SimulationError(error.text.decode(errors="replace"), code)

    def ask(self, name, *arguments):
        """Calls a function that does not fail."""
        return getattr(LIBRARY, "pleat_simulation_" + name)(self.handle, *arguments)

    def notes(self):
        return self.ask("notes").decode(errors="replace").splitlines()
