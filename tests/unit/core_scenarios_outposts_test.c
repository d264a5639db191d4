/* Processes of an evolving job at other sites than its own. A scenario for every row of
 * docs/resize-contract.md about that; the test plays the agents.
 */
#include "core_scenarios_outposts.h"

#include <string.h>

/* ---- asked for, and taken ---- */

static void test_a_request_for_another_site(void **state)
{
    (void)state;
    for (int restarted = 0; restarted < 2; restarted++) {
        struct hand h;
        uint32_t component = begin(&h);
        asks_for(&h, component, THERE, 1);
        has(&h, component, THERE, 0, 1, 0);
        assert_int_equal(buffer(&h, component)->requested, 1);
        if (restarted)
            hand_restart(&h);
        assert_int_equal(hand_last(&h, PLEAT_DO_CLAIM).u.claim.site, THERE);
        struct pleat_effect order = prepare(&h, THERE);
        has(&h, component, THERE, 1, 0, 0);
        assert_int_equal(site_at(&h, THERE)->buffered, 1);
        assert_int_equal(hand_site(&h)->buffered, 0);
        assert_int_equal(demanded(&h, component, 1, 0), 0);
        assert_int_equal(demanded_at(&h, component, THERE, 0, 0), 0);
        assert_int_equal(says(&h, PLEAT_EV_TAKEN, order, 0), 0);
        assert_int_equal(hand_component(&h, component)->processors, 3);
        assert_int_equal(outpost(&h, component, THERE)->taken, 1);
        assert_int_equal(site_at(&h, THERE)->buffered, 0);
        assert_int_equal(hand_site(&h)->claimed, 2);
        if (restarted)
            hand_restart(&h);
        assert_int_equal(hand_exited(&h, component, 0), 0);
        assert_int_equal(hand_release_all(&h), 2);
        assert_int_equal(hand_component(&h, component)->state, PLEAT_DONE);
        assert_int_equal(site_at(&h, THERE)->claimed, 0);
        hand_finish(&h);
    }
}

/* What is free at its own site is for requests that need no other one. */
static void test_each_site_has_requests_of_its_own(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = begin(&h);
    asks_for(&h, component, THERE, 1);
    asks_for(&h, component, FAR, 1);
    assert_int_equal(demanded(&h, component, 3, 3), 0);
    has(&h, component, THERE, 0, 1, 0);
    has(&h, component, FAR, 0, 1, 0);
    assert_int_equal(buffer(&h, component)->requested, 3);
    assert_int_equal(hand_last(&h, PLEAT_DO_CLAIM).u.claim.site, HOME);
    assert_int_equal(pleat_view_lacking(view_of(&h), buffer(&h, component)), 0);
    /* of what is prepared there nothing is for a request at its own site */
    assert_int_equal(demanded_at(&h, component, THERE, 0, 0), 0);
    assert_int_equal(demanded(&h, component, 3, 3), PLEAT_CORE_STALE);
    assert_int_equal(pleat_view_spare_at(view_of(&h), buffer(&h, component), THERE), 1);
    assert_int_equal(pleat_view_spare(view_of(&h), buffer(&h, component)), 0);
    assert_int_equal(pleat_view_lacking_on(view_of(&h), buffer(&h, component), 0), 1);
    hand_finish(&h);
}

/* All of its processors, wherever they are, are within the maximum. */
static void test_the_maximum_is_of_all_sites(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = begin(&h);
    assert_int_equal(demanded_at(&h, component, THERE, 0, 9), 0);
    assert_int_equal(demanded(&h, component, 9, 9), 0);
    has(&h, component, THERE, 0, 3, 0);
    assert_int_equal(hand_limits(&h, component, 1, 4), 0);
    has(&h, component, THERE, 0, 2, 0);
    assert_int_equal(hand_count(&h, PLEAT_DO_RELEASE), 1);
    hand_finish(&h);
}

/* What nobody waits for at its own site goes back before what is waited for elsewhere. */
static void test_what_another_site_waits_for_goes_back_last(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = begin(&h);
    assert_int_equal(demanded(&h, component, 1, 1), 0);
    struct pleat_effect own = prepare(&h, HOME);
    assert_int_equal(demanded(&h, component, 1, 0), 0);
    asks_for(&h, component, THERE, 1);
    (void)prepare(&h, THERE);
    hand_mark(&h);
    assert_int_equal(hand_limits(&h, component, 1, 3), 0);
    assert_int_equal(hand_count(&h, PLEAT_DO_UNPREPARE), 1);
    assert_int_equal(hand_last(&h, PLEAT_DO_UNPREPARE).id, own.id);
    has(&h, component, THERE, 1, 0, 0);
    hand_finish(&h);
}

static void test_an_architecture_at_another_site(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = begin(&h);
    for (uint32_t n = 0; n < 2; n++) {
        struct pleat_event node = {
            .kind = PLEAT_EV_NODE, .component = THERE, .u.node = {.node = n, .slots = 2}};
        assert_int_equal(hand_feed(&h, node), 0);
        struct pleat_event is = {.kind = PLEAT_EV_NODE_ARCHITECTURE,
                                 .component = THERE,
                                 .u.node_architecture = {.node = n, .architecture = n ? ARM : X86}};
        assert_int_equal(hand_feed(&h, is), 0);
    }
    assert_int_equal(demanded_at(&h, component, THERE, ARM, 1), 0);
    asks_for(&h, component, THERE, 1);
    has(&h, component, THERE, 0, 1, 0);
    struct pleat_effect claim = hand_last(&h, PLEAT_DO_CLAIM);
    assert_int_equal(pleat_core_claim(h.core, claim.u.claim.index)->architecture, ARM);
    h.node = 1;
    struct pleat_effect order = prepare(&h, THERE);
    assert_int_equal(hand_count(&h, PLEAT_DO_CLAIM), 1); /* it is for that request */
    assert_int_equal(says(&h, PLEAT_EV_TAKEN, order, 0), 0);
    assert_int_equal(outpost(&h, component, THERE)->taken, 1);
    hand_finish(&h);
}

/* Policies prepare processes at the job's own site only, and take no account of others. */
static void test_policies_prepare_at_its_own_site(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = begin(&h);
    hand_parameter(&h, PLEAT_PARAM_BUFFER_LEVEL, 1);
    asks_for(&h, component, THERE, 1);
    (void)prepare(&h, THERE);
    hand_policy(&h, PLEAT_BUFFER, "periodic");
    assert_int_equal(hand_last(&h, PLEAT_DO_CLAIM).u.claim.site, HOME);
    assert_int_equal(buffer(&h, component)->requested, 1);
    (void)prepare(&h, HOME);
    /* its request is withdrawn: at the next review the process goes back */
    assert_int_equal(demanded_at(&h, component, THERE, 0, 0), 0);
    assert_int_equal(demanded(&h, component, 1, 0), 0);
    has(&h, component, THERE, 1, 0, 0);
    hand_mark(&h);
    hand_sleep(&h, 600 * SECONDS);
    has(&h, component, THERE, 0, 0, 1);
    assert_int_equal(hand_count(&h, PLEAT_DO_UNPREPARE), 1);
    assert_int_equal(hand_last(&h, PLEAT_DO_UNPREPARE).u.claim.site, THERE);
    assert_int_equal(buffer(&h, component)->prepared, 1);
    hand_finish(&h);
}

/* ---- others ---- */

/* Jobs of a site come before those that are led from another one. */
static void test_a_sites_own_jobs_come_first(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = begin(&h);
    uint32_t wide = hand_submit(&h, PLEAT_RIGID, 4, 4, 0);
    hand_gets(&h, wide, 0);
    assert_int_equal(hand_component(&h, wide)->site, THERE);
    asks_for(&h, component, THERE, 1);
    has(&h, component, THERE, 0, 0, 0);
    uint32_t next = hand_submit(&h, PLEAT_RIGID, 4, 4, 0);
    assert_int_equal(hand_exited(&h, wide, 0), 0);
    assert_int_equal(hand_release_all(&h), 1);
    hand_gets(&h, next, 0);
    has(&h, component, THERE, 0, 0, 0);
    assert_int_equal(hand_exited(&h, next, 0), 0);
    assert_int_equal(hand_release_all(&h), 1);
    has(&h, component, THERE, 0, 1, 0);
    hand_finish(&h);
}

static void is_refused(struct hand *h, uint32_t component, const char *why)
{
    assert_int_equal(hand_demand(h, component, 8, false), PLEAT_E_STATE);
    if (!strstr(h->err.text, why))
        fail_msg("%s: not in: %s", why, h->err.text);
}

/* A user who wants more for another job is told who has how many of that job's site. */
static void test_who_has_processors_of_another_site(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = begin(&h);
    asks_for(&h, component, THERE, 1);
    take(&h, component, THERE);
    assert_int_equal(hand_component(&h, component)->processors, 3);
    uint32_t there = hand_run(&h, 3, 8, 3);
    assert_int_equal(hand_component(&h, there)->site, THERE);
    is_refused(&h, there, "0 of 4 may be used for growing now, job 2 has 3, job 1 has 1");
    uint32_t here = hand_run(&h, 2, 8, 2);
    assert_int_equal(hand_component(&h, here)->site, HOME);
    is_refused(&h, here, "0 of 4 may be used for growing now, job 3 has 2, job 1 has 2");
    hand_finish(&h);
}

/* A waiting job of a site gets what is prepared there, also for a job of another site. */
static void test_room_is_made_at_another_site(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = begin(&h);
    asks_for(&h, component, THERE, 1);
    struct pleat_effect order = prepare(&h, THERE);
    hand_policy(&h, PLEAT_APPROACH, "pwa");
    hand_mark(&h);
    uint32_t wide = hand_submit(&h, PLEAT_RIGID, 4, 4, 0);
    assert_int_equal(hand_count(&h, PLEAT_DO_UNPREPARE), 1);
    assert_int_equal(hand_last(&h, PLEAT_DO_UNPREPARE).id, order.id);
    assert_int_equal(buffer(&h, component)->reclaimed, 1);
    assert_int_equal(buffer(&h, component)->reclaimed_for, hand_component(&h, wide)->job);
    assert_int_equal(says(&h, PLEAT_EV_PROCESS_GONE, order, PLEAT_GONE_UNUSED), 0);
    assert_int_equal(hand_release_all(&h), 1);
    hand_gets(&h, wide, 0);
    assert_int_equal(hand_component(&h, wide)->site, THERE);
    hand_finish(&h);
}

/* ---- what goes wrong there ---- */

/* It is the other site's node that cannot start it, and only there nothing is asked for a while. */
static void test_a_process_that_another_site_cannot_start(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = begin(&h);
    uint32_t errors = hand_site(&h)->errors;
    asks_for(&h, component, THERE, 1);
    struct pleat_effect order = give(&h, THERE);
    assert_int_equal(says(&h, PLEAT_EV_PROCESS_GONE, order, PLEAT_GONE_NOT_STARTED), 0);
    assert_int_equal(hand_release_all(&h), 1);
    assert_int_equal(site_at(&h, THERE)->errors, 1);
    assert_int_equal(hand_site(&h)->errors, errors);
    has(&h, component, THERE, 0, 0, 0);
    assert_int_equal(buffer(&h, component)->failures, 0);
    assert_int_equal(demanded(&h, component, 2, 2), 0); /* its own site is asked at once */
    assert_int_equal(hand_last(&h, PLEAT_DO_CLAIM).u.claim.site, HOME);
    (void)prepare(&h, HOME);
    hand_sleep(&h, pleat_parameter_default(PLEAT_PARAM_BACKOFF_US));
    has(&h, component, THERE, 0, 1, 0);
    (void)take(&h, component, THERE);
    assert_int_equal(outpost(&h, component, THERE)->failures, 0);
    hand_finish(&h);
}

static void test_another_site_loses_processes(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = begin(&h);
    asks_for(&h, component, THERE, 1);
    struct pleat_effect taken = take(&h, component, THERE);
    asks_for(&h, component, THERE, 1);
    struct pleat_effect waits = prepare(&h, THERE);
    assert_int_equal(hand_lost(&h, taken), 0);
    assert_int_equal(hand_component(&h, component)->state, PLEAT_RUNNING);
    assert_int_equal(hand_component(&h, component)->processors, 2);
    assert_int_equal(outpost(&h, component, THERE)->taken, 0);
    assert_int_equal(hand_lost(&h, waits), 0);
    assert_int_equal(hand_component(&h, component)->state, PLEAT_RUNNING);
    has(&h, component, THERE, 0, 1, 0); /* its request waits on */
    hand_finish(&h);
}

/* What a site lends for a time only is gone then, and the run goes on. */
static void test_another_site_takes_back_what_it_lent(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = begin(&h);
    asks_for(&h, component, THERE, 1);
    struct pleat_effect taken = take(&h, component, THERE);
    struct pleat_event ends = {.kind = PLEAT_EV_CLAIM_ENDS,
                               .component = taken.u.claim.index,
                               .u.ends = {.claim = taken.id, .end_us = h.now_us + 60 * SECONDS}};
    assert_int_equal(hand_feed(&h, ends), 0);
    hand_sleep(&h, 90 * SECONDS);
    assert_int_equal(hand_component(&h, component)->state, PLEAT_RUNNING);
    assert_int_equal(hand_lost(&h, taken), 0);
    assert_int_equal(hand_component(&h, component)->state, PLEAT_RUNNING);
    assert_int_equal(hand_component(&h, component)->processors, 2);
    hand_finish(&h);
}

/* It is told when its agent is back; the agent that leads has to be there, too. */
static void test_the_agent_of_another_site_is_away(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = begin(&h);
    assert_int_equal(agent(&h, PLEAT_EV_AGENT_BACK, HOME, 0), 0);
    assert_int_equal(agent(&h, PLEAT_EV_AGENT_AWAY, THERE, 0), 0);
    asks_for(&h, component, THERE, 1);
    assert_int_equal(hand_claimed(&h, hand_last(&h, PLEAT_DO_CLAIM), 1), 0);
    assert_int_equal(hand_count(&h, PLEAT_DO_PREPARE), 0);
    assert_int_equal(hand_last(&h, PLEAT_DO_REACH).u.reach.site, THERE);
    assert_int_equal(agent(&h, PLEAT_EV_AGENT_BACK, THERE, 0), 0);
    assert_int_equal(hand_count(&h, PLEAT_DO_PREPARE), 1);
    /* a node of that number at the job's own site is another one */
    hand_mark(&h);
    assert_int_equal(agent(&h, PLEAT_EV_AGENT_AWAY, FAR, 0), 0);
    assert_int_equal(agent(&h, PLEAT_EV_AGENT_BACK, FAR, 0), 0);
    assert_int_equal(hand_count(&h, PLEAT_DO_PREPARE), 0);
    assert_int_equal(agent(&h, PLEAT_EV_AGENT_AWAY, HOME, 0), 0);
    assert_int_equal(agent(&h, PLEAT_EV_AGENT_BACK, HOME, 0), 0);
    assert_int_equal(hand_count(&h, PLEAT_DO_PREPARE), 1);
    hand_finish(&h);
}

static void test_another_site_is_drained(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = begin(&h);
    asks_for(&h, component, THERE, 1);
    struct pleat_effect taken = take(&h, component, THERE);
    assert_int_equal(feed(&h, PLEAT_EV_DRAIN, THERE), 0);
    asks_for(&h, component, THERE, 1);
    has(&h, component, THERE, 0, 0, 0);
    assert_int_equal(outpost(&h, component, THERE)->taken, 1); /* what runs goes on */
    assert_int_equal(feed(&h, PLEAT_EV_SITE_GONE, THERE), PLEAT_E_STATE);
    assert_int_equal(feed(&h, PLEAT_EV_RESUME, THERE), 0);
    has(&h, component, THERE, 0, 1, 0);
    assert_int_equal(says(&h, PLEAT_EV_PROCESS_GONE, taken, PLEAT_GONE_STOPPED), 0);
    assert_int_equal(hand_component(&h, component)->processors, 2);
    hand_finish(&h);
}

/* Another site that takes its place later is not asked. */
static void test_another_site_is_gone(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = begin(&h);
    assert_int_equal(feed(&h, PLEAT_EV_DRAIN, FAR), 0);
    assert_int_equal(demanded_at(&h, component, FAR, 0, 1), 0);
    assert_int_equal(demanded(&h, component, 1, 1), 0);
    assert_int_equal(feed(&h, PLEAT_EV_SITE_GONE, FAR), 0);
    assert_null(outpost(&h, component, FAR));
    assert_int_equal(demanded_at(&h, component, FAR, 0, 2), PLEAT_CORE_STALE);
    hand_mark(&h);
    add_site(&h, FAR, 2);
    assert_int_equal(hand_count(&h, PLEAT_DO_CLAIM), 0);
    hand_finish(&h);
}

/* ---- the end ---- */

static void test_it_ends_with_processes_at_other_sites(void **state)
{
    (void)state;
    for (int way = 0; way < 4; way++) {
        struct hand h;
        uint32_t component = begin(&h);
        asks_for(&h, component, THERE, 1);
        (void)take(&h, component, THERE);
        asks_for(&h, component, THERE, 1);
        struct pleat_effect waits = prepare(&h, THERE);
        asks_for(&h, component, FAR, 1); /* requested only */
        struct pleat_event requeue = {.kind = PLEAT_EV_REQUEUE, .component = component};
        struct pleat_event preempt = {.kind = PLEAT_EV_PREEMPT, .component = component};
        if (way == 1)
            assert_int_equal(hand_cancel(&h, component), 0);
        if (way == 2)
            assert_int_equal(hand_feed(&h, requeue), 0);
        if (way == 3)
            assert_int_equal(hand_feed(&h, preempt), 0);
        hand_mark(&h);
        assert_int_equal(hand_exited(&h, component, 0), 0);
        assert_int_equal(outpost(&h, component, THERE)->waiting, 0);
        assert_int_equal(hand_last(&h, PLEAT_DO_UNPREPARE).id, waits.id);
        assert_int_equal(says(&h, PLEAT_EV_PROCESS_GONE, waits, PLEAT_GONE_UNUSED), 0);
        assert_non_null(outpost(&h, component, THERE));
        assert_int_equal(hand_release_all(&h), 4);
        for (uint32_t s = THERE; s <= FAR; s++) {
            assert_int_equal(site_at(&h, s)->claimed, 0);
            assert_int_equal(site_at(&h, s)->buffered, 0);
        }
        if (way >= 2) { /* the next run begins with nothing elsewhere */
            assert_int_equal(hand_claimed(&h, hand_last(&h, PLEAT_DO_CLAIM), 2), 0);
            assert_int_equal(hand_started(&h, component), 0);
            assert_null(outpost(&h, component, THERE));
            assert_int_equal(buffer(&h, component)->outposts, 0);
        }
        hand_finish(&h);
    }
}

static void test_words_about_other_sites(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = begin(&h);
    assert_int_equal(demanded_at(&h, component, HOME, 0, 1), PLEAT_E_INVALID);
    assert_int_equal(demanded_at(&h, component, 9, 0, 1), PLEAT_E_INVALID);
    assert_int_equal(demanded_at(&h, component, THERE, PLEAT_ARCHITECTURES, 1), PLEAT_E_INVALID);
    assert_int_equal(demanded_at(&h, component, THERE, 0, 0), PLEAT_CORE_STALE);
    asks_for(&h, component, THERE, 1);
    assert_int_equal(demanded_at(&h, component, THERE, 0, 1), PLEAT_CORE_STALE);
    struct pleat_event earlier = {.kind = PLEAT_EV_DEMANDED_AT,
                                  .component = component,
                                  .u.demanded_at = {.run = 99, .site = THERE, .waiting = 2}};
    assert_int_equal(hand_feed(&h, earlier), PLEAT_CORE_STALE);
    /* a decision about a site for which nobody asked */
    struct pleat_event wrong = {.kind = PLEAT_EV_BUFFER,
                                .component = component,
                                .flags = PLEAT_FOR_WAITING,
                                .u.buffer = {.request = 1, .site = FAR + 1}};
    assert_int_equal(hand_feed(&h, wrong), PLEAT_E_STATE);
    wrong.u.buffer.site = 77;
    assert_int_equal(hand_feed(&h, wrong), PLEAT_E_STATE);
    hand_finish(&h);
    /* one that is kept to its node has no processes elsewhere */
    hand_init(&h, 4);
    h.flags = PLEAT_COMPONENT_EVOLVES | PLEAT_COMPONENT_PREPARES;
    component = hand_submit(&h, PLEAT_MOLDABLE, 1, 5, 2);
    assert_int_equal(hand_claimed(&h, hand_last(&h, PLEAT_DO_CLAIM), 2), 0);
    assert_int_equal(hand_started(&h, component), 0);
    add_site(&h, THERE, 4);
    assert_int_equal(demanded_at(&h, component, THERE, 0, 1), PLEAT_E_STATE);
    hand_finish(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_request_for_another_site),
        cmocka_unit_test(test_each_site_has_requests_of_its_own),
        cmocka_unit_test(test_the_maximum_is_of_all_sites),
        cmocka_unit_test(test_what_another_site_waits_for_goes_back_last),
        cmocka_unit_test(test_an_architecture_at_another_site),
        cmocka_unit_test(test_policies_prepare_at_its_own_site),
        cmocka_unit_test(test_a_sites_own_jobs_come_first),
        cmocka_unit_test(test_who_has_processors_of_another_site),
        cmocka_unit_test(test_room_is_made_at_another_site),
        cmocka_unit_test(test_a_process_that_another_site_cannot_start),
        cmocka_unit_test(test_another_site_loses_processes),
        cmocka_unit_test(test_another_site_takes_back_what_it_lent),
        cmocka_unit_test(test_the_agent_of_another_site_is_away),
        cmocka_unit_test(test_another_site_is_drained),
        cmocka_unit_test(test_another_site_is_gone),
        cmocka_unit_test(test_it_ends_with_processes_at_other_sites),
        cmocka_unit_test(test_words_about_other_sites),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
