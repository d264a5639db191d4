/* Run times against size, resize costs, and what a workload must be: by hand-computed values, by
 * properties that hold for all parameters, and one wrong field at a time. */
#include "test.h"

#include <math.h>
#include <string.h>

#include "model/workload.h"

#define S INT64_C(1000000)

/* One job of 100 s on 4 processors that runs application 1. */
struct world {
    struct pleat_workload workload;
    struct pleat_workload_job *job;
    struct pleat_app *app;
};

static void make(struct world *world, struct pleat_app app)
{
    struct pleat_workload_job job = {.number = 7,
                                     .submit_us = 5 * S,
                                     .run_us = 100 * S,
                                     .processors = 4,
                                     .minimum = 1,
                                     .maximum = 64,
                                     .app = 1,
                                     .site = PLEAT_NONE,
                                     .user = -1,
                                     .kind = PLEAT_MALLEABLE};
    memset(world, 0, sizeof(*world));
    assert_int_equal(pleat_workload_init(&world->workload), 0);
    assert_int_equal(pleat_array_push(&world->workload.apps, app), 0);
    assert_int_equal(pleat_array_push(&world->workload.jobs, job), 0);
    world->job = &world->workload.jobs.items[0];
    world->app = &world->workload.apps.items[1];
}

static double seconds(const struct world *world, int32_t partition, int32_t processes)
{
    return pleat_workload_run_time(&world->workload, world->job, partition, processes) / 1e6;
}

static void expect(const struct world *world, int32_t partition, int32_t processes, double wanted)
{
    double got = seconds(world, partition, processes);
    if (fabs(got - wanted) > 1e-9 * wanted)
        fail_msg("%d processors, %d processes: %.12g s, expected %.12g s", partition, processes,
                 got, wanted);
}

/* ---- run times ---- */

static void test_linear(void **state)
{
    (void)state;
    struct world world;
    make(&world, (struct pleat_app){.speedup.kind = PLEAT_SPEEDUP_LINEAR});
    expect(&world, 4, 4, 100);
    expect(&world, 1, 1, 400);
    expect(&world, 64, 64, 6.25);
    pleat_workload_finish(&world.workload);
}

static void test_amdahl(void **state)
{
    (void)state;
    struct world world;
    make(&world, (struct pleat_app){.speedup = {.kind = PLEAT_SPEEDUP_AMDAHL, .serial = 0.2}});
    /* 0.2 + 0.8 / n: 1, 0.4 at 4, 0.3 at 8, 0.2125 at 64 */
    expect(&world, 4, 4, 100);
    expect(&world, 1, 1, 250);
    expect(&world, 8, 8, 75);
    expect(&world, 64, 64, 53.125);
    world.app->speedup.serial = 1;
    expect(&world, 64, 64, 100);
    world.app->speedup.serial = 0;
    expect(&world, 64, 64, 6.25);
    pleat_workload_finish(&world.workload);
}

static void test_downey(void **state)
{
    (void)state;
    static const struct {
        double sigma;
        int32_t n;
        double speedup;
    } rows[] = {
        {0.5, 1, 1},      {0.5, 10, 100 / 12.25}, /* A n / (A + sigma (n - 1) / 2) */
        {0.5, 15, 9.375}, /* A n / (sigma (A - 1/2) + n (1 - sigma / 2)) = 150 / 16 */
        {0.5, 19, 10},    {0.5, 60, 10},          {0, 7, 7},   {0, 10, 10},        {0, 11, 10},
        {2, 1, 1},        {2, 10, 6.25}, /* n A (sigma + 1) / (sigma (n + A - 1) + A) = 300 / 48 */
        {2, 28, 10},      {2, 27, 810 / 82.0},    {2, 60, 10}, {1, 10, 100 / 14.5}};
    struct world world;
    make(&world, (struct pleat_app){.speedup = {.kind = PLEAT_SPEEDUP_DOWNEY, .parallelism = 10}});
    world.job->processors = 1;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        world.app->speedup.sigma = rows[i].sigma;
        expect(&world, rows[i].n, 0, 100 / rows[i].speedup);
    }
    pleat_workload_finish(&world.workload);
}

/* Never faster than n or A, never slower with more, and without a step where the formula changes.
 */
static void test_downey_shape(void **state)
{
    (void)state;
    struct world world;
    make(&world, (struct pleat_app){.speedup = {.kind = PLEAT_SPEEDUP_DOWNEY}});
    world.job->processors = 1;
    for (double a = 1; a < 300; a *= 2.3) {
        for (double sigma = 0; sigma < 5; sigma += 0.25) {
            double last = 0;
            world.app->speedup.parallelism = a;
            world.app->speedup.sigma = sigma;
            for (int32_t n = 1; n < 1500; n++) {
                double speedup = 100 / seconds(&world, n, 0);
                if (speedup < last - 1e-9 || speedup > n + 1e-9 || speedup > a + 1e-9 ||
                    speedup > last + 1 + 1e-9)
                    fail_msg("A %g sigma %g: speedup %g at %d, %g before", a, sigma, speedup, n,
                             last);
                last = speedup;
            }
        }
    }
    pleat_workload_finish(&world.workload);
}

static void add_rows(struct world *world, const struct pleat_table_row *rows, uint32_t count)
{
    struct pleat_speedup *speedup = &world->app->speedup;
    *speedup = (struct pleat_speedup){.kind = PLEAT_SPEEDUP_TABLE,
                                      .first = (uint32_t)world->workload.table.count,
                                      .count = count};
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(pleat_array_push(&world->workload.table, rows[i]), 0);
}

static void test_table(void **state)
{
    (void)state;
    static const struct pleat_table_row others[] = {{3, 1 * S}};
    static const struct pleat_table_row rows[] = {{2, 330 * S}, {4, 200 * S}, {16, 80 * S}};
    struct world world;
    make(&world, (struct pleat_app){.iterations = 1});
    add_rows(&world, others, 1);
    add_rows(&world, rows, 3);
    expect(&world, 4, 4, 100);
    expect(&world, 2, 2, 165);
    expect(&world, 16, 16, 40);
    expect(&world, 17, 17, 40);
    expect(&world, 64, 64, 40);
    expect(&world, 1, 1, 330);
    /* 1/3 is two thirds of the way from 1/2 to 1/4: 330 - 130 x 2/3; 1/8 also from 1/4 to 1/16 */
    expect(&world, 3, 3, (330 - 130 * 2 / 3.0) / 2);
    expect(&world, 8, 8, (200 - 120 * 2 / 3.0) / 2);
    pleat_workload_finish(&world.workload);
}

/* A table of what Amdahl's law gives at some sizes gives it in between. */
static void test_table_follows_amdahl(void **state)
{
    (void)state;
    struct pleat_table_row rows[5];
    static const int32_t sizes[5] = {1, 3, 10, 40, 100};
    struct world world;
    make(&world, (struct pleat_app){.speedup = {.kind = PLEAT_SPEEDUP_AMDAHL, .serial = 0.1}});
    double wanted[101];
    for (int32_t n = 1; n <= 100; n++)
        wanted[n] = seconds(&world, n, n);
    for (int i = 0; i < 5; i++)
        rows[i] = (struct pleat_table_row){sizes[i], (int64_t)llround(wanted[sizes[i]] * 1e9)};
    add_rows(&world, rows, 5);
    for (int32_t n = 1; n <= 100; n++)
        assert_true(fabs(seconds(&world, n, n) - wanted[n]) < 1e-6);
    pleat_workload_finish(&world.workload);
}

static void test_folded(void **state)
{
    (void)state;
    struct world world;
    make(&world, (struct pleat_app){.mpl_overhead = 0.1});
    world.job->processors = world.job->processes = 8;
    expect(&world, 8, 8, 100);
    expect(&world, 20, 8, 100); /* more processors than processes are of no use */
    expect(&world, 8, 0, 100);  /* its own number of processes */
    expect(&world, 4, 8, 200 * 1.1);
    expect(&world, 3, 8, 800 / 3.0 * 1.2); /* shared: 8/3 a processor, MPL 3 */
    expect(&world, 1, 8, 800 * 1.7);
    expect(&world, 4, 4, 200); /* started with 4 processes: not folded at all */
    world.app->local_queues = true;
    expect(&world, 4, 8, 200 * 1.1);
    expect(&world, 3, 8, 300 * 1.2); /* the fullest has three */
    expect(&world, 5, 8, 200 * 1.1);
    pleat_workload_finish(&world.workload);
}

/* Processes are chosen: 100 s with 4 on 4. */
static void test_folding(void **state)
{
    (void)state;
    struct world world;
    make(&world, (struct pleat_app){.speedup.kind = PLEAT_SPEEDUP_LINEAR, .mpl_overhead = 0.5});
    world.job->mpl_max = 4;
    assert_int_equal(pleat_workload_check(&world.workload, NULL), 0);
    expect(&world, 4, 4, 100);
    expect(&world, 8, 4, 100); /* no more than one processor for each */
    expect(&world, 8, 0, 50);  /* as many as processors */
    expect(&world, 8, 8, 50);
    expect(&world, 4, 8, 150); /* two on each: half as fast, and half as much lost */
    expect(&world, 3, 8, 100 * 4 / 3.0 * 2);
    world.job->kind = PLEAT_MOLDABLE;
    assert_int_equal(pleat_workload_check(&world.workload, NULL), PLEAT_E_INVALID);
    world.job->kind = PLEAT_MALLEABLE;
    world.job->processes = 4;
    assert_int_equal(pleat_workload_check(&world.workload, NULL), PLEAT_E_INVALID);
    world.job->processes = 0;
    world.job->job_class = PLEAT_CLASS_LONG + 1;
    assert_int_equal(pleat_workload_check(&world.workload, NULL), PLEAT_E_INVALID);
    pleat_workload_finish(&world.workload);
}

static void test_folded_imbalance(void **state)
{
    (void)state;
    struct world world;
    make(&world, (struct pleat_app){.imbalance = 0.5});
    world.job->processors = world.job->processes = 8;
    expect(&world, 8, 8, 100);
    /* alone, the mean process is done after 100 / 1.5; shared, each processor has two of those */
    expect(&world, 4, 8, 100 * 2 / 1.5);
    expect(&world, 6, 8, 100); /* one process cannot be on two processors */
    world.app->local_queues = true;
    expect(&world, 4, 8, 100 * 2.5 / 1.5);
    expect(&world, 6, 8, 100 * 2.5 / 1.5);
    pleat_workload_finish(&world.workload);
}

/* The recorded time may be of a folded run. */
static void test_recorded_folded(void **state)
{
    (void)state;
    struct world world;
    make(&world, (struct pleat_app){.mpl_overhead = 0.25});
    world.job->processors = 4;
    world.job->processes = 8;
    expect(&world, 4, 8, 100);
    expect(&world, 8, 8, 100 / 2.5);
    expect(&world, 2, 8, 100 / 2.5 * 4 * 1.75);
    pleat_workload_finish(&world.workload);
}

static void test_component_and_work(void **state)
{
    (void)state;
    struct world world;
    make(&world, (struct pleat_app){.component = 4, .work = 10});
    expect(&world, 4, 4, 1000);
    expect(&world, 8, 8, 500);
    expect(&world, 11, 11, 500);
    expect(&world, 12, 12, 400);
    expect(&world, 64, 64, 100);
    assert_true(isinf(seconds(&world, 3, 3)));
    pleat_workload_finish(&world.workload);
}

/* At its own size every job takes exactly what was recorded, whatever the application. */
static void test_own_size_is_exact(void **state)
{
    (void)state;
    static const struct pleat_table_row rows[] = {{3, 7 * S}, {700, 3 * S}};
    struct world world;
    make(&world, (struct pleat_app){.speedup = {.serial = 0.3, .parallelism = 33.3, .sigma = 0.7},
                                    .mpl_overhead = 0.37,
                                    .imbalance = 0.21});
    struct pleat_app app = *world.app;
    add_rows(&world, rows, 2);
    app.speedup.count = 2;
    for (int kind = 0; kind < PLEAT_SPEEDUP_KIND_COUNT; kind++) {
        *world.app = app;
        world.app->speedup.kind = (enum pleat_speedup_kind)kind;
        for (int32_t n = 1; n < 1000; n += 7) {
            world.job->run_us = 123456789 + n;
            world.job->processors = n;
            world.job->processes = n % 2 ? 0 : 3 * n;
            assert_true(pleat_workload_run_time(&world.workload, world.job, n,
                                                world.job->processes) == 123456789.0 + n);
        }
    }
    pleat_workload_finish(&world.workload);
}

static void test_resize_time(void **state)
{
    (void)state;
    struct world world;
    make(&world, (struct pleat_app){.cost = {.fixed_us = 2 * S, .bytes = 8e9, .bandwidth = 1e9}});
    const struct pleat_workload *workload = &world.workload;
    /* half of the data moves between 2 and 4, three quarters between 16 and 4 */
    assert_int_equal(pleat_workload_resize_time(workload, world.app, 2, 4), 6 * S);
    assert_int_equal(pleat_workload_resize_time(workload, world.app, 16, 4), 8 * S);
    assert_int_equal(pleat_workload_resize_time(workload, world.app, 4, 4), 0);
    static const struct pleat_cost_row costs[] = {{1, 2, 9}, {2, 4, 70}, {4, 2, 50}};
    for (int i = 0; i < 3; i++)
        assert_int_equal(pleat_array_push(&world.workload.costs, costs[i]), 0);
    world.app->cost.first = 1;
    world.app->cost.count = 2;
    assert_int_equal(pleat_workload_resize_time(workload, world.app, 2, 4), 70);
    assert_int_equal(pleat_workload_resize_time(workload, world.app, 4, 2), 50);
    assert_int_equal(pleat_workload_resize_time(workload, world.app, 1, 2), 6 * S);
    world.app->cost.bytes = 0;
    assert_int_equal(pleat_workload_resize_time(workload, world.app, 1, 2), 2 * S);
    pleat_workload_finish(&world.workload);
}

/* ---- checks ---- */

static void expect_wrong(const struct world *world, const char *const *fragments)
{
    struct pleat_error err = {0};
    assert_int_equal(pleat_workload_check(&world->workload, &err), PLEAT_E_INVALID);
    assert_int_equal(err.code, PLEAT_E_INVALID);
    for (; *fragments; fragments++) {
        if (!strstr(err.text, *fragments))
            fail_msg("'%s' does not say '%s'", err.text, *fragments);
    }
}

/* One field with a wrong value, then with its own again. */
#define WRONG(field, value, ...)                                                                   \
    do {                                                                                           \
        __typeof__(field) kept = (field);                                                          \
        (field) = (value);                                                                         \
        expect_wrong(&world, (const char *const[]){__VA_ARGS__, NULL});                            \
        (field) = kept;                                                                            \
        assert_int_equal(pleat_workload_check(&world.workload, NULL), 0);                          \
    } while (0)

static void test_wrong_jobs(void **state)
{
    (void)state;
    struct world world;
    make(&world, (struct pleat_app){.speedup.kind = PLEAT_SPEEDUP_LINEAR});
    struct pleat_workload_job later = *world.job;
    later.number = 8;
    later.submit_us += S;
    assert_int_equal(pleat_array_push(&world.workload.jobs, later), 0);
    struct pleat_workload_job *job = world.job = &world.workload.jobs.items[0];
    assert_int_equal(pleat_workload_check(&world.workload, NULL), 0);
    WRONG(job->submit_us, 7 * S, "job 8", "submitted before");
    WRONG(job->submit_us, -1, "job 7", "submission");
    WRONG(job->run_us, -1, "job 7", "run time");
    WRONG(job->run_us, PLEAT_WORKLOAD_TIME_MAX + 1, "job 7", "run time");
    WRONG(job->run_us, PLEAT_WORKLOAD_TIME_MAX / 2, "job 7", "on 1 processors", "3,170 years");
    WRONG(job->estimate_us, -1, "job 7", "estimate");
    WRONG(job->deadline_us, -1, "job 7", "deadline");
    WRONG(job->begin_us, -1, "job 7", "begin");
    WRONG(job->processors, 0, "job 7", "0 processors");
    WRONG(job->processors, PLEAT_SIZE_MAX + 1, "job 7", "processors");
    WRONG(job->minimum, -1, "job 7", "minimum -1");
    WRONG(job->minimum, 65, "job 7", "minimum 65", "maximum 64");
    WRONG(job->maximum, PLEAT_SIZE_MAX + 1, "job 7", "maximum");
    WRONG(job->initial, 65, "job 7", "initial size 65");
    WRONG(job->initial, -1, "job 7", "initial size -1");
    WRONG(job->kind, PLEAT_RIGID, "job 7", "rigid");
    WRONG(job->kind, PLEAT_MALLEABLE + 1, "job 7", "kind");
    WRONG(job->sizes_kind, PLEAT_SIZES_KIND_COUNT, "job 7", "kind of accepted sizes");
    WRONG(job->sizes_kind, PLEAT_SIZES_LIST, "job 7", "table of run times", "has none");
    WRONG(job->sizes_kind, PLEAT_SIZES_MULTIPLES, "job 7", "multiples");
    WRONG(job->processes, -1, "job 7", "-1 processes");
    WRONG(job->app, 2, "job 7", "application 2", "only 2");
    WRONG(job->site, PLEAT_SITES_MAX, "job 7", "site 1024");
    WRONG(job->user, -2, "job 7", "user -2");
    WRONG(world.workload.machine, -1, "machine");
    WRONG(world.workload.origin_us, -1, "beginning");
    job->minimum = 0; /* may be for malleable jobs only */
    assert_int_equal(pleat_workload_check(&world.workload, NULL), 0);
    WRONG(job->kind, PLEAT_MOLDABLE, "job 7", "minimum 0");
    job->minimum = 3;
    job->maximum = 3;
    WRONG(job->sizes_kind, PLEAT_SIZES_POWERS, "job 7", "no size from minimum 3 to maximum 3");
    pleat_workload_finish(&world.workload);
}

/* The sizes of the application's table: one of them from minimum to maximum. */
static void test_sizes_of_the_table(void **state)
{
    (void)state;
    static const struct pleat_table_row rows[] = {{4, 400 * S}, {9, 200 * S}, {16, 150 * S}};
    struct world world;
    make(&world, (struct pleat_app){.iterations = 1});
    add_rows(&world, rows, 3);
    struct pleat_workload_job *job = world.job;
    job->sizes_kind = PLEAT_SIZES_LIST;
    for (int32_t minimum = 1; minimum <= 20; minimum++)
        for (int32_t maximum = minimum; maximum <= 20; maximum++) {
            bool fits = (minimum <= 4 && maximum >= 4) || (minimum <= 9 && maximum >= 9) ||
                        (minimum <= 16 && maximum >= 16);
            job->minimum = minimum;
            job->maximum = maximum;
            if (fits)
                assert_int_equal(pleat_workload_check(&world.workload, NULL), 0);
            else
                expect_wrong(&world, (const char *const[]){"job 7", "no size from minimum", NULL});
        }
    pleat_workload_finish(&world.workload);
}

static void test_a_table_larger_than_a_list(void **state)
{
    (void)state;
    struct world world;
    make(&world, (struct pleat_app){.iterations = 1});
    for (int32_t i = 1; i <= PLEAT_SIZES_LIST_MAX + 1; i++) {
        struct pleat_table_row row = {i, S};
        assert_int_equal(pleat_array_push(&world.workload.table, row), 0);
    }
    world.app->speedup =
        (struct pleat_speedup){.kind = PLEAT_SPEEDUP_TABLE, .count = PLEAT_SIZES_LIST_MAX};
    world.job->sizes_kind = PLEAT_SIZES_LIST;
    assert_int_equal(pleat_workload_check(&world.workload, NULL), 0);
    WRONG(world.app->speedup.count, PLEAT_SIZES_LIST_MAX + 1, "job 7", "1025 rows", "1024");
    pleat_workload_finish(&world.workload);
}

static void test_too_much_together(void **state)
{
    (void)state;
    struct world world;
    make(&world, (struct pleat_app){.speedup = {.kind = PLEAT_SPEEDUP_AMDAHL, .serial = 1}});
    world.job->run_us = PLEAT_WORKLOAD_TIME_MAX;
    struct pleat_workload_job job = *world.job;
    assert_int_equal(pleat_workload_check(&world.workload, NULL), 0);
    for (job.number = 8; job.number < 40; job.number++)
        assert_int_equal(pleat_array_push(&world.workload.jobs, job), 0);
    expect_wrong(&world, (const char *const[]){"job 30", "70,000 years", NULL});
    pleat_workload_finish(&world.workload);
}

static void test_wrong_apps(void **state)
{
    (void)state;
    static const struct pleat_table_row rows[] = {{2, 330 * S}, {4, 200 * S}};
    static const struct pleat_cost_row costs[] = {{2, 4, S}};
    static const struct pleat_phase phases[] = {{0, 1, 4}, {0.5, 2, 8}};
    struct world world;
    make(&world, (struct pleat_app){.iterations = 1});
    struct pleat_app *app = world.app;
    WRONG(app->speedup.kind, PLEAT_SPEEDUP_KIND_COUNT, "application 1", "kind of speedup");
    app->speedup.kind = PLEAT_SPEEDUP_AMDAHL;
    WRONG(app->speedup.serial, 1.5, "application 1", "serial fraction");
    WRONG(app->speedup.serial, -0.5, "serial fraction");
    WRONG(app->speedup.serial, NAN, "serial fraction");
    app->speedup.kind = PLEAT_SPEEDUP_DOWNEY;
    app->speedup.parallelism = 5;
    WRONG(app->speedup.parallelism, 0.5, "average parallelism");
    WRONG(app->speedup.parallelism, INFINITY, "average parallelism");
    WRONG(app->speedup.sigma, -0.5, "sigma");
    add_rows(&world, rows, 2);
    WRONG(app->speedup.count, 3, "table of run times");
    WRONG(app->speedup.count, 0, "table of run times");
    WRONG(app->speedup.first, UINT32_MAX, "table of run times");
    WRONG(world.workload.table.items[1].processors, 2, "increase");
    WRONG(world.workload.table.items[0].processors, 0, "increase");
    WRONG(world.workload.table.items[0].run_us, 0, "run time of the table");
    assert_int_equal(pleat_array_push(&world.workload.costs, costs[0]), 0);
    app->cost = (struct pleat_resize_cost){.bytes = 1, .bandwidth = 1, .count = 1};
    WRONG(app->cost.fixed_us, -1, "time of a resize");
    WRONG(app->cost.bytes, -1, "volume");
    WRONG(app->cost.bandwidth, 0, "bandwidth");
    WRONG(app->cost.bandwidth, 1e-30, "bandwidth");
    WRONG(app->cost.count, 2, "table of resize costs");
    WRONG(world.workload.costs.items[0].us, -1, "measured resize");
    for (int i = 0; i < 2; i++)
        assert_int_equal(pleat_array_push(&world.workload.phases, phases[i]), 0);
    app->phase_count = 2;
    WRONG(app->phase_count, 3, "table of phases");
    WRONG(world.workload.phases.items[1].at, 0, "increasing shares");
    WRONG(world.workload.phases.items[1].at, 1, "increasing shares");
    WRONG(world.workload.phases.items[0].maximum, 0, "phase's limits");
    WRONG(app->adapt_us, -1, "adaptation points");
    WRONG(app->iterations, -1, "iterations");
    WRONG(app->mpl_overhead, -1, "multiprogramming");
    WRONG(app->imbalance, NAN, "imbalance");
    WRONG(app->component, 1, "component and work");
    WRONG(app->work, 1, "component and work");
    WRONG(app->name[0], ';', "name");
    WRONG(app->name[0], '\n', "name");
    memset(app->name, 'a', sizeof(app->name));
    expect_wrong(&world, (const char *const[]){"application 1", "name has no end", NULL});
    pleat_workload_finish(&world.workload);
    expect_wrong(&world, (const char *const[]){"not initialized", NULL});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linear),
        cmocka_unit_test(test_amdahl),
        cmocka_unit_test(test_downey),
        cmocka_unit_test(test_downey_shape),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_table_follows_amdahl),
        cmocka_unit_test(test_folded),
        cmocka_unit_test(test_folding),
        cmocka_unit_test(test_folded_imbalance),
        cmocka_unit_test(test_recorded_folded),
        cmocka_unit_test(test_component_and_work),
        cmocka_unit_test(test_own_size_is_exact),
        cmocka_unit_test(test_resize_time),
        cmocka_unit_test(test_wrong_jobs),
        cmocka_unit_test(test_sizes_of_the_table),
        cmocka_unit_test(test_a_table_larger_than_a_list),
        cmocka_unit_test(test_too_much_together),
        cmocka_unit_test(test_wrong_apps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
