/* room.h - room for a waiting component by shrinking running ones, for approaches that let waiting
 * jobs go first (Buisson et al. 2007, V-B). What is taken where the paper is silent:
 * approach/pwa.c. */
#ifndef PLEAT_POLICY_ROOM_H
#define PLEAT_POLICY_ROOM_H

#include "policy/policy.h"

/* Shrinks running components at a site for a waiter, as the malleability policy says, those that
 * are spared last; returns what could not be had. */
int32_t pleat_pass_shrink(struct pleat_pass *pass, uint32_t site, int32_t processors,
                          uint32_t waiter);

/* How much is taken from running components for a waiting one. */
enum pleat_room {
    PLEAT_ROOM_BESIDE_IDLE, /* what it needs beyond the idle processors */
    PLEAT_ROOM_WHOLE        /* all that it needs, whatever is idle */
};

/* Shrinks running components at one site, by the malleability policy, so that a waiting component
 * can start there at its smallest size: only if this lets it start, and by no more than it needs.
 * Returns the site where room was made, or is being made already; PLEAT_NONE: nowhere. */
uint32_t pleat_pass_make_room(struct pleat_pass *pass, uint32_t waiter, enum pleat_room room);

#endif
