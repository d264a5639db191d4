/* agent.h - the simulation of Liu et al. 2009, 4.2: its application, cluster and runs. */
#ifndef PLEAT_EXPERIMENTS_APPLICATION_AGENT_H
#define PLEAT_EXPERIMENTS_APPLICATION_AGENT_H

#include "experiment/experiment.h"

enum { P, PP, NONE, POLICIES }; /* NONE: nothing is prepared, for comparison */
enum { EXECUTIONS = 100 };

/* What the paper leaves open, or can be read in two ways. */
struct agent_reading {
    const char *name;
    double allocation_sd; /* of the time that an allocation takes */
    double speed_sd;      /* of the time that an object takes, from run to run */
    bool pending;         /* R counts processes on their way */
    bool balanced;        /* gained objects are divided over all processes, not left on one */
    int32_t notices; /* the application notices after a random number of slow iterations, from 1 to
                      * this */
    int64_t level;   /* RL */
};

/* Metrics of a run of all executions. Those by execution follow one another, from the first. */
enum {
    SATISFIED = 0,                  /* S of each execution */
    WASTE = SATISFIED + EXECUTIONS, /* W, time units */
    ITERATION = WASTE + EXECUTIONS, /* mean time of one over all executions */
    S_ALL,                          /* means over executions: of all, */
    S_LEARNT,                       /* from the fifth on */
    S_LOWEST,                       /* the lowest of all */
    S_LOWEST_LEARNT,                /* and from the fifth on */
    SETTLED,                        /* S is above 80 % from that execution on */
    W_FIRST,                        /* W of the first to the fourth, */
    W_LEARNT,                       /* from the fifth on */
    REQUESTS,                       /* of an execution */
    METRICS
};

enum { LEARNT = 4 }; /* executions from the fifth on */

const char *agent_policy_name(int policy);
/* Runs the executions one after another, the later ones knowing what the earlier ones asked for. */
int agent_run(const struct pleat_study *study, int policy, const struct agent_reading *reading,
              uint64_t seed, double *metrics, struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
