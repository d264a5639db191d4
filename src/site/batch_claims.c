#include "site/batch_books.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what there is ---- */

struct pleat_batch_allocation *pleat_batch_new(struct pleat_batch_site *site,
                                               enum pleat_batch_state state)
{
    struct pleat_batch_allocation *fresh = calloc(1, sizeof(*fresh));
    if (!fresh || pleat_array_push(&site->allocations, fresh))
        abort();
    fresh->number = ++site->next_number;
    fresh->state = state;
    return fresh;
}

static void destroy(struct pleat_batch_allocation *one)
{
    pleat_batch_close_books(one);
    free(one);
}

void pleat_batch_remove(struct pleat_batch_site *site, struct pleat_batch_allocation *one)
{
    struct pleat_batch_allocations *all = &site->allocations;
    for (size_t i = 0; i < all->count; i++) {
        if (all->items[i] != one)
            continue;
        memmove(all->items + i, all->items + i + 1, (all->count - i - 1) * sizeof(*all->items));
        all->count--;
        for (size_t k = 0; k < one->nodes.count; k++) /* other nodes will have these numbers */
            pleat_batch_note_agent(site, one->nodes.items[k].number, false);
        destroy(one);
        return;
    }
}

struct pleat_batch_allocation *pleat_batch_of_number(struct pleat_batch_site *site, uint64_t number)
{
    for (size_t i = 0; i < site->allocations.count; i++)
        if (site->allocations.items[i]->number == number)
            return site->allocations.items[i];
    return NULL;
}

struct pleat_batch_allocation *pleat_batch_of_job(struct pleat_batch_site *site, uint32_t job)
{
    for (size_t i = 0; job && i < site->allocations.count; i++)
        if (site->allocations.items[i]->job == job)
            return site->allocations.items[i];
    return NULL;
}

static struct pleat_batch_node *node_of(const struct pleat_batch_allocation *one, uint32_t number)
{
    for (size_t i = 0; i < one->nodes.count; i++)
        if (one->nodes.items[i].number == number)
            return &one->nodes.items[i];
    return NULL;
}

struct pleat_batch_allocation *pleat_batch_of_node(struct pleat_batch_site *site, uint32_t number,
                                                   struct pleat_batch_node **node)
{
    for (size_t i = 0; i < site->allocations.count; i++) {
        struct pleat_batch_allocation *one = site->allocations.items[i];
        struct pleat_batch_node *own = node_of(one, number);
        bool kept = one->numbered && number - one->first < one->room;
        if (!own && !kept)
            continue;
        if (node)
            *node = own;
        return one;
    }
    return NULL;
}

struct pleat_batch_allocation *pleat_batch_of_claim(struct pleat_batch_site *site, uint64_t id)
{
    for (size_t i = 0; i < site->allocations.count; i++) {
        struct pleat_batch_allocation *one = site->allocations.items[i];
        bool is_its = one->nodes.count ? pleat_batch_count_of(one, id) > 0
                                       : one->state != PLEAT_BATCH_STRAY && one->wish.id == id;
        if (one->state == PLEAT_BATCH_ENDING)
            is_its = one->answers && one->wish.id == id;
        if (is_its)
            return one;
    }
    return NULL;
}

/* The end of the numbers of an allocation that has some of the `room` numbers from `first` on; 0:
 * there is no such allocation. */
static uint32_t end_of_other(const struct pleat_batch_site *site,
                             const struct pleat_batch_allocation *one, uint32_t first,
                             uint32_t room)
{
    for (size_t i = 0; i < site->allocations.count; i++) {
        const struct pleat_batch_allocation *other = site->allocations.items[i];
        if (other == one)
            continue;
        if (other->numbered && other->first < first + room && first < other->first + other->room)
            return other->first + other->room;
        for (size_t k = other->nodes.count; k-- > 0;)
            if (other->nodes.items[k].number - first < room)
                return other->nodes.items[k].number + 1;
    }
    return 0;
}

/* The number behind one of these numbers whose unwanted agent still lives; 0: there is none.
 */
static uint32_t end_of_taken(const struct pleat_batch_site *site, uint32_t first, uint32_t room)
{
    const struct pleat_host *host = site->host;
    for (uint32_t i = room; host->node_is_taken && i-- > 0;)
        if (host->node_is_taken(host->arg, site->index, first + i))
            return first + i + 1;
    return 0;
}

uint32_t pleat_batch_room(const struct pleat_site_wish *wish)
{
    if (wish->on_one_node || wish->count < 1)
        return 1;
    return wish->count < PLEAT_BATCH_NODES ? (uint32_t)wish->count : PLEAT_BATCH_NODES;
}

void pleat_batch_number_nodes(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                              uint32_t room)
{
    uint32_t first = 0;
    for (uint32_t end; (end = end_of_other(site, one, first, room)) > 0 ||
                       (end = end_of_taken(site, first, room)) > 0;)
        first = end;
    one->first = first;
    one->room = room;
    one->numbered = true;
}

bool pleat_batch_agents_are_there(const struct pleat_batch_site *site,
                                  const struct pleat_batch_allocation *one)
{
    for (size_t i = 0; i < one->nodes.count; i++)
        if (!pleat_batch_agent_is_there(site, one->nodes.items[i].number))
            return false;
    return one->nodes.count > 0;
}

bool pleat_batch_agent_is_there(const struct pleat_batch_site *site, uint32_t node)
{
    for (size_t i = 0; i < site->agents.count; i++)
        if (site->agents.items[i] == node)
            return true;
    return false;
}

void pleat_batch_note_agent(struct pleat_batch_site *site, uint32_t node, bool there)
{
    for (size_t i = site->agents.count; i-- > 0;)
        if (site->agents.items[i] == node)
            site->agents.items[i] = site->agents.items[--site->agents.count];
    if (there && pleat_array_push(&site->agents, node))
        abort();
}

const char *pleat_batch_hosts(const struct pleat_batch_allocation *one)
{
    static char text[2 * PLEAT_BATCH_HOST_ROOM + 8];
    const struct pleat_batch_node *nodes = one->nodes.items;
    if (one->nodes.count == 0 || !nodes[0].host[0])
        snprintf(text, sizeof(text), "%s", one->nodes.count > 1 ? "its nodes" : "a node");
    else if (one->nodes.count == 1)
        snprintf(text, sizeof(text), "%s", nodes[0].host);
    else if (one->nodes.count == 2)
        snprintf(text, sizeof(text), "%s and %s", nodes[0].host, nodes[1].host);
    else
        snprintf(text, sizeof(text), "%s and %zu others", nodes[0].host, one->nodes.count - 1);
    return text;
}

/* ---- what is said ---- */

static void emit(const struct pleat_batch_site *site, const struct pleat_event *event)
{
    site->host->emit(site->host->arg, event);
}

void pleat_batch_say(const struct pleat_batch_site *site, const char *format, ...)
{
    char text[700];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    site->host->say(site->host->arg, site->index, text);
}

void pleat_batch_say_claim(const struct pleat_batch_site *site, uint16_t kind, uint64_t id,
                           uint32_t index, int32_t count, enum pleat_reason reason)
{
    const struct pleat_event event = {
        .kind = kind,
        .component = index,
        .u.claim = {.claim = id, .count = count, .reason = (uint32_t)reason}};
    emit(site, &event);
}

/* Whether an earlier node has processors of the claim, too. */
static bool was_met(const struct pleat_batch_allocation *one, size_t node, uint64_t claim)
{
    for (size_t i = 0; i < node; i++)
        if (pleat_claimbook_find(&one->nodes.items[i].book, claim))
            return true;
    return false;
}

void pleat_batch_tell(const struct pleat_batch_site *site, const struct pleat_batch_allocation *one,
                      const struct pleat_batch_node *node, const char *format, ...)
{
    char text[700];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    for (size_t i = 0; i < one->nodes.count; i++) {
        const struct pleat_booked_array *claims = &one->nodes.items[i].book.claims;
        for (size_t c = 0; c < claims->count; c++)
            if (node ? node == &one->nodes.items[i] : !was_met(one, i, claims->items[c].id))
                site->host->tell(site->host->arg, claims->items[c].index, claims->items[c].id,
                                 text);
    }
    if (one->nodes.count == 0)
        site->host->tell(site->host->arg, one->wish.index, one->wish.id, text);
}

static void say_end_of(const struct pleat_batch_site *site,
                       const struct pleat_batch_allocation *one, uint64_t claim, uint32_t index)
{
    const struct pleat_event ends = {
        .kind = PLEAT_EV_CLAIM_ENDS,
        .component = index,
        .u.ends = {.claim = claim,
                   .end_us = one->end_us > 0 ? one->leave_us : 0,
                   .reason = one->taken ? PLEAT_REASON_TAKEN : PLEAT_REASON_NONE}};
    emit(site, &ends);
}

void pleat_batch_say_end(const struct pleat_batch_site *site,
                         const struct pleat_batch_allocation *one)
{
    for (size_t i = 0; i < one->nodes.count; i++) {
        const struct pleat_booked_array *claims = &one->nodes.items[i].book.claims;
        for (size_t c = 0; c < claims->count; c++)
            if (!was_met(one, i, claims->items[c].id))
                say_end_of(site, one, claims->items[c].id, claims->items[c].index);
    }
}

/* Emits the pieces of a claim on a node. */
static void announce_on(const struct pleat_batch_site *site, uint32_t node,
                        const struct pleat_booked *booked)
{
    for (int32_t i = 0; i < booked->count;) {
        int32_t length = 1;
        while (i + length < booked->count &&
               booked->slots[i + length] == booked->slots[i] + (uint32_t)length)
            length++;
        const struct pleat_event piece = {.kind = PLEAT_EV_PIECE,
                                          .component = booked->index,
                                          .u.piece = {.claim = booked->id,
                                                      .node = node,
                                                      .first = booked->slots[i],
                                                      .count = (uint32_t)length}};
        emit(site, &piece);
        i += length;
    }
}

void pleat_batch_announce(const struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                          uint64_t claim)
{
    uint32_t index = 0;
    for (size_t i = 0; i < one->nodes.count; i++) {
        struct pleat_batch_node *node = &one->nodes.items[i];
        const struct pleat_booked *booked = pleat_claimbook_find(&node->book, claim);
        if (!booked)
            continue;
        index = booked->index;
        announce_on(site, node->number, booked);
    }
    pleat_batch_say_claim(site, PLEAT_EV_CLAIMED, claim, index, pleat_batch_count_of(one, claim),
                          PLEAT_REASON_NONE);
    if (one->end_us > 0)
        say_end_of(site, one, claim, index);
}

void pleat_batch_say_waits(const struct pleat_batch_site *site,
                           const struct pleat_batch_allocation *one, enum pleat_claim_wait why,
                           int64_t start_s)
{
    int64_t now_us = site->host->now_us(site->host->arg);
    int64_t until_us =
        why == PLEAT_WAIT_AGENTS && one->until_us < one->agent_until_us + site->options->agent_us
            ? one->agent_until_us + site->options->agent_us
            : one->until_us;
    int64_t expected_us = start_s > 0 && start_s < INT64_C(1) << 40 ? start_s * 1000000 : 0;
    const struct pleat_event waits = {
        .kind = PLEAT_EV_CLAIM_WAITS,
        .component = one->wish.index,
        .u.waits = {.claim = one->wish.id,
                    .until_us = until_us,
                    .expected_us = expected_us > now_us ? expected_us : 0,
                    .reason = (uint32_t)why}};
    emit(site, &waits);
}

void pleat_batch_say_lost(const struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                          const struct pleat_batch_node *node)
{
    for (size_t i = 0; i < one->nodes.count; i++) {
        struct pleat_claimbook *book = &one->nodes.items[i].book;
        if (node && node != &one->nodes.items[i])
            continue;
        while (book->claims.count > 0) {
            uint64_t id = book->claims.items[0].id;
            uint32_t index = book->claims.items[0].index;
            pleat_batch_say_claim(site, PLEAT_EV_LOST, id, index, pleat_batch_count_of(one, id),
                                  PLEAT_REASON_NONE);
            pleat_batch_drop(one, id);
        }
    }
}

void pleat_batch_say_nodes(const struct pleat_batch_site *site,
                           const struct pleat_batch_allocation *one)
{
    for (size_t i = 0; i < one->nodes.count; i++) {
        const struct pleat_batch_node *node = &one->nodes.items[i];
        const struct pleat_event event = {
            .kind = PLEAT_EV_NODE,
            .flags = PLEAT_NODE_LENT,
            .component = site->index,
            .u.node = {.node = node->number, .slots = pleat_batch_node_size(node)}};
        if (event.u.node.slots < PLEAT_BATCH_NODE_CPUS)
            emit(site, &event);
    }
}

void pleat_batch_say_node_gone(const struct pleat_batch_site *site,
                               const struct pleat_batch_node *node)
{
    const struct pleat_event gone = {
        .kind = PLEAT_EV_NODE_GONE, .component = site->index, .u.node = {.node = node->number}};
    if (node->given)
        emit(site, &gone);
}

void pleat_batch_say_gone(const struct pleat_batch_site *site,
                          const struct pleat_batch_allocation *one)
{
    for (size_t i = 0; i < one->nodes.count; i++)
        pleat_batch_say_node_gone(site, &one->nodes.items[i]);
}

static bool has_node(void *arg, uint32_t number)
{
    return pleat_batch_of_node(arg, number, NULL) != NULL;
}

void pleat_batch_say_known(struct pleat_batch_site *site)
{
    if (!site->synced || !site->host->nodes_known)
        return;
    site->host->nodes_known(site->host->arg, site->index, has_node, site);
    for (size_t i = site->agents.count; i-- > 0;)
        if (!has_node(site, site->agents.items[i])) /* other nodes will have these numbers */
            pleat_batch_note_agent(site, site->agents.items[i], false);
}
