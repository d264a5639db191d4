/* process-mpi.h - what the two halves of pleat_process_mpi_... share: those before MPI_Init
 * (process-mpi-prepare.c), and those with communicators (process-mpi.c).
 *
 * libpleat-process is the program's: who does not ask for processes links without it. So its
 * functions are weak here, and looked for before they are called. */
#ifndef PLEAT_APP_PROCESS_MPI_H
#define PLEAT_APP_PROCESS_MPI_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#include "pleat.h"

#pragma weak pleat_process_self
#pragma weak pleat_process_about
#pragma weak pleat_process_leaving
#pragma weak pleat_process_send
#pragma weak pleat_process_receive
#pragma weak pleat_process_group_join
#pragma weak pleat_process_group_name

/* Milliseconds that are left until that time (pleat_clock_monotonic_us), as the functions for
 * messages take them; INT64_MAX: -1. */
int pleat_process_mpi_left(int64_t until_us);

/* Whether this process is on another node than process 0. */
bool pleat_process_mpi_is_away(void);

/* The path of a file of the run, on this node. NULL: this process is not one of a run. To be freed.
 */
char *pleat_process_mpi_path(const char *name);

/* ---- by which network, and where ompi-server is (process-mpi-network.c) ---- */

#define PLEAT_PROCESS_MPI_SERVER_FILE "ompi-server"

/* The interface by which this process and its daemon reach others. *others: those of other
 * machines, too. PLEAT_E_SYSTEM. */
int pleat_process_mpi_interface(char name[IF_NAMESIZE], bool *others,
                                struct pleat_error *err) PLEAT_MUST_CHECK;

/* Process 0 says to those of other nodes what its ompi-server has written to `path`.
 * PLEAT_E_UNSUPPORTED: they cannot reach it; PLEAT_E_SYSTEM, and those of
 * pleat_process_group_join. */
int pleat_process_mpi_announce(const struct pleat_processes *processes, const char *path,
                               struct pleat_error *err) PLEAT_MUST_CHECK;
/* Finds what process 0 has said: the server's URI. Whether it has. No communication. */
bool pleat_process_mpi_find_server(const struct pleat_processes *processes, char *uri, size_t size);

/* ---- calls of MPI that would wait for ever (process-mpi-watch.c) ---- */

struct pleat_process_mpi_watch;

/* Until unwatch(): if the process `other` dies, and some seconds later unwatch() has not come, this
 * process ends with 1, and says why. PLEAT_E_NOMEM, PLEAT_E_SYSTEM: *watch is NULL. */
int pleat_process_mpi_watch(const struct pleat_processes *processes, int32_t other,
                            struct pleat_process_mpi_watch **watch,
                            struct pleat_error *err) PLEAT_MUST_CHECK;
/* Releases *watch, which may be NULL, and makes it NULL. */
void pleat_process_mpi_unwatch(struct pleat_process_mpi_watch **watch);

/* PLEAT_E_UNSUPPORTED: the program is linked without libpleat-process, or this MPI has no ports.
 * PLEAT_E_STATE: it was not prepared. */
int pleat_process_mpi_usable(const struct pleat_processes *processes,
                             struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
