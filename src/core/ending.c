/* How components come to their end: killed, given up, settled; and how they are forgotten. */
#include "core/ending.h"
#include "core/buffer.h"
#include "core/claims.h"
#include "core/deadlines.h"
#include "core/depend.h"
#include "core/errors.h"
#include "core/files.h"
#include "core/handlers.h"
#include "core/hold.h"
#include "core/job.h"
#include "core/limits.h"
#include "core/resize.h"
#include "core/start.h"
#include "core/state.h"
#include "core/tally.h"
#include "core/tell.h"
#include "core/timings.h"
#include "core/transition.h"

/* Frees the component's record, which stays as it is until it is used again. */
static void forget(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    if (core->view.stages && comp->first_input != PLEAT_NONE)
        inputs_free(core, component);
    comp->aside = PLEAT_FORGOTTEN;
    comp->next = core->free_component;
    core->free_component = component;
}

/* Forgets all components of a job, if that was asked for. All must have ended and given back their
 * processors: a claim has an owner until it is free. */
static void forget_if_wanted(struct pleat_core *core, uint32_t component)
{
    uint32_t first = job_first(core, component);
    if (!(component_at(core, first)->flags & PLEAT_COMPONENT_FORGET))
        return;
    for (uint32_t c = first; c != PLEAT_NONE; c = component_at(core, c)->sibling)
        if (!pleat_state_is_final((enum pleat_state)component_at(core, c)->state) ||
            pleat_component_is_forgotten(component_at(core, c)) ||
            component_at(core, c)->claims > 0)
            return;
    for (uint32_t c = first; c != PLEAT_NONE; c = component_at(core, c)->sibling)
        forget(core, c);
}

int on_forget(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    struct pleat_component *component = component_at(core, event->component);
    if (!pleat_state_is_final(component->state) || pleat_component_is_forgotten(component))
        return pleat_error_set(err, PLEAT_E_STATE,
                               "a job that has not ended, or is forgotten, cannot be forgotten");
    component_at(core, job_first(core, event->component))->flags |= PLEAT_COMPONENT_FORGET;
    forget_if_wanted(core, event->component);
    return 0;
}

void component_release_all(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    while (comp->last_claim != PLEAT_NONE) {
        uint32_t claim = comp->last_claim;
        claim_unlink(core, claim);
        claim_release(core, claim);
    }
    if (comp->start_claim != PLEAT_NONE) {
        claim_release(core, comp->start_claim);
        comp->start_claim = PLEAT_NONE;
    }
    if (comp->buffer != PLEAT_NONE)
        buffer_release_all(core, component);
}

void component_give_back(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    comp->exited = 1;
    comp->starting = 0;
    if (is_several(core, comp))
        comp->end_us = now_of(core);
    disarm(core, &comp->deadline);
    component_release_all(core, component);
    component_settle(core, component);
}

static inline void end(struct pleat_core *core, uint32_t component, enum pleat_state state)
{
    struct pleat_component *comp = component_at(core, component);
    comp->end_us = now_of(core);
    set_state(core, component, state);
    timings_drop(core, component);
    if (comp->buffer != PLEAT_NONE)
        buffer_close(core, component);
    if (comp->holds || comp->group != PLEAT_NONE) {
        needs_drop(core, component);
        hold_end(core, component);
    }
    if (comp->first_dependent != PLEAT_NONE)
        dependents_ended(core, component, state == PLEAT_DONE);
    if ((comp->flags & PLEAT_COMPONENT_FORGET) && comp->claims == 0)
        forget(core, component);
}

void component_end_part(struct pleat_core *core, uint32_t component, enum pleat_state state)
{
    struct pleat_component *comp = component_at(core, component);
    if (comp->end_us == PLEAT_NEVER)
        comp->end_us = now_of(core);
    comp->aside = PLEAT_ASIDE_NOT;
    set_state(core, component, state);
    timings_drop(core, component);
    if (comp->buffer != PLEAT_NONE)
        buffer_close(core, component);
    forget_if_wanted(core, component);
}

static bool requeues(const struct pleat_core *core, const struct pleat_component *component)
{
    if (is_several(core, component))
        return job_requeues(core, component->lead);
    if (component->reason == PLEAT_REASON_PREEMPTED || component->reason == PLEAT_REASON_REQUEUED)
        return true;
    if (start_is_paused(core, component))
        return true;
    return is_nobodys_fault(component) && may_start_again(component) &&
           component->attempt + 1 < core->parameters[PLEAT_PARAM_ATTEMPTS];
}

void component_reset(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    comp->processors = comp->processes = comp->target = comp->mpl = 0;
    comp->site = PLEAT_NONE;
    comp->start_us = comp->end_us = PLEAT_NEVER;
    comp->cap = PLEAT_SIZE_MAX;
    declared_forget(comp);
    comp->below = 0;
    comp->untold = 0;
    set_state(core, component, PLEAT_QUEUED);
    comp->reason = PLEAT_REASON_NONE;
    comp->code = 0;
    comp->signal = 0;
}

void component_settle(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    if (comp->claims > 0)
        return;
    if (is_several(core, comp) && !pleat_state_is_final((enum pleat_state)comp->state)) {
        job_settle(core, comp->lead);
        return;
    }
    if (comp->state != PLEAT_FINISHING || !comp->exited) {
        if (pleat_state_is_final((enum pleat_state)comp->state))
            forget_if_wanted(core, component);
        return;
    }
    comp->processors = comp->processes = comp->target = comp->mpl = 0;
    core->wants_pass = true;
    if (comp->reason == PLEAT_REASON_CANCELLED) {
        end(core, component, PLEAT_CANCELLED);
    } else if (comp->reason == PLEAT_REASON_EXIT && comp->code == 0 && comp->signal == 0) {
        end(core, component, PLEAT_DONE);
    } else if (!requeues(core, comp)) {
        end(core, component, PLEAT_FAILED);
    } else { /* preempted, requeued by its user, or failed by no fault of the user's */
        bool preempted = comp->reason == PLEAT_REASON_PREEMPTED;
        bool wished = comp->reason == PLEAT_REASON_REQUEUED;
        bool paused = start_is_paused(core, comp);
        comp->attempt = (uint16_t)(comp->attempt + !(preempted || wished || paused));
        comp->preempted = (uint8_t)(comp->preempted + preempted);
        component_reset(core, component);
        if (paused)
            component_pause(core, component);
        else if (wished)
            hold_or_append(core, component);
        else if (preempted) /* it lost its processors, not its turn */
            queue_replace(core, component);
        else
            queue_prepend(core, component);
    }
}

int on_cancel(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    uint32_t component = event->component;
    struct pleat_component *comp = component_at(core, component);
    if (pleat_state_is_final(comp->state))
        return pleat_error_set(err, PLEAT_E_STATE, "it has ended already (%s)",
                               pleat_state_name(comp->state));
    if (comp->state != PLEAT_QUEUED) {
        component_kill(core, component, PLEAT_REASON_CANCELLED);
        return 0;
    }
    component_give_up(core, component, PLEAT_REASON_CANCELLED);
    return 0;
}

void component_give_up(struct pleat_core *core, uint32_t component, enum pleat_reason reason)
{
    struct pleat_component *comp = component_at(core, component);
    bool cancelled = reason == PLEAT_REASON_CANCELLED || reason == PLEAT_REASON_DEPENDENCY;
    enum pleat_state state = cancelled ? PLEAT_CANCELLED : PLEAT_FAILED;
    core->wants_pass = true;
    if (is_several(core, comp) && job_is_waiting(core, comp->lead)) {
        job_cancel_waiting(core, comp->lead, reason, state);
        return;
    }
    if (is_several(core, comp) || comp->state != PLEAT_QUEUED) {
        /* a component that is placed is ended, and the whole job with it */
        while (component_at(core, component)->state == PLEAT_QUEUED)
            component = job_next(core, component);
        component_kill(core, component, reason);
        return;
    }
    earmarks_drop(core, component);
    if (comp->aside == PLEAT_ASIDE_RESERVATION)
        reserved_remove(core, component);
    else if (comp->aside == PLEAT_ASIDE_NOT)
        queue_remove(core, component);
    comp->aside = PLEAT_ASIDE_NOT;
    disarm(core, &comp->deadline); /* the deadline of a pause */
    staging_drop(comp);
    comp->reason = (uint8_t)reason;
    end(core, component, state);
}

void component_kill(struct pleat_core *core, uint32_t component, enum pleat_reason reason)
{
    component_kill_one(core, component, reason);
    if (is_several(core, component_at(core, component)))
        job_killed(core, component, reason);
}

void component_kill_one(struct pleat_core *core, uint32_t component, enum pleat_reason reason)
{
    struct pleat_component *comp = component_at(core, component);
    if (comp->state == PLEAT_FINISHING) {
        /* once its processes are gone only a return to the queue can still be prevented */
        if (reason == PLEAT_REASON_CANCELLED && (!comp->exited || requeues(core, comp)))
            comp->reason = PLEAT_REASON_CANCELLED;
        return;
    }
    bool was_running = comp->state == PLEAT_RUNNING || comp->state == PLEAT_RESIZING;
    if (comp->resize != PLEAT_NONE)
        resize_end(core, comp->resize,
                   reason == PLEAT_REASON_STUCK          ? PLEAT_OUTCOME_STUCK
                   : reason == PLEAT_REASON_NOT_HONOURED ? PLEAT_OUTCOME_NOT_HONOURED
                   : reason == PLEAT_REASON_LOST         ? PLEAT_OUTCOME_LOST
                                                         : PLEAT_OUTCOME_JOB_ENDED);
    comp->reason = (uint8_t)reason;
    if (was_running)
        stop_running(core, component);
    component_stop_waiting(core, component);
    staging_drop(comp);
    set_state(core, component, PLEAT_FINISHING);
    if (!was_running && (!comp->starting || comp->untold)) { /* no process runs yet */
        component_give_back(core, component);
        return;
    }
    run_effect(core, component);
    arm(core, &comp->deadline, DEADLINE_COMPONENT, component,
        now_of(core) + core->parameters[PLEAT_PARAM_KILL_US]);
}
