/* The processors of a start: asked of the site, there, or not to be had. */
#include "core/claiming.h"
#include "core/barrier.h"
#include "core/claims.h"
#include "core/deadlines.h"
#include "core/ending.h"
#include "core/job.h"
#include "core/running.h"
#include "core/state.h"
#include "core/transition.h"

/* The component has all processors that it is to start with. */
static void all_claimed(struct pleat_core *core, uint32_t component)
{
    const struct pleat_component *comp = component_at(core, component);
    if (is_several(core, comp) || (core->view.stages && comp->staging))
        component_at_barrier(core, component);
    else
        component_start(core, component);
}

void component_claim(struct pleat_core *core, uint32_t component, int32_t missing)
{
    struct pleat_component *comp = component_at(core, component);
    uint32_t asked = claim_request(core, component, comp->site, missing, PLEAT_FOR_RUN);
    if (asked != PLEAT_NONE && claim_at(core, asked)->state == PLEAT_CLAIM_HELD) {
        claim_link(core, asked);
        if (missing == comp->target) /* the common case: there is nothing to add up */
            all_claimed(core, component);
        else
            component_claimed(core, component);
        return;
    }
    comp->start_claim = asked;
    arm(core, &comp->deadline, DEADLINE_COMPONENT, component,
        now_of(core) + core->parameters[PLEAT_PARAM_CLAIM_US]);
}

void component_claimed(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    int32_t got = 0;
    for (uint32_t c = comp->first_claim; c != PLEAT_NONE; c = claim_at(core, c)->next)
        got += claim_at(core, c)->count;
    if (got < comp->target) {
        int32_t size = pleat_view_folds(comp)
                           ? (got < pleat_accept_smallest(&core->view, comp) ? 0 : got)
                           : pleat_accept_start_floor(&core->view, comp, got);
        if (size == 0) {
            component_claim_failed(core, component, PLEAT_REASON_CLAIM_REFUSED);
            return;
        }
        component_release_tail(core, component, got - size);
        comp->target = size;
    }
    all_claimed(core, component);
}

bool component_would_be_smaller(const struct pleat_core *core, uint32_t component,
                                enum pleat_reason reason)
{
    const struct pleat_component *comp = &core->components.items[component];
    if (reason != PLEAT_REASON_CLAIM_CANNOT || comp->state != PLEAT_CLAIMING)
        return false;
    struct pleat_component anew = *comp;
    anew.mpl = 0; /* how far it folds is chosen anew */
    anew.processes = 0;
    int32_t most = pleat_view_capacity(&core->view, comp, comp->site);
    int32_t least = pleat_accept_start(&core->view, &anew);
    return pleat_view_is_on_lent_node(&core->view, comp, comp->site) && comp->target > most &&
           least > 0 && least <= most;
}

void component_claim_failed(struct pleat_core *core, uint32_t component, enum pleat_reason reason)
{
    struct pleat_component *comp = component_at(core, component);
    disarm(core, &comp->deadline);
    component_stop_waiting(core, component);
    if (comp->start_claim != PLEAT_NONE) {
        claim_release(core, comp->start_claim);
        comp->start_claim = PLEAT_NONE;
    }
    int64_t limit = core->parameters[PLEAT_PARAM_MAX_TRIES];
    if (component_would_be_smaller(core, component, reason))
        reason = PLEAT_REASON_CLAIM_REFUSED;
    comp->tries++;
    core->wants_pass = true;
    if (reason == PLEAT_REASON_CLAIM_CANNOT || (limit > 0 && comp->tries > limit)) {
        component_kill(core, component,
                       reason == PLEAT_REASON_CLAIM_CANNOT ? reason : PLEAT_REASON_TRIES);
        return;
    }
    comp->retries++;
    /* processors that the component has already stay earmarked for it */
    comp->target = 0;
    comp->mpl = 0;
    if (pleat_view_folds(comp))
        comp->processes = 0;
    for (uint32_t c = comp->first_claim; c != PLEAT_NONE; c = claim_at(core, c)->next) {
        claim_at(core, c)->purpose = PLEAT_FOR_EARMARK;
        comp->earmarked += claim_at(core, c)->count;
        claim_note(core, c);
    }
    if (comp->earmarked > 0)
        arm(core, &comp->deadline, DEADLINE_COMPONENT, component,
            now_of(core) + core->parameters[PLEAT_PARAM_EARMARK_US]);
    else
        comp->site = PLEAT_NONE;
    set_state(core, component, PLEAT_QUEUED);
    component_wait(core, component);
}
