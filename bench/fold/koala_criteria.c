/* koala_criteria.c - what Buisson et al. 2007 state in VII, as criteria: those of the simulated
 * page (experiments/koala-malleable/shapes.c), round by round. They were written before the page
 * was first run. */
#include "koala.h"

#include <math.h>
#include <stdio.h>

#define MANY 0.3
#define LONGER_LEAST 1.2 /* "30 % longer" */
#define LONGER_MOST 1.4
#define BY_FAR 1.5

static const struct koala_results *results;

static const struct bench_series *of(int source, int approach, int run, int metric)
{
    return &results->cells[approach][run].of[source][metric];
}

/* By how much a metric is above the same of another run: differences by rounds. */
static struct bench_paired above(int source, int approach, int a, int b, int metric)
{
    const struct bench_series *x = of(source, approach, a, metric);
    const struct bench_series *y = of(source, approach, b, metric);
    struct bench_series differences = {.count = 0};
    for (int i = 0; i < x->count && i < y->count; i++)
        bench_add(&differences, x->values[i] - y->values[i]);
    return bench_paired_of(&differences);
}

static void tell(struct eval *eval, const char *statement, const char *where,
                 enum eval_answer answer, struct pleat_string *measured)
{
    eval_tell(eval, statement, where, answer, "%s", measured->text ? measured->text : "-");
    pleat_string_finish(measured);
}

/* "EGS/Wm 4.20 (simulated 4.51)". */
static void add_value(struct pleat_string *out, int approach, int run, int metric)
{
    const struct bench_series *live = of(KOALA_LIVE, approach, run, metric);
    if (!live->count)
        return;
    pleat_string_addf(out, "%s%s %.2f (simulated %.2f)", out->length ? ", " : "",
                      koala_run_name(approach, run), bench_median(live),
                      bench_median(of(KOALA_FED, approach, run, metric)));
}

static void add_difference(struct pleat_string *out, const struct bench_paired *difference)
{
    if (isfinite(difference->upper))
        pleat_string_addf(out, "; difference %+.2f [%+.2f, %+.2f]", difference->median,
                          difference->lower, difference->upper);
    else if (difference->ratios.count)
        pleat_string_addf(out, "; difference %+.2f", difference->median);
}

static void add_ratio(struct pleat_string *out, const char *over, const struct bench_paired *ratio)
{
    char text[EVAL_RATIO_TEXT];
    if (ratio->ratios.count)
        pleat_string_addf(out, "; over %s %s", over, eval_ratio(ratio, text));
}

static void add_bounds(struct pleat_string *out, const struct bench_paired *of_it)
{
    if (isfinite(of_it->upper))
        pleat_string_addf(out, " [%.2f, %.2f]", of_it->lower, of_it->upper);
}

/* ---- one run above another one ---- */

static const struct comparison {
    const char *statement, *where;
    int approach, high, low, metric;
} comparisons[] = {
    {"PRA: EGS gives malleable jobs a larger average size than FPSMA, Wm", "VII-A, figure 7a",
     KOALA_PRA, KOALA_EGS_WM, KOALA_FPSMA_WM, KOALA_AVERAGE},
    {"PRA: EGS gives malleable jobs a larger average size than FPSMA, Wmr", "VII-A, figure 7a",
     KOALA_PRA, KOALA_EGS_WMR, KOALA_FPSMA_WMR, KOALA_AVERAGE},
    {"PRA: EGS gives malleable jobs a larger maximum size than FPSMA, Wm", "VII-A, figure 7b",
     KOALA_PRA, KOALA_EGS_WM, KOALA_FPSMA_WM, KOALA_MAXIMUM},
    {"PRA: EGS gives malleable jobs a larger maximum size than FPSMA, Wmr", "VII-A, figure 7b",
     KOALA_PRA, KOALA_EGS_WMR, KOALA_FPSMA_WMR, KOALA_MAXIMUM},
    {"PRA: more malleable jobs never grow under FPSMA than under EGS, Wm", "VII-A, figure 7b",
     KOALA_PRA, KOALA_FPSMA_WM, KOALA_EGS_WM, KOALA_AT_LEAST},
    {"PRA: more malleable jobs never grow under FPSMA than under EGS, Wmr", "VII-A, figure 7b",
     KOALA_PRA, KOALA_FPSMA_WMR, KOALA_EGS_WMR, KOALA_AT_LEAST},
    {"PRA: execution times are shorter with Wm than with Wmr, EGS", "VII-A, figure 7c", KOALA_PRA,
     KOALA_EGS_WMR, KOALA_EGS_WM, KOALA_EXECUTION},
    {"PRA: execution times are shorter with Wm than with Wmr, FPSMA", "VII-A, figure 7c", KOALA_PRA,
     KOALA_FPSMA_WMR, KOALA_FPSMA_WM, KOALA_EXECUTION},
    {"PWA: EGS leaves more malleable jobs at their minimal size than FPSMA, W'm",
     "VII-B, figures 8a, 8b", KOALA_PWA, KOALA_EGS_WM, KOALA_FPSMA_WM, KOALA_AT_LEAST},
    {"PWA: EGS leaves more malleable jobs at their minimal size than FPSMA, W'mr",
     "VII-B, figures 8a, 8b", KOALA_PWA, KOALA_EGS_WMR, KOALA_FPSMA_WMR, KOALA_AT_LEAST},
};

static void tell_comparison(struct eval *eval, const struct comparison *compared)
{
    struct pleat_string measured = {0};
    struct bench_paired difference =
        above(KOALA_LIVE, compared->approach, compared->high, compared->low, compared->metric);
    add_value(&measured, compared->approach, compared->high, compared->metric);
    add_value(&measured, compared->approach, compared->low, compared->metric);
    add_difference(&measured, &difference);
    tell(eval, compared->statement, compared->where, eval_above(&difference.ratios, 0), &measured);
}

/* ---- EGS with all jobs malleable above all others ---- */

static void tell_highest(struct eval *eval, const char *statement, const char *where, int approach,
                         int metric, double least)
{
    struct pleat_string measured = {0}, ratios = {0};
    enum eval_answer answer = EVAL_YES;
    add_value(&measured, approach, KOALA_EGS_WM, metric);
    for (int run = KOALA_EGS_WMR; run < KOALA_RUNS; run++) {
        struct bench_paired ratio = bench_paired(of(KOALA_LIVE, approach, KOALA_EGS_WM, metric),
                                                 of(KOALA_LIVE, approach, run, metric));
        answer = eval_and(answer, eval_above(&ratio.ratios, least));
        add_value(&measured, approach, run, metric);
        add_ratio(&ratios, koala_run_name(approach, run), &ratio);
    }
    pleat_string_add(&measured, ratios.text ? ratios.text : "");
    pleat_string_finish(&ratios);
    tell(eval, statement, where, answer, &measured);
}

/* ---- all four runs ---- */

/* At most one job in twenty between the two bounds, and many on both sides, in each run. */
static void tell_groups(struct eval *eval)
{
    struct pleat_string measured = {0};
    enum eval_answer answer = EVAL_YES;
    for (int run = 0; run < KOALA_RUNS; run++) {
        const struct bench_series *below = of(KOALA_LIVE, KOALA_PRA, run, KOALA_BELOW);
        const struct bench_series *above_them = of(KOALA_LIVE, KOALA_PRA, run, KOALA_ABOVE);
        double low = bench_median(below), high = bench_median(above_them);
        if (!below->count)
            answer = eval_and(answer, EVAL_UNCLEAR);
        else
            answer = eval_and(answer,
                              low < MANY || high < MANY || low + high < 0.95 ? EVAL_NO : EVAL_YES);
        pleat_string_addf(&measured, "%s%s %.0f and %.0f %% (simulated %.0f and %.0f)",
                          measured.length ? ", " : "", koala_run_name(KOALA_PRA, run), 100 * low,
                          100 * high,
                          100 * bench_median(of(KOALA_FED, KOALA_PRA, run, KOALA_BELOW)),
                          100 * bench_median(of(KOALA_FED, KOALA_PRA, run, KOALA_ABOVE)));
    }
    tell(eval, "PRA: two groups of execution times, below 200 s and above 400 s (scaled)",
         "VII-A, figure 7c", answer, &measured);
}

static void tell_stuck(struct eval *eval)
{
    struct pleat_string measured = {0};
    enum eval_answer answer = EVAL_YES;
    for (int run = 0; run < KOALA_RUNS; run++) {
        struct bench_paired share = bench_paired_of(of(KOALA_LIVE, KOALA_PWA, run, KOALA_AT_LEAST));
        answer = eval_and(answer, eval_above(&share.ratios, MANY));
        add_value(&measured, KOALA_PWA, run, KOALA_AT_LEAST);
        add_bounds(&measured, &share);
    }
    tell(eval, "PWA: many malleable jobs (above 30 %) stay at their minimal size, in all four runs",
         "VII-B, figures 8a, 8b", answer, &measured);
}

static void tell_alike(struct eval *eval)
{
    struct pleat_string measured = {0};
    enum eval_answer answer = EVAL_YES;
    double least = INFINITY, most = 0;
    for (int a = 0; a < KOALA_RUNS; a++) {
        add_value(&measured, KOALA_PWA, a, KOALA_EXECUTION);
        for (int b = a + 1; b < KOALA_RUNS; b++) {
            struct bench_paired ratio = bench_paired(of(KOALA_LIVE, KOALA_PWA, a, KOALA_EXECUTION),
                                                     of(KOALA_LIVE, KOALA_PWA, b, KOALA_EXECUTION));
            answer = eval_and(answer, eval_similar(&ratio));
            least = ratio.ratios.count ? fmin(least, ratio.lower) : least;
            most = ratio.ratios.count ? fmax(most, ratio.upper) : most;
        }
    }
    if (isfinite(most) && least < most)
        pleat_string_addf(&measured, "; one over another from %.2f to %.2f, by their bounds", least,
                          most);
    tell(eval, "PWA: execution times are almost the same in the four runs (within 10 %)",
         "VII-B, figure 8c", answer, &measured);
}

static void tell_longer(struct eval *eval)
{
    static const int runs[] = {KOALA_EGS_WM, KOALA_FPSMA_WM};
    struct pleat_string measured = {0};
    enum eval_answer answer = EVAL_YES;
    for (int i = 0; i < 2; i++) {
        struct bench_paired ratio =
            bench_paired(of(KOALA_LIVE, KOALA_PWA, runs[i], KOALA_EXECUTION_GADGET),
                         of(KOALA_LIVE, KOALA_PRA, runs[i], KOALA_EXECUTION_GADGET));
        bool inside = ratio.lower > LONGER_LEAST && ratio.upper < LONGER_MOST;
        bool outside = ratio.lower > LONGER_MOST || ratio.upper < LONGER_LEAST;
        answer = eval_and(answer, !ratio.ratios.count ? EVAL_UNCLEAR
                                  : inside            ? EVAL_YES
                                  : outside           ? EVAL_NO
                                                      : EVAL_UNCLEAR);
        add_value(&measured, KOALA_PRA, runs[i], KOALA_EXECUTION_GADGET);
        add_value(&measured, KOALA_PWA, runs[i], KOALA_EXECUTION_GADGET);
        add_ratio(&measured, "PRA", &ratio);
    }
    tell(eval, "GADGET 2 takes 30 % longer under PWA than under PRA (20 to 40 %)",
         "VII-B, figure 8c", answer, &measured);
}

void koala_tell(struct eval *eval, const struct koala_results *all)
{
    results = all;
    for (size_t i = 0; i < sizeof(comparisons) / sizeof(comparisons[0]); i++)
        tell_comparison(eval, &comparisons[i]);
    tell_groups(eval);
    tell_highest(eval, "PRA: EGS with Wm has the highest utilization", "VII-A, figure 7e",
                 KOALA_PRA, KOALA_UTILIZATION, 1);
    tell_highest(eval, "PRA: EGS with Wm has the most grows", "VII-A, figure 7f", KOALA_PRA,
                 KOALA_GROWS, 1);
    tell_stuck(eval);
    tell_alike(eval);
    tell_longer(eval);
    tell_highest(eval, "PWA: response times are the worst for EGS with W'm", "VII-B, figure 8d",
                 KOALA_PWA, KOALA_RESPONSE, 1);
    tell_highest(eval,
                 "PWA: response times are by far the worst for EGS with W'm (by half at least)",
                 "VII-B, figure 8d", KOALA_PWA, KOALA_RESPONSE, BY_FAR);
}
