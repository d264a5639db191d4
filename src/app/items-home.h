/* items-home.h - items that have a home (home.h): where they are at a resize, in a save, and when
 * they are loaded. */
#ifndef PLEAT_APP_ITEMS_HOME_H
#define PLEAT_APP_ITEMS_HOME_H

#include "app/items-set.h"

/* All ranks tell one another how many items they have, or will have. Collective, also after an
 * error of another rank; `ranks` is the size of comm. PLEAT_E_NOMEM on all or on none. */
int pleat_items_gather_counts(struct pleat_items *items, MPI_Comm comm, int ranks, int64_t count,
                              struct pleat_error *err) PLEAT_MUST_CHECK;
/* In measure: finds how many items each rank will get, and in which half they are. Collective. */
int pleat_items_measure_home(struct pleat_items *items, const struct pleat_change *change,
                             struct pleat_error *err) PLEAT_MUST_CHECK;
/* Whether ranks copy the items that they get from the data file, so that nothing is sent. */
bool pleat_items_copies(const struct pleat_items *items, const struct pleat_change *change);
/* In exchange, if pleat_items_copies: copies this rank's share. */
int pleat_items_copy_home(struct pleat_items *items, const struct pleat_change *change,
                          struct pleat_error *err) PLEAT_MUST_CHECK;
/* In exchange, before any item comes: takes memory. Collective: all ranks or none go on. */
int pleat_items_fill_home(struct pleat_items *items, const struct pleat_change *change,
                          struct pleat_error *err) PLEAT_MUST_CHECK;
/* At the end of exchange: takes the items where they came to, and frees where they were. code: the
 * outcome of this rank's exchange. Collective. */
int pleat_items_take_home(struct pleat_items *items, const struct pleat_change *change, int code,
                          struct pleat_error *err) PLEAT_MUST_CHECK;
/* Whether the items are in the data file. */
bool pleat_items_in_file(const struct pleat_items *items);
/* Sets where items that are loaded from a copy will be. */
void pleat_items_expect_home(struct pleat_items *items, const struct pleat_tail *tail);
/* Loads this rank's share from where the mark says that the items are. count: of all ranks. */
int pleat_items_load_home(struct pleat_items *items, const struct pleat_tail *tail, int64_t count,
                          struct pleat_error *err) PLEAT_MUST_CHECK;
/* As in pleat_tail_ops, of items in a home; steps 0 (the mark) to 2. */
int pleat_items_home_needs(struct pleat_items *items, const struct pleat_tail *tail, int64_t count,
                           int step, struct pleat_stretches *list,
                           struct pleat_error *err) PLEAT_MUST_CHECK;
/* As in pleat_object_ops. */
enum pleat_foreseen pleat_items_foresee(struct pleat_object *object, int data);
int pleat_items_settle(const struct pleat_object *object, struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_items_tidy(struct pleat_object *object);
int pleat_items_fits(const struct pleat_object *object, int size,
                     struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
