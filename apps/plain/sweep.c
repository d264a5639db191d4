/* sweep - particles that fly in discrete directions through a cube and are scattered, of the class
 * of Sweep3D: in each iteration all cells are computed for each of 48 directions (S6), along which
 * each cell needs what comes out of its three neighbours before it. The cube is cut in columns,
 * along x and y; from the corner of each octant a wave goes through the ranks, in blocks of a few
 * planes and directions, so that a rank can pass a block on before it begins the next one. Any
 * number of ranks.
 *
 * A field that is linear in space and the same in all directions solves the difference scheme
 * (diamond) exactly, with the source and what flows in at the walls that belong to it. In each
 * iteration these are another field's, so the flux of every cell is known, if the flux of the
 * iteration before, from which particles are scattered, was right.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plain.h"

#define DIRECTIONS 6 /* in an octant */
#define TOGETHER 3   /* directions in a block */
#define OCTANTS 8
#define TOTAL 1.0 /* cross sections */
#define SCATTERED 0.9
#define TOLERANCE 1e-10
#define TAG_X 1
#define TAG_Y 2

static const char usage[] = "usage: mpirun ... sweep [options]\n"
                            "Waves from all corners of a cube.\n" PLAIN_USAGE_SIZED PLAIN_USAGE;

/* value + slope[0] x + ... */
struct field {
    double value, slope[3];
};

struct sweep {
    struct plain plain;
    long long n, planes; /* planes: in a block */
    int dims[2], coords[2];
    int rank_of[2][2]; /* lower and higher neighbour, MPI_PROC_NULL: a wall */
    long long first[2], count[2];
    double *flux, *before; /* [z][y][x] */
    double *through[3];    /* what flows through x, y and z faces: [direction][...] of a block;
                              of z for all of the octant's columns */
    struct field is, was;  /* of this iteration and the one before */
};

/* S6: the cosines of a direction are three of these, whose numbers add up to 2. */
static const double cosines[3] = {0.2666355, 0.6815076, 0.9261808};
static const int directions[DIRECTIONS][3] = {{0, 0, 2}, {0, 2, 0}, {2, 0, 0},
                                              {0, 1, 1}, {1, 0, 1}, {1, 1, 0}};
/* Of a flux that is the same in all directions each octant has an eighth. */
#define WEIGHT 0.1761263 /* of a direction with the largest cosine; all six add up to 1 */

static double weight_of(int direction)
{
    return (direction < 3 ? WEIGHT : 1.0 / 3 - WEIGHT) / OCTANTS;
}

/* ---- fields ---- */

static struct field field_of(long long iteration)
{
    struct field field = {.value = 2 + 0.5 * plain_random((uint64_t)(4 * iteration + 4))};
    for (int d = 0; d < 3; d++)
        field.slope[d] = 0.5 * plain_random((uint64_t)(4 * iteration + 5 + d));
    return field;
}

/* At a place measured in cells. */
static double value_at(const struct sweep *s, const struct field *field, double x, double y,
                       double z)
{
    double scale = 1 / (double)s->n;
    return field->value + scale * (field->slope[0] * x + field->slope[1] * y + field->slope[2] * z);
}

static double in_cell(const struct sweep *s, const struct field *field, long long x, long long y,
                      long long z)
{
    return value_at(s, field, (double)(s->first[0] + x) + 0.5, (double)(s->first[1] + y) + 0.5,
                    (double)z + 0.5);
}

static double *cell(const struct sweep *s, double *values, long long x, long long y, long long z)
{
    return values + (z * s->count[1] + y) * s->count[0] + x;
}

static void begin(struct sweep *s)
{
    int periods[2] = {0, 0};
    MPI_Comm grid;
    s->n = s->plain.size ? 32 : 16;
    s->planes = s->plain.size ? 8 : 4;
    MPI_Dims_create(s->plain.ranks, 2, s->dims);
    if (s->dims[0] > s->n)
        plain_refuse_ranks(&s->plain,
                           "a number of ranks that cuts no edge into more than its cells");
    MPI_Cart_create(MPI_COMM_WORLD, 2, s->dims, periods, 0, &grid);
    MPI_Cart_coords(grid, s->plain.rank, 2, s->coords);
    for (int d = 0; d < 2; d++) {
        MPI_Cart_shift(grid, d, 1, &s->rank_of[d][0], &s->rank_of[d][1]);
        s->first[d] = s->n * s->coords[d] / s->dims[d];
        s->count[d] = s->n * (s->coords[d] + 1) / s->dims[d] - s->first[d];
    }
    MPI_Comm_free(&grid);
    long long column = s->count[0] * s->count[1];
    s->flux = plain_allocate((size_t)(column * s->n), sizeof(double));
    s->before = plain_allocate((size_t)(column * s->n), sizeof(double));
    s->through[0] = plain_allocate((size_t)(TOGETHER * s->planes * s->count[1]), sizeof(double));
    s->through[1] = plain_allocate((size_t)(TOGETHER * s->planes * s->count[0]), sizeof(double));
    s->through[2] = plain_allocate((size_t)(TOGETHER * column), sizeof(double));
    s->is = field_of(-1);
    for (long long z = 0; z < s->n; z++)
        for (long long y = 0; y < s->count[1]; y++)
            for (long long x = 0; x < s->count[0]; x++)
                *cell(s, s->flux, x, y, z) = in_cell(s, &s->is, x, y, z);
}

/* ---- a block ---- */

/* One of an octant's blocks. `sign`: the way it goes in each direction. Its planes are z to z +
 * planes in the order in which they are passed. */
struct block {
    int sign[3];
    int first_direction;
    long long plane;
};

/* The place of a cell, counted the way it goes. */
static long long placed(const struct block *block, int d, long long i, long long count)
{
    return block->sign[d] > 0 ? i : count - 1 - i;
}

static double wall(const struct block *block, int d, double n)
{
    return block->sign[d] > 0 ? 0 : n;
}

/* What comes through the faces across x (d 0) or y (1): from the rank before, or from the wall. */
static void receive(struct sweep *s, const struct block *block, int d)
{
    int from = s->rank_of[d][block->sign[d] < 0];
    long long along = s->count[!d];
    double *through = s->through[d];
    if (from != MPI_PROC_NULL) {
        MPI_Recv(through, (int)(TOGETHER * s->planes * along), MPI_DOUBLE, from, d ? TAG_Y : TAG_X,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    double at_wall = wall(block, d, (double)s->n);
    for (int m = 0; m < TOGETHER; m++)
        for (long long k = 0; k < s->planes; k++)
            for (long long i = 0; i < along; i++) {
                double z = (double)placed(block, 2, block->plane + k, s->n) + 0.5;
                double other = (double)(s->first[!d] + i) + 0.5;
                *through++ = value_at(s, &s->is, d ? other : at_wall, d ? at_wall : other, z);
            }
}

static void send(struct sweep *s, const struct block *block, int d)
{
    int to = s->rank_of[d][block->sign[d] > 0];
    MPI_Send(s->through[d], (int)(TOGETHER * s->planes * s->count[!d]), MPI_DOUBLE, to,
             d ? TAG_Y : TAG_X, MPI_COMM_WORLD);
}

/* What comes through the first plane. */
static void enter(struct sweep *s, const struct block *block)
{
    double *through = s->through[2], at_wall = wall(block, 2, (double)s->n);
    for (int m = 0; m < TOGETHER; m++)
        for (long long y = 0; y < s->count[1]; y++)
            for (long long x = 0; x < s->count[0]; x++)
                *through++ = value_at(s, &s->is, (double)(s->first[0] + x) + 0.5,
                                      (double)(s->first[1] + y) + 0.5, at_wall);
}

/* One direction in one plane. */
static void compute_plane(struct sweep *s, const struct block *block, int m, long long plane)
{
    const int *direction = directions[block->first_direction + m];
    double weight = weight_of(block->first_direction + m), n = (double)s->n, flown = 0, rate[3];
    long long columns = s->count[0], rows = s->count[1];
    long long z = placed(block, 2, block->plane + plane, s->n);
    for (int d = 0; d < 3; d++) {
        rate[d] = 2 * n * cosines[direction[d]];
        flown += block->sign[d] * cosines[direction[d]] * s->is.slope[d];
    }
    double below = 1 / (TOTAL + rate[0] + rate[1] + rate[2]);
    double *through_x = s->through[0] + (m * s->planes + plane) * rows;
    double *through_y = s->through[1] + (m * s->planes + plane) * columns;
    double *through_z = s->through[2] + m * columns * rows;
    for (long long j = 0; j < rows; j++) {
        long long y = placed(block, 1, j, rows);
        for (long long i = 0; i < columns; i++) {
            long long x = placed(block, 0, i, columns);
            double *in_z = through_z + y * columns + x;
            /* the source, without what is scattered, and with what really is */
            double source =
                flown + TOTAL * in_cell(s, &s->is, x, y, z) +
                SCATTERED * (*cell(s, s->before, x, y, z) - in_cell(s, &s->was, x, y, z));
            double flux = below * (source + rate[0] * through_x[y] + rate[1] * through_y[x] +
                                   rate[2] * *in_z);
            *cell(s, s->flux, x, y, z) += weight * flux;
            through_x[y] = 2 * flux - through_x[y];
            through_y[x] = 2 * flux - through_y[x];
            *in_z = 2 * flux - *in_z;
        }
    }
}

static void pass_octant(struct sweep *s, int octant)
{
    struct block block = {.sign = {octant & 1 ? -1 : 1, octant & 2 ? -1 : 1, octant & 4 ? -1 : 1}};
    for (; block.first_direction < DIRECTIONS; block.first_direction += TOGETHER) {
        enter(s, &block);
        for (block.plane = 0; block.plane < s->n; block.plane += s->planes) {
            receive(s, &block, 0);
            receive(s, &block, 1);
            for (int m = 0; m < TOGETHER; m++)
                for (long long k = 0; k < s->planes; k++)
                    compute_plane(s, &block, m, k);
            send(s, &block, 0);
            send(s, &block, 1);
        }
    }
}

/* ---- */

/* The largest error of all ranks, as a program asks whether it has converged. */
static void check(struct sweep *s)
{
    double error = 0, largest;
    for (long long z = 0; z < s->n; z++)
        for (long long y = 0; y < s->count[1]; y++)
            for (long long x = 0; x < s->count[0]; x++)
                error = fmax(error, fabs(*cell(s, s->flux, x, y, z) - in_cell(s, &s->is, x, y, z)));
    MPI_Allreduce(&error, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    plain_compare(&s->plain, largest, 0, TOLERANCE);
}

static void iterate(struct sweep *s, long long iteration)
{
    double *swap = s->before;
    s->before = s->flux;
    s->flux = swap;
    memset(s->flux, 0, (size_t)(s->n * s->count[0] * s->count[1]) * sizeof(double));
    s->was = s->is;
    s->is = field_of(iteration);
    for (int octant = 0; octant < OCTANTS; octant++)
        pass_octant(s, octant);
}

int main(int argc, char **argv)
{
    struct sweep s = {.plain = {.name = "sweep"}};
    plain_begin_sized(&s.plain, argc, argv, usage, 500, 700);
    begin(&s);
    for (long long i = 0; i < s.plain.iterations; i++) {
        iterate(&s, i);
        s.flux[0] += i == s.plain.corrupt;
        check(&s);
        plain_step(&s.plain);
    }
    uint64_t sum = plain_bits(s.flux, s.n * s.count[0] * s.count[1]);
    free(s.flux);
    free(s.before);
    for (int d = 0; d < 3; d++)
        free(s.through[d]);
    return plain_end(&s.plain, sum);
}
