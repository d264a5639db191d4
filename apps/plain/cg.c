/* cg - the smallest eigenvalue of a sparse, irregular matrix by inverse iteration, whose systems
 * are solved by conjugate gradients, of the class of the NAS benchmark CG. The matrix is cut in
 * both directions, so the number of ranks is a power of 2; sums over a row of ranks and the
 * transposition of vectors are messages between two ranks each.
 *
 * The matrix is SHIFT plus the Laplacian of a random graph with weights: symmetric and positive
 * definite; its smallest eigenvalue is SHIFT, its eigenvector is the same everywhere. The columns
 * add up to SHIFT, so for a solution z of A z = x the sum of x is SHIFT times the sum of z.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "plain.h"

#define SHIFT 0.3
#define INNER 25 /* steps of conjugate gradients */
#define SMALL 4096
#define LARGE 16384
#define RANKS_MAX 1024
/* The largest residual over the right-hand side; after 25 steps it is about 1e-7. */
#define RESIDUAL 1e-5
#define TOLERANCE 1e-9
#define SETTLED 20 /* iterations after which the vector has converged */
#define TAG_SUM 1
#define TAG_TRANSPOSE 2

static const char usage[] =
    "usage: mpirun ... cg [options]\n"
    "The smallest eigenvalue of a sparse matrix, by conjugate gradients; on a power of 2 of "
    "ranks.\n" PLAIN_USAGE_SIZED PLAIN_USAGE;

struct cg {
    struct plain plain;
    long long n, links;      /* links: most of a row that it begins */
    int rows, columns;       /* of the grid of ranks; as many columns, or twice */
    int row, column;         /* of this rank */
    long long height, width; /* of its block */
    long long *first;        /* in `entry`, of each row of the block */
    int *entry_column;
    double *entry;
    double *partial, *other;   /* of `height` */
    double *x, *z, *p, *q, *r; /* of `width`: a part of a vector, the same in a column of ranks */
};

/* ---- the matrix ---- */

/* Whether the diagonal goes through the block in this row. */
static int has_diagonal(const struct cg *cg, long long row)
{
    long long column = cg->row * cg->height + row - cg->column * cg->width;
    return column >= 0 && column < cg->width;
}

/* Puts an entry at `next` of its row, one in the diagonal at the row's beginning; or only counts.
 */
static void put(struct cg *cg, long long i, long long j, double value, long long *next)
{
    long long row = i - cg->row * cg->height, column = j - cg->column * cg->width;
    if (row < 0 || row >= cg->height || column < 0 || column >= cg->width)
        return;
    long long place = i == j ? cg->first[row] : next[row]++;
    if (cg->entry) {
        cg->entry[place] += value;
        cg->entry_column[place] = (int)column;
    }
}

/* A link of the graph in its four entries. */
static void put_link(struct cg *cg, long long i, long long j, double weight, long long *next)
{
    if (i == j)
        return;
    put(cg, i, j, -weight, next);
    put(cg, j, i, -weight, next);
    put(cg, i, i, weight, next);
    put(cg, j, j, weight, next);
}

/* Puts all entries of this rank's block, or only counts those of each row. */
static void put_all(struct cg *cg, long long *next)
{
    for (long long i = 0; i < cg->n; i++) {
        uint64_t links = 2 + plain_seed((uint64_t)i) % (uint64_t)(cg->links - 1);
        put(cg, i, i, SHIFT, next);
        put_link(cg, i, (i + 1) % cg->n, 1, next);
        for (uint64_t k = 0; k < links; k++) {
            uint64_t random = plain_seed((uint64_t)(i * 64) + k + (UINT64_C(1) << 40));
            put_link(cg, i, (long long)(random % (uint64_t)cg->n),
                     0.5 + (double)(random >> 40) * 0x1p-25, next);
        }
    }
}

static void make_matrix(struct cg *cg)
{
    long long *next = plain_allocate((size_t)cg->height + 1, sizeof(*next));
    cg->first = plain_allocate((size_t)cg->height + 1, sizeof(*next));
    put_all(cg, next);
    for (long long i = 0; i < cg->height; i++) {
        cg->first[i + 1] = cg->first[i] + has_diagonal(cg, i) + next[i];
        next[i] = cg->first[i] + has_diagonal(cg, i);
    }
    cg->entry_column = plain_allocate((size_t)cg->first[cg->height], sizeof(int));
    cg->entry = plain_allocate((size_t)cg->first[cg->height], sizeof(double));
    put_all(cg, next);
    free(next);
}

static void begin(struct cg *cg)
{
    int ranks = cg->plain.ranks;
    if (ranks & (ranks - 1) || ranks > RANKS_MAX)
        plain_refuse_ranks(&cg->plain, "a power of 2 of ranks, 1024 at most");
    cg->n = cg->plain.size ? LARGE : SMALL;
    cg->links = cg->plain.size ? 15 : 9;
    cg->rows = cg->columns = 1;
    while (cg->rows * cg->columns < ranks)
        *(cg->columns > cg->rows ? &cg->rows : &cg->columns) *= 2;
    cg->row = cg->plain.rank / cg->columns;
    cg->column = cg->plain.rank % cg->columns;
    cg->height = cg->n / cg->rows;
    cg->width = cg->n / cg->columns;
    make_matrix(cg);
    cg->partial = plain_allocate((size_t)cg->height, sizeof(double));
    cg->other = plain_allocate((size_t)cg->height, sizeof(double));
    double **vectors[] = {&cg->x, &cg->z, &cg->p, &cg->q, &cg->r};
    for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++)
        *vectors[i] = plain_allocate((size_t)cg->width, sizeof(double));
    for (long long i = 0; i < cg->width; i++)
        cg->x[i] = 1.5 + plain_random((uint64_t)(cg->column * cg->width + i));
}

static void end(struct cg *cg)
{
    void *const all[] = {
        cg->first, cg->entry_column, cg->entry, cg->partial, cg->other, cg->x, cg->z, cg->p, cg->q,
        cg->r};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        free(all[i]);
}

/* ---- vectors ---- */

/* Adds values up over a row of ranks. All ranks get the same bits, since each step adds two
 * numbers. */
static void sum_over_row(struct cg *cg, double *values, long long count)
{
    for (int distance = 1; distance < cg->columns; distance *= 2) {
        int with = cg->row * cg->columns + (cg->column ^ distance);
        MPI_Request request;
        MPI_Irecv(cg->other, (int)count, MPI_DOUBLE, with, TAG_SUM, MPI_COMM_WORLD, &request);
        MPI_Send(values, (int)count, MPI_DOUBLE, with, TAG_SUM, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (long long i = 0; i < count; i++)
            values[i] += cg->other[i];
    }
}

static double dot(struct cg *cg, const double *a, const double *b)
{
    double sum = 0;
    for (long long i = 0; i < cg->width; i++)
        sum += a[i] * b[i];
    sum_over_row(cg, &sum, 1);
    return sum;
}

static double sum_of(struct cg *cg, const double *a)
{
    double sum = 0;
    for (long long i = 0; i < cg->width; i++)
        sum += a[i];
    sum_over_row(cg, &sum, 1);
    return sum;
}

/* result = A v. All ranks of a row have the same part of it, which is two columns' parts where
 * there are twice as many columns as rows: each exchanges one of these with the rank that has its
 * own. */
static void multiply(struct cg *cg, const double *v, double *result)
{
    int parts = cg->columns / cg->rows;
    int part = cg->column % parts;
    int with = cg->column / parts * cg->columns + cg->row * parts + part; /* needs it, has ours */
    for (long long i = 0; i < cg->height; i++) {
        double sum = 0;
        for (long long e = cg->first[i]; e < cg->first[i + 1]; e++)
            sum += cg->entry[e] * v[cg->entry_column[e]];
        cg->partial[i] = sum;
    }
    sum_over_row(cg, cg->partial, cg->height);
    const double *mine = cg->partial + part * cg->width;
    if (with == cg->plain.rank) {
        memcpy(result, mine, (size_t)cg->width * sizeof(double));
        return;
    }
    MPI_Request request;
    MPI_Irecv(result, (int)cg->width, MPI_DOUBLE, with, TAG_TRANSPOSE, MPI_COMM_WORLD, &request);
    MPI_Send(mine, (int)cg->width, MPI_DOUBLE, with, TAG_TRANSPOSE, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* ---- iterations ---- */

/* Solves A z = x, as well as INNER steps of conjugate gradients do. */
static void solve(struct cg *cg)
{
    memset(cg->z, 0, (size_t)cg->width * sizeof(double));
    memcpy(cg->r, cg->x, (size_t)cg->width * sizeof(double));
    memcpy(cg->p, cg->x, (size_t)cg->width * sizeof(double));
    double rho = dot(cg, cg->r, cg->r);
    for (int step = 0; step < INNER && rho > 1e-200; step++) {
        multiply(cg, cg->p, cg->q);
        double alpha = rho / dot(cg, cg->p, cg->q);
        for (long long i = 0; i < cg->width; i++) {
            cg->z[i] += alpha * cg->p[i];
            cg->r[i] -= alpha * cg->q[i];
        }
        double before = rho;
        rho = dot(cg, cg->r, cg->r);
        for (long long i = 0; i < cg->width; i++)
            cg->p[i] = cg->r[i] + rho / before * cg->p[i];
    }
}

/* Checks what holds of z for every x. `inverse`: x z / x x of the iteration before, which cannot
 * be more than that of this one, nor this more than 1 / SHIFT. */
static void check(struct cg *cg, double *inverse)
{
    multiply(cg, cg->z, cg->q);
    for (long long i = 0; i < cg->width; i++)
        cg->r[i] = cg->x[i] - cg->q[i];
    double square = dot(cg, cg->x, cg->x);
    double residual = sqrt(dot(cg, cg->r, cg->r) / square);
    plain_compare(&cg->plain, residual, 0, RESIDUAL);
    double sum = sum_of(cg, cg->x);
    plain_compare(&cg->plain, SHIFT * sum_of(cg, cg->z) / sum, 1, TOLERANCE);
    double now = dot(cg, cg->x, cg->z) / square;
    cg->plain.wrong += !(now >= *inverse - TOLERANCE && now <= 1 / SHIFT + TOLERANCE);
    *inverse = now;
}

/* The vector, which has the same value everywhere in the end, with the digits that are certain. */
static uint64_t finish(struct cg *cg, double inverse)
{
    uint64_t sum = 0;
    bool is_settled = cg->plain.iterations >= SETTLED;
    if (is_settled)
        plain_compare(&cg->plain, inverse * SHIFT, 1, TOLERANCE);
    for (long long i = 0; i < cg->width; i++) {
        double value = cg->x[i] * sqrt((double)cg->n);
        if (is_settled)
            plain_compare(&cg->plain, value, 1, 1e-8);
        sum += (uint64_t)llround(value * 0x1p20) * (uint64_t)(2 * (cg->column * cg->width + i) + 1);
    }
    return cg->row == 0 ? sum : 0;
}

int main(int argc, char **argv)
{
    struct cg cg = {.plain = {.name = "cg"}};
    double inverse = 0;
    plain_begin_sized(&cg.plain, argc, argv, usage, 400, 700);
    begin(&cg);
    for (long long i = 0; i < cg.plain.iterations; i++) {
        solve(&cg);
        cg.z[0] += i == cg.plain.corrupt && cg.row == 0;
        check(&cg, &inverse);
        double length = sqrt(dot(&cg, cg.z, cg.z));
        for (long long k = 0; k < cg.width; k++)
            cg.x[k] = cg.z[k] / length;
        plain_step(&cg.plain);
    }
    uint64_t sum = finish(&cg, inverse);
    end(&cg);
    return plain_end(&cg.plain, sum);
}
