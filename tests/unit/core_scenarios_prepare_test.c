/* Components whose processes agents prepare on the processors of their buffers. A scenario for
 * every row of docs/resize-contract.md about that; the test plays the agents. */
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

/* Processes that are there; processors and processes on their way; processes that are being ended.
 */
static void has(const struct hand *h, uint32_t component, int32_t prepared, int32_t requested,
                int32_t leaving)
{
    assert_int_equal(buffer(h, component)->prepared, prepared);
    assert_int_equal(buffer(h, component)->requested, requested);
    assert_int_equal(buffer(h, component)->leaving, leaving);
}

static void on(const struct hand *h, uint32_t component, int32_t processors)
{
    assert_int_equal(hand_component(h, component)->processors, processors);
    assert_int_equal(hand_component(h, component)->processes, processors);
}

static uint32_t submit(struct hand *h, int32_t minimum, int32_t maximum, int32_t size)
{
    h->flags = PLEAT_COMPONENT_EVOLVES | PLEAT_COMPONENT_PREPARES;
    uint32_t component = hand_submit(h, PLEAT_MOLDABLE, minimum, maximum, size);
    h->flags = 0;
    return component;
}

static uint32_t run(struct hand *h, int32_t minimum, int32_t maximum, int32_t size)
{
    uint32_t component = submit(h, minimum, maximum, size);
    assert_int_equal(hand_claimed(h, hand_last(h, PLEAT_DO_CLAIM), size), 0);
    hand_mark(h);
    assert_int_equal(hand_started(h, component), 0);
    is(h, component, PLEAT_RUNNING);
    return component;
}

static int demanded(struct hand *h, uint32_t component, uint32_t requests, uint32_t satisfied,
                    uint32_t waiting)
{
    struct pleat_event event = {.kind = PLEAT_EV_DEMANDED,
                                .component = component,
                                .u.demanded = {.run = hand_component(h, component)->run,
                                               .requests = requests,
                                               .satisfied = satisfied,
                                               .waiting = waiting}};
    return hand_feed(h, event);
}

/* What an agent says about the claim of an effect. */
static int says(struct hand *h, uint16_t kind, struct pleat_effect about, uint32_t reason)
{
    uint64_t run = about.u.claim.run;
    if (run == 0) /* of a claim of the run's start */
        run = hand_component(h, about.component)->run;
    struct pleat_event event = {.kind = kind,
                                .component = about.u.claim.index,
                                .u.kept = {.claim = about.id, .run = run, .reason = reason}};
    return hand_feed(h, event);
}

static int gone(struct hand *h, struct pleat_effect about, enum pleat_gone_reason reason)
{
    return says(h, PLEAT_EV_PROCESS_GONE, about, reason);
}

/* The claim asked for last is given; the order to prepare a process on it. */
static struct pleat_effect give(struct hand *h)
{
    struct pleat_effect claim = hand_last(h, PLEAT_DO_CLAIM);
    assert_int_equal(claim.u.claim.purpose, PLEAT_FOR_BUFFER);
    assert_int_equal(hand_claimed(h, claim, 1), 0);
    struct pleat_effect order = hand_last(h, PLEAT_DO_PREPARE);
    assert_int_equal(order.id, claim.id);
    assert_int_equal(order.u.claim.run, hand_component(h, order.component)->run);
    return order;
}

/* ... and the process is there. */
static struct pleat_effect prepare(struct hand *h)
{
    struct pleat_effect order = give(h);
    assert_int_equal(says(h, PLEAT_EV_PREPARED, order, 0), 0);
    return order;
}

/* Has one prepared process, by a request that is not wanted any more. */
static struct pleat_effect prepared(struct hand *h, uint32_t component)
{
    uint32_t requests = buffer(h, component)->requests;
    assert_int_equal(demanded(h, component, requests + 1, 0, 1), 0);
    struct pleat_effect order = prepare(h);
    assert_int_equal(demanded(h, component, requests + 1, 0, 0), 0);
    hand_mark(h);
    return order;
}

static struct pleat_effect start_claim(const struct hand *h, uint32_t component)
{
    uint32_t index = hand_component(h, component)->first_claim;
    struct pleat_effect about = {
        .id = pleat_core_claim(h->core, index)->id, .component = component, .u.claim.index = index};
    return about;
}

/* ---- prepared, and taken ---- */

static void test_a_processor_is_prepared(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    hand_policy(&h, PLEAT_BUFFER, "periodic");
    uint32_t component = run(&h, 3, 8, 3);
    has(&h, component, 0, 1, 0);
    struct pleat_effect order = give(&h);
    has(&h, component, 0, 1, 0); /* the processor is there, its process is not */
    assert_int_equal(buffer(&h, component)->preparing, 1);
    assert_int_equal(hand_site(&h)->buffered, 0);
    assert_int_equal(says(&h, PLEAT_EV_PREPARED, order, 0), 0);
    has(&h, component, 1, 0, 0);
    assert_int_equal(hand_site(&h)->buffered, 1);
    on(&h, component, 3);
    hand_finish(&h);
}

static void test_an_agent_hands_a_process_over(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = run(&h, 3, 8, 3);
    struct pleat_effect order = prepared(&h, component);
    assert_int_equal(demanded(&h, component, 2, 1, 0), 0);
    assert_int_equal(says(&h, PLEAT_EV_TAKEN, order, 0), 0);
    has(&h, component, 0, 0, 0);
    on(&h, component, 4);
    assert_int_equal(hand_count(&h, PLEAT_DO_PROCESSES), 0); /* the agent has told it already */
    assert_int_equal(buffer(&h, component)->requests, 2);
    assert_int_equal(buffer(&h, component)->satisfied, 1);
    assert_int_equal(hand_site(&h)->buffered, 0);
    assert_int_equal(hand_exited(&h, component, 0), 0);
    assert_int_equal(hand_count(&h, PLEAT_DO_UNPREPARE), 0);
    assert_int_equal(hand_release_all(&h), 2);
    is(&h, component, PLEAT_DONE);
    hand_finish(&h);
}

static void test_taken_before_it_was_said_to_be_there(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = run(&h, 3, 8, 3);
    assert_int_equal(demanded(&h, component, 1, 0, 1), 0);
    struct pleat_effect order = give(&h);
    assert_int_equal(says(&h, PLEAT_EV_TAKEN, order, 0), 0);
    on(&h, component, 4);
    assert_int_equal(says(&h, PLEAT_EV_PREPARED, order, 0), PLEAT_CORE_STALE);
    has(&h, component, 0, 1, 0); /* nobody has said that nobody waits any more */
    hand_finish(&h);
}

static void test_an_allocation_lasts_until_its_process_is_there(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    hand_policy(&h, PLEAT_BUFFER, "combined");
    uint32_t component = run(&h, 3, 8, 3);
    assert_int_equal(demanded(&h, component, 1, 0, 1), 0);
    hand_sleep(&h, 20 * SECONDS);
    struct pleat_effect order = give(&h);
    assert_int_equal(hand_site(&h)->slowest_claim_us, 0);
    hand_sleep(&h, 3 * SECONDS);
    assert_int_equal(says(&h, PLEAT_EV_PREPARED, order, 0), 0);
    assert_int_equal(hand_site(&h)->slowest_claim_us, 23 * SECONDS);
    assert_int_equal(hand_site(&h)->allocation_count, 1);
    assert_true(hand_site(&h)->allocation_us == 23e6);
    is(&h, component, PLEAT_RUNNING);
    hand_finish(&h);
}

/* ---- requests that wait ---- */

static void test_requests_that_wait_are_served(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = run(&h, 3, 8, 3);
    assert_int_equal(demanded(&h, component, 2, 0, 2), 0);
    has(&h, component, 0, 2, 0);
    assert_int_equal(demanded(&h, component, 2, 0, 2), PLEAT_CORE_STALE); /* said again */
    has(&h, component, 0, 2, 0);
    assert_int_equal(demanded(&h, component, 3, 0, 3), 0);
    has(&h, component, 0, 3, 0);
    assert_int_equal(demanded(&h, component, 2, 0, 1), PLEAT_CORE_STALE); /* said before that */
    assert_int_equal(demanded(&h, component, 4, 3, 2), PLEAT_E_INVALID);
    assert_int_equal(demanded(&h, component, 4, 5, 0), PLEAT_E_INVALID);
    hand_finish(&h);
}

static void test_requests_wait_until_something_is_free(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 6);
    uint32_t other = hand_submit(&h, PLEAT_RIGID, 2, 2, 0);
    assert_int_equal(hand_claimed(&h, hand_last(&h, PLEAT_DO_CLAIM), 2), 0);
    assert_int_equal(hand_started(&h, other), 0);
    uint32_t component = run(&h, 3, 8, 3);
    assert_int_equal(demanded(&h, component, 3, 0, 3), 0);
    has(&h, component, 0, 1, 0); /* the only free one */
    assert_int_equal(hand_exited(&h, other, 0), 0);
    has(&h, component, 0, 1, 0);
    assert_int_equal(hand_release_all(&h), 1);
    has(&h, component, 0, 3, 0);
    assert_int_equal(
        hand_claim_failed(&h, hand_last(&h, PLEAT_DO_CLAIM), PLEAT_REASON_CLAIM_REFUSED), 0);
    has(&h, component, 0, 2, 0); /* a site that refused is left alone for a while */
    hand_sleep(&h, pleat_parameter_default(PLEAT_PARAM_BACKOFF_US));
    has(&h, component, 0, 3, 0);
    hand_finish(&h);
}

static void test_requests_that_wait_stay_within_the_maximum(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = run(&h, 3, 5, 3);
    assert_int_equal(demanded(&h, component, 9, 0, 9), 0);
    has(&h, component, 0, 2, 0);
    assert_int_equal(hand_limits(&h, component, 3, 7), 0);
    has(&h, component, 0, 4, 0);
    hand_finish(&h);
}

static void test_the_one_that_started_first_is_served_first(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 7);
    uint32_t first = run(&h, 2, 8, 2), second = run(&h, 2, 8, 2);
    uint32_t other = hand_submit(&h, PLEAT_RIGID, 3, 3, 0);
    assert_int_equal(hand_claimed(&h, hand_last(&h, PLEAT_DO_CLAIM), 3), 0);
    assert_int_equal(hand_started(&h, other), 0);
    assert_int_equal(demanded(&h, second, 3, 0, 3), 0);
    assert_int_equal(demanded(&h, first, 2, 0, 2), 0);
    assert_int_equal(hand_exited(&h, other, 0), 0);
    assert_int_equal(hand_release_all(&h), 1);
    has(&h, first, 0, 2, 0);
    has(&h, second, 0, 1, 0);
    hand_finish(&h);
}

static void test_what_waits_is_not_given_back(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    hand_parameter(&h, PLEAT_PARAM_BUFFER_LEVEL, 0);
    hand_parameter(&h, PLEAT_PARAM_BUFFER_PENDING, 1);
    hand_policy(&h, PLEAT_BUFFER, "periodic");
    uint32_t component = run(&h, 3, 8, 3);
    assert_int_equal(demanded(&h, component, 2, 0, 2), 0);
    has(&h, component, 0, 2, 0);
    hand_sleep(&h, 600 * SECONDS); /* a review: all are above the level, and wanted */
    has(&h, component, 0, 2, 0);
    assert_int_equal(demanded(&h, component, 2, 0, 1), 0);
    hand_sleep(&h, 600 * SECONDS);
    has(&h, component, 0, 1, 0); /* the other is wanted no more */
    hand_finish(&h);
}

/* ---- given back ---- */

static void test_a_processor_goes_back_after_its_process(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    hand_parameter(&h, PLEAT_PARAM_BUFFER_LEVEL, 0);
    uint32_t component = run(&h, 3, 8, 3);
    struct pleat_effect order = prepared(&h, component);
    hand_policy(&h, PLEAT_BUFFER, "periodic"); /* its first review finds one too many */
    struct pleat_effect ends = hand_last(&h, PLEAT_DO_UNPREPARE);
    assert_int_equal(ends.id, order.id);
    assert_int_equal(hand_count(&h, PLEAT_DO_RELEASE), 0);
    has(&h, component, 0, 0, 1);
    assert_int_equal(hand_site(&h)->claimed, 4);
    assert_int_equal(gone(&h, ends, PLEAT_GONE_UNUSED), 0);
    assert_int_equal(hand_last(&h, PLEAT_DO_RELEASE).id, order.id);
    has(&h, component, 0, 0, 0);
    assert_int_equal(gone(&h, ends, PLEAT_GONE_UNUSED), PLEAT_CORE_STALE);
    assert_int_equal(hand_release_all(&h), 1);
    assert_int_equal(hand_site(&h)->claimed, 3);
    hand_finish(&h);
}

static void test_given_back_while_it_is_being_prepared(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = run(&h, 3, 4, 3);
    assert_int_equal(demanded(&h, component, 1, 0, 1), 0);
    struct pleat_effect order = give(&h);
    assert_int_equal(hand_limits(&h, component, 3, 3), 0);
    assert_int_equal(hand_last(&h, PLEAT_DO_UNPREPARE).id, order.id);
    has(&h, component, 0, 0, 1);
    assert_int_equal(says(&h, PLEAT_EV_PREPARED, order, 0), PLEAT_CORE_STALE); /* it crossed that */
    has(&h, component, 0, 0, 1);
    assert_int_equal(gone(&h, order, PLEAT_GONE_UNUSED), 0);
    assert_int_equal(hand_release_all(&h), 1);
    hand_finish(&h);
}

static void test_handed_over_while_it_is_to_be_ended(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = run(&h, 3, 4, 3);
    struct pleat_effect order = prepared(&h, component);
    assert_int_equal(hand_limits(&h, component, 3, 3), 0);
    has(&h, component, 0, 0, 1);
    assert_int_equal(says(&h, PLEAT_EV_TAKEN, order, 0), 0); /* above its maximum: it has it */
    on(&h, component, 4);
    has(&h, component, 0, 0, 0);
    assert_int_equal(hand_site(&h)->coming, 0);
    assert_int_equal(says(&h, PLEAT_EV_TAKEN, order, 0), PLEAT_CORE_STALE); /* the answer */
    assert_int_equal(hand_count(&h, PLEAT_DO_RELEASE), 0);
    assert_int_equal(gone(&h, order, PLEAT_GONE_STOPPED), 0);
    on(&h, component, 3);
    assert_int_equal(hand_release_all(&h), 1);
    hand_finish(&h);
}

static void test_room_is_made_from_prepared_processes(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 12);
    hand_policy(&h, PLEAT_MALLEABILITY, "egs");
    uint32_t malleable = hand_run(&h, 2, 6, 6);
    uint32_t component = run(&h, 3, 8, 3);
    struct pleat_effect one = prepared(&h, component);
    assert_int_equal(demanded(&h, component, 3, 0, 2), 0);
    struct pleat_effect other = prepare(&h);
    assert_int_equal(demanded(&h, component, 3, 0, 0), 0);
    has(&h, component, 2, 0, 0);
    assert_int_equal(demanded(&h, component, 3, 1, 0), 0);
    uint32_t waiting = hand_submit(&h, PLEAT_RIGID, 2, 2, 0);
    has(&h, component, 1, 0, 1); /* one is free */
    is(&h, malleable, PLEAT_RUNNING);
    assert_int_equal(hand_site(&h)->coming, 1);
    assert_int_equal(hand_component(&h, waiting)->state, PLEAT_QUEUED);
    assert_int_equal(demanded(&h, component, 4, 2, 0), 0); /* another pass asks for no more */
    has(&h, component, 1, 0, 1);
    is(&h, malleable, PLEAT_RUNNING);
    struct pleat_effect ends = hand_last(&h, PLEAT_DO_UNPREPARE);
    assert_true(ends.id == one.id || ends.id == other.id);
    assert_int_equal(gone(&h, ends, PLEAT_GONE_UNUSED), 0);
    assert_int_equal(hand_release_all(&h), 1);
    is(&h, waiting, PLEAT_CLAIMING);
    hand_finish(&h);
}

/* A job that keeps to one node gets what is prepared there, not on another one. */
static void test_room_on_a_node_is_made_from_prepared_processes(void **state)
{
    (void)state;
    struct hand h;
    struct pleat_effect orders[4];
    hand_init(&h, 8);
    for (uint32_t n = 0; n < 2; n++) {
        struct pleat_event node = {.kind = PLEAT_EV_NODE, .u.node = {.node = n, .slots = 4}};
        assert_int_equal(hand_feed(&h, node), 0);
    }
    uint32_t component = run(&h, 1, 8, 1); /* on node 0 */
    assert_int_equal(demanded(&h, component, 4, 0, 4), 0);
    size_t asked = h.mark, given = 0;
    for (size_t i = asked; i < h.effects.count && given < 4; i++) {
        struct pleat_effect claim = h.effects.items[i];
        if (claim.kind != PLEAT_DO_CLAIM)
            continue;
        h.node = given % 2; /* in turn */
        assert_int_equal(hand_claimed(&h, claim, 1), 0);
        orders[given] = hand_last(&h, PLEAT_DO_PREPARE);
        assert_int_equal(says(&h, PLEAT_EV_PREPARED, orders[given++], 0), 0);
    }
    h.node = 0;
    assert_int_equal(demanded(&h, component, 4, 0, 0), 0);
    has(&h, component, 4, 0, 0);
    hand_mark(&h);
    /* node 0 has one free, node 1 two */
    h.flags = 0;
    uint32_t waiting = hand_submit(&h, PLEAT_RIGID, 3, 3, 0);
    has(&h, component, 2, 0, 2);
    assert_int_equal(demanded(&h, component, 5, 1, 0), 0); /* another pass asks for no more */
    has(&h, component, 2, 0, 2);
    for (int i = 0; i < 2; i++)
        assert_int_equal(gone(&h, orders[2 * i], PLEAT_GONE_UNUSED), 0); /* those of node 0 */
    has(&h, component, 2, 0, 0);
    assert_int_equal(buffer(&h, component)->reclaimed, 2);
    assert_int_equal(buffer(&h, component)->reclaimed_for, hand_component(&h, waiting)->job);
    assert_int_equal(hand_release_all(&h), 2);
    is(&h, waiting, PLEAT_CLAIMING);
    has(&h, component, 2, 0, 0);
    hand_gets(&h, waiting, 0);
    hand_finish(&h);
}

/* ---- processes that end ---- */

static void test_a_process_is_stopped(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = run(&h, 3, 8, 3);
    struct pleat_effect order = prepared(&h, component);
    assert_int_equal(says(&h, PLEAT_EV_TAKEN, order, 0), 0);
    assert_int_equal(gone(&h, start_claim(&h, component), PLEAT_GONE_STOPPED), 0);
    on(&h, component, 3); /* one of those of its start */
    assert_int_equal(hand_last(&h, PLEAT_DO_SPLIT).u.claim.count, 1);
    assert_int_equal(hand_release_all(&h), 1);
    assert_int_equal(gone(&h, order, PLEAT_GONE_STOPPED), 0);
    on(&h, component, 2); /* below its minimum: the process is gone already */
    assert_int_equal(hand_last(&h, PLEAT_DO_RELEASE).id, order.id);
    assert_int_equal(gone(&h, order, PLEAT_GONE_STOPPED), PLEAT_CORE_STALE);
    is(&h, component, PLEAT_RUNNING);
    hand_finish(&h);
}

static void test_a_stopped_process_makes_room_for_another(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    hand_parameter(&h, PLEAT_PARAM_BUFFER_LEVEL, 0);
    hand_policy(&h, PLEAT_BUFFER, "periodic");
    uint32_t component = run(&h, 3, 8, 3);
    struct pleat_effect order = prepared(&h, component);
    assert_int_equal(says(&h, PLEAT_EV_TAKEN, order, 0), 0);
    hand_mark(&h);
    assert_int_equal(gone(&h, order, PLEAT_GONE_STOPPED), 0);
    assert_int_equal(hand_count(&h, PLEAT_DO_RELEASE), 0);
    has(&h, component, 0, 1, 0); /* on the same processor */
    assert_int_equal(hand_last(&h, PLEAT_DO_PREPARE).id, order.id);
    /* repeated, or an answer to what was asked before: neither is about the new process */
    assert_int_equal(gone(&h, order, PLEAT_GONE_STOPPED), PLEAT_CORE_STALE);
    assert_int_equal(gone(&h, order, PLEAT_GONE_UNUSED), PLEAT_CORE_STALE);
    assert_int_equal(says(&h, PLEAT_EV_PREPARED, order, 0), 0);
    has(&h, component, 1, 0, 0);
    hand_sleep(&h, 600 * SECONDS); /* that review finds one above the level */
    has(&h, component, 0, 0, 1);
    hand_finish(&h);
}

static void test_a_process_dies(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    hand_parameter(&h, PLEAT_PARAM_BUFFER_LEVEL, 0);
    hand_policy(&h, PLEAT_BUFFER, "periodic");
    uint32_t component = run(&h, 3, 8, 3);
    struct pleat_effect order = prepared(&h, component);
    assert_int_equal(says(&h, PLEAT_EV_TAKEN, order, 0), 0);
    assert_int_equal(gone(&h, order, PLEAT_GONE_DIED), 0);
    on(&h, component, 3);
    has(&h, component, 0, 0, 0); /* it is not known why: nothing is kept there */
    assert_int_equal(hand_last(&h, PLEAT_DO_RELEASE).id, order.id);
    is(&h, component, PLEAT_RUNNING);
    hand_finish(&h);
}

static void test_its_first_process_ends(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = run(&h, 1, 8, 1);
    struct pleat_effect order = prepared(&h, component);
    assert_int_equal(says(&h, PLEAT_EV_TAKEN, order, 0), 0);
    on(&h, component, 2);
    /* the run ends with it, and that is told apart */
    assert_int_equal(gone(&h, start_claim(&h, component), PLEAT_GONE_DIED), PLEAT_CORE_STALE);
    on(&h, component, 2);
    assert_int_equal(hand_exited(&h, component, 0), 0);
    assert_int_equal(hand_release_all(&h), 2);
    is(&h, component, PLEAT_DONE);
    hand_finish(&h);
}

static void test_a_process_that_cannot_be_prepared(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    int64_t pause_us = pleat_parameter_default(PLEAT_PARAM_BACKOFF_US);
    uint32_t component = run(&h, 3, 8, 3);
    uint32_t errors = hand_site(&h)->errors;
    assert_int_equal(demanded(&h, component, 2, 0, 2), 0);
    assert_int_equal(gone(&h, give(&h), PLEAT_GONE_NOT_STARTED), 0);
    assert_int_equal(hand_site(&h)->errors, errors + 1);
    assert_int_equal(hand_release_all(&h), 1);
    has(&h, component, 0, 1, 0); /* nothing is asked for in its place: that would fail again */
    hand_mark(&h);
    hand_sleep(&h, pause_us);
    has(&h, component, 0, 2, 0);
    assert_int_equal(gone(&h, give(&h), PLEAT_GONE_DIED), 0); /* before it had registered */
    assert_int_equal(hand_site(&h)->errors, errors + 1);      /* the program may be to blame */
    hand_sleep(&h, pause_us);
    has(&h, component, 0, 1, 0);
    hand_sleep(&h, pause_us); /* twice as long */
    has(&h, component, 0, 2, 0);
    struct pleat_effect order = prepare(&h);
    assert_int_equal(says(&h, PLEAT_EV_TAKEN, order, 0), 0);
    assert_int_equal(buffer(&h, component)->failures, 0);
    hand_finish(&h);
}

static void test_a_prepared_process_dies(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = run(&h, 3, 8, 3);
    struct pleat_effect order = prepared(&h, component);
    assert_int_equal(gone(&h, order, PLEAT_GONE_DIED), 0);
    has(&h, component, 0, 0, 0);
    assert_int_equal(hand_last(&h, PLEAT_DO_RELEASE).id, order.id);
    on(&h, component, 3);
    assert_int_equal(demanded(&h, component, 2, 0, 1), 0);
    has(&h, component, 0, 0, 0); /* for a while: it would die again */
    hand_sleep(&h, pleat_parameter_default(PLEAT_PARAM_BACKOFF_US));
    has(&h, component, 0, 1, 0);
    hand_finish(&h);
}

/* ---- losses, agents, ends ---- */

static void test_losing_a_processor_with_a_process(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = run(&h, 3, 8, 3);
    struct pleat_effect first = prepared(&h, component), second;
    assert_int_equal(says(&h, PLEAT_EV_TAKEN, first, 0), 0);
    second = prepared(&h, component);
    assert_int_equal(hand_lost(&h, second), 0); /* prepared */
    has(&h, component, 0, 0, 0);
    assert_int_equal(says(&h, PLEAT_EV_TAKEN, second, 0), PLEAT_CORE_STALE);
    assert_int_equal(hand_lost(&h, first), 0); /* added: it goes on without it */
    is(&h, component, PLEAT_RUNNING);
    on(&h, component, 3);
    assert_int_equal(gone(&h, first, PLEAT_GONE_DIED), PLEAT_CORE_STALE);
    struct pleat_effect start = start_claim(&h, component);
    start.u.claim.count = 3;
    assert_int_equal(hand_lost(&h, start), 0); /* those of its start, the first one among them */
    is(&h, component, PLEAT_FINISHING);
    hand_finish(&h);
}

static int agent(struct hand *h, uint16_t kind, uint32_t node, uint64_t number)
{
    struct pleat_event event = {.kind = kind, .u.agent = {.number = number, .node = node}};
    return hand_feed(h, event);
}

static void test_its_agent_is_away(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    assert_int_equal(agent(&h, PLEAT_EV_AGENT_BACK, 0, 7), 0);
    uint32_t component = run(&h, 3, 8, 3);
    struct pleat_effect order = prepared(&h, component);
    assert_int_equal(demanded(&h, component, 2, 0, 2), 0);
    struct pleat_effect claim = hand_last(&h, PLEAT_DO_CLAIM);
    assert_int_equal(agent(&h, PLEAT_EV_AGENT_AWAY, 0, 0), 0);
    hand_mark(&h);
    assert_int_equal(hand_claimed(&h, claim, 1), 0);
    assert_int_equal(hand_limits(&h, component, 3, 4), 0); /* one of the two is too many */
    has(&h, component, 0, 1, 1);
    assert_int_equal(hand_count(&h, PLEAT_DO_PREPARE), 0);
    assert_int_equal(hand_count(&h, PLEAT_DO_UNPREPARE), 0);
    assert_int_equal(hand_count(&h, PLEAT_DO_REACH), 2);
    assert_int_equal(agent(&h, PLEAT_EV_AGENT_BACK, 0, 7), 0);
    assert_int_equal(hand_last(&h, PLEAT_DO_PREPARE).id, claim.id);
    assert_int_equal(hand_last(&h, PLEAT_DO_UNPREPARE).id, order.id);
    assert_int_equal(hand_count(&h, PLEAT_DO_PREPARE), 1);
    hand_finish(&h);
}

static void test_the_agent_of_a_processes_node_is_away(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    assert_int_equal(agent(&h, PLEAT_EV_AGENT_BACK, 0, 7), 0);
    assert_int_equal(agent(&h, PLEAT_EV_AGENT_BACK, 5, 9), 0);
    uint32_t component = run(&h, 3, 8, 3);
    assert_int_equal(agent(&h, PLEAT_EV_AGENT_AWAY, 5, 0), 0);
    assert_int_equal(demanded(&h, component, 1, 0, 1), 0);
    h.node = 5;
    assert_int_equal(hand_claimed(&h, hand_last(&h, PLEAT_DO_CLAIM), 1), 0);
    assert_int_equal(hand_count(&h, PLEAT_DO_PREPARE), 0);
    assert_int_equal(hand_last(&h, PLEAT_DO_REACH).u.reach.node, 5);
    assert_int_equal(agent(&h, PLEAT_EV_AGENT_BACK, 5, 10), 0); /* another one */
    assert_int_equal(says(&h, PLEAT_EV_PREPARED, hand_last(&h, PLEAT_DO_PREPARE), 0), 0);
    has(&h, component, 1, 0, 0);
    hand_mark(&h);
    /* the run's own agent is away: until the run is over it has to know */
    assert_int_equal(agent(&h, PLEAT_EV_AGENT_AWAY, 0, 0), 0);
    assert_int_equal(demanded(&h, component, 1, 0, 0), 0);
    assert_int_equal(hand_limits(&h, component, 3, 3), 0);
    assert_int_equal(hand_count(&h, PLEAT_DO_UNPREPARE), 0);
    assert_int_equal(hand_last(&h, PLEAT_DO_REACH).u.reach.node, 0);
    assert_int_equal(hand_ended(&h, PLEAT_EV_EXITED, component, PLEAT_REASON_LOST), 0);
    hand_mark(&h);
    assert_int_equal(agent(&h, PLEAT_EV_AGENT_AWAY, 5, 0), 0);
    assert_int_equal(agent(&h, PLEAT_EV_AGENT_BACK, 5, 10), 0);
    assert_int_equal(hand_count(&h, PLEAT_DO_UNPREPARE), 1); /* it is told without the other */
    assert_int_equal(gone(&h, hand_last(&h, PLEAT_DO_UNPREPARE), PLEAT_GONE_UNUSED), 0);
    assert_int_equal(hand_release_all(&h), 2);
    assert_int_equal(hand_component(&h, component)->claims, 1); /* it is started again */
    hand_finish(&h);
}

static void test_processes_are_asked_for_again_after_a_restart(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = run(&h, 3, 5, 3);
    struct pleat_effect order = prepared(&h, component);
    assert_int_equal(demanded(&h, component, 2, 0, 2), 0);
    struct pleat_effect claim = hand_last(&h, PLEAT_DO_CLAIM);
    assert_int_equal(hand_claimed(&h, claim, 1), 0);
    assert_int_equal(hand_limits(&h, component, 3, 4), 0);
    has(&h, component, 0, 1, 1);
    hand_restart(&h);
    has(&h, component, 0, 1, 1);
    struct pleat_effects again = {0};
    assert_int_equal(pleat_core_outstanding(h.core, &again), 0);
    assert_int_equal(again.count, 2);
    for (size_t i = 0; i < 2; i++) {
        bool ends = again.items[i].kind == PLEAT_DO_UNPREPARE;
        assert_true(ends || again.items[i].kind == PLEAT_DO_PREPARE);
        assert_int_equal(again.items[i].id, ends ? order.id : claim.id);
        assert_int_equal(again.items[i].u.claim.run, hand_component(&h, component)->run);
    }
    pleat_array_finish(&again);
    assert_int_equal(buffer(&h, component)->waiting, 2);
    hand_finish(&h);
}

static void test_it_ends_while_prepared_processes_are_to_end(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = run(&h, 3, 4, 3);
    struct pleat_effect order = prepared(&h, component);
    assert_int_equal(hand_limits(&h, component, 3, 3), 0);
    assert_int_equal(hand_count(&h, PLEAT_DO_UNPREPARE), 1);
    hand_mark(&h);
    assert_int_equal(hand_exited(&h, component, 0), 0);
    has(&h, component, 0, 0, 1);
    /* its agent has not answered, and may not do so any more */
    assert_int_equal(hand_count(&h, PLEAT_DO_UNPREPARE), 1);
    assert_int_equal(hand_last(&h, PLEAT_DO_UNPREPARE).id, order.id);
    assert_int_equal(gone(&h, order, PLEAT_GONE_UNUSED), 0);
    assert_int_equal(hand_release_all(&h), 2);
    is(&h, component, PLEAT_DONE);
    hand_finish(&h);
}

static void test_ends_with_prepared_processes(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = run(&h, 3, 8, 3);
    struct pleat_effect order = prepared(&h, component);
    assert_int_equal(demanded(&h, component, 4, 0, 3), 0);
    struct pleat_effect coming = hand_last(&h, PLEAT_DO_CLAIM);
    struct pleat_effect other = {0};
    for (size_t i = h.mark; i < h.effects.count; i++)
        if (h.effects.items[i].kind == PLEAT_DO_CLAIM && h.effects.items[i].id != coming.id)
            other = h.effects.items[i];
    assert_int_equal(hand_claimed(&h, other, 1), 0);
    has(&h, component, 1, 2, 0);
    assert_int_equal(hand_exited(&h, component, 0), 0);
    is(&h, component, PLEAT_FINISHING);
    has(&h, component, 0, 0, 2);
    assert_int_equal(hand_count(&h, PLEAT_DO_UNPREPARE), 2);
    assert_int_equal(hand_claimed(&h, coming, 1), PLEAT_CORE_STALE); /* it goes back */
    assert_int_equal(says(&h, PLEAT_EV_TAKEN, order, 0), PLEAT_CORE_STALE);
    assert_int_equal(hand_release_all(&h), 2); /* of its start, and the one on its way */
    is(&h, component, PLEAT_FINISHING);
    assert_int_equal(gone(&h, order, PLEAT_GONE_UNUSED), 0);
    order.id = other.id;
    order.u.claim.index = other.u.claim.index;
    assert_int_equal(gone(&h, order, PLEAT_GONE_UNUSED), 0);
    assert_int_equal(hand_release_all(&h), 2);
    is(&h, component, PLEAT_DONE);
    assert_int_equal(hand_site(&h)->claimed, 0);
    assert_int_equal(hand_site(&h)->coming, 0);
    assert_int_equal(hand_component(&h, component)->buffer, PLEAT_NONE);
    hand_finish(&h);
}

static void test_a_node_is_lost_after_the_end(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = run(&h, 3, 8, 3);
    struct pleat_effect order = prepared(&h, component);
    assert_int_equal(hand_exited(&h, component, 0), 0);
    assert_int_equal(hand_release_all(&h), 1);
    is(&h, component, PLEAT_FINISHING); /* the process is still to be ended */
    assert_int_equal(hand_lost(&h, order), 0);
    is(&h, component, PLEAT_DONE);
    hand_finish(&h);
}

static void test_cancelled_with_prepared_processes(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = run(&h, 3, 8, 3);
    struct pleat_effect order = prepared(&h, component);
    assert_int_equal(demanded(&h, component, 2, 0, 2), 0);
    struct pleat_effect coming = hand_last(&h, PLEAT_DO_CLAIM);
    assert_int_equal(hand_cancel(&h, component), 0);
    is(&h, component, PLEAT_FINISHING);
    hand_mark(&h);
    assert_int_equal(hand_claimed(&h, coming, 1), 0); /* no process is started any more */
    assert_int_equal(hand_count(&h, PLEAT_DO_PREPARE), 0);
    assert_int_equal(hand_last(&h, PLEAT_DO_RELEASE).id, coming.id);
    assert_int_equal(says(&h, PLEAT_EV_TAKEN, order, 0), 0); /* before the agent was told */
    on(&h, component, 4);
    assert_int_equal(gone(&h, order, PLEAT_GONE_DIED), PLEAT_CORE_STALE); /* with all others */
    assert_int_equal(hand_exited(&h, component, 0), 0);
    assert_int_equal(hand_release_all(&h), 3);
    is(&h, component, PLEAT_CANCELLED);
    assert_int_equal(hand_site(&h)->claimed, 0);
    hand_finish(&h);
}

static void test_requeued_with_prepared_processes(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = run(&h, 3, 8, 3);
    struct pleat_effect order = prepared(&h, component);
    assert_int_equal(demanded(&h, component, 9, 0, 5), 0);
    struct pleat_event requeue = {.kind = PLEAT_EV_REQUEUE, .component = component};
    assert_int_equal(hand_feed(&h, requeue), 0);
    assert_int_equal(hand_exited(&h, component, 0), 0);
    assert_int_equal(gone(&h, order, PLEAT_GONE_UNUSED), 0);
    hand_mark(&h);
    (void)hand_release_all(&h);
    is(&h, component, PLEAT_CLAIMING);
    assert_int_equal(hand_claimed(&h, hand_last(&h, PLEAT_DO_CLAIM), 3), 0);
    assert_int_equal(hand_started(&h, component), 0);
    has(&h, component, 0, 0, 0); /* nobody has asked in this run */
    assert_int_equal(buffer(&h, component)->waiting, 0);
    assert_int_equal(buffer(&h, component)->requests, 0);
    hand_finish(&h);
}

/* ---- what is counted, and what makes no sense ---- */

static void test_times_of_processors_are_added_up(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = run(&h, 3, 8, 3);
    hand_sleep(&h, 10 * SECONDS); /* 3 */
    assert_int_equal(demanded(&h, component, 1, 0, 1), 0);
    hand_sleep(&h, 10 * SECONDS); /* 3: the other is not there */
    struct pleat_effect order = give(&h);
    hand_sleep(&h, 2 * SECONDS); /* 4, one of them idle */
    assert_int_equal(says(&h, PLEAT_EV_PREPARED, order, 0), 0);
    assert_int_equal(demanded(&h, component, 1, 0, 0), 0);
    hand_sleep(&h, 5 * SECONDS); /* 4, one of them idle */
    assert_int_equal(says(&h, PLEAT_EV_TAKEN, order, 0), 0);
    hand_sleep(&h, 10 * SECONDS); /* 4 */
    assert_int_equal(hand_exited(&h, component, 0), 0);
    assert_int_equal(buffer(&h, component)->waited_us, 7 * SECONDS);
    assert_int_equal(buffer(&h, component)->held_us, (60 + 28 + 40) * SECONDS);
    hand_finish(&h);
}

static void test_words_about_other_processes(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = run(&h, 3, 8, 3);
    struct pleat_effect order = prepared(&h, component);
    assert_int_equal(gone(&h, order, (enum pleat_gone_reason)0), PLEAT_E_INVALID);
    assert_int_equal(gone(&h, order, PLEAT_GONE_COUNT), PLEAT_E_INVALID);
    order.u.claim.run += 3; /* of another run */
    assert_int_equal(says(&h, PLEAT_EV_TAKEN, order, 0), PLEAT_CORE_STALE);
    assert_int_equal(gone(&h, order, PLEAT_GONE_DIED), PLEAT_CORE_STALE);
    order.u.claim.run -= 3;
    order.id += 100; /* no claim of that number */
    assert_int_equal(says(&h, PLEAT_EV_TAKEN, order, 0), PLEAT_CORE_STALE);
    struct pleat_event event = {.kind = PLEAT_EV_ADD_PROCESS,
                                .component = component,
                                .u.process.run = hand_component(&h, component)->run};
    assert_int_equal(hand_feed(&h, event), PLEAT_E_STATE); /* its agent says that otherwise */
    event.kind = PLEAT_EV_STOP_PROCESS;
    assert_int_equal(hand_feed(&h, event), PLEAT_E_STATE);
    uint32_t rigid = hand_submit(&h, PLEAT_RIGID, 2, 2, 0);
    assert_int_equal(hand_claimed(&h, hand_last(&h, PLEAT_DO_CLAIM), 2), 0);
    assert_int_equal(hand_started(&h, rigid), 0);
    assert_int_equal(demanded(&h, rigid, 1, 0, 1), PLEAT_CORE_STALE);
    assert_int_equal(gone(&h, start_claim(&h, rigid), PLEAT_GONE_DIED), PLEAT_CORE_STALE);
    has(&h, component, 1, 0, 0);
    hand_finish(&h);
}

/* ---- on several nodes ---- */

/* At a site of two nodes of 4 processors a job has all those of node 0, and a request waits. */
static uint32_t fills_a_node(struct hand *h, uint16_t more)
{
    hand_init(h, 8);
    for (uint32_t node = 0; node < 2; node++) {
        struct pleat_event event = {.kind = PLEAT_EV_NODE, .u.node = {.node = node, .slots = 4}};
        assert_int_equal(hand_feed(h, event), 0);
    }
    h->flags = (uint16_t)(PLEAT_COMPONENT_EVOLVES | PLEAT_COMPONENT_PREPARES | more);
    uint32_t component = hand_submit(h, PLEAT_MOLDABLE, 4, 8, 4);
    h->flags = 0;
    assert_int_equal(hand_claimed(h, hand_last(h, PLEAT_DO_CLAIM), 4), 0);
    assert_int_equal(hand_started(h, component), 0);
    hand_mark(h);
    assert_int_equal(demanded(h, component, 1, 0, 1), 0);
    return component;
}

static void test_one_that_stays_has_nothing_elsewhere(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = fills_a_node(&h, 0);
    assert_int_equal(hand_count(&h, PLEAT_DO_CLAIM), 0);
    has(&h, component, 0, 0, 0);
    hand_finish(&h);
}

static void test_added_processes_may_be_on_another_node(void **state)
{
    (void)state;
    for (int restarted = 0; restarted < 2; restarted++) {
        struct hand h;
        uint32_t component = fills_a_node(&h, PLEAT_COMPONENT_ROAMS);
        h.node = 1;
        struct pleat_effect order = prepare(&h);
        assert_int_equal(demanded(&h, component, 1, 0, 0), 0);
        assert_int_equal(says(&h, PLEAT_EV_TAKEN, order, 0), 0);
        h.node = 0;
        if (restarted)
            hand_restart(&h);
        on(&h, component, 5);
        assert_int_equal(hand_component(&h, component)->lead_node, 0);
        /* three are left there for others, and none where it is led */
        uint32_t other = hand_submit(&h, PLEAT_RIGID, 3, 3, 0);
        hand_gets(&h, other, 1);
        /* its node goes: the run goes on */
        assert_int_equal(hand_lost(&h, order), 0);
        on(&h, component, 4);
        is(&h, component, PLEAT_RUNNING);
        hand_finish(&h);
    }
}

static void test_what_agents_do_not_prepare_for(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    static const struct {
        uint16_t flags;
        uint8_t kind;
        int32_t minimum;
    } cases[] = {
        {PLEAT_COMPONENT_PREPARES, PLEAT_MOLDABLE, 1}, /* it does not ask for processes itself */
        {PLEAT_COMPONENT_PREPARES | PLEAT_COMPONENT_EVOLVES, PLEAT_MALLEABLE, 1},
        {PLEAT_COMPONENT_PREPARES | PLEAT_COMPONENT_EVOLVES | PLEAT_COMPONENT_EMPTY, PLEAT_MOLDABLE,
         0},
        {PLEAT_COMPONENT_PREPARES | PLEAT_COMPONENT_EVOLVES | PLEAT_COMPONENT_FOLLOWS,
         PLEAT_MOLDABLE, 1},
        {PLEAT_COMPONENT_EVOLVES | PLEAT_COMPONENT_ROAMS, PLEAT_MOLDABLE, 1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pleat_event event = {.kind = PLEAT_EV_SUBMIT,
                                    .flags = cases[i].flags,
                                    .component = pleat_core_next_component(h.core),
                                    .u.submit = {.job = 1,
                                                 .minimum = cases[i].minimum,
                                                 .maximum = 4,
                                                 .site = PLEAT_NONE,
                                                 .job_kind = cases[i].kind}};
        assert_int_equal(hand_feed(&h, event), PLEAT_E_INVALID);
    }
    hand_finish(&h);
}

/* ---- a request that fails: takes what is on its way, or has an allocation of its own ---- */

static void test_a_request_that_fails_may_have_its_own(void **state)
{
    (void)state;
    for (int32_t own = 0; own < 2; own++) {
        struct hand h;
        hand_init(&h, 16);
        hand_policy(&h, PLEAT_BUFFER, "periodic");
        hand_parameter(&h, PLEAT_PARAM_BUFFER_OWN, own);
        uint32_t component = run(&h, 3, 8, 3);
        has(&h, component, 0, 1, 0); /* for the level */
        struct pleat_effect first = give(&h);
        assert_int_equal(demanded(&h, component, 1, 0, 1), 0);
        has(&h, component, 0, 1 + own, 0);
        assert_int_equal(demanded(&h, component, 2, 0, 2), 0);
        has(&h, component, 0, 2 + own, 0);
        assert_int_equal(buffer(&h, component)->own, 1 + own);
        /* the first one there serves one of them, whatever it was asked for */
        assert_int_equal(says(&h, PLEAT_EV_PREPARED, first, 0), 0);
        assert_int_equal(demanded(&h, component, 2, 0, 1), 0);
        assert_int_equal(says(&h, PLEAT_EV_TAKEN, first, 0), 0);
        has(&h, component, 0, 1 + own, 0);
        assert_int_equal(buffer(&h, component)->own, 1);
        assert_int_equal(demanded(&h, component, 3, 0, 2), 0); /* a new one */
        has(&h, component, 0, 2 + own, 0);
        hand_finish(&h);
    }
}

/* What is lost was a request's only if nothing else is left for it. */
static void test_an_allocation_of_its_own_is_lost(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    hand_policy(&h, PLEAT_BUFFER, "periodic");
    hand_parameter(&h, PLEAT_PARAM_BUFFER_OWN, 1);
    uint32_t component = run(&h, 3, 8, 3);
    assert_int_equal(demanded(&h, component, 1, 0, 1), 0);
    has(&h, component, 0, 2, 0); /* and one for the level */
    assert_int_equal(gone(&h, give(&h), PLEAT_GONE_NOT_STARTED), 0);
    has(&h, component, 0, 1, 0);
    assert_int_equal(buffer(&h, component)->own, 1); /* that one serves it */
    assert_int_equal(hand_release_all(&h), 1);
    hand_sleep(&h, pleat_parameter_default(PLEAT_PARAM_BACKOFF_US));
    has(&h, component, 0, 1, 0);
    uint32_t last = buffer(&h, component)->first_claim;
    struct pleat_effect claim = {
        .id = pleat_core_claim(h.core, last)->id, .component = component, .u.claim.index = last};
    assert_int_equal(hand_claim_failed(&h, claim, PLEAT_REASON_CLAIM_REFUSED), 0);
    has(&h, component, 0, 0, 0);
    assert_int_equal(buffer(&h, component)->own, 0);
    hand_sleep(&h, pleat_parameter_default(PLEAT_PARAM_BACKOFF_US));
    has(&h, component, 0, 1, 0); /* it is asked for again */
    assert_int_equal(buffer(&h, component)->own, 1);
    hand_finish(&h);
}

/* ---- what earlier executions asked for ---- */

static int recalled(struct hand *h, uint32_t component, int32_t executions, int64_t iteration_us,
                    uint32_t most)
{
    struct pleat_event event = {
        .kind = PLEAT_EV_RECALLED,
        .component = component,
        .u.recalled = {.executions = executions, .iteration_us = iteration_us, .most = most}};
    return hand_feed(h, event);
}

static void test_the_level_is_the_most_requests_in_a_row(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    hand_policy(&h, PLEAT_BUFFER, "periodic");
    hand_parameter(&h, PLEAT_PARAM_BUFFER_LEVEL, 0);
    hand_parameter(&h, PLEAT_PARAM_BUFFER_PENDING, 1);
    hand_parameter(&h, PLEAT_PARAM_BUFFER_DERIVED, 1);
    uint32_t component = run(&h, 1, 12, 1);
    has(&h, component, 0, 0, 0);
    hand_sleep(&h, 300 * SECONDS);
    assert_int_equal(demanded(&h, component, 2, 0, 0), 0); /* cancelled already */
    hand_sleep(&h, 300 * SECONDS);
    has(&h, component, 0, 2, 0);
    hand_sleep(&h, 200 * SECONDS); /* still within t_p of the first one */
    assert_int_equal(demanded(&h, component, 3, 0, 0), 0);
    hand_sleep(&h, 400 * SECONDS);
    has(&h, component, 0, 3, 0);
    assert_int_equal(demanded(&h, component, 5, 0, 0), 0); /* two, in a new row */
    hand_sleep(&h, 600 * SECONDS);
    has(&h, component, 0, 3, 0);
    assert_int_equal(recalled(&h, component, 2, 0, 5), 0); /* at once */
    has(&h, component, 0, 5, 0);
    assert_int_equal(recalled(&h, component, 0, 0, 0), 0); /* these were forgotten */
    has(&h, component, 0, 3, 0);
    hand_finish(&h);
}

static void test_what_is_recalled_takes_the_place_of_what_was(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    hand_policy(&h, PLEAT_BUFFER, "periodic-prediction");
    uint32_t component = submit(&h, 1, 12, 1);
    struct pleat_effect claim = hand_last(&h, PLEAT_DO_CLAIM);
    uint32_t rigid = hand_submit(&h, PLEAT_RIGID, 2, 2, 0);
    struct pleat_event history = {.kind = PLEAT_EV_HISTORY,
                                  .component = component,
                                  .u.history = {.executions = 2, .count = 1, .rows = {{4, 6}}}};
    for (int told = 0; told < 2; told++) { /* as where it is started again */
        assert_int_equal(recalled(&h, component, 2, 10 * SECONDS, 3), 0);
        assert_int_equal(hand_feed(&h, history), 0);
    }
    const struct pleat_view *view = pleat_core_view(h.core);
    assert_int_equal(pleat_view_requested(view, hand_component(&h, component), 0, 1000), 6);
    assert_int_equal(buffer(&h, component)->executions, 2);
    assert_int_equal(recalled(&h, component, -1, 0, 0), PLEAT_E_INVALID);
    assert_int_equal(recalled(&h, component, 0, 0, 1), PLEAT_E_INVALID);
    assert_int_equal(recalled(&h, component, 1, -1, 1), PLEAT_E_INVALID);
    assert_int_equal(recalled(&h, rigid, 1, 1, 1), PLEAT_E_STATE);
    /* with the speed of those: at its first review, before it has told anything */
    assert_int_equal(hand_claimed(&h, claim, 1), 0);
    hand_mark(&h);
    assert_int_equal(hand_started(&h, component), 0);
    has(&h, component, 0, 3, 0);
    assert_int_equal(recalled(&h, component, 0, 0, 0), 0);
    assert_int_equal(pleat_view_requested(view, hand_component(&h, component), 0, 1000), 0);
    hand_finish(&h);
}

/* An iteration begins at which the policy looks at the buffer, and the application asks for a
 * process in it: it knows of that, or the request comes just after its decision. PP asks for one
 * of iteration 6 either way. */
static int32_t claims_at_an_iteration(bool known)
{
    struct hand h;
    hand_init(&h, 16);
    hand_policy(&h, PLEAT_BUFFER, "periodic-prediction");
    hand_parameter(&h, PLEAT_PARAM_BUFFER_RANGE, 2);
    uint32_t component = submit(&h, 1, 12, 1);
    struct pleat_effect claim = hand_last(&h, PLEAT_DO_CLAIM);
    const struct pleat_event history = {
        .kind = PLEAT_EV_HISTORY,
        .component = component,
        .u.history = {.executions = 1, .count = 1, .rows = {{6, 1}}}};
    assert_int_equal(recalled(&h, component, 1, 10 * SECONDS, 1), 0);
    assert_int_equal(hand_feed(&h, history), 0);
    assert_int_equal(hand_claimed(&h, claim, 1), 0);
    assert_int_equal(hand_started(&h, component), 0);
    has(&h, component, 0, 0, 0);
    struct pleat_event told = {.kind = PLEAT_EV_DEMANDED,
                               .component = component,
                               .u.demanded = {.run = hand_component(&h, component)->run,
                                              .iteration = 4,
                                              .requests = known,
                                              .waiting = known}};
    assert_int_equal(hand_feed(&h, told), 0);
    has(&h, component, 0, known ? 2 : 1, 0);
    told.u.demanded.requests = told.u.demanded.waiting = 1;
    assert_int_equal(hand_feed(&h, told), known ? PLEAT_CORE_STALE : 0);
    int32_t claims = buffer(&h, component)->requested;
    hand_finish(&h);
    return claims;
}

/* What is on its way serves requests that wait, also what was asked for a later one. So it matters
 * which of both is told first (application-agent-live/page.md). */
static void test_a_request_takes_what_was_predicted_just_before(void **state)
{
    (void)state;
    assert_int_equal(claims_at_an_iteration(false), 1);
    assert_int_equal(claims_at_an_iteration(true), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_processor_is_prepared),
        cmocka_unit_test(test_an_agent_hands_a_process_over),
        cmocka_unit_test(test_taken_before_it_was_said_to_be_there),
        cmocka_unit_test(test_an_allocation_lasts_until_its_process_is_there),
        cmocka_unit_test(test_requests_that_wait_are_served),
        cmocka_unit_test(test_requests_wait_until_something_is_free),
        cmocka_unit_test(test_requests_that_wait_stay_within_the_maximum),
        cmocka_unit_test(test_the_one_that_started_first_is_served_first),
        cmocka_unit_test(test_what_waits_is_not_given_back),
        cmocka_unit_test(test_a_processor_goes_back_after_its_process),
        cmocka_unit_test(test_given_back_while_it_is_being_prepared),
        cmocka_unit_test(test_handed_over_while_it_is_to_be_ended),
        cmocka_unit_test(test_room_is_made_from_prepared_processes),
        cmocka_unit_test(test_room_on_a_node_is_made_from_prepared_processes),
        cmocka_unit_test(test_a_process_is_stopped),
        cmocka_unit_test(test_a_stopped_process_makes_room_for_another),
        cmocka_unit_test(test_a_process_dies),
        cmocka_unit_test(test_its_first_process_ends),
        cmocka_unit_test(test_a_process_that_cannot_be_prepared),
        cmocka_unit_test(test_a_prepared_process_dies),
        cmocka_unit_test(test_losing_a_processor_with_a_process),
        cmocka_unit_test(test_its_agent_is_away),
        cmocka_unit_test(test_the_agent_of_a_processes_node_is_away),
        cmocka_unit_test(test_processes_are_asked_for_again_after_a_restart),
        cmocka_unit_test(test_it_ends_while_prepared_processes_are_to_end),
        cmocka_unit_test(test_ends_with_prepared_processes),
        cmocka_unit_test(test_a_node_is_lost_after_the_end),
        cmocka_unit_test(test_cancelled_with_prepared_processes),
        cmocka_unit_test(test_requeued_with_prepared_processes),
        cmocka_unit_test(test_times_of_processors_are_added_up),
        cmocka_unit_test(test_words_about_other_processes),
        cmocka_unit_test(test_one_that_stays_has_nothing_elsewhere),
        cmocka_unit_test(test_added_processes_may_be_on_another_node),
        cmocka_unit_test(test_what_agents_do_not_prepare_for),
        cmocka_unit_test(test_a_request_that_fails_may_have_its_own),
        cmocka_unit_test(test_an_allocation_of_its_own_is_lost),
        cmocka_unit_test(test_the_level_is_the_most_requests_in_a_row),
        cmocka_unit_test(test_what_is_recalled_takes_the_place_of_what_was),
        cmocka_unit_test(test_a_request_takes_what_was_predicted_just_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
