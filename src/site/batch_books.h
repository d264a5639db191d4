/* batch_books.h - which claims have which processors of an allocation. Each of its nodes has a book
 * of its own (claimbook.h); a claim has processors of one of them, or of several.
 *
 * The order of a claim's processors is that of the nodes' numbers. Out of memory ends the process.
 */
#ifndef PLEAT_SITE_BATCH_BOOKS_H
#define PLEAT_SITE_BATCH_BOOKS_H

#include "site/batch_claims.h"

/* The allocation's node with that number, which is made if there is none. */
struct pleat_batch_node *pleat_batch_node_make(struct pleat_batch_allocation *one, uint32_t number);
/* Sets how many processors a node has, with those that claims have. */
void pleat_batch_node_trim(struct pleat_batch_node *node, int32_t cpus);
/* How many processors of the node the allocation has. */
int32_t pleat_batch_node_size(const struct pleat_batch_node *node);
/* Moves the nodes of `from` to `into`. */
void pleat_batch_join(struct pleat_batch_allocation *into, struct pleat_batch_allocation *from);
void pleat_batch_close_books(struct pleat_batch_allocation *one);

/* Whether a claim has processors of the allocation. */
bool pleat_batch_is_used(const struct pleat_batch_allocation *one);
/* How many processors of the allocation a claim has. */
int32_t pleat_batch_count_of(struct pleat_batch_allocation *one, uint64_t claim);
/* Books wish->count processors on as few nodes as possible, next to those of the claim `beside` if
 * it has some here; or those of just the nodes that the wish says. False: not as many are free, or
 * not on one node where all must be on one, or not on these. */
bool pleat_batch_take(struct pleat_batch_allocation *one, const struct pleat_site_wish *wish);
/* PLEAT_E_STATE: the claim has no more than that many. */
int pleat_batch_split_claim(struct pleat_batch_allocation *one, uint64_t id, uint64_t into,
                            uint32_t into_index, int32_t count) PLEAT_MUST_CHECK;
/* An allocation that is asked for should be near the last processors of a claim of another
 * allocation. */
void pleat_batch_set_near(struct pleat_batch_allocation *one, struct pleat_batch_allocation *other,
                          uint64_t claim);
void pleat_batch_drop(struct pleat_batch_allocation *one, uint64_t claim);
/* Books a claim's processors of a node of this allocation. False: another allocation has the
 * node. */
bool pleat_batch_adopt_on(struct pleat_batch_node *node, const struct pleat_site_claim *claim);

#endif
