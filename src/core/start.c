/* The decision to start a component: checked, and its processors claimed. */
#include "core/claiming.h"
#include "core/claims.h"
#include "core/deadlines.h"
#include "core/handlers.h"
#include "core/job.h"
#include "core/placed.h"
#include "core/state.h"
#include "core/tally.h"
#include "core/transition.h"

/* Hands a queued component's earmarks over to its run, and returns how many processors these are.
 * Earmarks beyond `size` go back. */
static int32_t use_earmarks(struct pleat_core *core, uint32_t component, int32_t size)
{
    struct pleat_component *comp = component_at(core, component);
    if (comp->earmarked > size)
        component_release_tail(core, component, comp->earmarked - size);
    int32_t used = comp->earmarked < size ? comp->earmarked : size;
    comp->earmarked = 0;
    for (uint32_t c = comp->first_claim; c != PLEAT_NONE; c = claim_at(core, c)->next) {
        claim_at(core, c)->purpose = PLEAT_FOR_RUN;
        claim_note(core, c);
    }
    return used;
}

/* May the component start with the processors, processes and MPL that the decision gives it? */
static bool start_is_accepted(const struct pleat_core *core,
                              const struct pleat_component *component,
                              const struct pleat_event *event)
{
    int32_t size = event->u.start.processors, processes = event->u.start.processes;
    if (size < 1)
        return false;
    if (is_several(core, component) && pleat_view_total(&core->view, component->lead) > 0)
        return size <= pleat_view_missing(&core->view, component->lead);
    if (!pleat_view_folds(component))
        return pleat_accept_start_floor(&core->view, component, size) == size;
    struct pleat_sizes sizes = pleat_view_sizes(&core->view, component);
    int64_t mpl = event->u.start.mpl;
    return size <= processes && mpl >= 1 && mpl <= pleat_view_mpl(&core->view, component) &&
           size <= pleat_view_partition_most(&core->view, component) &&
           size >= pleat_view_partition_least(&core->view, component, processes) &&
           pleat_mpl(processes, size) <= mpl && processes >= component->minimum &&
           processes <= component->maximum && pleat_sizes_floor(&sizes, processes) == processes;
}

/* Is the component in the queue, or in the tow of one that is? */
static bool may_start(const struct pleat_core *core, const struct pleat_component *component)
{
    if (!is_several(core, component) || component->state != PLEAT_QUEUED)
        return component->state == PLEAT_QUEUED && !component->aside;
    return component->aside != PLEAT_ASIDE_RESERVATION && job_waits(core, component->lead);
}

/* Places one of several components, or a component whose files have to be brought: its processors
 * are claimed later. */
static void place_apart(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    bool stood = !comp->aside;
    comp->aside = PLEAT_ASIDE_NOT;
    if (comp->lead != PLEAT_NONE) {
        if (pleat_view_total(&core->view, comp->lead) > 0)
            comp->minimum = comp->maximum = comp->target;
        if (stood) /* the job's next component stands in the queue in its place */
            job_stand(core, comp->lead, JOB_AT, comp->position);
        else
            job_stand_again(core, comp->lead);
    }
    component_placed(core, component);
}

int on_start(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    uint32_t component = event->component, place = event->u.start.site;
    struct pleat_component *comp = component_at(core, component);
    int32_t size = event->u.start.processors;
    if (!may_start(core, comp) || place >= core->sites.count)
        return pleat_error_set(err, PLEAT_E_STATE, "job %llu cannot start: it is %s",
                               (unsigned long long)comp->job,
                               pleat_component_state_name(comp->state));
    const struct pleat_site *site = site_at(core, place);
    int32_t earmarked = comp->site == place ? comp->earmarked : 0;
    bool fits = size <= earmarked || size - earmarked <= pleat_view_site_unused(site);
    if (!fits && core->overtaken) { /* the next pass knows what is left */
        core->wants_pass = true;
        return PLEAT_CORE_STALE;
    }
    if (!fits || !start_is_accepted(core, comp, event) ||
        !pleat_view_allows(&core->view, comp, place))
        return pleat_error_set(err, PLEAT_E_STATE,
                               "job %llu cannot start on %d processors of site %u: not free, or "
                               "not within its limits",
                               (unsigned long long)comp->job, size, place);
    if (comp->site != place && comp->site != PLEAT_NONE)
        earmarks_drop(core, component);
    coming_drop(core, component);
    disarm(core, &comp->deadline);
    if (!comp->aside)
        queue_remove(core, component);
    comp->promised_us = PLEAT_NEVER;
    comp->promised_site = PLEAT_NONE;
    set_state(core, component, PLEAT_PLACED);
    comp->site = place;
    comp->target = size;
    if (pleat_view_folds(comp)) {
        comp->processes = event->u.start.processes;
        comp->mpl = (uint8_t)event->u.start.mpl;
    }
    int32_t missing = size - use_earmarks(core, component, size);
    if (is_several(core, comp) || (core->view.stages && pleat_view_has_files(&core->view, comp))) {
        place_apart(core, component);
        return 0;
    }
    set_state(core, component, PLEAT_CLAIMING);
    if (missing == 0)
        component_claimed(core, component);
    else
        component_claim(core, component, missing);
    return 0;
}
