#include "fold_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fold_rows.h"
#include "machine.h"

#define GOAL_CPU 1.05     /* the upper bound of the CPU time over that of the MPI's best setting */
#define GOAL_HOGGED 0.5   /* elapsed time over that of the MPI's best setting */
#define GOAL_DEFAULT 0.1  /* elapsed time over that of MPICH as it is */
#define GOAL_CHOSEN 1.05  /* of the detector's queue over the better one */
#define GOAL_CHANGE_MS 10 /* until a new rate shows */
#define GOAL_RATES 1.9    /* two processors over one */
#define GOAL_CALL_NS 20

static const char *const columns[] = {"folded", "default", "yield", "sized"};
#define COLUMNS (int)(sizeof(columns) / sizeof(columns[0]))

static struct contender *best_own(struct contest *contest, bool by_cpu)
{
    return contest_better(fold_in_time(contest, "default"), fold_in_time(contest, "yield"), by_cpu);
}

/* ---- against the MPI's own settings ---- */

/* Each round's mean over the programs (of the logarithms), so that one slow round is one value. */
static struct bench_series mean_of(const struct bench_series *series, int count)
{
    struct bench_series mean = {.count = 0};
    int rounds = BENCH_REPEATS_MAX;
    int used = 0;
    for (int i = 0; i < count; i++) {
        used += series[i].count > 0;
        if (series[i].count > 0 && series[i].count < rounds)
            rounds = series[i].count;
    }
    for (int round = 0; used && round < rounds; round++) {
        double sum = 0;
        for (int i = 0; i < count; i++)
            sum += series[i].count ? log(series[i].values[round]) : 0;
        bench_add(&mean, exp(sum / used));
    }
    return mean;
}

static void judge_ratios(const char *name, const struct bench_series *ratios)
{
    struct bench_paired paired = bench_paired_of(ratios);
    struct bench_row *row = fold_row("ratio", "fold_%s_cpu_ratio", name);
    row->value = paired.median;
    printf("  %6.3f", paired.median);
    if (isfinite(paired.upper)) {
        row = fold_row("ratio", "fold_%s_cpu_bound", name);
        row->value = paired.upper;
        fold_row_goal(row, GOAL_CPU, paired.upper <= GOAL_CPU);
        printf(" %9.3f", paired.upper);
    } else {
        printf(" %9s", "-");
    }
    printf("  %s\n", fold_verdict(row));
}

/* The ratios of one program; none where there is nothing to compare with. */
static struct bench_series report_cpu(struct contest *contest)
{
    struct contender *folded = fold_in_time(contest, "folded");
    struct contender *best = best_own(contest, true);
    struct bench_row *row = fold_row("s", "fold_%s_cpu", contest->name);
    for (int i = 0; i < COLUMNS; i++)
        fold_print_contender(contest_find(contest, columns[i]), true);
    row->value = folded ? bench_median(&folded->own_cpu) : 0;
    if (!folded || !best) {
        printf("  %s\n", folded ? "it ended, the others did not" : "it did not end: NOT MET");
        return (struct bench_series){.count = 0};
    }
    row->baseline = bench_median(&best->own_cpu);
    row = fold_row("s", "fold_%s_total_cpu", contest->name);
    row->value = bench_median(&folded->cpu);
    row->baseline = bench_median(&best->cpu);
    struct bench_series ratios = bench_paired(&folded->own_cpu, &best->own_cpu).ratios;
    judge_ratios(contest->name, &ratios);
    return ratios;
}

/* Elapsed time against the MPI's best setting; goal: of that ratio, 0: none. Where that setting
 * always ran out of time, against a lower bound of the time that it would have taken. */
static void report_elapsed(struct contest *contest, double goal)
{
    struct contender *folded = fold_in_time(contest, "folded");
    struct contender *best = best_own(contest, false);
    struct contender *as_is = contest_find(contest, "default");
    struct contender *sized = fold_in_time(contest, "sized");
    struct bench_row *row = fold_row("s", "fold_%s_elapsed", contest->name);
    for (int i = 0; i < COLUMNS; i++)
        fold_print_contender(contest_find(contest, columns[i]), false);
    row->value = folded ? bench_median(&folded->own_elapsed) : 0;
    row->baseline = best                       ? bench_median(&best->own_elapsed)
                    : as_is && as_is->late > 0 ? as_is->late_s
                                               : 0;
    if (row->baseline > 0 && folded) {
        printf(" %s%6.3f", best ? " " : "<", bench_ratio(row));
        /* a way that was ended too early to be judged is not judged */
        if (best || bench_ratio(row) <= goal)
            fold_row_goal(row, goal, bench_ratio(row) <= goal);
    } else {
        printf(" %7s", "-");
    }
    if (sized && folded) {
        struct bench_row *slower = fold_row("s", "fold_%s_slowdown", contest->name);
        slower->value = row->value;
        slower->baseline = bench_median(&sized->own_elapsed);
        printf(" %9.3f", bench_ratio(slower));
    } else {
        printf(" %9s", "-");
    }
    printf("  %s\n", fold_verdict(row));
}

static void print_head(const char *what, const char *ratios)
{
    printf("  %-9s", what);
    for (int i = 0; i < COLUMNS; i++)
        printf(" %26s", columns[i]);
    printf("  %s\n", ratios);
}

/* Of contests in a row those of one MPI and number of processors. */
static int group_of(const struct contest *contests, int count)
{
    const struct trial_setup *first = &contests[0].contenders[0].setup;
    for (int i = 1; i < count; i++) {
        const struct trial_setup *setup = &contests[i].contenders[0].setup;
        if (setup->mpi != first->mpi || setup->cpus != first->cpus)
            return i;
    }
    return count;
}

static int processors_of(const struct contest *contest)
{
    return contest->contenders[0].setup.cpus == machine_cpus(1) ? 1 : CASE_PROCESSORS_MAX;
}

static void print_title(const struct contest *contests, int count)
{
    const struct trial_setup *setup = &contests[0].contenders[0].setup;
    printf("%s, %d processes on %d processor%s%s; others used %.2f processors\n",
           setup->mpi == TRIAL_OPENMPI ? "Open MPI" : "MPICH", setup->processes,
           processors_of(contests), processors_of(contests) == 1 ? "" : "s",
           contests[0].hogs ? ", each with something else to do, too" : "",
           fold_others(contests, count));
}

static bool communicates(const struct contest *contest)
{
    return contest->program->communicates;
}

static void report_group(struct contest *contests, int count)
{
    struct bench_series ratios[FOLD_CONTESTS_MAX];
    const struct trial_setup *setup = &contests[0].contenders[0].setup;
    bool hogged = contests[0].hogs != NULL;
    bool mpich = setup->mpi == TRIAL_MPICH;
    char name[64];
    print_title(contests, count);
    print_head("CPU, s", " ratio  95 %: <  goal 1.05");
    for (int i = 0; i < count; i++) {
        printf("  %-9s", contests[i].program->name);
        ratios[i] = report_cpu(&contests[i]);
    }
    struct bench_series mean = mean_of(ratios, count);
    if (mean.count) {
        snprintf(name, sizeof(name), "%s_%dcpu_mean%s", trial_mpi_name(setup->mpi),
                 processors_of(contests), hogged ? "_hog" : "");
        printf("  %-9s%108s", "mean", "");
        judge_ratios(name, &mean);
    }
    print_head("elapsed", hogged  ? " ratio     sized  goal 0.5"
                          : mpich ? " ratio     sized  goal 0.1, where it communicates"
                                  : " ratio     sized");
    for (int i = 0; i < count; i++) {
        double goal = hogged ? GOAL_HOGGED : mpich && communicates(&contests[i]) ? GOAL_DEFAULT : 0;
        printf("  %-9s", contests[i].program->name);
        report_elapsed(&contests[i], goal);
    }
}

static void report_groups(struct contest *contests, int count)
{
    for (int at = 0; at < count;) {
        int group = group_of(contests + at, count - at);
        report_group(contests + at, group);
        at += group;
    }
}

/* ---- queues ---- */

static void report_queue(struct contest *contest)
{
    struct contender *local = fold_in_time(contest, "local");
    struct contender *global = fold_in_time(contest, "global");
    struct contender *chosen = fold_in_time(contest, "chosen");
    struct contender *better = contest_better(local, global, false);
    printf("  %-32s", contest->name);
    fold_print_contender(contest_find(contest, "local"), false);
    fold_print_contender(contest_find(contest, "global"), false);
    if (local && local->idleness.count)
        printf("  %5.1f %%", 100 * bench_median(&local->idleness));
    if (local && global) {
        struct bench_row *row = fold_row("s", "fold_%s_global", contest->name);
        row->value = bench_median(&global->own_elapsed);
        row->baseline = bench_median(&local->own_elapsed);
        printf("  %12.3f", bench_ratio(row));
    }
    if (chosen && better) {
        struct bench_row *row = fold_row("s", "fold_%s_chosen", contest->name);
        row->value = bench_median(&chosen->own_elapsed);
        row->baseline = bench_median(&better->own_elapsed);
        fold_row_goal(row, GOAL_CHOSEN, bench_ratio(row) <= GOAL_CHOSEN);
        fold_print_contender(chosen, false);
        printf(" %6.3f  %s (global %d of %d times)", bench_ratio(row), fold_verdict(row),
               chosen->global, chosen->elapsed.count);
    }
    putchar('\n');
}

static void report_queues(struct contest *contests, int count)
{
    if (!count)
        return;
    printf("queues: %d processes on %d processors, elapsed s; others used %.2f processors\n"
           "  %-32s %26s %26s  %7s  global/local %26s  over the better one, goal 1.05\n",
           CASE_PROCESSES, CASE_PROCESSORS_MAX, fold_others(contests, count), "", "local", "global",
           "idle", "what the detector chose");
    for (int i = 0; i < count; i++)
        report_queue(&contests[i]);
}

/* ---- two jobs ---- */

static void report_jobs(struct jobs *jobs)
{
    struct jobs_way *own = &jobs->ways[JOBS_PARTITIONS];
    printf("%s: two jobs of %d processes on %d processors; others used %.2f processors\n"
           "  %-14s %26s %26s %11s\n",
           jobs->name, CASE_PROCESSES, JOBS, bench_median(&jobs->others), "", "makespan, s",
           "CPU, s", "spread");
    for (int i = 0; i < JOBS_WAYS; i++) {
        struct jobs_way *way = &jobs->ways[i];
        if (way->late)
            printf("  %-14s ran out of time %d times\n", way->name, way->late);
        if (!way->makespan.count)
            continue;
        printf("  %-14s", way->name);
        fold_print_series(&way->makespan);
        fold_print_series(&way->cpu);
        printf(" %9.1f %%\n", 100 * bench_variation(&way->elapsed));
        struct bench_row *row = fold_row("s", "fold_%s_%s_makespan", jobs->name, way->name);
        row->value = bench_median(&own->makespan);
        row->baseline = way == own ? 0 : bench_median(&way->makespan);
        row = fold_row("s", "fold_%s_%s_cpu", jobs->name, way->name);
        row->value = bench_median(&own->cpu);
        row->baseline = way == own ? 0 : bench_median(&way->cpu);
        row = fold_row("ratio", "fold_%s_%s_spread", jobs->name, way->name);
        row->value = bench_variation(&way->elapsed);
    }
}

/* ---- the limits ---- */

static void report_hop(const char *name, const char *title, const struct bench_series *series,
                       double limit)
{
    struct bench_row *row = fold_row("us", "fold_hop_%s", name);
    row->value = bench_median(series);
    row->baseline = limit;
    printf("  %-36s %6.2f [%5.2f .. %5.2f]", title, row->value, bench_quantile(series, 0),
           bench_quantile(series, 1));
    printf(limit > 0 ? "  %5.2f\n" : "\n", bench_ratio(row));
}

static void report_limits(const struct limits *limits)
{
    if (!limits->yield_us.count)
        return;
    double limit = bench_median(&limits->yield_us);
    printf(
        "a hop of a token round %d processes on 1 processor, us of processor time, and over bare "
        "sched_yield\n",
        CASE_PROCESSES);
    report_hop("bare_yield", "bare processes, sched_yield", &limits->yield_us, 0);
    report_hop("bare_futex", "bare processes, futex", &limits->futex_us, limit);
    for (enum trial_mpi mpi = TRIAL_OPENMPI; mpi < TRIAL_MPIS; mpi++) {
        const struct contest *contest = &limits->rings[mpi];
        for (int i = 0; i < contest->count; i++) {
            const struct contender *contender = &contest->contenders[i];
            struct bench_series hops = limits_hop_us(limits, contender);
            char name[64], title[64];
            snprintf(name, sizeof(name), "%s_%s", trial_mpi_name(mpi), contender->name);
            snprintf(title, sizeof(title), "%s message, %s", trial_mpi_name(mpi),
                     !strcmp(contender->name, "handed") ? "folded, wait=immediate"
                                                        : contender->name);
            if (hops.count)
                report_hop(name, title, &hops, limit);
        }
    }
}

/* ---- changes of the partition, and calls ---- */

static void report_reaction(const struct change *change, const char *what,
                            const struct bench_series *series)
{
    if (!series->count)
        return;
    struct bench_row *row = fold_row("ms", "fold_%s_%s", change->name, what);
    row->value = bench_median(series);
    fold_row_goal(row, GOAL_CHANGE_MS, row->value <= GOAL_CHANGE_MS);
    printf("  %-7s the new rate shows after %.2f ms [%.2f .. %.2f] of %d, goal %d: %s\n", what,
           row->value, bench_quantile(series, 0), bench_quantile(series, 1), series->count,
           GOAL_CHANGE_MS, fold_verdict(row));
}

static void report_change(const struct change *change)
{
    if (!change->ratio.count)
        return;
    printf("%s: 1 <-> 2 processors; others used %.2f processors\n", change->name,
           bench_median(&change->others));
    report_reaction(change, "grow", &change->grow_ms);
    report_reaction(change, "shrink", &change->shrink_ms);
    struct bench_row *row = fold_row("ratio", "fold_%s_rates", change->name);
    row->value = bench_median(&change->ratio);
    fold_row_goal(row, GOAL_RATES, row->value >= GOAL_RATES);
    printf("  rate on 2 over rate on 1: %.3f [%.3f .. %.3f], goal %.1f: %s\n", row->value,
           bench_quantile(&change->ratio, 0), bench_quantile(&change->ratio, 1), GOAL_RATES,
           fold_verdict(row));
}

static void report_call(enum trial_mpi mpi, const struct fold_call *call)
{
    if (call->count)
        printf("%s: what an intercepted call costs more, nothing folded, in ns of processor time: "
               "median [quartiles]\n",
               trial_mpi_name(mpi));
    for (int i = 0; i < call->count; i++) {
        const struct fold_call_kind *kind = &call->kinds[i];
        struct bench_row *row = fold_row("ns", "fold_%s_call_%s", trial_mpi_name(mpi), kind->name);
        row->value = kind->ns;
        fold_row_goal(row, GOAL_CALL_NS, kind->ns <= GOAL_CALL_NS);
        printf("  %-8s %5.1f [%5.1f .. %5.1f] beside %.1f, goal %d: %s\n", kind->name, kind->ns,
               kind->low_ns, kind->high_ns, kind->direct_ns, GOAL_CALL_NS, fold_verdict(row));
    }
}

void fold_report(const struct fold_results *results)
{
    report_groups(results->slowdown, results->slowdown_count);
    report_groups(results->hogged, results->hogged_count);
    report_queues(results->queues, results->queues_count);
    for (int i = 0; i < results->jobs_count; i++)
        report_jobs(&results->jobs[i]);
    for (int i = 0; i < results->change_count; i++)
        report_change(&results->changes[i]);
    report_limits(&results->limits);
    for (enum trial_mpi mpi = TRIAL_OPENMPI; mpi < TRIAL_MPIS; mpi++)
        report_call(mpi, &results->calls[mpi]);
}
