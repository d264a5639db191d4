/* estimate.h - estimates as users give them: few round values, often the longest that is allowed.
 */
#ifndef PLEAT_WORKLOAD_ESTIMATE_H
#define PLEAT_WORKLOAD_ESTIMATE_H

#include "model/workload.h"

/* The least value of the longest estimate: below it there are not enough round values. */
#define PLEAT_ESTIMATE_LONGEST_LEAST_S 6000
/* The number of popular values in the model. Workloads with few jobs have fewer of the rare ones.
 */
#define PLEAT_ESTIMATE_POPULAR 20

/* Gives every job of the workload an estimate, at least its run time, by the model of Tsafrir,
 * Etsion and Feitelson 2005 (estimate_popular.c says what is followed). longest_us: the longest
 * estimate that is allowed, a whole number of seconds, at least PLEAT_ESTIMATE_LONGEST_LEAST_S; 0:
 * the longest run time, rounded up to whole hours, or 2 hours. A seed always gives the same
 * estimates.
 *
 * PLEAT_E_INVALID: the longest estimate is too short for the run times (err says for how many jobs,
 * and what to do); PLEAT_E_NOMEM. After an error the jobs are unchanged.
 */
int pleat_estimate_popular(struct pleat_workload_jobs *jobs, int64_t longest_us, uint64_t seed,
                           struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
