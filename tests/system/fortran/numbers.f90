! numbers FILE LIMIT: the module `pleat` in use. Ranks add up numbers that they keep in rows, in an array, and in particles,
! until there is a file FILE. They count their steps in data of their own, too, which they pack when a resize is pending.
! The file LIMIT, where there is one, says how many ranks the program can use.
module callbacks
  use, intrinsic :: iso_c_binding
  use pleat
  implicit none

contains

  ! Any number of ranks will do, so the program says.
  integer(c_int) function accepts(ranks, arg) bind(c)
    integer(c_int), value :: ranks
    type(c_ptr), value :: arg
    accepts = merge(1, 0, ranks > 0 .and. .not. c_associated(arg))
  end function

  ! All processes in the second dimension of the grid.
  subroutine columns(name, size, dims, grid, arg) bind(c)
    character(kind=c_char), intent(in) :: name(*)
    integer(c_int), value :: size, dims
    integer(c_int), intent(inout) :: grid(dims)
    type(c_ptr), value :: arg
    if (name(1) /= 'm' .or. c_associated(arg)) return
    grid = 1
    grid(2) = size
  end subroutine

  ! A particle is an integer, and belongs to that rank.
  integer(c_int) function owner(particle, size, arg) bind(c)
    type(c_ptr), value :: particle
    integer(c_int), value :: size
    type(c_ptr), value :: arg
    integer(c_int64_t), pointer :: number
    call c_f_pointer(particle, number)
    owner = int(mod(number, int(size, c_int64_t)))
    if (c_associated(arg)) owner = -1
  end function

  integer(c_int) function all_of_it(current, offered, mandatory, arg) bind(c)
    integer(c_int), value :: current, offered, mandatory
    type(c_ptr), value :: arg
    all_of_it = offered
    if (mandatory /= 0 .and. c_associated(arg)) all_of_it = current
  end function
end module

program numbers
  use mpi
  use pleat
  use callbacks
  implicit none
  integer(c_int64_t), parameter :: rows = 1000
  integer, parameter :: wide = 30, high = 20
  type(pleat_session) :: session
  type(pleat_rows) :: handle
  type(pleat_array) :: matrix
  type(pleat_particles) :: particles
  type(pleat_csr) :: sparse
  type(pleat_array_shape) :: shape
  type(pleat_error) :: err
  integer(c_int64_t), target :: step = 0, packed = 0
  integer(c_int64_t) :: own = 0 ! steps that this rank has counted: each step is counted by one
  integer(c_int64_t), pointer :: mine(:, :), entries(:, :), list(:)
  integer(c_int) :: what, pending
  integer :: ierr
  character(len=1024) :: file, limit
  logical :: over

  call get_command_argument(1, file)
  call get_command_argument(2, limit)
  call MPI_Init(ierr)
  call check_types()
  if (pleat_session_create(session, err) /= 0) call give_up()
  if (pleat_value_register(session, 'step', c_loc(step), c_sizeof(step), err) /= 0) call give_up()
  if (pleat_value_register(session, 'packed', c_loc(packed), c_sizeof(packed), err) /= 0) call give_up()
  if (pleat_rows_create(session, 'numbers', rows, 16_c_size_t, 1, handle, err) /= 0) call give_up()
  call pleat_session_on_grid(session, c_funloc(columns), c_null_ptr)
  shape%dims = 2
  shape%element_bytes = 8
  shape%dim(1) = pleat_dimension(extent=high, format=PLEAT_BLOCK_CYCLIC, block=3)
  shape%dim(2) = pleat_dimension(extent=wide, format=PLEAT_BLOCK)
  if (pleat_array_create(session, 'matrix', shape, matrix, err) /= 0) call give_up()
  if (pleat_particles_create(session, 'list', 8_c_size_t, particles, err) /= 0) call give_up()
  call pleat_particles_on_owner(particles, c_funloc(owner), c_null_ptr)
  if (pleat_csr_create(session, 'sparse', rows, [4_c_size_t, 8_c_size_t], 2, sparse, err) /= 0) call give_up()
  call check_errors()
  call pleat_session_on_offer(session, c_funloc(all_of_it), c_null_ptr)
  ! each takes the place of the one before; in the end it can use any number of ranks
  if (pleat_session_limits_if(session, c_funloc(accepts), c_null_ptr, err) /= 0) call give_up()
  if (pleat_session_limits(session, 1, 2, '1,2', err) /= 0) call give_up()
  if (pleat_session_limit(session, 0, err) /= 0) call give_up()
  if (pleat_session_limits(session, 1, 0, 'any', err) /= 0) call give_up()
  if (pleat_session_announce(session, err) /= 0) call give_up()
  what = pleat_session_begin(session, err)
  if (what < 0) call give_up()
  if (what /= PLEAT_STARTED) call unpack()
  if (pleat_session_give_back(session, 0, err) /= PLEAT_E_INVALID) error stop 'give back'
  if (pleat_session_ask_within(session, 1, 0.0_c_double, err) /= PLEAT_E_INVALID) error stop 'ask within'
  if (pleat_session_ask(session, 0, 0, err) /= 0) call give_up() ! it wants nothing
  if (pleat_session_asked(session, err) /= PLEAT_ASKED_NOTHING) error stop 'asked'
  if (pleat_error_text(err) /= '') error stop 'a reason'
  if (what == PLEAT_STARTED) call fill()
  do while (what /= PLEAT_LEAVE)
    call local_data()
    over = .false.
    if (pleat_session_rank(session) == 0) inquire(file=trim(file), exist=over)
    call MPI_Bcast(over, 1, MPI_LOGICAL, 0, pleat_session_comm(session), ierr)
    if (over) exit
    mine = mine + 1
    entries = entries + 1
    step = step + 1
    if (mod(step, int(pleat_session_size(session), c_int64_t)) == pleat_session_rank(session)) own = own + 1
    call say_limit()
    call MPI_Barrier(pleat_session_comm(session), ierr)
    pending = pleat_session_pending(session)
    if (pending /= 0) call MPI_Allreduce(own, packed, 1, MPI_INTEGER8, MPI_SUM, pleat_session_comm(session), ierr)
    what = pleat_session_adapt(session, err)
    if (what < 0) call give_up()
    if (what > PLEAT_SAME .and. pending == 0) error stop 'a resize came unannounced'
    if (what == PLEAT_GREW .or. what == PLEAT_SHRANK) call unpack()
  end do
  if (what /= PLEAT_LEAVE) call check()
  call pleat_session_finish(session)
  call MPI_Finalize(ierr)

contains

  ! As tests/system/install/abi.c has them.
  subroutine check_types()
    if (c_sizeof(err) /= 484 .or. c_sizeof(shape) /= 192 .or. c_sizeof(shape%dim(1)) /= 40) error stop 'types'
  end subroutine

  ! What all ranks had counted is the first one's from now on.
  subroutine unpack()
    own = merge(packed, 0_c_int64_t, pleat_session_rank(session) == 0)
  end subroutine

  subroutine say_limit()
    integer :: unit, most, failed
    if (pleat_session_rank(session) /= 0) return
    open (newunit=unit, file=trim(limit), status='old', action='read', iostat=failed)
    if (failed /= 0) return
    read (unit, *, iostat=failed) most
    close (unit)
    if (failed /= 0) return
    if (pleat_session_limit(session, int(most, c_int), err) /= 0) call give_up()
  end subroutine

  subroutine check_errors()
    type(pleat_rows) :: again
    integer(c_int) :: grid(2)
    if (pleat_array_grid(matrix, 6, grid, err) /= 0) error stop 'grid'
    if (any(grid /= [1, 6])) error stop 'grid' ! in one condition it could be looked at before it is set
    if (pleat_array_grid(matrix, 0, grid, err) /= PLEAT_E_INVALID) error stop 'no grid'
    if (pleat_rows_create(session, 'numbers', rows, 8_c_size_t, 0, again, err) /= PLEAT_E_EXISTS) error stop 'exists'
    if (err%code /= PLEAT_E_EXISTS .or. index(pleat_error_text(err), 'numbers') == 0) error stop 'text'
    err = pleat_session_failure(session)
    if (err%code /= 0 .or. pleat_error_text(err) /= '') error stop 'failure'
  end subroutine

  ! Each row has its number twice, each element of the matrix its column. The particles are 0 to 99.
  subroutine fill()
    integer :: i, j
    integer(c_int64_t) :: row
    integer(c_int64_t), allocatable :: list_of_mine(:)
    call local_data()
    do row = lbound(mine, 2), ubound(mine, 2)
      mine(:, row) = row
    end do
    do j = 1, size(entries, 2)
      entries(:, j) = pleat_array_global(matrix, 1, j - 1_c_int64_t) + 1
    end do
    list_of_mine = [(int(i, c_int64_t), i = pleat_session_rank(session), 99, pleat_session_size(session))]
    if (pleat_particles_set_count(particles, size(list_of_mine, kind=c_int64_t), err) /= 0) call give_up()
    call local_data()
    list = list_of_mine
    if (pleat_csr_set_lengths(sparse, [(1_c_int64_t, row = 1, pleat_csr_count(sparse))], err) /= 0) call give_up()
    call set_entries()
  end subroutine

  subroutine set_entries()
    real(c_double), pointer :: numbers(:)
    call c_f_pointer(pleat_csr_field(sparse, 1), numbers, [pleat_csr_count(sparse)])
    numbers = 2
  end subroutine

  subroutine local_data()
    integer(c_int64_t), pointer :: with_halo(:, :)
    call pleat_rows_view(handle, 2, 1, with_halo)
    mine(1:, lbound(with_halo, 2) + 1:) => with_halo(:, lbound(with_halo, 2) + 1:ubound(with_halo, 2) - 1)
    call c_f_pointer(pleat_array_data(matrix), entries, [pleat_array_count(matrix, 0), pleat_array_count(matrix, 1)])
    call c_f_pointer(pleat_particles_data(particles), list, [pleat_particles_count(particles)])
  end subroutine

  subroutine check()
    integer(c_int64_t) :: parts(6), sums(6)
    integer(c_int64_t), parameter :: n = rows, cells = wide * high
    integer(c_int64_t), pointer :: start(:)
    real(c_double), pointer :: numbers(:)
    call c_f_pointer(pleat_csr_start(sparse), start, [pleat_csr_count(sparse) + 1])
    call c_f_pointer(pleat_csr_field(sparse, 1), numbers, [start(size(start))])
    parts = [sum(mine), sum(entries), sum(list), size(list, kind=c_int64_t), nint(sum(numbers), c_int64_t), own]
    if (any(mod(list, int(pleat_session_size(session), c_int64_t)) /= pleat_session_rank(session))) parts(3) = -1000000
    call MPI_Reduce(parts, sums, 6, MPI_INTEGER8, MPI_SUM, 0, pleat_session_comm(session), ierr)
    if (pleat_session_rank(session) /= 0) return
    if (all(sums == [n * (n + 1) + 2 * n * step, cells * (wide + 1) / 2 + cells * step, 4950_c_int64_t, &
      100_c_int64_t, 2 * n, step])) then
      print '(a, i0)', 'RESULT ok ranks=', pleat_session_size(session)
    else
      print '(a, 6(1x, i0))', 'RESULT wrong', sums
    end if
  end subroutine

  subroutine give_up()
    print '(a)', pleat_error_text(err)
    call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  end subroutine
end program
