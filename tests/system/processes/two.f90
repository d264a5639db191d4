! two.f90 - two processes of an evolving job as ranks of one communicator, in Fortran.
program two
  use, intrinsic :: iso_c_binding
  use mpi
  use pleat
  use pleat_process
  implicit none
  type(pleat_processes) :: all
  type(pleat_process_settings) :: settings
  type(pleat_process_error) :: process_err
  type(pleat_error) :: err
  integer(c_int32_t) :: other, list(2)
  integer :: begun, comm, own, total, ranks, ierror
  character(20) :: group

  interface
    integer(c_int) function usleep(us) bind(c)
      import :: c_int, c_int32_t
      integer(c_int32_t), value :: us
    end function
  end interface

  begun = pleat_processes_begin(all, settings, process_err)
  if (begun < 0) error stop 'begin'
  if (pleat_process_group_join(all, 'fortran', process_err) /= 0) error stop 'group'
  if (pleat_process_group_name(all, pleat_process_self(all), 1, group) /= 1 .or. group /= 'fortran') error stop 'group name'
  if (pleat_process_group_name(all, pleat_process_self(all), 2, group) /= 1 .or. group /= '') error stop 'no group'
  if (pleat_process_mpi_prepare(all%ptr, 1, err) /= 0) call give_up()
  call MPI_Init(ierror)
  if (begun == PLEAT_PROCESS_STARTED) then
    comm = MPI_COMM_SELF
    own = 1
    if (pleat_process_add(all, other, process_err) < 0) error stop 'add'
  else
    comm = MPI_COMM_NULL
    own = 2
    other = pleat_process_parent(all)
  end if
  if (pleat_process_mpi_join(all%ptr, comm, other, 60000, err) /= 0) call give_up()
  call MPI_Allreduce(own, total, 1, MPI_INTEGER, MPI_SUM, comm, ierror)
  if (pleat_process_mpi_leave(comm, merge(1, 0, own == 2), err) /= 0) call give_up()
  if (own == 1) then
    call MPI_Comm_size(comm, ranks, ierror)
    print '(i0, a, i0)', total, ' of ', ranks
    call MPI_Comm_free(comm, ierror)
  else if (comm /= MPI_COMM_NULL) then
    error stop 'it has not left'
  end if
  call MPI_Finalize(ierror)
  do while (own == 1 .and. pleat_process_list(all, list, 2) > 1) ! the run ends with process 0: the other one is to end before
    if (usleep(10000_c_int32_t) /= 0) exit
  end do
  if (pleat_processes_finish(all, process_err) /= 0) error stop 'finish'

contains

  subroutine give_up()
    print '(a)', pleat_error_text(err)
    error stop 1
  end subroutine
end program
