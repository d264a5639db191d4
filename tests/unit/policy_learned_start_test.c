/* Starting at the sweet spot of earlier runs, and the lists of shrink and expand points. Times are
 * those of a law whose spot is known by hand. */
#include "policy_bench.h"

#include <math.h>

#include "policy/spot.h"

static void begin(struct bench *b, int32_t processors)
{
    bench_init(b);
    bench_policy(b, &pleat_policy_moldability_learned);
    bench_site(b, processors, 0);
}

/* 2 s of serial work, 98 s of parallel work, and 0.25 s for each processor: the shortest iterations
 * are on 20. */
static double overhead(int32_t p)
{
    return 2e6 + 98e6 / p + 0.25e6 * p;
}

/* Of earlier runs, or of its own. */
static void measured(struct bench *b, uint32_t component, int32_t size, int32_t earlier)
{
    bench_timed(b, component, size, 1);
    struct pleat_timing *timing = &b->timings[b->timing_count - 1];
    timing->mean_us = overhead(size);
    timing->iteration_us = (int64_t)timing->mean_us;
    timing->count = 16;
    timing->squares = 0.01 * timing->mean_us * 0.01 * timing->mean_us * 15;
    timing->earlier = earlier;
}

static uint32_t waits(struct bench *b, enum pleat_job_kind kind, const int32_t *sizes, int count)
{
    uint32_t component = bench_wait(b, kind, 1, 64, 0);
    for (int i = 0; i < count; i++)
        measured(b, component, sizes[i], 200);
    return component;
}

static int32_t started(struct bench *b, uint32_t component)
{
    bench_decide(b);
    int32_t after = bench_after(b, component);
    bench_finish(b);
    return after;
}

static const int32_t tried[] = {2, 8, 18, 32};

static void test_at_the_spot(void **state)
{
    (void)state;
    static const enum pleat_job_kind kinds[] = {PLEAT_MOLDABLE, PLEAT_MALLEABLE};
    for (int i = 0; i < 2; i++) {
        struct bench b;
        begin(&b, 64);
        assert_int_equal(started(&b, waits(&b, kinds[i], tried, 4)), 18);
    }
}

/* A size between those that were tried, as the law has it; and one that the job takes. */
static void test_at_a_size_that_was_not_tried(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, 64);
    uint32_t job = waits(&b, PLEAT_MOLDABLE, (const int32_t[]){2, 8, 60}, 3);
    int32_t size = started(&b, job);
    if (size < 14 || size > 22)
        fail_msg("it starts on %d, expected 14 to 22", size);
    begin(&b, 64);
    job = waits(&b, PLEAT_MOLDABLE, (const int32_t[]){2, 8, 64}, 3);
    b.components[job].sizes_kind = PLEAT_SIZES_POWERS;
    assert_int_equal(started(&b, job), 16);
}

/* It is not held back for processors that others have, and gets no more than its user said. */
static void test_with_less(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, 64);
    bench_run(&b, 0, PLEAT_RIGID, 54, 54, 54);
    assert_int_equal(started(&b, waits(&b, PLEAT_MOLDABLE, tried, 4)), 10);
    begin(&b, 64);
    uint32_t job = waits(&b, PLEAT_MOLDABLE, tried, 4);
    b.components[job].initial = 4;
    assert_int_equal(started(&b, job), 4);
    begin(&b, 64);
    job = waits(&b, PLEAT_MOLDABLE, tried, 4);
    b.components[job].minimum = 48; /* above the spot */
    assert_int_equal(started(&b, job), 48);
}

static void test_what_is_left_goes_to_the_next(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, 64);
    uint32_t jobs[4];
    for (int i = 0; i < 4; i++)
        jobs[i] = waits(&b, PLEAT_MOLDABLE, tried, 4);
    bench_decide(&b);
    for (int i = 0; i < 4; i++)
        assert_int_equal(bench_after(&b, jobs[i]), i < 3 ? 18 : 10);
    bench_finish(&b);
}

static void test_of_one_size_nothing_follows(void **state)
{
    (void)state;
    for (int known = 0; known < 2; known++) {
        struct bench b;
        begin(&b, 64);
        assert_int_equal(started(&b, waits(&b, PLEAT_MOLDABLE, tried, known)), 64);
    }
}

/* ---- lists of points ---- */

static void test_points(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, 64);
    uint32_t job = bench_run(&b, 0, PLEAT_MALLEABLE, 8, 2, 32);
    for (int i = 0; i < 4; i++)
        measured(&b, job, tried[i], i > 1 ? 200 : 0);
    measured(&b, job, 64, 200); /* more than it takes: no point */
    struct pleat_spot_study study = pleat_spot_study(&b.view, &b.components[job]);
    struct pleat_spot_points shrink = pleat_spot_points(&study, false);
    struct pleat_spot_points expand = pleat_spot_points(&study, true);
    assert_int_equal(shrink.count, 1);
    assert_int_equal(shrink.items[0].size, 2);
    assert_true(fabs(shrink.items[0].gain - (1 - overhead(2) / overhead(8))) < 1e-9);
    assert_true(shrink.items[0].error > 0);
    /* the one that gains most stands in front, not the largest one */
    assert_int_equal(expand.count, 2);
    assert_int_equal(expand.items[0].size, 18);
    assert_int_equal(expand.items[1].size, 32);
    assert_true(fabs(expand.items[1].gain - (1 - overhead(32) / overhead(8))) < 1e-9);
    /* of what it has not measured nothing can be said */
    b.components[job].processors = 9;
    assert_int_equal(pleat_spot_points(&study, true).count, 0);
    bench_finish(&b);
}

/* What costs least stands in front, also where that is the smaller size. */
static void test_shrink_points_by_what_they_cost(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, 64);
    uint32_t job = bench_run(&b, 0, PLEAT_MALLEABLE, 64, 2, 64);
    for (int i = 0; i < 4; i++)
        measured(&b, job, tried[i], 0);
    measured(&b, job, 64, 0);
    struct pleat_spot_study study = pleat_spot_study(&b.view, &b.components[job]);
    struct pleat_spot_points shrink = pleat_spot_points(&study, false);
    assert_int_equal(shrink.count, 4);
    for (uint32_t i = 0; i < 4; i++) /* 18 and 32 are better than 64; then 8, then 2 */
        assert_int_equal(shrink.items[i].size, ((const int32_t[]){18, 32, 8, 2})[i]);
    bench_finish(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_at_the_spot),
        cmocka_unit_test(test_at_a_size_that_was_not_tried),
        cmocka_unit_test(test_with_less),
        cmocka_unit_test(test_what_is_left_goes_to_the_next),
        cmocka_unit_test(test_of_one_size_nothing_follows),
        cmocka_unit_test(test_points),
        cmocka_unit_test(test_shrink_points_by_what_they_cost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
