/* What is in a workload, by an example worked out by hand. */
#include "test.h"

#include <math.h>
#include <string.h>

#include "workload/describe.h"

#define S INT64_C(1000000)

static void near(double got, double wanted)
{
    if (fabs(got - wanted) > 1e-9 * fabs(wanted))
        fail_msg("%.12g, expected %.12g", got, wanted);
}

static void add(struct pleat_workload *workload, int64_t submit_s, int64_t run_s, int32_t size,
                enum pleat_job_kind kind, int64_t estimate_s, int32_t user)
{
    struct pleat_workload_job job = {.submit_us = submit_s * S,
                                     .run_us = run_s * S,
                                     .estimate_us = estimate_s * S,
                                     .processors = size,
                                     .minimum = size,
                                     .maximum = size,
                                     .site = PLEAT_NONE,
                                     .user = user,
                                     .kind = (uint8_t)kind};
    assert_int_equal(pleat_array_push(&workload->jobs, job), 0);
}

static void make(struct pleat_workload *workload)
{
    memset(workload, 0, sizeof(*workload));
    assert_int_equal(pleat_workload_init(workload), 0);
    add(workload, 100, 100, 1, PLEAT_RIGID, 200, 3);
    add(workload, 160, 50, 4, PLEAT_RIGID, 0, 3);
    add(workload, 3700, 200, 6, PLEAT_MALLEABLE, 100, -1);
    add(workload, 7360, 10, 2, PLEAT_MOLDABLE, 10, 5);
}

static void test_numbers(void **state)
{
    (void)state;
    struct pleat_workload workload;
    struct pleat_description d;
    make(&workload);
    workload.machine = 8;
    assert_int_equal(pleat_workload_describe(&workload, &d, NULL), 0);
    assert_int_equal(d.jobs, 4);
    assert_int_equal(d.rigid, 2);
    assert_int_equal(d.moldable, 1);
    assert_int_equal(d.malleable, 1);
    assert_int_equal(d.users, 2);
    assert_int_equal(d.machine, 8);
    assert_int_equal(d.estimates, 3);
    near(d.span_s, 7260);
    near(d.work_s, 1520); /* 100 + 200 + 1200 + 20 */
    near(d.load, 1520.0 / (8 * 7260));
    near(d.serial, 0.25);
    near(d.powers, 0.5);
    near(d.size.mean, 3.25);
    near(d.size.median, 3);
    near(d.size.deviation, sqrt(14.75 / 3));
    near(d.size.least, 1);
    near(d.size.most, 6);
    near(d.run_s.mean, 90);
    near(d.run_s.median, 75);
    near(d.gap_s.mean, 2420); /* 60, 3540, 3660 */
    near(d.gap_s.median, 3540);
    assert_int_equal(d.gap_s.count, 3);
    near(d.work_per_job_s.mean, 380);
    near(d.work_per_job_s.median, 150);
    near(d.accuracy.mean, 3.5 / 3); /* 0.5, 2, 1 */
    near(d.accuracy.median, 1);
    assert_int_equal(d.accuracy.count, 3);
    pleat_workload_finish(&workload);
}

static void expect_counts(const size_t *counts, size_t all, const size_t *wanted)
{
    for (size_t i = 0; i < all; i++)
        assert_int_equal(counts[i], wanted[i]);
}

static void test_hours(void **state)
{
    (void)state;
    struct pleat_workload workload;
    struct pleat_description d;
    make(&workload);
    add(&workload, 25 * 3600, 1, 1, PLEAT_RIGID, 0, -1);
    add(&workload, INT64_C(8) * 86400 - 1, 1, 1, PLEAT_RIGID, 0, -1);
    assert_int_equal(pleat_workload_describe(&workload, &d, NULL), 0);
    assert_int_equal(d.machine, 6); /* the largest job */
    expect_counts(d.hours, 24, (const size_t[24]){[0] = 2, [1] = 2, [2] = 1, [23] = 1});
    expect_counts(d.weekdays, 7, (const size_t[7]){[0] = 5, [1] = 1});
    /* Fri Oct 1 07:00:03 UTC 1993: jobs at 07:01, 07:02, 08:01, 09:02, on Saturday at 08:00:03,
     * and a week later on Saturday at 07:00:02 */
    workload.origin_us = 749458803 * S;
    assert_int_equal(pleat_workload_describe(&workload, &d, NULL), 0);
    expect_counts(d.hours, 24, (const size_t[24]){[7] = 3, [8] = 2, [9] = 1});
    expect_counts(d.weekdays, 7, (const size_t[7]){[4] = 4, [5] = 2});
    pleat_workload_finish(&workload);
}

static void test_few(void **state)
{
    (void)state;
    struct pleat_workload workload = {0};
    struct pleat_description d;
    assert_int_equal(pleat_workload_init(&workload), 0);
    workload.machine = 5;
    memset(&d, 1, sizeof(d));
    assert_int_equal(pleat_workload_describe(&workload, &d, NULL), 0);
    assert_int_equal(d.jobs, 0);
    assert_int_equal(d.machine, 5);
    assert_true(d.load == 0 && d.serial == 0 && d.size.mean == 0);
    add(&workload, 7, 10, 4, PLEAT_RIGID, 0, -1);
    assert_int_equal(pleat_workload_describe(&workload, &d, NULL), 0);
    assert_int_equal(d.jobs, 1);
    assert_int_equal(d.users, 0);
    assert_int_equal(d.gap_s.count, 0);
    assert_int_equal(d.accuracy.count, 0);
    assert_true(d.load == 0 && d.span_s == 0 && d.powers == 1 && d.size.deviation == 0);
    pleat_workload_finish(&workload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_hours),
        cmocka_unit_test(test_few),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
