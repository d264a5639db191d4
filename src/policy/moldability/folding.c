/* Folding with moldability: Utrera 2010, 5.2, 5.4.1 a and table 5.1, after Padhye and Dowdy 1996.
 *
 *   start with what is available, unfolded
 *   where there is nothing: fold the partition of a running job in half, and start on that half
 *
 * The policy asks for half of the partition of the latest started ("the latest arrived job is
 * chosen"); who is folded is up to the malleability policy: halving takes that job, and never
 * unfolds; folding takes the largest. Classes do not matter. The thesis has no limit of the MPL:
 * set mpl_max. */
#include "policy/classes.h"
#include "policy/policies.h"

/* Half of the partition of the latest started job that can be folded so far; 0: none can. */
static int32_t half_of_latest(const struct pleat_pass *pass, uint32_t site)
{
    const struct pleat_view *view = pass->view;
    for (uint32_t c = pleat_malleable_newest(view, site); c != PLEAT_NONE;
         c = pleat_malleable_older(view, c)) {
        int32_t half = pleat_plan_size(pass->plan, c) / 2;
        if (half > 0 && pleat_plan_could_shrink(pass->plan, c) &&
            pleat_accept_shrink(view, &view->components[c], pleat_plan_size(pass->plan, c), half) ==
                half)
            return half;
    }
    return 0;
}

static struct pleat_start_size folding_size(struct pleat_pass *pass, uint32_t component,
                                            uint32_t site, int32_t available)
{
    struct pleat_start_size size =
        pleat_start_unfolded(pass, component, site, available, PLEAT_SIZE_MAX);
    if (size.processors == 0)
        size.take = half_of_latest(pass, site);
    return size;
}

const struct pleat_policy pleat_policy_moldability_folding = {
    .number = 13,
    .version = 1,
    .question = PLEAT_MOLDABILITY,
    .name = "folding",
    .source = "Utrera 2010, 5.4.1 a (Padhye and Dowdy 1996)",
    .summary = "what is available; if nothing is, half of a running job's partition",
    .settles = true,
    .size = folding_size,
};
