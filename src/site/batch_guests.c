#include "site/batch_guests.h"

#include <stdio.h>
#include <string.h>

#include "site/batch_kind.h"
#include "wire/reply.h"

/* Whether processes that run there can use CPUs of other allocations of the host. */
static bool mixes(const struct pleat_batch_site *site, const struct pleat_batch_node *node)
{
    return site->host->node_mixes &&
           site->host->node_mixes(site->host->arg, site->index, node->number);
}

/* Its only node, if it is on one host, and is in use. */
static struct pleat_batch_node *only_node(const struct pleat_batch_allocation *one)
{
    return one->state == PLEAT_BATCH_HELD && one->nodes.count == 1 && !one->nodes.items[0].dead &&
                   one->nodes.items[0].host[0]
               ? &one->nodes.items[0]
               : NULL;
}

struct pleat_batch_allocation *pleat_batch_home(struct pleat_batch_site *site,
                                                const struct pleat_site_wish *wish)
{
    struct pleat_batch_allocation *one =
        wish->stays ? pleat_batch_of_node(site, wish->stays_on, NULL) : NULL;
    const struct pleat_batch_node *node = one ? only_node(one) : NULL;
    bool may = node && !one->is_guest && wish->job && one->owner == wish->job && mixes(site, node);
    return may ? one : NULL;
}

struct pleat_batch_allocation *pleat_batch_take_there(struct pleat_batch_site *site,
                                                      const struct pleat_batch_allocation *home,
                                                      const struct pleat_site_wish *wish)
{
    struct pleat_site_wish own = *wish;
    own.beside = 0; /* any of the host's processors will do */
    own.parts = NULL;
    own.part_count = 0;
    for (size_t i = 0; i < site->allocations.count; i++) {
        struct pleat_batch_allocation *one = site->allocations.items[i];
        const struct pleat_batch_node *node = only_node(one);
        bool there = node && one->owner == home->owner && !one->taken &&
                     !strcmp(node->host, home->nodes.items[0].host) &&
                     !pleat_batch_has_shut_node(site, one);
        if (there && pleat_batch_take(one, &own))
            return one;
    }
    return NULL;
}

void pleat_batch_be_guest(struct pleat_batch_allocation *one,
                          const struct pleat_batch_allocation *home)
{
    const struct pleat_batch_node *node = &home->nodes.items[0];
    one->is_guest = true;
    one->home = node->number;
    one->wish.on_one_node = true;
    snprintf(one->near, sizeof(one->near), "%s", node->host);
}

void pleat_batch_say_home(const struct pleat_batch_site *site,
                          const struct pleat_batch_allocation *one)
{
    const struct pleat_batch_node *node = only_node(one);
    if (!one->is_guest || !node)
        return;
    const struct pleat_event event = {.kind = PLEAT_EV_NODE_HOME,
                                      .component = site->index,
                                      .u.node_home = {.node = node->number, .home = one->home}};
    site->host->emit(site->host->arg, &event);
}

void pleat_batch_say_more(struct pleat_batch_site *site)
{
    for (size_t i = 0; i < site->allocations.count; i++) {
        struct pleat_batch_allocation *one = site->allocations.items[i];
        const struct pleat_batch_node *node = only_node(one);
        if (!node || one->is_guest || !one->wish.stays ||
            !pleat_batch_agent_is_there(site, node->number))
            continue;
        const bool confined = !mixes(site, node);
        const int64_t free = confined || one->taken ? 0 : pleat_batch_free_on(site, node->host);
        const int32_t more = free < PLEAT_BATCH_NODE_CPUS ? (int32_t)free : PLEAT_BATCH_NODE_CPUS;
        if (one->told_more == more + 1 && one->told_confined == confined)
            continue;
        one->told_more = more + 1;
        one->told_confined = confined;
        const struct pleat_event event = {.kind = PLEAT_EV_NODE_MORE,
                                          .flags = confined ? PLEAT_NODE_CONFINED : 0,
                                          .component = site->index,
                                          .u.node = {.node = node->number, .slots = more}};
        site->host->emit(site->host->arg, &event);
    }
}
