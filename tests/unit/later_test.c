/* Calls that are due later. */
#include "test.h"

#include "base/clock.h"
#include "daemon/later.h"

enum { DELAYS = 40 };

struct world {
    uv_loop_t loop;
    struct later later;
    uint64_t last;
    int count;
    int64_t due_us;
};

static void begin(struct world *world)
{
    *world = (struct world){0};
    assert_int_equal(uv_loop_init(&world->loop), 0);
    world->later.loop = &world->loop;
}

static void end(struct world *world)
{
    later_end(&world->later);
    assert_int_equal(uv_run(&world->loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(uv_loop_close(&world->loop), 0);
}

static void note(void *arg, uint64_t token)
{
    struct world *world = arg;
    world->last = token;
    world->count++;
}

static void use_the_processor(int64_t us)
{
    for (int64_t until = pleat_clock_monotonic_us() + us; pleat_clock_monotonic_us() < until;)
        ;
}

/* The loop does not know that time has passed since it began this round. */
static void again(void *arg, uint64_t token)
{
    struct world *world = arg;
    assert_true(pleat_clock_monotonic_us() >= world->due_us);
    world->count++;
    if (token == 0)
        return;
    use_the_processor(3000);
    world->due_us = pleat_clock_monotonic_us() + 2000 + (int64_t)token;
    later_call(&world->later, 2000 + (int64_t)token, again, world, token - 1);
}

static void test_none_is_early(void **state)
{
    struct world world;
    (void)state;
    begin(&world);
    later_call(&world.later, 0, again, &world, DELAYS);
    assert_int_equal(uv_run(&world.loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(world.count, DELAYS + 1);
    end(&world);
}

static void test_each_is_made_once_and_with_its_own(void **state)
{
    struct world world, other;
    (void)state;
    begin(&world);
    other = (struct world){0};
    later_call(&world.later, 1000, note, &world, 7);
    later_call(&world.later, 2000, note, &other, 8);
    later_call(&world.later, -5, note, &world, 9);
    assert_int_equal(uv_run(&world.loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(world.count, 2);
    assert_int_equal(world.last, 7);
    assert_int_equal(other.count, 1);
    assert_int_equal(other.last, 8);
    end(&world);
}

static void test_dropped_ones_are_not_made(void **state)
{
    struct world world, other = {0};
    (void)state;
    begin(&world);
    for (uint64_t i = 0; i < 6; i++)
        later_call(&world.later, 1000, note, i % 2 ? &world : &other, i);
    later_drop(&world.later, &world);
    assert_int_equal(uv_run(&world.loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(world.count, 0);
    assert_int_equal(other.count, 3);
    later_call(&world.later, 1000, note, &world, 1);
    end(&world); /* forgets it */
    assert_int_equal(world.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_none_is_early),
        cmocka_unit_test(test_each_is_made_once_and_with_its_own),
        cmocka_unit_test(test_dropped_ones_are_not_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
