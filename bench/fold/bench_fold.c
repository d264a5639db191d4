/* bench_fold [options] - what folding costs and brings: 8 processes of MPI programs on 2 and on 1
 * processors, with each MPI.
 *
 * Against the MPI's own settings, against as many processes as processors, with something else on
 * the same processors, local against global queues, two jobs, changes of the partition, the cost of
 * an intercepted call. Everything is run in rounds, each of which has all of it, so that other work
 * on the machine hits all alike; how much there was is printed.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fold_call.h"
#include "fold_report.h"
#include "fold_rows.h"
#include "machine.h"
#include "options.h"
#include "progress.h"
#include "steady.h"

static const char usage[] =
    "usage: bench_fold [options]\n"
    "8 processes on 2 and on 1 processors, folded and as their MPI runs them.\n"
    "  --repeats N      rounds (default 9, at most 50)\n"
    "  --minutes M      begins no round after M minutes\n"
    "  --only PARTS     of slowdown,hog,queues,jobs,change,hop,call; separated by commas\n"
    "  --mpi NAME       openmpi or mpich alone\n"
    "  --program NAME   of slowdown and hog: one program\n"
    "  --quick          hardly any work, few programs: only to see that it runs\n"
    "  --json           rows as JSON: name, value, unit, baseline, ratio, goal, met\n";

#define REPEATS_MAX 50
#define MINUTES_MAX 100000
#define JOBS_MAX 8

struct options {
    int repeats;
    double minutes; /* 0: no limit */
    bool quick, json;
    const char *only, *mpi, *program;
};

static struct contest slowdown[FOLD_CONTESTS_MAX], hogged[FOLD_CONTESTS_MAX],
    queues[FOLD_CONTESTS_MAX];
static struct jobs jobs[JOBS_MAX];
static struct change changes[TRIAL_MPIS];

/* ---- what is run ---- */

static bool wants_program(const struct options *options, const struct case_program *program)
{
    if (options->program)
        return !strcmp(options->program, program->name);
    return !options->quick || !strcmp(program->name, "ring");
}

static double times_of(const struct options *options)
{
    return options->quick ? CASE_QUICK : 1;
}

static void add_programs(struct fold_results *results, const struct options *options,
                         enum trial_mpi mpi, int processors)
{
    for (int i = 0; i < case_program_count; i++) {
        const struct case_program *program = &case_programs[i];
        if (!wants_program(options, program))
            continue;
        if (bench_is_listed(options->only, "slowdown"))
            case_slowdown(&slowdown[results->slowdown_count++], mpi, processors, program,
                          times_of(options));
        if (bench_is_listed(options->only, "hog") && program->communicates &&
            (!options->quick || options->only))
            case_hogged(&hogged[results->hogged_count++], mpi, processors, program,
                        times_of(options));
    }
}

static void add_two(struct fold_results *results, const struct options *options, enum trial_mpi mpi)
{
    static const char *const two[] = {"ring", "halo", "alltoall"};
    for (int i = 0; i < case_imbalanced_count && bench_is_listed(options->only, "queues"); i++)
        if (!options->quick || i == 1)
            case_queues(&queues[results->queues_count++], mpi, &case_imbalanced[i],
                        times_of(options));
    for (int i = 0; i < 3 && bench_is_listed(options->only, "jobs"); i++)
        if (!options->quick || i == 0)
            jobs_init(&jobs[results->jobs_count++], mpi, case_find(two[i]), options->quick);
    if (bench_is_listed(options->only, "change"))
        change_init(&changes[results->change_count++], mpi, options->quick);
}

static void plan(struct fold_results *results, const struct options *options)
{
    for (enum trial_mpi mpi = TRIAL_OPENMPI; mpi < TRIAL_MPIS; mpi++) {
        if (!trial_has(mpi) || (options->mpi && strcmp(options->mpi, trial_mpi_name(mpi)) != 0))
            continue;
        for (int processors = CASE_PROCESSORS_MAX; processors > 0; processors--)
            if (machine_cpus(processors))
                add_programs(results, options, mpi, processors);
            else
                fprintf(stderr, "bench_fold: skipped: %d processors, there are fewer\n",
                        processors);
        if (machine_cpus(CASE_PROCESSORS_MAX))
            add_two(results, options, mpi);
    }
}

static int runs_of(const struct fold_results *results)
{
    int runs = results->change_count + limits_runs(&results->limits);
    for (int i = 0; i < results->slowdown_count; i++)
        runs += results->slowdown[i].count;
    for (int i = 0; i < results->hogged_count; i++)
        runs += results->hogged[i].count;
    for (int i = 0; i < results->queues_count; i++)
        runs += results->queues[i].count;
    for (int i = 0; i < results->jobs_count; i++)
        runs += jobs_runs(&results->jobs[i]);
    return runs;
}

static void run_round(struct fold_results *results, int round)
{
    for (int i = 0; i < results->slowdown_count; i++)
        contest_round(&results->slowdown[i], round);
    for (int i = 0; i < results->hogged_count; i++)
        contest_round(&results->hogged[i], round);
    for (int i = 0; i < results->queues_count; i++)
        contest_round(&results->queues[i], round);
    for (int i = 0; i < results->jobs_count; i++)
        jobs_round(&results->jobs[i], round);
    for (int i = 0; i < results->change_count; i++)
        change_round(&results->changes[i]);
    limits_round(&results->limits, round);
}

/* ---- */

/* The tables are made in any case, since they make the rows. */
static void print_rows(const struct fold_results *results)
{
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    int standard = dup(STDOUT_FILENO);
    fflush(stdout);
    dup2(nowhere, STDOUT_FILENO);
    fold_report(results);
    fflush(stdout);
    dup2(standard, STDOUT_FILENO);
    close(standard);
    close(nowhere);
    fold_rows_print();
}

static void read_options(struct options *options, int argc, char **argv)
{
    static const char *const parts[] = {"slowdown", "hog", "queues", "jobs",
                                        "change",   "hop", "call",   NULL};
    static const char *const mpis[] = {"openmpi", "mpich", NULL};
    const struct bench_option table[] = {
        {.name = "repeats", .number = &options->repeats, .least = 1, .most = REPEATS_MAX},
        {.name = "minutes", .real = &options->minutes, .from = 0, .to = MINUTES_MAX},
        {.name = "only", .list = &options->only, .choices = parts},
        {.name = "mpi", .text = &options->mpi, .choices = mpis},
        {.name = "program", .text = &options->program},
        {.name = "quick", .flag = &options->quick},
        {.name = "json", .flag = &options->json}};
    bench_options(argc, argv, usage, table, sizeof(table) / sizeof(*table));
}

int main(int argc, char **argv)
{
    struct options options = {.repeats = 9};
    static struct fold_results results = {
        .slowdown = slowdown, .hogged = hogged, .queues = queues, .jobs = jobs, .changes = changes};
    read_options(&options, argc, argv);
    if (options.quick)
        steady_accept();
    trial_init();
    plan(&results, &options);
    if (bench_is_listed(options.only, "hop"))
        limits_init(&results.limits, options.mpi, options.quick);
    progress_begin(options.repeats * runs_of(&results), options.json);
    for (int round = 0; round < options.repeats && progress_goes_on(options.minutes); round++)
        run_round(&results, round);
    progress_end();
    for (enum trial_mpi mpi = TRIAL_OPENMPI; mpi < TRIAL_MPIS; mpi++)
        if (bench_is_listed(options.only, "call"))
            fold_call_measure(mpi, options.quick, &results.calls[mpi]);
    trial_finish();
    if (options.json)
        print_rows(&results);
    else
        fold_report(&results);
    return 0;
}
