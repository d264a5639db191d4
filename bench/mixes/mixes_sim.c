/* mixes_sim.c - the same mixes simulated, with the times that were measured. */
#include <math.h>
#include <stdio.h>

#include "experiment/experiment.h"
#include "mixes.h"

static int64_t us(double seconds)
{
    return llround(seconds * 1e6);
}

/* Each job is an application of its own. */
static int add_job(struct pleat_workload *workload, const struct mixes_job *job, int number,
                   const struct mixes_way *way, double times, const struct mixes_feed *feed,
                   struct live_changes changes, double stretch)
{
    struct pleat_app app = {
        .speedup = {.kind = PLEAT_SPEEDUP_TABLE, .first = (uint32_t)workload->table.count},
        .iterations = (int32_t)fmax(2, round(job->iterations * times))};
    snprintf(app.name, sizeof(app.name), "job%d", number);
    for (int i = 0; i < MIXES_SIZES; i++, app.speedup.count++) {
        double seconds = mixes_time_s(feed, job, mixes_sizes[i], times) * stretch;
        if (pleat_array_push(&workload->table,
                             ((struct pleat_table_row){mixes_sizes[i], us(seconds)})))
            return PLEAT_E_NOMEM;
    }
    if (live_add_changes(workload, &app, changes, mixes_sizes[MIXES_SIZES - 1]) ||
        pleat_array_push(&workload->apps, app))
        return PLEAT_E_NOMEM;
    const struct pleat_table_row *alone = &workload->table.items[app.speedup.first];
    struct pleat_workload_job added = {.number = number + 1,
                                       .submit_us = us(job->submit_s * times),
                                       .site = PLEAT_NONE,
                                       .user = -1,
                                       .app = (uint32_t)number + 1, /* application 0 is another */
                                       .kind = PLEAT_RIGID};
    int first = way->malleable || way->moldable ? job->initial : way->sizes[number];
    for (int i = 0; i < MIXES_SIZES; i++)
        if (mixes_sizes[i] == first)
            added.run_us = alone[i].run_us;
    added.processors = added.minimum = added.maximum = first;
    if (way->malleable) {
        added.kind = PLEAT_MALLEABLE;
        added.maximum = 25;
        added.initial = first;
    } else if (way->moldable) {
        added.kind = PLEAT_MOLDABLE;
        added.maximum = job->useful > first ? job->useful : first;
    }
    if (way->malleable || way->moldable)
        added.sizes_kind = PLEAT_SIZES_LIST; /* those of its table */
    return pleat_array_push(&workload->jobs, added);
}

void mixes_simulate(const struct mixes_mix *mix, const struct mixes_way *way, double times,
                    const struct mixes_feed *feed, struct live_changes changes, double stretch,
                    struct live_outcome *outcomes)
{
    static const struct pleat_study nobody = {.interrupt = NULL};
    struct pleat_platform platform = {0};
    struct pleat_workload workload = {0};
    struct pleat_trial trial = {0};
    struct pleat_error err = {0};
    struct pleat_sim_options options = {.platform = &platform, .seed = 1};
    int rc = pleat_workload_init(&workload);
    workload.machine = mix->processors;
    for (int i = 0; !rc && i < mix->count; i++)
        rc = add_job(&workload, &mix->jobs[i], i, way, times, feed, changes, stretch);
    if (rc || pleat_platform_add(&platform, "local", mix->processors))
        trial_give_up("a simulation", "no memory");
    live_delay_changes(&platform.sites.items[0], changes);
    if (pleat_trial_policies(&options, way->policies, &err) ||
        pleat_trial_run(&trial, &nobody, &workload, &options, true, &err))
        trial_give_up("a simulation", err.text);
    live_of_trial(&trial, way->name, outcomes);
    pleat_trial_finish(&trial);
    pleat_workload_finish(&workload);
    pleat_platform_finish(&platform);
}
