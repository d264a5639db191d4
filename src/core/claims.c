/* Claims: processors asked for, held, handed over, given back. */
#include <assert.h>
#include <string.h>

#include "core/claims.h"
#include "core/deadlines.h"
#include "core/effects.h"
#include "core/handlers.h"
#include "core/node.h"
#include "core/outpost.h"
#include "core/state.h"

/* The index of a new claim, REQUESTED; PLEAT_NONE: out of memory. */
static uint32_t claim_new(struct pleat_core *core, uint32_t component, uint32_t site, int32_t count,
                          uint8_t purpose)
{
    uint32_t index = core->free_claim;
    if (index != PLEAT_NONE) {
        core->free_claim = core->claims.items[index].next;
    } else {
        if (pleat_array_reserve(&core->claims, 1)) {
            core->failed = 1;
            return PLEAT_NONE;
        }
        index = (uint32_t)core->claims.count++;
        core->view.claims = core->claims.items; /* the array may have moved */
    }
    core->claims.items[index] = (struct pleat_claim){
        .id = core->next_id++,
        .component = component,
        .site = site,
        .count = count,
        .state = PLEAT_CLAIM_REQUESTED,
        .purpose = purpose,
        .asked_us = now_of(core),
        .previous = PLEAT_NONE,
        .next = PLEAT_NONE,
        .first_piece = PLEAT_NONE,
        .last_piece = PLEAT_NONE,
    };
    return index;
}

/* The pieces of a claim are about to be taken from it. */
static void pieces_unuse(struct pleat_core *core, const struct pleat_claim *claim)
{
    if (core->nodes.count == 0)
        return;
    for (uint32_t p = claim->first_piece; p != PLEAT_NONE; p = core->pieces.items[p].next)
        core_node_use(core, claim->site, core->pieces.items[p].node,
                      -(int64_t)core->pieces.items[p].count);
}

static void pieces_free(struct pleat_core *core, uint32_t claim)
{
    struct pleat_claim *c = claim_at(core, claim);
    if (c->last_piece == PLEAT_NONE)
        return; /* its site does not say where its processors are */
    pieces_unuse(core, c);
    core->pieces.items[c->last_piece].next = core->free_piece;
    core->free_piece = c->first_piece;
    c->first_piece = c->last_piece = PLEAT_NONE;
}

/* Appends a copy of a piece, whose `next` does not matter. */
static int piece_append(struct pleat_core *core, uint32_t claim, struct pleat_piece piece)
{
    uint32_t index = core->free_piece;
    if (index != PLEAT_NONE) {
        core->free_piece = core->pieces.items[index].next;
    } else {
        if (pleat_array_reserve(&core->pieces, 1)) {
            core->failed = 1;
            return PLEAT_E_NOMEM;
        }
        index = (uint32_t)core->pieces.count++;
        core->view.pieces = core->pieces.items;
    }
    piece.next = PLEAT_NONE;
    core->pieces.items[index] = piece;
    struct pleat_claim *c = claim_at(core, claim);
    if (c->last_piece != PLEAT_NONE)
        core->pieces.items[c->last_piece].next = index;
    else
        c->first_piece = index;
    c->last_piece = index;
    core_node_use(core, c->site, piece.node, piece.count);
    return 0;
}

void claim_effect(struct pleat_core *core, uint32_t claim, uint16_t kind)
{
    const struct pleat_claim *c = claim_at(core, claim);
    struct pleat_effect *effect = emit(core, kind, c->component, c->id);
    if (!effect)
        return;
    effect->u.claim.site = c->site;
    effect->u.claim.index = claim;
    effect->u.claim.count = c->count;
    effect->u.claim.state = c->state;
    effect->u.claim.purpose = c->purpose;
}

uint32_t claim_request(struct pleat_core *core, uint32_t component, uint32_t site, int32_t count,
                       enum pleat_purpose purpose)
{
    uint32_t claim = claim_new(core, component, site, count, (uint8_t)purpose);
    if (claim == PLEAT_NONE)
        return claim;
    component_at(core, component)->claims++;
    struct pleat_site *of = site_at(core, site);
    of->claimed += count;
    if (of->instant)
        claim_at(core, claim)->state = PLEAT_CLAIM_HELD;
    else
        claim_effect(core, claim, PLEAT_DO_CLAIM);
    return claim;
}

void claim_link(struct pleat_core *core, uint32_t claim)
{
    struct pleat_claim *c = claim_at(core, claim);
    struct pleat_component *component = component_at(core, c->component);
    c->previous = component->last_claim;
    c->next = PLEAT_NONE;
    if (c->previous != PLEAT_NONE)
        claim_at(core, c->previous)->next = claim;
    else
        component->first_claim = claim;
    component->last_claim = claim;
    outpost_takes(core, c, 1);
}

void claim_unlink(struct pleat_core *core, uint32_t claim)
{
    struct pleat_claim *c = claim_at(core, claim);
    struct pleat_component *component = component_at(core, c->component);
    if (c->previous != PLEAT_NONE)
        claim_at(core, c->previous)->next = c->next;
    else
        component->first_claim = c->next;
    if (c->next != PLEAT_NONE)
        claim_at(core, c->next)->previous = c->previous;
    else
        component->last_claim = c->previous;
    c->previous = c->next = PLEAT_NONE;
    outpost_takes(core, c, -1);
}

void claim_release(struct pleat_core *core, uint32_t claim)
{
    struct pleat_claim *c = claim_at(core, claim);
    assert(c->state == PLEAT_CLAIM_REQUESTED || c->state == PLEAT_CLAIM_HELD);
    if (c->state == PLEAT_CLAIM_REQUESTED)
        c->architecture = 0;
    struct pleat_site *site = site_at(core, c->site);
    if (site->instant) {
        claim_free(core, claim);
        core->wants_pass = true;
        return;
    }
    c->state = PLEAT_CLAIM_RELEASING;
    site->releasing += c->count;
    claim_effect(core, claim, PLEAT_DO_RELEASE);
}

/* Moves the pieces beyond the count of `from`, which is reduced already, to `to`. */
static void pieces_split(struct pleat_core *core, uint32_t from, uint32_t to)
{
    uint32_t keep = (uint32_t)claim_at(core, from)->count;
    uint32_t index = claim_at(core, from)->first_piece;
    if (index == PLEAT_NONE)
        return; /* the site does not say where its processors are */
    pieces_unuse(core, claim_at(core, from));
    claim_at(core, from)->first_piece = claim_at(core, from)->last_piece = PLEAT_NONE;
    while (index != PLEAT_NONE) {
        struct pleat_piece piece = core->pieces.items[index];
        core->pieces.items[index].next = core->free_piece;
        core->free_piece = index;
        uint32_t kept = piece.count < keep ? piece.count : keep, after = piece.next;
        struct pleat_piece rest = {piece.node, piece.first + kept, piece.count - kept, PLEAT_NONE,
                                   kept ? 0 : piece.processes};
        piece.count = kept;
        if (kept && piece_append(core, from, piece))
            return;
        if (rest.count && piece_append(core, to, rest))
            return;
        keep -= kept;
        index = after;
    }
}

uint32_t claim_split(struct pleat_core *core, uint32_t claim, int32_t count)
{
    const struct pleat_claim *whole = claim_at(core, claim);
    uint32_t fresh = claim_new(core, whole->component, whole->site, count, whole->purpose);
    if (fresh == PLEAT_NONE)
        return fresh;
    struct pleat_claim *old = claim_at(core, claim); /* the array may have moved */
    struct pleat_claim *part = claim_at(core, fresh);
    part->state = old->state;
    part->asked_us = old->asked_us;
    part->until_us = old->until_us;
    part->lent = old->lent;
    old->count -= count;
    component_at(core, old->component)->claims++;
    pieces_split(core, claim, fresh);
    if (site_at(core, part->site)->instant)
        return fresh;
    struct pleat_effect *effect =
        emit(core, PLEAT_DO_SPLIT, old->component, claim_at(core, claim)->id);
    if (effect) {
        effect->u.claim.into = claim_at(core, fresh)->id;
        effect->u.claim.site = claim_at(core, fresh)->site;
        effect->u.claim.index = fresh;
        effect->u.claim.count = count;
        effect->u.claim.state = claim_at(core, fresh)->state;
        effect->u.claim.purpose = claim_at(core, fresh)->purpose;
    }
    claim_note(core, claim);
    return fresh;
}

void claim_free(struct pleat_core *core, uint32_t claim)
{
    struct pleat_claim *c = claim_at(core, claim);
    struct pleat_site *site = site_at(core, c->site);
    site->claimed -= c->count;
    if (c->state == PLEAT_CLAIM_RELEASING)
        site->releasing -= c->count;
    component_at(core, c->component)->claims--;
    c->state = PLEAT_CLAIM_FREE;
    claim_note(core, claim);
    pieces_free(core, claim);
    c->next = core->free_claim;
    core->free_claim = claim;
}

/* Takes claims of the last *count processors out of a component's list, one at a call: *count falls
 * by the processors of the claim that is returned. PLEAT_NONE: out of memory. */
static uint32_t take_tail(struct pleat_core *core, uint32_t component, int32_t *count)
{
    uint32_t last = component_at(core, component)->last_claim;
    assert(last != PLEAT_NONE);
    core->operations++;
    if (claim_at(core, last)->count <= *count)
        claim_unlink(core, last);
    else
        last = claim_split(core, last, *count);
    if (last != PLEAT_NONE)
        *count -= claim_at(core, last)->count;
    return last;
}

void component_release_tail(struct pleat_core *core, uint32_t component, int32_t count)
{
    while (count > 0) {
        uint32_t claim = take_tail(core, component, &count);
        if (claim == PLEAT_NONE)
            return;
        claim_release(core, claim);
    }
}

void component_earmark_tail(struct pleat_core *core, uint32_t component, int32_t count,
                            uint32_t waiter)
{
    while (count > 0) {
        uint32_t claim = take_tail(core, component, &count);
        if (claim == PLEAT_NONE)
            return;
        struct pleat_claim *c = claim_at(core, claim);
        component_at(core, component)->claims--;
        component_at(core, waiter)->claims++;
        component_at(core, waiter)->earmarked += c->count;
        c->component = waiter;
        c->purpose = PLEAT_FOR_EARMARK;
        claim_link(core, claim);
        claim_note(core, claim);
    }
    arm(core, &component_at(core, waiter)->deadline, DEADLINE_COMPONENT, waiter,
        now_of(core) + core->parameters[PLEAT_PARAM_EARMARK_US]);
}

void coming_drop(struct pleat_core *core, uint32_t waiter)
{
    struct pleat_component *component = component_at(core, waiter);
    if (component->coming == 0)
        return;
    for (uint32_t r = 0; r < core->resizes.count; r++) {
        struct pleat_resize *resize = resize_at(core, r);
        core->operations++;
        if (resize->step != PLEAT_RESIZE_FREE && resize->waiter == waiter)
            resize->waiter = PLEAT_NONE;
    }
    site_at(core, component->site)->coming += component->coming;
    component->coming = 0;
}

void earmarks_drop(struct pleat_core *core, uint32_t waiter)
{
    struct pleat_component *component = component_at(core, waiter);
    coming_drop(core, waiter);
    component_release_tail(core, waiter, component->earmarked);
    component->earmarked = 0;
    component->site = PLEAT_NONE;
    disarm(core, &component->deadline);
}

uint32_t claim_find(const struct pleat_core *core, const struct pleat_event *event)
{
    /* in events of sites `component` is the index of a claim */
    uint32_t index = event->component;
    if (index >= core->claims.count)
        return PLEAT_NONE;
    const struct pleat_claim *claim = &core->claims.items[index];
    uint64_t id = event->kind == PLEAT_EV_PIECE ? event->u.piece.claim : event->u.claim.claim;
    return claim->state != PLEAT_CLAIM_FREE && claim->id == id ? index : PLEAT_NONE;
}

int on_piece(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    (void)err;
    uint32_t claim = claim_find(core, event);
    if (claim == PLEAT_NONE || claim_at(core, claim)->state != PLEAT_CLAIM_REQUESTED)
        return PLEAT_CORE_STALE;
    if (event->u.piece.count == 0 || event->u.piece.count > PLEAT_SIZE_MAX)
        return PLEAT_CORE_STALE;
    const struct pleat_piece piece = {
        .node = event->u.piece.node, .first = event->u.piece.first, .count = event->u.piece.count};
    return piece_append(core, claim, piece);
}
