/* jacobi2d [N [SWEEPS]] - Jacobi sweeps over an N x N plate that is cut in both directions. N is at
 * least the number of ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* A rank's block of the plate. In memory it has one more row and column on each side. */
struct block {
    long first[2], count[2];
    double *u;
};

/* The first n % size have one more. */
static void cut(long n, int place, int size, long *first, long *count)
{
    *first = n / size * place + (place < n % size ? place : n % size);
    *count = n / size + (place < n % size);
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
    long n = argc > 1 ? atol(argv[1]) : 512, sweeps = argc > 2 ? atol(argv[2]) : 1000;
    int size, rank, dims[2] = {0, 0}, periods[2] = {0, 0}, place[2];
    MPI_Comm grid;
    struct block plate[2];

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_coords(grid, rank, 2, place);
    for (int i = 0; i < 2; i++) {
        for (int d = 0; d < 2; d++)
            cut(n, place[d], dims[d], &plate[i].first[d], &plate[i].count[d]);
        plate[i].u = calloc((plate[i].count[0] + 2) * (plate[i].count[1] + 2), sizeof(double));
    }
    fill(&plate[0]);

    for (long k = 0; k < sweeps; k++) {
        exchange(&plate[k % 2], grid);
        sweep(&plate[k % 2], &plate[1 - k % 2]);
    }
    report(&plate[sweeps % 2], grid);
    MPI_Finalize();
    return 0;
}
