/* watch.h - has anything happened since the last pass? For queue policies that keep what they
 * worked out in the plan's memo: while the memo holds they need not look at all waiting
 * components. */
#ifndef PLEAT_POLICY_WATCH_H
#define PLEAT_POLICY_WATCH_H

#include "policy/policy.h"

/* The state of such a policy. It counts what the policy observes, and may wrap around. */
struct pleat_watch {
    uint32_t submitted;
    uint32_t changes; /* anything else but passes, starts and promises */
};

void pleat_watch_observe(struct pleat_watch *watch, const struct pleat_event *event);

/* Did the last pass leave a memo, and has nothing happened since then but submissions? Only where
 * nothing but starts and ends happens as time goes on (no delays, no resizes, no reservations),
 * while no running component is past its estimate, and if no policy looks at which others wait
 * (pleat_policy.settles). */
bool pleat_watch_holds(const struct pleat_pass *pass, const struct pleat_watch *watch);
/* Leaves a memo for the next pass, or none if it is not wanted or would not hold. */
void pleat_watch_leave(struct pleat_pass *pass, const struct pleat_watch *watch, bool wanted);
/* Do components that are submitted later stand behind all others? */
bool pleat_watch_in_order(const struct pleat_pass *pass);
/* If they do, and the memo holds: the first component submitted since it was left; PLEAT_NONE. */
uint32_t pleat_watch_first_new(const struct pleat_pass *pass, const struct pleat_watch *watch);

#endif
