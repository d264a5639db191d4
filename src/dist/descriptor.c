#include "dist/descriptor.h"

#include <inttypes.h>
#include <limits.h>
#include <stddef.h>

static const char *name_of(const struct pleat_dist *dist)
{
    return dist->name ? dist->name : "array";
}

static struct pleat_dim dim_of(int extent, int processes, int block, int first)
{
    return (struct pleat_dim){.extent = extent,
                              .format = PLEAT_DIM_BLOCK_CYCLIC,
                              .processes = processes,
                              .block = block,
                              .first = first};
}

int pleat_descriptor_read(const int *descriptor, const struct pleat_descriptor_grid *grid, int rank,
                          const char *name, int64_t element_bytes, struct pleat_dist *dist,
                          int64_t allocated[2], struct pleat_error *err)
{
    int coordinates[PLEAT_DIST_DIMS];
    int64_t size = (int64_t)grid->rows * grid->columns;
    struct pleat_dist made = {
        .name = name,
        .dims = 2,
        .ranks = size > 0 && size <= INT_MAX ? (int)size : 1,
        .element_bytes = element_bytes,
        .storage = PLEAT_DIST_COLUMN_MAJOR,
        .grid = grid->order,
        .dim = {dim_of(descriptor[PLEAT_M], grid->rows, descriptor[PLEAT_MB],
                       descriptor[PLEAT_RSRC]),
                dim_of(descriptor[PLEAT_N], grid->columns, descriptor[PLEAT_NB],
                       descriptor[PLEAT_CSRC])},
    };
    if (descriptor[PLEAT_DTYPE] != PLEAT_DTYPE_DENSE)
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "%s: its descriptor has DTYPE_ %d; only dense matrices (%d) can be "
                               "redistributed",
                               name_of(&made), descriptor[PLEAT_DTYPE], PLEAT_DTYPE_DENSE);
    int failed = pleat_dist_check(&made, err);
    if (failed)
        return failed;
    int64_t rows = pleat_dist_coordinates(&made, rank, coordinates)
                       ? pleat_dim_count(&made.dim[0], coordinates[0])
                       : 0;
    int64_t least = rows > 1 ? rows : 1;
    if (descriptor[PLEAT_LLD] < least)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%s: LLD_ of rank %d is %d, but it must be at least %" PRId64
                               " (%" PRId64 " local rows)",
                               name_of(&made), rank, descriptor[PLEAT_LLD], least, rows);
    *dist = made;
    allocated[0] = descriptor[PLEAT_LLD];
    allocated[1] = 0;
    return 0;
}

/* The block size and the first process with which block-cyclic gives the same parts. */
static int as_block_cyclic(const struct pleat_dist *dist, int d, int64_t *block, int *first,
                           struct pleat_error *err)
{
    const struct pleat_dim *dim = &dist->dim[d];
    *first = 0;
    switch (dim->format) {
    case PLEAT_DIM_COLLAPSED:
        *block = dim->extent > 0 ? dim->extent : 1;
        return 0;
    case PLEAT_DIM_BLOCK_CYCLIC:
        *block = dim->block;
        *first = dim->first;
        return 0;
    case PLEAT_DIM_BLOCK:
    case PLEAT_DIM_GENERAL_BLOCK:
        break;
    }
    struct pleat_dim cyclic = *dim;
    cyclic.format = PLEAT_DIM_BLOCK_CYCLIC;
    cyclic.first = 0;
    cyclic.block = pleat_dim_count(dim, 0) > 0 ? pleat_dim_count(dim, 0) : 1;
    for (int i = 0; i < dim->processes; i++)
        if (pleat_dim_count(&cyclic, i) != pleat_dim_count(dim, i) ||
            pleat_dim_cycle(&cyclic) < dim->extent)
            return pleat_error_set(
                err, PLEAT_E_UNSUPPORTED,
                "%s: dimension %d: process %d of %d has %" PRId64 " of %" PRId64
                " indices, which no block size of ScaLAPACK gives; use block-cyclic",
                name_of(dist), d, i, dim->processes, pleat_dim_count(dim, i), dim->extent);
    *block = cyclic.block;
    return 0;
}

static int check_kind(const struct pleat_dist *dist, struct pleat_error *err)
{
    const char *why = NULL;
    if (dist->dims != 2)
        why = "has not two dimensions";
    else if (dist->storage != PLEAT_DIST_COLUMN_MAJOR)
        why = "is stored row-major";
    else if (pleat_dist_is_replicated(dist) && dist->ranks > 1)
        why = "is replicated";
    for (int d = 0; !why && d < dist->dims; d++) {
        if (dist->dim[d].halo_low || dist->dim[d].halo_high)
            why = "has halos";
        else if (dist->dim[d].extent > INT_MAX)
            why = "has more rows or columns than an int holds";
    }
    return why ? pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                                 "%s %s: a descriptor of ScaLAPACK cannot say this", name_of(dist),
                                 why)
               : 0;
}

int pleat_descriptor_write(const struct pleat_dist *dist, int rank, int context, int leading,
                           int *descriptor, struct pleat_error *err)
{
    int64_t block[2] = {1, 1};
    int first[2] = {0, 0};
    int coordinates[PLEAT_DIST_DIMS];
    int failed = check_kind(dist, err);
    for (int d = 0; !failed && d < 2; d++)
        failed = as_block_cyclic(dist, d, &block[d], &first[d], err);
    if (failed)
        return failed;
    int64_t rows = pleat_dist_coordinates(dist, rank, coordinates)
                       ? pleat_dim_count(&dist->dim[0], coordinates[0])
                       : 0;
    int64_t least = rows > 1 ? rows : 1;
    int64_t wanted = leading ? leading : dist->dim[0].allocated;
    if (wanted && wanted < least)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%s: a leading dimension of %" PRId64
                               " for rank %d, which has %" PRId64 " rows",
                               name_of(dist), wanted, rank, rows);
    int64_t lld = wanted ? wanted : least;
    for (int d = 0; d < 2; d++)
        block[d] = block[d] > INT_MAX ? INT_MAX : block[d]; /* the dimension is shorter */
    if (lld > INT_MAX)
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "%s: a leading dimension of %" PRId64 " is more than an int holds",
                               name_of(dist), lld);
    const int made[PLEAT_DESCRIPTOR_SIZE] = {PLEAT_DTYPE_DENSE,
                                             context,
                                             (int)dist->dim[0].extent,
                                             (int)dist->dim[1].extent,
                                             (int)block[0],
                                             (int)block[1],
                                             first[0],
                                             first[1],
                                             (int)lld};
    for (int i = 0; i < PLEAT_DESCRIPTOR_SIZE; i++)
        descriptor[i] = made[i];
    return 0;
}
