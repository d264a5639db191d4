/* dense - products of dense matrices, or their LU factorization, by ScaLAPACK, malleable with
 * libpleat: of the class of the programs MM and LU of Swaminathan 2004, chapter 4.
 *
 * The matrices are block-cyclic over a grid of processes, which is another one after a resize.
 *
 * Products: every iteration adds A B to C by pdgemm. At the end C must be `iterations` times A B.
 * Freivalds' test checks that without computing the product again, as in matmul.c.
 *
 * LU (--lu): every iteration copies A, factorizes the copy by pdgetrf, and solves with it by
 * pdgetrs for a right-hand side of which the solution is known. A has to be what it was at the
 * start to the last bit, since it is only read.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

#define BLOCK 16

static const char usage[] =
    "usage: mpirun ... dense [options]\n"
    "Products of matrices by ScaLAPACK; grows and shrinks under Pleat, and checks its result.\n"
    "  --lu             LU factorizations, and solutions with them, instead of products\n"
    "  --n N            order of the matrices (default 256)\n"
    "  --iterations N   products or factorizations (default 100)\n"
    "  --until FILE     iterations until there is such a file, however many these are\n"
    "  --work MS        pretend that an iteration costs MS more of computing, shared by the ranks\n"
    "  --useful N       ranks beyond N take no share of that (default: all do)\n"
    "  --pause MS       sleep for MS milliseconds in every iteration\n"
    "  --tolerance T    relative error allowed (default 1e-9)\n";

/* ScaLAPACK has no header. */
extern void pdgemm_(const char *transa, const char *transb, const int *m, const int *n,
                    const int *k, const double *alpha, const double *a, const int *ia,
                    const int *ja, const int *desca, const double *b, const int *ib, const int *jb,
                    const int *descb, const double *beta, double *c, const int *ic, const int *jc,
                    const int *descc);
extern void pdgetrf_(const int *m, const int *n, double *a, const int *ia, const int *ja,
                     const int *desca, int *ipiv, int *info);
extern void pdgetrs_(const char *trans, const int *n, const int *nrhs, const double *a,
                     const int *ia, const int *ja, const int *desca, const int *ipiv, double *b,
                     const int *ib, const int *jb, const int *descb, int *info);

static const int one = 1;

/* A matrix as it is at the present size. */
struct matrix {
    struct pleat_array *array;
    double *data;            /* the local part, column by column */
    long long rows, columns; /* of the local part */
    int descriptor[9];
};

/* What is carried along besides the matrices. error: the largest one of all iterations so far. */
struct progress {
    long long done;
    double error;
};

struct dense {
    struct app_options options;
    struct pleat_session *session;
    /* the matrices; with --lu the matrix, what is factorized, and a column: right-hand side, then
     * solution */
    struct matrix a, b, c;
    struct progress progress;
};

static long long global(const struct matrix *m, int dimension, long long local)
{
    return pleat_array_global(m->array, dimension, local);
}

static long long local_size(const struct matrix *m)
{
    return m->rows * m->columns;
}

/* ---- the matrices at a size ---- */

static void look_at(struct matrix *m)
{
    static double nothing; /* a rank without an element has something to point to */
    struct pleat_error err;
    int context;
    m->data = pleat_array_data(m->array);
    if (!m->data)
        m->data = &nothing;
    m->rows = pleat_array_count(m->array, 0);
    m->columns = pleat_array_count(m->array, 1);
    if (pleat_array_context(m->array, &context, &err) ||
        pleat_array_descriptor(m->array, context, m->descriptor, &err))
        app_give_up("cannot describe a matrix", &err);
}

static void reshape(struct dense *d)
{
    look_at(&d->a);
    look_at(&d->b);
    look_at(&d->c);
}

/* Element (i, j) of matrix `seed` at the start. Those on the diagonal are large enough that LU is
 * well conditioned. */
static double element(const struct dense *d, unsigned long long seed, long long i, long long j)
{
    long long n = d->options.n;
    double noise = app_noise(seed, (unsigned long long)(i * n + j)) - 0.5;
    return i == j ? noise + 2 * sqrt((double)n) : noise;
}

static void fill(const struct dense *d, const struct matrix *m, unsigned long long seed)
{
    for (long long j = 0; j < m->columns; j++)
        for (long long i = 0; i < m->rows; i++)
            m->data[j * m->rows + i] = element(d, seed, global(m, 0, i), global(m, 1, j));
}

/* y = M x, with all of x and y on every rank. */
static void times_vector(const struct dense *d, const struct matrix *m, const double *x, double *y)
{
    long long n = d->options.n;
    double *part = app_allocate(n, sizeof(double));
    for (long long j = 0; j < m->columns; j++)
        for (long long i = 0; i < m->rows; i++)
            part[global(m, 0, i)] += m->data[j * m->rows + i] * x[global(m, 1, j)];
    MPI_Allreduce(part, y, (int)n, MPI_DOUBLE, MPI_SUM, pleat_session_comm(d->session));
    free(part);
}

/* ---- products ---- */

static void multiply(struct dense *d)
{
    const int n = (int)d->options.n;
    const double factor = 1;
    pdgemm_("N", "N", &n, &n, &n, &factor, d->a.data, &one, &one, d->a.descriptor, d->b.data, &one,
            &one, d->b.descriptor, &factor, d->c.data, &one, &one, d->c.descriptor);
}

/* Freivalds: the largest difference between C x and done * A (B x), relative to C x. */
static double error_of_products(const struct dense *d)
{
    long long n = d->options.n;
    double *x = app_allocate(4 * n, sizeof(double));
    double *bx = x + n, *abx = x + 2 * n, *cx = x + 3 * n;
    double off = 0, largest = 0;
    for (long long j = 0; j < n; j++)
        x[j] = app_noise(3, (unsigned long long)j) < 0.5 ? -1 : 1;
    times_vector(d, &d->b, x, bx);
    times_vector(d, &d->a, bx, abx);
    times_vector(d, &d->c, x, cx);
    for (long long i = 0; i < n; i++) {
        double expected = (double)d->progress.done * abx[i];
        off = fmax(off, isnan(cx[i]) ? INFINITY : fabs(cx[i] - expected));
        largest = fmax(largest, fabs(expected));
    }
    free(x);
    return largest > 0 ? off / largest : off;
}

/* ---- LU ---- */

/* Element i of the solution that iteration `done` has to find. */
static double solution(const struct dense *d, long long i)
{
    return app_noise((unsigned long long)d->progress.done + 10, (unsigned long long)i) + 0.5;
}

static void set_right_hand_side(struct dense *d)
{
    long long n = d->options.n;
    double *x = app_allocate(2 * n, sizeof(double));
    for (long long i = 0; i < n; i++)
        x[i] = solution(d, i);
    times_vector(d, &d->a, x, x + n);
    for (long long i = 0; i < local_size(&d->c); i++)
        d->c.data[i] = (x + n)[global(&d->c, 0, i)];
    free(x);
}

static void give_up_on(const char *routine, int info)
{
    fprintf(stderr, "%s failed with %d\n", routine, info);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void factorize_and_solve(struct dense *d)
{
    const int n = (int)d->options.n;
    int info;
    int *pivots = app_allocate(d->b.rows + BLOCK, sizeof(int));
    set_right_hand_side(d);
    memcpy(d->b.data, d->a.data, (size_t)local_size(&d->a) * sizeof(double));
    pdgetrf_(&n, &n, d->b.data, &one, &one, d->b.descriptor, pivots, &info);
    if (info)
        give_up_on("pdgetrf", info);
    pdgetrs_("N", &n, &one, d->b.data, &one, &one, d->b.descriptor, pivots, d->c.data, &one, &one,
             d->c.descriptor, &info);
    if (info)
        give_up_on("pdgetrs", info);
    free(pivots);
    for (long long i = 0; i < local_size(&d->c); i++) {
        double off = fabs(d->c.data[i] - solution(d, global(&d->c, 0, i)));
        if (!(off <= d->progress.error))
            d->progress.error = isnan(off) ? INFINITY : off;
    }
}

/* The largest error that any rank has seen. Ranks have seen different ones, and a rank that leaves
 * takes its own along: so this has to come before every adaptation point. */
static void share_error(struct dense *d)
{
    double mine = d->progress.error;
    MPI_Allreduce(&mine, &d->progress.error, 1, MPI_DOUBLE, MPI_MAX,
                  pleat_session_comm(d->session));
}

/* Whether A has changed on any rank. */
static int has_changed(const struct dense *d)
{
    int mine = 0, any;
    for (long long j = 0; j < d->a.columns; j++)
        for (long long i = 0; i < d->a.rows; i++) {
            double expected = element(d, 1, global(&d->a, 0, i), global(&d->a, 1, j));
            mine |= memcmp(&d->a.data[j * d->a.rows + i], &expected, sizeof(expected)) != 0;
        }
    MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_LOR, pleat_session_comm(d->session));
    return any;
}

/* ---- */

static void set_up(struct dense *d)
{
    struct pleat_error err;
    const int n = (int)d->options.n, columns = d->options.is_further ? 1 : n;
    int square[9] = {1, -1, n, n, BLOCK, BLOCK, 0, 0, n};
    int third[9] = {1, -1, n, columns, BLOCK, BLOCK, 0, 0, n};
    struct pleat_array_shape shape;
    if (pleat_session_create(&d->session, &err) ||
        pleat_value_register(d->session, "progress", &d->progress, sizeof(d->progress), &err) ||
        pleat_array_shape_of(square, sizeof(double), &shape, &err) ||
        pleat_array_create(d->session, "A", &shape, &d->a.array, &err))
        app_give_up("cannot set up", &err);
    shape.same_grid_as = d->a.array;
    if (pleat_array_create(d->session, "B", &shape, &d->b.array, &err) ||
        pleat_array_shape_of(third, sizeof(double), &shape, &err))
        app_give_up("cannot set up", &err);
    shape.same_grid_as = d->a.array;
    if (pleat_array_create(d->session, "C", &shape, &d->c.array, &err))
        app_give_up("cannot set up", &err);
}

static void iterate(struct dense *d)
{
    if (d->options.is_further) {
        factorize_and_solve(d);
        share_error(d);
    } else {
        multiply(d);
    }
    d->progress.done++;
    app_pretend(&d->options, pleat_session_size(d->session));
}

/* The verdict, after the last iteration; 1: it is wrong. */
static int end(struct dense *d, const struct app_tally *tally)
{
    const char *what = d->options.is_further ? "factorizations" : "products";
    int changed = has_changed(d);
    if (!d->options.is_further)
        d->progress.error = error_of_products(d);
    int wrong = d->progress.error > d->options.tolerance || changed ||
                app_tally_skipped(tally, d->progress.done) ||
                !app_has_done(&d->options, d->progress.done);
    if (pleat_session_rank(d->session) == 0)
        printf("RESULT %s %s=%lld ranks=%d grid=%dx%d error=%.2e%s\n", wrong ? "wrong" : "ok", what,
               d->progress.done, pleat_session_size(d->session),
               pleat_array_processes(d->a.array, 0), pleat_array_processes(d->a.array, 1),
               d->progress.error, changed ? " A has changed" : "");
    return wrong;
}

/* The iterations that are left; what the last adaptation point returned. */
static int run(struct dense *d, struct app_tally *tally, int what)
{
    struct pleat_error err;
    while (what != PLEAT_LEAVE && app_goes_on(d->session, &d->options, d->progress.done)) {
        iterate(d);
        app_tally_add(tally);
        if (app_reports(d->session, &d->options, d->progress.done))
            printf("%lld of %lld %s, %d ranks\n", d->progress.done, d->options.iterations,
                   d->options.is_further ? "factorizations" : "products",
                   pleat_session_size(d->session));
        what = pleat_session_adapt(d->session, &err);
        if (what < 0)
            app_give_up("adaptation point", &err);
        if (what == PLEAT_GREW || what == PLEAT_SHRANK)
            reshape(d);
    }
    return what;
}

int main(int argc, char **argv)
{
    struct dense d = {
        .options = {
            .n = 256, .iterations = 100, .tolerance = 1e-9, .n_most = 30000, .further = "lu"}};
    struct app_tally tally;
    int wrong = 0;

    app_read_options(argc, argv, usage, &d.options);
    MPI_Init(&argc, &argv);
    set_up(&d);
    int what = app_begin(d.session);
    if (what != PLEAT_LEAVE)
        reshape(&d);
    if (what == PLEAT_STARTED) {
        fill(&d, &d.a, 1);
        if (!d.options.is_further)
            fill(&d, &d.b, 2); /* C is zero at first */
    }
    app_tally_open(&tally, d.session, what);
    what = run(&d, &tally, what);
    if (what != PLEAT_LEAVE)
        wrong = end(&d, &tally);
    pleat_session_finish(d.session);
    MPI_Finalize();
    return wrong;
}
