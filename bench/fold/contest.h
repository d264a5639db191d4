/* contest.h - ways to run the same work, measured against each other: in every round all of them,
 * each time another one first, so that other work on the machine hits all alike. */
#ifndef PLEAT_BENCH_FOLD_CONTEST_H
#define PLEAT_BENCH_FOLD_CONTEST_H

#include "paired.h"
#include "trial.h"

#define CONTENDERS_MAX 12
#define CONTEST_LATE_MOST 2 /* a way that has run out of time this often is not tried again */

struct case_program;

struct contender {
    const char *name; /* "yield" */
    struct trial_setup setup;
    double limit; /* times the first contender's own elapsed time; 0: only setup.limit_s */
    /* seconds, one for each round in which it was in time */
    struct bench_series elapsed, cpu; /* with mpirun */
    struct bench_series own_elapsed, own_cpu;
    struct bench_series switches, idleness; /* folded: times that a processor was given away; the
                                             * share that imbalance wastes (Utrera 2010, 4.4.4) */
    int global;                             /* number of runs in which the queue was the global one
                                             * in the end */
    int late;
    double late_s; /* a lower bound of the own time of a late run, which was ended */
};

struct contest {
    char name[64];
    const struct case_program *program; /* cases.h */
    const char *hogs;                   /* CPUs that have something else to do, too; NULL: none */
    int count;
    struct contender contenders[CONTENDERS_MAX];
    struct bench_series others; /* processors that others used, one for each run */
};

/* Returns the new contender, to be filled in: its setup is the one given, with limit_s if that has
 * none. */
struct contender *contest_add(struct contest *contest, const char *name,
                              const struct trial_setup *setup);
void contest_round(struct contest *contest, int round);
struct contender *contest_find(struct contest *contest, const char *name);
/* The contender with the smaller median; either may be NULL or without values. */
struct contender *contest_better(struct contender *a, struct contender *b, bool by_cpu);
/* The own time of one contender over that of another, round by round. One that was late has no
 * value for that round, and the others would be compared with those of other rounds: then there are
 * none. */
struct bench_paired contest_ratio(const struct contest *contest, int above, int below);

#endif
