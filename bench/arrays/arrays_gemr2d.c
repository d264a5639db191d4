/* arrays_gemr2d N ROWS COLUMNS... - under mpirun: ScaLAPACK's pdgemr2d takes an N x N matrix of
 * doubles in blocks of 64 x 64 from each of the process grids to the next one, into new memory.
 * Prints "TIME seconds" for each step, from when all ranks are there until all have their part, and
 * "RESULT ok". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define BLOCK 64

/* The BLACS and ScaLAPACK have no headers. */
extern void Cblacs_get(int context, int what, int *value);
extern void Cblacs_gridinit(int *context, const char *order, int rows, int columns);
extern void Cblacs_gridinfo(int context, int *rows, int *columns, int *row, int *column);
extern void Cpdgemr2d(int m, int n, const double *a, int ia, int ja, const int *desca, double *b,
                      int ib, int jb, const int *descb, int context);
extern int numroc_(const int *n, const int *nb, const int *iproc, const int *isrcproc,
                   const int *nprocs);

static int n, zero, block = BLOCK;

struct side {
    int context, rows, columns, row, column; /* context -1: this rank is not in the grid */
    int local[2];
    int descriptor[9];
    double *memory;
};

static void set_up(struct side *side, int rows, int columns)
{
    *side = (struct side){.descriptor = {1, -1, n, n, BLOCK, BLOCK, 0, 0, 1}};
    Cblacs_get(-1, 0, &side->context);
    Cblacs_gridinit(&side->context, "R", rows, columns);
    side->descriptor[1] = side->context;
    if (side->context < 0)
        return;
    Cblacs_gridinfo(side->context, &side->rows, &side->columns, &side->row, &side->column);
    side->local[0] = numroc_(&n, &block, &side->row, &zero, &side->rows);
    side->local[1] = numroc_(&n, &block, &side->column, &zero, &side->columns);
    side->descriptor[8] = side->local[0] > 1 ? side->local[0] : 1;
    side->memory = malloc((size_t)side->local[0] * (size_t)side->local[1] * 8 + 8);
    if (!side->memory)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Fills the local elements, or counts wrong ones: the column, and the row within its block. */
static long visit(const struct side *side, int fill)
{
    double *at = side->memory;
    long wrong = 0;
    for (int j = 0; at && j < side->local[1]; j++) {
        int column = (j / BLOCK * side->columns + side->column) * BLOCK + j % BLOCK;
        for (int i = 0; i < side->local[0]; i++, at++) {
            double value = (double)column * 65536 + i % BLOCK;
            if (fill)
                *at = value;
            else
                wrong += *at < value || *at > value;
        }
    }
    return wrong;
}

int main(int argc, char **argv)
{
    struct side old, new;
    int rank, all;
    long wrong = 0, wrongs = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    n = atoi(argv[1]);
    Cblacs_get(-1, 0, &all);
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    Cblacs_gridinit(&all, "R", 1, ranks);
    set_up(&old, atoi(argv[2]), atoi(argv[3]));
    (void)visit(&old, 1);
    for (int i = 4; i + 1 < argc; i += 2) {
        set_up(&new, atoi(argv[i]), atoi(argv[i + 1]));
        MPI_Barrier(MPI_COMM_WORLD);
        double begun = MPI_Wtime();
        Cpdgemr2d(n, n, old.memory, 1, 1, old.descriptor, new.memory, 1, 1, new.descriptor, all);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            printf("TIME %.6f\n", MPI_Wtime() - begun);
        wrong += visit(&new, 0);
        free(old.memory);
        old = new;
    }
    MPI_Reduce(&wrong, &wrongs, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("RESULT %s\n", wrongs ? "wrong" : "ok");
    MPI_Finalize();
    return 0;
}
