/* batch_guests.h - several allocations of a job on one host.
 *
 * A job whose processes stay where they are (it folds) grows on its hosts alone. What it has not in
 * the allocation in which its processes run comes from an allocation of its own on one of these
 * hosts, a guest; the node there with the processes is its home. A guest has a node number and an
 * agent of its own, as all have; this agent starts nothing, but says which CPUs were given, and
 * keeps them. NODE_HOME tells the core that both are one host, and NODE_MORE how many processors
 * could be got there. All else is as with other allocations: a guest is given back when nothing of
 * it is used, and left when it is taken away.
 *
 * A claim has processors of one allocation. So a growth of a job on several hosts gets what one of
 * its allocations has for it, or a guest on one of the hosts, and may get fewer than it asked for.
 *
 * This is for hosts on which agents can use CPUs that were given to others: not where the batch
 * system confines each allocation by a cpuset.
 */
#ifndef PLEAT_SITE_BATCH_GUESTS_H
#define PLEAT_SITE_BATCH_GUESTS_H

#include "site/batch_books.h"

/* The node on which the processes of a growth's job stay, if they are on one, and it may have
 * guests; NULL: none. *shut: nothing more of its host may be used. */
const struct pleat_batch_node *pleat_batch_home(struct pleat_batch_site *site,
                                                const struct pleat_site_wish *wish, bool *shut);
/* Books a growth on the host of `home`, from what its job gave back of one of its allocations
 * there. NULL: none has as many. */
struct pleat_batch_allocation *pleat_batch_take_there(struct pleat_batch_site *site,
                                                      const struct pleat_batch_node *home,
                                                      const struct pleat_site_wish *wish);
/* Books a growth of a job on several hosts (wish->parts) from what one of its allocations has for
 * it, which may be fewer. NULL: none has any. */
struct pleat_batch_allocation *pleat_batch_take_some(struct pleat_batch_site *site,
                                                     const struct pleat_site_wish *wish);
/* The home of a guest that such a growth is to ask for: of those hosts the one with most of what is
 * wished for. The wish is changed to what is to be asked for there. NULL: there is nothing. */
const struct pleat_batch_node *pleat_batch_home_of_some(struct pleat_batch_site *site,
                                                        struct pleat_site_wish *wish);
/* Has an allocation, which is to be asked for, be a guest of `home`. */
void pleat_batch_be_guest(struct pleat_batch_allocation *one, const struct pleat_batch_node *home);
/* Tells of which home a guest is that was given. */
void pleat_batch_say_home(const struct pleat_batch_site *site,
                          const struct pleat_batch_allocation *one);
/* Tells how many processors more could be got on the host of each home, as far as that is news. */
void pleat_batch_say_more(struct pleat_batch_site *site);

#endif
