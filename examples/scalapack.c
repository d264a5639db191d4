/* scalapack [N [STEPS]] - implicit steps of diffusion on N points that are all coupled. The matrix
 * is factorized once, and each step solves with its factor. Both are block-cyclic in ScaLAPACK's
 * way. */
#include <mpi.h>
#include <pleat.h>
#include <stdio.h>
#include <stdlib.h>

#define BLOCK 16

/* The BLACS and ScaLAPACK have no headers. */
extern void pdpotrf_(const char *uplo, const int *n, double *a, const int *ia, const int *ja,
                     const int *desca, int *info);
extern void pdpotrs_(const char *uplo, const int *n, const int *nrhs, const double *a,
                     const int *ia, const int *ja, const int *desca, double *b, const int *ib,
                     const int *jb, const int *descb, int *info);

static const int one = 1;

struct matrix {
    struct pleat_array *array;
    double *data;      /* the local part, column by column */
    int count[2];      /* its extents */
    int descriptor[9]; /* ScaLAPACK's */
};

/* The local part as it is at the present size. */
static struct matrix matrix_of(struct pleat_array *array)
{
    static double nothing; /* a rank without an element has something to point to */
    int context;
    struct pleat_error err;
    struct matrix a = {.array = array, .data = pleat_array_data(array)};
    if (!a.data)
        a.data = &nothing;
    for (int d = 0; d < 2; d++)
        a.count[d] = pleat_array_count(array, d);
    pleat_or_abort(pleat_array_context(array, &context, &err), &err);
    pleat_or_abort(pleat_array_descriptor(array, context, a.descriptor, &err), &err);
    return a;
}

/* The global index of a local one. */
static int global(const struct matrix *a, int d, int local)
{
    return pleat_array_global(a->array, d, local);
}

static void fill(const struct matrix *a, const struct matrix *x, int n)
{
    for (int j = 0; j < a->count[1]; j++)
        for (int i = 0; i < a->count[0]; i++) {
            int row = global(a, 0, i), column = global(a, 1, j);
            double far = row > column ? row - column : column - row;
            a->data[j * a->count[0] + i] = row == column ? 2 : -1 / (4 * far * far);
        }
    for (int i = 0; i < x->count[0] * x->count[1]; i++)
        x->data[i] = global(x, 0, i) == n / 2; /* hot in the middle */
}

static void factorize(const struct matrix *a, int n)
{
    int info;
    pdpotrf_("L", &n, a->data, &one, &one, a->descriptor, &info);
    if (info)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

static void step(const struct matrix *a, const struct matrix *x, int n)
{
    int info;
    pdpotrs_("L", &n, &one, a->data, &one, &one, a->descriptor, x->data, &one, &one, x->descriptor,
             &info);
    for (int i = 0; i < x->count[0] * x->count[1]; i++)
        x->data[i] *= 1.2;
}

static void report(const struct matrix *x, int n, MPI_Comm comm)
{
    double mine[2] = {0, 0}, all[2];
    int rank, size;
    for (int i = 0; i < x->count[0] * x->count[1]; i++) {
        mine[0] += x->data[i];
        mine[1] += x->data[i] * global(x, 0, i) / n;
    }
    MPI_Reduce(mine, all, 2, MPI_DOUBLE, MPI_SUM, 0, comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (rank == 0)
        printf("heat %.6f, centre %.9f, on %d ranks\n", all[0], all[1] / all[0], size);
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 512, steps = argc > 2 ? atoi(argv[2]) : 1000;
    int k = 0;
    int square[9] = {1, -1, n, n, BLOCK, BLOCK, 0, 0, n};
    int column[9] = {1, -1, n, 1, BLOCK, BLOCK, 0, 0, n};
    struct pleat_array *arrays[2];
    struct pleat_array_shape shape;
    struct pleat_session *session;
    struct pleat_error err;

    MPI_Init(&argc, &argv);
    pleat_or_abort(pleat_session_create(&session, &err), &err);
    pleat_or_abort(pleat_value_register(session, "k", &k, sizeof(k), &err), &err);
    pleat_or_abort(pleat_array_shape_of(square, sizeof(double), &shape, &err), &err);
    pleat_or_abort(pleat_array_create(session, "a", &shape, &arrays[0], &err), &err);
    pleat_or_abort(pleat_array_shape_of(column, sizeof(double), &shape, &err), &err);
    shape.same_grid_as = arrays[0];
    pleat_or_abort(pleat_array_create(session, "x", &shape, &arrays[1], &err), &err);
    int begun = pleat_or_abort(pleat_session_begin(session, &err), &err), what = begun;
    struct matrix a = {0}, x = {0};
    if (what != PLEAT_LEAVE)
        a = matrix_of(arrays[0]), x = matrix_of(arrays[1]);
    if (begun == PLEAT_STARTED) {
        fill(&a, &x, n);
        factorize(&a, n);
    }

    while (k < steps && what != PLEAT_LEAVE) {
        step(&a, &x, n);
        k++;
        what = pleat_or_abort(pleat_session_adapt(session, &err), &err);
        if (what == PLEAT_GREW || what == PLEAT_SHRANK)
            a = matrix_of(arrays[0]), x = matrix_of(arrays[1]);
    }
    if (what != PLEAT_LEAVE)
        report(&x, n, pleat_session_comm(session));
    pleat_session_finish(session);
    MPI_Finalize();
    return 0;
}
