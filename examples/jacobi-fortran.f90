! jacobi-fortran [N [SWEEPS]] - Jacobi sweeps over an N x N plate whose columns are spread over the ranks.
program jacobi
  use mpi
  use pleat
  use, intrinsic :: iso_c_binding
  implicit none
  integer, parameter :: dp = kind(1d0)
  integer :: n, sweeps, first, last, i, j, what, ierr
  integer, target :: k = 0
  real(dp), pointer :: even(:, :), odd(:, :)
  type(pleat_session) :: session
  type(pleat_rows) :: plate(2)
  type(pleat_error) :: err

  n = argument(1, 512)
  sweeps = argument(2, 1000)
  call MPI_Init(ierr)
  if (pleat_session_create(session, err) /= 0) call fail()
  if (pleat_value_register(session, 'k', c_loc(k), c_sizeof(k), err) /= 0) call fail()
  if (pleat_rows_create(session, 'even', int(n, c_int64_t), 8_c_size_t * n, 1, plate(1), err) /= 0) call fail()
  if (pleat_rows_create(session, 'odd', int(n, c_int64_t), 8_c_size_t * n, 1, plate(2), err) /= 0) call fail()
  what = pleat_session_begin(session, err)
  if (what < 0) call fail()
  call local_columns()
  if (what == PLEAT_STARTED) then
    do j = first, last
      even(j, j) = 1 ! hot on the diagonal
    end do
  end if

  do while (k < sweeps .and. what /= PLEAT_LEAVE)
    if (mod(k, 2) == 0) call sweep(even, odd, pleat_session_comm(session))
    if (mod(k, 2) == 1) call sweep(odd, even, pleat_session_comm(session))
    k = k + 1
    what = pleat_session_adapt(session, err)
    if (what < 0) call fail()
    if (what == PLEAT_GREW .or. what == PLEAT_SHRANK) call local_columns()
  end do
  if (what /= PLEAT_LEAVE .and. mod(sweeps, 2) == 0) call report(even, pleat_session_comm(session))
  if (what /= PLEAT_LEAVE .and. mod(sweeps, 2) == 1) call report(odd, pleat_session_comm(session))
  call pleat_session_finish(session)
  call MPI_Finalize(ierr)

contains

  ! The columns as they are at the present size.
  subroutine local_columns()
    call pleat_rows_view(plate(1), n, 1, even)
    call pleat_rows_view(plate(2), n, 1, odd)
    first = lbound(even, 2) + 1
    last = ubound(even, 2) - 1
  end subroutine

  subroutine fail()
    print '(2a)', 'jacobi-fortran: ', pleat_error_text(err)
    call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  end subroutine

  integer function argument(place, otherwise)
    integer, intent(in) :: place, otherwise
    character(32) :: word
    argument = otherwise
    call get_command_argument(place, word)
    if (word /= '') read (word, *) argument
  end function

  ! Fetches the neighbours' edge columns into the ones before and behind the local ones.
  subroutine exchange(u, comm)
    real(dp), intent(inout) :: u(n, first - 1:last + 1)
    integer, intent(in) :: comm
    integer :: rank, left, right
    call MPI_Comm_rank(comm, rank, ierr)
    left = MPI_PROC_NULL
    right = MPI_PROC_NULL
    if (first <= last .and. first > 1) left = rank - 1
    if (first <= last .and. last < n) right = rank + 1
    call MPI_Sendrecv(u(:, first), n, MPI_DOUBLE_PRECISION, left, 1, &
      u(:, last + 1), n, MPI_DOUBLE_PRECISION, right, 1, comm, MPI_STATUS_IGNORE, ierr)
    call MPI_Sendrecv(u(:, last), n, MPI_DOUBLE_PRECISION, right, 2, &
      u(:, first - 1), n, MPI_DOUBLE_PRECISION, left, 2, comm, MPI_STATUS_IGNORE, ierr)
  end subroutine

  subroutine sweep(u, next, comm)
    real(dp), intent(inout) :: u(n, first - 1:last + 1)
    real(dp), intent(inout) :: next(n, first - 1:last + 1)
    integer, intent(in) :: comm
    real(dp) :: up, down
    call exchange(u, comm)
    do j = first, last
      do i = 1, n
        up = 0
        down = 0
        if (i > 1) up = u(i - 1, j)
        if (i < n) down = u(i + 1, j)
        next(i, j) = (up + down + u(i, j - 1) + u(i, j + 1)) / 4
      end do
    end do
  end subroutine

  subroutine report(u, comm)
    real(dp), intent(in) :: u(n, first - 1:last + 1)
    integer, intent(in) :: comm
    real(dp) :: mine, all
    integer :: rank, ranks
    mine = sum(u(:, first:last))
    call MPI_Reduce(mine, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, comm, ierr)
    call MPI_Comm_rank(comm, rank, ierr)
    call MPI_Comm_size(comm, ranks, ierr)
    if (rank == 0) print '(a, f0.6, a, i0, a)', 'heat ', all, ' on ', ranks, ' ranks'
  end subroutine
end program
