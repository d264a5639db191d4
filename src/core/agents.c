/* The agent of a node: the jobs whose first processor is there are started, and told anything,
 * through it.
 *
 * While an agent is away the deadlines of starts and resizes that wait for an application stand
 * still: nobody could tell the application anything. A START is given only to an agent whose
 * AGENT_BACK is in the log. So when another agent comes, the core knows which starts were given to
 * the agent before it. Those starts are over, and each counts as an attempt: their processes cannot
 * be reached any more, and may have done anything. Starts that no agent was told are given to the
 * new agent. */
#include "core/deadlines.h"
#include "core/ending.h"
#include "core/handlers.h"
#include "core/job.h"
#include "core/move.h"
#include "core/node.h"
#include "core/resize.h"
#include "core/state.h"
#include "core/tell.h"
#include "core/transition.h"
#include "policy/shares.h"

/* ---- away ---- */

static void stand_still(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    if (comp->state == PLEAT_CLAIMING && comp->starting && !comp->untold)
        /* until the agent says whether the job runs, or another agent comes */
        disarm(core, &comp->deadline);
    if (comp->resize == PLEAT_NONE || resize_at(core, comp->resize)->step == PLEAT_RESIZE_ACCEPTED)
        return;
    uint32_t handle = resize_at(core, comp->resize)->deadline;
    resize_arm(core, comp->resize, pleat_heap_time(&core->deadlines, handle) - now_of(core));
}

/* A component that has ended may still name its site: it is not at the site any more. */
static bool is_led_from(struct pleat_core *core, uint32_t component, const struct pleat_node *node)
{
    const struct pleat_component *comp = component_at(core, component);
    return comp->site == node->site &&
           !pleat_component_state_is_final((enum pleat_component_state)comp->state) &&
           comp->lead_node == node->node;
}

static int check_site(const struct pleat_core *core, const struct pleat_event *event,
                      struct pleat_error *err)
{
    if (core->sites.items[event->component].instant)
        return pleat_error_set(err, PLEAT_E_INVALID, "site %u has no agent", event->component);
    return core->sites.items[event->component].gone ? PLEAT_CORE_STALE : 0;
}

int on_agent_away(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    int rc = check_site(core, event, err);
    if (rc)
        return rc;
    struct pleat_node *node = core_node_make(core, event->component, event->u.agent.node);
    if (!node)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    if (node->away)
        return PLEAT_CORE_STALE;
    node->away = 1;
    for (uint32_t c = 0; c < core->components.count; c++)
        if (is_led_from(core, c, node))
            stand_still(core, c);
    return 0;
}

/* ---- back ---- */

/* The START of the component was given to an agent that is gone. */
static void start_is_unknown(struct pleat_core *core, uint32_t component)
{
    component_at(core, component)->reason = PLEAT_REASON_START_UNKNOWN;
    set_state(core, component, PLEAT_FINISHING);
    job_end_others(core, component);
    component_give_back(core, component);
}

static void go_on(struct pleat_core *core, uint32_t component, bool other)
{
    struct pleat_component *comp = component_at(core, component);
    if (move_is_under_way(core, comp)) {
        if (other && !comp->untold) {
            component_kill(core, component, PLEAT_REASON_LOST);
            return;
        }
        comp->untold = 0;
    }
    if (comp->state == PLEAT_CLAIMING && comp->starting) {
        if (other && !comp->untold) {
            start_is_unknown(core, component);
            return;
        }
        comp->untold = 0;
        arm(core, &comp->deadline, DEADLINE_COMPONENT, component,
            now_of(core) + core->parameters[PLEAT_PARAM_START_US]);
    }
    if (comp->resize != PLEAT_NONE && resize_at(core, comp->resize)->left_us > 0)
        resize_arm(core, comp->resize, resize_at(core, comp->resize)->left_us);
    outstanding_effects(core, component);
}

/* A node that comes later with the number of this one is on another host. */
static void leave_guests(struct pleat_core *core, const struct pleat_node *home)
{
    for (size_t n = 0; n < core->nodes.count; n++)
        if (core->nodes.items[n].site == home->site && core->nodes.items[n].home == home->node + 1)
            core->nodes.items[n].home = 0;
}

/* Its claims are told apart (LOST), as is the end of what it ran (EXITED). The next agent of a node
 * with that number is of another node, and knows nothing of it. */
int on_node_gone(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    struct pleat_event away = *event;
    away.u.agent.node = event->u.node.node;
    away.u.agent.number = 0;
    int rc = on_agent_away(core, &away, err);
    const struct pleat_node *known =
        rc < 0 ? NULL : pleat_view_node(&core->view, event->component, event->u.node.node);
    if (!known || (rc && !known->agent && !known->lent))
        return rc;
    struct pleat_node *node = &core->nodes.items[known - core->view.nodes];
    node->agent = 0;
    node->architecture = 0;
    if (node->lent) {
        leave_guests(core, node);
        node->slots = node->claimed = node->lent = 0;
        node->more = 0;
        node->home = node->confined = 0;
    }
    return 0;
}

/* Has a component that is led from another node, whose agent is there, processes on this one? */
static bool is_told_of(const struct pleat_core *core, uint32_t component,
                       const struct pleat_node *home)
{
    const struct pleat_component *comp = &core->components.items[component];
    const struct pleat_node *lead =
        comp->site == home->site ? pleat_view_node(&core->view, comp->site, comp->lead_node) : NULL;
    return lead && !lead->away && pleat_view_share_on(&core->view, comp, home->node) > 0;
}

static bool has_guest(const struct pleat_core *core, const struct pleat_node *home)
{
    for (size_t n = 0; n < core->nodes.count; n++)
        if (core->nodes.items[n].site == home->site && core->nodes.items[n].home == home->node + 1)
            return true;
    return false;
}

/* Which CPUs a guest has is known when its agent is there, and can be told when that of its home
 * is: what waited for either is asked for again. (Runs led from a node that is back are asked for
 * anyway.) */
static void tell_home(struct pleat_core *core, const struct pleat_node *back)
{
    const struct pleat_node *home = back->home > 0
                                        ? pleat_view_node(&core->view, back->site, back->home - 1)
                                    : has_guest(core, back) ? back
                                                            : NULL;
    for (uint32_t c = 0; home && !home->away && c < core->components.count; c++)
        if (component_at(core, c)->resize != PLEAT_NONE &&
            ((home != back && is_led_from(core, c, home)) || is_told_of(core, c, home)))
            outstanding_effects(core, c);
}

int on_agent_back(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    int rc = check_site(core, event, err);
    if (!rc && event->u.agent.number == 0)
        rc = pleat_error_set(err, PLEAT_E_INVALID, "an agent has a number");
    if (rc)
        return rc;
    struct pleat_node *node = core_node_make(core, event->component, event->u.agent.node);
    if (!node)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    bool other = node->agent != 0 && node->agent != event->u.agent.number;
    node->agent = event->u.agent.number;
    node->away = 0;
    core->wants_pass = true;
    for (uint32_t c = 0; c < core->components.count; c++)
        if (is_led_from(core, c, node))
            go_on(core, c, other);
    processes_outstanding(core, event->component, event->u.agent.node);
    tell_home(core, node);
    return 0;
}
