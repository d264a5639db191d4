/* Incremental claiming (Lammers 2005, 3.4): a placed component has its files brought to its site.
 * Processors are claimed when all files of the job are expected to be there, not before. Until then
 * other jobs may take them, and the component has to be placed again. With every such retry it
 * claims PLEAT_PARAM_CLAIM_EARLIER_US earlier; after enough retries it claims at once. */
#include "core/placed.h"
#include "core/barrier.h"
#include "core/claiming.h"
#include "core/deadlines.h"
#include "core/ending.h"
#include "core/files.h"
#include "core/handlers.h"
#include "core/job.h"
#include "core/state.h"
#include "core/transition.h"

static bool is_placed(const struct pleat_component *component)
{
    return component->state == PLEAT_PLACED || component->state == PLEAT_STAGING_IN;
}

/* Claims the processors that the component does not have yet. */
static void claim_now(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    const struct pleat_site *site = site_at(core, comp->site);
    int32_t missing = comp->target;
    for (uint32_t c = comp->first_claim; c != PLEAT_NONE; c = claim_at(core, c)->next)
        missing -= claim_at(core, c)->count;
    disarm(core, &comp->deadline);
    set_state(core, component, PLEAT_CLAIMING);
    if (missing <= 0)
        component_claimed(core, component);
    else if (missing > pleat_view_site_unused(site))
        component_claim_failed(core, component, PLEAT_REASON_CLAIM_REFUSED);
    else
        component_claim(core, component, missing);
}

/* When all files of the job's placed components are expected to be there. */
static int64_t files_there(struct pleat_core *core, uint32_t first)
{
    int64_t us = 0;
    for (uint32_t c = first; c != PLEAT_NONE; c = sibling_of(core, c))
        if (component_at(core, c)->staging && is_placed(component_at(core, c)) &&
            coallocation_of(core, c)->files_us > us)
            us = coallocation_of(core, c)->files_us;
    return us;
}

/* Claims the processors of all placed components of the job, or sets the time for that. Those of
 * `counted`, which is placed in this pass, are known to its policies; PLEAT_NONE: of none. */
static void claim_in_time(struct pleat_core *core, uint32_t first, uint32_t counted)
{
    int64_t there_us = files_there(core, first);
    double earlier_us = (double)core->parameters[PLEAT_PARAM_CLAIM_EARLIER_US];
    for (uint32_t c = first; c != PLEAT_NONE; c = sibling_of(core, c)) {
        struct pleat_component *component = component_at(core, c);
        if (!is_placed(component))
            continue;
        double less_us = earlier_us * component->retries,
               wait_us = (double)(there_us - now_of(core));
        int64_t at_us = wait_us > less_us ? there_us - (int64_t)less_us : now_of(core);
        if (at_us <= now_of(core)) {
            core->overtaken |= c != counted;
            claim_now(core, c);
        } else {
            arm(core, &component->deadline, DEADLINE_COMPONENT, c, at_us);
            core->wants_pass = true; /* other jobs may take its processors until then */
        }
    }
}

void component_placed(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    uint32_t first = job_first(core, component);
    if (comp->lead != PLEAT_NONE && job_waits(core, first)) {
        arm(core, &comp->deadline, DEADLINE_COMPONENT, component,
            now_of(core) + core->parameters[PLEAT_PARAM_BARRIER_US]);
        return;
    }
    for (uint32_t c = first; c != PLEAT_NONE; c = sibling_of(core, c))
        if (component_at(core, c)->state == PLEAT_PLACED)
            files_bring(core, c);
    claim_in_time(core, first, component);
}

void on_placed_deadline(struct pleat_core *core, uint32_t component)
{
    claim_now(core, component);
}

int on_staged(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    (void)err;
    struct pleat_component *component = component_at(core, event->component);
    if (!component->staging || event->u.staged.number != component->staging_number)
        return PLEAT_CORE_STALE;
    component->staging = 0;
    coallocation_of(core, event->component)->files_us = 0;
    if (component->state == PLEAT_CLAIMING && waits_at_barrier(core, component))
        job_pass_barrier(core, event->component);
    else if (component->state == PLEAT_STAGING_IN &&
             (component->lead == PLEAT_NONE || !job_waits(core, component->lead)))
        claim_in_time(core, job_first(core, event->component), PLEAT_NONE);
    return 0;
}

int on_stage_failed(struct pleat_core *core, const struct pleat_event *event,
                    struct pleat_error *err)
{
    (void)err;
    struct pleat_component *component = component_at(core, event->component);
    if (!component->staging || event->u.staged.number != component->staging_number)
        return PLEAT_CORE_STALE;
    staging_drop(core, event->component);
    core->wants_pass = true;
    if (event->u.staged.reason == PLEAT_REASON_START_USER) {
        component_give_up(core, event->component, PLEAT_REASON_START_USER);
    } else if (component->state != PLEAT_QUEUED) {
        component_claim_failed(core, event->component, PLEAT_REASON_CLAIM_FAILED);
    }
    return 0;
}
