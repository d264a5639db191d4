/* groups_shapes.c - communicators with a shape, and what neighbours in it do together. */
#include <stdlib.h>

#include "groups.h"

enum { TURNS = 12 };

/* Along every direction of a grid, and in its lines. */
int64_t shape_grid(MPI_Comm comm, int id)
{
    int dims[2] = {0, 0}, coords[2], mine, before, after, count;
    const int periods[2] = {1, 0};
    int64_t sum = rank;
    MPI_Comm grid;
    DO(MPI_Dims_create(size, 2, dims));
    DO(MPI_Cart_create(comm, 2, dims, periods, 0, &grid));
    DO(MPI_Comm_rank(grid, &mine));
    DO(MPI_Cart_coords(grid, mine, 2, coords));
    for (int round = 0; round < TURNS; round++)
        for (int direction = 0; direction < 2; direction++) {
            int kept[2] = {direction == 0, direction == 1};
            int64_t out = saying(mine, id, round), in = 0, total = 0;
            MPI_Comm line;
            DO(MPI_Cart_shift(grid, direction, 1, &before, &after));
            DO(MPI_Sendrecv(&out, 1, MPI_INT64_T, after, direction, &in, 1, MPI_INT64_T, before,
                            direction, grid, MPI_STATUS_IGNORE));
            MUST(in == (before == MPI_PROC_NULL ? 0 : saying(before, id, round)));
            DO(MPI_Cart_sub(grid, kept, &line));
            DO(MPI_Comm_size(line, &count));
            MUST(count == dims[direction]);
            DO(MPI_Allreduce(&in, &total, 1, MPI_INT64_T, MPI_SUM, line));
            DO(MPI_Comm_free(&line));
            sum = mix(sum, total);
        }
    DO(MPI_Comm_free(&grid));
    return sum;
}

/* A star: each with rank 0. */
static MPI_Comm star(MPI_Comm comm)
{
    int *ends = calloc((size_t)size, sizeof(*ends)),
        *edges = calloc(2 * (size_t)size, sizeof(*edges));
    MPI_Comm made;
    MUST(ends && edges);
    for (int i = 0; i < size; i++)
        ends[i] = size - 1 + i;
    for (int i = 1; i < size; i++)
        edges[i - 1] = i;
    DO(MPI_Graph_create(comm, size, ends, edges, 0, &made));
    free(edges);
    free(ends);
    return made;
}

int64_t shape_graph(MPI_Comm comm, int id)
{
    int64_t sum = rank;
    int count;
    MPI_Comm graph = star(comm);
    DO(MPI_Graph_neighbors_count(graph, rank, &count));
    MUST(count == (rank ? 1 : size - 1));
    int64_t *in = calloc((size_t)count + 1, sizeof(*in));
    MUST(in);
    for (int round = 0; round < TURNS; round++) {
        int64_t out = saying(rank, id, round);
        DO(MPI_Neighbor_allgather(&out, 1, MPI_INT64_T, in, 1, MPI_INT64_T, graph));
        for (int i = 0; i < count; i++)
            MUST(in[i] == saying(rank ? 0 : i + 1, id, round));
        for (int i = 0; i < count; i++)
            sum = mix(sum, in[i]);
    }
    free(in);
    DO(MPI_Comm_free(&graph));
    return sum;
}

/* A ring with one way: who sends here, and to whom one sends, is another. */
static MPI_Comm ring(MPI_Comm comm, int round)
{
    const int from = previous_rank(), to = next_rank(), one = 1;
    MPI_Comm made;
    if (round % 2)
        DO(MPI_Dist_graph_create(comm, 1, &rank, &one, &to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &made));
    else
        DO(MPI_Dist_graph_create_adjacent(comm, 1, &from, MPI_UNWEIGHTED, 1, &to, MPI_UNWEIGHTED,
                                          MPI_INFO_NULL, 0, &made));
    return made;
}

/* One call of each kind; with `request` it is begun, and somebody else waits for it. */
static void neighbours(MPI_Comm comm, int kind, const int64_t *out, int64_t *in,
                       MPI_Request *request)
{
    static const int one = 1, none = 0;
    static const MPI_Aint here = 0;
    const MPI_Datatype type = MPI_INT64_T;
    switch (kind) {
    case 0:
        if (request)
            DO(MPI_Ineighbor_allgather(out, 1, type, in, 1, type, comm, request));
        else
            DO(MPI_Neighbor_allgather(out, 1, type, in, 1, type, comm));
        break;
    case 1:
        if (request)
            DO(MPI_Ineighbor_allgatherv(out, 1, type, in, &one, &none, type, comm, request));
        else
            DO(MPI_Neighbor_allgatherv(out, 1, type, in, &one, &none, type, comm));
        break;
    case 2:
        if (request)
            DO(MPI_Ineighbor_alltoall(out, 1, type, in, 1, type, comm, request));
        else
            DO(MPI_Neighbor_alltoall(out, 1, type, in, 1, type, comm));
        break;
    case 3:
        if (request)
            DO(MPI_Ineighbor_alltoallv(out, &one, &none, type, in, &one, &none, type, comm,
                                       request));
        else
            DO(MPI_Neighbor_alltoallv(out, &one, &none, type, in, &one, &none, type, comm));
        break;
    default:
        if (request)
            DO(MPI_Ineighbor_alltoallw(out, &one, &here, &type, in, &one, &here, &type, comm,
                                       request));
        else
            DO(MPI_Neighbor_alltoallw(out, &one, &here, &type, in, &one, &here, &type, comm));
    }
}

enum { KINDS = 5 };

int64_t shape_neighbours(MPI_Comm comm, int id)
{
    int64_t sum = rank;
    for (int round = 0; round < TURNS; round++) {
        MPI_Comm shaped = ring(comm, round);
        for (int kind = 0; kind < KINDS; kind++) {
            int64_t out = saying(rank, id, round) + kind, in = 0;
            neighbours(shaped, kind, &out, &in, NULL);
            MUST(in == saying(previous_rank(), id, round) + kind);
            sum = mix(sum, in);
        }
        DO(MPI_Comm_free(&shaped));
    }
    return sum;
}

/* All kinds are under way at the same time, beside a collective of all. */
int64_t shape_begun(MPI_Comm comm, int id)
{
    int64_t sum = rank;
    MPI_Comm shaped = ring(comm, id);
    for (int round = 0; round < TURNS; round++) {
        int64_t out[KINDS], in[KINDS], total = 0;
        MPI_Request requests[KINDS + 1];
        int flag = 0;
        for (int kind = 0; kind < KINDS; kind++) {
            out[kind] = saying(rank, id, round) + kind;
            neighbours(shaped, kind, &out[kind], &in[kind], &requests[kind]);
        }
        DO(MPI_Iallreduce(&out[0], &total, 1, MPI_INT64_T, MPI_MAX, shaped, &requests[KINDS]));
        if (round % 2)
            DO(MPI_Waitall(KINDS + 1, requests, MPI_STATUSES_IGNORE));
        while (round % 2 == 0 && !flag)
            DO(MPI_Testall(KINDS + 1, requests, &flag, MPI_STATUSES_IGNORE));
        for (int kind = 0; kind < KINDS; kind++)
            MUST(in[kind] == saying(previous_rank(), id, round) + kind);
        MUST(total == saying(size - 1, id, round));
        sum = mix(sum, in[KINDS - 1] + total);
    }
    DO(MPI_Comm_free(&shaped));
    return sum;
}
