/* sim_fixture.h - small workloads and platforms for the tests of the simulator, written by hand. */
#ifndef PLEAT_TESTS_UNIT_SIM_FIXTURE_H
#define PLEAT_TESTS_UNIT_SIM_FIXTURE_H

#include <stdlib.h>
#include <string.h>

#include "test.h"

#include "sim/replay.h"
#include "sim/sim.h"

#define S INT64_C(1000000)

enum { WORLD_JOBS = 4096, WORLD_CHANGES = 65536 };

/* A workload, a platform, and what came of them. */
struct sim_world {
    struct pleat_workload workload;
    struct pleat_platform platform;
    struct pleat_sim_options options;
    struct pleat_sim_outcome outcomes[WORLD_JOBS];
    struct pleat_sim_totals totals;
    struct pleat_sim_change changes[WORLD_CHANGES];
    size_t change_count;
    struct pleat_error err;
};

static inline int sim_world_note(void *context, const struct pleat_sim_change *change)
{
    struct sim_world *world = context;
    assert_true(world->change_count < WORLD_CHANGES);
    world->changes[world->change_count++] = *change;
    return 0;
}

/* One site without delays; the caller adds to it before it runs. */
static inline struct sim_world *sim_world_create(int32_t processors)
{
    struct sim_world *world = calloc(1, sizeof(*world));
    assert_non_null(world);
    assert_int_equal(pleat_workload_init(&world->workload), 0);
    assert_int_equal(pleat_platform_add(&world->platform, "one", processors), 0);
    world->options.platform = &world->platform;
    world->options.check = true;
    world->options.context = world;
    world->options.on_change = sim_world_note;
    return world;
}

static inline void sim_world_destroy(struct sim_world *world)
{
    pleat_workload_finish(&world->workload);
    pleat_platform_finish(&world->platform);
    free(world);
}

static inline struct pleat_sim_site *sim_world_site(struct sim_world *world, size_t index)
{
    return &world->platform.sites.items[index];
}

static inline void sim_world_approach(struct sim_world *world, const char *name)
{
    world->options.policies[PLEAT_APPROACH] = pleat_policy_find(PLEAT_APPROACH, name);
    assert_non_null(world->options.policies[PLEAT_APPROACH]);
}

static inline uint32_t sim_world_app(struct sim_world *world, struct pleat_app app)
{
    assert_int_equal(pleat_array_push(&world->workload.apps, app), 0);
    return (uint32_t)world->workload.apps.count - 1;
}

static inline struct pleat_workload_job *sim_world_job(struct sim_world *world,
                                                       struct pleat_workload_job job)
{
    struct pleat_workload_jobs *jobs = &world->workload.jobs;
    assert_true(jobs->count < WORLD_JOBS);
    job.number = (int64_t)jobs->count + 1;
    job.site = PLEAT_NONE;
    job.user = -1;
    assert_int_equal(pleat_array_push(jobs, job), 0);
    return &jobs->items[jobs->count - 1];
}

/* Runs for run_s on its size. Pointers to jobs are valid until the next one. */
static inline struct pleat_workload_job *sim_rigid(struct sim_world *world, int64_t submit_s,
                                                   int32_t size, int64_t run_s)
{
    return sim_world_job(world, (struct pleat_workload_job){.submit_us = submit_s * S,
                                                            .run_us = run_s * S,
                                                            .processors = size,
                                                            .minimum = size,
                                                            .maximum = size,
                                                            .kind = PLEAT_RIGID});
}

/* Runs for work_s on one processor, linear unless an app is given. */
static inline struct pleat_workload_job *sim_malleable(struct sim_world *world, int64_t submit_s,
                                                       int32_t minimum, int32_t maximum,
                                                       int64_t work_s, uint32_t app)
{
    return sim_world_job(world, (struct pleat_workload_job){.submit_us = submit_s * S,
                                                            .run_us = work_s * S,
                                                            .processors = 1,
                                                            .minimum = minimum,
                                                            .maximum = maximum,
                                                            .app = app,
                                                            .kind = PLEAT_MALLEABLE});
}

static inline int sim_try(struct sim_world *world)
{
    world->change_count = 0;
    memset(world->outcomes, 0xee, sizeof(world->outcomes));
    return pleat_sim_run(&world->workload, &world->options, world->outcomes, &world->totals,
                         &world->err);
}

static inline void sim_run(struct sim_world *world)
{
    if (sim_try(world))
        fail_msg("%s", world->err.text);
}

static inline void sim_expect(const struct sim_world *world, size_t job, double start_s,
                              double end_s)
{
    assert_int_equal(world->outcomes[job].start_us, (int64_t)(start_s * 1e6));
    assert_int_equal(world->outcomes[job].end_us, (int64_t)(end_s * 1e6));
    assert_int_equal(world->outcomes[job].fate, PLEAT_SIM_DONE);
}

#endif
