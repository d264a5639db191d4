/* virtual_sim.c - the same workloads simulated, with the run times that were measured. */
#include "virtual.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "experiment/experiment.h"

enum { UNLIMITED = 255 };

static int64_t us(double seconds)
{
    return llround(seconds * 1e6);
}

/* An application whose sizes are one process and all. */
static int add_app(struct pleat_workload *workload, enum virtual_app app,
                   const double seconds[VIRTUAL_PLACES], double change_s)
{
    const struct virtual_program *program = &virtual_programs[app];
    struct virtual_model model = virtual_fit(app, seconds);
    struct pleat_app added = {.speedup = {.kind = PLEAT_SPEEDUP_TABLE,
                                          .first = (uint32_t)workload->table.count,
                                          .count = 2},
                              .mpl_overhead = model.overhead,
                              .imbalance = model.imbalance,
                              .cost = {.fixed_us = us(change_s)}};
    snprintf(added.name, sizeof(added.name), "%s", program->name);
    const struct pleat_table_row rows[] = {{1, us(seconds[VIRTUAL_ONE])},
                                           {program->parallel, us(model.unfolded_s)}};
    return pleat_array_push(&workload->table, rows[0]) ||
           pleat_array_push(&workload->table, rows[1]) || pleat_array_push(&workload->apps, added);
}

static struct pleat_workload_job job_of(const struct virtual_job *of, int64_t number, uint32_t app,
                                        int64_t run_us, enum virtual_policy policy,
                                        const struct virtual_feed *feed)
{
    const struct virtual_program *program = &virtual_programs[of->app];
    bool is_long = program->class_ == VIRTUAL_LONG;
    return (struct pleat_workload_job){.number = number,
                                       .submit_us = us(of->at_s),
                                       .run_us = run_us,
                                       .estimate_us = us(virtual_estimate_s(program->class_, feed)),
                                       .processors = program->parallel,
                                       .minimum = 1,
                                       .maximum = program->parallel,
                                       .site = PLEAT_NONE,
                                       .user = -1,
                                       .app = app,
                                       .kind = PLEAT_MALLEABLE,
                                       .sizes_kind = PLEAT_SIZES_LIST,
                                       .mpl_max = (uint8_t)virtual_rules[policy].mpl,
                                       .job_class = is_long ? PLEAT_CLASS_LONG : PLEAT_CLASS_SHORT};
}

static int make_workload(struct pleat_workload *workload, enum virtual_policy policy,
                         const struct virtual_draw *draw, const struct virtual_feed *feed,
                         double seconds[VIRTUAL_APPS][VIRTUAL_PLACES])
{
    uint32_t apps[VIRTUAL_APPS] = {0};
    int rc = pleat_workload_init(workload);
    workload->machine = VIRTUAL_PROCESSORS;
    for (int i = 0; !rc && i < draw->count; i++) {
        enum virtual_app app = draw->jobs[i].app;
        if (!apps[app]) { /* application 0 is another one */
            apps[app] = (uint32_t)workload->apps.count;
            rc = add_app(workload, app, seconds[app], feed->change_s);
        }
        if (rc)
            break;
        const struct pleat_speedup *speedup = &workload->apps.items[apps[app]].speedup;
        rc = pleat_array_push(&workload->jobs,
                              job_of(&draw->jobs[i], i + 1, apps[app],
                                     workload->table.items[speedup->first + 1].run_us, policy,
                                     feed));
    }
    return rc;
}

static int run(const struct virtual_rule *rule, const struct pleat_workload *workload,
               struct pleat_platform *platform, struct pleat_trial *trial, struct pleat_error *err)
{
    static const struct pleat_study nobody = {.interrupt = NULL};
    struct pleat_sim_options options = {.platform = platform, .seed = 1};
    options.parameters[PLEAT_PARAM_PREEMPTIONS] = UNLIMITED;
    platform->sites.items[0].nodes = 1;
    platform->sites.items[0].slots = VIRTUAL_PROCESSORS;
    int rc = pleat_trial_policies(&options, rule->policies, err);
    return rc ? rc : pleat_trial_run(trial, &nobody, workload, &options, true, err);
}

void virtual_simulate(enum virtual_policy policy, const struct virtual_draw *draw,
                      const struct virtual_feed *feed, double seconds[VIRTUAL_APPS][VIRTUAL_PLACES],
                      struct live_outcome *outcomes)
{
    const struct virtual_rule *rule = &virtual_rules[policy];
    struct pleat_platform platform = {0};
    struct pleat_workload workload = {0};
    struct pleat_trial trial = {0};
    struct pleat_error err = {0};
    if (make_workload(&workload, policy, draw, feed, seconds) ||
        pleat_platform_add(&platform, "local", VIRTUAL_PROCESSORS))
        trial_give_up("a simulation", "no memory");
    if (run(rule, &workload, &platform, &trial, &err))
        trial_give_up("a simulation", err.text);
    live_of_trial(&trial, rule->name, outcomes);
    pleat_trial_finish(&trial);
    pleat_workload_finish(&workload);
    pleat_platform_finish(&platform);
}

/* ---- what really happened, against the same feed ---- */

/* The share of a job's work that it would have done in its last run, had it been as fast as alone:
 * above 1, it was slower. */
static double would_have_done(enum virtual_app app, const struct virtual_feed *feed,
                              const struct live_outcome *outcome)
{
    double done = 0;
    for (int i = 0; i < outcome->piece_count; i++) {
        const struct live_piece *piece = &outcome->pieces[i];
        double until_s =
            i + 1 < outcome->piece_count ? outcome->pieces[i + 1].at_s : outcome->end_s;
        double span_s = fmin(until_s, outcome->end_s) - fmax(piece->at_s, outcome->start_s);
        if (span_s > 0 && piece->processors > 0)
            done += span_s /
                    feed->alone_s[app][virtual_place_of(outcome->processes, piece->processors)];
    }
    return done;
}

void virtual_stretch(const struct virtual_draw *draw, const struct virtual_feed *feed,
                     const struct live_outcome *outcomes, double stretch[VIRTUAL_APPS])
{
    int counts[VIRTUAL_APPS] = {0};
    memset(stretch, 0, VIRTUAL_APPS * sizeof(*stretch));
    for (int i = 0; i < draw->count; i++) {
        enum virtual_app app = draw->jobs[i].app;
        stretch[app] += would_have_done(app, feed, &outcomes[i]);
        counts[app]++;
    }
    for (int app = 0; app < VIRTUAL_APPS; app++)
        stretch[app] = counts[app] ? stretch[app] / counts[app] : 1;
}
