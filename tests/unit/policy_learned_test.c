/* The policy sweet-spot-learned by worked examples: what it does with what it knows, and what it
 * says of it. Times are those of a law whose spot is known by hand, unless a test says otherwise.
 */
#include "policy_bench.h"

#include "policy/spot.h"

static void begin(struct bench *b, int32_t processors)
{
    bench_init(b);
    bench_policy(b, &pleat_policy_remap_idle);
    bench_policy(b, &pleat_policy_sweet_spot_learned);
    bench_site(b, processors, 0);
}

/* `count` iterations at a size, whose times differ by `noise` of the mean. */
static struct pleat_timing *measured(struct bench *b, uint32_t component, int32_t size, double us,
                                     int32_t count, double noise)
{
    bench_timed(b, component, size, 1);
    struct pleat_timing *timing = &b->timings[b->timing_count - 1];
    timing->iteration_us = (int64_t)us;
    timing->mean_us = us;
    timing->count = count;
    timing->squares = noise * us * noise * us * (count - 1);
    return timing;
}

/* 98 s of parallel work, 2 s of serial work. */
static double amdahl(int32_t p)
{
    return 2e6 + 98e6 / p;
}

/* ... and 0.25 s for each processor: the shortest iterations are on 20. */
static double overhead(int32_t p)
{
    return amdahl(p) + 0.25e6 * p;
}

static uint32_t runs(struct bench *b, int32_t size, double (*time)(int32_t), const int32_t *tried,
                     int count)
{
    uint32_t component = bench_run(b, 0, PLEAT_MALLEABLE, size, 1, 64);
    for (int i = 0; i < count; i++)
        measured(b, component, tried[i], time(tried[i]), 20, 0.01);
    return component;
}

static int32_t decided(struct bench *b, uint32_t component)
{
    bench_decide(b);
    int32_t after = bench_after(b, component);
    bench_finish(b);
    return after;
}

static void test_a_search_takes_few_steps(void **state)
{
    (void)state;
    static const struct {
        int32_t tried[5];
        int count;
        int32_t least, most; /* where it goes */
    } steps[] = {
        {{2}, 1, 16, 16},        /* eight times as many at most */
        {{2, 16}, 2, 52, 64},    /* nothing speaks against more yet */
        {{2, 16, 64}, 3, 14, 22} /* too many: the law has the spot */
    };
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        struct bench b;
        begin(&b, 64);
        int32_t now = steps[i].tried[steps[i].count - 1];
        int32_t next = decided(&b, runs(&b, now, overhead, steps[i].tried, steps[i].count));
        if (next < steps[i].least || next > steps[i].most)
            fail_msg("from %d it goes to %d, expected %d to %d", now, next, steps[i].least,
                     steps[i].most);
    }
}

static void test_it_stays_at_its_spot(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, 64);
    assert_int_equal(decided(&b, runs(&b, 18, overhead, (const int32_t[]){2, 8, 18, 32}, 4)), 18);
    begin(&b, 64); /* all that there is */
    assert_int_equal(decided(&b, runs(&b, 64, amdahl, (const int32_t[]){4, 16, 64}, 3)), 64);
}

static void test_not_before_the_present_size_is_measured(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, 64);
    uint32_t fresh = bench_run(&b, 0, PLEAT_MALLEABLE, 4, 1, 64);
    uint32_t grown = runs(&b, 8, amdahl, (const int32_t[]){4}, 1);
    bench_decide(&b);
    assert_int_equal(bench_after(&b, fresh), 4);
    assert_int_equal(bench_after(&b, grown), 8);
    bench_finish(&b);
}

/* Means of unknown numbers of iterations, as of folded programs: a gain of a quarter is enough. */
static void test_means_alone(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, 16);
    uint32_t job = bench_run(&b, 0, PLEAT_MALLEABLE, 8, 8, 16);
    b.components[job].sizes_kind = PLEAT_SIZES_POWERS;
    bench_timed(&b, job, 8, 100);
    bench_timed(&b, job, 16, 75);
    assert_int_equal(decided(&b, job), 16);
}

/* Two sizes whose times are the same but for the noise. */
static void test_noise_does_not_fool_it(void **state)
{
    (void)state;
    static const struct {
        double share, noise;
        int32_t count, expected;
    } cases[] = {
        {0.92, 0.20, 4, 8},    /* 8 % shorter, it seems, of four: who knows */
        {0.92, 0.20, 400, 16}, /* of four hundred: that is certain */
        {0.80, 0.20, 4, 8},    /* 20 % of four */
        {0.80, 0.20, 100, 16}, /* of a hundred */
        {0.60, 0.02, 2, 16},   /* without noise two are enough */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench b;
        begin(&b, 16);
        uint32_t job = bench_run(&b, 0, PLEAT_MALLEABLE, 8, 8, 16);
        b.components[job].sizes_kind = PLEAT_SIZES_POWERS;
        measured(&b, job, 8, 1e7, cases[i].count, cases[i].noise);
        measured(&b, job, 16, 1e7 * cases[i].share, cases[i].count, cases[i].noise);
        int32_t after = decided(&b, job);
        if (after != cases[i].expected)
            fail_msg("case %zu: %d, expected %d", i, after, cases[i].expected);
    }
}

/* Where it has been, and left, it goes back for more than for what it wants elsewhere. */
static void test_back_only_for_more(void **state)
{
    (void)state;
    for (int percent = 92; percent >= 84; percent -= 8) {
        struct bench b;
        begin(&b, 16);
        uint32_t job = bench_run(&b, 0, PLEAT_MALLEABLE, 8, 4, 16);
        b.components[job].sizes_kind = PLEAT_SIZES_POWERS;
        measured(&b, job, 4, 2e7, 100, 0.02);
        measured(&b, job, 8, 1e7, 100, 0.02);
        measured(&b, job, 16, 1e5 * percent, 100, 0.02);
        assert_int_equal(decided(&b, job), percent == 92 ? 8 : 16);
    }
}

/* The law of three terms goes through any three sizes, here to 20: one beside the best is tried,
 * too, and is better. As the law was wrong the next one is tried, which is worse: back. */
static void test_a_law_is_confirmed(void **state)
{
    (void)state;
    static const int32_t sizes[] = {2, 6, 12, 16, 20}, takes[] = {1000, 427, 267, 235, 283};
    static const struct {
        int32_t known, now, next; /* known: bits of sizes */
    } steps[] = {{0x13, 20, 16}, {0x1b, 16, 12}, {0x1f, 12, 16}, {0x1f, 16, 16}};
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        struct bench b;
        begin(&b, 25);
        uint32_t job = bench_run(&b, 0, PLEAT_MALLEABLE, steps[i].now, 2, 25);
        b.components[job].sizes_kind = PLEAT_SIZES_GRIDS;
        for (int s = 0; s < 5; s++)
            if ((steps[i].known >> s) & 1)
                measured(&b, job, sizes[s], takes[s] * 1e6, 20, 0.01);
        int32_t after = decided(&b, job);
        if (after != steps[i].next)
            fail_msg("step %zu: %d, expected %d", i, after, steps[i].next);
    }
}

static void test_a_change_must_pay(void **state)
{
    (void)state;
    static const struct {
        int64_t left_s, cost_s;
        int32_t expected;
    } cases[] = {
        {0, 1000, 16}, /* nothing is known of its end */
        {200, 20, 16}, /* 200 s at 8 take some 113 s at 16 */
        {200, 120, 8}, /* ... which is less than the change costs */
        {100000, 120, 16},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench b;
        begin(&b, 16);
        uint32_t job = bench_run(&b, 0, PLEAT_MALLEABLE, 8, 2, 16);
        b.components[job].sizes_kind = PLEAT_SIZES_POWERS;
        measured(&b, job, 2, amdahl(2), 20, 0.01);
        measured(&b, job, 8, amdahl(8), 20, 0.01)->from = 2;
        b.timings[b.timing_count - 1].redistribution_us = cases[i].cost_s * 1000000;
        measured(&b, job, 16, amdahl(16), 20, 0.01);
        if (cases[i].left_s)
            bench_estimate(&b, job, cases[i].left_s);
        int32_t after = decided(&b, job);
        if (after != cases[i].expected)
            fail_msg("case %zu: %d, expected %d", i, after, cases[i].expected);
    }
}

/* What an earlier run did says how much is left. */
static void test_left_by_history(void **state)
{
    (void)state;
    for (int done = 100; done <= 198; done += 98) {
        struct bench b;
        begin(&b, 16);
        uint32_t job = bench_run(&b, 0, PLEAT_MALLEABLE, 8, 2, 16);
        b.components[job].sizes_kind = PLEAT_SIZES_POWERS;
        measured(&b, job, 2, amdahl(2), 16, 0.01)->earlier = 200;
        measured(&b, job, 8, amdahl(8), 20, 0.01)->done = done;
        b.timings[b.timing_count - 1].redistribution_us = 20000000;
        measured(&b, job, 16, amdahl(16), 16, 0.01)->earlier = 200;
        assert_int_equal(decided(&b, job), done == 100 ? 16 : 8);
    }
}

static void test_metrics(void **state)
{
    (void)state;
    static const struct {
        int32_t metric, threshold, spot;
    } cases[] = {
        {PLEAT_SPOT_TIME, 0, 63},        /* 3.53 s on 64; 1 % more: 98 / (3.57 - 2) */
        {PLEAT_SPOT_TIME, 50, 32},       /* half as much more: 98 / (5.3 - 2) is 30; 32 was tried */
        {PLEAT_SPOT_EFFICIENCY, 0, 51},  /* 100 = 0.5 x (2 p + 98) */
        {PLEAT_SPOT_EFFICIENCY, 80, 13}, /* 100 = 0.8 x (2 p + 98): 13.5 */
        {PLEAT_SPOT_MARGIN, 0, 20},      /* 100 x 98 = 0.5 x (2 p + 98)^2: 21.0 */
        {PLEAT_SPOT_PROCESSOR_TIME, 0, 27}, /* from 2 on: 1.5 x 102 = 2 p + 98: 27.5 */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench b;
        begin(&b, 64);
        uint32_t job = bench_run(&b, 0, PLEAT_MALLEABLE, 8, 2, 64);
        measured(&b, job, 2, amdahl(2), 200, 0.001);
        measured(&b, job, 8, amdahl(8), 200, 0.001);
        measured(&b, job, 32, amdahl(32), 200, 0.001);
        b.view.spot_metric = cases[i].metric;
        b.view.spot_threshold = cases[i].threshold;
        struct pleat_spot_study study = pleat_spot_study(&b.view, &b.components[job]);
        struct pleat_spot spot = pleat_spot_find(&study, 64);
        if (spot.spot < cases[i].spot - 1 || spot.spot > cases[i].spot + 1)
            fail_msg("%s, %d: %d, expected %d",
                     pleat_spot_metric_name((enum pleat_spot_metric)cases[i].metric),
                     cases[i].threshold, spot.spot, cases[i].spot);
        bench_finish(&b);
    }
}

/* Begun with everything: half of it for an iteration, unless somebody waits. */
static void test_it_is_probed(void **state)
{
    (void)state;
    for (int waits = 0; waits <= 1; waits++) {
        struct bench b;
        begin(&b, 64);
        uint32_t job = runs(&b, 64, overhead, (const int32_t[]){64}, 1);
        if (waits)
            bench_wait(&b, PLEAT_RIGID, 65, 65, 0);
        assert_int_equal(decided(&b, job), waits ? 64 : 32);
    }
    struct bench b;
    begin(&b, 64);
    b.view.spot_probe = false;
    assert_int_equal(decided(&b, runs(&b, 64, overhead, (const int32_t[]){64}, 1)), 64);
    begin(&b, 64); /* it would take more than is left */
    uint32_t job = runs(&b, 64, overhead, (const int32_t[]){64}, 1);
    bench_estimate(&b, job, 100);
    assert_int_equal(decided(&b, job), 64);
    begin(&b, 64); /* at half, it is slower than it was: back */
    int32_t next = decided(&b, runs(&b, 32, amdahl, (const int32_t[]){32, 64}, 2));
    assert_in_range(next, 60, 64);
    begin(&b, 64); /* faster: on */
    next = decided(&b, runs(&b, 32, overhead, (const int32_t[]){32, 64}, 2));
    assert_in_range(next, 16, 24);
}

static void test_what_was_left_for_probing_is_kept(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, 64);
    uint32_t probed = runs(&b, 24, overhead, (const int32_t[]){48}, 1); /* not measured yet */
    uint32_t other = runs(&b, 4, amdahl, (const int32_t[]){1, 4}, 2);
    bench_decide(&b);
    assert_int_equal(bench_after(&b, probed), 24);
    assert_int_equal(bench_after(&b, other), 16); /* 36 are free, 24 of them kept */
    bench_finish(&b);
}

/* Who gains most for a processor goes first. */
static void test_the_best_use_first(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, 16 + 4 + 12);
    uint32_t large = runs(&b, 16, amdahl, (const int32_t[]){4, 16}, 2);
    uint32_t small = runs(&b, 4, amdahl, (const int32_t[]){1, 4}, 2);
    bench_decide(&b);
    assert_int_equal(bench_after(&b, small), 16);
    assert_int_equal(bench_after(&b, large), 16);
    bench_finish(&b);
}

/* Room comes from the one that loses least, also at sizes at which it never was. */
static void test_room_where_it_costs_least(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, 64);
    uint32_t useful = runs(&b, 32, amdahl, (const int32_t[]){8, 16, 32}, 3);
    uint32_t useless = runs(&b, 32, overhead, (const int32_t[]){8, 16, 32}, 3);
    uint32_t waiter = bench_wait(&b, PLEAT_RIGID, 8, 8, 0);
    bench_decide(&b);
    assert_int_equal(bench_after(&b, useful), 32);
    assert_in_range(bench_after(&b, useless), 20, 24);
    assert_int_equal(bench_after(&b, waiter), 0);
    bench_finish(&b);
}

static void test_what_it_says(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, 64);
    uint32_t job = bench_run(&b, 0, PLEAT_MALLEABLE, 8, 2, 16);
    b.components[job].sizes_kind = PLEAT_SIZES_POWERS;
    measured(&b, job, 2, 1.24e7, 100, 0.01);
    measured(&b, job, 4, 1.08e7, 100, 0.01);
    measured(&b, job, 8, 1.00e7, 100, 0.01);
    struct pleat_spot_study study = pleat_spot_study(&b.view, &b.components[job]);
    struct pleat_spot spot = pleat_spot_find(&study, 64);
    assert_int_equal(spot.size, 16);
    assert_true(spot.gain > 0.03 && spot.gain < 0.05);
    assert_string_equal(pleat_spot_advice_name(spot.advice), "little");
    b.components[job].processors = 16;
    spot = pleat_spot_find(&study, 64);
    assert_string_equal(pleat_spot_advice_name(spot.advice), "unmeasured");
    bench_finish(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_search_takes_few_steps),
        cmocka_unit_test(test_it_stays_at_its_spot),
        cmocka_unit_test(test_not_before_the_present_size_is_measured),
        cmocka_unit_test(test_means_alone),
        cmocka_unit_test(test_noise_does_not_fool_it),
        cmocka_unit_test(test_back_only_for_more),
        cmocka_unit_test(test_a_law_is_confirmed),
        cmocka_unit_test(test_a_change_must_pay),
        cmocka_unit_test(test_left_by_history),
        cmocka_unit_test(test_metrics),
        cmocka_unit_test(test_it_is_probed),
        cmocka_unit_test(test_what_was_left_for_probing_is_kept),
        cmocka_unit_test(test_the_best_use_first),
        cmocka_unit_test(test_room_where_it_costs_least),
        cmocka_unit_test(test_what_it_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
