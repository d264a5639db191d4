/* search.h - a run of one program on a simulated machine of its own, whose size a policy searches.
 */
#ifndef PLEAT_BENCH_SEARCH_H
#define PLEAT_BENCH_SEARCH_H

#include "sim/sim.h"

enum { SEARCH_ITERATIONS = 200, SEARCH_SIZES_MAX = 64 };

/* How long an iteration of a program takes, by size. */
struct search_program {
    const char *name;
    uint32_t count; /* accepted sizes */
    int32_t sizes[SEARCH_SIZES_MAX];
    double iteration_us[SEARCH_SIZES_MAX];
};

/* What is known from a run: an entry for each size. */
struct search_known {
    size_t count;
    struct pleat_event items[SEARCH_SIZES_MAX];
};

struct search_run {
    double run_us;
    unsigned resizes;
    struct search_known known; /* for the next run */
};

double search_shortest(const struct search_program *program);
double search_longest(const struct search_program *program);
/* The program, begun at the accepted size of that index, under a malleability policy, with each
 * change of size costing pause_us. known: from an earlier run; NULL: nothing is. Ends the benchmark
 * with a message where it fails. */
struct search_run search_simulate(const struct search_program *program, const char *policy,
                                  uint32_t start, double pause_us, double noise, uint64_t seed,
                                  const struct search_known *known);

#endif
