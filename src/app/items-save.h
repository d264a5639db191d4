/* items-save.h - items in the tail of a state */
#ifndef PLEAT_APP_ITEMS_SAVE_H
#define PLEAT_APP_ITEMS_SAVE_H

#include "app/items-move.h"

/* Operations of tails (object.h). */

int pleat_items_place(struct pleat_object *object, MPI_Comm comm, int rank,
                      struct pleat_error *err) PLEAT_MUST_CHECK;
uint64_t pleat_items_tail(const struct pleat_object *object);
int pleat_items_save_tail(const struct pleat_object *object, int rank, struct pleat_state *state,
                          uint64_t offset, struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_items_load_tail(struct pleat_object *object, const struct pleat_tail *tail,
                          uint64_t *bytes, struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_items_parts(const struct pleat_object *object, int rank, uint64_t offset,
                      struct pleat_stretches *list, struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_items_needs(struct pleat_object *object, const struct pleat_tail *tail, int step,
                      bool first, struct pleat_stretches *list,
                      struct pleat_error *err) PLEAT_MUST_CHECK;
/* Bytes of a buffer that holds any of this rank's items. */
int64_t pleat_items_room(const struct pleat_items *items);

#endif
