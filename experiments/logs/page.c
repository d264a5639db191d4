/* page.c - the tables and the figure of the page. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/logs/logs.h"

#define HOUR 3600.0

static struct pleat_estimate scaled(struct pleat_estimate estimate, double by)
{
    estimate.mean *= by;
    estimate.half *= by;
    return estimate;
}

static struct pleat_estimate metric(const struct logs_results *results, long setting, int of,
                                    double by)
{
    return setting == LOGS_NO_CASE
               ? (struct pleat_estimate){.mean = NAN, .half = NAN}
               : scaled(pleat_numbers_estimate(&results->numbers, (size_t)setting, (size_t)of), by);
}

static struct pleat_estimate percent(const struct logs_results *results, long a, long b)
{
    struct pleat_estimate none = {.mean = NAN, .half = NAN};
    return a == LOGS_NO_CASE || b == LOGS_NO_CASE
               ? none
               : scaled(pleat_numbers_ratio(&results->numbers, (size_t)a, (size_t)b, TURNAROUND),
                        100);
}

/* A cell of hours; less than one hour has a digit more. */
static void cell_hours(struct pleat_page *page, struct pleat_estimate hours)
{
    pleat_page_cell_estimate(page, hours, hours.mean < 1 ? 3 : 2);
}

/* ---- what is run ---- */

static void write_workloads(const struct logs_results *results)
{
    struct pleat_page *page = &results->study->page;
    pleat_page_heading(page, "What is run");
    if (results->study->log_count == 0)
        pleat_page_paragraph(page,
                             "**No recorded log was given (`--log FILE`): these are workloads "
                             "that a model makes.**");
    pleat_page_paragraph(
        page, "Rigid jobs are made malleable at random, by the seed: from a fourth to twice their "
              "size, 2 %% of their work being serial (Amdahl); a change costs nothing, and is "
              "possible at any moment. Jobs start with their minimum (`moldability=minimum`); "
              "there is one site. Lublin's model makes another workload with each seed; a log with "
              "little load is run a second time with denser arrivals. Users' estimates are the "
              "log's; where it has none, the run times.");
    pleat_page_table(page, "workload|jobs|processors|offered load");
    for (size_t w = 0; w < results->workloads->count; w++) {
        const struct logs_workload *workload = &results->workloads->items[w];
        bool made = workload->jobs > 0;
        pleat_page_cell(page, "%s", workload->name);
        pleat_page_cell(page, "%zu", made ? workload->jobs : workload->recorded.jobs.count);
        pleat_page_cell(page, "%d", made ? 256 : workload->recorded.machine);
        pleat_page_cell(page, "%.2f", workload->load);
    }
    pleat_page_paragraph(page, "Turnaround is from a job's submission to its end. Bounded slowdown "
                               "compares it with the time that the job ran here, which for a "
                               "malleable one depends on what it got.");
}

/* ---- advice ---- */

static void write_advice(const struct logs_results *results)
{
    struct pleat_page *page = &results->study->page;
    pleat_page_heading(page, "Which policy when");
    pleat_page_item(page,
                    "**Nearly all jobs malleable**: the malleability policy decides. "
                    "`equipartition`, then `egs`, then `fpsma`; with `pwa` and whatever queue "
                    "and order, waits are short. `easy arrival, equipartition` needs no more "
                    "than that.");
    pleat_page_item(
        page, "**Some jobs malleable, and the mean turnaround counts**: `approach=pwa-next "
              "queue=scan order=sjf malleability=equipartition moldability=minimum`. It needs "
              "estimates. On a full machine wide and long rigid jobs pay for it: they wait until "
              "there is less to do, which takes weeks where more work comes than can be done "
              "(column *longest wait*). 95 %% of the jobs wait less than under EASY.");
    pleat_page_item(
        page,
        "**Nobody may wait without end**: `queue=easy order=arrival malleability=equipartition`. "
        "On a full machine turnaround is longer than with `pwa-next`, and the longest wait a "
        "fraction of its (below: that of `easy arrival, egs`).");
    pleat_page_item(
        page, "**Estimates are bad**: factors of 1 to 5 change little for `sjf`, as the order of "
              "short and long jobs stays, and little for backfilling. Where jobs are rigid "
              "backfilling even gains by them, since jobs end before they were expected to. "
              "**There are none**: `sjf` has nothing to sort by, and backfilling nothing to "
              "backfill by; `scan` in the order of arrival needs none.");
    pleat_page_item(page, "**Never on a full machine**: `fcfs`, and `approach=pra`, which lets "
                          "running jobs grow before waiting ones start.");
}

/* ---- the figure ---- */

enum { SHOWN = 3, PANELS_MOST = 4, WORKLOADS_MOST = 64 };

struct drawing {
    char names_kept[WORKLOADS_MOST][32];
    const char *names[WORKLOADS_MOST];
    double x[WORKLOADS_MOST], y[PANELS_MOST][SHOWN][WORKLOADS_MOST];
    double low[PANELS_MOST][SHOWN][WORKLOADS_MOST], high[PANELS_MOST][SHOWN][WORKLOADS_MOST];
    char titles[PANELS_MOST][32];
};

/* "NASA-iPSC" of "NASA-iPSC-1993-3.1-cln", "NASA-iPSC denser" of it with more load: names that
 * stand side by side. */
static void short_name(const char *name, char *text, size_t size)
{
    size_t length = strlen(name);
    const char *addition = strchr(name, ',');
    for (size_t i = 0; name[i] && &name[i] != addition; i++)
        if (name[i] == '-' && strspn(name + i + 1, "0123456789") == 4) {
            length = i;
            break;
        }
    if (addition && length > (size_t)(addition - name))
        length = (size_t)(addition - name);
    snprintf(text, size, "%.*s%s", (int)(length < 18 ? length : 18), name,
             addition ? addition + 1 : "");
}

static void fill_drawing(const struct logs_results *results, struct drawing *drawing, size_t count)
{
    for (size_t w = 0; w < count; w++) {
        short_name(results->workloads->items[w].name, drawing->names_kept[w],
                   sizeof(drawing->names_kept[w]));
        drawing->names[w] = drawing->names_kept[w];
        drawing->x[w] = (double)w;
        long rigid = logs_setting(results, w, LOGS_EASY, 0, 0);
        for (size_t s = 0; s < results->share_count; s++) {
            int share = results->shares[s];
            const size_t rows[SHOWN] = {LOGS_EASY, logs_best_other(results, w, share), LOGS_OWN};
            for (size_t r = 0; r < SHOWN; r++) {
                struct pleat_estimate estimate =
                    percent(results, logs_setting(results, w, rows[r], share, 0), rigid);
                drawing->y[s][r][w] = estimate.mean;
                pleat_estimate_ends(estimate, &drawing->low[s][r][w], &drawing->high[s][r][w]);
            }
        }
    }
}

/* The largest value of all panels, which have one scale. The interval of a bar may end above
 * 100. */
static double highest(const struct logs_results *results, const struct drawing *drawing,
                      size_t count)
{
    double most = 100;
    for (size_t s = 0; s < results->share_count; s++)
        for (size_t r = 0; r < SHOWN; r++)
            for (size_t w = 0; w < count; w++)
                most = fmax(most, isfinite(drawing->high[s][r][w]) ? drawing->high[s][r][w]
                                                                   : drawing->y[s][r][w]);
    return 10 * ceil(most / 10);
}

static int draw(const struct logs_results *results, struct drawing *drawing,
                struct pleat_error *err)
{
    static const char *const keys[SHOWN] = {"easy, egs", "best other", "pwa-next"};
    size_t count =
        results->workloads->count < WORKLOADS_MOST ? results->workloads->count : WORKLOADS_MOST;
    struct pleat_plot panels[PANELS_MOST];
    struct pleat_plot_series series[PANELS_MOST][SHOWN];
    struct pleat_plot_band bands[PANELS_MOST][SHOWN];
    fill_drawing(results, drawing, count);
    double most = highest(results, drawing, count);
    for (size_t s = 0; s < results->share_count; s++) {
        snprintf(drawing->titles[s], sizeof(drawing->titles[s]), "%d %% malleable",
                 results->shares[s]);
        for (size_t r = 0; r < SHOWN; r++) {
            series[s][r] = (struct pleat_plot_series){keys[r], drawing->x, drawing->y[s][r], count};
            bands[s][r] = (struct pleat_plot_band){drawing->low[s][r], drawing->high[s][r]};
        }
        panels[s] = (struct pleat_plot){.title = drawing->titles[s],
                                        .x_label = "workload",
                                        .y_label = "% of rigid EASY",
                                        .style = PLEAT_PLOT_BARS,
                                        .series = series[s],
                                        .bands = bands[s],
                                        .series_count = SHOWN,
                                        .y_most = most,
                                        .x_names = drawing->names};
    }
    return pleat_page_figure(&results->study->page, "turnaround",
                             "Mean turnaround, as a share of what it is with rigid jobs under "
                             "EASY; lines: 95 % confidence intervals over the seeds (with a log "
                             "these choose the jobs that are malleable). Best other: of each "
                             "workload; pwa-next: with scan, sjf and equipartition.",
                             panels, results->share_count, 1, err);
}

static int write_figure(const struct logs_results *results, struct pleat_error *err)
{
    struct drawing *drawing = calloc(1, sizeof(*drawing));
    if (!drawing)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the figure");
    int rc = draw(results, drawing, err);
    free(drawing);
    return rc;
}

/* ---- tables ---- */

static void write_summary_row(const struct logs_results *results, size_t workload, size_t row,
                              int share, const char *what)
{
    struct pleat_page *page = &results->study->page;
    long setting = logs_setting(results, workload, row, share, 0);
    pleat_page_cell(page, "%d %%", share);
    pleat_page_cell(page, "%s", results->rows->items[row].name);
    char value[128];
    snprintf(value, sizeof(value), "turnaround_s.%s.%d.%s",
             results->workloads->items[workload].name, share, what);
    pleat_study_value(results->study, value, metric(results, setting, TURNAROUND, 1));
    cell_hours(page, metric(results, setting, TURNAROUND, 1 / HOUR));
    cell_hours(page, metric(results, setting, WAIT, 1 / HOUR));
    pleat_page_cell_estimate(page, metric(results, setting, WAIT_95, 1 / HOUR), 1);
    pleat_page_cell_estimate(page, metric(results, setting, WAIT_MOST, 1 / HOUR), 0);
    pleat_page_cell_estimate(page, metric(results, setting, SLOWDOWN, 1), 1);
    pleat_page_cell_estimate(page, metric(results, setting, UTILIZATION, 100), 1);
    pleat_page_cell_estimate(page, metric(results, setting, MAKESPAN, 1 / (24 * HOUR)), 1);
    pleat_page_cell_estimate(page, metric(results, setting, RESIZES, 1), 1);
}

/* Tables of the reference, the best other row and the project's own row, with all that is
 * measured. */
static void write_summary(const struct logs_results *results)
{
    struct pleat_page *page = &results->study->page;
    pleat_page_heading(page, "The best, with all that is measured");
    pleat_page_paragraph(page,
                         "Of each workload and share of malleable jobs: `easy arrival, egs` as "
                         "the reference, the combination with the shortest mean turnaround "
                         "of all others, and, in bold, the project's own. Times are hours, "
                         "the makespan is days, utilization per cent.");
    for (size_t w = 0; w < results->workloads->count; w++) {
        pleat_page_subheading(page, results->workloads->items[w].name);
        pleat_page_table(page, "malleable|<policies|turnaround|wait|95 % wait|longest wait|bounded "
                               "slowdown|utilization|makespan|resizes a job");
        for (size_t s = 0; s < results->share_count; s++) {
            size_t best = logs_best_other(results, w, results->shares[s]);
            write_summary_row(results, w, LOGS_EASY, results->shares[s], "easy");
            if (best != LOGS_EASY)
                write_summary_row(results, w, best, results->shares[s], "best");
            write_summary_row(results, w, LOGS_OWN, results->shares[s], "own");
        }
    }
}

static void write_combinations(const struct logs_results *results)
{
    struct pleat_page *page = &results->study->page;
    pleat_page_heading(page, "All combinations");
    pleat_page_paragraph(
        page, "Mean turnaround in hours, under `pwa`; the row in bold is under `pwa-next`. Without "
              "malleable jobs the malleability policy does not matter.");
    for (size_t w = 0; w < results->workloads->count; w++) {
        char titles[160];
        size_t length = (size_t)snprintf(titles, sizeof(titles), "queue, order, malleability");
        for (size_t s = 0; s < results->share_count && length < sizeof(titles); s++)
            length += (size_t)snprintf(titles + length, sizeof(titles) - length, "|%d %%",
                                       results->shares[s]);
        pleat_page_subheading(page, results->workloads->items[w].name);
        pleat_page_table(page, titles);
        for (size_t row = 0; row < results->rows->count; row++) {
            if (!results->rows->items[row].compared && row != LOGS_OWN)
                continue;
            pleat_page_cell(page, "%s", results->rows->items[row].name);
            for (size_t s = 0; s < results->share_count; s++) {
                long setting = logs_setting(results, w, row, results->shares[s], 0);
                cell_hours(page, metric(results, setting, TURNAROUND, 1 / HOUR));
            }
        }
    }
}

/* Begins a table that has a column for each workload. */
static void begin_by_workload(const struct logs_results *results, const char *first)
{
    struct pleat_string titles = {0};
    pleat_string_add(&titles, first);
    for (size_t w = 0; w < results->workloads->count; w++)
        pleat_string_addf(&titles, "|%s", results->workloads->items[w].name);
    if (titles.failed)
        results->study->out_of_memory = true;
    else
        pleat_page_table(&results->study->page, titles.text);
    pleat_string_finish(&titles);
}

static void write_singles(const struct logs_results *results, int share)
{
    struct pleat_page *page = &results->study->page;
    pleat_page_heading(page, "Every other policy");
    pleat_page_paragraph(
        page,
        "Each policy replaces the one of its kind in `approach=pwa queue=easy order=arrival "
        "moldability=minimum malleability=egs`, with %d %% malleable jobs: mean turnaround in %% "
        "of what it is with those. 100 without an interval: the policy decides about something "
        "that does not arise here (several sites, files, folding, buffers, priorities, deadlines), "
        "or it decides the same.",
        share);
    begin_by_workload(results, "policy");
    for (size_t row = LOGS_FIRST; row < results->rows->count; row++) {
        if (results->rows->items[row].compared)
            continue;
        pleat_page_cell(page, "%s", results->rows->items[row].name);
        for (size_t w = 0; w < results->workloads->count; w++)
            pleat_page_cell_estimate(page,
                                     percent(results, logs_setting(results, w, row, share, 0),
                                             logs_setting(results, w, LOGS_EASY, share, 0)),
                                     0);
    }
}

static void write_estimates(const struct logs_results *results)
{
    struct pleat_page *page = &results->study->page;
    pleat_page_heading(page, "With bad estimates");
    pleat_page_paragraph(
        page, "Estimates are run times x uniform(1, 5). The table has the mean turnaround in %% of "
              "that of rigid jobs under EASY with the estimates above.");
    begin_by_workload(results, "malleable, policies");
    for (size_t c = 0; c < results->cases->count; c++) {
        const struct logs_case *about = &results->cases->items[c];
        if (about->worse <= 0)
            continue;
        pleat_page_cell(page, "%d %%, %s", about->share, results->rows->items[about->row].name);
        for (size_t w = 0; w < results->workloads->count; w++)
            pleat_page_cell_estimate(
                page,
                percent(results, logs_setting(results, w, about->row, about->share, about->worse),
                        logs_setting(results, w, LOGS_EASY, 0, 0)),
                0);
    }
}

int logs_write_page(const struct logs_results *results, struct pleat_error *err)
{
    if (!results->study->quick)
        write_advice(results);
    write_workloads(results);
    int rc = write_figure(results, err);
    if (rc)
        return rc;
    write_summary(results);
    write_estimates(results);
    write_combinations(results);
    write_singles(results, 50);
    return 0;
}
