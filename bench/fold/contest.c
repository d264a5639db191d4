#include "contest.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "machine.h"
#include "progress.h"

#define LIMIT_S 60.0
#define LIMIT_LEAST_S 2.0

struct contender *contest_add(struct contest *contest, const char *name,
                              const struct trial_setup *setup)
{
    struct contender *contender = &contest->contenders[contest->count++];
    *contender = (struct contender){.name = name, .setup = *setup, .late_s = INFINITY};
    if (contender->setup.limit_s <= 0)
        contender->setup.limit_s = LIMIT_S;
    return contender;
}

struct contender *contest_find(struct contest *contest, const char *name)
{
    for (int i = 0; i < contest->count; i++)
        if (!strcmp(contest->contenders[i].name, name))
            return &contest->contenders[i];
    return NULL;
}

struct contender *contest_better(struct contender *a, struct contender *b, bool by_cpu)
{
    if (!a || !a->elapsed.count)
        return b && b->elapsed.count ? b : NULL;
    if (!b || !b->elapsed.count)
        return a;
    double of_a = bench_median(by_cpu ? &a->own_cpu : &a->own_elapsed);
    double of_b = bench_median(by_cpu ? &b->own_cpu : &b->own_elapsed);
    return of_b < of_a ? b : a;
}

struct bench_paired contest_ratio(const struct contest *contest, int above, int below)
{
    const struct contender *a = &contest->contenders[above];
    const struct contender *b = &contest->contenders[below];
    if (a->late || b->late)
        return (struct bench_paired){.median = 0};
    return bench_paired(&a->own_elapsed, &b->own_elapsed);
}

static void add_result(const struct contest *contest, struct contender *contender,
                       const struct trial_result *result)
{
    if (result->outcome == TRIAL_TIMED_OUT) {
        /* Starting is assumed to take as long as it takes the first contender: the rest of the time
         * is the contender's own. */
        const struct contender *first = &contest->contenders[0];
        double starting = bench_median(&first->elapsed) - bench_median(&first->own_elapsed);
        contender->late++;
        contender->late_s = fmin(contender->late_s, result->elapsed_s - starting);
        return;
    }
    bench_add(&contender->elapsed, result->elapsed_s);
    bench_add(&contender->cpu, result->cpu_s);
    bench_add(&contender->own_elapsed, result->own_elapsed_s);
    bench_add(&contender->own_cpu, result->own_cpu_s);
    double idleness = trial_idleness(result);
    double switches = trial_fold_number(result, "switches");
    contender->global += trial_fold_is(result, "queue", "global");
    if (isfinite(idleness))
        bench_add(&contender->idleness, idleness);
    if (isfinite(switches))
        bench_add(&contender->switches, switches);
}

/* The limit of the whole run for which the contender's own time (without starting) may be `limit`
 * times the first contender's. */
static double limit_of(const struct contest *contest, const struct contender *contender)
{
    const struct contender *first = &contest->contenders[0];
    if (contender->limit <= 0 || !first->elapsed.count)
        return contender->setup.limit_s;
    double own = bench_median(&first->own_elapsed);
    double starting = bench_median(&first->elapsed) - own;
    return fmax(LIMIT_LEAST_S, starting + contender->limit * own);
}

static void run_one(struct contest *contest, struct contender *contender)
{
    static struct trial_result result;
    struct trial_setup setup = contender->setup;
    progress_step(contest->name, contender->name);
    if (contender->late >= CONTEST_LATE_MOST)
        return;
    setup.limit_s = limit_of(contest, contender);
    bench_add(&contest->others, trial_run(&setup, &result));
    add_result(contest, contender, &result);
    trial_release(&result);
}

void contest_round(struct contest *contest, int round)
{
    if (contest->hogs)
        machine_hogs_start(contest->hogs);
    for (int i = 0; i < contest->count; i++)
        run_one(contest, &contest->contenders[(i + round) % contest->count]);
    machine_hogs_end();
}
