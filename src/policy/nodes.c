#include "policy/nodes.h"

#include "policy/accept.h"
#include "policy/shares.h"

/* The most processors of a node that the site has; `open`: of one that is not closed. */
static int32_t largest_node(const struct pleat_view *view, uint32_t site, bool open)
{
    int32_t most = 0;
    for (uint32_t n = 0; n < view->node_count; n++)
        if (view->nodes[n].site == site && view->nodes[n].slots > most &&
            !(open && pleat_view_node_is_closed(&view->nodes[n])))
            most = view->nodes[n].slots;
    return most;
}

/* The most processors that a component can have of `processors` of a site: those of a node, where
 * that came, or will come, with its claims. */
static int32_t of_a_lent_node(const struct pleat_view *view,
                              const struct pleat_component *component, uint32_t site,
                              int32_t processors)
{
    return pleat_view_is_on_lent_node(view, component, site)
               ? pleat_smaller(processors, view->sites[site].node_most)
               : processors;
}

const struct pleat_node *pleat_view_lent_node(const struct pleat_view *view,
                                              const struct pleat_component *component)
{
    const struct pleat_node *node =
        pleat_view_is_on_lent_node(view, component, component->site)
            ? pleat_view_node(view, component->site, component->lead_node)
            : NULL;
    return node && node->lent && node->slots > 0 ? node : NULL;
}

/* ---- nodes that are one host ---- */

int32_t pleat_view_beside(const struct pleat_view *view, const struct pleat_node *node, bool all)
{
    int64_t sum = node->more;
    if (!node->lent || pleat_view_node_is_closed(node))
        return 0;
    for (uint32_t n = 0; n < view->node_count; n++) {
        const struct pleat_node *guest = &view->nodes[n];
        if (guest->site != node->site || guest->home != node->node + 1)
            continue;
        int32_t own = all ? guest->slots : pleat_view_node_unused(guest);
        sum += own > 0 ? own : 0;
    }
    return sum < PLEAT_SIZE_MAX ? (int32_t)sum : PLEAT_SIZE_MAX;
}

bool pleat_view_has_guests(const struct pleat_view *view, const struct pleat_component *component)
{
    for (uint32_t c = component->first_claim; c != PLEAT_NONE; c = view->claims[c].next)
        for (uint32_t p = view->claims[c].first_piece; p != PLEAT_NONE; p = view->pieces[p].next) {
            const uint32_t node = view->pieces[p].node;
            if (pleat_view_share_home(view, component, node) != node)
                return true;
        }
    return false;
}

/* What of that counts for a component on its lent node: its processes are told which CPUs to use.
 */
static int32_t beside_of(const struct pleat_view *view, const struct pleat_component *component,
                         const struct pleat_node *node, bool all)
{
    bool folds = node->lent && pleat_view_folds(component) && component->state != PLEAT_QUEUED;
    return folds ? pleat_view_beside(view, node, all) : 0;
}

int32_t pleat_view_capacity(const struct pleat_view *view, const struct pleat_component *component,
                            uint32_t site)
{
    return pleat_view_is_on_one_node(view, component, site)
               ? largest_node(view, site, false)
               : of_a_lent_node(view, component, site, view->sites[site].capacity);
}

int32_t pleat_view_whole_capacity(const struct pleat_view *view,
                                  const struct pleat_component *component, uint32_t site)
{
    return pleat_view_is_on_one_node(view, component, site)
               ? largest_node(view, site, false)
               : of_a_lent_node(view, component, site,
                                pleat_larger(view->sites[site].whole, view->sites[site].capacity));
}

int32_t pleat_view_open_capacity(const struct pleat_view *view,
                                 const struct pleat_component *component, uint32_t site)
{
    return pleat_view_is_on_one_node(view, component, site)
               ? largest_node(view, site, true)
               : of_a_lent_node(view, component, site,
                                view->sites[site].capacity - pleat_view_shut_slots(view, site));
}

int32_t pleat_view_shut_slots(const struct pleat_view *view, uint32_t site)
{
    int32_t sum = 0;
    for (uint32_t n = 0; view->sites[site].several && n < view->node_count; n++) {
        const struct pleat_node *node = &view->nodes[n];
        int32_t own = node->slots - node->background;
        sum += node->site == site && pleat_view_node_is_closed(node) && own > 0 ? own : 0;
    }
    return sum;
}

int32_t pleat_view_open_processors(const struct pleat_view *view, uint32_t site)
{
    return view->sites[site].capacity - view->sites[site].background -
           pleat_view_shut_slots(view, site);
}

bool pleat_view_is_shut(const struct pleat_view *view, const struct pleat_component *component)
{
    if (component->site == PLEAT_NONE ||
        !pleat_view_is_on_one_node(view, component, component->site))
        return false;
    const struct pleat_node *node = pleat_view_node(view, component->site, component->lead_node);
    return node && pleat_view_node_is_closed(node);
}

/* ---- of a run whose processes stay on its nodes ---- */

static bool tells_nodes(const struct pleat_view *view, uint32_t site)
{
    return view->sites[site].several || view->sites[site].node_most > 0;
}

/* The sum, over the nodes where a component has processes, of the processors that it could use
 * there: at most, or (more) beyond those that it has and of those that are unused. Negative: it is
 * not kept to nodes. */
static int32_t on_its_nodes(const struct pleat_view *view, const struct pleat_component *component,
                            bool more)
{
    int32_t sum = 0;
    if (!tells_nodes(view, component->site) || pleat_view_share_nodes(view, component) == 0)
        return -1;
    for (uint32_t n = 0; n < view->node_count; n++) {
        const struct pleat_node *node = &view->nodes[n];
        if (node->site != component->site)
            continue;
        int32_t here = more ? pleat_view_share_room(view, component, node->node)
                            : pleat_view_share_on(view, component, node->node);
        if (here <= 0)
            continue;
        int32_t there = (more ? pleat_view_node_unused(node) : node->slots) +
                        beside_of(view, component, node, !more);
        sum += node->slots == 0 || here < there ? here : there > 0 ? there : 0;
    }
    return sum;
}

int32_t pleat_view_own_capacity(const struct pleat_view *view,
                                const struct pleat_component *component)
{
    int32_t most = on_its_nodes(view, component, false);
    if (most >= 0)
        return most;
    const struct pleat_node *node =
        pleat_view_is_on_one_node(view, component, component->site)
            ? pleat_view_node(view, component->site, component->lead_node)
            : pleat_view_lent_node(view, component);
    return node && node->slots > 0 ? node->slots + beside_of(view, component, node, true)
                                   : pleat_view_capacity(view, component, component->site);
}

int32_t pleat_view_held_on(const struct pleat_view *view, const struct pleat_component *component,
                           uint32_t node)
{
    int32_t held = 0;
    if (pleat_view_keeps_to_a_node(view, component, component->site) &&
        !pleat_view_roams(component))
        return component->lead_node == node ? component->processors : 0;
    for (uint32_t c = component->first_claim; c != PLEAT_NONE; c = view->claims[c].next)
        for (uint32_t p = view->claims[c].first_piece; p != PLEAT_NONE; p = view->pieces[p].next)
            if (view->pieces[p].node == node && view->claims[c].site == component->site)
                held += (int32_t)view->pieces[p].count;
    return held;
}

int32_t pleat_view_last_on(const struct pleat_view *view, const struct pleat_component *component,
                           uint32_t node)
{
    if (pleat_view_keeps_to_a_node(view, component, component->site) &&
        !pleat_view_roams(component))
        return component->lead_node == node ? component->processors : 0;
    uint32_t nodes = pleat_view_share_nodes(view, component);
    if (nodes > 0) /* which it gives back is decided when it does */
        return nodes == 1 && pleat_view_share_on(view, component, node) ? component->processors : 0;
    bool here = component->last_claim != PLEAT_NONE &&
                view->claims[component->last_claim].site == component->site;
    uint32_t last = here ? view->claims[component->last_claim].last_piece : PLEAT_NONE;
    return last != PLEAT_NONE && view->pieces[last].node == node ? (int32_t)view->pieces[last].count
                                                                 : 0;
}

bool pleat_view_needs_drained(const struct pleat_view *view,
                              const struct pleat_component *component)
{
    int32_t need = pleat_accept_start(view, component);
    bool drained = false;
    for (uint32_t site = 0; site < view->site_count; site++) {
        bool could = (component->wanted_site == PLEAT_NONE || component->wanted_site == site) &&
                     pleat_view_capacity(view, component, site) >= need;
        if (could && !view->sites[site].drained &&
            pleat_view_open_capacity(view, component, site) >= need)
            return false;
        drained = drained || could;
    }
    return drained;
}

int32_t pleat_view_unused(const struct pleat_view *view, const struct pleat_component *component)
{
    const struct pleat_site *site = &view->sites[component->site];
    int32_t unused = pleat_view_site_unused(site) - pleat_view_site_left(site);
    const struct pleat_node *node =
        pleat_view_is_on_one_node(view, component, component->site)
            ? pleat_view_node(view, component->site, component->lead_node)
            : pleat_view_lent_node(view, component);
    int32_t own = on_its_nodes(view, component, true);
    if (site->drained)
        return 0;
    if (own >= 0 && own < unused)
        return own;
    if (!node)
        return unused;
    int32_t there = pleat_view_node_unused(node) + beside_of(view, component, node, false);
    return there < unused ? there : unused;
}
