/* Sites with a batch system: claims are allocations in its queue, beside other users' jobs.
 *
 * They do what Pleat's sites of clusters do (src/site/batch_jobs.c). The core is told that a claim
 * waits, and why, if it does not start at once; it is given up after queue_us. When a claim is
 * given the core is told when it ends. A component that is still there when the limit is over loses
 * its processors. The queue is asked who may start once all else at an instant has happened, and
 * again after each pass of the policies. */
#include "sim/internal.h"

/* ---- the clock of its queue ---- */

static int64_t next_other(const struct site *site)
{
    const struct pleat_other_jobs *others = &site->spec->others;
    return site->batch.next < others->count ? others->items[site->batch.next].submit_us
                                            : PLEAT_NEVER;
}

static int64_t next_change(const struct site *site)
{
    int64_t ends = queue_next(&site->batch.queue), comes = next_other(site);
    return ends < comes ? ends : comes;
}

static int set_next(struct sim *sim, uint32_t index)
{
    struct site *site = &sim->sites[index];
    int64_t next_us = next_change(site);
    if (next_us < PLEAT_NEVER)
        return set_timer(sim, TIMER_QUEUE, index, 0, next_us, &site->batch.timer);
    stop_timer(sim, &site->batch.timer);
    return 0;
}

/* ---- other users ---- */

static int others_come(struct sim *sim, struct site *site, int64_t now_us)
{
    const struct pleat_other_jobs *others = &site->spec->others;
    for (; next_other(site) <= now_us; site->batch.next++) {
        const struct pleat_other_job *other = &others->items[site->batch.next];
        struct queue_job job = {.limit_us = other->limit_us,
                                .run_us = other->run_us,
                                .count = other->processors,
                                .owner = QUEUE_OTHERS};
        site->batch.changed = true;
        if (queue_add(&site->batch.queue, &job))
            return nomem(sim);
    }
    return 0;
}

int batch_comes(struct sim *sim, uint32_t index, int32_t processors, int64_t run_us)
{
    struct site *site = &sim->sites[index];
    double limit_us = (double)run_us * site->spec->load_estimate;
    struct queue_job job = {.limit_us = limit_us < 1e18 ? (int64_t)limit_us : LATEST_US,
                            .run_us = run_us,
                            .count = processors,
                            .owner = QUEUE_OTHERS};
    if (site->batch.queue.waiting.count >= QUEUE_MOST)
        return 0;
    site->batch.changed = true;
    return queue_add(&site->batch.queue, &job) ? nomem(sim) : 0;
}

/* Other users' jobs that are done by then end. */
static void others_go(struct site *site, int64_t now_us)
{
    struct queue *queue = &site->batch.queue;
    for (size_t i = queue->running.count; i-- > 0;) {
        const struct queue_job *job = &queue->running.items[i];
        if (job->owner != QUEUE_OTHERS || job->done_us > now_us)
            continue;
        site->local -= job->count;
        site->batch.changed = true;
        queue_end(queue, i);
    }
}

/* What happened among other users before Pleat was there. */
static int catch_up(struct sim *sim, struct site *site)
{
    struct queue *queue = &site->batch.queue;
    int64_t at_us;
    int rc = 0;
    while (!rc && (at_us = next_change(site)) < sim->now_us) {
        size_t next;
        others_go(site, at_us);
        rc = others_come(sim, site, at_us);
        while (!rc && (next = queue_pick(queue, site_up(site), at_us)) != SIZE_MAX) {
            const struct queue_job *job = queue_start(queue, next, at_us);
            if (!job)
                return nomem(sim);
            site->local += job->count;
        }
    }
    return rc;
}

/* ---- allocations ---- */

int batch_claim(struct sim *sim, uint32_t index, uint32_t claim, uint64_t id)
{
    struct site *site = &sim->sites[index];
    const struct pleat_claim *wanted = pleat_core_claim(sim->core, claim);
    struct claim_timer *record = allocation_record(sim, claim);
    if (!record)
        return nomem(sim);
    uint32_t allocation, host = PLEAT_NONE;
    int32_t count;
    if (allocation_beside(sim, index, wanted, &allocation, &count))
        return nomem(sim);
    if (allocation == PLEAT_NONE && count == 0 && allocation_host(sim, wanted, &host, &count))
        return nomem(sim);
    if (allocation != PLEAT_NONE) {
        struct allocation *one = &site->batch.allocations.items[allocation];
        one->spare -= count;
        one->claims++;
        record->allocation = allocation;
    }
    if (allocation != PLEAT_NONE || count == 0)
        return site_claimed_some(sim, claim, id, count);
    struct allocation *one = allocation_new(sim, index, &allocation);
    int64_t limit_us = site->spec->limit_us > 0 ? site->spec->limit_us : PLEAT_NEVER;
    struct queue_job job = {
        .limit_us = limit_us, .run_us = PLEAT_NEVER, .count = count, .owner = allocation};
    if (!one || queue_add(&site->batch.queue, &job))
        return nomem(sim);
    *one = (struct allocation){.claim = id,
                               .index = claim,
                               .claims = 1,
                               .count = count,
                               .host = host,
                               .until_us = sim->now_us + site->spec->queue_us,
                               .asked_us = sim->now_us};
    record->allocation = allocation;
    site->batch.changed = true;
    return 0;
}

/* ---- what the core is told ---- */

static int tell_wait(struct sim *sim, struct allocation *one, enum pleat_claim_wait reason,
                     int64_t expected_us, int64_t until_us)
{
    if (one->waits == reason && one->expected_us == expected_us)
        return 0;
    one->waits = (uint8_t)reason;
    one->expected_us = expected_us;
    struct pleat_event event = {.time_us = sim->now_us,
                                .kind = PLEAT_EV_CLAIM_WAITS,
                                .component = one->index,
                                .u.waits = {.claim = one->claim,
                                            .until_us = until_us,
                                            .expected_us = expected_us,
                                            .reason = reason}};
    return input(sim, &event);
}

/* Tells all that still wait why they do. */
static int tell_waits(struct sim *sim, struct site *site)
{
    const struct queue *queue = &site->batch.queue;
    int rc = 0;
    for (size_t i = 0, left = queue->own_waiting; !rc && left > 0; i++) {
        uint32_t owner = queue->waiting.items[i].owner;
        if (owner == QUEUE_OTHERS)
            continue;
        left--;
        struct allocation *one = &site->batch.allocations.items[owner];
        int64_t at_us = i == 0 ? queue_shadow(queue, site_up(site)).at_us : PLEAT_NEVER;
        rc = tell_wait(sim, one, i == 0 ? PLEAT_WAIT_RESOURCES : PLEAT_WAIT_TURN,
                       at_us < PLEAT_NEVER ? at_us : 0, one->until_us);
    }
    return rc;
}

/* An allocation is given: its agent is started, which takes the site's time for claims. */
static int given(struct sim *sim, struct site *site, const struct queue_job *job)
{
    struct allocation *one = &site->batch.allocations.items[job->owner];
    int64_t delay_us = site_delay(site, &site->spec->claim);
    int64_t half_us = site->spec->limit_us / 2;
    one->held = true;
    one->leave_us =
        job->ends_us < PLEAT_NEVER
            ? job->ends_us - (site->spec->leave_us < half_us ? site->spec->leave_us : half_us)
            : PLEAT_NEVER;
    sim->totals->allocations++;
    sim->totals->queued_us += (double)(sim->now_us - one->asked_us);
    if (delay_us == 0)
        return site_claimed(sim, one->index, one->claim);
    int64_t agent_us = pleat_core_parameter(sim->core, PLEAT_PARAM_CLAIM_US);
    uint32_t claim = one->index;
    uint64_t id = one->claim;
    int rc = one->waits ? tell_wait(sim, one, PLEAT_WAIT_AGENTS, 0, sim->now_us + agent_us) : 0;
    return rc ? rc : site_claim_timer(sim, TIMER_CLAIM, claim, id, delay_us);
}

bool batch_is_asked(const struct sim *sim)
{
    for (uint32_t s = 0; s < sim->site_count; s++)
        if (sim->sites[s].spec->queue != PLEAT_QUEUE_NONE && sim->sites[s].present &&
            sim->sites[s].batch.changed)
            return true;
    return false;
}

int batch_serve(struct sim *sim, uint32_t index)
{
    struct site *site = &sim->sites[index];
    struct queue *queue = &site->batch.queue;
    size_t next;
    int rc = 0;
    if (!site->batch.changed)
        return 0;
    site->batch.changed = false;
    while (!rc && (next = queue_pick(queue, site_up(site), sim->now_us)) != SIZE_MAX) {
        const struct queue_job *job = queue_start(queue, next, sim->now_us);
        if (!job)
            return nomem(sim);
        if (job->owner != QUEUE_OTHERS) {
            rc = given(sim, site, job);
            continue;
        }
        site_count(sim, site);
        site->local += job->count;
    }
    if (!rc)
        rc = tell_waits(sim, site);
    return rc ? rc : set_next(sim, index);
}

/* ---- what ends ---- */

/* The limit of an allocation is over: all claims in it are lost. */
static int take_away(struct sim *sim, uint32_t site, uint32_t allocation)
{
    int rc = 0;
    allocation_leave_queue(&sim->sites[site], allocation);
    sim->totals->expired++;
    for (uint32_t c = 0; !rc && c < sim->claims.count; c++)
        if (pleat_core_claim(sim->core, c)->site == site &&
            sim->claims.items[c].allocation == allocation)
            rc = site_lose(sim, c);
    return rc;
}

int batch_timer(struct sim *sim, uint32_t index)
{
    struct site *site = &sim->sites[index];
    struct queue *queue = &site->batch.queue;
    int rc = 0;
    site_count(sim, site);
    others_go(site, sim->now_us);
    for (size_t i = 0; !rc && i < queue->running.count;) {
        const struct queue_job *job = &queue->running.items[i++];
        if (job->done_us > sim->now_us)
            continue;
        rc = take_away(sim, index, job->owner);
        i = 0; /* other allocations may have ended with it */
    }
    if (!rc)
        rc = others_come(sim, site, sim->now_us);
    return rc ? rc : set_next(sim, index);
}

void batch_strike(struct sim *sim, uint32_t index, int64_t first, int64_t end)
{
    struct site *site = &sim->sites[index];
    struct queue *queue = &site->batch.queue;
    int64_t at = 0;
    for (uint32_t c = 0; c < pleat_core_claim_count(sim->core); c++) {
        const struct pleat_claim *claim = pleat_core_claim(sim->core, c);
        if (claim->state != PLEAT_CLAIM_FREE && claim->site == index && allocation_holds(sim, c))
            at += claim->count;
    }
    for (size_t i = 0; i < queue->running.count;) {
        const struct queue_job *job = &queue->running.items[i];
        int64_t from = at;
        at += job->owner == QUEUE_OTHERS ? job->count : 0;
        if (job->owner != QUEUE_OTHERS || at <= first || from >= end) {
            i++;
            continue;
        }
        site->local -= job->count;
        queue_end(queue, i);
    }
    site->batch.changed = true;
}

/* ---- from beginning to end ---- */

int batch_begin(struct sim *sim, uint32_t index)
{
    struct site *site = &sim->sites[index];
    site->batch.queue.backfills = site->spec->queue == PLEAT_QUEUE_EASY;
    site->batch.changed = true;
    int rc = catch_up(sim, site);
    return rc ? rc : set_next(sim, index);
}

void batch_end(struct sim *sim, uint32_t index)
{
    struct batch *batch = &sim->sites[index].batch;
    for (size_t i = batch->queue.running.count; i-- > 0;)
        if (batch->queue.running.items[i].owner == QUEUE_OTHERS)
            queue_end(&batch->queue, i);
    for (size_t i = batch->queue.waiting.count; i-- > 0;)
        if (batch->queue.waiting.items[i].owner == QUEUE_OTHERS)
            queue_drop(&batch->queue, i);
    sim->sites[index].local = 0;
    batch->next = sim->sites[index].spec->others.count;
    stop_timer(sim, &batch->timer);
}

void batch_destroy(struct batch *batch)
{
    queue_finish(&batch->queue);
    pleat_array_finish(&batch->allocations);
    pleat_array_finish(&batch->nodes);
}
