/* tree.h - finds the place of a record among sorted ones in O(log n).
 *
 * A treap over the indexes of records in the caller's array, ordered by (key, tie). It does not
 * hold the records, and is not walked: an insertion tells behind which index the new record
 * belongs. The caller links its records into a list in that order, which policies read.
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

/* The nodes of any number of trees. An index is in one of these trees at a time. */
struct pleat_tree {
    struct pleat_tree_node *nodes;
    size_t capacity;
    uint64_t steps; /* nodes visited so far, for benchmarks and tests */
};

/* A tree of zero bytes is empty; a root is PLEAT_TREE_NONE at first. */
void pleat_tree_finish(struct pleat_tree *tree);

/* Inserts an index that is in no tree. (key, tie) must be unique in this tree. *before: the index
 * just before the new one; PLEAT_TREE_NONE: it is the first. 0 or PLEAT_E_NOMEM. */
int pleat_tree_insert(struct pleat_tree *tree, uint32_t *root, uint32_t index, int64_t key,
                      int64_t tie, uint32_t *before) PLEAT_MUST_CHECK;
/* Removes an index that is in this tree. */
void pleat_tree_remove(struct pleat_tree *tree, uint32_t *root, uint32_t index);

#endif
