/* logs.h - all policies over recorded and generated workloads of which a share is made malleable.
 */
#ifndef PLEAT_EXPERIMENTS_LOGS_H
#define PLEAT_EXPERIMENTS_LOGS_H

#include "experiment/experiment.h"

/* ---- workloads.c ---- */

struct logs_workload {
    char name[64];
    struct pleat_workload recorded; /* shared by all runs; empty for a generated workload */
    double load; /* offered load; for a generated workload the load that is asked for */
    size_t jobs; /* of a generated workload, which each seed makes anew */
};

PLEAT_ARRAY(logs_workloads, struct logs_workload);

/* Reads the study's logs, those with little load a second time with a load of 0.95, and adds some
 * workloads of the model of Lublin and Feitelson (2003). Finish in any case. */
int logs_workloads_read(const struct pleat_study *study, struct logs_workloads *workloads,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
void logs_workloads_finish(struct logs_workloads *workloads);

/* ---- cases.c ---- */

/* The policies of a run: a row of a table. */
struct logs_row {
    char policies[192]; /* as pleat_trial_policies reads them */
    char name[64];      /* for the page */
    bool compared;      /* the best is looked for among these rows */
};

PLEAT_ARRAY(logs_rows, struct logs_row);

enum {
    LOGS_EASY,
    LOGS_OWN,
    LOGS_FIRST
}; /* the first rows: the reference; the project's own
    * policies */

/* Fills the rows. Each policy of the registry is in at least one of them. PLEAT_E_NOMEM. */
int logs_rows_fill(struct logs_rows *rows) PLEAT_MUST_CHECK;

struct logs_case {
    size_t row;
    int share;    /* % of the jobs that are malleable */
    double worse; /* estimates are the run time x uniform(1, worse); 0: as in the log, or exact */
};

enum {
    TURNAROUND, /* seconds, as all times */
    WAIT,
    WAIT_95,
    WAIT_MOST,
    SLOWDOWN,
    UTILIZATION,
    MAKESPAN,
    RESIZES, /* resizes per job */
    METRICS
};

/* Fills metrics[METRICS]. */
int logs_run(const struct pleat_study *study, const struct logs_workload *workload,
             const struct logs_row *row, const struct logs_case *about, uint64_t seed,
             double *metrics, struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- results.c ---- */

PLEAT_ARRAY(logs_cases, struct logs_case);

struct logs_results {
    struct pleat_study *study;
    const struct logs_workloads *workloads;
    const struct logs_rows *rows;
    const struct logs_cases *cases; /* each is run with each workload */
    const int *shares;
    size_t share_count;
    struct pleat_numbers numbers;
};

enum { LOGS_NO_CASE = -1 };

/* The place of a case among the numbers; LOGS_NO_CASE: the case was not run. */
long logs_setting(const struct logs_results *results, size_t workload, size_t row, int share,
                  double worse);
/* The row with the shortest mean turnaround of those that are compared, the project's own left
 * out. */
size_t logs_best_other(const struct logs_results *results, size_t workload, int share);

/* The page's parts. */
void logs_tell_shapes(const struct logs_results *results);
int logs_write_page(const struct logs_results *results, struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
