/* items.h - data whose number of parts differs from rank to rank, and changes as the program goes:
 * an object (object.h) over a table of the program's functions.
 *
 * Items have a global order: those of rank 0 first, in their local order. A resize keeps it and
 * gives each rank as many as the others, or asks the program for each item's rank. Items are
 * packed, sent in messages, and unpacked, so there is one more copy of the local items than with
 * rows (rows.c). Items of the library's own arrays have a home (home.h): in the data file they are
 * not saved, and not sent when they are loaded, but copied once from where they were.
 *
 * In a saved state the items of an object are one sequence, which does not depend on the number of
 * ranks. It stands in the state's tail (saving.c), since its size is known only when it is saved.
 */
#ifndef PLEAT_APP_ITEMS_H
#define PLEAT_APP_ITEMS_H

#include "app/items-move.h"

/* Says, before pleat_items_add, that the items' memory is *home, which was initialized. */
void pleat_items_live(struct pleat_items *items, struct pleat_home *home,
                      const struct pleat_home_ops *ops);
/* Fills in *items, which is all zeros, but for what pleat_items_live says, or part of something
 * that `destroy` frees, and adds it to the session. A function of *ops is called with `arg`.
 * items->text is filled in before. PLEAT_E_INVALID, PLEAT_E_EXISTS, PLEAT_E_STATE: nothing is
 * freed. */
int pleat_items_add(struct pleat_session *session, struct pleat_items *items, const char *name,
                    const struct pleat_items_ops *ops, int64_t item_bytes, void *arg,
                    void (*destroy)(struct pleat_items *items),
                    struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
