/* Who gets free processors first, when room is made, where and at which size a job starts: Buisson
 * et al. 2007, IV-A and V-B, and what Pleat takes where the paper is silent. */
#include "policy_bench.h"

static uint32_t malleable(struct bench *bench, uint32_t site, int32_t size, int32_t minimum,
                          int32_t maximum)
{
    return bench_run(bench, site, PLEAT_MALLEABLE, size, minimum, maximum);
}

static bool starts(const struct bench *bench, uint32_t component)
{
    const struct pleat_event *decision = bench_decision(bench, component);
    return decision && decision->kind == PLEAT_EV_START;
}

static const struct pleat_event *shrinks(const struct bench *bench, uint32_t component)
{
    const struct pleat_event *decision = bench_decision(bench, component);
    return decision && decision->kind == PLEAT_EV_RESIZE && decision->u.resize.accepted < 0
               ? decision
               : NULL;
}

/* ---- PRA ---- */

static void test_pra_grows_before_it_starts(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    bench_policy(&b, &pleat_policy_pra);
    uint32_t site = bench_site(&b, 16, 0);
    uint32_t running = malleable(&b, site, 4, 2, 10);
    uint32_t waiting = bench_wait(&b, PLEAT_RIGID, 4, 4, 0);
    bench_decide(&b);
    assert_int_equal(bench_after(&b, running), 10); /* as far as it goes; then there is room */
    assert_true(starts(&b, waiting));
    bench_finish(&b);
}

static void test_pra_lets_nothing_for_waiters(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    bench_policy(&b, &pleat_policy_pra);
    uint32_t site = bench_site(&b, 16, 0);
    uint32_t running = malleable(&b, site, 4, 2, 46);
    uint32_t waiting = bench_wait(&b, PLEAT_MALLEABLE, 2, 46, 0);
    bench_decide(&b);
    assert_int_equal(bench_after(&b, running), 16);
    assert_false(starts(&b, waiting));
    assert_null(shrinks(&b, running));
    bench_finish(&b);
}

/* A job in a resize that would take more afterwards can still be grown: all waiters are held. */
static void test_pra_holds_waiters_while_somebody_can_grow(void **state)
{
    (void)state;
    enum pleat_job_kind kinds[] = {PLEAT_RIGID, PLEAT_MOLDABLE, PLEAT_MALLEABLE};
    for (int k = 0; k < 3; k++) {
        struct bench b;
        bench_init(&b);
        bench_policy(&b, &pleat_policy_pra);
        uint32_t site = bench_site(&b, 16, 0);
        uint32_t running = malleable(&b, site, 4, 2, 10);
        bench_resizing(&b, running, 6);
        uint32_t waiting = bench_wait(&b, kinds[k], 4, 4, 0);
        bench_decide(&b);
        assert_int_equal(b.plan.decisions.count, 0);
        assert_false(starts(&b, waiting));
        bench_finish(&b);
    }
}

static void test_pra_starts_when_the_resize_leads_to_the_limit(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    bench_policy(&b, &pleat_policy_pra);
    uint32_t site = bench_site(&b, 16, 0);
    uint32_t running = malleable(&b, site, 4, 2, 6);
    bench_resizing(&b, running, 6);
    uint32_t waiting = bench_wait(&b, PLEAT_RIGID, 4, 4, 0);
    bench_decide(&b);
    assert_true(starts(&b, waiting));
    bench_finish(&b);
}

static void test_pra_never_shrinks(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    bench_policy(&b, &pleat_policy_pra);
    uint32_t site = bench_site(&b, 16, 0);
    malleable(&b, site, 16, 2, 46);
    bench_wait(&b, PLEAT_RIGID, 2, 2, 0);
    bench_decide(&b);
    assert_int_equal(b.plan.decisions.count, 0);
    bench_finish(&b);
}

/* ---- PWA ---- */

static void test_pwa_starts_before_it_grows(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    uint32_t site = bench_site(&b, 16, 0);
    uint32_t running = malleable(&b, site, 4, 2, 46);
    uint32_t waiting = bench_wait(&b, PLEAT_RIGID, 5, 5, 0);
    bench_decide(&b);
    assert_true(starts(&b, waiting));
    assert_int_equal(bench_after(&b, running), 11);
    bench_finish(&b);
}

static void test_pwa_shrinks_by_what_the_minimum_needs(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    bench_policy(&b, &pleat_policy_fpsma);
    uint32_t site = bench_site(&b, 16, 0);
    uint32_t old = malleable(&b, site, 7, 2, 46), young = malleable(&b, site, 7, 2, 46);
    uint32_t waiting = bench_wait(&b, PLEAT_MALLEABLE, 4, 46, 12);
    bench_decide(&b);
    const struct pleat_event *shrink = shrinks(&b, young);
    assert_non_null(shrink);
    assert_int_equal(shrink->u.resize.processors, 5); /* 2 are free, 4 needed */
    assert_true(shrink->flags & PLEAT_MANDATORY);
    assert_int_equal(shrink->u.resize.waiter, waiting);
    assert_null(bench_decision(&b, old)); /* and the 2 free ones are held for it */
    assert_false(starts(&b, waiting));
    assert_int_equal(pleat_plan_growable(&b.plan, site), 0);
    bench_finish(&b);
}

static void test_pwa_does_not_shrink_in_vain(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    uint32_t site = bench_site(&b, 16, 0);
    uint32_t a = malleable(&b, site, 6, 4, 46), c = malleable(&b, site, 6, 4, 46);
    uint32_t waiting = bench_wait(&b, PLEAT_RIGID, 9, 9, 0); /* 4 free + 4 to be had */
    bench_decide(&b);
    assert_false(starts(&b, waiting));
    assert_null(shrinks(&b, a));
    assert_null(shrinks(&b, c));
    /* "the running malleable jobs are considered for growing" */
    assert_int_equal(bench_after(&b, a) + bench_after(&b, c), 16);
    bench_finish(&b);
}

/* What constraints on sizes leave is found out only by asking: then all is taken back. */
static void test_pwa_takes_back_offers_that_did_not_suffice(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    bench_policy(&b, &pleat_policy_none); /* agrees to nothing */
    uint32_t site = bench_site(&b, 16, 0);
    malleable(&b, site, 16, 4, 46);
    bench_wait(&b, PLEAT_RIGID, 4, 4, 0);
    bench_decide(&b);
    assert_int_equal(b.plan.decisions.count, 0);
    assert_false(b.plan.sites[site].withheld);
    bench_finish(&b);
}

/* ---- PWA next ---- */

/* 4 are free and 4 can be had: not the 9 that the first wants, but the 6 of the second. */
static void cannot_but_next_can(struct bench *b, uint32_t waiting[3])
{
    bench_init(b);
    uint32_t site = bench_site(b, 16, 0);
    malleable(b, site, 6, 4, 46);
    malleable(b, site, 6, 4, 46);
    waiting[0] = bench_wait(b, PLEAT_RIGID, 9, 9, 0);
    waiting[1] = bench_wait(b, PLEAT_RIGID, 6, 6, 0);
    waiting[2] = bench_wait(b, PLEAT_RIGID, 5, 5, 0);
}

static void test_pwa_next_makes_room_for_the_first_for_which_it_can(void **state)
{
    (void)state;
    struct bench b;
    uint32_t waiting[3];
    cannot_but_next_can(&b, waiting);
    bench_policy(&b, &pleat_policy_pwa_next);
    bench_policy(&b, &pleat_policy_scan);
    bench_decide(&b);
    int32_t given = 0;
    for (uint32_t component = 0; component < 2; component++) {
        const struct pleat_event *shrink = shrinks(&b, component);
        given += shrink ? -shrink->u.resize.accepted : 0;
        assert_true(!shrink || shrink->u.resize.waiter == waiting[1]);
        assert_true(bench_after(&b, component) <= 6); /* what is free is held for it */
    }
    assert_int_equal(given, 2);
    for (int i = 0; i < 3; i++)
        assert_false(starts(&b, waiting[i]));
    bench_finish(&b);
}

/* One that could not use the room before the head has started: nobody is shrunk, as by PWA. */
static void test_pwa_next_is_pwa_behind_a_head_that_blocks(void **state)
{
    (void)state;
    static const struct pleat_policy *const queues[] = {&pleat_policy_fcfs, &pleat_policy_easy,
                                                        &pleat_policy_conservative};
    for (int i = 0; i < 3; i++) {
        struct bench b;
        uint32_t waiting[3];
        cannot_but_next_can(&b, waiting);
        bench_policy(&b, &pleat_policy_pwa_next);
        bench_policy(&b, queues[i]);
        bench_decide(&b);
        assert_int_equal(bench_after(&b, 0) + bench_after(&b, 1), 16);
        bench_finish(&b);
    }
}

/* A malleable one that has not enough yet is not passed over. */
static void test_pwa_next_passes_over_rigid_ones_only(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    bench_policy(&b, &pleat_policy_pwa_next);
    bench_policy(&b, &pleat_policy_scan);
    uint32_t site = bench_site(&b, 16, 0);
    uint32_t running = malleable(&b, site, 12, 8, 46);
    bench_wait(&b, PLEAT_MALLEABLE, 9, 20, 0);
    bench_wait(&b, PLEAT_RIGID, 6, 6, 0);
    bench_decide(&b);
    assert_int_equal(bench_after(&b, running), 16);
    bench_finish(&b);
}

/* Its turn comes first where room can be made for it. */
static void test_pwa_next_begins_with_the_first(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    bench_policy(&b, &pleat_policy_pwa_next);
    bench_policy(&b, &pleat_policy_scan);
    uint32_t site = bench_site(&b, 16, 0);
    uint32_t running = malleable(&b, site, 12, 2, 46);
    uint32_t first = bench_wait(&b, PLEAT_RIGID, 8, 8, 0);
    bench_wait(&b, PLEAT_RIGID, 6, 6, 0);
    bench_decide(&b);
    const struct pleat_event *shrink = shrinks(&b, running);
    assert_non_null(shrink);
    assert_int_equal(shrink->u.resize.waiter, first);
    assert_int_equal(shrink->u.resize.processors, 8);
    bench_finish(&b);
}

/* Gets processors back from the latest started job only. */
static int32_t shrink_newest(struct pleat_pass *pass, uint32_t site, int32_t processors,
                             uint32_t waiter)
{
    uint32_t newest = pleat_malleable_newest(pass->view, site);
    return processors - pleat_plan_offer_shrink(pass->plan, newest, processors, waiter);
}

static int32_t grow_nobody(struct pleat_pass *pass, uint32_t site, int32_t processors)
{
    (void)pass;
    (void)site;
    return processors;
}

static void test_pwa_takes_back_what_was_agreed_in_vain(void **state)
{
    (void)state;
    static const struct pleat_policy newest_only = {
        .question = PLEAT_MALLEABILITY, .grow = grow_nobody, .shrink = shrink_newest};
    struct bench b;
    bench_init(&b);
    bench_policy(&b, &newest_only);
    uint32_t site = bench_site(&b, 16, 0);
    malleable(&b, site, 12, 2, 46);
    malleable(&b, site, 4, 2, 46); /* gives 2, and 6 are needed */
    bench_wait(&b, PLEAT_RIGID, 6, 6, 0);
    bench_decide(&b);
    assert_int_equal(b.plan.decisions.count, 0);
    assert_false(b.plan.sites[site].withheld);
    bench_finish(&b);
}

static void test_pwa_does_not_ask_twice_for_what_comes(void **state)
{
    (void)state;
    for (int how = 0; how < 4; how++) {
        struct bench b;
        bench_init(&b);
        uint32_t site = bench_site(&b, 16, 0);
        uint32_t a = malleable(&b, site, 6, 2, 46), c = malleable(&b, site, 6, 2, 46);
        uint32_t waiting = bench_wait(&b, PLEAT_RIGID, 6, 6, 0);
        b.sites[site].claimed = how == 3 ? 2 : 4; /* 0 free; with earmarks 2 of them are counted */
        switch (how) {
        case 0: /* being shrunk away for it */
            b.components[waiting].coming = 6;
            b.components[waiting].site = site;
            break;
        case 1: /* being released */
            b.sites[site].releasing = 6;
            break;
        case 2: /* being shrunk away for nobody in particular */
            b.sites[site].coming = 6;
            break;
        default: /* 2 earmarked, 4 coming */
            b.components[waiting].earmarked = 2;
            b.components[waiting].coming = 4;
            b.components[waiting].site = site;
        }
        bench_decide(&b);
        assert_null(bench_decision(&b, a));
        assert_null(bench_decision(&b, c));
        assert_true(b.plan.sites[site].withheld);
        bench_finish(&b);
    }
}

static void test_pwa_makes_room_where_least_is_missing(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    uint32_t first = bench_site(&b, 16, 0), second = bench_site(&b, 16, 0);
    uint32_t a = malleable(&b, first, 15, 2, 46), c = malleable(&b, second, 13, 2, 46);
    bench_wait(&b, PLEAT_RIGID, 6, 6, 0);
    bench_decide(&b);
    assert_null(shrinks(&b, a));
    assert_int_equal(bench_after(&b, a), 16); /* elsewhere growing goes on */
    assert_int_equal(bench_after(&b, c), 10);
    assert_true(b.plan.sites[second].withheld);
    bench_finish(&b);
}

static void test_pwa_stays_with_the_site_once_chosen(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    uint32_t first = bench_site(&b, 16, 0), second = bench_site(&b, 16, 0);
    uint32_t a = malleable(&b, first, 14, 2, 46), c = malleable(&b, second, 13, 2, 46);
    uint32_t waiting = bench_wait(&b, PLEAT_RIGID, 6, 6, 0);
    b.components[waiting].site = first;
    b.components[waiting].earmarked = 2;
    bench_decide(&b);
    assert_int_equal(bench_after(&b, a), 10);
    assert_null(shrinks(&b, c));
    bench_finish(&b);
}

static void test_pwa_makes_room_only_where_the_job_may_run(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    uint32_t small = bench_site(&b, 4, 0), wide = bench_site(&b, 16, 0),
             wanted = bench_site(&b, 16, 0);
    uint32_t a = malleable(&b, small, 4, 1, 46), c = malleable(&b, wide, 12, 2, 46),
             d = malleable(&b, wanted, 16, 2, 46);
    uint32_t waiting = bench_wait(&b, PLEAT_RIGID, 6, 6, 0);
    b.components[waiting].wanted_site = wanted;
    bench_decide(&b);
    assert_null(shrinks(&b, a));
    assert_null(shrinks(&b, c));
    assert_int_equal(bench_after(&b, d), 10);
    bench_finish(&b);
}

/* A job in a resize cannot be shrunk now: what can be had is taken, the rest waited for. */
static void test_pwa_waits_for_a_resize_to_be_over(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    uint32_t site = bench_site(&b, 16, 0);
    uint32_t busy = malleable(&b, site, 8, 2, 46), free_to = malleable(&b, site, 6, 4, 46);
    bench_resizing(&b, busy, 10);
    bench_wait(&b, PLEAT_RIGID, 6, 6, 0);
    bench_decide(&b);
    assert_null(bench_decision(&b, busy));
    assert_int_equal(bench_after(&b, free_to), 4);
    assert_true(b.plan.sites[site].withheld);
    bench_finish(&b);
}

/* Two sites of 16: what is free at the first could go to a; at the second c gives 4 to the waiting
 * job of 7, for which 3 are free there. */
static void room_at_the_second(struct bench *b, const struct pleat_policy *approach,
                               int32_t c_minimum, uint32_t jobs[3])
{
    bench_init(b);
    bench_policy(b, approach);
    uint32_t first = bench_site(b, 16, 0), second = bench_site(b, 16, 0);
    jobs[0] = malleable(b, first, 14, 14, 46);
    jobs[1] = malleable(b, second, 13, c_minimum, 46);
    jobs[2] = bench_wait(b, PLEAT_RIGID, 7, 7, 0);
}

/* V-B, "if it is however impossible": while room is made at one site nobody grows at another. */
static void test_pwa_printed_grows_nobody_while_room_is_made(void **state)
{
    (void)state;
    static const struct {
        const struct pleat_policy *approach;
        int32_t first;
    } cases[] = {{&pleat_policy_pwa, 16}, {&pleat_policy_pwa_printed, 14}};
    for (int i = 0; i < 2; i++) {
        struct bench b;
        uint32_t jobs[3];
        room_at_the_second(&b, cases[i].approach, 2, jobs);
        bench_decide(&b);
        assert_int_equal(bench_after(&b, jobs[0]), cases[i].first);
        const struct pleat_event *shrink = shrinks(&b, jobs[1]);
        assert_non_null(shrink);
        assert_int_equal(shrink->u.resize.processors, 9);
        assert_int_equal(shrink->u.resize.waiter, jobs[2]);
        bench_finish(&b);
    }
}

/* Neither while the room that was made before is on its way. */
static void test_pwa_printed_grows_nobody_until_the_room_is_there(void **state)
{
    (void)state;
    struct bench b;
    uint32_t jobs[3];
    room_at_the_second(&b, &pleat_policy_pwa_printed, 2, jobs);
    bench_resizing(&b, jobs[1], 9);
    b.components[jobs[2]].site = b.components[jobs[1]].site;
    b.components[jobs[2]].earmarked = 3;
    b.components[jobs[2]].coming = 4;
    bench_decide(&b);
    assert_null(bench_decision(&b, jobs[0]));
    assert_false(starts(&b, jobs[2]));
    bench_finish(&b);
}

/* Where it is impossible, or nobody waits, all are considered for growing. */
static void test_pwa_printed_grows_where_room_is_impossible(void **state)
{
    (void)state;
    for (int waits = 0; waits < 2; waits++) {
        struct bench b;
        uint32_t jobs[3];
        room_at_the_second(&b, &pleat_policy_pwa_printed, 10, jobs); /* 3 + 3 of the 7 */
        if (!waits)
            b.view.queue_first = PLEAT_NONE;
        bench_decide(&b);
        assert_int_equal(bench_after(&b, jobs[0]), 16);
        assert_int_equal(bench_after(&b, jobs[1]), 16);
        bench_finish(&b);
    }
}

/* ---- queue ---- */

static void test_scan_overtakes_fcfs_does_not(void **state)
{
    (void)state;
    const struct pleat_policy *queues[] = {&pleat_policy_fcfs, &pleat_policy_scan};
    for (int q = 0; q < 2; q++) {
        struct bench b;
        bench_init(&b);
        bench_policy(&b, queues[q]);
        uint32_t site = bench_site(&b, 16, 0);
        bench_run(&b, site, PLEAT_RIGID, 10, 10, 10);
        uint32_t fits = bench_wait(&b, PLEAT_RIGID, 2, 2, 0);
        uint32_t large = bench_wait(&b, PLEAT_RIGID, 8, 8, 0);
        uint32_t small = bench_wait(&b, PLEAT_RIGID, 3, 3, 0);
        bench_decide(&b);
        assert_true(starts(&b, fits));
        assert_false(starts(&b, large));
        assert_int_equal(starts(&b, small), q == 1);
        bench_finish(&b);
    }
}

static void test_room_is_made_for_the_first_that_waits(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    bench_policy(&b, &pleat_policy_scan);
    uint32_t site = bench_site(&b, 16, 0);
    uint32_t running = malleable(&b, site, 16, 2, 46);
    uint32_t first = bench_wait(&b, PLEAT_RIGID, 4, 4, 0);
    bench_wait(&b, PLEAT_RIGID, 2, 2, 0);
    bench_decide(&b);
    assert_int_equal(shrinks(&b, running)->u.resize.waiter, first);
    assert_int_equal(bench_after(&b, running), 12);
    bench_finish(&b);
}

static void test_tries_are_counted_only_where_limited(void **state)
{
    (void)state;
    for (int limit = 0; limit < 2; limit++) {
        struct bench b;
        bench_init(&b);
        bench_policy(&b, &pleat_policy_scan);
        bench_site(&b, 16, 0);
        b.sites[0].background = 16;
        b.view.max_tries = limit;
        uint32_t fresh = bench_wait(&b, PLEAT_RIGID, 4, 4, 0);
        uint32_t recent = bench_wait(&b, PLEAT_RIGID, 4, 4, 0);
        b.components[recent].tries = 1;
        b.components[recent].last_try_us = b.view.now_us - b.view.try_us + 10;
        bench_decide(&b);
        const struct pleat_event *tried = bench_decision(&b, fresh);
        assert_int_equal(tried && tried->kind == PLEAT_EV_TRIED, limit == 1);
        assert_null(bench_decision(&b, recent)); /* too soon after the last one */
        assert_int_equal(b.plan.wake_us, limit ? b.view.now_us + 10 : PLEAT_NEVER);
        bench_finish(&b);
    }
}

/* ---- placement ---- */

static uint32_t placed_at(struct bench *b, uint32_t component)
{
    const struct pleat_event *start = bench_decision(b, component);
    return start && start->kind == PLEAT_EV_START ? start->u.start.site : PLEAT_NONE;
}

static void test_worst_fit(void **state)
{
    (void)state;
    static const struct {
        int32_t free[3], minimum;
        uint32_t wanted, site;
    } cases[] = {
        {{4, 9, 6}, 2, PLEAT_NONE, 1},
        {{9, 9, 9}, 2, PLEAT_NONE, 0}, /* ties: the first */
        {{4, 9, 9}, 2, PLEAT_NONE, 1},
        {{4, 9, 6}, 9, PLEAT_NONE, 1},
        {{4, 9, 6}, 10, PLEAT_NONE, PLEAT_NONE}, /* nobody has the minimum */
        {{0, 0, 0}, 1, PLEAT_NONE, PLEAT_NONE},
        {{4, 9, 6}, 2, 2, 2}, /* as its user wants */
        {{4, 9, 6}, 7, 2, PLEAT_NONE},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench b;
        bench_init(&b);
        for (int s = 0; s < 3; s++) {
            bench_site(&b, 10, 9); /* a threshold is about growing, not about starting */
            b.sites[s].claimed = 10 - cases[i].free[s];
        }
        uint32_t component = bench_wait(&b, PLEAT_RIGID, cases[i].minimum, cases[i].minimum, 0);
        b.components[component].wanted_site = cases[i].wanted;
        bench_decide(&b);
        if (placed_at(&b, component) != cases[i].site)
            fail_msg("case %zu: at site %u", i, placed_at(&b, component));
        bench_finish(&b);
    }
}

static void test_earmarks_count_where_they_are(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    bench_site(&b, 10, 0);
    bench_site(&b, 10, 0);
    b.sites[0].claimed = 6; /* 4 free */
    b.sites[1].claimed = 5; /* 2 free, 3 earmarked for the job */
    uint32_t component = bench_wait(&b, PLEAT_RIGID, 5, 5, 0);
    b.components[component].site = 1;
    b.components[component].earmarked = 3;
    bench_decide(&b);
    assert_int_equal(placed_at(&b, component), 1);
    assert_int_equal(pleat_plan_free(&b.plan, 1), 0);
    bench_finish(&b);
}

/* ---- initial sizes ---- */

static void test_initial_sizes(void **state)
{
    (void)state;
    static const struct {
        const struct pleat_policy *policy;
        int32_t available, minimum, maximum, initial;
        uint8_t sizes_kind;
        int32_t size;
    } cases[] = {
        {&pleat_policy_available, 16, 2, 46, 0, 0, 16},
        {&pleat_policy_available, 16, 2, 10, 0, 0, 10},
        {&pleat_policy_available, 16, 2, 46, 6, 0, 6},
        {&pleat_policy_available, 4, 2, 46, 6, 0, 4},
        {&pleat_policy_available, 1, 2, 46, 0, 0, 0},
        {&pleat_policy_available, 15, 2, 46, 0, PLEAT_SIZES_POWERS, 8},
        {&pleat_policy_available, 15, 3, 46, 3, PLEAT_SIZES_POWERS, 4}, /* 3 is none of its sizes */
        {&pleat_policy_available, 3, 3, 46, 0, PLEAT_SIZES_POWERS, 0},
        {&pleat_policy_available, 15, 2, 46, 0, PLEAT_SIZES_SQUARES, 9},
        {&pleat_policy_available, 15, 2, 46, 0, PLEAT_SIZES_GRIDS, 12},
        {&pleat_policy_available, 15, 0, 46, 0, 0, 15},
        {&pleat_policy_minimum, 16, 2, 46, 0, 0, 2},
        {&pleat_policy_minimum, 16, 2, 46, 6, 0, 6},
        {&pleat_policy_minimum, 4, 2, 46, 6, 0, 4},
        {&pleat_policy_minimum, 1, 2, 46, 0, 0, 0},
        {&pleat_policy_minimum, 16, 3, 46, 0, PLEAT_SIZES_POWERS, 4},
        {&pleat_policy_minimum, 16, 0, 46, 0, 0, 1}, /* may be emptied, but starts with something */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench b;
        bench_init(&b);
        bench_policy(&b, cases[i].policy);
        bench_site(&b, cases[i].available, 0);
        uint32_t component =
            bench_wait(&b, PLEAT_MALLEABLE, cases[i].minimum, cases[i].maximum, cases[i].initial);
        b.components[component].sizes_kind = cases[i].sizes_kind;
        bench_decide(&b);
        if (bench_after(&b, component) != cases[i].size)
            fail_msg("case %zu (%s): starts on %d, expected %d", i, cases[i].policy->name,
                     bench_after(&b, component), cases[i].size);
        bench_finish(&b);
    }
}

static void test_a_quiet_site_gives_nothing_yet(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    uint32_t site = bench_site(&b, 16, 0);
    malleable(&b, site, 2, 2, 46);
    uint32_t component = bench_wait(&b, PLEAT_RIGID, 2, 2, 0);
    b.sites[site].quiet_until_us = b.view.now_us + 5;
    bench_begin(&b);
    assert_int_equal(pleat_plan_free(&b.plan, site), 0);
    assert_false(pleat_pass_start(&b.pass, component));
    assert_int_equal(b.plan.wake_us, b.view.now_us + 5);
    bench_finish(&b);
}

/* Two sites of 16 with a job of 4 each: of all that is free 5 are left, for the one that is asked
 * first. What a waiting job gets in the same pass counts, too. */
static void test_jobs_of_all_sites_grow_to_a_total(void **state)
{
    (void)state;
    for (int waits = 0; waits < 2; waits++) {
        struct bench b;
        bench_init(&b);
        bench_policy(&b, &pleat_policy_pwa);
        uint32_t first = bench_site(&b, 16, 0), second = bench_site(&b, 16, 0);
        uint32_t a = malleable(&b, first, 4, 2, 46), c = malleable(&b, second, 4, 2, 46);
        if (waits)
            bench_wait(&b, PLEAT_RIGID, 3, 3, 0);
        b.view.grow_total = 13;
        bench_decide(&b);
        assert_int_equal(bench_after(&b, a), waits ? 6 : 9);
        assert_int_equal(bench_after(&b, c), 4);
        bench_finish(&b);
    }
}

/* One round of figure 5 gets 2 + 3 of the 8 that the waiting job lacks: nobody shrinks, or, where
 * room is made partly, these do, and the rest is asked for in later passes. */
static void test_room_is_made_partly(void **state)
{
    (void)state;
    for (int partly = 0; partly < 2; partly++) {
        struct bench b;
        bench_init(&b);
        bench_policy(&b, &pleat_policy_pwa);
        bench_policy(&b, &pleat_policy_egs_once);
        uint32_t site = bench_site(&b, 16, 0);
        uint32_t a = malleable(&b, site, 10, 2, 46), c = malleable(&b, site, 3, 2, 46),
                 d = malleable(&b, site, 3, 2, 46);
        bench_wait(&b, PLEAT_RIGID, 8, 8, 0);
        b.view.room_partly = partly;
        bench_decide(&b);
        assert_int_equal(bench_after(&b, a), partly ? 8 : 10);
        assert_int_equal(bench_after(&b, c), partly ? 2 : 3);
        assert_int_equal(bench_after(&b, d), partly ? 2 : 3);
        assert_int_equal(b.plan.sites[site].withheld, partly);
        bench_finish(&b);
    }
}

static void test_no_room_is_made_while_enough_is_idle(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    bench_policy(&b, &pleat_policy_pwa);
    bench_policy(&b, &pleat_policy_egs);
    uint32_t site = bench_site(&b, 16, 0);
    uint32_t running = malleable(&b, site, 8, 2, 8);
    bench_wait(&b, PLEAT_RIGID, 4, 4, 0);
    b.sites[site].quiet_until_us = b.view.now_us + 5; /* it refused a claim; 8 are idle */
    bench_decide(&b);
    assert_int_equal(bench_after(&b, running), 8);
    assert_int_equal(b.plan.wake_us, b.view.now_us + 5);
    bench_finish(&b);
}

static void test_no_room_is_made_for_one_that_is_given_up(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    bench_policy(&b, &pleat_policy_pwa);
    bench_policy(&b, &pleat_policy_egs);
    uint32_t site = bench_site(&b, 8, 0);
    uint32_t running = malleable(&b, site, 8, 2, 8);
    uint32_t waiter = bench_wait(&b, PLEAT_RIGID, 4, 4, 0);
    b.view.max_tries = 3;
    b.components[waiter].tries = 2; /* one more is allowed */
    bench_decide(&b);
    assert_int_equal(bench_after(&b, running), 4);
    b.components[waiter].tries = 3; /* this is the one too many */
    bench_decide(&b);
    assert_int_equal(bench_decision(&b, waiter)->kind, PLEAT_EV_TRIED);
    assert_int_equal(bench_after(&b, running), 8);
    bench_finish(&b);
}

static void test_every_question_has_a_default_and_names(void **state)
{
    (void)state;
    for (int q = 0; q < PLEAT_QUESTION_COUNT; q++) {
        const struct pleat_policy *fallback = pleat_policy_default((enum pleat_question)q);
        assert_non_null(fallback);
        assert_int_equal(fallback->question, q);
    }
    const struct pleat_policy *policy;
    for (size_t i = 0; (policy = pleat_policy_at(i)); i++) {
        assert_ptr_equal(pleat_policy_find(policy->question, policy->name), policy);
        assert_ptr_equal(pleat_policy_get(policy->question, policy->number), policy);
        assert_true(policy->version > 0 && policy->source[0] && policy->summary[0]);
        assert_true((policy->decide != NULL) == (policy->question == PLEAT_APPROACH));
        assert_true((policy->start != NULL) == (policy->question == PLEAT_QUEUE));
        assert_true((policy->place != NULL) == (policy->question == PLEAT_PLACEMENT));
        assert_true((policy->size != NULL) == (policy->question == PLEAT_MOLDABILITY));
        assert_true((policy->grow && policy->shrink) == (policy->question == PLEAT_MALLEABILITY));
    }
    assert_null(pleat_policy_find(PLEAT_QUEUE, "egs"));
    assert_null(pleat_policy_get(PLEAT_QUEUE, 4000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pra_grows_before_it_starts),
        cmocka_unit_test(test_pra_lets_nothing_for_waiters),
        cmocka_unit_test(test_pra_holds_waiters_while_somebody_can_grow),
        cmocka_unit_test(test_pra_starts_when_the_resize_leads_to_the_limit),
        cmocka_unit_test(test_pra_never_shrinks),
        cmocka_unit_test(test_pwa_starts_before_it_grows),
        cmocka_unit_test(test_pwa_shrinks_by_what_the_minimum_needs),
        cmocka_unit_test(test_pwa_does_not_shrink_in_vain),
        cmocka_unit_test(test_pwa_takes_back_offers_that_did_not_suffice),
        cmocka_unit_test(test_pwa_takes_back_what_was_agreed_in_vain),
        cmocka_unit_test(test_pwa_next_makes_room_for_the_first_for_which_it_can),
        cmocka_unit_test(test_pwa_next_is_pwa_behind_a_head_that_blocks),
        cmocka_unit_test(test_pwa_next_passes_over_rigid_ones_only),
        cmocka_unit_test(test_pwa_next_begins_with_the_first),
        cmocka_unit_test(test_pwa_does_not_ask_twice_for_what_comes),
        cmocka_unit_test(test_pwa_makes_room_where_least_is_missing),
        cmocka_unit_test(test_pwa_stays_with_the_site_once_chosen),
        cmocka_unit_test(test_pwa_makes_room_only_where_the_job_may_run),
        cmocka_unit_test(test_pwa_waits_for_a_resize_to_be_over),
        cmocka_unit_test(test_pwa_printed_grows_nobody_while_room_is_made),
        cmocka_unit_test(test_pwa_printed_grows_nobody_until_the_room_is_there),
        cmocka_unit_test(test_pwa_printed_grows_where_room_is_impossible),
        cmocka_unit_test(test_scan_overtakes_fcfs_does_not),
        cmocka_unit_test(test_room_is_made_for_the_first_that_waits),
        cmocka_unit_test(test_tries_are_counted_only_where_limited),
        cmocka_unit_test(test_worst_fit),
        cmocka_unit_test(test_earmarks_count_where_they_are),
        cmocka_unit_test(test_initial_sizes),
        cmocka_unit_test(test_a_quiet_site_gives_nothing_yet),
        cmocka_unit_test(test_no_room_is_made_while_enough_is_idle),
        cmocka_unit_test(test_jobs_of_all_sites_grow_to_a_total),
        cmocka_unit_test(test_room_is_made_partly),
        cmocka_unit_test(test_no_room_is_made_for_one_that_is_given_up),
        cmocka_unit_test(test_every_question_has_a_default_and_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
