/* run.c - the platform of table I, the workloads of VI-C, one run and what is measured of it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/random.h"
#include "experiments/koala-malleable/koala.h"

enum {
    FT_LARGEST = 32,
    GADGET_LARGEST = 46,
    SMALLEST = 2,
    FT = 1, /* applications; 0 is the plain one that every workload has */
    GADGET = 2
};

const char *koala_run_name(int run, enum approach approach)
{
    static const char *const names[APPROACHES][RUNS] = {
        {"EGS/Wm", "EGS/Wmr", "FPSMA/Wm", "FPSMA/Wmr"},
        {"EGS/W'm", "EGS/W'mr", "FPSMA/W'm", "FPSMA/W'mr"}};
    return names[approach][run];
}

static bool is_gadget(const struct koala_trial *trial, size_t job)
{
    return trial->workload.jobs.items[job].app == GADGET;
}

static bool is_malleable(const struct koala_trial *trial, size_t job)
{
    return trial->workload.jobs.items[job].kind == PLEAT_MALLEABLE;
}

/* ---- the platform ---- */

/* Local users: jobs of up to a fourth of the cluster, of ten minutes in the mean, that queue at
 * their cluster. */
static int add_background(struct pleat_sim_site *site, double share, bool steady)
{
    struct pleat_load_point always = {.processors = (int32_t)lround(share * site->nodes)};
    if (share <= 0)
        return 0;
    if (steady)
        return pleat_array_push(&site->trace, always);
    site->load_processors = site->nodes / 4;
    site->load_run_us = 600000000;
    double mean = (site->load_processors + 1) / 2.0;
    site->load_gap_us = llround((double)site->load_run_us * mean / (share * site->nodes));
    return 0;
}

/* Growing stops when the jobs of a cluster together have `cap` processors. Of the processors that
 * local users leave on average, those beyond `cap` are left free. */
static int32_t threshold_of(const struct pleat_sim_site *site, const struct koala_unsaid *unsaid)
{
    int32_t left = site->nodes - (int32_t)lround(unsaid->background * site->nodes);
    return unsaid->cap > 0 && unsaid->cap < left ? left - unsaid->cap : 0;
}

static int make_platform(const struct koala_unsaid *unsaid, struct pleat_platform *platform)
{
    static const struct {
        const char *name;
        int32_t nodes;
        int place; /* the one in place 5 is left out first. The last one has as many nodes as the
                    * largest jobs may have processors: 46 */
    } clusters[] = {
        {"vu", 85, 5}, {"uva", 41, 2}, {"delft", 68, 4}, {"multimedian", 46, 1}, {"leiden", 32, 3}};
    for (size_t i = 0; i < sizeof(clusters) / sizeof(clusters[0]); i++) {
        if (clusters[i].place > 5 - unsaid->left_out)
            continue;
        if (pleat_platform_add(platform, clusters[i].name, clusters[i].nodes))
            return PLEAT_E_NOMEM;
        struct pleat_sim_site *site = &platform->sites.items[platform->sites.count - 1];
        site->threshold = threshold_of(site, unsaid);
        site->claim.mean_us = llround(unsaid->claim_s * 1e6);
        site->claim_each_us = llround(unsaid->claim_each_s * 1e6);
        site->release.mean_us = llround(unsaid->release_s * 1e6);
        if (add_background(site, unsaid->background, unsaid->steady))
            return PLEAT_E_NOMEM;
    }
    return 0;
}

/* ---- the workload ---- */

/* Of figure 6 only the ends are known: the time on 2 processors, and the best time. Between them a
 * serial and a parallel part are assumed, t = a + b / n. The best size is below the largest, as
 * VI-C says. */
const struct koala_ends koala_ends[KOALA_APPS] = {
    [KOALA_FT] = {120, 60, 16}, [KOALA_GADGET] = {600, 240, 32}};

double koala_assumed(enum koala_app app, int32_t processors, bool steep)
{
    int32_t best_size = koala_ends[app].best_size / (steep ? 2 : 1);
    double two = 1.0 / SMALLEST, best = 1.0 / best_size;
    double here = fmax(1.0 / processors, best);
    double best_over_two = koala_ends[app].best_s / koala_ends[app].two_s;
    return best_over_two + (1 - best_over_two) * (here - best) / (two - best);
}

static int add_point(struct pleat_workload *workload, enum koala_app app, int32_t processors,
                     double over_two)
{
    struct pleat_table_row row = {processors, llround(over_two * koala_ends[app].two_s * 1e6)};
    return pleat_array_push(&workload->table, row);
}

static int add_app(struct pleat_workload *workload, enum koala_app app,
                   const struct koala_unsaid *unsaid)
{
    int32_t best_size = koala_ends[app].best_size / (unsaid->steep ? 2 : 1);
    size_t first = workload->table.count;
    struct koala_point point;
    int rc = 0;
    for (size_t i = 0; unsaid->measured && !rc && koala_measured(app, i, &point); i++)
        rc = add_point(workload, app, point.processors, point.over_two);
    if (!unsaid->measured)
        rc = add_point(workload, app, SMALLEST, 1) ||
             add_point(workload, app, best_size, koala_assumed(app, best_size, unsaid->steep));
    struct pleat_app added = {.speedup = {PLEAT_SPEEDUP_TABLE, .first = (uint32_t)first,
                                          .count = (uint32_t)(workload->table.count - first)},
                              .cost = {.fixed_us = llround(unsaid->resize_s * 1e6)}};
    return rc || pleat_array_push(&workload->apps, added) ? PLEAT_E_NOMEM : 0;
}

static int make_workload(enum approach approach, int run, const struct koala_unsaid *unsaid,
                         uint64_t seed, struct pleat_workload *workload)
{
    bool mixed = run == EGS_WMR || run == FPSMA_WMR;
    int64_t gap_us = approach == PRA ? 120000000 : 30000000, at_us = 0;
    struct pleat_random random;
    pleat_random_init(&random, seed);
    if (pleat_workload_init(workload) || add_app(workload, KOALA_FT, unsaid) ||
        add_app(workload, KOALA_GADGET, unsaid))
        return PLEAT_E_NOMEM;
    for (int i = 0; i < KOALA_JOBS; i++) {
        /* the same numbers are drawn for every run: job i is the same application at the same
         * time */
        bool gadget = pleat_random_below(&random, 2);
        bool rigid = pleat_random_below(&random, 2) && mixed;
        double wait = -log(1 - pleat_random_unit(&random));
        struct pleat_workload_job job = {.number = i + 1,
                                         .submit_us = at_us,
                                         .run_us = gadget ? 600000000 : 120000000,
                                         .processors = SMALLEST,
                                         .minimum = SMALLEST,
                                         .maximum = rigid    ? SMALLEST
                                                    : gadget ? GADGET_LARGEST
                                                             : FT_LARGEST,
                                         .initial = SMALLEST,
                                         .app = gadget ? GADGET : FT,
                                         .site = PLEAT_NONE,
                                         .user = -1,
                                         .kind = rigid ? PLEAT_RIGID : PLEAT_MALLEABLE,
                                         .sizes_kind = gadget || rigid ? PLEAT_SIZES_ANY
                                                                       : PLEAT_SIZES_POWERS};
        if (pleat_array_push(&workload->jobs, job))
            return PLEAT_E_NOMEM;
        at_us += unsaid->poisson ? llround(wait * (double)gap_us) : gap_us;
    }
    return 0;
}

/* ---- a run ---- */

int koala_run(const struct pleat_study *study, enum approach approach, int run,
              const struct koala_unsaid *unsaid, uint64_t seed, struct koala_trial *trial,
              struct pleat_error *err)
{
    struct pleat_platform platform = {0};
    struct pleat_sim_options options = {.platform = &platform, .seed = seed};
    static const char *const egs_policies[] = {"malleability=egs", "malleability=egs-once",
                                               "malleability=egs-printed"};
    bool egs = run == EGS_WM || run == EGS_WMR;
    static const char *const approaches[] = {"approach=pra", "approach=pwa",
                                             "approach=pwa-printed"};
    *trial = (struct koala_trial){0};
    options.parameters[PLEAT_PARAM_DECIDE_US] = llround(unsaid->decide_s * 1e6);
    options.parameters[PLEAT_PARAM_GROW_TOTAL] = unsaid->total;
    options.parameters[PLEAT_PARAM_ROOM_PARTLY] = unsaid->partly;
    int rc =
        pleat_trial_policies(&options, "queue=scan placement=worst-fit moldability=minimum", err);
    if (!rc)
        rc = pleat_trial_policies(&options, approaches[approach == PRA ? 0 : 1 + unsaid->nowhere],
                                  err);
    if (!rc)
        rc = pleat_trial_policies(&options, egs ? egs_policies[unsaid->egs] : "malleability=fpsma",
                                  err);
    if (!rc && (make_platform(unsaid, &platform) ||
                make_workload(approach, run, unsaid, seed, &trial->workload)))
        rc = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the workload");
    if (!rc)
        rc = pleat_trial_run(&trial->trial, study, &trial->workload, &options, true, err);
    pleat_platform_finish(&platform);
    return rc;
}

void koala_trial_finish(struct koala_trial *trial)
{
    pleat_trial_finish(&trial->trial);
    pleat_workload_finish(&trial->workload);
}

/* ---- measuring ---- */

struct sum {
    double value;
    size_t count;
};

static void add(struct sum *sum, double value)
{
    sum->value += value;
    sum->count++;
}

static double mean(const struct sum *sum)
{
    return sum->count ? sum->value / (double)sum->count : (double)NAN;
}

static void measure_jobs(const struct koala_trial *trial, const int32_t *largest, double *metrics)
{
    struct sum sums[METRICS] = {0};
    for (size_t job = 0; job < trial->workload.jobs.count; job++) {
        double run_s = pleat_trial_run_s(&trial->trial, job);
        if (!isfinite(run_s))
            continue;
        add(&sums[EXECUTION], run_s);
        add(&sums[is_gadget(trial, job) ? EXECUTION_GADGET : EXECUTION_FT], run_s);
        double response_s = pleat_trial_response_s(&trial->trial, job);
        add(&sums[RESPONSE], response_s);
        add(&sums[ANSWERED_BELOW_200], response_s < 200);
        add(&sums[ANSWERED_ABOVE_400], response_s > 400);
        add(&sums[WAIT], pleat_trial_wait_s(&trial->trial, job));
        add(&sums[BELOW_200], run_s < 200);
        add(&sums[ABOVE_400], run_s > 400);
        if (!is_malleable(trial, job))
            continue;
        add(&sums[AVERAGE_SIZE], pleat_trial_average(&trial->trial, job));
        add(&sums[MAXIMUM_SIZE], largest[job]);
        add(&sums[AT_MINIMUM], largest[job] <= SMALLEST);
    }
    for (int m = 0; m < METRICS; m++)
        metrics[m] = mean(&sums[m]);
}

static void measure_changes(const struct koala_trial *trial, double *metrics)
{
    int64_t last_us = trial->workload.jobs.items[trial->workload.jobs.count - 1].submit_us;
    double starts[2] = {0, 0}, changes[2] = {0, 0};
    for (size_t i = 0; i < trial->trial.changes.count; i++) {
        const struct pleat_sim_change *change = &trial->trial.changes.items[i];
        bool late = change->time_us > last_us / 2;
        if (change->time_us > last_us || change->to == 0)
            continue;
        starts[late] += change->from == 0;
        changes[late] += change->from > 0;
    }
    metrics[EARLY_CHANGES] = changes[0] / starts[0];
    metrics[LATE_CHANGES] = changes[1] / starts[1];
}

int koala_measure(const struct koala_trial *trial, double *metrics)
{
    const struct pleat_sim_totals *totals = &trial->trial.totals;
    int32_t *largest = calloc(trial->workload.jobs.count, sizeof(*largest));
    if (!largest)
        return PLEAT_E_NOMEM;
    pleat_trial_largest(&trial->trial, largest);
    measure_jobs(trial, largest, metrics);
    free(largest);
    metrics[UTILIZATION] = totals->busy_us / totals->capacity_us;
    metrics[USED] = (totals->busy_us + totals->background_us) / totals->capacity_us;
    metrics[GROWS] = (double)totals->grows;
    metrics[SHRINKS] = (double)totals->shrinks;
    measure_changes(trial, metrics);
    return 0;
}
