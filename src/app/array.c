/* Arrays of any distribution: made, and asked about. */
#include "app/array-part.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/memory.h"
#include "checkpoint/checkpoint.h"
#include "dist/descriptor.h"

/* ---- as an object ---- */

static uint64_t array_shape(const struct pleat_object *object)
{
    const struct pleat_array_shape *shape = &pleat_array_of_const(object)->shape;
    const int64_t whole[] = {shape->dims, (int64_t)shape->element_bytes, shape->column_major != 0,
                             shape->grid_column_major != 0};
    uint64_t hash = pleat_session_hash(UINT64_C(0xcbf29ce484222325), whole, sizeof(whole));
    for (int d = 0; d < shape->dims; d++) {
        const struct pleat_dimension *dim = &shape->dim[d];
        const int64_t members[] = {dim->extent, dim->format, dim->block, dim->halo_low,
                                   dim->halo_high};
        hash = pleat_session_hash(hash, members, sizeof(members));
    }
    if (shape->same_grid_as)
        hash = pleat_session_hash(hash, shape->same_grid_as->object.name, PLEAT_NAME_SIZE);
    return hash;
}

static void array_text(const struct pleat_object *object, char *text, size_t size)
{
    const struct pleat_array_shape *shape = &pleat_array_of_const(object)->shape;
    int at = snprintf(text, size, "array, %zu-byte elements, ", shape->element_bytes);
    for (int d = 0; d < shape->dims && at >= 0 && (size_t)at < size; d++) {
        const struct pleat_dimension *dim = &shape->dim[d];
        const char *format = dim->format == PLEAT_COLLAPSED ? "*"
                             : dim->format == PLEAT_BLOCK   ? "block"
                                                            : "cyclic";
        int more = snprintf(text + at, size - (size_t)at, "%s%" PRId64 " %s", d ? " x " : "",
                            dim->extent, format);
        at += more;
        if (dim->format == PLEAT_BLOCK_CYCLIC && at >= 0 && (size_t)at < size)
            at += snprintf(text + at, size - (size_t)at, "(%" PRId64 ")", dim->block);
    }
}

/* The distribution does not matter in a checkpoint, but the order of the elements does. */
static void array_describe(const struct pleat_object *object, struct pleat_checkpoint_entry *entry)
{
    const struct pleat_array_shape *shape = &pleat_array_of_const(object)->shape;
    const char *kind = shape->column_major ? "array-columns" : "array";
    memcpy(entry->kind, kind, strlen(kind) + 1);
    entry->dimensions = (uint64_t)shape->dims;
    entry->element_bytes = shape->element_bytes;
    for (int d = 0; d < shape->dims; d++)
        entry->shape[d] = shape->dim[d].extent;
}

static uint64_t array_chosen(const struct pleat_object *object)
{
    const struct pleat_array *array = pleat_array_of_const(object);
    return pleat_array_part_grid(array->coming.dist.dims ? &array->coming : &array->now);
}

static int array_grid(const struct pleat_object *object, int size, int *grid)
{
    const struct pleat_array *array = pleat_array_of_const(object);
    int distributed = 0;
    for (int d = 0; d < array->shape.dims; d++)
        distributed += array->shape.dim[d].format != PLEAT_COLLAPSED;
    return distributed > 1 && !pleat_array_grid(array, size, grid, NULL) ? array->shape.dims : 0;
}

static int array_commit(struct pleat_object *object, const struct pleat_change *change,
                        struct pleat_error *err)
{
    (void)object;
    (void)change;
    (void)err;
    return 0;
}

static void array_detach(struct pleat_object *object)
{
    struct pleat_array *array = pleat_array_of(object);
    pleat_array_part_detach(array, &array->now);
}

static void array_destroy(struct pleat_object *object)
{
    struct pleat_array *array = pleat_array_of(object);
    if (!array->rows) {
        pleat_array_cancel(object);
        pleat_array_drop_ahead(array);
        pleat_array_part_close(&array->now);
    }
    pleat_slab_close(array);
    free(array);
}

static const struct pleat_object_ops array_ops = {
    .shape = array_shape,
    .text = array_text,
    .chosen = array_chosen,
    .grid = array_grid,
    .prepare = pleat_array_prepare,
    .release = pleat_array_release,
    .cancel = pleat_array_cancel,
    .exchange = pleat_array_exchange,
    .commit = array_commit,
    .moved = pleat_array_moved,
    .stored = pleat_array_stored,
    .describe = array_describe,
    .save = pleat_array_save,
    .load = pleat_array_load,
    .parts = pleat_array_parts,
    .gather = pleat_array_gather,
    .foresee = pleat_array_foresee,
    .fits = pleat_array_fits,
    .usable = pleat_array_part_usable,
    .detach = array_detach,
    .settle = pleat_array_settle,
    .tidy = pleat_array_tidy,
    .destroy = array_destroy,
};

static const struct pleat_object_ops slab_ops = {
    .shape = array_shape,
    .text = array_text,
    .chosen = array_chosen,
    .prepare = pleat_slab_prepare,
    .release = pleat_array_release,
    .cancel = pleat_slab_cancel,
    .exchange = pleat_slab_exchange,
    .commit = pleat_slab_commit,
    .moved = pleat_slab_moved,
    .stored = pleat_array_stored,
    .describe = array_describe,
    .save = pleat_slab_save,
    .load = pleat_slab_load,
    .parts = pleat_slab_parts,
    .foresee = pleat_slab_foresee,
    .usable = pleat_array_part_usable,
    .detach = pleat_slab_detach,
    .destroy = array_destroy,
};

/* ---- creating ---- */

static int check_shape(const char *name, const struct pleat_array_shape *shape,
                       struct pleat_error *err)
{
    if (shape->dims < 1 || shape->dims > PLEAT_ARRAY_DIMS || shape->element_bytes < 1 ||
        shape->element_bytes > PLEAT_STATE_WINDOW_HALF)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "array '%s': %d dimensions, elements of %zu bytes: there are 1 to "
                               "%d dimensions, and elements of at least 1 byte",
                               name, shape->dims, shape->element_bytes, PLEAT_ARRAY_DIMS);
    for (int d = 0; d < shape->dims; d++)
        if (shape->dim[d].format != PLEAT_COLLAPSED && shape->dim[d].format != PLEAT_BLOCK &&
            shape->dim[d].format != PLEAT_BLOCK_CYCLIC)
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "array '%s': dimension %d has the unknown format %d", name, d,
                                   (int)shape->dim[d].format);
    return 0;
}

/* With one process a halo that wraps around has this process's own elements. */
static int check_halos(const char *name, const struct pleat_array_shape *shape,
                       struct pleat_error *err)
{
    for (int d = 0; d < shape->dims; d++)
        if (pleat_array_part_most(&shape->dim[d]) < 1)
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "array '%s': dimension %d is periodic and has %" PRId64
                                   " elements, so its halos, of %d and %d, cannot be wider than "
                                   "that, whatever the number of ranks",
                                   name, d, shape->dim[d].extent, shape->dim[d].halo_low,
                                   shape->dim[d].halo_high);
    return 0;
}

/* Whether the array can have the grid of the other one. */
static int check_grid(const char *name, const struct pleat_array_shape *shape,
                      struct pleat_error *err)
{
    const struct pleat_array *other = shape->same_grid_as;
    if (!other)
        return 0;
    bool same = other->shape.dims == shape->dims &&
                !other->shape.grid_column_major == !shape->grid_column_major;
    for (int d = 0; same && d < shape->dims; d++)
        same = (other->shape.dim[d].format == PLEAT_COLLAPSED) ==
               (shape->dim[d].format == PLEAT_COLLAPSED);
    return same ? 0
                : pleat_error_set(err, PLEAT_E_INVALID,
                                  "array '%s' cannot have the grid of '%s': they differ in the "
                                  "number of dimensions, in those that are collapsed, or in "
                                  "the order of ranks",
                                  name, other->object.name);
}

/* The part of a program that starts. A rank that joins gets its part with the data, and a program
 * that goes on from a state must not change it before it is loaded. */
static int first_part(struct pleat_session *session, struct pleat_array *array,
                      struct pleat_error *err)
{
    struct pleat_array_part probe;
    int code = pleat_array_part_describe(array, session->size, session->rank, NULL, &probe, err);
    if (code || session->joiner)
        return code;
    array->now = probe;
    if (session->in_data && !session->resumed)
        array->fd = pleat_state_data(session->saved);
    code = pleat_array_part_reserve(array, &array->now, err);
    if (!code)
        code = pleat_array_part_fill(array, &array->now, pleat_memory_is_strict(), err);
    /* the ranks that will take the array over learn from the mark where it is */
    if (!code && array->fd >= 0 && session->rank == 0)
        code = pleat_mark_write(array, &array->now, err);
    return code;
}

int pleat_array_create(struct pleat_session *session, const char *name,
                       const struct pleat_array_shape *shape, struct pleat_array **handle,
                       struct pleat_error *err)
{
    int code = check_shape(name ? name : "", shape, err);
    if (!code)
        code = check_halos(name ? name : "", shape, err);
    if (!code)
        code = check_grid(name ? name : "", shape, err);
    if (code)
        return code;
    struct pleat_array *array = calloc(1, sizeof(*array));
    if (!array)
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for array '%s'", name ? name : "");
    const bool is_slab = pleat_slab_suits(shape);
    array->object.ops = is_slab ? &slab_ops : &array_ops;
    array->object.offset = pleat_session_room(session);
    array->session = session;
    array->shape = *shape;
    array->fd = -1;
    array->comm = MPI_COMM_NULL;
    if (name)
        strncpy(array->object.name, name, sizeof(array->object.name) - 1);
    if (!is_slab)
        code = pleat_session_window(session, &array->window, err);
    if (!code)
        code = is_slab ? pleat_slab_open(array, err) : first_part(session, array, err);
    if (!code)
        code = pleat_session_add(session, &array->object, name, err);
    if (code) {
        array_destroy(&array->object);
        return code;
    }
    *handle = array;
    return 0;
}

/* ---- describing ---- */

int pleat_element_bytes(MPI_Datatype type, size_t *bytes, struct pleat_error *err)
{
    MPI_Aint low = 0;
    MPI_Aint extent = 0;
    if (type == MPI_DATATYPE_NULL)
        return pleat_error_set(err, PLEAT_E_INVALID, "MPI_DATATYPE_NULL has no elements");
    int code =
        pleat_mpi_check(MPI_Type_get_extent(type, &low, &extent), "asking for an extent", err);
    if (code)
        return code;
    if (low != 0 || extent < 1)
        return pleat_error_set(
            err, PLEAT_E_INVALID,
            "a datatype from byte %lld on with an extent of %lld cannot be that "
            "of an array's elements: make it begin at 0 (MPI_Type_create_resized)",
            (long long)low, (long long)extent);
    *bytes = (size_t)extent;
    return 0;
}

int pleat_array_shape_of(const int descriptor[9], size_t element_bytes,
                         struct pleat_array_shape *shape, struct pleat_error *err)
{
    static const struct pleat_descriptor_grid one = {1, 1, PLEAT_DIST_ROW_MAJOR};
    struct pleat_dist dist;
    int64_t allocated[2];
    int whole[PLEAT_DESCRIPTOR_SIZE];
    memcpy(whole, descriptor, sizeof(whole));
    if (whole[PLEAT_RSRC] || whole[PLEAT_CSRC])
        return pleat_error_set(
            err, PLEAT_E_UNSUPPORTED,
            "the descriptor has its first block on process (%d, %d): the process "
            "grid changes its size, so that must be (0, 0)",
            whole[PLEAT_RSRC], whole[PLEAT_CSRC]);
    whole[PLEAT_LLD] = whole[PLEAT_M] > 1 ? whole[PLEAT_M] : 1; /* one process has all rows */
    int code =
        pleat_descriptor_read(whole, &one, 0, NULL, (int64_t)element_bytes, &dist, allocated, err);
    if (code)
        return code;
    *shape =
        (struct pleat_array_shape){.dims = 2, .element_bytes = element_bytes, .column_major = 1};
    for (int d = 0; d < 2; d++)
        shape->dim[d] = (struct pleat_dimension){
            .extent = dist.dim[d].extent, .format = PLEAT_BLOCK_CYCLIC, .block = dist.dim[d].block};
    return 0;
}

/* ---- asking ---- */

void *pleat_array_data(const struct pleat_array *handle)
{
    return handle->now.memory;
}

static bool is_dimension(const struct pleat_array *handle, int dimension)
{
    return dimension >= 0 && dimension < handle->shape.dims;
}

int64_t pleat_array_count(const struct pleat_array *handle, int dimension)
{
    return is_dimension(handle, dimension) ? handle->now.layout.owned[dimension] : 0;
}

int64_t pleat_array_extent(const struct pleat_array *handle, int dimension)
{
    return is_dimension(handle, dimension) ? handle->now.layout.extent[dimension] : 0;
}

int64_t pleat_array_global(const struct pleat_array *handle, int dimension, int64_t local)
{
    const struct pleat_array_part *now = &handle->now;
    if (!is_dimension(handle, dimension) || local < 0 || local >= now->layout.owned[dimension])
        return -1;
    return pleat_dim_global(&now->dist.dim[dimension], now->coordinates[dimension], local);
}

int pleat_array_processes(const struct pleat_array *handle, int dimension)
{
    return is_dimension(handle, dimension) ? handle->now.dist.dim[dimension].processes : 0;
}

int pleat_array_grid(const struct pleat_array *handle, int size, int *grid, struct pleat_error *err)
{
    struct pleat_array_part part;
    if (size < 1)
        return pleat_error_set(err, PLEAT_E_INVALID, "array '%s': there is no grid of %d processes",
                               handle->object.name, size);
    int code = pleat_array_part_describe(handle, size, size, NULL, &part, err);
    for (int d = 0; !code && d < part.dist.dims; d++)
        grid[d] = part.dist.dim[d].processes;
    return code;
}

int pleat_array_coordinate(const struct pleat_array *handle, int dimension)
{
    return is_dimension(handle, dimension) && handle->now.is_in_grid
               ? handle->now.coordinates[dimension]
               : -1;
}

int pleat_array_descriptor(const struct pleat_array *handle, int context, int descriptor[9],
                           struct pleat_error *err)
{
    return pleat_descriptor_write(&handle->now.dist, handle->now.rank, context, 0, descriptor, err);
}
