/* jacobi [N [SWEEPS]] - Jacobi sweeps over an N x N plate whose rows are spread over the ranks. */
#include <mpi.h>
#include <pleat.h>
#include <stdio.h>
#include <stdlib.h>

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
    long first, count, k = 0;
    struct pleat_session *session;
    struct pleat_rows *plate[2];
    struct pleat_error err;

    MPI_Init(&argc, &argv);
    pleat_or_abort(pleat_session_create(&session, &err), &err);
    pleat_or_abort(pleat_value_register(session, "k", &k, sizeof(k), &err), &err);
    for (int i = 0; i < 2; i++)
        pleat_or_abort(pleat_rows_create(session, i ? "odd" : "even", n, n * sizeof(double), 1,
                                         &plate[i], &err),
                       &err);
    int what = pleat_or_abort(pleat_session_begin(session, &err), &err);
    if (what == PLEAT_STARTED)
        fill(pleat_rows_data(plate[0]), n, pleat_rows_first(plate[0]), pleat_rows_count(plate[0]));

    while (k < sweeps && what != PLEAT_LEAVE) {
        first = pleat_rows_first(plate[0]), count = pleat_rows_count(plate[0]);
        exchange(pleat_rows_data(plate[k % 2]), n, first, count, pleat_session_comm(session));
        sweep(pleat_rows_data(plate[k % 2]), pleat_rows_data(plate[1 - k % 2]), n, count);
        k++;
        what = pleat_or_abort(pleat_session_adapt(session, &err), &err);
    }
    if (what != PLEAT_LEAVE)
        report(pleat_rows_data(plate[k % 2]), n, pleat_rows_count(plate[0]),
               pleat_session_comm(session));
    pleat_session_finish(session);
    MPI_Finalize();
    return 0;
}
