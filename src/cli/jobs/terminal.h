/* terminal.h - a terminal of its own for a job, shown on the terminal that this program has.
 *
 * This program holds the one end of a pseudo-terminal, the job's first process opens the other and
 * is the leader of its session: keys, Ctrl-C among them, and the window's size reach the job
 * without pleatd or an agent, so it does not matter to them when these are started anew. With this
 * program the job's terminal is gone, and its session gets SIGHUP.
 */
#ifndef PLEAT_CLI_JOBS_TERMINAL_H
#define PLEAT_CLI_JOBS_TERMINAL_H

#include <pthread.h>
#include <stdbool.h>

#include "base/error.h"

struct pleat_terminal {
    char path[64]; /* what the job opens; "": there is none */
    int master;
    int slave;   /* held until the job has it: its settings would be lost with the last who does */
    int over[2]; /* a pipe: closed when the job has ended */
    bool started;
    pthread_t thread;
};

/* Makes it, with the settings and the window's size of this program's terminal.
 * PLEAT_E_UNSUPPORTED: standard input or output is none; PLEAT_E_SYSTEM. */
int pleat_terminal_begin(struct pleat_terminal *terminal, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Passes everything on from now on, in a thread. While a job has the terminal (and this program is
 * in the foreground) this program's own one is raw; before, and after, it is as it was, as it is
 * whenever the program ends, also by a signal that it can see. PLEAT_E_SYSTEM. */
int pleat_terminal_start(struct pleat_terminal *terminal, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Keys are for this program again: where the job is cancelled. */
void pleat_terminal_leave(struct pleat_terminal *terminal);
/* The job has ended: shows what is left of its output, and gives everything back. Accepts one that
 * was not begun, or not started. */
void pleat_terminal_end(struct pleat_terminal *terminal);

#endif
