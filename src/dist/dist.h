/* dist.h - how an array is distributed over the ranks of a program, in the terms of HPF, ScaLAPACK
 * and MPI: a global array of 1 to 4 dimensions, a process grid, and for each dimension a format
 * (dim.h). Arithmetic only: no memory of the array is touched, nothing is sent.
 *
 * Every rank describes the array alike. Ranks below the product of all `processes` are in the grid;
 * others have no part of the array. A replicated array is one with all dimensions collapsed: each
 * of its ranks has all of it, and when it is redistributed, rank 0's copy counts.
 *
 * A rank's local array has what it owns, in the order of local indices, with the halos around it. A
 * rank that owns nothing has no local array and no halos. Indices and extents count elements; sizes
 * and strides are in bytes.
 */
#ifndef PLEAT_DIST_DIST_H
#define PLEAT_DIST_DIST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "dist/dim.h"

#define PLEAT_DIST_DIMS 4

/* The order of elements in memory: row-major, the last index is the fastest (C); column-major, the
 * first is (Fortran). The order of ranks in a grid likewise (BLACS: 'R' and 'C'). */
enum pleat_dist_order { PLEAT_DIST_ROW_MAJOR, PLEAT_DIST_COLUMN_MAJOR };

struct pleat_dist {
    const char *name; /* for errors; the caller's; NULL: not named */
    int dims;
    int ranks; /* of the program: at least as many as the grid has */
    int64_t element_bytes;
    enum pleat_dist_order storage;
    enum pleat_dist_order grid;
    struct pleat_dim dim[PLEAT_DIST_DIMS];
};

/* Whether a description is possible. PLEAT_E_INVALID: it contradicts itself; PLEAT_E_TOOBIG: its
 * numbers are too large. The text names the array, the dimension and both values. All other
 * functions need a description that passes. */
int pleat_dist_check(const struct pleat_dist *dist, struct pleat_error *err) PLEAT_MUST_CHECK;

bool pleat_dist_is_replicated(const struct pleat_dist *dist);
/* Number of ranks in the grid. */
int pleat_dist_grid_size(const struct pleat_dist *dist);
/* False where the rank is not in the grid; a rank that has a copy of a replicated array is at the
 * grid's only place. */
bool pleat_dist_coordinates(const struct pleat_dist *dist, int rank,
                            int coordinates[PLEAT_DIST_DIMS]);
int pleat_dist_rank(const struct pleat_dist *dist, const int coordinates[PLEAT_DIST_DIMS]);
/* Size of the global array in bytes. */
int64_t pleat_dist_bytes(const struct pleat_dist *dist);
/* The dimension that is fastest in memory (step 0) to the slowest (step dims - 1). */
int pleat_dist_fastest(const struct pleat_dist *dist, int step);

/* A rank's local array in memory. */
struct pleat_layout {
    int64_t owned[PLEAT_DIST_DIMS];  /* without halos; all 0 where the rank owns nothing */
    int64_t extent[PLEAT_DIST_DIMS]; /* with halos and padding */
    int64_t stride[PLEAT_DIST_DIMS]; /* from one index to the next, in bytes */
    int64_t bytes;                   /* of all; 0 where the rank owns nothing */
};

/* allocated: in place of the dimensions' own (dim.h), for this rank only, `dims` numbers of which 0
 * means: as the dimension says; NULL: all as the dimensions say. PLEAT_E_INVALID: less than the
 * rank's part; PLEAT_E_TOOBIG. */
int pleat_dist_layout(const struct pleat_dist *dist, int rank, const int64_t *allocated,
                      struct pleat_layout *layout, struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
