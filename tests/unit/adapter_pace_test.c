/* Questions that take turns, on a loop of their own. */
#include "test.h"

#include "adapter/pace.h"

enum { INTERVAL_MS = 20, ASKED_MAX = 16 };

struct asked {
    struct world *world;
    struct pleat_adapter_question question;
    char letter;
    int again;  /* how often it wants to be asked again */
    bool empty; /* it has nothing to ask */
};

struct world {
    uv_loop_t loop;
    struct pleat_adapter_pace pace;
    struct asked jobs, nodes;
    char order[ASKED_MAX + 1];
    uint64_t at_ms[ASKED_MAX];
    int count;
};

static bool ask(void *arg)
{
    struct asked *one = arg;
    struct world *world = one->world;
    if (one->empty)
        return false;
    assert_true(world->count < ASKED_MAX);
    world->at_ms[world->count] = uv_now(&world->loop);
    world->order[world->count++] = one->letter;
    if (one->again-- > 0)
        pleat_adapter_pace_want(&world->pace, &one->question, 0);
    return true;
}

static void begin(struct world *world)
{
    *world = (struct world){.jobs.letter = 'j', .nodes.letter = 'n'};
    assert_int_equal(uv_loop_init(&world->loop), 0);
    pleat_adapter_pace_open(&world->pace, &world->loop, INTERVAL_MS);
    for (int i = 0; i < 2; i++) {
        struct asked *one = i ? &world->nodes : &world->jobs;
        one->world = world;
        one->question = (struct pleat_adapter_question){.ask = ask, .arg = one};
    }
}

static void end(struct world *world)
{
    uv_close((uv_handle_t *)&world->pace.timer, NULL);
    assert_int_equal(uv_run(&world->loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(uv_loop_close(&world->loop), 0);
}

static void want(struct world *world, struct asked *one)
{
    pleat_adapter_pace_want(&world->pace, &one->question, 0);
}

static void test_the_first_is_asked_at_once(void **state)
{
    struct world world;
    (void)state;
    begin(&world);
    want(&world, &world.jobs);
    uv_run(&world.loop, UV_RUN_NOWAIT);
    assert_string_equal(world.order, "j");
    end(&world);
}

static void test_two_take_turns_an_interval_apart(void **state)
{
    struct world world;
    (void)state;
    begin(&world);
    world.jobs.again = 2;
    world.nodes.again = 2;
    want(&world, &world.jobs);
    want(&world, &world.nodes);
    uv_run(&world.loop, UV_RUN_DEFAULT);
    assert_string_equal(world.order, "jnjnjn");
    for (int i = 1; i < world.count; i++)
        assert_true(world.at_ms[i] - world.at_ms[i - 1] >= INTERVAL_MS);
    end(&world);
}

static void test_one_that_is_wanted_twice_is_asked_once(void **state)
{
    struct world world;
    (void)state;
    begin(&world);
    want(&world, &world.nodes);
    want(&world, &world.nodes);
    uv_run(&world.loop, UV_RUN_DEFAULT);
    assert_string_equal(world.order, "n");
    end(&world);
}

static void test_one_with_nothing_to_ask_gives_its_turn_away(void **state)
{
    struct world world;
    (void)state;
    begin(&world);
    world.jobs.empty = true;
    want(&world, &world.jobs);
    want(&world, &world.nodes);
    uv_run(&world.loop, UV_RUN_NOWAIT);
    assert_string_equal(world.order, "n");
    assert_false(world.jobs.question.wanted);
    end(&world);
}

static void test_one_whose_time_has_not_come_waits(void **state)
{
    struct world world;
    (void)state;
    begin(&world);
    uint64_t now = uv_now(&world.loop);
    pleat_adapter_pace_want(&world.pace, &world.jobs.question, now + 3 * INTERVAL_MS);
    want(&world, &world.nodes);
    uv_run(&world.loop, UV_RUN_DEFAULT);
    assert_string_equal(world.order, "nj");
    assert_true(world.at_ms[1] >= now + 3 * INTERVAL_MS);
    end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_first_is_asked_at_once),
        cmocka_unit_test(test_two_take_turns_an_interval_apart),
        cmocka_unit_test(test_one_that_is_wanted_twice_is_asked_once),
        cmocka_unit_test(test_one_with_nothing_to_ask_gives_its_turn_away),
        cmocka_unit_test(test_one_whose_time_has_not_come_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
