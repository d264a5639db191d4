/* Applications with sections in which their size must not change: counted by hand. */
#include "sim_fixture.h"
#include "workload/convert.h"

static void policy(struct sim_world *world, enum pleat_question question, const char *name)
{
    world->options.policies[question] = pleat_policy_find(question, name);
    assert_non_null(world->options.policies[question]);
}

/* A machine of 8 on which whoever can grow does. */
static struct sim_world *create(void)
{
    struct sim_world *world = sim_world_create(8);
    policy(world, PLEAT_MALLEABILITY, "fpsma");
    policy(world, PLEAT_APPROACH, "pra");
    return world;
}

/* It takes 20 seconds with the processors that it has at first. */
static struct pleat_workload_job *add(struct sim_world *world, const char *text, int32_t initial)
{
    struct pleat_app app;
    if (pleat_app_parse(text, &world->workload, &app, &world->err))
        fail_msg("%s", world->err.text);
    uint32_t index = sim_world_app(world, app);
    struct pleat_workload_job *job = sim_malleable(world, 0, 1, 8, 20 * (int64_t)initial, index);
    job->initial = initial;
    return job;
}

static void counted(struct sim_world *world, uint64_t sections, uint64_t put_off)
{
    assert_int_equal(world->totals.sections, sections);
    assert_int_equal(world->totals.put_off, put_off);
    sim_world_destroy(world);
}

/* From 5 to 15 s on two processors; six are free from 6 s on. */
static void test_nobody_grows_it_in_a_section(void **state)
{
    (void)state;
    struct sim_world *world = create();
    add(world, "linear sections=1x0.5", 2);
    sim_rigid(world, 0, 6, 6);
    sim_run(world);
    sim_expect(world, 0, 0, 16.25);
    counted(world, 1, 0);

    world = create(); /* two: from 3.75 to 6.25 s, and from 13.75 to 16.25 s */
    add(world, "linear sections=2x0.125", 2);
    sim_rigid(world, 0, 6, 4);
    sim_rigid(world, 6, 6, 9);
    sim_run(world);
    sim_expect(world, 0, 0, 17.1875);
    counted(world, 2, 0);
}

/* Six processors are free from 4.5 s on, and it could grow at 8 s: another job has them before. */
static void test_a_growth_is_taken_back(void **state)
{
    (void)state;
    struct sim_world *world = create();
    add(world, "linear adapt=4s sections=1x0.5", 2);
    sim_rigid(world, 0, 6, 4)->run_us += S / 2;
    sim_rigid(world, 6, 6, 2);
    sim_run(world);
    sim_expect(world, 1, 0, 4.5);
    sim_expect(world, 2, 6, 8);
    sim_expect(world, 0, 0, 17); /* the section ends at 15 s, the next point is at 16 s */
    assert_int_equal(world->outcomes[0].grown, 1);
    counted(world, 1, 1);
}

/* From 9.6 to 10.4 s: the core is not told; six are free from 10 s on. */
static void test_a_short_section_holds_a_growth_back(void **state)
{
    (void)state;
    struct sim_world *world = create();
    add(world, "linear sections=1x0.04", 2);
    sim_rigid(world, 0, 6, 10);
    sim_run(world);
    sim_expect(world, 0, 0, 12.8);
    counted(world, 0, 0);

    world = create(); /* points after each second on two: not the one in it, but the next */
    add(world, "linear iterations=20 sections=1x0.04", 2);
    sim_rigid(world, 0, 6, 9)->run_us += S / 2;
    sim_run(world);
    sim_expect(world, 0, 0, 13.25);
    counted(world, 0, 0);
}

/* Another job needs four of its eight at 7 s: it has them at the section's end, or when the notice
 * of 2 s and the grace of 1 s are over. */
static void test_a_shrink_that_must_be(void **state)
{
    (void)state;
    for (int hurry = 0; hurry < 2; hurry++) {
        struct sim_world *world = create();
        policy(world, PLEAT_APPROACH, "pwa");
        add(world, "linear sections=1x0.5", 8);
        sim_rigid(world, 7, 4, 5);
        if (hurry) {
            world->options.parameters[PLEAT_PARAM_SHRINK_US] = 2 * S;
            world->options.parameters[PLEAT_PARAM_GRACE_US] = S;
        }
        sim_run(world);
        sim_expect(world, 1, hurry ? 10 : 15, hurry ? 15 : 20);
        if (!hurry)
            sim_expect(world, 0, 0, 22.5);
        else /* it did not honour that */
            assert_int_equal(world->outcomes[0].fate, PLEAT_SIM_FAILED);
        assert_int_equal(world->outcomes[0].shrunk, !hurry);
        counted(world, 1, 0);
    }
}

/* At 10 s, in a section from 5 to 15 s. */
static void test_it_asks_in_a_section(void **state)
{
    (void)state;
    struct sim_world *world = create();
    policy(world, PLEAT_MALLEABILITY, "none");
    add(world, "linear asks=0.5:+2 sections=1x0.5", 2);
    sim_run(world);
    sim_expect(world, 0, 0, 17.5);
    assert_int_equal(world->totals.asks_granted, 1);
    counted(world, 1, 0);

    world = create();
    policy(world, PLEAT_MALLEABILITY, "none");
    add(world, "linear asks=0.5:-1 sections=1x0.5", 2);
    sim_run(world);
    sim_expect(world, 0, 0, 25);
    counted(world, 1, 0);
}

/* A job of a fixed size, and one that folds. */
static void test_who_has_none(void **state)
{
    (void)state;
    for (int folds = 0; folds < 2; folds++) {
        struct sim_world *world = create();
        struct pleat_workload_job *job = add(world, "linear sections=3x0.2", 4);
        job->kind = folds ? PLEAT_MALLEABLE : PLEAT_MOLDABLE;
        job->mpl_max = folds ? 4 : 0;
        sim_rigid(world, 0, 6, 10);
        sim_run(world);
        assert_int_equal(world->outcomes[0].fate, PLEAT_SIM_DONE);
        counted(world, 0, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nobody_grows_it_in_a_section),
        cmocka_unit_test(test_a_growth_is_taken_back),
        cmocka_unit_test(test_a_short_section_holds_a_growth_back),
        cmocka_unit_test(test_a_shrink_that_must_be),
        cmocka_unit_test(test_it_asks_in_a_section),
        cmocka_unit_test(test_who_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
