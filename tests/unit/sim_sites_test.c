/* Simulated sites: what they are asked takes time, what they have changes, others use it too. */
#include <math.h>
#include <stdio.h>

#include "sim_fixture.h"

static void test_speed(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(4);
    sim_world_site(world, 0)->speed = 2;
    sim_rigid(world, 0, 4, 10);
    sim_run(world);
    sim_expect(world, 0, 0, 5);
    sim_world_destroy(world);
}

static void test_delays(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(4);
    struct pleat_sim_site *site = sim_world_site(world, 0);
    site->claim.mean_us = 2 * S;
    site->start.mean_us = 3 * S;
    site->release.mean_us = 4 * S;
    sim_rigid(world, 0, 4, 10);
    sim_rigid(world, 1, 4, 10);
    sim_run(world);
    sim_expect(world, 0, 5, 15);
    sim_expect(world, 1, 24, 34); /* released at 19 s */
    assert_int_equal(world->changes[2].decided_us, 19 * S);
    assert_int_equal(world->changes[2].time_us, 24 * S);
    sim_world_destroy(world);
    /* however long it takes: the core waits for it */
    world = sim_world_create(4);
    sim_world_site(world, 0)->claim.mean_us = 1000 * S;
    sim_world_site(world, 0)->start.mean_us = 2000 * S;
    sim_rigid(world, 0, 4, 10);
    sim_run(world);
    sim_expect(world, 0, 3000, 3010);
    sim_world_destroy(world);
}

/* A delay is normal, cut off at 0: with a mean of 0 half of the draws are 0, and the mean of all is
 * spread / sqrt(2 pi). */
static void test_delays_spread(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(1);
    sim_world_site(world, 0)->start.spread_us = 10 * S;
    for (int i = 0; i < 2000; i++)
        sim_rigid(world, i * 100, 1, 1);
    world->options.check = false;
    sim_run(world);
    double sum = 0;
    int at_once = 0;
    for (size_t i = 0; i < 2000; i++) {
        int64_t waited = world->outcomes[i].start_us - world->workload.jobs.items[i].submit_us;
        sum += (double)waited;
        at_once += waited == 0;
    }
    assert_in_range(at_once, 900, 1100);
    assert_true(fabs(sum / 2000 / 1e6 - 3.99) < 0.4);
    sim_world_destroy(world);
}

/* Growing asks the site, shrinking gives back; the sums tell what was held by whom. */
static void test_resizing_with_delays(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(4);
    sim_world_site(world, 0)->claim.mean_us = S;
    sim_world_site(world, 0)->release.mean_us = 2 * S;
    sim_malleable(world, 0, 1, 4, 100, 0);
    sim_rigid(world, 10, 3, 10);
    sim_run(world);
    /* from 1 s on; what it leaves is handed over without asking the site; the other ends at 20 s,
     * its processors are back at 22 s and claimed at 23 s: 36 + 13 done, 51 left */
    sim_expect(world, 1, 10, 20);
    sim_expect(world, 0, 1, 35.75);
    sim_world_destroy(world);
}

/* It computes on while the processes of a growth start, and is not shrunk. */
static void test_processes_of_a_growth_start(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(4);
    sim_world_site(world, 0)->grow.mean_us = 3 * S;
    sim_malleable(world, 0, 1, 4, 100, 0);
    sim_rigid(world, 0, 2, 10);
    sim_rigid(world, 11, 3, 10);
    sim_run(world);
    sim_expect(world, 1, 0, 10);
    /* told to grow at 10 s, it has 4 at 13 s, and leaves 3 of them at once */
    sim_expect(world, 2, 13, 23);
    /* 26 done at 13 s, 36 at 23 s, 39 when it has 4 again at 26 s */
    sim_expect(world, 0, 0, 41.25);
    sim_world_destroy(world);
}

static void test_background_by_trace(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(4);
    const struct pleat_load_point points[] = {{0, 1}, {5 * S, 4}, {10 * S, 0}};
    for (int i = 0; i < 3; i++)
        assert_int_equal(pleat_array_push(&sim_world_site(world, 0)->trace, points[i]), 0);
    sim_rigid(world, 0, 3, 8);
    sim_rigid(world, 6, 2, 5);
    sim_run(world);
    /* from 5 s on all 4 are wanted, and what the job leaves at 8 s goes there first */
    sim_expect(world, 0, 0, 8);
    sim_expect(world, 1, 10, 15);
    assert_true(world->totals.background_us == 16.0 * S);
    assert_true(world->totals.capacity_us == 60.0 * S);
    sim_world_destroy(world);
}

static bool has_event(const struct pleat_events *log, uint16_t kind, int64_t at_us)
{
    for (size_t i = 0; i < log->count; i++)
        if (log->items[i].kind == kind && log->items[i].time_us == at_us)
            return true;
    return false;
}

/* Policies decide with what the last look told, however old that is (Buisson et al. 2007, IV-A). */
static void test_a_polled_site(void **state)
{
    (void)state;
    const struct pleat_load_point points[] = {{0, 0}, {10 * S, 6}, {200 * S, 0}};
    for (int polled = 0; polled < 2; polled++) {
        struct sim_world *world = sim_world_create(8);
        struct pleat_sim_site *site = sim_world_site(world, 0);
        for (int i = 0; i < 3; i++)
            assert_int_equal(pleat_array_push(&site->trace, points[i]), 0);
        site->poll_us = polled ? 60 * S : 0;
        struct pleat_events log = {0};
        world->options.log = &log;
        sim_rigid(world, 0, 1, 1); /* time begins with the first job */
        sim_rigid(world, 20, 4, 30);
        sim_run(world);
        /* 2 are free at 20 s; who polls takes 8 for free until 60 s, and 2 until 240 s */
        sim_expect(world, 1, polled ? 240 : 200, polled ? 270 : 230);
        assert_int_equal(has_event(&log, PLEAT_EV_START, 20 * S), polled);
        assert_int_equal(has_event(&log, PLEAT_EV_CLAIM_FAILED, 20 * S), polled);
        assert_int_equal(has_event(&log, PLEAT_EV_BACKGROUND, 10 * S), !polled);
        assert_int_equal(has_event(&log, PLEAT_EV_BACKGROUND, 60 * S), polled);
        assert_int_equal(has_event(&log, PLEAT_EV_BACKGROUND, 240 * S), polled);
        pleat_array_finish(&log);
        sim_world_destroy(world);
    }
}

/* A claim takes longer the more processors it has where they are got one after another. */
static void test_processors_one_after_another(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(8);
    sim_world_site(world, 0)->claim.mean_us = 2 * S;
    sim_world_site(world, 0)->claim_each_us = 3 * S;
    sim_rigid(world, 0, 1, 10);
    sim_rigid(world, 0, 4, 10);
    sim_run(world);
    sim_expect(world, 0, 5, 15);
    sim_expect(world, 1, 14, 24);
    sim_world_destroy(world);
}

/* Policies that decide once a minute: a job waits for that, and so does what another one leaves. */
static void test_policies_that_decide_now_and_then(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(4);
    world->options.parameters[PLEAT_PARAM_DECIDE_US] = 60 * S;
    sim_rigid(world, 0, 4, 10);
    sim_rigid(world, 5, 4, 65);
    sim_rigid(world, 6, 4, 10);
    sim_run(world);
    sim_expect(world, 0, 0, 10);
    sim_expect(world, 1, 60, 125);
    sim_expect(world, 2, 180, 190);
    sim_world_destroy(world);
}

/* A trace that begins before the first job, and one that ends with everything taken. */
static void test_background_for_ever(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(4);
    const struct pleat_load_point points[] = {{0, 2}, {100 * S, 4}};
    for (int i = 0; i < 2; i++)
        assert_int_equal(pleat_array_push(&sim_world_site(world, 0)->trace, points[i]), 0);
    sim_rigid(world, 50, 3, 8);
    sim_rigid(world, 50, 2, 8);
    sim_run(world);
    assert_int_equal(world->outcomes[0].fate, PLEAT_SIM_LEFT);
    assert_true(world->outcomes[0].start_us == PLEAT_NEVER);
    assert_int_equal(world->totals.fates[PLEAT_SIM_LEFT], 2); /* it must not overtake */
    /* nodes that fail and are repaired do not keep the simulation going */
    sim_world_site(world, 0)->failure =
        (struct pleat_failure){PLEAT_FAILURE_NODE, 0, 86400 * S, 3600 * S};
    sim_run(world);
    assert_int_equal(world->totals.fates[PLEAT_SIM_LEFT], 2);
    sim_world_destroy(world);
}

static void test_background_by_model(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(1000);
    struct pleat_sim_site *site = sim_world_site(world, 0);
    site->load_gap_us = 10 * S;
    site->load_run_us = 100 * S;
    site->load_processors = 9;
    sim_rigid(world, 0, 1, 200000);
    sim_run(world);
    /* ten jobs of five processors at a time */
    double mean = world->totals.background_us / (double)world->totals.end_us;
    assert_true(fabs(mean - 50) < 4);
    sim_world_destroy(world);
    /* too many for the site: they take all but what Pleat has, and Pleat's job is let be */
    world = sim_world_create(10);
    site = sim_world_site(world, 0);
    site->load_gap_us = S;
    site->load_run_us = 100 * S;
    site->load_processors = 1;
    sim_rigid(world, 0, 4, 10000);
    sim_run(world);
    sim_expect(world, 0, 0, 10000);
    mean = world->totals.background_us / (double)world->totals.end_us;
    assert_true(mean > 5.9 && mean <= 6);
    sim_world_destroy(world);
}

/* Each of the nodes that jobs hold fails as often as it should, and takes one job with it. */
static void test_nodes_fail(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(100);
    sim_world_site(world, 0)->failure =
        (struct pleat_failure){PLEAT_FAILURE_NODE, 0, 20000 * S, 500 * S};
    world->options.parameters[PLEAT_PARAM_ATTEMPTS] = 1000;
    for (int i = 0; i < 4000; i++)
        sim_rigid(world, i * 20, 1, 1000);
    world->options.check = false;
    sim_run(world);
    double restarts = 0;
    for (size_t i = 0; i < 4000; i++) {
        assert_int_equal(world->outcomes[i].fate, PLEAT_SIM_DONE);
        restarts += world->outcomes[i].restarts;
    }
    /* about 200; their standard deviation is 14 */
    double expected = world->totals.busy_us / (20000.0 * S);
    assert_true(expected > 180 && fabs(restarts - expected) < 60);
    /* a node is down for 500 of 20500 s */
    double all = 100.0 * (double)(world->totals.end_us - world->totals.begin_us);
    assert_true(fabs(world->totals.capacity_us / all - 20000 / 20500.0) < 0.006);
    sim_world_destroy(world);
}

/* A job on all slots of all nodes is lost with any of them, and waits until all are back. */
static void test_a_node_fails_under_a_wide_job(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(4);
    sim_world_site(world, 0)->slots = 3;
    sim_world_site(world, 0)->failure =
        (struct pleat_failure){PLEAT_FAILURE_NODE, 0, 400 * S, 10 * S};
    world->options.parameters[PLEAT_PARAM_ATTEMPTS] = 1000;
    sim_rigid(world, 0, 12, 100);
    sim_run(world);
    assert_int_equal(world->outcomes[0].fate, PLEAT_SIM_DONE);
    assert_int_equal(world->change_count, 2u * world->outcomes[0].restarts + 2);
    assert_true(world->outcomes[0].restarts > 0);
    for (size_t i = 2; i < world->change_count; i += 2)
        assert_true(world->changes[i].time_us > world->changes[i - 1].time_us);
    sim_world_destroy(world);
}

static void test_starts_fail(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(4);
    sim_world_site(world, 0)->failure = (struct pleat_failure){PLEAT_FAILURE_START, 0.5, 0, 0};
    for (int i = 0; i < 1000; i++)
        sim_rigid(world, i * 10, 4, 1);
    sim_run(world);
    double restarts = 0;
    for (size_t i = 0; i < 1000; i++)
        restarts += world->outcomes[i].restarts;
    /* an eighth fail three times, and are given up; 0.5 + 0.25 restarts each */
    assert_in_range(world->totals.fates[PLEAT_SIM_FAILED], 90, 160);
    assert_int_equal(world->totals.fates[PLEAT_SIM_FAILED] + world->totals.fates[PLEAT_SIM_DONE],
                     1000);
    assert_true(fabs(restarts - 750) < 100);
    sim_world_destroy(world);
}

static void test_claims_fail(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(4);
    sim_world_site(world, 0)->failure = (struct pleat_failure){PLEAT_FAILURE_CLAIM, 0.5, 0, 0};
    for (int i = 0; i < 500; i++)
        sim_rigid(world, i * 1000, 4, 1);
    sim_run(world);
    int tries = 0;
    for (size_t i = 0; i < 500; i++) {
        assert_int_equal(world->outcomes[i].fate, PLEAT_SIM_DONE);
        int64_t waited = world->outcomes[i].start_us - world->workload.jobs.items[i].submit_us;
        assert_int_equal(waited % (5 * S), 0); /* the core's backoff */
        tries += (int)(waited / (5 * S));
    }
    assert_in_range(tries, 400, 600);
    sim_world_destroy(world);
}

static void test_joining_and_leaving(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(4);
    assert_int_equal(pleat_platform_add(&world->platform, "two", 8), 0);
    sim_world_site(world, 1)->joins_us = 10 * S;
    sim_world_site(world, 1)->leaves_us = 30 * S;
    sim_rigid(world, 0, 8, 10);  /* waits for the other site */
    sim_rigid(world, 20, 8, 50); /* is lost with it, and has no place any more */
    sim_rigid(world, 21, 4, 20);
    sim_rigid(world, 40, 8, 1); /* is larger than any site now */
    sim_run(world);
    sim_expect(world, 0, 10, 20);
    assert_int_equal(world->outcomes[0].site, 1);
    assert_int_equal(world->outcomes[1].fate, PLEAT_SIM_LEFT);
    assert_int_equal(world->outcomes[1].start_us, 20 * S);
    assert_true(world->outcomes[1].end_us == PLEAT_NEVER);
    sim_expect(world, 2, 21, 41);
    assert_int_equal(world->outcomes[3].fate, PLEAT_SIM_SKIPPED);
    assert_true(world->totals.capacity_us == (4 * 41 + 8 * 20.0) * S);
    sim_world_destroy(world);
    /* what fits elsewhere goes on there */
    world = sim_world_create(4);
    assert_int_equal(pleat_platform_add(&world->platform, "two", 8), 0);
    sim_world_site(world, 1)->leaves_us = 30 * S;
    sim_rigid(world, 0, 4, 50);
    sim_rigid(world, 0, 4, 50);
    sim_run(world);
    sim_expect(world, 0, 50, 100);
    sim_expect(world, 1, 0, 50);
    sim_world_destroy(world);
}

static int stop(void *context, const struct pleat_sim_change *change)
{
    (void)context;
    return change->to == 2 ? -77 : 0;
}

static int64_t told;

static int progress(void *context, const struct pleat_sim_progress *at)
{
    struct sim_world *world = context;
    assert_true(at->ended <= at->submitted && at->submitted <= world->workload.jobs.count);
    told++;
    return at->ended >= 5 ? -78 : 0;
}

static void test_callbacks(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(4);
    for (int i = 0; i < 10; i++)
        sim_rigid(world, i, i == 7 ? 2 : 1, 1);
    world->options.on_change = stop;
    assert_int_equal(sim_try(world), -77);
    world->options.on_change = NULL;
    world->options.on_progress = progress;
    told = 0;
    assert_int_equal(sim_try(world), -78);
    assert_in_range(told, 5, 7);
    sim_world_destroy(world);
}

static int count_calls(void *context, const struct pleat_sim_progress *at)
{
    (void)context;
    (void)at;
    told++;
    return 0;
}

/* Somebody who watches is told even while nothing happens to any job, for a year. */
static void test_progress_while_all_wait(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(4);
    const struct pleat_load_point taken = {0, 4};
    assert_int_equal(pleat_array_push(&sim_world_site(world, 0)->trace, taken), 0);
    sim_world_site(world, 0)->failure =
        (struct pleat_failure){PLEAT_FAILURE_NODE, 0, 1000 * S, 100 * S};
    sim_rigid(world, 0, 1, 1);
    world->options.check = false;
    world->options.on_progress = count_calls;
    told = 0;
    sim_run(world);
    assert_int_equal(world->totals.fates[PLEAT_SIM_LEFT], 1);
    assert_true(told > 2);
    sim_world_destroy(world);
}

/* What would end after more time than can be counted never ends. */
static void test_for_ever(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(4);
    sim_world_site(world, 0)->speed = 0.001;
    sim_rigid(world, 0, 1, 100000000000);
    uint32_t app = sim_world_app(world, (struct pleat_app){.component = 1, .work = INT32_MAX});
    sim_malleable(world, 0, 3, 3, 100000000, app);
    sim_rigid(world, 0, 1, 1);
    sim_run(world);
    assert_int_equal(world->totals.fates[PLEAT_SIM_LEFT], 3);
    assert_int_equal(world->outcomes[0].start_us, 0);
    assert_true(world->outcomes[0].end_us == PLEAT_NEVER);
    assert_true(world->outcomes[2].start_us == PLEAT_NEVER);
    sim_world_destroy(world);
}

static void expect_refused(struct sim_world *world, const char *text)
{
    if (sim_try(world) != PLEAT_E_INVALID || !strstr(world->err.text, text))
        fail_msg("not refused with '%s': %s", text, world->err.text);
    sim_world_destroy(world);
}

static void test_nonsense_is_refused(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(0);
    expect_refused(world, "site 'one': nodes and slots");
    world = sim_world_create(4);
    sim_world_site(world, 0)->speed = 0;
    expect_refused(world, "speed");
    world = sim_world_create(4);
    sim_world_site(world, 0)->claim.mean_us = -1;
    expect_refused(world, "delays");
    world = sim_world_create(4);
    sim_world_site(world, 0)->failure.kind = PLEAT_FAILURE_NODE;
    expect_refused(world, "fail");
    world = sim_world_create(4);
    sim_world_site(world, 0)->failure = (struct pleat_failure){PLEAT_FAILURE_CLAIM, 1, 0, 0};
    expect_refused(world, "probability");
    world = sim_world_create(4);
    sim_world_site(world, 0)->load_gap_us = S;
    expect_refused(world, "local users");
    world = sim_world_create(4);
    sim_world_site(world, 0)->leaves_us = 0;
    expect_refused(world, "leaves before it joins");
    world = sim_world_create(4);
    sim_rigid(world, 0, 1, 1)->site = 3;
    expect_refused(world, "job 1: no such site");
    world = sim_world_create(4);
    world->platform.sites.count = 0;
    expect_refused(world, "1 to 1024 sites");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_speed),
        cmocka_unit_test(test_delays),
        cmocka_unit_test(test_delays_spread),
        cmocka_unit_test(test_resizing_with_delays),
        cmocka_unit_test(test_processes_of_a_growth_start),
        cmocka_unit_test(test_background_by_trace),
        cmocka_unit_test(test_a_polled_site),
        cmocka_unit_test(test_processors_one_after_another),
        cmocka_unit_test(test_policies_that_decide_now_and_then),
        cmocka_unit_test(test_background_for_ever),
        cmocka_unit_test(test_background_by_model),
        cmocka_unit_test(test_nodes_fail),
        cmocka_unit_test(test_a_node_fails_under_a_wide_job),
        cmocka_unit_test(test_starts_fail),
        cmocka_unit_test(test_claims_fail),
        cmocka_unit_test(test_joining_and_leaving),
        cmocka_unit_test(test_callbacks),
        cmocka_unit_test(test_progress_while_all_wait),
        cmocka_unit_test(test_for_ever),
        cmocka_unit_test(test_nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
