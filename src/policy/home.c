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

bool pleat_view_is_guest(const struct pleat_view *view, uint32_t claim)
{
    const struct pleat_claim *c = &view->claims[claim];
    for (uint32_t p = c->first_piece; p != PLEAT_NONE; p = view->pieces[p].next)
        if (pleat_view_home(view, c->site, view->pieces[p].node) == view->pieces[p].node)
            return false;
    return c->first_piece != PLEAT_NONE;
}

int32_t pleat_view_guests_from(const struct pleat_view *view, uint32_t claim)
{
    int32_t sum = 0;
    for (uint32_t c = claim; c != PLEAT_NONE; c = view->claims[c].next)
        sum += pleat_view_is_guest(view, c) ? view->claims[c].count : 0;
    return sum;
}

uint32_t pleat_view_home(const struct pleat_view *view, uint32_t site, uint32_t node)
{
    const struct pleat_node *known = pleat_view_node(view, site, node);
    return known && known->home > 0 ? known->home - 1 : node;
}
