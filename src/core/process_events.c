/* Events of applications that ask for processes themselves: their iterations, their requests, the
 * processes that they stop, and what earlier executions did. */
#include "core/buffer.h"
#include "core/claims.h"
#include "core/deadlines.h"
#include "core/effects.h"
#include "core/ending.h"
#include "core/errors.h"
#include "core/handlers.h"
#include "core/outpost.h"
#include "core/process_leave.h"
#include "core/state.h"
#include "core/tell.h"
#include "core/terms.h"
#include "core/transition.h"

int on_progress(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    (void)err;
    struct pleat_buffer *buffer = buffer_of_run(core, event->component, event->u.progress.run);
    int64_t iteration_us = event->u.progress.iteration_us;
    int32_t iteration = event->u.progress.iteration;
    if (!buffer || iteration < buffer->iteration || iteration_us < 0 ||
        iteration_us > PLEAT_NEVER / 4 ||
        (iteration == buffer->iteration && iteration_us == buffer->iteration_us))
        return PLEAT_CORE_STALE;
    buffer->iteration_us = iteration_us;
    buffer_advance(core, buffer, iteration);
    return 0;
}

/* Its site may take the processor back before anything else of the component is due: the deadline
 * is looked at by then (on_component_deadline). */
static void look_in_time(struct pleat_core *core, uint32_t component, uint32_t claim)
{
    struct pleat_component *comp = component_at(core, component);
    int64_t until_us = claim_at(core, claim)->until_us;
    if (core->parameters[PLEAT_PARAM_LEAVE_PROCESSES] > 0) {
        processes_leave(core, component); /* it was handed over while it was being given back */
        running_arm(core, component);
        return;
    }
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
    component_sized_itself(core, component, 1);
}

/* May one more processor be asked of the component's site now? */
static bool may_ask(const struct pleat_core *core, const struct pleat_component *component)
{
    const struct pleat_site *site = &core->sites.items[component->site];
    return pleat_view_buffer_room(&core->view, component) > 0 &&
           site->quiet_until_us <= now_of(core) &&
           pleat_view_site_unused(site) - pleat_view_site_left(site) > 0;
}

static int told_by_agent(struct pleat_error *err)
{
    return pleat_error_set(err, PLEAT_E_STATE,
                           "agents prepare its processes: they say what it asks for and what has "
                           "become of each process (demanded, taken, process gone)");
}

int on_add_process(struct pleat_core *core, const struct pleat_event *event,
                   struct pleat_error *err)
{
    uint32_t component = event->component;
    const struct pleat_component *comp = component_at(core, component);
    struct pleat_buffer *buffer = buffer_of_run(core, component, event->u.process.run);
    if (!buffer)
        return PLEAT_CORE_STALE;
    if (prepares(comp))
        return told_by_agent(err);
    buffer_advance(core, buffer, event->u.process.iteration);
    buffer->requests++;
    if (!buffer->again)
        buffer_asked(core, buffer, 1);
    buffer->again = 1;
    if (comp->state == PLEAT_RESIZING)
        return 0; /* a resize is under way: the application asks again after it */
    if (buffer->prepared > 0 && comp->processors < pleat_view_limit(&core->view, comp)) {
        buffer->satisfied++;
        buffer->again = 0;
        use_prepared(core, component);
    } else if (may_ask(core, comp)) {
        buffer_place(core, component, comp->site, 1, 0);
    }
    return 0;
}

int on_stop_process(struct pleat_core *core, const struct pleat_event *event,
                    struct pleat_error *err)
{
    uint32_t component = event->component;
    struct pleat_component *comp = component_at(core, component);
    struct pleat_buffer *buffer = buffer_of_run(core, component, event->u.process.run);
    if (!buffer)
        return PLEAT_CORE_STALE;
    if (prepares(comp))
        return told_by_agent(err);
    if (comp->state == PLEAT_RESIZING)
        return pleat_error_set(err, PLEAT_E_BUSY,
                               "it is in a resize (from %d to %d processors): try again when that "
                               "is over",
                               comp->processors, comp->target);
    if (comp->processors <= 1 || comp->processors <= comp->minimum)
        return pleat_error_set(err, PLEAT_E_STATE, "it has %d processors, and needs them",
                               comp->processors);
    buffer_advance(core, buffer, event->u.process.iteration);
    buffer_returned(buffer);
    uint32_t claim = comp->last_claim;
    if (claim_at(core, claim)->count > 1)
        claim = claim_split(core, claim, 1);
    else
        claim_unlink(core, claim);
    if (claim == PLEAT_NONE)
        return PLEAT_E_NOMEM;
    component_sized_itself(core, component, -1);
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

/* ---- processes that agents prepare ---- */

int on_demanded(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    const struct pleat_component *comp = component_at(core, event->component);
    struct pleat_buffer *buffer = buffer_of_run(core, event->component, event->u.demanded.run);
    uint32_t requests = event->u.demanded.requests, satisfied = event->u.demanded.satisfied,
             waiting = event->u.demanded.waiting;
    if (!buffer || !prepares(comp))
        return PLEAT_CORE_STALE;
    if (satisfied > requests || waiting > requests - satisfied)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%u requests, of which %u were satisfied and %u wait: that makes no "
                               "sense",
                               requests, satisfied, waiting);
    if (requests < buffer->requests || satisfied < buffer->satisfied ||
        (requests == buffer->requests && satisfied == buffer->satisfied &&
         waiting == buffer->waiting && event->u.demanded.iteration <= buffer->iteration))
        return PLEAT_CORE_STALE;
    if (requests > buffer->requests)
        buffer_asked(core, buffer, requests - buffer->requests);
    buffer->requests = requests;
    buffer->satisfied = satisfied;
    buffer_waits(buffer, waiting);
    buffer_advance(core, buffer, event->u.demanded.iteration);
    if (waiting > 0)
        core->wants_pass = true;
    return 0;
}

int on_demanded_on(struct pleat_core *core, const struct pleat_event *event,
                   struct pleat_error *err)
{
    const struct pleat_component *comp = component_at(core, event->component);
    struct pleat_buffer *buffer = buffer_of_run(core, event->component, event->u.demanded_on.run);
    uint32_t architecture = event->u.demanded_on.architecture,
             waiting = event->u.demanded_on.waiting;
    bool all = event->flags & PLEAT_FOR_ALL;
    if (!buffer || !prepares(comp))
        return PLEAT_CORE_STALE;
    if (architecture >= PLEAT_ARCHITECTURES || (architecture == 0 && !all))
        return pleat_error_set(err, PLEAT_E_INVALID, "there is no architecture %u", architecture);
    uint32_t *kept = all ? &buffer->architecture : &buffer->waiting_on[architecture];
    uint32_t said = all ? architecture : waiting;
    if (*kept == said)
        return PLEAT_CORE_STALE;
    *kept = said;
    core->wants_pass = true;
    return 0;
}

/* May processes of the component be at that site? */
static int check_outpost(const struct pleat_core *core, const struct pleat_component *component,
                         uint32_t site, struct pleat_error *err)
{
    if (site >= core->sites.count || site == component->site || core->sites.items[site].instant)
        return pleat_error_set(err, PLEAT_E_INVALID, "site %u is none where others prepare for it",
                               site);
    if (!pleat_view_roams(component))
        return pleat_error_set(err, PLEAT_E_STATE, "all of its processes are on one node");
    return core->sites.items[site].gone ? PLEAT_CORE_STALE : 0;
}

/* The outpost of a component at a site, a new one if it has none there. STALE: it has none, and
 * nothing (0) is said of that site. */
static int open_outpost(struct pleat_core *core, uint32_t component, uint32_t site, uint32_t said,
                        uint32_t *index, struct pleat_error *err)
{
    *index = outpost_of(core, component, site);
    if (*index == PLEAT_NONE && said == 0)
        return PLEAT_CORE_STALE;
    if (*index == PLEAT_NONE)
        *index = outpost_make(core, component_at(core, component)->buffer, site);
    return *index == PLEAT_NONE ? pleat_error_set(err, PLEAT_E_NOMEM, "out of memory") : 0;
}

/* What an agent says is kept; STALE: it is known. */
static int keep(struct pleat_core *core, uint32_t *kept, uint32_t said)
{
    if (*kept == said)
        return PLEAT_CORE_STALE;
    *kept = said;
    core->wants_pass = true;
    return 0;
}

int on_demanded_at(struct pleat_core *core, const struct pleat_event *event,
                   struct pleat_error *err)
{
    uint32_t component = event->component, site = event->u.demanded_at.site,
             architecture = event->u.demanded_at.architecture;
    const struct pleat_component *comp = component_at(core, component);
    if (!buffer_of_run(core, component, event->u.demanded_at.run) || !prepares(comp))
        return PLEAT_CORE_STALE;
    if (architecture >= PLEAT_ARCHITECTURES)
        return pleat_error_set(err, PLEAT_E_INVALID, "there is no architecture %u", architecture);
    int rc = check_outpost(core, comp, site, err);
    if (rc)
        return rc;
    uint32_t index = PLEAT_NONE;
    rc = open_outpost(core, component, site, event->u.demanded_at.waiting, &index, err);
    if (rc)
        return rc;
    struct pleat_outpost *outpost = outpost_at(core, index);
    return keep(core, architecture > 0 ? &outpost->waiting_on[architecture] : &outpost->waiting,
                event->u.demanded_at.waiting);
}

int on_demanded_any(struct pleat_core *core, const struct pleat_event *event,
                    struct pleat_error *err)
{
    (void)err;
    const struct pleat_component *comp = component_at(core, event->component);
    struct pleat_buffer *buffer = buffer_of_run(core, event->component, event->u.demanded_any.run);
    if (!buffer || !prepares(comp))
        return PLEAT_CORE_STALE;
    return keep(core, &buffer->anywhere, event->u.demanded_any.waiting);
}

int on_site_for_any(struct pleat_core *core, const struct pleat_event *event,
                    struct pleat_error *err)
{
    uint32_t component = event->component, site = event->u.site_for_any.site,
             rank = event->u.site_for_any.rank, index = PLEAT_NONE;
    const struct pleat_component *comp = component_at(core, component);
    if (!buffer_of_run(core, component, event->u.site_for_any.run) || !prepares(comp))
        return PLEAT_CORE_STALE;
    int rc = check_outpost(core, comp, site, err);
    if (!rc)
        rc = open_outpost(core, component, site, rank, &index, err);
    return rc ? rc : keep(core, &outpost_at(core, index)->rank, rank);
}

int on_returning(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    struct pleat_buffer *buffer = buffer_of_run(core, event->component, event->u.returning.run);
    if (!buffer)
        return PLEAT_CORE_STALE;
    if (event->u.returning.processes > PLEAT_SIZE_MAX)
        return pleat_error_set(err, PLEAT_E_INVALID, "%u processes are more than there can be",
                               event->u.returning.processes);
    if (buffer->returning == event->u.returning.processes)
        return PLEAT_CORE_STALE;
    buffer->returning = event->u.returning.processes;
    buffer_advance(core, buffer, event->u.returning.iteration);
    return 0;
}

/* The claim that an event of an agent is about: held, of the present run of a component whose
 * processes agents prepare. PLEAT_NONE: it is not, or not any more. */
static uint32_t kept_claim(const struct pleat_core *core, const struct pleat_event *event)
{
    uint32_t claim = claim_find(core, event);
    if (claim == PLEAT_NONE || core->claims.items[claim].state != PLEAT_CLAIM_HELD)
        return PLEAT_NONE;
    const struct pleat_component *comp =
        &core->components.items[core->claims.items[claim].component];
    return prepares(comp) && comp->buffer != PLEAT_NONE && comp->run == event->u.kept.run
               ? claim
               : PLEAT_NONE;
}

static bool is_buffered(const struct pleat_core *core, uint32_t claim)
{
    return core->claims.items[claim].purpose == PLEAT_FOR_BUFFER;
}

int on_prepared(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    (void)err;
    uint32_t claim = kept_claim(core, event);
    if (claim == PLEAT_NONE || !is_buffered(core, claim) ||
        claim_at(core, claim)->process != PLEAT_KEPT_PREPARING)
        return PLEAT_CORE_STALE;
    buffer_allocated(core, claim);
    buffer_set_process(core, claim, PLEAT_KEPT_WAITING);
    core->wants_pass = true;
    return 0;
}

int on_taken(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    (void)err;
    uint32_t claim = kept_claim(core, event);
    if (claim == PLEAT_NONE || !is_buffered(core, claim) ||
        component_at(core, claim_at(core, claim)->component)->exited)
        return PLEAT_CORE_STALE;
    struct pleat_claim *c = claim_at(core, claim);
    uint32_t component = c->component;
    if (c->process == PLEAT_KEPT_PREPARING)
        buffer_allocated(core, claim);
    buffer_unlink(core, claim);
    c->process = PLEAT_KEPT_NONE;
    c->purpose = PLEAT_FOR_RUN;
    claim_link(core, claim);
    claim_note(core, claim);
    *buffer_pause_of(core, component, c->site).failures = 0;
    component_sized_itself(core, component, 1);
    if (is_running(component_at(core, component))) {
        look_in_time(core, component, claim);
        buffer_trim(core, component);
    }
    core->wants_pass = true;
    return 0;
}

/* A process that was held ready, or was being started or ended, is gone. STOPPED repeats what was
 * said before the present process was asked for; UNUSED, before UNPREPARE, may answer an earlier
 * one. */
static int prepared_is_gone(struct pleat_core *core, uint32_t claim, uint32_t reason)
{
    struct pleat_claim *c = claim_at(core, claim);
    uint32_t component = c->component;
    bool unprepared = c->process == PLEAT_KEPT_UNPREPARING;
    if (reason == PLEAT_GONE_STOPPED ||
        (reason == PLEAT_GONE_UNUSED && c->process == PLEAT_KEPT_PREPARING))
        return PLEAT_CORE_STALE;
    if (reason == PLEAT_GONE_NOT_STARTED)
        node_error(core, c->site, process_node(core, claim));
    if (!unprepared && reason != PLEAT_GONE_UNUSED && reason != PLEAT_GONE_UNFIT)
        buffer_failed(core, component, c->site);
    buffer_unlink(core, claim);
    c->process = PLEAT_KEPT_NONE;
    claim_release(core, claim);
    component_settle(core, component); /* a site without delays has it back already */
    core->wants_pass = true;
    return 0;
}

/* A process of the run is gone. Its processor is given back, or kept for another process. */
static int process_is_gone(struct pleat_core *core, uint32_t claim, uint32_t reason)
{
    uint32_t component = claim_at(core, claim)->component;
    struct pleat_component *comp = component_at(core, component);
    bool first = claim == comp->first_claim && claim_at(core, claim)->count == 1;
    /* with its first process the run ends, which is told apart (EXITED) */
    if (!is_running(comp) || first || comp->processors <= 1 || reason == PLEAT_GONE_UNUSED ||
        reason == PLEAT_GONE_UNFIT)
        return PLEAT_CORE_STALE;
    if (claim_at(core, claim)->count > 1)
        claim = claim_split(core, claim, 1);
    else
        claim_unlink(core, claim);
    if (claim == PLEAT_NONE)
        return PLEAT_E_NOMEM;
    component_sized_itself(core, component, -1);
    bool leaves = claim_at(core, claim)->lent & PLEAT_LENT_LEAVES;
    if (reason == PLEAT_GONE_STOPPED && !leaves)
        buffer_returned(buffer_at(core, comp->buffer));
    core->wants_pass = true;
    struct pleat_claim *c = claim_at(core, claim);
    if (reason != PLEAT_GONE_STOPPED || !buffers_are_reviewed(core) || c->lent) {
        claim_release(core, claim);
        return 0;
    }
    c->purpose = PLEAT_FOR_BUFFER;
    c->asked_us = now_of(core);
    buffer_link(core, claim); /* the next review decides what becomes of the claim */
    claim_note(core, claim);
    if (!site_at(core, c->site)->instant)
        buffer_prepare(core, claim);
    buffer_trim(core, component); /* nothing is kept beyond the component's maximum */
    return 0;
}

int on_process_gone(struct pleat_core *core, const struct pleat_event *event,
                    struct pleat_error *err)
{
    uint32_t claim = kept_claim(core, event), reason = event->u.kept.reason;
    if (reason == 0 || reason >= PLEAT_GONE_COUNT)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "reason %u: no process is gone for such a reason", reason);
    if (claim == PLEAT_NONE)
        return PLEAT_CORE_STALE;
    return is_buffered(core, claim) ? prepared_is_gone(core, claim, reason)
                                    : process_is_gone(core, claim, reason);
}

/* ---- what earlier executions did ---- */

int on_recalled(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    const struct pleat_component *component = component_at(core, event->component);
    int64_t iteration_us = event->u.recalled.iteration_us;
    int32_t executions = event->u.recalled.executions;
    if (component->buffer == PLEAT_NONE)
        return pleat_error_set(err, PLEAT_E_STATE, "it does not ask for processes itself");
    if (executions < 0 || iteration_us < 0 || iteration_us > PLEAT_NEVER / 4 ||
        (executions == 0 && (iteration_us > 0 || event->u.recalled.most > 0)))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "of %d executions, with iterations of %lld us and %u requests in a "
                               "row: that makes no sense",
                               executions, (long long)iteration_us, event->u.recalled.most);
    struct pleat_buffer *buffer = buffer_at(core, component->buffer);
    core->histories.items[component->buffer].count = 0;
    buffer->executions = executions;
    buffer->recalled_us = iteration_us;
    buffer->recalled_most = event->u.recalled.most;
    buffer_review(core, event->component);
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
