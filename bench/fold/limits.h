/* limits.h - what handing a processor on costs: a token goes round 8 processes on one processor, of
 * which only the one that has the token has anything to do. Bare processes set the limit. */
#ifndef PLEAT_BENCH_FOLD_LIMITS_H
#define PLEAT_BENCH_FOLD_LIMITS_H

#include "contest.h"

struct limits {
    bool quick;
    /* microseconds of processor time for a hop of the token: bare processes that poll and call
     * sched_yield; bare processes that sleep on a futex each and wake the next one */
    struct bench_series yield_us, futex_us;
    struct contest
        rings[TRIAL_MPIS]; /* the same by MPI messages; without contenders: no such MPI */
    bool wanted;
};

void limits_init(struct limits *limits, const char *mpi, bool quick);
int limits_runs(const struct limits *limits); /* of a round */
void limits_round(struct limits *limits, int round);
/* Of a contender of rings[]: its processor time for a hop. */
struct bench_series limits_hop_us(const struct limits *limits, const struct contender *contender);

#endif
