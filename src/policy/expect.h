/* expect.h - the profiles of a pass: how many processors are expected to be free, and when. */
#ifndef PLEAT_POLICY_EXPECT_H
#define PLEAT_POLICY_EXPECT_H

#include "policy/policy.h"

/* Can the policies in force take processors back from running components, at any time? */
bool pleat_pass_shrinks(const struct pleat_pass *pass);
/* Sets the pass's profiles, from now on: the processors that reservations, running components and
 * those that this plan starts leave free, by expected ends. `shrinkable`: malleable components
 * count with their smallest size, since the rest can be had back. The plan, not the profiles, knows
 * what is free now. False: out of memory. */
bool pleat_pass_expect(struct pleat_pass *pass, bool shrinkable);
/* The earliest time at which a component could start by the pass's profiles, at its smallest size
 * and for as long as it is expected to run; PLEAT_NEVER: at no time. *site: where. Of equally early
 * sites the one that the component was promised, then the first. */
int64_t pleat_pass_earliest(const struct pleat_pass *pass, uint32_t component, uint32_t *site);
/* The same for a component whose promised place is in the profiles. It gives that place up for a
 * start before before_us; if there is none, the place is returned. */
int64_t pleat_pass_earlier(const struct pleat_pass *pass, uint32_t component, int64_t before_us,
                           uint32_t *site);
/* Takes `processors` (below 0: gives them back) in a profile of the pass, from a time on, for as
 * long as the component is expected to run on `size` processors. */
void pleat_pass_take(struct pleat_pass *pass, uint32_t component, uint32_t site, int64_t from_us,
                     int32_t size, int32_t processors);

#endif
