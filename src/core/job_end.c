/* The end of a job of several components. They end one by one, and each gives back what it has.
 * Their states change when all have ended, since a failure that is not the user's own sends all of
 * them back to the queue. */
#include "core/job_end.h"
#include "core/claims.h"
#include "core/depend.h"
#include "core/ended.h"
#include "core/files.h"
#include "core/job.h"
#include "core/state.h"
#include "core/tally.h"

bool job_requeues(const struct pleat_core *core, uint32_t lead)
{
    const struct pleat_component *all = core->components.items;
    bool failed = false;
    for (uint32_t c = lead; c != PLEAT_NONE; c = sibling_of(core, c)) {
        if (all[c].state != PLEAT_FINISHING)
            continue;
        bool others = is_nobodys_fault(&all[c]);
        if (!others && all[c].reason != PLEAT_REASON_SIBLING && !is_done(&all[c]))
            return false;
        if (!may_start_again(&all[c]))
            return false;
        failed = failed || others;
    }
    return failed && all[lead].attempt + 1 < core->parameters[PLEAT_PARAM_ATTEMPTS];
}

/* Have some components ended, and given back all, while the others never began? */
static bool is_over(struct pleat_core *core, uint32_t lead)
{
    bool any = false;
    for (uint32_t c = lead; c != PLEAT_NONE; c = sibling_of(core, c)) {
        const struct pleat_component *component = component_at(core, c);
        if (component->claims > 0 || (component->state == PLEAT_FINISHING && !component->exited) ||
            (component->state != PLEAT_FINISHING && component->state != PLEAT_QUEUED))
            return false;
        any = any || component->state == PLEAT_FINISHING;
    }
    return any;
}

static void requeue_all(struct pleat_core *core, uint32_t lead)
{
    for (uint32_t c = lead; c != PLEAT_NONE; c = sibling_of(core, c)) {
        struct pleat_component *component = component_at(core, c);
        component->attempt++;
        if (component->state == PLEAT_QUEUED)
            continue;
        component_reset(core, c);
        component->aside = PLEAT_ASIDE_TOWED;
    }
    job_stand(core, lead, JOB_IN_FRONT, 0);
}

/* The final state of components that never ran, and its reason. */
static enum pleat_component_state state_of_rest(struct pleat_core *core, uint32_t lead,
                                                enum pleat_reason *reason)
{
    enum pleat_component_state state = PLEAT_DONE;
    *reason = PLEAT_REASON_NONE;
    for (uint32_t c = lead; c != PLEAT_NONE; c = sibling_of(core, c)) {
        const struct pleat_component *component = component_at(core, c);
        if (component->state != PLEAT_FINISHING || is_done(component))
            continue;
        if (component->reason == PLEAT_REASON_CANCELLED) {
            *reason = PLEAT_REASON_CANCELLED;
            return PLEAT_CANCELLED;
        }
        *reason = PLEAT_REASON_SIBLING;
        state = PLEAT_FAILED;
    }
    return state;
}

static bool ended_well(struct pleat_core *core, uint32_t lead)
{
    for (uint32_t c = lead; c != PLEAT_NONE; c = sibling_of(core, c))
        if (component_at(core, c)->state == PLEAT_FINISHING && !is_done(component_at(core, c)))
            return false;
    return true;
}

void job_settle(struct pleat_core *core, uint32_t lead)
{
    enum pleat_reason reason;
    if (!is_over(core, lead))
        return;
    core->wants_pass = true;
    if (job_requeues(core, lead)) {
        requeue_all(core, lead);
        return;
    }
    enum pleat_component_state rest = state_of_rest(core, lead, &reason);
    job_unstand(core, lead);
    if (component_at(core, lead)->first_dependent != PLEAT_NONE)
        dependents_ended(core, lead, ended_well(core, lead));
    for (uint32_t c = lead; c != PLEAT_NONE; c = sibling_of(core, c)) {
        struct pleat_component *component = component_at(core, c);
        component->processors = component->processes = component->target = component->mpl = 0;
        bool ran = component->state == PLEAT_FINISHING;
        if (!ran)
            component->reason = (uint8_t)reason;
        staging_drop(core, c);
        component_end_part(core, c,
                           !ran                                          ? rest
                           : component->reason == PLEAT_REASON_CANCELLED ? PLEAT_CANCELLED
                           : is_done(component)                          ? PLEAT_DONE
                                                                         : PLEAT_FAILED);
    }
}

void job_cancel_waiting(struct pleat_core *core, uint32_t lead, enum pleat_reason reason,
                        enum pleat_component_state state)
{
    job_unstand(core, lead);
    if (core->open_lead == lead)
        core->open_lead = PLEAT_NONE;
    if (component_at(core, lead)->first_dependent != PLEAT_NONE)
        dependents_ended(core, lead, false);
    for (uint32_t c = lead; c != PLEAT_NONE; c = sibling_of(core, c)) {
        if (component_at(core, c)->aside == PLEAT_ASIDE_RESERVATION)
            reserved_remove(core, c);
        earmarks_drop(core, c);
        staging_drop(core, c);
        component_at(core, c)->reason = (uint8_t)reason;
        component_end_part(core, c, state);
    }
}
