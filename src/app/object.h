/* object.h - what a distributed object must be able to do to take part in a resize, and to be saved
 * and loaded (shm/state.h).
 *
 * There are rows in blocks (rows.c) and arrays of any distribution (array.c); another kind would be
 * another set of these functions. A resize calls prepare on every rank, and the ranks agree on the
 * outcome; then it calls exchange and commit, or cancel. Up to the agreement nothing has changed.
 */
#ifndef PLEAT_APP_OBJECT_H
#define PLEAT_APP_OBJECT_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "app/memory.h"
#include "base/array.h"
#include "base/error.h"
#include "dist/spread.h"
#include "shm/state.h"

#define PLEAT_NAME_SIZE 64

/* A change of size. Data move over `comm`, which has the ranks of the larger of the two sizes.
 * Ranks keep their numbers; a rank at or above a size has no data at that size. */
struct pleat_change {
    MPI_Comm comm;
    int rank;
    int old_size;
    int new_size;
    bool in_data; /* the objects are in the data file, in which the data stay */
    int data;     /* its descriptor */
};

struct pleat_object;
struct pleat_session;
struct pleat_checkpoint_entry;

/* Parts of a state that a rank has or needs (nodes.h). */
PLEAT_ARRAY(pleat_stretches, struct pleat_stretch);

/* Appends bytes first to end - 1. PLEAT_E_NOMEM. */
static inline int pleat_stretches_add(struct pleat_stretches *list, uint64_t first, uint64_t end)
{
    const struct pleat_stretch one = {first, end, 0, 0};
    return first < end ? pleat_array_push(list, one) : 0;
}

/* What is compared to see whether a move has lost, doubled or changed something. */
struct pleat_sums {
    uint64_t count;
    uint64_t hash; /* sum of a hash of each item */
};

/* A tail as it is loaded: of a state from `offset` to `end` (shm/state.h). */
struct pleat_tail {
    struct pleat_state *state;
    uint64_t offset, end;
    int rank, size; /* this rank, and the number of ranks, of those that load the tail */
};

#define PLEAT_TAIL_STEPS 4

/* Objects whose size is known only when they are saved or moved: they stand in the tail of a state,
 * behind the values, each on pages of its own. */
struct pleat_tail_ops {
    /* Before prepare: the ranks tell one another what each sends. Collective over change->comm,
     * also after an error. */
    int (*measure)(struct pleat_object *object, const struct pleat_change *change,
                   struct pleat_error *err);
    /* Before a save: the ranks tell one another how much each has. Collective over comm. */
    int (*place)(struct pleat_object *object, MPI_Comm comm, int rank, struct pleat_error *err);
    /* After `place`: number of bytes of the whole object. */
    uint64_t (*bytes)(const struct pleat_object *object);
    /* Writes this rank's part of the object, which begins at that offset. No communication. */
    int (*save)(const struct pleat_object *object, int rank, struct pleat_state *state,
                uint64_t offset, struct pleat_error *err);
    /* Reads this rank's share of the whole, in order. *bytes: of the whole. No communication. */
    int (*load)(struct pleat_object *object, const struct pleat_tail *tail, uint64_t *bytes,
                struct pleat_error *err);
    /* As pleat_object_ops.parts, of the object that `save` wrote at that offset. */
    int (*parts)(const struct pleat_object *object, int rank, uint64_t offset,
                 struct pleat_stretches *list, struct pleat_error *err);
    /* Lists what `load` will read, in steps from 0 to PLEAT_TAIL_STEPS - 1: at each step, the bytes
     * of all steps before it are there. first: this rank is the first of its node, and also lists
     * what all of its ranks read. */
    int (*needs)(struct pleat_object *object, const struct pleat_tail *tail, int step, bool first,
                 struct pleat_stretches *list, struct pleat_error *err);
    /* Sums of this rank's part, such that their totals do not depend on which rank has which item.
     * PLEAT_E_CORRUPT: the program's functions do not give the same bytes twice; PLEAT_E_NOMEM. */
    int (*sums)(const struct pleat_object *object, struct pleat_sums *sums,
                struct pleat_error *err);
    /* Whether parts have to change their ranks after a load. */
    bool (*arranges)(const struct pleat_object *object);
};

struct pleat_object_ops {
    /* A hash of kind, shape and element size, which must be equal on all ranks. */
    uint64_t (*shape)(const struct pleat_object *object);
    /* The same in words. */
    void (*text)(const struct pleat_object *object, char *text, size_t size);
    /* A hash of the process grid that prepare has chosen, or else of the present one; it must be
     * equal on all ranks. NULL: there is no choice. */
    uint64_t (*chosen)(const struct pleat_object *object);
    /* The process grid with `size` ranks: returns its dimensions, and sets grid[0] to grid[that -
     * 1], of an object that is distributed in at least two of them; else 0. NULL: it never is. */
    int (*grid)(const struct pleat_object *object, int size, int *grid);
    /* Does everything that can fail for want of memory. No communication. */
    int (*prepare)(struct pleat_object *object, const struct pleat_change *change,
                   struct pleat_error *err);
    void (*cancel)(struct pleat_object *object);
    /* Frees communicators that were made from the session's, before that is replaced. Collective
     * over the ranks so far. NULL: there are none. */
    void (*release)(struct pleat_object *object);
    /* Moves the data to other ranks, or, in the data file, to where these will have them.
     * Collective over change->comm. After a failure the object is unusable. */
    int (*exchange)(struct pleat_object *object, const struct pleat_change *change,
                    struct pleat_error *err);
    /* Takes the new local part into use. After a failure the object is unusable. */
    int (*commit)(struct pleat_object *object, const struct pleat_change *change,
                  struct pleat_error *err);
    /* Number of bytes that change their rank, over all ranks. */
    uint64_t (*moved)(const struct pleat_object *object, const struct pleat_change *change);
    /* Number of bytes of the whole object in a saved state: one array, whose order does not depend
     * on the number of ranks. */
    uint64_t (*stored)(const struct pleat_object *object);
    /* Sets kind, shape, dimensions and element_bytes of the object's entry in a checkpoint, which
     * must be the same when a program goes on from it. NULL: its size alone. */
    void (*describe)(const struct pleat_object *object, struct pleat_checkpoint_entry *entry);
    /* Writes or reads this rank's part of the object, which begins at object->offset of the state.
     * No communication. In the data file only bytes that are not there yet are written. Halos,
     * which are not stored, are after load as after a resize. data: after load the object is in
     * this file; -1: it is in private memory. */
    int (*save)(const struct pleat_object *object, struct pleat_state *state,
                struct pleat_error *err);
    int (*load)(struct pleat_object *object, struct pleat_state *state, int data,
                struct pleat_error *err);
    /* Where there are several nodes (nodes.h): lists the bytes of a state that this rank writes, or
     * (loading) will read. in_data: of the data file, else of a slot. PLEAT_E_UNSUPPORTED: this
     * cannot be done over several nodes; PLEAT_E_NOMEM. NULL: none. */
    int (*parts)(const struct pleat_object *object, bool in_data, bool loading,
                 struct pleat_stretches *list, struct pleat_error *err);
    /* After load, where there are several nodes: gets from ranks of other nodes what could not be
     * loaded from this one. Collective; *code: this rank's error, before and after. Returns a
     * negative code if the communication failed. NULL: all is loaded. */
    int (*gather)(struct pleat_object *object, int *code, struct pleat_error *err);
    /* Called while the ranks wait for a state in the data file, in which others still compute:
     * maps, and provides memory for, what this rank will have, so that less is left to load. It
     * changes nothing in the file, and may do nothing. It is called again until it returns
     * PLEAT_FORESEEN_ALL or the state is there, each time for some milliseconds. Then `load` is
     * called. No communication. NULL: nothing can be done. */
    enum pleat_foreseen (*foresee)(struct pleat_object *object, int data);
    /* PLEAT_E_NOMEM, PLEAT_E_INVALID, ...: if the program is started again at this size, it will
     * not be able to load the object from the data file. NULL: it will. */
    int (*fits)(const struct pleat_object *object, int size, struct pleat_error *err);
    /* PLEAT_E_INVALID: with that many ranks parts would be narrower than the halos that their
     * neighbours have of them. NULL: there are no halos. */
    int (*usable)(const struct pleat_object *object, int size, struct pleat_error *err);
    /* From now on this rank does not change the data file. */
    void (*detach)(struct pleat_object *object);
    /* Called in the first rank of each node, once all ranks have loaded the object, while the data
     * file is the state: from now on the object is in the state where it was loaded to. NULL: it
     * stays where it was. */
    int (*settle)(const struct pleat_object *object, struct pleat_error *err);
    /* Called in every rank after settle: frees the place where the object was. */
    void (*tidy)(struct pleat_object *object);
    void (*destroy)(struct pleat_object *object);
};

/* Every kind of object begins with this. */
struct pleat_object {
    const struct pleat_object_ops *ops;
    const struct pleat_tail_ops *tail; /* NULL: the object's size is always the same */
    struct pleat_object *next;         /* in the order of registration */
    char name[PLEAT_NAME_SIZE];
    uint64_t offset;         /* the object's offset in a state, on a page of its own */
    bool is_foreseen;        /* all that can be done before the object is loaded is done */
    bool is_noted;           /* sums.c; the same on all ranks */
    struct pleat_sums noted; /* sums of this rank's part, before a move */
};

#endif
