/* demand.h - figures 4 and 5 of Liu et al. 2009, live: an application that asks for processes as a
 * recorded run of apps/flow did is executed again and again at a site that takes its time to give
 * processors, once under each policy for buffers of prepared processes; and the same simulated. */
#ifndef PLEAT_BENCH_DEMAND_DEMAND_H
#define PLEAT_BENCH_DEMAND_DEMAND_H

#include "demand/rule.h"
#include "fold/eval.h"

/* OWN: a request that fails has an allocation of its own, as in the paper (3.1); the others: it
 * takes what is on its way. */
enum {
    DEMAND_NONE,
    DEMAND_P,
    DEMAND_PP,
    DEMAND_P_OWN,
    DEMAND_PP_OWN,
    DEMAND_COMBINED,
    DEMAND_POLICIES
};
extern const struct demand_policy {
    const char *name;   /* on the page */
    const char *buffer; /* as in pleat.conf */
    bool own;           /* buffer_own */
} demand_policies[DEMAND_POLICIES];

enum {
    DEMAND_EXECUTIONS = 20,
    DEMAND_LEARNT = 4,      /* executions from the fifth on, as on the simulated page */
    DEMAND_PROCESSORS = 16, /* of the site, pretended */
    DEMAND_MOST = 12,       /* that a job may have */
    DEMAND_LEVEL = 1,       /* RL */
    DEMAND_RANGE = 2,       /* iterations between two reviews of PP, and of a prediction */
};

/* Of the run of flow that is recorded, and of the times here. */
struct demand_scale {
    int iterations, objects; /* of flow */
    int stride;              /* each so many-th adaptation of flow is a step here */
    double step_s, claim_s, review_s;
    int executions;
};

struct demand {
    struct demand_scale scale;
    struct demand_row rows[DEMAND_STEPS_MAX];
    int steps;
};

/* What an execution came to. */
struct demand_outcome {
    int requests, satisfied;
    double waste_s;   /* processor time of prepared processes, and of those that start or end */
    double elapsed_s; /* of its steps */
};

/* What was measured of allocations: from a request until its process is there. */
struct demand_delay {
    double mean_s, deviation_s;
    int count;
};

/* By how much an execution is slower than usual: the same for all policies. */
double demand_speed(int round, int execution);

/* ---- live (demand_live.c); what fails ends the benchmark ---- */

/* Lets flow run alone, and keeps what it wanted. */
void demand_record(struct demand *demand);
/* A pleatd for each policy; an execution under all of them at the same time. delays: of requests
 * that were not satisfied, under DEMAND_NONE, in seconds. demand_close in any case. */
void demand_open(const struct demand *demand, int round);
void demand_execute(const struct demand *demand, int round, int execution,
                    struct demand_outcome outcomes[DEMAND_POLICIES], struct bench_series *delays);
void demand_close(void);

/* ---- simulated (demand_sim.c) ---- */

/* All executions one after another: the core that pleatd has decides, in simulated time. `known`:
 * when a policy looks at a buffer as an iteration begins, it knows already what the application
 * asks for in that; else it learns that just afterwards. Live it is either. */
void demand_simulate(const struct demand *demand, int policy, int round,
                     const struct demand_delay *delay, bool known,
                     struct demand_outcome outcomes[DEMAND_EXECUTIONS]);

/* ---- results ---- */

enum { DEMAND_LIVE, DEMAND_SIMULATED, DEMAND_KNOWN, DEMAND_SOURCES }; /* KNOWN: demand_simulate */

struct demand_results {
    struct demand demand;
    struct demand_delay delay;
    int rounds;
    /* S (nothing where it asked for none), W in seconds and the time, a value for each round */
    struct bench_series s[DEMAND_SOURCES][DEMAND_POLICIES][DEMAND_EXECUTIONS];
    struct bench_series w[DEMAND_SOURCES][DEMAND_POLICIES][DEMAND_EXECUTIONS];
    struct bench_series elapsed[DEMAND_SOURCES][DEMAND_POLICIES][DEMAND_EXECUTIONS];
    struct bench_series requests;
};
/* All values from execution `first` to before `end`, one after another. */
struct bench_series demand_values(const struct bench_series by_execution[DEMAND_EXECUTIONS],
                                  int first, int end);
double demand_mean(const struct bench_series *series);

/* ---- the page (demand_page.c, demand_criteria.c) ---- */

void demand_tell(struct eval *eval, const struct demand_results *results);
void demand_write_tables(struct pleat_page *page, const struct demand_results *results);
int demand_draw(struct pleat_page *page, const struct demand_results *results,
                struct pleat_error *err);

#endif
