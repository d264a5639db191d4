/* koala_sim.c - the same workloads simulated, with the run times that were measured. */
#include "koala.h"

#include <math.h>
#include <stdio.h>

#include "experiment/experiment.h"

static int64_t us(double seconds)
{
    return llround(seconds * 1e6);
}

/* One application for each job, as each may be slowed down by something else. */
static int add_app(struct pleat_workload *workload, enum koala_app app, int number, double times,
                   const struct koala_feed *feed, struct live_changes changes, double stretch)
{
    const struct koala_program *program = &koala_programs[app];
    struct pleat_app added = {
        .speedup = {.kind = PLEAT_SPEEDUP_TABLE, .first = (uint32_t)workload->table.count},
        .iterations = (int32_t)fmax(2, round(program->iterations * times))};
    snprintf(added.name, sizeof(added.name), "%s-%d", program->name, number);
    for (int i = 0; i < KOALA_SIZES && program->sizes[i]; i++, added.speedup.count++) {
        struct pleat_table_row row = {program->sizes[i], us(feed->seconds[app][i] * stretch)};
        if (pleat_array_push(&workload->table, row))
            return PLEAT_E_NOMEM;
    }
    if (live_add_changes(workload, &added, changes, KOALA_PROCESSORS))
        return PLEAT_E_NOMEM;
    return pleat_array_push(&workload->apps, added);
}

static struct pleat_workload_job job_of(const struct koala_job *job, int number, bool is_rigid,
                                        double at_s, int64_t run_us)
{
    const struct koala_program *program = &koala_programs[job->app];
    bool powers = program->powers && !is_rigid;
    return (struct pleat_workload_job){.number = number,
                                       .submit_us = us(at_s),
                                       .run_us = run_us,
                                       .processors = KOALA_LEAST,
                                       .minimum = KOALA_LEAST,
                                       .maximum = is_rigid ? KOALA_LEAST : koala_largest(job->app),
                                       .initial = is_rigid ? 0 : KOALA_LEAST,
                                       .site = PLEAT_NONE,
                                       .user = -1,
                                       .app = (uint32_t)number, /* application 0 is another one */
                                       .kind = is_rigid ? PLEAT_RIGID : PLEAT_MALLEABLE,
                                       .sizes_kind = powers ? PLEAT_SIZES_POWERS : PLEAT_SIZES_ANY};
}

static int make_workload(struct pleat_workload *workload, int approach, int run,
                         const struct koala_job *jobs, double times, const struct koala_feed *feed,
                         struct live_changes changes, const double *stretch)
{
    int rc = pleat_workload_init(workload);
    workload->machine = KOALA_PROCESSORS;
    for (int i = 0; !rc && i < KOALA_JOBS; i++)
        rc = add_app(workload, jobs[i].app, i + 1, times, feed, changes, stretch[i]);
    for (int i = 0; !rc && i < KOALA_JOBS; i++) {
        const struct pleat_speedup *speedup = &workload->apps.items[i + 1].speedup;
        struct pleat_workload_job job =
            job_of(&jobs[i], i + 1, koala_is_mixed(run) && jobs[i].is_rigid,
                   i * koala_gap_s(approach, times), workload->table.items[speedup->first].run_us);
        rc = pleat_array_push(&workload->jobs, job);
    }
    return rc;
}

void koala_simulate(int approach, int run, const struct koala_job jobs[KOALA_JOBS], double times,
                    const struct koala_feed *feed, struct live_changes changes,
                    const double stretch[KOALA_JOBS], struct live_outcome outcomes[KOALA_JOBS])
{
    static const struct pleat_study nobody = {.interrupt = NULL};
    struct pleat_platform platform = {0};
    struct pleat_workload workload = {0};
    struct pleat_trial trial = {0};
    struct pleat_error err = {0};
    struct pleat_sim_options options = {.platform = &platform, .seed = 1};
    if (make_workload(&workload, approach, run, jobs, times, feed, changes, stretch) ||
        pleat_platform_add(&platform, "local", KOALA_PROCESSORS))
        trial_give_up("a simulation", "no memory");
    platform.sites.items[0].start.mean_us = us(feed->start_s);
    live_delay_changes(&platform.sites.items[0], changes);
    if (pleat_trial_policies(&options, koala_policies(approach, run), &err) ||
        pleat_trial_run(&trial, &nobody, &workload, &options, true, &err))
        trial_give_up("a simulation", err.text);
    live_of_trial(&trial, koala_run_name(approach, run), outcomes);
    pleat_trial_finish(&trial);
    pleat_workload_finish(&workload);
    pleat_platform_finish(&platform);
}
