/* What is free on each node of the sites that have several, for components that are on one. Which
 * node a claim gets is the site's choice: the plan expects the fullest one that has room, as
 * src/site/claimbook.c chooses. Where the site has chosen another node it refuses a later claim,
 * which is then made again. */
#include <stdlib.h>

#include "policy/plan_decisions.h"

int pleat_plan_nodes_begin(struct pleat_plan *plan)
{
    const struct pleat_view *view = plan->view;
    plan->only_site = plan->only_node = PLEAT_NONE;
    plan->shuts = false;
    if (view->node_count > plan->node_room) {
        int32_t *nodes = realloc(plan->nodes, view->node_count * sizeof(*nodes));
        if (!nodes)
            return PLEAT_E_NOMEM;
        plan->nodes = nodes;
        int32_t *withheld = realloc(plan->withheld, view->node_count * sizeof(*withheld));
        if (!withheld)
            return PLEAT_E_NOMEM;
        plan->withheld = withheld;
        plan->node_room = view->node_count;
    }
    for (uint32_t n = 0; n < view->node_count; n++) {
        plan->nodes[n] = pleat_view_node_unused(&view->nodes[n]);
        plan->withheld[n] = 0;
        plan->shuts = plan->shuts || pleat_view_node_is_closed(&view->nodes[n]);
    }
    return 0;
}

/* The index of a node's record; PLEAT_NONE: there is none. */
static uint32_t find(const struct pleat_view *view, uint32_t site, uint32_t node)
{
    const struct pleat_node *known = pleat_view_node(view, site, node);
    return known ? (uint32_t)(known - view->nodes) : PLEAT_NONE;
}

/* Of the nodes of a site with at least `need` free processors the one with the fewest; `most`: the
 * one with the most. PLEAT_NONE: there is none. */
static uint32_t choose(const struct pleat_plan *plan, uint32_t site, int32_t need, bool most)
{
    const struct pleat_view *view = plan->view;
    uint32_t best = PLEAT_NONE;
    for (uint32_t n = 0; n < view->node_count; n++) {
        int32_t free = plan->nodes[n];
        if (view->nodes[n].site != site || free < need || free < 1)
            continue;
        if (best == PLEAT_NONE || (most ? free > plan->nodes[best] : free < plan->nodes[best]))
            best = n;
    }
    return best;
}

/* The node to which a waiting component is tied by what it has already, or a running one by its
 * run. PLEAT_NONE: to none. */
static uint32_t tied_to(const struct pleat_plan *plan, const struct pleat_component *comp,
                        uint32_t site)
{
    if (comp->site != site ||
        (comp->state == PLEAT_QUEUED && comp->earmarked == 0 && comp->coming == 0))
        return PLEAT_NONE;
    return find(plan->view, site, comp->lead_node);
}

int32_t pleat_plan_node_idle(const struct pleat_plan *plan, const struct pleat_node *node)
{
    int32_t free = plan->nodes[node - plan->view->nodes];
    return free > 0 ? free : 0;
}

int32_t pleat_plan_on_a_node(const struct pleat_plan *plan, uint32_t component, uint32_t site)
{
    const struct pleat_component *comp = &plan->view->components[component];
    if (!pleat_view_is_on_one_node(plan->view, comp, site))
        return PLEAT_SIZE_MAX;
    uint32_t node = tied_to(plan, comp, site);
    if (node == PLEAT_NONE)
        node = choose(plan, site, 1, true);
    int32_t free = node == PLEAT_NONE ? 0 : plan->nodes[node];
    return free > 0 ? free : 0;
}

void pleat_plan_nodes_take(struct pleat_plan *plan, uint32_t component, uint32_t site,
                           int32_t count)
{
    const struct pleat_component *comp = &plan->view->components[component];
    if (!plan->sites[site].several || count < 1)
        return;
    uint32_t node = tied_to(plan, comp, site);
    if (node == PLEAT_NONE)
        node = choose(plan, site, count, false);
    while (count > 0) {
        if (node == PLEAT_NONE)
            node = choose(plan, site, 1, true);
        if (node == PLEAT_NONE)
            return; /* there are not enough: the site will say so */
        int32_t part = count < plan->nodes[node] ? count : plan->nodes[node];
        part = part > 0 ? part : 0;
        plan->nodes[node] -= part;
        count -= part;
        node = PLEAT_NONE;
    }
}

int32_t pleat_plan_nodes_withhold(struct pleat_plan *plan, uint32_t component, int32_t count)
{
    const struct pleat_component *comp = &plan->view->components[component];
    if (!pleat_view_is_on_one_node(plan->view, comp, comp->site))
        return count;
    uint32_t node = tied_to(plan, comp, comp->site);
    if (node == PLEAT_NONE || plan->nodes[node] < 1)
        return 0;
    count = pleat_smaller(count, plan->nodes[node]);
    plan->nodes[node] -= count;
    plan->withheld[node] += count;
    return count;
}

void pleat_plan_nodes_again(struct pleat_plan *plan)
{
    const struct pleat_view *view = plan->view;
    for (uint32_t n = 0; n < view->node_count; n++)
        plan->nodes[n] = pleat_view_node_unused(&view->nodes[n]) - plan->withheld[n];
    for (size_t i = 0; i < plan->decisions.count; i++) {
        const struct pleat_event *event = &plan->decisions.items[i];
        const struct pleat_component *comp = &view->components[event->component];
        if (event->kind == PLEAT_EV_START) {
            uint32_t site = event->u.start.site;
            pleat_plan_nodes_take(plan, event->component, site,
                                  event->u.start.processors -
                                      (comp->site == site ? comp->earmarked : 0));
        } else if (event->kind == PLEAT_EV_RESIZE) {
            pleat_plan_nodes_take(plan, event->component, comp->site, event->u.resize.accepted);
        }
    }
}

bool pleat_plan_may_shrink_on(const struct pleat_plan *plan, uint32_t component)
{
    const struct pleat_component *comp = &plan->view->components[component];
    if (pleat_view_is_shut(plan->view, comp))
        return false;
    return plan->only_site == PLEAT_NONE || comp->site != plan->only_site ||
           comp->lead_node == plan->only_node;
}

int32_t pleat_plan_gives_on(const struct pleat_plan *plan, uint32_t component)
{
    const struct pleat_component *comp = &plan->view->components[component];
    return comp->site == plan->only_site ? pleat_view_last_on(plan->view, comp, plan->only_node)
                                         : comp->processors;
}

void pleat_plan_shrink_only(struct pleat_plan *plan, uint32_t site, uint32_t node)
{
    plan->only_site = site;
    plan->only_node = node;
}
