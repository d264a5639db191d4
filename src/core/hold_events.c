/* What users ask for about waiting jobs: hold, release, revise them; or have one wait again. */
#include "core/depend.h"
#include "core/ending.h"
#include "core/handlers.h"
#include "core/hold.h"
#include "core/state.h"
#include "core/tally.h"

int on_hold(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    int rc = hold_check(core, event->component, err);
    if (rc)
        return rc;
    if (component_at(core, event->component)->holds & PLEAT_HELD_BY_USER)
        return pleat_error_set(err, PLEAT_E_STATE, "it is held already");
    hold_add(core, event->component, PLEAT_HELD_BY_USER);
    return 0;
}

int on_release(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    uint32_t component = event->component;
    bool needs = event->flags & PLEAT_RELEASE_NEEDS;
    bool hold = !needs || (event->flags & PLEAT_RELEASE_HOLD);
    unsigned by = (hold ? PLEAT_HELD_BY_USER : 0u) | (needs ? PLEAT_HELD_BY_JOBS : 0u);
    unsigned holds = component_at(core, component)->holds & by;
    if (!holds)
        return pleat_error_set(err, PLEAT_E_STATE, "it is not held%s",
                               needs ? ", and waits for no other job" : "");
    if (holds & PLEAT_HELD_BY_JOBS) {
        needs_drop(core, component);
        hold_remove(core, component, PLEAT_HELD_BY_JOBS);
    }
    if (holds & PLEAT_HELD_BY_USER)
        hold_remove(core, component, PLEAT_HELD_BY_USER);
    return 0;
}

int on_requeue(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    struct pleat_component *component = component_at(core, event->component);
    if (component->state < PLEAT_PLACED || component->state > PLEAT_RESIZING)
        return pleat_error_set(
            err, PLEAT_E_STATE, "it does not run, it is %s",
            pleat_component_state_name((enum pleat_component_state)component->state));
    if (component->lead != PLEAT_NONE)
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "a job of several components cannot be requeued");
    if (event->flags & PLEAT_AND_HOLD)
        component->holds |= PLEAT_HELD_BY_USER;
    component_kill(core, event->component, PLEAT_REASON_REQUEUED);
    return 0;
}

int on_revise(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    struct pleat_component *component = component_at(core, event->component);
    int64_t estimate_us = event->u.revise.estimate_us;
    int rc = hold_check(core, event->component, err);
    if (rc)
        return rc;
    if (!(event->flags & (PLEAT_REVISE_PRIORITY | PLEAT_REVISE_ESTIMATE)) || estimate_us < 0 ||
        estimate_us > PLEAT_NEVER / 4)
        return pleat_error_set(err, PLEAT_E_INVALID, "an estimate of %lld us, or nothing to revise",
                               (long long)estimate_us);
    bool stands = component->aside == PLEAT_ASIDE_NOT;
    if (stands)
        queue_remove(core, event->component);
    if (event->flags & PLEAT_REVISE_PRIORITY)
        component->priority = event->u.revise.priority;
    if (event->flags & PLEAT_REVISE_ESTIMATE)
        component->estimate_us = estimate_us;
    if (stands)
        queue_replace(core, event->component);
    core->wants_pass = true;
    return 0;
}
