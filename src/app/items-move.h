/* items-move.h - a set of items, and how it is moved (items.h) */
#ifndef PLEAT_APP_ITEMS_MOVE_H
#define PLEAT_APP_ITEMS_MOVE_H

#include "app/items-set.h"

/* Size of one message, and of a buffer for saving and loading, unless an item is larger. */
#define PLEAT_PARCEL_BYTES ((int64_t)16 << 20)

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
