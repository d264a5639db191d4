/* Buffers: processors with prepared processes, for components that ask for processes themselves
 * (Liu et al. 2009). A request is satisfied at once if a prepared process is there: its claim
 * changes its purpose. If none is there the request fails, and a processor is claimed for the
 * buffer and a later request.
 *
 * Each prepared process has a claim of its own. The claim is in the buffer's list from when it is
 * asked for until it is used or given back. Nobody waits for such a claim, so it has no deadline.
 * Claims that are still requested when the run ends are given back with the rest. */
#include <assert.h>
#include <string.h>

#include "core/buffer.h"
#include "core/claims.h"
#include "core/deadlines.h"
#include "core/effects.h"
#include "core/handlers.h"
#include "core/state.h"
#include "core/tally.h"
#include "core/transition.h"

static const struct pleat_buffer fresh = {
    .component = PLEAT_NONE,
    .previous = PLEAT_NONE,
    .next = PLEAT_NONE,
    .due_previous = PLEAT_NONE,
    .due_next = PLEAT_NONE,
    .deadline = PLEAT_HEAP_NONE,
    .first_claim = PLEAT_NONE,
    .last_claim = PLEAT_NONE,
    .review_iteration = INT32_MAX,
};

const struct pleat_buffer *buffer_fresh(void)
{
    return &fresh;
}

/* ---- life ---- */

int buffer_open(struct pleat_core *core, uint32_t component)
{
    uint32_t index = core->free_buffer;
    struct pleat_history none = {0};
    if (index != PLEAT_NONE) {
        core->free_buffer = buffer_at(core, index)->next;
    } else {
        if (pleat_array_reserve(&core->buffers, 1) || pleat_array_reserve(&core->histories, 1))
            return PLEAT_E_NOMEM;
        core->histories.items[core->histories.count++] = none;
        index = (uint32_t)core->buffers.count++;
        core->view.buffers = core->buffers.items; /* the arrays may have moved */
        core->view.histories = core->histories.items;
    }
    *buffer_at(core, index) = fresh;
    buffer_at(core, index)->component = component;
    component_at(core, component)->buffer = index;
    core->view.evolves = true;
    return 0;
}

void buffer_close(struct pleat_core *core, uint32_t component)
{
    uint32_t index = component_at(core, component)->buffer;
    *buffer_at(core, index) = fresh;
    buffer_at(core, index)->next = core->free_buffer;
    core->histories.items[index].count = 0;
    core->free_buffer = index;
    component_at(core, component)->buffer = PLEAT_NONE;
}

/* ---- reviews ---- */

void buffer_due(struct pleat_core *core, uint32_t index)
{
    struct pleat_buffer *buffer = buffer_at(core, index);
    if (buffer->due)
        return;
    buffer->due = 1;
    buffer->due_next = PLEAT_NONE;
    buffer->due_previous = core->reviews_last;
    if (core->reviews_last != PLEAT_NONE)
        buffer_at(core, core->reviews_last)->due_next = index;
    else
        core->view.reviews_first = index;
    core->reviews_last = index;
    core->wants_pass = true;
}

static void due_off(struct pleat_core *core, uint32_t index)
{
    struct pleat_buffer *buffer = buffer_at(core, index);
    if (!buffer->due)
        return;
    if (buffer->due_previous != PLEAT_NONE)
        buffer_at(core, buffer->due_previous)->due_next = buffer->due_next;
    else
        core->view.reviews_first = buffer->due_next;
    if (buffer->due_next != PLEAT_NONE)
        buffer_at(core, buffer->due_next)->due_previous = buffer->due_previous;
    else
        core->reviews_last = buffer->due_previous;
    buffer->due = 0;
    buffer->due_previous = buffer->due_next = PLEAT_NONE;
}

bool buffers_are_reviewed(const struct pleat_core *core)
{
    return core->pass.policies[PLEAT_BUFFER]->review != NULL;
}

/* The next review of the buffer is now; never, where the policy does not review buffers. */
static void review_anew(struct pleat_core *core, uint32_t index)
{
    struct pleat_buffer *buffer = buffer_at(core, index);
    disarm(core, &buffer->deadline);
    buffer->review_iteration = INT32_MAX;
    if (buffers_are_reviewed(core))
        buffer_due(core, index);
    else
        due_off(core, index);
}

void buffers_review(struct pleat_core *core)
{
    for (uint32_t i = 0; i < core->buffers.count; i++) {
        uint32_t component = buffer_at(core, i)->component;
        if (component != PLEAT_NONE && is_running(component_at(core, component)))
            review_anew(core, i);
    }
}

void on_buffer_deadline(struct pleat_core *core, uint32_t index)
{
    buffer_due(core, index);
}

/* ---- running ---- */

/* Adds up how long prepared processes have waited until now. Called before their number changes. */
static void count_waiting(struct pleat_core *core, struct pleat_buffer *buffer)
{
    buffer->waited_us += buffer->prepared * (now_of(core) - buffer->counted_us);
    buffer->counted_us = now_of(core);
}

static void hold(struct pleat_core *core, struct pleat_buffer *buffer, int32_t more)
{
    const struct pleat_component *component = component_at(core, buffer->component);
    count_waiting(core, buffer);
    buffer->prepared += more;
    if (is_running(component))
        site_at(core, component->site)->buffered += more;
}

void buffer_enter(struct pleat_core *core, uint32_t component)
{
    const struct pleat_component *comp = component_at(core, component);
    struct pleat_buffer *buffer = buffer_at(core, comp->buffer);
    struct pleat_site *site = site_at(core, comp->site);
    buffer->next = site->buffers_first;
    buffer->previous = PLEAT_NONE;
    if (buffer->next != PLEAT_NONE)
        buffer_at(core, buffer->next)->previous = comp->buffer;
    site->buffers_first = comp->buffer;
    buffer->iteration = 0;
    buffer->iteration_us = buffer->waited_us = 0;
    buffer->counted_us = now_of(core);
    buffer->requests = buffer->satisfied = 0;
    review_anew(core, comp->buffer);
}

void buffer_leave(struct pleat_core *core, uint32_t component)
{
    const struct pleat_component *comp = component_at(core, component);
    struct pleat_buffer *buffer = buffer_at(core, comp->buffer);
    struct pleat_site *site = site_at(core, comp->site);
    count_waiting(core, buffer);
    site->buffered -= buffer->prepared;
    if (buffer->previous != PLEAT_NONE)
        buffer_at(core, buffer->previous)->next = buffer->next;
    else
        site->buffers_first = buffer->next;
    if (buffer->next != PLEAT_NONE)
        buffer_at(core, buffer->next)->previous = buffer->previous;
    buffer->previous = buffer->next = PLEAT_NONE;
    due_off(core, comp->buffer);
    disarm(core, &buffer->deadline);
    buffer->review_iteration = INT32_MAX;
}

/* ---- claims ---- */

void buffer_link(struct pleat_core *core, uint32_t claim)
{
    struct pleat_claim *c = claim_at(core, claim);
    struct pleat_buffer *buffer = buffer_at(core, component_at(core, c->component)->buffer);
    c->previous = buffer->last_claim;
    c->next = PLEAT_NONE;
    if (c->previous != PLEAT_NONE)
        claim_at(core, c->previous)->next = claim;
    else
        buffer->first_claim = claim;
    buffer->last_claim = claim;
    if (c->state == PLEAT_CLAIM_HELD)
        hold(core, buffer, 1);
    else
        buffer->requested++;
}

void buffer_unlink(struct pleat_core *core, uint32_t claim)
{
    struct pleat_claim *c = claim_at(core, claim);
    struct pleat_buffer *buffer = buffer_at(core, component_at(core, c->component)->buffer);
    if (c->previous != PLEAT_NONE)
        claim_at(core, c->previous)->next = c->next;
    else
        buffer->first_claim = c->next;
    if (c->next != PLEAT_NONE)
        claim_at(core, c->next)->previous = c->previous;
    else
        buffer->last_claim = c->previous;
    c->previous = c->next = PLEAT_NONE;
    if (c->state == PLEAT_CLAIM_HELD)
        hold(core, buffer, -1);
    else
        buffer->requested--;
}

/* Asks for `count` prepared processes, with a claim for each. */
void buffer_place(struct pleat_core *core, uint32_t component, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        uint32_t claim = claim_request(core, component, component_at(core, component)->site, 1,
                                       PLEAT_FOR_BUFFER);
        if (claim == PLEAT_NONE)
            return;
        buffer_link(core, claim);
    }
}

static int32_t release_in_state(struct pleat_core *core, struct pleat_buffer *buffer,
                                enum pleat_claim_state state, int32_t count)
{
    uint32_t previous;
    for (uint32_t c = buffer->last_claim; c != PLEAT_NONE && count > 0; c = previous) {
        previous = claim_at(core, c)->previous;
        core->operations++;
        if (claim_at(core, c)->state != state)
            continue;
        buffer_unlink(core, c);
        claim_release(core, c);
        count--;
    }
    return count;
}

/* Gives back `count` claims of the buffer: first those that are held, then those that are
 * requested, each from the end of the list. */
static void release(struct pleat_core *core, uint32_t component, int32_t count)
{
    struct pleat_buffer *buffer = buffer_at(core, component_at(core, component)->buffer);
    count = release_in_state(core, buffer, PLEAT_CLAIM_HELD, count);
    (void)release_in_state(core, buffer, PLEAT_CLAIM_REQUESTED, count);
}

void buffer_release_all(struct pleat_core *core, uint32_t component)
{
    release(core, component, INT32_MAX);
}

void buffer_trim(struct pleat_core *core, uint32_t component)
{
    const struct pleat_component *comp = component_at(core, component);
    int32_t most = pleat_view_limit(&core->view, comp);
    int32_t size = comp->target > comp->processors ? comp->target : comp->processors;
    int32_t room = most > size ? most - size : 0;
    int32_t above = pleat_view_buffered(&core->view, comp) - room;
    if (above > 0)
        release(core, component, above);
}

int buffer_claimed(struct pleat_core *core, uint32_t claim)
{
    struct pleat_claim *c = claim_at(core, claim);
    struct pleat_buffer *buffer = buffer_at(core, component_at(core, c->component)->buffer);
    buffer->requested--;
    hold(core, buffer, 1);
    return 0;
}

void buffer_lost(struct pleat_core *core, uint32_t claim)
{
    buffer_unlink(core, claim);
    claim_free(core, claim);
}

/* ---- what a policy decides ---- */

int on_buffer(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    uint32_t component = event->component;
    const struct pleat_component *comp = component_at(core, component);
    int32_t request = event->u.buffer.request, count = event->u.buffer.release;
    bool ok = comp->buffer != PLEAT_NONE && is_running(comp) && request >= 0 && count >= 0 &&
              request <= pleat_view_buffer_room(&core->view, comp);
    if (ok && request > 0) {
        const struct pleat_site *site = site_at(core, comp->site);
        ok = request <= pleat_view_site_unused(site) - pleat_view_site_left(site);
    }
    if (!ok)
        return pleat_error_set(
            err, PLEAT_E_STATE, "the buffer of job %llu (%s) cannot get %d processors and give %d",
            (unsigned long long)comp->job, pleat_component_state_name(comp->state), request, count);
    /* The decision of a review. A mandatory one makes room for a waiter, and leaves the next review
     * as it is. */
    if (!(event->flags & PLEAT_MANDATORY)) {
        struct pleat_buffer *buffer = buffer_at(core, comp->buffer);
        due_off(core, comp->buffer);
        buffer->review_iteration = event->u.buffer.review_iteration;
        if (event->u.buffer.review_us < PLEAT_NEVER)
            arm(core, &buffer->deadline, DEADLINE_BUFFER, comp->buffer, event->u.buffer.review_us);
        else
            disarm(core, &buffer->deadline);
    }
    /* at most as many as the buffer has: a growth in this plan may have left fewer */
    release(core, component, count);
    buffer_place(core, component, request);
    return 0;
}
