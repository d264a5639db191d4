/* experiment.h - one workload simulated many times: every combination of policies with every seed,
 * on all cores, and the results. */
#ifndef PLEAT_CLI_SIM_EXPERIMENT_H
#define PLEAT_CLI_SIM_EXPERIMENT_H

#include <jansson.h>
#include <stdio.h>

#include "cli/sim/request.h"
#include "experiment/trial.h"
#include "workload/statistics.h"

#define PLEAT_SIM_TAU_S 10.0 /* of the bounded slowdown */

enum pleat_sim_curve_kind {
    PLEAT_SIM_CURVE_WAIT, /* distribution over the jobs, in seconds */
    PLEAT_SIM_CURVE_RESPONSE,
    PLEAT_SIM_CURVE_SLOWDOWN,
    PLEAT_SIM_CURVE_USED,   /* processors held by jobs, over seconds */
    PLEAT_SIM_CURVE_QUEUED, /* number of waiting jobs, over seconds */
    PLEAT_SIM_CURVE_COUNT
};

struct pleat_sim_run {
    const struct pleat_sim_combination *combination;
    const char *workload; /* name of the file, or the options of the generator */
    uint64_t seed;
    size_t jobs;     /* of the workload */
    double work_s;   /* processor-seconds of the jobs that have ended, at their recorded sizes */
    double arrivals; /* density of arrivals relative to the workload's, where the load is held */
    /* the time that is measured; jobs submitted outside of it are not counted */
    int64_t from_us, to_us;
    size_t outside; /* jobs that have ended but were submitted outside of that time */
    struct pleat_sim_totals totals;
    /* of jobs that have ended, also killed ones */
    struct pleat_summary wait_s, response_s, slowdown;
    double stood_s; /* seconds for which jobs stood still in resizes */
    double makespan_s, utilization;
    double elapsed_s;                                 /* seconds that simulating took */
    size_t malleable, moldable;                       /* numbers of converted jobs */
    struct pleat_curve curves[PLEAT_SIM_CURVE_COUNT]; /* filled where a chart is asked for */
    /* for a chart of a single run */
    struct pleat_sim_changes changes;
    struct pleat_sim_outcome *outcomes;
};

struct pleat_sim_csv;

/* A workload as it was read or generated, and scaled. Its jobs are converted where all its runs
 * share that. */
struct pleat_sim_source {
    const char *name;
    struct pleat_workload workload;
    struct pleat_swf_report report;
    struct pleat_app app;       /* of converted jobs */
    size_t malleable, moldable; /* converted jobs, where runs share them */
};

/* What differs between seeds, of what is drawn before the simulation. */
enum pleat_sim_variation {
    PLEAT_SIM_SAME_JOBS,                 /* nothing; what sites and applications draw may differ */
    PLEAT_SIM_CONVERSIONS,               /* which jobs are converted */
    PLEAT_SIM_ESTIMATES,                 /* the estimates of users */
    PLEAT_SIM_CONVERSIONS_AND_ESTIMATES, /* both */
    PLEAT_SIM_WORKLOADS                  /* the workload itself */
};

struct pleat_sim_experiment {
    const struct pleat_sim_request *request;
    struct pleat_sim_source
        *sources; /* several files: a run of each; a generator: the workload of the first seed */
    size_t source_count;
    struct pleat_sizes sizes;
    bool shared; /* the runs of a source share its workload and the conversion of its jobs */
    enum pleat_sim_variation variation;
    const char *machine_from;  /* what gave the size of the only site; NULL: the user did */
    struct pleat_sim_csv *csv; /* borrowed; NULL: not asked for */
    /* first the seeds of the first combination, then of the second, ... */
    struct pleat_sim_run *runs;
    size_t run_count;
};

/* Reads the workload and makes what the runs share. The request is borrowed; where it has no site
 * it gets one. Finish in any case. */
int pleat_sim_experiment_init(struct pleat_sim_experiment *experiment,
                              struct pleat_sim_request *request,
                              struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_sim_experiment_finish(struct pleat_sim_experiment *experiment);

/* Does all runs, in the number of threads that was asked for. Results do not depend on that number.
 * After a signal (interrupt.h) returns PLEAT_E_CLOSED. */
int pleat_sim_experiment_run(struct pleat_sim_experiment *experiment,
                             struct pleat_error *err) PLEAT_MUST_CHECK;

/* The stable name of a fate, for programs: "done", "skipped", ... */
const char *pleat_sim_fate_name(enum pleat_sim_fate fate);

/* ---- a run's workload (workload.c) ---- */

int pleat_sim_workload_read(struct pleat_sim_experiment *experiment,
                            struct pleat_sim_request *request,
                            struct pleat_error *err) PLEAT_MUST_CHECK;
/* The workload of a run that does not share one. */
struct pleat_sim_own {
    struct pleat_workload workload;
    bool generated; /* everything is the run's own; else only its jobs and applications */
};
/* Gives the workload of a run, and sets what of it is measured. *own must be dropped in any case.
 */
int pleat_sim_workload_for(const struct pleat_sim_experiment *experiment, struct pleat_sim_run *run,
                           struct pleat_sim_own *own, const struct pleat_workload **workload,
                           struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_sim_workload_drop(struct pleat_sim_own *own);
/* Sets the part of the time that is measured, between the first and the last submission. */
int pleat_sim_workload_cut(const struct pleat_sim_request *request,
                           const struct pleat_workload *workload, struct pleat_sim_run *run,
                           struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- files (csv.c) ---- */

/* Makes the directories, and checks that they can be written to. */
int pleat_sim_csv_open(struct pleat_sim_csv **csv, const struct pleat_sim_request *request,
                       struct pleat_error *err) PLEAT_MUST_CHECK;
/* The files of a run, under temporary names. Runs in several threads may each have such files. */
struct pleat_sim_csv_run {
    struct pleat_sim_csv *csv;
    const struct pleat_workload *workload;
    struct pleat_string directory;
    FILE *resizes;
};
/* Opens resizes.csv. The workload is borrowed until the files are dropped, which must be done in
 * any case. */
int pleat_sim_csv_begin(struct pleat_sim_csv *csv, const struct pleat_sim_run *run,
                        const struct pleat_workload *workload, struct pleat_sim_csv_run *files,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
/* Adds a line to resizes.csv, if the change is one of size. Errors of the file are reported by
 * pleat_sim_csv_end. */
void pleat_sim_csv_change(struct pleat_sim_csv_run *files, const struct pleat_sim_change *change);
/* Closes resizes.csv. Writes jobs.csv, skipped.csv and series.csv; `used` is for the latter. */
int pleat_sim_csv_end(struct pleat_sim_csv_run *files, const struct pleat_sim_outcome *outcomes,
                      const struct pleat_edges *used, struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_sim_csv_drop(struct pleat_sim_csv_run *files);
/* Writes summary.json, and gives all files their own names. */
int pleat_sim_csv_commit(struct pleat_sim_csv *csv, const json_t *summary,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
/* Removes files that were not committed. Accepts NULL. */
void pleat_sim_csv_close(struct pleat_sim_csv *csv);

/* ---- telling ---- */

/* The results as JSON. timed: with the time that simulating took. NULL: out of memory. */
json_t *pleat_sim_json(const struct pleat_sim_experiment *experiment, bool timed);
/* Prints the results. Returns an exit code. */
int pleat_sim_print(const struct pleat_sim_experiment *experiment);
/* Writes the chart. *done gets a sentence about what was drawn. */
int pleat_sim_chart_write(const struct pleat_sim_experiment *experiment, struct pleat_string *done,
                          struct pleat_error *err) PLEAT_MUST_CHECK;
/* Whether the chart needs the changes of jobs, to show which job had which processors. */
bool pleat_sim_chart_wants_jobs(const struct pleat_sim_experiment *experiment);

/* `pleat sim --replay LOG`. Returns an exit code. */
int pleat_sim_replay(const char *path);

#endif
