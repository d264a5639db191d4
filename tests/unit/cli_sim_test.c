/* Curves for drawings, which must keep the areas and shares of what they thin out; and times as
 * files of sites have them. */
#include "test.h"

#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "cli/sim/experiment.h"
#include "scenario/platform_file.h"
#include "scenario/span.h"

static double area(const struct pleat_curve *curve)
{
    double sum = 0;
    for (size_t i = 0; i + 1 < curve->count; i++)
        sum += curve->y[i] * (curve->x[i + 1] - curve->x[i]);
    return sum;
}

static void test_levels_keep_their_area(void **state)
{
    (void)state;
    for (size_t jobs = 1; jobs <= 20000; jobs *= 7) {
        struct pleat_random random;
        struct pleat_edges edges = {0};
        struct pleat_curve curve = {0};
        double expected = 0;
        pleat_random_init(&random, jobs);
        for (size_t i = 0; i < jobs; i++) {
            int64_t from = (int64_t)pleat_random_below(&random, 1000000000);
            int64_t span = 1 + (int64_t)pleat_random_below(&random, 100000000);
            int64_t size = 1 + (int64_t)pleat_random_below(&random, 64);
            struct pleat_edge start = {from, size}, end = {from + span, -size};
            assert_int_equal(pleat_array_push(&edges, start), 0);
            assert_int_equal(pleat_array_push(&edges, end), 0);
            expected += (double)span / 1e6 * (double)size;
        }
        assert_int_equal(pleat_curve_levels(&curve, &edges), 0);
        assert_in_range(curve.count, 2, 1001);
        assert_true(fabs(area(&curve) - expected) < 1e-6 * expected);
        assert_true(fabs(curve.y[curve.count - 1]) < 1e-9);
        for (size_t i = 1; i < curve.count; i++)
            assert_true(curve.x[i] > curve.x[i - 1]);
        pleat_curve_finish(&curve);
        pleat_array_finish(&edges);
    }
}

static void test_no_levels(void **state)
{
    (void)state;
    struct pleat_edges edges = {0};
    struct pleat_curve curve = {0};
    assert_int_equal(pleat_curve_levels(&curve, &edges), 0);
    assert_int_equal(curve.count, 0);
    pleat_curve_finish(&curve);
}

static void test_shares(void **state)
{
    (void)state;
    for (size_t count = 1; count <= 5000; count = count * 3 + 1) {
        struct pleat_curve curve = {0};
        double *sorted = calloc(count, sizeof(*sorted));
        assert_non_null(sorted);
        for (size_t i = 0; i < count; i++)
            sorted[i] = (double)(i * i);
        assert_int_equal(pleat_curve_shares(&curve, sorted, count), 0);
        assert_true(curve.count >= 2 && curve.count <= 1001);
        assert_true(curve.y[0] <= 0 && curve.y[curve.count - 1] >= 1);
        for (size_t i = 1; i < curve.count; i++) { /* the share of those at most as large */
            double rank = floor(sqrt(curve.x[i]) + 0.5) + 1;
            assert_true(fabs(curve.y[i] - rank / (double)count) < 1e-12);
            assert_true(curve.y[i] > curve.y[i - 1]);
        }
        free(sorted);
        pleat_curve_finish(&curve);
    }
}

static void test_spans(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t us;
    } right[] = {{"0", 0},          {"90", 90000000},      {" 1.5 h ", 5400000000},
                 {"200ms", 200000}, {"2 d", 172800000000}, {"3 min", 180000000},
                 {".5 s", 500000}};
    static const char *const wrong[] = {"",      " ",   "s",   "5 weeks", "-1",    "1 s 2 s",
                                        "1e9 d", "nan", "inf", "0x10",    "1,5 s", "5 S"};
    int64_t us = 7;
    for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
        assert_int_equal(pleat_parse_span(right[i].text, &us, NULL), 0);
        assert_int_equal(us, right[i].us);
    }
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        if (pleat_parse_span(wrong[i], &us, NULL) != PLEAT_E_INVALID)
            fail_msg("'%s' is taken for a time", wrong[i]);
}

static void test_delays(void **state)
{
    (void)state;
    struct pleat_delay delay = {0};
    assert_int_equal(pleat_parse_delay("5 s +- 2 s", &delay, NULL), 0);
    assert_int_equal(delay.mean_us, 5000000);
    assert_int_equal(delay.spread_us, 2000000);
    assert_int_equal(pleat_parse_delay("1min+-500ms", &delay, NULL), 0);
    assert_int_equal(delay.mean_us, 60000000);
    assert_int_equal(delay.spread_us, 500000);
    assert_int_equal(pleat_parse_delay("3", &delay, NULL), 0);
    assert_int_equal(delay.spread_us, 0);
    assert_int_equal(pleat_parse_delay("5 s +-", &delay, NULL), PLEAT_E_INVALID);
    assert_int_equal(pleat_parse_delay("+- 2 s", &delay, NULL), PLEAT_E_INVALID);
    assert_int_equal(pleat_parse_delay("5 s +- 2 s x", &delay, NULL), PLEAT_E_INVALID);
    assert_int_equal(delay.mean_us, 3000000); /* nothing changed */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels_keep_their_area), cmocka_unit_test(test_no_levels),
        cmocka_unit_test(test_shares), cmocka_unit_test(test_spans), cmocka_unit_test(test_delays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
