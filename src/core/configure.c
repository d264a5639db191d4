/* What the core is told about sites, policies and parameters. */
#include "core/buffer.h"
#include "core/claims.h"
#include "core/errors.h"
#include "core/handlers.h"
#include "core/node.h"
#include "core/outpost.h"
#include "core/policies.h"
#include "core/state.h"
#include "core/terms.h"

static const struct {
    const char *name;
    int64_t value;
} parameters[PLEAT_PARAM_COUNT] = {
#define PARAMETER(number, which, name, value) [PLEAT_PARAM_##which] = {name, value},
#include "model/parameters.def"
#undef PARAMETER
};

const char *pleat_parameter_name(uint32_t parameter)
{
    return parameter < PLEAT_PARAM_COUNT ? parameters[parameter].name : NULL;
}

uint32_t pleat_parameter_next(uint32_t parameter)
{
    while (++parameter < PLEAT_PARAM_COUNT)
        if (parameters[parameter].name)
            return parameter;
    return 0;
}

int64_t pleat_parameter_default(uint32_t parameter)
{
    return parameter < PLEAT_PARAM_COUNT ? parameters[parameter].value : 0;
}

int on_policy(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    uint32_t question = event->u.policy.question;
    const struct pleat_policy *policy =
        question < PLEAT_QUESTION_COUNT
            ? pleat_policy_get((enum pleat_question)question, event->u.policy.policy)
            : NULL;
    if (!policy)
        return pleat_error_set(err, PLEAT_E_NOTFOUND,
                               "no policy has the number %u for question %u: was the log written "
                               "by a newer Pleat?",
                               event->u.policy.policy, question);
    core->wants_pass = true;
    return core_set_policy(core, policy);
}

int pleat_core_try_policy(struct pleat_core *core, const struct pleat_policy *policy)
{
    core->wants_pass = true;
    return core_set_policy(core, policy);
}

int on_parameter(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    uint32_t which = event->u.parameter.which;
    int64_t value = event->u.parameter.value;
    if (!pleat_parameter_name(which) || value < 0 || value > INT64_MAX / 4 ||
        (which == PLEAT_PARAM_MPL_MAX && (value < 1 || value > UINT8_MAX)))
        return pleat_error_set(err, PLEAT_E_INVALID, "parameter %u cannot be %lld", which,
                               (long long)value);
    core->parameters[which] = value;
    core_sync_view(core);
    if (which == PLEAT_PARAM_DECIDE_US)
        core->pass_us = PLEAT_NEVER; /* set anew when this event has been applied */
    if (which == PLEAT_PARAM_SITE_ERRORS || which == PLEAT_PARAM_NODE_ERRORS)
        sites_judge(core);
    if (which == PLEAT_PARAM_LIFETIME_US || which == PLEAT_PARAM_LIFETIME_MAX_US)
        for (uint32_t c = 0; c < core->components.count; c++)
            young_refresh(core, c);
    if ((which >= PLEAT_PARAM_BUFFER_LEVEL && which <= PLEAT_PARAM_BUFFER_RANGE) ||
        which == PLEAT_PARAM_BUFFER_PENDING || which == PLEAT_PARAM_BUFFER_DERIVED)
        buffers_review(core);
    core->wants_pass = true;
    return 0;
}

/* A site takes the place of one that is gone. */
static void site_anew(struct pleat_site *site)
{
    site->gone = site->drained = 0;
    site->quiet_until_us = site->slowest_claim_us = site->failed_us = 0;
    site->failed_starts = 0;
}

/* What others use of a site. False: it is as it was. */
static bool take_background(struct pleat_site *site, const struct pleat_event *event)
{
    bool queues = event->flags & PLEAT_SITE_QUEUES;
    int32_t background = queues ? 0 : event->u.site.background;
    int32_t others = queues ? event->u.site.background : 0;
    if (site->background == background && site->others == others)
        return false;
    site->background = background;
    site->others = others;
    return true;
}

int on_site(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    if (event->component > core->sites.count || event->component >= PLEAT_SITES_MAX ||
        event->u.site.capacity < 0 || event->u.site.capacity > PLEAT_SIZE_MAX ||
        event->u.site.threshold < 0)
        return pleat_error_set(err, PLEAT_E_INVALID, "site %u with %d processors", event->component,
                               event->u.site.capacity);
    if (event->component == core->sites.count) {
        struct pleat_site fresh = {.malleable_first = PLEAT_NONE,
                                   .malleable_last = PLEAT_NONE,
                                   .rigid_first = PLEAT_NONE,
                                   .rigid_last = PLEAT_NONE,
                                   .ends_first = PLEAT_NONE,
                                   .ends_last = PLEAT_NONE,
                                   .buffers_first = PLEAT_NONE,
                                   .again = PLEAT_HEAP_NONE,
                                   .instant = (event->flags & PLEAT_SITE_INSTANT) != 0};
        uint32_t none = PLEAT_NONE;
        if (pleat_array_push(&core->ends_roots, none))
            return PLEAT_E_NOMEM;
        if (pleat_array_push(&core->sites, fresh)) {
            core->ends_roots.count--;
            return PLEAT_E_NOMEM;
        }
        core_sync_view(core);
    }
    struct pleat_site *site = site_at(core, event->component);
    if (site->gone)
        site_anew(site);
    site->capacity = event->u.site.capacity;
    site->threshold = event->u.site.threshold;
    site->whole = event->u.site.whole > site->capacity && event->u.site.whole <= PLEAT_SIZE_MAX
                      ? event->u.site.whole
                      : 0;
    if (event->u.site.node_most > 0)
        site->node_most = event->u.site.node_most;
    (void)take_background(site, event);
    site->several = 0; /* until NODE says otherwise */
    site->shut = 0;
    for (size_t n = 0; n < core->nodes.count; n++) {
        struct pleat_node *node = &core->nodes.items[n];
        if (node->site == event->component && !node->lent) {
            node->slots = node->claimed = node->background = 0;
            node_is_new(core, node);
        }
    }
    site_pardon(core, event->component);
    core->wants_pass = true;
    return 0;
}

int on_node(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    if (site_at(core, event->component)->gone)
        return PLEAT_CORE_STALE;
    if (event->u.node.slots < 1 || event->u.node.slots > PLEAT_SIZE_MAX)
        return pleat_error_set(err, PLEAT_E_INVALID, "node %u of site %u with %d processors",
                               event->u.node.node, event->component, event->u.node.slots);
    struct pleat_node *node = core_node_make(core, event->component, event->u.node.node);
    if (!node)
        return PLEAT_E_NOMEM;
    struct pleat_node to = *node;
    to.slots = event->u.node.slots;
    to.claimed = core_node_count(core, node);
    to.lent = (event->flags & PLEAT_NODE_LENT) != 0;
    core_node_set(core, node, to);
    if (!to.lent)
        site_at(core, event->component)->several = 1;
    core->wants_pass = true;
    return 0;
}

int on_background(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    if (event->u.site.background < 0)
        return pleat_error_set(err, PLEAT_E_INVALID, "site %u with %d processors in use",
                               event->component, event->u.site.background);
    struct pleat_site *site = site_at(core, event->component);
    if (site->gone || !take_background(site, event))
        return PLEAT_CORE_STALE;
    core->wants_pass = true;
    return 0;
}

/* The record of the node that the event names, of a site that has told its nodes' processors; NULL:
 * there is no such node, and err says so. */
static struct pleat_node *known_node(struct pleat_core *core, const struct pleat_event *event,
                                     uint32_t number, struct pleat_error *err)
{
    const struct pleat_node *node = pleat_view_node(&core->view, event->component, number);
    if (node && node->slots > 0)
        return &core->nodes.items[node - core->view.nodes];
    pleat_error_set(err, PLEAT_E_NOTFOUND, "site %u has no node %u", event->component, number);
    return NULL;
}

int on_node_background(struct pleat_core *core, const struct pleat_event *event,
                       struct pleat_error *err)
{
    int32_t background = event->u.node_load.background;
    struct pleat_node *node = known_node(core, event, event->u.node_load.node, err);
    if (!node)
        return PLEAT_E_NOTFOUND;
    if (background < 0)
        return pleat_error_set(err, PLEAT_E_INVALID, "node %u of site %u with %d processors in use",
                               node->node, event->component, background);
    if (node->background == background)
        return PLEAT_CORE_STALE;
    struct pleat_node to = *node;
    to.background = background;
    core_node_set(core, node, to);
    core->wants_pass = true;
    return 0;
}

int on_node_more(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    const struct pleat_node *known =
        pleat_view_node(&core->view, event->component, event->u.node.node);
    int32_t more = event->u.node.slots;
    uint32_t confined = (event->flags & PLEAT_NODE_CONFINED) != 0;
    if (more < 0 || more > PLEAT_SIZE_MAX)
        return pleat_error_set(err, PLEAT_E_INVALID, "node %u of site %u with %d processors more",
                               event->u.node.node, event->component, more);
    if (!known || !known->lent || (known->more == more && known->confined == confined))
        return PLEAT_CORE_STALE;
    struct pleat_node *node = &core->nodes.items[known - core->view.nodes];
    node->more = more;
    node->confined = confined;
    core->wants_pass = true;
    return 0;
}

int on_node_home(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    const uint32_t home = event->u.node_home.home, number = event->u.node_home.node;
    const struct pleat_node *known = pleat_view_node(&core->view, event->component, number);
    const struct pleat_node *of = pleat_view_node(&core->view, event->component, home);
    if (home == number)
        return pleat_error_set(err, PLEAT_E_INVALID, "node %u of site %u is its own home", number,
                               event->component);
    /* the home has no home itself, and is none of its guests' guests */
    if (!known || !known->lent || !of || !of->lent || of->home > 0 || known->home == home + 1)
        return PLEAT_CORE_STALE;
    core->nodes.items[known - core->view.nodes].home = home + 1;
    core->wants_pass = true;
    return 0;
}

int on_node_architecture(struct pleat_core *core, const struct pleat_event *event,
                         struct pleat_error *err)
{
    const uint32_t architecture = event->u.node_architecture.architecture;
    if (architecture >= PLEAT_ARCHITECTURES)
        return pleat_error_set(err, PLEAT_E_INVALID, "there is no architecture %u", architecture);
    if (site_at(core, event->component)->gone)
        return PLEAT_CORE_STALE;
    struct pleat_node *node =
        core_node_make(core, event->component, event->u.node_architecture.node);
    if (!node)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    if (node->architecture == architecture)
        return PLEAT_CORE_STALE;
    node->architecture = architecture;
    core->wants_pass = true;
    return 0;
}

static int set_drained(struct pleat_core *core, const struct pleat_event *event, bool drained,
                       struct pleat_error *err)
{
    struct pleat_node *node = known_node(core, event, event->u.node.node, err);
    if (!node)
        return PLEAT_E_NOTFOUND;
    if (node->drained == drained)
        return PLEAT_CORE_STALE;
    struct pleat_node to = *node;
    to.drained = drained;
    core_node_set(core, node, to);
    core->wants_pass = true;
    return 0;
}

/* A component that waits with processors of the site, or for some that others there give up, waits
 * for other sites from now on. What is placed there already goes on. */
static void leave_site(struct pleat_core *core, uint32_t site)
{
    for (uint32_t c = 0; c < core->components.count; c++) {
        const struct pleat_component *component = component_at(core, c);
        if (component->state != PLEAT_QUEUED || component->site != site)
            continue;
        coming_drop(core, c);
        earmarks_drop(core, c);
    }
}

int on_drain(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    (void)err;
    if (site_at(core, event->component)->drained)
        return PLEAT_CORE_STALE;
    site_at(core, event->component)->drained = 1;
    leave_site(core, event->component);
    core->wants_pass = true;
    return 0;
}

int on_resume(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    if (site_at(core, event->component)->gone)
        return pleat_error_set(err, PLEAT_E_STATE, "site %u is gone", event->component);
    if (!site_at(core, event->component)->drained)
        return PLEAT_CORE_STALE;
    site_at(core, event->component)->drained = 0;
    core->wants_pass = true;
    return 0;
}

/* A component that waits with processors of the node, or for some there, waits anew. */
static void leave_node(struct pleat_core *core, uint32_t site, uint32_t node)
{
    for (uint32_t c = 0; c < core->components.count; c++) {
        const struct pleat_component *component = component_at(core, c);
        if (component->state != PLEAT_QUEUED || component->site != site ||
            component->lead_node != node ||
            !pleat_view_is_on_one_node(&core->view, component, site))
            continue;
        coming_drop(core, c);
        earmarks_drop(core, c);
    }
}

int on_node_drain(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    int rc = set_drained(core, event, true, err);
    if (!rc)
        leave_node(core, event->component, event->u.node.node);
    return rc;
}

int on_node_resume(struct pleat_core *core, const struct pleat_event *event,
                   struct pleat_error *err)
{
    return set_drained(core, event, false, err);
}

/* Is a component at the site, or may it only be there? */
static bool needs_site(const struct pleat_component *component, uint32_t site)
{
    if (pleat_component_state_is_final((enum pleat_component_state)component->state))
        return false;
    return component->wanted_site == site ||
           (component->site == site && component->state != PLEAT_QUEUED);
}

int on_site_gone(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    struct pleat_site *site = site_at(core, event->component);
    if (site->gone)
        return PLEAT_CORE_STALE;
    bool needed = site->claimed > 0;
    for (uint32_t c = 0; !needed && c < core->components.count; c++)
        needed = needs_site(component_at(core, c), event->component);
    if (needed)
        return pleat_error_set(err, PLEAT_E_STATE, "site %u still has jobs", event->component);
    leave_site(core, event->component);
    for (uint32_t c = 0; c < core->components.count; c++) {
        struct pleat_component *component = component_at(core, c);
        if (component->promised_site != event->component)
            continue;
        component->promised_us = PLEAT_NEVER;
        component->promised_site = PLEAT_NONE;
    }
    core_nodes_drop(core, event->component);
    outposts_leave(core, event->component);
    site->gone = site->drained = 1;
    site->several = 0;
    site->node_most = 0;
    site->capacity = site->whole = site->threshold = site->background = site->others = 0;
    site_pardon(core, event->component);
    core->wants_pass = true;
    return 0;
}

int on_sizes(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    uint32_t list = event->u.sizes.list, count = event->u.sizes.count;
    if (list > core->size_lists.count || count > 10)
        return pleat_error_set(err, PLEAT_E_INVALID, "list %u of sizes", list);
    if (list == core->size_lists.count) {
        struct pleat_size_list fresh = {0};
        if (pleat_array_push(&core->size_lists, fresh))
            return PLEAT_E_NOMEM;
        core_sync_view(core);
    }
    struct pleat_size_list *sizes = &core->size_lists.items[list];
    for (uint32_t i = 0; i < count; i++) {
        int32_t before = i              ? event->u.sizes.values[i - 1]
                         : sizes->count ? sizes->items[sizes->count - 1]
                                        : 0;
        if (event->u.sizes.values[i] <= before)
            return pleat_error_set(err, PLEAT_E_INVALID, "a list of sizes must increase");
    }
    if (pleat_array_reserve(sizes, count))
        return PLEAT_E_NOMEM;
    for (uint32_t i = 0; i < count; i++)
        sizes->items[sizes->count++] = event->u.sizes.values[i];
    return 0;
}

/* The log has lost events, and with them numbers that were given out (claims, runs, resizes). New
 * numbers begin at the next multiple of 2^32, which the lost ones cannot have reached. */
int on_salvaged(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    (void)event;
    (void)err;
    core->next_id = ((core->next_id >> 32) + 1) << 32;
    return 0;
}
