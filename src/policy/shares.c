#include "policy/shares.h"
#include "policy/home.h"

/* A way over the pieces of a component's claims: the one that was found last. */
struct walk {
    uint32_t claim, piece; /* piece: PLEAT_NONE: none yet of this claim */
};

static struct walk from_first(const struct pleat_component *component)
{
    return (struct walk){component->first_claim, PLEAT_NONE};
}

/* The next piece; NULL: there is none. */
static const struct pleat_piece *next_of(const struct pleat_view *view, struct walk *at)
{
    while (at->claim != PLEAT_NONE) {
        at->piece = at->piece == PLEAT_NONE ? view->claims[at->claim].first_piece
                                            : view->pieces[at->piece].next;
        if (at->piece != PLEAT_NONE)
            return &view->pieces[at->piece];
        at->claim = view->claims[at->claim].next;
    }
    return NULL;
}

static bool has_shares(const struct pleat_component *component)
{
    return pleat_view_folds(component) && component->flags & PLEAT_COMPONENT_SPREADS;
}

static int32_t processors_on(const struct pleat_view *view, const struct pleat_component *component,
                             uint32_t node)
{
    int32_t sum = 0;
    struct walk at = from_first(component);
    for (const struct pleat_piece *piece; (piece = next_of(view, &at));)
        if (piece->node == node || pleat_view_share_home(view, component, piece->node) == node)
            sum += (int32_t)piece->count;
    return sum;
}

uint32_t pleat_view_share_home(const struct pleat_view *view,
                               const struct pleat_component *component, uint32_t node)
{
    const uint32_t home = pleat_view_home(view, component->site, node);
    const bool own = home == node || component->lead_node == node ||
                     pleat_view_share_on(view, component, node) > 0;
    return own ? node : home;
}

bool pleat_view_is_guest(const struct pleat_view *view, uint32_t claim)
{
    const struct pleat_claim *c = &view->claims[claim];
    const struct pleat_component *component = &view->components[c->component];
    for (uint32_t p = c->first_piece; p != PLEAT_NONE; p = view->pieces[p].next)
        if (pleat_view_share_home(view, component, view->pieces[p].node) == view->pieces[p].node)
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

uint32_t pleat_view_share_nodes(const struct pleat_view *view,
                                const struct pleat_component *component)
{
    uint32_t nodes = 0;
    if (!has_shares(component))
        return 0;
    struct walk at = from_first(component);
    for (const struct pleat_piece *piece; (piece = next_of(view, &at));)
        nodes += piece->processes > 0;
    return nodes;
}

int32_t pleat_view_share_on(const struct pleat_view *view, const struct pleat_component *component,
                            uint32_t node)
{
    int32_t sum = 0;
    if (!has_shares(component))
        return 0;
    struct walk at = from_first(component);
    for (const struct pleat_piece *piece; (piece = next_of(view, &at));)
        sum += piece->node == node ? piece->processes : 0;
    return sum;
}

int32_t pleat_view_share_room(const struct pleat_view *view,
                              const struct pleat_component *component, uint32_t node)
{
    int32_t room = pleat_view_share_on(view, component, node);
    if (room > 0)
        room -= processors_on(view, component, node);
    return room > 0 ? room : 0;
}

int32_t pleat_view_shares_least(const struct pleat_view *view,
                                const struct pleat_component *component)
{
    int32_t least = 0;
    if (!has_shares(component) || component->mpl == 0)
        return 0;
    struct walk at = from_first(component);
    for (const struct pleat_piece *piece; (piece = next_of(view, &at));)
        least += pleat_mpl(piece->processes, component->mpl);
    return least;
}

int pleat_shares_of(const struct pleat_view *view, const struct pleat_component *component,
                    struct pleat_share_list *shares)
{
    if (!has_shares(component))
        return 0;
    struct walk at = from_first(component);
    for (const struct pleat_piece *piece; (piece = next_of(view, &at));) {
        if (piece->processes == 0)
            continue;
        int32_t processors = processors_on(view, component, piece->node);
        struct pleat_share share = {piece->node, piece->processes, processors, processors};
        if (pleat_array_push(shares, share))
            return PLEAT_E_NOMEM;
    }
    return 0;
}

/* Are there fewer of a's processes on each of `on_a` processors than of b's on each of `on_b`? */
static bool has_fewer(const struct pleat_share *a, int32_t on_a, const struct pleat_share *b,
                      int32_t on_b)
{
    return (int64_t)a->processes * on_b < (int64_t)b->processes * on_a;
}

void pleat_shares_shrink(const struct pleat_share_list *shares, int32_t count)
{
    while (count-- > 0) {
        struct pleat_share *best = NULL;
        for (size_t i = 0; i < shares->count; i++) {
            struct pleat_share *share = &shares->items[i];
            if (share->to > 1 && (!best || has_fewer(share, share->to - 1, best, best->to - 1) ||
                                  (share->node > best->node &&
                                   !has_fewer(best, best->to - 1, share, share->to - 1))))
                best = share;
        }
        if (!best)
            return;
        best->to--;
    }
}

int32_t pleat_shares_grow(const struct pleat_share_list *shares, const int32_t *room, int32_t count)
{
    int32_t grown = 0;
    for (; grown < count; grown++) {
        struct pleat_share *best = NULL;
        for (size_t i = 0; i < shares->count; i++) {
            struct pleat_share *share = &shares->items[i];
            if (share->to < share->processes && share->to - share->processors < room[i] &&
                (!best || has_fewer(best, best->to, share, share->to) ||
                 (share->node < best->node && !has_fewer(share, share->to, best, best->to))))
                best = share;
        }
        if (!best)
            break;
        best->to++;
    }
    return grown;
}
