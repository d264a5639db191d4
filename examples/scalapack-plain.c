/* scalapack [N [STEPS]] - implicit steps of diffusion on N points that are all coupled. The matrix
 * is factorized once, and each step solves with its factor. Both are block-cyclic in ScaLAPACK's
 * way. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define BLOCK 16

/* The BLACS and ScaLAPACK have no headers. */
extern void Cblacs_get(int context, int what, int *value);
extern void Cblacs_gridinit(int *context, const char *order, int rows, int columns);
extern void Cblacs_gridinfo(int context, int *rows, int *columns, int *row, int *column);
extern void Cblacs_gridexit(int context);
extern int numroc_(const int *n, const int *block, const int *place, const int *first,
                   const int *places);
extern void pdpotrf_(const char *uplo, const int *n, double *a, const int *ia, const int *ja,
                     const int *desca, int *info);
extern void pdpotrs_(const char *uplo, const int *n, const int *nrhs, const double *a,
                     const int *ia, const int *ja, const int *desca, double *b, const int *ib,
                     const int *jb, const int *descb, int *info);

static const int one = 1;

struct matrix {
    double *data;      /* the local part, column by column */
    int count[2];      /* its extents */
    int descriptor[9]; /* ScaLAPACK's */
    int dims[2], place[2];
};

static struct matrix matrix_of(int rows, int columns, int context)
{
    static const int block = BLOCK, zero = 0;
    struct matrix a;
    Cblacs_gridinfo(context, &a.dims[0], &a.dims[1], &a.place[0], &a.place[1]);
    a.count[0] = numroc_(&rows, &block, &a.place[0], &zero, &a.dims[0]);
    a.count[1] = numroc_(&columns, &block, &a.place[1], &zero, &a.dims[1]);
    int leading = a.count[0] > 0 ? a.count[0] : 1;
    int descriptor[9] = {1, context, rows, columns, BLOCK, BLOCK, 0, 0, leading};
    for (int i = 0; i < 9; i++)
        a.descriptor[i] = descriptor[i];
    a.data = calloc(a.count[0] * a.count[1] + 1, sizeof(double));
    return a;
}

/* The global index of a local one. */
static int global(const struct matrix *a, int d, int local)
{
    return (local / BLOCK * a->dims[d] + a->place[d]) * BLOCK + local % BLOCK;
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
    int size, context, dims[2] = {0, 0};

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    Cblacs_get(-1, 0, &context);
    Cblacs_gridinit(&context, "R", dims[0], dims[1]);
    struct matrix a = matrix_of(n, n, context), x = matrix_of(n, 1, context);
    fill(&a, &x, n);
    factorize(&a, n);

    for (int k = 0; k < steps; k++)
        step(&a, &x, n);
    report(&x, n, MPI_COMM_WORLD);
    Cblacs_gridexit(context);
    MPI_Finalize();
    return 0;
}
