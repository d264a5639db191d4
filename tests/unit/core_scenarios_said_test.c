/* A program says "not now", and when it expects to end: one test for each row of
 * docs/resize-contract.md, "Not now", that the core decides. */
#include "core_scenarios_hand.h"

static int says(struct hand *h, uint32_t component, bool not_now)
{
    struct pleat_event event = {.kind = PLEAT_EV_SECTION,
                                .flags = not_now ? PLEAT_NOT_NOW : 0,
                                .component = component,
                                .u.section = {.run = hand_component(h, component)->run}};
    return hand_feed(h, event);
}

static int expects(struct hand *h, uint32_t component, int64_t end_us)
{
    struct pleat_event event = {
        .kind = PLEAT_EV_EXPECTED,
        .component = component,
        .u.expected = {.run = hand_component(h, component)->run, .end_us = end_us}};
    return hand_feed(h, event);
}

static bool is_not_now(const struct hand *h, uint32_t component)
{
    return pleat_view_is_not_now(pleat_core_view(h->core), hand_component(h, component));
}

static void test_no_policy_grows_it_in_a_section(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t component = hand_run(&h, 1, 8, 2);
    uint32_t other = hand_run(&h, 1, 3, 2);
    assert_int_equal(says(&h, component, true), 0);
    assert_int_equal(says(&h, component, true), PLEAT_CORE_STALE); /* that is known */
    hand_policy(&h, PLEAT_MALLEABILITY, "egs");
    hand_sleep(&h, 1);
    assert_int_equal(hand_component(&h, component)->state, PLEAT_RUNNING);
    hand_grows(&h, other, 3); /* others are not kept from it */
    hand_restart(&h);
    assert_true(is_not_now(&h, component));
    assert_int_equal(hand_component(&h, component)->state, PLEAT_RUNNING);
    assert_int_equal(says(&h, component, false), 0); /* it is looked at again at once */
    hand_grows(&h, component, 5);
    hand_finish(&h);
}

/* A growth of which it was told is taken back. */
static void test_a_growth_is_given_back(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t component = hand_run(&h, 1, 8, 2);
    hand_policy(&h, PLEAT_MALLEABILITY, "egs");
    hand_sleep(&h, 1);
    assert_int_equal(hand_claimed(&h, hand_last(&h, PLEAT_DO_CLAIM), 6), 0);
    hand_at_step(&h, component, PLEAT_RESIZE_GRANTED);
    hand_mark(&h);
    assert_int_equal(says(&h, component, true), 0);
    hand_at_step(&h, component, PLEAT_RESIZE_WITHDRAWING);
    assert_int_equal(hand_count(&h, PLEAT_DO_WITHDRAW), 1);
    hand_restart(&h);
    assert_int_equal(hand_change(&h, PLEAT_EV_WITHDRAWN, component, 2), 0);
    hand_expect(&h, component, PLEAT_OUTCOME_NOT_NOW, PLEAT_RUNNING, 2);
    hand_release_all(&h);
    assert_int_equal(hand_site(&h)->claimed, 2); /* its processors do not wait for it */
    assert_int_equal(says(&h, component, false), 0);
    hand_grows(&h, component, 8); /* no backoff */
    hand_finish(&h);
}

static void test_a_section_crosses_applied(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t component = hand_run(&h, 1, 8, 2);
    assert_int_equal(hand_resize(&h, component, 4, PLEAT_NONE), 0);
    assert_int_equal(hand_claimed(&h, hand_last(&h, PLEAT_DO_CLAIM), 2), 0);
    assert_int_equal(says(&h, component, true), 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 4), 0);
    hand_expect(&h, component, PLEAT_OUTCOME_GROWN, PLEAT_RUNNING, 4);
    assert_int_equal(hand_change(&h, PLEAT_EV_WITHDRAWN, component, 4), PLEAT_CORE_STALE);
    assert_true(is_not_now(&h, component));
    hand_finish(&h);
}

static void test_a_section_begins_while_processors_are_claimed(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t component = hand_run(&h, 1, 8, 2);
    assert_int_equal(hand_resize(&h, component, 4, PLEAT_NONE), 0);
    assert_int_equal(says(&h, component, true), 0);
    hand_mark(&h);
    hand_at_step(&h, component, PLEAT_RESIZE_ACCEPTED);
    assert_int_equal(hand_claimed(&h, hand_last(&h, PLEAT_DO_CLAIM), 2), 0);
    hand_expect(&h, component, PLEAT_OUTCOME_NOT_NOW, PLEAT_RUNNING, 2);
    assert_int_equal(hand_count(&h, PLEAT_DO_RESIZE), 0); /* its program is not told */
    hand_release_all(&h);
    assert_int_equal(hand_site(&h)->claimed, 2);
    hand_finish(&h);
}

static void test_a_mandatory_shrink_comes_in_a_section(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t component = hand_run(&h, 2, 8, 8);
    assert_int_equal(says(&h, component, true), 0);
    hand_policy(&h, PLEAT_MALLEABILITY, "egs");
    uint32_t waiting = hand_submit(&h, PLEAT_RIGID, 4, 4, 0); /* it comes first, under pwa */
    hand_at_step(&h, component, PLEAT_RESIZE_GRANTED);
    assert_int_equal(hand_component(&h, waiting)->coming, 4);
    hand_mark(&h);
    hand_enforce(&h);
    assert_int_equal(hand_component(&h, component)->state, PLEAT_FINISHING);
    assert_int_equal(hand_component(&h, component)->reason, PLEAT_REASON_NOT_HONOURED);
    hand_finish(&h);
}

static void test_its_user_resizes_it_in_a_section(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t component = hand_run(&h, 1, 8, 2);
    assert_int_equal(says(&h, component, true), 0);
    assert_int_equal(hand_demand(&h, component, 4, false), 0);
    assert_int_equal(hand_claimed(&h, hand_last(&h, PLEAT_DO_CLAIM), 2), 0);
    hand_at_step(&h, component, PLEAT_RESIZE_GRANTED); /* it is held back, up to apply_s */
    assert_int_equal(says(&h, component, false), 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 4), 0);
    hand_expect(&h, component, PLEAT_OUTCOME_GROWN, PLEAT_RUNNING, 4);
    hand_finish(&h);
}

static void test_it_asks_in_a_section(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t component = hand_run(&h, 1, 8, 2);
    assert_int_equal(says(&h, component, true), 0);
    assert_int_equal(hand_asks(&h, component, 4, false), 0);
    hand_asks_still(&h, component); /* the answer comes when its section is over */
    assert_int_equal(hand_component(&h, component)->state, PLEAT_RUNNING);
    assert_int_equal(says(&h, component, false), 0);
    hand_grows(&h, component, 4);
    hand_answered(&h, component, PLEAT_ASK_GRANTED, PLEAT_ASK_FULLY);
    assert_int_equal(says(&h, component, true), 0);
    hand_mark(&h);
    assert_int_equal(hand_asks(&h, component, 6, true), 0); /* it cannot go on without */
    hand_grows(&h, component, 6);
    hand_answered(&h, component, PLEAT_ASK_GRANTED, PLEAT_ASK_FULLY);
    hand_mark(&h);
    assert_int_equal(hand_asks(&h, component, 3, false), 0); /* it gives some back */
    hand_shrinks(&h, component, 3);
    hand_answered(&h, component, PLEAT_ASK_GRANTED, PLEAT_ASK_FULLY);
    hand_finish(&h);
}

static void test_a_section_ends_with_its_run(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    h.flags = PLEAT_COMPONENT_RELAUNCHES;
    uint32_t component = hand_run(&h, 1, 8, 4);
    assert_int_equal(says(&h, component, true), 0);
    assert_int_equal(expects(&h, component, h.now_us + 60 * SECONDS), 0);
    assert_int_equal(hand_ended(&h, PLEAT_EV_EXITED, component, PLEAT_REASON_BROKEN), 0);
    hand_at_step(&h, component, PLEAT_RESIZE_RELAUNCHING);
    assert_int_equal(hand_relaunched(&h, component, 4, true), 0);
    assert_false(is_not_now(&h, component)); /* its processes are new */
    assert_int_equal(says(&h, component, true), 0);
    struct pleat_event requeue = {.kind = PLEAT_EV_REQUEUE, .component = component};
    assert_int_equal(hand_feed(&h, requeue), 0);
    assert_int_equal(hand_exited(&h, component, 0), 0);
    hand_release_all(&h);
    assert_false(is_not_now(&h, component));
    const struct pleat_declaration *said =
        pleat_view_declaration(pleat_core_view(h.core), hand_component(&h, component));
    assert_true(said->expected_us == 0);
    hand_finish(&h);
}

static void test_what_it_expects(void **state)
{
    (void)state;
    for (int counts = 0; counts < 2; counts++) {
        struct hand h;
        hand_init(&h, 8);
        hand_parameter(&h, PLEAT_PARAM_EXPECTED_ENDS, counts);
        uint32_t component = hand_run(&h, 1, 8, 2);
        const struct pleat_component *job = hand_component(&h, component);
        const struct pleat_view *view = pleat_core_view(h.core);
        assert_true(pleat_view_likely_end(view, job) == PLEAT_NEVER); /* nobody says */
        int64_t begun_us = h.now_us;
        assert_int_equal(expects(&h, component, begun_us + 100 * SECONDS), 0);
        assert_true(pleat_view_likely_end(view, job) == begun_us + 100 * SECONDS);
        assert_true(job->expected_end_us ==
                    (counts ? begun_us + 100 * SECONDS : PLEAT_NEVER)); /* what policies see */
        assert_int_equal(hand_demand(&h, component, 4, false), 0);
        hand_grows(&h, component, 4);
        job = hand_component(&h, component);
        assert_true(pleat_view_likely_end(view, job) == begun_us + 50 * SECONDS);
        hand_restart(&h);
        view = pleat_core_view(h.core);
        job = hand_component(&h, component);
        assert_true(pleat_view_likely_end(view, job) == begun_us + 50 * SECONDS);
        assert_true(job->expected_end_us == (counts ? begun_us + 50 * SECONDS : PLEAT_NEVER));
        hand_sleep(&h, 51 * SECONDS);
        assert_true(pleat_view_likely_end(view, job) == PLEAT_NEVER); /* it was wrong */
        hand_finish(&h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_policy_grows_it_in_a_section),
        cmocka_unit_test(test_a_growth_is_given_back),
        cmocka_unit_test(test_a_section_crosses_applied),
        cmocka_unit_test(test_a_section_begins_while_processors_are_claimed),
        cmocka_unit_test(test_a_mandatory_shrink_comes_in_a_section),
        cmocka_unit_test(test_its_user_resizes_it_in_a_section),
        cmocka_unit_test(test_it_asks_in_a_section),
        cmocka_unit_test(test_a_section_ends_with_its_run),
        cmocka_unit_test(test_what_it_expects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
