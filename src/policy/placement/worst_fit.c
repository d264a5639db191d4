/* Worst-fit: Buisson et al. 2007, IV-A. Each component goes to the site with the largest number of
 * idle processors, if it has at least the component's minimum (V-B). Of sites with a queue of their
 * own what others use counts as if it were had, but not as idle. Ties: the site named first. */
#include "policy/policies.h"

static uint32_t worst_fit_place(struct pleat_pass *pass, uint32_t component)
{
    const struct pleat_component *comp = &pass->view->components[component];
    uint32_t best = PLEAT_NONE;
    int32_t most = 0, most_idle = 0;
    for (uint32_t site = 0; site < pass->view->site_count; site++) {
        int32_t available = pleat_plan_available(pass->plan, component, site);
        if (!pleat_view_allows(pass->view, comp, site) ||
            pleat_accept_start_floor(pass->view, comp, available) == 0)
            continue;
        int32_t idle = pleat_plan_at_once(pass->plan, component, site);
        if (idle > most_idle || (idle == most_idle && available > most)) {
            most = available;
            most_idle = idle;
            best = site;
        }
    }
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
