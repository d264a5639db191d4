#include "change.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "progress.h"

#define SETTLING_S 0.05 /* not counted for the rates: the reaction does not judge itself */
#define PERIODS_LEAST 10
#define FOLLOWING 6   /* iterations that together must be of the new kind */
#define FIRST_MS 1200 /* starting 8 processes is not part of it */
#define EVERY_MS 400
#define CHANGES 6 /* in one run: 1, 2, 1, 2, 1, 2 processors */
#define CHANGES_QUICK 1
#define LIMIT_S 60

/* Of about 0.4 ms each on two processors, computing for the most part: enough of them. */
static const char *const iterations[] = {"--iterations", "9000", "--size", "256",
                                         "--work",       "80",   NULL};
static const char *const few[] = {"--iterations", "3000", "--size", "256", "--work", "80", NULL};

/* How long an iteration took on the average of those that began and ended between two moments; 0:
 * too few. Not the median: where messages are ahead every other iteration hardly takes any time. */
static double period(const double *stamps, size_t count, double from, double to)
{
    size_t first = 0;
    while (first < count && stamps[first] < from)
        first++;
    size_t end = first;
    while (end < count && stamps[end] <= to)
        end++;
    size_t found = end > first ? end - first - 1 : 0;
    return found < PERIODS_LEAST ? 0 : (stamps[end - 1] - stamps[first]) / (double)found;
}

/* Whether FOLLOWING iterations from the one on that begins with the i'th stamp are together nearer
 * to the new length than to the old one. */
static bool is_new(const double *stamps, size_t count, size_t i, double old, double now)
{
    if (i + FOLLOWING >= count)
        return false;
    double length = (stamps[i + FOLLOWING] - stamps[i]) / FOLLOWING;
    return (length < sqrt(old * now)) == (now < old);
}

bool change_measure(const double *stamps, size_t count, double before, double at, double after,
                    double *reaction_s, double *period_before_s, double *period_after_s)
{
    *period_before_s = period(stamps, count, before + SETTLING_S, at);
    *period_after_s = period(stamps, count, at + SETTLING_S, after);
    if (*period_before_s <= 0 || *period_after_s <= 0)
        return false;
    for (size_t i = 0; i < count && stamps[i] < after; i++) {
        if (stamps[i] < at || !is_new(stamps, count, i, *period_before_s, *period_after_s))
            continue;
        *reaction_s = stamps[i + FOLLOWING / 2] - at;
        return true;
    }
    *reaction_s = after - at; /* the new rate never showed */
    return true;
}

void change_init(struct change *change, enum trial_mpi mpi, bool quick)
{
    *change = (struct change){.mpi = mpi, .quick = quick};
    snprintf(change->name, sizeof(change->name), "%s_change", trial_mpi_name(mpi));
}

/* "900ms=1" and so on; kept until the end. */
static const char *const *plan_of(int changes)
{
    static char texts[CHANGES][24];
    static const char *words[CHANGES + 1];
    for (int i = 0; i < changes; i++) {
        snprintf(texts[i], sizeof(texts[i]), "%dms=%d", FIRST_MS + i * EVERY_MS,
                 i % 2 ? CASE_PROCESSORS_MAX : 1);
        words[i] = texts[i];
        words[i + 1] = NULL;
    }
    return words;
}

struct order { /* of fold-run's, as it was carried out */
    int processors;
    double done_s;
};

static int read_orders(const struct trial_result *result, struct order *orders)
{
    int count = 0;
    for (const char *at = result->fold; count < CHANGES && (at = strstr(at, "\"at_s\":")); at++)
        if (sscanf(at, "\"at_s\":%*[^,],\"processors\":%d,\"done_s\":%lf",
                   &orders[count].processors, &orders[count].done_s) == 2)
            count++;
    return count;
}

static void add_change(struct change *change, const struct trial_result *result,
                       const struct order *order, double before_s, double after_s)
{
    double reaction_s, was_s, is_s;
    if (!change_measure(result->stamps, result->stamp_count, before_s, order->done_s, after_s,
                        &reaction_s, &was_s, &is_s))
        return;
    bool grows = order->processors > 1;
    bench_add(grows ? &change->grow_ms : &change->shrink_ms, 1e3 * reaction_s);
    bench_add(&change->ratio, grows ? was_s / is_s : is_s / was_s);
}

void change_round(struct change *change)
{
    static struct trial_result result;
    struct order orders[CHANGES];
    int changes = change->quick ? CHANGES_QUICK : CHANGES;
    struct trial_setup setup = {.mpi = change->mpi,
                                .way = TRIAL_FOLDED,
                                .plan = plan_of(changes),
                                .processes = CASE_PROCESSES,
                                .cpus = machine_cpus(CASE_PROCESSORS_MAX),
                                .program = "halo",
                                .options = change->quick ? few : iterations,
                                .rate = true,
                                .limit_s = LIMIT_S};
    progress_step(change->name, "halo");
    bench_add(&change->others, trial_run(&setup, &result));
    int count = read_orders(&result, orders);
    for (int i = 0; i < count && result.outcome == TRIAL_DONE; i++)
        add_change(change, &result, &orders[i], i ? orders[i - 1].done_s : result.own_begun_s,
                   i + 1 < count ? orders[i + 1].done_s : result.own_ended_s);
    trial_release(&result);
}
