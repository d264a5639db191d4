/* Summaries of samples against values worked out by hand and from a printed table of Student's t.
 */
#include "test.h"

#include <math.h>

#include "workload/statistics.h"

static void near(double got, double wanted)
{
    if (fabs(got - wanted) > 1e-8 * fabs(wanted))
        fail_msg("%.12g, expected %.12g", got, wanted);
}

static void test_summary(void **state)
{
    (void)state;
    /* sum 26.6; squares around 3.8 add up to 43.18; order statistics 0.95 x 6 = 5.7 apart from the
     * first: 0.3 x 5 + 0.7 x 9 */
    double values[] = {3.5, 1, 4, 1.5, 9, 2.6, 5};
    struct pleat_summary summary;
    pleat_summarize(values, 7, &summary);
    assert_int_equal(summary.count, 7);
    near(summary.mean, 3.8);
    near(summary.deviation, sqrt(43.18 / 6));
    near(summary.least, 1);
    near(summary.median, 3.5);
    near(summary.p95, 7.8);
    near(summary.most, 9);
    for (int i = 1; i < 7; i++)
        assert_true(values[i - 1] < values[i]);
}

static void test_even_count(void **state)
{
    (void)state;
    double values[] = {10, 4, 1, 7};
    struct pleat_summary summary;
    pleat_summarize(values, 4, &summary);
    near(summary.median, 5.5);
    near(summary.p95, 7 + 0.85 * 3);
    near(summary.deviation, sqrt(15));
}

static void test_small_samples(void **state)
{
    (void)state;
    double one = -2.5;
    struct pleat_summary summary;
    pleat_summarize(&one, 1, &summary);
    assert_int_equal(summary.count, 1);
    assert_true(summary.mean == -2.5 && summary.deviation == 0 && summary.least == -2.5);
    assert_true(summary.median == -2.5 && summary.p95 == -2.5 && summary.most == -2.5);
    pleat_summarize(&one, 0, &summary);
    assert_int_equal(summary.count, 0);
    assert_true(summary.mean == 0 && summary.deviation == 0 && summary.most == 0);
    assert_true(pleat_confidence(&one, 1, 0.95) == 0);
    assert_true(pleat_confidence(&one, 0, 0.95) == 0);
}

static void test_confidence(void **state)
{
    (void)state;
    /* deviation sqrt(2.5), t(0.975; 4) = 2.776445105, t(0.95; 4) = 2.131846786 */
    static const double five[] = {1, 2, 3, 4, 5};
    /* deviation sqrt(2), t(0.975; 1) = 12.70620474 */
    static const double two[] = {3, 5};
    near(pleat_confidence(five, 5, 0.95), 2.776445105 * sqrt(2.5 / 5));
    near(pleat_confidence(five, 5, 0.90), 2.131846786 * sqrt(2.5 / 5));
    near(pleat_confidence(two, 2, 0.95), 12.70620474 * sqrt(2.0 / 2));
}

static void test_slowdown(void **state)
{
    (void)state;
    near(pleat_bounded_slowdown(90, 10, 10), 10);
    near(pleat_bounded_slowdown(100, 50, 10), 3);
    near(pleat_bounded_slowdown(0, 50, 10), 1);
    near(pleat_bounded_slowdown(0, 1, 10), 1); /* 0.1, not below 1 */
    near(pleat_bounded_slowdown(99, 1, 10), 10);
    near(pleat_bounded_slowdown(5, 0, 10), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_summary),       cmocka_unit_test(test_even_count),
        cmocka_unit_test(test_small_samples), cmocka_unit_test(test_confidence),
        cmocka_unit_test(test_slowdown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
