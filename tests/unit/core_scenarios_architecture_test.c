/* Requests for processes on nodes of an architecture, and what an application says it will give
 * back. A scenario for every row of docs/resize-contract.md about that; the test plays the agents.
 */
#include "core_scenarios_hand.h"

#include "policy/policy.h"

enum { X86 = 1, ARM = 2 }; /* model/architectures.def */

static const struct pleat_buffer *buffer(const struct hand *h, uint32_t component)
{
    return &pleat_core_view(h->core)->buffers[hand_component(h, component)->buffer];
}

/* Processes that are there; processors and processes on their way. */
static void has(const struct hand *h, uint32_t component, int32_t prepared, int32_t requested)
{
    assert_int_equal(buffer(h, component)->prepared, prepared);
    assert_int_equal(buffer(h, component)->requested, requested);
}

static int node_is(struct hand *h, uint32_t node, uint32_t architecture)
{
    struct pleat_event event = {
        .kind = PLEAT_EV_NODE_ARCHITECTURE,
        .u.node_architecture = {.node = node, .architecture = architecture}};
    return hand_feed(h, event);
}

static int demanded(struct hand *h, uint32_t component, uint32_t requests, uint32_t waiting)
{
    struct pleat_event event = {.kind = PLEAT_EV_DEMANDED,
                                .component = component,
                                .u.demanded = {.run = hand_component(h, component)->run,
                                               .requests = requests,
                                               .waiting = waiting}};
    return hand_feed(h, event);
}

static int demanded_on(struct hand *h, uint32_t component, uint32_t architecture, uint32_t waiting)
{
    struct pleat_event event = {.kind = PLEAT_EV_DEMANDED_ON,
                                .component = component,
                                .u.demanded_on = {.run = hand_component(h, component)->run,
                                                  .architecture = architecture,
                                                  .waiting = waiting}};
    return hand_feed(h, event);
}

/* Its program is of that architecture. */
static int is_of(struct hand *h, uint32_t component, uint32_t architecture)
{
    struct pleat_event event = {
        .kind = PLEAT_EV_DEMANDED_ON,
        .flags = PLEAT_FOR_ALL,
        .component = component,
        .u.demanded_on = {.run = hand_component(h, component)->run, .architecture = architecture}};
    return hand_feed(h, event);
}

static int says(struct hand *h, uint16_t kind, struct pleat_effect about, uint32_t reason)
{
    struct pleat_event event = {.kind = kind,
                                .component = about.u.claim.index,
                                .u.kept = {.claim = about.id,
                                           .run = hand_component(h, about.component)->run,
                                           .reason = reason}};
    return hand_feed(h, event);
}

/* Which architecture the latest claim is to have. */
static uint32_t asked_of(const struct hand *h)
{
    return pleat_core_claim(h->core, hand_last(h, PLEAT_DO_CLAIM).u.claim.index)->architecture;
}

/* The claim asked for last is given on a node, and a process is there. */
static struct pleat_effect prepare(struct hand *h, uint32_t node)
{
    struct pleat_effect claim = hand_last(h, PLEAT_DO_CLAIM);
    h->node = node;
    assert_int_equal(hand_claimed(h, claim, 1), 0);
    struct pleat_effect order = hand_last(h, PLEAT_DO_PREPARE);
    assert_int_equal(order.id, claim.id);
    assert_int_equal(says(h, PLEAT_EV_PREPARED, order, 0), 0);
    return order;
}

/* Nodes 0 and 1 are x86_64 and aarch64, node 2 has said nothing: 4 processors each. A job has 2 of
 * node 0, from which it is led, and may have 8 on any. */
static uint32_t begin(struct hand *h)
{
    hand_init(h, 12);
    for (uint32_t n = 0; n < 3; n++) {
        struct pleat_event node = {.kind = PLEAT_EV_NODE, .u.node = {.node = n, .slots = 4}};
        assert_int_equal(hand_feed(h, node), 0);
    }
    assert_int_equal(node_is(h, 0, X86), 0);
    assert_int_equal(node_is(h, 1, ARM), 0);
    h->flags = PLEAT_COMPONENT_EVOLVES | PLEAT_COMPONENT_PREPARES | PLEAT_COMPONENT_ROAMS;
    uint32_t component = hand_submit(h, PLEAT_MOLDABLE, 1, 8, 2);
    h->flags = 0;
    h->node = 0;
    assert_int_equal(hand_claimed(h, hand_last(h, PLEAT_DO_CLAIM), 2), 0);
    assert_int_equal(hand_started(h, component), 0);
    hand_mark(h);
    return component;
}

/* ---- requests ---- */

static void test_a_request_for_an_architecture(void **state)
{
    (void)state;
    for (int restarted = 0; restarted < 2; restarted++) {
        struct hand h;
        uint32_t component = begin(&h);
        assert_int_equal(demanded_on(&h, component, ARM, 1), 0);
        assert_int_equal(demanded(&h, component, 1, 1), 0);
        has(&h, component, 0, 1);
        assert_int_equal(asked_of(&h), ARM);
        if (restarted)
            hand_restart(&h);
        assert_int_equal(asked_of(&h), ARM);
        struct pleat_effect order = prepare(&h, 1);
        has(&h, component, 1, 0);
        assert_int_equal(hand_count(&h, PLEAT_DO_CLAIM), 1); /* it is for that request */
        assert_int_equal(demanded_on(&h, component, ARM, 0), 0);
        assert_int_equal(demanded(&h, component, 1, 0), 0);
        assert_int_equal(says(&h, PLEAT_EV_TAKEN, order, 0), 0);
        assert_int_equal(hand_component(&h, component)->processors, 3);
        hand_finish(&h);
    }
}

static void test_no_node_of_an_architecture_is_free(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = begin(&h);
    uint32_t other = hand_submit(&h, PLEAT_RIGID, 4, 4, 0);
    hand_gets(&h, other, 1);
    hand_mark(&h);
    assert_int_equal(demanded_on(&h, component, ARM, 2), 0);
    assert_int_equal(demanded(&h, component, 3, 3), 0);
    has(&h, component, 0, 1); /* one of the three can be anywhere */
    assert_int_equal(asked_of(&h), 0);
    assert_int_equal(hand_exited(&h, other, 0), 0);
    assert_int_equal(hand_release_all(&h), 1);
    has(&h, component, 0, 3);
    assert_int_equal(asked_of(&h), ARM);
    hand_finish(&h);
}

/* Two wait: what is prepared on a node of another architecture is for none of them. */
static void test_another_architecture_does_not_do(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = begin(&h);
    assert_int_equal(demanded(&h, component, 1, 1), 0);
    (void)prepare(&h, 0);
    assert_int_equal(demanded(&h, component, 1, 0), 0);
    hand_mark(&h);
    assert_int_equal(demanded_on(&h, component, ARM, 1), 0);
    assert_int_equal(demanded(&h, component, 2, 1), 0);
    has(&h, component, 1, 1);
    assert_int_equal(asked_of(&h), ARM);
    const struct pleat_view *view = pleat_core_view(h.core);
    assert_int_equal(pleat_view_lacking(view, buffer(&h, component)), 0);
    assert_int_equal(pleat_view_spare(view, buffer(&h, component)), 1);
    /* the one that waits for nothing in particular takes what is there */
    assert_int_equal(demanded(&h, component, 3, 2), 0);
    has(&h, component, 1, 1);
    assert_int_equal(pleat_view_spare(view, buffer(&h, component)), 0);
    assert_int_equal(demanded(&h, component, 4, 3), 0);
    has(&h, component, 1, 2);
    assert_int_equal(asked_of(&h), 0);
    hand_finish(&h);
}

/* A batch system chooses nodes itself. */
static void test_a_processor_of_another_architecture_comes(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = begin(&h);
    assert_int_equal(demanded_on(&h, component, ARM, 1), 0);
    assert_int_equal(demanded(&h, component, 1, 1), 0);
    hand_mark(&h);
    h.node = 0;
    for (int64_t again = 1; again <= 2; again++) {
        assert_int_equal(hand_claimed(&h, hand_last(&h, PLEAT_DO_CLAIM), 1), 0);
        assert_int_equal(hand_count(&h, PLEAT_DO_PREPARE), 0);
        assert_int_equal(hand_release_all(&h), 1);
        has(&h, component, 0, 0);
        hand_sleep(&h, again * pleat_parameter_default(PLEAT_PARAM_BACKOFF_US) - SECONDS);
        has(&h, component, 0, 0);
        hand_sleep(&h, SECONDS);
        has(&h, component, 0, 1);
    }
    (void)prepare(&h, 1);
    has(&h, component, 1, 0);
    hand_finish(&h);
}

/* What is on its way for a request is the last to be given back, though it was asked for last. */
static void test_what_an_architecture_waits_for_goes_back_last(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = begin(&h);
    assert_int_equal(demanded(&h, component, 1, 1), 0);
    struct pleat_effect other = hand_last(&h, PLEAT_DO_CLAIM);
    assert_int_equal(demanded_on(&h, component, ARM, 1), 0);
    assert_int_equal(demanded(&h, component, 2, 2), 0);
    assert_int_equal(asked_of(&h), ARM);
    assert_int_equal(demanded(&h, component, 2, 1), 0); /* the first one is not wanted any more */
    has(&h, component, 0, 2);
    hand_mark(&h);
    assert_int_equal(hand_limits(&h, component, 1, 3), 0);
    assert_int_equal(hand_count(&h, PLEAT_DO_RELEASE), 1);
    assert_int_equal(hand_last(&h, PLEAT_DO_RELEASE).id, other.id);
    assert_int_equal(hand_limits(&h, component, 1, 2), 0);
    assert_int_equal(hand_count(&h, PLEAT_DO_RELEASE), 2);
    hand_finish(&h);
}

/* ---- the program's own architecture ---- */

static void test_processes_are_where_the_program_runs(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = begin(&h);
    assert_int_equal(is_of(&h, component, X86), 0);
    assert_int_equal(is_of(&h, component, X86), PLEAT_CORE_STALE);
    hand_parameter(&h, PLEAT_PARAM_BUFFER_LEVEL, 5);
    hand_parameter(&h, PLEAT_PARAM_BUFFER_PENDING, 1);
    hand_policy(&h, PLEAT_BUFFER, "periodic");
    has(&h, component, 0, 5); /* 2 of its own node, and of the one that has said nothing */
    assert_int_equal(asked_of(&h), X86);
    assert_int_equal(node_is(&h, 2, ARM), 0);
    assert_int_equal(hand_limits(&h, component, 1, 2), 0);
    assert_int_equal(hand_release_all(&h), 5);
    assert_int_equal(hand_limits(&h, component, 1, 8), 0);
    hand_sleep(&h, 600 * SECONDS);
    has(&h, component, 0, 2);
    hand_finish(&h);
}

static void test_a_request_takes_nothing_where_its_program_does_not_run(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = begin(&h);
    assert_int_equal(demanded_on(&h, component, ARM, 1), 0);
    assert_int_equal(demanded(&h, component, 1, 1), 0);
    (void)prepare(&h, 1);
    assert_int_equal(demanded_on(&h, component, ARM, 0), 0);
    assert_int_equal(demanded(&h, component, 1, 0), 0); /* cancelled */
    assert_int_equal(is_of(&h, component, X86), 0);
    assert_int_equal(demanded(&h, component, 2, 1), 0);
    has(&h, component, 1, 1);
    assert_int_equal(asked_of(&h), X86);
    assert_int_equal(is_of(&h, component, 0), 0); /* it has a program for each */
    assert_int_equal(pleat_view_spare(pleat_core_view(h.core), buffer(&h, component)), 1);
    hand_finish(&h);
}

/* Its request is not wanted any more while it is being started. That is nobody's fault: for another
 * one a processor is asked for at once. */
static void test_nothing_else_can_be_there(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = begin(&h);
    uint32_t errors = hand_site(&h)->errors;
    assert_int_equal(is_of(&h, component, X86), 0);
    assert_int_equal(demanded_on(&h, component, ARM, 1), 0);
    assert_int_equal(demanded(&h, component, 1, 1), 0);
    h.node = 1;
    assert_int_equal(hand_claimed(&h, hand_last(&h, PLEAT_DO_CLAIM), 1), 0);
    struct pleat_effect order = hand_last(&h, PLEAT_DO_PREPARE);
    assert_int_equal(demanded(&h, component, 1, 0), 0);
    assert_int_equal(demanded_on(&h, component, ARM, 0), 0);
    assert_int_equal(says(&h, PLEAT_EV_PROCESS_GONE, order, PLEAT_GONE_UNFIT), 0);
    assert_int_equal(says(&h, PLEAT_EV_PROCESS_GONE, order, PLEAT_GONE_UNFIT), PLEAT_CORE_STALE);
    has(&h, component, 0, 0);
    assert_int_equal(hand_last(&h, PLEAT_DO_RELEASE).id, order.id);
    assert_int_equal(hand_release_all(&h), 1);
    assert_int_equal(buffer(&h, component)->failures, 0);
    assert_int_equal(hand_site(&h)->errors, errors);
    assert_int_equal(demanded(&h, component, 2, 1), 0);
    has(&h, component, 0, 1);
    assert_int_equal(asked_of(&h), X86);
    /* one that the run has is not gone so */
    order = prepare(&h, 0);
    assert_int_equal(demanded(&h, component, 2, 0), 0);
    assert_int_equal(says(&h, PLEAT_EV_TAKEN, order, 0), 0);
    assert_int_equal(says(&h, PLEAT_EV_PROCESS_GONE, order, PLEAT_GONE_UNFIT), PLEAT_CORE_STALE);
    assert_int_equal(hand_component(&h, component)->processors, 3);
    hand_finish(&h);
}

static void test_words_about_architectures(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = begin(&h);
    assert_int_equal(node_is(&h, 0, X86), PLEAT_CORE_STALE);
    assert_int_equal(node_is(&h, 0, PLEAT_ARCHITECTURES), PLEAT_E_INVALID);
    assert_int_equal(demanded_on(&h, component, PLEAT_ARCHITECTURES, 1), PLEAT_E_INVALID);
    assert_int_equal(demanded_on(&h, component, 0, 1), PLEAT_E_INVALID);
    assert_int_equal(demanded_on(&h, component, ARM, 0), PLEAT_CORE_STALE);
    struct pleat_event earlier = {
        .kind = PLEAT_EV_DEMANDED_ON,
        .component = component,
        .u.demanded_on = {.run = hand_component(&h, component)->run + 1, ARM, 1}};
    assert_int_equal(hand_feed(&h, earlier), PLEAT_CORE_STALE);
    assert_int_equal(demanded_on(&h, component, ARM, 2), 0);
    assert_int_equal(is_of(&h, component, X86), 0);
    /* the next run says it anew */
    assert_int_equal(hand_ended(&h, PLEAT_EV_EXITED, component, PLEAT_REASON_LOST), 0);
    assert_int_equal(hand_release_all(&h), 1);
    h.node = 0;
    assert_int_equal(hand_claimed(&h, hand_last(&h, PLEAT_DO_CLAIM), 2), 0);
    assert_int_equal(hand_started(&h, component), 0);
    assert_int_equal(buffer(&h, component)->waiting_on[ARM], 0);
    assert_int_equal(buffer(&h, component)->architecture, 0);
    hand_finish(&h);
}

/* ---- what will be given back ---- */

static int returning(struct hand *h, uint32_t component, uint32_t processes)
{
    struct pleat_event event = {
        .kind = PLEAT_EV_RETURNING,
        .component = component,
        .u.returning = {.run = hand_component(h, component)->run, .processes = processes}};
    return hand_feed(h, event);
}

/* What it gives back comes into the buffer, so that less is asked for meanwhile. */
static void test_processes_that_will_be_given_back(void **state)
{
    (void)state;
    struct hand h;
    uint32_t component = begin(&h);
    assert_int_equal(demanded(&h, component, 1, 1), 0);
    struct pleat_effect order = prepare(&h, 0);
    assert_int_equal(demanded(&h, component, 1, 0), 0);
    assert_int_equal(says(&h, PLEAT_EV_TAKEN, order, 0), 0);
    assert_int_equal(returning(&h, component, 2), 0);
    assert_int_equal(returning(&h, component, 2), PLEAT_CORE_STALE);
    assert_int_equal(returning(&h, component, UINT32_MAX), PLEAT_E_INVALID);
    hand_parameter(&h, PLEAT_PARAM_BUFFER_LEVEL, 3);
    hand_parameter(&h, PLEAT_PARAM_BUFFER_PENDING, 1);
    hand_policy(&h, PLEAT_BUFFER, "periodic");
    has(&h, component, 0, 1);
    hand_restart(&h);
    assert_int_equal(says(&h, PLEAT_EV_PROCESS_GONE, order, PLEAT_GONE_STOPPED), 0);
    assert_int_equal(buffer(&h, component)->returning, 1);
    has(&h, component, 0, 2); /* another one is prepared on its processor */
    hand_sleep(&h, 600 * SECONDS);
    has(&h, component, 0, 2);
    assert_int_equal(returning(&h, component, 0), 0); /* it keeps the other one */
    hand_sleep(&h, 600 * SECONDS);
    has(&h, component, 0, 3);
    hand_finish(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_request_for_an_architecture),
        cmocka_unit_test(test_no_node_of_an_architecture_is_free),
        cmocka_unit_test(test_another_architecture_does_not_do),
        cmocka_unit_test(test_a_processor_of_another_architecture_comes),
        cmocka_unit_test(test_what_an_architecture_waits_for_goes_back_last),
        cmocka_unit_test(test_processes_are_where_the_program_runs),
        cmocka_unit_test(test_a_request_takes_nothing_where_its_program_does_not_run),
        cmocka_unit_test(test_nothing_else_can_be_there),
        cmocka_unit_test(test_words_about_architectures),
        cmocka_unit_test(test_processes_that_will_be_given_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
