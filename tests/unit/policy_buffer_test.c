/* Buffer policies by hand: Liu et al. 2009, 4.1, and figure 3 step by step. */
#include "policy_bench.h"

static struct pleat_review ask(struct bench *b, const struct pleat_policy *policy,
                               uint32_t component)
{
    bench_policy(b, policy);
    return policy->review(&b->pass, component);
}

/* N = RL - R, asked for or given back. */
static void test_periodic(void **state)
{
    (void)state;
    for (int32_t held = 0; held <= 5; held++) {
        struct bench b;
        bench_init(&b);
        b.view.buffer_level = 3;
        uint32_t component = bench_run(&b, bench_site(&b, 20, 0), PLEAT_MOLDABLE, 4, 3, 20);
        bench_evolves(&b, component, held)->requested = 1;
        struct pleat_review review = ask(&b, &pleat_policy_periodic, component);
        assert_int_equal(review.request - review.release, 3 - held);
        assert_true(review.request == 0 || review.release == 0);
        assert_int_equal(review.again_us, b.view.now_us + INT64_C(600000000));
        assert_int_equal(review.again_iteration, INT32_MAX);
        b.view.buffer_pending = true; /* with the one on its way */
        review = ask(&b, &pleat_policy_periodic, component);
        assert_int_equal(review.request - review.release, 3 - held - 1);
        bench_finish(&b);
    }
}

/* RL as given, or the most requests in a row, whichever execution made them. */
static void test_a_level_that_is_derived(void **state)
{
    (void)state;
    static const struct {
        bool derived;
        uint32_t recalled, own;
        int32_t level;
    } cases[] = {
        {false, 5, 4, 2}, {true, 0, 0, 2}, {true, 5, 4, 5}, {true, 1, 4, 4}, {true, 1, 1, 2}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench b;
        bench_init(&b);
        b.view.buffer_level = 2;
        b.view.buffer_derived = cases[i].derived;
        uint32_t component = bench_run(&b, bench_site(&b, 20, 0), PLEAT_MOLDABLE, 4, 3, 20);
        struct pleat_buffer *buffer = bench_evolves(&b, component, 0);
        buffer->recalled_most = cases[i].recalled;
        buffer->row_most = cases[i].own;
        assert_int_equal(ask(&b, &pleat_policy_periodic, component).request, cases[i].level);
        assert_int_equal(ask(&b, &pleat_policy_combined, component).request, cases[i].level);
        buffer->prepared = 7;
        assert_int_equal(ask(&b, &pleat_policy_periodic, component).release, 7 - cases[i].level);
        assert_int_equal(ask(&b, &pleat_policy_prediction, component).release, 7 - cases[i].level);
        bench_finish(&b);
    }
}

/* Before this run has told how long its iterations take, those of earlier ones are reckoned with.
 */
static void test_prediction_from_the_speed_of_earlier_runs(void **state)
{
    (void)state;
    struct pleat_history_row row = {22, 3};
    for (int known = 0; known < 3; known++) {
        struct bench b;
        bench_init(&b);
        uint32_t component = bench_run(&b, bench_site(&b, 20, 0), PLEAT_MOLDABLE, 4, 3, 20);
        struct pleat_buffer *buffer = bench_evolves(&b, component, 0);
        b.sites[0].slowest_claim_us = 200000000;
        buffer->recalled_us = known > 0 ? 10000000 : 0;
        buffer->iteration_us = known > 1 ? 100000000 : 0; /* now it takes longer */
        buffer->executions = 3;
        b.histories[component] = (struct pleat_history){.items = &row, .count = 1};
        assert_int_equal(ask(&b, &pleat_policy_prediction, component).request, known == 1);
        bench_finish(&b);
    }
}

/* Figure 2: at iteration 5, with an allocation as long as 20 iterations, 25 to 30 is predicted. */
static void test_prediction_looks_one_allocation_ahead(void **state)
{
    (void)state;
    for (int32_t iteration = 20; iteration <= 35; iteration++) {
        struct bench b;
        struct pleat_history_row row = {iteration, 3};
        bench_init(&b);
        uint32_t component = bench_run(&b, bench_site(&b, 20, 0), PLEAT_MOLDABLE, 4, 3, 20);
        struct pleat_buffer *buffer = bench_evolves(&b, component, 0);
        b.sites[0].slowest_claim_us = 200000000;
        buffer->iteration = 5;
        buffer->iteration_us = 10000000;
        buffer->executions = 3;
        b.histories[component] = (struct pleat_history){.items = &row, .count = 1};
        struct pleat_review review = ask(&b, &pleat_policy_prediction, component);
        assert_int_equal(review.request, iteration >= 25 && iteration <= 30);
        assert_int_equal(review.again_iteration, 10);
        assert_int_equal(review.again_us, PLEAT_NEVER);
        bench_finish(&b);
    }
}

/* delta = [theta / sp] is rounded up, P rounded down; R above RL is given back in any case. */
static void test_prediction_counts(void **state)
{
    (void)state;
    static const struct {
        int64_t theta_s, speed_s;
        int32_t executions, held, expected, released;
    } cases[] = {
        {1000, 112, 4, 0, 2, 0},  /* 109 to 114: 5 + 4 in 4 executions */
        {1000, 112, 5, 0, 1, 0},  /* 9 in 5 */
        {1000, 112, 10, 2, 0, 1}, /* 9 in 10 */
        {1000, 200, 4, 3, 1, 2},  /* 105 to 110: only the 5 */
        {1000, 70, 4, 1, 1, 0},   /* 115 to 120: only the 6 */
        {1000, 0, 4, 4, 0, 3},    /* no iteration is over yet */
        {0, 112, 0, 0, 0, 0},     /* no history */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench b;
        struct pleat_history_row rows[] = {{50, 9}, {109, 5}, {114, 4}, {120, 6}, {200, 9}};
        bench_init(&b);
        uint32_t component = bench_run(&b, bench_site(&b, 40, 0), PLEAT_MOLDABLE, 4, 3, 20);
        struct pleat_buffer *buffer = bench_evolves(&b, component, cases[i].held);
        b.sites[0].slowest_claim_us = cases[i].theta_s * 1000000;
        buffer->iteration = 100;
        buffer->iteration_us = cases[i].speed_s * 1000000;
        buffer->executions = cases[i].executions;
        b.histories[component] = (struct pleat_history){.items = rows, .count = 5};
        struct pleat_review review = ask(&b, &pleat_policy_prediction, component);
        assert_int_equal(review.request, cases[i].expected);
        assert_int_equal(review.release, cases[i].released);
        bench_finish(&b);
    }
}

/* What `combined` wants of a buffer, with one row of a history, at an iteration of 10 s. */
static struct pleat_review combined_at(int32_t iteration, int32_t requests, int32_t executions,
                                       int32_t held, double deviation_s)
{
    struct bench b;
    struct pleat_history_row row = {30, requests};
    bench_init(&b);
    b.view.buffer_level = 2;
    uint32_t component = bench_run(&b, bench_site(&b, 20, 0), PLEAT_MOLDABLE, 4, 3, 20);
    struct pleat_buffer *buffer = bench_evolves(&b, component, held);
    b.sites[0].slowest_claim_us = 200000000;
    b.sites[0].allocation_count = 5;
    b.sites[0].allocation_us = 100e6;
    b.sites[0].allocation_squares = 4 * deviation_s * deviation_s * 1e12;
    buffer->iteration = iteration;
    buffer->iteration_us = 10000000;
    buffer->executions = executions;
    b.histories[component] = (struct pleat_history){.items = &row, .count = 1};
    struct pleat_review review = ask(&b, &pleat_policy_combined, component);
    assert_int_equal(review.again_us, b.view.now_us + INT64_C(600000000));
    assert_int_equal(review.again_iteration, iteration + 5);
    bench_finish(&b);
    return review;
}

/* An allocation takes 20 iterations, a review comes every 5: 25 are looked ahead. */
static void test_combined_keeps_what_may_be_asked_for(void **state)
{
    (void)state;
    for (int32_t iteration = 0; iteration <= 40; iteration++) {
        bool coming = iteration >= 5 && iteration < 30;
        assert_int_equal(combined_at(iteration, 6, 3, 0, 10).request, coming ? 2 : 0);
        assert_int_equal(combined_at(iteration, 6, 3, 2, 10).request, 0);
        /* not given back as long as it may only be late */
        bool kept = iteration >= 5 && iteration <= 35;
        assert_int_equal(combined_at(iteration, 6, 3, 3, 10).release, kept ? 1 : 3);
    }
}

static void test_combined_rounds_up_from_a_tenth_on(void **state)
{
    (void)state;
    assert_int_equal(combined_at(20, 1, 10, 0, 10).request, 1);
    assert_int_equal(combined_at(20, 1, 11, 0, 10).request, 0);
    assert_int_equal(combined_at(20, 11, 10, 0, 10).request, 2);
    assert_int_equal(combined_at(20, 10, 10, 0, 10).request, 1);
}

/* 100 s, with a deviation of 50 s: 250 s are looked ahead, and 5 iterations. */
static void test_combined_looks_further_where_allocations_are_irregular(void **state)
{
    (void)state;
    assert_int_equal(combined_at(4, 3, 3, 0, 10).request, 0);
    assert_int_equal(combined_at(4, 3, 3, 0, 50).request, 1);
    assert_int_equal(combined_at(0, 3, 3, 0, 50).request, 1);
    assert_int_equal(combined_at(0, 3, 3, 0, 49).request, 1);
    assert_int_equal(combined_at(0, 3, 3, 0, 46).request, 0); /* 238 s: 24 iterations, and 5 */
}

/* Without a history it is P, but counts what is on its way; not what requests wait for. */
static void test_combined_begins_as_periodic(void **state)
{
    (void)state;
    for (int32_t held = 0; held <= 5; held++) {
        struct bench b;
        bench_init(&b);
        b.view.buffer_level = 3;
        uint32_t component = bench_run(&b, bench_site(&b, 20, 0), PLEAT_MOLDABLE, 4, 3, 20);
        struct pleat_buffer *buffer = bench_evolves(&b, component, held);
        struct pleat_review review = ask(&b, &pleat_policy_combined, component);
        assert_int_equal(review.request - review.release, 3 - held);
        assert_true(review.request == 0 || review.release == 0);
        buffer->requested = 2;
        buffer->waiting = 1;
        review = ask(&b, &pleat_policy_combined, component);
        assert_int_equal(review.request - review.release, 3 - held - 1);
        bench_finish(&b);
    }
}

/* Requests that wait come first, and none of that is taken away again. */
static void test_a_plan_serves_requests_that_wait(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    bench_policy(&b, &pleat_policy_periodic);
    b.view.buffer_level = 2;
    b.view.prepares = true;
    uint32_t site = bench_site(&b, 12, 0);
    uint32_t old = bench_run(&b, site, PLEAT_MOLDABLE, 4, 3, 20);
    uint32_t young = bench_run(&b, site, PLEAT_MOLDABLE, 4, 3, 20);
    struct pleat_buffer *first = bench_evolves(&b, old, 0), *second = bench_evolves(&b, young, 0);
    first->waiting = 2;
    second->waiting = 3;
    second->due = 1;
    b.view.reviews_first = young;
    bench_begin(&b);
    pleat_pass_review(&b.pass);
    assert_int_equal(b.plan.decisions.count, 3);
    assert_int_equal(b.plan.decisions.items[0].component, old);
    assert_int_equal(b.plan.decisions.items[0].flags, PLEAT_FOR_WAITING);
    assert_int_equal(b.plan.decisions.items[0].u.buffer.request, 2);
    assert_int_equal(b.plan.decisions.items[1].component, young);
    assert_int_equal(b.plan.decisions.items[1].u.buffer.request, 2); /* no more are free */
    assert_int_equal(b.plan.decisions.items[2].flags, 0);            /* the review: for nothing */
    assert_int_equal(b.plan.decisions.items[2].u.buffer.request, 0);
    bench_finish(&b);
}

/* Requests that any site can serve: its own gives what it can, then the others, in the order of
 * their ranks; what others need at their own sites comes before that. */
static void test_a_plan_serves_requests_anywhere(void **state)
{
    (void)state;
    static const struct {
        int64_t quiet_us; /* nothing is asked of the site that is named first */
        uint32_t waiting; /* of another job, at that site */
        int32_t own, third, second, first;
    } cases[] = {{0, 0, 2, 0, 1, 4}, {0, 3, 2, 0, 4, 1}, {PLEAT_NEVER, 0, 2, 0, 5, 0}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct bench b;
        bench_init(&b);
        b.view.prepares = true;
        uint32_t home = bench_site(&b, 6, 0), far = bench_site(&b, 9, 0);
        uint32_t next = bench_site(&b, 8, 0), near = bench_site(&b, 7, 0);
        uint32_t job = bench_run(&b, home, PLEAT_MOLDABLE, 4, 3, 30);
        uint32_t other = bench_run(&b, near, PLEAT_MOLDABLE, 3, 3, 30);
        struct pleat_outpost outposts[] = {
            {.buffer = job, .site = far, .next = PLEAT_NONE}, /* not for any */
            {.buffer = job, .site = next, .next = 0, .rank = 2},
            {.buffer = job, .site = near, .next = 1, .rank = 1}};
        outposts[2].quiet_until_us = cases[i].quiet_us;
        b.view.outposts = outposts;
        b.view.outpost_count = 3;
        struct pleat_buffer *buffer = bench_evolves(&b, job, 0);
        b.components[job].flags |= PLEAT_COMPONENT_PREPARES | PLEAT_COMPONENT_ROAMS;
        buffer->outposts = 3;
        buffer->first_claim = PLEAT_NONE;
        buffer->waiting = buffer->anywhere = 7;
        bench_evolves(&b, other, 0)->waiting = cases[i].waiting;
        bench_begin(&b);
        pleat_pass_review(&b.pass);
        int32_t asked[BENCH_SITES] = {0};
        for (size_t d = 0; d < b.plan.decisions.count; d++) {
            const struct pleat_event *decision = &b.plan.decisions.items[d];
            if (decision->component != job)
                continue;
            assert_int_equal(decision->flags, PLEAT_FOR_WAITING | PLEAT_FOR_ANY_SITE);
            asked[decision->u.buffer.site ? decision->u.buffer.site - 1 : home] +=
                decision->u.buffer.request;
        }
        assert_int_equal(asked[home], cases[i].own);
        assert_int_equal(asked[far], cases[i].third);
        assert_int_equal(asked[next], cases[i].second);
        assert_int_equal(asked[near], cases[i].first);
        assert_int_equal(pleat_view_lacking(&b.view, buffer), 7);
        bench_finish(&b);
    }
}

/* What a review comes to: what is free for growing, what its component may have. */
static void test_a_plan_limits_what_is_prepared(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    bench_policy(&b, &pleat_policy_periodic);
    b.view.buffer_level = 4;
    uint32_t site = bench_site(&b, 16, 2);
    uint32_t small = bench_run(&b, site, PLEAT_MOLDABLE, 4, 3, 6);
    uint32_t large = bench_run(&b, site, PLEAT_MOLDABLE, 4, 3, 20);
    struct pleat_buffer *first = bench_evolves(&b, small, 0);
    bench_evolves(&b, large, 0)->due = 1;
    first->due = 1;
    first->due_next = large;
    b.view.reviews_first = small;
    bench_begin(&b);
    pleat_pass_review(&b.pass);
    assert_int_equal(b.plan.decisions.count, 2);
    assert_int_equal(bench_decision(&b, small)->u.buffer.request, 2); /* its maximum */
    assert_int_equal(bench_decision(&b, large)->u.buffer.request, 4); /* the threshold: 2 stay */
    assert_int_equal(pleat_plan_idle(&b.plan, site), 2);
    bench_finish(&b);
}

/* Those of the component started last go first. */
static void test_buffers_make_room(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    uint32_t site = bench_site(&b, 12, 0);
    uint32_t old = bench_run(&b, site, PLEAT_MOLDABLE, 3, 3, 20);
    uint32_t young = bench_run(&b, site, PLEAT_MOLDABLE, 3, 3, 20);
    bench_evolves(&b, old, 3);
    bench_evolves(&b, young, 2);
    uint32_t waiting = bench_wait(&b, PLEAT_RIGID, 4, 4, 0);
    bench_decide(&b); /* one is free */
    assert_null(bench_decision(&b, waiting));
    assert_int_equal(bench_decision(&b, young)->u.buffer.release, 2);
    assert_int_equal(bench_decision(&b, young)->flags, PLEAT_MANDATORY);
    assert_int_equal(bench_decision(&b, old)->u.buffer.release, 1);
    bench_finish(&b);
}

/* Releases, which Liu et al. 2009 leave out: what will be given back need not be asked for, and
 * nothing that is there is given up for it. */
static void test_what_will_be_given_back_is_not_asked_for(void **state)
{
    (void)state;
    static const struct pleat_policy *const policies[] = {
        &pleat_policy_periodic, &pleat_policy_prediction, &pleat_policy_combined};
    struct pleat_history_row row = {22, 9}; /* three at a time */
    for (size_t p = 0; p < sizeof(policies) / sizeof(policies[0]); p++)
        for (uint32_t returning = 0; returning <= 4; returning++) {
            struct bench b;
            bench_init(&b);
            b.view.buffer_level = 3;
            uint32_t component = bench_run(&b, bench_site(&b, 20, 0), PLEAT_MOLDABLE, 4, 3, 20);
            struct pleat_buffer *buffer = bench_evolves(&b, component, 0);
            b.sites[0].slowest_claim_us = 200000000;
            buffer->iteration_us = 10000000;
            buffer->executions = 3;
            buffer->returning = returning;
            b.histories[component] = (struct pleat_history){.items = &row, .count = 1};
            struct pleat_review review = ask(&b, policies[p], component);
            assert_int_equal(review.request, returning < 3 ? 3 - (int32_t)returning : 0);
            assert_int_equal(review.release, 0);
            buffer->prepared = 5;
            int32_t above = ask(&b, policies[p], component).release;
            assert_int_equal(above, 2);
            bench_finish(&b);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_periodic),
        cmocka_unit_test(test_a_level_that_is_derived),
        cmocka_unit_test(test_prediction_from_the_speed_of_earlier_runs),
        cmocka_unit_test(test_prediction_looks_one_allocation_ahead),
        cmocka_unit_test(test_prediction_counts),
        cmocka_unit_test(test_combined_keeps_what_may_be_asked_for),
        cmocka_unit_test(test_combined_rounds_up_from_a_tenth_on),
        cmocka_unit_test(test_combined_looks_further_where_allocations_are_irregular),
        cmocka_unit_test(test_combined_begins_as_periodic),
        cmocka_unit_test(test_what_will_be_given_back_is_not_asked_for),
        cmocka_unit_test(test_a_plan_serves_requests_that_wait),
        cmocka_unit_test(test_a_plan_serves_requests_anywhere),
        cmocka_unit_test(test_a_plan_limits_what_is_prepared),
        cmocka_unit_test(test_buffers_make_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
