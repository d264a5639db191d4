/* Events of sites about claims: claimed, failed, released, lost. */
#include "core/buffer.h"
#include "core/claiming.h"
#include "core/claims.h"
#include "core/deadlines.h"
#include "core/ending.h"
#include "core/errors.h"
#include "core/handlers.h"
#include "core/process_leave.h"
#include "core/resize.h"
#include "core/resize_events.h"
#include "core/state.h"
#include "core/terms.h"

int on_claimed(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    (void)err;
    uint32_t claim = claim_find(core, event);
    if (claim == PLEAT_NONE || claim_at(core, claim)->state != PLEAT_CLAIM_REQUESTED)
        /* the answer crossed the release of the claim, which will be answered, too */
        return PLEAT_CORE_STALE;
    struct pleat_claim *c = claim_at(core, claim);
    int32_t count = event->u.claim.count;
    if (count < 1 || count > c->count)
        return PLEAT_CORE_STALE;
    int32_t missing = c->count - count;
    site_at(core, c->site)->claimed -= missing;
    c->count = count;
    c->state = PLEAT_CLAIM_HELD;
    c->until_us = c->expected_us = 0;
    const uint32_t architecture = c->purpose == PLEAT_FOR_BUFFER ? c->architecture : 0;
    c->lent = 0;
    bool waited = c->waits != PLEAT_WAIT_NOT;
    c->waits = PLEAT_WAIT_NOT;
    claim_note(core, claim);
    uint32_t component = c->component;
    if (c->purpose == PLEAT_FOR_BUFFER)
        return buffer_claimed(core, claim, waited, architecture);
    if (!waited && now_of(core) - c->asked_us > site_at(core, c->site)->slowest_claim_us)
        site_at(core, c->site)->slowest_claim_us = now_of(core) - c->asked_us;
    if (c->purpose == PLEAT_FOR_GROWTH) {
        resize_claimed(core, component_at(core, component)->resize);
    } else {
        component_at(core, component)->start_claim = PLEAT_NONE;
        claim_link(core, claim);
        component_claimed(core, component);
    }
    return 0;
}

/* The deadline of whoever waits for the claim is the site's. */
static void wait_until(struct pleat_core *core, uint32_t claim, int64_t until_us)
{
    const struct pleat_claim *c = claim_at(core, claim);
    struct pleat_component *comp = component_at(core, c->component);
    if (c->purpose == PLEAT_FOR_GROWTH)
        arm(core, &resize_at(core, comp->resize)->deadline, DEADLINE_RESIZE, comp->resize,
            until_us);
    else if (c->purpose == PLEAT_FOR_RUN && comp->start_claim == claim)
        arm(core, &comp->deadline, DEADLINE_COMPONENT, c->component, until_us);
}

int on_claim_waits(struct pleat_core *core, const struct pleat_event *event,
                   struct pleat_error *err)
{
    (void)err;
    uint32_t claim = claim_find(core, event), reason = event->u.waits.reason;
    int64_t until_us = event->u.waits.until_us, expected_us = event->u.waits.expected_us;
    if (claim == PLEAT_NONE || claim_at(core, claim)->state != PLEAT_CLAIM_REQUESTED)
        return PLEAT_CORE_STALE;
    struct pleat_claim *c = claim_at(core, claim);
    if (until_us <= 0)
        until_us = c->until_us;
    if (reason == PLEAT_WAIT_NOT || reason >= PLEAT_WAIT_COUNT)
        reason = PLEAT_WAIT_OTHER;
    if (c->waits == reason && c->until_us == until_us && c->expected_us == expected_us)
        return PLEAT_CORE_STALE;
    c->waits = (uint8_t)reason;
    c->expected_us = expected_us;
    if (until_us != c->until_us)
        wait_until(core, claim, until_us);
    c->until_us = until_us;
    return 0;
}

/* Processors of a component are taken from it: a growth that waits for its site is given up, since
 * it cannot leave them before that is over. */
static void give_up_growth(struct pleat_core *core, const struct pleat_component *comp)
{
    if (comp->state == PLEAT_RESIZING && comp->target > comp->processors &&
        resize_at(core, comp->resize)->step < PLEAT_RESIZE_GRANTED)
        resize_end(core, comp->resize, PLEAT_OUTCOME_LOST);
}

int on_claim_ends(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    (void)err;
    uint32_t claim = claim_find(core, event);
    int64_t end_us = event->u.ends.end_us > 0 ? event->u.ends.end_us : 0;
    if (claim == PLEAT_NONE || claim_at(core, claim)->state != PLEAT_CLAIM_HELD)
        return PLEAT_CORE_STALE;
    struct pleat_claim *c = claim_at(core, claim);
    bool is_taken = c->lent & PLEAT_LENT_TAKEN;
    bool taken = event->u.ends.reason == PLEAT_REASON_TAKEN && end_us > 0;
    if ((c->until_us == end_us && is_taken == taken) || end_us > PLEAT_NEVER / 4)
        return PLEAT_CORE_STALE;
    c->until_us = end_us;
    c->lent = (uint8_t)((c->lent & PLEAT_LENT_LEAVES) | (taken ? PLEAT_LENT_TAKEN : 0));
    const struct pleat_component *comp = component_at(core, c->component);
    if (taken && c->purpose == PLEAT_FOR_GROWTH)
        resize_without_claim(core, comp->resize);
    if (taken)
        give_up_growth(core, comp);
    processes_leave(core, c->component);
    if (comp->state == PLEAT_RUNNING || comp->state == PLEAT_RESIZING)
        running_arm(core, c->component);
    resize_off_lent(core, c->component);
    return 0;
}

int on_claim_failed(struct pleat_core *core, const struct pleat_event *event,
                    struct pleat_error *err)
{
    (void)err;
    uint32_t claim = claim_find(core, event);
    if (claim == PLEAT_NONE || claim_at(core, claim)->state != PLEAT_CLAIM_REQUESTED)
        return PLEAT_CORE_STALE;
    struct pleat_claim *c = claim_at(core, claim);
    uint32_t component = c->component;
    bool growth = c->purpose == PLEAT_FOR_GROWTH;
    if (event->u.claim.reason == PLEAT_REASON_CLAIM_FAILED)
        site_error(core, c->site);
    if (!component_would_be_smaller(core, component, (enum pleat_reason)event->u.claim.reason))
        site_at(core, c->site)->quiet_until_us =
            now_of(core) + core->parameters[PLEAT_PARAM_BACKOFF_US];
    core->wants_pass = true;
    if (c->purpose == PLEAT_FOR_BUFFER) { /* the application asks again */
        buffer_lost(core, claim);
        return 0;
    }
    claim_free(core, claim);
    if (growth) {
        resize_at(core, component_at(core, component)->resize)->claim = PLEAT_NONE;
        resize_claim_failed(core, component_at(core, component)->resize);
    } else {
        component_at(core, component)->start_claim = PLEAT_NONE;
        component_claim_failed(core, component, (enum pleat_reason)event->u.claim.reason);
    }
    return 0;
}

int on_released(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    (void)err;
    uint32_t claim = claim_find(core, event);
    if (claim == PLEAT_NONE || claim_at(core, claim)->state != PLEAT_CLAIM_RELEASING)
        return PLEAT_CORE_STALE;
    const struct pleat_claim *c = claim_at(core, claim);
    uint32_t component = c->component;
    claim_free(core, claim);
    component_settle(core, component);
    core->wants_pass = true;
    return 0;
}

/* The processors of a claim are lost. This counts as an error of the site, and of the claim's node
 * where that is a single one. */
static void lost_error(struct pleat_core *core, const struct pleat_claim *claim)
{
    uint32_t node = PLEAT_NONE;
    bool one = claim->first_piece != PLEAT_NONE;
    for (uint32_t p = claim->first_piece; p != PLEAT_NONE; p = core->pieces.items[p].next) {
        one = one && (node == PLEAT_NONE || core->pieces.items[p].node == node);
        node = core->pieces.items[p].node;
    }
    if (one)
        node_error(core, claim->site, node);
    else
        site_error(core, claim->site);
}

static void drop(struct pleat_core *core, uint32_t claim)
{
    claim_unlink(core, claim);
    claim_free(core, claim);
}

/* Ends the growth whose claim is lost, if its application does not know of it yet; else returns
 * false: the growth's processes may run already, and the claim stays until the job's processes are
 * gone. */
static bool ends_untold_growth(struct pleat_core *core, uint32_t claim)
{
    uint32_t resize = component_at(core, claim_at(core, claim)->component)->resize;
    if (resize_at(core, resize)->step >= PLEAT_RESIZE_GRANTED)
        return false;
    resize_at(core, resize)->claim = PLEAT_NONE;
    claim_free(core, claim);
    resize_end(core, resize, PLEAT_OUTCOME_LOST);
    return true;
}

static void lost_earmark(struct pleat_core *core, uint32_t claim)
{
    uint32_t component = claim_at(core, claim)->component;
    struct pleat_component *comp = component_at(core, component);
    comp->earmarked -= claim_at(core, claim)->count;
    drop(core, claim);
    if (comp->earmarked == 0 && comp->coming == 0)
        earmarks_drop(core, component); /* nothing ties the component to that site any more */
}

/* Processors are lost that a component had for its processes, or was to have for them. */
static void lost_own(struct pleat_core *core, uint32_t claim)
{
    uint32_t component = claim_at(core, claim)->component;
    struct pleat_component *comp = component_at(core, component);
    if (comp->state == PLEAT_PLACED || comp->state == PLEAT_STAGING_IN) {
        drop(core, claim); /* its processors are claimed again with the rest */
        return;
    }
    if (comp->state == PLEAT_FINISHING && comp->exited) { /* it was to be kept */
        drop(core, claim);
        component_settle(core, component);
        return;
    }
    if (prepares(comp) && comp->state == PLEAT_RUNNING && claim != comp->first_claim) {
        /* processes that the application has added: it goes on without them */
        int32_t count = claim_at(core, claim)->count;
        drop(core, claim);
        component_sized_itself(core, component, -count);
        return;
    }
    claim_at(core, claim)->lent |= PLEAT_LENT_LOST;
    /* processes run, or were to run, on these processors: the job cannot go on as it is */
    if (comp->state == PLEAT_CLAIMING && !comp->starting) {
        drop(core, claim);
        component_claim_failed(core, component, PLEAT_REASON_LOST);
        return;
    }
    component_kill(core, component, PLEAT_REASON_LOST);
}

int on_lost(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    uint32_t claim = claim_find(core, event);
    if (claim == PLEAT_NONE)
        return PLEAT_CORE_STALE;
    const struct pleat_claim *c = claim_at(core, claim);
    core->wants_pass = true;
    /* processors lost while they were released count as released */
    if (c->state == PLEAT_CLAIM_RELEASING) {
        struct pleat_event released = *event;
        released.kind = PLEAT_EV_RELEASED;
        return on_released(core, &released, err);
    }
    if (c->state != PLEAT_CLAIM_REQUESTED)
        lost_error(core, c);
    if (c->purpose == PLEAT_FOR_GROWTH) {
        if (!ends_untold_growth(core, claim))
            lost_own(core, claim);
    } else if (c->state == PLEAT_CLAIM_REQUESTED) {
        struct pleat_event failed = *event;
        failed.kind = PLEAT_EV_CLAIM_FAILED;
        failed.u.claim.reason = PLEAT_REASON_CLAIM_FAILED;
        return on_claim_failed(core, &failed, err);
    } else if (c->purpose == PLEAT_FOR_BUFFER) {
        uint32_t component = c->component;
        buffer_lost(core, claim); /* the application never knew of this processor */
        component_settle(core, component);
    } else if (c->purpose == PLEAT_FOR_EARMARK) {
        lost_earmark(core, claim);
    } else {
        lost_own(core, claim);
    }
    return 0;
}
