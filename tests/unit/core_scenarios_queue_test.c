/* Sites that have a queue of their own: a claim waits there for as long as the site says. Sites
 * that their user drains. */
#include "core_scenarios_hand.h"

#include <string.h>

#include "policy/why.h"

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

static void is(const struct hand *h, uint32_t component, enum pleat_component_state state)
{
    assert_string_equal(pleat_component_state_name(hand_component(h, component)->state),
                        pleat_component_state_name(state));
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

/* What others use of a site with a queue: nothing grows into it, also not at its user's wish, and
 * whoever starts may wait for it there. It is so after a restart, and until they use less. */
static void test_others_use_what_a_growth_wants(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = hand_run(&h, 2, 16, 4);
    struct pleat_event others = {
        .kind = PLEAT_EV_BACKGROUND, .flags = PLEAT_SITE_QUEUES, .u.site = {.background = 10}};
    assert_int_equal(hand_feed(&h, others), 0);
    assert_int_equal(hand_feed(&h, others), PLEAT_CORE_STALE);
    hand_restart(&h);
    assert_int_equal(hand_site(&h)->background, 0);
    assert_int_equal(hand_site(&h)->others, 10);
    assert_int_equal(hand_resize(&h, component, 7, PLEAT_NONE), PLEAT_E_STATE);
    assert_int_equal(hand_demand(&h, component, 7, false), PLEAT_E_STATE);
    assert_non_null(strstr(h.err.text, "2 of 16 may be used for growing now, 10 are busy with"));
    uint32_t waits = hand_submit(&h, PLEAT_RIGID, 12, 12, 0);
    is(&h, waits, PLEAT_CLAIMING);
    assert_int_equal(hand_cancel(&h, waits), 0);
    hand_release_all(&h);
    others.u.site.background = 9;
    assert_int_equal(hand_feed(&h, others), 0);
    assert_int_equal(hand_resize(&h, component, 7, PLEAT_NONE), 0);
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

/* ---- a site that its user drains ---- */

static int drain(struct hand *h, uint32_t site, bool drains)
{
    struct pleat_event event = {.kind = drains ? PLEAT_EV_DRAIN : PLEAT_EV_RESUME,
                                .component = site};
    return hand_feed(h, event);
}

/* A job that waits for a drained site says so, and starts when the site is resumed. */
static void test_nothing_starts_at_a_drained_site(void **state)
{
    (void)state;
    struct hand h;
    struct pleat_rehearsal rehearsal;
    hand_init(&h, 16);
    uint32_t runs = hand_run(&h, 2, 4, 4);
    assert_int_equal(drain(&h, 0, true), 0);
    assert_int_equal(drain(&h, 0, true), PLEAT_CORE_STALE);
    uint32_t waits = hand_submit(&h, PLEAT_RIGID, 8, 8, 0);
    is(&h, runs, PLEAT_RUNNING);
    is(&h, waits, PLEAT_QUEUED);
    hand_restart(&h);
    hand_sleep(&h, 1000 * SECONDS);
    is(&h, waits, PLEAT_QUEUED);
    assert_int_equal(pleat_core_rehearse(h.core, h.now_us, &rehearsal), 0);
    assert_int_equal(pleat_why_waits(&rehearsal.pass, waits).code, PLEAT_WAITS_DRAINED);
    assert_int_equal(pleat_plan_idle(rehearsal.pass.plan, 0), 0);
    pleat_rehearsal_finish(&rehearsal);
    assert_int_equal(drain(&h, 0, false), 0);
    is(&h, waits, PLEAT_CLAIMING);
    assert_int_equal(drain(&h, 0, false), PLEAT_CORE_STALE);
    hand_finish(&h);
}

/* Neither policies nor users grow what runs there; shrinking stays possible. A growth that has
 * begun goes on. */
static void test_nothing_grows_at_a_drained_site(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t grows = hand_run(&h, 2, 8, 4), stays = hand_run(&h, 2, 8, 4);
    hand_mark(&h);
    assert_int_equal(hand_resize(&h, grows, 6, PLEAT_NONE), 0);
    assert_int_equal(drain(&h, 0, true), 0);
    assert_int_equal(hand_claimed(&h, hand_last(&h, PLEAT_DO_CLAIM), 2), 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, grows, 6), 0);
    assert_int_equal(hand_component(&h, grows)->processors, 6);
    hand_policy(&h, PLEAT_MALLEABILITY, "equipartition");
    assert_int_equal(hand_component(&h, grows)->state, PLEAT_RUNNING);
    assert_int_equal(hand_component(&h, stays)->state, PLEAT_RUNNING);
    assert_int_equal(hand_resize(&h, stays, 6, PLEAT_NONE), PLEAT_E_STATE);
    assert_int_equal(hand_demand(&h, stays, 6, false), PLEAT_E_STATE);
    assert_non_null(strstr(h.err.text, "drained"));
    assert_int_equal(hand_demand(&h, stays, 2, false), 0);
    assert_int_equal(hand_component(&h, stays)->state, PLEAT_RESIZING);
    hand_finish(&h);
}

/* What was kept there for a job that waits is given back, and the job starts elsewhere. */
static void test_earmarks_of_a_drained_site_are_given_back(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t runs = hand_run(&h, 2, 8, 8);
    uint32_t waits = hand_submit(&h, PLEAT_RIGID, 6, 6, 0);
    assert_int_equal(hand_resize(&h, runs, 4, waits), 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, runs, 4), 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_VACATED, runs, 4), 0);
    assert_int_equal(hand_component(&h, waits)->earmarked, 4);
    assert_int_equal(drain(&h, 0, true), 0);
    assert_int_equal(hand_component(&h, waits)->earmarked, 0);
    assert_int_equal(hand_release_all(&h), 1);
    assert_int_equal(hand_site(&h)->claimed, 4);
    struct pleat_event other = {.kind = PLEAT_EV_SITE, .component = 1, .u.site = {.capacity = 8}};
    assert_int_equal(hand_feed(&h, other), 0);
    is(&h, waits, PLEAT_CLAIMING);
    assert_int_equal(hand_component(&h, waits)->site, 1);
    hand_finish(&h);
}

/* Where policies decide every 10 s, what happens in between waits for the next multiple of that. */
static void test_policies_decide_at_set_times(void **state)
{
    (void)state;
    for (int restarted = 0; restarted < 2; restarted++) {
        struct hand h;
        hand_init(&h, 8);
        hand_sleep(&h, 10 * SECONDS - h.now_us % (10 * SECONDS));
        hand_parameter(&h, PLEAT_PARAM_DECIDE_US, 10 * SECONDS);
        uint32_t at_once = hand_submit(&h, PLEAT_RIGID, 4, 4, 0); /* at such a time: decided */
        is(&h, at_once, PLEAT_CLAIMING);
        hand_sleep(&h, 3 * SECONDS);
        int64_t next_us = h.now_us + 7 * SECONDS;
        uint32_t later = hand_submit(&h, PLEAT_RIGID, 2, 2, 0);
        is(&h, later, PLEAT_QUEUED);
        assert_true(pleat_core_next_deadline(h.core) == next_us);
        hand_sleep(&h, 6 * SECONDS);
        if (restarted)
            hand_restart(&h);
        uint32_t last = hand_submit(&h, PLEAT_RIGID, 2, 2, 0);
        is(&h, later, PLEAT_QUEUED);
        assert_true(pleat_core_next_deadline(h.core) == next_us);
        hand_sleep(&h, 1 * SECONDS);
        is(&h, later, PLEAT_CLAIMING);
        is(&h, last, PLEAT_CLAIMING);
        hand_finish(&h);
    }
}

static void test_policies_decide_at_once_again(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    hand_parameter(&h, PLEAT_PARAM_DECIDE_US, 10 * SECONDS);
    hand_sleep(&h, 11 * SECONDS - h.now_us % (10 * SECONDS));
    uint32_t waits = hand_submit(&h, PLEAT_RIGID, 4, 4, 0);
    is(&h, waits, PLEAT_QUEUED);
    hand_parameter(&h, PLEAT_PARAM_DECIDE_US, 0);
    is(&h, waits, PLEAT_CLAIMING);
    hand_finish(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_starts_at_a_drained_site),
        cmocka_unit_test(test_nothing_grows_at_a_drained_site),
        cmocka_unit_test(test_earmarks_of_a_drained_site_are_given_back),
        cmocka_unit_test(test_a_start_waits_as_long_as_the_site_says),
        cmocka_unit_test(test_a_start_that_waits_in_vain_is_placed_anew),
        cmocka_unit_test(test_a_growth_waits_as_long_as_the_site_says),
        cmocka_unit_test(test_others_use_what_a_growth_wants),
        cmocka_unit_test(test_cancelled_while_it_waits_in_a_site_s_queue),
        cmocka_unit_test(test_policies_decide_at_set_times),
        cmocka_unit_test(test_policies_decide_at_once_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
