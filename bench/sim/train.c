/* pleat-train - the training runs of a profiled build (cmake/profile.cmake): runs of the simulator
 * that execute the code that every event executes. No log of bench_sim is among them.
 *
 * Loads are below what the policies can do: otherwise walking along the queues would outweigh
 * everything else. */
#include <stdio.h>
#include <stdlib.h>

#include "sim/sim.h"
#include "workload/convert.h"
#include "workload/generate.h"

enum { MACHINE = 256, JOBS = 4000 };

struct way { /* to run a workload */
    const char *queue, *approach, *malleability;
    bool malleable; /* all jobs */
    bool asks;      /* a site that takes time to answer, and a log: as a daemon's */
    int times;
};

static const struct way ways[] = {
    {.queue = "fcfs", .times = 6},
    {.queue = "easy", .times = 2},
    {.queue = "conservative", .times = 1},
    {.queue = "easy", .asks = true, .times = 1},
    {.queue = "fcfs", .approach = "pwa", .malleability = "egs", .malleable = true, .times = 2},
    {.queue = "fcfs", .approach = "pra", .malleability = "fpsma", .malleable = true, .times = 1},
    {.queue = "easy",
     .approach = "pwa",
     .malleability = "egs",
     .malleable = true,
     .asks = true,
     .times = 1},
};

static _Noreturn void fail(const char *what, const char *why)
{
    fprintf(stderr, "pleat-train: %s: %s\n", what, why);
    exit(1);
}

static const struct pleat_policy *policy(enum pleat_question question, const char *name)
{
    const struct pleat_policy *found = name ? pleat_policy_find(question, name) : NULL;
    if (name && !found)
        fail(name, "there is no such policy");
    return found; /* NULL: the default */
}

static void make_platform(struct pleat_platform *platform, bool asks)
{
    *platform = (struct pleat_platform){0};
    if (pleat_platform_add(platform, "machine", MACHINE))
        fail("the site", "out of memory");
    struct pleat_sim_site *site = &platform->sites.items[0];
    if (asks)
        site->claim.mean_us = site->start.mean_us = site->release.mean_us = 1000000;
}

static void run(const struct pleat_workload *workload, const struct way *way)
{
    struct pleat_platform platform;
    struct pleat_events log = {0};
    struct pleat_sim_totals totals;
    struct pleat_error err;
    struct pleat_sim_outcome *outcomes = calloc(workload->jobs.count, sizeof(*outcomes));
    if (!outcomes)
        fail("a run", "out of memory");
    make_platform(&platform, way->asks);
    struct pleat_sim_options options = {.platform = &platform, .log = way->asks ? &log : NULL};
    options.policies[PLEAT_QUEUE] = policy(PLEAT_QUEUE, way->queue);
    options.policies[PLEAT_APPROACH] = policy(PLEAT_APPROACH, way->approach);
    options.policies[PLEAT_MALLEABILITY] = policy(PLEAT_MALLEABILITY, way->malleability);
    for (int i = 0; i < way->times; i++) {
        log.count = 0;
        if (pleat_sim_run(workload, &options, outcomes, &totals, &err))
            fail(way->queue, err.text);
        if (totals.fates[PLEAT_SIM_DONE] != workload->jobs.count)
            fail(way->queue, "not every job was run");
    }
    pleat_array_finish(&log);
    pleat_platform_finish(&platform);
    free(outcomes);
}

/* All ways to run jobs of one kind. */
static void run_all(const struct pleat_workload *workload, bool malleable)
{
    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
        if (ways[i].malleable == malleable)
            run(workload, &ways[i]);
}

static void train(double load)
{
    struct pleat_lublin_model model = {.jobs = JOBS, .machine = MACHINE, .load = load, .seed = 2};
    struct pleat_conversion conversion;
    struct pleat_workload workload = {0};
    struct pleat_error err;
    if (pleat_workload_init(&workload))
        fail("generating", "out of memory");
    if (pleat_generate_lublin(&model, &workload, &err))
        fail("generating", err.text);
    run_all(&workload, false);
    pleat_conversion_default(&conversion);
    conversion.machine = MACHINE;
    if (pleat_workload_convert(&workload, &conversion, NULL, &err))
        fail("making jobs malleable", err.text);
    run_all(&workload, true);
    pleat_workload_finish(&workload);
}

int main(void)
{
    train(0.3);
    train(0.6);
    return 0;
}
