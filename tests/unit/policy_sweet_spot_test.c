/* The remap scheduler and sweet spots by worked examples: Swaminathan 2004, 3.4.4, with the
 * percentages of tables 1 and 2 and the job mix of figure 9, done by hand. */
#include "policy_bench.h"

enum { GRID = PLEAT_SIZES_GRIDS };

/* Of 2, 4, 6, 9, 12, 16, 20, 25 processors: from table 1 (46.9, 20.9, 25.8, 9.4, 19.7, 4.1 and 0 %
 * less each time) and from table 2 (51.9, 11.3, 28.5, 12.6, 12.0 and -20.5 %), with 1000 s on 2. */
static const int32_t sizes[] = {2, 4, 6, 9, 12, 16, 20, 25};
static const int64_t product[] = {1000, 531, 420, 312, 282, 227, 217, 217};
static const int64_t factors[] = {1000, 481, 427, 305, 267, 235, 283, 0};

static void begin(struct bench *b, int32_t processors)
{
    bench_init(b);
    bench_policy(b, &pleat_policy_remap);
    bench_policy(b, &pleat_policy_sweet_spot);
    bench_site(b, processors, 0);
}

/* On sizes[at], having run on sizes[first] and all between. */
static uint32_t grid(struct bench *b, const int64_t *times, int first, int at)
{
    uint32_t component = bench_run(b, 0, PLEAT_MALLEABLE, sizes[at], 2, 100);
    b->components[component].sizes_kind = GRID;
    for (int i = first; i <= at; i++)
        bench_timed(b, component, sizes[i], times[i]);
    return component;
}

static void test_the_product_finds_20(void **state)
{
    (void)state;
    for (int at = 0; at < 8; at++) {
        struct bench b;
        begin(&b, 64);
        uint32_t component = grid(&b, product, 0, at);
        bench_decide(&b);
        /* 25 is no better than 20: back, and to stay there */
        assert_int_equal(bench_after(&b, component), at < 7 ? sizes[at + 1] : 20);
        bench_finish(&b);
    }
}

static void test_the_factorization_finds_16(void **state)
{
    (void)state;
    for (int at = 0; at < 7; at++) {
        struct bench b;
        begin(&b, 64);
        uint32_t component = grid(&b, factors, 0, at);
        bench_decide(&b);
        assert_int_equal(bench_after(&b, component), at < 6 ? sizes[at + 1] : 16);
        bench_finish(&b);
    }
}

static void test_not_beyond_the_sweet_spot(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, 64);
    uint32_t component = bench_run(&b, 0, PLEAT_MALLEABLE, 16, 2, 100);
    b.components[component].sizes_kind = GRID;
    bench_timed(&b, component, 12, 267);
    bench_timed(&b, component, 16, 235);
    bench_timed(&b, component, 20, 283);
    bench_timed(&b, component, 25, 100); /* whatever is beyond it */
    bench_decide(&b);
    assert_int_equal(bench_after(&b, component), 16);
    bench_finish(&b);
}

static void test_not_before_the_present_size_is_measured(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, 64);
    uint32_t fresh = bench_run(&b, 0, PLEAT_MALLEABLE, 4, 2, 100);
    uint32_t grown = bench_run(&b, 0, PLEAT_MALLEABLE, 6, 2, 100);
    bench_timed(&b, grown, 4, 481);
    bench_decide(&b);
    assert_int_equal(bench_after(&b, fresh), 4);
    assert_int_equal(bench_after(&b, grown), 6);
    bench_finish(&b);
}

/* Known expand points first, the greatest gain first; then what is unknown. */
static void test_expand_points_go_first(void **state)
{
    (void)state;
    static const struct {
        int32_t processors;
        int32_t expected[3];
    } cases[] = {
        {12 + 2, {4, 4, 6}},     /* 4 to 6: 20.9 %; 11.3 % */
        {12 + 5, {4, 4, 9}},     /* 4 to 9: 41.2 %; 36.6 % */
        {12 + 5 + 2, {4, 6, 9}}, /* the rest: the other's first point */
        {12 + 5 + 5, {4, 9, 9}}, /* both: nobody else is looked at */
        {12 + 12, {6, 9, 9}},    /* and only then one of which nothing is known beyond */
        {12 + 13, {6, 9, 9}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench b;
        begin(&b, cases[i].processors);
        uint32_t jobs[3];
        jobs[0] = grid(&b, factors, 1, 1);
        jobs[1] = bench_run(&b, 0, PLEAT_MALLEABLE, 4, 2, 100);
        jobs[2] = bench_run(&b, 0, PLEAT_MALLEABLE, 4, 2, 100);
        for (int at = 1; at < 4; at++) {
            bench_timed(&b, jobs[1], sizes[at], factors[at]);
            bench_timed(&b, jobs[2], sizes[at], product[at]);
            b.components[jobs[1]].sizes_kind = b.components[jobs[2]].sizes_kind = GRID;
        }
        bench_decide(&b);
        for (int j = 0; j < 3; j++)
            if (bench_after(&b, jobs[j]) != cases[i].expected[j])
                fail_msg("%d processors: job %d gets %d, expected %d", cases[i].processors, j,
                         bench_after(&b, jobs[j]), cases[i].expected[j]);
        bench_finish(&b);
    }
}

/* Steps pay the less the larger one is. */
static void test_the_smallest_tries_first(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, 12 + 9 + 9 + 4);
    uint32_t large = grid(&b, product, 1, 4), small = grid(&b, product, 1, 3);
    uint32_t other = grid(&b, product, 1, 3);
    bench_decide(&b);
    assert_int_equal(bench_after(&b, large), 12);
    assert_int_equal(bench_after(&b, small), 12);
    assert_int_equal(bench_after(&b, other), 9);
    bench_finish(&b);
}

static void test_the_next_size(void **state)
{
    (void)state;
    static const struct {
        uint8_t kind;
        int32_t step, size, maximum, expected;
    } cases[] = {
        {PLEAT_SIZES_ANY, 0, 1, 100, 2},        {PLEAT_SIZES_ANY, 0, 2, 100, 3},
        {PLEAT_SIZES_ANY, 0, 9, 100, 13},       {PLEAT_SIZES_ANY, 0, 9, 11, 11},
        {PLEAT_SIZES_ANY, 0, 9, 9, 9},          {PLEAT_SIZES_MULTIPLES, 4, 12, 100, 20},
        {PLEAT_SIZES_MULTIPLES, 4, 4, 100, 8},  {PLEAT_SIZES_POWERS, 0, 8, 100, 16},
        {PLEAT_SIZES_POWERS, 0, 8, 15, 8},      {PLEAT_SIZES_SQUARES, 0, 9, 100, 16},
        {PLEAT_SIZES_MULTIPLES, 4, 12, 18, 16},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench b;
        begin(&b, 64);
        uint32_t component = bench_run(&b, 0, PLEAT_MALLEABLE, cases[i].size, 1, cases[i].maximum);
        b.components[component].sizes_kind = cases[i].kind;
        b.components[component].sizes_parameter = cases[i].step;
        bench_timed(&b, component, cases[i].size, 100);
        bench_decide(&b);
        assert_int_equal(bench_after(&b, component), cases[i].expected);
        bench_finish(&b);
    }
}

/* While somebody waits, nobody is expanded, nor goes back to its sweet spot. */
static void test_nobody_expands_while_somebody_waits(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, 64);
    uint32_t small = grid(&b, product, 0, 3);  /* on 9 */
    uint32_t beyond = grid(&b, factors, 0, 6); /* on 20 */
    bench_wait(&b, PLEAT_RIGID, 65, 65, 0);    /* nobody can make so much room */
    bench_decide(&b);
    assert_int_equal(bench_after(&b, small), 9);
    assert_int_equal(bench_after(&b, beyond), 20);
    bench_finish(&b);
}

/* ---- figure 9 ----
 * Jobs 0, 1 and 2 on 9, 12 and 12 processors; job 3 wants 12. Seconds of an iteration as tables 3
 * and 4 give them: totals on 6 and on 9 processors, divided by 25 iterations; on 12 about 12 and
 * 10 % less. What each step would cost of the present time: 9 to 6 of job 0 32 %, 12 to 9 of the
 * others 13 and 11 %, then 9 to 6 30 and 25 %. */

static void figure_9(struct bench *b, int32_t processors)
{
    static const int64_t on_6[] = {14464, 14608, 14488}, on_9[] = {10984, 11548, 11860};
    static const int64_t on_12[] = {11000, 10220, 10690};
    begin(b, processors);
    for (int j = 0; j < 3; j++) {
        uint32_t component = bench_run(b, 0, PLEAT_MALLEABLE, j == 0 ? 9 : 12, 2, 100);
        b->components[component].sizes_kind = GRID;
        bench_timed(b, component, 4, 18400);
        bench_timed(b, component, 6, on_6[j]);
        bench_timed(b, component, 9, on_9[j]);
        bench_timed(b, component, 12, on_12[j]);
    }
}

/* By the printed rule points are picked for all that job 3 wants (3.4.4), so figure 9 comes about
 * on any number of processors; remap-idle picks them for what is missing beside the idle ones. */
static void test_room_where_it_costs_least(void **state)
{
    (void)state;
    static const struct {
        int32_t processors, wanted;
        int32_t whole[3], beside_idle[3];
    } cases[] = {
        {33, 12, {9, 6, 6}, {9, 6, 6}},     /* figure 9 */
        {34, 12, {9, 6, 6}, {9, 6, 6}},     /* 11 are missing */
        {35, 12, {9, 6, 6}, {9, 6, 6}},     /* 10 */
        {36, 12, {9, 6, 6}, {9, 9, 6}},     /* 9: three steps are enough */
        {36, 4, {9, 9, 9}, {9, 12, 9}},     /* 1 */
        {36, 9, {9, 9, 6}, {9, 9, 9}},      /* 6 */
        {33, 13, {6, 6, 6}, {6, 6, 6}},     /* 13: job 0, too */
        {33, 21, {4, 4, 4}, {4, 4, 4}},     /* 21: all that there is */
        {33, 22, {9, 12, 12}, {9, 12, 12}}, /* more than there is: nobody shrinks */
        {36, 22, {9, 12, 12}, {4, 6, 4}},   /* as printed there are no points for all of it */
    };
    for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench b;
        bool printed = i % 2 == 0;
        const int32_t *expected = printed ? cases[i / 2].whole : cases[i / 2].beside_idle;
        figure_9(&b, cases[i / 2].processors);
        if (!printed)
            bench_policy(&b, &pleat_policy_remap_idle);
        int32_t wanted = cases[i / 2].wanted;
        uint32_t waiter = bench_wait(&b, PLEAT_RIGID, wanted, wanted, 0);
        bench_decide(&b);
        for (uint32_t j = 0; j < 3; j++) {
            if (bench_after(&b, j) != expected[j])
                fail_msg("%s: %d processors, %d wanted: job %u gets %d, expected %d",
                         b.pass.policies[PLEAT_APPROACH]->name, cases[i / 2].processors, wanted, j,
                         bench_after(&b, j), expected[j]);
            const struct pleat_event *shrink = bench_decision(&b, j);
            if (shrink)
                assert_int_equal(shrink->u.resize.waiter, waiter);
        }
        bench_finish(&b);
    }
}

/* What is idle starts a job without anybody's help. What is on its way to it is not asked for
 * again. */
static void test_no_more_room_than_it_needs(void **state)
{
    (void)state;
    struct bench b;
    figure_9(&b, 33 + 12);
    uint32_t waiter = bench_wait(&b, PLEAT_RIGID, 12, 12, 0);
    bench_decide(&b);
    assert_int_equal(bench_after(&b, waiter), 12);
    for (uint32_t j = 0; j < 3; j++)
        assert_null(bench_decision(&b, j));
    bench_finish(&b);
    figure_9(&b, 36);
    waiter = bench_wait(&b, PLEAT_RIGID, 12, 12, 0);
    b.components[waiter].site = 0;
    b.components[waiter].coming = 12;
    bench_decide(&b);
    for (uint32_t j = 0; j < 3; j++)
        assert_null(bench_decision(&b, j));
    bench_finish(&b);
}

/* One that is on a useless size is the first to give. */
static void test_a_useless_size_is_given_first(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, 32);
    uint32_t useful = grid(&b, product, 0, 4);  /* on 12 */
    uint32_t useless = grid(&b, factors, 0, 6); /* on 20, better on 16 */
    bench_wait(&b, PLEAT_RIGID, 3, 3, 0);
    bench_decide(&b);
    assert_int_equal(bench_after(&b, useful), 12);
    assert_int_equal(bench_after(&b, useless), 16);
    bench_finish(&b);
}

/* Not below the sizes at which it has run. */
static void test_not_below_its_first_size(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, 12);
    uint32_t component = grid(&b, product, 4, 4);
    bench_wait(&b, PLEAT_RIGID, 3, 3, 0);
    bench_decide(&b);
    assert_int_equal(bench_after(&b, component), 12);
    bench_finish(&b);
}

/* Under pwa it goes back, too: for nobody in particular, which may be refused. */
static void test_back_to_the_sweet_spot_is_voluntary(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, 25);
    bench_policy(&b, &pleat_policy_pwa);
    uint32_t component = grid(&b, factors, 0, 6);
    bench_decide(&b);
    const struct pleat_event *shrink = bench_decision(&b, component);
    assert_non_null(shrink);
    assert_int_equal(shrink->u.resize.processors, 16);
    assert_int_equal(shrink->u.resize.waiter, PLEAT_NONE);
    assert_false(shrink->flags & PLEAT_MANDATORY);
    bench_finish(&b);

    begin(&b, 25);
    component = grid(&b, factors, 0, 6);
    b.components[component].quiet_until_us = b.view.now_us + 7; /* it refused a moment ago */
    bench_decide(&b);
    assert_int_equal(bench_after(&b, component), 20);
    assert_int_equal(b.plan.wake_us, b.view.now_us + 7);
    bench_finish(&b);
}

static void test_one_in_backoff_is_looked_at_later(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, 64);
    uint32_t component = grid(&b, product, 0, 2);
    b.components[component].quiet_until_us = b.view.now_us + 7;
    bench_decide(&b);
    assert_int_equal(bench_after(&b, component), 6);
    assert_int_equal(b.plan.wake_us, b.view.now_us + 7);
    bench_finish(&b);
}

static void test_one_without_processors(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, 8);
    uint32_t fresh = bench_run(&b, 0, PLEAT_MALLEABLE, 0, 0, 100);
    uint32_t known = bench_run(&b, 0, PLEAT_MALLEABLE, 0, 0, 100);
    bench_timed(&b, known, 2, 1000);
    bench_timed(&b, known, 4, 531);
    bench_decide(&b);
    assert_int_equal(bench_after(&b, known), 4);
    assert_int_equal(bench_after(&b, fresh), 1);
    bench_finish(&b);
}

/* ---- jobs that fold: processors, not processes ---- */

/* The next size is one at which fewer processes share a processor. */
static void test_the_next_size_of_a_folded_job(void **state)
{
    (void)state;
    static const struct {
        int32_t processes, size, most, expected;
    } cases[] = {
        {8, 1, 8, 2},     {8, 2, 8, 3},     {8, 3, 8, 4},     {8, 4, 8, 8}, /* not 6: 2 on each */
        {8, 5, 8, 8},     {8, 8, 8, 8},     {8, 4, 6, 6}, /* more it may not have */
        {8, 6, 6, 6},     {12, 4, 12, 6},   {12, 6, 12, 12},  {64, 8, 64, 11}, /* 6 on each */
        {64, 11, 64, 16}, {64, 22, 64, 32}, {64, 32, 64, 64}, {1, 1, 1, 1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench b;
        begin(&b, 64);
        uint32_t component =
            bench_fold(&b, 0, cases[i].size, cases[i].processes, 64, PLEAT_CLASS_UNKNOWN);
        b.components[component].cap = cases[i].most;
        /* what it says of the numbers of its processes is no matter now */
        b.components[component].sizes_kind = PLEAT_SIZES_POWERS;
        bench_timed(&b, component, cases[i].size, 100);
        bench_decide(&b);
        if (bench_after(&b, component) != cases[i].expected)
            fail_msg("%d processes on %d of %d processors: %d, expected %d", cases[i].processes,
                     cases[i].size, cases[i].most, bench_after(&b, component), cases[i].expected);
        bench_finish(&b);
    }
}

/* Where more processors do not pay it goes back, and stays. */
static void test_a_folded_job_finds_its_sweet_spot(void **state)
{
    (void)state;
    for (int32_t size = 4; size <= 8; size += 4) {
        struct bench b;
        begin(&b, 64);
        uint32_t component = bench_fold(&b, 0, size, 8, 8, PLEAT_CLASS_UNKNOWN);
        bench_timed(&b, component, 2, 600);
        bench_timed(&b, component, 4, 400);
        bench_timed(&b, component, 8, 410);
        bench_decide(&b);
        assert_int_equal(bench_after(&b, component), 4);
        bench_finish(&b);
    }
}

/* Of a folded and a malleable job the one gives that loses least; a folded one not more than its
 * level of folding lets it. */
static void test_room_of_folded_jobs(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, 12);
    uint32_t folded = bench_fold(&b, 0, 8, 8, 4, PLEAT_CLASS_UNKNOWN);
    uint32_t other = bench_run(&b, 0, PLEAT_MALLEABLE, 4, 1, 4);
    bench_timed(&b, folded, 1, 900); /* 8 on a processor, as it was once allowed */
    bench_timed(&b, folded, 4, 110);
    bench_timed(&b, folded, 8, 100);
    bench_timed(&b, other, 2, 190);
    bench_timed(&b, other, 4, 100);
    bench_wait(&b, PLEAT_RIGID, 4, 4, 0);
    bench_decide(&b);
    assert_int_equal(bench_after(&b, folded), 4);
    assert_int_equal(bench_after(&b, other), 4);
    bench_finish(&b);

    begin(&b, 8);
    folded = bench_fold(&b, 0, 4, 8, 4, PLEAT_CLASS_UNKNOWN);
    other = bench_run(&b, 0, PLEAT_MALLEABLE, 4, 1, 4);
    bench_timed(&b, folded, 1, 100);
    bench_timed(&b, folded, 4, 90);
    bench_timed(&b, other, 2, 190);
    bench_timed(&b, other, 4, 100);
    bench_wait(&b, PLEAT_RIGID, 2, 2, 0);
    bench_decide(&b);
    assert_int_equal(bench_after(&b, folded), 4); /* 1 would be too few */
    assert_int_equal(bench_after(&b, other), 2);
    bench_finish(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_product_finds_20),
        cmocka_unit_test(test_the_factorization_finds_16),
        cmocka_unit_test(test_not_beyond_the_sweet_spot),
        cmocka_unit_test(test_not_before_the_present_size_is_measured),
        cmocka_unit_test(test_expand_points_go_first),
        cmocka_unit_test(test_the_smallest_tries_first),
        cmocka_unit_test(test_the_next_size),
        cmocka_unit_test(test_nobody_expands_while_somebody_waits),
        cmocka_unit_test(test_room_where_it_costs_least),
        cmocka_unit_test(test_no_more_room_than_it_needs),
        cmocka_unit_test(test_a_useless_size_is_given_first),
        cmocka_unit_test(test_not_below_its_first_size),
        cmocka_unit_test(test_back_to_the_sweet_spot_is_voluntary),
        cmocka_unit_test(test_one_in_backoff_is_looked_at_later),
        cmocka_unit_test(test_one_without_processors),
        cmocka_unit_test(test_the_next_size_of_a_folded_job),
        cmocka_unit_test(test_a_folded_job_finds_its_sweet_spot),
        cmocka_unit_test(test_room_of_folded_jobs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
