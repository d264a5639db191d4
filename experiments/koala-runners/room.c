/* room.c - a malleable job makes room for a rigid one (Lammers 2005, 5.6.4 and figure 5.9). */
#include <math.h>
#include <stdlib.h>

#include "experiments/koala-runners/runners.h"

enum { WORK = 40, MAXIMUM = 80, NODES = 20, RIGID = 40, RIGID_S = 120, COMES_S = 230 };
enum { STEP_S = 12, AGAIN_S = 10 };

enum { MALLEABLE_JOB, RIGID_JOB };
enum { BEFORE, AT_LEAST, WAITED, AFTER, WITHOUT, METRICS };

static int make(struct runners_trial *trial, int32_t minimum, uint64_t seed,
                struct pleat_error *err)
{
    uint32_t app = 0;
    int rc = runners_init(trial, err);
    if (!rc)
        rc = runners_add_cluster(trial, "Leiden", NODES, 0);
    if (!rc)
        rc = runners_add_sleeper(trial, WORK, &app);
    if (rc)
        return rc;
    struct pleat_sim_site *site = runners_cluster(trial, 0);
    site->claim = (struct pleat_delay){STEP_S * INT64_C(1000000), STEP_S * INT64_C(100000)};
    site->release = (struct pleat_delay){AGAIN_S * INT64_C(1000000), AGAIN_S * INT64_C(100000)};
    struct pleat_workload_job malleable = runners_sleeper(app, minimum, MAXIMUM);
    struct pleat_workload_job rigid = {.number = 1,
                                       .submit_us = COMES_S * INT64_C(1000000),
                                       .run_us = RIGID_S * INT64_C(1000000),
                                       .processors = RIGID,
                                       .minimum = RIGID,
                                       .maximum = RIGID,
                                       .site = 0,
                                       .user = -1};
    trial->options.seed = seed;
    return pleat_array_push(&trial->workload.jobs, malleable) ||
                   pleat_array_push(&trial->workload.jobs, rigid)
               ? PLEAT_E_NOMEM
               : 0;
}

static void measure(const struct runners_trial *trial, double *metrics)
{
    const struct pleat_sim_changes *changes = &trial->trial.changes;
    const struct pleat_sim_outcome *rigid = &trial->trial.outcomes[RIGID_JOB];
    int32_t size = 0;
    metrics[BEFORE] = metrics[AFTER] = 0;
    for (size_t i = 0; i < changes->count; i++) {
        const struct pleat_sim_change *change = &changes->items[i];
        if (change->job != MALLEABLE_JOB)
            continue;
        size = change->to;
        if (change->time_us <= COMES_S * INT64_C(1000000))
            metrics[BEFORE] = size > metrics[BEFORE] ? size : metrics[BEFORE];
        else if (change->time_us <= rigid->start_us)
            metrics[AT_LEAST] = size;
        else if (change->time_us >= rigid->end_us && size > metrics[AFTER])
            metrics[AFTER] = size;
    }
    metrics[WAITED] = (double)rigid->start_us / 1e6 - COMES_S;
}

static int run_one(void *context, const struct pleat_study *study, size_t setting, uint64_t seed,
                   double *metrics, struct pleat_error *err)
{
    (void)context;
    (void)setting;
    int rc = 0;
    for (int32_t minimum = 0; !rc && minimum <= 1; minimum++) {
        struct runners_trial trial;
        rc = make(&trial, minimum, seed, err);
        if (!rc)
            rc = runners_run(&trial, study, "approach=pwa malleability=round-robin", err);
        if (!rc && minimum == 0)
            measure(&trial, metrics);
        else if (!rc) /* with a minimum of 1 the malleable job always keeps a component */
            metrics[WITHOUT] = pleat_trial_wait_s(&trial.trial, RIGID_JOB);
        runners_finish(&trial);
    }
    return rc;
}

static int draw(struct pleat_study *study, struct pleat_error *err)
{
    struct runners_trial trial;
    struct pleat_curve loads[2] = {{0}};
    struct pleat_plot_series series[2];
    static const char *const titles[] = {"malleable", "rigid"};
    int rc = make(&trial, 0, study->seed, err);
    if (!rc)
        rc = runners_run(&trial, study, "approach=pwa malleability=round-robin", err);
    for (size_t i = 0; !rc && i < 2; i++) {
        rc = runners_load(&trial, 0, i, i + 1, false, &loads[i]);
        series[i] = pleat_curve_series(&loads[i], titles[i]);
    }
    struct pleat_plot panel = {.title = "Leiden, 40 processors",
                               .x_label = "time, s",
                               .y_label = "load of the cluster, %",
                               .style = PLEAT_PLOT_STEPS,
                               .y_most = 100,
                               .series = series,
                               .series_count = 2};
    if (!rc)
        rc = pleat_page_figure(&study->page, "room",
                               "A malleable job makes room for a rigid one (figure 5.9).", &panel,
                               1, 1, err);
    for (size_t i = 0; i < 2; i++)
        pleat_curve_finish(&loads[i]);
    runners_finish(&trial);
    return rc;
}

int runners_room(struct pleat_study *study, struct pleat_error *err)
{
    struct pleat_numbers numbers = {0};
    struct pleat_sweep sweep = {.what = "room", .settings = 1, .metrics = METRICS, .run = run_one};
    int rc = pleat_study_sweep(study, &sweep, &numbers, err);
    if (!rc) {
        pleat_page_heading(&study->page, "Room for a rigid job (5.6.4)");
        pleat_page_paragraph(
            &study->page,
            "The malleable job of 5.6.2, with a minimum of 0, is alone on a cluster of 40 "
            "processors. After %d s a rigid job comes that needs all 40, for %d s. Steps are %d s "
            "apart, processors are offered again after %d s.",
            COMES_S, RIGID_S, STEP_S, AGAIN_S);
        struct pleat_estimate before = pleat_numbers_estimate(&numbers, 0, BEFORE);
        struct pleat_estimate least = pleat_numbers_estimate(&numbers, 0, AT_LEAST);
        struct pleat_estimate waited = pleat_numbers_estimate(&numbers, 0, WAITED);
        struct pleat_estimate after = pleat_numbers_estimate(&numbers, 0, AFTER);
        struct pleat_estimate without = pleat_numbers_estimate(&numbers, 0, WITHOUT);
        struct pleat_shape room = {
            "the malleable job shrinks rapidly, to nothing, when the rigid one comes",
            "5.6.4, figure 5.9", PLEAT_CLAIMED,
            least.mean < 0.5 && pleat_estimate_below(waited, 60)};
        pleat_study_shape(study, &room,
                          "from up to %.0f processors to %.0f; the rigid job starts after %s s",
                          before.mean, least.mean, pleat_estimate_text(waited, 0).text);
        struct pleat_shape again = {"afterwards the malleable job grows towards full load again",
                                    "5.6.4, figure 5.9", PLEAT_CLAIMED,
                                    pleat_estimate_above(after, 38)};
        pleat_study_shape(study, &again, "to %.0f of 40 processors", after.mean);
        struct pleat_shape zero = {"for that its minimum is set to 0", "5.6.4", PLEAT_CLAIMED,
                                   pleat_estimate_above(without, 300)};
        pleat_study_shape(study, &zero,
                          "with a minimum of 1 the rigid job waits for %s s, until the "
                          "malleable one has ended",
                          pleat_estimate_text(without, 0).text);
        pleat_study_value(study, "room.waited_s", waited);
        rc = draw(study, err);
    }
    pleat_numbers_finish(&numbers);
    return rc;
}
