/* Equipartition and folding by worked examples: what Buisson et al. 2007 (III, V-C.2) say of them,
 * done by hand. */
#include "policy_bench.h"

#include <string.h>

enum { P = PLEAT_SIZES_POWERS };

struct running {
    int32_t size, minimum, maximum;
    uint8_t sizes_kind;
};

struct example {
    const char *what;
    int32_t processors;     /* of the site */
    int32_t wanted;         /* by a rigid job that waits; 0: nobody does */
    struct running jobs[4]; /* in order of their start; minimum 0 ends them */
    int32_t sizes[4];       /* expected after one pass */
};

static const struct example equipartition[] = {
    {"free ones: equal sizes, not equal shares of them",
     30,
     0,
     {{2, 2, 46, 0}, {4, 2, 46, 0}, {6, 2, 46, 0}},
     {10, 10, 10}},
    {"the remainder is the earliest started ones'",
     32,
     0,
     {{2, 2, 46, 0}, {4, 2, 46, 0}, {6, 2, 46, 0}},
     {11, 11, 10}},
    {"limits: the others share the rest",
     30,
     0,
     {{2, 2, 4, 0}, {4, 2, 46, 0}, {6, 2, 46, 0}},
     {4, 13, 13}},
    {"nothing is free: one shrinks (the other grows in the next pass)",
     18,
     0,
     {{16, 2, 46, 0}, {2, 2, 46, 0}},
     {9, 2}},
    {"something is free: growing and shrinking are mixed",
     24,
     0,
     {{16, 2, 46, 0}, {2, 2, 46, 0}, {2, 2, 46, 0}},
     {8, 6, 2}},
    {"almost the same is good enough",
     10,
     0,
     {{3, 2, 46, 0}, {3, 2, 46, 0}, {4, 2, 46, 0}},
     {3, 3, 4}},
    {"nobody gains: nobody shrinks", 16, 0, {{12, 2, 46, 0}, {4, 2, 4, 0}}, {12, 4}},
    {"a power of two gets the largest power in its share, the others what that leaves",
     20,
     0,
     {{1, 1, 64, P}, {1, 1, 46, 0}},
     {8, 12}},
    {"alone: everything", 20, 0, {{3, 2, 46, 0}}, {20}},
    {"room for another: from the largest, down to one level",
     24,
     5,
     {{12, 2, 46, 0}, {8, 2, 46, 0}, {4, 2, 46, 0}},
     {8, 7, 4}},
    {"not below a minimum", 24, 8, {{12, 10, 46, 0}, {8, 2, 46, 0}, {4, 2, 46, 0}}, {10, 3, 3}},
    {"more than they can give: nobody shrinks for it, but sizes are evened out",
     24,
     19,
     {{12, 2, 46, 0}, {8, 2, 46, 0}, {4, 2, 46, 0}},
     {8, 8, 4}},
};

static const struct example folding[] = {
    {"the smallest is doubled", 16, 0, {{8, 2, 46, 0}, {4, 2, 46, 0}}, {8, 8}},
    {"and again, as far as it goes", 40, 0, {{8, 2, 46, 0}, {4, 2, 46, 0}}, {16, 16}},
    {"equal ones: the earliest started", 12, 0, {{4, 2, 46, 0}, {4, 2, 46, 0}}, {8, 4}},
    {"too few to double the smallest: nobody smaller is left",
     15,
     0,
     {{8, 2, 46, 0}, {4, 2, 46, 0}},
     {8, 4}},
    {"the smallest is at its maximum: the next", 18, 0, {{6, 2, 46, 0}, {4, 2, 7, 0}}, {12, 4}},
    {"odd ones are doubled, too", 6, 0, {{3, 2, 46, 0}}, {6}},
    {"the largest is halved", 20, 6, {{8, 2, 46, 0}, {12, 2, 46, 0}}, {8, 6}},
    {"more than is wanted", 20, 3, {{8, 2, 46, 0}, {12, 2, 46, 0}}, {8, 6}},
    {"the largest first, each time", 32, 13, {{12, 2, 46, 0}, {20, 2, 46, 0}}, {6, 10}},
    {"which may be the same again", 28, 13, {{8, 2, 46, 0}, {20, 2, 46, 0}}, {8, 5}},
    {"twice, where it still is the largest", 36, 20, {{4, 2, 46, 0}, {32, 2, 46, 0}}, {4, 8}},
    {"equal ones: the latest started", 16, 3, {{8, 2, 46, 0}, {8, 2, 46, 0}}, {8, 4}},
    {"an odd one is not halved", 23, 3, {{8, 2, 46, 0}, {15, 2, 46, 0}}, {4, 15}},
    {"nor below its minimum", 20, 4, {{8, 2, 46, 0}, {12, 7, 46, 0}}, {4, 12}},
};

static void check(const struct pleat_policy *policy, const struct example *example)
{
    struct bench bench;
    bench_init(&bench);
    bench_policy(&bench, policy);
    uint32_t site = bench_site(&bench, example->processors, 0);
    uint32_t count = 0;
    for (; count < 4 && example->jobs[count].minimum; count++) {
        const struct running *job = &example->jobs[count];
        uint32_t index =
            bench_run(&bench, site, PLEAT_MALLEABLE, job->size, job->minimum, job->maximum);
        bench.components[index].sizes_kind = job->sizes_kind;
    }
    if (example->wanted)
        bench_wait(&bench, PLEAT_RIGID, example->wanted, example->wanted, 0);
    bench_decide(&bench);
    for (uint32_t j = 0; j < count; j++)
        if (bench_after(&bench, j) != example->sizes[j])
            fail_msg("%s: %s: job %u gets %d processors, expected %d", policy->name, example->what,
                     j, bench_after(&bench, j), example->sizes[j]);
    bench_finish(&bench);
}

static void test_equipartition(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(equipartition) / sizeof(equipartition[0]); i++)
        check(&pleat_policy_equipartition, &equipartition[i]);
}

static void test_folding(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(folding) / sizeof(folding[0]); i++)
        check(&pleat_policy_malleability_folding, &folding[i]);
}

/* What is on its way back is not asked for again, nor is it given to others meanwhile. */
static void test_equipartition_waits_for_what_is_coming(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench);
    bench_policy(&bench, &pleat_policy_equipartition);
    uint32_t site = bench_site(&bench, 24, 0);
    uint32_t shrinking = bench_run(&bench, site, PLEAT_MALLEABLE, 14, 2, 46);
    uint32_t large = bench_run(&bench, site, PLEAT_MALLEABLE, 8, 2, 46);
    uint32_t small = bench_run(&bench, site, PLEAT_MALLEABLE, 2, 2, 46);
    bench_resizing(&bench, shrinking, 8);
    bench.sites[site].coming = 6;
    bench_decide(&bench);
    assert_int_equal(bench_after(&bench, large), 8);
    assert_int_equal(bench_after(&bench, small), 2);
    bench_finish(&bench);
}

/* The share of one that cannot take it now stays free. */
static void test_equipartition_keeps_a_share(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench);
    bench_policy(&bench, &pleat_policy_equipartition);
    uint32_t site = bench_site(&bench, 20, 0);
    uint32_t quiet = bench_run(&bench, site, PLEAT_MALLEABLE, 2, 2, 46);
    uint32_t other = bench_run(&bench, site, PLEAT_MALLEABLE, 2, 2, 46);
    bench.components[quiet].quiet_until_us = bench.view.now_us + 5;
    bench_decide(&bench);
    assert_int_equal(bench_after(&bench, quiet), 2);
    assert_int_equal(bench_after(&bench, other), 10);
    assert_int_equal(bench.plan.wake_us, bench.view.now_us + 5);
    bench_finish(&bench);
}

/* The processors that a shrink will free come back, whole passes later: sizes settle, and stay. */
static void test_equipartition_settles(void **state)
{
    (void)state;
    static const struct running jobs[4] = {
        {17, 2, 46, 0}, {3, 2, 46, P}, {2, 2, 5, 0}, {9, 1, 46, 0}};
    int32_t sizes[4] = {17, 2, 2, 9};
    for (int pass = 0; pass < 8; pass++) {
        struct bench bench;
        bench_init(&bench);
        bench_policy(&bench, &pleat_policy_equipartition);
        uint32_t site = bench_site(&bench, 30, 0);
        for (int j = 0; j < 4; j++) {
            uint32_t index = bench_run(&bench, site, PLEAT_MALLEABLE, sizes[j], jobs[j].minimum,
                                       jobs[j].maximum);
            bench.components[index].sizes_kind = jobs[j].sizes_kind;
        }
        bench_decide(&bench);
        if (pass >= 4)
            assert_int_equal(bench.plan.decisions.count, 0);
        for (uint32_t j = 0; j < 4; j++)
            sizes[j] = bench_after(&bench, j);
        bench_finish(&bench);
    }
    static const int32_t expected[4] = {8, 8, 5, 9};
    assert_memory_equal(sizes, expected, sizeof(sizes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equipartition),
        cmocka_unit_test(test_folding),
        cmocka_unit_test(test_equipartition_waits_for_what_is_coming),
        cmocka_unit_test(test_equipartition_keeps_a_share),
        cmocka_unit_test(test_equipartition_settles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
