/* What a policy decides about a buffer: how many prepared processes it is to get, and to give back;
 * and which of them go back. */
#include "core/buffer.h"
#include "core/claims.h"
#include "core/deadlines.h"
#include "core/handlers.h"
#include "core/outpost.h"
#include "core/state.h"
#include "core/tell.h"
#include "core/transition.h"

/* Whether the claim is one of the buffer's that are prepared; requested of the site; held, and
 * being prepared: 0, 1, 2. Others are on their way back: 3. */
static int stage_of(const struct pleat_claim *claim)
{
    if (claim->state == PLEAT_CLAIM_REQUESTED)
        return 1;
    if (claim->process == PLEAT_KEPT_PREPARING)
        return 2;
    return claim->process == PLEAT_KEPT_UNPREPARING ? 3 : 0;
}

/* Where claims are to be given back: PLEAT_NONE: anywhere. */
struct place {
    uint32_t site, node;
};

static const struct place anywhere = {PLEAT_NONE, PLEAT_NONE};

static bool is_on(const struct pleat_core *core, const struct pleat_claim *claim,
                  struct place place)
{
    if (place.site != PLEAT_NONE && claim->site != place.site)
        return false;
    return place.node == PLEAT_NONE || (claim->first_piece != PLEAT_NONE &&
                                        core->pieces.items[claim->first_piece].node == place.node);
}

/* Does a request wait for the site of the claim, or for a node of the architecture that the claim
 * has, or is to have? */
static bool is_awaited(const struct pleat_core *core, const struct pleat_buffer *buffer,
                       const struct pleat_claim *claim)
{
    uint32_t architecture = pleat_view_claim_architecture(&core->view, claim);
    const struct pleat_outpost *outpost = pleat_view_outpost(&core->view, buffer, claim->site);
    if (outpost)
        return outpost->waiting > 0;
    return architecture > 0 && buffer->waiting_on[architecture] > 0;
}

/* Gives back `wanted` claims of the buffer, those at a place or any: first those that are prepared,
 * then those that are requested, each from the end of the list; those for which requests wait that
 * need their architecture, or their site, come after all others. Returns how many these are. */
static int32_t release(struct pleat_core *core, uint32_t component, int32_t wanted,
                       struct place place)
{
    int32_t left = wanted;
    const struct pleat_buffer *buffer = buffer_at(core, component_at(core, component)->buffer);
    int rounds = pleat_view_waits_on(buffer) || buffer->outposts > 0 ? 6 : 3;
    for (int round = 0; round < rounds; round++) {
        int stage = round % 3;
        uint32_t previous;
        for (uint32_t c = buffer->last_claim; c != PLEAT_NONE && left > 0; c = previous) {
            previous = claim_at(core, c)->previous;
            core->operations++;
            if (stage_of(claim_at(core, c)) != stage || !is_on(core, claim_at(core, c), place) ||
                (round < 3 && is_awaited(core, buffer, claim_at(core, c))))
                continue;
            buffer_give_back(core, c);
            left--;
        }
    }
    return wanted - left;
}

void buffer_release_all(struct pleat_core *core, uint32_t component)
{
    const struct pleat_buffer *buffer = buffer_at(core, component_at(core, component)->buffer);
    /* those that are on their way back are asked for again: the run is over, and with it whoever
     * would have answered for them */
    for (uint32_t c = buffer->first_claim; c != PLEAT_NONE; c = claim_at(core, c)->next)
        if (stage_of(claim_at(core, c)) == 3)
            process_effect(core, c);
    (void)release(core, component, INT32_MAX, anywhere);
}

void buffer_trim(struct pleat_core *core, uint32_t component)
{
    const struct pleat_component *comp = component_at(core, component);
    int32_t most = pleat_view_limit(&core->view, comp);
    int32_t size = comp->target > comp->processors ? comp->target : comp->processors;
    int32_t room = most > size ? most - size : 0;
    int32_t above = pleat_view_buffered(&core->view, comp) - room;
    if (above > 0)
        (void)release(core, component, above, anywhere);
}

int on_buffer(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    uint32_t component = event->component;
    const struct pleat_component *comp = component_at(core, component);
    int32_t request = event->u.buffer.request, count = event->u.buffer.release;
    uint32_t waiter = event->u.buffer.waiter ? event->u.buffer.waiter - 1 : PLEAT_NONE;
    bool ok = comp->buffer != PLEAT_NONE && is_running(comp) &&
              event->u.buffer.architecture < PLEAT_ARCHITECTURES &&
              (waiter == PLEAT_NONE || waiter < core->components.count) && request >= 0 &&
              count >= 0 && request <= pleat_view_buffer_room(&core->view, comp);
    const uint32_t at = event->u.buffer.site ? event->u.buffer.site - 1 : comp->site;
    /* a component has outposts where it was said to have some */
    ok = ok && (at == comp->site || outpost_of(core, component, at) != PLEAT_NONE);
    if (ok && request > 0) {
        const struct pleat_site *site = site_at(core, at);
        bool fits = request <= pleat_view_site_unused(site) - pleat_view_site_left(site);
        if (!fits && core->overtaken) { /* the next pass knows what is left */
            core->wants_pass = true;
            return PLEAT_CORE_STALE;
        }
        ok = fits;
    }
    if (!ok)
        return pleat_error_set(
            err, PLEAT_E_STATE, "the buffer of job %llu (%s) cannot get %d processors and give %d",
            (unsigned long long)comp->job, pleat_component_state_name(comp->state), request, count);
    /* The decision of a review. A mandatory one makes room for a waiter, another is for requests
     * that wait: these leave the next review as it is. */
    if (!(event->flags & (PLEAT_MANDATORY | PLEAT_FOR_WAITING))) {
        struct pleat_buffer *buffer = buffer_at(core, comp->buffer);
        buffer_reviewed(core, comp->buffer);
        buffer->review_iteration = event->u.buffer.review_iteration;
        if (event->u.buffer.review_us < PLEAT_NEVER)
            arm(core, &buffer->deadline, DEADLINE_BUFFER, comp->buffer, event->u.buffer.review_us);
        else
            disarm(core, &buffer->deadline);
    }
    /* at most as many as the buffer has: a growth in this plan may have left fewer */
    const struct place place = {at, event->u.buffer.node ? event->u.buffer.node - 1 : PLEAT_NONE};
    int32_t released = release(core, component, count, place);
    if (released > 0 && waiter != PLEAT_NONE) {
        struct pleat_buffer *buffer = buffer_at(core, comp->buffer);
        buffer->reclaimed += (uint32_t)released;
        buffer->reclaimed_for = component_at(core, waiter)->job;
        buffer->reclaimed_us = now_of(core);
    }
    buffer_place(core, component, at, request, event->u.buffer.architecture);
    if (event->flags & PLEAT_FOR_WAITING && at == comp->site)
        buffer_serve(buffer_at(core, comp->buffer), request);
    return 0;
}
