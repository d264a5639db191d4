/* Bias by priority: Lammers 2005, 5.3.5 ("this bias can be based on the priority of the malleable
 * jobs").
 *
 * Grows the jobs of the highest priority first, shrinks the jobs of the lowest first. Taken where
 * the thesis is silent: among equals the earliest started grows and the latest started shrinks
 * first, as in FPSMA (Buisson et al. 2007, V-C.1). */
#include "policy/policies.h"

enum { ABOVE_ALL = INT16_MAX + 1, BELOW_ALL = INT16_MIN - 1 };

/* The highest priority at a site below `limit`; BELOW_ALL: none. */
static int next_below(const struct pleat_view *view, uint32_t site, int limit)
{
    int highest = BELOW_ALL;
    for (uint32_t component = pleat_malleable_oldest(view, site); component != PLEAT_NONE;
         component = pleat_malleable_younger(view, component)) {
        int priority = view->components[component].priority;
        if (priority < limit && priority > highest)
            highest = priority;
    }
    return highest;
}

/* The lowest priority at a site above `limit`; ABOVE_ALL: none. */
static int next_above(const struct pleat_view *view, uint32_t site, int limit)
{
    int lowest = ABOVE_ALL;
    for (uint32_t component = pleat_malleable_oldest(view, site); component != PLEAT_NONE;
         component = pleat_malleable_younger(view, component)) {
        int priority = view->components[component].priority;
        if (priority > limit && priority < lowest)
            lowest = priority;
    }
    return lowest;
}

static int32_t priority_grow(struct pleat_pass *pass, uint32_t site, int32_t grow_value)
{
    const struct pleat_view *view = pass->view;
    for (int priority = next_below(view, site, ABOVE_ALL); priority != BELOW_ALL && grow_value > 0;
         priority = next_below(view, site, priority))
        for (uint32_t component = pleat_malleable_oldest(view, site);
             component != PLEAT_NONE && grow_value > 0;
             component = pleat_malleable_younger(view, component))
            if (view->components[component].priority == priority)
                grow_value -= pleat_plan_offer_grow(pass->plan, component, grow_value);
    return grow_value;
}

static int32_t priority_shrink(struct pleat_pass *pass, uint32_t site, int32_t shrink_value,
                               uint32_t waiter)
{
    const struct pleat_view *view = pass->view;
    for (int priority = next_above(view, site, BELOW_ALL);
         priority != ABOVE_ALL && shrink_value > 0; priority = next_above(view, site, priority))
        for (uint32_t component = pleat_malleable_newest(view, site);
             component != PLEAT_NONE && shrink_value > 0;
             component = pleat_malleable_older(view, component))
            if (view->components[component].priority == priority)
                shrink_value -=
                    pleat_plan_offer_shrink(pass->plan, component, shrink_value, waiter);
    return shrink_value;
}

const struct pleat_policy pleat_policy_malleability_priority = {
    .number = 4,
    .version = 1,
    .question = PLEAT_MALLEABILITY,
    .name = "priority",
    .source = "Lammers 2005, 5.3.5",
    .summary = "grow the highest priority first, shrink the lowest first",
    .shrinks = true,
    .grow = priority_grow,
    .shrink = priority_shrink,
};
