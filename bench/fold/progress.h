/* progress.h - how far a long benchmark is, on standard error, and how long it will take. */
#ifndef PLEAT_BENCH_FOLD_PROGRESS_H
#define PLEAT_BENCH_FOLD_PROGRESS_H

#include <stdbool.h>

/* steps: how many calls of progress_step will follow. quiet: nothing is printed. */
void progress_begin(int steps, bool quiet);
/* A step begins. Printed now and then: "12 of 340, about 9 minutes left: openmpi_2cpu_ring". */
void progress_step(const char *what, const char *which);
/* Whether less than `minutes` have passed since the beginning; 0: always true. */
bool progress_goes_on(double minutes);
/* Says how long all of it took. */
void progress_end(void);

#endif
