/* What experiments share: runs in threads, numbers over seeds, trials, pages. */
#include "test.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "experiment/experiment.h"
#include "experiment/pool.h"

static void near(double got, double wanted)
{
    if (!(fabs(got - wanted) <= 1e-9 * fabs(wanted)))
        fail_msg("%.12g, expected %.12g", got, wanted);
}

/* ---- the pool ---- */

enum { MANY = 500 };

struct counted {
    atomic_int runs[MANY];
    size_t bad; /* from this one on runs fail */
};

static int count_run(void *context, size_t index, struct pleat_error *err)
{
    struct counted *counted = context;
    atomic_fetch_add(&counted->runs[index], 1);
    return index < counted->bad ? 0 : pleat_error_set(err, PLEAT_E_INVALID, "run %zu", index);
}

static void test_every_run_is_done_once(void **state)
{
    (void)state;
    static const size_t threads[] = {0, 1, 7, 1000};
    for (size_t t = 0; t < sizeof(threads) / sizeof(threads[0]); t++) {
        struct counted counted = {.bad = MANY};
        struct pleat_pool pool = {
            .count = MANY, .threads = threads[t], .run = count_run, .context = &counted};
        assert_int_equal(pleat_pool_run(&pool, NULL), 0);
        for (size_t i = 0; i < MANY; i++)
            assert_int_equal(atomic_load(&counted.runs[i]), 1);
    }
    struct pleat_pool none = {.run = count_run};
    assert_int_equal(pleat_pool_run(&none, NULL), 0);
}

static void test_the_first_failure_is_told(void **state)
{
    (void)state;
    struct counted counted = {.bad = 100};
    struct pleat_pool pool = {.count = MANY, .threads = 4, .run = count_run, .context = &counted};
    struct pleat_error err = {0};
    assert_int_equal(pleat_pool_run(&pool, &err), PLEAT_E_INVALID);
    assert_int_equal(err.code, PLEAT_E_INVALID);
    assert_string_equal(err.text, "run 100");
    assert_int_equal(atomic_load(&counted.runs[MANY - 1]), 0);
}

static atomic_int interrupt;

static int interrupt_at_ten(void *context, size_t index, struct pleat_error *err)
{
    struct pleat_pool *pool = context;
    (void)err;
    if (index == 10)
        interrupt = 2;
    return pleat_pool_stops(pool) ? PLEAT_E_CLOSED : 0;
}

static void test_an_interrupt_ends_it(void **state)
{
    (void)state;
    struct pleat_pool pool = {.count = MANY,
                              .threads = 3,
                              .run = interrupt_at_ten,
                              .context = &pool,
                              .interrupt = &interrupt};
    struct pleat_error err = {0};
    assert_int_equal(pleat_pool_run(&pool, &err), PLEAT_E_CLOSED);
    assert_string_equal(err.text, "interrupted");
    interrupt = 0;
}

/* ---- numbers ---- */

static void test_estimates(void **state)
{
    (void)state;
    /* mean 4, deviation 2, t(2; 0.975) = 4.30265272991 */
    const double values[] = {2, (double)NAN, 4, 6};
    struct pleat_estimate estimate = pleat_estimate(values, 4);
    assert_int_equal(estimate.count, 3);
    near(estimate.mean, 4);
    near(estimate.half, 4.302652729911275 * 2 / sqrt(3));
    assert_true(pleat_estimate_above(estimate, -1) && !pleat_estimate_above(estimate, 0));
    assert_true(pleat_estimate_below(estimate, 9) && !pleat_estimate_below(estimate, 8));
    assert_true(pleat_estimate_within(estimate, -1, 9));
    struct pleat_estimate one = pleat_estimate(values, 1), none = pleat_estimate(values, 0);
    near(one.mean, 2);
    assert_true(isinf(one.half) && isnan(none.mean));
    assert_false(pleat_estimate_above(one, -100) || pleat_estimate_below(one, 100));
    assert_false(pleat_estimate_above(none, -100) || pleat_estimate_below(none, 100));
}

static void test_differences_are_by_seed(void **state)
{
    (void)state;
    const double a[] = {11, 22, (double)NAN, 33}, b[] = {10, 20, 30, 30};
    struct pleat_estimate difference = pleat_estimate_difference(a, b, 4);
    near(difference.mean, 2); /* 1, 2, 3: deviation 1 */
    near(difference.half, 4.302652729911275 / sqrt(3));
    struct pleat_estimate ratio = pleat_estimate_ratio(a, b, 4);
    near(ratio.mean, 1.1);
    assert_true(ratio.half < 1e-12);
}

/* ---- studies ---- */

static int run_setting(void *context, const struct pleat_study *study, size_t setting,
                       uint64_t seed, double *metrics, struct pleat_error *err)
{
    (void)context;
    (void)err;
    assert_true(seed >= study->seed && seed < study->seed + study->seeds);
    assert_true(isnan(metrics[0]));
    metrics[1] = (double)setting * 100 + (double)seed;
    return 0;
}

static void test_a_sweep_runs_every_setting_with_every_seed(void **state)
{
    (void)state;
    struct pleat_study study = {.seeds = 7, .seed = 40, .threads = 3};
    struct pleat_sweep sweep = {
        .what = "test", .settings = 5, .metrics = 2, .run = run_setting, .context = NULL};
    struct pleat_numbers numbers;
    assert_int_equal(pleat_study_sweep(&study, &sweep, &numbers, NULL), 0);
    for (size_t setting = 0; setting < 5; setting++)
        for (size_t i = 0; i < 7; i++) {
            assert_true(isnan(pleat_numbers_of(&numbers, setting, 0)[i]));
            near(pleat_numbers_of(&numbers, setting, 1)[i], (double)(setting * 100 + 40 + i));
        }
    near(pleat_numbers_estimate(&numbers, 2, 1).mean, 243);
    near(pleat_numbers_difference(&numbers, 3, 1, 1).mean, 200);
    pleat_numbers_finish(&numbers);
}

static void test_what_is_expected_must_hold(void **state)
{
    (void)state;
    struct pleat_study study = {.seeds = 1};
    assert_true(pleat_study_holds(&study));
    pleat_study_shape(&study,
                      &(struct pleat_shape){"a", "1", .expected = PLEAT_NOT_FOUND, .holds = false},
                      "%d", 1);
    pleat_study_shape(&study,
                      &(struct pleat_shape){"b", "2", .expected = PLEAT_CLAIMED, .holds = true},
                      "%d | %s", 2, "two");
    assert_true(pleat_study_holds(&study));
    pleat_study_shape(
        &study, &(struct pleat_shape){"c", "3", .expected = PLEAT_FITTED, .holds = false}, "3");
    assert_false(pleat_study_holds(&study));
    assert_string_equal(study.shapes.items[1].measured, "2 | two");
    static const enum pleat_label labels[] = {PLEAT_NOT_FOUND, PLEAT_CLAIMED, PLEAT_NOT_FOUND};
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(pleat_study_label(&study.shapes.items[i]), labels[i]);
    study.shapes.items[2].holds = true;
    assert_string_equal(pleat_label_name(pleat_study_label(&study.shapes.items[2])), "fitted");
    study.shapes.items[2].holds = false;
    study.quick = true; /* nothing is checked */
    assert_true(pleat_study_holds(&study));
    assert_false(study.out_of_memory);
    pleat_study_finish(&study);
}

/* Two processors; the first job has both for 10 s, the second waits, then grows from 1 to 2. */
static void test_a_trial_is_measured(void **state)
{
    (void)state;
    struct pleat_platform platform = {0};
    struct pleat_workload workload = {0};
    struct pleat_sim_options options = {.platform = &platform};
    struct pleat_study study = {0};
    struct pleat_trial trial;
    struct pleat_error err = {0};
    const struct pleat_workload_job jobs[] = {{.number = 1,
                                               .submit_us = 0,
                                               .run_us = 10000000,
                                               .processors = 1,
                                               .minimum = 1,
                                               .maximum = 1,
                                               .site = PLEAT_NONE,
                                               .kind = PLEAT_RIGID},
                                              {.number = 2,
                                               .submit_us = 4000000,
                                               .run_us = 20000000,
                                               .processors = 1,
                                               .minimum = 1,
                                               .maximum = 2,
                                               .initial = 1,
                                               .site = PLEAT_NONE,
                                               .kind = PLEAT_MALLEABLE}};
    assert_int_equal(pleat_platform_add(&platform, "here", 2), 0);
    assert_int_equal(pleat_workload_init(&workload), 0);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pleat_array_push(&workload.jobs, jobs[i]), 0);
    assert_int_equal(pleat_trial_policies(&options, " approach=pwa  malleability=egs ", &err), 0);
    assert_string_equal(options.policies[PLEAT_APPROACH]->name, "pwa");
    assert_int_equal(pleat_trial_run(&trial, &study, &workload, &options, true, &err), 0);
    /* alone from 4 to 10 s on one processor: 14 s of work are left, done by two in 7 */
    near(pleat_trial_run_s(&trial, 1), 13);
    near(pleat_trial_wait_s(&trial, 1), 0);
    near(pleat_trial_mean(&trial, pleat_trial_response_s), 11.5);
    near(pleat_trial_makespan_s(&trial), 17);
    near(pleat_trial_utilization(&trial), (10 + 6 + 14) / 34.0);
    near((double)(float)pleat_trial_average(&trial, 1), (double)(float)(20 / 13.0));
    int32_t largest[2];
    struct pleat_curve used, grows;
    pleat_trial_largest(&trial, largest);
    assert_int_equal(largest[0], 1);
    assert_int_equal(largest[1], 2);
    assert_int_equal(pleat_trial_used(&trial, 0, &used), 0);
    const double at[] = {0, 4, 10, 17}, levels[] = {1, 2, 2, 0};
    assert_int_equal(used.count, 4);
    for (size_t i = 0; i < 4; i++) {
        near(used.x[i], at[i]);
        near(used.y[i], levels[i]);
    }
    pleat_curve_finish(&used);
    assert_int_equal(pleat_trial_used(&trial, 2, &used), 0); /* 8.5 s each */
    assert_int_equal(used.count, 3);
    near(used.y[0], (4 + 2 * 4.5) / 8.5);
    near(used.y[1], 2);
    assert_int_equal(pleat_trial_resizes(&trial, true, false, &grows), 0);
    assert_int_equal(grows.count, 1);
    near(grows.x[0], 10);
    pleat_curve_finish(&grows);
    pleat_curve_finish(&used);
    pleat_trial_finish(&trial);
    pleat_workload_finish(&workload);
    pleat_platform_finish(&platform);
}

static void test_policies_that_there_are_not(void **state)
{
    (void)state;
    static const char *const wrong[] = {"egs", "approach=egs", "colour=red", "=", "approach="};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct pleat_sim_options options = {0};
        struct pleat_error err = {0};
        assert_int_equal(pleat_trial_policies(&options, wrong[i], &err), PLEAT_E_NOTFOUND);
        assert_true(strlen(err.text) > 10);
    }
}

/* ---- pages ---- */

static void test_a_page(void **state)
{
    (void)state;
    struct pleat_page page = {0};
    pleat_page_heading(&page, "One");
    pleat_page_item(&page, "an %s", "item");
    pleat_page_item(&page, "another");
    pleat_page_table(&page, "what|value|<why");
    pleat_page_cell(&page, "a|b");
    pleat_page_cell_estimate(&page, (struct pleat_estimate){1.25, 0.04, 3}, 2);
    pleat_page_cell(&page, "%s", "");
    pleat_page_cell(&page, "c");
    pleat_page_paragraph(&page, "The %s.", "end");
    assert_string_equal(page.text.text, "## One\n\n"
                                        "- an item\n- another\n\n"
                                        "| what | value | why |\n| --- | ---: | --- |\n"
                                        "| a\\|b | 1.25 \u00b1 0.04 |  |\n| c |  |  |\n\n"
                                        "The end.\n\n");
    pleat_page_finish(&page);
}

static void test_estimates_as_text(void **state)
{
    (void)state;
    struct pleat_string text = {0};
    pleat_estimate_add(&text, (struct pleat_estimate){(double)NAN, (double)INFINITY, 0}, 1);
    pleat_string_add(&text, " ");
    pleat_estimate_add(&text, (struct pleat_estimate){2, (double)INFINITY, 1}, 1);
    assert_string_equal(text.text, "- 2.0");
    pleat_string_finish(&text);
}

static void test_intervals_read_as_what_they_are(void **state)
{
    (void)state;
    const struct {
        struct pleat_estimate estimate;
        int decimals;
        const char *text, *plus;
    } cases[] = {{{90.26, 2.4, 9}, 0, "90 \u00b1 2", "+90 \u00b1 2"},
                 {{90.26, 0, 9}, 0, "90", "+90"}, /* all gave the same */
                 {{90.26, 0.31, 9}, 0, "90.3 \u00b1 0.3", "+90.3 \u00b1 0.3"}, /* not 90 +- 0 */
                 {{90.26, 0.0312, 9}, 0, "90.26 \u00b1 0.03", "+90.26 \u00b1 0.03"},
                 {{90.26, 0.0001, 9}, 0, "90", "+90"}, /* nothing to be seen */
                 {{-0.2, 0, 9}, 0, "0", "+0"},         /* not -0 */
                 {{-0.2, 0.05, 9}, 1, "-0.2 \u00b1 0.1", "-0.2 \u00b1 0.1"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pleat_estimate estimate = cases[i].estimate;
        assert_string_equal(pleat_estimate_text(estimate, cases[i].decimals).text, cases[i].text);
        assert_string_equal(pleat_estimate_text_plus(estimate, cases[i].decimals).text,
                            cases[i].plus);
    }
    double low, high;
    pleat_estimate_ends((struct pleat_estimate){10, 2, 9}, &low, &high);
    assert_true(low == 8 && high == 12);
    pleat_estimate_ends((struct pleat_estimate){10, 0, 9}, &low, &high);
    assert_true(isnan(low) && isnan(high));
    pleat_estimate_ends((struct pleat_estimate){10, (double)INFINITY, 1}, &low, &high);
    assert_true(isnan(low) && isnan(high));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_run_is_done_once),
        cmocka_unit_test(test_the_first_failure_is_told),
        cmocka_unit_test(test_an_interrupt_ends_it),
        cmocka_unit_test(test_estimates),
        cmocka_unit_test(test_differences_are_by_seed),
        cmocka_unit_test(test_a_sweep_runs_every_setting_with_every_seed),
        cmocka_unit_test(test_what_is_expected_must_hold),
        cmocka_unit_test(test_a_trial_is_measured),
        cmocka_unit_test(test_policies_that_there_are_not),
        cmocka_unit_test(test_a_page),
        cmocka_unit_test(test_estimates_as_text),
        cmocka_unit_test(test_intervals_read_as_what_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
