/* A thinned curve must cover the same pixels as the whole one: both are painted, column by column,
 * and compared. */
#include "test.h"

#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "figure/plot.h"

#define COLUMNS 200
#define POINTS 20000

/* What a curve covers in each column of the picture: from the lowest to the highest y, where lines
 * to neighbours in other columns are known by the points that they join. */
struct picture {
    double least[COLUMNS + 1], most[COLUMNS + 1];
    double first[COLUMNS + 1], last[COLUMNS + 1]; /* y: where it is entered and left */
    size_t gaps;
};

static size_t column_of(double x, double low, double high, bool log_x)
{
    double at = log_x ? log(x / low) / log(high / low) : (x - low) / (high - low);
    return (size_t)floor(at * COLUMNS);
}

static void begin(struct picture *picture)
{
    for (size_t i = 0; i <= COLUMNS; i++) {
        picture->least[i] = (double)INFINITY;
        picture->most[i] = -(double)INFINITY;
        picture->first[i] = picture->last[i] = (double)NAN;
    }
    picture->gaps = 0;
}

static void paint(struct picture *picture, size_t column, double y)
{
    assert_true(column <= COLUMNS);
    if (isnan(picture->first[column]))
        picture->first[column] = y;
    picture->last[column] = y;
    picture->least[column] = fmin(picture->least[column], y);
    picture->most[column] = fmax(picture->most[column], y);
}

static void assert_same(const struct picture *a, const struct picture *b)
{
    for (size_t i = 0; i <= COLUMNS; i++) {
        assert_true(a->least[i] == b->least[i] && a->most[i] == b->most[i]);
        assert_true(a->first[i] == b->first[i] || (isnan(a->first[i]) && isnan(b->first[i])));
        assert_true(a->last[i] == b->last[i] || (isnan(a->last[i]) && isnan(b->last[i])));
    }
    assert_int_equal(a->gaps, b->gaps);
}

static void thin_and_compare(const struct pleat_plot_series *series, double low, double high,
                             bool log_x)
{
    struct pleat_plot_points points = {0};
    struct picture whole, thin;
    bool gap = true;
    begin(&whole);
    begin(&thin);
    for (size_t i = 0; i < series->count; i++) {
        bool shown = isfinite(series->y[i]) && isfinite(series->x[i]);
        if (shown && (!log_x || series->x[i] > 0)) {
            paint(&whole, column_of(series->x[i], low, high, log_x), series->y[i]);
            gap = false;
        } else if (!gap) {
            whole.gaps++;
            gap = true;
        }
    }
    assert_int_equal(pleat_plot_thin(series, low, high, log_x, COLUMNS, &points), 0);
    for (size_t i = 0; i < points.count; i++) {
        assert_true(i == 0 || points.items[i].x >= points.items[i - 1].x);
        if (isnan(points.items[i].y))
            thin.gaps++;
        else
            paint(&thin, column_of(points.items[i].x, low, high, log_x), points.items[i].y);
    }
    assert_same(&whole, &thin);
    assert_true(points.count <= 4 * (COLUMNS + 1) + 5 * whole.gaps);
    pleat_array_finish(&points);
}

static double x[POINTS], y[POINTS];

static void test_random_curves(void **state)
{
    (void)state;
    struct pleat_random random;
    pleat_random_init(&random, 7);
    for (int curve = 0; curve < 40; curve++) {
        double at = 0;
        bool log_x = curve % 2;
        size_t count = curve < 4 ? (size_t)curve + 1 : POINTS;
        for (size_t i = 0; i < count; i++) {
            at += pleat_random_below(&random, 3) ? pleat_random_unit(&random) : 0;
            x[i] = at + 0.5;
            y[i] = pleat_random_below(&random, 1000) ? pleat_random_unit(&random) * 100 - 50
                                                     : (double)NAN;
        }
        const struct pleat_plot_series series = {.x = x, .y = y, .count = count};
        thin_and_compare(&series, x[0], x[count - 1] + 1, log_x);
    }
}

/* A distribution: rising, so the first and last of a column are its least and most. */
static void test_rising(void **state)
{
    (void)state;
    struct pleat_plot_points points = {0};
    for (size_t i = 0; i < POINTS; i++) {
        x[i] = exp((double)i / 2000);
        y[i] = (double)(i + 1) / POINTS;
    }
    const struct pleat_plot_series series = {.x = x, .y = y, .count = POINTS};
    thin_and_compare(&series, x[0], x[POINTS - 1], true);
    assert_int_equal(pleat_plot_thin(&series, x[0], x[POINTS - 1], true, COLUMNS, &points), 0);
    assert_true(points.count <= 2 * (COLUMNS + 1));
    assert_true(points.items[0].x == x[0] && points.items[0].y == y[0]);
    assert_true(points.items[points.count - 1].y == 1);
    pleat_array_finish(&points);
}

/* Few points are kept as they are; what cannot be shown makes one gap, none at the beginning. */
static void test_few(void **state)
{
    (void)state;
    const double few_x[] = {0, 1, 10, 20, 100, 1000}, nan = (double)NAN;
    const double few_y[] = {5, 1, nan, nan, 7, 7};
    const double expected_x[] = {1, 1, 100, 1000}, expected_y[] = {1, nan, 7, 7};
    const struct pleat_plot_series series = {.x = few_x, .y = few_y, .count = 6};
    struct pleat_plot_points points = {0};
    assert_int_equal(pleat_plot_thin(&series, 1, 1000, true, COLUMNS, &points), 0);
    assert_int_equal(points.count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_true(points.items[i].x == expected_x[i]);
        assert_true(points.items[i].y == expected_y[i] ||
                    (isnan(points.items[i].y) && isnan(expected_y[i])));
    }
    pleat_array_finish(&points);
    const struct pleat_plot_series none = {.count = 0};
    assert_int_equal(pleat_plot_thin(&none, 0, 0, false, COLUMNS, &points), 0);
    assert_int_equal(points.count, 0);
}

/* All at one x: a vertical line from the lowest to the highest. */
static void test_no_width(void **state)
{
    (void)state;
    struct pleat_plot_points points = {0};
    for (size_t i = 0; i < 100; i++) {
        x[i] = 3;
        y[i] = (double)((i * 37) % 100);
    }
    const struct pleat_plot_series series = {.x = x, .y = y, .count = 100};
    assert_int_equal(pleat_plot_thin(&series, 3, 3, false, COLUMNS, &points), 0);
    assert_true(points.count <= 4);
    bool least = false, most = false;
    for (size_t i = 0; i < points.count; i++) {
        least = least || points.items[i].y == 0;
        most = most || points.items[i].y == 99;
    }
    assert_true(least && most);
    pleat_array_finish(&points);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_curves),
        cmocka_unit_test(test_rising),
        cmocka_unit_test(test_few),
        cmocka_unit_test(test_no_width),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
