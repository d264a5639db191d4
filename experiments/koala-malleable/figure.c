/* figure.c - the six panels of figures 7 and 8. */
#include <stdlib.h>

#include "experiments/koala-malleable/koala.h"
#include "workload/statistics.h"

enum { AVERAGES, MAXIMA, EXECUTIONS, RESPONSES, SHARES };
enum { PARTS = 40 }; /* of the time; single changes could not be told apart */

/* Of the jobs of all seeds of a run, and over the time of its first seed. */
struct drawn {
    double *values[SHARES];
    struct pleat_curve shares[SHARES], used, resizes;
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
    if (!rc && seed == 0)
        rc = pleat_trial_used(&trial.trial, PARTS, &drawn->used);
    if (!rc && seed == 0)
        rc = pleat_trial_resizes(&trial.trial, true, true, &drawn->resizes);
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
    enum { PANELS = SHARES + 2 };
    struct pleat_plot panels[PANELS];
    struct pleat_plot_series series[PANELS][RUNS];
    for (int p = 0; p < PANELS; p++) {
        for (int r = 0; r < RUNS; r++) {
            const struct drawn *drawn = &drawing->runs[r];
            const struct pleat_curve *curve = p < SHARES    ? &drawn->shares[p]
                                              : p == SHARES ? &drawn->used
                                                            : &drawn->resizes;
            series[p][r] = pleat_curve_series(curve, koala_run_name(r, drawing->approach));
        }
        panels[p] = (struct pleat_plot){.title = about[p].title,
                                        .x_label = about[p].x_label,
                                        .y_label = about[p].y_label,
                                        .style = PLEAT_PLOT_STEPS,
                                        .y_most = p < SHARES ? 1 : 0,
                                        .series = series[p],
                                        .series_count = RUNS};
    }
    return pleat_page_figure(&drawing->study->page, name, caption, panels, PANELS, 2, err);
}

static int make_shares(struct drawing *drawing)
{
    struct pleat_summary summary;
    size_t count = drawing->jobs * drawing->study->seeds;
    int rc = 0;
    for (int r = 0; r < RUNS; r++)
        for (int s = 0; s < SHARES && !rc; s++) {
            double *values = drawing->runs[r].values[s];
            pleat_summarize(values, count, &summary); /* sorts them */
            rc = pleat_curve_shares(&drawing->runs[r].shares[s], values, count);
        }
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
    return 0;
}

int koala_figure(struct pleat_study *study, enum approach approach,
                 const struct koala_unsaid *unsaid, const char *name, const char *caption,
                 struct pleat_error *err)
{
    struct drawing drawing = {
        .study = study, .approach = approach, .unsaid = unsaid, .jobs = KOALA_JOBS};
    int rc = make_room(&drawing);
    if (!rc)
        rc = pleat_study_each(study, name, RUNS * study->seeds, run_one, &drawing, err);
    if (!rc)
        rc = make_shares(&drawing);
    if (rc == PLEAT_E_NOMEM)
        pleat_error_set(err, rc, "out of memory for the figure");
    if (!rc)
        rc = draw(&drawing, name, caption, err);
    for (int r = 0; r < RUNS; r++) {
        struct drawn *drawn = &drawing.runs[r];
        for (int s = 0; s < SHARES; s++) {
            free(drawn->values[s]);
            pleat_curve_finish(&drawn->shares[s]);
        }
        pleat_curve_finish(&drawn->used);
        pleat_curve_finish(&drawn->resizes);
    }
    return rc;
}
