#include "experiments/koala-malleable/shapes.h"

/* ---- differences and ratios of two runs ---- */

static struct pleat_estimate differs(const struct pleat_numbers *numbers, size_t setting,
                                     enum approach approach, int a, int b, size_t metric)
{
    return pleat_numbers_difference(numbers, koala_at(setting, approach, a),
                                    koala_at(setting, approach, b), metric);
}

static struct pleat_estimate ratio(const struct pleat_numbers *numbers, size_t setting,
                                   enum approach approach, int a, int b, size_t metric)
{
    return pleat_numbers_ratio(numbers, koala_at(setting, approach, a),
                               koala_at(setting, approach, b), metric);
}

static struct pleat_estimate value(const struct pleat_numbers *numbers, size_t setting,
                                   enum approach approach, int run, size_t metric)
{
    return pleat_numbers_estimate(numbers, koala_at(setting, approach, run), metric);
}

/* A metric under EGS less the same under FPSMA, with the same workload. */
static struct pleat_estimate egs_less_fpsma(const struct pleat_numbers *numbers, size_t setting,
                                            enum approach approach, bool mixed, size_t metric)
{
    return differs(numbers, setting, approach, mixed ? EGS_WMR : EGS_WM,
                   mixed ? FPSMA_WMR : FPSMA_WM, metric);
}

static void tell_egs(const struct pleat_numbers *numbers, size_t setting, enum approach approach,
                     bool mixed, size_t metric, struct pleat_string *out)
{
    int egs = mixed ? EGS_WMR : EGS_WM, fpsma = mixed ? FPSMA_WMR : FPSMA_WM;
    bool share = metric == AT_MINIMUM;
    struct pleat_estimate difference = egs_less_fpsma(numbers, setting, approach, mixed, metric);
    difference.mean *= share ? 100 : 1;
    difference.half *= share ? 100 : 1;
    pleat_string_addf(out, "EGS %.*f, FPSMA %.*f", share ? 1 : 2,
                      value(numbers, setting, approach, egs, metric).mean * (share ? 100 : 1),
                      share ? 1 : 2,
                      value(numbers, setting, approach, fpsma, metric).mean * (share ? 100 : 1));
    pleat_string_add(out, share ? " %; difference " : "; difference ");
    pleat_estimate_add(out, difference, share ? 1 : 2);
}

/* Makes name(): is the metric under EGS above (side +1) or below (-1) the one under FPSMA? */
#define OF_EGS(name, approach, mixed, metric, side)                                                \
    static bool name(const struct pleat_numbers *numbers, size_t setting)                          \
    {                                                                                              \
        struct pleat_estimate less = egs_less_fpsma(numbers, setting, approach, mixed, metric);    \
        return (side) > 0 ? pleat_estimate_above(less, 0) : pleat_estimate_below(less, 0);         \
    }                                                                                              \
    static void tell_##name(const struct pleat_numbers *numbers, size_t setting,                   \
                            struct pleat_string *out)                                              \
    {                                                                                              \
        tell_egs(numbers, setting, approach, mixed, metric, out);                                  \
    }

OF_EGS(pra_average, PRA, false, AVERAGE_SIZE, 1)
OF_EGS(pra_average_mixed, PRA, true, AVERAGE_SIZE, 1)
OF_EGS(pra_maximum, PRA, false, MAXIMUM_SIZE, 1)
OF_EGS(pra_maximum_mixed, PRA, true, MAXIMUM_SIZE, 1)
OF_EGS(pra_stuck, PRA, false, AT_MINIMUM, -1)
OF_EGS(pra_stuck_mixed, PRA, true, AT_MINIMUM, -1)
OF_EGS(pwa_minimum, PWA, false, AT_MINIMUM, 1)
OF_EGS(pwa_minimum_mixed, PWA, true, AT_MINIMUM, 1)

/* Is the metric under EGS with all jobs malleable above those of all three other runs? */
static bool egs_wm_highest(const struct pleat_numbers *numbers, size_t setting,
                           enum approach approach, size_t metric)
{
    for (int run = EGS_WMR; run < RUNS; run++)
        if (!pleat_estimate_above(differs(numbers, setting, approach, EGS_WM, run, metric), 0))
            return false;
    return true;
}

static void tell_all(const struct pleat_numbers *numbers, size_t setting, enum approach approach,
                     size_t metric, double factor, int decimals, struct pleat_string *out)
{
    for (int run = 0; run < RUNS; run++)
        pleat_string_addf(out, "%s%s %.*f", run ? ", " : "", koala_run_name(run, approach),
                          decimals, value(numbers, setting, approach, run, metric).mean * factor);
}

/* ---- PRA ---- */

/* Is a metric with Wm below (side -1) or above (side +1) the same with Wmr, under both policies? */
static bool wm_differs(const struct pleat_numbers *numbers, size_t setting, size_t metric, int side)
{
    struct pleat_estimate egs = differs(numbers, setting, PRA, EGS_WM, EGS_WMR, metric);
    struct pleat_estimate fpsma = differs(numbers, setting, PRA, FPSMA_WM, FPSMA_WMR, metric);
    return side < 0 ? pleat_estimate_below(egs, 0) && pleat_estimate_below(fpsma, 0)
                    : pleat_estimate_above(egs, 0) && pleat_estimate_above(fpsma, 0);
}

static void tell_wm(const struct pleat_numbers *numbers, size_t setting, size_t metric,
                    struct pleat_string *out)
{
    pleat_string_add(out, "Wm less Wmr: EGS ");
    pleat_estimate_add(out, differs(numbers, setting, PRA, EGS_WM, EGS_WMR, metric), 0);
    pleat_string_add(out, " s, FPSMA ");
    pleat_estimate_add(out, differs(numbers, setting, PRA, FPSMA_WM, FPSMA_WMR, metric), 0);
    pleat_string_add(out, " s");
}

static bool pra_execution(const struct pleat_numbers *numbers, size_t setting)
{
    return wm_differs(numbers, setting, EXECUTION, -1);
}

static void tell_pra_execution(const struct pleat_numbers *numbers, size_t setting,
                               struct pleat_string *out)
{
    tell_wm(numbers, setting, EXECUTION, out);
}

static bool pra_response(const struct pleat_numbers *numbers, size_t setting)
{
    return wm_differs(numbers, setting, RESPONSE, -1);
}

static void tell_pra_response(const struct pleat_numbers *numbers, size_t setting,
                              struct pleat_string *out)
{
    tell_wm(numbers, setting, RESPONSE, out);
}

static bool pra_busier(const struct pleat_numbers *numbers, size_t setting)
{
    return wm_differs(numbers, setting, UTILIZATION, 1);
}

static bool pra_utilization(const struct pleat_numbers *numbers, size_t setting)
{
    return egs_wm_highest(numbers, setting, PRA, UTILIZATION);
}

static void tell_pra_utilization(const struct pleat_numbers *numbers, size_t setting,
                                 struct pleat_string *out)
{
    tell_all(numbers, setting, PRA, UTILIZATION, 100, 1, out);
    pleat_string_add(out, " %");
}

static bool pra_grows(const struct pleat_numbers *numbers, size_t setting)
{
    return egs_wm_highest(numbers, setting, PRA, GROWS);
}

static void tell_pra_grows(const struct pleat_numbers *numbers, size_t setting,
                           struct pleat_string *out)
{
    tell_all(numbers, setting, PRA, GROWS, 1, 0, out);
}

/* In every run at most one job in twenty takes between 200 and 400 s. */
static bool two_groups(const struct pleat_numbers *numbers, size_t setting, size_t below,
                       size_t above)
{
    for (int run = 0; run < RUNS; run++) {
        double short_ones = value(numbers, setting, PRA, run, below).mean;
        double long_ones = value(numbers, setting, PRA, run, above).mean;
        if (short_ones < 0.3 || long_ones < 0.3 || short_ones + long_ones < 0.95)
            return false;
    }
    return true;
}

static void tell_groups(const struct pleat_numbers *numbers, size_t setting, size_t below,
                        size_t above, struct pleat_string *out)
{
    pleat_string_add(out, "below 200 s and above 400 s: ");
    for (int run = 0; run < RUNS; run++)
        pleat_string_addf(out, "%s%s %.0f and %.0f", run ? ", " : "", koala_run_name(run, PRA),
                          value(numbers, setting, PRA, run, below).mean * 100,
                          value(numbers, setting, PRA, run, above).mean * 100);
    pleat_string_add(out, " %");
}

static bool pra_groups(const struct pleat_numbers *numbers, size_t setting)
{
    return two_groups(numbers, setting, BELOW_200, ABOVE_400);
}

static void tell_pra_groups(const struct pleat_numbers *numbers, size_t setting,
                            struct pleat_string *out)
{
    tell_groups(numbers, setting, BELOW_200, ABOVE_400, out);
}

static bool pra_answers(const struct pleat_numbers *numbers, size_t setting)
{
    return two_groups(numbers, setting, ANSWERED_BELOW_200, ANSWERED_ABOVE_400);
}

static void tell_pra_answers(const struct pleat_numbers *numbers, size_t setting,
                             struct pleat_string *out)
{
    tell_groups(numbers, setting, ANSWERED_BELOW_200, ANSWERED_ABOVE_400, out);
}

/* ---- PWA ---- */

static bool pwa_stuck(const struct pleat_numbers *numbers, size_t setting)
{
    for (int run = 0; run < RUNS; run++)
        if (!pleat_estimate_above(value(numbers, setting, PWA, run, AT_MINIMUM), 0.3))
            return false;
    return true;
}

static void tell_pwa_stuck(const struct pleat_numbers *numbers, size_t setting,
                           struct pleat_string *out)
{
    tell_all(numbers, setting, PWA, AT_MINIMUM, 100, 1, out);
    pleat_string_add(out, " %");
}

/* The mean execution times of any two runs are at most a tenth apart. */
static bool pwa_alike(const struct pleat_numbers *numbers, size_t setting)
{
    for (int a = 0; a < RUNS; a++)
        for (int b = 0; b < RUNS; b++)
            if (a != b && !pleat_estimate_below(ratio(numbers, setting, PWA, a, b, EXECUTION), 1.1))
                return false;
    return true;
}

static void tell_pwa_alike(const struct pleat_numbers *numbers, size_t setting,
                           struct pleat_string *out)
{
    tell_all(numbers, setting, PWA, EXECUTION, 1, 0, out);
    pleat_string_add(out, " s");
}

/* GADGET takes a fifth to two fifths longer under PWA than under PRA, with all jobs malleable. */
static bool gadget_longer(const struct pleat_numbers *numbers, size_t setting)
{
    static const int runs[] = {EGS_WM, FPSMA_WM};
    for (int i = 0; i < 2; i++) {
        double pra = value(numbers, setting, PRA, runs[i], EXECUTION_GADGET).mean;
        double pwa = value(numbers, setting, PWA, runs[i], EXECUTION_GADGET).mean;
        if (pwa < 1.2 * pra || pwa > 1.4 * pra)
            return false;
    }
    return true;
}

static void tell_gadget_longer(const struct pleat_numbers *numbers, size_t setting,
                               struct pleat_string *out)
{
    pleat_string_addf(out, "PRA %.0f (EGS), %.0f (FPSMA); PWA %.0f, %.0f s",
                      value(numbers, setting, PRA, EGS_WM, EXECUTION_GADGET).mean,
                      value(numbers, setting, PRA, FPSMA_WM, EXECUTION_GADGET).mean,
                      value(numbers, setting, PWA, EGS_WM, EXECUTION_GADGET).mean,
                      value(numbers, setting, PWA, FPSMA_WM, EXECUTION_GADGET).mean);
}

static bool response_ratio(const struct pleat_numbers *numbers, size_t setting, double least)
{
    for (int run = EGS_WMR; run < RUNS; run++)
        if (!pleat_estimate_above(ratio(numbers, setting, PWA, EGS_WM, run, RESPONSE), least))
            return false;
    return true;
}

static bool pwa_worst(const struct pleat_numbers *numbers, size_t setting)
{
    return response_ratio(numbers, setting, 1);
}

/* Response times under EGS with all jobs malleable are longer than in all other runs by half at
 * least. */
static bool pwa_response(const struct pleat_numbers *numbers, size_t setting)
{
    return response_ratio(numbers, setting, 1.5);
}

static void tell_pwa_response(const struct pleat_numbers *numbers, size_t setting,
                              struct pleat_string *out)
{
    tell_all(numbers, setting, PWA, RESPONSE, 1, 0, out);
    pleat_string_add(out, " s");
}

static bool pwa_waits(const struct pleat_numbers *numbers, size_t setting)
{
    return egs_wm_highest(numbers, setting, PWA, WAIT);
}

static void tell_pwa_waits(const struct pleat_numbers *numbers, size_t setting,
                           struct pleat_string *out)
{
    tell_all(numbers, setting, PWA, WAIT, 1, 0, out);
    pleat_string_add(out, " s");
}

/* Jobs and local users together have nine tenths of the processors at least, from the first arrival
 * to the last end. */
static bool pwa_overload(const struct pleat_numbers *numbers, size_t setting)
{
    return pleat_estimate_above(value(numbers, setting, PWA, EGS_WM, USED), 0.9);
}

static void tell_pwa_overload(const struct pleat_numbers *numbers, size_t setting,
                              struct pleat_string *out)
{
    tell_all(numbers, setting, PWA, USED, 100, 1, out);
    pleat_string_add(out, " %");
}

static bool pwa_load(const struct pleat_numbers *numbers, size_t setting)
{
    return pleat_estimate_above(differs(numbers, setting, PWA, EGS_WM, FPSMA_WM, UTILIZATION), 0);
}

static void tell_pwa_load(const struct pleat_numbers *numbers, size_t setting,
                          struct pleat_string *out)
{
    tell_all(numbers, setting, PWA, UTILIZATION, 100, 1, out);
    pleat_string_add(out, " %");
}

/* In each run there are fewer changes of size than one for ten starts in the second half of the
 * arrivals, and more in the first half. */
static bool pwa_settles(const struct pleat_numbers *numbers, size_t setting)
{
    for (int run = 0; run < RUNS; run++)
        if (!pleat_estimate_below(value(numbers, setting, PWA, run, LATE_CHANGES), 0.1) ||
            !pleat_estimate_above(value(numbers, setting, PWA, run, EARLY_CHANGES), 0.1))
            return false;
    return true;
}

static void tell_pwa_settles(const struct pleat_numbers *numbers, size_t setting,
                             struct pleat_string *out)
{
    for (int run = 0; run < RUNS; run++)
        pleat_string_addf(out, "%s%s %.2f and %.2f",
                          run ? ", " : "changes for each start: ", koala_run_name(run, PWA),
                          value(numbers, setting, PWA, run, EARLY_CHANGES).mean,
                          value(numbers, setting, PWA, run, LATE_CHANGES).mean);
}

static const struct koala_shape shapes[KOALA_SHAPES] = {
    {"PRA: EGS gives malleable jobs a larger average size than FPSMA, Wm", "VII-A, figure 7a",
     pra_average, tell_pra_average},
    {"PRA: EGS gives malleable jobs a larger average size than FPSMA, Wmr", "VII-A, figure 7a",
     pra_average_mixed, tell_pra_average_mixed},
    {"PRA: EGS gives malleable jobs a larger maximum size than FPSMA, Wm", "VII-A, figure 7b",
     pra_maximum, tell_pra_maximum},
    {"PRA: EGS gives malleable jobs a larger maximum size than FPSMA, Wmr", "VII-A, figure 7b",
     pra_maximum_mixed, tell_pra_maximum_mixed},
    {"PRA: more malleable jobs never grow under FPSMA than under EGS, Wm", "VII-A, figure 7b",
     pra_stuck, tell_pra_stuck},
    {"PRA: more malleable jobs never grow under FPSMA than under EGS, Wmr", "VII-A, figure 7b",
     pra_stuck_mixed, tell_pra_stuck_mixed},
    {"PRA: execution times are shorter with Wm than with Wmr", "VII-A, figure 7c", pra_execution,
     tell_pra_execution},
    {"PRA: two groups of execution times, below 200 s and above 400 s", "VII-A, figure 7c",
     pra_groups, tell_pra_groups},
    {"PRA: EGS with Wm has the highest utilization", "VII-A, figure 7e", pra_utilization,
     tell_pra_utilization},
    {"PRA: EGS with Wm has the most grows", "VII-A, figure 7f", pra_grows, tell_pra_grows},
    {"PWA: many malleable jobs stay at their minimal size, in all four runs",
     "VII-B, figures 8a, 8b", pwa_stuck, tell_pwa_stuck},
    {"PWA: EGS leaves more malleable jobs at their minimal size than FPSMA, W'm",
     "VII-B, figures 8a, 8b", pwa_minimum, tell_pwa_minimum},
    {"PWA: EGS leaves more malleable jobs at their minimal size than FPSMA, W'mr",
     "VII-B, figures 8a, 8b", pwa_minimum_mixed, tell_pwa_minimum_mixed},
    {"PWA: execution times are almost the same in the four runs", "VII-B, figure 8c", pwa_alike,
     tell_pwa_alike},
    {"GADGET 2 takes 30 % longer under PWA than under PRA", "VII-B, figure 8c", gadget_longer,
     tell_gadget_longer},
    {"PWA: response times are the worst for EGS with W'm", "VII-B, figure 8d", pwa_worst,
     tell_pwa_response},
    {"PWA: response times are by far the worst for EGS with W'm (by half at least)",
     "VII-B, figure 8d", pwa_response, tell_pwa_response},
    {"PRA: two groups of response times, below 200 s and above 400 s", "VII-A, figure 7d",
     pra_answers, tell_pra_answers},
    {"PRA: response times are shorter with Wm than with Wmr", "VII-A, figure 7d", pra_response,
     tell_pra_response},
    {"PRA: the utilization is higher with Wm than with Wmr", "VII-A, figure 7e", pra_busier,
     tell_pra_utilization},
    {"PWA: waiting is the longest for EGS with W'm", "VII-B, figure 8d", pwa_waits, tell_pwa_waits},
    {"PWA: the system is overloaded under EGS with W'm (above 90 % of it in use)",
     "VII-B, figure 8e", pwa_overload, tell_pwa_overload},
    {"PWA: the load is lower under FPSMA than under EGS, W'm", "VII-B, figure 8e", pwa_load,
     tell_pwa_load},
    {"PWA: beyond a certain time sizes hardly change any more (in the second half of the arrivals, "
     "fewer than one change for ten starts)",
     "VII-B, figure 8f", pwa_settles, tell_pwa_settles},
};

const struct koala_shape *koala_shape_at(size_t i)
{
    return i < KOALA_SHAPES ? &shapes[i] : NULL;
}
