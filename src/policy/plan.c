#include "policy/plan.h"

#include <stdlib.h>
#include <string.h>

#include "policy/plan_decisions.h"

/* Nothing is asked for at the site now: not even the component that is being placed may use any. */
static PLEAT_COLD void set_quiet(struct pleat_plan *plan, uint32_t site)
{
    plan->sites[site].quiet = true;
    plan->sites[site].limit = 0;
}

int pleat_plan_begin(struct pleat_plan *plan, const struct pleat_view *view)
{
    if (view->site_count > plan->site_room) {
        struct pleat_plan_site *sites = realloc(plan->sites, view->site_count * sizeof(*sites));
        if (!sites)
            return PLEAT_E_NOMEM;
        plan->sites = sites;
        plan->site_room = view->site_count;
    }
    if (view->component_count > plan->component_room) {
        uint32_t room = view->component_count + view->component_count / 2 + 64;
        struct pleat_plan_known *known = realloc(plan->known, room * sizeof(*known));
        if (!known)
            return PLEAT_E_NOMEM;
        memset(known + plan->component_room, 0, (room - plan->component_room) * sizeof(*known));
        plan->known = known;
        plan->component_room = room;
    }
    if (++plan->pass == 0) { /* decisions of 4 billion passes ago must not look like this pass's */
        memset(plan->known, 0, plan->component_room * sizeof(*plan->known));
        plan->pass = 1;
    }
    plan->view = view;
    plan->decisions.count = 0;
    plan->journal.count = 0;
    plan->wake_us = PLEAT_NEVER;
    plan->unbuffers = plan->serves = plan->voluntary = plan->keeps_askers = plan->asks_decided =
        false;
    plan->asker = PLEAT_NONE;
    plan->spares = NULL;
    plan->spares_others = false;
    plan->failed = 0;
    for (uint32_t s = 0; s < view->site_count; s++) {
        const struct pleat_site *site = &view->sites[s];
        plan->sites[s] = (struct pleat_plan_site){.free = pleat_view_site_unused(site),
                                                  .limit = PLEAT_SIZE_MAX,
                                                  .several = site->several || site->node_most > 0};
        if (site->quiet_until_us > view->now_us) {
            set_quiet(plan, s);
            pleat_plan_wake(plan, site->quiet_until_us);
        } else if (pleat_view_is_closed(view, s)) {
            set_quiet(plan, s);
        }
        if (site->drained && plan->sites[s].free > 0)
            plan->sites[s].free = 0;
    }
    return pleat_plan_nodes_begin(plan);
}

void pleat_plan_finish(struct pleat_plan *plan)
{
    free(plan->sites);
    free(plan->nodes);
    free(plan->withheld);
    free(plan->known);
    pleat_array_finish(&plan->decisions);
    pleat_array_finish(&plan->journal);
    pleat_array_finish(&plan->started);
    for (uint32_t s = 0; s < plan->profile_room; s++)
        pleat_profile_finish(&plan->profiles[s]);
    free(plan->profiles);
    memset(plan, 0, sizeof(*plan));
}

int32_t pleat_plan_idle(const struct pleat_plan *plan, uint32_t site)
{
    return plan->sites[site].free > 0 ? plan->sites[site].free : 0;
}

int32_t pleat_plan_free(const struct pleat_plan *plan, uint32_t site)
{
    return plan->sites[site].quiet ? 0 : pleat_plan_idle(plan, site);
}

int32_t pleat_plan_kept(const struct pleat_plan *plan, uint32_t site)
{
    return plan->sites[site].kept;
}

int32_t pleat_plan_left_of_total(const struct pleat_plan *plan)
{
    int64_t left = plan->view->grow_total;
    for (uint32_t s = 0; s < plan->view->site_count; s++) {
        const struct pleat_site *site = &plan->view->sites[s];
        int32_t taken = site->drained ? 0 : pleat_view_site_unused(site) - plan->sites[s].free;
        left -= site->claimed + taken;
    }
    return left > 0 ? (int32_t)left : 0;
}

int32_t pleat_plan_growable(const struct pleat_plan *plan, uint32_t site)
{
    int32_t left = pleat_plan_free(plan, site) - pleat_view_site_left(&plan->view->sites[site]) -
                   plan->sites[site].kept;
    if (left <= 0 || plan->sites[site].withheld)
        return 0;
    return plan->view->grow_total > 0 ? pleat_smaller(left, pleat_plan_left_of_total(plan)) : left;
}

int32_t pleat_plan_available(const struct pleat_plan *plan, uint32_t component, uint32_t site)
{
    const struct pleat_component *waiting = &plan->view->components[component];
    int32_t earmarked = waiting->site == site ? waiting->earmarked : 0;
    int32_t usable = pleat_smaller(plan->sites[site].free, plan->sites[site].limit);
    if (plan->sites[site].several) {
        int32_t on_a_node = pleat_plan_on_a_node(plan, component, site);
        usable = usable < on_a_node ? usable : on_a_node;
    }
    return (usable > 0 ? usable : 0) + earmarked;
}

int32_t pleat_plan_at_once(const struct pleat_plan *plan, uint32_t component, uint32_t site)
{
    int32_t left = pleat_plan_available(plan, component, site) - plan->view->sites[site].others;
    return left > 0 ? left : 0;
}

bool pleat_plan_is_decided(const struct pleat_plan *plan, uint32_t component)
{
    return pleat_plan_find(plan, component) != NULL;
}

bool pleat_plan_is_given_up(const struct pleat_plan *plan, uint32_t waiter)
{
    const struct pleat_event *known = waiter == PLEAT_NONE ? NULL : pleat_plan_find(plan, waiter);
    return known && known->kind == PLEAT_EV_TRIED &&
           plan->view->components[waiter].tries >= plan->view->max_tries;
}

static bool journal_start(struct pleat_plan *plan, uint32_t component, uint32_t site)
{
    if (pleat_array_reserve(&plan->journal, 1)) {
        plan->failed = 1;
        return false;
    }
    plan->journal.items[plan->journal.count++] =
        (struct pleat_plan_undo){.component = component,
                                 .decision = (uint32_t)plan->decisions.count,
                                 .free_before = plan->sites[site].free,
                                 .site = site,
                                 .was_new = true};
    return true;
}

static bool start(struct pleat_plan *plan, uint32_t component, uint32_t site, int32_t size,
                  int32_t processes, int32_t mpl)
{
    const struct pleat_component *comp = &plan->view->components[component];
    if (comp->state != PLEAT_QUEUED || size < 1 || pleat_plan_find(plan, component) ||
        size > pleat_plan_available(plan, component, site))
        return false;
    if (pleat_view_is_several(plan->view, comp) && !journal_start(plan, component, site))
        return false;
    struct pleat_event *start = pleat_plan_append(plan, PLEAT_EV_START, component);
    if (!start)
        return false;
    start->u.start.site = site;
    start->u.start.processors = size;
    start->u.start.processes = processes;
    start->u.start.mpl = (uint32_t)mpl;
    int32_t earmarked = comp->site == site ? comp->earmarked : 0;
    plan->sites[site].free -= size > earmarked ? size - earmarked : 0;
    if (plan->sites[site].several)
        pleat_plan_nodes_take(plan, component, site, size - earmarked);
    return true;
}

bool pleat_plan_start(struct pleat_plan *plan, uint32_t component, uint32_t site, int32_t size)
{
    const struct pleat_component *comp = &plan->view->components[component];
    if (!pleat_view_folds(comp))
        return start(plan, component, site, size, size, 0);
    int32_t mpl = pleat_view_mpl(plan->view, comp);
    return pleat_plan_start_folded(plan, component, site, size,
                                   pleat_accept_processes(plan->view, comp, size, mpl), mpl);
}

bool pleat_plan_start_folded(struct pleat_plan *plan, uint32_t component, uint32_t site,
                             int32_t processors, int32_t processes, int32_t mpl)
{
    const struct pleat_component *comp = &plan->view->components[component];
    return pleat_view_folds(comp) && processors <= processes && mpl >= 1 &&
           processors <= pleat_view_partition_most(plan->view, comp) &&
           processors >= pleat_view_partition_least(plan->view, comp, processes) &&
           mpl <= pleat_view_mpl(plan->view, comp) && pleat_mpl(processes, processors) <= mpl &&
           start(plan, component, site, processors, processes, mpl);
}

uint32_t pleat_plan_makes_room(const struct pleat_plan *plan, uint32_t waiter)
{
    for (size_t i = 0; i < plan->decisions.count; i++) {
        const struct pleat_event *resize = &plan->decisions.items[i];
        if (resize->kind == PLEAT_EV_RESIZE && resize->u.resize.waiter == waiter)
            return plan->view->components[resize->component].site;
    }
    return PLEAT_NONE;
}

bool pleat_plan_starts(const struct pleat_plan *plan, uint32_t component)
{
    const struct pleat_event *known = pleat_plan_find(plan, component);
    return known && known->kind == PLEAT_EV_START;
}

bool pleat_plan_could_preempt(const struct pleat_plan *plan, uint32_t component)
{
    const struct pleat_component *comp = &plan->view->components[component];
    return comp->state == PLEAT_RUNNING && comp->begin_us == 0 &&
           !(comp->flags & PLEAT_COMPONENT_ONCE) && !pleat_view_is_several(plan->view, comp) &&
           comp->preempted < UINT8_MAX && comp->preempted < plan->view->preemptions &&
           !pleat_plan_find(plan, component);
}

bool pleat_plan_preempt(struct pleat_plan *plan, uint32_t component)
{
    return pleat_plan_could_preempt(plan, component) &&
           pleat_plan_append(plan, PLEAT_EV_PREEMPT, component);
}

const struct pleat_plan_ends *pleat_plan_started(struct pleat_plan *plan, uint32_t site)
{
    struct pleat_plan_ends *ends = &plan->started;
    ends->count = 0;
    for (size_t i = 0; i < plan->decisions.count; i++) {
        const struct pleat_event *start = &plan->decisions.items[i];
        if (start->kind != PLEAT_EV_START || start->u.start.site != site)
            continue;
        if (pleat_array_reserve(ends, 1)) {
            plan->failed = 1;
            break;
        }
        struct pleat_plan_end end = {
            pleat_view_end_of(plan->view, start->component, start->u.start.processors),
            start->u.start.processors};
        size_t at = ends->count++;
        for (; at > 0 && ends->items[at - 1].at_us > end.at_us; at--)
            ends->items[at] = ends->items[at - 1];
        ends->items[at] = end;
    }
    return ends;
}

void pleat_plan_limit(struct pleat_plan *plan, uint32_t site, int32_t processors)
{
    plan->sites[site].limit = plan->sites[site].quiet ? 0 : processors;
}

void pleat_plan_keep(struct pleat_plan *plan, uint32_t site, int32_t processors)
{
    plan->sites[site].kept = processors;
}

void pleat_plan_hold(struct pleat_plan *plan, uint32_t site)
{
    plan->sites[site].withheld = true;
}

void pleat_plan_tried(struct pleat_plan *plan, uint32_t component)
{
    const struct pleat_view *view = plan->view;
    const struct pleat_component *comp = &view->components[component];
    if (view->max_tries == 0 || pleat_plan_find(plan, component))
        return;
    int64_t next_us = comp->last_try_us + view->try_us;
    if (comp->tries > 0 && view->now_us < next_us) {
        pleat_plan_wake(plan, next_us);
        return;
    }
    (void)pleat_plan_append(plan, PLEAT_EV_TRIED, component);
    pleat_plan_wake(plan, view->now_us + view->try_us);
}

void pleat_plan_withhold(struct pleat_plan *plan, uint32_t component, int32_t processors)
{
    uint32_t site = plan->view->components[component].site;
    int32_t count = pleat_smaller(pleat_plan_idle(plan, site), processors);
    if (plan->sites[site].several)
        count = pleat_plan_nodes_withhold(plan, component, count);
    if (count > 0)
        plan->sites[site].free -= count;
}

void pleat_plan_refuse(struct pleat_plan *plan, uint32_t component, enum pleat_ask_reason reason)
{
    struct pleat_event *refuse = pleat_plan_append(plan, PLEAT_EV_REFUSE, component);
    if (refuse)
        refuse->u.refuse.reason = reason;
}

void pleat_plan_wake(struct pleat_plan *plan, int64_t at_us)
{
    if (at_us < plan->wake_us)
        plan->wake_us = at_us;
}

uint32_t pleat_plan_place(const struct pleat_plan *plan, uint32_t component)
{
    const struct pleat_component *comp = &plan->view->components[component];
    const struct pleat_event *known = pleat_plan_find(plan, component);
    if (comp->state == PLEAT_QUEUED)
        return known && known->kind == PLEAT_EV_START ? known->u.start.site : PLEAT_NONE;
    return pleat_component_state_is_final((enum pleat_component_state)comp->state) ? PLEAT_NONE
                                                                                   : comp->site;
}

pleat_plan_mark pleat_plan_remember(const struct pleat_plan *plan)
{
    return plan->journal.count;
}

void pleat_plan_rollback(struct pleat_plan *plan, pleat_plan_mark mark)
{
    bool again = false;
    while (plan->journal.count > mark) {
        const struct pleat_plan_undo *undo = &plan->journal.items[--plan->journal.count];
        plan->sites[undo->site].free = undo->free_before;
        again = again || plan->sites[undo->site].several;
        if (undo->was_new) {
            /* nothing else is decided between a mark and its rollback: the newest is the last */
            plan->decisions.count = undo->decision;
            plan->known[undo->component].pass = 0;
        } else {
            plan->decisions.items[undo->decision] = undo->before;
        }
    }
    if (again)
        pleat_plan_nodes_again(plan);
}

void pleat_plan_promise(struct pleat_plan *plan, uint32_t component, uint32_t site,
                        int64_t start_us)
{
    const struct pleat_component *comp = &plan->view->components[component];
    if (comp->promised_us == start_us && (start_us == PLEAT_NEVER || comp->promised_site == site))
        return;
    if (pleat_plan_is_given_up(plan, component))
        return; /* this plan gives the component up */
    struct pleat_event *promise = pleat_plan_append(plan, PLEAT_EV_PROMISE, PLEAT_NONE);
    if (!promise)
        return; /* not the component's own decision: it may still be started, or tried */
    promise->component = component;
    promise->u.promise.site = site;
    promise->u.promise.start_us = start_us;
}
