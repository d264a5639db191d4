/* batch_found.h - jobs that the batch system has of ours, and whose they are. */
#ifndef PLEAT_SITE_BATCH_FOUND_H
#define PLEAT_SITE_BATCH_FOUND_H

#include "site/batch_jobs.h"

/* Jobs of the pleatd before that nobody has asked for are given back after that time. */
#define PLEAT_BATCH_STRAY_US INT64_C(60000000)

/* A job (as the adapter has it): an allocation that is known, one of the pleatd before, or none of
 * this site's. */
void pleat_batch_found(struct pleat_batch_site *site, const json_t *job);

#endif
