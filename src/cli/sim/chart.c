/* chart.c - draws results. For a single run with few jobs: which job had which processors. For any
 * run: the processors in use, the number of waiting jobs, and the distributions of waits, responses
 * and slowdowns. Curves of several runs are drawn over one another. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "chart/time_axis.h"
#include "cli/sim/gantt.h"
#include "experiment/estimate.h"
#include "figure/picture.h"
#include "figure/plot.h"

/* With more jobs than this, jobs cannot be told apart in a chart. */
enum { GANTT_JOBS_MAX = 500 };

static const struct {
    const char *title, *x_label, *y_label;
} about[] = {
    [PLEAT_SIM_CURVE_WAIT] = {"Wait of the jobs", "wait", "share of jobs"},
    [PLEAT_SIM_CURVE_RESPONSE] = {"Response time of the jobs", "response time", "share of jobs"},
    [PLEAT_SIM_CURVE_SLOWDOWN] = {"Bounded slowdown of the jobs", "bounded slowdown",
                                  "share of jobs"},
    [PLEAT_SIM_CURVE_USED] = {"Processors in use", "time", "processors"},
    [PLEAT_SIM_CURVE_QUEUED] = {"Jobs that wait", "time", "jobs"},
};

/* Curves of processors in use cannot be told apart over one another. So each of the first USED_MAX
 * combinations gets a panel of its own. */
enum { USED_MAX = 8, PANELS_MAX = USED_MAX + PLEAT_SIM_CURVE_COUNT, GRID = 160 };

struct window {
    double from_s, to_s;
};

static bool window_given(const struct pleat_sim_request *request)
{
    return isfinite(request->from_s) || isfinite(request->to_s) || request->first > 0;
}

/* Wanted for a single run, if few enough of its jobs may be in the window. */
bool pleat_sim_chart_wants_jobs(const struct pleat_sim_experiment *experiment)
{
    return experiment->request->chart && experiment->run_count == 1 &&
           (window_given(experiment->request) ||
            experiment->sources[0].workload.jobs.count <= GANTT_JOBS_MAX);
}

/* ---- panels ---- */

struct panel {
    char title[240], x_label[96];
    struct pleat_plot_series *series;
    struct pleat_plot_band *bands;
};

struct page {
    struct pleat_plot plots[PANELS_MAX];
    struct panel panels[PANELS_MAX];
    size_t count;
    struct pleat_time_axis axis;
    struct pleat_plot_tic tics[PLEAT_TIME_MARKS_MAX];
    PLEAT_ARRAY(, double *) values; /* of series and bands */
    bool failed;
};

/* Allocates numbers that live as long as the page. NULL: out of memory. */
static double *make_values(struct page *page, size_t count)
{
    double *values = calloc(count + 1, sizeof(*values));
    if (!values || pleat_array_push(&page->values, values)) {
        free(values);
        page->failed = true;
        return NULL;
    }
    return values;
}

/* Adds the part of a level over time that is in the window, from edge to edge. */
static void add_levels(struct page *page, const struct pleat_curve *curve,
                       const struct window *window, struct pleat_plot_series *series)
{
    double *x = make_values(page, curve->count + 2), *y = make_values(page, curve->count + 2);
    size_t count = 0, i = 0;
    if (!x || !y)
        return;
    x[0] = window->from_s;
    for (; i < curve->count && curve->x[i] <= window->from_s; i++)
        y[0] = curve->y[i];
    for (count = 1; i < curve->count && curve->x[i] <= window->to_s; i++, count++) {
        x[count] = curve->x[i];
        y[count] = curve->y[i];
    }
    x[count] = window->to_s;
    y[count] = y[count - 1];
    *series = (struct pleat_plot_series){.x = x, .y = y, .count = count + 1};
}

/* Adds the distribution of the jobs of one run. Values below `least` are drawn there. */
static void add_shares(struct page *page, const struct pleat_curve *curve, double least,
                       struct pleat_plot_series *series)
{
    double *x = make_values(page, curve->count);
    for (size_t i = 0; x && i < curve->count; i++)
        x[i] = fmax(curve->x[i], least);
    if (x)
        *series = (struct pleat_plot_series){.x = x, .y = curve->y, .count = curve->count};
}

/* The share of the jobs whose value is at most x. */
static double share_at(const struct pleat_curve *curve, double x)
{
    size_t low = 0, high = curve->count;
    while (low < high) { /* finds the first value above x */
        size_t middle = (low + high) / 2;
        if (curve->x[middle] <= x)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? curve->y[low - 1] : 0;
}

/* Adds the mean distribution over the seeds, with its 95 % interval, at points from least to most.
 */
static void add_mean(struct page *page, const struct pleat_sim_experiment *experiment,
                     size_t combination, enum pleat_sim_curve_kind kind, double least, double most,
                     bool logarithmic, struct panel *panel)
{
    size_t seeds = experiment->request->seeds;
    const struct pleat_sim_run *runs = &experiment->runs[combination * seeds];
    double *x = make_values(page, GRID), *y = make_values(page, GRID);
    double *low = make_values(page, GRID), *high = make_values(page, GRID);
    double *shares = make_values(page, seeds);
    if (!x || !y || !low || !high || !shares)
        return;
    for (size_t i = 0; i < GRID; i++) {
        double at = (double)i / (GRID - 1);
        x[i] = logarithmic ? least * pow(most / least, at) : most * at;
        for (size_t s = 0; s < seeds; s++)
            shares[s] = share_at(&runs[s].curves[kind], i + 1 < GRID ? x[i] : most);
        struct pleat_estimate estimate = pleat_estimate(shares, seeds);
        y[i] = estimate.mean;
        low[i] = isfinite(estimate.half) ? fmax(estimate.mean - estimate.half, 0) : estimate.mean;
        high[i] = isfinite(estimate.half) ? fmin(estimate.mean + estimate.half, 1) : estimate.mean;
    }
    panel->series[combination] = (struct pleat_plot_series){.x = x, .y = y, .count = GRID};
    panel->bands[combination] = (struct pleat_plot_band){low, high};
}

static double largest(const struct pleat_sim_experiment *experiment, enum pleat_sim_curve_kind kind)
{
    double most = 0;
    for (size_t i = 0; i < experiment->run_count; i++) {
        const struct pleat_curve *curve = &experiment->runs[i].curves[kind];
        if (curve->count > 0)
            most = fmax(most, curve->x[curve->count - 1]);
    }
    return most;
}

static int64_t processors_of(const struct pleat_sim_request *request)
{
    int64_t sum = 0;
    for (size_t i = 0; i < request->platform.sites.count; i++)
        sum += (int64_t)request->platform.sites.items[i].nodes *
               request->platform.sites.items[i].slots;
    return sum;
}

/* Names the run that curves over time belong to, where there are several. */
static const char *which_run(const struct pleat_sim_experiment *experiment)
{
    return experiment->request->seeds == 1                ? ""
           : experiment->variation == PLEAT_SIM_WORKLOADS ? " (first workload)"
                                                          : " (first seed)";
}

static struct pleat_plot *next_panel(struct page *page, size_t series)
{
    struct panel *panel = &page->panels[page->count];
    panel->series = calloc(series + 1, sizeof(*panel->series));
    panel->bands = calloc(series + 1, sizeof(*panel->bands));
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): page_finish frees those of all panels */
    page->failed = page->failed || !panel->series || !panel->bands;
    struct pleat_plot *plot = &page->plots[page->count++];
    *plot = (struct pleat_plot){.title = panel->title,
                                .x_label = panel->x_label,
                                .style = PLEAT_PLOT_STEPS,
                                .series = panel->series,
                                .series_count = series};
    return plot;
}

/* Adds a panel over time, of the first seed of each combination of [from, to). */
static void add_time_panel(struct page *page, const struct pleat_sim_experiment *experiment,
                           enum pleat_sim_curve_kind kind, const struct window *window, size_t from,
                           size_t to)
{
    const struct pleat_sim_combinations *all = &experiment->request->combinations;
    struct panel *panel = &page->panels[page->count];
    struct pleat_plot *plot = next_panel(page, to - from);
    if (page->failed)
        return;
    bool one = kind == PLEAT_SIM_CURVE_USED && all->count > 1;
    snprintf(panel->title, sizeof(panel->title), "%s%s%s%s", about[kind].title, one ? ": " : "",
             one ? all->items[from].label : "", which_run(experiment));
    bool clock = experiment->request->clock;
    snprintf(panel->x_label, sizeof(panel->x_label), clock ? "%s" : "time (%s)", page->axis.unit);
    plot->y_label = about[kind].y_label;
    plot->tics = page->tics;
    plot->tic_count = page->axis.count;
    if (kind == PLEAT_SIM_CURVE_USED) {
        plot->style = PLEAT_PLOT_AREAS;
        plot->number = from;
        plot->y_most = (double)processors_of(experiment->request);
    }
    for (size_t c = from; c < to; c++) {
        add_levels(page, &experiment->runs[c * experiment->request->seeds].curves[kind], window,
                   &panel->series[c - from]);
        panel->series[c - from].title = all->count > 1 ? all->items[c].label : NULL;
    }
}

static void add_distribution(struct page *page, const struct pleat_sim_experiment *experiment,
                             enum pleat_sim_curve_kind kind)
{
    const struct pleat_sim_request *request = experiment->request;
    size_t combinations = request->combinations.count;
    struct panel *panel = &page->panels[page->count];
    struct pleat_plot *plot = next_panel(page, combinations);
    if (page->failed)
        return;
    double most = largest(experiment, kind);
    bool logarithmic = most > 100, plain = kind == PLEAT_SIM_CURVE_SLOWDOWN;
    bool means = request->seeds > 1 && most > 0;
    snprintf(panel->title, sizeof(panel->title), "%s%s", about[kind].title,
             means ? " (mean over the runs, 95 % interval)" : "");
    snprintf(panel->x_label, sizeof(panel->x_label), "%s%s", about[kind].x_label,
             plain         ? ""
             : logarithmic ? " (1 s and below at the left)"
                           : " (seconds)");
    plot->y_label = about[kind].y_label;
    plot->log_x = logarithmic;
    plot->time_x = !plain;
    plot->y_most = 1;
    plot->style = means ? PLEAT_PLOT_LINES : PLEAT_PLOT_STEPS;
    plot->bands = means ? panel->bands : NULL;
    for (size_t c = 0; c < combinations; c++) {
        if (means)
            add_mean(page, experiment, c, kind, 1, most, logarithmic, panel);
        else
            add_shares(page, &experiment->runs[c * request->seeds].curves[kind],
                       logarithmic ? 1 : -(double)INFINITY, &panel->series[c]);
        panel->series[c].title = combinations > 1 ? request->combinations.items[c].label : NULL;
    }
}

static void page_finish(struct page *page)
{
    for (size_t i = 0; i < page->count; i++) {
        free(page->panels[i].series);
        free(page->panels[i].bands);
    }
    for (size_t i = 0; i < page->values.count; i++)
        free(page->values.items[i]);
    pleat_array_finish(&page->values);
}

static void make_axis(struct page *page, const struct pleat_sim_experiment *experiment,
                      const struct window *window)
{
    double clock_s = experiment->request->clock
                         ? (double)experiment->sources[0].workload.origin_us / 1e6
                         : (double)NAN;
    pleat_time_axis(window->from_s, window->to_s, clock_s, 10, &page->axis);
    for (size_t i = 0; i < page->axis.count; i++)
        page->tics[i] = (struct pleat_plot_tic){page->axis.marks[i].at_s, page->axis.marks[i].text};
}

static int page_make(struct page *page, const struct pleat_sim_experiment *experiment,
                     const struct window *window)
{
    size_t combinations = experiment->request->combinations.count;
    *page = (struct page){.count = 0};
    make_axis(page, experiment, window);
    for (size_t c = 0; c < combinations && c < USED_MAX; c++)
        add_time_panel(page, experiment, PLEAT_SIM_CURVE_USED, window, c, c + 1);
    add_time_panel(page, experiment, PLEAT_SIM_CURVE_QUEUED, window, 0, combinations);
    add_distribution(page, experiment, PLEAT_SIM_CURVE_WAIT);
    add_distribution(page, experiment, PLEAT_SIM_CURVE_RESPONSE);
    add_distribution(page, experiment, PLEAT_SIM_CURVE_SLOWDOWN);
    if (page->failed) {
        page_finish(page);
        return PLEAT_E_NOMEM;
    }
    return 0;
}

/* ---- the drawing of processors above the panels ---- */

/* Appends an SVG document without its prologue, as a part of another one, at height y and `width`
 * wide. *height: of the part at that width. */
static int add_part(const char *document, double width, double y, double *height,
                    struct pleat_string *out)
{
    double w, h;
    const char *root = strstr(document, "<svg");
    const char *box = root ? strstr(root, "viewBox=\"") : NULL;
    const char *inside = box ? strchr(box, '>') : NULL;
    if (!inside || sscanf(box, "viewBox=\"%*f %*f %lf %lf", &w, &h) != 2 || !(w > 0) || !(h > 0))
        return PLEAT_E_INVALID;
    *height = h * width / w;
    pleat_string_addf(out,
                      "<svg x=\"0\" y=\"%g\" width=\"%g\" height=\"%g\" viewBox=\"0 0 %g %g\" "
                      "xmlns:xlink=\"http://www.w3.org/1999/xlink\" font-family=\"Inter, "
                      "'Helvetica Neue', Helvetica, Arial, 'DejaVu Sans', sans-serif\" "
                      "font-size=\"11\" fill=\"#333\"",
                      y, width, *height, w, h);
    pleat_string_add(out, inside);
    return 0;
}

static int join(const struct pleat_gantt *gantt, const char *panels, struct pleat_string *out)
{
    const double width = 1000;
    double upper = 0, lower = 0;
    struct pleat_string drawing = {0}, parts = {0};
    pleat_gantt_add_svg(gantt, &drawing);
    int rc = drawing.failed || !drawing.text ? PLEAT_E_NOMEM
                                             : add_part(drawing.text, width, 0, &upper, &parts);
    if (!rc)
        rc = add_part(panels, width, upper, &lower, &parts);
    if (!rc)
        pleat_string_addf(out,
                          "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" "
                          "width=\"%g\" height=\"%g\">\n<rect width=\"100%%\" height=\"100%%\" "
                          "fill=\"#fff\"/>\n%s</svg>\n",
                          width, upper + lower, width, upper + lower, parts.text);
    if (parts.failed || out->failed)
        rc = PLEAT_E_NOMEM;
    pleat_string_finish(&drawing);
    pleat_string_finish(&parts);
    return rc;
}

static int write_both(const struct pleat_gantt *gantt, const struct page *page, const char *path,
                      struct pleat_error *err)
{
    struct pleat_string panels = {0}, whole = {0};
    int rc = pleat_plot_add_svg(page->plots, page->count, &panels, err);
    if (!rc && (rc = join(gantt, panels.text ? panels.text : "", &whole)))
        rc = pleat_error_set(err, rc, "cannot put the drawing %s together", path);
    if (!rc)
        rc = pleat_picture_write(path, &whole, err);
    pleat_string_finish(&panels);
    pleat_string_finish(&whole);
    return rc;
}

/* ---- what is shown ---- */

static double later(double a, int64_t us)
{
    return us == PLEAT_NEVER ? a : fmax(a, (double)us / 1e6);
}

static void choose_window(const struct pleat_sim_experiment *experiment, struct window *window)
{
    const struct pleat_sim_request *request = experiment->request;
    const struct pleat_workload *workload = &experiment->sources[0].workload;
    *window = (struct window){.from_s = (double)workload->jobs.items[0].submit_us / 1e6};
    /* curves over time are of the first seed */
    for (size_t i = 0; i < experiment->run_count; i += request->seeds)
        window->to_s = later(window->to_s, experiment->runs[i].totals.end_us);
    if (request->first > 0 && experiment->runs[0].outcomes) {
        window->to_s = window->from_s;
        for (size_t i = 0; i < workload->jobs.count && i < request->first; i++)
            window->to_s = later(window->to_s, experiment->runs[0].outcomes[i].end_us);
    }
    if (isfinite(request->from_s))
        window->from_s = request->from_s;
    if (isfinite(request->to_s))
        window->to_s = request->to_s;
}

static int write_page(const struct pleat_sim_experiment *experiment, const struct page *page,
                      const struct window *window, struct pleat_string *done,
                      struct pleat_error *err)
{
    const struct pleat_sim_request *request = experiment->request;
    const struct pleat_sim_run *run = &experiment->runs[0];
    struct pleat_gantt gantt;
    size_t jobs = experiment->sources[0].workload.jobs.count;
    if (run->outcomes)
        jobs = pleat_sim_gantt_jobs(&experiment->sources[0].workload, run, window->from_s,
                                    window->to_s);
    if (!run->outcomes || jobs > GANTT_JOBS_MAX) {
        if (experiment->run_count == 1)
            pleat_string_addf(done,
                              "; %zu jobs are too many to show who had which processors: --first, "
                              "or --from and --to, choose up to %d",
                              jobs, GANTT_JOBS_MAX);
        if (request->combinations.count > USED_MAX)
            pleat_string_addf(done, "; processors in use of the first %d combinations", USED_MAX);
        return pleat_plot_write(page->plots, page->count, request->chart, err);
    }
    int rc = pleat_sim_gantt_build(&gantt, &experiment->sources[0].workload, &request->platform,
                                   run, window->from_s, window->to_s, err);
    if (rc)
        return rc;
    gantt.clock = request->clock;
    rc = write_both(&gantt, page, request->chart, err);
    pleat_gantt_finish(&gantt);
    return rc;
}

int pleat_sim_chart_write(const struct pleat_sim_experiment *experiment, struct pleat_string *done,
                          struct pleat_error *err)
{
    struct page page;
    struct window window;
    choose_window(experiment, &window);
    if (experiment->request->clock && !experiment->sources[0].workload.origin_us)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--clock: the workload does not say when it began (UnixStartTime in "
                               "its header)");
    if (window.to_s <= window.from_s && window_given(experiment->request))
        return pleat_error_set(err, PLEAT_E_INVALID, "nothing is left to draw from %g to %g s",
                               window.from_s, window.to_s);
    if (page_make(&page, experiment, &window))
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): page_make has finished it */
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the drawing");
    pleat_string_addf(done, "The chart: %s", experiment->request->chart);
    int rc = write_page(experiment, &page, &window, done, err);
    page_finish(&page);
    return rc;
}
