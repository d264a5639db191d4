/* The agent of a site goes away and comes back, or another one comes: a scenario for every row of
 * docs/resize-contract.md about that. */
#include "core_scenarios_hand.h"

static const struct pleat_effect *last_claim(const struct hand *h)
{
    static struct pleat_effect claim;
    claim = hand_last(h, PLEAT_DO_CLAIM);
    return &claim;
}

static int away(struct hand *h)
{
    struct pleat_event event = {.kind = PLEAT_EV_AGENT_AWAY};
    return hand_feed(h, event);
}

static int back(struct hand *h, uint64_t number)
{
    struct pleat_event event = {.kind = PLEAT_EV_AGENT_BACK, .u.agent = {.number = number}};
    return hand_feed(h, event);
}

/* A rigid job whose processors are there, so that it is to be started. */
static uint32_t to_start(struct hand *h)
{
    uint32_t component = hand_submit(h, PLEAT_RIGID, 2, 2, 0);
    assert_int_equal(hand_claimed(h, *last_claim(h), 2), 0);
    assert_int_equal(hand_component(h, component)->state, PLEAT_CLAIMING);
    return component;
}

static void begin(struct hand *h)
{
    hand_init(h, 8);
    assert_int_equal(back(h, 7), 0);
}

static void test_a_start_waits_for_its_agent(void **state)
{
    (void)state;
    struct hand h;
    begin(&h);
    assert_int_equal(away(&h), 0);
    assert_int_equal(away(&h), PLEAT_CORE_STALE);
    uint32_t component = to_start(&h);
    assert_int_equal(hand_count(&h, PLEAT_DO_START), 0);
    assert_int_equal(hand_last(&h, PLEAT_DO_REACH).u.reach.site, 0);
    /* however long that takes it is no attempt; the agent is wanted again and again */
    hand_mark(&h);
    hand_sleep(&h, pleat_parameter_default(PLEAT_PARAM_START_US));
    assert_int_equal(hand_count(&h, PLEAT_DO_REACH), 1);
    assert_int_equal(back(&h, 8), 0); /* another one: it is the first that is told */
    assert_int_equal(hand_last(&h, PLEAT_DO_START).id, hand_component(&h, component)->run);
    assert_int_equal(hand_component(&h, component)->attempt, 0);
    assert_int_equal(hand_started(&h, component), 0);
    assert_int_equal(hand_component(&h, component)->state, PLEAT_RUNNING);
    hand_finish(&h);
}

static void test_cancelled_before_any_agent_was_told(void **state)
{
    (void)state;
    struct hand h;
    begin(&h);
    assert_int_equal(away(&h), 0);
    uint32_t component = to_start(&h);
    assert_int_equal(hand_cancel(&h, component), 0);
    hand_release_all(&h);
    assert_int_equal(hand_component(&h, component)->state, PLEAT_CANCELLED);
    assert_int_equal(back(&h, 7), 0);
    assert_int_equal(hand_count(&h, PLEAT_DO_START) + hand_count(&h, PLEAT_DO_KILL), 0);
    hand_finish(&h);
}

static void test_the_same_agent_is_told_again(void **state)
{
    (void)state;
    struct hand h;
    begin(&h);
    uint32_t component = to_start(&h);
    assert_int_equal(hand_count(&h, PLEAT_DO_START), 1);
    assert_int_equal(away(&h), 0);
    hand_sleep(&h, 2 * pleat_parameter_default(PLEAT_PARAM_START_US));
    assert_int_equal(hand_component(&h, component)->state, PLEAT_CLAIMING);
    assert_int_equal(back(&h, 7), 0);
    assert_int_equal(hand_count(&h, PLEAT_DO_START), 2);
    assert_int_equal(hand_started(&h, component), 0);
    assert_int_equal(hand_component(&h, component)->attempt, 0);
    hand_finish(&h);
}

/* `agents` times: it is to be started, and the agent dies. */
static void die_while_starting(struct hand *h, uint32_t component, int agents, uint64_t number)
{
    for (int i = 0; i < agents; i++) {
        assert_int_equal(hand_component(h, component)->state, PLEAT_CLAIMING);
        assert_int_equal(hand_component(h, component)->attempt, i);
        assert_int_equal(away(h), 0);
        assert_int_equal(back(h, ++number), 0);
        hand_release_all(h);
        if (hand_component(h, component)->state == PLEAT_CLAIMING)
            assert_int_equal(hand_claimed(h, *last_claim(h), 2), 0);
    }
}

static void test_another_agent_counts_the_start(void **state)
{
    (void)state;
    struct hand h;
    begin(&h);
    hand_parameter(&h, PLEAT_PARAM_ATTEMPTS, 3);
    uint32_t component = to_start(&h);
    die_while_starting(&h, component, 3, 7);
    assert_int_equal(hand_count(&h, PLEAT_DO_START), 3);
    assert_int_equal(hand_component(&h, component)->state, PLEAT_FAILED);
    assert_int_equal(hand_component(&h, component)->reason, PLEAT_REASON_START_UNKNOWN);
    hand_finish(&h);
}

static void test_ended_while_it_is_being_started_elsewhere(void **state)
{
    (void)state;
    struct hand h;
    begin(&h);
    uint32_t component = to_start(&h);
    assert_int_equal(hand_cancel(&h, component), 0);
    assert_int_equal(away(&h), 0);
    hand_mark(&h);
    assert_int_equal(back(&h, 9), 0);
    assert_int_equal(hand_count(&h, PLEAT_DO_KILL), 1);
    assert_int_equal(hand_ended(&h, PLEAT_EV_EXITED, component, PLEAT_REASON_LOST), 0);
    hand_release_all(&h);
    assert_int_equal(hand_component(&h, component)->state, PLEAT_CANCELLED);
    hand_finish(&h);
}

/* ---- at most once ---- */

static uint32_t once(struct hand *h)
{
    h->flags = PLEAT_COMPONENT_ONCE;
    uint32_t component = to_start(h);
    h->flags = 0;
    return component;
}

static void test_who_starts_once_is_not_started_again(void **state)
{
    (void)state;
    struct hand h;
    begin(&h);
    uint32_t component = once(&h);
    die_while_starting(&h, component, 1, 7);
    assert_int_equal(hand_component(&h, component)->state, PLEAT_FAILED);
    assert_int_equal(hand_component(&h, component)->reason, PLEAT_REASON_START_UNKNOWN);
    /* its processors are lost while it runs */
    component = once(&h);
    struct pleat_effect claim = *last_claim(&h);
    assert_int_equal(hand_started(&h, component), 0);
    assert_int_equal(hand_lost(&h, claim), 0);
    assert_int_equal(hand_exited(&h, component, 0), 0);
    hand_release_all(&h);
    assert_int_equal(hand_component(&h, component)->state, PLEAT_FAILED);
    /* nobody says in time whether it runs */
    component = once(&h);
    hand_sleep(&h, pleat_parameter_default(PLEAT_PARAM_START_US));
    assert_int_equal(hand_exited(&h, component, 0), 0);
    hand_release_all(&h);
    assert_int_equal(hand_component(&h, component)->state, PLEAT_FAILED);
    hand_finish(&h);
}

static void test_who_starts_once_may_start_when_he_surely_has_not(void **state)
{
    (void)state;
    struct hand h;
    begin(&h);
    uint32_t component = once(&h);
    assert_int_equal(hand_ended(&h, PLEAT_EV_START_FAILED, component, PLEAT_REASON_START_SYSTEM),
                     0);
    hand_release_all(&h);
    assert_int_equal(hand_component(&h, component)->state, PLEAT_CLAIMING);
    assert_int_equal(hand_component(&h, component)->attempt, 1);
    assert_int_equal(hand_claimed(&h, *last_claim(&h), 2), 0);
    assert_int_equal(hand_started(&h, component), 0);
    hand_finish(&h);
}

static void test_who_starts_once_is_neither_preempted_nor_relaunched(void **state)
{
    (void)state;
    struct hand h;
    begin(&h);
    h.flags = PLEAT_COMPONENT_ONCE | PLEAT_COMPONENT_RELAUNCHES;
    uint32_t component = hand_run(&h, 2, 6, 4);
    struct pleat_event preempt = {.kind = PLEAT_EV_PREEMPT, .component = component};
    assert_int_equal(hand_feed(&h, preempt), PLEAT_E_STATE);
    assert_int_equal(hand_demand(&h, component, 2, true), 0);
    hand_enforce(&h);
    hand_expect(&h, component, PLEAT_OUTCOME_NOT_HONOURED, PLEAT_FINISHING, 4);
    assert_int_equal(hand_count(&h, PLEAT_DO_RELAUNCH), 0);
    hand_finish(&h);
}

/* ---- time ---- */

static void test_time_stands_still_while_the_agent_is_away(void **state)
{
    (void)state;
    struct hand h;
    begin(&h);
    uint32_t component = hand_run(&h, 2, 8, 6);
    int64_t notice_us = pleat_parameter_default(PLEAT_PARAM_SHRINK_US);
    int64_t grace_us = pleat_parameter_default(PLEAT_PARAM_GRACE_US);
    assert_int_equal(hand_demand(&h, component, 4, true), 0);
    hand_sleep(&h, notice_us - 5 * SECONDS);
    assert_int_equal(away(&h), 0);
    hand_mark(&h);
    hand_sleep(&h, 100 * notice_us);
    assert_int_equal(hand_count(&h, PLEAT_NOTE_WARNING), 0);
    assert_int_equal(back(&h, 7), 0);
    assert_int_equal(hand_last(&h, PLEAT_DO_RESIZE).u.change.processors, 4);
    hand_sleep(&h, 4 * SECONDS);
    assert_int_equal(hand_count(&h, PLEAT_NOTE_WARNING), 0);
    hand_sleep(&h, 1 * SECONDS);
    assert_int_equal(hand_count(&h, PLEAT_NOTE_WARNING), 1);
    /* in the grace, too */
    assert_int_equal(away(&h), 0);
    hand_sleep(&h, 100 * grace_us);
    assert_int_equal(hand_component(&h, component)->state, PLEAT_RESIZING);
    assert_int_equal(back(&h, 7), 0);
    hand_sleep(&h, grace_us - 1);
    assert_int_equal(hand_component(&h, component)->state, PLEAT_RESIZING);
    hand_sleep(&h, 1);
    hand_expect(&h, component, PLEAT_OUTCOME_NOT_HONOURED, PLEAT_FINISHING, 6);
    hand_finish(&h);
}

static void test_a_resize_that_begins_while_the_agent_is_away(void **state)
{
    (void)state;
    struct hand h;
    begin(&h);
    h.flags = PLEAT_COMPONENT_ASKS;
    uint32_t component = hand_run(&h, 2, 8, 4);
    int64_t answer_us = pleat_parameter_default(PLEAT_PARAM_ANSWER_US);
    assert_int_equal(away(&h), 0);
    assert_int_equal(hand_demand(&h, component, 6, false), 0);
    hand_at_step(&h, component, PLEAT_RESIZE_OFFERED);
    hand_sleep(&h, 100 * answer_us);
    hand_at_step(&h, component, PLEAT_RESIZE_OFFERED);
    hand_mark(&h);
    assert_int_equal(back(&h, 7), 0);
    assert_int_equal(hand_count(&h, PLEAT_DO_ASK), 1);
    /* the site is no application: its time goes on */
    assert_int_equal(hand_change(&h, PLEAT_EV_ANSWER, component, 6), 0);
    assert_int_equal(away(&h), 0);
    hand_sleep(&h, pleat_parameter_default(PLEAT_PARAM_CLAIM_US));
    hand_expect(&h, component, PLEAT_OUTCOME_TIMED_OUT, PLEAT_RUNNING, 4);
    hand_finish(&h);
}

static void test_a_withdrawal_while_the_agent_is_away(void **state)
{
    (void)state;
    struct hand h;
    begin(&h);
    uint32_t component = hand_run(&h, 2, 8, 4);
    assert_int_equal(hand_demand(&h, component, 6, false), 0);
    assert_int_equal(hand_claimed(&h, *last_claim(&h), 2), 0);
    hand_sleep(&h, pleat_parameter_default(PLEAT_PARAM_APPLY_US));
    hand_at_step(&h, component, PLEAT_RESIZE_WITHDRAWING);
    assert_int_equal(away(&h), 0);
    hand_sleep(&h, 100 * pleat_parameter_default(PLEAT_PARAM_STUCK_US));
    hand_at_step(&h, component, PLEAT_RESIZE_WITHDRAWING);
    hand_mark(&h);
    assert_int_equal(back(&h, 7), 0);
    assert_int_equal(hand_count(&h, PLEAT_DO_WITHDRAW), 1);
    assert_int_equal(hand_change(&h, PLEAT_EV_WITHDRAWN, component, 4), 0);
    hand_expect(&h, component, PLEAT_OUTCOME_TIMED_OUT, PLEAT_RUNNING, 4);
    hand_finish(&h);
}

static int gone(struct hand *h)
{
    struct pleat_event event = {.kind = PLEAT_EV_NODE_GONE};
    return hand_feed(h, event);
}

/* What runs there is lost; who comes with that number later is of another node. */
static void test_a_node_is_gone_and_its_number_is_used_again(void **state)
{
    (void)state;
    struct hand h;
    begin(&h);
    uint32_t first = to_start(&h);
    assert_int_equal(hand_started(&h, first), 0);
    uint32_t second = to_start(&h);
    struct pleat_effect claim = *last_claim(&h);
    assert_int_equal(hand_lost(&h, claim), 0);
    assert_int_equal(gone(&h), 0);
    assert_int_equal(gone(&h), PLEAT_CORE_STALE);
    hand_restart(&h);
    assert_int_equal(hand_ended(&h, PLEAT_EV_EXITED, first, PLEAT_REASON_LOST), 0);
    assert_int_equal(hand_ended(&h, PLEAT_EV_EXITED, second, PLEAT_REASON_LOST), 0);
    hand_release_all(&h);
    /* both wait again, and are started on the new node by the agent that comes there */
    assert_int_equal(hand_component(&h, first)->state, PLEAT_CLAIMING);
    uint32_t attempts = hand_component(&h, first)->attempt;
    for (uint32_t c = 0; c < pleat_core_claim_count(h.core); c++)
        if (pleat_core_claim(h.core, c)->state == PLEAT_CLAIM_REQUESTED)
            assert_int_equal(
                hand_claimed(&h,
                             (struct pleat_effect){.id = pleat_core_claim(h.core, c)->id,
                                                   .u.claim = {.index = c, .count = 2}},
                             2),
                0);
    hand_mark(&h);
    assert_int_equal(back(&h, 8), 0);
    assert_int_equal(hand_count(&h, PLEAT_DO_START), 2);
    assert_int_equal(hand_component(&h, first)->attempt, attempts);
    assert_int_equal(hand_started(&h, first), 0);
    assert_int_equal(hand_started(&h, second), 0);
    assert_int_equal(gone(&h), 0); /* while nobody is told anything, time stands still */
    hand_finish(&h);
}

static void test_agents_that_make_no_sense(void **state)
{
    (void)state;
    struct hand h;
    begin(&h);
    assert_int_equal(back(&h, 0), PLEAT_E_INVALID);
    struct pleat_event event = {.kind = PLEAT_EV_AGENT_AWAY, .component = 1};
    assert_int_equal(hand_feed(&h, event), PLEAT_E_INVALID);
    struct pleat_event instant = {.kind = PLEAT_EV_SITE,
                                  .flags = PLEAT_SITE_INSTANT,
                                  .component = 1,
                                  .u.site = {.capacity = 4}};
    assert_int_equal(hand_feed(&h, instant), 0);
    assert_int_equal(hand_feed(&h, event), PLEAT_E_INVALID);
    hand_finish(&h);
}

/* A job of two processors, on that node. */
static uint32_t to_start_on(struct hand *h, uint32_t node)
{
    uint32_t component = hand_submit(h, PLEAT_RIGID, 2, 2, 0);
    struct pleat_effect claim = *last_claim(h);
    struct pleat_event piece = {.kind = PLEAT_EV_PIECE,
                                .component = claim.u.claim.index,
                                .u.piece = {.claim = claim.id, .node = node, .count = 2}};
    assert_int_equal(hand_feed(h, piece), 0);
    struct pleat_event claimed = {.kind = PLEAT_EV_CLAIMED,
                                  .component = claim.u.claim.index,
                                  .u.claim = {.claim = claim.id, .count = 2}};
    assert_int_equal(hand_feed(h, claimed), 0);
    assert_int_equal(hand_component(h, component)->lead_node, node);
    return component;
}

static void test_each_node_has_its_agent(void **state)
{
    (void)state;
    struct hand h;
    begin(&h);
    struct pleat_event other_away = {.kind = PLEAT_EV_AGENT_AWAY, .u.agent = {.node = 3}},
                       other_back = {.kind = PLEAT_EV_AGENT_BACK,
                                     .u.agent = {.node = 3, .number = 1}};
    assert_int_equal(hand_feed(&h, other_away), 0);
    assert_int_equal(hand_feed(&h, other_away), PLEAT_CORE_STALE);
    uint32_t here = to_start_on(&h, 0), there = to_start_on(&h, 3);
    assert_int_equal(hand_count(&h, PLEAT_DO_START), 1);
    assert_int_equal(hand_last(&h, PLEAT_DO_START).component, here);
    assert_int_equal(hand_last(&h, PLEAT_DO_REACH).component, there);
    assert_int_equal(hand_last(&h, PLEAT_DO_REACH).u.reach.node, 3);
    /* the agent of one node comes, or is another one: what the other leads is not touched */
    assert_int_equal(hand_feed(&h, other_back), 0);
    assert_int_equal(hand_last(&h, PLEAT_DO_START).component, there);
    assert_int_equal(back(&h, 8), 0);
    assert_int_equal(hand_component(&h, here)->state, PLEAT_FINISHING);
    assert_int_equal(hand_component(&h, here)->reason, PLEAT_REASON_START_UNKNOWN);
    assert_int_equal(hand_component(&h, there)->state, PLEAT_CLAIMING);
    assert_int_equal(hand_started(&h, there), 0);
    assert_int_equal(hand_component(&h, there)->state, PLEAT_RUNNING);
    hand_finish(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_start_waits_for_its_agent),
        cmocka_unit_test(test_cancelled_before_any_agent_was_told),
        cmocka_unit_test(test_the_same_agent_is_told_again),
        cmocka_unit_test(test_another_agent_counts_the_start),
        cmocka_unit_test(test_ended_while_it_is_being_started_elsewhere),
        cmocka_unit_test(test_who_starts_once_is_not_started_again),
        cmocka_unit_test(test_who_starts_once_may_start_when_he_surely_has_not),
        cmocka_unit_test(test_who_starts_once_is_neither_preempted_nor_relaunched),
        cmocka_unit_test(test_time_stands_still_while_the_agent_is_away),
        cmocka_unit_test(test_a_resize_that_begins_while_the_agent_is_away),
        cmocka_unit_test(test_a_withdrawal_while_the_agent_is_away),
        cmocka_unit_test(test_a_node_is_gone_and_its_number_is_used_again),
        cmocka_unit_test(test_agents_that_make_no_sense),
        cmocka_unit_test(test_each_node_has_its_agent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
