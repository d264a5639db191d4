! jacobi-fortran [N [SWEEPS]] - Jacobi sweeps over an N x N plate whose columns are spread over the ranks.
program jacobi
  use mpi
  implicit none
  integer, parameter :: dp = kind(1d0)
  integer :: n, sweeps, rank, ranks, first, last, i, j, k, ierr
  real(dp), allocatable :: even(:, :), odd(:, :)

  n = argument(1, 512)
  sweeps = argument(2, 1000)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  ! the first mod(n, ranks) ranks have one column more
  first = n / ranks * rank + min(rank, mod(n, ranks)) + 1
  last = n / ranks * (rank + 1) + min(rank + 1, mod(n, ranks))
  allocate (even(n, first - 1:last + 1), odd(n, first - 1:last + 1), source=0d0)
  do j = first, last
    even(j, j) = 1 ! hot on the diagonal
  end do

  do k = 0, sweeps - 1
    if (mod(k, 2) == 0) call sweep(even, odd, MPI_COMM_WORLD)
    if (mod(k, 2) == 1) call sweep(odd, even, MPI_COMM_WORLD)
  end do
  if (mod(sweeps, 2) == 0) call report(even, MPI_COMM_WORLD)
  if (mod(sweeps, 2) == 1) call report(odd, MPI_COMM_WORLD)
  call MPI_Finalize(ierr)

contains

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
