/* curve.h - curves for drawings, with no more points than a drawing can show. */
#ifndef PLEAT_EXPERIMENT_CURVE_H
#define PLEAT_EXPERIMENT_CURVE_H

#include "model/workload.h"
#include "sim/sim.h"

struct pleat_curve {
    double *x, *y;
    size_t count;
};

struct pleat_edge { /* a level changes */
    int64_t at_us, by;
};

PLEAT_ARRAY(pleat_edges, struct pleat_edge);

/* The share of the values that are at most x; `sorted` is in increasing order. This function and
 * the next three fill a curve that has to be finished; after PLEAT_E_NOMEM it is empty. */
int pleat_curve_shares(struct pleat_curve *curve, const double *sorted,
                       size_t count) PLEAT_MUST_CHECK;
/* The level, from 0 on, after each edge, over seconds; with more edges than a drawing can show, the
 * mean level in equal parts of the time. Sorts the edges. */
int pleat_curve_levels(struct pleat_curve *curve, struct pleat_edges *edges) PLEAT_MUST_CHECK;
/* The mean level in each of `parts` equal parts of the time. Sorts the edges. */
int pleat_curve_means(struct pleat_curve *curve, struct pleat_edges *edges,
                      size_t parts) PLEAT_MUST_CHECK;
/* How many jobs wait, over seconds. */
int pleat_curve_queued(struct pleat_curve *curve, const struct pleat_workload *workload,
                       const struct pleat_sim_outcome *outcomes) PLEAT_MUST_CHECK;
void pleat_curve_finish(struct pleat_curve *curve);

#endif
