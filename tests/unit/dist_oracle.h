/* dist_oracle.h - where elements of a distributed array are, found by dealing them out one by one,
 * without the arithmetic of src/dist; and redistributions checked with it, element by element. */
#ifndef PLEAT_TESTS_DIST_ORACLE_H
#define PLEAT_TESTS_DIST_ORACLE_H

#include "test.h"

#include "base/random.h"
#include "dist/dist.h"

/* One dimension, dealt out. */
struct oracle_dim {
    int *owner;     /* of each index */
    int64_t *local; /* of each index, at its owner */
    int64_t *count; /* of each process */
};

struct oracle {
    const struct pleat_dist *dist;
    struct oracle_dim dim[PLEAT_DIST_DIMS];
};

/* Fails the test if out of memory. */
void oracle_init(struct oracle *oracle, const struct pleat_dist *dist);
void oracle_finish(struct oracle *oracle);
/* The rank at some coordinates, by counting ranks in the grid's order. */
int oracle_rank(const struct pleat_dist *dist, const int *coordinates);
/* The rank that owns an element (of a replicated array 0), and its place in that rank's memory in
 * elements. */
int oracle_owner(const struct oracle *oracle, const int64_t *global);
int64_t oracle_place(const struct oracle *oracle, const int64_t *global);
/* The next element of the array, in any order: all dimensions of `global` from 0; false after the
 * last one. An array without elements has none at all: `oracle_has_elements`. */
bool oracle_next(const struct pleat_dist *dist, int64_t *global);
bool oracle_has_elements(const struct pleat_dist *dist);

/* Redistributes from `old` to `new` in memory: all at once, peer by peer, packed in small pieces,
 * and by the vectors of which datatypes are made; compares every byte of every local array, halos
 * and padding included, every peer and every sum of bytes with the oracle. */
void oracle_check_pair(const struct pleat_dist *old, const struct pleat_dist *new, unsigned flags,
                       struct pleat_random *random);

/* A dimension, for the tables of tests. */
static inline struct pleat_dim dim_cyclic(int64_t extent, int processes, int64_t block, int first)
{
    return (struct pleat_dim){.extent = extent,
                              .format = PLEAT_DIM_BLOCK_CYCLIC,
                              .processes = processes,
                              .block = block,
                              .first = first};
}

static inline struct pleat_dim dim_block(int64_t extent, int processes)
{
    return (struct pleat_dim){.extent = extent, .format = PLEAT_DIM_BLOCK, .processes = processes};
}

static inline struct pleat_dim dim_general(int64_t extent, int processes, const int64_t *bounds)
{
    return (struct pleat_dim){.extent = extent,
                              .format = PLEAT_DIM_GENERAL_BLOCK,
                              .processes = processes,
                              .bounds = bounds};
}

static inline struct pleat_dim dim_collapsed(int64_t extent)
{
    return (struct pleat_dim){.extent = extent, .format = PLEAT_DIM_COLLAPSED, .processes = 1};
}

#endif
