/* loop.h - who does the work: the program's thread while it is in a call, else the library's own.
 */
#ifndef PLEAT_PROCESS_LOOP_H
#define PLEAT_PROCESS_LOOP_H

#include "process/processes.h"

/* Makes what threads wait on, and the library's own thread, which blocks all signals. */
int pleat_loop_open(struct pleat_processes *all, struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_loop_start(struct pleat_processes *all, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Ends the thread. Without the lock. */
void pleat_loop_stop(struct pleat_processes *all);
void pleat_loop_close(struct pleat_processes *all);

/* Around the program's calls: takes the lock; gives it back, and lets the library's thread know
 * when something is due earlier than it thinks. */
void pleat_loop_enter(struct pleat_processes *all);
void pleat_loop_leave(struct pleat_processes *all);

/* Does whatever can be done without waiting. With the lock. */
void pleat_loop_work(struct pleat_processes *all);
/* Waits until something has happened, or `until` (clock_monotonic; INT64_MAX: no end), and does
 * what can be done then. With the lock, which is given back meanwhile. False: it is `until`. */
bool pleat_loop_wait(struct pleat_processes *all, int64_t until);
/* The end of a wait of that length; -1: none. */
int64_t pleat_loop_until(int timeout_ms);

/* Sets the program's descriptor by what there is to be taken. With the lock. */
void pleat_loop_show(struct pleat_processes *all);

#endif
