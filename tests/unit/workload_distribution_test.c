/* Distributions: what users write, and that the numbers drawn are what it says. */
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workload/generate-internal.h"
#include "workload/generate.h"

static struct pleat_distribution parse(const char *text)
{
    struct pleat_distribution d;
    struct pleat_error err = {0};
    if (pleat_distribution_parse(text, &d, &err))
        fail_msg("%s: %s", text, err.text);
    return d;
}

/* ---- text ---- */

static void check_same(const struct pleat_distribution *d,
                       const struct pleat_distribution *expected)
{
    assert_int_equal(d->kind, expected->kind);
    assert_true(d->a == expected->a && d->b == expected->b);
    assert_true(d->least == expected->least && d->most == expected->most);
    assert_int_equal(d->count, expected->count);
    for (uint32_t i = 0; i < d->count; i++)
        assert_true(d->values[i] == expected->values[i] && d->weights[i] == expected->weights[i]);
}

static void test_what_each_text_means(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        struct pleat_distribution expected;
    } cases[] = {
        {"constant:30", {.kind = PLEAT_DIST_CONSTANT, .a = 30}},
        {"30", {.kind = PLEAT_DIST_CONSTANT, .a = 30}},
        {"0", {.kind = PLEAT_DIST_CONSTANT}},
        {"uniform:10,50", {.kind = PLEAT_DIST_UNIFORM, .a = 10, .b = 50}},
        {"normal:60,10", {.kind = PLEAT_DIST_NORMAL, .a = 60, .b = 10}},
        {"poisson:30", {.kind = PLEAT_DIST_EXPONENTIAL, .a = 30}},
        {"exponential:0.1", {.kind = PLEAT_DIST_EXPONENTIAL, .a = 0.1}},
        {"lognormal:-3,1.5", {.kind = PLEAT_DIST_LOGNORMAL, .a = -3, .b = 1.5}},
        {"weibull:100,0.7", {.kind = PLEAT_DIST_WEIBULL, .a = 100, .b = 0.7}},
        {"gamma:2,50", {.kind = PLEAT_DIST_GAMMA, .a = 2, .b = 50}},
        {"gamma:0.30000000000000004,1e9",
         {.kind = PLEAT_DIST_GAMMA, .a = 0.30000000000000004, .b = 1e9}},
        {"discrete:1=0.2,2=0.3,4=0.5",
         {.kind = PLEAT_DIST_DISCRETE,
          .count = 3,
          .values = {1, 2, 4},
          .weights = {0.2, 0.3, 0.5}}},
        {"normal:60,10[30..90]",
         {.kind = PLEAT_DIST_NORMAL, .a = 60, .b = 10, .least = 30, .most = 90}},
        {"normal:60,10[..90]", {.kind = PLEAT_DIST_NORMAL, .a = 60, .b = 10, .most = 90}},
        {"normal:60,10[30..]", {.kind = PLEAT_DIST_NORMAL, .a = 60, .b = 10, .least = 30}},
        {"30[1.5..32.5]", {.kind = PLEAT_DIST_CONSTANT, .a = 30, .least = 1.5, .most = 32.5}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pleat_distribution d = parse(cases[i].text);
        check_same(&d, &cases[i].expected);
    }
}

static void test_errors_say_what_to_write(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"", "is not a distribution"},
        {"gauss:60,10", "one of constant, uniform, normal, poisson"},
        {"norm", "is not a distribution"},
        {"normal", "normal needs two numbers, mean and standard deviation, as in normal:60,10"},
        {"normal:60", "normal needs two numbers"},
        {"normal:60,", "normal needs two numbers"},
        {"normal:60,10,5", "normal needs two numbers"},
        {"normal:60;10", "normal needs two numbers"},
        {"normal:a,b", "normal needs two numbers"},
        {"normal:-1,10", "mean and standard deviation cannot be negative"},
        {"poisson:0", "the mean must be above 0, as in poisson:30"},
        {"exponential:1,2", "exponential needs one number, the mean, as in exponential:30"},
        {"constant:-1", "cannot be negative"},
        {"-1", "cannot be negative"},
        {"inf", "is not a distribution"},
        {"constant:inf", "constant needs one number"},
        {"constant:0x10", "constant needs one number"},
        {"12 s", "nothing can come after '12'"},
        {"uniform:5,1", "the least must be from 0 to the greatest"},
        {"lognormal:1,-1", "cannot be negative"},
        {"lognormal:800,1", "too large"},
        {"weibull:0,1", "scale and shape must be above 0"},
        {"gamma:1,0", "scale and shape must be above 0"},
        {"discrete:", "discrete needs values with their weights"},
        {"discrete:1=0", "at least one weight"},
        {"discrete:1=-1,2=3", "cannot be negative"},
        {"discrete:1=1,", "discrete needs values"},
        {"normal:60,10[", "limits are [LEAST..MOST]"},
        {"normal:60,10[5]", "limits are [LEAST..MOST]"},
        {"normal:60,10[5..2]", "the least must be from 0 to the greatest"},
        {"normal:60,10[..0]", "limits are [LEAST..MOST]"},
        {"normal:60,10[1..2]x", "nothing can come after"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct pleat_distribution d = {.a = 7}, before = d;
        struct pleat_error err = {0};
        assert_int_equal(pleat_distribution_parse(bad[i][0], &d, &err), PLEAT_E_INVALID);
        if (!strstr(err.text, bad[i][1]))
            fail_msg("'%s': %s", bad[i][0], err.text);
        assert_memory_equal(&d, &before, sizeof(d));
    }
}

static void test_too_many_values(void **state)
{
    (void)state;
    struct pleat_string text = {0};
    struct pleat_distribution d;
    pleat_string_add(&text, "discrete:");
    for (int i = 0; i < PLEAT_DIST_VALUES; i++)
        pleat_string_addf(&text, "%s%d=1", i ? "," : "", i);
    assert_int_equal(pleat_distribution_parse(text.text, &d, NULL), 0);
    assert_int_equal(d.count, PLEAT_DIST_VALUES);
    pleat_string_add(&text, ",99=1");
    assert_int_equal(pleat_distribution_parse(text.text, &d, NULL), PLEAT_E_INVALID);
    pleat_string_finish(&text);
}

/* ---- numbers ---- */

enum { DRAWS = 200000 };

/* Mean and variance of many draws are within 4 standard errors of theory: a right generator fails
 * that once in 16,000 seeds, and the seed is fixed. */
static void check_moments(const char *text, double mean, double variance)
{
    struct pleat_distribution d = parse(text);
    struct pleat_stream *stream = pleat_generate_stream(2026, 0);
    double *values = malloc(DRAWS * sizeof(*values));
    assert_true(stream && values);
    double sum = 0, second = 0, fourth = 0;
    for (int i = 0; i < DRAWS; i++)
        sum += values[i] = pleat_distribution_draw(&d, stream);
    for (int i = 0; i < DRAWS; i++) {
        double square = (values[i] - sum / DRAWS) * (values[i] - sum / DRAWS);
        second += square / DRAWS;
        fourth += square * square / DRAWS;
    }
    double mean_error = sqrt(variance / DRAWS);
    double variance_error = sqrt((fourth - second * second) / DRAWS);
    if (fabs(sum / DRAWS - mean) > 4 * mean_error)
        fail_msg("%s: mean %g, should be %g +- %g", text, sum / DRAWS, mean, mean_error);
    if (fabs(second - variance) > 4 * variance_error)
        fail_msg("%s: variance %g, should be %g +- %g", text, second, variance, variance_error);
    free(values);
    pleat_stream_destroy(stream);
}

static void test_moments(void **state)
{
    (void)state;
    check_moments("uniform:10,50", 30, 40.0 * 40 / 12);
    check_moments("normal:60,10", 60, 100);
    check_moments("poisson:30", 30, 900);
    check_moments("lognormal:3,0.5", exp(3.125), (exp(0.25) - 1) * exp(6.25));
    check_moments("weibull:100,2", 100 * sqrt(acos(-1.0)) / 2, 1e4 * (1 - acos(-1.0) / 4));
    check_moments("gamma:2,50", 100, 5000);
    check_moments("discrete:1=2,2=3,4=5", 2.8, (2 * 1 + 3 * 4 + 5 * 16) / 10.0 - 2.8 * 2.8);
}

static void test_constant_and_clipped(void **state)
{
    (void)state;
    struct pleat_stream *stream = pleat_generate_stream(1, 0);
    assert_non_null(stream);
    struct pleat_distribution constant = parse("30"), clipped = parse("normal:1,10[..3]"),
                              within = parse("exponential:5[2..9]");
    int at_zero = 0, at_three = 0, at_two = 0, at_nine = 0;
    for (int i = 0; i < 10000; i++) {
        assert_true(pleat_distribution_draw(&constant, stream) == 30);
        double a = pleat_distribution_draw(&clipped, stream);
        double b = pleat_distribution_draw(&within, stream);
        assert_true(a >= 0 && a <= 3 && b >= 2 && b <= 9);
        at_zero += a == 0;
        at_three += a == 3;
        at_two += b == 2;
        at_nine += b == 9;
    }
    /* P(Z < -0.1), P(Z > 0.2), 1 - exp(-0.4), exp(-1.8); 4 sigma of a share of 10,000: 0.02 */
    assert_true(fabs(at_zero / 1e4 - 0.4602) < 0.02 && fabs(at_three / 1e4 - 0.4207) < 0.02);
    assert_true(fabs(at_two / 1e4 - 0.3297) < 0.02 && fabs(at_nine / 1e4 - 0.1653) < 0.02);
    pleat_stream_destroy(stream);
}

static void test_whole_numbers(void **state)
{
    (void)state;
    struct pleat_stream *stream = pleat_generate_stream(5, 0);
    assert_non_null(stream);
    struct pleat_distribution die = parse("uniform:1,6"), half = parse("uniform:2.2,2.4"),
                              wide = parse("lognormal:300,1"), normal = parse("normal:4,3");
    int faces[7] = {0};
    for (int i = 0; i < 60000; i++) {
        int64_t face = pleat_distribution_draw_whole(&die, stream, 0, 100);
        assert_in_range(face, 1, 6);
        faces[face]++;
    }
    for (int i = 1; i <= 6; i++) /* 4 sigma of 60,000 throws: 365 */
        assert_in_range(faces[i], 10000 - 365, 10000 + 365);
    for (int i = 0; i < 1000; i++) {
        assert_in_range(pleat_distribution_draw_whole(&half, stream, 1, 8), 2, 3);
        assert_int_equal(pleat_distribution_draw_whole(&wide, stream, 1, 8), 8);
        assert_in_range(pleat_distribution_draw_whole(&normal, stream, 3, 5), 3, 5);
    }
    pleat_stream_destroy(stream);
}

static void test_streams(void **state)
{
    (void)state;
    struct pleat_distribution d = parse("uniform:0,1");
    struct pleat_stream *a = pleat_generate_stream(0, 0), *b = pleat_generate_stream(0, 0),
                        *c = pleat_generate_stream(UINT64_C(1) << 40, 0);
    assert_true(a && b && c);
    int same = 0;
    for (int i = 0; i < 1000; i++) {
        double value = pleat_distribution_draw(&d, a);
        assert_true(value == pleat_distribution_draw(&d, b));
        same += value == pleat_distribution_draw(&d, c);
    }
    assert_int_equal(same, 0);
    pleat_stream_destroy(a);
    pleat_stream_destroy(b);
    pleat_stream_destroy(c);
    pleat_stream_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_each_text_means),
        cmocka_unit_test(test_errors_say_what_to_write),
        cmocka_unit_test(test_too_many_values),
        cmocka_unit_test(test_moments),
        cmocka_unit_test(test_constant_and_clipped),
        cmocka_unit_test(test_whole_numbers),
        cmocka_unit_test(test_streams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
