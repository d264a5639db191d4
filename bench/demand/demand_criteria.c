/* demand_criteria.c - what Liu et al. 2009 state in 4.2, as criteria: those of the simulated page
 * (experiments/application-agent/agent.c). They were written before the page was first run. */
#include "demand/demand.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define HIGH 0.8    /* S > 80 % */
#define LOW 0.5     /* "very low" */
#define SLIGHTLY 10 /* points */
#define FAR 0.5     /* "far more efficient" */
#define DROPS 2.0

static const struct demand_results *results;

/* What becomes of a request that fails: it takes what is on its way, or (the paper's, 3.1) has an
 * allocation of its own. */
static const struct reading {
    int p, pp;
    const char *of; /* P and PP in the statements */
} readings[] = {{DEMAND_P, DEMAND_PP, ""},
                {DEMAND_P_OWN, DEMAND_PP_OWN, ", where a failed request has its own allocation"}};
static const struct reading *reading;

static struct bench_series s_of(int source, int policy, int first, int end)
{
    return demand_values(results->s[source][policy], first, end);
}

static struct bench_series w_of(int source, int policy, int first, int end)
{
    return demand_values(results->w[source][policy], first, end);
}

static int executions(void)
{
    return results->demand.scale.executions;
}

enum { BOTH_TEXT = 64 };

/* Of the two simulations: "+4.2 or -1.5"; once, if they are the same. */
static const char *both(char text[BOTH_TEXT], const char *sign, int decimals, double simulated,
                        double known)
{
    char texts[2][BOTH_TEXT / 2 - 4];
    snprintf(texts[0], sizeof(texts[0]), "%s%.*f", simulated < 0 ? "" : sign, decimals, simulated);
    snprintf(texts[1], sizeof(texts[1]), "%s%.*f", known < 0 ? "" : sign, decimals, known);
    if (strcmp(texts[0], texts[1]) != 0)
        snprintf(text, BOTH_TEXT, "%s or %s", texts[0], texts[1]);
    else
        snprintf(text, BOTH_TEXT, "%s", texts[0]);
    return text;
}

/* The statement, of the present reading. */
static void tell(struct eval *eval, const char *statement, const char *where,
                 enum eval_answer answer, const char *format, ...) PLEAT_PRINTF(5, 6);
static void tell(struct eval *eval, const char *statement, const char *where,
                 enum eval_answer answer, const char *format, ...)
{
    char whole[EVAL_TEXT], measured[EVAL_TEXT];
    va_list arguments;
    snprintf(whole, sizeof(whole), "%s%s", statement, reading->of);
    va_start(arguments, format);
    vsnprintf(measured, sizeof(measured), format, arguments);
    va_end(arguments);
    eval_tell(eval, whole, where, answer, "%s", measured);
}

/* S in per cent: all above a bound. */
static void tell_all_above(struct eval *eval, int policy, int first, const char *statement)
{
    struct bench_series live = s_of(DEMAND_LIVE, policy, first, executions());
    struct bench_series simulated = s_of(DEMAND_SIMULATED, policy, first, executions());
    struct bench_series known = s_of(DEMAND_KNOWN, policy, first, executions());
    char text[BOTH_TEXT];
    double lowest = bench_quantile(&live, 0);
    tell(eval, statement, "4.2, figure 4",
         !live.count     ? EVAL_UNCLEAR
         : lowest > HIGH ? EVAL_YES
                         : EVAL_NO,
         "lowest of %d: %.0f %% (simulated %s %%)", live.count, 100 * lowest,
         both(text, "", 0, 100 * bench_quantile(&simulated, 0), 100 * bench_quantile(&known, 0)));
}

static void tell_beginning(struct eval *eval)
{
    struct bench_series live = s_of(DEMAND_LIVE, reading->pp, 0, 1);
    struct bench_series simulated = s_of(DEMAND_SIMULATED, reading->pp, 0, 1);
    struct bench_series known = s_of(DEMAND_KNOWN, reading->pp, 0, 1);
    char text[BOTH_TEXT];
    enum eval_answer answer = EVAL_UNCLEAR;
    if (live.count && bench_quantile(&live, 1) < LOW)
        answer = EVAL_YES;
    else if (live.count && bench_quantile(&live, 0) >= LOW)
        answer = EVAL_NO;
    tell(eval, "S of PP is very low in the beginning (below 50 %)", "4.2, figure 4", answer,
         "%.0f %% in the first execution (simulated %s %%)", 100 * bench_median(&live),
         both(text, "", 0, 100 * bench_median(&simulated), 100 * bench_median(&known)));
}

static double points(int source, int first)
{
    struct bench_series p = s_of(source, reading->p, first, executions());
    struct bench_series pp = s_of(source, reading->pp, first, executions());
    return 100 * (demand_mean(&p) - demand_mean(&pp));
}

static void tell_difference(struct eval *eval)
{
    double live = points(DEMAND_LIVE, 0);
    char text[BOTH_TEXT];
    tell(eval, "S of P is slightly higher than S of PP (by less than 10 points)", "4.2, figure 4",
         live > 0 && live < SLIGHTLY ? EVAL_YES : EVAL_NO,
         "%+.1f points over all executions (simulated %s)", live,
         both(text, "+", 1, points(DEMAND_SIMULATED, 0), points(DEMAND_KNOWN, 0)));
}

static void tell_waste(struct eval *eval)
{
    struct bench_paired share[DEMAND_SOURCES];
    char text[EVAL_RATIO_TEXT], simulated[BOTH_TEXT];
    int first = executions() > DEMAND_LEARNT ? DEMAND_LEARNT : 0;
    for (int source = 0; source < DEMAND_SOURCES; source++) {
        struct bench_series pp = w_of(source, reading->pp, first, executions());
        struct bench_series p = w_of(source, reading->p, first, executions());
        share[source] = bench_paired(&pp, &p);
    }
    const struct bench_paired *live = &share[DEMAND_LIVE];
    enum eval_answer answer = live->upper < FAR   ? EVAL_YES
                              : live->lower > FAR ? EVAL_NO
                                                  : EVAL_UNCLEAR;
    tell(eval, "W of PP is far below W of P after learning (less than half)", "4.2, figure 5",
         answer, "%s times W of P, from the fifth execution on (simulated %s)",
         eval_ratio(live, text),
         both(simulated, "", 2, share[DEMAND_SIMULATED].median, share[DEMAND_KNOWN].median));
}

/* W of the first four executions over that of the later ones. */
static double drop(int source)
{
    struct bench_series before = w_of(source, reading->pp, 0, DEMAND_LEARNT);
    struct bench_series after = w_of(source, reading->pp, DEMAND_LEARNT, executions());
    double later = demand_mean(&after);
    return later > 0 ? demand_mean(&before) / later : 0;
}

static void tell_drop(struct eval *eval)
{
    double live = drop(DEMAND_LIVE);
    char text[BOTH_TEXT];
    tell(eval, "W of PP is high in the first few executions, then drops (to less than half)",
         "4.2, figure 5",
         executions() <= DEMAND_LEARNT ? EVAL_UNCLEAR
         : live > DROPS                ? EVAL_YES
                                       : EVAL_NO,
         "%.2f times as high in the first four as later (simulated %s)", live,
         both(text, "", 2, drop(DEMAND_SIMULATED), drop(DEMAND_KNOWN)));
}

void demand_tell(struct eval *eval, const struct demand_results *of)
{
    results = of;
    int first = executions() > DEMAND_LEARNT ? DEMAND_LEARNT : executions() - 1;
    for (size_t i = 0; i < sizeof(readings) / sizeof(*readings); i++) {
        reading = &readings[i];
        tell_all_above(eval, reading->p, 0, "S of P is above 80 % in every execution");
        tell_beginning(eval);
        tell_all_above(eval, reading->pp, first,
                       "S of PP is above 80 % from the fifth execution on");
        tell_difference(eval);
        tell_waste(eval);
        tell_drop(eval);
    }
}
