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

static bool is_in_use(const struct pleat_batch_node *node)
{
    return !node->dead && !node->leaves && node->host[0];
}

/* Its only node, if it is on one host, and is in use. */
static struct pleat_batch_node *only_node(const struct pleat_batch_allocation *one)
{
    return one->state == PLEAT_BATCH_HELD && one->nodes.count == 1 &&
                   is_in_use(&one->nodes.items[0])
               ? &one->nodes.items[0]
               : NULL;
}

/* Whether processors of an allocation may be given to a job. */
static bool is_open_for(const struct pleat_batch_site *site,
                        const struct pleat_batch_allocation *one, uint64_t job)
{
    return one->owner == job && one->state == PLEAT_BATCH_HELD && !one->taken &&
           !pleat_batch_has_shut_node(site, one);
}

/* ---- of a job on one host ---- */

const struct pleat_batch_node *pleat_batch_home(struct pleat_batch_site *site,
                                                const struct pleat_site_wish *wish, bool *shut)
{
    const struct pleat_batch_allocation *one =
        wish->stays ? pleat_batch_of_node(site, wish->stays_on, NULL) : NULL;
    const struct pleat_batch_node *node = one ? only_node(one) : NULL;
    bool may = node && !one->is_guest && wish->job && one->owner == wish->job && mixes(site, node);
    *shut = may && !is_open_for(site, one, wish->job);
    return may ? node : NULL;
}

/* What its job gave back of one of its allocations that are on that host alone. */
static struct pleat_batch_allocation *take_on_host(struct pleat_batch_site *site,
                                                   const struct pleat_batch_node *home,
                                                   const struct pleat_site_wish *wish, bool fewer)
{
    struct pleat_site_wish own = *wish;
    own.beside = 0; /* any of the host's processors will do */
    own.parts = NULL;
    own.part_count = 0;
    for (size_t i = 0; i < site->allocations.count; i++) {
        struct pleat_batch_allocation *one = site->allocations.items[i];
        const struct pleat_batch_node *node = only_node(one);
        if (!node || !wish->job || !is_open_for(site, one, wish->job) ||
            strcmp(node->host, home->host) != 0)
            continue;
        if (fewer && node->book.free > 0 && node->book.free < wish->count)
            own.count = node->book.free;
        if (pleat_batch_take(one, &own))
            return one;
        own.count = wish->count;
    }
    return NULL;
}

struct pleat_batch_allocation *pleat_batch_take_there(struct pleat_batch_site *site,
                                                      const struct pleat_batch_node *home,
                                                      const struct pleat_site_wish *wish)
{
    return take_on_host(site, home, wish, false);
}

/* ---- of a job on several hosts ---- */

/* The node of a part where the job's processes are; NULL: it is not known, or nothing more of its
 * host may be used. */
static struct pleat_batch_node *home_of(struct pleat_batch_site *site,
                                        const struct pleat_site_part *part, uint64_t job)
{
    struct pleat_batch_node *node = NULL;
    const struct pleat_batch_allocation *one = pleat_batch_of_node(site, part->node, &node);
    bool may =
        job && one && node && !one->is_guest && is_open_for(site, one, job) && is_in_use(node);
    return may ? node : NULL;
}

/* Books what an allocation has of the parts of a wish: all, or as much as there is. */
static bool take_own(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                     const struct pleat_site_wish *wish)
{
    /* the job may have got what it has there from the one for which it was asked */
    const bool beside = one == pleat_batch_of_claim(site, wish->beside);
    bool some = false;
    if (!is_open_for(site, one, beside ? one->owner : wish->job))
        return false;
    for (size_t i = 0; i < wish->part_count; i++) {
        struct pleat_batch_node *node = NULL;
        struct pleat_site_part part = wish->parts[i];
        if (pleat_batch_of_node(site, part.node, &node) != one || !node || !is_in_use(node))
            continue;
        if (part.count > node->book.free)
            part.count = node->book.free;
        struct pleat_site_wish own = *wish;
        own.count = part.count;
        own.parts = &part;
        own.part_count = 1;
        some = (part.count > 0 && pleat_batch_take(one, &own)) || some;
    }
    return some;
}

struct pleat_batch_allocation *pleat_batch_take_some(struct pleat_batch_site *site,
                                                     const struct pleat_site_wish *wish)
{
    for (size_t i = 0; i < site->allocations.count; i++)
        if (take_own(site, site->allocations.items[i], wish))
            return site->allocations.items[i];
    for (size_t i = 0; i < wish->part_count; i++) {
        const struct pleat_batch_node *home = home_of(site, &wish->parts[i], wish->job);
        struct pleat_site_wish own = *wish;
        own.count = wish->parts[i].count;
        struct pleat_batch_allocation *one =
            home && mixes(site, home) ? take_on_host(site, home, &own, true) : NULL;
        if (one)
            return one;
    }
    return NULL;
}

const struct pleat_batch_node *pleat_batch_home_of_some(struct pleat_batch_site *site,
                                                        struct pleat_site_wish *wish)
{
    const struct pleat_batch_node *best = NULL;
    int64_t most = 0;
    for (size_t i = 0; i < wish->part_count; i++) {
        const struct pleat_batch_node *home = home_of(site, &wish->parts[i], wish->job);
        int64_t count = home && mixes(site, home) ? pleat_batch_free_on(site, home->host) : 0;
        if (count > wish->parts[i].count)
            count = wish->parts[i].count;
        if (count <= most)
            continue;
        most = count;
        best = home;
    }
    wish->count = (int32_t)most;
    wish->parts = NULL;
    wish->part_count = 0;
    return best;
}

/* ---- guests ---- */

void pleat_batch_be_guest(struct pleat_batch_allocation *one, const struct pleat_batch_node *home)
{
    one->is_guest = true;
    one->wish.on_one_node = true;
    snprintf(one->near, sizeof(one->near), "%s", home->host);
}

/* The node where the processes of a guest's job are, on its host. */
static const struct pleat_batch_node *home_on(const struct pleat_batch_site *site,
                                              const struct pleat_batch_allocation *guest,
                                              const char *host)
{
    for (size_t i = 0; i < site->allocations.count; i++) {
        const struct pleat_batch_allocation *one = site->allocations.items[i];
        if (one->is_guest || one->state != PLEAT_BATCH_HELD || one->owner != guest->owner)
            continue;
        for (size_t n = 0; n < one->nodes.count; n++)
            if (is_in_use(&one->nodes.items[n]) && !strcmp(one->nodes.items[n].host, host))
                return &one->nodes.items[n];
    }
    return NULL;
}

void pleat_batch_say_home(const struct pleat_batch_site *site,
                          const struct pleat_batch_allocation *one)
{
    const struct pleat_batch_node *node = only_node(one);
    const struct pleat_batch_node *home =
        one->is_guest && node ? home_on(site, one, node->host) : NULL;
    if (!home)
        return;
    const struct pleat_event event = {.kind = PLEAT_EV_NODE_HOME,
                                      .component = site->index,
                                      .u.node_home = {.node = node->number, .home = home->number}};
    site->host->emit(site->host->arg, &event);
}

static void say_more_of(const struct pleat_batch_site *site,
                        const struct pleat_batch_allocation *one, struct pleat_batch_node *node)
{
    if (!is_in_use(node) || !pleat_batch_agent_is_there(site, node->number))
        return;
    const bool confined = !mixes(site, node);
    const int64_t free = confined || one->taken ? 0 : pleat_batch_free_on(site, node->host);
    const int32_t more = free < PLEAT_BATCH_NODE_CPUS ? (int32_t)free : PLEAT_BATCH_NODE_CPUS;
    if (node->told_more == more + 1 && node->told_confined == confined)
        return;
    node->told_more = more + 1;
    node->told_confined = confined;
    const struct pleat_event event = {.kind = PLEAT_EV_NODE_MORE,
                                      .flags = confined ? PLEAT_NODE_CONFINED : 0,
                                      .component = site->index,
                                      .u.node = {.node = node->number, .slots = more}};
    site->host->emit(site->host->arg, &event);
}

void pleat_batch_say_more(struct pleat_batch_site *site)
{
    for (size_t i = 0; i < site->allocations.count; i++) {
        struct pleat_batch_allocation *one = site->allocations.items[i];
        if (one->state != PLEAT_BATCH_HELD || one->is_guest || !one->wish.stays)
            continue;
        for (size_t n = 0; n < one->nodes.count; n++)
            say_more_of(site, one, &one->nodes.items[n]);
    }
}
