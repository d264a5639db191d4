/* trial.c - one run: platform, workload, load over time. */
#include <math.h>
#include <stdlib.h>

#include "experiments/koala-runners/runners.h"

int runners_init(struct runners_trial *trial, struct pleat_error *err)
{
    *trial = (struct runners_trial){0};
    trial->options.platform = &trial->platform;
    return pleat_workload_init(&trial->workload)
               ? pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the workload")
               : 0;
}

void runners_finish(struct runners_trial *trial)
{
    pleat_trial_finish(&trial->trial);
    pleat_workload_finish(&trial->workload);
    pleat_platform_finish(&trial->platform);
    pleat_array_finish(&trial->log);
}

int runners_add_cluster(struct runners_trial *trial, const char *name, int32_t nodes,
                        int32_t others)
{
    int rc = pleat_platform_add(&trial->platform, name, nodes);
    if (rc)
        return rc;
    struct pleat_sim_site *site = runners_cluster(trial, trial->platform.sites.count - 1);
    struct pleat_load_point point = {0, others};
    site->slots = 2;
    return others > 0 ? pleat_array_push(&site->trace, point) : 0;
}

int runners_run(struct runners_trial *trial, const struct pleat_study *study, const char *policies,
                struct pleat_error *err)
{
    int rc = pleat_trial_policies(&trial->options, policies, err);
    return rc ? rc
              : pleat_trial_run(&trial->trial, study, &trial->workload, &trial->options, true, err);
}

int runners_load(const struct runners_trial *trial, uint32_t site, size_t first, size_t last,
                 bool with_others, struct pleat_curve *curve)
{
    const struct pleat_sim_site *spec = &trial->platform.sites.items[site];
    const struct pleat_sim_changes *changes = &trial->trial.changes;
    struct pleat_edges edges = {0};
    struct pleat_edge others = {trial->trial.totals.begin_us, with_others && spec->trace.count
                                                                  ? spec->trace.items[0].processors
                                                                  : 0};
    int rc = pleat_array_push(&edges, others) ? PLEAT_E_NOMEM : 0;
    for (size_t i = 0; !rc && i < changes->count; i++) {
        const struct pleat_sim_change *change = &changes->items[i];
        struct pleat_edge edge = {change->time_us, change->to - change->from};
        if (change->site == site && change->job >= first && change->job < last)
            rc = pleat_array_push(&edges, edge) ? PLEAT_E_NOMEM : 0;
    }
    struct pleat_edge end = {trial->trial.totals.end_us, 0};
    if (!rc)
        rc = pleat_array_push(&edges, end) ? PLEAT_E_NOMEM : 0;
    if (!rc)
        rc = pleat_curve_levels(curve, &edges);
    for (size_t i = 0; !rc && i < curve->count; i++)
        curve->y[i] *= 100.0 / (spec->nodes * spec->slots);
    pleat_array_finish(&edges);
    return rc;
}

int runners_add_sleeper(struct runners_trial *trial, int32_t work, uint32_t *index)
{
    struct pleat_app app = {.component = COMPONENT, .work = work, .gives_back = true};
    *index = (uint32_t)trial->workload.apps.count;
    return pleat_array_push(&trial->workload.apps, app) ? PLEAT_E_NOMEM : 0;
}

struct pleat_workload_job runners_sleeper(uint32_t app, int32_t minimum, int32_t maximum)
{
    return (struct pleat_workload_job){.run_us = PIECE_S * INT64_C(1000000),
                                       .processors = COMPONENT,
                                       .minimum = minimum,
                                       .maximum = maximum,
                                       .initial = COMPONENT,
                                       .sizes_kind = PLEAT_SIZES_MULTIPLES,
                                       .sizes_parameter = COMPONENT,
                                       .app = app,
                                       .site = PLEAT_NONE,
                                       .user = -1,
                                       .kind = PLEAT_MALLEABLE};
}
