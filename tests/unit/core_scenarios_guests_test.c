/* Folded runs on nodes that came with claims: they grow by processors of later claims on the host
 * where their processes are, which have node numbers of their own, and give these back first. */
#include <string.h>

#include "core_scenarios_hand.h"
#include "policy/shares.h"

enum { CAPACITY = 8, NODE_MOST = 4, HOME = 3, GUEST = 5 };

static void is(const struct hand *h, uint32_t component, enum pleat_component_state state)
{
    assert_string_equal(
        pleat_component_state_name((enum pleat_component_state)hand_component(h, component)->state),
        pleat_component_state_name(state));
}

static const struct pleat_node *node_of(const struct hand *h, uint32_t node)
{
    return pleat_view_node(pleat_core_view(h->core), 0, node);
}

static uint32_t submit(struct hand *h, uint16_t flags, enum pleat_job_kind kind, int32_t size,
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
    assert_int_equal(hand_feed(h, event), 0);
    return component;
}

static void given(struct hand *h, uint32_t node, int32_t slots)
{
    struct pleat_event event = {
        .kind = PLEAT_EV_NODE, .flags = PLEAT_NODE_LENT, .u.node = {.node = node, .slots = slots}};
    assert_int_equal(hand_feed(h, event), 0);
}

static int more(struct hand *h, int32_t count, bool confined)
{
    struct pleat_event event = {.kind = PLEAT_EV_NODE_MORE,
                                .flags = confined ? PLEAT_NODE_CONFINED : 0,
                                .u.node = {.node = HOME, .slots = count}};
    return hand_feed(h, event);
}

static int home(struct hand *h, uint32_t node, uint32_t of)
{
    struct pleat_event event = {.kind = PLEAT_EV_NODE_HOME,
                                .u.node_home = {.node = node, .home = of}};
    return hand_feed(h, event);
}

/* Four processes on a processor of HOME, of whose host two more can be had. */
static uint32_t run(struct hand *h, uint16_t flags)
{
    hand_init(h, CAPACITY);
    struct pleat_event site = {.kind = PLEAT_EV_SITE,
                               .u.site = {.capacity = CAPACITY, .node_most = NODE_MOST}};
    assert_int_equal(hand_feed(h, site), 0);
    hand_policy(h, PLEAT_APPROACH, "launcher");
    hand_policy(h, PLEAT_MOLDABILITY, "minimum");
    uint32_t component =
        submit(h, (uint16_t)(PLEAT_COMPONENT_FOLDS | flags), PLEAT_MALLEABLE, 4, PLEAT_CLASS_LONG);
    assert_int_equal(hand_last(h, PLEAT_DO_CLAIM).u.claim.count, 1);
    given(h, HOME, 1);
    h->node = HOME;
    hand_gets(h, component, HOME);
    is(h, component, PLEAT_RUNNING);
    assert_int_equal(more(h, 2, false), 0);
    return component;
}

/* The claim of its growth is given on a node that is HOME's host. */
static void grows(struct hand *h, uint32_t component, int32_t count)
{
    struct pleat_effect claim = hand_last(h, PLEAT_DO_CLAIM);
    assert_int_equal(claim.component, component);
    assert_int_equal(claim.u.claim.count, count);
    given(h, GUEST, count);
    assert_int_equal(home(h, GUEST, HOME), 0);
    h->node = GUEST;
    assert_int_equal(hand_claimed(h, claim, count), 0);
    hand_at_step(h, component, PLEAT_RESIZE_GRANTED);
    assert_int_equal(more(h, 2 - count, false), 0);
}

static const uint16_t kinds[] = {PLEAT_COMPONENT_SPREADS, 0};

static void test_a_folded_run_grows_by_another_claim_on_its_host(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        struct hand h;
        uint32_t folded = run(&h, kinds[k % 2]);
        assert_int_equal(hand_demand(&h, folded, 4, false), PLEAT_E_STATE);
        assert_non_null(strstr(h.err.text, "2 more"));
        assert_int_equal(hand_demand(&h, folded, 2, false), 0);
        grows(&h, folded, 1);
        if (k > 1)
            hand_restart(&h);
        assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, folded, 2), 0);
        is(&h, folded, PLEAT_RUNNING);
        assert_int_equal(hand_component(&h, folded)->lead_node, HOME);
        assert_int_equal(node_of(&h, GUEST)->claimed, 1);
        assert_int_equal(node_of(&h, GUEST)->home, HOME + 1);
        if (kinds[k % 2]) /* it has all its processes on one node, and its processors there, too */
            assert_int_equal(
                pleat_view_share_room(pleat_core_view(h.core), hand_component(&h, folded), HOME),
                2);
        /* one more could be had there, and no more than that */
        assert_int_equal(hand_demand(&h, folded, 4, false), PLEAT_E_STATE);
        /* what came last goes first */
        assert_int_equal(hand_demand(&h, folded, 1, false), 0);
        hand_shrinks(&h, folded, 1);
        hand_release_all(&h);
        assert_int_equal(node_of(&h, GUEST)->claimed, 0);
        assert_int_equal(node_of(&h, HOME)->claimed, 1);
        hand_finish(&h);
    }
}

static void test_policies_grow_a_folded_run_on_its_host(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct hand h;
        uint32_t folded = run(&h, kinds[k]);
        hand_mark(&h);
        assert_int_equal(more(&h, 0, false), 0);
        hand_policy(&h, PLEAT_MALLEABILITY, "egs");
        assert_int_equal(hand_count(&h, PLEAT_DO_CLAIM), 0);
        assert_int_equal(more(&h, 2, false), 0);
        assert_int_equal(hand_count(&h, PLEAT_DO_CLAIM), 1);
        assert_int_equal(hand_last(&h, PLEAT_DO_CLAIM).component, folded);
        assert_int_equal(hand_last(&h, PLEAT_DO_CLAIM).u.claim.count, 2);
        hand_finish(&h);
    }
}

/* Somebody ends the later one: the run shrinks off it, and goes on. */
static void test_a_folded_run_leaves_a_later_claim_that_is_taken(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct hand h;
        uint32_t folded = run(&h, kinds[k]);
        hand_parameter(&h, PLEAT_PARAM_SHRINK_OFF_US, 60000000);
        assert_int_equal(hand_demand(&h, folded, 3, false), 0);
        struct pleat_effect claim = hand_last(&h, PLEAT_DO_CLAIM);
        grows(&h, folded, 2);
        assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, folded, 3), 0);
        struct pleat_event ends = {.kind = PLEAT_EV_CLAIM_ENDS,
                                   .component = claim.u.claim.index,
                                   .u.ends = {.claim = claim.id,
                                              .end_us = h.now_us + 20000000,
                                              .reason = PLEAT_REASON_TAKEN}};
        assert_int_equal(hand_feed(&h, ends), 0);
        is(&h, folded, PLEAT_RESIZING);
        assert_int_equal(hand_component(&h, folded)->target, 1);
        hand_shrinks(&h, folded, 1);
        hand_release_all(&h);
        is(&h, folded, PLEAT_RUNNING);
        struct pleat_event gone = {.kind = PLEAT_EV_NODE_GONE, .u.node = {.node = GUEST}};
        (void)hand_feed(&h, gone);
        assert_int_equal(node_of(&h, GUEST)->home, 0);
        assert_int_equal(node_of(&h, HOME)->claimed, 1);
        hand_finish(&h);
    }
}

static void test_what_is_told_of_nodes_that_are_one_host(void **state)
{
    (void)state;
    struct hand h;
    uint32_t folded = run(&h, 0);
    assert_int_equal(more(&h, 2, false), PLEAT_CORE_STALE);
    assert_int_equal(more(&h, -1, false), PLEAT_E_INVALID);
    assert_int_equal(more(&h, 0, true), 0);
    assert_int_equal(hand_demand(&h, folded, 2, false), PLEAT_E_STATE);
    assert_non_null(strstr(h.err.text, "confines each allocation to its own processors"));
    assert_int_equal(home(&h, HOME, HOME), PLEAT_E_INVALID);
    assert_int_equal(home(&h, GUEST, HOME), PLEAT_CORE_STALE); /* it is not there yet */
    given(&h, GUEST, 1);
    assert_int_equal(home(&h, GUEST, HOME), 0);
    assert_int_equal(home(&h, HOME, GUEST), PLEAT_CORE_STALE); /* no circle */
    hand_restart(&h);
    assert_int_equal(node_of(&h, GUEST)->home, HOME + 1);
    assert_int_equal(node_of(&h, HOME)->confined, 1);
    /* another host may get the number of the home */
    struct pleat_event gone = {.kind = PLEAT_EV_NODE_GONE, .u.node = {.node = HOME}};
    (void)hand_feed(&h, gone);
    assert_int_equal(node_of(&h, GUEST)->home, 0);
    assert_int_equal(node_of(&h, HOME)->confined, 0);
    hand_finish(&h);
}

/* Its processes are there: it ends with that, and waits again, whatever it has of others. */
static void test_a_folded_run_cannot_leave_its_first_claim(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct hand h;
        uint32_t folded = run(&h, kinds[k]);
        struct pleat_effect first = hand_last(&h, PLEAT_DO_CLAIM);
        hand_parameter(&h, PLEAT_PARAM_SHRINK_OFF_US, 60000000);
        hand_parameter(&h, PLEAT_PARAM_MOVE_US, 60000000);
        assert_int_equal(hand_demand(&h, folded, 3, false), 0);
        grows(&h, folded, 2);
        assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, folded, 3), 0);
        struct pleat_event ends = {.kind = PLEAT_EV_CLAIM_ENDS,
                                   .component = first.u.claim.index,
                                   .u.ends = {.claim = first.id,
                                              .end_us = h.now_us + 20 * SECONDS,
                                              .reason = PLEAT_REASON_TAKEN}};
        assert_int_equal(hand_feed(&h, ends), 0);
        is(&h, folded, PLEAT_RUNNING);
        assert_int_equal(pleat_core_run_until(h.core, folded), h.now_us + 20 * SECONDS);
        hand_sleep(&h, 20 * SECONDS);
        is(&h, folded, PLEAT_FINISHING);
        assert_int_equal(hand_last(&h, PLEAT_DO_KILL).u.run.reason, PLEAT_REASON_TAKEN);
        assert_int_equal(hand_exited(&h, folded, 1), 0);
        hand_release_all(&h);
        assert_int_equal(hand_component(&h, folded)->attempt, 1);
        hand_finish(&h);
    }
}

/* fjt: what it gives up may be of another allocation than its first one, so a job that has to be on
 * one node gets nothing of it. */
static void test_no_room_is_made_where_it_would_be_of_two_nodes(void **state)
{
    (void)state;
    struct hand h;
    uint32_t folded = run(&h, 0);
    assert_int_equal(hand_demand(&h, folded, 3, false), 0);
    grows(&h, folded, 2);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, folded, 3), 0);
    struct pleat_event site = {.kind = PLEAT_EV_SITE,
                               .u.site = {.capacity = 3, .node_most = NODE_MOST}};
    assert_int_equal(hand_feed(&h, site), 0); /* nothing else is left */
    hand_policy(&h, PLEAT_MALLEABILITY, "partition");
    hand_policy(&h, PLEAT_MOLDABILITY, "fjt");
    uint32_t brief = submit(&h, 0, PLEAT_RIGID, 1, PLEAT_CLASS_SHORT);
    is(&h, brief, PLEAT_QUEUED);
    is(&h, folded, PLEAT_RUNNING);
    hand_finish(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_folded_run_grows_by_another_claim_on_its_host),
        cmocka_unit_test(test_policies_grow_a_folded_run_on_its_host),
        cmocka_unit_test(test_a_folded_run_leaves_a_later_claim_that_is_taken),
        cmocka_unit_test(test_what_is_told_of_nodes_that_are_one_host),
        cmocka_unit_test(test_a_folded_run_cannot_leave_its_first_claim),
        cmocka_unit_test(test_no_room_is_made_where_it_would_be_of_two_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
