/* Jobs of several components (Lammers 2005, 2.2 and 3.2-3.5).
 *
 * Of the components that wait to be placed, the first stands in the queue for all; the others are
 * in its tow. No component of the job stands there
 * - before the last component has been submitted,
 * - while a component is being ended: then the job ends, or all of it waits again,
 * - while the job has a reservation whose time has not come,
 * - if the job is flexible and has all its processors: components that it did not need never run.
 *
 * How they get their processors and are started together: barrier.c. How they end: job_end.c. */
#include "core/job.h"
#include "core/state.h"
#include "core/tally.h"

bool job_waits(const struct pleat_core *core, uint32_t lead)
{
    const struct pleat_component *all = core->components.items;
    bool any = false;
    if (lead == core->open_lead)
        return false;
    for (uint32_t c = lead; c != PLEAT_NONE; c = sibling_of(core, c)) {
        if (all[c].state == PLEAT_FINISHING ||
            (all[c].state == PLEAT_QUEUED && all[c].aside == PLEAT_ASIDE_RESERVATION))
            return false;
        any = any || all[c].state == PLEAT_QUEUED;
    }
    return any &&
           (pleat_view_total(&core->view, lead) == 0 || pleat_view_missing(&core->view, lead) > 0);
}

/* The component of the job that stands in the queue; PLEAT_NONE: there is none. */
static uint32_t standing(struct pleat_core *core, uint32_t lead)
{
    for (uint32_t c = lead; c != PLEAT_NONE; c = sibling_of(core, c))
        if (component_at(core, c)->state == PLEAT_QUEUED &&
            component_at(core, c)->aside == PLEAT_ASIDE_NOT)
            return c;
    return PLEAT_NONE;
}

void job_unstand(struct pleat_core *core, uint32_t lead)
{
    uint32_t stands = standing(core, lead);
    if (stands == PLEAT_NONE)
        return;
    struct pleat_component *component = component_at(core, stands);
    queue_remove(core, stands);
    component->aside = PLEAT_ASIDE_TOWED;
    if (pleat_view_total(&core->view, lead) > 0)
        component->minimum = component->maximum = 0;
}

/* The component that stands in the queue for a flexible job gets the size that the job still needs.
 * Its other waiting components have size 0. */
static void size_parts(struct pleat_core *core, uint32_t lead, uint32_t stands)
{
    if (pleat_view_total(&core->view, lead) == 0)
        return;
    int32_t missing = pleat_view_missing(&core->view, lead);
    for (uint32_t c = lead; c != PLEAT_NONE; c = sibling_of(core, c)) {
        struct pleat_component *component = component_at(core, c);
        if (component->state == PLEAT_QUEUED)
            component->minimum = component->maximum = c == stands ? missing : 0;
    }
}

void job_stand(struct pleat_core *core, uint32_t lead, enum job_place place, int64_t position)
{
    uint32_t first = lead;
    job_unstand(core, lead);
    if (!job_waits(core, lead)) {
        size_parts(core, lead, PLEAT_NONE);
        return;
    }
    while (component_at(core, first)->state != PLEAT_QUEUED)
        first = sibling_of(core, first);
    size_parts(core, lead, first);
    component_at(core, first)->aside = PLEAT_ASIDE_NOT;
    if (place == JOB_AT) {
        component_at(core, first)->position = position;
        queue_replace(core, first);
    } else if (place == JOB_BEHIND) {
        queue_append(core, first);
    } else {
        queue_prepend(core, first);
    }
}

void job_stand_again(struct pleat_core *core, uint32_t lead)
{
    uint32_t stands = standing(core, lead);
    if (stands != PLEAT_NONE)
        job_stand(core, lead, JOB_AT, component_at(core, stands)->position);
    else
        size_parts(core, lead, PLEAT_NONE);
}

void component_wait(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    if (comp->lead == PLEAT_NONE) {
        queue_prepend(core, component);
        return;
    }
    comp->aside = PLEAT_ASIDE_TOWED;
    job_stand(core, comp->lead, JOB_IN_FRONT, 0);
}

/* Ends the component's wait at the barrier. What its processors did in that time was of no use to
 * anybody: it is counted as wasted. */
void component_stop_waiting(struct pleat_core *core, uint32_t component)
{
    const struct pleat_component *comp = component_at(core, component);
    struct pleat_coallocation *waits = coallocation_of(core, component);
    if (!waits || waits->claimed_us == PLEAT_NEVER)
        return;
    core->view.wasted_us += (now_of(core) - waits->claimed_us) * comp->target;
    waits->claimed_us = PLEAT_NEVER;
}

/* ---- submission ---- */

static int check_follower(const struct pleat_core *core, const struct pleat_event *event,
                          struct pleat_error *err)
{
    const struct pleat_component *all = core->components.items;
    uint32_t lead = core->open_lead;
    unsigned count = 0;
    if (lead == PLEAT_NONE && event->u.submit.ordinal == 0)
        return 0;
    for (uint32_t c = lead; c != PLEAT_NONE; c = sibling_of(core, c))
        count++;
    if (lead == PLEAT_NONE || all[lead].job != event->u.submit.job ||
        count != event->u.submit.ordinal)
        return pleat_error_set(err, PLEAT_E_STATE,
                               "component %u of job %llu is not the one that is awaited: those of "
                               "a job are submitted one after another, beginning with 0",
                               event->u.submit.ordinal, (unsigned long long)event->u.submit.job);
    if (count + 1 == PLEAT_COMPONENTS_MAX && (event->flags & PLEAT_COMPONENT_FOLLOWS))
        return pleat_error_set(err, PLEAT_E_TOOBIG, "a job has at most %d components",
                               PLEAT_COMPONENTS_MAX);
    return 0;
}

/* Could all components be placed at the same time if the sites were empty? Only the sums of
 * processors are compared. So a job that passes may still wait for ever: its components need not
 * fit the sites one by one. */
static int check_together(const struct pleat_core *core, uint32_t lead,
                          const struct pleat_component *last, struct pleat_error *err)
{
    const struct pleat_component *all = core->components.items;
    int64_t need = pleat_view_total(&core->view, lead) ? pleat_view_total(&core->view, lead)
                                                       : pleat_accept_start(&core->view, last);
    int64_t capacity = 0;
    for (uint32_t c = lead; pleat_view_total(&core->view, lead) == 0 && c != PLEAT_NONE;
         c = sibling_of(core, c))
        need += pleat_accept_start(&core->view, &all[c]);
    for (uint32_t s = 0; s < core->sites.count; s++)
        capacity += pleat_larger(core->sites.items[s].whole, core->sites.items[s].capacity);
    if (need <= capacity)
        return 0;
    return pleat_error_set(err, PLEAT_E_TOOBIG,
                           "its components need %lld processors, and all sites have %lld",
                           (long long)need, (long long)capacity);
}

static bool is_flexible_part(const struct pleat_core *core, const struct pleat_event *event)
{
    return event->u.submit.ordinal > 0 && pleat_view_total(&core->view, core->open_lead) > 0;
}

int job_check_submit(const struct pleat_core *core, const struct pleat_event *event,
                     const struct pleat_component *component, bool *is_part,
                     struct pleat_error *err)
{
    bool follows = event->flags & PLEAT_COMPONENT_FOLLOWS;
    int rc = check_follower(core, event, err);
    if (rc)
        return rc;
    *is_part = is_flexible_part(core, event);
    bool flexible = *is_part || (event->flags & PLEAT_COMPONENT_FLEXIBLE);
    if (flexible &&
        (component->kind != PLEAT_RIGID || component->sizes_kind != PLEAT_SIZES_ANY ||
         component->wanted_site != PLEAT_NONE ||
         (*is_part && (component->minimum || component->maximum || component->initial))))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "the components of a flexible job are rigid, take any size and run "
                               "anywhere; the first has the size of the job, the others have none");
    return event->u.submit.ordinal > 0 && !follows
               ? check_together(core, core->open_lead, component, err)
               : 0;
}

void job_submitted(struct pleat_core *core, uint32_t component, uint16_t flags)
{
    struct pleat_component *comp = component_at(core, component);
    bool follows = flags & PLEAT_COMPONENT_FOLLOWS;
    comp->aside = PLEAT_ASIDE_TOWED;
    core->view.several = true;
    if (comp->ordinal == 0) {
        core->open_lead = component;
        if (flags & PLEAT_COMPONENT_FLEXIBLE)
            coallocation_of(core, component)->total = comp->maximum;
    } else {
        uint32_t last = core->open_lead;
        while (sibling_of(core, last) != PLEAT_NONE)
            last = sibling_of(core, last);
        coallocation_of(core, last)->sibling = component;
    }
    comp->lead = core->open_lead;
    if (!follows) {
        core->open_lead = PLEAT_NONE;
        job_stand(core, comp->lead, JOB_BEHIND, 0);
    }
    size_parts(core, comp->lead, standing(core, comp->lead));
}

uint32_t job_next(const struct pleat_core *core, uint32_t component)
{
    uint32_t next = sibling_of(core, component);
    return next != PLEAT_NONE ? next : core->components.items[component].lead;
}

bool job_is_waiting(const struct pleat_core *core, uint32_t lead)
{
    const struct pleat_component *all = core->components.items;
    for (uint32_t c = lead; c != PLEAT_NONE; c = sibling_of(core, c))
        if (all[c].state != PLEAT_QUEUED)
            return false;
    return true;
}
