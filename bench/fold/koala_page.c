/* koala_page.c - tables of what was live, beside what was simulated. */
#include "koala.h"

#include <math.h>

#define ALIKE 0.10

void koala_write_feed(struct pleat_page *page, const struct koala_results *results)
{
    const struct live_changes *changes = &results->feed.changes;
    pleat_page_heading(page, "What the programs take");
    pleat_page_paragraph(
        page,
        "Seconds from a job's start to its end, alone on the machine, at the head of the run. "
        "Starting its ranks is in them, which the paper's times of minutes hardly show. A growth "
        "by a rank let a program stand still for %.2f s, and for %.2f s more for each rank more; "
        "a shrink for %.3f s (%.0f, %.0f and %.1f s of the paper's, which does not tell it), and "
        "%.2f s later its processors were free. Before it stood still for a growth the new ranks "
        "started for %.2f s "
        "while the program went on, and was not shrunk for waiting jobs. From its submission to "
        "its start "
        "a job took %.2f s.",
        changes->grow_s, changes->more_s, changes->shrink_s, changes->grow_s * KOALA_SCALE,
        changes->more_s * KOALA_SCALE, changes->shrink_s * KOALA_SCALE, changes->free_s,
        changes->before_s, results->feed.start_s);
    pleat_page_table(page, "program|stands for|<processors|seconds|over 2 processors|of the paper, "
                           "scaled, s");
    for (int app = 0; app < KOALA_APPS; app++) {
        const struct koala_program *program = &koala_programs[app];
        for (int i = 0; i < KOALA_SIZES && program->sizes[i]; i++) {
            pleat_page_cell(page, "%s", program->program);
            pleat_page_cell(page, "%s", program->stands_for);
            pleat_page_cell(page, "%d", program->sizes[i]);
            pleat_page_cell(page, "%.2f", results->feed.seconds[app][i]);
            pleat_page_cell(page, "%.2f",
                            results->feed.seconds[app][i] / results->feed.seconds[app][0]);
            if (i == 0)
                pleat_page_cell(page, "%.2f", program->two_s / KOALA_SCALE);
            else if (program->sizes[i] == koala_largest((enum koala_app)app))
                pleat_page_cell(page, "%.2f (at best)", program->best_s / KOALA_SCALE);
            else
                pleat_page_cell(page, "%s", "");
        }
    }
}

/* ---- value by value ---- */

static double over(const struct koala_cell *cell, int source, int metric)
{
    return bench_median(&cell->of[KOALA_LIVE][metric]) / bench_median(&cell->of[source][metric]);
}

/* Medians: of a share or a number that may be 0 in a round there is no ratio by rounds. */
static bool is_alike(const struct koala_cell *cell, int source, int metric)
{
    double live = bench_median(&cell->of[KOALA_LIVE][metric]);
    double other = bench_median(&cell->of[source][metric]);
    return fabs(live - other) <= ALIKE * fmin(fabs(live), fabs(other)) + 1e-9;
}

static void add_reason(struct pleat_page *page, const struct koala_cell *cell, int metric)
{
    if (is_alike(cell, KOALA_FED, metric))
        pleat_page_cell(page, "%s", "");
    else if (is_alike(cell, KOALA_CHANGES, metric))
        pleat_page_cell(page, "changes");
    else if (is_alike(cell, KOALA_STRETCHED, metric))
        pleat_page_cell(page, "job times (x %.2f FT, x %.2f GADGET 2)",
                        bench_median(&cell->stretch[KOALA_FT]),
                        bench_median(&cell->stretch[KOALA_GADGET]));
    else if (is_alike(cell, KOALA_EACH, metric))
        pleat_page_cell(page, "single jobs");
    else if (live_is_between(&cell->of[KOALA_LIVE][metric], &cell->least[metric],
                             &cell->most[metric], ALIKE))
        pleat_page_cell(page, "order (%.2f to %.2f)", bench_median(&cell->least[metric]),
                        bench_median(&cell->most[metric]));
    else
        pleat_page_cell(page, "not explained (%.2f to %.2f)", bench_median(&cell->least[metric]),
                        bench_median(&cell->most[metric]));
}

static void add_row(struct pleat_page *page, const struct koala_cell *cell, int metric)
{
    double ratio = over(cell, KOALA_FED, metric);
    pleat_page_cell(page, "%s", koala_metric_names[metric]);
    eval_cell_series(page, &cell->of[KOALA_LIVE][metric]);
    pleat_page_cell(page, "%.2f", bench_median(&cell->of[KOALA_FED][metric]));
    if (isfinite(ratio))
        pleat_page_cell(page, "%.2f", ratio);
    else
        pleat_page_cell(page, "-");
    add_reason(page, cell, metric);
}

static void add_slowing(struct pleat_page *page, const struct koala_results *results, int approach)
{
    pleat_page_paragraph(page,
                         "What slowed jobs down (medians over rounds): how busy the "
                         "machine's two processors were, how long a growth and a shrink took, "
                         "until the processors of a shrink were free, and for how long ranks of a "
                         "growth started, and jobs as at the head, "
                         "at the sizes that they had and without "
                         "changes, would have been faster by:");
    pleat_page_table(page,
                     "run|processors busy, of 2|a growth by one, s|at the head|each rank more, "
                     "s|at the head|a shrink, s|at the head|until free, s|at the "
                     "head|ranks start, s|at the head|FT|GADGET 2");
    for (int run = 0; run < KOALA_RUNS; run++) {
        const struct koala_cell *cell = &results->cells[approach][run];
        if (!results->wanted[approach][run])
            continue;
        pleat_page_cell(page, "%s", koala_run_name(approach, run));
        pleat_page_cell(page, "%.2f", bench_median(&cell->busy));
        pleat_page_cell(page, "%.2f", bench_median(&cell->grow_s));
        pleat_page_cell(page, "%.2f", results->feed.changes.grow_s);
        pleat_page_cell(page, "%.2f", bench_median(&cell->more_s));
        pleat_page_cell(page, "%.2f", results->feed.changes.more_s);
        pleat_page_cell(page, "%.2f", bench_median(&cell->shrink_s));
        pleat_page_cell(page, "%.2f", results->feed.changes.shrink_s);
        pleat_page_cell(page, "%.2f", bench_median(&cell->free_s));
        pleat_page_cell(page, "%.2f", results->feed.changes.free_s);
        pleat_page_cell(page, "%.2f", bench_median(&cell->before_s));
        pleat_page_cell(page, "%.2f", results->feed.changes.before_s);
        pleat_page_cell(page, "x %.2f", bench_median(&cell->stretch[KOALA_FT]));
        pleat_page_cell(page, "x %.2f", bench_median(&cell->stretch[KOALA_GADGET]));
    }
}

void koala_write_tables(struct pleat_page *page, const struct koala_results *results, int approach)
{
    add_slowing(page, results, approach);
    pleat_page_paragraph(page, "Live: the median over rounds, in brackets the least and the most. "
                               "Ratios are of medians.");
    pleat_page_table(page, "run|<value (panel)|live|simulated|live over simulated|<why");
    for (int run = 0; run < KOALA_RUNS; run++)
        for (int m = 0; m < KOALA_METRICS; m++) {
            if (!results->wanted[approach][run] ||
                (m == KOALA_SHRINKS && approach == KOALA_PRA)) /* there is none */
                continue;
            pleat_page_cell(page, "%s", koala_run_name(approach, run));
            add_row(page, &results->cells[approach][run], m);
        }
}
