/* Folding: McCann and Zahorjan 1994, as Buisson et al. 2007, III have it.
 *
 * Partitions are only halved and doubled. Room is made by folding the largest (ties: the latest
 * started), free processors go to the smallest that can be doubled (ties: the earliest started).
 * Deviations, and what is taken where that account is silent:
 * - a partition of an odd size cannot be halved; nor is one doubled if its job does not accept the
 *   double size;
 * - a partition may be halved several times at once, where that much room is needed;
 * - the rotation that makes folding fair is left out: it moves jobs between processors in turn;
 * - a job without processors gets its smallest size. */
#include "policy/policies.h"

/* By how many processors a component would be unfolded; 0: it cannot be now, or takes more than
 * `processors`. */
static int32_t unfolds_by(const struct pleat_pass *pass, uint32_t component, int32_t processors)
{
    const struct pleat_component *comp = &pass->view->components[component];
    int32_t size = pleat_plan_size(pass->plan, component);
    int32_t more = size > 0 ? size : pleat_accept_next(pass->view, comp, 0);
    return more > 0 && more <= processors &&
                   pleat_accept_grow(pass->view, comp, size, more) == more &&
                   pleat_plan_growable(pass->plan, comp->site) >= more
               ? more
               : 0;
}

static int32_t folding_grow(struct pleat_pass *pass, uint32_t site, int32_t processors)
{
    const struct pleat_view *view = pass->view;
    int32_t left = processors;
    for (;;) {
        uint32_t smallest = PLEAT_NONE;
        for (uint32_t c = pleat_malleable_oldest(view, site); c != PLEAT_NONE;
             c = pleat_malleable_younger(view, c)) {
            int32_t more = unfolds_by(pass, c, left);
            if (more == 0)
                continue;
            if (view->components[c].quiet_until_us > view->now_us)
                (void)pleat_plan_offer_grow(pass->plan, c, more); /* refused: a later pass offers
                                                                   * it */
            else if (pleat_plan_could_grow(pass->plan, c, more) &&
                     (smallest == PLEAT_NONE ||
                      pleat_plan_size(pass->plan, c) < pleat_plan_size(pass->plan, smallest)))
                smallest = c;
        }
        if (smallest == PLEAT_NONE)
            return left;
        left -= pleat_plan_offer_grow(pass->plan, smallest, unfolds_by(pass, smallest, left));
    }
}

static bool folds(const struct pleat_pass *pass, uint32_t component)
{
    const struct pleat_component *comp = &pass->view->components[component];
    int32_t size = pleat_plan_size(pass->plan, component);
    return size > 0 && size % 2 == 0 && pleat_plan_could_shrink(pass->plan, component) &&
           pleat_accept_shrink(pass->view, comp, size, size / 2) == size / 2;
}

static int32_t folding_shrink(struct pleat_pass *pass, uint32_t site, int32_t processors,
                              uint32_t waiter)
{
    const struct pleat_view *view = pass->view;
    int32_t left = processors;
    while (left > 0) {
        uint32_t largest = PLEAT_NONE;
        for (uint32_t c = pleat_malleable_newest(view, site); c != PLEAT_NONE;
             c = pleat_malleable_older(view, c))
            if (folds(pass, c) &&
                (largest == PLEAT_NONE ||
                 pleat_plan_size(pass->plan, c) > pleat_plan_size(pass->plan, largest)))
                largest = c;
        int32_t given =
            largest == PLEAT_NONE
                ? 0
                : pleat_plan_offer_shrink(pass->plan, largest,
                                          pleat_plan_size(pass->plan, largest) / 2, waiter);
        if (given == 0)
            break;
        left -= given;
    }
    return left;
}

const struct pleat_policy pleat_policy_malleability_folding = {
    .number = 12,
    .version = 1,
    .question = PLEAT_MALLEABILITY,
    .name = "folding",
    .source = "McCann and Zahorjan 1994; Buisson et al. 2007, III",
    .summary = "double the smallest, halve the largest",
    .shrinks = true,
    .grow = folding_grow,
    .shrink = folding_shrink,
};
