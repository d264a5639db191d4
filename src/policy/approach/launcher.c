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

/* Takes processors of a node back for a waiting component that has to be on one, as far as it then
 * has enough there to start. `wanted`: as many as it is to have with those that are idle there. */
static bool take_on(struct pleat_pass *pass, uint32_t waiter, const struct pleat_node *node,
                    int32_t wanted)
{
    const struct pleat_component *component = &pass->view->components[waiter];
    int32_t least = pleat_accept_start(pass->view, component);
    int32_t idle = component->earmarked + pleat_plan_node_idle(pass->plan, node);
    pleat_plan_mark mark = pleat_plan_remember(pass->plan);
    if (wanted <= idle)
        return false;
    pleat_plan_shrink_only(pass->plan, node->site, node->node);
    int32_t left = pleat_pass_shrink(pass, node->site, wanted - idle, waiter);
    pleat_plan_shrink_only(pass->plan, PLEAT_NONE, PLEAT_NONE);
    if (left < wanted - idle && wanted - left >= least)
        return true;
    pleat_plan_rollback(pass->plan, mark);
    return false;
}

/* The same on the first lent node where that can be, or on the one where it has some already. */
static bool take_on_a_node(struct pleat_pass *pass, uint32_t waiter, uint32_t site, int32_t wanted)
{
    const struct pleat_view *view = pass->view;
    const struct pleat_component *component = &view->components[waiter];
    for (uint32_t n = 0; n < view->node_count; n++)
        if (view->nodes[n].site == site && view->nodes[n].lent &&
            (component->earmarked == 0 || view->nodes[n].node == component->lead_node) &&
            take_on(pass, waiter, &view->nodes[n], wanted))
            return true;
    return false;
}

/* Takes processors back for a waiting component that has `available`; false, and nothing changed,
 * if no job gives any. */
static bool take(struct pleat_pass *pass, uint32_t waiter, uint32_t site, int32_t available,
                 int32_t processors)
{
    if (pleat_view_is_on_lent_node(pass->view, &pass->view->components[waiter], site))
        return take_on_a_node(pass, waiter, site, available + processors);
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
        if (size.processors == 0 && size.take > 0 && take(pass, waiter, site, available, size.take))
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
