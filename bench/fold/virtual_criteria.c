/* virtual_criteria.c - what Utrera 2010 states in chapters 5 and 6, as criteria. They were written
 * before the page was first run. Each ratio is a median over pairs, one for each workload of each
 * round, with its bounds. */
#include "virtual.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SIMILAR 1.2  /* "similar" of 5.5 */
#define CONSTANT 1.2 /* as on the simulated page */

enum { RIVALS = 3, SHOWN = 4 };
/* PSA as 5.4.1 has it, as on the simulated page; FJT is the last. */
static const enum virtual_policy shown[SHOWN] = {VIRTUAL_PSA_IDLE, VIRTUAL_ASP60, VIRTUAL_FOLDING,
                                                 VIRTUAL_FJT};

static const struct virtual_results *results;

struct span {
    enum virtual_mix first, last;
};
static const struct span few = {VIRTUAL_W1, VIRTUAL_W3}, many = {VIRTUAL_W4, VIRTUAL_W6},
                         all = {VIRTUAL_W1, VIRTUAL_W6}, low = {VIRTUAL_HIGH_40, VIRTUAL_LOW_40},
                         full = {VIRTUAL_HIGH_100, VIRTUAL_LOW_100};

static struct bench_paired over(int source, struct span span, enum virtual_policy a,
                                enum virtual_policy b, int class_)
{
    return virtual_over(results, source, span.first, span.last, a, b,
                        virtual_metric(class_, VIRTUAL_RESPONSE));
}

/* A ratio as it was live, and simulated. */
static void add_both(struct pleat_string *out, struct span span, enum virtual_policy a,
                     enum virtual_policy b, int class_)
{
    struct bench_paired live = over(VIRTUAL_LIVE, span, a, b, class_);
    struct bench_paired simulated = over(VIRTUAL_ALONE, span, a, b, class_);
    char text[EVAL_RATIO_TEXT];
    pleat_string_addf(out, "%s%s over %s %s", out->length ? ", " : "", virtual_rules[a].name,
                      virtual_rules[b].name, eval_ratio(&live, text));
    if (simulated.ratios.count)
        pleat_string_addf(out, " (simulated %.2f)", simulated.median);
}

static void tell(struct eval *eval, const char *statement, const char *where,
                 enum eval_answer answer, struct pleat_string *measured)
{
    eval_tell(eval, statement, where, answer, "%s", measured->text ? measured->text : "-");
    pleat_string_finish(measured);
}

/* ---- chapter 5 ---- */

static void tell_best(struct eval *eval, const char *statement, const char *where, struct span span,
                      const enum virtual_policy *rivals, int count)
{
    struct pleat_string measured = {0};
    enum eval_answer answer = EVAL_YES;
    for (int i = 0; i < count; i++) {
        struct bench_paired ratio = over(VIRTUAL_LIVE, span, VIRTUAL_FJT, rivals[i], VIRTUAL_LONG);
        answer = eval_and(answer, eval_below(&ratio));
        add_both(&measured, span, VIRTUAL_FJT, rivals[i], VIRTUAL_LONG);
    }
    tell(eval, statement, where, answer, &measured);
}

/* The rival that is best beside FJT. */
static enum virtual_policy next_best(struct span span, int class_)
{
    enum virtual_policy best = shown[0];
    double most = -INFINITY;
    for (int i = 0; i < RIVALS; i++) {
        struct bench_paired ratio = over(VIRTUAL_LIVE, span, VIRTUAL_FJT, shown[i], class_);
        if (ratio.ratios.count && ratio.median > most) {
            most = ratio.median;
            best = shown[i];
        }
    }
    return best;
}

/* Whether all of an interval lies between two bounds. */
static enum eval_answer between(const struct bench_paired *ratio, double least, double most)
{
    if (!ratio->ratios.count || (ratio->lower <= least && ratio->upper >= most))
        return EVAL_UNCLEAR;
    if (ratio->lower > least && ratio->upper < most)
        return EVAL_YES;
    return ratio->lower > most || ratio->upper < least ? EVAL_NO : EVAL_UNCLEAR;
}

static void tell_thirty(struct eval *eval)
{
    enum virtual_policy rival = next_best(all, VIRTUAL_LONG);
    struct bench_paired ratio = over(VIRTUAL_LIVE, all, VIRTUAL_FJT, rival, VIRTUAL_LONG);
    struct pleat_string measured = {0};
    add_both(&measured, all, VIRTUAL_FJT, rival, VIRTUAL_LONG);
    tell(eval, "FJT is better by about 30 % for long jobs than the next best (20 to 40 %)", "5.5",
         between(&ratio, 0.6, 0.8), &measured);
}

static void tell_short(struct eval *eval)
{
    enum virtual_policy rival = next_best(all, VIRTUAL_SHORT);
    struct bench_paired ratio = over(VIRTUAL_LIVE, all, VIRTUAL_FJT, rival, VIRTUAL_SHORT);
    struct pleat_string measured = {0};
    add_both(&measured, all, VIRTUAL_FJT, rival, VIRTUAL_SHORT);
    tell(eval, "For short jobs FJT is similar to the best of the others (within 20 %) or worse",
         "5.5", between(&ratio, 1 / SIMILAR, INFINITY), &measured);
}

static void tell_constant(struct eval *eval)
{
    int metric = virtual_metric(VIRTUAL_LONG, VIRTUAL_RESPONSE);
    struct bench_paired ratio =
        bench_paired(&results->cells[VIRTUAL_W3][VIRTUAL_FJT].of[VIRTUAL_LIVE][metric],
                     &results->cells[VIRTUAL_W1][VIRTUAL_FJT].of[VIRTUAL_LIVE][metric]);
    char text[EVAL_RATIO_TEXT];
    eval_tell(eval, "FJT's response for long jobs stays constant from w1 to w3 (within 10 %)",
              "5.4.2, figure 5.6", eval_similar(&ratio), "w3 over w1, by rounds alone: %s",
              eval_ratio(&ratio, text));
}

/* The share of a class' response that is waiting, over w1 to w3. */
static struct bench_paired waiting(int source, enum virtual_policy policy, int class_)
{
    struct bench_series shares = {.count = 0};
    for (enum virtual_mix mix = few.first; mix <= few.last; mix++) {
        const struct bench_series *of = results->cells[mix][policy].of[source];
        const struct bench_series *wait = &of[virtual_metric(class_, VIRTUAL_WAIT)];
        const struct bench_series *response = &of[virtual_metric(class_, VIRTUAL_RESPONSE)];
        for (int i = 0; i < wait->count; i++)
            bench_add(&shares, wait->values[i] / response->values[i]);
    }
    return bench_paired_of(&shares);
}

/* most[i]: whether most of the response under shown[i] is waiting, as the thesis has it. */
static void tell_waiting(struct eval *eval, const char *statement, const char *where, int class_,
                         const bool most[SHOWN])
{
    struct pleat_string measured = {0};
    enum eval_answer answer = EVAL_YES;
    for (int i = 0; i < SHOWN; i++) {
        struct bench_paired share = waiting(VIRTUAL_LIVE, shown[i], class_);
        struct bench_paired simulated = waiting(VIRTUAL_ALONE, shown[i], class_);
        answer = eval_and(answer, most[i] ? between(&share, 0.5, INFINITY)
                                          : between(&share, -INFINITY, 0.5));
        pleat_string_addf(&measured, "%s%s %.0f %% (simulated %.0f %%)",
                          i ? ", " : "waiting: ", virtual_rules[shown[i]].name, 100 * share.median,
                          100 * simulated.median);
    }
    tell(eval, statement, where, answer, &measured);
}

static void tell_chapter5(struct eval *eval)
{
    static const enum virtual_policy psa[] = {VIRTUAL_PSA};
    static const bool nobody[SHOWN] = {false}, others[SHOWN] = {true, true, true, false};
    const struct span w3 = {VIRTUAL_W3, VIRTUAL_W3};
    struct pleat_string measured = {0};
    tell_best(eval, "FJT is the best for long jobs in w1, w2 and w3", "5.4.2, figure 5.6", few,
              shown, RIVALS);
    tell_best(eval, "FJT is the best for long jobs in w4, w5 and w6", "5.4.2, figure 5.8", many,
              shown, RIVALS);
    tell_best(eval, "FJT is better for long jobs than PSA that saves processors, as 5.2 has it",
              "5.2", all, psa, 1);
    tell_thirty(eval);
    tell_constant(eval);
    tell_waiting(eval, "Most of a long job's response is execution", "5.4.2, figure 5.6",
                 VIRTUAL_LONG, nobody);
    tell_waiting(eval, "Most of a short job's response is waiting, but not under FJT",
                 "5.4.2, figure 5.7", VIRTUAL_SHORT, others);
    struct bench_paired ratio =
        over(VIRTUAL_LIVE, w3, VIRTUAL_PSA_IDLE, VIRTUAL_FJT, VIRTUAL_SHORT);
    add_both(&measured, w3, VIRTUAL_PSA_IDLE, VIRTUAL_FJT, VIRTUAL_SHORT);
    tell(eval, "In w3 short jobs answer sooner under PSA than under FJT", "5.4.2, figure 5.7",
         eval_below(&ratio), &measured);
    tell_short(eval);
    enum eval_answer worst = EVAL_YES;
    for (int i = 0; i < RIVALS; i++) {
        if (shown[i] == VIRTUAL_ASP60)
            continue;
        ratio = over(VIRTUAL_LIVE, many, VIRTUAL_ASP60, shown[i], VIRTUAL_LONG);
        worst = eval_and(worst, eval_below(&ratio));
        add_both(&measured, many, VIRTUAL_ASP60, shown[i], VIRTUAL_LONG);
    }
    tell(eval, "PSA and FOLDING are the worst for long jobs in w4 to w6", "5.4.2, figure 5.8",
         worst, &measured);
}

/* ---- chapter 6 ---- */

static const struct comparison {
    const char *statement, *where;
    bool is_full;
    enum virtual_policy a, b; /* a is better */
    int class_;
} comparisons[] = {
    {"At 40 % FJT(4) is better than FJT(1)+malleability for long jobs",
     "6.5.2.1, figures 6.4 and 6.6", false, VIRTUAL_FJT, VIRTUAL_FJT1_MALLEABILITY, VIRTUAL_LONG},
    {"At 40 % FJT(4) is better than FCFS+abort for long jobs", "6.5.2.1, figures 6.4 and 6.6",
     false, VIRTUAL_FJT, VIRTUAL_FCFS_ABORT, VIRTUAL_LONG},
    {"At 100 % FJT(1)+malleability is better than FJT(4) for long jobs",
     "6.5.2.1, figures 6.4 and 6.6", true, VIRTUAL_FJT1_MALLEABILITY, VIRTUAL_FJT, VIRTUAL_LONG},
    {"At 100 % FJT(1)+malleability is better than FCFS+abort for long jobs",
     "6.5.2.1, figures 6.4 and 6.6", true, VIRTUAL_FJT1_MALLEABILITY, VIRTUAL_FCFS_ABORT,
     VIRTUAL_LONG},
    {"At 100 % FJT(1)+malleability is better than FCFS+abort for short jobs",
     "6.5.2.1, figures 6.5 and 6.7", true, VIRTUAL_FJT1_MALLEABILITY, VIRTUAL_FCFS_ABORT,
     VIRTUAL_SHORT},
    {"At 100 % FJT(1)+malleability is better than FJT(4) for short jobs",
     "6.5.2.1, figures 6.5 and 6.7", true, VIRTUAL_FJT1_MALLEABILITY, VIRTUAL_FJT, VIRTUAL_SHORT},
    {"At 100 % ending windows by malleability is better than by abort for short jobs",
     "6.1 (up to 25 %), 1.4.3 (20 to 30 %)", true, VIRTUAL_FJT1_MALLEABILITY, VIRTUAL_FJT1_ABORT,
     VIRTUAL_SHORT},
    {"The same with windows of 6.1: short jobs", "6.1 (up to 25 %), 1.4.3 (20 to 30 %)", true,
     VIRTUAL_FJT1_MALLEABILITY_DUE, VIRTUAL_FJT1_ABORT_DUE, VIRTUAL_SHORT},
};

/* A metric of long jobs at 100 % and at 40 %, by family and round. */
struct at_loads {
    struct bench_series full, low;
};

static struct at_loads at_loads(int source, enum virtual_policy policy, int metric)
{
    struct at_loads at = {{.count = 0}, {.count = 0}};
    int of = virtual_metric(VIRTUAL_LONG, metric);
    for (int family = 0; family <= (int)full.last - (int)full.first; family++) {
        const struct bench_series *above =
            &results->cells[(int)full.first + family][policy].of[source][of];
        const struct bench_series *below =
            &results->cells[(int)low.first + family][policy].of[source][of];
        for (int i = 0; i < above->count && i < below->count; i++) {
            bench_add(&at.full, above->values[i]);
            bench_add(&at.low, below->values[i]);
        }
    }
    return at;
}

/* One over the other. */
static struct bench_series growth(int source, enum virtual_policy policy, int metric)
{
    const struct at_loads at = at_loads(source, policy, metric);
    return bench_paired(&at.full, &at.low).ratios;
}

static void tell_degrades(struct eval *eval)
{
    struct bench_series fjt4 = growth(VIRTUAL_LIVE, VIRTUAL_FJT, VIRTUAL_RESPONSE);
    struct bench_series fjt1 = growth(VIRTUAL_LIVE, VIRTUAL_FJT1_MALLEABILITY, VIRTUAL_RESPONSE);
    struct bench_series fjt4_simulated = growth(VIRTUAL_ALONE, VIRTUAL_FJT, VIRTUAL_RESPONSE);
    struct bench_series fjt1_simulated =
        growth(VIRTUAL_ALONE, VIRTUAL_FJT1_MALLEABILITY, VIRTUAL_RESPONSE);
    struct bench_paired ratio = bench_paired(&fjt1, &fjt4);
    char text[EVAL_RATIO_TEXT];
    eval_tell(eval,
              "FJT(4) degrades for long jobs as the load grows, more than FJT(1)+malleability",
              "6.5.2.1, figures 6.4 and 6.6", eval_below(&ratio),
              "from 40 to 100 %%: FJT(4) x %.2f (simulated %.2f), FJT(1)+malleability x %.2f "
              "(simulated %.2f); the second over the first %s",
              bench_median(&fjt4), bench_median(&fjt4_simulated), bench_median(&fjt1),
              bench_median(&fjt1_simulated), eval_ratio(&ratio, text));
}

/* What a time is at 100 % less so many times what it is at 40 %, in seconds. */
static struct bench_series more(int source, enum virtual_policy policy, int metric, double times)
{
    const struct at_loads at = at_loads(source, policy, metric);
    struct bench_series differences = {.count = 0};
    for (int i = 0; i < at.full.count; i++)
        bench_add(&differences, at.full.values[i] - times * at.low.values[i]);
    return differences;
}

static void tell_what_grows(struct eval *eval)
{
    struct bench_series execution = more(VIRTUAL_LIVE, VIRTUAL_FJT, VIRTUAL_EXECUTION, 1);
    struct bench_series wait = more(VIRTUAL_LIVE, VIRTUAL_FJT, VIRTUAL_WAIT, 1);
    struct bench_series execution_simulated =
        more(VIRTUAL_ALONE, VIRTUAL_FJT, VIRTUAL_EXECUTION, 1);
    struct bench_series wait_simulated = more(VIRTUAL_ALONE, VIRTUAL_FJT, VIRTUAL_WAIT, 1);
    struct bench_series by_more = {.count = 0};
    for (int i = 0; i < execution.count && i < wait.count; i++)
        bench_add(&by_more, execution.values[i] - wait.values[i]);
    eval_tell(eval, "What grows with the load for long jobs under FJT(4) is execution, not waiting",
              "6.5.2.2", eval_above(&by_more, 0),
              "from 40 to 100 %%: execution %+.2f s (simulated %+.2f), waiting %+.2f (%+.2f)",
              bench_median(&execution), bench_median(&execution_simulated), bench_median(&wait),
              bench_median(&wait_simulated));
}

static void tell_waiting_constant(struct eval *eval)
{
    struct bench_series by_more =
        more(VIRTUAL_LIVE, VIRTUAL_FJT1_MALLEABILITY, VIRTUAL_WAIT, CONSTANT);
    struct bench_series live = more(VIRTUAL_LIVE, VIRTUAL_FJT1_MALLEABILITY, VIRTUAL_WAIT, 1);
    struct bench_series simulated = more(VIRTUAL_ALONE, VIRTUAL_FJT1_MALLEABILITY, VIRTUAL_WAIT, 1);
    eval_tell(eval,
              "Waiting of long jobs under FJT(1)+malleability is constant, whatever the load "
              "(within 20 %)",
              "6.5.2.2, figures 6.8 to 6.11", eval_not(eval_above(&by_more, 0)),
              "from 40 to 100 %%: %+.2f s (simulated %+.2f)", bench_median(&live),
              bench_median(&simulated));
}

void virtual_tell(struct eval *eval, const struct virtual_results *of)
{
    results = of;
    tell_chapter5(eval);
    for (size_t i = 0; i < sizeof(comparisons) / sizeof(comparisons[0]); i++) {
        const struct comparison *compared = &comparisons[i];
        struct span span = compared->is_full ? full : low;
        struct bench_paired ratio =
            over(VIRTUAL_LIVE, span, compared->a, compared->b, compared->class_);
        struct pleat_string measured = {0};
        add_both(&measured, span, compared->a, compared->b, compared->class_);
        tell(eval, compared->statement, compared->where, eval_below(&ratio), &measured);
    }
    tell_degrades(eval);
    tell_what_grows(eval);
    tell_waiting_constant(eval);
}
