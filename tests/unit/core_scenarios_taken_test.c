/* Processors that a site takes back sooner than it had said, as when somebody ends an allocation in
 * the batch system: the processes there are left for a while. */
#include <string.h>

#include "core_scenarios_hand.h"
#include "model/occasion.h"

static void is(const struct hand *h, uint32_t component, enum pleat_component_state state)
{
    assert_int_equal(hand_component(h, component)->state, state);
}

/* A job that got 4 processors, then twice 2 more, in this order. */
struct job {
    struct hand h;
    uint32_t component;
    struct pleat_effect claims[3];
};

static void begin_with(struct job *job, uint16_t flags, int32_t minimum)
{
    hand_init(&job->h, 12);
    hand_parameter(&job->h, PLEAT_PARAM_SHRINK_OFF_US, 30 * SECONDS);
    job->h.flags = flags;
    job->component = hand_run(&job->h, minimum, 12, 4);
    job->claims[0] = hand_last(&job->h, PLEAT_DO_CLAIM);
    for (int i = 1; i < 3; i++) {
        assert_int_equal(hand_resize(&job->h, job->component, 4 + 2 * i, PLEAT_NONE), 0);
        job->claims[i] = hand_last(&job->h, PLEAT_DO_CLAIM);
        hand_grows(&job->h, job->component, 4 + 2 * i);
    }
    hand_mark(&job->h);
}

static int taken(struct job *job, int which, int64_t in_us)
{
    const struct pleat_event event = {.kind = PLEAT_EV_CLAIM_ENDS,
                                      .component = job->claims[which].u.claim.index,
                                      .u.ends = {.claim = job->claims[which].id,
                                                 .end_us = job->h.now_us + in_us,
                                                 .reason = PLEAT_REASON_TAKEN}};
    return hand_feed(&job->h, event);
}

/* It has to shrink to that size, now, and is told why. */
static void leaves(struct job *job, int32_t size)
{
    is(&job->h, job->component, PLEAT_RESIZING);
    struct pleat_effect told = hand_last(&job->h, PLEAT_DO_RESIZE);
    assert_int_equal(told.u.change.processors, size);
    assert_int_equal(told.u.change.reason, PLEAT_REASON_TAKEN);
    assert_int_equal(told.flags, PLEAT_MANDATORY | pleat_occasion_flags(PLEAT_OCCASION_TAKEN));
}

/* Whichever it is of those that it got later, it keeps the other one. */
static void test_it_leaves_what_is_taken_from_it(void **state)
{
    (void)state;
    for (int which = 1; which < 3; which++)
        for (int restarted = 0; restarted < 2; restarted++) {
            struct job job;
            begin_with(&job, 0, 4);
            assert_int_equal(taken(&job, which, 20 * SECONDS), 0);
            assert_int_equal(taken(&job, which, 20 * SECONDS), PLEAT_CORE_STALE);
            leaves(&job, 6);
            if (restarted)
                hand_restart(&job.h);
            hand_shrinks(&job.h, job.component, 6);
            assert_int_equal(hand_last(&job.h, PLEAT_DO_RELEASE).id, job.claims[which].id);
            hand_expect(&job.h, job.component, PLEAT_OUTCOME_SHRUNK, PLEAT_RUNNING, 6);
            assert_int_equal(pleat_core_run_until(job.h.core, job.component), PLEAT_NEVER);
            hand_sleep(&job.h, 100 * SECONDS);
            is(&job.h, job.component, PLEAT_RUNNING);
            assert_int_equal(hand_component(&job.h, job.component)->attempt, 0);
            hand_finish(&job.h);
        }
}

/* Two of three are taken: the first one is enough for it. */
static void test_it_leaves_all_that_is_taken_from_it(void **state)
{
    (void)state;
    struct job job;
    begin_with(&job, 0, 4);
    assert_int_equal(taken(&job, 1, 20 * SECONDS), 0);
    assert_int_equal(taken(&job, 2, 20 * SECONDS), 0);
    leaves(&job, 6);
    hand_shrinks(&job.h, job.component, 6);
    leaves(&job, 4);
    hand_shrinks(&job.h, job.component, 4);
    hand_expect(&job.h, job.component, PLEAT_OUTCOME_SHRUNK, PLEAT_RUNNING, 4);
    hand_finish(&job.h);
}

/* Its first processors, or more than it can do without; or nothing is to be left early. It is not
 * shrunk for nothing. */
static void test_it_cannot_do_without_what_is_taken_from_it(void **state)
{
    (void)state;
    for (int why = 0; why < 4; why++) {
        struct job job;
        begin_with(&job, 0, 4);
        if (why == 1)
            assert_int_equal(hand_limits(&job.h, job.component, 7, 12), 0);
        if (why == 2)
            hand_parameter(&job.h, PLEAT_PARAM_SHRINK_OFF_US, 0);
        assert_int_equal(taken(&job, why == 1 || why == 2 ? 1 : 0, 20 * SECONDS), 0);
        if (why == 3) /* all of them */
            assert_int_equal(taken(&job, 1, 20 * SECONDS) | taken(&job, 2, 20 * SECONDS), 0);
        is(&job.h, job.component, PLEAT_RUNNING);
        assert_int_equal(pleat_core_run_until(job.h.core, job.component),
                         job.h.now_us + 20 * SECONDS);
        hand_sleep(&job.h, 20 * SECONDS);
        is(&job.h, job.component, PLEAT_FINISHING);
        assert_int_equal(hand_last(&job.h, PLEAT_DO_KILL).u.run.reason, PLEAT_REASON_TAKEN);
        assert_int_equal(hand_exited(&job.h, job.component, 1), 0);
        hand_release_all(&job.h);
        assert_int_equal(hand_component(&job.h, job.component)->attempt, 1);
        hand_finish(&job.h);
    }
}

/* It could have left them, but it is in another resize, and then its minimum is raised. */
static void test_its_minimum_is_raised_above_what_is_left(void **state)
{
    (void)state;
    struct job job;
    begin_with(&job, 0, 4);
    assert_int_equal(hand_demand(&job.h, job.component, 6, false), 0);
    assert_int_equal(taken(&job, 1, 20 * SECONDS), 0);
    assert_int_equal(pleat_core_run_until(job.h.core, job.component), PLEAT_NEVER);
    assert_int_equal(hand_limits(&job.h, job.component, 5, 12), 0);
    assert_int_equal(pleat_core_run_until(job.h.core, job.component), job.h.now_us + 20 * SECONDS);
    hand_sleep(&job.h, 20 * SECONDS);
    is(&job.h, job.component, PLEAT_FINISHING);
    hand_finish(&job.h);
}

static void test_a_growth_is_given_up_for_what_is_taken(void **state)
{
    (void)state;
    struct job job;
    begin_with(&job, 0, 4);
    assert_int_equal(hand_resize(&job.h, job.component, 10, PLEAT_NONE), 0);
    hand_at_step(&job.h, job.component, PLEAT_RESIZE_ACCEPTED);
    hand_mark(&job.h);
    assert_int_equal(taken(&job, 1, 20 * SECONDS), 0);
    assert_int_equal(hand_outcome(&job.h), PLEAT_OUTCOME_LOST);
    assert_int_equal(hand_count(&job.h, PLEAT_DO_RELEASE), 1);
    leaves(&job, 6);
    hand_shrinks(&job.h, job.component, 6);
    assert_int_equal(hand_component(&job.h, job.component)->processors, 6);
    hand_finish(&job.h);
}

/* Those that it was to grow onto: it was told, and may have changed its size already. */
static void test_what_it_grows_onto_is_taken(void **state)
{
    (void)state;
    for (int late = 0; late < 2; late++) {
        struct job job;
        begin_with(&job, 0, 4);
        assert_int_equal(hand_resize(&job.h, job.component, 10, PLEAT_NONE), 0);
        job.claims[2] = hand_last(&job.h, PLEAT_DO_CLAIM);
        assert_int_equal(hand_claimed(&job.h, job.claims[2], 2), 0);
        hand_at_step(&job.h, job.component, PLEAT_RESIZE_GRANTED);
        hand_mark(&job.h);
        assert_int_equal(taken(&job, 2, 20 * SECONDS), 0);
        hand_at_step(&job.h, job.component, PLEAT_RESIZE_WITHDRAWING);
        assert_int_equal(hand_count(&job.h, PLEAT_DO_WITHDRAW), 1);
        if (late) {
            assert_int_equal(hand_change(&job.h, PLEAT_EV_APPLIED, job.component, 10), 0);
            assert_int_equal(hand_outcome(&job.h), PLEAT_OUTCOME_GROWN);
            leaves(&job, 8);
            hand_shrinks(&job.h, job.component, 8);
        } else {
            assert_int_equal(hand_change(&job.h, PLEAT_EV_WITHDRAWN, job.component, 0), 0);
            hand_expect(&job.h, job.component, PLEAT_OUTCOME_CLAIM_FAILED, PLEAT_RUNNING, 8);
        }
        assert_int_equal(hand_last(&job.h, PLEAT_DO_RELEASE).id, job.claims[2].id);
        hand_finish(&job.h);
    }
}

/* A shrink under way leaves the last ones, wherever its program is by now: the order of its claims
 * stays until that is over. */
static void test_a_shrink_goes_on_when_processors_are_taken(void **state)
{
    (void)state;
    struct job job;
    begin_with(&job, 0, 4);
    assert_int_equal(hand_demand(&job.h, job.component, 6, false), 0);
    assert_int_equal(taken(&job, 1, 20 * SECONDS), 0);
    hand_shrinks(&job.h, job.component, 6);
    assert_int_equal(hand_last(&job.h, PLEAT_DO_RELEASE).id, job.claims[2].id);
    leaves(&job, 4);
    hand_shrinks(&job.h, job.component, 4);
    assert_int_equal(hand_last(&job.h, PLEAT_DO_RELEASE).id, job.claims[1].id);
    hand_expect(&job.h, job.component, PLEAT_OUTCOME_SHRUNK, PLEAT_RUNNING, 4);
    hand_finish(&job.h);
}

static void test_leaving_what_is_taken_fails(void **state)
{
    (void)state;
    struct job job;
    begin_with(&job, 0, 4);
    hand_parameter(&job.h, PLEAT_PARAM_BACKOFF_US, 5 * SECONDS);
    assert_int_equal(taken(&job, 1, 20 * SECONDS), 0);
    assert_int_equal(hand_change(&job.h, PLEAT_EV_RESIZE_FAILED, job.component, 0), 0);
    hand_expect(&job.h, job.component, PLEAT_OUTCOME_APP_FAILED, PLEAT_RUNNING, 8);
    hand_restart(&job.h);
    hand_sleep(&job.h, 5 * SECONDS - 1);
    is(&job.h, job.component, PLEAT_RUNNING);
    hand_sleep(&job.h, 1);
    leaves(&job, 6);
    /* they are gone before it has left them */
    hand_sleep(&job.h, 14 * SECONDS);
    assert_int_equal(hand_lost(&job.h, job.claims[1]), 0);
    is(&job.h, job.component, PLEAT_FINISHING);
    assert_int_equal(hand_last(&job.h, PLEAT_DO_KILL).u.run.reason, PLEAT_REASON_LOST);
    hand_finish(&job.h);
}

/* What ends badly then is not started again from a state of which a part is lost, and does not
 * fail: it waits again. What ends well has ended. */
static void test_it_ends_while_processors_are_taken(void **state)
{
    (void)state;
    for (int how = 0; how < 3; how++) {
        struct job job;
        begin_with(&job, PLEAT_COMPONENT_RELAUNCHES, 4);
        assert_int_equal(taken(&job, 1, 20 * SECONDS), 0);
        hand_mark(&job.h);
        if (how == 0)
            assert_int_equal(
                hand_ended(&job.h, PLEAT_EV_EXITED, job.component, PLEAT_REASON_BROKEN), 0);
        else
            assert_int_equal(hand_exited(&job.h, job.component, how == 1 ? 143 : 0), 0);
        assert_int_equal(hand_count(&job.h, PLEAT_DO_RELAUNCH), 0);
        hand_release_all(&job.h);
        assert_int_equal(hand_component(&job.h, job.component)->attempt, how < 2);
        is(&job.h, job.component, how < 2 ? PLEAT_CLAIMING : PLEAT_DONE);
        hand_finish(&job.h);
    }
}

/* ---- its first processors, from where it is led ---- */

#define MOVES (PLEAT_COMPONENT_RELAUNCHES | PLEAT_COMPONENT_SPREADS)

static int agent_is(struct job *job, uint32_t node, uint64_t number)
{
    return hand_feed(
        &job->h, (struct pleat_event){.kind = number ? PLEAT_EV_AGENT_BACK : PLEAT_EV_AGENT_AWAY,
                                      .u.agent = {.number = number, .node = node}});
}

/* On a node of its own for each claim. */
static void begin_on_nodes(struct job *job, uint16_t flags)
{
    memset(job, 0, sizeof(*job));
    hand_init(&job->h, 12);
    hand_parameter(&job->h, PLEAT_PARAM_SHRINK_OFF_US, 30 * SECONDS);
    hand_parameter(&job->h, PLEAT_PARAM_MOVE_US, 40 * SECONDS);
    hand_parameter(&job->h, PLEAT_PARAM_KEEP_LEFT_US, 30 * SECONDS);
    job->h.flags = flags;
    job->component = hand_run(&job->h, 2, 12, 4);
    job->claims[0] = hand_last(&job->h, PLEAT_DO_CLAIM);
    for (int i = 1; i < 3; i++) {
        assert_int_equal(agent_is(job, (uint32_t)i, 1), 0);
        job->h.node = (uint32_t)i;
        assert_int_equal(hand_resize(&job->h, job->component, 4 + 2 * i, PLEAT_NONE), 0);
        job->claims[i] = hand_last(&job->h, PLEAT_DO_CLAIM);
        hand_grows(&job->h, job->component, 4 + 2 * i);
    }
    hand_mark(&job->h);
}

/* Its processes have left, with its state on the nodes that it keeps. */
static void moved(struct job *job, int32_t size)
{
    assert_true(pleat_core_moves(job->h.core, job->component));
    assert_int_equal(hand_change(&job->h, PLEAT_EV_MOVED, job->component, 0), 0);
    hand_at_step(&job->h, job->component, PLEAT_RESIZE_MOVING);
    assert_true(pleat_core_is_moving(job->h.core, job->component));
    const struct pleat_component *comp = hand_component(&job->h, job->component);
    assert_int_equal(comp->lead_node, 1);
    assert_int_equal(comp->processors, size);
}

/* What is left is given back when its processes are gone there, and it goes on, in the same run,
 * when it is started on another node. Nothing counts as an error. */
static void test_it_leaves_its_first_processors(void **state)
{
    (void)state;
    for (int restarted = 0; restarted < 3; restarted++) {
        struct job job;
        begin_on_nodes(&job, MOVES);
        uint64_t run = hand_component(&job.h, job.component)->run;
        assert_int_equal(taken(&job, 0, 20 * SECONDS), 0);
        leaves(&job, 4);
        if (restarted == 1)
            hand_restart(&job.h);
        moved(&job, 4);
        assert_int_equal(hand_count(&job.h, PLEAT_DO_RELEASE), 1);
        assert_int_equal(hand_last(&job.h, PLEAT_DO_RELEASE).id, job.claims[0].id);
        assert_int_equal(hand_count(&job.h, PLEAT_DO_START), 1);
        assert_int_equal(hand_last(&job.h, PLEAT_DO_START).id, run);
        assert_int_equal(hand_last(&job.h, PLEAT_DO_START).u.run.processors, 4);
        if (restarted == 2)
            hand_restart(&job.h);
        assert_int_equal(hand_lost(&job.h, job.claims[0]), 0); /* it is the site's already */
        assert_int_equal(hand_change(&job.h, PLEAT_EV_MOVED, job.component, 0), 0); /* again */
        assert_int_equal(hand_count(&job.h, PLEAT_DO_START), 1);
        assert_int_equal(hand_started(&job.h, job.component), 0);
        hand_expect(&job.h, job.component, PLEAT_OUTCOME_SHRUNK, PLEAT_RUNNING, 4);
        const struct pleat_component *comp = hand_component(&job.h, job.component);
        assert_int_equal(comp->attempt, 0);
        assert_int_equal(comp->relaunches, 0);
        assert_int_equal(comp->run, run);
        assert_int_equal(comp->first_claim, job.claims[1].u.claim.index);
        assert_int_equal(pleat_core_failed_starts(job.h.core, 0, job.h.now_us), 0);
        hand_sleep(&job.h, 100 * SECONDS);
        is(&job.h, job.component, PLEAT_RUNNING);
        assert_int_equal(taken(&job, 1, 20 * SECONDS), 0); /* and once more */
        leaves(&job, 2);
        assert_true(pleat_core_moves(job.h.core, job.component));
        hand_finish(&job.h);
    }
}

/* Its program is for one node, or cannot be started again, or needs more; or all is taken; or
 * nobody wants that. */
static void test_it_cannot_leave_its_first_processors(void **state)
{
    (void)state;
    for (int why = 0; why < 5; why++) {
        struct job job;
        begin_on_nodes(&job, why == 0   ? PLEAT_COMPONENT_RELAUNCHES
                             : why == 1 ? PLEAT_COMPONENT_SPREADS
                                        : MOVES);
        if (why == 2)
            assert_int_equal(hand_limits(&job.h, job.component, 5, 12), 0);
        if (why == 4)
            hand_parameter(&job.h, PLEAT_PARAM_MOVE_US, 0);
        for (int i = 2; why == 3 && i > 0; i--)
            assert_int_equal(taken(&job, i, 20 * SECONDS), 0);
        if (why == 3) /* the two that it leaves now */
            hand_change(&job.h, PLEAT_EV_RESIZE_FAILED, job.component, 0);
        assert_int_equal(taken(&job, 0, 20 * SECONDS), 0);
        is(&job.h, job.component, PLEAT_RUNNING);
        hand_sleep(&job.h, 20 * SECONDS);
        is(&job.h, job.component, PLEAT_FINISHING);
        assert_int_equal(hand_last(&job.h, PLEAT_DO_KILL).u.run.reason, PLEAT_REASON_TAKEN);
        hand_finish(&job.h);
    }
}

/* It keeps what is left to it while it waits again, and has lost its state. */
static void test_it_is_not_started_elsewhere(void **state)
{
    (void)state;
    for (int how = 0; how < 5; how++) {
        struct job job;
        begin_on_nodes(&job, MOVES);
        assert_int_equal(taken(&job, 0, 20 * SECONDS), 0);
        if (how == 4) { /* before that: its first processors are gone while it saves its state */
            assert_int_equal(hand_lost(&job.h, job.claims[0]), 0);
        } else {
            moved(&job, 4);
            hand_release_all(&job.h);
        }
        if (how == 0)
            assert_int_equal(
                hand_ended(&job.h, PLEAT_EV_START_FAILED, job.component, PLEAT_REASON_START_SYSTEM),
                0);
        if (how == 1) { /* another agent, which has nothing of its state */
            assert_int_equal(agent_is(&job, 1, 0), 0);
            assert_int_equal(agent_is(&job, 1, 2), 0);
        }
        if (how == 2) /* nobody has heard of it */
            hand_sleep(&job.h, 40 * SECONDS);
        if (how == 3)
            assert_int_equal(hand_ended(&job.h, PLEAT_EV_EXITED, job.component, PLEAT_REASON_LOST),
                             0);
        if (how == 1 || how == 2 || how == 4) {
            is(&job.h, job.component, PLEAT_FINISHING);
            assert_int_equal(hand_last(&job.h, PLEAT_DO_KILL).u.run.reason, PLEAT_REASON_LOST);
            assert_int_equal(hand_ended(&job.h, PLEAT_EV_EXITED, job.component, PLEAT_REASON_LOST),
                             0);
            hand_release_all(&job.h);
        }
        const struct pleat_component *comp = hand_component(&job.h, job.component);
        assert_int_equal(comp->state, PLEAT_CLAIMING);
        assert_int_equal(comp->attempt, 1);
        assert_int_equal(comp->first_claim, job.claims[1].u.claim.index);
        hand_finish(&job.h);
    }
}

/* The agent there is away: the start waits for it, and is told once. */
static void test_it_is_started_elsewhere_when_the_agent_is_back(void **state)
{
    (void)state;
    for (int other = 0; other < 2; other++) {
        struct job job;
        begin_on_nodes(&job, MOVES);
        assert_int_equal(agent_is(&job, 1, 0), 0);
        assert_int_equal(taken(&job, 0, 20 * SECONDS), 0);
        moved(&job, 4);
        assert_int_equal(hand_count(&job.h, PLEAT_DO_START), 0);
        assert_int_equal(hand_last(&job.h, PLEAT_DO_REACH).u.reach.node, 1);
        hand_restart(&job.h);
        hand_sleep(&job.h, 100 * SECONDS);
        hand_at_step(&job.h, job.component, PLEAT_RESIZE_MOVING);
        assert_int_equal(agent_is(&job, 1, (uint64_t)other + 1), 0);
        assert_int_equal(hand_count(&job.h, PLEAT_DO_START), 1);
        assert_int_equal(hand_started(&job.h, job.component), 0);
        hand_expect(&job.h, job.component, PLEAT_OUTCOME_SHRUNK, PLEAT_RUNNING, 4);
        hand_finish(&job.h);
    }
}

/* Its program cannot: it is not asked again, and gets its signal. */
static void test_leaving_its_first_processors_fails(void **state)
{
    (void)state;
    struct job job;
    begin_on_nodes(&job, MOVES);
    hand_parameter(&job.h, PLEAT_PARAM_BACKOFF_US, 5 * SECONDS);
    const struct pleat_event signal = {.kind = PLEAT_EV_LIMIT_SIGNAL,
                                       .component = job.component,
                                       .u.signal = {.number = 10, .lead_us = 60 * SECONDS}};
    assert_int_equal(hand_feed(&job.h, signal), 0);
    assert_int_equal(taken(&job, 0, 20 * SECONDS), 0);
    assert_int_equal(hand_count(&job.h, PLEAT_DO_SIGNAL), 0);
    assert_int_equal(hand_change(&job.h, PLEAT_EV_RESIZE_FAILED, job.component, 0), 0);
    hand_expect(&job.h, job.component, PLEAT_OUTCOME_APP_FAILED, PLEAT_RUNNING, 8);
    hand_sleep(&job.h, 6 * SECONDS);
    is(&job.h, job.component, PLEAT_RUNNING);
    assert_int_equal(hand_count(&job.h, PLEAT_DO_SIGNAL), 1);
    hand_sleep(&job.h, 14 * SECONDS);
    assert_int_equal(hand_last(&job.h, PLEAT_DO_KILL).u.run.reason, PLEAT_REASON_TAKEN);
    hand_finish(&job.h);
}

static void ends_with_loss(struct job *job, int which)
{
    hand_parameter(&job->h, PLEAT_PARAM_KEEP_LEFT_US, 30 * SECONDS);
    assert_int_equal(hand_lost(&job->h, job->claims[which]), 0);
    is(&job->h, job->component, PLEAT_FINISHING);
    hand_mark(&job->h);
    assert_int_equal(hand_ended(&job->h, PLEAT_EV_EXITED, job->component, PLEAT_REASON_LOST), 0);
}

/* Whichever is lost, also its first processors. It is led from the first of those that it keeps. */
static void test_it_keeps_what_is_left_to_it(void **state)
{
    (void)state;
    for (int which = 0; which < 3; which++)
        for (int restarted = 0; restarted < 2; restarted++) {
            struct job job;
            begin_with(&job, 0, 4);
            ends_with_loss(&job, which);
            assert_int_equal(hand_count(&job.h, PLEAT_DO_RELEASE), 1);
            assert_int_equal(hand_last(&job.h, PLEAT_DO_RELEASE).id, job.claims[which].id);
            if (restarted)
                hand_restart(&job.h);
            int32_t left = which ? 6 : 4;
            hand_release_all(&job.h);
            is(&job.h, job.component, PLEAT_CLAIMING);
            const struct pleat_component *comp = hand_component(&job.h, job.component);
            assert_int_equal(comp->attempt, 1);
            int32_t more = comp->target - left;
            assert_int_equal(hand_count(&job.h, PLEAT_DO_CLAIM), more > 0);
            if (more > 0)
                assert_int_equal(hand_claimed(&job.h, hand_last(&job.h, PLEAT_DO_CLAIM), more), 0);
            assert_int_equal(hand_started(&job.h, job.component), 0);
            assert_int_equal(hand_component(&job.h, job.component)->first_claim,
                             job.claims[which ? 0 : 1].u.claim.index);
            hand_finish(&job.h);
        }
}

/* Too few; or it was cancelled, or all was lost, before the rest had been given back; or it is not
 * wanted. */
static void test_it_keeps_nothing_of_what_is_left(void **state)
{
    (void)state;
    for (int why = 0; why < 4; why++) {
        struct job job;
        begin_with(&job, why == 3 ? PLEAT_COMPONENT_ONCE : 0, 4);
        if (why == 0)
            assert_int_equal(hand_limits(&job.h, job.component, 7, 12), 0);
        ends_with_loss(&job, 2);
        if (why == 1)
            assert_int_equal(hand_cancel(&job.h, job.component), 0);
        for (int i = 0; why == 2 && i < 2; i++)
            assert_int_equal(hand_lost(&job.h, job.claims[i]), 0);
        while (hand_release_all(&job.h) > 0)
            ;
        is(&job.h, job.component,
           why == 1   ? PLEAT_CANCELLED
           : why == 3 ? PLEAT_FAILED
                      : PLEAT_CLAIMING);
        if (why == 0 || why == 2) /* all is claimed anew */
            assert_int_equal(hand_last(&job.h, PLEAT_DO_CLAIM).u.claim.count,
                             hand_component(&job.h, job.component)->target);
        hand_finish(&job.h);
    }
}

/* While others stand in front of it, or nobody starts. */
static void test_what_is_left_is_not_kept_for_ever(void **state)
{
    (void)state;
    struct job job;
    begin_with(&job, 0, 4);
    ends_with_loss(&job, 0);
    hand_parameter(&job.h, PLEAT_PARAM_DECIDE_US, 10000 * SECONDS);
    hand_release_all(&job.h);
    is(&job.h, job.component, PLEAT_QUEUED);
    assert_int_equal(hand_component(&job.h, job.component)->earmarked, 4);
    hand_sleep(&job.h, 30 * SECONDS);
    assert_int_equal(hand_component(&job.h, job.component)->earmarked, 0);
    assert_int_equal(hand_release_all(&job.h), 2);
    assert_int_equal(hand_site(&job.h)->claimed, 0);
    hand_finish(&job.h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_leaves_what_is_taken_from_it),
        cmocka_unit_test(test_it_leaves_all_that_is_taken_from_it),
        cmocka_unit_test(test_it_cannot_do_without_what_is_taken_from_it),
        cmocka_unit_test(test_its_minimum_is_raised_above_what_is_left),
        cmocka_unit_test(test_a_growth_is_given_up_for_what_is_taken),
        cmocka_unit_test(test_what_it_grows_onto_is_taken),
        cmocka_unit_test(test_a_shrink_goes_on_when_processors_are_taken),
        cmocka_unit_test(test_leaving_what_is_taken_fails),
        cmocka_unit_test(test_it_ends_while_processors_are_taken),
        cmocka_unit_test(test_it_leaves_its_first_processors),
        cmocka_unit_test(test_it_cannot_leave_its_first_processors),
        cmocka_unit_test(test_it_is_not_started_elsewhere),
        cmocka_unit_test(test_it_is_started_elsewhere_when_the_agent_is_back),
        cmocka_unit_test(test_leaving_its_first_processors_fails),
        cmocka_unit_test(test_it_keeps_what_is_left_to_it),
        cmocka_unit_test(test_it_keeps_nothing_of_what_is_left),
        cmocka_unit_test(test_what_is_left_is_not_kept_for_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
