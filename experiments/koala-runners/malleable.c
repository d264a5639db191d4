/* malleable.c - one malleable job on one cluster (Lammers 2005, 5.6.2 and figure 5.7): with which
 * delays are its waves and its average load those of the thesis? */
#include <math.h>
#include <stdlib.h>

#include "experiments/koala-runners/runners.h"

enum { WORK = 40, MAXIMUM = 80, NODES = 31, FAULTY = 2 };

/* Delays in seconds. The next step is asked for when the processors of the last one are there: so
 * steps are `step` apart. Processors of components that are done are offered again after
 * `again`. */
struct delays {
    double step, again;
};

static const double steps[] = {2, 4, 8, 10, 12, 14, 16, 20};
enum { STEPS = sizeof(steps) / sizeof(steps[0]), AGAINS = 16, AGAIN_S = 10 };
enum { AT = 4 }; /* the index of the value of `steps` that is taken: see the page */

enum { LOAD, LENGTH, PEAK, DIP, SECOND_PEAK, FIRST_DROP, LEAST, METRICS };

static struct pleat_delay around(double seconds)
{
    return (struct pleat_delay){llround(seconds * 1e6), llround(seconds * 1e5)};
}

static int make(struct runners_trial *trial, struct delays delays, uint64_t seed,
                struct pleat_error *err)
{
    uint32_t app = 0;
    int rc = runners_init(trial, err);
    if (!rc)
        rc = runners_add_cluster(trial, "Utrecht", NODES, 2 * FAULTY);
    if (!rc)
        rc = runners_add_sleeper(trial, WORK, &app);
    if (rc)
        return rc;
    runners_cluster(trial, 0)->claim = around(delays.step);
    runners_cluster(trial, 0)->release = around(delays.again);
    trial->options.seed = seed;
    struct pleat_workload_job job = runners_sleeper(app, 1, MAXIMUM);
    return pleat_array_push(&trial->workload.jobs, job) ? PLEAT_E_NOMEM : 0;
}

/* Measures what a curve of the load shows. */
static void look(const struct pleat_curve *load, double length_s, double *metrics)
{
    double area = 0, peak = 0;
    for (size_t i = 0; i + 1 < load->count; i++)
        area += load->y[i] * (load->x[i + 1] - load->x[i]);
    metrics[LENGTH] = length_s;
    metrics[LOAD] = area / length_s;
    metrics[PEAK] = metrics[DIP] = metrics[SECOND_PEAK] = metrics[LEAST] = NAN;
    for (size_t i = 0; i < load->count; i++) {
        double y = load->y[i], at_s = load->x[i] - load->x[0];
        if (at_s <= 1.25 * PIECE_S && y > peak) {
            peak = metrics[PEAK] = y;
        } else if (isnan(metrics[FIRST_DROP]) && y < peak && at_s > PIECE_S / 2.0) {
            metrics[FIRST_DROP] = at_s;
        }
        if (at_s > PIECE_S && at_s <= 2.25 * PIECE_S && (isnan(metrics[DIP]) || y < metrics[DIP]))
            metrics[DIP] = y;
        if (at_s > 1.25 * PIECE_S && at_s <= 2.75 * PIECE_S &&
            (isnan(metrics[SECOND_PEAK]) || y > metrics[SECOND_PEAK]))
            metrics[SECOND_PEAK] = y;
        if (at_s > PIECE_S / 2.0 && at_s < length_s - PIECE_S &&
            (isnan(metrics[LEAST]) || y < metrics[LEAST]))
            metrics[LEAST] = y;
    }
}

static int measure(const struct pleat_study *study, struct delays delays, uint64_t seed,
                   double *metrics, struct pleat_error *err)
{
    struct runners_trial trial;
    struct pleat_curve load = {0};
    int rc = make(&trial, delays, seed, err);
    if (!rc)
        rc = runners_run(&trial, study, "approach=pwa malleability=round-robin", err);
    if (!rc)
        rc = runners_load(&trial, 0, 0, 1, false, &load);
    if (!rc)
        look(&load, pleat_trial_makespan_s(&trial.trial), metrics);
    pleat_curve_finish(&load);
    runners_finish(&trial);
    return rc;
}

static int run_grid(void *context, const struct pleat_study *study, size_t setting, uint64_t seed,
                    double *metrics, struct pleat_error *err)
{
    (void)context;
    struct delays delays = {steps[setting / AGAINS], (double)(setting % AGAINS) * AGAIN_S};
    return measure(study, delays, seed, metrics, err);
}

static int run_found(void *context, const struct pleat_study *study, size_t setting, uint64_t seed,
                     double *metrics, struct pleat_error *err)
{
    const struct delays *found = context;
    if (isnan(found[setting].again))
        return 0;
    return measure(study, found[setting], seed, metrics, err);
}

/* The `again` with which the mean load falls to 59 %; not a number: none does. */
static double find_again(const struct pleat_numbers *numbers, size_t step)
{
    const double wanted = 59;
    double before = 0;
    for (size_t a = 0; a < AGAINS; a++) {
        double load = pleat_numbers_estimate(numbers, step * AGAINS + a, LOAD).mean;
        if (load <= wanted)
            return a == 0 ? NAN
                          : (double)AGAIN_S * ((double)a - 1 + (before - wanted) / (before - load));
        before = load;
    }
    return NAN;
}

static int draw(struct pleat_study *study, const struct delays *found, struct pleat_error *err)
{
    struct runners_trial trials[2];
    struct pleat_curve loads[2] = {{0}};
    struct pleat_plot_series series[2];
    struct pleat_plot panels[2];
    static const char *const titles[] = {"steps 12 s apart", "steps 4 s apart"};
    int rc = 0;
    for (int i = 0; i < 2; i++) {
        trials[i] = (struct runners_trial){0};
        if (!rc)
            rc = make(&trials[i], found[i ? 1 : AT], study->seed, err);
        if (!rc)
            rc = runners_run(&trials[i], study, "approach=pwa malleability=round-robin", err);
        if (!rc)
            rc = runners_load(&trials[i], 0, 0, 1, false, &loads[i]);
        series[i] = pleat_curve_series(&loads[i], NULL);
        panels[i] = (struct pleat_plot){.title = titles[i],
                                        .x_label = "time, s",
                                        .y_label = "load of the cluster, %",
                                        .style = PLEAT_PLOT_STEPS,
                                        .y_most = 100,
                                        .series = &series[i],
                                        .series_count = 1};
    }
    if (!rc)
        rc = pleat_page_figure(&study->page, "waves",
                               "The load of the Utrecht cluster under one malleable job "
                               "(figure 5.7), at the delays found for two intervals between steps.",
                               panels, 2, 2, err);
    for (int i = 0; i < 2; i++) {
        pleat_curve_finish(&loads[i]);
        runners_finish(&trials[i]);
    }
    return rc;
}

static void tell(struct pleat_study *study, const struct pleat_numbers *numbers,
                 const struct delays *found)
{
    struct pleat_page *page = &study->page;
    pleat_page_table(page,
                     "steps apart, s|offered again after, s|average load, %|first peak, "
                     "%|dip after it, %|second peak, %|least before the end, %|first drop at, s|"
                     "whole run, s");
    for (size_t s = 0; s < STEPS; s++) {
        pleat_page_cell(page, "%.0f", steps[s]);
        if (isnan(found[s].again)) {
            for (int i = 0; i <= METRICS; i++)
                pleat_page_cell(page, "-");
            continue;
        }
        pleat_page_cell(page, "%.0f", found[s].again);
        static const int shown[] = {LOAD, PEAK, DIP, SECOND_PEAK, LEAST, FIRST_DROP, LENGTH};
        for (size_t i = 0; i < METRICS; i++)
            pleat_page_cell_estimate(page, pleat_numbers_estimate(numbers, s, (size_t)shown[i]), 0);
    }
}

/* The two delays were chosen so that the mean load, its peaks and its dips are those of the thesis:
 * these shapes are fitted. */
static void shapes(struct pleat_study *study, const struct pleat_numbers *numbers,
                   const struct delays *found)
{
    struct pleat_estimate load = pleat_numbers_estimate(numbers, AT, LOAD);
    struct pleat_estimate peak = pleat_numbers_estimate(numbers, AT, PEAK);
    struct pleat_estimate dip = pleat_numbers_estimate(numbers, AT, DIP);
    struct pleat_estimate second = pleat_numbers_estimate(numbers, AT, SECOND_PEAK);
    struct pleat_estimate least = pleat_numbers_estimate(numbers, AT, LEAST);
    struct pleat_shape average = {"the average load is 59 %", "5.6.2, figure 5.7", PLEAT_FITTED,
                                  fabs(load.mean - 59) < 2};
    pleat_study_shape(study, &average,
                      "%s %% with steps %.0f s apart and processors offered again after "
                      "%.0f s",
                      pleat_estimate_text(load, 1).text, steps[AT], found[AT].again);
    struct pleat_shape almost = {"the job grows to almost full load, but for two faulty nodes",
                                 "5.6.2", PLEAT_FITTED, pleat_estimate_above(peak, 85)};
    pleat_study_shape(study, &almost, "%s %%", pleat_estimate_text(peak, 0).text);
    struct pleat_shape waves = {"waves: components end together, then it grows to full load again",
                                "5.6.2, figure 5.7", PLEAT_FITTED,
                                pleat_estimate_below(dip, 0.85 * peak.mean) &&
                                    pleat_estimate_above(second, 85)};
    pleat_study_shape(study, &waves, "%.0f %%, down to %s %%, up to %s %%", peak.mean,
                      pleat_estimate_text(dip, 0).text, pleat_estimate_text(second, 0).text);
    struct pleat_shape half = {"the load does not fall below 50 % before the last wave", "5.6.2",
                               PLEAT_FITTED, pleat_estimate_above(least, 50)};
    pleat_study_shape(study, &half, "least: %s %%", pleat_estimate_text(least, 0).text);
    pleat_study_value(study, "malleable.load_percent", load);
    pleat_study_value(study, "malleable.dip_percent", dip);
}

int runners_malleable(struct pleat_study *study, struct pleat_error *err)
{
    struct pleat_numbers grid = {0}, numbers = {0};
    struct delays found[STEPS];
    struct pleat_sweep sweep = {.what = "delays",
                                .settings = (size_t)STEPS * AGAINS,
                                .metrics = METRICS,
                                .seeds = study->seeds > 10 ? 10 : study->seeds,
                                .run = run_grid};
    int rc = pleat_study_sweep(study, &sweep, &grid, err);
    for (size_t s = 0; !rc && s < STEPS; s++) {
        double again = find_again(&grid, s);
        found[s] = (struct delays){steps[s], again};
    }
    struct pleat_sweep at = {.what = "delays found",
                             .settings = STEPS,
                             .metrics = METRICS,
                             .run = run_found,
                             .context = found};
    if (!rc)
        rc = pleat_study_sweep(study, &at, &numbers, err);
    if (!rc) {
        pleat_page_heading(&study->page, "A malleable job alone (5.6.2)");
        pleat_page_paragraph(
            &study->page,
            "One job of 40 components of 4 processors, each of which sleeps for 200 s, on the 31 "
            "dual nodes of Utrecht, two of them faulty. It starts with one component and may have "
            "80 processors; it grows by one component at a time (`round-robin`). The thesis says "
            "that the time between two peaks is that of submitting, placing and claiming new "
            "components, but not how long that is. So two times are unknown: how far apart the "
            "steps of growing are, and when processors of components that are done are offered "
            "again. For each value of the first time the table has the value of the second at "
            "which the average load is the thesis's 59 %% (-: there is none). Delays are drawn "
            "with a standard deviation of a tenth. With slow steps the job never reaches full "
            "load; with fast ones the load falls to nothing between two waves. The thesis shows "
            "peaks at almost full load, with a load of at least 50 %% between them; that is found "
            "with steps about %.0f s apart.",
            steps[AT]);
        tell(study, &numbers, found);
        shapes(study, &numbers, found);
        rc = draw(study, found, err);
    }
    pleat_numbers_finish(&grid);
    pleat_numbers_finish(&numbers);
    return rc;
}
