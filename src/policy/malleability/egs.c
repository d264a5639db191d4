/* Equi-Grow & Shrink: Buisson et al. 2007, V-C.2, figure 5.
 *
 * Divides what is handed out (or wanted back) equally over all running malleable jobs. Deviations:
 * - As printed, the malus goes to i >= shrinkRemainder, which reclaims 8 for a request of 7 from 3
 *   jobs. The prose says "reclaimed from the most recently started jobs": with the list sorted by
 *   decreasing start time that is i < remainder, used here.
 * - What is left when jobs accept less than their share is not mentioned in the paper. Here it is
 *   divided again over those that can still change; and if all shares are too small to be accepted
 *   (a job of 4 that takes powers of two wants 4 more or none), it is offered whole to each in
 *   turn.
 *
 * egs-once has only the first deviation: a pass asks for one round of figure 5. What jobs do not
 * take of their shares is left until the next pass, which offers it in the same way. A resize that
 * is done brings one: where claims and stops take no time that is in the same instant, so that jobs
 * may get then what others left. Where the reward policy spares some, a round that gets processors
 * back is over the others; only if these do not suffice there is one over those that were spared.
 *
 * egs-printed has no deviation: it is figure 5 to the letter, also where that is unlikely to be
 * meant. Every job of the list is asked for its share, whatever those before it gave, so that more
 * may be reclaimed than was wanted. */
#include "policy/policies.h"

/* A round of figure 5, over all jobs or over those that can still change; returns what is left. */
static int32_t grow_round(struct pleat_pass *pass, uint32_t site, int32_t grow_value, bool able)
{
    const struct pleat_view *view = pass->view;
    int32_t jobs = 0, i = 0, left = grow_value;
    for (uint32_t component = pleat_malleable_oldest(view, site); component != PLEAT_NONE;
         component = pleat_malleable_younger(view, component))
        jobs += !able || pleat_plan_could_grow(pass->plan, component, grow_value);
    if (jobs == 0)
        return left;
    int32_t job_grow_value = grow_value / jobs;
    int32_t grow_remainder = grow_value % jobs;
    for (uint32_t component = pleat_malleable_oldest(view, site); component != PLEAT_NONE;
         component = pleat_malleable_younger(view, component)) {
        if (able && !pleat_plan_could_grow(pass->plan, component, left))
            continue;
        int32_t bonus = i++ < grow_remainder ? 1 : 0;
        left -= pleat_plan_offer_grow(pass->plan, component, job_grow_value + bonus);
    }
    return left;
}

static int32_t egs_grow(struct pleat_pass *pass, uint32_t site, int32_t grow_value)
{
    const struct pleat_view *view = pass->view;
    int32_t left = grow_round(pass, site, grow_value, false);
    for (int32_t before = left + 1; left > 0 && left < before;) {
        before = left;
        left = grow_round(pass, site, left, true);
    }
    for (uint32_t component = pleat_malleable_oldest(view, site);
         component != PLEAT_NONE && left > 0; component = pleat_malleable_younger(view, component))
        left -= pleat_plan_offer_grow(pass->plan, component, left);
    return left;
}

/* Over which jobs a round that shrinks them is. */
enum among { ALL, ABLE, NOT_SPARED };

static bool is_among(const struct pleat_plan *plan, uint32_t component, enum among among)
{
    return among == ALL || (among == ABLE ? pleat_plan_could_shrink(plan, component)
                                          : !pleat_plan_spares(plan, component));
}

static int32_t shrink_round(struct pleat_pass *pass, uint32_t site, int32_t shrink_value,
                            uint32_t waiter, enum among among)
{
    const struct pleat_view *view = pass->view;
    int32_t jobs = 0, i = 0, left = shrink_value;
    for (uint32_t component = pleat_malleable_newest(view, site); component != PLEAT_NONE;
         component = pleat_malleable_older(view, component))
        jobs += is_among(pass->plan, component, among);
    if (jobs == 0)
        return left;
    int32_t job_shrink_value = shrink_value / jobs;
    int32_t shrink_remainder = shrink_value % jobs;
    for (uint32_t component = pleat_malleable_newest(view, site);
         component != PLEAT_NONE && left > 0; component = pleat_malleable_older(view, component)) {
        if (!is_among(pass->plan, component, among))
            continue;
        int32_t malus = i++ < shrink_remainder ? 1 : 0;
        left -= pleat_plan_offer_shrink(pass->plan, component, job_shrink_value + malus, waiter);
    }
    return left;
}

static int32_t egs_shrink(struct pleat_pass *pass, uint32_t site, int32_t shrink_value,
                          uint32_t waiter)
{
    int32_t left = shrink_round(pass, site, shrink_value, waiter, ALL);
    for (int32_t before = left + 1; left > 0 && left < before;) {
        before = left;
        left = shrink_round(pass, site, left, waiter, ABLE);
    }
    return left;
}

/* EQUI_SHRINK line by line. Below 0: more was reclaimed than wanted. */
static int32_t printed_shrink(struct pleat_pass *pass, uint32_t site, int32_t shrink_value,
                              uint32_t waiter)
{
    const struct pleat_view *view = pass->view;
    int32_t jobs = 0, i = 0, left = shrink_value;
    for (uint32_t component = pleat_malleable_newest(view, site); component != PLEAT_NONE;
         component = pleat_malleable_older(view, component))
        jobs += !pleat_plan_spares(pass->plan, component);
    if (jobs == 0)
        return left;
    int32_t job_shrink_value = shrink_value / jobs;
    int32_t shrink_remainder = shrink_value % jobs;
    for (uint32_t component = pleat_malleable_newest(view, site); component != PLEAT_NONE;
         component = pleat_malleable_older(view, component)) {
        if (pleat_plan_spares(pass->plan, component))
            continue;
        int32_t malus = i++ >= shrink_remainder ? 1 : 0;
        left -= pleat_plan_offer_shrink(pass->plan, component, job_shrink_value + malus, waiter);
    }
    return left;
}

const struct pleat_policy pleat_policy_egs = {
    .number = 2,
    .version = 1,
    .question = PLEAT_MALLEABILITY,
    .name = "egs",
    .source = "Buisson et al. 2007, V-C.2",
    .summary = "grow and shrink all running malleable jobs by equal shares",
    .shrinks = true,
    .grow = egs_grow,
    .shrink = egs_shrink,
};

static int32_t egs_once_grow(struct pleat_pass *pass, uint32_t site, int32_t grow_value)
{
    return grow_round(pass, site, grow_value, false);
}

static int32_t egs_once_shrink(struct pleat_pass *pass, uint32_t site, int32_t shrink_value,
                               uint32_t waiter)
{
    return shrink_round(pass, site, shrink_value, waiter, NOT_SPARED);
}

const struct pleat_policy pleat_policy_egs_once = {
    .number = 17,
    .version = 3,
    .question = PLEAT_MALLEABILITY,
    .name = "egs-once",
    .source = "Buisson et al. 2007, V-C.2",
    .summary = "as egs, but one round of equal shares in a pass",
    .shrinks = true,
    .once = true,
    .grow = egs_once_grow,
    .shrink = egs_once_shrink,
};

const struct pleat_policy pleat_policy_egs_printed = {
    .number = 18,
    .version = 2,
    .question = PLEAT_MALLEABILITY,
    .name = "egs-printed",
    .source = "Buisson et al. 2007, V-C.2, figure 5",
    .summary = "as egs-once, and every job gives its share of what is wanted back, rounded up",
    .shrinks = true,
    .once = true,
    .grow = egs_once_grow,
    .shrink = printed_shrink,
};
