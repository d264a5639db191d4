/* Processors that a site lends for a time, and that a job cannot do without: it asks for others
 * before that, and leaves the first ones for these, with its state. */
#include <string.h>

#include "core_scenarios_hand.h"

#define MOVES (PLEAT_COMPONENT_RELAUNCHES | PLEAT_COMPONENT_SPREADS)

/* The times of a claim of 1000 s: when it has to be left for notice, grace and SHRINK_OFF_US, and
 * when others are asked for. */
#define LEAVES (900 * SECONDS)
#define ASKS (700 * SECONDS)

static void is(const struct hand *h, uint32_t component, enum pleat_component_state state)
{
    assert_int_equal(hand_component(h, component)->state, state);
}

/* The latest claim belongs to its owner for this time. */
static struct pleat_effect ends(struct hand *h, int64_t in_us)
{
    struct pleat_effect claim = hand_last(h, PLEAT_DO_CLAIM);
    const struct pleat_event event = {.kind = PLEAT_EV_CLAIM_ENDS,
                                      .component = claim.u.claim.index,
                                      .u.ends = {.claim = claim.id, .end_us = h->now_us + in_us}};
    assert_int_equal(hand_feed(h, event), 0);
    return claim;
}

static void agent_is_there(struct hand *h, uint32_t node)
{
    const struct pleat_event event = {.kind = PLEAT_EV_AGENT_BACK,
                                      .u.agent = {.number = 1, .node = node}};
    assert_int_equal(hand_feed(h, event), 0);
}

/* It grows onto a node of its own, which it has for 1000 s. */
static struct pleat_effect grows(struct hand *h, uint32_t component, uint32_t node, int32_t size)
{
    agent_is_there(h, node);
    h->node = node;
    hand_grows(h, component, size);
    return ends(h, 1000 * SECONDS);
}

/* A job of 2 to 4 that has got `size` processors for 1000 s. */
static uint32_t begin(struct hand *h, uint16_t flags, int32_t capacity, int32_t size)
{
    hand_init(h, capacity);
    hand_parameter(h, PLEAT_PARAM_SHRINK_US, 60 * SECONDS);
    hand_parameter(h, PLEAT_PARAM_GRACE_US, 10 * SECONDS);
    hand_parameter(h, PLEAT_PARAM_SHRINK_OFF_US, 30 * SECONDS);
    hand_parameter(h, PLEAT_PARAM_MOVE_US, 40 * SECONDS);
    hand_parameter(h, PLEAT_PARAM_REPLACE_US, 200 * SECONDS);
    hand_parameter(h, PLEAT_PARAM_BACKOFF_US, 5 * SECONDS);
    h->flags = flags;
    uint32_t component = hand_run(h, 2, 4, size);
    (void)ends(h, 1000 * SECONDS);
    hand_mark(h);
    return component;
}

/* It asks for as many as it is to leave: more than it has. */
static void asks(struct hand *h, uint32_t component, int32_t size)
{
    hand_at_step(h, component, PLEAT_RESIZE_ACCEPTED);
    assert_int_equal(hand_component(h, component)->target, size);
    assert_int_equal(hand_count(h, PLEAT_DO_CLAIM), 1);
    const struct pleat_resize *resize =
        pleat_core_resize(h->core, hand_component(h, component)->resize);
    assert_string_equal(pleat_resize_by(resize), "site");
}

/* It goes on on the node of that claim, with `size` processors. */
static void moves_to(struct hand *h, uint32_t component, int32_t size, struct pleat_effect claim,
                     bool restarted)
{
    uint64_t run = hand_component(h, component)->run;
    hand_at_step(h, component, PLEAT_RESIZE_GRANTED);
    struct pleat_effect told = hand_last(h, PLEAT_DO_RESIZE);
    assert_int_equal(told.u.change.processors, size);
    assert_int_equal(told.u.change.reason, PLEAT_REASON_SITE_TIME);
    assert_true(pleat_core_moves(h->core, component));
    if (restarted)
        hand_restart(h);
    assert_int_equal(hand_change(h, PLEAT_EV_MOVED, component, 0), 0);
    hand_at_step(h, component, PLEAT_RESIZE_MOVING);
    hand_release_all(h);
    assert_int_equal(hand_started(h, component), 0);
    hand_expect(h, component, PLEAT_OUTCOME_SHRUNK, PLEAT_RUNNING, size);
    const struct pleat_component *comp = hand_component(h, component);
    assert_int_equal(comp->first_claim, claim.u.claim.index);
    assert_int_equal(comp->run, run);
    assert_int_equal(comp->attempt, 0);
    assert_int_equal(comp->relaunches, 0);
    hand_mark(h);
}

/* In time it has others, goes on there when it has to leave, and asks again when these end. */
static void test_it_asks_for_others_in_time(void **state)
{
    (void)state;
    for (int restarted = 0; restarted < 2; restarted++) {
        struct hand h;
        uint32_t component = begin(&h, MOVES, 12, 2);
        int64_t end_us = h.now_us + 1000 * SECONDS;
        assert_int_equal(pleat_core_run_until(h.core, component), end_us);
        assert_int_equal(pleat_core_next_deadline(h.core), end_us - 1000 * SECONDS + ASKS);
        if (restarted)
            hand_restart(&h);
        hand_sleep(&h, ASKS - 1);
        is(&h, component, PLEAT_RUNNING);
        hand_sleep(&h, 1);
        asks(&h, component, 4);
        if (restarted)
            hand_restart(&h);
        struct pleat_effect other = grows(&h, component, 1, 4);
        assert_int_equal(pleat_core_run_until(h.core, component), h.now_us + 1000 * SECONDS);
        if (restarted)
            hand_restart(&h);
        hand_sleep(&h, LEAVES - ASKS - 1);
        is(&h, component, PLEAT_RUNNING);
        assert_int_equal(hand_component(&h, component)->processors, 4);
        hand_sleep(&h, 1);
        moves_to(&h, component, 2, other, restarted);
        /* of the other one's 1000 s 200 are over */
        hand_sleep(&h, ASKS - 200 * SECONDS);
        asks(&h, component, 4);
        other = grows(&h, component, 2, 4);
        hand_sleep(&h, 200 * SECONDS);
        moves_to(&h, component, 2, other, restarted);
        hand_finish(&h);
    }
}

/* It has as many as it may have: it gives some back first. */
static void test_it_makes_room_for_others(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = begin(&h, MOVES, 12, 4);
    hand_sleep(&h, ASKS);
    is(&h, component, PLEAT_RESIZING);
    assert_int_equal(hand_last(&h, PLEAT_DO_RESIZE).u.change.processors, 2);
    hand_shrinks(&h, component, 2);
    asks(&h, component, 4);
    struct pleat_effect other = grows(&h, component, 1, 4);
    hand_sleep(&h, LEAVES - ASKS);
    moves_to(&h, component, 2, other, false);
    hand_finish(&h);
}

/* There are none: it asks a few times, and is ended with what it has. */
static void test_it_asks_for_others_in_vain(void **state)
{
    (void)state;
    for (int why = 0; why < 2; why++) {
        struct hand h;
        uint32_t component = begin(&h, MOVES, why ? 3 : 12, 2); /* 1: it does not even ask */
        for (int64_t at = 0; at < 1000; at++) {
            hand_sleep(&h, SECONDS);
            if (hand_component(&h, component)->state == PLEAT_RESIZING) {
                assert_int_equal(hand_claim_failed(&h, hand_last(&h, PLEAT_DO_CLAIM),
                                                   PLEAT_REASON_CLAIM_REFUSED),
                                 0);
                hand_expect(&h, component, PLEAT_OUTCOME_CLAIM_FAILED, PLEAT_RUNNING, 2);
            }
        }
        assert_int_equal(hand_count(&h, PLEAT_DO_CLAIM), why ? 0 : 8);
        is(&h, component, PLEAT_FINISHING);
        assert_int_equal(hand_last(&h, PLEAT_DO_KILL).u.run.reason, PLEAT_REASON_SITE_TIME);
        hand_finish(&h);
    }
}

/* Its program is for one node, or cannot be started again; or nobody wants that; or its own time
 * limit comes first. */
static void test_it_asks_for_no_others(void **state)
{
    (void)state;
    for (int why = 0; why < 5; why++) {
        struct hand h;
        uint32_t component = begin(&h,
                                   why == 0   ? PLEAT_COMPONENT_RELAUNCHES
                                   : why == 1 ? PLEAT_COMPONENT_SPREADS
                                              : MOVES,
                                   12, 2);
        if (why == 2)
            hand_parameter(&h, PLEAT_PARAM_REPLACE_US, 0);
        if (why == 3)
            hand_parameter(&h, PLEAT_PARAM_MOVE_US, 0);
        if (why == 4)
            assert_int_equal(hand_terms(&h, component, -1, -1, 1000 * SECONDS), 0);
        hand_sleep(&h, 999 * SECONDS);
        is(&h, component, PLEAT_RUNNING);
        hand_sleep(&h, SECONDS);
        is(&h, component, PLEAT_FINISHING);
        assert_int_equal(hand_count(&h, PLEAT_DO_CLAIM), 0);
        hand_finish(&h);
    }
}

/* What it got later lasts longer, and is enough: it asks for no others, and goes on there. */
static void test_it_has_others_that_last(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = begin(&h, MOVES, 12, 2);
    agent_is_there(&h, 1);
    hand_sleep(&h, 500 * SECONDS);
    assert_int_equal(hand_resize(&h, component, 4, PLEAT_NONE), 0);
    struct pleat_effect other = grows(&h, component, 1, 4);
    hand_mark(&h);
    assert_int_equal(pleat_core_run_until(h.core, component), h.now_us + 1000 * SECONDS);
    hand_sleep(&h, 400 * SECONDS);
    assert_int_equal(hand_count(&h, PLEAT_DO_CLAIM), 0);
    moves_to(&h, component, 2, other, false);
    hand_finish(&h);
}

/* It leaves what ends, and keeps what it got later. */
static void test_it_leaves_one_in_the_middle(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = begin(&h, MOVES, 12, 2);
    hand_sleep(&h, 100 * SECONDS);
    struct pleat_effect claims[2];
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(hand_resize(&h, component, 3 + (int32_t)i, PLEAT_NONE), 0);
        agent_is_there(&h, 1 + i);
        h.node = 1 + i;
        hand_grows(&h, component, 3 + (int32_t)i);
        claims[i] = i ? hand_last(&h, PLEAT_DO_CLAIM) : ends(&h, 300 * SECONDS);
    }
    hand_mark(&h);
    hand_sleep(&h, 200 * SECONDS);
    is(&h, component, PLEAT_RESIZING);
    assert_int_equal(hand_last(&h, PLEAT_DO_RESIZE).u.change.processors, 3);
    assert_false(pleat_core_moves(h.core, component));
    hand_shrinks(&h, component, 3);
    assert_int_equal(hand_last(&h, PLEAT_DO_RELEASE).id, claims[0].id);
    hand_expect(&h, component, PLEAT_OUTCOME_SHRUNK, PLEAT_RUNNING, 3);
    assert_int_equal(hand_count(&h, PLEAT_DO_CLAIM), 0);
    hand_finish(&h);
}

/* It has others, but its program does not save its state: it is ended with the first ones. */
static void test_it_cannot_go_on_elsewhere(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = begin(&h, MOVES, 12, 2);
    int64_t end_us = h.now_us + 1000 * SECONDS;
    hand_sleep(&h, ASKS);
    (void)grows(&h, component, 1, 4);
    hand_sleep(&h, LEAVES - ASKS);
    assert_int_equal(hand_change(&h, PLEAT_EV_RESIZE_FAILED, component, 0), 0);
    hand_expect(&h, component, PLEAT_OUTCOME_APP_FAILED, PLEAT_RUNNING, 4);
    assert_int_equal(pleat_core_run_until(h.core, component), end_us);
    hand_mark(&h);
    hand_sleep(&h, 99 * SECONDS);
    is(&h, component, PLEAT_RUNNING);
    assert_int_equal(hand_count(&h, PLEAT_DO_RESIZE), 0);
    hand_sleep(&h, SECONDS);
    is(&h, component, PLEAT_FINISHING);
    assert_int_equal(hand_last(&h, PLEAT_DO_KILL).u.run.reason, PLEAT_REASON_SITE_TIME);
    hand_finish(&h);
}

/* Time passes by the second until it is in a resize, which is before `until_us`. */
static void resizes_before(struct hand *h, uint32_t component, int64_t until_us)
{
    while (hand_component(h, component)->state == PLEAT_RUNNING && h->now_us < until_us)
        hand_sleep(h, SECONDS);
    is(h, component, PLEAT_RESIZING);
    assert_true(h->now_us < until_us);
}

/* It asks for two more, and has them after a while, for as long as it had the others. */
static struct pleat_effect gets_short(struct hand *h, uint32_t component, uint32_t node,
                                      int64_t wait_us)
{
    hand_at_step(h, component, PLEAT_RESIZE_ACCEPTED);
    assert_int_equal(hand_component(h, component)->target, 4);
    if (wait_us > 0)
        hand_sleep(h, wait_us);
    agent_is_there(h, node);
    h->node = node;
    hand_grows(h, component, 4);
    hand_mark(h);
    return ends(h, 120 * SECONDS);
}

/* It goes on there, with what it has there alone. */
static void goes_to(struct hand *h, uint32_t component, struct pleat_effect claim)
{
    hand_at_step(h, component, PLEAT_RESIZE_GRANTED);
    assert_int_equal(hand_last(h, PLEAT_DO_RESIZE).u.change.processors, 2);
    assert_true(pleat_core_moves(h->core, component));
    assert_int_equal(hand_change(h, PLEAT_EV_MOVED, component, 0), 0);
    hand_release_all(h);
    assert_int_equal(hand_started(h, component), 0);
    assert_int_equal(hand_outcome(h), PLEAT_OUTCOME_SHRUNK);
    assert_int_equal(hand_component(h, component)->processors, 2);
    assert_int_equal(hand_component(h, component)->first_claim, claim.u.claim.index);
}

/* All that it gets has 120 s, of which it has to leave half, so that the next one has to be left
 * before the time of the one before is over. It goes from one to the next, however long it waits
 * for that. */
static void test_all_have_the_same_short_time(void **state)
{
    (void)state;
    static const int64_t waits_us[] = {10 * SECONDS, 0, 5 * SECONDS, 20 * SECONDS, SECONDS, 0};
    for (int shorter = 0; shorter < 2; shorter++) {
        struct hand h;
        uint32_t component = begin(&h, MOVES, 12, 2);
        hand_parameter(&h, PLEAT_PARAM_REPLACE_SHORT, shorter);
        (void)ends(&h, 120 * SECONDS);
        int64_t first_us = h.now_us + 120 * SECONDS, until_us = first_us;
        for (uint32_t i = 0; i < (shorter ? 6 : 1); i++) {
            resizes_before(&h, component, until_us);
            struct pleat_effect other = gets_short(&h, component, 1 + i, waits_us[i]);
            assert_int_equal(pleat_core_run_until(h.core, component),
                             shorter ? h.now_us + 120 * SECONDS : first_us);
            if (!shorter)
                break;
            int64_t next_us = h.now_us + 120 * SECONDS;
            hand_restart(&h);
            resizes_before(&h, component, until_us);
            goes_to(&h, component, other);
            until_us = next_us;
        }
        if (shorter) {
            assert_true(h.now_us > first_us);
            assert_int_equal(hand_component(&h, component)->attempt, 0);
        } else {
            hand_sleep(&h, first_us - h.now_us);
            is(&h, component, PLEAT_FINISHING);
            assert_int_equal(hand_last(&h, PLEAT_DO_KILL).u.run.reason, PLEAT_REASON_SITE_TIME);
        }
        hand_finish(&h);
    }
}

/* Two that it got at nearly the same time end at nearly the same time: it does not go from one to
 * the other. */
static void test_none_of_two_lasts_longer(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = begin(&h, MOVES, 4, 2);
    hand_parameter(&h, PLEAT_PARAM_REPLACE_SHORT, 1);
    (void)ends(&h, 120 * SECONDS);
    int64_t end_us = h.now_us + 120 * SECONDS;
    hand_sleep(&h, SECONDS);
    assert_int_equal(hand_resize(&h, component, 4, PLEAT_NONE), 0);
    agent_is_there(&h, 1);
    h.node = 1;
    hand_grows(&h, component, 4);
    (void)ends(&h, 120 * SECONDS);
    assert_int_equal(pleat_core_run_until(h.core, component), end_us);
    hand_sleep(&h, 59 * SECONDS);
    assert_true(hand_component(&h, component)->state == PLEAT_RUNNING ||
                !pleat_core_moves(h.core, component));
    hand_finish(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_asks_for_others_in_time),
        cmocka_unit_test(test_it_makes_room_for_others),
        cmocka_unit_test(test_it_asks_for_others_in_vain),
        cmocka_unit_test(test_it_asks_for_no_others),
        cmocka_unit_test(test_it_has_others_that_last),
        cmocka_unit_test(test_it_leaves_one_in_the_middle),
        cmocka_unit_test(test_it_cannot_go_on_elsewhere),
        cmocka_unit_test(test_all_have_the_same_short_time),
        cmocka_unit_test(test_none_of_two_lasts_longer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
