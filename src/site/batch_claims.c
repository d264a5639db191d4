#include "site/batch_claims.h"

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
    if (one->book.nodes)
        pleat_claimbook_finish(&one->book);
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
        if (one->has_node) /* another one will have that number */
            pleat_batch_note_agent(site, one->node, false);
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

struct pleat_batch_allocation *pleat_batch_of_node(struct pleat_batch_site *site, uint32_t node)
{
    for (size_t i = 0; i < site->allocations.count; i++)
        if (site->allocations.items[i]->has_node && site->allocations.items[i]->node == node)
            return site->allocations.items[i];
    return NULL;
}

struct pleat_batch_allocation *pleat_batch_of_claim(struct pleat_batch_site *site, uint64_t id)
{
    for (size_t i = 0; i < site->allocations.count; i++) {
        struct pleat_batch_allocation *one = site->allocations.items[i];
        bool is_its = one->book.nodes ? pleat_claimbook_find(&one->book, id) != NULL
                                      : one->state != PLEAT_BATCH_STRAY && one->wish.id == id;
        if (one->state == PLEAT_BATCH_ENDING)
            is_its = one->answers && one->wish.id == id;
        if (is_its)
            return one;
    }
    return NULL;
}

void pleat_batch_number_node(struct pleat_batch_site *site, struct pleat_batch_allocation *one)
{
    uint32_t node = 0;
    while (pleat_batch_of_node(site, node))
        node++;
    one->node = node;
    one->has_node = true;
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

/* ---- its processors ---- */

int pleat_batch_open_book(struct pleat_batch_allocation *one)
{
    static const int32_t slots[] = {PLEAT_BATCH_NODE_CPUS};
    return one->book.nodes ? 0 : pleat_claimbook_init(&one->book, slots, 1);
}

void pleat_batch_trim_book(struct pleat_batch_allocation *one, int32_t cpus)
{
    for (int32_t slot = cpus; slot < one->book.slots; slot++) {
        if (one->book.taken[slot])
            continue;
        one->book.taken[slot] = 1;
        one->book.free--;
    }
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

void pleat_batch_announce(const struct pleat_batch_site *site,
                          const struct pleat_batch_allocation *one,
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
                                                      .node = one->node,
                                                      .first = booked->slots[i],
                                                      .count = (uint32_t)length}};
        emit(site, &piece);
        i += length;
    }
    pleat_batch_say_claim(site, PLEAT_EV_CLAIMED, booked->id, booked->index, booked->count,
                          PLEAT_REASON_NONE);
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

void pleat_batch_say_lost(const struct pleat_batch_site *site,
                          const struct pleat_batch_allocation *one)
{
    for (size_t i = 0; one->book.nodes && i < one->book.claims.count; i++) {
        const struct pleat_booked *booked = &one->book.claims.items[i];
        pleat_batch_say_claim(site, PLEAT_EV_LOST, booked->id, booked->index, booked->count,
                              PLEAT_REASON_NONE);
    }
}

void pleat_batch_say_gone(const struct pleat_batch_site *site,
                          const struct pleat_batch_allocation *one)
{
    const struct pleat_event gone = {
        .kind = PLEAT_EV_NODE_GONE, .component = site->index, .u.node = {.node = one->node}};
    if (one->given)
        emit(site, &gone);
}
