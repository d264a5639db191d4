/* sim.h - the core and its policies in simulated time.
 *
 * Sites always give what they have, after a delay; applications are closed forms: how much work is
 * left, how fast it goes at a size (Amdahl), when the next adaptation point is. No event per
 * iteration. At one instant: all that ends or answers, then all submissions in their order, then a
 * pass.
 */
#ifndef PLEAT_SIM_SIM_H
#define PLEAT_SIM_SIM_H

#include "core/core.h"

struct pleat_sim_job {
    int64_t submit_us;
    int64_t run_us;      /* run time on one processor */
    int64_t estimate_us; /* 0: none */
    int64_t adapt_us;    /* between adaptation points; 0: any moment is one */
    double serial;       /* fraction that does not get faster with processors (Amdahl) */
    int32_t minimum, maximum, initial;
    int32_t sizes_parameter; /* step of PLEAT_SIZES_MULTIPLES */
    enum pleat_job_kind kind;
    enum pleat_sizes_kind sizes_kind; /* not LIST */
};

struct pleat_sim_site {
    int32_t processors, threshold;
};

struct pleat_sim_options {
    const struct pleat_sim_site *sites;
    uint32_t site_count;
    const struct pleat_policy *policies[PLEAT_QUESTION_COUNT]; /* NULL: the default */
    int64_t claim_us;  /* from asking for processors to having them */
    int64_t resize_us; /* that an application stands still to change its size */
};

struct pleat_sim_outcome {    /* of a job */
    int64_t start_us, end_us; /* PLEAT_NEVER: it never did */
    int32_t processors;       /* at the start */
    uint32_t site;
    uint32_t grown, shrunk;
    bool refused; /* larger than every site */
};

struct pleat_sim_totals {
    uint64_t inputs, passes, decisions;
    uint32_t refused;
    int64_t end_us;
    double busy_us; /* processor-microseconds that jobs held */
};

/* Time that a job takes on n processors, microseconds. */
double pleat_sim_run_time(const struct pleat_sim_job *job, int32_t processors);

/* Runs jobs (sorted by submission; outcomes has as many) to their end. log (may be NULL) gets all
 * inputs and decisions, as a store would. PLEAT_E_INVALID: a job or option makes no sense, err says
 * which. PLEAT_E_NOMEM. */
int pleat_sim_run(const struct pleat_sim_job *jobs, size_t count,
                  const struct pleat_sim_options *options, struct pleat_sim_outcome *outcomes,
                  struct pleat_sim_totals *totals, struct pleat_events *log,
                  struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
