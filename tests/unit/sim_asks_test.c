/* Applications that ask for processors, or give some back, while they run: counted by hand. */
#include "sim_fixture.h"
#include "workload/convert.h"

static void policy(struct sim_world *world, enum pleat_question question, const char *name)
{
    world->options.policies[question] = pleat_policy_find(question, name);
    assert_non_null(world->options.policies[question]);
}

/* A machine of 8; nobody grows that does not ask. */
static struct sim_world *create(const char *need)
{
    struct sim_world *world = sim_world_create(8);
    policy(world, PLEAT_MALLEABILITY, "none");
    policy(world, PLEAT_NEED, need);
    return world;
}

/* 40 processor-seconds of work, begun on two processors. */
static void asker(struct sim_world *world, const char *text, int32_t maximum)
{
    struct pleat_app app;
    if (pleat_app_parse(text, &world->workload, &app, &world->err))
        fail_msg("%s", world->err.text);
    sim_malleable(world, 0, 1, maximum, 40, sim_world_app(world, app))->initial = 2;
}

static void counted(const struct sim_world *world, uint64_t granted, uint64_t partly,
                    uint64_t refused, double lacked_s)
{
    assert_int_equal(world->totals.asks, granted + partly + refused);
    assert_int_equal(world->totals.asks_granted, granted);
    assert_int_equal(world->totals.asks_partly, partly);
    assert_int_equal(world->totals.asks_refused, refused);
    assert_true(world->totals.lacked_us == lacked_s * 1e6);
}

static void test_it_would_like_to_have_more(void **state)
{
    (void)state;
    struct sim_world *world = create("idle");
    asker(world, "linear asks=0.5:+2", 8);
    sim_run(world);
    sim_expect(world, 0, 0, 15); /* 10 s on two, 5 s on four */
    counted(world, 1, 0, 0, 0);
    sim_world_destroy(world);

    world = create("idle");
    asker(world, "linear asks=0.5:+6", 8);
    sim_rigid(world, 0, 4, 100);
    sim_run(world);
    sim_expect(world, 0, 0, 15); /* two of them are idle */
    counted(world, 0, 1, 0, 0);
    sim_world_destroy(world);

    world = create("mandatory");
    asker(world, "linear asks=0.25:+2,0.5:+2", 8);
    sim_rigid(world, 0, 6, 100);
    sim_run(world);
    sim_expect(world, 0, 0, 20);
    counted(world, 0, 0, 2, 0);
    sim_world_destroy(world);
}

static void test_it_must_have_more(void **state)
{
    (void)state;
    struct sim_world *world = create("idle");
    asker(world, "linear asks=0.5:must+2", 8);
    sim_rigid(world, 0, 6, 30);
    sim_rigid(world, 11, 1, 10); /* waits behind it */
    sim_run(world);
    sim_expect(world, 0, 0, 35); /* it stands still from 10 to 30 */
    sim_expect(world, 2, 30, 40);
    counted(world, 1, 0, 0, 20);
    sim_world_destroy(world);

    world = create("idle"); /* the machine is not that large: it goes on without */
    asker(world, "linear asks=0.5:must+7", 20);
    sim_run(world);
    sim_expect(world, 0, 0, 20);
    counted(world, 0, 0, 1, 0);
    sim_world_destroy(world);
}

/* At 10 s others give up two of their six: at once, or at their adaptation point at 20 s. */
static void test_others_give_it(void **state)
{
    (void)state;
    static const char *const needs[] = {"idle", "voluntary", "mandatory", "waiting-first"};
    for (int points = 0; points < 2; points++) {
        for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
            struct sim_world *world = create(needs[i]);
            policy(world, PLEAT_MALLEABILITY, "fpsma");
            asker(world, "linear asks=0.5:must+2", 4);
            struct pleat_app other = {.adapt_us = points ? 20 * S : 0};
            sim_malleable(world, 0, 2, 6, 240, sim_world_app(world, other))->initial = 6;
            sim_run(world);
            if (i == 0) {
                sim_expect(world, 0, 0, 45); /* 40 s is when the other one has ended */
                counted(world, 1, 0, 0, 30);
            } else {
                sim_expect(world, 0, 0, points ? 25 : 15);
                counted(world, 1, 0, 0, points ? 10 : 0);
                assert_int_equal(world->outcomes[1].shrunk, 1);
                assert_int_equal(world->outcomes[1].grown, 1); /* when the asker has ended */
            }
            sim_world_destroy(world);
        }
    }
}

static void test_waiting_jobs_come_first(void **state)
{
    (void)state;
    for (int first = 0; first < 2; first++) {
        struct sim_world *world = create(first ? "waiting-first" : "mandatory");
        asker(world, "linear asks=0.5:must+2", 4);
        sim_rigid(world, 0, 6, 30);
        sim_rigid(world, 5, 6, 10);
        sim_run(world);
        sim_expect(world, 0, 0, first ? 45 : 35);
        sim_expect(world, 2, first ? 30 : 35, first ? 40 : 45);
        sim_world_destroy(world);
    }
}

/* One that waits for all of them, and one that holds some in vain: only one can go on. */
static void test_a_job_waits_for_all(void **state)
{
    (void)state;
    struct sim_world *world = create("waiting-first");
    asker(world, "linear asks=0.5:must+2", 4);
    sim_rigid(world, 0, 6, 30);
    sim_rigid(world, 5, 8, 10);
    sim_run(world);
    sim_expect(world, 0, 0, 35);
    sim_expect(world, 2, 35, 45);
    sim_world_destroy(world);
}

static void test_it_gives_some_back(void **state)
{
    (void)state;
    struct sim_world *world = create("idle");
    policy(world, PLEAT_MALLEABILITY, "fpsma");
    policy(world, PLEAT_APPROACH, "pra");
    asker(world, "linear asks=0.5:-1", 2);
    sim_rigid(world, 0, 6, 100);
    sim_rigid(world, 1, 1, 5);
    sim_run(world);
    sim_expect(world, 0, 0, 30); /* 10 s on two, 20 s on one: nobody makes it grow again */
    sim_expect(world, 2, 10, 15);
    assert_int_equal(world->totals.gifts, 1);
    counted(world, 0, 0, 0, 0);
    sim_world_destroy(world);
}

/* Jobs of a fixed size with such an application do not ask. */
static void test_who_cannot_ask(void **state)
{
    (void)state;
    struct sim_world *world = create("idle");
    asker(world, "linear asks=0:+1,0.5:must+2", 8);
    world->workload.jobs.items[0].kind = PLEAT_MOLDABLE;
    sim_run(world);
    sim_expect(world, 0, 0, 20);
    counted(world, 0, 0, 0, 0);
    sim_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_would_like_to_have_more),
        cmocka_unit_test(test_it_must_have_more),
        cmocka_unit_test(test_others_give_it),
        cmocka_unit_test(test_waiting_jobs_come_first),
        cmocka_unit_test(test_a_job_waits_for_all),
        cmocka_unit_test(test_it_gives_some_back),
        cmocka_unit_test(test_who_cannot_ask),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
