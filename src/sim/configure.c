/* Tells the core its policies and parameters, and chooses the parameters that nobody has set. */
#include "sim/internal.h"

/* How long the core waits for a claim or a start: at least twice the mean and four standard
 * deviations of any site. A claim that takes longer than the core waits would be tried again and
 * again. */
static int64_t longest_wait(const struct sim *sim, uint32_t parameter)
{
    int64_t longest = pleat_parameter_default(parameter);
    const struct pleat_sim_sites *sites = &sim->options->platform->sites;
    for (size_t s = 0; s < sites->count; s++) {
        const struct pleat_delay *delay =
            parameter == PLEAT_PARAM_CLAIM_US ? &sites->items[s].claim : &sites->items[s].start;
        int64_t usual = 2 * (delay->mean_us + 4 * delay->spread_us);
        if (parameter == PLEAT_PARAM_CLAIM_US)
            usual += 2 * sites->items[s].claim_each_us * site_capacity(&sites->items[s]);
        longest = usual > longest ? usual : longest;
    }
    return longest;
}

/* Does it take any application time to change its size? */
static bool any_takes_time(const struct pleat_workload *workload)
{
    for (size_t a = 0; a < workload->apps.count; a++) {
        const struct pleat_app *app = &workload->apps.items[a];
        if (app->adapt_us > 0 || app->iterations > 0 || app->cost.fixed_us > 0 ||
            app->cost.bytes > 0 || app->cost.count > 0 || app->sections > 0)
            return true;
    }
    return false;
}

/* The value of a parameter that nobody has set. The deadlines of a daemon are for programs that may
 * never answer. Simulated applications always answer, however far apart their adaptation points
 * are: they are waited for. */
static int64_t unset(const struct sim *sim, uint32_t parameter)
{
    switch (parameter) {
    case PLEAT_PARAM_CLAIM_US:
    case PLEAT_PARAM_START_US:
        return longest_wait(sim, parameter);
    case PLEAT_PARAM_BARRIER_US:
        return pleat_parameter_default(parameter) + longest_wait(sim, PLEAT_PARAM_CLAIM_US);
    case PLEAT_PARAM_APPLY_US:
    case PLEAT_PARAM_SHRINK_US:
    case PLEAT_PARAM_EARMARK_US:
        return any_takes_time(sim->workload) ? PATIENCE_US : pleat_parameter_default(parameter);
    case PLEAT_PARAM_RELAUNCHES: /* they may move, which is all that they have of being relaunched
                                  */
        return sim->moves ? 0 : pleat_parameter_default(parameter);
    default:
        return pleat_parameter_default(parameter);
    }
}

static int set_policy(struct sim *sim, enum pleat_question question)
{
    const struct pleat_policy *policy = sim->options->policies[question];
    if (!policy)
        policy = pleat_policy_default(question);
    if (pleat_policy_get(question, policy->number) != policy)
        return pleat_core_try_policy(sim->core, policy) ? nomem(sim) : 0;
    struct pleat_event event = {.time_us = sim->now_us,
                                .kind = PLEAT_EV_POLICY,
                                .component = PLEAT_NONE,
                                .u.policy = {question, policy->number, policy->version}};
    return input(sim, &event);
}

int configure(struct sim *sim)
{
    int rc = 0;
    for (uint32_t q = 0; !rc && q < PLEAT_QUESTION_COUNT; q++)
        rc = set_policy(sim, (enum pleat_question)q);
    for (uint32_t p = pleat_parameter_next(0); !rc && p; p = pleat_parameter_next(p)) {
        int64_t value = sim->options->parameters[p];
        if (value == 0)
            value = unset(sim, p);
        struct pleat_event event = {.time_us = sim->now_us,
                                    .kind = PLEAT_EV_PARAMETER,
                                    .component = PLEAT_NONE,
                                    .u.parameter = {value, p}};
        if (value != pleat_core_parameter(sim->core, (enum pleat_parameter)p))
            rc = input(sim, &event);
    }
    sim->reads_times = pleat_core_needs(sim->core) & PLEAT_NEEDS_TIMES;
    sim->reads_measures = pleat_core_needs(sim->core) & PLEAT_NEEDS_MEASURES;
    pleat_random_init(&sim->noise, sim->options->seed + 4);
    if (!rc)
        rc = sizes_begin(sim);
    return rc ? rc : sites_begin(sim);
}
