/* halo - a heat equation on a square plate that is cut into blocks in both directions: nonblocking
 * exchange of four edges, then a Jacobi sweep.
 *
 * The plate starts as sin(pi x) sin(pi y), which a sweep multiplies by cos(pi / (n + 1)): the exact
 * value of every point after any number of sweeps is known.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plain.h"

#define TOLERANCE 1e-9 /* relative to the hottest point */
#define COLD 1e-200    /* smaller doubles lose digits */

static const char usage[] =
    "usage: mpirun ... halo [options]\n"
    "Heat on a square plate: edges of blocks are exchanged without blocking, then swept.\n"
    "  --iterations N   sweeps (default 1000)\n"
    "  --work N         units of computing besides, for a rank and sweep, about 1 us each\n"
    "  --size N         points along an edge of the plate, at least as many as ranks (default "
    "128)\n" PLAIN_USAGE;

struct halo {
    struct plain plain;
    MPI_Comm grid;
    MPI_Datatype column;
    int above, below, left, right;
    long long first[2], count[2]; /* of this rank's block: row, column */
    long long stride;
    double *now, *next; /* the block with one more row and column on each side */
};

/* The value at inner point (i, j) after `sweeps` sweeps. */
static double exact(long long n, long long sweeps, long long i, long long j)
{
    double h = acos(-1.0) / (double)(n + 1);
    return pow(cos(h), (double)sweeps) * sin(h * (double)(i + 1)) * sin(h * (double)(j + 1));
}

static double *at(const struct halo *h, double *block, long long i, long long j)
{
    return block + (i + 1) * h->stride + j + 1;
}

static void cut(struct halo *h)
{
    int dims[2] = {0, 0}, periods[2] = {0, 0}, coords[2], rank;
    MPI_Dims_create(h->plain.ranks, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &h->grid);
    MPI_Comm_rank(h->grid, &rank);
    MPI_Cart_coords(h->grid, rank, 2, coords);
    MPI_Cart_shift(h->grid, 0, 1, &h->above, &h->below);
    MPI_Cart_shift(h->grid, 1, 1, &h->left, &h->right);
    for (int d = 0; d < 2; d++) {
        h->first[d] = h->plain.size * coords[d] / dims[d];
        h->count[d] = h->plain.size * (coords[d] + 1) / dims[d] - h->first[d];
    }
    h->stride = h->count[1] + 2;
    MPI_Type_vector((int)h->count[0], 1, (int)h->stride, MPI_DOUBLE, &h->column);
    MPI_Type_commit(&h->column);
    h->now = plain_allocate((size_t)((h->count[0] + 2) * h->stride), sizeof(double));
    h->next = plain_allocate((size_t)((h->count[0] + 2) * h->stride), sizeof(double));
    for (long long i = 0; i < h->count[0]; i++)
        for (long long j = 0; j < h->count[1]; j++)
            *at(h, h->now, i, j) = exact(h->plain.size, 0, h->first[0] + i, h->first[1] + j);
}

/* Exchanges the four edges. At the plate's own edges the halo stays 0. */
static void exchange(struct halo *h)
{
    MPI_Request requests[8];
    MPI_Status statuses[8];
    long long rows = h->count[0], columns = h->count[1];
    double *u = h->now;
    MPI_Irecv(at(h, u, -1, 0), (int)columns, MPI_DOUBLE, h->above, 1, h->grid, &requests[0]);
    MPI_Irecv(at(h, u, rows, 0), (int)columns, MPI_DOUBLE, h->below, 2, h->grid, &requests[1]);
    MPI_Irecv(at(h, u, 0, -1), 1, h->column, h->left, 3, h->grid, &requests[2]);
    MPI_Irecv(at(h, u, 0, columns), 1, h->column, h->right, 4, h->grid, &requests[3]);
    MPI_Isend(at(h, u, rows - 1, 0), (int)columns, MPI_DOUBLE, h->below, 1, h->grid, &requests[4]);
    MPI_Isend(at(h, u, 0, 0), (int)columns, MPI_DOUBLE, h->above, 2, h->grid, &requests[5]);
    MPI_Isend(at(h, u, 0, columns - 1), 1, h->column, h->right, 3, h->grid, &requests[6]);
    MPI_Isend(at(h, u, 0, 0), 1, h->column, h->left, 4, h->grid, &requests[7]);
    MPI_Waitall(8, requests, statuses);
}

/* Counts the points of [i0, i1) x [j0, j1) that do not have their value after `sweeps` sweeps. */
static void check(struct halo *h, long long sweeps, long long i0, long long i1, long long j0,
                  long long j1)
{
    long long n = h->plain.size;
    double hottest = exact(n, sweeps, n / 2, n / 2);
    for (long long i = i0; i < i1; i++)
        for (long long j = j0; j < j1; j++) {
            double off = *at(h, h->now, i, j) - exact(n, sweeps, h->first[0] + i, h->first[1] + j);
            h->plain.wrong += !(fabs(off) <= TOLERANCE * hottest);
        }
}

static void check_halo(struct halo *h, long long sweeps)
{
    long long rows = h->count[0], columns = h->count[1];
    if (h->above != MPI_PROC_NULL)
        check(h, sweeps, -1, 0, 0, columns);
    if (h->below != MPI_PROC_NULL)
        check(h, sweeps, rows, rows + 1, 0, columns);
    if (h->left != MPI_PROC_NULL)
        check(h, sweeps, 0, rows, -1, 0);
    if (h->right != MPI_PROC_NULL)
        check(h, sweeps, 0, rows, columns, columns + 1);
}

static void sweep(struct halo *h)
{
    for (long long i = 0; i < h->count[0]; i++) {
        const double *row = at(h, h->now, i, 0);
        double *out = at(h, h->next, i, 0);
        for (long long j = 0; j < h->count[1]; j++)
            out[j] = 0.25 * (row[j - 1] + row[j + 1] + row[j - h->stride] + row[j + h->stride]);
    }
    double *swap = h->now;
    h->now = h->next;
    h->next = swap;
}

/* The sum of the bits of all values, which does not depend on how the plate is cut. */
static uint64_t sum_of(const struct halo *h)
{
    uint64_t sum = 0, bits;
    for (long long i = 0; i < h->count[0]; i++)
        for (long long j = 0; j < h->count[1]; j++) {
            memcpy(&bits, at(h, h->now, i, j), sizeof(bits));
            sum += bits;
        }
    return sum;
}

int main(int argc, char **argv)
{
    struct halo h = {.plain = {.name = "halo", .iterations = 1000, .size = 128}};
    const struct plain_option more[] = {{"size", &h.plain.size, 1, 1 << 15, NULL},
                                        {NULL, NULL, 0, 0, NULL}};
    plain_begin(&h.plain, argc, argv, usage, more);
    if (h.plain.size < h.plain.ranks)
        h.plain.size = h.plain.ranks; /* at least one point for each rank */
    if (exact(h.plain.size, h.plain.iterations, h.plain.size / 2, h.plain.size / 2) < COLD) {
        fprintf(stderr,
                "after this number of --iterations a plate of this --size is cold: nothing is "
                "left to check\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    cut(&h);
    uint64_t value = plain_seed((uint64_t)h.plain.rank);
    for (long long i = 0; i < h.plain.iterations; i++) {
        exchange(&h);
        if (h.plain.verify)
            check_halo(&h, i);
        sweep(&h);
        value = plain_work(value, h.plain.work);
        if (i == h.plain.corrupt)
            *at(&h, h.now, 0, 0) += 1;
        plain_iterated(&h.plain);
    }
    check(&h, h.plain.iterations, 0, h.count[0], 0, h.count[1]);
    uint64_t seed = plain_seed((uint64_t)h.plain.rank);
    h.plain.wrong += value != plain_jump_apply(plain_jump(h.plain.work * h.plain.iterations), seed);
    uint64_t sum = sum_of(&h);
    free(h.now);
    free(h.next);
    MPI_Type_free(&h.column);
    MPI_Comm_free(&h.grid);
    return plain_end(&h.plain, sum);
}
