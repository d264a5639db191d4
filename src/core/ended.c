/* Components that have ended for good, and how they are forgotten. Also how a component that waits
 * again after its end is reset, as if it had not run. */
#include "core/ended.h"
#include "core/asks.h"
#include "core/buffer.h"
#include "core/claims.h"
#include "core/depend.h"
#include "core/files.h"
#include "core/handlers.h"
#include "core/hold.h"
#include "core/job.h"
#include "core/limits.h"
#include "core/state.h"
#include "core/timings.h"
#include "core/transition.h"

/* Frees the component's record, which stays as it is until it is used again. */
static void forget(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    if (core->view.stages && pleat_view_has_files(&core->view, comp))
        inputs_free(core, component);
    comp->aside = PLEAT_FORGOTTEN;
    comp->next = core->free_component;
    core->free_component = component;
}

void ended_forget(struct pleat_core *core, uint32_t component)
{
    uint32_t first = job_first(core, component);
    if (!(component_at(core, first)->flags & PLEAT_COMPONENT_FORGET))
        return;
    for (uint32_t c = first; c != PLEAT_NONE; c = sibling_of(core, c))
        if (!pleat_component_state_is_final(
                (enum pleat_component_state)component_at(core, c)->state) ||
            pleat_component_is_forgotten(component_at(core, c)) ||
            component_at(core, c)->claims > 0)
            return;
    for (uint32_t c = first; c != PLEAT_NONE; c = sibling_of(core, c))
        forget(core, c);
}

int on_forget(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    struct pleat_component *component = component_at(core, event->component);
    if (!pleat_component_state_is_final(component->state) ||
        pleat_component_is_forgotten(component))
        return pleat_error_set(err, PLEAT_E_STATE,
                               "a job that has not ended, or is forgotten, cannot be forgotten");
    component_at(core, job_first(core, event->component))->flags |= PLEAT_COMPONENT_FORGET;
    ended_forget(core, event->component);
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

void component_end(struct pleat_core *core, uint32_t component, enum pleat_component_state state)
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

void component_end_part(struct pleat_core *core, uint32_t component,
                        enum pleat_component_state state)
{
    struct pleat_component *comp = component_at(core, component);
    if (comp->end_us == PLEAT_NEVER)
        comp->end_us = now_of(core);
    comp->aside = PLEAT_ASIDE_NOT;
    set_state(core, component, state);
    timings_drop(core, component);
    if (comp->buffer != PLEAT_NONE)
        buffer_close(core, component);
    ended_forget(core, component);
}

void component_reset(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    comp->processors = comp->processes = comp->target = comp->mpl = 0;
    comp->site = PLEAT_NONE;
    comp->start_us = comp->end_us = PLEAT_NEVER;
    comp->cap = PLEAT_SIZE_MAX;
    declared_keep(core, component);
    ask_forget(core, component);
    comp->below = 0;
    comp->untold = 0;
    set_state(core, component, PLEAT_QUEUED);
    comp->reason = PLEAT_REASON_NONE;
    comp->code = 0;
    comp->signal = 0;
}
