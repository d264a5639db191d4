/* Is the resize that a policy or a user wants possible? If it is, it begins (resize.c). */
#include <stdio.h>
#include <string.h>

#include "core/asks.h"
#include "core/buffer.h"
#include "core/handlers.h"
#include "core/resize.h"
#include "core/state.h"
#include "core/tally.h"
#include "model/demand.h"
#include "policy/shares.h"

static bool size_is_accepted(const struct pleat_core *core, const struct pleat_component *component,
                             int32_t size, int32_t limit)
{
    struct pleat_sizes sizes = pleat_view_sizes(&core->view, component);
    if (pleat_view_folds(component))
        return size <= limit && size >= pleat_accept_smallest(&core->view, component);
    return size <= limit && size >= pleat_accept_smallest(&core->view, component) &&
           (size == 0 || pleat_sizes_floor(&sizes, size) == size);
}

/* Does the component wait for more processors, without which its application cannot go on? */
static bool asks_for_more(const struct pleat_core *core, const struct pleat_component *component)
{
    const struct pleat_ask *ask = pleat_view_ask(&core->view, component);
    return component->state == PLEAT_RUNNING && ask->state == PLEAT_ASK_PENDING && ask->more &&
           ask->mandatory;
}

/* May a component be shrunk for another: one that waits to be started, or one that runs and asks?
 */
static bool may_wait_for(const struct pleat_core *core, uint32_t component, uint32_t waiter)
{
    if (waiter >= core->components.count || waiter == component)
        return false;
    const struct pleat_component *waiting = &core->view.components[waiter];
    uint32_t site = core->view.components[component].site;
    /* processors of another node are of no use to it */
    if (waiting->site != PLEAT_NONE && pleat_view_keeps_to_a_node(&core->view, waiting, site) &&
        waiting->lead_node != core->view.components[component].lead_node)
        return false;
    if (waiting->state == PLEAT_QUEUED)
        return waiting->site == PLEAT_NONE || waiting->site == site;
    return asks_for_more(core, waiting) && waiting->site == site;
}

int on_resize(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    const struct pleat_component *component = component_at(core, event->component);
    int32_t to = event->u.resize.processors;
    uint32_t waiter = event->u.resize.waiter;
    bool ok = component->state == PLEAT_RUNNING && component->kind == PLEAT_MALLEABLE &&
              !pleat_view_is_young(&core->view, component) && to != component->processors &&
              to - component->processors == event->u.resize.accepted;
    if (ok && to > component->processors) {
        const struct pleat_site *site = site_at(core, component->site);
        bool fits =
            to - component->processors <= pleat_view_site_unused(site) - pleat_view_site_left(site);
        if (!fits && core->overtaken) { /* the next pass knows what is left */
            core->wants_pass = true;
            return PLEAT_CORE_STALE;
        }
        ok = fits && !site->drained &&
             size_is_accepted(core, component, to, pleat_accept_largest(&core->view, component));
    } else if (ok) {
        ok = size_is_accepted(core, component, to, component->processors);
    }
    if (ok && waiter != PLEAT_NONE)
        ok = to < component->processors && may_wait_for(core, event->component, waiter);
    if (!ok)
        return pleat_error_set(
            err, PLEAT_E_STATE, "job %llu (%s on %d processors) cannot be resized to %d",
            (unsigned long long)component->job, pleat_component_state_name(component->state),
            component->processors, to);
    resize_begin(core, event->component, to, event->u.resize.offered,
                 event->flags & PLEAT_MANDATORY, false, waiter);
    return 0;
}

/* Appends ", job 3 has 4"; or ", ..." where *left is 0, which says how many more may follow. */
static void add_holder(const struct pleat_component *holder, int32_t processors, int *left,
                       char *text, size_t size)
{
    size_t used = strlen(text);
    if (--*left < 0)
        snprintf(text + used, size - used, ", ...");
    else
        snprintf(text + used, size - used, ", job %llu has %d", (unsigned long long)holder->job,
                 processors);
}

/* The same for components of a list, with what they have at their site. */
static void add_holders(const struct pleat_core *core, uint32_t first, int *left, char *text,
                        size_t size)
{
    for (uint32_t c = first; c != PLEAT_NONE && *left >= 0; c = core->view.components[c].next) {
        const struct pleat_component *holder = &core->view.components[c];
        add_holder(holder, holder->processors - pleat_view_elsewhere(&core->view, holder, false),
                   left, text, size);
    }
}

/* The same for those of other sites that have processes at this one. */
static void add_guests(const struct pleat_core *core, uint32_t site, int *left, char *text,
                       size_t size)
{
    for (size_t o = 0; o < core->outposts.count && *left >= 0; o++) {
        const struct pleat_outpost *outpost = &core->outposts.items[o];
        if (outpost->buffer == PLEAT_NONE || outpost->site != site || outpost->taken == 0)
            continue;
        uint32_t component = core->buffers.items[outpost->buffer].component;
        add_holder(&core->components.items[component], outpost->taken, left, text, size);
    }
}

/* Could whoever runs on the component's node, or one of its nodes, not use processors of another
 * allocation there? */
static bool is_confined(const struct pleat_core *core, const struct pleat_component *component)
{
    for (size_t n = 0; n < core->nodes.count; n++) {
        const struct pleat_node *node = &core->nodes.items[n];
        if (node->site == component->site && node->confined &&
            (node->node == component->lead_node ||
             pleat_view_share_on(&core->view, component, node->node) > 0))
            return true;
    }
    return false;
}

/* The same for one whose processes stay where they are, if that is the reason; else 0. */
static int refuse_where_it_stays(const struct pleat_core *core,
                                 const struct pleat_component *component, int32_t wanted,
                                 int32_t unused, struct pleat_error *err)
{
    const struct pleat_site *site = &core->sites.items[component->site];
    const struct pleat_node *lent = pleat_view_lent_node(&core->view, component);
    const char *confined = pleat_view_folds(component) && is_confined(core, component)
                               ? " (the cluster confines each allocation to its own processors)"
                               : "";
    if (lent && pleat_view_own_capacity(&core->view, component) > lent->slots)
        return pleat_error_set(err, PLEAT_E_STATE,
                               "%d more processors: it stays on its node, where it can have %d "
                               "more now",
                               wanted, unused > 0 ? unused : 0);
    if (lent && pleat_view_node_unused(lent) == unused)
        return pleat_error_set(
            err, PLEAT_E_STATE,
            "%d more processors: it stays on one node, and grows only within its "
            "allocation there, which has %d, of which %d are unused%s",
            wanted, lent->slots, unused, confined);
    uint32_t nodes = pleat_view_share_nodes(&core->view, component);
    if (nodes > 0 && unused < pleat_view_site_unused(site) - pleat_view_site_left(site))
        return pleat_error_set(err, PLEAT_E_STATE,
                               "%d more processors: its processes stay on the node%s where they "
                               "were started (%u), and can use %d more there now%s",
                               wanted, nodes > 1 ? "s" : "", nodes, unused > 0 ? unused : 0,
                               confined);
    return 0;
}

/* A user asks for more processors than may be used for growing: the error says who has them. */
static int refuse_growth(const struct pleat_core *core, const struct pleat_component *component,
                         int32_t wanted, int32_t unused, struct pleat_error *err)
{
    const struct pleat_site *site = &core->sites.items[component->site];
    const struct pleat_node *node =
        pleat_view_is_on_one_node(&core->view, component, component->site)
            ? pleat_view_node(&core->view, component->site, component->lead_node)
            : NULL;
    int32_t of = node ? node->slots : site->capacity;
    char text[320] = "", on_node[48] = "";
    int left = 6;
    if (site->drained)
        return pleat_error_set(err, PLEAT_E_STATE,
                               "%d more processors: its site is drained, so nothing grows there "
                               "until it is resumed ('pleat site resume')",
                               wanted);
    if (refuse_where_it_stays(core, component, wanted, unused, err))
        return err->code;
    if (node && node->drained)
        return pleat_error_set(err, PLEAT_E_STATE,
                               "%d more processors: its node (%u) is drained, so nothing grows "
                               "there until it is resumed ('pleat site resume --node %u')",
                               wanted, node->node, node->node);
    if (node && node->barred)
        return pleat_error_set(err, PLEAT_E_STATE,
                               "%d more processors: its node (%u) has had too many errors and is "
                               "left alone, so nothing grows there (node_errors, site_again_s in "
                               "pleat.conf)",
                               wanted, node->node);
    if (node)
        snprintf(on_node, sizeof(on_node), " on its node (%u)", node->node);
    if (site->background + site->others > 0)
        snprintf(text, sizeof(text), ", %d are busy with what is not Pleat's",
                 site->background + site->others);
    if (site->threshold > 0)
        snprintf(text + strlen(text), sizeof(text) - strlen(text),
                 ", %d are never used for growing", site->threshold);
    add_holders(core, site->malleable_first, &left, text, sizeof(text));
    add_holders(core, site->rigid_first, &left, text, sizeof(text));
    add_guests(core, component->site, &left, text, sizeof(text));
    return pleat_error_set(err, PLEAT_E_STATE,
                           "%d more processors: %d of %d%s may be used for growing now%s", wanted,
                           unused > 0 ? unused : 0, of, on_node, text);
}

int on_demand(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    struct pleat_component *component = component_at(core, event->component);
    int32_t to = event->u.demand.processors;
    if (component->state == PLEAT_RESIZING)
        return pleat_error_set(err, PLEAT_E_BUSY,
                               "it is in a resize already (from %d to %d processors): try again "
                               "when that is over",
                               component->processors, component->target);
    if (component->state != PLEAT_RUNNING)
        return pleat_error_set(err, PLEAT_E_STATE, "it is %s, not running",
                               pleat_component_state_name(component->state));
    if (component->kind != PLEAT_MALLEABLE)
        return pleat_error_set(err, PLEAT_E_STATE, "it is %s: its size does not change",
                               pleat_kind_name(component->kind));
    int32_t most = pleat_view_folds(component) ? component->processes : component->maximum;
    if (pleat_view_folds(component) &&
        (to > most || pleat_mpl(most, to) > component->mpl || to < 1))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%d processors: it has %d processes, at most %u on one of them", to,
                               most, component->mpl);
    int32_t least = pleat_view_folds(component) ? pleat_accept_smallest(&core->view, component)
                                                : component->minimum;
    if (pleat_view_folds(component) && pleat_view_partition_most(&core->view, component) < most)
        most = pleat_view_partition_most(&core->view, component);
    if (to > most || to < least)
        return pleat_error_set(err, PLEAT_E_INVALID, "%d processors: its limits are %d to %d", to,
                               least, most);
    if (!size_is_accepted(core, component, to, most))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%d processors: the application does not accept that size", to);
    int32_t unused = pleat_view_unused(&core->view, component);
    if (to > component->processors && to - component->processors > unused)
        return refuse_growth(core, component, to - component->processors, unused, err);
    /* a shrink that a user wants caps the size until the user grows the component again */
    bool later = event->flags & PLEAT_CAP_AS_ACCEPTED && !(event->flags & PLEAT_MANDATORY) &&
                 component->flags & PLEAT_COMPONENT_ASKS;
    tally_out(core, event->component);
    component->cap = to < component->processors && !later ? to : PLEAT_SIZE_MAX;
    tally_in(core, event->component);
    ask_overruled(core, event->component);
    core->wants_pass = true;
    if (component->buffer != PLEAT_NONE)
        buffer_trim(core, event->component);
    if (to != component->processors)
        resize_begin(core, event->component, to, to - component->processors,
                     event->flags & PLEAT_MANDATORY, true, PLEAT_NONE);
    return 0;
}
