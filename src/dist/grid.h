/* grid.h - process grids: how many processes in each dimension, for a number of processes.
 *
 * Deterministic: the same wish gives the same grid on every rank and in every version of an MPI
 * (MPI_Dims_create leaves that to the implementation, and knows nothing of the array).
 */
#ifndef PLEAT_DIST_GRID_H
#define PLEAT_DIST_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "dist/dist.h"

/* Zero members wish nothing. */
struct pleat_grid_wish {
    int dims; /* 1 to PLEAT_DIST_DIMS */
    /* The array's extents, for the grid whose largest local block has the least surface (what a
     * stencil sends), and never more processes than indices in a dimension. All 0: the grid is as
     * square as possible, the counts ascending: r <= c, as ScaLAPACK's factorizations prefer. */
    int64_t extent[PLEAT_DIST_DIMS];
    int fixed[PLEAT_DIST_DIMS]; /* the count of this dimension */
    int most[PLEAT_DIST_DIMS];  /* the count is at most this */
    bool even;                  /* counts divide their extents */
    /* The longest side is at most this many times the shortest: of the local block where there are
     * extents, else of the grid. */
    int aspect;
    /* Fewer processes than `size` may be used: as many as the other wishes allow. */
    bool fewer;
};

/* Fills grid[0] to grid[dims - 1], whose product is `size`, or with `fewer` the largest possible
 * number below. PLEAT_E_NOTFOUND: no grid is as wished; PLEAT_E_INVALID: the wish is none. */
int pleat_grid_propose(int size, const struct pleat_grid_wish *wish, int *grid,
                       struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
