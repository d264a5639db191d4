/* batch_end.h - how an allocation ends: given back, ended by others, of no use. */
#ifndef PLEAT_SITE_BATCH_END_H
#define PLEAT_SITE_BATCH_END_H

#include "site/batch_books.h"

/* What could not be asked is asked again after this time. */
#define PLEAT_BATCH_AGAIN_US INT64_C(2000000)

int64_t pleat_batch_now_us(const struct pleat_batch_site *site);
/* Looks after it in delay_us: site->on_time. */
void pleat_batch_look_later(struct pleat_batch_site *site, const struct pleat_batch_allocation *one,
                            int64_t delay_us);
/* Whether a request failed only since the batch system does not answer now. */
bool pleat_batch_is_unreachable(int code);

/* Gives it back. `answers`: RELEASED is said of its wish then. */
void pleat_batch_end(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                     bool answers);
/* One that is to be given back: asks for that, if it can be asked now. */
void pleat_batch_ask_to_release(struct pleat_batch_site *site, struct pleat_batch_allocation *one);
/* It has been given back, or was never asked for. It is no more. */
void pleat_batch_finish_end(struct pleat_batch_site *site, struct pleat_batch_allocation *one);

/* The claim that it was asked for comes to nothing. */
void pleat_batch_refuse(struct pleat_batch_site *site, const struct pleat_batch_allocation *one,
                        enum pleat_reason why);
/* It is not there any more, without us. */
void pleat_batch_is_over(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                         const char *why);
/* Nothing can run on that node any more (NULL: on none of its nodes): what has something there is
 * lost. It is given back when no claim has the rest. */
void pleat_batch_lose(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                      struct pleat_batch_node *node, const char *why);
/* It was given, and is of no use: it is given back. */
void pleat_batch_fail(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                      const char *why);

#endif
