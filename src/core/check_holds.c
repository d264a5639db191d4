/* The part of pleat_core_check about what keeps components out of the queue. */
#include "core/check_holds.h"
#include "core/state.h"
#include "core/transition.h"

#define FAIL(...) return pleat_error_set(err, PLEAT_E_CORRUPT, __VA_ARGS__)

static int check_needs(const struct pleat_core *core, uint32_t index, struct pleat_error *err)
{
    const struct pleat_component *all = core->components.items;
    uint32_t previous = PLEAT_NONE;
    for (uint32_t i = all[index].first_need; i != PLEAT_NONE;
         i = core->dependencies.items[i].next_need) {
        const struct pleat_dependency *it = &core->dependencies.items[i];
        if (it->dependent != index || it->previous_need != previous || it->on == PLEAT_NONE ||
            is_unused(&all[it->on]) ||
            pleat_component_state_is_final((enum pleat_component_state)all[it->on].state) ||
            all[it->on].job >= all[index].job)
            FAIL("component %u waits for what has ended, or is out of order", index);
        previous = i;
    }
    previous = PLEAT_NONE;
    for (uint32_t i = all[index].first_dependent; i != PLEAT_NONE;
         i = core->dependencies.items[i].next) {
        const struct pleat_dependency *it = &core->dependencies.items[i];
        if (it->on != index || it->previous != previous || it->dependent == PLEAT_NONE)
            FAIL("those that wait for component %u are out of order", index);
        previous = i;
    }
    return 0;
}

int core_check_holds(const struct pleat_core *core, uint32_t index, struct pleat_error *err)
{
    const struct pleat_component *component = &core->components.items[index];
    bool waits = component->state == PLEAT_QUEUED;
    if (component->holds && !waits && component->state != PLEAT_FINISHING)
        FAIL("component %u is %s and held", index,
             pleat_component_state_name((enum pleat_component_state)component->state));
    if (waits && (component->holds != 0) != (component->aside == PLEAT_ASIDE_HELD))
        FAIL("component %u is held by %u, and %s aside", index, component->holds,
             component->aside ? "is" : "is not");
    if ((component->holds & PLEAT_HELD_BY_FAULT) &&
        (!waits || component->deadline == PLEAT_HEAP_NONE))
        FAIL("component %u is held for a while, and nothing ends that", index);
    if ((component->first_need != PLEAT_NONE) != ((component->holds & PLEAT_HELD_BY_JOBS) != 0))
        FAIL("component %u is held by jobs, or not, against its dependencies", index);
    if (component->aside == PLEAT_ASIDE_HELD &&
        (component->earmarked || component->coming || component->lead != PLEAT_NONE))
        FAIL("component %u is held, and room is made for it", index);
    if ((component->holds & PLEAT_HELD_BY_GROUP) &&
        (component->holds != PLEAT_HELD_BY_GROUP || component->in_group))
        FAIL("component %u waits for its group, and for something else", index);
    if (component->group != PLEAT_NONE &&
        (pleat_component_state_is_final((enum pleat_component_state)component->state) ||
         (waits && (component->holds == 0) != component->in_group)))
        FAIL("component %u has its place in a group, or not, against its state", index);
    return check_needs(core, index, err);
}

int core_check_groups(const struct pleat_core *core, struct pleat_error *err)
{
    const struct pleat_component *all = core->components.items;
    size_t known = 0;
    for (uint32_t g = 0; g < core->groups.count; g++) {
        const struct pleat_group *group = &core->groups.items[g];
        uint32_t members = 0, waiting = 0, previous = PLEAT_NONE;
        int32_t active = 0;
        for (uint32_t c = 0; c < core->components.count; c++) {
            bool of = !is_unused(&all[c]) && all[c].group == g;
            members += of;
            active += of && all[c].in_group;
            waiting += of && (all[c].holds & PLEAT_HELD_BY_GROUP) ? 1 : 0;
        }
        for (uint32_t c = members ? group->first : PLEAT_NONE; c != PLEAT_NONE; c = all[c].next) {
            if (all[c].previous != previous || all[c].group != g)
                FAIL("component %u is out of order in group %u", c, g);
            previous = c;
            waiting--;
        }
        if (members != group->members || active != group->active || active > group->limit ||
            waiting || (group->first != PLEAT_NONE && active < group->limit && members))
            FAIL("group %u: %u members, %d of %d active", g, members, active, group->limit);
    }
    if (core->decided_first != PLEAT_NONE || core->decided_last != PLEAT_NONE)
        FAIL("a dependency is decided, and its dependent does not know");
    for (uint32_t c = 0; c < core->components.count; c++)
        for (uint32_t i = is_unused(&all[c]) ? PLEAT_NONE : all[c].first_need; i != PLEAT_NONE;
             i = core->dependencies.items[i].next_need)
            known++;
    for (uint32_t i = core->free_dependency; i != PLEAT_NONE; i = core->dependencies.items[i].next)
        known++;
    if (known != core->dependencies.count)
        FAIL("%zu dependencies, %zu counted", core->dependencies.count, known);
    return 0;
}
