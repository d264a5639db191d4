/* Applications in simulated time: schedules counted by hand. */
#include "sim_fixture.h"

static void test_rigid_fcfs(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(4);
    /* the second does not fit beside the first; the third would, and must not overtake */
    sim_rigid(world, 0, 3, 10);
    sim_rigid(world, 1, 3, 10);
    sim_rigid(world, 2, 1, 10);
    sim_run(world);
    sim_expect(world, 0, 0, 10);
    sim_expect(world, 1, 10, 20);
    sim_expect(world, 2, 10, 20);
    assert_true(world->totals.busy_us == 70.0 * S);
    assert_true(world->totals.capacity_us == 80.0 * S);
    assert_int_equal(world->totals.begin_us, 0);
    assert_int_equal(world->totals.end_us, 20 * S);
    assert_int_equal(world->totals.fates[PLEAT_SIM_DONE], 3);
    sim_world_destroy(world);
}

/* What ends at an instant is gone before what comes at it is looked at; jobs that take no time are
 * jobs like others. */
static void test_one_instant(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(4);
    sim_rigid(world, 0, 4, 10);
    sim_rigid(world, 10, 4, 0);
    sim_rigid(world, 10, 4, 5);
    sim_run(world);
    sim_expect(world, 0, 0, 10);
    sim_expect(world, 1, 10, 10);
    sim_expect(world, 2, 10, 15);
    sim_world_destroy(world);
}

static void test_malleable_grows_and_makes_room(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(4);
    /* alone on 4: 4 processors for 10 s (40 of 100 done); then a rigid job of 3 takes 10 s, it has
     * 1 (10 more done); then 4 again: 50 left take 12.5 s */
    sim_malleable(world, 0, 1, 4, 100, 0);
    sim_rigid(world, 10, 3, 10);
    sim_run(world);
    sim_expect(world, 0, 0, 32.5);
    sim_expect(world, 1, 10, 20);
    assert_int_equal(world->outcomes[0].processors, 4);
    assert_int_equal(world->outcomes[0].shrunk, 1);
    assert_int_equal(world->outcomes[0].grown, 1);
    assert_true(world->outcomes[0].average > 3.07 && world->outcomes[0].average < 3.08);
    assert_int_equal(world->totals.grows, 1);
    assert_int_equal(world->totals.shrinks, 1);
    assert_true(world->totals.busy_us == 130.0 * S);
    /* PRA never shrinks: the rigid one waits for the end */
    sim_world_approach(world, "pra");
    sim_run(world);
    sim_expect(world, 0, 0, 25);
    sim_expect(world, 1, 25, 35);
    sim_world_destroy(world);
}

static void test_adaptation_points_and_cost(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(4);
    uint32_t app =
        sim_world_app(world, (struct pleat_app){.adapt_us = 6 * S, .cost.fixed_us = 2 * S});
    sim_malleable(world, 0, 1, 4, 100, app);
    sim_rigid(world, 10, 3, 10);
    sim_run(world);
    /* the point after 10 s is at 12 s: 48 done; it stands still to 14 s, then 3 are free. The other
     * ends at 24 s, which is a point: 10 more done. It stands still to 26 s; 42 left on 4 */
    sim_expect(world, 1, 14, 24);
    sim_expect(world, 0, 0, 36.5);
    assert_true(world->totals.stood_us == 16.0 * S);
    assert_int_equal(world->change_count, 6);
    const struct pleat_sim_change *shrunk = &world->changes[1];
    assert_int_equal(shrunk->time_us, 14 * S);
    assert_int_equal(shrunk->decided_us, 10 * S);
    assert_int_equal(shrunk->stood_us, 2 * S);
    assert_int_equal(shrunk->from, 4);
    assert_int_equal(shrunk->to, 1);
    assert_true(shrunk->mandatory);
    assert_int_equal(shrunk->offered, 3);
    assert_false(world->changes[4].mandatory);
    sim_world_destroy(world);
}

static void test_iterations(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(4);
    /* 10 equal parts of 100 s of work; on 4 processors a part takes 2.5 s */
    uint32_t app = sim_world_app(world, (struct pleat_app){.iterations = 10});
    sim_malleable(world, 0, 1, 4, 100, app);
    sim_rigid(world, 6, 3, 10);
    sim_run(world);
    /* at 7.5 s three parts are done; on 1 processor parts end at 17.5, ... : at 17.5 s it grows
     * again, with 60 left: on 4 processors 15 s */
    sim_expect(world, 1, 7.5, 17.5);
    sim_expect(world, 0, 0, 32.5);
    sim_world_destroy(world);
}

static void test_policies_that_never_settle(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(4);
    sim_malleable(world, 0, 1, 4, 100, 0);
    sim_rigid(world, 10, 3, 10);
    world->options.most_passes = 1; /* a malleable one that has just started is looked at again */
    assert_int_equal(pleat_sim_run(&world->workload, &world->options, world->outcomes,
                                   &world->totals, &world->err),
                     PLEAT_E_STATE);
    assert_non_null(strstr(world->err.text, "at 0.000000 s the policies change their minds"));
    world->options.most_passes = 100;
    sim_run(world);
    sim_world_destroy(world);
}

static void test_too_large_is_counted(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(4);
    sim_rigid(world, 0, 5, 10);
    sim_rigid(world, 0, 4, 10);
    sim_run(world);
    assert_int_equal(world->outcomes[0].fate, PLEAT_SIM_SKIPPED);
    assert_true(world->outcomes[0].start_us == PLEAT_NEVER);
    assert_int_equal(world->totals.fates[PLEAT_SIM_SKIPPED], 1);
    sim_expect(world, 1, 0, 10);
    sim_world_destroy(world);
}

static void test_unsorted_is_refused(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(4);
    sim_rigid(world, 5, 1, 10);
    sim_rigid(world, 0, 1, 10);
    assert_int_equal(sim_try(world), PLEAT_E_INVALID);
    sim_world_destroy(world);
}

/* Ten minutes between adaptation points: nobody is ended for that, unless a limit is set. */
static void test_rare_adaptation_points(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(4);
    uint32_t app = sim_world_app(world, (struct pleat_app){.adapt_us = 600 * S});
    sim_malleable(world, 0, 1, 4, 4000, app);
    sim_rigid(world, 10, 3, 100);
    sim_run(world);
    /* 2400 done at 600 s; 600 more on 1 until 1200 s, 100 beyond the end of the other: then 4 */
    sim_expect(world, 1, 600, 700);
    sim_expect(world, 0, 0, 1450);
    world->options.parameters[PLEAT_PARAM_SHRINK_US] = 60 * S;
    sim_run(world);
    assert_int_equal(world->outcomes[0].fate, PLEAT_SIM_FAILED);
    sim_expect(world, 1, 80, 180); /* 10 of grace */
    sim_world_destroy(world);
}

/* A size lasts for 100 s before a policy changes it: nobody is shrunk, or grown, before that. */
static void test_lifetime_of_a_size(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(4);
    uint32_t app = sim_world_app(world, (struct pleat_app){.adapt_us = 0});
    world->options.parameters[PLEAT_PARAM_LIFETIME_US] = 100 * S;
    sim_malleable(world, 0, 1, 4, 4000, app);
    sim_rigid(world, 10, 3, 50);
    sim_run(world);
    sim_expect(world, 1, 100, 150);
    /* 400 done at 100 s; 100 more on 1 until 200 s, though 3 are free from 150 s on; then 4 */
    sim_expect(world, 0, 0, 1075);
    sim_world_destroy(world);
}

static int32_t size_at(const struct sim_world *world, size_t job, double time_s)
{
    int32_t size = 0;
    for (size_t i = 0; i < world->change_count; i++)
        if (world->changes[i].job == job && (double)world->changes[i].time_us <= time_s * 1e6)
            size = world->changes[i].to;
    return size;
}

/* egs-once divides once in a pass, and a change of size that is done brings the next pass. Three
 * jobs have 2 processors, and 34 are free: two of them take 2 of their shares, the second takes all
 * of its 11. Where nothing takes time it gets its shares of what is left in the same instant, until
 * only one processor is, which the first is offered. Where a claim takes 10 s each round does. */
static void test_rounds_of_equal_shares(void **state)
{
    (void)state;
    static const int32_t maxima[] = {4, 46, 4};
    for (int claims = 0; claims < 2; claims++) {
        struct sim_world *world = sim_world_create(40);
        const struct pleat_policy **policies = world->options.policies;
        policies[PLEAT_MOLDABILITY] = pleat_policy_find(PLEAT_MOLDABILITY, "minimum");
        policies[PLEAT_MALLEABILITY] = pleat_policy_find(PLEAT_MALLEABILITY, "egs-once");
        sim_world_site(world, 0)->claim.mean_us = claims ? 10 * S : 0;
        for (int j = 0; j < 3; j++)
            sim_malleable(world, 0, 2, maxima[j], 100000, 0);
        sim_run(world);
        if (claims) {
            assert_int_equal(size_at(world, 1, 10), 2);
            assert_int_equal(size_at(world, 1, 20), 13);
            assert_int_equal(size_at(world, 1, 30), 13 + 6);
        } else {
            assert_int_equal(size_at(world, 1, 0), 40 - 4 - 4 - 1);
        }
        sim_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rigid_fcfs),
        cmocka_unit_test(test_one_instant),
        cmocka_unit_test(test_malleable_grows_and_makes_room),
        cmocka_unit_test(test_adaptation_points_and_cost),
        cmocka_unit_test(test_rare_adaptation_points),
        cmocka_unit_test(test_lifetime_of_a_size),
        cmocka_unit_test(test_iterations),
        cmocka_unit_test(test_rounds_of_equal_shares),
        cmocka_unit_test(test_policies_that_never_settle),
        cmocka_unit_test(test_too_large_is_counted),
        cmocka_unit_test(test_unsorted_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
