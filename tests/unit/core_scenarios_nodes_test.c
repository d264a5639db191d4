/* Errors of nodes, at a site of two nodes of 4 processors (Lammers 2005, 3.2, 3.5). */
#include <string.h>

#include "core_scenarios_hand.h"

static void add_nodes(struct hand *h)
{
    for (uint32_t n = 0; n < 2; n++) {
        struct pleat_event node = {.kind = PLEAT_EV_NODE, .u.node = {.node = n, .slots = 4}};
        assert_int_equal(hand_feed(h, node), 0);
    }
}

static void is(const struct hand *h, uint32_t component, enum pleat_component_state state)
{
    assert_int_equal(hand_component(h, component)->state, state);
}

static const struct pleat_node *node_of(const struct hand *h, uint32_t node)
{
    return pleat_view_node(pleat_core_view(h->core), 0, node);
}

/* A start on a node fails by that node's fault. */
static void fails_on(struct hand *h, uint32_t node)
{
    uint32_t component = hand_submit(h, PLEAT_RIGID, 1, 1, 0);
    is(h, component, PLEAT_CLAIMING);
    h->node = node;
    assert_int_equal(hand_claimed(h, hand_last(h, PLEAT_DO_CLAIM), 1), 0);
    h->node = 0;
    assert_int_equal(hand_ended(h, PLEAT_EV_START_FAILED, component, PLEAT_REASON_START_SYSTEM), 0);
    hand_release_all(h);
    is(h, component, PLEAT_FAILED);
}

static void two_nodes_with_limit(struct hand *h, int64_t limit)
{
    hand_init(h, 8);
    add_nodes(h);
    hand_parameter(h, PLEAT_PARAM_ATTEMPTS, 1);
    hand_parameter(h, PLEAT_PARAM_NODE_ERRORS, limit);
}

/* Whether the site was told that a node is shut, at last. */
static bool told_shut(const struct hand *h, uint32_t node)
{
    struct pleat_effect told = hand_last(h, PLEAT_DO_NODE);
    assert_int_equal(told.u.node.site, 0);
    assert_int_equal(told.u.node.node, node);
    return told.u.node.shut;
}

static void test_a_node_with_too_many_errors_is_left_alone(void **state)
{
    (void)state;
    for (int restarted = 0; restarted < 2; restarted++) {
        struct hand h;
        two_nodes_with_limit(&h, 1);
        hand_parameter(&h, PLEAT_PARAM_SITE_AGAIN_US, 300 * SECONDS);
        uint32_t first = hand_run(&h, 1, 4, 2); /* on node 0 */
        fails_on(&h, 0);
        fails_on(&h, 1); /* of another node: does not count here */
        assert_int_equal(node_of(&h, 0)->errors, 1);
        assert_int_equal(hand_count(&h, PLEAT_DO_NODE), 0);
        fails_on(&h, 0);
        assert_true(node_of(&h, 0)->barred && !node_of(&h, 1)->barred);
        assert_true(told_shut(&h, 0));
        assert_int_equal(hand_site(&h)->shut, 2);
        assert_false(hand_site(&h)->barred);
        if (restarted)
            hand_restart(&h);
        assert_int_equal(hand_demand(&h, first, 4, false), PLEAT_E_STATE);
        assert_non_null(strstr(h.err.text, "its node (0) has had too many errors"));
        hand_gets(&h, hand_submit(&h, PLEAT_RIGID, 4, 4, 0), 1);
        uint32_t waits = hand_submit(&h, PLEAT_RIGID, 2, 2, 0);
        is(&h, waits, PLEAT_QUEUED);
        hand_sleep(&h, 300 * SECONDS);
        assert_false(node_of(&h, 0)->barred || told_shut(&h, 0));
        assert_int_equal(node_of(&h, 0)->errors, 0);
        hand_gets(&h, waits, 0);
        hand_finish(&h);
    }
}

/* One after the other, each when its own time is over. */
static void test_nodes_are_considered_again_one_by_one(void **state)
{
    (void)state;
    struct hand h;
    two_nodes_with_limit(&h, 1);
    hand_parameter(&h, PLEAT_PARAM_SITE_AGAIN_US, 300 * SECONDS);
    fails_on(&h, 0);
    fails_on(&h, 0);
    hand_sleep(&h, 100 * SECONDS);
    fails_on(&h, 1);
    fails_on(&h, 1);
    assert_int_equal(hand_site(&h)->shut, 8);
    uint32_t waits = hand_submit(&h, PLEAT_RIGID, 2, 2, 0);
    is(&h, waits, PLEAT_QUEUED);
    hand_sleep(&h, 200 * SECONDS);
    assert_true(!node_of(&h, 0)->barred && node_of(&h, 1)->barred);
    hand_gets(&h, waits, 0);
    hand_sleep(&h, 100 * SECONDS);
    assert_false(node_of(&h, 1)->barred);
    assert_int_equal(hand_site(&h)->shut, 0);
    hand_finish(&h);
}

static void test_errors_of_nodes_are_forgotten(void **state)
{
    (void)state;
    struct hand h;
    two_nodes_with_limit(&h, 1);
    fails_on(&h, 0);
    uint32_t works = hand_submit(&h, PLEAT_RIGID, 1, 1, 0);
    hand_gets(&h, works, 1);
    assert_int_equal(node_of(&h, 0)->errors, 1); /* it was another node that worked */
    uint32_t here = hand_submit(&h, PLEAT_RIGID, 1, 1, 0);
    hand_gets(&h, here, 0);
    assert_int_equal(node_of(&h, 0)->errors, 0);
    fails_on(&h, 0);
    hand_parameter(&h, PLEAT_PARAM_ERRORS_FADE_US, 100 * SECONDS);
    hand_sleep(&h, 150 * SECONDS);
    fails_on(&h, 0); /* half of one error is none */
    assert_int_equal(node_of(&h, 0)->errors, 1);
    fails_on(&h, 0);
    assert_true(node_of(&h, 0)->barred);
    hand_parameter(&h, PLEAT_PARAM_NODE_ERRORS, 5); /* a higher limit */
    assert_false(node_of(&h, 0)->barred || told_shut(&h, 0));
    hand_finish(&h);
}

static void test_a_node_that_joins_again_has_no_errors(void **state)
{
    (void)state;
    struct hand h;
    two_nodes_with_limit(&h, 1);
    fails_on(&h, 1);
    fails_on(&h, 1);
    assert_int_equal(hand_site(&h)->shut, 4);
    struct pleat_event site = {.kind = PLEAT_EV_SITE, .u.site = {.capacity = 8}};
    assert_int_equal(hand_feed(&h, site), 0);
    add_nodes(&h);
    assert_int_equal(hand_site(&h)->shut, 0);
    assert_false(told_shut(&h, 1));
    hand_finish(&h);
}

/* Its user's drain and its errors are two things. */
static void test_a_drained_node_with_errors_stays_drained(void **state)
{
    (void)state;
    struct hand h;
    two_nodes_with_limit(&h, 1);
    fails_on(&h, 0);
    fails_on(&h, 0);
    struct pleat_event drain = {.kind = PLEAT_EV_NODE_DRAIN, .u.node = {.node = 0}};
    assert_int_equal(hand_feed(&h, drain), 0);
    hand_parameter(&h, PLEAT_PARAM_NODE_ERRORS, 0);
    assert_false(node_of(&h, 0)->barred);
    assert_true(told_shut(&h, 0));
    assert_int_equal(hand_site(&h)->shut, 4);
    hand_finish(&h);
}

static void test_lost_processors_are_errors_of_their_node(void **state)
{
    (void)state;
    struct hand h;
    two_nodes_with_limit(&h, 3);
    uint32_t component = hand_submit(&h, PLEAT_RIGID, 3, 3, 0);
    hand_gets(&h, component, 1);
    struct pleat_effect claim = hand_last(&h, PLEAT_DO_CLAIM);
    assert_int_equal(hand_lost(&h, claim), 0);
    assert_int_equal(node_of(&h, 0)->errors, 0);
    assert_int_equal(node_of(&h, 1)->errors, 1);
    hand_finish(&h);
}

/* As logs of versions decide that counted sites only. */
static void test_without_a_limit_errors_of_nodes_are_not_counted(void **state)
{
    (void)state;
    struct hand h;
    two_nodes_with_limit(&h, 0);
    for (int i = 0; i < 3; i++)
        fails_on(&h, 0);
    assert_int_equal(node_of(&h, 0)->errors, 0);
    assert_int_equal(hand_site(&h)->errors, 3);
    assert_int_equal(hand_count(&h, PLEAT_DO_NODE), 0);
    hand_finish(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_node_with_too_many_errors_is_left_alone),
        cmocka_unit_test(test_nodes_are_considered_again_one_by_one),
        cmocka_unit_test(test_errors_of_nodes_are_forgotten),
        cmocka_unit_test(test_a_node_that_joins_again_has_no_errors),
        cmocka_unit_test(test_a_drained_node_with_errors_stays_drained),
        cmocka_unit_test(test_lost_processors_are_errors_of_their_node),
        cmocka_unit_test(test_without_a_limit_errors_of_nodes_are_not_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
