/* An application asks for more processors, or gives some back (Lammers 2005, 5.3.2 and 5.3.3): one
 * test for each row of docs/resize-contract.md, "A program asks". */
#include "core_scenarios_hand.h"

/* Its application can use no size below `least`, and says so before it begins. */
static void cannot_begin(struct hand *h, uint32_t component, int32_t least)
{
    struct pleat_event event = {
        .kind = PLEAT_EV_DECLARED,
        .flags = PLEAT_LASTING,
        .component = component,
        .u.declared = {.run = hand_component(h, component)->run, .minimum = least}};
    assert_int_equal(hand_feed(h, event), 0);
    assert_int_equal(hand_asks_so(h, component, least, PLEAT_MANDATORY | PLEAT_UNBEGUN), 0);
}

/* Its processes are ended, and it waits again. */
static void ended_to_wait(struct hand *h, uint32_t component)
{
    assert_int_equal(hand_component(h, component)->state, PLEAT_FINISHING);
    assert_int_equal(hand_component(h, component)->reason, PLEAT_REASON_TOO_FEW);
    hand_exited(h, component, 143);
    hand_release_all(h);
}

static void test_asks_and_processors_are_idle(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    h.flags = PLEAT_COMPONENT_ASKS; /* it is offered what it asked for, as anything else */
    uint32_t component = hand_run(&h, 1, 8, 2);
    assert_int_equal(hand_asks(&h, component, 5, false), 0);
    hand_asks_still(&h, component);
    hand_at_step(&h, component, PLEAT_RESIZE_OFFERED);
    assert_int_equal(hand_change(&h, PLEAT_EV_ANSWER, component, 5), 0);
    hand_grows(&h, component, 5);
    hand_answered(&h, component, PLEAT_ASK_GRANTED, PLEAT_ASK_FULLY);
    hand_finish(&h);
}

static void test_asks_and_gets_a_part(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 6);
    uint32_t other = hand_run(&h, 2, 2, 2);
    uint32_t component = hand_run(&h, 1, 8, 2);
    assert_int_equal(hand_asks(&h, component, 6, false), 0);
    hand_grows(&h, component, 4);
    hand_answered(&h, component, PLEAT_ASK_GRANTED, PLEAT_ASK_PARTLY);
    assert_int_equal(hand_asks(&h, component, 6, false), 0); /* nothing is idle */
    hand_answered(&h, component, PLEAT_ASK_REFUSED, PLEAT_ASK_BUSY);
    hand_exited(&h, other, 0);
    hand_release_all(&h);
    assert_int_equal(hand_component(&h, component)->processors, 4); /* no is no */
    hand_finish(&h);
}

static void test_asks_for_what_can_never_be(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 6);
    uint32_t component = hand_run(&h, 2, 8, 2);
    assert_int_equal(hand_asks(&h, component, 9, true), 0);
    hand_answered(&h, component, PLEAT_ASK_REFUSED, PLEAT_ASK_LIMITS);
    assert_int_equal(hand_asks(&h, component, 7, true), 0);
    hand_answered(&h, component, PLEAT_ASK_REFUSED, PLEAT_ASK_CAPACITY);
    assert_int_equal(hand_asks(&h, component, 1, false), 0);
    hand_answered(&h, component, PLEAT_ASK_REFUSED, PLEAT_ASK_LIMITS);
    hand_finish(&h);
}

static void test_cannot_go_on_without_more(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t other = hand_run(&h, 4, 4, 4);
    uint32_t component = hand_run(&h, 1, 8, 2);
    assert_int_equal(hand_asks(&h, component, 6, true), 0);
    hand_asks_still(&h, component); /* two are idle, and it needs four */
    uint32_t waiting = hand_submit(&h, PLEAT_RIGID, 2, 2, 0);
    assert_int_equal(hand_component(&h, waiting)->state, PLEAT_QUEUED); /* they are kept for it */
    hand_exited(&h, other, 0);
    hand_release_all(&h);
    hand_grows(&h, component, 6);
    hand_answered(&h, component, PLEAT_ASK_GRANTED, PLEAT_ASK_FULLY);
    assert_int_not_equal(hand_component(&h, waiting)->state, PLEAT_QUEUED);
    hand_finish(&h);
}

/* What it lacks is on its way to it: nothing else is kept for it. */
static void test_it_grows_and_others_start(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t component = hand_run(&h, 1, 8, 2);
    hand_mark(&h);
    assert_int_equal(hand_asks(&h, component, 4, true), 0);
    hand_at_step(&h, component, PLEAT_RESIZE_ACCEPTED);
    uint32_t waiting = hand_submit(&h, PLEAT_RIGID, 4, 4, 0);
    assert_int_equal(hand_component(&h, waiting)->state, PLEAT_CLAIMING);
    hand_grows(&h, component, 4);
    hand_answered(&h, component, PLEAT_ASK_GRANTED, PLEAT_ASK_FULLY);
    hand_finish(&h);
}

static void test_it_does_not_wait_for_ever(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t other = hand_run(&h, 4, 4, 4);
    uint32_t component = hand_run(&h, 1, 8, 2);
    assert_int_equal(hand_asks_within(&h, component, 6, 10 * SECONDS), 0);
    hand_sleep(&h, 9 * SECONDS);
    hand_asks_still(&h, component);
    assert_int_equal(hand_asks_within(&h, component, 6, 10 * SECONDS), 0); /* from now on */
    hand_restart(&h);
    hand_sleep(&h, 9 * SECONDS);
    hand_asks_still(&h, component);
    hand_mark(&h);
    hand_sleep(&h, 2 * SECONDS);
    hand_answered(&h, component, PLEAT_ASK_REFUSED, PLEAT_ASK_TIME);
    uint32_t waiting = hand_submit(&h, PLEAT_RIGID, 2, 2, 0); /* nothing is kept for it */
    assert_int_not_equal(hand_component(&h, waiting)->state, PLEAT_QUEUED);
    assert_int_equal(hand_asks_within(&h, component, 6, 10 * SECONDS), 0);
    assert_int_equal(hand_asks(&h, component, 5, true), 0); /* that one waits for ever */
    hand_sleep(&h, 20 * SECONDS);
    hand_asks_still(&h, component);
    assert_int_equal(hand_asks_within(&h, component, 6, 10 * SECONDS), 0);
    hand_exited(&h, component, 1); /* nobody is waited for any more */
    hand_release_all(&h);
    hand_exited(&h, other, 0);
    hand_sleep(&h, 20 * SECONDS);
    hand_finish(&h);
}

static void test_the_growth_is_too_late(void **state)
{
    (void)state;
    for (int fails = 0; fails < 2; fails++) {
        struct hand h;
        hand_init(&h, 8);
        uint32_t component = hand_run(&h, 1, 8, 2);
        assert_int_equal(hand_asks_within(&h, component, 6, 10 * SECONDS), 0);
        assert_int_equal(hand_claimed(&h, hand_last(&h, PLEAT_DO_CLAIM), 4), 0);
        hand_at_step(&h, component, PLEAT_RESIZE_GRANTED);
        hand_sleep(&h, 11 * SECONDS);
        hand_asks_still(&h, component); /* it has begun */
        hand_restart(&h);
        assert_int_equal(
            hand_change(&h, fails ? PLEAT_EV_RESIZE_FAILED : PLEAT_EV_APPLIED, component, 6), 0);
        hand_answered(&h, component, fails ? PLEAT_ASK_REFUSED : PLEAT_ASK_GRANTED,
                      fails ? PLEAT_ASK_TIME : PLEAT_ASK_FULLY);
        hand_finish(&h);
    }
}

static void test_the_growth_fails(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = hand_run(&h, 1, 8, 2);
    assert_int_equal(hand_asks(&h, component, 4, false), 0);
    assert_int_equal(hand_claimed(&h, hand_last(&h, PLEAT_DO_CLAIM), 2), 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_RESIZE_FAILED, component, 2), 0);
    hand_answered(&h, component, PLEAT_ASK_REFUSED, PLEAT_ASK_FAILED);
    assert_int_equal(hand_asks(&h, component, 4, false), 0);
    hand_answered(&h, component, PLEAT_ASK_REFUSED, PLEAT_ASK_FAILED); /* too soon */
    hand_finish(&h);
}

static void test_gives_back(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    hand_policy(&h, PLEAT_MALLEABILITY, "egs");
    uint32_t component = hand_run(&h, 1, 8, 8);
    assert_int_equal(hand_asks(&h, component, 5, false), 0);
    hand_asks_still(&h, component);
    hand_at_step(&h, component, PLEAT_RESIZE_GRANTED); /* it is not asked whether it wants that */
    hand_shrinks(&h, component, 5);
    hand_answered(&h, component, PLEAT_ASK_GRANTED, PLEAT_ASK_FULLY);
    assert_int_equal(hand_component(&h, component)->state, PLEAT_RUNNING); /* no policy grows it */
    assert_int_equal(hand_asks(&h, component, 7, false), 0);
    hand_grows(&h, component, 7);
    hand_answered(&h, component, PLEAT_ASK_GRANTED, PLEAT_ASK_FULLY);
    assert_int_equal(hand_component(&h, component)->state, PLEAT_RUNNING);
    assert_int_equal(hand_asks(&h, component, 0, false), 0); /* it may be grown again */
    hand_grows(&h, component, 8);
    hand_finish(&h);
}

static void test_gives_back_while_it_grows(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = hand_run(&h, 1, 8, 4);
    assert_int_equal(hand_demand(&h, component, 8, false), 0);
    assert_int_equal(hand_asks(&h, component, 2, false), 0);
    hand_asks_still(&h, component); /* one after the other */
    hand_grows(&h, component, 8);
    hand_asks_still(&h, component);
    hand_shrinks(&h, component, 2);
    hand_answered(&h, component, PLEAT_ASK_GRANTED, PLEAT_ASK_FULLY);
    hand_finish(&h);
}

static void test_asks_while_it_is_shrunk(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t component = hand_run(&h, 1, 8, 6);
    uint32_t waiting = hand_submit(&h, PLEAT_RIGID, 4, 4, 0);
    assert_int_equal(hand_resize(&h, component, 4, waiting), 0);
    assert_int_equal(hand_asks(&h, component, 7, false), 0);
    hand_asks_still(&h, component);
    hand_shrinks(&h, component, 4); /* the waiting job gets what was taken for it */
    hand_answered(&h, component, PLEAT_ASK_REFUSED, PLEAT_ASK_BUSY);
    assert_int_equal(hand_component(&h, component)->processors, 4);
    hand_finish(&h);
}

static void test_asks_anew(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t other = hand_run(&h, 4, 4, 4);
    uint32_t component = hand_run(&h, 1, 8, 4);
    assert_int_equal(hand_asks(&h, component, 8, true), 0);
    hand_asks_still(&h, component);
    struct pleat_event again = {
        .kind = PLEAT_EV_ASKED, /* told again: it is known */
        .component = component,
        .u.asked = {.run = hand_component(&h, component)->run, .number = h.asked, .processors = 2}};
    assert_int_equal(hand_feed(&h, again), PLEAT_CORE_STALE);
    assert_int_equal(hand_asks(&h, component, 0, false), 0); /* withdrawn */
    assert_int_equal(hand_count(&h, PLEAT_DO_ANSWER), 0);
    hand_exited(&h, other, 0);
    hand_release_all(&h);
    assert_int_equal(hand_component(&h, component)->state, PLEAT_RUNNING);
    assert_int_equal(hand_asks(&h, component, 6, true), 0);
    hand_exited(&h, component, 0); /* and nobody asks any more */
    hand_release_all(&h);
    uint32_t next = hand_run(&h, 1, 8, 8);
    assert_int_equal(hand_component(&h, next)->processors, 8);
    hand_finish(&h);
}

static void test_cannot_begin_and_processors_are_idle(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    h.flags = PLEAT_COMPONENT_ASKS; /* it answers no offers before it has begun */
    uint32_t component = hand_run(&h, 1, 8, 2);
    cannot_begin(&h, component, 5);
    hand_asks_still(&h, component);
    hand_grows(&h, component, 5);
    hand_answered(&h, component, PLEAT_ASK_GRANTED, PLEAT_ASK_FULLY);
    hand_finish(&h);
}

static void test_cannot_begin_and_others_have_them(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t other = hand_run(&h, 4, 4, 4);
    uint32_t component = hand_run(&h, 1, 8, 2);
    uint64_t run = hand_component(&h, component)->run;
    cannot_begin(&h, component, 5);
    ended_to_wait(&h, component);
    assert_int_equal(hand_component(&h, component)->state, PLEAT_QUEUED); /* and holds nothing */
    assert_int_equal(hand_component(&h, component)->minimum, 5);
    hand_exited(&h, other, 0);
    hand_release_all(&h); /* it is started at once at a size with which it can begin */
    assert_int_equal(hand_component(&h, component)->state, PLEAT_CLAIMING);
    assert_int_equal(hand_claimed(&h, hand_last(&h, PLEAT_DO_CLAIM), 5), 0);
    assert_int_equal(hand_started(&h, component), 0);
    assert_int_equal(hand_component(&h, component)->processors, 5);
    assert_int_not_equal(hand_component(&h, component)->run, run);
    assert_int_equal(hand_component(&h, component)->attempt, 1);
    hand_limits(&h, component, 1, 8); /* its user's limits are as they were */
    assert_int_equal(hand_component(&h, component)->minimum, 5);
    hand_finish(&h);
}

/* Whatever comes first where others wait, too. */
static void two_cannot_begin(const char *need, bool others_wait)
{
    struct hand h;
    hand_init(&h, 4);
    hand_policy(&h, PLEAT_NEED, need);
    uint32_t one = hand_run(&h, 1, 4, 2), two = hand_run(&h, 1, 4, 2);
    if (others_wait)
        hand_submit(&h, PLEAT_RIGID, 4, 4, 0);
    cannot_begin(&h, one, 4);
    cannot_begin(&h, two, 4);
    ended_to_wait(&h, one);
    ended_to_wait(&h, two);
    /* one after the other */
    uint32_t first = hand_component(&h, one)->state == PLEAT_QUEUED ? two : one;
    uint32_t then = first == one ? two : one;
    assert_int_equal(hand_component(&h, first)->target, 4);
    assert_int_equal(hand_component(&h, then)->state, PLEAT_QUEUED);
    hand_finish(&h);
}

static void test_two_cannot_begin(void **state)
{
    (void)state;
    for (int others_wait = 0; others_wait < 2; others_wait++) {
        two_cannot_begin("idle", others_wait);
        two_cannot_begin("waiting-first", others_wait);
    }
}

static void test_cannot_begin_and_never_will(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 6);
    uint32_t component = hand_run(&h, 2, 4, 2);
    cannot_begin(&h, component, 5); /* more than its user allows */
    hand_answered(&h, component, PLEAT_ASK_REFUSED, PLEAT_ASK_LIMITS);
    uint32_t other = hand_run(&h, 2, 8, 2);
    cannot_begin(&h, other, 7); /* more than there are */
    hand_answered(&h, other, PLEAT_ASK_REFUSED, PLEAT_ASK_CAPACITY);
    h.flags = PLEAT_COMPONENT_ONCE; /* it would have to be started again */
    uint32_t once = hand_run(&h, 1, 2, 1);
    cannot_begin(&h, once, 2);
    hand_answered(&h, once, PLEAT_ASK_REFUSED, PLEAT_ASK_ONCE);
    hand_finish(&h);
}

/* One that wants more each time is not started for ever. */
static void test_cannot_begin_in_vain(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    hand_policy(&h, PLEAT_MOLDABILITY, "minimum");
    hand_parameter(&h, PLEAT_PARAM_ATTEMPTS, 2);
    uint32_t other = hand_run(&h, 8, 8, 8);
    uint32_t component = hand_run(&h, 2, 16, 2);
    cannot_begin(&h, component, 9);
    ended_to_wait(&h, component);
    hand_exited(&h, other, 0);
    hand_release_all(&h);
    assert_int_equal(hand_claimed(&h, hand_last(&h, PLEAT_DO_CLAIM), 9), 0);
    assert_int_equal(hand_started(&h, component), 0);
    assert_int_equal(hand_component(&h, component)->processors, 9);
    hand_run(&h, 7, 7, 7);
    cannot_begin(&h, component, 10);
    ended_to_wait(&h, component);
    assert_int_equal(hand_component(&h, component)->state, PLEAT_FAILED);
    hand_finish(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_asks_and_processors_are_idle),
        cmocka_unit_test(test_asks_and_gets_a_part),
        cmocka_unit_test(test_asks_for_what_can_never_be),
        cmocka_unit_test(test_cannot_go_on_without_more),
        cmocka_unit_test(test_it_grows_and_others_start),
        cmocka_unit_test(test_it_does_not_wait_for_ever),
        cmocka_unit_test(test_the_growth_is_too_late),
        cmocka_unit_test(test_the_growth_fails),
        cmocka_unit_test(test_gives_back),
        cmocka_unit_test(test_gives_back_while_it_grows),
        cmocka_unit_test(test_asks_while_it_is_shrunk),
        cmocka_unit_test(test_asks_anew),
        cmocka_unit_test(test_cannot_begin_and_processors_are_idle),
        cmocka_unit_test(test_cannot_begin_and_others_have_them),
        cmocka_unit_test(test_two_cannot_begin),
        cmocka_unit_test(test_cannot_begin_and_never_will),
        cmocka_unit_test(test_cannot_begin_in_vain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
