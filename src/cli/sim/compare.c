/* compare.c - compares several runs in tables: a row for each combination, then the differences of
 * each from the first, seed by seed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/timefmt.h"
#include "cli/common/entry.h"
#include "cli/common/table.h"
#include "cli/sim/metrics.h"

enum { METRICS_MAX = 20, CELL_SIZE = 160 };

void pleat_sim_value_text(enum pleat_sim_unit unit, double value, char *text, size_t size)
{
    char span[PLEAT_TIME_SIZE];
    double positive = fabs(value);
    const char *sign = value < 0 ? "-" : "";
    if (!isfinite(value))
        snprintf(text, size, "-"); /* no job has a value */
    else if (unit == PLEAT_SIM_SECONDS)
        snprintf(text, size, "%s%s", sign, positive > 0 ? pleat_time_span(positive, span) : "0");
    else if (unit == PLEAT_SIM_RATIO)
        snprintf(text, size, "%.*f", positive < 10 ? 2 : positive < 1000 ? 1 : 0, value);
    else if (unit == PLEAT_SIM_PERCENT)
        snprintf(text, size, "%.1f %%", value * 100);
    else
        snprintf(text, size, "%.0f", value);
}

struct comparison {
    size_t rows, columns;
    const char *titles[METRICS_MAX + 1];
    char *cells; /* rows x columns of CELL_SIZE bytes, the label first */
};

static char *cell_at(const struct comparison *c, size_t row, size_t column)
{
    return c->cells + (row * c->columns + column) * CELL_SIZE;
}

static void set_cell(const struct pleat_term *term, enum pleat_sim_unit unit,
                     struct pleat_estimate estimate, char *cell)
{
    char value[CELL_SIZE], half[CELL_SIZE];
    pleat_sim_value_text(unit, estimate.mean, value, sizeof(value));
    pleat_sim_value_text(unit, estimate.half, half, sizeof(half));
    if (isfinite(estimate.half))
        snprintf(cell, CELL_SIZE, "%.24s %s %.24s", value, term->utf8 ? "\u00b1" : "+-", half);
    else
        snprintf(cell, CELL_SIZE, "%s", value);
}

/* Fills a row for each combination from `from` on. differences: the values are differences from the
 * first combination. */
static int fill(const struct pleat_term *term, const struct pleat_sim_experiment *experiment,
                size_t from, bool differences, struct comparison *c)
{
    const struct pleat_sim_metric *metric;
    c->rows = experiment->request->combinations.count - from;
    c->columns = 1;
    c->titles[0] = differences ? "DIFFERENCE" : "POLICIES";
    while (c->columns <= METRICS_MAX && (metric = pleat_sim_metric_at(c->columns - 1)))
        c->titles[c->columns++] = metric->title;
    c->cells = calloc(c->rows * c->columns, CELL_SIZE);
    if (!c->cells)
        return PLEAT_E_NOMEM;
    for (size_t row = 0; row < c->rows; row++) {
        const char *label = experiment->request->combinations.items[from + row].label;
        snprintf(cell_at(c, row, 0), CELL_SIZE, "%s", *label ? label : "as above");
        for (size_t column = 1; column < c->columns; column++) {
            struct pleat_estimate estimate;
            metric = pleat_sim_metric_at(column - 1);
            if (differences
                    ? pleat_sim_metric_difference(experiment, from + row, metric, &estimate)
                    : pleat_sim_metric_over_seeds(experiment, from + row, metric, &estimate))
                return PLEAT_E_NOMEM;
            set_cell(term, metric->unit, estimate, cell_at(c, row, column));
        }
    }
    return 0;
}

static int print_cells(const struct comparison *c)
{
    struct pleat_column columns[METRICS_MAX + 1] = {{c->titles[0], PLEAT_COLUMN_WRAP}};
    for (size_t column = 1; column < c->columns; column++)
        columns[column] = (struct pleat_column){c->titles[column], PLEAT_COLUMN_NUMBER};
    struct pleat_table *table = pleat_table_create(columns, c->columns);
    for (size_t row = 0; row < c->rows; row++) {
        pleat_table_row(table);
        for (size_t column = 0; column < c->columns; column++)
            pleat_table_set(table, column, cell_at(c, row, column));
    }
    int code = pleat_table_print(table);
    pleat_table_destroy(table);
    return code;
}

static int print_table(const struct pleat_term *term, const struct pleat_sim_experiment *experiment,
                       size_t first, bool differences)
{
    struct comparison c = {0};
    struct pleat_error err;
    int code = 0;
    if (fill(term, experiment, first, differences, &c)) {
        pleat_error_set(&err, PLEAT_E_NOMEM, "cannot print the table: out of memory");
        code = pleat_fail(&err);
    } else {
        code = print_cells(&c);
    }
    free(c.cells);
    return code;
}

int pleat_sim_compare(const struct pleat_term *term, const struct pleat_sim_experiment *experiment)
{
    const struct pleat_sim_combinations *all = &experiment->request->combinations;
    bool differ = false;
    int code = print_table(term, experiment, 0, false);
    for (size_t i = 0; i < all->count; i++)
        differ = differ || pleat_sim_seeds_differ(experiment, i);
    if (code || all->count < 2 || experiment->request->seeds < 2 || !differ)
        return code;
    struct pleat_string text = {0};
    pleat_string_addf(
        &text,
        "Less %s, run by run with the same seed%s; where 0 is not within the interval, it is not "
        "chance (95 %%):",
        all->items[0].label, experiment->variation == PLEAT_SIM_WORKLOADS ? " and workload" : "");
    putchar('\n');
    pleat_entry_print(term, 0, pleat_entry_width(term, PLEAT_PIPE_WIDTH), "",
                      text.text ? text.text : "");
    pleat_string_finish(&text);
    return print_table(term, experiment, 1, true);
}
