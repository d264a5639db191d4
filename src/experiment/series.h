/* series.h - the numbers of a simulation over time: one point for each instant at which one of them
 * changes. */
#ifndef PLEAT_EXPERIMENT_SERIES_H
#define PLEAT_EXPERIMENT_SERIES_H

#include "experiment/curve.h"

struct pleat_series_point { /* from that instant on */
    int64_t at_us;
    int64_t processors, queued_processors; /* that jobs have; that waiting jobs ask for */
    int32_t running, queued;               /* jobs */
};

PLEAT_ARRAY(pleat_series, struct pleat_series_point);

/* Fills an empty series. used: how the number of processors in use changes. A job waits until it
 * starts (after failures: until its last start), or to the end. PLEAT_E_NOMEM. */
int pleat_series_make(const struct pleat_workload *workload,
                      const struct pleat_sim_outcome *outcomes, const struct pleat_edges *used,
                      struct pleat_series *series) PLEAT_MUST_CHECK;

#endif
