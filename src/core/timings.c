/* How long iterations take, by size (Swaminathan 2004, 3.2: the performance data gatherer).
 *
 * A runner reports what an iteration takes at a component's present size, and what the change to
 * that size took. For each size the latest report counts: so an application whose phases differ is
 * judged by its present phase. Reports are kept until the component ends, also when it waits
 * again.
 *
 * Where a policy wants to know the spread, too, reports are about the iterations since the last
 * one. They are merged into mean and squares of what is known at that size (Chan et al. 1979), of
 * which older iterations count less and less. What differs too much from what is known takes its
 * place: the first iteration at a size is often a cold one, and a program may enter another phase.
 */
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
    timing->count = timing->earlier = 0;
    if (redistribution_us > 0)
        timing->redistribution_us = redistribution_us;
    core->wants_pass = true;
    return 0;
}

/* ---- with their spread ---- */

static bool is_time(int64_t us)
{
    return us >= 0 && us <= PLEAT_NEVER / 4;
}

static bool makes_sense(const struct pleat_event *event)
{
    return is_time(event->u.measured.iteration_us) && event->u.measured.iteration_us > 0 &&
           is_time(event->u.measured.spread_us) && is_time(event->u.measured.redistribution_us) &&
           event->u.measured.processors >= 1 && event->u.measured.count >= 1 &&
           event->u.measured.from >= 0 && event->u.measured.iterations >= 0;
}

/* Do iterations with this mean and these squares differ too much from what is known to be of the
 * same kind: by a quarter, and by four standard errors? Of the first few only shorter ones do. */
static bool has_changed(const struct pleat_timing *timing, double mean, double squares, double n)
{
    double known = timing->count, difference = mean - timing->mean_us;
    if (difference <= timing->mean_us / 4 && -difference <= timing->mean_us / 4)
        return false;
    if (known + n <= 3)
        return -difference > timing->mean_us / 3;
    double variance = (timing->squares + squares) / (known + n - 2);
    return difference * difference > 16 * variance * (1 / known + 1 / n);
}

void pleat_timing_merge(struct pleat_timing *timing, const struct pleat_event *event)
{
    double n = event->u.measured.count, mean = (double)event->u.measured.iteration_us;
    double spread = (double)event->u.measured.spread_us, squares = spread * spread * n;
    if (timing->count == 0 || timing->earlier > 0 || has_changed(timing, mean, squares, n)) {
        timing->mean_us = timing->squares = 0;
        timing->count = 0;
    }
    double known = timing->count, all = known + n, difference = mean - timing->mean_us;
    timing->mean_us += difference * n / all;
    timing->squares += squares + difference * difference * known * n / all;
    if (all > PLEAT_TIMING_WINDOW) {
        timing->squares *= PLEAT_TIMING_WINDOW / all;
        all = PLEAT_TIMING_WINDOW;
    }
    timing->count = (int32_t)all;
    timing->iteration_us = (int64_t)(timing->mean_us + 0.5);
}

int on_measured(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    (void)err;
    const struct pleat_component *component = component_at(core, event->component);
    if ((component->state != PLEAT_RUNNING && component->state != PLEAT_RESIZING) ||
        event->u.measured.run != component->run ||
        event->u.measured.processors != component->processors || !makes_sense(event))
        return PLEAT_CORE_STALE;
    struct pleat_timing *timing = timing_of(core, event->component, event->u.measured.processors);
    if (!timing)
        return PLEAT_CORE_STALE;
    pleat_timing_merge(timing, event);
    timing->done = event->u.measured.iterations;
    timing->earlier = 0;
    if (event->u.measured.redistribution_us > 0) {
        timing->redistribution_us = event->u.measured.redistribution_us;
        timing->from = event->u.measured.from;
    }
    core->wants_pass = true;
    return 0;
}

int on_remembered(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    const struct pleat_component *component = component_at(core, event->component);
    if (pleat_component_state_is_final((enum pleat_component_state)component->state))
        return PLEAT_CORE_STALE;
    if (!makes_sense(event) || event->u.measured.iterations < 1)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "what is remembered of component %u makes no sense",
                               event->component);
    struct pleat_timing *timing = timing_of(core, event->component, event->u.measured.processors);
    if (!timing || (timing->iteration_us > 0 && timing->earlier == 0))
        return PLEAT_CORE_STALE; /* it has measured that itself */
    struct pleat_event most = *event;
    if (most.u.measured.count > PLEAT_TIMING_REMEMBERED)
        most.u.measured.count = PLEAT_TIMING_REMEMBERED;
    pleat_timing_merge(timing, &most);
    timing->earlier = event->u.measured.iterations;
    timing->redistribution_us = event->u.measured.redistribution_us;
    timing->from = event->u.measured.from;
    core->wants_pass = true;
    return 0;
}

/* ---- forgetting ---- */

/* Frees the record that `link` leads to; the next one takes its place. */
static void drop_one(struct pleat_core *core, uint32_t *link)
{
    uint32_t index = *link;
    struct pleat_timing *timing = &core->timings.items[index];
    *link = timing->next;
    *timing = (struct pleat_timing){.next = core->free_timing};
    core->free_timing = index;
}

int on_unlearned(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    (void)err;
    int32_t processors = event->u.unlearned.processors;
    uint32_t *link = &component_at(core, event->component)->first_timing;
    bool any = false;
    while (*link != PLEAT_NONE) {
        struct pleat_timing *timing = &core->timings.items[*link];
        bool holds = processors > 0 ? timing->processors != processors : timing->earlier == 0;
        core->operations++;
        any = any || !holds;
        if (holds)
            link = &timing->next;
        else
            drop_one(core, link);
    }
    core->wants_pass = core->wants_pass || any;
    return any ? 0 : PLEAT_CORE_STALE;
}

void timings_drop(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    while (comp->first_timing != PLEAT_NONE) {
        drop_one(core, &comp->first_timing);
        core->operations++;
    }
}
