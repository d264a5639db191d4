/* Workloads of Utrera 2010: the load of equation 3.2, shares, sizes and run times of table 3.2. */
#include "test.h"

#include <math.h>
#include <string.h>

#include "workload/generate.h"

static void generate(struct pleat_utrera_model model, struct pleat_workload *workload)
{
    struct pleat_error err = {0};
    memset(workload, 0, sizeof(*workload));
    assert_int_equal(pleat_workload_init(workload), 0);
    if (pleat_generate_utrera(&model, workload, &err) || pleat_workload_check(workload, &err))
        fail_msg("%s", err.text);
    assert_int_equal(workload->machine, model.machine);
}

static const struct pleat_app *app_of(const struct pleat_workload *w, size_t job)
{
    return &w->apps.items[w->jobs.items[job].app];
}

static bool is_long(const struct pleat_app *app)
{
    size_t length = strlen(app->name);
    return length > 5 && !strcmp(app->name + length - 5, "-long");
}

/* Seconds on one processor: the first row of the table. */
static double sequential(const struct pleat_workload *w, const struct pleat_app *app)
{
    const struct pleat_table_row *row = &w->table.items[app->speedup.first];
    assert_int_equal(app->speedup.kind, PLEAT_SPEEDUP_TABLE);
    assert_int_equal(row->processors, 1);
    return (double)row->run_us / 1e6;
}

/* The nominal load within its standard error: a sum of Poisson many jobs of T_i each varies with
 * sum of lambda_i T_i^2 over the time. */
static void check_load(const char *mix, double load, double expected_long, double expected_short)
{
    struct pleat_workload w;
    generate(
        (struct pleat_utrera_model){
            .jobs = 20000, .machine = 60, .load = load, .mix = mix, .seed = 1},
        &w);
    double sums[2] = {0}, squares[2] = {0};
    for (size_t i = 0; i < w.jobs.count; i++) {
        const struct pleat_app *app = app_of(&w, i);
        double seconds = sequential(&w, app);
        assert_true(is_long(app) ? seconds > 1200 : seconds < 600);
        sums[is_long(app)] += seconds;
        squares[is_long(app)] += seconds * seconds;
    }
    double expected[2] = {expected_short, expected_long};
    double area = 60 * (double)w.jobs.items[w.jobs.count - 1].submit_us / 1e6;
    for (int i = 0; i < 2; i++)
        if (fabs(sums[i] / area - expected[i]) > 4 * sqrt(squares[i]) / area)
            fail_msg("%s: %s share %g, should be %g +- %g", mix, i ? "long" : "short",
                     sums[i] / area, expected[i], sqrt(squares[i]) / area);
    pleat_workload_finish(&w);
}

static void test_load_is_reached(void **state)
{
    (void)state;
    check_load("w1", 0, 0.4, 0.1);
    check_load("w2", 0, 0.4, 0.2);
    check_load("w3", 0, 0.4, 0.3);
    check_load("w4", 0, 0.1, 0.4);
    check_load("w5", 0, 0.2, 0.4);
    check_load("w6", 0, 0.3, 0.4);
    check_load("w1", 1, 0.8, 0.2);
    check_load("high", 1, 0.8, 0.2);
    check_load("low", 1, 0.8, 0.2);
    check_load("low", 0.4, 0.2, 0.2);
    check_load("high", 0, 0.6, 0.2);
}

/* Within a class each application has an equal share of the load, not of the jobs. */
static void test_equal_shares(void **state)
{
    (void)state;
    struct pleat_workload w;
    double sums[8] = {0};
    generate((struct pleat_utrera_model){.jobs = 50000, .machine = 60, .mix = "w6", .seed = 2}, &w);
    for (size_t i = 0; i < w.jobs.count; i++)
        sums[w.jobs.items[i].app] += sequential(&w, app_of(&w, i));
    assert_int_equal(w.apps.count, 5);
    assert_true(fabs(sums[1] / sums[2] - 1) < 0.1);  /* bt.A, cg.B: some 3,000 and 1,600 jobs */
    assert_true(fabs(sums[3] / sums[4] - 1) < 0.05); /* bt.W, sweep3D */
    pleat_workload_finish(&w);
}

static const struct pleat_workload_job *find_job(const struct pleat_workload *w, const char *name)
{
    for (size_t i = 0; i < w->jobs.count; i++)
        if (!strcmp(app_of(w, i)->name, name))
            return &w->jobs.items[i];
    fail_msg("no job of %s", name);
    return NULL;
}

static double seconds_on(const struct pleat_workload *w, const struct pleat_workload_job *job,
                         int32_t processors)
{
    return pleat_workload_run_time(w, job, processors, 0) / 1e6;
}

static void test_table(void **state)
{
    (void)state;
    struct pleat_workload w, rigid;
    struct pleat_utrera_model model = {
        .jobs = 2000, .machine = 60, .mix = "w6", .kind = PLEAT_MALLEABLE, .seed = 3};
    generate(model, &w);
    const struct pleat_workload_job *bt = find_job(&w, "bt.A-long"),
                                    *cg = find_job(&w, "cg.B-long"),
                                    *small = find_job(&w, "bt.W-short");
    assert_int_equal(bt->kind, PLEAT_MALLEABLE);
    assert_int_equal(bt->sizes_kind, PLEAT_SIZES_SQUARES);
    assert_int_equal(cg->sizes_kind, PLEAT_SIZES_POWERS);
    assert_true(bt->minimum == 1 && bt->maximum == 49 && bt->processors == 49);
    assert_true(cg->minimum == 1 && cg->maximum == 32); /* 64 are more than the machine has */
    static const double times[][2] = {{1, 2441}, {9, 300}, {16, 185},
                                      {25, 100}, {36, 66}, {49, 50}};
    for (size_t i = 0; i < 6; i++) {
        int32_t size = (int32_t)times[i][0];
        assert_true(fabs(seconds_on(&w, bt, size) - times[i][1]) < 1e-3);
        assert_true(fabs(seconds_on(&w, small, size) - times[i][1] * 27 / 512) < 1e-2);
    }
    assert_true(fabs(seconds_on(&w, cg, 1) - 4385) < 1e-3 &&
                fabs(seconds_on(&w, cg, 8) - 475) < 1e-3 &&
                fabs(seconds_on(&w, cg, 32) - 88) < 1e-3);
    model.kind = PLEAT_RIGID;
    generate(model, &rigid);
    bt = find_job(&rigid, "bt.A-long");
    assert_true(bt->kind == PLEAT_RIGID && bt->minimum == 49 && bt->maximum == 49 &&
                bt->run_us == 50000000);
    pleat_workload_finish(&w);
    pleat_workload_finish(&rigid);
}

static void test_low_mix_and_small_machine(void **state)
{
    (void)state;
    struct pleat_workload w;
    generate(
        (struct pleat_utrera_model){
            .jobs = 2000, .machine = 8, .mix = "low", .kind = PLEAT_MOLDABLE, .seed = 3},
        &w);
    const struct pleat_workload_job *ep = find_job(&w, "ep.C-long");
    assert_true(ep->maximum == 8 && ep->minimum == 1 && ep->kind == PLEAT_MOLDABLE);
    assert_true(ep->run_us == 196000000); /* 4 x 49 s */
    assert_true(fabs(seconds_on(&w, ep, 1) - 1492) < 1e-3);
    pleat_workload_finish(&w);
}

/* The thesis (5.4.2): some 50 jobs in 600 to 900 s; long ones are 5 to 7 in w1. Over many seeds
 * the means are lambda x time. */
static void test_duration(void **state)
{
    (void)state;
    enum { SEEDS = 200 };
    double jobs = 0, longs = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct pleat_workload w;
        generate(
            (struct pleat_utrera_model){
                .machine = 60, .mix = "w1", .duration_s = 750, .seed = seed},
            &w);
        assert_true(w.jobs.items[w.jobs.count - 1].submit_us <= 750000000);
        jobs += (double)w.jobs.count / SEEDS;
        for (size_t i = 0; i < w.jobs.count; i++)
            longs += is_long(app_of(&w, i)) ? 1.0 / SEEDS : 0;
        pleat_workload_finish(&w);
    }
    double lambda_long = 60 * (0.2 / 2441 + 0.2 / 4385);
    double lambda = lambda_long + 60 * (0.05 / (2441 * 27 / 512.0) + 0.05 / 50);
    assert_true(fabs(jobs - 750 * lambda) < 4 * sqrt(750 * lambda / SEEDS));
    assert_true(fabs(longs - 750 * lambda_long) < 4 * sqrt(750 * lambda_long / SEEDS));
    assert_true(longs > 5 && longs < 7);
}

static void test_reproducible(void **state)
{
    (void)state;
    struct pleat_utrera_model model = {.jobs = 1000, .machine = 60, .mix = "w2", .seed = 5};
    struct pleat_workload a, b, c;
    generate(model, &a);
    generate(model, &b);
    model.seed = 6;
    generate(model, &c);
    size_t bytes = a.jobs.count * sizeof(*a.jobs.items);
    assert_memory_equal(a.jobs.items, b.jobs.items, bytes);
    assert_true(memcmp(a.jobs.items, c.jobs.items, bytes) != 0);
    pleat_workload_finish(&a);
    pleat_workload_finish(&b);
    pleat_workload_finish(&c);
}

static void refuse(struct pleat_utrera_model model, const char *words)
{
    struct pleat_workload w = {0};
    struct pleat_error err = {0};
    assert_int_equal(pleat_workload_init(&w), 0);
    assert_int_equal(pleat_generate_utrera(&model, &w, &err), PLEAT_E_INVALID);
    if (!strstr(err.text, words))
        fail_msg("%s", err.text);
    assert_true(w.jobs.count == 0 && w.apps.count == 1 && w.table.count == 0);
    pleat_workload_finish(&w);
}

static void test_refused(void **state)
{
    (void)state;
    struct pleat_utrera_model good = {.jobs = 10, .machine = 60, .mix = "w1"}, m = good;
    m.mix = "w7";
    refuse(m, "no mix 'w7': take one of w1, w2");
    m.mix = NULL;
    refuse(m, "take one of");
    m = good;
    m.jobs = 0;
    refuse(m, "how many jobs");
    m.duration_s = 1e-6;
    refuse(m, "no job arrives within");
    m.duration_s = -1;
    refuse(m, "arrivals for -1 s");
    m = good;
    m.load = 3;
    refuse(m, "load 3");
    m.load = 0.1;
    m.mix = "high";
    refuse(m, "short jobs alone are 0.2");
    m = good;
    m.machine = 0;
    refuse(m, "a machine of 0");
}

static void test_names(void **state)
{
    (void)state;
    struct pleat_utrera_model model = {.jobs = 10, .machine = 60, .mix = "w9"};
    refuse(model, "w1, w2, w3, w4, w5, w6, high, low");
}

static void test_folding(void **state)
{
    (void)state;
    struct pleat_workload w;
    generate((struct pleat_utrera_model){.jobs = 200,
                                         .machine = 60,
                                         .mix = "w3",
                                         .kind = PLEAT_MALLEABLE,
                                         .mpl_max = 4,
                                         .seed = 1},
             &w);
    size_t of_class[3] = {0};
    for (size_t i = 0; i < w.jobs.count; i++) {
        const struct pleat_workload_job *job = &w.jobs.items[i];
        assert_int_equal(job->mpl_max, 4);
        assert_int_equal(job->job_class,
                         is_long(app_of(&w, i)) ? PLEAT_CLASS_LONG : PLEAT_CLASS_SHORT);
        of_class[job->job_class]++;
    }
    assert_true(of_class[PLEAT_CLASS_LONG] > 0 && of_class[PLEAT_CLASS_SHORT] > 0);
    pleat_workload_finish(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_load_is_reached), cmocka_unit_test(test_equal_shares),
        cmocka_unit_test(test_table),           cmocka_unit_test(test_low_mix_and_small_machine),
        cmocka_unit_test(test_duration),        cmocka_unit_test(test_reproducible),
        cmocka_unit_test(test_folding),         cmocka_unit_test(test_refused),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
