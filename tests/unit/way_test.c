/* Which way of resizing is taken, from figures. */
#include "model/way.h"

#include <string.h>

#include "test.h"

#define MERGE PLEAT_WAY_MERGE
#define RELAUNCH PLEAT_WAY_RELAUNCH

struct past {
    struct pleat_way_sample samples[100];
    size_t count;
};

static void took(struct past *past, enum pleat_resize_way way, bool grows, int ms)
{
    past->samples[past->count++] = (struct pleat_way_sample){
        .way = way, .grows = grows, .pause_us = ms * INT64_C(1000), .bytes = 1000000};
}

static void failed(struct past *past, enum pleat_resize_way way)
{
    past->samples[past->count++] =
        (struct pleat_way_sample){.way = way, .grows = true, .failed = true};
}

static struct pleat_way_choice choose(const struct past *past, bool grows)
{
    return pleat_way_choose(past->samples, past->count, grows);
}

/* Each way has been measured twice, in both directions. */
static struct past tried(int merge_ms, int relaunch_ms)
{
    struct past past = {.count = 0};
    for (int i = 0; i < 4; i++) {
        took(&past, MERGE, i % 2, merge_ms);
        took(&past, RELAUNCH, i % 2, relaunch_ms);
    }
    return past;
}

static void test_both_are_tried_first(void **state)
{
    (void)state;
    struct past past = {.count = 0};
    const enum pleat_resize_way wanted[] = {MERGE, RELAUNCH, MERGE, RELAUNCH};
    for (int i = 0; i < 4; i++) {
        struct pleat_way_choice choice = choose(&past, true);
        assert_true(choice.way == wanted[i]);
        assert_true(strstr(choice.reason, "to measure"));
        took(&past, choice.way, true, choice.way == MERGE ? 100 : 20);
    }
    assert_true(choose(&past, true).way == RELAUNCH);
    assert_true(choose(&past, false).way == MERGE); /* shrinks were not measured yet */
}

static void test_the_cheaper_one_is_taken(void **state)
{
    (void)state;
    struct past past = tried(100, 40);
    struct pleat_way_choice choice = choose(&past, true);
    assert_true(choice.way == RELAUNCH &&
                !strcmp(choice.reason, "the other way takes more: 40 ms against 100 ms"));
    past = tried(40, 100);
    choice = choose(&past, true);
    assert_true(choice.way == MERGE &&
                !strcmp(choice.reason, "it takes less: 40 ms against 100 ms"));
}

static void test_each_direction_by_itself(void **state)
{
    (void)state;
    struct past past = {.count = 0};
    for (int i = 0; i < 2; i++) {
        took(&past, MERGE, true, 200);
        took(&past, RELAUNCH, true, 40);
        took(&past, MERGE, false, 30);
        took(&past, RELAUNCH, false, 50);
    }
    assert_true(choose(&past, true).way == RELAUNCH);
    assert_true(choose(&past, false).way == MERGE);
}

static void test_noise_changes_nothing(void **state)
{
    (void)state;
    struct past past = tried(100, 90);
    took(&past, MERGE, true, 100);
    struct pleat_way_choice choice = choose(&past, true);
    assert_true(choice.way == MERGE && strstr(choice.reason, "hardly less"));
    /* one resize on a busy machine is no reason */
    past = tried(100, 60);
    took(&past, RELAUNCH, true, 900);
    assert_true(choose(&past, true).way == RELAUNCH);
    took(&past, RELAUNCH, true, 900);
    took(&past, RELAUNCH, true, 900);
    assert_true(choose(&past, true).way == MERGE);
}

static void test_a_way_that_failed_is_left_alone(void **state)
{
    (void)state;
    struct past past = tried(100, 40);
    failed(&past, RELAUNCH);
    for (int i = 0; i < 2; i++) {
        struct pleat_way_choice choice = choose(&past, true);
        assert_true(choice.way == MERGE && !strcmp(choice.reason, "the other way failed"));
        assert_true(choose(&past, false).way == MERGE);
        took(&past, MERGE, true, 100);
    }
    assert_true(choose(&past, true).way == RELAUNCH);
    failed(&past, RELAUNCH); /* the second in a row: twice as long */
    for (int i = 0; i < 4; i++) {
        assert_true(choose(&past, true).way == MERGE);
        took(&past, MERGE, true, 100);
    }
    assert_true(choose(&past, true).way == RELAUNCH);
    for (int i = 0; i < 5; i++)
        failed(&past, RELAUNCH);
    for (int i = 0; i < 16; i++) {
        assert_true(choose(&past, true).way == MERGE);
        took(&past, MERGE, true, 100);
    }
    assert_true(choose(&past, true).way == RELAUNCH);
    took(&past, RELAUNCH, true, 40); /* it works again: forgotten */
    failed(&past, RELAUNCH);
    took(&past, MERGE, true, 100);
    took(&past, MERGE, true, 100);
    assert_true(choose(&past, true).way == RELAUNCH);
}

static void test_merging_fails_too(void **state)
{
    (void)state;
    struct past past = {.count = 0};
    failed(&past, MERGE);
    assert_true(choose(&past, true).way == RELAUNCH);
    failed(&past, RELAUNCH);
    assert_true(choose(&past, true).way == MERGE);
    failed(&past, MERGE);
    assert_true(choose(&past, true).way == RELAUNCH);
    assert_true(strstr(choose(&past, true).reason, "both"));
}

static void test_what_was_long_ago_is_measured_again(void **state)
{
    (void)state;
    struct past past = tried(100, 40);
    for (int i = 0; i < 15; i++) {
        assert_true(choose(&past, true).way == RELAUNCH);
        took(&past, RELAUNCH, true, 40);
    }
    assert_true(choose(&past, true).way == MERGE);
    took(&past, MERGE, true, 10); /* it is the cheaper one now, but one measure may be noise */
    assert_true(choose(&past, true).way == RELAUNCH);
}

static void test_another_amount_of_state_is_another_cost(void **state)
{
    (void)state;
    struct past past = tried(100, 40);
    took(&past, RELAUNCH, true, 400);
    past.samples[past.count - 1].bytes = 900000000;
    assert_true(choose(&past, true).way ==
                RELAUNCH); /* measured once with that much: to measure it */
    took(&past, RELAUNCH, true, 400);
    past.samples[past.count - 1].bytes = 800000000;
    assert_true(choose(&past, true).way == MERGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_are_tried_first),
        cmocka_unit_test(test_the_cheaper_one_is_taken),
        cmocka_unit_test(test_each_direction_by_itself),
        cmocka_unit_test(test_noise_changes_nothing),
        cmocka_unit_test(test_a_way_that_failed_is_left_alone),
        cmocka_unit_test(test_merging_fails_too),
        cmocka_unit_test(test_what_was_long_ago_is_measured_again),
        cmocka_unit_test(test_another_amount_of_state_is_another_cost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
