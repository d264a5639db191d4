/* demand_page.c - figures and tables: live beside simulated. */
#include "demand/demand.h"

#include <math.h>
#include <stdio.h>

#define ALIKE 0.10

static const char *const source_names[DEMAND_SOURCES] = {"live", "simulated",
                                                         "simulated, requests known"};

/* ---- figures ---- */

struct lines {
    double x[DEMAND_EXECUTIONS], y[DEMAND_POLICIES][DEMAND_EXECUTIONS];
};

/* The median over rounds of each execution. */
static void take_lines(const struct bench_series of[DEMAND_POLICIES][DEMAND_EXECUTIONS],
                       int executions, struct lines *lines)
{
    for (int e = 0; e < executions; e++) {
        lines->x[e] = e + 1;
        for (int policy = 0; policy < DEMAND_POLICIES; policy++)
            lines->y[policy][e] = of[policy][e].count ? bench_median(&of[policy][e]) : (double)NAN;
    }
}

static int draw(struct pleat_page *page, const struct demand_results *results, bool waste,
                struct pleat_error *err)
{
    struct lines lines[DEMAND_SOURCES];
    struct pleat_plot_series series[DEMAND_SOURCES][DEMAND_POLICIES];
    struct pleat_plot panels[DEMAND_SOURCES];
    int executions = results->demand.scale.executions;
    for (int source = 0; source < DEMAND_SOURCES; source++) {
        take_lines(waste ? results->w[source] : results->s[source], executions, &lines[source]);
        for (int policy = 0; policy < DEMAND_POLICIES; policy++)
            series[source][policy] =
                (struct pleat_plot_series){demand_policies[policy].name, lines[source].x,
                                           lines[source].y[policy], (size_t)executions};
        panels[source] = (struct pleat_plot){.title = source_names[source],
                                             .x_label = "execution",
                                             .y_label = waste ? "W, processor seconds" : "S",
                                             .style = PLEAT_PLOT_LINES,
                                             .y_most = waste ? 0 : 1.05,
                                             .series = series[source],
                                             .series_count = DEMAND_POLICIES};
    }
    return pleat_page_figure(page, waste ? "figure-5" : "figure-4",
                             waste ? "Figure 5 anew, resource waste: live, and simulated with the "
                                     "measured delay (medians over rounds)"
                                   : "Figure 4 anew, request satisfaction: live, and simulated "
                                     "with the measured delay (medians over rounds)",
                             panels, DEMAND_SOURCES, DEMAND_SOURCES, err);
}

/* What is asked for, step by step. */
static int draw_demand(struct pleat_page *page, const struct demand *demand,
                       struct pleat_error *err)
{
    static double x[DEMAND_STEPS_MAX], wanted[DEMAND_STEPS_MAX];
    for (int step = 0; step < demand->steps; step++) {
        x[step] = step;
        wanted[step] = demand->rows[step].wanted;
    }
    const struct pleat_plot_series series = {"processes", x, wanted, (size_t)demand->steps};
    const struct pleat_plot panel = {.title = "wanted by flow",
                                     .x_label = "step",
                                     .y_label = "processes",
                                     .style = PLEAT_PLOT_STEPS,
                                     .series = &series,
                                     .series_count = 1};
    return pleat_page_figure(page, "demand", "What each execution asks for", &panel, 1, 1, err);
}

int demand_draw(struct pleat_page *page, const struct demand_results *results,
                struct pleat_error *err)
{
    int rc = draw(page, results, false, err);
    if (!rc)
        rc = draw(page, results, true, err);
    return rc ? rc : draw_demand(page, &results->demand, err);
}

/* ---- tables ---- */

static bool is_alike(double live, double simulated)
{
    return fabs(live - simulated) <= ALIKE * fmax(fabs(live), fabs(simulated)) + 1e-9;
}

/* What can be between the two simulated ones is found if it is there, or near one of them. */
static bool is_found(const double means[DEMAND_SOURCES])
{
    double live = means[DEMAND_LIVE], one = means[DEMAND_SIMULATED], other = means[DEMAND_KNOWN];
    return is_alike(live, one) || is_alike(live, other) ||
           (live > fmin(one, other) && live < fmax(one, other));
}

/* Live over each simulated one; once, if that is the same. */
static void add_ratio(struct pleat_page *page, const double means[DEMAND_SOURCES])
{
    if (means[DEMAND_SIMULATED] <= 0 || means[DEMAND_KNOWN] <= 0) {
        pleat_page_cell(page, "-");
        return;
    }
    double ratio = means[DEMAND_LIVE] / means[DEMAND_SIMULATED];
    double other = means[DEMAND_LIVE] / means[DEMAND_KNOWN];
    if (fabs(ratio - other) < 0.005)
        pleat_page_cell(page, "%.2f", ratio);
    else
        pleat_page_cell(page, "%.2f, %.2f", ratio, other);
}

static void
add_row(struct pleat_page *page, int policy, const char *value, int first, int end,
        const struct bench_series of[DEMAND_SOURCES][DEMAND_POLICIES][DEMAND_EXECUTIONS],
        double scale)
{
    struct bench_series live = demand_values(of[DEMAND_LIVE][policy], first, end);
    double means[DEMAND_SOURCES];
    for (int source = 0; source < DEMAND_SOURCES; source++) {
        struct bench_series values = demand_values(of[source][policy], first, end);
        means[source] = demand_mean(&values) * scale;
    }
    pleat_page_cell(page, "%s", demand_policies[policy].name);
    pleat_page_cell(page, "%s", value);
    pleat_page_cell(page, "%.2f [%.2f .. %.2f]", means[DEMAND_LIVE],
                    bench_quantile(&live, 0) * scale, bench_quantile(&live, 1) * scale);
    pleat_page_cell(page, "%.2f", means[DEMAND_SIMULATED]);
    pleat_page_cell(page, "%.2f", means[DEMAND_KNOWN]);
    add_ratio(page, means);
    pleat_page_cell(page, "%s", is_found(means) ? "yes" : "**no**");
}

void demand_write_tables(struct pleat_page *page, const struct demand_results *results)
{
    int executions = results->demand.scale.executions;
    int learnt = executions > DEMAND_LEARNT ? DEMAND_LEARNT : executions - 1;
    char later[32];
    snprintf(later, sizeof(later), "from execution %d on", learnt + 1);
    pleat_page_heading(page, "Value by value");
    pleat_page_paragraph(page,
                         "Means over executions and rounds; in brackets the least and the most of "
                         "the live ones. An execution asked for %.1f processes on average. Within "
                         "10 %%: the live mean is, of one of the simulated ones, or it is between "
                         "them.",
                         demand_mean(&results->requests));
    pleat_page_table(
        page,
        "policy|<value|live|simulated|simulated, requests known|live over simulated|<within 10 %");
    for (int policy = 0; policy < DEMAND_POLICIES; policy++) {
        char names[3][64];
        snprintf(names[0], sizeof(names[0]), "S, %%, %s", later);
        snprintf(names[1], sizeof(names[1]), "W, processor seconds, %s", later);
        snprintf(names[2], sizeof(names[2]), "time of its steps, s, %s", later);
        add_row(page, policy, "S, %, first execution", 0, 1, results->s, 100);
        add_row(page, policy, names[0], learnt, executions, results->s, 100);
        add_row(page, policy, "W, processor seconds, first execution", 0, 1, results->w, 1);
        add_row(page, policy, names[1], learnt, executions, results->w, 1);
        add_row(page, policy, names[2], learnt, executions, results->elapsed, 1);
    }
}
