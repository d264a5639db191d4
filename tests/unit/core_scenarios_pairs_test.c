/* A change of mind: one change is under way, in each of its steps, and a second one comes. All
 * ordered pairs, each named as docs/resize-contract.md does. Another job runs beside, which must
 * not notice anything. */
#include "core_scenarios_hand.h"

#include <string.h>

enum change { GROW, SHRINK, ENDS, CANCEL, LIMITS, LOSS };

/* What is under way, as far as it has come; where it ends if nothing comes between. */
struct phase {
    enum change change;
    enum pleat_resize_step step;
    enum pleat_outcome outcome;
    int32_t size;
};

static const struct phase phases[] = {
    {GROW, PLEAT_RESIZE_OFFERED, PLEAT_OUTCOME_GROWN, 8},
    {GROW, PLEAT_RESIZE_ACCEPTED, PLEAT_OUTCOME_GROWN, 8},
    {GROW, PLEAT_RESIZE_GRANTED, PLEAT_OUTCOME_GROWN, 8},
    {GROW, PLEAT_RESIZE_WITHDRAWING, PLEAT_OUTCOME_TIMED_OUT, 4},
    {GROW, PLEAT_RESIZE_RELAUNCHING, PLEAT_OUTCOME_RELAUNCHED, 4},
    {SHRINK, PLEAT_RESIZE_OFFERED, PLEAT_OUTCOME_SHRUNK, 4},
    {SHRINK, PLEAT_RESIZE_GRANTED, PLEAT_OUTCOME_SHRUNK, 4},
    {SHRINK, PLEAT_RESIZE_WITHDRAWING, PLEAT_OUTCOME_TIMED_OUT, 8},
    {SHRINK, PLEAT_RESIZE_APPLIED, PLEAT_OUTCOME_SHRUNK, 4},
    {SHRINK, PLEAT_RESIZE_RELAUNCHING, PLEAT_OUTCOME_RELAUNCHED, 4},
    {LIMITS, PLEAT_RESIZE_OFFERED, PLEAT_OUTCOME_SHRUNK, 5},
    {LIMITS, PLEAT_RESIZE_GRANTED, PLEAT_OUTCOME_SHRUNK, 5},
    {LIMITS, PLEAT_RESIZE_APPLIED, PLEAT_OUTCOME_SHRUNK, 5},
    {LIMITS, PLEAT_RESIZE_RELAUNCHING, PLEAT_OUTCOME_RELAUNCHED, 5},
    {ENDS, PLEAT_RESIZE_FREE, PLEAT_OUTCOME_NONE, 0},
    {CANCEL, PLEAT_RESIZE_FREE, PLEAT_OUTCOME_NONE, 0},
    {LOSS, PLEAT_RESIZE_FREE, PLEAT_OUTCOME_NONE, 0},
};

struct pair {
    struct hand h;
    const struct phase *phase;
    uint32_t beside, job;
    struct pleat_effect claim; /* that the job runs on */
    bool of_growth;            /* LOSS: of what it is to grow by */
};

static bool resizing(const struct pair *p)
{
    return p->phase->step != PLEAT_RESIZE_FREE;
}

static void begin_resize(struct pair *p)
{
    struct hand *h = &p->h;
    enum pleat_resize_step step = p->phase->step;
    if (p->phase->change == LIMITS)
        assert_int_equal(hand_limits(h, p->job, 2, 5), 0);
    else
        assert_int_equal(hand_resize(h, p->job, p->phase->change == GROW ? 8 : 4, PLEAT_NONE), 0);
    if (p->phase->change == GROW && step >= PLEAT_RESIZE_GRANTED)
        assert_int_equal(hand_claimed(h, hand_last(h, PLEAT_DO_CLAIM), 4), 0);
    if (step == PLEAT_RESIZE_APPLIED)
        assert_int_equal(hand_change(h, PLEAT_EV_APPLIED, p->job, p->phase->size), 0);
    bool relaunching = step == PLEAT_RESIZE_RELAUNCHING;
    if (relaunching && p->phase->change == LIMITS) {
        hand_enforce(h);
    } else if (relaunching || step == PLEAT_RESIZE_WITHDRAWING) {
        hand_sleep(h, pleat_parameter_default(PLEAT_PARAM_APPLY_US));
        if (relaunching)
            hand_sleep(h, pleat_parameter_default(PLEAT_PARAM_STUCK_US));
    }
    hand_at_step(h, p->job, step);
}

static void begin(struct pair *p, const struct phase *phase)
{
    struct hand *h = &p->h;
    p->phase = phase;
    hand_init(h, 17);
    p->beside = hand_run(h, 1, 1, 1);
    h->flags = PLEAT_COMPONENT_RELAUNCHES;
    if (phase->step == PLEAT_RESIZE_OFFERED)
        h->flags |= PLEAT_COMPONENT_ASKS;
    p->job = hand_run(h, 2, 16, phase->change == GROW ? 4 : 8);
    p->claim = hand_last(h, PLEAT_DO_CLAIM);
    if (resizing(p))
        begin_resize(p);
    else if (phase->change == ENDS)
        assert_int_equal(hand_exited(h, p->job, 0), 0);
    else if (phase->change == CANCEL)
        assert_int_equal(hand_cancel(h, p->job), 0);
    else
        assert_int_equal(hand_lost(h, p->claim), 0);
    hand_mark(h);
}

static void is(const struct pair *p, enum pleat_component_state state)
{
    assert_string_equal(pleat_component_state_name(
                            (enum pleat_component_state)hand_component(&p->h, p->job)->state),
                        pleat_component_state_name(state));
}

/* The resize under way goes on to its end, as if nothing had come between. */
static void complete(struct pair *p)
{
    struct hand *h = &p->h;
    const struct pleat_component *job = hand_component(h, p->job);
    uint64_t id = pleat_core_resize(h->core, job->resize)->id;
    while (hand_component(h, p->job)->resize != PLEAT_NONE) {
        const struct pleat_resize *now =
            pleat_core_resize(h->core, hand_component(h, p->job)->resize);
        int32_t to = now->to;
        if (now->id != id)
            return; /* the next one has begun */
        switch (now->step) {
        case PLEAT_RESIZE_OFFERED:
            assert_int_equal(hand_change(h, PLEAT_EV_ANSWER, p->job, to), 0);
            break;
        case PLEAT_RESIZE_ACCEPTED:
            assert_int_equal(hand_claimed(h, hand_last(h, PLEAT_DO_CLAIM), to - now->from), 0);
            break;
        case PLEAT_RESIZE_GRANTED:
            assert_int_equal(hand_change(h, PLEAT_EV_APPLIED, p->job, to), 0);
            break;
        case PLEAT_RESIZE_WITHDRAWING:
            assert_int_equal(hand_change(h, PLEAT_EV_WITHDRAWN, p->job, to), 0);
            break;
        case PLEAT_RESIZE_APPLIED:
            assert_int_equal(hand_change(h, PLEAT_EV_VACATED, p->job, to), 0);
            break;
        default:
            assert_int_equal(hand_relaunched(h, p->job, to, true), 0);
            break;
        }
    }
}

/* Nothing of the job is left; the one beside runs as before. */
static void over(struct pair *p, enum pleat_component_state state)
{
    struct hand *h = &p->h;
    if (!hand_component(h, p->job)->exited)
        assert_int_equal(hand_exited(h, p->job, 0), 0);
    hand_release_all(h);
    is(p, state);
    if (state == PLEAT_CLAIMING) { /* it is started again: by no fault of its own, and once */
        assert_int_equal(hand_component(h, p->job)->attempt, 1);
        assert_int_equal(hand_cancel(h, p->job), 0);
        hand_release_all(h);
    }
    assert_int_equal(hand_component(h, p->beside)->state, PLEAT_RUNNING);
    assert_int_equal(hand_component(h, p->beside)->processors, 1);
    assert_int_equal(hand_site(h)->claimed, 1);
    assert_int_equal(hand_site(h)->coming, 0);
    assert_int_equal(hand_site(h)->resizing_count, 0);
    assert_int_equal(pleat_core_next_deadline(h->core), PLEAT_NEVER);
    hand_finish(h);
}

/* Where the first change leaves a job that has ended, or is being ended. */
static enum pleat_component_state final_state(const struct pair *p)
{
    return p->phase->change == ENDS     ? PLEAT_DONE
           : p->phase->change == CANCEL ? PLEAT_CANCELLED
                                        : PLEAT_CLAIMING;
}

/* ---- the second change ---- */

/* Another size is wanted: by its user, and by a policy. */
static void resize_comes(struct pair *p, int32_t size)
{
    struct hand *h = &p->h;
    struct pleat_component before = *hand_component(h, p->job);
    int busy = resizing(p) ? PLEAT_E_BUSY : PLEAT_E_STATE;
    assert_int_equal(hand_demand(h, p->job, size, false), busy);
    assert_true(h->err.text[0] != 0);
    assert_int_equal(hand_resize(h, p->job, size, PLEAT_NONE), PLEAT_E_STATE);
    assert_memory_equal(hand_component(h, p->job), &before, sizeof(before));
    if (!resizing(p)) {
        over(p, final_state(p));
        return;
    }
    complete(p);
    hand_expect(h, p->job, p->phase->outcome, PLEAT_RUNNING, p->phase->size);
    hand_release_all(h);
    /* now it may be had */
    if (size <= hand_component(h, p->job)->maximum)
        assert_int_equal(hand_demand(h, p->job, size, false), 0);
    over(p, PLEAT_DONE);
}

static void grow_comes(struct pair *p)
{
    resize_comes(p, 10);
}

static void shrink_comes(struct pair *p)
{
    resize_comes(p, 3);
}

static void ends_comes(struct pair *p)
{
    int rc = hand_exited(&p->h, p->job, 0);
    assert_int_equal(rc, p->phase->change == ENDS ? PLEAT_CORE_STALE : 0);
    if (resizing(p))
        assert_int_equal(hand_outcome(&p->h), PLEAT_OUTCOME_JOB_ENDED);
    assert_int_equal(hand_count(&p->h, PLEAT_DO_KILL), 0);
    over(p, resizing(p) ? PLEAT_DONE : final_state(p));
}

static void cancel_comes(struct pair *p)
{
    assert_int_equal(hand_cancel(&p->h, p->job), 0);
    is(p, PLEAT_FINISHING);
    assert_int_equal(hand_count(&p->h, PLEAT_DO_KILL), resizing(p)); /* else it was told before */
    if (resizing(p))
        assert_int_equal(hand_outcome(&p->h), PLEAT_OUTCOME_JOB_ENDED);
    over(p, p->phase->change == ENDS ? PLEAT_DONE : PLEAT_CANCELLED);
}

static void limits_comes(struct pair *p)
{
    struct hand *h = &p->h;
    assert_int_equal(hand_limits(h, p->job, 2, 3), resizing(p) ? 0 : PLEAT_E_STATE);
    if (!resizing(p)) {
        over(p, final_state(p));
        return;
    }
    hand_at_step(h, p->job, p->phase->step); /* what is under way ends first */
    complete(p);
    assert_int_equal(hand_outcome(h), p->phase->outcome);
    assert_int_equal(hand_component(h, p->job)->processors, p->phase->size);
    is(p, PLEAT_RESIZING); /* then it is shrunk to its maximum */
    assert_int_equal(hand_component(h, p->job)->target, 3);
    complete(p);
    hand_expect(h, p->job, PLEAT_OUTCOME_SHRUNK, PLEAT_RUNNING, 3);
    over(p, PLEAT_DONE);
}

static void loss_comes(struct pair *p)
{
    struct hand *h = &p->h;
    struct pleat_effect claim = p->of_growth ? hand_last(h, PLEAT_DO_CLAIM) : p->claim;
    bool told = p->phase->step >= PLEAT_RESIZE_GRANTED;
    assert_int_equal(hand_lost(h, claim), 0);
    if (resizing(p))
        assert_int_equal(hand_outcome(h), PLEAT_OUTCOME_LOST);
    if (p->of_growth && !told) { /* nothing of it was there yet */
        hand_expect(h, p->job, PLEAT_OUTCOME_LOST, PLEAT_RUNNING, 4);
        over(p, PLEAT_DONE);
        return;
    }
    is(p, p->phase->change == ENDS ? PLEAT_DONE : PLEAT_FINISHING);
    assert_int_equal(hand_count(h, PLEAT_DO_KILL), resizing(p));
    over(p, resizing(p) ? PLEAT_CLAIMING : final_state(p));
}

static void all_phases(enum change first, void (*second)(struct pair *), bool of_growth)
{
    int met = 0;
    for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++) {
        struct pair p = {.of_growth = of_growth};
        if (phases[i].change != first || (of_growth && phases[i].step == PLEAT_RESIZE_OFFERED))
            continue;
        begin(&p, &phases[i]);
        second(&p);
        met++;
    }
    assert_true(met > 0);
}

#define PAIR(first, FIRST, second)                                                                 \
    static void test_##first##_then_##second(void **state)                                         \
    {                                                                                              \
        (void)state;                                                                               \
        all_phases(FIRST, second##_comes, false);                                                  \
    }
#define ALL_OF(first, FIRST)                                                                       \
    PAIR(first, FIRST, grow)                                                                       \
    PAIR(first, FIRST, shrink)                                                                     \
    PAIR(first, FIRST, ends)                                                                       \
    PAIR(first, FIRST, cancel)                                                                     \
    PAIR(first, FIRST, limits)                                                                     \
    PAIR(first, FIRST, loss)

ALL_OF(grow, GROW)
ALL_OF(shrink, SHRINK)
ALL_OF(ends, ENDS)
ALL_OF(cancel, CANCEL)
ALL_OF(limits, LIMITS)
ALL_OF(loss, LOSS)

static void test_grow_then_loss_of_the_growth(void **state)
{
    (void)state;
    all_phases(GROW, loss_comes, true);
}

/* Its user wants the processors back that it is just giving up. */
static void test_limits_change_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++) {
        struct pair p = {0};
        if (phases[i].change != LIMITS)
            continue;
        begin(&p, &phases[i]);
        assert_int_equal(hand_limits(&p.h, p.job, 2, 16), 0);
        hand_at_step(&p.h, p.job, p.phase->step); /* goes on: nobody was promised a way back */
        complete(&p);
        hand_expect(&p.h, p.job, p.phase->outcome, PLEAT_RUNNING, 5);
        hand_release_all(&p.h);
        assert_int_equal(hand_demand(&p.h, p.job, 8, false), 0);
        over(&p, PLEAT_DONE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grow_then_grow),
        cmocka_unit_test(test_grow_then_shrink),
        cmocka_unit_test(test_grow_then_ends),
        cmocka_unit_test(test_grow_then_cancel),
        cmocka_unit_test(test_grow_then_limits),
        cmocka_unit_test(test_grow_then_loss),
        cmocka_unit_test(test_shrink_then_grow),
        cmocka_unit_test(test_shrink_then_shrink),
        cmocka_unit_test(test_shrink_then_ends),
        cmocka_unit_test(test_shrink_then_cancel),
        cmocka_unit_test(test_shrink_then_limits),
        cmocka_unit_test(test_shrink_then_loss),
        cmocka_unit_test(test_ends_then_grow),
        cmocka_unit_test(test_ends_then_shrink),
        cmocka_unit_test(test_ends_then_ends),
        cmocka_unit_test(test_ends_then_cancel),
        cmocka_unit_test(test_ends_then_limits),
        cmocka_unit_test(test_ends_then_loss),
        cmocka_unit_test(test_cancel_then_grow),
        cmocka_unit_test(test_cancel_then_shrink),
        cmocka_unit_test(test_cancel_then_ends),
        cmocka_unit_test(test_cancel_then_cancel),
        cmocka_unit_test(test_cancel_then_limits),
        cmocka_unit_test(test_cancel_then_loss),
        cmocka_unit_test(test_limits_then_grow),
        cmocka_unit_test(test_limits_then_shrink),
        cmocka_unit_test(test_limits_then_ends),
        cmocka_unit_test(test_limits_then_cancel),
        cmocka_unit_test(test_limits_then_limits),
        cmocka_unit_test(test_limits_then_loss),
        cmocka_unit_test(test_loss_then_grow),
        cmocka_unit_test(test_loss_then_shrink),
        cmocka_unit_test(test_loss_then_ends),
        cmocka_unit_test(test_loss_then_cancel),
        cmocka_unit_test(test_loss_then_limits),
        cmocka_unit_test(test_loss_then_loss),
        cmocka_unit_test(test_grow_then_loss_of_the_growth),
        cmocka_unit_test(test_limits_change_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
