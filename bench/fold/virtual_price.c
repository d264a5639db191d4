/* virtual_price.c - what FJT costs and gains, and why long jobs gain under it, or lose. */
#include "virtual.h"

#include <math.h>
#include <stdio.h>

static const enum virtual_policy rivals[] = {VIRTUAL_FCFS,   VIRTUAL_EASY,     VIRTUAL_EGS,
                                             VIRTUAL_PSA,    VIRTUAL_PSA_IDLE, VIRTUAL_ASP60,
                                             VIRTUAL_FOLDING};
enum { RIVALS = sizeof(rivals) / sizeof(rivals[0]) };

static const struct group {
    const char *name;
    enum virtual_mix first, last;
} groups[] = {{"w1 to w3", VIRTUAL_W1, VIRTUAL_W3}, {"w4 to w6", VIRTUAL_W4, VIRTUAL_W6}};
enum { GROUPS = sizeof(groups) / sizeof(groups[0]) };

static struct bench_paired fjt_over(const struct virtual_results *results, int source,
                                    const struct group *group, enum virtual_policy rival,
                                    int metric)
{
    return virtual_over(results, source, group->first, group->last, VIRTUAL_FJT, rival, metric);
}

/* ---- the price ---- */

static void add_answer(struct pleat_page *page, const struct bench_paired *ratio)
{
    static const char *const answers[] = {"unclear", "yes", "no"};
    pleat_page_cell(page, "%s", answers[eval_below(ratio)]);
}

static void write_prices(struct pleat_page *page, const struct virtual_results *results)
{
    static const int metrics[] = {VIRTUAL_SHORT * VIRTUAL_BY_CLASS + VIRTUAL_RESPONSE,
                                  VIRTUAL_LONG * VIRTUAL_BY_CLASS + VIRTUAL_RESPONSE,
                                  VIRTUAL_ALL_RESPONSE, VIRTUAL_ALL_SLOWDOWN, VIRTUAL_MAKESPAN};
    enum { METRICS = sizeof(metrics) / sizeof(metrics[0]) };
    pleat_page_table(page,
                     "workloads|<FJT over|short jobs: live|simulated|long jobs: live|simulated|all "
                     "jobs, response: live|simulated|all jobs, slowdown: live|simulated|makespan: "
                     "live|simulated|<worth it by response|<by slowdown");
    for (int g = 0; g < GROUPS; g++)
        for (int r = 0; r < RIVALS; r++) {
            struct bench_paired live[METRICS];
            for (int m = 0; m < METRICS; m++)
                live[m] = fjt_over(results, VIRTUAL_LIVE, &groups[g], rivals[r], metrics[m]);
            if (!live[0].ratios.count)
                continue;
            pleat_page_cell(page, "%s", groups[g].name);
            pleat_page_cell(page, "%s", virtual_rules[rivals[r]].name);
            for (int m = 0; m < METRICS; m++) {
                struct bench_paired simulated =
                    fjt_over(results, VIRTUAL_ALONE, &groups[g], rivals[r], metrics[m]);
                eval_cell(page, &live[m]);
                pleat_page_cell(page, "%.2f", simulated.median);
            }
            add_answer(page, &live[2]);
            add_answer(page, &live[3]);
        }
}

/* "FCFS (w1 to w3), EASY (w1 to w3)": the policies against which the answer is this one. */
static void list_rivals(struct pleat_string *out, const struct virtual_results *results, int metric,
                        enum eval_answer wanted)
{
    size_t before = out->length;
    for (int r = 0; r < RIVALS; r++)
        for (int g = 0; g < GROUPS; g++) {
            struct bench_paired ratio =
                fjt_over(results, VIRTUAL_LIVE, &groups[g], rivals[r], metric);
            if (ratio.ratios.count && eval_below(&ratio) == wanted)
                pleat_string_addf(out, "%s%s (%s)", out->length > before ? ", " : "",
                                  virtual_rules[rivals[r]].name, groups[g].name);
        }
    if (out->length == before)
        pleat_string_add(out, "none");
}

static void write_verdict(struct pleat_page *page, const struct virtual_results *results,
                          const char *measure, int metric)
{
    struct pleat_string text = {0};
    pleat_string_addf(&text, "By %s it is worth its price against: ", measure);
    list_rivals(&text, results, metric, EVAL_YES);
    pleat_string_add(&text, ". It is not against: ");
    list_rivals(&text, results, metric, EVAL_NO);
    pleat_string_add(&text, ". Unclear: ");
    list_rivals(&text, results, metric, EVAL_UNCLEAR);
    pleat_page_item(page, "%s.", text.text ? text.text : "");
    pleat_string_finish(&text);
}

/* ---- why ---- */

/* Processors that long jobs have, on average over workloads and rounds. */
static double size_of(const struct virtual_results *results, int source, const struct group *group,
                      enum virtual_policy policy)
{
    int metric = virtual_metric(VIRTUAL_LONG, VIRTUAL_SIZE);
    double sum = 0;
    int count = 0;
    for (enum virtual_mix mix = group->first; mix <= group->last; mix++) {
        const struct bench_series *series = &results->cells[mix][policy].of[source][metric];
        for (int i = 0; i < series->count; i++, count++)
            sum += series->values[i];
    }
    return count ? sum / count : 0;
}

static double wait_of(const struct virtual_results *results, const struct group *group,
                      enum virtual_policy policy)
{
    double sum = 0;
    int count = 0;
    for (enum virtual_mix mix = group->first; mix <= group->last; mix++) {
        const struct bench_series *of = results->cells[mix][policy].of[VIRTUAL_LIVE];
        const struct bench_series *wait = &of[virtual_metric(VIRTUAL_LONG, VIRTUAL_WAIT)];
        const struct bench_series *response = &of[virtual_metric(VIRTUAL_LONG, VIRTUAL_RESPONSE)];
        for (int i = 0; i < wait->count; i++, count++)
            sum += wait->values[i] / response->values[i];
    }
    return count ? 100 * sum / count : 0;
}

static void add_sizes(struct pleat_page *page, const struct virtual_results *results,
                      const struct group *group, enum virtual_policy policy)
{
    int metric = virtual_metric(VIRTUAL_LONG, VIRTUAL_RESPONSE);
    if (!(size_of(results, VIRTUAL_LIVE, group, policy) > 0))
        return;
    struct bench_paired live = fjt_over(results, VIRTUAL_LIVE, group, policy, metric);
    pleat_page_cell(page, "%s", group->name);
    pleat_page_cell(page, "%s", virtual_rules[policy].name);
    pleat_page_cell(page, "%.2f", size_of(results, VIRTUAL_LIVE, group, policy));
    pleat_page_cell(page, "%.2f", size_of(results, VIRTUAL_ALONE, group, policy));
    pleat_page_cell(page, "%.0f %%", wait_of(results, group, policy));
    if (policy == VIRTUAL_FJT)
        pleat_page_cell(page, "1");
    else
        eval_cell(page, &live);
}

/* In how many pairs of a workload and a rival FJT gains for long jobs and gives them more
 * processors, or loses and gives fewer. */
static void count_pairs(const struct virtual_results *results, int *agree, int *pairs)
{
    int response = virtual_metric(VIRTUAL_LONG, VIRTUAL_RESPONSE);
    int size = virtual_metric(VIRTUAL_LONG, VIRTUAL_SIZE);
    *agree = *pairs = 0;
    for (int mix = VIRTUAL_W1; mix <= VIRTUAL_W6; mix++)
        for (int r = 0; r < RIVALS; r++) {
            enum virtual_mix of = (enum virtual_mix)mix;
            struct bench_paired times =
                virtual_over(results, VIRTUAL_LIVE, of, of, VIRTUAL_FJT, rivals[r], response);
            struct bench_paired sizes =
                virtual_over(results, VIRTUAL_LIVE, of, of, VIRTUAL_FJT, rivals[r], size);
            if (!times.ratios.count)
                continue;
            *agree += (times.median < 1) == (sizes.median > 1);
            ++*pairs;
        }
}

static void write_programs(struct pleat_page *page, const struct virtual_results *results)
{
    for (int app = 0; app < VIRTUAL_APPS; app++) {
        const double *seconds = results->feed.alone_s[app];
        if (virtual_programs[app].class_ == VIRTUAL_LONG && seconds[VIRTUAL_WIDE] > 0)
            pleat_page_item(page,
                            "%s: %.2f times as long with one process on one processor as with all "
                            "on both, %.2f times as long folded on one.",
                            virtual_programs[app].name,
                            seconds[VIRTUAL_ONE] / seconds[VIRTUAL_WIDE],
                            seconds[VIRTUAL_FOLDED] / seconds[VIRTUAL_WIDE]);
    }
}

void virtual_write_price(struct pleat_page *page, const struct virtual_results *results)
{
    int agree, pairs;
    pleat_page_heading(page, "Where FJT is worth its price");
    pleat_page_paragraph(
        page,
        "FJT lets short jobs start at once on processors that it takes from long ones. In a trial "
        "mix before this page, on two processors too (medians of three), it answered short jobs in "
        "12.7 s where FCFS took 18.2 and EASY 15.8, long ones in 30.2 s against 19.7 and 17.9, at "
        "the same makespan; EGS did better by the short ones (11.5). Below are its times over "
        "those of the others. Set before the runs: it is worth its price by response if the mean "
        "response of all jobs is shorter (a second counts as much, whoever waits it), by slowdown "
        "if the mean slowdown is less (each job counts as much), by all of the interval.");
    write_prices(page, results);
    write_verdict(page, results, "response", VIRTUAL_ALL_RESPONSE);
    write_verdict(page, results, "slowdown", VIRTUAL_ALL_SLOWDOWN);
    pleat_page_heading(page, "Why the paper's long jobs gained");
    pleat_page_paragraph(
        page,
        "The thesis compares FJT with policies that start a long job on the part of the machine "
        "that happens to be idle, and leave it there: on a few of 60 processors, where it then "
        "takes ten times as long and more (table 3.2). There a policy that gives it what becomes "
        "idle later is far ahead, whatever folding costs. On two processors such a policy can "
        "take away one of two at most, and a long job loses no more by it than this:");
    write_programs(page, results);
    pleat_page_paragraph(page, "Processors that long jobs had, on average over their run, and the "
                               "share of their response that was waiting:");
    pleat_page_table(page, "workloads|<policy|processors: live|simulated|waiting|FJT's response "
                           "over it");
    for (int g = 0; g < GROUPS; g++) {
        for (int r = 0; r < RIVALS; r++)
            add_sizes(page, results, &groups[g], rivals[r]);
        add_sizes(page, results, &groups[g], VIRTUAL_FJT);
    }
    count_pairs(results, &agree, &pairs);
    pleat_page_paragraph(
        page,
        "If that is the reason FJT's long jobs gain against a policy under which they have fewer "
        "processors than under FJT, and lose where they have more. So it is in %d of %d pairs of "
        "a workload and a policy (medians over rounds); elsewhere it is something else: waiting, "
        "or what folding costs. FCFS and EASY, with which the thesis compares only in chapter 6, "
        "give a long job all that it can "
        "use, for as long as it runs. %s On 60 processors, simulated, it is so in most pairs "
        "([why long jobs gain](../virtual-malleability/page.md#why-long-jobs-gain)).",
        agree, pairs,
        2 * agree > pairs ? "So it is in more than half of them."
                          : "So these runs do not confirm the reason.");
}
