#include "cli/sim_metrics.h"

#include <math.h>
#include <stdlib.h>

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
    {"GROWS", "grows", PLEAT_SIM_NUMBER, grows},
    {"SHRINKS", "shrinks", PLEAT_SIM_NUMBER, shrinks},
    {"RESIZING", "resize_s", PLEAT_SIM_SECONDS, resizing},
};

const struct pleat_sim_metric *pleat_sim_metric_at(size_t i)
{
    return i < sizeof(metrics) / sizeof(metrics[0]) ? &metrics[i] : NULL;
}

int pleat_sim_metric_over_seeds(const struct pleat_sim_experiment *experiment, size_t combination,
                                const struct pleat_sim_metric *metric, double *mean,
                                double *half_width)
{
    size_t seeds = experiment->request->seeds;
    const struct pleat_sim_run *runs = &experiment->runs[combination * seeds];
    double *values = calloc(seeds, sizeof(*values)), sum = 0;
    if (!values)
        return PLEAT_E_NOMEM;
    for (size_t i = 0; i < seeds; i++)
        sum += values[i] = metric->get(&runs[i]);
    *mean = sum / (double)seeds;
    *half_width = pleat_confidence(values, seeds, 0.95);
    free(values);
    return 0;
}
