/* What ends the run of a component (preempted, failed to start, exited, not heard of in time), and
 * how often it was tried in vain. */
#include "core/component.h"
#include "core/barrier.h"
#include "core/buffer.h"
#include "core/claiming.h"
#include "core/claims.h"
#include "core/deadlines.h"
#include "core/ending.h"
#include "core/errors.h"
#include "core/handlers.h"
#include "core/job.h"
#include "core/lent.h"
#include "core/move.h"
#include "core/placed.h"
#include "core/process_leave.h"
#include "core/relaunch.h"
#include "core/reserve.h"
#include "core/resize.h"
#include "core/running.h"
#include "core/state.h"
#include "core/tell.h"
#include "core/terms.h"
#include "core/transition.h"

int on_tried(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    struct pleat_component *component = component_at(core, event->component);
    if (component->state != PLEAT_QUEUED || component->aside)
        return pleat_error_set(err, PLEAT_E_STATE, "a job that does not wait cannot be tried");
    component->tries++;
    component->last_try_us = now_of(core);
    if (component->tries <= core->parameters[PLEAT_PARAM_MAX_TRIES])
        return 0;
    component_give_up(core, event->component, PLEAT_REASON_TRIES);
    return 0;
}

int on_preempt(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    const struct pleat_component *component = component_at(core, event->component);
    if (component->state != PLEAT_RUNNING || component->begin_us > 0 ||
        component->lead != PLEAT_NONE || (component->flags & PLEAT_COMPONENT_ONCE) ||
        component->preempted == UINT8_MAX ||
        component->preempted >= core->parameters[PLEAT_PARAM_PREEMPTIONS])
        return pleat_error_set(
            err, PLEAT_E_STATE,
            "job %llu cannot be preempted: it is %s, and was preempted %u times",
            (unsigned long long)component->job,
            pleat_component_state_name((enum pleat_component_state)component->state),
            component->preempted);
    component_kill(core, event->component, PLEAT_REASON_PREEMPTED);
    return 0;
}

int on_start_failed(struct pleat_core *core, const struct pleat_event *event,
                    struct pleat_error *err)
{
    (void)err;
    struct pleat_component *component = component_at(core, event->component);
    bool moves = move_is_under_way(core, component);
    bool again = moves || (component->state == PLEAT_RESIZING &&
                           resize_at(core, component->resize)->step == PLEAT_RESIZE_RELAUNCHING);
    /* the component was to be ended while it was being started: nothing of it runs now */
    bool ending = component->state == PLEAT_FINISHING && !component->exited;
    if ((!component->starting && !again && !ending) || event->u.exit.run != component->run)
        return PLEAT_CORE_STALE;
    if (again) {
        resize_end(core, component->resize, PLEAT_OUTCOME_JOB_ENDED);
        stop_running(core, event->component);
    }
    if (!again)
        component->untold = 1; /* no process has run */
    if (again || component->state == PLEAT_CLAIMING) {
        bool by_user = event->u.exit.reason == PLEAT_REASON_START_USER;
        component->reason = (uint8_t)(by_user ? PLEAT_REASON_START_USER
                                      : moves ? PLEAT_REASON_LOST
                                              : PLEAT_REASON_START_SYSTEM);
        if (by_user)
            component->code = event->u.exit.code;
        else if (again)
            node_error(core, component->site, component->lead_node);
        else
            start_has_failed(core, event->component);
        set_state(core, event->component, PLEAT_FINISHING);
        job_end_others(core, event->component);
    }
    component_give_back(core, event->component);
    return 0;
}

/* Why a component has ended, as its runner says. What ends badly while processors are taken from it
 * has lost them, and its state with them. */
static uint32_t why_exited(const struct pleat_core *core, const struct pleat_component *component,
                           const struct pleat_event *event)
{
    uint32_t reason = event->u.exit.reason;
    bool known = reason == PLEAT_REASON_LOST || reason == PLEAT_REASON_MEMORY;
    bool bad = reason == PLEAT_REASON_BROKEN || event->u.exit.code || event->u.exit.signal;
    if (!known && bad && is_taken_from(core, component))
        return PLEAT_REASON_TAKEN;
    return known || reason == PLEAT_REASON_BROKEN ? reason : PLEAT_REASON_EXIT;
}

int on_exited(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    (void)err;
    struct pleat_component *component = component_at(core, event->component);
    if (component->exited || event->u.exit.run != component->run)
        return PLEAT_CORE_STALE;
    uint32_t reason = why_exited(core, component, event);
    if (reason == PLEAT_REASON_BROKEN && relaunch_broken(core, event->component))
        return 0;
    component->code = event->u.exit.code;
    component->signal = (int16_t)event->u.exit.signal;
    if (component->state != PLEAT_FINISHING) {
        component->reason = (uint8_t)reason;
        if (component->resize != PLEAT_NONE)
            resize_end(core, component->resize, PLEAT_OUTCOME_JOB_ENDED);
        if (component->state == PLEAT_RUNNING)
            stop_running(core, event->component);
        set_state(core, event->component, PLEAT_FINISHING);
        if (is_several(core, component))
            job_end_others(core, event->component);
    }
    component_give_back(core, event->component);
    return 0;
}

void on_component_deadline(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    core->wants_pass = true;
    switch (comp->state) {
    case PLEAT_QUEUED:
        if (comp->aside == PLEAT_ASIDE_RESERVATION)
            on_reservation_comes(core, component);
        else if (comp->holds & PLEAT_HELD_BY_FAULT)
            on_pause_over(core, component);
        else
            earmarks_drop(core, component);
        break;
    case PLEAT_PLACED:
    case PLEAT_STAGING_IN:
        on_placed_deadline(core, component);
        break;
    case PLEAT_CLAIMING:
        if (comp->starting) {
            node_error(core, comp->site, comp->lead_node);
            /* the agent is away, and cannot have started it: wait for the agent */
            if (comp->untold)
                start_await(core, component);
            else
                component_kill(core, component, PLEAT_REASON_START_SYSTEM);
            break;
        }
        if (waits_at_barrier(core, comp)) {
            job_put_back(core, component);
            break;
        }
        if (comp->start_claim == PLEAT_NONE || !claim_at(core, comp->start_claim)->waits)
            site_error(core, comp->site); /* having waited in a queue in vain is no error */
        site_at(core, comp->site)->quiet_until_us =
            now_of(core) + core->parameters[PLEAT_PARAM_BACKOFF_US];
        component_claim_failed(core, component, PLEAT_REASON_CLAIM_TIMEOUT);
        break;
    case PLEAT_FINISHING: /* its processes are still there: KILL is repeated */
        run_effect(core, component);
        arm(core, &comp->deadline, DEADLINE_COMPONENT, component,
            now_of(core) + core->parameters[PLEAT_PARAM_KILL_US]);
        break;
    case PLEAT_RUNNING:
    case PLEAT_RESIZING:
        if (limit_is_over(core, comp))
            component_kill(core, component, PLEAT_REASON_TIME_LIMIT);
        else if (site_time_over(core, comp))
            component_kill(core, component, site_time_over(core, comp));
        else {
            processes_leave(core, component);
            terms_follow(core, component);
            resize_off_lent(core, component);
        }
        break;
    default:
        break;
    }
}
