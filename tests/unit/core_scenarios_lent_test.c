/* Nodes that come with claims: a job that keeps to one has no more than a node has, grows only
 * within what its claims were given there, and gets what others give up on one node. */
#include <string.h>

#include "core_scenarios_hand.h"

enum { NODE_MOST = 2 };

static void is(const struct hand *h, uint32_t component, enum pleat_component_state state)
{
    assert_string_equal(
        pleat_component_state_name((enum pleat_component_state)hand_component(h, component)->state),
        pleat_component_state_name(state));
}

/* A site of so many processors, of whose nodes none has more than NODE_MOST. */
static void begin(struct hand *h, int32_t capacity)
{
    hand_init(h, capacity);
    struct pleat_event site = {.kind = PLEAT_EV_SITE,
                               .u.site = {.capacity = capacity, .node_most = NODE_MOST}};
    assert_int_equal(hand_feed(h, site), 0);
}

static int submit(struct hand *h, uint16_t flags, enum pleat_job_kind kind, int32_t size,
                  enum pleat_job_class job_class)
{
    uint32_t component = pleat_core_next_component(h->core);
    struct pleat_event event = {.kind = PLEAT_EV_SUBMIT,
                                .flags = flags,
                                .component = component,
                                .u.submit = {.job = component + 1,
                                             .minimum = size,
                                             .maximum = size,
                                             .site = PLEAT_NONE,
                                             .job_kind = (uint8_t)kind,
                                             .job_class = (uint8_t)job_class}};
    return hand_feed(h, event);
}

static void given(struct hand *h, uint32_t node, int32_t slots)
{
    struct pleat_event event = {
        .kind = PLEAT_EV_NODE, .flags = PLEAT_NODE_LENT, .u.node = {.node = node, .slots = slots}};
    assert_int_equal(hand_feed(h, event), 0);
    h->node = node;
}

static const struct pleat_node *node_of(const struct hand *h, uint32_t node)
{
    return pleat_view_node(pleat_core_view(h->core), 0, node);
}

/* One of four processes, on a node of its own, on all that the largest one has. */
static uint32_t run_folded(struct hand *h, uint32_t node)
{
    uint32_t component = pleat_core_next_component(h->core);
    assert_int_equal(submit(h, PLEAT_COMPONENT_FOLDS, PLEAT_MALLEABLE, 4, PLEAT_CLASS_LONG), 0);
    struct pleat_effect claim = hand_last(h, PLEAT_DO_CLAIM);
    assert_int_equal(claim.component, component);
    assert_int_equal(claim.u.claim.count, NODE_MOST);
    given(h, node, NODE_MOST);
    hand_gets(h, component, node);
    is(h, component, PLEAT_RUNNING);
    assert_int_equal(hand_component(h, component)->processors, NODE_MOST);
    assert_int_equal(hand_component(h, component)->processes, 4);
    assert_int_equal(node_of(h, node)->claimed, NODE_MOST);
    return component;
}

static void test_it_starts_on_what_a_node_has(void **state)
{
    (void)state;
    struct hand h;
    begin(&h, 6);
    (void)run_folded(&h, 3);
    assert_int_equal(submit(&h, 0, PLEAT_RIGID, NODE_MOST + 1, PLEAT_CLASS_SHORT), PLEAT_E_TOOBIG);
    assert_non_null(strstr(h.err.text, "must be on one node: the largest has 2"));
    assert_int_equal(
        submit(&h, PLEAT_COMPONENT_SPREADS, PLEAT_RIGID, NODE_MOST + 1, PLEAT_CLASS_SHORT), 0);
    struct pleat_event down = {.kind = PLEAT_EV_SITE, .u.site = {.node_most = NODE_MOST}};
    assert_int_equal(hand_feed(&h, down), 0); /* all of its nodes are, for now */
    assert_int_equal(submit(&h, 0, PLEAT_RIGID, 1, PLEAT_CLASS_SHORT), PLEAT_E_TOOBIG);
    assert_non_null(strstr(h.err.text, "no node of any site takes jobs now"));
    hand_finish(&h);
}

/* The batch system has nodes that take no jobs now, and may again: a job that needs them waits. */
static void test_it_waits_for_nodes_that_take_no_jobs(void **state)
{
    (void)state;
    struct hand h;
    begin(&h, 6);
    hand_policy(&h, PLEAT_QUEUE, "scan");
    struct pleat_event two = {.kind = PLEAT_EV_SITE,
                              .u.site = {.capacity = 2, .node_most = NODE_MOST, .whole = 6}};
    struct pleat_event none = {.kind = PLEAT_EV_SITE,
                               .u.site = {.node_most = NODE_MOST, .whole = 6}};
    struct pleat_event all = {.kind = PLEAT_EV_SITE,
                              .u.site = {.capacity = 6, .node_most = NODE_MOST}};
    assert_int_equal(hand_feed(&h, two), 0);
    assert_int_equal(hand_site(&h)->whole, 6);
    uint32_t waits = pleat_core_next_component(h.core);
    assert_int_equal(submit(&h, PLEAT_COMPONENT_SPREADS, PLEAT_RIGID, 5, PLEAT_CLASS_SHORT), 0);
    is(&h, waits, PLEAT_QUEUED);
    assert_int_equal(submit(&h, PLEAT_COMPONENT_SPREADS, PLEAT_RIGID, 7, PLEAT_CLASS_SHORT),
                     PLEAT_E_TOOBIG); /* than all nodes have */
    assert_int_equal(hand_feed(&h, none), 0);
    uint32_t small = pleat_core_next_component(h.core);
    assert_int_equal(submit(&h, 0, PLEAT_RIGID, 2, PLEAT_CLASS_SHORT), 0);
    is(&h, small, PLEAT_QUEUED);
    assert_int_equal(submit(&h, 0, PLEAT_RIGID, 3, PLEAT_CLASS_SHORT),
                     PLEAT_E_TOOBIG); /* than any node has */
    assert_int_equal(hand_feed(&h, two), 0);
    is(&h, small, PLEAT_CLAIMING);
    is(&h, waits, PLEAT_QUEUED);
    assert_int_equal(hand_feed(&h, all), 0);
    assert_int_equal(hand_site(&h)->whole, 0);
    is(&h, waits, PLEAT_QUEUED); /* four are left */
    hand_finish(&h);
}

/* As long as it is not known how large nodes are, it may ask for more than any has. */
static void test_it_asked_for_more_than_a_node_has(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 6);
    hand_policy(&h, PLEAT_APPROACH, "launcher");
    hand_policy(&h, PLEAT_MOLDABILITY, "psa");
    assert_int_equal(submit(&h, PLEAT_COMPONENT_FOLDS, PLEAT_MALLEABLE, 4, PLEAT_CLASS_LONG), 0);
    struct pleat_effect claim = hand_last(&h, PLEAT_DO_CLAIM);
    assert_int_equal(claim.u.claim.count, 4);
    struct pleat_event site = {.kind = PLEAT_EV_SITE,
                               .u.site = {.capacity = 6, .node_most = NODE_MOST}};
    assert_int_equal(hand_feed(&h, site), 0);
    assert_int_equal(hand_claim_failed(&h, claim, PLEAT_REASON_CLAIM_CANNOT), 0);
    is(&h, 0, PLEAT_CLAIMING);
    assert_int_equal(hand_last(&h, PLEAT_DO_CLAIM).component, 0);
    assert_int_equal(hand_last(&h, PLEAT_DO_CLAIM).u.claim.count, NODE_MOST);
    hand_finish(&h);
    hand_init(&h, 6); /* one that needs more than a node has */
    assert_int_equal(submit(&h, 0, PLEAT_RIGID, NODE_MOST + 1, PLEAT_CLASS_SHORT), 0);
    assert_int_equal(hand_feed(&h, site), 0);
    assert_int_equal(
        hand_claim_failed(&h, hand_last(&h, PLEAT_DO_CLAIM), PLEAT_REASON_CLAIM_CANNOT), 0);
    is(&h, 0, PLEAT_FAILED);
    hand_finish(&h);
}

static void test_it_grows_only_within_what_was_given_there(void **state)
{
    (void)state;
    for (int restarted = 0; restarted < 2; restarted++) {
        struct hand h;
        begin(&h, 6);
        uint32_t folded = run_folded(&h, 3);
        hand_mark(&h);
        hand_policy(&h, PLEAT_MALLEABILITY, "egs");
        assert_int_equal(hand_count(&h, PLEAT_DO_CLAIM), 0);
        hand_policy(&h, PLEAT_MALLEABILITY, "none");
        assert_int_equal(hand_demand(&h, folded, 1, true), 0);
        hand_shrinks(&h, folded, 1);
        assert_int_equal(node_of(&h, 3)->claimed, 1);
        if (restarted)
            hand_restart(&h);
        assert_int_equal(hand_demand(&h, folded, 3, false), PLEAT_E_STATE);
        assert_non_null(strstr(h.err.text, "within its allocation there, which has 2, of which 1"));
        assert_int_equal(hand_demand(&h, folded, 2, false), 0);
        hand_at_step(&h, folded, PLEAT_RESIZE_ACCEPTED);
        hand_finish(&h);
    }
}

static void test_what_was_given_is_known_until_the_node_is_gone(void **state)
{
    (void)state;
    struct hand h;
    begin(&h, 6);
    (void)run_folded(&h, 3);
    struct pleat_event site = {.kind = PLEAT_EV_SITE, .u.site = {.capacity = 9}};
    assert_int_equal(hand_feed(&h, site), 0); /* nothing is told of the largest node */
    assert_int_equal(hand_site(&h)->node_most, NODE_MOST);
    assert_false(hand_site(&h)->several);
    assert_int_equal(node_of(&h, 3)->slots, 2);
    assert_int_equal(node_of(&h, 3)->claimed, 2);
    struct pleat_event gone = {.kind = PLEAT_EV_NODE_GONE, .u.node = {.node = 3}};
    (void)hand_feed(&h, gone);
    assert_int_equal(node_of(&h, 3)->slots, 0);
    hand_finish(&h);
}

/* fjt: a short job that needs two processors of a node gets none of two nodes, of which each would
 * give one; one that needs one gets it. */
static void test_room_is_made_on_one_node(void **state)
{
    (void)state;
    struct hand h;
    begin(&h, 4);
    uint32_t first = run_folded(&h, 3), second = run_folded(&h, 4);
    hand_policy(&h, PLEAT_APPROACH, "launcher");
    hand_policy(&h, PLEAT_MALLEABILITY, "partition");
    hand_policy(&h, PLEAT_MOLDABILITY, "fjt");
    uint32_t two = pleat_core_next_component(h.core);
    assert_int_equal(submit(&h, 0, PLEAT_RIGID, 2, PLEAT_CLASS_SHORT), 0);
    is(&h, two, PLEAT_QUEUED);
    is(&h, first, PLEAT_RUNNING);
    is(&h, second, PLEAT_RUNNING);
    assert_int_equal(hand_cancel(&h, two), 0);
    uint32_t one = pleat_core_next_component(h.core);
    assert_int_equal(submit(&h, 0, PLEAT_RIGID, 1, PLEAT_CLASS_SHORT), 0);
    bool of_first = hand_component(&h, first)->state == PLEAT_RESIZING;
    uint32_t gives = of_first ? first : second;
    is(&h, gives, PLEAT_RESIZING);
    is(&h, of_first ? second : first, PLEAT_RUNNING);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, gives, 1), 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_VACATED, gives, 1), 0);
    is(&h, one, PLEAT_CLAIMING);
    assert_int_equal(hand_started(&h, one), 0);
    assert_int_equal(hand_component(&h, one)->lead_node, hand_component(&h, gives)->lead_node);
    hand_finish(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_starts_on_what_a_node_has),
        cmocka_unit_test(test_it_waits_for_nodes_that_take_no_jobs),
        cmocka_unit_test(test_it_asked_for_more_than_a_node_has),
        cmocka_unit_test(test_it_grows_only_within_what_was_given_there),
        cmocka_unit_test(test_what_was_given_is_known_until_the_node_is_gone),
        cmocka_unit_test(test_room_is_made_on_one_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
