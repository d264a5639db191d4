! Asks for processes at any site, and at one.
program anywhere
  use, intrinsic :: iso_c_binding
  use pleat_process
  implicit none
  type(pleat_processes) :: all
  type(pleat_process_settings) :: settings
  type(pleat_process_error) :: err
  integer(c_int32_t) :: other
  integer(c_int) :: what

  what = pleat_processes_begin(all, settings, err)
  call must(what)
  what = pleat_process_add(all, other, err, PLEAT_PROCESS_ANY_SITE)
  call must(what)
  what = pleat_process_add_program(all, ['cells', 'fine '], other, err, site='there  ')
  call must(what)
  print '(a)', 'asked'
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
