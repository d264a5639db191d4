/* plan_decisions.h - the list of a plan's decisions; only for plan*.c */
#ifndef PLEAT_POLICY_PLAN_DECISIONS_H
#define PLEAT_POLICY_PLAN_DECISIONS_H

#include <string.h>

#include "policy/plan.h"

/* The decision that this plan has for a component, or NULL. */
static inline struct pleat_event *pleat_plan_find(const struct pleat_plan *plan, uint32_t component)
{
    const struct pleat_plan_known *known = &plan->known[component];
    return known->pass == plan->pass ? &plan->decisions.items[known->decision] : NULL;
}

/* Appends a decision of which only time, kind and component are set, as the component's own; with
 * PLEAT_NONE it is no component's, and pleat_plan_find does not find it. NULL: out of memory, the
 * plan has failed. Valid until the next one is appended. */
static inline struct pleat_event *pleat_plan_append(struct pleat_plan *plan, uint16_t kind,
                                                    uint32_t component)
{
    if (pleat_array_reserve(&plan->decisions, 1)) {
        plan->failed = 1;
        return NULL;
    }
    struct pleat_event *fresh = &plan->decisions.items[plan->decisions.count++];
    memset(fresh, 0, sizeof(*fresh)); /* all of it: decisions are compared byte by byte */
    fresh->time_us = plan->view->now_us;
    fresh->kind = kind;
    fresh->component = component;
    if (component != PLEAT_NONE)
        plan->known[component] =
            (struct pleat_plan_known){plan->pass, (uint32_t)plan->decisions.count - 1};
    return fresh;
}

/* plan_nodes.c: what is free on nodes, at the beginning of a plan; after a decision by which a
 * component gets `count` more; and after decisions were taken back. */
int pleat_plan_nodes_begin(struct pleat_plan *plan) PLEAT_MUST_CHECK;
void pleat_plan_nodes_take(struct pleat_plan *plan, uint32_t component, uint32_t site,
                           int32_t count);
void pleat_plan_nodes_again(struct pleat_plan *plan);
/* pleat_plan_withhold at a site of several nodes: takes up to `count` from the node on which the
 * component must stay, if there is one. Returns how many are withheld at the site. */
int32_t pleat_plan_nodes_withhold(struct pleat_plan *plan, uint32_t component, int32_t count);
/* Whether pleat_plan_shrink_only lets a running component be shrunk. */
bool pleat_plan_may_shrink_on(const struct pleat_plan *plan, uint32_t component);
/* How many processors the component would give where pleat_plan_shrink_only wants them. */
int32_t pleat_plan_gives_on(const struct pleat_plan *plan, uint32_t component);

/* Is this try the last one of a waiting component, after which it is given up? Then no room need be
 * made for it. */
bool pleat_plan_is_given_up(const struct pleat_plan *plan, uint32_t waiter);

#endif
