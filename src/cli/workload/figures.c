/* figures.c - makes the panels of `pleat workload stat`: curves and bars from jobs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cli/workload/workload.h"

enum { SIZE_BARS_MAX = 32, BINS_MAX = 150 };

enum { SIZES, RUN_TIMES, HOURS, GAPS, WEEKDAYS, LOAD }; /* the order of the panels */

struct figures_names {
    char text[SIZE_BARS_MAX][12];
    const char *at[SIZE_BARS_MAX];
};

struct pleat_figures {
    const struct pleat_workload *workload;
    const struct pleat_description *description;
    struct pleat_plot panels[PLEAT_FIGURE_COUNT];
    struct pleat_plot_series series[PLEAT_FIGURE_COUNT];
    double size_x[SIZE_BARS_MAX], size_y[SIZE_BARS_MAX];
    struct figures_names size_names;
    double hour_x[24], hour_y[24], day_x[7], day_y[7];
    double load_x[BINS_MAX + 1], load_y[BINS_MAX + 1];
    double *runs, *run_shares, *gaps, *gap_shares;
    char load_label[80];
};

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double seconds(int64_t us)
{
    return (double)us / 1e6;
}

/* Makes the distribution of values: sorts them, and computes the share that is at most each of
 * them. */
static void make_shares(double *values, double *shares, size_t count,
                        struct pleat_plot_series *series)
{
    qsort(values, count, sizeof(*values), compare);
    for (size_t i = 0; i < count; i++)
        shares[i] = (double)(i + 1) / (double)count;
    *series = (struct pleat_plot_series){.x = values, .y = shares, .count = count};
}

static void make_distributions(struct pleat_figures *f)
{
    const struct pleat_workload_jobs *jobs = &f->workload->jobs;
    size_t gaps = jobs->count > 0 ? jobs->count - 1 : 0;
    for (size_t i = 0; i < jobs->count; i++)
        f->runs[i] = seconds(jobs->items[i].run_us);
    for (size_t i = 0; i < gaps; i++)
        f->gaps[i] = seconds(jobs->items[i + 1].submit_us - jobs->items[i].submit_us);
    make_shares(f->runs, f->run_shares, jobs->count, &f->series[RUN_TIMES]);
    make_shares(f->gaps, f->gap_shares, gaps, &f->series[GAPS]);
}

/* Makes the bars of sizes: 1, 2, 3 to 4, 5 to 8, ... */
static void make_sizes(struct pleat_figures *f)
{
    const struct pleat_workload_jobs *jobs = &f->workload->jobs;
    size_t bars = 0;
    for (size_t i = 0; i < jobs->count; i++) {
        size_t bar = 0;
        while (bar + 1 < SIZE_BARS_MAX && (int64_t)1 << bar < jobs->items[i].processors)
            bar++;
        f->size_y[bar]++;
        bars = bar + 1 > bars ? bar + 1 : bars;
    }
    for (size_t i = 0; i < bars; i++) {
        f->size_x[i] = (double)i;
        snprintf(f->size_names.text[i], sizeof(f->size_names.text[i]), "%lld", 1LL << i);
        f->size_names.at[i] = f->size_names.text[i];
    }
    f->series[SIZES] = (struct pleat_plot_series){.x = f->size_x, .y = f->size_y, .count = bars};
}

static void make_calendar(struct pleat_figures *f)
{
    for (size_t i = 0; i < 24; i++) {
        f->hour_x[i] = (double)i;
        f->hour_y[i] = (double)f->description->hours[i];
    }
    for (size_t i = 0; i < 7; i++) {
        f->day_x[i] = (double)i;
        f->day_y[i] = (double)f->description->weekdays[i];
    }
    size_t any = f->description->jobs > 0;
    f->series[HOURS] =
        (struct pleat_plot_series){.x = f->hour_x, .y = f->hour_y, .count = 24 * any};
    f->series[WEEKDAYS] =
        (struct pleat_plot_series){.x = f->day_x, .y = f->day_y, .count = 7 * any};
}

/* ---- load over time ---- */

/* The shortest of the usual widths with which BINS_MAX bins cover the whole span. */
static double bin_width(double span_s)
{
    static const double widths[] = {1,     10,    60,     300,   900,   3600,    14400,
                                    43200, 86400, 604800, 2.6e6, 7.8e6, 31536000};
    const size_t count = sizeof(widths) / sizeof(widths[0]);
    for (size_t i = 0; i < count; i++)
        if (span_s / widths[i] < BINS_MAX)
            return widths[i];
    return span_s / (BINS_MAX - 1);
}

static void label_time(struct pleat_figures *f, double unit, const char *unit_name)
{
    time_t origin = (time_t)((double)f->workload->origin_us / 1e6);
    struct tm when;
    char date[32] = "";
    if (f->workload->origin_us != 0 && gmtime_r(&origin, &when))
        strftime(date, sizeof(date), " from %Y-%m-%d %H:%M UTC", &when);
    snprintf(f->load_label, sizeof(f->load_label), "%s%s", unit_name, date);
    for (size_t i = 0; i < f->series[LOAD].count; i++)
        f->load_x[i] /= unit;
}

static void make_load(struct pleat_figures *f)
{
    const struct pleat_workload_jobs *jobs = &f->workload->jobs;
    double capacity = (double)f->description->machine;
    f->series[LOAD] = (struct pleat_plot_series){.x = f->load_x, .y = f->load_y};
    if (jobs->count == 0 || f->description->span_s <= 0 || capacity <= 0)
        return;
    double first = seconds(jobs->items[0].submit_us), span = f->description->span_s;
    double width = bin_width(span);
    size_t bins = (size_t)(span / width) + 1;
    for (size_t i = 0; i < jobs->count; i++) {
        const struct pleat_workload_job *job = &jobs->items[i];
        size_t bin = (size_t)((seconds(job->submit_us) - first) / width);
        f->load_y[bin < bins ? bin : bins - 1] +=
            seconds(job->run_us) * (double)job->processors / (capacity * width);
    }
    for (size_t i = 0; i < bins; i++)
        f->load_x[i] = first + (double)i * width;
    f->load_x[bins] = first + (double)bins * width;
    f->load_y[bins] = f->load_y[bins - 1]; /* the end of the last step */
    f->series[LOAD].count = bins + 1;
    if (span > 3 * 86400)
        label_time(f, 86400, "days");
    else if (span > 3 * 3600)
        label_time(f, 3600, "hours");
    else
        label_time(f, 1, "seconds");
}

/* ---- panels ---- */

static void set_panels(struct pleat_figures *f)
{
    static const char *const days[] = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
    static const char *const numbered[] = {"1", "2", "3", "4", "5", "6", "7"};
    bool known = f->workload->origin_us != 0;
    f->panels[SIZES] = (struct pleat_plot){.title = "Sizes",
                                           .x_label = "processors, up to",
                                           .y_label = "jobs",
                                           .style = PLEAT_PLOT_BARS,
                                           .x_names = f->size_names.at};
    f->panels[RUN_TIMES] = (struct pleat_plot){.title = "Run times",
                                               .x_label = "seconds",
                                               .y_label = "share of jobs",
                                               .style = PLEAT_PLOT_STEPS,
                                               .log_x = true,
                                               .y_most = 1};
    f->panels[HOURS] =
        (struct pleat_plot){.title = "Submissions by hour of the day",
                            .x_label = known ? "hour (UTC)" : "hour (of days from time 0)",
                            .y_label = "jobs",
                            .style = PLEAT_PLOT_BARS};
    f->panels[GAPS] = (struct pleat_plot){.title = "Gaps between submissions",
                                          .x_label = "seconds",
                                          .y_label = "share of gaps",
                                          .style = PLEAT_PLOT_STEPS,
                                          .log_x = true,
                                          .y_most = 1};
    f->panels[WEEKDAYS] = (struct pleat_plot){.title = "Submissions by day of the week",
                                              .x_label = known ? "" : "day, from time 0",
                                              .y_label = "jobs",
                                              .style = PLEAT_PLOT_BARS,
                                              .x_names = known ? days : numbered};
    f->panels[LOAD] = (struct pleat_plot){.title = "Offered load: work submitted, over capacity",
                                          .x_label = f->load_label,
                                          .y_label = "load",
                                          .style = PLEAT_PLOT_STEPS};
    for (size_t i = 0; i < PLEAT_FIGURE_COUNT; i++) {
        f->panels[i].series = &f->series[i];
        f->panels[i].series_count = 1;
    }
}

struct pleat_figures *pleat_figures_create(const struct pleat_workload *workload,
                                           const struct pleat_description *description)
{
    struct pleat_figures *f = calloc(1, sizeof(*f));
    size_t count = workload->jobs.count + 1;
    if (!f)
        return NULL;
    f->workload = workload;
    f->description = description;
    f->runs = calloc(count, sizeof(double));
    f->run_shares = calloc(count, sizeof(double));
    f->gaps = calloc(count, sizeof(double));
    f->gap_shares = calloc(count, sizeof(double));
    if (!f->runs || !f->run_shares || !f->gaps || !f->gap_shares) {
        pleat_figures_destroy(f);
        return NULL;
    }
    make_distributions(f);
    make_sizes(f);
    make_calendar(f);
    make_load(f);
    set_panels(f);
    return f;
}

const struct pleat_plot *pleat_figures_panels(const struct pleat_figures *figures)
{
    return figures->panels;
}

void pleat_figures_destroy(struct pleat_figures *figures)
{
    if (!figures)
        return;
    free(figures->runs);
    free(figures->run_shares);
    free(figures->gaps);
    free(figures->gap_shares);
    free(figures);
}
