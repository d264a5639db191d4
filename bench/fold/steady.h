/* steady.h - runs that are made again where the machine stood still meanwhile
 *
 * On some kernels tens of processes that yield in turn starve all others, the kernel's own threads
 * too, for seconds to minutes. What is measured then says nothing. A thread that only sleeps finds
 * out: it is woken late.
 */
#ifndef PLEAT_BENCH_FOLD_STEADY_H
#define PLEAT_BENCH_FOLD_STEADY_H

#include <stdbool.h>

#define STEADY_STALL_S 1.0
enum { STEADY_AGAIN = 3 };

struct steady_counts {
    int runs;        /* that count */
    int again;       /* that were made again */
    int stalled;     /* of those that count, with such a stall: they were made again often enough */
    double latest_s; /* the longest stall of the others that count */
};

/* A run begins, or several that belong together. */
void steady_begin(void);
/* It has ended: whether it is to be made again, since the machine stood still for more than
 * STEADY_STALL_S; then it says so to stderr. *again: how often that was, 0 before the first; after
 * STEADY_AGAIN times a run counts whatever it is. */
bool steady_again(const char *name, int *again);
/* From now on no run is made again: they only show that the benchmark works. */
void steady_accept(void);
/* Of all runs so far. What it points to may be set, to what is known of earlier ones. */
struct steady_counts *steady_counts(void);

#endif
