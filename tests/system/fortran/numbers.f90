! The program of docs/mpi-programmer.md in Fortran: ranks add up numbers that they keep in rows, until there is a file
! of the name that is the first argument. What the guide says about Fortran is tried here.
module pleat
  use, intrinsic :: iso_c_binding
  implicit none
  integer(c_int), parameter :: api_version = 1, openmpi = 1, mpich = 2 ! PLEAT_API_VERSION, PLEAT_MPI_KIND
  integer(c_int), parameter :: started = 1, joined = 2                 ! enum pleat_begin
  integer(c_int), parameter :: leave = 3                               ! enum pleat_adapt

  type, bind(c) :: error
    integer(c_int) :: code
    character(kind=c_char) :: text(480)
  end type

  interface
    integer(c_int) function session_create_for(session, version, mpi_kind, err) bind(c, name='pleat_session_create_for')
      import
      type(c_ptr), intent(out) :: session
      integer(c_int), value :: version, mpi_kind
      type(error), intent(out) :: err
    end function
    integer(c_int) function value_register(session, name, ptr, bytes, err) bind(c, name='pleat_value_register')
      import
      type(c_ptr), value :: session, ptr
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), value :: bytes
      type(error), intent(out) :: err
    end function
    integer(c_int) function rows_create(session, name, rows, row_bytes, halo, handle, err) bind(c, name='pleat_rows_create')
      import
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: rows
      integer(c_size_t), value :: row_bytes
      integer(c_int), value :: halo
      type(c_ptr), intent(out) :: handle
      type(error), intent(out) :: err
    end function
    integer(c_int) function session_limit(session, most, err) bind(c, name='pleat_session_limit')
      import
      type(c_ptr), value :: session
      integer(c_int), value :: most
      type(error) :: err
    end function
    integer(c_int) function session_limits(session, least, most, sizes, err) bind(c, name='pleat_session_limits')
      import
      type(c_ptr), value :: session
      integer(c_int), value :: least, most
      character(kind=c_char), intent(in) :: sizes(*)
      type(error) :: err
    end function
    integer(c_int) function session_begin(session, err) bind(c, name='pleat_session_begin')
      import
      type(c_ptr), value :: session
      type(error), intent(out) :: err
    end function
    integer(c_int) function session_adapt(session, err) bind(c, name='pleat_session_adapt')
      import
      type(c_ptr), value :: session
      type(error), intent(out) :: err
    end function
    subroutine session_finish(session) bind(c, name='pleat_session_finish')
      import
      type(c_ptr), value :: session
    end subroutine
    integer(c_int) function session_comm(session) bind(c, name='pleat_session_comm_fortran')
      import
      type(c_ptr), value :: session
    end function
    type(c_ptr) function rows_data(handle) bind(c, name='pleat_rows_data')
      import
      type(c_ptr), value :: handle
    end function
    integer(c_int64_t) function rows_first(handle) bind(c, name='pleat_rows_first')
      import
      type(c_ptr), value :: handle
    end function
    integer(c_int64_t) function rows_count(handle) bind(c, name='pleat_rows_count')
      import
      type(c_ptr), value :: handle
    end function
  end interface
end module

program numbers
  use mpi
  use pleat
  implicit none
  integer(c_int64_t), parameter :: rows = 1000
  type(c_ptr) :: session, handle
  type(error) :: err
  integer(c_int64_t), target :: step = 0
  integer(c_int64_t), pointer :: mine(:)
  integer(c_int64_t) :: total, part, i
  integer(c_int) :: what
  integer :: ierr, rank, ranks, mpi_kind
  character(len=1024) :: file, kind
  logical :: over

  call get_command_argument(1, file)
  call get_command_argument(2, kind)
  mpi_kind = merge(mpich, openmpi, kind == 'mpich')
  call MPI_Init(ierr)
  if (session_create_for(session, api_version, mpi_kind, err) /= 0) call give_up()
  if (value_register(session, 'step' // c_null_char, c_loc(step), 8_c_size_t, err) /= 0) call give_up()
  if (rows_create(session, 'numbers' // c_null_char, rows, 8_c_size_t, 0_c_int, handle, err) /= 0) call give_up()
  if (session_limit(session, 0, err) /= 0) stop 1 ! it can use any number of ranks
  if (session_limits(session, 1, 0, 'any' // c_null_char, err) /= 0) stop 1 ! which is the same
  what = session_begin(session, err)
  if (what < 0) call give_up()
  if (what == started) then
    call local_rows()
    mine = [(rows_first(handle) + i, i = 0, rows_count(handle) - 1)]
  end if
  do while (what /= leave)
    call local_rows()
    call MPI_Comm_rank(session_comm(session), rank, ierr)
    call MPI_Comm_size(session_comm(session), ranks, ierr)
    over = .false.
    if (rank == 0) inquire(file=trim(file), exist=over)
    call MPI_Bcast(over, 1, MPI_LOGICAL, 0, session_comm(session), ierr)
    if (over) exit
    mine = mine + 1
    step = step + 1
    call MPI_Barrier(session_comm(session), ierr)
    what = session_adapt(session, err)
    if (what < 0) call give_up()
  end do
  if (what /= leave) then
    part = sum(mine)
    call MPI_Reduce(part, total, 1, MPI_INTEGER8, MPI_SUM, 0, session_comm(session), ierr)
    if (rank == 0 .and. total == rows * (rows - 1) / 2 + rows * step) print '(a, i0)', 'RESULT ok ranks=', ranks
    if (rank == 0 .and. total /= rows * (rows - 1) / 2 + rows * step) print '(a)', 'RESULT wrong'
  end if
  call session_finish(session)
  call MPI_Finalize(ierr)

contains

  subroutine local_rows()
    call c_f_pointer(rows_data(handle), mine, [rows_count(handle)])
  end subroutine

  subroutine give_up()
    integer :: j
    print '(480a)', (err%text(j), j = 1, minloc(merge(0, 1, err%text == c_null_char), 1) - 1)
    call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  end subroutine
end program
