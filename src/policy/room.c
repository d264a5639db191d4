#include "policy/room.h"

/* How many processors a component lacks at a site to start at its smallest size, beyond what is on
 * its way and, if that counts, idle there. */
static int32_t shortfall(const struct pleat_pass *pass, uint32_t waiter, uint32_t site,
                         enum pleat_room room)
{
    const struct pleat_component *component = &pass->view->components[waiter];
    const struct pleat_site *place = &pass->view->sites[site];
    int32_t coming = place->releasing + place->coming;
    if (component->site == site)
        coming += component->coming + component->earmarked;
    int32_t idle = room == PLEAT_ROOM_BESIDE_IDLE ? pleat_plan_idle(pass->plan, site) : 0;
    return pleat_accept_start(pass->view, component) - coming - idle;
}

static int32_t shrink_all(struct pleat_pass *pass, uint32_t site, int32_t need, uint32_t waiter)
{
    const struct pleat_policy *policy = pass->policies[PLEAT_MALLEABILITY];
    for (int32_t before = need + 1; need > 0 && need < before;) {
        before = need;
        need = policy->shrink(pass, site, need, waiter);
        if (policy->once)
            break;
    }
    return need;
}

int32_t pleat_pass_shrink(struct pleat_pass *pass, uint32_t site, int32_t processors,
                          uint32_t waiter)
{
    struct pleat_plan *plan = pass->plan;
    plan->spares = pass->policies[PLEAT_REWARD]->spares;
    if (plan->spares) {
        processors = shrink_all(pass, site, processors, waiter);
        /* a policy that a pass asks once divides what is lacking over the others only: none of
         * those that were asked is asked again */
        plan->spares_others = pass->policies[PLEAT_MALLEABILITY]->once;
        if (!plan->spares_others)
            plan->spares = NULL;
    }
    processors = shrink_all(pass, site, processors, waiter);
    plan->spares = NULL;
    plan->spares_others = false;
    return processors;
}

/* Makes room on one node for a waiter that must be on one: prepared processes go first, as they do
 * no work, then components of the node are shrunk for what is missing. */
static bool make_room_on(struct pleat_pass *pass, uint32_t waiter, const struct pleat_node *node,
                         enum pleat_room room)
{
    const struct pleat_component *component = &pass->view->components[waiter];
    int32_t idle = room == PLEAT_ROOM_BESIDE_IDLE ? pleat_plan_node_idle(pass->plan, node) : 0;
    int32_t need =
        pleat_accept_start(pass->view, component) - component->coming - component->earmarked - idle;
    pleat_plan_mark mark = pleat_plan_remember(pass->plan);
    if (need > 0 && node->slots < pleat_accept_start(pass->view, component))
        return false;
    int32_t coming, buffered = pleat_plan_buffered_on(pass->plan, node->site, node->node, &coming);
    need -= need > 0 ? pleat_smaller(need, coming) : 0;
    int32_t taken = need > 0 ? pleat_smaller(need, buffered) : 0;
    need -= taken;
    pleat_plan_shrink_only(pass->plan, node->site, node->node);
    if (need > 0)
        need = pleat_pass_shrink(pass, node->site, need, waiter);
    pleat_plan_shrink_only(pass->plan, PLEAT_NONE, PLEAT_NONE);
    if (need > 0)
        pleat_plan_rollback(pass->plan, mark);
    else if (taken > 0)
        (void)pleat_plan_unbuffer(pass->plan, node->site, node->node, taken, waiter);
    return need <= 0;
}

/* The same on the first node where room can be made, or on the node to which the waiter is tied
 * already. */
static bool make_room_on_a_node(struct pleat_pass *pass, uint32_t waiter, uint32_t site,
                                enum pleat_room room)
{
    const struct pleat_view *view = pass->view;
    const struct pleat_component *component = &view->components[waiter];
    bool tied = component->earmarked + component->coming > 0;
    for (uint32_t n = 0; n < view->node_count; n++)
        if (view->nodes[n].site == site && view->nodes[n].slots > 0 &&
            (!tied || view->nodes[n].node == component->lead_node) &&
            make_room_on(pass, waiter, &view->nodes[n], room))
            return true;
    return false;
}

/* Shrinks at a site until the shortfall is met; false, and nothing changed, if it cannot be. Where
 * room is made partly (Buisson et al. 2007 do not say what becomes of a shortfall of EGS) what the
 * policy gets is kept, and it is asked again in later passes. */
static bool make_room_at(struct pleat_pass *pass, uint32_t waiter, uint32_t site,
                         enum pleat_room room)
{
    if (pleat_view_keeps_to_a_node(pass->view, &pass->view->components[waiter], site))
        return make_room_on_a_node(pass, waiter, site, room);
    int32_t need = shortfall(pass, waiter, site, room);
    const struct pleat_site *place = &pass->view->sites[site];
    if (need <= 0)
        return true; /* what the waiter lacks is on its way */
    if (place->reclaimable + place->buffered < need)
        return false;
    int32_t idle = place->buffered < need ? place->buffered : need;
    need -= idle;
    pleat_plan_mark mark = pleat_plan_remember(pass->plan);
    int32_t lacks = pleat_pass_shrink(pass, site, need, waiter);
    if (lacks <= 0 || place->resizing_count > 0 || (pass->view->room_partly && lacks < need)) {
        (void)pleat_plan_unbuffer(pass->plan, site, PLEAT_NONE, idle, waiter);
        return true;
    }
    pleat_plan_rollback(pass->plan, mark);
    return false;
}

static bool can_ever_hold(const struct pleat_pass *pass, uint32_t waiter, uint32_t site)
{
    const struct pleat_component *component = &pass->view->components[waiter];
    return pleat_view_allows(pass->view, component, site) &&
           pleat_view_capacity(pass->view, component, site) >=
               pleat_accept_start(pass->view, component);
}

uint32_t pleat_pass_make_room(struct pleat_pass *pass, uint32_t waiter, enum pleat_room room)
{
    const struct pleat_view *view = pass->view;
    const struct pleat_component *component = &view->components[waiter];
    if (pleat_view_is_several(view, component))
        return PLEAT_NONE;
    if (component->site != PLEAT_NONE && component->earmarked + component->coming > 0)
        return make_room_at(pass, waiter, component->site, room) ? component->site : PLEAT_NONE;
    uint32_t begun = pleat_plan_makes_room(pass->plan, waiter); /* the queue policy made room */
    if (begun != PLEAT_NONE)
        return begun;
    uint32_t best = PLEAT_NONE;
    int32_t best_need = 0;
    for (uint32_t site = 0; site < view->site_count; site++) {
        int32_t need = shortfall(pass, waiter, site, room);
        if (can_ever_hold(pass, waiter, site) &&
            need <= view->sites[site].reclaimable + view->sites[site].buffered &&
            (best == PLEAT_NONE || need < best_need)) {
            best = site;
            best_need = need;
        }
    }
    return best != PLEAT_NONE && make_room_at(pass, waiter, best, room) ? best : PLEAT_NONE;
}
