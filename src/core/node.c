#include <string.h>

#include "core/node.h"

bool core_is_away(const struct pleat_core *core, uint32_t component)
{
    const struct pleat_component *comp = &core->components.items[component];
    if (comp->site == PLEAT_NONE)
        return false;
    const struct pleat_node *node = pleat_view_node(&core->view, comp->site, comp->lead_node);
    return node && node->away;
}

uint32_t core_first_node(const struct pleat_core *core, const struct pleat_component *component)
{
    if (component->first_claim == PLEAT_NONE)
        return 0;
    uint32_t piece = core->claims.items[component->first_claim].first_piece;
    return piece == PLEAT_NONE ? 0 : core->pieces.items[piece].node;
}

bool core_leaves_lead(const struct pleat_core *core, const struct pleat_component *component,
                      int32_t processors)
{
    int64_t left = processors;
    bool known = false;
    for (uint32_t c = component->first_claim; c != PLEAT_NONE && left > 0;
         c = core->claims.items[c].next)
        for (uint32_t p = core->claims.items[c].first_piece; p != PLEAT_NONE && left > 0;
             p = core->pieces.items[p].next) {
            if (core->pieces.items[p].node == component->lead_node)
                return false;
            known = true;
            left -= core->pieces.items[p].count;
        }
    return known;
}

void core_node_use(struct pleat_core *core, uint32_t site, uint32_t node, int64_t count)
{
    const struct pleat_node *known = pleat_view_node(&core->view, site, node);
    if (!known || known->slots == 0)
        return;
    struct pleat_node changed = *known;
    changed.claimed += (int32_t)count;
    core_node_set(core, &core->nodes.items[known - core->view.nodes], changed);
}

int32_t core_node_shut(const struct pleat_node *node)
{
    int32_t unused = node->slots - node->claimed - node->background;
    return pleat_view_node_is_closed(node) && unused > 0 ? unused : 0;
}

void core_node_set(struct pleat_core *core, struct pleat_node *node, struct pleat_node to)
{
    core->sites.items[node->site].shut += core_node_shut(&to) - core_node_shut(node);
    *node = to;
}

void core_nodes_drop(struct pleat_core *core, uint32_t site)
{
    struct pleat_node_array *nodes = &core->nodes;
    size_t kept = 0;
    for (size_t n = 0; n < nodes->count; n++)
        if (nodes->items[n].site != site)
            nodes->items[kept++] = nodes->items[n];
    nodes->count = kept;
    core->view.node_count = (uint32_t)kept;
    core->sites.items[site].shut = 0;
}

int32_t core_node_count(const struct pleat_core *core, const struct pleat_node *node)
{
    int32_t count = 0;
    for (size_t c = 0; c < core->claims.count; c++) {
        const struct pleat_claim *claim = &core->claims.items[c];
        if (claim->state == PLEAT_CLAIM_FREE || claim->site != node->site)
            continue;
        for (uint32_t p = claim->first_piece; p != PLEAT_NONE; p = core->pieces.items[p].next)
            if (core->pieces.items[p].node == node->node)
                count += (int32_t)core->pieces.items[p].count;
    }
    return count;
}

struct pleat_node *core_node_make(struct pleat_core *core, uint32_t site, uint32_t node)
{
    struct pleat_node_array *nodes = &core->nodes;
    const struct pleat_node fresh = {.site = site, .node = node};
    size_t at = nodes->count;
    while (at > 0 && (nodes->items[at - 1].site > site ||
                      (nodes->items[at - 1].site == site && nodes->items[at - 1].node > node)))
        at--;
    if (at > 0 && nodes->items[at - 1].site == site && nodes->items[at - 1].node == node)
        return &nodes->items[at - 1];
    if (pleat_array_reserve(nodes, 1))
        return NULL;
    memmove(nodes->items + at + 1, nodes->items + at, (nodes->count - at) * sizeof(*nodes->items));
    nodes->items[at] = fresh;
    nodes->count++;
    core->view.nodes = nodes->items;
    core->view.node_count = (uint32_t)nodes->count;
    return &nodes->items[at];
}
