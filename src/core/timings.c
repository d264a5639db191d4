/* How long iterations take, by size (Swaminathan 2004, 3.2: the performance data gatherer).
 *
 * A runner reports what an iteration takes at a component's present size, and what the change to
 * that size took. For each size the latest report counts: so an application whose phases differ is
 * judged by its present phase. Reports are kept until the component ends, also when it waits
 * again. */
#include "core/timings.h"
#include "core/handlers.h"
#include "core/state.h"

static uint32_t timing_new(struct pleat_core *core)
{
    uint32_t index = core->free_timing;
    if (index != PLEAT_NONE) {
        core->free_timing = core->timings.items[index].next;
        return index;
    }
    if (pleat_array_reserve(&core->timings, 1)) {
        core->failed = 1;
        return PLEAT_NONE;
    }
    core->view.timings = core->timings.items; /* the array may have moved */
    return (uint32_t)core->timings.count++;
}

/* The record for a size, made where there is none; NULL: out of memory. */
static struct pleat_timing *timing_of(struct pleat_core *core, uint32_t component,
                                      int32_t processors)
{
    uint32_t before = PLEAT_NONE, at = component_at(core, component)->first_timing;
    while (at != PLEAT_NONE && core->timings.items[at].processors < processors) {
        before = at;
        at = core->timings.items[at].next;
        core->operations++;
    }
    if (at != PLEAT_NONE && core->timings.items[at].processors == processors)
        return &core->timings.items[at];
    uint32_t fresh = timing_new(core);
    if (fresh == PLEAT_NONE)
        return NULL;
    core->timings.items[fresh] = (struct pleat_timing){.processors = processors, .next = at};
    if (before != PLEAT_NONE)
        core->timings.items[before].next = fresh;
    else
        component_at(core, component)->first_timing = fresh;
    return &core->timings.items[fresh];
}

int on_timed(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    (void)err;
    const struct pleat_component *component = component_at(core, event->component);
    int32_t processors = event->u.timed.processors;
    int64_t iteration_us = event->u.timed.iteration_us;
    int64_t redistribution_us = event->u.timed.redistribution_us;
    if ((component->state != PLEAT_RUNNING && component->state != PLEAT_RESIZING) ||
        event->u.timed.run != component->run || processors != component->processors ||
        processors < 1)
        return PLEAT_CORE_STALE; /* reported for a size, or a run, that is over */
    if (iteration_us <= 0 || iteration_us > PLEAT_NEVER / 4 || redistribution_us < 0 ||
        redistribution_us > PLEAT_NEVER / 4)
        return PLEAT_CORE_STALE; /* no time at all: nothing was measured */
    struct pleat_timing *timing = timing_of(core, event->component, processors);
    if (!timing || (timing->iteration_us == iteration_us &&
                    (redistribution_us == 0 || timing->redistribution_us == redistribution_us)))
        return PLEAT_CORE_STALE;
    timing->iteration_us = iteration_us;
    if (redistribution_us > 0)
        timing->redistribution_us = redistribution_us;
    core->wants_pass = true;
    return 0;
}

void timings_drop(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    while (comp->first_timing != PLEAT_NONE) {
        uint32_t index = comp->first_timing;
        struct pleat_timing *timing = &core->timings.items[index];
        comp->first_timing = timing->next;
        *timing = (struct pleat_timing){.next = core->free_timing};
        core->free_timing = index;
        core->operations++;
    }
}
