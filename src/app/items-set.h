/* items-set.h - a set of items (items.h): its members, for the files items*.c. */
#ifndef PLEAT_APP_ITEMS_SET_H
#define PLEAT_APP_ITEMS_SET_H

#include "app/home.h"
#include "app/object.h"
#include "pleat.h"

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
    int64_t item_bytes;      /* of each item; 0: they differ */
    char text[112];          /* what they are, as registered: kind and sizes */
    struct pleat_home *home; /* where their memory is; NULL: it is the program's */
    const struct pleat_home_ops *home_ops;

    /* only during a resize */
    struct pleat_parcel *outgoing, *incoming; /* for each rank of the change */
    int64_t *order;                           /* items in the order of their ranks; NULL: as is */
    unsigned char *out, *in;
    int64_t out_bytes, in_bytes;
    bool opened;
    uint64_t moved;
    /* of items with a home: how many each rank will have; during a save: how many it has */
    int64_t *counts;
    int count_size;
    int64_t *olds;      /* during a resize: how many each rank has */
    uint64_t all_bytes; /* during a resize: of the items of all ranks */

    struct pleat_place place; /* only during a save */
    uint64_t hash;            /* of all ranks, if it is noted */

    void (*destroy)(struct pleat_items *items); /* frees the record that begins with the items */
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

#endif
