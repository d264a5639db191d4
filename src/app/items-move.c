/* Moves items: which goes to which rank, room for them, messages. */
#include "app/items-move.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "app/blocks.h"
#include "app/items-home.h"
#include "app/session.h"

#define ITEMS_TAG 0x5050

/* ---- which item goes where ---- */

/* Where this rank's items stand. Collective. count, bytes: of this rank. */
int pleat_items_find_place(MPI_Comm comm, int rank, int64_t count, int64_t bytes,
                           struct pleat_place *place, struct pleat_error *err)
{
    const int64_t mine[2] = {count, bytes};
    int64_t before[2] = {0};
    int64_t all[2] = {0};
    int code = pleat_mpi_check(MPI_Exscan(mine, before, 2, MPI_INT64_T, MPI_SUM, comm),
                               "counting items", err);
    if (!code)
        code = pleat_mpi_check(MPI_Allreduce(mine, all, 2, MPI_INT64_T, MPI_SUM, comm),
                               "counting items", err);
    *place = (struct pleat_place){rank ? before[0] : 0, rank ? before[1] : 0, all[0], all[1]};
    return code;
}

/* The rank of a place in the global order. */
static int rank_of_place(int64_t place, int64_t count, int size)
{
    int64_t base = count / size;
    int64_t more = count % size; /* the first ranks have one more */
    int64_t in_long = more * (base + 1);
    return (int)(place < in_long ? place / (base + 1) : more + (place - in_long) / base);
}

static int add_to_parcel(const struct pleat_items *items, int64_t item, int rank, int size,
                         struct pleat_error *err)
{
    int64_t bytes = pleat_item_bytes(items, item);
    if (rank < 0 || rank >= size)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "'%s': the program gives item %" PRId64
                               " to rank %d, but there are ranks 0 to %d",
                               items->object.name, item, rank, size - 1);
    if (bytes < 0 || pleat_item_packed(items, bytes) > INT_MAX)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "'%s': item %" PRId64 " has %" PRId64
                               " bytes: an item has 0 to 2147483639",
                               items->object.name, item, bytes);
    struct pleat_parcel *parcel = &items->outgoing[rank];
    parcel->count++;
    parcel->bytes += bytes;
    if (bytes > parcel->largest)
        parcel->largest = bytes;
    return 0;
}

/* Sorts the items by rank; those of a rank keep their order. */
static int sort_by_owner(struct pleat_items *items, int64_t count, int size,
                         struct pleat_error *err)
{
    int64_t *next = calloc((size_t)size + 1, sizeof(*next));
    items->order = calloc(count ? (size_t)count : 1, sizeof(*items->order));
    int code = next && items->order
                   ? 0
                   : pleat_error_set(err, PLEAT_E_NOMEM, "no memory to sort the items of '%s'",
                                     items->object.name);
    for (int64_t i = 0; !code && i < count; i++)
        code = add_to_parcel(items, i, items->ops.owner(i, size, items->arg), size, err);
    for (int rank = 0; !code && rank < size; rank++)
        next[rank + 1] = next[rank] + items->outgoing[rank].count;
    for (int64_t i = 0; !code && i < count; i++) {
        int rank = items->ops.owner(i, size, items->arg);
        if (rank < 0 || rank >= size || next[rank] >= count)
            code = pleat_error_set(err, PLEAT_E_INVALID,
                                   "'%s': asked twice for the rank of item %" PRId64
                                   ", the program gives two answers",
                                   items->object.name, i);
        else
            items->order[next[rank]++] = i;
    }
    free(next);
    return code;
}

/* Fills `outgoing`. No communication. */
static int sort_items(struct pleat_items *items, const struct pleat_place *place, int64_t count,
                      int size, struct pleat_error *err)
{
    if (items->ops.owner)
        return sort_by_owner(items, count, size, err);
    int code = 0;
    for (int64_t i = 0; !code && i < count; i++)
        code =
            add_to_parcel(items, i, rank_of_place(place->first + i, place->count, size), size, err);
    return code;
}

void pleat_items_forget(struct pleat_items *items)
{
    free(items->outgoing);
    free(items->incoming);
    free(items->order);
    free(items->out);
    free(items->in);
    free(items->counts);
    free(items->olds);
    items->counts = items->olds = NULL;
    items->outgoing = items->incoming = NULL;
    items->order = NULL;
    items->out = items->in = NULL;
}

/* All ranks tell one another how much they send. Every rank takes part in it, whatever it lacks. */
int pleat_items_measure(struct pleat_object *object, const struct pleat_change *change,
                        struct pleat_error *err)
{
    struct pleat_items *items = pleat_items_of(object);
    const int ranks = change->old_size > change->new_size ? change->old_size : change->new_size;
    int64_t count = change->rank < change->old_size ? items->ops.count(items->arg) : 0;
    struct pleat_place place;
    int code = pleat_items_find_place(change->comm, change->rank, count, 0, &place, err);
    if (code)
        return code;
    items->outgoing = calloc((size_t)ranks, sizeof(*items->outgoing));
    items->incoming = calloc((size_t)ranks, sizeof(*items->incoming));
    bool room = items->outgoing && items->incoming;
    int everybody = 0;
    code = pleat_mpi_agree(change->comm, room ? 0 : PLEAT_E_NOMEM, &everybody, err);
    if (code || everybody)
        return code ? code
                    : pleat_error_set(err, PLEAT_E_NOMEM, "no memory to count the items of '%s'",
                                      object->name);
    int bad = sort_items(items, &place, count, change->new_size, err);
    _Static_assert(sizeof(struct pleat_parcel) == 3 * sizeof(int64_t), "three numbers are sent");
    code = pleat_mpi_check(MPI_Alltoall(items->outgoing, 3, MPI_INT64_T, items->incoming, 3,
                                        MPI_INT64_T, change->comm),
                           "counting items", code || bad ? NULL : err);
    if (items->home && !code)
        code = pleat_items_measure_home(items, change, code || bad ? NULL : err);
    uint64_t leaving = 0;
    for (int rank = 0; rank < ranks; rank++)
        leaving += rank == change->rank ? 0 : (uint64_t)items->outgoing[rank].bytes;
    int failed = pleat_mpi_check(
        MPI_Allreduce(&leaving, &items->moved, 1, MPI_UINT64_T, MPI_SUM, change->comm),
        "counting items", code || bad ? NULL : err);
    return bad ? bad : code ? code : failed;
}

/* ---- making room ---- */

/* Size of the largest message for a parcel. */
static int64_t message_bytes(const struct pleat_items *items, const struct pleat_parcel *parcel)
{
    int64_t all = parcel->bytes + parcel->count * pleat_item_packed(items, 0);
    int64_t one = parcel->count ? pleat_item_packed(items, parcel->largest) : 0;
    int64_t most = all < PLEAT_PARCEL_BYTES ? all : PLEAT_PARCEL_BYTES;
    return one > most ? one : most;
}

static int64_t buffer_bytes(const struct pleat_items *items, const struct pleat_parcel *parcels,
                            int ranks)
{
    int64_t most = 0;
    for (int rank = 0; rank < ranks; rank++) {
        int64_t bytes = message_bytes(items, &parcels[rank]);
        most = bytes > most ? bytes : most;
    }
    return most;
}

/* Buffers for messages, and room for what comes. */
static bool make_room(struct pleat_items *items, const struct pleat_change *change, int64_t count,
                      int64_t bytes)
{
    const int ranks = change->old_size > change->new_size ? change->old_size : change->new_size;
    int64_t out_bytes = buffer_bytes(items, items->outgoing, ranks);
    items->in_bytes = buffer_bytes(items, items->incoming, change->old_size);
    items->out = malloc(out_bytes ? (size_t)out_bytes : 1);
    items->in = malloc(items->in_bytes ? (size_t)items->in_bytes : 1);
    bool room = items->out && items->in;
    if (room && change->rank < change->new_size) {
        room = items->ops.open(count, bytes, items->arg) == 0;
        items->opened = room;
    }
    return room;
}

int pleat_items_prepare(struct pleat_object *object, const struct pleat_change *change,
                        struct pleat_error *err)
{
    struct pleat_items *items = pleat_items_of(object);
    const int ranks = change->old_size > change->new_size ? change->old_size : change->new_size;
    int64_t count = 0;
    int64_t bytes = 0;
    for (int rank = 0; rank < ranks; rank++) {
        count += items->incoming[rank].count;
        bytes += items->incoming[rank].bytes;
    }
    int code = items->home && change->in_data
                   ? pleat_home_check_room(items->home, items->all_bytes, err)
                   : 0;
    if (items->home)
        pleat_home_expect(items->home, change->in_data ? change->data : -1, change->new_size,
                          change->rank);
    if (!code && !pleat_items_copies(items, change) && !make_room(items, change, count, bytes))
        code = pleat_error_set(err, PLEAT_E_NOMEM,
                               "no memory for %" PRId64 " items of '%s' (%" PRId64 " bytes)", count,
                               object->name, bytes);
    if (code)
        pleat_items_forget(items);
    return code;
}

void pleat_items_cancel(struct pleat_object *object)
{
    struct pleat_items *items = pleat_items_of(object);
    if (items->opened)
        items->ops.close(0, items->arg);
    items->opened = false;
    pleat_items_forget(items);
}

/* ---- sending ---- */

/* Items on their way. Each rank sends to ranks 0, 1, .. and receives from ranks 0, 1, .. in this
 * order, so that what it gets is in the global order; of each one message at a time. So ranks do
 * not wait in a circle: a rank that waits for a sender waits for one with a lower number than the
 * rank that it sends to. */
struct traffic {
    struct pleat_items *items;
    const struct pleat_change *change;
    int to, from;           /* the present peers; -1 before the first */
    int64_t to_go, to_come; /* items left for and from these ranks */
    int64_t sent, arrived;  /* items, over all ranks */
    MPI_Request request[2]; /* sending, receiving */
};

static bool next_to(struct traffic *t)
{
    while (!t->to_go && ++t->to < t->change->new_size)
        t->to_go = t->items->outgoing[t->to].count;
    return t->to_go > 0;
}

static bool next_from(struct traffic *t)
{
    while (!t->to_come && ++t->from < t->change->old_size)
        t->to_come = t->items->incoming[t->from].count;
    return t->to_come > 0;
}

/* Packs as many whole items as there is room for. Returns their bytes. */
static int64_t pack_some(struct traffic *t)
{
    struct pleat_items *items = t->items;
    const int64_t most = message_bytes(items, &items->outgoing[t->to]);
    int64_t used = 0;
    for (; t->to_go; t->to_go--, t->sent++) {
        int64_t item = items->order ? items->order[t->sent] : t->sent;
        int64_t bytes = pleat_item_bytes(items, item);
        if (used + pleat_item_packed(items, bytes) > most)
            break;
        if (!items->item_bytes) {
            memcpy(items->out + used, &bytes, sizeof(bytes));
            used += (int64_t)sizeof(bytes);
        }
        items->ops.pack(item, items->out + used, items->arg);
        used += bytes;
    }
    return used;
}

static int unpack_some(struct traffic *t, int64_t got, struct pleat_error *err)
{
    struct pleat_items *items = t->items;
    int64_t at = 0;
    while (at < got && t->to_come) {
        int64_t bytes = items->item_bytes;
        if (!bytes && got - at < (int64_t)sizeof(bytes))
            break;
        if (!bytes) {
            memcpy(&bytes, items->in + at, sizeof(bytes));
            at += (int64_t)sizeof(bytes);
        }
        if (bytes < 0 || bytes > got - at)
            break;
        items->ops.unpack(t->arrived++, items->in + at, bytes, items->arg);
        at += bytes;
        t->to_come--;
    }
    return at == got
               ? 0
               : pleat_error_set(err, PLEAT_E_PROTOCOL, "'%s': the items of rank %d came damaged",
                                 items->object.name, t->from);
}

static int start_sending(struct traffic *t, struct pleat_error *err)
{
    if (t->request[0] != MPI_REQUEST_NULL || !next_to(t))
        return 0;
    int64_t before = t->to_go;
    int64_t bytes = pack_some(t);
    if (t->to_go == before)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "'%s': an item is larger now than when it was asked for first",
                               t->items->object.name);
    return pleat_mpi_check(MPI_Isend(t->items->out, (int)bytes, MPI_BYTE, t->to, ITEMS_TAG,
                                     t->change->comm, &t->request[0]),
                           "moving items", err);
}

static int start_receiving(struct traffic *t, struct pleat_error *err)
{
    if (t->request[1] != MPI_REQUEST_NULL || !next_from(t))
        return 0;
    return pleat_mpi_check(MPI_Irecv(t->items->in, (int)t->items->in_bytes, MPI_BYTE, t->from,
                                     ITEMS_TAG, t->change->comm, &t->request[1]),
                           "moving items", err);
}

static int exchange(struct pleat_object *object, const struct pleat_change *change,
                    struct pleat_error *err)
{
    struct traffic t = {.items = pleat_items_of(object),
                        .change = change,
                        .to = -1,
                        .from = -1,
                        .request = {MPI_REQUEST_NULL, MPI_REQUEST_NULL}};
    for (;;) {
        int which = 0;
        int bytes = 0;
        MPI_Status status;
        int code = start_receiving(&t, err);
        if (!code)
            code = start_sending(&t, err);
        if (!code)
            code = pleat_mpi_check(MPI_Waitany(2, t.request, &which, &status), "moving items", err);
        if (code || which == MPI_UNDEFINED)
            return code;
        if (which == 1)
            code = pleat_mpi_check(MPI_Get_count(&status, MPI_BYTE, &bytes), "moving items", err);
        if (which == 1 && !code)
            code = unpack_some(&t, bytes, err);
        if (code)
            return code;
    }
}

int pleat_items_exchange(struct pleat_object *object, const struct pleat_change *change,
                         struct pleat_error *err)
{
    struct pleat_items *items = pleat_items_of(object);
    const bool has_home = items->home && change->in_data;
    if (pleat_items_copies(items, change))
        return pleat_items_take_home(items, change, pleat_items_copy_home(items, change, err), err);
    int code = has_home ? pleat_items_fill_home(items, change, err) : 0;
    if (code)
        return code;
    code = exchange(object, change, err);
    return has_home ? pleat_items_take_home(items, change, code, err) : code;
}

int pleat_items_commit(struct pleat_object *object, const struct pleat_change *change,
                       struct pleat_error *err)
{
    struct pleat_items *items = pleat_items_of(object);
    (void)change;
    (void)err;
    if (items->opened)
        items->ops.close(1, items->arg);
    items->opened = false;
    pleat_items_forget(items);
    return 0;
}

uint64_t pleat_items_moved(const struct pleat_object *object, const struct pleat_change *change)
{
    (void)change;
    return pleat_items_of_const(object)->moved;
}
