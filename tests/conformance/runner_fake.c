/* The contract of src/runner/runner.h, over the fake; over the runners that jobs have: runner.c. */
#include "host.h"

#include "fake_runner.h"

enum { JOB = 2, RUN = 71, RESIZE = 300 };

struct fake_bed {
    struct played_host host;
    struct pleat_runner *runner;
};

static void open_fake(struct fake_bed *bed, const struct pleat_fake_runner_options *options)
{
    played_host_init(&bed->host);
    assert_int_equal(pleat_fake_runner_open(options, &bed->host.host, &bed->runner, NULL), 0);
}

static void close_fake(struct fake_bed *bed)
{
    const struct pleat_runner_ops *ops = bed->runner->ops;
    ops->close(bed->runner);
    ops->close(NULL);
    played_host_finish(&bed->host);
}

static const struct pleat_run_order fake_run = {.run = RUN, .component = JOB, .processes = 4};

static struct pleat_change_order fake_change(int32_t from, int32_t to)
{
    struct pleat_change_order order = {
        .run = RUN, .resize = RESIZE, .component = JOB, .from = from, .processes = to};
    return order;
}

/* Asked twice to start, and with much to do. */
static void running_fake(struct fake_bed *bed, struct pleat_fake_runner_options options)
{
    options.run_us = INT64_C(4000000000);
    open_fake(bed, &options);
    for (int twice = 0; twice < 2; twice++)
        assert_int_equal(bed->runner->ops->start(bed->runner, &fake_run, NULL), 0);
}

static void test_the_fake_starts_and_exits_once(void **state)
{
    (void)state;
    struct pleat_fake_runner_options options = {.seed = 1, .start_delay_us = 10, .run_us = 5000};
    struct fake_bed bed;
    open_fake(&bed, &options);
    for (int twice = 0; twice < 2; twice++)
        assert_int_equal(bed.runner->ops->start(bed.runner, &fake_run, NULL), 0);
    assert_int_equal(pleat_fake_runner_processes(bed.runner, JOB), 4);
    played_host_run(&bed.host);
    struct pleat_event event;
    assert_int_equal(played_host_count(&bed.host, PLEAT_EV_STARTED, &event), 1);
    assert_true(event.component == JOB && event.u.exit.run == RUN);
    assert_int_equal(played_host_count(&bed.host, PLEAT_EV_EXITED, &event), 1);
    assert_true(event.component == JOB && event.u.exit.run == RUN);
    assert_int_equal(pleat_fake_runner_processes(bed.runner, JOB), 0);
    assert_int_equal(pleat_fake_runner_processes(bed.runner, 4000), 0);
    assert_int_equal(bed.runner->ops->start(bed.runner, &fake_run, NULL), 0); /* over is over */
    played_host_run(&bed.host);
    assert_int_equal(played_host_count(&bed.host, PLEAT_EV_EXITED, NULL), 1);
    close_fake(&bed);
}

static void test_the_fake_can_be_killed(void **state)
{
    (void)state;
    struct pleat_fake_runner_options options = {.seed = 1, .start_delay_us = 1000};
    struct fake_bed bed;
    running_fake(&bed, options);
    for (int twice = 0; twice < 2; twice++) /* also before it is started */
        assert_int_equal(bed.runner->ops->kill(bed.runner, &fake_run, NULL), 0);
    played_host_run(&bed.host);
    assert_int_equal(played_host_count(&bed.host, PLEAT_EV_EXITED, NULL), 1);
    close_fake(&bed);
}

static void test_the_fake_resizes_once(void **state)
{
    (void)state;
    for (int shrinks = 0; shrinks < 2; shrinks++) {
        struct pleat_fake_runner_options options = {.seed = 1};
        struct fake_bed bed;
        running_fake(&bed, options);
        struct pleat_change_order order = fake_change(4, shrinks ? 1 : 8);
        for (int twice = 0; twice < 2; twice++)
            assert_int_equal(bed.runner->ops->resize(bed.runner, &order, NULL), 0);
        played_host_run(&bed.host);
        struct pleat_event event;
        assert_int_equal(played_host_count(&bed.host, PLEAT_EV_APPLIED, &event), 1);
        assert_true(event.component == JOB && event.u.change.resize == RESIZE);
        assert_int_equal(event.u.change.processes, order.processes);
        assert_int_equal(played_host_count(&bed.host, PLEAT_EV_VACATED, NULL), shrinks);
        assert_int_equal(played_host_count(&bed.host, PLEAT_EV_EXITED, NULL), 1);
        close_fake(&bed);
    }
}

static void test_the_fake_answers_and_withdraws(void **state)
{
    (void)state;
    struct pleat_fake_runner_options options = {.seed = 1, .ignore = 1};
    struct fake_bed bed;
    running_fake(&bed, options);
    struct pleat_change_order order = fake_change(4, 8);
    assert_int_equal(bed.runner->ops->ask(bed.runner, &order, NULL), 0);
    assert_int_equal(bed.host.events.count, 0); /* nothing from inside the call */
    assert_int_equal(bed.runner->ops->resize(bed.runner, &order, NULL), 0);
    assert_int_equal(bed.runner->ops->withdraw(bed.runner, &order, NULL), 0);
    played_host_run(&bed.host);
    struct pleat_event event;
    assert_int_equal(played_host_count(&bed.host, PLEAT_EV_ANSWER, &event), 1);
    assert_int_equal(event.u.change.processors, 8);
    assert_int_equal(event.u.change.resize, RESIZE);
    assert_int_equal(played_host_count(&bed.host, PLEAT_EV_WITHDRAWN, &event), 1);
    assert_int_equal(event.u.change.resize, RESIZE);
    assert_int_equal(played_host_count(&bed.host, PLEAT_EV_APPLIED, NULL), 0);
    close_fake(&bed);
}

static void test_the_fake_misbehaves_as_told(void **state)
{
    (void)state;
    static const struct {
        struct pleat_fake_runner_options options;
        uint16_t kind;
        int32_t value; /* of an answer */
    } cases[] = {
        {{.start_fail = 1}, PLEAT_EV_START_FAILED, 0},
        {{.refuse = 1}, PLEAT_EV_ANSWER, 4},
        {{.overaccept = 1}, PLEAT_EV_ANSWER, 11},
        {{.resize_fail = 1, .run_us = INT64_C(4000000000)}, PLEAT_EV_RESIZE_FAILED, 0},
        {{.die_in_resize = 1, .run_us = INT64_C(4000000000)}, PLEAT_EV_EXITED, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pleat_fake_runner_options options = cases[i].options;
        options.seed = 5;
        struct fake_bed bed;
        open_fake(&bed, &options);
        assert_int_equal(bed.runner->ops->start(bed.runner, &fake_run, NULL), 0);
        struct pleat_change_order order = fake_change(4, 8);
        if (cases[i].kind == PLEAT_EV_ANSWER)
            assert_int_equal(bed.runner->ops->ask(bed.runner, &order, NULL), 0);
        else
            assert_int_equal(bed.runner->ops->resize(bed.runner, &order, NULL), 0);
        played_host_run(&bed.host);
        struct pleat_event event = {0};
        assert_int_equal(played_host_count(&bed.host, cases[i].kind, &event), 1);
        if (cases[i].kind == PLEAT_EV_ANSWER)
            assert_int_equal(event.u.change.processors, cases[i].value);
        close_fake(&bed);
    }
}

static void test_the_fake_is_relaunched_once(void **state)
{
    (void)state;
    for (int stateless = 0; stateless < 2; stateless++) {
        /* it would never come out of its resize */
        struct pleat_fake_runner_options options = {.seed = 1, .stuck = 1, .stateless = stateless};
        struct fake_bed bed;
        running_fake(&bed, options);
        struct pleat_change_order order = fake_change(4, 8);
        assert_int_equal(bed.runner->ops->resize(bed.runner, &order, NULL), 0);
        assert_int_equal(bed.runner->ops->withdraw(bed.runner, &order, NULL), 0);
        order = fake_change(4, 3);
        for (int twice = 0; twice < 2; twice++)
            assert_int_equal(bed.runner->ops->relaunch(bed.runner, &order, NULL), 0);
        assert_int_equal(bed.host.events.count, 0); /* nothing from inside the call */
        played_host_run(&bed.host);
        struct pleat_event event;
        assert_int_equal(played_host_count(&bed.host, PLEAT_EV_RELAUNCHED, &event), 1);
        assert_true(event.component == JOB && event.u.change.resize == RESIZE);
        assert_int_equal(event.u.change.processors, 3);
        assert_int_equal(event.flags, stateless ? 0 : PLEAT_FROM_STATE);
        assert_int_equal(played_host_count(&bed.host, PLEAT_EV_APPLIED, NULL), 0);
        assert_int_equal(played_host_count(&bed.host, PLEAT_EV_WITHDRAWN, NULL), 0);
        assert_int_equal(played_host_count(&bed.host, PLEAT_EV_EXITED, NULL), 1); /* its own */
        assert_int_equal(bed.runner->ops->relaunch(bed.runner, &order, NULL), 0); /* over is over */
        played_host_mark(&bed.host);
        played_host_run(&bed.host);
        assert_int_equal(bed.host.events.count, bed.host.mark);
        close_fake(&bed);
    }
}

static void test_the_fake_is_relaunched_after_it_broke(void **state)
{
    (void)state;
    struct pleat_fake_runner_options options = {.seed = 1, .die_in_resize = 1, .broken = 1};
    for (int killed = 0; killed < 2; killed++) {
        struct fake_bed bed;
        running_fake(&bed, options);
        struct pleat_change_order order = fake_change(4, 8);
        assert_int_equal(bed.runner->ops->resize(bed.runner, &order, NULL), 0);
        played_host_run(&bed.host);
        struct pleat_event event;
        assert_int_equal(played_host_count(&bed.host, PLEAT_EV_EXITED, &event), 1);
        assert_int_equal(event.u.exit.reason, PLEAT_REASON_BROKEN);
        assert_int_equal(pleat_fake_runner_processes(bed.runner, JOB), 0);
        played_host_mark(&bed.host);
        if (killed)
            assert_int_equal(bed.runner->ops->kill(bed.runner, &fake_run, NULL), 0);
        else
            assert_int_equal(bed.runner->ops->relaunch(bed.runner, &order, NULL), 0);
        played_host_run(&bed.host);
        assert_int_equal(played_host_count(&bed.host, PLEAT_EV_RELAUNCHED, NULL), !killed);
        assert_int_equal(played_host_count(&bed.host, PLEAT_EV_EXITED, &event), 1);
        assert_int_equal(event.u.exit.reason, PLEAT_REASON_EXIT);
        close_fake(&bed);
    }
}

static void test_the_fake_cannot_always_be_relaunched(void **state)
{
    (void)state;
    for (int seed = 1; seed <= 20; seed++) {
        int fails = seed % 2; /* else nothing comes of it */
        struct pleat_fake_runner_options options = {
            .seed = (uint64_t)seed, .relaunch_fail = fails, .relaunch_never = !fails};
        struct fake_bed bed;
        running_fake(&bed, options);
        struct pleat_change_order order = fake_change(4, 8);
        played_host_mark(&bed.host);
        assert_int_equal(bed.runner->ops->relaunch(bed.runner, &order, NULL), 0);
        played_host_run(&bed.host);
        assert_int_equal(played_host_count(&bed.host, PLEAT_EV_RELAUNCHED, NULL), 0);
        assert_int_equal(played_host_count(&bed.host, PLEAT_EV_EXITED, NULL) +
                             played_host_count(&bed.host, PLEAT_EV_START_FAILED, NULL),
                         fails);
        assert_int_equal(bed.runner->ops->kill(bed.runner, &fake_run, NULL), 0);
        played_host_run(&bed.host);
        assert_true(played_host_count(&bed.host, PLEAT_EV_EXITED, NULL) +
                        played_host_count(&bed.host, PLEAT_EV_START_FAILED, NULL) >=
                    1);
        close_fake(&bed);
    }
}

static void test_the_fake_has_no_agents(void **state)
{
    (void)state;
    struct pleat_fake_runner_options options = {.seed = 1};
    struct fake_bed bed;
    open_fake(&bed, &options);
    struct pleat_error err = {0};
    assert_int_equal(bed.runner->ops->notice(bed.runner, 0, "started", NULL, &err),
                     PLEAT_E_PROTOCOL);
    assert_int_equal(bed.host.events.count, 0);
    close_fake(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_fake_starts_and_exits_once),
        cmocka_unit_test(test_the_fake_can_be_killed),
        cmocka_unit_test(test_the_fake_resizes_once),
        cmocka_unit_test(test_the_fake_answers_and_withdraws),
        cmocka_unit_test(test_the_fake_misbehaves_as_told),
        cmocka_unit_test(test_the_fake_is_relaunched_once),
        cmocka_unit_test(test_the_fake_is_relaunched_after_it_broke),
        cmocka_unit_test(test_the_fake_cannot_always_be_relaunched),
        cmocka_unit_test(test_the_fake_has_no_agents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
