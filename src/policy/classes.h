/* classes.h - what the policies of Utrera 2010, 5 and 6, ask about waiting and running components
 * and their classes: long jobs may be folded, short ones come and go. A component of unknown class
 * counts as long: nothing is known about its end. */
#ifndef PLEAT_POLICY_CLASSES_H
#define PLEAT_POLICY_CLASSES_H

#include "policy/policy.h"

static inline bool pleat_is_short(const struct pleat_component *component)
{
    return component->job_class == PLEAT_CLASS_SHORT;
}

/* Waiting components that this plan does not start; at least 1. */
int32_t pleat_waiting(const struct pleat_pass *pass);
/* Waiting long components that this plan does not start; counts no further than at_most, so that a
 * long queue costs little. */
int32_t pleat_waiting_long(const struct pleat_pass *pass, int32_t at_most);
/* Does a short component run at a site, or start there by this plan? */
bool pleat_short_runs(const struct pleat_pass *pass, uint32_t site);

/* Long malleable components at a site: how many run, on how many processors, and how many of those
 * they could give up now. */
struct pleat_long_ones {
    int32_t count, processors, spare;
};
struct pleat_long_ones pleat_long_ones(const struct pleat_pass *pass, uint32_t site);

/* The largest size up to `processors` at which a component starts unfolded (MPL 1) at a site; it
 * may be folded later up to mpl, within what its user and the configuration let. One that folds and
 * has more processes than the site has processors starts folded. No processors: there is none. */
struct pleat_start_size pleat_start_unfolded(const struct pleat_pass *pass, uint32_t component,
                                             uint32_t site, int32_t processors, int32_t mpl);
/* The same for a share of the available processors; the smallest size, if the share is smaller. */
struct pleat_start_size pleat_start_share(const struct pleat_pass *pass, uint32_t component,
                                          uint32_t site, int32_t share, int32_t available,
                                          int32_t mpl);
/* The fewest processors on which a component starts unfolded at a site. */
int32_t pleat_smallest_unfolded(const struct pleat_pass *pass, uint32_t component, uint32_t site);

#endif
