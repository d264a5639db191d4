/* Allocations of simulated batch systems: which claims have them, and when they end. */
#include "sim/internal.h"

struct claim_timer *allocation_record(struct sim *sim, uint32_t claim)
{
    while (sim->claims.count <= claim) {
        struct claim_timer fresh = {.timer = PLEAT_HEAP_NONE, .allocation = PLEAT_NONE};
        if (pleat_array_push(&sim->claims, fresh))
            return NULL;
    }
    return &sim->claims.items[claim];
}

struct allocation *allocation_of(struct sim *sim, uint32_t site, uint32_t claim)
{
    uint32_t index = claim < sim->claims.count ? sim->claims.items[claim].allocation : PLEAT_NONE;
    return index == PLEAT_NONE ? NULL : &sim->sites[site].batch.allocations.items[index];
}

struct allocation *allocation_new(struct sim *sim, uint32_t site, uint32_t *index)
{
    struct allocations *all = &sim->sites[site].batch.allocations;
    for (*index = 0; *index < all->count; ++*index)
        if (all->items[*index].claims == 0)
            return &all->items[*index];
    struct allocation fresh = {0};
    return pleat_array_push(all, fresh) ? NULL : &all->items[*index];
}

void allocation_leave_queue(struct site *site, uint32_t allocation)
{
    struct queue *queue = &site->batch.queue;
    site->batch.changed = true;
    for (size_t i = 0; i < queue->waiting.count; i++)
        if (queue->waiting.items[i].owner == allocation) {
            queue_drop(queue, i);
            return;
        }
    for (size_t i = 0; i < queue->running.count; i++)
        if (queue->running.items[i].owner == allocation) {
            queue_end(queue, i);
            return;
        }
}

void allocation_give_back(struct sim *sim, uint32_t site, uint32_t claim, int32_t count)
{
    struct allocation *one = allocation_of(sim, site, claim);
    if (!one)
        return;
    uint32_t index = sim->claims.items[claim].allocation;
    sim->claims.items[claim].allocation = PLEAT_NONE;
    one->spare += count;
    if (--one->claims == 0)
        allocation_leave_queue(&sim->sites[site], index);
}

void allocation_withdraw(struct sim *sim, uint32_t site, uint32_t claim)
{
    const struct allocation *one = allocation_of(sim, site, claim);
    if (one && !one->held)
        allocation_give_back(sim, site, claim, 0);
}

bool allocation_holds(const struct sim *sim, uint32_t claim)
{
    const struct pleat_claim *c = pleat_core_claim(sim->core, claim);
    uint32_t index = claim < sim->claims.count ? sim->claims.items[claim].allocation : PLEAT_NONE;
    return index != PLEAT_NONE && sim->sites[c->site].batch.allocations.items[index].held;
}

uint32_t allocation_beside(struct sim *sim, uint32_t site, const struct pleat_claim *wanted)
{
    const struct pleat_component *owner = &sim->view->components[wanted->component];
    for (uint32_t c = owner->first_claim; c != PLEAT_NONE;
         c = pleat_core_claim(sim->core, c)->next) {
        const struct allocation *one = allocation_of(sim, site, c);
        if (one && one->held && one->spare >= wanted->count)
            return sim->claims.items[c].allocation;
    }
    return PLEAT_NONE;
}

int allocation_split(struct sim *sim, uint64_t from, uint32_t into, uint64_t into_id, uint32_t site)
{
    if (sim->sites[site].spec->queue == PLEAT_QUEUE_NONE)
        return 0;
    struct claim_timer *record = allocation_record(sim, into);
    if (!record)
        return nomem(sim);
    record->claim = into_id;
    for (uint32_t c = 0; c < sim->claims.count; c++) {
        const struct pleat_claim *old = pleat_core_claim(sim->core, c);
        struct allocation *one = old->id == from ? allocation_of(sim, site, c) : NULL;
        if (!one)
            continue;
        record->allocation = sim->claims.items[c].allocation;
        one->claims++;
        return 0;
    }
    return 0;
}

int allocation_tell(struct sim *sim, uint32_t site, uint32_t claim)
{
    const struct pleat_claim *c = pleat_core_claim(sim->core, claim);
    struct allocation *one = allocation_of(sim, site, claim);
    if (!one || !pleat_view_is_on_lent_node(sim->view, &sim->view->components[c->component], site))
        return 0;
    const uint32_t node = sim->claims.items[claim].allocation;
    const struct pleat_event made = {.time_us = sim->now_us,
                                     .kind = PLEAT_EV_NODE,
                                     .flags = PLEAT_NODE_LENT,
                                     .component = site,
                                     .u.node = {.node = node, .slots = one->count}};
    const struct pleat_event piece = {
        .time_us = sim->now_us,
        .kind = PLEAT_EV_PIECE,
        .component = claim,
        .u.piece = {.claim = c->id,
                    .node = node,
                    .first = (uint32_t)(one->count - one->spare - c->count),
                    .count = (uint32_t)c->count}};
    int rc = one->told ? 0 : input(sim, &made);
    one->told = true;
    return rc ? rc : input(sim, &piece);
}

int allocation_ends(struct sim *sim, uint32_t site, uint32_t claim, uint64_t id)
{
    const struct allocation *one = allocation_of(sim, site, claim);
    if (!one || one->leave_us == PLEAT_NEVER)
        return 0;
    struct pleat_event event = {.time_us = sim->now_us,
                                .kind = PLEAT_EV_CLAIM_ENDS,
                                .component = claim,
                                .u.ends = {.claim = id, .end_us = one->leave_us}};
    return input(sim, &event);
}
