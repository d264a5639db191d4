/* koala_figure.c - the six panels of figures 7 and 8, live on the left, simulated on the right. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "koala.h"

enum { AVERAGES, MAXIMA, EXECUTIONS, RESPONSES, USED, RESIZES, PANELS };
enum { PLACES = 100 }; /* at which a curve over time is drawn */

struct line {
    struct pleat_curve curve;
    bool is_there;
};

static const struct {
    const char *letter, *x_label, *y_label;
} about[PANELS] = {{"a", "average size, processors", "share of jobs"},
                   {"b", "maximum size, processors", "share of jobs"},
                   {"c", "execution time, s", "share of jobs"},
                   {"d", "response time, s", "share of jobs"},
                   {"e", "seconds", "processors in use"},
                   {"f", "seconds", "resizes so far"}};

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static double value_of(const struct live_outcome *of, int panel)
{
    switch (panel) {
    case AVERAGES:
        return live_average(of);
    case MAXIMA:
        return live_largest(of);
    case EXECUTIONS:
        return live_run_s(of);
    default:
        return live_response_s(of);
    }
}

/* The jobs of all rounds together. Sizes are those of malleable jobs. */
static int draw_shares(struct line *line, const struct koala_results *results, int approach,
                       int run, int source, int panel)
{
    const struct koala_cell *cell = &results->cells[approach][run];
    size_t count = 0;
    double *values = calloc((size_t)cell->rounds * KOALA_JOBS, sizeof(*values));
    if (!values)
        return PLEAT_E_NOMEM;
    for (int round = 0; round < cell->rounds; round++)
        for (int i = 0; i < KOALA_JOBS; i++) {
            bool is_rigid = koala_is_mixed(run) && results->jobs[approach][round][i].is_rigid;
            if (!is_rigid || panel >= EXECUTIONS)
                values[count++] = value_of(&cell->outcomes[source][round * KOALA_JOBS + i], panel);
        }
    qsort(values, count, sizeof(*values), compare);
    int rc = pleat_curve_shares(&line->curve, values, count);
    free(values);
    return rc;
}

/* What a job has at a time: processors, or changes of its size behind it. */
static double level_of(const struct live_outcome *of, double at_s, int panel)
{
    int before = 0, changes = 0;
    for (int i = 0; i < of->piece_count && of->pieces[i].at_s <= at_s; i++) {
        int now = of->pieces[i].processors;
        changes += before > 0 && now > 0 && now != before;
        before = now;
    }
    if (panel == RESIZES)
        return changes;
    return at_s < of->end_s ? before : 0;
}

/* Means over rounds. */
static int draw_time(struct line *line, const struct koala_cell *cell, int source, int panel)
{
    double end_s = 0;
    int count = cell->rounds * KOALA_JOBS;
    line->curve = (struct pleat_curve){
        .x = calloc(PLACES, sizeof(double)), .y = calloc(PLACES, sizeof(double)), .count = PLACES};
    if (!line->curve.x || !line->curve.y)
        return PLEAT_E_NOMEM;
    for (int i = 0; i < count; i++)
        end_s = fmax(end_s, cell->outcomes[source][i].end_s);
    for (int place = 0; place < PLACES; place++) {
        line->curve.x[place] = end_s * place / (PLACES - 1);
        for (int i = 0; i < count; i++)
            line->curve.y[place] +=
                level_of(&cell->outcomes[source][i], line->curve.x[place], panel) / cell->rounds;
    }
    return 0;
}

static int draw(struct line *line, const struct koala_results *results, int approach, int run,
                int source, int panel)
{
    const struct koala_cell *cell = &results->cells[approach][run];
    line->is_there = results->wanted[approach][run] && cell->rounds > 0;
    if (!line->is_there)
        return 0;
    return panel < USED ? draw_shares(line, results, approach, run, source, panel)
                        : draw_time(line, cell, source, panel);
}

static struct pleat_plot panel_of(const struct line *lines, int approach, int panel, int source,
                                  char title[64], struct pleat_plot_series *series)
{
    size_t count = 0;
    for (int run = 0; run < KOALA_RUNS; run++)
        if (lines[run].is_there)
            series[count++] = pleat_curve_series(&lines[run].curve, koala_run_name(approach, run));
    /* short, as the key stands beside it */
    snprintf(title, 64, "(%s) %s", about[panel].letter,
             source == KOALA_LIVE ? "live" : "simulated");
    return (struct pleat_plot){.title = title,
                               .x_label = about[panel].x_label,
                               .y_label = about[panel].y_label,
                               .style = PLEAT_PLOT_STEPS,
                               .y_most = panel < USED ? 1 : 0,
                               .series = series,
                               .series_count = count};
}

int koala_figure(struct pleat_page *page, const struct koala_results *results, int approach,
                 struct pleat_error *err)
{
    static struct line lines[PANELS * KOALA_KEPT][KOALA_RUNS];
    static struct pleat_plot_series series[PANELS * KOALA_KEPT][KOALA_RUNS];
    static char titles[PANELS * KOALA_KEPT][64];
    struct pleat_plot panels[PANELS * KOALA_KEPT];
    int rc = 0;
    bool any = false;
    memset(lines, 0, sizeof(lines));
    for (int i = 0; i < PANELS * KOALA_KEPT; i++) {
        int panel = i / KOALA_KEPT, source = i % KOALA_KEPT;
        for (int run = 0; !rc && run < KOALA_RUNS; run++) {
            rc = draw(&lines[i][run], results, approach, run, source, panel);
            any = any || lines[i][run].is_there;
        }
        panels[i] = panel_of(lines[i], approach, panel, source, titles[i], series[i]);
    }
    if (rc)
        rc = pleat_error_set(err, rc, "out of memory for the figure");
    else if (any)
        rc = pleat_page_figure(
            page, approach == KOALA_PRA ? "figure-7" : "figure-8",
            approach == KOALA_PRA
                ? "Figure 7 anew: PRA; jobs of all rounds, (e) and (f) means over rounds"
                : "Figure 8 anew: PWA; jobs of all rounds, (e) and (f) means over rounds",
            panels, sizeof(panels) / sizeof(panels[0]), KOALA_KEPT, err);
    for (size_t i = 0; i < sizeof(panels) / sizeof(panels[0]); i++)
        for (int run = 0; run < KOALA_RUNS; run++)
            pleat_curve_finish(&lines[i][run].curve);
    return rc;
}
