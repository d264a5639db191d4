/* Halving: Padhye and Dowdy 1996, as Utrera 2010, 5.2 has it.
 *
 * Room is made by reducing the partition of the latest started to half, one job after the other.
 * Processors that become free later are of no use to running jobs: no job grows. Taken where the
 * thesis is silent: of an odd partition the job keeps the larger half, if it accepts that; a job is
 * halved again only when all were; a job without processors gets its smallest size. */
#include "policy/policies.h"

static int32_t halving_grow(struct pleat_pass *pass, uint32_t site, int32_t processors)
{
    const struct pleat_view *view = pass->view;
    for (uint32_t c = pleat_malleable_oldest(view, site); c != PLEAT_NONE && processors > 0;
         c = pleat_malleable_younger(view, c)) {
        int32_t smallest = pleat_accept_start(view, &view->components[c]);
        if (pleat_plan_size(pass->plan, c) == 0 && smallest <= processors)
            processors -= pleat_plan_offer_grow(pass->plan, c, smallest);
    }
    return processors;
}

static int32_t halving_shrink(struct pleat_pass *pass, uint32_t site, int32_t processors,
                              uint32_t waiter)
{
    const struct pleat_view *view = pass->view;
    for (uint32_t c = pleat_malleable_newest(view, site); c != PLEAT_NONE && processors > 0;
         c = pleat_malleable_older(view, c)) {
        int32_t half = pleat_plan_size(pass->plan, c) / 2;
        if (half > 0 && pleat_plan_could_shrink(pass->plan, c))
            processors -= pleat_plan_offer_shrink(pass->plan, c, half, waiter);
    }
    return processors;
}

const struct pleat_policy pleat_policy_halving = {
    .number = 16,
    .version = 1,
    .question = PLEAT_MALLEABILITY,
    .name = "halving",
    .source = "Utrera 2010, 5.2 (Padhye and Dowdy 1996)",
    .summary = "halve the latest started; never grow",
    .shrinks = true,
    .grow = halving_grow,
    .shrink = halving_shrink,
};
