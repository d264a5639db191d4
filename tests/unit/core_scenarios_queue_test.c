/* Sites that have a queue of their own: a claim waits there for as long as the site says. */
#include "core_scenarios_hand.h"

static const struct pleat_claim *latest_claim(const struct hand *h)
{
    return pleat_core_claim(h->core, hand_last(h, PLEAT_DO_CLAIM).u.claim.index);
}

/* The site says of the latest claim why it waits; times from now on, 0: none. */
static int says(struct hand *h, enum pleat_claim_wait why, int64_t for_us, int64_t expected_us)
{
    struct pleat_effect claim = hand_last(h, PLEAT_DO_CLAIM);
    struct pleat_event event = {
        .kind = PLEAT_EV_CLAIM_WAITS,
        .component = claim.u.claim.index,
        .u.waits = {.claim = claim.id,
                    .until_us = for_us ? h->now_us + for_us : 0,
                    .expected_us = expected_us ? h->now_us + expected_us : 0,
                    .reason = why}};
    return hand_feed(h, event);
}

static void is(const struct hand *h, uint32_t component, enum pleat_state state)
{
    assert_string_equal(pleat_state_name(hand_component(h, component)->state),
                        pleat_state_name(state));
}

static void test_a_start_waits_as_long_as_the_site_says(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = hand_submit(&h, PLEAT_RIGID, 8, 8, 0);
    assert_int_equal(says(&h, PLEAT_WAIT_TURN, 86400 * SECONDS, 3600 * SECONDS), 0);
    assert_int_equal(says(&h, PLEAT_WAIT_TURN, 86400 * SECONDS, 3600 * SECONDS),
                     PLEAT_CORE_STALE); /* nothing is new */
    hand_sleep(&h, 10 * pleat_parameter_default(PLEAT_PARAM_CLAIM_US));
    is(&h, component, PLEAT_CLAIMING);
    hand_restart(&h);
    assert_int_equal(latest_claim(&h)->waits, PLEAT_WAIT_TURN);
    int64_t until_us = latest_claim(&h)->until_us;
    assert_int_equal(says(&h, PLEAT_WAIT_RESOURCES, 0, 60 * SECONDS), 0);
    assert_int_equal(latest_claim(&h)->waits, PLEAT_WAIT_RESOURCES);
    assert_int_equal(latest_claim(&h)->expected_us, h.now_us + 60 * SECONDS);
    assert_int_equal(latest_claim(&h)->until_us, until_us); /* that is as it was said before */
    hand_sleep(&h, 3600 * SECONDS);
    is(&h, component, PLEAT_CLAIMING);
    assert_int_equal(hand_claimed(&h, hand_last(&h, PLEAT_DO_CLAIM), 8), 0);
    assert_int_equal(latest_claim(&h)->waits, PLEAT_WAIT_NOT);
    assert_int_equal(hand_started(&h, component), 0);
    is(&h, component, PLEAT_RUNNING);
    /* how long a queue is says nothing of how long a site takes */
    assert_int_equal(hand_site(&h)->slowest_claim_us, 0);
    assert_int_equal(says(&h, PLEAT_WAIT_TURN, SECONDS, 0), PLEAT_CORE_STALE);
    hand_finish(&h);
}

/* It is given up when the site says, and may start elsewhere. */
static void test_a_start_that_waits_in_vain_is_placed_anew(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    hand_parameter(&h, PLEAT_PARAM_SITE_ERRORS, 1);
    uint32_t component = hand_submit(&h, PLEAT_RIGID, 8, 8, 0);
    assert_int_equal(says(&h, PLEAT_WAIT_LIMIT, 600 * SECONDS, 0), 0);
    struct pleat_effect first = hand_last(&h, PLEAT_DO_CLAIM);
    struct pleat_event other = {.kind = PLEAT_EV_SITE, .component = 1, .u.site = {.capacity = 8}};
    assert_int_equal(hand_feed(&h, other), 0);
    hand_sleep(&h, 600 * SECONDS);
    is(&h, component, PLEAT_CLAIMING);
    assert_int_equal(hand_component(&h, component)->site, 1);
    assert_int_equal(hand_site(&h)->errors, 0); /* a queue is no error of the site */
    assert_int_equal(hand_site(&h)->releasing, 8);
    assert_int_equal(hand_claimed(&h, first, 8), PLEAT_CORE_STALE); /* it crosses the release */
    assert_int_equal(hand_claimed(&h, hand_last(&h, PLEAT_DO_CLAIM), 8), 0);
    assert_int_equal(hand_started(&h, component), 0);
    hand_finish(&h);
}

static void test_a_growth_waits_as_long_as_the_site_says(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = hand_run(&h, 2, 10, 4);
    assert_int_equal(hand_resize(&h, component, 8, PLEAT_NONE), 0);
    assert_int_equal(says(&h, PLEAT_WAIT_AGENTS, 300 * SECONDS, 0), 0);
    hand_sleep(&h, 299 * SECONDS);
    hand_at_step(&h, component, PLEAT_RESIZE_ACCEPTED);
    hand_restart(&h);
    hand_sleep(&h, SECONDS);
    hand_expect(&h, component, PLEAT_OUTCOME_TIMED_OUT, PLEAT_RUNNING, 4);
    assert_int_equal(hand_site(&h)->errors, 0);
    assert_int_equal(hand_release_all(&h), 1);
    hand_finish(&h);
}

static void test_cancelled_while_it_waits_in_a_site_s_queue(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = hand_submit(&h, PLEAT_RIGID, 8, 8, 0);
    assert_int_equal(says(&h, PLEAT_WAIT_TURN, 86400 * SECONDS, 0), 0);
    assert_int_equal(hand_cancel(&h, component), 0);
    assert_int_equal(says(&h, PLEAT_WAIT_RESOURCES, 0, 0), PLEAT_CORE_STALE);
    assert_int_equal(hand_release_all(&h), 1);
    is(&h, component, PLEAT_CANCELLED);
    assert_int_equal(hand_site(&h)->claimed, 0);
    hand_finish(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_start_waits_as_long_as_the_site_says),
        cmocka_unit_test(test_a_start_that_waits_in_vain_is_placed_anew),
        cmocka_unit_test(test_a_growth_waits_as_long_as_the_site_says),
        cmocka_unit_test(test_cancelled_while_it_waits_in_a_site_s_queue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
