/* Decisions of a plan about buffers: prepared processes are requested and released. */
#include "policy/nodes.h"
#include "policy/plan_decisions.h"
#include "policy/policy.h"

/* Appends a decision about a buffer. It is not known as the component's decision, since the
 * component may be resized in the same plan. */
static struct pleat_event *buffer_decision(struct pleat_plan *plan, uint32_t component)
{
    struct pleat_event *decision = pleat_plan_append(plan, PLEAT_EV_BUFFER, PLEAT_NONE);
    if (decision)
        decision->component = component;
    return decision;
}

/* The site that a decision is about, as it says it: 0 is the component's own. */
static uint32_t as_said(const struct pleat_plan *plan, uint32_t component, uint32_t site)
{
    return plan->view->components[component].site == site ? 0 : site + 1;
}

static uint32_t site_of(const struct pleat_plan *plan, const struct pleat_event *decision)
{
    return decision->u.buffer.site ? decision->u.buffer.site - 1
                                   : plan->view->components[decision->component].site;
}

/* How much this plan has taken out of a component's buffer at a site already. */
static int32_t taken_out(const struct pleat_plan *plan, uint32_t component, uint32_t site)
{
    int32_t sum = 0;
    uint32_t said = as_said(plan, component, site);
    for (size_t i = 0; plan->unbuffers && i < plan->decisions.count; i++) {
        const struct pleat_event *decision = &plan->decisions.items[i];
        if (decision->kind == PLEAT_EV_BUFFER && decision->component == component &&
            decision->u.buffer.site == said)
            sum += decision->u.buffer.release;
    }
    return sum;
}

/* How much this plan has asked for, for a component's buffer, at all sites. */
static int32_t asked_for(const struct pleat_plan *plan, uint32_t component)
{
    int32_t sum = 0;
    for (size_t i = 0; i < plan->decisions.count; i++) {
        const struct pleat_event *decision = &plan->decisions.items[i];
        if (decision->kind == PLEAT_EV_BUFFER && decision->component == component)
            sum += decision->u.buffer.request;
    }
    return sum;
}

/* Does this plan end the component? Then its buffer goes as well. */
static bool is_preempted(const struct pleat_plan *plan, uint32_t component)
{
    const struct pleat_event *known = pleat_plan_find(plan, component);
    return known && known->kind == PLEAT_EV_PREEMPT;
}

/* The size that a component has after this plan. */
static int32_t size_after(const struct pleat_plan *plan, uint32_t component)
{
    const struct pleat_event *known = pleat_plan_find(plan, component);
    int32_t target = plan->view->components[component].target;
    return known && known->kind == PLEAT_EV_RESIZE && known->u.resize.processors > target
               ? known->u.resize.processors
               : target;
}

/* Whether agents prepare processes of the component only on the node from which it is led. */
static bool stays(const struct pleat_component *component)
{
    return component->flags & PLEAT_COMPONENT_PREPARES && !pleat_view_roams(component);
}

/* How many processors of a site may be asked for, on nodes of an architecture or (0) on any: agents
 * prepare processes only where the component may be. */
static int32_t may_ask(const struct pleat_plan *plan, uint32_t component, uint32_t site,
                       uint32_t architecture)
{
    const struct pleat_view *view = plan->view;
    const struct pleat_component *comp = &view->components[component];
    const struct pleat_buffer *buffer = &view->buffers[comp->buffer];
    const struct pleat_outpost *there = pleat_view_outpost(view, buffer, site);
    int32_t most = pleat_plan_growable(plan, site);
    if ((there ? there->quiet_until_us : buffer->quiet_until_us) > view->now_us)
        return 0;
    return pleat_smaller(
        most, stays(comp) ? pleat_plan_on_a_node(plan, component, site)
                          : pleat_plan_on_architecture(plan, component, site, architecture));
}

/* Takes from what is free in this plan what a decision asks for. */
static void take(struct pleat_plan *plan, const struct pleat_event *decision)
{
    const struct pleat_component *comp = &plan->view->components[decision->component];
    uint32_t site = site_of(plan, decision);
    int32_t request = decision->u.buffer.request;
    plan->sites[site].free -= request;
    if (decision->u.buffer.architecture > 0)
        pleat_plan_architecture_take(plan, decision->component, site,
                                     decision->u.buffer.architecture, request);
    else if (comp->flags & PLEAT_COMPONENT_PREPARES)
        pleat_plan_nodes_take(plan, decision->component, site, request);
}

/* A decision that leaves the next review as it is. */
static struct pleat_event *aside_decision(struct pleat_plan *plan, uint32_t component,
                                          uint32_t site, uint16_t flags)
{
    struct pleat_event *decision = buffer_decision(plan, component);
    if (!decision)
        return NULL;
    decision->flags = flags;
    decision->u.buffer.review_us = PLEAT_NEVER;
    decision->u.buffer.review_iteration = INT32_MAX;
    decision->u.buffer.site = as_said(plan, component, site);
    return decision;
}

/* Policies prepare processes at the component's own site. What is prepared at another one, and no
 * request waits for, goes back. */
static void clear_outposts(struct pleat_plan *plan, const struct pleat_buffer *buffer)
{
    const struct pleat_view *view = plan->view;
    for (uint32_t o = buffer->outposts ? buffer->outposts - 1 : PLEAT_NONE; o != PLEAT_NONE;
         o = view->outposts[o].next) {
        uint32_t site = view->outposts[o].site;
        int32_t spare =
            pleat_view_spare_at(view, buffer, site) - taken_out(plan, buffer->component, site);
        struct pleat_event *decision =
            spare > 0 ? aside_decision(plan, buffer->component, site, PLEAT_FOR_WAITING) : NULL;
        if (decision)
            decision->u.buffer.release = spare;
    }
}

void pleat_plan_review(struct pleat_plan *plan, uint32_t component,
                       const struct pleat_review *review)
{
    const struct pleat_component *comp = &plan->view->components[component];
    const struct pleat_buffer *buffer = &plan->view->buffers[comp->buffer];
    int32_t left = pleat_view_spare(plan->view, buffer) - taken_out(plan, component, comp->site);
    int32_t release = review->release < left ? review->release : left;
    int32_t room =
        pleat_view_buffer_room(plan->view, comp) - (size_after(plan, component) - comp->target);
    if (plan->serves)
        room -= pleat_smaller(pleat_view_lacking(plan->view, buffer), room);
    int32_t most = may_ask(plan, component, comp->site, buffer->architecture);
    if (room < most)
        most = room > 0 ? room : 0;
    struct pleat_event *decision =
        is_preempted(plan, component) ? NULL : buffer_decision(plan, component);
    if (!decision)
        return;
    decision->u.buffer.review_us = review->again_us;
    decision->u.buffer.review_iteration = review->again_iteration;
    decision->u.buffer.release = release > 0 ? release : 0;
    decision->u.buffer.request = review->request < most ? review->request : most;
    if (decision->u.buffer.request < 0)
        decision->u.buffer.request = 0;
    decision->u.buffer.architecture = buffer->architecture;
    take(plan, decision);
    clear_outposts(plan, buffer);
}

/* Asks a site for what is lacking there, on nodes of an architecture, or (0) any. Returns how much
 * of `room` that takes. */
static int32_t request(struct pleat_plan *plan, uint32_t component, uint32_t site,
                       uint32_t architecture, int32_t lacking, int32_t room, uint16_t flags)
{
    if (lacking <= 0)
        return 0;
    plan->serves = true;
    int32_t most = pleat_smaller(room, may_ask(plan, component, site, architecture));
    struct pleat_event *decision =
        most > 0 ? aside_decision(plan, component, site, PLEAT_FOR_WAITING | flags) : NULL;
    if (!decision)
        return 0;
    decision->u.buffer.request = pleat_smaller(lacking, most);
    decision->u.buffer.architecture = architecture;
    take(plan, decision);
    return decision->u.buffer.request;
}

/* Asks a site for what requests for it lack that need a node of an architecture, or (0) any, or any
 * of the run's. */
static int32_t serve(struct pleat_plan *plan, uint32_t component, uint32_t site,
                     uint32_t architecture, int32_t room)
{
    const struct pleat_view *view = plan->view;
    const struct pleat_buffer *buffer = &view->buffers[view->components[component].buffer];
    return request(plan, component, site, architecture ? architecture : buffer->architecture,
                   pleat_view_lacking_at(view, buffer, site, architecture), room, 0);
}

/* Asks a site for what requests lack that any site can serve, and for which this plan has not
 * asked another one. */
static int32_t serve_any(struct pleat_plan *plan, uint32_t component, uint32_t site, int32_t room)
{
    const struct pleat_view *view = plan->view;
    const struct pleat_buffer *buffer = &view->buffers[view->components[component].buffer];
    int32_t lacking = pleat_view_lacking_any(view, buffer);
    for (size_t i = 0; lacking > 0 && i < plan->decisions.count; i++) {
        const struct pleat_event *decision = &plan->decisions.items[i];
        if (decision->kind == PLEAT_EV_BUFFER && decision->component == component &&
            decision->flags & PLEAT_FOR_ANY_SITE)
            lacking -= decision->u.buffer.request;
    }
    return request(plan, component, site, buffer->architecture, lacking, room, PLEAT_FOR_ANY_SITE);
}

void pleat_plan_serve(struct pleat_plan *plan, uint32_t component)
{
    const struct pleat_component *comp = &plan->view->components[component];
    const struct pleat_buffer *buffer = &plan->view->buffers[comp->buffer];
    if (buffer->waiting == 0 || is_preempted(plan, component))
        return;
    int32_t room = pleat_view_buffer_room(plan->view, comp);
    for (uint32_t a = PLEAT_ARCHITECTURES - 1; a > 0; a--) /* what only few nodes can serve */
        if (buffer->waiting_on[a] > 0)
            room -= serve(plan, component, comp->site, a, room);
    room -= serve(plan, component, comp->site, 0, room);
    (void)serve_any(plan, component, comp->site, room);
}

void pleat_plan_serve_elsewhere(struct pleat_plan *plan, uint32_t component)
{
    const struct pleat_view *view = plan->view;
    const struct pleat_component *comp = &view->components[component];
    const struct pleat_buffer *buffer = &view->buffers[comp->buffer];
    if (buffer->outposts == 0 || is_preempted(plan, component))
        return;
    int32_t room = pleat_view_buffer_room(view, comp) - asked_for(plan, component);
    for (uint32_t o = buffer->outposts - 1; o != PLEAT_NONE; o = view->outposts[o].next) {
        const struct pleat_outpost *outpost = &view->outposts[o];
        for (uint32_t a = PLEAT_ARCHITECTURES - 1; a > 0; a--)
            if (outpost->waiting_on[a] > 0)
                room -= serve(plan, component, outpost->site, a, room);
        room -= serve(plan, component, outpost->site, 0, room);
    }
    for (const struct pleat_outpost *next = pleat_view_next_for_any(view, buffer, 0); next;
         next = pleat_view_next_for_any(view, buffer, next->rank))
        room -= serve_any(plan, component, next->site, room);
}

/* How many prepared processes this plan could still take out of a buffer at a site: on a node, or
 * PLEAT_NONE. */
static int32_t to_take(const struct pleat_plan *plan, const struct pleat_buffer *buffer,
                       uint32_t site, uint32_t node)
{
    const struct pleat_view *view = plan->view;
    int32_t held = node == PLEAT_NONE ? pleat_view_prepared_at(view, buffer, site)
                                      : pleat_view_buffered_on(view, buffer, site, node).prepared;
    return is_preempted(plan, buffer->component) ? 0
                                                 : held - taken_out(plan, buffer->component, site);
}

/* Takes up to `processors` prepared processes out of a buffer; returns how many. */
static int32_t take_from(struct pleat_plan *plan, const struct pleat_buffer *buffer,
                         const struct pleat_node *place, int32_t processors, uint32_t waiter)
{
    int32_t held = to_take(plan, buffer, place->site, place->node);
    struct pleat_event *decision =
        held > 0 ? aside_decision(plan, buffer->component, place->site, PLEAT_MANDATORY) : NULL;
    if (!decision)
        return 0;
    decision->u.buffer.release = pleat_smaller(held, processors);
    if (plan->view->components[buffer->component].flags & PLEAT_COMPONENT_PREPARES) {
        decision->u.buffer.waiter = waiter + 1;
        decision->u.buffer.node = place->node + 1; /* PLEAT_NONE: 0 */
    }
    plan->unbuffers = true;
    return decision->u.buffer.release;
}

int32_t pleat_plan_unbuffer(struct pleat_plan *plan, uint32_t site, uint32_t node,
                            int32_t processors, uint32_t waiter)
{
    const struct pleat_view *view = plan->view;
    const struct pleat_node place = {.site = site, .node = node};
    int32_t left = processors;
    /* first those of components that are led from elsewhere */
    for (uint32_t o = 0; o < view->outpost_count && left > 0; o++)
        if (view->outposts[o].site == site && pleat_view_outpost_runs(view, &view->outposts[o]))
            left -= take_from(plan, &view->buffers[view->outposts[o].buffer], &place, left, waiter);
    for (uint32_t b = view->sites[site].buffers_first; b != PLEAT_NONE && left > 0;
         b = view->buffers[b].next)
        left -= take_from(plan, &view->buffers[b], &place, left, waiter);
    return processors - left;
}

int32_t pleat_plan_buffered_on(const struct pleat_plan *plan, uint32_t site, uint32_t node,
                               int32_t *coming)
{
    const struct pleat_view *view = plan->view;
    int32_t prepared = 0;
    bool any = view->sites[site].buffers_first != PLEAT_NONE;
    *coming = 0;
    for (uint32_t o = 0; o < view->outpost_count; o++) {
        const struct pleat_outpost *outpost = &view->outposts[o];
        if (outpost->site != site || !pleat_view_outpost_runs(view, outpost))
            continue;
        const struct pleat_buffer *buffer = &view->buffers[outpost->buffer];
        prepared += pleat_larger(to_take(plan, buffer, site, node), 0);
        *coming += pleat_view_buffered_on(view, buffer, site, node).leaving;
        any = true;
    }
    if (!view->prepares || !any)
        return 0;
    *coming += view->sites[site].releasing;
    for (uint32_t b = view->sites[site].buffers_first; b != PLEAT_NONE; b = view->buffers[b].next) {
        int32_t held = to_take(plan, &view->buffers[b], site, node);
        prepared += held > 0 ? held : 0;
        *coming += pleat_view_buffered_on(view, &view->buffers[b], site, node).leaving;
    }
    return prepared;
}
