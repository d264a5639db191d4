#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>

#include "app/array-part.h"
#include "app/memory.h"
#include "dist/grid.h"
#include "shm/available.h"

#define HASH_SEED UINT64_C(0xcbf29ce484222325)

/* ---- describing ---- */

static enum pleat_dim_format format_of(enum pleat_format format)
{
    return format == PLEAT_BLOCK          ? PLEAT_DIM_BLOCK
           : format == PLEAT_BLOCK_CYCLIC ? PLEAT_DIM_BLOCK_CYCLIC
                                          : PLEAT_DIM_COLLAPSED;
}

/* The array as described by the program, over a grid. */
static struct pleat_dist over_grid(const struct pleat_array *array, int ranks, const int *grid)
{
    const struct pleat_array_shape *shape = &array->shape;
    struct pleat_dist dist = {
        .name = array->object.name,
        .dims = shape->dims,
        .ranks = ranks,
        .element_bytes = (int64_t)shape->element_bytes,
        .storage = shape->column_major ? PLEAT_DIST_COLUMN_MAJOR : PLEAT_DIST_ROW_MAJOR,
        .grid = shape->grid_column_major ? PLEAT_DIST_COLUMN_MAJOR : PLEAT_DIST_ROW_MAJOR};
    for (int d = 0; d < shape->dims; d++)
        dist.dim[d] = (struct pleat_dim){.extent = shape->dim[d].extent,
                                         .format = format_of(shape->dim[d].format),
                                         .processes = grid[d],
                                         .block = shape->dim[d].block,
                                         .halo_low = shape->dim[d].halo_low,
                                         .halo_high = shape->dim[d].halo_high};
    return dist;
}

int64_t pleat_array_part_most(const struct pleat_dimension *dim)
{
    int64_t halo = dim->halo_low > dim->halo_high ? dim->halo_low : dim->halo_high;
    return pleat_dim_halo_processes(dim->extent, halo, dim->periodic != 0);
}

/* The grid for a size: with the least surface where there are halos, and, where there is one, with
 * parts that are not narrower than these; else as square as possible.
 * All ranks of the program are in it, but for a replicated array, whose grid is one place. */
static int propose_grid(const struct pleat_array *array, int size, int grid[PLEAT_DIST_DIMS],
                        struct pleat_error *err)
{
    const struct pleat_array_shape *shape = &array->shape;
    struct pleat_grid_wish wish = {.dims = shape->dims};
    bool halos = false;
    bool collapsed = true;
    for (int d = 0; d < shape->dims; d++) {
        grid[d] = 1;
        wish.fixed[d] = shape->dim[d].format == PLEAT_COLLAPSED;
        collapsed &= wish.fixed[d] == 1;
        halos |= shape->dim[d].halo_low > 0 || shape->dim[d].halo_high > 0;
    }
    if (collapsed)
        return 0;
    if (halos) {
        struct pleat_grid_wish least = wish;
        for (int d = 0; d < shape->dims; d++) {
            int64_t most = pleat_array_part_most(&shape->dim[d]);
            least.extent[d] = shape->dim[d].extent;
            least.most[d] = most < INT_MAX ? (int)most : 0;
        }
        if (!pleat_grid_propose(size, &least, grid, NULL))
            return 0;
        memset(least.most, 0, sizeof(least.most));
        if (!pleat_grid_propose(size, &least, grid, NULL))
            return 0;
    }
    return pleat_grid_propose(size, &wish, grid, err);
}

static int choose_grid(const struct pleat_array *array, int size, int grid[PLEAT_DIST_DIMS],
                       struct pleat_error *err)
{
    while (array->shape.same_grid_as)
        array = array->shape.same_grid_as;
    int code = propose_grid(array, size, grid, err);
    if (!code && array->session->on_grid)
        array->session->on_grid(array->object.name, size, array->shape.dims, grid,
                                array->session->on_grid_arg);
    return code;
}

int pleat_array_part_describe(const struct pleat_array *array, int size, int rank, const int *grid,
                              struct pleat_array_part *part, struct pleat_error *err)
{
    int chosen[PLEAT_DIST_DIMS] = {0};
    int code = grid ? 0 : choose_grid(array, size, chosen, err);
    if (code)
        return code;
    memset(part, 0, sizeof(*part));
    part->rank = rank;
    part->dist = over_grid(array, size, grid ? grid : chosen);
    code = pleat_dist_check(&part->dist, err);
    if (code || rank >= size)
        return code;
    part->is_in_grid = pleat_dist_coordinates(&part->dist, rank, part->coordinates);
    return pleat_dist_layout(&part->dist, rank, NULL, &part->layout, err);
}

int pleat_array_part_usable(const struct pleat_object *object, int size, struct pleat_error *err)
{
    const struct pleat_array *array = pleat_array_of_const(object);
    struct pleat_array_part part;
    bool any = true;
    for (int d = 0; d < array->shape.dims; d++)
        any = any && pleat_array_part_most(&array->shape.dim[d]) == INT64_MAX;
    if (any)
        return 0;
    int code = pleat_array_part_describe(array, size, size, NULL, &part, err);
    for (int d = 0; !code && d < array->shape.dims; d++) {
        const struct pleat_dimension *dim = &array->shape.dim[d];
        int processes = part.dist.dim[d].processes;
        if (processes > pleat_array_part_most(dim))
            code = pleat_error_set(err, PLEAT_E_INVALID,
                                   "array '%s': with %d ranks dimension %d has %" PRId64
                                   " elements on %d processes, "
                                   "parts narrower than its halos of %d and %d: at most %" PRId64
                                   " processes there, so use fewer ranks, or name another grid",
                                   object->name, size, d, dim->extent, processes, dim->halo_low,
                                   dim->halo_high, pleat_array_part_most(dim));
    }
    return code;
}

uint64_t pleat_array_part_grid(const struct pleat_array_part *part)
{
    uint64_t hash = pleat_session_hash(HASH_SEED, &part->dist.ranks, sizeof(part->dist.ranks));
    for (int d = 0; d < part->dist.dims; d++)
        hash = pleat_session_hash(hash, &part->dist.dim[d].processes, sizeof(int));
    return hash;
}

/* ---- areas of the data file ---- */

static uint64_t page_up(uint64_t bytes)
{
    uint64_t page = pleat_page_bytes();
    return (bytes + page - 1) / page * page;
}

size_t pleat_array_part_pages(const struct pleat_layout *layout)
{
    return (size_t)page_up((uint64_t)layout->bytes);
}

/* The room that each rank's part gets. */
static uint64_t stride_of(const struct pleat_dist *dist)
{
    uint64_t bytes = (uint64_t)dist->element_bytes;
    for (int d = 0; d < dist->dims; d++) {
        const struct pleat_dim *dim = &dist->dim[d];
        uint64_t extent = (uint64_t)(pleat_dim_count_max(dim) + dim->halo_low + dim->halo_high);
        if (__builtin_mul_overflow(bytes, extent, &bytes) || bytes > PLEAT_STATE_WINDOW_HALF)
            return PLEAT_STATE_WINDOW_HALF + 1;
    }
    return page_up(bytes);
}

bool pleat_array_part_fits_window(const struct pleat_dist *dist)
{
    return stride_of(dist) <= PLEAT_STATE_WINDOW_HALF / (uint64_t)dist->ranks;
}

static uint64_t half_of(const struct pleat_array *array, unsigned half)
{
    return PLEAT_STATE_OFFSET + array->window + pleat_page_bytes() + half * PLEAT_STATE_WINDOW_HALF;
}

static uint64_t area_of(const struct pleat_array *array, const struct pleat_array_part *part,
                        int rank)
{
    return half_of(array, part->half) + (uint64_t)rank * stride_of(&part->dist);
}

static void punch(const struct pleat_array *array, uint64_t first, uint64_t end)
{
    if (first < end)
        (void)fallocate(array->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)first,
                        (off_t)(end - first));
}

/* Where a rank's area ends: the last rank's goes to the end of the half, whatever was there before
 * with other areas. */
static uint64_t end_of_area(const struct pleat_array *array, const struct pleat_array_part *part,
                            int rank)
{
    return rank == part->dist.ranks - 1 ? half_of(array, part->half) + PLEAT_STATE_WINDOW_HALF
                                        : area_of(array, part, rank + 1);
}

uint64_t pleat_array_part_offset(const struct pleat_array *array,
                                 const struct pleat_array_part *part, int rank)
{
    return area_of(array, part, rank) - PLEAT_STATE_OFFSET;
}

void pleat_array_part_free_area(const struct pleat_array *array,
                                const struct pleat_array_part *part, int rank)
{
    punch(array, area_of(array, part, rank), end_of_area(array, part, rank));
}

void pleat_array_part_free_area_later(const struct pleat_array *array,
                                      const struct pleat_array_part *part, int rank)
{
    const uint64_t first = area_of(array, part, rank);
    pleat_free_later(&array->session->freeing,
                     (struct pleat_free_piece){.fd = array->fd,
                                               .first = first,
                                               .bytes = end_of_area(array, part, rank) - first});
}

void pleat_array_part_free_rest(const struct pleat_array *array,
                                const struct pleat_array_part *part)
{
    punch(array, area_of(array, part, part->rank) + part->mapped,
          end_of_area(array, part, part->rank));
}

void pleat_array_part_free_other_half(const struct pleat_array *array,
                                      const struct pleat_array_part *part)
{
    uint64_t first = half_of(array, 1 - part->half);
    punch(array, first, first + PLEAT_STATE_WINDOW_HALF);
}

/* ---- memory ---- */

static uint64_t memory_of_half(const struct pleat_array *array, unsigned half)
{
    const uint64_t all = PLEAT_STATE_WINDOW_HALF;
    return array->fd < 0 ? 0
                         : all - pleat_state_data_missing(array->fd,
                                                          half_of(array, half) - PLEAT_STATE_OFFSET,
                                                          all, all);
}

int pleat_array_part_check_room(const struct pleat_array *array, unsigned half, uint64_t bytes,
                                struct pleat_error *err)
{
    uint64_t available = bytes ? pleat_available_bytes("") : 0;
    if (bytes <= available)
        return 0;
    /* looked at last, since it takes long */
    uint64_t there = memory_of_half(array, half);
    bytes = bytes > there ? bytes - there : 0;
    if (bytes <= available)
        return 0;
    return pleat_error_set(err, PLEAT_E_NOMEM,
                           "array '%s' needs %" PRIu64 " bytes of memory for its new parts, and "
                           "%" PRIu64 " are available",
                           array->object.name, bytes, available);
}

uint64_t pleat_array_part_bytes_of_all(const struct pleat_array_part *part)
{
    uint64_t bytes = 0;
    for (int rank = 0; rank < part->dist.ranks; rank++) {
        struct pleat_layout layout;
        if (!pleat_dist_layout(&part->dist, rank, NULL, &layout, NULL))
            bytes += (uint64_t)layout.bytes;
    }
    return bytes;
}

static int no_memory(const struct pleat_array *array, const struct pleat_array_part *part,
                     struct pleat_error *err)
{
    return pleat_error_set(err, PLEAT_E_NOMEM,
                           "no memory for the %" PRId64 " bytes of array '%s' on rank %d: %s",
                           part->layout.bytes, array->object.name, part->rank, strerror(errno));
}

int pleat_array_part_reserve(const struct pleat_array *array, struct pleat_array_part *part,
                             struct pleat_error *err)
{
    bool in_file = array->fd >= 0;
    if (!pleat_array_part_fits_window(&part->dist))
        return pleat_error_set(err, PLEAT_E_TOOBIG, "array '%s' is too large for %d ranks",
                               array->object.name, part->dist.ranks);
    if (!part->layout.bytes)
        return 0;
    part->mapped = pleat_array_part_pages(&part->layout);
    void *at = mmap(NULL, part->mapped, in_file ? PROT_READ | PROT_WRITE : PROT_NONE,
                    in_file ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, in_file ? array->fd : -1,
                    in_file ? (off_t)area_of(array, part, part->rank) : 0);
    if (at == MAP_FAILED)
        return no_memory(array, part, err);
    part->memory = at;
    return 0;
}

int pleat_array_part_fill(const struct pleat_array *array, struct pleat_array_part *part,
                          bool at_once, struct pleat_error *err)
{
    if (array->fd >= 0)
        pleat_array_part_free_area(array, part, part->rank);
    if (!part->memory)
        return 0;
    if (array->fd < 0 && mprotect(part->memory, part->mapped, PROT_READ | PROT_WRITE))
        return no_memory(array, part, err);
    return at_once ? pleat_array_part_populate(array, part, err) : 0;
}

int pleat_array_part_populate(const struct pleat_array *array, const struct pleat_array_part *part,
                              struct pleat_error *err)
{
    if (part->memory && madvise(part->memory, part->mapped, MADV_POPULATE_WRITE) && errno != EINVAL)
        return no_memory(array, part, err);
    return 0;
}

/* Zeroes the halos on a line along the fastest dimension, or, if the whole line is in one, all of
 * it. */
static void zero_line(const struct pleat_array_part *part, int fastest, unsigned char *line,
                      bool whole)
{
    const struct pleat_dim *dim = &part->dist.dim[fastest];
    size_t step = (size_t)part->layout.stride[fastest];
    size_t behind = (size_t)(dim->halo_low + part->layout.owned[fastest]);
    size_t extent = (size_t)part->layout.extent[fastest];
    memset(line, 0, (whole ? extent : (size_t)dim->halo_low) * step);
    if (!whole)
        memset(line + behind * step, 0, (extent - behind) * step);
}

void pleat_array_part_zero_halos(struct pleat_array_part *part)
{
    const struct pleat_dist *dist = &part->dist;
    int64_t index[PLEAT_DIST_DIMS] = {0};
    int fastest = pleat_dist_fastest(dist, 0);
    int step = 0;
    while (part->memory && step < dist->dims) {
        unsigned char *line = part->memory;
        bool whole = false;
        for (int d = 0; d < dist->dims; d++) {
            int64_t low = dist->dim[d].halo_low;
            line += index[d] * part->layout.stride[d];
            whole |= d != fastest && (index[d] < low || index[d] >= low + part->layout.owned[d]);
        }
        zero_line(part, fastest, line, whole);
        for (step = 1; step < dist->dims; step++) {
            int d = pleat_dist_fastest(dist, step);
            if (++index[d] < part->layout.extent[d])
                break;
            index[d] = 0;
        }
    }
}

void pleat_array_part_close(struct pleat_array_part *part)
{
    if (part->memory)
        munmap(part->memory, part->mapped);
    part->memory = NULL;
    part->mapped = 0;
}

static void unmap_later(const struct pleat_array *array, void *at, size_t bytes)
{
    if (at)
        pleat_free_later(&array->session->freeing,
                         (struct pleat_free_piece){.at = at, .bytes = bytes});
}

void pleat_array_part_close_later(const struct pleat_array *array, struct pleat_array_part *part)
{
    unmap_later(array, part->memory, part->mapped);
    part->memory = NULL;
    part->mapped = 0;
}

void pleat_array_part_detach(const struct pleat_array *array, struct pleat_array_part *part)
{
    if (array->fd < 0 || !part->memory)
        return;
    if (pleat_memory_cut_off(part->memory, part->mapped, array->fd,
                             (int64_t)area_of(array, part, part->rank)))
        pleat_array_part_close(part);
}

int pleat_old_parts_open(const struct pleat_array *array, const struct pleat_array_part *part,
                         struct pleat_old_parts *old, struct pleat_error *err)
{
    old->stride = stride_of(&part->dist);
    old->mapped = (size_t)old->stride * (size_t)part->dist.ranks;
    if (!old->mapped)
        return 0;
    void *at =
        mmap(NULL, old->mapped, PROT_READ, MAP_SHARED, array->fd, (off_t)area_of(array, part, 0));
    if (at == MAP_FAILED)
        return pleat_error_set(err, PLEAT_E_NOMEM,
                               "no address space for the %zu bytes of array '%s': %s", old->mapped,
                               array->object.name, strerror(errno));
    old->memory = at;
    return 0;
}

void pleat_old_parts_close(struct pleat_old_parts *old)
{
    if (old->memory)
        munmap(old->memory, old->mapped);
    *old = (struct pleat_old_parts){0};
}

void pleat_old_parts_close_later(const struct pleat_array *array, struct pleat_old_parts *old)
{
    unmap_later(array, old->memory, old->mapped);
    *old = (struct pleat_old_parts){0};
}
