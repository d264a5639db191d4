/* egs.h - the three readings of EGS in the named settings. */
#ifndef PLEAT_EXPERIMENTS_KOALA_EGS_H
#define PLEAT_EXPERIMENTS_KOALA_EGS_H

#include "experiments/koala-malleable/sweep.h"

/* Runs them, with all jobs malleable. Finish the numbers in any case. */
int koala_egs_run(struct pleat_study *study, struct pleat_numbers *numbers,
                  struct pleat_error *err) PLEAT_MUST_CHECK;
void koala_egs_write(struct pleat_study *study, const struct pleat_numbers *numbers);

#endif
