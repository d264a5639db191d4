/* Arrays that are rows: blocks in the slowest dimension, all of the others. A row is what one index
 * of that dimension stands for, which is contiguous. */
#include <stdlib.h>
#include <string.h>

#include "app/array-part.h"

/* The dimension whose index changes last in memory. */
static int slowest_of(const struct pleat_array_shape *shape)
{
    return shape->column_major ? shape->dims - 1 : 0;
}

/* Bytes of a row; 0: there is none, or it is beyond any memory. */
static size_t row_bytes_of(const struct pleat_array_shape *shape)
{
    size_t bytes = shape->element_bytes;
    for (int d = 0; d < shape->dims; d++)
        if (d != slowest_of(shape) &&
            (shape->dim[d].extent < 0 ||
             __builtin_mul_overflow(bytes, (size_t)shape->dim[d].extent, &bytes)))
            return 0;
    return bytes;
}

/* How many rows of the neighbours are usable on either side. */
static int64_t halo_of(const struct pleat_dimension *dim)
{
    return dim->halo_low > dim->halo_high ? dim->halo_low : dim->halo_high;
}

/* Halos inside a row would have to be emptied at each resize, which touches all of it. */
bool pleat_slab_suits(const struct pleat_array_shape *shape)
{
    const struct pleat_dimension *slowest = &shape->dim[slowest_of(shape)];
    if (slowest->format != PLEAT_BLOCK || slowest->halo_low < 0 || slowest->halo_high < 0)
        return false;
    for (int d = 0; d < shape->dims; d++) {
        const struct pleat_dimension *dim = &shape->dim[d];
        if (dim != slowest &&
            (dim->format != PLEAT_COLLAPSED || dim->halo_low != 0 || dim->halo_high != 0))
            return false;
    }
    return pleat_rows_fit(slowest->extent, row_bytes_of(shape), halo_of(slowest));
}

/* All ranks of the grid are in this dimension; 0: there is no grid. */
static int ranks_at(const void *arg, int size)
{
    const struct pleat_array *array = arg;
    struct pleat_array_part part;
    return pleat_array_part_describe(array, size, size, NULL, &part, NULL)
               ? 0
               : part.dist.dim[slowest_of(&array->shape)].processes;
}

/* The slab is where its rows are. */
static void find_memory(struct pleat_array *array)
{
    array->now.memory =
        pleat_rows_from(array->rows, array->shape.dim[slowest_of(&array->shape)].halo_low);
}

int pleat_slab_open(struct pleat_array *array, struct pleat_error *err)
{
    struct pleat_session *session = array->session;
    const struct pleat_dimension *slowest = &array->shape.dim[slowest_of(&array->shape)];
    struct pleat_array_part probe;
    int code = pleat_array_part_describe(array, session->size, session->rank, NULL, &probe, err);
    if (code)
        return code;
    array->rows = calloc(1, sizeof(*array->rows));
    if (!array->rows)
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for array '%s'", array->object.name);
    *array->rows = (struct pleat_rows){.object = {.offset = array->object.offset},
                                       .rows = slowest->extent,
                                       .row_bytes = row_bytes_of(&array->shape),
                                       .halo = halo_of(slowest),
                                       .ranks = ranks_at,
                                       .arg = array};
    memcpy(array->rows->object.name, array->object.name, sizeof(array->object.name));
    code = pleat_rows_open(session, array->rows, err);
    if (code || session->joiner)
        return code;
    array->now = probe;
    find_memory(array);
    return 0;
}

void pleat_slab_close(struct pleat_array *array)
{
    if (array->rows)
        pleat_rows_close(array->rows);
    free(array->rows);
    array->rows = NULL;
}

int pleat_slab_prepare(struct pleat_object *object, const struct pleat_change *change,
                       struct pleat_error *err)
{
    struct pleat_array *array = pleat_array_of(object);
    struct pleat_array_part old;
    /* a rank that joins has not seen the old size yet */
    int code = pleat_array_part_describe(array, change->old_size, change->rank, NULL, &old, err);
    if (!code)
        code = pleat_array_part_describe(array, change->new_size, change->rank, NULL,
                                         &array->coming, err);
    if (!code)
        code = pleat_rows_ops.prepare(&array->rows->object, change, err);
    if (code)
        memset(&array->coming, 0, sizeof(array->coming));
    return code;
}

void pleat_slab_cancel(struct pleat_object *object)
{
    struct pleat_array *array = pleat_array_of(object);
    pleat_rows_ops.cancel(&array->rows->object);
    memset(&array->coming, 0, sizeof(array->coming));
}

int pleat_slab_exchange(struct pleat_object *object, const struct pleat_change *change,
                        struct pleat_error *err)
{
    return pleat_rows_ops.exchange(&pleat_array_of(object)->rows->object, change, err);
}

int pleat_slab_commit(struct pleat_object *object, const struct pleat_change *change,
                      struct pleat_error *err)
{
    struct pleat_array *array = pleat_array_of(object);
    int code = pleat_rows_ops.commit(&array->rows->object, change, err);
    array->now = array->coming;
    memset(&array->coming, 0, sizeof(array->coming));
    find_memory(array);
    return code;
}

uint64_t pleat_slab_moved(const struct pleat_object *object, const struct pleat_change *change)
{
    return pleat_rows_ops.moved(&pleat_array_of_const(object)->rows->object, change);
}

int pleat_slab_save(const struct pleat_object *object, struct pleat_state *state,
                    struct pleat_error *err)
{
    return pleat_rows_ops.save(&pleat_array_of_const(object)->rows->object, state, err);
}

int pleat_slab_load(struct pleat_object *object, struct pleat_state *state, int data,
                    struct pleat_error *err)
{
    return pleat_rows_ops.load(&pleat_array_of(object)->rows->object, state, data, err);
}

int pleat_slab_parts(const struct pleat_object *object, bool in_data, bool loading,
                     struct pleat_stretches *list, struct pleat_error *err)
{
    return pleat_rows_ops.parts(&pleat_array_of_const(object)->rows->object, in_data, loading, list,
                                err);
}

enum pleat_foreseen pleat_slab_foresee(struct pleat_object *object, int data)
{
    return pleat_rows_ops.foresee(&pleat_array_of(object)->rows->object, data);
}

void pleat_slab_detach(struct pleat_object *object)
{
    pleat_rows_ops.detach(&pleat_array_of(object)->rows->object);
}
