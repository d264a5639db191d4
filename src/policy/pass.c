#include "policy/policy.h"

static int32_t earmarked_at(const struct pleat_component *job, uint32_t site)
{
    return job->site == site ? job->earmarked : 0;
}

/* Starting now at a site, on so many processors: would it still run when the one for whom the pass
 * has a shadow needs its own? Without an estimate it would. */
static bool stands_in_shadow(const struct pleat_pass *pass, const struct pleat_component *job,
                             uint32_t site, int32_t size)
{
    const struct pleat_shadow *shadow = pass->shadow;
    return shadow && shadow->site == site &&
           (job->estimate_us <= 0 ||
            pleat_view_expected_run(job, size) > shadow->at_us - pass->view->now_us);
}

/* The site and size that the policies choose for a component; others where that would keep from
 * somebody what he was promised. 0: none. */
static int32_t choose(struct pleat_pass *pass, uint32_t component, uint32_t *site)
{
    const struct pleat_component *job = &pass->view->components[component];
    for (;;) {
        *site = pass->policies[PLEAT_PLACEMENT]->place(pass, component);
        if (*site == PLEAT_NONE)
            return 0;
        int32_t available = pleat_plan_available(pass->plan, component, *site);
        int32_t size = pass->policies[PLEAT_MOLDABILITY]->size(pass, component, *site, available);
        if (size == 0 || size > available || !stands_in_shadow(pass, job, *site, size) ||
            size - earmarked_at(job, *site) <= pass->shadow->extra)
            return size;
        pleat_plan_limit(pass->plan, *site, pass->shadow->extra);
    }
}

bool pleat_pass_start(struct pleat_pass *pass, uint32_t component)
{
    const struct pleat_component *job = &pass->view->components[component];
    uint32_t site;
    int32_t size = choose(pass, component, &site);
    bool started = size > 0 && pleat_plan_start(pass->plan, component, site, size);
    if (pass->shadow) {
        pleat_plan_limit(pass->plan, pass->shadow->site, PLEAT_SIZE_MAX);
        int32_t taken = started ? size - earmarked_at(job, site) : 0;
        if (taken > 0 && stands_in_shadow(pass, job, site, size))
            pass->shadow->extra -= taken;
    }
    return started;
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
