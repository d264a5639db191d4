/* rigid.c - jobs of several components on the DAS-2: the four experiments of Lammers 2005, 3.9. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "experiments/koala-runners/runners.h"

enum { VU, AMSTERDAM, LEIDEN, DELFT, UTRECHT, CLUSTERS, CURVES = 2 * CLUSTERS };
static const char *const names[CLUSTERS] = {"VU", "Amsterdam", "Leiden", "Delft", "Utrecht"};
static const int32_t nodes[CLUSTERS] = {72, 32, 32, 32, 32};

/* What the thesis leaves open. */
enum {
    RUN_LEAST_S = 20,
    RUN_MOST_S = 40,
    CLAIM_S = 5,
    START_S = 3,
    SMALLEST = 2,
    LARGEST = 20,
    MOST_COMPONENTS = 4,
    LARGEST_JOB = 64 /* 3.9.4: as large as the cluster that is left */
};

enum { FIXED, NON_FIXED, MIXED, FAULTY, TRANSIENT, SETTINGS };

/* Each row: jobs with fixed sites, jobs without, the most components of a job; the processors of
 * local users. */
static const struct setting {
    int fixed, free, components;
    int32_t others[CLUSTERS];
    bool without_vu;
    double faults; /* share of starts that fail, in all clusters but Amsterdam */
    const char *title;
} settings[SETTINGS] = {
    [FIXED] = {50, 0, 1, {[DELFT] = 12}, true, 0, "1: fixed"},
    [NON_FIXED] =
        {0, 100, 1, {[AMSTERDAM] = 12, [DELFT] = 20, [UTRECHT] = 16}, true, 0, "2: non-fixed"},
    [MIXED] = {50, 50, MOST_COMPONENTS, {[LEIDEN] = 24, [DELFT] = 24}, false, 0, "3: both"},
    [FAULTY] = {0, 100, MOST_COMPONENTS, {0}, false, 0.999999, "4: faults"},
    [TRANSIENT] = {0, 100, MOST_COMPONENTS, {0}, false, 0.3, "4, faults now and then"},
};

enum {
    DONE,
    RESPONSE,
    UNEVEN,
    LEIDEN_SHARE,
    LEAST_LOADED,
    IN_AMSTERDAM,
    TRIED_OUTSIDE,
    LAST_OUTSIDE,
    RESTARTS,
    LENGTH,
    METRICS
};

static int32_t uniform(struct pleat_random *random, int32_t least, int32_t most)
{
    return least + (int32_t)pleat_random_below(random, (uint64_t)most - (uint64_t)least + 1);
}

/* Draws the sizes of components, whose sum is small enough, and, if their sites are fixed, sites
 * that have room for them. */
static int draw_components(struct pleat_random *random, const struct setting *setting, bool fixed,
                           int32_t *sizes, uint32_t *sites)
{
    for (;;) {
        int32_t at[CLUSTERS] = {0}, sum = 0;
        int count = uniform(random, 1, setting->components);
        bool fits = true;
        for (int c = 0; c < count; c++) {
            sizes[c] = uniform(random, SMALLEST, LARGEST);
            sum += sizes[c];
            int32_t first = setting->without_vu ? AMSTERDAM : VU;
            sites[c] = fixed ? (uint32_t)uniform(random, first, CLUSTERS - 1) : PLEAT_NONE;
            if (fixed) {
                at[sites[c]] += sizes[c];
                fits = fits && at[sites[c]] <= 2 * nodes[sites[c]] - setting->others[sites[c]];
            }
        }
        if (fits && sum <= LARGEST_JOB)
            return count;
    }
}

static int add_job(struct runners_trial *trial, struct pleat_random *random,
                   const struct setting *setting, bool fixed, double at_s)
{
    int32_t sizes[MOST_COMPONENTS];
    uint32_t sites[MOST_COMPONENTS];
    int count = draw_components(random, setting, fixed, sizes, sites), rc = 0;
    double run_s = RUN_LEAST_S + (RUN_MOST_S - RUN_LEAST_S) * pleat_random_unit(random);
    for (int c = 0; !rc && c < count; c++) {
        struct pleat_workload_job job = {.number = (int64_t)trial->workload.jobs.count + 1,
                                         .submit_us = llround(at_s * 1e6),
                                         .run_us = llround(run_s * 1e6),
                                         .processors = sizes[c],
                                         .minimum = sizes[c],
                                         .maximum = sizes[c],
                                         .site = sites[c],
                                         .user = -1,
                                         .part = c + 1 < count ? PLEAT_PART_FOLLOWS : 0};
        if (setting->without_vu && job.site != PLEAT_NONE)
            job.site--; /* VU is not there: Amsterdam is site 0 */
        rc = pleat_array_push(&trial->workload.jobs, job) ? PLEAT_E_NOMEM : 0;
    }
    return rc;
}

static int add_jobs(struct runners_trial *trial, const struct setting *setting, uint64_t seed)
{
    struct pleat_random random;
    int fixed = setting->fixed, left = setting->fixed + setting->free, rc = 0;
    double at_s = 0;
    pleat_random_init(&random, seed);
    for (; !rc && left > 0; left--) {
        bool is_fixed = uniform(&random, 1, left) <= fixed;
        rc = add_job(trial, &random, setting, is_fixed, at_s);
        fixed -= is_fixed;
        at_s += -log(1 - pleat_random_unit(&random)); /* one second on average */
    }
    return rc;
}

static int make(struct runners_trial *trial, const struct setting *setting, uint64_t seed,
                struct pleat_error *err)
{
    int rc = runners_init(trial, err);
    for (int s = setting->without_vu ? AMSTERDAM : VU; !rc && s < CLUSTERS; s++) {
        rc = runners_add_cluster(trial, names[s], nodes[s], setting->others[s]);
        if (rc)
            return rc;
        struct pleat_sim_site *site = runners_cluster(trial, trial->platform.sites.count - 1);
        site->claim = (struct pleat_delay){CLAIM_S * INT64_C(1000000), INT64_C(1000000)};
        site->start = (struct pleat_delay){START_S * INT64_C(1000000), INT64_C(1000000)};
        if (setting->faults > 0 && s != AMSTERDAM)
            site->failure =
                (struct pleat_failure){.kind = PLEAT_FAILURE_START, .probability = setting->faults};
    }
    trial->options.seed = seed;
    trial->options.parameters[PLEAT_PARAM_SITE_ERRORS] = 5;
    trial->options.parameters[PLEAT_PARAM_ATTEMPTS] = 100000; /* "can be infinite" (3.1) */
    return rc ? rc : add_jobs(trial, setting, seed);
}

/* ---- what came of it ---- */

static uint32_t cluster_of(const struct setting *setting, uint32_t site)
{
    return setting->without_vu ? site + AMSTERDAM : site;
}

/* Counts starts outside of Amsterdam, also those that fail. */
static void count_starts(const struct runners_trial *trial, const struct setting *setting,
                         double *metrics)
{
    metrics[TRIED_OUTSIDE] = metrics[LAST_OUTSIDE] = 0;
    for (size_t i = 0; i < trial->log.count; i++) {
        const struct pleat_event *event = &trial->log.items[i];
        if (event->kind != PLEAT_EV_START || cluster_of(setting, event->u.start.site) == AMSTERDAM)
            continue;
        metrics[TRIED_OUTSIDE]++;
        metrics[LAST_OUTSIDE] = (double)event->time_us / 1e6;
    }
}

static void measure(const struct runners_trial *trial, const struct setting *setting,
                    double *metrics)
{
    double work[CLUSTERS] = {0}, sum = 0, squares = 0, done = 0, inside = 0, restarts = 0;
    size_t count = trial->workload.jobs.count, used = setting->without_vu ? 4 : 5;
    for (size_t i = 0; i < count; i++) {
        const struct pleat_sim_outcome *outcome = &trial->trial.outcomes[i];
        if (outcome->fate != PLEAT_SIM_DONE)
            continue;
        uint32_t cluster = cluster_of(setting, outcome->site);
        double size = outcome->processors;
        done++;
        inside += cluster == AMSTERDAM;
        restarts += outcome->restarts;
        work[cluster] += size * (double)(outcome->end_us - outcome->start_us) / 1e6;
    }
    for (size_t s = CLUSTERS - used; s < CLUSTERS; s++)
        sum += work[s];
    for (size_t s = CLUSTERS - used; s < CLUSTERS; s++)
        squares += (work[s] - sum / (double)used) * (work[s] - sum / (double)used);
    metrics[DONE] = 100 * done / (double)count;
    metrics[RESPONSE] = pleat_trial_mean(&trial->trial, pleat_trial_response_s);
    metrics[UNEVEN] = 100 * sqrt(squares / (double)used) / (sum / (double)used);
    metrics[LEIDEN_SHARE] = 100 * work[LEIDEN] / sum;
    metrics[LEAST_LOADED] = work[LEIDEN] > work[AMSTERDAM] && work[LEIDEN] > work[DELFT] &&
                            work[LEIDEN] > work[UTRECHT];
    metrics[IN_AMSTERDAM] = 100 * inside / done;
    metrics[RESTARTS] = restarts / (double)count;
    metrics[LENGTH] = pleat_trial_makespan_s(&trial->trial);
    count_starts(trial, setting, metrics);
}

static const char policies[] = "approach=pwa queue=scan placement=worst-fit";

static int run_one(void *context, const struct pleat_study *study, size_t setting, uint64_t seed,
                   double *metrics, struct pleat_error *err)
{
    (void)context;
    struct runners_trial trial;
    int rc = make(&trial, &settings[setting], seed, err);
    trial.options.log = &trial.log;
    if (!rc)
        rc = runners_run(&trial, study, policies, err);
    if (!rc)
        measure(&trial, &settings[setting], metrics);
    runners_finish(&trial);
    return rc;
}

/* ---- the page ---- */

/* Draws, as the thesis does, the load of each cluster by all, and by KOALA's jobs alone. */
static int draw(struct pleat_study *study, size_t index, const char *name, const char *caption,
                struct pleat_error *err)
{
    const struct setting *setting = &settings[index];
    struct runners_trial trial;
    struct pleat_curve loads[CURVES] = {{0}};
    struct pleat_plot_series series[CURVES];
    struct pleat_plot panels[CLUSTERS];
    int rc = make(&trial, setting, study->seed, err);
    size_t count = trial.platform.sites.count;
    if (!rc)
        rc = runners_run(&trial, study, policies, err);
    for (size_t s = 0; !rc && s < count; s++) {
        for (size_t i = 0; !rc && i < 2; i++) {
            rc = runners_load(&trial, (uint32_t)s, 0, SIZE_MAX, i == 0, &loads[2 * s + i]);
            series[2 * s + i] =
                pleat_curve_series(&loads[2 * s + i], i == 0 ? "all" : "KOALA's jobs");
        }
        panels[s] = (struct pleat_plot){.title = runners_cluster(&trial, s)->name,
                                        .x_label = "time, s",
                                        .y_label = "load, %",
                                        .style = PLEAT_PLOT_STEPS,
                                        .y_most = 100,
                                        .series = &series[2 * s],
                                        .series_count = 2};
    }
    if (!rc)
        rc = pleat_page_figure(&study->page, name, caption, panels, count, 3, err);
    for (size_t i = 0; i < CURVES; i++)
        pleat_curve_finish(&loads[i]);
    runners_finish(&trial);
    return rc;
}

static void tell(struct pleat_study *study, const struct pleat_numbers *numbers)
{
    struct pleat_page *page = &study->page;
    pleat_page_table(
        page, "experiment|components done, %|response, s|unevenness, %|in Amsterdam, %|starts "
              "outside Amsterdam|the last of these at, s|restarts of a component|whole run, s");
    static const size_t shown[] = {DONE,          RESPONSE,     UNEVEN,   IN_AMSTERDAM,
                                   TRIED_OUTSIDE, LAST_OUTSIDE, RESTARTS, LENGTH};
    for (size_t s = 0; s < SETTINGS; s++) {
        pleat_page_cell(page, "%s", settings[s].title);
        for (size_t m = 0; m < sizeof(shown) / sizeof(shown[0]); m++)
            pleat_page_cell_estimate(page, pleat_numbers_estimate(numbers, s, shown[m]),
                                     shown[m] == RESTARTS ? 2 : 0);
    }
    pleat_page_paragraph(page, "Unevenness is the standard deviation of the work that clusters "
                               "got, divided by its mean. Starts that fail are counted, too.");
}

/* Shapes that depend on the run times, or on the processors that local users are assumed to have,
 * are called fitted. */
static void shapes(struct pleat_study *study, const struct pleat_numbers *numbers)
{
    struct pleat_estimate done[SETTINGS];
    for (size_t s = 0; s < SETTINGS; s++)
        done[s] = pleat_numbers_estimate(numbers, s, DONE);
    struct pleat_shape complete = {"all jobs complete", "3.9.1 to 3.9.3", PLEAT_CLAIMED,
                                   done[FIXED].mean > 99.999 && done[NON_FIXED].mean > 99.999 &&
                                       done[MIXED].mean > 99.999};
    pleat_study_shape(study, &complete, "%.0f, %.0f and %.0f %% of the components",
                      done[FIXED].mean, done[NON_FIXED].mean, done[MIXED].mean);
    struct pleat_estimate response = pleat_numbers_estimate(numbers, FIXED, RESPONSE);
    struct pleat_shape minute = {"a fixed job is completed in less than a minute", "3.9.1",
                                 PLEAT_FITTED, pleat_estimate_below(response, 60)};
    pleat_study_shape(study, &minute, "%s s, with run times of %d to %d s",
                      pleat_estimate_text(response, 0).text, RUN_LEAST_S, RUN_MOST_S);
    struct pleat_estimate share = pleat_numbers_estimate(numbers, NON_FIXED, LEIDEN_SHARE);
    struct pleat_estimate most = pleat_numbers_estimate(numbers, NON_FIXED, LEAST_LOADED);
    struct pleat_shape leiden = {"worst-fit favours the cluster with the most idle processors",
                                 "3.9.2, figure 3.7", PLEAT_FITTED, most.mean > 0.9};
    pleat_study_shape(study, &leiden,
                      "Leiden gets %s %% of the work, and more than any other in %.0f %% "
                      "of the runs",
                      pleat_estimate_text(share, 0).text, 100 * most.mean);
    struct pleat_estimate uneven =
        pleat_estimate_difference(pleat_numbers_of(numbers, NON_FIXED, UNEVEN),
                                  pleat_numbers_of(numbers, FIXED, UNEVEN), numbers->seeds);
    struct pleat_shape fair = {"worst-fit spreads jobs less evenly than drawing their sites does",
                               "3.9.2", PLEAT_NOT_FOUND, pleat_estimate_above(uneven, 0)};
    pleat_study_shape(study, &fair, "unevenness %s percentage points",
                      pleat_estimate_text_plus(uneven, 0).text);
    struct pleat_estimate inside = pleat_numbers_estimate(numbers, FAULTY, IN_AMSTERDAM);
    struct pleat_shape faulty = {"with faults everywhere else, all jobs complete in Amsterdam",
                                 "3.9.4", PLEAT_CLAIMED,
                                 done[FAULTY].mean > 99.999 && inside.mean > 99.999};
    pleat_study_shape(study, &faulty, "%.2f %% done, %.2f %% of them there", done[FAULTY].mean,
                      inside.mean);
    struct pleat_estimate last = pleat_numbers_estimate(numbers, FAULTY, LAST_OUTSIDE);
    struct pleat_estimate length = pleat_numbers_estimate(numbers, FAULTY, LENGTH);
    struct pleat_estimate early =
        pleat_estimate_ratio(pleat_numbers_of(numbers, FAULTY, LAST_OUTSIDE),
                             pleat_numbers_of(numbers, FAULTY, LENGTH), numbers->seeds);
    struct pleat_shape given_up = {"clusters with faults are tried first, and left alone when they "
                                   "have reached the threshold of errors",
                                   "3.9.4", PLEAT_CLAIMED, pleat_estimate_below(early, 0.2)};
    pleat_study_shape(study, &given_up, "nothing is placed there after %s of %.0f s",
                      pleat_estimate_text(last, 0).text, length.mean);
    pleat_study_value(study, "faults.done_percent", done[FAULTY]);
    pleat_study_value(study, "faults.last_elsewhere_s", last);
}

int runners_rigid(struct pleat_study *study, struct pleat_error *err)
{
    struct pleat_numbers numbers = {0};
    struct pleat_sweep sweep = {
        .what = "jobs of components", .settings = SETTINGS, .metrics = METRICS, .run = run_one};
    int rc = pleat_study_sweep(study, &sweep, &numbers, err);
    if (!rc) {
        pleat_page_heading(&study->page, "Jobs of several components (3.9)");
        pleat_page_paragraph(
            &study->page,
            "The VU cluster has 72 dual nodes, each other one 32. Experiment 1 has 50 jobs whose "
            "sites are drawn (fixed jobs); 2 has 100 jobs whose sites KOALA chooses (non-fixed "
            "ones); 3 has 50 of each, with 1 to %d components; 4 has 100 non-fixed jobs, and every "
            "start fails in all clusters but Amsterdam. Components have %d to %d processors; a job "
            "comes every second on average (exponential). The VU cluster was out of order in the "
            "first experiment; it is left out of the second, too, where its size would attract all "
            "jobs. A job is not larger than %d processors: the thesis allows 4 times 20, which the "
            "64 processors that are left in the fourth experiment could never run. Where the "
            "thesis says nothing these values are taken: run times of %d to %d s; 5 ± 1 s for a "
            "claim and 3 ± 1 s for a start; local users with a part of some clusters; a cluster is "
            "left alone after more than 5 errors in a row. In the last row 30 %% of the starts in "
            "all clusters but Amsterdam fail.",
            MOST_COMPONENTS, SMALLEST, LARGEST, LARGEST_JOB, RUN_LEAST_S, RUN_MOST_S);
        tell(study, &numbers);
        shapes(study, &numbers);
        rc = draw(study, FIXED, "fixed", "Experiment 1: fixed jobs (figure 3.6).", err);
    }
    if (!rc)
        rc = draw(study, NON_FIXED, "non-fixed", "Experiment 2: non-fixed jobs (figure 3.7).", err);
    if (!rc)
        rc = draw(study, MIXED, "mixed", "Experiment 3: jobs of 1 to 4 components (figure 3.8).",
                  err);
    if (!rc)
        rc = draw(study, FAULTY, "faults",
                  "Experiment 4: faults in all clusters but Amsterdam (not drawn in the thesis).",
                  err);
    pleat_numbers_finish(&numbers);
    return rc;
}
