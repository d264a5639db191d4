/* scalapack --resizes N - a malleable program that computes with ScaLAPACK: it factorizes a matrix
 * (pdpotrf), and in each iteration multiplies the factors (pdgemm), on whatever ranks there are
 * then. The product must be the matrix.
 */
#include <math.h>
#include <pleat.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The BLACS and ScaLAPACK have no headers. */
extern void Cblacs_gridinfo(int context, int *rows, int *columns, int *row, int *column);
extern void pdpotrf_(const char *uplo, const int *n, double *a, const int *ia, const int *ja,
                     const int *desca, int *info);
extern void pdgemm_(const char *transa, const char *transb, const int *m, const int *n,
                    const int *k, const double *alpha, const double *a, const int *ia,
                    const int *ja, const int *desca, const double *b, const int *ib, const int *jb,
                    const int *descb, const double *beta, double *c, const int *ic, const int *jc,
                    const int *descc);

#define N 203
#define BLOCK 16

static struct pleat_session *session;
static struct pleat_array *factor, *product;
static struct pleat_error err;
static long counters[3]; /* resizes, wrong elements, products */

static _Noreturn void give_up(const char *what)
{
    fprintf(stderr, "scalapack: %s: %s\n", what, err.text);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

/* Symmetric, and positive definite. */
static double matrix(long i, long j)
{
    return (i == j ? 8 : 0) + 1 / (1 + fabs((double)(i - j)));
}

/* The BLACS context of the grid of now; -1 where this rank is not in it. Each process must have
 * the place that the array gives it. */
static int context_of(struct pleat_array *array)
{
    int context = -2, rows = -1, columns = -1, row = -1, column = -1;
    if (pleat_array_context(array, &context, &err))
        give_up("a BLACS context");
    const bool in_grid = pleat_array_coordinate(array, 0) >= 0;
    if ((context >= 0) != in_grid)
        give_up("a context where there is no grid, or none where there is one");
    if (in_grid)
        Cblacs_gridinfo(context, &rows, &columns, &row, &column);
    if (in_grid &&
        (rows != pleat_array_processes(array, 0) || columns != pleat_array_processes(array, 1) ||
         row != pleat_array_coordinate(array, 0) || column != pleat_array_coordinate(array, 1)))
        give_up("a context with another grid");
    return context;
}

/* A rank without an element still needs a place to point to. */
static double *memory_of(const struct pleat_array *array)
{
    static double nothing;
    double *data = pleat_array_data(array);
    return data ? data : &nothing;
}

static void describe(const struct pleat_array *array, int context, int *descriptor)
{
    if (pleat_array_descriptor(array, context, descriptor, &err))
        give_up("a descriptor");
}

/* ---- computing ---- */

/* Visits what this rank has of the factor: sets it to the matrix, or clears what pdpotrf has left
 * above the diagonal. */
static void set(int clear)
{
    double *at = pleat_array_data(factor);
    for (long j = 0; j < pleat_array_count(factor, 1); j++)
        for (long i = 0; i < pleat_array_count(factor, 0); i++, at++) {
            long row = pleat_array_global(factor, 0, i);
            long column = pleat_array_global(factor, 1, j);
            if (!clear)
                *at = matrix(row, column);
            else if (row < column)
                *at = 0;
        }
}

static void factorize(void)
{
    static const int n = N, one = 1;
    int descriptor[9];
    int info = 0;
    const int context = context_of(factor);
    set(0);
    if (context >= 0) {
        describe(factor, context, descriptor);
        pdpotrf_("L", &n, memory_of(factor), &one, &one, descriptor, &info);
    }
    if (info)
        give_up("pdpotrf");
    set(1);
}

static void multiply(void)
{
    static const int n = N, one = 1;
    static const double plus = 1, zero = 0;
    int factors[9], products[9];
    const int context = context_of(factor);
    if (context >= 0) {
        describe(factor, context, factors);
        describe(product, context, products);
        pdgemm_("N", "T", &n, &n, &n, &plus, memory_of(factor), &one, &one, factors,
                memory_of(factor), &one, &one, factors, &zero, memory_of(product), &one, &one,
                products);
    }
}

static void check(void)
{
    const double *at = pleat_array_data(product);
    long mine[2] = {0, 0};
    long all[2];
    for (long j = 0; j < pleat_array_count(product, 1); j++)
        for (long i = 0; i < pleat_array_count(product, 0); i++, at++, mine[1]++)
            mine[0] += !(fabs(*at - matrix(pleat_array_global(product, 0, i),
                                           pleat_array_global(product, 1, j))) < 1e-11);
    MPI_Allreduce(mine, all, 2, MPI_LONG, MPI_SUM, pleat_session_comm(session));
    counters[1] += all[0] + (all[1] != (long)N * N);
    counters[2]++;
}

/* Descriptors that are not to be accepted. */
static void check_refusals(const int *good)
{
    struct pleat_array_shape shape;
    static const int changes[][2] = {{0, 501}, {2, -1}, {4, 0}, {5, -3}, {6, 1}, {7, 1}};
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        int bad[9];
        memcpy(bad, good, sizeof(bad));
        bad[changes[i][0]] = changes[i][1];
        if (pleat_array_shape_of(bad, sizeof(double), &shape, &err) == 0)
            give_up("a bad descriptor is accepted");
    }
}

static void create(void)
{
    const int descriptor[9] = {1, -1, N, N, BLOCK, BLOCK, 0, 0, N};
    struct pleat_array_shape shape;
    size_t bytes = 0;
    check_refusals(descriptor);
    if (pleat_element_bytes(MPI_DOUBLE, &bytes, &err) ||
        pleat_array_shape_of(descriptor, bytes, &shape, &err) ||
        pleat_value_register(session, "counters", counters, sizeof(counters), &err) ||
        pleat_array_create(session, "factor", &shape, &factor, &err))
        give_up("registering");
    shape.same_grid_as = factor;
    if (pleat_array_create(session, "product", &shape, &product, &err))
        give_up("registering");
}

int main(int argc, char **argv)
{
    long resizes = argc == 3 ? atol(argv[2]) : 0;
    MPI_Init(&argc, &argv);
    if (pleat_session_create(&session, &err))
        give_up("a session");
    create();
    int begun = pleat_session_begin(session, &err);
    if (begun < 0)
        give_up("beginning");
    if (begun == PLEAT_STARTED)
        factorize();
    else if (begun == PLEAT_JOINED)
        counters[0]++;
    int what = begun;
    while (what != PLEAT_LEAVE) {
        multiply();
        check();
        if (counters[0] >= resizes)
            break;
        what = pleat_session_adapt(session, &err);
        if (what < 0)
            give_up("an adaptation point");
        counters[0] += what == PLEAT_GREW || what == PLEAT_SHRANK;
    }
    if (what != PLEAT_LEAVE && pleat_session_rank(session) == 0)
        printf("RESULT %s products=%ld ranks=%d\n", counters[1] ? "wrong" : "ok", counters[2],
               pleat_session_size(session));
    pleat_session_finish(session);
    MPI_Finalize();
    return 0;
}
