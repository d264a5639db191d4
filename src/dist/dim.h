/* dim.h - one dimension of a distributed array: which process of the grid's dimension owns which
 * indices, in the terms of HPF and ScaLAPACK. Arithmetic only; a dimension is as pleat_dist_check
 * (dist.h) accepts it.
 *
 * Global indices count from 0 to extent - 1. A process is known by its coordinate in the grid's
 * dimension, from 0. Local indices count the elements that a process owns, from 0, without halos.
 */
#ifndef PLEAT_DIST_DIM_H
#define PLEAT_DIST_DIM_H

#include <stdbool.h>
#include <stdint.h>

/* Limits that keep products of an extent and a number of processes in 64 bits. */
#define PLEAT_DIM_EXTENT_MAX ((int64_t)1 << 42)
#define PLEAT_DIM_PROCESSES_MAX (1 << 20)

enum pleat_dim_format {
    PLEAT_DIM_COLLAPSED,    /* not distributed (HPF: *) */
    PLEAT_DIM_BLOCK,        /* contiguous; the first extent % processes have one element more */
    PLEAT_DIM_BLOCK_CYCLIC, /* blocks of `block` elements dealt out in turn; cyclic is block 1, and
                             * HPF's BLOCK is block ceil(extent / processes) */
    PLEAT_DIM_GENERAL_BLOCK /* contiguous, with any counts (HPF: GEN_BLOCK) */
};

struct pleat_dim {
    int64_t extent;
    enum pleat_dim_format format;
    int processes; /* of the grid in this dimension; 1 where collapsed */
    /* block-cyclic only: */
    int64_t block;
    int first; /* the process with the first block (ScaLAPACK: RSRC, CSRC) */
    /* general block only: process i owns bounds[i] to bounds[i + 1] - 1. processes + 1 numbers that
     * do not decrease, the first 0 and the last `extent`. They belong to the caller. */
    const int64_t *bounds;
    /* Copies of the neighbours' elements kept in memory before and after what a process owns; of
     * the contiguous formats only. */
    int64_t halo_low;
    int64_t halo_high;
    /* How many indices the local array has in memory on every process, halos and padding included
     * (in ScaLAPACK's first dimension: the leading dimension); 0: just those of each process. */
    int64_t allocated;
};

/* Indices first to end - 1. */
struct pleat_interval {
    int64_t first;
    int64_t end;
};

/* True where a process owns more than one block, or may: then its indices are not contiguous. */
bool pleat_dim_is_cyclic(const struct pleat_dim *dim);
/* How many indices a process owns (ScaLAPACK: NUMROC). */
int64_t pleat_dim_count(const struct pleat_dim *dim, int coordinate);
/* The most that any process owns. */
int64_t pleat_dim_count_max(const struct pleat_dim *dim);
/* The process that owns an index (INDXG2P), and what the index is there (INDXG2L). */
int pleat_dim_owner(const struct pleat_dim *dim, int64_t global);
int64_t pleat_dim_local(const struct pleat_dim *dim, int64_t global);
/* The global index of a process's local one (INDXL2G). */
int64_t pleat_dim_global(const struct pleat_dim *dim, int coordinate, int64_t local);
/* What a process owns of a dimension that is not cyclic. */
struct pleat_interval pleat_dim_interval(const struct pleat_dim *dim, int coordinate);

/* The most processes among which a contiguous dimension may be divided so that what a halo of that
 * width would hold is the next process's: elements that are there, and in no process beyond it.
 * INT64_MAX: any number; 0: not even one. wraps: the last process and the first one are neighbours,
 * too. */
int64_t pleat_dim_halo_processes(int64_t extent, int64_t halo, bool wraps);

/* Of a cyclic dimension: the elements in one turn of all processes; */
int64_t pleat_dim_cycle(const struct pleat_dim *dim);
/* the first index, at or after `global`, of a block of this process (which may be beyond the
 * extent); */
int64_t pleat_dim_next(const struct pleat_dim *dim, int coordinate, int64_t global);
/* the end of the block that `global` is in. */
int64_t pleat_dim_block_end(const struct pleat_dim *dim, int64_t global);

#endif
