/* How a description becomes inputs of the core. */
#include "model/submission.h"

#include <string.h>

#include "test.h"

enum { MOST = 16 };

static size_t kinds_of(const struct pleat_companions *companions, struct pleat_event *events)
{
    struct pleat_event submit = {.time_us = 7, .component = 3};
    uint32_t step = 0;
    size_t count = 0;
    while (pleat_companions_next(companions, &submit, &step, &events[count])) {
        assert_int_equal(events[count].time_us, 7);
        assert_int_equal(events[count].component, 3);
        assert_true(++count < MOST);
    }
    assert_false(pleat_companions_next(companions, &submit, &step, &events[count]));
    return count;
}

static void test_nothing_said_nothing_follows(void **state)
{
    (void)state;
    struct pleat_event events[MOST];
    struct pleat_companions companions = pleat_companions_none();
    assert_int_equal(kinds_of(&companions, events), 0);
}

static void test_all_that_can_follow(void **state)
{
    (void)state;
    const struct pleat_input_file inputs[] = {{1.5, 1, 0}, {10, 2, 1}};
    const struct pleat_submission_need needs[] = {{5, 0, PLEAT_AFTER_OK}, {6, 1, PLEAT_AFTER_ANY}};
    struct pleat_companions companions = {.inputs = inputs,
                                          .input_count = 2,
                                          .notice_us = -1,
                                          .lifetime_us = -1,
                                          .limit_us = 60,
                                          .signal = {.number = 10, .lead_us = 5},
                                          .partition_least = 2,
                                          .deadline_us = 100,
                                          .begin_us = 50,
                                          .needs = needs,
                                          .need_count = 2,
                                          .any_need = true,
                                          .group = 4,
                                          .group_limit = 2,
                                          .hold = true};
    const uint16_t expected[] = {PLEAT_EV_INPUT,        PLEAT_EV_INPUT,     PLEAT_EV_TERMS,
                                 PLEAT_EV_LIMIT_SIGNAL, PLEAT_EV_PARTITION, PLEAT_EV_DEADLINE,
                                 PLEAT_EV_RESERVE,      PLEAT_EV_HOLD,      PLEAT_EV_DEPEND,
                                 PLEAT_EV_DEPEND,       PLEAT_EV_GROUP};
    struct pleat_event events[MOST];
    size_t count = kinds_of(&companions, events);
    assert_int_equal(count, sizeof(expected) / sizeof(*expected));
    for (size_t i = 0; i < count; i++)
        assert_int_equal(events[i].kind, expected[i]);
    assert_int_equal(events[0].u.input.bytes, 2);
    assert_int_equal(events[6].u.at.at_us, 50);
    assert_int_equal(events[9].flags, PLEAT_ANY_NEED);
    assert_int_equal(events[9].u.depend.job, 6);
    assert_int_equal(events[10].u.group.group, 4);
}

/* A spec and a row that describe the same job: the core is told the same. */
static void test_both_descriptions(void **state)
{
    (void)state;
    struct pleat_spec spec = {.runner = (char *)(uintptr_t) "malleable",
                              .kind = PLEAT_MALLEABLE,
                              .minimum = 2,
                              .maximum = 12,
                              .initial = 4,
                              .sizes = {.kind = PLEAT_SIZES_MULTIPLES, .step = 2},
                              .estimate_us = 5000000,
                              .priority = -3,
                              .job_class = PLEAT_CLASS_LONG,
                              .notice_us = -1,
                              .lifetime_us = -1,
                              .deadline_us = 30,
                              .begin_us = 20};
    struct pleat_workload workload = {0};
    assert_int_equal(pleat_workload_init(&workload), 0);
    struct pleat_workload_job row = {.kind = PLEAT_MALLEABLE,
                                     .minimum = 2,
                                     .maximum = 12,
                                     .initial = 4,
                                     .sizes_kind = PLEAT_SIZES_MULTIPLES,
                                     .sizes_parameter = 2,
                                     .estimate_us = 5000000,
                                     .priority = -3,
                                     .job_class = PLEAT_CLASS_LONG,
                                     .site = PLEAT_NONE};
    assert_int_equal(pleat_array_push(&workload.jobs, row), 0);
    struct pleat_submission of_spec, of_row;
    struct pleat_event one, other;
    pleat_submission_of_spec(&spec, &of_spec);
    pleat_submission_of_row(&workload, 0, 0, &of_row);
    of_spec.job = of_row.job;
    of_spec.flags &=
        (uint16_t) ~(PLEAT_COMPONENT_RELAUNCHES | PLEAT_COMPONENT_EMPTY); /* its runner's */
    pleat_submission_event(&of_spec, 9, 1, &one);
    pleat_submission_event(&of_row, 9, 1, &other);
    assert_memory_equal(&one, &other, sizeof(one));
    struct pleat_companions companions;
    struct pleat_event events[MOST];
    pleat_companions_of_spec(&spec, 1000, &companions);
    assert_int_equal(kinds_of(&companions, events), 2);
    assert_int_equal(events[0].u.at.at_us, 1030);
    assert_int_equal(events[1].u.at.at_us, 1020);
    pleat_workload_finish(&workload);
}

/* The core has its processes; its processors follow. */
static void test_one_that_folds(void **state)
{
    (void)state;
    struct pleat_spec spec = {.runner = (char *)(uintptr_t) "folded",
                              .kind = PLEAT_MALLEABLE,
                              .folds = true,
                              .fold = {.least = 4, .most = 8, .mpl = 3},
                              .minimum = 2,
                              .maximum = 6,
                              .initial = 3,
                              .notice_us = -1,
                              .lifetime_us = -1};
    struct pleat_submission submission;
    struct pleat_companions companions;
    struct pleat_event events[MOST], submit;
    pleat_submission_of_spec(&spec, &submission);
    pleat_submission_event(&submission, 0, 0, &submit);
    assert_true(submit.flags & PLEAT_COMPONENT_FOLDS);
    assert_int_equal(submit.u.submit.minimum, 4);
    assert_int_equal(submit.u.submit.maximum, 8);
    assert_int_equal(submit.u.submit.initial, 0);
    assert_int_equal(submit.u.submit.mpl_max, 3);
    pleat_companions_of_spec(&spec, 0, &companions);
    assert_int_equal(kinds_of(&companions, events), 1);
    assert_int_equal(events[0].kind, PLEAT_EV_PARTITION);
    assert_int_equal(events[0].u.partition.minimum, 2);
    assert_int_equal(events[0].u.partition.maximum, 6);
    assert_int_equal(events[0].u.partition.mpl, 3); /* 8 processes on 3 processors */
}

static bool spreads(const struct pleat_spec *spec)
{
    struct pleat_submission submission;
    pleat_submission_of_spec(spec, &submission);
    return submission.flags & PLEAT_COMPONENT_SPREADS;
}

/* A program that changes its size is on several nodes where a relaunch is what its user expects. */
static void test_who_may_be_on_several_nodes(void **state)
{
    (void)state;
    char *copies[] = {"A=b", "PLEAT_SAVE=resize", NULL}, *plain[] = {"PLEAT_SAVE=", NULL};
    const struct pleat_spec usual = {.runner = "malleable",
                                     .kind = PLEAT_MALLEABLE,
                                     .mpi = "openmpi",
                                     .env = plain,
                                     .minimum = 1,
                                     .maximum = 4};
    struct pleat_spec spec = usual;
    assert_true(spreads(&spec));
    spec.kind = PLEAT_RIGID;
    assert_true(spreads(&spec));
    spec = usual;
    spec.env = copies;
    assert_false(spreads(&spec));
    spec = usual;
    spec.resize = PLEAT_WAY_MERGE;
    assert_false(spreads(&spec));
    spec = usual;
    spec.one_node = true;
    assert_false(spreads(&spec));
    spec = usual;
    spec.script = "#!/bin/sh";
    assert_false(spreads(&spec));
    spec = usual;
    spec.mpi = "none";
    assert_false(spreads(&spec));
    for (int what = 0; what < 2; what++) {
        spec = usual;
        if (what)
            spec.once = true;
        else
            spec.input = "in";
        assert_false(spreads(&spec));
        spec.resize = PLEAT_WAY_RELAUNCH;
        assert_true(spreads(&spec));
    }
    spec = usual;
    spec.runner = "mpi";
    assert_false(spreads(&spec));
    spec.kind = PLEAT_MOLDABLE;
    assert_true(spreads(&spec));
}

static void test_a_list_of_sizes(void **state)
{
    (void)state;
    int32_t values[23];
    for (int32_t i = 0; i < 23; i++)
        values[i] = i + 1;
    const uint32_t counts[] = {10, 10, 3};
    struct pleat_event event;
    uint32_t told = 0;
    for (int part = 0; part < 3; part++) {
        assert_true(pleat_submission_list(6, values, 23, 1, &told, &event));
        assert_int_equal(event.kind, PLEAT_EV_SIZES);
        assert_int_equal(event.u.sizes.list, 6);
        assert_int_equal(event.u.sizes.count, counts[part]);
        assert_int_equal(event.u.sizes.values[0], 10 * part + 1);
    }
    assert_false(pleat_submission_list(6, values, 23, 1, &told, &event));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_said_nothing_follows),
        cmocka_unit_test(test_all_that_can_follow),
        cmocka_unit_test(test_both_descriptions),
        cmocka_unit_test(test_one_that_folds),
        cmocka_unit_test(test_who_may_be_on_several_nodes),
        cmocka_unit_test(test_a_list_of_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
