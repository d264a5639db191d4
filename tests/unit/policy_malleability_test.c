/* FPSMA and EGS by worked examples: figures 4 and 5 of Buisson et al. 2007, done by hand. */
#include "policy_bench.h"

struct running {
    int32_t size, minimum, maximum;
    uint8_t sizes_kind;
};

struct example {
    const char *what;
    const struct pleat_policy *policy;
    bool shrink;
    struct running jobs[4]; /* in order of their start; size 0 ends them */
    int32_t value;          /* growValue, shrinkValue */
    int32_t sizes[4];       /* expected */
    int32_t left;           /* expected: of the value, not accepted */
};

#define FPSMA &pleat_policy_fpsma
#define EGS &pleat_policy_egs
#define ONCE &pleat_policy_egs_once
#define PRINTED &pleat_policy_egs_printed

enum { P = PLEAT_SIZES_POWERS };

static const struct example examples[] = {
    {"the earliest started takes all",
     FPSMA,
     false,
     {{2, 2, 46, 0}, {2, 2, 46, 0}, {2, 2, 46, 0}},
     10,
     {12, 2, 2},
     0},
    {"what the first leaves goes to the next",
     FPSMA,
     false,
     {{2, 2, 8, 0}, {2, 2, 46, 0}, {2, 2, 46, 0}},
     10,
     {8, 6, 2},
     0},
    {"a power of two takes the largest power in reach",
     FPSMA,
     false,
     {{2, 2, 32, P}, {2, 2, 46, 0}},
     10,
     {8, 6},
     0},
    {"no power in reach: it takes nothing, the next is offered all",
     FPSMA,
     false,
     {{4, 2, 32, P}, {2, 2, 46, 0}},
     3,
     {4, 5},
     0},
    {"nobody can grow", FPSMA, false, {{8, 2, 8, 0}, {4, 2, 32, P}}, 3, {8, 4}, 3},
    {"limits leave a rest", FPSMA, false, {{2, 2, 4, 0}, {2, 2, 5, 0}}, 10, {4, 5}, 5},

    {"the latest started gives all",
     FPSMA,
     true,
     {{10, 2, 46, 0}, {10, 2, 46, 0}, {10, 2, 46, 0}},
     7,
     {10, 10, 3},
     0},
    {"down to its minimum, then the one before it",
     FPSMA,
     true,
     {{10, 2, 46, 0}, {10, 2, 46, 0}, {10, 2, 46, 0}},
     12,
     {10, 6, 2},
     0},
    {"all at their minimum, and short of what was asked",
     FPSMA,
     true,
     {{10, 2, 46, 0}, {10, 2, 46, 0}, {10, 2, 46, 0}},
     30,
     {2, 2, 2},
     6},
    {"a power of two gives more than asked (8 for 3)",
     FPSMA,
     true,
     {{16, 2, 32, P}, {16, 2, 32, P}},
     3,
     {16, 8},
     -5},
    {"the latest is at its minimum", FPSMA, true, {{10, 2, 46, 0}, {4, 4, 46, 0}}, 3, {7, 4}, 0},

    {"printed: the bonus goes to the earliest started",
     ONCE,
     false,
     {{2, 2, 46, 0}, {2, 2, 46, 0}, {2, 2, 46, 0}},
     7,
     {5, 4, 4},
     0},
    {"printed: what a limit leaves stays",
     ONCE,
     false,
     {{2, 2, 3, 0}, {2, 2, 46, 0}, {2, 2, 46, 0}},
     7,
     {3, 4, 4},
     2},
    {"printed: shares that no power of two can use stay",
     ONCE,
     false,
     {{4, 2, 32, P}, {4, 2, 32, P}},
     4,
     {4, 4},
     4},
    {"printed: the malus goes to the latest started",
     ONCE,
     true,
     {{10, 2, 46, 0}, {10, 2, 46, 0}, {10, 2, 46, 0}},
     7,
     {8, 8, 7},
     0},
    {"printed: what the latest cannot give is not asked of the others",
     ONCE,
     true,
     {{10, 2, 46, 0}, {10, 2, 46, 0}, {3, 2, 46, 0}},
     9,
     {7, 7, 2},
     2},

    {"to the letter: the malus goes to the others, and 8 are reclaimed of 7",
     PRINTED,
     true,
     {{10, 2, 46, 0}, {10, 2, 46, 0}, {10, 2, 46, 0}},
     7,
     {7, 7, 8},
     -1},
    {"to the letter: no remainder, and each is asked for one more",
     PRINTED,
     true,
     {{10, 2, 46, 0}, {10, 2, 46, 0}, {10, 2, 46, 0}},
     6,
     {7, 7, 7},
     -3},
    {"to the letter: the others are asked though the latest gave enough",
     PRINTED,
     true,
     {{16, 2, 32, P}, {16, 2, 32, P}},
     4,
     {8, 8},
     -12},
    {"to the letter: growing is as in one round",
     PRINTED,
     false,
     {{2, 2, 3, 0}, {2, 2, 46, 0}, {2, 2, 46, 0}},
     7,
     {3, 4, 4},
     2},

    {"equal shares", EGS, false, {{2, 2, 46, 0}, {2, 2, 46, 0}, {2, 2, 46, 0}}, 9, {5, 5, 5}, 0},
    {"the remainder is a bonus of the earliest started",
     EGS,
     false,
     {{2, 2, 46, 0}, {2, 2, 46, 0}, {2, 2, 46, 0}},
     7,
     {5, 4, 4},
     0},
    {"a remainder of 2: two bonuses",
     EGS,
     false,
     {{2, 2, 46, 0}, {2, 2, 46, 0}, {2, 2, 46, 0}},
     8,
     {5, 5, 4},
     0},
    {"fewer processors than jobs",
     EGS,
     false,
     {{2, 2, 46, 0}, {2, 2, 46, 0}, {2, 2, 46, 0}},
     2,
     {3, 3, 2},
     0},
    {"sizes need not be equal afterwards, only the shares",
     EGS,
     false,
     {{20, 2, 46, 0}, {2, 2, 46, 0}},
     6,
     {23, 5},
     0},
    {"a limit leaves a rest: it is divided again",
     EGS,
     false,
     {{2, 2, 3, 0}, {2, 2, 46, 0}, {2, 2, 46, 0}},
     7,
     {3, 5, 5},
     0},
    {"powers of two take what they can of their share",
     EGS,
     false,
     {{2, 2, 32, P}, {2, 2, 32, P}},
     12,
     {8, 8},
     0},
    {"the bonus is refused: the next is asked",
     EGS,
     false,
     {{8, 2, 8, 0}, {2, 2, 46, 0}, {2, 2, 46, 0}},
     1,
     {8, 3, 2},
     0},
    {"no share is enough for anybody: the earliest is offered all",
     EGS,
     false,
     {{4, 2, 32, P}, {4, 2, 32, P}},
     4,
     {8, 4},
     0},
    {"nobody can grow at all", EGS, false, {{8, 2, 8, 0}, {4, 2, 32, P}}, 3, {8, 4}, 3},

    {"7 from 3 jobs is 7: 2, 2, 3 (as printed it would be 8)",
     EGS,
     true,
     {{10, 2, 46, 0}, {10, 2, 46, 0}, {10, 2, 46, 0}},
     7,
     {8, 8, 7},
     0},
    {"the malus is the most recently started ones'",
     EGS,
     true,
     {{10, 2, 46, 0}, {10, 2, 46, 0}, {10, 2, 46, 0}},
     8,
     {8, 7, 7},
     0},
    {"equal shares back",
     EGS,
     true,
     {{10, 2, 46, 0}, {12, 2, 46, 0}, {14, 2, 46, 0}},
     9,
     {7, 9, 11},
     0},
    {"a minimum leaves a rest: it is divided again",
     EGS,
     true,
     {{10, 2, 46, 0}, {10, 2, 46, 0}, {3, 2, 46, 0}},
     9,
     {6, 6, 2},
     0},
    {"a power of two gives more than its share: the other is left alone",
     EGS,
     true,
     {{16, 2, 32, P}, {16, 2, 32, P}},
     4,
     {16, 8},
     -4},
    {"the malus falls on a job at its minimum: the one before it gives",
     EGS,
     true,
     {{10, 2, 46, 0}, {10, 2, 46, 0}, {2, 2, 46, 0}},
     1,
     {10, 9, 2},
     0},
    {"all at their minimum", EGS, true, {{2, 2, 46, 0}, {3, 3, 46, 0}}, 5, {2, 3}, 5},

    {"no malleability: nothing grows", &pleat_policy_none, false, {{2, 2, 46, 0}}, 5, {2}, 5},
    {"no malleability: nothing shrinks", &pleat_policy_none, true, {{8, 2, 46, 0}}, 5, {8}, 5},
};

static void check_example(const struct example *example)
{
    struct bench bench;
    bench_init(&bench);
    uint32_t site = bench_site(&bench, 1000, 0);
    bench_policy(&bench, example->policy);
    int count = 0;
    for (; count < 4 && example->jobs[count].size; count++) {
        const struct running *component = &example->jobs[count];
        uint32_t index = bench_run(&bench, site, PLEAT_MALLEABLE, component->size,
                                   component->minimum, component->maximum);
        bench.components[index].sizes_kind = component->sizes_kind;
    }
    bench_begin(&bench);
    int32_t left = example->shrink
                       ? example->policy->shrink(&bench.pass, site, example->value, PLEAT_NONE)
                       : example->policy->grow(&bench.pass, site, example->value);
    if (left != example->left)
        fail_msg("%s: %s: %d left over, expected %d", example->policy->name, example->what, left,
                 example->left);
    for (int j = 0; j < count; j++)
        if (bench_after(&bench, (uint32_t)j) != example->sizes[j])
            fail_msg("%s: %s: job %d gets %d processors, expected %d", example->policy->name,
                     example->what, j, bench_after(&bench, (uint32_t)j), example->sizes[j]);
    bench_finish(&bench);
}

static void test_examples(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
        check_example(&examples[i]);
}

/* Four jobs of 4 to 10 processors at one site, of the priorities 0, 1, 1 and -1 as they started. */
static uint32_t four_priorities(struct bench *bench)
{
    static const int16_t priorities[] = {0, 1, 1, -1};
    bench_init(bench);
    uint32_t site = bench_site(bench, 100, 0);
    bench_policy(bench, &pleat_policy_malleability_priority);
    for (int j = 0; j < 4; j++)
        bench->components[bench_run(bench, site, PLEAT_MALLEABLE, 6, 4, 10)].priority =
            priorities[j];
    return site;
}

static void check_sizes(const struct bench *bench, const int32_t *sizes)
{
    for (uint32_t j = 0; j < 4; j++)
        assert_int_equal(bench_after(bench, j), sizes[j]);
}

static void test_priorities_bias_who_grows_and_shrinks(void **state)
{
    (void)state;
    static const struct {
        int32_t value; /* above 0: to grow by; below: to shrink by */
        int32_t sizes[4];
        int32_t left;
    } cases[] = {
        {3, {6, 9, 6, 6}, 0},     {6, {6, 10, 8, 6}, 0},     {9, {7, 10, 10, 6}, 0},
        {13, {10, 10, 10, 7}, 0}, {20, {10, 10, 10, 10}, 4}, {-1, {6, 6, 6, 5}, 0},
        {-3, {5, 6, 6, 4}, 0},    {-5, {4, 6, 5, 4}, 0},     {-7, {4, 5, 4, 4}, 0},
        {-10, {4, 4, 4, 4}, 2},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench bench;
        uint32_t site = four_priorities(&bench);
        uint32_t waiter = bench_wait(&bench, PLEAT_RIGID, 90, 90, 0);
        bench_begin(&bench);
        const struct pleat_policy *policy = &pleat_policy_malleability_priority;
        int32_t left = cases[i].value > 0
                           ? policy->grow(&bench.pass, site, cases[i].value)
                           : policy->shrink(&bench.pass, site, -cases[i].value, waiter);
        check_sizes(&bench, cases[i].sizes);
        assert_int_equal(left, cases[i].left);
        bench_finish(&bench);
    }
}

/* Figure 5 is one round in a pass, too: the second of three jobs that begin with 2 processors, of
 * which 34 are free, is offered 11; the others take 2 each, and the rest stays. */
static void test_a_pass_asks_for_one_round(void **state)
{
    (void)state;
    const struct pleat_policy *both[] = {ONCE, PRINTED};
    static const int32_t maxima[] = {4, 46, 4}, sizes[] = {4, 13, 4};
    for (int p = 0; p < 2; p++) {
        struct bench bench;
        bench_init(&bench);
        uint32_t site = bench_site(&bench, 40, 0);
        bench_policy(&bench, both[p]);
        for (int j = 0; j < 3; j++)
            bench_run(&bench, site, PLEAT_MALLEABLE, 2, 2, maxima[j]);
        bench_begin(&bench);
        pleat_pass_grow(&bench.pass, site);
        for (uint32_t j = 0; j < 3; j++)
            assert_int_equal(bench_after(&bench, j), sizes[j]);
        assert_int_equal(pleat_plan_free(&bench.plan, site), 34 - 2 - 11 - 2);
        bench_finish(&bench);
    }
}

/* The same where a waiting job lacks processors: of the 9 that it wants the latest started gives
 * one. The others are asked for 3 each (to the letter: 4, but there the second can give only 2),
 * which is not enough; nobody is asked again, and nobody shrunk in vain. */
static void test_room_is_made_in_one_round(void **state)
{
    (void)state;
    static const struct {
        const struct pleat_policy *policy;
        int32_t sizes[3];
    } cases[] = {{EGS, {6, 6, 2}}, {ONCE, {10, 10, 3}}, {PRINTED, {10, 10, 3}}};
    for (int c = 0; c < 3; c++) {
        struct bench bench;
        bench_init(&bench);
        bench_policy(&bench, &pleat_policy_pwa);
        bench_policy(&bench, cases[c].policy);
        uint32_t site = bench_site(&bench, 23, 0);
        bench_run(&bench, site, PLEAT_MALLEABLE, 10, 2, 46);
        bench_run(&bench, site, PLEAT_MALLEABLE, 10, cases[c].policy == PRINTED ? 8 : 2, 46);
        bench_run(&bench, site, PLEAT_MALLEABLE, 3, 2, 46);
        bench_wait(&bench, PLEAT_RIGID, 9, 9, 0);
        bench_decide(&bench);
        for (uint32_t j = 0; j < 3; j++)
            assert_int_equal(bench_after(&bench, j), cases[c].sizes[j]);
        bench_finish(&bench);
    }
}

/* Repeated offers reach everybody: what one leaves, others get; several offers are one resize. */
static void test_offers_go_on_until_nobody_takes_more(void **state)
{
    (void)state;
    const struct pleat_policy *both[] = {FPSMA, EGS};
    for (int p = 0; p < 2; p++) {
        struct bench bench;
        bench_init(&bench);
        uint32_t site = bench_site(&bench, 30, 0);
        bench_policy(&bench, both[p]);
        for (int j = 0; j < 3; j++)
            bench_run(&bench, site, PLEAT_MALLEABLE, 2, 2, 4 + 6 * j);
        bench_begin(&bench);
        pleat_pass_grow(&bench.pass, site);
        assert_int_equal(bench_after(&bench, 0), 4);
        assert_int_equal(bench_after(&bench, 1), 10);
        assert_int_equal(bench_after(&bench, 2), 16);
        assert_int_equal(bench.plan.decisions.count, 3);
        assert_int_equal(pleat_plan_free(&bench.plan, site), 0);
        for (uint32_t j = 0; j < 3; j++) {
            const struct pleat_event *decision = bench_decision(&bench, j);
            assert_int_equal(decision->u.resize.accepted, bench_after(&bench, j) - 2);
            assert_true(decision->u.resize.offered >= decision->u.resize.accepted);
        }
        bench_finish(&bench);
    }
}

static void test_threshold_and_background_are_left_alone(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench);
    uint32_t site = bench_site(&bench, 20, 3);
    bench.sites[site].background = 5;
    bench_run(&bench, site, PLEAT_MALLEABLE, 2, 2, 46);
    bench_begin(&bench);
    assert_int_equal(pleat_plan_free(&bench.plan, site), 13);
    assert_int_equal(pleat_plan_growable(&bench.plan, site), 10);
    pleat_pass_grow(&bench.pass, site);
    assert_int_equal(bench_after(&bench, 0), 12);
    assert_int_equal(pleat_plan_free(&bench.plan, site), 3);
    bench_finish(&bench);
}

/* What others use of a site with a queue of its own is free for starts, and not for growing. */
static void test_others_of_a_queue_are_left_alone(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench);
    uint32_t site = bench_site(&bench, 20, 3);
    bench.sites[site].others = 5;
    bench_run(&bench, site, PLEAT_MALLEABLE, 2, 2, 46);
    bench_begin(&bench);
    assert_int_equal(pleat_plan_free(&bench.plan, site), 18);
    assert_int_equal(pleat_plan_growable(&bench.plan, site), 10);
    pleat_pass_grow(&bench.pass, site);
    assert_int_equal(bench_after(&bench, 0), 12);
    bench_finish(&bench);
}

static void test_more_background_than_processors(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench);
    uint32_t site = bench_site(&bench, 8, 2);
    bench.sites[site].background = 30;
    bench_run(&bench, site, PLEAT_MALLEABLE, 2, 2, 46);
    bench_wait(&bench, PLEAT_RIGID, 1, 1, 0);
    bench_decide(&bench);
    assert_int_equal(pleat_plan_free(&bench.plan, site), 0);
    assert_int_equal(pleat_plan_growable(&bench.plan, site), 0);
    assert_int_equal(bench.plan.decisions.count, 0);
    bench_finish(&bench);
}

static void test_nobody_is_offered_while_in_a_resize(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench);
    uint32_t site = bench_site(&bench, 20, 0);
    uint32_t busy = bench_run(&bench, site, PLEAT_MALLEABLE, 4, 2, 46);
    uint32_t idle = bench_run(&bench, site, PLEAT_MALLEABLE, 4, 2, 46);
    bench_resizing(&bench, busy, 6);
    bench_begin(&bench);
    assert_int_equal(pleat_plan_offer_grow(&bench.plan, busy, 4), 0);
    assert_int_equal(pleat_plan_offer_shrink(&bench.plan, busy, 4, PLEAT_NONE), 0);
    assert_int_equal(pleat_plan_offer_grow(&bench.plan, idle, 4), 4);
    assert_true(pleat_pass_could_grow(&bench.pass, site));
    bench_finish(&bench);
}

static void test_one_plan_does_not_grow_and_shrink_the_same(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench);
    uint32_t site = bench_site(&bench, 30, 0);
    uint32_t a = bench_run(&bench, site, PLEAT_MALLEABLE, 8, 2, 46);
    uint32_t b = bench_run(&bench, site, PLEAT_MALLEABLE, 8, 2, 46);
    bench_begin(&bench);
    assert_int_equal(pleat_plan_offer_grow(&bench.plan, a, 2), 2);
    assert_int_equal(pleat_plan_offer_shrink(&bench.plan, a, 2, PLEAT_NONE), 0);
    assert_int_equal(pleat_plan_offer_shrink(&bench.plan, b, 2, PLEAT_NONE), 2);
    assert_int_equal(pleat_plan_offer_grow(&bench.plan, b, 2), 0);
    assert_int_equal(bench_after(&bench, a), 10);
    assert_int_equal(bench_after(&bench, b), 6);
    /* what is given up is not free before its processes are gone */
    assert_int_equal(pleat_plan_free(&bench.plan, site), 12);
    bench_finish(&bench);
}

static void test_a_users_shrink_is_kept(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench);
    uint32_t site = bench_site(&bench, 30, 0);
    uint32_t component = bench_run(&bench, site, PLEAT_MALLEABLE, 5, 2, 46);
    bench.components[component].cap = 5;
    bench_decide(&bench);
    assert_int_equal(bench.plan.decisions.count, 0);
    bench_finish(&bench);
}

static void test_backoff_after_a_failure(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench);
    uint32_t site = bench_site(&bench, 30, 0);
    uint32_t component = bench_run(&bench, site, PLEAT_MALLEABLE, 5, 2, 10);
    bench.components[component].quiet_until_us = bench.view.now_us + 7;
    bench_decide(&bench);
    assert_int_equal(bench.plan.decisions.count, 0);
    assert_int_equal(bench.plan.wake_us, bench.view.now_us + 7);
    bench.view.now_us += 7;
    assert_int_equal(pleat_plan_begin(&bench.plan, &bench.view), 0);
    bench.pass.policies[PLEAT_APPROACH]->decide(&bench.pass);
    assert_int_equal(bench_after(&bench, component), 10);
    bench_finish(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_priorities_bias_who_grows_and_shrinks),
        cmocka_unit_test(test_a_pass_asks_for_one_round),
        cmocka_unit_test(test_room_is_made_in_one_round),
        cmocka_unit_test(test_offers_go_on_until_nobody_takes_more),
        cmocka_unit_test(test_threshold_and_background_are_left_alone),
        cmocka_unit_test(test_others_of_a_queue_are_left_alone),
        cmocka_unit_test(test_more_background_than_processors),
        cmocka_unit_test(test_nobody_is_offered_while_in_a_resize),
        cmocka_unit_test(test_one_plan_does_not_grow_and_shrink_the_same),
        cmocka_unit_test(test_a_users_shrink_is_kept),
        cmocka_unit_test(test_backoff_after_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
