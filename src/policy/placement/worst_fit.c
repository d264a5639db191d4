/* Worst-fit: Buisson et al. 2007, IV-A. Each component goes to the site with the largest number of
 * idle processors, if it has at least the component's minimum (V-B). Ties: the site named first. */
#include "policy/policies.h"

static uint32_t worst_fit_place(struct pleat_pass *pass, uint32_t component)
{
    const struct pleat_component *comp = &pass->view->components[component];
    uint32_t best = PLEAT_NONE;
    int32_t most = 0;
    for (uint32_t site = 0; site < pass->view->site_count; site++) {
        if (!pleat_view_allows(pass->view, comp, site))
            continue;
        int32_t available = pleat_plan_available(pass->plan, component, site);
        if (available > most) {
            most = available;
            best = site;
        }
    }
    if (best == PLEAT_NONE || pleat_accept_start_floor(pass->view, comp, most) == 0)
        return PLEAT_NONE;
    return best;
}

const struct pleat_policy pleat_policy_worst_fit = {
    .number = 1,
    .version = 1,
    .question = PLEAT_PLACEMENT,
    .name = "worst-fit",
    .source = "Buisson et al. 2007, IV-A",
    .summary = "the site with the most idle processors",
    .settles = true,
    .place = worst_fit_place,
};
