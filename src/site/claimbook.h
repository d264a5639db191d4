/* claimbook.h - which slots of which nodes belong to which claim, for sites that hand out slots
 * themselves (local). It emits events only when asked, and knows no time.
 */
#ifndef PLEAT_SITE_CLAIMBOOK_H
#define PLEAT_SITE_CLAIMBOOK_H

#include "model/records.h"
#include "site/site.h"

struct pleat_booked {
    uint64_t id;
    uint32_t index;
    uint32_t *slots; /* `count` slots, in the order of ranks; counted over all nodes */
    int32_t count;
};

PLEAT_ARRAY(pleat_booked_array, struct pleat_booked);

struct pleat_claimbook {
    struct pleat_booked_array claims;
    uint8_t *taken;  /* for each slot: 1 if it is booked */
    int32_t *begin;  /* the first slot of each node; begin[nodes]: their number */
    int32_t *others; /* of each node: processors that others keep busy */
    uint8_t *shut;   /* of each node: 1 if nothing more is booked there */
    uint32_t nodes;
    int32_t slots, free;
};

/* Node n has slots[n] slots; nodes: at least 1. */
int pleat_claimbook_init(struct pleat_claimbook *book, const int32_t *slots,
                         uint32_t nodes) PLEAT_MUST_CHECK;
void pleat_claimbook_finish(struct pleat_claimbook *book);
/* The booking of a claim; NULL: the id is not booked. */
struct pleat_booked *pleat_claimbook_find(struct pleat_claimbook *book, uint64_t id);
/* Nothing is booked on a node from now on, or again. A node that does not exist changes nothing. */
void pleat_claimbook_shut(struct pleat_claimbook *book, uint32_t node, bool shut);
/* Sets how many processors of a node others keep busy: as many fewer are good to book there, and
 * the others' are booked only where no other node will do. */
void pleat_claimbook_others(struct pleat_claimbook *book, uint32_t node, int32_t processors);
/* Books wish->count free slots, all on one node if a node has as many. First choice are slots next
 * to those of the claim `beside`, on the same node. Otherwise the node is that of `beside`, or, of
 * the nodes with enough slots, the one with the fewest; there the start of the shortest long enough
 * row of free slots is taken, or single slots. Where no node has as many: those of the node of
 * `beside`, then of the nodes with the most. What others want (wish->wanted, of each node) is left
 * to them where there is anything else. Where the wish says how many on which node (wish->parts) it
 * is just these. PLEAT_E_BUSY: not as many are free; or, if all must be on one node, not on one, or
 * not on that of `beside`. */
int pleat_claimbook_take(struct pleat_claimbook *book, const struct pleat_site_wish *wish,
                         struct pleat_booked **booked) PLEAT_MUST_CHECK;
/* Whether a wish could be granted if no slot was booked. */
bool pleat_claimbook_could(const struct pleat_claimbook *book, const struct pleat_site_wish *wish);
/* Emits a NODE event for each node, if there are several. */
void pleat_claimbook_nodes(const struct pleat_claimbook *book, uint32_t site,
                           const struct pleat_host *host);
/* Books exactly the slots of the claim's pieces. PLEAT_E_STATE: a slot is taken or does not exist.
 */
int pleat_claimbook_adopt(struct pleat_claimbook *book,
                          const struct pleat_site_claim *claim) PLEAT_MUST_CHECK;
int pleat_claimbook_split(struct pleat_claimbook *book, uint64_t id, uint64_t into,
                          uint32_t into_index, int32_t count) PLEAT_MUST_CHECK;
/* Frees the slots of a claim; nothing if the id is not booked. */
void pleat_claimbook_drop(struct pleat_claimbook *book, uint64_t id);
/* Emits a PIECE event for each row of slots of a node, then CLAIMED. */
void pleat_claimbook_announce(const struct pleat_claimbook *book, const struct pleat_booked *booked,
                              const struct pleat_host *host);

#endif
