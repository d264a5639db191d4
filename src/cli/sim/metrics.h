/* metrics.h - the numbers by which runs are compared, in one list for tables and JSON. */
#ifndef PLEAT_CLI_SIM_METRICS_H
#define PLEAT_CLI_SIM_METRICS_H

#include "cli/common/term.h"
#include "cli/sim/experiment.h"
#include "experiment/estimate.h"

enum pleat_sim_unit { PLEAT_SIM_SECONDS, PLEAT_SIM_RATIO, PLEAT_SIM_PERCENT, PLEAT_SIM_NUMBER };

struct pleat_sim_metric {
    const char *title; /* of its column */
    const char *name;  /* of its member in JSON */
    enum pleat_sim_unit unit;
    double (*get)(const struct pleat_sim_run *run);
};

/* Formats a value in its unit; "-" where there is none. */
void pleat_sim_value_text(enum pleat_sim_unit unit, double value, char *text, size_t size);

/* Prints the comparison of several runs. Returns an exit code. */
int pleat_sim_compare(const struct pleat_term *term, const struct pleat_sim_experiment *experiment);

/* The i-th metric; NULL after the last. */
const struct pleat_sim_metric *pleat_sim_metric_at(size_t i);

/* Estimates a metric of a combination over its seeds (or workloads): the mean and its 95 %
 * interval. half is infinite where there is no interval: for one run, and where all runs gave the
 * same value. PLEAT_E_NOMEM. */
int pleat_sim_metric_over_seeds(const struct pleat_sim_experiment *experiment, size_t combination,
                                const struct pleat_sim_metric *metric,
                                struct pleat_estimate *estimate) PLEAT_MUST_CHECK;
/* Estimates the differences from the first combination, each taken with the same seed and workload.
 */
int pleat_sim_metric_difference(const struct pleat_sim_experiment *experiment, size_t combination,
                                const struct pleat_sim_metric *metric,
                                struct pleat_estimate *estimate) PLEAT_MUST_CHECK;
/* Whether the runs of a combination differ in any metric. */
bool pleat_sim_seeds_differ(const struct pleat_sim_experiment *experiment, size_t combination);

#endif
