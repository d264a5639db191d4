#include "core/shares.h"
#include "core/claims.h"
#include "policy/shares.h"

/* ---- at the start ---- */

static void forget(struct pleat_core *core, const struct pleat_component *component)
{
    for (uint32_t c = component->first_claim; c != PLEAT_NONE; c = claim_at(core, c)->next)
        for (uint32_t p = claim_at(core, c)->first_piece; p != PLEAT_NONE;
             p = core->pieces.items[p].next)
            core->pieces.items[p].processes = 0;
}

static int32_t processors_on(const struct pleat_core *core, const struct pleat_component *component,
                             uint32_t node)
{
    int32_t sum = 0;
    for (uint32_t c = component->first_claim; c != PLEAT_NONE; c = core->claims.items[c].next)
        for (uint32_t p = core->claims.items[c].first_piece; p != PLEAT_NONE;
             p = core->pieces.items[p].next)
            sum += core->pieces.items[p].node == node ? (int32_t)core->pieces.items[p].count : 0;
    return sum;
}

void shares_begin(struct pleat_core *core, uint32_t component)
{
    const struct pleat_component *comp = component_at(core, component);
    if (!pleat_view_folds(comp) || !(comp->flags & PLEAT_COMPONENT_SPREADS) || comp->target < 1)
        return;
    int32_t each = comp->processes / comp->target, more = comp->processes % comp->target;
    forget(core, comp);
    for (uint32_t c = comp->first_claim; c != PLEAT_NONE; c = claim_at(core, c)->next)
        for (uint32_t p = claim_at(core, c)->first_piece; p != PLEAT_NONE;
             p = core->pieces.items[p].next) {
            struct pleat_piece *piece = &core->pieces.items[p];
            if (pleat_view_share_on(&core->view, comp, piece->node) > 0)
                continue; /* it is not the first one there */
            int32_t count = processors_on(core, comp, piece->node);
            piece->processes = each * count + pleat_smaller(more, count);
            more -= pleat_smaller(more, count);
        }
}

/* ---- the order of claims ---- */

static uint32_t node_of(const struct pleat_core *core, uint32_t claim)
{
    uint32_t piece = core->claims.items[claim].first_piece;
    return piece == PLEAT_NONE ? PLEAT_NONE : core->pieces.items[piece].node;
}

/* Cuts the component's claims where they go from one node to another: a claim can only be cut at
 * its end. Which of them come first does not matter for folded runs. */
static void part_by_nodes(struct pleat_core *core, uint32_t component)
{
    for (uint32_t c = component_at(core, component)->first_claim; c != PLEAT_NONE;
         c = claim_at(core, c)->next) {
        int32_t same = 0;
        for (uint32_t p = claim_at(core, c)->first_piece;
             p != PLEAT_NONE && core->pieces.items[p].node == node_of(core, c);
             p = core->pieces.items[p].next)
            same += (int32_t)core->pieces.items[p].count;
        if (same == 0 || same >= claim_at(core, c)->count)
            continue;
        uint32_t rest = claim_split(core, c, claim_at(core, c)->count - same);
        if (rest == PLEAT_NONE)
            return;
        claim_link(core, rest);
    }
}

/* The last of the component's claims on a node, but for those with its last `behind` processors. */
static uint32_t last_on(const struct pleat_core *core, uint32_t component, uint32_t node,
                        int32_t behind)
{
    uint32_t c = core->components.items[component].last_claim;
    while (c != PLEAT_NONE && behind > 0) {
        behind -= core->claims.items[c].count;
        c = core->claims.items[c].previous;
    }
    while (c != PLEAT_NONE && node_of(core, c) != node)
        c = core->claims.items[c].previous;
    return c;
}

/* Puts `count` processors of a node last, behind which there are `behind`. */
static int32_t put_last(struct pleat_core *core, uint32_t component, uint32_t node, int32_t count,
                        int32_t behind)
{
    while (count > 0) {
        uint32_t c = last_on(core, component, node, behind);
        if (c == PLEAT_NONE)
            return behind;
        if (claim_at(core, c)->count <= count)
            claim_unlink(core, c);
        else
            c = claim_split(core, c, count);
        if (c == PLEAT_NONE)
            return behind;
        claim_link(core, c);
        count -= claim_at(core, c)->count;
        behind += claim_at(core, c)->count;
    }
    return behind;
}

/* Processes are kept with processors that the run keeps: those of its last `behind` ones are
 * written down with others of their node. */
static void keep_processes(struct pleat_core *core, uint32_t component, int32_t behind)
{
    const struct pleat_component *comp = component_at(core, component);
    uint32_t c = comp->last_claim;
    for (; c != PLEAT_NONE && behind > 0; c = claim_at(core, c)->previous) {
        behind -= claim_at(core, c)->count;
        struct pleat_piece *from = &core->pieces.items[claim_at(core, c)->first_piece];
        if (from->processes == 0)
            continue;
        uint32_t to = comp->first_claim;
        while (node_of(core, to) != from->node)
            to = claim_at(core, to)->next;
        struct pleat_piece *piece = &core->pieces.items[claim_at(core, to)->first_piece];
        int32_t processes = from->processes;
        from->processes = 0;
        piece->processes += processes;
    }
}

/* ---- of later allocations ---- */

/* Puts `count` processors of later allocations last, or as many as there are, and returns how many.
 * They keep their order, so the second time nothing changes. */
static int32_t put_guests_last(struct pleat_core *core, uint32_t component, int32_t count)
{
    const uint32_t last = component_at(core, component)->last_claim;
    uint32_t first = PLEAT_NONE, part = PLEAT_NONE;
    int32_t behind = 0;
    for (uint32_t c = last; c != PLEAT_NONE && behind < count; c = claim_at(core, c)->previous) {
        if (!pleat_view_is_guest(&core->view, c))
            continue;
        const int32_t left = count - behind;
        if (claim_at(core, c)->count > left) {
            part = claim_split(core, c, left);
            behind += part == PLEAT_NONE ? 0 : left;
            break;
        }
        first = c;
        behind += claim_at(core, c)->count;
    }
    if (part != PLEAT_NONE)
        claim_link(core, part);
    for (uint32_t next, c = first; c != PLEAT_NONE; c = next) {
        next = c == last ? PLEAT_NONE : claim_at(core, c)->next;
        if (!pleat_view_is_guest(&core->view, c))
            continue;
        claim_unlink(core, c);
        claim_link(core, c);
    }
    return behind;
}

/* ---- a shrink ---- */

/* What a component has on each of its nodes, without that of later allocations. */
static int own_shares(const struct pleat_core *core, const struct pleat_component *component,
                      struct pleat_share_list *shares)
{
    int rc = pleat_shares_of(&core->view, component, shares);
    for (size_t i = 0; !rc && i < shares->count; i++) {
        struct pleat_share *share = &shares->items[i];
        share->processors = share->to = processors_on(core, component, share->node);
    }
    return rc;
}

void shares_leave(struct pleat_core *core, uint32_t component, int32_t count)
{
    struct pleat_share_list shares = {0};
    if (pleat_view_share_nodes(&core->view, component_at(core, component)) < 2)
        return;
    part_by_nodes(core, component);
    int32_t behind = put_guests_last(core, component, count);
    if (behind < count && own_shares(core, component_at(core, component), &shares))
        core->failed = 1;
    pleat_shares_shrink(&shares, count - behind);
    for (size_t i = 0; !core->failed && i < shares.count; i++)
        behind = put_last(core, component, shares.items[i].node,
                          shares.items[i].processors - shares.items[i].to, behind);
    if (!core->failed)
        keep_processes(core, component, behind);
    pleat_array_finish(&shares);
}

/* ---- a growth ---- */

bool shares_fit(const struct pleat_core *core, uint32_t component, uint32_t claim)
{
    const struct pleat_component *comp = &core->components.items[component];
    const uint32_t first = core->claims.items[claim].first_piece;
    if (pleat_view_share_nodes(&core->view, comp) == 0)
        return true;
    for (uint32_t p = first; p != PLEAT_NONE; p = core->pieces.items[p].next) {
        const uint32_t home = pleat_view_share_home(&core->view, comp, core->pieces.items[p].node);
        int32_t there = 0;
        for (uint32_t q = first; q != PLEAT_NONE; q = core->pieces.items[q].next)
            there += pleat_view_share_home(&core->view, comp, core->pieces.items[q].node) == home
                         ? (int32_t)core->pieces.items[q].count
                         : 0;
        if (there > pleat_view_share_room(&core->view, comp, home))
            return false;
    }
    return true;
}
