/* spread.h - a state whose parts are on several nodes: which bytes of it are where, what a node
 * lacks and who gives it, and where data go whose node is left. Arithmetic only; all ranks come to
 * the same from the same lists.
 *
 * Offsets are those of a state (shm/state.h). Nodes and ranks count from 0.
 */
#ifndef PLEAT_DIST_SPREAD_H
#define PLEAT_DIST_SPREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLEAT_SPREAD_NOBODY (-1)

/* Bytes first to end - 1, which a node has, or that are to be brought from there. */
struct pleat_stretch {
    uint64_t first, end;
    int32_t node;
    int32_t rank; /* whose it is, where that matters */
};

/* Sorts by node and offset, joins what touches or overlaps on a node, drops what is empty; ranks
 * are forgotten. Returns how many are left. */
size_t pleat_spread_tidy(struct pleat_stretch *stretches, size_t count);

/* The next part, from *at on and before `end`, that `node` has not: *piece is as long as one other
 * node has it, and names that (the lowest where several have it), or PLEAT_SPREAD_NOBODY. *at moves
 * behind it. False: the node has all the rest. */
bool pleat_spread_next(const struct pleat_stretch *held, size_t count, int node, uint64_t *at,
                       uint64_t end, struct pleat_stretch *piece);

/* The `number`-th rank, modulo how many there are, of those on `node`, where of[i] is the node of
 * rank i; PLEAT_SPREAD_NOBODY: there is none. */
int pleat_spread_rank(const int *of, int ranks, int node, size_t number);

/* home[i]: the node that what rank i has goes to: its own where that stays. What is left goes where
 * the ranks of the next program most likely want it, if they divide the data in the order of their
 * numbers, and nodes have as large a share of them as now. False: no node with ranks stays. */
bool pleat_spread_homes(const int *of, int ranks, const bool *stays, int nodes, int *home);

#endif
