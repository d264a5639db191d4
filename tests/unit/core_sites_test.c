/* Nodes that are drained, and sites that go while others stay. */
#include <string.h>

#include "core_scenarios_hand.h"

static int feed(struct hand *h, uint16_t kind, uint32_t site, uint32_t node, int32_t number)
{
    struct pleat_event event = {.kind = kind, .component = site};
    if (kind == PLEAT_EV_SITE)
        event.u.site.capacity = number;
    else if (kind == PLEAT_EV_BACKGROUND)
        event.u.site.background = number;
    else if (kind == PLEAT_EV_NODE_BACKGROUND)
        event.u.node_load.node = node;
    else
        event.u.node.node = node;
    if (kind == PLEAT_EV_NODE)
        event.u.node.slots = number;
    if (kind == PLEAT_EV_NODE_BACKGROUND)
        event.u.node_load.background = number;
    return hand_feed(h, event);
}

static void two_nodes(struct hand *h)
{
    hand_init(h, 8);
    for (uint32_t n = 0; n < 2; n++)
        assert_int_equal(feed(h, PLEAT_EV_NODE, 0, n, 4), 0);
}

static void is(const struct hand *h, uint32_t component, enum pleat_component_state state)
{
    assert_int_equal(hand_component(h, component)->state, state);
}

static void ends(struct hand *h, uint32_t component)
{
    assert_int_equal(hand_exited(h, component, 0), 0);
    hand_release_all(h);
}

/* What is free there is nobody's, also over a restart: neither for starts nor for growing. */
static void test_a_drained_node(void **state)
{
    (void)state;
    for (int restarted = 0; restarted < 2; restarted++) {
        struct hand h;
        two_nodes(&h);
        uint32_t first = hand_run(&h, 1, 4, 2);
        assert_int_equal(feed(&h, PLEAT_EV_NODE_DRAIN, 0, 2, 0), PLEAT_E_NOTFOUND);
        assert_int_equal(feed(&h, PLEAT_EV_NODE_DRAIN, 0, 0, 0), 0);
        assert_int_equal(feed(&h, PLEAT_EV_NODE_DRAIN, 0, 0, 0), PLEAT_CORE_STALE);
        assert_int_equal(hand_site(&h)->shut, 2);
        if (restarted)
            hand_restart(&h);
        assert_int_equal(hand_demand(&h, first, 4, false), PLEAT_E_STATE);
        assert_non_null(strstr(h.err.text, "its node (0) is drained"));
        uint32_t wide = hand_submit(&h, PLEAT_RIGID, 4, 4, 0);
        hand_gets(&h, wide, 1);
        uint32_t waits = hand_submit(&h, PLEAT_RIGID, 2, 2, 0);
        is(&h, waits, PLEAT_QUEUED);
        ends(&h, first);
        assert_int_equal(hand_site(&h)->shut, 4);
        is(&h, waits, PLEAT_QUEUED);
        assert_int_equal(feed(&h, PLEAT_EV_NODE_RESUME, 0, 0, 0), 0);
        assert_int_equal(hand_site(&h)->shut, 0);
        hand_gets(&h, waits, 0);
        hand_finish(&h);
    }
}

/* A site tells its nodes anew when it is opened again: what is drained stays drained. */
static void test_drained_over_a_new_start(void **state)
{
    (void)state;
    struct hand h;
    two_nodes(&h);
    assert_int_equal(feed(&h, PLEAT_EV_NODE_DRAIN, 0, 1, 0), 0);
    assert_int_equal(feed(&h, PLEAT_EV_SITE, 0, 0, 8), 0);
    assert_int_equal(hand_site(&h)->shut, 0); /* its nodes are not known now */
    for (uint32_t n = 0; n < 2; n++)
        assert_int_equal(feed(&h, PLEAT_EV_NODE, 0, n, 4), 0);
    assert_int_equal(hand_site(&h)->shut, 4);
    uint32_t first = hand_submit(&h, PLEAT_RIGID, 3, 3, 0);
    hand_gets(&h, first, 0);
    is(&h, hand_submit(&h, PLEAT_RIGID, 2, 2, 0), PLEAT_QUEUED);
    hand_finish(&h);
}

/* What others keep busy on a node is not free there, whatever the other node has. */
static void test_load_of_others_on_a_node(void **state)
{
    (void)state;
    struct hand h;
    two_nodes(&h);
    assert_int_equal(feed(&h, PLEAT_EV_BACKGROUND, 0, 0, 2), 0);
    assert_int_equal(feed(&h, PLEAT_EV_NODE_BACKGROUND, 0, 1, 2), 0);
    assert_int_equal(feed(&h, PLEAT_EV_NODE_BACKGROUND, 0, 1, 2), PLEAT_CORE_STALE);
    assert_int_equal(feed(&h, PLEAT_EV_NODE_BACKGROUND, 0, 1, -1), PLEAT_E_INVALID);
    uint32_t first = hand_submit(&h, PLEAT_RIGID, 2, 2, 0);
    hand_gets(&h, first, 0);
    uint32_t waits = hand_submit(&h, PLEAT_RIGID, 3, 3, 0);
    is(&h, waits, PLEAT_QUEUED); /* 4 are free, 2 on each */
    assert_int_equal(feed(&h, PLEAT_EV_NODE_DRAIN, 0, 1, 0), 0);
    assert_int_equal(hand_site(&h)->shut, 2);
    assert_int_equal(feed(&h, PLEAT_EV_NODE_RESUME, 0, 1, 0), 0);
    assert_int_equal(feed(&h, PLEAT_EV_BACKGROUND, 0, 0, 1), 0);
    assert_int_equal(feed(&h, PLEAT_EV_NODE_BACKGROUND, 0, 1, 1), 0);
    hand_gets(&h, waits, 1);
    hand_finish(&h);
}

static uint32_t submit_for(struct hand *h, uint32_t site, int32_t size)
{
    uint32_t component = pleat_core_next_component(h->core);
    struct pleat_event event = {.kind = PLEAT_EV_SUBMIT,
                                .component = component,
                                .u.submit = {.job = 1000 + component,
                                             .minimum = size,
                                             .maximum = size,
                                             .site = site,
                                             .job_kind = PLEAT_RIGID}};
    assert_int_equal(hand_feed(h, event), 0);
    return component;
}

/* Not while it has jobs, or jobs wait that can be nowhere else; then it has nothing, until it is
 * another one. */
static void test_a_site_goes(void **state)
{
    (void)state;
    for (int restarted = 0; restarted < 2; restarted++) {
        struct hand h;
        hand_init(&h, 2);
        assert_int_equal(feed(&h, PLEAT_EV_SITE, 1, 0, 4), 0);
        assert_int_equal(feed(&h, PLEAT_EV_NODE, 1, 0, 4), 0);
        uint32_t runs = submit_for(&h, 1, 3), waits = submit_for(&h, 1, 2);
        hand_gets(&h, runs, 0);
        assert_int_equal(feed(&h, PLEAT_EV_SITE_GONE, 1, 0, 0), PLEAT_E_STATE);
        assert_int_equal(hand_exited(&h, runs, 0), 0);
        assert_int_equal(feed(&h, PLEAT_EV_SITE_GONE, 1, 0, 0), PLEAT_E_STATE);
        hand_release_all(&h);
        is(&h, waits, PLEAT_CLAIMING);
        assert_int_equal(hand_cancel(&h, waits), 0);
        hand_release_all(&h);
        assert_int_equal(feed(&h, PLEAT_EV_DRAIN, 1, 0, 0), 0);
        assert_int_equal(feed(&h, PLEAT_EV_SITE_GONE, 1, 0, 0), 0);
        assert_int_equal(feed(&h, PLEAT_EV_SITE_GONE, 1, 0, 0), PLEAT_CORE_STALE);
        if (restarted)
            hand_restart(&h);
        const struct pleat_view *view = pleat_core_view(h.core);
        assert_int_equal(view->sites[1].capacity, 0);
        assert_int_equal(view->node_count, 0);
        assert_int_equal(feed(&h, PLEAT_EV_RESUME, 1, 0, 0), PLEAT_E_STATE);
        assert_int_equal(feed(&h, PLEAT_EV_BACKGROUND, 1, 0, 1), PLEAT_CORE_STALE);
        assert_int_equal(feed(&h, PLEAT_EV_NODE, 1, 0, 4), PLEAT_CORE_STALE);
        assert_int_equal(feed(&h, PLEAT_EV_SITE, 1, 0, 6), 0);
        assert_int_equal(pleat_core_view(h.core)->sites[1].drained, 0);
        uint32_t again = submit_for(&h, 1, 5);
        hand_gets(&h, again, 0);
        hand_finish(&h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_drained_node),
        cmocka_unit_test(test_drained_over_a_new_start),
        cmocka_unit_test(test_load_of_others_on_a_node),
        cmocka_unit_test(test_a_site_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
