/* eval_spots.c - figures 4, 5, 7 and 8 of Swaminathan 2004, measured: products and factorizations
 * by ScaLAPACK that compute for real grow from size to size; their iterations, and the moving of
 * their data, at each. There is no scheduler here: this program plays the agent. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "job.h"
#include "mixes.h"

enum { PRODUCT, FACTORS, KINDS };
enum { ORDERS = 3, STEPS = 6, ITERATIONS = 4 };
static const char *const kinds[KINDS] = {"product", "factorization"};
static const char *const orders[ORDERS] = {"256", "512", "1024"};
static const int sizes[STEPS] = {2, 4, 6, 9, 12, 16};

static struct app_job job;
static int orders_wanted = ORDERS, steps_wanted = STEPS;
static struct bench_series iteration_ms[KINDS][ORDERS][STEPS];
/* from the size before: all that the program stands still for, and of that moving the data */
static struct bench_series change_ms[KINDS][ORDERS][STEPS], moving_ms[KINDS][ORDERS][STEPS];

static void plan(struct eval *eval)
{
    if (eval->quick)
        orders_wanted = 1, steps_wanted = 2;
}

static int runs(void)
{
    return 0; /* its runs are short: progress is that of the mixes */
}

/* The mean time of an iteration, once there were some at this size. */
static double iteration(void)
{
    uint64_t from = app_job_status(&job).iteration;
    while (app_job_status(&job).iteration < from + ITERATIONS ||
           app_job_status(&job).iteration_ns == 0)
        app_job_listen(&job);
    return (double)app_job_status(&job).iteration_ns / 1e6;
}

/* Ended when all sizes were there: how long that takes is not known before. */
static void run(int kind, int order)
{
    char program[256], until[96];
    snprintf(until, sizeof(until), "/dev/shm/pleat-bench-%d-spots", (int)getpid());
    snprintf(program, sizeof(program), "%s/dense", trial_apps(TRIAL_OPENMPI));
    const char *const command[] = {
        program, "--n", orders[order], "--until", until, kind == FACTORS ? "--lu" : NULL, NULL};
    const struct app_job_options options = {.ranks = sizes[0], .limit_s = 600};
    app_job_start(&job, &options, command);
    app_job_wait_begun(&job);
    for (int i = 0; i < steps_wanted; i++) {
        if (i > 0) {
            struct pleat_mailbox_status status = app_job_resize(&job, (uint32_t)sizes[i]);
            APP_CHECK(&job, status.phase == PLEAT_MAILBOX_APPLIED);
            bench_add(&change_ms[kind][order][i], (double)status.cost.total_ns / 1e6);
            bench_add(&moving_ms[kind][order][i], (double)status.cost.redistribute_ns / 1e6);
        }
        bench_add(&iteration_ms[kind][order][i], iteration());
    }
    FILE *file = fopen(until, "w");
    APP_CHECK(&job, file);
    fclose(file);
    bench_job_end();
    (void)unlink(until);
}

static void do_round(struct eval *eval, int round)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction before[3];
    (void)eval;
    (void)round;
    for (int i = 0; i < 3; i++)
        sigaction(signals[i], NULL, &before[i]);
    bench_job_begin("bench_fold_evaluation", &job);
    for (int kind = 0; kind < KINDS; kind++)
        for (int order = 0; order < orders_wanted; order++)
            run(kind, order);
    for (int i = 0; i < 3; i++)
        sigaction(signals[i], &before[i], NULL);
}

/* ---- the page ---- */

static void tell(struct eval *eval)
{
    int order = orders_wanted - 1;
    for (int kind = 0; kind < KINDS; kind++) {
        double most = 0;
        int at = 1;
        for (int i = 1; i < steps_wanted; i++) {
            double ratio = bench_median(&moving_ms[kind][order][i]) /
                           bench_median(&iteration_ms[kind][order][i]);
            if (ratio > most)
                most = ratio, at = i;
        }
        eval_tell(eval,
                  kind == PRODUCT ? "Moving a product's data takes far less than an iteration (a "
                                    "tenth at most), at the largest order"
                                  : "Moving a factorization's data takes far less than an "
                                    "iteration (a tenth at most), at the largest order",
                  kind == PRODUCT ? "4.2.4, figure 7" : "4.2.4, figure 8",
                  most <= 0.1 ? EVAL_YES : EVAL_NO, "%.3f of an iteration at most (to %d ranks)",
                  most, sizes[at]);
    }
}

static void write_table(struct pleat_page *page, int kind)
{
    pleat_page_subheading(page,
                          kind == PRODUCT ? "Products (`dense`)" : "Factorizations (`dense --lu`)");
    pleat_page_table(page, "order|ranks|an iteration, ms|change to it, ms|of that moving data, "
                           "ms|moving over an iteration");
    for (int order = 0; order < orders_wanted; order++)
        for (int i = 0; i < steps_wanted; i++) {
            pleat_page_cell(page, "%s", orders[order]);
            pleat_page_cell(page, "%d", sizes[i]);
            eval_cell_series(page, &iteration_ms[kind][order][i]);
            if (i == 0) {
                for (int empty = 0; empty < 3; empty++)
                    pleat_page_cell(page, "%s", "");
                continue;
            }
            eval_cell_series(page, &change_ms[kind][order][i]);
            eval_cell_series(page, &moving_ms[kind][order][i]);
            pleat_page_cell(page, "%.3f",
                            bench_median(&moving_ms[kind][order][i]) /
                                bench_median(&iteration_ms[kind][order][i]));
        }
}

/* A panel for each kind: iterations of all orders, over those on two ranks. */
static int draw(struct pleat_page *page, struct pleat_error *err)
{
    static double x[STEPS], y[KINDS][ORDERS][STEPS];
    static char titles[ORDERS][24];
    struct pleat_plot_series series[KINDS][ORDERS];
    struct pleat_plot panels[KINDS];
    for (int kind = 0; kind < KINDS; kind++) {
        for (int order = 0; order < orders_wanted; order++) {
            snprintf(titles[order], sizeof(titles[order]), "N = %s", orders[order]);
            for (int i = 0; i < steps_wanted; i++) {
                x[i] = sizes[i];
                y[kind][order][i] = bench_median(&iteration_ms[kind][order][i]) /
                                    bench_median(&iteration_ms[kind][order][0]);
            }
            series[kind][order] =
                (struct pleat_plot_series){titles[order], x, y[kind][order], (size_t)steps_wanted};
        }
        panels[kind] = (struct pleat_plot){.title = kinds[kind],
                                           .x_label = "ranks",
                                           .y_label = "an iteration, over 2 ranks",
                                           .style = PLEAT_PLOT_LINES,
                                           .series = series[kind],
                                           .series_count = (size_t)orders_wanted};
    }
    return pleat_page_figure(
        page, "figures-4-5",
        "Figures 4 and 5 anew: iterations at each size, computing for real, on "
        "two processors",
        panels, KINDS, KINDS, err);
}

static int report(struct eval *eval, struct pleat_error *err)
{
    struct pleat_page *page = &eval->page;
    tell(eval);
    pleat_page_heading(page, "Iterations and redistribution (figures 4, 5, 7 and 8)");
    pleat_page_paragraph(
        page,
        "Nothing is pretended here: the programs compute, on this machine's two processors, and "
        "grow by merging from size to size, without a scheduler. So no size beyond 2 can be "
        "faster, "
        "and no sweet spot can be found; what is measured is what growing costs. A change is all "
        "that "
        "the program stands still for, most of it Open MPI's spawning; redistribution is moving "
        "the three matrices (with `--lu` two, and a column) to the new grid. Medians over rounds, "
        "in "
        "brackets the least and the most.");
    int rc = draw(page, err);
    for (int kind = 0; kind < KINDS; kind++)
        write_table(page, kind);
    return rc;
}

const struct eval_part eval_spots = {"spots", plan, runs, do_round, report, NULL};
