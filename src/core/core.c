#include "core/core.h"

#include <string.h>

#include "core/claims.h"
#include "core/deadlines.h"
#include "core/depend.h"
#include "core/ending.h"
#include "core/files.h"
#include "core/handlers.h"
#include "core/hold.h"
#include "core/policies.h"
#include "core/side.h"
#include "core/state.h"
#include "core/tell.h"
#include "model/spec.h"
#include "policy/pass.h"

/* ---- life ---- */

int pleat_core_create(struct pleat_core **out)
{
    struct pleat_core *core = calloc(1, sizeof(*core));
    if (!core)
        return PLEAT_E_NOMEM;
    pleat_heap_init(&core->deadlines);
    sides_init(core);
    core->free_component = core->free_claim = core->free_piece = core->free_resize = PLEAT_NONE;
    core->free_timing = core->free_buffer = core->free_input = core->open_lead = PLEAT_NONE;
    core->free_dependency = core->free_group = PLEAT_NONE;
    core->decided_first = core->decided_last = PLEAT_NONE;
    core->view.reviews_first = core->reviews_last = PLEAT_NONE;
    core->view.queue_first = core->view.queue_last = core->view.reserved_first = PLEAT_NONE;
    core->queue_root = PLEAT_NONE;
    core->notes = UINT64_MAX;
    core->wake = core->nodes_again = PLEAT_HEAP_NONE;
    core->pass_us = PLEAT_NEVER;
    core->next_id = 1;
    core->pass.view = &core->view;
    core->pass.plan = &core->plan;
    for (uint32_t p = 0; p < PLEAT_PARAM_COUNT; p++)
        core->parameters[p] = pleat_parameter_default(p);
    for (int q = 0; q < PLEAT_QUESTION_COUNT; q++) {
        if (core_set_policy(core, pleat_policy_default((enum pleat_question)q))) {
            pleat_core_destroy(core);
            return PLEAT_E_NOMEM;
        }
    }
    core_sync_view(core);
    *out = core;
    return 0;
}

void pleat_core_destroy(struct pleat_core *core)
{
    if (!core)
        return;
    pleat_array_finish(&core->components);
    sides_finish(core);
    pleat_array_finish(&core->sites);
    pleat_array_finish(&core->claims);
    pleat_array_finish(&core->pieces);
    pleat_array_finish(&core->resizes);
    for (size_t i = 0; i < core->size_lists.count; i++)
        pleat_array_finish(&core->size_lists.items[i]);
    pleat_array_finish(&core->size_lists);
    pleat_array_finish(&core->timings);
    pleat_array_finish(&core->buffers);
    for (size_t i = 0; i < core->histories.count; i++)
        pleat_array_finish(&core->histories.items[i]);
    pleat_array_finish(&core->histories);
    pleat_array_finish(&core->outposts);
    pleat_array_finish(&core->inputs);
    pleat_array_finish(&core->links);
    pleat_array_finish(&core->nodes);
    pleat_array_finish(&core->dependencies);
    pleat_array_finish(&core->groups);
    pleat_array_finish(&core->ends_roots);
    pleat_tree_finish(&core->places);
    pleat_heap_finish(&core->deadlines);
    pleat_plan_finish(&core->plan);
    for (int q = 0; q < PLEAT_QUESTION_COUNT; q++)
        free(core->states[q]);
    free(core);
}

/* ---- the two calls ---- */

/* A policy may ask for the next pass at any time, and in that pass again. Conservative backfilling
 * does so while processors are on their way to a job; with short estimates these passes follow one
 * another quickly. After IDLE_PASSES_MAX passes between which nothing else happened, the next one
 * is not made before idle_step_us has gone by. An event that changes anything brings a pass of its
 * own. */
enum { IDLE_PASSES_MAX = 16 };
static const int64_t idle_step_us = PLEAT_ESTIMATE_LEAST_US;

int on_pass(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    (void)event;
    (void)err;
    core->wants_pass = false;
    core->pass_us = PLEAT_NEVER;
    core->idle_passes += core->idle_passes <= IDLE_PASSES_MAX;
    return 0;
}

int on_wake(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    (void)err;
    int64_t at_us = event->u.at.at_us, later_us = now_of(core) + idle_step_us;
    if (core->idle_passes > IDLE_PASSES_MAX && at_us < later_us)
        at_us = later_us;
    arm(core, &core->wake, DEADLINE_WAKE, 0, at_us);
    return 0;
}

/* Something happened between two passes, unless the event is one of those that only passes bring.
 * Deadlines that come are seen to in time.c. */
static void end_idle_passes(struct pleat_core *core, const struct pleat_event *event)
{
    if (event->kind != PLEAT_EV_PASS && event->kind != PLEAT_EV_TIME &&
        event->kind != PLEAT_EV_WAKE && event->kind != PLEAT_EV_PROMISE)
        core->idle_passes = 0;
}

enum subject { NOTHING, COMPONENT, SITE, CLAIM, NEW };

static const struct {
    int (*handler)(struct pleat_core *core, const struct pleat_event *event,
                   struct pleat_error *err);
    enum subject subject;
} handlers[PLEAT_EV_COUNT] = {
#define EVENT(number, kind, name, subject, handler, member, last)                                  \
    [PLEAT_EV_##kind] = {handler, subject},
#define BARE_EVENT(number, kind, name, subject, handler) [PLEAT_EV_##kind] = {handler, subject},
#include "model/events.def"
#undef EVENT
#undef BARE_EVENT
};

static int dispatch(struct pleat_core *core, const struct pleat_event *event,
                    struct pleat_error *err)
{
    if (event->kind >= PLEAT_EV_COUNT || !handlers[event->kind].handler)
        return pleat_error_set(err, PLEAT_E_INVALID, "events of kind %u are not known",
                               event->kind);
    enum subject subject = handlers[event->kind].subject;
    if (subject == COMPONENT && event->component >= core->components.count)
        return pleat_error_set(err, PLEAT_E_NOTFOUND, "no component %u", event->component);
    if (subject == SITE && event->component >= core->sites.count)
        return pleat_error_set(err, PLEAT_E_INVALID, "no site %u", event->component);
    return handlers[event->kind].handler(core, event, err);
}

/* Jobs that waited for others are released or cancelled, which may decide about further ones. */
static PLEAT_COLD void follow_decided(struct pleat_core *core)
{
    bool met;
    uint32_t dependent;
    while ((dependent = dependents_next(core, &met)) != PLEAT_NONE) {
        if (met)
            hold_remove(core, dependent, PLEAT_HELD_BY_JOBS);
        else
            component_give_up(core, dependent, PLEAT_REASON_DEPENDENCY);
    }
}

static PLEAT_COLD void observe(struct pleat_core *core, const struct pleat_event *event)
{
    for (int q = 0; q < PLEAT_QUESTION_COUNT; q++)
        if (core->pass.policies[q]->observe)
            core->pass.policies[q]->observe(core->states[q], &core->view, event);
}

/* What pleat_core_apply has still to do where anything but a state has changed, and what it returns
 * then; rc: what the handler returned. */
static __attribute__((noinline)) int
follow(struct pleat_core *core, const struct pleat_event *event, int rc, struct pleat_error *err)
{
    if (core->decided_first != PLEAT_NONE)
        follow_decided(core);
    if (core->failed || rc == PLEAT_E_NOMEM)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    if (rc)
        return rc;
    if (core->idle_passes > 0)
        end_idle_passes(core, event);
    return 0;
}

int pleat_core_apply(struct pleat_core *core, const struct pleat_event *event,
                     struct pleat_effects *effects, struct pleat_error *err)
{
    if (event->time_us > core->view.now_us)
        core->view.now_us = event->time_us;
    core->out = effects;
    core->failed = 0;
    core->operations++;
    int rc = dispatch(core, event, err);
    /* one comparison for all that a simulation of millions of jobs never has */
    bool follows =
        (rc | core->failed | (int)core->idle_passes | (int)(core->decided_first ^ PLEAT_NONE)) != 0;
    if (__builtin_expect(follows, 0) && (rc = follow(core, event, rc, err)) != 0)
        return rc;
    if (core->observed)
        observe(core, event);
    if (__builtin_expect(core->decides_at_times, 0))
        core_set_pass_time(core);
    return 0;
}

bool pleat_core_wants_pass(const struct pleat_core *core)
{
    return core_has_use_for_pass(core) &&
           (!core->decides_at_times || core->pass_us <= now_of(core));
}

/* Applies a record of the pass itself: PASS or WAKE. All of its bytes are set, since replay
 * compares decisions byte by byte. The record is built in the array of decisions: this saves a copy
 * at every pass. */
static int own_record(struct pleat_core *core, uint16_t kind, int64_t at_us,
                      struct pleat_events *decisions, struct pleat_effects *effects,
                      struct pleat_error *err)
{
    struct pleat_event unlogged, *event = &unlogged;
    if (decisions) {
        if (pleat_array_reserve(decisions, 1))
            return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
        event = &decisions->items[decisions->count++];
    }
    memset(event, 0, sizeof(*event));
    event->time_us = now_of(core);
    event->kind = kind;
    event->component = PLEAT_NONE;
    event->u.at.at_us = at_us;
    int rc = pleat_core_apply(core, event, effects, err);
    return rc < 0 ? rc : 0;
}

static int apply_plan(struct pleat_core *core, struct pleat_events *decisions,
                      struct pleat_effects *effects, struct pleat_error *err)
{
    const struct pleat_events *plan = &core->plan.decisions;
    if (decisions && plan->count && pleat_array_reserve(decisions, plan->count))
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    for (size_t i = 0; i < plan->count; i++) {
        int rc = pleat_core_apply(core, &plan->items[i], effects, err);
        if (rc < 0) {
            if (rc != PLEAT_E_NOMEM)
                pleat_error_prefix(err, rc, "a decision of %s was refused",
                                   core->pass.policies[PLEAT_APPROACH]->name);
            return rc;
        }
        const uint16_t kind = plan->items[i].kind;
        bool dropped =
            rc == PLEAT_CORE_STALE &&
            (kind == PLEAT_EV_START || kind == PLEAT_EV_RESIZE || kind == PLEAT_EV_BUFFER);
        if (decisions && !dropped)
            decisions->items[decisions->count++] = plan->items[i];
    }
    return 0;
}

/* The approach decides first, about waiting and running components. What it leaves may become
 * prepared processes, in the buffers of components that ask for processes. */
static void decide(struct pleat_pass *pass)
{
    bool asked = pass->view->ask_count > 0;
    if (asked)
        pleat_pass_ask_mandatory(pass);
    pass->policies[PLEAT_APPROACH]->decide(pass);
    for (uint32_t site = 0; asked && site < pass->view->site_count; site++)
        pleat_pass_ask_voluntary(pass, site); /* where the approach grew nobody */
    if (pass->view->reviews_first != PLEAT_NONE || pass->view->prepares)
        pleat_pass_review(pass);
}

int pleat_core_pass(struct pleat_core *core, int64_t now_us, struct pleat_events *decisions,
                    struct pleat_effects *effects, struct pleat_error *err)
{
    if (now_us > core->view.now_us)
        core->view.now_us = now_us;
    core->wants_pass = core->overtaken = false;
    core->pass_us = PLEAT_NEVER;
    int rc = decisions || core->observed
                 ? own_record(core, PLEAT_EV_PASS, 0, decisions, effects, err)
                 : 0;
    if (rc)
        return rc;
    if (pleat_plan_begin(&core->plan, &core->view))
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    core->pass.shadow = NULL;
    core->pass.profiles = NULL;
    core->pass.backfilling = false;
    decide(&core->pass);
    if (core->plan.failed)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    rc = apply_plan(core, decisions, effects, err);
    core->overtaken = false;
    return rc || core->plan.wake_us == PLEAT_NEVER
               ? rc
               : own_record(core, PLEAT_EV_WAKE, core->plan.wake_us, decisions, effects, err);
}

int pleat_core_rehearse(const struct pleat_core *core, int64_t now_us,
                        struct pleat_rehearsal *rehearsal)
{
    *rehearsal = (struct pleat_rehearsal){.view = core->view, .pass = core->pass};
    if (now_us > rehearsal->view.now_us)
        rehearsal->view.now_us = now_us;
    rehearsal->pass.view = &rehearsal->view;
    rehearsal->pass.plan = &rehearsal->plan;
    rehearsal->pass.shadow = NULL;
    rehearsal->pass.profiles = NULL;
    rehearsal->pass.backfilling = false;
    if (pleat_plan_begin(&rehearsal->plan, &rehearsal->view))
        return PLEAT_E_NOMEM;
    decide(&rehearsal->pass);
    return rehearsal->plan.failed ? PLEAT_E_NOMEM : 0;
}

void pleat_rehearsal_finish(struct pleat_rehearsal *rehearsal)
{
    pleat_plan_finish(&rehearsal->plan);
}

size_t pleat_core_decided(const struct pleat_core *core)
{
    return core->plan.decisions.count + (core->plan.wake_us != PLEAT_NEVER);
}

int64_t pleat_core_next_deadline(const struct pleat_core *core)
{
    _Static_assert(PLEAT_NEVER == INT64_MAX, "as the heap has it");
    int64_t first_us = pleat_heap_first_us(&core->deadlines);
    return core->pass_us < first_us ? core->pass_us : first_us;
}

int pleat_core_outstanding(struct pleat_core *core, struct pleat_effects *effects)
{
    core->out = effects;
    core->failed = 0;
    for (uint32_t i = 0; i < core->claims.count; i++) {
        const struct pleat_claim *claim = claim_at(core, i);
        if (claim->state == PLEAT_CLAIM_HELD && claim->purpose == PLEAT_FOR_BUFFER)
            process_effect(core, i);
        if (claim->state != PLEAT_CLAIM_REQUESTED && claim->state != PLEAT_CLAIM_RELEASING)
            continue;
        claim_effect(core, i,
                     claim->state == PLEAT_CLAIM_REQUESTED ? PLEAT_DO_CLAIM : PLEAT_DO_RELEASE);
    }
    for (uint32_t i = 0; i < core->components.count; i++) {
        outstanding_effects(core, i);
        if (component_at(core, i)->staging)
            stage_effect(core, i);
    }
    return core->failed ? PLEAT_E_NOMEM : 0;
}

void pleat_core_set_notes(struct pleat_core *core, uint64_t kinds)
{
    core->notes = kinds;
}
