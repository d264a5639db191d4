/* conclusions5.c - what chapter 5 of Utrera 2010 concludes, in each reading of the thesis. */
#include "experiments/virtual-malleability/virtual.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PSA, ASP60, FOLDING, FJT, POLICIES, RIVALS = FJT };

/* The first is what is taken; each other one differs from it in one thing. PSA of 5.4.1 is taken
 * since 5.4.2 tells of the small partitions that come of it: it was chosen by its result, so a
 * statement that does not hold with PSA of 5.2 is fitted at most. */
static const struct reading {
    const char *name;
    enum vm_policy policies[POLICIES];
    bool global_queue;
} readings[] = {
    {"as taken", {VM_PSA_IDLE, VM_ASP60, VM_FOLDING, VM_FJT}, false},
    {"PSA of 5.2", {VM_PSA, VM_ASP60, VM_FOLDING, VM_FJT}, false},
    {"PSA of 5.2, by the letter", {VM_PSA_PRINTED, VM_ASP60, VM_FOLDING, VM_FJT}, false},
    {"ASP60 of idle processors", {VM_PSA_IDLE, VM_ASP60_IDLE, VM_FOLDING, VM_FJT}, false},
    {"FOLDING that unfolds", {VM_PSA_IDLE, VM_ASP60, VM_FOLDING_UNFOLDS, VM_FJT}, false},
    {"FJT of figure 5.5", {VM_PSA_IDLE, VM_ASP60, VM_FOLDING, VM_FJT_FIGURE}, false},
    {"a global queue", {VM_PSA_IDLE, VM_ASP60, VM_FOLDING, VM_FJT}, true},
};

enum { READINGS = sizeof(readings) / sizeof(readings[0]), OF_5_2 = 1 };

static struct vm_setting setting(const struct reading *reading, int mix, int policy)
{
    struct vm_setting of = {vm_mixes[mix], 0, reading->policies[policy], vm_chapter5};
    of.unsaid.global_queue = reading->global_queue;
    return of;
}

int vm_conclusions5_add(struct vm_results *results)
{
    int rc = 0;
    for (int r = 0; r < READINGS; r++)
        for (int mix = 0; mix < VM_MIXES; mix++)
            for (int p = 0; !rc && p < POLICIES; p++)
                rc = vm_add(results, setting(&readings[r], mix, p));
    return rc;
}

/* ---- of one reading ---- */

/* By how much FJT's response is below that of the best of the others. *best stays true only if it
 * is below that of each of them, with its interval. */
static struct pleat_estimate over_the_best(const struct vm_results *results,
                                           const struct reading *reading, int mix, int class_,
                                           bool *best)
{
    struct pleat_estimate least = {.mean = INFINITY};
    for (int p = 0; p < RIVALS; p++) {
        struct pleat_estimate gain =
            vm_gain(results, setting(reading, mix, FJT), setting(reading, mix, p),
                    vm_metric(class_, VM_RESPONSE));
        *best = *best && pleat_estimate_above(gain, 0);
        if (gain.mean < least.mean)
            least = gain;
    }
    return least;
}

/* "+48 ± 3 to +57 ± 4 %": the least and the largest of some estimates. */
static void tell_range(struct vm_verdict *verdict, const struct pleat_estimate *of, int count)
{
    struct pleat_estimate low = of[0], high = of[0];
    for (int i = 1; i < count; i++) {
        low = of[i].mean < low.mean ? of[i] : low;
        high = of[i].mean > high.mean ? of[i] : high;
    }
    snprintf(verdict->text, sizeof(verdict->text), "%s to %s %%",
             pleat_estimate_text_plus(vm_percent(low), 0).text,
             pleat_estimate_text_plus(vm_percent(high), 0).text);
}

static struct vm_verdict best_in(const struct vm_results *results, const struct reading *reading,
                                 int first, int count)
{
    struct vm_verdict verdict = {.holds = true};
    struct pleat_estimate gains[VM_MIXES];
    for (int i = 0; i < count; i++)
        gains[i] = over_the_best(results, reading, first + i, VM_LONG, &verdict.holds);
    tell_range(&verdict, gains, count);
    return verdict;
}

static struct vm_verdict best_few(const struct vm_results *results, const struct reading *reading)
{
    return best_in(results, reading, 0, 3);
}

static struct vm_verdict best_many(const struct vm_results *results, const struct reading *reading)
{
    return best_in(results, reading, 3, 3);
}

static struct vm_verdict best_all(const struct vm_results *results, const struct reading *reading)
{
    return best_in(results, reading, 0, VM_MIXES);
}

static struct vm_verdict thirty(const struct vm_results *results, const struct reading *reading)
{
    struct vm_verdict verdict = {.holds = true};
    struct pleat_estimate gains[VM_MIXES];
    bool best = true;
    for (int mix = 0; mix < VM_MIXES; mix++) {
        gains[mix] = over_the_best(results, reading, mix, VM_LONG, &best);
        verdict.holds = verdict.holds && gains[mix].mean > 0.2 && gains[mix].mean < 0.4;
    }
    tell_range(&verdict, gains, VM_MIXES);
    return verdict;
}

/* By how much a policy's response for long jobs grows from w1 to w3. */
static struct pleat_estimate growth(const struct vm_results *results, const struct reading *reading,
                                    int policy)
{
    struct pleat_estimate less =
        vm_gain(results, setting(reading, 2, policy), setting(reading, 0, policy),
                vm_metric(VM_LONG, VM_RESPONSE));
    less.mean = -less.mean;
    return less;
}

static struct vm_verdict constant(const struct vm_results *results, const struct reading *reading)
{
    struct pleat_estimate fjt = growth(results, reading, FJT), psa = growth(results, reading, PSA);
    struct vm_verdict verdict = {.holds = pleat_estimate_below(fjt, 0.1)};
    snprintf(verdict.text, sizeof(verdict.text), "%s %% (PSA's %s %%)",
             pleat_estimate_text_plus(vm_percent(fjt), 0).text,
             pleat_estimate_text_plus(vm_percent(psa), 0).text);
    return verdict;
}

/* The share of waiting in a response, as the mean over the runs. */
static struct pleat_estimate waiting(const struct vm_results *results,
                                     const struct reading *reading, int mix, int policy, int class_)
{
    size_t at = vm_find(results, setting(reading, mix, policy));
    return pleat_estimate_ratio(
        pleat_numbers_of(&results->numbers, at, vm_metric(class_, VM_WAIT)),
        pleat_numbers_of(&results->numbers, at, vm_metric(class_, VM_RESPONSE)),
        results->numbers.seeds);
}

static struct vm_verdict execution(const struct vm_results *results, const struct reading *reading)
{
    struct vm_verdict verdict = {.holds = true};
    struct pleat_estimate most = {.mean = -1};
    for (int mix = 0; mix < 3; mix++)
        for (int p = 0; p < POLICIES; p++) {
            struct pleat_estimate of = waiting(results, reading, mix, p, VM_LONG);
            verdict.holds = verdict.holds && pleat_estimate_below(of, 0.5);
            most = of.mean > most.mean ? of : most;
        }
    most.mean = 1 - most.mean;
    snprintf(verdict.text, sizeof(verdict.text), "%s %% at least",
             pleat_estimate_text(vm_percent(most), 1).text);
    return verdict;
}

/* For each policy the share of waiting in w1 to w3: under FJT the largest of the three, under the
 * others the least. */
static struct vm_verdict short_waits(const struct vm_results *results,
                                     const struct reading *reading)
{
    static const char *const names[POLICIES] = {"PSA", "ASP60", "FOLDING", "FJT"};
    struct vm_verdict verdict = {.holds = true};
    for (int p = 0; p < POLICIES; p++) {
        struct pleat_estimate shown = waiting(results, reading, 0, p, VM_SHORT);
        for (int mix = 0; mix < 3; mix++) {
            struct pleat_estimate of = waiting(results, reading, mix, p, VM_SHORT);
            verdict.holds = verdict.holds && (p == FJT ? pleat_estimate_below(of, 0.5)
                                                       : pleat_estimate_above(of, 0.5));
            if (p == FJT ? of.mean > shown.mean : of.mean < shown.mean)
                shown = of;
        }
        size_t length = strlen(verdict.text);
        snprintf(verdict.text + length, sizeof(verdict.text) - length, "%s%s %s", p ? ", " : "",
                 names[p], pleat_estimate_text(vm_percent(shown), 0).text);
    }
    const size_t used = strlen(verdict.text);
    snprintf(verdict.text + used, sizeof(verdict.text) - used, " %%");
    return verdict;
}

static struct vm_verdict psa_waits(const struct vm_results *results, const struct reading *reading)
{
    struct vm_verdict verdict = {.holds = true};
    struct pleat_estimate shares[3];
    for (int mix = 0; mix < 3; mix++) {
        shares[mix] = waiting(results, reading, mix, PSA, VM_SHORT);
        verdict.holds = verdict.holds && pleat_estimate_above(shares[mix], 0.5);
    }
    tell_range(&verdict, shares, 3);
    return verdict;
}

static struct vm_verdict short_similar(const struct vm_results *results,
                                       const struct reading *reading)
{
    struct vm_verdict verdict = {.holds = true};
    struct pleat_estimate gains[VM_MIXES];
    bool best = true;
    for (int mix = 0; mix < VM_MIXES; mix++) {
        gains[mix] = over_the_best(results, reading, mix, VM_SHORT, &best);
        verdict.holds = verdict.holds && pleat_estimate_below(gains[mix], 0.2);
    }
    tell_range(&verdict, gains, VM_MIXES);
    return verdict;
}

static struct vm_verdict short_favoured(const struct vm_results *results,
                                        const struct reading *reading)
{
    struct pleat_estimate gain =
        vm_gain(results, setting(reading, 2, PSA), setting(reading, 2, FJT),
                vm_metric(VM_SHORT, VM_RESPONSE));
    struct vm_verdict verdict = {.holds = pleat_estimate_above(gain, 0)};
    snprintf(verdict.text, sizeof(verdict.text), "%s %%",
             pleat_estimate_text_plus(vm_percent(gain), 0).text);
    return verdict;
}

/* By how much ASP60 is below PSA and FOLDING in w4 to w6. */
static struct vm_verdict worst(const struct vm_results *results, const struct reading *reading)
{
    struct vm_verdict verdict = {.holds = true};
    struct pleat_estimate gains[6];
    for (int i = 0; i < 6; i++) {
        int mix = 3 + i / 2;
        gains[i] =
            vm_gain(results, setting(reading, mix, ASP60),
                    setting(reading, mix, i % 2 ? FOLDING : PSA), vm_metric(VM_LONG, VM_RESPONSE));
        verdict.holds = verdict.holds && pleat_estimate_above(gains[i], 0);
    }
    tell_range(&verdict, gains, 6);
    return verdict;
}

/* ---- all ---- */

static const struct {
    const char *statement, *measure, *where;
    enum pleat_label expected; /* as taken */
    struct vm_verdict (*of)(const struct vm_results *results, const struct reading *reading);
} conclusions[] = {
    {"FJT is the best for long jobs in w1, w2 and w3", "below the next best", "5.4.2, figure 5.6",
     PLEAT_FITTED, best_few},
    {"FJT is the best for long jobs in w4, w5 and w6", "below the next best", "5.4.2, figure 5.8",
     PLEAT_FITTED, best_many},
    {"FJT is better by about 30 % for long jobs (20 to 40 % in each mix)", "below the next best",
     "5.5", PLEAT_NOT_FOUND, thirty},
    {"FJT's response for long jobs stays constant from w1 to w3 (within 10 %)", "growth",
     "5.4.2, figure 5.6", PLEAT_NOT_FOUND, constant},
    {"Most of a long job's response is execution", "execution", "5.4.2, figure 5.6", PLEAT_CLAIMED,
     execution},
    {"Most of a short job's response is waiting, but not under FJT",
     "waiting, the least of w1 to w3 (FJT: the largest)", "5.4.2, figure 5.7", PLEAT_NOT_FOUND,
     short_waits},
    {"Most of a short job's response is waiting under PSA, whatever the others do", "waiting",
     "5.4.2, figure 5.7", PLEAT_NOT_FOUND, psa_waits},
    {"In w3 short jobs answer sooner under PSA than under FJT", "below FJT", "5.4.2, figure 5.7",
     PLEAT_NOT_FOUND, short_favoured},
    {"For short jobs FJT is similar to the best of the others (within 20 %) or worse",
     "below the next best", "5.5", PLEAT_CLAIMED, short_similar},
    {"PSA and FOLDING are the worst for long jobs in w4 to w6", "ASP60 below them",
     "5.4.2, figure 5.8", PLEAT_NOT_FOUND, worst},
};

enum { CONCLUSIONS = sizeof(conclusions) / sizeof(conclusions[0]) };

void vm_conclusions5_tell(struct pleat_study *study, const struct vm_results *results)
{
    for (int c = 0; c < CONCLUSIONS; c++) {
        struct vm_verdict verdict = conclusions[c].of(results, &readings[0]);
        pleat_study_shape(study,
                          &(struct pleat_shape){conclusions[c].statement, conclusions[c].where,
                                                conclusions[c].expected, verdict.holds},
                          "%s: %s", conclusions[c].measure, verdict.text);
    }
    struct vm_verdict verdict = best_all(results, &readings[OF_5_2]);
    pleat_study_shape(study,
                      &(struct pleat_shape){"FJT is the best for long jobs in w1 to w6 where PSA "
                                            "saves processors, as 5.2 says",
                                            "5.2", PLEAT_NOT_FOUND, verdict.holds},
                      "below the next best: %s", verdict.text);
}

void vm_conclusions5_write(struct pleat_study *study, const struct vm_results *results)
{
    struct pleat_page *page = &study->page;
    struct pleat_string titles = {0};
    pleat_page_subheading(page, "Which conclusions survive in which reading");
    pleat_page_paragraph(
        page,
        "The first column of results is as taken; each further one reads the thesis otherwise in "
        "one thing (%zu seeds each; a minus is a loss). PSA is described twice: 5.2 and table 5.1 "
        "save processors (policy `psa`), 5.4.1 divides those that are idle (`psa-idle`). The "
        "second is taken, since it gives the small partitions that 5.4.2 tells of. So it was "
        "chosen by what comes out, and what holds only with it is fitted. By the letter of 5.2 a "
        "job also waits "
        "under PSA, while others run, if its part is exactly what is idle. In the last column the "
        "processes of a folded job share one queue on its processors, instead of staying each on "
        "its own (4.4.3: a job of which nothing is known begins with a global queue. Under Open "
        "MPI Pleat lets it begin with local ones: `begin` in the admin guide.)",
        results->numbers.seeds);
    pleat_string_add(&titles, "the thesis concludes|<what is told");
    for (int r = 0; r < READINGS; r++)
        pleat_string_addf(&titles, "|<%s", readings[r].name);
    pleat_page_table(page, titles.text ? titles.text : "");
    study->out_of_memory |= titles.failed != 0;
    pleat_string_finish(&titles);
    for (int c = 0; c < CONCLUSIONS; c++) {
        pleat_page_cell(page, "%s", conclusions[c].statement);
        pleat_page_cell(page, "%s", conclusions[c].measure);
        for (int r = 0; r < READINGS; r++) {
            struct vm_verdict verdict = conclusions[c].of(results, &readings[r]);
            pleat_page_cell(page, "%s: %s", verdict.holds ? "yes" : "**no**", verdict.text);
        }
    }
    pleat_page_paragraph(
        page,
        "So FJT's gain for long jobs over the best of the others is %s as taken. Where PSA is read "
        "as 5.2 and table 5.1 have it, by the letter or not, it is %s: a loss. No other reading "
        "turns the gain into a loss. That most of a short job's response is waiting holds for PSA "
        "alone, and only where it is read so. Whether a job waits under PSA if its part is "
        "\"equal\" to what is idle changes no conclusion. Neither do the readings of ASP60 and "
        "FOLDING, nor the queue of folded jobs.",
        best_all(results, &readings[0]).text, best_all(results, &readings[OF_5_2]).text);
}
