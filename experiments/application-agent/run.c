/* run.c - the application of 4.2, its cluster, and one run of 100 executions. */
#include <math.h>
#include <stdlib.h>

#include "experiments/application-agent/agent.h"

/* A time unit of the paper is a second here: only their ratios matter. */
#define UNIT_US 1000000.0

enum {
    NODES = 500,
    FIRST_PROCESSES = 3,
    OBJECTS = 10,
    GAIN_EVERY = 100,
    ITERATIONS = 3000,
    QUICK_ITERATIONS = 500,
};

static const double object_time = 11.2, allocation_mean = 1000;

const char *agent_policy_name(int policy)
{
    static const char *const names[POLICIES] = {"P", "PP", "none", "combined"};
    return names[policy];
}

static int make_platform(const struct agent_reading *reading, struct pleat_platform *platform)
{
    if (pleat_platform_add(platform, "cluster", NODES))
        return PLEAT_E_NOMEM;
    platform->sites.items[0].claim = (struct pleat_delay){
        llround(allocation_mean * UNIT_US), llround(reading->allocation_sd * UNIT_US)};
    return 0;
}

/* The number of iterations of an execution: few in a quick run. */
static int32_t iterations(const struct pleat_study *study)
{
    return study->quick ? QUICK_ITERATIONS : ITERATIONS;
}

/* Each execution begins long after the one before it has ended, however slow that one was. */
static int make_workload(const struct pleat_study *study, const struct agent_reading *reading,
                         struct pleat_workload *workload)
{
    struct pleat_app app = {.speedup.kind = PLEAT_SPEEDUP_LINEAR,
                            .iterations = iterations(study),
                            .objects = OBJECTS,
                            .gain = OBJECTS,
                            .gain_every = GAIN_EVERY,
                            .speed_spread = reading->speed_sd / object_time,
                            .notices = reading->notices,
                            .balances = reading->balanced,
                            .varies = (uint8_t)reading->varies,
                            .loses_every = reading->loses,
                            .announces = reading->announces};
    double run_us = object_time * OBJECTS * iterations(study) * UNIT_US;
    if (pleat_workload_init(workload) || pleat_array_push(&workload->apps, app))
        return PLEAT_E_NOMEM;
    for (int i = 0; i < EXECUTIONS; i++) {
        struct pleat_workload_job job = {.number = i + 1,
                                         .submit_us = llround(i * 20 * run_us),
                                         .run_us = llround(run_us),
                                         .processors = FIRST_PROCESSES,
                                         .minimum = FIRST_PROCESSES,
                                         .maximum = NODES,
                                         .initial = FIRST_PROCESSES,
                                         .app = 1,
                                         .site = PLEAT_NONE,
                                         .user = -1,
                                         .kind = PLEAT_MOLDABLE};
        if (pleat_array_push(&workload->jobs, job))
            return PLEAT_E_NOMEM;
    }
    return 0;
}

static void measure(const struct pleat_study *study, const struct pleat_trial *trial,
                    const struct pleat_sim_evolved *evolved, double *metrics)
{
    double s[2] = {0, 0}, w[2] = {0, 0}, requests = 0, iteration = 0;
    metrics[S_LOWEST] = metrics[S_LOWEST_LEARNT] = metrics[SETTLED] = 1;
    for (int i = 0; i < EXECUTIONS; i++) {
        double satisfied = evolved[i].requests
                               ? (double)evolved[i].satisfied / (double)evolved[i].requests
                               : (double)NAN;
        metrics[SATISFIED + i] = satisfied;
        metrics[WASTE + i] = (double)evolved[i].waited_us / UNIT_US;
        s[0] += satisfied;
        metrics[S_LOWEST] = fmin(metrics[S_LOWEST], satisfied);
        requests += evolved[i].requests;
        iteration += pleat_trial_run_s(trial, (size_t)i) / iterations(study);
        if (satisfied <= 0.8)
            metrics[SETTLED] = i + 2;
        w[i >= LEARNT] += metrics[WASTE + i];
        if (i < LEARNT)
            continue;
        s[1] += satisfied;
        metrics[S_LOWEST_LEARNT] = fmin(metrics[S_LOWEST_LEARNT], satisfied);
    }
    metrics[S_ALL] = s[0] / EXECUTIONS;
    metrics[S_LEARNT] = s[1] / (EXECUTIONS - LEARNT);
    metrics[W_FIRST] = w[0] / LEARNT;
    metrics[W_LEARNT] = w[1] / (EXECUTIONS - LEARNT);
    metrics[REQUESTS] = requests / EXECUTIONS;
    metrics[ITERATION] = iteration / EXECUTIONS;
}

int agent_run(const struct pleat_study *study, int policy, const struct agent_reading *reading,
              uint64_t seed, double *metrics, struct pleat_error *err)
{
    static const char *const policies[POLICIES] = {"buffer=periodic", "buffer=periodic-prediction",
                                                   "buffer=none", "buffer=combined"};
    struct pleat_platform platform = {0};
    struct pleat_workload workload = {0};
    struct pleat_trial trial = {0};
    struct pleat_sim_evolved evolved[EXECUTIONS] = {{0}};
    struct pleat_sim_options options = {.platform = &platform, .seed = seed, .evolved = evolved};
    options.parameters[PLEAT_PARAM_BUFFER_LEVEL] = reading->level;
    options.parameters[PLEAT_PARAM_BUFFER_REVIEW_US] = llround(600 * UNIT_US);
    options.parameters[PLEAT_PARAM_BUFFER_RANGE] = 5;
    options.parameters[PLEAT_PARAM_BUFFER_PENDING] = reading->pending;
    int rc = pleat_trial_policies(&options, policies[policy], err);
    if (!rc && (make_platform(reading, &platform) || make_workload(study, reading, &workload)))
        rc = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the workload");
    if (!rc)
        rc = pleat_trial_run(&trial, study, &workload, &options, false, err);
    if (!rc)
        measure(study, &trial, evolved, metrics);
    pleat_trial_finish(&trial);
    pleat_workload_finish(&workload);
    pleat_platform_finish(&platform);
    return rc;
}
