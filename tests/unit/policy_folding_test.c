/* Utrera 2010: moldability, partitions, the launcher, backfilling with windows; worked by hand on
 * the thesis's machine of 60 processors. */
#include "policy_bench.h"

static const struct pleat_policy *named(enum pleat_question question, const char *name)
{
    const struct pleat_policy *policy = pleat_policy_find(question, name);
    assert_non_null(policy);
    return policy;
}

/* 60 processors; launcher, fcfs, partition and a moldability policy. */
static uint32_t begin(struct bench *b, const char *moldability)
{
    bench_init(b);
    bench_policy(b, named(PLEAT_APPROACH, "launcher"));
    bench_policy(b, named(PLEAT_QUEUE, "fcfs"));
    bench_policy(b, named(PLEAT_MALLEABILITY, "partition"));
    bench_policy(b, named(PLEAT_MOLDABILITY, moldability));
    return bench_site(b, 60, 0);
}

/* A waiting job of 1 to 64 processes, powers of two. */
static uint32_t wait_powers(struct bench *b, enum pleat_job_class job_class)
{
    uint32_t component = bench_wait_folding(b, 1, 64, job_class);
    b->components[component].sizes_kind = PLEAT_SIZES_POWERS;
    return component;
}

static void check_start(const struct bench *b, uint32_t component, int32_t processors,
                        int32_t processes, int32_t mpl)
{
    const struct pleat_event *start = bench_decision(b, component);
    if (processors == 0) {
        assert_true(!start || start->kind != PLEAT_EV_START);
        return;
    }
    assert_non_null(start);
    assert_int_equal(start->kind, PLEAT_EV_START);
    assert_int_equal(start->u.start.processors, processors);
    assert_int_equal(start->u.start.processes, processes);
    assert_int_equal(start->u.start.mpl, mpl);
}

/* ---- moldability ---- */

static void test_psa_saves_processors(void **state)
{
    (void)state;
    struct bench b;
    bench_run(&b, begin(&b, "psa"), PLEAT_RIGID, 30, 30, 30);
    uint32_t first = wait_powers(&b, PLEAT_CLASS_LONG), second = wait_powers(&b, PLEAT_CLASS_LONG);
    wait_powers(&b, PLEAT_CLASS_SHORT);
    bench_decide(&b);
    check_start(&b, first, 16, 16, 1); /* 60 / 3 */
    check_start(&b, second, 0, 0, 0);  /* 60 / 2 would be 16, and 14 are idle */
    bench_finish(&b);
}

static void test_psa_with_all_that_is_idle(void **state)
{
    (void)state;
    struct bench b;
    bench_run(&b, begin(&b, "psa-idle"), PLEAT_RIGID, 30, 30, 30);
    uint32_t first = wait_powers(&b, PLEAT_CLASS_LONG), second = wait_powers(&b, PLEAT_CLASS_LONG);
    uint32_t third = wait_powers(&b, PLEAT_CLASS_SHORT);
    bench_decide(&b);
    check_start(&b, first, 8, 8, 1);  /* 30 / 3 */
    check_start(&b, second, 8, 8, 1); /* 22 / 2 */
    check_start(&b, third, 8, 8, 1);  /* 14 */
    bench_finish(&b);
}

/* 5.2, "greater or equal": what is left is as much as the second's part, 60 / 2 as a power of two.
 */
static void test_psa_by_the_letter_leaves_what_is_equal(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int32_t runs, first, second;
    } cases[] = {{"psa", 28, 16, 16}, {"psa-printed", 28, 16, 0}, {"psa-printed", 27, 16, 16}};
    for (int i = 0; i < 3; i++) {
        struct bench b;
        int32_t runs = cases[i].runs;
        bench_run(&b, begin(&b, cases[i].name), PLEAT_RIGID, runs, runs, runs);
        uint32_t first = wait_powers(&b, PLEAT_CLASS_LONG),
                 second = wait_powers(&b, PLEAT_CLASS_LONG);
        wait_powers(&b, PLEAT_CLASS_SHORT);
        bench_decide(&b);
        check_start(&b, first, cases[i].first, cases[i].first, 1); /* 60 / 3 of 32, or 33 */
        check_start(&b, second, cases[i].second, cases[i].second, 1);
        bench_finish(&b);
    }
}

/* On an empty machine it would wait for ever. */
static void test_psa_by_the_letter_starts_where_nobody_runs(void **state)
{
    (void)state;
    for (int others = 0; others < 2; others++) {
        struct bench b;
        uint32_t site = begin(&b, "psa-printed");
        if (others) /* 60 for the one that waits: not there */
            bench_run(&b, site, PLEAT_RIGID, 1, 1, 1);
        uint32_t alone = bench_wait_folding(&b, 1, 64, PLEAT_CLASS_LONG);
        bench_decide(&b);
        int32_t size = others ? 0 : 60;
        check_start(&b, alone, size, size, 1);
        bench_finish(&b);
    }
}

/* The first gets 30 and is decided; the second's part, all that is left of its 60, is not for it.
 */
static void test_psa_by_the_letter_counts_who_starts(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, "psa-printed");
    uint32_t first = bench_wait_folding(&b, 1, 64, PLEAT_CLASS_LONG),
             second = bench_wait_folding(&b, 1, 30, PLEAT_CLASS_LONG);
    bench_decide(&b);
    check_start(&b, first, 30, 30, 1);
    check_start(&b, second, 0, 0, 0);
    bench_finish(&b);
}

static void test_asp_max_leaves_something(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, "asp-max");
    uint32_t first = wait_powers(&b, PLEAT_CLASS_LONG), second = wait_powers(&b, PLEAT_CLASS_LONG);
    b.components[second].sizes_kind = PLEAT_SIZES_SQUARES;
    bench_decide(&b);
    check_start(&b, first, 32, 32, 1);  /* 60 % of 60 are 36 */
    check_start(&b, second, 25, 25, 1); /* 28 are left */
    bench_finish(&b);
    begin(&b, "asp-max-idle");
    first = wait_powers(&b, PLEAT_CLASS_LONG);
    second = wait_powers(&b, PLEAT_CLASS_LONG);
    bench_decide(&b);
    check_start(&b, first, 32, 32, 1);
    check_start(&b, second, 16, 16, 1); /* 60 % of 28 */
    bench_finish(&b);
}

static void test_asp_max_and_one_that_needs_more(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, "asp-max");
    uint32_t component = bench_wait(&b, PLEAT_RIGID, 50, 50, 0);
    bench_decide(&b);
    assert_int_equal(bench_after(&b, component), 50);
    bench_finish(&b);
}

static void test_the_largest_or_wait(void **state)
{
    (void)state;
    struct bench b;
    bench_run(&b, begin(&b, "largest"), PLEAT_RIGID, 20, 20, 20);
    uint32_t component = wait_powers(&b, PLEAT_CLASS_LONG),
             next = wait_powers(&b, PLEAT_CLASS_SHORT);
    bench_decide(&b);
    check_start(&b, component, 32, 32, 1); /* of 60 */
    check_start(&b, next, 0, 0, 0);        /* 8 are idle */
    bench_finish(&b);
}

static void test_folding_halves_the_latest(void **state)
{
    (void)state;
    struct bench b;
    uint32_t site = begin(&b, "folding");
    bench_policy(&b, named(PLEAT_MALLEABILITY, "halving"));
    uint32_t old = bench_fold(&b, site, 28, 28, 4, PLEAT_CLASS_LONG);
    uint32_t latest = bench_fold(&b, site, 32, 32, 4, PLEAT_CLASS_SHORT);
    uint32_t component = wait_powers(&b, PLEAT_CLASS_SHORT);
    bench_decide(&b);
    check_start(&b, component, 0, 0, 0);
    assert_int_equal(bench_after(&b, latest), 16);
    assert_int_equal(bench_after(&b, old), 28);
    assert_int_equal(bench_decision(&b, latest)->u.resize.waiter, component);
    assert_int_equal(bench_decision(&b, latest)->u.resize.processes, 32);
    bench_finish(&b);
    /* at its MPL: the one before it */
    site = begin(&b, "folding");
    bench_policy(&b, named(PLEAT_MALLEABILITY, "halving"));
    old = bench_fold(&b, site, 52, 52, 4, PLEAT_CLASS_LONG);
    latest = bench_fold(&b, site, 8, 32, 4, PLEAT_CLASS_SHORT);
    wait_powers(&b, PLEAT_CLASS_SHORT);
    bench_decide(&b);
    assert_int_equal(bench_after(&b, latest), 8);
    assert_int_equal(bench_after(&b, old), 26);
    bench_finish(&b);
}

static void test_folding_starts_unfolded(void **state)
{
    (void)state;
    struct bench b;
    bench_fold(&b, begin(&b, "folding"), 50, 50, 4, PLEAT_CLASS_LONG);
    uint32_t component = wait_powers(&b, PLEAT_CLASS_LONG);
    bench_decide(&b);
    check_start(&b, component, 8, 8, 4); /* 10 are idle; it may be folded later */
    bench_finish(&b);
}

static void test_fjt_short_on_idle_processors(void **state)
{
    (void)state;
    struct bench b;
    bench_fold(&b, begin(&b, "fjt"), 44, 44, 4, PLEAT_CLASS_LONG);
    uint32_t component = wait_powers(&b, PLEAT_CLASS_SHORT);
    uint32_t next = wait_powers(&b, PLEAT_CLASS_LONG);
    bench_decide(&b);
    check_start(&b, component, 8, 8, 1); /* 16 / 2, never to be folded */
    check_start(&b, next, 8, 32, 4);     /* no other long one waits: folded */
    bench_finish(&b);
}

static void test_fjt_short_on_those_of_long_ones(void **state)
{
    (void)state;
    struct bench b;
    uint32_t site = begin(&b, "fjt");
    uint32_t runs = bench_fold(&b, site, 48, 48, 4, PLEAT_CLASS_LONG);
    uint32_t brief = bench_fold(&b, site, 12, 12, 1, PLEAT_CLASS_SHORT);
    uint32_t component = wait_powers(&b, PLEAT_CLASS_SHORT);
    b.components[component].maximum = 16;
    bench_decide(&b);
    assert_int_equal(bench_after(&b, runs), 24); /* 36 could be had; 16 are of use: one level */
    assert_int_equal(bench_after(&b, brief), 12);
    assert_int_equal(bench_decision(&b, runs)->u.resize.waiter, component);
    bench_finish(&b);
}

static void test_fjt_nobody_has_anything_to_give(void **state)
{
    (void)state;
    struct bench b;
    uint32_t site = begin(&b, "fjt");
    bench_fold(&b, site, 12, 48, 4, PLEAT_CLASS_LONG);
    bench_run(&b, site, PLEAT_RIGID, 48, 48, 48);
    wait_powers(&b, PLEAT_CLASS_SHORT);
    bench_decide(&b);
    assert_int_equal(b.plan.decisions.count, 0);
    bench_finish(&b);
}

static void test_fjt_long_while_short_ones_run(void **state)
{
    (void)state;
    struct bench b;
    bench_fold(&b, begin(&b, "fjt"), 50, 50, 1, PLEAT_CLASS_SHORT);
    uint32_t component = wait_powers(&b, PLEAT_CLASS_LONG);
    bench_decide(&b);
    check_start(&b, component, 10, 32, 4); /* 64 would be 7 on one of them */
    bench_finish(&b);
    bench_fold(&b, begin(&b, "fjt-figure"), 50, 50, 1, PLEAT_CLASS_SHORT);
    component = wait_powers(&b, PLEAT_CLASS_LONG);
    bench_decide(&b);
    check_start(&b, component, 0, 0, 0);
    bench_finish(&b);
}

static void test_fjt_long_and_others_wait(void **state)
{
    (void)state;
    struct bench b;
    bench_fold(&b, begin(&b, "fjt"), 40, 40, 4, PLEAT_CLASS_LONG);
    uint32_t first = wait_powers(&b, PLEAT_CLASS_LONG), second = wait_powers(&b, PLEAT_CLASS_LONG);
    bench_decide(&b);
    check_start(&b, first, 8, 8, 4);    /* 20 / 2, unfolded */
    check_start(&b, second, 12, 32, 4); /* alone now: folded */
    bench_finish(&b);
}

static void test_fjt_long_takes_its_part_of_long_ones(void **state)
{
    (void)state;
    struct bench b;
    uint32_t runs = bench_fold(&b, begin(&b, "fjt"), 60, 60, 4, PLEAT_CLASS_LONG);
    uint32_t component = wait_powers(&b, PLEAT_CLASS_LONG);
    bench_decide(&b);
    assert_int_equal(bench_after(&b, runs), 30); /* two halves */
    assert_int_equal(bench_decision(&b, runs)->u.resize.waiter, component);
    bench_finish(&b);
}

static void test_fjt_1_folds_nobody(void **state)
{
    (void)state;
    struct bench b;
    bench_fold(&b, begin(&b, "fjt-1"), 50, 50, 4, PLEAT_CLASS_LONG);
    uint32_t component = wait_powers(&b, PLEAT_CLASS_LONG);
    bench_decide(&b);
    check_start(&b, component, 8, 8, 1);
    bench_finish(&b);
    bench_fold(&b, begin(&b, "fjt-1"), 60, 60, 4, PLEAT_CLASS_LONG);
    wait_powers(&b, PLEAT_CLASS_SHORT);
    bench_decide(&b);
    assert_int_equal(b.plan.decisions.count, 0);
    bench_finish(&b);
}

/* ---- partitions ---- */

static void two_folded(struct bench *b, uint32_t jobs[2])
{
    uint32_t site = begin(b, "fjt-1");
    jobs[0] = bench_fold(b, site, 8, 32, 4, PLEAT_CLASS_LONG);
    jobs[1] = bench_fold(b, site, 8, 16, 4, PLEAT_CLASS_LONG);
    bench_run(b, site, PLEAT_RIGID, 24, 24, 24);
}

static void test_partitions_grow_by_levels(void **state)
{
    (void)state;
    struct bench b;
    uint32_t jobs[2];
    two_folded(&b, jobs); /* 20 are free; one waits that cannot start */
    bench_wait(&b, PLEAT_RIGID, 50, 50, 0);
    bench_decide(&b);
    assert_int_equal(bench_after(&b, jobs[0]), 16); /* 4, 3, 2 on one: by 3, by 5 */
    assert_int_equal(bench_after(&b, jobs[1]), 16); /* 32 on 32 does not fit, 16 on 16 does */
    bench_finish(&b);
    two_folded(&b, jobs); /* nobody waits: the remainder, too */
    bench_decide(&b);
    assert_int_equal(bench_after(&b, jobs[0]), 20);
    assert_int_equal(bench_after(&b, jobs[1]), 16);
    bench_finish(&b);
}

/* What changes cost a program, and what it makes of processors, has been learned. */
static void test_partitions_grow_where_it_pays(void **state)
{
    enum { S = 1000000 };
    (void)state;
    static const struct {
        int64_t cost_us, age_us; /* of its present size */
        int64_t there_s;         /* an iteration at twice the size; 0: not known. Here: 10 */
        bool grows;
    } cases[] = {
        {0, 0, 0, true},
        {S / 10, 10 * S, 0, true},
        {S / 10, 10 * S - 1, 0, false},
        {INT64_MAX, 100 * S, 0, false},
        {0, 100 * S, 5, true},
        {0, 100 * S, 10, false},
        {0, 100 * S, 11, false},
        {S / 10, 9 * S, 5, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench b;
        uint32_t component = bench_fold(&b, begin(&b, "fjt"), 16, 64, 4, PLEAT_CLASS_LONG);
        bench_timed(&b, component, 16, 10);
        b.timings[0].redistribution_us = cases[i].cost_us;
        if (cases[i].there_s)
            bench_timed(&b, component, 32, cases[i].there_s);
        b.components[component].since_us = b.view.now_us - cases[i].age_us;
        bench_decide(&b);
        assert_int_equal(bench_after(&b, component) > 16, cases[i].grows);
        /* asked again when what it cost has been made up for */
        if (cases[i].cost_us == S / 10 && !cases[i].grows)
            assert_int_equal(b.plan.wake_us, b.components[component].since_us + 10 * S);
        bench_finish(&b);
    }
}

static void test_partitions_shrink_by_levels(void **state)
{
    (void)state;
    struct bench b;
    uint32_t site = begin(&b, "fjt");
    uint32_t old = bench_fold(&b, site, 32, 32, 4, PLEAT_CLASS_LONG);
    uint32_t latest = bench_fold(&b, site, 16, 16, 4, PLEAT_CLASS_LONG);
    uint32_t waiter = bench_wait(&b, PLEAT_RIGID, 10, 10, 0);
    bench_begin(&b);
    int32_t left = pleat_policy_partition.shrink(&b.pass, site, 10, waiter);
    assert_int_equal(left, 0);
    assert_int_equal(bench_after(&b, latest), 8);
    assert_int_equal(bench_after(&b, old), 16);
    bench_finish(&b);
}

/* ---- backfilling with windows ---- */

static uint32_t at(struct bench *b, uint32_t component, int64_t position)
{
    b->components[component].position = position;
    return component;
}

static void test_only_short_ones_are_backfilled(void **state)
{
    (void)state;
    static const char *const queues[] = {"backfill-abort", "backfill-malleability"};
    for (int q = 0; q < 2; q++) {
        struct bench b;
        uint32_t site = begin(&b, "largest");
        bench_policy(&b, named(PLEAT_QUEUE, queues[q]));
        at(&b, bench_run(&b, site, PLEAT_RIGID, 30, 30, 30), 1);
        uint32_t head = at(&b, bench_wait(&b, PLEAT_RIGID, 40, 40, 0), 2);
        uint32_t slow = at(&b, bench_wait_folding(&b, 1, 8, PLEAT_CLASS_LONG), 3);
        uint32_t brief = at(&b, bench_wait_folding(&b, 1, 8, PLEAT_CLASS_SHORT), 4);
        bench_decide(&b);
        check_start(&b, head, 0, 0, 0);
        check_start(&b, slow, 0, 0, 0);
        /* a job that may be folded when its window expires counts as foldable, though it
         * starts unfolded */
        check_start(&b, brief, 8, 8, q ? 4 : 1);
        bench_finish(&b);
    }
}

/* 20 in front of the head or not, two behind it, which needs 50. */
static uint32_t in_window(struct bench *b, const char *queue, bool before, uint32_t behind[2])
{
    uint32_t site = begin(b, "largest");
    bench_policy(b, named(PLEAT_QUEUE, queue));
    if (before)
        at(b, bench_run(b, site, PLEAT_RIGID, 20, 20, 20), 1);
    behind[0] = at(b, bench_fold(b, site, 16, 16, 4, PLEAT_CLASS_SHORT), 3);
    behind[1] = at(b, bench_fold(b, site, 8, 8, 4, PLEAT_CLASS_SHORT), 4);
    uint32_t head = at(b, bench_wait(b, PLEAT_RIGID, 50, 50, 0), 2);
    bench_wait(b, PLEAT_MOLDABLE, 1, 4, 0);
    b->components[head + 1].job_class = PLEAT_CLASS_SHORT;
    at(b, head + 1, 5);
    bench_decide(b);
    return head;
}

static void test_windows_end_in_abort(void **state)
{
    (void)state;
    struct bench b;
    uint32_t behind[2], head = in_window(&b, "backfill-abort", false, behind);
    for (int i = 0; i < 2; i++) {
        assert_non_null(bench_decision(&b, behind[i]));
        assert_int_equal(bench_decision(&b, behind[i])->kind, PLEAT_EV_PREEMPT);
    }
    assert_null(bench_decision(&b, head + 1)); /* nobody else is backfilled */
    bench_finish(&b);
    head = in_window(&b, "backfill-abort", true, behind); /* one in front still runs */
    assert_null(bench_decision(&b, behind[0]));
    assert_int_equal(bench_decision(&b, head + 1)->kind, PLEAT_EV_START);
    bench_finish(&b);
}

static void test_windows_end_in_folding(void **state)
{
    (void)state;
    struct bench b;
    uint32_t behind[2], head = in_window(&b, "backfill-malleability", false, behind);
    assert_int_equal(bench_after(&b, behind[0]), 4); /* MPL 4 */
    assert_int_equal(bench_after(&b, behind[1]), 2);
    assert_int_equal(bench_decision(&b, behind[0])->u.resize.waiter, head);
    assert_null(bench_decision(&b, head + 1));
    bench_finish(&b);
    in_window(&b, "backfill-malleability", true, behind);
    assert_null(bench_decision(&b, behind[0]));
    bench_finish(&b);
}

/* 20 before the head run, 16 and 8 behind it; 16 are idle. */
static uint32_t when_due(struct bench *b, const char *queue, int32_t need, uint32_t behind[2])
{
    uint32_t site = begin(b, "largest");
    bench_policy(b, named(PLEAT_QUEUE, queue));
    at(b, bench_run(b, site, PLEAT_RIGID, 20, 20, 20), 1);
    behind[0] = at(b, bench_fold(b, site, 16, 16, 4, PLEAT_CLASS_SHORT), 3);
    behind[1] = at(b, bench_fold(b, site, 8, 8, 4, PLEAT_CLASS_SHORT), 4);
    at(b, bench_wait(b, PLEAT_RIGID, need, need, 0), 2);
    uint32_t brief = at(b, bench_wait_folding(b, 1, 4, PLEAT_CLASS_SHORT), 5);
    bench_decide(b);
    return brief;
}

static void test_windows_end_when_the_head_is_due(void **state)
{
    (void)state;
    struct bench b;
    uint32_t behind[2], brief = when_due(&b, "backfill-abort-due", 41, behind);
    assert_int_equal(bench_after(&b, brief), 4); /* 40 would not be enough: one more */
    assert_null(bench_decision(&b, behind[0]));
    bench_finish(&b);
    brief = when_due(&b, "backfill-abort-due", 40, behind);
    assert_null(bench_decision(&b, brief));
    assert_int_equal(bench_decision(&b, behind[0])->kind, PLEAT_EV_PREEMPT);
    bench_finish(&b);
    when_due(&b, "backfill-malleability-due", 40, behind);
    assert_int_equal(bench_after(&b, behind[0]), 4);
    assert_int_equal(bench_after(&b, behind[1]), 2);
    bench_finish(&b);
    brief = when_due(&b, "backfill-abort", 40, behind); /* by 6.4.3 one before it still runs */
    assert_int_equal(bench_after(&b, brief), 4);
    bench_finish(&b);
}

/* 16 and 8 behind the head fold to 4 and 2, and 36 are idle: 54. For a head of 54 that is enough,
 * for one of 55 it is not: by the end of 6.4.3 a short one is backfilled then, by figure 3.6 none.
 */
static void test_backfilling_goes_on_where_folding_is_not_enough(void **state)
{
    (void)state;
    static const struct {
        const char *queue;
        int32_t need, brief;
    } cases[] = {{"backfill-malleability", 55, 0},
                 {"backfill-malleability-further", 54, 0},
                 {"backfill-malleability-further", 55, 4}};
    for (int i = 0; i < 3; i++) {
        struct bench b;
        uint32_t site = begin(&b, "largest");
        bench_policy(&b, named(PLEAT_QUEUE, cases[i].queue));
        uint32_t wide = at(&b, bench_fold(&b, site, 16, 16, 4, PLEAT_CLASS_SHORT), 3),
                 narrow = at(&b, bench_fold(&b, site, 8, 8, 4, PLEAT_CLASS_SHORT), 4);
        uint32_t head = at(&b, bench_wait(&b, PLEAT_RIGID, cases[i].need, cases[i].need, 0), 2);
        uint32_t slow = at(&b, bench_wait_folding(&b, 1, 4, PLEAT_CLASS_LONG), 5),
                 brief = at(&b, bench_wait_folding(&b, 1, 4, PLEAT_CLASS_SHORT), 6);
        bench_decide(&b);
        assert_int_equal(bench_after(&b, wide), 4); /* their windows have expired in any case */
        assert_int_equal(bench_after(&b, narrow), 2);
        assert_int_equal(bench_decision(&b, wide)->u.resize.waiter, head);
        assert_int_equal(bench_after(&b, slow), 0);
        assert_int_equal(bench_after(&b, brief), cases[i].brief);
        bench_finish(&b);
    }
}

/* 16 behind the head may not be aborted any more, 8 may; 36 are idle: a head of 44 has enough. */
static void test_backfilling_goes_on_where_aborting_is_not_enough(void **state)
{
    (void)state;
    static const struct {
        const char *queue;
        int32_t need, brief;
    } cases[] = {{"backfill-abort", 45, 0},
                 {"backfill-abort-further", 44, 0},
                 {"backfill-abort-further", 45, 4}};
    for (int i = 0; i < 3; i++) {
        struct bench b;
        uint32_t site = begin(&b, "largest");
        bench_policy(&b, named(PLEAT_QUEUE, cases[i].queue));
        uint32_t runs_on = at(&b, bench_fold(&b, site, 16, 16, 4, PLEAT_CLASS_SHORT), 3),
                 aborted = at(&b, bench_fold(&b, site, 8, 8, 4, PLEAT_CLASS_SHORT), 4);
        b.components[runs_on].preempted = 3;
        at(&b, bench_wait(&b, PLEAT_RIGID, cases[i].need, cases[i].need, 0), 2);
        uint32_t brief = at(&b, bench_wait_folding(&b, 1, 4, PLEAT_CLASS_SHORT), 5);
        bench_decide(&b);
        assert_null(bench_decision(&b, runs_on));
        assert_int_equal(bench_decision(&b, aborted)->kind, PLEAT_EV_PREEMPT);
        assert_int_equal(bench_after(&b, brief), cases[i].brief);
        bench_finish(&b);
    }
}

static void test_windows_are_not_looked_at_while_things_change(void **state)
{
    (void)state;
    struct bench b;
    uint32_t site = begin(&b, "largest");
    bench_policy(&b, named(PLEAT_QUEUE, "backfill-abort"));
    at(&b, bench_fold(&b, site, 16, 16, 4, PLEAT_CLASS_SHORT), 3);
    at(&b, bench_wait(&b, PLEAT_RIGID, 50, 50, 0), 2);
    uint32_t brief = at(&b, bench_wait_folding(&b, 1, 4, PLEAT_CLASS_SHORT), 4);
    bench_begin(&b);
    b.sites[site].claimed += 10; /* somebody is starting, or ending */
    assert_int_equal(pleat_plan_begin(&b.plan, &b.view), 0);
    b.pass.policies[PLEAT_APPROACH]->decide(&b.pass);
    assert_null(bench_decision(&b, brief));
    assert_int_equal(b.plan.decisions.count, 0);
    bench_finish(&b);
}

static void test_nobody_is_aborted_too_often(void **state)
{
    (void)state;
    struct bench b;
    uint32_t site = begin(&b, "largest");
    bench_policy(&b, named(PLEAT_QUEUE, "backfill-abort"));
    uint32_t brief = at(&b, bench_fold(&b, site, 16, 16, 4, PLEAT_CLASS_SHORT), 3);
    b.components[brief].preempted = 3;
    at(&b, bench_wait(&b, PLEAT_RIGID, 50, 50, 0), 2);
    bench_decide(&b);
    assert_int_equal(b.plan.decisions.count, 0);
    bench_finish(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_psa_saves_processors),
        cmocka_unit_test(test_psa_with_all_that_is_idle),
        cmocka_unit_test(test_psa_by_the_letter_leaves_what_is_equal),
        cmocka_unit_test(test_psa_by_the_letter_starts_where_nobody_runs),
        cmocka_unit_test(test_psa_by_the_letter_counts_who_starts),
        cmocka_unit_test(test_asp_max_leaves_something),
        cmocka_unit_test(test_asp_max_and_one_that_needs_more),
        cmocka_unit_test(test_the_largest_or_wait),
        cmocka_unit_test(test_folding_halves_the_latest),
        cmocka_unit_test(test_folding_starts_unfolded),
        cmocka_unit_test(test_fjt_short_on_idle_processors),
        cmocka_unit_test(test_fjt_short_on_those_of_long_ones),
        cmocka_unit_test(test_fjt_nobody_has_anything_to_give),
        cmocka_unit_test(test_fjt_long_while_short_ones_run),
        cmocka_unit_test(test_fjt_long_and_others_wait),
        cmocka_unit_test(test_fjt_long_takes_its_part_of_long_ones),
        cmocka_unit_test(test_fjt_1_folds_nobody),
        cmocka_unit_test(test_partitions_grow_by_levels),
        cmocka_unit_test(test_partitions_grow_where_it_pays),
        cmocka_unit_test(test_partitions_shrink_by_levels),
        cmocka_unit_test(test_only_short_ones_are_backfilled),
        cmocka_unit_test(test_windows_end_in_abort),
        cmocka_unit_test(test_windows_end_in_folding),
        cmocka_unit_test(test_windows_end_when_the_head_is_due),
        cmocka_unit_test(test_backfilling_goes_on_where_folding_is_not_enough),
        cmocka_unit_test(test_backfilling_goes_on_where_aborting_is_not_enough),
        cmocka_unit_test(test_windows_are_not_looked_at_while_things_change),
        cmocka_unit_test(test_nobody_is_aborted_too_often),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
