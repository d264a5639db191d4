/* agent.h - the simulation of Liu et al. 2009, 4.2: its application, cluster and runs. */
#ifndef PLEAT_EXPERIMENTS_APPLICATION_AGENT_H
#define PLEAT_EXPERIMENTS_APPLICATION_AGENT_H

#include "experiment/experiment.h"

/* NONE: nothing is prepared, for comparison. COMBINED: our own, combined.c */
enum { P, PP, NONE, COMBINED, POLICIES };
enum { EXECUTIONS = 100 };

/* What the paper leaves open, or can be read in two ways. */
struct agent_reading {
    const char *name;
    double allocation_sd; /* standard deviation of the time that an allocation takes */
    double speed_sd;      /* standard deviation of the time that an object takes, from run to run */
    bool pending;         /* R counts processes on their way */
    bool balanced;        /* gained objects are divided over all processes, not left on one */
    int32_t notices; /* the application notices after a random number of slow iterations, from 1 to
                      * this */
    int64_t level;   /* RL, the request level */
    enum pleat_varies varies; /* what fluctuates: runs, or their processes, each by itself */
    /* it loses what it has gained once in so many iterations, and gives the process for that back;
     * 0: never. It says so that many iterations before */
    int32_t loses, announces;
};

/* Metrics of a run of all executions. Those of each execution follow one another, from the first
 * execution on. */
enum {
    SATISFIED = 0, /* S of each execution: the share of its requests that are satisfied at once */
    /* W of each execution: the time that prepared processes wait, in time units */
    WASTE = SATISFIED + EXECUTIONS,
    ITERATION = WASTE + EXECUTIONS, /* mean time of an iteration over all executions */
    S_ALL,                          /* mean of S: over all executions, */
    S_LEARNT,                       /* from the fifth execution on */
    S_LOWEST,                       /* the lowest S: of all executions, */
    S_LOWEST_LEARNT,                /* from the fifth execution on */
    SETTLED,                        /* S is above 80 % from that execution on */
    W_FIRST,                        /* mean of W: over the first to the fourth execution, */
    W_LEARNT,                       /* from the fifth execution on */
    REQUESTS,                       /* mean number of requests of an execution */
    METRICS
};

/* What the paper leaves open, by name. The first takes it as printed; every other one changes one
 * thing, or two. */
enum {
    FACE,
    WIDER,
    PENDING,
    LATE,
    SPREAD,
    STAGE,
    BALANCED,
    UNPREDICTABLE,
    LEVEL_2,
    BY_PROCESS,
    BY_ITERATION,
    BY_OBJECT,
    BY_PROCESS_PENDING,
    GIVES_BACK,
    ANNOUNCES,
    READINGS
};

enum { LEARNT = 4 }; /* executions from the fifth on */

const char *agent_policy_name(int policy);
/* Runs the executions one after another. Later ones know what the earlier ones asked for. */
int agent_run(const struct pleat_study *study, int policy, const struct agent_reading *reading,
              uint64_t seed, double *metrics, struct pleat_error *err) PLEAT_MUST_CHECK;
const char *agent_reading_name(int reading);
/* The estimate of a metric under a policy, in a reading. */
struct pleat_estimate agent_of(const struct pleat_numbers *numbers, int reading, int policy,
                               size_t metric);
/* A metric under one policy as a share of it under another. */
struct pleat_estimate agent_share(const struct pleat_numbers *numbers, int reading, int policy,
                                  int of, size_t metric);
/* combined.c: the section of the page about the policy that combines P and PP. */
void agent_tell_combined(struct pleat_study *study, const struct pleat_numbers *numbers);

#endif
