/* Components that ask for processes themselves, and their buffers of prepared ones. A scenario for
 * every row of docs/resize-contract.md about that. */
#include "core_scenarios_hand.h"

static void is(const struct hand *h, uint32_t component, enum pleat_component_state state)
{
    assert_string_equal(
        pleat_component_state_name((enum pleat_component_state)hand_component(h, component)->state),
        pleat_component_state_name(state));
}

static const struct pleat_buffer *buffer(const struct hand *h, uint32_t component)
{
    assert_true(hand_component(h, component)->buffer != PLEAT_NONE);
    return &pleat_core_view(h->core)->buffers[hand_component(h, component)->buffer];
}

/* Checks that the buffer has `held` prepared processes, and that `requested` are on their way. */
static void has(const struct hand *h, uint32_t component, int32_t held, int32_t requested)
{
    assert_int_equal(buffer(h, component)->prepared, held);
    assert_int_equal(buffer(h, component)->requested, requested);
}

static uint32_t submit(struct hand *h, enum pleat_job_kind kind, int32_t minimum, int32_t maximum,
                       int32_t size)
{
    h->flags = PLEAT_COMPONENT_EVOLVES;
    uint32_t component = hand_submit(h, kind, minimum, maximum, size);
    h->flags = 0;
    return component;
}

/* A component that runs on `size`, and that only its own program resizes. */
static uint32_t run(struct hand *h, int32_t minimum, int32_t maximum, int32_t size)
{
    uint32_t component = submit(h, PLEAT_MOLDABLE, minimum, maximum, size);
    assert_int_equal(hand_claimed(h, hand_last(h, PLEAT_DO_CLAIM), size), 0);
    hand_mark(h);
    assert_int_equal(hand_started(h, component), 0);
    is(h, component, PLEAT_RUNNING);
    return component;
}

static int process(struct hand *h, uint16_t kind, uint32_t component, int32_t iteration)
{
    struct pleat_event event = {
        .kind = kind,
        .component = component,
        .u.process = {.run = hand_component(h, component)->run, .iteration = iteration}};
    return hand_feed(h, event);
}

static int add(struct hand *h, uint32_t component)
{
    return process(h, PLEAT_EV_ADD_PROCESS, component, 1);
}

static int stop(struct hand *h, uint32_t component)
{
    return process(h, PLEAT_EV_STOP_PROCESS, component, 1);
}

static int progress(struct hand *h, uint32_t component, int32_t iteration, int64_t iteration_us)
{
    struct pleat_event event = {.kind = PLEAT_EV_PROGRESS,
                                .component = component,
                                .u.progress = {.run = hand_component(h, component)->run,
                                               .iteration_us = iteration_us,
                                               .iteration = iteration}};
    return hand_feed(h, event);
}

/* All claims since the mark are given, and the mark is set behind them; how many there were. */
static int give_all(struct hand *h)
{
    size_t end = h->effects.count;
    int count = 0;
    for (size_t i = h->mark; i < end; i++) {
        struct pleat_effect claim = h->effects.items[i];
        if (claim.kind != PLEAT_DO_CLAIM)
            continue;
        assert_int_equal(hand_claimed(h, claim, claim.u.claim.count), 0);
        count++;
    }
    hand_mark(h);
    return count;
}

/* ---- requests ---- */

static void test_a_request_takes_a_prepared_process(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = run(&h, 3, 8, 3);
    assert_int_equal(add(&h, component),
                     0); /* nothing is prepared: it fails, and one is asked for */
    assert_int_equal(hand_count(&h, PLEAT_DO_PROCESSES), 0);
    assert_int_equal(hand_last(&h, PLEAT_DO_CLAIM).u.claim.purpose, PLEAT_FOR_BUFFER);
    has(&h, component, 0, 1);
    assert_int_equal(give_all(&h), 1);
    has(&h, component, 1, 0);
    assert_int_equal(hand_site(&h)->buffered, 1);
    assert_int_equal(hand_component(&h, component)->processors, 3);
    hand_sleep(&h, 40 * SECONDS);
    uint64_t prepared = pleat_core_claim(h.core, buffer(&h, component)->first_claim)->id;
    assert_int_equal(add(&h, component), 0);
    has(&h, component, 0, 0);
    is(&h, component, PLEAT_RUNNING);
    assert_int_equal(hand_component(&h, component)->processors, 4);
    assert_int_equal(hand_component(&h, component)->processes, 4);
    assert_int_equal(hand_last(&h, PLEAT_DO_PROCESSES).id, prepared);
    assert_int_equal(hand_count(&h, PLEAT_DO_CLAIM), 0); /* its site was not asked */
    assert_int_equal(buffer(&h, component)->requests, 2);
    assert_int_equal(buffer(&h, component)->satisfied, 1);
    assert_int_equal(buffer(&h, component)->waited_us, 40 * SECONDS);
    assert_int_equal(hand_exited(&h, component, 0), 0);
    assert_int_equal(hand_release_all(&h), 2);
    is(&h, component, PLEAT_DONE);
    hand_finish(&h);
}

static void test_every_failed_request_asks_for_another(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = run(&h, 3, 8, 3);
    for (int i = 1; i <= 3; i++) {
        assert_int_equal(add(&h, component), 0);
        has(&h, component, 0, i);
    }
    assert_int_equal(give_all(&h), 3);
    for (int i = 1; i <= 3; i++) {
        assert_int_equal(add(&h, component), 0);
        assert_int_equal(hand_component(&h, component)->processors, 3 + i);
        has(&h, component, 3 - i, 0);
    }
    assert_int_equal(buffer(&h, component)->requests, 6);
    assert_int_equal(buffer(&h, component)->satisfied, 3);
    hand_finish(&h);
}

static void test_requests_stay_within_the_maximum(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = run(&h, 3, 5, 3);
    for (int i = 0; i < 4; i++)
        assert_int_equal(add(&h, component), 0);
    has(&h, component, 0, 2); /* the others would be of no use */
    assert_int_equal(give_all(&h), 2);
    for (int i = 0; i < 4; i++)
        assert_int_equal(add(&h, component), 0);
    assert_int_equal(hand_component(&h, component)->processors, 5);
    has(&h, component, 0, 0);
    hand_finish(&h);
}

static void test_requests_where_nothing_is_free(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 6);
    struct pleat_event site = {.kind = PLEAT_EV_SITE,
                               .u.site = {.capacity = 6, .threshold = 1, .background = 1}};
    assert_int_equal(hand_feed(&h, site), 0);
    uint32_t component = run(&h, 3, 8, 3);
    assert_int_equal(add(&h, component), 0); /* one is above the threshold */
    assert_int_equal(add(&h, component), 0);
    has(&h, component, 0, 1);
    assert_int_equal(
        hand_claim_failed(&h, hand_last(&h, PLEAT_DO_CLAIM), PLEAT_REASON_CLAIM_REFUSED), 0);
    has(&h, component, 0, 0);
    assert_int_equal(add(&h, component), 0); /* a site that refused is left alone for a while */
    has(&h, component, 0, 0);
    hand_sleep(&h, pleat_parameter_default(PLEAT_PARAM_BACKOFF_US));
    assert_int_equal(add(&h, component), 0);
    has(&h, component, 0, 1);
    hand_finish(&h);
}

static void test_asks_in_a_resize(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    h.flags = PLEAT_COMPONENT_EVOLVES;
    uint32_t component = hand_run(&h, 2, 8, 4);
    assert_int_equal(add(&h, component), 0);
    assert_int_equal(give_all(&h), 1);
    assert_int_equal(hand_resize(&h, component, 3, PLEAT_NONE), 0);
    hand_at_step(&h, component, PLEAT_RESIZE_GRANTED);
    assert_int_equal(add(&h, component), 0); /* fails, and nothing is asked for */
    has(&h, component, 1, 0);
    assert_int_equal(stop(&h, component), PLEAT_E_BUSY);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 3), 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_VACATED, component, 3), 0);
    hand_expect(&h, component, PLEAT_OUTCOME_SHRUNK, PLEAT_RUNNING, 3);
    assert_int_equal(add(&h, component), 0);
    assert_int_equal(hand_component(&h, component)->processors, 4);
    assert_int_equal(buffer(&h, component)->requests, 3);
    assert_int_equal(buffer(&h, component)->satisfied, 1);
    hand_finish(&h);
}

static void test_words_of_an_earlier_run(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = run(&h, 3, 8, 3);
    struct pleat_event event = {.kind = PLEAT_EV_ADD_PROCESS,
                                .component = component,
                                .u.process = {.run = hand_component(&h, component)->run + 7}};
    assert_int_equal(hand_feed(&h, event), PLEAT_CORE_STALE);
    event.kind = PLEAT_EV_STOP_PROCESS;
    assert_int_equal(hand_feed(&h, event), PLEAT_CORE_STALE);
    event.kind = PLEAT_EV_PROGRESS;
    assert_int_equal(hand_feed(&h, event), PLEAT_CORE_STALE);
    assert_int_equal(progress(&h, component, 10, SECONDS), 0);
    assert_int_equal(progress(&h, component, 9, SECONDS),
                     PLEAT_CORE_STALE); /* time does not go back */
    assert_int_equal(progress(&h, component, 10, SECONDS), PLEAT_CORE_STALE);
    uint32_t other = hand_submit(&h, PLEAT_RIGID, 2, 2, 0); /* does not evolve */
    assert_int_equal(hand_claimed(&h, hand_last(&h, PLEAT_DO_CLAIM), 2), 0);
    assert_int_equal(hand_started(&h, other), 0);
    assert_int_equal(add(&h, other), PLEAT_CORE_STALE);
    assert_int_equal(hand_component(&h, other)->buffer, PLEAT_NONE);
    has(&h, component, 0, 0);
    hand_finish(&h);
}

static void test_what_makes_no_sense_of_one_that_evolves(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    struct pleat_event both = {
        .kind = PLEAT_EV_SUBMIT,
        .flags = PLEAT_COMPONENT_EVOLVES | PLEAT_COMPONENT_FOLDS,
        .component = pleat_core_next_component(h.core),
        .u.submit = {
            .job = 1, .minimum = 1, .maximum = 4, .site = PLEAT_NONE, .job_kind = PLEAT_MALLEABLE}};
    assert_int_equal(hand_feed(&h, both), PLEAT_E_INVALID);
    uint32_t component = run(&h, 3, 8, 3), rigid = hand_submit(&h, PLEAT_RIGID, 2, 2, 0);
    struct pleat_event history = {
        .kind = PLEAT_EV_HISTORY,
        .component = component,
        .u.history = {.executions = 2, .count = 2, .rows = {{100, 2}, {200, 1}}}};
    assert_int_equal(hand_feed(&h, history), 0);
    assert_int_equal(hand_feed(&h, history), PLEAT_E_INVALID); /* 100 is not after 200 */
    history.u.history.rows[0].iteration = 300;
    history.u.history.rows[1].iteration = 300;
    assert_int_equal(hand_feed(&h, history), PLEAT_E_INVALID);
    history.u.history.rows[1] = history.u.history.rows[0];
    history.u.history.count = 6;
    assert_int_equal(hand_feed(&h, history), PLEAT_E_INVALID);
    history.u.history.count = 1;
    history.u.history.rows[0].requests = 0;
    assert_int_equal(hand_feed(&h, history), PLEAT_E_INVALID);
    history.u.history.rows[0].requests = 1;
    history.u.history.executions = 0;
    assert_int_equal(hand_feed(&h, history), PLEAT_E_INVALID);
    history.u.history.executions = 3;
    history.component = rigid;
    assert_int_equal(hand_feed(&h, history), PLEAT_E_STATE);
    const struct pleat_view *view = pleat_core_view(h.core);
    assert_int_equal(pleat_view_requested(view, hand_component(&h, component), 0, 1000), 3);
    assert_int_equal(pleat_view_requested(view, hand_component(&h, component), 100, 199), 2);
    assert_int_equal(pleat_view_requested(view, hand_component(&h, component), 101, 200), 1);
    assert_int_equal(buffer(&h, component)->executions, 2);
    hand_finish(&h);
}

/* ---- what it vacates ---- */

static void test_a_vacated_process_goes_back(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = run(&h, 3, 8, 5);
    assert_int_equal(stop(&h, component), 0);
    assert_int_equal(hand_component(&h, component)->processors, 4);
    has(&h, component, 0, 0);
    assert_int_equal(hand_site(&h)->releasing, 1); /* nobody keeps a buffer */
    assert_int_equal(hand_release_all(&h), 1);
    assert_int_equal(hand_site(&h)->claimed, 4);
    assert_int_equal(stop(&h, component), 0);
    assert_int_equal(stop(&h, component), PLEAT_E_STATE); /* its minimum */
    assert_int_equal(hand_component(&h, component)->processors, 3);
    hand_finish(&h);
}

static void test_a_vacated_process_is_kept(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    hand_parameter(&h, PLEAT_PARAM_BUFFER_LEVEL, 0);
    hand_policy(&h, PLEAT_BUFFER, "periodic");
    uint32_t component = run(&h, 3, 8, 4);
    hand_mark(&h);
    assert_int_equal(stop(&h, component), 0);
    has(&h, component, 1, 0);
    assert_int_equal(hand_site(&h)->claimed, 4);
    assert_int_equal(add(&h, component), 0); /* wanted again before the next review */
    assert_int_equal(hand_component(&h, component)->processors, 4);
    assert_int_equal(hand_count(&h, PLEAT_DO_CLAIM), 0);
    assert_int_equal(stop(&h, component), 0);
    hand_sleep(&h, 600 * SECONDS); /* that review finds one above the level */
    has(&h, component, 0, 0);
    assert_int_equal(hand_release_all(&h), 1);
    hand_finish(&h);
}

static void test_a_process_beyond_the_maximum_is_not_kept(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    hand_parameter(&h, PLEAT_PARAM_BUFFER_LEVEL, 0);
    hand_policy(&h, PLEAT_BUFFER, "periodic");
    h.flags = PLEAT_COMPONENT_EVOLVES;
    uint32_t component = hand_run(&h, 2, 8, 8);
    struct pleat_event declared = {.kind = PLEAT_EV_DECLARED,
                                   .component = component,
                                   .u.declared = {.run = hand_component(&h, component)->run,
                                                  .minimum = 6,
                                                  .maximum = 6,
                                                  .sizes_kind = PLEAT_SIZES_POWERS}};
    assert_int_equal(hand_feed(&h, declared), 0); /* there is no such size: nobody shrinks it */
    is(&h, component, PLEAT_RUNNING);
    assert_int_equal(stop(&h, component), 0);
    assert_int_equal(hand_component(&h, component)->processors, 7);
    has(&h, component, 0, 0);
    assert_int_equal(hand_release_all(&h), 1);
    hand_finish(&h);
}

/* ---- reviews ---- */

static void test_reviews_by_time(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    hand_parameter(&h, PLEAT_PARAM_BUFFER_LEVEL, 2);
    hand_policy(&h, PLEAT_BUFFER, "periodic");
    uint32_t component = run(&h, 3, 8, 3);
    has(&h, component, 0, 2); /* when the run begins */
    assert_int_equal(pleat_core_next_deadline(h.core), h.now_us + 600 * SECONDS);
    hand_sleep(&h, 600 * SECONDS);
    has(&h, component, 0, 4); /* what is on its way is not there */
    assert_int_equal(give_all(&h), 4);
    assert_int_equal(add(&h, component), 0);
    has(&h, component, 3, 0);
    hand_sleep(&h, 600 * SECONDS - 1);
    has(&h, component, 3, 0);
    hand_sleep(&h, 1);
    has(&h, component, 2, 0);
    assert_int_equal(hand_release_all(&h), 1);
    /* with those that are on their way counted */
    hand_parameter(&h, PLEAT_PARAM_BUFFER_PENDING, 1);
    assert_int_equal(add(&h, component), 0);
    assert_int_equal(add(&h, component), 0);
    hand_sleep(&h, 600 * SECONDS);
    has(&h, component, 0, 2);
    hand_sleep(&h, 600 * SECONDS);
    has(&h, component, 0, 2);
    hand_finish(&h);
}

static void test_reviews_by_iterations(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    hand_policy(&h, PLEAT_BUFFER, "periodic-prediction");
    uint32_t component = submit(&h, PLEAT_MOLDABLE, 3, 8, 3);
    struct pleat_event history = {.kind = PLEAT_EV_HISTORY,
                                  .component = component,
                                  .u.history = {.executions = 3, .count = 1, .rows = {{20, 7}}}};
    assert_int_equal(hand_feed(&h, history), 0);
    hand_sleep(&h, 30 * SECONDS); /* an allocation takes that long */
    assert_int_equal(hand_claimed(&h, hand_last(&h, PLEAT_DO_CLAIM), 3), 0);
    assert_int_equal(hand_started(&h, component), 0);
    hand_mark(&h);
    assert_int_equal(hand_site(&h)->slowest_claim_us, 30 * SECONDS);
    has(&h, component, 0, 0);
    assert_int_equal(buffer(&h, component)->review_iteration, 5);
    assert_int_equal(pleat_core_next_deadline(h.core), PLEAT_NEVER);
    assert_int_equal(progress(&h, component, 4, 3 * SECONDS), 0);
    assert_int_equal(buffer(&h, component)->review_iteration, 5);
    /* 10 iterations ahead is 15 to 20, in which there were 7 requests in 3 executions */
    assert_int_equal(progress(&h, component, 5, 3 * SECONDS), 0);
    has(&h, component, 0, 2);
    assert_int_equal(give_all(&h), 2);
    assert_int_equal(buffer(&h, component)->review_iteration, 10);
    assert_int_equal(progress(&h, component, 12, 3 * SECONDS),
                     0); /* one above the level, none foreseen */
    has(&h, component, 1, 0);
    assert_int_equal(buffer(&h, component)->review_iteration, 17);
    assert_int_equal(process(&h, PLEAT_EV_ADD_PROCESS, component, 20),
                     0); /* that tells how far it is */
    assert_int_equal(buffer(&h, component)->review_iteration, 25);
    hand_finish(&h);
}

static void test_the_buffer_policy_changes(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = run(&h, 3, 8, 3);
    has(&h, component, 0, 0);
    hand_policy(&h, PLEAT_BUFFER, "periodic");
    has(&h, component, 0, 1);
    hand_policy(&h, PLEAT_BUFFER, "none");
    has(&h, component, 0, 1);
    assert_int_equal(pleat_core_next_deadline(h.core), PLEAT_NEVER);
    hand_policy(&h, PLEAT_BUFFER, "periodic");
    has(&h, component, 0, 2);                                  /* reviewed at once */
    hand_parameter(&h, PLEAT_PARAM_BUFFER_REVIEW_US, SECONDS); /* and now again */
    has(&h, component, 0, 3);
    assert_int_equal(pleat_core_next_deadline(h.core), h.now_us + SECONDS);
    hand_finish(&h);
}

/* ---- others need them ---- */

static void test_room_is_made_from_buffers(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    hand_policy(&h, PLEAT_MALLEABILITY, "egs");
    uint32_t component = run(&h, 3, 8, 3);
    for (int i = 0; i < 4; i++)
        assert_int_equal(add(&h, component), 0);
    assert_int_equal(give_all(&h), 4);
    has(&h, component, 4, 0);
    uint32_t waiting = hand_submit(&h, PLEAT_RIGID, 3, 3, 0);
    has(&h, component, 2, 0); /* one is free, two more are needed */
    assert_int_equal(hand_component(&h, component)->processors, 3);
    is(&h, component, PLEAT_RUNNING);
    assert_int_equal(hand_release_all(&h), 2);
    is(&h, waiting, PLEAT_CLAIMING);
    hand_finish(&h);
}

static void test_nobody_is_shrunk_for_what_buffers_give(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t component = run(&h, 2, 8, 2), malleable = hand_run(&h, 1, 4, 4);
    assert_int_equal(add(&h, component), 0);
    assert_int_equal(add(&h, component), 0);
    assert_int_equal(give_all(&h), 2);
    hand_policy(&h, PLEAT_MALLEABILITY, "egs");
    uint32_t waiting = hand_submit(&h, PLEAT_RIGID, 3, 3, 0);
    has(&h, component, 0, 0);
    hand_at_step(&h, malleable, PLEAT_RESIZE_GRANTED);
    assert_int_equal(hand_component(&h, malleable)->target, 3); /* only the third processor */
    hand_release_all(&h);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, malleable, 3), 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_VACATED, malleable, 3), 0);
    is(&h, waiting, PLEAT_CLAIMING);
    hand_finish(&h);
}

/* Who waits goes first: a review gets nothing of what is kept for one. */
static void test_nothing_is_prepared_while_room_is_made(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 12);
    hand_policy(&h, PLEAT_MALLEABILITY, "egs");
    uint32_t component = run(&h, 2, 8, 2), malleable = hand_run(&h, 1, 8, 8);
    uint32_t waiting = hand_submit(&h, PLEAT_RIGID, 4, 4, 0);
    hand_at_step(&h, malleable, PLEAT_RESIZE_GRANTED);
    hand_policy(&h, PLEAT_BUFFER, "periodic");
    has(&h, component, 0, 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, malleable, 6), 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_VACATED, malleable, 6), 0);
    is(&h, waiting, PLEAT_CLAIMING);
    hand_finish(&h);
}

static void test_the_maximum_falls_below_a_buffer(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = run(&h, 3, 8, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(add(&h, component), 0);
    struct pleat_effect late = hand_last(&h, PLEAT_DO_CLAIM);
    h.effects.count--; /* the last one takes longer */
    assert_int_equal(give_all(&h), 2);
    has(&h, component, 2, 1);
    assert_int_equal(hand_limits(&h, component, 3, 5), 0);
    has(&h, component, 1, 1); /* a prepared one goes before one that may not come */
    assert_int_equal(hand_limits(&h, component, 3, 3), 0);
    has(&h, component, 0, 0);
    assert_int_equal(hand_claimed(&h, late, 1), PLEAT_CORE_STALE); /* it crossed its release */
    assert_int_equal(hand_release_all(&h), 3);
    assert_int_equal(hand_site(&h)->claimed, 3);
    hand_finish(&h);
}

static void test_a_growth_takes_the_room_of_the_buffer(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    h.flags = PLEAT_COMPONENT_EVOLVES;
    uint32_t component = hand_run(&h, 2, 6, 4);
    assert_int_equal(add(&h, component), 0);
    assert_int_equal(add(&h, component), 0);
    assert_int_equal(give_all(&h), 2);
    assert_int_equal(hand_demand(&h, component, 5, false), 0);
    has(&h, component, 1, 0);
    assert_int_equal(hand_claimed(&h, hand_last(&h, PLEAT_DO_CLAIM), 1), 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 5), 0);
    hand_expect(&h, component, PLEAT_OUTCOME_GROWN, PLEAT_RUNNING, 5);
    assert_int_equal(add(&h, component), 0);
    assert_int_equal(hand_component(&h, component)->processors, 6);
    hand_finish(&h);
}

/* ---- losses and ends ---- */

static void test_losing_a_prepared_process(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = run(&h, 3, 8, 3);
    assert_int_equal(add(&h, component), 0);
    struct pleat_effect first = hand_last(&h, PLEAT_DO_CLAIM);
    assert_int_equal(hand_lost(&h, first), 0); /* on its way */
    has(&h, component, 0, 0);
    hand_sleep(&h, pleat_parameter_default(PLEAT_PARAM_BACKOFF_US));
    hand_mark(&h);
    assert_int_equal(add(&h, component), 0);
    struct pleat_effect second = hand_last(&h, PLEAT_DO_CLAIM);
    assert_int_equal(give_all(&h), 1);
    assert_int_equal(hand_lost(&h, second), 0); /* prepared: its application knew nothing of it */
    has(&h, component, 0, 0);
    is(&h, component, PLEAT_RUNNING);
    assert_int_equal(hand_site(&h)->claimed, 3);
    hand_finish(&h);
}

static void test_losing_a_process_that_was_added(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = run(&h, 3, 8, 3);
    assert_int_equal(add(&h, component), 0);
    assert_int_equal(add(&h, component), 0);
    struct pleat_effect last = hand_last(&h, PLEAT_DO_CLAIM);
    assert_int_equal(give_all(&h), 2);
    assert_int_equal(add(&h, component), 0);
    assert_int_equal(add(&h, component), 0);
    assert_int_equal(add(&h, component), 0);
    assert_int_equal(hand_component(&h, component)->processors, 5);
    assert_int_equal(hand_lost(&h, last), 0); /* its processes ran there: it begins again */
    is(&h, component, PLEAT_FINISHING);
    assert_int_equal(hand_exited(&h, component, 0), 0);
    hand_mark(&h);
    hand_release_all(&h);
    is(&h, component, PLEAT_CLAIMING);
    has(&h, component, 0, 0);
    assert_int_equal(hand_component(&h, component)->target, 3);
    assert_int_equal(give_all(&h), 1);
    assert_int_equal(hand_started(&h, component), 0);
    assert_int_equal(buffer(&h, component)->requests, 0); /* counted anew */
    hand_finish(&h);
}

static void test_ends_with_a_buffer(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    hand_policy(&h, PLEAT_BUFFER, "periodic");
    uint32_t component = run(&h, 3, 8, 3);
    struct pleat_effect first = hand_last(&h, PLEAT_DO_CLAIM);
    assert_int_equal(hand_claimed(&h, first, 1), 0);
    assert_int_equal(add(&h, component), 0);
    assert_int_equal(add(&h, component), 0);
    struct pleat_effect late = hand_last(&h, PLEAT_DO_CLAIM);
    has(&h, component, 0, 1);
    assert_int_equal(hand_exited(&h, component, 0), 0);
    is(&h, component, PLEAT_FINISHING);
    assert_int_equal(pleat_core_next_deadline(h.core), PLEAT_NEVER); /* no more reviews */
    assert_int_equal(hand_claimed(&h, late, 1), PLEAT_CORE_STALE);
    assert_int_equal(hand_release_all(&h), 3);
    is(&h, component, PLEAT_DONE);
    assert_int_equal(hand_site(&h)->claimed, 0);
    assert_int_equal(hand_component(&h, component)->buffer, PLEAT_NONE);
    hand_finish(&h);
}

static void test_cancelled_with_a_buffer(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    hand_policy(&h, PLEAT_BUFFER, "periodic");
    uint32_t component = run(&h, 3, 8, 3);
    struct pleat_effect coming = hand_last(&h, PLEAT_DO_CLAIM);
    assert_int_equal(hand_cancel(&h, component), 0);
    is(&h, component, PLEAT_FINISHING);
    assert_int_equal(add(&h, component),
                     PLEAT_CORE_STALE); /* nothing more for one that is being ended */
    assert_int_equal(hand_claimed(&h, coming, 1),
                     0); /* its processes are still there, so is this */
    assert_int_equal(hand_exited(&h, component, 0), 0);
    assert_int_equal(hand_release_all(&h), 2);
    is(&h, component, PLEAT_CANCELLED);
    assert_int_equal(hand_site(&h)->claimed, 0);
    hand_finish(&h);
}

static void test_a_time_limit_with_a_buffer(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    hand_policy(&h, PLEAT_BUFFER, "periodic");
    uint32_t component = run(&h, 3, 8, 3);
    assert_int_equal(give_all(&h), 1);
    assert_int_equal(hand_terms(&h, component, -1, -1, 700 * SECONDS), 0);
    hand_sleep(&h, 600 * SECONDS); /* a review does not move the limit */
    hand_sleep(&h, 100 * SECONDS);
    is(&h, component, PLEAT_FINISHING);
    assert_int_equal(hand_exited(&h, component, 0), 0);
    assert_int_equal(hand_release_all(&h), 2);
    is(&h, component, PLEAT_FAILED);
    assert_int_equal(hand_site(&h)->claimed, 0);
    hand_finish(&h);
}

static void test_buffered_claims_are_asked_for_again_after_a_restart(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = run(&h, 3, 8, 3);
    assert_int_equal(add(&h, component), 0);
    assert_int_equal(add(&h, component), 0);
    struct pleat_effects again = {0};
    assert_int_equal(pleat_core_outstanding(h.core, &again), 0);
    assert_int_equal(again.count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(again.items[i].kind, PLEAT_DO_CLAIM);
        assert_int_equal(again.items[i].u.claim.purpose, PLEAT_FOR_BUFFER);
    }
    pleat_array_finish(&again);
    hand_finish(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_request_takes_a_prepared_process),
        cmocka_unit_test(test_every_failed_request_asks_for_another),
        cmocka_unit_test(test_requests_stay_within_the_maximum),
        cmocka_unit_test(test_requests_where_nothing_is_free),
        cmocka_unit_test(test_asks_in_a_resize),
        cmocka_unit_test(test_words_of_an_earlier_run),
        cmocka_unit_test(test_what_makes_no_sense_of_one_that_evolves),
        cmocka_unit_test(test_a_vacated_process_goes_back),
        cmocka_unit_test(test_a_vacated_process_is_kept),
        cmocka_unit_test(test_a_process_beyond_the_maximum_is_not_kept),
        cmocka_unit_test(test_reviews_by_time),
        cmocka_unit_test(test_reviews_by_iterations),
        cmocka_unit_test(test_the_buffer_policy_changes),
        cmocka_unit_test(test_room_is_made_from_buffers),
        cmocka_unit_test(test_nobody_is_shrunk_for_what_buffers_give),
        cmocka_unit_test(test_nothing_is_prepared_while_room_is_made),
        cmocka_unit_test(test_the_maximum_falls_below_a_buffer),
        cmocka_unit_test(test_a_growth_takes_the_room_of_the_buffer),
        cmocka_unit_test(test_losing_a_prepared_process),
        cmocka_unit_test(test_losing_a_process_that_was_added),
        cmocka_unit_test(test_ends_with_a_buffer),
        cmocka_unit_test(test_cancelled_with_a_buffer),
        cmocka_unit_test(test_a_time_limit_with_a_buffer),
        cmocka_unit_test(test_buffered_claims_are_asked_for_again_after_a_restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
