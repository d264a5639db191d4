/* Folded runs on two nodes that came with a claim: they grow by processors of later claims on the
 * hosts where their processes are, which have node numbers of their own, and give these back first.
 * core_scenarios_guests_test.c has those on one. */
#include <string.h>

#include "base/random.h"
#include "core_scenarios_hand.h"
#include "policy/shares.h"

enum { CAPACITY = 8, NODE_MOST = 4, A = 3, B = 4, GUEST_A = 5, GUEST_B = 6, ELSEWHERE = 9 };

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

static int32_t held_on(const struct hand *h, uint32_t node)
{
    const struct pleat_node *known = node_of(h, node);
    return known ? known->claimed : 0;
}

/* ---- what a site says ---- */

static void given(struct hand *h, uint32_t node, int32_t slots)
{
    struct pleat_event event = {
        .kind = PLEAT_EV_NODE, .flags = PLEAT_NODE_LENT, .u.node = {.node = node, .slots = slots}};
    assert_int_equal(hand_feed(h, event), 0);
}

static void gone(struct hand *h, uint32_t node)
{
    struct pleat_event event = {.kind = PLEAT_EV_NODE_GONE, .u.node = {.node = node}};
    (void)hand_feed(h, event);
}

static void more_on(struct hand *h, uint32_t node, int32_t count, uint16_t flags)
{
    struct pleat_event event = {
        .kind = PLEAT_EV_NODE_MORE, .flags = flags, .u.node = {.node = node, .slots = count}};
    assert_int_equal(hand_feed(h, event), 0);
}

static void piece(struct hand *h, const struct pleat_effect *claim, uint32_t node)
{
    struct pleat_event event = {.kind = PLEAT_EV_PIECE,
                                .component = claim->u.claim.index,
                                .u.piece = {.claim = claim->id, .node = node, .count = 1}};
    assert_int_equal(hand_feed(h, event), 0);
}

/* The latest claim is given, or `count` of its processors, on a node that is the host of `of`. */
static struct pleat_effect guest(struct hand *h, uint32_t node, uint32_t of, int32_t count)
{
    struct pleat_effect claim = hand_last(h, PLEAT_DO_CLAIM);
    struct pleat_event home = {.kind = PLEAT_EV_NODE_HOME,
                               .u.node_home = {.node = node, .home = of}};
    given(h, node, count);
    assert_int_equal(hand_feed(h, home), 0);
    h->node = node;
    assert_int_equal(hand_claimed(h, claim, count), 0);
    return claim;
}

static int ends(struct hand *h, struct pleat_effect claim, int64_t in_us, enum pleat_reason reason)
{
    struct pleat_event event = {
        .kind = PLEAT_EV_CLAIM_ENDS,
        .component = claim.u.claim.index,
        .u.ends = {.claim = claim.id, .end_us = h->now_us + in_us, .reason = reason}};
    return hand_feed(h, event);
}

/* ---- a run ---- */

static uint32_t submit(struct hand *h)
{
    uint32_t component = pleat_core_next_component(h->core);
    struct pleat_event event = {.kind = PLEAT_EV_SUBMIT,
                                .flags = PLEAT_COMPONENT_FOLDS | PLEAT_COMPONENT_SPREADS,
                                .component = component,
                                .u.submit = {.job = component + 1,
                                             .minimum = 8,
                                             .maximum = 8,
                                             .site = PLEAT_NONE,
                                             .job_kind = PLEAT_MALLEABLE}};
    assert_int_equal(hand_feed(h, event), 0);
    return component;
}

/* Four processes on a processor of each of two hosts, of which so many more can be had. */
static uint32_t run(struct hand *h, int32_t more_of_a, int32_t more_of_b)
{
    hand_init(h, CAPACITY);
    struct pleat_event site = {.kind = PLEAT_EV_SITE,
                               .u.site = {.capacity = CAPACITY, .node_most = NODE_MOST}};
    assert_int_equal(hand_feed(h, site), 0);
    hand_policy(h, PLEAT_APPROACH, "launcher");
    hand_policy(h, PLEAT_MOLDABILITY, "minimum");
    hand_parameter(h, PLEAT_PARAM_SHRINK_OFF_US, 60 * SECONDS);
    hand_parameter(h, PLEAT_PARAM_MOVE_US, 60 * SECONDS);
    uint32_t component = submit(h);
    struct pleat_effect claim = hand_last(h, PLEAT_DO_CLAIM);
    assert_int_equal(claim.u.claim.count, 2);
    given(h, A, 1);
    given(h, B, 1);
    piece(h, &claim, A);
    piece(h, &claim, B);
    struct pleat_event claimed = {.kind = PLEAT_EV_CLAIMED,
                                  .component = claim.u.claim.index,
                                  .u.claim = {.claim = claim.id, .count = 2}};
    assert_int_equal(hand_feed(h, claimed), 0);
    assert_int_equal(hand_started(h, component), 0);
    more_on(h, A, more_of_a, 0);
    more_on(h, B, more_of_b, 0);
    return component;
}

/* It has so many processors on each of its hosts, and four processes. */
static void has(const struct hand *h, uint32_t component, int32_t on_a, int32_t on_b)
{
    struct pleat_share_list shares = {0};
    assert_int_equal(
        pleat_shares_of(pleat_core_view(h->core), hand_component(h, component), &shares), 0);
    assert_int_equal(shares.count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(shares.items[i].processes, 4);
        assert_int_equal(shares.items[i].processors, shares.items[i].node == A ? on_a : on_b);
    }
    pleat_array_finish(&shares);
}

/* It grows by `count`, by a later claim on one host. */
static struct pleat_effect grows(struct hand *h, uint32_t component, uint32_t node, uint32_t of,
                                 int32_t count)
{
    const int32_t size = hand_component(h, component)->processors + count;
    assert_int_equal(hand_demand(h, component, size, false), 0);
    struct pleat_effect claim = guest(h, node, of, count);
    assert_int_equal(hand_change(h, PLEAT_EV_APPLIED, component, size), 0);
    is(h, component, PLEAT_RUNNING);
    return claim;
}

/* ---- growing, and giving back ---- */

static void gives_back(struct hand *h, uint32_t folded, bool restarted)
{
    assert_int_equal(hand_demand(h, folded, 3, false), 0);
    if (restarted)
        hand_restart(h);
    hand_shrinks(h, folded, 3);
    has(h, folded, 2, 1);
    assert_int_equal(held_on(h, GUEST_A), 1);
    assert_int_equal(held_on(h, GUEST_B), 0);
    assert_int_equal(hand_demand(h, folded, 2, true), 0);
    hand_shrinks(h, folded, 2);
    has(h, folded, 1, 1);
    assert_int_equal(held_on(h, GUEST_A), 0);
    assert_int_equal(held_on(h, A) + held_on(h, B), 2);
}

static void test_a_folded_run_grows_by_later_claims_on_its_hosts(void **state)
{
    (void)state;
    for (int restarted = 0; restarted < 2; restarted++) {
        struct hand h;
        uint32_t folded = run(&h, 2, 1);
        assert_int_equal(hand_demand(&h, folded, 6, false), PLEAT_E_STATE);
        assert_non_null(strstr(h.err.text, "and can use 3 more there now"));
        /* a claim is of one host: it gets a part of what it was to get */
        assert_int_equal(hand_demand(&h, folded, 5, false), 0);
        assert_int_equal(hand_last(&h, PLEAT_DO_CLAIM).u.claim.count, 3);
        guest(&h, GUEST_A, A, 2);
        hand_at_step(&h, folded, PLEAT_RESIZE_GRANTED);
        assert_int_equal(hand_component(&h, folded)->target, 4);
        if (restarted)
            hand_restart(&h);
        assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, folded, 4), 0);
        has(&h, folded, 3, 1);
        more_on(&h, A, 0, 0);
        grows(&h, folded, GUEST_B, B, 1);
        has(&h, folded, 3, 2);
        assert_int_equal(hand_component(&h, folded)->lead_node, A);
        gives_back(&h, folded, restarted);
        assert_int_equal(hand_exited(&h, folded, 0), 0);
        hand_release_all(&h);
        assert_int_equal(hand_site(&h)->claimed, 0);
        hand_finish(&h);
    }
}

/* Not more than it has processes there, and nothing of a host where it has none. */
static void test_a_folded_run_takes_nothing_that_its_hosts_cannot_use(void **state)
{
    (void)state;
    struct hand h;
    uint32_t folded = run(&h, 4, 3);
    assert_int_equal(hand_demand(&h, folded, 6, false), 0);
    given(&h, ELSEWHERE, 2);
    h.node = ELSEWHERE;
    assert_int_equal(hand_claimed(&h, hand_last(&h, PLEAT_DO_CLAIM), 2), 0);
    hand_expect(&h, folded, PLEAT_OUTCOME_CLAIM_FAILED, PLEAT_RUNNING, 2);
    assert_int_equal(hand_release_all(&h), 1);
    hand_mark(&h);
    assert_int_equal(hand_demand(&h, folded, 6, false), 0);
    guest(&h, GUEST_A, A, 4);
    hand_expect(&h, folded, PLEAT_OUTCOME_CLAIM_FAILED, PLEAT_RUNNING, 2);
    assert_int_equal(hand_release_all(&h), 1);
    has(&h, folded, 1, 1);
    gone(&h, GUEST_A);
    /* where one of them confines its allocations, that is said */
    more_on(&h, A, 0, 0);
    more_on(&h, B, 0, PLEAT_NODE_CONFINED);
    assert_int_equal(hand_demand(&h, folded, 3, false), PLEAT_E_STATE);
    assert_non_null(strstr(h.err.text, "confines each allocation to its own processors"));
    hand_finish(&h);
}

static void test_policies_grow_a_folded_run_on_its_hosts(void **state)
{
    (void)state;
    struct hand h;
    uint32_t folded = run(&h, 1, 1);
    more_on(&h, A, 0, 0);
    more_on(&h, B, 0, 0);
    hand_policy(&h, PLEAT_MALLEABILITY, "egs");
    hand_mark(&h);
    more_on(&h, B, 1, 0);
    assert_int_equal(hand_last(&h, PLEAT_DO_CLAIM).u.claim.count, 1);
    guest(&h, GUEST_B, B, 1);
    more_on(&h, B, 0, 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, folded, 3), 0);
    has(&h, folded, 1, 2);
    hand_mark(&h);
    more_on(&h, A, 2, 0);
    assert_int_equal(hand_last(&h, PLEAT_DO_CLAIM).u.claim.count, 2);
    hand_finish(&h);
}

/* Which CPUs a later claim has is known when its agent is there: it is asked again then, on
 * whichever of its hosts that is. */
static void test_the_agent_of_a_later_claim_on_its_hosts_comes_back(void **state)
{
    (void)state;
    struct hand h;
    uint32_t folded = run(&h, 1, 1);
    assert_int_equal(hand_demand(&h, folded, 3, false), 0);
    guest(&h, GUEST_B, B, 1);
    hand_restart(&h);
    hand_mark(&h);
    struct pleat_event back = {.kind = PLEAT_EV_AGENT_BACK,
                               .u.agent = {.node = GUEST_B, .number = 7}};
    assert_int_equal(hand_feed(&h, back), 0);
    assert_int_equal(hand_last(&h, PLEAT_DO_RESIZE).component, folded);
    assert_int_equal(hand_count(&h, PLEAT_DO_RESIZE), 1);
    hand_finish(&h);
}

/* Another folded job is started on what it gives up of a later claim: that has its own processes
 * there, though the node is the host of another one. */
static void test_room_is_made_of_a_later_claim_on_its_hosts(void **state)
{
    (void)state;
    struct hand h;
    uint32_t folded = run(&h, 2, 2);
    grows(&h, folded, GUEST_B, B, 2);
    struct pleat_event site = {.kind = PLEAT_EV_SITE,
                               .u.site = {.capacity = 4, .node_most = NODE_MOST}};
    assert_int_equal(hand_feed(&h, site), 0); /* nothing else is left */
    uint32_t waiter = submit(&h);
    is(&h, waiter, PLEAT_QUEUED);
    assert_int_equal(hand_resize(&h, folded, 2, waiter), 0);
    hand_shrinks(&h, folded, 2);
    assert_int_equal(hand_started(&h, waiter), 0);
    is(&h, waiter, PLEAT_RUNNING);
    const struct pleat_view *view = pleat_core_view(h.core);
    const struct pleat_component *other = hand_component(&h, waiter);
    assert_int_equal(other->lead_node, GUEST_B);
    assert_int_equal(pleat_view_share_on(view, other, GUEST_B), 8);
    assert_int_equal(pleat_view_share_home(view, other, GUEST_B), GUEST_B);
    assert_int_equal(pleat_view_share_home(view, hand_component(&h, folded), GUEST_B), B);
    assert_int_equal(pleat_view_share_room(view, other, GUEST_B), 6);
    assert_false(pleat_view_is_guest(view, other->first_claim));
    has(&h, folded, 1, 1);
    hand_finish(&h);
}

/* ---- leaving ---- */

/* Whichever of them it is, it leaves that, and keeps the other. */
static void test_a_folded_run_leaves_later_claims_on_its_hosts(void **state)
{
    (void)state;
    for (int k = 0; k < 6; k++) {
        struct hand h;
        const bool first = k % 2, other = k / 2 == 1, timed = k / 2 == 2;
        uint32_t folded = run(&h, 2, 2);
        struct pleat_effect on_a = grows(&h, folded, GUEST_A, A, 2);
        struct pleat_effect on_b = grows(&h, folded, GUEST_B, B, 1);
        assert_int_equal(ends(&h, first ? on_a : on_b, (timed ? 1000 : 20) * SECONDS,
                              timed ? PLEAT_REASON_NONE : PLEAT_REASON_TAKEN),
                         0);
        if (timed) { /* the batch system's time for it is over soon */
            is(&h, folded, PLEAT_RUNNING);
            hand_sleep(&h, 999 * SECONDS);
        }
        is(&h, folded, PLEAT_RESIZING);
        assert_int_equal(hand_component(&h, folded)->target, first ? 3 : 4);
        if (other) /* is taken meanwhile: that comes after it */
            assert_int_equal(ends(&h, first ? on_b : on_a, 20 * SECONDS, PLEAT_REASON_TAKEN), 0);
        hand_shrinks(&h, folded, first ? 3 : 4);
        has(&h, folded, first ? 1 : 3, first ? 2 : 1);
        assert_int_equal(held_on(&h, first ? GUEST_A : GUEST_B), 0);
        if (other) {
            is(&h, folded, PLEAT_RESIZING);
            hand_shrinks(&h, folded, 2);
            has(&h, folded, 1, 1);
        }
        is(&h, folded, PLEAT_RUNNING);
        assert_int_equal(pleat_core_run_until(h.core, folded), PLEAT_NEVER);
        hand_finish(&h);
    }
}

/* Its processes are there: it ends with that, and waits again, whatever it has of others. */
static void test_a_folded_run_cannot_leave_its_first_claim_on_its_hosts(void **state)
{
    (void)state;
    struct hand h;
    uint32_t folded = run(&h, 2, 2);
    struct pleat_effect first = hand_last(&h, PLEAT_DO_CLAIM);
    grows(&h, folded, GUEST_A, A, 2);
    assert_int_equal(ends(&h, first, 20 * SECONDS, PLEAT_REASON_TAKEN), 0);
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

/* It vanishes, or its agent does: the run ends, and waits again, with nothing of the others. */
static void test_a_later_claim_of_a_folded_run_vanishes(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        struct hand h;
        uint32_t folded = run(&h, 2, 2);
        struct pleat_effect lost = grows(&h, folded, GUEST_A, A, 2);
        if (k == 1) /* while it shrinks off that */
            assert_int_equal(hand_demand(&h, folded, 2, true), 0);
        if (k == 2) { /* while another one has come, and not all nodes have taken that */
            assert_int_equal(hand_demand(&h, folded, 5, false), 0);
            guest(&h, GUEST_B, B, 1);
            hand_at_step(&h, folded, PLEAT_RESIZE_GRANTED);
        }
        hand_mark(&h);
        assert_int_equal(hand_lost(&h, lost), 0);
        is(&h, folded, PLEAT_FINISHING);
        assert_int_equal(hand_count(&h, PLEAT_DO_KILL), 1);
        assert_int_equal(hand_exited(&h, folded, 1), 0);
        hand_release_all(&h);
        assert_int_equal(hand_component(&h, folded)->attempt, 1);
        assert_int_equal(held_on(&h, A) + held_on(&h, B) + held_on(&h, GUEST_B), 0);
        hand_finish(&h);
    }
}

/* ---- random lives ---- */

/* It grows by a claim on one host, which gives it that many or fewer, and may be taken at once. */
static void grows_by_chance(struct hand *h, uint32_t folded, int32_t to,
                            struct pleat_random *random)
{
    const uint32_t of = pleat_random_below(random, 2) ? A : B;
    const int32_t size = hand_component(h, folded)->processors;
    uint32_t node = 10;
    while (node_of(h, node) && node_of(h, node)->slots > 0)
        node++;
    if (hand_demand(h, folded, to, false))
        return;
    int32_t room = pleat_view_share_room(pleat_core_view(h->core), hand_component(h, folded), of);
    room = room < to - size ? room : to - size;
    if (room == 0) {
        assert_int_equal(
            hand_claim_failed(h, hand_last(h, PLEAT_DO_CLAIM), PLEAT_REASON_CLAIM_REFUSED), 0);
        return;
    }
    room = 1 + (int32_t)pleat_random_below(random, (uint64_t)room);
    struct pleat_effect claim = guest(h, node, of, room);
    assert_int_equal(hand_change(h, PLEAT_EV_APPLIED, folded, size + room), 0);
    if (pleat_random_below(random, 3))
        return;
    assert_int_equal(ends(h, claim, 20 * SECONDS, PLEAT_REASON_TAKEN), 0);
    hand_shrinks(h, folded, size);
    assert_int_equal(held_on(h, node), 0);
}

/* Whatever happens, the run keeps what it was started with as long as it has more. */
static void test_random_lives_of_a_folded_run_on_its_hosts(void **state)
{
    (void)state;
    unsigned grown = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct pleat_random random;
        struct hand h;
        pleat_random_init(&random, seed);
        uint32_t folded = run(&h, 3, 3);
        for (int i = 0; i < 60; i++) {
            const int32_t to = 2 + (int32_t)pleat_random_below(&random, 7);
            const int32_t size = hand_component(&h, folded)->processors;
            if (pleat_random_below(&random, 6) == 0)
                hand_restart(&h);
            if (to > size) {
                grows_by_chance(&h, folded, to, &random);
            } else if (to < size) {
                assert_int_equal(hand_demand(&h, folded, to, pleat_random_below(&random, 2)), 0);
                hand_shrinks(&h, folded, to);
            }
            is(&h, folded, PLEAT_RUNNING);
            assert_int_equal(held_on(&h, A) + held_on(&h, B), 2);
            grown += hand_component(&h, folded)->processors > 4;
            for (uint32_t n = 10; node_of(&h, n); n++)
                if (held_on(&h, n) == 0)
                    gone(&h, n);
        }
        hand_finish(&h);
    }
    assert_true(grown > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_folded_run_grows_by_later_claims_on_its_hosts),
        cmocka_unit_test(test_a_folded_run_takes_nothing_that_its_hosts_cannot_use),
        cmocka_unit_test(test_policies_grow_a_folded_run_on_its_hosts),
        cmocka_unit_test(test_the_agent_of_a_later_claim_on_its_hosts_comes_back),
        cmocka_unit_test(test_room_is_made_of_a_later_claim_on_its_hosts),
        cmocka_unit_test(test_a_folded_run_leaves_later_claims_on_its_hosts),
        cmocka_unit_test(test_a_folded_run_cannot_leave_its_first_claim_on_its_hosts),
        cmocka_unit_test(test_a_later_claim_of_a_folded_run_vanishes),
        cmocka_unit_test(test_random_lives_of_a_folded_run_on_its_hosts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
