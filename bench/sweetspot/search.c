#include "search.h"

#include <stdio.h>
#include <stdlib.h>

static void fail(const char *what)
{
    fprintf(stderr, "bench_sweetspot: %s\n", what);
    exit(1);
}

double search_shortest(const struct search_program *program)
{
    double best = program->iteration_us[0];
    for (uint32_t i = 1; i < program->count; i++)
        best = program->iteration_us[i] < best ? program->iteration_us[i] : best;
    return best;
}

double search_longest(const struct search_program *program)
{
    double worst = program->iteration_us[0];
    for (uint32_t i = 1; i < program->count; i++)
        worst = program->iteration_us[i] > worst ? program->iteration_us[i] : worst;
    return worst;
}

static void describe(const struct search_program *program, uint32_t start, double pause_us,
                     struct pleat_workload *workload)
{
    struct pleat_app app = {.speedup = {.kind = PLEAT_SPEEDUP_TABLE, .count = program->count},
                            .cost = {.fixed_us = (int64_t)pause_us},
                            .iterations = SEARCH_ITERATIONS};
    struct pleat_workload_job job = {.number = 1,
                                     .processors = program->sizes[start],
                                     .minimum = program->sizes[0],
                                     .maximum = program->sizes[program->count - 1],
                                     .initial = program->sizes[start],
                                     .app = 1,
                                     .kind = PLEAT_MALLEABLE,
                                     .sizes_kind = PLEAT_SIZES_LIST,
                                     .site = PLEAT_NONE,
                                     .user = -1};
    int rc = pleat_workload_init(workload);
    for (uint32_t i = 0; !rc && i < program->count; i++) {
        struct pleat_table_row row = {
            program->sizes[i], (int64_t)(program->iteration_us[i] * SEARCH_ITERATIONS + 0.5)};
        rc = pleat_array_push(&workload->table, row);
    }
    job.run_us = workload->table.items[start].run_us;
    if (rc || pleat_array_push(&workload->apps, app) || pleat_array_push(&workload->jobs, job))
        fail("out of memory");
}

/* Adds a report to what is known of its size. */
static void learn(struct search_known *known, const struct pleat_event *event)
{
    size_t at = 0;
    while (at < known->count &&
           known->items[at].u.measured.processors != event->u.measured.processors)
        at++;
    if (at == known->count) {
        known->items[known->count] = *event;
        known->items[known->count].kind = PLEAT_EV_REMEMBERED;
        known->items[known->count].u.measured.run = 0;
        known->items[known->count++].u.measured.iterations = SEARCH_ITERATIONS;
        return;
    }
    struct pleat_event *row = &known->items[at];
    double n = row->u.measured.count, more = event->u.measured.count;
    double mean = (double)row->u.measured.iteration_us;
    double difference = (double)event->u.measured.iteration_us - mean;
    double own = (double)row->u.measured.spread_us, its = (double)event->u.measured.spread_us;
    double squares =
        own * own * n + its * its * more + difference * difference * n * more / (n + more);
    row->u.measured.iteration_us = (int64_t)(mean + difference * more / (n + more) + 0.5);
    row->u.measured.spread_us = (int64_t)__builtin_sqrt(squares / (n + more));
    row->u.measured.count += event->u.measured.count;
    if (event->u.measured.redistribution_us > 0) {
        row->u.measured.redistribution_us = event->u.measured.redistribution_us;
        row->u.measured.from = event->u.measured.from;
    }
}

struct search_run search_simulate(const struct search_program *program, const char *policy,
                                  uint32_t start, double pause_us, double noise, uint64_t seed,
                                  const struct search_known *known)
{
    struct search_run run = {0};
    struct pleat_workload workload = {0};
    struct pleat_platform platform = {0};
    struct pleat_events log = {0};
    struct pleat_sim_outcome outcome;
    struct pleat_sim_totals totals;
    struct pleat_error err;
    describe(program, start, pause_us, &workload);
    if (pleat_platform_add(&platform, "machine", program->sizes[program->count - 1]))
        fail("out of memory");
    struct pleat_sim_options options = {.platform = &platform,
                                        .seed = seed,
                                        .time_noise = noise,
                                        .log = &log,
                                        .remembered = known ? known->items : NULL,
                                        .remembered_count = known ? known->count : 0};
    options.policies[PLEAT_MALLEABILITY] = pleat_policy_find(PLEAT_MALLEABILITY, policy);
    options.policies[PLEAT_APPROACH] = pleat_policy_find(PLEAT_APPROACH, "remap");
    if (!options.policies[PLEAT_MALLEABILITY] || !options.policies[PLEAT_APPROACH])
        fail("there is no such policy");
    if (pleat_sim_run(&workload, &options, &outcome, &totals, &err))
        fail(err.text);
    if (outcome.fate != PLEAT_SIM_DONE)
        fail("the program did not run to its end");
    run.run_us = (double)(outcome.end_us - outcome.start_us);
    run.resizes = outcome.grown + outcome.shrunk;
    for (size_t i = 0; i < log.count; i++)
        if (log.items[i].kind == PLEAT_EV_MEASURED)
            learn(&run.known, &log.items[i]);
    pleat_array_finish(&log);
    pleat_workload_finish(&workload);
    pleat_platform_finish(&platform);
    return run;
}
