/* arrivals.h - open workloads: jobs that arrive by a Poisson process at a daemon of their own, and
 * what this daemon does with them (Utrera 2010, 4.6.2). */
#ifndef PLEAT_BENCH_FOLD_ARRIVALS_H
#define PLEAT_BENCH_FOLD_ARRIVALS_H

#include "loads.h"

/* First come, first served: one job at a time, on both processors. Self-coscheduling: each job on
 * both, or on one while another one is there. Coscheduling: two at a time, both on both; a process
 * that waits hands its processor to the next one there, of either job ("BI+RR" of table 4.4). Or,
 * when it sleeps until a message may be there, or yields, the kernel chooses which process the
 * processor runs next. */
enum {
    ARRIVALS_FCFS,
    ARRIVALS_SCS,
    ARRIVALS_CS,
    ARRIVALS_CS_BLOCK,
    ARRIVALS_CS_YIELD,
    ARRIVALS_WAYS
};

struct arrivals_way {
    const char *name;
    int jobs;         /* at a time: the number of slots of each processor */
    const char *size; /*
                       * options of each job */
    const char *const *options;
};
extern const struct arrivals_way arrivals_ways[ARRIVALS_WAYS];

struct arrivals_result {
    struct bench_series response;          /* from arrival to end, mean of all jobs */
    struct bench_series of[LOAD_PROGRAMS]; /* of each program's jobs */
    int late;
};

struct arrivals {
    char name[64];
    enum trial_mpi mpi;
    const struct load_mix *mix;
    int processes;      /* of each job */
    double times;       /* of the usual work */
    double utilization; /* under first come, first served */
    struct arrivals_result results[ARRIVALS_WAYS];
    struct bench_series others;
};

/* Seconds that one of these jobs takes with both processors to itself, starting included; measured.
 * The rate of arrivals follows from it. */
double arrivals_service_s(const struct arrivals *arrivals);
/* Runs all ways, each with the same arrivals, which depend on `seed` and `service_s`. */
void arrivals_round(struct arrivals *arrivals, double service_s, int round, uint64_t seed);

#endif
