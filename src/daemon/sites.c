/* The sites of the configuration, and requests to them. */
#include <stdlib.h>

#include "daemon/daemon.h"
#include "daemon/sites.h"
#include "daemon/turn_inputs.h"
#include "policy/asks.h"
#include "policy/shares.h"

int sites_open_one(struct daemon *d, uint32_t index, struct pleat_error *err)
{
    const struct pleat_config_site *site = &d->config.sites[index];
    const struct pleat_site_options options = {.name = site->name,
                                               .index = index,
                                               .processors = site->processors,
                                               .threshold = site->threshold,
                                               .own = site->own,
                                               .instance = d->instance};
    int rc = site->ops->open(&options, &d->host, &d->sites[index], err);
    const struct pleat_view *view = pleat_core_view(d->core);
    for (uint32_t n = 0; !rc && n < view->node_count; n++)
        if (view->nodes[n].site == index && pleat_view_node_is_closed(&view->nodes[n]))
            sites_node_shut(d, index, view->nodes[n].node, true);
    if (!rc && site->shut)
        d->sites[index]->ops->shut_hosts(d->sites[index], site->shut);
    return rc;
}

void sites_node_shut(struct daemon *d, uint32_t site, uint32_t node, bool shut)
{
    struct pleat_site_instance *instance = d->sites[site];
    if (instance && instance->ops->shut_node)
        instance->ops->shut_node(instance, node, shut);
}

/* A site that is gone has no processors. One that was added has none before it is opened. */
static void tell_gone(struct daemon *d, uint32_t index)
{
    struct pleat_event event = {.kind = PLEAT_EV_SITE, .component = index};
    if (index < pleat_core_view(d->core)->site_count)
        return;
    turn_event(d, &event); /* the log has lost its end: the other sites must keep their indexes */
    event.kind = PLEAT_EV_SITE_GONE;
    turn_event(d, &event);
}

int sites_room(struct daemon *d, struct pleat_error *err)
{
    size_t before = d->site_room;
    size_t count = d->config.site_count > before ? d->config.site_count : before;
    struct pleat_site_instance **sites = realloc(d->sites, count * sizeof(*sites));
    if (sites)
        d->sites = sites;
    int64_t *polled_us = realloc(d->polled_us, count * sizeof(*polled_us));
    if (polled_us)
        d->polled_us = polled_us;
    if (!sites || !polled_us)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    for (size_t i = before; i < count; i++) {
        d->sites[i] = NULL;
        d->polled_us[i] = 0;
    }
    d->site_room = count;
    return 0;
}

int sites_open(struct daemon *d, struct pleat_error *err)
{
    int rc = sites_room(d, err);
    for (uint32_t i = 0; !rc && i < d->config.site_count; i++) {
        const struct pleat_config_site *site = &d->config.sites[i];
        const struct pleat_event change = {.kind = site->leaving ? PLEAT_EV_DRAIN : PLEAT_EV_RESUME,
                                           .component = i};
        if (site->gone) {
            tell_gone(d, i);
            continue;
        }
        rc = sites_open_one(d, i, err);
        if (!rc && (site->leaving || site->returns))
            turn_event(d, &change);
    }
    return rc;
}

void sites_close(struct daemon *d)
{
    for (size_t i = 0; i < d->site_room; i++)
        if (d->sites[i])
            d->sites[i]->ops->close(d->sites[i]);
    free(d->sites);
    free(d->polled_us);
    d->sites = NULL;
    d->polled_us = NULL;
    d->site_room = 0;
}

/* A batch system is asked only while a job waits that might get processors from it. This machine's
 * load is an average, so it is measured all the time. */
static bool is_polled(struct daemon *d, uint32_t site)
{
    const struct pleat_view *view = pleat_core_view(d->core);
    return d->config.sites[site].here.nodes > 0 || view->queue_count > 0 ||
           (site < view->site_count && view->sites[site].growers > 0);
}

/* Polls a site whose interval is over, or is in `early_us`. */
static void poll_if_due(struct daemon *d, uint32_t index, int64_t early_us)
{
    struct pleat_error err = {0};
    int64_t now_us = daemon_now_us(d);
    if (!d->sites[index] || (d->polled_us[index] && now_us - d->polled_us[index] <
                                                        d->config.sites[index].poll_us - early_us))
        return;
    d->polled_us[index] = now_us;
    if (d->sites[index]->ops->probe(d->sites[index], &err))
        daemon_log("site %s: %s", d->config.sites[index].name, err.text);
}

void sites_poll(struct daemon *d)
{
    enum { EARLY_US = 500000 }; /* this is called once in a second, more or less */
    for (uint32_t i = 0; i < d->config.site_count; i++)
        if (is_polled(d, i))
            poll_if_due(d, i, EARLY_US);
}

void sites_look(struct daemon *d, uint32_t index)
{
    poll_if_due(d, index, 0);
}

static int adopt(struct daemon *d, uint32_t index, struct pleat_error *err)
{
    const struct pleat_view *view = pleat_core_view(d->core);
    const struct pleat_claim *claim = pleat_core_claim(d->core, index);
    const struct pleat_component *component = &view->components[claim->component];
    struct pleat_site_claim known = {.id = claim->id,
                                     .index = index,
                                     .count = claim->count,
                                     .job = component->job,
                                     .stays = pleat_view_folds(component)};
    for (uint32_t p = claim->first_piece; p != PLEAT_NONE; p = pleat_core_piece(d->core, p)->next)
        known.piece_count++;
    struct pleat_piece *pieces = calloc(known.piece_count + 1, sizeof(*pieces));
    if (!pieces)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    if (known.piece_count > 0 && known.stays) {
        const uint32_t node = pleat_core_piece(d->core, claim->first_piece)->node;
        known.is_guest = pleat_view_share_home(view, component, node) != node;
    }
    uint32_t i = 0;
    for (uint32_t p = claim->first_piece; p != PLEAT_NONE; p = pleat_core_piece(d->core, p)->next)
        pieces[i++] = *pleat_core_piece(d->core, p);
    known.pieces = pieces;
    struct pleat_site_instance *site = d->sites[claim->site];
    int rc = site ? site->ops->adopt(site, &known, err) : 0;
    free(pieces);
    return rc;
}

int sites_adopt(struct daemon *d, struct pleat_error *err)
{
    for (uint32_t i = 0; i < pleat_core_claim_count(d->core); i++) {
        enum pleat_claim_state state = (enum pleat_claim_state)pleat_core_claim(d->core, i)->state;
        if (state != PLEAT_CLAIM_HELD && state != PLEAT_CLAIM_RELEASING)
            continue;
        int rc = adopt(d, i, err);
        if (rc)
            return rc;
    }
    return 0;
}

void sites_free_is_unknown(struct daemon *d)
{
    const struct pleat_view *view = pleat_core_view(d->core);
    for (uint32_t i = 0; i < view->node_count; i++) {
        const struct pleat_node *node = &view->nodes[i];
        if (node->more == 0)
            continue;
        struct pleat_event none = {.kind = PLEAT_EV_NODE_MORE,
                                   .flags = node->confined ? PLEAT_NODE_CONFINED : 0,
                                   .component = node->site,
                                   .u.node = {.node = node->node, .slots = 0}};
        turn_event(d, &none);
    }
}

/* The id of the claim with the job's last processors; 0: it has none. Those of a job that stops
 * processes itself may be gone before the site answers: then its first ones, which stay. */
static uint64_t last_claim(struct daemon *d, uint32_t component)
{
    const struct pleat_component *job = &pleat_core_view(d->core)->components[component];
    uint32_t claim = job->flags & PLEAT_COMPONENT_PREPARES ? job->first_claim : job->last_claim;
    return claim == PLEAT_NONE ? 0 : pleat_core_claim(d->core, claim)->id;
}

/* Whether the processors are to be others than those that the component has, which end soon. */
static bool is_anew(struct daemon *d, const struct pleat_effect *effect)
{
    uint32_t resize = pleat_core_view(d->core)->components[effect->component].resize;
    return effect->u.claim.purpose == PLEAT_FOR_GROWTH && resize != PLEAT_NONE &&
           pleat_resize_is_by_site(pleat_core_resize(d->core, resize));
}

/* Nodes that come with claims are not known to the core before. */
static bool is_on_one_node(struct daemon *d, const struct pleat_component *component, uint32_t site,
                           enum pleat_purpose purpose)
{
    if (d->config.sites[site].brings_agents)
        return !(component->flags & PLEAT_COMPONENT_SPREADS) &&
               !(purpose == PLEAT_FOR_BUFFER && pleat_view_roams(component));
    return pleat_view_asks_on_one_node(pleat_core_view(d->core), component, site, purpose);
}

/* How many processors programs that cannot go on wait for on each node whose slots pleatd hands out
 * itself. To be freed. NULL: none, as most often. */
static int32_t *wanted_on_nodes(struct daemon *d, const struct pleat_effect *effect)
{
    const struct pleat_view *view = pleat_core_view(d->core);
    const uint32_t site = effect->u.claim.site;
    const uint32_t nodes = d->config.sites[site].here.nodes;
    if (view->ask_count == 0 || !view->sites[site].several || d->config.sites[site].brings_agents)
        return NULL;
    int32_t *wanted = calloc(nodes, sizeof(*wanted));
    for (uint32_t n = 0; wanted && n < nodes; n++)
        wanted[n] = pleat_view_wanted_on(view, site, n, effect->component);
    return wanted;
}

/* How many processors of its site were asked for before that claim, on nodes of an architecture,
 * and are not given yet. */
static int32_t asked_before(struct daemon *d, const struct pleat_claim *claim)
{
    int32_t sum = 0;
    for (uint32_t i = 0; i < pleat_core_claim_count(d->core); i++) {
        const struct pleat_claim *other = pleat_core_claim(d->core, i);
        sum += other->state == PLEAT_CLAIM_REQUESTED && other->purpose == PLEAT_FOR_BUFFER &&
               other->site == claim->site && other->architecture == claim->architecture &&
               other->id < claim->id;
    }
    return sum;
}

/* The node for a process of an architecture: that from which its job is led, if it suits and has a
 * free processor, else the first other one. Where none has one, the first that suits: then its site
 * refuses, for now. One of unknown architecture may have that of the job's program. PLEAT_NONE:
 * none suits. */
static uint32_t node_for(struct daemon *d, const struct pleat_component *component,
                         const struct pleat_claim *claim)
{
    const struct pleat_view *view = pleat_core_view(d->core);
    bool own = view->buffers[component->buffer].architecture == claim->architecture;
    int32_t before = asked_before(d, claim);
    uint32_t any = PLEAT_NONE;
    for (int round = 0; round < 2; round++)
        for (uint32_t n = 0; n < view->node_count; n++) {
            const struct pleat_node *node = &view->nodes[n];
            bool suits =
                node->architecture == claim->architecture || (own && node->architecture == 0);
            if (node->site != claim->site || node->slots == 0 || !suits ||
                (node->site == component->site && node->node == component->lead_node) !=
                    (round == 0))
                continue;
            any = any == PLEAT_NONE ? node->node : any;
            int32_t unused = pleat_view_node_unused(node);
            if (unused > before)
                return node->node;
            before -= unused > 0 ? unused : 0;
        }
    return any;
}

/* The node on which a prepared process has to be, as the only part of a wish; as parts_of. */
static struct pleat_site_part *part_for_process(struct daemon *d, const struct pleat_effect *effect,
                                                size_t *count, struct pleat_error *err)
{
    const struct pleat_claim *claim = pleat_core_claim(d->core, effect->u.claim.index);
    const struct pleat_view *view = pleat_core_view(d->core);
    const struct pleat_component *component = &view->components[effect->component];
    if (claim->id != effect->id || claim->state != PLEAT_CLAIM_REQUESTED ||
        claim->architecture == 0 || component->buffer == PLEAT_NONE ||
        !view->sites[claim->site].several)
        return NULL; /* any, or nobody can say before it is there */
    uint32_t node = node_for(d, component, claim);
    struct pleat_site_part *part = node == PLEAT_NONE ? NULL : calloc(1, sizeof(*part));
    if (node == PLEAT_NONE)
        return NULL;
    if (!part) {
        pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
        return NULL;
    }
    *part = (struct pleat_site_part){.node = node, .count = 1};
    *count = 1;
    return part;
}

/* How many processors of a growth are to be on which nodes, if its run's processes stay there. To
 * be freed. NULL, and *count is 0: the site chooses. */
static struct pleat_site_part *parts_of(struct daemon *d, const struct pleat_effect *effect,
                                        size_t *count, struct pleat_error *err)
{
    const struct pleat_view *view = pleat_core_view(d->core);
    const struct pleat_component *component = &view->components[effect->component];
    struct pleat_share_list shares = {0};
    *count = 0;
    if (effect->u.claim.purpose == PLEAT_FOR_BUFFER)
        return part_for_process(d, effect, count, err);
    if (effect->u.claim.purpose != PLEAT_FOR_GROWTH || pleat_view_share_nodes(view, component) == 0)
        return NULL;
    int rc = pleat_shares_of(view, component, &shares);
    struct pleat_site_part *parts = calloc(shares.count + 1, sizeof(*parts));
    int32_t *room = calloc(shares.count + 1, sizeof(*room));
    for (size_t i = 0; !rc && room && i < shares.count; i++) {
        const struct pleat_node *node =
            pleat_view_node(view, component->site, shares.items[i].node);
        room[i] = node && node->slots
                      ? pleat_view_node_unused(node) + pleat_view_beside(view, node, false)
                      : PLEAT_SIZE_MAX;
    }
    if (rc || !parts || !room) {
        pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
        free(parts);
        parts = NULL;
    } else {
        (void)pleat_shares_grow(&shares, room, effect->u.claim.count);
        for (size_t i = 0; i < shares.count; i++)
            if (shares.items[i].to > shares.items[i].processors)
                parts[(*count)++] = (struct pleat_site_part){
                    shares.items[i].node, shares.items[i].to - shares.items[i].processors};
    }
    free(room);
    pleat_array_finish(&shares);
    return parts;
}

static int claim(struct daemon *d, struct pleat_site_instance *site,
                 const struct pleat_effect *effect, struct pleat_error *err)
{
    size_t part_count = 0;
    struct pleat_error no_memory = {0};
    struct pleat_site_part *parts = parts_of(d, effect, &part_count, &no_memory);
    if (no_memory.code) {
        *err = no_memory;
        return no_memory.code;
    }
    int32_t *wanted = wanted_on_nodes(d, effect);
    const struct pleat_view *view = pleat_core_view(d->core);
    const struct pleat_component *component = &view->components[effect->component];
    const bool stays = pleat_view_folds(component) && pleat_view_share_nodes(view, component) < 2;
    const enum pleat_purpose purpose = (enum pleat_purpose)effect->u.claim.purpose;
    const struct pleat_site_wish wish = {
        .id = effect->id,
        .index = effect->u.claim.index,
        .count = effect->u.claim.count,
        .purpose = purpose,
        .job = component->job,
        .beside = component->site == effect->u.claim.site ? last_claim(d, effect->component) : 0,
        .on_one_node = is_on_one_node(d, component, effect->u.claim.site, purpose),
        .stays = stays,
        .stays_on = component->lead_node,
        .anew = is_anew(d, effect),
        .wanted = wanted,
        .parts = parts,
        .part_count = part_count};
    int rc = site->ops->claim(site, &wish, err);
    free(wanted);
    free(parts);
    return rc;
}

/* Answers for a site of an older Pleat that is not known any more: it has no processors. */
static void answer_for_nobody(struct daemon *d, const struct pleat_effect *effect)
{
    struct pleat_event event = {
        .kind = effect->kind == PLEAT_DO_CLAIM ? PLEAT_EV_CLAIM_FAILED : PLEAT_EV_RELEASED,
        .component = effect->u.claim.index,
        .u.claim = {.claim = effect->id, .reason = PLEAT_REASON_CLAIM_FAILED}};
    if (effect->kind == PLEAT_DO_RELEASE)
        event.u.claim.reason = PLEAT_REASON_NONE;
    if (effect->kind != PLEAT_DO_SPLIT)
        turn_event(d, &event);
}

void sites_carry_out(struct daemon *d, const struct pleat_effect *effect)
{
    if (!d->sites[effect->u.claim.site]) {
        answer_for_nobody(d, effect);
        return;
    }
    struct pleat_error err = {0};
    struct pleat_site_instance *site = d->sites[effect->u.claim.site];
    uint32_t index = effect->u.claim.index;
    int rc;
    if (effect->kind == PLEAT_DO_CLAIM)
        rc = claim(d, site, effect, &err);
    else if (effect->kind == PLEAT_DO_SPLIT)
        rc = site->ops->split(site, effect->id, effect->u.claim.into, index, effect->u.claim.count,
                              &err);
    else
        rc = site->ops->release(site, effect->id, index, &err);
    if (!rc)
        return;
    daemon_log("site %s: %s", d->config.sites[effect->u.claim.site].name, err.text);
    if (effect->kind == PLEAT_DO_CLAIM) {
        struct pleat_event failed = {
            .kind = PLEAT_EV_CLAIM_FAILED,
            .component = index,
            .u.claim = {.claim = effect->id, .reason = PLEAT_REASON_CLAIM_FAILED}};
        turn_event(d, &failed);
    }
}
