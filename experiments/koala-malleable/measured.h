/* measured.h - the experiments with run times by the curves of figure 6 that were measured here. */
#ifndef PLEAT_EXPERIMENTS_KOALA_MEASURED_H
#define PLEAT_EXPERIMENTS_KOALA_MEASURED_H

#include "experiments/koala-malleable/sweep.h"

/* Runs the named settings, and the one of the sweep in which most shapes hold. Finish the numbers
 * in any case. */
int koala_measured_run(struct pleat_study *study, const struct koala_sweep *sweep,
                       struct pleat_numbers *measured, struct pleat_error *err) PLEAT_MUST_CHECK;
/* named: the named settings with the curves that are assumed. */
void koala_measured_write(struct pleat_study *study, const struct pleat_numbers *named,
                          const struct koala_sweep *sweep, const struct pleat_numbers *measured);

#endif
