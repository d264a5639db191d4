/* groups.h - parts of a test program of folding, by the groups in which tests of an MPI's
 * conformance are kept: one-sided access, shapes of communicators, files, processes that come
 * later.
 *
 * A part works on a communicator of its own, which has the ranks of MPI_COMM_WORLD; several threads
 * may do it at the same time, each with another `id`. It checks what it gets, and gives back a
 * number that only depends on rank, size and id, not on who had a processor when.
 */
#ifndef TEST_FOLD_GROUPS_H
#define TEST_FOLD_GROUPS_H

#include <mpi.h>

#include "calls.h"

typedef int64_t group_part(MPI_Comm comm, int id);

group_part window_fence, window_group, window_shared, window_locks, window_queue_lock, window_swap,
    window_flags, window_dynamic;
group_part shape_grid, shape_graph, shape_neighbours, shape_begun;
group_part file_own, file_shared, file_together, file_begun, file_views;
group_part between_halves, between_ports, between_spawned;

/* What a spawned process does in place of the parts. */
void between_child(MPI_Comm parents);
/* The program's own file, for what is spawned. */
extern const char *program_path;

static inline int next_rank(void)
{
    return (rank + 1) % size;
}

static inline int previous_rank(void)
{
    return (rank + size - 1) % size;
}

/* What thread `id` of `from` has to say in a round. */
static inline int64_t saying(int from, int id, int round)
{
    return ((int64_t)round * 1000 + from) * 100 + id + 1;
}

#endif
