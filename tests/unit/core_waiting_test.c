/* How waiting components stand: orders, reservations, promises; expected ends; sites that answer at
 * once; records used again. Everything is recounted after every event (hand_feed). */
#include "core_scenarios_hand.h"

static uint32_t submit(struct hand *h, int32_t size, int64_t estimate_s, int16_t priority)
{
    uint32_t component = pleat_core_next_component(h->core);
    struct pleat_event event = {.kind = PLEAT_EV_SUBMIT,
                                .component = component,
                                .u.submit = {.job = component + 1u,
                                             .estimate_us = estimate_s * SECONDS,
                                             .minimum = size,
                                             .maximum = size,
                                             .reference = size,
                                             .priority = priority,
                                             .site = PLEAT_NONE}};
    assert_int_equal(hand_feed(h, event), 0);
    return component;
}

static int reserve(struct hand *h, uint32_t component, int64_t at_s)
{
    struct pleat_event event = {
        .kind = PLEAT_EV_RESERVE, .component = component, .u.at = {.at_us = at_s * SECONDS}};
    return hand_feed(h, event);
}

static void is(const struct hand *h, uint32_t component, enum pleat_component_state state)
{
    assert_string_equal(
        pleat_component_state_name((enum pleat_component_state)hand_component(h, component)->state),
        pleat_component_state_name(state));
}

static void instant_site(struct hand *h, int32_t capacity)
{
    hand_init(h, 0); /* site 0 has nothing, site 1 answers at once */
    struct pleat_event event = {.kind = PLEAT_EV_SITE,
                                .flags = PLEAT_SITE_INSTANT,
                                .component = 1,
                                .u.site = {.capacity = capacity}};
    assert_int_equal(hand_feed(h, event), 0);
}

static const struct pleat_site *place(const struct hand *h)
{
    return &pleat_core_view(h->core)->sites[1];
}

/* ---- sites that answer at once ---- */

static void test_an_instant_site_is_asked_nothing(void **state)
{
    (void)state;
    struct hand h;
    instant_site(&h, 8);
    hand_mark(&h);
    uint32_t component = submit(&h, 8, 10, 0), next = submit(&h, 4, 10, 0);
    is(&h, component, PLEAT_RUNNING);
    is(&h, next, PLEAT_QUEUED);
    assert_int_equal(hand_count(&h, PLEAT_DO_START), 1);
    assert_int_equal(hand_exited(&h, component, 0), 0);
    is(&h, component, PLEAT_DONE);
    is(&h, next, PLEAT_RUNNING);
    assert_int_equal(hand_exited(&h, next, 0), 0);
    assert_int_equal(place(&h)->claimed, 0);
    assert_int_equal(hand_count(&h, PLEAT_DO_CLAIM) + hand_count(&h, PLEAT_DO_RELEASE), 0);
    assert_int_equal(pleat_core_next_deadline(h.core), PLEAT_NEVER);
    hand_finish(&h);
}

static void test_resizes_at_an_instant_site(void **state)
{
    (void)state;
    struct hand h;
    instant_site(&h, 8);
    uint32_t component = hand_submit(&h, PLEAT_MALLEABLE, 2, 8, 4);
    is(&h, component, PLEAT_RUNNING);
    assert_int_equal(hand_resize(&h, component, 8, PLEAT_NONE), 0);
    assert_int_equal(place(&h)->claimed, 8);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 8), 0);
    assert_int_equal(hand_component(&h, component)->processors, 8);
    uint32_t waiter = submit(&h, 6, 10, 0);
    assert_int_equal(hand_resize(&h, component, 2, waiter), 0);
    assert_int_equal(hand_component(&h, waiter)->coming, 6);
    /* applied is vacated: the waiter has them, and runs */
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 2), 0);
    is(&h, component, PLEAT_RUNNING);
    is(&h, waiter, PLEAT_RUNNING);
    assert_int_equal(hand_resize(&h, component, 1, PLEAT_NONE),
                     PLEAT_E_STATE); /* below its minimum */
    assert_int_equal(hand_exited(&h, component, 0), 0);
    assert_int_equal(hand_exited(&h, waiter, 0), 0);
    assert_int_equal(place(&h)->claimed, 0);
    hand_finish(&h);
}

/* ---- records used again ---- */

static void test_forgotten_records_are_used_again(void **state)
{
    (void)state;
    struct hand h;
    instant_site(&h, 8);
    uint32_t first = submit(&h, 8, 10, 0), second = submit(&h, 8, 10, 0);
    struct pleat_event forget = {.kind = PLEAT_EV_FORGET, .component = first};
    assert_int_equal(hand_feed(&h, forget), PLEAT_E_STATE);
    assert_int_equal(hand_exited(&h, first, 0), 0);
    assert_int_equal(hand_feed(&h, forget), 0);
    assert_int_equal(hand_feed(&h, forget), PLEAT_E_STATE);
    assert_int_equal(hand_cancel(&h, first), PLEAT_E_STATE);
    assert_int_equal(hand_limits(&h, first, 1, 2), PLEAT_E_STATE);
    assert_int_equal(pleat_core_next_component(h.core), first);
    /* a submission that is refused leaves the free record as it was */
    struct pleat_event bad = {
        .kind = PLEAT_EV_SUBMIT,
        .component = first,
        .u.submit = {.job = 9, .minimum = 9, .maximum = 9, .site = PLEAT_NONE}};
    assert_int_equal(hand_feed(&h, bad), PLEAT_E_TOOBIG);
    assert_int_equal(submit(&h, 3, 10, 0), first);
    is(&h, first, PLEAT_QUEUED);
    is(&h, second, PLEAT_RUNNING);
    assert_int_equal(pleat_core_next_component(h.core), 2);
    hand_finish(&h);
}

/* ---- expected ends ---- */

static int64_t expected(const struct hand *h, uint32_t component)
{
    return hand_component(h, component)->expected_end_us / SECONDS;
}

static void test_estimates_scale_with_the_size(void **state)
{
    (void)state;
    struct hand h;
    instant_site(&h, 8);
    uint32_t component = pleat_core_next_component(h.core);
    struct pleat_event event = {.kind = PLEAT_EV_SUBMIT,
                                .component = component,
                                .u.submit = {.job = 1,
                                             .estimate_us = 100 * SECONDS,
                                             .minimum = 1,
                                             .maximum = 8,
                                             .initial = 2,
                                             .reference = 4,
                                             .job_kind = PLEAT_MALLEABLE,
                                             .site = PLEAT_NONE}};
    assert_int_equal(hand_feed(&h, event), 0);
    assert_int_equal(expected(&h, component),
                     h.now_us / SECONDS + 200); /* on half of what it is for */
    int64_t begin_us = h.now_us;
    hand_sleep(&h, 50 * SECONDS);
    assert_int_equal(hand_resize(&h, component, 6, PLEAT_NONE), 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 6), 0);
    assert_int_equal(expected(&h, component), begin_us / SECONDS + 50 + 150 / 3);
    hand_sleep(&h, 500 * SECONDS); /* late: it may end at any moment, whatever its size */
    assert_int_equal(hand_resize(&h, component, 1, PLEAT_NONE), 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 1), 0);
    assert_int_equal(
        pleat_view_expected_end(pleat_core_view(h.core), hand_component(&h, component)), h.now_us);
    hand_finish(&h);
}

/* ---- reservations ---- */

static void test_a_reservation_waits_aside_and_then_goes_first(void **state)
{
    (void)state;
    struct hand h;
    instant_site(&h, 8);
    int64_t now_s = h.now_us / SECONDS;
    uint32_t running = submit(&h, 8, 0, 0), waiting = submit(&h, 8, 10, 0); /* who knows how long */
    uint32_t reserved = submit(&h, 4, 100, 0);
    assert_int_equal(reserve(&h, reserved, now_s + 50), 0);
    const struct pleat_view *view = pleat_core_view(h.core);
    assert_int_equal(view->reserved_first, reserved);
    assert_int_equal(view->queue_count, 1);
    assert_int_equal(hand_component(&h, reserved)->promised_us, (now_s + 50) * SECONDS);
    hand_sleep(&h, 50 * SECONDS);
    assert_int_equal(view->reserved_first, PLEAT_NONE);
    assert_int_equal(view->queue_first, reserved); /* before the one that came earlier */
    assert_int_equal(hand_exited(&h, running, 0), 0);
    is(&h, reserved, PLEAT_RUNNING);
    is(&h, waiting, PLEAT_QUEUED);
    hand_finish(&h);
}

static void test_reservations_that_cannot_be(void **state)
{
    (void)state;
    struct hand h;
    instant_site(&h, 8);
    int64_t now_s = h.now_us / SECONDS;
    uint32_t running = submit(&h, 8, 0, 0);
    is(&h, running, PLEAT_RUNNING);
    assert_int_equal(reserve(&h, running, now_s + 50), PLEAT_E_STATE);
    uint32_t a = submit(&h, 5, 100, 0), b = submit(&h, 4, 100, 0), c = submit(&h, 3, 100, 0);
    uint32_t without = submit(&h, 1, 0, 0);
    assert_int_equal(reserve(&h, a, now_s), PLEAT_E_INVALID); /* not in the future */
    assert_int_equal(reserve(&h, without, now_s + 50), PLEAT_E_INVALID);
    assert_int_equal(reserve(&h, a, now_s + 100), 0);
    assert_int_equal(reserve(&h, a, now_s + 500), PLEAT_E_STATE);
    assert_int_equal(reserve(&h, b, now_s + 199), PLEAT_E_BUSY); /* 5 + 4 of 8 for one second */
    assert_int_equal(reserve(&h, b, now_s + 1), PLEAT_E_BUSY);
    assert_int_equal(reserve(&h, c, now_s + 150), 0);
    assert_int_equal(reserve(&h, b, now_s + 200), 0); /* when the first ends */
    assert_int_equal(hand_cancel(&h, a), 0);
    is(&h, a, PLEAT_CANCELLED);
    hand_sleep(&h, 120 * SECONDS);
    is(&h, c, PLEAT_QUEUED);
    assert_true(hand_component(&h, c)->aside);
    hand_finish(&h);
}

static void test_no_reservation_where_others_will_run_still(void **state)
{
    (void)state;
    struct hand h;
    instant_site(&h, 8);
    int64_t now_s = h.now_us / SECONDS;
    submit(&h, 3, 100, 0);
    submit(&h, 1, 200, 0);
    uint32_t large = submit(&h, 6, 10, 0), small = submit(&h, 5, 10, 0);
    assert_int_equal(reserve(&h, large, now_s + 99), PLEAT_E_BUSY);
    assert_int_equal(reserve(&h, small, now_s + 99), PLEAT_E_BUSY);
    assert_int_equal(reserve(&h, large, now_s + 100), 0);
    assert_int_equal(reserve(&h, small, now_s + 110), 0);
    hand_finish(&h);
}

/* Malleable jobs count with the size that they can be shrunk to, if the policies do that. */
static void test_reservations_and_malleable_jobs(void **state)
{
    (void)state;
    for (int shrinks = 0; shrinks < 2; shrinks++) {
        struct hand h;
        instant_site(&h, 8);
        hand_policy(&h, PLEAT_MALLEABILITY, shrinks ? "egs" : "none");
        struct pleat_event event = {.kind = PLEAT_EV_SUBMIT,
                                    .component = pleat_core_next_component(h.core),
                                    .u.submit = {.job = 1,
                                                 .estimate_us = 1000 * SECONDS,
                                                 .minimum = 2,
                                                 .maximum = 8,
                                                 .site = PLEAT_NONE,
                                                 .job_kind = PLEAT_MALLEABLE}};
        assert_int_equal(hand_feed(&h, event), 0);
        event.component =
            pleat_core_next_component(h.core); /* and no pass before its reservation */
        event.u.submit.minimum = 6;
        assert_int_equal(pleat_core_apply(h.core, &event, &h.effects, &h.err), 0);
        assert_int_equal(reserve(&h, event.component, h.now_us / SECONDS + 50),
                         shrinks ? 0 : PLEAT_E_BUSY);
        hand_finish(&h);
    }
}

/* ---- deadlines, promises ---- */

static void test_promises_are_kept_until_the_start(void **state)
{
    (void)state;
    struct hand h;
    instant_site(&h, 8);
    uint32_t running = submit(&h, 8, 100, 0), waiting = submit(&h, 8, 10, 0);
    struct pleat_event promise = {.kind = PLEAT_EV_PROMISE,
                                  .component = waiting,
                                  .u.promise = {.start_us = h.now_us + 100 * SECONDS, .site = 1}};
    assert_int_equal(hand_feed(&h, promise), 0);
    assert_int_equal(hand_component(&h, waiting)->promised_us, promise.u.promise.start_us);
    promise.component = running;
    assert_int_equal(hand_feed(&h, promise), PLEAT_E_STATE);
    promise.component = waiting;
    promise.u.promise.site = 7;
    assert_int_equal(hand_feed(&h, promise), PLEAT_E_STATE);
    assert_int_equal(hand_exited(&h, running, 0), 0);
    is(&h, waiting, PLEAT_RUNNING);
    assert_int_equal(hand_component(&h, waiting)->promised_us, PLEAT_NEVER);
    hand_finish(&h);
}

static void test_promises_end_with_the_policy_that_made_them(void **state)
{
    (void)state;
    struct hand h;
    instant_site(&h, 8);
    hand_policy(&h, PLEAT_QUEUE, "conservative");
    int64_t now_us = h.now_us;
    submit(&h, 8, 100, 0);
    uint32_t first = submit(&h, 8, 10, 0), second = submit(&h, 8, 10, 0);
    assert_int_equal(hand_component(&h, second)->promised_us, now_us + 110 * SECONDS);
    hand_policy(&h, PLEAT_QUEUE, "easy");
    assert_int_equal(hand_component(&h, first)->promised_us, now_us + 100 * SECONDS);
    assert_int_equal(hand_component(&h, second)->promised_us, PLEAT_NEVER);
    hand_policy(&h, PLEAT_QUEUE, "fcfs");
    assert_int_equal(hand_component(&h, first)->promised_us, PLEAT_NEVER);
    hand_finish(&h);
}

static void test_a_deadline_is_recorded(void **state)
{
    (void)state;
    struct hand h;
    instant_site(&h, 8);
    uint32_t running = submit(&h, 8, 100, 0), waiting = submit(&h, 8, 10, 0);
    for (uint32_t component = running; component <= waiting; component++) {
        struct pleat_event due = {.kind = PLEAT_EV_DEADLINE,
                                  .component = component,
                                  .u.at = {.at_us = h.now_us + SECONDS}};
        assert_int_equal(hand_feed(&h, due), 0);
        assert_int_equal(hand_component(&h, component)->due_us, due.u.at.at_us);
    }
    assert_int_equal(pleat_core_view(h.core)->queue_first, waiting);
    hand_finish(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_instant_site_is_asked_nothing),
        cmocka_unit_test(test_resizes_at_an_instant_site),
        cmocka_unit_test(test_forgotten_records_are_used_again),
        cmocka_unit_test(test_estimates_scale_with_the_size),
        cmocka_unit_test(test_a_reservation_waits_aside_and_then_goes_first),
        cmocka_unit_test(test_reservations_that_cannot_be),
        cmocka_unit_test(test_no_reservation_where_others_will_run_still),
        cmocka_unit_test(test_reservations_and_malleable_jobs),
        cmocka_unit_test(test_promises_are_kept_until_the_start),
        cmocka_unit_test(test_promises_end_with_the_policy_that_made_them),
        cmocka_unit_test(test_a_deadline_is_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
