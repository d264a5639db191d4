/* heat - a heat equation on a square plate, malleable with libpleat.
 *
 * Jacobi sweeps over n x n inner points, edges at 0, rows spread over the ranks. The plate starts
 * as sin(pi x) sin(pi y), which is an eigenvector of the sweep: every sweep multiplies it by cos(pi
 * / (n + 1)). So the exact result of any number of sweeps is known. At its end each rank checks all
 * of its points, however often the program was resized.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

static const char usage[] =
    "usage: mpirun ... heat [options]\n"
    "Heat on a square plate; grows and shrinks under Pleat, and checks its result.\n"
    "  --n N            inner points along an edge (default 512)\n"
    "  --iterations N   sweeps (default 1000)\n"
    "  --until FILE     sweeps until there is such a file, however many these are\n"
    "  --work MS        pretend that a sweep costs MS more of computing, shared by the ranks\n"
    "  --useful N       ranks beyond N take no share of that (default: all do)\n"
    "  --pause MS       sleep for MS milliseconds in every sweep\n"
    "  --tolerance T    relative error allowed at the end (default 1e-8)\n";

/* The value at inner point (i, j) after `sweeps` sweeps. */
static double exact(long long n, long long sweeps, long long i, long long j)
{
    double h = acos(-1.0) / (double)(n + 1);
    return pow(cos(h), (double)sweeps) * sin(h * (double)(i + 1)) * sin(h * (double)(j + 1));
}

static void fill(const struct pleat_rows *plate, long long n)
{
    double *u = pleat_rows_data(plate);
    for (long long i = 0; i < pleat_rows_count(plate); i++)
        for (long long j = 0; j < n; j++)
            u[i * n + j] = exact(n, 0, pleat_rows_first(plate) + i, j);
}

/* Copies the neighbours' edge rows into the halo. At the plate's edges the halo stays 0. */
static void exchange_halo(const struct pleat_session *session, const struct pleat_rows *plate,
                          long long n)
{
    MPI_Comm comm = pleat_session_comm(session);
    double *u = pleat_rows_data(plate);
    long long first = pleat_rows_first(plate);
    long long count = pleat_rows_count(plate);
    if (!count)
        return;
    int rank = pleat_session_rank(session);
    int above = first > 0 ? rank - 1 : MPI_PROC_NULL;
    int below = first + count < n ? rank + 1 : MPI_PROC_NULL;
    MPI_Sendrecv(u, (int)n, MPI_DOUBLE, above, 1, u + count * n, (int)n, MPI_DOUBLE, below, 1, comm,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(u + (count - 1) * n, (int)n, MPI_DOUBLE, below, 2, u - n, (int)n, MPI_DOUBLE,
                 above, 2, comm, MPI_STATUS_IGNORE);
}

/* One sweep in place; `old` and `above` hold the former values of this row and the one above. */
static void sweep(const struct pleat_rows *plate, long long n, double *old, double *above)
{
    double *u = pleat_rows_data(plate);
    size_t row_bytes = (size_t)n * sizeof(double);
    if (pleat_rows_count(plate))
        memcpy(above, u - n, row_bytes);
    for (long long i = 0; i < pleat_rows_count(plate); i++) {
        double *row = u + i * n;
        const double *below = row + n;
        memcpy(old, row, row_bytes);
        for (long long j = 0; j < n; j++) {
            double left = j > 0 ? old[j - 1] : 0;
            double right = j < n - 1 ? old[j + 1] : 0;
            row[j] = 0.25 * (left + right + above[j] + below[j]);
        }
        double *swap = above;
        above = old;
        old = swap;
    }
}

/* The largest error of all points, relative to the hottest one. */
static double largest_error(const struct pleat_session *session, const struct pleat_rows *plate,
                            long long n, long long sweeps)
{
    const double *u = pleat_rows_data(plate);
    double error = 0;
    for (long long i = 0; i < pleat_rows_count(plate); i++)
        for (long long j = 0; j < n; j++) {
            double off = fabs(u[i * n + j] - exact(n, sweeps, pleat_rows_first(plate) + i, j));
            error = off > error || isnan(off) ? off : error;
        }
    error /= exact(n, sweeps, n / 2, n / 2);
    if (isnan(error))
        error = INFINITY;
    double all = error;
    MPI_Allreduce(&error, &all, 1, MPI_DOUBLE, MPI_MAX, pleat_session_comm(session));
    return all;
}

int main(int argc, char **argv)
{
    struct app_options o = {.n = 512, .iterations = 1000, .tolerance = 1e-8, .n_most = 1 << 20};
    struct pleat_session *session;
    struct pleat_rows *plate;
    struct pleat_error err;
    long long done = 0;

    app_read_options(argc, argv, usage, &o);
    MPI_Init(&argc, &argv);
    double *scratch = malloc(2 * (size_t)o.n * sizeof(double));
    if (!scratch)
        MPI_Abort(MPI_COMM_WORLD, 1);

    /* values and rows that must follow a change of the number of ranks */
    if (pleat_session_create(&session, &err) ||
        pleat_value_register(session, "done", &done, sizeof(done), &err) ||
        pleat_rows_create(session, "plate", o.n, (size_t)o.n * sizeof(double), 1, &plate, &err))
        app_give_up("cannot set up", &err);
    int begun = app_begin(session);
    if (begun == PLEAT_STARTED)
        fill(plate, o.n);

    struct app_tally tally;
    app_tally_open(&tally, session, begun);
    int what = begun;
    while (what != PLEAT_LEAVE && app_goes_on(session, &o, done)) {
        exchange_halo(session, plate, o.n);
        sweep(plate, o.n, scratch, scratch + o.n);
        app_pretend(&o, pleat_session_size(session));
        done++;
        app_tally_add(&tally);
        if (app_reports(session, &o, done))
            printf("%lld of %lld sweeps, %d ranks\n", done, o.iterations,
                   pleat_session_size(session));
        what = pleat_session_adapt(session, &err);
        if (what < 0)
            app_give_up("adaptation point", &err);
    }

    int wrong = 0;
    if (what != PLEAT_LEAVE) {
        double error = largest_error(session, plate, o.n, done);
        unsigned long long bits =
            app_bits_of_all(pleat_session_comm(session),
                            app_bits(pleat_rows_data(plate), pleat_rows_count(plate) * o.n,
                                     pleat_rows_first(plate) * o.n));
        wrong = error > o.tolerance || app_tally_skipped(&tally, done) || !app_has_done(&o, done);
        if (pleat_session_rank(session) == 0)
            printf("RESULT %s sweeps=%lld ranks=%d error=%.2e bits=%016llx\n",
                   wrong ? "wrong" : "ok", done, pleat_session_size(session), error, bits);
    }
    pleat_session_finish(session);
    free(scratch);
    MPI_Finalize();
    return wrong;
}
