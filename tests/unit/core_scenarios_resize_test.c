/* How a resize goes and ends: a scenario for every row of docs/resize-contract.md about answers,
 * claims, deadlines and the application. Each row names its test here. */
#include "core_scenarios_hand.h"
#include "model/demand.h"

static bool seen[PLEAT_OUTCOME_COUNT];

static void expect(struct hand *h, uint32_t component, enum pleat_outcome outcome,
                   enum pleat_component_state state, int32_t processors)
{
    enum pleat_outcome got = hand_outcome(h);
    if (got != outcome)
        fail_msg("it ended as '%s', expected '%s'", pleat_outcome_name(got),
                 pleat_outcome_name(outcome));
    seen[outcome] = true;
    if (hand_component(h, component)->state != state)
        fail_msg("the job is %s, expected %s",
                 pleat_component_state_name(
                     (enum pleat_component_state)hand_component(h, component)->state),
                 pleat_component_state_name(state));
    assert_int_equal(hand_component(h, component)->processors, processors);
}

static struct pleat_effect claim_of(const struct hand *h)
{
    return hand_last(h, PLEAT_DO_CLAIM);
}

/* Its resize is the last one begun, and has that step. */
static void at_step(const struct hand *h, uint32_t component, enum pleat_resize_step step)
{
    assert_int_equal(hand_component(h, component)->state, PLEAT_RESIZING);
    assert_int_equal(pleat_core_resize(h->core, hand_component(h, component)->resize)->step, step);
}

/* ---- the straight ways ---- */

static void test_grow(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = hand_run(&h, 2, 10, 4);
    assert_int_equal(hand_resize(&h, component, 6, PLEAT_NONE), 0);
    at_step(&h, component, PLEAT_RESIZE_ACCEPTED);
    assert_int_equal(hand_count(&h, PLEAT_DO_RESIZE), 0); /* it computes on meanwhile */
    assert_int_equal(claim_of(&h).u.claim.count, 2);
    assert_int_equal(hand_claimed(&h, claim_of(&h), 2), 0);
    at_step(&h, component, PLEAT_RESIZE_GRANTED);
    assert_int_equal(hand_last(&h, PLEAT_DO_RESIZE).u.change.processes, 6);
    assert_int_equal(hand_component(&h, component)->processors, 4);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 6), 0);
    expect(&h, component, PLEAT_OUTCOME_GROWN, PLEAT_RUNNING, 6);
    assert_int_equal(hand_site(&h)->claimed, 6);
    hand_finish(&h);
}

static void test_shrink(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = hand_run(&h, 2, 10, 6);
    assert_int_equal(hand_demand(&h, component, 4, false), 0);
    at_step(&h, component, PLEAT_RESIZE_GRANTED);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 4), 0);
    at_step(&h, component, PLEAT_RESIZE_APPLIED);
    assert_int_equal(hand_component(&h, component)->processors, 4);
    assert_int_equal(hand_count(&h, PLEAT_DO_RELEASE), 0); /* leaving processes are still there */
    assert_int_equal(hand_site(&h)->claimed, 6);
    assert_int_equal(hand_change(&h, PLEAT_EV_VACATED, component, 4), 0);
    expect(&h, component, PLEAT_OUTCOME_SHRUNK, PLEAT_RUNNING, 4);
    assert_int_equal(hand_site(&h)->releasing, 2);
    assert_int_equal(hand_release_all(&h), 1);
    assert_int_equal(hand_site(&h)->claimed, 4);
    hand_finish(&h);
}

/* ---- answers ---- */

static void test_refused(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    h.flags = PLEAT_COMPONENT_ASKS;
    uint32_t component = hand_run(&h, 2, 10, 4);
    assert_int_equal(hand_resize(&h, component, 8, PLEAT_NONE), 0);
    at_step(&h, component, PLEAT_RESIZE_OFFERED);
    assert_int_equal(hand_count(&h, PLEAT_DO_ASK), 1);
    assert_int_equal(hand_count(&h, PLEAT_DO_CLAIM), 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_ANSWER, component, 4), 0);
    expect(&h, component, PLEAT_OUTCOME_REFUSED, PLEAT_RUNNING, 4);
    /* not asked again before the backoff is over */
    assert_int_equal(hand_component(&h, component)->quiet_until_us,
                     h.now_us + pleat_parameter_default(PLEAT_PARAM_BACKOFF_US));
    hand_finish(&h);
}

static void test_accepts_part(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    h.flags = PLEAT_COMPONENT_ASKS;
    uint32_t component = hand_run(&h, 2, 10, 4);
    assert_int_equal(hand_resize(&h, component, 8, PLEAT_NONE), 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_ANSWER, component, 6), 0);
    assert_int_equal(claim_of(&h).u.claim.count, 2);
    assert_int_equal(hand_claimed(&h, claim_of(&h), 2), 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 6), 0);
    expect(&h, component, PLEAT_OUTCOME_GROWN, PLEAT_RUNNING, 6);
    struct pleat_effect end = hand_last(&h, PLEAT_NOTE_RESIZE);
    assert_int_equal(end.u.change.offered, 4);
    assert_int_equal(end.u.change.accepted, 2);
    hand_finish(&h);
}

static void test_accepts_more_than_offered(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    h.flags = PLEAT_COMPONENT_ASKS;
    uint32_t component = hand_run(&h, 2, 10, 4);
    int32_t nonsense[] = {7, -1, 4000};
    for (int i = 0; i < 3; i++) {
        hand_mark(&h);
        assert_int_equal(hand_resize(&h, component, 6, PLEAT_NONE), 0);
        assert_int_equal(hand_change(&h, PLEAT_EV_ANSWER, component, nonsense[i]), 0);
        expect(&h, component, PLEAT_OUTCOME_BAD_ANSWER, PLEAT_RUNNING, 4);
        assert_int_equal(hand_count(&h, PLEAT_NOTE_WARNING), 1);
        assert_int_equal(hand_count(&h, PLEAT_DO_CLAIM), 0);
    }
    hand_finish(&h);
}

static void test_answers_twice(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    h.flags = PLEAT_COMPONENT_ASKS;
    uint32_t component = hand_run(&h, 2, 10, 4);
    assert_int_equal(hand_resize(&h, component, 8, PLEAT_NONE), 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_ANSWER, component, 6), 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_ANSWER, component, 8), 0);
    assert_int_equal(hand_count(&h, PLEAT_NOTE_WARNING), 1);
    assert_int_equal(hand_component(&h, component)->target, 6); /* the first stands */
    assert_int_equal(hand_count(&h, PLEAT_DO_CLAIM), 1);
    assert_int_equal(hand_claimed(&h, claim_of(&h), 2), 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 6), 0);
    expect(&h, component, PLEAT_OUTCOME_GROWN, PLEAT_RUNNING, 6);
    assert_int_equal(hand_change(&h, PLEAT_EV_ANSWER, component, 8), PLEAT_CORE_STALE);
    hand_finish(&h);
}

static void test_a_mandatory_shrink_cannot_be_refused(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    h.flags = PLEAT_COMPONENT_ASKS;
    uint32_t component = hand_run(&h, 2, 10, 8);
    assert_int_equal(hand_demand(&h, component, 4, true), 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_ANSWER, component, 8), 0);
    assert_int_equal(hand_count(&h, PLEAT_NOTE_WARNING), 1);
    at_step(&h, component, PLEAT_RESIZE_GRANTED);
    assert_int_equal(hand_last(&h, PLEAT_DO_RESIZE).u.change.processes, 4);
    hand_finish(&h);
}

/* What a user wants is no cap before the application has accepted it: a refusal is one. */
static void test_a_voluntary_shrink_that_its_user_wants(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    h.flags = PLEAT_COMPONENT_ASKS;
    uint32_t component = hand_run(&h, 2, 10, 8);
    const struct pleat_event demand = {.kind = PLEAT_EV_DEMAND,
                                       .flags = PLEAT_CAP_AS_ACCEPTED,
                                       .component = component,
                                       .u.demand.processors = 4};
    assert_int_equal(hand_feed(&h, demand), 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_ANSWER, component, 8), 0);
    /* nothing mandatory follows */
    expect(&h, component, PLEAT_OUTCOME_REFUSED, PLEAT_RUNNING, 8);
    assert_int_equal(hand_feed(&h, demand), 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_ANSWER, component, 6), 0);
    assert_int_equal(hand_last(&h, PLEAT_DO_RESIZE).u.change.processes, 6);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 6), 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_VACATED, component, 0), 0);
    expect(&h, component, PLEAT_OUTCOME_SHRUNK, PLEAT_RUNNING, 6);
    assert_int_equal(hand_component(&h, component)->cap, 6);
    hand_finish(&h);
}

static void test_not_answered_in_time(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    h.flags = PLEAT_COMPONENT_ASKS;
    uint32_t component = hand_run(&h, 2, 10, 4);
    assert_int_equal(hand_resize(&h, component, 8, PLEAT_NONE), 0);
    hand_sleep(&h, pleat_parameter_default(PLEAT_PARAM_ANSWER_US) - 1);
    at_step(&h, component, PLEAT_RESIZE_OFFERED);
    hand_sleep(&h, 1);
    expect(&h, component, PLEAT_OUTCOME_TIMED_OUT, PLEAT_RUNNING, 4);
    assert_int_equal(hand_change(&h, PLEAT_EV_ANSWER, component, 8), PLEAT_CORE_STALE);
    hand_finish(&h);
}

static void test_a_mandatory_shrink_not_answered_in_time(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    h.flags = PLEAT_COMPONENT_ASKS;
    uint32_t component = hand_run(&h, 2, 10, 8);
    assert_int_equal(hand_demand(&h, component, 4, true), 0);
    hand_sleep(&h, pleat_parameter_default(PLEAT_PARAM_ANSWER_US));
    at_step(&h, component, PLEAT_RESIZE_GRANTED); /* told without having been heard */
    hand_finish(&h);
}

/* ---- claims ---- */

static void test_the_claim_fails(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = hand_run(&h, 2, 10, 4);
    assert_int_equal(hand_resize(&h, component, 8, PLEAT_NONE), 0);
    assert_int_equal(hand_claim_failed(&h, claim_of(&h), PLEAT_REASON_CLAIM_REFUSED), 0);
    expect(&h, component, PLEAT_OUTCOME_CLAIM_FAILED, PLEAT_RUNNING, 4);
    assert_int_equal(hand_count(&h, PLEAT_DO_RESIZE), 0); /* the application never knew */
    assert_int_equal(hand_site(&h)->claimed, 4);
    assert_true(hand_site(&h)->quiet_until_us > h.now_us);
    hand_finish(&h);
}

static void test_the_claim_gives_less(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = hand_run(&h, 2, 10, 4);
    assert_int_equal(hand_resize(&h, component, 8, PLEAT_NONE), 0);
    assert_int_equal(hand_claimed(&h, claim_of(&h), 3), 0);
    assert_int_equal(hand_last(&h, PLEAT_DO_RESIZE).u.change.processes, 7);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 7), 0);
    expect(&h, component, PLEAT_OUTCOME_GROWN, PLEAT_RUNNING, 7);
    hand_finish(&h);
}

static void test_the_claim_gives_less_than_is_of_use(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 32);
    h.sizes_kind = PLEAT_SIZES_POWERS;
    uint32_t component = hand_run(&h, 2, 16, 4);
    assert_int_equal(hand_resize(&h, component, 16, PLEAT_NONE), 0);
    assert_int_equal(hand_claimed(&h, claim_of(&h), 5), 0); /* 8 can be used, 1 cannot */
    assert_int_equal(hand_last(&h, PLEAT_DO_RESIZE).u.change.processes, 8);
    assert_int_equal(hand_count(&h, PLEAT_DO_SPLIT), 1);
    assert_int_equal(hand_release_all(&h), 1);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 8), 0);
    expect(&h, component, PLEAT_OUTCOME_GROWN, PLEAT_RUNNING, 8);
    hand_mark(&h);
    assert_int_equal(hand_resize(&h, component, 16, PLEAT_NONE), 0);
    assert_int_equal(hand_claimed(&h, claim_of(&h), 5), 0); /* none can */
    expect(&h, component, PLEAT_OUTCOME_CLAIM_FAILED, PLEAT_RUNNING, 8);
    assert_int_equal(hand_release_all(&h), 1);
    assert_int_equal(hand_site(&h)->claimed, 8);
    hand_finish(&h);
}

static void test_not_claimed_in_time(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = hand_run(&h, 2, 10, 4);
    assert_int_equal(hand_resize(&h, component, 8, PLEAT_NONE), 0);
    hand_sleep(&h, pleat_parameter_default(PLEAT_PARAM_CLAIM_US));
    expect(&h, component, PLEAT_OUTCOME_TIMED_OUT, PLEAT_RUNNING, 4);
    assert_int_equal(hand_site(&h)->releasing, 4);
    /* the site's answer crosses: the release stands */
    assert_int_equal(hand_claimed(&h, claim_of(&h), 4), PLEAT_CORE_STALE);
    assert_int_equal(hand_release_all(&h), 1);
    assert_int_equal(hand_site(&h)->claimed, 4);
    hand_finish(&h);
}

/* ---- the application, told ---- */

static uint32_t granted(struct hand *h, int32_t from, int32_t to)
{
    uint32_t component = hand_run(h, 2, 20, from);
    assert_int_equal(hand_resize(h, component, to, PLEAT_NONE), 0);
    if (to > from)
        assert_int_equal(hand_claimed(h, claim_of(h), to - from), 0);
    at_step(h, component, PLEAT_RESIZE_GRANTED);
    hand_mark(h);
    return component;
}

static void test_not_applied_in_time(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = granted(&h, 4, 8);
    hand_sleep(&h, pleat_parameter_default(PLEAT_PARAM_APPLY_US));
    at_step(&h, component, PLEAT_RESIZE_WITHDRAWING);
    assert_int_equal(hand_count(&h, PLEAT_DO_WITHDRAW), 1);
    assert_int_equal(hand_site(&h)->releasing, 0); /* processes may yet come there */
    assert_int_equal(hand_change(&h, PLEAT_EV_WITHDRAWN, component, 0), 0);
    expect(&h, component, PLEAT_OUTCOME_TIMED_OUT, PLEAT_RUNNING, 4);
    assert_int_equal(hand_release_all(&h), 1);
    assert_int_equal(hand_site(&h)->claimed, 4);
    assert_int_equal(hand_change(&h, PLEAT_EV_WITHDRAWN, component, 0), PLEAT_CORE_STALE);
    hand_finish(&h);
}

static void test_the_withdrawal_crosses_applied(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = granted(&h, 4, 8);
    hand_sleep(&h, pleat_parameter_default(PLEAT_PARAM_APPLY_US));
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 8), 0);
    expect(&h, component, PLEAT_OUTCOME_GROWN, PLEAT_RUNNING, 8);
    assert_int_equal(hand_change(&h, PLEAT_EV_WITHDRAWN, component, 0), PLEAT_CORE_STALE);
    hand_finish(&h);
}

static void test_the_withdrawal_crosses_a_failure(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = granted(&h, 4, 8);
    hand_sleep(&h, pleat_parameter_default(PLEAT_PARAM_APPLY_US));
    assert_int_equal(hand_change(&h, PLEAT_EV_RESIZE_FAILED, component, 0), 0);
    expect(&h, component, PLEAT_OUTCOME_APP_FAILED, PLEAT_RUNNING, 4);
    hand_finish(&h);
}

static void test_stuck_in_the_resize(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = granted(&h, 4, 8);
    hand_sleep(&h, pleat_parameter_default(PLEAT_PARAM_APPLY_US));
    hand_sleep(&h, pleat_parameter_default(PLEAT_PARAM_STUCK_US));
    expect(&h, component, PLEAT_OUTCOME_STUCK, PLEAT_FINISHING, 4);
    assert_int_equal(hand_component(&h, component)->reason, PLEAT_REASON_STUCK);
    assert_int_equal(hand_count(&h, PLEAT_DO_KILL), 1);
    assert_int_equal(hand_site(&h)->releasing, 0); /* nothing goes back before it is gone */
    assert_int_equal(hand_exited(&h, component, 0), 0);
    assert_int_equal(hand_site(&h)->releasing, 8);
    assert_int_equal(hand_release_all(&h), 2);
    assert_int_equal(hand_component(&h, component)->state, PLEAT_FAILED);
    hand_finish(&h);
}

static void test_the_application_fails(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = granted(&h, 4, 8);
    assert_int_equal(hand_change(&h, PLEAT_EV_RESIZE_FAILED, component, 0), 0);
    expect(&h, component, PLEAT_OUTCOME_APP_FAILED, PLEAT_RUNNING, 4);
    assert_int_equal(hand_release_all(&h), 1);
    assert_int_equal(hand_site(&h)->claimed, 4);
    hand_finish(&h);
}

static void test_the_application_fails_a_mandatory_shrink(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = hand_run(&h, 2, 20, 8);
    assert_int_equal(hand_demand(&h, component, 4, true), 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_RESIZE_FAILED, component, 0), 0);
    expect(&h, component, PLEAT_OUTCOME_NOT_HONOURED, PLEAT_FINISHING, 8);
    hand_finish(&h);
}

static void test_the_application_fails_a_shrink_that_nobody_needs(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = granted(&h, 8, 4); /* a policy's, for no waiting job */
    assert_int_equal(hand_change(&h, PLEAT_EV_RESIZE_FAILED, component, 0), 0);
    expect(&h, component, PLEAT_OUTCOME_APP_FAILED, PLEAT_RUNNING, 8);
    hand_finish(&h);
}

static void test_a_mandatory_shrink_is_enforced(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = hand_run(&h, 2, 20, 8);
    assert_int_equal(hand_demand(&h, component, 4, true), 0);
    hand_enforce(&h);
    expect(&h, component, PLEAT_OUTCOME_NOT_HONOURED, PLEAT_FINISHING, 8);
    assert_int_equal(hand_component(&h, component)->reason, PLEAT_REASON_NOT_HONOURED);
    assert_int_equal(hand_count(&h, PLEAT_DO_KILL), 1);
    /* not gone: it is said again */
    hand_sleep(&h, pleat_parameter_default(PLEAT_PARAM_KILL_US));
    assert_int_equal(hand_count(&h, PLEAT_DO_KILL), 2);
    assert_int_equal(hand_exited(&h, component, 0), 0);
    assert_int_equal(hand_release_all(&h), 1);
    assert_int_equal(hand_component(&h, component)->state, PLEAT_FAILED);
    hand_finish(&h);
}

static void test_grows_by_less_than_granted(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = granted(&h, 4, 8);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 6), 0);
    expect(&h, component, PLEAT_OUTCOME_GROWN, PLEAT_RUNNING, 6);
    assert_int_equal(hand_site(&h)->releasing, 2);
    hand_finish(&h);
}

static void test_applies_its_old_size(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = granted(&h, 4, 8);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 4), 0);
    expect(&h, component, PLEAT_OUTCOME_APP_FAILED, PLEAT_RUNNING, 4);
    assert_int_equal(hand_site(&h)->releasing, 4);
    hand_finish(&h);
}

static void test_grows_beyond_what_was_granted(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = granted(&h, 4, 8);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 9), 0);
    expect(&h, component, PLEAT_OUTCOME_NOT_HONOURED, PLEAT_FINISHING, 4);
    hand_finish(&h);
}

static void test_shrinks_further_than_told(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = granted(&h, 8, 6);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 3), 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_VACATED, component, 3), 0);
    expect(&h, component, PLEAT_OUTCOME_SHRUNK, PLEAT_RUNNING, 3);
    assert_int_equal(hand_site(&h)->releasing, 5);
    hand_finish(&h);
}

static void test_shrinks_less_than_told(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = hand_run(&h, 2, 20, 8);
    assert_int_equal(hand_demand(&h, component, 4, true), 0);
    hand_mark(&h);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 6), 0); /* its deadline goes on */
    assert_int_equal(hand_count(&h, PLEAT_NOTE_WARNING), 1);
    at_step(&h, component, PLEAT_RESIZE_GRANTED);
    hand_enforce(&h);
    expect(&h, component, PLEAT_OUTCOME_NOT_HONOURED, PLEAT_FINISHING, 8);
    hand_finish(&h);
}

static void test_leaving_processes_do_not_leave(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = granted(&h, 8, 4);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 4), 0);
    hand_sleep(&h, pleat_parameter_default(PLEAT_PARAM_VACATE_US));
    expect(&h, component, PLEAT_OUTCOME_STUCK, PLEAT_FINISHING, 4);
    assert_int_equal(hand_site(&h)->releasing, 0);
    assert_int_equal(hand_exited(&h, component, 0), 0);
    assert_int_equal(hand_site(&h)->releasing, 8);
    hand_finish(&h);
}

static void test_applied_or_vacated_out_of_turn(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = granted(&h, 8, 4);
    assert_int_equal(hand_change(&h, PLEAT_EV_VACATED, component, 4),
                     0); /* before applied: a warning */
    assert_int_equal(hand_count(&h, PLEAT_NOTE_WARNING), 1);
    at_step(&h, component, PLEAT_RESIZE_GRANTED);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 4), 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 4), 0); /* twice: a warning */
    assert_int_equal(hand_count(&h, PLEAT_NOTE_WARNING), 2);
    assert_int_equal(hand_change(&h, PLEAT_EV_RESIZE_FAILED, component, 4),
                     0); /* too late: a warning */
    assert_int_equal(hand_count(&h, PLEAT_NOTE_WARNING), 3);
    assert_int_equal(hand_change(&h, PLEAT_EV_VACATED, component, 4), 0);
    expect(&h, component, PLEAT_OUTCOME_SHRUNK, PLEAT_RUNNING, 4);
    uint16_t kinds[] = {PLEAT_EV_APPLIED, PLEAT_EV_VACATED, PLEAT_EV_RESIZE_FAILED};
    for (int i = 0; i < 3; i++)
        assert_int_equal(hand_change(&h, kinds[i], component, 4), PLEAT_CORE_STALE);
    hand_finish(&h);
}

/* ---- the job ends meanwhile ---- */

static void test_ends_before_its_growth_is_claimed(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = hand_run(&h, 2, 10, 4);
    assert_int_equal(hand_resize(&h, component, 8, PLEAT_NONE), 0);
    assert_int_equal(hand_exited(&h, component, 0), 0);
    expect(&h, component, PLEAT_OUTCOME_JOB_ENDED, PLEAT_FINISHING, 4);
    assert_int_equal(hand_site(&h)->releasing, 8);
    assert_int_equal(hand_claimed(&h, claim_of(&h), 4), PLEAT_CORE_STALE); /* it crosses */
    assert_int_equal(hand_release_all(&h), 2);
    assert_int_equal(hand_component(&h, component)->state, PLEAT_DONE);
    assert_int_equal(hand_site(&h)->claimed, 0);
    hand_finish(&h);
}

static void test_ends_before_its_growth_is_applied(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = granted(&h, 4, 8);
    assert_int_equal(hand_exited(&h, component, 3), 0);
    expect(&h, component, PLEAT_OUTCOME_JOB_ENDED, PLEAT_FINISHING, 4);
    assert_int_equal(hand_release_all(&h), 2);
    assert_int_equal(hand_component(&h, component)->state, PLEAT_FAILED);
    assert_int_equal(hand_component(&h, component)->code, 3);
    assert_int_equal(hand_site(&h)->claimed, 0);
    hand_finish(&h);
}

static void test_ends_in_a_shrink(void **state)
{
    (void)state;
    for (int applied = 0; applied < 2; applied++) {
        struct hand h;
        hand_init(&h, 16);
        uint32_t component = granted(&h, 8, 4);
        if (applied)
            assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 4), 0);
        assert_int_equal(hand_exited(&h, component, 0), 0);
        expect(&h, component, PLEAT_OUTCOME_JOB_ENDED, PLEAT_FINISHING, applied ? 4 : 8);
        assert_int_equal(hand_site(&h)->releasing, 8);
        assert_int_equal(hand_site(&h)->coming, 0);
        hand_release_all(&h);
        assert_int_equal(hand_component(&h, component)->state, PLEAT_DONE);
        hand_finish(&h);
    }
}

/* ---- one at a time; and again ---- */

static void test_grow_while_shrinking(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = granted(&h, 8, 4);
    assert_int_equal(hand_demand(&h, component, 10, false), PLEAT_E_BUSY);
    assert_int_equal(hand_resize(&h, component, 10, PLEAT_NONE), PLEAT_E_STATE);
    assert_int_equal(hand_outcome(&h), PLEAT_OUTCOME_NONE);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 4), 0);
    assert_int_equal(hand_demand(&h, component, 10, false),
                     PLEAT_E_BUSY); /* processes still leave */
    assert_int_equal(hand_change(&h, PLEAT_EV_VACATED, component, 4), 0);
    assert_int_equal(hand_demand(&h, component, 10, false), 0);
    hand_finish(&h);
}

static void test_grow_back_onto_what_was_just_released(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t component = granted(&h, 8, 4);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 4), 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_VACATED, component, 4), 0);
    struct pleat_effect release = hand_last(&h, PLEAT_DO_RELEASE);
    /* on their way back they are nobody's */
    assert_int_equal(hand_demand(&h, component, 8, false), PLEAT_E_STATE);
    assert_int_equal(hand_release_all(&h), 1);
    assert_int_equal(hand_demand(&h, component, 8, false), 0);
    struct pleat_effect claim = claim_of(&h);
    assert_true(claim.id != release.id); /* a new claim, whatever slots it gets */
    struct pleat_event late = {
        .kind = PLEAT_EV_RELEASED, .component = release.u.claim.index, .u.claim.claim = release.id};
    assert_int_equal(hand_feed(&h, late), PLEAT_CORE_STALE);
    assert_int_equal(hand_claimed(&h, claim, 4), 0);
    assert_int_equal(hand_feed(&h, late), PLEAT_CORE_STALE);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 8), 0);
    expect(&h, component, PLEAT_OUTCOME_GROWN, PLEAT_RUNNING, 8);
    hand_finish(&h);
}

static void test_losing_the_growth_before_it_is_told(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = hand_run(&h, 2, 10, 4);
    assert_int_equal(hand_resize(&h, component, 8, PLEAT_NONE), 0);
    assert_int_equal(hand_lost(&h, claim_of(&h)), 0);
    expect(&h, component, PLEAT_OUTCOME_LOST, PLEAT_RUNNING, 4); /* nothing of the job was there */
    assert_int_equal(hand_site(&h)->claimed, 4);
    hand_finish(&h);
}

static void test_losing_the_growth_after_it_is_told(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = granted(&h, 4, 8);
    assert_int_equal(hand_lost(&h, claim_of(&h)), 0);
    expect(&h, component, PLEAT_OUTCOME_LOST, PLEAT_FINISHING, 4); /* processes may be there */
    assert_int_equal(hand_exited(&h, component, 0), 0);
    assert_int_equal(hand_release_all(&h), 2);
    assert_int_equal(hand_component(&h, component)->state,
                     PLEAT_CLAIMING); /* by no fault of its own: again */
    assert_int_equal(hand_component(&h, component)->attempt, 1);
    hand_finish(&h);
}

static void test_every_outcome_was_met(void **state)
{
    (void)state;
    seen[PLEAT_OUTCOME_RELAUNCHED] = true; /* core_scenarios_relaunch_test.c */
    seen[PLEAT_OUTCOME_NOT_NOW] = true;    /* core_scenarios_said_test.c */
    for (int o = PLEAT_OUTCOME_GROWN; o < PLEAT_OUTCOME_COUNT; o++)
        if (!seen[o])
            fail_msg("no scenario ends as '%s'", pleat_outcome_name((enum pleat_outcome)o));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grow),
        cmocka_unit_test(test_shrink),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_accepts_part),
        cmocka_unit_test(test_accepts_more_than_offered),
        cmocka_unit_test(test_answers_twice),
        cmocka_unit_test(test_a_mandatory_shrink_cannot_be_refused),
        cmocka_unit_test(test_a_voluntary_shrink_that_its_user_wants),
        cmocka_unit_test(test_not_answered_in_time),
        cmocka_unit_test(test_a_mandatory_shrink_not_answered_in_time),
        cmocka_unit_test(test_the_claim_fails),
        cmocka_unit_test(test_the_claim_gives_less),
        cmocka_unit_test(test_the_claim_gives_less_than_is_of_use),
        cmocka_unit_test(test_not_claimed_in_time),
        cmocka_unit_test(test_not_applied_in_time),
        cmocka_unit_test(test_the_withdrawal_crosses_applied),
        cmocka_unit_test(test_the_withdrawal_crosses_a_failure),
        cmocka_unit_test(test_stuck_in_the_resize),
        cmocka_unit_test(test_the_application_fails),
        cmocka_unit_test(test_the_application_fails_a_mandatory_shrink),
        cmocka_unit_test(test_the_application_fails_a_shrink_that_nobody_needs),
        cmocka_unit_test(test_a_mandatory_shrink_is_enforced),
        cmocka_unit_test(test_grows_by_less_than_granted),
        cmocka_unit_test(test_applies_its_old_size),
        cmocka_unit_test(test_grows_beyond_what_was_granted),
        cmocka_unit_test(test_shrinks_further_than_told),
        cmocka_unit_test(test_shrinks_less_than_told),
        cmocka_unit_test(test_leaving_processes_do_not_leave),
        cmocka_unit_test(test_applied_or_vacated_out_of_turn),
        cmocka_unit_test(test_ends_before_its_growth_is_claimed),
        cmocka_unit_test(test_ends_before_its_growth_is_applied),
        cmocka_unit_test(test_ends_in_a_shrink),
        cmocka_unit_test(test_grow_while_shrinking),
        cmocka_unit_test(test_grow_back_onto_what_was_just_released),
        cmocka_unit_test(test_losing_the_growth_before_it_is_told),
        cmocka_unit_test(test_losing_the_growth_after_it_is_told),
        cmocka_unit_test(test_every_outcome_was_met),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
