/* What iterations take, by size: kept as reported, seen by policies, gone with the component. */
#include "core_scenarios_hand.h"

#include "base/array.h"

static int timed(struct hand *h, uint32_t component, int32_t size, int64_t iteration_us,
                 int64_t redistribution_us)
{
    struct pleat_event event = {.kind = PLEAT_EV_TIMED,
                                .component = component,
                                .u.timed = {.run = hand_component(h, component)->run,
                                            .iteration_us = iteration_us,
                                            .redistribution_us = redistribution_us,
                                            .processors = size}};
    return hand_feed(h, event);
}

static void known(const struct hand *h, uint32_t component, const int64_t (*rows)[3], size_t count)
{
    const struct pleat_view *view = pleat_core_view(h->core);
    const struct pleat_timing *timing = pleat_timing_smallest(view, hand_component(h, component));
    for (size_t i = 0; i < count; i++) {
        assert_non_null(timing);
        assert_int_equal(timing->processors, rows[i][0]);
        assert_int_equal(timing->iteration_us, rows[i][1]);
        assert_int_equal(timing->redistribution_us, rows[i][2]);
        timing = pleat_timing_greater(view, timing);
    }
    assert_null(timing);
}

static void resize(struct hand *h, uint32_t component, int32_t size)
{
    int32_t from = hand_component(h, component)->processors;
    assert_int_equal(hand_resize(h, component, size, PLEAT_NONE), 0);
    if (size > from)
        assert_int_equal(hand_claimed(h, hand_last(h, PLEAT_DO_CLAIM), size - from), 0);
    assert_int_equal(hand_change(h, PLEAT_EV_APPLIED, component, size), 0);
    if (size < from) {
        assert_int_equal(hand_change(h, PLEAT_EV_VACATED, component, size), 0);
        hand_release_all(h);
    }
}

static void test_kept_by_size(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = hand_run(&h, 2, 16, 4);
    known(&h, component, NULL, 0);
    assert_int_equal(timed(&h, component, 4, 700, 0), 0);
    resize(&h, component, 2);
    assert_int_equal(timed(&h, component, 2, 1300, 60), 0);
    resize(&h, component, 8);
    assert_int_equal(timed(&h, component, 8, 400, 50), 0);
    resize(&h, component, 6);
    assert_int_equal(timed(&h, component, 6, 500, 40), 0);
    known(&h, component,
          (const int64_t[][3]){{2, 1300, 60}, {4, 700, 0}, {6, 500, 40}, {8, 400, 50}}, 4);
    hand_finish(&h);
}

static void test_the_latest_report_counts(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t component = hand_run(&h, 2, 8, 4);
    assert_int_equal(timed(&h, component, 4, 700, 30), 0);
    assert_int_equal(timed(&h, component, 4, 900, 0), 0); /* the change is not measured again */
    known(&h, component, (const int64_t[][3]){{4, 900, 30}}, 1);
    assert_int_equal(timed(&h, component, 4, 900, 0), PLEAT_CORE_STALE); /* nothing new */
    assert_int_equal(timed(&h, component, 4, 900, 20), 0);
    known(&h, component, (const int64_t[][3]){{4, 900, 20}}, 1);
    hand_finish(&h);
}

static void test_what_is_no_measurement(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t waiting = hand_submit(&h, PLEAT_MALLEABLE, 2, 8, 0);
    assert_int_equal(timed(&h, waiting, 2, 700, 0), PLEAT_CORE_STALE); /* it does not run */
    hand_cancel(&h, waiting);
    hand_release_all(&h);
    uint32_t component = hand_run(&h, 2, 8, 4);
    assert_int_equal(timed(&h, component, 2, 700, 0), PLEAT_CORE_STALE); /* not its size */
    assert_int_equal(timed(&h, component, 4, 0, 0), PLEAT_CORE_STALE);
    assert_int_equal(timed(&h, component, 4, 700, -1), PLEAT_CORE_STALE);
    assert_int_equal(timed(&h, component, 4, PLEAT_NEVER, 0), PLEAT_CORE_STALE);
    struct pleat_event other = {.kind = PLEAT_EV_TIMED,
                                .component = component,
                                .u.timed = {.run = hand_component(&h, component)->run + 1,
                                            .iteration_us = 700,
                                            .processors = 4}};
    assert_int_equal(hand_feed(&h, other), PLEAT_CORE_STALE); /* of another run */
    other.component = 77;
    assert_int_equal(hand_feed(&h, other), PLEAT_E_NOTFOUND);
    known(&h, component, NULL, 0);
    hand_finish(&h);
}

/* ---- with their spread ---- */

static struct pleat_event report(const struct hand *h, uint32_t component, int32_t size,
                                 int64_t mean_us, int64_t spread_us, int32_t count)
{
    return (struct pleat_event){.kind = PLEAT_EV_MEASURED,
                                .component = component,
                                .u.measured = {.run = hand_component(h, component)->run,
                                               .iteration_us = mean_us,
                                               .spread_us = spread_us,
                                               .processors = size,
                                               .count = count,
                                               .iterations = count}};
}

static const struct pleat_timing *timing_of(const struct hand *h, uint32_t component, int32_t size)
{
    return pleat_timing_at(pleat_core_view(h->core), hand_component(h, component), size);
}

/* 8, 10, 12 and 14 ms, one by one or in two reports. */
static void test_reports_are_merged(void **state)
{
    (void)state;
    for (int at_once = 0; at_once <= 1; at_once++) {
        struct hand h;
        hand_init(&h, 8);
        uint32_t component = hand_run(&h, 2, 8, 4);
        for (int i = 0; i < 4 && !at_once; i++)
            assert_int_equal(hand_feed(&h, report(&h, component, 4, 8000 + i * 2000, 0, 1)), 0);
        for (int i = 0; i < 2 && at_once; i++)
            assert_int_equal(hand_feed(&h, report(&h, component, 4, 9000 + i * 4000, 1000, 2)), 0);
        const struct pleat_timing *timing = timing_of(&h, component, 4);
        assert_int_equal(timing->count, 4);
        assert_int_equal(timing->iteration_us, 11000);
        assert_int_equal(timing->mean_us, 11000);
        assert_int_equal(timing->squares + 0.5, 20000000); /* 9 + 1 + 1 + 9 ms^2 */
        hand_finish(&h);
    }
}

static void test_old_ones_count_less(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t component = hand_run(&h, 2, 8, 4);
    assert_int_equal(hand_feed(&h, report(&h, component, 4, 1000, 100, 1000000)), 0);
    assert_int_equal(timing_of(&h, component, 4)->count, PLEAT_TIMING_WINDOW);
    for (int i = 0; i < 6; i++)
        assert_int_equal(hand_feed(&h, report(&h, component, 4, 1200, 100, 256)), 0);
    assert_in_range(timing_of(&h, component, 4)->iteration_us, 1190, 1200);
    hand_finish(&h);
}

/* A cold first iteration, and another phase, take the place of what was known; noise does not. */
static void test_what_differs_too_much_begins_anew(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t component = hand_run(&h, 2, 8, 4);
    assert_int_equal(hand_feed(&h, report(&h, component, 4, 3000, 0, 1)), 0);
    assert_int_equal(hand_feed(&h, report(&h, component, 4, 1000, 0, 1)), 0);
    assert_int_equal(timing_of(&h, component, 4)->count, 1);
    assert_int_equal(timing_of(&h, component, 4)->iteration_us, 1000);
    assert_int_equal(hand_feed(&h, report(&h, component, 4, 1000, 200, 20)), 0);
    assert_int_equal(hand_feed(&h, report(&h, component, 4, 1400, 0, 1)), 0);
    assert_int_equal(timing_of(&h, component, 4)->count, 22); /* within the noise */
    assert_int_equal(hand_feed(&h, report(&h, component, 4, 2000, 200, 10)), 0);
    assert_int_equal(timing_of(&h, component, 4)->count, 10);
    assert_int_equal(timing_of(&h, component, 4)->iteration_us, 2000);
    hand_finish(&h);
}

static void test_what_is_no_report(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t component = hand_run(&h, 2, 8, 4);
    struct pleat_event good = report(&h, component, 4, 1000, 10, 3), event;
    event = good, event.u.measured.processors = 2;
    assert_int_equal(hand_feed(&h, event), PLEAT_CORE_STALE);
    event = good, event.u.measured.run++;
    assert_int_equal(hand_feed(&h, event), PLEAT_CORE_STALE);
    event = good, event.u.measured.count = 0;
    assert_int_equal(hand_feed(&h, event), PLEAT_CORE_STALE);
    event = good, event.u.measured.iteration_us = 0;
    assert_int_equal(hand_feed(&h, event), PLEAT_CORE_STALE);
    event = good, event.u.measured.spread_us = -1;
    assert_int_equal(hand_feed(&h, event), PLEAT_CORE_STALE);
    known(&h, component, NULL, 0);
    assert_int_equal(hand_feed(&h, good), 0);
    hand_finish(&h);
}

/* Known from the start, until it has measured that size itself. */
static void test_remembered(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t component = hand_submit(&h, PLEAT_MALLEABLE, 2, 8, 4);
    struct pleat_event event = report(&h, component, 4, 1000, 10, 500);
    event.kind = PLEAT_EV_REMEMBERED;
    event.u.measured.run = 0;
    event.u.measured.iterations = 200;
    assert_int_equal(hand_feed(&h, event), 0);
    event.u.measured.processors = 8;
    assert_int_equal(hand_feed(&h, event), 0);
    assert_int_equal(timing_of(&h, component, 4)->count, 16);
    assert_int_equal(timing_of(&h, component, 4)->earlier, 200);
    event.u.measured.iterations = 0;
    assert_int_equal(hand_feed(&h, event), PLEAT_E_INVALID);
    uint32_t other = hand_run(&h, 2, 8, 4);
    assert_int_equal(hand_feed(&h, report(&h, other, 4, 700, 10, 2)), 0);
    assert_int_equal(timing_of(&h, other, 4)->count, 2);
    event.component = other;
    event.u.measured.iterations = 200;
    event.u.measured.processors = 4;
    assert_int_equal(hand_feed(&h, event), PLEAT_CORE_STALE);
    event.u.measured.processors = 8;
    assert_int_equal(hand_feed(&h, event), 0);
    resize(&h, other, 2);
    assert_int_equal(hand_feed(&h, report(&h, other, 2, 900, 10, 1)), 0);
    assert_int_equal(timing_of(&h, other, 8)->earlier, 200);
    hand_finish(&h);
}

static int unlearned(struct hand *h, uint32_t component, int32_t processors)
{
    return hand_feed(h, (struct pleat_event){.kind = PLEAT_EV_UNLEARNED,
                                             .component = component,
                                             .u.unlearned.processors = processors});
}

/* What others have measured, or it itself at one size, holds no longer: the rest stays. */
static void test_unlearned(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t component = hand_run(&h, 2, 8, 4);
    struct pleat_event event = report(&h, component, 2, 1900, 10, 500);
    event.kind = PLEAT_EV_REMEMBERED;
    event.u.measured.run = 0;
    event.u.measured.iterations = 200;
    assert_int_equal(hand_feed(&h, event), 0);
    event.u.measured.processors = 8;
    assert_int_equal(hand_feed(&h, event), 0);
    assert_int_equal(hand_feed(&h, report(&h, component, 4, 1000, 10, 5)), 0);
    assert_int_equal(unlearned(&h, component, 3), PLEAT_CORE_STALE);
    assert_int_equal(unlearned(&h, component, 0), 0);
    known(&h, component, (const int64_t[][3]){{4, 1000, 0}}, 1);
    assert_int_equal(unlearned(&h, component, 0), PLEAT_CORE_STALE);
    event.u.measured.processors = 2;
    assert_int_equal(hand_feed(&h, event), 0);
    assert_int_equal(unlearned(&h, component, 4), 0);
    known(&h, component, (const int64_t[][3]){{2, 1900, 0}}, 1);
    /* so the next report is the first one, however little it differs */
    assert_int_equal(hand_feed(&h, report(&h, component, 4, 1010, 10, 3)), 0);
    assert_int_equal(timing_of(&h, component, 4)->count, 3);
    hand_finish(&h);
}

/* In a resize its present size is the old one until it is applied, then the new one. */
static void test_reported_in_a_resize(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t component = hand_run(&h, 2, 8, 8);
    assert_int_equal(hand_resize(&h, component, 4, PLEAT_NONE), 0);
    assert_int_equal(timed(&h, component, 4, 700, 0), PLEAT_CORE_STALE);
    assert_int_equal(timed(&h, component, 8, 400, 0), 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 4), 0);
    assert_int_equal(timed(&h, component, 8, 300, 0), PLEAT_CORE_STALE);
    assert_int_equal(timed(&h, component, 4, 700, 10), 0);
    known(&h, component, (const int64_t[][3]){{4, 700, 10}, {8, 400, 0}}, 2);
    hand_finish(&h);
}

static void test_kept_over_a_new_run_and_gone_with_the_end(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t component = hand_run(&h, 4, 8, 4);
    assert_int_equal(timed(&h, component, 4, 700, 0), 0);
    assert_int_equal(hand_lost(&h, hand_last(&h, PLEAT_DO_CLAIM)), 0);
    assert_int_equal(hand_exited(&h, component, 0), 0);
    hand_release_all(&h);
    assert_int_equal(hand_claimed(&h, hand_last(&h, PLEAT_DO_CLAIM), 4), 0);
    assert_int_equal(hand_started(&h, component), 0);
    known(&h, component, (const int64_t[][3]){{4, 700, 0}}, 1);
    assert_int_equal(hand_exited(&h, component, 0), 0);
    hand_release_all(&h);
    assert_int_equal(hand_component(&h, component)->state, PLEAT_DONE);
    known(&h, component, NULL, 0);
    /* and its records are used again */
    uint32_t other = hand_run(&h, 2, 8, 2);
    assert_int_equal(timed(&h, other, 2, 90, 0), 0);
    known(&h, other, (const int64_t[][3]){{2, 90, 0}}, 1);
    hand_finish(&h);
}

static void test_saved_and_loaded(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = hand_run(&h, 2, 16, 4), other = hand_run(&h, 2, 16, 4);
    assert_int_equal(timed(&h, component, 4, 700, 0), 0);
    assert_int_equal(timed(&h, other, 4, 800, 0), 0);
    resize(&h, component, 8);
    assert_int_equal(timed(&h, component, 8, 400, 9), 0);
    struct pleat_string bytes = {0};
    assert_int_equal(pleat_core_save(h.core, &bytes), 0);
    struct pleat_core *before = h.core;
    struct pleat_error err;
    assert_int_equal(pleat_core_load(bytes.text, bytes.length, &h.core, &err), 0);
    pleat_core_destroy(before);
    pleat_string_finish(&bytes);
    assert_int_equal(pleat_core_check(h.core, &err), 0);
    known(&h, component, (const int64_t[][3]){{4, 700, 0}, {8, 400, 9}}, 2);
    known(&h, other, (const int64_t[][3]){{4, 800, 0}}, 1);
    hand_finish(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kept_by_size),
        cmocka_unit_test(test_the_latest_report_counts),
        cmocka_unit_test(test_what_is_no_measurement),
        cmocka_unit_test(test_reports_are_merged),
        cmocka_unit_test(test_old_ones_count_less),
        cmocka_unit_test(test_what_differs_too_much_begins_anew),
        cmocka_unit_test(test_what_is_no_report),
        cmocka_unit_test(test_remembered),
        cmocka_unit_test(test_unlearned),
        cmocka_unit_test(test_reported_in_a_resize),
        cmocka_unit_test(test_kept_over_a_new_run_and_gone_with_the_end),
        cmocka_unit_test(test_saved_and_loaded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
