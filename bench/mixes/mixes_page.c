/* mixes_page.c - tables of what was live, beside what was simulated, and the figures. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mixes.h"

#define ALIKE 0.10

void mixes_write_feed(struct pleat_page *page, const struct mixes_results *results)
{
    const struct mixes_feed *feed = &results->feed;
    pleat_page_heading(page, "What the programs take beside what they pretend");
    pleat_page_paragraph(
        page,
        "Alone on the machine, at the head of the run, by two runs of different lengths at each "
        "size: milliseconds of an iteration and, in brackets, of starting and ending. All ranks "
        "share two processors, so more of them are never faster here. A growth by one rank let a "
        "program stand still for %.2f s, and for %.2f s more for each rank more; a shrink for %.3f "
        "s. Before it stood still for a growth the new ranks started for %.2f s, while the program "
        "went on; "
        "%.2f s after a shrink its processors were free.",
        feed->changes.grow_s, feed->changes.more_s, feed->changes.shrink_s, feed->changes.before_s,
        feed->changes.free_s);
    pleat_page_table(page, "program|2|4|6|9|12|16|20|25");
    for (int program = 0; program < MIXES_PROGRAMS; program++) {
        pleat_page_cell(page, "`%s`", mixes_commands[program]);
        for (int i = 0; i < MIXES_SIZES; i++)
            pleat_page_cell(page, "%.1f (%.0f)", 1e3 * feed->iteration_s[program][i],
                            1e3 * feed->start_s[program][i]);
    }
}

static bool is_alike(double a, double b)
{
    return fabs(a - b) <= ALIKE * fmin(fabs(a), fabs(b)) + 1e-9;
}

/* Why the simulation differs by more than 10 %, if it does. */
static void add_reason(struct pleat_page *page, const struct mixes_cell *cell,
                       const struct bench_series of[MIXES_SOURCES])
{
    double live = bench_median(&of[MIXES_LIVE]);
    if (is_alike(live, bench_median(&of[MIXES_FED])))
        pleat_page_cell(page, "%s", "");
    else if (is_alike(live, bench_median(&of[MIXES_CHANGES])))
        pleat_page_cell(page, "changes (%.2f, %.2f and %.3f s; %.2f and %.2f s)",
                        bench_median(&cell->grow_s), bench_median(&cell->more_s),
                        bench_median(&cell->shrink_s), bench_median(&cell->before_s),
                        bench_median(&cell->free_s));
    else if (is_alike(live, bench_median(&of[MIXES_STRETCHED])))
        pleat_page_cell(page, "job times (x %.2f)", bench_median(&cell->stretch));
    else if (of[MIXES_SIZED].count && is_alike(live, bench_median(&of[MIXES_SIZED])))
        pleat_page_cell(page, "sizes at the start");
    else
        pleat_page_cell(page, "not explained");
}

static void add_value(struct pleat_page *page, const struct mixes_cell *cell, const char *way,
                      const char *name, const struct bench_series of[MIXES_SOURCES])
{
    double live = bench_median(&of[MIXES_LIVE]), fed = bench_median(&of[MIXES_FED]);
    pleat_page_cell(page, "%s", way);
    pleat_page_cell(page, "%s", name);
    eval_cell_series(page, &of[MIXES_LIVE]);
    pleat_page_cell(page, "%.2f", fed);
    pleat_page_cell(page, "%.2f", live / fed);
    add_reason(page, cell, of);
}

/* Sizes of the first round. */
static void write_sizes(struct pleat_page *page, const struct mixes_mix *mix,
                        const struct mixes_cell *cell)
{
    static const int sources[] = {MIXES_LIVE, MIXES_FED, MIXES_STRETCHED};
    char text[256];
    pleat_page_paragraph(
        page, "Sizes under `remap`, in the first round. A size is decided when a job comes to an "
              "adaptation point, by who waits and what is idle in that moment: jobs that take a "
              "little longer come to theirs at other moments. The last column is simulated with "
              "changes and jobs that take as long as they did in that round.");
    pleat_page_table(page, "job|<program|<live|<simulated|<with times of that round");
    for (int j = 0; j < mix->count; j++) {
        pleat_page_cell(page, "%d", j);
        pleat_page_cell(page, "`%s`", mixes_commands[mix->jobs[j].program]);
        for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++)
            pleat_page_cell(page, "%s",
                            mixes_sizes_text(&cell->first[sources[i]][j], text, sizeof(text)));
    }
}

/* Seconds from start to end, by job: the thesis's tables 3 and 4. */
static void write_jobs(struct pleat_page *page, const struct mixes_results *results, int mix)
{
    const struct mixes_mix *about = &mixes_mixes[mix];
    pleat_page_paragraph(page,
                         "Seconds from start to end, median over rounds, in brackets simulated%s.",
                         mix == MIXES_FIRST ? " (the thesis's tables 3 and 4, a hundred times as "
                                              "fast; there job 3 is submitted first in the static "
                                              "runs, here at the same time in all)"
                                            : "");
    struct pleat_string titles = {0};
    pleat_string_add(&titles, "job");
    for (int way = 0; way < about->way_count; way++)
        pleat_string_addf(&titles, "|%s", about->ways[way].name);
    pleat_page_table(page, titles.text ? titles.text : "job");
    pleat_string_finish(&titles);
    for (int j = 0; j < about->count; j++) {
        pleat_page_cell(page, "%d", j);
        for (int way = 0; way < about->way_count; way++) {
            const struct mixes_cell *cell = &results->cells[mix][way];
            if (cell->rounds)
                pleat_page_cell(page, "%.2f (%.2f)", bench_median(&cell->job_s[MIXES_LIVE][j]),
                                bench_median(&cell->job_s[MIXES_FED][j]));
            else
                pleat_page_cell(page, "-");
        }
    }
}

void mixes_write_tables(struct pleat_page *page, const struct mixes_results *results, int mix)
{
    const struct mixes_mix *about = &mixes_mixes[mix];
    if (results->cells[mix][0].rounds)
        write_sizes(page, about, &results->cells[mix][0]);
    write_jobs(page, results, mix);
    pleat_page_paragraph(page, "Seconds, live the median over rounds, in brackets the least and "
                               "the most:");
    pleat_page_table(page, "way|<value|live|simulated|live over simulated|<why");
    for (int way = 0; way < about->way_count; way++) {
        const struct mixes_cell *cell = &results->cells[mix][way];
        if (!cell->rounds)
            continue;
        add_value(page, cell, about->ways[way].name, "mean response", cell->response_s);
        add_value(page, cell, about->ways[way].name, "makespan", cell->makespan_s);
    }
}

/* ---- figures 9 and 10 ---- */

enum { POINTS_MAX = 4 * LIVE_PIECES_MAX };

struct line {
    double x[POINTS_MAX], y[POINTS_MAX];
    size_t count;
    char title[16];
};

static void add_point(struct line *line, double x, double y)
{
    if (line->count < POINTS_MAX) {
        line->x[line->count] = x;
        line->y[line->count++] = y;
    }
}

static void draw(struct line *line, const struct live_outcome *of, int job)
{
    *line = (struct line){.count = 0};
    snprintf(line->title, sizeof(line->title), "job %d", job);
    add_point(line, of->start_s, 0);
    for (int i = 0; i < of->piece_count; i++)
        add_point(line, of->pieces[i].at_s, of->pieces[i].processors);
    add_point(line, of->end_s, 0);
}

int mixes_figure(struct pleat_page *page, const struct mixes_results *results, int mix,
                 struct pleat_error *err)
{
    static struct line lines[MIXES_CHANGES][MIXES_JOBS];
    static struct pleat_plot_series series[MIXES_CHANGES][MIXES_JOBS];
    struct pleat_plot panels[MIXES_CHANGES];
    const struct mixes_cell *cell = &results->cells[mix][0];
    const struct mixes_mix *about = &mixes_mixes[mix];
    if (!cell->rounds)
        return 0;
    for (int source = 0; source < MIXES_CHANGES; source++) {
        for (int j = 0; j < about->count; j++) {
            struct line *line = &lines[source][j];
            draw(line, &cell->first[source][j], j);
            series[source][j] =
                (struct pleat_plot_series){line->title, line->x, line->y, line->count};
        }
        panels[source] = (struct pleat_plot){.title = source == MIXES_LIVE ? "live" : "simulated",
                                             .x_label = "seconds",
                                             .y_label = "processors",
                                             .style = PLEAT_PLOT_STEPS,
                                             .series = series[source],
                                             .series_count = (size_t)about->count};
    }
    return pleat_page_figure(page, mix == MIXES_FIRST ? "figure-9" : "figure-10",
                             mix == MIXES_FIRST
                                 ? "Figure 9 anew: sizes in job mix 1 under remap, first round"
                                 : "Figure 10 anew: sizes in job mix 2 under remap, first round",
                             panels, MIXES_CHANGES, MIXES_CHANGES, err);
}
