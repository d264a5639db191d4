/* batch_end.h - how an allocation ends: given back, ended by others, or given back since it is of
 * no use. */
#ifndef PLEAT_SITE_BATCH_END_H
#define PLEAT_SITE_BATCH_END_H

#include "site/batch_books.h"

/* The time after which a question that could not be asked is asked again. */
#define PLEAT_BATCH_AGAIN_US INT64_C(2000000)

int64_t pleat_batch_now_us(const struct pleat_batch_site *site);
/* Has an allocation looked after in delay_us (site->on_time). */
void pleat_batch_look_later(struct pleat_batch_site *site, const struct pleat_batch_allocation *one,
                            int64_t delay_us);
/* Whether a request failed only because the batch system does not answer now. */
bool pleat_batch_is_unreachable(int code);

/* Gives an allocation back. `answers`: RELEASED of its wish is emitted then. */
void pleat_batch_end(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                     bool answers);
/* Asks the batch system to release an allocation that is to be given back, if it can be asked
 * now. */
void pleat_batch_ask_to_release(struct pleat_batch_site *site, struct pleat_batch_allocation *one);
/* An allocation has been given back, or was never asked for: forgets it. */
void pleat_batch_finish_end(struct pleat_batch_site *site, struct pleat_batch_allocation *one);

/* Refuses the claim for which an allocation was asked. */
void pleat_batch_refuse(struct pleat_batch_site *site, const struct pleat_batch_allocation *one,
                        enum pleat_reason why);
/* An allocation is over, and not because of this site. */
void pleat_batch_is_over(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                         const char *why);
/* For how long jobs may go on on nodes that the batch system takes away, before what is left there
 * has to be ended; 0: not at all, or that is not known. */
int64_t pleat_batch_hold_us(const struct pleat_batch_site *site);
/* The batch system ends an allocation, as the notice "ending" says; its processes are still
 * there. */
void pleat_batch_is_ending(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                           const json_t *how);
/* How long that while is is known now: looks at those of which it was not when they were told. */
void pleat_batch_look_at_ending(struct pleat_batch_site *site);
/* Nothing can run any more on a node of an allocation (NULL: on none of its nodes): claims with
 * processors there are lost. The allocation is given back when no claim has the rest. */
void pleat_batch_lose(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                      struct pleat_batch_node *node, const char *why);
/* An allocation was given, but is of no use: gives it back. */
void pleat_batch_fail(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                      const char *why);

#endif
