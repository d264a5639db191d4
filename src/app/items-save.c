/* Items in the tail of a state. */
#include "app/items-save.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "app/blocks.h"
#include "app/items-home.h"
#include "app/session.h"

/* In front of the items in a state: a page with this, and, where sizes differ, the offset of each
 * item's end. Both begin a page, as do the items. */
struct heading {
    uint64_t magic;
    int64_t count, bytes;
    uint64_t checked; /* whether the next is there */
    uint64_t hash;    /* struct pleat_sums, of all items */
    uint64_t at_home; /* 1: the items are not here, but where their mark says (home.h) */
};

#define HEADING_MAGIC UINT64_C(0x31736d657469)
#define PAGE ((uint64_t)4096)

static uint64_t page_up(uint64_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

static uint64_t ends_bytes(const struct pleat_items *items, int64_t count)
{
    return items->item_bytes ? 0 : page_up((uint64_t)count * sizeof(int64_t));
}

static uint64_t all_bytes(const struct pleat_items *items, int64_t count, int64_t bytes)
{
    return PAGE + ends_bytes(items, count) + page_up((uint64_t)bytes);
}

/* Adds up the bytes of this rank's items. Where the program says their sizes: collective, and an
 * error on all ranks if it has none for an item. */
static int add_up(const struct pleat_items *items, MPI_Comm comm, int64_t count, int64_t *bytes,
                  struct pleat_error *err)
{
    int64_t wrong = count;
    *bytes = 0;
    for (int64_t i = count - 1; i >= 0; i--) {
        const int64_t one = pleat_item_bytes(items, i);
        wrong = one < 0 ? i : wrong;
        *bytes += one;
    }
    if (!items->ops.bytes)
        return 0;
    int agreed = 0;
    int code = pleat_mpi_agree(comm, wrong < count ? PLEAT_E_INVALID : 0, &agreed, err);
    if (code || !agreed)
        return code;
    return wrong < count
               ? pleat_error_set(err, PLEAT_E_INVALID,
                                 "'%s': item %" PRId64 " has %" PRId64
                                 " bytes, so the program says: it cannot be packed",
                                 items->object.name, wrong, pleat_item_bytes(items, wrong))
               : pleat_error_set(err, PLEAT_E_INVALID,
                                 "'%s': another rank has an item that cannot be packed",
                                 items->object.name);
}

/* Collective, before a save. */
int pleat_items_place(struct pleat_object *object, MPI_Comm comm, int rank, struct pleat_error *err)
{
    struct pleat_items *items = pleat_items_of(object);
    int64_t count = items->ops.count(items->arg);
    int64_t bytes = 0;
    int code = add_up(items, comm, count, &bytes, err);
    if (!code)
        code = pleat_items_find_place(comm, rank, count, bytes, &items->place, err);
    int ranks = 0;
    if (!code && pleat_items_in_file(items))
        code = pleat_mpi_check(MPI_Comm_size(comm, &ranks), "counting items", err);
    if (!code && ranks)
        code = pleat_items_gather_counts(items, comm, ranks, count, err);
    if (!code && object->is_noted)
        code = pleat_mpi_check(
            MPI_Allreduce(&object->noted.hash, &items->hash, 1, MPI_UINT64_T, MPI_SUM, comm),
            "summing items", err);
    return code;
}

uint64_t pleat_items_tail(const struct pleat_object *object)
{
    const struct pleat_items *items = pleat_items_of_const(object);
    return all_bytes(items, items->place.count, items->place.bytes);
}

/* Writes where this rank's items end, `some` at a time. */
static int save_ends(const struct pleat_items *items, struct pleat_state *state, uint64_t offset,
                     int64_t *ends, int64_t some, struct pleat_error *err)
{
    int64_t count = items->ops.count(items->arg);
    int64_t end = items->place.first_byte;
    int64_t done = 0;
    int code = 0;
    while (!code && done < count) {
        int64_t n = count - done < some ? count - done : some;
        for (int64_t i = 0; i < n; i++) {
            end += pleat_item_bytes(items, done + i);
            ends[i] = end;
        }
        code =
            pleat_state_write(state, offset + (uint64_t)(items->place.first + done) * sizeof(*ends),
                              ends, (size_t)n * sizeof(*ends), err);
        done += n;
    }
    return code;
}

static int save_items(const struct pleat_items *items, struct pleat_state *state, uint64_t offset,
                      unsigned char *buffer, int64_t room, struct pleat_error *err)
{
    int64_t count = items->ops.count(items->arg);
    int64_t used = 0;
    int code = 0;
    offset += (uint64_t)items->place.first_byte;
    for (int64_t i = 0; !code && i <= count; i++) {
        int64_t bytes = i < count ? pleat_item_bytes(items, i) : 0;
        if (used && (i == count || used + bytes > room)) {
            code = pleat_state_write(state, offset, buffer, (size_t)used, err);
            offset += (uint64_t)used;
            used = 0;
        }
        if (code || i == count)
            continue;
        if (bytes > room)
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "'%s': an item is larger now than when it was asked for first",
                                   items->object.name);
        items->ops.pack(i, buffer + used, items->arg);
        used += bytes;
    }
    return code;
}

/* Bytes of a buffer that holds any of this rank's items. */
int64_t pleat_items_room(const struct pleat_items *items)
{
    int64_t most = PLEAT_PARCEL_BYTES;
    int64_t count = items->item_bytes ? 0 : items->ops.count(items->arg);
    if (items->item_bytes > most)
        most = items->item_bytes;
    for (int64_t i = 0; i < count; i++) {
        int64_t bytes = pleat_item_bytes(items, i);
        most = bytes > most ? bytes : most;
    }
    return most;
}

/* The items are in the data file, of which the state is saved: it is enough to say where. */
static int save_at_home(const struct pleat_items *items, struct pleat_state *state, uint64_t offset,
                        const struct heading *heading, struct pleat_error *err)
{
    const struct pleat_home_place *place = &items->home->now.place;
    const struct pleat_home_mark mark = {place->half, items->count_size, items->counts};
    int code = pleat_home_write_mark(items->home, place->fd, &mark, err);
    return code ? code : pleat_state_write(state, offset, heading, sizeof(*heading), err);
}

int pleat_items_save_tail(const struct pleat_object *object, int rank, struct pleat_state *state,
                          uint64_t offset, struct pleat_error *err)
{
    const struct pleat_items *items = pleat_items_of_const(object);
    const bool at_home = pleat_items_in_file(items) && pleat_state_is_data(state);
    const struct heading heading = {HEADING_MAGIC,    items->place.count, items->place.bytes,
                                    object->is_noted, items->hash,        at_home};
    if (at_home)
        return rank ? 0 : save_at_home(items, state, offset, &heading, err);
    int64_t room = pleat_items_room(items);
    int code = rank ? 0 : pleat_state_write(state, offset, &heading, sizeof(heading), err);
    unsigned char *buffer = malloc((size_t)room);
    if (!buffer)
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory to save '%s'", object->name);
    if (!code && !items->item_bytes)
        code = save_ends(items, state, offset + PAGE, (int64_t *)(void *)buffer,
                         room / (int64_t)sizeof(int64_t), err);
    if (!code)
        code = save_items(items, state, offset + PAGE + ends_bytes(items, items->place.count),
                          buffer, room, err);
    free(buffer);
    return code;
}

/* ---- loading ---- */

/* Where this rank's share of the items is in a state's tail. */
struct shelf {
    struct pleat_block share;
    uint64_t offset; /* of all items */
    int64_t bytes;   /* of all items */
    int64_t count;   /* the same */
    bool at_home;    /* the items are not here, but at their home */
    int64_t *ends;   /* ends[i]: of the item before the i-th of the share; NULL: all are equal */
};

static int64_t end_before(const struct pleat_items *items, const struct shelf *shelf, int64_t i)
{
    return shelf->ends ? shelf->ends[i] : (shelf->share.first + i) * items->item_bytes;
}

static int damaged(const struct pleat_items *items, struct pleat_error *err)
{
    return pleat_error_set(err, PLEAT_E_CORRUPT, "the saved items of '%s' are damaged",
                           items->object.name);
}

/* Reads the ends of the share's items, and of the one before. */
static int read_ends(const struct pleat_items *items, struct pleat_state *state, uint64_t offset,
                     struct shelf *shelf, struct pleat_error *err)
{
    int64_t count = pleat_block_count(shelf->share);
    int64_t first = shelf->share.first;
    shelf->ends = calloc((size_t)count + 1, sizeof(*shelf->ends));
    if (!shelf->ends)
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory to load '%s'", items->object.name);
    int code = 0;
    if (count && first)
        code = pleat_state_read(state, offset + (uint64_t)(first - 1) * sizeof(int64_t),
                                shelf->ends, (size_t)(count + 1) * sizeof(int64_t), err);
    else if (count)
        code =
            pleat_state_read(state, offset, shelf->ends + 1, (size_t)count * sizeof(int64_t), err);
    bool good = shelf->ends[0] >= 0 && shelf->ends[count] <= shelf->bytes;
    for (int64_t i = 0; i < count; i++)
        good &= shelf->ends[i] <= shelf->ends[i + 1];
    return code || good ? code : damaged(items, err);
}

/* Where this rank's share is, but for the ends of its items. */
static int read_heading(struct pleat_items *items, const struct pleat_tail *tail,
                        struct shelf *shelf, uint64_t *bytes, struct pleat_error *err)
{
    struct heading heading;
    int code = pleat_state_read(tail->state, tail->offset, &heading, sizeof(heading), err);
    if (code)
        return code;
    const uint64_t most = tail->end - tail->offset;
    if (tail->end < tail->offset || heading.magic != HEADING_MAGIC || heading.count < 0 ||
        heading.bytes < 0 || (uint64_t)heading.bytes > most ||
        (uint64_t)heading.count > most / (items->item_bytes ? 1 : sizeof(int64_t)) ||
        all_bytes(items, heading.count, heading.bytes) > most ||
        (items->item_bytes && heading.bytes / items->item_bytes != heading.count) ||
        (heading.at_home && (!items->home || !pleat_state_is_data(tail->state))))
        return damaged(items, err);
    *bytes = all_bytes(items, heading.count, heading.bytes);
    items->object.is_noted = heading.checked == 1;
    if (items->object.is_noted && tail->rank == 0)
        items->object.noted = (struct pleat_sums){(uint64_t)heading.count, heading.hash};
    *shelf = (struct shelf){.share = pleat_block_of(heading.count, tail->size, tail->rank),
                            .offset = tail->offset + PAGE + ends_bytes(items, heading.count),
                            .bytes = heading.bytes,
                            .count = heading.count,
                            .at_home = heading.at_home != 0};
    return 0;
}

static int find_shelf(struct pleat_items *items, const struct pleat_tail *tail, struct shelf *shelf,
                      uint64_t *bytes, struct pleat_error *err)
{
    int code = read_heading(items, tail, shelf, bytes, err);
    return code || items->item_bytes || shelf->at_home
               ? code
               : read_ends(items, tail->state, tail->offset + PAGE, shelf, err);
}

/* ---- on several nodes ---- */

int pleat_items_parts(const struct pleat_object *object, int rank, uint64_t offset,
                      struct pleat_stretches *list, struct pleat_error *err)
{
    const struct pleat_items *items = pleat_items_of_const(object);
    const struct pleat_place *place = &items->place;
    const uint64_t count = (uint64_t)items->ops.count(items->arg);
    const uint64_t ends = offset + PAGE;
    const uint64_t data = ends + ends_bytes(items, place->count);
    uint64_t bytes = 0;
    (void)err;
    for (uint64_t i = 0; i < count; i++)
        bytes += (uint64_t)pleat_item_bytes(items, (int64_t)i);
    int code = rank == 0 ? pleat_stretches_add(list, offset, offset + sizeof(struct heading)) : 0;
    if (!code && !items->item_bytes)
        code = pleat_stretches_add(list, ends + (uint64_t)place->first * sizeof(int64_t),
                                   ends + ((uint64_t)place->first + count) * sizeof(int64_t));
    return code ? code
                : pleat_stretches_add(list, data + (uint64_t)place->first_byte,
                                      data + (uint64_t)place->first_byte + bytes);
}

/* Lists what a rank needs, by steps: the heading; the ends of the share's items, and of the one
 * before; the items. */
int pleat_items_needs(struct pleat_object *object, const struct pleat_tail *tail, int step,
                      bool first, struct pleat_stretches *list, struct pleat_error *err)
{
    struct pleat_items *items = pleat_items_of(object);
    struct shelf shelf = {0};
    uint64_t bytes = 0;
    if (step == 0)
        return first
                   ? pleat_stretches_add(list, tail->offset, tail->offset + sizeof(struct heading))
                   : 0;
    int code = read_heading(items, tail, &shelf, &bytes, err);
    if (!code && shelf.at_home)
        return pleat_items_home_needs(items, tail, shelf.count, step - 1, list, err);
    if (!code && step > 1)
        code = find_shelf(items, tail, &shelf, &bytes, err);
    const uint64_t from = (uint64_t)shelf.share.first;
    const int64_t count = pleat_block_count(shelf.share);
    if (!code && count && step == 1 && !items->item_bytes)
        code =
            pleat_stretches_add(list, tail->offset + PAGE + (from ? from - 1 : 0) * sizeof(int64_t),
                                tail->offset + PAGE + (uint64_t)shelf.share.end * sizeof(int64_t));
    else if (!code && count && step == 2)
        code = pleat_stretches_add(list, shelf.offset + (uint64_t)end_before(items, &shelf, 0),
                                   shelf.offset + (uint64_t)end_before(items, &shelf, count));
    free(shelf.ends);
    return code == PLEAT_E_NOMEM
               ? pleat_error_set(err, code, "no memory to load '%s'", object->name)
               : code;
}

/* Reads the share through a buffer, whole items at a time. */
static int unpack_shelf(const struct pleat_items *items, const struct pleat_tail *tail,
                        const struct shelf *shelf, struct pleat_error *err)
{
    int64_t count = pleat_block_count(shelf->share);
    int64_t room = PLEAT_PARCEL_BYTES;
    for (int64_t i = 0; i < count; i++) {
        int64_t bytes = end_before(items, shelf, i + 1) - end_before(items, shelf, i);
        room = bytes > room ? bytes : room;
    }
    unsigned char *buffer = malloc((size_t)room);
    if (!buffer)
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory to load '%s'", items->object.name);
    int code = 0;
    for (int64_t i = 0; !code && i < count;) {
        int64_t from = end_before(items, shelf, i);
        int64_t last = i;
        while (last < count && end_before(items, shelf, last + 1) - from <= room)
            last++;
        code = pleat_state_read(tail->state, shelf->offset + (uint64_t)from, buffer,
                                (size_t)(end_before(items, shelf, last) - from), err);
        for (; !code && i < last; i++) {
            int64_t at = end_before(items, shelf, i);
            items->ops.unpack(i, buffer + (at - from), end_before(items, shelf, i + 1) - at,
                              items->arg);
        }
    }
    free(buffer);
    return code;
}

int pleat_items_load_tail(struct pleat_object *object, const struct pleat_tail *tail,
                          uint64_t *bytes, struct pleat_error *err)
{
    struct pleat_items *items = pleat_items_of(object);
    struct shelf shelf = {0};
    int code = find_shelf(items, tail, &shelf, bytes, err);
    int64_t count = pleat_block_count(shelf.share);
    if (!code && shelf.at_home)
        return pleat_items_load_home(items, tail, shelf.count, err);
    if (items->home)
        pleat_items_expect_home(items, tail);
    if (!code &&
        items->ops.open(count,
                        count ? end_before(items, &shelf, count) - end_before(items, &shelf, 0) : 0,
                        items->arg)) {
        code = pleat_error_set(err, PLEAT_E_NOMEM, "no memory for %" PRId64 " items of '%s'", count,
                               object->name);
    } else if (!code) {
        if (items->home && !pleat_home_fill(items->home))
            code = pleat_error_set(err, PLEAT_E_NOMEM, "no memory for %" PRId64 " items of '%s'",
                                   count, object->name);
        if (!code)
            code = unpack_shelf(items, tail, &shelf, err);
        items->ops.close(code == 0, items->arg);
    }
    free(shelf.ends);
    return code;
}
