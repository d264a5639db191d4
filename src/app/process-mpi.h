/* process-mpi.h - what the two halves of pleat_process_mpi_... share: those before MPI_Init
 * (process-mpi-prepare.c), and those with communicators (process-mpi.c).
 *
 * libpleat-process is the program's: who does not ask for processes links without it. So its
 * functions are weak here, and looked for before they are called. */
#ifndef PLEAT_APP_PROCESS_MPI_H
#define PLEAT_APP_PROCESS_MPI_H

#include <stdbool.h>
#include <stdint.h>

#include "pleat.h"

#pragma weak pleat_process_self
#pragma weak pleat_process_about
#pragma weak pleat_process_leaving
#pragma weak pleat_process_send
#pragma weak pleat_process_receive

/* Milliseconds that are left until that time (pleat_clock_monotonic_us), as the functions for
 * messages take them; INT64_MAX: -1. */
int pleat_process_mpi_left(int64_t until_us);

/* The path of a file of the run: `name` is what follows "ompi-server". NULL: this process is not
 * one of a run. To be freed. */
char *pleat_process_mpi_path(const char *name);

/* PLEAT_E_UNSUPPORTED: the program is linked without libpleat-process, or this MPI has no ports.
 * PLEAT_E_STATE: it was not prepared. */
int pleat_process_mpi_usable(const struct pleat_processes *processes,
                             struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
