#include <string.h>

#include "policy/policies.h"

/* The first of each question is the default. */
static const struct pleat_policy *const all[] = {
    /* approach */
    &pleat_policy_pwa,
    &pleat_policy_pra,
    &pleat_policy_remap,
    &pleat_policy_launcher,
    &pleat_policy_pwa_next,
    /* queue */
    &pleat_policy_fcfs,
    &pleat_policy_scan,
    &pleat_policy_easy,
    &pleat_policy_conservative,
    &pleat_policy_backfill_abort,
    &pleat_policy_backfill_malleability,
    &pleat_policy_backfill_abort_due,
    &pleat_policy_backfill_malleability_due,
    /* placement */
    &pleat_policy_worst_fit,
    &pleat_policy_close_to_files,
    &pleat_policy_cluster_minimization,
    &pleat_policy_flexible_cluster_minimization,
    /* moldability */
    &pleat_policy_available,
    &pleat_policy_minimum,
    &pleat_policy_psa,
    &pleat_policy_psa_idle,
    &pleat_policy_asp_max,
    &pleat_policy_asp_max_idle,
    &pleat_policy_moldability_folding,
    &pleat_policy_fjt,
    &pleat_policy_fjt_figure,
    &pleat_policy_fjt_1,
    &pleat_policy_largest,
    /* malleability */
    &pleat_policy_egs,
    &pleat_policy_fpsma,
    &pleat_policy_none,
    &pleat_policy_malleability_priority,
    &pleat_policy_round_robin,
    &pleat_policy_equipartition,
    &pleat_policy_malleability_folding,
    &pleat_policy_sweet_spot,
    &pleat_policy_halving,
    &pleat_policy_partition,
    &pleat_policy_egs_once,
    /* order */
    &pleat_policy_arrival,
    &pleat_policy_sjf,
    &pleat_policy_ljf,
    &pleat_policy_order_priority,
    &pleat_policy_edf,
    /* buffer */
    &pleat_policy_buffer_none,
    &pleat_policy_periodic,
    &pleat_policy_prediction,
};

const struct pleat_policy *pleat_policy_at(size_t i)
{
    return i < sizeof(all) / sizeof(all[0]) ? all[i] : NULL;
}

const struct pleat_policy *pleat_policy_find(enum pleat_question question, const char *name)
{
    for (size_t i = 0; pleat_policy_at(i); i++)
        if (all[i]->question == question && !strcmp(all[i]->name, name))
            return all[i];
    return NULL;
}

const struct pleat_policy *pleat_policy_get(enum pleat_question question, uint32_t number)
{
    for (size_t i = 0; pleat_policy_at(i); i++)
        if (all[i]->question == question && all[i]->number == number)
            return all[i];
    return NULL;
}

const struct pleat_policy *pleat_policy_default(enum pleat_question question)
{
    for (size_t i = 0; pleat_policy_at(i); i++)
        if (all[i]->question == question)
            return all[i];
    return NULL;
}

const char *pleat_question_name(enum pleat_question question)
{
    static const char *const names[] = {"approach",     "queue", "placement", "moldability",
                                        "malleability", "order", "buffer"};
    return question < PLEAT_QUESTION_COUNT ? names[question] : "?";
}
