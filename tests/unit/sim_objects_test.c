/* Applications that ask for processes (Liu et al. 2009, 4.2): runs counted by hand. */
#include <math.h>

#include "sim/uneven.h"
#include "sim_fixture.h"
#include "workload/convert.h"

/* The application `text`, whose iterations take iteration_s on `processors`; it starts on those. */
static void submit(struct sim_world *world, const char *text, int64_t submit_s, int32_t processors,
                   int32_t maximum, double iteration_s)
{
    struct pleat_app app;
    if (pleat_app_parse(text, &world->workload, &app, &world->err))
        fail_msg("%s", world->err.text);
    uint32_t index = (uint32_t)world->workload.apps.count - 1;
    if (index == 0 || strcmp(world->workload.apps.items[index].name, app.name) != 0)
        index = sim_world_app(world, app);
    sim_world_job(
        world, (struct pleat_workload_job){.submit_us = submit_s * S,
                                           .run_us = (int64_t)(iteration_s * app.iterations * 1e6),
                                           .processors = processors,
                                           .minimum = processors,
                                           .maximum = maximum,
                                           .initial = processors,
                                           .app = index,
                                           .kind = PLEAT_MOLDABLE});
}

static void policy(struct sim_world *world, const char *name)
{
    world->options.policies[PLEAT_BUFFER] = pleat_policy_find(PLEAT_BUFFER, name);
    assert_non_null(world->options.policies[PLEAT_BUFFER]);
}

static void asked(const struct sim_world *world, size_t job, uint32_t requests, uint32_t satisfied,
                  double waited_s)
{
    assert_int_equal(world->options.evolved[job].requests, requests);
    assert_int_equal(world->options.evolved[job].satisfied, satisfied);
    assert_int_equal(world->options.evolved[job].waited_us, (int64_t)(waited_s * 1e6));
}

/* Two objects, two more after every third of seven iterations, a second for each. */
static void test_it_asks_until_it_gets_one(void **state)
{
    (void)state;
    struct pleat_sim_evolved evolved[1];
    struct sim_world *world = sim_world_create(8);
    world->options.evolved = evolved;
    submit(world, "linear iterations=7 objects=2 gain=2/3 name=a", 0, 1, 4, 2);
    sim_run(world);
    /* three of 2 s; one of 4 s, asks: none is there; one of 4 s, asks: it has two processes; one of
     * 2 s; one of 4 s */
    sim_expect(world, 0, 0, 20);
    asked(world, 0, 2, 1, 4);
    assert_int_equal(world->outcomes[0].grown, 1);
    assert_int_equal(world->totals.requests, 2);
    assert_int_equal(world->totals.satisfied, 1);
    assert_true(world->totals.busy_us == 14e6 + 2 * 6e6);
    sim_world_destroy(world);
}

/* The same with a buffer: the first request succeeds, 4 s are half as long. */
static void test_a_prepared_process_is_there(void **state)
{
    (void)state;
    struct pleat_sim_evolved evolved[1];
    struct sim_world *world = sim_world_create(8);
    world->options.evolved = evolved;
    policy(world, "periodic");
    submit(world, "linear iterations=7 objects=2 gain=2/3 name=a", 0, 1, 4, 2);
    sim_run(world);
    sim_expect(world, 0, 0, 18);
    asked(world, 0, 1, 1, 10);
    sim_world_destroy(world);
}

/* After every five iterations it has lost a gain. The process that it asked for after the fourth is
 * there after the fifth, when it needs none any more; it is there for the next gain. */
static void test_it_loses_what_it_asked_for(void **state)
{
    (void)state;
    struct pleat_sim_evolved evolved[1];
    struct sim_world *world = sim_world_create(8);
    world->options.evolved = evolved;
    submit(world, "linear iterations=9 objects=2 gain=2/3 loses=5/2 name=a", 0, 1, 4, 2);
    sim_run(world);
    /* three of 2 s; two of 4 s; one of 2 s; one of 4 s, asks: it has two processes; two of 2 s */
    sim_expect(world, 0, 0, 24);
    asked(world, 0, 2, 1, 10);
    assert_int_equal(world->outcomes[0].grown, 1);
    assert_int_equal(world->outcomes[0].shrunk, 0);
    sim_world_destroy(world);
}

/* With a buffer it has the process after the fourth, and gives it back after the fifth, into the
 * buffer: it gets it again after the seventh. After the tenth it has lost a gain before there was a
 * process for it. */
static void test_it_gives_a_process_back(void **state)
{
    (void)state;
    for (int says = 0; says < 2; says++) {
        struct pleat_sim_evolved evolved[1];
        struct sim_world *world = sim_world_create(8);
        world->options.evolved = evolved;
        policy(world, "periodic");
        submit(world,
               says ? "linear iterations=11 objects=2 gain=2/3 loses=5/2 name=a"
                    : "linear iterations=11 objects=2 gain=2/3 loses=5 name=a",
               0, 1, 4, 2);
        sim_run(world);
        sim_expect(world, 0, 0, 28);
        asked(world, 0, 2, 2, 10 + 6);
        assert_int_equal(world->outcomes[0].grown, 2);
        assert_int_equal(world->outcomes[0].shrunk, 1);
        sim_world_destroy(world);
    }
}

/* Reviews come while a process is about to be given back: who says so has no other one asked for,
 * which would only wait. */
static void test_what_comes_back_is_not_asked_for(void **state)
{
    (void)state;
    double waited_us[2];
    for (int says = 0; says < 2; says++) {
        struct pleat_sim_evolved evolved[1];
        struct sim_world *world = sim_world_create(8);
        world->options.evolved = evolved;
        world->options.parameters[PLEAT_PARAM_BUFFER_REVIEW_US] = 3 * S;
        policy(world, "periodic");
        submit(world,
               says ? "linear iterations=59 objects=2 gain=2/10 loses=15/10 name=a"
                    : "linear iterations=59 objects=2 gain=2/10 loses=15 name=a",
               0, 1, 8, 2);
        sim_run(world);
        assert_int_equal(evolved[0].satisfied, evolved[0].requests);
        assert_int_equal(evolved[0].iterations, 59);
        waited_us[says] = (double)evolved[0].waited_us;
        sim_world_destroy(world);
    }
    assert_true(waited_us[1] < waited_us[0]);
}

/* It may have no second process: 6 s and more. Divided over all processes: 2 + 1 objects on two. */
static void test_without_processes_it_gets_slower(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(8);
    submit(world, "linear iterations=7 objects=2 gain=2/3 name=a", 0, 1, 1, 2);
    sim_run(world);
    sim_expect(world, 0, 0, 3 * 2 + 3 * 4 + 6);
    assert_true(pleat_workload_run_time(&world->workload, &world->workload.jobs.items[0], 1, 0) ==
                24e6);
    assert_true(pleat_workload_run_time(&world->workload, &world->workload.jobs.items[0], 2, 0) ==
                16e6);
    assert_true(pleat_workload_run_time(&world->workload, &world->workload.jobs.items[0], 3, 0) ==
                14e6);
    sim_world_destroy(world);
    world = sim_world_create(8);
    submit(world, "linear iterations=7 objects=2 gain=2/3 balanced name=a", 0, 2, 2, 2);
    sim_run(world);
    sim_expect(world, 0, 0, 3 * 2 + 3 * 3 + 4);
    assert_true(pleat_workload_run_time(&world->workload, &world->workload.jobs.items[0], 2, 0) ==
                19e6);
    sim_world_destroy(world);
}

/* An object, one more after every tenth of 40 iterations of 1 s; an allocation takes 5 s. Reviews
 * after 5 iterations. The first run knows nothing, the next one what the first one asked for. */
static void test_it_learns_from_earlier_runs(void **state)
{
    (void)state;
    struct pleat_sim_evolved evolved[3];
    struct sim_world *world = sim_world_create(20);
    world->options.evolved = evolved;
    sim_world_site(world, 0)->claim.mean_us = 5 * S;
    policy(world, "periodic-prediction");
    for (int run = 0; run < 3; run++)
        submit(world, "linear iterations=40 objects=1 gain=1/10 name=a", 100 * run, 1, 8, 1);
    sim_run(world);
    /* asks at the ends of 11 to 13 in vain, has one at 14; at 21 there is one left; again 31 to 34.
     * Two that are left over wait from 21 to 24 s, then one is given back */
    sim_expect(world, 0, 5, 5 + 49);
    asked(world, 0, 9, 3, 20);
    /* four are foreseen for 11 to 14 and come in time; all but one go back at the review in that
     * moment, and that one waits for 2 s */
    sim_expect(world, 1, 105, 105 + 43);
    asked(world, 1, 3, 3, 6);
    sim_expect(world, 2, 205, 205 + 43);
    asked(world, 2, 3, 3, 6);
    sim_world_destroy(world);
}

/* Speeds differ from run to run, and are the same whatever the policy. */
static void test_speeds_are_those_of_the_job(void **state)
{
    (void)state;
    int64_t runs[2][40];
    for (int way = 0; way < 2; way++) {
        struct sim_world *world = sim_world_create(20);
        world->options.seed = 7;
        policy(world, way ? "periodic" : "none");
        for (int run = 0; run < 40; run++)
            submit(world, "linear iterations=10 objects=1 gain=1/10 spread=0.1 name=a", 100 * run,
                   1, 2, 1);
        sim_run(world);
        double sum = 0, squares = 0;
        for (int run = 0; run < 40; run++) {
            runs[way][run] = world->outcomes[run].end_us - world->outcomes[run].start_us;
            sum += (double)runs[way][run] / 1e7;
            squares += (double)runs[way][run] / 1e7 * (double)runs[way][run] / 1e7;
        }
        assert_true(sum / 40 > 0.95 && sum / 40 < 1.05);
        double variance = squares / 40 - sum / 40 * sum / 40;
        assert_true(variance > 0.005 && variance < 0.015);
        sim_world_destroy(world);
    }
    assert_memory_equal(runs[0], runs[1], sizeof(runs[0]));
}

static void test_normal_variables(void **state)
{
    (void)state;
    static const struct {
        double p, z;
    } cases[] = {{0.5, 0},           {0.025, 1.959963985}, {0.975, -1.959963985},
                 {0.2, 0.841621234}, {1e-4, 3.719016485},  {1e-9, 5.997807015}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_true(fabs(normal_above(cases[i].p) - cases[i].z) < 1e-7);
}

static double mean_of(const struct uneven *uneven)
{
    enum { MANY = 20000 };
    double sum = 0;
    for (uint64_t i = 0; i < MANY; i++)
        sum += uneven_iteration(uneven, i);
    return sum / MANY;
}

/* The largest of three normal variables is 0.84628 deviations above their mean, of 33 2.07. */
static void test_the_slowest_process_decides(void **state)
{
    (void)state;
    struct uneven uneven = {.seed = 5, .spread = 0.1, .processes = 3, .most = 10, .others = 10};
    uneven.varies = PLEAT_VARIES_ITERATION;
    assert_true(fabs(mean_of(&uneven) - 10.846) < 0.02);
    uneven.processes = 33;
    assert_true(fabs(mean_of(&uneven) - 12.07) < 0.02);
    uneven.processes = 1;
    assert_true(fabs(mean_of(&uneven) - 10) < 0.03);
    uneven.processes = 3;
    uneven.varies = PLEAT_VARIES_OBJECT; /* of ten objects the deviation is a root of ten */
    assert_true(fabs(mean_of(&uneven) - 10.268) < 0.01);
    uneven.most = 40; /* the full one decides, however slow the others are */
    assert_true(fabs(mean_of(&uneven) - 40) < 0.03);
}

/* A process has its speed for its whole run: another one more never makes it faster. */
static void test_processes_keep_their_speed(void **state)
{
    (void)state;
    double sum = 0;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        struct uneven uneven = {seed << 8, PLEAT_VARIES_PROCESS, 0.1, 3, 10, 10};
        double three = uneven_iteration(&uneven, 0);
        assert_true(uneven_iteration(&uneven, 7) == three);
        uneven.processes = 4;
        assert_true(uneven_iteration(&uneven, 0) >= three);
        sum += three;
    }
    assert_true(fabs(sum / 2000 - 10.846) < 0.06);
}

/* After 1 to 5 slow iterations, at random: over many gains each as often. */
static void test_it_notices_late(void **state)
{
    (void)state;
    struct pleat_events log = {0};
    size_t seen[10] = {0};
    struct sim_world *world = sim_world_create(2000);
    world->options.check = false;
    world->options.log = &log;
    policy(world, "periodic");
    submit(world, "linear iterations=10001 objects=1 gain=1/10 notices=5 name=a", 0, 1, 2000, 1);
    world->options.parameters[PLEAT_PARAM_BUFFER_REVIEW_US] = S;
    sim_run(world);
    for (size_t i = 0; i < log.count; i++)
        if (log.items[i].kind == PLEAT_EV_ADD_PROCESS)
            seen[log.items[i].u.process.iteration % 10]++;
    for (size_t i = 0; i < 10; i++) {
        if (i >= 1 && i <= 5)
            assert_true(seen[i] > 150 && seen[i] < 250);
        else
            assert_int_equal(seen[i], 0);
    }
    pleat_array_finish(&log);
    sim_world_destroy(world);
}

/* Its site leaves in the middle: on the other one it begins anew, and that is one execution. */
static void test_a_run_that_is_lost(void **state)
{
    (void)state;
    struct pleat_sim_evolved evolved[2];
    struct sim_world *world = sim_world_create(20);
    assert_int_equal(pleat_platform_add(&world->platform, "two", 10), 0);
    sim_world_site(world, 0)->leaves_us = 20 * S;
    world->options.evolved = evolved;
    policy(world, "periodic-prediction");
    submit(world, "linear iterations=40 objects=1 gain=1/10 name=a", 0, 1, 8, 1);
    sim_run(world);
    assert_int_equal(world->outcomes[0].restarts, 1);
    /* nothing is delayed: asks at 11 in vain, has one at 12, and so on; nothing is left over */
    sim_expect(world, 0, 20, 20 + 46);
    asked(world, 0, 6, 3, 6);
    sim_world_destroy(world);
}

/* Inputs of such runs are logged, and decided again. */
static void test_runs_are_replayed(void **state)
{
    (void)state;
    struct pleat_events log = {0};
    struct pleat_replay_result result;
    struct sim_world *world = sim_world_create(20);
    sim_world_site(world, 0)->claim = (struct pleat_delay){5 * S, S};
    world->options.log = &log;
    policy(world, "periodic-prediction");
    for (int run = 0; run < 5; run++)
        submit(world, "linear iterations=40 objects=1 gain=1/10 spread=0.1 name=a", 30 * run, 1, 8,
               1);
    sim_rigid(world, 130, 18, 20);
    sim_run(world);
    assert_int_equal(pleat_replay_policies(log.items, log.count, &result, &world->err), 0);
    assert_int_equal(result.different, result.records);
    size_t kinds[256] = {0};
    for (size_t i = 0; i < log.count; i++)
        kinds[log.items[i].kind % 256]++;
    assert_true(kinds[PLEAT_EV_HISTORY] && kinds[PLEAT_EV_PROGRESS] && kinds[PLEAT_EV_BUFFER]);
    pleat_array_finish(&log);
    sim_world_destroy(world);
}

/* The first execution has none when it asks for its first process; the second one is told how many
 * it asked for in a row, and has them from its beginning. */
static void test_the_level_is_derived(void **state)
{
    (void)state;
    for (int derived = 0; derived <= 1; derived++) {
        struct pleat_sim_evolved evolved[2];
        struct sim_world *world = sim_world_create(20);
        sim_world_site(world, 0)->claim = (struct pleat_delay){5 * S, 0};
        world->options.evolved = evolved;
        policy(world, "periodic");
        world->options.parameters[PLEAT_PARAM_BUFFER_LEVEL] = 0;
        world->options.parameters[PLEAT_PARAM_BUFFER_DERIVED] = derived;
        world->options.parameters[PLEAT_PARAM_BUFFER_PENDING] = 1;
        world->options.parameters[PLEAT_PARAM_BUFFER_REVIEW_US] = 1000 * S;
        for (int run = 0; run < 2; run++)
            submit(world, "linear iterations=40 objects=1 gain=1/10 name=a", 300 * run, 1, 8, 1);
        sim_run(world);
        assert_true(evolved[0].satisfied < evolved[0].requests);
        if (derived)
            assert_int_equal(evolved[1].satisfied, evolved[1].requests);
        else
            assert_true(evolved[1].satisfied < evolved[1].requests);
        sim_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_asks_until_it_gets_one),
        cmocka_unit_test(test_a_prepared_process_is_there),
        cmocka_unit_test(test_without_processes_it_gets_slower),
        cmocka_unit_test(test_it_learns_from_earlier_runs),
        cmocka_unit_test(test_speeds_are_those_of_the_job),
        cmocka_unit_test(test_normal_variables),
        cmocka_unit_test(test_the_slowest_process_decides),
        cmocka_unit_test(test_processes_keep_their_speed),
        cmocka_unit_test(test_it_loses_what_it_asked_for),
        cmocka_unit_test(test_it_gives_a_process_back),
        cmocka_unit_test(test_what_comes_back_is_not_asked_for),
        cmocka_unit_test(test_it_notices_late),
        cmocka_unit_test(test_a_run_that_is_lost),
        cmocka_unit_test(test_the_level_is_derived),
        cmocka_unit_test(test_runs_are_replayed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
