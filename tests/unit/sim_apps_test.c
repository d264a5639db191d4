/* Models of applications: schedules counted by hand. */
#include <math.h>

#include "base/random.h"
#include "policy/policies.h"
#include "sim_fixture.h"

/* Four processes; on two processors two take turns on each, and lose half as much again. */
static void test_folded(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(4);
    uint32_t app = sim_world_app(world, (struct pleat_app){.mpl_overhead = 0.5});
    struct pleat_workload_job *job = sim_malleable(world, 0, 1, 4, 10, app);
    job->processors = job->processes = 4;
    sim_rigid(world, 5, 2, 6);
    sim_run(world);
    /* half is done at 5 s; on two processors all of it takes 30 s: a fifth in 6 s; 0.3 are left */
    sim_expect(world, 1, 5, 11);
    sim_expect(world, 0, 0, 14);
    sim_world_destroy(world);
}

/* Two jobs that choose 8 processes, up to 4 on a processor, 8 s on a processor for each. */
static void test_folding(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(8);
    sim_world_approach(world, "launcher");
    world->options.policies[PLEAT_MOLDABILITY] = pleat_policy_find(PLEAT_MOLDABILITY, "fjt");
    world->options.policies[PLEAT_MALLEABILITY] =
        pleat_policy_find(PLEAT_MALLEABILITY, "partition");
    uint32_t app = sim_world_app(world, (struct pleat_app){.mpl_overhead = 0.5});
    for (int i = 0; i < 2; i++) {
        struct pleat_workload_job *job = sim_malleable(world, 3 * i, 8, 8, 8, app);
        job->processors = 8;
        job->mpl_max = 4;
        job->job_class = PLEAT_CLASS_LONG;
    }
    sim_run(world);
    /* At 3 s the first has 5/8 left, and gives up 4: both take 8 x 2 x 1.5 = 24 s on 4. The first
     * ends 15 s later, when the second has done 5/8: it has 3/8 left, 3 s on 8. */
    sim_expect(world, 0, 0, 18);
    sim_expect(world, 1, 3, 21);
    assert_int_equal(world->outcomes[0].shrunk, 1);
    assert_int_equal(world->outcomes[1].processors, 4);
    assert_int_equal(world->outcomes[1].grown, 1);
    sim_world_destroy(world);
}

/* A short one overtakes, and is aborted, or folded, when the long one in front is over. */
static void overtake(const char *queue, double start_s, double end_s, int restarts)
{
    struct sim_world *world = sim_world_create(8);
    sim_world_approach(world, "launcher");
    world->options.policies[PLEAT_QUEUE] = pleat_policy_find(PLEAT_QUEUE, queue);
    world->options.policies[PLEAT_MOLDABILITY] = pleat_policy_find(PLEAT_MOLDABILITY, "fjt-1");
    world->options.policies[PLEAT_MALLEABILITY] =
        pleat_policy_find(PLEAT_MALLEABILITY, "partition");
    sim_rigid(world, 0, 4, 10);
    sim_rigid(world, 1, 7, 5);
    struct pleat_workload_job *job = sim_malleable(world, 2, 4, 4, 20, 0);
    job->processors = 4;
    job->mpl_max = 4;
    job->job_class = PLEAT_CLASS_SHORT;
    sim_run(world);
    sim_expect(world, 0, 0, 10);
    sim_expect(world, 1, 10, 15);
    sim_expect(world, 2, start_s, end_s);
    assert_int_equal(world->outcomes[2].restarts, restarts);
    sim_world_destroy(world);
}

static void test_windows(void **state)
{
    (void)state;
    overtake("backfill-abort", 15, 35, 1);
    /* 8 of its 20 s are done at 10 s; on one processor for 5 s 1/16 of all, then the rest on 4 */
    overtake("backfill-malleability", 2, 25.75, 0);
}

static uint32_t evolving(struct sim_world *world, double at, int32_t minimum, int32_t maximum)
{
    struct pleat_phase phase = {at, minimum, maximum};
    uint32_t first = (uint32_t)world->workload.phases.count;
    assert_int_equal(pleat_array_push(&world->workload.phases, phase), 0);
    return sim_world_app(world, (struct pleat_app){.first_phase = first, .phase_count = 1});
}

static void test_evolving(void **state)
{
    (void)state;
    /* it can use more when half is done, at 12.5 s: the other 50 take 6.25 s on 8 */
    struct sim_world *world = sim_world_create(8);
    sim_malleable(world, 0, 1, 4, 100, evolving(world, 0.5, 1, 8));
    sim_run(world);
    sim_expect(world, 0, 0, 18.75);
    assert_int_equal(world->outcomes[0].grown, 1);
    sim_world_destroy(world);
    /* it can use less: 25 s on 2 */
    world = sim_world_create(8);
    sim_malleable(world, 0, 1, 4, 100, evolving(world, 0.5, 1, 2));
    sim_run(world);
    sim_expect(world, 0, 0, 37.5);
    assert_int_equal(world->outcomes[0].shrunk, 1);
    sim_world_destroy(world);
}

/* It needs 6 of 8 from its half on, and has 4: that has to wait until it has grown. */
static void test_evolving_beyond_its_size(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(8);
    sim_rigid(world, 0, 4, 20);
    sim_malleable(world, 0, 1, 4, 100, evolving(world, 0.5, 6, 8));
    sim_rigid(world, 21, 4, 10);
    sim_run(world);
    /* 80 are done when it has all 8; it does not make room for the third any more */
    sim_expect(world, 1, 0, 22.5);
    sim_expect(world, 2, 22.5, 32.5);
    sim_world_destroy(world);
}

/* Its site leaves when it has 8, and cannot do with fewer than 6 any more: on the other one it
 * begins anew, as it did at first. */
static void test_evolving_from_the_beginning(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(8);
    assert_int_equal(pleat_platform_add(&world->platform, "two", 8), 0);
    sim_world_site(world, 1)->leaves_us = 15 * S;
    sim_rigid(world, 0, 8, 30);
    sim_malleable(world, 0, 1, 4, 100, evolving(world, 0.5, 6, 8));
    sim_run(world);
    assert_int_equal(world->outcomes[1].restarts, 1);
    assert_int_equal(world->outcomes[1].processors, 4);
    sim_expect(world, 1, 30, 48.75);
    sim_world_destroy(world);
}

static struct sim_world *components(int32_t work)
{
    struct sim_world *world = sim_world_create(12);
    uint32_t app = sim_world_app(world, (struct pleat_app){.component = 4, .work = work});
    struct pleat_workload_job *job = sim_malleable(world, 0, 4, 12, 10, app);
    job->processors = 4;
    job->sizes_kind = PLEAT_SIZES_MULTIPLES;
    job->sizes_parameter = 4;
    return world;
}

static void test_components_and_work(void **state)
{
    (void)state;
    struct sim_world *world = components(7);
    sim_run(world); /* 3, 6, 7 done at 10, 20, 30 s */
    sim_expect(world, 0, 0, 30);
    sim_rigid(world, 15, 4, 10); /* one of those begun at 10 s is lost: 5 at 20 s, 7 at 30 s */
    sim_run(world);
    sim_expect(world, 1, 15, 25);
    sim_expect(world, 0, 0, 30);
    sim_world_destroy(world);
    world = components(9); /* the one begun at 25 s is done at 35 s: 8; 10 at 40 s */
    sim_rigid(world, 15, 4, 10);
    sim_run(world);
    sim_expect(world, 0, 0, 40);
    sim_rigid(world, 27, 4, 10); /* the one begun last is lost: 7 at 30 s, 9 at 40 s */
    sim_run(world);
    sim_expect(world, 2, 27, 37);
    sim_expect(world, 0, 0, 40);
    sim_world_destroy(world);
    world = components(3); /* those that are there go on while others come: nobody stands still */
    world->workload.apps.items[1].cost.fixed_us = 2 * S;
    world->workload.jobs.items[0].initial = 4;
    sim_run(world); /* 8 more from 2 s on: all done at 12 s, the first at 10 s */
    sim_expect(world, 0, 0, 12);
    assert_true(world->totals.stood_us == 0);
    sim_world_destroy(world);
}

/* Without its components it waits, and loses what they did. */
static void test_components_none(void **state)
{
    (void)state;
    struct sim_world *world = components(2);
    world->workload.jobs.items[0].minimum = 0;
    world->workload.jobs.items[0].maximum = 4;
    sim_rigid(world, 15, 12, 10);
    sim_run(world);
    sim_expect(world, 1, 15, 25);
    sim_expect(world, 0, 0, 35);
    sim_world_destroy(world);
}

static void test_cost_by_volume(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(4);
    struct pleat_cost_row row = {.from = 1, .to = 4, .us = 3 * S};
    assert_int_equal(pleat_array_push(&world->workload.costs, row), 0);
    uint32_t app = sim_world_app(
        world,
        (struct pleat_app){.cost = {.fixed_us = S, .bytes = 1e9, .bandwidth = 1e9, .count = 1}});
    sim_malleable(world, 0, 1, 4, 100, app);
    sim_rigid(world, 10, 3, 10);
    sim_run(world);
    assert_int_equal(world->changes[1].stood_us, 1750000); /* three quarters of the data move */
    assert_int_equal(world->changes[4].stood_us, 3 * S);   /* as measured */
    sim_expect(world, 1, 11.75, 21.75);
    /* 40 at 10 s, 10 more by 21.75 s; 50 from 24.75 s on */
    sim_expect(world, 0, 0, 37.25);
    sim_world_destroy(world);
}

/* Seconds on 1, 2 x 2, 3 x 3, ... processors. */
static uint32_t tabled(struct sim_world *world, const int64_t *seconds, uint32_t count)
{
    struct pleat_speedup speedup = {.kind = PLEAT_SPEEDUP_TABLE,
                                    .first = (uint32_t)world->workload.table.count,
                                    .count = count};
    for (uint32_t i = 0; i < count; i++) {
        struct pleat_table_row row = {(int32_t)((i + 1) * (i + 1)), seconds[i] * S};
        assert_int_equal(pleat_array_push(&world->workload.table, row), 0);
    }
    return sim_world_app(world, (struct pleat_app){.speedup = speedup});
}

/* Two others leave it 1 of 10 processors, then 5, then all: it uses 1, 4, 9. */
static void test_sizes_of_its_table(void **state)
{
    (void)state;
    static const int64_t seconds[] = {100, 25, 12};
    static const int32_t sizes[] = {0, 1, 4, 9, 0};
    struct sim_world *world = sim_world_create(10);
    sim_rigid(world, 0, 5, 20);
    sim_rigid(world, 0, 4, 10);
    sim_malleable(world, 0, 1, 10, 100, tabled(world, seconds, 3))->sizes_kind = PLEAT_SIZES_LIST;
    sim_run(world);
    size_t change = 0;
    for (size_t i = 0; i < world->change_count; i++) {
        if (world->changes[i].job != 2)
            continue;
        assert_in_range(change, 0, 3);
        assert_int_equal(world->changes[i].from, sizes[change]);
        assert_int_equal(world->changes[i].to, sizes[++change]);
    }
    assert_int_equal(change, 4);
    sim_expect(world, 2, 0, 26); /* a tenth is done at 10 s, half at 20 s */
    sim_world_destroy(world);
}

static size_t count_lists(const struct pleat_events *log)
{
    size_t count = 0;
    for (size_t i = 0; i < log->count; i++)
        count += log->items[i].kind == PLEAT_EV_SIZES;
    return count;
}

/* The log has the lists that jobs refer to, in events of ten sizes, and no others; the policies
 * decide the same from it. */
static void test_sizes_are_logged(void **state)
{
    (void)state;
    int64_t seconds[23];
    for (int i = 0; i < 23; i++)
        seconds[i] = 1 + 600 / (i + 1);
    struct sim_world *world = sim_world_create(600);
    struct pleat_events log = {0};
    struct pleat_replay_result result;
    uint32_t unused = tabled(world, seconds, 5), first = tabled(world, seconds, 3),
             second = tabled(world, seconds, 23);
    world->options.log = &log;
    sim_malleable(world, 0, 1, 600, 100, unused);
    sim_run(world);
    assert_int_equal(count_lists(&log), 0);
    log.count = 0;
    for (int64_t i = 0; i < 40; i++)
        sim_malleable(world, i, 1, 600, 500, i % 2 ? first : second)->sizes_kind = PLEAT_SIZES_LIST;
    sim_run(world);
    assert_int_equal(count_lists(&log), 3 + 1);
    for (size_t i = 0; i < world->change_count; i++) {
        const struct pleat_sim_change *change = &world->changes[i];
        int32_t root = (int32_t)lround(sqrt(change->to));
        if (change->job == 0)
            continue;
        assert_int_equal(root * root, change->to);
        assert_in_range(root, 0, change->job % 2 ? 23 : 3); /* job 1 is of the second */
    }
    assert_true(world->totals.grows > 0 && world->totals.shrinks > 0);
    assert_int_equal(pleat_replay_policies(log.items, log.count, &result, &world->err), 0);
    assert_int_equal(result.different, log.count);
    assert_int_equal(result.decisions, world->totals.decisions);
    pleat_array_finish(&log);
    sim_world_destroy(world);
}

static void test_killed_at_its_estimate(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(4);
    sim_rigid(world, 0, 1, 10)->estimate_us = 6 * S;
    sim_rigid(world, 0, 1, 10)->estimate_us = 10 * S;
    sim_rigid(world, 0, 1, 10);
    sim_run(world);
    assert_int_equal(world->totals.fates[PLEAT_SIM_DONE], 3);
    world->options.kill_at_estimate = true;
    sim_run(world);
    assert_int_equal(world->outcomes[0].fate, PLEAT_SIM_KILLED);
    assert_int_equal(world->outcomes[0].end_us, 6 * S);
    sim_expect(world, 1, 0, 10);
    sim_expect(world, 2, 0, 10);
    world->options.estimates = PLEAT_ESTIMATES_EXACT;
    sim_run(world);
    assert_int_equal(world->totals.fates[PLEAT_SIM_DONE], 3);
    sim_world_destroy(world);
}

/* A missing estimate is the run time: whoever would end after the head's start waits. */
static void test_missing_estimates(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(4);
    world->options.policies[PLEAT_QUEUE] = pleat_policy_find(PLEAT_QUEUE, "easy");
    sim_rigid(world, 0, 3, 10);
    sim_rigid(world, 1, 4, 10);
    sim_rigid(world, 2, 1, 9);
    sim_rigid(world, 2, 1, 8);
    sim_rigid(world, 10, 4, 0); /* takes no time, and does not wait for ever */
    sim_run(world);
    sim_expect(world, 1, 10, 20);
    sim_expect(world, 2, 20, 29);
    sim_expect(world, 3, 2, 10);
    sim_world_destroy(world);
}

static void test_reservations(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(4);
    sim_rigid(world, 0, 4, 10)->begin_us = 20 * S;
    sim_rigid(world, 0, 4, 10)->begin_us = 25 * S;
    sim_rigid(world, 0, 2, 5)->deadline_us = 30 * S;
    sim_run(world);
    sim_expect(world, 0, 20, 30);
    assert_int_equal(world->outcomes[1].fate, PLEAT_SIM_REJECTED);
    assert_true(world->outcomes[1].end_us == PLEAT_NEVER);
    sim_expect(world, 2, 0, 5);
    assert_int_equal(world->totals.fates[PLEAT_SIM_REJECTED], 1);
    sim_world_destroy(world);
}

/* However often it is resized, it does its work, no more and no less: a microsecond for each time
 * that was rounded. */
static void test_work_is_conserved(void **state)
{
    (void)state;
    struct pleat_random random;
    struct sim_world *world = sim_world_create(64);
    pleat_random_init(&random, 3);
    uint32_t app = sim_world_app(
        world, (struct pleat_app){.speedup = {.kind = PLEAT_SPEEDUP_AMDAHL, .serial = 0.01}});
    const struct pleat_workload_job job = *sim_malleable(world, 0, 1, 60, 100000, app);
    int64_t at = 0;
    for (int i = 0; i < 2000; i++) {
        at += 1 + (int64_t)pleat_random_below(&random, 3000000);
        struct pleat_workload_job *other =
            sim_rigid(world, 0, 1 + (int32_t)pleat_random_below(&random, 60), 0);
        other->submit_us = at;
        other->run_us = (int64_t)pleat_random_below(&random, 2000000);
    }
    world->options.check = false;
    sim_run(world);
    double done = 0, slack = 0;
    int64_t since = 0;
    int32_t size = 0;
    for (size_t i = 0; i < world->change_count; i++) {
        const struct pleat_sim_change *change = &world->changes[i];
        if (change->job != 0)
            continue;
        if (size > 0) {
            double all = pleat_workload_run_time(&world->workload, &job, size, 0);
            done += (double)(change->time_us - since) / all;
            slack += 1 / all;
        }
        since = change->time_us;
        size = change->to;
    }
    assert_true(world->outcomes[0].grown + world->outcomes[0].shrunk > 1000);
    assert_true(fabs(done - 1) <= slack);
    sim_world_destroy(world);
}

/* ---- what iterations take ---- */

/* Ten iterations of 4 s on two processors, 2 s on four, 2.5 s on six: four are its sweet spot. */
static uint32_t sweet(struct sim_world *world, struct pleat_app app)
{
    static const struct pleat_table_row rows[] = {{2, 40 * S}, {4, 20 * S}, {6, 25 * S}};
    app.speedup = (struct pleat_speedup){
        .kind = PLEAT_SPEEDUP_TABLE, .first = (uint32_t)world->workload.table.count, .count = 3};
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(pleat_array_push(&world->workload.table, rows[i]), 0);
    struct pleat_workload_job *job = sim_malleable(world, 0, 2, 6, 40, sim_world_app(world, app));
    job->processors = job->initial = 2;
    job->sizes_kind = PLEAT_SIZES_LIST;
    sim_world_approach(world, "remap");
    world->options.policies[PLEAT_MALLEABILITY] = &pleat_policy_sweet_spot;
    return (uint32_t)world->workload.jobs.count - 1;
}

static void expect_sizes(const struct sim_world *world, const double (*rows)[2], size_t count)
{
    assert_int_equal(world->change_count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(world->changes[i].time_us, (int64_t)(rows[i][0] * 1e6));
        assert_int_equal(world->changes[i].to, (int32_t)rows[i][1]);
    }
}

/* One report at each size, as soon as an iteration was whole there. */
static void expect_reports(const struct pleat_events *log, const double (*rows)[4], size_t count)
{
    size_t reports = 0;
    for (size_t i = 0; i < log->count; i++) {
        const struct pleat_event *event = &log->items[i];
        if (event->kind != PLEAT_EV_TIMED)
            continue;
        assert_true(reports < count);
        assert_int_equal(event->time_us, (int64_t)(rows[reports][0] * 1e6));
        assert_int_equal(event->u.timed.processors, (int32_t)rows[reports][1]);
        assert_int_equal(event->u.timed.iteration_us, (int64_t)(rows[reports][2] * 1e6));
        assert_int_equal(event->u.timed.redistribution_us, (int64_t)(rows[reports][3] * 1e6));
        reports++;
    }
    assert_int_equal(reports, count);
}

static void test_sweet_spot(void **state)
{
    (void)state;
    struct pleat_events log = {0};
    struct sim_world *world = sim_world_create(8);
    world->options.log = &log;
    uint32_t job = sweet(world, (struct pleat_app){.iterations = 10});
    sim_run(world);
    /* one iteration on 2, one on 4, one on 6, the other seven on 4 */
    sim_expect(world, job, 0, 4 + 2 + 2.5 + 7 * 2);
    expect_sizes(world, (const double[][2]){{0, 2}, {4, 4}, {6, 6}, {8.5, 4}, {22.5, 0}}, 5);
    expect_reports(&log, (const double[][4]){{4, 2, 4, 0}, {6, 4, 2, 0}, {8.5, 6, 2.5, 0}}, 3);
    pleat_array_finish(&log);
    sim_world_destroy(world);
}

static void test_sweet_spot_with_redistribution(void **state)
{
    (void)state;
    struct pleat_events log = {0};
    struct sim_world *world = sim_world_create(8);
    world->options.log = &log;
    uint32_t job = sweet(world, (struct pleat_app){.iterations = 10, .cost = {.fixed_us = S}});
    sim_run(world);
    sim_expect(world, job, 0, 4 + 1 + 2 + 1 + 2.5 + 1 + 7 * 2);
    /* what the first change to four took is not known to change: nothing new is logged after 13.5
     */
    expect_reports(&log, (const double[][4]){{4, 2, 4, 0}, {7, 4, 2, 1}, {10.5, 6, 2.5, 1}}, 3);
    pleat_array_finish(&log);
    sim_world_destroy(world);
}

/* A change in the middle of an iteration spoils it: the next one is measured. Without iterations
 * parts of the work are measured instead. */
static void test_only_whole_iterations_are_measured(void **state)
{
    (void)state;
    struct pleat_events log = {0};
    struct sim_world *world = sim_world_create(8);
    world->options.log = &log;
    uint32_t job = sweet(world, (struct pleat_app){.adapt_us = 7 * S});
    sim_run(world);
    /* measured after 0.4 s; it changes at 7, 14 and 21 s, when 17.5, 52.5 and 80.5 % are done; in
     * the middle of parts of 1 % each */
    expect_sizes(world, (const double[][2]){{0, 2}, {7, 4}, {14, 6}, {21, 4}, {24.9, 0}}, 5);
    expect_reports(
        &log, (const double[][4]){{0.4, 2, 0.4, 0}, {7.3, 4, 0.2, 0}, {14.375, 6, 0.25, 0}}, 3);
    sim_expect(world, job, 0, 24.9);
    pleat_array_finish(&log);
    sim_world_destroy(world);
}

/* Nobody wants to know: nothing is reported. */
static void test_no_reports_without_need(void **state)
{
    (void)state;
    struct pleat_events log = {0};
    struct sim_world *world = sim_world_create(8);
    world->options.log = &log;
    sweet(world, (struct pleat_app){.iterations = 10});
    world->options.policies[PLEAT_MALLEABILITY] = &pleat_policy_egs;
    sim_run(world);
    expect_reports(&log, NULL, 0);
    pleat_array_finish(&log);
    sim_world_destroy(world);
}

/* ---- ... and how much they differ ---- */

/* All reports of a run of 200 iterations: each about those since the one before, at the same size,
 * and none about an iteration that another one was about. */
static void check_measures(const struct pleat_events *log, double noise)
{
    int32_t at = 0, told = 0, reports = 0;
    double sum = 0, squares = 0;
    for (size_t i = 0; i < log->count; i++) {
        const struct pleat_event *event = &log->items[i];
        assert_int_not_equal(event->kind, PLEAT_EV_TIMED);
        if (event->kind != PLEAT_EV_MEASURED)
            continue;
        double exact = event->u.measured.processors == 2   ? 4e6
                       : event->u.measured.processors == 4 ? 2e6
                                                           : 2.5e6;
        double share = (double)event->u.measured.iteration_us / exact - 1;
        assert_true(event->u.measured.iterations >= at + event->u.measured.count);
        at = event->u.measured.iterations;
        told += event->u.measured.count;
        reports++;
        sum += share * event->u.measured.count;
        squares += share * share * event->u.measured.count;
        assert_true((event->u.measured.spread_us > 0) ==
                    (noise > 0 && event->u.measured.count > 1));
    }
    assert_in_range(told, 150, 199); /* not of the last, nor where it was resized */
    assert_in_range(reports, 10, 60);
    double mean = sum / told, spread = sqrt(squares / reports);
    assert_true(mean > -noise / 4 - 1e-9 && mean < noise / 4 + 1e-9);
    assert_true(noise > 0 ? spread > noise / 2 && spread < noise * 2 : spread < 1e-6);
}

static void test_measured_with_noise(void **state)
{
    (void)state;
    for (int noise = 0; noise <= 20; noise += 10) {
        struct pleat_events log = {0};
        struct sim_world *world = sim_world_create(8);
        world->options.log = &log;
        world->options.time_noise = noise / 100.0;
        uint32_t job = sweet(world, (struct pleat_app){.iterations = 200});
        for (size_t i = 0; i < 3; i++)
            world->workload.table.items[i].run_us *= 20;
        world->workload.jobs.items[job].run_us *= 20;
        world->options.policies[PLEAT_MALLEABILITY] = &pleat_policy_sweet_spot_learned;
        sim_run(world);
        check_measures(&log, noise / 100.0);
        /* it is on four for most of the time, whatever the noise */
        assert_true(world->outcomes[job].end_us < 480 * S);
        pleat_array_finish(&log);
        sim_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_folded),
        cmocka_unit_test(test_folding),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_evolving),
        cmocka_unit_test(test_evolving_beyond_its_size),
        cmocka_unit_test(test_evolving_from_the_beginning),
        cmocka_unit_test(test_components_and_work),
        cmocka_unit_test(test_components_none),
        cmocka_unit_test(test_cost_by_volume),
        cmocka_unit_test(test_sizes_of_its_table),
        cmocka_unit_test(test_sizes_are_logged),
        cmocka_unit_test(test_killed_at_its_estimate),
        cmocka_unit_test(test_missing_estimates),
        cmocka_unit_test(test_reservations),
        cmocka_unit_test(test_work_is_conserved),
        cmocka_unit_test(test_sweet_spot),
        cmocka_unit_test(test_sweet_spot_with_redistribution),
        cmocka_unit_test(test_only_whole_iterations_are_measured),
        cmocka_unit_test(test_no_reports_without_need),
        cmocka_unit_test(test_measured_with_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
