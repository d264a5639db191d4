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
        cmocka_unit_test(test_reported_in_a_resize),
        cmocka_unit_test(test_kept_over_a_new_run_and_gone_with_the_end),
        cmocka_unit_test(test_saved_and_loaded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
