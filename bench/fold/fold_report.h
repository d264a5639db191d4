/* fold_report.h - what bench_fold found, as tables for people and rows for programs. */
#ifndef PLEAT_BENCH_FOLD_REPORT_H
#define PLEAT_BENCH_FOLD_REPORT_H

#include "change.h"
#include "contest.h"
#include "fold_call.h"
#include "jobs.h"
#include "limits.h"

#define FOLD_CONTESTS_MAX 64

/* All that was measured; arrays of the caller. */
struct fold_results {
    struct contest *slowdown, *hogged,
        *queues; /* slowdown and hogged by MPI, processors, program */
    int slowdown_count, hogged_count, queues_count;
    struct jobs *jobs;
    int jobs_count;
    struct change *changes;
    int change_count;
    struct limits limits;
    struct fold_call calls[TRIAL_MPIS];
};

/* Prints the tables; the rows are collected meanwhile (fold_rows.h). */
void fold_report(const struct fold_results *results);

#endif
