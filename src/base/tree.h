/* tree.h - where does it belong? Sorted places for records that live in an array, in O(log n).
 *
 * A treap over the records' indexes, ordered by (key, tie). It does not hold the records and is not
 * walked: inserting says behind which index the new one belongs, and the caller links its records
 * into a list, which policies then read in order.
 */
#ifndef PLEAT_BASE_TREE_H
#define PLEAT_BASE_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define PLEAT_TREE_NONE UINT32_MAX

struct pleat_tree_node {
    int64_t key, tie;
    uint32_t left, right;
};

/* Any number of trees share one array of nodes: an index is in one of them at a time. */
struct pleat_tree {
    struct pleat_tree_node *nodes;
    size_t capacity;
    uint64_t steps; /* nodes visited, ever: for benchmarks and tests */
};

/* A zeroed tree is empty; a root is PLEAT_TREE_NONE at first. */
void pleat_tree_finish(struct pleat_tree *tree);

/* *before: the index that comes just before the new one, or PLEAT_TREE_NONE. (key, tie) must be
 * unique in that tree; the index in no tree. 0 or PLEAT_E_NOMEM. */
int pleat_tree_insert(struct pleat_tree *tree, uint32_t *root, uint32_t index, int64_t key,
                      int64_t tie, uint32_t *before) PLEAT_MUST_CHECK;
/* The index must be in that tree. */
void pleat_tree_remove(struct pleat_tree *tree, uint32_t *root, uint32_t index);

#endif
