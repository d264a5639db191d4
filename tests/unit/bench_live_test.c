/* What stands beside live runs: simulations that are fed with measured times give these back, and
 * jobs that were slower than measured are seen to have been. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "koala.h"
#include "virtual.h"

static void near(double value, double expected)
{
    if (!(fabs(value - expected) < 1e-3 * expected))
        fail_msg("%g, expected %g", value, expected);
}

/* ---- folded programs ---- */

/* Folding costs less than the time of the other processes, or more: both kinds of parameters. */
static const double cheap[VIRTUAL_PLACES] = {1.0, 0.6, 1.1}, dear[VIRTUAL_PLACES] = {1.0, 0.5, 1.4};

static struct virtual_feed feed_of(const double seconds[VIRTUAL_PLACES])
{
    struct virtual_feed feed = {.change_s = 0};
    for (int app = 0; app < VIRTUAL_APPS; app++)
        for (int place = 0; place < VIRTUAL_PLACES; place++)
            feed.alone_s[app][place] =
                seconds[place] * (virtual_programs[app].class_ == VIRTUAL_LONG ? 1 : 0.2);
    return feed;
}

/* What the simulator makes of the parameters, on each number of processors. */
static void check_fit(enum virtual_app app, const double seconds[VIRTUAL_PLACES])
{
    struct virtual_model model = virtual_fit(app, seconds);
    int parallel = virtual_programs[app].parallel;
    struct pleat_table_row rows[] = {{1, llround(seconds[VIRTUAL_ONE] * 1e6)},
                                     {parallel, llround(model.unfolded_s * 1e6)}};
    struct pleat_app apps[] = {{.speedup = {.kind = PLEAT_SPEEDUP_TABLE, .count = 2},
                                .mpl_overhead = model.overhead,
                                .imbalance = model.imbalance}};
    struct pleat_workload workload = {.apps = {apps, 1, 1}, .table = {rows, 2, 2}};
    struct pleat_workload_job job = {
        .run_us = rows[1].run_us, .processors = parallel, .mpl_max = 4};
    near(pleat_workload_run_time(&workload, &job, 1, 1) / 1e6, seconds[VIRTUAL_ONE]);
    near(pleat_workload_run_time(&workload, &job, 2, parallel) / 1e6, seconds[VIRTUAL_WIDE]);
    near(pleat_workload_run_time(&workload, &job, 1, parallel) / 1e6, seconds[VIRTUAL_FOLDED]);
}

static void test_the_simulator_has_the_measured_times(void **state)
{
    (void)state;
    for (int app = 0; app < VIRTUAL_APPS; app++) {
        check_fit((enum virtual_app)app, cheap);
        check_fit((enum virtual_app)app, dear);
    }
}

static void check_stretch(const struct virtual_feed *feed, enum virtual_policy policy,
                          double slower)
{
    static struct live_outcome outcomes[LIVE_JOBS_MAX];
    struct virtual_draw draw;
    double seconds[VIRTUAL_APPS][VIRTUAL_PLACES], stretch[VIRTUAL_APPS];
    for (int app = 0; app < VIRTUAL_APPS; app++)
        for (int place = 0; place < VIRTUAL_PLACES; place++)
            seconds[app][place] = feed->alone_s[app][place] * slower;
    virtual_draw_jobs(&draw, VIRTUAL_W3, feed, 1, 7);
    virtual_simulate(policy, &draw, feed, seconds, outcomes);
    virtual_stretch(&draw, feed, outcomes, stretch);
    for (int app = 0; app < VIRTUAL_APPS; app++) {
        bool is_there = false;
        for (int i = 0; i < draw.count; i++)
            is_there = is_there || draw.jobs[i].app == (enum virtual_app)app;
        near(stretch[app], is_there ? slower : 1);
    }
}

/* Under all policies, whatever sizes jobs have had, and however often they began again. */
static void test_slower_jobs_are_seen(void **state)
{
    struct virtual_feed feeds[] = {feed_of(cheap), feed_of(dear)};
    (void)state;
    for (int f = 0; f < 2; f++)
        for (int policy = 0; policy < VIRTUAL_POLICIES; policy++) {
            check_stretch(&feeds[f], (enum virtual_policy)policy, 1);
            check_stretch(&feeds[f], (enum virtual_policy)policy, 1.5);
        }
}

/* Shares of the machine by sequential times: 40 and 30 % of 7.2 processor-seconds. */
static void test_a_draw_has_the_load_of_the_workload(void **state)
{
    struct virtual_feed feed = feed_of(cheap);
    struct virtual_draw draw, again;
    int counts[VIRTUAL_CLASSES] = {0};
    (void)state;
    virtual_draw_jobs(&draw, VIRTUAL_W3, &feed, 1, 3);
    virtual_draw_jobs(&again, VIRTUAL_W3, &feed, 1, 3);
    assert_int_equal(draw.count, again.count);
    for (int i = 0; i < draw.count; i++) {
        assert_int_equal(draw.jobs[i].app, again.jobs[i].app);
        assert_true(i == 0 || draw.jobs[i].at_s >= draw.jobs[i - 1].at_s);
        counts[virtual_programs[draw.jobs[i].app].class_]++;
    }
    assert_int_equal(counts[VIRTUAL_LONG], 3);
    assert_int_equal(counts[VIRTUAL_SHORT], 11);
    near(virtual_offered(&draw, &feed, 1), (3 + 11 * 0.2) / 7.2);
}

/* A short job on a busy machine: FJT takes a processor from a long one, FCFS lets it wait. */
static void test_values_of_a_run(void **state)
{
    struct virtual_feed feed = feed_of(cheap);
    struct virtual_draw draw = {2, {{VIRTUAL_CG_LONG, 0}, {VIRTUAL_SWEEP_SHORT, 0.3}}};
    struct live_outcome outcomes[2];
    double metrics[VIRTUAL_METRICS];
    (void)state;
    virtual_simulate(VIRTUAL_FCFS, &draw, &feed, feed.alone_s, outcomes);
    virtual_measure_run(&draw, &feed, outcomes, metrics);
    near(metrics[virtual_metric(VIRTUAL_LONG, VIRTUAL_RESPONSE)], 0.6);
    near(metrics[virtual_metric(VIRTUAL_SHORT, VIRTUAL_WAIT)], 0.3);
    near(metrics[virtual_metric(VIRTUAL_SHORT, VIRTUAL_SLOWDOWN)], 0.42 / 0.12);
    near(metrics[VIRTUAL_UTILIZATION], 1);
    virtual_simulate(VIRTUAL_FJT, &draw, &feed, feed.alone_s, outcomes);
    virtual_measure_run(&draw, &feed, outcomes, metrics);
    /* the short one runs alone on its processor; the long one is folded for as long */
    near(metrics[virtual_metric(VIRTUAL_SHORT, VIRTUAL_RESPONSE)], 0.2);
    near(metrics[virtual_metric(VIRTUAL_LONG, VIRTUAL_RESPONSE)], 0.5 + 0.6 * (0.5 - 0.2 / 1.1));
    near(metrics[VIRTUAL_RESIZES], 2);
}

/* ---- malleable programs ---- */

static struct koala_feed koala_feed_of(void)
{
    return (struct koala_feed){.seconds = {{1.6, 1, 0.8}, {8, 6, 5, 4, 3.5}}};
}

static void test_times_between_measured_sizes(void **state)
{
    struct koala_feed feed = koala_feed_of();
    (void)state;
    near(koala_time_s(&feed, KOALA_FT, 4), 1);
    near(koala_time_s(&feed, KOALA_FT, 8), 0.8);
    near(koala_time_s(&feed, KOALA_FT, 16), 0.8);
    near(koala_time_s(&feed, KOALA_GADGET, 1), 16);
    near(koala_time_s(&feed, KOALA_GADGET, 4), 6 - (1 / 3. - 1 / 4.) / (1 / 3. - 1 / 5.));
}

static const double as_alone[KOALA_JOBS] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

static void test_slower_malleable_jobs_are_seen(void **state)
{
    double slower[KOALA_JOBS], mean[KOALA_APPS] = {0};
    struct koala_feed feed = koala_feed_of();
    struct live_outcome outcomes[KOALA_JOBS];
    struct koala_job jobs[KOALA_JOBS];
    const struct live_changes none = {0};
    struct koala_stretch stretch;
    (void)state;
    koala_draw(jobs, 5);
    for (int i = 0; i < KOALA_JOBS; i++) { /* each by as much as no other one */
        slower[i] = 1.25 + 0.05 * i;
        mean[jobs[i].app] += slower[i] / (KOALA_JOBS / 2.);
    }
    for (int approach = 0; approach < KOALA_APPROACHES; approach++)
        for (int run = 0; run < KOALA_RUNS; run++) {
            koala_simulate(approach, run, jobs, 1, &feed, none, slower, outcomes);
            koala_measure_stretch(jobs, &feed, outcomes, &stretch);
            for (int i = 0; i < KOALA_JOBS; i++)
                near(stretch.job[i], slower[i]);
            near(stretch.app[KOALA_FT], mean[KOALA_FT]);
            near(stretch.app[KOALA_GADGET], mean[KOALA_GADGET]);
        }
}

static void test_what_changes_took_is_seen(void **state)
{
    struct koala_feed feed = koala_feed_of();
    struct live_outcome outcomes[KOALA_JOBS];
    struct koala_job jobs[KOALA_JOBS];
    const struct live_changes took = {.grow_s = 0.25, .shrink_s = 0.04, .more_s = 0.1};
    const struct live_changes otherwise = {.grow_s = 7, .shrink_s = 8, .free_s = 9};
    (void)state;
    koala_draw(jobs, 5);
    koala_simulate(KOALA_PWA, KOALA_EGS_WM, jobs, 1, &feed, took, as_alone, outcomes);
    near(live_changes(outcomes, KOALA_JOBS, otherwise).grow_s, 0.25);
    near(live_changes(outcomes, KOALA_JOBS, otherwise).more_s, 0.1);
    near(live_changes(outcomes, KOALA_JOBS, otherwise).shrink_s, 0.04);
    koala_simulate(KOALA_PRA, KOALA_EGS_WM, jobs, 1, &feed, took, as_alone, outcomes);
    near(live_changes(outcomes, KOALA_JOBS, otherwise).grow_s, 0.25);
    near(live_changes(outcomes, KOALA_JOBS, otherwise).shrink_s, 8); /* nobody was shrunk */
    near(live_changes(outcomes, KOALA_JOBS, otherwise).free_s, 9);
}

/* What KOALA_METRICS are under PWA if changes of size take so long. */
static void measure_with(struct live_changes took, double metrics[KOALA_METRICS])
{
    struct koala_feed feed = koala_feed_of();
    struct live_outcome outcomes[KOALA_JOBS];
    struct koala_job jobs[KOALA_JOBS];
    koala_draw(jobs, 5);
    koala_simulate(KOALA_PWA, KOALA_EGS_WM, jobs, 1, &feed, took, as_alone, outcomes);
    koala_measure_run(KOALA_EGS_WM, jobs, 1, outcomes, metrics);
}

/* Jobs wait for the processors of running ones that are shrunk for them; and for the ranks that one
 * of these starts for a growth, since it is not shrunk meanwhile. */
static void test_jobs_wait_for_changes_of_others(void **state)
{
    const struct live_changes took = {.grow_s = 0.25, .shrink_s = 0.04};
    struct live_changes later = took, before = took;
    double as_it_was[KOALA_METRICS], metrics[KOALA_METRICS];
    (void)state;
    later.free_s = before.before_s = 0.5;
    measure_with(took, as_it_was);
    assert_true(as_it_was[KOALA_SHRINKS] > 0);
    measure_with(later, metrics);
    assert_true(metrics[KOALA_WAIT] > as_it_was[KOALA_WAIT] + 0.01);
    measure_with(before, metrics);
    assert_true(metrics[KOALA_WAIT] > as_it_was[KOALA_WAIT] + 0.01);
}

/* Nobody is there: what a job waits is what it takes to begin. */
static void test_a_job_takes_time_to_begin(void **state)
{
    struct koala_feed feed = koala_feed_of();
    struct live_outcome outcomes[KOALA_JOBS];
    struct koala_job jobs[KOALA_JOBS];
    const struct live_changes none = {0};
    (void)state;
    koala_draw(jobs, 5);
    feed.start_s = 0.03;
    koala_simulate(KOALA_PRA, KOALA_EGS_WM, jobs, 1, &feed, none, as_alone, outcomes);
    near(live_wait_s(&outcomes[0]), 0.03);
}

/* ---- what holds ---- */

static struct bench_series series_of(int count, double first, double step)
{
    struct bench_series series = {.count = 0};
    for (int i = 0; i < count; i++)
        bench_add(&series, first + i * step);
    return series;
}

static void test_above_a_limit_by_the_bounds(void **state)
{
    static const struct {
        int count;
        double first, limit;
        enum eval_answer above;
    } cases[] = {{5, 2, 1, EVAL_YES},     {5, 2, 2, EVAL_UNCLEAR},    {5, 2, 4, EVAL_UNCLEAR},
                 {5, 2, 6, EVAL_NO},      {5, 2, 7, EVAL_NO},         {4, 2, 1, EVAL_UNCLEAR},
                 {4, 2, 9, EVAL_UNCLEAR}, {4, -9, -99, EVAL_UNCLEAR}, {0, 0, 1, EVAL_UNCLEAR}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct bench_series series = series_of(cases[i].count, cases[i].first, 1);
        assert_int_equal(eval_above(&series, cases[i].limit), cases[i].above);
    }
}

static void test_answers_together(void **state)
{
    (void)state;
    assert_int_equal(eval_and(EVAL_YES, EVAL_YES), EVAL_YES);
    assert_int_equal(eval_and(EVAL_YES, EVAL_UNCLEAR), EVAL_UNCLEAR);
    assert_int_equal(eval_and(EVAL_UNCLEAR, EVAL_NO), EVAL_NO);
    assert_int_equal(eval_not(EVAL_YES), EVAL_NO);
    assert_int_equal(eval_not(EVAL_NO), EVAL_YES);
    assert_int_equal(eval_not(EVAL_UNCLEAR), EVAL_UNCLEAR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_simulator_has_the_measured_times),
        cmocka_unit_test(test_slower_jobs_are_seen),
        cmocka_unit_test(test_a_draw_has_the_load_of_the_workload),
        cmocka_unit_test(test_values_of_a_run),
        cmocka_unit_test(test_times_between_measured_sizes),
        cmocka_unit_test(test_slower_malleable_jobs_are_seen),
        cmocka_unit_test(test_what_changes_took_is_seen),
        cmocka_unit_test(test_jobs_wait_for_changes_of_others),
        cmocka_unit_test(test_a_job_takes_time_to_begin),
        cmocka_unit_test(test_above_a_limit_by_the_bounds),
        cmocka_unit_test(test_answers_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
