/* items-move.h - a set of items, and how it is moved (items.h) */
#ifndef PLEAT_APP_ITEMS_MOVE_H
#define PLEAT_APP_ITEMS_MOVE_H

#include "app/object.h"
#include "pleat.h"

/* Size of one message, and of a buffer for saving and loading, unless an item is larger. */
#define PLEAT_PARCEL_BYTES ((int64_t)16 << 20)

/* What is packed for one other rank. */
struct pleat_parcel {
    int64_t count;
    int64_t bytes;   /* of all items, without their lengths */
    int64_t largest; /* bytes of the largest item */
};

/* Where this rank's items stand among those of all ranks. */
struct pleat_place {
    int64_t first, first_byte; /* of this rank */
    int64_t count, bytes;      /* of all ranks */
};

struct pleat_items {
    struct pleat_object object;
    struct pleat_items_ops ops;
    void *arg;
    int64_t item_bytes; /* of each item; 0: they differ */
    char text[112];     /* what they are, as registered: kind and sizes */

    /* only during a resize */
    struct pleat_parcel *outgoing, *incoming; /* for each rank of the change */
    int64_t *order;                           /* items in the order of their ranks; NULL: as is */
    unsigned char *out, *in;
    int64_t out_bytes, in_bytes;
    bool opened;
    uint64_t moved;

    struct pleat_place place; /* only during a save */
    uint64_t hash;            /* of all ranks, if it is noted */

    void (*destroy)(struct pleat_items *items); /* frees what the items begin */
};

static inline struct pleat_items *pleat_items_of(struct pleat_object *object)
{
    return (struct pleat_items *)(void *)object;
}

static inline const struct pleat_items *pleat_items_of_const(const struct pleat_object *object)
{
    return (const struct pleat_items *)(const void *)object;
}

static inline int64_t pleat_item_bytes(const struct pleat_items *items, int64_t item)
{
    return items->item_bytes ? items->item_bytes : items->ops.bytes(item, items->arg);
}

/* Bytes of an item in a message: where sizes differ its own stands in front. */
static inline int64_t pleat_item_packed(const struct pleat_items *items, int64_t bytes)
{
    return bytes + (items->item_bytes ? 0 : (int64_t)sizeof(int64_t));
}

/* Operations of objects and of tails (object.h). */

int pleat_items_measure(struct pleat_object *object, const struct pleat_change *change,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_items_prepare(struct pleat_object *object, const struct pleat_change *change,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_items_cancel(struct pleat_object *object);
int pleat_items_exchange(struct pleat_object *object, const struct pleat_change *change,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_items_commit(struct pleat_object *object, const struct pleat_change *change,
                       struct pleat_error *err) PLEAT_MUST_CHECK;
uint64_t pleat_items_moved(const struct pleat_object *object, const struct pleat_change *change);
/* Frees what a move needs. */
void pleat_items_forget(struct pleat_items *items);
/* Finds where this rank's items stand. Collective. count, bytes: of this rank. */
int pleat_items_find_place(MPI_Comm comm, int rank, int64_t count, int64_t bytes,
                           struct pleat_place *place, struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
