/* experiment.h - one workload simulated many times: every combination of policies with every
 * seed, on all cores, and what came out of it. */
#ifndef PLEAT_CLI_SIM_EXPERIMENT_H
#define PLEAT_CLI_SIM_EXPERIMENT_H

#include <jansson.h>
#include <stdio.h>

#include "cli/sim/request.h"
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
    const char *workload; /* its name: the file's, or what the generator was told */
    uint64_t seed;
    size_t jobs;            /* of the workload */
    double work_s;          /* processor-seconds of the jobs that ended, at their recorded sizes */
    double arrivals;        /* how many times as dense as the workload's, where the load is held */
    double used_s;          /* processor-seconds in use between warm-up and cool-down */
    int64_t from_us, to_us; /* the time that is measured; jobs submitted outside count nowhere */
    size_t outside;         /* jobs that ended and were submitted outside of it */
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

/* A workload as read or generated, and scaled; converted where all its runs share that. */
struct pleat_sim_source {
    const char *name;
    struct pleat_workload workload;
    struct pleat_swf_report report;
    struct pleat_app app;       /* of jobs that are converted */
    size_t malleable, moldable; /* where it is shared: jobs converted */
};

/* From one seed to the next, by what is drawn before anything is simulated. */
enum pleat_sim_variation {
    PLEAT_SIM_SAME_JOBS,                 /* nothing; what sites and applications draw may differ */
    PLEAT_SIM_CONVERSIONS,               /* which jobs are converted */
    PLEAT_SIM_ESTIMATES,                 /* what their users estimate */
    PLEAT_SIM_CONVERSIONS_AND_ESTIMATES, /* both */
    PLEAT_SIM_WORKLOADS                  /* the workload itself */
};

struct pleat_sim_experiment {
    const struct pleat_sim_request *request;
    struct pleat_sim_source
        *sources; /* several: a run of each; a generator: that of the first seed */
    size_t source_count;
    struct pleat_sizes sizes;
    bool shared; /* runs of a source share its workload, with its jobs converted */
    enum pleat_sim_variation variation;
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

/* "done", "skipped", ...: a stable name for programs. */
const char *pleat_sim_fate_name(enum pleat_sim_fate fate);

/* ---- a run's workload (workload.c) ---- */

int pleat_sim_workload_read(struct pleat_sim_experiment *experiment,
                            struct pleat_sim_request *request,
                            struct pleat_error *err) PLEAT_MUST_CHECK;
/* A run's own workload, where it does not share one. */
struct pleat_sim_own {
    struct pleat_workload workload;
    bool generated; /* all of it is its own; else its jobs and applications only */
};
/* The workload of a run, and what of it is measured; *own is to be dropped in any case. */
int pleat_sim_workload_for(const struct pleat_sim_experiment *experiment, struct pleat_sim_run *run,
                           struct pleat_sim_own *own, const struct pleat_workload **workload,
                           struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_sim_workload_drop(struct pleat_sim_own *own);
/* Sets the time of the run that is measured: between the first submission and the last. */
int pleat_sim_workload_cut(const struct pleat_sim_request *request,
                           const struct pleat_workload *workload, struct pleat_sim_run *run,
                           struct pleat_error *err) PLEAT_MUST_CHECK;
/* Is only a part of the time measured? */
static inline bool pleat_sim_cuts(const struct pleat_sim_request *request)
{
    return request->warmup.share > 0 || request->warmup.seconds > 0 ||
           request->cooldown.share > 0 || request->cooldown.seconds > 0;
}

/* ---- files (csv.c) ---- */

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
/* Ends it; writes jobs.csv, skipped.csv and, with how the processors in use changed, series.csv. */
int pleat_sim_csv_end(struct pleat_sim_csv_run *files, const struct pleat_sim_outcome *outcomes,
                      const struct pleat_edges *used, struct pleat_error *err) PLEAT_MUST_CHECK;
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
