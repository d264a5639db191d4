/* calls_comms.c - communicators that come and go, with messages in them: their handles come back as
 * others, and their ranks are not those of MPI_COMM_WORLD. */
#include <mpi.h>
#include <stdlib.h>

#include "calls.h"

/* A message around `comm`, by its ranks. */
static int64_t around(MPI_Comm comm, int64_t sum)
{
    int self;
    int count;
    int64_t in = 0;
    MPI_Status status;
    DO(MPI_Comm_rank(comm, &self));
    DO(MPI_Comm_size(comm, &count));
    DO(MPI_Sendrecv(&sum, 1, MPI_INT64_T, (self + 1) % count, 4, &in, 1, MPI_INT64_T,
                    MPI_ANY_SOURCE, 4, comm, &status));
    MUST(status.MPI_SOURCE == (self + count - 1) % count);
    if (self % 2 == 0 && self + 1 < count)
        DO(MPI_Send(&in, 1, MPI_INT64_T, self + 1, 5, comm));
    if (self % 2 == 1)
        DO(MPI_Recv(&in, 1, MPI_INT64_T, self - 1, 5, comm, MPI_STATUS_IGNORE));
    return mix(sum, in);
}

static int64_t around_and_free(MPI_Comm comm, int64_t sum)
{
    if (comm == MPI_COMM_NULL)
        return sum;
    sum = around(comm, sum);
    DO(MPI_Comm_free(&comm));
    MUST(comm == MPI_COMM_NULL);
    return sum;
}

static int64_t copies(int64_t sum)
{
    MPI_Comm comm;
    MPI_Request request;
    DO(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    sum = around_and_free(comm, sum);
    DO(MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &comm));
    sum = around_and_free(comm, sum);
    DO(MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request));
    DO(MPI_Wait(&request, MPI_STATUS_IGNORE));
    return around_and_free(comm, sum);
}

static int64_t parts(int64_t sum, int round)
{
    MPI_Comm comm;
    MPI_Group world;
    MPI_Group some;
    int range[1][3] = {{size - 1, 0, -1}}; /* the other way round */
    DO(MPI_Comm_split(MPI_COMM_WORLD, (rank + round) % 2, -rank, &comm));
    sum = around_and_free(comm, sum);
    DO(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -rank, MPI_INFO_NULL, &comm));
    sum = around_and_free(comm, sum);
    DO(MPI_Comm_group(MPI_COMM_WORLD, &world));
    DO(MPI_Group_range_incl(world, 1, range, &some));
    DO(MPI_Comm_create(MPI_COMM_WORLD, some, &comm));
    sum = around_and_free(comm, sum);
    DO(MPI_Comm_create_group(MPI_COMM_WORLD, some, round, &comm));
    sum = around_and_free(comm, sum);
    DO(MPI_Group_free(&some));
    DO(MPI_Group_free(&world));
    return sum;
}

static int64_t shapes(int64_t sum)
{
    MPI_Comm grid;
    MPI_Comm comm;
    int dims[2] = {0, 0};
    const int periods[2] = {1, 0};
    const int kept[2] = {1, 0};
    DO(MPI_Dims_create(size, 2, dims));
    DO(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid));
    DO(MPI_Cart_sub(grid, kept, &comm));
    sum = around_and_free(comm, around_and_free(grid, sum));
    int *ends = calloc((size_t)size, sizeof(*ends));
    int *edges = calloc((size_t)size, sizeof(*edges));
    MUST(ends && edges);
    for (int i = 0; i < size; i++) {
        ends[i] = i + 1;
        edges[i] = (i + 1) % size;
    }
    DO(MPI_Graph_create(MPI_COMM_WORLD, size, ends, edges, 0, &comm));
    sum = around_and_free(comm, sum);
    const int one = 1;
    DO(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &one, &edges[rank], MPI_UNWEIGHTED,
                             MPI_INFO_NULL, 0, &comm));
    free(ends);
    free(edges);
    return around_and_free(comm, sum);
}

int64_t do_communicators(void)
{
    int64_t sum = rank;
    for (int i = 0; i < ROUNDS; i++) {
        sum = copies(sum);
        sum = parts(sum, i);
        sum = shapes(sum);
        sum = around(MPI_COMM_SELF, sum);
    }
    return sum;
}

/* ---- between two groups ---- */

static int64_t across(MPI_Comm between, int64_t sum)
{
    int64_t in = 0;
    int64_t most = 0;
    int self;
    int others;
    MPI_Status status;
    DO(MPI_Comm_rank(between, &self));
    DO(MPI_Comm_remote_size(between, &others));
    int peer = self < others ? self : MPI_PROC_NULL;
    DO(MPI_Sendrecv(&sum, 1, MPI_INT64_T, peer, 1, &in, 1, MPI_INT64_T, peer, 1, between, &status));
    MUST(status.MPI_SOURCE == peer);
    DO(MPI_Allreduce(&in, &most, 1, MPI_INT64_T, MPI_MAX, between));
    int64_t root = most;
    DO(MPI_Bcast(&root, 1, MPI_INT64_T, rank % 2 ? 0 : self ? MPI_PROC_NULL : MPI_ROOT, between));
    DO(MPI_Barrier(between));
    return mix(mix(sum, most), root);
}

int64_t do_between(void)
{
    int64_t sum = rank;
    if (size < 2)
        return sum;
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Comm half;
        MPI_Comm between;
        MPI_Comm merged;
        DO(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half));
        DO(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, 9, &between));
        sum = across(between, sum);
        DO(MPI_Intercomm_merge(between, rank % 2, &merged));
        sum = around_and_free(merged, sum);
        DO(MPI_Comm_disconnect(&between));
        DO(MPI_Comm_free(&half));
    }
    return sum;
}

/* ---- errors ---- */

static int seen;

static void note(MPI_Comm *comm, int *code, ...)
{
    static const int classes[] = {MPI_ERR_RANK, MPI_ERR_COUNT, MPI_ERR_ROOT};
    int class = 0;
    int kind = 0; /* the numbers are each MPI's own */
    DO(MPI_Error_class(*code, &class));
    MUST(*comm == MPI_COMM_SELF);
    while (kind < 3 && classes[kind] != class)
        kind++;
    seen = (int)mix(seen, kind + 1);
}

/* What the MPI says about wrong calls comes through, once. */
int64_t do_errors(void)
{
    MPI_Errhandler handler;
    int value = 0;
    int class = 0;
    seen = 0;
    DO(MPI_Comm_create_errhandler(note, &handler));
    DO(MPI_Comm_set_errhandler(MPI_COMM_SELF, handler));
    for (int i = 0; i < 2; i++) {
        int code = MPI_Send(&value, 1, MPI_INT, 17, 0, MPI_COMM_SELF);
        MUST(code != MPI_SUCCESS);
        DO(MPI_Error_class(code, &class));
        MUST(class == MPI_ERR_RANK);
        MUST(MPI_Recv(&value, -1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
        MUST(MPI_Bcast(&value, 1, MPI_INT, 5, MPI_COMM_SELF));
    }
    DO(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
    DO(MPI_Errhandler_free(&handler));
    return seen;
}
