/* claimbook.h - which slots of one node belong to which claim; for sites that keep that themselves
 * (local). No events, no time. */
#ifndef PLEAT_SITE_CLAIMBOOK_H
#define PLEAT_SITE_CLAIMBOOK_H

#include "model/records.h"
#include "site/site.h"

struct pleat_booked {
    uint64_t id;
    uint32_t index;
    uint32_t *slots; /* in order of ranks */
    int32_t count;
};

PLEAT_ARRAY(pleat_booked_array, struct pleat_booked);

struct pleat_claimbook {
    struct pleat_booked_array claims;
    uint8_t *taken; /* per slot */
    int32_t slots, free;
};

int pleat_claimbook_init(struct pleat_claimbook *book, int32_t slots) PLEAT_MUST_CHECK;
void pleat_claimbook_finish(struct pleat_claimbook *book);
/* NULL where the id is not booked. */
struct pleat_booked *pleat_claimbook_find(struct pleat_claimbook *book, uint64_t id);
/* Books `count` free slots: next to those of the claim `beside` (0, or not booked: of none) where
 * as many are free there, else the first of the shortest row of free ones that is long enough, else
 * what is free from there, or from 0, on. PLEAT_E_BUSY when there are not as many. */
int pleat_claimbook_take(struct pleat_claimbook *book, uint64_t id, uint32_t index, int32_t count,
                         uint64_t beside, struct pleat_booked **booked) PLEAT_MUST_CHECK;
/* Books exactly the slots of the claim's pieces. PLEAT_E_STATE when one is taken or unknown. */
int pleat_claimbook_adopt(struct pleat_claimbook *book,
                          const struct pleat_site_claim *claim) PLEAT_MUST_CHECK;
int pleat_claimbook_split(struct pleat_claimbook *book, uint64_t id, uint64_t into,
                          uint32_t into_index, int32_t count) PLEAT_MUST_CHECK;
/* Frees its slots; nothing where the id is not booked. */
void pleat_claimbook_drop(struct pleat_claimbook *book, uint64_t id);
/* Emits a PIECE event for each run of slots, then CLAIMED. */
void pleat_claimbook_announce(const struct pleat_booked *booked, const struct pleat_host *host);

#endif
