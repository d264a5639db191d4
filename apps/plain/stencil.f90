! stencil - a heat equation on a square plate in Fortran: columns spread over the ranks, edges
! exchanged by MPI_Sendrecv, a reduction every ten sweeps.
!
! The plate starts as sin(pi x) sin(pi y), which a sweep multiplies by cos(pi / (n + 1)): the exact
! value of every point after any number of sweeps is known, and checked.
module plate
  use, intrinsic :: iso_fortran_env, only: error_unit, int64, real64
  implicit none
  real(real64), parameter :: tolerance = 1e-9_real64 ! relative to the hottest point
contains

  subroutine usage(unit)
    integer, intent(in) :: unit
    write (unit, '(a)') 'usage: mpirun ... stencil [options]', &
      'Heat on a square plate, in Fortran: sweeps, exchanges of edges, a reduction every ten sweeps.', &
      '  --iterations N   sweeps (default 1000)', &
      '  --size N         points along an edge of the plate, at least as many as ranks (default 128)', &
      '  --corrupt I      for tests: spoil a value in sweep I; the result must be wrong'
  end subroutine usage

  integer function number_after(at)
    integer, intent(in) :: at
    character(len=32) :: name, text
    integer :: status
    call get_command_argument(at, name)
    call get_command_argument(at + 1, text)
    read (text, *, iostat=status) number_after
    if (status /= 0 .or. number_after < 0) then
      write (error_unit, '(4a)') trim(name), ' wants a number from 0, not ''', trim(text), ''''
      stop 2
    end if
  end function number_after

  subroutine read_options(iterations, n, corrupt)
    integer, intent(inout) :: iterations, n, corrupt
    character(len=32) :: name
    integer :: at
    at = 1
    do while (at <= command_argument_count())
      call get_command_argument(at, name)
      select case (name)
      case ('--iterations')
        iterations = number_after(at)
      case ('--size')
        n = max(1, number_after(at))
      case ('--corrupt')
        corrupt = number_after(at)
      case ('--help')
        call usage(6)
        stop
      case default
        call usage(error_unit)
        stop 2
      end select
      at = at + 2
    end do
  end subroutine read_options

  ! The value at inner point (i, j) of an n x n plate after `sweeps` sweeps.
  real(real64) function exact(n, sweeps, i, j)
    integer, intent(in) :: n, sweeps, i, j
    real(real64) :: h
    h = acos(-1.0_real64)/(n + 1)
    exact = cos(h)**sweeps*sin(h*i)*sin(h*j)
  end function exact

end module plate

program stencil
  use mpi
  use plate
  implicit none
  integer :: iterations = 1000, n = 128, corrupt = -1
  integer :: rank, ranks, left, right, first, last, sweep, i, j, ierror
  integer(int64) :: mine(2), all(2)
  real(real64) :: change, largest, hottest
  real(real64), allocatable :: now(:, :), next(:, :)

  call read_options(iterations, n, corrupt)
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  n = max(n, ranks) ! a column for each at least
  first = int(int(n, int64)*rank/ranks) + 1
  last = int(int(n, int64)*(rank + 1)/ranks)
  left = merge(rank - 1, MPI_PROC_NULL, rank > 0)
  right = merge(rank + 1, MPI_PROC_NULL, rank < ranks - 1)
  allocate (now(0:n + 1, first - 1:last + 1), next(0:n + 1, first - 1:last + 1))
  now = 0
  next = 0
  do j = first, last
    do i = 1, n
      now(i, j) = exact(n, 0, i, j)
    end do
  end do

  mine = 0
  largest = huge(largest)
  do sweep = 1, iterations
    call MPI_Sendrecv(now(:, last), n + 2, MPI_DOUBLE_PRECISION, right, 1, &
      now(:, first - 1), n + 2, MPI_DOUBLE_PRECISION, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    call MPI_Sendrecv(now(:, first), n + 2, MPI_DOUBLE_PRECISION, left, 2, &
      now(:, last + 1), n + 2, MPI_DOUBLE_PRECISION, right, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    do j = first, last
      do i = 1, n
        next(i, j) = 0.25_real64*(now(i - 1, j) + now(i + 1, j) + now(i, j - 1) + now(i, j + 1))
      end do
    end do
    if (sweep == corrupt .and. rank == 0) next(1, 1) = next(1, 1) + 1
    if (mod(sweep, 10) == 0) then ! the plate only cools
      change = maxval(abs(next(1:n, first:last) - now(1:n, first:last)))
      call MPI_Allreduce(MPI_IN_PLACE, change, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierror)
      if (.not. change <= largest*(1 + tolerance)) mine(1) = mine(1) + 1
      largest = change
    end if
    now(1:n, first:last) = next(1:n, first:last)
  end do

  hottest = exact(n, iterations, n/2 + 1, n/2 + 1)
  if (hottest < 1e-200_real64) then
    write (error_unit, '(a)') 'after all --iterations a plate of this --size is cold: nothing is left to check'
    call MPI_Abort(MPI_COMM_WORLD, 2, ierror)
  end if
  do j = first, last
    do i = 1, n
      if (.not. abs(now(i, j) - exact(n, iterations, i, j)) <= tolerance*hottest) mine(1) = mine(1) + 1
      mine(2) = ieor(mine(2), ishftc(transfer(now(i, j), 0_int64), mod(i + j*7, 64)))
    end do
  end do
  call MPI_Allreduce(mine(1), all(1), 1, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD, ierror)
  call MPI_Allreduce(mine(2), all(2), 1, MPI_INTEGER8, MPI_BXOR, MPI_COMM_WORLD, ierror)
  if (rank == 0) write (*, '(3a,i0,a,i0,a,z16.16)') 'RESULT ', trim(merge('ok   ', 'wrong', all(1) == 0)), &
    ' stencil ranks=', ranks, ' iterations=', iterations, ' sum=', all(2)
  call MPI_Finalize(ierror)
  if (all(1) /= 0) stop 1
end program stencil
