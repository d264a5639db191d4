/* Partition sizes: Utrera 2010, 3.3.1.2 and equation 3.1 (partition = processes / MPL).
 *
 *   grow    the job with the most processes on a processor, by one level of its MPL, while the next
 *           level of some job fits: so all processors of a job have the same number of processes
 *           what is left then: one processor to each job in turn, only while no job waits
 *   shrink  the job with the fewest processes on a processor, by one level of its MPL
 *
 * Processors are so distributed in proportion to processes. Taken where the thesis is silent: of
 * equal ones the earliest started grows and the latest started shrinks first; a malleable job that
 * does not fold counts as if it had as many processes as it may have processors.
 *
 * How fast a folding program is at a size, and what a change of size costs it, is learned (6.2
 * leaves that open). It does not grow to a size at which it was seen to be no faster. It does not
 * grow before it has been at its size a hundred times as long as the change to that size took. */
#include "policy/policies.h"

#define COST_SHARE 100
#define COST_MAX_US INT64_C(3600000000) /* a greater cost is taken for a wrong measurement */

static int32_t processes_of(const struct pleat_view *view, uint32_t index)
{
    const struct pleat_component *component = &view->components[index];
    return pleat_view_folds(component) ? component->processes : pleat_view_limit(view, component);
}

static int32_t mpl_of(const struct pleat_pass *pass, uint32_t component)
{
    return pleat_mpl(processes_of(pass->view, component), pleat_plan_size(pass->plan, component));
}

/* By how many processors a component must grow so that its MPL is one level lower; 0: it has the
 * lowest. */
static int32_t to_lower_level(const struct pleat_pass *pass, uint32_t component)
{
    int32_t processes = processes_of(pass->view, component);
    int32_t size = pleat_plan_size(pass->plan, component), mpl = pleat_mpl(processes, size);
    return size == 0 ? 1 : mpl > 1 ? pleat_mpl(processes, mpl - 1) - size : 0;
}

static bool growing_pays(struct pleat_pass *pass, uint32_t component)
{
    const struct pleat_component *comp = &pass->view->components[component];
    if (!pleat_view_folds(comp))
        return true;
    const struct pleat_timing *at = pleat_timing_at(pass->view, comp, comp->processors);
    if (!at)
        return true;
    int64_t cost_us = at->redistribution_us < COST_MAX_US ? at->redistribution_us : COST_MAX_US;
    int64_t until_us = comp->since_us + COST_SHARE * cost_us;
    if (until_us > pass->view->now_us) {
        pleat_plan_wake(pass->plan, until_us);
        return false;
    }
    const struct pleat_timing *greater = pleat_timing_greater(pass->view, at);
    return !greater || greater->iteration_us < at->iteration_us;
}

static int32_t grow_evenly(struct pleat_pass *pass, uint32_t site, int32_t left)
{
    const struct pleat_view *view = pass->view;
    for (;;) {
        uint32_t fullest = PLEAT_NONE;
        for (uint32_t c = pleat_malleable_oldest(view, site); c != PLEAT_NONE;
             c = pleat_malleable_younger(view, c)) {
            int32_t more = to_lower_level(pass, c);
            if (more > 0 && more <= left && pleat_plan_could_grow(pass->plan, c, more) &&
                (fullest == PLEAT_NONE || mpl_of(pass, c) > mpl_of(pass, fullest)) &&
                growing_pays(pass, c))
                fullest = c;
        }
        if (fullest == PLEAT_NONE)
            return left;
        left -= pleat_plan_offer_grow(pass->plan, fullest, to_lower_level(pass, fullest));
    }
}

static bool somebody_waits(const struct pleat_pass *pass)
{
    for (uint32_t c = pass->view->queue_first; c != PLEAT_NONE; c = pleat_queue_next(pass->view, c))
        if (!pleat_plan_starts(pass->plan, c))
            return true;
    return false;
}

static int32_t partition_grow(struct pleat_pass *pass, uint32_t site, int32_t processors)
{
    const struct pleat_view *view = pass->view;
    int32_t left = grow_evenly(pass, site, processors);
    if (left == 0 || somebody_waits(pass))
        return left;
    for (int32_t before = left + 1; left > 0 && left < before;) {
        before = left;
        for (uint32_t c = pleat_malleable_oldest(view, site); c != PLEAT_NONE && left > 0;
             c = pleat_malleable_younger(view, c))
            if (growing_pays(pass, c))
                left -= pleat_plan_offer_grow(pass->plan, c, 1);
    }
    for (uint32_t c = pleat_malleable_oldest(view, site); c != PLEAT_NONE && left > 0;
         c = pleat_malleable_younger(view, c))
        if (growing_pays(pass, c))
            /* a step that leads to a size that the job accepts */
            left -= pleat_plan_offer_grow(pass->plan, c, left);
    return left;
}

static int32_t partition_shrink(struct pleat_pass *pass, uint32_t site, int32_t processors,
                                uint32_t waiter)
{
    const struct pleat_view *view = pass->view;
    while (processors > 0) {
        uint32_t emptiest = PLEAT_NONE;
        for (uint32_t c = pleat_malleable_newest(view, site); c != PLEAT_NONE;
             c = pleat_malleable_older(view, c))
            if (pleat_plan_could_shrink(pass->plan, c) &&
                (emptiest == PLEAT_NONE || mpl_of(pass, c) < mpl_of(pass, emptiest)))
                emptiest = c;
        if (emptiest == PLEAT_NONE)
            break;
        int32_t size = pleat_plan_size(pass->plan, emptiest);
        int32_t next = pleat_mpl(processes_of(view, emptiest), mpl_of(pass, emptiest) + 1);
        int32_t given =
            pleat_plan_offer_shrink(pass->plan, emptiest, next < size ? size - next : 1, waiter);
        if (given == 0)
            break;
        processors -= given;
    }
    return processors > 0 ? processors : 0;
}

const struct pleat_policy pleat_policy_partition = {
    .number = 15,
    .version = 2,
    .question = PLEAT_MALLEABILITY,
    .name = "partition",
    .source = "Utrera 2010, 3.3.1.2",
    .summary = "as many processes on a processor for all that are folded",
    .shrinks = true,
    .needs = PLEAT_NEEDS_TIMES,
    .grow = partition_grow,
    .shrink = partition_shrink,
};
