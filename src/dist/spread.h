/* spread.h - a state whose parts are on several nodes: which node has which bytes, which bytes a
 * node lacks and which other node gives them, and where the data of a node that is left go.
 * Arithmetic only; all ranks get the same results from the same lists.
 *
 * Offsets are those of a state (shm/state.h). Nodes and ranks count from 0.
 */
#ifndef PLEAT_DIST_SPREAD_H
#define PLEAT_DIST_SPREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLEAT_SPREAD_NOBODY (-1)

/* Bytes first to end - 1 that a node has, or that are to be brought from it. */
struct pleat_stretch {
    uint64_t first, end;
    int32_t node;
    int32_t rank; /* the rank that has it, where that matters */
};

/* Sorts by node and offset, joins what touches or overlaps on a node, drops what is empty; ranks
 * are forgotten. Returns how many are left. */
size_t pleat_spread_tidy(struct pleat_stretch *stretches, size_t count);

/* The next part, from *at on and before `end`, that `node` does not have. *piece is as long as one
 * other node has all of it, and names that node (the lowest of several), or PLEAT_SPREAD_NOBODY.
 * *at moves behind it. False: the node has all the rest. */
bool pleat_spread_next(const struct pleat_stretch *held, size_t count, int node, uint64_t *at,
                       uint64_t end, struct pleat_stretch *piece);

/* The `number`-th rank, modulo their count, of the ranks on `node`, where of[i] is the node of rank
 * i; PLEAT_SPREAD_NOBODY: there is none. */
int pleat_spread_rank(const int *of, int ranks, int node, size_t number);

/* home[i]: the node to which the data of rank i go: its own node, if that stays. Other data go
 * where the ranks of the next program most likely want them, if they divide the data in the order
 * of their numbers, and nodes have as large a share of the ranks as now. False: no node with ranks
 * stays. */
bool pleat_spread_homes(const int *of, int ranks, const bool *stays, int nodes, int *home);

#endif
