/* progress.h - how far a long benchmark is, on standard error, and how long it will take. */
#ifndef PLEAT_BENCH_FOLD_PROGRESS_H
#define PLEAT_BENCH_FOLD_PROGRESS_H

#include <stdbool.h>

/* steps: how many will be told of. quiet: nothing is printed. */
void progress_begin(int steps, bool quiet);
/* A step begins. Printed now and then: "12 of 340, about 9 minutes left: openmpi_2cpu_ring". */
void progress_step(const char *what, const char *which);
/* Whether less than so many minutes have passed since the beginning; 0: any time. */
bool progress_goes_on(double minutes);
/* Says how long all of it took. */
void progress_end(void);

#endif
