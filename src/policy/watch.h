/* watch.h - has anything happened since the last pass? For queue policies that keep in the plan's
 * memo what they worked out, and need not look at all that wait as long as it holds. */
#ifndef PLEAT_POLICY_WATCH_H
#define PLEAT_POLICY_WATCH_H

#include "policy/policy.h"

/* The state of such a policy; counts what it observes, and may wrap around. */
struct pleat_watch {
    uint32_t submitted;
    uint32_t changes; /* anything else but passes, starts and promises */
};

void pleat_watch_observe(struct pleat_watch *watch, const struct pleat_event *event);

/* Did the last pass leave a memo, and has nothing happened since then but submissions? Only where
 * nothing but starts and ends moves time on (no delays, no resizes, no reservations), while no
 * running component is past its estimate, and where no policy looks at who else waits
 * (pleat_policy.settles). */
bool pleat_watch_holds(const struct pleat_pass *pass, const struct pleat_watch *watch);
/* Leaves a memo for the next pass, or none where that is not wanted or may not be. */
void pleat_watch_leave(struct pleat_pass *pass, const struct pleat_watch *watch, bool wanted);
/* Do those submitted later stand behind all others? */
bool pleat_watch_in_order(const struct pleat_pass *pass);
/* Then, and if the memo holds: the first of those submitted since it was left; PLEAT_NONE. */
uint32_t pleat_watch_first_new(const struct pleat_pass *pass, const struct pleat_watch *watch);

#endif
