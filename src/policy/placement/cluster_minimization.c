/* Cluster Minimization: Buisson et al. 2007, IV-A (first: Sonmez, Mohamed and Epema 2006).
 *
 * The components of a job are put onto as few sites as possible, so that few of its messages are
 * between sites. The paper has it in words only. Taken: components come largest first (the pass
 * sees to that); each goes to a site where another component of its job is already, if it fits
 * there. Of several such sites it goes to the one with the fewest processors left, which leaves
 * room for larger components. Otherwise it goes to the site with the most idle processors. That is
 * not always the least number of sites (that would be bin packing), but one more at most where
 * sites are equally large. */
#include "policy/policies.h"

/* Is another component of the job at a site, placed before or by this plan? */
static bool has_sibling(const struct pleat_pass *pass, const struct pleat_component *component,
                        uint32_t site)
{
    const struct pleat_view *view = pass->view;
    if (!pleat_view_is_several(view, component))
        return false;
    for (uint32_t c = component->lead; c != PLEAT_NONE; c = pleat_view_sibling(view, c))
        if (pleat_plan_place(pass->plan, c) == site)
            return true;
    return false;
}

static uint32_t cluster_minimization_place(struct pleat_pass *pass, uint32_t component)
{
    const struct pleat_component *comp = &pass->view->components[component];
    uint32_t best = PLEAT_NONE;
    int32_t best_available = 0, best_idle = 0;
    bool best_shared = false;
    for (uint32_t site = 0; site < pass->view->site_count; site++) {
        int32_t available = pleat_plan_available(pass->plan, component, site);
        if (!pleat_view_allows(pass->view, comp, site) ||
            pleat_accept_start_floor(pass->view, comp, available) == 0)
            continue;
        bool shared = has_sibling(pass, comp, site);
        int32_t idle = pleat_plan_at_once(pass->plan, component, site);
        bool better = shared != best_shared ? shared
                      : shared              ? available < best_available
                                            : idle > best_idle;
        if (best == PLEAT_NONE || better) {
            best = site;
            best_available = available;
            best_idle = idle;
            best_shared = shared;
        }
    }
    return best;
}

const struct pleat_policy pleat_policy_cluster_minimization = {
    .number = 3,
    .version = 1,
    .question = PLEAT_PLACEMENT,
    .name = "cluster-minimization",
    .source = "Buisson et al. 2007, IV-A",
    .summary = "the components of a job on as few sites as possible",
    .settles = true,
    .place = cluster_minimization_place,
};
