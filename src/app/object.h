/* object.h - what a distributed object must be able to do to take part in a resize, and to be saved
 * and loaded (shm/state.h).
 *
 * Row blocks (rows.c) are the first kind; a 2-D block-cyclic matrix is another set of functions. A
 * resize calls prepare on every rank, then agrees on the outcome, then exchange and commit, or
 * cancel: up to the agreement nothing is changed.
 */
#ifndef PLEAT_APP_OBJECT_H
#define PLEAT_APP_OBJECT_H

#include <mpi.h>
#include <stdint.h>

#include "base/error.h"
#include "shm/state.h"

#define PLEAT_NAME_SIZE 64

/* Data move over `comm`, which holds the ranks from before and after: the larger of the two sets.
 * Ranks keep their number; those beyond a size have nothing on that side. */
struct pleat_change {
    MPI_Comm comm;
    int rank;
    int old_size;
    int new_size;
};

struct pleat_object;

struct pleat_object_ops {
    /* A hash of kind, shape and element size: all ranks must agree. */
    uint64_t (*shape)(const struct pleat_object *object);
    /* Everything that can fail for want of memory. No communication. */
    int (*prepare)(struct pleat_object *object, const struct pleat_change *change,
                   struct pleat_error *err);
    void (*cancel)(struct pleat_object *object);
    /* Moves the data. A failure leaves the object unusable. */
    int (*exchange)(struct pleat_object *object, const struct pleat_change *change,
                    struct pleat_error *err);
    void (*commit)(struct pleat_object *object, const struct pleat_change *change);
    /* Bytes that change their rank, over all ranks. */
    uint64_t (*moved)(const struct pleat_object *object, const struct pleat_change *change);
    /* Bytes of the whole object in a saved state: one array, in an order that knows nothing of how
     * many ranks there are. */
    uint64_t (*stored)(const struct pleat_object *object);
    /* This rank's part, to and from its place in the object that begins at `offset` of the state.
     * No communication. After load, what is not stored (halos) is as after a resize. */
    int (*save)(const struct pleat_object *object, struct pleat_state *state, uint64_t offset,
                struct pleat_error *err);
    int (*load)(struct pleat_object *object, struct pleat_state *state, uint64_t offset,
                struct pleat_error *err);
    void (*destroy)(struct pleat_object *object);
};

/* The head of every kind. */
struct pleat_object {
    const struct pleat_object_ops *ops;
    struct pleat_object *next; /* in the order of registration */
    char name[PLEAT_NAME_SIZE];
};

#endif
