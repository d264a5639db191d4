! moves FILE: the module `pleat` with `use mpi_f08`, and what numbers.f90 leaves out: cells with halos and their Cartesian
! communicator, rows of the program's own, items that are packed, actions and a plan of them, named points, sections. Each
! step adds 1 to everything, until there is a file FILE.
module moving
  use, intrinsic :: iso_c_binding
  use mpi_f08
  use pleat
  implicit none

  integer, parameter :: columns = 3 ! of a row of the program's own
  real(c_double), allocatable, target :: mine(:, :), coming(:, :)
  ! items: texts of any length; `seen` is what actions have counted
  type text
    character(:), allocatable :: of
  end type
  type(text), allocatable :: words(:), words_coming(:)
  integer :: seen(3) = 0

contains

  type(c_ptr) function rows_now(arg) bind(c)
    type(c_ptr), value :: arg
    rows_now = c_null_ptr
    if (.not. c_associated(arg) .and. size(mine) > 0) rows_now = c_loc(mine)
  end function

  type(c_ptr) function rows_open(count, arg) bind(c)
    integer(c_int64_t), value :: count
    type(c_ptr), value :: arg
    allocate (coming(columns, max(count, 1_c_int64_t)))
    coming = 0
    rows_open = c_loc(coming)
    if (c_associated(arg)) rows_open = c_null_ptr
  end function

  subroutine rows_close(taken, arg) bind(c)
    integer(c_int), value :: taken
    type(c_ptr), value :: arg
    if (taken /= 0 .and. .not. c_associated(arg)) call move_alloc(coming, mine)
    if (allocated(coming)) deallocate (coming)
  end subroutine

  integer(c_int64_t) function words_count(arg) bind(c)
    type(c_ptr), value :: arg
    words_count = size(words)
    if (c_associated(arg)) words_count = -1
  end function

  integer(c_int64_t) function word_bytes(item, arg) bind(c)
    integer(c_int64_t), value :: item
    type(c_ptr), value :: arg
    word_bytes = len(words(item + 1)%of)
    if (c_associated(arg)) word_bytes = -1
  end function

  subroutine word_pack(item, to, arg) bind(c)
    integer(c_int64_t), value :: item
    type(c_ptr), value :: to, arg
    character(kind=c_char), pointer :: bytes(:)
    integer :: i
    if (c_associated(arg)) return
    call c_f_pointer(to, bytes, [len(words(item + 1)%of)])
    do i = 1, size(bytes)
      bytes(i) = words(item + 1)%of(i:i)
    end do
  end subroutine

  integer(c_int) function words_open(count, bytes, arg) bind(c)
    integer(c_int64_t), value :: count, bytes
    type(c_ptr), value :: arg
    allocate (words_coming(count))
    words_open = merge(0, 1, bytes >= 0 .and. .not. c_associated(arg))
  end function

  subroutine word_unpack(item, from, bytes, arg) bind(c)
    integer(c_int64_t), value :: item, bytes
    type(c_ptr), value :: from, arg
    character(kind=c_char), pointer :: packed(:)
    integer :: i
    if (c_associated(arg)) return
    call c_f_pointer(from, packed, [bytes])
    allocate (character(bytes) :: words_coming(item + 1)%of)
    do i = 1, int(bytes)
      words_coming(item + 1)%of(i:i) = packed(i)
    end do
  end subroutine

  subroutine words_close(taken, arg) bind(c)
    integer(c_int), value :: taken
    type(c_ptr), value :: arg
    if (taken /= 0 .and. .not. c_associated(arg)) call move_alloc(words_coming, words)
    if (allocated(words_coming)) deallocate (words_coming)
  end subroutine

  integer(c_int) function count_it(session, moment, change, arg) bind(c)
    type(pleat_session), value :: session
    integer(c_int), value :: moment
    type(pleat_offer), intent(in) :: change
    type(c_ptr), value :: arg
    type(MPI_Comm) :: comm
    integer :: ranks
    comm%mpi_val = pleat_session_comm(session)
    call MPI_Comm_size(comm, ranks)
    seen(moment) = seen(moment) + 1
    count_it = merge(0, 1, ranks == merge(change%to, change%from, moment == PLEAT_AFTER) .or. change%from == 0)
    if (c_associated(arg)) count_it = 1
  end function

  ! An action that fails; the plan leaves it out.
  integer(c_int) function never(session, moment, change, arg) bind(c)
    type(pleat_session), value :: session
    integer(c_int), value :: moment
    type(pleat_offer), intent(in) :: change
    type(c_ptr), value :: arg
    never = merge(1, 2, moment == PLEAT_BEFORE .and. change%to > 0 .and. .not. c_associated(arg))
    if (pleat_session_size(session) < 1) never = 3
  end function

  integer(c_int) function all_but_never(moment, change, actions, count, arg) bind(c)
    integer(c_int), value :: moment, count
    type(pleat_offer), intent(in) :: change
    integer(c_int), intent(inout) :: actions(count)
    type(c_ptr), value :: arg
    actions(1) = 1
    all_but_never = merge(1, -1, moment >= PLEAT_BEFORE .and. change%to > 0 .and. count == 2 .and. .not. c_associated(arg))
  end function
end module

program moves
  use moving
  implicit none
  integer(c_int64_t), parameter :: rows = 31, high = 12, wide = 9
  integer, parameter :: texts = 20
  type(pleat_session) :: session
  type(pleat_array) :: cells
  type(pleat_array_shape) :: shape
  type(pleat_items_ops) :: items
  type(pleat_owned_ops) :: own
  type(pleat_error) :: err
  type(pleat_offer) :: change
  type(MPI_Comm) :: comm
  integer(c_int64_t), target :: step = 0
  integer(c_int) :: what, in_loop
  real(c_double), pointer :: u(:, :) ! with its halos, from 0
  integer :: length
  character(len=1024) :: file
  logical :: over

  call get_command_argument(1, file, length)
  call MPI_Init()
  if (pleat_session_create(session, err) /= 0) call give_up()
  if (pleat_value_register(session, 'step', c_loc(step), c_sizeof(step), err) /= 0) call give_up()
  call register_data()
  if (pleat_action_register(session, 'never', c_funloc(never), c_null_ptr, err) /= 0) call give_up()
  if (pleat_action_register(session, 'count it', c_funloc(count_it), c_null_ptr, err) /= 0) call give_up()
  call pleat_session_on_plan(session, c_funloc(all_but_never), c_null_ptr)
  if (pleat_point_register(session, 'loop', PLEAT_POINT_RESIZE, in_loop, err) /= 0) call give_up()
  if (pleat_section_begin(session, err) /= PLEAT_E_STATE) error stop 'a section before begin'
  what = pleat_session_begin(session, err)
  if (what < 0) call give_up()
  if (what == PLEAT_STARTED) call fill()
  if (what == PLEAT_JOINED .and. (pleat_session_point(session) /= in_loop .or. seen(PLEAT_AFTER) /= 1)) error stop 'joined'
  do while (what /= PLEAT_LEAVE)
    comm%mpi_val = pleat_session_comm(session)
    call verify()
    over = .false.
    if (pleat_session_rank(session) == 0) inquire (file=file(:length), exist=over)
    call MPI_Bcast(over, 1, MPI_LOGICAL, 0, comm)
    if (over) exit
    call compute()
    if (pleat_session_expect(session, -1d0, 1000_c_int64_t, -1_c_int64_t, err) /= 0) call give_up()
    if (pleat_session_grid(session, 2, [1, pleat_session_size(session)], err) /= 0) call give_up()
    if (mod(step, 10_c_int64_t) == 0) then
      if (pleat_section_begin(session, err) /= 0) call give_up()
      if (pleat_session_adapt(session, err) /= PLEAT_SAME) error stop 'a change in a section'
      if (pleat_section_end(session, err) /= 0) call give_up()
    end if
    what = pleat_point_adapt(session, in_loop, err)
    what = pleat_or_abort(what, err)
    change = pleat_session_offer(session)
    if ((what == PLEAT_GREW .or. what == PLEAT_SHRANK) .and. change%to /= pleat_session_size(session)) error stop 'a change'
  end do
  if (what /= PLEAT_LEAVE) then
    if (pleat_session_rank(session) == 0) print '(a, i0)', 'RESULT ok ranks=', pleat_session_size(session)
  end if
  call pleat_session_finish(session)
  call MPI_Finalize()

contains

  subroutine register_data()
    integer(c_int64_t) :: first, count
    shape%dims = 2
    shape%element_bytes = c_sizeof(1d0)
    shape%dim(1) = pleat_dimension(extent=high, format=PLEAT_BLOCK, halo_low=1, halo_high=1, periodic=1)
    shape%dim(2) = pleat_dimension(extent=wide, format=PLEAT_BLOCK, halo_low=1, halo_high=1)
    if (pleat_array_create(session, 'cells', shape, cells, err) /= 0) call give_up()
    own%data = c_funloc(rows_now)
    own%open = c_funloc(rows_open)
    own%close = c_funloc(rows_close)
    if (pleat_owned_register(session, 'own', rows, int(8 * columns, c_size_t), own, c_null_ptr, err) /= 0) call give_up()
    items%count = c_funloc(words_count)
    items%bytes = c_funloc(word_bytes)
    items%pack = c_funloc(word_pack)
    items%open = c_funloc(words_open)
    items%unpack = c_funloc(word_unpack)
    items%close = c_funloc(words_close)
    if (pleat_items_register(session, 'words', items, 0_c_int64_t, c_null_ptr, err) /= 0) call give_up()
    allocate (words(0))
    call pleat_owned_block(rows, pleat_session_size(session), pleat_session_rank(session), first, count)
    if (pleat_session_joined(session) /= 0) count = 0
    allocate (mine(columns, count))
    mine = 0
  end subroutine

  subroutine local_cells()
    real(c_double), pointer :: all(:, :)
    call c_f_pointer(pleat_array_data(cells), all, [pleat_array_extent(cells, 0), pleat_array_extent(cells, 1)])
    u(0:, 0:) => all
  end subroutine

  ! The number of a cell in the whole array.
  real(c_double) function number(i, j)
    integer, intent(in) :: i, j
    number = real(pleat_array_global(cells, 0, i - 1_c_int64_t) + high * pleat_array_global(cells, 1, j - 1_c_int64_t), c_double)
  end function

  subroutine fill()
    integer :: i, j
    integer(c_int64_t) :: first, count, row
    call local_cells()
    do j = 1, int(pleat_array_count(cells, 1))
      do i = 1, int(pleat_array_count(cells, 0))
        u(i, j) = number(i, j)
      end do
    end do
    call pleat_owned_block(rows, pleat_session_size(session), pleat_session_rank(session), first, count)
    do row = 1, count
      mine(:, row) = real(first + row, c_double)
    end do
    do i = 1 + pleat_session_rank(session), texts, pleat_session_size(session)
      words = [words, text(repeat('x', i))]
    end do
  end subroutine

  subroutine compute()
    integer :: m, n
    m = int(pleat_array_count(cells, 0))
    n = int(pleat_array_count(cells, 1))
    u(1:m, 1:n) = u(1:m, 1:n) + 1
    mine = mine + 1
    step = step + 1
  end subroutine

  subroutine verify()
    integer :: i, j, m, n
    integer(c_int64_t) :: first, count, row
    integer :: here, all
    call local_cells()
    m = int(pleat_array_count(cells, 0))
    n = int(pleat_array_count(cells, 1))
    do j = 1, n
      do i = 1, m
        if (u(i, j) /= number(i, j) + real(step, c_double)) error stop 'cells'
      end do
    end do
    if (m > 0 .and. n > 0) call exchange(m, n)
    call pleat_owned_block(rows, pleat_session_size(session), pleat_session_rank(session), first, count)
    do row = 1, count
      if (any(mine(:, row) /= real(first + row + step, c_double))) error stop 'rows'
    end do
    here = 0
    do i = 1, size(words)
      here = here + len(words(i)%of)
    end do
    call MPI_Allreduce(here, all, 1, MPI_INTEGER, MPI_SUM, comm)
    if (all /= texts * (texts + 1) / 2) error stop 'words'
  end subroutine

  ! The first row of cells of the next process, around the end, into the halo behind the last one.
  subroutine exchange(m, n)
    integer, intent(in) :: m, n
    type(MPI_Comm) :: grid
    integer(c_int) :: handle
    integer :: low, up
    real(c_double) :: first(n), next(n)
    if (pleat_array_comm(cells, handle, err) /= 0) call give_up()
    grid%mpi_val = handle
    call MPI_Cart_shift(grid, 0, 1, low, up)
    first = u(1, 1:n)
    call MPI_Sendrecv(first, n, MPI_DOUBLE_PRECISION, low, 1, next, n, MPI_DOUBLE_PRECISION, up, 1, grid, MPI_STATUS_IGNORE)
    u(m + 1, 1:n) = next
    if (any(abs(modulo(next - first, real(high, c_double)) - modulo(m, int(high))) > 0)) error stop 'the next cells'
  end subroutine

  subroutine give_up()
    print '(a)', pleat_error_text(err)
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine
end program
