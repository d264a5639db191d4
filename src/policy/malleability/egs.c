/* Equi-Grow & Shrink: Buisson et al. 2007, V-C.2, figure 5.
 *
 * Divides what is handed out (or wanted back) equally over all running malleable jobs. Deviations:
 * - As printed, the malus goes to i >= shrinkRemainder, which reclaims 8 for a request of 7 from 3
 *   jobs. The prose says "reclaimed from the most recently started jobs": with the list sorted by
 *   decreasing start time that is i < remainder, used here.
 * - A leftover (somebody accepted less than its share) is not mentioned in the paper; the caller
 *   repeats until nobody accepts more. */
#include "policy/policies.h"

static int32_t egs_grow(struct pleat_pass *pass, uint32_t site, int32_t grow_value)
{
    const struct pleat_view *view = pass->view;
    int32_t jobs = (int32_t)view->sites[site].malleable_count;
    if (jobs == 0)
        return grow_value;
    int32_t job_grow_value = grow_value / jobs;
    int32_t grow_remainder = grow_value % jobs;
    int32_t i = 0;
    for (uint32_t job = pleat_malleable_oldest(view, site); job != PLEAT_NONE;
         job = pleat_malleable_younger(view, job), i++) {
        int32_t bonus = i < grow_remainder ? 1 : 0;
        grow_value -= pleat_plan_offer_grow(pass->plan, job, job_grow_value + bonus);
    }
    return grow_value;
}

static int32_t egs_shrink(struct pleat_pass *pass, uint32_t site, int32_t shrink_value,
                          uint32_t waiter)
{
    const struct pleat_view *view = pass->view;
    int32_t jobs = (int32_t)view->sites[site].malleable_count;
    if (jobs == 0)
        return shrink_value;
    int32_t job_shrink_value = shrink_value / jobs;
    int32_t shrink_remainder = shrink_value % jobs;
    int32_t i = 0;
    for (uint32_t job = pleat_malleable_newest(view, site); job != PLEAT_NONE;
         job = pleat_malleable_older(view, job), i++) {
        int32_t malus = i < shrink_remainder ? 1 : 0;
        shrink_value -= pleat_plan_offer_shrink(pass->plan, job, job_shrink_value + malus, waiter);
    }
    return shrink_value;
}

const struct pleat_policy pleat_policy_egs = {
    .number = 2,
    .version = 1,
    .question = PLEAT_MALLEABILITY,
    .name = "egs",
    .source = "Buisson et al. 2007, V-C.2",
    .summary = "grow and shrink all running malleable jobs by equal shares",
    .grow = egs_grow,
    .shrink = egs_shrink,
};
