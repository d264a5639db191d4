/* virtual.h - workloads of long and short folded programs (Utrera 2010, chapters 5 and 6; tables
 * 5.2, 5.3, 6.1 to 6.3), scaled to two processors: run by a pleatd of their own, and simulated from
 * what the programs were measured to take. */
#ifndef PLEAT_BENCH_FOLD_VIRTUAL_H
#define PLEAT_BENCH_FOLD_VIRTUAL_H

#include "eval.h"
#include "live.h"

enum { VIRTUAL_PROCESSORS = 2 };
enum { VIRTUAL_LONG, VIRTUAL_SHORT, VIRTUAL_CLASSES };

enum virtual_app {
    VIRTUAL_BT_LONG,
    VIRTUAL_CG_LONG,
    VIRTUAL_EP_LONG,
    VIRTUAL_BT_SHORT,
    VIRTUAL_SWEEP_SHORT,
    VIRTUAL_EP_SHORT,
    VIRTUAL_APPS
};

struct virtual_program {
    const char *name; /* of its jobs: "bt-long" */
    const char *program, *stands_for, *options;
    int class_;
    int iterations;
    int parallel; /* the number of processes that it may have beside one */
};
extern const struct virtual_program virtual_programs[VIRTUAL_APPS];
/* Its command: program and arguments. times: of the usual work. */
void virtual_command(enum virtual_app app, enum trial_mpi mpi, double times, char *text,
                     size_t size);

/* ---- policies ---- */

enum virtual_policy {
    VIRTUAL_FCFS,
    VIRTUAL_EASY,
    VIRTUAL_EGS,
    VIRTUAL_PSA,
    VIRTUAL_PSA_IDLE,
    VIRTUAL_ASP60,
    VIRTUAL_FOLDING,
    VIRTUAL_FJT,
    VIRTUAL_FJT1_ABORT,
    VIRTUAL_FJT1_MALLEABILITY,
    VIRTUAL_FCFS_ABORT,
    VIRTUAL_FJT1_ABORT_DUE,
    VIRTUAL_FJT1_MALLEABILITY_DUE,
    VIRTUAL_POLICIES
};

struct virtual_rule {
    const char *name, *policies;
    int mpl; /* processes on a processor, at most */
};
extern const struct virtual_rule virtual_rules[VIRTUAL_POLICIES];

/* ---- workloads ---- */

enum virtual_mix {
    VIRTUAL_W1,
    VIRTUAL_W2,
    VIRTUAL_W3,
    VIRTUAL_W4,
    VIRTUAL_W5,
    VIRTUAL_W6,
    VIRTUAL_HIGH_40,
    VIRTUAL_LOW_40,
    VIRTUAL_HIGH_60,
    VIRTUAL_LOW_60,
    VIRTUAL_HIGH_80,
    VIRTUAL_LOW_80,
    VIRTUAL_HIGH_100,
    VIRTUAL_LOW_100,
    VIRTUAL_MIXES
};

struct virtual_load {
    const char *name;
    double share[VIRTUAL_CLASSES]; /* of the machine */
    enum virtual_app apps[VIRTUAL_CLASSES][2];
    int app_count[VIRTUAL_CLASSES];
    int chapter;
};
extern const struct virtual_load virtual_loads[VIRTUAL_MIXES];
/* Whether a workload is run under a policy. */
bool virtual_has(enum virtual_mix mix, enum virtual_policy policy);

/* ---- what the programs take ---- */

/* One process on a processor; all processes on two; all on one. */
enum virtual_place { VIRTUAL_ONE, VIRTUAL_WIDE, VIRTUAL_FOLDED, VIRTUAL_PLACES };

struct virtual_feed {
    /* seconds of a job, from its start to its end, starting and ending of processes included */
    double alone_s[VIRTUAL_APPS][VIRTUAL_PLACES];  /* nothing else runs */
    double beside_s[VIRTUAL_APPS][VIRTUAL_PLACES]; /* another one runs on the other processor */
    double start_s[VIRTUAL_PLACES]; /* of that, of a job that computes next to nothing, alone */
    double change_s;                /* that a change of the number of processors takes */
};
/* The place of a job with these numbers of processes and processors. */
enum virtual_place virtual_place_of(int processes, int processors);
/* Measures the programs that are wanted; `repeats`: the number of runs of each at each place. */
void virtual_measure(struct virtual_feed *feed, enum trial_mpi mpi, const bool wanted[VIRTUAL_APPS],
                     double times, int repeats, struct bench_series *others);
/* The simulator's parameters with which an application takes as long as was measured. */
struct virtual_model {
    double unfolded_s; /* of all its processes with a processor for each */
    double overhead, imbalance;
};
struct virtual_model virtual_fit(enum virtual_app app, const double seconds[VIRTUAL_PLACES]);

/* ---- a draw of a workload ---- */

struct virtual_job {
    enum virtual_app app;
    double at_s;
};

struct virtual_draw {
    int count;
    struct virtual_job jobs[LIVE_JOBS_MAX]; /* in the order of their arrival */
};

/* How long jobs arrive. */
double virtual_span_s(double times);
/* As many jobs as the shares of the machine ask for, at random times (a Poisson process of which
 * the number of events is known). */
void virtual_draw_jobs(struct virtual_draw *draw, enum virtual_mix mix,
                       const struct virtual_feed *feed, double times, uint64_t seed);
/* The load that these jobs are, by sequential times. */
double virtual_offered(const struct virtual_draw *draw, const struct virtual_feed *feed,
                       double times);
/* What users say that a job of the class takes. */
double virtual_estimate_s(int class_, const struct virtual_feed *feed);

/* ---- running it ---- */

double virtual_run(enum virtual_mix mix, enum virtual_policy policy,
                   const struct virtual_draw *draw, const struct virtual_feed *feed,
                   enum trial_mpi mpi, double times, struct live_outcome *outcomes);
/* The same, simulated: each application takes as long as `seconds` says. */
void virtual_simulate(enum virtual_policy policy, const struct virtual_draw *draw,
                      const struct virtual_feed *feed, double seconds[VIRTUAL_APPS][VIRTUAL_PLACES],
                      struct live_outcome *outcomes);
/* For each application: how many times as long its jobs took as alone at the sizes that they had; 1
 * where there was none. */
void virtual_stretch(const struct virtual_draw *draw, const struct virtual_feed *feed,
                     const struct live_outcome *outcomes, double stretch[VIRTUAL_APPS]);

/* ---- results ---- */

enum {
    /* by class, at virtual_metric(class, ...) */
    VIRTUAL_RESPONSE,
    VIRTUAL_WAIT,
    VIRTUAL_EXECUTION,
    VIRTUAL_SLOWDOWN, /* response over the time alone on as many processors as the job can use */
    VIRTUAL_SIZE,     /* processors, on average over the run */
    VIRTUAL_BY_CLASS,
    /* of all jobs */
    VIRTUAL_ALL_RESPONSE = VIRTUAL_CLASSES * VIRTUAL_BY_CLASS,
    VIRTUAL_ALL_SLOWDOWN,
    VIRTUAL_UTILIZATION,
    VIRTUAL_MAKESPAN,
    VIRTUAL_STARTS, /* of all jobs, without each job's first one */
    VIRTUAL_RESIZES,
    VIRTUAL_METRICS
};
static inline int virtual_metric(int class_, int metric)
{
    return class_ * VIRTUAL_BY_CLASS + metric;
}

/* LIVE; simulated from times alone; with the times of processors whose neighbour is busy; with
 * times as long as those that jobs really took at the sizes that they had. */
enum { VIRTUAL_LIVE, VIRTUAL_ALONE, VIRTUAL_NEIGHBOUR, VIRTUAL_STRETCHED, VIRTUAL_SOURCES };

enum { VIRTUAL_SHAKES = 20 };
#define VIRTUAL_SHAKE 0.05 /* part of a program's times */

struct virtual_cell {
    struct bench_series of[VIRTUAL_SOURCES][VIRTUAL_METRICS]; /* a value for each round */
    /* of VIRTUAL_SHAKES simulations as STRETCHED, with times that are a little off */
    struct bench_series least[VIRTUAL_METRICS], most[VIRTUAL_METRICS];
    struct bench_series stretch[VIRTUAL_CLASSES];
};

struct virtual_results {
    struct virtual_feed feed;
    enum trial_mpi mpi;
    bool mix_wanted[VIRTUAL_MIXES], policy_wanted[VIRTUAL_POLICIES];
    int jobs[VIRTUAL_MIXES][VIRTUAL_CLASSES];
    struct bench_series offered[VIRTUAL_MIXES];
    struct virtual_cell cells[VIRTUAL_MIXES][VIRTUAL_POLICIES];
};
bool virtual_is_run(const struct virtual_results *results, enum virtual_mix mix,
                    enum virtual_policy policy);
void virtual_measure_run(const struct virtual_draw *draw, const struct virtual_feed *feed,
                         const struct live_outcome *outcomes, double metrics[VIRTUAL_METRICS]);
/* A metric under a policy over the same under another one: a ratio for each round of each of these
 * workloads, from `first` to `last`. Without values where one of them was not run. */
struct bench_paired virtual_over(const struct virtual_results *results, int source,
                                 enum virtual_mix first, enum virtual_mix last,
                                 enum virtual_policy a, enum virtual_policy b, int metric);

/* ---- the page ---- */

void virtual_write_feed(struct pleat_page *page, const struct virtual_results *results);
void virtual_write_tables(struct pleat_page *page, const struct virtual_results *results,
                          int chapter);
/* What FJT costs and gains, and why long jobs gain under it (virtual_price.c). */
void virtual_write_price(struct pleat_page *page, const struct virtual_results *results);
int virtual_draw_figures(struct pleat_page *page, const struct virtual_results *results,
                         int chapter, struct pleat_error *err);
/* The paper's statements (virtual_criteria.c). */
void virtual_tell(struct eval *eval, const struct virtual_results *results);

#endif
