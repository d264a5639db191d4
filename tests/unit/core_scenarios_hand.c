#include "core_scenarios_hand.h"

#include <string.h>

static void check(struct hand *hand)
{
    struct pleat_error err = {0};
    if (pleat_core_check(hand->core, &err))
        fail_msg("%s", err.text);
}

int hand_feed(struct hand *hand, struct pleat_event event)
{
    event.time_us = hand->now_us;
    memset(&hand->err, 0, sizeof(hand->err));
    int rc = pleat_core_apply(hand->core, &event, &hand->effects, &hand->err);
    check(hand);
    while (pleat_core_wants_pass(hand->core)) {
        struct pleat_error err = {0};
        if (pleat_core_pass(hand->core, hand->now_us, &hand->decisions, &hand->effects, &err))
            fail_msg("a pass failed: %s", err.text);
        check(hand);
    }
    return rc;
}

static void feed(struct hand *hand, struct pleat_event event)
{
    if (hand_feed(hand, event) < 0)
        fail_msg("'%s' was refused: %s", pleat_event_name(event.kind), hand->err.text);
}

void hand_init(struct hand *hand, int32_t capacity)
{
    memset(hand, 0, sizeof(*hand));
    hand->now_us = 1000 * SECONDS;
    assert_int_equal(pleat_core_create(&hand->core), 0);
    hand_policy(hand, PLEAT_MALLEABILITY, "none");
    struct pleat_event site = {.kind = PLEAT_EV_SITE, .u.site = {.capacity = capacity}};
    feed(hand, site);
}

void hand_restart(struct hand *hand)
{
    struct pleat_string state = {0};
    assert_int_equal(pleat_core_save(hand->core, &state), 0);
    pleat_core_destroy(hand->core);
    assert_int_equal(pleat_core_load(state.text, state.length, &hand->core, &hand->err), 0);
    pleat_string_finish(&state);
    check(hand);
}

void hand_finish(struct hand *hand)
{
    pleat_core_destroy(hand->core);
    pleat_array_finish(&hand->effects);
    pleat_array_finish(&hand->decisions);
}

void hand_sleep(struct hand *hand, int64_t us)
{
    struct pleat_event time = {.kind = PLEAT_EV_TIME, .component = PLEAT_NONE};
    hand->now_us += us;
    feed(hand, time);
}

void hand_policy(struct hand *hand, enum pleat_question question, const char *name)
{
    const struct pleat_policy *policy = pleat_policy_find(question, name);
    assert_non_null(policy);
    struct pleat_event event = {
        .kind = PLEAT_EV_POLICY,
        .component = PLEAT_NONE,
        .u.policy = {.question = question, .policy = policy->number, .version = policy->version}};
    feed(hand, event);
}

void hand_parameter(struct hand *hand, enum pleat_parameter which, int64_t value)
{
    struct pleat_event event = {.kind = PLEAT_EV_PARAMETER,
                                .component = PLEAT_NONE,
                                .u.parameter = {.which = which, .value = value}};
    feed(hand, event);
}

const struct pleat_component *hand_component(const struct hand *hand, uint32_t component)
{
    return &pleat_core_view(hand->core)->components[component];
}

const struct pleat_site *hand_site(const struct hand *hand)
{
    return &pleat_core_view(hand->core)->sites[0];
}

int hand_count(const struct hand *hand, unsigned kind)
{
    int count = 0;
    for (size_t i = hand->mark; i < hand->effects.count; i++)
        count += hand->effects.items[i].kind == kind;
    return count;
}

struct pleat_effect hand_last(const struct hand *hand, unsigned kind)
{
    for (size_t i = hand->effects.count; i > 0; i--)
        if (hand->effects.items[i - 1].kind == kind)
            return hand->effects.items[i - 1];
    fail_msg("no effect of kind %u", kind);
    return (struct pleat_effect){0};
}

void hand_mark(struct hand *hand)
{
    hand->mark = hand->effects.count;
}

enum pleat_outcome hand_outcome(const struct hand *hand)
{
    for (size_t i = hand->effects.count; i > hand->mark; i--)
        if (hand->effects.items[i - 1].kind == PLEAT_NOTE_RESIZE &&
            hand->effects.items[i - 1].u.change.outcome)
            return (enum pleat_outcome)hand->effects.items[i - 1].u.change.outcome;
    return PLEAT_OUTCOME_NONE;
}

void hand_expect(const struct hand *hand, uint32_t component, enum pleat_outcome outcome,
                 enum pleat_component_state state, int32_t processors)
{
    enum pleat_outcome got = hand_outcome(hand);
    enum pleat_component_state is =
        (enum pleat_component_state)hand_component(hand, component)->state;
    if (got != outcome)
        fail_msg("it ended as '%s', expected '%s'", pleat_outcome_name(got),
                 pleat_outcome_name(outcome));
    if (is != state)
        fail_msg("the job is %s, expected %s", pleat_component_state_name(is),
                 pleat_component_state_name(state));
    assert_int_equal(hand_component(hand, component)->processors, processors);
}

void hand_at_step(const struct hand *hand, uint32_t component, enum pleat_resize_step step)
{
    assert_int_equal(hand_component(hand, component)->state, PLEAT_RESIZING);
    assert_string_equal(
        pleat_resize_step_name((enum pleat_resize_step)pleat_core_resize(
                                   hand->core, hand_component(hand, component)->resize)
                                   ->step),
        pleat_resize_step_name(step));
}

void hand_enforce(struct hand *hand)
{
    hand_sleep(hand, pleat_core_parameter(hand->core, PLEAT_PARAM_SHRINK_US));
    hand_sleep(hand, pleat_core_parameter(hand->core, PLEAT_PARAM_GRACE_US));
}

uint32_t hand_submit(struct hand *hand, enum pleat_job_kind kind, int32_t minimum, int32_t maximum,
                     int32_t initial)
{
    uint32_t component = pleat_core_next_component(hand->core);
    struct pleat_event event = {.kind = PLEAT_EV_SUBMIT,
                                .flags = hand->flags,
                                .component = component,
                                .u.submit = {.job = component + 1,
                                             .minimum = minimum,
                                             .maximum = maximum,
                                             .initial = initial,
                                             .site = PLEAT_NONE,
                                             .sizes_kind = hand->sizes_kind,
                                             .job_kind = (uint8_t)kind}};
    feed(hand, event);
    return component;
}

uint32_t hand_run(struct hand *hand, int32_t minimum, int32_t maximum, int32_t size)
{
    uint32_t component = hand_submit(hand, PLEAT_MALLEABLE, minimum, maximum, size);
    assert_int_equal(hand_claimed(hand, hand_last(hand, PLEAT_DO_CLAIM), size), 0);
    assert_int_equal(hand_started(hand, component), 0);
    assert_int_equal(hand_component(hand, component)->state, PLEAT_RUNNING);
    assert_int_equal(hand_component(hand, component)->processors, size);
    hand_mark(hand);
    return component;
}

int hand_demand(struct hand *hand, uint32_t component, int32_t size, bool mandatory)
{
    struct pleat_event event = {.kind = PLEAT_EV_DEMAND,
                                .flags = (uint16_t)(mandatory ? PLEAT_MANDATORY : 0),
                                .component = component,
                                .u.demand.processors = size};
    return hand_feed(hand, event);
}

int hand_limits(struct hand *hand, uint32_t component, int32_t minimum, int32_t maximum)
{
    struct pleat_event event = {.kind = PLEAT_EV_LIMITS,
                                .component = component,
                                .u.limits = {.minimum = minimum, .maximum = maximum}};
    return hand_feed(hand, event);
}

int hand_cancel(struct hand *hand, uint32_t component)
{
    struct pleat_event event = {.kind = PLEAT_EV_CANCEL, .component = component};
    return hand_feed(hand, event);
}

int hand_terms(struct hand *hand, uint32_t component, int64_t notice_us, int64_t lifetime_us,
               int64_t limit_us)
{
    struct pleat_event event = {
        .kind = PLEAT_EV_TERMS,
        .component = component,
        .u.terms = {.notice_us = notice_us, .lifetime_us = lifetime_us, .limit_us = limit_us}};
    return hand_feed(hand, event);
}

int hand_resize(struct hand *hand, uint32_t component, int32_t size, uint32_t waiter)
{
    int32_t change = size - hand_component(hand, component)->processors;
    struct pleat_event event = {.kind = PLEAT_EV_RESIZE,
                                .flags = (uint16_t)(change < 0 ? PLEAT_MANDATORY : 0),
                                .component = component,
                                .u.resize = {.offered = change,
                                             .accepted = change,
                                             .processors = size,
                                             .processes = size,
                                             .waiter = waiter}};
    return hand_feed(hand, event);
}

static int claim_event(struct hand *hand, uint16_t kind, struct pleat_effect claim, int32_t count,
                       enum pleat_reason reason)
{
    struct pleat_event event = {.kind = kind,
                                .component = claim.u.claim.index,
                                .u.claim = {.claim = claim.id, .count = count, .reason = reason}};
    return hand_feed(hand, event);
}

int hand_claimed(struct hand *hand, struct pleat_effect claim, int32_t count)
{
    struct pleat_event piece = {.kind = PLEAT_EV_PIECE,
                                .component = claim.u.claim.index,
                                .u.piece = {.claim = claim.id,
                                            .node = hand->node,
                                            .first = (uint32_t)claim.id * 100,
                                            .count = (uint32_t)count}};
    (void)hand_feed(hand, piece); /* stale where the claim is */
    return claim_event(hand, PLEAT_EV_CLAIMED, claim, count, PLEAT_REASON_NONE);
}

int hand_claim_failed(struct hand *hand, struct pleat_effect claim, enum pleat_reason reason)
{
    return claim_event(hand, PLEAT_EV_CLAIM_FAILED, claim, 0, reason);
}

int hand_lost(struct hand *hand, struct pleat_effect claim)
{
    return claim_event(hand, PLEAT_EV_LOST, claim, claim.u.claim.count, PLEAT_REASON_NONE);
}

int hand_release_all(struct hand *hand)
{
    int count = 0;
    for (uint32_t i = 0; i < pleat_core_claim_count(hand->core); i++) {
        const struct pleat_claim *claim = pleat_core_claim(hand->core, i);
        if (claim->state != PLEAT_CLAIM_RELEASING)
            continue;
        struct pleat_effect effect = {.id = claim->id, .u.claim.index = i};
        assert_int_equal(claim_event(hand, PLEAT_EV_RELEASED, effect, 0, PLEAT_REASON_NONE), 0);
        count++;
    }
    return count;
}

int hand_started(struct hand *hand, uint32_t component)
{
    struct pleat_event event = {.kind = PLEAT_EV_STARTED,
                                .component = component,
                                .u.exit.run = hand_component(hand, component)->run};
    return hand_feed(hand, event);
}

int hand_exited(struct hand *hand, uint32_t component, int32_t code)
{
    struct pleat_event event = {.kind = PLEAT_EV_EXITED,
                                .component = component,
                                .u.exit = {.run = hand_component(hand, component)->run,
                                           .code = code,
                                           .reason = PLEAT_REASON_EXIT}};
    return hand_feed(hand, event);
}

int hand_ended(struct hand *hand, uint16_t kind, uint32_t component, enum pleat_reason reason)
{
    struct pleat_event event = {.kind = kind,
                                .component = component,
                                .u.exit = {.run = hand_component(hand, component)->run,
                                           .signal = kind == PLEAT_EV_EXITED ? 9 : 0,
                                           .reason = reason}};
    return hand_feed(hand, event);
}

static int change(struct hand *hand, uint16_t kind, uint16_t flags, uint32_t component,
                  int32_t size)
{
    uint64_t resize = 0;
    for (size_t i = 0; i < hand->effects.count; i++)
        if (hand->effects.items[i].kind == PLEAT_NOTE_RESIZE &&
            hand->effects.items[i].component == component)
            resize = hand->effects.items[i].id;
    assert_true(resize != 0);
    struct pleat_event event = {
        .kind = kind,
        .flags = flags,
        .component = component,
        .u.change = {.resize = resize, .processors = size, .processes = size}};
    return hand_feed(hand, event);
}

int hand_change(struct hand *hand, uint16_t kind, uint32_t component, int32_t size)
{
    return change(hand, kind, 0, component, size);
}

int hand_relaunched(struct hand *hand, uint32_t component, int32_t size, bool from_state)
{
    return change(hand, PLEAT_EV_RELAUNCHED, from_state ? PLEAT_FROM_STATE : 0, component, size);
}

/* ---- what it asks for ---- */

int hand_asks_so(struct hand *hand, uint32_t component, int32_t processors, uint16_t flags)
{
    struct pleat_event event = {.kind = PLEAT_EV_ASKED,
                                .flags = flags,
                                .component = component,
                                .u.asked = {.run = hand_component(hand, component)->run,
                                            .number = ++hand->asked,
                                            .processors = processors}};
    hand_mark(hand);
    return hand_feed(hand, event);
}

int hand_asks_within(struct hand *hand, uint32_t component, int32_t processors, int64_t limit_us)
{
    struct pleat_event event = {.kind = PLEAT_EV_ASKED,
                                .flags = PLEAT_MANDATORY,
                                .component = component,
                                .u.asked = {.run = hand_component(hand, component)->run,
                                            .number = ++hand->asked,
                                            .processors = processors,
                                            .limit_us = limit_us}};
    hand_mark(hand);
    return hand_feed(hand, event);
}

int hand_asks(struct hand *hand, uint32_t component, int32_t processors, bool mandatory)
{
    return hand_asks_so(hand, component, processors, mandatory ? PLEAT_MANDATORY : 0);
}

static enum pleat_ask_state ask_state(const struct hand *hand, uint32_t component)
{
    const struct pleat_view *view = pleat_core_view(hand->core);
    return pleat_view_ask(view, hand_component(hand, component))->state;
}

void hand_asks_still(const struct hand *hand, uint32_t component)
{
    assert_int_equal(ask_state(hand, component), PLEAT_ASK_PENDING);
    assert_int_equal(hand_count(hand, PLEAT_DO_ANSWER), 0);
}

void hand_answered(const struct hand *hand, uint32_t component, enum pleat_ask_state state,
                   enum pleat_ask_reason reason)
{
    assert_int_equal(ask_state(hand, component), state);
    assert_int_equal(hand_count(hand, PLEAT_DO_ANSWER), 1);
    struct pleat_effect answer = hand_last(hand, PLEAT_DO_ANSWER);
    assert_int_equal(answer.u.asked.state, state);
    assert_int_equal(answer.u.asked.reason, reason);
    assert_int_equal(
        answer.u.asked.number,
        pleat_view_ask(pleat_core_view(hand->core), hand_component(hand, component))->number);
}

void hand_grows(struct hand *hand, uint32_t component, int32_t size)
{
    int32_t more = size - hand_component(hand, component)->processors;
    size_t claim = hand->effects.count;
    while (claim > 0 && (hand->effects.items[claim - 1].kind != PLEAT_DO_CLAIM ||
                         hand->effects.items[claim - 1].component != component))
        claim--;
    assert_true(claim > 0);
    assert_int_equal(hand_claimed(hand, hand->effects.items[claim - 1], more), 0);
    assert_int_equal(hand_change(hand, PLEAT_EV_APPLIED, component, size), 0);
}

void hand_gets(struct hand *hand, uint32_t component, uint32_t node)
{
    struct pleat_effect claim = hand_last(hand, PLEAT_DO_CLAIM);
    assert_int_equal(hand_component(hand, component)->state, PLEAT_CLAIMING);
    assert_int_equal(claim.component, component);
    hand->node = node;
    assert_int_equal(hand_claimed(hand, claim, claim.u.claim.count), 0);
    hand->node = 0;
    assert_int_equal(hand_started(hand, component), 0);
    assert_int_equal(hand_component(hand, component)->state, PLEAT_RUNNING);
}

void hand_shrinks(struct hand *hand, uint32_t component, int32_t size)
{
    assert_int_equal(hand_change(hand, PLEAT_EV_APPLIED, component, size), 0);
    assert_int_equal(hand_change(hand, PLEAT_EV_VACATED, component, size), 0);
    hand_release_all(hand);
}
