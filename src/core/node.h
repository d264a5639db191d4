/* node.h - the nodes of sites: which agents are there */
#ifndef PLEAT_CORE_NODE_H
#define PLEAT_CORE_NODE_H

#include "core/state.h"

/* Is the agent of the node that leads the component away, so that nothing can be told to it? */
bool core_is_away(const struct pleat_core *core, uint32_t component);
/* The node of the component's first processor; 0 where its site said nothing of nodes. */
uint32_t core_first_node(const struct pleat_core *core, const struct pleat_component *component);
/* Is the node that leads the component none of those of its first `processors` processors? Then it
 * cannot be led from there with so many. */
bool core_leaves_lead(const struct pleat_core *core, const struct pleat_component *component,
                      int32_t processors);
/* `count` processors more of a node are in pieces of claims, or fewer; does nothing where the site
 * does not tell its nodes' processors. */
void core_node_use(struct pleat_core *core, uint32_t site, uint32_t node, int64_t count);
/* The processors of a node that are unused and may not be handed out, since the node is closed; 0
 * if it is not. */
int32_t core_node_shut(const struct pleat_node *node);
/* Changes a node's record, with what its site keeps of it. */
void core_node_set(struct pleat_core *core, struct pleat_node *node, struct pleat_node to);
/* Drops the records of a site's nodes. */
void core_nodes_drop(struct pleat_core *core, uint32_t site);
/* Processors of a node that are in pieces of claims, counted. */
int32_t core_node_count(const struct pleat_core *core, const struct pleat_node *node);
/* The record of a node, made if there is none: then other records move. NULL: out of memory. */
struct pleat_node *core_node_make(struct pleat_core *core, uint32_t site, uint32_t node);

#endif
