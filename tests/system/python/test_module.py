"""What the module pleat does in a single process, and what it says of wrong input: exceptions, never a crash. Sessions follow
one another here, of which a process has one at a time."""

import ctypes.util
import pickle
import subprocess
import sys

import numpy as np
import pytest
from mpi4py import MPI

import pleat
from pleat import _library


@pytest.fixture
def session():
    with pleat.Session() as made:
        yield made


def begun(session):
    assert session.begin() is pleat.STARTED
    return session


# ---- sessions


def test_one_at_a_time(session):
    with pytest.raises(pleat.StateError, match="session"):
        pleat.Session()


def test_its_life():
    with pleat.Session() as session:
        rows = session.rows("rows", 5)
        assert not (session.malleable or session.joined or session.resumed or session.leaving or session.pending)
        for early in (lambda: rows.local, session.adapt, lambda: rows.count, lambda: session.not_now().__enter__()):
            with pytest.raises(pleat.StateError, match="after Session.begin"):
                early()
        begun(session)
        for late in (lambda: session.rows("late", 5), lambda: session.value("late", 1), session.begin,
                     lambda: session.point("late"), session.announce, lambda: session.action("late", print)):
            with pytest.raises(pleat.StateError):
                late()
        assert (session.rank, session.size, session.comm.size) == (0, 1, 1)
        assert session.adapt() is pleat.SAME and session.failure is None and session.change is None
        assert session.last_point is None and session.why_left == ""
        local = rows.local
        assert rows.local is local and not local.is_stale
    session.finish()
    assert local.is_stale and session.comm == MPI.COMM_NULL
    for late in (session.adapt, lambda: rows.local, lambda: session.rank, lambda: session.rows("r", 5), lambda: session.asked,
                 lambda: local[0], lambda: session.failure):
        with pytest.raises(pleat.StateError):
            late()


def test_an_exception_passes_where_nobody_waits():
    with pytest.raises(ZeroDivisionError):
        with pleat.Session() as session:
            begun(session)
            1 / 0
    session.finish()


def test_limits(session):
    session.limits(1, 4, "powers")
    session.limits(sizes=[1, 2, 3])
    asked = []
    session.limits(sizes=lambda ranks: asked.append(ranks) or True)
    assert asked[0] == 1
    session.limit(0)
    for wrong in (lambda: session.limits(3, 2), lambda: session.limit(-1), lambda: session.limits(sizes="prime"),
                  lambda: session.limits(sizes=[]), lambda: session.limits(1, 2, lambda ranks: True),
                  lambda: session.limit(1 << 40)):
        with pytest.raises(pleat.InvalidError):
            wrong()
    with pytest.raises(TypeError):
        session.limit(1.5)
    with pytest.raises(KeyError):  # what the program's function raises
        session.limits(sizes=lambda ranks: {}[ranks])
    session.limits(sizes="any")


def test_asking(session):
    with pytest.raises(pleat.StateError):
        session.ask(1)
    begun(session)
    assert session.asked == (pleat.Asked.NOTHING, "")
    session.ask(2)
    assert session.asked.state is pleat.Asked.REFUSED and session.asked.why
    session.ask(2, within=0.5)
    for wrong in (lambda: session.ask(-1), lambda: session.give_back(1), lambda: session.ask(0, within=1),
                  lambda: session.expect(seconds=float("nan")), lambda: session.grid(2, 3), lambda: session.grid(0),
                  lambda: session.grid(1, 1, 1, 1, 1)):
        with pytest.raises(pleat.InvalidError):
            wrong()
    session.expect(seconds=2.5, bytes=100)
    session.expect(iterations=7)
    session.grid(1, 1)
    session.grid()


def test_points_and_sections(session):
    inner, times = session.point("inner"), session.point("times", times_only=True)
    with pytest.raises(pleat.ExistsError):
        session.point("inner")
    with pytest.raises(pleat.InvalidError):
        session.point("")
    for number in range(6):
        session.point(f"point {number}")
    with pytest.raises(pleat.TooBigError):
        session.point("one more")
    begun(session)
    with session.not_now():
        with session.not_now():
            assert inner.adapt() is pleat.SAME and times.adapt() is pleat.SAME
    with pytest.raises(RuntimeError, match="mine"):
        with session.not_now():
            raise RuntimeError("mine")
    with session.not_now():
        pass


def test_callbacks(session):
    @session.action("mine")
    def mine(moment, change):
        raise AssertionError("there is no change")

    with pytest.raises(pleat.ExistsError):
        session.action("mine", mine)
    with pytest.raises(pleat.InvalidError):
        session.action("", mine)
    assert session.on_offer(lambda change: change.to) and session.on_plan(lambda moment, change, names: names)
    assert session.on_offer(None) is None and session.on_plan(None) is None
    begun(session)
    assert session.adapt() is pleat.SAME


# ---- values


def test_values(session):
    state = session.values(step=0, time=0.5, done=False, table=np.arange(3), wave=1j)
    state.step += 2
    state.time = 3
    state.table[1] = 7
    state.done = True
    assert (state.step, state.time, state.done, list(state.table), state.wave) == (2, 3.0, True, [0, 7, 2], 1j)
    assert isinstance(state.step, int) and "step=2" in repr(state) and "time" in dir(state)
    with pytest.raises(AttributeError, match="no value"):
        state.other = 1
    with pytest.raises(AttributeError):
        state.other
    for wrong in (1.5, "text", 1j):
        with pytest.raises(TypeError):
            state.step = wrong
    with pytest.raises((OverflowError, TypeError)):
        state.step = 1 << 70
    with pytest.raises(ValueError):
        state.table = [1, 2]
    assert state.step == 2
    small = session.value("small", 100, np.int8)
    with pytest.raises(OverflowError):
        small.value = 200
    name = session.value("name", "start", "U8")
    name.value = "end"
    assert name.value == "end"
    with pytest.raises(ValueError, match="longer"):
        name.value = "much longer"
    with pytest.raises(pleat.ExistsError):
        session.value("step", 1)
    for name, error in (("", pleat.InvalidError), ("x" * 64, pleat.InvalidError), ("a\0b", pleat.InvalidError), (3, TypeError)):
        with pytest.raises(error):
            session.value(name, 1)
    with pytest.raises(TypeError, match="objects"):
        session.value("object", None)


# ---- rows, arrays


def test_rows(session):
    rows = session.rows("rows", 6, (2, 2), np.int32, halo=2)
    begun(session)
    assert rows.local.shape == (6, 2, 2) and rows.with_halo.shape == (10, 2, 2) and rows.indices == range(6)
    rows.local[:] = 5
    assert rows.with_halo.sum() == 5 * 24 and rows.with_halo[0].sum() == 0 and rows.local.dtype == np.int32
    rows.with_halo[0] = 9
    assert rows.local.sum() == 5 * 24


@pytest.mark.parametrize("words, error", [
    ((0,), pleat.InvalidError), ((-1,), pleat.InvalidError), ((5, 0), pleat.InvalidError), ((5, 2, float, -1), pleat.InvalidError),
    ((1.5,), TypeError), (("5",), TypeError), ((5, 1, object), TypeError), ((5, 1, "no type"), TypeError), ((5, 1, "S0"), TypeError),
    ((5, 1 << 62), pleat.InvalidError), ((1 << 62, 8), pleat.NoMemoryError), ((1 << 70,), pleat.InvalidError),
    ((5, 1, float, 1 << 40), pleat.InvalidError)])
def test_rows_that_cannot_be(session, words, error):
    with pytest.raises(error):
        session.rows("rows", *words)
    session.rows("rows", 5)
    begun(session)


def test_arrays(session):
    plane = session.array("plane", (5, 6), np.int64, [pleat.Block(halo=1), pleat.Block(halo=(2, 0))])
    turned = session.array("turned", (5, 6), np.int64, [pleat.Cyclic(2), pleat.Cyclic], order="F", grid_order="F")
    same = session.array("same", (4, 4), like=turned)
    assert plane.grid(6) in ((2, 3), (3, 2)) and turned.grid(4) == same.grid(4) == (2, 2)
    begun(session)
    assert plane.local.shape == plane.counts == (5, 6) and plane.with_halo.shape == plane.extents == (7, 8)
    assert plane.coordinates == (0, 0) and plane.processes == (1, 1) and plane.comm.Get_dim() == 2
    plane.local[...] = np.arange(30).reshape(5, 6)
    assert plane.with_halo[1, 2] == 0 and plane.with_halo[5, 7] == 29 and plane.with_halo.sum() == 435
    assert turned.local.flags.f_contiguous and list(turned.indices(0)) == list(range(5))
    assert list(turned.descriptor(0)) == [1, 0, 5, 6, 2, 1, 0, 0, 5]
    with pytest.raises(pleat.UnsupportedError):
        turned.context()  # no BLACS
    for wrong in (lambda: plane.index(0, 5), lambda: plane.index(2, 0), lambda: plane.indices(2), lambda: plane.index(0, -1)):
        with pytest.raises(IndexError):
            wrong()
    with pytest.raises(pleat.InvalidError):
        plane.grid(0)


@pytest.mark.parametrize("words, options, error", [
    (((),), {}, pleat.InvalidError), (((1, 2, 3, 4, 5),), {}, pleat.InvalidError), (((-1, 2),), {}, pleat.InvalidError),
    (((4, 4),), {"dist": [pleat.Block()]}, pleat.InvalidError), (((4, 4),), {"dist": ["block", "block"]}, TypeError),
    (((4, 4),), {"dist": [pleat.Cyclic(0), pleat.Block]}, pleat.InvalidError), (((4, 4),), {"order": "X"}, pleat.InvalidError),
    (((4, 4),), {"dist": [pleat.Block(halo=-1), pleat.Block]}, pleat.InvalidError), (((4, 4), object), {}, TypeError),
    (((4, 4),), {"dist": [pleat.Block(halo=(1, 2, 3)), pleat.Block]}, ValueError), (((4.5, 4),), {}, TypeError)])
def test_arrays_that_cannot_be(session, words, options, error):
    with pytest.raises(error):
        session.array("array", *words, **options)
    begun(session)


def test_matrices_that_cannot_be(session):
    with pytest.raises(pleat.InvalidError):
        session.matrix("matrix", [1, 2, 3])
    with pytest.raises(pleat.UnsupportedError):
        session.matrix("matrix", [1, 0, 8, 8, 2, 2, 1, 0, 8])  # its first block is not on the first process
    assert session.matrix("matrix", [1, 0, 8, 7, 2, 2, 0, 0, 8]).shape == (8, 7)


def test_grids(session):
    grids = {"good": (1, 1), "short": (1,), "bad": (0, 5)}
    session.on_grid(lambda name, size, proposed: grids[name])
    session.array("good", (4, 4))
    with pytest.raises(pleat.InvalidError, match="2 dimensions"):
        session.array("short", (4, 4))
    with pytest.raises(pleat.InvalidError):
        session.array("bad", (4, 4))
    with pytest.raises(KeyError, match="unknown"):
        session.array("unknown", (4, 4))
    session.on_grid(None)
    session.array("unknown", (4, 4))


# ---- data whose size changes


def test_particles(session):
    particles = session.particles("particles", [("x", float), ("n", np.int32)])
    assert begun(session).size == 1 and particles.count == 0 and len(particles.local) == 0
    first = particles.resize(3)
    first["n"] = [1, 2, 3]
    more = particles.resize(50000)
    assert first.is_stale and list(more["n"][:4]) == [1, 2, 3, 0] and more["x"].sum() == 0
    kept = particles.replace(more[more["n"] > 1])  # of its own elements
    assert list(kept["n"]) == [2, 3] and more.is_stale and particles.count == 2
    for wrong in (lambda: particles.resize(-1), lambda: particles.resize(1 << 70), lambda: particles.replace(np.zeros((2, 2)))):
        with pytest.raises((pleat.InvalidError, ValueError)):
            wrong()
    with pytest.raises(pleat.NoMemoryError):
        particles.resize(1 << 50)
    assert list(particles.local["n"]) == [2, 3]


def test_csr(session):
    with pytest.raises(pleat.InvalidError):
        session.csr("none", 5, {})
    with pytest.raises(pleat.InvalidError):
        session.csr("many", 5, {str(number): float for number in range(9)})
    sparse = session.csr("sparse", 3, {"column": np.int64, "value": float})
    begun(session)
    assert list(sparse.start) == [0, 0, 0, 0]
    sparse.set_lengths([2, 0, 3])
    value = sparse["value"]
    value[sparse.row(2)] = 4
    assert list(sparse.start) == [0, 2, 2, 5] and list(value) == [0, 0, 4, 4, 4] and len(sparse["column"]) == 5
    with pytest.raises(ValueError):
        sparse.start[0] = 1
    for wrong, error in ((lambda: sparse.set_lengths([1]), pleat.InvalidError), (lambda: sparse.set_lengths([1, -1, 1]), pleat.InvalidError),
                         (lambda: sparse.set_lengths([1.5, 1, 1]), TypeError), (lambda: sparse["other"], KeyError),
                         (lambda: sparse.row(3), IndexError), (lambda: sparse.row(-1), IndexError)):
        with pytest.raises(error):
            wrong()
    assert not value.is_stale
    sparse.set_lengths([1, 1, 1])
    assert value.is_stale


def test_owned_and_items(session):
    owned = session.owned("owned", 4, 2, np.int16)
    items = session.items("items")
    begun(session)
    assert owned.array.shape == (4, 2)
    owned.array = np.ones((4, 2))
    assert owned.array.dtype == np.int16 and owned.array.sum() == 8
    with pytest.raises(pleat.InvalidError):
        owned.array = np.ones((3, 2))
    items.list.append({"any": "object"})
    assert session.adapt() is pleat.SAME and items.list == [{"any": "object"}]


# ---- local parts


def test_local_parts(session):
    rows = session.rows("rows", 4, 3)
    begun(session)
    local = rows.local
    local[:] = np.arange(12).reshape(4, 3)
    kept = [local + 1, local.copy(), local[[0, 2]], local[local > 3], local.sum(axis=0), np.sort(local), local.astype(int),
            np.concatenate([local, local]), pickle.loads(pickle.dumps(local))]
    views = [local[1:], local[0], local.T, local.reshape(12), local[1:][0][1:], local[..., 0]]
    local += 1
    np.add(local, 1, out=local)
    assert local.sum() == 66 + 24 and isinstance(local, pleat.Local) and type(local + 1) is np.ndarray
    plain = np.asarray(local)
    assert type(plain) is np.ndarray and np.shares_memory(plain, local)
    session.finish()
    assert all(view.is_stale for view in views)
    assert not any(isinstance(one, pleat.Local) and one.is_stale for one in kept)
    assert kept[0].sum() == 66 + 12 and list(kept[2][1]) == [6, 7, 8] and len(kept[3]) == 8
    for use in (lambda a: a[0], lambda a: a + 1, lambda a: 1 - a, lambda a: a.sum(), lambda a: a.mean(), lambda a: list(a), np.sum, np.copy,
                np.sort, lambda a: a.fill(1), lambda a: a.tolist(), lambda a: a.copy(), lambda a: a.tobytes(), lambda a: 5 in a,
                lambda a: np.concatenate([a, a]), lambda a: np.zeros(4) @ a[:, 0], lambda a: a.__setitem__(0, 1), pickle.dumps, np.max,
                lambda a: np.zeros((4, 3)).__setitem__(slice(None), a[:]), lambda a: np.zeros((4, 3)).__iadd__(a), lambda a: a.argmax()):
        with pytest.raises(pleat.StaleError, match="'rows': the session is finished"):
            use(local)
    assert "stale" in repr(local) and "stale" in str(local)


# ---- the library


def test_block_of():
    assert [list(pleat.block_of(7, 3, rank)) for rank in range(3)] == [[0, 1, 2], [3, 4], [5, 6]]
    with pytest.raises(TypeError):
        pleat.block_of("7", 3, 0)


def test_element_bytes():
    assert pleat.element_bytes(MPI.DOUBLE) == 8
    with pytest.raises(pleat.InvalidError):
        pleat.element_bytes(MPI.INT.Create_contiguous(0))


def test_which_library(monkeypatch, tmp_path):
    assert _library.mpi_kind("Open MPI v4.1.4, ...") == (1, "openmpi") and _library.mpi_kind("MPICH Version:  4.0.2") == (2, "mpich")
    with pytest.raises(pleat.UnsupportedError, match="Another MPI"):
        _library.mpi_kind("Another MPI 1.0\nbuilt by")
    monkeypatch.setenv("PLEAT_LIBRARY", str(tmp_path))
    assert _library.places("libpleat-openmpi.so.0") == [str(tmp_path / "libpleat-openmpi.so.0")]
    with pytest.raises(pleat.UnsupportedError, match="PLEAT_LIBRARY"):
        _library.load.__wrapped__()


def test_errors_have_codes():
    assert pleat.InvalidError.code == -1 and pleat.MPICallError.code == -15 and issubclass(pleat.StaleError, pleat.StateError)
    error = _library.error_of(-13, "a file is damaged")
    assert type(error) is pleat.CorruptError and str(error) == "a file is damaged" and error.code == -13
    assert type(_library.error_of(-99, "")) is pleat.Error


def test_blacs():
    """ScaLAPACK's own grid, if its library was loaded before libpleat: in a process of its own."""
    name = ctypes.util.find_library("scalapack-openmpi")
    if not name:
        pytest.skip("no ScaLAPACK")
    program = f"""
import ctypes
blacs = ctypes.CDLL({name!r}, mode=ctypes.RTLD_GLOBAL)
import pleat
with pleat.Session() as session:
    matrix = session.array("matrix", (5, 6), order="F", dist=[pleat.Cyclic(2), pleat.Cyclic(2)])
    session.begin()
    context = matrix.context()
    found = [ctypes.c_int(-1) for _ in range(4)]
    blacs.Cblacs_gridinfo(context, *map(ctypes.byref, found))
    print([one.value for one in found], list(matrix.descriptor(context)) == [1, context, 5, 6, 2, 2, 0, 0, 5])
"""
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert said.stdout == "[1, 1, 0, 0] True\n", said.stderr
