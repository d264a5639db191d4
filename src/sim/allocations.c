/* Allocations of simulated batch systems: which claims have them, on which nodes, and when they
 * end. */
#include <stdlib.h>

#include "policy/nodes.h"
#include "policy/shares.h"
#include "sim/internal.h"

struct claim_timer *allocation_record(struct sim *sim, uint32_t claim)
{
    while (sim->claims.count <= claim) {
        struct claim_timer fresh = {.timer = PLEAT_HEAP_NONE, .allocation = PLEAT_NONE};
        if (pleat_array_push(&sim->claims, fresh))
            return NULL;
    }
    return &sim->claims.items[claim];
}

struct allocation *allocation_of(struct sim *sim, uint32_t site, uint32_t claim)
{
    uint32_t index = claim < sim->claims.count ? sim->claims.items[claim].allocation : PLEAT_NONE;
    return index == PLEAT_NONE ? NULL : &sim->sites[site].batch.allocations.items[index];
}

struct allocation *allocation_new(struct sim *sim, uint32_t site, uint32_t *index)
{
    struct allocations *all = &sim->sites[site].batch.allocations;
    for (*index = 0; *index < all->count; ++*index)
        if (all->items[*index].claims == 0)
            return &all->items[*index];
    struct allocation fresh = {.host = PLEAT_NONE};
    return pleat_array_push(all, fresh) ? NULL : &all->items[*index];
}

void allocation_leave_queue(struct site *site, uint32_t allocation)
{
    struct queue *queue = &site->batch.queue;
    site->batch.changed = true;
    for (size_t i = 0; i < queue->waiting.count; i++)
        if (queue->waiting.items[i].owner == allocation) {
            queue_drop(queue, i);
            return;
        }
    for (size_t i = 0; i < queue->running.count; i++)
        if (queue->running.items[i].owner == allocation) {
            queue_end(queue, i);
            return;
        }
}

/* The processors of a claim on nodes of its allocation are unused again. */
static void leave_nodes(struct sim *sim, uint32_t site, uint32_t claim, uint32_t allocation)
{
    struct lent_nodes *nodes = &sim->sites[site].batch.nodes;
    const struct pleat_piece *piece;
    for (uint32_t p = pleat_core_claim(sim->core, claim)->first_piece; p != PLEAT_NONE;
         p = piece->next) {
        piece = &sim->view->pieces[p];
        if (piece->node < nodes->count && nodes->items[piece->node].allocation == allocation)
            nodes->items[piece->node].unused += (int32_t)piece->count;
    }
}

static void free_nodes(struct site *site, uint32_t allocation)
{
    for (size_t n = 0; n < site->batch.nodes.count; n++) {
        struct lent_node *node = &site->batch.nodes.items[n];
        if (node->allocation != allocation)
            continue;
        node->allocation = PLEAT_NONE;
        node->leaves = node->home != PLEAT_NONE;
    }
}

void allocation_give_back(struct sim *sim, uint32_t site, uint32_t claim, int32_t count)
{
    struct allocation *one = allocation_of(sim, site, claim);
    if (!one)
        return;
    uint32_t index = sim->claims.items[claim].allocation;
    leave_nodes(sim, site, claim, index);
    sim->claims.items[claim].allocation = PLEAT_NONE;
    one->spare += count;
    if (--one->claims > 0)
        return;
    free_nodes(&sim->sites[site], index);
    allocation_leave_queue(&sim->sites[site], index);
}

void allocation_withdraw(struct sim *sim, uint32_t site, uint32_t claim)
{
    const struct allocation *one = allocation_of(sim, site, claim);
    if (one && !one->held)
        allocation_give_back(sim, site, claim, 0);
}

bool allocation_holds(const struct sim *sim, uint32_t claim)
{
    const struct pleat_claim *c = pleat_core_claim(sim->core, claim);
    uint32_t index = claim < sim->claims.count ? sim->claims.items[claim].allocation : PLEAT_NONE;
    return index != PLEAT_NONE && sim->sites[c->site].batch.allocations.items[index].held;
}

/* ---- in what a job has already ---- */

/* Does a claim go to nodes where its owner has processes already, and to no others? */
static bool keeps_to_nodes(const struct sim *sim, const struct pleat_claim *wanted)
{
    return wanted->purpose == PLEAT_FOR_GROWTH &&
           pleat_view_share_nodes(sim->view, &sim->view->components[wanted->component]) > 0;
}

/* Or to the one node on which all of it is? */
static bool keeps_to_a_node(const struct sim *sim, const struct pleat_claim *wanted)
{
    const struct pleat_component *owner = &sim->view->components[wanted->component];
    return wanted->purpose == PLEAT_FOR_GROWTH && pleat_view_folds(owner) &&
           pleat_view_lent_node(sim->view, owner);
}

/* The node of an allocation that is the host of another one, or is that; PLEAT_NONE. */
static uint32_t node_there(const struct sim *sim, uint32_t site, uint32_t allocation, uint32_t host)
{
    const struct lent_nodes *nodes = &sim->sites[site].batch.nodes;
    for (uint32_t n = 0; n < nodes->count; n++)
        if (nodes->items[n].allocation == allocation && (n == host || nodes->items[n].home == host))
            return n;
    return PLEAT_NONE;
}

/* Shares out `count` more processors among those nodes of a run that are an allocation's. *fit:
 * for how many there is room. */
static int share_out(struct sim *sim, const struct pleat_claim *wanted, uint32_t allocation,
                     int32_t count, struct pleat_share_list *shares, int32_t *fit)
{
    const struct lent_nodes *nodes = &sim->sites[wanted->site].batch.nodes;
    shares->count = 0;
    if (pleat_shares_of(sim->view, &sim->view->components[wanted->component], shares))
        return PLEAT_E_NOMEM;
    int32_t *room = calloc(shares->count + 1, sizeof(*room));
    if (!room)
        return PLEAT_E_NOMEM;
    for (size_t i = 0; i < shares->count; i++) {
        const uint32_t node = node_there(sim, wanted->site, allocation, shares->items[i].node);
        room[i] = node != PLEAT_NONE ? nodes->items[node].unused : 0;
    }
    *fit = pleat_shares_grow(shares, room, count);
    free(room);
    return 0;
}

/* How many processors a claim can have in an allocation of its owner. */
static int fit_in(struct sim *sim, const struct pleat_claim *wanted, uint32_t allocation,
                  int32_t *fit)
{
    const struct allocation *one = &sim->sites[wanted->site].batch.allocations.items[allocation];
    struct pleat_share_list shares = {0};
    *fit = 0;
    if (!one->held)
        return 0;
    if (!keeps_to_nodes(sim, wanted)) {
        *fit = one->spare >= wanted->count ? wanted->count : 0;
        return 0;
    }
    int rc = share_out(sim, wanted, allocation,
                       wanted->count < one->spare ? wanted->count : one->spare, &shares, fit);
    pleat_array_finish(&shares);
    return rc;
}

int allocation_beside(struct sim *sim, uint32_t site, const struct pleat_claim *wanted,
                      uint32_t *allocation, int32_t *count)
{
    const struct pleat_component *owner = &sim->view->components[wanted->component];
    *allocation = PLEAT_NONE;
    *count = keeps_to_nodes(sim, wanted) || keeps_to_a_node(sim, wanted) ? 0 : wanted->count;
    for (uint32_t c = owner->first_claim; c != PLEAT_NONE;
         c = pleat_core_claim(sim->core, c)->next) {
        int32_t fit = 0;
        if (!allocation_of(sim, site, c))
            continue;
        if (fit_in(sim, wanted, sim->claims.items[c].allocation, &fit))
            return PLEAT_E_NOMEM;
        if (fit == 0 || (*allocation != PLEAT_NONE && fit <= *count))
            continue;
        *allocation = sim->claims.items[c].allocation;
        *count = fit;
    }
    return 0;
}

int allocation_split(struct sim *sim, uint64_t from, uint32_t into, uint64_t into_id, uint32_t site)
{
    if (sim->sites[site].spec->queue == PLEAT_QUEUE_NONE)
        return 0;
    struct claim_timer *record = allocation_record(sim, into);
    if (!record)
        return nomem(sim);
    record->claim = into_id;
    for (uint32_t c = 0; c < sim->claims.count; c++) {
        const struct pleat_claim *old = pleat_core_claim(sim->core, c);
        struct allocation *one = old->id == from ? allocation_of(sim, site, c) : NULL;
        if (!one)
            continue;
        record->allocation = sim->claims.items[c].allocation;
        one->claims++;
        return 0;
    }
    return 0;
}

/* ---- nodes ---- */

/* How many processors of a node's host no allocation of Pleat's has. Others may have them. */
static int32_t rest_of(const struct sim *sim, uint32_t site, uint32_t number)
{
    const struct lent_nodes *nodes = &sim->sites[site].batch.nodes;
    int32_t rest = sim->sites[site].spec->slots - nodes->items[number].slots;
    for (uint32_t n = 0; rest > 0 && n < nodes->count; n++)
        if (nodes->items[n].allocation != PLEAT_NONE && nodes->items[n].home == number)
            rest -= nodes->items[n].slots;
    return rest > 0 ? rest : 0;
}

/* Tells how many more processors could be got on a node's host, if that is news. Whether the queue
 * gives them is seen when they are asked for. */
static int tell_more(struct sim *sim, uint32_t site, uint32_t number)
{
    struct lent_node *node = &sim->sites[site].batch.nodes.items[number];
    const struct pleat_event more = {
        .time_us = sim->now_us,
        .kind = PLEAT_EV_NODE_MORE,
        .component = site,
        .u.node = {.node = number, .slots = rest_of(sim, site, number)}};
    if (node->allocation == PLEAT_NONE || node->more == more.u.node.slots)
        return 0;
    node->more = more.u.node.slots;
    return input(sim, &more);
}

/* May a node of a new allocation get that number? Not while another one is the same host. */
static bool is_free(const struct lent_nodes *nodes, uint32_t number)
{
    bool free = nodes->items[number].allocation == PLEAT_NONE && !nodes->items[number].leaves;
    for (size_t n = 0; free && n < nodes->count; n++)
        free = nodes->items[n].home != number ||
               (nodes->items[n].allocation == PLEAT_NONE && !nodes->items[n].leaves);
    return free;
}

/* A later node of a host has come, or one with the number of such a node that has gone. */
static int tell_later(struct sim *sim, uint32_t site, uint32_t number, uint32_t home, bool gone)
{
    const struct pleat_event back = {.time_us = sim->now_us,
                                     .kind = PLEAT_EV_AGENT_BACK,
                                     .component = site,
                                     .u.agent = {.node = number, .number = 1}};
    const struct pleat_event same = {.time_us = sim->now_us,
                                     .kind = PLEAT_EV_NODE_HOME,
                                     .component = site,
                                     .u.node_home = {.node = number, .home = home}};
    int rc = gone ? input(sim, &back) : 0;
    return rc || home == PLEAT_NONE ? rc : input(sim, &same);
}

static int tell_node(struct sim *sim, uint32_t site, uint32_t allocation, int32_t slots)
{
    struct lent_nodes *nodes = &sim->sites[site].batch.nodes;
    const uint32_t home = sim->sites[site].batch.allocations.items[allocation].host;
    const struct lent_node fresh = {
        .allocation = allocation, .slots = slots, .unused = slots, .home = home};
    uint32_t number = 0;
    while (number < nodes->count && !is_free(nodes, number))
        number++;
    if (number == nodes->count && pleat_array_push(nodes, fresh))
        return nomem(sim);
    const struct lent_node before = nodes->items[number];
    nodes->items[number] = fresh;
    nodes->items[number].more = before.more;
    const struct pleat_event made = {.time_us = sim->now_us,
                                     .kind = PLEAT_EV_NODE,
                                     .flags = PLEAT_NODE_LENT,
                                     .component = site,
                                     .u.node = {.node = number, .slots = slots}};
    int rc = input(sim, &made);
    if (!rc)
        rc = tell_later(sim, site, number, home, before.gone);
    return rc ? rc : tell_more(sim, site, home == PLEAT_NONE ? number : home);
}

int allocation_left(struct sim *sim, uint32_t site)
{
    const struct lent_nodes *nodes = &sim->sites[site].batch.nodes;
    int rc = 0;
    for (uint32_t n = 0; !rc && n < nodes->count; n++) {
        const uint32_t home = nodes->items[n].home;
        const struct pleat_event gone = {.time_us = sim->now_us,
                                         .kind = PLEAT_EV_NODE_GONE,
                                         .component = site,
                                         .u.node = {.node = n}};
        if (!nodes->items[n].leaves)
            continue;
        nodes->items[n].gone = true;
        nodes->items[n].leaves = false;
        nodes->items[n].home = PLEAT_NONE;
        rc = input(sim, &gone);
        if (!rc)
            rc = tell_more(sim, site, home);
    }
    return rc;
}

int allocation_host(struct sim *sim, const struct pleat_claim *wanted, uint32_t *node,
                    int32_t *count)
{
    const struct pleat_component *owner = &sim->view->components[wanted->component];
    struct pleat_share_list shares = {0};
    const struct pleat_share all = {
        .node = owner->lead_node, .processes = owner->processes, .processors = owner->processors};
    *node = PLEAT_NONE;
    *count = 0;
    if (keeps_to_nodes(sim, wanted) ? pleat_shares_of(sim->view, owner, &shares)
                                    : pleat_array_push(&shares, all))
        return PLEAT_E_NOMEM;
    for (size_t i = 0; i < shares.count; i++) {
        const struct pleat_share *share = &shares.items[i];
        int32_t room = share->processes - share->processors;
        const int32_t rest = rest_of(sim, wanted->site, share->node);
        room = room < rest ? room : rest;
        room = room < wanted->count ? room : wanted->count;
        if (room <= *count)
            continue;
        *count = room;
        *node = share->node;
    }
    pleat_array_finish(&shares);
    return 0;
}

int32_t allocation_count(struct sim *sim, uint32_t claim)
{
    const struct pleat_claim *c = pleat_core_claim(sim->core, claim);
    const struct allocation *one = allocation_of(sim, c->site, claim);
    return one && one->host != PLEAT_NONE && one->index == claim && one->claim == c->id &&
                   one->count < c->count
               ? one->count
               : c->count;
}

static int tell_nodes(struct sim *sim, uint32_t site, uint32_t allocation)
{
    struct allocation *one = &sim->sites[site].batch.allocations.items[allocation];
    int32_t most = sim->sites[site].spec->slots, left = one->told ? 0 : one->count;
    int rc = 0;
    one->told = true;
    for (; !rc && left > 0; left -= most)
        rc = tell_node(sim, site, allocation, left < most ? left : most);
    return rc;
}

static int tell_piece(struct sim *sim, const struct pleat_claim *claim, uint32_t index,
                      uint32_t number, int32_t count)
{
    struct lent_node *node = &sim->sites[claim->site].batch.nodes.items[number];
    const struct pleat_event piece = {.time_us = sim->now_us,
                                      .kind = PLEAT_EV_PIECE,
                                      .component = index,
                                      .u.piece = {.claim = claim->id,
                                                  .node = number,
                                                  .first = (uint32_t)(node->slots - node->unused),
                                                  .count = (uint32_t)count}};
    node->unused -= count;
    return input(sim, &piece);
}

/* Of a growth of a run that keeps to its nodes. */
static int tell_shares(struct sim *sim, const struct pleat_claim *claim, uint32_t index,
                       int32_t count)
{
    struct pleat_share_list shares = {0};
    int32_t fit = 0;
    int rc = share_out(sim, claim, sim->claims.items[index].allocation, count, &shares, &fit)
                 ? nomem(sim)
                 : 0;
    for (size_t i = 0; !rc && i < shares.count; i++)
        if (shares.items[i].to > shares.items[i].processors)
            rc = tell_piece(sim, claim, index,
                            node_there(sim, claim->site, sim->claims.items[index].allocation,
                                       shares.items[i].node),
                            shares.items[i].to - shares.items[i].processors);
    pleat_array_finish(&shares);
    return rc;
}

int allocation_tell(struct sim *sim, uint32_t site, uint32_t claim, int32_t count)
{
    const struct pleat_claim *c = pleat_core_claim(sim->core, claim);
    if (!sim->tells_nodes || sim->sites[site].spec->slots < 2 || !allocation_of(sim, site, claim))
        return 0;
    const uint32_t allocation = sim->claims.items[claim].allocation;
    int rc = tell_nodes(sim, site, allocation);
    if (!rc && keeps_to_nodes(sim, c))
        return tell_shares(sim, c, claim, count);
    for (uint32_t n = 0; !rc && count > 0 && n < sim->sites[site].batch.nodes.count; n++) {
        const struct lent_node *node = &sim->sites[site].batch.nodes.items[n];
        if (node->allocation != allocation || node->unused == 0)
            continue;
        int32_t here = count < node->unused ? count : node->unused;
        count -= here;
        rc = tell_piece(sim, c, claim, n, here);
    }
    return rc;
}

int allocation_ends(struct sim *sim, uint32_t site, uint32_t claim, uint64_t id)
{
    const struct allocation *one = allocation_of(sim, site, claim);
    if (!one || one->leave_us == PLEAT_NEVER)
        return 0;
    struct pleat_event event = {.time_us = sim->now_us,
                                .kind = PLEAT_EV_CLAIM_ENDS,
                                .component = claim,
                                .u.ends = {.claim = id, .end_us = one->leave_us}};
    return input(sim, &event);
}
