/* Processes that an application has added, and that are prepared for it, when their site takes
 * their processors back. A scenario for every row of docs/resize-contract.md about that; the test
 * plays the agents.
 */
#include "core_scenarios_outposts.h"

/* Processes of the job leave in time, or not. */
static uint32_t begin_leaving(struct hand *h, int64_t leaves)
{
    uint32_t component = begin(h);
    hand_parameter(h, PLEAT_PARAM_SHRINK_OFF_US, 30 * SECONDS);
    hand_parameter(h, PLEAT_PARAM_LEAVE_PROCESSES, leaves);
    hand_mark(h);
    return component;
}

/* The application asks for a process, and one is prepared for it. */
static struct pleat_effect prepared(struct hand *h, uint32_t component, uint32_t site)
{
    if (site != HOME)
        assert_int_equal(demanded_at(h, component, site, 0, 1), 0);
    assert_int_equal(demanded(h, component, buffer(h, component)->requests + 1, 1), 0);
    return prepare(h, site);
}

/* ... and is handed over. */
static struct pleat_effect added(struct hand *h, uint32_t component, uint32_t site)
{
    struct pleat_effect order = prepared(h, component, site);
    assert_int_equal(demanded(h, component, buffer(h, component)->requests, 0), 0);
    if (site != HOME)
        assert_int_equal(demanded_at(h, component, site, 0, 0), 0);
    assert_int_equal(says(h, PLEAT_EV_TAKEN, order, 0), 0);
    hand_mark(h);
    return order;
}

static int ends(struct hand *h, struct pleat_effect about, int64_t in_us, bool taken)
{
    struct pleat_event event = {.kind = PLEAT_EV_CLAIM_ENDS,
                                .component = about.u.claim.index,
                                .u.ends = {.claim = about.id,
                                           .end_us = h->now_us + in_us,
                                           .reason = taken ? PLEAT_REASON_TAKEN : 0}};
    return hand_feed(h, event);
}

static void runs_on(const struct hand *h, uint32_t component, int32_t processors)
{
    assert_int_equal(hand_component(h, component)->state, PLEAT_RUNNING);
    assert_int_equal(hand_component(h, component)->processors, processors);
}

static void is_told(const struct hand *h, struct pleat_effect process, int times)
{
    assert_int_equal(hand_count(h, PLEAT_DO_LEAVE), times);
    if (times > 0)
        assert_int_equal(hand_last(h, PLEAT_DO_LEAVE).id, process.id);
}

/* Shrinking off takes 30 s, and a notice and the grace come before. */
static void test_a_process_leaves_before_its_time_is_over(void **state)
{
    (void)state;
    for (uint32_t site = HOME; site <= THERE; site++) {
        for (int restarted = 0; restarted < 2; restarted++) {
            struct hand h;
            uint32_t component = begin_leaving(&h, 1);
            struct pleat_effect process = added(&h, component, site);
            assert_int_equal(ends(&h, process, 1000 * SECONDS, false), 0);
            if (restarted)
                hand_restart(&h);
            hand_sleep(&h, 800 * SECONDS);
            is_told(&h, process, 0);
            hand_sleep(&h, 175 * SECONDS);
            is_told(&h, process, 1); /* once */
            runs_on(&h, component, 3);
            assert_int_equal(says(&h, PLEAT_EV_PROCESS_GONE, process, PLEAT_GONE_STOPPED), 0);
            runs_on(&h, component, 2);
            assert_int_equal(hand_last(&h, PLEAT_DO_RELEASE).id, process.id);
            hand_sleep(&h, 100 * SECONDS);
            runs_on(&h, component, 2);
            hand_finish(&h);
        }
    }
}

/* Somebody ends its allocation. */
static void test_a_process_leaves_at_once_what_is_taken(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = begin_leaving(&h, 1);
    struct pleat_effect process = added(&h, component, HOME);
    assert_int_equal(ends(&h, process, 20 * SECONDS, true), 0);
    is_told(&h, process, 1);
    assert_int_equal(ends(&h, process, 15 * SECONDS, true), 0); /* sooner: it was told already */
    is_told(&h, process, 1);
    assert_int_equal(says(&h, PLEAT_EV_PROCESS_GONE, process, PLEAT_GONE_STOPPED), 0);
    runs_on(&h, component, 2);
    hand_sleep(&h, 60 * SECONDS);
    runs_on(&h, component, 2);
    hand_finish(&h);
}

/* It is lost with its processor, and the run goes on. */
static void test_a_process_does_not_leave(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = begin_leaving(&h, 1);
    struct pleat_effect process = added(&h, component, HOME);
    assert_int_equal(ends(&h, process, 20 * SECONDS, true), 0);
    hand_sleep(&h, 30 * SECONDS);
    runs_on(&h, component, 3);
    assert_int_equal(hand_lost(&h, process), 0);
    runs_on(&h, component, 2);
    hand_finish(&h);
}

/* It is given back; if the application was quicker it is told to leave. */
static void test_what_is_prepared_is_given_back_before(void **state)
{
    (void)state;
    for (int taken = 0; taken < 2; taken++) {
        struct hand h;
        uint32_t component = begin_leaving(&h, 1);
        struct pleat_effect process = prepared(&h, component, HOME);
        assert_int_equal(demanded(&h, component, 1, 0), 0);
        hand_mark(&h);
        assert_int_equal(ends(&h, process, 1000 * SECONDS, false), 0);
        hand_sleep(&h, 975 * SECONDS);
        assert_int_equal(hand_last(&h, PLEAT_DO_UNPREPARE).id, process.id);
        is_told(&h, process, 0);
        if (taken) {
            assert_int_equal(says(&h, PLEAT_EV_TAKEN, process, 0), 0);
            is_told(&h, process, 1);
            runs_on(&h, component, 3);
        }
        uint32_t reason = taken ? PLEAT_GONE_STOPPED : PLEAT_GONE_UNUSED;
        assert_int_equal(says(&h, PLEAT_EV_PROCESS_GONE, process, reason), 0);
        assert_int_equal(hand_last(&h, PLEAT_DO_RELEASE).id, process.id);
        runs_on(&h, component, 2);
        hand_finish(&h);
    }
}

/* The agent that leads the run, or that of the node, is away: it is told when it is back. */
static void test_the_agent_is_away_when_it_is_to_leave(void **state)
{
    (void)state;
    for (uint32_t away = HOME; away <= THERE; away++) {
        struct hand h;
        uint32_t component = begin_leaving(&h, 1);
        struct pleat_effect process = added(&h, component, THERE);
        assert_int_equal(agent(&h, PLEAT_EV_AGENT_BACK, away, 0), 0);
        assert_int_equal(agent(&h, PLEAT_EV_AGENT_AWAY, away, 0), 0);
        assert_int_equal(ends(&h, process, 20 * SECONDS, true), 0);
        is_told(&h, process, 0);
        assert_int_equal(hand_last(&h, PLEAT_DO_REACH).u.reach.site, away);
        assert_int_equal(agent(&h, PLEAT_EV_AGENT_BACK, away, 0), 0);
        is_told(&h, process, 1);
        hand_finish(&h);
    }
}

/* From the node of the first claim the run is led. */
static void test_the_time_of_the_first_claim_is_over(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = begin_leaving(&h, 1);
    uint32_t index = hand_component(&h, component)->first_claim;
    struct pleat_effect first = {
        .id = pleat_core_claim(h.core, index)->id, .component = component, .u.claim.index = index};
    assert_int_equal(ends(&h, first, 100 * SECONDS, false), 0);
    hand_sleep(&h, 99 * SECONDS);
    is_told(&h, first, 0);
    runs_on(&h, component, 2);
    hand_sleep(&h, 2 * SECONDS);
    assert_int_equal(hand_last(&h, PLEAT_DO_KILL).u.run.reason, PLEAT_REASON_SITE_TIME);
    hand_finish(&h);
}

/* As logs say that were written before. */
static void test_processes_are_not_to_leave(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = begin_leaving(&h, 0);
    struct pleat_effect process = added(&h, component, HOME);
    assert_int_equal(ends(&h, process, 100 * SECONDS, false), 0);
    hand_sleep(&h, 101 * SECONDS);
    is_told(&h, process, 0);
    assert_int_equal(hand_last(&h, PLEAT_DO_KILL).u.run.reason, PLEAT_REASON_SITE_TIME);
    hand_finish(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_process_leaves_before_its_time_is_over),
        cmocka_unit_test(test_a_process_leaves_at_once_what_is_taken),
        cmocka_unit_test(test_a_process_does_not_leave),
        cmocka_unit_test(test_what_is_prepared_is_given_back_before),
        cmocka_unit_test(test_the_agent_is_away_when_it_is_to_leave),
        cmocka_unit_test(test_the_time_of_the_first_claim_is_over),
        cmocka_unit_test(test_processes_are_not_to_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
