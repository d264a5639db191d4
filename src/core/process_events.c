/* Events of applications that ask for processes themselves: their iterations, their requests, the
 * processes that they stop, and what earlier executions did. */
#include "core/buffer.h"
#include "core/claims.h"
#include "core/deadlines.h"
#include "core/effects.h"
#include "core/handlers.h"
#include "core/state.h"
#include "core/tally.h"
#include "core/transition.h"

/* The buffer of the component in the run that an event of its runner names. NULL: that run is over,
 * or the component does not ask for processes. */
static struct pleat_buffer *running_buffer(struct pleat_core *core, uint32_t component,
                                           uint64_t run)
{
    const struct pleat_component *comp = component_at(core, component);
    return comp->buffer != PLEAT_NONE && is_running(comp) && comp->run == run
               ? buffer_at(core, comp->buffer)
               : NULL;
}

static void advance(struct pleat_core *core, struct pleat_buffer *buffer, int32_t iteration)
{
    if (iteration > buffer->iteration)
        buffer->iteration = iteration;
    if (buffer->iteration >= buffer->review_iteration)
        buffer_due(core, component_at(core, buffer->component)->buffer);
}

int on_progress(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    (void)err;
    struct pleat_buffer *buffer = running_buffer(core, event->component, event->u.progress.run);
    int64_t iteration_us = event->u.progress.iteration_us;
    int32_t iteration = event->u.progress.iteration;
    if (!buffer || iteration < buffer->iteration || iteration_us < 0 ||
        iteration_us > PLEAT_NEVER / 4 ||
        (iteration == buffer->iteration && iteration_us == buffer->iteration_us))
        return PLEAT_CORE_STALE;
    buffer->iteration_us = iteration_us;
    advance(core, buffer, iteration);
    return 0;
}

/* The application has changed its size itself. This is no resize, and the expected end stays. */
static void resized_itself(struct pleat_core *core, uint32_t component, int32_t more)
{
    struct pleat_component *comp = component_at(core, component);
    tally_out(core, component);
    comp->processors += more;
    comp->processes += more;
    comp->target += more;
    comp->below = is_below(core, comp);
    tally_in(core, component);
    core->wants_pass |= comp->kind == PLEAT_MALLEABLE;
    struct pleat_effect *note = emit_note(core, PLEAT_NOTE_SIZE, component, comp->run);
    if (note)
        note->u.run.processors = note->u.run.processes = comp->processors;
}

/* Its site may take the processor back before anything else of the component is due: the deadline
 * is looked at by then (on_component_deadline). */
static void look_in_time(struct pleat_core *core, uint32_t component, uint32_t claim)
{
    struct pleat_component *comp = component_at(core, component);
    int64_t until_us = claim_at(core, claim)->until_us;
    if (until_us > 0 && (comp->deadline == PLEAT_HEAP_NONE ||
                         pleat_heap_time(&core->deadlines, comp->deadline) > until_us))
        arm(core, &comp->deadline, DEADLINE_COMPONENT, component, until_us);
}

/* The first prepared process in the buffer's list becomes one of the application's. */
static void use_prepared(struct pleat_core *core, uint32_t component)
{
    uint32_t claim = buffer_at(core, component_at(core, component)->buffer)->first_claim;
    while (claim_at(core, claim)->state != PLEAT_CLAIM_HELD)
        claim = claim_at(core, claim)->next;
    buffer_unlink(core, claim);
    claim_at(core, claim)->purpose = PLEAT_FOR_RUN;
    claim_link(core, claim);
    claim_note(core, claim);
    claim_effect(core, claim, PLEAT_DO_PROCESSES);
    look_in_time(core, component, claim);
    resized_itself(core, component, 1);
}

/* May one more processor be asked of the component's site now? */
static bool may_ask(const struct pleat_core *core, const struct pleat_component *component)
{
    const struct pleat_site *site = &core->sites.items[component->site];
    return pleat_view_buffer_room(&core->view, component) > 0 &&
           site->quiet_until_us <= now_of(core) &&
           pleat_view_site_unused(site) - pleat_view_site_left(site) > 0;
}

int on_add_process(struct pleat_core *core, const struct pleat_event *event,
                   struct pleat_error *err)
{
    (void)err;
    uint32_t component = event->component;
    const struct pleat_component *comp = component_at(core, component);
    struct pleat_buffer *buffer = running_buffer(core, component, event->u.process.run);
    if (!buffer)
        return PLEAT_CORE_STALE;
    advance(core, buffer, event->u.process.iteration);
    buffer->requests++;
    if (comp->state == PLEAT_RESIZING)
        return 0; /* a resize is under way: the application asks again after it */
    if (buffer->prepared > 0 && comp->processors < pleat_view_limit(&core->view, comp)) {
        buffer->satisfied++;
        use_prepared(core, component);
    } else if (may_ask(core, comp)) {
        buffer_place(core, component, 1);
    }
    return 0;
}

int on_stop_process(struct pleat_core *core, const struct pleat_event *event,
                    struct pleat_error *err)
{
    uint32_t component = event->component;
    struct pleat_component *comp = component_at(core, component);
    struct pleat_buffer *buffer = running_buffer(core, component, event->u.process.run);
    if (!buffer)
        return PLEAT_CORE_STALE;
    if (comp->state == PLEAT_RESIZING)
        return pleat_error_set(err, PLEAT_E_BUSY,
                               "it is in a resize (from %d to %d processors): try again when that "
                               "is over",
                               comp->processors, comp->target);
    if (comp->processors <= 1 || comp->processors <= comp->minimum)
        return pleat_error_set(err, PLEAT_E_STATE, "it has %d processors, and needs them",
                               comp->processors);
    advance(core, buffer, event->u.process.iteration);
    uint32_t claim = comp->last_claim;
    if (claim_at(core, claim)->count > 1)
        claim = claim_split(core, claim, 1);
    else
        claim_unlink(core, claim);
    if (claim == PLEAT_NONE)
        return PLEAT_E_NOMEM;
    resized_itself(core, component, -1);
    claim_at(core, claim)->purpose = PLEAT_FOR_BUFFER;
    if (buffers_are_reviewed(core)) {
        buffer_link(core, claim); /* the next review decides what becomes of the claim */
        claim_note(core, claim);
        buffer_trim(core, component); /* nothing is kept beyond the component's maximum */
    } else {
        claim_release(core, claim);
    }
    return 0;
}

int on_history(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    const struct pleat_component *component = component_at(core, event->component);
    uint32_t count = event->u.history.count;
    if (component->buffer == PLEAT_NONE)
        return pleat_error_set(err, PLEAT_E_STATE, "it does not ask for processes itself");
    struct pleat_history *history = &core->histories.items[component->buffer];
    if (event->u.history.executions < 1 || count > 5)
        return pleat_error_set(err, PLEAT_E_INVALID, "a history of %d executions, %u rows",
                               event->u.history.executions, count);
    for (uint32_t i = 0; i < count; i++) {
        int32_t before = i                ? event->u.history.rows[i - 1].iteration
                         : history->count ? history->items[history->count - 1].iteration
                                          : -1;
        if (event->u.history.rows[i].iteration <= before || event->u.history.rows[i].requests < 1)
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "the iterations of a history must increase, with at least one "
                                   "request each");
    }
    if (count > 0 && pleat_array_reserve(history, count))
        return PLEAT_E_NOMEM;
    for (uint32_t i = 0; i < count; i++) {
        history->items[history->count].iteration = event->u.history.rows[i].iteration;
        history->items[history->count++].requests = event->u.history.rows[i].requests;
    }
    buffer_at(core, component->buffer)->executions = event->u.history.executions;
    return 0;
}
