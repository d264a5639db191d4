/* batch_jobs.h - the life of an allocation: asked for, waiting, given, its agents started, held,
 * ended by us or by others. */
#ifndef PLEAT_SITE_BATCH_JOBS_H
#define PLEAT_SITE_BATCH_JOBS_H

#include "site/batch_books.h"

/* Asks for it as soon as the batch system can be asked. */
void pleat_batch_begin(struct pleat_batch_site *site, struct pleat_batch_allocation *one);
/* Gives it back. `answers`: RELEASED is said of its wish then. */
void pleat_batch_end(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                     bool answers);
/* It is not there any more, without us. */
void pleat_batch_is_over(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                         const char *why);
/* Nothing can run on that node any more (NULL: on none of its nodes): what has something there is
 * lost. It is given back when no claim has the rest. */
void pleat_batch_lose(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                      struct pleat_batch_node *node, const char *why);
/* What is said of its job (as the adapter has it): it waits, or has been given. */
void pleat_batch_job_is(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                        const json_t *job);
/* The agent of that node of it has called, or its connection is gone. */
void pleat_batch_agent_is(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                          struct pleat_batch_node *node, bool there);
/* The adapter has ended: what becomes of agents that it started is not told any more. */
void pleat_batch_adapter_is_gone(struct pleat_batch_site *site);
/* What was started on one of its nodes, an agent, has ended. */
void pleat_batch_step_is_over(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                              const json_t *how);
/* Looks after it in delay_us. */
void pleat_batch_look_later(struct pleat_batch_site *site, const struct pleat_batch_allocation *one,
                            int64_t delay_us);

#endif
