/* virtual_page.c - tables and figures of what was live, beside what was simulated. */
#include "virtual.h"

#include <math.h>
#include <stdio.h>

#define ALIKE 0.10

/* ---- what went in ---- */

static void add_fit(struct pleat_page *page, enum virtual_app app, const double *seconds)
{
    struct virtual_model model = virtual_fit(app, seconds);
    if (model.overhead > 0)
        pleat_page_cell(page, "mpl-overhead=%.2f", model.overhead);
    else
        pleat_page_cell(page, "imbalance=%.2f", model.imbalance);
}

void virtual_write_feed(struct pleat_page *page, const struct virtual_results *results)
{
    const struct virtual_feed *feed = &results->feed;
    pleat_page_heading(page, "What the programs take");
    pleat_page_paragraph(
        page,
        "Seconds from a job's start to its end, as the scheduler ran them at the head of the same "
        "run, medians. Starting and ending the processes is in them: of a program that computes "
        "for less than a millisecond that takes %.3f s with one process, %.3f with two on both "
        "processors, %.3f with two on one. The simulator has the first three columns exactly: what "
        "folding costs goes into the parameter of the last one. A change of the number of "
        "processors took %.1f ms.",
        feed->start_s[VIRTUAL_ONE], feed->start_s[VIRTUAL_WIDE], feed->start_s[VIRTUAL_FOLDED],
        1e3 * feed->change_s);
    pleat_page_table(page, "job|<stands for|<processes|1 process on 1 processor|all on both|all on "
                           "1|1 on 1, the other busy|all on 1, the other busy|<as parameter");
    for (int app = 0; app < VIRTUAL_APPS; app++) {
        if (!(feed->alone_s[app][VIRTUAL_ONE] > 0))
            continue;
        pleat_page_cell(page, "%s", virtual_programs[app].name);
        pleat_page_cell(page, "%s", virtual_programs[app].stands_for);
        pleat_page_cell(page, "1 or %d", virtual_programs[app].parallel);
        for (int place = 0; place < VIRTUAL_PLACES; place++)
            pleat_page_cell(page, "%.3f", feed->alone_s[app][place]);
        pleat_page_cell(page, "%.3f", feed->beside_s[app][VIRTUAL_ONE]);
        pleat_page_cell(page, "%.3f", feed->beside_s[app][VIRTUAL_FOLDED]);
        add_fit(page, (enum virtual_app)app, feed->alone_s[app]);
    }
    pleat_page_table(page, "workload|load wanted, long|short|load drawn|long jobs|short jobs");
    for (int mix = 0; mix < VIRTUAL_MIXES; mix++) {
        if (!results->mix_wanted[mix])
            continue;
        pleat_page_cell(page, "%s", virtual_loads[mix].name);
        for (int class_ = 0; class_ < VIRTUAL_CLASSES; class_++)
            pleat_page_cell(page, "%.0f %%", 100 * virtual_loads[mix].share[class_]);
        pleat_page_cell(page, "%.0f %%", 100 * bench_median(&results->offered[mix]));
        for (int class_ = 0; class_ < VIRTUAL_CLASSES; class_++)
            pleat_page_cell(page, "%d", results->jobs[mix][class_]);
    }
}

/* ---- value by value ---- */

/* The median over rounds of live over simulated. */
static double over(const struct virtual_cell *cell, int source, int metric)
{
    struct bench_paired ratio =
        bench_paired(&cell->of[VIRTUAL_LIVE][metric], &cell->of[source][metric]);
    return ratio.median;
}

static bool is_alike(double ratio)
{
    return ratio < 1 + ALIKE && ratio > 1 / (1 + ALIKE);
}

/* class_: of the jobs that may have been slower; VIRTUAL_CLASSES: of all. */
static void add_reason(struct pleat_page *page, const struct virtual_cell *cell, int metric,
                       int class_)
{
    if (is_alike(over(cell, VIRTUAL_ALONE, metric)))
        pleat_page_cell(page, "%s", "");
    else if (is_alike(over(cell, VIRTUAL_NEIGHBOUR, metric)))
        pleat_page_cell(page, "the neighbour");
    else if (!is_alike(over(cell, VIRTUAL_STRETCHED, metric)) &&
             live_is_between(&cell->of[VIRTUAL_LIVE][metric], &cell->least[metric],
                             &cell->most[metric], ALIKE))
        pleat_page_cell(page, "order (%.2f to %.2f)", bench_median(&cell->least[metric]),
                        bench_median(&cell->most[metric]));
    else if (!is_alike(over(cell, VIRTUAL_STRETCHED, metric)))
        pleat_page_cell(page, "not explained");
    else if (class_ < VIRTUAL_CLASSES)
        pleat_page_cell(page, "job times (x %.2f)", bench_median(&cell->stretch[class_]));
    else
        pleat_page_cell(page, "job times (x %.2f long, x %.2f short)",
                        bench_median(&cell->stretch[VIRTUAL_LONG]),
                        bench_median(&cell->stretch[VIRTUAL_SHORT]));
}

/* Live, with the spread over rounds; simulated; one over the other. */
static void add_values(struct pleat_page *page, const struct virtual_cell *cell, int metric)
{
    eval_cell_series(page, &cell->of[VIRTUAL_LIVE][metric]);
    pleat_page_cell(page, "%.2f", bench_median(&cell->of[VIRTUAL_ALONE][metric]));
    pleat_page_cell(page, "%.2f", over(cell, VIRTUAL_ALONE, metric));
}

static void add_class(struct pleat_page *page, const struct virtual_cell *cell, int class_)
{
    static const int metrics[] = {VIRTUAL_RESPONSE, VIRTUAL_WAIT, VIRTUAL_EXECUTION,
                                  VIRTUAL_SLOWDOWN};
    int response = virtual_metric(class_, VIRTUAL_RESPONSE);
    for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++) {
        int metric = virtual_metric(class_, metrics[i]);
        /* waiting is often next to nothing: a ratio would say nothing */
        if (metrics[i] == VIRTUAL_WAIT || metrics[i] == VIRTUAL_EXECUTION) {
            pleat_page_cell(page, "%.2f", bench_median(&cell->of[VIRTUAL_LIVE][metric]));
            pleat_page_cell(page, "%.2f", bench_median(&cell->of[VIRTUAL_ALONE][metric]));
        } else {
            add_values(page, cell, metric);
        }
    }
    add_reason(page, cell, response, class_);
}

static void add_all(struct pleat_page *page, const struct virtual_cell *cell)
{
    const struct bench_series *live = cell->of[VIRTUAL_LIVE], *sim = cell->of[VIRTUAL_ALONE];
    add_values(page, cell, VIRTUAL_UTILIZATION);
    add_reason(page, cell, VIRTUAL_UTILIZATION, VIRTUAL_CLASSES);
    add_values(page, cell, VIRTUAL_MAKESPAN);
    add_reason(page, cell, VIRTUAL_MAKESPAN, VIRTUAL_CLASSES);
    pleat_page_cell(page, "%.0f", bench_median(&live[VIRTUAL_RESIZES]));
    pleat_page_cell(page, "%.0f", bench_median(&sim[VIRTUAL_RESIZES]));
    pleat_page_cell(page, "%.0f", bench_median(&live[VIRTUAL_STARTS]));
    pleat_page_cell(page, "%.0f", bench_median(&sim[VIRTUAL_STARTS]));
}

/* A table with a row for each workload and policy. class_: VIRTUAL_CLASSES: of all jobs. */
static void add_table(struct pleat_page *page, const struct virtual_results *results, int chapter,
                      int class_, const char *titles)
{
    pleat_page_table(page, titles);
    for (int mix = 0; mix < VIRTUAL_MIXES; mix++)
        for (int policy = 0; policy < VIRTUAL_POLICIES; policy++) {
            const struct virtual_cell *cell = &results->cells[mix][policy];
            if (virtual_loads[mix].chapter != chapter ||
                !virtual_is_run(results, (enum virtual_mix)mix, (enum virtual_policy)policy))
                continue;
            pleat_page_cell(page, "%s", virtual_loads[mix].name);
            pleat_page_cell(page, "%s", virtual_rules[policy].name);
            if (class_ < VIRTUAL_CLASSES)
                add_class(page, cell, class_);
            else
                add_all(page, cell);
        }
}

void virtual_write_tables(struct pleat_page *page, const struct virtual_results *results,
                          int chapter)
{
    static const char by_class[] =
        "workload|<policy|response, s: live|simulated|live over simulated|wait, s: "
        "live|simulated|execution, s: live|simulated|"
        "slowdown: live|simulated|live over simulated|<why the responses differ";
    pleat_page_subheading(page, "Long jobs");
    pleat_page_paragraph(page, "Live: the median over rounds, in brackets the least and the most.");
    add_table(page, results, chapter, VIRTUAL_LONG, by_class);
    pleat_page_subheading(page, "Short jobs");
    add_table(page, results, chapter, VIRTUAL_SHORT, by_class);
    pleat_page_subheading(page, "All jobs");
    add_table(page, results, chapter, VIRTUAL_CLASSES,
              "workload|<policy|utilization: live|simulated|live over simulated|<why|makespan, s: "
              "live|simulated|live over simulated|<why|resizes: live|simulated|aborted: live|"
              "simulated");
}

/* ---- figures 5.6 to 5.9, 6.4 to 6.7 ---- */

enum { BARS = 4 }; /* at most */

struct panel {
    double x[BARS], y[VIRTUAL_POLICIES][BARS], low[VIRTUAL_POLICIES][BARS],
        high[VIRTUAL_POLICIES][BARS];
    const char *names[BARS];
    struct pleat_plot_series series[VIRTUAL_POLICIES];
    struct pleat_plot_band bands[VIRTUAL_POLICIES];
};

struct drawn {
    const char *name, *caption;
    int class_;
    enum virtual_mix first;
    int step, bars; /* from workload to workload; how many */
};

/* Under a policy that runs all workloads of a figure. */
static bool is_shown(const struct virtual_results *results, const struct drawn *drawn,
                     enum virtual_policy policy)
{
    return results->policy_wanted[policy] && virtual_has(drawn->first, policy);
}

static struct pleat_plot panel_of(struct panel *panel, const struct virtual_results *results,
                                  int source, const struct drawn *drawn, const char *title)
{
    int bars = 0, shown = 0, metric = virtual_metric(drawn->class_, VIRTUAL_RESPONSE);
    enum virtual_mix mixes[BARS];
    for (int i = 0; i < drawn->bars; i++) {
        enum virtual_mix mix = (enum virtual_mix)((int)drawn->first + i * drawn->step);
        if (results->mix_wanted[mix])
            mixes[bars++] = mix;
    }
    for (int policy = 0; policy < VIRTUAL_POLICIES; policy++) {
        if (!is_shown(results, drawn, (enum virtual_policy)policy))
            continue;
        for (int i = 0; i < bars; i++) {
            const struct bench_series *series =
                &results->cells[mixes[i]][policy].of[source][metric];
            panel->x[i] = i;
            panel->names[i] = virtual_loads[mixes[i]].name;
            panel->y[shown][i] = bench_median(series);
            panel->low[shown][i] = bench_quantile(series, 0);
            panel->high[shown][i] = bench_quantile(series, 1);
        }
        panel->series[shown] = (struct pleat_plot_series){virtual_rules[policy].name, panel->x,
                                                          panel->y[shown], (size_t)bars};
        panel->bands[shown] = (struct pleat_plot_band){panel->low[shown], panel->high[shown]};
        shown++;
    }
    return (struct pleat_plot){.title = title,
                               .x_label = "workload",
                               .y_label = "response, s",
                               .style = PLEAT_PLOT_BARS,
                               .series = panel->series,
                               .bands = panel->bands,
                               .series_count = (size_t)shown,
                               .x_names = panel->names};
}

int virtual_draw_figures(struct pleat_page *page, const struct virtual_results *results,
                         int chapter, struct pleat_error *err)
{
    static struct panel panels[2];
    static const struct drawn figures[] = {
        {"figure-5-6",
         "Figure 5.6 anew: response of long jobs, w1 to w3; bars: medians, lines: "
         "least and most of the rounds",
         VIRTUAL_LONG, VIRTUAL_W1, 1, 3},
        {"figure-5-7", "Figure 5.7 anew: response of short jobs, w1 to w3", VIRTUAL_SHORT,
         VIRTUAL_W1, 1, 3},
        {"figure-5-8", "Figure 5.8 anew: response of long jobs, w4 to w6", VIRTUAL_LONG, VIRTUAL_W4,
         1, 3},
        {"figure-5-9", "Figure 5.9 anew: response of short jobs, w4 to w6", VIRTUAL_SHORT,
         VIRTUAL_W4, 1, 3},
        {"figure-6-4", "Figure 6.4 anew: response of long jobs that communicate much", VIRTUAL_LONG,
         VIRTUAL_HIGH_40, 2, 4},
        {"figure-6-5", "Figure 6.5 anew: response of short jobs beside them", VIRTUAL_SHORT,
         VIRTUAL_HIGH_40, 2, 4},
        {"figure-6-6", "Figure 6.6 anew: response of long jobs that communicate little",
         VIRTUAL_LONG, VIRTUAL_LOW_40, 2, 4},
        {"figure-6-7", "Figure 6.7 anew: response of short jobs beside them", VIRTUAL_SHORT,
         VIRTUAL_LOW_40, 2, 4},
    };
    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
        if (virtual_loads[figures[i].first].chapter != chapter ||
            !results->mix_wanted[figures[i].first])
            continue;
        const struct pleat_plot plots[] = {
            panel_of(&panels[0], results, VIRTUAL_LIVE, &figures[i], "live"),
            panel_of(&panels[1], results, VIRTUAL_ALONE, &figures[i], "simulated")};
        int rc = pleat_page_figure(page, figures[i].name, figures[i].caption, plots, 2, 1, err);
        if (rc)
            return rc;
    }
    return 0;
}
