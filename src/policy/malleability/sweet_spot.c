/* Sweet spots: Swaminathan 2004, 3.4.4 (shrink points, expand points, sweet spot determination).
 *
 * Each application is grown, size by size, as long as its iterations get shorter; where they do not
 * it goes back to the size before, its sweet spot, and is not grown beyond it. A shrink point is a
 * smaller size at which an application has run: the processors that it would free, and the hit,
 * how much longer its iterations are there. An expand point is a greater size at which it has run,
 * up to the sweet spot, and the gain. Deviations, and what is taken where the thesis is silent:
 * - decisions are taken for all in a pass, not for each application that calls (see remap.c);
 * - hits and gains are shares of the time of an iteration at the present size; the latest
 *   measurement at a size counts (thesis: a list of all sizes, nothing of measuring twice);
 * - an iteration that is shorter at all is an improvement, an equal one is none;
 * - "picks SPs that will satisfy": step by step, always the one that adds least to the sum of all
 *   hits (ties: of the latest started), until the sum of processors is enough. An application is
 *   not shrunk below the sizes at which it has run, so not below the one at which it started;
 * - expand points: the greatest gain that fits first (ties: the earliest started). Where none fits,
 *   those that have no measurement beyond their size grow to the next one (thesis: where there
 *   is no expand point at all, but a large one would block all others); the smallest first, as
 *   steps pay the less the larger one is (4.2.3), among equals the earliest started;
 * - the next size of an application that takes any size, or any multiple: half as large again, as
 *   in the lists of the thesis. Of one that folds: the fewest processors with as few processes on
 *   each (Utrera 2010, equation 3.1), but at least one process less than now: sizes between two
 *   levels gain a balanced program nothing, and would end its search. Its iterations are seconds of
 *   useful processor time;
 * - an application that has not measured its present size is not grown (one without processors
 *   cannot measure, and gets its smallest size);
 * - the way back from a useless expansion waits while somebody is waiting, as printed. */
#include "policy/policies.h"

/* The timing at the greatest measured size below `size`; NULL: there is none. */
static const struct pleat_timing *
timing_below(const struct pleat_view *view, const struct pleat_component *component, int32_t size)
{
    const struct pleat_timing *below = NULL;
    for (const struct pleat_timing *t = pleat_timing_smallest(view, component);
         t && t->processors < size; t = pleat_timing_greater(view, t))
        below = t;
    return below;
}

/* Was the step to this measured size of no benefit? */
static bool is_beyond_sweet_spot(const struct pleat_timing *before, const struct pleat_timing *at)
{
    return before && at->iteration_us >= before->iteration_us;
}

/* ---- back to the sweet spot ---- */

static void sweet_spot_balance(struct pleat_pass *pass, uint32_t site)
{
    const struct pleat_view *view = pass->view;
    for (uint32_t c = pleat_malleable_oldest(view, site); c != PLEAT_NONE;
         c = pleat_malleable_younger(view, c)) {
        const struct pleat_component *component = &view->components[c];
        const struct pleat_timing *at = pleat_timing_at(view, component, component->processors);
        const struct pleat_timing *before =
            at ? timing_below(view, component, component->processors) : NULL;
        if (at && is_beyond_sweet_spot(before, at))
            (void)pleat_plan_offer_shrink(pass->plan, c, component->processors - before->processors,
                                          PLEAT_NONE);
    }
}

/* ---- expand points ---- */

struct point {
    uint32_t component; /* PLEAT_NONE: there is no such point */
    int32_t processors; /* by which it changes */
    double value;       /* hit or gain */
};

/* Could a component be grown by exactly `processors` now? If only its backoff prevents that,
 * another pass is asked for at its end. */
static bool can_grow_by(struct pleat_pass *pass, uint32_t component, int32_t processors)
{
    const struct pleat_component *comp = &pass->view->components[component];
    int32_t size = pleat_plan_size(pass->plan, component);
    return pleat_accept_grow(pass->view, comp, size, processors) == processors &&
           pleat_plan_grows_or_wakes(pass->plan, component, processors);
}

/* The best of a component's expand points that take at most `processors` processors. */
static void best_expansion(struct pleat_pass *pass, uint32_t component, int32_t processors,
                           struct point *best)
{
    const struct pleat_view *view = pass->view;
    const struct pleat_component *comp = &view->components[component];
    int32_t size = pleat_plan_size(pass->plan, component);
    const struct pleat_timing *now = pleat_timing_at(view, comp, size), *before = NULL;
    if (!now && size > 0)
        return;
    for (const struct pleat_timing *t = pleat_timing_smallest(view, comp);
         t && t->processors - size <= processors && !is_beyond_sweet_spot(before, t);
         before = t, t = pleat_timing_greater(view, t)) {
        double gain = now ? 1 - (double)t->iteration_us / (double)now->iteration_us : 1;
        if (t->processors > size && gain > best->value &&
            can_grow_by(pass, component, t->processors - size))
            *best = (struct point){component, t->processors - size, gain};
    }
}

static struct point best_expand_point(struct pleat_pass *pass, uint32_t site, int32_t processors)
{
    struct point best = {.component = PLEAT_NONE};
    for (uint32_t c = pleat_malleable_oldest(pass->view, site); c != PLEAT_NONE;
         c = pleat_malleable_younger(pass->view, c))
        best_expansion(pass, c, processors, &best);
    return best;
}

/* ---- sizes of which nothing is known yet ---- */

static int32_t next_folded_size(const struct pleat_view *view,
                                const struct pleat_component *component)
{
    int32_t size = component->processors, limit = pleat_accept_largest(view, component);
    int32_t level = pleat_mpl(component->processes, size);
    if (level < 2 || size >= limit)
        return 0;
    int32_t wanted = pleat_mpl(component->processes, size + size / 2);
    int32_t next = pleat_mpl(component->processes, wanted < level ? wanted : level - 1);
    return next < limit ? next : limit;
}

static int32_t next_size(const struct pleat_view *view, const struct pleat_component *component)
{
    int32_t size = component->processors;
    if (pleat_view_folds(component) && size > 0)
        return next_folded_size(view, component);
    bool any =
        component->sizes_kind == PLEAT_SIZES_ANY || component->sizes_kind == PLEAT_SIZES_MULTIPLES;
    int32_t next = pleat_accept_next(view, component, any && size > 1 ? size + size / 2 - 1 : size);
    return next > 0 || !any ? next : pleat_accept_largest(view, component); /* less far, then */
}

/* How many processors a component's next size takes; 0: more than `processors`, or there is none.
 */
static int32_t next_step(struct pleat_pass *pass, uint32_t component, int32_t processors)
{
    const struct pleat_view *view = pass->view;
    const struct pleat_component *comp = &view->components[component];
    int32_t size = comp->processors;
    const struct pleat_timing *now = pleat_timing_at(view, comp, size);
    if (pleat_plan_size(pass->plan, component) != size ||
        (size > 0 && (!now || pleat_timing_greater(view, now) ||
                      is_beyond_sweet_spot(timing_below(view, comp, size), now))))
        return 0;
    int32_t more = next_size(view, comp) - size;
    return more > 0 && more <= processors && can_grow_by(pass, component, more) ? more : 0;
}

/* The step of the smallest component that can grow to its next size. */
static struct point smallest_step(struct pleat_pass *pass, uint32_t site, int32_t processors)
{
    struct point best = {.component = PLEAT_NONE};
    for (uint32_t c = pleat_malleable_oldest(pass->view, site); c != PLEAT_NONE;
         c = pleat_malleable_younger(pass->view, c)) {
        int32_t more = next_step(pass, c, processors);
        double value = -pass->view->components[c].processors;
        if (more > 0 && (best.component == PLEAT_NONE || value > best.value))
            best = (struct point){c, more, value};
    }
    return best;
}

static int32_t sweet_spot_grow(struct pleat_pass *pass, uint32_t site, int32_t processors)
{
    int32_t left = processors;
    while (left > 0) {
        struct point best = best_expand_point(pass, site, left);
        if (best.component == PLEAT_NONE)
            best = smallest_step(pass, site, left);
        int32_t accepted = best.component == PLEAT_NONE
                               ? 0
                               : pleat_plan_offer_grow(pass->plan, best.component, best.processors);
        if (accepted == 0)
            break;
        left -= accepted;
    }
    return left;
}

/* ---- shrink points ---- */

/* A component's next shrink point, if it adds less than the best so far. */
static void next_shrink_point(const struct pleat_pass *pass, uint32_t component, struct point *best)
{
    const struct pleat_view *view = pass->view;
    const struct pleat_component *comp = &view->components[component];
    int32_t size = pleat_plan_size(pass->plan, component);
    const struct pleat_timing *whole = pleat_timing_at(view, comp, comp->processors);
    const struct pleat_timing *now = pleat_timing_at(view, comp, size);
    const struct pleat_timing *below = timing_below(view, comp, size);
    if (!whole || !now || !below || size > comp->processors ||
        !pleat_plan_could_shrink(pass->plan, component) ||
        pleat_accept_shrink(view, comp, size, size - below->processors) != size - below->processors)
        return;
    double hit = (double)(below->iteration_us - now->iteration_us) / (double)whole->iteration_us;
    if (best->component == PLEAT_NONE || hit < best->value)
        *best = (struct point){component, size - below->processors, hit};
}

static int32_t sweet_spot_shrink(struct pleat_pass *pass, uint32_t site, int32_t processors,
                                 uint32_t waiter)
{
    const struct pleat_view *view = pass->view;
    int32_t left = processors;
    while (left > 0) {
        struct point best = {.component = PLEAT_NONE};
        for (uint32_t c = pleat_malleable_newest(view, site); c != PLEAT_NONE;
             c = pleat_malleable_older(view, c))
            next_shrink_point(pass, c, &best);
        int32_t given =
            best.component == PLEAT_NONE
                ? 0
                : pleat_plan_offer_shrink(pass->plan, best.component, best.processors, waiter);
        if (given == 0)
            break;
        left -= given;
    }
    return left;
}

const struct pleat_policy pleat_policy_sweet_spot = {
    .number = 14,
    .version = 1,
    .question = PLEAT_MALLEABILITY,
    .name = "sweet-spot",
    .source = "Swaminathan 2004, 3.4.4",
    .summary = "grow while iterations get shorter, shrink where that costs least",
    .needs = PLEAT_NEEDS_TIMES,
    .shrinks = true,
    .grow = sweet_spot_grow,
    .shrink = sweet_spot_shrink,
    .balance = sweet_spot_balance,
};
