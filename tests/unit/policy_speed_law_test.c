/* Laws of speed fitted to what was measured: known curves come back, noise makes them uncertain and
 * no more, and nothing is read into what few points say. */
#include "test.h"

#include <math.h>

#include "base/random.h"
#include "policy/speed_law.h"

struct curve {
    double serial, parallel, overhead;
};

static double curve_at(const struct curve *curve, double p)
{
    return curve->serial + curve->parallel / p + curve->overhead * p;
}

static void assert_near(double value, double expected, double share)
{
    if (fabs(value - expected) > share * fabs(expected))
        fail_msg("%g, expected %g", value, expected);
}

static struct pleat_speed_points exact(const struct curve *curve, const double *sizes, int count)
{
    struct pleat_speed_points points = {0};
    for (int i = 0; i < count; i++)
        pleat_speed_add(&points,
                        (struct pleat_speed_point){sizes[i], curve_at(curve, sizes[i]), 0, 10, 0});
    return points;
}

static void test_curves_come_back(void **state)
{
    (void)state;
    static const struct curve curves[] = {
        {0, 1e8, 0}, {2e6, 98e6, 0}, {3e7, 7e7, 0}, {2e6, 98e6, 2.5e5}, {0, 1e8, 1e5}};
    static const double sizes[] = {2, 8, 32, 24};
    for (size_t c = 0; c < sizeof(curves) / sizeof(curves[0]); c++) {
        struct pleat_speed_points points = exact(&curves[c], sizes, 4);
        struct pleat_speed_law law = pleat_speed_fit(&points);
        for (double p = 1; p <= 64; p *= 2)
            assert_near(pleat_speed_predict(&law, p).us, curve_at(&curves[c], p), 0.06);
        for (int i = 0; i < 4; i++)
            assert_near(pleat_speed_predict(&law, sizes[i]).us, curve_at(&curves[c], sizes[i]),
                        0.02);
    }
}

static void test_one_point_says_nothing_of_others(void **state)
{
    (void)state;
    static const double four[] = {4};
    struct pleat_speed_points points = exact(&(struct curve){5e6, 1e6, 0}, four, 1);
    struct pleat_speed_law law = pleat_speed_fit(&points);
    assert_int_equal(law.sizes, 1);
    double there = pleat_speed_predict(&law, 4).us;
    assert_near(pleat_speed_predict(&law, 8).us, there / 2, 1e-9); /* taken to be linear */
    points.count = 0;
    law = pleat_speed_fit(&points);
    assert_int_equal(law.sizes, 0);
    assert_true(pleat_speed_predict(&law, 4).us == 0);
}

/* Two points: what gets slower with more processors has an overhead; what does not, a serial part.
 */
static void test_two_points(void **state)
{
    (void)state;
    static const double sizes[] = {8, 32};
    struct pleat_speed_points points = exact(&(struct curve){3e6, 4e7, 0}, sizes, 2);
    struct pleat_speed_law law = pleat_speed_fit(&points);
    assert_near(law.terms[0], 3e6, 1e-6);
    assert_true(law.terms[2] == 0);
    assert_near(pleat_speed_shortest(&law, 1, 128), 128, 1e-9);
    points = exact(&(struct curve){0, 4e7, 4e5}, sizes, 2);
    law = pleat_speed_fit(&points);
    assert_true(law.terms[0] == 0);
    assert_near(pleat_speed_shortest(&law, 1, 128), 10, 0.01); /* sqrt(4e7 / 4e5) */
    assert_near(pleat_speed_shortest(&law, 12, 128), 12, 1e-9);
    assert_near(pleat_speed_shortest(&law, 1, 9), 9, 1e-9);
}

static double normal(struct pleat_random *random)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += pleat_random_unit(random);
    return sum;
}

static struct pleat_speed_point measure(const struct curve *curve, double p, int count,
                                        double noise, struct pleat_random *random)
{
    double sum = 0, squares = 0;
    for (int i = 0; i < count; i++) {
        double us = curve_at(curve, p) * (1 + noise * normal(random));
        sum += us;
        squares += us * us;
    }
    double mean = sum / count;
    return (struct pleat_speed_point){p, mean, squares - mean * mean * count, count, 0};
}

/* Of many fits to noisy points the truth is within two standard errors as often as it should be. */
static void test_noise_makes_it_uncertain(void **state)
{
    (void)state;
    static const double sizes[] = {4, 16, 64};
    const struct curve curve = {4e6, 96e6, 0};
    struct pleat_random random;
    int within = 0, fits = 400;
    pleat_random_init(&random, 7);
    for (int f = 0; f < fits; f++) {
        struct pleat_speed_points points = {0};
        for (int i = 0; i < 3; i++)
            pleat_speed_add(&points, measure(&curve, sizes[i], 8, 0.2, &random));
        struct pleat_speed_law law = pleat_speed_fit(&points);
        assert_true(law.spread > 0.08 && law.spread < 0.4);
        assert_true(law.freedom == 21);
        struct pleat_speed_time time = pleat_speed_predict(&law, 32);
        within += fabs(time.us - curve_at(&curve, 32)) <= 2 * time.error_us;
    }
    print_message("%d of %d within two standard errors\n", within, fits);
    assert_true(within > fits * 8 / 10);
}

static void test_quantiles(void **state)
{
    (void)state;
    assert_near(pleat_speed_quantile(95, 1e9), 1.96, 1e-3);
    assert_near(pleat_speed_quantile(90, 1e9), 1.645, 1e-3);
    assert_near(pleat_speed_quantile(90, 20), 1.725, 0.01); /* Student's tables */
    assert_near(pleat_speed_quantile(95, 10), 2.228, 0.02);
    assert_true(pleat_speed_quantile(97, 5) > pleat_speed_quantile(95, 5));
    assert_true(pleat_speed_quantile(10, 5) == pleat_speed_quantile(50, 5));
    assert_true(pleat_speed_quantile(100, 0) == pleat_speed_quantile(99, 1));
}

/* Of more sizes than there is room for those count of which the most is known. */
static void test_many_points(void **state)
{
    (void)state;
    struct pleat_speed_points points = {0};
    for (int i = 1; i <= PLEAT_SPEED_POINTS; i++)
        pleat_speed_add(&points, (struct pleat_speed_point){i, 1000.0 / i, 0, i == 5 ? 1 : 3, 0});
    pleat_speed_add(&points, (struct pleat_speed_point){100, 10, 0, 1, 0});
    assert_true(points.items[4].processors == 5); /* not more is known of the new one */
    pleat_speed_add(&points, (struct pleat_speed_point){100, 10, 0, 2, 0});
    assert_int_equal(points.count, PLEAT_SPEED_POINTS);
    assert_true(points.items[4].processors == 100);
}

/* ---- on process grids ---- */

static struct pleat_speed_point on_grid(int rows, int columns, double edge_us)
{
    double edge = 1.0 / rows + 1.0 / columns;
    return (struct pleat_speed_point){.processors = rows * columns,
                                      .mean_us = 4e8 / (rows * columns) + edge_us * edge,
                                      .count = 20,
                                      .edge = edge};
}

static void test_grids_that_were_not_tried(void **state)
{
    (void)state;
    struct pleat_speed_points points = {0};
    pleat_speed_add(&points, on_grid(1, 4, 2e7));
    pleat_speed_add(&points, on_grid(2, 2, 2e7));
    pleat_speed_add(&points, on_grid(1, 12, 2e7));
    struct pleat_speed_law law = pleat_speed_fit(&points);
    struct pleat_speed_time time = pleat_speed_predict_grid(&law, 3, 4);
    double expected = on_grid(3, 4, 2e7).mean_us;
    assert_near(time.us, expected, 0.05);
    assert_true(fabs(time.us - expected) < 3 * time.error_us);
    assert_true(time.us < pleat_speed_predict_grid(&law, 2, 6).us);
    assert_near(pleat_speed_predict_grid(&law, 12, 1).us, on_grid(1, 12, 2e7).mean_us, 0.03);
    /* nothing is sent: all grids of a size are the same */
    points.count = 0;
    pleat_speed_add(&points, on_grid(1, 4, 0));
    pleat_speed_add(&points, on_grid(2, 2, 0));
    law = pleat_speed_fit(&points);
    assert_near(pleat_speed_predict_grid(&law, 3, 4).us, 4e8 / 12, 1e-6);
    assert_true(law.terms[3] == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_curves_come_back),
        cmocka_unit_test(test_one_point_says_nothing_of_others),
        cmocka_unit_test(test_two_points),
        cmocka_unit_test(test_noise_makes_it_uncertain),
        cmocka_unit_test(test_quantiles),
        cmocka_unit_test(test_many_points),
        cmocka_unit_test(test_grids_that_were_not_tried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
