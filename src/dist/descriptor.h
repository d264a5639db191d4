/* descriptor.h - ScaLAPACK's array descriptors of dense matrices (ScaLAPACK Users' Guide, 4.3.3):
 * nine integers DTYPE_, CTXT_, M_, N_, MB_, NB_, RSRC_, CSRC_, LLD_.
 *
 * All but CTXT_ and LLD_ are the same on all ranks. A context means something only to the BLACS,
 * and the leading dimension is each rank's own, so neither is part of a struct pleat_dist.
 */
#ifndef PLEAT_DIST_DESCRIPTOR_H
#define PLEAT_DIST_DESCRIPTOR_H

#include "dist/dist.h"

enum pleat_descriptor {
    PLEAT_DTYPE,
    PLEAT_CTXT,
    PLEAT_M,
    PLEAT_N,
    PLEAT_MB,
    PLEAT_NB,
    PLEAT_RSRC,
    PLEAT_CSRC,
    PLEAT_LLD,
    PLEAT_DESCRIPTOR_SIZE
};

#define PLEAT_DTYPE_DENSE 1 /* ScaLAPACK: BLOCK_CYCLIC_2D */

/* The BLACS grid of a matrix: ranks 0 to rows x columns - 1 in this order. */
struct pleat_descriptor_grid {
    int rows;
    int columns;
    enum pleat_dist_order order;
};

/* Fills *dist from the descriptor of `rank`, whose LLD_ is checked, too. *allocated gets the two
 * numbers for pleat_dist_layout that say this LLD_. Name and element_bytes as in struct pleat_dist.
 * PLEAT_E_INVALID: the descriptor contradicts itself or the grid; PLEAT_E_UNSUPPORTED: it is that
 * of a band matrix. */
int pleat_descriptor_read(const int *descriptor, const struct pleat_descriptor_grid *grid, int rank,
                          const char *name, int64_t element_bytes, struct pleat_dist *dist,
                          int64_t allocated[2], struct pleat_error *err) PLEAT_MUST_CHECK;

/* Fills the nine integers for a rank. leading: LLD_; 0: the dimension's `allocated`, or the least,
 * max(1, local rows). PLEAT_E_UNSUPPORTED: ScaLAPACK has no such distribution, and the text says
 * why; PLEAT_E_INVALID: `leading` is less than the rank's rows. */
int pleat_descriptor_write(const struct pleat_dist *dist, int rank, int context, int leading,
                           int *descriptor, struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
