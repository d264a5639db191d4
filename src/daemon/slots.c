/* Which slots a job has, so that it can be bound to their CPUs. */
#include "daemon/slots.h"
#include "daemon/agent_link.h"
#include "daemon/daemon.h"
#include "policy/buffers.h"
#include "policy/shares.h"
#include "site/local_load.h"
#include "wire/message.h"

/* What confines jobs on nodes that come with claims is the batch system that gave them. */
bool slots_are_bound(struct daemon *d, uint32_t site)
{
    if (d->config.sites[site].brings_agents)
        return false;
    return d->config.sites[site].here.cpus ||
           pleat_core_view(d->core)->sites[site].capacity <= pleat_local_cpus();
}

bool slots_may_fold(struct daemon *d, uint32_t site)
{
    return d->config.sites[site].brings_agents || slots_are_bound(d, site);
}

const char *slots_cpus(struct daemon *d, uint32_t site, uint32_t node)
{
    const char *cpus = agent_cpus(d, site, node);
    return cpus || d->config.sites[site].here.nodes > 1 ? cpus : d->config.sites[site].here.cpus;
}

/* The slots still to be found. */
struct search {
    uint32_t missing; /* number of slots, on whichever node */
    uint32_t site;
    const struct pleat_component *component;
    struct node_slots_list *nodes;
};

static struct node_slots *node_at(struct node_slots_list *nodes, uint32_t node)
{
    const struct node_slots fresh = {.node = node};
    for (size_t i = 0; i < nodes->count; i++)
        if (nodes->items[i].node == node)
            return &nodes->items[i];
    return pleat_array_push(nodes, fresh) ? NULL : &nodes->items[nodes->count - 1];
}

/* Adds the CPUs of a node's slots to those of its home. */
static int add_guest(struct daemon *d, struct search *search, const struct pleat_piece *piece,
                     uint32_t count, uint32_t home)
{
    struct pleat_cpu_list cpus = {0};
    const char *text = agent_cpus(d, search->site, piece->node);
    struct node_slots *node = node_at(search->nodes, home);
    /* after a restart the home's agent may not have called yet: what it knows is not known then */
    bool there = text && agent_stands_on(d, search->site, home);
    int rc = !node ? PLEAT_E_NOMEM : there ? 0 : PLEAT_E_BUSY;
    if (!rc && (!agent_knows(d, search->site, home, PLEAT_FEATURE_GUESTS) ||
                pleat_cpu_list_parse(text, &cpus, NULL) || piece->first > cpus.count ||
                count > cpus.count - piece->first))
        rc = PLEAT_E_STATE;
    for (uint32_t i = 0; !rc && i < count; i++)
        rc = pleat_array_push(&node->more, cpus.items[piece->first + i]) ? PLEAT_E_NOMEM : 0;
    if (!rc)
        node->processors += (int32_t)count;
    pleat_array_finish(&cpus);
    return rc;
}

static int add_range(struct daemon *d, struct search *search, const struct pleat_piece *piece)
{
    uint32_t count = piece->count < search->missing ? piece->count : search->missing;
    search->missing -= count;
    if (count == 0)
        return 0;
    uint32_t home = pleat_view_share_home(pleat_core_view(d->core), search->component, piece->node);
    if (pleat_view_folds(search->component) && home != piece->node)
        return add_guest(d, search, piece, count, home);
    struct node_slots *node = node_at(search->nodes, piece->node);
    if (!node)
        return PLEAT_E_NOMEM;
    node->processors += (int32_t)count;
    if (node->ranges.count > 0) {
        struct pleat_slot_range *last = &node->ranges.items[node->ranges.count - 1];
        if (last->first + last->count == piece->first) {
            last->count += count;
            return 0;
        }
    }
    struct pleat_slot_range range = {piece->first, count};
    return pleat_array_push(&node->ranges, range);
}

static int add_claim(struct daemon *d, struct search *search, const struct pleat_claim *claim)
{
    int rc = 0;
    for (uint32_t p = claim->first_piece; !rc && p != PLEAT_NONE;
         p = pleat_core_piece(d->core, p)->next)
        rc = add_range(d, search, pleat_core_piece(d->core, p));
    return rc;
}

/* Where jobs share the site's time, each has all slots of its nodes. */
static int widen(struct daemon *d, uint32_t site, struct node_slots_list *nodes)
{
    const struct pleat_view *view = pleat_core_view(d->core);
    for (size_t i = 0; i < nodes->count; i++) {
        struct node_slots *one = &nodes->items[i];
        const struct pleat_node *node = pleat_view_node(view, site, one->node);
        struct pleat_slot_range all = {
            0, (uint32_t)(node && node->slots ? node->slots : view->sites[site].capacity)};
        one->ranges.count = 0;
        if (pleat_array_push(&one->ranges, all))
            return PLEAT_E_NOMEM;
    }
    return 0;
}

void slots_finish(struct node_slots_list *nodes)
{
    for (size_t i = 0; i < nodes->count; i++) {
        pleat_array_finish(&nodes->items[i].ranges);
        pleat_array_finish(&nodes->items[i].more);
    }
    pleat_array_finish(nodes);
}

/* Of a run that an earlier Pleat started, the core does not know that. */
int32_t slots_processes(struct daemon *d, const struct pleat_component *component, uint32_t node,
                        int32_t before, int32_t count)
{
    int32_t known = pleat_view_share_on(pleat_core_view(d->core), component, node);
    return known > 0 ? known
                     : pleat_run_share(component->processes, component->processors, before, count);
}

int slots_of(struct daemon *d, const struct pleat_component *component, int32_t processors,
             struct node_slots_list *nodes, struct pleat_error *err)
{
    if (component->site == PLEAT_NONE || processors < 1)
        return 0;
    int32_t elsewhere = pleat_view_elsewhere(pleat_core_view(d->core), component, false);
    struct search search = {(uint32_t)(processors - elsewhere), component->site, component, nodes};
    int rc = 0;
    for (uint32_t c = component->first_claim; !rc && c != PLEAT_NONE;
         c = pleat_core_claim(d->core, c)->next)
        if (pleat_core_claim(d->core, c)->site == component->site)
            rc = add_claim(d, &search, pleat_core_claim(d->core, c));
    /* the claim of a growth is the job's only when it has been applied; then, too, it comes last */
    if (!rc && component->resize != PLEAT_NONE) {
        uint32_t growth = pleat_core_resize(d->core, component->resize)->claim;
        if (growth != PLEAT_NONE)
            rc = add_claim(d, &search, pleat_core_claim(d->core, growth));
    }
    if (search.missing) /* the component has changed since: the request is not wanted any more */
        slots_finish(nodes);
    bool bound = pleat_view_folds(component) ? slots_may_fold(d, component->site)
                                             : slots_are_bound(d, component->site);
    for (size_t i = 0; !bound && i < nodes->count; i++)
        nodes->items[i].ranges.count = 0;
    if (!rc && bound && d->config.sites[component->site].shares_time)
        rc = widen(d, component->site, nodes);
    if (rc == PLEAT_E_BUSY)
        return pleat_error_set(
            err, rc,
            "the agent of its later allocation, or of the one whose host that is, has "
            "not called yet");
    if (rc == PLEAT_E_STATE)
        return pleat_error_set(err, rc,
                               "its processes cannot be told which CPUs its later allocation was "
                               "given: an agent was started before Pleat was upgraded");
    return rc ? pleat_error_set(err, PLEAT_E_NOMEM, "out of memory") : 0;
}
