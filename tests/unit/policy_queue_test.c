/* Orders of the queue, backfilling and reservations, by examples done by hand. */
#include "policy_bench.h"

#include <string.h>

enum { NO_ESTIMATE = -1, SECOND = 1000000 };

static uint32_t running(struct bench *b, uint32_t site, int32_t size, int64_t ends_in)
{
    uint32_t component = bench_run(b, site, PLEAT_RIGID, size, size, size);
    if (ends_in != NO_ESTIMATE)
        bench_estimate(b, component, ends_in);
    return component;
}

static uint32_t overrun(struct bench *b, uint32_t site, int32_t size)
{
    uint32_t component = bench_run(b, site, PLEAT_RIGID, size, size, size);
    bench_estimate(b, component, -5);
    return component;
}

static uint32_t waiting(struct bench *b, int32_t size, int64_t estimate)
{
    uint32_t component = bench_wait(b, PLEAT_RIGID, size, size, 0);
    b->components[component].reference = size;
    if (estimate != NO_ESTIMATE)
        bench_estimate(b, component, estimate);
    return component;
}

static const struct pleat_event *decision(const struct bench *b, uint32_t component, uint16_t kind)
{
    for (size_t i = 0; i < b->plan.decisions.count; i++)
        if (b->plan.decisions.items[i].component == component &&
            b->plan.decisions.items[i].kind == kind)
            return &b->plan.decisions.items[i];
    return NULL;
}

/* Its size, if it starts; else 0. */
static int32_t starts(const struct bench *b, uint32_t component)
{
    const struct pleat_event *start = decision(b, component, PLEAT_EV_START);
    return start ? start->u.start.processors : 0;
}

/* Seconds from now; -1: it is promised nothing (new). */
static int64_t promised_in(const struct bench *b, uint32_t component)
{
    const struct pleat_event *promise = decision(b, component, PLEAT_EV_PROMISE);
    return promise ? (promise->u.promise.start_us - b->view.now_us) / SECOND : -1;
}

static void begin(struct bench *b, const struct pleat_policy *queue)
{
    bench_init(b);
    bench_policy(b, queue);
}

/* ---- orders ---- */

static void test_orders(void **state)
{
    (void)state;
    static const struct {
        const struct pleat_policy *order;
        struct pleat_component first, second;
    } cases[] = {
        {&pleat_policy_sjf, {.estimate_us = 5}, {.estimate_us = 6}},
        {&pleat_policy_sjf, {.estimate_us = 5}, {.estimate_us = 0}},
        {&pleat_policy_ljf, {.estimate_us = 6}, {.estimate_us = 5}},
        {&pleat_policy_ljf, {.estimate_us = 1}, {.estimate_us = 0}},
        {&pleat_policy_order_priority, {.priority = 1}, {.priority = 0}},
        {&pleat_policy_order_priority, {.priority = 0}, {.priority = -1}},
        {&pleat_policy_order_priority, {.priority = INT16_MAX}, {.priority = INT16_MIN}},
        {&pleat_policy_edf, {.due_us = 5}, {.due_us = 6}},
        {&pleat_policy_edf, {.due_us = 5}, {.due_us = PLEAT_NEVER}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_true(cases[i].order->key(&cases[i].first) < cases[i].order->key(&cases[i].second));
    assert_null(pleat_policy_arrival.key);
}

/* ---- EASY ---- */

/* 10 processors, 6 of them for 100 s: the head, which needs 8, is expected to start then and leaves
 * 2 over. */
static uint32_t easy_example(struct bench *b)
{
    begin(b, &pleat_policy_easy);
    running(b, bench_site(b, 10, 0), 6, 100);
    return waiting(b, 8, 50);
}

static void test_easy_promises_the_head_a_start(void **state)
{
    (void)state;
    struct bench b;
    uint32_t head = easy_example(&b), behind = waiting(&b, 9, 50);
    bench_decide(&b);
    assert_int_equal(starts(&b, head), 0);
    assert_int_equal(promised_in(&b, head), 100);
    assert_int_equal(promised_in(&b, behind), -1); /* the head only */
    bench_finish(&b);
}

static void test_easy_starts_what_ends_by_the_shadow(void **state)
{
    (void)state;
    static const struct {
        int32_t size;
        int64_t estimate;
        bool starts;
    } cases[] = {
        {4, 99, true},   {4, 100, true},          /* at that very moment */
        {4, 101, false}, {4, NO_ESTIMATE, false}, /* it stands in the shadow */
        {2, 101, true},  {2, NO_ESTIMATE, true},  /* extra processors */
        {3, 101, false}, {5, 1, false},           /* more than is free */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench b;
        easy_example(&b);
        uint32_t other = waiting(&b, cases[i].size, cases[i].estimate);
        bench_decide(&b);
        if (starts(&b, other) != (cases[i].starts ? cases[i].size : 0))
            fail_msg("case %d", (int)i);
        bench_finish(&b);
    }
}

static void test_easy_gives_extra_processors_away_once(void **state)
{
    (void)state;
    struct bench b;
    easy_example(&b);
    uint32_t first = waiting(&b, 1, 500), large = waiting(&b, 2, 500), second = waiting(&b, 1, 500),
             third = waiting(&b, 1, 500), shorter = waiting(&b, 2, 100);
    bench_decide(&b);
    assert_true(starts(&b, first) && starts(&b, second) && starts(&b, shorter));
    assert_false(starts(&b, large) || starts(&b, third));
    bench_finish(&b);
}

static void test_easy_counts_all_that_end_at_the_shadow(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, &pleat_policy_easy);
    uint32_t site = bench_site(&b, 10, 0);
    running(&b, site, 4, 100);
    running(&b, site, 4, 100);
    uint32_t head = waiting(&b, 6, 50); /* one of the two would do: extra is 4, not 0 */
    uint32_t other = waiting(&b, 2, 500);
    bench_decide(&b);
    assert_int_equal(promised_in(&b, head), 100);
    assert_int_equal(starts(&b, other), 2);
    bench_finish(&b);
}

static void test_easy_expects_those_past_their_estimates_to_end_now(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, &pleat_policy_easy);
    overrun(&b, bench_site(&b, 10, 0), 6);
    uint32_t head = waiting(&b, 8, 50), other = waiting(&b, 4, 1), small = waiting(&b, 2, 500);
    bench_decide(&b);
    assert_int_equal(promised_in(&b, head), 0);
    assert_false(starts(&b, other));
    assert_int_equal(starts(&b, small), 2);
    bench_finish(&b);
}

static void test_easy_counts_those_that_it_has_just_started(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, &pleat_policy_easy);
    running(&b, bench_site(&b, 10, 0), 2, 100);
    uint32_t a = waiting(&b, 3, 60), c = waiting(&b, 1, 40); /* both fit: 4 stay free */
    uint32_t head = waiting(&b, 7, 10); /* 4 now, 5 in 40 s, 8 in 60 s: extra 1 */
    uint32_t other = waiting(&b, 4, 60), last = waiting(&b, 1, 500);
    bench_decide(&b);
    assert_true(starts(&b, a) && starts(&b, c));
    assert_int_equal(promised_in(&b, head), 60);
    assert_int_equal(starts(&b, other), 4);
    assert_int_equal(starts(&b, last), 0); /* nothing is free any more */
    bench_finish(&b);
}

static void test_easy_knows_no_shadow_behind_one_without_estimate(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, &pleat_policy_easy);
    running(&b, bench_site(&b, 10, 0), 6, NO_ESTIMATE);
    uint32_t head = waiting(&b, 8, 50), estimated = waiting(&b, 1, 5000),
             unknown = waiting(&b, 1, NO_ESTIMATE);
    bench_decide(&b);
    assert_int_equal(promised_in(&b, head), -1);
    assert_int_equal(starts(&b, estimated), 1);
    assert_int_equal(starts(&b, unknown), 0); /* nobody knows what the head will need */
    bench_finish(&b);
}

static void test_easy_promises_once(void **state)
{
    (void)state;
    struct bench b;
    uint32_t head = easy_example(&b);
    b.components[head].promised_us = b.view.now_us + 100 * SECOND;
    b.components[head].promised_site = 0;
    uint32_t overtaken = waiting(&b, 9, 50);
    b.components[overtaken].promised_us = b.view.now_us + 50 * SECOND;
    bench_decide(&b);
    assert_null(decision(&b, head, PLEAT_EV_PROMISE));
    assert_int_equal(decision(&b, overtaken, PLEAT_EV_PROMISE)->u.promise.start_us, PLEAT_NEVER);
    bench_finish(&b);
}

static void test_easy_casts_the_shadow_where_it_is_earliest(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, &pleat_policy_easy);
    uint32_t late = bench_site(&b, 10, 0), early = bench_site(&b, 10, 0);
    running(&b, late, 5, 200);
    running(&b, early, 6, 100);
    uint32_t head = waiting(&b, 10, 50), first = waiting(&b, 5, 500),
             in_shadow = waiting(&b, 4, 500), in_time = waiting(&b, 4, 100);
    bench_decide(&b);
    assert_int_equal(promised_in(&b, head), 100);
    assert_int_equal(decision(&b, head, PLEAT_EV_PROMISE)->u.promise.site, early);
    assert_int_equal(decision(&b, first, PLEAT_EV_START)->u.start.site, late);
    assert_int_equal(starts(&b, in_shadow), 0);
    assert_int_equal(decision(&b, in_time, PLEAT_EV_START)->u.start.site, early);
    bench_finish(&b);
}

/* Placement would choose the site with more idle processors, where the shadow is. */
static void test_easy_goes_to_another_site_than_that_of_the_shadow(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, &pleat_policy_easy);
    uint32_t shadowed = bench_site(&b, 10, 0), small = bench_site(&b, 3, 0);
    running(&b, shadowed, 6, 100);
    waiting(&b, 10, 50);
    uint32_t other = waiting(&b, 3, 500);
    bench_decide(&b);
    assert_int_equal(decision(&b, other, PLEAT_EV_START)->u.start.site, small);
    bench_finish(&b);
}

static void test_easy_waits_where_the_user_wants_to_be(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, &pleat_policy_easy);
    uint32_t early = bench_site(&b, 10, 0), wanted = bench_site(&b, 10, 0);
    running(&b, early, 6, 100);
    running(&b, wanted, 6, 300);
    uint32_t head = waiting(&b, 8, 50);
    b.components[head].wanted_site = wanted;
    bench_decide(&b);
    assert_int_equal(promised_in(&b, head), 300);
    bench_finish(&b);
}

static void test_easy_and_sizes(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, &pleat_policy_easy);
    running(&b, bench_site(&b, 12, 0), 6, 100);
    uint32_t head = bench_wait(&b, PLEAT_MOLDABLE, 8, 12, 0); /* its smallest counts: extra 4 */
    bench_estimate(&b, head, 50);
    uint32_t shrunk = bench_wait(&b, PLEAT_MALLEABLE, 1, 12, 0); /* 6 would be in the way */
    b.components[shrunk].reference = 4;
    bench_estimate(&b, shrunk, 500);
    uint32_t fast = bench_wait(&b, PLEAT_MOLDABLE, 1, 12, 0); /* on 2 processors for 100 s */
    b.components[fast].reference = 1;
    bench_estimate(&b, fast, 200);
    bench_decide(&b);
    assert_int_equal(promised_in(&b, head), 100);
    assert_int_equal(starts(&b, shrunk), 4);
    assert_int_equal(starts(&b, fast), 2);
    bench_finish(&b);
}

static void test_easy_lets_nobody_overtake_while_claims_are_under_way(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, &pleat_policy_easy);
    uint32_t site = bench_site(&b, 10, 0);
    b.sites[site].claimed = 6; /* of somebody who does not run yet */
    uint32_t head = waiting(&b, 8, 50), other = waiting(&b, 2, 1);
    bench_decide(&b);
    assert_int_equal(promised_in(&b, head), -1);
    assert_int_equal(starts(&b, other), 0);
    bench_finish(&b);
}

static void test_easy_keeps_what_is_on_its_way_to_the_head(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, &pleat_policy_easy);
    uint32_t site = bench_site(&b, 10, 0);
    uint32_t shrinking = bench_run(&b, site, PLEAT_MALLEABLE, 8, 2, 8);
    bench_estimate(&b, shrinking, 1000);
    bench_resizing(&b, shrinking, 4);
    uint32_t head = waiting(&b, 5, 50), other = waiting(&b, 2, 10), one = waiting(&b, 1, 500);
    b.components[head].site = site;
    b.components[head].coming = 4; /* with the 2 free ones it has its 5, and 1 is over */
    bench_decide(&b);
    assert_int_equal(starts(&b, other), 0);
    assert_int_equal(starts(&b, one), 1);
    bench_finish(&b);
}

static void test_easy_has_room_made_for_the_head(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, &pleat_policy_easy);
    uint32_t site = bench_site(&b, 10, 0);
    uint32_t malleable = bench_run(&b, site, PLEAT_MALLEABLE, 10, 2, 10);
    bench_estimate(&b, malleable, 100);
    uint32_t head = waiting(&b, 4, 50);
    waiting(&b, 1, 50);
    bench_decide(&b);
    assert_int_equal(bench_after(&b, malleable), 6);
    assert_int_equal(decision(&b, malleable, PLEAT_EV_RESIZE)->u.resize.waiter, head);
    bench_finish(&b);
}

/* ---- conservative ---- */

static void test_conservative_promises_everybody(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, &pleat_policy_conservative);
    running(&b, bench_site(&b, 10, 0), 6, 100);
    uint32_t first = waiting(&b, 8, 50);     /* [100, 150) */
    uint32_t second = waiting(&b, 6, 20);    /* [150, 170) */
    uint32_t long_one = waiting(&b, 4, 150); /* now, but in the way of the first: [150, 300) */
    uint32_t filler = waiting(&b, 2, 160);   /* now: beside the first, and until the others */
    uint32_t short_one = waiting(&b, 2, 100);
    bench_decide(&b);
    assert_int_equal(promised_in(&b, first), 100);
    assert_int_equal(promised_in(&b, second), 150);
    assert_int_equal(promised_in(&b, long_one), 150);
    assert_int_equal(starts(&b, filler), 0); /* it would be in the way of those at 150 */
    assert_int_equal(promised_in(&b, filler), 170);
    assert_int_equal(starts(&b, short_one), 2);
    assert_int_equal(b.plan.wake_us, b.view.now_us + 100 * SECOND);
    bench_finish(&b);
}

/* What EASY lets happen to the second in the queue (Mu'alem and Feitelson 2001, 2.2). */
static void test_conservative_delays_nobody_where_easy_does(void **state)
{
    (void)state;
    const struct pleat_policy *policies[] = {&pleat_policy_easy, &pleat_policy_conservative};
    for (int p = 0; p < 2; p++) {
        struct bench b;
        begin(&b, policies[p]);
        running(&b, bench_site(&b, 10, 0), 6, 100);
        waiting(&b, 8, 50);                    /* [100, 150), with 2 extra */
        uint32_t second = waiting(&b, 10, 50); /* could start at 150 */
        uint32_t other = waiting(&b, 2, 200);  /* till 200 */
        bench_decide(&b);
        assert_int_equal(starts(&b, other), p == 0 ? 2 : 0);
        assert_int_equal(promised_in(&b, second), p == 0 ? -1 : 150);
        bench_finish(&b);
    }
}

static uint32_t promised(struct bench *b, uint32_t component, int64_t in)
{
    b->components[component].promised_us = b->view.now_us + in * SECOND;
    b->components[component].promised_site = 0;
    return component;
}

static void test_conservative_compresses_in_queue_order(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, &pleat_policy_conservative);
    running(&b, bench_site(&b, 10, 0), 4, 50); /* another one has just ended, 50 s early */
    uint32_t first = promised(&b, waiting(&b, 8, 100), 100);
    uint32_t second = promised(&b, waiting(&b, 6, 40), 200);
    uint32_t third = promised(&b, waiting(&b, 6, 40), 240);
    bench_decide(&b);
    assert_int_equal(promised_in(&b, first), 50);
    assert_int_equal(starts(&b, second), 6); /* it has ended before the first */
    assert_int_equal(promised_in(&b, third), 150);
    bench_finish(&b);
}

static void test_conservative_moves_nobody_later(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, &pleat_policy_conservative);
    running(&b, bench_site(&b, 10, 0), 6, 100);
    uint32_t fresh = waiting(&b, 4, 150); /* in front: of a higher priority */
    uint32_t old = promised(&b, waiting(&b, 8, 50), 100);
    bench_decide(&b);
    assert_int_equal(promised_in(&b, fresh), 150);
    assert_null(decision(&b, old, PLEAT_EV_PROMISE));
    bench_finish(&b);
}

static void test_conservative_starts_again_after_a_broken_promise(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, &pleat_policy_conservative);
    overrun(&b, bench_site(&b, 10, 0), 6);
    uint32_t late = promised(&b, waiting(&b, 8, 50), -5);
    uint32_t other = promised(&b, waiting(&b, 6, 50), 20);
    bench_decide(&b);
    assert_int_equal(promised_in(&b, late), 0);
    assert_int_equal(promised_in(&b, other), 50); /* it was 20 */
    bench_finish(&b);
}

static void test_conservative_and_sizes(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, &pleat_policy_conservative);
    running(&b, bench_site(&b, 12, 0), 6, 100);
    uint32_t first = bench_wait(&b, PLEAT_MOLDABLE, 8, 12, 0);
    bench_estimate(&b, first, 50);
    uint32_t wide = bench_wait(&b, PLEAT_MOLDABLE, 1, 12, 0);
    b.components[wide].reference = 4;
    bench_estimate(&b, wide, 500); /* on 6 for 333 s, in the way; on 4 it is not */
    bench_decide(&b);
    assert_int_equal(promised_in(&b, first), 100);
    assert_int_equal(starts(&b, wide), 4);
    bench_finish(&b);
}

static void test_conservative_promises_nothing_behind_no_estimate(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, &pleat_policy_conservative);
    running(&b, bench_site(&b, 10, 0), 6, NO_ESTIMATE);
    uint32_t first = waiting(&b, 8, 50), other = waiting(&b, 4, NO_ESTIMATE);
    bench_decide(&b);
    assert_int_equal(promised_in(&b, first), -1);
    assert_int_equal(starts(&b, other), 4);
    assert_int_equal(b.plan.wake_us, PLEAT_NEVER);
    bench_finish(&b);
}

static void test_conservative_promises_the_site_that_is_free_first(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, &pleat_policy_conservative);
    uint32_t late = bench_site(&b, 10, 0), early = bench_site(&b, 10, 0);
    running(&b, late, 6, 200);
    running(&b, early, 6, 100);
    uint32_t first = waiting(&b, 8, 50), second = waiting(&b, 8, 50), third = waiting(&b, 8, 60);
    bench_decide(&b);
    assert_int_equal(decision(&b, first, PLEAT_EV_PROMISE)->u.promise.site, early);
    assert_int_equal(promised_in(&b, second), 150);
    assert_int_equal(promised_in(&b, third), 200);
    assert_int_equal(decision(&b, third, PLEAT_EV_PROMISE)->u.promise.site, late);
    bench_finish(&b);
}

/* ---- reservations ---- */

static const struct pleat_policy *const queues[] = {&pleat_policy_fcfs, &pleat_policy_scan,
                                                    &pleat_policy_easy, &pleat_policy_conservative};
enum { QUEUES = sizeof(queues) / sizeof(queues[0]) };

static void test_nobody_starts_where_it_is_reserved(void **state)
{
    (void)state;
    static const struct {
        int32_t size;
        int64_t estimate;
        bool starts;
    } cases[] = {
        {4, 100, true}, {4, 101, false},        {4, NO_ESTIMATE, false},
        {2, 500, true}, {2, NO_ESTIMATE, true}, {3, 101, false},
    };
    for (size_t i = 0; i < QUEUES * sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench b;
        begin(&b, queues[i % QUEUES]);
        uint32_t site = bench_site(&b, 10, 0);
        running(&b, site, 6, 100);
        bench_reserve(&b, site, 8, 100, 50);
        uint32_t component = waiting(&b, cases[i / QUEUES].size, cases[i / QUEUES].estimate);
        bench_decide(&b);
        if ((starts(&b, component) > 0) != cases[i / QUEUES].starts)
            fail_msg("%s, case %d", queues[i % QUEUES]->name, (int)(i / QUEUES));
        bench_finish(&b);
    }
}

/* The first takes what is left beside the reservation; the second must see that. */
static void test_starts_of_one_pass_share_what_is_not_reserved(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, &pleat_policy_scan);
    uint32_t site = bench_site(&b, 10, 0);
    bench_reserve(&b, site, 5, 100, 50);
    uint32_t first = waiting(&b, 3, 500), second = waiting(&b, 3, 500), third = waiting(&b, 2, 500),
             brief = waiting(&b, 3, 90);
    bench_decide(&b);
    assert_true(starts(&b, first) && starts(&b, third) && starts(&b, brief));
    assert_int_equal(starts(&b, second), 0);
    bench_finish(&b);
}

static void test_a_smaller_size_goes_beside_a_reservation(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, &pleat_policy_fcfs);
    uint32_t site = bench_site(&b, 10, 0);
    bench_reserve(&b, site, 7, 100, 50);
    uint32_t component = bench_wait(&b, PLEAT_MOLDABLE, 1, 10, 0);
    bench_estimate(&b, component, 500);
    bench_decide(&b);
    assert_int_equal(starts(&b, component), 3);
    bench_finish(&b);
}

static void test_another_site_than_the_reserved_one(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, &pleat_policy_fcfs);
    uint32_t reserved = bench_site(&b, 10, 0), other = bench_site(&b, 5, 0);
    bench_reserve(&b, reserved, 8, 100, 50);
    uint32_t component = waiting(&b, 4, 500);
    bench_decide(&b);
    assert_int_equal(decision(&b, component, PLEAT_EV_START)->u.start.site, other);
    bench_finish(&b);
}

/* Malleable jobs can be shrunk when the time has come; if nobody does that, they keep their size.
 */
static void test_malleable_jobs_count_with_what_they_can_be_shrunk_to(void **state)
{
    (void)state;
    for (int how = 0; how < 3; how++) {
        struct bench b;
        begin(&b, &pleat_policy_fcfs);
        if (how == 1)
            bench_policy(&b, &pleat_policy_none);
        if (how == 2)
            bench_policy(&b, &pleat_policy_pra);
        uint32_t site = bench_site(&b, 10, 0);
        uint32_t malleable = bench_run(&b, site, PLEAT_MALLEABLE, 6, 1, 6);
        bench_estimate(&b, malleable, 1000);
        bench_reserve(&b, site, 4, 100, 50);
        uint32_t component = waiting(&b, 4, 500);
        bench_decide(&b);
        assert_int_equal(starts(&b, component), how == 0 ? 4 : 0);
        bench_finish(&b);
    }
}

static void test_growing_leaves_what_is_reserved_where_nobody_shrinks(void **state)
{
    (void)state;
    for (int shrinks = 0; shrinks < 2; shrinks++) {
        struct bench b;
        bench_init(&b);
        if (!shrinks)
            bench_policy(&b, &pleat_policy_pra);
        uint32_t site = bench_site(&b, 12, 1);
        uint32_t malleable = bench_run(&b, site, PLEAT_MALLEABLE, 2, 1, 20);
        bench_reserve(&b, site, 5, 100, 50);
        bench_decide(&b);
        assert_int_equal(bench_after(&b, malleable), shrinks ? 11 : 6); /* 1: the threshold */
        bench_finish(&b);
    }
}

/* Its time has come, and it stands in front; somebody is still there. */
static uint32_t due(struct bench *b, int32_t size)
{
    uint32_t component = waiting(b, size, 50);
    b->components[component].begin_us = b->components[component].promised_us = b->view.now_us;
    b->components[component].wanted_site = b->components[component].promised_site = 0;
    return component;
}

static void test_nobody_overtakes_a_reservation_whose_time_has_come(void **state)
{
    (void)state;
    for (int q = 0; q < QUEUES; q++) {
        struct bench b;
        begin(&b, queues[q]);
        overrun(&b, bench_site(&b, 10, 0), 6);
        uint32_t reservation = due(&b, 8), other = waiting(&b, 3, 1), small = waiting(&b, 2, 1);
        bench_decide(&b);
        assert_int_equal(starts(&b, reservation), 0);
        assert_int_equal(starts(&b, other), 0);
        if (queues[q] == &pleat_policy_conservative)
            assert_int_equal(starts(&b, small), 2);
        assert_null(decision(&b, reservation, PLEAT_EV_PROMISE));
        bench_finish(&b);
    }
}

static void test_a_reservation_starts_when_its_time_has_come(void **state)
{
    (void)state;
    for (int q = 0; q < QUEUES; q++) {
        struct bench b;
        begin(&b, queues[q]);
        running(&b, bench_site(&b, 10, 0), 2, 100);
        uint32_t reservation = due(&b, 8);
        bench_reserve(&b, 0, 10, 50, 10);
        bench_decide(&b);
        assert_int_equal(starts(&b, reservation), 8);
        bench_finish(&b);
    }
}

static void test_easy_finds_the_head_a_place_among_reservations(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, &pleat_policy_easy);
    uint32_t site = bench_site(&b, 10, 0);
    running(&b, site, 6, 100);
    bench_reserve(&b, site, 6, 120, 30);
    uint32_t head = waiting(&b, 8, 50); /* not at 100, but at 150 */
    uint32_t other = waiting(&b, 4, 150), behind = waiting(&b, 1, 160);
    bench_decide(&b);
    assert_int_equal(promised_in(&b, head), 150);
    assert_int_equal(starts(&b, other), 4);
    assert_int_equal(starts(&b, behind), 0);
    bench_finish(&b);
}

static void test_conservative_places_all_around_reservations(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, &pleat_policy_conservative);
    uint32_t site = bench_site(&b, 10, 0);
    bench_reserve(&b, site, 6, 100, 50);
    uint32_t whole = waiting(&b, 10, 100), half = waiting(&b, 5, 100), next = waiting(&b, 4, 60);
    bench_decide(&b);
    assert_int_equal(starts(&b, whole), 10);
    assert_int_equal(promised_in(&b, half), 150);
    assert_int_equal(promised_in(&b, next), 100);
    bench_finish(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_easy_promises_the_head_a_start),
        cmocka_unit_test(test_easy_starts_what_ends_by_the_shadow),
        cmocka_unit_test(test_easy_gives_extra_processors_away_once),
        cmocka_unit_test(test_easy_counts_all_that_end_at_the_shadow),
        cmocka_unit_test(test_easy_expects_those_past_their_estimates_to_end_now),
        cmocka_unit_test(test_easy_counts_those_that_it_has_just_started),
        cmocka_unit_test(test_easy_knows_no_shadow_behind_one_without_estimate),
        cmocka_unit_test(test_easy_promises_once),
        cmocka_unit_test(test_easy_casts_the_shadow_where_it_is_earliest),
        cmocka_unit_test(test_easy_goes_to_another_site_than_that_of_the_shadow),
        cmocka_unit_test(test_easy_waits_where_the_user_wants_to_be),
        cmocka_unit_test(test_easy_and_sizes),
        cmocka_unit_test(test_easy_lets_nobody_overtake_while_claims_are_under_way),
        cmocka_unit_test(test_easy_keeps_what_is_on_its_way_to_the_head),
        cmocka_unit_test(test_easy_has_room_made_for_the_head),
        cmocka_unit_test(test_conservative_promises_everybody),
        cmocka_unit_test(test_conservative_delays_nobody_where_easy_does),
        cmocka_unit_test(test_conservative_compresses_in_queue_order),
        cmocka_unit_test(test_conservative_moves_nobody_later),
        cmocka_unit_test(test_conservative_starts_again_after_a_broken_promise),
        cmocka_unit_test(test_conservative_and_sizes),
        cmocka_unit_test(test_conservative_promises_nothing_behind_no_estimate),
        cmocka_unit_test(test_conservative_promises_the_site_that_is_free_first),
        cmocka_unit_test(test_nobody_starts_where_it_is_reserved),
        cmocka_unit_test(test_starts_of_one_pass_share_what_is_not_reserved),
        cmocka_unit_test(test_a_smaller_size_goes_beside_a_reservation),
        cmocka_unit_test(test_another_site_than_the_reserved_one),
        cmocka_unit_test(test_malleable_jobs_count_with_what_they_can_be_shrunk_to),
        cmocka_unit_test(test_growing_leaves_what_is_reserved_where_nobody_shrinks),
        cmocka_unit_test(test_nobody_overtakes_a_reservation_whose_time_has_come),
        cmocka_unit_test(test_a_reservation_starts_when_its_time_has_come),
        cmocka_unit_test(test_easy_finds_the_head_a_place_among_reservations),
        cmocka_unit_test(test_conservative_places_all_around_reservations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
