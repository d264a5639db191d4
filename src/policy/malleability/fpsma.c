/* Favour Previously Started Malleable Applications: Buisson et al. 2007, V-C.1, figure 4.
 *
 * Grows from the earliest started, shrinks from the latest started. Deviation: none; "wait for Job
 * to release" (line 5) is the core's transaction, with the processors earmarked meanwhile. */
#include "policy/policies.h"

static int32_t fpsma_grow(struct pleat_pass *pass, uint32_t site, int32_t grow_value)
{
    const struct pleat_view *view = pass->view;
    for (uint32_t component = pleat_malleable_oldest(view, site);
         component != PLEAT_NONE && grow_value > 0;
         component = pleat_malleable_younger(view, component))
        grow_value -= pleat_plan_offer_grow(pass->plan, component, grow_value);
    return grow_value;
}

static int32_t fpsma_shrink(struct pleat_pass *pass, uint32_t site, int32_t shrink_value,
                            uint32_t waiter)
{
    const struct pleat_view *view = pass->view;
    for (uint32_t component = pleat_malleable_newest(view, site);
         component != PLEAT_NONE && shrink_value > 0;
         component = pleat_malleable_older(view, component))
        shrink_value -= pleat_plan_offer_shrink(pass->plan, component, shrink_value, waiter);
    return shrink_value;
}

const struct pleat_policy pleat_policy_fpsma = {
    .number = 1,
    .version = 1,
    .question = PLEAT_MALLEABILITY,
    .name = "fpsma",
    .source = "Buisson et al. 2007, V-C.1",
    .summary = "grow the earliest started first, shrink the latest started first",
    .shrinks = true,
    .grow = fpsma_grow,
    .shrink = fpsma_shrink,
};
