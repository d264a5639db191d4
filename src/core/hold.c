/* Holds: what keeps a waiting component out of the queue. A component is held by its user, by jobs
 * that it depends on (depend.c), by a full group, or for a while by a fault of its site (errors.c).
 * A held component is in no list that policies see. As soon as nothing holds it, it stands in the
 * queue behind all others, as if it had been submitted then. After a fault, if nothing else held it
 * and it has no group, it stands at its old place.
 *
 * The limit of a group counts its components that stand in the queue or run. A component that
 * something else holds does not count, and does not wait for the group: it asks for a place in the
 * group when nothing else holds it. */
#include "core/hold.h"
#include "core/claims.h"
#include "core/handlers.h"
#include "core/state.h"
#include "core/tally.h"

static struct pleat_group *group_at(struct pleat_core *core, uint32_t index)
{
    return &core->groups.items[index];
}

static void append(struct pleat_core *core, uint32_t component)
{
    component_at(core, component)->aside = PLEAT_ASIDE_NOT;
    queue_append(core, component);
    core->wants_pass = true;
}

/* ---- groups: the line of components that wait for a place is linked like the queue ---- */

static void group_line_up(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    struct pleat_group *group = group_at(core, comp->group);
    comp->holds |= PLEAT_HELD_BY_GROUP;
    comp->previous = group->last;
    comp->next = PLEAT_NONE;
    if (group->last != PLEAT_NONE)
        component_at(core, group->last)->next = component;
    else
        group->first = component;
    group->last = component;
}

static void group_leave_line(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    struct pleat_group *group = group_at(core, comp->group);
    comp->holds &= (uint8_t)~PLEAT_HELD_BY_GROUP;
    if (comp->previous != PLEAT_NONE)
        component_at(core, comp->previous)->next = comp->next;
    else
        group->first = comp->next;
    if (comp->next != PLEAT_NONE)
        component_at(core, comp->next)->previous = comp->previous;
    else
        group->last = comp->previous;
    comp->previous = comp->next = PLEAT_NONE;
}

static void group_enter(struct pleat_core *core, uint32_t component)
{
    component_at(core, component)->in_group = 1;
    group_at(core, component_at(core, component)->group)->active++;
}

/* The component leaves its place in the group, which the next one in line gets. */
static void group_give_place(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    struct pleat_group *group = group_at(core, comp->group);
    comp->in_group = 0;
    group->active--;
    while (group->active < group->limit && group->first != PLEAT_NONE) {
        uint32_t next = group->first;
        group_leave_line(core, next);
        group_enter(core, next);
        append(core, next);
    }
}

int on_group(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    struct pleat_component *component = component_at(core, event->component);
    uint32_t index = event->u.group.group;
    int32_t limit = event->u.group.limit;
    int rc = hold_check(core, event->component, err);
    if (rc)
        return rc;
    bool founds = index == pleat_core_next_group(core);
    if (component->group != PLEAT_NONE || limit < 1 ||
        (!founds && (index >= core->groups.count || group_at(core, index)->members == 0 ||
                     group_at(core, index)->limit != limit)))
        return pleat_error_set(
            err, PLEAT_E_INVALID,
            "job %llu cannot be one of group %u, of which %d may run at one time",
            (unsigned long long)component->job, index, limit);
    if (founds) {
        struct pleat_group fresh = {
            .limit = limit, .first = PLEAT_NONE, .last = PLEAT_NONE, .next = PLEAT_NONE};
        if (core->free_group != PLEAT_NONE)
            core->free_group = group_at(core, index)->next;
        else if (pleat_array_push(&core->groups, fresh))
            return PLEAT_E_NOMEM;
        *group_at(core, index) = fresh;
    }
    component->group = index;
    group_at(core, index)->members++;
    if (component->holds)
        return 0;
    if (group_at(core, index)->active < limit)
        group_enter(core, event->component);
    else
        hold_add(core, event->component, PLEAT_HELD_BY_GROUP);
    return 0;
}

/* ---- holding ---- */

int hold_check(const struct pleat_core *core, uint32_t component, struct pleat_error *err)
{
    const struct pleat_component *comp = &core->components.items[component];
    if (comp->state != PLEAT_QUEUED)
        return pleat_error_set(err, PLEAT_E_STATE, "it does not wait, it is %s",
                               pleat_component_state_name((enum pleat_component_state)comp->state));
    if (comp->lead != PLEAT_NONE)
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "a job of several components cannot be held");
    if (comp->aside == PLEAT_ASIDE_RESERVATION)
        return pleat_error_set(err, PLEAT_E_STATE,
                               "processors are reserved for it from a time on: cancel it, and "
                               "submit it without a reservation");
    return 0;
}

void hold_add(struct pleat_core *core, uint32_t component, enum pleat_hold by)
{
    struct pleat_component *comp = component_at(core, component);
    if (comp->aside == PLEAT_ASIDE_NOT) {
        queue_remove(core, component);
        earmarks_drop(core, component);
        if (comp->begin_us == 0) {
            comp->promised_us = PLEAT_NEVER;
            comp->promised_site = PLEAT_NONE;
        }
        comp->aside = PLEAT_ASIDE_HELD;
        core->wants_pass = true;
    }
    if (by == PLEAT_HELD_BY_GROUP) {
        group_line_up(core, component);
        return;
    }
    if (comp->holds & PLEAT_HELD_BY_GROUP)
        group_leave_line(core, component);
    comp->holds |= (uint8_t)by;
    if (comp->in_group)
        group_give_place(core, component);
}

void hold_remove(struct pleat_core *core, uint32_t component, enum pleat_hold by)
{
    struct pleat_component *comp = component_at(core, component);
    comp->holds &= (uint8_t)~by;
    if (comp->holds || comp->state != PLEAT_QUEUED)
        return;
    if (comp->group != PLEAT_NONE) {
        if (group_at(core, comp->group)->active >= group_at(core, comp->group)->limit) {
            group_line_up(core, component);
            return;
        }
        group_enter(core, component);
    }
    append(core, component);
}

void hold_or_append(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    if (!comp->holds) {
        append(core, component);
        return;
    }
    comp->aside = PLEAT_ASIDE_HELD;
    if (comp->in_group)
        group_give_place(core, component);
}

void hold_end(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    uint32_t index = comp->group;
    if (comp->holds & PLEAT_HELD_BY_GROUP)
        group_leave_line(core, component);
    comp->holds = 0;
    if (index == PLEAT_NONE)
        return;
    if (comp->in_group)
        group_give_place(core, component);
    comp->group = PLEAT_NONE;
    if (--group_at(core, index)->members == 0) {
        group_at(core, index)->next = core->free_group;
        core->free_group = index;
    }
}
