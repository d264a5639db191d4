/* What a job gains by accepting voluntary shrinks: Buisson et al. 2007, VIII ("to affect
 * malleability management policies in order to incite applications to react to volunteer shrinks").
 *
 * The paper says no more. Taken here: a job has a credit (struct pleat_ask), the processors that it
 * gave up though it could have refused, less what it has got since. So it cannot earn more than it
 * gave, and the credit ends with its run. Shrinks that its user or its own program wanted, or that
 * were mandatory, earn nothing.
 *
 *   grow-first   free processors for growing are offered to those with a credit first, the greatest
 *                first (ties: the earliest started), up to that. Not under a malleability policy
 *                that divides all processors anew (equipartition, ...): it would take them back
 *   shrink-last  a job with a credit is shrunk for others only where jobs without one do not
 *                suffice */
#include "policy/policies.h"

static int32_t credit_of(const struct pleat_view *view, uint32_t component)
{
    return pleat_view_ask(view, &view->components[component])->credit;
}

/* The component with the greatest credit of those that can be grown and about which this plan
 * decides nothing; PLEAT_NONE. */
static uint32_t next_creditor(const struct pleat_pass *pass, uint32_t site)
{
    const struct pleat_view *view = pass->view;
    uint32_t best = PLEAT_NONE;
    for (uint32_t c = pleat_malleable_oldest(view, site); c != PLEAT_NONE;
         c = pleat_malleable_younger(view, c)) {
        int32_t credit = credit_of(view, c);
        if (credit > 0 && (best == PLEAT_NONE || credit > credit_of(view, best)) &&
            !pleat_plan_is_decided(pass->plan, c) && pleat_plan_could_grow(pass->plan, c, credit))
            best = c;
    }
    return best;
}

static void grow_first_repay(struct pleat_pass *pass, uint32_t site)
{
    const struct pleat_policy *malleability = pass->policies[PLEAT_MALLEABILITY];
    if (malleability->balance || !malleability->shrinks)
        return;
    for (uint32_t c; (c = next_creditor(pass, site)) != PLEAT_NONE;)
        if (pleat_plan_offer_grow(pass->plan, c, credit_of(pass->view, c)) == 0)
            return;
}

static bool shrink_last_spares(const struct pleat_view *view,
                               const struct pleat_component *component)
{
    return pleat_view_ask(view, component)->credit > 0;
}

const struct pleat_policy pleat_policy_reward_grow_first = {
    .number = 2,
    .version = 1,
    .question = PLEAT_REWARD,
    .name = "grow-first",
    .source = "Buisson et al. 2007, VIII",
    .summary = "who gave up processors voluntarily is the first to get as many again",
    .repay = grow_first_repay,
};

const struct pleat_policy pleat_policy_reward_shrink_last = {
    .number = 3,
    .version = 1,
    .question = PLEAT_REWARD,
    .name = "shrink-last",
    .source = "Buisson et al. 2007, VIII",
    .summary = "who gave up processors voluntarily is the last to be shrunk for others",
    .spares = shrink_last_spares,
};
