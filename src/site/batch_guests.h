/* batch_guests.h - several allocations of a job on one host.
 *
 * A job whose processes stay where they are (it folds) grows on its host alone. What it has not in
 * the allocation in which its processes run, their home, comes from an allocation of its own on
 * that host, a guest. It has a node number and an agent of its own, as all have; this agent starts
 * nothing, but says which CPUs were given, and keeps them. NODE_HOME tells the core that both are
 * one host, and NODE_MORE how many processors could be got there. All else is as with other
 * allocations: a guest is given back when nothing of it is used, and left when it is taken away.
 *
 * This is for allocations on one host whose agent can use CPUs that were given to others: not where
 * the batch system confines each allocation by a cpuset.
 */
#ifndef PLEAT_SITE_BATCH_GUESTS_H
#define PLEAT_SITE_BATCH_GUESTS_H

#include "site/batch_books.h"

/* The allocation in which the processes of a growth's job stay, if it may have guests; NULL: none.
 */
struct pleat_batch_allocation *pleat_batch_home(struct pleat_batch_site *site,
                                                const struct pleat_site_wish *wish);
/* Books a growth on the host of `home`, from what its job gave back of one of its allocations
 * there. NULL: none has as many. */
struct pleat_batch_allocation *pleat_batch_take_there(struct pleat_batch_site *site,
                                                      const struct pleat_batch_allocation *home,
                                                      const struct pleat_site_wish *wish);
/* Has an allocation, which is to be asked for, be a guest of `home`. */
void pleat_batch_be_guest(struct pleat_batch_allocation *one,
                          const struct pleat_batch_allocation *home);
/* Tells of which home a guest is that was given. */
void pleat_batch_say_home(const struct pleat_batch_site *site,
                          const struct pleat_batch_allocation *one);
/* Tells how many processors more could be got on the host of each home, as far as that is news. */
void pleat_batch_say_more(struct pleat_batch_site *site);

#endif
