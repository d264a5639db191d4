/* What one that cannot go on may take from others, and what is gained by giving up processors
 * (Buisson et al. 2007, VIII; Lammers 2005, 5.3.3): one test for each row of
 * docs/resize-contract.md, "What others give for it". */
#include "core_scenarios_hand.h"
#include "policy/asks.h"

/* 8 processors: `other` has 6 of them and needs 2, `component` has 2. */
static void begin(struct hand *h, const char *need, uint32_t *other, uint32_t *component)
{
    hand_init(h, 8);
    hand_policy(h, PLEAT_NEED, need);
    hand_policy(h, PLEAT_APPROACH, "pwa");
    *other = hand_run(h, 2, 6, 6);
    *component = hand_run(h, 1, 8, 2);
    hand_policy(h, PLEAT_MALLEABILITY, "fpsma");
}

static int32_t credit(const struct hand *h, uint32_t component)
{
    return pleat_view_ask(pleat_core_view(h->core), hand_component(h, component))->credit;
}

static bool is_mandatory(const struct hand *h, uint32_t component)
{
    return pleat_core_resize(h->core, hand_component(h, component)->resize)->mandatory;
}

static void test_nothing_is_taken_from_others(void **state)
{
    (void)state;
    struct hand h;
    uint32_t other, component;
    begin(&h, "idle", &other, &component);
    assert_int_equal(hand_asks(&h, component, 4, true), 0);
    hand_asks_still(&h, component);
    assert_int_equal(hand_component(&h, other)->state, PLEAT_RUNNING);
    hand_finish(&h);
}

static void test_others_have_to_shrink(void **state)
{
    (void)state;
    struct hand h;
    uint32_t other, component;
    begin(&h, "mandatory", &other, &component);
    assert_int_equal(hand_asks(&h, component, 5, true), 0);
    hand_at_step(&h, other, PLEAT_RESIZE_GRANTED);
    assert_true(is_mandatory(&h, other));
    assert_int_equal(hand_component(&h, component)->coming, 3);
    hand_restart(&h);
    uint32_t waiting = hand_submit(&h, PLEAT_RIGID, 1, 1, 0);
    hand_shrinks(&h, other, 3);
    hand_restart(&h);
    hand_grows(&h, component, 5); /* and not the job that waits */
    hand_answered(&h, component, PLEAT_ASK_GRANTED, PLEAT_ASK_FULLY);
    assert_int_equal(hand_component(&h, waiting)->site, 0); /* now room is made for that one */
    assert_int_equal(credit(&h, other), 0);                 /* it had to */
    hand_finish(&h);
}

static void test_others_have_not_enough(void **state)
{
    (void)state;
    struct hand h;
    uint32_t other, component;
    begin(&h, "mandatory", &other, &component);
    assert_int_equal(hand_asks(&h, component, 7, true), 0); /* 4 can be had, 5 are needed */
    hand_asks_still(&h, component);
    assert_int_equal(hand_component(&h, other)->state, PLEAT_RUNNING);
    assert_int_equal(hand_asks(&h, component, 6, false), 0); /* and for a wish nothing is taken */
    hand_answered(&h, component, PLEAT_ASK_REFUSED, PLEAT_ASK_BUSY);
    assert_int_equal(hand_component(&h, other)->state, PLEAT_RUNNING);
    hand_finish(&h);
}

static void test_others_are_asked(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    hand_policy(&h, PLEAT_NEED, "voluntary");
    hand_policy(&h, PLEAT_REWARD, "grow-first");
    h.flags = PLEAT_COMPONENT_ASKS;
    uint32_t other = hand_run(&h, 2, 6, 6);
    h.flags = 0;
    uint32_t component = hand_run(&h, 1, 8, 2);
    hand_policy(&h, PLEAT_MALLEABILITY, "fpsma");
    assert_int_equal(hand_asks(&h, component, 5, true), 0);
    hand_at_step(&h, other, PLEAT_RESIZE_OFFERED);
    assert_false(is_mandatory(&h, other));
    assert_int_equal(hand_change(&h, PLEAT_EV_ANSWER, other, 6), 0); /* no */
    hand_asks_still(&h, component);
    assert_int_equal(hand_component(&h, other)->state, PLEAT_RUNNING);
    hand_sleep(&h, 60 * SECONDS); /* its backoff is over: it is asked again */
    hand_at_step(&h, other, PLEAT_RESIZE_OFFERED);
    assert_int_equal(hand_change(&h, PLEAT_EV_ANSWER, other, 5), 0); /* a part */
    hand_shrinks(&h, other, 5);
    hand_at_step(&h, other, PLEAT_RESIZE_OFFERED); /* for the rest */
    hand_asks_still(&h, component);                /* what there is is kept for it */
    assert_int_equal(hand_change(&h, PLEAT_EV_ANSWER, other, 3), 0);
    hand_shrinks(&h, other, 3);
    hand_grows(&h, component, 5);
    hand_answered(&h, component, PLEAT_ASK_GRANTED, PLEAT_ASK_FULLY);
    assert_int_equal(credit(&h, other), 3);
    hand_finish(&h);
}

static void test_it_asks_no_more_while_others_shrink(void **state)
{
    (void)state;
    for (int how = 0; how < 3; how++) {
        struct hand h;
        uint32_t other, component;
        begin(&h, "mandatory", &other, &component);
        assert_int_equal(hand_asks(&h, component, 5, true), 0);
        hand_at_step(&h, other, PLEAT_RESIZE_GRANTED);
        if (how == 0)
            assert_int_equal(hand_asks(&h, component, 0, false), 0);
        else if (how == 1)
            assert_int_equal(hand_exited(&h, component, 0), 0);
        else
            assert_int_equal(hand_cancel(&h, component), 0);
        assert_int_equal(hand_component(&h, component)->coming, 0);
        assert_int_equal(hand_site(&h)->coming, 3); /* it goes on, for nobody in particular */
        hand_enforce(&h);                           /* and is not enforced any more */
        assert_int_not_equal(hand_component(&h, other)->state, PLEAT_FINISHING);
        hand_shrinks(&h, other, 3);
        assert_int_equal(hand_component(&h, component)->coming, 0);
        hand_finish(&h);
    }
}

static void test_two_that_wait_for_one_another(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 11);
    uint32_t second = hand_run(&h, 1, 8, 4), first = hand_run(&h, 1, 8, 4);
    (void)hand_run(&h, 3, 3, 3); /* what they could wait for */
    hand_policy(&h, PLEAT_MALLEABILITY, "fpsma");
    assert_int_equal(hand_asks(&h, first, 6, true), 0);
    assert_int_equal(hand_asks(&h, second, 6, true), 0);
    hand_policy(&h, PLEAT_NEED, "mandatory");
    assert_int_equal(hand_component(&h, first)->state, PLEAT_RUNNING);
    hand_shrinks(&h, second, 2);
    hand_grows(&h, first, 6);
    assert_int_equal(hand_component(&h, first)->processors, 6);
    hand_mark(&h);
    hand_shrinks(&h, first, 2); /* it goes on, and can give them to the other */
    hand_grows(&h, second, 6);
    hand_answered(&h, second, PLEAT_ASK_GRANTED, PLEAT_ASK_FULLY);
    hand_finish(&h);
}

/* All that others have is held by programs that cannot go on. */
static void test_all_wait_for_one_another(void **state)
{
    (void)state;
    for (int last = 0; last < 2; last++) {
        struct hand h;
        hand_init(&h, 8);
        hand_policy(&h, PLEAT_NEED, last ? "waiting-first" : "idle");
        uint32_t first = hand_run(&h, 4, 8, 4), second = hand_run(&h, 3, 8, 3);
        uint32_t waiting = hand_submit(&h, PLEAT_RIGID, 8, 8, 0);
        assert_int_equal(hand_asks(&h, first, 6, true), 0);
        hand_asks_still(&h, first);
        assert_int_equal(hand_asks(&h, second, 5, true), 0);
        hand_answered(&h, second, PLEAT_ASK_REFUSED, PLEAT_ASK_BUSY);
        assert_int_equal(hand_component(&h, waiting)->state, PLEAT_QUEUED);
        assert_int_equal(hand_exited(&h, second, 1), 0);
        hand_release_all(&h);
        hand_grows(&h, first, 6);
        hand_finish(&h);
    }
}

/* Another job runs, and what it has would not be enough for them either. */
static void test_others_are_of_no_help(void **state)
{
    (void)state;
    for (int helps = 0; helps < 2; helps++) {
        struct hand h;
        hand_init(&h, 9);
        uint32_t first = hand_run(&h, 4, 8, 4), second = hand_run(&h, 3, 8, 3);
        uint32_t other = hand_run(&h, 2, 2, 2);
        int32_t wanted = helps ? 6 : 7;
        assert_int_equal(hand_asks(&h, first, wanted, true), 0);
        assert_int_equal(hand_asks(&h, second, 6, true), 0);
        if (helps) {
            hand_asks_still(&h, second); /* the first one waits for the other job */
            hand_exited(&h, other, 0);
            hand_release_all(&h);
        } else {
            hand_answered(&h, second, PLEAT_ASK_REFUSED, PLEAT_ASK_BUSY);
            hand_mark(&h);
            hand_asks_still(&h, first);
            hand_exited(&h, second, 1);
            hand_release_all(&h);
        }
        hand_grows(&h, first, wanted);
        hand_finish(&h);
    }
}

/* A site of two nodes of four. */
static void two_nodes(struct hand *h, const char *need)
{
    hand_init(h, 8);
    hand_policy(h, PLEAT_NEED, need);
    for (uint32_t n = 0; n < 2; n++) {
        struct pleat_event node = {
            .kind = PLEAT_EV_NODE, .component = 0, .u.node = {.node = n, .slots = 4}};
        assert_int_equal(hand_feed(h, node), 0);
    }
}

static uint32_t run_on(struct hand *h, uint32_t node, int32_t minimum, int32_t size)
{
    h->node = node;
    uint32_t component = hand_run(h, minimum, 8, size);
    h->node = 0;
    assert_int_equal(hand_component(h, component)->lead_node, node);
    return component;
}

/* Two on one node, which must stay there; a third one on the other node, where much is idle, or
 * which waits, too, but has nothing that would help them. */
static void test_they_wait_for_one_another_on_a_node(void **state)
{
    (void)state;
    static const char *const needs[] = {"idle", "mandatory", "waiting-first"};
    for (size_t i = 0; i < 6; i++) {
        struct hand h;
        two_nodes(&h, needs[i / 2]);
        uint32_t first = run_on(&h, 0, 2, 2), second = run_on(&h, 0, 2, 2);
        uint32_t third = run_on(&h, 1, 1, 1);
        bool waits = i % 2;
        if (waits) /* for the rest of its node, which a fourth one has */
            (void)run_on(&h, 1, 3, 3);
        uint32_t queued = i / 2 == 2 ? hand_submit(&h, PLEAT_RIGID, 4, 4, 0) : PLEAT_NONE;
        assert_int_equal(hand_asks(&h, first, 3, true), 0);
        hand_asks_still(&h, first);
        assert_int_equal(hand_asks(&h, second, 3, true), 0);
        hand_answered(&h, second, PLEAT_ASK_REFUSED, PLEAT_ASK_BUSY);
        hand_mark(&h);
        hand_asks_still(&h, first);
        if (waits) {
            assert_int_equal(hand_asks(&h, third, 2, true), 0);
            hand_asks_still(&h, third); /* it is alone on its node with somebody who goes on */
            hand_asks_still(&h, first);
        }
        if (queued != PLEAT_NONE)
            assert_int_equal(hand_cancel(&h, queued), 0);
        assert_int_equal(hand_exited(&h, second, 0), 0);
        hand_release_all(&h);
        hand_grows(&h, first, 3);
        hand_answered(&h, first, PLEAT_ASK_GRANTED, PLEAT_ASK_FULLY);
        hand_finish(&h);
    }
}

/* One must stay on its node, the other has processors there and on the next one, and waits for
 * those of the first. */
static void test_they_wait_for_one_another_across_nodes(void **state)
{
    (void)state;
    for (int circle = 0; circle < 2; circle++) {
        struct hand h;
        two_nodes(&h, "idle");
        uint32_t first = run_on(&h, 0, 1, 2);
        h.flags = PLEAT_COMPONENT_SPREADS;
        uint32_t spread = run_on(&h, circle ? 0 : 1, 1, 2);
        h.flags = 0;
        uint32_t other = circle ? PLEAT_NONE : run_on(&h, 0, 1, 1);
        assert_int_equal(hand_asks(&h, first, 4, true), 0);
        hand_asks_still(&h, first);
        assert_int_equal(hand_asks(&h, spread, 7, true), 0);
        if (circle) {
            hand_answered(&h, spread, PLEAT_ASK_REFUSED, PLEAT_ASK_BUSY);
            assert_int_equal(hand_exited(&h, spread, 0), 0);
        } else {
            hand_asks_still(&h, spread); /* the first one waits for a third job on its node */
            assert_int_equal(hand_exited(&h, other, 0), 0);
        }
        hand_release_all(&h);
        hand_grows(&h, first, 4);
        hand_finish(&h);
    }
}

/* A rigid job that runs on a node. */
static uint32_t rigid_on(struct hand *h, uint32_t node, int32_t size)
{
    h->node = node;
    uint32_t component = hand_submit(h, PLEAT_RIGID, size, size, 0);
    assert_int_equal(hand_claimed(h, hand_last(h, PLEAT_DO_CLAIM), size), 0);
    assert_int_equal(hand_started(h, component), 0);
    h->node = 0;
    return component;
}

/* What is idle on its node is kept for it; what is idle on the other one is of no use to it. */
static void test_kept_on_its_node(void **state)
{
    (void)state;
    struct hand h;
    two_nodes(&h, "idle");
    const struct pleat_view *view = pleat_core_view(h.core);
    uint32_t asks = run_on(&h, 0, 2, 2);
    uint32_t beside = rigid_on(&h, 0, 1);
    hand_mark(&h);
    assert_int_equal(hand_asks(&h, asks, 4, true), 0); /* it lacks two, and one is idle there */
    hand_asks_still(&h, asks);
    assert_int_equal(pleat_view_wanted_on(view, 0, 0, PLEAT_NONE), 2);
    assert_int_equal(pleat_view_wanted_on(view, 0, 0, asks), 0);
    assert_int_equal(pleat_view_wanted_on(view, 0, 1, PLEAT_NONE), 0);
    (void)rigid_on(&h, 1, 4);
    uint32_t waits = hand_submit(&h, PLEAT_RIGID, 1, 1, 0);
    assert_int_equal(hand_component(&h, waits)->state, PLEAT_QUEUED);
    assert_int_equal(hand_exited(&h, beside, 0), 0);
    hand_release_all(&h);
    hand_grows(&h, asks, 4);
    hand_answered(&h, asks, PLEAT_ASK_GRANTED, PLEAT_ASK_FULLY);
    assert_int_equal(pleat_view_wanted_on(view, 0, 0, PLEAT_NONE), 0);
    hand_finish(&h);
}

/* The other node has six. */
static void test_asks_for_more_than_its_node_has(void **state)
{
    (void)state;
    struct hand h;
    two_nodes(&h, "idle");
    struct pleat_event node = {
        .kind = PLEAT_EV_NODE, .component = 0, .u.node = {.node = 1, .slots = 6}};
    assert_int_equal(hand_feed(&h, node), 0);
    uint32_t component = run_on(&h, 0, 1, 2);
    assert_int_equal(hand_asks(&h, component, 5, true), 0);
    hand_answered(&h, component, PLEAT_ASK_REFUSED, PLEAT_ASK_CAPACITY);
    hand_finish(&h);
}

static void test_waiting_jobs_come_first(void **state)
{
    (void)state;
    struct hand h;
    uint32_t other, component;
    begin(&h, "waiting-first", &other, &component);
    assert_int_equal(hand_limits(&h, component, 2, 8), 0);
    uint32_t rigid = hand_submit(&h, PLEAT_RIGID, 2, 2, 0); /* `other` makes room for it */
    assert_int_equal(hand_asks(&h, component, 4, true), 0);
    assert_int_equal(hand_component(&h, rigid)->coming, 2);
    assert_int_equal(hand_component(&h, component)->coming, 0);
    hand_shrinks(&h, other, 4);
    assert_int_equal(hand_started(&h, rigid), 0);
    assert_int_equal(hand_component(&h, component)->coming, 2); /* now nobody waits */
    hand_shrinks(&h, other, 2);
    hand_grows(&h, component, 4);
    hand_answered(&h, component, PLEAT_ASK_GRANTED, PLEAT_ASK_FULLY);
    hand_finish(&h);
}

/* `giver` gave 2 of its 4 up, in place of a policy; `taker` has 4, and started before it. */
static void give_up(struct hand *h, const char *reward, uint32_t *taker, uint32_t *giver)
{
    hand_init(h, 8);
    hand_policy(h, PLEAT_REWARD, reward);
    hand_policy(h, PLEAT_APPROACH, "pwa");
    *taker = hand_run(h, 1, 8, 4);
    *giver = hand_run(h, 1, 8, 4);
    struct pleat_event resize = {
        .kind = PLEAT_EV_RESIZE,
        .component = *giver,
        .u.resize = {
            .offered = -2, .accepted = -2, .processors = 2, .processes = 2, .waiter = PLEAT_NONE}};
    assert_int_equal(hand_feed(h, resize), 0);
    hand_shrinks(h, *giver, 2);
    assert_int_equal(credit(h, *giver), 2);
    hand_restart(h);
    assert_int_equal(credit(h, *giver), 2);
}

static void test_who_gave_is_the_first_to_grow(void **state)
{
    (void)state;
    for (int rewarded = 0; rewarded < 2; rewarded++) {
        struct hand h;
        uint32_t taker, giver;
        give_up(&h, rewarded ? "grow-first" : "none", &taker, &giver);
        hand_policy(&h, PLEAT_MALLEABILITY, "fpsma"); /* the earliest started grows first */
        hand_grows(&h, rewarded ? giver : taker, rewarded ? 4 : 6);
        assert_int_equal(credit(&h, giver), rewarded ? 0 : 2);
        hand_finish(&h);
    }
}

static void test_who_gave_is_the_last_to_shrink(void **state)
{
    (void)state;
    for (int rewarded = 0; rewarded < 2; rewarded++) {
        struct hand h;
        uint32_t taker, giver;
        give_up(&h, rewarded ? "shrink-last" : "none", &taker, &giver);
        uint32_t rigid = hand_submit(&h, PLEAT_RIGID, 2, 2, 0);
        assert_int_equal(hand_claimed(&h, hand_last(&h, PLEAT_DO_CLAIM), 2), 0);
        assert_int_equal(hand_started(&h, rigid), 0);
        hand_policy(&h, PLEAT_MALLEABILITY, "fpsma"); /* the latest started shrinks first */
        (void)hand_submit(&h, PLEAT_RIGID, 2, 2, 0);
        assert_int_equal(hand_component(&h, giver)->target, rewarded ? 2 : 1);
        assert_int_equal(hand_component(&h, taker)->target, rewarded ? 2 : 3);
        hand_finish(&h);
    }
}

/* Shares of what is wanted, too, are first those of the jobs that gave nothing: `taker` gives all
 * that it can, and `giver` one only where 4 are wanted. egs-once is asked for one round of each. */
static void test_who_gave_has_the_last_share(void **state)
{
    (void)state;
    static const char *const policies[] = {"egs", "egs-once", "egs-printed"};
    for (int p = 0; p < 3; p++)
        for (int wanted = 3; wanted <= 4; wanted++) {
            struct hand h;
            uint32_t taker, giver;
            give_up(&h, "shrink-last", &taker, &giver);
            uint32_t rigid = hand_submit(&h, PLEAT_RIGID, 2, 2, 0);
            assert_int_equal(hand_claimed(&h, hand_last(&h, PLEAT_DO_CLAIM), 2), 0);
            assert_int_equal(hand_started(&h, rigid), 0);
            hand_policy(&h, PLEAT_MALLEABILITY, policies[p]);
            (void)hand_submit(&h, PLEAT_RIGID, wanted, wanted, 0);
            assert_int_equal(hand_component(&h, taker)->target, 1);
            assert_int_equal(hand_component(&h, giver)->target, wanted == 4 ? 1 : 2);
            hand_finish(&h);
        }
}

static void test_what_is_no_gift(void **state)
{
    (void)state;
    struct hand h;
    uint32_t taker, giver;
    give_up(&h, "grow-first", &taker, &giver);
    assert_int_equal(hand_demand(&h, taker, 3, false), 0); /* its user wants that */
    hand_shrinks(&h, taker, 3);
    assert_int_equal(credit(&h, taker), 0);
    assert_int_equal(hand_asks(&h, taker, 2, false), 0); /* its program wants that */
    hand_shrinks(&h, taker, 2);
    assert_int_equal(credit(&h, taker), 0);
    struct pleat_event requeue = {.kind = PLEAT_EV_REQUEUE, .component = giver};
    assert_int_equal(hand_feed(&h, requeue), 0);
    assert_int_equal(hand_exited(&h, giver, 0), 0);
    hand_release_all(&h);
    assert_int_equal(credit(&h, giver), 0); /* of that run */
    hand_finish(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_taken_from_others),
        cmocka_unit_test(test_others_have_to_shrink),
        cmocka_unit_test(test_others_have_not_enough),
        cmocka_unit_test(test_others_are_asked),
        cmocka_unit_test(test_it_asks_no_more_while_others_shrink),
        cmocka_unit_test(test_two_that_wait_for_one_another),
        cmocka_unit_test(test_all_wait_for_one_another),
        cmocka_unit_test(test_others_are_of_no_help),
        cmocka_unit_test(test_they_wait_for_one_another_on_a_node),
        cmocka_unit_test(test_they_wait_for_one_another_across_nodes),
        cmocka_unit_test(test_kept_on_its_node),
        cmocka_unit_test(test_asks_for_more_than_its_node_has),
        cmocka_unit_test(test_waiting_jobs_come_first),
        cmocka_unit_test(test_who_gave_is_the_first_to_grow),
        cmocka_unit_test(test_who_gave_is_the_last_to_shrink),
        cmocka_unit_test(test_who_gave_has_the_last_share),
        cmocka_unit_test(test_what_is_no_gift),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
