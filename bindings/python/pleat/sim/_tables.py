"""Tables of the library as data frames, or as dicts of columns where there is no pandas."""

import ctypes

from . import _library

try:
    import numpy
except ImportError:
    numpy = None
try:
    import pandas
except ImportError:
    pandas = None


def _values(column, rows):
    kind = ctypes.c_double if column.kind == _library.REAL else ctypes.c_int64
    array = ctypes.cast(column.values, ctypes.POINTER(kind * rows)).contents
    if numpy is None:
        return list(array)
    return numpy.ctypeslib.as_array(array).copy() if rows else numpy.empty(0, dtype=kind)


def _labelled(codes, labels):
    """What the codes of a column stand for; -1: nothing."""
    if pandas is not None:
        return pandas.Categorical.from_codes(codes, labels)
    texts = [labels[code] if code >= 0 else None for code in codes]
    return texts if numpy is None else numpy.array(texts, dtype=object)


def columns(simulation, table):
    """{name: values} of a table, in its order."""
    rows = simulation.ask("rows", table.encode())
    found = {}
    column = _library.Column()
    while True:
        code = simulation.ask("column", table.encode(), len(found), ctypes.byref(column))
        if code == _library.NOMEM:
            raise MemoryError(f"out of memory for the table {table}")
        if code:
            return found
        values = _values(column, rows)
        if column.kind == _library.LABEL:
            labels = [column.labels[i].decode(errors="replace") for i in range(column.label_count)]
            values = _labelled(values, labels)
        found[column.name.decode()] = values


def frame(found):
    """A data frame of columns, where there is pandas; else as they are."""
    return found if pandas is None else pandas.DataFrame(found)


def plain(values):
    """A column as a list of Python's own numbers and texts."""
    return values.tolist() if hasattr(values, "tolist") else list(values)
