/* array-part.h - arrays of any distribution (dist/dist.h), in local arrays that the library owns.
 *
 * In the data file (shm/state.h) an array has a window with two halves. A half has an area for each
 * rank; the file is sparse, so only areas in use take memory. At a resize each new rank copies what
 * it gets from the old ranks' areas into its own area in the other half: every element is copied
 * once, and by as many processes as there are. A mark in the window says which half has the array,
 * and how it is distributed. It changes when all ranks have their parts. So at any time the window
 * has a whole array, whoever dies, and memory is needed twice for one array at a time only.
 *
 * Without a data file the parts are private memory, and are sent in messages.
 *
 * An array that is cut into blocks in its slowest dimension only, a slab for each rank, is rows
 * (rows.h): each has one place in the data file, whoever has it, so a resize only maps others.
 */
#ifndef PLEAT_APP_ARRAY_PART_H
#define PLEAT_APP_ARRAY_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "app/memory.h"
#include "app/rows.h"
#include "app/session.h"
#include "dist/plan.h"

_Static_assert(PLEAT_ARRAY_DIMS == PLEAT_DIST_DIMS, "arrays have as many dimensions as dist/ has");

/* The array at one size, and this rank's part of it. */
struct pleat_array_part {
    struct pleat_dist dist; /* dims 0: there is none */
    struct pleat_layout layout;
    int rank;
    int coordinates[PLEAT_DIST_DIMS];
    bool is_in_grid;
    unsigned half;         /* of the window */
    unsigned char *memory; /* NULL: no part, or not opened */
    size_t mapped;
};

/* All old parts, mapped to be read. */
struct pleat_old_parts {
    unsigned char *memory; /* NULL: not mapped */
    size_t mapped;
    uint64_t stride;
};

/* What was done for the array before it is loaded (array-ahead.c). */
struct pleat_array_ahead {
    bool begun;                   /* the place of the array is known */
    bool has_memory;              /* `now` has its memory in the data file already */
    struct pleat_array_part from; /* where the array will be loaded from, as far as can be known */
    struct pleat_old_parts old;
    struct pleat_memory_ahead *sources; /* each is a part in `old` from which elements will come */
    size_t source_count;
};

struct pleat_array {
    struct pleat_object object;
    struct pleat_session *session;
    struct pleat_array_shape shape;
    uint64_t window;  /* in the data file */
    int fd;           /* the data file, borrowed; -1: private memory */
    MPI_Comm comm;    /* communicator of the grid; MPI_COMM_NULL: not made, or this rank is not in
                       * the grid */
    bool has_comm;    /* the ranks have made it since the last resize */
    int context;      /* BLACS context of the grid; negative: this rank is not in it */
    bool has_context; /* the ranks have made it since the last resize */
    struct pleat_rows *rows; /* NULL: the array is in parts, as above; else it is rows, which have
                              * its memory */
    struct pleat_array_part now;
    /* between prepare and exchange, or cancel */
    struct pleat_array_part coming;
    struct pleat_dist_plan send, receive; /* receive: also between load and gather */
    struct pleat_old_parts old;
    struct pleat_array_ahead ahead; /* between foresee and load */
    /* between load and tidy: where the array was loaded from, if it was distributed otherwise */
    struct pleat_array_part loaded;
};

static inline struct pleat_array *pleat_array_of(struct pleat_object *object)
{
    return (struct pleat_array *)(void *)object;
}

static inline const struct pleat_array *pleat_array_of_const(const struct pleat_object *object)
{
    return (const struct pleat_array *)(const void *)object;
}

/* ---- array-part.c: a size, its grid, memory ---- */

/* Fills all of *part but its memory and half. grid: NULL: the one that the program names, or else
 * the one proposed. rank: may be beyond the size, and has no part then. PLEAT_E_INVALID,
 * PLEAT_E_TOOBIG. */
int pleat_array_part_describe(const struct pleat_array *array, int size, int rank, const int *grid,
                              struct pleat_array_part *part,
                              struct pleat_error *err) PLEAT_MUST_CHECK;
/* The most processes in a dimension with which its parts are not narrower than its halos
 * (pleat_dim_halo_processes). */
int64_t pleat_array_part_most(const struct pleat_dimension *dim);
/* As pleat_object_ops.usable. */
int pleat_array_part_usable(const struct pleat_object *object, int size,
                            struct pleat_error *err) PLEAT_MUST_CHECK;
/* Whether the parts of all ranks have room in a half of a window. */
bool pleat_array_part_fits_window(const struct pleat_dist *dist);
/* A hash of the grid, which must be equal on all ranks. */
uint64_t pleat_array_part_grid(const struct pleat_array_part *part);
/* PLEAT_E_NOMEM where less memory is available than `bytes` for new parts of the array. What that
 * half of the window has already counts as available. */
int pleat_array_part_check_room(const struct pleat_array *array, unsigned half, uint64_t bytes,
                                struct pleat_error *err) PLEAT_MUST_CHECK;
/* The bytes that all ranks together need for their parts. */
uint64_t pleat_array_part_bytes_of_all(const struct pleat_array_part *part);
/* Takes address space for a part, of its area or private. The memory must not be touched before
 * pleat_array_part_fill. PLEAT_E_NOMEM. */
int pleat_array_part_reserve(const struct pleat_array *array, struct pleat_array_part *part,
                             struct pleat_error *err) PLEAT_MUST_CHECK;
/* Gives a reserved part its memory, which is zero; in the file it frees what an earlier attempt may
 * have left there. at_once: takes all of it, so that a lack of memory is an error and not a signal.
 * PLEAT_E_NOMEM. */
int pleat_array_part_fill(const struct pleat_array *array, struct pleat_array_part *part,
                          bool at_once, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Takes all memory that a reserved part does not have yet, whatever is in it. PLEAT_E_NOMEM. */
int pleat_array_part_populate(const struct pleat_array *array, const struct pleat_array_part *part,
                              struct pleat_error *err) PLEAT_MUST_CHECK;
/* Frees what an earlier attempt may have left in the rest of this rank's area. */
void pleat_array_part_free_rest(const struct pleat_array *array,
                                const struct pleat_array_part *part);
void pleat_array_part_zero_halos(struct pleat_array_part *part);
void pleat_array_part_close(struct pleat_array_part *part);
/* As pleat_array_part_close, but the pages are forgotten later (freeing.h). */
void pleat_array_part_close_later(const struct pleat_array *array, struct pleat_array_part *part);
/* Changes made from now on stay in this process. */
void pleat_array_part_detach(const struct pleat_array *array, struct pleat_array_part *part);
/* Where the area of a rank begins: an offset as in a state. */
uint64_t pleat_array_part_offset(const struct pleat_array *array,
                                 const struct pleat_array_part *part, int rank);
/* Bytes of the pages of a part. */
size_t pleat_array_part_pages(const struct pleat_layout *layout);
/* Has a rank's area of an unused half freed later (freeing.h). If all ranks do that for theirs, the
 * whole half is free. */
void pleat_array_part_free_area_later(const struct pleat_array *array,
                                      const struct pleat_array_part *part, int rank);
/* Frees such an area at once. */
void pleat_array_part_free_area(const struct pleat_array *array,
                                const struct pleat_array_part *part, int rank);
/* Frees the half that the part is not in. */
void pleat_array_part_free_other_half(const struct pleat_array *array,
                                      const struct pleat_array_part *part);
/* Maps the parts of all ranks. PLEAT_E_NOMEM. */
int pleat_old_parts_open(const struct pleat_array *array, const struct pleat_array_part *part,
                         struct pleat_old_parts *old, struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_old_parts_close(struct pleat_old_parts *old);
/* As pleat_old_parts_close, but the pages are forgotten later (freeing.h). */
void pleat_old_parts_close_later(const struct pleat_array *array, struct pleat_old_parts *old);

/* ---- array-mark.c ---- */

#define PLEAT_MARKS_BYTES 112 /* of all marks, with which a window begins */
/* Says in the window that the array is where `part` says. PLEAT_E_NOMEM. */
int pleat_mark_write(const struct pleat_array *array, const struct pleat_array_part *part,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
/* Fills *part with what the window has, as rank `rank` of that size would see it. PLEAT_E_CORRUPT.
 */
int pleat_mark_read(const struct pleat_array *array, int rank, struct pleat_array_part *part,
                    struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- array-ahead.c: before an array is loaded ---- */

enum pleat_foreseen pleat_array_foresee(struct pleat_object *object, int data);
/* Maps the parts of all ranks in `from`, unless they are mapped already; then *old has them.
 * PLEAT_E_NOMEM. */
int pleat_array_sources(struct pleat_array *array, const struct pleat_array_part *from,
                        struct pleat_old_parts *old, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Drops the work done ahead; `now` keeps its memory. */
void pleat_array_drop_ahead(struct pleat_array *array);

/* ---- array-comm.c ---- */

/* Frees the communicator and the BLACS context (object.h). */
void pleat_array_release(struct pleat_object *object);

/* ---- array-blacs.c ---- */

/* Ends the context, if there is one. Collective over the ranks of the grid. */
void pleat_array_end_context(struct pleat_array *array);

/* ---- array-move.c: a resize; the functions are those of object.h ---- */

int pleat_array_prepare(struct pleat_object *object, const struct pleat_change *change,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_array_cancel(struct pleat_object *object);
int pleat_array_exchange(struct pleat_object *object, const struct pleat_change *change,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
uint64_t pleat_array_moved(const struct pleat_object *object, const struct pleat_change *change);
/* Copies a rank's new part from the old ones, which are mapped. */
int pleat_array_copy(const struct pleat_dist_plan *plan, const struct pleat_old_parts *old,
                     struct pleat_array_part *new, struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- array-state.c: saving and loading; the functions are those of object.h ---- */

uint64_t pleat_array_stored(const struct pleat_object *object);
int pleat_array_save(const struct pleat_object *object, struct pleat_state *state,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_array_load(struct pleat_object *object, struct pleat_state *state, int data,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_array_parts(const struct pleat_object *object, bool in_data, bool loading,
                      struct pleat_stretches *list, struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_array_fits(const struct pleat_object *object, int size,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
/* Whether a rank's part of the old array is in the memory of this node. */
bool pleat_array_is_here(const struct pleat_array *array, int old_rank);

int pleat_array_settle(const struct pleat_object *object, struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_array_tidy(struct pleat_object *object);

/* ---- array-slab.c: arrays that are rows; the functions are those of object.h ---- */

/* Whether an array of that shape can be rows. It does not depend on the number of ranks. */
bool pleat_slab_suits(const struct pleat_array_shape *shape);
/* This rank's slab of a program that starts. PLEAT_E_NOMEM, and errors of
 * pleat_array_part_describe. */
int pleat_slab_open(struct pleat_array *array, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Accepts an array without rows. */
void pleat_slab_close(struct pleat_array *array);
int pleat_slab_prepare(struct pleat_object *object, const struct pleat_change *change,
                       struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_slab_cancel(struct pleat_object *object);
int pleat_slab_exchange(struct pleat_object *object, const struct pleat_change *change,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_slab_commit(struct pleat_object *object, const struct pleat_change *change,
                      struct pleat_error *err) PLEAT_MUST_CHECK;
uint64_t pleat_slab_moved(const struct pleat_object *object, const struct pleat_change *change);
int pleat_slab_save(const struct pleat_object *object, struct pleat_state *state,
                    struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_slab_load(struct pleat_object *object, struct pleat_state *state, int data,
                    struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_slab_parts(const struct pleat_object *object, bool in_data, bool loading,
                     struct pleat_stretches *list, struct pleat_error *err) PLEAT_MUST_CHECK;
enum pleat_foreseen pleat_slab_foresee(struct pleat_object *object, int data);
void pleat_slab_detach(struct pleat_object *object);

/* ---- array-gather.c: elements that come from other nodes; as in object.h ---- */

int pleat_array_gather(struct pleat_object *object, int *code,
                       struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
