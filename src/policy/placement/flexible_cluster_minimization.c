/* Flexible Cluster Minimization: Buisson et al. 2007, IV-A (first: Sonmez, Mohamed and Epema 2006).
 *
 * As cluster minimization, but that a flexible job is split according to the idle processors: it
 * takes all of the site that has the most, then of the next, until it has what it wants. So it
 * starts as soon as there are enough on all sites together, and uses as few sites as possible.
 * Taken where the paper is silent: if its last part can be had where fewer are idle, it goes to the
 * site with the fewest that are enough. */
#include "policy/policies.h"

static bool is_used(const struct pleat_flexible_part *parts, uint32_t count, uint32_t site)
{
    for (uint32_t i = 0; i < count; i++)
        if (parts[i].site == site)
            return true;
    return false;
}

/* The site not used yet with the most processors that the component may have; of sites with
 * `enough`, the one with the fewest. */
static uint32_t next_site(const struct pleat_pass *pass, uint32_t component, int32_t enough,
                          const struct pleat_flexible_part *parts, uint32_t count,
                          int32_t *available)
{
    const struct pleat_view *view = pass->view;
    uint32_t best = PLEAT_NONE;
    for (uint32_t site = 0; site < view->site_count; site++) {
        int32_t here = pleat_plan_available(pass->plan, component, site);
        if (here < 1 || is_used(parts, count, site) ||
            !pleat_view_allows(view, &view->components[component], site))
            continue;
        if (best == PLEAT_NONE ||
            (*available < enough ? here > *available : here >= enough && here < *available)) {
            best = site;
            *available = here;
        }
    }
    return best;
}

static uint32_t flexible_split(struct pleat_pass *pass, uint32_t component, int32_t processors,
                               struct pleat_flexible_part *parts, uint32_t most)
{
    uint32_t count = 0;
    while (processors > 0 && count < most) {
        int32_t available = 0;
        uint32_t site = next_site(pass, component, processors, parts, count, &available);
        if (site == PLEAT_NONE)
            return 0;
        int32_t taken = available < processors ? available : processors;
        parts[count++] = (struct pleat_flexible_part){site, taken};
        processors -= taken;
    }
    return processors > 0 ? 0 : count;
}

static uint32_t flexible_place(struct pleat_pass *pass, uint32_t component)
{
    return pleat_policy_cluster_minimization.place(pass, component);
}

const struct pleat_policy pleat_policy_flexible_cluster_minimization = {
    .number = 4,
    .version = 1,
    .question = PLEAT_PLACEMENT,
    .name = "flexible-cluster-minimization",
    .source = "Buisson et al. 2007, IV-A",
    .summary = "the same, and flexible jobs are split as processors are idle",
    .settles = true,
    .place = flexible_place,
    .split = flexible_split,
};
