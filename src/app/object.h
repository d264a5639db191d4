/* object.h - what a distributed object must be able to do to take part in a resize, and to be saved
 * and loaded (shm/state.h).
 *
 * Row blocks (rows.c) are the first kind. Another kind, such as a 2-D block-cyclic matrix, would be
 * another set of these functions. A resize calls prepare on every rank, and the ranks agree on the
 * outcome; then it calls exchange and commit, or cancel. Up to the agreement nothing has changed.
 */
#ifndef PLEAT_APP_OBJECT_H
#define PLEAT_APP_OBJECT_H

#include <mpi.h>
#include <stdint.h>

#include "base/error.h"
#include "shm/state.h"

#define PLEAT_NAME_SIZE 64

/* A change of size. Data move over `comm`, which has the ranks of the larger of the two sizes.
 * Ranks keep their numbers; a rank at or above a size has no data at that size. */
struct pleat_change {
    MPI_Comm comm;
    int rank;
    int old_size;
    int new_size;
};

struct pleat_object;

struct pleat_object_ops {
    /* A hash of kind, shape and element size, which must be equal on all ranks. */
    uint64_t (*shape)(const struct pleat_object *object);
    /* Does everything that can fail for want of memory. No communication. */
    int (*prepare)(struct pleat_object *object, const struct pleat_change *change,
                   struct pleat_error *err);
    void (*cancel)(struct pleat_object *object);
    /* Moves the data. After a failure the object is unusable. */
    int (*exchange)(struct pleat_object *object, const struct pleat_change *change,
                    struct pleat_error *err);
    void (*commit)(struct pleat_object *object, const struct pleat_change *change);
    /* Number of bytes that change their rank, over all ranks. */
    uint64_t (*moved)(const struct pleat_object *object, const struct pleat_change *change);
    /* Number of bytes of the whole object in a saved state: one array, whose order does not depend
     * on the number of ranks. */
    uint64_t (*stored)(const struct pleat_object *object);
    /* Writes or reads this rank's part of the object, which begins at `offset` of the state. No
     * communication. What is not stored (halos) is after load as after a resize. */
    int (*save)(const struct pleat_object *object, struct pleat_state *state, uint64_t offset,
                struct pleat_error *err);
    int (*load)(struct pleat_object *object, struct pleat_state *state, uint64_t offset,
                struct pleat_error *err);
    void (*destroy)(struct pleat_object *object);
};

/* Every kind of object begins with this. */
struct pleat_object {
    const struct pleat_object_ops *ops;
    struct pleat_object *next; /* in the order of registration */
    char name[PLEAT_NAME_SIZE];
};

#endif
