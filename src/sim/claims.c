/* Claims at simulated sites: given, refused, given back, lost. */
#include "sim/internal.h"

int site_claim_timer(struct sim *sim, enum timer_kind kind, uint32_t claim, uint64_t id,
                     int64_t delay)
{
    struct claim_timer *timer = allocation_record(sim, claim);
    if (!timer)
        return nomem(sim);
    stop_timer(sim, &timer->timer); /* an earlier request about the claim is not wanted any more */
    timer->claim = id;
    return set_timer(sim, kind, claim, 0, sim->now_us + delay, &timer->timer);
}

/* Is there room for a claim? The core need not know what is free where it polls the site. */
static bool has_room(const struct sim *sim, const struct pleat_claim *wanted)
{
    const struct site *site = &sim->sites[wanted->site];
    int64_t free = site_up(site) - site->local;
    if (site->spec->poll_us == 0 || site->spec->queue != PLEAT_QUEUE_NONE)
        return true;
    for (uint32_t c = 0; c < pleat_core_claim_count(sim->core); c++) {
        const struct pleat_claim *claim = pleat_core_claim(sim->core, c);
        bool has = claim->state == PLEAT_CLAIM_HELD || claim->state == PLEAT_CLAIM_RELEASING;
        free -= claim->site == wanted->site && has ? claim->count : 0;
    }
    return wanted->count <= free;
}

int site_claimed(struct sim *sim, uint32_t index, uint64_t id)
{
    return site_claimed_some(sim, index, id, allocation_count(sim, index));
}

int site_claimed_some(struct sim *sim, uint32_t index, uint64_t id, int32_t count)
{
    const struct pleat_claim *claim = pleat_core_claim(sim->core, index);
    uint32_t owner = claim->component;
    if (claim->id != id || claim->state != PLEAT_CLAIM_REQUESTED)
        return 0;
    bool fails = count < 1 || site_fails(&sim->sites[claim->site], PLEAT_FAILURE_CLAIM) ||
                 !has_room(sim, claim);
    struct pleat_event event = {.time_us = sim->now_us,
                                .kind = fails ? PLEAT_EV_CLAIM_FAILED : PLEAT_EV_CLAIMED,
                                .component = index,
                                .u.claim = {.claim = id, .count = count}};
    uint32_t site = claim->site;
    if (fails) {
        event.u.claim.reason = PLEAT_REASON_CLAIM_REFUSED;
        allocation_give_back(sim, site, index, count);
    }
    int rc = fails ? 0 : allocation_tell(sim, site, index, count);
    if (!rc)
        rc = input(sim, &event);
    if (!rc && !fails)
        rc = allocation_ends(sim, site, index, id);
    return rc ? rc : conclude(sim, owner);
}

int site_released(struct sim *sim, uint32_t index, uint64_t id)
{
    const struct pleat_claim *claim = pleat_core_claim(sim->core, index);
    uint32_t owner = claim->component, site = claim->site;
    if (claim->id != id || claim->state != PLEAT_CLAIM_RELEASING)
        return 0; /* lost meanwhile */
    allocation_give_back(sim, claim->site, index, claim->count);
    struct pleat_event event = {.time_us = sim->now_us,
                                .kind = PLEAT_EV_RELEASED,
                                .component = index,
                                .u.claim = {.claim = id, .count = claim->count}};
    int rc = input(sim, &event);
    if (!rc)
        rc = allocation_left(sim, site);
    return rc ? rc : conclude(sim, owner);
}

int site_lose(struct sim *sim, uint32_t index)
{
    const struct pleat_claim *claim = pleat_core_claim(sim->core, index);
    uint32_t owner = claim->component, site = claim->site;
    if (claim->state == PLEAT_CLAIM_FREE)
        return 0; /* another claim of the job was there, and the job has ended */
    allocation_give_back(sim, claim->site, index, claim->count);
    struct pleat_event event = {.time_us = sim->now_us,
                                .kind = PLEAT_EV_LOST,
                                .component = index,
                                .u.claim = {.claim = claim->id, .count = claim->count}};
    int rc = input(sim, &event);
    if (!rc)
        rc = allocation_left(sim, site);
    return rc ? rc : conclude(sim, owner);
}

bool site_claim_has_slots(const struct sim *sim, uint32_t claim)
{
    const struct pleat_claim *c = pleat_core_claim(sim->core, claim);
    return sim->sites[c->site].spec->queue == PLEAT_QUEUE_NONE || allocation_holds(sim, claim);
}
