/* sim_metrics.h - the numbers by which runs are compared, in one list for tables and JSON. */
#ifndef PLEAT_CLI_SIM_METRICS_H
#define PLEAT_CLI_SIM_METRICS_H

#include "cli/sim_experiment.h"

enum pleat_sim_unit { PLEAT_SIM_SECONDS, PLEAT_SIM_RATIO, PLEAT_SIM_PERCENT, PLEAT_SIM_NUMBER };

struct pleat_sim_metric {
    const char *title; /* of a column */
    const char *name;  /* in JSON */
    enum pleat_sim_unit unit;
    double (*get)(const struct pleat_sim_run *run);
};

/* The i-th, NULL after the last. */
const struct pleat_sim_metric *pleat_sim_metric_at(size_t i);

/* Over the seeds of a combination: the mean, and half the width of its 95 % confidence interval (0
 * for one seed). PLEAT_E_NOMEM. */
int pleat_sim_metric_over_seeds(const struct pleat_sim_experiment *experiment, size_t combination,
                                const struct pleat_sim_metric *metric, double *mean,
                                double *half_width) PLEAT_MUST_CHECK;

#endif
