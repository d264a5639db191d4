/* batch_found.h - this site's jobs that are found in the batch system, and the allocations that
 * they are. */
#ifndef PLEAT_SITE_BATCH_FOUND_H
#define PLEAT_SITE_BATCH_FOUND_H

#include "site/batch_jobs.h"

/* The time after which jobs of an earlier pleatd that were not asked for are given back. */
#define PLEAT_BATCH_STRAY_US INT64_C(60000000)

/* Takes all jobs that the batch system lists (as the adapter describes them): each is a known
 * allocation, one of an earlier pleatd, or none of this site's. */
void pleat_batch_found(struct pleat_batch_site *site, const json_t *jobs);

#endif
