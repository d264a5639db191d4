/* batch_jobs.h - the life of an allocation: asked for, waiting, given. Then its agents
 * (batch_agents.h) and its end (batch_end.h). */
#ifndef PLEAT_SITE_BATCH_JOBS_H
#define PLEAT_SITE_BATCH_JOBS_H

#include "site/batch_books.h"

/* Books more processors for a job that has some already, from those that it gave back of its
 * allocations: of the allocation with wish->beside, else (unless `there`) of another one. NULL:
 * none has as many. */
struct pleat_batch_allocation *pleat_batch_take_more(struct pleat_batch_site *site,
                                                     const struct pleat_site_wish *wish,
                                                     bool there);
/* Asks for an allocation as soon as the batch system can be asked. */
void pleat_batch_begin(struct pleat_batch_site *site, struct pleat_batch_allocation *one);
/* Takes the state of an allocation's job (as the adapter describes it): it waits, or has been
 * given. */
void pleat_batch_job_is(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                        const json_t *job);
/* The same for one that somebody else ends, found when the batch system is asked for what there is:
 * the adapter tells more of that. */
void pleat_batch_found_ending(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                              const json_t *job);
/* It is time to look after the allocation with that number: site->on_time. */
void pleat_batch_on_time(void *site, uint64_t number);

#endif
