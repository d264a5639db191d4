/* far_terminal.h - the terminal of a job that runs on another host, whose keys and output go
 * through pleatd.
 *
 * This program knows the other terminal as a socket: keys are written to it, and what the job shows
 * is read from it. Threads pass both on, with connections of their own. They go on where they were
 * when pleatd was lost and is there again, so nothing is lost or shown twice. There is one such
 * terminal in this program, as there is one terminal.
 */
#ifndef PLEAT_CLI_JOBS_FAR_TERMINAL_H
#define PLEAT_CLI_JOBS_FAR_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

/* Makes the socket, which does not block. -1: there is none (errno). */
int pleat_far_terminal_begin(void);
/* Begins to ask pleatd about the terminal of a job, until that has ended; then the socket ends. If
 * it runs on this host nothing more happens. */
void pleat_far_terminal_start(int64_t job);
/* The program is about to end: if pleatd was asked nothing, the socket ends. */
void pleat_far_terminal_end(void);
/* Whether a run of the job on another host has a terminal there. */
bool pleat_far_terminal_is_there(void);
/* Whether pleatd was lost and is not there again after some time. */
bool pleat_far_terminal_is_lost(void);
/* This program's terminal may have another size. May be called by a signal handler. */
void pleat_far_terminal_resized(void);

#endif
