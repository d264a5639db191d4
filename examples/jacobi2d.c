/* jacobi2d [N [SWEEPS]] - Jacobi sweeps over an N x N plate that is cut in both directions. N is at
 * least the number of ranks. */
#include <mpi.h>
#include <pleat.h>
#include <stdio.h>
#include <stdlib.h>

/* A rank's block of the plate. In memory it has one more row and column on each side. */
struct block {
    long first[2], count[2];
    double *u;
};

/* The block as it is at the present size. */
static struct block block_of(const struct pleat_array *plate)
{
    struct block b = {.u = pleat_array_data(plate)};
    for (int d = 0; d < 2; d++) {
        b.first[d] = pleat_array_global(plate, d, 0);
        b.count[d] = pleat_array_count(plate, d);
    }
    return b;
}

static double *at(const struct block *b, long i, long j)
{
    return b->u + (i + 1) * (b->count[1] + 2) + j + 1;
}

static void fill(const struct block *b)
{
    for (long i = 0; i < b->count[0]; i++)
        for (long j = 0; j < b->count[1]; j++)
            *at(b, i, j) = b->first[0] + i == b->first[1] + j; /* hot on the diagonal */
}

/* Fetches the neighbours' edges. */
static void exchange(const struct block *b, MPI_Comm grid)
{
    int rows = (int)b->count[0], columns = (int)b->count[1], above, below, left, right;
    MPI_Datatype column;
    MPI_Type_vector(rows, 1, columns + 2, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    MPI_Cart_shift(grid, 0, 1, &above, &below);
    MPI_Cart_shift(grid, 1, 1, &left, &right);
    MPI_Sendrecv(at(b, 0, 0), columns, MPI_DOUBLE, above, 1, at(b, rows, 0), columns, MPI_DOUBLE,
                 below, 1, grid, MPI_STATUS_IGNORE);
    MPI_Sendrecv(at(b, rows - 1, 0), columns, MPI_DOUBLE, below, 2, at(b, -1, 0), columns,
                 MPI_DOUBLE, above, 2, grid, MPI_STATUS_IGNORE);
    MPI_Sendrecv(at(b, 0, 0), 1, column, left, 3, at(b, 0, columns), 1, column, right, 3, grid,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(at(b, 0, columns - 1), 1, column, right, 4, at(b, 0, -1), 1, column, left, 4, grid,
                 MPI_STATUS_IGNORE);
    MPI_Type_free(&column);
}

static void sweep(const struct block *b, const struct block *next)
{
    for (long i = 0; i < b->count[0]; i++)
        for (long j = 0; j < b->count[1]; j++)
            *at(next, i, j) =
                0.25 * (*at(b, i, j - 1) + *at(b, i, j + 1) + *at(b, i - 1, j) + *at(b, i + 1, j));
}

static void report(const struct block *b, MPI_Comm grid)
{
    double mine = 0, all = 0;
    int rank, size;
    for (long i = 0; i < b->count[0]; i++)
        for (long j = 0; j < b->count[1]; j++)
            mine += *at(b, i, j);
    MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Comm_size(grid, &size);
    if (rank == 0)
        printf("heat %.6f on %d ranks\n", all, size);
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 512, sweeps = argc > 2 ? atol(argv[2]) : 1000, k = 0;
    MPI_Comm grid;
    struct block plate[2];
    struct pleat_session *session;
    struct pleat_array *array[2];
    struct pleat_dimension dim = {
        .extent = n, .format = PLEAT_BLOCK, .halo_low = 1, .halo_high = 1};
    struct pleat_array_shape shape = {
        .dims = 2, .dim = {dim, dim}, .element_bytes = sizeof(double)};
    struct pleat_error err;

    MPI_Init(&argc, &argv);
    pleat_or_abort(pleat_session_create(&session, &err), &err);
    pleat_or_abort(pleat_value_register(session, "k", &k, sizeof(k), &err), &err);
    pleat_or_abort(pleat_array_create(session, "even", &shape, &array[0], &err), &err);
    pleat_or_abort(pleat_array_create(session, "odd", &shape, &array[1], &err), &err);
    int begun = pleat_or_abort(pleat_session_begin(session, &err), &err), what = begun;

    while (what != PLEAT_LEAVE) {
        for (int i = 0; i < 2; i++)
            plate[i] = block_of(array[i]);
        pleat_or_abort(pleat_array_comm(array[0], &grid, &err), &err);
        if (begun == PLEAT_STARTED && k == 0)
            fill(&plate[0]);
        if (k == sweeps)
            break;
        exchange(&plate[k % 2], grid);
        sweep(&plate[k % 2], &plate[1 - k % 2]);
        k++;
        what = pleat_or_abort(pleat_session_adapt(session, &err), &err);
    }
    if (what != PLEAT_LEAVE)
        report(&plate[sweeps % 2], grid);
    pleat_session_finish(session);
    MPI_Finalize();
    return 0;
}
