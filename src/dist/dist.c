#include "dist/dist.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

static const char *name_of(const struct pleat_dist *dist)
{
    return dist->name ? dist->name : "array";
}

/* ---- checks ---- */

static int check_bounds(const struct pleat_dist *dist, int d, struct pleat_error *err)
{
    const struct pleat_dim *dim = &dist->dim[d];
    if (!dim->bounds)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%s: dimension %d: general block has no bounds", name_of(dist), d);
    if (dim->bounds[0] != 0 || dim->bounds[dim->processes] != dim->extent)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%s: dimension %d: its bounds go from %" PRId64 " to %" PRId64
                               ", the dimension from 0 to %" PRId64,
                               name_of(dist), d, dim->bounds[0], dim->bounds[dim->processes],
                               dim->extent);
    for (int i = 0; i < dim->processes; i++)
        if (dim->bounds[i] > dim->bounds[i + 1])
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "%s: dimension %d: bound %d is %" PRId64
                                   ", the next one %" PRId64 ": blocks overlap",
                                   name_of(dist), d, i, dim->bounds[i], dim->bounds[i + 1]);
    return 0;
}

static int check_format(const struct pleat_dist *dist, int d, struct pleat_error *err)
{
    const struct pleat_dim *dim = &dist->dim[d];
    switch (dim->format) {
    case PLEAT_DIM_COLLAPSED:
        if (dim->processes != 1)
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "%s: dimension %d is not distributed, but has %d processes",
                                   name_of(dist), d, dim->processes);
        return 0;
    case PLEAT_DIM_BLOCK:
        return 0;
    case PLEAT_DIM_BLOCK_CYCLIC:
        if (dim->block < 1)
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "%s: dimension %d: a block size of %" PRId64
                                   "; it must be at least 1",
                                   name_of(dist), d, dim->block);
        if (dim->first < 0 || dim->first >= dim->processes)
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "%s: dimension %d begins at process %d of %d", name_of(dist), d,
                                   dim->first, dim->processes);
        return 0;
    case PLEAT_DIM_GENERAL_BLOCK:
        return check_bounds(dist, d, err);
    }
    return pleat_error_set(err, PLEAT_E_INVALID, "%s: dimension %d: format %d is not known",
                           name_of(dist), d, (int)dim->format);
}

static int check_memory(const struct pleat_dist *dist, int d, struct pleat_error *err)
{
    const struct pleat_dim *dim = &dist->dim[d];
    if (dim->halo_low < 0 || dim->halo_high < 0 || dim->halo_low > PLEAT_DIM_EXTENT_MAX ||
        dim->halo_high > PLEAT_DIM_EXTENT_MAX)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%s: dimension %d: halos of %" PRId64 " and %" PRId64 " elements",
                               name_of(dist), d, dim->halo_low, dim->halo_high);
    if (dim->format == PLEAT_DIM_BLOCK_CYCLIC && (dim->halo_low || dim->halo_high))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%s: dimension %d is block-cyclic, and has halos of %" PRId64
                               " and %" PRId64 "; only contiguous blocks can have halos",
                               name_of(dist), d, dim->halo_low, dim->halo_high);
    int64_t most = pleat_dim_count_max(dim) + dim->halo_low + dim->halo_high;
    if (dim->allocated && dim->allocated < most)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%s: dimension %d: %" PRId64 " indices are allocated, but a process "
                               "has %" PRId64 ", halos included",
                               name_of(dist), d, dim->allocated, most);
    return 0;
}

static int check_dim(const struct pleat_dist *dist, int d, struct pleat_error *err)
{
    const struct pleat_dim *dim = &dist->dim[d];
    if (dim->extent < 0)
        return pleat_error_set(err, PLEAT_E_INVALID, "%s: dimension %d has %" PRId64 " elements",
                               name_of(dist), d, dim->extent);
    if (dim->extent > PLEAT_DIM_EXTENT_MAX)
        return pleat_error_set(err, PLEAT_E_TOOBIG,
                               "%s: dimension %d has %" PRId64 " elements, at most %" PRId64
                               " are possible",
                               name_of(dist), d, dim->extent, PLEAT_DIM_EXTENT_MAX);
    if (dim->processes < 1 || dim->processes > PLEAT_DIM_PROCESSES_MAX)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%s: dimension %d has %d processes, not 1 to %d", name_of(dist), d,
                               dim->processes, PLEAT_DIM_PROCESSES_MAX);
    int failed = check_format(dist, d, err);
    return failed ? failed : check_memory(dist, d, err);
}

static int check_products(const struct pleat_dist *dist, struct pleat_error *err)
{
    int64_t grid = 1;
    int64_t bytes = dist->element_bytes;
    int64_t local = dist->element_bytes;
    bool too_big = false;
    for (int d = 0; d < dist->dims; d++) {
        const struct pleat_dim *dim = &dist->dim[d];
        int64_t most = pleat_dim_count_max(dim) + dim->halo_low + dim->halo_high;
        too_big |= __builtin_mul_overflow(bytes, dim->extent > 0 ? dim->extent : 1, &bytes);
        too_big |= __builtin_mul_overflow(
            local, dim->allocated > 0 ? dim->allocated : (most > 0 ? most : 1), &local);
        grid = grid > INT_MAX ? grid : grid * dim->processes;
    }
    if (too_big)
        return pleat_error_set(err, PLEAT_E_TOOBIG,
                               "%s: the size of the array in bytes does not fit into 63 bits",
                               name_of(dist));
    if (grid > dist->ranks)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%s: its grid has %s%" PRId64 " processes, but there are %d ranks",
                               name_of(dist), grid > INT_MAX ? "at least " : "", grid, dist->ranks);
    return 0;
}

static bool is_order(enum pleat_dist_order order)
{
    return order == PLEAT_DIST_ROW_MAJOR || order == PLEAT_DIST_COLUMN_MAJOR;
}

int pleat_dist_check(const struct pleat_dist *dist, struct pleat_error *err)
{
    if (dist->dims < 1 || dist->dims > PLEAT_DIST_DIMS)
        return pleat_error_set(err, PLEAT_E_INVALID, "%s has %d dimensions, not 1 to %d",
                               name_of(dist), dist->dims, PLEAT_DIST_DIMS);
    if (dist->element_bytes < 1)
        return pleat_error_set(err, PLEAT_E_INVALID, "%s: an element of %" PRId64 " bytes",
                               name_of(dist), dist->element_bytes);
    if (dist->ranks < 1)
        return pleat_error_set(err, PLEAT_E_INVALID, "%s: %d ranks", name_of(dist), dist->ranks);
    if (!is_order(dist->storage) || !is_order(dist->grid))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%s: order %d of elements, %d of ranks: neither row- nor "
                               "column-major",
                               name_of(dist), (int)dist->storage, (int)dist->grid);
    for (int d = 0; d < dist->dims; d++) {
        int failed = check_dim(dist, d, err);
        if (failed)
            return failed;
    }
    return check_products(dist, err);
}

/* ---- the grid ---- */

bool pleat_dist_is_replicated(const struct pleat_dist *dist)
{
    for (int d = 0; d < dist->dims; d++)
        if (dist->dim[d].format != PLEAT_DIM_COLLAPSED)
            return false;
    return true;
}

int pleat_dist_grid_size(const struct pleat_dist *dist)
{
    int size = 1;
    for (int d = 0; d < dist->dims; d++)
        size *= dist->dim[d].processes;
    return size;
}

/* The dimension that varies fastest (step 0) to slowest in an order. */
static int in_order(const struct pleat_dist *dist, enum pleat_dist_order order, int step)
{
    return order == PLEAT_DIST_COLUMN_MAJOR ? step : dist->dims - 1 - step;
}

int pleat_dist_fastest(const struct pleat_dist *dist, int step)
{
    return in_order(dist, dist->storage, step);
}

bool pleat_dist_coordinates(const struct pleat_dist *dist, int rank,
                            int coordinates[PLEAT_DIST_DIMS])
{
    memset(coordinates, 0, PLEAT_DIST_DIMS * sizeof(*coordinates));
    if (rank < 0 || rank >= dist->ranks)
        return false;
    if (pleat_dist_is_replicated(dist))
        return true;
    for (int step = 0; step < dist->dims; step++) {
        int d = in_order(dist, dist->grid, step);
        coordinates[d] = rank % dist->dim[d].processes;
        rank /= dist->dim[d].processes;
    }
    return rank == 0;
}

int pleat_dist_rank(const struct pleat_dist *dist, const int coordinates[PLEAT_DIST_DIMS])
{
    int rank = 0;
    for (int step = dist->dims; step-- > 0;) {
        int d = in_order(dist, dist->grid, step);
        rank = rank * dist->dim[d].processes + coordinates[d];
    }
    return rank;
}

int64_t pleat_dist_bytes(const struct pleat_dist *dist)
{
    int64_t bytes = dist->element_bytes;
    for (int d = 0; d < dist->dims; d++)
        bytes *= dist->dim[d].extent;
    return bytes;
}

/* ---- a rank's memory ---- */

static int too_big(const struct pleat_dist *dist, int rank, struct pleat_error *err)
{
    return pleat_error_set(err, PLEAT_E_TOOBIG,
                           "%s: the local array of rank %d does not fit into 63 bits",
                           name_of(dist), rank);
}

int pleat_dist_layout(const struct pleat_dist *dist, int rank, const int64_t *allocated,
                      struct pleat_layout *layout, struct pleat_error *err)
{
    int coordinates[PLEAT_DIST_DIMS];
    struct pleat_layout made = {.bytes = dist->element_bytes};
    bool empty = !pleat_dist_coordinates(dist, rank, coordinates);
    for (int d = 0; d < dist->dims; d++) {
        made.owned[d] = pleat_dim_count(&dist->dim[d], coordinates[d]);
        empty |= made.owned[d] == 0;
    }
    *layout = (struct pleat_layout){0};
    for (int step = 0; !empty && step < dist->dims; step++) {
        int d = pleat_dist_fastest(dist, step);
        const struct pleat_dim *dim = &dist->dim[d];
        int64_t least = made.owned[d] + dim->halo_low + dim->halo_high;
        int64_t extent = allocated && allocated[d] ? allocated[d] : dim->allocated;
        made.extent[d] = extent ? extent : least;
        made.stride[d] = made.bytes;
        if (made.extent[d] < least)
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "%s: dimension %d: rank %d has allocated %" PRId64
                                   " indices, but it has %" PRId64 ", halos included",
                                   name_of(dist), d, rank, made.extent[d], least);
        if (__builtin_mul_overflow(made.bytes, made.extent[d], &made.bytes))
            return too_big(dist, rank, err);
    }
    if (!empty)
        *layout = made;
    return 0;
}
