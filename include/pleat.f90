! pleat.f90 - libpleat for Fortran (2008): the functions of pleat.h, which says what they do.
!
! Compile this file with your own compiler, as a module belongs to the compiler that made it:
!
!     mpifort.openmpi $(pkg-config --variable=fortran pleat-openmpi) program.f90 -o program \
!         $(pkg-config --libs pleat-openmpi)
!
! Names, arguments and results are those of C, with these differences. Names and sizes are plain
! texts. `err` is always given. Communicators are integers, as of `use mpi` (with `use mpi_f08` that
! is comm%mpi_val). Functions are given as c_funloc(f), and have bind(c). Dimensions, ranks and
! global indices count from 0, as in C; pleat_rows_view alone gives a Fortran array whose rows count
! from 1. pleat_element_bytes is missing: c_sizeof gives the same.
module pleat
  use, intrinsic :: iso_c_binding
  use mpi, only: MPI_MAX_LIBRARY_VERSION_STRING
  implicit none
  private

  integer(c_int), parameter, public :: PLEAT_STARTED = 1, PLEAT_JOINED = 2
  integer(c_int), parameter, public :: PLEAT_ASKED_NOTHING = 0, PLEAT_ASKED_PENDING = 1, PLEAT_ASKED_GRANTED = 2, &
    PLEAT_ASKED_REFUSED = 3
  integer(c_int), parameter, public :: PLEAT_SAME = 0, PLEAT_GREW = 1, PLEAT_SHRANK = 2, PLEAT_LEAVE = 3
  integer(c_int), parameter, public :: PLEAT_OCCASION_UNKNOWN = 0, PLEAT_OCCASION_FREE = 1, PLEAT_OCCASION_WAITING = 2, &
    PLEAT_OCCASION_USER = 3, PLEAT_OCCASION_LIMITS = 4, PLEAT_OCCASION_POLICY = 5, &
    PLEAT_OCCASION_TAKEN = 6
  integer(c_int), parameter, public :: PLEAT_POINT_RESIZE = 1, PLEAT_POINT_TIMES = 2
  integer(c_int), parameter, public :: PLEAT_BEFORE = 1, PLEAT_AFTER = 2, PLEAT_NOT_DONE = 3
  integer(c_int), parameter, public :: PLEAT_COLLAPSED = 0, PLEAT_BLOCK = 1, PLEAT_BLOCK_CYCLIC = 2
  integer(c_int), parameter, public :: PLEAT_E_INVALID = -1, PLEAT_E_NOMEM = -2, PLEAT_E_SYSTEM = -3, &
    PLEAT_E_NOTFOUND = -4, PLEAT_E_EXISTS = -5, PLEAT_E_STATE = -6, PLEAT_E_UNSUPPORTED = -7, PLEAT_E_TOOBIG = -8, &
    PLEAT_E_PROTOCOL = -9, PLEAT_E_PERMISSION = -10, PLEAT_E_TIMEOUT = -11, PLEAT_E_CLOSED = -12, &
    PLEAT_E_CORRUPT = -13, PLEAT_E_BUSY = -14, PLEAT_E_MPI = -15
  integer, parameter, public :: PLEAT_ARRAY_DIMS = 4, PLEAT_CSR_FIELDS = 8, PLEAT_POINTS = 8, PLEAT_ACTIONS = 32
  integer, parameter :: TEXT_SIZE = 480

  ! What was created; an unset one is NULL.
  type, bind(c), public :: pleat_session
    private
    type(c_ptr) :: ptr = c_null_ptr
  end type
  type, bind(c), public :: pleat_rows
    private
    type(c_ptr) :: ptr = c_null_ptr
  end type
  type, bind(c), public :: pleat_array
    private
    type(c_ptr) :: ptr = c_null_ptr
  end type
  type, bind(c), public :: pleat_particles
    private
    type(c_ptr) :: ptr = c_null_ptr
  end type
  type, bind(c), public :: pleat_csr
    private
    type(c_ptr) :: ptr = c_null_ptr
  end type

  type, bind(c), public :: pleat_error
    integer(c_int) :: code = 0
    character(kind=c_char) :: text(TEXT_SIZE) = c_null_char ! pleat_error_text makes a text of it
  end type

  type, bind(c), public :: pleat_offer
    integer(c_int) :: from = 0, to = 0, mandatory = 0, relaunch = 0, occasion = PLEAT_OCCASION_UNKNOWN
  end type

  type, bind(c), public :: pleat_dimension
    integer(c_int64_t) :: extent = 0
    integer(c_int) :: format = PLEAT_COLLAPSED
    integer(c_int64_t) :: block = 0
    integer(c_int) :: halo_low = 0, halo_high = 0
    integer(c_int) :: periodic = 0
  end type

  ! Unlike in C arrays are column_major if nothing else is said.
  type, bind(c), public :: pleat_array_shape
    integer(c_int) :: dims = 0
    type(pleat_dimension) :: dim(PLEAT_ARRAY_DIMS)
    integer(c_size_t) :: element_bytes = 0
    integer(c_int) :: column_major = 1
    integer(c_int) :: grid_column_major = 0
    type(pleat_array) :: same_grid_as
  end type

  type, bind(c), public :: pleat_items_ops
    type(c_funptr) :: count = c_null_funptr, bytes = c_null_funptr, pack = c_null_funptr, open = c_null_funptr, &
      unpack = c_null_funptr, close = c_null_funptr, owner = c_null_funptr
  end type

  type, bind(c), public :: pleat_owned_ops
    type(c_funptr) :: data = c_null_funptr, open = c_null_funptr, close = c_null_funptr
  end type

  ! The functions of a program that the library calls.
  abstract interface
    integer(c_int) function pleat_offer_callback(current, offered, mandatory, arg) bind(c)
      import
      integer(c_int), value :: current, offered, mandatory
      type(c_ptr), value :: arg
    end function
    integer(c_int) function pleat_action(session, moment, change, arg) bind(c)
      import
      type(pleat_session), value :: session
      integer(c_int), value :: moment
      type(pleat_offer), intent(in) :: change
      type(c_ptr), value :: arg
    end function
    integer(c_int) function pleat_plan_callback(moment, change, actions, count, arg) bind(c)
      import
      integer(c_int), value :: moment, count
      type(pleat_offer), intent(in) :: change
      integer(c_int), intent(inout) :: actions(count)
      type(c_ptr), value :: arg
    end function
    integer(c_int) function pleat_size_test(ranks, arg) bind(c)
      import
      integer(c_int), value :: ranks
      type(c_ptr), value :: arg
    end function
    subroutine pleat_grid_callback(name, size, dims, grid, arg) bind(c)
      import
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: size, dims
      integer(c_int), intent(inout) :: grid(dims)
      type(c_ptr), value :: arg
    end subroutine
    integer(c_int) function pleat_particle_owner(particle, size, arg) bind(c)
      import
      type(c_ptr), value :: particle
      integer(c_int), value :: size
      type(c_ptr), value :: arg
    end function
  end interface
  public :: pleat_offer_callback, pleat_action, pleat_plan_callback, pleat_size_test, pleat_grid_callback, pleat_particle_owner

  interface
    integer(c_int) function pleat_session_begin(session, err) bind(c, name='pleat_session_begin')
      import
      type(pleat_session), value :: session
      type(pleat_error), intent(inout) :: err
    end function
    integer(c_int) function pleat_session_adapt(session, err) bind(c, name='pleat_session_adapt')
      import
      type(pleat_session), value :: session
      type(pleat_error), intent(inout) :: err
    end function
    integer(c_int) function pleat_session_announce(session, err) bind(c, name='pleat_session_announce')
      import
      type(pleat_session), value :: session
      type(pleat_error), intent(inout) :: err
    end function
    integer(c_int) function pleat_session_pending(session) bind(c, name='pleat_session_pending')
      import
      type(pleat_session), value :: session
    end function
    integer(c_int) function pleat_session_limit(session, most, err) bind(c, name='pleat_session_limit')
      import
      type(pleat_session), value :: session
      integer(c_int), value :: most
      type(pleat_error), intent(inout) :: err
    end function
    integer(c_int) function pleat_session_ask(session, more, mandatory, err) bind(c, name='pleat_session_ask')
      import
      type(pleat_session), value :: session
      integer(c_int), value :: more, mandatory
      type(pleat_error), intent(inout) :: err
    end function
    integer(c_int) function pleat_session_ask_within(session, more, seconds, err) bind(c, &
      name='pleat_session_ask_within')
      import
      type(pleat_session), value :: session
      integer(c_int), value :: more
      real(c_double), value :: seconds
      type(pleat_error), intent(inout) :: err
    end function
    integer(c_int) function pleat_session_give_back(session, fewer, err) bind(c, name='pleat_session_give_back')
      import
      type(pleat_session), value :: session
      integer(c_int), value :: fewer
      type(pleat_error), intent(inout) :: err
    end function
    integer(c_int) function pleat_session_asked(session, why) bind(c, name='pleat_session_asked')
      import
      type(pleat_session), value :: session
      type(pleat_error), intent(inout) :: why
    end function
    integer(c_int) function pleat_session_limits_if(session, accepts, arg, err) bind(c, &
      name='pleat_session_limits_if')
      import
      type(pleat_session), value :: session
      type(c_funptr), value :: accepts
      type(c_ptr), value :: arg
      type(pleat_error), intent(inout) :: err
    end function
    subroutine pleat_session_finish(session) bind(c, name='pleat_session_finish')
      import
      type(pleat_session), value :: session
    end subroutine
    ! what = pleat_session_adapt(session, err); what = pleat_or_abort(what, err)
    integer(c_int) function pleat_or_abort(outcome, err) bind(c, name='pleat_or_abort')
      import
      integer(c_int), value :: outcome
      type(pleat_error), intent(in) :: err
    end function
    integer(c_int) function pleat_session_comm(session) bind(c, name='pleat_session_comm_fortran')
      import
      type(pleat_session), value :: session
    end function
    integer(c_int) function pleat_session_rank(session) bind(c, name='pleat_session_rank')
      import
      type(pleat_session), value :: session
    end function
    integer(c_int) function pleat_session_size(session) bind(c, name='pleat_session_size')
      import
      type(pleat_session), value :: session
    end function
    integer(c_int) function pleat_session_joined(session) bind(c, name='pleat_session_joined')
      import
      type(pleat_session), value :: session
    end function
    integer(c_int) function pleat_session_resumed(session) bind(c, name='pleat_session_resumed')
      import
      type(pleat_session), value :: session
    end function
    integer(c_int) function pleat_session_malleable(session) bind(c, name='pleat_session_malleable')
      import
      type(pleat_session), value :: session
    end function
    subroutine pleat_session_on_offer(session, callback, arg) bind(c, name='pleat_session_on_offer')
      import
      type(pleat_session), value :: session
      type(c_funptr), value :: callback
      type(c_ptr), value :: arg
    end subroutine
    subroutine pleat_session_on_plan(session, callback, arg) bind(c, name='pleat_session_on_plan')
      import
      type(pleat_session), value :: session
      type(c_funptr), value :: callback
      type(c_ptr), value :: arg
    end subroutine
    integer(c_int) function pleat_point_adapt(session, point, err) bind(c, name='pleat_point_adapt')
      import
      type(pleat_session), value :: session
      integer(c_int), value :: point
      type(pleat_error), intent(inout) :: err
    end function
    integer(c_int) function pleat_session_expect(session, seconds, iterations, bytes, err) bind(c, &
      name='pleat_session_expect')
      import
      type(pleat_session), value :: session
      real(c_double), value :: seconds
      integer(c_int64_t), value :: iterations, bytes
      type(pleat_error), intent(inout) :: err
    end function
    integer(c_int) function pleat_session_grid(session, dims, grid, err) bind(c, name='pleat_session_grid')
      import
      type(pleat_session), value :: session
      integer(c_int), value :: dims
      integer(c_int), intent(in) :: grid(*)
      type(pleat_error), intent(inout) :: err
    end function
    integer(c_int) function pleat_section_begin(session, err) bind(c, name='pleat_section_begin')
      import
      type(pleat_session), value :: session
      type(pleat_error), intent(inout) :: err
    end function
    integer(c_int) function pleat_section_end(session, err) bind(c, name='pleat_section_end')
      import
      type(pleat_session), value :: session
      type(pleat_error), intent(inout) :: err
    end function
    integer(c_int) function pleat_session_point(session) bind(c, name='pleat_session_point')
      import
      type(pleat_session), value :: session
    end function
    type(c_ptr) function pleat_rows_data(handle) bind(c, name='pleat_rows_data')
      import
      type(pleat_rows), value :: handle
    end function
    integer(c_int64_t) function pleat_rows_first(handle) bind(c, name='pleat_rows_first')
      import
      type(pleat_rows), value :: handle
    end function
    integer(c_int64_t) function pleat_rows_count(handle) bind(c, name='pleat_rows_count')
      import
      type(pleat_rows), value :: handle
    end function
    integer(c_int) function pleat_array_shape_of(descriptor, element_bytes, shape, err) bind(c, &
      name='pleat_array_shape_of')
      import
      integer(c_int), intent(in) :: descriptor(9)
      integer(c_size_t), value :: element_bytes
      type(pleat_array_shape), intent(out) :: shape
      type(pleat_error), intent(inout) :: err
    end function
    subroutine pleat_session_on_grid(session, callback, arg) bind(c, name='pleat_session_on_grid')
      import
      type(pleat_session), value :: session
      type(c_funptr), value :: callback
      type(c_ptr), value :: arg
    end subroutine
    type(c_ptr) function pleat_array_data(handle) bind(c, name='pleat_array_data')
      import
      type(pleat_array), value :: handle
    end function
    integer(c_int64_t) function pleat_array_count(handle, dimension) bind(c, name='pleat_array_count')
      import
      type(pleat_array), value :: handle
      integer(c_int), value :: dimension
    end function
    integer(c_int64_t) function pleat_array_extent(handle, dimension) bind(c, name='pleat_array_extent')
      import
      type(pleat_array), value :: handle
      integer(c_int), value :: dimension
    end function
    integer(c_int64_t) function pleat_array_global(handle, dimension, local) bind(c, name='pleat_array_global')
      import
      type(pleat_array), value :: handle
      integer(c_int), value :: dimension
      integer(c_int64_t), value :: local
    end function
    integer(c_int) function pleat_array_processes(handle, dimension) bind(c, name='pleat_array_processes')
      import
      type(pleat_array), value :: handle
      integer(c_int), value :: dimension
    end function
    integer(c_int) function pleat_array_coordinate(handle, dimension) bind(c, name='pleat_array_coordinate')
      import
      type(pleat_array), value :: handle
      integer(c_int), value :: dimension
    end function
    integer(c_int) function pleat_array_grid(handle, size, grid, err) bind(c, name='pleat_array_grid')
      import
      type(pleat_array), value :: handle
      integer(c_int), value :: size
      integer(c_int), intent(inout) :: grid(*)
      type(pleat_error), intent(inout) :: err
    end function
    integer(c_int) function pleat_array_comm(handle, comm, err) bind(c, name='pleat_array_comm_fortran')
      import
      type(pleat_array), value :: handle
      integer(c_int), intent(out) :: comm
      type(pleat_error), intent(inout) :: err
    end function
    integer(c_int) function pleat_array_context(handle, context, err) bind(c, name='pleat_array_context')
      import
      type(pleat_array), value :: handle
      integer(c_int), intent(inout) :: context
      type(pleat_error), intent(inout) :: err
    end function
    integer(c_int) function pleat_array_descriptor(handle, context, descriptor, err) bind(c, &
      name='pleat_array_descriptor')
      import
      type(pleat_array), value :: handle
      integer(c_int), value :: context
      integer(c_int), intent(out) :: descriptor(9)
      type(pleat_error), intent(inout) :: err
    end function
    integer(c_int) function pleat_particles_set_count(handle, count, err) bind(c, name='pleat_particles_set_count')
      import
      type(pleat_particles), value :: handle
      integer(c_int64_t), value :: count
      type(pleat_error), intent(inout) :: err
    end function
    type(c_ptr) function pleat_particles_data(handle) bind(c, name='pleat_particles_data')
      import
      type(pleat_particles), value :: handle
    end function
    integer(c_int64_t) function pleat_particles_count(handle) bind(c, name='pleat_particles_count')
      import
      type(pleat_particles), value :: handle
    end function
    subroutine pleat_particles_on_owner(handle, owner, arg) bind(c, name='pleat_particles_on_owner')
      import
      type(pleat_particles), value :: handle
      type(c_funptr), value :: owner
      type(c_ptr), value :: arg
    end subroutine
    integer(c_int) function pleat_csr_set_lengths(handle, lengths, err) bind(c, name='pleat_csr_set_lengths')
      import
      type(pleat_csr), value :: handle
      integer(c_int64_t), intent(in) :: lengths(*)
      type(pleat_error), intent(inout) :: err
    end function
    integer(c_int64_t) function pleat_csr_first(handle) bind(c, name='pleat_csr_first')
      import
      type(pleat_csr), value :: handle
    end function
    integer(c_int64_t) function pleat_csr_count(handle) bind(c, name='pleat_csr_count')
      import
      type(pleat_csr), value :: handle
    end function
    type(c_ptr) function pleat_csr_start(handle) bind(c, name='pleat_csr_start')
      import
      type(pleat_csr), value :: handle
    end function
    type(c_ptr) function pleat_csr_field(handle, field) bind(c, name='pleat_csr_field')
      import
      type(pleat_csr), value :: handle
      integer(c_int), value :: field
    end function
    ! Beside the module pleat_process: processes%ptr of its pleat_processes is what these take. mpi: 1 for Open MPI, 2 for
    ! MPICH, 0: not said.
    integer(c_int) function pleat_process_mpi_prepare(processes, mpi, err) bind(c, name='pleat_process_mpi_prepare_for')
      import
      type(c_ptr), value :: processes
      integer(c_int), value :: mpi
      type(pleat_error), intent(inout) :: err
    end function
    integer(c_int) function pleat_process_mpi_join(processes, comm, process, timeout_ms, err) &
      bind(c, name='pleat_process_mpi_join_fortran')
      import
      type(c_ptr), value :: processes
      integer(c_int), intent(inout) :: comm
      integer(c_int32_t), value :: process
      integer(c_int), value :: timeout_ms
      type(pleat_error), intent(inout) :: err
    end function
    integer(c_int) function pleat_process_mpi_leave(comm, leaves, err) bind(c, name='pleat_process_mpi_leave_fortran')
      import
      integer(c_int), intent(inout) :: comm
      integer(c_int), value :: leaves
      type(pleat_error), intent(inout) :: err
    end function
    subroutine pleat_owned_block(rows, size, rank, first, count) bind(c, name='pleat_owned_block')
      import
      integer(c_int64_t), value :: rows
      integer(c_int), value :: size, rank
      integer(c_int64_t), intent(out) :: first, count
    end subroutine
  end interface

  ! Those whose texts are made texts of C first.
  interface
    integer(c_int) function c_session_limits(session, least, most, sizes, err) bind(c, name='pleat_session_limits')
      import
      type(pleat_session), value :: session
      integer(c_int), value :: least, most
      character(kind=c_char), intent(in) :: sizes(*)
      type(pleat_error), intent(inout) :: err
    end function
    type(c_ptr) function c_session_offer(session) bind(c, name='pleat_session_offer')
      import
      type(pleat_session), value :: session
    end function
    integer(c_int) function c_action_register(session, name, action, arg, err) bind(c, name='pleat_action_register')
      import
      type(pleat_session), value :: session
      character(kind=c_char), intent(in) :: name(*)
      type(c_funptr), value :: action
      type(c_ptr), value :: arg
      type(pleat_error), intent(inout) :: err
    end function
    integer(c_int) function c_point_register(session, name, use, point, err) bind(c, name='pleat_point_register')
      import
      type(pleat_session), value :: session
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: use
      integer(c_int), intent(inout) :: point
      type(pleat_error), intent(inout) :: err
    end function
    integer(c_int) function c_value_register(session, name, ptr, bytes, err) bind(c, name='pleat_value_register')
      import
      type(pleat_session), value :: session
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: ptr
      integer(c_size_t), value :: bytes
      type(pleat_error), intent(inout) :: err
    end function
    integer(c_int) function c_rows_create(session, name, rows, row_bytes, halo, handle, err) bind(c, &
      name='pleat_rows_create')
      import
      type(pleat_session), value :: session
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: rows
      integer(c_size_t), value :: row_bytes
      integer(c_int), value :: halo
      type(pleat_rows), intent(out) :: handle
      type(pleat_error), intent(inout) :: err
    end function
    integer(c_int) function c_array_create(session, name, shape, handle, err) bind(c, name='pleat_array_create')
      import
      type(pleat_session), value :: session
      character(kind=c_char), intent(in) :: name(*)
      type(pleat_array_shape), intent(in) :: shape
      type(pleat_array), intent(out) :: handle
      type(pleat_error), intent(inout) :: err
    end function
    integer(c_int) function c_items_register(session, name, ops, item_bytes, arg, err) bind(c, &
      name='pleat_items_register')
      import
      type(pleat_session), value :: session
      character(kind=c_char), intent(in) :: name(*)
      type(pleat_items_ops), intent(in) :: ops
      integer(c_int64_t), value :: item_bytes
      type(c_ptr), value :: arg
      type(pleat_error), intent(inout) :: err
    end function
    integer(c_int) function c_particles_create(session, name, particle_bytes, handle, err) bind(c, &
      name='pleat_particles_create')
      import
      type(pleat_session), value :: session
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), value :: particle_bytes
      type(pleat_particles), intent(out) :: handle
      type(pleat_error), intent(inout) :: err
    end function
    integer(c_int) function c_csr_create(session, name, rows, field_bytes, fields, handle, err) bind(c, &
      name='pleat_csr_create')
      import
      type(pleat_session), value :: session
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: rows
      integer(c_size_t), intent(in) :: field_bytes(*)
      integer(c_int), value :: fields
      type(pleat_csr), intent(out) :: handle
      type(pleat_error), intent(inout) :: err
    end function
    integer(c_int) function c_owned_register(session, name, rows, row_bytes, ops, arg, err) bind(c, &
      name='pleat_owned_register')
      import
      type(pleat_session), value :: session
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: rows
      integer(c_size_t), value :: row_bytes
      type(pleat_owned_ops), intent(in) :: ops
      type(c_ptr), value :: arg
      type(pleat_error), intent(inout) :: err
    end function
    integer(c_int) function c_session_create(session, api_version, mpi_kind, err) bind(c, &
      name='pleat_session_create_for')
      import
      type(pleat_session), intent(out) :: session
      integer(c_int), value :: api_version, mpi_kind
      type(pleat_error), intent(inout) :: err
    end function
    type(c_ptr) function c_session_failure(session) bind(c, name='pleat_session_failure')
      import
      type(pleat_session), value :: session
    end function
  end interface

  ! call pleat_rows_view(handle, elements, halo, view): the local rows of pleat_rows_create with their halo rows before and
  ! behind, as view(1:elements of a row, first + 1 - halo:first + count + halo),
  ! with global indices that count from 1. Ask again after every resize.
  interface pleat_rows_view
    module procedure view_real32, view_real64, view_int64
  end interface

  public :: pleat_session_begin, pleat_session_adapt, pleat_session_announce, pleat_session_pending, &
    pleat_session_limit, pleat_session_ask, pleat_session_ask_within, pleat_session_give_back, pleat_session_asked, &
    pleat_session_limits_if, pleat_session_finish, pleat_or_abort, pleat_session_comm, pleat_session_rank, &
    pleat_session_size, pleat_session_joined, pleat_session_resumed, pleat_session_malleable, &
    pleat_session_on_offer, pleat_session_offer, pleat_session_on_plan, pleat_action_register, &
    pleat_point_register, pleat_point_adapt, pleat_session_expect, pleat_session_grid, pleat_session_point, &
    pleat_section_begin, pleat_section_end, &
    pleat_rows_data, pleat_rows_first, pleat_rows_count, pleat_array_shape_of, &
    pleat_session_on_grid, pleat_array_data, pleat_array_count, pleat_array_extent, pleat_array_global, &
    pleat_array_processes, pleat_array_coordinate, pleat_array_grid, pleat_array_comm, pleat_array_context, &
    pleat_array_descriptor, &
    pleat_particles_set_count, pleat_particles_data, pleat_particles_count, pleat_particles_on_owner, &
    pleat_csr_set_lengths, pleat_csr_first, pleat_csr_count, pleat_csr_start, pleat_csr_field, &
    pleat_owned_block, pleat_process_mpi_prepare, pleat_process_mpi_join, pleat_process_mpi_leave, &
    pleat_session_limits, pleat_value_register, pleat_rows_create, pleat_array_create, &
    pleat_items_register, pleat_particles_create, pleat_csr_create, pleat_owned_register, pleat_session_create, &
    pleat_session_failure, pleat_error_text, pleat_rows_view

contains

  ! 1: the program is one of Open MPI, 2: of MPICH; 0: of another one, which the library refuses.
  integer(c_int) function mpi_kind()
    external :: MPI_Get_library_version
    character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: text
    integer :: length, ierror
    text = ''
    call MPI_Get_library_version(text, length, ierror)
    mpi_kind = 0
    if (index(text, 'Open MPI') > 0) mpi_kind = 1
    if (index(text, 'MPICH') > 0) mpi_kind = 2
  end function

  integer(c_int) function pleat_session_create(session, err) result(code)
    type(pleat_session), intent(out) :: session
    type(pleat_error), intent(inout) :: err
    code = c_session_create(session, 1_c_int, mpi_kind(), err)
  end function

  ! The sentence of an error.
  pure function pleat_error_text(err) result(text)
    type(pleat_error), intent(in) :: err
    character(:), allocatable :: text
    integer :: i, length
    length = 0
    do while (length < TEXT_SIZE)
      if (err%text(length + 1) == c_null_char) exit
      length = length + 1
    end do
    allocate (character(length) :: text)
    do i = 1, length
      text(i:i) = err%text(i)
    end do
  end function

  ! Why the last resize could not be done; code 0: none has failed.
  function pleat_session_failure(session) result(err)
    type(pleat_session), intent(in) :: session
    type(pleat_error) :: err
    type(pleat_error), pointer :: there
    call c_f_pointer(c_session_failure(session), there)
    err = there
  end function

  integer(c_int) function pleat_session_limits(session, least, most, sizes, err) result(code)
    type(pleat_session), intent(in) :: session
    integer(c_int), intent(in) :: least, most
    character(*), intent(in) :: sizes
    type(pleat_error), intent(inout) :: err
    code = c_session_limits(session, least, most, sizes // c_null_char, err)
  end function

  ! The change that is offered, under way, or was the last one; `to` 0: there was none.
  function pleat_session_offer(session) result(offer)
    type(pleat_session), intent(in) :: session
    type(pleat_offer) :: offer
    type(pleat_offer), pointer :: there
    type(c_ptr) :: where
    where = c_session_offer(session)
    if (.not. c_associated(where)) return
    call c_f_pointer(where, there)
    offer = there
  end function

  integer(c_int) function pleat_action_register(session, name, action, arg, err) result(code)
    type(pleat_session), intent(in) :: session
    character(*), intent(in) :: name
    type(c_funptr), value :: action ! no constant, which would be relocated
    type(c_ptr), intent(in) :: arg
    type(pleat_error), intent(inout) :: err
    code = c_action_register(session, name // c_null_char, action, arg, err)
  end function

  integer(c_int) function pleat_point_register(session, name, use, point, err) result(code)
    type(pleat_session), intent(in) :: session
    character(*), intent(in) :: name
    integer(c_int), intent(in) :: use
    integer(c_int), intent(inout) :: point
    type(pleat_error), intent(inout) :: err
    code = c_point_register(session, name // c_null_char, use, point, err)
  end function

  integer(c_int) function pleat_value_register(session, name, ptr, bytes, err) result(code)
    type(pleat_session), intent(in) :: session
    character(*), intent(in) :: name
    type(c_ptr), intent(in) :: ptr
    integer(c_size_t), intent(in) :: bytes
    type(pleat_error), intent(inout) :: err
    code = c_value_register(session, name // c_null_char, ptr, bytes, err)
  end function

  integer(c_int) function pleat_rows_create(session, name, rows, row_bytes, halo, handle, err) result(code)
    type(pleat_session), intent(in) :: session
    character(*), intent(in) :: name
    integer(c_int64_t), intent(in) :: rows
    integer(c_size_t), intent(in) :: row_bytes
    integer(c_int), intent(in) :: halo
    type(pleat_rows), intent(out) :: handle
    type(pleat_error), intent(inout) :: err
    code = c_rows_create(session, name // c_null_char, rows, row_bytes, halo, handle, err)
  end function

  integer(c_int) function pleat_array_create(session, name, shape, handle, err) result(code)
    type(pleat_session), intent(in) :: session
    character(*), intent(in) :: name
    type(pleat_array_shape), intent(in) :: shape
    type(pleat_array), intent(out) :: handle
    type(pleat_error), intent(inout) :: err
    code = c_array_create(session, name // c_null_char, shape, handle, err)
  end function

  integer(c_int) function pleat_items_register(session, name, ops, item_bytes, arg, err) result(code)
    type(pleat_session), intent(in) :: session
    character(*), intent(in) :: name
    type(pleat_items_ops), intent(in) :: ops
    integer(c_int64_t), intent(in) :: item_bytes
    type(c_ptr), intent(in) :: arg
    type(pleat_error), intent(inout) :: err
    code = c_items_register(session, name // c_null_char, ops, item_bytes, arg, err)
  end function

  integer(c_int) function pleat_particles_create(session, name, particle_bytes, handle, err) result(code)
    type(pleat_session), intent(in) :: session
    character(*), intent(in) :: name
    integer(c_size_t), intent(in) :: particle_bytes
    type(pleat_particles), intent(out) :: handle
    type(pleat_error), intent(inout) :: err
    code = c_particles_create(session, name // c_null_char, particle_bytes, handle, err)
  end function

  integer(c_int) function pleat_csr_create(session, name, rows, field_bytes, fields, handle, err) result(code)
    type(pleat_session), intent(in) :: session
    character(*), intent(in) :: name
    integer(c_int64_t), intent(in) :: rows
    integer(c_size_t), intent(in) :: field_bytes(*)
    integer(c_int), intent(in) :: fields
    type(pleat_csr), intent(out) :: handle
    type(pleat_error), intent(inout) :: err
    code = c_csr_create(session, name // c_null_char, rows, field_bytes, fields, handle, err)
  end function

  integer(c_int) function pleat_owned_register(session, name, rows, row_bytes, ops, arg, err) result(code)
    type(pleat_session), intent(in) :: session
    character(*), intent(in) :: name
    integer(c_int64_t), intent(in) :: rows
    integer(c_size_t), intent(in) :: row_bytes
    type(pleat_owned_ops), intent(in) :: ops
    type(c_ptr), intent(in) :: arg
    type(pleat_error), intent(inout) :: err
    code = c_owned_register(session, name // c_null_char, rows, row_bytes, ops, arg, err)
  end function

  subroutine view_real32(handle, elements, halo, view)
    type(pleat_rows), intent(in) :: handle
    integer, intent(in) :: elements, halo
    real(c_float), pointer, intent(out) :: view(:, :)
    real(c_float), pointer :: all(:, :)
    real(c_float) :: one
    call c_f_pointer(before(handle, elements * halo * c_sizeof(one)), all, [elements, rows_with(handle, halo)])
    view(1:, pleat_rows_first(handle) + 1 - halo:) => all
  end subroutine

  subroutine view_real64(handle, elements, halo, view)
    type(pleat_rows), intent(in) :: handle
    integer, intent(in) :: elements, halo
    real(c_double), pointer, intent(out) :: view(:, :)
    real(c_double), pointer :: all(:, :)
    real(c_double) :: one
    call c_f_pointer(before(handle, elements * halo * c_sizeof(one)), all, [elements, rows_with(handle, halo)])
    view(1:, pleat_rows_first(handle) + 1 - halo:) => all
  end subroutine

  subroutine view_int64(handle, elements, halo, view)
    type(pleat_rows), intent(in) :: handle
    integer, intent(in) :: elements, halo
    integer(c_int64_t), pointer, intent(out) :: view(:, :)
    integer(c_int64_t), pointer :: all(:, :)
    integer(c_int64_t) :: one
    call c_f_pointer(before(handle, elements * halo * c_sizeof(one)), all, [elements, rows_with(handle, halo)])
    view(1:, pleat_rows_first(handle) + 1 - halo:) => all
  end subroutine

  ! The address this number of bytes before the first local row.
  type(c_ptr) function before(handle, bytes)
    type(pleat_rows), intent(in) :: handle
    integer(c_size_t), intent(in) :: bytes
    before = transfer(transfer(pleat_rows_data(handle), 0_c_intptr_t) - int(bytes, c_intptr_t), before)
  end function

  integer function rows_with(handle, halo)
    type(pleat_rows), intent(in) :: handle
    integer, intent(in) :: halo
    rows_with = int(pleat_rows_count(handle)) + 2 * halo
  end function
end module
