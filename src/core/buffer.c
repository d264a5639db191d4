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
#include "core/outpost.h"
#include "core/state.h"
#include "core/tally.h"
#include "core/tell.h"
#include "core/transition.h"

static const struct pleat_buffer fresh = {
    .component = PLEAT_NONE,
    .previous = PLEAT_NONE,
    .next = PLEAT_NONE,
    .due_previous = PLEAT_NONE,
    .due_next = PLEAT_NONE,
    .deadline = PLEAT_HEAP_NONE,
    .pause = PLEAT_HEAP_NONE,
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
    core->view.prepares |= (component_at(core, component)->flags & PLEAT_COMPONENT_PREPARES) != 0;
    return 0;
}

void buffer_close(struct pleat_core *core, uint32_t component)
{
    uint32_t index = component_at(core, component)->buffer;
    outposts_drop(core, index);
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

void buffer_reviewed(struct pleat_core *core, uint32_t index)
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
        buffer_reviewed(core, index);
}

void buffers_review(struct pleat_core *core)
{
    for (uint32_t i = 0; i < core->buffers.count; i++) {
        uint32_t component = buffer_at(core, i)->component;
        if (component != PLEAT_NONE && is_running(component_at(core, component)))
            review_anew(core, i);
    }
}

void buffer_review(struct pleat_core *core, uint32_t component)
{
    const struct pleat_component *comp = component_at(core, component);
    if (is_running(comp))
        review_anew(core, comp->buffer);
}

void on_buffer_deadline(struct pleat_core *core, uint32_t index)
{
    buffer_due(core, index);
}

struct pleat_buffer *buffer_of_run(struct pleat_core *core, uint32_t component, uint64_t run)
{
    const struct pleat_component *comp = component_at(core, component);
    return comp->buffer != PLEAT_NONE && is_running(comp) && comp->run == run
               ? buffer_at(core, comp->buffer)
               : NULL;
}

void buffer_advance(struct pleat_core *core, struct pleat_buffer *buffer, int32_t iteration)
{
    if (iteration > buffer->iteration)
        buffer->iteration = iteration;
    if (buffer->iteration >= buffer->review_iteration)
        buffer_due(core, component_at(core, buffer->component)->buffer);
}

void buffer_asked(const struct pleat_core *core, struct pleat_buffer *buffer, uint32_t requests)
{
    if (buffer->row == 0 || now_of(core) - buffer->row_us >= core->view.buffer_review_us) {
        buffer->row = 0;
        buffer->row_us = now_of(core);
    }
    buffer->row = requests < UINT32_MAX - buffer->row ? buffer->row + requests : UINT32_MAX;
    if (buffer->row > buffer->row_most)
        buffer->row_most = buffer->row;
}

void buffer_returned(struct pleat_buffer *buffer)
{
    buffer->returning -= buffer->returning > 0;
}

/* ---- running ---- */

void buffer_count_time(struct pleat_core *core, uint32_t component)
{
    const struct pleat_component *comp = component_at(core, component);
    struct pleat_buffer *buffer = buffer_at(core, comp->buffer);
    int64_t us = now_of(core) - buffer->counted_us;
    int32_t idle = buffer->prepared + buffer->preparing + buffer->leaving;
    buffer->counted_us = now_of(core);
    if (!prepares(comp)) {
        buffer->waited_us += idle * us;
    } else if (is_running(comp)) {
        buffer->waited_us += idle * us;
        buffer->held_us += (comp->processors + idle) * us;
    }
}

/* The same for the site of the claim, where that is not its component's. */
static void count_at(struct pleat_core *core, const struct pleat_claim *claim, int32_t sign)
{
    struct pleat_outpost *outpost =
        outpost_at(core, outpost_of(core, claim->component, claim->site));
    bool held = claim->state == PLEAT_CLAIM_HELD;
    bool preparing = held && claim->process == PLEAT_KEPT_PREPARING;
    outpost->requested += !held || preparing ? sign : 0;
    outpost->preparing += preparing ? sign : 0;
    if (held && claim->process == PLEAT_KEPT_UNPREPARING)
        outpost->leaving += sign;
    else if (held && !preparing)
        outpost->prepared += sign;
}

/* A claim in the buffer's list counts there, or not any more (sign -1), as what it is. */
static void count(struct pleat_core *core, const struct pleat_claim *claim, int32_t sign)
{
    const struct pleat_component *component = component_at(core, claim->component);
    struct pleat_buffer *buffer = buffer_at(core, component->buffer);
    bool held = claim->state == PLEAT_CLAIM_HELD;
    buffer_count_time(core, claim->component);
    if (claim->site != component->site)
        count_at(core, claim, sign);
    if (!held || claim->process == PLEAT_KEPT_PREPARING)
        buffer->requested += sign;
    if (!held)
        return;
    if (claim->process == PLEAT_KEPT_PREPARING) {
        buffer->preparing += sign;
    } else if (claim->process == PLEAT_KEPT_UNPREPARING) {
        buffer->leaving += sign;
        site_at(core, claim->site)->coming += sign;
    } else {
        buffer->prepared += sign;
        if (is_running(component))
            site_at(core, claim->site)->buffered += sign;
    }
}

void component_sized_itself(struct pleat_core *core, uint32_t component, int32_t more)
{
    struct pleat_component *comp = component_at(core, component);
    buffer_count_time(core, component);
    tally_out(core, component);
    comp->processors += more;
    comp->processes += more;
    comp->target += more;
    if (more < 0 && prepares(comp)) /* that was not refused: the process is gone already */
        comp->below = 1;
    comp->below = is_below(core, comp);
    tally_in(core, component);
    core->wants_pass |= comp->kind == PLEAT_MALLEABLE;
    struct pleat_effect *note = emit_note(core, PLEAT_NOTE_SIZE, component, comp->run);
    if (note)
        note->u.run.processors = note->u.run.processes = comp->processors;
}

struct pause buffer_pause_of(struct pleat_core *core, uint32_t component, uint32_t site)
{
    uint32_t index = component_at(core, component)->buffer;
    uint32_t there = outpost_of(core, component, site);
    if (there != PLEAT_NONE) {
        struct pleat_outpost *outpost = outpost_at(core, there);
        return (struct pause){&outpost->quiet_until_us, &outpost->failures, &outpost->pause,
                              DEADLINE_OUTPOST, there};
    }
    struct pleat_buffer *buffer = buffer_at(core, index);
    return (struct pause){&buffer->quiet_until_us, &buffer->failures, &buffer->pause,
                          DEADLINE_PREPARE, index};
}

void buffer_failed(struct pleat_core *core, uint32_t component, uint32_t site)
{
    const struct pause pause = buffer_pause_of(core, component, site);
    int64_t us = core->parameters[PLEAT_PARAM_BACKOFF_US];
    int64_t most_us = core->parameters[PLEAT_PARAM_PAUSE_MAX_US];
    if (!is_running(component_at(core, component)) || *pause.quiet_until_us > now_of(core))
        return; /* it was begun before the present pause */
    for (uint32_t i = 0; i < *pause.failures && us < most_us; i++)
        us *= 2;
    *pause.failures += *pause.failures < UINT32_MAX;
    *pause.quiet_until_us = now_of(core) + (us < most_us ? us : most_us);
    arm(core, pause.deadline, pause.kind, pause.index, *pause.quiet_until_us);
}

/* What was asked for requests that wait no longer is for nobody; what is gone was, if nothing else
 * is left, theirs. */
static void settle(struct pleat_buffer *buffer)
{
    uint32_t stock = (uint32_t)(buffer->prepared + buffer->requested);
    uint32_t most = buffer->waiting < stock ? buffer->waiting : stock;
    if (buffer->own > most)
        buffer->own = most;
}

void buffer_waits(struct pleat_buffer *buffer, uint32_t requests)
{
    buffer->waiting = requests;
    settle(buffer);
}

void buffer_serve(struct pleat_buffer *buffer, int32_t processes)
{
    buffer->own += (uint32_t)processes;
    settle(buffer);
}

void buffer_set_process(struct pleat_core *core, uint32_t claim, enum pleat_kept_state state)
{
    const struct pleat_component *component = component_at(core, claim_at(core, claim)->component);
    count(core, claim_at(core, claim), -1);
    claim_at(core, claim)->process = (uint8_t)state;
    count(core, claim_at(core, claim), 1);
    settle(buffer_at(core, component->buffer));
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
    buffer->iteration_us = buffer->waited_us = buffer->held_us = 0;
    buffer->counted_us = now_of(core);
    buffer->requests = buffer->satisfied = buffer->waiting = buffer->failures = 0;
    buffer->anywhere = buffer->own = 0;
    buffer->row = buffer->again = buffer->reclaimed = 0;
    memset(buffer->waiting_on, 0, sizeof(buffer->waiting_on));
    buffer->architecture = buffer->returning = 0;
    buffer->quiet_until_us = 0;
    review_anew(core, comp->buffer);
}

void buffer_leave(struct pleat_core *core, uint32_t component)
{
    const struct pleat_component *comp = component_at(core, component);
    struct pleat_buffer *buffer = buffer_at(core, comp->buffer);
    struct pleat_site *site = site_at(core, comp->site);
    buffer_count_time(core, component);
    site->buffered -= pleat_view_prepared_at(&core->view, buffer, comp->site);
    outposts_rest(core, component);
    if (buffer->previous != PLEAT_NONE)
        buffer_at(core, buffer->previous)->next = buffer->next;
    else
        site->buffers_first = buffer->next;
    if (buffer->next != PLEAT_NONE)
        buffer_at(core, buffer->next)->previous = buffer->previous;
    buffer->previous = buffer->next = PLEAT_NONE;
    buffer_reviewed(core, comp->buffer);
    disarm(core, &buffer->deadline);
    disarm(core, &buffer->pause);
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
    count(core, c, 1);
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
    count(core, c, -1);
    settle(buffer);
}

void buffer_place(struct pleat_core *core, uint32_t component, uint32_t site, int32_t count,
                  uint32_t architecture)
{
    for (int32_t i = 0; i < count; i++) {
        uint32_t claim = claim_request(core, component, site, 1, PLEAT_FOR_BUFFER);
        if (claim == PLEAT_NONE)
            return;
        if (claim_at(core, claim)->state == PLEAT_CLAIM_REQUESTED)
            claim_at(core, claim)->architecture = (uint8_t)architecture;
        buffer_link(core, claim);
    }
}

void buffer_prepare(struct pleat_core *core, uint32_t claim)
{
    buffer_set_process(core, claim, PLEAT_KEPT_PREPARING);
    process_effect(core, claim);
}

void buffer_give_back(struct pleat_core *core, uint32_t claim)
{
    const struct pleat_claim *c = claim_at(core, claim);
    if (c->state == PLEAT_CLAIM_HELD && c->process != PLEAT_KEPT_NONE) {
        buffer_set_process(core, claim, PLEAT_KEPT_UNPREPARING);
        process_effect(core, claim);
        return;
    }
    buffer_unlink(core, claim);
    claim_release(core, claim);
}

void buffer_allocated(struct pleat_core *core, uint32_t claim)
{
    const struct pleat_claim *c = claim_at(core, claim);
    struct pleat_site *site = site_at(core, c->site);
    int64_t us = now_of(core) - c->asked_us;
    if (us > site->slowest_claim_us)
        site->slowest_claim_us = us;
    if (!(core->needs & PLEAT_NEEDS_ALLOCATIONS) || site->allocation_count == UINT32_MAX)
        return;
    site->allocation_count++;
    double from_mean = (double)us - site->allocation_us;
    site->allocation_us += from_mean / site->allocation_count;
    site->allocation_squares += from_mean * ((double)us - site->allocation_us);
}

/* Its site chose a node whose architecture is another than that which it was to have. */
static bool is_misplaced(const struct pleat_core *core, uint32_t claim, uint32_t architecture)
{
    uint32_t has = pleat_view_claim_architecture(&core->view, &core->claims.items[claim]);
    return architecture > 0 && has > 0 && has != architecture;
}

int buffer_claimed(struct pleat_core *core, uint32_t claim, bool waited, uint32_t architecture)
{
    struct pleat_claim *c = claim_at(core, claim);
    const struct pleat_component *comp = component_at(core, c->component);
    uint32_t there = outpost_of(core, c->component, c->site);
    buffer_at(core, comp->buffer)->requested--;
    if (there != PLEAT_NONE)
        outpost_at(core, there)->requested--;
    count(core, c, 1);
    if (!prepares(comp)) {
        if (!waited)
            buffer_allocated(core, claim);
        return 0;
    }
    if (waited) /* in its site's queue: that is no measure of the site */
        c->asked_us = now_of(core);
    bool misplaced = is_misplaced(core, claim, architecture);
    if (misplaced) { /* the next one may be there, too: not at once */
        buffer_failed(core, c->component, c->site);
        core->wants_pass = true;
    }
    if (is_running(comp) && !misplaced)
        buffer_prepare(core, claim);
    else
        buffer_give_back(core, claim); /* no process is there: none is started any more */
    return 0;
}

void buffer_lost(struct pleat_core *core, uint32_t claim)
{
    buffer_unlink(core, claim);
    claim_free(core, claim);
}
