/* sim_report.c - results in the terminal: a summary of one run, a comparison of several. */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/sim_metrics.h"
#include "cli/table.h"
#include "cli/term.h"
#include "cli/timefmt.h"

enum { INDENT = 13, METRICS_MAX = 20, CELL_SIZE = 160 };

/* The value goes on below itself where the terminal is too narrow. */
static void line(const struct pleat_term *term, const char *name, struct pleat_string *value)
{
    struct pleat_string clean = {0};
    pleat_term_add(term, &clean, value->text ? value->text : "-", 0);
    const char *at = clean.text ? clean.text : "";
    int room = term->limited && term->width > INDENT + 20 ? term->width - INDENT : INT_MAX;
    printf("%-*s", INDENT, name);
    while (pleat_term_width(term, at) > room) {
        int length = room;
        while (length > 0 && at[length] != ' ')
            length--;
        if (length == 0)
            break; /* one word */
        printf("%.*s\n%*s", length, at, INDENT, "");
        at += length + 1;
    }
    puts(at);
    pleat_string_finish(&clean);
    value->length = 0;
}

/* ---- what was simulated ---- */

static void add_count(struct pleat_string *text, size_t count, const char *what)
{
    if (count > 0)
        pleat_string_addf(text, "%s%zu %s", text->length ? ", " : "", count, what);
}

static void print_workload(const struct pleat_term *term,
                           const struct pleat_sim_experiment *experiment)
{
    const struct pleat_sim_request *request = experiment->request;
    const struct pleat_swf_report *report = &experiment->report;
    struct pleat_string text = {0};
    pleat_string_addf(&text, "%s, %zu jobs", request->workload, experiment->workload.jobs.count);
    if (request->load != 1)
        pleat_string_addf(&text, ", arrivals %g times as dense", request->load);
    line(term, "workload", &text);
    bool zero_skipped = request->zero == PLEAT_SWF_ZERO_SKIP;
    add_count(&text, report->no_run_time - (zero_skipped ? report->zero_run_time : 0),
              "without a run time");
    add_count(&text, zero_skipped ? report->zero_run_time : 0, "with run time 0");
    add_count(&text, report->no_size, "without a size");
    add_count(&text, report->no_submit, "without a submit time");
    add_count(&text, report->bursts, "parts of other lines' jobs");
    if (text.length)
        line(term, "left out", &text);
    if (request->estimates == PLEAT_ESTIMATES_EXACT)
        pleat_string_add(&text, "the run times");
    else if (report->missing_estimate > 0)
        pleat_string_addf(&text, "the log's, and the run times of %zu job%s without one",
                          report->missing_estimate, report->missing_estimate == 1 ? "" : "s");
    if (request->kill_at_estimate)
        pleat_string_addf(&text, "%s; jobs that run longer are ended",
                          text.length ? "" : "the log's");
    if (text.length)
        line(term, "estimates", &text);
    const struct pleat_sim_run *first = &experiment->runs[0];
    if (request->malleable > 0 || request->moldable > 0) {
        add_count(&text, first->malleable, "malleable");
        add_count(&text, first->moldable, "moldable");
        pleat_string_addf(&text, "%sfrom %g to %g times their size%s",
                          text.length ? ", " : "none: ", request->minimum, request->maximum,
                          experiment->shared ? "" : " (other jobs with each seed)");
        line(term, "converted", &text);
    }
    pleat_string_finish(&text);
}

static void print_sites(const struct pleat_term *term,
                        const struct pleat_sim_experiment *experiment)
{
    struct pleat_string text = {0};
    const struct pleat_sim_sites *sites = &experiment->request->platform.sites;
    for (size_t i = 0; i < sites->count && i < 8; i++) {
        int64_t processors = (int64_t)sites->items[i].nodes * sites->items[i].slots;
        pleat_string_addf(&text, "%s%s with %" PRId64 " processor%s", i > 0 ? ", " : "",
                          sites->items[i].name, processors, processors == 1 ? "" : "s");
    }
    if (sites->count > 8)
        pleat_string_addf(&text, ", and %zu more", sites->count - 8);
    if (experiment->machine_from)
        pleat_string_addf(&text, " (%s)", experiment->machine_from);
    line(term, "sites", &text);
    pleat_string_finish(&text);
}

/* Of questions for which all runs have the same. */
static void print_policies(const struct pleat_term *term,
                           const struct pleat_sim_experiment *experiment)
{
    struct pleat_string text = {0};
    const struct pleat_sim_combinations *all = &experiment->request->combinations;
    for (int q = 0; q < PLEAT_QUESTION_COUNT; q++) {
        bool same = true;
        for (size_t i = 1; i < all->count; i++)
            same = same && all->items[i].policies[q] == all->items[0].policies[q];
        /* there are hardly ever components with buffers: where none may have any, nothing is said
         */
        bool usual =
            q == PLEAT_BUFFER && all->items[0].policies[q] == pleat_policy_default(PLEAT_BUFFER);
        if (same && !usual)
            pleat_string_addf(&text, "%s%s %s", text.length ? ", " : "",
                              pleat_question_name((enum pleat_question)q),
                              all->items[0].policies[q]->name);
    }
    line(term, "policies", &text);
    pleat_string_finish(&text);
}

/* ---- one run ---- */

static void print_fates(const struct pleat_term *term, const struct pleat_sim_run *run)
{
    static const char *const words[] = {
        [PLEAT_SIM_DONE] = "done",
        [PLEAT_SIM_SKIPPED] = "skipped (larger than every site)",
        [PLEAT_SIM_REJECTED] = "rejected (a reservation that cannot be kept)",
        [PLEAT_SIM_FAILED] = "failed",
        [PLEAT_SIM_KILLED] = "killed at their estimate",
        [PLEAT_SIM_LEFT] = "left: they could not start or end any more"};
    struct pleat_string text = {0};
    for (int fate = 0; fate <= PLEAT_SIM_LEFT; fate++)
        add_count(&text, run->totals.fates[fate], words[fate]);
    line(term, "jobs", &text);
    pleat_string_finish(&text);
}

static void add_value(enum pleat_sim_unit unit, double value, char *cell)
{
    char span[PLEAT_TIME_SIZE];
    if (!isfinite(value))
        snprintf(cell, CELL_SIZE, "-"); /* of no jobs */
    else if (unit == PLEAT_SIM_SECONDS)
        snprintf(cell, CELL_SIZE, "%s", value == 0 ? "0" : pleat_time_span(value, span));
    else if (unit == PLEAT_SIM_RATIO)
        snprintf(cell, CELL_SIZE, "%.*f", value < 10 ? 2 : value < 1000 ? 1 : 0, value);
    else if (unit == PLEAT_SIM_PERCENT)
        snprintf(cell, CELL_SIZE, "%.1f %%", value * 100);
    else
        snprintf(cell, CELL_SIZE, "%.0f", value);
}

static int print_distributions(const struct pleat_sim_run *run)
{
    static const struct pleat_column columns[] = {{"", PLEAT_COLUMN_TEXT},
                                                  {"MEAN", PLEAT_COLUMN_NUMBER},
                                                  {"MEDIAN", PLEAT_COLUMN_NUMBER},
                                                  {"95 %", PLEAT_COLUMN_NUMBER},
                                                  {"MOST", PLEAT_COLUMN_NUMBER}};
    const struct {
        const char *name;
        const struct pleat_summary *summary;
        enum pleat_sim_unit unit;
    } rows[] = {{"wait", &run->wait_s, PLEAT_SIM_SECONDS},
                {"response", &run->response_s, PLEAT_SIM_SECONDS},
                {"bounded slowdown", &run->slowdown, PLEAT_SIM_RATIO}};
    struct pleat_table *table = pleat_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct pleat_summary *summary = rows[i].summary;
        const double values[] = {summary->mean, summary->median, summary->p95, summary->most};
        char cell[CELL_SIZE];
        pleat_table_row(table);
        pleat_table_set(table, 0, rows[i].name);
        for (size_t v = 0; v < 4; v++) {
            add_value(rows[i].unit, summary->count ? values[v] : (double)NAN, cell);
            pleat_table_set(table, v + 1, cell);
        }
    }
    int code = pleat_table_print(table);
    pleat_table_destroy(table);
    return code;
}

static void print_totals(const struct pleat_term *term, const struct pleat_sim_run *run,
                         bool written)
{
    struct pleat_string text = {0};
    char span[PLEAT_TIME_SIZE];
    const struct pleat_sim_totals *totals = &run->totals;
    size_t jobs = 0;
    for (int fate = 0; fate <= PLEAT_SIM_LEFT; fate++)
        jobs += fate == PLEAT_SIM_SKIPPED ? 0 : totals->fates[fate];
    pleat_string_addf(&text, "%s (%.0f s)", pleat_time_span(run->makespan_s, span),
                      run->makespan_s);
    line(term, "makespan", &text);
    pleat_string_addf(&text, "%.1f %% of the processors in use%s", run->utilization * 100,
                      totals->background_us > 0 ? ", apart from those of local users" : "");
    line(term, "utilization", &text);
    pleat_string_addf(&text, "%" PRIu64 " grown, %" PRIu64 " shrunk", totals->grows,
                      totals->shrinks);
    if (run->stood_s > 0)
        pleat_string_addf(&text, ", %s standing still for it (%.0f processor-seconds)",
                          pleat_time_span(run->stood_s, span), totals->stood_us / 1e6);
    line(term, "resizes", &text);
    if (totals->wasted_us > 0) {
        pleat_string_addf(&text, "%.0f processor-seconds held by components that waited",
                          totals->wasted_us / 1e6);
        line(term, "barrier", &text);
    }
    if (totals->requests > 0) {
        pleat_string_addf(&text,
                          "%" PRIu64 " asked for, %" PRIu64 " satisfied at once (%.1f %%), %.0f "
                          "processor-seconds prepared and waiting",
                          totals->requests, totals->satisfied,
                          100 * (double)totals->satisfied / (double)totals->requests,
                          totals->prepared_us / 1e6);
        line(term, "processes", &text);
    }
    pleat_string_addf(&text, "simulated%s in %s", written ? ", and every resize written," : "",
                      pleat_time_span(run->elapsed_s, span));
    if (run->elapsed_s > 0)
        pleat_string_addf(&text, ", %.0f jobs/s", (double)jobs / run->elapsed_s);
    line(term, "speed", &text);
    pleat_string_finish(&text);
}

/* ---- several ---- */

struct comparison {
    size_t rows, columns;
    const char *titles[METRICS_MAX + 1];
    char *cells; /* rows x columns of CELL_SIZE bytes, the label first */
};

static char *cell_at(const struct comparison *c, size_t row, size_t column)
{
    return c->cells + (row * c->columns + column) * CELL_SIZE;
}

static int fill(const struct pleat_term *term, const struct pleat_sim_experiment *experiment,
                struct comparison *c)
{
    const struct pleat_sim_metric *metric;
    c->rows = experiment->request->combinations.count;
    c->columns = 1;
    c->titles[0] = "POLICIES";
    while (c->columns <= METRICS_MAX && (metric = pleat_sim_metric_at(c->columns - 1)))
        c->titles[c->columns++] = metric->title;
    c->cells = calloc(c->rows * c->columns, CELL_SIZE);
    if (!c->cells)
        return PLEAT_E_NOMEM;
    for (size_t row = 0; row < c->rows; row++) {
        const char *label = experiment->request->combinations.items[row].label;
        snprintf(cell_at(c, row, 0), CELL_SIZE, "%s", *label ? label : "as above");
        for (size_t column = 1; column < c->columns; column++) {
            double mean, half_width;
            char value[CELL_SIZE], half[CELL_SIZE];
            metric = pleat_sim_metric_at(column - 1);
            if (pleat_sim_metric_over_seeds(experiment, row, metric, &mean, &half_width))
                return PLEAT_E_NOMEM;
            add_value(metric->unit, mean, value);
            add_value(metric->unit, half_width, half);
            if (experiment->request->seeds > 1)
                snprintf(cell_at(c, row, column), CELL_SIZE, "%.24s %s %.24s", value,
                         term->utf8 ? "\u00b1" : "+-", half);
            else
                snprintf(cell_at(c, row, column), CELL_SIZE, "%s", value);
        }
    }
    return 0;
}

static int width_of(const struct pleat_term *term, const struct comparison *c, size_t column)
{
    int width = pleat_term_width(term, c->titles[column]);
    for (size_t row = 0; row < c->rows; row++) {
        int cell = pleat_term_width(term, cell_at(c, row, column));
        width = cell > width ? cell : width;
    }
    return width;
}

/* The label and columns [from, to). */
static int print_columns(const struct comparison *c, size_t from, size_t to)
{
    struct pleat_column columns[METRICS_MAX + 1] = {{c->titles[0], PLEAT_COLUMN_CUT}};
    size_t count = 1;
    for (size_t column = from; column < to; column++)
        columns[count++] = (struct pleat_column){c->titles[column], PLEAT_COLUMN_NUMBER};
    struct pleat_table *table = pleat_table_create(columns, count);
    for (size_t row = 0; row < c->rows; row++) {
        pleat_table_row(table);
        pleat_table_set(table, 0, cell_at(c, row, 0));
        for (size_t column = from; column < to; column++)
            pleat_table_set(table, 1 + column - from, cell_at(c, row, column));
    }
    int code = pleat_table_print(table);
    pleat_table_destroy(table);
    return code;
}

/* As many columns as the terminal is wide enough for, then a further table with the next. */
static int print_comparison(const struct pleat_term *term,
                            const struct pleat_sim_experiment *experiment)
{
    struct comparison c = {0};
    struct pleat_error err;
    int code = 0;
    if (fill(term, experiment, &c)) {
        free(c.cells);
        pleat_error_set(&err, PLEAT_E_NOMEM, "cannot print the table: out of memory");
        return pleat_fail(&err);
    }
    for (size_t from = 1; !code && from < c.columns;) {
        int width = width_of(term, &c, 0) + 1 + width_of(term, &c, from);
        size_t to = from + 1;
        while (to < c.columns &&
               (!term->limited || width + 1 + width_of(term, &c, to) <= term->width))
            width += 1 + width_of(term, &c, to++);
        code = print_columns(&c, from, to);
        from = to;
        if (!code && from < c.columns)
            putchar('\n');
    }
    free(c.cells);
    return code;
}

static void print_notes(const struct pleat_term *term,
                        const struct pleat_sim_experiment *experiment)
{
    struct pleat_string text = {0};
    double elapsed_s = 0;
    size_t most[PLEAT_SIM_LEFT + 1] = {0}, jobs = 0;
    char span[PLEAT_TIME_SIZE];
    for (size_t i = 0; i < experiment->run_count; i++) {
        const struct pleat_sim_run *run = &experiment->runs[i];
        elapsed_s += run->elapsed_s;
        jobs += experiment->workload.jobs.count - run->totals.fates[PLEAT_SIM_SKIPPED];
        for (int fate = PLEAT_SIM_DONE + 1; fate <= PLEAT_SIM_LEFT; fate++)
            most[fate] =
                run->totals.fates[fate] > most[fate] ? run->totals.fates[fate] : most[fate];
    }
    for (int fate = PLEAT_SIM_DONE + 1; fate <= PLEAT_SIM_LEFT; fate++)
        add_count(&text, most[fate], pleat_sim_fate_name((enum pleat_sim_fate)fate));
    if (text.length) {
        pleat_string_add(&text, " (in the run with most)");
        line(term, "jobs", &text);
    }
    pleat_string_addf(&text, "%zu runs, simulated in %s of processor time", experiment->run_count,
                      pleat_time_span(elapsed_s, span));
    if (elapsed_s > 0)
        pleat_string_addf(&text, ", %.0f jobs/s on each", (double)jobs / elapsed_s);
    line(term, "speed", &text);
    pleat_string_finish(&text);
}

int pleat_sim_print(const struct pleat_sim_experiment *experiment)
{
    struct pleat_term term;
    pleat_term_init(&term);
    print_workload(&term, experiment);
    print_sites(&term, experiment);
    print_policies(&term, experiment);
    if (experiment->run_count == 1) {
        print_fates(&term, &experiment->runs[0]);
        putchar('\n');
        int code = print_distributions(&experiment->runs[0]);
        putchar('\n');
        print_totals(&term, &experiment->runs[0], experiment->request->csv);
        return code;
    }
    if (experiment->request->seeds > 1)
        printf("%-*s%zu, from %" PRIu64 " on: means %s half of the 95 %% confidence interval\n",
               INDENT, "seeds", experiment->request->seeds, experiment->request->seed,
               term.utf8 ? "\u00b1" : "+-");
    putchar('\n');
    int code = print_comparison(&term, experiment);
    putchar('\n');
    print_notes(&term, experiment);
    return code;
}
