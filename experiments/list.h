/* list.h - all experiments that `pleat experiment` knows. */
#ifndef PLEAT_EXPERIMENTS_LIST_H
#define PLEAT_EXPERIMENTS_LIST_H

#include "experiment/experiment.h"

/* The i-th experiment; NULL: after the last. */
const struct pleat_experiment *pleat_experiment_at(size_t i);
/* The experiment with this name; NULL: there is none. */
const struct pleat_experiment *pleat_experiment_find(const char *name);

extern const struct pleat_experiment pleat_experiment_application_agent;
extern const struct pleat_experiment pleat_experiment_koala_malleable;
extern const struct pleat_experiment pleat_experiment_koala_runners;
extern const struct pleat_experiment pleat_experiment_logs;
extern const struct pleat_experiment pleat_experiment_resizable;
extern const struct pleat_experiment pleat_experiment_virtual_malleability;

#endif
