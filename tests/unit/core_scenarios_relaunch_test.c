/* A resize that cannot go on, of a job that can be ended and started again from its last state: a
 * scenario for every row of docs/resize-contract.md about relaunching. */
#include "core_scenarios_hand.h"

/* A job that can be relaunched, at a site of `capacity` processors. */
static uint32_t running(struct hand *h, int32_t capacity, int32_t size)
{
    hand_init(h, capacity);
    h->flags = PLEAT_COMPONENT_RELAUNCHES;
    return hand_run(h, 2, 20, size);
}

/* Such a job, told to go from one size to another. */
static uint32_t told(struct hand *h, int32_t from, int32_t to)
{
    uint32_t component = running(h, 16, from);
    assert_int_equal(hand_resize(h, component, to, PLEAT_NONE), 0);
    if (to > from)
        assert_int_equal(hand_claimed(h, hand_last(h, PLEAT_DO_CLAIM), to - from), 0);
    hand_at_step(h, component, PLEAT_RESIZE_GRANTED);
    hand_mark(h);
    return component;
}

/* The same, told by its user, who may not be refused. */
static uint32_t demanded(struct hand *h, int32_t from, int32_t to)
{
    uint32_t component = running(h, 16, from);
    assert_int_equal(hand_demand(h, component, to, true), 0);
    hand_at_step(h, component, PLEAT_RESIZE_GRANTED);
    hand_mark(h);
    return component;
}

static void stuck(struct hand *h, uint32_t component)
{
    hand_sleep(h, pleat_parameter_default(PLEAT_PARAM_APPLY_US));
    hand_at_step(h, component, PLEAT_RESIZE_WITHDRAWING);
    hand_sleep(h, pleat_parameter_default(PLEAT_PARAM_STUCK_US));
}

/* Checks that the job is being relaunched on `processors`, for `cause`, and that no job is killed.
 */
static void relaunching(struct hand *h, uint32_t component, int32_t processors,
                        enum pleat_reason cause)
{
    hand_at_step(h, component, PLEAT_RESIZE_RELAUNCHING);
    struct pleat_effect effect = hand_last(h, PLEAT_DO_RELAUNCH);
    assert_int_equal(effect.component, component);
    assert_true(effect.u.change.run == hand_component(h, component)->run);
    assert_int_equal(effect.u.change.processors, processors);
    assert_int_equal(effect.u.change.processes, processors);
    assert_int_equal(effect.u.change.reason, cause);
    struct pleat_effect note = hand_last(h, PLEAT_NOTE_RESIZE);
    assert_int_equal(note.u.change.step, PLEAT_RESIZE_RELAUNCHING);
    assert_int_equal(note.u.change.outcome, PLEAT_OUTCOME_NONE);
    assert_int_equal(note.u.change.reason, cause);
    assert_int_equal(hand_count(h, PLEAT_DO_KILL), 0);
    assert_int_equal(hand_site(h)->releasing, 0); /* the old processes may be anywhere */
}

/* It runs again, from its state. */
static void goes_on(struct hand *h, uint32_t component, int32_t processors)
{
    assert_int_equal(hand_relaunched(h, component, processors, true), 0);
    hand_expect(h, component, PLEAT_OUTCOME_RELAUNCHED, PLEAT_RUNNING, processors);
}

static void all_given_back(struct hand *h)
{
    hand_release_all(h);
    assert_int_equal(hand_site(h)->claimed, 0);
    assert_int_equal(hand_site(h)->coming, 0);
    assert_int_equal(pleat_core_next_deadline(h->core), PLEAT_NEVER);
}

/* ---- why, and at which size ---- */

static void test_a_stuck_growth_is_relaunched_at_its_old_size(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = told(&h, 4, 8);
    stuck(&h, component);
    relaunching(&h, component, 4, PLEAT_REASON_STUCK);
    assert_int_equal(hand_component(&h, component)->target, 4);
    assert_int_equal(hand_site(&h)->claimed, 8);
    goes_on(&h, component, 4);
    assert_int_equal(hand_site(&h)->releasing, 4); /* now the new ones go back */
    assert_int_equal(hand_count(&h, PLEAT_NOTE_WARNING), 0);
    assert_int_equal(hand_component(&h, component)->relaunches, 1);
    hand_finish(&h);
}

static void test_a_stuck_shrink_is_relaunched_at_its_new_size(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = told(&h, 8, 4);
    stuck(&h, component);
    relaunching(&h, component, 4, PLEAT_REASON_STUCK);
    goes_on(&h, component, 4);
    assert_int_equal(hand_site(&h)->releasing, 4);
    assert_int_equal(hand_site(&h)->coming, 0);
    hand_finish(&h);
}

static void test_a_mandatory_shrink_is_enforced_by_a_relaunch(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = demanded(&h, 8, 4);
    hand_enforce(&h);
    relaunching(&h, component, 4, PLEAT_REASON_NOT_HONOURED);
    goes_on(&h, component, 4);
    assert_int_equal(hand_site(&h)->releasing, 4);
    hand_finish(&h);
}

static void test_a_failed_mandatory_shrink_is_relaunched(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = demanded(&h, 8, 4);
    assert_int_equal(hand_change(&h, PLEAT_EV_RESIZE_FAILED, component, 0), 0);
    relaunching(&h, component, 4, PLEAT_REASON_NOT_HONOURED);
    goes_on(&h, component, 4);
    hand_finish(&h);
}

static void test_room_is_made_by_a_relaunch(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = running(&h, 8, 8);
    uint32_t waiter = hand_submit(&h, PLEAT_RIGID, 4, 4, 0);
    assert_int_equal(hand_resize(&h, component, 4, waiter), 0);
    hand_enforce(&h);
    relaunching(&h, component, 4, PLEAT_REASON_NOT_HONOURED);
    assert_int_equal(hand_component(&h, waiter)->coming, 4);
    hand_mark(&h);
    goes_on(&h, component, 4);
    assert_int_equal(hand_component(&h, waiter)->state, PLEAT_CLAIMING); /* on what was freed */
    assert_int_equal(hand_count(&h, PLEAT_DO_CLAIM) + hand_count(&h, PLEAT_DO_RELEASE), 0);
    hand_finish(&h);
}

static void test_leaving_processes_are_ended_by_a_relaunch(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = told(&h, 8, 4);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 4), 0);
    hand_sleep(&h, pleat_parameter_default(PLEAT_PARAM_VACATE_US));
    relaunching(&h, component, 4, PLEAT_REASON_STUCK);
    goes_on(&h, component, 4);
    assert_int_equal(hand_site(&h)->releasing, 4);
    hand_finish(&h);
}

static void test_running_on_more_than_granted_is_relaunched(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = told(&h, 4, 8);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 9), 0);
    relaunching(&h, component, 8, PLEAT_REASON_NOT_HONOURED); /* what it was granted it may have */
    goes_on(&h, component, 8);
    assert_int_equal(hand_site(&h)->claimed, 8);
    assert_int_equal(hand_site(&h)->releasing, 0);
    hand_finish(&h);
}

static void test_growing_to_fewer_is_relaunched(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = told(&h, 4, 8);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 3), 0);
    relaunching(&h, component, 4, PLEAT_REASON_NOT_HONOURED);
    goes_on(&h, component, 4);
    assert_int_equal(hand_site(&h)->releasing, 4);
    hand_finish(&h);
}

static void test_broken_in_a_growth(void **state)
{
    (void)state;
    for (int withdrawing = 0; withdrawing < 2; withdrawing++) {
        struct hand h;
        uint32_t component = told(&h, 4, 8);
        if (withdrawing)
            hand_sleep(&h, pleat_parameter_default(PLEAT_PARAM_APPLY_US));
        assert_int_equal(hand_ended(&h, PLEAT_EV_EXITED, component, PLEAT_REASON_BROKEN), 0);
        relaunching(&h, component, 4, PLEAT_REASON_BROKEN);
        goes_on(&h, component, 4);
        assert_int_equal(hand_site(&h)->releasing, 4);
        hand_finish(&h);
    }
}

static void test_broken_in_a_shrink(void **state)
{
    (void)state;
    for (int applied = 0; applied < 2; applied++) {
        struct hand h;
        uint32_t component = told(&h, 8, 4);
        if (applied)
            assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 4), 0);
        assert_int_equal(hand_ended(&h, PLEAT_EV_EXITED, component, PLEAT_REASON_BROKEN), 0);
        relaunching(&h, component, 4, PLEAT_REASON_BROKEN);
        goes_on(&h, component, 4);
        assert_int_equal(hand_site(&h)->releasing, 4);
        hand_finish(&h);
    }
}

/* It was started again, and dies before it goes on: the resize of before is over by then. */
static void test_broken_before_it_went_on(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = told(&h, 4, 8);
    stuck(&h, component);
    assert_int_equal(hand_relaunched(&h, component, 4, true), 0);
    struct pleat_effect first = hand_last(&h, PLEAT_DO_RELAUNCH);
    assert_int_equal(hand_release_all(&h), 1);
    hand_mark(&h);
    assert_int_equal(hand_ended(&h, PLEAT_EV_EXITED, component, PLEAT_REASON_BROKEN), 0);
    relaunching(&h, component, 4, PLEAT_REASON_BROKEN);
    assert_true(hand_last(&h, PLEAT_DO_RELAUNCH).id != first.id); /* it is another one */
    goes_on(&h, component, 4);
    assert_int_equal(hand_site(&h)->claimed, 4);
    assert_int_equal(hand_component(&h, component)->relaunches, 2);
    hand_finish(&h);
}

/* They die between two resizes, and its agent has a copy from which it can go on: as often as a run
 * is relaunched at all. */
static void test_broken_between_resizes(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = running(&h, 16, 4);
    int64_t allowed = pleat_parameter_default(PLEAT_PARAM_RELAUNCHES);
    for (int64_t i = 1; i <= allowed; i++) {
        hand_mark(&h);
        assert_int_equal(hand_ended(&h, PLEAT_EV_EXITED, component, PLEAT_REASON_BROKEN), 0);
        relaunching(&h, component, 4, PLEAT_REASON_BROKEN);
        goes_on(&h, component, 4);
        assert_int_equal(hand_component(&h, component)->relaunches, i);
    }
    assert_int_equal(hand_ended(&h, PLEAT_EV_EXITED, component, PLEAT_REASON_BROKEN), 0);
    assert_int_equal(hand_component(&h, component)->state, PLEAT_FINISHING);
    assert_int_equal(hand_component(&h, component)->reason, PLEAT_REASON_BROKEN);
    hand_finish(&h);
}

/* ... and the next growth is already being claimed. */
static void test_broken_before_the_next_resize_is_told(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = running(&h, 16, 4);
    assert_int_equal(hand_resize(&h, component, 8, PLEAT_NONE), 0);
    struct pleat_effect claim = hand_last(&h, PLEAT_DO_CLAIM);
    assert_int_equal(hand_ended(&h, PLEAT_EV_EXITED, component, PLEAT_REASON_BROKEN), 0);
    hand_at_step(&h, component, PLEAT_RESIZE_RELAUNCHING);
    assert_int_equal(hand_outcome(&h), PLEAT_OUTCOME_APP_FAILED); /* of the growth */
    assert_int_equal(hand_site(&h)->releasing, 4);
    assert_int_equal(hand_last(&h, PLEAT_DO_RELAUNCH).u.change.processors, 4);
    assert_int_equal(hand_claimed(&h, claim, 4), PLEAT_CORE_STALE);
    goes_on(&h, component, 4);
    hand_finish(&h);
}

/* ---- what comes of it ---- */

static void test_relaunched_from_its_beginning(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = told(&h, 4, 8);
    stuck(&h, component);
    assert_int_equal(hand_relaunched(&h, component, 4, false), 0);
    hand_expect(&h, component, PLEAT_OUTCOME_RELAUNCHED, PLEAT_RUNNING, 4);
    assert_int_equal(hand_count(&h, PLEAT_NOTE_WARNING), 1);
    assert_int_equal(hand_last(&h, PLEAT_NOTE_WARNING).u.change.outcome, PLEAT_OUTCOME_RELAUNCHED);
    hand_finish(&h);
}

static void test_not_relaunched_in_time(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = told(&h, 4, 8);
    stuck(&h, component);
    hand_sleep(&h, pleat_parameter_default(PLEAT_PARAM_RELAUNCH_US));
    hand_expect(&h, component, PLEAT_OUTCOME_STUCK, PLEAT_FINISHING, 4);
    assert_int_equal(hand_component(&h, component)->reason, PLEAT_REASON_STUCK);
    assert_int_equal(hand_count(&h, PLEAT_DO_KILL), 1);
    assert_int_equal(hand_relaunched(&h, component, 4, true), PLEAT_CORE_STALE);
    assert_int_equal(hand_site(&h)->releasing, 0);
    assert_int_equal(hand_exited(&h, component, 0), 0);
    assert_int_equal(hand_site(&h)->releasing, 8);
    all_given_back(&h);
    assert_int_equal(hand_component(&h, component)->state, PLEAT_FAILED);
    hand_finish(&h);
}

static void test_nobody_can_relaunch_it(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = told(&h, 4, 8);
    stuck(&h, component);
    struct pleat_event failed = {
        .kind = PLEAT_EV_RESIZE_FAILED,
        .flags = PLEAT_NO_RELAUNCH,
        .component = component,
        .u.change = {.resize =
                         pleat_core_resize(h.core, hand_component(&h, component)->resize)->id}};
    assert_int_equal(hand_feed(&h, failed), 0);
    hand_expect(&h, component, PLEAT_OUTCOME_JOB_ENDED, PLEAT_FINISHING, 4);
    assert_int_equal(hand_count(&h, PLEAT_DO_KILL), 1); /* the old processes are still there */
    assert_int_equal(hand_site(&h)->releasing, 0);
    assert_int_equal(hand_feed(&h, failed), PLEAT_CORE_STALE);
    assert_int_equal(hand_exited(&h, component, 0), 0);
    all_given_back(&h);
    assert_int_equal(hand_component(&h, component)->state, PLEAT_FAILED);
    assert_int_equal(hand_component(&h, component)->attempt, 0);
    hand_finish(&h);
}

static void test_relaunched_at_another_size(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = told(&h, 8, 4);
    stuck(&h, component);
    assert_int_equal(hand_relaunched(&h, component, 5, true), 0);
    hand_expect(&h, component, PLEAT_OUTCOME_NOT_HONOURED, PLEAT_FINISHING, 8);
    assert_int_equal(hand_count(&h, PLEAT_DO_KILL), 1);
    hand_finish(&h);
}

static void test_words_of_the_old_processes_are_ignored(void **state)
{
    (void)state;
    static const uint16_t kinds[] = {PLEAT_EV_ANSWER, PLEAT_EV_APPLIED, PLEAT_EV_VACATED,
                                     PLEAT_EV_RESIZE_FAILED, PLEAT_EV_WITHDRAWN};
    struct hand h;
    uint32_t component = told(&h, 4, 8);
    stuck(&h, component);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        assert_int_equal(hand_change(&h, kinds[i], component, 8), PLEAT_CORE_STALE);
    hand_at_step(&h, component, PLEAT_RESIZE_RELAUNCHING);
    assert_int_equal(hand_relaunched(&h, component, 4, true), 0);
    assert_int_equal(hand_relaunched(&h, component, 4, true), PLEAT_CORE_STALE);
    hand_expect(&h, component, PLEAT_OUTCOME_RELAUNCHED, PLEAT_RUNNING, 4);
    hand_finish(&h);
}

static void test_relaunched_when_nobody_asked(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = told(&h, 4, 8);
    assert_int_equal(hand_relaunched(&h, component, 4, true), 0);
    assert_int_equal(hand_count(&h, PLEAT_NOTE_WARNING), 1);
    hand_at_step(&h, component, PLEAT_RESIZE_GRANTED);
    hand_finish(&h);
}

static void test_exits_while_relaunched(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = told(&h, 8, 4);
    stuck(&h, component);
    assert_int_equal(hand_exited(&h, component, 0), 0); /* it was done, after all */
    hand_expect(&h, component, PLEAT_OUTCOME_JOB_ENDED, PLEAT_FINISHING, 8);
    all_given_back(&h);
    assert_int_equal(hand_component(&h, component)->state, PLEAT_DONE);
    hand_finish(&h);
}

static void test_cannot_be_started_again(void **state)
{
    (void)state;
    for (int system = 0; system < 2; system++) {
        struct hand h;
        uint32_t component = told(&h, 4, 8);
        stuck(&h, component);
        assert_int_equal(hand_ended(&h, PLEAT_EV_START_FAILED, component,
                                    system ? PLEAT_REASON_START_SYSTEM : PLEAT_REASON_START_USER),
                         0);
        hand_expect(&h, component, PLEAT_OUTCOME_JOB_ENDED, PLEAT_FINISHING, 4);
        assert_int_equal(hand_release_all(&h), 2);
        /* the node's fault: queued again, from its beginning */
        assert_int_equal(hand_component(&h, component)->state,
                         system ? PLEAT_CLAIMING : PLEAT_FAILED);
        hand_finish(&h);
    }
}

static void test_broken_again_while_relaunched(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = told(&h, 4, 8);
    int64_t allowed = pleat_parameter_default(PLEAT_PARAM_RELAUNCHES);
    stuck(&h, component);
    for (int64_t i = 1; i < allowed; i++) {
        assert_int_equal(hand_ended(&h, PLEAT_EV_EXITED, component, PLEAT_REASON_BROKEN), 0);
        relaunching(&h, component, 4, PLEAT_REASON_BROKEN);
        assert_int_equal(hand_count(&h, PLEAT_DO_RELAUNCH), i + 1);
    }
    assert_int_equal(hand_ended(&h, PLEAT_EV_EXITED, component, PLEAT_REASON_BROKEN), 0);
    hand_expect(&h, component, PLEAT_OUTCOME_JOB_ENDED, PLEAT_FINISHING, 4);
    assert_int_equal(hand_count(&h, PLEAT_DO_RELAUNCH), allowed);
    all_given_back(&h);
    assert_int_equal(hand_component(&h, component)->state, PLEAT_FAILED);
    assert_int_equal(hand_component(&h, component)->reason, PLEAT_REASON_BROKEN);
    hand_finish(&h);
}

static void test_losing_processors_while_relaunched(void **state)
{
    (void)state;
    for (int node = 0; node < 2; node++) { /* a claim is lost; the agent is */
        struct hand h;
        uint32_t component = told(&h, 4, 8);
        struct pleat_effect growth = hand_last(&h, PLEAT_DO_CLAIM);
        stuck(&h, component);
        if (node) {
            assert_int_equal(hand_ended(&h, PLEAT_EV_EXITED, component, PLEAT_REASON_LOST), 0);
            hand_expect(&h, component, PLEAT_OUTCOME_JOB_ENDED, PLEAT_FINISHING, 4);
        } else {
            assert_int_equal(hand_lost(&h, growth), 0);
            hand_expect(&h, component, PLEAT_OUTCOME_LOST, PLEAT_FINISHING, 4);
            assert_int_equal(hand_count(&h, PLEAT_DO_KILL), 1);
            assert_int_equal(hand_exited(&h, component, 0), 0);
        }
        assert_int_equal(hand_release_all(&h), 2);
        assert_int_equal(hand_component(&h, component)->state, PLEAT_CLAIMING); /* again */
        assert_int_equal(hand_component(&h, component)->attempt, 1);
        hand_finish(&h);
    }
}

static void test_cancelled_while_relaunched(void **state)
{
    (void)state;
    for (int broken = 0; broken < 2; broken++) {
        struct hand h;
        uint32_t component = told(&h, 4, 8);
        if (broken)
            assert_int_equal(hand_ended(&h, PLEAT_EV_EXITED, component, PLEAT_REASON_BROKEN), 0);
        else
            stuck(&h, component);
        assert_int_equal(hand_cancel(&h, component), 0);
        hand_expect(&h, component, PLEAT_OUTCOME_JOB_ENDED, PLEAT_FINISHING, 4);
        assert_int_equal(hand_count(&h, PLEAT_DO_KILL), 1);
        assert_int_equal(hand_site(&h)->releasing, 0); /* something may just have been started */
        assert_int_equal(hand_relaunched(&h, component, 4, true), PLEAT_CORE_STALE);
        assert_int_equal(hand_exited(&h, component, 0), 0);
        all_given_back(&h);
        assert_int_equal(hand_component(&h, component)->state, PLEAT_CANCELLED);
        hand_finish(&h);
    }
}

static void test_the_maximum_falls_while_relaunched(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = told(&h, 4, 8);
    stuck(&h, component);
    assert_int_equal(hand_limits(&h, component, 2, 3), 0);
    relaunching(&h, component, 4, PLEAT_REASON_STUCK); /* what is under way ends first */
    assert_int_equal(hand_relaunched(&h, component, 4, true), 0);
    assert_int_equal(hand_outcome(&h), PLEAT_OUTCOME_RELAUNCHED);
    hand_at_step(&h, component, PLEAT_RESIZE_GRANTED);
    assert_int_equal(hand_last(&h, PLEAT_DO_RESIZE).u.change.processes, 3);
    hand_finish(&h);
}

static void test_the_waiter_is_cancelled_while_relaunched(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = running(&h, 8, 8);
    uint32_t waiter = hand_submit(&h, PLEAT_RIGID, 4, 4, 0);
    assert_int_equal(hand_resize(&h, component, 4, waiter), 0);
    hand_enforce(&h);
    assert_int_equal(hand_cancel(&h, waiter), 0);
    hand_at_step(&h, component,
                 PLEAT_RESIZE_RELAUNCHING); /* its processes are being ended already */
    assert_int_equal(hand_site(&h)->coming, 4);
    goes_on(&h, component, 4);
    assert_int_equal(hand_site(&h)->releasing, 4);
    hand_finish(&h);
}

/* ---- how often, and for whom ---- */

static void test_relaunched_too_often(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = told(&h, 4, 8);
    int64_t allowed = pleat_parameter_default(PLEAT_PARAM_RELAUNCHES), quiet_us = 0;
    for (int64_t i = 0; i < allowed; i++) {
        stuck(&h, component);
        assert_int_equal(hand_relaunched(&h, component, 4, true), 0);
        /* it is not soon offered processors again: an offer is why it was relaunched */
        assert_true(hand_component(&h, component)->quiet_until_us - h.now_us >= 16 * quiet_us);
        quiet_us = hand_component(&h, component)->quiet_until_us - h.now_us;
        hand_release_all(&h);
        assert_int_equal(hand_resize(&h, component, 8, PLEAT_NONE), 0);
        assert_int_equal(hand_claimed(&h, hand_last(&h, PLEAT_DO_CLAIM), 4), 0);
    }
    assert_true(quiet_us > pleat_parameter_default(PLEAT_PARAM_BACKOFF_US) * 1000);
    hand_mark(&h);
    stuck(&h, component);
    hand_expect(&h, component, PLEAT_OUTCOME_STUCK, PLEAT_FINISHING, 4);
    hand_finish(&h);
}

static void test_relaunches_count_for_each_run(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    hand_parameter(&h, PLEAT_PARAM_RELAUNCHES, 1);
    h.flags = PLEAT_COMPONENT_RELAUNCHES;
    uint32_t component = hand_run(&h, 2, 20, 8);
    for (int run = 0; run < 2; run++) {
        struct pleat_effect claim = hand_last(&h, PLEAT_DO_CLAIM);
        assert_int_equal(hand_component(&h, component)->relaunches, 0);
        assert_int_equal(hand_resize(&h, component, 4, PLEAT_NONE), 0);
        stuck(&h, component);
        assert_int_equal(hand_relaunched(&h, component, 4, true), 0);
        assert_int_equal(hand_component(&h, component)->relaunches, 1);
        assert_int_equal(hand_lost(&h, claim), 0);
        assert_int_equal(hand_exited(&h, component, 0), 0);
        hand_release_all(&h); /* started again */
        assert_int_equal(hand_claimed(&h, hand_last(&h, PLEAT_DO_CLAIM), 8), 0);
        assert_int_equal(hand_started(&h, component), 0);
    }
    hand_finish(&h);
}

static void test_who_cannot_be_relaunched_is_ended(void **state)
{
    (void)state;
    for (int which = 0; which < 3; which++) {
        struct hand h;
        hand_init(&h, 16);
        h.flags = which == 0   ? 0
                  : which == 1 ? PLEAT_COMPONENT_RELAUNCHES
                               : PLEAT_COMPONENT_RELAUNCHES | PLEAT_COMPONENT_EMPTY;
        if (which == 1) /* its administrator does not want it */
            hand_parameter(&h, PLEAT_PARAM_RELAUNCHES, 0);
        uint32_t component = hand_run(&h, which == 2 ? 0 : 2, 20, 8);
        /* nothing can be started on no processors */
        assert_int_equal(hand_demand(&h, component, which == 2 ? 0 : 4, true), 0);
        hand_enforce(&h);
        hand_expect(&h, component, PLEAT_OUTCOME_NOT_HONOURED, PLEAT_FINISHING, 8);
        assert_int_equal(hand_count(&h, PLEAT_DO_RELAUNCH), 0);
        hand_finish(&h);

        hand_init(&h, 16);
        if (which == 1)
            hand_parameter(&h, PLEAT_PARAM_RELAUNCHES, 0);
        component = hand_run(&h, 2, 20, 8);
        assert_int_equal(hand_ended(&h, PLEAT_EV_EXITED, component, PLEAT_REASON_BROKEN), 0);
        all_given_back(&h);
        assert_int_equal(hand_component(&h, component)->state, PLEAT_FAILED);
        assert_int_equal(hand_component(&h, component)->reason, PLEAT_REASON_BROKEN);
        hand_finish(&h);
    }
}

static void test_a_relaunch_is_asked_for_again_after_a_restart(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = told(&h, 4, 8);
    stuck(&h, component);
    struct pleat_effect first = hand_last(&h, PLEAT_DO_RELAUNCH);
    hand_mark(&h);
    assert_int_equal(pleat_core_outstanding(h.core, &h.effects), 0);
    assert_int_equal(hand_count(&h, PLEAT_DO_RELAUNCH), 1);
    struct pleat_effect again = hand_last(&h, PLEAT_DO_RELAUNCH);
    assert_memory_equal(&again, &first, sizeof(first));
    assert_int_equal(hand_count(&h, PLEAT_DO_START) + hand_count(&h, PLEAT_DO_KILL) +
                         hand_count(&h, PLEAT_DO_RESIZE),
                     0);
    hand_finish(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_stuck_growth_is_relaunched_at_its_old_size),
        cmocka_unit_test(test_a_stuck_shrink_is_relaunched_at_its_new_size),
        cmocka_unit_test(test_a_mandatory_shrink_is_enforced_by_a_relaunch),
        cmocka_unit_test(test_a_failed_mandatory_shrink_is_relaunched),
        cmocka_unit_test(test_room_is_made_by_a_relaunch),
        cmocka_unit_test(test_leaving_processes_are_ended_by_a_relaunch),
        cmocka_unit_test(test_running_on_more_than_granted_is_relaunched),
        cmocka_unit_test(test_growing_to_fewer_is_relaunched),
        cmocka_unit_test(test_broken_in_a_growth),
        cmocka_unit_test(test_broken_in_a_shrink),
        cmocka_unit_test(test_broken_before_it_went_on),
        cmocka_unit_test(test_broken_between_resizes),
        cmocka_unit_test(test_broken_before_the_next_resize_is_told),
        cmocka_unit_test(test_relaunched_from_its_beginning),
        cmocka_unit_test(test_nobody_can_relaunch_it),
        cmocka_unit_test(test_not_relaunched_in_time),
        cmocka_unit_test(test_relaunched_at_another_size),
        cmocka_unit_test(test_words_of_the_old_processes_are_ignored),
        cmocka_unit_test(test_relaunched_when_nobody_asked),
        cmocka_unit_test(test_exits_while_relaunched),
        cmocka_unit_test(test_cannot_be_started_again),
        cmocka_unit_test(test_broken_again_while_relaunched),
        cmocka_unit_test(test_losing_processors_while_relaunched),
        cmocka_unit_test(test_cancelled_while_relaunched),
        cmocka_unit_test(test_the_maximum_falls_while_relaunched),
        cmocka_unit_test(test_the_waiter_is_cancelled_while_relaunched),
        cmocka_unit_test(test_relaunched_too_often),
        cmocka_unit_test(test_relaunches_count_for_each_run),
        cmocka_unit_test(test_who_cannot_be_relaunched_is_ended),
        cmocka_unit_test(test_a_relaunch_is_asked_for_again_after_a_restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
