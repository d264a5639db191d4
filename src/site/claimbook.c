#include "site/claimbook.h"

#include <string.h>

int pleat_claimbook_init(struct pleat_claimbook *book, int32_t slots)
{
    memset(book, 0, sizeof(*book));
    book->taken = calloc((size_t)slots + 1, 1);
    if (!book->taken)
        return PLEAT_E_NOMEM;
    book->slots = book->free = slots;
    return 0;
}

void pleat_claimbook_finish(struct pleat_claimbook *book)
{
    for (size_t i = 0; i < book->claims.count; i++)
        free(book->claims.items[i].slots);
    pleat_array_finish(&book->claims);
    free(book->taken);
    memset(book, 0, sizeof(*book));
}

struct pleat_booked *pleat_claimbook_find(struct pleat_claimbook *book, uint64_t id)
{
    for (size_t i = 0; i < book->claims.count; i++)
        if (book->claims.items[i].id == id)
            return &book->claims.items[i];
    return NULL;
}

/* Adds a booking that has no slots yet; NULL when out of memory. */
static struct pleat_booked *book_new(struct pleat_claimbook *book, uint64_t id, uint32_t index,
                                     int32_t count)
{
    struct pleat_booked fresh = {.id = id, .index = index};
    fresh.slots = malloc((size_t)count * sizeof(*fresh.slots));
    if (!fresh.slots)
        return NULL;
    if (pleat_array_push(&book->claims, fresh)) {
        free(fresh.slots);
        return NULL;
    }
    return &book->claims.items[book->claims.count - 1];
}

static void add_slot(struct pleat_claimbook *book, struct pleat_booked *booked, uint32_t slot)
{
    book->taken[slot] = 1;
    book->free--;
    booked->slots[booked->count++] = slot;
}

/* Number of free slots in a row from `slot` on. */
static int32_t row_from(const struct pleat_claimbook *book, int32_t slot)
{
    int32_t end = slot;
    while (end < book->slots && !book->taken[end])
        end++;
    return end - slot;
}

/* Number of free slots in a row just before `slot`. */
static int32_t row_before(const struct pleat_claimbook *book, int32_t slot)
{
    int32_t begin = slot;
    while (begin > 0 && !book->taken[begin - 1])
        begin--;
    return slot - begin;
}

/* The first slot of the shortest row of at least `count` free slots, of several the first; -1: none
 * is that long. */
static int32_t find_row(const struct pleat_claimbook *book, int32_t count)
{
    int32_t best = -1, shortest = book->slots + 1;
    for (int32_t slot = 0; slot < book->slots;) {
        int32_t length = row_from(book, slot);
        if (length >= count && length < shortest) {
            shortest = length;
            best = slot;
        }
        slot += length ? length : 1;
    }
    return best;
}

/* The slot from which on free slots are taken. */
static int32_t find_place(struct pleat_claimbook *book, int32_t count, uint64_t beside)
{
    const struct pleat_booked *near = beside ? pleat_claimbook_find(book, beside) : NULL;
    int32_t after = near ? (int32_t)near->slots[near->count - 1] + 1 : 0;
    int32_t before = near ? (int32_t)near->slots[0] : 0;
    if (near && row_from(book, after) >= count)
        return after;
    if (near && row_before(book, before) >= count)
        return before - count;
    int32_t row = find_row(book, count);
    return row < 0 ? after : row;
}

int pleat_claimbook_take(struct pleat_claimbook *book, uint64_t id, uint32_t index, int32_t count,
                         uint64_t beside, struct pleat_booked **booked)
{
    if (count < 1 || count > book->free)
        return PLEAT_E_BUSY;
    int32_t place = find_place(book, count, beside);
    struct pleat_booked *fresh = book_new(book, id, index, count);
    if (!fresh)
        return PLEAT_E_NOMEM;
    for (int32_t i = 0; fresh->count < count; i++) {
        uint32_t slot = (uint32_t)((place + i) % book->slots);
        if (!book->taken[slot])
            add_slot(book, fresh, slot);
    }
    *booked = fresh;
    return 0;
}

int pleat_claimbook_adopt(struct pleat_claimbook *book, const struct pleat_site_claim *claim)
{
    if (pleat_claimbook_find(book, claim->id))
        return 0;
    if (claim->count < 1 || claim->count > book->free)
        return PLEAT_E_STATE;
    struct pleat_booked *fresh = book_new(book, claim->id, claim->index, claim->count);
    if (!fresh)
        return PLEAT_E_NOMEM;
    for (uint32_t p = 0; p < claim->piece_count; p++) {
        for (uint32_t i = 0; i < claim->pieces[p].count; i++) {
            uint32_t slot = claim->pieces[p].first + i;
            if (slot >= (uint32_t)book->slots || book->taken[slot] ||
                fresh->count == claim->count) {
                pleat_claimbook_drop(book, claim->id);
                return PLEAT_E_STATE;
            }
            add_slot(book, fresh, slot);
        }
    }
    return 0;
}

int pleat_claimbook_split(struct pleat_claimbook *book, uint64_t id, uint64_t into,
                          uint32_t into_index, int32_t count)
{
    struct pleat_booked *old = pleat_claimbook_find(book, id);
    if (!old || count < 1 || count >= old->count)
        return PLEAT_E_STATE;
    struct pleat_booked *part = book_new(book, into, into_index, count);
    if (!part)
        return PLEAT_E_NOMEM;
    old = pleat_claimbook_find(book, id); /* adding a booking may have moved the array */
    memcpy(part->slots, old->slots + old->count - count, (size_t)count * sizeof(*part->slots));
    part->count = count;
    old->count -= count;
    return 0;
}

void pleat_claimbook_drop(struct pleat_claimbook *book, uint64_t id)
{
    struct pleat_booked *booked = pleat_claimbook_find(book, id);
    if (!booked)
        return;
    for (int32_t i = 0; i < booked->count; i++)
        book->taken[booked->slots[i]] = 0;
    book->free += booked->count;
    free(booked->slots);
    *booked = book->claims.items[--book->claims.count];
}

void pleat_claimbook_announce(const struct pleat_booked *booked, const struct pleat_host *host)
{
    for (int32_t i = 0; i < booked->count;) {
        int32_t length = 1;
        while (i + length < booked->count &&
               booked->slots[i + length] == booked->slots[i] + (uint32_t)length)
            length++;
        struct pleat_event piece = {.kind = PLEAT_EV_PIECE,
                                    .component = booked->index,
                                    .u.piece = {.claim = booked->id,
                                                .node = 0,
                                                .first = booked->slots[i],
                                                .count = (uint32_t)length}};
        host->emit(host->arg, &piece);
        i += length;
    }
    struct pleat_event claimed = {.kind = PLEAT_EV_CLAIMED,
                                  .component = booked->index,
                                  .u.claim = {.claim = booked->id, .count = booked->count}};
    host->emit(host->arg, &claimed);
}
