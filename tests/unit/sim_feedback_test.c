/* Jobs that are submitted after others: schedules counted by hand. */
#include "sim_fixture.h"

static void follow(struct sim_world *world, size_t job, int64_t preceding, int64_t think_s)
{
    world->workload.jobs.items[job].preceding = preceding;
    world->workload.jobs.items[job].think_us = think_s * S;
}

static void expect_submitted(const struct sim_world *world, size_t job, int64_t at_s)
{
    assert_int_equal(world->outcomes[job].submit_us, at_s * S);
}

/* Recorded at 20 and 25; a machine that is slower by a job in front shifts both. */
static void test_a_chain(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(4);
    sim_rigid(world, 0, 4, 30);
    sim_rigid(world, 5, 4, 10);
    sim_rigid(world, 20, 2, 10);
    sim_rigid(world, 25, 2, 10);
    follow(world, 2, 2, 5);
    follow(world, 3, 3, 0);
    sim_run(world); /* as recorded: feedback is an option */
    expect_submitted(world, 2, 20);
    sim_expect(world, 2, 40, 50);
    sim_expect(world, 3, 40, 50);
    world->options.feedback = true;
    sim_run(world);
    sim_expect(world, 0, 0, 30);
    sim_expect(world, 1, 30, 40);
    expect_submitted(world, 2, 45); /* 40, and 5 to think */
    sim_expect(world, 2, 45, 55);
    expect_submitted(world, 3, 55); /* at once */
    sim_expect(world, 3, 55, 65);
    assert_int_equal(world->totals.followers, 2);
    assert_int_equal(world->totals.lost, 0);
    sim_world_destroy(world);
}

/* A faster machine than the recorded one: they come earlier than recorded. Those of one instant are
 * submitted in the order of the workload, whether they follow somebody or not. */
static void test_earlier_and_in_order(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(4);
    sim_rigid(world, 0, 4, 10);
    sim_rigid(world, 12, 4, 5);
    sim_rigid(world, 12, 4, 5);
    sim_rigid(world, 13, 4, 5);
    sim_rigid(world, 99, 4, 5);
    follow(world, 1, 1, 2); /* at 12, as the next one, which comes by itself */
    follow(world, 3, 1, 2); /* at 12 as well, a second earlier than recorded */
    follow(world, 4, 1, 0);
    world->options.feedback = true;
    sim_run(world);
    expect_submitted(world, 4, 10);
    sim_expect(world, 4, 10, 15);
    sim_expect(world, 1, 15, 20);
    sim_expect(world, 2, 20, 25);
    expect_submitted(world, 3, 12);
    sim_expect(world, 3, 25, 30);
    assert_int_equal(world->totals.fates[PLEAT_SIM_DONE], 5);
    sim_world_destroy(world);
}

/* A predecessor that could never run has ended as well; one that is not there is said. */
static void test_predecessors_that_are_none(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(4);
    sim_rigid(world, 0, 5, 10); /* larger than the machine */
    sim_rigid(world, 50, 2, 10);
    sim_rigid(world, 60, 2, 10);
    follow(world, 1, 1, 7);
    follow(world, 2, 77, 1);
    world->options.feedback = true;
    sim_run(world);
    assert_int_equal(world->outcomes[0].fate, PLEAT_SIM_SKIPPED);
    sim_expect(world, 1, 7, 17);
    sim_expect(world, 2, 60, 70);
    assert_int_equal(world->totals.followers, 1);
    assert_int_equal(world->totals.lost, 1);
    sim_world_destroy(world);
}

/* Who waits for one that never ends is never submitted. */
static void test_left(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(4);
    sim_rigid(world, 0, 2, 10);
    sim_rigid(world, 1, 4, 10);
    sim_rigid(world, 2, 1, 10);
    follow(world, 2, 2, 1);
    sim_world_site(world, 0)->leaves_us = 5 * S;
    world->options.feedback = true;
    world->options.parameters[PLEAT_PARAM_MAX_TRIES] = 0;
    sim_run(world);
    assert_int_equal(world->outcomes[2].start_us, PLEAT_NEVER);
    assert_int_equal(world->outcomes[2].end_us, PLEAT_NEVER);
    assert_int_equal(world->outcomes[2].fate, PLEAT_SIM_LEFT);
    assert_true(world->totals.fates[PLEAT_SIM_LEFT] >= 1);
    sim_world_destroy(world);
}

/* A user who thinks for longer than the simulator has patience comes back all the same. */
static void test_a_long_thought(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(4);
    const int64_t years_s = INT64_C(3) * 366 * 24 * 3600;
    sim_world_site(world, 0)->load_gap_us = 3600 * S * 24 * 30;
    sim_world_site(world, 0)->load_run_us = S;
    sim_world_site(world, 0)->load_processors = 1;
    sim_rigid(world, 0, 2, 10);
    sim_rigid(world, 5, 2, 10);
    follow(world, 1, 1, years_s);
    world->options.feedback = true;
    sim_run(world);
    expect_submitted(world, 1, 10 + years_s);
    assert_int_equal(world->outcomes[1].fate, PLEAT_SIM_DONE);
    sim_world_destroy(world);
}

/* The job of several components comes as a whole; who follows one of them waits for all. A deadline
 * is as far from the submission as recorded. */
static void test_components_and_deadlines(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(8);
    sim_rigid(world, 0, 8, 10);
    sim_rigid(world, 3, 4, 20)->part = PLEAT_PART_FOLLOWS;
    sim_rigid(world, 3, 4, 20);
    sim_rigid(world, 4, 8, 5)->deadline_us = 30 * S;
    follow(world, 1, 1, 6);
    follow(world, 3, 3, 4);
    world->options.feedback = true;
    sim_run(world);
    sim_expect(world, 1, 16, 36);
    sim_expect(world, 2, 16, 36);
    expect_submitted(world, 3, 40);
    sim_expect(world, 3, 40, 45);
    sim_world_destroy(world);
}

static void refuse(struct sim_world *world, const char *words)
{
    assert_int_equal(sim_try(world), PLEAT_E_INVALID);
    if (!strstr(world->err.text, words))
        fail_msg("%s", world->err.text);
}

static void test_no_circles(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(4);
    sim_rigid(world, 0, 1, 10);
    sim_rigid(world, 1, 1, 10);
    sim_rigid(world, 2, 1, 10);
    world->options.feedback = true;
    follow(world, 1, 2, 0);
    refuse(world, "job 2: its preceding job is 2, itself; correct column 17");
    follow(world, 1, 3, 0);
    refuse(world, "job 2: its preceding job is 3, which is submitted after it");
    follow(world, 2, 2, 0); /* 2 and 3 follow each other */
    refuse(world, "which is submitted after it");
    follow(world, 1, 0, 0);
    world->workload.jobs.items[0].number = 2;
    refuse(world, "a number that several jobs have");
    world->workload.jobs.items[0].number = 1;
    sim_run(world);
    world->workload.jobs.items[2].think_us = -1;
    refuse(world, "think time is negative");
    sim_world_destroy(world);
}

/* The log of such a run is one of a daemon: it decides the same again. */
static void test_replay(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(16);
    struct pleat_events log = {0};
    for (int i = 0; i < 200; i++) {
        sim_malleable(world, i * 3, 1, 1 + i % 16, 40 + i * 7 % 90, 0);
        if (i % 3 == 2)
            follow(world, (size_t)i, i - 1, i % 5);
    }
    world->options.feedback = true;
    world->options.log = &log;
    sim_run(world);
    assert_int_equal(world->totals.fates[PLEAT_SIM_DONE], 200);
    for (size_t i = 2; i < 200; i += 3)
        assert_int_equal(world->outcomes[i].submit_us,
                         world->outcomes[i - 2].end_us + world->workload.jobs.items[i].think_us);
    struct pleat_replay_result result;
    if (pleat_replay_policies(log.items, log.count, &result, &world->err))
        fail_msg("%s", world->err.text);
    assert_int_equal(result.different, result.records);
    pleat_array_finish(&log);
    sim_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_chain),
        cmocka_unit_test(test_earlier_and_in_order),
        cmocka_unit_test(test_predecessors_that_are_none),
        cmocka_unit_test(test_left),
        cmocka_unit_test(test_a_long_thought),
        cmocka_unit_test(test_components_and_deadlines),
        cmocka_unit_test(test_no_circles),
        cmocka_unit_test(test_replay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
