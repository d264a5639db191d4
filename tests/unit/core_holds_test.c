/* What keeps a waiting job out of the queue: its user, other jobs, its group; and what users change
 * while it waits. */
#include "core_scenarios_hand.h"

static void is(const struct hand *h, uint32_t component, enum pleat_component_state state)
{
    assert_string_equal(
        pleat_component_state_name((enum pleat_component_state)hand_component(h, component)->state),
        pleat_component_state_name(state));
}

static int feed(struct hand *h, uint16_t kind, uint32_t component, uint16_t flags)
{
    return hand_feed(h, (struct pleat_event){.kind = kind, .component = component, .flags = flags});
}

static int depend(struct hand *h, uint32_t component, uint32_t on, enum pleat_condition condition,
                  uint16_t flags)
{
    return hand_feed(h, (struct pleat_event){.kind = PLEAT_EV_DEPEND,
                                             .component = component,
                                             .flags = flags,
                                             .u.depend = {.component = on,
                                                          .job = hand_component(h, on)->job,
                                                          .condition = condition}});
}

static int revise(struct hand *h, uint32_t component, uint16_t flags, int16_t priority, int64_t us)
{
    return hand_feed(h,
                     (struct pleat_event){.kind = PLEAT_EV_REVISE,
                                          .component = component,
                                          .flags = flags,
                                          .u.revise = {.priority = priority, .estimate_us = us}});
}

/* A job that waits since all processors are taken by another one. */
static uint32_t waits(struct hand *h)
{
    uint32_t component = hand_submit(h, PLEAT_RIGID, 8, 8, 0);
    is(h, component, PLEAT_QUEUED);
    return component;
}

/* It ends, and all that it had is given back. */
static void end(struct hand *h, uint32_t component, int code)
{
    assert_int_equal(hand_exited(h, component, code), 0);
    hand_release_all(h);
}

static void starts(struct hand *h, uint32_t component)
{
    is(h, component, PLEAT_CLAIMING);
    assert_int_equal(hand_claimed(h, hand_last(h, PLEAT_DO_CLAIM), 8), 0);
    assert_int_equal(hand_started(h, component), 0);
}

static void test_a_held_job_waits_beside_the_queue(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t first = hand_run(&h, 8, 8, 8), held = waits(&h), next = waits(&h);
    assert_int_equal(feed(&h, PLEAT_EV_HOLD, held, 0), 0);
    assert_int_equal(feed(&h, PLEAT_EV_HOLD, held, 0), PLEAT_E_STATE);
    assert_int_equal(pleat_core_view(h.core)->queue_first, next);
    end(&h, first, 0);
    is(&h, held, PLEAT_QUEUED);
    starts(&h, next);
    assert_int_equal(feed(&h, PLEAT_EV_HOLD, next, 0), PLEAT_E_STATE); /* it runs */
    uint32_t last = waits(&h);
    assert_int_equal(feed(&h, PLEAT_EV_RELEASE, held, 0), 0); /* behind those that wait */
    assert_int_equal(pleat_core_view(h.core)->queue_first, last);
    assert_int_equal(feed(&h, PLEAT_EV_RELEASE, held, 0), PLEAT_E_STATE);
    assert_int_equal(feed(&h, PLEAT_EV_HOLD, last, 0), 0);
    end(&h, next, 0);
    starts(&h, held);
    assert_int_equal(hand_cancel(&h, last), 0); /* a held one can be cancelled */
    is(&h, last, PLEAT_CANCELLED);
    hand_finish(&h);
}

static void test_a_job_starts_after_the_end_of_another(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t first = hand_run(&h, 8, 8, 8), ok = waits(&h);
    uint32_t any = waits(&h), not_ok = waits(&h), after_cancelled = waits(&h);
    assert_int_equal(depend(&h, ok, first, PLEAT_AFTER_OK, 0), 0);
    assert_int_equal(depend(&h, any, first, PLEAT_AFTER_ANY, 0), 0);
    assert_int_equal(depend(&h, not_ok, first, PLEAT_AFTER_NOT_OK, 0), 0);
    assert_int_equal(depend(&h, after_cancelled, ok, PLEAT_AFTER_NOT_OK, 0), 0);
    assert_int_equal(depend(&h, ok, any, PLEAT_AFTER_ANY, 0), PLEAT_E_INVALID); /* a younger one */
    assert_int_equal(depend(&h, ok, ok, PLEAT_AFTER_ANY, 0), PLEAT_E_INVALID);
    assert_int_equal(pleat_core_view(h.core)->queue_count, 0);
    assert_int_equal(hand_exited(&h, first, 3), 0);
    is(&h, any, PLEAT_QUEUED); /* not before all that it had is given back */
    assert_int_equal(pleat_core_view(h.core)->queue_count, 0);
    hand_release_all(&h);
    is(&h, ok, PLEAT_CANCELLED);
    assert_int_equal(hand_component(&h, ok)->reason, PLEAT_REASON_DEPENDENCY);
    is(&h, any, PLEAT_CLAIMING);
    is(&h, not_ok, PLEAT_QUEUED);
    assert_int_equal(hand_component(&h, not_ok)->holds, 0);
    assert_int_equal(hand_component(&h, after_cancelled)->holds, 0);
    hand_finish(&h);
}

static void test_all_of_several_or_any(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t one = hand_run(&h, 8, 8, 8), other = waits(&h), all = waits(&h), any = waits(&h),
             never = waits(&h);
    assert_int_equal(depend(&h, all, one, PLEAT_AFTER_OK, 0), 0);
    assert_int_equal(depend(&h, all, other, PLEAT_AFTER_ANY, 0), 0);
    assert_int_equal(depend(&h, any, one, PLEAT_AFTER_NOT_OK, PLEAT_ANY_NEED), 0);
    assert_int_equal(depend(&h, any, other, PLEAT_AFTER_NOT_OK, 0), PLEAT_E_INVALID);
    assert_int_equal(depend(&h, any, other, PLEAT_AFTER_NOT_OK, PLEAT_ANY_NEED), 0);
    assert_int_equal(depend(&h, never, one, PLEAT_AFTER_NOT_OK, PLEAT_ANY_NEED), 0);
    end(&h, one, 0);
    assert_int_equal(hand_component(&h, all)->holds, PLEAT_HELD_BY_JOBS);
    assert_int_equal(hand_component(&h, any)->holds, PLEAT_HELD_BY_JOBS);
    is(&h, never, PLEAT_CANCELLED); /* the last that it could have waited for */
    starts(&h, other);
    assert_int_equal(hand_cancel(&h, other), 0);
    end(&h, other, 0);
    assert_int_equal(hand_component(&h, all)->holds, 0);
    assert_int_equal(hand_component(&h, any)->holds, 0);
    hand_finish(&h);
}

static void test_a_failure_that_is_tried_again_is_no_end(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t first = hand_run(&h, 8, 8, 8), next = waits(&h), after_start = waits(&h);
    assert_int_equal(depend(&h, next, first, PLEAT_AFTER_ANY, 0), 0);
    assert_int_equal(depend(&h, after_start, first, PLEAT_AFTER_START, 0), 0);
    assert_int_equal(hand_component(&h, after_start)->holds, 0); /* it has started */
    assert_int_equal(feed(&h, PLEAT_EV_HOLD, after_start, 0), 0);
    assert_int_equal(hand_ended(&h, PLEAT_EV_EXITED, first, PLEAT_REASON_LOST), 0);
    hand_release_all(&h);
    is(&h, first, PLEAT_CLAIMING);
    assert_int_equal(hand_component(&h, next)->holds, PLEAT_HELD_BY_JOBS);
    starts(&h, first);
    end(&h, first, 0);
    starts(&h, next);
    hand_finish(&h);
}

static void test_a_dependency_on_what_has_ended_is_decided_at_once(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t ended = hand_run(&h, 8, 8, 8);
    end(&h, ended, 1);
    uint32_t busy = hand_run(&h, 8, 8, 8), met = waits(&h), unmet = waits(&h);
    assert_int_equal(depend(&h, met, ended, PLEAT_AFTER_ANY, 0), 0);
    assert_int_equal(hand_component(&h, met)->holds, 0);
    assert_int_equal(depend(&h, unmet, ended, PLEAT_AFTER_OK, 0), 0);
    is(&h, unmet, PLEAT_CANCELLED);
    assert_int_equal(feed(&h, PLEAT_EV_FORGET, ended, 0), 0);
    assert_int_equal(depend(&h, met, ended, PLEAT_AFTER_ANY, 0), PLEAT_E_NOTFOUND);
    is(&h, busy, PLEAT_RUNNING);
    hand_finish(&h);
}

static void test_a_long_chain_is_cancelled(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t before = hand_run(&h, 8, 8, 8), first = before;
    for (int i = 0; i < 300; i++) {
        uint32_t next = waits(&h);
        assert_int_equal(depend(&h, next, before, PLEAT_AFTER_OK, 0), 0);
        before = next;
    }
    end(&h, first, 1);
    is(&h, before, PLEAT_CANCELLED);
    assert_int_equal(pleat_core_view(h.core)->queue_count, 0);
    hand_finish(&h);
}

static void test_needs_are_dropped(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t first = hand_run(&h, 8, 8, 8), component = waits(&h);
    assert_int_equal(depend(&h, component, first, PLEAT_AFTER_OK, 0), 0);
    assert_int_equal(feed(&h, PLEAT_EV_HOLD, component, 0), 0);
    assert_int_equal(feed(&h, PLEAT_EV_RELEASE, component, PLEAT_RELEASE_NEEDS), 0);
    assert_int_equal(hand_component(&h, component)->holds, PLEAT_HELD_BY_USER);
    assert_int_equal(feed(&h, PLEAT_EV_RELEASE, component, PLEAT_RELEASE_NEEDS), PLEAT_E_STATE);
    end(&h, first, 1); /* nothing to it any more */
    is(&h, component, PLEAT_QUEUED);
    hand_finish(&h);
}

static void test_a_requeued_job_waits_behind_all_others(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t component = hand_run(&h, 8, 8, 8), next = waits(&h);
    assert_int_equal(feed(&h, PLEAT_EV_REQUEUE, next, 0), PLEAT_E_STATE);
    assert_int_equal(feed(&h, PLEAT_EV_REQUEUE, component, 0), 0);
    is(&h, component, PLEAT_FINISHING);
    assert_int_equal(hand_last(&h, PLEAT_DO_KILL).u.run.reason, PLEAT_REASON_REQUEUED);
    end(&h, component, 0); /* even though it could end well */
    is(&h, component, PLEAT_QUEUED);
    assert_int_equal(hand_component(&h, component)->attempt, 0);
    starts(&h, next);
    assert_int_equal(feed(&h, PLEAT_EV_REQUEUE, next, PLEAT_AND_HOLD), 0);
    end(&h, next, 0);
    is(&h, next, PLEAT_QUEUED);
    assert_int_equal(hand_component(&h, next)->holds, PLEAT_HELD_BY_USER);
    starts(&h, component);
    assert_int_equal(feed(&h, PLEAT_EV_REQUEUE, component, 0), 0);
    assert_int_equal(hand_cancel(&h, component), 0); /* its user thinks again */
    end(&h, component, 0);
    is(&h, component, PLEAT_CANCELLED);
    hand_finish(&h);
}

static void test_priority_and_estimate_are_revised(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    hand_policy(&h, PLEAT_ORDER, "priority");
    uint32_t first = hand_run(&h, 8, 8, 8), one = waits(&h), other = waits(&h);
    assert_int_equal(revise(&h, other, PLEAT_REVISE_PRIORITY, 5, 0), 0);
    assert_int_equal(pleat_core_view(h.core)->queue_first, other);
    assert_int_equal(revise(&h, one, PLEAT_REVISE_ESTIMATE, 7, 30 * SECONDS), 0);
    assert_int_equal(hand_component(&h, one)->estimate_us, 30 * SECONDS);
    assert_int_equal(hand_component(&h, one)->priority, 0);
    assert_int_equal(revise(&h, one, 0, 0, 0), PLEAT_E_INVALID);
    assert_int_equal(revise(&h, one, PLEAT_REVISE_ESTIMATE, 0, -1), PLEAT_E_INVALID);
    assert_int_equal(revise(&h, first, PLEAT_REVISE_PRIORITY, 1, 0), PLEAT_E_STATE);
    hand_finish(&h);
}

static int group(struct hand *h, uint32_t component, uint32_t group, int32_t limit)
{
    return hand_feed(h, (struct pleat_event){.kind = PLEAT_EV_GROUP,
                                             .component = component,
                                             .u.group = {.group = group, .limit = limit}});
}

static void test_so_many_of_a_group_at_one_time(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t first = hand_run(&h, 8, 8, 8), component[4];
    uint32_t number = pleat_core_next_group(h.core);
    for (int i = 0; i < 4; i++) {
        component[i] = waits(&h);
        assert_int_equal(group(&h, component[i], number, 2), 0);
    }
    assert_int_equal(group(&h, component[0], number, 2), PLEAT_E_INVALID); /* it is one already */
    assert_int_equal(group(&h, first, number, 2), PLEAT_E_STATE);
    assert_int_equal(hand_component(&h, component[1])->holds, 0);
    assert_int_equal(hand_component(&h, component[2])->holds, PLEAT_HELD_BY_GROUP);
    assert_int_equal(feed(&h, PLEAT_EV_HOLD, component[0], 0), 0); /* its place is the next one's */
    assert_int_equal(hand_component(&h, component[2])->holds, 0);
    assert_int_equal(feed(&h, PLEAT_EV_RELEASE, component[0], 0), 0); /* and it stands in line */
    assert_int_equal(hand_component(&h, component[0])->holds, PLEAT_HELD_BY_GROUP);
    assert_int_equal(hand_cancel(&h, component[1]), 0);
    assert_int_equal(hand_component(&h, component[3])->holds, 0);
    assert_int_equal(hand_component(&h, component[0])->holds, PLEAT_HELD_BY_GROUP);
    assert_int_equal(hand_cancel(&h, component[0]), 0);
    assert_int_equal(pleat_core_view(h.core)->queue_count, 2);
    assert_int_equal(hand_cancel(&h, component[2]), 0);
    assert_int_equal(hand_cancel(&h, component[3]), 0);
    assert_int_equal(pleat_core_next_group(h.core), number); /* it is nobody's any more */
    hand_finish(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_held_job_waits_beside_the_queue),
        cmocka_unit_test(test_a_job_starts_after_the_end_of_another),
        cmocka_unit_test(test_all_of_several_or_any),
        cmocka_unit_test(test_a_failure_that_is_tried_again_is_no_end),
        cmocka_unit_test(test_a_dependency_on_what_has_ended_is_decided_at_once),
        cmocka_unit_test(test_a_long_chain_is_cancelled),
        cmocka_unit_test(test_needs_are_dropped),
        cmocka_unit_test(test_a_requeued_job_waits_behind_all_others),
        cmocka_unit_test(test_priority_and_estimate_are_revised),
        cmocka_unit_test(test_so_many_of_a_group_at_one_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
