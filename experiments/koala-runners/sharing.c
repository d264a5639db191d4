/* sharing.c - two malleable jobs on two clusters (Lammers 2005, 5.6.3 and figure 5.8). */
#include <math.h>
#include <stdlib.h>

#include "experiments/koala-runners/runners.h"

enum { WORK = 40, MAXIMUM = 80, STEP_S = 12, AGAIN_S = 46 };

enum { SHARE, APART, ONE_SWING, TWO_SWING, METRICS };

/* Adds a job with one component for each site. */
static int add_job(struct runners_trial *trial, uint32_t app, uint32_t sites)
{
    int rc = 0;
    for (uint32_t site = 0; !rc && site < sites; site++) {
        struct pleat_workload_job job = runners_sleeper(app, 1, MAXIMUM / (int32_t)sites);
        job.site = site;
        job.part = site + 1 < sites ? PLEAT_PART_FOLLOWS : 0;
        rc = pleat_array_push(&trial->workload.jobs, job) ? PLEAT_E_NOMEM : 0;
    }
    return rc;
}

/* Makes as many clusters as jobs. Each job has a component on each cluster. */
static int make(struct runners_trial *trial, uint32_t jobs, uint64_t seed, struct pleat_error *err)
{
    uint32_t app = 0;
    int rc = runners_init(trial, err);
    if (!rc)
        rc = runners_add_cluster(trial, "Utrecht", 31, 0);
    if (!rc && jobs > 1)
        rc = runners_add_cluster(trial, "Leiden", 32, 0);
    for (size_t s = 0; !rc && s < jobs; s++) {
        int64_t step_us = STEP_S * (int64_t)jobs * 1000000, again_us = AGAIN_S * INT64_C(1000000);
        runners_cluster(trial, s)->claim = (struct pleat_delay){step_us, step_us * 3 / 10};
        runners_cluster(trial, s)->release = (struct pleat_delay){again_us, again_us * 3 / 10};
    }
    if (!rc)
        rc = runners_add_sleeper(trial, WORK / (int32_t)jobs, &app);
    for (uint32_t i = 0; !rc && i < jobs; i++)
        rc = add_job(trial, app, jobs);
    trial->options.seed = seed;
    return rc;
}

/* Measures how equal the sizes of the two jobs are over time, until one of them has begun its last
 * components. */
static void compare(const struct runners_trial *trial, double *metrics)
{
    const struct pleat_sim_changes *changes = &trial->trial.changes;
    int32_t size[2] = {0, 0};
    double area[2] = {0, 0}, apart = 0, both = 0;
    double until = ((double)trial->trial.totals.end_us - PIECE_S * 1e6);
    for (size_t i = 0; i + 1 < changes->count; i++) {
        const struct pleat_sim_change *change = &changes->items[i];
        double length = (double)(changes->items[i + 1].time_us - change->time_us);
        size[change->job / 2] += change->to - change->from;
        if ((double)change->time_us >= until)
            break;
        for (int j = 0; j < 2; j++)
            area[j] += size[j] * length;
        apart += abs(size[0] - size[1]) * length;
        both += (size[0] + size[1]) * length;
    }
    metrics[SHARE] = 100 * area[0] / (area[0] + area[1]);
    metrics[APART] = 100 * apart / both;
}

/* The standard deviation of the jobs' total size in percent of its mean, from the first peak to the
 * last wave. */
static double swing(const struct runners_trial *trial)
{
    const struct pleat_sim_changes *changes = &trial->trial.changes;
    double from = PIECE_S * 1e6, until = (double)trial->trial.totals.end_us - 1.5 * PIECE_S * 1e6;
    double sum = 0, squares = 0, time = 0;
    int32_t size = 0;
    for (size_t i = 0; i + 1 < changes->count; i++) {
        const struct pleat_sim_change *change = &changes->items[i];
        double length = (double)(changes->items[i + 1].time_us - change->time_us);
        size += change->to - change->from;
        if ((double)change->time_us < from || (double)change->time_us > until)
            continue;
        sum += size * length;
        squares += (double)size * size * length;
        time += length;
    }
    double mean = sum / time;
    return 100 * sqrt(squares / time - mean * mean) / mean;
}

static int run_one(void *context, const struct pleat_study *study, size_t setting, uint64_t seed,
                   double *metrics, struct pleat_error *err)
{
    (void)context;
    (void)setting;
    int rc = 0;
    for (uint32_t jobs = 1; !rc && jobs <= 2; jobs++) {
        struct runners_trial trial;
        rc = make(&trial, jobs, seed, err);
        if (!rc)
            rc = runners_run(&trial, study, "approach=pwa malleability=round-robin", err);
        if (!rc)
            metrics[jobs == 1 ? ONE_SWING : TWO_SWING] = swing(&trial);
        if (!rc && jobs == 2)
            compare(&trial, metrics);
        runners_finish(&trial);
    }
    return rc;
}

static int draw(struct pleat_study *study, struct pleat_error *err)
{
    enum { PANELS = 2, JOBS = 2, CURVES = PANELS * JOBS };
    struct runners_trial trial;
    struct pleat_curve loads[CURVES] = {{0}};
    struct pleat_plot_series series[CURVES];
    struct pleat_plot panels[PANELS];
    static const char *const jobs[] = {"job 1", "job 2"};
    int rc = make(&trial, 2, study->seed, err);
    if (!rc)
        rc = runners_run(&trial, study, "approach=pwa malleability=round-robin", err);
    for (size_t i = 0; !rc && i < CURVES; i++) {
        size_t job = i % JOBS;
        rc = runners_load(&trial, (uint32_t)(i / JOBS), 2 * job, 2 * job + 2, false, &loads[i]);
        series[i] = pleat_curve_series(&loads[i], jobs[job]);
    }
    for (size_t p = 0; !rc && p < PANELS; p++)
        panels[p] = (struct pleat_plot){.title = runners_cluster(&trial, p)->name,
                                        .x_label = "time, s",
                                        .y_label = "load of the cluster, %",
                                        .style = PLEAT_PLOT_STEPS,
                                        .y_most = 100,
                                        .series = &series[p * JOBS],
                                        .series_count = JOBS};
    if (!rc)
        rc = pleat_page_figure(&study->page, "sharing",
                               "Two malleable jobs on two clusters (figure 5.8).", panels, PANELS,
                               2, err);
    for (size_t i = 0; i < CURVES; i++)
        pleat_curve_finish(&loads[i]);
    runners_finish(&trial);
    return rc;
}

int runners_sharing(struct pleat_study *study, struct pleat_error *err)
{
    struct pleat_numbers numbers = {0};
    struct pleat_sweep sweep = {
        .what = "two jobs", .settings = 1, .metrics = METRICS, .run = run_one};
    int rc = pleat_study_sweep(study, &sweep, &numbers, err);
    if (!rc) {
        pleat_page_heading(&study->page, "Two malleable jobs (5.6.3)");
        pleat_page_paragraph(
            &study->page,
            "Two jobs like that of 5.6.2 begin at the same time on two clusters. KOALA gives a new "
            "component to any cluster; here a malleable component stays at its site, so each job "
            "is one of two components, one for each cluster, with half of the work. Delays are "
            "those found above, with a standard deviation of 30 %%: a job gets a component every "
            "%d s, in turn on either cluster; processors are offered again after %d s. For "
            "comparison one such job runs alone on one cluster.",
            STEP_S, AGAIN_S);
        struct pleat_estimate share = pleat_numbers_estimate(&numbers, 0, SHARE);
        struct pleat_estimate apart = pleat_numbers_estimate(&numbers, 0, APART);
        struct pleat_estimate one = pleat_numbers_estimate(&numbers, 0, ONE_SWING);
        struct pleat_estimate two = pleat_numbers_estimate(&numbers, 0, TWO_SWING);
        struct pleat_estimate swings =
            pleat_estimate_difference(pleat_numbers_of(&numbers, 0, ONE_SWING),
                                      pleat_numbers_of(&numbers, 0, TWO_SWING), numbers.seeds);
        struct pleat_shape fair = {
            "resources are distributed equally among both jobs", "5.6.3, figure 5.8", PLEAT_CLAIMED,
            pleat_estimate_within(share, 48, 52) && pleat_estimate_below(apart, 15)};
        pleat_study_shape(
            study, &fair,
            "job 1 has %s %% of what both have; at a moment the two differ by %s %% of it",
            pleat_estimate_text(share, 1).text, pleat_estimate_text(apart, 0).text);
        struct pleat_shape steady = {"more malleable jobs together let the load swing less",
                                     "5.6.3, figure 5.8c", PLEAT_NOT_FOUND,
                                     pleat_estimate_above(swings, 0)};
        pleat_study_shape(
            study, &steady,
            "the load's standard deviation is %s %% of its mean with one job, %s %% with two",
            pleat_estimate_text(one, 0).text, pleat_estimate_text(two, 0).text);
        pleat_study_value(study, "sharing.share_percent", share);
        rc = draw(study, err);
    }
    pleat_numbers_finish(&numbers);
    return rc;
}
