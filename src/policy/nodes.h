/* nodes.h - processors of a site and of its nodes: unused ones, and the most that a component could
 * have. */
#ifndef PLEAT_POLICY_NODES_H
#define PLEAT_POLICY_NODES_H

#include "policy/home.h"
#include "policy/view.h"

/* Is nobody placed or grown on a node for now: its user drains it, or it has had too many errors?
 */
static inline bool pleat_view_node_is_closed(const struct pleat_node *node)
{
    return node->drained || node->barred;
}

/* Processors of a site that nobody uses, and that may be handed out: not those of closed nodes.
 * Negative: others use some of those that are handed out. */
static inline int32_t pleat_view_site_unused(const struct pleat_site *site)
{
    return site->capacity - site->background - site->claimed - site->shut;
}

/* Processors of a node that nobody uses, and that may be handed out; of a site that tells its
 * nodes' processors. */
static inline int32_t pleat_view_node_unused(const struct pleat_node *node)
{
    return pleat_view_node_is_closed(node) ? 0 : node->slots - node->claimed - node->background;
}

/* Unused processors of a site that growing leaves: the threshold, and what others use of one that
 * has a queue of its own, in which only starts wait. */
static inline int32_t pleat_view_site_left(const struct pleat_site *site)
{
    return site->threshold + site->others;
}

/* Whether all processors of a component must be on one node, of several that the site has. */
static inline bool pleat_view_is_on_one_node(const struct pleat_view *view,
                                             const struct pleat_component *component, uint32_t site)
{
    return view->sites[site].several && !(component->flags & PLEAT_COMPONENT_SPREADS);
}

/* Likewise where nodes come with claims: it has no more processors than a node of the site has, and
 * grows only within what its claims were given on its node. */
static inline bool pleat_view_is_on_lent_node(const struct pleat_view *view,
                                              const struct pleat_component *component,
                                              uint32_t site)
{
    return view->sites[site].node_most > 0 && !(component->flags & PLEAT_COMPONENT_SPREADS);
}

/* Either. */
static inline bool pleat_view_keeps_to_a_node(const struct pleat_view *view,
                                              const struct pleat_component *component,
                                              uint32_t site)
{
    return pleat_view_is_on_one_node(view, component, site) ||
           pleat_view_is_on_lent_node(view, component, site);
}

/* Processors beside those of a node that a component which folds there could use, too: those that
 * its site could give on the host, and those of other nodes there, if they are unused. all: used or
 * not. */
int32_t pleat_view_beside(const struct pleat_view *view, const struct pleat_node *node, bool all);
/* Whether a component has processors of nodes that are the same host as the one from which it is
 * led. */
bool pleat_view_has_guests(const struct pleat_view *view, const struct pleat_component *component);

/* Whether the processors of a component's buffer may be on other nodes than that from which it is
 * led. */
static inline bool pleat_view_roams(const struct pleat_component *component)
{
    return (component->flags & PLEAT_COMPONENT_ROAMS) != 0;
}

/* Whether processors that a component asks for must be on one node: on that from which it is led,
 * if it has some. */
static inline bool pleat_view_asks_on_one_node(const struct pleat_view *view,
                                               const struct pleat_component *component,
                                               uint32_t site, enum pleat_purpose purpose)
{
    return pleat_view_is_on_one_node(view, component, site) &&
           !(purpose == PLEAT_FOR_BUFFER && pleat_view_roams(component));
}

/* The record of the lent node on which a running component is; NULL: it is on none, or its
 * processors were not told. */
const struct pleat_node *pleat_view_lent_node(const struct pleat_view *view,
                                              const struct pleat_component *component);

/* The most processors that a component could have at a site, of all nodes that take jobs: of a
 * node, where it must be on one. */
int32_t pleat_view_capacity(const struct pleat_view *view, const struct pleat_component *component,
                            uint32_t site);
/* The most that it could ever have there: likewise, of all nodes that may take jobs again. */
int32_t pleat_view_whole_capacity(const struct pleat_view *view,
                                  const struct pleat_component *component, uint32_t site);
/* The most that a running component could ever have where it is: of its node, where it must stay on
 * one; of its nodes, where its processes stay there. */
int32_t pleat_view_own_capacity(const struct pleat_view *view,
                                const struct pleat_component *component);
/* The most that it could have at a site without the closed nodes. */
int32_t pleat_view_open_capacity(const struct pleat_view *view,
                                 const struct pleat_component *component, uint32_t site);
/* How many of a running component's processors are on a node of its site. */
int32_t pleat_view_held_on(const struct pleat_view *view, const struct pleat_component *component,
                           uint32_t node);
/* Processors of a site's closed nodes that others do not use. */
int32_t pleat_view_shut_slots(const struct pleat_view *view, uint32_t site);
/* Processors of a site that jobs have or could have: not those that others use, nor closed nodes'.
 */
int32_t pleat_view_open_processors(const struct pleat_view *view, uint32_t site);
/* How many of a component's last processors, which a shrink gives back, are certainly on a node. */
int32_t pleat_view_last_on(const struct pleat_view *view, const struct pleat_component *component,
                           uint32_t node);
/* Is a waiting component kept from every site, or node, that is large enough for it, only because
 * these are drained or closed? */
bool pleat_view_needs_drained(const struct pleat_view *view,
                              const struct pleat_component *component);
/* Whether a component is on a node that is closed, so that what it gives up helps nobody. */
bool pleat_view_is_shut(const struct pleat_view *view, const struct pleat_component *component);
/* How many more processors a running component could have now; negative: fewer are free than should
 * be. At a drained site: none. */
int32_t pleat_view_unused(const struct pleat_view *view, const struct pleat_component *component);

#endif
