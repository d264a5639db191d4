/* lu - symmetric successive over-relaxation (SSOR) for five coupled equations in a cube, of the
 * class of the NAS benchmark LU (which factorizes nothing either). The cube is cut in columns,
 * along x and y. In each iteration a block lower and a block upper triangular system are solved; a
 * point needs its neighbours before it (after it), so a wave goes through the ranks plane by plane:
 * many small messages. Any number of ranks.
 *
 * A is symmetric and positive definite: D, 5 x 5 blocks that differ from point to point, in the
 * diagonal, and -G at each of six neighbours: A = D + L + U. A step solves
 *   M change = w (2 - w) residual,  M = (D + w L) D^-1 (D + w U),  residual = f - A u.
 *
 * It is checked by random numbers p at all points: M and A are symmetric, so p (M change) is
 * (M p) change, and p (A u) is (A p) u, where M p and A p are computed once, without messages.
 * And the energy of the error, error (A error), never grows while f stays the same.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "blocks.h"
#include "plain.h"

#define RELAXATION 1.2 /* w */
#define SMALL 16
#define LARGE 32
#define PHASE 25 /* iterations after which f is multiplied by another factor */
#define TOLERANCE 1e-10
#define BATCH 64 /* iterations whose checks are added up over ranks at once */
#define TAG_FORWARD 1
#define TAG_BACKWARD 3
#define TAG_FACES 5

static const char usage[] =
    "usage: mpirun ... lu [options]\n"
    "Symmetric over-relaxation in a cube, in waves from corner to corner.\n" PLAIN_USAGE_SIZED
        PLAIN_USAGE;

/* Sums over all values in an iteration; `..._size`: of the absolute values of the terms. */
enum {
    P_RESIDUAL, /* p residual */
    MP_CHANGE,  /* (M p) change */
    MP_CHANGE_SIZE,
    AP_U, /* (A p) u, before the change */
    AP_U_SIZE,
    AP_CHANGE, /* (A p) change */
    P_F,
    P_F_SIZE,
    ENERGY, /* of the error, before the change */
    SUMS
};

struct lu {
    struct plain plain;
    long long n;
    int dims[2], coords[2], rank_of[2][2]; /* lower and higher neighbour along x, y */
    long long first[3], count[3], stride[3];
    /* with a halo, of zeros at walls; f: for the factor 1 */
    double *u, *f, *residual, *change;
    double *solution, *p, *mp, *ap;
    double *faces[2][2][2]; /* [along][side][in, out], of all planes */
    double factor;          /* the factor of f and of the solution */
    double sums[BATCH][SUMS];
    int summed;
    double before[SUMS]; /* of the last iteration that was checked */
    long long checked;   /* iterations */
};

/* ---- the matrix ---- */

/* G. */
static double beside[BLOCK_WORDS];

/* The block in the diagonal at a point of the cube. */
static void diagonal_at(const struct lu *lu, long long x, long long y, long long z,
                        double block[BLOCK_WORDS])
{
    double much = 1.1 + plain_random((uint64_t)((z * lu->n + y) * lu->n + x));
    for (int i = 0; i < BLOCK_WORDS; i++)
        block[i] = much * block_coupling[i] + (i % (BLOCK + 1) ? 0 : 6.1);
}

/* ---- random numbers p, and M p and A p ---- */

struct point {
    double is[BLOCK];
};

static bool is_outside(const struct lu *lu, long long x, long long y, long long z)
{
    return x < 0 || y < 0 || z < 0 || x >= lu->n || y >= lu->n || z >= lu->n;
}

/* The random numbers of a point; `which` tells p from the solution. */
static struct point random_at(const struct lu *lu, uint64_t which, long long x, long long y,
                              long long z)
{
    struct point point = {{0}};
    uint64_t number = (uint64_t)((z * lu->n + y) * lu->n + x);
    for (int c = 0; c < BLOCK && !is_outside(lu, x, y, z); c++)
        point.is[c] = plain_random((which << 40) + number * BLOCK + (uint64_t)c);
    return point;
}

typedef struct point point_field(const struct lu *lu, uint64_t which, long long x, long long y,
                                 long long z);

/* G times the sum of a field's values at three neighbours: before (side -1) or after. */
static struct point at_neighbours(const struct lu *lu, point_field *field, uint64_t which,
                                  long long x, long long y, long long z, int side)
{
    struct point sum = {{0}}, product = {{0}};
    struct point each[3] = {field(lu, which, x + side, y, z), field(lu, which, x, y + side, z),
                            field(lu, which, x, y, z + side)};
    for (int c = 0; c < BLOCK; c++)
        sum.is[c] = -each[0].is[c] - each[1].is[c] - each[2].is[c];
    block_subtract(product.is, beside, sum.is);
    return product;
}

/* D^-1 (D + w U) of the random numbers. */
static struct point upper_at(const struct lu *lu, uint64_t which, long long x, long long y,
                             long long z)
{
    double block[BLOCK_WORDS];
    struct point point = random_at(lu, which, x, y, z);
    if (is_outside(lu, x, y, z))
        return point;
    struct point next = at_neighbours(lu, random_at, which, x, y, z, 1);
    diagonal_at(lu, x, y, z, block);
    block_solve(block, NULL, next.is);
    for (int c = 0; c < BLOCK; c++)
        point.is[c] -= RELAXATION * next.is[c];
    return point;
}

/* D times a point's values. */
static struct point on_diagonal(const struct lu *lu, const struct point *point, long long x,
                                long long y, long long z)
{
    double block[BLOCK_WORDS], minus[BLOCK];
    struct point product = {{0}};
    diagonal_at(lu, x, y, z, block);
    for (int c = 0; c < BLOCK; c++)
        minus[c] = -point->is[c];
    block_subtract(product.is, block, minus);
    return product;
}

/* M times the random numbers. */
static struct point m_at(const struct lu *lu, uint64_t which, long long x, long long y, long long z)
{
    struct point upper = upper_at(lu, which, x, y, z);
    struct point product = on_diagonal(lu, &upper, x, y, z);
    struct point before = at_neighbours(lu, upper_at, which, x, y, z, -1);
    for (int c = 0; c < BLOCK; c++)
        product.is[c] -= RELAXATION * before.is[c];
    return product;
}

/* A times the random numbers. */
static struct point a_at(const struct lu *lu, uint64_t which, long long x, long long y, long long z)
{
    struct point point = random_at(lu, which, x, y, z);
    struct point product = on_diagonal(lu, &point, x, y, z);
    struct point before = at_neighbours(lu, random_at, which, x, y, z, -1);
    struct point after = at_neighbours(lu, random_at, which, x, y, z, 1);
    for (int c = 0; c < BLOCK; c++)
        product.is[c] -= before.is[c] + after.is[c];
    return product;
}

/* ---- arrays ---- */

static double *at(const struct lu *lu, double *values, long long x, long long y, long long z)
{
    return values + (x + 1) * lu->stride[0] + (y + 1) * lu->stride[1] + (z + 1) * lu->stride[2];
}

static long long words(const struct lu *lu)
{
    return (lu->n + 2) * lu->stride[2];
}

static double *allocate(const struct lu *lu)
{
    return plain_allocate((size_t)words(lu), sizeof(double));
}

static void fill(const struct lu *lu, double *values, point_field *field, uint64_t which)
{
    for (long long z = 0; z < lu->n; z++)
        for (long long y = 0; y < lu->count[1]; y++)
            for (long long x = 0; x < lu->count[0]; x++) {
                struct point point = field(lu, which, lu->first[0] + x, lu->first[1] + y, z);
                memcpy(at(lu, values, x, y, z), point.is, sizeof(point.is));
            }
}

static void cut(struct lu *lu)
{
    int periods[2] = {0, 0};
    MPI_Comm grid;
    MPI_Dims_create(lu->plain.ranks, 2, lu->dims);
    if (lu->dims[0] > lu->n)
        plain_refuse_ranks(&lu->plain,
                           "a number of ranks that cuts no edge into more than its points");
    MPI_Cart_create(MPI_COMM_WORLD, 2, lu->dims, periods, 0, &grid);
    MPI_Cart_coords(grid, lu->plain.rank, 2, lu->coords);
    for (int d = 0; d < 2; d++) {
        MPI_Cart_shift(grid, d, 1, &lu->rank_of[d][0], &lu->rank_of[d][1]);
        lu->first[d] = lu->n * lu->coords[d] / lu->dims[d];
        lu->count[d] = lu->n * (lu->coords[d] + 1) / lu->dims[d] - lu->first[d];
    }
    MPI_Comm_free(&grid);
    lu->count[2] = lu->n;
    lu->stride[0] = BLOCK;
    lu->stride[1] = lu->stride[0] * (lu->count[0] + 2);
    lu->stride[2] = lu->stride[1] * (lu->count[1] + 2);
}

static void begin(struct lu *lu)
{
    lu->n = lu->plain.size ? LARGE : SMALL;
    cut(lu);
    for (int i = 0; i < BLOCK_WORDS; i++)
        beside[i] = (i % (BLOCK + 1) == 0) - block_coupling[i] / 8;
    double **arrays[] = {&lu->u,        &lu->f, &lu->residual, &lu->change,
                         &lu->solution, &lu->p, &lu->mp,       &lu->ap};
    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
        *arrays[i] = allocate(lu);
    for (int i = 0; i < 8; i++)
        lu->faces[i / 4][i / 2 % 2][i % 2] =
            plain_allocate((size_t)(lu->count[i < 4] * lu->n * BLOCK), sizeof(double));
    fill(lu, lu->p, random_at, 1);
    fill(lu, lu->mp, m_at, 1);
    fill(lu, lu->ap, a_at, 1);
    fill(lu, lu->solution, random_at, 2);
    fill(lu, lu->f, a_at, 2);
}

static void end(struct lu *lu)
{
    double *const arrays[] = {lu->u,        lu->f, lu->residual, lu->change,
                              lu->solution, lu->p, lu->mp,       lu->ap};
    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
        free(arrays[i]);
    for (int i = 0; i < 8; i++)
        free(lu->faces[i / 4][i / 2 % 2][i % 2]);
}

/* ---- messages ---- */

/* Copies the column or row of points at a position along d in the planes from `plane` on, out or
 * in. Returns the number of words. */
static int copy_edge(const struct lu *lu, double *values, int d, long long position,
                     long long plane, long long planes, double *edge, bool out)
{
    double *const start = edge;
    for (long long k = plane; k < plane + planes; k++)
        for (long long i = 0; i < lu->count[!d]; i++, edge += BLOCK) {
            double *value = d ? at(lu, values, i, position, k) : at(lu, values, position, i, k);
            memcpy(out ? edge : value, out ? value : edge, BLOCK * sizeof(double));
        }
    return (int)(edge - start);
}

/* Exchanges the halos of u, in all planes. */
static void exchange_faces(struct lu *lu)
{
    MPI_Request requests[8];
    MPI_Status statuses[8];
    int count = 0;
    for (int d = 0; d < 2; d++)
        for (int side = 0; side < 2; side++) {
            int size = copy_edge(lu, lu->u, d, side ? lu->count[d] - 1 : 0, 0, lu->n,
                                 lu->faces[d][side][1], true);
            MPI_Irecv(lu->faces[d][side][0], size, MPI_DOUBLE, lu->rank_of[d][side],
                      TAG_FACES + 2 * d + !side, MPI_COMM_WORLD, &requests[count++]);
            MPI_Isend(lu->faces[d][side][1], size, MPI_DOUBLE, lu->rank_of[d][side],
                      TAG_FACES + 2 * d + side, MPI_COMM_WORLD, &requests[count++]);
        }
    MPI_Waitall(count, requests, statuses);
    for (int d = 0; d < 2; d++)
        for (int side = 0; side < 2; side++)
            if (lu->rank_of[d][side] != MPI_PROC_NULL)
                copy_edge(lu, lu->u, d, side ? lu->count[d] : -1, 0, lu->n, lu->faces[d][side][0],
                          false);
}

/* Receives the values that a plane needs from the ranks before this one: those on side 0 in the
 * forward wave, on side 1 in the backward one. */
static void receive_edges(struct lu *lu, long long plane, int side, int tag)
{
    for (int d = 0; d < 2; d++) {
        if (lu->rank_of[d][side] == MPI_PROC_NULL)
            continue;
        MPI_Recv(lu->faces[d][side][0], (int)(lu->count[!d] * BLOCK), MPI_DOUBLE,
                 lu->rank_of[d][side], tag + d, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        copy_edge(lu, lu->change, d, side ? lu->count[d] : -1, plane, 1, lu->faces[d][side][0],
                  false);
    }
}

static void send_edges(struct lu *lu, long long plane, int side, int tag)
{
    for (int d = 0; d < 2; d++) {
        if (lu->rank_of[d][!side] == MPI_PROC_NULL)
            continue;
        int size = copy_edge(lu, lu->change, d, side ? 0 : lu->count[d] - 1, plane, 1,
                             lu->faces[d][side][1], true);
        MPI_Send(lu->faces[d][side][1], size, MPI_DOUBLE, lu->rank_of[d][!side], tag + d,
                 MPI_COMM_WORLD);
    }
}

/* ---- a step ---- */

static void compute_residual(struct lu *lu)
{
    exchange_faces(lu);
    for (long long z = 0; z < lu->n; z++)
        for (long long y = 0; y < lu->count[1]; y++)
            for (long long x = 0; x < lu->count[0]; x++) {
                long long here = at(lu, lu->u, x, y, z) - lu->u;
                const double *u = lu->u + here;
                double block[BLOCK_WORDS], minus[BLOCK], *residual = lu->residual + here;
                for (int c = 0; c < BLOCK; c++) {
                    minus[c] = 0;
                    for (int d = 0; d < 3; d++)
                        minus[c] -= u[c - lu->stride[d]] + u[c + lu->stride[d]];
                    residual[c] = lu->factor * lu->f[here + c];
                }
                diagonal_at(lu, lu->first[0] + x, lu->first[1] + y, z, block);
                block_subtract(residual, block, u);
                block_subtract(residual, beside, minus);
            }
}

/* Solves the block row of one point. Forward (side 0): change = D^-1 (w (2 - w) right + w G (the
 * three neighbours before)); backward (1), without `right`: change += D^-1 w G (the three
 * neighbours after). */
static void solve_point(struct lu *lu, long long x, long long y, long long z, int side,
                        const double *right)
{
    double block[BLOCK_WORDS], minus[BLOCK], result[BLOCK] = {0};
    double *change = at(lu, lu->change, x, y, z);
    int step = side ? 1 : -1; /* where the neighbours are */
    for (int c = 0; c < BLOCK; c++) {
        const double *value = change + c;
        minus[c] = -RELAXATION * (value[step * lu->stride[0]] + value[step * lu->stride[1]] +
                                  value[step * lu->stride[2]]);
        if (right)
            result[c] = RELAXATION * (2 - RELAXATION) * right[c];
    }
    block_subtract(result, beside, minus);
    diagonal_at(lu, lu->first[0] + x, lu->first[1] + y, z, block);
    block_solve(block, NULL, result);
    for (int c = 0; c < BLOCK; c++)
        change[c] = right ? result[c] : change[c] + result[c];
}

/* The lower system, forward (side 0), or the upper one, backward (1). */
static void wave(struct lu *lu, int side)
{
    int tag = side ? TAG_BACKWARD : TAG_FORWARD;
    for (long long k = 0; k < lu->n; k++) {
        long long z = side ? lu->n - 1 - k : k;
        receive_edges(lu, z, side, tag);
        for (long long j = 0; j < lu->count[1]; j++)
            for (long long i = 0; i < lu->count[0]; i++) {
                long long x = side ? lu->count[0] - 1 - i : i;
                long long y = side ? lu->count[1] - 1 - j : j;
                solve_point(lu, x, y, z, side, side ? NULL : at(lu, lu->residual, x, y, z));
            }
        send_edges(lu, z, side, tag);
    }
}

/* ---- checks ---- */

/* The sums of an iteration, before its change is added. */
static void add_up(struct lu *lu, double sums[SUMS])
{
    memset(sums, 0, SUMS * sizeof(double));
    for (long long z = 0; z < lu->n; z++)
        for (long long y = 0; y < lu->count[1]; y++) {
            long long row = at(lu, lu->u, 0, y, z) - lu->u;
            for (long long i = row; i < row + lu->count[0] * BLOCK; i++) {
                double f = lu->factor * lu->f[i];
                sums[P_RESIDUAL] += lu->p[i] * lu->residual[i];
                sums[MP_CHANGE] += lu->mp[i] * lu->change[i];
                sums[MP_CHANGE_SIZE] += fabs(lu->mp[i] * lu->change[i]);
                sums[AP_U] += lu->ap[i] * lu->u[i];
                sums[AP_U_SIZE] += fabs(lu->ap[i] * lu->u[i]);
                sums[AP_CHANGE] += lu->ap[i] * lu->change[i];
                sums[P_F] += lu->p[i] * f;
                sums[P_F_SIZE] += fabs(lu->p[i] * f);
                sums[ENERGY] += (lu->factor * lu->solution[i] - lu->u[i]) * lu->residual[i];
            }
        }
}

static void check_iteration(struct lu *lu, const double *sums)
{
    double size = sums[AP_U_SIZE] + sums[P_F_SIZE];
    plain_compare(&lu->plain, sums[MP_CHANGE], RELAXATION * (2 - RELAXATION) * sums[P_RESIDUAL],
                  TOLERANCE * sums[MP_CHANGE_SIZE] + 1e-16 * size);
    plain_compare(&lu->plain, sums[P_RESIDUAL], sums[P_F] - sums[AP_U], TOLERANCE * size);
    if (lu->checked)
        plain_compare(&lu->plain, sums[AP_U], lu->before[AP_U] + lu->before[AP_CHANGE],
                      TOLERANCE * size);
    if (lu->checked % PHASE)
        lu->plain.wrong += !(sums[ENERGY] <= lu->before[ENERGY] * (1 + TOLERANCE) + 1e-20 * size);
    memcpy(lu->before, sums, sizeof(lu->before));
    lu->checked++;
}

/* Adds the sums that were not checked yet up over ranks, and checks them. */
static void check_batch(struct lu *lu)
{
    double all[BATCH][SUMS];
    MPI_Allreduce(lu->sums, all, lu->summed * SUMS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < lu->summed; i++)
        check_iteration(lu, all[i]);
    lu->summed = 0;
}

static void iterate(struct lu *lu, long long iteration)
{
    lu->factor = 1 + 0.25 * (double)(iteration / PHASE % 4);
    compute_residual(lu);
    wave(lu, 0);
    wave(lu, 1);
    add_up(lu, lu->sums[lu->summed++]);
    if (lu->summed == BATCH)
        check_batch(lu);
    for (long long i = 0; i < words(lu); i++)
        lu->u[i] += lu->change[i];
}

/* The values of this rank's own points. */
static uint64_t sum_of(const struct lu *lu)
{
    uint64_t sum = 0;
    for (long long z = 0; z < lu->n; z++)
        for (long long y = 0; y < lu->count[1]; y++)
            sum += plain_bits(at(lu, lu->u, 0, y, z), lu->count[0] * BLOCK);
    return sum;
}

int main(int argc, char **argv)
{
    struct lu lu = {.plain = {.name = "lu"}};
    plain_begin_sized(&lu.plain, argc, argv, usage, 350, 650);
    begin(&lu);
    for (long long i = 0; i < lu.plain.iterations; i++) {
        iterate(&lu, i);
        *at(&lu, lu.u, 0, 0, 0) += i == lu.plain.corrupt;
        plain_step(&lu.plain);
    }
    uint64_t sum = sum_of(&lu);
    iterate(&lu, lu.plain.iterations); /* its sums check the values that the last one left */
    check_batch(&lu);
    end(&lu);
    return plain_end(&lu.plain, sum);
}
