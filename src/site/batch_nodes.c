/* What a batch system says of its nodes, for people. */
#include <string.h>

#include "site/batch_claims.h"
#include "site/batch_kind.h"
#include "wire/message.h"
#include "wire/reply.h"

bool pleat_batch_is_shut(const struct pleat_batch_site *site, const char *host)
{
    size_t i;
    const json_t *name;
    json_array_foreach(site->shut, i, name)
    {
        if (!strcmp(json_string_value(name), host))
            return true;
    }
    return false;
}

bool pleat_batch_has_shut_node(const struct pleat_batch_site *site,
                               const struct pleat_batch_allocation *one)
{
    for (size_t i = 0; i < one->nodes.count; i++)
        if (pleat_batch_is_shut(site, one->nodes.items[i].host))
            return true;
    return false;
}

/* Processors that an allocation has of a node: of claims, and those that they left. */
static int64_t held_of(const struct pleat_claimbook *book)
{
    int64_t held = book->free;
    for (size_t i = 0; i < book->claims.count; i++)
        held += book->claims.items[i].count;
    return held;
}

/* Processors of a host that are in allocations of this site. */
static int64_t own_on(const struct pleat_batch_site *site, const char *host)
{
    int64_t own = 0;
    for (size_t i = 0; i < site->allocations.count; i++) {
        const struct pleat_batch_node_list *nodes = &site->allocations.items[i]->nodes;
        for (size_t n = 0; n < nodes->count; n++)
            own += !strcmp(nodes->items[n].host, host) ? held_of(&nodes->items[n].book) : 0;
    }
    return own;
}

int64_t pleat_batch_others_on(const struct pleat_batch_site *site, const json_t *node)
{
    int64_t cpus = pleat_reply_small(node, "cpus", 0, PLEAT_BATCH_NODE_CPUS);
    int64_t all = pleat_reply_small(node, "used", 0, PLEAT_BATCH_NODE_CPUS);
    int64_t own = own_on(site, pleat_reply_text(node, "name", ""));
    all = all < cpus ? all : cpus;
    return all > own ? all - own : 0;
}

/* Whether a name is in a list "a,b". */
static bool is_listed(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",") == length && !strncmp(at, name, length))
            return true;
    return false;
}

bool pleat_batch_may_return(const struct pleat_batch_site *site, const json_t *node)
{
    const char *own = site->kind->kept ? site->kind->kept(site->options) : NULL;
    return !own || is_listed(pleat_reply_text(node, "reservations", ""), own);
}

void pleat_batch_note_reservation(const struct pleat_batch_site *site, json_t *node)
{
    const char *own = site->kind->kept ? site->kind->kept(site->options) : NULL;
    bool reserved = pleat_reply_is(node, "state", "reserved");
    bool open = pleat_reply_is(node, "state", "idle") || pleat_reply_is(node, "state", "used");
    if (!own || !(reserved || open))
        return;
    if (!is_listed(pleat_reply_text(node, "reservations", ""), own))
        json_object_set_new(node, "state", json_string("outside"));
    else if (reserved)
        json_object_set_new(
            node, "state",
            json_string(pleat_reply_small(node, "used", 0, PLEAT_BATCH_NODE_CPUS) > 0 ? "used"
                                                                                      : "idle"));
}

int64_t pleat_batch_kept_on(const struct pleat_batch_site *site, const json_t *node)
{
    int64_t cpus = pleat_reply_small(node, "cpus", 0, PLEAT_BATCH_NODE_CPUS);
    int64_t own = own_on(site, pleat_reply_text(node, "name", ""));
    if (!pleat_reply_is(node, "state", "reserved"))
        return pleat_batch_others_on(site, node);
    return cpus > own ? cpus - own : 0;
}

static bool is_open(const struct pleat_batch_site *site, const json_t *node)
{
    return !pleat_batch_is_shut(site, pleat_reply_text(node, "name", "")) &&
           (pleat_reply_is(node, "state", "idle") || pleat_reply_is(node, "state", "used"));
}

int64_t pleat_batch_free_on(const struct pleat_batch_site *site, const char *host)
{
    size_t i;
    const json_t *node;
    json_array_foreach(site->hosts, i, node)
    {
        if (!pleat_reply_is(node, "name", host) || !is_open(site, node))
            continue;
        int64_t cpus = pleat_reply_small(node, "cpus", 0, PLEAT_BATCH_NODE_CPUS);
        int64_t others = pleat_reply_small(node, "others", 0, PLEAT_BATCH_NODE_CPUS);
        int64_t free = cpus - own_on(site, host) - others;
        return free > 0 ? free : 0;
    }
    return 0;
}

/* Ours are known now, the others were counted when the batch system was asked. */
static json_t *node_to_json(const struct pleat_batch_site *site, const json_t *node)
{
    const char *name = pleat_reply_text(node, "name", "");
    const char *state = pleat_reply_text(node, "state", "");
    int64_t cpus = pleat_reply_small(node, "cpus", 0, PLEAT_BATCH_NODE_CPUS);
    int64_t others = pleat_batch_others_on(site, node);
    int64_t own = own_on(site, name);
    own = own < cpus ? own : cpus;
    bool shut = pleat_batch_is_shut(site, name);
    bool open = is_open(site, node);
    int64_t unused = open && cpus > own + others ? cpus - own - others : 0;
    return json_pack("{s:s, s:I, s:I, s:I, s:I, s:s, s:o}", "name", name, "processors",
                     (json_int_t)cpus, "used", (json_int_t)own, "background", (json_int_t)others,
                     "free", (json_int_t)unused, "state",
                     open                            ? "ok"
                     : shut && own > 0               ? "draining"
                     : shut && strcmp(state, "down") ? "drained"
                                                     : state,
                     "features", pleat_json_text(pleat_reply_text(node, "features", "")));
}

void pleat_batch_nodes(const struct pleat_site_instance *base, struct pleat_site_nodes *nodes)
{
    const struct pleat_batch_site *site = (const struct pleat_batch_site *)base;
    size_t i;
    const json_t *node;
    *nodes = (struct pleat_site_nodes){.at_us = site->hosts_us, .asked = site->asking_nodes};
    nodes->offer = pleat_batch_offer_json(site);
    if (!site->hosts)
        return;
    nodes->list = json_array();
    json_array_foreach(site->hosts, i, node)
    {
        json_array_append_new(nodes->list, node_to_json(site, node));
    }
}
