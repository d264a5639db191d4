/* Requests of an evolving job that any of its sites can serve. A scenario for every row of
 * docs/resize-contract.md about that; the test plays the agents.
 */
#include "core_scenarios_outposts.h"

static int wanted_anywhere(struct hand *h, uint32_t component, uint32_t waiting)
{
    struct pleat_event event = {
        .kind = PLEAT_EV_DEMANDED_ANY,
        .component = component,
        .u.demanded_any = {.run = hand_component(h, component)->run, .waiting = waiting}};
    return hand_feed(h, event);
}

static int named(struct hand *h, uint32_t component, uint32_t site, uint32_t rank)
{
    struct pleat_event event = {
        .kind = PLEAT_EV_SITE_FOR_ANY,
        .component = component,
        .u.site_for_any = {.run = hand_component(h, component)->run, .site = site, .rank = rank}};
    return hand_feed(h, event);
}

/* So many requests wait, all of which any site can serve. */
static void wants(struct hand *h, uint32_t component, uint32_t waiting)
{
    assert_int_equal(wanted_anywhere(h, component, waiting), 0);
    assert_int_equal(demanded(h, component, buffer(h, component)->requests + waiting, waiting), 0);
}

/* Others use so many processors of a site. */
static void fill(struct hand *h, uint32_t site, int32_t processors)
{
    struct pleat_event event = {
        .kind = PLEAT_EV_BACKGROUND, .component = site, .u.site = {.background = processors}};
    assert_int_equal(hand_feed(h, event), 0);
}

/* FAR is named first, then THERE; of HOME `left` processors are free. */
static uint32_t begin_anywhere(struct hand *h, int32_t left)
{
    uint32_t component = begin(h);
    assert_int_equal(named(h, component, THERE, 2), 0);
    assert_int_equal(named(h, component, FAR, 1), 0);
    if (left < 2)
        fill(h, HOME, 2 - left);
    hand_mark(h);
    return component;
}

static int32_t lacking(const struct hand *h, uint32_t component)
{
    return pleat_view_lacking_any(view_of(h), buffer(h, component));
}

/* ---- where they are served ---- */

static void test_its_own_site_then_others_in_their_order(void **state)
{
    (void)state;
    for (int restarted = 0; restarted < 2; restarted++) {
        struct hand h;
        uint32_t component = begin_anywhere(&h, restarted ? 1 : 2);
        assert_int_equal(hand_limits(&h, component, 1, 9), 0);
        if (restarted)
            hand_restart(&h);
        wants(&h, component, 6);
        assert_int_equal(buffer(&h, component)->requested, 6);
        has(&h, component, FAR, 0, 2, 0);
        has(&h, component, THERE, 0, restarted ? 3 : 2, 0);
        assert_int_equal(lacking(&h, component), 0);
        if (restarted)
            hand_restart(&h);
        struct pleat_effect order = prepare(&h, THERE);
        assert_int_equal(demanded(&h, component, 6, 5), 0);
        assert_int_equal(wanted_anywhere(&h, component, 5), 0);
        assert_int_equal(says(&h, PLEAT_EV_TAKEN, order, 0), 0);
        assert_int_equal(hand_component(&h, component)->processors, 3);
        assert_int_equal(outpost(&h, component, THERE)->taken, 1);
        assert_int_equal(buffer(&h, component)->requested, 5);
        assert_int_equal(hand_exited(&h, component, 0), 0);
        assert_int_equal(outpost(&h, component, THERE)->rank, 0);
        hand_finish(&h);
    }
}

/* Those that only its own site can serve get what is free there. */
static void test_requests_for_one_site_come_first(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = begin_anywhere(&h, 1);
    assert_int_equal(wanted_anywhere(&h, component, 1), 0);
    assert_int_equal(demanded_at(&h, component, FAR, 0, 1), 0);
    fill(&h, FAR, 1);
    assert_int_equal(demanded(&h, component, 3, 3), 0);
    assert_int_equal(buffer(&h, component)->requested, 3);
    has(&h, component, FAR, 0, 1, 0);
    has(&h, component, THERE, 0, 1, 0);
    hand_finish(&h);
}

/* It waits where there is none, and the first site that has a processor is asked, and no other. */
static void test_the_first_site_with_room_serves_it(void **state)
{
    (void)state;
    static const uint32_t orders[][3] = {
        {HOME, THERE, FAR}, {THERE, HOME, FAR}, {FAR, HOME, THERE}};
    for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
        struct hand h;
        uint32_t component = begin_anywhere(&h, 0);
        fill(&h, THERE, 4);
        fill(&h, FAR, 2);
        wants(&h, component, 1);
        assert_int_equal(buffer(&h, component)->requested, 0);
        assert_int_equal(lacking(&h, component), 1);
        for (int s = 0; s < 3; s++) {
            fill(&h, orders[i][s], 0);
            assert_int_equal(buffer(&h, component)->requested, 1);
        }
        assert_int_equal(hand_count(&h, PLEAT_DO_CLAIM), 1);
        assert_int_equal(hand_last(&h, PLEAT_DO_CLAIM).u.claim.site, orders[i][0]);
        hand_finish(&h);
    }
}

/* What waits in a site's queue is waited for: no other site is asked for the same. */
static void test_what_waits_in_a_queue_is_not_asked_for_again(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = begin_anywhere(&h, 1);
    wants(&h, component, 1);
    struct pleat_effect claim = hand_last(&h, PLEAT_DO_CLAIM);
    assert_int_equal(claim.u.claim.site, HOME);
    struct pleat_event waits = {.kind = PLEAT_EV_CLAIM_WAITS,
                                .component = claim.u.claim.index,
                                .u.claim = {.claim = claim.id}};
    (void)hand_feed(&h, waits);
    hand_sleep(&h, 600 * SECONDS);
    assert_int_equal(hand_count(&h, PLEAT_DO_CLAIM), 1);
    wants(&h, component, 2); /* one more, which its own site has no room for */
    assert_int_equal(hand_count(&h, PLEAT_DO_CLAIM), 2);
    assert_int_equal(hand_last(&h, PLEAT_DO_CLAIM).u.claim.site, FAR);
    /* its own site refuses: another one is asked now */
    assert_int_equal(hand_claim_failed(&h, claim, PLEAT_REASON_CLAIM_REFUSED), 0);
    assert_int_equal(hand_count(&h, PLEAT_DO_CLAIM), 3);
    assert_int_equal(hand_last(&h, PLEAT_DO_CLAIM).u.claim.site, FAR);
    hand_finish(&h);
}

static void test_the_maximum_holds_for_any_site(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = begin_anywhere(&h, 1);
    wants(&h, component, 9);
    assert_int_equal(buffer(&h, component)->requested, 3);
    has(&h, component, FAR, 0, 2, 0);
    has(&h, component, THERE, 0, 0, 0);
    hand_finish(&h);
}

/* What is there, at any site, is for such requests, too: nothing more is asked for. */
static void test_what_another_site_has_serves_it(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = begin_anywhere(&h, 2);
    hand_parameter(&h, PLEAT_PARAM_BUFFER_LEVEL, 1);
    hand_parameter(&h, PLEAT_PARAM_BUFFER_PENDING, 1);
    asks_for(&h, component, THERE, 1);
    (void)give(&h, THERE);
    hand_policy(&h, PLEAT_BUFFER, "periodic");
    assert_int_equal(hand_last(&h, PLEAT_DO_CLAIM).u.claim.site, HOME);
    hand_mark(&h);
    /* its own site has one on its way, and there a process is started already: that one is kept */
    assert_int_equal(demanded_at(&h, component, THERE, 0, 0), 0);
    assert_int_equal(wanted_anywhere(&h, component, 1), 0);
    assert_int_equal(pleat_view_spare_at(view_of(&h), buffer(&h, component), THERE), 0);
    assert_int_equal(pleat_view_spare(view_of(&h), buffer(&h, component)), 1);
    assert_int_equal(lacking(&h, component), 0);
    hand_sleep(&h, 600 * SECONDS);
    assert_int_equal(hand_count(&h, PLEAT_DO_CLAIM), 0);
    has(&h, component, THERE, 0, 1, 0);
    /* it is not wanted any more: so what is there goes back */
    assert_int_equal(wanted_anywhere(&h, component, 0), 0);
    assert_int_equal(demanded(&h, component, 1, 0), 0);
    hand_sleep(&h, 600 * SECONDS);
    has(&h, component, THERE, 0, 0, 1);
    assert_int_equal(hand_count(&h, PLEAT_DO_UNPREPARE), 1);
    assert_int_equal(hand_last(&h, PLEAT_DO_UNPREPARE).u.claim.site, THERE);
    assert_int_equal(buffer(&h, component)->requested, 1);
    hand_finish(&h);
}

/* Their processes are of the run's architecture, as all for which none is named. */
static void test_any_site_has_the_architecture_of_the_run(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = begin_anywhere(&h, 0);
    for (uint32_t site = THERE; site <= FAR; site++) {
        struct pleat_event node = {
            .kind = PLEAT_EV_NODE, .component = site, .u.node = {.slots = site == THERE ? 4 : 2}};
        assert_int_equal(hand_feed(&h, node), 0);
        struct pleat_event is = {.kind = PLEAT_EV_NODE_ARCHITECTURE,
                                 .component = site,
                                 .u.node_architecture = {.architecture = site == FAR ? ARM : X86}};
        assert_int_equal(hand_feed(&h, is), 0);
    }
    struct pleat_event all = {
        .kind = PLEAT_EV_DEMANDED_ON,
        .flags = PLEAT_FOR_ALL,
        .component = component,
        .u.demanded_on = {.run = hand_component(&h, component)->run, .architecture = X86}};
    assert_int_equal(hand_feed(&h, all), 0);
    wants(&h, component, 1);
    has(&h, component, FAR, 0, 0, 0);
    has(&h, component, THERE, 0, 1, 0);
    hand_finish(&h);
}

/* Jobs of that other site come first. */
static void test_any_sites_own_jobs_come_first(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = begin_anywhere(&h, 0);
    fill(&h, FAR, 2);
    uint32_t wide = hand_submit(&h, PLEAT_RIGID, 4, 4, 0);
    hand_gets(&h, wide, 0);
    assert_int_equal(hand_component(&h, wide)->site, THERE);
    wants(&h, component, 1);
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

/* ---- what goes wrong ---- */

/* A site that cannot start it is passed over for a while, and the next one is asked at once. */
static void test_a_site_that_fails_is_passed_over(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = begin_anywhere(&h, 0);
    fill(&h, FAR, 1);
    wants(&h, component, 1);
    struct pleat_effect order = give(&h, FAR);
    assert_int_equal(says(&h, PLEAT_EV_PROCESS_GONE, order, PLEAT_GONE_DIED), 0);
    assert_int_equal(hand_release_all(&h), 1);
    has(&h, component, FAR, 0, 0, 0);
    has(&h, component, THERE, 0, 1, 0);
    order = give(&h, THERE);
    assert_int_equal(says(&h, PLEAT_EV_PROCESS_GONE, order, PLEAT_GONE_DIED), 0);
    assert_int_equal(hand_release_all(&h), 1);
    assert_int_equal(buffer(&h, component)->requested, 0);
    hand_sleep(&h, pleat_parameter_default(PLEAT_PARAM_BACKOFF_US));
    has(&h, component, FAR, 0, 1, 0);
    assert_int_equal(buffer(&h, component)->requested, 1);
    hand_finish(&h);
}

static void test_sites_that_are_drained_or_gone_are_passed_over(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = begin_anywhere(&h, 0);
    assert_int_equal(feed(&h, PLEAT_EV_DRAIN, FAR), 0);
    wants(&h, component, 1);
    has(&h, component, THERE, 0, 1, 0);
    assert_int_equal(feed(&h, PLEAT_EV_SITE_GONE, FAR), 0);
    assert_null(outpost(&h, component, FAR));
    assert_int_equal(named(&h, component, FAR, 1), PLEAT_CORE_STALE);
    assert_int_equal(named(&h, component, THERE, 0), 0); /* it is to be removed, too */
    wants(&h, component, 2);
    assert_int_equal(buffer(&h, component)->requested, 1); /* what was asked for comes yet */
    fill(&h, HOME, 0);
    assert_int_equal(buffer(&h, component)->requested, 2);
    assert_int_equal(hand_last(&h, PLEAT_DO_CLAIM).u.claim.site, HOME);
    hand_finish(&h);
}

static void test_words_about_any_site(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = begin(&h);
    assert_int_equal(named(&h, component, HOME, 1), PLEAT_E_INVALID);
    assert_int_equal(named(&h, component, 9, 1), PLEAT_E_INVALID);
    assert_int_equal(named(&h, component, THERE, 0), PLEAT_CORE_STALE);
    assert_null(outpost(&h, component, THERE));
    assert_int_equal(named(&h, component, THERE, 1), 0);
    assert_int_equal(named(&h, component, THERE, 1), PLEAT_CORE_STALE);
    assert_int_equal(wanted_anywhere(&h, component, 0), PLEAT_CORE_STALE);
    struct pleat_event earlier = {.kind = PLEAT_EV_DEMANDED_ANY,
                                  .component = component,
                                  .u.demanded_any = {.run = 99, .waiting = 2}};
    assert_int_equal(hand_feed(&h, earlier), PLEAT_CORE_STALE);
    struct pleat_event site = {.kind = PLEAT_EV_SITE_FOR_ANY,
                               .component = component,
                               .u.site_for_any = {.run = 99, .site = FAR, .rank = 2}};
    assert_int_equal(hand_feed(&h, site), PLEAT_CORE_STALE);
    /* more than wait at all: both are said one after the other */
    assert_int_equal(wanted_anywhere(&h, component, 3), 0);
    assert_int_equal(lacking(&h, component), 0);
    assert_int_equal(demanded(&h, component, 1, 1), 0);
    assert_int_equal(buffer(&h, component)->requested, 1);
    hand_finish(&h);
}

/* A job that keeps to one node, or whose agent prepares nothing. */
static void test_others_have_no_requests_for_any_site(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 4);
    add_site(&h, THERE, 4);
    h.flags = PLEAT_COMPONENT_EVOLVES | PLEAT_COMPONENT_PREPARES;
    uint32_t component = hand_submit(&h, PLEAT_MOLDABLE, 1, 5, 2);
    hand_gets(&h, component, 0);
    h.flags = PLEAT_COMPONENT_EVOLVES;
    uint32_t other = hand_submit(&h, PLEAT_MOLDABLE, 1, 5, 2);
    hand_gets(&h, other, 0);
    uint32_t next = hand_component(&h, component)->site == HOME ? THERE : HOME;
    assert_int_equal(named(&h, component, next, 1), PLEAT_E_STATE);
    assert_int_equal(wanted_anywhere(&h, component, 1), 0); /* its own site is one of any */
    assert_int_equal(wanted_anywhere(&h, other, 1), PLEAT_CORE_STALE);
    hand_finish(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_its_own_site_then_others_in_their_order),
        cmocka_unit_test(test_requests_for_one_site_come_first),
        cmocka_unit_test(test_the_first_site_with_room_serves_it),
        cmocka_unit_test(test_what_waits_in_a_queue_is_not_asked_for_again),
        cmocka_unit_test(test_the_maximum_holds_for_any_site),
        cmocka_unit_test(test_what_another_site_has_serves_it),
        cmocka_unit_test(test_any_site_has_the_architecture_of_the_run),
        cmocka_unit_test(test_any_sites_own_jobs_come_first),
        cmocka_unit_test(test_a_site_that_fails_is_passed_over),
        cmocka_unit_test(test_sites_that_are_drained_or_gone_are_passed_over),
        cmocka_unit_test(test_words_about_any_site),
        cmocka_unit_test(test_others_have_no_requests_for_any_site),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
