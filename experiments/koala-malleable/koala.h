/* koala.h - the experiments of Buisson et al. 2007, VI and VII: their platform, workloads and runs.
 */
#ifndef PLEAT_EXPERIMENTS_KOALA_H
#define PLEAT_EXPERIMENTS_KOALA_H

#include "experiment/experiment.h"

/* The eight combinations of figures 7 and 8: four for each approach. */
enum {
    EGS_WM,  /* WM: all jobs are malleable */
    EGS_WMR, /* WMR: half of the jobs are rigid */
    FPSMA_WM,
    FPSMA_WMR,
    RUNS /* for each approach */
};

enum { KOALA_JOBS = 300 };

enum approach { PRA, PWA, APPROACHES };

enum koala_app { KOALA_FT, KOALA_GADGET, KOALA_APPS };

struct koala_point { /* of figure 6 */
    int32_t processors;
    double over_two; /* the time, over that on 2 processors */
};

/* What figure 6 is said to begin and end with: the times on 2 processors, and at best. */
struct koala_ends {
    double two_s, best_s;
    int32_t best_size; /* which is assumed */
};
extern const struct koala_ends koala_ends[KOALA_APPS];

const char *koala_run_name(int run, enum approach approach); /* "EGS/Wm", "EGS/W'm" */

/* How EGS is read. */
enum koala_egs {
    KOALA_EGS_AGAIN, /* what jobs leave of their shares is divided again (policy egs) */
    KOALA_EGS_ONCE,  /* it is left until the next pass, which may be in the same instant (egs-once)
                      */
    KOALA_EGS_PRINTED, /* the same, and jobs that shrink give their shares as in figure 5
                        * (egs-printed) */
    KOALA_EGS
};

/* What the paper leaves unsaid. */
struct koala_unsaid {
    double background; /* share of the processors that local users ask for */
    bool steady;       /* local users always have that share; else their jobs come and go */
    /* processors of a cluster to which its jobs together are grown at most; 0: no limit */
    int32_t cap;
    int left_out;        /* clusters that are not in use: see run.c for the order */
    int32_t total;       /* as cap, of all clusters together */
    double claim_s;      /* from a decision to having the processors */
    double claim_each_s; /* ... more for each processor: a claim for each, one after another */
    double release_s;    /* from giving processors back until they are free */
    double decide_s; /* KOALA decides at multiples of this time; 0: whenever something happens */
    bool partly;     /* room is made bit by bit, not whole or not at all */
    bool nowhere;    /* while room is made no job grows, not even at other sites (pwa-printed) */
    double resize_s; /* how long an application stands still to change its size */
    bool poisson;    /* arrivals at random with the same mean, not evenly spaced */
    enum koala_egs egs;
    bool steep;    /* best times are reached at half the sizes that are assumed otherwise */
    bool measured; /* run times by the curves that were measured here, not by the assumed ones */
};

enum {
    AVERAGE_SIZE, /* of malleable jobs */
    MAXIMUM_SIZE,
    AT_MINIMUM, /* share of the malleable jobs that never grow */
    EXECUTION,  /* of all jobs, seconds */
    EXECUTION_FT,
    EXECUTION_GADGET,
    RESPONSE,
    WAIT,
    BELOW_200, /* share of jobs by execution time */
    ABOVE_400,
    ANSWERED_BELOW_200, /* by response time */
    ANSWERED_ABOVE_400,
    UTILIZATION, /* of all processors, by jobs */
    USED,        /* of all processors, by jobs and local users */
    GROWS,
    SHRINKS,
    EARLY_CHANGES, /* grows and shrinks in the first half of the arrivals, for each job that starts
                    * then; the same in the second half */
    LATE_CHANGES,
    METRICS
};

/* Point i of figure 6 as it was measured here, stretched so that its best time is the paper's
 * (measured.c). false: there are no more. */
bool koala_measured(enum koala_app app, size_t i, struct koala_point *point);
/* The assumed curve of figure 6: the time, over that on 2 processors. */
double koala_assumed(enum koala_app app, int32_t processors, bool steep);

/* Does one run. The caller finishes the trial (with its changes) and its workload in any case. */
struct koala_trial {
    struct pleat_workload workload;
    struct pleat_trial trial;
};
int koala_run(const struct pleat_study *study, enum approach approach, int run,
              const struct koala_unsaid *unsaid, uint64_t seed, struct koala_trial *trial,
              struct pleat_error *err) PLEAT_MUST_CHECK;
void koala_trial_finish(struct koala_trial *trial);

/* Fills metrics[METRICS]. PLEAT_E_NOMEM. */
int koala_measure(const struct koala_trial *trial, double *metrics) PLEAT_MUST_CHECK;

/* The six panels of figure 7 (PRA) or 8 (PWA). */
int koala_figure(struct pleat_study *study, enum approach approach,
                 const struct koala_unsaid *unsaid, const char *name, const char *caption,
                 struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
