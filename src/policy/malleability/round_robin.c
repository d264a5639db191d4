/* Round-robin by the step: Lammers 2005, 5.5.3.
 *
 * Malleable jobs stand in a queue of their own that is scanned round-robin: each may grow by its
 * step, the job after the one that grew last is the first to be considered. With the approach pwa
 * that queue has the lowest priority, as there. Taken where the thesis is silent:
 * - each site has a queue of its own, in the order of starts;
 * - a job that is getting one step is not considered before it has it: so it grows no faster than
 *   components can be submitted, one after another;
 * - the step is what accepted sizes are multiples of; else one processor, or as many as it takes to
 *   come to the next accepted size;
 * - room is made by one step of each in turn, beginning with the job that grew last. */
#include "policy/policies.h"

struct round_robin_state {
    uint32_t last[PLEAT_SITES_MAX]; /* the component that grew last, plus 1; 0: none */
};

static void round_robin_observe(void *memory, const struct pleat_view *view,
                                const struct pleat_event *event)
{
    struct round_robin_state *state = memory;
    if (event->kind == PLEAT_EV_RESIZE && event->u.resize.accepted > 0)
        state->last[view->components[event->component].site] = event->component + 1;
}

/* The component that grew last at a site, if it is there still; else the newest, so that the oldest
 * is the next. */
static uint32_t last_grown(const struct pleat_pass *pass, uint32_t site)
{
    const struct round_robin_state *state = pass->states[PLEAT_MALLEABILITY];
    for (uint32_t component = pleat_malleable_oldest(pass->view, site); component != PLEAT_NONE;
         component = pleat_malleable_younger(pass->view, component))
        if (component + 1 == state->last[site])
            return component;
    return pleat_malleable_newest(pass->view, site);
}

static uint32_t next_of(const struct pleat_view *view, uint32_t site, uint32_t component)
{
    uint32_t next = pleat_malleable_younger(view, component);
    return next != PLEAT_NONE ? next : pleat_malleable_oldest(view, site);
}

static int32_t step_of(const struct pleat_component *component)
{
    return component->sizes_kind == PLEAT_SIZES_MULTIPLES ? component->sizes_parameter : 1;
}

/* How many processors take a component to its next size; 0: there is none. */
static int32_t next_step(const struct pleat_view *view, const struct pleat_component *component)
{
    int32_t next = pleat_accept_next(view, component, component->processors);
    return next > 0 ? next - component->processors : 0;
}

static int32_t round_robin_grow(struct pleat_pass *pass, uint32_t site, int32_t grow_value)
{
    const struct pleat_view *view = pass->view;
    uint32_t last = last_grown(pass, site), component = last;
    do {
        component = next_of(view, site, component);
        int32_t step = next_step(view, &view->components[component]);
        if (step > 0 && step <= grow_value && !pleat_plan_is_decided(pass->plan, component))
            grow_value -= pleat_plan_offer_grow(pass->plan, component, step);
    } while (component != last && grow_value > 0);
    return grow_value;
}

static int32_t round_robin_shrink(struct pleat_pass *pass, uint32_t site, int32_t shrink_value,
                                  uint32_t waiter)
{
    const struct pleat_view *view = pass->view;
    uint32_t last = last_grown(pass, site), component = last;
    if (last == PLEAT_NONE)
        return shrink_value;
    do {
        shrink_value -= pleat_plan_offer_shrink(pass->plan, component,
                                                step_of(&view->components[component]), waiter);
        component = next_of(view, site, component);
    } while (component != last && shrink_value > 0);
    return shrink_value;
}

const struct pleat_policy pleat_policy_round_robin = {
    .number = 13,
    .version = 1,
    .question = PLEAT_MALLEABILITY,
    .name = "round-robin",
    .source = "Lammers 2005, 5.5.3",
    .summary = "grow by one step each, in turn; shrink in the same way",
    .shrinks = true,
    .grow = round_robin_grow,
    .shrink = round_robin_shrink,
    .state_size = sizeof(struct round_robin_state),
    .observe = round_robin_observe,
};
