! pleat-process.f90 - libpleat-process for Fortran (2008): the functions of pleat-process.h, which says what they do. No MPI.
!
! Compile this file with your own compiler, as a module belongs to the compiler that made it:
!
!     gfortran $(pkg-config --variable=fortran pleat-process) program.f90 -o program $(pkg-config --libs pleat-process)
!
! Names, arguments and results are those of C, with these differences. Names are plain texts. `err` is always given.
! pleat_processes_begin takes settings in any case; those that are as the type has them are the library's. Bytes are given by
! c_loc, and their number by c_sizeof. pleat_process_add_program is there for another program: its arguments are texts of one
! length, of which blanks at the end do not count. Both can name a site, or any (PLEAT_PROCESS_ANY_SITE).
module pleat_process
  use, intrinsic :: iso_c_binding
  implicit none
  private

  integer(c_int), parameter, public :: PLEAT_PROCESS_STARTED = 1, PLEAT_PROCESS_JOINED = 2, PLEAT_PROCESS_LEAVE = 3
  integer(c_int), parameter, public :: PLEAT_PROCESS_COMING = 1, PLEAT_PROCESS_RUNNING = 2, PLEAT_PROCESS_GONE = 3
  integer(c_int), parameter, public :: PLEAT_PROCESS_NO_REASON = 0, PLEAT_PROCESS_ENDED = 1, PLEAT_PROCESS_STOPPED = 2, &
    PLEAT_PROCESS_DIED = 3, PLEAT_PROCESS_LOST = 4, PLEAT_PROCESS_NOT_STARTED = 5, PLEAT_PROCESS_UNSAID = 6
  integer(c_int), parameter, public :: PLEAT_PROCESS_ADDED_READY = 1, PLEAT_PROCESS_ADDED_LATER = 2
  integer(c_int), parameter, public :: PLEAT_PROCESS_NEWS_CAME = 1, PLEAT_PROCESS_NEWS_GONE = 2, PLEAT_PROCESS_NEWS_LEAVE = 3
  integer(c_int), parameter, public :: PLEAT_PROCESS_DONE = 0, PLEAT_PROCESS_FULL = 1, PLEAT_PROCESS_NOTHING = 2
  integer(c_int32_t), parameter, public :: PLEAT_PROCESS_NONE = -1, PLEAT_PROCESS_ANY = -1, PLEAT_PROCESS_TYPE = -1
  character(*), parameter, public :: PLEAT_PROCESS_ANY_SITE = '*'
  integer, parameter :: TEXT_SIZE = 480

  ! What was begun; an unset one is NULL.
  type, bind(c), public :: pleat_processes
    type(c_ptr) :: ptr = c_null_ptr ! for functions of the module pleat that take it
  end type

  type, bind(c), public :: pleat_process_error
    integer(c_int) :: code = 0
    character(kind=c_char) :: text(TEXT_SIZE) = c_null_char ! pleat_process_error_text makes a text of it
  end type

  type, bind(c), public :: pleat_process_settings
    integer(c_size_t) :: window_messages = 0, window_bytes = 0
    integer(c_int) :: finish_ms = 0, answer_ms = 0
  end type

  type, bind(c), public :: pleat_process_info
    integer(c_int32_t) :: process = -1, parent = -1
    integer(c_int) :: state = 0, reason = 0, code = -1, signal = 0
  end type

  type, bind(c), public :: pleat_process_news
    integer(c_int) :: news = 0
    integer(c_int32_t) :: process = -1
    integer(c_int) :: reason = 0, code = -1, signal = 0
    integer(c_int64_t) :: lost = 0
  end type

  type, bind(c), public :: pleat_process_message
    integer(c_int32_t) :: from = -1, type = -1
    integer(c_size_t) :: bytes = 0
  end type

  type, bind(c) :: c_wish
    type(c_ptr) :: argv = c_null_ptr, variables = c_null_ptr, directory = c_null_ptr
    integer(c_int) :: priority = 0
    type(c_ptr) :: site = c_null_ptr, node = c_null_ptr, architecture = c_null_ptr
  end type

  interface
    integer(c_int) function pleat_processes_begin(processes, settings, err) bind(c, name='pleat_processes_begin')
      import
      type(pleat_processes), intent(out) :: processes
      type(pleat_process_settings), intent(in) :: settings
      type(pleat_process_error), intent(inout) :: err
    end function
    integer(c_int) function pleat_processes_finish(processes, err) bind(c, name='pleat_processes_finish')
      import
      type(pleat_processes), value :: processes
      type(pleat_process_error), intent(inout) :: err
    end function
    integer(c_int32_t) function pleat_process_self(processes) bind(c, name='pleat_process_self')
      import
      type(pleat_processes), value :: processes
    end function
    integer(c_int32_t) function pleat_process_parent(processes) bind(c, name='pleat_process_parent')
      import
      type(pleat_processes), value :: processes
    end function
    integer(c_int32_t) function pleat_process_maximum(processes) bind(c, name='pleat_process_maximum')
      import
      type(pleat_processes), value :: processes
    end function
    integer(c_int) function pleat_process_list(processes, list, room) bind(c, name='pleat_process_list')
      import
      type(pleat_processes), value :: processes
      integer(c_int), value :: room
      integer(c_int32_t), intent(inout) :: list(room)
    end function
    integer(c_int) function pleat_process_about(processes, process, info, err) bind(c, name='pleat_process_about')
      import
      type(pleat_processes), value :: processes
      integer(c_int32_t), value :: process
      type(pleat_process_info), intent(inout) :: info
      type(pleat_process_error), intent(inout) :: err
    end function
    integer(c_int) function c_add(processes, wish, process, err) bind(c, name='pleat_process_add')
      import
      type(pleat_processes), value :: processes
      type(c_wish), intent(in) :: wish
      integer(c_int32_t), intent(inout) :: process
      type(pleat_process_error), intent(inout) :: err
    end function
    integer(c_int) function pleat_process_cancel(processes, process, err) bind(c, name='pleat_process_cancel')
      import
      type(pleat_processes), value :: processes
      integer(c_int32_t), value :: process
      type(pleat_process_error), intent(inout) :: err
    end function
    integer(c_int) function pleat_process_stop(processes, process, err) bind(c, name='pleat_process_stop')
      import
      type(pleat_processes), value :: processes
      integer(c_int32_t), value :: process
      type(pleat_process_error), intent(inout) :: err
    end function
    subroutine pleat_process_iteration(processes, iteration) bind(c, name='pleat_process_iteration')
      import
      type(pleat_processes), value :: processes
      integer(c_int64_t), value :: iteration
    end subroutine
    integer(c_int) function pleat_process_returning(processes, count, err) bind(c, name='pleat_process_returning')
      import
      type(pleat_processes), value :: processes
      integer(c_int), value :: count
      type(pleat_process_error), intent(inout) :: err
    end function
    integer(c_int) function pleat_process_notice(processes, notice) bind(c, name='pleat_process_notice')
      import
      type(pleat_processes), value :: processes
      type(pleat_process_news), intent(inout) :: notice
    end function
    integer(c_int) function pleat_process_leaving(processes) bind(c, name='pleat_process_leaving')
      import
      type(pleat_processes), value :: processes
    end function
    integer(c_int) function pleat_process_descriptor(processes, err) bind(c, name='pleat_process_descriptor')
      import
      type(pleat_processes), value :: processes
      type(pleat_process_error), intent(inout) :: err
    end function
    integer(c_int) function pleat_process_send(processes, to, type, bytes, count, timeout_ms, err) &
      bind(c, name='pleat_process_send')
      import
      type(pleat_processes), value :: processes
      integer(c_int32_t), value :: to, type
      type(c_ptr), value :: bytes
      integer(c_size_t), value :: count
      integer(c_int), value :: timeout_ms
      type(pleat_process_error), intent(inout) :: err
    end function
    integer(c_int) function pleat_process_receive(processes, from, type, bytes, room, message, timeout_ms, err) &
      bind(c, name='pleat_process_receive')
      import
      type(pleat_processes), value :: processes
      integer(c_int32_t), value :: from, type
      type(c_ptr), value :: bytes
      integer(c_size_t), value :: room
      type(pleat_process_message), intent(inout) :: message
      integer(c_int), value :: timeout_ms
      type(pleat_process_error), intent(inout) :: err
    end function
    integer(c_int) function pleat_process_probe(processes, from, type, message, timeout_ms, err) &
      bind(c, name='pleat_process_probe')
      import
      type(pleat_processes), value :: processes
      integer(c_int32_t), value :: from, type
      type(pleat_process_message), intent(inout) :: message
      integer(c_int), value :: timeout_ms
      type(pleat_process_error), intent(inout) :: err
    end function
    integer(c_int) function c_group_join(processes, name, err) bind(c, name='pleat_process_group_join')
      import
      type(pleat_processes), value :: processes
      character(kind=c_char), intent(in) :: name(*)
      type(pleat_process_error), intent(inout) :: err
    end function
    integer(c_int) function c_group_leave(processes, name, err) bind(c, name='pleat_process_group_leave')
      import
      type(pleat_processes), value :: processes
      character(kind=c_char), intent(in) :: name(*)
      type(pleat_process_error), intent(inout) :: err
    end function
    integer(c_int) function c_group_list(processes, name, list, room) bind(c, name='pleat_process_group_list')
      import
      type(pleat_processes), value :: processes
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: room
      integer(c_int32_t), intent(inout) :: list(room)
    end function
    integer(c_int) function c_group_name(processes, process, place, name, room) bind(c, name='pleat_process_group_name')
      import
      type(pleat_processes), value :: processes
      integer(c_int32_t), value :: process
      integer(c_int), value :: place
      integer(c_size_t), value :: room
      character(kind=c_char), intent(inout) :: name(room)
    end function
    integer(c_int) function c_group_send(processes, name, type, bytes, count, timeout_ms, sent, err) &
      bind(c, name='pleat_process_group_send')
      import
      type(pleat_processes), value :: processes
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int32_t), value :: type
      type(c_ptr), value :: bytes
      integer(c_size_t), value :: count
      integer(c_int), value :: timeout_ms
      integer(c_int), intent(inout) :: sent
      type(pleat_process_error), intent(inout) :: err
    end function
  end interface

  public :: pleat_processes_begin, pleat_processes_finish, pleat_process_self, pleat_process_parent, pleat_process_maximum, &
    pleat_process_list, pleat_process_about, pleat_process_add, pleat_process_add_program, pleat_process_cancel, &
    pleat_process_stop, pleat_process_iteration, pleat_process_returning, pleat_process_notice, pleat_process_leaving, &
    pleat_process_descriptor, pleat_process_send, pleat_process_receive, pleat_process_probe, pleat_process_group_join, &
    pleat_process_group_leave, pleat_process_group_list, pleat_process_group_name, pleat_process_group_send, &
    pleat_process_error_text

contains

  ! The same program as this job's.
  integer(c_int) function pleat_process_add(processes, process, err, site) result(outcome)
    type(pleat_processes), intent(in) :: processes
    integer(c_int32_t), intent(out) :: process
    type(pleat_process_error), intent(inout) :: err
    character(*), intent(in), optional :: site
    process = PLEAT_PROCESS_NONE
    outcome = add_at(processes, c_wish(), process, err, site)
  end function

  ! What is wished, at a site.
  integer(c_int) function add_at(processes, wish, process, err, site) result(outcome)
    type(pleat_processes), intent(in) :: processes
    type(c_wish), intent(in) :: wish
    integer(c_int32_t), intent(inout) :: process
    type(pleat_process_error), intent(inout) :: err
    character(*), intent(in), optional :: site
    character(kind=c_char), allocatable, target :: name(:)
    type(c_wish) :: there
    integer :: i
    there = wish
    if (present(site)) then
      allocate(name(len_trim(site) + 1))
      do i = 1, len_trim(site)
        name(i) = site(i:i)
      end do
      name(len_trim(site) + 1) = c_null_char
      there%site = c_loc(name)
    end if
    outcome = c_add(processes, there, process, err)
  end function

  ! Another program and its arguments.
  integer(c_int) function pleat_process_add_program(processes, argv, process, err, site) result(outcome)
    type(pleat_processes), intent(in) :: processes
    character(*), intent(in) :: argv(:)
    integer(c_int32_t), intent(out) :: process
    type(pleat_process_error), intent(inout) :: err
    character(*), intent(in), optional :: site
    character(kind=c_char), target :: texts(len(argv) + 1, size(argv))
    type(c_ptr), target :: list(size(argv) + 1)
    type(c_wish) :: wish
    integer :: i, j, length
    texts = c_null_char
    do i = 1, size(argv)
      length = len_trim(argv(i))
      do j = 1, length
        texts(j, i) = argv(i)(j:j)
      end do
      list(i) = c_loc(texts(1, i))
    end do
    list(size(argv) + 1) = c_null_ptr
    wish%argv = c_loc(list)
    process = PLEAT_PROCESS_NONE
    outcome = add_at(processes, wish, process, err, site)
  end function

  integer(c_int) function pleat_process_group_join(processes, name, err) result(outcome)
    type(pleat_processes), intent(in) :: processes
    character(*), intent(in) :: name
    type(pleat_process_error), intent(inout) :: err
    outcome = c_group_join(processes, trim(name) // c_null_char, err)
  end function

  integer(c_int) function pleat_process_group_leave(processes, name, err) result(outcome)
    type(pleat_processes), intent(in) :: processes
    character(*), intent(in) :: name
    type(pleat_process_error), intent(inout) :: err
    outcome = c_group_leave(processes, trim(name) // c_null_char, err)
  end function

  integer(c_int) function pleat_process_group_list(processes, name, list) result(count)
    type(pleat_processes), intent(in) :: processes
    character(*), intent(in) :: name
    integer(c_int32_t), intent(inout) :: list(:)
    count = c_group_list(processes, trim(name) // c_null_char, list, int(size(list), c_int))
  end function

  ! place: from 1 on; name: blank where there is none, cut where it does not fit (63 characters are enough).
  integer(c_int) function pleat_process_group_name(processes, process, place, name) result(count)
    type(pleat_processes), intent(in) :: processes
    integer(c_int32_t), intent(in) :: process
    integer(c_int), intent(in) :: place
    character(*), intent(out) :: name
    character(kind=c_char) :: text(64)
    integer :: i
    text = c_null_char
    name = ' '
    count = c_group_name(processes, process, place - 1_c_int, text, int(size(text), c_size_t))
    do i = 1, min(len(name), size(text))
      if (text(i) == c_null_char) exit
      name(i:i) = text(i)
    end do
  end function

  integer(c_int) function pleat_process_group_send(processes, name, type, bytes, count, timeout_ms, sent, err) result(outcome)
    type(pleat_processes), intent(in) :: processes
    character(*), intent(in) :: name
    integer(c_int32_t), intent(in) :: type
    type(c_ptr), intent(in) :: bytes
    integer(c_size_t), intent(in) :: count
    integer(c_int), intent(in) :: timeout_ms
    integer(c_int), intent(inout) :: sent
    type(pleat_process_error), intent(inout) :: err
    outcome = c_group_send(processes, trim(name) // c_null_char, type, bytes, count, timeout_ms, sent, err)
  end function

  function pleat_process_error_text(err) result(text)
    type(pleat_process_error), intent(in) :: err
    character(:), allocatable :: text
    integer :: i
    text = ''
    do i = 1, TEXT_SIZE
      if (err%text(i) == c_null_char) exit
      text = text // err%text(i)
    end do
  end function
end module
