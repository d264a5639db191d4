/* Workloads of independent draws: arrivals, sizes, run times, the load asked for. */
#include "test.h"

#include <math.h>
#include <string.h>

#include "workload/generate.h"

static struct pleat_distribution parse(const char *text)
{
    struct pleat_distribution d;
    assert_int_equal(pleat_distribution_parse(text, &d, NULL), 0);
    return d;
}

static struct pleat_simple_model model_of(const char *gap, const char *run, const char *size)
{
    return (struct pleat_simple_model){.jobs = 20000,
                                       .machine = 64,
                                       .gap = parse(gap),
                                       .run = parse(run),
                                       .size = parse(size),
                                       .seed = 11};
}

static void generate(const struct pleat_simple_model *model, struct pleat_workload *workload)
{
    struct pleat_error err = {0};
    memset(workload, 0, sizeof(*workload));
    assert_int_equal(pleat_workload_init(workload), 0);
    if (pleat_generate_simple(model, workload, &err) || pleat_workload_check(workload, &err))
        fail_msg("%s", err.text);
    assert_int_equal(workload->jobs.count, model->jobs);
    assert_int_equal(workload->machine, model->machine);
}

/* ---- arrivals ---- */

static void check_gaps(const char *gap, double mean, double deviation)
{
    struct pleat_simple_model model = model_of(gap, "constant:10", "constant:1");
    struct pleat_workload w;
    generate(&model, &w);
    double last = (double)w.jobs.items[model.jobs - 1].submit_us / 1e6;
    double tolerance = 4 * deviation / sqrt((double)model.jobs) + 1e-6;
    if (fabs(last / (double)model.jobs - mean) > tolerance)
        fail_msg("%s: mean gap %g, should be %g +- %g", gap, last / (double)model.jobs, mean,
                 tolerance);
    pleat_workload_finish(&w);
}

static void test_arrivals(void **state)
{
    (void)state;
    check_gaps("constant:0.5", 0.5, 0);
    check_gaps("uniform:10,50", 30, 40 / sqrt(12));
    check_gaps("normal:60,10", 60, 10);
    check_gaps("poisson:30", 30, 30);
    check_gaps("lognormal:3,0.5", exp(3.125), sqrt((exp(0.25) - 1) * exp(6.25)));
    check_gaps("weibull:100,2", 50 * sqrt(acos(-1.0)), 100 * sqrt(1 - acos(-1.0) / 4));
    check_gaps("gamma:2,50", 100, sqrt(5000));
}

/* A Poisson process: counts in windows of equal length vary as much as their mean. */
static void test_poisson_counts(void **state)
{
    (void)state;
    struct pleat_simple_model model = model_of("poisson:2", "constant:10", "constant:1");
    struct pleat_workload w;
    generate(&model, &w);
    enum { WINDOWS = 1900 };
    double counts[WINDOWS] = {0}, mean = 0, variance = 0;
    for (size_t i = 0; i < w.jobs.count; i++) {
        int64_t window = w.jobs.items[i].submit_us / 20000000;
        if (window < WINDOWS)
            counts[window]++;
    }
    for (int i = 0; i < WINDOWS; i++)
        mean += counts[i] / WINDOWS;
    for (int i = 0; i < WINDOWS; i++)
        variance += (counts[i] - mean) * (counts[i] - mean) / (WINDOWS - 1);
    assert_true(fabs(mean - 10) < 4 * sqrt(10.0 / WINDOWS));
    assert_true(fabs(variance / mean - 1) < 4 * sqrt(2.0 / WINDOWS));
    pleat_workload_finish(&w);
}

/* ---- sizes, run times, estimates ---- */

static void test_jobs(void **state)
{
    (void)state;
    struct pleat_simple_model model = model_of("poisson:5", "lognormal:3,1", "uniform:1,100");
    struct pleat_workload w;
    model.estimate = 4;
    generate(&model, &w);
    double ratios = 0, log_run = 0;
    int largest = 0;
    for (size_t i = 0; i < w.jobs.count; i++) {
        const struct pleat_workload_job *job = &w.jobs.items[i];
        assert_int_equal(job->number, i + 1);
        assert_int_equal(job->kind, PLEAT_RIGID);
        assert_int_equal(job->site, PLEAT_NONE);
        assert_in_range(job->processors, 1, 64);
        assert_true(job->run_us >= 1 && job->estimate_us >= job->run_us &&
                    job->estimate_us <= 4 * job->run_us);
        ratios += (double)job->estimate_us / (double)job->run_us;
        log_run += log((double)job->run_us / 1e6);
        largest += job->processors == 64;
    }
    double n = (double)w.jobs.count;
    assert_true(fabs(ratios / n - 2.5) < 4 * (3 / sqrt(12)) / sqrt(n));
    assert_true(fabs(log_run / n - 3) < 4 / sqrt(n));
    assert_true(fabs(largest / n - 0.37) < 4 * sqrt(0.37 * 0.63 / n)); /* 64 to 100, cut off */
    pleat_workload_finish(&w);
}

static void test_tick_and_powers(void **state)
{
    (void)state;
    struct pleat_simple_model model = model_of("poisson:5", "exponential:2", "uniform:1,64");
    struct pleat_workload w;
    model.tick = 1;
    model.powers = true;
    generate(&model, &w);
    for (size_t i = 0; i < w.jobs.count; i++) {
        const struct pleat_workload_job *job = &w.jobs.items[i];
        assert_true(job->submit_us % 1000000 == 0 && job->run_us % 1000000 == 0);
        assert_true(job->run_us >= 1000000);
        assert_int_equal(job->processors & (job->processors - 1), 0);
    }
    pleat_workload_finish(&w);
}

static void test_load(void **state)
{
    (void)state;
    for (double load = 0.3; load < 1.5; load += 0.4) {
        struct pleat_simple_model model = model_of("weibull:3,0.7", "gamma:2,50", "uniform:1,32");
        struct pleat_workload w;
        model.load = load;
        generate(&model, &w);
        double work = 0;
        for (size_t i = 0; i < w.jobs.count; i++)
            work += (double)w.jobs.items[i].processors * (double)w.jobs.items[i].run_us;
        double span =
            (double)(w.jobs.items[w.jobs.count - 1].submit_us - w.jobs.items[0].submit_us);
        assert_true(fabs(work / (64 * span) - load) < 1e-9);
        pleat_workload_finish(&w);
    }
}

/* ---- the same again ---- */

static void test_reproducible(void **state)
{
    (void)state;
    struct pleat_simple_model model = model_of("poisson:5", "lognormal:3,1", "uniform:1,64");
    struct pleat_workload a, b, c, d;
    model.estimate = 2;
    generate(&model, &a);
    generate(&model, &b);
    model.gap = parse("normal:5,1");
    generate(&model, &c);
    model.seed = 12;
    generate(&model, &d);
    assert_memory_equal(a.jobs.items, b.jobs.items, a.jobs.count * sizeof(*a.jobs.items));
    size_t same = 0;
    for (size_t i = 0; i < a.jobs.count; i++) {
        /* other arrivals, the same jobs */
        assert_int_equal(a.jobs.items[i].processors, c.jobs.items[i].processors);
        assert_true(a.jobs.items[i].run_us == c.jobs.items[i].run_us);
        assert_true(a.jobs.items[i].estimate_us == c.jobs.items[i].estimate_us);
        same += a.jobs.items[i].run_us == d.jobs.items[i].run_us;
    }
    assert_true(same < 100);
    pleat_workload_finish(&a);
    pleat_workload_finish(&b);
    pleat_workload_finish(&c);
    pleat_workload_finish(&d);
}

/* ---- what cannot be ---- */

static void refuse(const struct pleat_simple_model *model, int code, const char *words)
{
    struct pleat_workload w = {0};
    struct pleat_error err = {0};
    assert_int_equal(pleat_workload_init(&w), 0);
    assert_int_equal(pleat_generate_simple(model, &w, &err), code);
    if (!strstr(err.text, words))
        fail_msg("%s", err.text);
    assert_int_equal(w.jobs.count, 0);
    assert_int_equal(w.machine, 0);
    pleat_workload_finish(&w);
}

static void test_refused(void **state)
{
    (void)state;
    struct pleat_simple_model good = model_of("poisson:5", "gamma:2,50", "constant:4"), m = good;
    m.jobs = 0;
    refuse(&m, PLEAT_E_INVALID, "0 jobs: must be from 1");
    m = good;
    m.machine = 0;
    refuse(&m, PLEAT_E_INVALID, "a machine of 0 processors");
    m = good;
    m.load = -1;
    refuse(&m, PLEAT_E_INVALID, "load -1: must be from 0");
    m.load = (double)NAN;
    refuse(&m, PLEAT_E_INVALID, "load");
    m.load = 0.5;
    m.jobs = 1;
    refuse(&m, PLEAT_E_INVALID, "one job has no load");
    m.jobs = 100;
    m.gap = parse("constant:0");
    refuse(&m, PLEAT_E_INVALID, "all jobs arrive at once");
    m = good;
    m.estimate = 0.5;
    refuse(&m, PLEAT_E_INVALID, "estimates up to 0.5");
    m = good;
    m.tick = -1;
    refuse(&m, PLEAT_E_INVALID, "multiples of -1");
    m = good;
    m.gap = parse("constant:1e9");
    refuse(&m, PLEAT_E_TOOBIG, "smaller gaps");
    m = good;
    m.run = parse("constant:1e9");
    refuse(&m, PLEAT_E_INVALID, "70,000 years");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arrivals), cmocka_unit_test(test_poisson_counts),
        cmocka_unit_test(test_jobs),     cmocka_unit_test(test_tick_and_powers),
        cmocka_unit_test(test_load),     cmocka_unit_test(test_reproducible),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
