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

/* Processes that do nothing but compute, one bound to each of these CPUs, until they are ended. */
void machine_hogs_start(const char *cpus);
void machine_hogs_end(void);
/* Seconds of processor time that they have had. */
double machine_hogs_s(void);

#endif
