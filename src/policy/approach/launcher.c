/* The launcher: Utrera 2010, 3.2.2, figure 3.6.
 *
 *   for the first job in the queue: processes and MPL, or wait (moldability)
 *   if it waits: expired windows, else backfilling (queue: backfill-abort, backfill-malleability)
 *
 * If the moldability policy says that the job could start on processors of running jobs, the
 * malleability policy takes these back, and the job starts on them. Otherwise no job is shrunk for
 * it. What is free after that goes to running jobs (the resource manager, 3.3.1.2). */
#include "policy/policies.h"

static bool may_run_at(const struct pleat_pass *pass, const struct pleat_component *component,
                       uint32_t site)
{
    return (component->wanted_site == PLEAT_NONE || component->wanted_site == site) &&
           pleat_view_capacity(pass->view, component, site) >=
               pleat_accept_start(pass->view, component);
}

/* Takes processors back for a waiting component; false, and nothing changed, if no job gives
 * any. */
static bool take(struct pleat_pass *pass, uint32_t waiter, uint32_t site, int32_t processors)
{
    /* what is taken may be of any node: of no use to a component that must be on one */
    if (pleat_view_is_on_one_node(pass->view, &pass->view->components[waiter], site))
        return false;
    pleat_plan_mark mark = pleat_plan_remember(pass->plan);
    if (pleat_pass_shrink(pass, site, processors, waiter) < processors)
        return true;
    pleat_plan_rollback(pass->plan, mark);
    return false;
}

/* The site where room was made (or is being made), or PLEAT_NONE. */
static uint32_t make_room(struct pleat_pass *pass, uint32_t waiter)
{
    const struct pleat_component *component = &pass->view->components[waiter];
    uint32_t site = pleat_plan_makes_room(pass->plan, waiter);
    if (site != PLEAT_NONE || pleat_view_is_several(pass->view, component))
        return site; /* no room is made for jobs of several components */
    if (component->coming > 0)
        return component->site;
    for (site = 0; site < pass->view->site_count; site++) {
        if (!may_run_at(pass, component, site) ||
            (component->earmarked > 0 && component->site != site) ||
            pass->view->sites[site].reclaimable == 0)
            continue;
        int32_t available = pleat_plan_available(pass->plan, waiter, site);
        struct pleat_start_size size = pleat_pass_size(pass, waiter, site, available);
        if (size.processors == 0 && size.take > 0 && take(pass, waiter, site, size.take))
            return site;
    }
    return PLEAT_NONE;
}

static void launcher_decide(struct pleat_pass *pass)
{
    uint32_t head = pass->policies[PLEAT_QUEUE]->start(pass);
    if (head != PLEAT_NONE) {
        uint32_t site = make_room(pass, head);
        if (site != PLEAT_NONE)
            pleat_plan_hold(pass->plan, site);
    }
    for (uint32_t site = 0; site < pass->view->site_count; site++)
        pleat_pass_grow(pass, site);
}

const struct pleat_policy pleat_policy_launcher = {
    .number = 11,
    .version = 1,
    .question = PLEAT_APPROACH,
    .name = "launcher",
    .source = "Utrera 2010, figure 3.6",
    .summary = "the head starts as moldability says, if need be on processors of running ones",
    .shrinks = true,
    .decide = launcher_decide,
};
