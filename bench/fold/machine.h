/* machine.h - the CPUs of this machine, how busy they are, and what makes them busy on purpose. */
#ifndef PLEAT_BENCH_FOLD_MACHINE_H
#define PLEAT_BENCH_FOLD_MACHINE_H

#include <sched.h>

/* The first `count` (1 or 2) CPUs that this process may use, "0,1"; the same pointer each time.
 * NULL: it has fewer. */
const char *machine_cpus(int count);
/* Of such a text. */
cpu_set_t machine_mask(const char *cpus);
/* Seconds of processor time, of all CPUs, since the machine was started. */
double machine_busy_s(void);

/* Whether the machine stands still: a thread that only sleeps, a hundredth of a second at a time.
 * end: how many seconds later than it wanted it was woken, at most. Kernels have been seen
 * (Linux 6.18) to leave all processes waiting for minutes, their own threads among them, while tens
 * of ranks yield in turn. */
void machine_watch_begin(void);
double machine_watch_end(void);

/* Processes that do nothing but compute, one bound to each of these CPUs, until they are ended. */
void machine_hogs_start(const char *cpus);
void machine_hogs_end(void);
/* Seconds of processor time that they have had. */
double machine_hogs_s(void);

#endif
