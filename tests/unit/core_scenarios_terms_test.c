/* What a job asks for beside processors: notice before it must shrink, a time limit. A scenario for
 * every row of docs/resize-contract.md about that. */
#include "core_scenarios_hand.h"
#include "model/occasion.h"

static void is(const struct hand *h, uint32_t component, enum pleat_component_state state)
{
    assert_string_equal(
        pleat_component_state_name((enum pleat_component_state)hand_component(h, component)->state),
        pleat_component_state_name(state));
}

static void test_a_time_limit_ends_the_job(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t component = hand_submit(&h, PLEAT_RIGID, 4, 4, 0);
    assert_int_equal(hand_terms(&h, component, -1, -1, 100 * SECONDS), 0);
    hand_sleep(&h, 40 * SECONDS); /* claiming does not count */
    assert_int_equal(hand_claimed(&h, hand_last(&h, PLEAT_DO_CLAIM), 4), 0);
    hand_sleep(&h, 40 * SECONDS); /* nor does starting */
    assert_int_equal(hand_started(&h, component), 0);
    assert_int_equal(pleat_core_next_deadline(h.core), h.now_us + 100 * SECONDS);
    hand_sleep(&h, 100 * SECONDS - 1);
    is(&h, component, PLEAT_RUNNING);
    hand_sleep(&h, 1);
    is(&h, component, PLEAT_FINISHING);
    assert_int_equal(hand_last(&h, PLEAT_DO_KILL).u.run.reason, PLEAT_REASON_TIME_LIMIT);
    hand_sleep(&h, pleat_parameter_default(PLEAT_PARAM_KILL_US)); /* told until it is gone */
    assert_int_equal(hand_count(&h, PLEAT_DO_KILL), 2);
    assert_int_equal(hand_exited(&h, component, 0), 0);
    hand_release_all(&h);
    is(&h, component, PLEAT_FAILED); /* even though it exited with 0, and for good */
    assert_int_equal(hand_component(&h, component)->reason, PLEAT_REASON_TIME_LIMIT);
    assert_int_equal(hand_site(&h)->claimed, 0);
    assert_int_equal(pleat_core_next_deadline(h.core), PLEAT_NEVER);
    hand_finish(&h);
}

static int signal_at(struct hand *h, uint32_t component, int64_t lead_us, bool script_only)
{
    struct pleat_event event = {
        .kind = PLEAT_EV_LIMIT_SIGNAL,
        .component = component,
        .u.signal = {.lead_us = lead_us, .number = 10, .script_only = script_only}};
    return hand_feed(h, event);
}

static int signalled(struct hand *h, uint32_t component)
{
    struct pleat_event event = {.kind = PLEAT_EV_SIGNALLED,
                                .component = component,
                                .u.exit = {.run = hand_component(h, component)->run}};
    return hand_feed(h, event);
}

static int agent(struct hand *h, uint16_t kind)
{
    struct pleat_event event = {.kind = kind};
    event.u.agent.number = kind == PLEAT_EV_AGENT_BACK ? 7 : 0;
    return hand_feed(h, event);
}

static void test_a_signal_before_the_time_limit(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t component = hand_run(&h, 2, 2, 2);
    assert_int_equal(signal_at(&h, component, 60 * SECONDS, true), 0);
    assert_int_equal(pleat_core_next_deadline(h.core), PLEAT_NEVER); /* it may run for ever */
    assert_int_equal(signalled(&h, component), PLEAT_CORE_STALE);
    assert_int_equal(hand_terms(&h, component, -1, -1, 100 * SECONDS), 0);
    hand_sleep(&h, 40 * SECONDS - 1);
    assert_int_equal(hand_count(&h, PLEAT_DO_SIGNAL), 0);
    hand_sleep(&h, 1);
    struct pleat_effect effect = hand_last(&h, PLEAT_DO_SIGNAL);
    assert_int_equal(effect.id, hand_component(&h, component)->run);
    assert_int_equal(effect.u.signal.number, 10);
    assert_true(effect.u.signal.script_only);
    is(&h, component, PLEAT_RUNNING);
    /* whoever carries effects out dies, and the next one asks: until it is answered */
    hand_mark(&h);
    assert_int_equal(pleat_core_outstanding(h.core, &h.effects), 0);
    assert_int_equal(hand_count(&h, PLEAT_DO_SIGNAL), 1);
    assert_int_equal(signalled(&h, component), 0);
    assert_int_equal(signalled(&h, component), PLEAT_CORE_STALE);
    hand_mark(&h);
    assert_int_equal(pleat_core_outstanding(h.core, &h.effects), 0);
    assert_int_equal(hand_terms(&h, component, -1, -1, 1000 * SECONDS), 0); /* once for each run */
    hand_sleep(&h, 950 * SECONDS);
    assert_int_equal(hand_count(&h, PLEAT_DO_SIGNAL), 0);
    hand_sleep(&h, 10 * SECONDS);
    is(&h, component, PLEAT_FINISHING);
    assert_int_equal(signal_at(&h, component, 0, false), PLEAT_E_STATE);
    hand_finish(&h);
}

static void test_a_signal_while_the_agent_is_away(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    assert_int_equal(agent(&h, PLEAT_EV_AGENT_BACK), 0);
    uint32_t component = hand_run(&h, 2, 2, 2);
    assert_int_equal(signal_at(&h, component, 60 * SECONDS, false), 0);
    assert_int_equal(hand_terms(&h, component, -1, -1, 100 * SECONDS), 0);
    assert_int_equal(agent(&h, PLEAT_EV_AGENT_AWAY), 0);
    hand_sleep(&h, 40 * SECONDS);
    assert_int_equal(hand_count(&h, PLEAT_DO_SIGNAL), 0);
    assert_int_equal(hand_last(&h, PLEAT_DO_REACH).u.reach.site, 0);
    assert_int_equal(agent(&h, PLEAT_EV_AGENT_BACK), 0);
    assert_int_equal(hand_count(&h, PLEAT_DO_SIGNAL), 1);
    assert_int_equal(hand_exited(&h, component, 0), 0); /* of it, maybe: nobody asks any more */
    assert_int_equal(signalled(&h, component), 0);
    hand_mark(&h);
    assert_int_equal(pleat_core_outstanding(h.core, &h.effects), 0);
    assert_int_equal(hand_count(&h, PLEAT_DO_SIGNAL), 0);
    hand_finish(&h);
}

static void test_a_signal_for_each_run(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t component = hand_run(&h, 2, 2, 2);
    assert_int_equal(signal_at(&h, component, 600 * SECONDS, false), 0);
    assert_int_equal(hand_terms(&h, component, -1, -1, 100 * SECONDS), 0);
    hand_sleep(&h, 0); /* the signal's time before the limit is so long that it is due at once */
    assert_int_equal(hand_count(&h, PLEAT_DO_SIGNAL), 1);
    assert_int_equal(signalled(&h, component), 0);
    struct pleat_event again = {.kind = PLEAT_EV_REQUEUE, .component = component};
    assert_int_equal(hand_feed(&h, again), 0);
    assert_int_equal(hand_exited(&h, component, 0), 0);
    hand_release_all(&h);
    assert_int_equal(hand_claimed(&h, hand_last(&h, PLEAT_DO_CLAIM), 2), 0);
    hand_mark(&h);
    assert_int_equal(hand_started(&h, component), 0);
    hand_sleep(&h, 0);
    assert_int_equal(hand_count(&h, PLEAT_DO_SIGNAL), 1);
    hand_finish(&h);
}

static void test_too_much_memory_ends_the_job(void **state)
{
    (void)state;
    for (int resizing = 0; resizing < 2; resizing++) {
        struct hand h;
        hand_init(&h, 8);
        uint32_t component = hand_run(&h, 2, 8, 4);
        if (resizing)
            assert_int_equal(hand_demand(&h, component, 2, true), 0);
        is(&h, component, resizing ? PLEAT_RESIZING : PLEAT_RUNNING);
        hand_mark(&h);
        assert_int_equal(hand_ended(&h, PLEAT_EV_EXITED, component, PLEAT_REASON_MEMORY), 0);
        hand_release_all(&h);
        is(&h, component, PLEAT_FAILED); /* for good */
        assert_int_equal(hand_component(&h, component)->reason, PLEAT_REASON_MEMORY);
        assert_int_equal(hand_outcome(&h), resizing ? PLEAT_OUTCOME_JOB_ENDED : PLEAT_OUTCOME_NONE);
        assert_int_equal(hand_site(&h)->claimed, 0);
        hand_finish(&h);
    }
}

static void test_a_time_limit_changes_while_it_runs(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t component = hand_run(&h, 2, 8, 4);
    assert_int_equal(pleat_core_next_deadline(h.core), PLEAT_NEVER);
    int64_t start_us = h.now_us;
    hand_sleep(&h, 50 * SECONDS);
    assert_int_equal(hand_terms(&h, component, -1, -1, 60 * SECONDS),
                     0); /* counted from its start */
    assert_int_equal(pleat_core_next_deadline(h.core), start_us + 60 * SECONDS);
    assert_int_equal(hand_terms(&h, component, -1, -1, 0), 0);
    assert_int_equal(pleat_core_next_deadline(h.core), PLEAT_NEVER);
    hand_sleep(&h, 50 * SECONDS);
    is(&h, component, PLEAT_RUNNING);
    assert_int_equal(hand_terms(&h, component, -1, -1, 60 * SECONDS), 0); /* over already */
    hand_sleep(&h, 0);
    is(&h, component, PLEAT_FINISHING);
    assert_int_equal(hand_terms(&h, component, -1, -1, 600 * SECONDS), PLEAT_E_STATE);
    hand_finish(&h);
}

static void test_a_time_limit_counts_for_each_run(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t component = hand_run(&h, 4, 4, 4);
    assert_int_equal(hand_terms(&h, component, -1, -1, 100 * SECONDS), 0);
    hand_sleep(&h, 90 * SECONDS);
    assert_int_equal(hand_lost(&h, hand_last(&h, PLEAT_DO_CLAIM)), 0);
    assert_int_equal(hand_exited(&h, component, 0), 0);
    hand_release_all(&h);
    is(&h, component, PLEAT_CLAIMING); /* by no fault of its own: again, with all its time */
    assert_int_equal(hand_claimed(&h, hand_last(&h, PLEAT_DO_CLAIM), 4), 0);
    assert_int_equal(hand_started(&h, component), 0);
    hand_sleep(&h, 99 * SECONDS);
    is(&h, component, PLEAT_RUNNING);
    hand_sleep(&h, SECONDS);
    is(&h, component, PLEAT_FINISHING);
    hand_finish(&h);
}

static void test_a_time_limit_in_a_resize(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t component = hand_run(&h, 2, 8, 4);
    assert_int_equal(hand_terms(&h, component, -1, -1, 10 * SECONDS), 0);
    assert_int_equal(hand_resize(&h, component, 8, PLEAT_NONE), 0);
    assert_int_equal(hand_claimed(&h, hand_last(&h, PLEAT_DO_CLAIM), 4), 0);
    hand_sleep(&h, 10 * SECONDS);
    is(&h, component, PLEAT_FINISHING);
    assert_int_equal(hand_outcome(&h), PLEAT_OUTCOME_JOB_ENDED);
    assert_int_equal(hand_exited(&h, component, 0), 0);
    hand_release_all(&h);
    is(&h, component, PLEAT_FAILED);
    assert_int_equal(hand_site(&h)->claimed, 0);
    hand_finish(&h);
}

/* ---- processors that a site lends for a time ---- */

/* The latest claim belongs to its owner for this time; 0: for good. */
static int ends(struct hand *h, int64_t in_us)
{
    struct pleat_effect claim = hand_last(h, PLEAT_DO_CLAIM);
    struct pleat_event event = {
        .kind = PLEAT_EV_CLAIM_ENDS,
        .component = claim.u.claim.index,
        .u.ends = {.claim = claim.id, .end_us = in_us ? h->now_us + in_us : 0}};
    return hand_feed(h, event);
}

/* It gets its signal in time, is ended in time, and waits again. */
static void test_its_site_takes_processors_back_at_a_time(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t component = hand_submit(&h, PLEAT_RIGID, 4, 4, 0);
    assert_int_equal(hand_terms(&h, component, -1, -1, 1000 * SECONDS), 0);
    assert_int_equal(signal_at(&h, component, 20 * SECONDS, false), 0);
    assert_int_equal(ends(&h, 100 * SECONDS), PLEAT_CORE_STALE); /* it has not been given */
    assert_int_equal(hand_claimed(&h, hand_last(&h, PLEAT_DO_CLAIM), 4), 0);
    assert_int_equal(ends(&h, 100 * SECONDS), 0);
    assert_int_equal(ends(&h, 100 * SECONDS), PLEAT_CORE_STALE); /* nothing is new */
    assert_int_equal(hand_started(&h, component), 0);
    assert_int_equal(pleat_core_run_until(h.core, component), h.now_us + 100 * SECONDS);
    hand_restart(&h);
    assert_int_equal(pleat_core_next_deadline(h.core), h.now_us + 80 * SECONDS);
    hand_sleep(&h, 80 * SECONDS);
    assert_int_equal(hand_count(&h, PLEAT_DO_SIGNAL), 1);
    assert_int_equal(signalled(&h, component), 0);
    hand_sleep(&h, 20 * SECONDS - 1);
    is(&h, component, PLEAT_RUNNING);
    hand_sleep(&h, 1);
    is(&h, component, PLEAT_FINISHING);
    assert_int_equal(hand_last(&h, PLEAT_DO_KILL).u.run.reason, PLEAT_REASON_SITE_TIME);
    assert_int_equal(hand_exited(&h, component, 1), 0);
    hand_mark(&h);
    hand_release_all(&h);
    assert_int_equal(hand_component(&h, component)->attempt, 1);
    is(&h, component, PLEAT_CLAIMING); /* other processors are asked for */
    hand_finish(&h);
}

/* What the site says last holds; a part that is given back does not count. */
static void test_a_site_s_time_changes(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t component = hand_run(&h, 2, 8, 4);
    struct pleat_effect first = hand_last(&h, PLEAT_DO_CLAIM);
    assert_int_equal(ends(&h, 100 * SECONDS), 0);
    assert_int_equal(hand_resize(&h, component, 8, PLEAT_NONE), 0);
    assert_int_equal(hand_claimed(&h, hand_last(&h, PLEAT_DO_CLAIM), 4), 0);
    assert_int_equal(ends(&h, 50 * SECONDS), 0);
    assert_int_equal(pleat_core_run_until(h.core, component), h.now_us + 100 * SECONDS);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 8), 0);
    assert_int_equal(pleat_core_run_until(h.core, component), h.now_us + 50 * SECONDS);
    assert_int_equal(pleat_core_next_deadline(h.core), h.now_us + 50 * SECONDS);
    assert_int_equal(ends(&h, 0), 0);
    assert_int_equal(pleat_core_run_until(h.core, component), h.now_us + 100 * SECONDS);
    struct pleat_event longer = {.kind = PLEAT_EV_CLAIM_ENDS,
                                 .component = first.u.claim.index,
                                 .u.ends = {.claim = first.id, .end_us = h.now_us + 300 * SECONDS}};
    assert_int_equal(hand_feed(&h, longer), 0);
    hand_sleep(&h, 299 * SECONDS);
    is(&h, component, PLEAT_RUNNING);
    hand_sleep(&h, SECONDS);
    is(&h, component, PLEAT_FINISHING);
    assert_int_equal(hand_last(&h, PLEAT_DO_KILL).u.run.reason, PLEAT_REASON_SITE_TIME);
    hand_finish(&h);
}

/* A job of 4 to 8 that has got 4 for 1000 s, then 2 for `first_us` and 2 for good; in the order in
 * which it got them. */
static uint32_t has_lent(struct hand *h, int64_t early_us, int64_t first_us)
{
    hand_init(h, 8);
    hand_parameter(h, PLEAT_PARAM_SHRINK_OFF_US, early_us);
    uint32_t component = hand_run(h, 4, 8, 4);
    assert_int_equal(ends(h, 1000 * SECONDS), 0);
    for (int size = 6; size <= 8; size += 2) {
        assert_int_equal(hand_resize(h, component, size, PLEAT_NONE), 0);
        assert_int_equal(hand_claimed(h, hand_last(h, PLEAT_DO_CLAIM), 2), 0);
        assert_int_equal(ends(h, size == 6 ? first_us : 0), size == 6 ? 0 : PLEAT_CORE_STALE);
        assert_int_equal(hand_change(h, PLEAT_EV_APPLIED, component, size), 0);
    }
    hand_mark(h);
    return component;
}

/* It leaves them, and what it got later, in time for its notice and the grace; what it has had from
 * the beginning ends it. */
static void test_it_shrinks_off_what_its_site_takes_back(void **state)
{
    (void)state;
    int64_t lead = pleat_parameter_default(PLEAT_PARAM_SHRINK_US) +
                   pleat_parameter_default(PLEAT_PARAM_GRACE_US) + 30 * SECONDS;
    struct hand h;
    uint32_t component = has_lent(&h, 30 * SECONDS, 500 * SECONDS);
    assert_int_equal(pleat_core_run_until(h.core, component), h.now_us + 1000 * SECONDS);
    assert_int_equal(pleat_core_next_deadline(h.core), h.now_us + 500 * SECONDS - lead);
    hand_restart(&h);
    hand_sleep(&h, 500 * SECONDS - lead - 1);
    is(&h, component, PLEAT_RUNNING);
    hand_sleep(&h, 1);
    is(&h, component, PLEAT_RESIZING);
    struct pleat_effect told = hand_last(&h, PLEAT_DO_RESIZE);
    assert_int_equal(told.u.change.processors, 4);
    assert_int_equal(told.flags, PLEAT_MANDATORY | pleat_occasion_flags(PLEAT_OCCASION_TAKEN));
    hand_restart(&h);
    hand_shrinks(&h, component, 4);
    is(&h, component, PLEAT_RUNNING);
    assert_int_equal(hand_component(&h, component)->processors, 4);
    assert_int_equal(hand_component(&h, component)->attempt, 0);
    hand_sleep(&h, 500 * SECONDS + lead);
    is(&h, component, PLEAT_FINISHING);
    assert_int_equal(hand_last(&h, PLEAT_DO_KILL).u.run.reason, PLEAT_REASON_SITE_TIME);
    hand_finish(&h);
}

/* A time that was short from the beginning is used for half of it. */
static void test_it_has_half_of_a_short_time(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = has_lent(&h, 30 * SECONDS, 40 * SECONDS);
    hand_sleep(&h, 20 * SECONDS - 1);
    is(&h, component, PLEAT_RUNNING);
    hand_sleep(&h, 1);
    assert_int_equal(hand_last(&h, PLEAT_DO_RESIZE).u.change.processors, 4);
    hand_finish(&h);
}

/* In a resize it leaves them when that is over. */
static void test_what_its_site_takes_back_waits_for_a_resize(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = has_lent(&h, 30 * SECONDS, 300 * SECONDS);
    hand_sleep(&h, 190 * SECONDS);
    assert_int_equal(hand_demand(&h, component, 7, false), 0);
    hand_sleep(&h, 20 * SECONDS);
    hand_shrinks(&h, component, 7);
    is(&h, component, PLEAT_RESIZING);
    assert_int_equal(hand_last(&h, PLEAT_DO_RESIZE).u.change.processors, 4);
    hand_finish(&h);
}

/* It is ended with the first of them: where it needs them, and where it is not wanted otherwise. */
static void test_it_cannot_do_without_what_its_site_takes_back(void **state)
{
    (void)state;
    struct hand h;
    for (int wanted = 0; wanted < 2; wanted++) {
        uint32_t component = has_lent(&h, wanted ? 30 * SECONDS : 0, 300 * SECONDS);
        if (wanted)
            assert_int_equal(hand_limits(&h, component, 5, 8), 0);
        assert_int_equal(pleat_core_run_until(h.core, component), h.now_us + 300 * SECONDS);
        hand_sleep(&h, 300 * SECONDS);
        is(&h, component, PLEAT_FINISHING);
        assert_int_equal(hand_last(&h, PLEAT_DO_KILL).u.run.reason, PLEAT_REASON_SITE_TIME);
        hand_finish(&h);
    }
}

/* ---- the notice of a mandatory shrink ---- */

/* A job of 8 whose user wants 4 of it back. */
static uint32_t must_shrink(struct hand *h, int64_t notice_us)
{
    hand_init(h, 16);
    uint32_t component = hand_run(h, 2, 8, 8);
    assert_int_equal(hand_terms(h, component, notice_us, -1, 0), 0);
    assert_int_equal(hand_demand(h, component, 4, true), 0);
    hand_mark(h);
    return component;
}

static void test_a_mandatory_shrink_is_warned_of_first(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = must_shrink(&h, -1);
    hand_sleep(&h, pleat_parameter_default(PLEAT_PARAM_SHRINK_US) - 1);
    assert_int_equal(hand_count(&h, PLEAT_NOTE_WARNING), 0);
    hand_sleep(&h, 1);
    assert_int_equal(hand_count(&h, PLEAT_NOTE_WARNING), 1);
    struct pleat_effect warning = hand_last(&h, PLEAT_NOTE_WARNING);
    assert_int_equal(warning.u.change.outcome, PLEAT_OUTCOME_NOT_HONOURED);
    assert_int_equal(warning.u.change.processors, 4);
    hand_at_step(&h, component, PLEAT_RESIZE_GRANTED);
    hand_sleep(&h, pleat_parameter_default(PLEAT_PARAM_GRACE_US) - 1);
    is(&h, component, PLEAT_RESIZING);
    hand_sleep(&h, 1);
    hand_expect(&h, component, PLEAT_OUTCOME_NOT_HONOURED, PLEAT_FINISHING, 8);
    assert_int_equal(hand_count(&h, PLEAT_NOTE_WARNING), 1);
    hand_finish(&h);
}

static void test_shrinks_in_the_grace(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = must_shrink(&h, -1);
    hand_sleep(&h, pleat_parameter_default(PLEAT_PARAM_SHRINK_US));
    assert_int_equal(hand_count(&h, PLEAT_NOTE_WARNING), 1);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 4), 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_VACATED, component, 4), 0);
    hand_expect(&h, component, PLEAT_OUTCOME_SHRUNK, PLEAT_RUNNING, 4);
    hand_sleep(&h, 1000 * SECONDS);
    is(&h, component, PLEAT_RUNNING);
    hand_finish(&h);
}

static void test_a_job_has_its_own_notice(void **state)
{
    (void)state;
    static const int64_t notices[] = {0, 5 * SECONDS, 300 * SECONDS};
    for (size_t i = 0; i < sizeof(notices) / sizeof(notices[0]); i++) {
        struct hand h;
        uint32_t component = must_shrink(&h, notices[i]);
        hand_sleep(&h, notices[i]);
        assert_int_equal(hand_count(&h, PLEAT_NOTE_WARNING), 1);
        hand_at_step(&h, component, PLEAT_RESIZE_GRANTED);
        hand_sleep(&h, pleat_parameter_default(PLEAT_PARAM_GRACE_US));
        hand_expect(&h, component, PLEAT_OUTCOME_NOT_HONOURED, PLEAT_FINISHING, 8);
        hand_finish(&h);
    }
}

static void test_a_notice_has_a_limit(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = must_shrink(&h, 100 * pleat_parameter_default(PLEAT_PARAM_NOTICE_MAX_US));
    hand_sleep(&h, pleat_parameter_default(PLEAT_PARAM_NOTICE_MAX_US));
    assert_int_equal(hand_count(&h, PLEAT_NOTE_WARNING), 1);
    hand_sleep(&h, pleat_parameter_default(PLEAT_PARAM_GRACE_US));
    is(&h, component, PLEAT_FINISHING);
    hand_finish(&h);
}

static void test_nobody_needs_it_any_more_in_the_grace(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t component = hand_run(&h, 2, 8, 8);
    uint32_t waiter = hand_submit(&h, PLEAT_RIGID, 4, 4, 0);
    assert_int_equal(hand_resize(&h, component, 4, waiter), 0);
    hand_sleep(&h, pleat_parameter_default(PLEAT_PARAM_SHRINK_US));
    assert_int_equal(hand_cancel(&h, waiter), 0);
    hand_sleep(&h, pleat_parameter_default(PLEAT_PARAM_GRACE_US));
    hand_at_step(&h, component, PLEAT_RESIZE_WITHDRAWING);
    assert_int_equal(hand_change(&h, PLEAT_EV_WITHDRAWN, component, 0), 0);
    hand_expect(&h, component, PLEAT_OUTCOME_TIMED_OUT, PLEAT_RUNNING, 8);
    hand_finish(&h);
}

/* ---- the lifetime of a size ---- */

/* A job of 4 with a lifetime of 100 s for each size; policies would grow it to 8 at once. */
static uint32_t grows_slowly(struct hand *h)
{
    hand_init(h, 8);
    uint32_t component = hand_submit(h, PLEAT_MALLEABLE, 2, 8, 4);
    assert_int_equal(hand_terms(h, component, -1, 100 * SECONDS, 0), 0);
    hand_policy(h, PLEAT_MALLEABILITY, "fpsma");
    assert_int_equal(hand_claimed(h, hand_last(h, PLEAT_DO_CLAIM), 4), 0);
    assert_int_equal(hand_started(h, component), 0);
    hand_mark(h);
    return component;
}

static void test_a_size_lasts_for_its_lifetime(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = grows_slowly(&h);
    is(&h, component, PLEAT_RUNNING);
    assert_int_equal(hand_site(&h)->growers, 0); /* nobody counts on it */
    assert_int_equal(hand_site(&h)->reclaimable, 0);
    assert_int_equal(pleat_core_next_deadline(h.core), h.now_us + 100 * SECONDS);
    assert_int_equal(hand_resize(&h, component, 8, PLEAT_NONE),
                     PLEAT_E_STATE); /* whatever policies say */
    hand_sleep(&h, 100 * SECONDS - 1);
    is(&h, component, PLEAT_RUNNING);
    hand_sleep(&h, 1); /* another pass comes by itself */
    is(&h, component, PLEAT_RESIZING);
    assert_int_equal(hand_claimed(&h, hand_last(&h, PLEAT_DO_CLAIM), 4), 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 8), 0);
    hand_expect(&h, component, PLEAT_OUTCOME_GROWN, PLEAT_RUNNING, 8);
    assert_int_equal(hand_site(&h)->reclaimable, 0); /* held again */
    hand_sleep(&h, 100 * SECONDS);
    assert_int_equal(hand_site(&h)->reclaimable, 6);
    hand_finish(&h);
}

static void test_nobody_is_shrunk_within_its_lifetime(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = grows_slowly(&h);
    uint32_t waiter = hand_submit(&h, PLEAT_RIGID, 6, 6, 0);
    is(&h, waiter, PLEAT_QUEUED);
    is(&h, component, PLEAT_RUNNING); /* no room is planned from it */
    assert_int_equal(hand_component(&h, waiter)->coming, 0);
    hand_sleep(&h, 100 * SECONDS);
    is(&h, component, PLEAT_RESIZING);
    assert_int_equal(hand_component(&h, waiter)->coming, 2);
    assert_int_equal(hand_last(&h, PLEAT_DO_RESIZE).u.change.processors, 2);
    hand_finish(&h);
}

static void test_users_and_losses_do_not_wait_for_a_lifetime(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = grows_slowly(&h);
    assert_int_equal(hand_demand(&h, component, 3, true), 0); /* its user's own wish */
    hand_at_step(&h, component, PLEAT_RESIZE_GRANTED);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 3), 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_VACATED, component, 3), 0);
    hand_expect(&h, component, PLEAT_OUTCOME_SHRUNK, PLEAT_RUNNING, 3);
    assert_int_equal(hand_limits(&h, component, 2, 2), 0); /* and its limits */
    hand_at_step(&h, component, PLEAT_RESIZE_GRANTED);
    assert_int_equal(hand_lost(&h, hand_last(&h, PLEAT_DO_CLAIM)), 0); /* and losses */
    is(&h, component, PLEAT_FINISHING);
    hand_finish(&h);
}

static void test_a_resize_that_fails_begins_no_lifetime(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = grows_slowly(&h);
    hand_sleep(&h, 100 * SECONDS);
    assert_int_equal(
        hand_claim_failed(&h, hand_last(&h, PLEAT_DO_CLAIM), PLEAT_REASON_CLAIM_FAILED), 0);
    hand_expect(&h, component, PLEAT_OUTCOME_CLAIM_FAILED, PLEAT_RUNNING, 4);
    assert_int_equal(hand_site(&h)->growers, 1);
    hand_sleep(&h, pleat_parameter_default(PLEAT_PARAM_BACKOFF_US));
    is(&h, component, PLEAT_RESIZING); /* tried again after the backoff alone */
    hand_finish(&h);
}

static void test_a_lifetime_ends_in_a_resize(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = grows_slowly(&h);
    hand_sleep(&h, 90 * SECONDS);
    assert_int_equal(hand_demand(&h, component, 6, false), 0);
    assert_int_equal(hand_claimed(&h, hand_last(&h, PLEAT_DO_CLAIM), 2), 0);
    hand_sleep(&h, 10 * SECONDS); /* over, for the old size */
    assert_int_equal(hand_site(&h)->reclaimable, 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_RESIZE_FAILED, component, 4), 0);
    assert_int_equal(hand_outcome(&h), PLEAT_OUTCOME_APP_FAILED);
    assert_int_equal(hand_site(&h)->reclaimable, 2);
    hand_finish(&h);
}

static void test_lifetimes_as_configured(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    hand_parameter(&h, PLEAT_PARAM_LIFETIME_US, 50 * SECONDS);
    uint32_t component = hand_run(&h, 2, 8, 8);
    assert_int_equal(hand_site(&h)->reclaimable, 0);
    assert_int_equal(hand_terms(&h, component, -1, 0, 0), 0); /* it wants none */
    assert_int_equal(hand_site(&h)->reclaimable, 6);
    assert_int_equal(hand_terms(&h, component, -1, 7200 * SECONDS, 0),
                     0); /* more than it may have */
    assert_int_equal(hand_site(&h)->reclaimable, 0);
    assert_int_equal(pleat_core_next_deadline(h.core),
                     h.now_us + pleat_parameter_default(PLEAT_PARAM_LIFETIME_MAX_US));
    hand_parameter(&h, PLEAT_PARAM_LIFETIME_MAX_US, 60 * SECONDS);
    assert_int_equal(pleat_core_next_deadline(h.core), h.now_us + 60 * SECONDS);
    assert_int_equal(hand_terms(&h, component, -1, -1, 0), 0); /* as configured */
    hand_sleep(&h, 50 * SECONDS);
    assert_int_equal(hand_site(&h)->reclaimable, 6);
    hand_parameter(&h, PLEAT_PARAM_LIFETIME_US, 80 * SECONDS);
    assert_int_equal(hand_site(&h)->reclaimable, 0);
    hand_parameter(&h, PLEAT_PARAM_LIFETIME_US, 0);
    assert_int_equal(hand_site(&h)->reclaimable, 6);
    assert_int_equal(pleat_core_next_deadline(h.core), PLEAT_NEVER);
    hand_finish(&h);
}

static void test_terms_that_make_no_sense(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t component = hand_run(&h, 2, 8, 4);
    assert_int_equal(hand_terms(&h, component, -2, -1, 0), PLEAT_E_INVALID);
    assert_int_equal(hand_terms(&h, component, -1, -2, 0), PLEAT_E_INVALID);
    assert_int_equal(hand_terms(&h, component, -1, -1, -1), PLEAT_E_INVALID);
    assert_int_equal(hand_terms(&h, component, PLEAT_NEVER, -1, 0), PLEAT_E_INVALID);
    assert_int_equal(hand_terms(&h, component, -1, PLEAT_NEVER, 0), PLEAT_E_INVALID);
    assert_int_equal(hand_terms(&h, component, -1, -1, PLEAT_NEVER), PLEAT_E_INVALID);
    assert_int_equal(hand_terms(&h, component + 1, -1, -1, 0), PLEAT_E_NOTFOUND);
    assert_int_equal(hand_component(&h, component)->limit_us, 0);
    assert_int_equal(
        pleat_view_terms(pleat_core_view(h.core), hand_component(&h, component))->notice_us, -1);
    assert_int_equal(hand_cancel(&h, component), 0);
    assert_int_equal(hand_exited(&h, component, 0), 0);
    hand_release_all(&h);
    assert_int_equal(hand_terms(&h, component, -1, -1, 0), PLEAT_E_STATE);
    hand_finish(&h);
}

/* ---- what its application says of itself ---- */

static int declares(struct hand *h, uint32_t component, int32_t most)
{
    struct pleat_event event = {
        .kind = PLEAT_EV_DECLARED,
        .component = component,
        .u.declared = {.run = hand_component(h, component)->run, .maximum = most}};
    return hand_feed(h, event);
}

static void limits_are(const struct hand *h, uint32_t component, int32_t minimum, int32_t maximum)
{
    assert_int_equal(hand_component(h, component)->minimum, minimum);
    assert_int_equal(hand_component(h, component)->maximum, maximum);
}

static void test_an_application_that_can_use_fewer(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = hand_run(&h, 2, 8, 6);
    assert_int_equal(declares(&h, component, 4), 0); /* it is shrunk to that */
    limits_are(&h, component, 2, 4);
    assert_int_equal(hand_last(&h, PLEAT_DO_RESIZE).u.change.processors, 4);
    assert_true(hand_last(&h, PLEAT_DO_RESIZE).flags & PLEAT_MANDATORY);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 4), 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_VACATED, component, 4), 0);
    hand_release_all(&h);
    hand_expect(&h, component, PLEAT_OUTCOME_SHRUNK, PLEAT_RUNNING, 4);
    assert_true(hand_resize(&h, component, 6, PLEAT_NONE) < 0);              /* no policy may */
    assert_int_equal(hand_demand(&h, component, 6, false), PLEAT_E_INVALID); /* nor its user */
    assert_int_equal(declares(&h, component, 12), 0); /* more than its user asked for */
    limits_are(&h, component, 2, 8);
    assert_int_equal(declares(&h, component, 1), 0); /* less than its user's minimum */
    limits_are(&h, component, 2, 2);
    assert_int_equal(declares(&h, component, 0), 0);
    limits_are(&h, component, 2, 8);
    assert_int_equal(
        pleat_view_declaration(pleat_core_view(h.core), hand_component(&h, component))->asked, 0);
    assert_int_equal(declares(&h, component, 0), PLEAT_CORE_STALE); /* no news */
    assert_int_equal(declares(&h, component, -1), PLEAT_CORE_STALE);
    hand_finish(&h);
}

static void test_limits_of_a_user_and_of_an_application(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = hand_run(&h, 2, 8, 4);
    assert_int_equal(declares(&h, component, 5), 0);
    limits_are(&h, component, 2, 5);
    assert_int_equal(hand_limits(&h, component, 2, 7), 0); /* the smaller one holds */
    limits_are(&h, component, 2, 5);
    assert_int_equal(hand_limits(&h, component, 2, 4), 0);
    limits_are(&h, component, 2, 4);
    assert_int_equal(hand_limits(&h, component, 2, 12), 0);
    limits_are(&h, component, 2, 5);
    assert_int_equal(declares(&h, component, 0), 0);
    limits_are(&h, component, 2, 12);
    hand_finish(&h);
}

static void test_what_an_application_said_ends_with_its_run(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t component = hand_run(&h, 2, 8, 4);
    assert_int_equal(declares(&h, component, 4), 0);
    assert_int_equal(hand_lost(&h, hand_last(&h, PLEAT_DO_CLAIM)), 0);
    assert_int_equal(hand_exited(&h, component, 0), 0);
    hand_release_all(&h);
    is(&h, component, PLEAT_CLAIMING); /* by no fault of its own: again, with all its limits */
    limits_are(&h, component, 2, 8);
    assert_int_equal(declares(&h, component, 4), PLEAT_CORE_STALE);
    uint32_t fixed = hand_submit(&h, PLEAT_RIGID, 1, 1, 0);
    assert_int_equal(declares(&h, fixed, 1), PLEAT_CORE_STALE);
    hand_finish(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_time_limit_ends_the_job),
        cmocka_unit_test(test_its_site_takes_processors_back_at_a_time),
        cmocka_unit_test(test_a_site_s_time_changes),
        cmocka_unit_test(test_it_shrinks_off_what_its_site_takes_back),
        cmocka_unit_test(test_it_has_half_of_a_short_time),
        cmocka_unit_test(test_what_its_site_takes_back_waits_for_a_resize),
        cmocka_unit_test(test_it_cannot_do_without_what_its_site_takes_back),
        cmocka_unit_test(test_a_signal_before_the_time_limit),
        cmocka_unit_test(test_a_signal_while_the_agent_is_away),
        cmocka_unit_test(test_a_signal_for_each_run),
        cmocka_unit_test(test_too_much_memory_ends_the_job),
        cmocka_unit_test(test_a_time_limit_changes_while_it_runs),
        cmocka_unit_test(test_a_time_limit_counts_for_each_run),
        cmocka_unit_test(test_a_time_limit_in_a_resize),
        cmocka_unit_test(test_a_mandatory_shrink_is_warned_of_first),
        cmocka_unit_test(test_shrinks_in_the_grace),
        cmocka_unit_test(test_a_job_has_its_own_notice),
        cmocka_unit_test(test_a_notice_has_a_limit),
        cmocka_unit_test(test_nobody_needs_it_any_more_in_the_grace),
        cmocka_unit_test(test_a_size_lasts_for_its_lifetime),
        cmocka_unit_test(test_nobody_is_shrunk_within_its_lifetime),
        cmocka_unit_test(test_users_and_losses_do_not_wait_for_a_lifetime),
        cmocka_unit_test(test_a_resize_that_fails_begins_no_lifetime),
        cmocka_unit_test(test_a_lifetime_ends_in_a_resize),
        cmocka_unit_test(test_lifetimes_as_configured),
        cmocka_unit_test(test_terms_that_make_no_sense),
        cmocka_unit_test(test_an_application_that_can_use_fewer),
        cmocka_unit_test(test_limits_of_a_user_and_of_an_application),
        cmocka_unit_test(test_what_an_application_said_ends_with_its_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
