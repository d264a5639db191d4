/* sim_experiment.h - one workload simulated many times: every combination of policies with every
 * seed, on all cores, and what came out of it. */
#ifndef PLEAT_CLI_SIM_EXPERIMENT_H
#define PLEAT_CLI_SIM_EXPERIMENT_H

#include <jansson.h>
#include <stdio.h>

#include "cli/sim_request.h"
#include "experiment/trial.h"
#include "workload/statistics.h"

#define PLEAT_SIM_TAU_S 10.0 /* of the bounded slowdown */

enum pleat_sim_curve_kind {
    PLEAT_SIM_CURVE_WAIT, /* shares of the jobs, by seconds */
    PLEAT_SIM_CURVE_RESPONSE,
    PLEAT_SIM_CURVE_SLOWDOWN,
    PLEAT_SIM_CURVE_USED,   /* processors that jobs hold, by seconds */
    PLEAT_SIM_CURVE_QUEUED, /* jobs that wait, by seconds */
    PLEAT_SIM_CURVE_COUNT
};

struct pleat_sim_run {
    const struct pleat_sim_combination *combination;
    uint64_t seed;
    struct pleat_sim_totals totals;
    struct pleat_summary wait_s, response_s, slowdown; /* of jobs that ended, killed ones too */
    double stood_s;                                    /* that jobs stood still in resizes */
    double makespan_s, utilization;
    double elapsed_s;                                 /* that simulating took */
    size_t malleable, moldable;                       /* jobs converted */
    struct pleat_curve curves[PLEAT_SIM_CURVE_COUNT]; /* where a chart is asked for */
    /* where the drawing needs them: of a single run */
    struct pleat_sim_changes changes;
    struct pleat_sim_outcome *outcomes;
};

struct pleat_sim_csv;

struct pleat_sim_experiment {
    const struct pleat_sim_request *request;
    struct pleat_workload workload; /* as read and scaled; converted where all runs share that */
    struct pleat_swf_report report;
    struct pleat_app app; /* of jobs that are converted */
    struct pleat_sizes sizes;
    bool shared;                /* the workload is the same for all seeds */
    size_t malleable, moldable; /* then: jobs converted */
    const char *machine_from;   /* where the size of the only site comes from; NULL: it was given */
    struct pleat_sim_csv *csv;  /* borrowed; NULL: not asked for */
    struct pleat_sim_run *runs; /* the seeds of the first combination, of the second, ... */
    size_t run_count;
};

/* Reads the workload and makes what the runs share. The request is borrowed, and gets a site where
 * it has none. Finish in any case. */
int pleat_sim_experiment_init(struct pleat_sim_experiment *experiment,
                              struct pleat_sim_request *request,
                              struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_sim_experiment_finish(struct pleat_sim_experiment *experiment);

/* Runs all, in as many threads as were asked for. Results do not depend on their number. After a
 * signal (interrupt.h) it returns PLEAT_E_CLOSED. */
int pleat_sim_experiment_run(struct pleat_sim_experiment *experiment,
                             struct pleat_error *err) PLEAT_MUST_CHECK;

/* Where time or a size was read of a text: "3 jobs larger than every site, ..."; nothing left out:
 * nothing. */
const char *pleat_sim_fate_name(enum pleat_sim_fate fate);

/* ---- a run's workload (sim_workload.c) ---- */

int pleat_sim_workload_read(struct pleat_sim_experiment *experiment,
                            struct pleat_sim_request *request,
                            struct pleat_error *err) PLEAT_MUST_CHECK;
/* The workload of a seed: *own is set and filled where it is not the shared one, and to be finished
 * by pleat_sim_workload_drop. */
int pleat_sim_workload_for(const struct pleat_sim_experiment *experiment, struct pleat_sim_run *run,
                           struct pleat_workload *own, const struct pleat_workload **workload,
                           struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_sim_workload_drop(struct pleat_workload *own);

/* ---- files (sim_csv.c) ---- */

/* Makes the directories and sees whether they can be written to. */
int pleat_sim_csv_open(struct pleat_sim_csv **csv, const struct pleat_sim_request *request,
                       struct pleat_error *err) PLEAT_MUST_CHECK;
/* The files of a run, under temporary names; runs in several threads may each have theirs. */
struct pleat_sim_csv_run {
    struct pleat_sim_csv *csv;
    const struct pleat_workload *workload;
    struct pleat_string directory;
    FILE *resizes;
};
/* Opens resizes.csv; drop in any case. The workload is borrowed until then. */
int pleat_sim_csv_begin(struct pleat_sim_csv *csv, const struct pleat_sim_run *run,
                        const struct pleat_workload *workload, struct pleat_sim_csv_run *files,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
/* Adds a line to it, if the change is one of size; errors are those of the file, seen by end. */
void pleat_sim_csv_change(struct pleat_sim_csv_run *files, const struct pleat_sim_change *change);
/* Ends it; writes jobs.csv and skipped.csv. */
int pleat_sim_csv_end(struct pleat_sim_csv_run *files, const struct pleat_sim_outcome *outcomes,
                      struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_sim_csv_drop(struct pleat_sim_csv_run *files);
/* summary.json, and all under their own names. */
int pleat_sim_csv_commit(struct pleat_sim_csv *csv, const json_t *summary,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
/* Takes away what was not committed. Accepts NULL. */
void pleat_sim_csv_close(struct pleat_sim_csv *csv);

/* ---- telling ---- */

/* NULL: out of memory. timed: with how long simulating took. */
json_t *pleat_sim_json(const struct pleat_sim_experiment *experiment, bool timed);
/* Returns an exit code. */
int pleat_sim_print(const struct pleat_sim_experiment *experiment);
/* *done gets a sentence about what was drawn. */
int pleat_sim_chart_write(const struct pleat_sim_experiment *experiment, struct pleat_string *done,
                          struct pleat_error *err) PLEAT_MUST_CHECK;
/* Does the drawing want the jobs' changes, to show who had which processors? */
bool pleat_sim_chart_wants_jobs(const struct pleat_sim_experiment *experiment);

/* `pleat sim --replay LOG`. Returns an exit code. */
int pleat_sim_replay(const char *path);

#endif
