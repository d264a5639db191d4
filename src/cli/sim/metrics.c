#include "cli/sim/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GETTER(name, expression)                                                                   \
    static double name(const struct pleat_sim_run *run)                                            \
    {                                                                                              \
        return (double)(expression);                                                               \
    }

#define OF_JOBS(name, summary, which)                                                              \
    GETTER(name, run->summary.count ? run->summary.which : (double)NAN)

OF_JOBS(wait_mean, wait_s, mean)
OF_JOBS(wait_median, wait_s, median)
OF_JOBS(wait_p95, wait_s, p95)
OF_JOBS(response_mean, response_s, mean)
OF_JOBS(response_median, response_s, median)
OF_JOBS(response_p95, response_s, p95)
OF_JOBS(slowdown_mean, slowdown, mean)
OF_JOBS(slowdown_median, slowdown, median)
OF_JOBS(slowdown_p95, slowdown, p95)
GETTER(makespan, run->makespan_s)
GETTER(utilization, run->utilization)
GETTER(work, run->work_s > 0 ? run->totals.busy_us / 1e6 / run->work_s : (double)NAN)
GETTER(grows, run->totals.grows)
GETTER(shrinks, run->totals.shrinks)
GETTER(resizing, run->stood_s)

static const struct pleat_sim_metric metrics[] = {
    {"WAIT", "wait_mean_s", PLEAT_SIM_SECONDS, wait_mean},
    {"WAIT 50%", "wait_median_s", PLEAT_SIM_SECONDS, wait_median},
    {"WAIT 95%", "wait_p95_s", PLEAT_SIM_SECONDS, wait_p95},
    {"RESPONSE", "response_mean_s", PLEAT_SIM_SECONDS, response_mean},
    {"RESP 50%", "response_median_s", PLEAT_SIM_SECONDS, response_median},
    {"RESP 95%", "response_p95_s", PLEAT_SIM_SECONDS, response_p95},
    {"SLOWDOWN", "slowdown_mean", PLEAT_SIM_RATIO, slowdown_mean},
    {"SLOW 50%", "slowdown_median", PLEAT_SIM_RATIO, slowdown_median},
    {"SLOW 95%", "slowdown_p95", PLEAT_SIM_RATIO, slowdown_p95},
    {"MAKESPAN", "makespan_s", PLEAT_SIM_SECONDS, makespan},
    {"USED", "utilization", PLEAT_SIM_PERCENT, utilization},
    {"WORK", "work", PLEAT_SIM_PERCENT, work},
    {"GROWS", "grows", PLEAT_SIM_NUMBER, grows},
    {"SHRINKS", "shrinks", PLEAT_SIM_NUMBER, shrinks},
    {"RESIZING", "resize_s", PLEAT_SIM_SECONDS, resizing},
};

const struct pleat_sim_metric *pleat_sim_metric_at(size_t i)
{
    return i < sizeof(metrics) / sizeof(metrics[0]) ? &metrics[i] : NULL;
}

static double *values_of(const struct pleat_sim_experiment *experiment, size_t combination,
                         const struct pleat_sim_metric *metric)
{
    size_t seeds = experiment->request->seeds;
    const struct pleat_sim_run *runs = &experiment->runs[combination * seeds];
    double *values = calloc(seeds, sizeof(*values));
    for (size_t i = 0; values && i < seeds; i++)
        values[i] = metric->get(&runs[i]);
    return values;
}

/* Drops the interval where all runs gave one value: it tells nothing about other seeds. */
static void drop_interval_of_one(struct pleat_estimate *estimate)
{
    if (!(estimate->half > 0))
        estimate->half = (double)INFINITY;
}

int pleat_sim_metric_over_seeds(const struct pleat_sim_experiment *experiment, size_t combination,
                                const struct pleat_sim_metric *metric,
                                struct pleat_estimate *estimate)
{
    double *values = values_of(experiment, combination, metric);
    if (!values)
        return PLEAT_E_NOMEM;
    *estimate = pleat_estimate(values, experiment->request->seeds);
    drop_interval_of_one(estimate);
    free(values);
    return 0;
}

int pleat_sim_metric_difference(const struct pleat_sim_experiment *experiment, size_t combination,
                                const struct pleat_sim_metric *metric,
                                struct pleat_estimate *estimate)
{
    double *values = values_of(experiment, combination, metric);
    double *first = values_of(experiment, 0, metric);
    int rc = values && first ? 0 : PLEAT_E_NOMEM;
    if (!rc)
        *estimate = pleat_estimate_difference(values, first, experiment->request->seeds);
    if (!rc)
        drop_interval_of_one(estimate);
    free(values);
    free(first);
    return rc;
}

bool pleat_sim_seeds_differ(const struct pleat_sim_experiment *experiment, size_t combination)
{
    size_t seeds = experiment->request->seeds;
    const struct pleat_sim_run *runs = &experiment->runs[combination * seeds];
    const struct pleat_sim_metric *metric;
    for (size_t i = 0; (metric = pleat_sim_metric_at(i)); i++)
        for (size_t s = 1; s < seeds; s++) {
            double first = metric->get(&runs[0]), other = metric->get(&runs[s]);
            if (memcmp(&first, &other, sizeof(first)) != 0)
                return true;
        }
    return false;
}
