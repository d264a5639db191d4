#include "site/batch_books.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- nodes ---- */

struct pleat_batch_node *pleat_batch_node_make(struct pleat_batch_allocation *one, uint32_t number)
{
    static const int32_t slots[] = {PLEAT_BATCH_NODE_CPUS};
    struct pleat_batch_node_list *nodes = &one->nodes;
    size_t at = nodes->count;
    while (at > 0 && nodes->items[at - 1].number >= number)
        at--;
    if (at < nodes->count && nodes->items[at].number == number)
        return &nodes->items[at];
    struct pleat_batch_node fresh = {.number = number};
    if (pleat_claimbook_init(&fresh.book, slots, 1) || pleat_array_reserve(nodes, 1))
        abort();
    memmove(nodes->items + at + 1, nodes->items + at, (nodes->count - at) * sizeof(*nodes->items));
    nodes->items[at] = fresh;
    nodes->count++;
    return &nodes->items[at];
}

void pleat_batch_node_trim(struct pleat_batch_node *node, int32_t cpus)
{
    for (int32_t slot = cpus; slot < node->book.slots; slot++) {
        if (node->book.taken[slot])
            continue;
        node->book.taken[slot] = 1;
        node->book.free--;
    }
}

int32_t pleat_batch_node_size(const struct pleat_batch_node *node)
{
    int32_t size = node->book.free;
    for (size_t i = 0; i < node->book.claims.count; i++)
        size += node->book.claims.items[i].count;
    return size;
}

void pleat_batch_join(struct pleat_batch_allocation *into, struct pleat_batch_allocation *from)
{
    for (size_t i = 0; i < from->nodes.count; i++) {
        struct pleat_batch_node *node = pleat_batch_node_make(into, from->nodes.items[i].number);
        pleat_claimbook_finish(&node->book);
        *node = from->nodes.items[i];
    }
    from->nodes.count = 0;
}

void pleat_batch_close_books(struct pleat_batch_allocation *one)
{
    for (size_t i = 0; i < one->nodes.count; i++)
        pleat_claimbook_finish(&one->nodes.items[i].book);
    pleat_array_finish(&one->nodes);
}

/* ---- claims ---- */

bool pleat_batch_is_used(const struct pleat_batch_allocation *one)
{
    for (size_t i = 0; i < one->nodes.count; i++)
        if (one->nodes.items[i].book.claims.count > 0)
            return true;
    return false;
}

int32_t pleat_batch_count_of(struct pleat_batch_allocation *one, uint64_t claim)
{
    int32_t count = 0;
    for (size_t i = 0; i < one->nodes.count; i++) {
        const struct pleat_booked *booked = pleat_claimbook_find(&one->nodes.items[i].book, claim);
        count += booked ? booked->count : 0;
    }
    return count;
}

static int32_t free_on(const struct pleat_batch_node *node)
{
    return node->dead || node->leaves ? 0 : node->book.free;
}

/* The node for all of a wish: that of `near`, else, of the nodes with enough free processors, the
 * one with the fewest. NULL: there is none. */
static struct pleat_batch_node *one_for(struct pleat_batch_allocation *one,
                                        const struct pleat_batch_node *near, int32_t count)
{
    struct pleat_batch_node *best = NULL;
    for (size_t i = 0; i < one->nodes.count; i++) {
        struct pleat_batch_node *node = &one->nodes.items[i];
        if (free_on(node) < count)
            continue;
        if (node == near)
            return node;
        if (!best || free_on(node) < free_on(best))
            best = node;
    }
    return best;
}

/* The last node on which the claim has processors; NULL: none. */
static struct pleat_batch_node *last_of(struct pleat_batch_allocation *one, uint64_t claim)
{
    for (size_t i = one->nodes.count; i-- > 0;)
        if (pleat_claimbook_find(&one->nodes.items[i].book, claim))
            return &one->nodes.items[i];
    return NULL;
}

static void take_on(struct pleat_batch_node *node, const struct pleat_site_wish *wish,
                    int32_t count)
{
    struct pleat_site_wish part = *wish;
    struct pleat_booked *booked;
    part.count = count;
    part.on_one_node = false; /* a book has one node, and `beside` may be in another one */
    part.wanted = NULL;
    part.parts = NULL;
    if (!pleat_claimbook_find(&node->book, part.beside))
        part.beside = 0;
    if (pleat_claimbook_take(&node->book, &part, &booked))
        abort();
}

/* The node with the most free processors. */
static struct pleat_batch_node *fullest(struct pleat_batch_allocation *one)
{
    struct pleat_batch_node *best = &one->nodes.items[0];
    for (size_t i = 1; i < one->nodes.count; i++)
        if (free_on(&one->nodes.items[i]) > free_on(best))
            best = &one->nodes.items[i];
    return best;
}

static struct pleat_batch_node *node_of_part(struct pleat_batch_allocation *one,
                                             const struct pleat_site_part *part)
{
    for (size_t i = 0; i < one->nodes.count; i++)
        if (one->nodes.items[i].number == part->node &&
            free_on(&one->nodes.items[i]) >= part->count)
            return &one->nodes.items[i];
    return NULL;
}

static bool take_parts(struct pleat_batch_allocation *one, const struct pleat_site_wish *wish)
{
    for (size_t i = 0; i < wish->part_count; i++)
        if (!node_of_part(one, &wish->parts[i]))
            return false;
    for (size_t i = 0; i < wish->part_count; i++)
        take_on(node_of_part(one, &wish->parts[i]), wish, wish->parts[i].count);
    return true;
}

bool pleat_batch_take(struct pleat_batch_allocation *one, const struct pleat_site_wish *wish)
{
    if (wish->parts)
        return take_parts(one, wish);
    struct pleat_batch_node *near = wish->beside ? last_of(one, wish->beside) : NULL;
    struct pleat_batch_node *node = one_for(one, near, wish->count);
    int32_t free = 0, left = wish->count;
    for (size_t i = 0; i < one->nodes.count; i++)
        free += free_on(&one->nodes.items[i]);
    if (left < 1 || left > free || (wish->on_one_node && (!node || (near && node != near))))
        return false;
    if (node) {
        take_on(node, wish, left);
        return true;
    }
    for (node = near && free_on(near) ? near : fullest(one); left > 0; node = fullest(one)) {
        int32_t count = free_on(node) < left ? free_on(node) : left;
        take_on(node, wish, count);
        left -= count;
    }
    return true;
}

int pleat_batch_split_claim(struct pleat_batch_allocation *one, uint64_t id, uint64_t into,
                            uint32_t into_index, int32_t count)
{
    if (count < 1 || count >= pleat_batch_count_of(one, id))
        return PLEAT_E_STATE;
    for (size_t i = one->nodes.count; count > 0 && i-- > 0;) {
        struct pleat_claimbook *book = &one->nodes.items[i].book;
        struct pleat_booked *booked = pleat_claimbook_find(book, id);
        if (!booked)
            continue;
        if (booked->count <= count) {
            count -= booked->count;
            booked->id = into;
            booked->index = into_index;
        } else {
            if (pleat_claimbook_split(book, id, into, into_index, count))
                abort();
            count = 0;
        }
    }
    return 0;
}

void pleat_batch_set_near(struct pleat_batch_allocation *one, struct pleat_batch_allocation *other,
                          uint64_t claim)
{
    const struct pleat_batch_node *node = last_of(other, claim);
    if (node)
        snprintf(one->near, sizeof(one->near), "%s", node->host);
}

void pleat_batch_drop(struct pleat_batch_allocation *one, uint64_t claim)
{
    for (size_t i = 0; i < one->nodes.count; i++)
        pleat_claimbook_drop(&one->nodes.items[i].book, claim);
}

bool pleat_batch_adopt_on(struct pleat_batch_node *node, const struct pleat_site_claim *claim)
{
    struct pleat_site_claim own = *claim;
    struct pleat_piece *pieces = calloc(claim->piece_count, sizeof(*pieces));
    if (!pieces)
        abort();
    own.pieces = pieces;
    own.piece_count = 0;
    own.count = 0;
    for (uint32_t i = 0; i < claim->piece_count; i++) {
        if (claim->pieces[i].node != node->number)
            continue;
        pieces[own.piece_count] = claim->pieces[i];
        pieces[own.piece_count++].node = 0;
        own.count += (int32_t)claim->pieces[i].count;
    }
    int rc = pleat_claimbook_adopt(&node->book, &own);
    if (rc == PLEAT_E_NOMEM)
        abort();
    free(pieces);
    return rc == 0;
}
