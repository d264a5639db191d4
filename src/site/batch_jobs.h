/* batch_jobs.h - the life of an allocation: asked for, waiting, given, its agent started, held,
 * ended by us or by others. */
#ifndef PLEAT_SITE_BATCH_JOBS_H
#define PLEAT_SITE_BATCH_JOBS_H

#include "site/batch_claims.h"

/* Asks for it as soon as the batch system can be asked. */
void pleat_batch_begin(struct pleat_batch_site *site, struct pleat_batch_allocation *one);
/* Gives it back. `answers`: RELEASED is said of its wish then. */
void pleat_batch_end(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                     bool answers);
/* It is not there any more, without us. */
void pleat_batch_is_over(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                         const char *why);
/* Nothing can run there any more: its claims are lost, and it is given back. */
void pleat_batch_lose(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                      const char *why);
/* What is said of its job (as the adapter has it): it waits, or has been given. */
void pleat_batch_job_is(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                        const json_t *job);
/* The agent of its node has called, or its connection is gone. */
void pleat_batch_agent_is(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                          bool there);
/* What was started there, its agent, has ended. */
void pleat_batch_step_is_over(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                              const json_t *how);
/* Looks after it in delay_us. */
void pleat_batch_look_later(struct pleat_batch_site *site, const struct pleat_batch_allocation *one,
                            int64_t delay_us);

#endif
