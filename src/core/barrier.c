/* The barrier (Lammers 2005, 3.2-3.5): components of a job get their processors one after another,
 * and wait for one another and for their files. They are started together, or all is given back. */
#include "core/barrier.h"
#include "core/claims.h"
#include "core/deadlines.h"
#include "core/ended.h"
#include "core/ending.h"
#include "core/job.h"
#include "core/running.h"
#include "core/state.h"
#include "core/tally.h"
#include "core/transition.h"

static bool has_all(struct pleat_core *core, uint32_t component)
{
    const struct pleat_component *comp = component_at(core, component);
    return comp->state == PLEAT_CLAIMING && waits_at_barrier(core, comp) && !comp->staging;
}

static bool all_are_there(struct pleat_core *core, uint32_t first)
{
    if (component_at(core, first)->lead != PLEAT_NONE && job_waits(core, first))
        return false;
    for (uint32_t c = first; c != PLEAT_NONE; c = sibling_of(core, c))
        if (component_at(core, c)->state != PLEAT_QUEUED && !has_all(core, c))
            return false;
    return true;
}

/* The component waits for the others, until PLEAT_PARAM_BARRIER_US after the last of the job's
 * files is expected. */
static void wait_at_barrier(struct pleat_core *core, uint32_t component, uint32_t first)
{
    int64_t from_us = now_of(core);
    for (uint32_t c = first; c != PLEAT_NONE; c = sibling_of(core, c))
        if (component_at(core, c)->staging && coallocation_of(core, c)->files_us > from_us)
            from_us = coallocation_of(core, c)->files_us;
    arm(core, &component_at(core, component)->deadline, DEADLINE_COMPONENT, component,
        from_us + core->parameters[PLEAT_PARAM_BARRIER_US]);
}

void job_pass_barrier(struct pleat_core *core, uint32_t component)
{
    uint32_t first = job_first(core, component);
    if (all_are_there(core, first)) {
        for (uint32_t c = first; c != PLEAT_NONE; c = sibling_of(core, c)) {
            if (component_at(core, c)->state == PLEAT_QUEUED)
                continue;
            component_stop_waiting(core, c);
            component_start(core, c);
        }
        return;
    }
    for (uint32_t c = first; c != PLEAT_NONE; c = sibling_of(core, c))
        if (waits_at_barrier(core, component_at(core, c)))
            wait_at_barrier(core, c, first);
}

void component_at_barrier(struct pleat_core *core, uint32_t component)
{
    coallocation_of(core, component)->claimed_us = now_of(core);
    job_pass_barrier(core, component);
}

/* One component gives back all that it has, and is no longer placed. */
static void put_back(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    component_stop_waiting(core, component);
    if (comp->state == PLEAT_QUEUED) {
        earmarks_drop(core, component);
        return;
    }
    disarm(core, &comp->deadline);
    component_release_all(core, component);
    comp->target = comp->mpl = 0;
    if (pleat_view_folds(comp))
        comp->processes = 0;
    comp->site = PLEAT_NONE;
    set_state(core, component, PLEAT_QUEUED);
}

void job_put_back(struct pleat_core *core, uint32_t component)
{
    uint32_t first = job_first(core, component);
    int64_t limit = core->parameters[PLEAT_PARAM_MAX_TRIES];
    core->wants_pass = true;
    if (limit > 0 && component_at(core, first)->tries >= limit) {
        component_kill(core, component, PLEAT_REASON_TRIES);
        return;
    }
    component_at(core, first)->tries++;
    if (component_at(core, first)->lead == PLEAT_NONE) {
        component_at(core, first)->retries++;
        put_back(core, first);
        queue_prepend(core, first);
        return;
    }
    job_unstand(core, first);
    for (uint32_t c = first; c != PLEAT_NONE; c = sibling_of(core, c)) {
        component_at(core, c)->retries++;
        put_back(core, c);
        component_at(core, c)->aside = PLEAT_ASIDE_TOWED;
    }
    job_stand(core, first, JOB_IN_FRONT, 0);
}
