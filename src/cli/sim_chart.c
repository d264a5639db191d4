/* sim_chart.c - results as a drawing: who had which processors (of one run, where its jobs can be
 * told apart), what was in use, how many jobs waited, and how waits, responses and slowdowns are
 * distributed; of several runs the curves over one another. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/sim_gantt.h"
#include "figure/plot.h"
#include "figure/replace.h"

/* More jobs than this cannot be told apart. */
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

static const enum pleat_sim_curve_kind order[] = {PLEAT_SIM_CURVE_USED, PLEAT_SIM_CURVE_QUEUED,
                                                  PLEAT_SIM_CURVE_WAIT, PLEAT_SIM_CURVE_RESPONSE,
                                                  PLEAT_SIM_CURVE_SLOWDOWN};

#define PANELS (sizeof(order) / sizeof(order[0]))

struct unit {
    const char *name;
    double seconds;
};

static struct unit unit_for(double span_s)
{
    if (span_s > 3 * 86400.0)
        return (struct unit){"days", 86400};
    if (span_s > 3 * 3600.0)
        return (struct unit){"hours", 3600};
    if (span_s > 600)
        return (struct unit){"minutes", 60};
    return (struct unit){"seconds", 1};
}

struct window {
    double from_s, to_s;
};

static bool window_given(const struct pleat_sim_request *request)
{
    return isfinite(request->from_s) || isfinite(request->to_s) || request->first > 0;
}

/* Of a single run, if its jobs, or those in a part of its time, may be few enough. */
bool pleat_sim_chart_wants_jobs(const struct pleat_sim_experiment *experiment)
{
    return experiment->request->chart && experiment->run_count == 1 &&
           (window_given(experiment->request) ||
            experiment->sources[0].workload.jobs.count <= GANTT_JOBS_MAX);
}

/* ---- panels ---- */

struct panel {
    char x_label[96];
    struct pleat_plot_series *series;
};

struct page {
    struct pleat_plot plots[PANELS];
    struct panel panels[PANELS];
    double *values; /* of all series */
    size_t used;
};

static bool over_time(enum pleat_sim_curve_kind kind)
{
    return kind == PLEAT_SIM_CURVE_USED || kind == PLEAT_SIM_CURVE_QUEUED;
}

/* The part of a curve that the window shows, in the panel's unit; levels over time from edge to
 * edge of it. */
static void add_series(struct page *page, enum pleat_sim_curve_kind kind,
                       const struct pleat_curve *curve, const struct window *window,
                       struct unit unit, double least, struct pleat_plot_series *series)
{
    double *x = page->values + page->used, *y = x + curve->count + 2;
    size_t count = 0, i = 0;
    if (over_time(kind)) {
        x[count] = window->from_s / unit.seconds;
        y[count] = 0;
        for (; i < curve->count && curve->x[i] <= window->from_s; i++)
            y[count] = curve->y[i];
        count++;
    }
    for (; i < curve->count && !(over_time(kind) && curve->x[i] > window->to_s); i++) {
        x[count] = fmax(curve->x[i], least) / unit.seconds;
        y[count++] = curve->y[i];
    }
    if (over_time(kind)) {
        x[count] = window->to_s / unit.seconds;
        y[count] = y[count - 1];
        count++;
    }
    series->x = x;
    series->y = y;
    series->count = count;
    page->used += 2 * (curve->count + 2);
}

static double largest(const struct pleat_sim_experiment *experiment, enum pleat_sim_curve_kind kind)
{
    double most = 0;
    for (size_t c = 0; c < experiment->request->combinations.count; c++) {
        const struct pleat_curve *curve =
            &experiment->runs[c * experiment->request->seeds].curves[kind];
        if (curve->count > 0)
            most = fmax(most, curve->x[curve->count - 1]);
    }
    return most;
}

static void fill_panel(struct page *page, size_t at, const struct pleat_sim_experiment *experiment,
                       const struct window *window)
{
    enum pleat_sim_curve_kind kind = order[at];
    struct pleat_plot *plot = &page->plots[at];
    struct panel *panel = &page->panels[at];
    const struct pleat_sim_request *request = experiment->request;
    double most = largest(experiment, kind);
    bool logarithmic = !over_time(kind) && most > 100;
    struct unit unit =
        over_time(kind) ? unit_for(window->to_s - window->from_s) : (struct unit){"seconds", 1};
    bool plain = kind == PLEAT_SIM_CURVE_SLOWDOWN;
    snprintf(panel->x_label, sizeof(panel->x_label), "%s%s%s%s", about[kind].x_label,
             plain ? "" : " (", plain ? "" : unit.name,
             plain         ? ""
             : logarithmic ? "; 1 and below at the left)"
                           : ")");
    *plot = (struct pleat_plot){.title = about[kind].title,
                                .x_label = panel->x_label,
                                .y_label = about[kind].y_label,
                                .style = PLEAT_PLOT_STEPS,
                                .log_x = logarithmic,
                                .y_most = over_time(kind) ? 0 : 1,
                                .series = panel->series,
                                .series_count = request->combinations.count};
    for (size_t c = 0; c < request->combinations.count; c++) {
        const struct pleat_curve *curve = &experiment->runs[c * request->seeds].curves[kind];
        add_series(page, kind, curve, window, unit, logarithmic ? 1 : -INFINITY, &panel->series[c]);
        panel->series[c].title =
            request->combinations.count > 1 ? request->combinations.items[c].label : NULL;
    }
}

static void page_finish(struct page *page)
{
    for (size_t i = 0; i < PANELS; i++)
        free(page->panels[i].series);
    free(page->values);
}

static int page_make(struct page *page, const struct pleat_sim_experiment *experiment,
                     const struct window *window)
{
    size_t combinations = experiment->request->combinations.count, points = 0;
    *page = (struct page){0};
    for (size_t c = 0; c < combinations; c++)
        for (size_t i = 0; i < PANELS; i++)
            points += experiment->runs[c * experiment->request->seeds].curves[i].count + 2;
    page->values = calloc(2 * points + 1, sizeof(*page->values));
    bool failed = !page->values;
    for (size_t i = 0; i < PANELS; i++) {
        page->panels[i].series = calloc(combinations + 1, sizeof(*page->panels[i].series));
        failed = failed || !page->panels[i].series;
    }
    if (failed) {
        page_finish(page);
        return PLEAT_E_NOMEM;
    }
    for (size_t i = 0; i < PANELS; i++)
        fill_panel(page, i, experiment, window);
    return 0;
}

/* ---- the drawing of processors above the panels ---- */

/* Appends a document without its prologue, as a part of another, at a height. *height: its own,
 * made `width` wide. */
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
    int rc = pleat_plot_add_svg(page->plots, PANELS, &panels, err);
    if (!rc && (rc = join(gantt, panels.text ? panels.text : "", &whole)))
        rc = pleat_error_set(err, rc, "cannot put the drawing %s together", path);
    if (!rc)
        rc = pleat_replace_text(path, &whole, err);
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
    for (size_t i = 0; i < experiment->run_count; i++)
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
        else if (request->seeds > 1)
            pleat_string_addf(done, "; curves of the first seed");
        return pleat_plot_write_svg(page->plots, PANELS, request->chart, err);
    }
    int rc = pleat_sim_gantt_build(&gantt, &experiment->sources[0].workload, &request->platform,
                                   run, window->from_s, window->to_s, err);
    if (rc)
        return rc;
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
    if (window.to_s <= window.from_s && window_given(experiment->request))
        return pleat_error_set(err, PLEAT_E_INVALID, "nothing is left to draw from %g to %g s",
                               window.from_s, window.to_s);
    if (page_make(&page, experiment, &window))
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the drawing");
    pleat_string_addf(done, "The chart: %s", experiment->request->chart);
    int rc = write_page(experiment, &page, &window, done, err);
    page_finish(&page);
    return rc;
}
