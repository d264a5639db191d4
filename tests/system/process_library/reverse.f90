! Asks for a process, sends it numbers, and gets them back in reverse: docs/processes.md.
program reverse
  use, intrinsic :: iso_c_binding
  use pleat_process
  implicit none
  type(pleat_processes) :: all
  type(pleat_process_settings) :: settings
  type(pleat_process_error) :: err
  type(pleat_process_message) :: message
  real(c_double), target :: numbers(4) = [1.0d0, 2.0d0, 3.0d0, 4.0d0]
  integer(c_int32_t) :: other
  integer(c_int) :: what, begun

  begun = pleat_processes_begin(all, settings, err)
  call must(begun)
  if (begun == PLEAT_PROCESS_STARTED) then
    what = pleat_process_add(all, other, err)
    call must(what)
    what = pleat_process_send(all, other, 1, c_loc(numbers), c_sizeof(numbers), -1, err)
    call must(what)
    what = pleat_process_receive(all, other, 2, c_loc(numbers), c_sizeof(numbers), message, -1, err)
    call must(what)
    print '(4f5.1)', numbers
  else if (begun == PLEAT_PROCESS_JOINED) then
    what = pleat_process_receive(all, PLEAT_PROCESS_ANY, 1, c_loc(numbers), c_sizeof(numbers), message, -1, err)
    call must(what)
    numbers = numbers(4:1:-1)
    what = pleat_process_group_join(all, 'reversers', err)
    call must(what)
    what = pleat_process_send(all, message%from, 2, c_loc(numbers), c_sizeof(numbers), -1, err)
    call must(what)
  end if
  what = pleat_processes_finish(all, err)
  call must(what)

contains
  subroutine must(outcome)
    integer(c_int), intent(in) :: outcome
    if (outcome < 0) then
      print '(a)', pleat_process_error_text(err)
      error stop
    end if
  end subroutine
end program
