/* A share of a rigid workload made moldable or malleable: which jobs, and what they become. */
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workload/convert.h"

#define S INT64_C(1000000)

/* Rigid jobs numbered from 1, of the sizes 1, 2, ... and around again after `largest`. */
static void make(struct pleat_workload *workload, int jobs, int32_t largest)
{
    memset(workload, 0, sizeof(*workload));
    assert_int_equal(pleat_workload_init(workload), 0);
    for (int i = 0; i < jobs; i++) {
        struct pleat_workload_job job = {.number = i + 1,
                                         .submit_us = i * S,
                                         .run_us = 100 * S,
                                         .processors = 1 + i % largest,
                                         .minimum = 1 + i % largest,
                                         .maximum = 1 + i % largest,
                                         .site = PLEAT_NONE,
                                         .user = -1};
        assert_int_equal(pleat_array_push(&workload->jobs, job), 0);
    }
}

static size_t convert(struct pleat_workload *workload, const struct pleat_conversion *conversion)
{
    struct pleat_error err;
    size_t converted = 12345;
    if (pleat_workload_convert(workload, conversion, &converted, &err))
        fail_msg("%s", err.text);
    assert_int_equal(pleat_workload_check(workload, NULL), 0);
    return converted;
}

static void test_the_rule(void **state)
{
    (void)state;
    struct pleat_workload workload;
    struct pleat_conversion conversion;
    make(&workload, 40, 40);
    pleat_conversion_default(&conversion);
    conversion.machine = 64;
    assert_int_equal(convert(&workload, &conversion), 40);
    assert_int_equal(workload.apps.count, 2);
    assert_int_equal(workload.apps.items[1].speedup.kind, PLEAT_SPEEDUP_AMDAHL);
    assert_true(workload.apps.items[1].speedup.serial == 0.02);
    for (int32_t size = 1; size <= 40; size++) {
        const struct pleat_workload_job *job = &workload.jobs.items[size - 1];
        assert_int_equal(job->kind, PLEAT_MALLEABLE);
        assert_int_equal(job->minimum, (size + 3) / 4);
        assert_int_equal(job->maximum, size <= 32 ? 2 * size : 64);
        assert_int_equal(job->initial, 0);
        assert_int_equal(job->processors, size);
        assert_int_equal(job->run_us, 100 * S);
        assert_int_equal(job->app, 1);
    }
    pleat_workload_finish(&workload);
}

/* 0.1 x 30 is 3 and not, as doubles have it, a little more. */
static void test_whole_products(void **state)
{
    (void)state;
    struct pleat_workload workload;
    struct pleat_conversion conversion;
    pleat_conversion_default(&conversion);
    for (int tenths = 1; tenths <= 10; tenths++) {
        make(&workload, 1000, 1000);
        conversion.minimum = tenths / 10.0;
        conversion.maximum = 1 + tenths / 10.0;
        assert_int_equal(convert(&workload, &conversion), 1000);
        for (int32_t size = 1; size <= 1000; size++) {
            const struct pleat_workload_job *job = &workload.jobs.items[size - 1];
            assert_int_equal(job->minimum, (size * tenths + 9) / 10);
            assert_int_equal(job->maximum, size * (10 + tenths) / 10);
        }
        pleat_workload_finish(&workload);
    }
}

static void test_shares_are_nested(void **state)
{
    (void)state;
    enum { JOBS = 4000 };
    static const double shares[] = {0, 0.01, 0.2, 0.5, 0.9, 1};
    for (uint64_t seed = 0; seed < 20; seed++) {
        bool before[JOBS] = {false};
        for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
            struct pleat_workload workload;
            struct pleat_conversion conversion;
            make(&workload, JOBS, 64);
            pleat_conversion_default(&conversion);
            conversion.share = shares[i];
            conversion.seed = seed;
            size_t converted = convert(&workload, &conversion), counted = 0;
            for (int j = 0; j < JOBS; j++) {
                bool chosen = workload.jobs.items[j].kind != PLEAT_RIGID;
                assert_true(chosen || !before[j]);
                assert_int_equal(workload.jobs.items[j].app, chosen);
                before[j] = chosen;
                counted += chosen;
            }
            assert_int_equal(counted, converted);
            assert_int_equal(workload.apps.count, converted ? 2 : 1);
            double deviation = sqrt(JOBS * shares[i] * (1 - shares[i]));
            assert_true(fabs((double)converted - JOBS * shares[i]) <= 4 * deviation);
            pleat_workload_finish(&workload);
        }
    }
}

/* Other seeds choose others, and every size class is hit alike. */
static void test_seeds_are_independent(void **state)
{
    (void)state;
    enum { JOBS = 4000 };
    struct pleat_workload one, two;
    struct pleat_conversion conversion;
    size_t both = 0, even = 0;
    pleat_conversion_default(&conversion);
    conversion.share = 0.5;
    make(&one, JOBS, 64);
    make(&two, JOBS, 64);
    conversion.seed = 1;
    convert(&one, &conversion);
    conversion.seed = 2;
    convert(&two, &conversion);
    for (int j = 0; j < JOBS; j++) {
        both += one.jobs.items[j].kind != PLEAT_RIGID && two.jobs.items[j].kind != PLEAT_RIGID;
        even += one.jobs.items[j].kind != PLEAT_RIGID && j % 2 == 0;
    }
    assert_true(both > 880 && both < 1120 && even > 880 && even < 1120);
    pleat_workload_finish(&one);
    pleat_workload_finish(&two);
}

/* A job is chosen by its number, whatever else is in the log. */
static void test_only_the_number_counts(void **state)
{
    (void)state;
    struct pleat_workload all, odd;
    struct pleat_conversion conversion;
    pleat_conversion_default(&conversion);
    conversion.share = 0.4;
    make(&all, 1000, 64);
    make(&odd, 500, 64);
    for (int i = 0; i < 500; i++)
        odd.jobs.items[i].number = 2 * i + 1;
    convert(&all, &conversion);
    convert(&odd, &conversion);
    for (int i = 0; i < 500; i++)
        assert_int_equal(odd.jobs.items[i].kind, all.jobs.items[2 * i].kind);
    pleat_workload_finish(&all);
    pleat_workload_finish(&odd);
}

static void test_machine(void **state)
{
    (void)state;
    struct pleat_workload workload;
    struct pleat_conversion conversion;
    make(&workload, 100, 100);
    pleat_conversion_default(&conversion);
    conversion.kind = PLEAT_MOLDABLE;
    conversion.machine = 16;
    assert_int_equal(convert(&workload, &conversion), 64);
    for (int32_t size = 1; size <= 100; size++) {
        const struct pleat_workload_job *job = &workload.jobs.items[size - 1];
        if (size <= 64) {
            assert_int_equal(job->kind, PLEAT_MOLDABLE);
            assert_int_equal(job->maximum, 2 * size < 16 ? 2 * size : 16);
        } else { /* a quarter of it is larger than the machine */
            assert_int_equal(job->kind, PLEAT_RIGID);
            assert_int_equal(job->maximum, size);
            assert_int_equal(job->app, 0);
        }
    }
    pleat_workload_finish(&workload);
}

static void test_sizes_and_initial(void **state)
{
    (void)state;
    struct pleat_workload workload;
    struct pleat_conversion conversion;
    make(&workload, 12, 12);
    pleat_conversion_default(&conversion);
    conversion.sizes_kind = PLEAT_SIZES_MULTIPLES;
    conversion.sizes_parameter = 4;
    conversion.initial = 1;
    /* 1 (from 1 to 2) has no multiple of 4; 2 has (from 1 to 4) */
    assert_int_equal(convert(&workload, &conversion), 11);
    assert_int_equal(workload.jobs.items[0].kind, PLEAT_RIGID);
    assert_int_equal(workload.jobs.items[1].initial, 4);
    assert_int_equal(workload.jobs.items[6].initial, 4);
    assert_int_equal(workload.jobs.items[11].initial, 12);
    pleat_workload_finish(&workload);
    make(&workload, 12, 12);
    pleat_conversion_default(&conversion);
    conversion.initial = 0.5;
    convert(&workload, &conversion);
    assert_int_equal(workload.jobs.items[0].initial, 1);
    assert_int_equal(workload.jobs.items[4].initial, 3);
    assert_int_equal(workload.jobs.items[11].initial, 6);
    pleat_workload_finish(&workload);
    make(&workload, 12, 12);
    conversion.initial = 99;
    convert(&workload, &conversion);
    assert_int_equal(workload.jobs.items[11].initial, 24);
    pleat_workload_finish(&workload);
}

/* Limits go inward to sizes of the table; who has none within them stays rigid. */
static void test_sizes_of_the_table(void **state)
{
    (void)state;
    struct pleat_workload workload;
    struct pleat_conversion conversion;
    make(&workload, 80, 80);
    pleat_conversion_default(&conversion);
    assert_int_equal(pleat_app_parse("table:4=90,9=40,16=30", &workload, &conversion.app, NULL), 0);
    conversion.sizes_kind = PLEAT_SIZES_LIST;
    conversion.initial = 1;
    /* 1 may have 1 to 2, 65 at least 17 */
    assert_int_equal(convert(&workload, &conversion), 63);
    static const struct {
        int32_t size, minimum, maximum, initial;
    } cases[] = {{2, 4, 4, 4},  {4, 4, 4, 4},    {5, 4, 9, 4},    {8, 4, 16, 4},
                 {9, 4, 16, 9}, {17, 9, 16, 16}, {36, 9, 16, 16}, {64, 16, 16, 16}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct pleat_workload_job *job = &workload.jobs.items[cases[i].size - 1];
        assert_int_equal(job->sizes_kind, PLEAT_SIZES_LIST);
        assert_int_equal(job->minimum, cases[i].minimum);
        assert_int_equal(job->maximum, cases[i].maximum);
        assert_int_equal(job->initial, cases[i].initial);
    }
    assert_int_equal(workload.jobs.items[0].kind, PLEAT_RIGID);
    assert_int_equal(workload.jobs.items[64].kind, PLEAT_RIGID);
    assert_int_equal(workload.jobs.items[64].sizes_kind, PLEAT_SIZES_ANY);
    assert_int_equal(pleat_workload_check(&workload, NULL), 0);
    pleat_workload_finish(&workload);
}

static void test_sizes_as_written(void **state)
{
    (void)state;
    struct pleat_sizes sizes;
    struct pleat_error err;
    assert_int_equal(pleat_conversion_sizes_parse("table", &sizes, &err), 0);
    assert_int_equal(sizes.kind, PLEAT_SIZES_LIST);
    assert_int_equal(pleat_conversion_sizes_parse("multiples:6", &sizes, &err), 0);
    assert_true(sizes.kind == PLEAT_SIZES_MULTIPLES && sizes.step == 6);
    static const char *const wrong[] = {"tables", "", "multiples:0"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(pleat_conversion_sizes_parse(wrong[i], &sizes, &err), PLEAT_E_INVALID);
        assert_non_null(strstr(err.text, "expected any, powers"));
        assert_null(strstr(err.text, "a list fits one job"));
    }
    assert_int_equal(pleat_conversion_sizes_parse("2,4", &sizes, &err), PLEAT_E_INVALID);
    assert_non_null(strstr(err.text, "a list fits one job"));
}

static void test_shrinking_only(void **state)
{
    (void)state;
    struct pleat_workload workload;
    struct pleat_conversion conversion;
    make(&workload, 10, 10);
    pleat_conversion_default(&conversion);
    conversion.minimum = 0;
    conversion.maximum = 0.75;
    assert_int_equal(convert(&workload, &conversion), 10);
    assert_int_equal(workload.jobs.items[0].minimum, 1); /* no size below 1 */
    assert_int_equal(workload.jobs.items[0].maximum, 1);
    assert_int_equal(workload.jobs.items[9].minimum, 1);
    assert_int_equal(workload.jobs.items[9].maximum, 7);
    pleat_workload_finish(&workload);
}

/* Jobs that are moldable or malleable already stay what they are. */
static void test_twice(void **state)
{
    (void)state;
    struct pleat_workload workload;
    struct pleat_conversion conversion;
    make(&workload, 1000, 10);
    pleat_conversion_default(&conversion);
    conversion.share = 0.3;
    size_t first = convert(&workload, &conversion);
    conversion.kind = PLEAT_MOLDABLE;
    conversion.share = 1;
    assert_int_equal(convert(&workload, &conversion), 1000 - first);
    assert_int_equal(workload.apps.count, 3);
    assert_int_equal(convert(&workload, &conversion), 0);
    assert_int_equal(workload.apps.count, 3);
    pleat_workload_finish(&workload);
}

static void expect_wrong(const struct pleat_conversion *conversion, const char *says)
{
    struct pleat_workload workload;
    struct pleat_workload_job before[10];
    struct pleat_error err = {0};
    size_t converted = 12345;
    make(&workload, 10, 10);
    memcpy(before, workload.jobs.items, sizeof(before));
    assert_int_equal(pleat_workload_convert(&workload, conversion, &converted, &err),
                     PLEAT_E_INVALID);
    if (!strstr(err.text, says))
        fail_msg("'%s' does not say '%s'", err.text, says);
    assert_int_equal(converted, 12345);
    assert_int_equal(workload.apps.count, 1);
    assert_memory_equal(before, workload.jobs.items, sizeof(before));
    pleat_workload_finish(&workload);
}

#define WRONG(field, value, says)                                                                  \
    do {                                                                                           \
        struct pleat_conversion conversion;                                                        \
        pleat_conversion_default(&conversion);                                                     \
        conversion.field = (value);                                                                \
        expect_wrong(&conversion, says);                                                           \
    } while (0)

static void test_wrong(void **state)
{
    (void)state;
    WRONG(share, 1.1, "share of jobs 1.1");
    WRONG(share, -0.1, "share of jobs -0.1");
    WRONG(share, NAN, "share");
    WRONG(kind, PLEAT_RIGID, "moldable or malleable");
    WRONG(minimum, 3, "minimum 3 and maximum 2 times");
    WRONG(minimum, -1, "minimum -1");
    WRONG(minimum, NAN, "minimum");
    WRONG(maximum, 0, "maximum 0");
    WRONG(maximum, INFINITY, "maximum inf");
    WRONG(initial, -1, "initial -1");
    WRONG(machine, -1, "machine of -1");
    WRONG(sizes_kind, PLEAT_SIZES_LIST, "table of run times, and it has none");
    WRONG(sizes_kind, PLEAT_SIZES_KIND_COUNT, "kind of accepted sizes");
    WRONG(sizes_kind, PLEAT_SIZES_MULTIPLES, "multiples of 0");
    WRONG(app.speedup.serial, 2, "the application of converted jobs: the serial fraction");
    WRONG(app.speedup.kind, PLEAT_SPEEDUP_TABLE, "table of run times");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_rule),
        cmocka_unit_test(test_whole_products),
        cmocka_unit_test(test_shares_are_nested),
        cmocka_unit_test(test_seeds_are_independent),
        cmocka_unit_test(test_only_the_number_counts),
        cmocka_unit_test(test_machine),
        cmocka_unit_test(test_sizes_and_initial),
        cmocka_unit_test(test_sizes_of_the_table),
        cmocka_unit_test(test_sizes_as_written),
        cmocka_unit_test(test_shrinking_only),
        cmocka_unit_test(test_twice),
        cmocka_unit_test(test_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
