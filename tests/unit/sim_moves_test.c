/* Malleable jobs on simulated clusters whose allocations end before they do: they go on in others,
 * with their state. */
#include "sim_fixture.h"

static size_t count(const struct pleat_events *log, uint16_t kind)
{
    size_t found = 0;
    for (size_t i = 0; i < log->count; i++)
        found += log->items[i].kind == kind;
    return found;
}

/* Four nodes of two processors, in allocations of 120 s; a job of 2 to 4 that starts on 2, and
 * which nobody grows. */
static struct sim_world *world_with_limit(int shorter)
{
    struct sim_world *world = sim_world_create(1);
    struct pleat_sim_site *site = sim_world_site(world, 0);
    int64_t *parameters = world->options.parameters;
    site->nodes = 4;
    site->slots = 2;
    site->queue = PLEAT_QUEUE_FCFS;
    site->limit_us = 120 * S;
    site->claim.mean_us = 30 * S; /* another one that was asked for after the first is too late */
    site->start.mean_us = 2 * S;
    parameters[PLEAT_PARAM_SHRINK_OFF_US] = 30 * S;
    parameters[PLEAT_PARAM_MOVE_US] = 60 * S;
    parameters[PLEAT_PARAM_REPLACE_US] = 300 * S;
    parameters[PLEAT_PARAM_REPLACE_SHORT] = shorter;
    parameters[PLEAT_PARAM_ATTEMPTS] = 2;
    world->options.policies[PLEAT_MOLDABILITY] = pleat_policy_find(PLEAT_MOLDABILITY, "minimum");
    world->options.policies[PLEAT_MALLEABILITY] = pleat_policy_find(PLEAT_MALLEABILITY, "none");
    sim_malleable(world, 0, 2, 4, 1000, 0);
    return world;
}

static void run(struct sim_world *world, struct pleat_events *log)
{
    struct pleat_replay_result result;
    *log = (struct pleat_events){0};
    world->options.log = log;
    sim_run(world);
    assert_int_equal(pleat_replay_policies(log->items, log->count, &result, &world->err), 0);
    assert_int_equal(result.different, log->count);
}

/* It goes from allocation to allocation, stands still for the site's time for starts each time, and
 * loses nothing of its work. If what it asks for does not count as lasting longer it is ended with
 * the first one. */
static void test_it_goes_from_allocation_to_allocation(void **state)
{
    (void)state;
    for (int shorter = 0; shorter < 2; shorter++) {
        struct pleat_events log;
        struct sim_world *world = world_with_limit(shorter);
        run(world, &log);
        const struct pleat_sim_outcome *outcome = &world->outcomes[0];
        size_t moves = count(&log, PLEAT_EV_MOVED);
        assert_int_equal(outcome->fate, shorter ? PLEAT_SIM_DONE : PLEAT_SIM_FAILED);
        assert_int_equal(outcome->restarts, shorter ? 0 : 1);
        if (shorter) {
            assert_true(moves >= 3);
            /* one more may be on its way when it ends */
            assert_in_range(world->totals.allocations - count(&log, PLEAT_EV_CLAIM_ENDS), 0, 1);
            assert_int_equal(world->totals.expired, 0);
            /* all of its work, and nothing twice */
            double area = outcome->average * (double)(outcome->end_us - outcome->start_us);
            assert_true(area > 999.9 * S && area < (1000.0 + 4 * 2 * (double)moves + 1) * S);
        } else {
            assert_int_equal(moves, 0);
        }
        pleat_array_finish(&log);
        sim_world_destroy(world);
    }
}

/* Where the parameters do not say that jobs move, they do not, and are ended with their allocation.
 */
static void test_it_does_not_move_unless_it_may(void **state)
{
    (void)state;
    struct pleat_events log;
    struct sim_world *world = world_with_limit(1);
    world->options.parameters[PLEAT_PARAM_MOVE_US] = 0;
    run(world, &log);
    assert_int_equal(world->outcomes[0].fate, PLEAT_SIM_FAILED);
    assert_int_equal(count(&log, PLEAT_EV_MOVED), 0);
    assert_int_equal(count(&log, PLEAT_EV_PIECE), 0);
    pleat_array_finish(&log);
    sim_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_goes_from_allocation_to_allocation),
        cmocka_unit_test(test_it_does_not_move_unless_it_may),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
