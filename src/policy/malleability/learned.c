/* Sweet spots that are learned: after Swaminathan 2004, 3.4.4 (sweet_spot.c, which is as printed),
 * with what its future work (chapter 6) leaves open.
 *
 * Each component is grown as long as that shortens its iterations by so much that it is worth it,
 * goes back where it does not, and stays at its spot. What differs from the thesis:
 * - sizes that were not tried are predicted by a law of speed fitted to those that were, so that
 * few have to be tried: at most eight times as large as any before, then where the law has the
 * spot. While the law is not confirmed by more sizes than it has terms, sizes beside the best one
 * are tried, too;
 * - measurements have a spread. A component goes to a size at which it has been only when it is as
 *   sure as configured that this gains anything, and grows only when it expects to gain enough; to
 *   go back to where it was takes more. Other sizes are tried without being sure, but none that
 *   hardly differs from a tried one;
 * - a change must pay back what changes have cost, in what is left of the run as far as is known;
 * - what "sweet" means is configured (spot.h);
 * - of those that grow the one goes first whose iterations get shorter by the most for each further
 *   processor;
 * - to make room the step is taken, again and again, that by measurement or prediction lengthens
 *   iterations by the least for each processor freed (of equal ones the latest started), also to
 *   sizes at which the component has not run; of what is not known at all, as if twice the
 *   processors halved the time;
 * - a component that starts with all that it can get would never learn whether less is as good:
 *   while nobody waits it is at half its size for an iteration, and what it left is kept for it. */
#include "policy/policies.h"
#include "policy/spot.h"

/* ---- back to the spot ---- */

static bool somebody_waits(const struct pleat_pass *pass)
{
    for (uint32_t c = pass->view->queue_first; c != PLEAT_NONE; c = pleat_queue_next(pass->view, c))
        if (!pleat_plan_starts(pass->plan, c))
            return true;
    return false;
}

/* Is a component at half its size to be measured there? How many processors it has left for that;
 * 0: it is not. */
static int32_t probed_from(const struct pleat_view *view, const struct pleat_component *component)
{
    const struct pleat_timing *only = pleat_timing_smallest(view, component);
    if (!view->spot_probe || !only || pleat_timing_greater(view, only) || component->processors < 1)
        return 0;
    int32_t left = only->processors - component->processors;
    return left > 0 ? left : 0;
}

static void learned_balance(struct pleat_pass *pass, uint32_t site)
{
    const struct pleat_view *view = pass->view;
    bool waits = somebody_waits(pass);
    for (uint32_t c = pleat_malleable_oldest(view, site); c != PLEAT_NONE;
         c = pleat_malleable_younger(view, c)) {
        const struct pleat_component *component = &view->components[c];
        if (component->first_timing == PLEAT_NONE || pleat_plan_is_decided(pass->plan, c))
            continue;
        int32_t left = probed_from(view, component);
        if (left > 0) {
            if (!waits)
                pleat_plan_withhold(pass->plan, c, left);
            continue;
        }
        if (!pleat_plan_could_shrink(pass->plan, c))
            continue;
        struct pleat_spot_study study = pleat_spot_study(view, component);
        int32_t most = component->processors + pleat_plan_growable(pass->plan, site);
        struct pleat_spot spot = pleat_spot_find(&study, most);
        if (spot.advice == PLEAT_SPOT_SHRINK || (spot.advice == PLEAT_SPOT_PROBE && !waits))
            (void)pleat_plan_offer_shrink(pass->plan, c, component->processors - spot.size,
                                          PLEAT_NONE);
    }
}

/* ---- growing ---- */

struct step {
    uint32_t component; /* PLEAT_NONE: there is none */
    int32_t processors; /* by which it changes */
    double value;
};

/* A component's step towards its spot, with at most `processors`, if it is worth more than the best
 * so far. */
static void consider_growing(struct pleat_pass *pass, uint32_t component, int32_t processors,
                             struct step *best)
{
    const struct pleat_view *view = pass->view;
    const struct pleat_component *comp = &view->components[component];
    struct step step = {component, 0, 0};
    if (pleat_plan_is_decided(pass->plan, component))
        return;
    if (comp->processors == 0) { /* it cannot measure anything */
        step.processors = pleat_accept_next(view, comp, 0);
        step.value = 1;
    } else if (comp->first_timing != PLEAT_NONE) {
        struct pleat_spot_study study = pleat_spot_study(view, comp);
        struct pleat_spot spot = pleat_spot_find(&study, comp->processors + processors);
        if (spot.advice != PLEAT_SPOT_GROW)
            return;
        step.processors = spot.size - comp->processors;
        step.value = spot.gain / step.processors;
    }
    if (step.processors > 0 && step.processors <= processors && step.value > best->value &&
        pleat_plan_grows_or_wakes(pass->plan, component, step.processors))
        *best = step;
}

static int32_t learned_grow(struct pleat_pass *pass, uint32_t site, int32_t processors)
{
    int32_t left = processors;
    while (left > 0) {
        struct step best = {.component = PLEAT_NONE};
        for (uint32_t c = pleat_malleable_oldest(pass->view, site); c != PLEAT_NONE;
             c = pleat_malleable_younger(pass->view, c))
            consider_growing(pass, c, left, &best);
        int32_t accepted = best.component == PLEAT_NONE
                               ? 0
                               : pleat_plan_offer_grow(pass->plan, best.component, best.processors);
        if (accepted == 0)
            break;
        left -= accepted;
    }
    return left;
}

/* ---- making room ---- */

static double time_at(const struct pleat_spot_study *study, int32_t processors)
{
    double us = pleat_spot_time(study, processors).us;
    return us > 0 ? us : 1.0 / processors;
}

/* A component's next step down, if it costs less than the best so far. Steps are an eighth of the
 * size, so that there are few. */
static void consider_shrinking(const struct pleat_pass *pass, uint32_t component, int32_t wanted,
                               struct step *best)
{
    const struct pleat_view *view = pass->view;
    const struct pleat_component *comp = &view->components[component];
    int32_t size = pleat_plan_size(pass->plan, component), eighth = size / 8;
    if (size < 1 || size > comp->processors || !pleat_plan_could_shrink(pass->plan, component))
        return;
    int32_t ask = eighth > wanted ? wanted : eighth > 1 ? eighth : 1;
    int32_t gives = pleat_accept_shrink(view, comp, size, ask);
    if (gives < 1)
        return;
    double cost = 0; /* what is left has no processors: a component that may be emptied */
    struct pleat_spot_study study = pleat_spot_study(view, comp);
    double whole = time_at(&study, comp->processors);
    if (gives < size)
        cost = (time_at(&study, size - gives) - time_at(&study, size)) / whole / gives;
    else
        cost = 1e9 / gives;
    if (best->component == PLEAT_NONE || cost < best->value)
        *best = (struct step){component, ask, cost};
}

static int32_t learned_shrink(struct pleat_pass *pass, uint32_t site, int32_t processors,
                              uint32_t waiter)
{
    int32_t left = processors;
    while (left > 0) {
        struct step best = {.component = PLEAT_NONE};
        for (uint32_t c = pleat_malleable_newest(pass->view, site); c != PLEAT_NONE;
             c = pleat_malleable_older(pass->view, c))
            consider_shrinking(pass, c, left, &best);
        int32_t given =
            best.component == PLEAT_NONE
                ? 0
                : pleat_plan_offer_shrink(pass->plan, best.component, best.processors, waiter);
        if (given == 0)
            break;
        left -= given;
    }
    return left > 0 ? left : 0;
}

const struct pleat_policy pleat_policy_sweet_spot_learned = {
    .number = 19,
    .version = 1,
    .question = PLEAT_MALLEABILITY,
    .name = "sweet-spot-learned",
    .source = "after Swaminathan 2004, 3.4.4",
    .summary = "grow while it pays, by measurements and a law fitted to them; shrink where that "
               "costs least",
    .needs = PLEAT_NEEDS_TIMES | PLEAT_NEEDS_MEASURES,
    .shrinks = true,
    .grow = learned_grow,
    .shrink = learned_shrink,
    .balance = learned_balance,
};
