/* terminal.h - a terminal of a job's own, shown on the terminal of this program.
 *
 * This program holds one end of a pseudo-terminal. The job's first process opens the other end, and
 * is the leader of its session. Keys (Ctrl-C among them) and the size of the window reach the job
 * without pleatd or an agent, so these may be restarted meanwhile. When this program ends the job's
 * terminal is gone, and the processes of its session get SIGHUP.
 *
 * A job on another host has a terminal there instead (far_terminal.h), for which the same holds,
 * but that keys and output wait while pleatd is away.
 */
#ifndef PLEAT_CLI_JOBS_TERMINAL_H
#define PLEAT_CLI_JOBS_TERMINAL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "cli/jobs/terminal_keeper.h"

struct pleat_terminal {
    char path[64]; /* of the end that the job opens; "": there is no terminal */
    int master;
    /* held open until the job has it: when no process has it open its settings are lost */
    int slave;
    int far;     /* the socket that stands for a terminal on another host; -1: none */
    int over[2]; /* a pipe: closed when the job has ended */
    bool started;
    pthread_t thread;
    struct pleat_terminal_keeper keeper;
};

/* PLEAT_E_UNSUPPORTED: standard input or output is no terminal. */
int pleat_terminal_check(struct pleat_error *err) PLEAT_MUST_CHECK;
/* Makes the terminal, with the settings and the window size of this program's terminal, which must
 * be one. PLEAT_E_SYSTEM. */
int pleat_terminal_begin(struct pleat_terminal *terminal, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Passes keys and output on from now on, in a thread. This program's own terminal is raw while a
 * job has the other one and this program is in the foreground. Before and after that it has its old
 * settings, also when the program ends, even by SIGKILL (terminal_keeper.h). PLEAT_E_SYSTEM. */
int pleat_terminal_start(struct pleat_terminal *terminal, struct pleat_error *err) PLEAT_MUST_CHECK;
/* The terminal is that of this job, which was submitted with it. */
void pleat_terminal_is_of(int64_t job);
/* Keys are for this program again: the job is being cancelled. */
void pleat_terminal_leave(void);
/* The job has ended: shows the rest of its output and releases everything. Accepts a terminal that
 * was not begun or not started. */
void pleat_terminal_end(struct pleat_terminal *terminal);

#endif
