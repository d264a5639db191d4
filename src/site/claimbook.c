#include "site/claimbook.h"

#include <string.h>

int pleat_claimbook_init(struct pleat_claimbook *book, const int32_t *slots, uint32_t nodes)
{
    memset(book, 0, sizeof(*book));
    book->begin = calloc((size_t)nodes + 1, sizeof(*book->begin));
    if (!book->begin)
        return PLEAT_E_NOMEM;
    for (uint32_t n = 0; n < nodes; n++)
        book->begin[n + 1] = book->begin[n] + slots[n];
    book->nodes = nodes;
    book->slots = book->free = book->begin[nodes];
    book->taken = calloc((size_t)book->slots + 1, 1);
    book->others = calloc(nodes, sizeof(*book->others));
    book->shut = calloc(nodes, 1);
    if (book->taken && book->others && book->shut)
        return 0;
    pleat_claimbook_finish(book);
    return PLEAT_E_NOMEM;
}

void pleat_claimbook_finish(struct pleat_claimbook *book)
{
    for (size_t i = 0; i < book->claims.count; i++)
        free(book->claims.items[i].slots);
    pleat_array_finish(&book->claims);
    free(book->taken);
    free(book->begin);
    free(book->others);
    free(book->shut);
    memset(book, 0, sizeof(*book));
}

void pleat_claimbook_shut(struct pleat_claimbook *book, uint32_t node, bool shut)
{
    if (node < book->nodes)
        book->shut[node] = shut;
}

void pleat_claimbook_others(struct pleat_claimbook *book, uint32_t node, int32_t processors)
{
    if (node < book->nodes)
        book->others[node] = processors;
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

static uint32_t node_of(const struct pleat_claimbook *book, uint32_t slot)
{
    uint32_t low = 0, high = book->nodes;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (book->begin[middle] <= (int32_t)slot)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* A stretch of slots [begin, end), all on one node. */
struct stretch {
    int32_t begin, end;
};

static struct stretch node_stretch(const struct pleat_claimbook *book, uint32_t node)
{
    return (struct stretch){book->begin[node], book->begin[node + 1]};
}

static int32_t free_in(const struct pleat_claimbook *book, struct stretch in)
{
    int32_t count = 0;
    for (int32_t slot = in.begin; slot < in.end; slot++)
        count += !book->taken[slot];
    return count;
}

/* The slots of a node that may be booked. */
static int32_t open_on(const struct pleat_claimbook *book, uint32_t node)
{
    return book->shut[node] ? 0 : free_in(book, node_stretch(book, node));
}

/* The free slots in a row that end before `end`. */
static struct stretch row_from(const struct pleat_claimbook *book, int32_t slot, int32_t end)
{
    struct stretch row = {slot, slot};
    while (row.end < end && !book->taken[row.end])
        row.end++;
    return row;
}

/* The shortest row of at least `count` free slots of the node, of several the first; else empty. */
static struct stretch shortest_row(const struct pleat_claimbook *book, uint32_t node, int32_t count)
{
    struct stretch all = node_stretch(book, node), best = {0, 0};
    for (int32_t slot = all.begin; slot < all.end;) {
        struct stretch row = row_from(book, slot, all.end);
        int32_t length = row.end - row.begin;
        if (length >= count && (best.begin == best.end || length < best.end - best.begin))
            best = row;
        slot += length ? length : 1;
    }
    return best;
}

/* `count` slots next to those of a booking, on the same node; else empty. */
static struct stretch next_to(const struct pleat_claimbook *book, const struct pleat_booked *near,
                              int32_t count)
{
    uint32_t last = near->slots[near->count - 1], first = near->slots[0];
    int32_t after = (int32_t)last + 1, before = (int32_t)first;
    struct stretch behind = row_from(book, after, book->begin[node_of(book, last) + 1]);
    if (behind.end - behind.begin >= count)
        return behind;
    int32_t edge = book->begin[node_of(book, first)];
    while (before > edge && (int32_t)first - before < count && !book->taken[before - 1])
        before--;
    struct stretch ahead = {before, (int32_t)first};
    return ahead.end - ahead.begin >= count ? ahead : (struct stretch){0, 0};
}

/* The slots of a node that may be booked for a wish without taking what others want. */
static int32_t spare_on(const struct pleat_claimbook *book, const struct pleat_site_wish *wish,
                        uint32_t node)
{
    return open_on(book, node) - (wish->wanted ? wish->wanted[node] : 0);
}

/* Which slots of a node count as good for a wish. */
enum good {
    UNUSED, /* slots that others neither keep busy nor want */
    BUSY,   /* slots that others do not want */
    ANY
};

/* The node with as many good free slots as are wished for; of several the one with the fewest.
 * Returns the number of nodes where none has as many. */
static uint32_t fullest_node(const struct pleat_claimbook *book, const struct pleat_site_wish *wish,
                             enum good good)
{
    uint32_t best = book->nodes;
    int32_t fewest = 0;
    for (uint32_t node = 0; node < book->nodes; node++) {
        int32_t unused = good == ANY ? open_on(book, node) : spare_on(book, wish, node);
        if (good == UNUSED)
            unused -= book->others[node];
        if (unused < wish->count || (best < book->nodes && unused >= fewest))
            continue;
        best = node;
        fewest = unused;
    }
    return best;
}

/* The node for a wish: `own`, else, of the nodes with enough slots, the one with the fewest.
 * Returns the number of nodes where none has as many. */
static uint32_t find_node(const struct pleat_claimbook *book, const struct pleat_site_wish *wish,
                          uint32_t own)
{
    if (own < book->nodes &&
        (wish->on_one_node ? open_on(book, own) : spare_on(book, wish, own)) >= wish->count)
        return own;
    uint32_t node = book->nodes;
    for (enum good good = UNUSED; node == book->nodes && good <= ANY; good++)
        node = fullest_node(book, wish, good);
    return node;
}

/* Takes free slots of the stretch until the booking has `count`. */
static void take_from(struct pleat_claimbook *book, struct pleat_booked *booked,
                      struct stretch from, int32_t count)
{
    for (int32_t slot = from.begin; slot < from.end && booked->count < count; slot++)
        if (!book->taken[slot])
            add_slot(book, booked, (uint32_t)slot);
}

/* Takes free slots of the node, from behind the booking `near` on if that ends there, and round. */
static void take_node(struct pleat_claimbook *book, struct pleat_booked *booked,
                      const struct pleat_booked *near, uint32_t node, int32_t count)
{
    struct stretch all = node_stretch(book, node), rest = all;
    if (near && node_of(book, near->slots[near->count - 1]) == node)
        rest.begin = (int32_t)near->slots[near->count - 1] + 1;
    take_from(book, booked, rest, count);
    take_from(book, booked, all, count);
}

/* The node that has most slots for a wish; what others want does not count, unless there is nothing
 * else (*wanted). */
static uint32_t emptiest_node(const struct pleat_claimbook *book,
                              const struct pleat_site_wish *wish, bool *wanted)
{
    uint32_t best = book->nodes;
    int32_t most = INT32_MIN;
    for (int pass = 0; pass < 2 && best == book->nodes; pass++) {
        *wanted = pass > 0;
        for (uint32_t node = 0; node < book->nodes; node++) {
            int32_t unused = *wanted ? open_on(book, node) : spare_on(book, wish, node);
            if (unused > 0 && unused - book->others[node] > most) {
                most = unused - book->others[node];
                best = node;
            }
        }
    }
    return best;
}

/* Takes slots of several nodes, and of as few as can be: of `own` first, then of the one that has
 * most. There are enough. */
static void take_spread(struct pleat_claimbook *book, struct pleat_booked *booked,
                        const struct pleat_booked *near, uint32_t own,
                        const struct pleat_site_wish *wish)
{
    uint32_t node = own;
    bool wanted = false;
    while (booked->count < wish->count) {
        int32_t spare = node < book->nodes ? spare_on(book, wish, node) : 0;
        int32_t most =
            wanted || spare > wish->count - booked->count ? wish->count : booked->count + spare;
        if (node < book->nodes && !book->shut[node])
            take_node(book, booked, near, node, most);
        node = emptiest_node(book, wish, &wanted);
    }
}

static void take(struct pleat_claimbook *book, struct pleat_booked *booked,
                 const struct pleat_booked *near, const struct pleat_site_wish *wish)
{
    const int32_t count = wish->count;
    uint32_t own = near ? node_of(book, near->slots[near->count - 1]) : UINT32_MAX;
    uint32_t node = find_node(book, wish, own);
    struct stretch row = {0, 0};
    if (near && node == own)
        row = next_to(book, near, count);
    if (row.end == row.begin && node < book->nodes)
        row = shortest_row(book, node, count);
    if (row.end > row.begin)
        take_from(book, booked, row, count);
    else if (node < book->nodes)
        take_node(book, booked, near, node, count);
    else
        take_spread(book, booked, near, own, wish);
}

/* Whether a node (that of `near`, if there is one) has enough free slots for a wish that must be on
 * one node. */
static bool fits_on_one(const struct pleat_claimbook *book, const struct pleat_booked *near,
                        const struct pleat_site_wish *wish)
{
    uint32_t own = near ? node_of(book, near->slots[near->count - 1]) : UINT32_MAX;
    uint32_t node = find_node(book, wish, own);
    return node < book->nodes && (!near || node == own);
}

/* Whether each node has what is wished for there. */
static bool fit_parts(const struct pleat_claimbook *book, const struct pleat_site_wish *wish)
{
    int32_t sum = 0;
    for (size_t i = 0; i < wish->part_count; i++) {
        const struct pleat_site_part *part = &wish->parts[i];
        if (part->node >= book->nodes || part->count < 1 || part->count > open_on(book, part->node))
            return false;
        sum += part->count;
    }
    return sum == wish->count;
}

static void take_parts(struct pleat_claimbook *book, struct pleat_booked *booked,
                       const struct pleat_booked *near, const struct pleat_site_wish *wish)
{
    for (size_t i = 0; i < wish->part_count; i++)
        take_node(book, booked, near, wish->parts[i].node, booked->count + wish->parts[i].count);
}

int pleat_claimbook_take(struct pleat_claimbook *book, const struct pleat_site_wish *wish,
                         struct pleat_booked **booked)
{
    int32_t open = 0;
    for (uint32_t n = 0; n < book->nodes; n++)
        open += open_on(book, n);
    if (wish->count < 1 || wish->count > open)
        return PLEAT_E_BUSY;
    const struct pleat_booked *near =
        wish->beside ? pleat_claimbook_find(book, wish->beside) : NULL;
    if (wish->parts ? !fit_parts(book, wish) : wish->on_one_node && !fits_on_one(book, near, wish))
        return PLEAT_E_BUSY;
    struct pleat_booked *fresh = book_new(book, wish->id, wish->index, wish->count);
    if (!fresh)
        return PLEAT_E_NOMEM;
    /* adding a booking may have moved the array */
    near = wish->beside ? pleat_claimbook_find(book, wish->beside) : NULL;
    if (wish->parts)
        take_parts(book, fresh, near, wish);
    else
        take(book, fresh, near, wish);
    *booked = fresh;
    return 0;
}

bool pleat_claimbook_could(const struct pleat_claimbook *book, const struct pleat_site_wish *wish)
{
    if (!wish->on_one_node)
        return wish->count <= book->slots;
    for (uint32_t n = 0; n < book->nodes; n++)
        if (book->begin[n + 1] - book->begin[n] >= wish->count)
            return true;
    return false;
}

void pleat_claimbook_nodes(const struct pleat_claimbook *book, uint32_t site,
                           const struct pleat_host *host)
{
    for (uint32_t n = 0; book->nodes > 1 && n < book->nodes; n++) {
        struct pleat_event node = {
            .kind = PLEAT_EV_NODE,
            .component = site,
            .u.node = {.node = n, .slots = book->begin[n + 1] - book->begin[n]}};
        host->emit(host->arg, &node);
    }
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
            const struct pleat_piece *piece = &claim->pieces[p];
            uint32_t node = piece->node, at = piece->first + i;
            uint32_t slot = node < book->nodes ? (uint32_t)book->begin[node] + at : UINT32_MAX;
            if (node >= book->nodes || at >= UINT32_MAX / 2 ||
                slot >= (uint32_t)book->begin[node + 1] || book->taken[slot] ||
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

/* The number of slots in a row from number i of the booking on, all on one node. */
static int32_t row_of(const struct pleat_claimbook *book, const struct pleat_booked *booked,
                      int32_t i)
{
    int32_t end = book->begin[node_of(book, booked->slots[i]) + 1], length = 1;
    while (i + length < booked->count &&
           booked->slots[i + length] == booked->slots[i] + (uint32_t)length &&
           (int32_t)booked->slots[i + length] < end)
        length++;
    return length;
}

void pleat_claimbook_announce(const struct pleat_claimbook *book, const struct pleat_booked *booked,
                              const struct pleat_host *host)
{
    for (int32_t i = 0; i < booked->count;) {
        int32_t length = row_of(book, booked, i);
        uint32_t node = node_of(book, booked->slots[i]);
        struct pleat_event piece = {
            .kind = PLEAT_EV_PIECE,
            .component = booked->index,
            .u.piece = {.claim = booked->id,
                        .node = node,
                        .first = booked->slots[i] - (uint32_t)book->begin[node],
                        .count = (uint32_t)length}};
        host->emit(host->arg, &piece);
        i += length;
    }
    struct pleat_event claimed = {.kind = PLEAT_EV_CLAIMED,
                                  .component = booked->index,
                                  .u.claim = {.claim = booked->id, .count = booked->count}};
    host->emit(host->arg, &claimed);
}
