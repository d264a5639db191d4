/* agent.c - the readings of the paper, the shapes that are found, and the page. */
#include "experiments/application-agent/agent.h"

#include <math.h>
#include <stdio.h>

#include "experiments/list.h"

/* Readings of Liu et al. 2009. */
static const struct agent_reading readings[READINGS] = {
    [FACE] = {"as printed", 10, 1, false, false, 0, 1, PLEAT_VARIES_RUN, 0, 0},
    [WIDER] = {"allocation 1000 ± 100", 100, 1, false, false, 0, 1, PLEAT_VARIES_RUN, 0, 0},
    [PENDING] = {"R counts processes on their way", 10, 1, true, false, 0, 1, PLEAT_VARIES_RUN, 0,
                 0},
    [LATE] = {"... and requests come in either of 2 iterations", 10, 1, true, false, 2, 1,
              PLEAT_VARIES_RUN, 0, 0},
    [SPREAD] = {"requests come in any of 5 iterations", 10, 1, false, false, 5, 1, PLEAT_VARIES_RUN,
                0, 0},
    [STAGE] = {"requests come in any of 10 iterations", 10, 1, false, false, 10, 1,
               PLEAT_VARIES_RUN, 0, 0},
    [BALANCED] = {"gained objects are divided over all processes", 10, 1, false, true, 0, 1,
                  PLEAT_VARIES_RUN, 0, 0},
    [UNPREDICTABLE] = {"allocation 1000 ± 500", 500, 1, false, false, 0, 1, PLEAT_VARIES_RUN, 0, 0},
    [LEVEL_2] = {"RL = 2", 10, 1, false, false, 0, 2, PLEAT_VARIES_RUN, 0, 0},
    [BY_PROCESS] = {"every process fluctuates by itself, from run to run", 10, 1, false, false, 0,
                    1, PLEAT_VARIES_PROCESS, 0, 0},
    [BY_ITERATION] = {"every process fluctuates by itself, in each iteration", 10, 1, false, false,
                      0, 1, PLEAT_VARIES_ITERATION, 0, 0},
    [BY_OBJECT] = {"every object fluctuates by itself, in each iteration", 10, 1, false, false, 0,
                   1, PLEAT_VARIES_OBJECT, 0, 0},
    [BY_PROCESS_PENDING] = {"every process by itself, from run to run, and R counts those on their "
                            "way",
                            10, 1, true, false, 0, 1, PLEAT_VARIES_PROCESS, 0, 0},
    [GIVES_BACK] = {"a process is given back after every 150 iterations, and R counts those on "
                    "their way",
                    10, 1, true, false, 0, 1, PLEAT_VARIES_RUN, 150, 0},
    [ANNOUNCES] = {"... which it says 20 iterations before", 10, 1, true, false, 0, 1,
                   PLEAT_VARIES_RUN, 150, 20},
};

static int run_one(void *context, const struct pleat_study *study, size_t setting, uint64_t seed,
                   double *metrics, struct pleat_error *err)
{
    (void)context;
    return agent_run(study, (int)(setting % POLICIES), &readings[setting / POLICIES], seed, metrics,
                     err);
}

static size_t setting(int reading, int policy)
{
    return (size_t)reading * POLICIES + (size_t)policy;
}

const char *agent_reading_name(int reading)
{
    return readings[reading].name;
}

struct pleat_estimate agent_of(const struct pleat_numbers *numbers, int reading, int policy,
                               size_t metric)
{
    return pleat_numbers_estimate(numbers, setting(reading, policy), metric);
}

struct pleat_estimate agent_share(const struct pleat_numbers *numbers, int reading, int policy,
                                  int of, size_t metric)
{
    return pleat_numbers_ratio(numbers, setting(reading, policy), setting(reading, of), metric);
}

/* A metric under P less the same under PP, by seed. */
static struct pleat_estimate above_pp(const struct pleat_numbers *numbers, int reading,
                                      size_t metric)
{
    return pleat_numbers_difference(numbers, setting(reading, P), setting(reading, PP), metric);
}

/* W under PP as a share of W under P, from the fifth execution on. */
static struct pleat_estimate share_of_p(const struct pleat_numbers *numbers, int reading)
{
    return agent_share(numbers, reading, PP, P, W_LEARNT);
}

static struct pleat_estimate in_percent(struct pleat_estimate e)
{
    e.mean *= 100;
    e.half *= 100;
    return e;
}

static double percent(double share)
{
    return 100 * share;
}

/* ---- shapes ---- */

static void shape(struct pleat_study *study, const char *statement, const char *where,
                  enum pleat_label expected, bool holds, struct pleat_estimate measured,
                  const char *unit)
{
    struct pleat_shape shape = {statement, where, expected, holds};
    int decimals = measured.mean < 10 ? 3 : measured.mean < 100 ? 2 : measured.mean < 1000 ? 1 : 0;
    if (measured.half > 0) /* about four digits of the mean */
        pleat_study_shape(study, &shape, "%s%s", pleat_estimate_text(measured, decimals).text,
                          unit);
    else
        pleat_study_shape(study, &shape, "%.4g%s", measured.mean, unit);
}

static void tell_satisfaction(struct pleat_study *study, const struct pleat_numbers *n)
{
    struct pleat_estimate e = agent_of(n, FACE, P, S_LOWEST);
    shape(study, "S of P is above 80 % in every execution", "4.2, figure 4", PLEAT_CLAIMED,
          pleat_estimate_above(e, 0.8), in_percent(e), " %, the lowest of 100");
    e = agent_of(n, FACE, PP, SATISFIED);
    shape(study, "S of PP is very low in the beginning (below 50 %)", "4.2, figure 4",
          PLEAT_CLAIMED, pleat_estimate_below(e, 0.5), in_percent(e), " % in the first execution");
    e = agent_of(n, FACE, PP, S_LOWEST_LEARNT);
    shape(study, "S of PP is above 80 % from the fifth execution on", "4.2, figure 4",
          PLEAT_CLAIMED, pleat_estimate_above(e, 0.8), in_percent(e), " %, the lowest of 96");
    e = agent_of(n, FACE, PP, SETTLED);
    shape(study, "PP needs about five executions (3 to 7) until its S stays above 80 %",
          "4.2, figure 4", PLEAT_NOT_FOUND, pleat_estimate_within(e, 3, 7), e,
          ": S stays above 80 % from that execution on");
    e = agent_of(n, PENDING, PP, SETTLED);
    shape(study, "PP needs about five executions (3 to 7) where R counts processes on their way",
          "4.2, figure 4", PLEAT_FITTED, pleat_estimate_within(e, 3, 7), e,
          ": S stays above 80 % from that execution on");
    e = above_pp(n, FACE, S_ALL);
    shape(study, "S of P is slightly higher than S of PP (by less than 10 points)", "4.2, figure 4",
          PLEAT_CLAIMED, pleat_estimate_within(e, 0, 0.1), in_percent(e),
          " points over all executions");
    e = above_pp(n, FACE, S_LEARNT);
    shape(study, "S of P is slightly higher than S of PP from the fifth execution on",
          "4.2, figure 4", PLEAT_NOT_FOUND, pleat_estimate_within(e, 0, 0.1), in_percent(e),
          " points");
    e = agent_of(n, STAGE, PP, S_LEARNT);
    shape(study,
          "S of PP is above 80 % also where requests come anywhere \"during iteration 100 ~ 110\"",
          "4, assumption 2", PLEAT_NOT_FOUND, pleat_estimate_above(e, 0.8), in_percent(e),
          " % from the fifth on");
}

/* Tells how long an iteration takes where processes or objects fluctuate by themselves: the slowest
 * process decides. */
static void tell_iterations(struct pleat_study *study, const struct pleat_numbers *n)
{
    static const struct {
        int reading;
        const char *statement;
        enum pleat_label expected;
    } rows[] = {
        {BY_PROCESS,
         "an iteration takes about 120 where every process fluctuates by itself, from run to run",
         PLEAT_NOT_FOUND},
        {BY_ITERATION,
         "an iteration takes about 120 where every process fluctuates by itself, in each iteration",
         PLEAT_NOT_FOUND},
        {BY_OBJECT,
         "an iteration takes about 120 where every object fluctuates by itself, in each iteration",
         PLEAT_FITTED},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct pleat_estimate e = agent_of(n, rows[i].reading, P, ITERATION);
        shape(study, rows[i].statement, "4.2", rows[i].expected, pleat_estimate_within(e, 115, 125),
              e, "");
    }
    struct pleat_estimate e = agent_of(n, BY_PROCESS, PP, S_LOWEST_LEARNT);
    shape(study,
          "S of PP is above 80 % from the fifth execution on where every process fluctuates by "
          "itself, from run to run",
          "4.2, figure 4", PLEAT_FITTED, pleat_estimate_above(e, 0.8), in_percent(e),
          " %, the lowest of 96");
}

static void tell_waste(struct pleat_study *study, const struct pleat_numbers *n)
{
    struct pleat_estimate e = share_of_p(n, FACE);
    shape(study, "W of PP is far below W of P after learning (less than half)", "4.2, figure 5",
          PLEAT_CLAIMED, pleat_estimate_below(e, 0.5), e,
          " times W of P, from the fifth execution on");
    size_t pp = setting(FACE, PP);
    e = pleat_estimate_ratio(pleat_numbers_of(n, pp, W_FIRST), pleat_numbers_of(n, pp, W_LEARNT),
                             n->seeds);
    shape(study, "W of PP is high in the first few executions, then drops (to less than half)",
          "4.2, figure 5", PLEAT_CLAIMED, pleat_estimate_above(e, 2), e,
          " times as high in the first four as later");
    e = agent_of(n, FACE, P, ITERATION);
    shape(study, "an iteration takes about 120 where S = 1 (115 to 125)", "4.2", PLEAT_NOT_FOUND,
          pleat_estimate_within(e, 115, 125), e, "");
    tell_iterations(study, n);
    e = share_of_p(n, UNPREDICTABLE);
    bool useless = pleat_estimate_below(agent_of(n, UNPREDICTABLE, PP, S_LEARNT), 0.8) ||
                   pleat_estimate_above(e, 0.5);
    shape(study,
          "PP is not suitable where allocation times are unpredictable (1000 ± 500: S below 80 %, "
          "or W above half of P's)",
          "4.2", PLEAT_NOT_FOUND, useless, e, " times W of P");
}

static void tell_values(struct pleat_study *study, const struct pleat_numbers *n)
{
    static const struct {
        size_t metric;
        const char *name;
    } metrics[] = {{S_ALL, "s"},
                   {S_LEARNT, "s_learnt"},
                   {S_LOWEST_LEARNT, "s_lowest_learnt"},
                   {W_LEARNT, "w_learnt"},
                   {SETTLED, "settled"}};
    static const char *const keys[READINGS] = {"face",
                                               "wider",
                                               "pending",
                                               "late",
                                               "spread",
                                               "stage",
                                               "balanced",
                                               "unpredictable",
                                               "level_2",
                                               "by_process",
                                               "by_iteration",
                                               "by_object",
                                               "by_process_pending",
                                               "gives_back",
                                               "announces"};
    for (int r = 0; r < READINGS; r++)
        for (int p = 0; p < POLICIES; p++)
            for (size_t m = 0; m < sizeof(metrics) / sizeof(metrics[0]); m++) {
                char name[80];
                snprintf(name, sizeof(name), "%s.%s.%s", metrics[m].name, keys[r],
                         agent_policy_name(p));
                pleat_study_value(study, name, agent_of(n, r, p, metrics[m].metric));
            }
}

/* ---- the page ---- */

static void tell_what_is_run(struct pleat_page *page)
{
    pleat_page_heading(page, "What is run");
    pleat_page_paragraph(
        page,
        "An application begins with 3 processes, each of which has 10 objects. After every 100 of "
        "its 3,000 iterations one process gains 10 objects. The application then runs slower. "
        "After each iteration it asks for a further process, until it has one, which takes those "
        "objects. In an iteration an object takes 11.2 time units, with a standard deviation of "
        "1.0 from execution to execution. There are 500 nodes; allocating one takes 1000 ± 10 time "
        "units. A request is satisfied if a prepared process is in the buffer. If none is, an "
        "allocation for the buffer is begun, and a further one at each retry (3.1).");
    pleat_page_item(page,
                    "**P** brings the buffer to RL = 1 prepared process every 600 time units.");
    pleat_page_item(page, "**PP** looks ahead every 5 iterations, by the longest time that an "
                          "allocation has taken so far. It asks for as many processes as earlier "
                          "executions asked for, on average and rounded down, in the 5 iterations "
                          "that begin there. Prepared processes beyond RL = 1 are given back.");
    pleat_page_item(page, "**S** is the share of requests that are satisfied, **W** the time that "
                          "prepared processes wait, summed up over one execution.");
    pleat_page_paragraph(page, "100 executions follow one another. The policies know what earlier "
                               "executions asked for. Under `none` no process is prepared ahead: "
                               "the buffer only gets what unsatisfied requests have placed in it.");
}

static void tell_readings(struct pleat_page *page, const struct pleat_numbers *n)
{
    pleat_page_heading(page, "Readings of the paper");
    pleat_page_paragraph(
        page, "Each row but the first changes one thing that the paper leaves open, or that can be "
              "read in two ways; two rows change a second thing, too. S and W are means from the "
              "fifth execution on, W in thousands of time units; \"settles\" is the execution from "
              "which S of PP stays above 80 %% (101: never).");
    pleat_page_table(page,
                     "reading|S of P, %|S of PP, %|first S of PP, %|settles|W of P|W of PP|PP / "
                     "P|iteration");
    for (int r = 0; r < READINGS; r++) {
        static const struct {
            size_t metric;
            double scale;
            int policy, decimals;
        } cells[] = {{S_LEARNT, 100, P, 1}, {S_LEARNT, 100, PP, 1},  {SATISFIED, 100, PP, 0},
                     {SETTLED, 1, PP, 1},   {W_LEARNT, 0.001, P, 0}, {W_LEARNT, 0.001, PP, 1}};
        pleat_page_cell(page, "%s", readings[r].name);
        for (size_t c = 0; c < sizeof(cells) / sizeof(cells[0]); c++) {
            struct pleat_estimate e = agent_of(n, r, cells[c].policy, cells[c].metric);
            e.mean *= cells[c].scale;
            e.half *= cells[c].scale;
            pleat_page_cell_estimate(page, e, cells[c].decimals);
        }
        pleat_page_cell_estimate(page, share_of_p(n, r), 2);
        pleat_page_cell_estimate(page, agent_of(n, r, P, ITERATION), 1);
    }
}

/* Explains the results by the policies, with the numbers that show it. */
static void explain(struct pleat_page *page, const struct pleat_numbers *n)
{
    pleat_page_heading(page, "Why");
    pleat_page_item(
        page,
        "There is one request in 100 iterations (about 11,000 time units), and P refills its "
        "buffer within 600 + 1000 time units. So with RL = 1 all requests are satisfied under P, "
        "and its buffer is full for most of the time. Under `none` S is %.0f %%.",
        percent(agent_of(n, FACE, NONE, S_LEARNT).mean));
    pleat_page_item(page,
                    "As printed, PP learns in one execution when requests come. The retries of "
                    "that execution are requests in its history, too. So PP has more processes "
                    "prepared than are needed until the share of these retries in the history has "
                    "fallen, and W stays high for some executions, as in figure 5. Where R counts "
                    "processes on their way, PP often gives back what it asked for before that has "
                    "come; then %.1f executions pass until S stays above 80 %%, as in figure 4.",
                    agent_of(n, PENDING, PP, SETTLED).mean);
    pleat_page_item(page,
                    "PP rounds the average down. Where requests do not come in the same few "
                    "iterations of every execution, each period has less than one request on "
                    "average, and PP asks for nothing until retries have filled the history again: "
                    "S of PP falls to %.0f %% where requests are spread over 5 iterations, and to "
                    "%.0f %% where they are spread over 10. The paper assumes that requests are "
                    "not random (4, assumption 2); PP needs that in the strictest sense.",
                    percent(agent_of(n, SPREAD, PP, S_LEARNT).mean),
                    percent(agent_of(n, STAGE, PP, S_LEARNT).mean));
    pleat_page_item(
        page, "The sum from i to i + range includes both ends, as printed, so a period and the "
              "next one share an iteration. In executions whose speed lets a request fall on a "
              "shared iteration two processes are prepared for it, and the second one waits for "
              "100 iterations. The peaks of W in single executions come from that.");
    pleat_page_item(page,
                    "Where allocation times vary much (1000 ± 500) W of PP is higher, but its S "
                    "hardly falls: PP looks ahead by the longest allocation that it has seen.");
    pleat_page_item(
        page,
        "An iteration takes 112 time units while no process is missing, and the slow iterations "
        "after a gain add little. Where every process fluctuates by itself the slowest one "
        "decides. For the three processes of the beginning that makes the paper's 120: the largest "
        "of three normal variables is 0.846 deviations above their mean, and 112 + 0.846 x 10 = "
        "120.5. But an execution ends with 33 processes, and the mean over all of it is %s. Where "
        "every object fluctuates by itself the mean is %s. So the paper's 120 was observed at the "
        "beginning of an execution, or its objects fluctuate; the paper does not say which.",
        pleat_estimate_text(agent_of(n, BY_PROCESS, P, ITERATION), 1).text,
        pleat_estimate_text(agent_of(n, BY_OBJECT, P, ITERATION), 1).text);
    pleat_page_item(page,
                    "S does not depend on what fluctuates: where every process does so by itself, "
                    "S of PP is %s %% from the fifth execution on, and stays above 80 %% from "
                    "execution %s on (%s where R counts processes on their way). W does depend on "
                    "it, since executions then take longer, and differ less from one another.",
                    pleat_estimate_text(in_percent(agent_of(n, BY_PROCESS, PP, S_LEARNT)), 1).text,
                    pleat_estimate_text(agent_of(n, BY_PROCESS, PP, SETTLED), 1).text,
                    pleat_estimate_text(agent_of(n, BY_PROCESS_PENDING, PP, SETTLED), 1).text);
}

static void explain_releases(struct pleat_page *page, const struct pleat_numbers *n)
{
    struct pleat_estimate share =
        pleat_numbers_ratio(n, setting(ANNOUNCES, P), setting(GIVES_BACK, P), W_LEARNT);
    pleat_page_item(
        page,
        "The paper assumes that an application does not give processes back (4, assumption 3). One "
        "that does fills its buffer itself. Policies do not ask for processes of which it says "
        "before that it will give them back. In this application the buffer is full by then in "
        "general: with that W of P is %s times as high as without, and S of P is %s %%, against %s "
        "%%.",
        pleat_estimate_text(share, 3).text,
        pleat_estimate_text(in_percent(agent_of(n, ANNOUNCES, P, S_LEARNT)), 1).text,
        pleat_estimate_text(in_percent(agent_of(n, GIVES_BACK, P, S_LEARNT)), 1).text);
}

/* ---- figures ---- */

struct lines {
    double x[EXECUTIONS], y[POLICIES][EXECUTIONS];
    double low[POLICIES][EXECUTIONS], high[POLICIES][EXECUTIONS];
};

/* Means over the seeds, by execution, with their intervals. */
static void take_lines(const struct pleat_numbers *n, int reading, size_t metric,
                       struct lines *lines)
{
    for (size_t i = 0; i < EXECUTIONS; i++) {
        lines->x[i] = (double)i + 1;
        for (int p = 0; p < POLICIES; p++) {
            struct pleat_estimate of_all = agent_of(n, reading, p, metric + i);
            lines->y[p][i] = of_all.mean;
            pleat_estimate_ends(of_all, &lines->low[p][i], &lines->high[p][i]);
        }
    }
}

static int draw(struct pleat_study *study, const struct pleat_numbers *n, size_t metric,
                const char *name, const char *caption, struct pleat_error *err)
{
    enum { PANELS = 4 };
    static const int drawn[PANELS] = {FACE, PENDING, LATE, STAGE};
    struct lines lines[PANELS];
    struct pleat_plot_series series[PANELS][2];
    struct pleat_plot_band bands[PANELS][2];
    struct pleat_plot panels[PANELS];
    for (int i = 0; i < PANELS; i++) {
        take_lines(n, drawn[i], metric, &lines[i]);
        for (int p = P; p <= PP; p++) {
            series[i][p] = (struct pleat_plot_series){agent_policy_name(p), lines[i].x,
                                                      lines[i].y[p], EXECUTIONS};
            bands[i][p] = (struct pleat_plot_band){lines[i].low[p], lines[i].high[p]};
        }
        panels[i] = (struct pleat_plot){.title = readings[drawn[i]].name,
                                        .x_label = "execution",
                                        .y_label = metric == SATISFIED ? "S" : "W, time units",
                                        .style = PLEAT_PLOT_LINES,
                                        .y_most = metric == SATISFIED ? 1.05 : 0,
                                        .series = series[i],
                                        .bands = bands[i],
                                        .series_count = 2};
    }
    return pleat_page_figure(&study->page, name, caption, panels, PANELS, 2, err);
}

static int run(struct pleat_study *study, struct pleat_error *err)
{
    struct pleat_numbers numbers;
    struct pleat_sweep sweep = {.what = "executions",
                                .settings = (size_t)READINGS * POLICIES,
                                .metrics = METRICS,
                                .run = run_one};
    int rc = pleat_study_sweep(study, &sweep, &numbers, err);
    if (!rc) {
        tell_satisfaction(study, &numbers);
        tell_waste(study, &numbers);
        tell_values(study, &numbers);
        tell_what_is_run(&study->page);
        pleat_page_heading(&study->page, "Figures 4 and 5");
        rc = draw(study, &numbers, SATISFIED, "figure-4",
                  "Figure 4, request satisfaction: as printed, and in other readings, with 95 % "
                  "intervals",
                  err);
    }
    if (!rc)
        rc =
            draw(study, &numbers, WASTE, "figure-5",
                 "Figure 5, resource waste: as printed, and in other readings, with 95 % intervals",
                 err);
    if (!rc) {
        tell_readings(&study->page, &numbers);
        explain(&study->page, &numbers);
        explain_releases(&study->page, &numbers);
        agent_tell_combined(study, &numbers);
    }
    pleat_numbers_finish(&numbers);
    return rc;
}

static const char *const cautions[] = {
    "That PP is better than P for other applications: requests come after the same iterations in "
    "each execution, which PP needs (see the readings).",
    "That 100 executions are 100 independent values: those of a seed build on one another, and "
    "count as one value. Intervals are over seeds.",
    "That objects are what fluctuates in the paper, which does not say it. Iterations take about "
    "120 where they do; that shows that they may be meant, not that they are.",
    NULL,
};

const struct pleat_experiment pleat_experiment_application_agent = {
    .name = "application-agent",
    .title = "Prepared processes for an application that asks for them",
    .source = "Liu et al. 2009, 4.2",
    .cautions = cautions,
    .summary = "The policies P and PP for buffers of prepared processes: 100 executions of an "
               "application that asks for a process again and again",
    .seeds = 40,
    .run = run,
};
