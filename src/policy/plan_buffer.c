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

/* How much this plan has taken out of a component's buffer already. */
static int32_t taken_out(const struct pleat_plan *plan, uint32_t component)
{
    int32_t sum = 0;
    for (size_t i = 0; plan->unbuffers && i < plan->decisions.count; i++) {
        const struct pleat_event *decision = &plan->decisions.items[i];
        if (decision->kind == PLEAT_EV_BUFFER && decision->component == component)
            sum += decision->u.buffer.release;
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

/* How many processors may be asked for, on nodes of an architecture or (0) on any: agents prepare
 * processes only where the component may be. */
static int32_t may_ask(const struct pleat_plan *plan, uint32_t component, uint32_t architecture)
{
    const struct pleat_component *comp = &plan->view->components[component];
    int32_t most = pleat_plan_growable(plan, comp->site);
    if (plan->view->buffers[comp->buffer].quiet_until_us > plan->view->now_us)
        return 0;
    return pleat_smaller(most, stays(comp)
                                   ? pleat_plan_on_a_node(plan, component, comp->site)
                                   : pleat_plan_on_architecture(plan, component, architecture));
}

/* Takes from what is free in this plan what a decision asks for. */
static void take(struct pleat_plan *plan, const struct pleat_event *decision)
{
    const struct pleat_component *comp = &plan->view->components[decision->component];
    int32_t request = decision->u.buffer.request;
    plan->sites[comp->site].free -= request;
    if (decision->u.buffer.architecture > 0)
        pleat_plan_architecture_take(plan, decision->component, decision->u.buffer.architecture,
                                     request);
    else if (comp->flags & PLEAT_COMPONENT_PREPARES)
        pleat_plan_nodes_take(plan, decision->component, comp->site, request);
}

void pleat_plan_review(struct pleat_plan *plan, uint32_t component,
                       const struct pleat_review *review)
{
    const struct pleat_component *comp = &plan->view->components[component];
    const struct pleat_buffer *buffer = &plan->view->buffers[comp->buffer];
    int32_t left = pleat_view_spare(plan->view, buffer) - taken_out(plan, component);
    int32_t release = review->release < left ? review->release : left;
    int32_t room =
        pleat_view_buffer_room(plan->view, comp) - (size_after(plan, component) - comp->target);
    if (plan->serves)
        room -= pleat_smaller(pleat_view_lacking(plan->view, buffer), room);
    int32_t most = may_ask(plan, component, buffer->architecture);
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
}

/* Asks for what requests lack that need a node of an architecture, or (0) any, or any of the run's.
 * Returns how much of `room` that takes. */
static int32_t serve(struct pleat_plan *plan, uint32_t component, uint32_t architecture,
                     int32_t room)
{
    const struct pleat_view *view = plan->view;
    const struct pleat_buffer *buffer = &view->buffers[view->components[component].buffer];
    int32_t lacking = pleat_view_lacking_on(view, buffer, architecture);
    uint32_t on = architecture ? architecture : buffer->architecture;
    if (lacking == 0)
        return 0;
    plan->serves = true;
    int32_t most = pleat_smaller(room, may_ask(plan, component, on));
    struct pleat_event *decision = most > 0 ? buffer_decision(plan, component) : NULL;
    if (!decision)
        return 0;
    decision->flags = PLEAT_FOR_WAITING;
    decision->u.buffer.review_us = PLEAT_NEVER;
    decision->u.buffer.review_iteration = INT32_MAX;
    decision->u.buffer.request = pleat_smaller(lacking, most);
    decision->u.buffer.architecture = on;
    take(plan, decision);
    return decision->u.buffer.request;
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
            room -= serve(plan, component, a, room);
    (void)serve(plan, component, 0, room);
}

/* How many prepared processes this plan could still take out of a buffer: on a node, or PLEAT_NONE.
 */
static int32_t to_take(const struct pleat_plan *plan, const struct pleat_buffer *buffer,
                       uint32_t node)
{
    int32_t held = node == PLEAT_NONE ? buffer->prepared
                                      : pleat_view_buffered_on(plan->view, buffer, node).prepared;
    return is_preempted(plan, buffer->component) ? 0 : held - taken_out(plan, buffer->component);
}

int32_t pleat_plan_unbuffer(struct pleat_plan *plan, uint32_t site, uint32_t node,
                            int32_t processors, uint32_t waiter)
{
    const struct pleat_view *view = plan->view;
    int32_t left = processors;
    for (uint32_t b = view->sites[site].buffers_first; b != PLEAT_NONE && left > 0;
         b = view->buffers[b].next) {
        const struct pleat_buffer *buffer = &view->buffers[b];
        int32_t held = to_take(plan, buffer, node);
        if (held <= 0)
            continue;
        struct pleat_event *decision = buffer_decision(plan, buffer->component);
        if (!decision)
            break;
        decision->flags = PLEAT_MANDATORY;
        decision->u.buffer.review_us = PLEAT_NEVER;
        decision->u.buffer.review_iteration = INT32_MAX;
        decision->u.buffer.release = held < left ? held : left;
        if (view->components[buffer->component].flags & PLEAT_COMPONENT_PREPARES) {
            decision->u.buffer.waiter = waiter + 1;
            decision->u.buffer.node = node + 1; /* PLEAT_NONE: 0 */
        }
        left -= decision->u.buffer.release;
        plan->unbuffers = true;
    }
    return processors - left;
}

int32_t pleat_plan_buffered_on(const struct pleat_plan *plan, uint32_t site, uint32_t node,
                               int32_t *coming)
{
    const struct pleat_view *view = plan->view;
    int32_t prepared = 0;
    *coming = 0;
    if (!view->prepares || view->sites[site].buffers_first == PLEAT_NONE)
        return 0;
    *coming = view->sites[site].releasing;
    for (uint32_t b = view->sites[site].buffers_first; b != PLEAT_NONE; b = view->buffers[b].next) {
        int32_t held = to_take(plan, &view->buffers[b], node);
        prepared += held > 0 ? held : 0;
        *coming += pleat_view_buffered_on(view, &view->buffers[b], node).leaving;
    }
    return prepared;
}
