/* Offers of a plan: components that grow and shrink. */
#include "policy/plan_decisions.h"
#include "policy/policy.h"

/* The component's resize in this plan, made where there is none; journalled either way. */
static struct pleat_event *resize_of(struct pleat_plan *plan, uint32_t component)
{
    struct pleat_event *known = pleat_plan_find(plan, component);
    const struct pleat_component *comp = &plan->view->components[component];
    if (pleat_array_reserve(&plan->journal, 1)) {
        plan->failed = 1;
        return NULL;
    }
    /* built in place: there is one for every offer */
    struct pleat_plan_undo *undo = &plan->journal.items[plan->journal.count];
    undo->component = component;
    undo->decision = known ? plan->known[component].decision : (uint32_t)plan->decisions.count;
    undo->free_before = plan->sites[comp->site].free;
    undo->site = comp->site;
    undo->was_new = !known;
    if (known) {
        undo->before = *known;
        plan->journal.count++;
        return known;
    }
    struct pleat_event *fresh = pleat_plan_append(plan, PLEAT_EV_RESIZE, component);
    if (!fresh)
        return NULL;
    plan->journal.count++;
    fresh->u.resize.waiter = PLEAT_NONE;
    fresh->u.resize.processors = comp->processors;
    fresh->u.resize.processes = comp->processes;
    return fresh;
}

/* What a component would accept now, whatever its backoff; 0 where it may not change, or not in
 * that direction.
 */
static int32_t grow_acceptance(const struct pleat_plan *plan, uint32_t component,
                               int32_t processors)
{
    const struct pleat_component *comp = &plan->view->components[component];
    const struct pleat_event *known = pleat_plan_find(plan, component);
    if (comp->state != PLEAT_RUNNING || pleat_view_is_young(plan->view, comp) ||
        (known && (known->kind != PLEAT_EV_RESIZE || known->u.resize.accepted < 0)))
        return 0;
    int32_t growable = pleat_plan_growable(plan, comp->site);
    if (plan->sites[comp->site].several) {
        int32_t on_its_node = pleat_plan_on_a_node(plan, component, comp->site);
        growable = growable < on_its_node ? growable : on_its_node;
    }
    int32_t size = known ? known->u.resize.processors : comp->processors;
    return pleat_accept_grow(plan->view, comp, size, processors < growable ? processors : growable);
}

/* Does this plan shrink a component for a running one that asks? The processors that it gives up
 * are for that one alone. */
static bool gives_to_asker(const struct pleat_plan *plan, const struct pleat_event *known)
{
    uint32_t waiter = known ? known->u.resize.waiter : PLEAT_NONE;
    return waiter != PLEAT_NONE && waiter != plan->asker &&
           plan->view->components[waiter].state != PLEAT_QUEUED;
}

/* Is nothing taken from a component, since it is the one that asks, or asked before that one and
 * cannot go on either? */
static bool is_kept(const struct pleat_plan *plan, uint32_t component)
{
    const struct pleat_view *view = plan->view;
    if (plan->asker == PLEAT_NONE && !plan->keeps_askers)
        return false;
    const struct pleat_ask *its = pleat_view_ask(view, &view->components[component]);
    bool waits = its->state == PLEAT_ASK_PENDING && its->more && its->mandatory;
    if (plan->asker == PLEAT_NONE)
        return waits;
    const struct pleat_ask *mine = pleat_view_ask(view, &view->components[plan->asker]);
    return component == plan->asker || (waits && its->turn < mine->turn);
}

bool pleat_plan_spares(const struct pleat_plan *plan, uint32_t component)
{
    return plan->spares &&
           plan->spares(plan->view, &plan->view->components[component]) != plan->spares_others;
}

/* Does a component give nothing now, because of a component's ask or since others are to be shrunk
 * first? */
static PLEAT_COLD bool is_spared(const struct pleat_plan *plan, uint32_t component,
                                 const struct pleat_event *known)
{
    return gives_to_asker(plan, known) || is_kept(plan, component) ||
           pleat_plan_spares(plan, component) || !pleat_plan_may_shrink_on(plan, component);
}

/* Is no component spared, since none asked for anything and all may be shrunk? */
static bool spares_nobody(const struct pleat_plan *plan)
{
    return plan->view->ask_count == 0 && !plan->spares && plan->only_site == PLEAT_NONE &&
           !plan->shuts;
}

static int32_t shrink_acceptance(const struct pleat_plan *plan, uint32_t component,
                                 int32_t processors)
{
    const struct pleat_component *comp = &plan->view->components[component];
    const struct pleat_event *known = pleat_plan_find(plan, component);
    if (comp->state != PLEAT_RUNNING || pleat_view_is_young(plan->view, comp) ||
        (known && (known->kind != PLEAT_EV_RESIZE || known->u.resize.accepted > 0)) ||
        (!spares_nobody(plan) && is_spared(plan, component, known)))
        return 0;
    int32_t size = known ? known->u.resize.processors : comp->processors;
    if (plan->only_site != PLEAT_NONE) /* processors that it gives on other nodes are of no use */
        processors = pleat_smaller(processors, pleat_plan_gives_on(plan, component) -
                                                   (comp->processors - size));
    return processors > 0 ? pleat_accept_shrink(plan->view, comp, size, processors) : 0;
}

/* Does the component's program say that its size must not change now? Then it is offered no resize,
 * unless it cannot go on without more itself. A shrink for a waiting job comes nevertheless. */
static bool is_put_off(const struct pleat_plan *plan, uint32_t component)
{
    const struct pleat_component *comp = &plan->view->components[component];
    if (!pleat_view_is_not_now(plan->view, comp))
        return false;
    const struct pleat_ask *ask = pleat_view_ask(plan->view, comp);
    return ask->state != PLEAT_ASK_PENDING || !ask->more || !ask->mandatory;
}

int32_t pleat_plan_size(const struct pleat_plan *plan, uint32_t component)
{
    const struct pleat_event *known = pleat_plan_find(plan, component);
    return known && known->kind == PLEAT_EV_RESIZE ? known->u.resize.processors
                                                   : plan->view->components[component].processors;
}

bool pleat_plan_could_grow(const struct pleat_plan *plan, uint32_t component, int32_t processors)
{
    return plan->view->now_us >= plan->view->components[component].quiet_until_us &&
           !is_put_off(plan, component) && grow_acceptance(plan, component, processors) > 0;
}

bool pleat_plan_grows_or_wakes(struct pleat_plan *plan, uint32_t component, int32_t processors)
{
    int64_t quiet_until_us = plan->view->components[component].quiet_until_us;
    if (pleat_plan_could_grow(plan, component, processors))
        return true;
    if (quiet_until_us > plan->view->now_us)
        pleat_plan_wake(plan, quiet_until_us);
    return false;
}

bool pleat_plan_could_shrink(const struct pleat_plan *plan, uint32_t component)
{
    return shrink_acceptance(plan, component, 1) > 0;
}

int32_t pleat_plan_offer_grow(struct pleat_plan *plan, uint32_t component, int32_t processors)
{
    const struct pleat_component *comp = &plan->view->components[component];
    int32_t accepted = grow_acceptance(plan, component, processors);
    if (accepted == 0 || is_put_off(plan, component))
        return 0;
    if (plan->view->now_us < comp->quiet_until_us) {
        pleat_plan_wake(plan, comp->quiet_until_us);
        return 0;
    }
    struct pleat_event *resize = resize_of(plan, component);
    if (!resize)
        return 0;
    resize->u.resize.offered += processors;
    resize->u.resize.accepted += accepted;
    resize->u.resize.processors += accepted;
    resize->u.resize.processes += pleat_view_folds(comp) ? 0 : accepted;
    plan->sites[comp->site].free -= accepted;
    pleat_plan_nodes_take(plan, component, comp->site, accepted);
    return accepted;
}

int32_t pleat_plan_offer_shrink(struct pleat_plan *plan, uint32_t component, int32_t processors,
                                uint32_t waiter)
{
    if (pleat_plan_is_given_up(plan, waiter))
        return 0;
    int32_t accepted = shrink_acceptance(plan, component, processors);
    if (accepted == 0)
        return 0;
    int64_t quiet_until_us = plan->view->components[component].quiet_until_us;
    bool voluntary = waiter == PLEAT_NONE || plan->voluntary;
    if (voluntary && is_put_off(plan, component))
        return 0;
    if (voluntary && plan->view->now_us < quiet_until_us) {
        pleat_plan_wake(plan, quiet_until_us);
        return 0;
    }
    struct pleat_event *resize = resize_of(plan, component);
    if (!resize)
        return 0;
    if (!voluntary)
        resize->flags |= PLEAT_MANDATORY;
    resize->u.resize.offered -= processors;
    resize->u.resize.accepted -= accepted;
    resize->u.resize.processors -= accepted;
    resize->u.resize.processes -=
        pleat_view_folds(&plan->view->components[component]) ? 0 : accepted;
    resize->u.resize.waiter = waiter;
    /* the processors are not free before their processes are gone */
    return accepted;
}
