"""The functions, structures and callbacks of pleat.h, for ctypes. Pointers to what the library makes are plain addresses."""

from __future__ import annotations

import ctypes
from ctypes import CFUNCTYPE, POINTER, Structure, c_char, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_void_p

API_VERSION = 1
OPEN_MPI, MPICH = 1, 2  # PLEAT_MPI_KIND
ARRAY_DIMS, CSR_FIELDS, POINTS, ACTIONS = 4, 8, 8, 32
TEXT_SIZE = 480


class CError(Structure):
    """struct pleat_error."""

    _fields_ = [("code", c_int), ("text", c_char * TEXT_SIZE)]


class COffer(Structure):
    """struct pleat_offer."""

    _fields_ = [("from_", c_int), ("to", c_int), ("mandatory", c_int), ("relaunch", c_int), ("occasion", c_int)]


class CDimension(Structure):
    """struct pleat_dimension."""

    _fields_ = [("extent", c_int64), ("format", c_int), ("block", c_int64), ("halo_low", c_int), ("halo_high", c_int),
                ("periodic", c_int)]


class CShape(Structure):
    """struct pleat_array_shape."""

    _fields_ = [("dims", c_int), ("dim", CDimension * ARRAY_DIMS), ("element_bytes", c_size_t),
                ("column_major", c_int), ("grid_column_major", c_int), ("same_grid_as", c_void_p)]


ERR = POINTER(CError)
OFFER = POINTER(COffer)
INTS = POINTER(c_int)
OUT = POINTER(c_void_p)

SIZE_TEST = CFUNCTYPE(c_int, c_int, c_void_p)
OFFER_CALLBACK = CFUNCTYPE(c_int, c_int, c_int, c_int, c_void_p)
ACTION = CFUNCTYPE(c_int, c_void_p, c_int, OFFER, c_void_p)
PLAN_CALLBACK = CFUNCTYPE(c_int, c_int, OFFER, INTS, c_int, c_void_p)
GRID_CALLBACK = CFUNCTYPE(None, c_char_p, c_int, c_int, INTS, c_void_p)
PARTICLE_OWNER = CFUNCTYPE(c_int, c_void_p, c_int, c_void_p)

COUNT = CFUNCTYPE(c_int64, c_void_p)
BYTES = CFUNCTYPE(c_int64, c_int64, c_void_p)
PACK = CFUNCTYPE(None, c_int64, c_void_p, c_void_p)
OPEN_ITEMS = CFUNCTYPE(c_int, c_int64, c_int64, c_void_p)
UNPACK = CFUNCTYPE(None, c_int64, c_void_p, c_int64, c_void_p)
CLOSE = CFUNCTYPE(None, c_int, c_void_p)
ITEM_OWNER = CFUNCTYPE(c_int, c_int64, c_int, c_void_p)
DATA = CFUNCTYPE(c_void_p, c_void_p)
OPEN_ROWS = CFUNCTYPE(c_void_p, c_int64, c_void_p)


class CItems(Structure):
    """struct pleat_items_ops."""

    _fields_ = [("count", COUNT), ("bytes", BYTES), ("pack", PACK), ("open", OPEN_ITEMS), ("unpack", UNPACK),
                ("close", CLOSE), ("owner", ITEM_OWNER)]


class COwned(Structure):
    """struct pleat_owned_ops."""

    _fields_ = [("data", DATA), ("open", OPEN_ROWS), ("close", CLOSE)]


# name: what it returns, its arguments. {comm} and {datatype} stand for handles, which differ from MPI to MPI.
COMM, DATATYPE = "comm", "datatype"
FUNCTIONS: dict[str, tuple] = {
    "pleat_session_create_for": (c_int, OUT, c_int, c_int, ERR),
    "pleat_session_begin": (c_int, c_void_p, ERR),
    "pleat_session_adapt": (c_int, c_void_p, ERR),
    "pleat_session_finish": (None, c_void_p),
    "pleat_or_abort": (c_int, c_int, ERR),
    "pleat_session_comm": (COMM, c_void_p),
    "pleat_session_comm_fortran": (c_int, c_void_p),
    "pleat_session_announce": (c_int, c_void_p, ERR),
    "pleat_session_pending": (c_int, c_void_p),
    "pleat_session_limit": (c_int, c_void_p, c_int, ERR),
    "pleat_session_limits": (c_int, c_void_p, c_int, c_int, c_char_p, ERR),
    "pleat_session_limits_if": (c_int, c_void_p, SIZE_TEST, c_void_p, ERR),
    "pleat_session_ask": (c_int, c_void_p, c_int, c_int, ERR),
    "pleat_session_ask_within": (c_int, c_void_p, c_int, c_double, ERR),
    "pleat_session_give_back": (c_int, c_void_p, c_int, ERR),
    "pleat_session_asked": (c_int, c_void_p, ERR),
    "pleat_session_expect": (c_int, c_void_p, c_double, c_int64, c_int64, ERR),
    "pleat_session_grid": (c_int, c_void_p, c_int, INTS, ERR),
    "pleat_session_rank": (c_int, c_void_p),
    "pleat_session_size": (c_int, c_void_p),
    "pleat_session_joined": (c_int, c_void_p),
    "pleat_session_resumed": (c_int, c_void_p),
    "pleat_session_malleable": (c_int, c_void_p),
    "pleat_session_failure": (ERR, c_void_p),
    "pleat_session_on_offer": (None, c_void_p, OFFER_CALLBACK, c_void_p),
    "pleat_session_offer": (OFFER, c_void_p),
    "pleat_session_on_plan": (None, c_void_p, PLAN_CALLBACK, c_void_p),
    "pleat_action_register": (c_int, c_void_p, c_char_p, ACTION, c_void_p, ERR),
    "pleat_point_register": (c_int, c_void_p, c_char_p, c_int, INTS, ERR),
    "pleat_point_adapt": (c_int, c_void_p, c_int, ERR),
    "pleat_session_point": (c_int, c_void_p),
    "pleat_section_begin": (c_int, c_void_p, ERR),
    "pleat_section_end": (c_int, c_void_p, ERR),
    "pleat_value_register": (c_int, c_void_p, c_char_p, c_void_p, c_size_t, ERR),
    "pleat_rows_create": (c_int, c_void_p, c_char_p, c_int64, c_size_t, c_int, OUT, ERR),
    "pleat_rows_data": (c_void_p, c_void_p),
    "pleat_rows_first": (c_int64, c_void_p),
    "pleat_rows_count": (c_int64, c_void_p),
    "pleat_array_create": (c_int, c_void_p, c_char_p, POINTER(CShape), OUT, ERR),
    "pleat_array_data": (c_void_p, c_void_p),
    "pleat_array_count": (c_int64, c_void_p, c_int),
    "pleat_array_extent": (c_int64, c_void_p, c_int),
    "pleat_array_global": (c_int64, c_void_p, c_int, c_int64),
    "pleat_array_processes": (c_int, c_void_p, c_int),
    "pleat_array_grid": (c_int, c_void_p, c_int, INTS, ERR),
    "pleat_array_coordinate": (c_int, c_void_p, c_int),
    "pleat_array_context": (c_int, c_void_p, INTS, ERR),
    "pleat_array_descriptor": (c_int, c_void_p, c_int, INTS, ERR),
    "pleat_array_comm": (c_int, c_void_p, c_void_p, ERR),
    "pleat_array_comm_fortran": (c_int, c_void_p, INTS, ERR),
    "pleat_array_shape_of": (c_int, INTS, c_size_t, POINTER(CShape), ERR),
    "pleat_element_bytes": (c_int, DATATYPE, POINTER(c_size_t), ERR),
    "pleat_session_on_grid": (None, c_void_p, GRID_CALLBACK, c_void_p),
    "pleat_items_register": (c_int, c_void_p, c_char_p, POINTER(CItems), c_int64, c_void_p, ERR),
    "pleat_particles_create": (c_int, c_void_p, c_char_p, c_size_t, OUT, ERR),
    "pleat_particles_set_count": (c_int, c_void_p, c_int64, ERR),
    "pleat_particles_data": (c_void_p, c_void_p),
    "pleat_particles_count": (c_int64, c_void_p),
    "pleat_particles_on_owner": (None, c_void_p, PARTICLE_OWNER, c_void_p),
    "pleat_csr_create": (c_int, c_void_p, c_char_p, c_int64, POINTER(c_size_t), c_int, OUT, ERR),
    "pleat_csr_set_lengths": (c_int, c_void_p, c_void_p, ERR),
    "pleat_csr_first": (c_int64, c_void_p),
    "pleat_csr_count": (c_int64, c_void_p),
    "pleat_csr_start": (c_void_p, c_void_p),
    "pleat_csr_field": (c_void_p, c_void_p, c_int),
    "pleat_owned_register": (c_int, c_void_p, c_char_p, c_int64, c_size_t, POINTER(COwned), c_void_p, ERR),
    "pleat_process_mpi_prepare_for": (c_int, c_void_p, c_int, ERR),
    "pleat_process_mpi_join": (c_int, c_void_p, c_void_p, c_int32, c_int, ERR),
    "pleat_process_mpi_join_fortran": (c_int, c_void_p, INTS, c_int32, c_int, ERR),
    "pleat_process_mpi_leave": (c_int, c_void_p, c_int, ERR),
    "pleat_process_mpi_leave_fortran": (c_int, INTS, c_int, ERR),
    "pleat_owned_block": (None, c_int64, c_int, c_int, POINTER(c_int64), POINTER(c_int64)),
}


def declare(library: ctypes.CDLL, handle: type) -> None:
    """Gives the library's functions their types. `handle`: the C type of MPI's handles."""
    for name, (returns, *arguments) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype = handle if returns == COMM else returns
        function.argtypes = [handle if one == DATATYPE else one for one in arguments]
