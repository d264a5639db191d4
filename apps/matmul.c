/* matmul - a distributed matrix product, malleable with libpleat.
 *
 * A, B and C are n x n, their rows spread over the ranks. Every iteration adds A B to C: each rank
 * in turn broadcasts its rows of B. At the end C must be `iterations` times A B. Freivalds' test
 * (R. Freivalds, "Probabilistic machines can use less running time", IFIP 1977) checks that without
 * computing the product again: C x = iterations * A (B x) for a random vector x.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common.h"

static const char usage[] =
    "usage: mpirun ... matmul [options]\n"
    "Repeated matrix product; grows and shrinks under Pleat, and checks its result.\n"
    "  --n N            order of the matrices (default 256)\n"
    "  --iterations N   products (default 100)\n"
    "  --until FILE     products until there is such a file, however many these are\n"
    "  --work MS        pretend that a product costs MS more of computing, shared by the ranks\n"
    "  --useful N       ranks beyond N take no share of that (default: all do)\n"
    "  --pause MS       sleep for MS milliseconds in every iteration\n"
    "  --tolerance T    relative error allowed at the end (default 1e-9)\n";

struct problem {
    struct pleat_session *session;
    struct pleat_rows *a, *b, *c;
    long long n;
};

static void *allocate(long long doubles)
{
    void *memory = malloc((size_t)(doubles ? doubles : 1) * sizeof(double));
    if (!memory)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return memory;
}

static void fill(const struct pleat_rows *matrix, long long n, unsigned long long seed)
{
    double *m = pleat_rows_data(matrix);
    for (long long i = 0; i < pleat_rows_count(matrix); i++)
        for (long long j = 0; j < n; j++)
            m[i * n + j] =
                app_noise(seed, (unsigned long long)((pleat_rows_first(matrix) + i) * n + j)) - 0.5;
}

/* The rows of every rank: two numbers for each, first and count. */
static long long *gather_blocks(const struct problem *p)
{
    long long mine[2] = {pleat_rows_first(p->b), pleat_rows_count(p->b)};
    long long *all = allocate(2LL * pleat_session_size(p->session));
    MPI_Allgather(mine, 2, MPI_LONG_LONG, all, 2, MPI_LONG_LONG, pleat_session_comm(p->session));
    return all;
}

/* Adds A(:, first .. first + count - 1) times these rows of B to C. */
static void add_product(const struct problem *p, const double *rows_of_b, long long first,
                        long long count)
{
    const double *a = pleat_rows_data(p->a);
    double *c = pleat_rows_data(p->c);
    long long n = p->n;
    for (long long i = 0; i < pleat_rows_count(p->a); i++)
        for (long long k = 0; k < count; k++) {
            double factor = a[i * n + first + k];
            for (long long j = 0; j < n; j++)
                c[i * n + j] += factor * rows_of_b[k * n + j];
        }
}

static void multiply(const struct problem *p)
{
    int size = pleat_session_size(p->session);
    long long *blocks = gather_blocks(p);
    /* no rank's block is larger than rank 0's */
    double *received = allocate(blocks[1] * p->n);
    for (int owner = 0; owner < size; owner++) {
        long long first = blocks[2L * owner];
        long long count = blocks[2L * owner + 1];
        if (!count)
            break; /* this rank and all after it have no rows */
        double *rows = owner == pleat_session_rank(p->session) ? pleat_rows_data(p->b) : received;
        MPI_Bcast(rows, (int)(count * p->n), MPI_DOUBLE, owner, pleat_session_comm(p->session));
        add_product(p, rows, first, count);
    }
    free(received);
    free(blocks);
}

/* y = M x for the local rows. */
static void times_vector(const struct pleat_rows *matrix, long long n, const double *x, double *y)
{
    const double *m = pleat_rows_data(matrix);
    for (long long i = 0; i < pleat_rows_count(matrix); i++) {
        y[i] = 0;
        for (long long j = 0; j < n; j++)
            y[i] += m[i * n + j] * x[j];
    }
}

/* Joins the local parts of a vector into the whole one, on every rank. */
static void gather_vector(const struct problem *p, const double *part, double *whole)
{
    int size = pleat_session_size(p->session);
    long long *blocks = gather_blocks(p);
    int *counts = allocate(size);
    int *starts = allocate(size);
    for (int rank = 0; rank < size; rank++) {
        starts[rank] = (int)blocks[2L * rank];
        counts[rank] = (int)blocks[2L * rank + 1];
    }
    MPI_Allgatherv(part, (int)pleat_rows_count(p->b), MPI_DOUBLE, whole, counts, starts, MPI_DOUBLE,
                   pleat_session_comm(p->session));
    free(counts);
    free(starts);
    free(blocks);
}

/* Freivalds: the largest difference between C x and times * A (B x), relative to C x. */
static double error_of(const struct problem *p, long long times)
{
    long long n = p->n;
    long long count = pleat_rows_count(p->c);
    double *x = allocate(n);
    double *whole = allocate(n);
    double *part = allocate(count);
    double *cx = allocate(count);
    for (long long j = 0; j < n; j++)
        x[j] = app_noise(3, (unsigned long long)j) < 0.5 ? -1 : 1;
    times_vector(p->b, n, x, part);
    gather_vector(p, part, whole);
    times_vector(p->a, n, whole, part);
    times_vector(p->c, n, x, cx);
    double mine[2] = {0, 0}; /* largest difference, largest value */
    for (long long i = 0; i < count; i++) {
        double off = fabs(cx[i] - (double)times * part[i]);
        mine[0] = fmax(mine[0], isnan(off) ? INFINITY : off);
        mine[1] = fmax(mine[1], fabs((double)times * part[i]));
    }
    double all[2];
    MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, pleat_session_comm(p->session));
    free(x);
    free(whole);
    free(part);
    free(cx);
    return all[1] > 0 ? all[0] / all[1] : all[0];
}

int main(int argc, char **argv)
{
    struct app_options o = {.n = 256, .iterations = 100, .tolerance = 1e-9, .n_most = 30000};
    struct problem p;
    struct pleat_error err;
    long long done = 0;

    app_read_options(argc, argv, usage, &o);
    MPI_Init(&argc, &argv);
    p.n = o.n;
    size_t row_bytes = (size_t)o.n * sizeof(double);
    if (pleat_session_create(&p.session, &err) ||
        pleat_value_register(p.session, "done", &done, sizeof(done), &err) ||
        pleat_rows_create(p.session, "A", o.n, row_bytes, 0, &p.a, &err) ||
        pleat_rows_create(p.session, "B", o.n, row_bytes, 0, &p.b, &err) ||
        pleat_rows_create(p.session, "C", o.n, row_bytes, 0, &p.c, &err))
        app_give_up("cannot set up", &err);
    int begun = app_begin(p.session);
    if (begun == PLEAT_STARTED) {
        fill(p.a, o.n, 1);
        fill(p.b, o.n, 2); /* C is zero at first */
    }

    struct app_tally tally;
    app_tally_open(&tally, p.session, begun);
    int what = begun;
    while (what != PLEAT_LEAVE && app_goes_on(p.session, &o, done)) {
        multiply(&p);
        app_pretend(&o, pleat_session_size(p.session));
        done++;
        app_tally_add(&tally);
        if (app_reports(p.session, &o, done))
            printf("%lld of %lld products, %d ranks\n", done, o.iterations,
                   pleat_session_size(p.session));
        what = pleat_session_adapt(p.session, &err);
        if (what < 0)
            app_give_up("adaptation point", &err);
    }

    int wrong = 0;
    if (what != PLEAT_LEAVE) {
        double error = error_of(&p, done);
        wrong = error > o.tolerance || app_tally_skipped(&tally, done) || !app_has_done(&o, done);
        if (pleat_session_rank(p.session) == 0)
            printf("RESULT %s products=%lld ranks=%d error=%.2e\n", wrong ? "wrong" : "ok", done,
                   pleat_session_size(p.session), error);
    }
    pleat_session_finish(p.session);
    MPI_Finalize();
    return wrong;
}
