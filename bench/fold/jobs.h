/* jobs.h - two jobs at the same time: each in a partition of its own, or sharing the processors. */
#ifndef PLEAT_BENCH_FOLD_JOBS_H
#define PLEAT_BENCH_FOLD_JOBS_H

#include "cases.h"

#define JOBS 2

struct jobs_way {
    const char *name; /* "partitions" */
    enum trial_way way;
    const char *settings;
    bool shared;                       /* both on all processors */
    struct bench_series makespan, cpu; /* of the jobs' parts after MPI_Init: from the first job's
                                        * start to the last job's end; CPU time of both */
    struct bench_series elapsed;       /* of each job of each round: for their spread */
    int late;                          /* rounds that took too long; the others alone are counted */
};

enum jobs_ways {
    JOBS_PARTITIONS,
    JOBS_SHARED_OWN,
    JOBS_SHARED_BLOCK,
    JOBS_SHARED_FOLDED,
    JOBS_WAYS
};

struct jobs {
    char name[64];
    enum trial_mpi mpi;
    const struct case_program *program;
    bool quick;
    struct jobs_way ways[JOBS_WAYS];
    struct bench_series others;
};

void jobs_init(struct jobs *jobs, enum trial_mpi mpi, const struct case_program *program,
               bool quick);
/* How many runs a round has: with MPICH only those that end. */
int jobs_runs(const struct jobs *jobs);
void jobs_round(struct jobs *jobs, int round);

#endif
