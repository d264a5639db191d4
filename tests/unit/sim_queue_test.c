/* The queue of a simulated batch system: who may start by first come, first served and by EASY
 * backfilling, and what becomes of Pleat's allocations in it. */
#include <stdio.h>

#include "base/random.h"
#include "sim/queue.h"
#include "sim_fixture.h"

/* ---- the algorithm alone ---- */

static void arrives(struct queue *queue, int32_t count, int64_t limit_us, uint32_t owner)
{
    struct queue_job job = {
        .count = count, .limit_us = limit_us, .run_us = limit_us, .owner = owner};
    assert_int_equal(queue_add(queue, &job), 0);
}

/* Starts all that may start; returns their owners as digits. */
static int starts(struct queue *queue, int32_t up, int64_t now_us)
{
    int started = 0;
    size_t next;
    while ((next = queue_pick(queue, up, now_us)) != SIZE_MAX) {
        const struct queue_job *job = queue_start(queue, next, now_us);
        assert_non_null(job);
        started = started * 10 + (int)job->owner;
    }
    return started;
}

static void test_first_come_first_served(void **state)
{
    (void)state;
    struct queue queue = {.backfills = false};
    arrives(&queue, 6, 100, 1);
    arrives(&queue, 6, 100, 2);
    arrives(&queue, 1, 1, 3);
    assert_int_equal(starts(&queue, 10, 0), 1);
    assert_int_equal(queue_next(&queue), 100);
    queue_end(&queue, 0);
    assert_int_equal(starts(&queue, 10, 100), 23);
    queue_finish(&queue);
}

/* 10 processors; job 1 has 6 until 100; job 2 wants 8, and can start at 100, when it leaves 2. */
static void test_backfilling(void **state)
{
    (void)state;
    struct queue queue = {.backfills = true};
    arrives(&queue, 6, 100, 1);
    arrives(&queue, 8, 50, 2);
    arrives(&queue, 3, 101, 3); /* not done at 100, and more than 2 */
    arrives(&queue, 2, 500, 4); /* takes what job 2 leaves */
    arrives(&queue, 1, 200, 5); /* nothing is left any more that job 2 leaves */
    arrives(&queue, 2, 90, 6);  /* done before */
    assert_int_equal(starts(&queue, 10, 10), 146);
    struct queue_shadow shadow = queue_shadow(&queue, 10);
    assert_int_equal(shadow.at_us, 110);
    assert_int_equal(shadow.extra, 0);
    assert_int_equal(queue.used, 10);
    queue_finish(&queue);
}

/* Jobs that end together are counted together; what has no limit never ends, as far as one knows.
 */
static void test_what_the_first_one_waits_for(void **state)
{
    (void)state;
    struct queue queue = {.backfills = true};
    arrives(&queue, 3, 100, 1);
    arrives(&queue, 3, 100, 2);
    arrives(&queue, 3, PLEAT_NEVER, 3);
    assert_int_equal(starts(&queue, 10, 0), 123);
    arrives(&queue, 4, 50, 4);
    struct queue_shadow shadow = queue_shadow(&queue, 10);
    assert_int_equal(shadow.at_us, 100);
    assert_int_equal(shadow.extra, 3);
    queue_drop(&queue, 0);
    arrives(&queue, 9, 50, 5);
    assert_true(queue_shadow(&queue, 10).at_us == PLEAT_NEVER);
    arrives(&queue, 1, 1000000, 6);
    assert_int_equal(starts(&queue, 10, 0), 6);
    queue_finish(&queue);
}

/* However jobs come: no job that waits in front ever starts later than it was told when it came to
 * the head, as long as all end by their limits. */
static void test_nobody_is_delayed(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct pleat_random random;
        struct queue queue = {.backfills = true};
        pleat_random_init(&random, seed);
        int64_t promised_us = PLEAT_NEVER, now_us = 0;
        uint32_t head = UINT32_MAX, came = 0;
        while (came < 60 || queue.waiting.count > 0) {
            for (; came < 60 && pleat_random_below(&random, 2); came++) {
                struct queue_job job = {.count = 1 + (int32_t)pleat_random_below(&random, 16),
                                        .limit_us = 1 + (int64_t)pleat_random_below(&random, 100),
                                        .owner = came};
                job.run_us = 1 + (int64_t)pleat_random_below(&random, (uint64_t)job.limit_us);
                assert_int_equal(queue_add(&queue, &job), 0);
            }
            size_t next;
            while ((next = queue_pick(&queue, 16, now_us)) != SIZE_MAX) {
                uint32_t owner = queue.waiting.items[next].owner;
                assert_true(owner != head || now_us <= promised_us);
                assert_non_null(queue_start(&queue, next, now_us));
                assert_in_range(queue.used, 1, 16);
            }
            if (queue.waiting.count > 0) {
                int64_t at_us = queue_shadow(&queue, 16).at_us;
                if (queue.waiting.items[0].owner != head)
                    promised_us = at_us;
                head = queue.waiting.items[0].owner;
                assert_true(at_us <= promised_us);
            }
            int64_t next_us = queue_next(&queue);
            now_us = next_us < PLEAT_NEVER && next_us > now_us ? next_us : now_us + 1;
            for (size_t i = queue.running.count; i-- > 0;)
                if (queue.running.items[i].done_us <= now_us)
                    queue_end(&queue, i);
        }
        queue_finish(&queue);
    }
}

/* ---- Pleat's allocations ---- */

static struct sim_world *world_with_queue(int32_t processors, enum pleat_queue_kind kind)
{
    struct sim_world *world = sim_world_create(processors);
    sim_world_site(world, 0)->queue = kind;
    return world;
}

static void other(struct sim_world *world, int64_t submit_s, int32_t processors, int64_t run_s,
                  int64_t limit_s)
{
    struct pleat_other_job job = {submit_s * S, run_s * S, limit_s * S, processors};
    assert_int_equal(pleat_array_push(&sim_world_site(world, 0)->others, job), 0);
}

static const struct pleat_event *find(const struct pleat_events *log, uint16_t kind, size_t nth)
{
    for (size_t i = 0; i < log->count; i++)
        if (log->items[i].kind == kind && nth-- == 0)
            return &log->items[i];
    return NULL;
}

static void run_logged(struct sim_world *world, struct pleat_events *log)
{
    struct pleat_replay_result result;
    *log = (struct pleat_events){0};
    world->options.log = log;
    sim_run(world);
    assert_int_equal(pleat_replay_policies(log->items, log->count, &result, &world->err), 0);
    assert_int_equal(result.different, log->count);
}

/* A claim waits behind others, and is told why, and when it may start. */
static void test_a_claim_waits(void **state)
{
    (void)state;
    struct pleat_events log;
    struct sim_world *world = world_with_queue(8, PLEAT_QUEUE_EASY);
    other(world, 0, 6, 100, 200);
    other(world, 1, 4, 50, 60);
    sim_world_site(world, 0)->claim.mean_us = 2 * S;
    sim_rigid(world, 2, 4, 10);
    run_logged(world, &log);
    /* the second job of others starts at 100 s, when the first one ends long before its limit, and
     * this one beside it; its agent takes 2 s */
    sim_expect(world, 0, 102, 112);
    const struct pleat_event *waits = find(&log, PLEAT_EV_CLAIM_WAITS, 0);
    assert_non_null(waits);
    assert_int_equal(waits->time_us, 2 * S);
    assert_int_equal(waits->u.waits.reason, PLEAT_WAIT_TURN);
    assert_int_equal(waits->u.waits.expected_us, 0);
    assert_int_equal(waits->u.waits.until_us, (2 + 86400) * S);
    waits = find(&log, PLEAT_EV_CLAIM_WAITS, 1);
    assert_non_null(waits);
    assert_int_equal(waits->time_us, 100 * S);
    assert_int_equal(waits->u.waits.reason, PLEAT_WAIT_AGENTS);
    assert_null(find(&log, PLEAT_EV_CLAIM_ENDS, 0));
    assert_int_equal(world->totals.allocations, 1);
    assert_true(world->totals.queued_us == 98.0 * S);
    pleat_array_finish(&log);
    sim_world_destroy(world);
}

/* At the head it waits for processors; with a limit it may overtake, without one it may not. */
static void test_a_limit_lets_it_overtake(void **state)
{
    (void)state;
    for (int limited = 0; limited < 2; limited++) {
        struct pleat_events log;
        struct sim_world *world = world_with_queue(8, PLEAT_QUEUE_EASY);
        other(world, 0, 6, 100, 100);
        other(world, 1, 8, 100, 100);
        sim_world_site(world, 0)->limit_us = limited ? 60 * S : 0;
        sim_rigid(world, 2, 2, 20);
        run_logged(world, &log);
        sim_expect(world, 0, limited ? 2 : 200, limited ? 22 : 220);
        const struct pleat_event *waits = find(&log, PLEAT_EV_CLAIM_WAITS, 1);
        assert_int_equal(!waits, limited);
        if (waits) {
            assert_int_equal(waits->time_us, 100 * S);
            assert_int_equal(waits->u.waits.reason, PLEAT_WAIT_RESOURCES);
            assert_int_equal(waits->u.waits.expected_us, 200 * S);
        }
        pleat_array_finish(&log);
        sim_world_destroy(world);
    }
}

/* The limit of an allocation: the core hears of it with notice, ends the job before it, and the job
 * waits again. One that is not left in time is taken away. */
static void test_a_limit_ends_it(void **state)
{
    (void)state;
    for (int slow = 0; slow < 2; slow++) {
        struct pleat_events log;
        struct sim_world *world = world_with_queue(4, PLEAT_QUEUE_FCFS);
        struct pleat_sim_site *site = sim_world_site(world, 0);
        site->limit_us = 100 * S;
        site->leave_us = 10 * S;
        site->release.mean_us = slow ? 20 * S : 5 * S;
        world->options.parameters[PLEAT_PARAM_ATTEMPTS] = 2;
        sim_rigid(world, 0, 4, 95);
        run_logged(world, &log);
        const struct pleat_event *ends = find(&log, PLEAT_EV_CLAIM_ENDS, 0);
        assert_non_null(ends);
        assert_int_equal(ends->time_us, 0);
        assert_int_equal(ends->u.ends.end_us, 90 * S);
        assert_int_equal(!find(&log, PLEAT_EV_LOST, 0), !slow);
        assert_int_equal(world->outcomes[0].fate, PLEAT_SIM_FAILED);
        assert_int_equal(world->outcomes[0].restarts, 1);
        assert_int_equal(world->outcomes[0].start_us, slow ? 100 * S : 95 * S);
        assert_int_equal(world->totals.allocations, 2);
        assert_int_equal(world->totals.expired, slow ? 2 : 0);
        pleat_array_finish(&log);
        sim_world_destroy(world);
    }
}

/* Who has waited for long enough gives up, and asks again. */
static void test_a_claim_is_given_up(void **state)
{
    (void)state;
    struct pleat_events log;
    struct sim_world *world = world_with_queue(4, PLEAT_QUEUE_FCFS);
    sim_world_site(world, 0)->queue_us = 30 * S;
    other(world, 0, 4, 100, 100);
    sim_rigid(world, 1, 4, 10);
    run_logged(world, &log);
    const struct pleat_event *again = find(&log, PLEAT_EV_RELEASED, 0);
    assert_non_null(again);
    assert_int_equal(again->time_us, 31 * S);
    sim_expect(world, 0, 100, 110);
    pleat_array_finish(&log);
    sim_world_destroy(world);
}

/* A job grows by allocations of its own, each with its own limit, and computes while they wait. */
static void test_growing_by_allocations(void **state)
{
    (void)state;
    struct pleat_events log;
    struct sim_world *world = world_with_queue(8, PLEAT_QUEUE_FCFS);
    sim_world_site(world, 0)->limit_us = 10000 * S;
    world->options.policies[PLEAT_MOLDABILITY] = pleat_policy_find(PLEAT_MOLDABILITY, "minimum");
    other(world, 0, 6, 100, 100);
    sim_malleable(world, 1, 2, 8, 400, 0);
    run_logged(world, &log);
    /* 2 until 100 s, then 8: 198 done, 202 left */
    sim_expect(world, 0, 1, 125.25);
    assert_int_equal(world->totals.allocations, 2);
    assert_int_equal(find(&log, PLEAT_EV_CLAIM_ENDS, 0)->u.ends.end_us, (1 + 10000 - 30) * S);
    assert_int_equal(find(&log, PLEAT_EV_CLAIM_ENDS, 1)->u.ends.end_us, (100 + 10000 - 30) * S);
    pleat_array_finish(&log);
    sim_world_destroy(world);
}

/* What a job gives back of an allocation stays in that until all of it is given back: others do not
 * get it, and the job does, at once. */
static void test_a_part_given_back(void **state)
{
    (void)state;
    struct pleat_events log;
    struct sim_world *world = world_with_queue(8, PLEAT_QUEUE_FCFS);
    sim_malleable(world, 0, 2, 8, 400, 0);
    struct pleat_app app = world->workload.apps.items[0];
    const struct pleat_workload_ask asks[] = {{.at = 0.2, .change = -6}, {.at = 0.3, .change = 6}};
    app.first_ask = (uint32_t)world->workload.asks.count;
    app.ask_count = 2;
    for (int i = 0; i < 2; i++)
        assert_int_equal(pleat_array_push(&world->workload.asks, asks[i]), 0);
    world->workload.jobs.items[0].app = sim_world_app(world, app);
    other(world, 12, 6, 100, 100);
    run_logged(world, &log);
    /* 80 of 400 done at 10 s; 120 at 30 s; the rest, 280, on 8 until 65 s */
    sim_expect(world, 0, 0, 65);
    assert_int_equal(world->totals.allocations, 1);
    pleat_array_finish(&log);
    sim_world_destroy(world);
}

/* ---- jobs that fold, on nodes ---- */

static struct sim_world *world_with_nodes(int32_t nodes, int32_t slots)
{
    struct sim_world *world = world_with_queue(1, PLEAT_QUEUE_FCFS);
    sim_world_site(world, 0)->nodes = nodes;
    sim_world_site(world, 0)->slots = slots;
    sim_world_approach(world, "pwa");
    world->options.policies[PLEAT_MALLEABILITY] =
        pleat_policy_find(PLEAT_MALLEABILITY, "partition");
    return world;
}

/* Eight processes, at most four on a processor, which take work_s on eight. */
static void folded(struct sim_world *world, int64_t submit_s, int64_t work_s)
{
    struct pleat_workload_job *job = sim_malleable(world, submit_s, 8, 8, work_s, 0);
    job->processors = 8;
    job->mpl_max = 4;
}

static void expect_node(const struct pleat_events *log, size_t nth, uint32_t number, int32_t slots)
{
    const struct pleat_event *node = find(log, PLEAT_EV_NODE, nth);
    assert_non_null(node);
    assert_int_equal(node->flags, PLEAT_NODE_LENT);
    assert_int_equal(node->u.node.node, number);
    assert_int_equal(node->u.node.slots, slots);
}

static void expect_piece(const struct pleat_events *log, size_t nth, uint32_t node, uint32_t count)
{
    const struct pleat_event *piece = find(log, PLEAT_EV_PIECE, nth);
    assert_non_null(piece);
    assert_int_equal(piece->u.piece.node, node);
    assert_int_equal(piece->u.piece.count, count);
}

/* Its allocation has two nodes, with four processes each. It makes room for another job on both,
 * and grows again there, up to a processor for each process. */
static void test_folded_jobs_are_on_several_nodes(void **state)
{
    (void)state;
    struct pleat_events log;
    struct sim_world *world = world_with_nodes(2, 4);
    folded(world, 0, 40);
    sim_rigid(world, 10, 3, 5);
    run_logged(world, &log);
    /* eight processes on five processors from 10 s to 15 s */
    sim_expect(world, 0, 0, 41.875);
    sim_expect(world, 1, 10, 15);
    assert_int_equal(find(&log, PLEAT_EV_SITE, 0)->u.site.node_most, 4);
    expect_node(&log, 0, 0, 4);
    expect_node(&log, 1, 1, 4);
    assert_null(find(&log, PLEAT_EV_NODE, 2));
    expect_piece(&log, 0, 0, 4);
    expect_piece(&log, 1, 1, 4);
    /* of four, two on each, it keeps; it grows by the one that the other job does not need, on the
     * first node, and when that job has ended by one there and two on the other node */
    expect_piece(&log, 2, 0, 1);
    expect_piece(&log, 3, 0, 1);
    expect_piece(&log, 4, 1, 2);
    assert_null(find(&log, PLEAT_EV_PIECE, 5));
    assert_int_equal(world->totals.allocations, 1);
    pleat_array_finish(&log);
    sim_world_destroy(world);
}

/* It is started where there is room, and its processes stay there: it does not grow into what
 * becomes free on other nodes, as a job does that does not fold. */
static void test_folded_jobs_stay_on_their_nodes(void **state)
{
    (void)state;
    for (int folds = 0; folds < 2; folds++) {
        struct pleat_events log;
        struct sim_world *world = world_with_nodes(4, 4);
        sim_rigid(world, 0, 10, 20);
        if (folds)
            folded(world, 0, 48);
        else
            sim_malleable(world, 0, 1, 8, 48 * 8, 0);
        run_logged(world, &log);
        /* on six for 20 s, which is 15 of the 48 s that it takes on eight */
        sim_expect(world, 1, 0, folds ? 64 : 53);
        assert_int_equal(world->totals.allocations, folds ? 2 : 3);
        for (size_t i = 0; folds && i < 5; i++) {
            static const int32_t slots[] = {4, 4, 2, 4, 2};
            expect_node(&log, i, (uint32_t)i, slots[i]);
            expect_piece(&log, i, (uint32_t)i, (uint32_t)slots[i]);
        }
        /* without jobs that fold it does not matter where processors are */
        assert_null(find(&log, PLEAT_EV_NODE, folds ? 5 : 0));
        assert_null(find(&log, PLEAT_EV_PIECE, folds ? 5 : 0));
        pleat_array_finish(&log);
        sim_world_destroy(world);
    }
}

/* When another job has ended it gets what is left of the host of one of its nodes, by another
 * allocation: it has four processes there, and two processors. */
static void test_folded_jobs_grow_on_the_hosts_of_their_nodes(void **state)
{
    (void)state;
    struct pleat_events log;
    struct sim_world *world = world_with_nodes(3, 4);
    sim_rigid(world, 0, 6, 20);
    struct pleat_workload_job *job = sim_malleable(world, 0, 12, 12, 48, 0);
    job->processors = 12;
    job->mpl_max = 4;
    run_logged(world, &log);
    /* on six for 20 s, which is 10 of the 48 s that it takes on twelve, and on eight then */
    sim_expect(world, 1, 0, 77);
    static const int32_t slots[] = {4, 2, 4, 2, 2};
    for (size_t i = 0; i < 5; i++)
        expect_node(&log, i, (uint32_t)i % 4, slots[i]);
    const struct pleat_event *home = find(&log, PLEAT_EV_NODE_HOME, 0);
    assert_non_null(home);
    assert_int_equal(home->u.node_home.node, 0);
    assert_int_equal(home->u.node_home.home, 3);
    expect_piece(&log, 4, 0, 2);
    assert_null(find(&log, PLEAT_EV_PIECE, 5));
    assert_int_equal(find(&log, PLEAT_EV_NODE_GONE, 0)->u.node.node, 0);
    assert_int_equal(world->totals.allocations, 3);
    pleat_array_finish(&log);
    sim_world_destroy(world);
}

/* Others' jobs that came before Pleat's first job have the processors already. */
static void test_what_was_before(void **state)
{
    (void)state;
    struct pleat_events log;
    struct sim_world *world = world_with_queue(4, PLEAT_QUEUE_EASY);
    other(world, 0, 4, 60, 60);
    other(world, 10, 4, 60, 60);
    other(world, 20, 4, 60, 60);
    sim_rigid(world, 100, 4, 10);
    run_logged(world, &log);
    sim_expect(world, 0, 180, 190);
    assert_true(world->totals.background_us == 4 * 80.0 * S);
    pleat_array_finish(&log);
    sim_world_destroy(world);
}

/* Others' jobs of the model; what they run longer than their limit is not run. */
static void test_others_of_the_model(void **state)
{
    (void)state;
    struct sim_world *world = world_with_queue(100, PLEAT_QUEUE_EASY);
    struct pleat_sim_site *site = sim_world_site(world, 0);
    site->load_gap_us = 10 * S;
    site->load_run_us = 100 * S;
    site->load_processors = 9;
    site->load_estimate = 3;
    world->options.check = false;
    sim_rigid(world, 0, 1, 200000);
    sim_run(world);
    /* ten jobs of five processors at a time */
    double mean = world->totals.background_us / (double)world->totals.end_us;
    assert_true(mean > 46 && mean < 54);
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
    struct sim_world *world = world_with_queue(4, PLEAT_QUEUE_EASY);
    other(world, 0, 5, 10, 10);
    expect_refused(world, "in its queue");
    world = world_with_queue(4, PLEAT_QUEUE_EASY);
    other(world, 10, 4, 10, 10);
    other(world, 9, 4, 10, 10);
    expect_refused(world, "in its queue");
    world = world_with_queue(4, PLEAT_QUEUE_NONE);
    other(world, 10, 4, 10, 10);
    expect_refused(world, "in its queue");
    world = world_with_queue(4, PLEAT_QUEUE_FCFS);
    sim_world_site(world, 0)->limit_us = -1;
    expect_refused(world, "limits");
    world = world_with_queue(4, PLEAT_QUEUE_FCFS);
    sim_world_site(world, 0)->load_estimate = 0.5;
    expect_refused(world, "limits");
    world = world_with_queue(4, PLEAT_QUEUE_FCFS);
    const struct pleat_load_point point = {0, 1};
    assert_int_equal(pleat_array_push(&sim_world_site(world, 0)->trace, point), 0);
    expect_refused(world, "not both");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_come_first_served),
        cmocka_unit_test(test_backfilling),
        cmocka_unit_test(test_what_the_first_one_waits_for),
        cmocka_unit_test(test_nobody_is_delayed),
        cmocka_unit_test(test_a_claim_waits),
        cmocka_unit_test(test_a_limit_lets_it_overtake),
        cmocka_unit_test(test_a_limit_ends_it),
        cmocka_unit_test(test_a_claim_is_given_up),
        cmocka_unit_test(test_growing_by_allocations),
        cmocka_unit_test(test_a_part_given_back),
        cmocka_unit_test(test_folded_jobs_are_on_several_nodes),
        cmocka_unit_test(test_folded_jobs_stay_on_their_nodes),
        cmocka_unit_test(test_folded_jobs_grow_on_the_hosts_of_their_nodes),
        cmocka_unit_test(test_what_was_before),
        cmocka_unit_test(test_others_of_the_model),
        cmocka_unit_test(test_nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
