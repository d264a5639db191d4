/* This machine, whose slots Pleat hands out itself: one node, or several, which then have as many
 * CPUs each. Processors that others keep busy are measured (local_load.c), and on which nodes.
 */
#include <string.h>

#include "base/cpus.h"
#include "site/claimbook.h"
#include "site/local.h"
#include "site/local_load.h"

struct local_site {
    struct pleat_site_instance base;
    const struct pleat_host *host;
    uint32_t index;
    int32_t threshold, background;
    int64_t claim_delay_us;
    struct pleat_claimbook book;
    struct pleat_local_load *load; /* NULL: the load of others is ignored */
    int32_t *parts; /* of each node, where there are several: what others use of it */
};

static void announce_site(struct local_site *site)
{
    struct pleat_event there = {.kind = PLEAT_EV_SITE,
                                .component = site->index,
                                .u.site = {.capacity = site->book.slots,
                                           .threshold = site->threshold,
                                           .background = site->background}};
    site->host->emit(site->host->arg, &there);
    pleat_claimbook_nodes(&site->book, site->index, site->host);
}

static void local_close(struct pleat_site_instance *base);

static int local_settle(struct pleat_site_options *options, struct pleat_error *err)
{
    const struct pleat_local_options *own = options->own;
    int32_t count = own ? pleat_local_options_cpus(own) : 0;
    if (count > 0 && options->processors != 0 && options->processors != count)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "processors = %d, but cpus = %.200s names %d: leave one of both out",
                               options->processors, own->cpus, count);
    if (count > 0)
        options->processors = count;
    return 0;
}

static void local_here(const void *own, struct pleat_site_here *here)
{
    const struct pleat_local_options *options = own;
    here->nodes = options && options->nodes > 1 ? (uint32_t)options->nodes : 1;
    here->over_tcp = options && options->agents == PLEAT_LOCAL_TCP;
    here->cpus = options && pleat_local_options_cpus(options) > 0 ? options->cpus : NULL;
}

static int local_open(const struct pleat_site_options *options, const struct pleat_host *host,
                      struct pleat_site_instance **out, struct pleat_error *err)
{
    int32_t cpus = pleat_local_cpus();
    int32_t slots = options->processors ? options->processors : cpus;
    if (slots < 1 || slots > 65536)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "site %s: %d processors; this machine has %d, and from 1 to 65536 "
                               "can be offered",
                               options->name, slots, cpus);
    static const struct pleat_local_options usual;
    const struct pleat_local_options *own = options->own ? options->own : &usual;
    int32_t nodes = own->nodes > 1 ? (int32_t)own->nodes : 1;
    if (nodes > slots)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "site %s: %d nodes, but only %d processors: each node has one at "
                               "least",
                               options->name, nodes, slots);
    struct local_site *site = calloc(1, sizeof(*site));
    int32_t *shares = calloc((size_t)nodes, sizeof(*shares));
    for (int32_t n = 0; shares && n < nodes; n++)
        shares[n] = (int32_t)pleat_share_of((size_t)slots, (uint32_t)n, (uint32_t)nodes);
    bool made = site && shares && !pleat_claimbook_init(&site->book, shares, (uint32_t)nodes);
    free(shares);
    if (!made) {
        free(site);
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    }
    site->base.ops = &pleat_site_local;
    site->host = host;
    site->index = options->index;
    site->threshold = options->threshold;
    site->claim_delay_us = own->claim_delay_us;
    /* if more slots are offered than there are CPUs, busy CPUs say nothing about slots */
    if (own->background == PLEAT_LOCAL_MEASURE ||
        (own->background == PLEAT_LOCAL_AUTO && slots <= cpus)) {
        int rc = pleat_local_load_create(own->root ? own->root : "", &site->load, err);
        if (rc) {
            pleat_claimbook_finish(&site->book);
            free(site);
            return rc;
        }
    }
    if (site->load && nodes > 1) {
        site->parts = calloc((size_t)nodes, sizeof(*site->parts));
        const char *list = pleat_local_options_cpus(own) > 0 ? own->cpus : NULL;
        if (!site->parts || pleat_local_load_divide(site->load, list, (uint32_t)nodes)) {
            local_close(&site->base);
            return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
        }
    }
    announce_site(site);
    *out = &site->base;
    return 0;
}

/* Tells on which nodes others are busy, where that has changed. */
static int tell_parts(struct local_site *site, struct pleat_error *err)
{
    uint32_t nodes = site->book.nodes;
    int32_t *parts = calloc(nodes, sizeof(*parts));
    if (!parts)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    pleat_local_load_parts(site->load, parts);
    for (uint32_t n = 0; n < nodes; n++) {
        struct pleat_event event = {.kind = PLEAT_EV_NODE_BACKGROUND,
                                    .component = site->index,
                                    .u.node_load = {.node = n, .background = parts[n]}};
        if (parts[n] != site->parts[n])
            site->host->emit(site->host->arg, &event);
        site->parts[n] = parts[n];
        pleat_claimbook_others(&site->book, n, parts[n]);
    }
    free(parts);
    return 0;
}

static int local_probe(struct pleat_site_instance *base, struct pleat_error *err)
{
    struct local_site *site = (struct local_site *)base;
    if (!site->load)
        return 0;
    int32_t background;
    int rc =
        pleat_local_load_sample(site->load, site->host->now_us(site->host->arg), &background, err);
    if (rc)
        return rc;
    struct pleat_event event = {.kind = PLEAT_EV_BACKGROUND,
                                .component = site->index,
                                .u.site = {.background = background}};
    if (background != site->background)
        site->host->emit(site->host->arg, &event);
    site->background = background;
    return site->parts ? tell_parts(site, err) : 0;
}

/* The artificial delay of a claim is over. Its slots were booked at once; it may have been given
 * back meanwhile. */
static void give(void *arg, uint64_t id)
{
    struct local_site *site = arg;
    struct pleat_booked *booked = pleat_claimbook_find(&site->book, id);
    if (booked)
        pleat_claimbook_announce(&site->book, booked, site->host);
}

static int local_claim(struct pleat_site_instance *base, const struct pleat_site_wish *wish,
                       struct pleat_error *err)
{
    struct local_site *site = (struct local_site *)base;
    struct pleat_booked *booked = pleat_claimbook_find(&site->book, wish->id);
    int rc = booked ? 0 : pleat_claimbook_take(&site->book, wish, &booked);
    if (rc == PLEAT_E_NOMEM)
        return pleat_error_set(err, rc, "out of memory");
    if (rc == 0) {
        if (site->claim_delay_us > 0)
            site->host->later(site->host->arg, site->claim_delay_us, give, site, wish->id);
        else
            pleat_claimbook_announce(&site->book, booked, site->host);
        return 0;
    }
    struct pleat_event failed = {.kind = PLEAT_EV_CLAIM_FAILED,
                                 .component = wish->index,
                                 .u.claim = {.claim = wish->id,
                                             .reason = pleat_claimbook_could(&site->book, wish)
                                                           ? PLEAT_REASON_CLAIM_REFUSED
                                                           : PLEAT_REASON_CLAIM_CANNOT}};
    site->host->emit(site->host->arg, &failed);
    return 0;
}

static int local_split(struct pleat_site_instance *base, uint64_t id, uint64_t into,
                       uint32_t into_index, int32_t count, struct pleat_error *err)
{
    struct local_site *site = (struct local_site *)base;
    int rc = pleat_claimbook_split(&site->book, id, into, into_index, count);
    return rc ? pleat_error_set(err, rc, "claim %llu cannot be split", (unsigned long long)id) : 0;
}

static int local_release(struct pleat_site_instance *base, uint64_t id, uint32_t index,
                         struct pleat_error *err)
{
    (void)err;
    struct local_site *site = (struct local_site *)base;
    pleat_claimbook_drop(&site->book, id);
    struct pleat_event released = {
        .kind = PLEAT_EV_RELEASED, .component = index, .u.claim = {.claim = id}};
    site->host->emit(site->host->arg, &released);
    return 0;
}

static int local_adopt(struct pleat_site_instance *base, const struct pleat_site_claim *claim,
                       struct pleat_error *err)
{
    struct local_site *site = (struct local_site *)base;
    int rc = pleat_claimbook_adopt(&site->book, claim);
    if (rc == PLEAT_E_NOMEM)
        return pleat_error_set(err, rc, "out of memory");
    if (rc) { /* the site has fewer processors than before the restart */
        struct pleat_event lost = {.kind = PLEAT_EV_LOST,
                                   .component = claim->index,
                                   .u.claim = {.claim = claim->id, .count = claim->count}};
        site->host->emit(site->host->arg, &lost);
    }
    return 0;
}

static void local_shut_node(struct pleat_site_instance *base, uint32_t node, bool shut)
{
    pleat_claimbook_shut(&((struct local_site *)base)->book, node, shut);
}

static void local_close(struct pleat_site_instance *base)
{
    struct local_site *site = (struct local_site *)base;
    if (!site)
        return;
    if (site->claim_delay_us > 0)
        site->host->drop(site->host->arg, site); /* claims whose delay is not over */
    pleat_local_load_destroy(site->load);
    pleat_claimbook_finish(&site->book);
    free(site->parts);
    free(site);
}

const struct pleat_site_ops pleat_site_local = {
    .name = "local",
    .capabilities = PLEAT_SITE_SPLITS | PLEAT_SITE_GROWS,
    .options = pleat_local_option_rows,
    .own_size = sizeof(struct pleat_local_options),
    .settle = local_settle,
    .here = local_here,
    .open = local_open,
    .probe = local_probe,
    .claim = local_claim,
    .split = local_split,
    .release = local_release,
    .adopt = local_adopt,
    .shut_node = local_shut_node,
    .close = local_close,
};
