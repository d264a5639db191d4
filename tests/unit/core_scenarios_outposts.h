/* core_scenarios_outposts.h - a job with processes at sites other than its own; the test plays the
 * agents */
#ifndef PLEAT_TESTS_UNIT_CORE_SCENARIOS_OUTPOSTS_H
#define PLEAT_TESTS_UNIT_CORE_SCENARIOS_OUTPOSTS_H

#include "core_scenarios_hand.h"

#include "policy/policy.h"

enum { X86 = 1, ARM = 2 }; /* model/architectures.def */
enum { HOME, THERE, FAR }; /* sites; HOME is the one of the job */

static inline const struct pleat_view *view_of(const struct hand *h)
{
    return pleat_core_view(h->core);
}

static inline const struct pleat_buffer *buffer(const struct hand *h, uint32_t component)
{
    return &view_of(h)->buffers[hand_component(h, component)->buffer];
}

static inline const struct pleat_outpost *outpost(const struct hand *h, uint32_t component,
                                                  uint32_t site)
{
    return pleat_view_outpost(view_of(h), buffer(h, component), site);
}

static inline const struct pleat_site *site_at(const struct hand *h, uint32_t site)
{
    return &view_of(h)->sites[site];
}

/* Processes that are there, processors and processes on their way, processes that are ended: at
 * another site. */
static inline void has(const struct hand *h, uint32_t component, uint32_t site, int32_t prepared,
                       int32_t requested, int32_t leaving)
{
    const struct pleat_outpost *there = outpost(h, component, site);
    assert_non_null(there);
    assert_int_equal(there->prepared, prepared);
    assert_int_equal(there->requested, requested);
    assert_int_equal(there->leaving, leaving);
}

static inline int demanded(struct hand *h, uint32_t component, uint32_t requests, uint32_t waiting)
{
    struct pleat_event event = {.kind = PLEAT_EV_DEMANDED,
                                .component = component,
                                .u.demanded = {.run = hand_component(h, component)->run,
                                               .requests = requests,
                                               .waiting = waiting}};
    return hand_feed(h, event);
}

static inline int demanded_at(struct hand *h, uint32_t component, uint32_t site,
                              uint32_t architecture, uint32_t waiting)
{
    struct pleat_event event = {.kind = PLEAT_EV_DEMANDED_AT,
                                .component = component,
                                .u.demanded_at = {.run = hand_component(h, component)->run,
                                                  .site = site,
                                                  .architecture = architecture,
                                                  .waiting = waiting}};
    return hand_feed(h, event);
}

/* One request, which waits for another site. */
static inline void asks_for(struct hand *h, uint32_t component, uint32_t site, uint32_t waiting)
{
    assert_int_equal(demanded_at(h, component, site, 0, waiting), 0);
    assert_int_equal(demanded(h, component, buffer(h, component)->requests + 1,
                              buffer(h, component)->waiting + 1),
                     0);
}

static inline int says(struct hand *h, uint16_t kind, struct pleat_effect about, uint32_t reason)
{
    struct pleat_event event = {.kind = kind,
                                .component = about.u.claim.index,
                                .u.kept = {.claim = about.id,
                                           .run = hand_component(h, about.component)->run,
                                           .reason = reason}};
    return hand_feed(h, event);
}

static inline int feed(struct hand *h, uint16_t kind, uint32_t site)
{
    struct pleat_event event = {.kind = kind, .component = site};
    return hand_feed(h, event);
}

static inline int agent(struct hand *h, uint16_t kind, uint32_t site, uint32_t node)
{
    struct pleat_event event = {
        .kind = kind, .component = site, .u.agent = {.node = node, .number = 7 + site}};
    return hand_feed(h, event);
}

/* The claim asked for last is given on the first node, and a process is started there. */
static inline struct pleat_effect give(struct hand *h, uint32_t site)
{
    struct pleat_effect claim = hand_last(h, PLEAT_DO_CLAIM);
    assert_int_equal(claim.u.claim.site, site);
    assert_int_equal(hand_claimed(h, claim, 1), 0);
    struct pleat_effect order = hand_last(h, PLEAT_DO_PREPARE);
    assert_int_equal(order.id, claim.id);
    assert_int_equal(order.u.claim.site, site);
    return order;
}

/* ... and is there. */
static inline struct pleat_effect prepare(struct hand *h, uint32_t site)
{
    struct pleat_effect order = give(h, site);
    assert_int_equal(says(h, PLEAT_EV_PREPARED, order, 0), 0);
    return order;
}

/* ... and is handed over, for a request that does not wait any more. */
static inline struct pleat_effect take(struct hand *h, uint32_t component, uint32_t site)
{
    struct pleat_effect order = prepare(h, site);
    assert_int_equal(
        demanded(h, component, buffer(h, component)->requests, buffer(h, component)->waiting - 1),
        0);
    assert_int_equal(demanded_at(h, component, site, 0, outpost(h, component, site)->waiting - 1),
                     0);
    assert_int_equal(says(h, PLEAT_EV_TAKEN, order, 0), 0);
    return order;
}

static inline void add_site(struct hand *h, uint32_t site, int32_t capacity)
{
    struct pleat_event event = {
        .kind = PLEAT_EV_SITE, .component = site, .u.site = {.capacity = capacity}};
    assert_int_equal(hand_feed(h, event), 0);
}

static inline uint32_t submit(struct hand *h, int32_t minimum, int32_t maximum, int32_t initial)
{
    h->flags = PLEAT_COMPONENT_EVOLVES | PLEAT_COMPONENT_PREPARES | PLEAT_COMPONENT_ROAMS;
    uint32_t component = hand_submit(h, PLEAT_MOLDABLE, minimum, maximum, initial);
    h->flags = 0;
    return component;
}

/* Sites of 4, 4 and 2 processors. A job runs on 2 of the first one, and may have 5. */
static inline uint32_t begin(struct hand *h)
{
    hand_init(h, 4);
    uint32_t component = submit(h, 1, 5, 2);
    assert_int_equal(hand_claimed(h, hand_last(h, PLEAT_DO_CLAIM), 2), 0);
    assert_int_equal(hand_started(h, component), 0);
    add_site(h, THERE, 4);
    add_site(h, FAR, 2);
    hand_mark(h);
    return component;
}

#endif
