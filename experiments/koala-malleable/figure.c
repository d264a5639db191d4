/* figure.c - the six panels of figures 7 and 8. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/koala-malleable/koala.h"

enum { AVERAGES, MAXIMA, EXECUTIONS, RESPONSES, SHARES, USED_NOW = SHARES, RESIZES, PANELS };
/* parts into which the time is divided, each drawn as one value: single changes are too close */
enum { PARTS = 40 };
enum { PLACES = 150 }; /* places at which a curve is drawn */

/* Means over the seeds, and their intervals. */
struct line {
    double x[PLACES], y[PLACES], low[PLACES], high[PLACES];
};

/* One run: values of its jobs, seed after seed, and curves over time for each seed. */
struct drawn {
    double *values[SHARES];
    struct pleat_curve *times[PANELS - SHARES]; /* by seed */
    struct line lines[PANELS];
};

struct drawing {
    struct pleat_study *study;
    enum approach approach;
    const struct koala_unsaid *unsaid;
    size_t jobs; /* of a seed */
    struct drawn runs[RUNS];
};

static int take_jobs(const struct koala_trial *trial, struct drawn *drawn, size_t first)
{
    size_t jobs = trial->workload.jobs.count;
    int32_t *largest = calloc(jobs, sizeof(*largest));
    if (!largest)
        return PLEAT_E_NOMEM;
    pleat_trial_largest(&trial->trial, largest);
    for (size_t job = 0; job < jobs; job++) {
        drawn->values[AVERAGES][first + job] = pleat_trial_average(&trial->trial, job);
        drawn->values[MAXIMA][first + job] = largest[job];
        drawn->values[EXECUTIONS][first + job] = pleat_trial_run_s(&trial->trial, job);
        drawn->values[RESPONSES][first + job] = pleat_trial_response_s(&trial->trial, job);
    }
    for (int panel = 0; panel < SHARES; panel++) /* a job without an end is beyond all others */
        for (size_t job = first; job < first + jobs; job++)
            if (isnan(drawn->values[panel][job]))
                drawn->values[panel][job] = INFINITY;
    free(largest);
    return 0;
}

static int run_one(void *context, size_t index, struct pleat_error *err)
{
    struct drawing *drawing = context;
    size_t run = index % RUNS, seed = index / RUNS;
    struct drawn *drawn = &drawing->runs[run];
    struct koala_trial trial;
    int rc = koala_run(drawing->study, drawing->approach, (int)run, drawing->unsaid,
                       drawing->study->seed + seed, &trial, err);
    if (!rc)
        rc = take_jobs(&trial, drawn, seed * drawing->jobs);
    if (!rc)
        rc = pleat_trial_used(&trial.trial, PARTS, &drawn->times[USED_NOW - SHARES][seed]);
    if (!rc)
        rc = pleat_trial_resizes(&trial.trial, true, true, &drawn->times[RESIZES - SHARES][seed]);
    if (rc == PLEAT_E_NOMEM)
        pleat_error_set(err, rc, "out of memory for the figure");
    koala_trial_finish(&trial);
    return rc;
}

static int draw(struct drawing *drawing, const char *name, const char *caption,
                struct pleat_error *err)
{
    static const struct {
        const char *title, *x_label, *y_label;
    } about[] = {{"(a) Average size", "processors", "share of jobs"},
                 {"(b) Maximum size", "processors", "share of jobs"},
                 {"(c) Execution time", "seconds", "share of jobs"},
                 {"(d) Response time", "seconds", "share of jobs"},
                 {"(e) In use", "seconds", "processors"},
                 {"(f) Resizes so far", "seconds", "resizes"}};
    struct pleat_plot panels[PANELS];
    struct pleat_plot_series series[PANELS][RUNS];
    struct pleat_plot_band bands[PANELS][RUNS];
    for (int p = 0; p < PANELS; p++) {
        for (int r = 0; r < RUNS; r++) {
            const struct line *line = &drawing->runs[r].lines[p];
            series[p][r] = (struct pleat_plot_series){koala_run_name(r, drawing->approach), line->x,
                                                      line->y, PLACES};
            bands[p][r] = (struct pleat_plot_band){line->low, line->high};
        }
        panels[p] = (struct pleat_plot){.title = about[p].title,
                                        .x_label = about[p].x_label,
                                        .y_label = about[p].y_label,
                                        .style = PLEAT_PLOT_STEPS,
                                        .y_most = p < SHARES ? 1 : 0,
                                        .series = series[p],
                                        .bands = bands[p],
                                        .series_count = RUNS};
    }
    return pleat_page_figure(&drawing->study->page, name, caption, panels, PANELS, 2, err);
}

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The share of sorted values that are at most x. */
static double share_at(const double *sorted, size_t count, double x)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sorted[middle] <= x)
            low = middle + 1;
        else
            high = middle;
    }
    return count ? (double)low / (double)count : 0;
}

/* The value of a curve over time at x; 0 before the curve begins. */
static double level_at(const struct pleat_curve *curve, double x)
{
    size_t count = (size_t)llround(share_at(curve->x, curve->count, x) * (double)curve->count);
    return count ? curve->y[count - 1] : 0;
}

static void set_place(struct line *line, size_t place, double x, const double *by_seed,
                      size_t seeds, double most)
{
    struct pleat_estimate estimate = pleat_estimate(by_seed, seeds);
    line->x[place] = x;
    line->y[place] = estimate.mean;
    pleat_estimate_ends(estimate, &line->low[place], &line->high[place]);
    if (line->low[place] < 0)
        line->low[place] = 0;
    if (line->high[place] > most)
        line->high[place] = most;
}

/* The share of jobs at places that are equally far apart. The band of its interval is drawn from
 * place to place, so places must be close together. */
static int make_share(struct drawing *drawing, struct drawn *drawn, int panel, double *by_seed)
{
    size_t seeds = drawing->study->seeds, jobs = drawing->jobs, all = seeds * jobs;
    double *values = drawn->values[panel], *sorted = malloc(all * sizeof(*sorted));
    if (!sorted)
        return PLEAT_E_NOMEM;
    memcpy(sorted, values, all * sizeof(*sorted));
    qsort(sorted, all, sizeof(*sorted), compare);
    for (size_t seed = 0; seed < seeds; seed++)
        qsort(values + seed * jobs, jobs, sizeof(*values), compare);
    size_t last = all;
    while (last > 1 && !isfinite(sorted[last - 1]))
        last--;
    double least = sorted[0], most = sorted[last - 1];
    for (size_t place = 0; place < PLACES; place++) {
        double part = (double)place / (PLACES - 1);
        double x = place + 1 < PLACES ? least + part * (most - least) : most;
        for (size_t seed = 0; seed < seeds; seed++)
            by_seed[seed] = share_at(values + seed * jobs, jobs, x);
        set_place(&drawn->lines[panel], place, x, by_seed, seeds, 1);
    }
    free(sorted);
    return 0;
}

static void make_time(struct drawing *drawing, struct drawn *drawn, int panel, double *by_seed)
{
    const struct pleat_curve *curves = drawn->times[panel - SHARES];
    size_t seeds = drawing->study->seeds;
    double end = 0;
    for (size_t seed = 0; seed < seeds; seed++)
        if (curves[seed].count > 0)
            end = fmax(end, curves[seed].x[curves[seed].count - 1]);
    for (size_t place = 0; place < PLACES; place++) {
        double x = end * (double)place / (PLACES - 1);
        for (size_t seed = 0; seed < seeds; seed++)
            by_seed[seed] = level_at(&curves[seed], x);
        set_place(&drawn->lines[panel], place, x, by_seed, seeds, INFINITY);
    }
}

static int make_lines(struct drawing *drawing)
{
    double *by_seed = calloc(drawing->study->seeds, sizeof(*by_seed));
    int rc = by_seed ? 0 : PLEAT_E_NOMEM;
    for (int r = 0; r < RUNS; r++)
        for (int p = 0; p < PANELS && !rc; p++) {
            if (p < SHARES)
                rc = make_share(drawing, &drawing->runs[r], p, by_seed);
            else
                make_time(drawing, &drawing->runs[r], p, by_seed);
        }
    free(by_seed);
    return rc;
}

static int make_room(struct drawing *drawing)
{
    for (int r = 0; r < RUNS; r++)
        for (int s = 0; s < SHARES; s++) {
            double **values = &drawing->runs[r].values[s];
            *values = calloc(drawing->jobs * drawing->study->seeds, sizeof(**values));
            if (!*values)
                return PLEAT_E_NOMEM;
        }
    for (int r = 0; r < RUNS; r++)
        for (int t = 0; t < PANELS - SHARES; t++) {
            struct pleat_curve **times = &drawing->runs[r].times[t];
            *times = calloc(drawing->study->seeds, sizeof(**times));
            if (!*times)
                return PLEAT_E_NOMEM;
        }
    return 0;
}

int koala_figure(struct pleat_study *study, enum approach approach,
                 const struct koala_unsaid *unsaid, const char *name, const char *caption,
                 struct pleat_error *err)
{
    struct drawing *drawing = calloc(1, sizeof(*drawing));
    if (!drawing)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the figure");
    *drawing = (struct drawing){
        .study = study, .approach = approach, .unsaid = unsaid, .jobs = KOALA_JOBS};
    int rc = make_room(drawing);
    if (!rc)
        rc = pleat_study_each(study, name, RUNS * study->seeds, run_one, drawing, err);
    if (!rc)
        rc = make_lines(drawing);
    if (rc == PLEAT_E_NOMEM)
        pleat_error_set(err, rc, "out of memory for the figure");
    if (!rc)
        rc = draw(drawing, name, caption, err);
    for (int r = 0; r < RUNS; r++) {
        struct drawn *drawn = &drawing->runs[r];
        for (int panel = 0; panel < SHARES; panel++)
            free(drawn->values[panel]);
        for (int t = 0; t < PANELS - SHARES; t++) {
            for (size_t seed = 0; drawn->times[t] && seed < study->seeds; seed++)
                pleat_curve_finish(&drawn->times[t][seed]);
            free(drawn->times[t]);
        }
    }
    free(drawing);
    return rc;
}
