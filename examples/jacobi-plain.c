/* jacobi [N [SWEEPS]] - Jacobi sweeps over an N x N plate whose rows are spread over the ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* The first n % size ranks have one row more. */
static void block(long n, int rank, int size, long *first, long *count)
{
    *first = n / size * rank + (rank < n % size ? rank : n % size);
    *count = n / size + (rank < n % size);
}

static void fill(double *u, long n, long first, long count)
{
    for (long i = 0; i < count; i++)
        for (long j = 0; j < n; j++)
            u[i * n + j] = first + i == j; /* hot on the diagonal */
}

/* Fetches the neighbours' edge rows into the rows before and behind the local ones. */
static void exchange(double *u, long n, long first, long count, MPI_Comm comm)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    int above = count && first > 0 ? rank - 1 : MPI_PROC_NULL;
    int below = count && first + count < n ? rank + 1 : MPI_PROC_NULL;
    double *last = u + (count ? count - 1 : 0) * n;
    MPI_Sendrecv(u, (int)n, MPI_DOUBLE, above, 1, last + n, (int)n, MPI_DOUBLE, below, 1, comm,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(last, (int)n, MPI_DOUBLE, below, 2, u - n, (int)n, MPI_DOUBLE, above, 2, comm,
                 MPI_STATUS_IGNORE);
}

static void sweep(const double *u, double *next, long n, long count)
{
    for (long i = 0; i < count; i++)
        for (long j = 0; j < n; j++) {
            const double *at = u + i * n + j;
            double left = j > 0 ? at[-1] : 0, right = j < n - 1 ? at[1] : 0;
            next[i * n + j] = 0.25 * (left + right + at[-n] + at[n]);
        }
}

static void report(const double *u, long n, long count, MPI_Comm comm)
{
    double mine = 0, all = 0;
    int rank, size;
    for (long i = 0; i < count * n; i++)
        mine += u[i];
    MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (rank == 0)
        printf("heat %.6f on %d ranks\n", all, size);
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 512, sweeps = argc > 2 ? atol(argv[2]) : 1000;
    long first, count;
    int rank, size;
    double *plate[2];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    block(n, rank, size, &first, &count);
    for (int i = 0; i < 2; i++)
        plate[i] = (double *)calloc(count + 2, n * sizeof(double)) + n;
    fill(plate[0], n, first, count);

    for (long k = 0; k < sweeps; k++) {
        exchange(plate[k % 2], n, first, count, MPI_COMM_WORLD);
        sweep(plate[k % 2], plate[1 - k % 2], n, count);
    }
    report(plate[sweeps % 2], n, count, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
