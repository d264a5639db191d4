#include "policy/home.h"

const struct pleat_node *pleat_view_node(const struct pleat_view *view, uint32_t site,
                                         uint32_t node)
{
    uint32_t low = 0, high = view->node_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct pleat_node *at = &view->nodes[middle];
        if (at->site == site && at->node == node)
            return at;
        if (at->site < site || (at->site == site && at->node < node))
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

uint32_t pleat_view_home(const struct pleat_view *view, uint32_t site, uint32_t node)
{
    const struct pleat_node *known = pleat_view_node(view, site, node);
    return known && known->home > 0 ? known->home - 1 : node;
}
