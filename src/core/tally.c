/* Lists of waiting and running components, and what they sum up to per site. */
#include "core/internal.h"

void queue_append(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *job = component_at(core, component);
    job->next = PLEAT_NONE;
    job->previous = core->view.queue_last;
    if (job->previous != PLEAT_NONE)
        component_at(core, job->previous)->next = component;
    else
        core->view.queue_first = component;
    core->view.queue_last = component;
}

void queue_prepend(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *job = component_at(core, component);
    job->previous = PLEAT_NONE;
    job->next = core->view.queue_first;
    if (job->next != PLEAT_NONE)
        component_at(core, job->next)->previous = component;
    else
        core->view.queue_last = component;
    core->view.queue_first = component;
}

static void unlink_from(struct pleat_core *core, uint32_t component, uint32_t *first,
                        uint32_t *last)
{
    struct pleat_component *job = component_at(core, component);
    if (job->previous != PLEAT_NONE)
        component_at(core, job->previous)->next = job->next;
    else
        *first = job->next;
    if (job->next != PLEAT_NONE)
        component_at(core, job->next)->previous = job->previous;
    else
        *last = job->previous;
    job->previous = job->next = PLEAT_NONE;
}

void queue_remove(struct pleat_core *core, uint32_t component)
{
    unlink_from(core, component, &core->view.queue_first, &core->view.queue_last);
}

/* What a running component adds to the sums of its site. */
static void tally(struct pleat_core *core, uint32_t component, int sign)
{
    const struct pleat_component *job = component_at(core, component);
    if (job->kind != PLEAT_MALLEABLE ||
        (job->state != PLEAT_RUNNING && job->state != PLEAT_RESIZING))
        return;
    struct pleat_site *site = site_at(core, job->site);
    int32_t above = job->target - pleat_accept_smallest(&core->view, job);
    if (above > 0)
        site->reclaimable += sign * above;
    int32_t limit = job->maximum < job->cap ? job->maximum : job->cap;
    if (job->target < limit)
        site->growers += (uint32_t)sign;
    if (job->state == PLEAT_RESIZING)
        site->resizing_count += (uint32_t)sign;
}

void tally_out(struct pleat_core *core, uint32_t component)
{
    tally(core, component, -1);
}

void tally_in(struct pleat_core *core, uint32_t component)
{
    tally(core, component, 1);
}

/* Start times never go back, so appending keeps the list sorted by start. */
void running_add(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *job = component_at(core, component);
    struct pleat_site *site = site_at(core, job->site);
    bool malleable = job->kind == PLEAT_MALLEABLE;
    uint32_t *first = malleable ? &site->malleable_first : &site->rigid_first;
    uint32_t *last = malleable ? &site->malleable_last : &site->rigid_last;
    job->next = PLEAT_NONE;
    job->previous = *last;
    if (*last != PLEAT_NONE)
        component_at(core, *last)->next = component;
    else
        *first = component;
    *last = component;
    site->malleable_count += malleable;
    tally_in(core, component);
}

void running_remove(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *job = component_at(core, component);
    struct pleat_site *site = site_at(core, job->site);
    tally_out(core, component);
    if (job->kind == PLEAT_MALLEABLE) {
        unlink_from(core, component, &site->malleable_first, &site->malleable_last);
        site->malleable_count--;
    } else {
        unlink_from(core, component, &site->rigid_first, &site->rigid_last);
    }
}
