/* Folded runs on several nodes: their processes stay where they were started, so each node keeps a
 * processor, and has no use for more than processes. */
#include <string.h>

#include "core_scenarios_hand.h"
#include "policy/shares.h"

enum { NODES = 3 };

static void tell_nodes(struct hand *h, const int32_t *slots, uint32_t nodes)
{
    for (uint32_t n = 0; n < nodes; n++) {
        struct pleat_event node = {.kind = PLEAT_EV_NODE, .u.node = {.node = n, .slots = slots[n]}};
        assert_int_equal(hand_feed(h, node), 0);
    }
}

static int32_t sum_of(const int32_t *slots, uint32_t nodes)
{
    int32_t sum = 0;
    for (uint32_t n = 0; n < nodes; n++)
        sum += slots[n];
    return sum;
}

/* The site has these nodes from now on. */
static void nodes_are(struct hand *h, const int32_t *slots, uint32_t nodes)
{
    struct pleat_event site = {.kind = PLEAT_EV_SITE, .u.site = {.capacity = sum_of(slots, nodes)}};
    assert_int_equal(hand_feed(h, site), 0);
    tell_nodes(h, slots, nodes);
}

/* A site of nodes with so many processors each. */
static void begin(struct hand *h, const int32_t *slots, uint32_t nodes)
{
    hand_init(h, sum_of(slots, nodes));
    tell_nodes(h, slots, nodes);
}

static uint32_t submit(struct hand *h, int32_t processes)
{
    uint32_t component = pleat_core_next_component(h->core);
    struct pleat_event event = {.kind = PLEAT_EV_SUBMIT,
                                .flags = PLEAT_COMPONENT_FOLDS | PLEAT_COMPONENT_SPREADS,
                                .component = component,
                                .u.submit = {.job = component + 1,
                                             .minimum = processes,
                                             .maximum = processes,
                                             .site = PLEAT_NONE,
                                             .job_kind = PLEAT_MALLEABLE}};
    assert_int_equal(hand_feed(h, event), 0);
    return component;
}

/* The latest claim is given: so many on each node. */
static void given(struct hand *h, uint32_t component, const int32_t *counts, uint32_t nodes)
{
    struct pleat_effect claim = hand_last(h, PLEAT_DO_CLAIM);
    int32_t sum = 0;
    assert_int_equal(claim.component, component);
    for (uint32_t n = 0; n < nodes; n++) {
        struct pleat_event piece = {.kind = PLEAT_EV_PIECE,
                                    .component = claim.u.claim.index,
                                    .u.piece = {.claim = claim.id,
                                                .node = n,
                                                .first = (uint32_t)claim.id * 100,
                                                .count = (uint32_t)counts[n]}};
        if (counts[n])
            assert_int_equal(hand_feed(h, piece), 0);
        sum += counts[n];
    }
    struct pleat_event claimed = {.kind = PLEAT_EV_CLAIMED,
                                  .component = claim.u.claim.index,
                                  .u.claim = {.claim = claim.id, .count = sum}};
    assert_int_equal(hand_feed(h, claimed), 0);
}

/* The component has so many processes, and processors, on each node. */
static void has(const struct hand *h, uint32_t component, const int32_t *processes,
                const int32_t *processors, uint32_t nodes)
{
    struct pleat_share_list shares = {0};
    assert_int_equal(
        pleat_shares_of(pleat_core_view(h->core), hand_component(h, component), &shares), 0);
    assert_int_equal(shares.count, nodes);
    for (size_t i = 0; i < shares.count; i++) {
        assert_in_range(shares.items[i].node, 0, nodes - 1);
        assert_int_equal(shares.items[i].processes, processes[shares.items[i].node]);
        assert_int_equal(shares.items[i].processors, processors[shares.items[i].node]);
    }
    pleat_array_finish(&shares);
}
#define HAS(h, component, processes, ...)                                                          \
    has(h, component, processes, (const int32_t[]){__VA_ARGS__},                                   \
        sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t))

/* Twelve processes on 4 processors of one node and 2 of another. */
static const int32_t four_two[] = {4, 2}, eight_four[] = {8, 4};

static uint32_t run(struct hand *h)
{
    begin(h, four_two, 2);
    uint32_t folded = submit(h, 12);
    assert_int_equal(hand_last(h, PLEAT_DO_CLAIM).u.claim.count, 6);
    given(h, folded, four_two, 2);
    assert_int_equal(hand_started(h, folded), 0);
    HAS(h, folded, eight_four, 4, 2);
    return folded;
}

/* Its user sets a maximum of fewer processors than it gets nodes, before it is known how many these
 * are. */
static void test_a_maximum_that_comes_before_its_nodes(void **state)
{
    (void)state;
    static const int32_t twos[] = {2, 2, 2, 2};
    for (int nearest = 0; nearest < 2; nearest++) {
        struct hand h;
        begin(&h, twos, 4);
        uint32_t folded = submit(&h, 8);
        struct pleat_event limits = {.kind = PLEAT_EV_PARTITION,
                                     .flags = nearest ? PLEAT_PARTITION_NEAREST : 0,
                                     .component = folded,
                                     .u.partition = {.maximum = 3}};
        assert_int_equal(hand_feed(&h, limits), 0);
        hand_restart(&h);
        given(&h, folded, twos, 4);
        assert_int_equal(hand_started(&h, folded), 0);
        if (nearest) {
            hand_shrinks(&h, folded, 4);
            HAS(&h, folded, twos, 1, 1, 1, 1);
        } else { /* as in older logs */
            HAS(&h, folded, twos, 2, 2, 2, 2);
        }
        assert_int_equal(hand_component(&h, folded)->resize, PLEAT_NONE);
        hand_finish(&h);
    }
}

static void test_a_folded_run_gives_up_where_a_processor_has_fewest_processes(void **state)
{
    (void)state;
    for (int restarted = 0; restarted < 2; restarted++) {
        struct hand h;
        uint32_t folded = run(&h);
        assert_int_equal(hand_demand(&h, folded, 5, false), 0);
        hand_shrinks(&h, folded, 5);
        HAS(&h, folded, eight_four, 3, 2);
        if (restarted)
            hand_restart(&h);
        assert_int_equal(hand_demand(&h, folded, 3, true), 0);
        hand_at_step(&h, folded, PLEAT_RESIZE_GRANTED);
        if (restarted)
            hand_restart(&h);
        hand_shrinks(&h, folded, 3);
        HAS(&h, folded, eight_four, 2, 1);
        /* 8 processes on one processor, or 4 on none */
        assert_int_equal(hand_demand(&h, folded, 2, false), PLEAT_E_INVALID);
        assert_int_equal(hand_exited(&h, folded, 0), 0);
        hand_release_all(&h);
        assert_int_equal(hand_site(&h)->claimed, 0);
        hand_finish(&h);
    }
}

static void test_a_folded_run_keeps_a_processor_of_each_of_its_nodes(void **state)
{
    (void)state;
    struct hand h;
    static const int32_t ones[] = {1, 1}, twos[] = {2, 2};
    begin(&h, ones, 2);
    uint32_t folded = submit(&h, 4);
    given(&h, folded, ones, 2);
    assert_int_equal(hand_started(&h, folded), 0);
    HAS(&h, folded, twos, 1, 1);
    assert_int_equal(pleat_accept_smallest(pleat_core_view(h.core), hand_component(&h, folded)), 2);
    assert_int_equal(hand_demand(&h, folded, 1, true), PLEAT_E_INVALID);
    assert_non_null(strstr(h.err.text, "its limits are 2 to 4"));
    hand_finish(&h);
}

static void test_a_folded_run_grows_only_on_its_nodes(void **state)
{
    (void)state;
    struct hand h;
    uint32_t folded = run(&h);
    assert_int_equal(hand_demand(&h, folded, 3, false), 0);
    hand_shrinks(&h, folded, 3);
    nodes_are(&h, (const int32_t[]){4, 2, 4}, NODES);
    assert_int_equal(hand_demand(&h, folded, 7, false), PLEAT_E_STATE);
    assert_non_null(strstr(h.err.text,
                           "its processes stay on the nodes where they were started (2), "
                           "and can use 3 more there now"));
    assert_int_equal(hand_demand(&h, folded, 5, false), 0);
    given(&h, folded, (const int32_t[]){1, 1}, 2);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, folded, 5), 0);
    HAS(&h, folded, eight_four, 3, 2);
    /* processors of another node are of no use to it */
    hand_mark(&h);
    assert_int_equal(hand_demand(&h, folded, 6, false), 0);
    given(&h, folded, (const int32_t[]){0, 0, 1}, NODES);
    hand_expect(&h, folded, PLEAT_OUTCOME_CLAIM_FAILED, PLEAT_RUNNING, 5);
    assert_int_equal(hand_release_all(&h), 1);
    HAS(&h, folded, eight_four, 3, 2);
    hand_finish(&h);
}

/* No policy grows it beyond what its nodes have, whatever is free elsewhere. */
static void test_policies_grow_a_folded_run_on_its_nodes(void **state)
{
    (void)state;
    struct hand h;
    uint32_t folded = run(&h);
    assert_int_equal(hand_demand(&h, folded, 5, false), 0);
    hand_shrinks(&h, folded, 5);
    nodes_are(&h, (const int32_t[]){4, 2, 4}, NODES);
    assert_int_equal(hand_demand(&h, folded, 6, false), 0); /* its user holds it no more */
    given(&h, folded, (const int32_t[]){1, 0}, 2);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, folded, 6), 0);
    hand_mark(&h);
    hand_policy(&h, PLEAT_MALLEABILITY, "egs");
    assert_int_equal(hand_count(&h, PLEAT_DO_CLAIM), 0);
    hand_policy(&h, PLEAT_MALLEABILITY, "none");
    nodes_are(&h, (const int32_t[]){4, 4, 4}, NODES);
    hand_policy(&h, PLEAT_MALLEABILITY, "egs");
    assert_int_equal(hand_last(&h, PLEAT_DO_CLAIM).u.claim.count, 2);
    hand_finish(&h);
}

/* A shrink that is taken back leaves all as it was. */
static void test_a_folded_runs_shrink_is_withdrawn_on_all_nodes(void **state)
{
    (void)state;
    struct hand h;
    uint32_t folded = run(&h);
    hand_mark(&h);
    assert_int_equal(hand_resize(&h, folded, 3, PLEAT_NONE), 0);
    while (hand_count(&h, PLEAT_DO_WITHDRAW) == 0)
        hand_sleep(&h, 10 * SECONDS);
    hand_at_step(&h, folded, PLEAT_RESIZE_WITHDRAWING);
    assert_int_equal(hand_change(&h, PLEAT_EV_WITHDRAWN, folded, 0), 0);
    hand_expect(&h, folded, PLEAT_OUTCOME_TIMED_OUT, PLEAT_RUNNING, 6);
    HAS(&h, folded, eight_four, 4, 2);
    hand_finish(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_maximum_that_comes_before_its_nodes),
        cmocka_unit_test(test_a_folded_run_gives_up_where_a_processor_has_fewest_processes),
        cmocka_unit_test(test_a_folded_run_keeps_a_processor_of_each_of_its_nodes),
        cmocka_unit_test(test_a_folded_run_grows_only_on_its_nodes),
        cmocka_unit_test(test_policies_grow_a_folded_run_on_its_nodes),
        cmocka_unit_test(test_a_folded_runs_shrink_is_withdrawn_on_all_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
