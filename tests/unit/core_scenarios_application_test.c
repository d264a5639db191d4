/* What an application says of itself while it runs: one test for each row of
 * docs/resize-contract.md, "What a program says of itself". */
#include "core_scenarios_hand.h"

static void limits_are(const struct hand *h, uint32_t component, int32_t minimum, int32_t maximum)
{
    assert_int_equal(hand_component(h, component)->minimum, minimum);
    assert_int_equal(hand_component(h, component)->maximum, maximum);
}

static int declares_so(struct hand *h, uint32_t component, int32_t least, int32_t most,
                       enum pleat_sizes_kind kind, int32_t parameter, uint16_t flags)
{
    struct pleat_event event = {.kind = PLEAT_EV_DECLARED,
                                .flags = flags,
                                .component = component,
                                .u.declared = {.run = hand_component(h, component)->run,
                                               .maximum = most,
                                               .minimum = least,
                                               .sizes_kind = kind,
                                               .sizes_parameter = parameter}};
    return hand_feed(h, event);
}

static int declares_all(struct hand *h, uint32_t component, int32_t least, int32_t most,
                        enum pleat_sizes_kind kind, int32_t parameter)
{
    return declares_so(h, component, least, most, kind, parameter, 0);
}

/* Its user wants it to wait again, and it is started again. */
static void runs_again(struct hand *h, uint32_t component, int32_t size)
{
    struct pleat_event requeue = {.kind = PLEAT_EV_REQUEUE, .component = component};
    assert_int_equal(hand_feed(h, requeue), 0);
    hand_exited(h, component, 143);
    hand_release_all(h);
    assert_int_equal(hand_claimed(h, hand_last(h, PLEAT_DO_CLAIM), size), 0);
    assert_int_equal(hand_started(h, component), 0);
    assert_int_equal(hand_component(h, component)->processors, size);
}

static void test_what_it_said_holds_for_its_next_run(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = hand_run(&h, 1, 12, 2);
    assert_int_equal(declares_so(&h, component, 3, 7, PLEAT_SIZES_MULTIPLES, 2, PLEAT_LASTING), 0);
    runs_again(&h, component, 4); /* the least that its program can use, not 2 */
    limits_are(&h, component, 3, 7);
    /* the next program says something else, of which nothing is to hold for the next run */
    assert_int_equal(declares_all(&h, component, 5, 0, PLEAT_SIZES_ANY, 0), 0);
    limits_are(&h, component, 5, 12);
    runs_again(&h, component, 2);
    limits_are(&h, component, 1, 12);
    /* what no site can give is forgotten, too: it would wait for ever */
    assert_int_equal(hand_limits(&h, component, 1, 40), 0);
    assert_int_equal(declares_so(&h, component, 20, 0, PLEAT_SIZES_ANY, 0, PLEAT_LASTING), 0);
    limits_are(&h, component, 20, 40);
    runs_again(&h, component, 2);
    limits_are(&h, component, 1, 40);
    hand_finish(&h);
}

static void test_an_application_that_needs_more(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = hand_run(&h, 1, 8, 6);
    assert_int_equal(declares_all(&h, component, 4, 0, PLEAT_SIZES_ANY, 0), 0);
    limits_are(&h, component, 4, 8);
    assert_true(hand_resize(&h, component, 3, PLEAT_NONE) < 0);              /* no policy may */
    assert_int_equal(hand_demand(&h, component, 3, false), PLEAT_E_INVALID); /* nor its user */
    assert_int_equal(declares_all(&h, component, 7, 0, PLEAT_SIZES_ANY, 0), 0);
    limits_are(&h, component, 7, 8); /* it has fewer, and only grows */
    assert_true(hand_component(&h, component)->below);
    assert_true(hand_resize(&h, component, 5, PLEAT_NONE) < 0);
    assert_int_equal(hand_resize(&h, component, 7, PLEAT_NONE), 0);
    assert_int_equal(hand_claimed(&h, hand_last(&h, PLEAT_DO_CLAIM), 1), 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 7), 0);
    assert_false(hand_component(&h, component)->below);
    assert_int_equal(hand_limits(&h, component, 2, 6), 0); /* its user's maximum holds */
    limits_are(&h, component, 6, 6);
    assert_int_equal(hand_limits(&h, component, 1, 8), 0);
    assert_int_equal(declares_all(&h, component, 0, 0, PLEAT_SIZES_ANY, 0), 0);
    limits_are(&h, component, 1, 8);
    hand_finish(&h);
}

static void test_an_application_that_has_sizes(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = hand_run(&h, 1, 12, 7);
    assert_int_equal(declares_all(&h, component, 0, 0, PLEAT_SIZES_POWERS, 0), 0);
    assert_int_equal(hand_last(&h, PLEAT_DO_RESIZE).u.change.processors, 4); /* it cannot use 7 */
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 4), 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_VACATED, component, 4), 0);
    hand_release_all(&h);
    hand_expect(&h, component, PLEAT_OUTCOME_SHRUNK, PLEAT_RUNNING, 4);
    assert_true(hand_resize(&h, component, 6, PLEAT_NONE) < 0);
    assert_int_equal(hand_demand(&h, component, 6, false), PLEAT_E_INVALID);
    assert_int_equal(declares_all(&h, component, 0, 0, PLEAT_SIZES_POWERS, 0), PLEAT_CORE_STALE);
    assert_int_equal(declares_all(&h, component, 0, 0, PLEAT_SIZES_MULTIPLES, 0),
                     PLEAT_CORE_STALE); /* no such sizes */
    assert_int_equal(declares_all(&h, component, 0, 0, PLEAT_SIZES_LIST, 7), PLEAT_CORE_STALE);
    assert_int_equal(declares_all(&h, component, 0, 0, PLEAT_SIZES_MULTIPLES, 3), 0);
    assert_int_equal(hand_last(&h, PLEAT_DO_RESIZE).u.change.processors, 3);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 3), 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_VACATED, component, 3), 0);
    assert_int_equal(declares_all(&h, component, 0, 0, PLEAT_SIZES_ANY, 0), 0);
    assert_int_equal(hand_component(&h, component)->sizes_kind, PLEAT_SIZES_ANY);
    hand_finish(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_application_that_needs_more),
        cmocka_unit_test(test_an_application_that_has_sizes),
        cmocka_unit_test(test_what_it_said_holds_for_its_next_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
