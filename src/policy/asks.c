#include "policy/asks.h"

#include "policy/room.h"

/* Is a record that of an ask for more processors without an answer? */
static bool is_pending(const struct pleat_view *view, const struct pleat_ask *ask, bool mandatory)
{
    uint32_t c = ask->component;
    return ask->state == PLEAT_ASK_PENDING && ask->more && ask->mandatory == mandatory &&
           c < view->component_count &&
           view->components[c].ask == (uint32_t)(ask - view->asks) && /* not a free record */
           (view->components[c].state == PLEAT_RUNNING ||
            view->components[c].state == PLEAT_RESIZING);
}

/* Of the pending asks for more processors, the one that came first after `turn`; NULL: there is
 * none. */
static const struct pleat_ask *next_after(const struct pleat_view *view, uint64_t turn,
                                          bool mandatory)
{
    const struct pleat_ask *next = NULL;
    for (uint32_t i = 0; i < view->ask_count; i++) {
        const struct pleat_ask *ask = &view->asks[i];
        if (ask->turn > turn && (!next || next->turn > ask->turn) &&
            is_pending(view, ask, mandatory))
            next = ask;
    }
    return next;
}

/* How many more processors a component needs for what it asked for, beyond those that a growth
 * under way brings it; 0: none, or it takes no such size. */
static int32_t missing(const struct pleat_view *view, const struct pleat_component *component,
                       const struct pleat_ask *ask)
{
    int32_t size = pleat_accept_next(view, component, ask->wanted - 1);
    int32_t has = component->state == PLEAT_RESIZING
                      ? pleat_larger(component->processors, component->target)
                      : component->processors;
    return size > has ? size - has : 0;
}

int32_t pleat_view_wanted_on(const struct pleat_view *view, uint32_t site, uint32_t node,
                             uint32_t but)
{
    int32_t wanted = 0;
    for (uint32_t i = 0; i < view->ask_count; i++) {
        const struct pleat_ask *ask = &view->asks[i];
        if (ask->component == but || !is_pending(view, ask, true))
            continue;
        const struct pleat_component *component = &view->components[ask->component];
        if (component->site == site && component->lead_node == node &&
            pleat_view_is_on_one_node(view, component, site))
            wanted += missing(view, component, ask);
    }
    return wanted;
}

static bool is_free(const struct pleat_pass *pass, const struct pleat_ask *ask)
{
    return pass->view->components[ask->component].state == PLEAT_RUNNING &&
           !pleat_plan_is_decided(pass->plan, ask->component);
}

static bool can_change(const struct pleat_pass *pass, const struct pleat_ask *ask)
{
    return is_free(pass, ask) &&
           !pleat_view_is_young(pass->view, &pass->view->components[ask->component]);
}

/* A voluntary change need not succeed (Buisson et al. 2007, II-A): what may be used for growing is
 * given, as far as it goes; otherwise the answer is no. */
static void decide_voluntary(struct pleat_pass *pass, const struct pleat_ask *ask)
{
    const struct pleat_view *view = pass->view;
    const struct pleat_component *component = &view->components[ask->component];
    int32_t count = missing(view, component, ask);
    if (count == 0)
        pleat_plan_refuse(pass->plan, ask->component, PLEAT_ASK_LIMITS);
    else if (view->now_us < component->quiet_until_us)
        pleat_plan_refuse(pass->plan, ask->component, PLEAT_ASK_FAILED);
    else if (pleat_plan_offer_grow(pass->plan, ask->component, count) == 0)
        pleat_plan_refuse(pass->plan, ask->component, PLEAT_ASK_BUSY);
}

/* How many processors a component lacks beyond those that are idle, or on their way to its site or
 * to it. */
static int32_t lacking(const struct pleat_pass *pass, const struct pleat_component *component,
                       int32_t count)
{
    const struct pleat_site *site = &pass->view->sites[component->site];
    uint32_t index = (uint32_t)(component - pass->view->components);
    int32_t idle = pleat_plan_idle(pass->plan, component->site);
    if (pleat_view_keeps_to_a_node(pass->view, component, component->site))
        idle = pleat_smaller(idle, pleat_plan_on_a_node(pass->plan, index, component->site));
    return count + pleat_view_site_left(site) - idle - site->releasing - site->coming -
           component->coming;
}

/* Shrinks components, those that started last first, as far as they accept it. */
static int32_t shrink_newest(struct pleat_pass *pass, uint32_t asker, int32_t processors)
{
    const struct pleat_view *view = pass->view;
    for (uint32_t c = pleat_malleable_newest(view, view->components[asker].site);
         c != PLEAT_NONE && processors > 0; c = pleat_malleable_older(view, c))
        processors -= pleat_plan_offer_shrink(pass->plan, c, processors, asker);
    return processors;
}

void pleat_pass_take_for(struct pleat_pass *pass, uint32_t asker, int32_t processors,
                         bool voluntary)
{
    struct pleat_plan *plan = pass->plan;
    const struct pleat_view *view = pass->view;
    const struct pleat_component *component = &view->components[asker];
    if (!pass->policies[PLEAT_MALLEABILITY]->shrinks || view->sites[component->site].drained)
        return;
    pleat_plan_mark mark = pleat_plan_remember(plan);
    plan->asker = asker;
    plan->voluntary = voluntary;
    if (pleat_view_keeps_to_a_node(view, component, component->site))
        pleat_plan_shrink_only(plan, component->site, component->lead_node);
    int32_t left = pleat_pass_shrink(pass, component->site, processors, asker);
    if (left > 0)
        left = shrink_newest(pass, asker, left);
    pleat_plan_shrink_only(plan, PLEAT_NONE, PLEAT_NONE);
    plan->asker = PLEAT_NONE;
    plan->voluntary = false;
    if (left > 0) /* the asking component would not have enough */
        pleat_plan_rollback(plan, mark);
}

/* Decides about a component that cannot go on without more processors: it gets all of them at one
 * time, before waiting jobs and others that could grow. Until then free processors are kept for it,
 * and the need policy says whether others are shrunk for it. A component that has not begun waits
 * in the queue instead, where it holds no processors. */
static void decide_mandatory(struct pleat_pass *pass, const struct pleat_ask *ask)
{
    const struct pleat_view *view = pass->view;
    const struct pleat_component *component = &view->components[ask->component];
    int32_t count = missing(view, component, ask);
    if (count > 0 && can_change(pass, ask) &&
        pleat_plan_growable(pass->plan, component->site) >= count &&
        pleat_plan_on_a_node(pass->plan, ask->component, component->site) >= count &&
        pleat_plan_offer_grow(pass->plan, ask->component, count) > 0)
        return;
    if (pleat_view_may_wait_again(view, component) && is_free(pass, ask)) {
        pleat_plan_refuse(pass->plan, ask->component, PLEAT_ASK_LATER);
        return;
    }
    const struct pleat_policy *policy = pass->policies[PLEAT_NEED];
    int32_t more = lacking(pass, component, count);
    if (policy->take && count > 0 && more > 0 && can_change(pass, ask))
        policy->take(pass, ask->component, more);
    pleat_plan_withhold(pass->plan, ask->component, count);
}

/* The components at a site, or with processors on one node of it, that cannot go on without more
 * processors. */
struct askers {
    const struct pleat_ask *first, *last; /* in the order of their asks; NULL: there is none */
    int32_t held;                         /* processors that they have there */
    bool change;                          /* one of them is in a resize, or this plan changes it */
};

/* How many processors a component has at a site, or on a node of it. */
static int32_t held_at(const struct pleat_view *view, const struct pleat_ask *ask, uint32_t site,
                       const struct pleat_node *node)
{
    const struct pleat_component *component = &view->components[ask->component];
    if (component->site != site)
        return 0;
    return node ? pleat_view_held_on(view, component, node->node) : component->processors;
}

/* node: NULL: the whole site. */
static struct askers askers_of(const struct pleat_pass *pass, uint32_t site,
                               const struct pleat_node *node)
{
    struct askers askers = {0};
    const struct pleat_ask *ask = next_after(pass->view, 0, true);
    for (; ask; ask = next_after(pass->view, ask->turn, true)) {
        const struct pleat_component *component = &pass->view->components[ask->component];
        int32_t held = held_at(pass->view, ask, site, node);
        if (component->site != site || (node && held == 0))
            continue;
        askers.first = askers.first ? askers.first : ask;
        askers.last = ask;
        askers.held += held;
        askers.change |=
            component->state != PLEAT_RUNNING || pleat_plan_is_decided(pass->plan, ask->component);
    }
    return askers;
}

/* Are all processors of a site that are not idle held by those that cannot go on? Then nothing
 * comes back that they, or waiting jobs, could wait for. */
static bool is_stuck(const struct pleat_pass *pass, uint32_t site, const struct askers *askers)
{
    const struct pleat_site *place = &pass->view->sites[site];
    int32_t used =
        place->capacity - place->background - place->shut - pleat_plan_idle(pass->plan, site);
    return askers->first && !askers->change && used <= askers->held;
}

/* The most processors that the first asker of a site, or of a node, could ever get there while none
 * of the other askers goes on or ends: all that no asker has and, where others are shrunk for it,
 * what later askers can do without. On a node only components that are led from there count for the
 * latter. */
static int32_t within_reach(const struct pleat_pass *pass, uint32_t site,
                            const struct pleat_node *node, const struct askers *askers)
{
    const struct pleat_view *view = pass->view;
    const struct pleat_site *place = &view->sites[site];
    int32_t most = (node ? node->slots : place->capacity - place->threshold) - askers->held;
    if (!pass->policies[PLEAT_NEED]->take)
        return most;
    const struct pleat_ask *ask = next_after(view, askers->first->turn, true);
    for (; ask; ask = next_after(view, ask->turn, true)) {
        const struct pleat_component *other = &view->components[ask->component];
        int32_t less = other->processors - pleat_accept_smallest(view, other);
        if (node)
            less = other->lead_node == node->node
                       ? pleat_smaller(less, pleat_view_last_on(view, other, node->node))
                       : 0;
        most += other->site == site ? pleat_larger(0, less) : 0;
    }
    return most;
}

/* Where the askers wait for one another the last one is refused, so that it can go on without, or
 * end. A component that must stay on its node waits for those that have processors there; at its
 * site it waits only because processors are to be left idle. */
static void break_circle(struct pleat_pass *pass, uint32_t site, const struct pleat_node *node)
{
    const struct pleat_view *view = pass->view;
    const struct pleat_site *place = &view->sites[site];
    struct askers askers = askers_of(pass, site, node);
    if (askers.first == askers.last || askers.change)
        return;
    const struct pleat_component *first = &view->components[askers.first->component];
    bool bound = pleat_view_is_on_one_node(view, first, site);
    int32_t lacks = missing(view, first, askers.first);
    if (node ? !bound : bound && lacks > pleat_view_own_capacity(view, first) - first->processors)
        return; /* its site can give it enough; or its node has become too small */
    int32_t claimed = node ? node->claimed : place->claimed;
    int32_t unused = node ? node->slots - claimed : place->capacity - claimed - place->threshold;
    if (claimed > askers.held)
        unused = within_reach(pass, site, node, &askers);
    if (lacks > unused)
        pleat_plan_refuse(pass->plan, askers.last->component, PLEAT_ASK_BUSY);
}

/* Breaks circles on the nodes on which an asker must stay. */
static void break_circles_on_nodes(struct pleat_pass *pass)
{
    const struct pleat_view *view = pass->view;
    const struct pleat_ask *ask = view->node_count > 0 ? next_after(view, 0, true) : NULL;
    for (; ask; ask = next_after(view, ask->turn, true)) {
        const struct pleat_component *component = &view->components[ask->component];
        const struct pleat_node *node =
            pleat_view_is_on_one_node(view, component, component->site)
                ? pleat_view_node(view, component->site, component->lead_node)
                : NULL;
        if (node && node->slots > 0 && !pleat_plan_is_decided(pass->plan, ask->component))
            break_circle(pass, component->site, node);
    }
}

static void decide_all_mandatory(struct pleat_pass *pass)
{
    const struct pleat_ask *ask = next_after(pass->view, 0, true);
    for (; ask; ask = next_after(pass->view, ask->turn, true))
        decide_mandatory(pass, ask);
    break_circles_on_nodes(pass);
    for (uint32_t site = 0; site < pass->view->site_count; site++)
        break_circle(pass, site, NULL);
}

/* Where jobs wait in the queue, askers that have not begun go back to their old places there: else
 * a waiting job and an asker could wait for what the other one holds. */
static void yield_unbegun(struct pleat_pass *pass)
{
    const struct pleat_view *view = pass->view;
    const struct pleat_ask *ask =
        view->queue_first != PLEAT_NONE ? next_after(view, 0, true) : NULL;
    for (; ask; ask = next_after(view, ask->turn, true))
        if (pleat_view_may_wait_again(view, &view->components[ask->component]) &&
            is_free(pass, ask))
            pleat_plan_refuse(pass->plan, ask->component, PLEAT_ASK_LATER);
}

void pleat_pass_ask_mandatory(struct pleat_pass *pass)
{
    const struct pleat_policy *policy = pass->policies[PLEAT_NEED];
    if (policy->yields) {
        yield_unbegun(pass);
        return;
    }
    pass->plan->keeps_askers = policy->take != NULL; /* decisions after these take nothing back */
    decide_all_mandatory(pass);
}

static bool anybody_waits(const struct pleat_pass *pass)
{
    for (uint32_t c = pass->view->queue_first; c != PLEAT_NONE; c = pleat_queue_next(pass->view, c))
        if (!pleat_plan_starts(pass->plan, c))
            return true;
    return false;
}

/* Decides, once in a pass, about the asks that yield to waiting jobs. While a job is left waiting
 * it does so only where nothing else would ever happen. */
static void decide_yielding(struct pleat_pass *pass)
{
    const struct pleat_view *view = pass->view;
    if (!pass->policies[PLEAT_NEED]->yields || pass->plan->asks_decided)
        return;
    bool waits = anybody_waits(pass);
    for (uint32_t site = 0; waits && site < view->site_count; site++) {
        struct askers askers = askers_of(pass, site, NULL);
        waits = !is_stuck(pass, site, &askers);
    }
    if (waits) {
        break_circles_on_nodes(pass); /* neither waiting jobs nor other nodes do that */
        return;
    }
    pass->plan->asks_decided = true;
    decide_all_mandatory(pass);
}

void pleat_pass_ask_voluntary(struct pleat_pass *pass, uint32_t site)
{
    decide_yielding(pass);
    const struct pleat_ask *ask = next_after(pass->view, 0, false);
    for (; ask; ask = next_after(pass->view, ask->turn, false))
        if (pass->view->components[ask->component].site == site && can_change(pass, ask) &&
            !pleat_view_is_not_now(pass->view, &pass->view->components[ask->component]))
            decide_voluntary(pass, ask);
}
