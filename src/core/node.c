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
