/* Folding: more processes than processors; and preempting, which it competes with. */
#include "core_scenarios_hand.h"

#include <string.h>

static void is(const struct hand *hand, uint32_t component, enum pleat_component_state state)
{
    assert_string_equal(pleat_component_state_name(
                            (enum pleat_component_state)hand_component(hand, component)->state),
                        pleat_component_state_name(state));
}

static int submit(struct hand *h, uint16_t flags, enum pleat_job_kind kind, int32_t minimum,
                  int32_t maximum, uint8_t mpl_max)
{
    uint32_t component = pleat_core_next_component(h->core);
    struct pleat_event event = {.kind = PLEAT_EV_SUBMIT,
                                .flags = flags,
                                .component = component,
                                .u.submit = {.job = component + 1,
                                             .minimum = minimum,
                                             .maximum = maximum,
                                             .site = PLEAT_NONE,
                                             .sizes_kind = PLEAT_SIZES_POWERS,
                                             .job_kind = (uint8_t)kind,
                                             .job_class = PLEAT_CLASS_LONG,
                                             .mpl_max = mpl_max}};
    return hand_feed(h, event);
}

static uint32_t submit_folding(struct hand *h, int32_t minimum, int32_t maximum, uint8_t mpl_max)
{
    uint32_t component = pleat_core_next_component(h->core);
    assert_int_equal(submit(h, PLEAT_COMPONENT_FOLDS, PLEAT_MALLEABLE, minimum, maximum, mpl_max),
                     0);
    return component;
}

static void start(struct hand *h, uint32_t component, int32_t size)
{
    assert_int_equal(hand_claimed(h, hand_last(h, PLEAT_DO_CLAIM), size), 0);
    assert_int_equal(hand_started(h, component), 0);
    is(h, component, PLEAT_RUNNING);
}

static void gone(struct hand *h, uint32_t component)
{
    assert_int_equal(hand_ended(h, PLEAT_EV_EXITED, component, PLEAT_REASON_EXIT), 0);
    hand_release_all(h);
}

/* 32 processes, at most 4 on a processor, on 16 processors. */
static uint32_t run_folded(struct hand *h)
{
    hand_init(h, 16);
    uint32_t component = submit_folding(h, 4, 32, 0);
    assert_int_equal(hand_claimed(h, hand_last(h, PLEAT_DO_CLAIM), 16), 0);
    assert_int_equal(hand_started(h, component), 0);
    is(h, component, PLEAT_RUNNING);
    return component;
}

static void check_folded(const struct hand *h, uint32_t component, int32_t processors,
                         int32_t processes)
{
    assert_int_equal(hand_component(h, component)->processors, processors);
    assert_int_equal(hand_component(h, component)->processes, processes);
    struct pleat_effect size = hand_last(h, PLEAT_NOTE_SIZE);
    assert_int_equal(size.u.run.processors, processors);
    assert_int_equal(size.u.run.processes, processes);
}

static void test_starts_with_more_processes_than_processors(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = run_folded(&h);
    struct pleat_effect start = hand_last(&h, PLEAT_DO_START);
    assert_int_equal(start.u.run.processors, 16);
    assert_int_equal(start.u.run.processes, 32);
    check_folded(&h, component, 16, 32);
    assert_int_equal(hand_component(&h, component)->mpl, 4);
    assert_int_equal(hand_component(&h, component)->job_class, PLEAT_CLASS_LONG);
    assert_int_equal(hand_site(&h)->claimed, 16);
    assert_int_equal(hand_site(&h)->reclaimable, 8); /* down to 32 / 4 */
    hand_finish(&h);
}

static void test_a_resize_changes_only_the_processors(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = run_folded(&h);
    hand_mark(&h);
    assert_int_equal(hand_resize(&h, component, 11, PLEAT_NONE), 0); /* no power of two */
    struct pleat_effect order = hand_last(&h, PLEAT_DO_RESIZE);
    assert_int_equal(order.u.change.processors, 11);
    assert_int_equal(order.u.change.processes, 32);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 11), 0);
    check_folded(&h, component, 11, 32);
    assert_int_equal(hand_change(&h, PLEAT_EV_VACATED, component, 11), 0);
    hand_expect(&h, component, PLEAT_OUTCOME_SHRUNK, PLEAT_RUNNING, 11);
    hand_release_all(&h);
    assert_int_equal(hand_resize(&h, component, 13, PLEAT_NONE), 0);
    assert_int_equal(hand_claimed(&h, hand_last(&h, PLEAT_DO_CLAIM), 2), 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 13), 0);
    hand_expect(&h, component, PLEAT_OUTCOME_GROWN, PLEAT_RUNNING, 13);
    check_folded(&h, component, 13, 32);
    hand_finish(&h);
}

static void test_folds_no_further_than_its_mpl(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = run_folded(&h);
    assert_int_equal(hand_resize(&h, component, 7, PLEAT_NONE),
                     PLEAT_E_STATE); /* 5 on one of them */
    assert_int_equal(hand_demand(&h, component, 7, true), PLEAT_E_INVALID);
    assert_non_null(strstr(h.err.text, "32 processes"));
    assert_int_equal(hand_demand(&h, component, 0, true), PLEAT_E_INVALID);
    assert_int_equal(hand_demand(&h, component, 33, false), PLEAT_E_INVALID);
    assert_int_equal(hand_demand(&h, component, 8, true), 0);
    hand_at_step(&h, component, PLEAT_RESIZE_GRANTED);
    hand_finish(&h);
}

static void test_one_processor_for_each_process_is_the_most(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 64);
    uint32_t component = submit_folding(&h, 4, 32, 0);
    struct pleat_effect claim = hand_last(&h, PLEAT_DO_CLAIM);
    assert_int_equal(claim.u.claim.count, 32);
    assert_int_equal(hand_claimed(&h, claim, 32), 0);
    assert_int_equal(hand_started(&h, component), 0);
    check_folded(&h, component, 32, 32);
    assert_int_equal(hand_site(&h)->growers, 0);
    assert_int_equal(hand_resize(&h, component, 33, PLEAT_NONE), PLEAT_E_STATE);
    hand_finish(&h);
}

static void test_its_user_says_how_far_it_folds(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 5);
    uint32_t component = submit_folding(&h, 4, 32, 2);
    struct pleat_effect claim = hand_last(&h, PLEAT_DO_CLAIM);
    assert_int_equal(claim.u.claim.count, 5); /* 8 processes: 16 would be 4 on one */
    assert_int_equal(hand_component(&h, component)->processes, 8);
    assert_int_equal(hand_component(&h, component)->mpl, 2);
    hand_finish(&h);
}

static void test_the_configuration_says_how_far_at_most(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 4);
    hand_parameter(&h, PLEAT_PARAM_MPL_MAX, 2);
    uint32_t component = submit_folding(&h, 4, 32, 4);
    assert_int_equal(hand_component(&h, component)->processes, 8);
    assert_int_equal(hand_component(&h, component)->mpl, 2);
    struct pleat_event none = {.kind = PLEAT_EV_PARAMETER,
                               .component = PLEAT_NONE,
                               .u.parameter = {.which = PLEAT_PARAM_MPL_MAX, .value = 0}};
    assert_int_equal(hand_feed(&h, none), PLEAT_E_INVALID);
    hand_finish(&h);
}

static int set_partition(struct hand *h, uint32_t component, int32_t minimum, int32_t maximum,
                         uint32_t mpl)
{
    struct pleat_event event = {
        .kind = PLEAT_EV_PARTITION,
        .component = component,
        .u.partition = {.minimum = minimum, .maximum = maximum, .mpl = mpl}};
    return hand_feed(h, event);
}

/* It waits behind one that has the machine. */
static uint32_t wait_folding(struct hand *h, uint32_t *other)
{
    hand_init(h, 16);
    *other = hand_submit(h, PLEAT_RIGID, 16, 16, 0);
    start(h, *other, 16);
    return submit_folding(h, 4, 32, 0);
}

static void test_its_partition_has_limits_of_its_own(void **state)
{
    (void)state;
    struct hand h;
    uint32_t other, component = wait_folding(&h, &other);
    assert_int_equal(set_partition(&h, component, 9, 12, 0), 0);
    gone(&h, other);
    start(&h, component, 12); /* 16 are free */
    check_folded(&h, component, 12, 32);
    assert_int_equal(hand_site(&h)->reclaimable, 3); /* its MPL would let it have 8 */
    assert_int_equal(hand_demand(&h, component, 13, false), PLEAT_E_INVALID);
    assert_non_null(strstr(h.err.text, "9 to 12"));
    assert_int_equal(hand_demand(&h, component, 8, true), PLEAT_E_INVALID);
    assert_int_equal(hand_resize(&h, component, 8, PLEAT_NONE), PLEAT_E_STATE);
    assert_int_equal(hand_resize(&h, component, 13, PLEAT_NONE), PLEAT_E_STATE);
    assert_int_equal(hand_demand(&h, component, 9, true), 0);
    hand_at_step(&h, component, PLEAT_RESIZE_GRANTED);
    hand_finish(&h);
}

static void test_it_starts_at_the_level_asked_for(void **state)
{
    (void)state;
    struct hand h;
    uint32_t other, component = wait_folding(&h, &other);
    assert_int_equal(set_partition(&h, component, 0, 0, 3), 0);
    gone(&h, other);
    start(&h, component, 11); /* 32 processes, 3 on one */
    check_folded(&h, component, 11, 32);
    assert_int_equal(hand_resize(&h, component, 16, PLEAT_NONE), 0); /* and grows as others do */
    hand_finish(&h);
}

static void test_limits_of_a_partition_change_while_it_runs(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = run_folded(&h);
    assert_int_equal(set_partition(&h, component, 0, 10, 0), 0);
    hand_at_step(&h, component, PLEAT_RESIZE_GRANTED);
    assert_int_equal(hand_last(&h, PLEAT_DO_RESIZE).u.change.processors, 10);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 10), 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_VACATED, component, 10), 0);
    hand_expect(&h, component, PLEAT_OUTCOME_SHRUNK, PLEAT_RUNNING, 10);
    check_folded(&h, component, 10, 32);
    hand_finish(&h);
}

static void test_limits_of_a_partition_that_make_no_sense(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = run_folded(&h);
    assert_int_equal(set_partition(&h, component, 0, 7, 0), PLEAT_E_STATE); /* 5 on one of them */
    assert_int_equal(set_partition(&h, component, 17, 0, 0), PLEAT_E_STATE);
    assert_non_null(strstr(h.err.text, "grow it first"));
    assert_int_equal(set_partition(&h, component, 9, 8, 0), PLEAT_E_INVALID);
    assert_int_equal(set_partition(&h, component, -1, 8, 0), PLEAT_E_INVALID);
    assert_int_equal(set_partition(&h, component, 0, 0, 256), PLEAT_E_INVALID);
    check_folded(&h, component, 16, 32);
    uint32_t waits = submit_folding(&h, 32, 32, 0);
    assert_int_equal(set_partition(&h, waits, 17, 0, 0), PLEAT_E_TOOBIG); /* there are 16 */
    assert_int_equal(set_partition(&h, waits, 0, 7, 0), PLEAT_E_INVALID); /* no start on them */
    uint32_t rigid = hand_submit(&h, PLEAT_RIGID, 1, 1, 0);
    assert_int_equal(set_partition(&h, rigid, 0, 1, 0), PLEAT_E_STATE);
    hand_finish(&h);
}

static void test_what_cannot_fold(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    assert_int_equal(submit(&h, PLEAT_COMPONENT_FOLDS, PLEAT_RIGID, 4, 4, 0), PLEAT_E_INVALID);
    assert_int_equal(submit(&h, PLEAT_COMPONENT_FOLDS, PLEAT_MOLDABLE, 1, 4, 0), PLEAT_E_INVALID);
    assert_int_equal(
        submit(&h, PLEAT_COMPONENT_FOLDS | PLEAT_COMPONENT_EMPTY, PLEAT_MALLEABLE, 0, 4, 0),
        PLEAT_E_INVALID);
    /* 128 processes need 32 processors at least */
    assert_int_equal(submit(&h, PLEAT_COMPONENT_FOLDS, PLEAT_MALLEABLE, 128, 128, 0),
                     PLEAT_E_TOOBIG);
    assert_int_equal(submit(&h, PLEAT_COMPONENT_FOLDS, PLEAT_MALLEABLE, 64, 128, 0), 0);
    hand_finish(&h);
}

static void test_a_start_with_fewer_processors_keeps_its_processes(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = submit_folding(&h, 4, 32, 0);
    assert_int_equal(hand_claimed(&h, hand_last(&h, PLEAT_DO_CLAIM), 9), 0);
    assert_int_equal(hand_started(&h, component), 0);
    check_folded(&h, component, 9, 32);
    hand_finish(&h);
}

static void test_a_start_with_too_few_processors_waits_again(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = submit_folding(&h, 32, 32, 0);
    assert_int_equal(hand_claimed(&h, hand_last(&h, PLEAT_DO_CLAIM), 7), 0);
    /* what it got is earmarked for it, and it starts again at once with the rest */
    is(&h, component, PLEAT_CLAIMING);
    assert_int_equal(hand_last(&h, PLEAT_DO_CLAIM).u.claim.count, 9);
    assert_int_equal(hand_claimed(&h, hand_last(&h, PLEAT_DO_CLAIM), 9), 0);
    assert_int_equal(hand_started(&h, component), 0);
    check_folded(&h, component, 16, 32);
    hand_finish(&h);
}

static void test_limits_of_processes_change_only_before_the_start(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = run_folded(&h);
    assert_int_equal(hand_limits(&h, component, 4, 16), PLEAT_E_STATE);
    uint32_t waits = submit_folding(&h, 4, 32, 0);
    is(&h, waits, PLEAT_QUEUED);
    assert_int_equal(hand_limits(&h, waits, 0, 16), PLEAT_E_STATE);
    assert_int_equal(hand_limits(&h, waits, 4, 16), 0);
    assert_int_equal(hand_exited(&h, component, 0), 0);
    hand_release_all(&h);
    is(&h, waits, PLEAT_CLAIMING);
    assert_int_equal(hand_component(&h, waits)->processes, 16);
    hand_finish(&h);
}

static void test_room_is_made_by_folding(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = run_folded(&h);
    hand_policy(&h, PLEAT_MALLEABILITY, "fpsma");
    uint32_t rigid = hand_submit(&h, PLEAT_RIGID, 6, 6, 0);
    hand_at_step(&h, component, PLEAT_RESIZE_GRANTED);
    assert_int_equal(hand_last(&h, PLEAT_DO_RESIZE).u.change.processors, 10);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 10), 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_VACATED, component, 10), 0);
    assert_int_equal(hand_started(&h, rigid), 0);
    is(&h, rigid, PLEAT_RUNNING);
    check_folded(&h, rigid, 6, 6);
    assert_int_equal(hand_exited(&h, rigid, 0), 0);
    hand_release_all(&h);
    hand_at_step(&h, component, PLEAT_RESIZE_ACCEPTED); /* and spreads out again */
    hand_finish(&h);
}

/* ---- preempting ---- */

static int preempt(struct hand *h, uint32_t component)
{
    struct pleat_event event = {.kind = PLEAT_EV_PREEMPT, .component = component};
    return hand_feed(h, event);
}

static void test_who_is_preempted_waits_at_his_old_place(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    hand_policy(&h, PLEAT_QUEUE, "scan");
    uint32_t first = hand_submit(&h, PLEAT_RIGID, 6, 6, 0);
    start(&h, first, 6);
    uint32_t large = hand_submit(&h, PLEAT_RIGID, 8, 8, 0);
    uint32_t overtakes = hand_submit(&h, PLEAT_RIGID, 2, 2, 0);
    start(&h, overtakes, 2);
    uint32_t last = hand_submit(&h, PLEAT_RIGID, 2, 2, 0);
    assert_int_equal(preempt(&h, overtakes), 0);
    is(&h, overtakes, PLEAT_FINISHING);
    assert_int_equal(hand_last(&h, PLEAT_DO_KILL).u.run.reason, PLEAT_REASON_PREEMPTED);
    assert_int_equal(hand_site(&h)->claimed, 8); /* until its processes are gone */
    hand_policy(&h, PLEAT_QUEUE, "fcfs");
    gone(&h, overtakes);
    is(&h, overtakes, PLEAT_QUEUED);
    assert_int_equal(hand_site(&h)->claimed, 6);
    const struct pleat_view *view = pleat_core_view(h.core);
    assert_int_equal(view->queue_first, large);
    assert_int_equal(hand_component(&h, large)->next,
                     overtakes); /* behind it, and before the last */
    assert_int_equal(hand_component(&h, overtakes)->next, last);
    assert_int_equal(hand_component(&h, overtakes)->preempted, 1);
    assert_int_equal(hand_component(&h, overtakes)->attempt, 0); /* nothing of it failed */
    hand_finish(&h);
}

static void test_nobody_is_preempted_for_ever(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    hand_parameter(&h, PLEAT_PARAM_PREEMPTIONS, 2);
    uint32_t component = hand_submit(&h, PLEAT_RIGID, 8, 8, 0);
    for (int i = 0; i < 2; i++) {
        start(&h, component, 8);
        assert_int_equal(preempt(&h, component), 0);
        gone(&h, component);
        is(&h, component, PLEAT_CLAIMING); /* nobody else waits: it starts again */
    }
    start(&h, component, 8);
    assert_int_equal(preempt(&h, component), PLEAT_E_STATE);
    assert_int_equal(hand_exited(&h, component, 0), 0);
    hand_release_all(&h);
    is(&h, component, PLEAT_DONE);
    hand_finish(&h);
}

static void test_who_cannot_be_preempted(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t component = hand_submit(&h, PLEAT_RIGID, 8, 8, 0);
    assert_int_equal(preempt(&h, component), PLEAT_E_STATE); /* does not run yet */
    start(&h, component, 8);
    assert_int_equal(hand_exited(&h, component, 0), 0);
    assert_int_equal(preempt(&h, component), PLEAT_E_STATE); /* has ended */
    hand_release_all(&h);
    uint32_t malleable = hand_run(&h, 2, 8, 8);
    assert_int_equal(hand_demand(&h, malleable, 4, false), 0);
    assert_int_equal(preempt(&h, malleable), PLEAT_E_STATE); /* in a resize */
    hand_finish(&h);
}

static void test_cancelled_while_it_is_preempted(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t component = hand_submit(&h, PLEAT_RIGID, 8, 8, 0);
    start(&h, component, 8);
    assert_int_equal(preempt(&h, component), 0);
    assert_int_equal(hand_cancel(&h, component), 0);
    gone(&h, component);
    is(&h, component, PLEAT_CANCELLED);
    assert_int_equal(hand_site(&h)->claimed, 0);
    hand_finish(&h);
}

static void test_a_folded_one_that_is_preempted_chooses_anew(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = run_folded(&h);
    uint32_t rigid = hand_submit(&h, PLEAT_RIGID, 8, 8, 0);
    hand_policy(&h, PLEAT_ORDER, "priority");
    assert_int_equal(preempt(&h, component), 0);
    gone(&h, component);
    is(&h, component, PLEAT_CLAIMING); /* it stands in front of the other */
    is(&h, rigid, PLEAT_QUEUED);
    assert_int_equal(hand_component(&h, component)->processes, 32);
    hand_finish(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_starts_with_more_processes_than_processors),
        cmocka_unit_test(test_a_resize_changes_only_the_processors),
        cmocka_unit_test(test_folds_no_further_than_its_mpl),
        cmocka_unit_test(test_one_processor_for_each_process_is_the_most),
        cmocka_unit_test(test_its_user_says_how_far_it_folds),
        cmocka_unit_test(test_the_configuration_says_how_far_at_most),
        cmocka_unit_test(test_what_cannot_fold),
        cmocka_unit_test(test_its_partition_has_limits_of_its_own),
        cmocka_unit_test(test_it_starts_at_the_level_asked_for),
        cmocka_unit_test(test_limits_of_a_partition_change_while_it_runs),
        cmocka_unit_test(test_limits_of_a_partition_that_make_no_sense),
        cmocka_unit_test(test_a_start_with_fewer_processors_keeps_its_processes),
        cmocka_unit_test(test_a_start_with_too_few_processors_waits_again),
        cmocka_unit_test(test_limits_of_processes_change_only_before_the_start),
        cmocka_unit_test(test_room_is_made_by_folding),
        cmocka_unit_test(test_who_is_preempted_waits_at_his_old_place),
        cmocka_unit_test(test_nobody_is_preempted_for_ever),
        cmocka_unit_test(test_who_cannot_be_preempted),
        cmocka_unit_test(test_cancelled_while_it_is_preempted),
        cmocka_unit_test(test_a_folded_one_that_is_preempted_chooses_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
