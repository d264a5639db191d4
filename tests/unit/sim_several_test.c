/* Simulated jobs of several components, files that are brought, components that give back. */
#include "sim_fixture.h"

static struct pleat_workload_job part(int64_t submit_s, int32_t size, int64_t run_s, bool follows)
{
    return (struct pleat_workload_job){.submit_us = submit_s * S,
                                       .run_us = run_s * S,
                                       .processors = size,
                                       .minimum = size,
                                       .maximum = size,
                                       .site = PLEAT_NONE,
                                       .user = -1,
                                       .part = follows ? PLEAT_PART_FOLLOWS : 0};
}

static void add_site(struct sim_world *world, const char *name, int32_t processors)
{
    assert_int_equal(pleat_platform_add(&world->platform, name, processors), 0);
}

static void run(struct sim_world *world)
{
    if (pleat_sim_run(&world->workload, &world->options, world->outcomes, &world->totals,
                      &world->err))
        fail_msg("%s", world->err.text);
}

/* 8 and 6 processors; a job of 5 + 5 waits until both are free, then both components start. */
static void test_components_start_together(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(8);
    add_site(world, "two", 6);
    sim_world_job(world, part(0, 6, 100, false));
    sim_world_job(world, part(10, 5, 50, true));
    sim_world_job(world, part(10, 5, 70, false));
    run(world);
    assert_int_equal(world->outcomes[1].start_us, 100 * S);
    assert_int_equal(world->outcomes[2].start_us, 100 * S);
    assert_int_equal(world->outcomes[1].end_us, 150 * S);
    assert_int_equal(world->outcomes[2].end_us, 170 * S);
    assert_int_not_equal(world->outcomes[1].site, world->outcomes[2].site);
    assert_int_equal(world->totals.fates[PLEAT_SIM_DONE], 3);
    assert_true(world->totals.wasted_us == 0);
    sim_world_destroy(world);
}

/* A claim takes 10 s at one site and 40 s at the other: 5 processors wait for 30 s. */
static void test_a_slow_site_lets_the_other_wait(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(8);
    add_site(world, "two", 8);
    sim_world_site(world, 0)->claim.mean_us = 10 * S;
    sim_world_site(world, 1)->claim.mean_us = 40 * S;
    sim_world_job(world, part(0, 5, 50, true));
    sim_world_job(world, part(0, 5, 50, false));
    run(world);
    assert_int_equal(world->outcomes[0].start_us, 40 * S);
    assert_int_equal(world->outcomes[1].start_us, 40 * S);
    assert_true(world->totals.wasted_us == 150.0 * S);
    sim_world_destroy(world);
}

static void test_what_never_fits_is_skipped(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(8);
    add_site(world, "two", 6);
    sim_world_job(world, part(0, 7, 10, true)); /* 7 + 6 + 2 of 14 */
    sim_world_job(world, part(0, 6, 10, true));
    sim_world_job(world, part(0, 2, 10, false));
    sim_world_job(world, part(0, 9, 10, true)); /* one of them is larger than every site */
    sim_world_job(world, part(0, 1, 10, false));
    sim_world_job(world, part(0, 7, 10, true));
    sim_world_job(world, part(0, 6, 10, false));
    run(world);
    assert_int_equal(world->totals.fates[PLEAT_SIM_SKIPPED], 5);
    assert_int_equal(world->totals.fates[PLEAT_SIM_DONE], 2);
    assert_int_equal(world->outcomes[6].end_us, 10 * S);
    sim_world_destroy(world);
}

/* Starts at the second site always fail: after two errors nobody is placed there. */
static void test_a_faulty_site_is_left_alone(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(8);
    add_site(world, "two", 20);
    sim_world_site(world, 1)->failure =
        (struct pleat_failure){.kind = PLEAT_FAILURE_START, .probability = 0.999999};
    world->options.parameters[PLEAT_PARAM_SITE_ERRORS] = 1;
    world->options.parameters[PLEAT_PARAM_ATTEMPTS] = 100;
    for (int i = 0; i < 3; i++) {
        sim_world_job(world, part(0, 4, 50, true));
        sim_world_job(world, part(0, 4, 50, false));
    }
    run(world);
    assert_int_equal(world->totals.fates[PLEAT_SIM_DONE], 6);
    for (int i = 0; i < 6; i++)
        assert_int_equal(world->outcomes[i].site, 0);
    sim_world_destroy(world);
}

static void test_a_flexible_job_is_split(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(4);
    add_site(world, "two", 6);
    world->options.policies[PLEAT_PLACEMENT] =
        pleat_policy_find(PLEAT_PLACEMENT, "flexible-cluster-minimization");
    struct pleat_workload_job first = part(0, 9, 30, true);
    first.part |= PLEAT_PART_FLEXIBLE;
    sim_world_job(world, first);
    sim_world_job(world, part(0, 1, 30, true));
    sim_world_job(world, part(0, 1, 30, false));
    run(world);
    assert_int_equal(world->outcomes[0].processors, 6);
    assert_int_equal(world->outcomes[1].processors, 3);
    assert_int_equal(world->outcomes[2].start_us, PLEAT_NEVER);
    assert_int_equal(world->totals.fates[PLEAT_SIM_DONE], 2);
    assert_int_equal(world->totals.fates[PLEAT_SIM_SKIPPED], 1);
    sim_world_destroy(world);
}

/* 1 GB comes to the second site in 10 s; meanwhile a job of 5 s uses the processors. */
static void test_files_are_brought_first(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(8);
    add_site(world, "two", 6);
    struct pleat_sim_link link = {0, 1, 1e8};
    struct pleat_input_file file = {.bytes = 1e9, .file = 1, .site = 0};
    assert_int_equal(pleat_array_push(&world->platform.links, link), 0);
    assert_int_equal(pleat_array_push(&world->workload.inputs, file), 0);
    struct pleat_workload_job reads = part(0, 6, 30, false), other = part(0, 6, 5, false);
    reads.app = sim_world_app(world, (struct pleat_app){.first_input = 0, .input_count = 1});
    sim_world_job(world, reads)->site = 1;
    sim_world_job(world, other)->site = 1;
    run(world);
    assert_int_equal(world->outcomes[1].start_us, 0);
    assert_int_equal(world->outcomes[0].start_us / S, 10);
    sim_world_destroy(world);
}

/* Components of 4 that take 200 s: 9 are to be done on 12 processors. Claims take 20 s. It starts
 * with one; the others come 20 s apart, each step being asked for when the last one is there. */
static void test_components_give_back(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(12);
    sim_world_site(world, 0)->claim.mean_us = 20 * S;
    world->options.policies[PLEAT_MALLEABILITY] =
        pleat_policy_find(PLEAT_MALLEABILITY, "round-robin");
    struct pleat_workload_job job = part(0, 4, 200, false);
    job.kind = PLEAT_MALLEABLE;
    job.minimum = 1;
    job.maximum = 80;
    job.initial = 4;
    job.sizes_kind = PLEAT_SIZES_MULTIPLES;
    job.sizes_parameter = 4;
    job.app =
        sim_world_app(world, (struct pleat_app){.component = 4, .work = 9, .gives_back = true});
    sim_world_job(world, job);
    run(world);
    /* pieces begin at 20, 40, 60; end at 220, 240, 260; then at 240, 260, 280; 440...; 460, 480,
     * 500: the last ends at 700 */
    static const int64_t times[] = {20, 40, 60, 220, 240, 240, 260, 260, 280};
    static const int32_t sizes[] = {4, 8, 12, 8, 4, 8, 4, 8, 12};
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        size_t at = 0; /* the size that it has after that moment */
        while (at + 1 < world->change_count && world->changes[at + 1].time_us <= times[i] * S)
            at++;
        if (i + 1 == sizeof(times) / sizeof(times[0]) || times[i + 1] != times[i])
            assert_int_equal(world->changes[at].to, sizes[i]);
    }
    assert_int_equal(world->outcomes[0].end_us, 700 * S);
    assert_int_equal(world->totals.fates[PLEAT_SIM_DONE], 1);
    sim_world_destroy(world);
}

static void test_workloads_that_make_no_sense(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(8);
    sim_world_job(world, part(0, 4, 10, true));
    assert_int_equal(pleat_workload_check(&world->workload, &world->err), PLEAT_E_INVALID);
    sim_world_job(world, part(5, 4, 10, false));
    assert_int_equal(pleat_workload_check(&world->workload, &world->err), PLEAT_E_INVALID);
    struct pleat_app app = {.gives_back = true};
    assert_int_equal(pleat_workload_check_app(&world->workload, &app, &world->err),
                     PLEAT_E_INVALID);
    app = (struct pleat_app){.first_input = 0, .input_count = 1};
    assert_int_equal(pleat_workload_check_app(&world->workload, &app, &world->err),
                     PLEAT_E_INVALID);
    sim_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_components_start_together),
        cmocka_unit_test(test_a_slow_site_lets_the_other_wait),
        cmocka_unit_test(test_what_never_fits_is_skipped),
        cmocka_unit_test(test_a_faulty_site_is_left_alone),
        cmocka_unit_test(test_a_flexible_job_is_split),
        cmocka_unit_test(test_files_are_brought_first),
        cmocka_unit_test(test_components_give_back),
        cmocka_unit_test(test_workloads_that_make_no_sense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
