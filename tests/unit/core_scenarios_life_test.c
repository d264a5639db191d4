/* What else can happen to a job: a scenario for every row of docs/resize-contract.md about waiting
 * jobs, cancelling, lost processors, changed limits and sites. Each row names its test here. */
#include "core_scenarios_hand.h"
#include "model/occasion.h"

static struct pleat_effect claim_of(const struct hand *h)
{
    return hand_last(h, PLEAT_DO_CLAIM);
}

static void is(const struct hand *h, uint32_t component, enum pleat_component_state state)
{
    if (hand_component(h, component)->state != state)
        fail_msg("the job is %s, expected %s",
                 pleat_component_state_name(
                     (enum pleat_component_state)hand_component(h, component)->state),
                 pleat_component_state_name(state));
}

static void all_given_back(struct hand *h)
{
    hand_release_all(h);
    assert_int_equal(hand_site(h)->claimed, 0);
    assert_int_equal(hand_site(h)->coming, 0);
    assert_int_equal(hand_site(h)->releasing, 0);
    assert_int_equal(pleat_core_next_deadline(h->core), PLEAT_NEVER);
}

/* ---- a waiting job, for which room is made ---- */

/* A job of 8 on a site of 8 that is being shrunk to 4 for a waiting one of 4. */
static uint32_t room_being_made(struct hand *h, uint32_t *waiter)
{
    hand_init(h, 8);
    uint32_t component = hand_run(h, 2, 8, 8);
    *waiter = hand_submit(h, PLEAT_RIGID, 4, 4, 0);
    assert_int_equal(hand_resize(h, component, 4, *waiter), 0);
    assert_int_equal(hand_component(h, *waiter)->coming, 4);
    hand_mark(h);
    return component;
}

static void test_room_is_made_and_used(void **state)
{
    (void)state;
    struct hand h;
    uint32_t waiter, component = room_being_made(&h, &waiter);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 4), 0);
    is(&h, waiter, PLEAT_QUEUED);
    assert_int_equal(hand_change(&h, PLEAT_EV_VACATED, component, 4), 0);
    assert_int_equal(hand_outcome(&h), PLEAT_OUTCOME_SHRUNK);
    /* earmarked, then used, without going through the site */
    is(&h, waiter, PLEAT_CLAIMING);
    assert_int_equal(hand_count(&h, PLEAT_DO_CLAIM) + hand_count(&h, PLEAT_DO_RELEASE), 0);
    assert_int_equal(hand_started(&h, waiter), 0);
    assert_int_equal(hand_component(&h, waiter)->processors, 4);
    assert_int_equal(hand_site(&h)->claimed, 8);
    hand_finish(&h);
}

static void test_the_waiter_is_cancelled_while_room_is_made(void **state)
{
    (void)state;
    struct hand h;
    uint32_t waiter, component = room_being_made(&h, &waiter);
    assert_int_equal(hand_cancel(&h, waiter), 0);
    is(&h, waiter, PLEAT_CANCELLED);
    is(&h, component, PLEAT_RESIZING); /* the shrink goes on, for nobody in particular */
    assert_int_equal(hand_site(&h)->coming, 4);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 4), 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_VACATED, component, 4), 0);
    assert_int_equal(hand_outcome(&h), PLEAT_OUTCOME_SHRUNK);
    assert_int_equal(hand_site(&h)->coming, 0);
    assert_int_equal(hand_site(&h)->releasing, 4);
    hand_finish(&h);
}

/* What nobody waits for any more is not enforced. */
static void test_a_shrink_that_nobody_needs_is_withdrawn(void **state)
{
    (void)state;
    struct hand h;
    uint32_t waiter, component = room_being_made(&h, &waiter);
    assert_int_equal(hand_cancel(&h, waiter), 0);
    hand_sleep(&h, pleat_parameter_default(PLEAT_PARAM_SHRINK_US));
    assert_int_equal(hand_count(&h, PLEAT_DO_KILL), 0);
    assert_int_equal(hand_count(&h, PLEAT_DO_WITHDRAW), 1);
    assert_int_equal(hand_change(&h, PLEAT_EV_WITHDRAWN, component, 0), 0);
    assert_int_equal(hand_outcome(&h), PLEAT_OUTCOME_TIMED_OUT);
    is(&h, component, PLEAT_RUNNING);
    assert_int_equal(hand_component(&h, component)->processors, 8);
    assert_int_equal(hand_site(&h)->coming, 0);
    hand_finish(&h);
}

static void test_a_shrink_for_a_waiter_is_enforced(void **state)
{
    (void)state;
    struct hand h;
    uint32_t waiter, component = room_being_made(&h, &waiter);
    hand_enforce(&h);
    assert_int_equal(hand_outcome(&h), PLEAT_OUTCOME_NOT_HONOURED);
    assert_int_equal(hand_exited(&h, component, 0), 0);
    is(&h, waiter, PLEAT_QUEUED);
    hand_release_all(&h);
    is(&h, component, PLEAT_FAILED);
    is(&h, waiter, PLEAT_CLAIMING);
    hand_finish(&h);
}

static void test_the_shrinking_job_ends_before_room_is_made(void **state)
{
    (void)state;
    struct hand h;
    uint32_t waiter, component = room_being_made(&h, &waiter);
    assert_int_equal(hand_exited(&h, component, 0), 0);
    assert_int_equal(hand_outcome(&h), PLEAT_OUTCOME_JOB_ENDED);
    assert_int_equal(hand_component(&h, waiter)->coming, 0);
    assert_int_equal(hand_component(&h, waiter)->site, PLEAT_NONE);
    hand_release_all(&h);
    is(&h, component, PLEAT_DONE);
    is(&h, waiter, PLEAT_CLAIMING);
    hand_finish(&h);
}

static void test_the_waiter_starts_elsewhere_first(void **state)
{
    (void)state;
    struct hand h;
    uint32_t waiter, component = room_being_made(&h, &waiter);
    struct pleat_event more = {.kind = PLEAT_EV_SITE, .u.site = {.capacity = 12}};
    assert_int_equal(hand_feed(&h, more), 0); /* processors turn up */
    is(&h, waiter, PLEAT_CLAIMING);
    assert_int_equal(hand_site(&h)->coming, 4); /* no longer for it */
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 4), 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_VACATED, component, 4), 0);
    assert_int_equal(hand_site(&h)->releasing, 4);
    assert_int_equal(hand_component(&h, waiter)->earmarked, 0);
    hand_finish(&h);
}

/* A job of 8 shrunk to 6 for a waiting one of 4, which cannot start yet: 2 are earmarked. */
static uint32_t earmarked(struct hand *h, uint32_t *waiter)
{
    hand_init(h, 8);
    uint32_t component = hand_run(h, 2, 8, 8);
    *waiter = hand_submit(h, PLEAT_RIGID, 4, 4, 0);
    assert_int_equal(hand_resize(h, component, 6, *waiter), 0);
    assert_int_equal(hand_change(h, PLEAT_EV_APPLIED, component, 6), 0);
    assert_int_equal(hand_change(h, PLEAT_EV_VACATED, component, 6), 0);
    is(h, *waiter, PLEAT_QUEUED);
    assert_int_equal(hand_component(h, *waiter)->earmarked, 2);
    hand_mark(h);
    return component;
}

static void test_earmarks_do_not_wait_for_ever(void **state)
{
    (void)state;
    struct hand h;
    uint32_t waiter;
    earmarked(&h, &waiter);
    hand_sleep(&h, pleat_parameter_default(PLEAT_PARAM_EARMARK_US));
    is(&h, waiter, PLEAT_QUEUED);
    assert_int_equal(hand_component(&h, waiter)->earmarked, 0);
    assert_int_equal(hand_site(&h)->releasing, 2);
    hand_finish(&h);
}

static void test_cancelled_with_earmarks(void **state)
{
    (void)state;
    struct hand h;
    uint32_t waiter;
    earmarked(&h, &waiter);
    assert_int_equal(hand_cancel(&h, waiter), 0);
    is(&h, waiter, PLEAT_CANCELLED);
    assert_int_equal(hand_site(&h)->releasing, 2);
    assert_int_equal(hand_release_all(&h), 1);
    assert_int_equal(hand_site(&h)->claimed, 6);
    hand_finish(&h);
}

static void test_losing_an_earmark(void **state)
{
    (void)state;
    struct hand h;
    uint32_t waiter;
    earmarked(&h, &waiter);
    struct pleat_effect claim = {0};
    for (uint32_t i = 0; i < pleat_core_claim_count(h.core); i++)
        if (pleat_core_claim(h.core, i)->purpose == PLEAT_FOR_EARMARK)
            claim = (struct pleat_effect){.id = pleat_core_claim(h.core, i)->id,
                                          .u.claim = {.index = i, .count = 2}};
    assert_int_equal(hand_lost(&h, claim), 0);
    is(&h, waiter, PLEAT_QUEUED);
    assert_int_equal(hand_component(&h, waiter)->earmarked, 0);
    assert_int_equal(hand_site(&h)->claimed, 6);
    hand_finish(&h);
}

/* ---- cancelling, in every state ---- */

static void test_cancelled_while_queued(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    hand_run(&h, 2, 8, 8);
    uint32_t component = hand_submit(&h, PLEAT_RIGID, 4, 4, 0);
    assert_int_equal(hand_cancel(&h, component), 0);
    is(&h, component, PLEAT_CANCELLED);
    assert_int_equal(hand_cancel(&h, component), PLEAT_E_STATE);
    hand_finish(&h);
}

static void test_cancelled_while_claiming(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t component = hand_submit(&h, PLEAT_RIGID, 4, 4, 0);
    is(&h, component, PLEAT_CLAIMING);
    assert_int_equal(hand_cancel(&h, component), 0);
    is(&h, component, PLEAT_FINISHING);
    assert_int_equal(hand_count(&h, PLEAT_DO_KILL), 0); /* nothing runs yet */
    assert_int_equal(hand_claimed(&h, claim_of(&h), 4), PLEAT_CORE_STALE);
    all_given_back(&h);
    is(&h, component, PLEAT_CANCELLED);
    hand_finish(&h);
}

static void test_cancelled_while_starting(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t component = hand_submit(&h, PLEAT_RIGID, 4, 4, 0);
    assert_int_equal(hand_claimed(&h, claim_of(&h), 4), 0);
    assert_int_equal(hand_cancel(&h, component), 0);
    assert_int_equal(hand_count(&h, PLEAT_DO_KILL), 1);
    assert_int_equal(hand_started(&h, component), PLEAT_CORE_STALE); /* it crosses */
    is(&h, component, PLEAT_FINISHING);
    assert_int_equal(hand_exited(&h, component, 0), 0);
    all_given_back(&h);
    is(&h, component, PLEAT_CANCELLED);
    hand_finish(&h);
}

static void test_cancelled_while_running(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t component = hand_run(&h, 2, 8, 4);
    assert_int_equal(hand_cancel(&h, component), 0);
    assert_int_equal(hand_count(&h, PLEAT_DO_KILL), 1);
    assert_int_equal(hand_site(&h)->releasing, 0);
    assert_int_equal(hand_exited(&h, component, 0), 0);
    all_given_back(&h);
    is(&h, component, PLEAT_CANCELLED); /* even though it exited with 0 */
    hand_finish(&h);
}

/* In every step of a grow (offered, accepted, granted, withdrawing) and of a shrink (granted,
 * applied). */
static void test_cancelled_in_every_step_of_a_resize(void **state)
{
    (void)state;
    for (int step = 0; step < 6; step++) {
        struct hand h;
        hand_init(&h, 8);
        h.flags = step == 0 ? PLEAT_COMPONENT_ASKS : 0;
        uint32_t component = hand_run(&h, 2, 8, 4);
        assert_int_equal(hand_resize(&h, component, step < 4 ? 6 : 2, PLEAT_NONE), 0);
        if (step == 2 || step == 3)
            assert_int_equal(hand_claimed(&h, claim_of(&h), 2), 0);
        if (step == 3)
            hand_sleep(&h, pleat_parameter_default(PLEAT_PARAM_APPLY_US));
        if (step == 5)
            assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 2), 0);
        static const enum pleat_resize_step steps[] = {
            PLEAT_RESIZE_OFFERED,     PLEAT_RESIZE_ACCEPTED, PLEAT_RESIZE_GRANTED,
            PLEAT_RESIZE_WITHDRAWING, PLEAT_RESIZE_GRANTED,  PLEAT_RESIZE_APPLIED};
        assert_int_equal(pleat_core_resize(h.core, hand_component(&h, component)->resize)->step,
                         steps[step]);
        assert_int_equal(hand_cancel(&h, component), 0);
        assert_int_equal(hand_outcome(&h), PLEAT_OUTCOME_JOB_ENDED);
        is(&h, component, PLEAT_FINISHING);
        assert_int_equal(hand_count(&h, PLEAT_DO_KILL), 1);
        /* only what no process can be on goes back at once */
        assert_int_equal(hand_site(&h)->releasing, step == 1 ? 2 : 0);
        assert_int_equal(hand_exited(&h, component, 0), 0);
        all_given_back(&h);
        is(&h, component, PLEAT_CANCELLED);
        hand_finish(&h);
    }
}

static void test_cancelled_while_finishing(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t component = hand_run(&h, 2, 8, 4);
    assert_int_equal(hand_exited(&h, component, 0), 0);
    assert_int_equal(hand_cancel(&h, component), 0); /* too late: it had ended by itself */
    all_given_back(&h);
    is(&h, component, PLEAT_DONE);
    assert_int_equal(hand_cancel(&h, component), PLEAT_E_STATE);
    hand_finish(&h);
}

/* ---- processors that the site takes away ---- */

static void test_losing_a_claim_before_it_is_given(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t component = hand_submit(&h, PLEAT_RIGID, 4, 4, 0);
    assert_int_equal(hand_lost(&h, claim_of(&h)), 0);
    is(&h, component, PLEAT_QUEUED); /* not at once again at that site */
    assert_int_equal(hand_site(&h)->claimed, 0);
    hand_sleep(&h, pleat_parameter_default(PLEAT_PARAM_BACKOFF_US));
    is(&h, component, PLEAT_CLAIMING);
    hand_finish(&h);
}

static void test_losing_processors_while_starting(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t component = hand_submit(&h, PLEAT_RIGID, 4, 4, 0);
    assert_int_equal(hand_claimed(&h, claim_of(&h), 4), 0);
    assert_int_equal(hand_lost(&h, claim_of(&h)), 0);
    is(&h, component, PLEAT_FINISHING);
    assert_int_equal(hand_count(&h, PLEAT_DO_KILL), 1);
    assert_int_equal(hand_exited(&h, component, 0), 0);
    hand_release_all(&h);
    is(&h, component, PLEAT_CLAIMING);
    assert_int_equal(hand_component(&h, component)->attempt, 1);
    hand_finish(&h);
}

static void test_losing_processors_while_running(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t component = hand_submit(&h, PLEAT_MALLEABLE, 4, 4, 4);
    uint32_t other = hand_submit(&h, PLEAT_RIGID, 8, 8, 0);
    int attempts = (int)pleat_parameter_default(PLEAT_PARAM_ATTEMPTS);
    for (int attempt = 0; attempt < attempts; attempt++) {
        is(&h, component, PLEAT_CLAIMING); /* in front of the other each time */
        assert_int_equal(hand_component(&h, component)->attempt, attempt);
        struct pleat_effect claim = claim_of(&h);
        assert_int_equal(hand_claimed(&h, claim, 4), 0);
        assert_int_equal(hand_started(&h, component), 0);
        assert_int_equal(hand_lost(&h, claim), 0);
        is(&h, component, PLEAT_FINISHING);
        assert_int_equal(hand_exited(&h, component, 0), 0);
        hand_release_all(&h);
    }
    is(&h, component, PLEAT_FAILED);
    assert_int_equal(hand_component(&h, component)->reason, PLEAT_REASON_LOST);
    is(&h, other, PLEAT_CLAIMING);
    hand_finish(&h);
}

static void test_losing_what_is_being_released(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t component = hand_run(&h, 2, 8, 4);
    assert_int_equal(hand_exited(&h, component, 0), 0);
    struct pleat_effect claim = hand_last(&h, PLEAT_DO_RELEASE);
    assert_int_equal(hand_lost(&h, claim), 0); /* gone is gone */
    is(&h, component, PLEAT_DONE);
    assert_int_equal(hand_site(&h)->claimed, 0);
    assert_int_equal(hand_lost(&h, claim), PLEAT_CORE_STALE);
    hand_finish(&h);
}

/* ---- limits ---- */

static void test_the_maximum_falls_while_growing(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = hand_run(&h, 2, 16, 4);
    assert_int_equal(hand_resize(&h, component, 12, PLEAT_NONE), 0);
    assert_int_equal(hand_claimed(&h, claim_of(&h), 8), 0);
    assert_int_equal(hand_limits(&h, component, 2, 6), 0);
    is(&h, component, PLEAT_RESIZING); /* what is under way ends first */
    assert_int_equal(hand_component(&h, component)->target, 12);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 12), 0);
    assert_int_equal(hand_outcome(&h), PLEAT_OUTCOME_GROWN);
    /* then it is shrunk to its new maximum, as its user wants: mandatory */
    struct pleat_effect shrink = hand_last(&h, PLEAT_DO_RESIZE);
    assert_int_equal(shrink.u.change.processes, 6);
    assert_int_equal(shrink.flags,
                     PLEAT_MANDATORY | PLEAT_BY_USER | pleat_occasion_flags(PLEAT_OCCASION_LIMITS));
    hand_finish(&h);
}

static void test_the_maximum_falls_while_running(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = hand_run(&h, 2, 16, 8);
    assert_int_equal(hand_limits(&h, component, 2, 5), 0);
    assert_int_equal(hand_last(&h, PLEAT_DO_RESIZE).u.change.processes, 5);
    hand_enforce(&h);
    assert_int_equal(hand_outcome(&h), PLEAT_OUTCOME_NOT_HONOURED);
    hand_finish(&h);
}

static void test_the_maximum_falls_while_starting(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = hand_submit(&h, PLEAT_MALLEABLE, 2, 16, 8);
    assert_int_equal(hand_claimed(&h, claim_of(&h), 8), 0);
    assert_int_equal(hand_limits(&h, component, 2, 5), 0);
    assert_int_equal(hand_started(&h, component), 0);
    assert_int_equal(hand_last(&h, PLEAT_DO_RESIZE).u.change.processes, 5);
    hand_finish(&h);
}

/* Whichever way the resize ends, it must stay above its minimum. */
static void test_the_minimum_rises_in_a_resize(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = hand_run(&h, 2, 16, 4);
    assert_int_equal(hand_resize(&h, component, 8, PLEAT_NONE), 0);
    assert_int_equal(hand_limits(&h, component, 5, 16), PLEAT_E_STATE); /* may stay at 4 */
    assert_int_equal(hand_limits(&h, component, 4, 16), 0);
    assert_int_equal(hand_claim_failed(&h, claim_of(&h), PLEAT_REASON_CLAIM_REFUSED), 0);
    assert_int_equal(hand_limits(&h, component, 2, 16), 0);
    assert_int_equal(hand_demand(&h, component, 2, false), 0);
    assert_int_equal(hand_limits(&h, component, 3, 16), PLEAT_E_STATE); /* may come down to 2 */
    hand_finish(&h);
}

static void test_a_users_shrink_lasts(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    hand_policy(&h, PLEAT_MALLEABILITY, "egs");
    uint32_t component = hand_submit(&h, PLEAT_MALLEABLE, 2, 8, 8);
    assert_int_equal(hand_claimed(&h, claim_of(&h), 8), 0);
    assert_int_equal(hand_started(&h, component), 0);
    assert_int_equal(hand_demand(&h, component, 4, false), 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 4), 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_VACATED, component, 4), 0);
    hand_release_all(&h);
    is(&h, component, PLEAT_RUNNING); /* 12 are free, and it is left alone */
    assert_int_equal(hand_demand(&h, component, 5, false), 0);
    assert_int_equal(hand_claimed(&h, claim_of(&h), 1), 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 5), 0);
    is(&h, component, PLEAT_RESIZING); /* its user grew it: policies may again */
    assert_int_equal(hand_component(&h, component)->target, 8);
    hand_finish(&h);
}

/* ---- sites ---- */

static void test_the_site_shrinks_below_what_is_held(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    hand_policy(&h, PLEAT_MALLEABILITY, "egs");
    uint32_t component = hand_submit(&h, PLEAT_MALLEABLE, 2, 12, 0);
    assert_int_equal(hand_claimed(&h, claim_of(&h), 12), 0);
    assert_int_equal(hand_started(&h, component), 0);
    hand_mark(&h);
    struct pleat_event less = {.kind = PLEAT_EV_SITE, .u.site = {.capacity = 4}};
    assert_int_equal(hand_feed(&h, less), 0);
    is(&h, component, PLEAT_RUNNING); /* it keeps what it has, and nothing new is begun */
    assert_int_equal(hand_component(&h, component)->processors, 12);
    assert_int_equal(h.effects.count, h.mark);
    assert_int_equal(hand_demand(&h, component, 11, false), 0); /* giving back works */
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 11), 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_VACATED, component, 11), 0);
    hand_release_all(&h);
    assert_int_equal(hand_demand(&h, component, 12, false), PLEAT_E_STATE);
    hand_finish(&h);
}

static void test_background_comes_while_a_job_grows(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = hand_run(&h, 2, 16, 4);
    assert_int_equal(hand_resize(&h, component, 12, PLEAT_NONE), 0);
    struct pleat_event busy = {.kind = PLEAT_EV_BACKGROUND, .u.site = {.background = 10}};
    assert_int_equal(hand_feed(&h, busy), 0);
    assert_int_equal(hand_claimed(&h, claim_of(&h), 8), 0); /* what is under way is done */
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 12), 0);
    assert_int_equal(hand_outcome(&h), PLEAT_OUTCOME_GROWN);
    uint32_t next = hand_submit(&h, PLEAT_RIGID, 1, 1, 0);
    is(&h, next, PLEAT_QUEUED);
    hand_finish(&h);
}

/* ---- placement ---- */

static void test_too_many_tries(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    hand_policy(&h, PLEAT_QUEUE, "scan");
    hand_parameter(&h, PLEAT_PARAM_MAX_TRIES, 2);
    hand_run(&h, 8, 8, 8);
    uint32_t component = hand_submit(&h, PLEAT_RIGID, 4, 4, 0);
    for (int tries = 1; tries <= 2; tries++) {
        is(&h, component, PLEAT_QUEUED);
        assert_int_equal(hand_component(&h, component)->tries, tries);
        hand_sleep(&h, pleat_parameter_default(PLEAT_PARAM_TRY_US));
    }
    is(&h, component, PLEAT_FAILED);
    assert_int_equal(hand_component(&h, component)->reason, PLEAT_REASON_TRIES);
    hand_finish(&h);
}

static void test_the_start_gets_fewer_processors(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    h.sizes_kind = PLEAT_SIZES_POWERS;
    uint32_t component = hand_submit(&h, PLEAT_MOLDABLE, 2, 8, 0);
    assert_int_equal(hand_claimed(&h, claim_of(&h), 7), 0);
    assert_int_equal(hand_last(&h, PLEAT_DO_START).u.run.processes, 4);
    assert_int_equal(hand_release_all(&h), 1); /* the 3 that it cannot use */
    assert_int_equal(hand_started(&h, component), 0);
    assert_int_equal(hand_component(&h, component)->processors, 4);
    hand_finish(&h);
}

/* Fewer than it needs: it keeps them, and waits in front for the others. */
static void test_the_start_gets_too_few_processors(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = hand_submit(&h, PLEAT_RIGID, 8, 8, 0);
    assert_int_equal(hand_claimed(&h, claim_of(&h), 5), 0);
    is(&h, component, PLEAT_CLAIMING); /* the others are there: asked for at once */
    assert_int_equal(claim_of(&h).u.claim.count, 3);
    assert_int_equal(hand_claimed(&h, claim_of(&h), 3), 0);
    assert_int_equal(hand_started(&h, component), 0);
    assert_int_equal(hand_component(&h, component)->processors, 8);
    hand_finish(&h);
}

static void test_the_site_can_never_give_that(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = hand_submit(&h, PLEAT_RIGID, 8, 8, 0);
    assert_int_equal(hand_claim_failed(&h, claim_of(&h), PLEAT_REASON_CLAIM_CANNOT), 0);
    is(&h, component, PLEAT_FAILED);
    assert_int_equal(hand_component(&h, component)->reason, PLEAT_REASON_CLAIM_CANNOT);
    assert_int_equal(hand_site(&h)->claimed, 0);
    hand_finish(&h);
}

static void test_the_start_is_not_claimed_in_time(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = hand_submit(&h, PLEAT_RIGID, 8, 8, 0);
    hand_sleep(&h, pleat_parameter_default(PLEAT_PARAM_CLAIM_US));
    is(&h, component, PLEAT_QUEUED);
    assert_int_equal(hand_claimed(&h, claim_of(&h), 8), PLEAT_CORE_STALE);
    hand_release_all(&h);
    hand_sleep(&h, pleat_parameter_default(PLEAT_PARAM_BACKOFF_US));
    is(&h, component, PLEAT_CLAIMING);
    hand_finish(&h);
}

static void test_the_start_fails(void **state)
{
    (void)state;
    enum pleat_reason reasons[] = {PLEAT_REASON_START_USER, PLEAT_REASON_START_SYSTEM};
    for (int i = 0; i < 2; i++) {
        struct hand h;
        hand_init(&h, 16);
        uint32_t component = hand_submit(&h, PLEAT_RIGID, 8, 8, 0);
        assert_int_equal(hand_claimed(&h, claim_of(&h), 8), 0);
        struct pleat_event failed = {
            .kind = PLEAT_EV_START_FAILED,
            .component = component,
            .u.exit = {.run = hand_component(&h, component)->run, .reason = reasons[i]}};
        assert_int_equal(hand_feed(&h, failed), 0);
        hand_release_all(&h);
        /* the user's own fault: failed. The node's: again */
        is(&h, component, i == 0 ? PLEAT_FAILED : PLEAT_CLAIMING);
        assert_int_equal(hand_component(&h, component)->attempt, i);
        assert_int_equal(hand_feed(&h, failed), PLEAT_CORE_STALE);
        hand_finish(&h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_room_is_made_and_used),
        cmocka_unit_test(test_the_waiter_is_cancelled_while_room_is_made),
        cmocka_unit_test(test_a_shrink_that_nobody_needs_is_withdrawn),
        cmocka_unit_test(test_a_shrink_for_a_waiter_is_enforced),
        cmocka_unit_test(test_the_shrinking_job_ends_before_room_is_made),
        cmocka_unit_test(test_the_waiter_starts_elsewhere_first),
        cmocka_unit_test(test_earmarks_do_not_wait_for_ever),
        cmocka_unit_test(test_cancelled_with_earmarks),
        cmocka_unit_test(test_losing_an_earmark),
        cmocka_unit_test(test_cancelled_while_queued),
        cmocka_unit_test(test_cancelled_while_claiming),
        cmocka_unit_test(test_cancelled_while_starting),
        cmocka_unit_test(test_cancelled_while_running),
        cmocka_unit_test(test_cancelled_in_every_step_of_a_resize),
        cmocka_unit_test(test_cancelled_while_finishing),
        cmocka_unit_test(test_losing_a_claim_before_it_is_given),
        cmocka_unit_test(test_losing_processors_while_starting),
        cmocka_unit_test(test_losing_processors_while_running),
        cmocka_unit_test(test_losing_what_is_being_released),
        cmocka_unit_test(test_the_maximum_falls_while_growing),
        cmocka_unit_test(test_the_maximum_falls_while_running),
        cmocka_unit_test(test_the_maximum_falls_while_starting),
        cmocka_unit_test(test_the_minimum_rises_in_a_resize),
        cmocka_unit_test(test_a_users_shrink_lasts),
        cmocka_unit_test(test_the_site_shrinks_below_what_is_held),
        cmocka_unit_test(test_background_comes_while_a_job_grows),
        cmocka_unit_test(test_too_many_tries),
        cmocka_unit_test(test_the_start_gets_fewer_processors),
        cmocka_unit_test(test_the_start_gets_too_few_processors),
        cmocka_unit_test(test_the_site_can_never_give_that),
        cmocka_unit_test(test_the_start_is_not_claimed_in_time),
        cmocka_unit_test(test_the_start_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
