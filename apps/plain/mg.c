/* mg - a Helmholtz equation in a periodic cube, solved by multigrid V-cycles, of the class of the
 * NAS benchmark MG. The cube is cut in three directions, the number of ranks is a power of 2; on
 * each level neighbours exchange layers, direction by direction. Levels on which a rank
 * would have few points are gathered, and computed by every rank.
 *
 * The right-hand side is made of a random solution, so the error is known. Every PROBLEM cycles
 * there is another one. A cycle reduces the residual by a factor at least; the residual
 * is A times the error, and the error is at most the residual divided by the smallest eigenvalue.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "plain.h"

#define SMALL 32
#define LARGE 64
#define COARSEST 4 /* points along an edge */
#define LEVELS_MAX 8
#define SWEEPS 2 /* before and after the correction from the coarser level */
#define COARSEST_SWEEPS 24
#define DAMPING 0.85
#define PROBLEM 8
#define CONTRACTION 0.25 /* it is 0.225 at most */
#define FLOOR 1e-13      /* of the first residual: rounding */

static const char usage[] =
    "usage: mpirun ... mg [options]\n"
    "Multigrid cycles in a periodic cube; on a power of 2 of ranks.\n" PLAIN_USAGE_SIZED
        PLAIN_USAGE;

struct level {
    long long n;                   /* points along an edge */
    long long count[3], stride[3]; /* of the part that a rank has; arrays have a halo around it */
    double diagonal;
    bool is_shared; /* every rank has the whole level */
    double *u, *f, *r;
};

struct mg {
    struct plain plain;
    int dims[3], coords[3], neighbour[3][2];
    int level_count;
    struct level level[LEVELS_MAX];
    double *solution;             /* on the finest level */
    double *buffer[4], *gathered; /* halos: out and in, on two sides; one level */
    double part_sum, whole_sum;   /* of a gathered level: this rank's part before, all after */
    double first, last; /* residuals of this problem: at its beginning, after the last cycle */
};

/* ---- levels ---- */

static double *at(const struct level *level, double *values, long long x, long long y, long long z)
{
    return values + (x + 1) + (y + 1) * level->stride[1] + (z + 1) * level->stride[2];
}

static long long points(const struct level *level)
{
    return (level->count[2] + 2) * level->stride[2];
}

static void make_level(const struct mg *mg, struct level *level, long long n, double shift)
{
    int most = mg->dims[0]; /* MPI_Dims_create gives the largest one first */
    *level = (struct level){.n = n, .is_shared = n / most < 4 || n == COARSEST};
    level->stride[0] = 1;
    for (int d = 0; d < 3; d++) {
        level->count[d] = level->is_shared ? n : n / mg->dims[d];
        if (d < 2)
            level->stride[d + 1] = level->stride[d] * (level->count[d] + 2);
    }
    level->diagonal = 6 + shift;
    level->u = plain_allocate((size_t)points(level), sizeof(double));
    level->f = plain_allocate((size_t)points(level), sizeof(double));
    level->r = plain_allocate((size_t)points(level), sizeof(double));
}

/* What is added to the diagonal on the finest level: the square of the distance of points, as if
 * the edge were 2 pi long and the constant 1. It is the smallest eigenvalue. */
static double shift_of(long long n)
{
    double distance = 2 * acos(-1.0) / (double)n;
    return distance * distance;
}

static long long largest_face(const struct mg *mg)
{
    long long largest = 0;
    for (int l = 0; l < mg->level_count; l++)
        for (int d = 0; d < 3; d++) {
            const long long *count = mg->level[l].count;
            long long face = (count[d] + 2) * (count[(d + 1) % 3] + 2);
            largest = face > largest ? face : largest;
        }
    return largest;
}

static void begin(struct mg *mg)
{
    long long n = mg->plain.size ? LARGE : SMALL;
    int periods[3] = {1, 1, 1};
    MPI_Comm grid;
    MPI_Dims_create(mg->plain.ranks, 3, mg->dims);
    if (mg->plain.ranks & (mg->plain.ranks - 1) || n / mg->dims[0] < 4)
        plain_refuse_ranks(&mg->plain, "a power of 2 of ranks, with 4 points of an edge for each");
    MPI_Cart_create(MPI_COMM_WORLD, 3, mg->dims, periods, 0, &grid);
    MPI_Cart_coords(grid, mg->plain.rank, 3, mg->coords);
    for (int d = 0; d < 3; d++)
        MPI_Cart_shift(grid, d, 1, &mg->neighbour[d][0], &mg->neighbour[d][1]);
    MPI_Comm_free(&grid);
    double shift = shift_of(n);
    for (; n >= COARSEST; n /= 2, shift *= 4)
        make_level(mg, &mg->level[mg->level_count++], n, shift);
    mg->solution = plain_allocate((size_t)points(&mg->level[0]), sizeof(double));
    for (int i = 0; i < 4; i++)
        mg->buffer[i] = plain_allocate((size_t)largest_face(mg), sizeof(double));
    for (int l = 1; l < mg->level_count && !mg->gathered; l++)
        if (mg->level[l].is_shared) {
            long long size = mg->level[l].n * mg->level[l].n * mg->level[l].n;
            mg->gathered = plain_allocate((size_t)size, sizeof(double));
        }
}

static void end(struct mg *mg)
{
    for (int l = 0; l < mg->level_count; l++) {
        free(mg->level[l].u);
        free(mg->level[l].f);
        free(mg->level[l].r);
    }
    for (int i = 0; i < 4; i++)
        free(mg->buffer[i]);
    free(mg->gathered);
    free(mg->solution);
}

/* ---- halos ---- */

/* Copies a layer across direction d, with its halo in the directions that were exchanged before. */
static int copy_layer(const struct level *level, double *values, int d, long long position,
                      double *buffer, bool out)
{
    int a = d == 0 ? 1 : 0, b = d == 2 ? 1 : 2;
    int wide_a = a < d, wide_b = b < d;
    double *layer = at(level, values, 0, 0, 0) + position * level->stride[d];
    int count = 0;
    for (long long j = -wide_b; j < level->count[b] + wide_b; j++)
        for (long long i = -wide_a; i < level->count[a] + wide_a; i++, count++) {
            double *value = layer + i * level->stride[a] + j * level->stride[b];
            *(out ? &buffer[count] : value) = out ? *value : buffer[count];
        }
    return count;
}

static void exchange(struct mg *mg, const struct level *level, double *values)
{
    for (int d = 0; d < 3; d++) {
        long long last = level->count[d] - 1;
        int count = copy_layer(level, values, d, 0, mg->buffer[0], true);
        copy_layer(level, values, d, last, mg->buffer[1], true);
        if (level->is_shared || mg->dims[d] == 1) {
            copy_layer(level, values, d, last + 1, mg->buffer[0], false);
            copy_layer(level, values, d, -1, mg->buffer[1], false);
            continue;
        }
        const int *to = mg->neighbour[d];
        MPI_Request requests[4];
        MPI_Status statuses[4];
        MPI_Irecv(mg->buffer[2], count, MPI_DOUBLE, to[1], 2 * d, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(mg->buffer[3], count, MPI_DOUBLE, to[0], 2 * d + 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Isend(mg->buffer[0], count, MPI_DOUBLE, to[0], 2 * d, MPI_COMM_WORLD, &requests[2]);
        MPI_Isend(mg->buffer[1], count, MPI_DOUBLE, to[1], 2 * d + 1, MPI_COMM_WORLD, &requests[3]);
        MPI_Waitall(4, requests, statuses);
        copy_layer(level, values, d, last + 1, mg->buffer[2], false);
        copy_layer(level, values, d, -1, mg->buffer[3], false);
    }
}

/* ---- parts of a cycle ---- */

/* r = f - A u; the sum of its squares. */
static double residual(struct mg *mg, const struct level *level)
{
    double sum = 0;
    exchange(mg, level, level->u);
    for (long long z = 0; z < level->count[2]; z++)
        for (long long y = 0; y < level->count[1]; y++) {
            long long row = at(level, level->u, 0, y, z) - level->u;
            const double *u = level->u + row, *f = level->f + row;
            double *r = level->r + row;
            for (long long x = 0; x < level->count[0]; x++) {
                r[x] = f[x] - level->diagonal * u[x] + u[x - 1] + u[x + 1] +
                       u[x - level->stride[1]] + u[x + level->stride[1]] + u[x - level->stride[2]] +
                       u[x + level->stride[2]];
                sum += r[x] * r[x];
            }
        }
    return sum;
}

/* Sweeps (Jacobi, damped). */
static void smooth(struct mg *mg, const struct level *level, int sweeps)
{
    double factor = DAMPING / level->diagonal;
    for (int sweep = 0; sweep < sweeps; sweep++) {
        residual(mg, level);
        for (long long z = 0; z < level->count[2]; z++)
            for (long long y = 0; y < level->count[1]; y++) {
                double *u = at(level, level->u, 0, y, z);
                const double *r = at(level, level->r, 0, y, z);
                for (long long x = 0; x < level->count[0]; x++)
                    u[x] += factor * r[x];
            }
    }
}

/* The mean of 27 points around, weighted. */
static double weighted(const struct level *fine, const double *r)
{
    static const double weights[3] = {0.25, 0.5, 0.25};
    double sum = 0;
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++) {
            const double *row = r + dy * fine->stride[1] + dz * fine->stride[2];
            sum += weights[dz + 1] * weights[dy + 1] * (0.25 * (row[-1] + row[1]) + 0.5 * row[0]);
        }
    return sum;
}

/* Where a rank's part of a finer level lies in a coarser one's array. */
static void place_in(const struct mg *mg, const struct level *fine, const struct level *coarse,
                     const int coords[3], long long first[3])
{
    for (int d = 0; d < 3; d++)
        first[d] =
            coarse->is_shared && !fine->is_shared ? coords[d] * (coarse->n / mg->dims[d]) : 0;
}

/* The sum of values of a level, with a random weight for each place. */
static double weighted_sum(const struct level *level, const long long first[3],
                           const long long count[3])
{
    double sum = 0;
    for (long long z = first[2]; z < first[2] + count[2]; z++)
        for (long long y = first[1]; y < first[1] + count[1]; y++)
            for (long long x = first[0]; x < first[0] + count[0]; x++)
                sum += *at(level, level->f, x, y, z) *
                       plain_random((uint64_t)((z * level->n + y) * level->n + x));
    return sum;
}

/* Fills a level that every rank has with the parts of all. */
static void gather(struct mg *mg, const struct level *fine, const struct level *coarse,
                   const long long mine[3])
{
    long long count[3] = {fine->count[0] / 2, fine->count[1] / 2, fine->count[2] / 2};
    long long size = count[0] * count[1] * count[2], first[3];
    double *next = coarse->r; /* free at this time */
    mg->part_sum = weighted_sum(coarse, mine, count);
    for (long long z = 0; z < count[2]; z++)
        for (long long y = 0; y < count[1]; y++, next += count[0])
            memcpy(next, at(coarse, coarse->f, mine[0], mine[1] + y, mine[2] + z),
                   (size_t)count[0] * sizeof(double));
    MPI_Allgather(coarse->r, (int)size, MPI_DOUBLE, mg->gathered, (int)size, MPI_DOUBLE,
                  MPI_COMM_WORLD);
    next = mg->gathered;
    for (int rank = 0; rank < mg->plain.ranks; rank++) {
        /* as MPI_Cart_create numbers them: the last direction runs fastest */
        int coords[3] = {rank / mg->dims[2] / mg->dims[1], rank / mg->dims[2] % mg->dims[1],
                         rank % mg->dims[2]};
        place_in(mg, fine, coarse, coords, first);
        for (long long z = 0; z < count[2]; z++)
            for (long long y = 0; y < count[1]; y++, next += count[0])
                memcpy(at(coarse, coarse->f, first[0], first[1] + y, first[2] + z), next,
                       (size_t)count[0] * sizeof(double));
    }
    const long long zero[3] = {0, 0, 0};
    mg->whole_sum = weighted_sum(coarse, zero, coarse->count);
}

/* The residual becomes the right-hand side of the coarser level, whose points are twice as far
 * apart. */
static void restrict_residual(struct mg *mg, const struct level *fine, const struct level *coarse)
{
    long long first[3];
    place_in(mg, fine, coarse, mg->coords, first);
    exchange(mg, fine, fine->r);
    for (long long z = 0; z < fine->count[2] / 2; z++)
        for (long long y = 0; y < fine->count[1] / 2; y++)
            for (long long x = 0; x < fine->count[0] / 2; x++)
                *at(coarse, coarse->f, first[0] + x, first[1] + y, first[2] + z) =
                    4 * weighted(fine, at(fine, fine->r, 2 * x, 2 * y, 2 * z));
    if (coarse->is_shared && !fine->is_shared)
        gather(mg, fine, coarse, first);
}

/* Adds the coarser level's solution, in between its points the means of those around. */
static void prolong(struct mg *mg, const struct level *fine, const struct level *coarse)
{
    long long first[3];
    place_in(mg, fine, coarse, mg->coords, first);
    exchange(mg, coarse, coarse->u);
    for (long long z = 0; z < fine->count[2]; z++)
        for (long long y = 0; y < fine->count[1]; y++) {
            double *u = at(fine, fine->u, 0, y, z);
            long long up = z % 2 ? coarse->stride[2] : 0, next = y % 2 ? coarse->stride[1] : 0;
            const double *c = at(coarse, coarse->u, first[0], first[1] + y / 2, first[2] + z / 2);
            for (long long x = 0; x < fine->count[0]; x += 2, c++) {
                double here = 0.25 * (c[0] + c[next] + c[up] + c[next + up]);
                double right = 0.25 * (c[1] + c[1 + next] + c[1 + up] + c[1 + next + up]);
                u[x] += here;
                u[x + 1] += 0.5 * (here + right);
            }
        }
}

/* A V-cycle from the finest level on. */
static void cycle(struct mg *mg)
{
    int last = mg->level_count - 1;
    for (int l = 0; l < last; l++) {
        smooth(mg, &mg->level[l], SWEEPS);
        residual(mg, &mg->level[l]);
        restrict_residual(mg, &mg->level[l], &mg->level[l + 1]);
        memset(mg->level[l + 1].u, 0, (size_t)points(&mg->level[l + 1]) * sizeof(double));
    }
    smooth(mg, &mg->level[last], COARSEST_SWEEPS);
    for (int l = last - 1; l >= 0; l--) {
        prolong(mg, &mg->level[l], &mg->level[l + 1]);
        smooth(mg, &mg->level[l], SWEEPS);
    }
}

/* ---- problems, and whether they are solved ---- */

static double solution_at(const struct mg *mg, long long problem, long long x, long long y,
                          long long z)
{
    long long n = mg->level[0].n;
    x = (mg->coords[0] * mg->level[0].count[0] + x + n) % n;
    y = (mg->coords[1] * mg->level[0].count[1] + y + n) % n;
    z = (mg->coords[2] * mg->level[0].count[2] + z + n) % n;
    return plain_random((uint64_t)(((problem * n + z) * n + y) * n + x));
}

/* A times values, of which those around are subtracted. */
static double apply(const struct level *level, const double *values)
{
    double around = values[-1] + values[1];
    for (int d = 1; d < 3; d++)
        around += values[-level->stride[d]] + values[level->stride[d]];
    return level->diagonal * *values - around;
}

/* The norm of the residual on the finest level. Checks, too, that what was gathered last is the
 * same at all ranks. */
static double whole_residual(struct mg *mg)
{
    double mine[2] = {residual(mg, &mg->level[0]), mg->part_sum}, all[2];
    MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    plain_compare(&mg->plain, mg->whole_sum, all[1], 1e-12 * mg->first);
    return sqrt(all[0]);
}

/* Sets a problem's solution and right-hand side, and u to 0. The halo of the solution is computed,
 * without messages. */
static void pose(struct mg *mg, long long problem)
{
    struct level *level = &mg->level[0];
    for (long long z = -1; z <= level->count[2]; z++)
        for (long long y = -1; y <= level->count[1]; y++)
            for (long long x = -1; x <= level->count[0]; x++)
                *at(level, mg->solution, x, y, z) = solution_at(mg, problem, x, y, z);
    for (long long z = 0; z < level->count[2]; z++)
        for (long long y = 0; y < level->count[1]; y++)
            for (long long x = 0; x < level->count[0]; x++)
                *at(level, level->f, x, y, z) = apply(level, at(level, mg->solution, x, y, z));
    memset(level->u, 0, (size_t)points(level) * sizeof(double));
    mg->part_sum = mg->whole_sum = 0;
    mg->first = mg->last = whole_residual(mg);
}

/* Checks that a cycle has reduced the residual. */
static void check_residual(struct mg *mg)
{
    double now = whole_residual(mg);
    mg->plain.wrong += !(now <= CONTRACTION * mg->last + FLOOR * mg->first);
    mg->last = now;
}

/* Checks that the residual is A times the error at every point, and that it bounds the error. */
static void check_error(struct mg *mg)
{
    struct level *level = &mg->level[0];
    double bound = mg->last / shift_of(level->n) + 1e-10;
    for (long long i = 0; i < points(level); i++) /* from here on the error, in the halo, too */
        mg->solution[i] -= level->u[i];
    for (long long z = 0; z < level->count[2]; z++)
        for (long long y = 0; y < level->count[1]; y++)
            for (long long x = 0; x < level->count[0]; x++) {
                const double *error = at(level, mg->solution, x, y, z);
                plain_compare(&mg->plain, *error, 0, bound);
                plain_compare(&mg->plain, *at(level, level->r, x, y, z), apply(level, error),
                              1e-10);
            }
    for (long long i = 0; i < points(level); i++)
        mg->solution[i] += level->u[i];
}

static uint64_t sum_of(const struct mg *mg)
{
    const struct level *level = &mg->level[0];
    uint64_t sum = 0;
    for (long long z = 0; z < level->count[2]; z++)
        for (long long y = 0; y < level->count[1]; y++)
            sum += plain_bits(at(level, level->u, 0, y, z), level->count[0]);
    return sum;
}

int main(int argc, char **argv)
{
    struct mg mg = {.plain = {.name = "mg"}};
    plain_begin_sized(&mg.plain, argc, argv, usage, 800, 1200);
    begin(&mg);
    for (long long i = 0; i < mg.plain.iterations; i++) {
        if (i % PROBLEM == 0)
            pose(&mg, i / PROBLEM);
        cycle(&mg);
        if (i == mg.plain.corrupt)
            *at(&mg.level[0], mg.level[0].f, 0, 0, 0) += 1;
        check_residual(&mg);
        if (mg.plain.verify || i % PROBLEM == PROBLEM - 1 || i == mg.plain.iterations - 1)
            check_error(&mg);
        plain_step(&mg.plain);
    }
    uint64_t sum = sum_of(&mg);
    end(&mg);
    return plain_end(&mg.plain, sum);
}
