#include "policy/policy.h"

bool pleat_pass_start(struct pleat_pass *pass, uint32_t component)
{
    uint32_t site = pass->policies[PLEAT_PLACEMENT]->place(pass, component);
    if (site == PLEAT_NONE)
        return false;
    int32_t available = pleat_plan_available(pass->plan, component, site);
    int32_t size = pass->policies[PLEAT_MOLDABILITY]->size(pass, component, site, available);
    return size > 0 && pleat_plan_start(pass->plan, component, site, size);
}

void pleat_pass_grow(struct pleat_pass *pass, uint32_t site)
{
    if (pass->view->sites[site].growers == 0)
        return; /* nobody there has room: the common case, and must cost nothing */
    for (;;) {
        int32_t before = pleat_plan_growable(pass->plan, site);
        if (before == 0)
            return;
        pass->policies[PLEAT_MALLEABILITY]->grow(pass, site, before);
        if (pleat_plan_growable(pass->plan, site) == before)
            return;
    }
}

bool pleat_pass_could_grow(const struct pleat_pass *pass, uint32_t site)
{
    const struct pleat_view *view = pass->view;
    int32_t growable = pleat_plan_growable(pass->plan, site);
    if (growable == 0 || view->sites[site].growers == 0 || view->sites[site].resizing_count == 0)
        return false; /* whoever is not in a resize has just been offered all of it */
    for (uint32_t c = pleat_malleable_oldest(view, site); c != PLEAT_NONE;
         c = pleat_malleable_younger(view, c)) {
        const struct pleat_component *job = &view->components[c];
        if (job->state == PLEAT_RESIZING && pleat_accept_grow(view, job, job->target, growable) > 0)
            return true;
    }
    return false;
}
