/* What is free on each node of the sites that have several, for components that are on one, and for
 * folded runs, whose processes stay on their nodes. Which
 * node a claim gets is the site's choice: the plan expects the fullest one that has room, as
 * src/site/claimbook.c chooses. Where the site has chosen another node it refuses a later claim,
 * which is then made again. */
#include <stdlib.h>

#include "policy/plan_decisions.h"
#include "policy/shares.h"

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

/* Is a waiting component tied to a node by what it has already, or a running one by its run? */
static bool is_tied(const struct pleat_component *comp, uint32_t site)
{
    return comp->site == site &&
           (comp->state != PLEAT_QUEUED || comp->earmarked > 0 || comp->coming > 0);
}

/* That node. PLEAT_NONE: there is none. */
static uint32_t tied_to(const struct pleat_plan *plan, const struct pleat_component *comp,
                        uint32_t site)
{
    return is_tied(comp, site) ? find(plan->view, site, comp->lead_node) : PLEAT_NONE;
}

int32_t pleat_plan_node_idle(const struct pleat_plan *plan, const struct pleat_node *node)
{
    int32_t free = plan->nodes[node - plan->view->nodes];
    return free > 0 ? free : 0;
}

/* The same at a site whose nodes come with claims: until a component has a node, any may come.
 * Where the site has not told what was given on a node, it says so when it is asked for more. */
static int32_t on_a_lent_node(const struct pleat_plan *plan, const struct pleat_component *comp,
                              uint32_t site)
{
    if (!is_tied(comp, site))
        return plan->view->sites[site].node_most;
    const struct pleat_node *node = pleat_view_lent_node(plan->view, comp);
    if (!node)
        return PLEAT_SIZE_MAX;
    int32_t free = plan->nodes[node - plan->view->nodes];
    if (comp->state != PLEAT_QUEUED && pleat_view_folds(comp))
        free += pleat_view_beside(plan->view, node, false);
    return free > 0 ? free : 0;
}

/* How many processors of a node a running component could get whose processes stay on its nodes. */
static int32_t usable_on(const struct pleat_plan *plan, const struct pleat_component *comp,
                         uint32_t n, int32_t free)
{
    const struct pleat_node *node = &plan->view->nodes[n];
    int32_t room =
        node->site == comp->site ? pleat_view_share_room(plan->view, comp, node->node) : 0;
    if (node->slots == 0 || room <= 0) /* not told: its site says so when it is asked for more */
        return room;
    free += pleat_view_beside(plan->view, node, false);
    return free > 0 ? pleat_smaller(room, free) : 0;
}

/* How many more it can have on all of them. Of what the plan gives it already it is only known how
 * much that is. */
static int32_t on_its_nodes(const struct pleat_plan *plan, uint32_t component)
{
    const struct pleat_component *comp = &plan->view->components[component];
    const struct pleat_event *known = pleat_plan_find(plan, component);
    int32_t left = 0, all = 0;
    for (uint32_t n = 0; n < plan->view->node_count; n++) {
        left += usable_on(plan, comp, n, plan->nodes[n]);
        all += usable_on(plan, comp, n, pleat_view_node_unused(&plan->view->nodes[n]));
    }
    if (known && known->kind == PLEAT_EV_RESIZE && known->u.resize.accepted > 0)
        all -= known->u.resize.accepted;
    return pleat_smaller(left, pleat_larger(all, 0));
}

int32_t pleat_plan_on_a_node(const struct pleat_plan *plan, uint32_t component, uint32_t site)
{
    const struct pleat_component *comp = &plan->view->components[component];
    if (comp->site == site && pleat_view_share_nodes(plan->view, comp) > 0)
        return on_its_nodes(plan, component);
    if (pleat_view_is_on_lent_node(plan->view, comp, site))
        return on_a_lent_node(plan, comp, site);
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
    for (uint32_t n = 0;
         pleat_view_share_nodes(plan->view, comp) > 0 && count > 0 && n < plan->view->node_count;
         n++) {
        int32_t part = pleat_smaller(count, usable_on(plan, comp, n, plan->nodes[n]));
        plan->nodes[n] -= part;
        count -= part;
    }
    uint32_t node = tied_to(plan, comp, site);
    if (count < 1)
        return;
    if (plan->view->sites[site].node_most >
        0) { /* an untied one gets a node that is not there yet */
        if (node != PLEAT_NONE && pleat_view_roams(comp))
            count = pleat_smaller(count, pleat_larger(plan->nodes[node], 0));
        if (node != PLEAT_NONE)
            plan->nodes[node] -= count;
        return;
    }
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

/* Whether a process of an architecture may be on a node of a site: one whose architecture is not
 * known may have that of the run's program. */
static bool suits(const struct pleat_plan *plan, const struct pleat_component *comp, uint32_t site,
                  const struct pleat_node *node, uint32_t architecture)
{
    return node->site == site && (node->architecture == architecture ||
                                  (node->architecture == 0 &&
                                   plan->view->buffers[comp->buffer].architecture == architecture));
}

int32_t pleat_plan_on_architecture(const struct pleat_plan *plan, uint32_t component, uint32_t site,
                                   uint32_t architecture)
{
    const struct pleat_view *view = plan->view;
    const struct pleat_component *comp = &view->components[component];
    int64_t sum = 0;
    if (architecture == 0 || view->sites[site].node_most > 0)
        return PLEAT_SIZE_MAX;
    if (!view->sites[site].several) {
        const struct pleat_node *node =
            pleat_view_node(view, site, site == comp->site ? comp->lead_node : 0);
        return !node || suits(plan, comp, site, node, architecture) ? PLEAT_SIZE_MAX : 0;
    }
    for (uint32_t n = 0; n < view->node_count; n++)
        if (suits(plan, comp, site, &view->nodes[n], architecture) && plan->nodes[n] > 0)
            sum += plan->nodes[n];
    return sum < PLEAT_SIZE_MAX ? (int32_t)sum : PLEAT_SIZE_MAX;
}

void pleat_plan_architecture_take(struct pleat_plan *plan, uint32_t component, uint32_t site,
                                  uint32_t architecture, int32_t count)
{
    const struct pleat_view *view = plan->view;
    const struct pleat_component *comp = &view->components[component];
    uint32_t first = site == comp->site ? find(view, site, comp->lead_node) : PLEAT_NONE;
    for (uint32_t i = 0; view->sites[site].several && count > 0 && i <= view->node_count; i++) {
        uint32_t n = i == 0 ? first : i - 1; /* that from which it is led is the first */
        if (n == PLEAT_NONE || !suits(plan, comp, site, &view->nodes[n], architecture))
            continue;
        int32_t part = pleat_smaller(count, pleat_larger(plan->nodes[n], 0));
        plan->nodes[n] -= part;
        count -= part;
    }
}

int32_t pleat_plan_nodes_withhold(struct pleat_plan *plan, uint32_t component, int32_t count)
{
    const struct pleat_component *comp = &plan->view->components[component];
    if (!pleat_view_keeps_to_a_node(plan->view, comp, comp->site))
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
    /* what it would give may be of another allocation on that host: of no use to the waiter */
    if (plan->only_site == comp->site && comp->site != PLEAT_NONE && pleat_view_folds(comp) &&
        pleat_view_has_guests(plan->view, comp))
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
