/* Dependencies: jobs that wait until other jobs start or end.
 *
 * A job waits only for older jobs, so jobs never wait in a circle. A job counts as ended when it
 * ends for good: one that waits again after a failure has not ended. A dependency that is decided
 * goes into a list. Before the call returns, core.c goes through that list and releases or cancels
 * the waiting jobs. So a chain of any length is cancelled without recursion, and nothing here
 * decides what becomes of a component. */
#include "core/depend.h"
#include "core/handlers.h"
#include "core/hold.h"
#include "core/state.h"

static struct pleat_dependency *dependency_at(struct pleat_core *core, uint32_t index)
{
    return &core->dependencies.items[index];
}

/* ---- lists ---- */

static void leave_dependents(struct pleat_core *core, uint32_t index)
{
    struct pleat_dependency *it = dependency_at(core, index);
    if (it->previous != PLEAT_NONE)
        dependency_at(core, it->previous)->next = it->next;
    else
        component_at(core, it->on)->first_dependent = it->next;
    if (it->next != PLEAT_NONE)
        dependency_at(core, it->next)->previous = it->previous;
    it->on = it->previous = it->next = PLEAT_NONE;
}

static void leave_needs(struct pleat_core *core, uint32_t index)
{
    struct pleat_dependency *it = dependency_at(core, index);
    if (it->previous_need != PLEAT_NONE)
        dependency_at(core, it->previous_need)->next_need = it->next_need;
    else
        component_at(core, it->dependent)->first_need = it->next_need;
    if (it->next_need != PLEAT_NONE)
        dependency_at(core, it->next_need)->previous_need = it->previous_need;
    it->dependent = it->previous_need = it->next_need = PLEAT_NONE;
}

static void dependency_free(struct pleat_core *core, uint32_t index)
{
    struct pleat_dependency *it = dependency_at(core, index);
    it->condition = it->met = 0;
    it->next = core->free_dependency;
    core->free_dependency = index;
}

/* The dependency is in no job's list of dependents. */
static void decide(struct pleat_core *core, uint32_t index, bool met)
{
    struct pleat_dependency *it = dependency_at(core, index);
    it->met = met;
    it->next = PLEAT_NONE;
    if (core->decided_last != PLEAT_NONE)
        dependency_at(core, core->decided_last)->next = index;
    else
        core->decided_first = index;
    core->decided_last = index;
}

void needs_drop(struct pleat_core *core, uint32_t component)
{
    uint32_t index;
    while ((index = component_at(core, component)->first_need) != PLEAT_NONE) {
        bool open = dependency_at(core, index)->on != PLEAT_NONE;
        core->operations++;
        leave_needs(core, index);
        if (!open) /* a decided dependency is freed by take_decided */
            continue;
        leave_dependents(core, index);
        dependency_free(core, index);
    }
    component_at(core, component)->any_need = 0;
}

/* ---- what is waited for ---- */

/* The last dependency of the list: the newest stands in front, and the oldest is decided first. */
static uint32_t oldest_dependent(struct pleat_core *core, uint32_t component)
{
    uint32_t index = component_at(core, component)->first_dependent;
    while (dependency_at(core, index)->next != PLEAT_NONE) {
        core->operations++;
        index = dependency_at(core, index)->next;
    }
    return index;
}

void dependents_started(struct pleat_core *core, uint32_t component)
{
    uint32_t before;
    for (uint32_t index = oldest_dependent(core, component); index != PLEAT_NONE; index = before) {
        before = dependency_at(core, index)->previous;
        core->operations++;
        if (dependency_at(core, index)->condition != PLEAT_AFTER_START)
            continue;
        leave_dependents(core, index);
        decide(core, index, true);
    }
}

static bool is_met(const struct pleat_dependency *it, bool well)
{
    return it->condition == PLEAT_AFTER_OK ? well : it->condition != PLEAT_AFTER_NOT_OK || !well;
}

void dependents_ended(struct pleat_core *core, uint32_t component, bool well)
{
    uint32_t before;
    for (uint32_t index = oldest_dependent(core, component); index != PLEAT_NONE; index = before) {
        before = dependency_at(core, index)->previous;
        core->operations++;
        leave_dependents(core, index);
        decide(core, index, is_met(dependency_at(core, index), well));
    }
}

/* ---- who waits ---- */

/* Takes the first decided dependency out of the list. Returns the component that waited for it;
 * PLEAT_NONE: nobody any more. */
static uint32_t take_decided(struct pleat_core *core, bool *met)
{
    uint32_t index = core->decided_first;
    uint32_t dependent = dependency_at(core, index)->dependent;
    *met = dependency_at(core, index)->met;
    core->decided_first = dependency_at(core, index)->next;
    if (core->decided_first == PLEAT_NONE)
        core->decided_last = PLEAT_NONE;
    core->operations++;
    if (dependent != PLEAT_NONE)
        leave_needs(core, index);
    dependency_free(core, index);
    return dependent;
}

uint32_t dependents_next(struct pleat_core *core, bool *met)
{
    while (core->decided_first != PLEAT_NONE) {
        uint32_t dependent = take_decided(core, met);
        if (dependent == PLEAT_NONE)
            continue;
        const struct pleat_component *component = component_at(core, dependent);
        bool last = component->first_need == PLEAT_NONE, any = component->any_need;
        if (!last && *met != any)
            continue; /* it waits for the others */
        needs_drop(core, dependent);
        return dependent;
    }
    return PLEAT_NONE;
}

static int check_depend(const struct pleat_core *core, const struct pleat_event *event,
                        struct pleat_error *err)
{
    const struct pleat_component *all = core->components.items, *comp = &all[event->component];
    uint32_t on = event->u.depend.component, condition = event->u.depend.condition;
    int rc = hold_check(core, event->component, err);
    if (rc)
        return rc;
    if (on >= core->components.count || all[on].job != event->u.depend.job ||
        (all[on].lead != PLEAT_NONE && all[on].lead != on) ||
        pleat_component_is_forgotten(&all[on]))
        return pleat_error_set(err, PLEAT_E_NOTFOUND, "there is no job %llu to wait for",
                               (unsigned long long)event->u.depend.job);
    if (all[on].job >= comp->job)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "job %llu cannot wait for job %llu, which is not older",
                               (unsigned long long)comp->job, (unsigned long long)all[on].job);
    bool any = event->flags & PLEAT_ANY_NEED;
    if (condition < PLEAT_AFTER_ANY || condition > PLEAT_AFTER_START ||
        (comp->first_need != PLEAT_NONE && comp->any_need != any))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "a job waits for the end or the start of all of some jobs, or of "
                               "one of them");
    return 0;
}

/* A free record; PLEAT_NONE: out of memory. */
static uint32_t dependency_open(struct pleat_core *core)
{
    struct pleat_dependency none = {0};
    uint32_t index = core->free_dependency;
    if (index != PLEAT_NONE)
        core->free_dependency = dependency_at(core, index)->next;
    else if (pleat_array_push(&core->dependencies, none))
        return PLEAT_NONE;
    else
        index = (uint32_t)core->dependencies.count - 1;
    return index;
}

int on_depend(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    uint32_t on = event->u.depend.component, last = PLEAT_NONE, index;
    int rc = check_depend(core, event, err);
    if (rc)
        return rc;
    index = dependency_open(core);
    if (index == PLEAT_NONE)
        return PLEAT_E_NOMEM;
    struct pleat_component *component = component_at(core, event->component);
    const struct pleat_component *other = component_at(core, on);
    for (uint32_t i = component->first_need; i != PLEAT_NONE; i = dependency_at(core, i)->next_need)
        last = i;
    *dependency_at(core, index) =
        (struct pleat_dependency){.dependent = event->component,
                                  .on = PLEAT_NONE,
                                  .previous_need = last,
                                  .next_need = PLEAT_NONE,
                                  .previous = PLEAT_NONE,
                                  .next = PLEAT_NONE,
                                  .condition = (uint8_t)event->u.depend.condition};
    if (last != PLEAT_NONE)
        dependency_at(core, last)->next_need = index;
    else
        component->first_need = index;
    component->any_need = (event->flags & PLEAT_ANY_NEED) != 0;
    hold_add(core, event->component, PLEAT_HELD_BY_JOBS);
    struct pleat_dependency *it = dependency_at(core, index);
    bool started = other->state >= PLEAT_RUNNING && other->start_us != PLEAT_NEVER;
    if (pleat_component_state_is_final((enum pleat_component_state)other->state)) {
        decide(core, index, is_met(it, other->state == PLEAT_DONE));
    } else if (it->condition == PLEAT_AFTER_START && started) {
        decide(core, index, true);
    } else {
        it->on = on;
        it->next = other->first_dependent;
        if (it->next != PLEAT_NONE)
            dependency_at(core, it->next)->previous = index;
        component_at(core, on)->first_dependent = index;
    }
    return 0;
}
